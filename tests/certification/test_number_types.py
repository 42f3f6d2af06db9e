"""Constants in floats and in rationals: the same numbers, and a bound on the side on which it is one."""

from fractions import Fraction

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.algebra.enclosure import Enclosure, UndecidedError
from ratecheck.certification.certified_constants import DELAYS, CertifiedCase
from ratecheck.certification.exact_constants import Proved, ProvedOperator, ProvedPiecewise
from ratecheck.participation import Bernoulli, Cyclic, Trace, Uniform
from ratecheck.problems import Certificate, MinMax, Piecewise, Quadratic

CLOSE = 1e-9
FACTS = (
    "L", "L_u", "L_v", "L_uv", "L_vu", "F_0", "B_0", "mean_B_0", "b", "sigma", "sigma_u", "sigma_v", "distance2_0",
    "strong_convexity", "polyak_lojasiewicz", "minimiser_heterogeneity", "gradient_bound", "dissimilarity_G",
    "dissimilarity_B", "relative_noise", "dimension", "inner_error", "inner_convexity", "joint_minimum",
    "lagrangian_gap", "selection_skew", "delta",
)  # fmt: skip


def whole(seed, n=3, d=3, shared=3, *, common=False, diagonal=False):
    """Quadratics of small whole numbers, so that coincidences are exact."""
    rng = np.random.default_rng(seed)
    H = rng.integers(-2, 3, (n, d, d)).astype(float)
    H = H @ H.transpose(0, 2, 1) + np.eye(d)
    if common:
        H[:, :shared, :shared] = H[0, :shared, :shared]
        H[:, :shared, shared:], H[:, shared:, :shared] = 0.0, 0.0
    return Quadratic(H * np.eye(d) if diagonal else H, rng.integers(-3, 4, (n, d)), shared=shared)


PROBLEMS = [
    *(whole(seed) for seed in range(3)),
    *(whole(seed, shared=shared, common=common) for seed in (3, 4) for shared in (0, 1, 2) for common in (False, True)),
    *(whole(seed, common=True, diagonal=True) for seed in (5, 6)),
    Quadratic(np.zeros((2, 2, 2)), [[3.0, 4.0], [1.0, 0.0]], shared=2),
    Quadratic.synthetic(4, 4, coupling=0.3, seed=1), Quadratic.synthetic(4, 3, shared=3, curvature=1.0, seed=2),
    MinMax.synthetic(3, 2, 2, curvature=0.5, seed=1), Piecewise.synthetic(3, 2, seed=1),
]  # fmt: skip


def proved_of(problem, **run):
    """Its constants in rationals."""
    kinds = {MinMax.kind: ProvedOperator, Piecewise.kind: ProvedPiecewise}
    given = {"trace": None, "T": None, "noise": {}, "lambda_": None, "start": {}, **run}
    weights = [Fraction(1, problem.n)] * problem.n
    return kinds.get(problem.kind, Proved)(problem=problem, weights=weights, **given)


def alike(constant, proved):
    """Whether a certified constant says what is proved."""
    found = Enclosure.of(proved)
    if constant.certificate is Certificate.UPPER_BOUND:
        return Fraction(constant.value) >= found.low * (1 - Fraction(CLOSE))
    if constant.certificate is Certificate.LOWER_BOUND:
        return Fraction(constant.value) <= found.high * (1 + Fraction(CLOSE))
    return constant.value == pytest.approx(float(found.middle), rel=CLOSE, abs=CLOSE)


@pytest.mark.parametrize("at_zero", [True, False])
@pytest.mark.parametrize("number", range(len(PROBLEMS)))
def test_constants_of_problems(number, at_zero):
    """Whatever is proved is certified as that, and what does not exist in rationals is not certified in floats."""
    problem, rng = PROBLEMS[number], np.random.default_rng(number)
    start = {} if at_zero else {name: rng.integers(-3, 4, shape) / 2 for name, shape in problem.starts.items()}
    noise = {"sigma_u": 0.25, "sigma_v": 0.5} if problem.d_v else {"sigma_u": 0.25}
    envelope = {"lambda_": 2.0} if isinstance(problem, Quadratic) and not problem.d_v else {}
    case = CertifiedCase(problem, Uniform(problem.n, 1), 2, noise, envelope, start)
    proved = proved_of(
        problem, trace=Uniform(problem.n, 1), T=2, start=start, lambda_=Fraction(2) if envelope else None,
        noise={name: Fraction(value) for name, value in noise.items()},
    )  # fmt: skip
    seen = 0
    for name in FACTS:
        constant = case.fact(name)
        try:
            exact = proved.fact(name)
        except UndecidedError:
            assert constant is None or constant.certificate is Certificate.ABSENT or constant.value <= CLOSE, name
            continue
        if constant is None or exact is None:
            continue
        assert constant.certificate is not Certificate.ABSENT, name
        assert alike(constant, exact), (name, constant, float(Enclosure.of(exact).middle))
        seen += 1
    assert seen >= 10


PATTERNS = [
    Cyclic(4, 1), Cyclic(3, 3), Trace([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]]), Trace(np.eye(3)),
]  # fmt: skip


@pytest.mark.parametrize("T", [1, 2, 3])
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: f"{pattern.kind} of {pattern.n}")
def test_delays_are_counted_alike(pattern, T):
    """tau_max reaches over rounds 0 ... T, tau_avg over those before T, in both."""
    problem = Quadratic.synthetic(pattern.n, 2)
    case, proved = CertifiedCase(problem, pattern, T), proved_of(problem, trace=pattern, T=T)
    for name in DELAYS:
        assert case.fact(name).value == float(proved.fact(name))


def test_expected_delays():
    """Of independent clients they are computed, and enumerated as rationals."""
    pattern = Bernoulli(0.5, 2)
    case, proved = CertifiedCase(PROBLEMS[0], pattern, 3), proved_of(PROBLEMS[0], trace=pattern, T=3)
    for name in DELAYS:
        assert case.fact(name).value == pytest.approx(float(proved.fact(name)), rel=1e-12)


def test_a_delay_in_the_last_round_counts():
    """One round of four clients in turn: three have not come after it, and in round 1 that makes two rounds."""
    proved = proved_of(Quadratic.synthetic(4, 2), trace=Cyclic(4, 1), T=1)
    assert proved.fact("tau_max") == 2
    with pytest.raises(rc.InputError, match="breaks"):
        proved_of(Quadratic.synthetic(3, 2), trace=Trace(np.eye(3)), T=4).fact("tau_max")
