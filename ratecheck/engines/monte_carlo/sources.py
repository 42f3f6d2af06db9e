"""An oracle as rounds use it: answers, their mean at the start, and records; compiled, or called in Python."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.asked import oracle
from ratecheck.engines.setup import Setup
from ratecheck.kernels.oracle import Oracle
from ratecheck.kernels.oracle import oracle as ask_compiled
from ratecheck.kernels.random import BEFORE_FIRST_ROUND
from ratecheck.kernels.records import MEANS, VALUES, Records, record_round
from ratecheck.kernels.rounds import start_gradients
from ratecheck.noise import NoiseLaw
from ratecheck.problems.problem import CalledOracle

Integers = NDArray[np.int64]
Keys = NDArray[np.uint64]


class AnswerSource(Protocol):
    """An oracle; points and answers are (d, lanes)."""

    def answer(self, i: int, t: int, k: int, x: Array, keys: Keys) -> Array:
        """Client i's answers at x in local step k of round t."""

    def start(self, steps: Integers, point: Array, keys: Keys) -> Array:
        """The mean of each client's first answers at its row of point (n, d), (n, d, lanes)."""

    def record(self, records: Records, starts: Integers, server: Array, client: Array, record: Array) -> None:
        """Fill record (names, lanes) from the states (slots, d, lanes) and (n, slots, d, lanes)."""


def source(setup: Setup, name: str) -> AnswerSource:
    """An oracle of a problem as rounds evaluate it, with the noise of the run."""
    found = oracle(setup, name)
    if isinstance(found, CalledOracle):
        return _Noisy(_Called(found), setup.law, found.noise)
    return _Compiled(found) if setup.law.compiled else _Noisy(_Compiled(found), setup.law, setup.noise)


class _Noisy:
    """Answers of a source without noise, with what a law draws added to them in Python."""

    def __init__(self, source: _Compiled | _Called, law: NoiseLaw, scale: Array) -> None:
        self._source, self._law, self._scale = source, law, scale
        self.record = source.record

    def answer(self, i: int, t: int, k: int, x: Array, keys: Keys) -> Array:
        out = self._source.answer(i, t, k, x, keys)
        self._law.add(self._scale, i, t, k, out, keys)
        return out

    def start(self, steps: Integers, point: Array, keys: Keys) -> Array:
        lanes = keys.shape[1]
        mean = np.zeros((*point.shape, lanes))
        for i, row in enumerate(point):
            x = np.repeat(row[:, None], lanes, axis=1)
            for k in range(int(steps[i])):
                mean[i] += self.answer(i, BEFORE_FIRST_ROUND, k, x, keys) / int(steps[i])
        return mean


class _Compiled:
    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def answer(self, i: int, t: int, k: int, x: Array, keys: Keys) -> Array:
        out, words = np.empty_like(x), np.empty((4, x.shape[1]), np.uint64)
        ask_compiled(self._oracle, i, t, k, x, out, words, keys, x.shape[1])
        return out

    def start(self, steps: Integers, point: Array, keys: Keys) -> Array:
        mean = np.zeros((*point.shape, keys.shape[1]))
        start_gradients(self._oracle, steps, point, keys, mean)
        return mean

    def record(self, records: Records, starts: Integers, server: Array, client: Array, record: Array) -> None:
        _, d, lanes = server.shape
        record_round(
            self._oracle, records, starts, server, client, np.empty((1, d, lanes)), np.empty((4, lanes)), record
        )


class _Called:
    """An oracle that is called in Python, without noise."""

    def __init__(self, oracle: CalledOracle) -> None:
        self._oracle = oracle

    # A run that diverges leaves the range of floats, as it does silently in compiled rounds.
    @np.errstate(over="ignore", invalid="ignore")
    def answer(self, i: int, t: int, k: int, x: Array, keys: Keys) -> Array:
        return np.ascontiguousarray(self._oracle.gradient(i, x))

    @np.errstate(over="ignore", invalid="ignore")
    def record(self, records: Records, starts: Integers, server: Array, client: Array, record: Array) -> None:
        n = len(client)
        record[:] = records.constant[:, None]
        means: dict[tuple[int, int], Array] = {}
        for i in range(n):
            x = np.concatenate([
                np.zeros((last - first, server.shape[2])) if slot < 0
                else (client[i] if group else server)[slot, first:last]
                for first, last, group, slot in zip(starts[:-1], starts[1:], records.group, records.slot, strict=True)
            ])  # fmt: skip
            if i == 0:
                rows = records.rows @ x - records.offset[:, None]
                for q in range(len(record)):
                    record[q] += (rows[records.row_starts[q] : records.row_starts[q + 1]] ** 2).sum(axis=0)
            gradient = self._oracle.gradient(i, x)
            # In the order of the columns of `left` and `right`.
            inputs = np.concatenate([server, client[i], gradient[None], (x - records.anchor[i][:, None])[None]])
            for j, q in enumerate(records.owner):
                if records.over[j] == VALUES:
                    record[q] += records.factor[i, j] / n * self._oracle.values(i, x)
                    continue
                here = slice(starts[records.block[j]], starts[records.block[j] + 1])
                left, right = (
                    np.tensordot(side[i, j], inputs[:, here], axes=1) for side in (records.left, records.right)
                )
                if records.over[j] == MEANS:
                    for side, vector in enumerate((left, right)):
                        means[j, side] = means.get((j, side), 0.0) + vector / n
                else:
                    record[q] += records.factor[i, j] / n * (left * right).sum(axis=0)
        for j, q in enumerate(records.owner):
            if records.over[j] == MEANS:
                record[q] += records.factor[0, j] * (means[j, 0] * means[j, 1]).sum(axis=0)
