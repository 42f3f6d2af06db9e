"""Theorems on one iterate: the distance of the start, strong convexity, and the number of the round in a bound."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algebra.running_error import Rounded, rounded
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.certification.exact_constants import Proved
from ratecheck.outcome import Outcome
from ratecheck.problems import Certificate, Population, Quadratic

FIELDS = {
    "algorithm": "fedavg",
    "assumptions": ["smoothness", "noise", "convexity", "strong_convexity", "full_participation", "no_personal"],
    "settings": {"K": 1, "m": "n", "eta_u": 1},
    "conditions": ["gamma_u <= 1/L"],
    "vocabulary": "textbook",
}
SUBLINEAR = {"left": "gap", "over": "every_round_but_first", "right": "dist2_0/(2*gamma_u*t)"}
LINEAR = {"left": "dist2", "over": "every_round", "right": "(1 - gamma_u*mu)**(2*t)*dist2_0"}
NOISY = {**LINEAR, "right": {"start": LINEAR["right"], "noise": "gamma_u*sigma_u**2/(n*mu)"}}


def fact(problem, name, **start):
    """The certified constant."""
    return CertifiedCase(problem, None, None, start=start).fact(name)


def drawn(seed, n=3, d=4, shared=4, flat=0):
    """Convex functions; so many directions without curvature."""
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((n, d, d))
    H = H @ H.transpose(0, 2, 1)
    if flat:
        keep = np.eye(d)[flat:]
        H = keep.T @ (keep @ H @ keep.T) @ keep
    return Quadratic(H, np.einsum("iab,ib->ia", H, rng.standard_normal((n, d))), shared=shared)


@pytest.mark.parametrize("shared", [4, 2, 0])
def test_the_distance_of_the_start(shared):
    """Against a minimiser that another method finds."""
    problem, rng = drawn(shared, shared=shared), np.random.default_rng(1)
    u0, v0 = rng.standard_normal(problem.d_u), rng.standard_normal((problem.n, problem.d_v))

    def split(x):
        return x[: problem.d_u], x[problem.d_u :].reshape(problem.n, problem.d_v)

    found = minimize(lambda x: problem.value(*split(x)), np.concatenate([u0, v0.ravel()]), tol=1e-14)
    u, v = split(found.x)
    wanted = np.sum((u0 - u) ** 2) + np.sum((v0 - v) ** 2) / problem.n
    given = {"x0": u0, "v0": v0}
    constant = fact(problem, "distance2_0", **given)
    assert constant.certificate is Certificate.EXACT
    np.testing.assert_allclose(constant.value, wanted, rtol=1e-4)
    proved = Proved(problem, None, None, {}, None, [], given).fact("distance2_0")
    np.testing.assert_allclose(float(proved), constant.value, rtol=1e-10)


def test_flat_directions_count_from_the_minimiser_of_least_norm():
    """As the recorded distances do."""
    problem = drawn(3, flat=1)
    here = fact(problem, "distance2_0", x0=np.array([2.0, 0, 0, 0])).value
    np.testing.assert_allclose(here, 4 + fact(problem, "distance2_0").value, rtol=1e-9)
    run = rc.exact(
        "fedavg-p", problem, rc.participation.Trace.uniform(3, 3), K=1, T=1, gamma_u=0.1, eta_u=1, gamma_v=0.1, eta_v=1,
        x0=np.array([2.0, 0, 0, 0]), records=("distance2",),
    )  # fmt: skip
    np.testing.assert_allclose(run.records["distance2"][0], here, rtol=1e-9)


def test_an_ill_conditioned_minimiser_is_bounded():
    """What the linear system may be off is part of the bound."""
    H = np.diag([1.0, 3e-11])[None]
    problem = Quadratic(H, np.array([[1.0, 3e-11 / 7]]), shared=2)
    constant = fact(problem, "distance2_0")
    assert constant.certificate is Certificate.UPPER_BOUND
    assert constant.value >= float(Proved(problem, None, None, {}, None, [], {}).fact("distance2_0"))


def test_populations_certify_the_same():
    """By type or one by one."""
    types, counts = drawn(5, n=2, d=4, shared=3), [3, 2]
    population = Population(types, counts)
    one_by_one = Quadratic(np.repeat(types.H, counts, axis=0), np.repeat(types.g, counts, axis=0), shared=3)
    given = fact(population, "distance2_0").value, fact(one_by_one, "distance2_0").value
    np.testing.assert_allclose(*given, rtol=1e-12)


def test_strong_convexity():
    """Of the mean, whatever the clients' own functions are."""
    H = np.array([np.diag([3.0, -1.0]), np.diag([1.0, 2.0])])
    problem = Quadratic(H, np.zeros((2, 2)), shared=2)
    assert fact(problem, "strong_convexity").value == pytest.approx(0.5, rel=1e-12)
    proved = Proved(problem, None, None, {}, None, [], {})
    assert 0.5 * (1 - 1e-12) <= proved.fact("strong_convexity") <= 0.5
    flat = Quadratic(np.array([np.diag([3.0, 0.0])]), np.zeros((1, 2)), shared=2)
    assert fact(flat, "strong_convexity").certificate is Certificate.ABSENT
    assert fact(drawn(1, shared=2), "strong_convexity") is None


