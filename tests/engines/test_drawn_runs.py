"""Runs that are followed together have the expectations that each has on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ratecheck.aliases import Progress
from ratecheck.engines import setup
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments import drawn, expectation
from ratecheck.engines.moments.coordinates import CoordinateMoments
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import fastest
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


def test_step_sizes_part_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with other step sizes are followed on their own, and all come back in their order."""
    one, other = (_run("fedsum", 0.3, eta_g=0.7, eta_l=size) for size in (0.02, 0.01))
    first, second = _on(one, Uniform(n, 3), 2), _on(other, Uniform(n, 3), 2)
    mixed = [first[0], second[0], first[1], second[1]]
    assert drawn.together(mixed) == [[0, 2], [1, 3]]
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


def test_one_that_overflows() -> None:
    """A run that leaves the range of floats is NaN from there on, and leaves the others as they are."""
    run = _run("fedsum", 0.3, eta_g=1e60, eta_l=1e20)
    nobody = replace(run, trace=drawn_trace(Bernoulli([1e-9] * n), T, 5, 0))
    busy = replace(run, trace=drawn_trace(Uniform(n, 3), T, 5, 0))
    found = drawn.expect([nobody, busy])
    assert np.isfinite(found[0].records["G_u"]).all()
    assert np.isnan(found[1].records["G_u"][-1])
