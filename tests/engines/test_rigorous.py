"""Rigorous verdicts: enclosures against the float engine, brute force in rationals, planted errors, real violations."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import time
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import bounds
import ratecheck as rc
from ratecheck.algebra.ball import EXACT, Ball
from ratecheck.algebra.enclosure import Enclosure, UndecidedError, enclose, outward
from ratecheck.algebra.linear_algebra import inverse, minimum, rationals, semidefinite
from ratecheck.algorithms import METHODS
from ratecheck.certification.exact_constants import Proved, participations
from ratecheck.commands.checks import verify
from ratecheck.engines import setup
from ratecheck.engines.moments import lemmas, quantities
from ratecheck.engines.rigorous.moment_runs import RigorousRun
from ratecheck.outcome import Outcome
from ratecheck.participation import Bernoulli, Cyclic, Trace, Uniform
from ratecheck.problems import Quadratic
from ratecheck.verification.instance import Instance

BITS = 384
SIZES = {
    "fedavg-p": {"gamma_u": 0.05, "gamma_v": 0.1, "eta_u": 1.5, "eta_v": 1.2},
    "scaffold-p": {"gamma_u": 0.05, "gamma_v": 0.1, "eta_u": 1.5, "eta_v": 1.2},
    "fedsum-b": {"eta_g": 0.5, "eta_l": 0.03},
    "fedsum": {"eta_g": 0.5, "eta_l": 0.03},
    "fedsum-cr": {"eta_g": 0.5, "eta_l": 0.03},
    "flame-exact": {"rho": 3.0, "lambda_": 2.0},
    "flame": {"eta": 0.1, "rho": 3.0, "lambda_": 2.0},
    "pfedme": {"eta": 0.1, "beta": 0.5, "lambda_": 2.0},
    "mifa": {"eta_g": 0.5, "eta_l": 0.03},
    "fedvarp": {"eta_g": 0.5, "eta_l": 0.03},
    "fedadmm": {"eta_g": 0.5, "eta_l": 0.03, "rho": 0.5},
}
PATTERNS = {
    "full": Uniform(3, 3),
    "uniform": Uniform(3, 2),
    "cyclic": Cyclic(3, 1),
    "unequal": Bernoulli([0.3, 0.5, 1.0]),
    "equal": Bernoulli(0.4, 3),
    "trace": Trace(np.random.default_rng(5).random((24, 3)) < 0.5),
}


def numbers(name, T, trace, seed=1):
    """A run, and what asks the float engine for its expectation."""
    method, rng = METHODS[name], np.random.default_rng(seed)
    shared = 2 if method.personal else 3
    problem = Quadratic.synthetic(3, 3, shared, coupling=0.5 if method.personal else 0.0, curvature=1.0, seed=seed)
    K = 1 if name == "flame-exact" else 3
    noise = {} if method.algorithm.oracle == "prox" else {"sigma_u": 0.3, "sigma_v": 0.2 if method.personal else 0.0}
    start = {"x0": rng.standard_normal(shared)}
    run = RigorousRun.of(method, problem, trace, K=K, T=T, noise=noise, step_sizes=SIZES[name], start=start)
    return run, lambda: rc.exact(name, problem, trace, K=K, T=T, **start, **noise, **SIZES[name])


@pytest.mark.every(7)
@pytest.mark.parametrize(("name", "pattern"), list(itertools.product(SIZES, PATTERNS)))
def test_encloses_the_float_engine(name, pattern):
    """Means by repeated squaring or by rounds, and every round, within the float engine's rounding."""
    random = pattern in ("uniform", "unequal", "equal")
    run, by_floats = numbers(name, 24, PATTERNS[pattern])
    if name == "fedsum-cr" and random:
        with pytest.raises(UndecidedError, match="not followed"):
            run.averages(["G_u"], BITS)
        return
    expected = by_floats()
    names = list(expected.records)
    averages, rounds = run.averages(names, BITS), list(run.rounds(names, BITS))
    for record in names:
        values, errors = expected.records[record], expected.errors[record] + 1e-13 * np.abs(expected.records[record])
        assert float(averages[record].width) < 1e-40
        assert abs(float(averages[record].middle) - values.mean()) <= errors.mean()
        assert (np.abs([float(each[record].middle) for each in rounds] - values) <= errors).all()
        both = sum((each[record] for each in rounds), Enclosure.of(0)) / run.T
        assert both.low <= averages[record].high
        assert averages[record].low <= both.high


