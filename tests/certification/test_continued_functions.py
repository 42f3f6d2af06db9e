"""Quadratics that continue otherwise beyond the box of a run, against the continued functions themselves."""

from __future__ import annotations

import numpy as np
import pytest

from ratecheck.certification.continued_functions import Continued
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.engines.monte_carlo.visits import box, visits
from ratecheck.errors import InputError
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

pytestmark = pytest.mark.quick

N, D_U, D_V, T = 3, 2, 1, 6


def a_run(method, seed, matrix=None):
    """A run of random diagonal quadratics, with everybody in every round by default."""
    rng = np.random.default_rng(seed)
    d = D_U + D_V
    H, g = np.zeros((N, d, d)), rng.normal(size=(N, d))
    H[:, range(d), range(d)] = rng.uniform(-1.0, 1.0, (N, d))
    step_sizes = {"gamma_u": rng.choice([0.1, 1.5, 2.5]), "gamma_v": 0.3, "eta_u": 1.0, "eta_v": 1.0}
    trace = Trace(np.ones((T, N), dtype=bool) if matrix is None else matrix)
    return prepared(method, Quadratic(H, g, D_U), trace, int(rng.integers(1, 8)), step_sizes)


def prepared(method, problem, trace, K, step_sizes, **noise):
    """A run of as many rounds as the trace has."""
    return setup.prepare(method, problem, trace, K=K, T=len(trace.matrix), step_sizes=step_sizes, noise=noise)


@pytest.mark.parametrize("method", ["fedavg-p", "scaffold-p"])
@pytest.mark.parametrize("seed", range(8))
def test_box_holds_every_visit(method, seed):
    """In closed form as by following every local step and the models after the last round, with some clients away."""
    matrix = np.random.default_rng(seed).random((T, N)) < 0.6
    matrix[0] = True
    run = a_run(method, seed, matrix if seed % 2 else None)
    longer = Trace(np.vstack([run.trace.matrix, np.ones((1, N), dtype=bool)]))
    longer = prepared(method, run.problem, longer, run.K, run.step_sizes)
    points = np.concatenate([visit.points[..., 0] for visit in visits(longer) if visit.t < T or visit.k == 0])
    np.testing.assert_allclose(box(run), [points.min(axis=0), points.max(axis=0)], rtol=1e-9, atol=1e-12)


class Piecewise:
    """The clients' continued gradients, written down from the definition."""

    def __init__(self, found):
        self.found, self.L = found, np.abs(found.curvature)
        shared = found.curvature[:, :D_U]
        mean = np.broadcast_to(shared.mean(axis=0), shared.shape)
        own = found.curvature[:, D_U:]
        # Beyond the box: the mean where it is positive, else the largest of the block.
        on_u = np.where(mean > 0, mean, self.L[:, :D_U].max())
        self.beyond = np.hstack([on_u, np.where(own > 0, own, self.L[:, D_U:].max())])

    def gradients(self, x):
        """Of every client at x (..., n, d)."""
        inside = np.clip(x, *self.found.box)
        return self.found.curvature * inside - self.found.slope + self.beyond * (x - inside)


def fedavg(gradients, run):
    """Plain FedAvg-P with everybody in every round: its models, one entry a round."""
    sizes = run.step_sizes
    gamma = np.r_[np.full(D_U, sizes["gamma_u"]), np.full(D_V, sizes["gamma_v"])]
    x, models = run.point.copy(), []
    for _ in range(run.T + 1):
        models.append(x)
        y = x.copy()
        for _ in range(run.K):
            y = y - gamma * gradients(y)
        y[:, :D_U] = y[:, :D_U].mean(axis=0)
        x = y
    return np.array(models)


@pytest.mark.parametrize("seed", range(12))
def test_continued_functions_have_the_constants_and_the_run(seed):
    """On a grid: the same run, no larger L, a dissimilarity of at most b, and f - inf f as large as F_0."""
    run = a_run("fedavg-p", seed)
    found = Continued.of(run)
    assert found is not None
    functions = Piecewise(found)
    quadratic = fedavg(lambda y: found.curvature * y - found.slope, run)
    np.testing.assert_allclose(fedavg(functions.gradients, run), quadratic, rtol=1e-9, atol=1e-12)
    gaps, apart = 0.0, 0.0
    for c in range(D_U + D_V):
        line = grid(functions, run, c)
        at = functions.gradients(np.broadcast_to(line[:, None, None], (len(line), N, D_U + D_V)))[..., c]
        assert (np.abs(np.diff(at, axis=0)) <= (1 + 1e-9) * functions.L.max() * np.diff(line)[:, None] + 1e-12).all()
        if c < D_U:
            apart += float(np.mean((at - at.mean(axis=1, keepdims=True)) ** 2, axis=1).max())
            at = at.mean(axis=1, keepdims=True)
        for i in range(at.shape[1]):
            # f by the trapezoidal rule, which is exact on lines; the grid has the points where f' is 0.
            steps = np.diff(line) * (at[1:, i] + at[:-1, i]) / 2
            begun = np.searchsorted(line, run.point[i, c])
            lowest = min(0.0, np.cumsum(steps[begun:]).min(), -np.cumsum(steps[:begun][::-1]).max())
            gaps -= lowest / at.shape[1]
    assert apart == pytest.approx(found.dissimilarity2, rel=1e-9)
    assert gaps == pytest.approx(found.gap, rel=1e-6)


