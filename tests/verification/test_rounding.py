"""What rounding does to a verdict: bounds of it against many digits, ties, blow-ups, overflow and underflow."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from fractions import Fraction

import far_apart
import mpmath
import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import bounds
import ratecheck as rc
from bounds.statement import Assumption, Claim, Condition, Metric, Over, Relation, Source, Statement
from bounds.symbols import COMMON, Domain, Role, Vocabulary
from bounds.theorem import theorem
from ratecheck.algebra.ball import EXACT, Ball
from ratecheck.algebra.enclosure import Enclosure, UndecidedError
from ratecheck.algebra.running_error import Rounded, rounded
from ratecheck.commands.checks import verify as command
from ratecheck.errors import InputError
from ratecheck.exponents.sweep import survey
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic
from ratecheck.settings.setting import Options
from ratecheck.verification import claim_sides as sides
from ratecheck.verification.verdict import Comparison
from ratecheck.verification.verify import verify
from ratecheck.views.checks.verdict import verdict_fields, verdict_text

X, Y, Z = sp.symbols("x y z", positive=True)
FORMULAS = [
    X - Y,
    X - Y * Z,
    sp.sqrt(X) - sp.sqrt(Y),
    X / (Y - Z),
    (X - Y) ** 3,
    (X + Y) ** 2 - X**2 - 2 * X * Y - Y**2,
    sp.log(X / Y),
    sp.exp(-X / Z) / Z - Y,
    sp.Max(X, Y) - sp.Min(X, Z),
    X ** sp.Rational(2, 3) / Y - Z,
    sp.Rational(1, 3) * X - X / 3,
    X**7 - Y**7,
    (1 - X / (X + Y)) ** 30 / Z,
    X / sp.sqrt(Y) - Z,
]

own = Vocabulary(COMMON)
for name, fact in {"D": "distance2", "gap": "gap"}.items():
    own.define(name, name, name, Domain.NONNEGATIVE, Role.MEASURED, 0, 0)
    own.define(f"{name}_prev", name, name, Domain.NONNEGATIVE, Role.MEASURED, 0, 0)
    own.facts[name] = fact
own.define("G_u_prev", "G", "G", Domain.NONNEGATIVE, Role.MEASURED, 0, 0)
L, F_0, T, n, gamma, sigma, G = (own[name].symbol for name in ("L", "F_0", "T", "n", "gamma_u", "sigma_u", "G_u"))
D, D_BEFORE, GAP, GAP_BEFORE, G_BEFORE = (own[name].symbol for name in ("D", "D_prev", "gap", "gap_prev", "G_u_prev"))
CAP = Condition(name="step size", left=gamma, operator="<=", right=1 / L)


def statement(left, terms, *, over=Over.EVERY_ROUND_BUT_FIRST, relation=Relation.AT_MOST, conditions=(CAP,)):
    """A statement about gradient descent on one function, with noise."""
    return Statement(
        key="own/statement", title="", source=Source(paper="", number="1", location=""), vocabulary=own,
        algorithm="fedavg",
        assumptions=(
            Assumption.SMOOTHNESS, Assumption.NOISE, Assumption.FULL_PARTICIPATION, Assumption.NO_PERSONAL,
        ),
        claims=(
            Claim(
                name="main", metric=Metric(latex="", weights={left: sp.Integer(1)}, over=over, trivial=None),
                relation=relation, terms=terms,
            ),
        ),
        conditions=conditions, step_rules=(), step_products=(),
        settings={"K": sp.Integer(1), "m": n, "eta_u": sp.Integer(1)}, follows_from=(), remark="",
    )  # fmt: skip


DISTANCE = statement(D, {"before": D_BEFORE, "gap": -2 * gamma * GAP_BEFORE, "noise": gamma**2 * sigma**2})
# On f = ||x||^2/2 the step gamma = 1/L ends at the minimiser: both sides are 0 from then on, and equal before.
TIGHT = statement(D, {"before": D_BEFORE, "gap": -(2 * gamma - gamma**2 * L) * L * 2 * GAP_BEFORE / L})
DESCENT = statement(GAP, {"before": GAP_BEFORE, "gradient": -gamma * (1 - L * gamma / 2) * G_BEFORE})


def asked(each, problem, given, **options):
    """A verdict with warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return verify(each, problem, {"m": float(problem.n), "K": 1.0, **given}, Options(vacuity=False, **options))


