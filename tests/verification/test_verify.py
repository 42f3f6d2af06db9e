"""Verdicts: right statements hold, wrong ones are caught, and nothing unproven counts as a pass."""

import dataclasses
import math

import numpy as np
import pytest

import bounds
from bounds.papers.textbook.pairs import PAIRS
from bounds.papers.textbook.statements import STATEMENTS
from bounds.statement import Relation
from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace
from ratecheck.problems import Certificate, Logistic, Quadratic
from ratecheck.verification import judgement
from ratecheck.verification.monte_carlo import judge
from ratecheck.verification.verify import Options, foreign, verify
from ratecheck.views.checks.verdict import outcome_text

RUN = {"m": 4.0, "K": 6.0, "T": 30.0, "sigma_u": 0.3, "sigma_v": 0.2}
EXACT = Options(engine="exact")


def problem_for(statement, **dials):
    """A small quadratic with the blocks of variables that the statement's method has."""
    method = METHODS.get(statement.algorithm or "")
    shared = 4 if method is None or (method.shared and method.personal) else (0 if method.personal else 8)
    return Quadratic.synthetic(6, 8, shared, seed=2, **dials)


def run_for(statement, problem):
    """Settings of the run, without those that the statement fixes."""
    run = {k: v for k, v in RUN.items() if k not in statement.settings}
    return run | ({} if problem.d_u else {"sigma_u": 0.0}) | ({} if problem.d_v else {"sigma_v": 0.0})


