"""An oracle as rounds use it: answers, their mean at the start, and records; compiled, or called in Python."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.asked import oracle
from ratecheck.engines.monte_carlo.rows import ClientRows, everybody
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.kernels.clients import add_rows, answer_rows, value_rows
from ratecheck.kernels.constants import GAUSSIAN
from ratecheck.kernels.oracle import AFFINE, PROXIMAL, SAMPLED, Oracle
from ratecheck.kernels.random import BEFORE_FIRST_ROUND
from ratecheck.kernels.records import MEANS, VALUES, Records, record_round
from ratecheck.kernels.rounds import start_gradients
from ratecheck.noise import NoiseLaw
from ratecheck.problems.problem import CalledOracle

Integers = NDArray[np.int64]
Keys = NDArray[np.uint64]


class AnswerSource(Protocol):
    """An oracle of all clients; points and answers of local steps are (rows, d)."""

    def answers(self, rows: ClientRows, t: int, k: int, x: Array) -> Array:
        """The clients' answers at x in local step k of round t, an array of its own."""

    def values(self, rows: ClientRows, t: int, k: int, x: Array) -> Array:
        """The clients' values at x (rows,), on the samples of local step k of round t; of additive noise without."""

    def exact(self) -> AnswerSource:
        """The oracle over all data and without noise."""

    def start(self, steps: Integers, point: Array, keys: Keys) -> Array:
        """The mean of each client's first answers at its row of point (n, d), (n, lanes, d)."""

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
        self.record, self.values, self.exact = source.record, source.values, source.exact

    def answers(self, rows: ClientRows, t: int, k: int, x: Array) -> Array:
        out = self._source.answers(rows, t, k, x)
        self._law.add_rows(self._scale, rows.clients, rows.firsts, rows.keys, t, k, out)
        return out

    def start(self, steps: Integers, point: Array, keys: Keys) -> Array:
        return _start(self, steps, point, keys)