def bowl(*curvatures, slope=1.0):
    """One client's quadratic."""
    return Quadratic(np.diag(curvatures)[None], np.full((1, len(curvatures)), slope), len(curvatures))


# --- The bound itself ---


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_errors_cover_the_truth(formula):
    """At random numbers, known exactly or up to errors, near cancellation or not; and they are not all infinite."""
    rng = np.random.default_rng(FORMULAS.index(formula))
    precise = sp.lambdify((X, Y, Z), formula, "mpmath")
    known = 0
    with mpmath.workdps(60):
        for _ in range(150):
            size = 10 ** rng.uniform(-8, 8)
            values = size * (1 + rng.choice([0, 1e-15, 1e-9, 1e-3, 1], 3) * rng.uniform(-0.9, 1, 3))
            errors = values * rng.choice([0, 1e-16, 1e-12, 1e-3], 3)
            found = rounded(
                formula, {str(s): Rounded.of(v, e) for s, v, e in zip((X, Y, Z), values, errors, strict=True)}
            )
            if not math.isfinite(found.error):
                continue
            known += 1
            moved = [mpmath.mpf(v) + mpmath.mpf(e) * rng.choice([-1, 1]) for v, e in zip(values, errors, strict=True)]
            try:
                true = precise(*moved)
            except ZeroDivisionError:
                continue
            assert abs(true - mpmath.mpf(float(found.value))) <= float(found.error)
    assert known > 20


def test_differences_do_not_hide_their_errors():
    """Errors of opposite sign do not cancel: a - c*b with b uncertain, whatever a's error is."""
    found = rounded(X - Y * Z, {"x": Rounded.of(1.0, 1e-6), "y": Rounded.of(2.0, 5e-7), "z": Rounded.of(2.0)})
    assert found.error >= 2e-6


def test_underflow_and_overflow_on_the_way():
    """1/(1e200)^2 is no exact 0, nor is (1e-200)^2; exact zeros stay exact."""
    below = rounded(1 / X**2, {"x": Rounded.of(1e200)})
    assert below.value == 0
    assert math.isinf(below.error)
    square = rounded(Y * X**2, {"x": Rounded.of(1e-200), "y": Rounded.of(1e300)})
    assert square.error >= 1e-100
    zero = rounded(Y * X**2, {"x": Rounded.of(0.0), "y": Rounded.of(1e300)})
    assert (zero.value, zero.error) == (0.0, 0.0)


def test_means_are_rounded_too():
    """The mean of many numbers, in the order that NumPy adds them."""
    values = np.random.default_rng(0).uniform(-1, 1, 10_001) * 1e8
    mean = Rounded.of(values).mean()
    assert abs(math.fsum(values) / len(values) - mean.value) <= mean.error < 1e-4


# --- Verdicts ---


@pytest.mark.parametrize("T", [3, 60, 400])
@pytest.mark.parametrize("each", [DISTANCE, TIGHT, DESCENT], ids=["distance", "tight", "descent"])
def test_true_recursions_are_never_accused(each, T):
    """Differences of nearly equal numbers, at and long after the minimiser is reached."""
    for problem in (bowl(1.0), bowl(0.7, slope=0.3), bowl(1.0, 0.3), bowl(1e-8, 2e-8), bowl(3e7, 1e7, slope=1e-3)):
        if each is TIGHT and problem.d > 1:
            continue
        largest = problem.H.max()
        for share in (1.0, 0.7):
            given = {"T": float(T), "sigma_u": 0.0, "gamma_u": share / largest}
            assert asked(each, problem, given, rigorous=T == 3).outcome in (Outcome.HOLDS, Outcome.INCONCLUSIVE)


def test_a_difference_in_one_term_accuses_nobody():
    """The textbook's recursion, written as one term: where x+ = x*, its parts cancel and so did their errors."""
    whole = statement(D, {"all": D_BEFORE - 2 * gamma * GAP_BEFORE + gamma**2 * sigma**2})
    found = falsify(whole, Budget(40), seed=0)
    assert found.outcome is not Outcome.VIOLATED
    assert 0.99 < found.tightness <= 1 + 1e-6


def test_equal_sides_go_up():
    """Where float64 cannot tell, rationals say that equal sides are equal; without them nothing is said."""
    given = {"T": 4.0, "sigma_u": 0.0, "gamma_u": 0.5}
    open_ = asked(TIGHT, bowl(1.0), given, rigorous=False)
    assert open_.outcome is Outcome.INCONCLUSIVE
    assert "rounding" in open_.reasons[0]
    settled = asked(TIGHT, bowl(1.0), given)
    assert settled.outcome is Outcome.HOLDS
    assert any("proved in interval arithmetic" in note for note in settled.notes)


