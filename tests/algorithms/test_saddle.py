"""Methods for min-max problems against a plain NumPy twin, without noise and with it."""

from __future__ import annotations

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.saddle import AlternatingGda
from ratecheck.engines.rigorous.moment_runs import RigorousRun
from ratecheck.errors import InputError
from ratecheck.problems import MinMax

PROBLEM = MinMax.synthetic(n=3, d_x=3, d_y=2, curvature=0.7)
M, C = PROBLEM.operator()
START = np.array([1.0, -0.5, 0.3, 2.0, -1.0])
STEPS = {"extragradient": 2, "alternating-gda": 2, "local-gda": 3}
NAMES = ("gda", "local-gda", "extragradient", "optimistic-gradient", "alternating-gda")
GAMMA, T = 0.3, 20


def _client(name, i, z, ahead, draw):
    """Where client i ends, with the noise of its answers from ``draw``."""

    def F(w):
        return M[i] @ w - C[i] + draw()

    if name == "extragradient":
        return z - GAMMA * F(z - GAMMA * F(z))
    if name == "optimistic-gradient":
        return z - GAMMA * F(ahead)
    if name == "alternating-gda":
        x = z[:3] - GAMMA * F(z)[:3]
        return np.concatenate([x, z[3:] - GAMMA * F(np.concatenate([x, z[3:]]))[3:]])
    for _ in range(STEPS.get(name, 1)):
        z = z - GAMMA * F(z)
    return z


def _twin(name, members, draw):
    """The points of a run in which these take part in every round."""
    z, ahead, points = START, START, []
    for each in members:
        points.append(z)
        after = np.mean([_client(name, i, z, ahead, draw) for i in each], axis=0)
        z, ahead = after, 2 * after - z
    return np.array(points)


def _quantities(points):
    mean, linear = M.mean(axis=0), C.mean(axis=0)
    zero = np.linalg.solve(mean, linear)
    return {
        "G_u": np.sum((points @ mean.T - linear) ** 2, axis=1),
        "B": np.sum((np.einsum("iab,tb->tia", M, points) - C) ** 2, axis=(1, 2)),
        "distance2": np.sum((points - zero) ** 2, axis=1),
    }


def _setting(name, **more):
    local = {"eta_u": 1.0} if name == "local-gda" else {}
    given = {"K": STEPS.get(name, 1), "T": T, "gamma_u": GAMMA, "x0": START, "records": ("G_u", "B", "distance2")}
    return {**given, **local, **more}


@pytest.mark.parametrize("engine", ["exact", "step", "leap"])
@pytest.mark.parametrize("name", NAMES)
def test_every_engine_takes_the_steps_of_the_twin(name, engine):
    """Clients come and go as given; to 12 digits."""
    present = np.random.default_rng(3).random((T, 3)) < 0.6
    present[~present.any(axis=1), 0] = True
    wanted = _quantities(_twin(name, [np.flatnonzero(row) for row in present], lambda: 0.0))
    trace = rc.participation.Trace(present)
    if engine == "exact":
        run = rc.exact(name, PROBLEM, trace, **_setting(name))
    else:
        run = rc.simulate(name, PROBLEM, trace, engine=engine, **_setting(name))
    for quantity, values in wanted.items():
        np.testing.assert_allclose(np.ravel(run.records[quantity]), values, rtol=1e-12, atol=1e-12)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", NAMES)
