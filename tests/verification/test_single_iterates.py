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
    # Without coupling every coordinate has the digits of its own.
    problem = Quadratic([np.diag([1.0, 3e-11])], np.array([[1.0, 3e-11 / 7]]), shared=2)
    assert fact(problem, "distance2_0").certificate is Certificate.EXACT
    problem = Quadratic([[[1.0, 1.0], [1.0, 1.0 + 3e-11]]], np.array([[1.0, 1.0 + 3e-11 / 7]]), shared=2)
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


def proved_of(problem):
    """Its constants in rationals."""
    return Proved(problem, None, None, {}, None, [], {})


def test_the_polyak_lojasiewicz_constant():
    """The least positive eigenvalue of the mean, also where f is flat in a direction; by its definition, too."""
    H = np.array([np.diag([3.0, 0.0, -1.0]), np.diag([1.0, 0.0, 2.0])])
    problem = Quadratic(H, np.array([[1.0, 0.0, 2.0], [0.5, 0.0, 0.0]]), shared=3)
    found = fact(problem, "polyak_lojasiewicz")
    assert found.value == pytest.approx(0.5, rel=1e-12)
    assert proved_of(problem).admits("polyak_lojasiewicz", Fraction(found.value))
    assert not proved_of(problem).admits("polyak_lojasiewicz", Fraction(found.value) * Fraction(1001, 1000))
    M, g = problem.mean()
    lowest = -0.5 * g @ np.linalg.pinv(M) @ g
    for x in np.random.default_rng(0).standard_normal((200, 3)) * 10:
        gap = 0.5 * x @ M @ x - g @ x - lowest
        assert np.sum((M @ x - g) ** 2) >= 2 * found.value * gap * (1 - 1e-12)
    population = Population(problem, [2, 2])
    assert fact(population, "polyak_lojasiewicz").value == pytest.approx(found.value, rel=1e-12)
    # Nearly flat is not flat: a curvature of 1e-17 is the constant, or nothing is said.
    for flat in (1e-17, 1e-300, 5e-324):
        thin = Quadratic(np.array([np.diag([1.0, flat])]), np.zeros((1, 2)), shared=2)
        found = fact(thin, "polyak_lojasiewicz")
        assert found.certificate is Certificate.ABSENT or found.value <= flat
    # Sloping along a flat direction, or bent down, f has no minimum.
    for H, g in (([1.0, 0.0], [1.0, 1.0]), ([1.0, -0.5], [0.0, 0.0]), ([0.0, 0.0], [0.0, 0.0])):
        nothing = Quadratic(np.array([np.diag(H)]), np.array([g]), shared=2)
        assert fact(nothing, "polyak_lojasiewicz").certificate is Certificate.ABSENT
    assert fact(drawn(1, shared=2), "polyak_lojasiewicz") is None


def test_heterogeneity_at_the_minimiser():
    """By a minimiser that another method finds, by type or one by one, and rounded up."""
    for seed in range(5):
        problem = drawn(seed, n=3, d=4, shared=4)
        M, g = problem.mean()
        x = np.linalg.solve(M, g)
        value = np.sqrt(np.mean(np.sum((problem.H @ x - problem.g) ** 2, axis=1)))
        found = fact(problem, "minimiser_heterogeneity")
        assert found.value == pytest.approx(value, rel=1e-9)
        assert proved_of(problem).admits("minimiser_heterogeneity", Fraction(found.value))
        counts = [2, 1, 4]
        population = Population(problem, counts)
        alone = Quadratic(np.repeat(problem.H, counts, axis=0), np.repeat(problem.g, counts, axis=0), shared=4)
        given = [fact(each, "minimiser_heterogeneity").value for each in (population, alone)]
        np.testing.assert_allclose(*given, rtol=1e-9)
    flat = Quadratic(np.array([np.diag([3.0, 0.0])]), np.zeros((1, 2)), shared=2)
    assert fact(flat, "minimiser_heterogeneity").certificate is Certificate.ABSENT