def altered(key, factor, term=None):
    """A statement whose right side, or one term of it, is multiplied by a factor."""
    statement = bounds.get(key)
    claim = statement.claims[0]
    terms = {k: e * factor if term in (None, k) else e for k, e in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


@pytest.mark.every(3)
@pytest.mark.parametrize("dials", [{}, {"coupling": 0.6, "curvature": 0.8}], ids=["decoupled", "coupled"])
@pytest.mark.parametrize("key", [s.key for s in bounds.statements("pfl") if not s.order_only])
def test_every_statement_on_a_quadratic(key, dials):
    """Every statement of the first paper holds on the exact engine, but for the one printed with a wrong "="."""
    statement = bounds.get(key)
    problem = problem_for(statement, **dials)
    verdict = verify(statement, problem, run_for(statement, problem), EXACT)
    assert verdict.outcome is (Outcome.VIOLATED if key == "pfl/lemma-a.2" else Outcome.HOLDS), verdict.reasons


SETTINGS = {
    "fedsum": {"S": 2.0, "K": 4.0, "T": 60.0, "sigma": 0.3, "delta": 0.4},
    "flame": {"s": 2.0, "T": 60.0, "lambda_": 3.0},
}
# What is false as printed at these settings.
PRINTED_FALSE = {"flame/lemma-1"}


@pytest.mark.every(4)
@pytest.mark.parametrize("key", [s.key for paper in SETTINGS for s in bounds.statements(paper)])
def test_statements_of_other_papers(key):
    """What is about runs holds on a quadratic without personal variables; the rest says what nobody measures."""
    statement = bounds.get(key)
    given = {k: v for k, v in SETTINGS[key.partition("/")[0]].items() if k in statement.vocabulary}
    verdict = verify(statement, Quadratic.synthetic(5, 3, 3, seed=1), given, Options(replicates=128))
    if foreign(statement):
        assert verdict.outcome is Outcome.NOT_APPLICABLE
        assert (verdict.engine, verdict.constants, verdict.comparisons) == ("none", {}, ())
        (reason,) = verdict.reasons
        assert reason.startswith(("no problem certifies ", "no run measures "))
    elif verdict.outcome is Outcome.NOT_APPLICABLE:
        assert verdict.conditions, "only a broken condition may keep it from being compared"
    else:
        assert verdict.outcome is (Outcome.VIOLATED if key in PRINTED_FALSE else Outcome.HOLDS), verdict.reasons


def test_statements_that_are_verified():
    """All statements about runs of three papers are among them."""
    for paper in ("pfl", "fedsum", "flame"):
        for statement in bounds.statements(paper):
            if not statement.order_only and statement.algorithm is not None:
                assert not foreign(statement), statement.key


def test_delays_of_a_given_trace():
    """tau_max and tau_avg are counted, by hand: client 1 is away in rounds 0, 2, 3, client 0 in round 1."""
    trace = Trace([[1, 0], [0, 1], [1, 0], [1, 0]])
    given = {"K": 2.0, "T": 4.0, "sigma": 0.1}
    problem = Quadratic.synthetic(2, 2, 2)
    verdict = verify(bounds.get("fedsum/theorem-4.1"), problem, given, participation=trace)
    assert verdict.outcome is Outcome.HOLDS
    # tau_0 = 1 (client 1 never yet), tau_1 = 1 (client 0), tau_2 = 1 (client 1), tau_3 = 2.
    assert (verdict.constants["tau_max"].value, verdict.constants["tau_avg"].value) == (2.0, 1.25)


def test_each_drawn_trace_is_a_check():
    """A statement about every participation is compared once per draw, whatever the others are."""
    statement, problem = bounds.get("fedsum/theorem-d.1"), Quadratic.synthetic(5, 3, 3, seed=1)
    few, many = (verify(statement, problem, SETTINGS["fedsum"], Options(traces=n)) for n in (2, 4))
    assert (len(few.comparisons), len(many.comparisons)) == (2, 4)
    assert few.comparisons == many.comparisons[:2]


def test_participations_share_the_level(monkeypatch):
    """Any of them may refute the statement, so that each has its part; all have to hold, each at the whole level."""
    seen = []
    monkeypatch.setattr(judgement, "judge", lambda *args, **rest: seen.append(args[3:5]) or judge(*args, **rest))
    options = Options(engine="step", replicates=64, level=0.03, traces=5)
    verify(bounds.get("fedsum/theorem-4.1"), Quadratic.synthetic(5, 3, 3, seed=1), SETTINGS["fedsum"], options)
    assert seen == [(0.03, pytest.approx(0.006))] * 5


def test_noise_that_is_sampled_is_no_exact_number():
    """Step sizes are those of the given trace; its runs with noise are replicates, and decide as such."""
    statement, problem = bounds.get("fedsum/corollary-4.1-repaired"), Quadratic.synthetic(4, 3, 3, seed=1)
    trace, given = Trace.cyclic(4, 2), {"K": 3.0, "T": 12.0, "sigma": 0.5}
    exact = verify(statement, problem, given, EXACT, participation=trace)
    assert (exact.outcome, exact.engine) == (Outcome.HOLDS, "exact")
    ratio = exact.worst.left / exact.worst.right
    for factor, outcome in ((0.999, Outcome.INCONCLUSIVE), (1.001, Outcome.INCONCLUSIVE), (0.5, Outcome.VIOLATED)):
        for seed in range(2):
            options = Options(engine="step", replicates=256, seed=seed)
            verdict = verify(altered(statement.key, factor * ratio), problem, given, options, participation=trace)
            assert (verdict.outcome, verdict.engine) == (outcome, "step")


def test_participation_that_the_statement_is_not_about():
    """Given another pattern the verdict is NOT_APPLICABLE and says which one is meant."""
    statement = bounds.get("fedsum/corollary-g.1-case-1")
    problem = Quadratic.synthetic(4, 2, 2)
    given = {"S": 2.0, "K": 2.0, "T": 9.0, "sigma": 0.0}
    verdict = verify(statement, problem, given, participation=Trace.cyclic(4, 2))
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "cyclic" in verdict.reasons[0]
    assert "uniformly" in verdict.reasons[0]


def test_a_larger_inner_error_is_as_true():
    """Theorem 2 of FLAME as printed is false: an upper bound eps_max on the inner error may make its bound smaller."""
    statement, problem = bounds.get("flame/theorem-2-unbiased"), Quadratic.synthetic(5, 3, 3, seed=1)
    given = {**SETTINGS["flame"], "rho": 10.0, "alpha": 1.0}
    assert verify(statement, problem, given).outcome is Outcome.HOLDS
    loose = verify(statement, problem, {**given, "eps_max": 100.0})
    assert loose.outcome is Outcome.VIOLATED


@pytest.mark.parametrize("key", ["pfl/theorem-3.7", "pfl/theorem-3.11", "pfl/theorem-4.5", "pfl/corollary-4.6"])
def test_a_bound_five_times_too_strong_is_violated(key):
    """A planted error: a right side divided by five is caught where the statement is tight."""
    problem, run = Quadratic.synthetic(2, 2, 1, condition=1, heterogeneity=0), {"m": 2.0, "K": 4.0, "T": 4000.0}
    full = {k: v for k, v in run.items() if k not in bounds.get(key).settings}
    assert verify(bounds.get(key), problem, full, EXACT).outcome is Outcome.HOLDS
    assert verify(altered(key, 0.2), problem, full, EXACT).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(
    ("key", "term"),
    [("pfl/lemma-3.3", "gradient"), ("pfl/lemma-3.4", "dissimilarity"), ("pfl/lemma-a.3", "first order")],
)
def test_a_wrong_lemma_is_violated(key, term):
    """A planted error in one term of a lemma is caught."""
    statement = bounds.get(key)
    problem = problem_for(statement)
    changed = altered(key, 0.2 if term != "first order" else 2, term)
    verdict = verify(changed, problem, {**run_for(statement, problem), "gamma": 1e-5}, EXACT)
    assert verdict.outcome is Outcome.VIOLATED


def test_engines_agree():
    """Monte Carlo encloses the exact left side and reaches the same verdict."""
    statement = bounds.get("pfl/theorem-3.7")
    problem = problem_for(statement)
    exact = verify(statement, problem, RUN, EXACT)
    step = verify(statement, problem, RUN, Options(engine="step", replicates=200, level=1e-4))
    assert step.outcome is exact.outcome is Outcome.HOLDS
    assert abs(step.worst.left - exact.worst.left) <= step.worst.error


def test_monte_carlo_catches_and_doubts():
    """A false bound is VIOLATED with replicates enough, and one at the expectation itself is INCONCLUSIVE."""
    statement = bounds.get("pfl/theorem-3.7")
    problem, options = problem_for(statement), Options(engine="step", replicates=512)
    exact = verify(statement, problem, RUN, EXACT).worst
    ratio = exact.left / exact.right
    outcomes = [
        verify(altered(statement.key, factor * ratio), problem, RUN, options).outcome for factor in (0.5, 1.0, 2.0)
    ]
    assert outcomes == [Outcome.VIOLATED, Outcome.INCONCLUSIVE, Outcome.HOLDS]


def test_step_size_outside_its_condition():
    """Outside the conditions nothing is claimed; --ignore-conditions compares, and says so; a blow-up never passes."""
    statement = bounds.get("pfl/theorem-4.5")
    problem = problem_for(statement)
    outside = {**RUN, "gamma": 0.02}
    verdict = verify(statement, problem, outside, EXACT)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "gamma=0.02 breaks" in verdict.reasons[0]
    assert "Largest admissible gamma" in verdict.reasons[0]
    compared = verify(statement, problem, outside, Options(engine="exact", ignore_conditions=True))
    assert compared.outcome in (Outcome.HOLDS, Outcome.VIOLATED)
    assert "although" in compared.notes[0]
    for engine in ("exact", "step"):
        blown = verify(
            statement, problem, {**RUN, "T": 2000.0, "gamma": 9.0}, Options(engine=engine, ignore_conditions=True)
        )
        assert blown.outcome is Outcome.DIVERGED


def test_dissimilarity_along_the_trajectory():
    """Where no global b exists, one along the trajectory stands in, is large enough there, and is said to be so."""
    statement = bounds.get("pfl/corollary-3.8")
    problem = problem_for(statement, coupling=0.6)
    assert problem.constants()["b"].certificate is Certificate.ABSENT
    verdict = verify(statement, problem, RUN, EXACT)
    assert verdict.constants["b"].certificate is Certificate.TRAJECTORY
    start = problem.gradients(np.zeros(4), np.zeros((6, 4)))[0]
    at_start = np.sqrt(np.mean(np.sum((start - start.mean(axis=0)) ** 2, axis=1)))
    assert verdict.constants["b"].value >= at_start


def apart(n=2, slope=0.2999):
    """Clients with gradients on both sides of 0 at the start, the first with twice the curvature."""
    curvatures = np.r_[1.0, np.full(n - 1, 0.5)]
    return Quadratic(curvatures[:, None, None], np.r_[0.3, np.full(n - 1, -slope)][:, None], 1)


def test_a_violation_with_unequal_curvatures_is_a_counterexample_where_the_run_is_not_random():
    """There b is that of functions with the same run; with noise it is that of the server's models, which is said."""
    wrong = {pair.wrong.key: pair.wrong for pair in PAIRS}
    run = {"K": 2.0, "T": 100.0, "gamma_u": 1 / 20}
    plain = verify(wrong["textbook/local-gd-apart-drift"], apart(), run, EXACT)
    assert plain.outcome is Outcome.VIOLATED
    assert plain.constants["b"].certificate is Certificate.UPPER_BOUND
    assert not plain.supposes
    noisy = verify(wrong["textbook/local-sgd-drift"], apart(), {**run, "sigma_u": 1e-6}, EXACT)
    assert noisy.outcome is Outcome.VIOLATED
    assert noisy.constants["b"].certificate is Certificate.TRAJECTORY
    assert outcome_text(noisy).endswith("is needed at the server's models of this run only")
    # A true statement is not accused on either.
    for key in ("textbook/local-gd-apart", "textbook/local-sgd"):
        true = next(pair.true for pair in PAIRS if pair.true.key == key)
        assert verify(true, apart(), {**run, "sigma_u": 0.0}, EXACT).outcome is Outcome.HOLDS


def test_negative_curvature_has_a_gap_where_the_run_is_not_random():
    """F_0 of a function that turns beyond the run; with noise there is none, and one that is too small is refused."""
    statement = bounds.get("pfl/theorem-4.5")
    problem = Quadratic(np.array([-1.0, 0.5])[:, None, None], np.array([[0.3], [-0.2]]), 1)
    run = {"m": 2.0, "K": 2.0, "T": 20.0}
    verdict = verify(statement, problem, run, EXACT)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.constants["F_0"].certificate is Certificate.UPPER_BOUND
    gap = verdict.constants["F_0"].value
    assert verify(statement, problem, {**run, "F_0": 2 * gap}, EXACT).outcome is Outcome.HOLDS
    with pytest.raises(InputError, match="its value along the run"):
        verify(statement, problem, {**run, "F_0": gap / 2}, EXACT)
    assert verify(statement, problem, {**run, "sigma_u": 0.1}, EXACT).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("H", "g", "run", "outcome"),
    [
        # No gradient of f at the start, but the clients move; one that squares to 0; one that squares to infinity.
        ([-1.0, 0.5], [1.0, -1.0], {"K": 3.0, "T": 3.0}, Outcome.HOLDS),
        ([-1.0], [1e-170], {"K": 1.0, "T": 3.0}, Outcome.HOLDS),
        ([-1e-110], [1e100], {"K": 1.0, "T": 2.0}, Outcome.NOT_APPLICABLE),
        # Too long to be followed.
        ([-1e-6], [1.0], {"K": 1.0, "T": 20_000.0}, Outcome.NOT_APPLICABLE),
    ],
)
def test_gaps_of_odd_starts(H, g, run, outcome):
    """A verdict or a reason, never an error: "does not exist" where nothing bounds f from below."""
    problem = Quadratic(np.array(H)[:, None, None], np.array(g)[:, None], 1)
    verdict = verify(bounds.get("pfl/theorem-4.5"), problem, {"m": float(len(H)), **run}, EXACT)
    assert verdict.outcome is outcome
    if outcome is Outcome.NOT_APPLICABLE:
        assert verdict.reasons == ("F_0 does not exist: f is unbounded below",)
        assert verdict.constants["F_0"].certificate is Certificate.ABSENT


