"""Clients on a graph: all of them in every round, each beside its neighbours."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bounds.assumption import Assumption
from bounds.printing.notation import Notation
from ratecheck.algebra.simplest import bits, simpler_numbers
from ratecheck.aliases import Array
from ratecheck.caching import bytes_of
from ratecheck.errors import InputError
from ratecheck.inputs import described, floats, real, whole
from ratecheck.participation.model.pattern import Keys, Masks, Neighbours, Participation, PerRound, Simpler, Written
from ratecheck.participation.model.repetition import Repetition

# By how much a row or a column of a mixing matrix may miss the sum 1: what rounding makes of it.
_SUMS = 1e-12
# What misses it by no more has been written with too few digits.
_ROUNDED = 1e-2
# Clients up to which the edges of a graph without a name are written.
_FEW_CLIENTS = 5
# Graphs with a name in the place of a mixing matrix; from which ||W - 11'/n||_2 on clients do not come together.
_SIMPLE = ("complete", "path", "ring", "star")
_APART = 0.9999


def _named(name: str) -> Callable[..., Graph]:
    return lambda n, mixes=1.0: Graph.named(name, n, mixes)


class Graph(Participation):
    """Every client in every round, and the mixing matrix W (n, n) by which methods such as DSGD average neighbours.

    x_i becomes sum_j W_ij x_j, so that client i receives from the j with W_ij > 0. W is nonnegative and doubly
    stochastic: rows and columns add up to 1, and the mean over the clients stays as it is. It need not be symmetric.

    With ``mixes`` below 1 a round mixes with that probability, along all edges at once, and else nobody receives from
    anybody: W_t = W or W_t = I, independently of all else. Raises `InputError` for any other matrix or probability.

    >>> Graph.named("ring", 4).mixing_rate
    0.33333333333333326
    """

    kind: ClassVar[str] = "graph"
    written: ClassVar[tuple[Written, ...]] = tuple(
        Written(name, _named(name), PerRound.OWN, f"{name} or {name}:0.5", name, optional=True)
        for name in ("ring", "grid", "exponential", "star", "path", "complete")
    )
    satisfies: ClassVar[frozenset[Assumption]] = frozenset(
        {Assumption.UNIFORM_SAMPLING, Assumption.UNIFORM_SUBSETS, Assumption.UNBIASED_SELECTION}
    )
    constant_law = True

    def __init__(self, mixing: ArrayLike | Neighbours, name: str = "", mixes: float = 1.0) -> None:
        self.neighbours: Neighbours = mixing if isinstance(mixing, Neighbours) else Neighbours.of(_checked(mixing))
        self.mixes = real("mixes", mixes)
        if not 0 < self.mixes <= 1:
            raise InputError(f'mixes={self.mixes:g} breaks "0 < mixes <= 1": it is the probability that a round mixes')
        self.n = self.size = len(self.neighbours.first) - 1
        self.name = name

    @cached_property
    def mixing(self) -> Array:
        """The matrix W (n, n)."""
        return self.neighbours.matrix()

    @classmethod
    def named(cls, name: str, n: int, mixes: float = 1.0) -> Graph:
        """The graph of that name on n clients, with the weights of Metropolis and Hastings where it is undirected.

        These are W_ij = 1/(1 + max(d_i, d_j)) for clients with d_i and d_j neighbours, the rest being W_ii. There are
        ``ring``, ``path``, ``star`` and ``complete``; ``grid``, a torus whose sides are as equal as n allows; and
        ``exponential``, directed and with equal weights, where client i receives from i - 1, i - 2, i - 4, ... A
        round mixes with probability ``mixes``. Raises `InputError` for any other name or probability.
        """
        n = whole("n", n, 1)
        if name not in _EDGES:
            raise InputError(f"no graph {name!r}: there are {', '.join(_EDGES)}")
        return cls(_weighted(name, n), name, mixes)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], mixes: float = 1.0) -> Graph:
        """W from a ``.csv`` file, a row per line without a header; raises `InputError` where it cannot be read."""
        lines: list[str] = []
        try:
            # Read here: what looks like an address NumPy would fetch, and leave in this folder.
            lines = bytes_of(Path(path)).decode("utf-8-sig").splitlines()
            if not any(line.partition("#")[0].strip() for line in lines):
                raise InputError("needed a .csv file with the mixing matrix: it holds no rows")
            return cls(np.loadtxt(lines, delimiter=",", ndmin=2), mixes=mixes)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else _misfit(lines)) or "it cannot be read"
            raise InputError(f"{path}: needed a .csv file with the mixing matrix: {reason}") from None

    def moved(self, share: float) -> Graph:
        """The graph whose rounds take that share of a step of mixing: I + share (W - I), for ``share`` of at least 0.

        A share above 1 steps further, as far as no entry is negative; raises `InputError` beyond.
        """
        if share == 1.0:
            return self
        return Graph(_filled(self.edges * share), mixes=self.mixes)

    def without(self, i: int) -> Graph:
        """The graph without client i, in place of which its neighbours take what they have themselves.

        Raises `InputError` where W is not symmetric: shares that are lost then differ from those that are kept.
        """
        if not (self.mixing == self.mixing.T).all():
            raise InputError("not known for fewer clients where W is not symmetric")
        W = np.delete(np.delete(self.mixing, i, axis=0), i, axis=1)
        return Graph(_filled(W), mixes=self.mixes)

    @cached_property
    def edges(self) -> Array:
        """The shares W_ij, j other than i, with which clients take others' variables; 0 on the diagonal."""
        return np.where(np.eye(self.n, dtype=bool), 0.0, self.mixing)

    @property
    def kind_of_graph(self) -> str:
        """The graph in words."""
        return f"a {self.name} graph" if self.name else "the graph of a given mixing matrix"

    @property
    def says(self) -> str:
        """The graph in words, for a verdict."""
        often = "" if self.mixes == 1 else f", and a round mixes with probability {self.mixes:g}"
        return f"the {self.n} clients are on {self.kind_of_graph}; ||W - 11'/n||_2 = {self.mixing_rate:.4g}{often}"

    @property
    def digits(self) -> int:
        """See `Participation.digits`: those of the shares where the graph has no name, and of how often it mixes."""
        shares = {*np.ravel(self.edges).tolist()}
        return bits(self.mixes) + (0 if self.name else sum(map(bits, shares)))

    def without_client(self, i: int) -> Graph:
        """See `Participation.without_client`, and `without`."""
        return _joined(self.without(i))

    def simpler(self) -> Iterator[Iterable[Simpler]]:
        """See `Participation.simpler`: rounds that mix more often, graphs with a name, shares in other proportion."""
        yield [partial(Graph.mixing_with, mixes=new) for new in simpler_numbers(self.mixes, bits(self.mixes))]
        largest = float(self.edges.max())
        weights = [partial(Graph._weighed, largest=new) for new in simpler_numbers(largest, bits(largest))]
        yield [*(partial(Graph._by_name, name=name) for name in _SIMPLE), *weights]

    def mixing_with(self, mixes: float) -> Graph:
        """The graph whose rounds mix with another probability."""
        return Graph(self.neighbours, self.name, mixes)

    def _by_name(self, name: str) -> Graph:
        """The graph of that name on these clients."""
        return Graph.named(name, self.n, self.mixes)

    def _weighed(self, largest: float) -> Graph:
        """The graph whose edges have other weights, in the same proportions, the largest being that."""
        return _joined(self.moved(largest / float(self.edges.max())))

    def sentence(self, notation: Notation) -> str:
        """See `Participation.sentence`: the graph, by its name or its edges, and how often a round mixes."""
        if self.n == 1:
            return ""
        often = f", of whose rounds each mixes with probability {notation.formula(notation.given(self.mixes))}"
        return f"on {self._edges(notation) or self.kind_of_graph}{'' if self.mixes == 1 else often}"

    def _edges(self, notation: Notation) -> str:
        """The edges with their shares, where the graph has no name and few clients."""
        if self.name or self.n > _FEW_CLIENTS:
            return ""
        named: dict[float, list[str]] = {}
        for i, j in np.argwhere(self.edges > 0):
            named.setdefault(float(self.edges[i, j]), []).append(notation.name(f"W_{i + 1}{j + 1}"))
        shares = [notation.formula(" = ".join([*names, notation.given(share)])) for share, names in named.items()]
        return f"the graph with {' and '.join(shares)}" if shares else ""

    @property
    def mixing_rate(self) -> float:
        """||W - 11'/n||_2: by this factor, or less, a round of mixing takes the clients towards their mean."""
        return float(np.linalg.norm(self.mixing - 1 / self.n, 2)) if self.n > 1 else 0.0

    @property
    def mixing_change(self) -> float:
        """||I - W||_2 of a symmetric W, infinite for any other: how far a round of mixing may move clients apart."""
        symmetric = bool((self.mixing == self.mixing.T).all())
        return float(np.linalg.norm(np.eye(self.n) - self.mixing, 2)) if symmetric else math.inf

    def fields(self) -> dict[str, Any]:
        """See `Participation.fields`: the rows of W, the graph's name, and how often it mixes where not always."""
        own: dict[str, Any] = {"mixing": self.mixing.tolist(), "name": self.name}
        return own if self.mixes == 1 else {**own, "mixes": self.mixes}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["mixing"], data.get("name", ""), data.get("mixes", 1.0))

    @property
    def rate(self) -> float:
        """1."""
        return 1.0

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        return np.ones((rounds, self.n, keys.shape[1]), dtype=np.bool_)

    @property
    def repeats(self) -> Repetition:
        """Everybody in every round."""
        return Repetition.of(np.ones((1, self.n), dtype=np.bool_))


