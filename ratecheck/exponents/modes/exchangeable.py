"""Time averages of one-dimensional runs whose clients are alike within groups, at a cost that does not depend on n.

A quadratic whose matrices are diagonal splits into one-dimensional modes that do not know of one another. On one mode
the clients of a group, which share curvature and slope, are exchangeable when m of n clients are sampled uniformly: the
second moments of the server's variables s, of one client's c, and of two clients' are all that there is to know. They
follow one linear map of some ten to thirty numbers, whatever n is, and T rounds and K local steps take O(log T) and
O(log K) products. Many curvatures are computed at once. The same holds where every client takes part independently of
the others, with the probability of its group.

What is `preserved` takes the place of the server's variable in it: rounded, it would drift. The numbers are of NumPy's
longest type. They are meant for searching: what is claimed of an instance is what `exact` or `averages` say of it, with
their rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms import Method
from ratecheck.algorithms.model.algorithm import LinearMaps, TermMap, TermOver
from ratecheck.engines.moments.preserved import Preserved, of_numbers
from ratecheck.errors import InputError
from ratecheck.exponents.modes.modes import ClientMaps, Long, Modes, identity, long, mean_over_rounds


@dataclass(frozen=True)
class ModeRun:
    """A method with its numbers, on the modes of one of its blocks; m of n clients are sampled uniformly.

    With ``probabilities`` each client takes part with that of its group, independently; m is how many do in the mean.
    ``step_sizes`` are the method's own parameters, fixed ones included. Raises `InputError` for a method whose runs are
    not of this kind.
    """

    method: Method
    block: str
    m: float
    K: int
    T: int
    step_sizes: Mapping[str, float]
    probabilities: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        algorithm = self.method.algorithm
        if algorithm.uses_delay or algorithm.bilevel or (self.probabilities and algorithm.averages):
            raise InputError(f"{self.method.name}: its rounds are no fixed linear map")

    def averages(
        self, modes: Modes, weights: Mapping[str, float], *, start: float = 0.0, noise: float = 0.0
    ) -> NDArray[np.float64]:
        """(1/T) sum_{t<T} E sum_q weights[q] q over recorded quantities q, (modes,).

        All clients start at ``start``; every gradient has independent noise of variance ``noise``.
        """
        with np.errstate(all="ignore"):
            return _Moments(self, modes, noise).average(weights, start).astype(np.float64)


@dataclass(frozen=True)
class _RoundParts:
    """The server's next state is ``keep`` z and what participants send; a participant's own one changes.

    ``keep`` has what m participants send of the server's own variables, which of one of them is ``back`` z. ``sent``,
    ``change`` and ``pick`` (which takes a client out of z) are by group and by which of its two clients; ``noise`` are
    the covariances of (sent, change), by group.
    """

    keep: Long
    back: Long
    sent: dict[tuple[int, int], Long]
    change: dict[tuple[int, int], Long]
    pick: dict[tuple[int, int], Long]
    noise: list[Long]


class _Moments:
    """The linear map of the second moments, one for every mode.

    The state that is followed is z = (s, 1, c_{1,1}, c_{1,2}, c_{2,1}, c_{2,2}, ...): the server, the constant one, and
    two clients of every group.
    """

    def __init__(self, run: ModeRun, modes: Modes, noise: float) -> None:
        self.run, self.modes, self.noise = run, modes, noise
        self.clients = ClientMaps(run.method, run.block, modes, noise, self._parameters())
        self.maps, self.ds, self.dc, self.dm = self.clients.maps, self.clients.ds, self.clients.dc, self.clients.dm
        self.block = run.method.algorithm.blocks.index(run.block)
        self.groups = len(modes.sizes)
        self.count = len(modes.curvature)
        self.size = self.ds + 1 + 2 * self.groups * self.dc
        self.places = self._places()
        self.preserved = self._preserved()

    # --- the parts of z ---

    def client(self, group: int, which: int) -> slice:
        """Where a client of a group stands in z."""
        first = self.ds + 1 + (2 * group + which) * self.dc
        return slice(first, first + self.dc)

    def _places(self) -> list[list[tuple[int, int]]]:
        """The entries of E[z z'] that are equal, a list for every independent number."""
        s, dc = range(self.ds + 1), range(self.dc)
        found = [[(a, b)] for a in s for b in s if a <= b]
        for g in range(self.groups):
            one, two = self.client(g, 0).start, self.client(g, 1).start
            found += [[(a, one + b), (a, two + b)] for a in s for b in dc]
            for a, b in ((a, b) for a in dc for b in dc if a <= b):
                found += [[(one + a, one + b), (two + a, two + b)], [(one + a, two + b), (one + b, two + a)]]
            for other in range(g + 1, self.groups):
                its = [self.client(other, which).start for which in (0, 1)]
                found += [[(x + a, y + b) for x in (one, two) for y in its] for a in dc for b in dc]
        return [sorted({*places} | {(b, a) for a, b in places}) for places in found]

    def _unpacked(self) -> Long:
        """The matrices E[z z'] of which one independent number is 1, (numbers, size, size)."""
        basis = np.zeros((len(self.places), self.size, self.size), dtype=np.longdouble)
        for k, places in enumerate(self.places):
            for place in places:
                basis[(k, *place)] = 1
        return basis

    def _packed(self, moments: Long) -> Long:
        """The independent numbers of matrices E[z z']."""
        return np.stack([moments[(..., *places[0])] for places in self.places], axis=-1)

    # --- what no round changes ---

    def _preserved(self) -> list[Preserved]:
        """Where messages are added up; of their means nothing is looked for."""
        if self.run.method.algorithm.averages:
            return []
        p = self.clients.p
        return [each for each in of_numbers(self.run.method.algorithm, [p], [p]) if each.block == self.block]

    def _shifted(self, sign: int) -> Long:
        """The map of the independent numbers that adds to the server's preserved variables the sums over the clients.

        With ``sign`` -1 it takes them away, which leaves what no round changes.
        """
        found = self._unpacked()
        for each in self.preserved:
            total = np.zeros(found.shape[:2], dtype=np.longdouble)
            for g, size in enumerate(self.modes.sizes):
                one, two = (self.client(g, which) for which in (0, 1))
                total += size * found[:, one.start + each.client]
                # Of the clients of its own group one is the client itself.
                same, apart = found[:, one.start + each.client, one], found[:, two.start + each.client, one]
                total[:, one] -= (size - 1) * (same - apart)
                total[:, two] = total[:, one]
            factor, row = sign * np.longdouble(each.factor), each.server
            sums = [size * total[:, self.client(g, 0).start + each.client] for g, size in enumerate(self.modes.sizes)]
            found[:, row] += factor * total
            found[:, :, row] += factor * total
            found[:, row, row] += factor**2 * np.sum(sums, axis=0)
        return self._packed(found).T

    def _of_preserved(self) -> NDArray[np.bool_]:
        """Which independent numbers have something preserved in them."""
        rows = {each.server for each in self.preserved}
        return np.array([bool(rows & {*places[0]}) for places in self.places])

    # --- one round ---

    def _parameters(self) -> dict[str, float]:
        run, n = self.run, self.modes.n
        sizes = {"n": n, "m": run.m, "K": run.K, "delay": math.inf, "weight": 1.0, "p": 1 / n}
        return {**sizes, "norm": run.K, "mean_norm": run.K, **run.step_sizes}

    def _parts(self) -> _RoundParts:
        """What a round does to the server, and what each client adds if it takes part."""
        s, dc, D = self.ds + 1, self.dc, self.size
        kept, send = self.clients.table("aggregate", self.ds, ((self.ds, self.maps.server.slots), (self.dm, self.dm)))
        exact = self.clients.without_gradients()
        # What the m participants send of the server's own variables comes back to it: with rationals, that cancels.
        back = send.dot(exact[self.dc :, : self.ds])
        keep = np.zeros((1, s, D), dtype=np.longdouble)
        keep[0, : self.ds, : self.ds] = long(kept + Fraction(self.run.m) * back)
        keep[0, self.ds, self.ds] = 1
        sending, by_client = long(send), long(send.dot(exact[self.dc :, s:]))
        own = exact[: self.dc].copy()
        own[:, s:] -= identity(dc)
        once = np.zeros_like(keep)
        once[0, : self.ds, : self.ds] = long(back)
        parts = _RoundParts(keep, once, {}, {}, {}, [])
        for g in range(self.groups):
            rows, noise = self.clients.round(g)
            lift = np.zeros((s + dc, dc + self.dm), dtype=np.longdouble)
            lift[: self.ds, dc:], lift[s:, :dc] = sending, np.eye(dc)
            parts.noise.append((lift @ noise @ lift.T)[:, None])
            for which in (0, 1):
                here = self.client(g, which)
                columns = [*range(s), *range(here.start, here.stop)]
                change, sent = (np.zeros((self.count, k, D), dtype=np.longdouble) for k in (dc, s))
                change[:, :, columns] = rows[:, :dc] + long(own)
                sent[:, : self.ds, columns] = sending @ rows[:, dc:]
                sent[:, : self.ds, here] += by_client
                pick = np.zeros((1, dc, D), dtype=np.longdouble)
                pick[0, range(dc), range(here.start, here.stop)] = 1
                parts.sent[g, which], parts.change[g, which], parts.pick[g, which] = sent, change, pick
        return parts

    def _round(self) -> Long:
        """The map of the independent numbers over one round, (modes, numbers, numbers)."""
        n, sizes, alone = self.modes.n, self.modes.sizes, self.run.probabilities
        # P(i takes part), by group, and P(i and j do) over their product.
        m = self.run.m
        # In long numbers: what comes back to the server cancels.
        p = tuple(map(np.longdouble, alone)) if alone else (np.longdouble(m) / np.longdouble(n),) * self.groups
        both_over_each = 1.0 if alone or n <= 1 else np.longdouble(m - 1) * n / (np.longdouble(m) * (n - 1))
        # How many take part may be random: its variance, by client of each group.
        varied = [each * (1 - each) if alone else 0.0 for each in p]
        s, parts, basis = self.ds + 1, self._parts(), self._unpacked()[None]
        unit = basis[:, :, self.ds, self.ds][..., None, None]
        keep, sent, change, pick = parts.keep, parts.sent, parts.change, parts.pick

        def form(left: Long, right: Long) -> Long:
            """E[(left z)(right z)'] for every element of the basis."""
            return np.asarray(left[:, None] @ basis @ np.swapaxes(right[:, None], -1, -2))

        new = np.zeros((self.count, len(self.places), self.size, self.size), dtype=np.longdouble)
        total: Long = np.sum([size * p[g] * sent[g, 0] for g, size in enumerate(sizes)], axis=0)
        both = form(keep, total)
        server = form(keep, keep) + both + np.swapaxes(both, -1, -2) + both_over_each * form(total, total)
        for g, size in enumerate(sizes):
            # The square of ``total`` takes all clients of a group for one and the same.
            same, apart = form(sent[g, 0], sent[g, 0]), form(sent[g, 0], sent[g, 1])
            server = server + size * (p[g] - varied[g]) * same
            server = server + both_over_each * p[g] ** 2 * size * ((size - 1) * apart - size * same)
            if varied[g]:
                whole = parts.back + sent[g, 0]
                server = server + size * varied[g] * form(whole, whole)
            server = server + size * p[g] * parts.noise[g][..., :s, :s] * unit
        new[:, :, :s, :s] = server
        for g, size in enumerate(sizes):
            mine, moved, noise = pick[g, 0], change[g, 0], p[g] * parts.noise[g] * unit
            others = total + p[g] * ((size - 1) * sent[g, 1] - size * sent[g, 0])
            cross = form(keep, mine) + p[g] * (form(keep, moved) + form(sent[g, 0], mine) + form(sent[g, 0], moved))
            cross = cross + form(others, mine) + both_over_each * p[g] * form(others, moved) + noise[..., :s, s:]
            cross = cross + varied[g] * form(parts.back, moved) if varied[g] else cross
            own = form(mine, mine) + p[g] * (form(mine, moved) + form(moved, mine) + form(moved, moved))
            here = self.client(g, 0)
            new[:, :, :s, here], new[:, :, here, here] = cross, own + noise[..., s:, s:]
            for h in range(g, self.groups):
                which = int(h == g)
                other, its = pick[h, which], change[h, which]
                apart = form(mine, other) + p[h] * form(mine, its) + p[g] * form(moved, other)
                apart = apart + both_over_each * p[g] * p[h] * form(moved, its)
                new[:, :, here, self.client(h, which)] = apart
        power = np.swapaxes(self._packed(new), -1, -2)
        if not self.preserved:
            return power
        power, still = self._shifted(-1) @ power @ self._shifted(1), self._of_preserved()
        power[:, still[:, None] & ~still] = 0
        return np.asarray(power)

    # --- the start, the quantity, the average ---

    def _start(self, start: float) -> Long:
        """The independent numbers before round 0, (modes, numbers)."""
        maps, n, D = self.maps, self.modes.n, self.size
        own_x, own_g = (long(each) for each in self.clients.table("start_client", self.dc, ((1, 1), (1, 1))))
        by_x, by_c = (
            long(each) for each in self.clients.table("start_server", self.ds, ((1, 1), (self.dc, maps.client.slots)))
        )
        matrix, constant = self.clients.oracle()
        slope = matrix * start - constant
        first = [own_x[:, 0] * start + own_g[:, 0] * slope[:, g, None] for g in range(self.groups)]
        share = [size / n for size in self.modes.sizes]
        average = sum((part * each for part, each in zip(share, first, strict=True)), np.zeros(()))
        mean = np.zeros((self.count, D), dtype=np.longdouble)
        mean[:, : self.ds] = by_x[:, 0] * start + average @ by_c.T
        mean[:, self.ds] = 1
        for g in range(self.groups):
            for which in (0, 1):
                mean[:, self.client(g, which)] = first[g]
        moments = mean[:, :, None] * mean[:, None, :]
        # The mean of K gradients at the start, in what the clients remember of it.
        spread = self.noise / self.run.K * (own_g @ own_g.T)
        moments[:, : self.ds, : self.ds] += by_c @ spread @ by_c.T / n
        for g in range(self.groups):
            for which in (0, 1):
                here = self.client(g, which)
                moments[:, here, here] += spread
                moments[:, : self.ds, here] += by_c @ spread / n
        return self._packed(moments)

    def _quantity(self, weights: Mapping[str, float]) -> Long:
        """The linear form of the independent numbers that is the weighted sum of quantities, (modes, numbers)."""
        maps, basis = LinearMaps(self.run.method.algorithm), self._unpacked()
        found = np.zeros((self.count, len(self.places)), dtype=np.longdouble)
        for record, terms in maps.records((*weights,), self._parameters()).items():
            for term in terms:
                if term.over is TermOver.VALUES:
                    raise InputError(f"{record} has the objective's value in it, which these moments lack")
                if term.block == self.block:
                    found += weights[record] * term.factor * self._term(term, basis)
        return found

    def _term(self, term: TermMap, basis: Long) -> Long:
        n, sizes = self.modes.n, self.modes.sizes

        def rows(coefficients: Any, group: int, which: int) -> Long:
            servers, clients = self.maps.server.slots, self.maps.client.slots
            row = np.zeros((self.count, self.size), dtype=np.longdouble)
            row[:, : self.ds] = coefficients[: self.ds]
            here = self.client(group, which)
            row[:, here] = coefficients[servers : servers + self.dc]
            by_gradient = coefficients[servers + clients]
            kind, slot = self.maps.point()[self.block]
            at = slot if kind == "server" else here.start + slot
            row[:, at] += by_gradient * self.modes.curvature[:, group]
            row[:, self.ds] -= by_gradient * self.modes.slope[:, group]
            return row

        def product(left: Long, right: Long) -> Long:
            return np.asarray(np.einsum("ma,kab,mb->mk", left, basis, right))

        found = np.zeros((self.count, len(basis)), dtype=np.longdouble)
        if term.over is TermOver.CLIENTS:
            for g, size in enumerate(sizes):
                found += size / n * product(rows(term.left, g, 0), rows(term.right, g, 0))
            return found
        for g, size in enumerate(sizes):
            left = rows(term.left, g, 0)
            found += size / n**2 * product(left, rows(term.right, g, 0))
            for h, other in enumerate(sizes):
                pairs = size * (other - (g == h))
                found += pairs / n**2 * product(left, rows(term.right, h, int(g == h)))
        return found

    def average(self, weights: Mapping[str, float], start: float) -> Long:
        """(1/T) sum over t < T of the quantity, (modes,)."""
        moments, form, power = self._start(start), self._quantity(weights), self._round()
        if self.preserved:
            moments, form = moments @ self._shifted(-1).T, form @ self._shifted(1)
        return mean_over_rounds(form, power, moments, self.run.T)
