"""Clients that differ in nothing but their linear terms and noise, and come at the same times, as one: their mean.

Rounds are linear in the clients' states, so that the server needs of such a group only the mean of its states: the sum
of its messages is its size times the message of the mean, whose noise has the covariance of one client's divided by the
size. A group's members have the same H_i, local steps, weights and step sizes, and stand in the same rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.moments.expectation import Moments
from ratecheck.engines.moments.moment import Moment, majorant
from ratecheck.engines.moments.preserved import preserved
from ratecheck.engines.records import plan


@dataclass(frozen=True)
class GroupedRound:
    """One round z' = z + change z + noise of the grouped state.

    ``rows`` are those that change. In units of rounding, ``error`` bounds the entries by which the change is off; the
    noise of covariance ``noise`` is off by ``off[k]`` in mean square, its covariance by ``rough[k]*rough[l]``.
    """

    change: Array
    error: Array
    noise: Array
    off: Array
    rough: Array

    @property
    def rows(self) -> NDArray[np.intp]:
        """Positions of what the round moves."""
        return np.flatnonzero(self.change.any(axis=1) | self.noise.any(axis=1))


class Grouped:
    """The state (server, mean of group 1, ..., mean of group r, 1) of a run whose participants are given.

    ``schedule`` (rounds, n) says when clients come. Where a recorded quantity is about more than the server's point,
    every client is a group of its own. What is `preserved` takes the place of the server's variable in it.
    """

    def __init__(self, moments: Moments, schedule: NDArray[np.bool_]) -> None:
        self.moments = moments
        server, client = moments.server, moments.client
        self.groups = groups(moments, schedule)
        self.size = server + len(self.groups) * client + 1
        self._of = np.empty(moments.n, dtype=int)
        for a, members in enumerate(self.groups):
            self._of[members] = a
        # What states are as maps of the grouped one, and the other way round.
        self.lift, self._means = np.zeros((moments.size, self.size)), np.zeros((self.size, moments.size))
        kept = [*range(server), -1]
        self.lift[kept, kept] = self._means[kept, kept] = 1.0
        for i, a in enumerate(self._of):
            here, there = moments.outputs(i)[server:], server + a * client + np.arange(client)
            self.lift[here, there] = 1.0
            self._means[there, here] = 1 / len(self.groups[a])
        # In place of a server's variable, what of it no round changes: state = basis @ coordinates.
        self._basis, self._inverse = np.eye(self.size), np.eye(self.size)
        self._still = self._preserved(schedule)
        self.lift = self.lift @ self._basis

    def _preserved(self, schedule: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Positions of what no round changes, for which ``basis`` and ``inverse`` make room."""
        moments, still = self.moments, [np.zeros(0, dtype=np.intp)]
        counts = {int(count) for count in schedule.sum(axis=1)}
        layout = moments.rounds_of
        for each in preserved(moments.setup, [int(members[0]) for members in self.groups], counts):
            rows = layout.server.variable(each.block, each.server)
            columns = layout.client.variable(each.block, each.client)
            still.append(rows)
            for a, members in enumerate(self.groups):
                there = moments.server + a * moments.client + columns
                self._basis[rows, there] = each.factor * len(members)
                self._inverse[rows, there] = -each.factor * len(members)
        return np.concatenate(still)

    def start(self) -> Moment:
        """The moment of the starting state."""
        moment, G = self.moments.start(), self._inverse @ self._means
        covariance, off, rounding = (G @ part @ G.T for part in (moment.covariance, moment.off, moment.rounding))
        nothing = np.zeros(self.size)
        # Put together from the clients, what is preserved is rounded once more.
        unit, large = self.moments.n + 8, np.abs(G)
        spread = large @ np.sqrt(np.maximum(np.diagonal(moment.covariance), 0.0))
        off += np.diag(majorant(unit * (large @ np.abs(moment.mean))))
        rounding += np.diag(majorant(np.sqrt(2 * unit) * spread))
        return Moment(G @ moment.mean, covariance, off, rounding, nothing, nothing)

    def round(self, members: NDArray[np.intp], delays: NDArray[np.intp]) -> GroupedRound:
        """The round of these clients at these delays."""
        moments, size = self.moments, self.size
        server, client = moments.server, moments.client
        keep = moments.rounds_of.aggregate_change(len(members))
        _, to_server = moments.rounds_of.aggregate(len(members))
        change, error, large, noise = (np.zeros((size, size)) for _ in range(4))
        off, rough = np.zeros(size), np.zeros(size)
        change[:server, :server] = keep
        error[:server, :server] = 4 * np.abs(keep)
        for i, delay in zip(members, delays, strict=True):
            B, wrong, own = moments.increment(int(i), float(delay), to_server)
            a = self._of[i]
            rows = np.concatenate([np.arange(server), server + a * client + np.arange(client)])
            columns = np.append(rows, size - 1)
            share = np.ones(len(rows))
            share[server:] /= len(self.groups[a])
            change[np.ix_(rows, columns)] += share[:, None] * B
            large[np.ix_(rows, columns)] += share[:, None] * np.abs(B)
            error[np.ix_(rows, columns)] += share[:, None] * wrong
            noise[np.ix_(rows, rows)] += share[:, None] * own.covariance * share
            off[rows], rough[rows] = np.hypot(off[rows], share * own.off), np.hypot(rough[rows], share * own.rough)
        roots = np.sqrt(np.maximum(np.diagonal(noise), 0.0))
        unit, basis = moments.n + 8, np.abs(self._basis)
        rough = np.hypot(rough, np.sqrt(unit) * roots)
        error = (error + unit * (large + np.abs(change) * (self._basis != np.eye(size)).any())) @ basis
        change = change @ self._basis
        # Nothing is added to what is preserved; the other coordinates are as they were.
        for part in (change, error, noise, off, rough):
            part[self._still] = 0.0
        noise[:, self._still] = 0.0
        return GroupedRound(change, error, noise, off, rough)


def groups(moments: Moments, schedule: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """The clients of every group."""
    setup, n = moments.setup, moments.n
    if any(record.terms for record in plan(setup).records):
        return [np.array([i]) for i in range(n)]
    oracle = moments.rounds_of
    found: dict[tuple[object, ...], list[int]] = {}
    for i in range(n):
        sizes = tuple(float(v[i]) for v in setup.step_sizes.values() if isinstance(v, np.ndarray))
        own = (oracle.M[i], oracle.M_error[i], setup.weights[i], schedule[:, i])
        key = int(setup.local_steps[i]), float(setup.shares[i]), sizes, *(part.tobytes() for part in own)
        found.setdefault(key, []).append(i)
    return [np.array(members) for members in found.values()]
