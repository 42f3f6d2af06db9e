"""One round of one client as an affine map with Gaussian noise, derived from the algorithm's four functions.

On a quadratic f_i the oracle is affine, so K local steps are one affine map: for the vector y = (server, client, 1),
client' and message are W y + noise with covariance N. The cost of W and N is O(log K), or O(K) where the local steps
have weights of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
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

    @property
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
        self._powers_of: dict[int, tuple[Array, Array]] = {}
        self._tables: dict[tuple[str, int], Any] = {}
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

    def local_step(self, i: int, k: int = 0) -> tuple[Array, Array]:
        """Local step k of client i as a matrix on (local, 1), and the covariance of its noise (last row zero)."""
        size, slots = self.local.size, self.setup.maps.local.slots
        table = self._table("steps", i)[k]
        gradient = self.local.expand(table, self.point, column=slots)
        step = np.zeros((size + 1, size + 1))
        step[:size, :size] = self.local.expand(table, self.local)
        step[:size, self.local.first] += gradient @ self.M[i]
        step[:size, size] = -gradient @ self.c[i]
        step[size, size] = 1.0
        noise = np.zeros((size + 1, size + 1))
        noise[:size, :size] = (gradient * self.setup.noise**2) @ gradient.T
        return step, noise

    def begin(self, i: int, delay: float = np.inf) -> Array:
        """The matrix of ``begin`` from y to (local, 1) at a delay; infinity drops what depends on it."""
        fixed, rate = self._table("begin", i)
        table = fixed + rate / delay
        matrix = np.zeros((self.local.size + 1, self.inputs))
        matrix[:-1, : self.server.size] = self.local.expand(table, self.server)
        matrix[:-1, self.server.size : -1] = self.local.expand(table, self.client, column=self._slots[0])
        matrix[-1, -1] = 1.0
        return matrix

    @property
    def inputs(self) -> int:
        """Length of y = (server, client, 1)."""
        return self.server.size + self.client.size + 1

    def client_round(self, i: int, delay: float = np.inf) -> ClientRound:
        """The whole round of client i at a delay."""
        power, covariance = self._powers(i)
        local = (power @ self.begin(i, delay))[:-1]
        client, from_client, client_size = self._finish(i, self.client, 0, local)
        message, from_message, message_size = self._finish(i, self.message, self._slots[1], local)
        load = np.vstack([from_client, from_message])
        return ClientRound(client, message, load @ covariance[:-1, :-1] @ load.T, client_size, message_size)

    def _powers(self, i: int) -> tuple[Array, Array]:
        if i not in self._powers_of:
            steps = int(self.setup.local_steps[i])
            if len(self._table("steps", i)) == 1:
                self._powers_of[i] = _repeat(*self.local_step(i), steps)
            else:
                power, covariance = np.eye(self.local.size + 1), np.zeros((self.local.size + 1,) * 2)
                for k in range(steps):
                    step, noise = self.local_step(i, k)
                    power, covariance = step @ power, step @ covariance @ step.T + noise
                self._powers_of[i] = power, covariance
        return self._powers_of[i]

    def _finish(self, i: int, outputs: Layout, row: int, local: Array) -> tuple[Array, Array, Array]:
        """Rows of ``finish`` from slot ``row`` on as a map of y and of the last local variables, and their size."""
        servers, clients = self._slots
        table = self._table("finish", i)
        from_local = outputs.expand(table, self.local, row=row, column=servers + clients)
        direct = np.zeros((outputs.size, self.inputs))
        direct[:, : self.server.size] = outputs.expand(table, self.server, row=row)
        direct[:, self.server.size : -1] = outputs.expand(table, self.client, row=row, column=servers)
        return from_local @ local + direct, from_local, np.abs(from_local) @ np.abs(local) + np.abs(direct)

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
            table = setup.maps.start_client(setup.parameters(i))
            from_point = self.client.expand(table, self.point)
            from_gradient = self.client.expand(table, self.point, column=1)
            point = setup.point[i]
            means.append(from_point @ point + from_gradient @ (M @ point - c))
            roots.append(from_gradient * (setup.noise / np.sqrt(setup.local_steps[i])))
        table = setup.maps.start_server(setup.parameters())
        server_point = self.server.expand(table, self.point)
        server_clients = self.server.expand(table, self.client, column=1)
        server = server_point @ setup.point[0] + server_clients @ np.mean(means, axis=0)
        return server, server_clients / setup.problem.n, means, roots


def _repeat(step: Array, noise: Array, times: int) -> tuple[Array, Array]:
    """step^times and sum_{k<times} step^k noise step^k', by repeated squaring."""
    power, covariance = np.eye(len(step)), np.zeros_like(noise)
    square, square_noise = step, noise
    while True:
        if times & 1:
            covariance = square @ covariance @ square.T + square_noise
            power = square @ power
        times >>= 1
        if not times:
            return power, covariance
        square_noise = square @ square_noise @ square.T + square_noise
        square = square @ square
