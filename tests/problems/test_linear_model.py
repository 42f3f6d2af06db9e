"""Linear models on sparse rows against dense twins in NumPy and SciPy: values, runs, and every certified constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import minimize

import ratecheck as rc
from ratecheck.errors import InputError
from ratecheck.participation import Trace
from ratecheck.problems.linear import spectra
from ratecheck.problems.linear.losses import HuberLoss, LogisticLoss, Loss, SoftmaxLoss, SquaredLoss
from ratecheck.problems.linear.model import Labelled, LeastSquares, LinearModel
from ratecheck.problems.logistic import Logistic

pytestmark = pytest.mark.filterwarnings("error")

Array = Any
COUNTS = (5, 9, 7)
CLASSES = 3
OUTER = {"eta_u": 1.0, "eta_v": 1.0}
LOSSES: dict[str, Loss] = {
    "logistic": LogisticLoss(), "squares": SquaredLoss(), "huber": HuberLoss(0.7), "softmax": SoftmaxLoss(),
}  # fmt: skip


def entries(rows: int, d: int, seed: int) -> Array:
    """Rows with about half of their entries 0."""
    rng = np.random.default_rng([seed, rows, d])
    return rng.standard_normal((rows, d)) * (rng.random((rows, d)) < 0.5)


def model(loss: str, **options: Any) -> LinearModel:
    """Clients of different sizes whose rows have weights."""
    rng = np.random.default_rng(7)
    clients = []
    for i, count in enumerate(COUNTS):
        features = entries(count, 4, i)
        y = {
            "logistic": np.sign(rng.standard_normal(count)),
            "softmax": rng.integers(0, CLASSES, count).astype(float),
        }.get(loss, rng.standard_normal(count))
        clients.append(Labelled(scipy.sparse.csr_matrix(features), y, rng.uniform(0.5, 2.0, count)))
    outputs = CLASSES if loss == "softmax" else 1
    return LinearModel(clients, LOSSES[loss], outputs=outputs, **options)


def phi(loss: str, z: Array, y: float) -> float:
    """The loss of one row, as textbooks write it."""
    if loss == "logistic":
        return float(np.log(1 + np.exp(-y * z[0])))
    if loss == "softmax":
        return float(np.log(np.exp(z).sum()) - z[int(y)])
    away = abs(z[0] - y)
    return float(away**2 / 2 if loss == "squares" or away <= 0.7 else 0.7 * (away - 0.35))


def twin(problem: LinearModel, loss: str, i: int) -> Callable[[Array], float]:
    """F_i of the joint variable (d,), row by row on dense rows."""
    rows, here = problem.features.toarray(), problem.rows_of(i)

    def value(w: Array) -> float:
        z = rows[here] @ w.reshape(-1, problem.outputs)
        losses = [phi(loss, each, y) for each, y in zip(z, problem.targets[here], strict=True)]
        u, v = w[: problem.d_u], w[problem.d_u :]
        penalties = sum(float(x @ x / (1 + x @ x)) for x in (u, v))
        return float(problem.factors[here] @ losses + problem.l2 / 2 * w @ w + problem.rho * penalties)

    return value


def differences(f: Callable[[Array], float], w: Array) -> Array:
    """The gradient by central differences."""
    steps = 1e-6 * np.eye(len(w))
    return np.array([(f(w + h) - f(w - h)) / 2e-6 for h in steps])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", [{"l2": 0.3}, {"shared": 2, "rho": 0.2}])
def test_values_and_gradients_are_those_of_dense_rows(loss: str, options: dict[str, Any]) -> None:
    """Value, gradients and the compiled oracle, with personal variables and both regularisers."""
    problem = model(loss, **options)
    rng = np.random.default_rng(1)
    u, v = rng.standard_normal(problem.d_u), rng.standard_normal((problem.n, problem.d_v))
    points = np.concatenate([np.broadcast_to(u, (problem.n, problem.d_u)), v], axis=1)
    clients = [twin(problem, loss, i) for i in range(problem.n)]
    wanted = np.stack([differences(f, w) for f, w in zip(clients, points, strict=True)])
    assert problem.value(u, v) == pytest.approx(np.mean([f(w) for f, w in zip(clients, points, strict=True)]))
    np.testing.assert_allclose(np.concatenate(problem.gradients(u, v), axis=1), wanted, atol=1e-7)
    trace = Trace.full(problem.n)
    run = rc.simulate("fedavg-p", problem, trace, K=1, T=1, gamma_u=0.1, gamma_v=0.1, **OUTER, x0=u, v0=v)
    of_u, of_v = wanted[:, : problem.d_u].mean(axis=0), wanted[:, problem.d_u :]
    expected = float(of_u @ of_u + np.square(of_v).sum() / problem.n)
    assert run.metric[0, 0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("batch", [None, 3])
def test_runs_on_sparse_rows_are_those_on_dense_ones(batch: int | None) -> None:
    """The same samples are drawn, so that runs agree up to the order of sums; gaps use the compiled values."""
    features, labels = entries(24, 10, 3).reshape(3, 8, 10), np.sign(np.random.default_rng(0).standard_normal((3, 8)))
    dense = Logistic(features, labels, shared=6, rho=0.1, batch=batch)
    clients = [Labelled(scipy.sparse.csr_matrix(a), y, np.ones(8)) for a, y in zip(features, labels, strict=True)]
    sparse = LinearModel(clients, LogisticLoss(), shared=6, rho=0.1, batch=batch)
    trace = Trace.uniform(3, 2)
    run = {"K": 3, "T": 6, "gamma_u": 0.5, "gamma_v": 0.5, **OUTER, "sigma_u": 0.1, "replicates": 11}
    found, wanted = (rc.simulate("fedavg-p", each, trace, **run).metric for each in (sparse, dense))
    np.testing.assert_allclose(found, wanted, rtol=1e-11)
    assert sparse.classifier is not None
    np.testing.assert_array_equal(sparse.classifier.A, dense.A)
    mine, theirs = sparse.constants(), dense.constants()
    for name in ("L_u", "L_v", "L", "B_0", "b"):
        assert mine[name].value == pytest.approx(theirs[name].value, rel=1e-9), name
    assert mine["sigma_u"].value == pytest.approx(theirs["sigma_u"].value, rel=1e-3)
    # Neither bound of the infimum is exact; both are below f at the best point that is found.
    best = minimize(
        lambda w: dense.value(w[:6], w[6:].reshape(3, 4)), np.zeros(18), method="BFGS", options={"gtol": 1e-8}
    ).fun
    start = dense.value(np.zeros(6), np.zeros((3, 4)))
    assert mine["F_0"].value >= start - best


@pytest.mark.parametrize("loss", LOSSES)
def test_the_minimum_is_certified(loss: str) -> None:
    """F_0 by duality, the minimiser and mu of an l2 term, against SciPy's minimum; gaps are measured above it."""
    problem = model(loss, l2=0.2)
    nothing = np.zeros((problem.n, 0))
    found = minimize(lambda w: problem.value(w, nothing), np.zeros(problem.d), method="BFGS", options={"gtol": 1e-9})
    constants = problem.constants()
    start = problem.value(np.zeros(problem.d), nothing)
    assert start - found.fun <= constants["F_0"].value <= (start - found.fun) * (1 + 1e-6)
    assert constants["strong_convexity"].value == 0.2
    assert constants["distance2_0"].value == pytest.approx(found.x @ found.x, rel=1e-5)
    point, _ = problem.centre()
    assert problem.minimum_known
    assert np.linalg.norm(problem.gradients(point, nothing)[0].mean(axis=0)) < 1e-9
    np.testing.assert_allclose(point, found.x, atol=1e-4)
    trace = Trace.full(problem.n)
    steps = {"K": 1, "T": 40, "gamma_u": 1 / constants["L"].value, "eta_u": 1.0}
    gap = rc.simulate("fedavg", problem, trace, **steps, records=["gap"]).records["gap"][0]
    assert gap[0] == pytest.approx(constants["F_0"].value, rel=1e-9)
    assert (np.diff(gap) <= 0).all()