def test_convexity_is_certified():
    """A statement about convex functions says nothing where a client's curvature is negative."""
    convex = next(each for each in STATEMENTS if each.key == "textbook/gradients-fall")
    run = {"T": 5.0, "gamma_u": 1.0}
    assert verify(convex, Quadratic(np.ones((1, 1, 1)), np.ones((1, 1)), 1), run, EXACT).outcome is Outcome.HOLDS
    bent = verify(convex, Quadratic(-np.ones((1, 1, 1)), np.ones((1, 1)), 1), run, EXACT)
    assert bent.outcome is Outcome.NOT_APPLICABLE
    assert bent.reasons == ("convexity does not exist: a client has the curvature -1",)
    plain = Logistic.synthetic(n=2, N=6, d=2, seed=1, rho=0.0)
    assert plain.least_curvature == 0.0
    assert Logistic.synthetic(n=2, N=6, d=2, seed=1, rho=0.1).least_curvature is None


def test_unbounded_objective_is_not_applicable():
    """Without a lower bound on f there is no F_0, so the theorem says nothing; it does not hold."""
    H, g = np.zeros((2, 2, 2)), np.ones((2, 2))
    verdict = verify(bounds.get("pfl/theorem-4.5"), Quadratic(H, g, shared=1), {"m": 2.0, "K": 2.0, "T": 3.0}, EXACT)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "F_0 does not exist" in verdict.reasons[0]


