"""Runs that are followed together have the expectations that each has on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ratecheck.aliases import Array, Progress
from ratecheck.engines import setup
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments import drawn, expectation
from ratecheck.engines.moments.affine import AffineRounds
from ratecheck.engines.moments.coordinates import CoordinateMoments
from ratecheck.engines.moments.expectation import Recorder
from ratecheck.engines.moments.moment import Moment
from ratecheck.engines.records import plan
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import fastest
from ratecheck.kernels.moments.drawn import beside
from ratecheck.participation import Bernoulli, Participation, Uniform
from ratecheck.participation.trace import drawn as drawn_trace
from ratecheck.problems import Quadratic

n, d, T = 8, 7, 12


def _run(method: str, sigma: float, **sizes: float) -> Setup:
    rng = np.random.default_rng(3)
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    H = Q @ np.diag(np.linspace(0.2, 1.0, d)) @ Q.T
    problem = Quadratic(np.tile((H + H.T) / 2, (n, 1, 1)), rng.normal(size=(n, d)), shared=d)
    trace = drawn_trace(Uniform(n, 3), T, 0, 0)
    return setup.prepare(method, problem, trace, K=4, T=T, noise={"sigma": sigma}, step_sizes=sizes)


def _on(run: Setup, pattern: Participation, count: int) -> list[Setup]:
    return [replace(run, trace=drawn_trace(pattern, T, 5, r)) for r in range(count)]


def _same(one: Expectation, other: Expectation) -> None:
    assert one.weights == other.weights
    assert one.rate == other.rate
    for name, values in one.records.items():
        wrong = one.errors[name] + other.errors[name]
        assert (np.abs(values - other.records[name]) <= wrong).all(), name
        assert (other.errors[name] <= 1e-9 * (1 + np.abs(values))).all(), name


@pytest.mark.parametrize("method", ["fedsum-b", "fedsum", "fedsum-cr"])
@pytest.mark.parametrize("sigma", [0.0, 0.4])
@pytest.mark.parametrize("pattern", [Uniform(n, 3), Uniform(n, 6), Bernoulli([0.3] * n)], ids=["few", "most", "any"])
def test_followed_together(method: str, sigma: float, pattern: Participation) -> None:
    """Few and most clients, as many in every run or not, with and without delays, beside the whole state."""
    runs = _on(_run(method, sigma, eta_g=0.7, eta_l=0.02), pattern, 5)
    assert drawn.together(runs) == [[0, 1, 2, 3, 4]]
    for run, found in zip(runs, drawn.expect(runs), strict=True):
        _same(expectation.expect(run), found)


@pytest.mark.parametrize(("method", "sizes"), [("fedsum", "eta"), ("fedsum-cr", "eta"), ("fedavg-p", "gamma")])
@pytest.mark.parametrize("sigma", [0.0, 0.4])
def test_bounds_are_those_of_a_run_alone(method: str, sizes: str, sigma: float) -> None:
    """Values and bounds of the kernel beside those of array products, for none, one and two variables of a client."""
    chosen = {"eta_g": 0.7, "eta_l": 0.02} if sizes == "eta" else {"gamma_u": 0.02, "eta_u": 1.0}
    chosen |= {"gamma_v": 0.02, "eta_v": 1.0} if sizes == "gamma" else {}
    runs = _on(_run(method, sigma, **chosen), Uniform(n, 3), 3)
    for run, found in zip(runs, drawn.expect(runs), strict=True):
        alone = expectation.follow(run, CoordinateMoments)
        for name, values in alone.records.items():
            np.testing.assert_allclose(found.records[name], values, rtol=1e-12)
            np.testing.assert_allclose(found.errors[name], alone.errors[name], rtol=1e-9)


def test_neighbours_do_not_matter() -> None:
    """A run has the same digits whatever it is followed with."""
    runs = _on(_run("fedsum-cr", 0.3, eta_g=0.7, eta_l=0.02), Bernoulli([0.4] * n), 6)
    whole = drawn.expect(runs)
    for k, found in zip((4, 2), drawn.expect([runs[4], runs[2]]), strict=True):
        for name, values in found.records.items():
            assert (values == whole[k].records[name]).all()
            assert (found.errors[name] == whole[k].errors[name]).all()


def _with(run: Setup, **sizes: float) -> Setup:
    return replace(run, step_sizes={**run.step_sizes, **sizes})


def _digits(one: Sequence[Expectation], other: Sequence[Expectation]) -> None:
    for each, found in zip(one, other, strict=True):
        for name, values in each.records.items():
            np.testing.assert_array_equal(found.records[name], values, err_msg=name)
            np.testing.assert_array_equal(found.errors[name], each.errors[name], err_msg=name)


@pytest.mark.parametrize("pattern", [Uniform(n, 3), Bernoulli([0.4] * n)], ids=["as many", "any"])
@pytest.mark.parametrize("method", ["fedsum-b", "fedsum", "fedsum-cr"])
def test_step_sizes_are_followed_together(method: str, pattern: Participation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with other step sizes have the digits of runs alone, in their order, and are recorded at once."""
    one = _run(method, 0.3, eta_g=0.7, eta_l=0.02)
    first, second, third = (
        _on(each, pattern, 2) for each in (one, _with(one, eta_l=0.01), _with(one, eta_g=0.4, eta_l=0.03))
    )
    mixed = [first[0], second[0], third[0], second[1], first[1], third[1]]
    assert drawn.together(mixed) == [[0, 4], [1, 3], [2, 5]]
    assert drawn.together(mixed, "step_sizes") == [[*range(6)]]
    record, shapes = Recorder.record, list[tuple[int, ...]]()

    def recorded(self: Recorder, moment: Moment) -> tuple[Array, Array]:
        shapes.append(moment.mean.shape)
        return record(self, moment)

    monkeypatch.setattr(Recorder, "record", recorded)
    found = drawn.expect(mixed)
    assert [shape[0] for shape in shapes] == [6 * T]
    for run, each in zip(mixed, found, strict=True):
        _digits(drawn.expect([run]), [each])
        _same(expectation.expect(run), each)


