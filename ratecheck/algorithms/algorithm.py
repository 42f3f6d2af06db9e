"""What an algorithm is: four small functions between server, client and local variables.

Given the oracle's outputs, every function of every method here is linear and acts on each coordinate alike, so a
function is written once for "the variable" and works on numbers, vectors and SymPy symbols. `LinearMaps` holds its
coefficients, read off by evaluating it on unit vectors; all engines run on those coefficients, never on a second copy
of the method.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError

Variables = dict[str, Any]
Parameters = Mapping[str, float]
# The variables of a group, each with the block of the problem's coordinates on which it lives.
Group = Mapping[str, str]

# The blocks of a problem with shared variables u and personal variables v_i.
U, V = "u", "v"
# What is recorded of a method on such a problem unless asked otherwise.
RECORDS = ("G_u", "G_v", "B")


class TermOver(IntEnum):
    """How a recorded term is taken over the clients."""

    CLIENTS = 0
    """(1/n) sum_i <left_i, right_i>"""
    MEANS = 1
    """<(1/n) sum_i left_i, (1/n) sum_i right_i>"""
    VALUES = 2
    """(1/n) sum_i f_i at the client's recorded point"""


@dataclass(frozen=True)
class Term:
    """A summand of a recorded quantity: ``factor`` times the product of two linear functions of the state."""

    over: TermOver
    factor: float = 1.0
    left: Any = None
    right: Any = None


def square(vector: Any, factor: float = 1.0) -> Term:
    """(1/n) sum_i ||vector_i||^2."""
    return Term(TermOver.CLIENTS, factor, vector, vector)


def square_of_mean(vector: Any, factor: float = 1.0) -> Term:
    """||(1/n) sum_i vector_i||^2."""
    return Term(TermOver.MEANS, factor, vector, vector)


def inner(left: Any, right: Any, factor: float = 1.0) -> Term:
    """(1/n) sum_i <left_i, right_i>."""
    return Term(TermOver.CLIENTS, factor, left, right)


def value(factor: float = 1.0) -> Term:
    """(1/n) sum_i f_i at the recorded point."""
    return Term(TermOver.VALUES, factor)


def by_work(shares: Array, work: Array) -> Array:
    """``shares_i work_i / sum_j shares_j work_j``: the weights of clients whose messages grow with their work."""
    return shares * work / (shares @ work)


