"""Time averages of one-dimensional runs in which blocks of S clients come in an order that is drawn anew in each epoch.

The order is uniform, so that clients are exchangeable among the N_u that have had no turn in the epoch, and among the
N_v that have. A client has c = (what it remembers, its slope): slopes differ and never change, and add up to zero. As
in `types` the state is y = (s, u, v), with the means u and v of what both kinds have, and V_u, V_v are what clients of
one kind differ by. Of S that take part the mean is p = u + e, where E[e e'] = (1/S - 1/N_u) V_u, and it becomes
p' = p + X (s, p) + noise. With N = N_v + S, in a round

    s' = A s + S R p + noise,    u' = u - S/(N_u - S) e,    v' = (N_v v + S p')/N,    V_u' = V_u,
    V_v' = [(N_v - 1) V_v + (S - 1) V_p + N_v S/N E (v - p') (v - p')']/(N - 1),

V_p = (I + X) V_u (I + X)' + noise. After n/S rounds v and V_v are u and V_u of the next epoch, by a linear map of their
entries, of which T rounds take log T powers. A round costs the same whatever the number of clients. What is `preserved`
takes the place of the server's variable: rounded, it would drift. The numbers are meant for searching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms import Method
from ratecheck.engines.moments.preserved import of_numbers
from ratecheck.errors import InputError
from ratecheck.exponents.modes.modes import Long, Modes, check_fixed_rounds, client_maps, long, sum_over_rounds

# E[y y'], V_u and V_v, each (numbers, modes, rows, columns).
_Moments = tuple[Long, Long, Long]


@dataclass(frozen=True)
class ReshuffledRun:
    """A method with its numbers on the modes of one of its blocks; epochs of n/S rounds, S of n clients in each.

    S divides n, the number of clients of the modes. ``step_sizes`` are the method's own parameters, fixed ones
    included. Raises `InputError` for a method whose runs are not of this kind.
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

        All clients start at ``start``; every gradient has independent noise of variance ``noise``. Raises `InputError`
        where clients differ in curvature, or their slopes do not add up to zero.
        """
        with np.errstate(all="ignore"):
            return _ReshuffledRun(self, modes, noise).average(start).astype(np.float64)


class _ReshuffledRun:
    """The map of a round on y, the server's variables s being those that are not preserved."""

    def __init__(self, run: ReshuffledRun, modes: Modes, noise: float) -> None:
        share = np.array(modes.sizes) / modes.n
        if (modes.curvature != modes.curvature[:, :1]).any():
            raise InputError("an order that is drawn anew is known for clients of one curvature")
        if (np.abs(modes.slope @ share) > 1e-12 * np.abs(modes.slope) @ share).any():
            raise InputError("an order that is drawn anew is known for slopes that add up to zero")
        self.run, self.n, self.S, self.noise = run, round(modes.n), run.S, noise
        self.curvature, self.spread = np.asarray(modes.curvature[:, 0], dtype=np.longdouble), modes.slope**2 @ share
        # A client of slope one: what is in its constant is by the slope.
        unit = Modes(modes.curvature[:, :1], np.ones_like(modes.slope[:, :1]), (modes.n,))
        self.maps = maps = client_maps(run, unit, noise, run.S)
        self.dc, block = maps.dc, run.method.algorithm.blocks.index(run.block)
        self.preserved = [each for each in of_numbers(run.method.algorithm, [maps.p], [maps.p]) if each.block == block]
        self.free = [k for k in range(maps.ds) if k not in {each.server for each in self.preserved}]
        self._read_round()

    def _read_round(self) -> None:
        """Read ``back`` and ``by_s`` of all of the server's variables, for s and p, and ``sent`` and ``own`` of p."""
        maps, ds, dc, S = self.maps, self.maps.ds, self.dc, self.S
        kept, send = maps.table("aggregate", ds, ((ds, maps.maps.server.slots), (maps.dm, maps.dm)))
        exact, (rows, noise) = maps.without_gradients(), maps.round(0)
        sending, own = long(send)[self.free], long(exact) + rows
        # What participants send of the server's variables comes back to it: with rationals, that cancels.
        self.back = long(kept + Fraction(S) * send.dot(exact[dc:, :ds]))[self.free] + S * sending @ rows[:, dc:, :ds]
        # The slope of a client stands last, and stays.
        has = [*range(ds + 1, ds + 1 + dc), ds]
        self.sent = S * sending @ own[:, dc:, has]
        self.by_s, self.own = (np.pad(own[:, :dc, each], ((0, 0), (0, 1), (0, 0))) for each in (range(ds), has))
        self.own[:, dc, dc] = 1
        lift = np.zeros((len(self.free) + dc + 1, dc + maps.dm), dtype=np.longdouble)
        lift[: len(self.free), dc:], lift[len(self.free) : -1, :dc] = S * sending, np.eye(dc)
        # Of (s, p') from one that takes part.
        self.shock = lift @ noise @ lift.T / S

    # --- the moments at the beginning of an epoch, where nobody has had a turn ---

    @cached_property
    def _entries(self) -> tuple[Long, Long]:
        """The independent entries, rows above columns, of E[y y'] and of V_u; slopes are as they are."""
        means, has = range(len(self.free) + self.dc), range(self.dc + 1)
        found = ([(a, b) for a in size for b in size if a <= b] for size in (means, has))
        of_means, apart = (np.array(each).T for each in found)
        return of_means, apart[:, :-1]

    def _unpacked(self) -> _Moments:
        """The moments of which one independent number is 1; the last number is the constant one."""
        of_means, apart = self._entries
        ahead, w, count = len(of_means[0]), self.dc + 1, len(self.curvature)
        numbers, size = ahead + len(apart[0]) + 1, len(self.free) + 2 * w
        M = np.zeros((numbers, count, size, size), dtype=np.longdouble)
        V = np.zeros((numbers, count, w, w), dtype=np.longdouble)
        for found, first, pairs in ((M, 0, of_means), (V, ahead, apart)):
            for k, (a, b) in enumerate(pairs.T, first):
                found[k, :, a, b] = found[k, :, b, a] = 1
        V[-1, :, -1, -1] = self.spread * self.n / max(self.n - 1, 1)
        return M, V, np.zeros_like(V)

    def _packed(self, moments: _Moments) -> Long:
        """The independent numbers at the end of an epoch, where everybody has had a turn, (..., modes, numbers)."""
        M, _, V = moments
        of_means, apart = self._entries
        # v stands where u stood.
        shift = (self.dc + 1) * (of_means >= len(self.free))
        one = np.zeros((*M.shape[:2], 1), dtype=np.longdouble)
        one[-1] = 1
        return np.concatenate([M[..., *(of_means + shift)], V[..., *apart], one], axis=-1)

    # --- one round ---

    def _round(self, moments: _Moments, turn: int) -> _Moments:
        """The moments after the round of this number within its epoch."""
        M, waits, had = moments
        S, w, f, count = self.S, self.dc + 1, len(self.free), len(self.curvature)
        done = turn * S
        waiting, after, own, identity = self.n - done, done + S, self.own, np.eye(w, dtype=np.longdouble)
        s, u, v = slice(0, f), slice(f, f + w), slice(f + w, f + 2 * w)
        share, of_e = S / np.longdouble(after), 1 / np.longdouble(S) - 1 / np.longdouble(waiting)
        # All of the server's variables, of y: what is preserved adds sums over the clients.
        full = np.zeros((self.maps.ds, f + 2 * w), dtype=np.longdouble)
        full[self.free, range(f)] = 1
        for each in self.preserved:
            full[each.server, [f + each.client, f + w + each.client]] = each.factor * waiting, each.factor * done
        new, by_e = (
            np.zeros((count, f + 2 * w, f + 2 * w), np.longdouble),
            np.zeros((count, f + 2 * w, w), np.longdouble),
        )
        p = self.by_s @ full
        p[:, :, u] += own
        new[:, s], new[:, u, u], new[:, v] = self.back @ full, identity, share * p
        new[:, s, u] += self.sent
        new[:, v, v] += (1 - share) * identity
        by_e[:, s], by_e[:, u], by_e[:, v] = self.sent, -S / max(waiting - S, 1) * identity, share * own
        apart = -p
        apart[:, :, v] += identity
        moved = own @ waits @ _turned(own)
        between = apart @ M @ _turned(apart) + of_e * moved
        M = new @ M @ _turned(new) + of_e * by_e @ waits @ _turned(by_e)
        if self.noise:
            lift = np.zeros((f + 2 * w, f + w))
            lift[s, s], lift[v, u] = np.eye(f), share * identity
            M[-1] += lift @ self.shock @ lift.T
            moved[-1] += S * self.shock[:, u, u]
            between[-1] += self.shock[:, u, u]
        had = max(done - 1, 0) * had + (S - 1) * moved + done * share * between
        return M, waits, had / max(after - 1, 1)

    def _epoch(self, rounds: int) -> tuple[Long, Long]:
        """The sum over the first rounds of an epoch as a form of the numbers at its beginning, and their map.

        (modes, numbers) and (modes, numbers, numbers); the map is meant for whole epochs.
        """
        moments = self._unpacked()
        form = np.zeros(moments[0].shape[:2], dtype=np.longdouble)
        for turn in range(rounds):
            form += self.curvature**2 * moments[0][..., 0, 0]
            moments = self._round(moments, turn)
        return form.T, np.moveaxis(self._packed(moments), 0, -1)

    # --- the start, the average ---

    def _start(self, start: float) -> Long:
        """The independent numbers before round 0, (modes, numbers)."""
        own_x, own_g, by_x, by_c = self.maps.start()
        if own_g.any():
            raise InputError(f"{self.run.method.name}: its clients remember their first gradients")
        c = own_x[:, 0] * start
        server = by_x[:, 0] * start + by_c @ c
        for each in self.preserved:
            if server[each.server] != each.factor * self.n * c[each.client]:
                raise InputError(f"{self.run.method.name}: what no round changes is not zero at the start")
        of_means, apart = self._entries
        y = np.concatenate([server[self.free], c])
        found = [*(y[of_means[0]] * y[of_means[1]]), *np.zeros(len(apart[0])), 1]
        return np.tile(np.array(found, dtype=np.longdouble), (len(self.curvature), 1))

    def average(self, start: float) -> Long:
        """(1/T) sum over t < T of E ||grad f(x^t)||^2, (modes,)."""
        blocks = self.n // self.S
        epochs, rest = divmod(self.run.T, blocks)
        moments = self._start(start)
        total = np.zeros(len(self.curvature), dtype=np.longdouble)
        if epochs:
            form, power = self._epoch(blocks)
            total, moments = sum_over_rounds(form, power, moments, epochs)
        if rest:
            total = total + (self._epoch(rest)[0] * moments).sum(axis=-1)
        return np.asarray(total / self.run.T)


def _turned(matrix: Long) -> Long:
    return np.swapaxes(matrix, -1, -2)