@pytest.mark.parametrize("loss", ["logistic", "huber", "softmax"])
def test_bounds_of_gradients_hold_where_slopes_are_largest(loss: str) -> None:
    """L, b, the noise of mini-batches and largest gradients at points near and far: never exceeded."""
    problem = model(loss, batch=2)
    constants, bound = problem.constants(), problem.of_gradients("gradient_bound")
    assert bound is not None
    rng, nothing = np.random.default_rng(5), np.zeros((problem.n, 0))
    spreads, noises, lengths = [], [], []
    for scale in (0.1, 1.0, 10.0, 100.0):
        for _ in range(30):
            w = scale * rng.standard_normal(problem.d)
            each = problem.gradients(w, nothing)[0]
            spreads.append(np.square(each - each.mean(axis=0)).sum(axis=1).mean() ** 0.5)
            lengths.append(np.linalg.norm(each, axis=1).max())
            near = w + 1e-4 * rng.standard_normal(problem.d)
            change = np.linalg.norm(problem.gradients(near, nothing)[0] - each, axis=1).max()
            assert change <= constants["L"].value * np.linalg.norm(near - w) * (1 + 1e-6)
            noises.append(max(_batch_noise(problem, w, i) for i in range(problem.n)))
    assert 0.2 * constants["b"].value < max(spreads) <= constants["b"].value
    assert 0.2 * constants["sigma_u"].value < max(noises) <= constants["sigma_u"].value
    assert 0.3 * bound.value < max(lengths) <= bound.value
    assert max(lengths) ** 2 >= problem.largest_gradients["G_u"] * 0.05


