"""Sizes of the run that a right side does not name are free: m of n clients, local steps, rounds, delays."""

import numpy as np
import pytest
from sampled_clients import sampled

from bounds.errors import InputError
from bounds.theorem import theorem
from ratecheck.exponents.card import card
from ratecheck.exponents.finding import CellFinding
from ratecheck.falsification.terms import by_term
from ratecheck.outcome import Outcome

SAMPLING = "sampling: b"


def cell(statement, row, parameter):
    """One cell of the statement's card."""
    (found,) = card(statement, over=[parameter], rows=[row]).cells
    return found


def test_what_cannot_be_varied_says_why():
    """Participants that the statement sets, and runs of which no hard instance is known."""
    bound, rest = "mean grad2 <= 2*F_0/(gamma*T) + gamma*L*zeta**2", {"given": "smooth", "when": "gamma <= 1/L, m == 5"}
    with pytest.raises(InputError, match="takes m = 5, and hard instances have their own m: leave it open"):
        card(theorem(bound, method="fedavg", **rest))
    with pytest.raises(InputError, match=r"no hard instances are known on which .* 'ratecheck scaling"):
        card(theorem(bound, method="async-sgd", given="smooth", when="gamma <= 1/(4*L*tau)"))


@pytest.mark.parametrize("power", [1.25, 1.5, 2])
def test_a_power_of_the_participants_that_is_wrong_is_exceeded_without_clients_in_the_formula(power):
    """The variance of a sample falls with 1/m, whatever n is called."""
    wrong = sampled(sampling=f"L*gamma_u*b**2/m**{power}")
    found = cell(wrong, SAMPLING, "m")
    assert found.finding is CellFinding.EXCEEDED
    assert found.violation.verdict is Outcome.VIOLATED
    assert found.exponents == pytest.approx((-power, -1), abs=0.05)
    assert by_term(wrong).violation is not None


@pytest.mark.parametrize("factor", ["1", "(n - m)/(n - 1)"])
def test_the_right_power_is_attained_by_the_variance_of_a_sample(factor):
    """The left sides are those of the closed form, with and without n on the right."""
    found = cell(sampled(sampling=f"L*gamma_u*b**2*{factor}/m"), SAMPLING, "m")
    assert found.finding is CellFinding.ATTAINED
    worst = found.worst
    for hard, left in zip(worst.instances, worst.left, strict=True):
        at = hard.values
        n, m, gamma, (h, *_), slopes = at["n"], at["m"], at["gamma_u"], hard.curvatures, hard.slopes
        assert n > m
        # x <- (1 - gamma h) x - gamma g, g the mean of m of n slopes: the sum of the variances of x over T rounds.
        variance = np.dot(hard.sizes, np.square(slopes)) / n * (n - m) / (m * (n - 1))
        q, T = (1 - gamma * h) ** 2, at["T"]
        mean = (1 - (1 - q**T) / (T * (1 - q))) / (1 - q)
        assert left == pytest.approx(h**2 * gamma**2 * variance * mean, rel=1e-6)


def test_a_power_that_is_too_weak_is_loose():
    """By the root of m."""
    found = cell(sampled(sampling="L*gamma_u*b**2/sqrt(m)"), SAMPLING, "m")
    assert found.finding is CellFinding.LOOSE
    assert found.loose == pytest.approx(0.5, abs=0.03)


def test_participants_that_no_formula_names_are_fewer_than_all():
    """A bound without m is loose in m, and wrong with a tenth of it."""
    statement = sampled(noise="L*gamma_u*sigma_u**2", sampling="L*gamma_u*b**2")
    assert cell(statement, SAMPLING, "n").finding is CellFinding.ATTAINED
    assert cell(statement, SAMPLING, "m").loose == pytest.approx(1, abs=0.03)
    tenth = sampled(noise="L*gamma_u*sigma_u**2", sampling="L*gamma_u*b**2/10")
    assert by_term(tenth).violation.confirmed


def test_local_steps_that_no_formula_names_may_be_many():
    """With gamma <= 1/(64 L) and no condition on gamma K clients drift."""

    def local(gap):
        return theorem(
            key="mine/local",
            title="Local SGD",
            algorithm="fedavg",
            assumptions=["smoothness", "noise", "full_participation", "no_personal"],
            left="G_u",
            over="mean_of_rounds",
            right={"gap": gap, "noise": "L*gamma_u*sigma_u**2/n"},
            conditions=["gamma_u <= 1/(64*L)"],
            settings={"m": "n", "eta_u": 1},
        )

    found = cell(local("4*F_0/(gamma_u*T)"), "gap", "K")
    assert found.finding is CellFinding.EXCEEDED
    assert found.violation.hard.values["K"] > 1


def test_rounds_that_no_formula_names_may_be_many():
    """In one round noise moves nothing yet: the left side would be zero."""
    statement = theorem(
        key="mine/floor",
        title="A floor of noise without a start",
        algorithm="fedavg",
        assumptions=["smoothness", "noise", "full_participation", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right={"start": "L*F_0/10**6", "noise": "L*gamma_u*sigma_u**2/(100*n)"},
        conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "eta_u": 1},
    )
    assert cell(statement, "noise: sigma_u", "T").finding is CellFinding.EXCEEDED


@pytest.mark.every(2)
@pytest.mark.parametrize("delay", ["", "*(1 + tau_max)"])
def test_delays_that_no_formula_names_are_searched(delay):
    """Noise that is remembered for tau_max rounds adds up; runs have many periods of them."""
    statement = theorem(
        key="mine/delayed",
        title="FedSUM without a delay in the noise",
        algorithm="fedsum",
        assumptions=["smoothness", "total_noise", "oblivious_participation"],
        left="G_u",
        over="mean_of_rounds",
        right={"gap": "1000*F_0/(eta_l*K*T)", "noise": "eta_l*L*sigma**2/N"},
        conditions=[f"eta_l*K*L{delay} <= 1/100"],
        settings={"eta_g": 1},
        step_products=["eta == eta_g*eta_l"],
        vocabulary="fedsum",
    )
    found = cell(statement, "noise: sigma", "tau_max")
    assert found.finding.passes
    rounds = [hard.values["T"] for hard in found.worst.instances]
    assert all(x > hard.values["tau_max"] for x, hard in zip(rounds, found.worst.instances, strict=True))


@pytest.mark.parametrize(("power", "finding"), [("m", CellFinding.ATTAINED), ("m**2", CellFinding.EXCEEDED)])
def test_a_server_step_that_is_large_makes_up_for_small_local_ones(power, finding):
    """Terms with gamma_u^2 vanish beside those with gamma_u*eta_u, which then decide the bound."""
    statement = theorem(
        key="mine/two-sided",
        title="FedAvg with two step sizes",
        algorithm="fedavg",
        assumptions=["smoothness", "noise", "dissimilarity", "uniform_sampling", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "16*F_0/(gamma_u*eta_u*K*T)",
            "noise": f"16*L*gamma_u*eta_u*sigma_u**2/{power}",
            "local noise": "40*L**2*gamma_u**2*K*sigma_u**2",
            "drift": "40*L**2*gamma_u**2*K**2*b**2",
            "sampling": "64*L*gamma_u*eta_u*K*b**2*(n-m)/(m*max(n-1,1))",
        },
        conditions=["gamma_u*L*K*eta_u <= 1/16", "eta_u >= 1"],
    )
    assert cell(statement, "noise: sigma_u", "m").finding is finding
