"""Exact moments of clients with one Hessian, whose eigenvectors are the coordinates: each is a run of its own.

A linear method with one block of variables acts on every coordinate alike. In the basis of the eigenvectors of a common
Hessian, and with noise of one size, coordinates have nothing to do with one another, and a quantity is the sum of those
of d runs on a line: their moments are stacked (see `Moment`), d times (n + 1)^2 entries in place of d^2 (n + 1)^2.

Hessian, slopes and start are known in that basis up to rounding. What that adds to a coordinate is at most a share of
all of them, which is what `Moment.roots` are of a stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.moments.affine import AffineRounds, ClientRound
from ratecheck.engines.moments.expectation import KEPT_INCREMENTS, Moments, client_by_client
from ratecheck.engines.moments.moment import EPS, Moment
from ratecheck.engines.moments.roundmap import KeptRound, Noise, RoundMap
from ratecheck.engines.setup import Setup
from ratecheck.kernels.moments.kept import join_added

# What so many clients add in later rounds is found with what is needed.
_AHEAD = 128
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


class StackedRounds(AffineRounds):
    """Affine maps of all clients on every coordinate, as stacks: coefficients are the same."""

    def __init__(self, lines: Sequence[Moments]) -> None:
        super().__init__(lines[0].setup, lines[0].rounds_of.tables)
        self._lines = lines

    @cached_property
    def firsts(self) -> list[int]:
        """Every client itself: the run on one coordinate does not know the others."""
        return [*range(self.setup.problem.distinct)]

    @cached_property
    def all_steps(self) -> tuple[Array, Array, Array, Array, Array]:
        change, noise, error, off, rough = (
            np.stack(parts, axis=1) for parts in zip(*(line.rounds_of.all_steps for line in self._lines), strict=True)
        )
        return change, noise, error, off, rough

    @property
    def shared(self) -> bool:
        """Whether clients have the same coefficients."""
        return self._alike

    def client_rounds(self, members: Sequence[tuple[int, float]]) -> ClientRound:
        """The rounds of clients with their delays, (clients, coordinates, ...), where coefficients are ``shared``."""
        begun, tables = zip(*(self._tables_of(*each) for each in members), strict=True)
        parts = [
            (part[0][0], *(np.stack([each[k] for each in part])[:, None] for k in (1, 2)))
            for part in zip(*tables, strict=True)
        ]
        at = [i for i, _ in members]
        return self._whole([part[at] for part in self.all_steps], (np.stack(begun)[:, None], parts))


class CoordinateMoments(Moments):
    """The recursion of all coordinates at once: see the module."""

    def __init__(self, setup: Setup) -> None:
        quadratic = setup.problem.quadratic
        assert quadratic is not None
        _, vectors = np.linalg.eigh(quadratic.H[0])
        first, *others = _on_lines(setup, vectors)
        super().__init__(first)
        # Coefficients do not depend on the coordinate.
        tables = self.rounds_of.tables
        self._lines = [Moments(first, self.rounds_of), *(Moments(line, AffineRounds(line, tables)) for line in others)]
        self.rounds_of: StackedRounds = StackedRounds(self._lines)
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
        return Moment(mean, covariance, np.tile(off, (len(found), 1, 1)), rounding, loose, rough)

    def _added_by(self, i: int, part: ClientRound, to_server: Array) -> tuple[Array, Array, Noise]:
        B, error, noise = super()._added_by(i, part, to_server)
        return B, error, Noise(noise.covariance, noise.off[..., None], noise.rough[..., None])

    @cached_property
    def _in_order(self) -> Iterator[tuple[int, float]]:
        """Clients with their delays, in the order in which they take part."""
        last = np.full(self.n, -1)
        for t, taking in enumerate(() if self.fixed is None else self.fixed):
            members = np.flatnonzero(taking)
            delays = t - last[members] if self.setup.algorithm.uses_delay else np.ones(len(members), dtype=int)
            last[members] = t
            yield from zip(members.tolist(), delays.astype(float).tolist(), strict=True)

    def _find(self, members: Sequence[tuple[int, float]], to_server: Array) -> list[tuple[Array, Array, Noise]]:
        """The increments of clients with their delays: those that are new are found at once, with later ones."""
        name, known = to_server.tobytes(), self._increments
        new = [each for each in members if (*each, name) not in known]
        if self.rounds_of.shared and new:
            if len(known) + len(new) + _AHEAD > KEPT_INCREMENTS:
                known.clear()
                new = [*members]
            later = (each for each in self._in_order if (*each, name) not in known)
            new = list(dict.fromkeys([*new, *islice(later, _AHEAD)]))
            B, error, noise = self._added_by(0, self.rounds_of.client_rounds(new), to_server)
            for k, each in enumerate(new):
                known[*each, name] = B[k], error[k], Noise(noise.covariance[k], noise.off[k], noise.rough[k])
        return [self.increment(*each, to_server) for each in members]

    def _given(self, members: NDArray[np.intp], delays: NDArray[np.intp]) -> RoundMap:
        keep, to_server = self.rounds_of.aggregate(len(members))
        found = self.found([(int(i), float(delay)) for i, delay in zip(members, delays, strict=True)], to_server)
        return self._joined(members, keep, found)

    def found(self, members: Sequence[tuple[int, float]], to_server: Array) -> list[Array]:
        """What clients with their delays add, as arrays (clients, coordinates, ...): B, its error, and their noise."""
        increments = self._find(members, to_server)
        if not increments:
            s, d = self.server + self.client, len(self._lines)
            return [np.zeros((0, d, *shape)) for shape in ((s, s + 1), (s, s + 1), (s, s), (s, 1), (s, 1))]
        added, wrong, noises = zip(*increments, strict=True)
        every = added, wrong, *([getattr(each, name) for each in noises] for name in ("covariance", "off", "rough"))
        return [np.stack(each) for each in every]

    def _joined(self, members: NDArray[np.intp], keep: Array, added: Sequence[Array]) -> KeptRound:
        """The round of ``members`` (clients,), which add what is `found`."""
        cut, c = self.server, self.client
        at = np.concatenate([np.arange(cut), (cut + c * members[:, None] + np.arange(c)).ravel()])
        A, error, terms, *noise = join_added(np.ascontiguousarray(keep[:cut, :cut]), self.distinct, tuple(added))
        return KeptRound(at, np.append(at, self.size - 1), self.size, RoundMap(A, error, terms, Noise(*noise)))

    def slope_rows(self, i: int) -> Array:
        """See `Moments.slope_rows`, of all coordinates."""
        return np.stack([line.slope_rows(i) for line in self._lines])

    def point_rows(self, i: int) -> Array:
        """See `Moments.point_rows`, of all coordinates."""
        return np.stack([line.point_rows(i) for line in self._lines])

    def variable_rows(self, name: str, i: int) -> Array:
        """See `Moments.variable_rows`, of all coordinates."""
        return np.stack([line.variable_rows(name, i) for line in self._lines])