def _batch_noise(problem: LinearModel, w: Array, i: int) -> float:
    """The standard deviation of a mini-batch of two rows, by all rows one by one."""
    here = problem.rows_of(i)
    rows = problem.features[here].toarray()
    slopes = problem.loss.slopes(rows @ w.reshape(-1, problem.outputs), problem.targets[here])
    each = len(rows) * problem.factors[here, None, None] * rows[:, :, None] * slopes[:, None, :]
    away = each.reshape(len(rows), -1) - each.reshape(len(rows), -1).mean(axis=0)
    return float((np.square(away).sum(axis=1).mean() / 2) ** 0.5)


@pytest.mark.parametrize("shared", [3, 8])
def test_the_bound_with_the_regulariser_is_below_the_infimum(shared: int) -> None:
    """Against the best of many starts, for clients with and without personal variables; it is not the trivial one."""
    features, labels = entries(40, 8, 2).reshape(2, 20, 8), np.sign(np.random.default_rng(3).standard_normal((2, 20)))
    clients = [Labelled(scipy.sparse.csr_matrix(a), y, np.ones(20)) for a, y in zip(features, labels, strict=True)]
    problem = LinearModel(clients, LogisticLoss(), shared=shared, rho=0.05)

    def f(w: Array) -> float:
        return problem.value(w[:shared], w[shared:].reshape(2, -1))

    size = shared + 2 * (8 - shared)
    rng = np.random.default_rng(0)
    best = min(minimize(f, s * rng.standard_normal(size), method="BFGS").fun for s in (0, 3))
    floor = f(np.zeros(size)) - problem.constants()["F_0"].value
    assert floor <= best
    assert floor >= (0.99 if shared == 8 else 0.5) * best


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("way", ["eigenvalues", "factored", "beyond"])
def test_largest_eigenvalues_are_bounded_from_above(signed: bool, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way to the largest eigenvalue of A'A, for entries of one sign and of both; sharp where it says so."""
    rng = np.random.default_rng(4)
    dense = entries(60, 45, 9) if signed else np.abs(entries(60, 45, 9))
    dense[:, 7] = 0.0
    dense *= 10.0 ** rng.uniform(-2, 0, 45)
    true = float(np.linalg.norm(dense, 2)) ** 2
    if way != "eigenvalues":
        monkeypatch.setattr(spectra, "_DENSE", 0)
    if way == "beyond":
        monkeypatch.setattr(spectra, "_CHOLESKY", 0)
    found, how = spectra.largest_square(scipy.sparse.csr_matrix(dense * 1e-170))
    found *= 1e340 if found == 0 else 1.0
    scaled, _ = spectra.largest_square(scipy.sparse.csr_matrix(dense))
    assert true * (1 - 1e-13) <= scaled
    assert scaled <= true * (1.5 if signed and way == "beyond" else 1 + 2e-6), how


def test_least_squares_with_full_gradients_is_a_quadratic() -> None:
    """The same gradients and minimum, and an exact engine."""
    problem = model("squares", l2=0.1)
    quadratic = LeastSquares.of(problem)
    w, nothing = np.arange(4.0), np.zeros((3, 0))
    np.testing.assert_allclose(quadratic.gradients(w, nothing)[0], problem.gradients(w, nothing)[0])
    assert quadratic.constants()["F_0"].value == pytest.approx(problem.constants()["F_0"].value)
    assert "squares" in quadratic.sizes


def test_weights_by_rows_make_the_mean_over_all_rows() -> None:
    """With p_i proportional to the rows f is the empirical risk of the whole table."""
    clients = [Labelled(scipy.sparse.csr_matrix(entries(k, 3, k)), np.ones(k), np.ones(k)) for k in (2, 6)]
    problem = LinearModel(clients, LogisticLoss(), weights=[2, 6])
    together = LinearModel(
        [Labelled(scipy.sparse.vstack([c.features for c in clients]).tocsr(), np.ones(8), np.ones(8))], LogisticLoss()
    )
    w = np.array([0.3, -1.0, 2.0])
    assert problem.value(w, np.zeros((2, 0))) == pytest.approx(together.value(w, np.zeros((1, 0))))


def test_what_least_squares_lack_is_said() -> None:
    """Unbounded slopes leave no b and no noise of mini-batches; a proximal map needs the dense problem."""
    problem = model("squares", batch=2)
    constants = problem.constants()
    assert "huber" in constants["b"].reason
    assert "unbounded" in constants["sigma_u"].reason
    with pytest.raises(InputError, match="no prox oracle"):
        problem.oracle("prox", np.zeros(4), 1.0)
    with pytest.raises(InputError, match="smallest client"):
        model("huber", batch=6)
