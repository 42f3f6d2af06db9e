"""One-dimensional modes: the map of (server, client) by K local steps of a client, for many curvatures at once.

A quadratic whose matrices are diagonal splits into one-dimensional modes that do not know of one another. The numbers
are of NumPy's longest type; what has no curvature in it is computed with rationals, so that a step as small as
1/(K T) is not lost beside an outer step size that is large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ratecheck.algebra.linear_algebra import identity
from ratecheck.algebra.repeated import repeated
from ratecheck.algorithms import Method
from ratecheck.algorithms.model.algorithm import Algorithm, LinearMaps, check_alike
from ratecheck.errors import InputError

# (modes, rows, columns), and so on: 64 bits of mantissa where the machine has them.
Long = NDArray[np.longdouble]


@dataclass(frozen=True)
class Modes:
    """One-dimensional problems, the same but for their curvatures and slopes: f_i(w) = h w^2/2 - g w.

    ``curvature`` and ``slope`` are (modes, groups); group k has ``sizes[k]`` clients.
    """

    curvature: NDArray[np.float64]
    slope: NDArray[np.float64]
    sizes: tuple[float, ...]

    @property
    def n(self) -> float:
        """The number n of clients."""
        return float(sum(self.sizes))


def modes(curvature: ArrayLike, slope: ArrayLike, sizes: tuple[float, ...]) -> Modes:
    """`Modes` from (modes, groups) arrays or what broadcasts to them."""
    shape = np.broadcast_shapes(np.shape(curvature), np.shape(slope), (1, len(sizes)))
    h, g = (np.array(np.broadcast_to(np.asarray(x, dtype=np.float64), shape)) for x in (curvature, slope))
    return Modes(h, g, sizes)


class _Rationals:
    """An algorithm's coefficients in one block as rationals: they have no curvature in them and take the longest."""

    def __init__(self, algorithm: Algorithm, block: int, p: Mapping[str, float]) -> None:
        check_alike(algorithm, "a run by modes")
        self.maps, self._block, self._p = LinearMaps(algorithm, exact=True), block, p
        self._tables: dict[str, Any] = {}
        maps = self.maps
        self.ds, self.dc, self.dl, self.dm = (
            group.by_block[block] for group in (maps.server, maps.client, maps.local, maps.message)
        )

    def table(self, name: str, rows: int, widths: tuple[tuple[int, int], ...], first: int = 0) -> list[Any]:
        """See `ClientMaps.table`."""
        if name not in self._tables:
            self._tables[name] = getattr(self.maps, name)(self._p)[self._block]
        parts, at = [], 0
        for used, padded in widths:
            parts.append(self._tables[name][first : first + rows, at : at + used])
            at += padded
        return parts

    @cached_property
    def without_gradients(self) -> Any:
        """See `ClientMaps.without_gradients`."""
        maps = self.maps
        server, client = (self.ds, maps.server.slots), (self.dc, maps.client.slots)
        begin_s, begin_c = self.table("begin", self.dl, (server, client))
        found = np.full((self.dc + self.dm, self.ds + 1 + self.dc), Fraction(0), dtype=object)
        for used, first in ((self.dc, 0), (self.dm, maps.client.slots)):
            by_s, by_c, by_l = self.table("finish", used, (server, client, (self.dl, maps.local.slots)), first)
            rows = slice(self.dc, None) if first else slice(0, self.dc)
            found[rows, : self.ds] = by_s + by_l.dot(begin_s)
            found[rows, self.ds + 1 :] = by_c + by_l.dot(begin_c)
        return found


# All curvatures and families of a setting share their numbers.
@lru_cache(maxsize=256)
def _rationals(algorithm: Algorithm, block: int, numbers: tuple[tuple[str, float], ...]) -> _Rationals:
    return _Rationals(algorithm, block, dict(numbers))


