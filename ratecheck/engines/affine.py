"""One round of one client as an affine map with Gaussian noise, derived from the algorithm's four functions.

On a quadratic f_i the oracle is affine, so K local steps are one affine map: for the vector y = (server, client, 1),
client' and message are W y + noise with covariance N. The cost of W and N is O(log K), or O(K) where the local steps
have weights of their own.

What a client sends is how far it has moved, K*gamma times something, times an outer step size. So that a small gamma
loses no digits, the K steps are composed as I + change, and the change alone is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.base import Counts
from ratecheck.engines.setup import Setup

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """A group of variables as one vector: block by block, in each its variables, with ``sizes`` entries each."""

    counts: Counts
    sizes: tuple[int, ...]

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where each block begins, and the end."""
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
            matrix[here] = np.kron(part, np.eye(self.sizes[block]))
        return matrix


@dataclass(frozen=True)
class ClientRound:
    """client' = client_rows y + noise, message = message_rows y + noise, y = (server, client, 1).

    ``noise`` is the joint covariance of (client', message). The sizes bound the entries of the products that were added
    up to the rows; they tell how much rounding the rows carry where terms nearly cancel.
    """

    client_rows: Array
    message_rows: Array
    noise: Array
    client_size: Array
    message_size: Array


class AffineRounds:
    """Affine maps of all clients for one setup on a problem whose oracle is affine."""

    def __init__(self, setup: Setup) -> None:
        self.setup, maps = setup, setup.maps
        self.M, self.c = setup.operator(setup.algorithm.oracle)
        self._slots = maps.server.slots, maps.client.slots
        self._alike = setup.alike
        self._changes_of: dict[int, tuple[Array, Array]] = {}
        self._tables: dict[tuple[str, int], Any] = {}
        self._matrices: dict[tuple[Any, ...], Array] = {}
        sizes = tuple(setup.sizes.values())
        self.server, self.client, self.local, self.message, self.point = (
            Layout(counts, sizes)
            for counts in (maps.server, maps.client, maps.local, maps.message, Counts((1,) * len(sizes)))
        )

    def _table(self, name: str, i: int) -> Any:
        """A coefficient table of client i, read once."""
        key = name, 0 if self._alike else i
        if key not in self._tables:
            self._tables[key] = getattr(self.setup, name)(key[1])
        return self._tables[key]

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
        table = self._table(name, i)
        keep = self._alike and (name != "steps" or len(table) == 1)
        key = name, part, rows, columns, row, column
        if not keep or key not in self._matrices:
            matrix = rows.expand(table if part is None else table[part], columns, row=row, column=column)
            if not keep:
                return matrix
            self._matrices[key] = matrix
        return self._matrices[key]

    def local_step(self, i: int, k: int = 0) -> tuple[Array, Array]:
        """Local step k of client i as a matrix on (local, 1), and the covariance of its noise (last row zero)."""
        change, noise = self.local_change(i, k)
        return change + np.eye(len(change)), noise

    def local_change(self, i: int, k: int = 0) -> tuple[Array, Array]:
        """`local_step` less the identity."""
        size, slots = self.local.size, self.setup.maps.local.slots
        gradient = self._matrix("steps", i, self.local, self.point, part=k, column=slots)
        step = np.zeros((size + 1, size + 1))
        step[:size, :size] = self._matrix("steps", i, self.local, self.local, part=k) - np.eye(size)
        step[:size, self.local.first] += gradient @ self.M[i]
        step[:size, size] = -gradient @ self.c[i]
        noise = np.zeros((size + 1, size + 1))
        noise[:size, :size] = (gradient * self.setup.noise**2) @ gradient.T
        return step, noise

    def begin(self, i: int, delay: float = np.inf) -> Array:
        """The matrix of ``begin`` from y to (local, 1) at a delay; infinity drops what depends on it."""
        matrix = np.zeros((self.local.size + 1, self.inputs))
        for part, share in ((0, 1.0), (1, 1.0 / delay)):
            from_client = self._matrix("begin", i, self.local, self.client, part=part, column=self._slots[0])
            matrix[:-1, : self.server.size] += share * self._matrix("begin", i, self.local, self.server, part=part)
            matrix[:-1, self.server.size : -1] += share * from_client
        matrix[-1, -1] = 1.0
        return matrix

    @property
    def inputs(self) -> int:
        """Length of y = (server, client, 1)."""
        return self.server.size + self.client.size + 1

    def client_round(self, i: int, delay: float = np.inf) -> ClientRound:
        """The whole round of client i at a delay."""
        change, covariance = self._changes(i)
        begun = self.begin(i, delay)
        moved = (change @ begun)[:-1]
        client, from_client, client_size = self._finish(i, self.client, 0, begun[:-1], moved)
        message, from_message, message_size = self._finish(i, self.message, self._slots[1], begun[:-1], moved)
        load = np.vstack([from_client, from_message])
        return ClientRound(client, message, load @ covariance[:-1, :-1] @ load.T, client_size, message_size)

    def _changes(self, i: int) -> tuple[Array, Array]:
        """All local steps less the identity, and the covariance of their noise."""
        if i not in self._changes_of:
            steps = int(self.setup.local_steps[i])
            if len(self._table("steps", i)) == 1:
                self._changes_of[i] = _repeat(*self.local_change(i), steps)
            else:
                change, covariance = (np.zeros((self.local.size + 1,) * 2) for _ in range(2))
                for k in range(steps):
                    step, noise = self.local_change(i, k)
                    change, covariance = step + change + step @ change, _carried(step, covariance) + noise
                self._changes_of[i] = change, covariance
        return self._changes_of[i]

    def _finish(self, i: int, outputs: Layout, row: int, begun: Array, moved: Array) -> tuple[Array, Array, Array]:
        """Rows of ``finish`` from slot ``row`` on as a map of y and of the last local variables, and their size.

        What was ``begun`` and what the client received cancel exactly where a method sends how far it has ``moved``.
        """
        servers, clients = self._slots
        from_local = self._matrix("finish", i, outputs, self.local, row=row, column=servers + clients)
        direct = np.zeros((outputs.size, self.inputs))
        direct[:, : self.server.size] = self._matrix("finish", i, outputs, self.server, row=row)
        direct[:, self.server.size : -1] = self._matrix("finish", i, outputs, self.client, row=row, column=servers)
        still = from_local @ begun + direct
        return still + from_local @ moved, from_local, np.abs(still) + np.abs(from_local) @ np.abs(moved)

    def aggregate(self, participants: int) -> tuple[Array, Array]:
        """Matrices from the server state and from the sum of messages to the new server state."""
        table = self.setup.aggregate(participants)
        keep = self.server.expand(table, self.server)
        return keep, self.server.expand(table, self.message, column=self._slots[0])

    def start(self) -> tuple[Array, Array, list[Array], list[Array]]:
        """Mean of the server state, its coefficients on each client's start noise, and the same for the clients.

        The start noise of client i is the mean of K_i oracle noises, of covariance diag(noise^2)/K_i; it loads the
        client by its root and the server by ``server_clients`` @ root / n, client by client.
        """
        setup = self.setup
        means, roots = [], []
        for i, (M, c) in enumerate(zip(self.M, self.c, strict=True)):
            from_point = self._matrix("start_client", i, self.client, self.point)
            from_gradient = self._matrix("start_client", i, self.client, self.point, column=1)
            point = setup.point[i]
            means.append(from_point @ point + from_gradient @ (M @ point - c))
            roots.append(from_gradient * (setup.noise / np.sqrt(setup.local_steps[i])))
        table = setup.maps.start_server(setup.parameters())
        server_point = self.server.expand(table, self.point)
        server_clients = self.server.expand(table, self.client, column=1)
        server = server_point @ setup.point[0] + server_clients @ np.mean(means, axis=0)
        return server, server_clients / setup.problem.n, means, roots


def _carried(change: Array, covariance: Array) -> Array:
    """(I + change) covariance (I + change)'."""
    half = change @ covariance
    return covariance + half + half.T + half @ change.T


def _repeat(change: Array, noise: Array, times: int) -> tuple[Array, Array]:
    """(I + change)^times - I and the sum over k < times of (I + change)^k noise (I + change)^k', by squaring."""
    total, covariance = np.zeros_like(change), np.zeros_like(noise)
    square, square_noise = change, noise
    while True:
        if times & 1:
            covariance = _carried(square, covariance) + square_noise
            total = square + total + square @ total
        times >>= 1
        if not times:
            return total, covariance
        square_noise = _carried(square, square_noise) + square_noise
        square = 2 * square + square @ square