class _Compiled:
    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def answers(self, rows: ClientRows, t: int, k: int, x: Array) -> Array:
        out = np.empty_like(x)
        answer_rows(self._oracle, rows.clients, rows.firsts, rows.keys, t, k, x, out)
        return out

    def values(self, rows: ClientRows, t: int, k: int, x: Array) -> Array:
        if self._oracle.kind in (PROXIMAL, SAMPLED):
            raise InputError("values of f_i are not evaluated where the oracle is no gradient or its samples are signs")
        out = np.empty(len(x))
        value_rows(self._oracle, rows.clients, rows.firsts, rows.keys, t, k, x, out)
        return out

    def exact(self) -> AnswerSource:
        found = self._oracle
        kind = AFFINE if found.kind == SAMPLED else found.kind
        return _Compiled(found._replace(kind=kind, batch=0, noise=np.zeros_like(found.noise), law=GAUSSIAN))

    def start(self, steps: Integers, point: Array, keys: Keys) -> Array:
        mean = np.zeros((*point.shape, keys.shape[1]))
        start_gradients(self._oracle, steps, point, keys, mean)
        return mean.swapaxes(1, 2)

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
    def answers(self, rows: ClientRows, t: int, k: int, x: Array) -> Array:
        if self._oracle.gradients is None:
            out = np.empty_like(x)
            for i, first, last in zip(rows.clients.tolist(), rows.firsts[:-1], rows.firsts[1:], strict=True):
                out[first:last] = self._oracle.gradient(i, np.ascontiguousarray(x[first:last].T)).T
            return out
        widest, shape = int(rows.counts.max()), (len(rows.clients), -1, x.shape[1])
        if len(x) == widest * len(rows.clients):
            points = np.ascontiguousarray(x.reshape(shape).swapaxes(1, 2))
            found = self._oracle.gradients_at(rows.clients, points)
            return np.ascontiguousarray(found.swapaxes(1, 2)).reshape(x.shape)
        # Clients with fewer rows than others have zeros beside them, whose gradients nobody uses.
        places = np.arange(widest) < rows.counts[:, None]
        points = np.zeros((len(rows.clients), widest, x.shape[1]))
        points[places] = x
        found = self._oracle.gradients_at(rows.clients, np.ascontiguousarray(points.swapaxes(1, 2)))
        return np.ascontiguousarray(found.swapaxes(1, 2)[places])

    @np.errstate(over="ignore", invalid="ignore")
    def values(self, rows: ClientRows, t: int, k: int, x: Array) -> Array:
        del t, k
        out = np.empty(len(x))
        for i, first, last in zip(rows.clients.tolist(), rows.firsts[:-1], rows.firsts[1:], strict=True):
            point = np.ascontiguousarray(x[first:last].T)
            out[first:last] = self._oracle.values_at(np.array([i]), point[None])[0]
        return out

    def exact(self) -> AnswerSource:
        return self

    def start(self, steps: Integers, point: Array, keys: Keys) -> Array:
        return _start(self, steps, point, keys)

    @np.errstate(over="ignore", invalid="ignore")
    def record(self, records: Records, starts: Integers, server: Array, client: Array, record: Array) -> None:
        record[:] = records.constant[:, None]
        n, (_, d, lanes) = len(client), server.shape
        x = np.zeros((n, d, lanes))
        for first, last, group, slot in zip(starts[:-1], starts[1:], records.group, records.slot, strict=True):
            if slot >= 0:
                x[:, first:last] = client[:, slot, first:last] if group else server[slot, first:last]
        rows = records.rows @ x[0] - records.offset[:, None]
        for q in range(len(record)):
            record[q] += (rows[records.row_starts[q] : records.row_starts[q + 1]] ** 2).sum(axis=0)
        if not len(records.owner):
            return
        everyone = np.arange(n)
        gradient = self._oracle.gradients_at(everyone, x)
        away = x - records.anchor[..., None]
        # In the order of the columns of `left` and `right`.
        inputs = [*server, *client.swapaxes(0, 1), gradient, away]
        values = self._oracle.values_at(everyone, x) if (records.over == VALUES).any() else None
        for j, q in enumerate(records.owner):
            factor = records.factor[:, j, None]
            if records.over[j] == VALUES:
                record[q] += _over_clients(factor / n * values)
                continue
            here = slice(starts[records.block[j]], starts[records.block[j] + 1])
            sides = [records.left[:, j]]
            if not np.array_equal(sides[0], records.right[:, j]):
                sides.append(records.right[:, j])
            vectors = [_combined(side, inputs, here, n) for side in sides]
            if records.over[j] == MEANS:
                vectors = [_over_clients(vector / n) for vector in vectors]
            left, right = vectors[0], vectors[-1]
            if records.over[j] == MEANS:
                record[q] += factor[0] * (left * right).sum(axis=0)
            else:
                record[q] += _over_clients(factor / n * (left * right).sum(axis=1))


def _combined(coefficients: Array, inputs: list[Array], here: slice, n: int) -> Array:
    """Coordinates ``here`` of each client's combination of inputs (d, lanes) or (n, d, lanes), (n, size, lanes)."""
    found: Array | None = None
    for coefficient, each in zip(coefficients.T, inputs, strict=True):
        if coefficient.any():
            part = np.broadcast_to(each[..., here, :], (n, here.stop - here.start, each.shape[-1]))
            part = part if (coefficient == 1).all() else coefficient[:, None, None] * part
            found = part if found is None else found + part
    return np.zeros((n, here.stop - here.start, inputs[-1].shape[-1])) if found is None else found


def _over_clients(array: Array) -> Array:
    """The sum over the clients (n, ...), one after the other: NumPy's own depends on the number of lanes."""
    total = np.zeros((1, array[0].size))
    add_rows(np.ascontiguousarray(array).reshape(len(array), -1), np.zeros(len(array), dtype=np.int64), total)
    return total.reshape(array.shape[1:])


def _start(source: AnswerSource, steps: Integers, point: Array, keys: Keys) -> Array:
    """The mean of each client's first answers at its row of point (n, d), (n, lanes, d)."""
    (n, d), lanes = point.shape, keys.shape[1]
    mean, here = np.zeros((n * lanes, d)), everybody(n, keys)
    places = np.arange(n * lanes)
    for k in range(int(steps.max())):
        if (done := steps[here.clients] <= k).any():
            here, kept = here.only(~done)
            places = places[kept]
        mean[places] += source.answers(here, BEFORE_FIRST_ROUND, k, point[here.by_row]) / steps[here.by_row, None]
    return mean.reshape(n, lanes, d)