@pytest.mark.parametrize("limit", ["_STEP_SIZES", "_AT_ONCE", "_KEPT"])
def test_limits_do_not_matter(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Digits are those of runs that are followed one by one, or of which nothing is kept of clients."""
    one = _run("fedsum", 0.3, eta_g=0.7, eta_l=0.02)
    runs = [*_on(one, Bernoulli([0.4] * n), 3), *_on(_with(one, eta_l=0.01), Bernoulli([0.4] * n), 2)]
    whole = drawn.expect(runs)
    monkeypatch.setattr(drawn, limit, 1)
    _digits(whole, drawn.expect(runs))


def test_other_problems_part_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs on other problems are followed on their own, and all come back in their order."""
    one, other = (_run("fedsum", 0.3, eta_g=0.7, eta_l=size) for size in (0.02, 0.01))
    first, second = _on(one, Uniform(n, 3), 2), _on(other, Uniform(n, 3), 2)
    mixed = [first[0], second[0], first[1], second[1]]
    shares: list[float] = []
    followed = drawn.expect
    groups: list[int] = []

    def counted(setups: Sequence[Setup], *, progress: Progress | None = None) -> list[Expectation]:
        groups.append(len(setups))
        return followed(setups, progress=progress)

    monkeypatch.setattr(drawn, "expect", counted)
    for run, found in zip(mixed, fastest.expect_each(mixed, progress=shares.append), strict=True):
        _same(expectation.expect(run), found)
    assert shares == sorted(shares)
    assert groups == [2, 2]


def test_records_of_step_sizes_part_runs() -> None:
    """What is recorded is known by its content: that of other step sizes is the same, that of other records is not."""
    run = _run("fedsum", 0.3, eta_g=0.7, eta_l=0.02)
    own = plan(run).content
    assert plan(_with(run, eta_l=0.01)).content == own
    for records in (run.records[:1], (*run.records, "gap"), (*run.records, "distance2")):
        assert plan(replace(run, records=records)).content != own


@pytest.mark.parametrize("method", ["fedsum", "fedavg-p"])
def test_first_steps_of_clients_at_once(method: str) -> None:
    """The map of a local step of each client, digit by digit, of one block and of two."""
    sizes = {"eta_g": 0.7, "eta_l": 0.02}
    if method == "fedavg-p":
        sizes = {"gamma_u": 0.02, "gamma_v": 0.03, "eta_u": 1.0, "eta_v": 1.0}
    rng = np.random.default_rng(1)
    root = rng.normal(size=(n, d, d))
    shared = d if method == "fedsum" else 3
    problem = Quadratic(root @ root.swapaxes(1, 2), rng.normal(size=(n, d)), shared=shared)
    run = setup.prepare(method, problem, drawn_trace(Uniform(n, 3), T, 0, 0), K=4, T=T, noise={}, step_sizes=sizes)
    rounds = AffineRounds(run)
    assert run.alike
    found = rounds.first_changes(range(n))
    for i, each in enumerate(found):
        for one, other in zip(rounds.local_change(i), each, strict=True):
            np.testing.assert_array_equal(one, other)


def test_one_that_overflows() -> None:
    """A run that leaves the range of floats is NaN from there on, and leaves the others as they are."""
    run = _run("fedsum", 0.3, eta_g=1e60, eta_l=1e20)
    nobody = replace(run, trace=drawn_trace(Bernoulli([1e-9] * n), T, 5, 0))
    busy = replace(run, trace=drawn_trace(Uniform(n, 3), T, 5, 0))
    found = drawn.expect([nobody, busy])
    assert np.isfinite(found[0].records["G_u"]).all()
    assert np.isnan(found[1].records["G_u"][-1])


def test_recorded_entries_say_all() -> None:
    """Quantities are the same of a state of which nothing else is left."""
    run = _run("fedsum", 0.3, eta_g=0.7, eta_l=0.02)
    moments = CoordinateMoments(run)
    *_, last = moments.before_rounds()
    values, errors = moments.recorder().record(last)
    recorder = moments.recorder()
    used = recorder.narrow()
    assert len(used) < moments.size
    vectors = (getattr(last, name)[..., used, :] for name in ("mean", "loose", "rough"))
    matrices = (getattr(last, name)[..., used[:, None], used] for name in ("covariance", "off", "rounding"))
    mean, loose, rough = vectors
    found, wrong = recorder.record(Moment(mean, *matrices, loose, rough))
    np.testing.assert_allclose(found, values, rtol=1e-12)
    np.testing.assert_allclose(wrong, errors, rtol=1e-9)


def test_matrices_beside_one_another() -> None:
    """Row by row, without the constant, and with zeros after them."""
    one, two, three = np.arange(27.0).reshape(3, 1, 3, 3)
    found = beside(one, two, three)
    np.testing.assert_array_equal(found[0, 1, :6], [*one[0, 1, :2], *two[0, 1, :2], *three[0, 1, :2]])
    assert not found[..., 6:].any()