def test_a_structural_tie_holds_at_every_state():
    """sum_i ||grad_u f_i||^2 = n G_u + n b^2 where the clients' Hessians agree, however long the run is."""
    found = bounds.get("pfl/lemma-3.6")
    problem = Quadratic.synthetic(4, 2, 1, seed=1)
    verdict = verify(found, problem, {"m": 2.0, "K": 5.0, "T": 200.0}, Options(vacuity=False))
    assert verdict.outcome is Outcome.HOLDS


def test_what_is_false_by_little_is_caught():
    """A right side that is smaller by a millionth is refuted all the same."""
    less = {"before": D_BEFORE * (1 - sp.Rational(1, 10**6)), "gap": -(2 * gamma - gamma**2 * L) * 2 * GAP_BEFORE}
    verdict = asked(statement(D, less), bowl(1.0), {"T": 4.0, "sigma_u": 0.0, "gamma_u": 0.5})
    assert verdict.outcome is Outcome.VIOLATED


def test_rounding_is_no_value():
    """A side that is nothing but rounding is not printed as a number, has no slack and ranks nowhere."""
    comparison = Comparison("main", 3, 1e-30, -2e-30, 2e-20, {}, left_error=1e-20, right_error=1e-20)
    assert not comparison.significant
    assert comparison.slack is None
    assert comparison.tightness is None
    verdict = asked(DISTANCE, bowl(1.0, 0.1), {"T": 600.0, "sigma_u": 0.0, "gamma_u": 1.0}, rigorous=False)
    text = verdict_text(verdict)
    assert "0 to within rounding" in text
    assert "slack" not in text.replace("the least slack;", "")
    fields = verdict_fields(verdict)["claims"][0]
    assert fields["left_error"] >= abs(fields["left"])
    assert fields["significant"] is False


def test_rational_runs_are_exact():
    """Balls without bits hold rationals."""
    third = Ball.of([[1]], EXACT).scaled(Fraction(1, 3))
    assert (third @ third).entry(0, 0).exact
    assert (third @ third).entry(0, 0).low == Fraction(1, 9)


# --- Runs that blow up ---


MEAN = statement(G, {"gap": 2 * F_0 / (gamma * T)}, over=Over.MEAN_OF_ROUNDS, conditions=())


@pytest.mark.every(2)
@pytest.mark.parametrize("rounds", [40.0, 800.0, 5000.0, 1e6])
def test_a_run_that_blows_up_refutes(rounds):
    """Without its cap on the step size the descent theorem is false, also where the run leaves the range of floats."""
    for engine in ("exact", "step"):
        if engine == "step" and rounds > 1e5:
            continue
        verdict = asked(MEAN, bowl(1.0), {"T": rounds, "sigma_u": 0.0, "gamma_u": 3.0}, engine=engine)
        assert verdict.outcome is Outcome.VIOLATED
        assert math.isfinite(verdict.worst.right)


def test_random_runs_that_blow_up_refute():
    """So do replicates, of which those beyond the range of floats bound the mean from below."""
    for rounds in (40.0, 800.0):
        given = {"T": rounds, "sigma_u": 0.1, "gamma_u": 3.0}
        assert asked(MEAN, bowl(1.0), given, engine="step", replicates=64).outcome is Outcome.VIOLATED


def test_growth_is_no_divergence():
    """A run that starts near the minimiser grows by any factor without anything being wrong."""
    noisy = statement(G, {"gap": 2 * F_0 / (gamma * T), "noise": L * gamma * sigma**2}, over=Over.MEAN_OF_ROUNDS)
    given = {"T": 40.0, "sigma_u": 1.0, "gamma_u": 0.5}
    for engine in ("exact", "step"):
        verdict = asked(noisy, bowl(1.0, slope=1e-9), given, engine=engine)
        assert verdict.outcome is Outcome.HOLDS


def test_outside_its_conditions_nothing_is_refuted():
    """A blow-up that the statement excludes is not held against it."""
    capped = replace(MEAN, conditions=(CAP,))
    given = {"T": 800.0, "sigma_u": 0.0, "gamma_u": 3.0}
    assert asked(capped, bowl(1.0), given).outcome is Outcome.NOT_APPLICABLE
    assert asked(capped, bowl(1.0), given, ignore_conditions=True).outcome is Outcome.DIVERGED


