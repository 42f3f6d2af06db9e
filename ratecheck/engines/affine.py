"""One round of one client as an affine map with Gaussian noise, derived from the algorithm's four functions.

On a quadratic f_i the oracle is affine, so K local steps are one affine map: for the vector y = (server, client, 1),
client' and message are W y + noise with covariance N. The cost of W and N is O(log K).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.base import LinearMaps, Space
from ratecheck.engines.setup import Setup

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Which coordinates a group of variable slots occupies: slot s of a space holds that space's d_u or d_v entries."""

    slots: int
    d_u: int
    d_v: int

    @property
    def size(self) -> int:
        """Entries in all: every slot is a full vector (u-part, v-part)."""
        return self.slots * (self.d_u + self.d_v)

    def expand(self, coefficients: Array, columns: Layout) -> Array:
        """The matrix of a slot-to-slot coefficient table (space, self.slots, columns.slots)."""
        d = self.d_u + self.d_v
        matrix = np.zeros((self.slots, d, columns.slots, d))
        for space, part in ((Space.SHARED, slice(0, self.d_u)), (Space.PERSONAL, slice(self.d_u, d))):
            block = np.eye(d)[part, part]
            matrix[:, part, :, part] = np.einsum("oi,ab->oaib", coefficients[space], block)
        return matrix.reshape(self.size, columns.size)


@dataclass(frozen=True)
class ClientRound:
    """client' = client_rows y + noise, message = message_rows y + noise, y = (server, client, 1).

    ``noise`` is the joint covariance of (client', message).
    """

    client_rows: Array
    message_rows: Array
    noise: Array


class AffineRounds:
    """Affine maps of all clients for one setup on a quadratic problem."""

    def __init__(self, setup: Setup) -> None:
        problem = setup.problem
        self.setup, self.maps = setup, setup.maps(problem.n)
        d_u, d_v = problem.d_u, problem.d_v
        self.server = Layout(self.maps.servers, d_u, d_v)
        self.client = Layout(self.maps.clients, d_u, d_v)
        self.local = Layout(self.maps.locals, d_u, d_v)
        self.message = Layout(self.maps.messages, d_u, d_v)
        self.point = Layout(1, d_u, d_v)

    def local_step(self, i: int) -> tuple[Array, Array]:
        """One local step of client i as a matrix on (local, 1), and the covariance of its noise (last row zero)."""
        H, g = self.setup.problem.H[i], self.setup.problem.g[i]
        size, d = self.local.size, self.point.size
        keep = self.local.expand(self.maps.step[:, :, : self.maps.locals], self.local)
        gradient = self.local.expand(self.maps.step[:, :, self.maps.locals :], self.point)
        step = np.zeros((size + 1, size + 1))
        step[:size, :size] = keep
        step[:size, :d] += gradient @ H  # The first slot is the point at which the gradient is taken.
        step[:size, size] = -gradient @ g
        step[size, size] = 1.0
        noise = np.zeros((size + 1, size + 1))
        noise[:size, :size] = (gradient * self.setup.noise**2) @ gradient.T
        return step, noise

    def begin(self) -> Array:
        """The matrix of ``begin`` from y to (local, 1)."""
        matrix = np.zeros((self.local.size + 1, self.inputs))
        matrix[:-1, : self.server.size] = self.local.expand(self.maps.begin[:, :, : self.maps.servers], self.server)
        matrix[:-1, self.server.size : -1] = self.local.expand(self.maps.begin[:, :, self.maps.servers :], self.client)
        matrix[-1, -1] = 1.0
        return matrix

    @property
    def inputs(self) -> int:
        """Length of y = (server, client, 1)."""
        return self.server.size + self.client.size + 1

    def client_round(self, i: int) -> ClientRound:
        """The whole round of client i."""
        step, noise = self.local_step(i)
        power, covariance = _repeat(step, noise, self.setup.K)
        outputs = Layout(self.maps.clients + self.maps.messages, self.client.d_u, self.client.d_v)
        servers, clients = self.maps.servers, self.maps.clients
        from_local = outputs.expand(self.maps.finish[:, :, servers + clients :], self.local)
        matrix = np.zeros((outputs.size, self.inputs))
        matrix[:, : self.server.size] = outputs.expand(self.maps.finish[:, :, :servers], self.server)
        matrix[:, self.server.size : -1] = outputs.expand(
            self.maps.finish[:, :, servers : servers + clients], self.client
        )
        matrix += from_local @ (power @ self.begin())[:-1]
        cut = self.client.size
        return ClientRound(matrix[:cut], matrix[cut:], from_local @ covariance[:-1, :-1] @ from_local.T)

    def aggregate(self, participants: int) -> tuple[Array, Array]:
        """Matrices from the server state and from the sum of messages to the new server state."""
        if participants == 0:
            return np.eye(self.server.size), np.zeros((self.server.size, self.message.size))
        table = self.setup.maps(participants).aggregate
        servers = self.maps.servers
        return self.server.expand(table[:, :, :servers], self.server), self.server.expand(
            table[:, :, servers:], self.message
        )

    def start(self) -> tuple[Array, Array, list[Array], list[Array]]:
        """Mean of the server state, its coefficients on each client's start noise, and the same for the clients.

        The start noise of client i is the mean of K oracle noises, of covariance diag(noise^2)/K.
        """
        problem, K = self.setup.problem, self.setup.K
        n, d = problem.n, self.point.size
        from_point = self.client.expand(self.maps.start_client[:, :, :1], self.point)
        from_gradient = self.client.expand(self.maps.start_client[:, :, 1:], self.point)
        root = from_gradient * (self.setup.noise / np.sqrt(K))
        means = []
        for i in range(n):
            point = self.setup.point[i]
            means.append(from_point @ point + from_gradient @ (problem.H[i] @ point - problem.g[i]))
        server_point = self.server.expand(self.maps.start_server[:, :, :1], self.point)
        server_clients = self.server.expand(self.maps.start_server[:, :, 1:], self.client)
        server = server_point @ self.setup.point[0] + server_clients @ np.mean(means, axis=0)
        assert d == len(self.setup.noise)
        return server, server_clients @ root / n, means, [root] * n


def _repeat(step: Array, noise: Array, times: int) -> tuple[Array, Array]:
    """step^times and sum_{k<times} step^k noise step^k', by repeated squaring."""
    power, covariance = np.eye(len(step)), np.zeros_like(noise)
    square, square_noise = step, noise
    while times:
        if times & 1:
            covariance = square @ covariance @ square.T + square_noise
            power = square @ power
        square_noise = square @ square_noise @ square.T + square_noise
        square = square @ square
        times >>= 1
    return power, covariance