class ClientMaps:
    """A client's round on the modes of one block, at the numbers ``p`` that the algorithm's functions receive.

    ``ds``, ``dc``, ``dl`` and ``dm`` count the variables of server, client, local steps and message in this block.
    ``noise`` is the variance of a gradient.
    """

    def __init__(self, method: Method, block: str, modes: Modes, noise: float, p: Mapping[str, float]) -> None:
        algorithm = method.algorithm
        self.modes, self.noise, self.p = modes, noise, p
        self.count = len(modes.curvature)
        self._prox = algorithm.oracle == "prox"
        self._exact = _rationals(algorithm, algorithm.blocks.index(block), tuple(sorted(p.items())))
        self.maps, self.block = self._exact.maps, algorithm.blocks.index(block)
        self.ds, self.dc, self.dl, self.dm = (getattr(self._exact, each) for each in ("ds", "dc", "dl", "dm"))

    def table(self, name: str, rows: int, widths: tuple[tuple[int, int], ...], first: int = 0) -> list[Any]:
        """A function's coefficients in this block as rationals, one matrix per input; ``widths``: (used, padded)."""
        return self._exact.table(name, rows, widths, first)

    def round(self, group: int) -> tuple[Long, Long]:
        """E and the covariance of e in (client', message) = (E_0 + E) y + e, y = (s, 1, c), after K local steps.

        `without_gradients` has E_0 exactly. From l_0 = B y the local steps are l_{k+1} = A l_k + b (H x_k - g + noise),
        x_k being the first entry of l_k and H x - g the `oracle`; that is

            (l_{k+1}, 1) = (I + D) (l_k, 1) + noise,    D = [[A - I + H b e_1', -g b], [0, 0]],    S = sigma^2 b b'.

        With D_K and S_K of `repeated_steps`, and L the coefficients of ``finish`` on l, E y = L D_K (B y, 1), less the
        last row, and cov e = L S_K L'; E is (modes, dc + dm, ds + 1 + dc) and cov e (modes, dc + dm, dc + dm).
        """
        maps, dl = self.maps, self.dl
        server, client = (self.ds, maps.server.slots), (self.dc, maps.client.slots)
        local = (dl, maps.local.slots)
        begin_s, begin_c = (long(each) for each in self.table("begin", dl, (server, client)))
        own, by_gradient = self.table("step", dl, (local, (1, 1)))
        still, pull = long(own - identity(dl)), long(by_gradient)
        h, g = (each[:, group] for each in self.oracle())
        # Steps as I + change: nothing is lost where a step is small.
        change = np.zeros((self.count, dl + 1, dl + 1), dtype=np.longdouble)
        change[:, :dl, :dl] = still
        change[:, :dl, :1] += h[:, None, None] * pull
        change[:, :dl, dl:] = -g[:, None, None] * pull
        shock = np.zeros((self.count, dl + 1, dl + 1), dtype=np.longdouble)
        shock[:, :dl, :dl] = self.noise * (pull @ pull.T)
        changes, shocks = repeated_steps(change, shock, int(self.p["K"]))
        width = self.ds + 1 + self.dc
        begin = np.zeros((dl + 1, width), dtype=np.longdouble)
        begin[:dl, : self.ds], begin[:dl, self.ds + 1 :], begin[dl, self.ds] = begin_s, begin_c, 1
        load = np.concatenate(
            [
                long(self.table("finish", used, (server, client, local), first)[2])
                for used, first in ((self.dc, 0), (self.dm, maps.client.slots))
            ]
        )
        return load @ (changes @ begin)[:, :dl], load @ shocks[:, :dl, :dl] @ load.T

    def without_gradients(self) -> Any:
        """(client', message) as rationals on (s, 1, c) where every local variable keeps its first value."""
        return self._exact.without_gradients

    def start(self) -> tuple[Long, Long, Long, Long]:
        """The start of a client by x and by its gradient there, and that of the server by x and by clients' means."""
        by_own = self.table("start_client", self.dc, ((1, 1), (1, 1)))
        by_all = self.table("start_server", self.ds, ((1, 1), (self.dc, self.maps.client.slots)))
        own_x, own_g, by_x, by_c = (long(each) for each in (*by_own, *by_all))
        return own_x, own_g, by_x, by_c

    def oracle(self) -> tuple[Long, Long]:
        """(M, c), each (modes, groups): the oracle at x gives M x - c."""
        h, g = (np.asarray(x, dtype=np.longdouble) for x in (self.modes.curvature, self.modes.slope))
        if not self._prox:
            return h, g
        weight = np.longdouble(self.p["lambda_"])
        return weight / (weight + h), -g / (weight + h)