def test_encloses_brute_force_in_rationals():
    """FedAvg without noise: every sequence of samples followed by hand in rationals."""
    H, g, gamma, eta = [Fraction(1), Fraction(1, 2), Fraction(1, 4)], [1, -2, 3], Fraction(1, 8), Fraction(3, 2)
    problem = Quadratic([[[float(h)]] for h in H], [[float(x)] for x in g], 1)
    K, T, total, count = 2, 3, Fraction(0), 0
    for samples in itertools.product(itertools.combinations(range(3), 2), repeat=T):
        u = Fraction(1, 2)
        for members in samples:
            total += (sum(h * u - x for h, x in zip(H, g, strict=True)) / 3) ** 2
            ends = []
            for i in members:
                x = u
                for _ in range(K):
                    x -= gamma * (H[i] * x - g[i])
                ends.append(x)
            u = (1 - eta) * u + eta * sum(ends) / 2
        count += 1
    exact = total / count / T
    sizes = {"gamma_u": gamma, "eta_u": eta}
    run = RigorousRun.of(
        METHODS["fedavg"], problem, Uniform(3, 2), K=K, T=T, noise={}, step_sizes=sizes, start={"x0": [0.5]}
    )  # fmt: skip
    found = run.averages(["G_u"], BITS)["G_u"]
    assert found.low <= exact <= found.high
    assert found.width < Fraction(1, 2**300)
    # The enclosure does not contain a neighbour of the truth in floating point.
    assert not found.low <= exact * (1 + Fraction(1, 2**60)) <= found.high


def test_encloses_noise_and_bernoulli_in_rationals():
    """FedSUM-B of one client with noise, written out: x' = x - a*y with y the last mean gradient."""
    p, a, sigma = Fraction(1, 4), Fraction(1, 8), Fraction(1, 2)
    problem = Quadratic([[[1.0]]], [[1.0]], 1)
    # Two rounds from x = 0 with gradient x - 1 and K = 1: G_u = 1, then E(x_1 - 1)^2 with x_1 = a(1 + noise) or 0.
    second = p * ((a - 1) ** 2 + a * a * sigma * sigma) + (1 - p)
    sizes = {"eta_g": 1, "eta_l": a}
    run = RigorousRun.of(
        METHODS["fedsum-b"], problem, Bernoulli([float(p)]), K=1, T=2, noise={"sigma_u": sigma}, step_sizes=sizes,
        start={},
    )  # fmt: skip
    found = [each["G_u"] for each in run.rounds(["G_u"], BITS)]
    for value, exact in zip(found, (Fraction(1), second), strict=True):
        assert value.low <= exact <= value.high
        assert value.width < Fraction(1, 2**300)


def test_balls_contain_exact_products():
    """Products of enclosed matrices contain the exact ones also where digits are few."""
    rng = np.random.default_rng(2)
    for bits in (8, 20, 64):
        A, B = (rationals(rng.standard_normal((4, 4)) * 10.0**k) for k in (0, 2))
        ball, noise = Ball.of(A, bits), Ball.of(B.dot(B.T), bits)
        for exact, found in ((A.dot(B), ball @ Ball.of(B, bits)), (A * B, ball.times(Ball.of(B, bits)))):
            for row, column in np.ndindex(4, 4):
                entry = found.entry(row, column)
                assert entry.low <= exact[row, column] <= entry.high
        power, spread = ball.power(noise, 5)
        exact, covariance = rationals(np.eye(4)), rationals(np.zeros((4, 4)))
        for _ in range(5):
            exact, covariance = A.dot(exact), A.dot(covariance).dot(A.T) + B.dot(B.T)
        for row, column in np.ndindex(4, 4):
            for true, found in ((exact, power), (covariance, spread)):
                entry = found.entry(row, column)
                assert entry.low <= true[row, column] <= entry.high


def test_formulas_are_enclosed():
    """Against SymPy's own arithmetic with many digits, and outside of their domains."""
    x, y = sp.symbols("x y", positive=True)
    values = {"x": Fraction(1, 3), "y": Fraction(7, 5)}
    for expr in (
        sp.sqrt(x) + y ** sp.Rational(2, 3),
        sp.log(y) / x,
        sp.Max(x, sp.sqrt(y)),
        sp.Min(x, y) ** -2,
        sp.exp(-x),
    ):
        found = enclose(expr, values)
        true = expr.subs({x: sp.Rational(1, 3), y: sp.Rational(7, 5)}).evalf(60)
        assert found.low - Fraction(1, 10**55) <= Fraction(str(true)) <= found.high + Fraction(1, 10**55)
        assert found.width < Fraction(1, 10**100)
    low, high = outward(enclose(sp.sqrt(y), values))
    assert low < high == math.nextafter(low, math.inf)
    for expr in (sp.log(x - x * 3), 1 / (x - sp.Rational(1, 3)), sp.sqrt(x - 1)):
        with pytest.raises(UndecidedError):
            enclose(expr, values)