def _checked(mixing: ArrayLike) -> Array:
    """The mixing matrix; raises `InputError` where it is none."""
    W = floats("the mixing matrix", mixing)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or W.size == 0:
        raise InputError(f"a mixing matrix of shape {W.shape} does not do: it has to be n x n, n at least 1")
    if not (np.isfinite(W).all() and (W >= 0).all()):
        i, j = (int(k) for k in np.argwhere(~(np.isfinite(W) & (W >= 0)))[0])
        raise InputError(f'W[{i}, {j}]={W[i, j]:g} breaks "W >= 0": entries of a mixing matrix are shares')
    for axis, what in ((1, "row"), (0, "column")):
        sums = W.sum(axis=axis)
        k = int(np.abs(sums - 1).argmax())
        if abs(sums[k] - 1) > _SUMS:
            rounded = (
                f"; write all 17 digits, or set W[{k}, {k}] to 1 minus the others"
                if abs(sums[k] - 1) < _ROUNDED
                else ""
            )
            raise InputError(
                f"{what} {k} of the mixing matrix adds up to {sums[k]:.12g}: needed is 1 within {_SUMS:g}{rounded}"
            )
    return W


def _joined(graph: Graph) -> Graph:
    """The graph; raises `InputError` for one that never brings all clients together, which theorems are not about."""
    if graph.mixing_rate > _APART:
        raise InputError("not known for clients that are not connected")
    return graph


