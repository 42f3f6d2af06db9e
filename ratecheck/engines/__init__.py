"""Engines: the same algorithms as Monte Carlo, by steps or by leaps (`run_steps`), or as exact moments."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ratecheck.engines import exact, leap, setup, step
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import whole
from ratecheck.participation import Participation
from ratecheck.problems import Problem

ENGINES = ("step", "leap")


def run_steps(
    algorithm: str,
    problem: Problem,
    trace: Participation,
    *,
    K: int,
    T: int | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    sigma: float | None = None,
    sigma_u: float = 0.0,
    sigma_v: float = 0.0,
    seed: int = 0,
    replicates: int = 1,
    engine: str = "step",
    threads: int | None = None,
    progress: step.Progress | None = None,
    **step_sizes: float,
) -> step.Run:
    """Simulate T rounds of K local steps; `Run.metric` is (replicates, T).

    ``x0`` (d_u,) and ``v0`` (n, d_v) are the start, zeros by default. ``sigma_u``, ``sigma_v`` are the total noise of
    each block, E||noise||^2 = sigma^2; ``sigma`` serves where the problem has one block only. ``trace`` reaches over T
    rounds; a given matrix says T itself. ``engine`` is "step" or, on quadratics, "leap", whose cost does not depend on
    K. Step sizes are keywords, such as gamma_u, gamma_v, eta_u, eta_v. Raises `InputError` for unusable input.
    """
    if engine not in ENGINES:
        raise InputError(f"no engine {engine!r} for simulation; {did_you_mean(engine, ENGINES)}")
    replicates = whole("replicates", replicates, 1)
    threads = None if threads is None else whole("threads", threads, 1)
    ready = setup.prepare(
        algorithm, problem, trace, K=K, T=T, x0=x0, v0=v0,
        sigma=sigma, sigma_u=sigma_u, sigma_v=sigma_v, step_sizes=step_sizes,
    )  # fmt: skip
    kernel = leap.LeapKernel(ready) if engine == "leap" else None
    return step.simulate(
        ready, kernel=kernel, seed=seed, replicates=replicates, threads=threads, progress=progress
    )  # fmt: skip


def exact_moments(
    algorithm: str,
    problem: Problem,
    trace: Participation,
    *,
    K: int,
    T: int | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    sigma: float | None = None,
    sigma_u: float = 0.0,
    sigma_v: float = 0.0,
    progress: step.Progress | None = None,
    **step_sizes: float,
) -> exact.Expectation:
    """Expectations of what ``simulate`` records, computed instead of sampled; `Expectation.metric` is (T,).

    Arguments as for ``simulate``. Raises `InputError` also where the run is not affine (problem not quadratic).
    """
    ready = setup.prepare(
        algorithm, problem, trace, K=K, T=T, x0=x0, v0=v0,
        sigma=sigma, sigma_u=sigma_u, sigma_v=sigma_v, step_sizes=step_sizes,
    )  # fmt: skip
    return exact.expect(ready, progress=progress)


__all__: list[Any] = ["ENGINES", "exact_moments", "run_steps"]