DOMINATED = {
    "algorithm": "fedavg", "vocabulary": "textbook", "over": "every_round", "conditions": ["gamma_u <= 1/L"],
    "settings": {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    "assumptions": ["smoothness", "polyak_lojasiewicz", "full_participation", "no_personal"], "left": "gap",
}  # fmt: skip


@pytest.mark.parametrize(("power", "outcome"), [("t", Outcome.HOLDS), ("(3*t)", Outcome.VIOLATED)])
def test_gradient_descent_under_the_inequality(power, outcome):
    """A linear rate without strong convexity, and a faster one."""
    found = theorem("PL", right=f"(1 - gamma_u*mu_PL)**{power}*F_0", **DOMINATED)
    assert rc.verify(found, n=3, T=20).outcome is outcome
    searched = rc.falsify(found, evaluations=60).searches[0].outcome
    assert searched is (Outcome.VIOLATED if outcome is Outcome.VIOLATED else Outcome.INCONCLUSIVE)


def test_sgd_without_dissimilarity():
    """Noise of sampling clients, by their gradients at the minimiser: m of n clients, one step each."""
    fields = {
        **DOMINATED,
        "assumptions": ["smoothness", "convexity", "strong_convexity", "minimiser_heterogeneity", "uniform_sampling",
                        "no_personal"],
        "left": "dist2", "conditions": ["gamma_u <= 1/(4*L)"],
        "settings": {"K": 1, "eta_u": 1, "sigma_u": 0},
    }  # fmt: skip
    right = "(1 - gamma_u*mu)**t*dist2_0 + {}*gamma_u*b_star**2/mu"
    true, false = (theorem("sampled", right=right.format(factor), **fields) for factor in ("2", "0.02"))
    assert rc.verify(true, n=4, m=1, T=200).outcome is Outcome.HOLDS
    assert rc.falsify(true, evaluations=60).searches[0].outcome is Outcome.INCONCLUSIVE
    assert rc.falsify(false, evaluations=200).searches[0].outcome is Outcome.VIOLATED


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


GROWTH = {
    "algorithm": "fedavg", "vocabulary": "textbook", "over": "every_round", "left": "dist2",
    "assumptions": ["smoothness", "noise", "polyak_lojasiewicz", "full_participation", "no_personal"],
    "settings": {"K": 1, "m": "n", "eta_u": 1},
}  # fmt: skip


def test_a_statement_about_the_nearest_minimiser_is_not_accused():
    """Quadratic growth is about the distance to all minimisers; where there is one, a false constant is refuted."""
    flat = Quadratic(np.array([np.diag([1.0, 0.0])] * 2), np.array([[1.0, 0.0], [0.5, 0.0]]), shared=2)
    steep = Quadratic(np.array([np.diag([1.0, 1.0])] * 2), np.array([[1.0, 0.0], [0.5, 0.0]]), shared=2)
    true, false = (theorem("growth", right=f"{factor}*gap/mu_PL", **GROWTH) for factor in ("2", "1.9"))
    undecided = rc.verify(true, problem=flat, T=10, sigma_u=0.3)
    assert undecided.outcome is Outcome.INCONCLUSIVE
    assert "several minimisers" in str(undecided)
    assert rc.verify(true, problem=steep, T=10, sigma_u=0.3).outcome is Outcome.HOLDS
    assert rc.verify(false, problem=steep, T=10, sigma_u=0.3).outcome is Outcome.VIOLATED
    assert rc.falsify(true, evaluations=150).searches[0].outcome is Outcome.INCONCLUSIVE
    assert rc.falsify(false, evaluations=150).searches[0].outcome is Outcome.VIOLATED


@pytest.mark.parametrize("left", ["gap", "dist2", "nearer"])
def test_what_takes_the_minimum_is_not_applicable_where_it_is_unknown(left):
    """Of logistic problems nobody knows where it is: no input error, alone as among others."""
    found = theorem("logistic", **{**GROWTH, "left": left, "assumptions": ["smoothness", "full_participation",
                    "no_personal"], "right": "F_0/L" if left != "gap" else "F_0"})  # fmt: skip
    verdict = rc.verify(found, problem="logistic", n=3, T=4, d=4, sigma_u=0)
    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_an_open_end_is_not_called_admissible():
    """2/L itself breaks gamma_u < 2/L: what is taken is said to be just below."""
    found = theorem("open", right="F_0", left="gap", over="every_round", algorithm="fedavg", vocabulary="textbook",
                    conditions=["gamma_u < 2/L"], assumptions=["smoothness", "full_participation", "no_personal"],
                    settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0})  # fmt: skip
    assert "(just below the open end of the admissible values)" in str(rc.verify(found, n=3, T=4))


def test_an_open_end_at_which_the_bound_is_infinite_is_not_taken():
    """Next to 2/L the bound of gradient descent says nothing: gamma = 1/L, where it is least, finds what is wrong."""
    found = theorem("mean grad2 <= F_0/(100*gamma*(2 - gamma*L)*T)", method="gd", given="smooth", when="gamma < 2/L")
    verdict = rc.verify(found, T=30)
    assert verdict.outcome is Outcome.VIOLATED
    assert "gamma=1 (minimises the bound)" in str(verdict)


@pytest.mark.parametrize(("factor", "eliminations"), [(1, 1), (2, 2)])
def test_clients_that_share_a_matrix_share_its_proof(
    factor: int, eliminations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One elimination per matrix and value, however many clients there are."""
    H, seen = np.diag([1.0, 3.0]), []
    problem = Quadratic(np.stack([H, H, factor * H]), np.zeros((3, 2)), 2)
    exactly = Proved(problem, None, None, {}, None, [], {}).fact("L")
    monkeypatch.setattr(
        "ratecheck.certification.exact_constants.semidefinite", lambda matrix: bool(seen.append(matrix)) or True
    )
    assert Proved(problem, None, None, {}, None, [], {}).fact("L") == exactly == 3 * factor
    assert len(seen) == eliminations
