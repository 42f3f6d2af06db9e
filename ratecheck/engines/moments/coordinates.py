"""Exact moments of clients with one Hessian, whose eigenvectors are the coordinates: each is a run of its own.

A linear method with one block of variables acts on every coordinate alike. In the basis of the eigenvectors of a common
Hessian, and with noise of one size, coordinates have nothing to do with one another, and a quantity is the sum of those
of d runs on a line: their moments are stacked (see `Moment`), d times (n + 1)^2 entries in place of d^2 (n + 1)^2.

Hessian, slopes and start are known in that basis up to rounding. What that adds to a coordinate is at most a share of
all of them, which is what `Moment.roots` are of a stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.moments.exact import Moments, client_by_client
from ratecheck.engines.moments.moment import EPS, Moment
from ratecheck.engines.moments.roundmap import KeptRound, Noise, RoundMap, kept
from ratecheck.engines.setup import Setup

# Eigenvalues closer to 0 than that share of the largest may be rounding.
_SINGULAR = 1e-8


def moments(setup: Setup) -> Moments:
    """The recursion of a run that was checked: by coordinates where these are independent."""
    return CoordinateMoments(setup) if applies(setup) else client_by_client(setup)


def applies(setup: Setup) -> bool:
    """Whether participants are given, and a linear method meets one Hessian and noise of one size."""
    quadratic, algorithm = setup.problem.quadratic, setup.algorithm
    if quadratic is None or quadratic.d < 2 or setup.problem.multiplicities is not None:
        return False
    if not algorithm.tabled or algorithm.measures or algorithm.mixed or algorithm.varying or algorithm.projects:
        return False
    if algorithm.record_oracle != "gradient" or algorithm.coin is not None:
        return False
    given = setup.trace.deterministic and not setup.compression and not setup.law.relative
    one_block = sum(size > 0 for size in setup.sizes.values()) == 1
    if not (given and one_block and (setup.noise == setup.noise[0]).all() and (quadratic.H[0] == quadratic.H).all()):
        return False
    values = np.abs(np.linalg.eigvalsh(quadratic.H[0]))
    return bool(_SINGULAR * values.max() < values.min())


def _on_lines(setup: Setup, vectors: Array) -> list[Setup]:
    """The runs on every coordinate in the basis of the eigenvectors of the Hessian."""
    quadratic = setup.problem.quadratic
    assert quadratic is not None
    return [
        replace(setup, problem=quadratic.on_line(v), point=(setup.point @ v)[:, None], noise=setup.noise[:1])
        for v in vectors.T
    ]


class CoordinateMoments(Moments):
    """The recursion of all coordinates at once: see the module."""

    def __init__(self, setup: Setup) -> None:
        quadratic = setup.problem.quadratic
        assert quadratic is not None
        _, vectors = np.linalg.eigh(quadratic.H[0])
        self._lines = [Moments(line) for line in _on_lines(setup, vectors)]
        super().__init__(self._lines[0].setup)
        self._bear(setup, vectors)
        M, c = (np.stack(each, axis=1) for each in zip(*(line.measured for line in self._lines), strict=True))
        self.measured = M, c

    def _bear(self, setup: Setup, vectors: Array) -> None:
        """Let every coordinate bear in full, in norm, by how much the oracle is not what coordinates say."""
        d = len(self._lines)
        (M, c), known = setup.operator(setup.algorithm.oracle), setup.operator_error(setup.algorithm.oracle)
        m = np.stack([line.rounds_of.M[:, 0, 0] for line in self._lines], axis=1)
        shift = np.stack([line.rounds_of.c[:, 0] for line in self._lines], axis=1)
        unit = 4 * float(np.linalg.norm(vectors.T @ vectors - np.eye(d))) + 8 * d * EPS

        def largest(apart: Array, wrong: Array, whole: Array) -> float:
            norms = (
                np.linalg.norm(one) + np.linalg.norm(off) + unit * np.linalg.norm(exact)
                for one, off, exact in zip(apart, wrong, whole, strict=True)
            )
            return float(max(norms))

        off = largest(M @ vectors - vectors * m[:, None], known[0], M)
        steep = largest(c - shift @ vectors.T, known[1], c)
        for line in self._lines:
            rounds = line.rounds_of
            rounds.M_error, rounds.c_error = rounds.M_error + off, rounds.c_error + steep

    @property
    def parts(self) -> Sequence[Moments]:
        """See `Moments.parts`."""
        return self._lines

    def start(self) -> Moment:
        """See `Moments.start`; a start is rounded as that of all coordinates."""
        found = [line.start() for line in self._lines]
        mean, loose, rough = (
            np.stack([getattr(each, name) for each in found])[..., None] for name in ("mean", "loose", "rough")
        )
        covariance, rounding = (
            np.stack([getattr(each, name) for each in found]) for name in ("covariance", "rounding")
        )
        off = len(found) ** 2 * np.sum([each.off for each in found], axis=0)
        return Moment(mean, covariance, np.broadcast_to(off, covariance.shape), rounding, loose, rough)

    def _increment(self, i: int, delay: float, to_server: Array) -> tuple[Array, Array, Noise]:
        B, error, noise = zip(*(line.increment(i, delay, to_server) for line in self._lines), strict=True)
        off, rough = (np.stack([getattr(each, name) for each in noise])[..., None] for name in ("off", "rough"))
        return np.stack(B), np.stack(error), Noise(np.stack([each.covariance for each in noise]), off, rough)

    def _given(self, members: NDArray[np.intp], delays: NDArray[np.intp]) -> RoundMap:
        keep, to_server = self.rounds_of.aggregate(len(members))
        servers, d = np.arange(self.server), len(self._lines)
        at = np.concatenate([servers, *(self.outputs(i)[self.server :] for i in members)])
        used = np.append(at, self.size - 1)
        A_0 = np.eye(len(at), len(used))
        A_0[: len(servers), : len(servers)] = keep[: len(servers), : len(servers)]
        B, error, covariance = (np.zeros((d, len(at), size)) for size in (len(used), len(used), len(at)))
        off, rough = (np.zeros((d, self.size, 1)) for _ in range(2))
        for k, (i, delay) in enumerate(zip(members, delays, strict=True)):
            # Server, the client and the constant among what is used.
            columns = np.concatenate([servers, len(servers) + self.client * k + np.arange(self.client), [len(at)]])
            rows, own = columns[:-1, None], self.outputs(int(i))
            added, wrong, noise = self.increment(int(i), float(delay), to_server)
            B[:, rows, columns] += added
            error[:, rows, columns] += wrong
            covariance[:, rows, columns[:-1]] += noise.covariance
            off[:, own], rough[:, own] = np.hypot(off[:, own], noise.off), np.hypot(rough[:, own], noise.rough)
        error += 4 * np.abs(A_0) * ~kept(A_0[:, :-1])[:, None] + (self.distinct + 4) * np.abs(B)
        found = RoundMap(A_0 + B, error, np.abs(A_0) + np.abs(B), Noise(covariance, off, rough))
        return KeptRound(at, used, self.size, found)

    def slope_rows(self, i: int) -> Array:
        """See `Moments.slope_rows`, of all coordinates."""
        return np.stack([line.slope_rows(i) for line in self._lines])

    def point_rows(self, i: int) -> Array:
        """See `Moments.point_rows`, of all coordinates."""
        return np.stack([line.point_rows(i) for line in self._lines])

    def variable_rows(self, name: str, i: int) -> Array:
        """See `Moments.variable_rows`, of all coordinates."""
        return np.stack([line.variable_rows(name, i) for line in self._lines])
