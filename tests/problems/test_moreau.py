"""Moreau envelopes: prox, values and gradients against optimisers and differences, every constant under attack."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from ratecheck.errors import InputError
from ratecheck.problems.constants import Certificate
from ratecheck.problems.logistic import Logistic
from ratecheck.problems.moreau import Moreau
from ratecheck.problems.quadratic import Quadratic

EXACT, UPPER_BOUND, ABSENT = Certificate.EXACT, Certificate.UPPER_BOUND, Certificate.ABSENT


def quadratic(n=3, d=3, seed=0, *, shift=0.0):
    """Random symmetric H_i with the least eigenvalue ``shift`` over all clients."""
    rng = np.random.default_rng([seed, n, d])
    H = rng.standard_normal((n, d, d))
    H = H + H.transpose(0, 2, 1)
    H += (shift - np.linalg.eigvalsh(H).min()) * np.eye(d)
    return Quadratic(H, rng.standard_normal((n, d)), d)


def logistic(n=2, N=8, d=3, seed=0, *, rho=0.1, size=1.0):
    """Gaussian rows with labels of a fair coin."""
    rng = np.random.default_rng([seed, n, N, d])
    labels = np.sign(rng.standard_normal((n, N)))
    return Logistic(size * rng.standard_normal((n, N, d)), labels, shared=d, rho=rho)


QUADRATICS = {
    "convex": Moreau(quadratic(shift=0.2), 0.7),
    "flat": Moreau(quadratic(shift=0.0), 2.0),
    "weakly convex, lambda above 2 ell": Moreau(quadratic(shift=-0.5), 3.0),
    "weakly convex, lambda below 2 ell": Moreau(quadratic(shift=-0.5), 0.6),
    "synthetic": Moreau(Quadratic.synthetic(4, 5, 5, curvature=0.3), 0.1),
    "one of each": Moreau(quadratic(1, 1, shift=0.3), 1.0),
}
LOGISTICS = {
    "logistic": Moreau(logistic(), 0.5),
    "logistic, convex": Moreau(logistic(rho=0.0), 0.2),
    "logistic, large features": Moreau(logistic(size=30.0), 1.0),
    "logistic, lambda below 2 ell": Moreau(logistic(rho=4.0), 2.2),
    "regulariser only": Moreau(Logistic(np.zeros((2, 3, 2)), np.ones((2, 3)), shared=2, rho=1.0), 0.6),
}
quadratics = pytest.mark.parametrize("envelope", [pytest.param(made, id=name) for name, made in QUADRATICS.items()])
logistics = pytest.mark.parametrize("envelope", [pytest.param(made, id=name) for name, made in LOGISTICS.items()])
envelopes = pytest.mark.parametrize(
    "envelope", [pytest.param(made, id=name) for name, made in (QUADRATICS | LOGISTICS).items()]
)


def point(envelope, seed=0, size=1.0):
    """A random w."""
    return size * np.random.default_rng([seed, 3]).standard_normal(envelope.d)


def single(envelope, i):
    """f_i as a function: the problem of client i alone."""
    problem = envelope.problem
    if isinstance(problem, Quadratic):
        alone = Quadratic(problem.H[i : i + 1], problem.g[i : i + 1], envelope.d)
    else:
        alone = Logistic(problem.A[i : i + 1], np.ones((1, problem.N)), shared=envelope.d, rho=problem.rho)
    return lambda theta: alone.value(theta, np.zeros((1, 0)))


def inner(envelope, i, w):
    """What is minimised over theta."""
    f_i = single(envelope, i)
    return lambda theta: f_i(theta) + envelope.lambda_ / 2 * np.sum((theta - w) ** 2)


def slope(function, at, h=1e-4):
    """Gradient by central differences of fourth order."""
    return np.array(
        [
            (8 * (function(at + e) - function(at - e)) - function(at + 2 * e) + function(at - 2 * e)) / (12 * h)
            for e in h * np.eye(len(at))
        ]
    )


# --- Prox, values, gradients ---


@envelopes
def test_prox_and_values_are_what_an_optimiser_finds(envelope):
    """Nelder-Mead and BFGS on the definition, client by client."""
    for seed, size in ((0, 1.0), (1, 5.0)):
        w = point(envelope, seed, size)
        values = envelope.values(w)
        for i in range(envelope.n):
            function, theta = inner(envelope, i, w), envelope.prox(i, w)
            found = minimize(function, w, options={"gtol": 1e-9})
            assert values[i] == pytest.approx(function(theta), rel=1e-12, abs=1e-12)
            assert values[i] <= found.fun + 1e-12 * max(1.0, abs(found.fun))
            assert values[i] == pytest.approx(found.fun, rel=1e-7, abs=1e-9)
            np.testing.assert_allclose(theta, found.x, atol=2e-4)
        assert envelope.value(w) == pytest.approx(values.mean(), rel=1e-15)


@envelopes
def test_gradients_are_the_differences_of_the_values(envelope):
    """Eq. (4), and that the gradient of the envelope is that of f_i at the prox."""
    w = point(envelope, 2, 2.0)
    gradients = envelope.gradients(w)
    for i in range(envelope.n):
        numerical = slope(lambda at, i=i: envelope.values(at)[i], w)
        np.testing.assert_allclose(gradients[i], numerical, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(gradients[i], slope(single(envelope, i), envelope.prox(i, w)), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(envelope.gradient(w), gradients.mean(axis=0), rtol=1e-15)


@logistics
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e4, 1e12, 1e60])
def test_newton_leaves_a_gradient_of_rounding(envelope, size):
    """The certificate of the prox, far out and at tiny points too."""
    w = point(envelope, 3)
    w *= size / np.abs(w).max()
    for i in range(envelope.n):
        theta = envelope.prox(i, w)
        u, _ = envelope.problem.gradients(theta, np.zeros((envelope.n, 0)))
        left = np.linalg.norm(u[i] + envelope.lambda_ * (theta - w))
        assert left <= 1e-12 * (1 + np.abs(envelope.problem.A).max() ** 2) * 10 * max(1.0, np.linalg.norm(w))


@logistics
def test_newton_has_the_right_hessian(envelope):
    """Differences of the gradients; a wrong Hessian would only cost steps."""
    theta, zero = point(envelope, 4), np.zeros((envelope.n, 0))
    for i in range(envelope.n):
        numerical = np.array(
            [
                (envelope.problem.gradients(theta + e, zero)[0][i] - envelope.problem.gradients(theta - e, zero)[0][i])
                for e in 1e-5 * np.eye(envelope.d)
            ]
        )
        expected = numerical / 2e-5 + envelope.lambda_ * np.eye(envelope.d)
        np.testing.assert_allclose(envelope._inner._hessian(i, theta), expected, rtol=1e-6, atol=1e-6)


def test_prox_by_hand():
    """The quadratic 2 t^2/2 - t at w = 1 with lambda = 2: t = (1 + 2)/4, and the envelope (2 t^2/2 - t) + (t - 1)^2."""
    envelope = Moreau(Quadratic([[[2.0]]], [[1.0]], 1), 2.0)
    assert envelope.prox(0, [1.0]) == pytest.approx([0.75])
    assert envelope.value([1.0]) == pytest.approx(0.75**2 - 0.75 + 0.25**2)
    assert envelope.gradient([1.0]) == pytest.approx([0.5])


@quadratics
def test_envelope_of_quadratics_is_the_quadratic_it_says(envelope):
    """``envelope`` and ``offsets`` against the minimisation; H and g against the printed inverses."""
    closed, offsets, problem = envelope.envelope(), envelope.offsets(), envelope.problem
    for seed in range(3):
        w = point(envelope, seed, 3.0)
        expected = np.array([w @ H @ w / 2 - g @ w for H, g in zip(closed.H, closed.g, strict=True)]) + offsets
        np.testing.assert_allclose(envelope.values(w), expected, rtol=1e-9, atol=1e-10)
        u, _ = closed.gradients(w, np.zeros((envelope.n, 0)))
        np.testing.assert_allclose(envelope.gradients(w), u, rtol=1e-9, atol=1e-10)
    eye = np.eye(envelope.d)
    for i in range(envelope.n):
        inverse = np.linalg.inv(problem.H[i] + envelope.lambda_ * eye)
        np.testing.assert_allclose(closed.H[i], envelope.lambda_ * (eye - envelope.lambda_ * inverse), atol=1e-9)
        np.testing.assert_allclose(closed.g[i], envelope.lambda_ * inverse @ problem.g[i], atol=1e-9)
    assert (closed.d_u, closed.d_v) == (envelope.d, 0)


# --- Constants ---


def steepness(envelope, seed, size, step):
    """Largest |grad F_i(w + h) - grad F_i(w)|/|h| of a few h, each the change that the one before made."""
    rng = np.random.default_rng(seed)
    w, best = size * rng.standard_normal(envelope.d), 0.0
    at = envelope.gradients(w)
    for i in range(envelope.n):
        h = rng.standard_normal(envelope.d)
        for _ in range(15):
            h *= step / np.linalg.norm(h)
            change = envelope.gradients(w + h)[i] - at[i]
            best = max(best, float(np.linalg.norm(change)) / step)
            if not change.any():
                break
            h = change
    return best


@pytest.mark.every(3)
@envelopes
def test_smoothness_is_never_exceeded(envelope):
    """L_F under power iterations at random points and of all step sizes."""
    L_F = envelope.constants()["L_F"].value
    for seed in range(4):
        for size, step in ((0.1, 1e-3), (1.0, 1e-2), (3.0, 1.0)):
            assert steepness(envelope, seed, size, step) <= L_F * (1 + 1e-7)


@quadratics
def test_smoothness_of_quadratics_is_attained(envelope):
    """Exact: the largest norm of the Hessians of the envelope."""
    L_F = envelope.constants()["L_F"]
    assert L_F.certificate is EXACT
    hessians = [
        np.array([slope(lambda at, i=i: envelope.values(at)[i], e) for e in np.eye(envelope.d)])
        for i in range(envelope.n)
    ]
    origin = [slope(lambda at, i=i: envelope.values(at)[i], np.zeros(envelope.d)) for i in range(envelope.n)]
    found = max(np.linalg.norm(H - at, 2) for H, at in zip(hessians, origin, strict=True))
    assert found == pytest.approx(L_F.value, rel=1e-6)


@logistics
def test_smoothness_of_logistic_regression_is_attained_where_it_is_exact(envelope):
    """Where the prox of a client is 0, which is at w = grad f_i(0)/lambda."""
    L_F = envelope.constants()["L_F"]
    if L_F.certificate is not EXACT:
        assert envelope.lambda_ * envelope.ell / (envelope.lambda_ - envelope.ell) == pytest.approx(L_F.value)
        return
    u, _ = envelope.problem.gradients(np.zeros(envelope.d), np.zeros((envelope.n, 0)))
    found = 0.0
    for i, w in enumerate(u / envelope.lambda_):
        np.testing.assert_allclose(envelope.prox(i, w), 0.0, atol=1e-12)
        hessian = np.array(
            [envelope.gradients(w + e)[i] - envelope.gradients(w - e)[i] for e in 1e-4 * np.eye(envelope.d)]
        )
        found = max(found, np.linalg.norm(hessian / 2e-4, 2))
    assert found == pytest.approx(L_F.value, rel=1e-5)


def test_regulariser_alone_attains_its_weak_convexity():
    """With rho = 1 and no data, |theta| = 1 has the eigenvalue -1/2: the bound with ell = 1/2 is the constant."""
    envelope = LOGISTICS["regulariser only"]
    constants = envelope.constants()
    assert constants["L_F"].value == pytest.approx(0.6 * 0.5 / (0.6 - 0.5))
    theta = np.array([1.0, 0.0])
    u, _ = envelope.problem.gradients(theta, np.zeros((envelope.n, 0)))
    w = theta + u[0] / envelope.lambda_
    h = np.array([1e-5, 0.0])
    change = envelope.gradients(w + h)[0] - envelope.gradients(w - h)[0]
    assert change[0] / 2e-5 == pytest.approx(-constants["L_F"].value, rel=1e-4)


@pytest.mark.parametrize(("ratio", "within"), [(1.01, False), (1.5, False), (1.99, False), (2.0, True), (5.0, True)])
def test_proposition_1_needs_its_condition_for_weakly_convex_functions(ratio, within):
    """F = -w^2 ell lambda/(2 (lambda - ell)) of f = -ell theta^2/2: L_F <= lambda if and only if lambda >= 2 ell."""
    ell = 0.8
    envelope = Moreau(Quadratic([[[-ell]]], [[0.0]], 1), ratio * ell)
    L_F = envelope.constants()["L_F"]
    assert envelope.gradient([1.0]) == pytest.approx([-ratio * ell / (ratio - 1)])
    assert L_F.value == pytest.approx(ratio * ell / (ratio - 1))
    assert (L_F.value <= envelope.lambda_ * (1 + 1e-12)) is within
    assert ("beyond lambda" in L_F.reason) is not within


@envelopes
def test_convexity_moduli_bound_the_inner_problem(envelope):
    """L and ell: the curvature of every f_i lies in [-ell, L]; for quadratics both ends that are not 0 are attained."""
    constants, rng = envelope.constants(), np.random.default_rng(6)
    low, high = -constants["ell"].value, constants["L"].value
    curvatures = []
    for _ in range(200):
        theta, e = rng.standard_normal((2, envelope.d))
        e *= 1e-2 / np.linalg.norm(e)
        for i in range(envelope.n):
            f_i = single(envelope, i)
            curvatures.append((f_i(theta + e) - 2 * f_i(theta) + f_i(theta - e)) / 1e-4)
    assert low - 1e-6 * (1 + high) <= min(curvatures)
    assert max(curvatures) <= high * (1 + 1e-6) + 1e-6
    if isinstance(envelope.problem, Quadratic):
        spectrum = np.concatenate([np.linalg.eigvalsh(H) for H in envelope.problem.H])
        assert low == pytest.approx(min(0.0, spectrum.min()), abs=1e-12)
        assert high == pytest.approx(np.abs(spectrum).max())
        assert constants["L"].certificate is constants["ell"].certificate is EXACT


def test_zero_curvature_is_convex_in_spite_of_rounding():
    """A singular H_i with an eigenvalue of -1e-16 by rounding needs nothing of lambda."""
    row = np.array([[1.0, 1 / 3, 1 / 7]])
    envelope = Moreau(Quadratic((row.T @ row)[None], np.ones((1, 3)), 3), 1e-9)
    assert envelope.ell == 0.0
    assert envelope.constants()["L_F"].value <= 1e-9


@envelopes
def test_gap_bounds_what_an_optimiser_gains(envelope):
    """F_0: exact for quadratics, absent where F is unbounded below, an upper bound for logistic regression."""
    w = point(envelope, 5)
    gap = envelope.constants(w)["F_0"]
    if gap.certificate is ABSENT:
        assert np.linalg.eigvalsh(envelope.envelope().H.mean(axis=0))[0] < 0.0
        return
    found = minimize(envelope.value, w, jac=envelope.gradient, options={"gtol": 1e-10})
    gained = envelope.value(w) - found.fun
    assert gained <= gap.value + 1e-9
    if isinstance(envelope.problem, Quadratic):
        assert gap.certificate is EXACT
        assert gained == pytest.approx(gap.value, rel=1e-7, abs=1e-9)
    else:
        assert gap.certificate is UPPER_BOUND


def test_gap_of_logistic_regression_is_not_idle():
    """For one client the infima of F and f agree, and the bound is close to what is gained."""
    envelope = Moreau(logistic(1, 12, 2, rho=0.0), 0.3)
    w = np.array([2.0, -1.0])
    found = minimize(envelope.value, w, jac=envelope.gradient, options={"gtol": 1e-10})
    assert envelope.constants(w)["F_0"].value == pytest.approx(envelope.value(w) - found.fun, rel=1e-4)


def test_names_and_order_of_the_constants():
    """The same for both kinds; the start is 0 by default."""
    for envelope in (QUADRATICS["convex"], LOGISTICS["logistic"]):
        assert list(envelope.constants()) == ["L_F", "L", "ell", "F_0"]
        assert repr(envelope.constants()) == repr(envelope.constants(np.zeros(envelope.d)))
    assert repr(QUADRATICS["one of each"]) == "Moreau(quadratic, n=1, d=1, lambda_=1)"


# --- Input that is refused ---


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Moreau("quadratic", 1.0), "needed a Quadratic or a Logistic, not str"),
        (lambda: Moreau(Quadratic.synthetic(2, 4, 3), 1.0), 'd_v=1 breaks "d_v = 0"'),
        (lambda: Moreau(Logistic.synthetic(2, 4, 4), 1.0), 'd_v=2 breaks "d_v = 0"'),
        (lambda: Moreau(quadratic(), 0.0), 'lambda_=0 breaks "lambda_ > 0"'),
        (lambda: Moreau(quadratic(), math.inf), "lambda_=inf"),
        (lambda: Moreau(quadratic(), 1e61), 'breaks "lambda_ <= 1e\\+60"'),
        (lambda: Moreau(Quadratic([[[-0.5]]], [[0.0]], 1), 0.5), 'lambda_=0.5 breaks "lambda_ > ell".* 0.5 > 0.5'),
        (lambda: Moreau(Quadratic([[[-0.5]]], [[0.0]], 1), 0.25), "0.25 > 0.5"),
        (lambda: Moreau(logistic(rho=1.0), 0.5), "0.5 > 0.5"),
        (LOGISTICS["logistic"].envelope, "envelope: needed a quadratic problem"),
        (LOGISTICS["logistic"].offsets, "offsets: needed a quadratic problem"),
        (lambda: QUADRATICS["convex"].prox(3, np.zeros(3)), 'i=3 breaks "0 <= i <= 2"'),
        (lambda: QUADRATICS["convex"].prox(0, np.zeros(2)), r"w: shape \(2,\); needed \(3,\)"),
        (lambda: QUADRATICS["convex"].value([0.0, 1e61, 0.0]), "w has entries beyond 1e\\+60"),
        (lambda: LOGISTICS["logistic"].gradient([0.0, math.nan, 0.0]), "w has entries"),
        (lambda: LOGISTICS["logistic"].constants([0.0]), "w: shape"),
    ],
)
def test_bad_input_is_refused(make, message):
    """One line that names the argument and the condition with both sides."""
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
