"""Engines: the same algorithms as Monte Carlo, by steps or by leaps (`simulate`), or as exact moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ratecheck.aliases import Progress
from ratecheck.engines import setup
from ratecheck.engines.expectation import Expectation
from ratecheck.engines.monte_carlo import leap, step
from ratecheck.engines.types import averages, long_runs, populations
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import whole
from ratecheck.noise import NoiseLaw
from ratecheck.participation import Participation
from ratecheck.problems import Problem

ENGINES = ("step", "leap")


def simulate(
    algorithm: str,
    problem: Problem,
    trace: Participation,
    *,
    K: int | Sequence[int],
    T: int | None = None,
    x0: ArrayLike | None = None,
    y0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    sigma: float | None = None,
    sigma_u: float = 0.0,
    sigma_v: float = 0.0,
    sigma_f: float = 0.0,
    sigma_g: float = 0.0,
    noise: str | NoiseLaw | None = None,
    weights: ArrayLike | None = None,
    records: Sequence[str] | None = None,
    seed: int = 0,
    replicates: int = 1,
    engine: str = "step",
    threads: int | None = None,
    progress: Progress | None = None,
    **step_sizes: ArrayLike,
) -> step.Run:
    """Simulate T rounds of K local steps; `Run.metric` is (replicates, T).

    ``x0`` (d_u,) and ``v0`` (n, d_v) are the start, zeros by default; on bilevel problems ``x0`` (d_x,), ``y0`` (d_y,)
    and ``v0`` (d_y,). ``K`` is one number or one per client. Noise is added to gradients, a sigma being its total,
    E||noise||^2 = sigma^2: ``sigma_u`` and ``sigma_v`` by block, ``sigma`` where the problem has one block only,
    ``sigma_f`` and ``sigma_g`` of the gradients of f_i and g_i on bilevel problems. ``noise`` is its law or the name of
    one, Gaussian by default, see `ratecheck.noise`. ``weights`` are the coefficients
    a_i^(k) of the methods that weigh their local steps, (n,), (K,) or (n, K). ``records`` names what to record: by
    default what the method's theorems are about; also f, gap (f - inf f) and distance2 (to the minimiser).

    ``trace`` reaches over T rounds; a given matrix says T itself. ``engine`` is "step" or, on quadratics, "leap", whose
    cost does not depend on K. Step sizes are keywords, such as gamma_u, gamma_v, eta_u, eta_v. Raises `InputError` for
    unusable input.
    """
    if engine not in ENGINES:
        raise InputError(f"no engine {engine!r} for simulation; {did_you_mean(engine, ENGINES)}")
    replicates, seed = whole("replicates", replicates, 1), whole("seed", seed, 0)
    threads = None if threads is None else whole("threads", threads, 1)
    ready = setup.prepare(
        algorithm, problem, trace, K=K, T=T, x0=x0, y0=y0, v0=v0, weights=weights, records=records,
        noise={"sigma": sigma, "sigma_u": sigma_u, "sigma_v": sigma_v, "sigma_f": sigma_f, "sigma_g": sigma_g},
        step_sizes=step_sizes,
    )  # fmt: skip
    ready = setup.with_law(ready, noise)
    kernel = leap.leaps(ready) if engine == "leap" else None
    return step.simulate(
        ready, kernel=kernel, seed=seed, replicates=replicates, threads=threads, progress=progress
    )  # fmt: skip


def exact(
    algorithm: str,
    problem: Problem,
    trace: Participation,
    *,
    K: int | Sequence[int],
    T: int | None = None,
    x0: ArrayLike | None = None,
    y0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    sigma: float | None = None,
    sigma_u: float = 0.0,
    sigma_v: float = 0.0,
    sigma_f: float = 0.0,
    sigma_g: float = 0.0,
    weights: ArrayLike | None = None,
    records: Sequence[str] | None = None,
    progress: Progress | None = None,
    **step_sizes: ArrayLike,
) -> Expectation:
    """Expectations of what ``simulate`` records, computed instead of sampled; `Expectation.metric` is (T,).

    Arguments as for ``simulate``; on a `problems.Population` ``v0`` has one row per type, and ``K`` may be a list by
    type. Raises `InputError` also where the run is not affine (problem not quadratic).
    """
    ready = setup.prepare(
        algorithm, problem, trace, K=K, T=T, x0=x0, y0=y0, v0=v0, weights=weights, records=records,
        noise={"sigma": sigma, "sigma_u": sigma_u, "sigma_v": sigma_v, "sigma_f": sigma_f, "sigma_g": sigma_g},
        step_sizes=step_sizes,
    )  # fmt: skip
    return populations.expect(ready, progress=progress)


def exact_average(
    algorithm: str,
    problem: Problem,
    trace: Participation,
    *,
    K: int | Sequence[int],
    T: int | None = None,
    x0: ArrayLike | None = None,
    y0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    sigma: float | None = None,
    sigma_u: float = 0.0,
    sigma_v: float = 0.0,
    sigma_f: float = 0.0,
    sigma_g: float = 0.0,
    weights: ArrayLike | None = None,
    records: Sequence[str] | None = None,
    **step_sizes: ArrayLike,
) -> averages.Average:
    """Averages over T rounds of what ``exact`` computes, for any T: the cost grows with log T and log K.

    `Average.metric` is a number. Arguments as for ``simulate``. Every round has to have the same law (uniform sampling,
    constant probabilities, full participation) and the state to be small (at most `averages.LARGEST` second moments),
    or participants are given and repeat (`participation.Periodic`, cyclic participation): see `moments.periodic`.
    """
    ready = setup.prepare(
        algorithm, problem, trace, K=K, T=T, x0=x0, y0=y0, v0=v0, weights=weights, records=records,
        noise={"sigma": sigma, "sigma_u": sigma_u, "sigma_v": sigma_v, "sigma_f": sigma_f, "sigma_g": sigma_g},
        step_sizes=step_sizes,
    )  # fmt: skip
    return long_runs.average(ready)


__all__: list[Any] = ["ENGINES", "exact", "exact_average", "simulate"]