def test_linear_algebra_is_exact():
    """Inverses, definiteness and minima on small matrices of rationals."""
    A = rationals([[2.0, 1.0], [1.0, 3.0]])
    assert (A.dot(inverse(A)) == rationals(np.eye(2))).all()
    assert semidefinite(rationals([[1.0, 1.0], [1.0, 1.0]]))
    assert not semidefinite(rationals([[1.0, 1.0], [1.0, 1.0 - 2.0**-52]]))
    assert not semidefinite(rationals([[0.0, 1.0], [1.0, 1.0]]))
    singular = rationals([[1.0, 1.0], [1.0, 1.0]])
    assert minimum(singular, rationals([1.0, 1.0])) == Fraction(-1, 2)
    assert minimum(singular, rationals([1.0, 1.0 + 2.0**-52])) is None


@pytest.mark.parametrize("seed", range(4))
def test_proved_constants_are_those_of_floating_point(seed):
    """Every constant next to the certified one; L is an upper bound that is hardly larger."""
    problem = Quadratic.synthetic(3, 4, 2, coupling=0.7, curvature=1.0, seed=seed)
    proved = Proved(problem, Trace(np.eye(3)), 3, {}, None, [Fraction(1, 3)] * 3, {})
    for name, constant in problem.constants().items():
        if math.isfinite(constant.value):
            found = float(Enclosure.of(proved.fact(name)).middle)
            assert found == pytest.approx(constant.value, rel=1e-12, abs=1e-15)
    L = proved.fact("L")
    assert proved.admits("L", L)
    assert not proved.admits("L", L * (1 - Fraction(1, 2**20)))
    # Client 2 is away for two rounds: tau is 1, 2, 2 and its mean 5/3... counted by hand in rounds 0, 1, 2.
    assert (proved.fact("tau_max"), proved.fact("tau_avg")) == (2, Fraction(1 + 2 + 2, 3))


def test_participations_are_all_of_them():
    """Probabilities add up to one, and too many are refused."""
    for pattern, count in ((Bernoulli([0.25, 1.0]), 8), (Uniform(3, 2), 27), (Cyclic(3, 1), 1)):
        drawn = participations(pattern, 3)
        assert len(drawn) == count
        assert sum(q for q, _ in drawn) == 1
    with pytest.raises(UndecidedError, match="4096"):
        participations(Bernoulli(0.5, 3), 5)


# --- Verdicts ---

ONE = Quadratic([[[1.0]]], [[1.0]], 1)
THREE = Quadratic([[[1.0]]] * 3, [[0.5], [0.25], [0.5]], 1)
VIOLATIONS = {
    "fedsum/corollary-g.1-case-2": (ONE, Bernoulli([1.0]), {"S": 1, "K": 1, "T": 1, "sigma": 0, "delta": 1}),
    "flame/theorem-2-unbiased": (
        THREE, None, {"s": 3, "T": 1, "lambda_": 0.21879616172101468, "alpha": 1.0, "eps_max": 42.0, "rho": 18.125},
    ),
    "pfl/lemma-a.2": (THREE, None, {"m": 1}),
}  # fmt: skip


@pytest.mark.parametrize("key", VIOLATIONS)
def test_violations_are_proved(key, tmp_path):
    """By `verify --instance`, in words and as JSON."""
    problem, pattern, given = VIOLATIONS[key]
    path = tmp_path / "instance.json"
    Instance(bounds.get(key), problem, pattern, given).save(path)
    words, fields = (
        CliRunner().invoke(verify.command, ["--instance", str(path), *flag], standalone_mode=False)
        for flag in ([], ["--json"])
    )
    assert (words.return_value, fields.return_value) == (1, 1)
    assert "proof   VIOLATED, proved in interval arithmetic" in words.output
    found = json.loads(fields.output)["rigorous"]
    assert found["proved"]
    assert found["left"][0] > found["right"][1] or found["left"][1] < found["right"][0]