class Numbered(Protocol):
    """A method with its numbers on the modes of one of its blocks; ``step_sizes`` are its own, fixed ones included."""

    @property
    def method(self) -> Method: ...
    @property
    def block(self) -> str: ...
    @property
    def K(self) -> int: ...
    @property
    def step_sizes(self) -> Mapping[str, float]: ...


def client_maps(run: Numbered, modes: Modes, noise: float, m: float, delay: float = 1.0) -> ClientMaps:
    """The maps of a client that takes part with m - 1 others, having last done so ``delay`` rounds ago."""
    p = {"n": modes.n, "m": m, "K": run.K, "delay": delay, "weight": 1.0, "p": 1 / modes.n}
    numbers = {**p, "norm": run.K, "mean_norm": run.K, **run.step_sizes}
    return ClientMaps(run.method, run.block, modes, noise, numbers)


def check_fixed_rounds(method: Method) -> None:
    """Raise `InputError` for a method whose rounds depend on delays or on how many take part, or are of two levels."""
    algorithm = method.algorithm
    if algorithm.uses_delay or algorithm.bilevel or algorithm.averages:
        raise InputError(f"{method.spoken}: its rounds are no fixed linear map")


def mean_over_rounds(form: Long, power: Long, moments: Long, T: int) -> Long:
    """(1/T) sum_{t<T} <form, power^t moments>, (modes,): O(log T) products.

    ``form`` and ``moments`` are (modes, numbers), ``power`` is the map of one round, (modes, numbers, numbers).
    """
    moves = (power != 0).any(axis=0)
    # Numbers that stay 0, and those that no later form sees, take no part.
    alive = _reached((moments != 0).any(axis=0), moves) & _reached((form != 0).any(axis=0), moves.T)
    own = power[:, alive][:, :, alive]
    return np.asarray(sum_over_rounds(form[:, alive], own, moments[:, alive], T)[0] / T)


def _reached(places: NDArray[np.bool_], moves: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Places from which or to which a map with these entries, row from column, moves something, and the first ones."""
    for _ in places:
        places = places | (moves & places).any(axis=1)
    return places


def sum_over_rounds(form: Long, power: Long, moments: Long, T: int) -> tuple[Long, Long]:
    """The sum over t < T of <form, power^t moments>, (modes,), and power^T moments; see `mean_over_rounds`.

    With f_k = sum_{j<k} (P')^j form, f_2k = f_k + (P^k)' f_k: every binary digit of T takes one product and one square.
    """
    # The form of the sum of the first 2^j powers, beside power 2^j itself.
    total, left = np.zeros(len(moments), dtype=np.longdouble), T
    while left:
        if left & 1:
            total = total + (form * moments).sum(axis=-1)
            moments = (power @ moments[..., None])[..., 0]
        left >>= 1
        if left:
            form, power = form + (form[:, None] @ power)[:, 0], power @ power
    return total, moments


def repeated_steps(change: Long, shock: Long, K: int) -> tuple[Long, Long]:
    """K steps x -> (I + D) x + noise of covariance S as one step of the same form, with D_K and S_K.

    D_{j+k} = D_j + D_k + D_k D_j and S_{j+k} = (I + D_k) S_j (I + D_k)' + S_k, so that K steps take O(log K) products;
    ``change`` is D and ``shock`` S, (modes, size, size).
    """

    def then(first: tuple[Long, Long], second: tuple[Long, Long]) -> tuple[Long, Long]:
        (D, S), (E, R) = first, second
        return D + E + E @ D, carried(E, S) + R

    return repeated((change, shock), K, then) if K else (np.zeros_like(change), np.zeros_like(shock))


def carried(change: Long, covariance: Long) -> Long:
    """(I + change) covariance (I + change)'."""
    half = covariance + change @ covariance
    return np.asarray(half + half @ np.swapaxes(change, -1, -2))


def long(table: Any) -> Long:
    """Rationals as long floating-point numbers."""
    parts = [np.longdouble(x.numerator) / np.longdouble(x.denominator) for x in np.ravel(table)]
    return np.array(parts, dtype=np.longdouble).reshape(np.shape(table))
