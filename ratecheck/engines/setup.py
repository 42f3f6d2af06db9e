"""What every engine needs before it can run: checked arguments, the starting point, noise per coordinate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratecheck.algorithms import Method, method
from ratecheck.algorithms.base import LinearMaps, linear_maps
from ratecheck.errors import InputError
from ratecheck.inputs import floats, nonnegative, whole
from ratecheck.participation import Participation, Trace
from ratecheck.problems import Problem

Array = NDArray[np.float64]


# Local steps and rounds are counted in 32 bits of the random streams.
_LARGEST_RUN = 2**31


@dataclass(frozen=True)
class Setup:
    """A run, ready for an engine.

    ``point`` (n, d) holds (u0, v0_i) per client, ``noise`` (d,) the standard deviation per coordinate.
    """

    method: Method
    problem: Problem
    trace: Participation
    T: int
    K: int
    step_sizes: dict[str, float]
    point: Array
    noise: Array

    def maps(self, participants: int, delay: float = 1.0) -> LinearMaps:
        """The algorithm's coefficients for that many participants and, in ``begin``, that delay."""
        settings = {"n": self.problem.n, "m": max(participants, 1), "K": self.K, "delay": delay}
        return linear_maps(self.method.algorithm, {**settings, **self.step_sizes})

    def begin(self) -> tuple[Array, Array]:
        """Coefficients of ``begin`` as (fixed, rate): at a delay they are fixed + rate/delay.

        Raises `TypeError` where they are not of that form: an error of the algorithm's definition.
        """
        fixed = self.maps(1, np.inf).begin
        rate = self.maps(1, 1.0).begin - fixed
        if not np.allclose(self.maps(1, 3.0).begin, fixed + rate / 3.0, rtol=1e-12):
            raise TypeError(f"{self.method.name}: begin is not affine in 1/delay")
        return fixed, rate if self.method.algorithm.uses_delay else np.zeros_like(rate)

    def aggregate(self, participants: int) -> Array:
        """Coefficients of ``aggregate``; a server that averages stays as it is without participants."""
        table = self.maps(participants).aggregate
        if participants or not self.method.algorithm.averages:
            return table
        idle = np.zeros_like(table)
        idle[:, :, : table.shape[1]] = np.eye(table.shape[1])
        return idle


def prepare(
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
    step_sizes: Mapping[str, float],
) -> Setup:
    """Check every argument and put the run together; raises `InputError` with one line for anything unusable."""
    chosen = method(algorithm)
    if T is None and isinstance(trace, Trace):
        T = len(trace.matrix)
    if T is None:
        raise InputError("how many rounds? give T=...")
    K, T = whole("K", K, 1, _LARGEST_RUN), whole("T", T, 1, _LARGEST_RUN)
    if trace.n != problem.n:
        raise InputError(f"the participation pattern is about {trace.n} clients, but the problem has {problem.n}")
    trace.check_rounds(T)
    if chosen.full and trace.rate < 1:
        raise InputError(f"{chosen.name} needs every client in every round: use Trace.full({problem.n})")
    chosen.check_problem(problem.d_u, problem.d_v, K)
    return Setup(
        method=chosen,
        problem=problem,
        trace=trace,
        T=T,
        K=K,
        step_sizes=chosen.resolve(step_sizes),
        point=_start(problem, x0, v0),
        noise=_noise(problem, *_sigmas(problem, sigma, sigma_u, sigma_v)),
    )


def _sigmas(problem: Problem, sigma: float | None, sigma_u: float, sigma_v: float) -> tuple[float, float]:
    if sigma is not None:
        if problem.d_u and problem.d_v:
            raise InputError("sigma is for problems with one block of variables; here give sigma_u and sigma_v")
        sigma_u, sigma_v = (sigma, 0.0) if problem.d_u else (0.0, sigma)
    return nonnegative("sigma_u", sigma_u), nonnegative("sigma_v", sigma_v)


def _noise(problem: Problem, sigma_u: float, sigma_v: float) -> Array:
    """Standard deviation per coordinate: sigma is the total, E||noise||^2 = sigma^2."""
    noise = np.zeros(problem.d)
    noise[: problem.d_u] = sigma_u / math.sqrt(max(problem.d_u, 1))
    noise[problem.d_u :] = sigma_v / math.sqrt(max(problem.d_v, 1))
    return noise


def _start(problem: Problem, x0: ArrayLike | None, v0: ArrayLike | None) -> Array:
    u = np.zeros(problem.d_u) if x0 is None else floats("x0", x0)
    v = np.zeros((problem.n, problem.d_v)) if v0 is None else floats("v0", v0)
    for name, array, shape in (("x0", u, (problem.d_u,)), ("v0", v, (problem.n, problem.d_v))):
        if array.shape != shape:
            raise InputError(f"{name} has the shape {array.shape}, the problem needs {shape}")
        if not np.isfinite(array).all():
            entry = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"{name}{list(entry)} is {array[entry]}: every entry has to be a finite number")
    return np.ascontiguousarray(np.concatenate([np.broadcast_to(u, (problem.n, problem.d_u)), v], axis=1))
