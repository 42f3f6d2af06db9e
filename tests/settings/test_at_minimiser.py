"""Runs with noise that start at a minimiser: bounds are compared there unless they divide by how far it is away."""

import pytest

from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance

GAMMA, SIGMA, T = 0.5, 1.0, 3


def verdict(left, right, over, sigma=SIGMA, rules=None, conditions=("gamma_u <= 1/L",), **options):
    """The verdict on f(x) = x^2/2 from 0."""
    statement = theorem(
        title="SGD", algorithm="fedavg", left=left, right=right, over=over, key="own/at-the-minimiser",
        assumptions=["smoothness", "noise", "full_participation"], conditions=list(conditions), step_rules=rules or {},
        settings={"K": 1, "m": "n", "eta_u": 1}, vocabulary="textbook",
    )  # fmt: skip
    given = {"T": float(T), "sigma_u": sigma} | ({} if rules else {"gamma_u": GAMMA})
    return Instance(statement, Quadratic([[[1.0]]], [[0.0]], 1), None, given, {}).verdict(Options(**options))


@pytest.mark.parametrize("rigorous", [False, True])
def test_a_missing_noise_floor_is_a_violation(rigorous):
    """By hand: E x_t^2 is 0, 1/4, 5/16, with the mean 3/16; all of it is noise."""
    found = verdict("G_u", "2*F_0/(gamma_u*T)", "mean_of_rounds", rigorous=rigorous)
    assert found.outcome is Outcome.VIOLATED
    assert (found.worst.left, found.worst.right) == (pytest.approx(3 / 16), 0.0)
    assert found.values["F_0"] == 0
    found = verdict("dist2", "dist2_0", "every_round", rigorous=rigorous)
    assert found.outcome is Outcome.VIOLATED
    assert found.worst.right == 0


def test_a_noise_floor_makes_it_right():
    """F_0 = 0 beside L gamma sigma^2, and dist2_0 = 0 beside T gamma^2 sigma^2."""
    right = "2*F_0/(gamma_u*T) + L*gamma_u*sigma_u**2"
    assert verdict("G_u", right, "mean_of_rounds").outcome is Outcome.HOLDS
    assert verdict("dist2", "dist2_0 + T*gamma_u**2*sigma_u**2", "every_round").outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"right": "2*F_0/(gamma_u*T)", "sigma": 0.0}, "F_0=0: the start is already a minimiser"),
        ({"right": "sigma_u**4/F_0"}, "F_0=0: the start is already a minimiser"),
        ({"right": "F_0*log(F_0*L/sigma_u**2)"}, "F_0=0: the start is already a minimiser"),
        ({"right": "F_0", "rules": {"gamma_u": "F_0/sigma_u**2"}, "conditions": ()}, "F_0=0: the start is already"),
        ({"right": "F_0", "conditions": ("gamma_u*sigma_u**2/F_0 >= 0",)}, "F_0=0: the start is already a minimiser"),
        ({"right": "dist2_0*L**2", "sigma": 0.0}, 'dist2_0=0 breaks "dist2_0 > 0"'),
        ({"right": "sigma_u**2*gamma_u**2*L**4*1/dist2_0"}, 'dist2_0=0 breaks "dist2_0 > 0"'),
    ],
)
def test_what_says_nothing_there_stays_refused(case, said):
    """Without noise the run may stay where it is; a formula that divides by 0, or a step of 0, has no value."""
    with pytest.raises(InputError) as caught:
        verdict("G_u", over="mean_of_rounds", **case)
    assert said in str(caught.value)
