"""Engines: the same algorithms as Monte Carlo, by steps or by leaps (`simulate`), or as exact moments."""

from __future__ import annotations

from typing import Any

from ratecheck.aliases import Progress
from ratecheck.engines import setup
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.monte_carlo import leap, stepwise
from ratecheck.engines.request import RunRequest, takes_runs
from ratecheck.engines.types import averages, fastest, long_runs
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import whole
from ratecheck.noise import NoiseLaw
from ratecheck.participation import Participation
from ratecheck.problems import Problem

ENGINES = ("step", "leap")


@takes_runs
def simulate(
    algorithm: str,
    problem: Problem,
    trace: Participation,
    *,
    noise: str | NoiseLaw | None = None,
    seed: int = 0,
    replicates: int = 1,
    engine: str = "step",
    threads: int | None = None,
    progress: Progress | None = None,
    **given: Any,
) -> stepwise.Run:
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
    ready = setup.with_law(setup.ready(RunRequest.of(algorithm, problem, trace, given)), noise)
    kernel = leap.leaps(ready) if engine == "leap" else None
    return stepwise.simulate(ready, kernel=kernel, seed=seed, replicates=replicates, threads=threads, progress=progress)


@takes_runs
def exact(
    algorithm: str, problem: Problem, trace: Participation, *, progress: Progress | None = None, **given: Any
) -> Expectation:
    """Expectations of what ``simulate`` records, computed instead of sampled; `Expectation.metric` is (T,).

    Arguments as for ``simulate``; on a `problems.Population` ``v0`` has one row per type, and ``K`` may be a list by
    type. Raises `InputError` also where the run is not affine (problem not quadratic).
    """
    return fastest.expect(setup.ready(RunRequest.of(algorithm, problem, trace, given)), progress=progress)


@takes_runs
def exact_average(algorithm: str, problem: Problem, trace: Participation, **given: Any) -> averages.Average:
    """Averages over T rounds of what ``exact`` computes, for any T: the cost grows with log T and log K.

    `Average.metric` is a number. Arguments as for ``simulate``. Every round has to have the same law (uniform sampling,
    constant probabilities, full participation) and the state to be small (at most `averages.LARGEST` second moments),
    or participants are given and repeat (`participation.Periodic`, cyclic participation): see `moments.periodic`.
    """
    return long_runs.average(setup.ready(RunRequest.of(algorithm, problem, trace, given)))


__all__: list[Any] = ["ENGINES", "exact", "exact_average", "simulate"]