def test_logistic_certificates():
    """On logistic regression every constant has a certificate, and mini-batch noise is part of sigma."""
    problem = Logistic.synthetic(n=5, N=12, d=6, seed=3, batch=4)
    statement = bounds.get("pfl/corollary-3.8")
    verdict = verify(statement, problem, {"m": 3.0, "K": 3.0, "T": 20.0, "sigma_u": 0.1}, Options(replicates=8))
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.engine == "step"
    assert {"L", "sigma_u", "sigma_v", "b", "F_0"} <= verdict.constants.keys()
    assert verdict.constants["sigma_u"].value > 0.1
    assert verdict.values["sigma_u"] == verdict.constants["sigma_u"].value


def test_constants_may_only_be_enlarged():
    """A larger constant is an assumption that still holds; a smaller one is refused."""
    statement = bounds.get("pfl/theorem-4.5")
    problem = problem_for(statement)
    assert verify(statement, problem, {**RUN, "L": 2.0}, EXACT).values["L"] == 2.0
    with pytest.raises(InputError, match=r'L=0.5 breaks "L >= 1"'):
        verify(statement, problem, {**RUN, "L": 0.5}, EXACT)


def test_lemma_on_logistic_says_what_would_do():
    """Quantities that sampling does not record make a lemma not applicable, with the way out."""
    problem = Logistic.synthetic(n=3, N=5, d=4)
    verdict = verify(bounds.get("pfl/lemma-3.2"), problem, {"m": 2.0, "K": 2.0, "T": 3.0}, Options())
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "quadratic problem" in verdict.reasons[0]