def _misfit(lines: Sequence[str]) -> str:
    """The first entry that is no number, in words; without one, the rows are of different length."""
    for row, line in enumerate(lines, 1):
        for column, entry in enumerate(map(str.strip, line.partition("#")[0].split(",")), 1):
            if line.strip() and described(entry) in ("no number", "empty"):
                return f"row {row}, column {column} is {described(entry)}"
    return "its rows have different lengths" if lines else "it is not a text file"


@lru_cache(maxsize=64)
def _weighted(name: str, n: int) -> Neighbours:
    """The weights of `Graph.named`."""
    near = [_EDGES[name](i, n) for i in range(n)]
    row, column = (
        np.repeat(np.arange(n), [len(each) for each in near]),
        np.array([j for each in near for j in each]),
    )
    row, column = row[row != column], column[row != column].astype(np.int64)
    if name in ("complete", "exponential"):
        row, column = np.append(row, np.arange(n)), np.append(column, np.arange(n))
        row, column = np.divmod(np.unique(row * n + column), n)
        return Neighbours.at(n, row, column, 1 / np.bincount(row, minlength=n)[row])
    row, column = np.divmod(np.unique(np.concatenate([row * n + column, column * n + row])), n)
    degrees = np.bincount(row, minlength=n)
    weight = 1 / (1 + np.maximum(degrees[row], degrees[column]))
    own = 1 - _row_sums(n, Neighbours.at(n, row, column, weight))
    everybody = np.arange(n)
    row, column = np.append(row, everybody), np.append(column, everybody)
    return Neighbours.at(n, row, column, np.append(weight, own))


def _row_sums(n: int, entries: Neighbours) -> Array:
    """The sums (n,) of the rows of a matrix, in the order in which those of the whole matrix are added up."""
    row, sums = np.zeros(n), np.empty(n)
    for i, (first, last) in enumerate(itertools.pairwise(entries.first.tolist())):
        here = entries.column[first:last]
        row[here] = entries.weight[first:last]
        sums[i] = row.sum()
        row[here] = 0.0
    return sums


def _filled(W: Array) -> Array:
    """The matrix with what its rows lack of the sum 1 added on the diagonal."""
    return np.asarray(W + np.diag(1 - W.sum(axis=1)))


def _torus(i: int, n: int) -> list[int]:
    """The neighbours on rows of equal length, the ends of rows and columns being joined."""
    rows = max(k for k in range(1, math.isqrt(n) + 1) if n % k == 0)
    columns = n // rows
    r, c = divmod(i, columns)
    return [
        r * columns + (c + 1) % columns,
        r * columns + (c - 1) % columns,
        (r + 1) % rows * columns + c,
        (r - 1) % rows * columns + c,
    ]


# From whom client i receives; of undirected graphs one direction will do.
_EDGES: Mapping[str, Callable[[int, int], list[int]]] = {
    "ring": lambda i, n: [(i + 1) % n],
    "path": lambda i, n: [min(i + 1, n - 1)],
    "star": lambda i, _: [0] if i else [],
    "complete": lambda _, n: [*range(n)],
    "grid": _torus,
    "exponential": lambda i, n: [(i - 2**k) % n for k in range(max(n - 1, 0).bit_length())],
}
