"""Claims with a probability: verdicts by counted runs, laws of noise as hypotheses, and who refuses such claims."""

import math

import numpy as np
import pytest

import ratecheck as rc
from bounds.errors import InputError
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic
from ratecheck.verification.entries import Entries, courses

PROBLEM = Quadratic.synthetic(1, 3, 3, seed=2)
FORM = {
    "algorithm": "fedavg", "left": "G_u", "over": "mean_of_rounds", "conditions": ["gamma_u <= 1/(2*L)"],
    "settings": {"K": 1, "m": "n", "eta_u": 1}, "vocabulary": "textbook", "with_probability": "1 - delta",
}  # fmt: skip
QUIET = ["smoothness", "full_participation", "no_personal"]
TAILS = {
    "gap": "2*F_0/(gamma_u*T)", "noise": "4*L*gamma_u*sigma_sg**2",
    "tail": "(12/T + 2*L*gamma_u)*sigma_sg**2*log(1/delta)",
}  # fmt: skip


def sgd(right, assumed=("sub_gaussian",), **other):
    """A theorem about SGD."""
    return theorem("SGD", assumptions=[*QUIET, *assumed], right=right, **{**FORM, **other})


def verified(statement, **given):
    """On a problem of three variables."""
    return rc.verify(statement, problem=PROBLEM, **{"T": 20, "sigma_u": 0.5, "threads": 1, **given})


@pytest.mark.parametrize("law", ["gaussian", "sphere", "uniform"])
def test_sgd_with_high_probability(law):
    """The right form holds, with the law's own constant of tails; without noise and tail the bound fails."""
    found = verified(sgd(TAILS), noise=law)
    assert found.outcome is Outcome.HOLDS
    assert not found.verdict.supposes
    assert found.constants["sigma_sg"].value >= 0.5
    wrong = verified(sgd("F_0/(30*gamma_u*T)"), noise=law)
    assert wrong.outcome is Outcome.VIOLATED
    assert wrong.left > wrong.right


def test_the_verdict_is_the_count_of_runs():
    """At a bound that is the median of the runs, both claims next to it are decided, and it itself is not."""
    runs = rc.simulate(
        "fedavg", PROBLEM, rc.participation.Trace.full(1), K=1, T=20, gamma_u=0.3, eta_u=1.0, sigma_u=0.5,
        replicates=400, seed=0,
    ).records["G_u"].mean(axis=1)  # fmt: skip
    median = float(np.median(runs))
    for chance, outcome in ((0.4, Outcome.HOLDS), (0.6, Outcome.VIOLATED), (0.5, Outcome.INCONCLUSIVE)):
        claim = sgd(median, with_probability=chance)
        found = verified(claim, gamma_u=0.3, replicates=400)
        assert found.outcome is outcome
        # Replicates of the same seed are the same runs.
        count = int((runs[: found.verdict.replicates] <= median).sum())
        assert str(count) in str(found) or str(found.verdict.replicates - count) in str(found)


def test_claims_about_every_round_and_the_best_one():
    """The first is about all rounds of a run at once."""
    level = {"right": "10*F_0/T", "with_probability": 0.7}
    every, last, best = (verified(sgd(**level, over=over)) for over in ("every_round", "last_round", "best_round"))
    assert every.outcome is Outcome.VIOLATED
    assert last.outcome is best.outcome is Outcome.HOLDS


def test_nothing_random_has_the_probability_one():
    """Or none: the sides are compared as ever."""
    assert verified(sgd(TAILS), sigma_u=0).outcome is Outcome.HOLDS
    assert verified(sgd("F_0/(30*gamma_u*T)"), sigma_u=0).outcome is Outcome.VIOLATED
    assert verified(sgd("F_0/(30*gamma_u*T)"), sigma_u=0).verdict.engine == "exact"


class Clipped(FedAvgP):
    """SGD with stochastic gradients of a length of at most tau."""

    linear = False
    step_sizes = (*FedAvgP.step_sizes, "tau")

    def step(self, local, gradient, p):
        """With the gradient, shortened."""
        g = gradient["u"]
        norm = np.linalg.norm(g, axis=-1, keepdims=True)
        return {**local, "u": local["u"] - p["gamma_u"] * g * p["tau"] / np.maximum(p["tau"], norm)}


