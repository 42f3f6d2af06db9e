"""Confidence bounds: they are wrong no more often than they say, wherever one stops, and verdicts by them neither."""

import dataclasses
import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import bdtrc, ndtri

import bounds
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.problems import Quadratic
from ratecheck.statistics.confidence import OF_NORMAL, SPREAD, Validity, lower, radius, shares, upper, upper_by_spread
from ratecheck.statistics.sequential_test import FIRST, decide, of_every_run, of_numbers
from ratecheck.verification.verify import Options, verify


def load_benchmark():
    """The measurement at length, a script; its cases and its way of counting are used here."""
    path = Path(__file__).parents[2] / "benchmarks" / "confidence.py"
    spec = importlib.util.spec_from_file_location("measured_coverage", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["measured_coverage"] = module
    spec.loader.exec_module(module)
    return module


measured = load_benchmark()
CASES = {case.name: case for case in measured.CASES}
LEVEL, RUNS = 0.05, 2000
# Verdicts of a whole check, which take longer than a bound.
SETTLED = 100


def too_often(count, runs, level):
    """Whether so many errors in so many runs have a probability below 1e-4 at the level."""
    return count > 0 and float(bdtrc(count - 1, runs, level)) < 1e-4


def errs(name, side, bound, looks=None):
    """Whether the bound is wrong more often than the level, for someone who stops where it is wrong."""
    return too_often(measured.misses(CASES[name], side, bound, LEVEL, RUNS, looks or measured.at_any(64)), RUNS, LEVEL)


RIGOROUS = [
    (case.name, side)
    for case in measured.CASES
    for side, end in (("lower", case.low), ("upper", case.high))
    if math.isfinite(end)
]


@pytest.mark.every(5)
@pytest.mark.parametrize(("name", "side"), RIGOROUS)
def test_coverage(name, side):
    """Betting wherever an end of the range is known: at any stopping rule."""
    assert not errs(name, side, measured.SIDES[side])


@pytest.mark.every(3)
@pytest.mark.parametrize("side", measured.SIDES)
@pytest.mark.parametrize("name", [case.name for case in measured.CASES if case.supposed(Validity.KURTOSIS)])
def test_coverage_by_kurtosis(name, side):
    """Without a known end, values of the kurtosis that is supposed, on either side: at any stopping rule."""
    assert not errs(name, side, measured.without_end(measured.SIDES[side]), [128, 140, 160, 190, 220, 256])


MODERATE = [case.name for case in measured.CASES if case.supposed(Validity.SPREAD)]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", MODERATE)
def test_coverage_by_spread(name):
    """However skewed the values are, up to the second moment that is supposed: at any stopping rule."""
    assert not errs(name, "upper", measured.by_spread, measured.at_any(256))


def test_coverage_by_spread_has_a_limit():
    """Beyond the moment that is supposed the bound fails, so that it is no more cautious than it has to be."""
    assert CASES["0 or 100, mean 1"].spread > SPREAD
    assert errs("0 or 100, mean 1", "upper", measured.by_spread, measured.at_any(256))
    assert errs("0 or 10, mean 1", "upper", lambda v, level, _: upper_by_spread(v, level, 3.0), measured.at_any(256))


def normal_quantile(values, level, _):
    """A planted error: the bound for one fixed number of replicates, used at all of them."""
    return values.mean(axis=0) + ndtri(level) * values.std(axis=0) / math.sqrt(len(values))


def hoeffding(values, level, _):
    """A planted error: valid at one fixed number of replicates, without a union over them; for values from 0 to 1."""
    return values.mean(axis=0) - math.sqrt(-math.log(level) / (2 * len(values)))


def unfair(values, level, low):
    """A planted error: bets that pay 25 percent too much."""
    return lower(1.25 * values, level, low)


@pytest.mark.parametrize(
    ("name", "bound", "replicates"),
    [("normal", normal_quantile, 64), ("Bernoulli(0.5)", hoeffding, 512), ("exponential", unfair, 64)],
)
def test_wrong_bounds_fail(name, bound, replicates):
    """The test of coverage can fail."""
    assert errs(name, "lower", bound, measured.at_any(replicates))


@pytest.mark.parametrize(("name", "few"), [("Bernoulli(0.5)", 100), ("exponential", 100), ("normal", 400)])
def test_width(name, few):
    """The distance to the mean falls like 1/sqrt(t) up to a logarithm: 4 for 16 times the replicates, within 3/2."""
    case, rng = CASES[name], np.random.default_rng(1)
    width = [np.mean(case.mean - lower(case.draw(rng, (t, 100)), LEVEL, case.low)) for t in (few, 16 * few)]
    assert 4 / 1.5 < width[0] / width[1] < 4 * 1.5


def test_betting_by_hand():
    """The wealth of every stake, multiplied out: it has reached 1/level at the bound and has not above it."""
    values = np.array([0.4, 1.3, 0.0, 2.2, 0.7, 1.0, 3.1, 0.9, 1.6, 0.2])
    found = float(lower(values[:, None], LEVEL, 0.0)[0])

    def wealth(m):
        stakes = [(0.5**j, 1 / ((j + 1) * (j + 2))) for j in range(40)]
        return sum(share * np.prod(1 - theta + theta * values / m) for theta, share in stakes)

    assert 0 < found < values.mean()
    assert wealth(found) >= 1 / LEVEL
    # Stakes that are too small to matter are left out, which costs next to nothing.
    assert wealth(1.01 * found) < 1 / LEVEL


def test_spread_by_hand():
    """The sum of exponentials has reached 1/level at the bound and has not below it; none beats its expectation."""
    values = np.array([0.4, 1.3, 0.0, 2.2, 0.7, 1.0, 3.1, 0.9, 1.6, 0.2] * 6)
    found = float(upper_by_spread(values[:, None], LEVEL, 3.0)[0])
    c, share = (
        np.array(each) for each in zip(*((4 * 0.5**j / 3, 1 / ((j + 1) * (j + 2))) for j in range(40)), strict=True)
    )

    def wealth(m):
        return float(np.sum(share * np.exp(-c * values.sum() / m) / (1 - (1 - np.exp(-3 * c)) / 3) ** len(values)))

    assert wealth(found) >= 1 / LEVEL
    # Rates that are too small to matter are left out, which costs next to nothing.
    assert wealth(0.99 * found) < 1 / LEVEL
    # Laws on three points of mean 1 and second moment 3: the one on 0 and 3 has the largest exponential moment.
    rng = np.random.default_rng(8)
    for points in rng.exponential(3.0, size=(500, 3)):
        try:
            weights = np.linalg.solve(np.vander(points, 3, increasing=True).T, [1.0, 1.0, 3.0])
        except np.linalg.LinAlgError:
            continue
        if weights.min() >= 0:
            assert (weights @ np.exp(-points[:, None] * c) <= 1 - (1 - np.exp(-3 * c)) / 3 + 1e-9).all()


def test_squares_of_normal_values():
    """E X^2 <= 3 (E X)^2 for nonnegative quadratic functions of normal variables, by their moments in closed form."""
    rng = np.random.default_rng(9)
    worst = 0.0
    for _ in range(200):
        size = int(rng.integers(1, 5))
        variances, means = rng.exponential(size=size) ** 4, rng.standard_normal(size) * rng.choice([0.0, 1.0, 5.0])
        mean = (variances + means**2).sum()
        variance = (2 * variances**2 + 4 * variances * means**2).sum()
        worst = max(worst, 1 + variance / mean**2)
    assert 2.9 < worst <= OF_NORMAL


def test_t_statistic_by_integration():
    """The likelihood ratio, integrated over effect sizes and deviations numerically, is 1/level at the bound."""
    values = np.random.default_rng(2).standard_normal(9) + 0.3
    m = values.mean() - float(radius(values, LEVEL))
    x, t = values - m, len(values)

    def likelihood(delta):
        # With v = log(deviation), and the right Haar measure dv.
        def density(v):
            return math.exp(-t * v - np.sum((x - delta * math.exp(v)) ** 2) / (2 * math.exp(2 * v)))

        return quad(density, -8, 8, points=[0.0], limit=200)[0]

    def half_normal(delta):
        return math.sqrt(2 / math.pi) * math.exp(-(delta**2) / 2)

    mixed = quad(lambda delta: half_normal(delta) * likelihood(delta), 0, 10)[0]
    assert mixed / likelihood(0.0) == pytest.approx(1 / LEVEL, rel=1e-6)


def test_bounds_mirror_and_move_along():
    """An upper bound is the lower one of the negative values; bounds shift and scale with the values."""
    values = np.random.default_rng(3).random((40, 3))
    assert (upper(values, LEVEL, 1.0) == -lower(-values, LEVEL, -1.0)).all()
    values = np.random.default_rng(3).random((300, 3))
    for low in (0.0, -math.inf):
        moved = lower(7 + 3 * values, LEVEL, 7 + 3 * low)
        assert moved == pytest.approx(7 + 3 * lower(values, LEVEL, low), rel=1e-9)


def test_edges():
    """Without randomness, with one value, with zeros: what is said is true."""
    assert upper_by_spread(np.ones((10, 1)), LEVEL)[0] == math.inf
    assert upper_by_spread(np.zeros((200, 1)), LEVEL)[0] == 0.0
    assert lower(np.zeros((80, 1)), LEVEL)[0] == -math.inf
    assert lower(np.full((400, 1), 0.1), LEVEL)[0] == pytest.approx(0.1, rel=1e-15)
    assert -math.inf < lower(np.resize([0.0, 0.0, 1.0], (399, 1)), LEVEL)[0] < 1 / 3
    # By pairs these do not vary, as a whole they do.
    assert lower(np.repeat([[0.0], [1.0]], 200, axis=0), LEVEL)[0] == -math.inf
    assert -1e300 < lower(np.random.default_rng(0).random((400, 1)) * 1e300, LEVEL)[0] < 1e300
    assert radius(np.ones((1, 2)), LEVEL).tolist() == [math.inf, math.inf]
    assert radius(np.full((5, 1), 0.1), LEVEL)[0] == 0.0
    assert lower(np.zeros((50, 1)), LEVEL, 0.0)[0] == 0.0
    # A mean of 1 that has been seen 20 times could be less: a zero of probability p may not have come up.
    assert lower(np.ones((20, 1)), LEVEL, 0.0)[0] <= LEVEL ** (1 / 20)
    # Values of any size, and of sizes that differ by many orders.
    assert 0 < lower(np.array([[1e-300], [1e300]]), LEVEL, 0.0)[0] < 1e300


def test_refusals():
    """A value outside its range, a level that is none, weights that are none: one line each."""
    with pytest.raises(InputError, match=r'value -1 breaks "low <= value": low=0'):
        lower(np.array([[1.0], [-1.0]]), LEVEL, 0.0)
    with pytest.raises(InputError, match=r'value -1 breaks "value >= 0"'):
        upper_by_spread(np.array([[1.0], [-1.0]]), LEVEL)
    with pytest.raises(InputError, match=r'spread=0\.5 breaks "spread >= 1"'):
        upper_by_spread(np.ones((9, 1)), LEVEL, 0.5)
    for level in (0.0, 0.5, math.nan):
        with pytest.raises(InputError, match=r"0 < level < 0\.5"):
            lower(np.ones((3, 1)), level)
    for weights in ([], [0.0], [1.0, -1.0], [math.inf]):
        with pytest.raises(InputError, match="weights="):
            shares(LEVEL, weights)


def test_shares():
    """One budget in proportion to the weights."""
    assert shares(0.04, [1, 2, 1]) == (0.01, 0.02, 0.01)


def sides(excess):
    """What `decide` asks for, from an array of left - right (replicates, checks) with a right side of 1."""
    return lambda wanted: (excess[wanted.start : wanted.stop] + 1.0, np.ones((len(wanted), excess.shape[1])))


def settle(excess, **changes):
    """Decide with all replicates of the array."""
    options = {"nonnegative": False, **changes}
    return decide(sides(excess), options.pop("level", LEVEL), len(excess), **options)


def errors(draw, wrong, runs=SETTLED, **changes):
    """In how many runs `decide` ends with the wrong outcome."""
    return sum(settle(draw(), **changes).outcome is wrong for _ in range(runs))


def test_verdicts_err_no_more_often_than_the_level():
    """A true claim at the border in all of 60 checks; a false one in a single check. An undivided level is caught."""
    rng, shape = np.random.default_rng(4), (256, 60)

    def border():
        return rng.standard_normal(shape)

    def skewed():
        return rng.exponential(size=shape) - 1

    assert not too_often(errors(skewed, Outcome.VIOLATED, nonnegative=True), SETTLED, LEVEL)
    assert too_often(errors(skewed, Outcome.VIOLATED, nonnegative=True, share=shape[1] * LEVEL), SETTLED, LEVEL)
    assert not too_often(errors(border, Outcome.VIOLATED), SETTLED, LEVEL)
    # True everywhere but in one check, where the mean is 0.001: HOLDS is wrong.
    means = np.where(np.arange(shape[1]) == 7, 0.001, -5.0)
    assert not too_often(errors(lambda: border() + means, Outcome.HOLDS), SETTLED, LEVEL)
    assert errors(lambda: border() + np.minimum(means, -5.0), Outcome.HOLDS, runs=20) == 20


def test_a_clear_case_is_decided_at_once_and_a_close_one_later():
    """Replicates are doubled until the claim is decided; batches change nothing, down to the last digit."""
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((3000, 3))
    for mean, outcome in ((-3.0, Outcome.HOLDS), (3.0, Outcome.VIOLATED)):
        assert (settle(noise + mean).outcome, settle(noise + mean).replicates) == (outcome, 4 * FIRST)
    clear = settle(rng.exponential(size=(64, 3)) + 9, nonnegative=True)
    assert (clear.outcome, clear.replicates) == (Outcome.VIOLATED, FIRST)
    close = settle(noise - 0.2)
    assert close.outcome is Outcome.HOLDS
    assert 4 * FIRST < close.replicates < 3000
    assert close == settle(noise[: close.replicates] - 0.2, first=close.replicates)
    assert close.upper == upper(noise[: close.replicates] - 0.2, LEVEL)[close.worst]
    border = settle(noise - noise.mean(axis=0))
    assert (border.outcome, border.replicates) == (Outcome.INCONCLUSIVE, 3000)
    assert border.lower < 0 < border.upper


def test_draws_follow_one_another():
    """Every replicate is asked for once, in order, up to the most."""
    asked = []

    def draw(wanted):
        asked.append(wanted)
        return np.zeros((len(wanted), 1)) + np.arange(wanted.start, wanted.stop)[:, None] % 2, np.full(
            (len(wanted), 1), 0.5
        )

    assert decide(draw, LEVEL, 100, nonnegative=True, first=16).outcome is Outcome.INCONCLUSIVE
    assert asked == [range(16), range(16, 32), range(32, 64), range(64, 100)]


def test_what_a_verdict_rests_on():
    """Nothing is supposed that is known: an end of the range, or that values are quadratic functions of normal ones."""
    values = np.random.default_rng(6).chisquare(20, size=(256, 2))

    def decided(right, **known):
        def draw(wanted):
            return values[wanted.start : wanted.stop], np.full((len(wanted), 2), right)

        found = decide(draw, LEVEL, len(values), **known)
        (rests_on,) = (kind for kind in Validity if kind.value in found.caveat)
        return found.outcome, rests_on

    assert decided(9.0, nonnegative=True) == (Outcome.VIOLATED, Validity.RIGOROUS)
    assert decided(9.0, nonnegative=False) == (Outcome.VIOLATED, Validity.KURTOSIS)
    assert decided(40.0, nonnegative=False) == (Outcome.HOLDS, Validity.KURTOSIS)
    assert decided(40.0, nonnegative=False, normal=True) == (Outcome.HOLDS, Validity.NORMAL)
    assert decided(200.0, nonnegative=True) == (Outcome.HOLDS, Validity.SPREAD)
    assert decided(200.0, nonnegative=True, normal=True) == (Outcome.HOLDS, Validity.NORMAL)
    # The largest value helps where values are near it, and does no harm where they are not.
    assert decided(40.0, nonnegative=True, largest=100.0) == (Outcome.HOLDS, Validity.RIGOROUS)
    assert decided(200.0, nonnegative=True, largest=1e9) == (Outcome.HOLDS, Validity.SPREAD)
    with pytest.raises(ValueError, match="differ between replicates"):
        decide(lambda wanted: (values[: len(wanted)], values[: len(wanted)]), LEVEL, 64, nonnegative=True)


@pytest.mark.parametrize(
    ("left", "equal", "outcome", "worst"),
    [
        ((1.0, 1.9), False, Outcome.HOLDS, 1),
        ((1.0, 2.1), False, Outcome.VIOLATED, 1),
        ((2.0, 1.0), False, Outcome.INCONCLUSIVE, 0),
        ((2.0, 2.0), True, Outcome.HOLDS, 0),
        ((1.9, 2.0), True, Outcome.VIOLATED, 0),
        ((np.nan, 1.0), False, Outcome.INCONCLUSIVE, 0),
    ],
)
def test_numbers_are_compared_at_the_first_look(left, equal, outcome, worst):
    """Against 2 at two checks: nothing is random, so that no bound is needed and no more is drawn."""
    looks = []

    def draw(wanted):
        looks.append(wanted)
        return np.tile(left, (len(wanted), 1)), np.full((len(wanted), 2), 2.0)

    found = of_numbers(draw, FIRST, equal=equal)
    assert (found.outcome, found.worst, looks) == (outcome, worst, [range(FIRST)])
    assert found.error == 0 or np.isnan(left).any()


def test_what_is_claimed_of_every_run():
    """One run refutes it; no number of runs proves it, and the caveat says so."""
    excess = np.random.default_rng(10).random((300, 4)) - 2
    held = of_every_run(sides(excess), 300)
    assert (held.outcome, held.replicates) == (Outcome.HOLDS, 256)
    assert "not in all that may happen" in held.caveat
    excess[77, 2] = 0.01
    broken = of_every_run(sides(excess), 300)
    assert (broken.outcome, broken.worst, broken.left) == (Outcome.VIOLATED, 2, 1.01)
    assert "run 77 alone" in broken.caveat


def test_equalities():
    """With "=" a mean too small is a violation as well, and sampling alone never establishes equality."""
    noise = np.random.default_rng(7).standard_normal((256, 2))
    for mean in (-3.0, 3.0):
        assert settle(noise + mean, equal=True).outcome is Outcome.VIOLATED
    assert settle(noise, equal=True).outcome is Outcome.INCONCLUSIVE
    assert settle(np.zeros((400, 2)), equal=True).outcome is Outcome.HOLDS


def test_nothing_is_decided_on_numbers_out_of_range():
    """Infinite values end the search without a verdict."""
    excess = np.ones((64, 2))
    excess[3, 1] = math.inf
    found = settle(excess)
    assert (found.outcome, found.worst, found.replicates) == (Outcome.INCONCLUSIVE, 1, FIRST)


def test_verify_draws_until_it_knows():
    """A clear bound takes the first replicates, a close one more, and both verdicts say what they rest on."""
    statement, problem = bounds.get("pfl/theorem-3.7"), Quadratic.synthetic(6, 8, 4, seed=2)
    run = {"m": 4.0, "K": 6.0, "T": 30.0, "sigma_u": 0.3, "sigma_v": 0.2}
    exact = verify(statement, problem, run, Options(engine="exact")).worst

    def verdict(ratio, most=2048):
        """With a right side that is so many times the left side's expectation."""
        (claim,) = statement.claims
        terms = {label: term * ratio * exact.left / exact.right for label, term in claim.terms.items()}
        changed = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))
        return verify(changed, problem, run, Options(engine="step", replicates=most))

    clear, close, false, border = verdict(20.0), verdict(1.7), verdict(0.97), verdict(1.0, most=64)
    assert (clear.outcome, clear.replicates) == (Outcome.HOLDS, 2 * FIRST)
    assert close.outcome is Outcome.HOLDS
    assert close.replicates > clear.replicates
    assert false.outcome is Outcome.VIOLATED
    assert [note for note in false.notes if Validity.RIGOROUS.value in note]
    assert [note for note in close.notes if Validity.SPREAD.value in note]
    assert (border.outcome, border.replicates) == (Outcome.INCONCLUSIVE, 64)
    # Somebody who watches sees all replicates that were asked for.
    seen = []
    verify(statement, problem, run, Options(engine="step", replicates=40), observe=seen.append)
    assert seen[0]["main"].left.shape == seen[0]["main"].right.shape == (40, 30)
    # Sampling the right side as well leaves no end of the range to bet from; without sampling all is normal.
    lemma = verify(bounds.get("pfl/lemma-3.6-recursion"), problem, {**run, "m": 6.0}, Options(engine="step"))
    assert (lemma.outcome, [note for note in lemma.notes if Validity.NORMAL.value in note]) == (
        Outcome.HOLDS,
        [*lemma.notes[-1:]],
    )