class Algorithm(ABC):
    """One federated method.

    Class attributes name the variables of each group and the block of each variable: ``server`` and ``client`` state,
    ``local`` variables, ``message`` sent by a client. In each of the ``blocks`` the first local variable is the point
    at which the oracle is asked, and ``point`` names the variable at which quantities are recorded, by default the
    first server variable of the block or, where there is none, the first client variable.

    ``step_sizes`` are the parameters beside n, m (clients in this round, for ``aggregate``), K (local steps), weight
    (of this local step, for ``step``), norm (sum of the weights of the client's steps), mean_norm (the average of the
    norms, with the clients' p), p (the client's weight in the objective) and delay (rounds since the client's last
    one, t + 1 before its first, for ``begin``). ``per_client`` are those that may differ by client, ``optional`` those
    with a default, a function of n.

    ``bilevel``: it is about problems with a lower level. ``default_problem`` is the one that the command line takes.
    ``oracle`` is what a local step asks for, "gradient" or "prox" (the minimiser of f_i + lambda/2 ||. - point||^2),
    and ``record_oracle`` what quantities are recorded of.
    ``averages``: the server averages over participants, so that a round without any leaves it as it is.
    ``uses_delay``: ``begin`` depends on the delay, affinely in its inverse. ``weighs``: ``step`` depends on the weight,
    affinely. ``projects``: the server variable that is projected on the ball of radius r after every round with
    participants.

    A function receives variables by name and returns the new ones by name; ``p`` maps parameter names to numbers.
    ``point`` and ``gradient`` have one entry per block.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    step_sizes: ClassVar[tuple[str, ...]]
    optional: ClassVar[Mapping[str, Callable[[int], float]]] = {}
    per_client: ClassVar[tuple[str, ...]] = ()
    default_problem: ClassVar[str] = "quadratic"
    bilevel: ClassVar[bool] = False
    blocks: ClassVar[tuple[str, ...]] = (U, V)
    oracle: ClassVar[str] = "gradient"
    record_oracle: ClassVar[str] = "gradient"
    averages: ClassVar[bool] = True
    uses_delay: ClassVar[bool] = False
    weighs: ClassVar[bool] = False
    projects: ClassVar[str | None] = None
    server: ClassVar[Group]
    client: ClassVar[Group]
    local: ClassVar[Group]
    message: ClassVar[Group]
    point: ClassVar[Group | None] = None
    recorded: ClassVar[tuple[str, ...]] = RECORDS

    @abstractmethod
    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Client state before round 0, from the starting point and the mean of K oracle outputs there."""

    @abstractmethod
    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """Server state before round 0, from the starting point and the average of the clients' states."""

    @abstractmethod
    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Local variables before the first local step."""

    @abstractmethod
    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Local variables after one local step."""

    @abstractmethod
    def finish(
        self, server: Variables, client: Variables, local: Variables, p: Parameters
    ) -> tuple[Variables, Variables]:
        """New client state, and the message to the server, after K local steps."""

    @abstractmethod
    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """New server state from the sum of the messages of the m clients of this round."""

    def score(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The vector whose norm ranks clients in a biased selection, ``gradient`` being taken at the recorded point."""
        return dict(gradient)

    def records(
        self, server: Variables, client: Variables, gradient: Variables, p: Parameters
    ) -> dict[str, tuple[Term, ...]]:
        """Quantities that can be recorded before a round, ``gradient`` being that of f_i at the recorded point.

        Here: G_u = ||mean_i grad_u f_i||^2, G_v = mean_i ||grad_v f_i||^2, B = sum_i ||grad_u f_i||^2 and f.
        """
        return {
            "G_u": (square_of_mean(gradient[U]),),
            "G_v": (square(gradient[V]),),
            "B": (square(gradient[U], p["n"]),),
            "f": (value(),),
        }

    def weights(self, shares: Array, work: Array) -> Array:
        """The clients' weights (n,) in the objective that the method descends: here ``shares``, those of the problem.

        ``work`` (n,) are the sums of the coefficients of a client's local steps.
        """
        return shares

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """Weights of the records in the quantity that the method's theorems bound; ``rate`` is the share of clients."""
        return {"G_u": 1.0, "G_v": rate}


@dataclass(frozen=True)
class Counts:
    """How many variables a group has in each block; ``slots`` is the largest number."""

    by_block: tuple[int, ...]

    @property
    def slots(self) -> int:
        """Width of the group in the padded coefficient tables."""
        return max(self.by_block)

    @staticmethod
    def of(variables: Group, blocks: tuple[str, ...]) -> Counts:
        """Count the variables of a group."""
        return Counts(tuple(sum(where == block for where in variables.values()) for block in blocks))


class LinearMaps:
    """Coefficients of an algorithm's functions at given parameters, per block (first axis).

    Columns are the inputs in the order named: ``begin`` (server, client), ``step`` (local, gradient), ``finish``
    (server, client, local), ``aggregate`` (server, message total), ``start_client`` (point, gradient),
    ``start_server`` (point, client average) and ``score`` (server, client, gradient). Rows are the outputs; those of
    ``finish`` are (client, message). Variables are numbered within their block and padded with zeros to the largest
    count.

    ``exact`` evaluates on rationals, so that differences such as 1 - eta lose no digits: parameters are taken as the
    numbers that they are, and coefficients are objects of type `Fraction`. A method raises `TypeError` where the
    function is not linear, mixes blocks or forgets an output: an error of the algorithm's definition.
    """

    def __init__(self, algorithm: Algorithm, *, exact: bool = False) -> None:
        self.algorithm, self._exact = algorithm, exact
        self.server, self.client, self.local, self.message = (
            Counts.of(group, algorithm.blocks)
            for group in (algorithm.server, algorithm.client, algorithm.local, algorithm.message)
        )
        self._point = {block: block for block in algorithm.blocks}

    def start_client(self, p: Parameters) -> Array:
        """See `Algorithm.start_client`."""
        a, p = self.algorithm, self._numbers(p)
        return self._read(lambda x, g: a.start_client(x, g, p), (self._point, self._point), (a.client,))

    def start_server(self, p: Parameters) -> Array:
        """See `Algorithm.start_server`."""
        a, p = self.algorithm, self._numbers(p)
        return self._read(lambda x, c: a.start_server(x, c, p), (self._point, a.client), (a.server,))

    def begin(self, p: Parameters) -> Array:
        """See `Algorithm.begin`."""
        a, p = self.algorithm, self._numbers(p)
        return self._read(lambda s, c: a.begin(s, c, p), (a.server, a.client), (a.local,))

    def step(self, p: Parameters) -> Array:
        """See `Algorithm.step`."""
        a, p = self.algorithm, self._numbers(p)
        return self._read(lambda x, g: a.step(x, g, p), (a.local, self._point), (a.local,))

    def finish(self, p: Parameters) -> Array:
        """See `Algorithm.finish`."""
        a, p = self.algorithm, self._numbers(p)

        def call(server: Variables, client: Variables, local: Variables) -> Variables:
            new, sent = a.finish(server, client, local, p)
            return {f"client {k}": v for k, v in new.items()} | {f"message {k}": v for k, v in sent.items()}

        outputs = {f"client {k}": v for k, v in a.client.items()}, {f"message {k}": v for k, v in a.message.items()}
        return self._read(call, (a.server, a.client, a.local), outputs)

    def aggregate(self, p: Parameters) -> Array:
        """See `Algorithm.aggregate`."""
        a, p = self.algorithm, self._numbers(p)
        return self._read(lambda s, t: a.aggregate(s, t, p), (a.server, a.message), (a.server,))

    def score(self, p: Parameters) -> Array:
        """See `Algorithm.score`."""
        a = self.algorithm
        inputs = (a.server, a.client, self._point)
        return self._read(lambda s, c, g: a.score(s, c, g, p), inputs, (self._point,))

    def records(self, names: tuple[str, ...], p: Parameters) -> dict[str, list[TermMap]]:
        """The terms of the named quantities as coefficients on (server, client, gradient).

        Raises `InputError` for a quantity that is no second moment of one round's variables.
        """
        a = self.algorithm
        inputs = (a.server, a.client, self._point)
        reader = _Reader(inputs, a.blocks)
        (s, c, g), (s_, c_, g_) = reader.arguments(reader.units), reader.arguments(reader.probe)
        units, probed = a.records(s, c, g, p), a.records(s_, c_, g_, p)
        if unknown := [name for name in names if name not in units]:
            known = ", ".join(sorted(units))
            raise InputError(f"{unknown[0]} is no second moment of one round's variables, which are {known}")
        result: dict[str, list[TermMap]] = {}
        for name in names:
            result[name] = []
            for term, check in zip(units[name], probed[name], strict=True):
                if term.over is TermOver.VALUES:
                    none = np.zeros(reader.width)
                    result[name].append(TermMap(term.over, term.factor, 0, none, none))
                    continue
                block, left = reader.vector(f"{name}, left", term.left, check.left)
                other, right = reader.vector(f"{name}, right", term.right, check.right)
                if block != other and left.any() and right.any():
                    raise TypeError(f"{name!r} multiplies variables of different blocks")
                result[name].append(TermMap(term.over, term.factor, block, left, right))
        return result

    def point(self) -> list[tuple[str, int]]:
        """For each block the group ("server" or "client") and slot of the variable at which quantities are recorded."""
        a = self.algorithm
        found = []
        for block in a.blocks:
            for group, variables in (("server", a.server), ("client", a.client)):
                names = [name for name, where in variables.items() if where == block]
                wanted = names[0] if names and a.point is None else (a.point or {}).get(block)
                if wanted in names:
                    found.append((group, names.index(wanted)))
                    break
            else:
                found.append(("server", -1))
        return found

    def _numbers(self, p: Parameters) -> Any:
        return {k: Fraction(v) if math.isfinite(v) else v for k, v in p.items()} if self._exact else p

    def _read(self, function: Callable[..., Variables], inputs: tuple[Group, ...], outputs: tuple[Group, ...]) -> Array:
        """Coefficients (block, output slot, input slot) of a linear function, by evaluation on unit vectors."""
        reader = _Reader(inputs, self.algorithm.blocks, exact=self._exact)
        result, probed = function(*reader.arguments(reader.units)), function(*reader.arguments(reader.probe))
        slots, height = _positions(outputs, self.algorithm.blocks)
        table = reader.zeros(len(self.algorithm.blocks), height, reader.width)
        for group, variables in enumerate(outputs):
            for name, block in variables.items():
                if name not in result:
                    raise TypeError(f"the function does not return {name!r}")
                found, row = reader.vector(name, result[name], probed[name])
                if row.any() and self.algorithm.blocks[found] != block:
                    raise TypeError(f"{name!r} mixes blocks")
                table[self.algorithm.blocks.index(block), slots[group][name]] = row
        return table


@dataclass(frozen=True)
class TermMap:
    """A `Term` with coefficients on the slots (server, client, gradient) of one block."""

    over: TermOver
    factor: float
    block: int
    left: Array
    right: Array


def _positions(groups: tuple[Group, ...], blocks: tuple[str, ...]) -> tuple[list[dict[str, int]], int]:
    """Slot of each variable, groups one after the other and numbered within their block, and how many slots."""
    positions, offset = [], 0
    for group in groups:
        count = dict.fromkeys(blocks, 0)
        position = {}
        for name, block in group.items():
            position[name] = offset + count[block]
            count[block] += 1
        positions.append(position)
        offset += Counts.of(group, blocks).slots
    return positions, offset


class _Reader:
    """Reads linear functions of some groups of variables off their values on unit vectors."""

    def __init__(self, inputs: tuple[Group, ...], blocks: tuple[str, ...], *, exact: bool = False) -> None:
        self._exact = exact
        self._inputs, self._blocks = inputs, blocks
        self._names = [(group, name) for group, variables in enumerate(inputs) for name in variables]
        self._slots, self.width = _positions(inputs, blocks)
        count = len(self._names)
        self.units: Any = self.zeros(count, count)
        np.fill_diagonal(self.units, Fraction(1) if exact else 1.0)
        # Small whole numbers for rationals: any sums of them are exact.
        self.probe: Any = np.random.default_rng(0).standard_normal((count, 3))
        if exact:
            self.probe = np.array([[Fraction(round(64 * x)) for x in row] for row in self.probe], dtype=object)
            self.probe = self.probe.reshape(count, 3)

    def zeros(self, *shape: int) -> Any:
        """Zeros, rationals where the reader is exact."""
        return np.full(shape, Fraction(0), dtype=object) if self._exact else np.zeros(shape)

    def arguments(self, values: Array) -> list[Variables]:
        """The groups with these values, a row of ``values`` per variable."""
        arguments: list[Variables] = [{} for _ in self._inputs]
        for (group, name), entry in zip(self._names, values, strict=True):
            arguments[group][name] = entry
        return arguments

    def vector(self, name: object, on_units: Any, on_probe: Any) -> tuple[int, Array]:
        """Block and coefficients by slot of one output."""
        row = np.broadcast_to(np.asarray(on_units, dtype=object if self._exact else float), (len(self._names),))
        if self._exact:
            linear = bool(np.all(row.dot(self.probe) == on_probe)) if len(row) else True
        else:
            atol = 1e-12 * (1 + np.abs(row).max(initial=0.0))
            linear = np.allclose(row @ self.probe, on_probe, rtol=1e-9, atol=atol)
        if not linear:
            raise TypeError(f"{name!r} is not a linear function of the variables")
        slots, block = self.zeros(self.width), None
        for coefficient, (group, variable) in zip(row, self._names, strict=True):
            if coefficient != 0.0:
                where = self._inputs[group][variable]
                if block not in (None, where):
                    raise TypeError(f"{name!r} mixes blocks")
                block = where
                slots[self._slots[group][variable]] = coefficient
        return 0 if block is None else self._blocks.index(block), slots