def test_sides_of_a_violation_by_hand():
    """Lemma A.2 with one of three vectors: the mean of the squares, not the factor 2(n-m)/(m n^2) of the bound."""
    proof = Instance(bounds.get("pfl/lemma-a.2"), THREE, None, {"m": 1}).proof()
    X = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 2)]
    mean = sum(X) / 3
    spread = sum((x - mean) ** 2 for x in X)
    assert proof.outcome is Outcome.VIOLATED
    assert proof.left == Enclosure.of(sum(x * x for x in X) / 3)
    assert proof.right == Enclosure.of(mean**2 + spread * 2 * Fraction(2, 9))


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("pfl/theorem-3.7", {"m": 2, "K": 5, "T": 30, "sigma_u": 0.1, "sigma_v": 0.0}),
        ("pfl/corollary-4.6", {"m": 2, "K": 5, "T": 30, "sigma_u": 0.1, "sigma_v": 0.0}),
        ("fedsum/theorem-4.1", {"S": 1, "K": 3, "T": 12, "sigma": 0.1}),
    ],
)
def test_sound_statements_hold(key, given):
    """Where the float engine says HOLDS with room, so does the proof, on the same numbers."""
    instance = Instance(bounds.get(key), THREE, None, given)
    proof, verdict = instance.proof(), instance.verdict()
    assert proof.outcome is verdict.outcome is Outcome.HOLDS
    left = next(
        c.left for c in verdict.comparisons if c.round == proof.round and abs(c.left - float(proof.left.middle)) <= 1e-9
    )
    assert left == pytest.approx(float(proof.left.middle), rel=1e-9)


def test_rounding_of_a_step_size_is_mended():
    """1/(32*L*K) in floating point may exceed the cap: then it is moved, and that is said."""
    K = next(K for K in range(2, 200) if Fraction(1 / (32 * K)) > Fraction(1, 32 * K))
    given = {"m": 2, "K": K, "T": 9, "sigma_u": 0.0, "sigma_v": 0.0, "gamma": 1 / (32 * K)}
    proof = Instance(bounds.get("pfl/theorem-3.7"), THREE, None, given).proof()
    assert proof.outcome is Outcome.HOLDS
    assert "gamma is moved" in proof.notes[0]


def test_false_assumptions_are_refused():
    """A claimed L below the true one by less than the float engine notices; a step size beyond its cap."""
    given = {"m": 2, "K": 5, "T": 9, "sigma_u": 0.0, "sigma_v": 0.0}
    statement = bounds.get("pfl/theorem-3.7")
    wrong = Instance(statement, THREE, None, {**given, "L": 1.0 - 1e-13})
    assert wrong.verdict().outcome is Outcome.HOLDS
    proof = wrong.proof()
    assert proof.outcome is Outcome.NOT_APPLICABLE
    assert proof.reason.startswith("not an instance of the assumptions: L=")
    proof = Instance(statement, THREE, None, {**given, "gamma": 1 / 100}).proof()
    assert proof.outcome is Outcome.NOT_APPLICABLE
    assert "is broken" in proof.reason


def test_another_participation_is_refused():
    """A given trace is not uniform sampling, whatever the sides are."""
    given = {"m": 1, "K": 5, "T": 3, "sigma_u": 0.0, "sigma_v": 0.0}
    wrong = Instance(bounds.get("pfl/theorem-3.7"), THREE, Trace(np.eye(3)), given)
    proof = wrong.proof()
    assert proof.outcome is Outcome.NOT_APPLICABLE
    assert "uniformly" in proof.reason
    assert wrong.verdict().outcome is Outcome.NOT_APPLICABLE


def test_a_wrong_bound_is_seen():
    """The right side divided so that it falls short of the left one by a billionth."""
    given = {"m": 3, "K": 2, "T": 5, "sigma_u": 0.0, "sigma_v": 0.0}
    statement = bounds.get("pfl/theorem-3.7")
    sound = Instance(statement, THREE, None, given).proof()
    room = sound.left.middle / sound.right.middle
    (claim,) = statement.claims
    for more, outcome in ((1, Outcome.HOLDS), (-1, Outcome.VIOLATED)):
        factor = Fraction(round(room * (1 + more * Fraction(1, 10**9)) * 10**18), 10**18)
        terms = {name: sp.Rational(factor.numerator, factor.denominator) * term for name, term in claim.terms.items()}
        mutant = dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))
        assert Instance(mutant, THREE, None, given).proof().outcome is outcome


def test_largest_least_value_that_is_claimed():
    """F^* of the joint objective must not be overstated: neither engine accepts that."""
    given = {"s": 3, "T": 2, "lambda_": 1.0, "rho": 20.0, "eps_max": 0.0, "F_star": 1.0}
    with pytest.raises(Exception, match="F_star=1 breaks"):
        Instance(bounds.get("flame/lemma-3"), THREE, None, given).verdict()
    proof = Instance(bounds.get("flame/lemma-3"), THREE, None, given).proof()
    assert proof.outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("m", [2, 3])
