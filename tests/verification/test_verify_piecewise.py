"""Verdicts on functions with kinks: the known worst functions of gradient descent are decided exactly."""

from dataclasses import replace

import pytest

import bounds
from bounds.theorem import theorem
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.outcome import Outcome
from ratecheck.problems import Piecewise
from ratecheck.verification.verify import verify

CONVEX = ["smoothness", "convexity", "full_participation", "no_personal"]


def descent(right, left="gap", over="every_round", assumptions=CONVEX, conditions=("gamma_u <= 1/L",), K=1):
    """A theorem on gradient descent."""
    return theorem(
        title="Gradient descent", algorithm="fedavg", assumptions=assumptions, left=left, over=over, right=right,
        conditions=list(conditions), settings={"K": K, "m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook",
        key="own/descent",
    )  # fmt: skip


def slowest(N):
    """The function with L = 1 on which N steps of length 1 from 0 leave a gap of 1/(4N + 2) (Drori and Teboulle 2014).

    A slope of 1/(2N + 1) that ends in a bowl around the minimiser 1.
    """
    slope = 1 / (2 * N + 1)
    return Piecewise([[[1 - slope, 1 + slope]]], [[[0.0, 1.0, 0.0]]], [[-slope]])


@pytest.mark.parametrize("N", [1, 4, 20])
def test_the_tight_bound_holds_and_a_smaller_one_is_violated(N):
    """f(x^N) - f* = L R^2/(4N + 2), up to rounding of the slope."""
    tight = verify(descent("L*dist2_0/(4*gamma_u*L*t + 2)"), slowest(N), {"T": N + 1, "gamma_u": 1.0})
    assert tight.outcome is Outcome.HOLDS
    assert tight.worst.left == pytest.approx(1 / (4 * N + 2), rel=1e-12)
    less = verify(descent("0.999*L*dist2_0/(4*gamma_u*L*t + 2)"), slowest(N), {"T": N + 1, "gamma_u": 1.0})
    assert less.outcome is Outcome.VIOLATED
    assert less.worst.round in (0, N)


def test_a_long_run_is_followed_in_floating_point():
    """Beyond 10,000 gradients; what is decided there is asked again in exact arithmetic."""
    statement, numbers = descent("0.999*L*dist2_0/(4*gamma_u*L*t + 2)"), {"T": 10_001, "gamma_u": 1.0}
    assert verify(statement, slowest(400), {**numbers, "T": 401}).engine == "exact"
    found = verify(statement, slowest(10_000), numbers)
    assert found.engine == "step"
    assert found.outcome is Outcome.VIOLATED
    assert any("VIOLATED is proved in interval arithmetic" in note for note in found.notes)


@pytest.mark.parametrize("left", ["mean grad2 <= 2*F_0/(gamma*T)", "every fall <= -gamma*grad2/2"])
def test_a_search_follows_short_runs_exactly_and_a_verdict_any(left):
    """Up to 200 gradients, of what changes in a round as well, which a search had followed through 500 rounds."""
    own = theorem(left, method="gd", given="smooth", when="gamma <= 1/L")

    def engine(T, options):
        return verify(own, slowest(4), {"T": T, "gamma": 1.0}, options).engine

    assert [engine(T, SEARCHED) for T in (200, 201)] == ["exact", "step"]
    assert engine(201, replace(SEARCHED, rigorous=True)) == "exact"


def test_a_gap_far_below_rounding_accuses_nobody():
    """f(x^t) - f* = 9^t/16^t/2 to the last digit, of a difference of values nothing would be left."""
    equal = descent("(3/4)**(2*t)*F_0", assumptions=CONVEX, conditions=("gamma_u <= 1/L",))
    ramp = Piecewise([[[1.0, 2.0]]], [[[1.0, 1.0, 0.5]]], [[1.0]])
    found = verify(equal, ramp, {"T": 300, "gamma_u": 0.25})
    assert found.outcome is not Outcome.VIOLATED


def test_clients_with_unequal_curvature_have_a_bound_of_their_dissimilarity():
    """Unequal between kinks, equal beyond: b exists on all of R^d, and local steps drift."""
    problem = Piecewise([[[-2.0, 2.0]], [[-2.0, 2.0]]], [[[0.5, 1.0, 0.5]], [[0.5, 0.25, 0.5]]], [[1.0], [-0.75]])
    drift = theorem(
        title="Drift", algorithm="fedavg", vocabulary="textbook", left="G_u", over="mean_of_rounds", key="own/drift",
        assumptions=["smoothness", "dissimilarity", "full_participation", "no_personal"],
        right="4*F_0/(gamma_u*K*T)", conditions=["gamma_u*K*L <= 1/4"],
        settings={"m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip
    found = verify(drift, problem, {"T": 400, "K": 4, "gamma_u": 0.06})
    # Half of the difference of gradients, 1.75 at 0 and 0.75 x more at x = 2.
    assert found.constants["b"].value == pytest.approx((1.75 + 1.5) / 2, rel=1e-12)
    assert found.outcome is Outcome.VIOLATED


def test_what_is_not_known_is_said():
    """No minimum, several minimisers, what a round changes in random runs."""
    away = Piecewise([[[1.0]]], [[[1.0, 0.0]]], [[-2.0]])
    found = verify(descent("L*dist2_0/(4*t + 2)"), away, {"T": 3, "gamma_u": 1.0})
    assert found.outcome is Outcome.NOT_APPLICABLE
    drift = theorem(
        title="Local work", algorithm="fedavg", assumptions=CONVEX, left="E", over="every_round",
        right="gamma_u**2*K**3*B", settings={"m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook", key="own/work",
    )  # fmt: skip
    found = verify(drift, slowest(1), {"T": 3, "K": 2, "gamma_u": 0.5})
    assert found.reasons == ("E is not measured on piecewise quadratics: take a quadratic problem",)
    huber = Piecewise([[[-1.0, 1.0]]], [[[0.0, 1.0, 0.0]]], [[0.5]])
    noisy = theorem(
        title="Noisy", algorithm="fedavg", assumptions=[*CONVEX, "noise"], left="fall", over="every_round",
        right="L*dist2_0 + sigma_u**2", settings={"K": 1, "m": "n", "eta_u": 1}, vocabulary="textbook", key="own/noisy",
    )  # fmt: skip
    found = verify(noisy, huber, {"T": 3, "gamma_u": 0.5, "sigma_u": 1.0})
    assert found.outcome is Outcome.NOT_APPLICABLE
    assert "change:gap is not measured" in found.reasons[0]


def test_random_runs_are_sampled():
    """Sampled clients: by replicates, as for every problem that is not quadratic."""
    given = {"m": 3, "K": 2, "T": 20, "sigma_u": 0.1, "sigma_v": 0}
    verdict = verify(bounds.get("pfl/theorem-3.7"), Piecewise.synthetic(6, 2), given)
    assert verdict.engine == "step"
    assert verdict.outcome in (Outcome.HOLDS, Outcome.INCONCLUSIVE)
