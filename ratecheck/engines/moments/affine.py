"""One round of one client as an affine map with Gaussian noise, derived from the algorithm's four functions.

On a quadratic f_i the oracle is affine, so K local steps are one affine map: for the vector y = (server, client, 1),
client' and message are W y + noise with covariance N. The cost of W and N is O(log K), or O(K) where the local steps
have weights of their own.

What a client sends is how far it has moved, K*gamma times something, times an outer step size. So that a small gamma
loses no digits, the K steps are composed as I + change, and the change alone is computed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import Counts
from ratecheck.aliases import Array
from ratecheck.engines.moments.coefficients import CoefficientReader
from ratecheck.engines.moments.composed import AffineBlocks, AffineMap
from ratecheck.engines.setup import Setup

_EPS = float(np.finfo(float).eps)
# Clients and delays whose tables are kept.
_KEPT_TABLES = 4096


@dataclass(frozen=True)
class Layout:
    """A group of variables as one vector: block by block, in each its variables, with ``sizes`` entries each."""

    counts: Counts
    sizes: tuple[int, ...]

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """The first place of each block, and the end."""
        lengths = [count * size for count, size in zip(self.counts.by_block, self.sizes, strict=True)]
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)

    @property
    def size(self) -> int:
        """Entries in all."""
        return int(self.starts[-1])

    def variable(self, block: int, slot: int) -> NDArray[np.intp]:
        """Positions of a variable."""
        return self.starts[block] + slot * self.sizes[block] + np.arange(self.sizes[block])

    @property
    def first(self) -> NDArray[np.intp]:
        """Positions of the first variable of every block that has one."""
        parts = [self.variable(block, 0) for block, count in enumerate(self.counts.by_block) if count]
        return np.concatenate([np.zeros(0, dtype=np.intp), *parts])

    def expand(self, coefficients: Array, columns: Layout, *, row: int = 0, column: int = 0) -> Array:
        """The matrix of a coefficient table (block, outputs, inputs), read from its slots (row, column) on."""
        matrix = np.zeros((self.size, columns.size))
        for block, (rows, inputs) in enumerate(zip(self.counts.by_block, columns.counts.by_block, strict=True)):
            part = coefficients[block, row : row + rows, column : column + inputs]
            here = slice(*self.starts[block : block + 2]), slice(*columns.starts[block : block + 2])
            # The Kronecker product with the identity.
            wide = part[:, None, :, None] * np.eye(self.sizes[block])[None, :, None, :]
            matrix[here] = wide.reshape(matrix[here].shape)
        return matrix


@dataclass(frozen=True)
class ClientRound:
    """client' = client_rows y + noise, message = message_rows y + noise, y = (server, client, 1).

    ``noise`` is the joint covariance of (client', message). The errors bound those of the entries of the rows, in units
    of rounding; the exact noise differs from one of covariance ``noise`` by at most ``off`` units in mean square, up to
    rounding of the covariance that is bounded by ``rough[k]*rough[l]`` units.
    """

    client_rows: Array
    message_rows: Array
    client_error: Array
    message_error: Array
    noise: Array
    off: Array
    rough: Array


# How a client begins, and of (client', message) what is loaded by its local variables, and what is made of its inputs
# without any step, with the size of its terms.
ClientTables = tuple[Array, list[tuple[Array, Array, Array]]]


class AffineRounds:
    """Affine maps of all clients for one setup on a problem whose oracle is affine."""

    def __init__(self, setup: Setup, tables: CoefficientReader | None = None) -> None:
        self.setup, maps = setup, setup.maps
        self.M, self.c = setup.operator(setup.algorithm.oracle)
        self.M_error, self.c_error = setup.operator_error(setup.algorithm.oracle)
        self._slots = maps.server.slots, maps.client.slots
        self.tables = CoefficientReader(setup) if tables is None else tables
        self._alike = setup.alike
        self._matrices: dict[tuple[Any, ...], Array] = {}
        self._read: dict[tuple[int, float], ClientTables] = {}
        self._aggregates: dict[int, tuple[Array, Array]] = {}
        sizes = tuple(setup.sizes.values())
        self.server, self.client, self.local, self.message, self.point = (
            Layout(counts, sizes)
            for counts in (maps.server, maps.client, maps.local, maps.message, Counts((1,) * len(sizes)))
        )

    @cached_property
    def firsts(self) -> list[int]:
        """For each client the first one whose parameters and oracle are the same, and so its round."""
        numbers = (self.M, self.c, self.M_error, self.c_error)
        known: dict[tuple[Any, ...], int] = {}
        own = ((i,) if not self._alike else tuple(each[i].tobytes() for each in numbers) for i in range(len(self.M)))
        return [known.setdefault(key, i) for i, key in enumerate(own)]

    def _matrix(
        self,
        name: str,
        i: int,
        rows: Layout,
        columns: Layout,
        *,
        part: int | None = None,
        row: int = 0,
        column: int = 0,
    ) -> Array:
        """A coefficient table of client i, or that part of several, as a matrix (see `Layout.expand`).

        Where all clients are alike it is built once, unless there is one for every local step.
        """
        table = getattr(self.tables.client(i), name)
        keep = self._alike and (name != "changes" or len(table) == 1)
        key = name, part, rows, columns, row, column
        if not keep or key not in self._matrices:
            matrix = rows.expand(table if part is None else table[part], columns, row=row, column=column)
            if not keep:
                return matrix
            self._matrices[key] = matrix
        return self._matrices[key]

    def local_step(self, i: int, k: int = 0) -> tuple[Array, Array]:
        """Local step k of client i as a matrix on (local, 1), and the covariance of its noise (last row zero)."""
        change, noise, _ = self.local_change(i, k)
        return change + np.eye(len(change)), noise

    def local_change(self, i: int, k: int = 0) -> tuple[Array, Array, Array]:
        """`local_step` less the identity, the covariance of the noise, and a bound of the error of the change."""
        size = self.local.size
        gradient, own = self._gradient(i, k), self._matrix("changes", i, self.local, self.local, part=k)
        step, error = np.zeros((size + 1, size + 1)), np.zeros((size + 1, size + 1))
        step[:size, :size] = own
        step[:size, self.local.first] += gradient @ self.M[i]
        step[:size, size] = -gradient @ self.c[i]
        steep = np.abs(gradient)
        error[:size, :size] = 4 * _EPS * np.abs(own)
        error[:size, self.local.first] += steep @ (4 * _EPS * np.abs(self.M[i]) + self.M_error[i])
        error[:size, size] = steep @ (4 * _EPS * np.abs(self.c[i]) + self.c_error[i])
        # All answers with a sample have the same noise.
        shaken = gradient.copy()
        for rows, at, sampled, table in self._further(i, k):
            step[:size, at] += table @ self.M[i][rows]
            step[:size, size] -= table @ self.c[i][rows]
            steep = np.abs(table)
            error[:size, at] += steep @ (4 * _EPS * np.abs(self.M[i][rows]) + self.M_error[i][rows])
            error[:size, size] += steep @ (4 * _EPS * np.abs(self.c[i][rows]) + self.c_error[i][rows])
            shaken[:, rows] += sampled * table
        noise = np.zeros((size + 1, size + 1))
        noise[:size, :size] = (shaken * self.setup.noise**2) @ shaken.T
        return step, noise, error

    def first_changes(self, members: Sequence[int]) -> Iterator[tuple[Array, Array, Array]]:
        """`local_change` of the first step of clients: of all at once where only their oracles differ."""
        if not self._alike or self.setup.algorithm.also:
            yield from map(self.local_change, members)
            return
        _, noise, _ = self.local_change(members[0])
        at, size, gradient = [*members], self.local.size, self._gradient(members[0])
        own, steep = self._matrix("changes", members[0], self.local, self.local, part=0), np.abs(gradient)
        step, error = np.zeros((2, len(at), size + 1, size + 1))
        step[:, :size, :size], error[:, :size, :size] = own, 4 * _EPS * np.abs(own)
        step[:, :size, self.local.first] += gradient @ self.M[at]
        step[:, :size, size] = (-gradient @ self.c[at][..., None])[..., 0]
        error[:, :size, self.local.first] += steep @ (4 * _EPS * np.abs(self.M[at]) + self.M_error[at])
        error[:, :size, size] = (steep @ (4 * _EPS * np.abs(self.c[at]) + self.c_error[at])[..., None])[..., 0]
        yield from zip(step, itertools.repeat(noise, len(at)), error, strict=True)

    def _further(self, i: int, k: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], bool, Array]]:
        """Gradients at other points in step k: coordinates, positions of the point, if sampled, their coefficients.

        The point is that of the step with another variable in the place of the first one of its block.
        """
        algorithm, slots = self.setup.algorithm, self.setup.maps.local.slots
        columns = dict.fromkeys(algorithm.blocks, slots)
        for each in algorithm.blocks:
            columns[each] += 1
        for name, answer in algorithm.also.items():
            where = algorithm.answers[name]
            block = algorithm.blocks.index(where)
            only = Layout(Counts(tuple(int(each == where) for each in algorithm.blocks)), self.local.sizes)
            slot = [each for each, there in algorithm.local.items() if there == where].index(answer.at)
            at, rows = self.local.first, self.point.variable(block, 0)
            at[np.isin(at, self.local.variable(block, 0))] = self.local.variable(block, slot)
            table = self._matrix("changes", i, self.local, only, part=k, column=columns[where])
            columns[where] += 1
            yield rows, at, answer.kind.sampled, table

    def _gradient(self, i: int, k: int = 0) -> Array:
        """The oracle's contribution to the local variables in step k."""
        slots = self.setup.maps.local.slots
        return self._matrix("changes", i, self.local, self.point, part=k, column=slots)

    def begin(self, i: int, delay: float = np.inf) -> Array:
        """The matrix of ``begin`` from y to (local, 1) at a delay; infinity drops what depends on it."""
        matrix = np.zeros((self.local.size + 1, self.inputs))
        matrix[:-1], _ = self._of_inputs("begin", i, self.local, 0, delay)
        matrix[-1, -1] = 1.0
        return matrix

    def _of_inputs(self, name: str, i: int, outputs: Layout, row: int, delay: float) -> tuple[Array, Array]:
        """A table fixed + rate/delay from slot ``row`` on as a map of y, and the size of its terms."""
        matrix, size = (np.zeros((outputs.size, self.inputs)) for _ in range(2))
        for part, share in ((0, 1.0), (1, 1.0 / delay)):
            if share:
                from_server = self._matrix(name, i, outputs, self.server, part=part, row=row)
                from_client = self._matrix(name, i, outputs, self.client, part=part, row=row, column=self._slots[0])
                added = share * np.hstack([from_server, from_client])
                matrix[:, :-1] += added
                size[:, :-1] += np.abs(added)
        return matrix, size

    @property
    def inputs(self) -> int:
        """Length of y = (server, client, 1)."""
        return self.server.size + self.client.size + 1

    def client_round(self, i: int, delay: float = np.inf) -> ClientRound:
        """The whole round of client i at a delay."""
        return self._whole([part[i] for part in self.all_steps], self._tables_of(i, delay))

    def _whole(self, steps: Sequence[Array], read: ClientTables) -> ClientRound:
        (change, covariance, error, off, rough), (begun, tables) = steps, read
        # What is moved, and in units of rounding how far it may be off.
        moved, length = (change @ begun)[..., :-1, :], change.shape[-1]
        wrong = ((error / _EPS + (length + 4) * np.abs(change)) @ np.abs(begun))[..., :-1, :]
        rows = [still + load @ moved for load, still, _ in tables]
        errors = [4 * size + np.abs(load) @ (wrong + 4 * np.abs(moved)) for load, _, size in tables]
        load = np.vstack([load for load, *_ in tables])
        roots = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1)[..., :-1], 0.0))
        unit = 2 * length + 8
        return ClientRound(
            rows[0],
            rows[1],
            errors[0],
            errors[1],
            load @ covariance[..., :-1, :-1] @ load.T,
            (off[..., :-1] / _EPS + 4 * roots) @ np.abs(load).T,
            np.hypot(rough[..., :-1] / np.sqrt(_EPS), np.sqrt(unit) * roots) @ np.abs(load).T,
        )

    def _tables_of(self, i: int, delay: float) -> ClientTables:
        # Few numbers, which clients share where they are alike.
        key = 0 if self._alike else i, delay
        if key not in self._read:
            if len(self._read) == _KEPT_TABLES:
                self._read.clear()
            self._read[key] = self._tables_read(*key)
        return self._read[key]

    def _tables_read(self, i: int, delay: float) -> ClientTables:
        begun, found = self.begin(i, delay), []
        for outputs, row in ((self.client, 0), (self.message, self._slots[1])):
            load = self._matrix("local", i, outputs, self.local, row=row)
            found.append((load, *self._of_inputs("still", i, outputs, row, delay)))
        return begun, found

    def of_answer(self, i: int) -> tuple[Array, Array]:
        """What the answer in a single local step loads on (client', message), (rows, d), and the sizes of its terms."""
        load, step = np.vstack([load for load, *_ in self._tables_of(i, np.inf)[1]]), self._gradient(i)
        return load @ step, np.abs(load) @ np.abs(step)

    @cached_property
    def all_steps(self) -> tuple[Array, Array, Array, Array, Array]:
        """Of all clients: all local steps less the identity, the covariance of their noise, and their errors."""
        n, steps = self.setup.problem.distinct, self.setup.local_steps
        size = self.local.size + 1
        change, noise, error = (np.zeros((n, size, size)) for _ in range(3))
        off, rough = (np.zeros((n, size)) for _ in range(2))
        found = change, noise, error, off, rough
        own = sorted(set(self.firsts))
        firsts = dict(zip(own, self.first_changes(own), strict=True))
        blocks = self._blocks([*firsts.values()])
        # Clients that repeat one step equally often go together.
        alone = [i for i in own if len(self.tables.client(i).changes) > 1]
        together = {int(K): [i for i in own if steps[i] == K and i not in alone] for K in np.unique(steps)}
        for K, members in together.items():
            if members:
                step = AffineMap.step(blocks, *(np.stack([firsts[i][k] for i in members]) for k in range(3)))
                _store(found, members, step.repeated(K))
        for i in alone:
            total = _single(blocks, firsts[i])
            for k in range(1, int(steps[i])):
                total = _single(blocks, self.local_change(i, k)).after(total)
            _store(found, [i], total)
        if len(own) == n:
            return found
        return change[self.firsts], noise[self.firsts], error[self.firsts], off[self.firsts], rough[self.firsts]

    def _blocks(self, steps: Sequence[tuple[Array, Array, Array]]) -> AffineBlocks:
        """How local variables act on one another, at any client."""
        pattern = np.any([(change != 0) | (error != 0) for change, _, error in steps], axis=0)
        scale = np.ones(len(pattern))
        gradient = self._gradient(0)[self.local.first]
        if np.count_nonzero(gradient) == len(gradient) and np.diagonal(gradient).all():
            scale[self.local.first] = np.sqrt(np.abs(np.diagonal(gradient)))
        return AffineBlocks(pattern, scale)

    def aggregate(self, participants: int) -> tuple[Array, Array]:
        """Matrices from the server state and from the sum of messages to the new server state."""
        if participants not in self._aggregates:
            table = self.tables.aggregate(participants)
            keep = self.server.expand(table, self.server)
            self._aggregates[participants] = keep, self.server.expand(table, self.message, column=self._slots[0])
        return self._aggregates[participants]

    def sent(self, i: int) -> tuple[Array, Array]:
        """Matrices from client i's state and from what it sent to its new state: the identity without compression."""
        if not self.setup.algorithm.compressed:
            return np.eye(self.client.size), np.zeros((self.client.size, self.message.size))
        table = self.setup.maps.sent(self.setup.parameters(i))
        return self.client.expand(table, self.client), self.client.expand(table, self.message, column=self._slots[1])

    @cached_property
    def compressed(self) -> NDArray[np.intp]:
        """Positions in a message of what is compressed."""
        algorithm, found = self.setup.algorithm, [np.zeros(0, dtype=np.intp)]
        for name in algorithm.compressed:
            block = algorithm.message[name]
            slot = [each for each, where in algorithm.message.items() if where == block].index(name)
            found.append(self.message.variable(algorithm.blocks.index(block), slot))
        return np.concatenate(found)

    def aggregate_change(self, participants: int) -> Array:
        """The first matrix of `aggregate` less the identity."""
        return self.server.expand(self.tables.aggregate_change(participants), self.server)

    def start(self) -> Start:
        """The starting state.

        The start noise of client i is the mean of K_i oracle noises, of covariance diag(noise^2)/K_i; it loads the
        client by its root and the server by ``server_clients`` @ root / n, client by client.
        """
        setup, clients = self.setup, range(len(self.M))
        from_point, from_gradient = (
            np.stack([self._matrix("start", i, self.client, self.point, column=column) for i in clients])
            for column in (0, 1)
        )
        point, c, c_error = (each[..., None] for each in (setup.point, self.c, self.c_error))
        means = (from_point @ point + from_gradient @ (self.M @ point - c))[..., 0]
        size = (np.abs(self.M) + self.M_error / _EPS) @ np.abs(point) + np.abs(c) + c_error / _EPS
        sizes = (np.abs(from_point) @ np.abs(point) + np.abs(from_gradient) @ size)[..., 0]
        steps = np.inf if setup.algorithm.full_start else setup.local_steps[:, None]
        roots = from_gradient * (setup.noise / np.sqrt(steps))[..., None, :]
        table = self.tables.start_server()
        server_point = self.server.expand(table, self.point)
        server_clients = self.server.expand(table, self.client, column=1)
        server = server_point @ setup.point[0] + server_clients @ self._mean(means)
        size = np.abs(server_point) @ np.abs(setup.point[0]) + np.abs(server_clients) @ self._mean(sizes)
        return Start(server, size, server_clients / setup.problem.n, means, sizes, roots)

    def _mean(self, parts: Array) -> Array:
        """The mean over the clients."""
        counts = self.setup.problem.multiplicities
        return np.asarray(np.mean(parts, axis=0) if counts is None else np.average(parts, axis=0, weights=counts))


@dataclass(frozen=True)
class Start:
    """Mean of the server's state, its coefficients on each client's start noise, and the clients' means and noises.

    The sizes are those of the terms that were added up.
    """

    server: Array
    server_size: Array
    from_clients: Array
    means: Array
    sizes: Array
    roots: Array


def _single(blocks: AffineBlocks, step: tuple[Array, Array, Array]) -> AffineMap:
    change, noise, error = step
    return AffineMap.step(blocks, change[None], noise[None], error[None])


def _store(found: Sequence[Array], members: Sequence[int], steps: AffineMap) -> None:
    for target, values in zip(found, (steps.change, steps.noise, *steps.errors()), strict=True):
        target[members] = values
