"""One round of one client as an affine map with Gaussian noise, derived from the algorithm's four functions.

On a quadratic f_i the oracle is affine, so K local steps are one affine map: for the vector y = (server, client, 1),
client' and message are W y + noise with covariance N. The cost of W and N is O(log K).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.base import Counts, Space
from ratecheck.engines.setup import Setup
from ratecheck.problems import Quadratic

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """A group of variables as one vector: its shared ones (d_u entries each), then its personal ones (d_v each)."""

    counts: Counts
    d_u: int
    d_v: int

    @property
    def cut(self) -> int:
        """Where the personal variables begin."""
        return self.counts.shared * self.d_u

    @property
    def size(self) -> int:
        """Entries in all."""
        return self.cut + self.counts.personal * self.d_v

    @property
    def first(self) -> NDArray[np.intp]:
        """Positions of the first shared and the first personal variable, where the group has them."""
        shared = np.arange(self.d_u if self.counts.shared else 0)
        personal = np.arange(self.d_v if self.counts.personal else 0)
        return np.concatenate([shared, self.cut + personal])

    def expand(self, coefficients: Array, columns: Layout, *, row: int = 0, column: int = 0) -> Array:
        """The matrix of a coefficient table (space, outputs, inputs), read from its slots (row, column) on."""
        matrix = np.zeros((self.size, columns.size))
        for space, rows, inputs, d in (
            (Space.SHARED, self.counts.shared, columns.counts.shared, self.d_u),
            (Space.PERSONAL, self.counts.personal, columns.counts.personal, self.d_v),
        ):
            block = np.kron(coefficients[space, row : row + rows, column : column + inputs], np.eye(d))
            if space is Space.SHARED:
                matrix[: self.cut, : columns.cut] = block
            else:
                matrix[self.cut :, columns.cut :] = block
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
    """Affine maps of all clients for one setup on a quadratic problem."""

    def __init__(self, setup: Setup) -> None:
        problem = setup.problem
        assert isinstance(problem, Quadratic)
        self.problem = problem
        self.setup, self.maps = setup, setup.maps(problem.n)
        self._begin = setup.begin()
        self._kept: dict[int, tuple[Array, Array]] = {}
        d_u, d_v = problem.d_u, problem.d_v
        self.server = Layout(self.maps.server, d_u, d_v)
        self.client = Layout(self.maps.client, d_u, d_v)
        self.local = Layout(self.maps.local, d_u, d_v)
        self.message = Layout(self.maps.message, d_u, d_v)
        self.point = Layout(Counts(1, 1), d_u, d_v)

    def local_step(self, i: int) -> tuple[Array, Array]:
        """One local step of client i as a matrix on (local, 1), and the covariance of its noise (last row zero)."""
        H, g = self.problem.H[i], self.problem.g[i]
        size, slots = self.local.size, self.maps.local.slots
        gradient = self.local.expand(self.maps.step, self.point, column=slots)
        step = np.zeros((size + 1, size + 1))
        step[:size, :size] = self.local.expand(self.maps.step, self.local)
        step[:size, self.local.first] += gradient @ H
        step[:size, size] = -gradient @ g
        step[size, size] = 1.0
        noise = np.zeros((size + 1, size + 1))
        noise[:size, :size] = (gradient * self.setup.noise**2) @ gradient.T
        return step, noise

    def begin(self, delay: float = np.inf) -> Array:
        """The matrix of ``begin`` from y to (local, 1) at a delay; infinity drops what depends on it."""
        table = self._begin[0] + self._begin[1] / delay
        matrix = np.zeros((self.local.size + 1, self.inputs))
        matrix[:-1, : self.server.size] = self.local.expand(table, self.server)
        matrix[:-1, self.server.size : -1] = self.local.expand(table, self.client, column=self.maps.server.slots)
        matrix[-1, -1] = 1.0
        return matrix

    @property
    def inputs(self) -> int:
        """Length of y = (server, client, 1)."""
        return self.server.size + self.client.size + 1

    def client_round(self, i: int, delay: float = np.inf) -> ClientRound:
        """The whole round of client i at a delay."""
        power, covariance = self._powers(i)
        local = (power @ self.begin(delay))[:-1]
        client, from_client, client_size = self._finish(self.client, 0, local)
        message, from_message, message_size = self._finish(self.message, self.maps.client.slots, local)
        load = np.vstack([from_client, from_message])
        return ClientRound(client, message, load @ covariance[:-1, :-1] @ load.T, client_size, message_size)

    def _powers(self, i: int) -> tuple[Array, Array]:
        if i not in self._kept:
            self._kept[i] = _repeat(*self.local_step(i), self.setup.K)
        return self._kept[i]

    def _finish(self, outputs: Layout, row: int, local: Array) -> tuple[Array, Array, Array]:
        """Rows of ``finish`` from slot ``row`` on as a map of y and of the last local variables, and their size."""
        servers, clients = self.maps.server.slots, self.maps.client.slots
        from_local = outputs.expand(self.maps.finish, self.local, row=row, column=servers + clients)
        direct = np.zeros((outputs.size, self.inputs))
        direct[:, : self.server.size] = outputs.expand(self.maps.finish, self.server, row=row)
        direct[:, self.server.size : -1] = outputs.expand(self.maps.finish, self.client, row=row, column=servers)
        return from_local @ local + direct, from_local, np.abs(from_local) @ np.abs(local) + np.abs(direct)

    def aggregate(self, participants: int) -> tuple[Array, Array]:
        """Matrices from the server state and from the sum of messages to the new server state."""
        table = self.setup.aggregate(participants)
        keep = self.server.expand(table, self.server)
        return keep, self.server.expand(table, self.message, column=self.maps.server.slots)

    def start(self) -> tuple[Array, Array, list[Array], list[Array]]:
        """Mean of the server state, its coefficients on each client's start noise, and the same for the clients.

        The start noise of client i is the mean of K oracle noises, of covariance diag(noise^2)/K.
        """
        problem, K = self.problem, self.setup.K
        from_point = self.client.expand(self.maps.start_client, self.point)
        from_gradient = self.client.expand(self.maps.start_client, self.point, column=1)
        root = from_gradient * (self.setup.noise / np.sqrt(K))
        means = [
            from_point @ point + from_gradient @ (H @ point - g)
            for point, H, g in zip(self.setup.point, problem.H, problem.g, strict=True)
        ]
        server_point = self.server.expand(self.maps.start_server, self.point)
        server_clients = self.server.expand(self.maps.start_server, self.client, column=1)
        server = server_point @ self.setup.point[0] + server_clients @ np.mean(means, axis=0)
        return server, server_clients @ root / problem.n, means, [root] * problem.n


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
