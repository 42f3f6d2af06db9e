"""Equal clients with noise of two values: constants, files, and what `verify` says of them."""

import numpy as np
import pytest

from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.problems import Piecewise, PiecewiseSamples, build
from ratecheck.settings.setting import Options
from ratecheck.verification import rigorous
from ratecheck.verification.instance import Instance, read
from ratecheck.views.checks.verdict import verdict_fields, verdict_text

PARTS = [[[0.0]]], [[[0.5, 1.0]]], [[-0.5]]


def local(walk, over="mean_of_rounds", left="G_u", conditions=("gamma_u <= 1/(4*K*L)",)):
    """Local steps with so much for the walk of each client."""
    right = {"gap": "4*F_0/(gamma_u*K*T)", "noise": "4*L*gamma_u*sigma_u**2/n", "walk": walk}
    return theorem(
        title="Local SGD", algorithm="fedavg", left=left, over=over, right=right, conditions=list(conditions),
        assumptions=["smoothness", "noise", "full_participation", "no_personal"], settings={"m": "n", "eta_u": 1},
        key="own/local",
    )  # fmt: skip


def asked(walk, clients=5000, sigma=27.0, options=None, T=100, **others):
    """What is said of it on equal clients that walk beside a kink."""
    instance = Instance(
        local(walk, **others), PiecewiseSamples(*PARTS, clients=clients), None, {"K": 2, "T": T, "sigma_u": sigma}
    )
    return instance.verdict(*([] if options is None else [options]))


def test_constants_are_those_of_all_clients_written_out():
    """Those of five equal clients one by one."""
    one, five = PiecewiseSamples(*PARTS, clients=5), Piecewise(*(np.repeat(part, 5, axis=0) for part in PARTS))
    ours, theirs = (each.constants([2.0], sigma_u=3.0) for each in (one, five))
    assert ours.keys() == theirs.keys()
    for name, constant in theirs.items():
        assert (ours[name].value, ours[name].certificate) == (constant.value, constant.certificate), name


def test_it_is_saved_and_read(tmp_path):
    """As an instance's data, and as an ``.npz`` file for the command line."""
    problem = PiecewiseSamples(*PARTS, clients=10**6)
    instance = Instance(local("0"), problem, None, {"K": 2, "T": 3, "sigma_u": 1.0})
    assert read(instance.fields(), statement=instance.statement).fields() == instance.fields()
    np.savez(tmp_path / "ramp.npz", kinks=PARTS[0], curvatures=PARTS[1], slopes=PARTS[2], clients=7)
    name = f"piecewise-samples:{tmp_path / 'ramp.npz'}"
    assert build.build(name, {}).fields() == {**problem.fields(), "clients": 7}
    assert build.own_clients(name, {})


@pytest.mark.parametrize(
    ("parts", "clients", "said"),
    [
        ((np.zeros((2, 1, 1)), np.ones((2, 1, 2)), np.zeros((2, 1))), 2, "2 functions of 1 variables"),
        (PARTS, 0, "clients"),
        (PARTS, 10**9, "clients"),
    ],
)
def test_other_shapes_and_numbers_are_refused(parts, clients, said):
    """One function of one variable, and between one client and 10^8."""
    with pytest.raises(InputError, match=said):
        PiecewiseSamples(*parts, clients=clients)


def test_a_bound_without_the_walk_is_violated_with_a_proof():
    """The left side is known from below, which is said."""
    verdict = asked("0")
    assert verdict.outcome is Outcome.VIOLATED
    assert any("VIOLATED is proved in interval arithmetic" in note for note in verdict.notes)
    (comparison,) = verdict.comparisons
    assert comparison.at_least
    assert comparison.left > comparison.right
    assert "  left    at least 0.09" in verdict_text(verdict)
    assert verdict_fields(verdict)["claims"][0]["at_least"]


def test_what_the_lower_end_does_not_refute_is_open():
    """Of fewer clients less is known: neither violated nor found to hold; with the walk it holds for sure."""
    few = asked("0", clients=1500)
    assert few.outcome is Outcome.INCONCLUSIVE
    assert few.comparisons[0].left < few.comparisons[0].right
    much = asked("8*L**2*gamma_u**2*K*sigma_u**2")
    assert much.outcome is Outcome.HOLDS
    assert "slack at most " in verdict_text(much)


def test_no_violation_without_a_proof(monkeypatch):
    """Where the interval engine does not follow the run, what floats say is no accusation."""
    monkeypatch.setattr(rigorous, "decided", lambda *_, **__: rigorous.VerdictProof(None, "too long"))
    monkeypatch.setattr("ratecheck.verification.interval_recheck.decided", rigorous.decided)
    assert asked("0").outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("share", "outcome"), [("1", Outcome.HOLDS), ("999/1000", Outcome.VIOLATED)])
def test_all_outcomes_of_one_client_decide_both_ways(share, outcome):
    """Few signs are followed exactly: SGD with a step of 1/L forgets its start, and E (x - x*)^2 = sigma^2/L^2."""
    sgd = theorem(
        title="SGD", algorithm="fedavg", left="dist2", over="last_round", vocabulary="textbook",
        right=f"{share}*gamma_u**2*sigma_u**2", conditions=["gamma_u == 1/L"],
        assumptions=["smoothness", "strong_convexity", "noise", "full_participation", "no_personal"],
        settings={"K": 1, "m": "n", "eta_u": 1},
    )  # fmt: skip
    problem = PiecewiseSamples(np.zeros((1, 1, 0)), [[[1.0]]], [[1.0]])
    verdict = Instance(sgd, problem, None, {"T": 5, "sigma_u": 2.0}).verdict()
    assert verdict.outcome is outcome
    assert not verdict.comparisons[0].at_least
    assert any("all outcomes of the noise" in note for note in verdict.notes)


@pytest.mark.parametrize("over", ["every_round", "last_round", "best_round"])
def test_other_kinds_of_rounds_are_asked_round_by_round(over):
    """The run stays at the point to which a round returns on average."""
    verdict = asked("0", over=over, clients=10**6)
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.comparisons[0].round is not None


def test_nothing_is_drawn():
    """Samples have two values, which the step engine does not know."""
    with pytest.raises(InputError, match="use engine=exact"):
        asked("0", options=Options(engine="step"))