def test_clipping_under_heavy_tails(monkeypatch):
    """Noise without variance: with clipping a bound of its p-th moment holds, and without it the same bound fails."""
    method = Method("clipped-sgd", "clipped SGD", Clipped(), {"gamma_v": 1, "eta_v": 1}, personal=False)
    monkeypatch.setitem(METHODS, "clipped-sgd", method)
    bound = "2*F_0/(gamma_u*T) + L*gamma_u*tau**(2 - p_noise)*sigma_p**p_noise*log(1/delta)"

    def form(name, role):
        tau = symbol("tau", "length to which gradients are clipped", role=role, degrees=(1, -1), default=2.0)
        return sgd(bound, ["heavy_tails"], algorithm=name, symbols=tau)

    run = {"noise": "pareto:1.3,1.2", "gamma_u": 0.3, "T": 100, "sigma_u": 4, "tau": 2.0}
    found = verified(form("clipped-sgd", "setting"), **run)
    assert found.outcome is Outcome.HOLDS
    assert (found.constants["p_noise"].value, found.constants["sigma_p"].value) == pytest.approx((1.2, 4.0))
    assert verified(form("fedavg", "free"), **run).outcome is Outcome.VIOLATED
    # Under Gaussian noise, which has all moments, it holds without clipping as well.
    assert verified(form("fedavg", "free"), **{**run, "noise": "gaussian"}).outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("assumed", "law", "why"),
    [
        ("noise", "pareto:1.5", "pareto noise of this index has no variance, but the statement assumes"),
        ("noise", "relative:1", "the variance of relative noise grows with the gradient"),
        ("sub_gaussian", "student:5", "sigma_sg does not exist: student noise has none"),
        ("heavy_tails", "relative:1", "the variance of relative noise grows with the gradient"),
        ("expected_smoothness", "pareto:2", "pareto noise of this index has no variance"),
    ],
)
def test_laws_that_an_assumption_does_not_allow(assumed, law, why):
    """The statement says nothing about them."""
    found = verified(sgd("2*F_0/(gamma_u*T)", [assumed], with_probability=None), noise=law)
    assert found.outcome is Outcome.NOT_APPLICABLE
    assert why in str(found)


def test_variance_is_all_that_exact_engines_need():
    """Verdicts on expectations under laws with a variance are those of Gaussian noise; others are simulated."""
    plain = sgd("2*F_0/(gamma_u*T) + L*gamma_u*sigma_u**2", ["noise"], with_probability=None)
    lefts = {law: verified(plain, noise=law).left for law in ("gaussian", "student:2.5", "pareto:3", "uniform")}
    assert len({*lefts.values()}) == 1
    relative = sgd("2*F_0/(gamma_u*T) + L*gamma_u*sigma_u**2", ["relative_noise"], with_probability=None,
                   conditions=["gamma_u <= 1/(L*(1 + rho_noise))"])  # fmt: skip
    exact, drawn = (verified(relative, noise="relative:0.5", engine=engine) for engine in ("exact", "step"))
    assert (exact.verdict.engine, exact.constants["rho_noise"].value) == ("exact", 0.5)
    assert exact.left == pytest.approx(drawn.left, rel=0.1)


def test_holds_is_not_said_where_the_moment_that_it_supposes_does_not_exist():
    """A linear run under noise without a fourth moment has squares without a second one."""
    plain = sgd("20*F_0/(gamma_u*T) + 20*L*gamma_u*sigma_u**2", ["noise"], with_probability=None)
    assert verified(plain, noise="student:5", engine="step").outcome is Outcome.HOLDS
    found = verified(plain, noise="student:3", engine="step", replicates=128)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "has no fourth moment" in str(found)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda each: verified(each, engine="exact"), "is about the runs that meet a bound: use engine=step"),
        (lambda each: verified(each, delta=2), "the probability 1 - delta = -1 breaks"),
        (lambda each: verified(each, noise="cauchy"), "no noise 'cauchy'"),
        (rc.falsify, "falsify is about expectations: 'ratecheck verify' counts runs"),
        (rc.prove, "prove is about expectations"),
        (rc.rates, "claims something with a probability; needed is a bound on expectations"),
        (lambda _: sgd("1", relation="=="), "the relation is <="),
        (lambda _: sgd("1", with_probability=1.5), "3/2 is no probability above 0"),
    ],
)
def test_refusals_are_one_line(call, why):
    """With the reason."""
    with pytest.raises(InputError, match=why):
        call(sgd(TAILS))


def test_plots_show_quantiles():
    """Of the left side over replicates, with the band of its order statistics."""
    claim = sgd(TAILS, over="every_round").claims[0]
    left = np.random.default_rng(0).exponential(size=(200, 4))
    (course,) = courses(claim, [Entries(left, np.ones((200, 4)), np.zeros((200, 4)), chance=0.9)])
    np.testing.assert_array_equal(course.left, np.sort(left, axis=0)[179])
    assert (course.left_error > 0).all()
    assert math.isclose(course.left.mean(), math.log(10), rel_tol=0.2)
    assert "with probability at least 1 - delta" in str(rc.show(sgd(TAILS)))