def grid(functions, run, c):
    """Ends of the box, starts, points between and far beyond, and those where the gradient of f or of a client is 0."""
    low, high = functions.found.box[:, c]
    far = 10 * (np.abs(functions.found.slope).max() + abs(low) + abs(high)) / functions.beyond[:, c].min()
    line = np.unique(np.r_[np.linspace(low - far, high + far, 501), low, high, run.point[:, c]])
    at = functions.gradients(np.broadcast_to(line[:, None, None], (len(line), N, D_U + D_V)))[..., c]
    roots = []
    for one in (*at.T, at.mean(axis=1)):
        k = np.flatnonzero(one[:-1] * one[1:] < 0)
        roots.append(line[k] - one[k] * (line[k + 1] - line[k]) / (one[k + 1] - one[k]))
    return np.unique(np.concatenate([line, *roots]))


def test_points_at_which_quantities_are_recorded_are_in_the_box():
    """FedADMM's clients begin at models of their own, and its gradients are recorded at the server's."""
    problem = Quadratic(np.array([0.0, 1.0])[:, None, None], np.ones((2, 1)), 1)
    trace = Trace(np.ones((3, 2), dtype=bool))
    run = prepared("fedadmm", problem, trace, 1, {"eta_g": 30.0, "eta_l": 0.3, "rho": 0.5})
    found = Continued.of(run)
    assert found is not None
    # 0 - 1 and x - 1 are as far apart as x, of which B and G_u tell the square.
    records = stepwise.simulate(run).records
    apart = records["B"] / 2 - records["G_u"]
    assert found.dissimilarity2 >= apart.max() > 0


def test_no_continuation_where_nothing_is_known():
    """Not for random runs, for Hessians that are not diagonal, and for linear functions, which have no L."""
    run = a_run("fedavg-p", 0)
    assert Continued.of(prepared("fedavg-p", run.problem, run.trace, 2, run.step_sizes, sigma_u=0.1)) is None
    turned = prepared("fedavg-p", Quadratic(np.full((N, 2, 2), 0.5), np.ones((N, 2)), 2), run.trace, 2, run.step_sizes)
    assert Continued.of(turned) is None
    # A proximal step looks further than its centre, and some sums look beyond the last round.
    alone = Quadratic(-np.ones((1, 1, 1)), np.ones((1, 1)), 1)
    proximal = prepared(
        "pfedme", alone, Trace(np.ones((2, 1), dtype=bool)), 1, {"eta": 0.1, "lambda_": 2.0, "beta": 1.0}
    )
    assert Continued.of(proximal) is None
    assert Continued.of(run, ["G_u"]) is not None
    assert Continued.of(run, ["total_T:change:B"]) is None
    with pytest.raises(InputError, match="diagonal"):
        box(turned)
    linear = Quadratic(np.zeros((N, 1, 1)), np.ones((N, 1)), 1)
    found = Continued.of(prepared("fedavg-p", linear, run.trace, 2, run.step_sizes))
    assert found is not None
    assert found.gap == np.inf


@pytest.mark.parametrize("seed", range(6))
def test_proximal_steps_lead_where_they_led(seed):
    """With kinks at the ends of the box, by minimising on a grid; f is least at an end, at the distance F_0."""
    rng, steps, rounds = np.random.default_rng(seed), 2.0, 3
    h, g = rng.uniform(-1.0, 0.2, N), rng.normal(size=N)
    problem = Quadratic(h[:, None, None], g[:, None], 1)
    run = prepared("proximal-point", problem, Trace(np.ones((rounds, N), dtype=bool)), 1, {"lambda_": steps})
    found = Continued.of(run, steep=True)
    assert found is not None
    low, high = found.box[:, 0]
    grid = np.linspace(low - 1, high + 1, 400_001)

    def values(x):
        """Of every client at points (k,)."""
        inside = np.clip(x, low, high)
        return h[:, None] * inside**2 / 2 - g[:, None] * inside + 1e3 * np.abs(x - inside)

    x = 0.0
    for _ in range(rounds):
        reached = grid[np.argmin(values(grid) + steps / 2 * (grid - x) ** 2, axis=1)]
        np.testing.assert_allclose(reached, (steps * x + g) / (steps + h), atol=2e-5)
        assert (low - 1e-12 <= (steps * x + g) / (steps + h)).all()
        assert ((steps * x + g) / (steps + h) <= high + 1e-12).all()
        x = float(np.mean((steps * x + g) / (steps + h)))
    if h.mean() <= 0:
        np.testing.assert_allclose(values(np.zeros(1)).mean() - values(grid).mean(axis=0).min(), found.gap, atol=1e-4)