def test_linear_rates_have_values():
    """(1 + gamma)^T: exponents that are known numbers; what they make too large decides nothing."""
    found = statement(G, {"rate": 2 * L * F_0 * (1 + gamma) ** T}, over=Over.MEAN_OF_ROUNDS)
    for T_, want in ((20.0, Outcome.HOLDS), (1e5, Outcome.INCONCLUSIVE)):
        given = {"T": T_, "sigma_u": 0.0, "gamma_u": 0.5}
        assert asked(found, bowl(1.0), given).outcome is want
    exact = found.evaluate(T=20, L=1, F_0=1, gamma_u=0.5, n=1, sigma_u=0).value
    assert exact == pytest.approx(2 * 1.5**20)


# --- Beyond the range of floats ---


@pytest.mark.parametrize("engine", ["exact", "step"])
@pytest.mark.parametrize("given", [{"F_0": 1e308}, {"sigma_u": 1e200}, {"F_0": 1e308, "sigma_u": 1e160}], ids=str)
def test_a_bound_that_overflows_decides_nothing(engine, given):
    """INCONCLUSIVE, in one sentence and without a warning."""
    found = bounds.get("pfl/theorem-4.5")
    problem = Quadratic.synthetic(4, 2, 1, seed=1)
    numbers = {"m": 2.0, "K": 5.0, "T": 8.0, "gamma": 1e-4, **given}
    verdict = asked(found, problem, numbers, engine=engine, replicates=64)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.slack is None
    assert "the bound overflows float64" in " ".join(verdict.reasons)


def test_a_sweep_says_that_a_bound_overflows():
    """In one sentence, before anything is varied."""
    numbers = {"m": 2.0, "K": 5.0, "T": 8.0, "gamma": 1e-4, "F_0": 1e308}
    with pytest.raises(InputError, match="the bound overflows float64"):
        survey(bounds.get("pfl/theorem-4.5"), Quadratic.synthetic(4, 2, 1, seed=1), numbers)


def test_units_beyond_floats_are_said():
    """Where no step size can be chosen since the bound overflows, verify says just that."""
    verdict = asked(bounds.get("pfl/theorem-4.5"), Quadratic.synthetic(4, 2, 1, seed=1),
                    {"m": 2.0, "K": 5.0, "T": 8.0, "F_0": 1e308})  # fmt: skip
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "float64" in verdict.reasons[0]


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e-155])
def test_what_underflows_accuses_nobody(scale):
    """Squares of small numbers are lost: neither side is then known to be 0."""
    given = {"T": 4.0, "sigma_u": scale, "gamma_u": 0.5}
    noisy = statement(G, {"gap": 2 * F_0 / (gamma * T), "noise": L * gamma * sigma**2}, over=Over.MEAN_OF_ROUNDS)
    for each in (DISTANCE, noisy):
        for slope in (scale, 1.0):
            verdict = asked(each, bowl(1.0, slope=slope), given) if slope == 1.0 or scale > 1e-160 else None
            assert verdict is None or verdict.outcome is not Outcome.VIOLATED


def test_the_command_says_it():
    """As JSON: null for what is no number, with both errors."""
    words = ["pfl/theorem-4.5", "n=4", "m=2", "K=5", "T=8", "gamma=1e-4", "F_0=1e308", "--json"]
    done = CliRunner().invoke(command.command, words, standalone_mode=False)
    data = json.loads(done.output)
    assert data["verdict"] == "INCONCLUSIVE"
    assert data["claims"][0]["right"] is None
    assert data["slack"] is None


# --- Far from 1 ---


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_wide_instances_accuse_nobody(seed):
    """Many clients, long runs, units from 1e-8 to 1e8; the long test asks more."""
    keys = far_apart.statements()
    some = keys if seed else keys[::6]
    found = far_apart.tally(some, range(600 if seed else len(some)), seed)
    assert not found.accused
    assert found.decided > 0.6 * len(some)
    assert found.undecided < (0.02 if seed else 0.2)


def test_wide_instances_are_wide():
    """They are what they say: many clients, many rounds and local steps, small and large numbers."""
    keys = [key for key in far_apart.statements() if key.startswith(("pfl/theorem", "pfl/corollary"))]
    made = [far_apart.instance(bounds.get(key), np.random.default_rng(k)) for k, key in enumerate(keys * 4)]
    made = [each for each in made if each is not None]
    assert len(made) > 3 * len(keys)
    curvature = [each.problem.H.max() for each in made]
    assert max(each.problem.n for each in made) > 50
    assert max(each.given.get("K", 1) for each in made) > 1e4
    assert min(curvature) < 1e-4
    assert max(curvature) > 1e4