def test_vacuity():
    """The bound is vacuous before the T reported and not from there on."""
    statement = bounds.get("pfl/corollary-4.6")
    problem = problem_for(statement)
    until = verify(statement, problem, RUN, EXACT).vacuous_until
    for T, vacuous in ((until - 1, True), (until, False)):
        assert verify(statement, problem, {**RUN, "T": float(T)}, EXACT).vacuous is vacuous


def test_equal_relation_fails_both_ways():
    """A claim with "=" is violated by a right side that is too large as well."""
    statement = bounds.get("pfl/lemma-a.2")
    assert statement.claims[0].relation is Relation.EQUAL
    assert verify(altered("pfl/lemma-a.2", 3), problem_for(statement), RUN, EXACT).outcome is Outcome.VIOLATED


def test_one_run_decides_where_nothing_is_random():
    """Without noise and with everybody there one run is compared like the exact expectation."""
    statement, problem = bounds.get("pfl/theorem-3.7"), Quadratic.synthetic(3, 2, 1, seed=4)
    given = {"m": 3.0, "K": 4.0, "T": 30.0}
    once, exact = (verify(statement, problem, given, Options(engine=engine)) for engine in ("step", "exact"))
    assert (once.outcome, once.engine, once.replicates) == (Outcome.HOLDS, "step", None)
    assert once.worst.left == pytest.approx(exact.worst.left, rel=1e-10)
    ratio = exact.worst.left / exact.worst.right
    tight = altered(statement.key, 0.999 * ratio)
    assert verify(tight, problem, given, Options(engine="step")).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("curvature", [1e-320, 5e-324, 1e-310])
@pytest.mark.parametrize("shared", [0, 1, 2])
def test_a_minimum_beyond_float64_is_no_certificate(curvature, shared):
    """The inverse of a subnormal curvature overflows: not applicable, and no error of the program's own."""
    problem = Quadratic(np.stack([np.eye(2) * curvature] * 2), np.ones((2, 2)), shared=shared)
    assert problem.infimum() == -math.inf
    assert problem.minimizer() is None
    verdict = verify(bounds.get("pfl/theorem-3.7"), problem, {"m": 1.0, "K": 2.0, "T": 4.0}, EXACT)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