def test_a_million_steps_and_a_billion_rounds(m):
    """By repeated squaring, in seconds."""
    given = {"m": m, "K": 10**6, "T": 10**9, "sigma_u": 0.5, "sigma_v": 0.0}
    begun = time.process_time()
    proof = Instance(bounds.get("pfl/corollary-4.6"), THREE, None, given).proof()
    assert proof.outcome is Outcome.HOLDS
    assert float(proof.left.width) < 1e-12 * float(proof.left.middle)
    # Of computing: what else the machine does has no say. One round at a time it would be days.
    assert time.process_time() - begun < 60


def test_undecided_is_said():
    """Quantities that need more than the state, and participations that are too many, are not decided."""
    proof = Instance(
        bounds.get("pfl/lemma-4.2"), THREE, None, {"m": 2, "K": 2, "T": 3, "sigma_u": 0, "sigma_v": 0}
    ).proof()
    assert proof.outcome is None
    assert "not recorded rigorously" in proof.reason
    given = {"S": 1, "K": 1, "T": 9, "sigma": 0, "delta": 0.5}
    proof = Instance(bounds.get("fedsum/corollary-g.1-case-2-repaired"), THREE, Bernoulli(0.5, 3), given).proof()
    assert proof.outcome is None
    assert "4096" in proof.reason


OF_A_ROUND = ("E", "T_1u", "T_1v", "T_2u", "T_2v", "T_3u", "descent", "inner_u", "inner_v", "du2", "dv2")


@pytest.mark.parametrize(
    ("name", "pattern"), list(itertools.product(("fedavg-p", "scaffold-p"), ("full", "uniform", "trace", "unequal")))
)
def test_encloses_what_a_round_does(name, pattern):
    """Lemma quantities, changes of records and steps of variables, within the float engine's rounding."""
    T, K, trace = 5, 3, PATTERNS[pattern]
    start = {"x0": np.array([0.4, -0.7])}
    noise = {"sigma_u": 0.3, "sigma_v": 0.2}
    problem = Quadratic.synthetic(3, 3, 2, coupling=0.5, curvature=1.0, seed=1)
    run = RigorousRun.of(METHODS[name], problem, trace, K=K, T=T, noise=noise, step_sizes=SIZES[name], start=start)
    rest = {"noise": noise, "step_sizes": SIZES[name]}
    ready = setup.prepare(name, problem, trace, K=K, T=T, **start, **rest)
    further = ["change:G_u", "change:B", "step:u"]
    lemma, changes = lemmas.expect(ready), quantities.expect(ready, further)
    varying = pattern in ("unequal", "trace")
    names = [*further, *(each for each in OF_A_ROUND if not varying or each not in ("T_1v", "T_2v"))]
    found, means = list(run.rounds(names, BITS)), run.averages(names, BITS)
    for each in names:
        expected = changes if each in further else lemma
        values, errors = expected.records[each], expected.errors[each] + 1e-12 * np.abs(expected.records[each])
        assert (np.abs([float(row[each].middle) for row in found] - values) <= errors).all(), each
        assert all(float(row[each].width) < 1e-40 for row in found)
        assert abs(float(means[each].middle) - values.mean()) <= errors.mean() + 1e-12
    if varying:
        with pytest.raises(UndecidedError, match="number of participants"):
            list(run.rounds(["T_1v"], BITS))


def test_a_drift_and_a_change_by_hand():
    """Two noisy steps of 1/2 on f = (x - 1)^2/2: from 0 over 1/2 to 3/4, in rationals."""
    problem = Quadratic([[[1.0]]], [[1.0]], 1)
    run = RigorousRun.of(
        METHODS["fedavg"], problem, Uniform(1, 1), K=2, T=1, noise={"sigma_u": Fraction(1)},
        step_sizes={"gamma_u": Fraction(1, 2), "eta_u": 1}, start={},
    )  # fmt: skip
    (found,) = run.rounds(["E", "change:gap", "change:distance2", "du2"], EXACT)
    variance = Fraction(1, 4) * (1 + Fraction(1, 4))
    by_hand = {
        "E": Fraction(1, 4) + Fraction(1, 4),
        "change:gap": (Fraction(1, 16) - 1 + variance) / 2,
        "change:distance2": Fraction(1, 16) - 1 + variance,
        "du2": Fraction(9, 16) + variance,
    }
    assert {name: (each.low, each.high) for name, each in found.items()} == {
        name: (value, value) for name, value in by_hand.items()
    }