def test_a_run_that_grows_for_long_is_given_up_soon():
    """Enclosures of a number with 10^8 digits would take hours: whatever grows beyond any float is undecided."""
    grown = Ball.of([[Fraction(3, 2)]], 128)
    with pytest.raises(UndecidedError, match="range of floats"):
        grown.power(Ball.of([[1]], 128), 10**9)
    power = grown.power(Ball.of([[1]], 128), 100)[0].entry(0, 0)
    assert power.low <= Fraction(3, 2) ** 100 <= power.high


def test_nothing_times_what_overflows_is_nothing():
    """A delay of 0 makes a term 0, however large the sum beside it; without the delay the bound overflows."""
    statement = bounds.get("fedsum/lemma-e.5-repaired")
    claim, vocabulary = statement.claims[0], statement.vocabulary
    values = {"N": 1.0, "K": 1.0, "T": 1.0, "L": 1.0, "sigma": 0.0, "eta": 1.0, "tau_max": 0.0, "tau_avg": 0.0}
    sums, exact = {"local_aggregate_sum": np.array([math.inf])}, {"local_aggregate_sum": np.array([math.inf])}
    found = sides.enclosed(claim.bound, vocabulary, values, sums, exact)
    assert found.at(0) == (0.0, 0.0)
    assert sides.evaluate(claim.bound, vocabulary, values, sums)[0] == 0
    delayed = sides.enclosed(claim.bound, vocabulary, {**values, "tau_max": 1.0}, sums, exact)
    assert not delayed.sure[0]


@pytest.mark.parametrize("key", ["flame/theorem-1", "flame/theorem-1-repaired"])
def test_ties_of_single_clients_are_proved(key):
    """With lambda = L and equal weights the lower bound is an identity of every client: no float decides it."""
    problem = Quadratic(np.array([[[0.7]], [[0.7]]]), np.array([[1.3], [-0.4]]), 1)
    given = {"lambda_": 0.7, "alpha": 1.0, "T": 3, "s": 1}
    found = verify(bounds.get(key), problem, given, Options(engine="exact"))
    assert found.outcome is Outcome.HOLDS
    statement = bounds.get(key)
    lower, *others = statement.claims
    share = sp.Rational(10**14 - 1, 10**14)
    smaller = replace(lower, terms={label: share * term for label, term in lower.terms.items()})
    less = replace(statement, claims=(smaller, *others))
    assert verify(less, problem, given, Options(engine="exact")).outcome is not Outcome.HOLDS


def test_an_error_without_a_bound_is_no_overflow():
    """Large server steps round by more than they move: the left side is a number, and what it is off is not known."""
    given = {"m": 3.0, "K": 457.0, "T": 3000.0, "eta_u": 1e6}
    verdict = verify(bounds.get("pfl/theorem-3.7"), Quadratic.synthetic(n=10), given, Options(vacuity=False))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reasons[0] == "no bound is known for the rounding error of the left side"
    assert math.isfinite(verdict.worst.left)
    assert math.isinf(verdict.worst.left_error)
    assert verdict.slack is None


def test_a_high_power_of_a_rational_is_rounded_outwards():
    """A formula's exponent may be a million: the digits of what it gives are bounded, whoever asks."""
    base, exponent = Fraction(9, 8), 100_000
    found = Enclosure.of(base).power(Fraction(exponent))
    assert found.low < base**exponent < found.high
    assert found.high / found.low - 1 < Fraction(1, 10**1000)
    assert Enclosure.of(base).power(Fraction(1000)).low == base**1000


def test_a_shorter_run_is_proposed_where_both_sides_are_rounding():
    """A bound that falls geometrically is far below it after the default number of rounds, and a run of fewer holds."""
    claimed = theorem("last dist2 <= (1 - gamma*mu)**(2*T)*dist2_0", method="gd", given="smooth, strongly convex",
                      when="gamma <= 2/(L + mu)")  # fmt: skip
    verdict = rc.verify(claimed, T=400).verdict
    (hint,) = (reason for reason in verdict.reasons if "shorter" in reason)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert rc.verify(claimed, T=int(hint.rpartition("=")[2])).verdict.outcome is Outcome.HOLDS
