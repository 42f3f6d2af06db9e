"""Time averages of one-dimensional runs in which blocks of S clients take their turns, over any number of rounds.

The clients of a block are alike, so that a block is one client whose noise is divided by S. A round costs the same
whatever the number of blocks. As its rounds go on a run is left with its slowest mode, which goes on as powers of one
number: rounds beyond a few turns are summed up as a geometric series. Where all blocks have one curvature, the response
to the noise of a round does not depend on the round, and one response gives all variances.

As in `exchangeable` the numbers are meant for searching: what is claimed of an instance is what the exact engine says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms import Method
from ratecheck.errors import InputError
from ratecheck.exponents.modes.modes import Long, Modes, check_fixed_rounds, client_maps, long

# Turns of all blocks, and rounds at least, after which the slowest mode is all that is left.
_TURNS, _ROUNDS = 8, 200
# A variance that is less than this part of what it was is rounding.
_NOTHING = 1e-15
# Where a mode decays by less over the whole run its decay is not counted: nothing would be left of the digits.
_STANDS = 1e-6


@dataclass(frozen=True)
class CyclicRun:
    """A method with its numbers on the modes of one of its blocks; S clients take part in each round, in turns.

    Group k of the modes comes after group k - 1, and S divides its size. ``step_sizes`` are the method's own
    parameters, fixed ones included. Raises `InputError` for a method whose runs are not of this kind.
    """

    method: Method
    block: str
    S: int
    K: int
    T: int
    step_sizes: Mapping[str, float]

    def __post_init__(self) -> None:
        check_fixed_rounds(self.method)

    def averages(self, modes: Modes, *, start: float = 0.0, noise: float = 0.0) -> NDArray[np.float64]:
        """(1/T) sum_{t<T} E ||grad f(x^t)||^2, (modes,), x being the server's first variable of the block.

        All clients start at ``start``; every gradient has independent noise of variance ``noise``, which takes groups
        of one curvature.
        """
        with np.errstate(all="ignore"):
            run = _CyclicRun(self, modes, noise)
            total = np.zeros(len(modes.curvature), dtype=np.longdouble)
            if start or modes.slope.any():
                total += run.square_of_mean(start)
            if noise:
                total += run.square_of_noise()
            return np.asarray(total / self.T).astype(np.float64)


class _CyclicRun:
    """The server's variables s, and c_b, the mean of what the clients of block b remember.

    In a round of block b, with M_m and M_c the coefficients of message and client on y = (s, 1, c_b),

        s' = A s + S R M_m y,    c_b' = M_c y,    g_t = h s_1 - slope,

    and as |g_t| falls by q = exp(-decay) a round once only the slowest mode is left,

        sum_{t<T} g_t^2 = sum_{t<t_0} g_t^2 + G q^{2B} (1 + q^{2B} + q^{4B} + ...),

    G being the sum over the B rounds before t_0. Noise of round t has the effect d_{j} on g_{t+1+j}, whatever t is, so
    that the variances add up to sum_j (T - 1 - j) d_j^2.
    """

    def __init__(self, run: CyclicRun, modes: Modes, noise: float) -> None:
        if noise and (modes.curvature != modes.curvature[:, :1]).any():
            raise InputError("noise of clients that take turns is known where they have one curvature")
        self.run, self.maps = run, (maps := client_maps(run, modes, noise, run.S))
        self.ds, self.dc = maps.ds, maps.dc
        self.group = np.repeat(np.arange(len(modes.sizes)), [round(size / run.S) for size in modes.sizes])
        kept, send = maps.table("aggregate", self.ds, ((self.ds, maps.maps.server.slots), (maps.dm, maps.dm)))
        self.send = long(send)
        exact = long(maps.without_gradients())
        rounds = [maps.round(group) for group in range(len(modes.sizes))]
        self.rounds = [self._round(long(kept), exact + rows) for rows, _ in rounds]
        self.spread = rounds[0][1]
        share = np.array(modes.sizes) / modes.n
        self.curvature, self.slope = modes.curvature @ share, modes.slope @ share

    def _round(self, kept: Long, rows: Long) -> Long:
        """(s, c)' of (s, 1, c) in a round of one block, (ds + dc, ds + 1 + dc, modes); ``rows`` are (c', message)."""
        found = np.concatenate([self.run.S * self.send @ rows[:, self.dc :], rows[:, : self.dc]], axis=1)
        found[:, : self.ds, : self.ds] += kept
        return np.ascontiguousarray(np.moveaxis(found, 0, -1))

    def _follow(self, server: Long, clients: Long, first: int, one: float) -> Long:
        """The gradients at the server's variables, (rounds, modes), from a state before round ``first`` on.

        ``server`` is (ds, modes) and ``clients`` is (blocks, dc, modes). ``one`` is 1, or 0 for differences of runs.
        """
        blocks, ds = len(self.group), self.ds
        rounds = max(min(max(_TURNS * blocks, _ROUNDS), self.run.T - first), 0)
        found = np.empty((rounds, self.maps.count), dtype=np.longdouble)
        state = np.concatenate([server, np.full((1, self.maps.count), one), clients[0]])
        for t in range(rounds):
            found[t] = state[0]
            b = (t + first) % blocks
            state[ds + 1 :] = clients[b]
            new = (self.rounds[self.group[b]] * state).sum(axis=1)
            state[:ds], clients[b] = new[:ds], new[ds:]
        return np.asarray(self.curvature * found - one * self.slope)

    def square_of_mean(self, start: float) -> Long:
        """The sum over all rounds of the square of the expected gradient, (modes,)."""
        maps = self.maps
        own_x, own_g, by_x, by_c = maps.start()
        if own_g.any():
            raise InputError(f"{self.run.method.name}: its clients remember their first gradients")
        clients = np.broadcast_to((own_x * start)[None], (len(self.group), self.dc, maps.count)).copy()
        server = by_x * start + by_c @ clients[0]
        found = self._follow(server, clients, 0, 1.0)
        total, left, blocks = (found**2).sum(axis=0), self.run.T - len(found), len(self.group)
        if not left:
            return np.asarray(total)
        # Turn by turn, as blocks that are unlike make gradients go up and down within one.
        turn, decay = (found[-blocks:] ** 2).sum(axis=0), 2 * blocks * self._decay(found)
        return np.asarray(total + turn * np.exp(-decay) * _geometric(decay, left / blocks))

    def square_of_noise(self) -> Long:
        """The sum over all rounds of the variance of the gradient, (modes,)."""
        S, T, dc = self.run.S, self.run.T, self.dc
        total = np.zeros(self.maps.count, dtype=np.longdouble)
        for column in _factors(self.spread):
            clients = np.zeros((len(self.group), dc, self.maps.count), dtype=np.longdouble)
            clients[0] = column[:, :dc].T / np.sqrt(np.longdouble(S))
            server = np.sqrt(np.longdouble(S)) * self.send @ column[:, dc:].T
            # Noise of round 0 is seen from round 1 on, that of round t as long as there are rounds.
            found = self._follow(server, clients, 1, 0.0)
            later, last = np.arange(T - 1, T - 1 - len(found), -1), T - 1 - len(found)
            total += (later[:, None] * found**2).sum(axis=0)
            if last > 0:
                decay = 2 * self._decay(found)
                total += found[-1] ** 2 * np.exp(-decay) * _arithmetic(decay, last)
        return np.asarray(total)

    def _decay(self, found: Long) -> Long:
        """The decay of the slowest mode in a round, over one turn of B blocks: -log|g_t/g_{t-B}|/B."""
        blocks = len(self.group)
        end, before = found[-1], found[-1 - blocks]
        return np.where(end == 0, np.inf, -np.log1p((end - before) / before) / blocks)


def _factors(covariance: Long) -> list[Long]:
    """Vectors whose outer products sum up to a covariance, by Cholesky: each (modes, rows)."""
    rest, found = covariance.copy(), []
    for k in range(covariance.shape[-1]):
        pivot = np.where(rest[:, k, k] > _NOTHING * covariance[:, k, k], rest[:, k, k], 0)
        column = np.where(pivot[:, None] > 0, rest[:, :, k] / np.sqrt(pivot)[:, None], 0)
        rest = rest - column[:, :, None] * column[:, None, :]
        if pivot.any():
            found.append(column)
    return found


def _geometric(decay: Long, terms: float) -> Long:
    """1 + q + ... + q^(terms - 1) with q = exp(-decay)."""
    stands = np.abs(decay) * terms < _STANDS
    return np.where(stands, terms, np.expm1(-decay * terms) / np.expm1(-decay))


def _arithmetic(decay: Long, terms: int) -> Long:
    """``terms`` + (``terms`` - 1) q + ... + q^(terms - 1) with q = exp(-decay)."""
    stands = np.abs(decay) * terms < _STANDS
    rest = -np.expm1(-decay)
    last = np.exp(-decay) * -np.expm1(-decay * terms)
    return np.where(stands, terms * (terms + 1) / 2, (terms * rest - last) / rest**2)