def test_expectations_with_noise_and_sampling_are_those_of_many_twins(name):
    """Within five standard errors of 3,000 runs; the exact engine's numbers have no other source."""
    rng, runs = np.random.default_rng(5), 3000

    def draw():
        return rng.standard_normal(5) * 0.5 / np.sqrt(5)

    found = [
        _quantities(_twin(name, [rng.choice(3, 2, replace=False) for _ in range(8)], draw))["distance2"]
        for _ in range(runs)
    ]
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(runs)
    run = rc.exact(name, PROBLEM, rc.participation.Trace.uniform(3, 2), **_setting(name, T=8, sigma_u=0.5))
    assert (np.abs(run.records["distance2"] - mean) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_rigorous_run_is_the_exact_one(name):
    """Enclosed in rationals from matrices that are not symmetric, with sampling and noise."""
    trace, setting = rc.participation.Trace.uniform(3, 2), _setting(name, T=5, sigma_u=0.5)
    exact = rc.exact(name, PROBLEM, trace, **setting).records
    sizes = {"gamma_u": GAMMA, **({"eta_u": 1} if name == "local-gda" else {})}
    run = RigorousRun.of(
        METHODS[name], PROBLEM, trace, K=setting["K"], T=5, noise={"sigma_u": 0.5}, step_sizes=sizes,
        start={"x0": START},
    )  # fmt: skip
    for t, found in enumerate(run.rounds(["G_u", "distance2"], 128)):
        for quantity, enclosed in found.items():
            assert float(enclosed.middle) == pytest.approx(exact[quantity][t], rel=1e-9)


def test_optimistic_gradients_are_popovs_points():
    """h+ = h - 2 gamma F(h) + gamma F(h before), without the last term at first."""
    h, before, one = START, 0 * START, MinMax(*(getattr(PROBLEM, name)[:1] for name in "ABCac"))
    setting, alone = _setting("optimistic-gradient", records=("G_u",)), rc.participation.Trace.full(1)
    run = rc.simulate("optimistic-gradient", one, alone, engine="step", **setting)
    # Half of the next point is a step from the last one: z+ = (h+ + z)/2.
    z = START
    for t in range(1, 6):
        F = M[0] @ h - C[0]
        h, before = h - 2 * GAMMA * F + GAMMA * before, F
        z = (h + z) / 2
        assert run.records["G_u"][0, t] == pytest.approx(np.sum((M[0] @ z - C[0]) ** 2))


def test_partial_gradients_need_their_variables():
    """On an ordinary problem there are none; in one line."""
    problem = rc.problems.Quadratic.synthetic(n=2, d=3, shared=3)
    with pytest.raises(InputError, match=r"variables x and y, and a quadratic problem has no x and no y"):
        rc.simulate("alternating-gda", problem, rc.participation.Trace.full(2), K=2, T=3, gamma_u=0.1)


def test_a_purely_bilinear_problem_turns_gda_outwards_and_extragradient_inwards():
    """The squared distance is multiplied by 1 + g^2, and by 1 - g^2 + g^4, in every round."""
    rotation = MinMax([[[0.0]]], [[[1.0]]], [[[0.0]]], [[0.0]], [[0.0]])
    for name, factor in (("gda", 1 + GAMMA**2), ("extragradient", 1 - GAMMA**2 + GAMMA**4)):
        run = rc.exact(name, rotation, rc.participation.Trace.full(1), **_setting(name, x0=[1.0, 0.0], T=9))
        np.testing.assert_allclose(run.records["distance2"], factor ** np.arange(9), rtol=1e-12)


class TwoScales(AlternatingGda):
    """Longer steps in y, by the factor ``ratio``."""

    step_sizes = ("gamma_u", "ratio")

    def step(self, local, gradient, p):
        """Partial gradients, each with a step of its own."""
        return super().step(local, {"x": gradient["x"], "y": p["ratio"] * gradient["y"]}, p)


class Clipped(TwoScales):
    """The same with steps along partial gradients of at most norm 1, which is not linear."""

    linear = False

    def step(self, local, gradient, p):
        """Clipped, every block by itself."""
        short = {name: g / np.maximum(1, np.linalg.norm(g, axis=-1, keepdims=True)) for name, g in gradient.items()}
        return super().step(local, short, p)


@pytest.fixture(name="own")
def _own():
    """The two under names of their own, which are gone afterwards."""
    for each in (TwoScales, Clipped):
        METHODS[each.__name__] = Method(each.__name__, each.__name__, each(), {"K": 2.0})
    yield
    for each in (TwoScales, Clipped):
        del METHODS[each.__name__]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("clipped", [False, True])
def test_a_method_of_ones_own_with_partial_gradients(clipped):
    """Linear ones run on every engine, others on the step engine; both as a plain loop does."""
    ratio, z, points = 2.5, START, []

    def short(g):
        return g / max(1, np.linalg.norm(g)) if clipped else g

    for _ in range(T):
        points.append(z)
        after = []
        for i in range(3):
            x = z[:3] - GAMMA * short((M[i] @ z - C[i])[:3])
            y = z[3:] - GAMMA * ratio * short((M[i] @ np.concatenate([x, z[3:]]) - C[i])[3:])
            after.append(np.concatenate([x, y]))
        z = np.mean(after, axis=0)
    wanted, name = _quantities(np.array(points)), ("TwoScales", "Clipped")[clipped]
    setting = _setting("alternating-gda", ratio=ratio)
    full = rc.participation.Trace.full(3)
    found = [rc.simulate(name, PROBLEM, full, engine="step", **setting)]
    if clipped:
        with pytest.raises(InputError, match="is not linear"):
            rc.exact(name, PROBLEM, full, **setting)
    else:
        found.append(rc.exact(name, PROBLEM, full, **setting))
    for run in found:
        for quantity, values in wanted.items():
            np.testing.assert_allclose(np.ravel(run.records[quantity]), values, rtol=1e-12, atol=1e-12)
