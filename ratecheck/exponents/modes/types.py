"""Second moments of one-dimensional runs whose clients are alike within types: one map of a round for every law of it.

The clients of a type share curvature and slope, and are exchangeable. Of the N_g clients of type g it is enough to know
the mean c_g of their states, and V_g = E[w_g w_g'] for w_g = sum_i e_i c_i, e a unit vector whose entries add up to 0,
as in `engines.types.populations`. The state that is followed is

    z = (s, 1, c_1, ..., c_G, w_1, ..., w_G).

A client of type g that takes part adds R_g (s, 1, c_i) to (s, c_g), where c_g gets a share of 1/N_g of what its own
state is moved by, X_g (s, 1, c_i); noise has covariance N_i in these. With M = E[z z'], p_g = P(i takes part), the
superscript c for columns of the client's own state, and A = I + sum_g p_g N_g R_g, w_g' = (I + p_g X_g^c) w_g,

    M' = A M A' + sum_g p_g N_g N_i + F,
    given participants  F = 0, and p_g is 0 or 1;
    m of n sampled      F = q sum_g [N_g (R_g - R) M (R_g - R)' + (N_g - 1) R_g^c V_g R_g^c'] in (s, c), and in w_g
                        q [X_g M X_g' + (1 - 1/N_g - 1/n) X_g^c V_g X_g^c'],
                        q = m (n - m)/(n (n - 1)), R = sum_g N_g R_g/n;
    independent         F = sum_g q_g [N_g R_g M R_g' + (N_g - 1) R_g^c V_g R_g^c'], and in w_g
                        q_g [X_g M X_g' + (1 - 1/N_g) X_g^c V_g X_g^c'], q_g = p_g (1 - p_g).

All weights are nonnegative. What is `preserved`, a server's variable less sums over the clients, takes the place of
that variable: rounded, it would drift. The numbers are of NumPy's longest type, and meant for searching: what is
claimed of an instance is what the exact engines say of it, with their rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ratecheck.algebra.linear_algebra import identity
from ratecheck.algorithms.model.algorithm import Algorithm
from ratecheck.engines.moments.preserved import Preserved, of_numbers
from ratecheck.exponents.modes.modes import ClientMaps, Long, long


@dataclass(frozen=True)
class TypeRound:
    """A round as M -> A M A' + sum of weight E M E' + N over the ``fluctuations``, pairs of a weight and a matrix E."""

    A: Long
    N: Long
    fluctuations: list[tuple[Any, Long]] = field(default_factory=list)


@dataclass(frozen=True)
class _Moved:
    """The terms of a participant of a type: R_g on its own and on w_g, X_g on its own and on w_g, each (modes, z, z).

    ``back`` is what it sends of the server's own variables, as rationals, which R_g leaves out.
    """

    back: Any
    mean: Long
    apart: Long
    own: Long
    own_apart: Long
    noise: Long


# All curvatures and families of a setting share their numbers.
@lru_cache(maxsize=256)
def _preserved(algorithm: Algorithm, clients: tuple[tuple[tuple[str, float], ...], ...]) -> list[Preserved]:
    """The preserved combinations where clients have these numbers, and rounds those of the first."""
    numbers = [dict(each) for each in clients]
    return of_numbers(algorithm, numbers, numbers[:1])


class TypeMoments:
    """The state z of a run, for every mode; without the w_g unless ``apart``.

    Of ``clients``, maps at all numbers that clients may have, the first are those of the start.
    """

    def __init__(self, algorithm: Algorithm, clients: Sequence[ClientMaps], *, apart: bool) -> None:
        self.maps = maps = clients[0]
        self.modes, self.ds, self.dc = maps.modes, maps.ds, maps.dc
        self.groups = range(len(self.modes.sizes))
        self.means = self.ds + 1 + len(self.groups) * self.dc
        self.size = self.means + apart * len(self.groups) * self.dc
        # Of means of messages nothing is looked for.
        known = () if algorithm.averages and apart else tuple(tuple(sorted(each.p.items())) for each in clients)
        preserved = [each for each in _preserved(algorithm, known) if each.block == maps.block] if known else []
        self._still = [each.server for each in preserved]
        self.sums = np.zeros((self.size, self.size), dtype=np.longdouble)
        for each in preserved:
            for g in self.groups:
                self.sums[each.server, self.client(g).start + each.client] = each.factor * self.modes.sizes[g]

    def client(self, group: int) -> slice:
        """The places of the mean client of a type in z."""
        first = self.ds + 1 + group * self.dc
        return slice(first, first + self.dc)

    def spread(self, group: int) -> slice:
        """The places of w_g in z."""
        first = self.means + group * self.dc
        return slice(first, first + self.dc)

    @property
    def _unit(self) -> Long:
        return np.eye(self.size, dtype=np.longdouble)

    # --- one round ---

    def given(self, clients: Mapping[int, ClientMaps]) -> TypeRound:
        """All clients of these types take part, with these maps."""
        moved = {g: self._moved(g, maps) for g, maps in clients.items()}
        counts = {g: Fraction(int(self.modes.sizes[g])) for g in clients}
        return self._round(moved, counts, dict.fromkeys(clients, np.longdouble(1)))

    def sampled(self, m: float) -> TypeRound:
        """Of n clients m take part, every subset of them with the same probability."""
        n, m_ = np.longdouble(self.modes.n), np.longdouble(m)
        moved = {g: self._moved(g, self.maps) for g in self.groups}
        found = self._round(moved, self._counts(m, [1.0] * len(moved)), dict.fromkeys(moved, m_ / n))
        if q := m_ * (n - m_) / (n * np.longdouble(max(self.modes.n - 1, 1))):
            mean = np.sum([self.modes.sizes[g] / n * each.mean for g, each in moved.items()], axis=0)
            for g, each in moved.items():
                size = np.longdouble(self.modes.sizes[g])
                found.fluctuations.append((q * size, self._about(each.mean - mean)))
                found.fluctuations.extend(self._apart(each, size, q, q * (1 - 1 / size - 1 / n)))
        return found

    def independent(self, m: float, p: Sequence[float]) -> TypeRound:
        """Clients take part on their own, those of type g with probability ``p[g]``; m of them in the mean."""
        moved = {g: self._moved(g, self.maps) for g in self.groups}
        found = self._round(moved, self._counts(m, p), dict(enumerate(map(np.longdouble, p))))
        for g, each in moved.items():
            size, q = np.longdouble(self.modes.sizes[g]), np.longdouble(p[g]) * (1 - np.longdouble(p[g]))
            if q:
                whole = each.mean.copy()
                whole[:, : self.ds, : self.ds] += long(each.back)
                found.fluctuations.append((q * size, self._about(whole)))
                found.fluctuations.extend(self._apart(each, size, q, q * (1 - 1 / size)))
        return found

    def _counts(self, m: float, p: Sequence[float]) -> dict[int, Fraction]:
        """How many of each type take part in the mean: exactly m together."""
        parts = [Fraction(size) * Fraction(each) for size, each in zip(self.modes.sizes, p, strict=True)]
        return {g: Fraction(m) * parts[g] / sum(parts) for g in self.groups}

    def _send(self, maps: ClientMaps) -> tuple[Any, Any]:
        kept, send = maps.table("aggregate", self.ds, ((self.ds, maps.maps.server.slots), (maps.dm, maps.dm)))
        return kept, send

    def _round(
        self, moved: Mapping[int, _Moved], counts: Mapping[int, Fraction], p: Mapping[int, np.longdouble]
    ) -> TypeRound:
        """A and N, where ``counts`` of each type take part in the mean, each client with probability ``p``."""
        A = np.zeros((self.maps.count, self.size, self.size), dtype=np.longdouble)
        N = np.zeros_like(A)
        A[:, range(self.size), range(self.size)] = 1
        # What comes back of the server's own variables is added up with rationals, where it cancels.
        server = self._send(self.maps)[0] - identity(self.ds)
        for g, each in moved.items():
            server = server + counts[g] * each.back
            A += p[g] * (self.modes.sizes[g] * each.mean + each.own_apart)
            N += p[g] * each.noise
        A[:, : self.ds, : self.ds] += long(server)
        A, N = self._about(A), (self._unit - self.sums) @ N @ (self._unit - self.sums).T
        A[:, self._still] = self._unit[self._still]
        N[:, self._still], N[:, :, self._still] = 0, 0
        return TypeRound(A, N)

    def _moved(self, g: int, maps: ClientMaps) -> _Moved:
        s, dc, size, here = self.ds + 1, self.dc, self.modes.sizes[g], self.client(g)
        exact, (rows, noise), send = maps.without_gradients(), maps.round(g), self._send(maps)[1]
        own = exact[:dc].copy()
        own[:, s:] -= identity(dc)
        change, sent = rows[:, :dc] + long(own), long(send) @ rows[:, dc:]
        sent[:, :, s:] += long(send.dot(exact[dc:, s:]))
        columns = [*range(s), *range(here.start, here.stop)]
        mean, apart, alone, alone_apart = np.zeros((4, maps.count, self.size, self.size), dtype=np.longdouble)
        mean[:, : self.ds, columns], mean[:, here, columns] = sent, change / size
        lift = np.zeros((self.size, dc + maps.dm), dtype=np.longdouble)
        lift[: self.ds, dc:], lift[here, :dc] = long(send), np.eye(dc) / np.longdouble(size)
        noise, single = size * (lift @ noise @ lift.T), noise[:, :dc, :dc]
        if self.size > self.means and size > 1:
            spread = self.spread(g)
            apart[:, : self.ds, spread], apart[:, here, spread] = sent[:, :, s:], change[:, :, s:] / size
            alone[:, spread, columns], alone_apart[:, spread, spread] = change, change[:, :, s:]
            noise[:, spread, spread] = single
        return _Moved(send.dot(exact[dc:, : self.ds]), mean, apart, alone, alone_apart, noise)

    def _apart(self, moved: _Moved, size: Any, q: Any, own: Any) -> list[tuple[Any, Long]]:
        """Fluctuations from what clients of a type differ by, and of it, by w_g with the weight ``own``."""
        if size <= 1:
            return []
        return [
            (q * (size - 1), self._about(moved.apart)), (q, self._about(moved.own)),
            (own, self._about(moved.own_apart)),
        ]  # fmt: skip

    def _about(self, matrix: Long) -> Long:
        """A matrix on z where z is (I + sums) times what is followed, of which preserved variables stay."""
        found = (self._unit - self.sums) @ matrix @ (self._unit + self.sums)
        found[:, self._still] = 0
        return np.asarray(found)

    # --- the start ---

    def start(self, start: float) -> Long:
        """E[z z'] before round 0, (modes, z, z), where all clients start at ``start``."""
        maps, n = self.maps, self.modes.n
        own_x, own_g, by_x, by_c = maps.start()
        matrix, constant = maps.oracle()
        slope = matrix * start - constant
        mean = np.zeros((maps.count, self.size), dtype=np.longdouble)
        mean[:, : self.ds], mean[:, self.ds] = by_x[:, 0] * start, 1
        covariance = np.zeros((maps.count, self.size, self.size), dtype=np.longdouble)
        # The mean of K gradients at the start, in what the clients remember of it.
        noise = maps.noise / maps.p["K"] * (own_g @ own_g.T)
        for g, size in enumerate(self.modes.sizes):
            first = own_x[:, 0] * start + own_g[:, 0] * slope[:, g, None]
            mean[:, self.client(g)] = first
            mean[:, : self.ds] += size / n * first @ by_c.T
            lift = np.zeros((self.size, self.dc), dtype=np.longdouble)
            lift[: self.ds], lift[self.client(g)] = size / n * by_c, np.eye(self.dc)
            covariance += lift @ noise @ lift.T / size
            if self.size > self.means and size > 1:
                covariance[:, self.spread(g), self.spread(g)] = noise
        back = self._unit - self.sums
        return np.asarray(back @ (mean[:, :, None] * mean[:, None, :] + covariance) @ back.T)