@pytest.mark.parametrize("form", [SUBLINEAR, LINEAR], ids=["sublinear", "linear"])
@pytest.mark.parametrize("given", [{}, {"gamma_u": 0.1}], ids=["largest step", "small step"])
def test_iterates_of_gradient_descent(form, given):
    """Both classics hold, and faster ones do not."""
    right = form["right"]
    fields = {**FIELDS, "settings": {**FIELDS["settings"], "sigma_u": 0}}
    assert rc.verify(theorem("true", **fields, **form), n=3, T=30, **given).outcome is Outcome.HOLDS
    twin = {**form, "right": f"({right})/20" if form is SUBLINEAR else right.replace("mu)", "3*mu)")}
    found = rc.verify(theorem("false", **fields, **twin), n=3, T=200, **given)
    assert found.outcome is Outcome.VIOLATED
    assert found.worst.round > 0


@pytest.mark.parametrize("engine", ["exact", "step"])
def test_noise_and_both_engines(engine):
    """The right side of each round is that of its number."""
    form = {**NOISY, "right": {**NOISY["right"], "noise": "1.5*gamma_u*sigma_u**2/(n*mu)"}}
    found = rc.verify(theorem("true", **FIELDS, **form), n=3, T=20, gamma_u=0.5, engine=engine)
    assert found.outcome is Outcome.HOLDS
    claim, t = found.worst, found.worst.round
    values = found.verdict.values
    start = (1 - values["gamma_u"] * values["mu"]) ** (2 * t) * values["dist2_0"]
    np.testing.assert_allclose(claim.terms["start"], start, rtol=1e-12)
    wrong = {**form, "right": {**form["right"], "start": "(1 - gamma_u*mu)**(4*t)*dist2_0"}}
    found = rc.verify(theorem("false", **FIELDS, **wrong), n=3, T=20, gamma_u=0.5, engine=engine)
    assert found.outcome is Outcome.VIOLATED


def test_a_mean_of_bounds_with_the_round():
    """Long runs, too, are followed round by round."""
    form = {**LINEAR, "over": "mean_of_rounds"}
    fields = {**FIELDS, "settings": {**FIELDS["settings"], "sigma_u": 0}}
    found = rc.verify(theorem("true", **fields, **form), n=3, T=3000, gamma_u=0.5)
    values, t = found.verdict.values, np.arange(3000)
    wanted = np.mean((1 - values["gamma_u"] * values["mu"]) ** (2 * t)) * values["dist2_0"]
    np.testing.assert_allclose(found.worst.right, wanted, rtol=1e-12)
    assert found.outcome is Outcome.HOLDS


def test_the_round_stands_on_the_right_only():
    """And a bound of one round asks which."""
    with pytest.raises(rc.InputError, match="left: t, the number of the round, may stand on the right side only"):
        theorem("weighted", **FIELDS, **{**SUBLINEAR, "left": "t*gap"})
    found = theorem("true", **FIELDS, **LINEAR)
    with pytest.raises(rc.InputError, match=r"needs a value for t .*give t="):
        rc.bound(found, L=1, mu=0.5, gamma_u=0.1, dist2_0=2)
    with pytest.raises(rc.InputError, match='mu=2 breaks "mu <= L"'):
        rc.bound(found, L=1, mu=2, gamma_u=0.1, dist2_0=2, t=3)


def test_other_problems_do_not_certify_them():
    """Logistic regression has no minimiser that is known."""
    found = rc.verify(theorem("true", **FIELDS, **LINEAR), problem="logistic", n=3, T=5)
    assert found.outcome is Outcome.NOT_APPLICABLE
    assert "dist2_0 does not exist" in " ".join(found.verdict.reasons)


def test_powers_by_entry_cover_the_truth():
    """Exponents that differ by entry, whole and not, of bases that are known to some digits."""
    x, t = sp.symbols("x t")
    rng = np.random.default_rng(7)
    for expr in (x**t, x ** (2 * t), x ** (-t), (1 - x) ** (t / 3), (x - 2) ** t):
        exponents = np.arange(12.0)
        base, off = rng.uniform(0.2, 0.9, 12), 10.0 ** rng.uniform(-14, -3, 12)
        found = rounded(expr, {"x": Rounded.of(base, off), "t": Rounded.of(exponents)})
        assert found.sure.all()
        with mpmath.workdps(50):
            for k in range(12):
                for end in (-1, 0, 1):
                    exact = mpmath.mpf(base[k]) + end * mpmath.mpf(off[k])
                    truth = sp.lambdify((x, t), expr, "mpmath")(exact, mpmath.mpf(exponents[k]))
                    assert abs(truth - found.value[k]) <= found.error[k]
        assert (found.error <= 1e3 * off * np.abs(found.value).max() + 1e-12 * np.abs(found.value).max()).all()


def test_constants_are_rounded_to_the_weak_side():
    """What float64 loses of an ill-conditioned problem makes no true statement false."""
    rng = np.random.default_rng(11)
    for _ in range(20):
        Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
        H = Q @ np.diag([1.0, 0.3, 0.1, 10.0 ** rng.uniform(-4, -2)]) @ Q.T
        H = (H + H.T)[None] / 2
        problem = Quadratic(H, np.einsum("iab,b->ia", H, rng.standard_normal(4)), shared=4)
        proved = Proved(problem, None, None, {}, None, [], {})
        assert proved.admits("strong_convexity", Fraction(fact(problem, "strong_convexity").value))
        assert proved.admits("distance2_0", Fraction(fact(problem, "distance2_0").value))
