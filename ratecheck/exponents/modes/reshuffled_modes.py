"""Time averages of one-dimensional runs in which blocks of S clients come in an order that is drawn anew in each epoch.

The order is uniform, so that clients are exchangeable among those that have had their turn in the epoch, and among
those that have not. The second moments of the server's variables s, of what one client has and of what two have, by who
has had their turn, follow a linear map in every round; those at the beginnings of epochs follow the product of an
epoch's maps, of which T rounds take log T powers. A round costs the same whatever the number of clients.

A client has what it remembers, c, and its slope d, which differs from client to client and never changes: whoever has
which slope, the mean over all orders is the same, so that slopes may be drawn as well, without replacement. They add up
to zero. What is `preserved` takes the place of the server's variable in it: rounded, it would drift.

As in `exchangeable` the numbers are meant for searching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms import Method
from ratecheck.engines.moments.preserved import of_numbers
from ratecheck.errors import InputError
from ratecheck.exponents.modes.modes import Long, Modes, check_fixed_rounds, client_maps, long, sum_over_rounds

# E[left right'] by the names of left and right, each (numbers, modes, rows, columns). One of the clients that have had
# no turn in this epoch is "u", another "u2"; of those that have had theirs, "v" and "v2".
_Moments = dict[tuple[str, str], Long]
# E[left right'] of everything that a round is made of, besides: the sum of what all clients have is "q", of the
# participants "p"; two participants are "b" and "b2".
_Grams = dict[tuple[str, str], Long]


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
    """What a round does to the server's variables s, but for what is preserved, and to what clients have."""

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
        """The next s as ``server`` of (s, q, p), a participant's own as ``client`` of (s, q, b), and their noise."""
        maps, ds, dc, S = self.maps, self.maps.ds, self.dc, self.S
        kept, send = maps.table("aggregate", ds, ((ds, maps.maps.server.slots), (maps.dm, maps.dm)))
        exact, (rows, noise) = maps.without_gradients(), maps.round(0)
        sending, own = long(send), long(exact) + rows
        # What participants send of the server's variables comes back to it: with rationals, that cancels.
        back = long(kept + Fraction(S) * send.dot(exact[dc:, :ds])) + S * sending @ rows[:, dc:, :ds]
        # All of the server's variables from s and from q.
        by_s, by_q = np.zeros((ds, len(self.free))), np.zeros((ds, dc + 1))
        by_s[self.free, range(len(self.free))] = 1
        for each in self.preserved:
            by_q[each.server, each.client] = each.factor
        # (c, d) of a client: its slope stands last, and stays.
        has = [*range(ds + 1, ds + 1 + dc), ds]
        server = {"s": back @ by_s, "q": back @ by_q, "p": sending @ own[:, dc:, has]}
        self.server = {name: each[:, self.free] for name, each in server.items()}
        client = {"s": own[:, :dc, :ds] @ by_s, "q": own[:, :dc, :ds] @ by_q, "b": own[:, :dc, has]}
        self.client = {name: np.pad(each, ((0, 0), (0, 1), (0, 0))) for name, each in client.items()}
        self.client["b"][:, dc, dc] = 1
        lift = np.zeros((len(self.free) + dc + 1, dc + maps.dm), dtype=np.longdouble)
        lift[: len(self.free), dc:] = sending[self.free]
        lift[len(self.free) : -1, :dc] = np.eye(dc)
        self.shock = lift @ noise @ lift.T

    # --- the moments at the beginning of an epoch, where nobody has had a turn ---

    def _entries(self) -> list[tuple[str, str, int, int]]:
        """The independent numbers: (left, right, row, column). That slopes add up to zero says the others."""
        s, c = range(len(self.free)), range(self.dc)
        found = [("s", "s", a, b) for a in s for b in s if a <= b] + [("s", "u", a, b) for a in s for b in c]
        for other in ("u", "u2"):
            found += [("u", other, a, b) for a in c for b in c if a <= b]
        return found + [("u", "u", a, self.dc) for a in c]

    def _unpacked(self) -> _Moments:
        """The moments of which one independent number is 1; the last number is the constant one."""
        entries, ds, w, count = self._entries(), len(self.free), self.dc + 1, len(self.curvature)
        shapes = {("s", "s"): (ds, ds), ("s", "u"): (ds, w), ("u", "u"): (w, w), ("u", "u2"): (w, w)}
        found = {key: np.zeros((len(entries) + 1, count, *shape), dtype=np.longdouble) for key, shape in shapes.items()}
        apart = -1 / np.longdouble(max(self.n - 1, 1))
        for number, (left, right, a, b) in enumerate(entries):
            found[left, right][number, :, a, b] = 1
            if left == "s" == right or left == "u":
                found[left, right][number, :, b, a] = 1
            if (left, right, b) == ("u", "u", self.dc):
                found["u", "u2"][number, :, a, b] = found["u", "u2"][number, :, b, a] = apart
        found["u", "u"][-1, :, -1, -1] = self.spread
        found["u", "u2"][-1, :, -1, -1] = apart * self.spread
        return found

    def _packed(self, moments: _Moments) -> Long:
        """The independent numbers, (..., modes, numbers); those at the end of an epoch are of "v"."""
        new = {"u": "v", "u2": "v2", "s": "s"}
        found = [moments[new[left], new[right]][..., a, b] for left, right, a, b in self._entries()]
        one = np.zeros_like(found[0])
        one[-1] = 1
        return np.stack([*found, one], axis=-1)

    # --- one round ---

    def _grams(self, has: _Moments, waiting: int, done: int) -> _Grams:
        """E[left right'] of everything that a round is made of, where so many are ``waiting``, and ``done``."""
        S = self.S
        su, sv, uu, apart = has["s", "u"], has["s", "v"], has["u", "u"], has["u", "u2"]
        uv, vv, others = has["u", "v"], has["v", "v"], has["v", "v2"]
        qu = uu + (waiting - 1) * apart + done * _turned(uv)
        qv = waiting * uv + vv + (done - 1) * others if done else np.zeros_like(uv)
        found = {
            ("s", "s"): has["s", "s"], ("s", "q"): waiting * su + done * sv, ("s", "p"): S * su, ("s", "b"): su,
            ("s", "u"): su, ("s", "v"): sv, ("q", "q"): waiting * qu + done * qv, ("q", "p"): S * qu, ("q", "b"): qu,
            ("q", "u"): qu, ("q", "v"): qv, ("p", "p"): S * (uu + (S - 1) * apart), ("p", "b"): uu + (S - 1) * apart,
            ("p", "u"): S * apart, ("p", "v"): S * uv, ("b", "b"): uu, ("b", "b2"): apart, ("b", "u"): apart,
            ("b", "v"): uv,
        }  # fmt: skip
        return {**found, ("s", "b2"): su, ("q", "b2"): qu}

    def _round(self, has: _Moments, turn: int) -> _Moments:
        """The moments after the round of this number within its epoch."""
        S, done = self.S, turn * self.S
        waiting, after = self.n - done, done + S
        grams, server, client = self._grams(has, waiting, done), self.server, self.client
        other = {"s": client["s"], "q": client["q"], "b2": client["b"]}
        s = len(self.free)
        ss, sb = _form(server, server, grams), _form(server, client, grams)
        bb, bb2 = _form(client, client, grams), _form(client, other, grams)
        if self.noise:
            ss[-1] += S * self.shock[:, :s, :s]
            sb[-1] += self.shock[:, :s, s:]
            bb[-1] += self.shock[:, s:, s:]
        ub, bv = _turned(_onto(client, "u", grams)), _onto(client, "v", grams)
        share = np.longdouble(S) / after
        pairs = S * (S - 1) * bb2 + S * done * (bv + _turned(bv)) + done * (done - 1) * has["v", "v2"]
        found = {
            ("s", "s"): ss, ("s", "u"): _onto(server, "u", grams), ("u", "u"): has["u", "u"],
            ("u", "u2"): has["u", "u2"], ("s", "v"): share * sb + (1 - share) * _onto(server, "v", grams),
            ("u", "v"): share * ub + (1 - share) * has["u", "v"], ("v", "v"): share * bb + (1 - share) * has["v", "v"],
            ("v", "v2"): pairs / max(after * (after - 1), 1),
        }  # fmt: skip
        # Slopes do not know of turns.
        found["v", "v"][..., -1, -1], found["v", "v2"][..., -1, -1] = (
            has["u", who][..., -1, -1] for who in ("u", "u2")
        )
        return found

    def _epoch(self, rounds: int) -> tuple[Long, Long]:
        """The sum over the first rounds of an epoch as a form of the numbers at its beginning, and their map.

        (modes, numbers) and (modes, numbers, numbers); the map is meant for whole epochs.
        """
        has = self._unpacked()
        empty = {("s", "v"): has["s", "u"], ("u", "v"): has["u", "u"], ("v", "v"): has["u", "u"]}
        has |= {key: np.zeros_like(each) for key, each in {**empty, ("v", "v2"): has["u", "u"]}.items()}
        form = np.zeros((len(has["s", "s"]), len(self.curvature)), dtype=np.longdouble)
        for turn in range(rounds):
            form += self.curvature**2 * has["s", "s"][..., 0, 0]
            has = self._round(has, turn)
        return form.T, np.moveaxis(self._packed(has), 0, -1)

    # --- the start, the average ---

    def _start(self, start: float) -> Long:
        """The independent numbers before round 0, (modes, numbers)."""
        maps = self.maps
        own_x, own_g, by_x, by_c = maps.start()
        if own_g.any():
            raise InputError(f"{self.run.method.name}: its clients remember their first gradients")
        c = own_x[:, 0] * start
        server = by_x[:, 0] * start + by_c @ c
        for each in self.preserved:
            if server[each.server] != each.factor * self.n * c[each.client]:
                raise InputError(f"{self.run.method.name}: what no round changes is not zero at the start")
        s, has = server[self.free], np.append(c, 0)
        first = {
            ("s", "s"): s[:, None] * s, ("s", "u"): s[:, None] * has, ("u", "u"): has[:, None] * has,
            ("u", "u2"): has[:, None] * has,
        }  # fmt: skip
        found = [first[left, right][a, b] for left, right, a, b in self._entries()]
        return np.tile(np.array([*found, 1], dtype=np.longdouble), (len(self.curvature), 1))

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


def _turned(moments: Long) -> Long:
    """E[right left'] from E[left right']."""
    return np.swapaxes(moments, -1, -2)


def _gram(left: str, right: str, grams: _Grams) -> Long:
    found = grams.get((left, right))
    return _turned(grams[right, left]) if found is None else found


def _form(left: Mapping[str, Long], right: Mapping[str, Long], grams: _Grams) -> Long:
    """E[left right'] of sums of maps of what a round is made of."""
    return np.asarray(sum(a @ _gram(x, y, grams) @ _turned(b) for x, a in left.items() for y, b in right.items()))


def _onto(left: Mapping[str, Long], right: str, grams: _Grams) -> Long:
    """The same with a client on the right that the round leaves as it is."""
    return np.asarray(sum(a @ _gram(x, right, grams) for x, a in left.items()))
