"""Coefficients as compiled rounds take them: of every kind of clients, and of every round where they vary."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import Counts
from ratecheck.aliases import Array
from ratecheck.engines.setup import Setup
from ratecheck.execution.one_thread import single_threaded
from ratecheck.kernels.constants import GAUSSIAN
from ratecheck.kernels.exchange import Compression, Mixing
from ratecheck.kernels.local.diagonal import Diagonal
from ratecheck.kernels.oracle import AFFINE, Oracle

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class RoundTables:
    """Coefficients of the functions of a round, (rows, ...), a row for every kind of clients in each of the rounds.

    ``begin`` and ``rate`` as in `Setup.begins`, ``step`` as in `Setup.all_steps`, ``aggregate`` by the number of
    participants in each of the rounds. ``sent`` and ``score`` have no rows where nothing is compressed or selected.
    """

    begin: Array
    rate: Array
    step: Array
    finish: Array
    sent: Array
    score: Array
    aggregate: Array

    # The fields of `MethodArrays` of which every round has rows of its own where coefficients vary.
    VARIED: ClassVar[tuple[str, ...]] = ("begin", "begin_rate", "step", "finish", "score", "aggregate")

    @classmethod
    def of(cls, setup: Setup, rounds: range | None = None) -> RoundTables:
        """The tables of these rounds, or of all rounds where they do not vary."""
        clients, _ = setup.kinds
        begin, rate = setup.begins(clients, rounds)
        parameters, maps = setup.of_clients(clients, rounds), setup.maps
        none = np.zeros((0, len(setup.sizes), 0, 0))
        return cls(
            begin=begin,
            rate=rate,
            step=setup.all_steps(clients, rounds),
            finish=maps.many("finish", parameters),
            sent=maps.many("sent", parameters) if setup.algorithm.compressed else none,
            score=maps.many("score", parameters) if setup.trace.selected else none,
            aggregate=setup.aggregates(numbers(setup), rounds),
        )

    def arrays(self) -> dict[str, Array]:
        """The `VARIED` fields of `MethodArrays`."""
        # Columns (local, gradient, 1): nothing is added that does not depend on them.
        step = flat(np.concatenate([self.step, np.zeros_like(self.step[..., :1])], axis=-1))
        tables = self.begin, self.rate, step, self.finish, self.score, self.aggregate
        return dict(zip(self.VARIED, map(np.ascontiguousarray, tables), strict=True))


def numbers(setup: Setup) -> Integers:
    """The numbers of participants that a round may have."""
    return np.array([setup.problem.n]) if setup.method.full else np.arange(setup.problem.n + 1)


def counted(setup: Setup) -> Integers:
    """(n + 1,): the place of every number of participants among `numbers`."""
    return np.maximum(np.arange(setup.problem.n + 1) - numbers(setup)[0], 0)


def flat(tables: Array) -> Array:
    """Tables (..., outputs, inputs) as rows (..., outputs*inputs)."""
    return np.ascontiguousarray(tables.reshape(*tables.shape[:-2], -1))


def places(counts: Counts, starts: Integers) -> Integers:
    """(blocks, slots): in which row of an array (slots*d, B) each variable begins, -1 where there is none."""
    slots = np.arange(counts.slots)
    there, rows = slots < np.array(counts.by_block)[:, None], slots * starts[-1] + starts[:-1, None]
    return np.where(there, rows, -1)


def compression(setup: Setup, sent: Array) -> Compression:
    """The part of messages that is sent; ``sent`` are the coefficients of `Algorithm.sent`."""
    algorithm = setup.algorithm
    rows = [
        np.arange(first, first + size) for first, size in variable_rows(setup, algorithm.message, algorithm.compressed)
    ]
    q = float(setup.step_sizes["q"]) if rows else 1.0
    return Compression(
        used=bool(rows),
        rows=np.concatenate([np.zeros(0, dtype=np.int64), *rows]),
        threshold=_threshold(q),
        q=q,
        sent=np.ascontiguousarray(sent),
    )


def mixing(setup: Setup) -> Mixing:
    """With whom clients are mixed."""
    links = setup.neighbours
    none = np.zeros(0, dtype=np.int64)
    first, neighbour, weight = (none, none, np.zeros(0)) if links is None else links
    where = np.array(variable_rows(setup, setup.algorithm.client, setup.algorithm.mixed), dtype=np.int64).reshape(-1, 2)
    return Mixing(
        used=bool(len(where)),
        first=first,
        neighbour=neighbour,
        weight=weight,
        rows=where[:, 0].copy(),
        counts=where[:, 1].copy(),
        threshold=_threshold(setup.mixes),
    )


def _threshold(probability: float) -> Any:
    """The least whole number that is not below 2**32 times the probability: random words below it have that."""
    return np.uint64(np.ceil(probability * 2.0**32))


def variable_rows(setup: Setup, group: Any, names: tuple[str, ...]) -> list[tuple[int, int]]:
    """The first row of variables of a group in an array (slots*d, B), and how many they have."""
    starts, blocks = setup.starts, setup.algorithm.blocks
    where = places(Counts.of(group, blocks), starts)
    found = []
    for name in names:
        block = blocks.index(group[name])
        slot = [each for each, other in group.items() if other == group[name]].index(name)
        found.append((int(where[block, slot]), int(starts[block + 1] - starts[block])))
    return found


def diagonal(setup: Setup, source: Oracle, step: Array) -> Diagonal:
    """Local steps in eigenbases, for every client that takes enough of them to repay the two changes of basis.

    The coefficients ``step`` (kinds, 1 or K, blocks, locals, locals + 1) must be the same in every step, the matrices
    symmetric without entries between blocks, and the noise normal and equal within each block. Methods that do more in
    a round draw their noise in the coordinates as they are, as where their functions are called.
    """
    n, slots = setup.problem.n, step.shape[3]
    none = Diagonal(np.zeros(n, dtype=np.bool_), np.zeros((n, 0, 0)), np.zeros((n, 0, 0)), noisy=False)
    used, blocks, starts = setup.local_steps > 2 * slots, setup.block_of, setup.starts
    other = not setup.algorithm.tabled or source.law != GAUSSIAN or source.kind != AFFINE
    if other or step.shape[1] > 1 or not used.any():
        return none
    apart = blocks[:, None] != blocks
    if np.any(source.M.swapaxes(1, 2) != source.M) or source.M[:, apart].any():
        return none
    if any(np.ptp(setup.noise[blocks == block]) for block in set(blocks)):
        return none
    basis, values = np.zeros_like(source.M), np.zeros_like(source.c)
    with single_threaded():
        for first, last in itertools.pairwise(starts):
            here = slice(first, last)
            values[:, here], basis[:, here, here] = np.linalg.eigh(source.M[:, here, here])
    # The gradient in a coordinate is value * point - c + noise * normal.
    table = np.zeros((n, setup.problem.d, slots, slots + 2))
    steps = step[setup.kinds[1], 0][:, blocks]
    table[..., :-2], on_gradient = steps[..., :-1], steps[..., -1]
    table[..., 0] += on_gradient * values[..., None]
    table[..., -2] = on_gradient * setup.noise[:, None]
    table[..., -1] = -on_gradient * (basis.swapaxes(1, 2) @ source.c[..., None])
    return Diagonal(used, basis, flat(table), noisy=bool(setup.noise.any()))
