"""Runs by the coordinates in which a common Hessian is diagonal, beside the same runs on the whole state."""

from __future__ import annotations

import numpy as np
import pytest

from ratecheck.engines import setup
from ratecheck.engines.moments import coordinates, quantities
from ratecheck.engines.moments.coordinates import CoordinateMoments
from ratecheck.engines.moments.expectation import Moments
from ratecheck.engines.moments.moment import sandwich
from ratecheck.engines.setup import Setup
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

FEDSUM = ("mean_staleness2", "gradients2", "noise2", "noise_inner", "step:x", "step:h", "change:f", "G_u", "gap")
STEPS = {"eta_g": 0.5, "eta_l": 0.1}


def _setup(method: str, *, sigma: float = 0.0, d: int = 3, curvature: float = 0.0, **given: object) -> Setup:
    problem = Quadratic.synthetic(n=4, d=d, shared=d, seed=1, curvature=curvature)
    taking = np.random.default_rng(0).random((6, 4)) < 0.6
    taking[2] = False
    noise = {"sigma": sigma} if sigma else None
    return setup.prepare(method, problem, Trace(taking), K=3, T=6, noise=noise, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("sigma", [0.0, 0.3])
@pytest.mark.parametrize(
    ("method", "names", "given"),
    [
        ("fedsum-b", FEDSUM, {"step_sizes": STEPS, "records": ("G_u", "G_v", "gap", "distance2")}),
        ("fedsum-cr", FEDSUM, {"step_sizes": STEPS, "records": ("G_u", "G_v", "gap", "distance2")}),
        ("fedsum", ("total_T:mean_gradients2", "windows:step:x"), {"step_sizes": STEPS}),
        ("fedsum", ("participant:step:h",), {"step_sizes": STEPS}),
    ],
)
def test_coordinates_say_what_the_whole_state_says(
    method: str, names: tuple[str, ...], given: dict[str, object], sigma: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quantities of rounds, participants and sums, up to the rounding of both."""
    run = _setup(method, sigma=sigma, **given)
    assert isinstance(coordinates.moments(run), CoordinateMoments)
    found = quantities.expect(run, names)
    monkeypatch.setattr(coordinates, "applies", lambda _: False)
    whole = quantities.expect(run, names)
    for name, values in whole.records.items():
        apart = np.abs(found.records[name] - values)
        assert (apart <= found.errors[name] + whole.errors[name]).all(), name
        assert apart.max() <= 1e-11 * max(np.abs(values).max(), 1e-2), name
        assert (found.errors[name] <= 100 * whole.errors[name].max()).all(), name


def test_coordinates_bear_the_rounding_of_their_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    """An oracle that coordinates say wrongly is an error of all that is found."""
    run = _setup("fedsum", step_sizes=STEPS)
    exactly = quantities.expect(run, ["G_u"])
    on_lines = coordinates._on_lines

    def wrongly(run: Setup, vectors: np.ndarray) -> list[Setup]:
        turned = vectors.copy()
        turned[:, 0] += 1e-9 * vectors[:, 1]
        return on_lines(run, turned)

    monkeypatch.setattr(coordinates, "_on_lines", wrongly)
    found = quantities.expect(run, ["G_u"])
    apart = np.abs(found.records["G_u"] - exactly.records["G_u"])[1:]
    assert (apart > exactly.errors["G_u"][1:]).all()
    assert (apart <= found.errors["G_u"][1:]).all()


@pytest.mark.parametrize("given", [{"curvature": 1.0}, {"d": 1}])
def test_the_whole_state_is_followed_where_coordinates_are_coupled(given: dict[str, float]) -> None:
    """Different Hessians, and a single coordinate."""
    run = _setup("fedsum", step_sizes=STEPS, **given)  # type: ignore[arg-type]
    assert type(coordinates.moments(run)) is Moments


@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_a_moment_is_used_up_by_whom_it_is_left_to(sigma: float) -> None:
    """`carry` says what `advance` says, which leaves what was there, twice over."""
    moments = CoordinateMoments(_setup("fedsum-cr", sigma=sigma, step_sizes=STEPS))
    moment = moments.start()
    for t in range(5):
        round_map = moments.round_map(t)
        before = [each.copy() for each in (moment.mean, moment.covariance, moment.off, moment.rounding)]
        after, again = round_map.advance(moment), round_map.advance(moment)
        for old, new in zip(before, (moment.mean, moment.covariance, moment.off, moment.rounding), strict=True):
            np.testing.assert_array_equal(new, old)
        moment = round_map.carry(moment)
        for name in ("mean", "covariance", "off", "rounding"):
            np.testing.assert_array_equal(getattr(after, name), getattr(again, name))
            np.testing.assert_array_equal(getattr(moment, name), getattr(after, name))


@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_a_round_is_that_of_its_map_on_the_whole_state(sigma: float) -> None:
    """C' = A C A' + N, with what participants add on every line by itself, whoever takes part."""
    moments = CoordinateMoments(_setup("fedsum-cr", sigma=sigma, step_sizes=STEPS))
    lines = [Moments(line.setup, line.rounds_of) for line in moments.parts]
    moment = moments.start()
    for t in range(5):
        round_map, maps = moments.round_map(t), [line.round_map(t) for line in lines]
        after = round_map.advance(moment)
        for k, one in enumerate(maps):
            if not round_map.idle:
                at, used = round_map.moving, [*round_map.moving, moments.size - 1]
                for name in ("mean", "error", "terms"):
                    found, whole = getattr(round_map, name)[k], getattr(one, name)[np.ix_(at, used)]
                    np.testing.assert_allclose(found, whole, rtol=1e-12, atol=1e-14)
            expected = one.mean @ moment.covariance[k] @ one.mean.T + one.noise.covariance
            np.testing.assert_allclose(after.covariance[k], expected, rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(after.mean[k], one.mean @ moment.mean[k], rtol=1e-12, atol=1e-15)
            np.testing.assert_array_equal(after.covariance[k], after.covariance[k].T)
        moment = after


@pytest.mark.parametrize("rows", [1, 3, 6])
def test_forms_of_a_stack_are_those_of_its_parts(rows: int) -> None:
    """Of few rows, some of whose entries are 0, by one half of each matrix."""
    rng = np.random.default_rng(0)
    maps, roots = rng.normal(size=(2, rows, 9)) * (rng.random((2, rows, 9)) < 0.6), rng.normal(size=(2, 9, 9))
    matrices = roots @ roots.swapaxes(1, 2)
    np.testing.assert_allclose(sandwich(maps, matrices), maps @ matrices @ maps.swapaxes(1, 2), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("method", ["fedsum", "fedsum-cr"])
def test_what_clients_add_is_found_together_as_one_by_one(method: str) -> None:
    """Of clients with their delays, each on every line by itself."""
    moments = CoordinateMoments(_setup(method, sigma=0.3, step_sizes=STEPS))
    _, to_server = moments.rounds_of.aggregate(3)
    members = [(0, 1.0), (3, 2.0), (1, 5.0)]
    for (i, delay), (B, error, noise) in zip(members, moments._find(members, to_server), strict=True):
        for k, line in enumerate(moments.parts):
            one, wrong, own = line.increment(i, delay, to_server)
            np.testing.assert_allclose(B[k], one, rtol=1e-13, atol=1e-15)
            np.testing.assert_allclose(error[k], wrong, rtol=1e-12)
            np.testing.assert_allclose(noise.covariance[k], own.covariance, rtol=1e-13, atol=1e-18)
            np.testing.assert_allclose(noise.off[k, :, 0], own.off, rtol=1e-12)
            np.testing.assert_allclose(noise.rough[k, :, 0], own.rough, rtol=1e-12)


def test_gradients_that_were_taken_are_kept_where_their_noise_is_spoken_of() -> None:
    """What is said of iterates alone needs fewer variables, and is the same."""
    run = _setup("fedsum", sigma=0.3, step_sizes=STEPS)
    fewer = quantities._Followed(run, {"gradients2", "staleness2"}, single=False, last=False)
    more = quantities._Followed(run, {"gradients2", "staleness2", "noise2"}, single=False, last=False)
    assert fewer._moments.size == more._moments.size - 4
    found, every = fewer.run(None), more.run(None)
    for name in ("gradients2", "staleness2"):
        np.testing.assert_allclose(found.records[name], every.records[name], rtol=1e-12, atol=1e-14)
