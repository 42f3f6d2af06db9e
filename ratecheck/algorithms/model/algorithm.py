"""What an algorithm is: four small functions between server, client and local variables.

Given the oracle's outputs, every function of every method of this package is linear and acts on each coordinate alike,
so a function is written once for "the variable" and works on numbers, vectors and SymPy symbols. `LinearMaps` holds its
coefficients, read off by evaluating it on unit vectors; all engines run on those coefficients, never on a second copy
of the method. A method of one's own that says that it is not linear is run by calling its functions (`nonlinear`).
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from bounds.errors import brief
from ratecheck.algorithms.model.answers import NUMBER, Evaluated
from ratecheck.algorithms.model.asking import (
    Binary,
    MethodError,
    UntoldNumber,
    floats_in,
    guarded,
    is_own,
    named,
    plain,
    said,
)
from ratecheck.algorithms.model.batches import REFUSALS, ParameterBatch, on_units
from ratecheck.aliases import Array
from ratecheck.errors import InputError

Variables = dict[str, Any]
# A client's state after its local steps, and its message.
Finished = tuple[Variables, Variables]
Parameters = Mapping[str, float]
# The variables of a group, each with the block of the problem's coordinates on which it lives.
Group = Mapping[str, str]

# What a method may define: an error in one of them is one of the method's definition.
_FUNCTIONS = (
    "start_client", "start_server", "begin", "step", "finish", "aggregate", "score", "records", "weights", "metric",
    "coefficients", "after", "sent", "measure",
)  # fmt: skip

# Places up to which functions are read one by one.
_FEW = 4
# Tables of coefficients that are kept.
_KEPT_TABLES = 1024
# The blocks of a problem with shared variables u and personal variables v_i.
U, V = "u", "v"
# What is recorded of a method on such a problem unless requested otherwise.
RECORDS = ("G_u", "G_v", "B")
# The size of the clients' points, recorded beside how far they are apart: (1/n) sum_i ||x_i||^2.
POINTS = "points2"


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


# The summands of recorded quantities, by their names.
RecordTerms = dict[str, tuple[Term, ...]]


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


def of_envelopes(slope: Any) -> RecordTerms:
    """||grad F||^2 for the average F of the envelopes F_i, and (1/n) sum_i ||grad F_i||^2; ``slope`` is grad F_i."""
    return {"grad_F2": (square_of_mean(slope),), "spread_F2": (square(slope),)}


def by_work(shares: Array, work: Array) -> Array:
    """``shares_i work_i / sum_j shares_j work_j``: the weights of clients whose messages grow with their work."""
    return shares * work / (shares @ work)


class Algorithm(ABC):
    """One federated method.

    Class attributes name the variables of each group and the block of each variable: ``server`` and ``client`` state,
    ``local`` variables, ``message`` sent by a client. In each of the ``blocks`` the first local variable is the point
    at which the oracle is evaluated, and ``point`` names the variable at which quantities are recorded, by default the
    first server variable of the block or, where there is none, the first client variable.

    ``step_sizes`` are the parameters beside n, m (clients in this round, for ``aggregate``), K (local steps), weight
    (of this local step, for ``step``), norm (sum of the weights of the client's steps), mean_norm (the average of the
    norms, with the clients' p), p (the client's weight in the objective), mixes (the probability with which a round
    mixes clients on a graph) and delay (rounds since the client's last one, t + 1 before its first, for ``begin``).
    ``per_client`` are those that may differ by client, ``optional`` those
    with a default, a function of n.

    ``bilevel``: it is about problems with a lower level. ``default_problem`` is the one that the command line takes.
    ``oracle`` is what a local step uses, "gradient" or "prox" (the minimiser of f_i + lambda/2 ||. - point||^2),
    and ``record_oracle`` what quantities are recorded of.
    ``second_oracle``: "prox" where every local step is followed by a proximal step of a second, convex part of the
    objective with the step size ``gamma_u``, at the first local variable; `after` has the local variables then. No
    problem has such a part: only the worst case over all functions follows these methods.
    ``averages``: the server averages over participants, so that a round without any leaves it as it is.
    ``uses_delay``: ``begin`` depends on the delay, affinely in its inverse. ``weighs``: ``step`` depends on the weight,
    affinely. ``own_functions``: local steps divide the oracle's answers by n p_i, so that theorems mean constants of
    f_i. ``projects``: the server variable that is projected on the ball of radius r after every round with
    participants.

    ``varying`` are parameters that differ from round to round, such as the momentum of an accelerated method:
    `coefficients` has them. What a function, but for ``records``, reads of these under their names is then that of the
    round. The exact and the step engine follow such runs round by round; whatever takes all rounds for the same refuses
    them. ``of_points``: T of `coefficients` counts recorded points, to the last of which T - 1 steps lead, so that a
    claim on x^T has a run of T + 1 of them.

    ``constants`` are those of ``step_sizes`` that are none and may be 0, such as a noise level in a formula of them.

    ``linear``: given the gradients, every function is linear in the variables, the same for each coordinate. A method
    that is not says ``linear = False``; its functions, but for ``records`` and ``weights``, then get arrays
    (rows, coordinates), which they must not change, and only the step engine runs it. A row is a replicate, for
    functions of a client one of a client; parameters that differ by row may be arrays (rows, 1).

    ``mixed``: client variables that are averaged with the neighbours' after every round, x_i <- sum_j W_ij x_j, W being
    the mixing matrix of a `participation.Graph`, or in the rounds that mix, if not all do; all clients take part then.
    ``exact`` and the step engine follow that.

    ``compressed``: variables of the message of which every coordinate is sent with probability q, a parameter of the
    method, divided by it, and is 0 otherwise, independently: C(v), with E C(v) = v and E||C(v) - v||^2 =
    (1/q - 1)||v||^2. The server adds up what is sent, and `sent` tells the client. The same engines follow that.

    ``also`` names what ``step`` finds in ``gradient`` beside the gradient at the first local variable of each block, as
    `answers` has it. All answers of a step are about one sample: the same rows of the data, the same draw of the noise.
    ``steps_per_sample``: so many local steps, one after the other, have one sample, too.
    ``coin`` is the step size that is the probability of a coin, which is tossed anew in every round and is the same for
    all clients and the server: p["coin"] is 1 or 0, for ``begin``, ``step``, ``finish``, ``sent`` and ``aggregate``.
    ``full_start``: the gradient that ``start_client`` gets is the full one. ``exact`` follows these (but not samples of
    several steps), and the step engine by calling the functions.

    ``measures`` names quantities that are no sums of products, such as norms: a method that is not linear computes them
    in `measure` before every round. ``exact`` does not know their expectations, so that only methods with
    ``linear = False`` have any.

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
    linear: ClassVar[bool] = True
    mixed: ClassVar[tuple[str, ...]] = ()
    compressed: ClassVar[tuple[str, ...]] = ()
    also: ClassVar[Mapping[str, Evaluated]] = {}
    steps_per_sample: ClassVar[int] = 1
    coin: ClassVar[str | None] = None
    full_start: ClassVar[bool] = False
    measures: ClassVar[tuple[str, ...]] = ()
    blocks: ClassVar[tuple[str, ...]] = (U, V)
    oracle: ClassVar[str] = "gradient"
    record_oracle: ClassVar[str] = "gradient"
    second_oracle: ClassVar[str | None] = None
    averages: ClassVar[bool] = True
    uses_delay: ClassVar[bool] = False
    varying: ClassVar[tuple[str, ...]] = ()
    of_points: ClassVar[bool] = False
    constants: ClassVar[tuple[str, ...]] = ()
    weighs: ClassVar[bool] = False
    own_functions: ClassVar[bool] = False
    projects: ClassVar[str | None] = None
    server: ClassVar[Group]
    client: ClassVar[Group]
    local: ClassVar[Group]
    message: ClassVar[Group]
    point: ClassVar[Group | None] = None
    recorded: ClassVar[tuple[str, ...]] = RECORDS

    @property
    def own(self) -> bool:
        """Whether the method is none of this package's."""
        return is_own(type(self))

    @property
    def about(self) -> str:
        """What its class says about the method, with the formulas of its source; empty for nothing."""
        return inspect.cleandoc(type(self).__doc__ or "")

    @property
    def records_alone(self) -> bool:
        """Whether what is recorded is what every method records, and nothing else under these names."""
        return type(self).records is Algorithm.records

    @property
    def tabled(self) -> bool:
        """Whether the coefficients of its functions, the same in all rounds, are all that a run needs."""
        return self.linear and not (self.beyond or self.varying)

    @property
    def beyond(self) -> str:
        """Effects of a round that coefficients do not say, in words; empty for none."""
        effects = {
            "mixes clients on a graph": self.mixed,
            "compresses at random": self.compressed,
            "tosses a coin in every round": self.coin,
            "evaluates several points in a step": self.also,
            "has one sample for several local steps": self.steps_per_sample > 1,
            "starts with a full gradient": self.full_start,
        }
        return next((words for words, there in effects.items() if there), "")

    @property
    def asks_more(self) -> bool:
        """Whether a round has other answers than one gradient, with a sample of its own, for each local step."""
        return bool(self.also or self.coin or self.steps_per_sample > 1 or self.full_start)

    @property
    def answers(self) -> Group:
        """What ``step`` finds in ``gradient``, with the block of each; `NUMBER` for values."""
        blocks: Group = {block: block for block in self.blocks}
        return {**blocks, **{k: self.local[v.at] if v.kind.is_gradient else NUMBER for k, v in self.also.items()}}

    @property
    def asks_gradients(self) -> bool:
        """Whether gradients are all that local steps and records use."""
        return {self.oracle, self.record_oracle} == {"gradient"} and NUMBER not in self.answers.values()

    def __init_subclass__(cls) -> None:
        """An exception in a function of a user's own method is an `InputError`, whichever engine calls it."""
        super().__init_subclass__()
        if is_own(cls):
            for name in _FUNCTIONS:
                if callable(function := vars(cls).get(name)):
                    setattr(cls, name, guarded(function, name))
                    continue
                inherited: Any = getattr(cls, name, None)
                if inherited is not getattr(Algorithm, name, None) and not is_own(inspect.unwrap(inherited)):
                    # What it inherits of another method may use step sizes that it does not have.
                    setattr(cls, name, guarded(inherited, f"{name}, which it inherits,"))

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Client state before round 0, from the starting point and the mean of K oracle outputs there; none here."""
        return {}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """Server state before round 0, from the starting point and the clients' mean state; the point as x here."""
        return {"x": point[U]}

    @abstractmethod
    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Local variables before the first local step."""

    @abstractmethod
    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Local variables after one local step."""

    def after(self, local: Variables, nearest: Variables, p: Parameters) -> Variables:
        """Local variables after the second part's proximal step led to ``nearest``."""
        return local

    @abstractmethod
    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """New client state, and the message to the server, after K local steps."""

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """Client state once it knows what was sent of a ``compressed`` message."""
        return client

    @abstractmethod
    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """New server state from the sum of the messages of the m clients of this round."""

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """The parameters ``varying`` in round t of T, from the step sizes and numbers in ``p``."""
        return {}

    def score(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The vector whose norm ranks clients in a biased selection, ``gradient`` being taken at the recorded point."""
        return dict(gradient)

    def records(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> RecordTerms:
        """Quantities that can be recorded before a round, ``gradient`` being that of f_i at the recorded point.

        Here: G_u = ||mean_i grad_u f_i||^2, G_v = mean_i ||grad_v f_i||^2, B = sum_i ||grad_u f_i||^2 and f.
        """
        return {
            "G_u": (square_of_mean(gradient[U]),),
            "G_v": (square(gradient[V]),),
            "B": (square(gradient[U], p["n"]),),
            "f": (value(),),
        }

    def measure(self, server: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The quantities ``measures`` of the server's state, one number per row.

        ``gradient`` is the mean of the clients' gradients at the server's point, over all data and without noise.
        """
        return {}

    def weights(self, shares: Array, work: Array) -> Array:
        """The clients' weights (n,) in the objective that the method descends: here ``shares``, those of the problem.

        ``work`` (n,) are the sums of the coefficients of a client's local steps.
        """
        return shares

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """Weights of the records in the quantity that the method's theorems bound; ``rate`` is the share of clients."""
        weights = {"G_u": 1.0, "G_v": rate}
        return {name: weight for name, weight in weights.items() if name in self.recorded}


def check_answers(algorithm: Algorithm) -> None:
    """Raise `MethodError` where what a round evaluates does not fit the method: names, points, a coin without odds."""
    for name, answer in algorithm.also.items():
        if name in algorithm.blocks:
            raise MethodError(f"{named(algorithm)}: {name!r} in also is a block, whose gradient a step has anyway")
        if answer.at not in algorithm.local:
            raise MethodError(f"{named(algorithm)}: {name!r} in also is at {answer.at!r}, no local variable")
    if algorithm.linear and NUMBER in algorithm.answers.values():
        raise MethodError(f"{named(algorithm)}: what uses values of functions is not linear: say 'linear = False'")
    if algorithm.measures and algorithm.linear:
        raise MethodError(f"{named(algorithm)}: measure is called by a method that is not linear: say 'linear = False'")
    if algorithm.coin is not None and algorithm.coin not in algorithm.step_sizes:
        raise MethodError(f"{named(algorithm)}: its coin {algorithm.coin!r} is none of its step_sizes")
    if algorithm.asks_more and (algorithm.bilevel or algorithm.oracle != "gradient"):
        raise MethodError(f"{named(algorithm)}: further points, samples and coins are those of methods with gradients")


def check_alike(algorithm: Algorithm, what: str) -> None:
    """Raise `InputError` where coefficients differ from round to round; ``what`` takes all rounds for the same."""
    if algorithm.varying:
        raise InputError(
            f"{named(algorithm)} has another {' and '.join(algorithm.varying)} in every round, and {what} takes all "
            "rounds for the same: the exact and the step engine follow it round by round"
        )


def check_after(algorithm: Algorithm, T: int, p: Parameters) -> None:
    """Raise `InputError` where in a run of ``T`` recorded points, the last of which is x^(T-1), rounds depend on T.

    Unless T is said to count points: a method of one's own may count rounds by it.
    """
    if not algorithm.varying or algorithm.of_points:
        return
    if any(algorithm.coefficients(t, T, p) != algorithm.coefficients(t, T - 1, p) for t in {0, (T - 1) // 2, T - 2}):
        raise InputError(
            f"{named(algorithm)} takes other steps in a run of one more round, so that x^T is not recorded: let its "
            'class say "of_points = True" if T of coefficients(t, T, p) counts points, to the last of which T - 1 '
            'steps lead; or state the claim field by field with over="last_round", round T-1'
        )


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
    numbers that they are, and coefficients are objects of type `Fraction`. Coefficients of a ``mixed`` or
    ``compressed`` method are read for those alone who follow what is ``beyond`` them. A method raises `InputError`
    where the function is not linear, mixes blocks, changes its inputs, forgets an output or returns what are no
    numbers: an error of the algorithm's definition.
    """

    def __init__(self, algorithm: Algorithm, *, exact: bool = False, beyond: bool = False) -> None:
        self.algorithm, self._exact, self._beyond = algorithm, exact, beyond
        self.server, self.client, self.local, self.message = (
            Counts.of(group, algorithm.blocks)
            for group in (algorithm.server, algorithm.client, algorithm.local, algorithm.message)
        )
        self._point = {block: block for block in algorithm.blocks}
        self._known: dict[tuple[Any, ...], Array] = {}

    def many(self, name: str, parameters: ParameterBatch) -> Array:
        """Coefficients (places, block, output, input) of the function of that name at many places.

        By one call for all of them where the function takes arrays of parameters: what it says so is read again place
        by place at some of them, and everywhere if there is the least difference.
        """
        if not self._exact and parameters.size > _FEW and (found := self._together(name, parameters)) is not None:
            return found
        return np.stack([self._read(name, parameters.at(place)) for place in range(parameters.size)])

    def _together(self, name: str, parameters: ParameterBatch) -> Array | None:
        """The coefficients at many places by one call, None where that is not known to be right."""
        (inputs, outputs), blocks = self._groups(name), self.algorithm.blocks
        (within, width), (slots, height) = _positions(inputs, blocks), _positions(outputs, blocks)
        table = np.zeros((parameters.size, len(blocks), height, width))
        try:
            names, result = on_units(self.algorithm, name, inputs, parameters.together())
            for group, (variables, values) in enumerate(
                zip(outputs, result if name == "finish" else (result,), strict=True)
            ):
                for each, block in variables.items():
                    row = np.broadcast_to(np.asarray(values[each], dtype=float), (parameters.size, len(names)))
                    for column, (k, variable) in zip(row.T, names, strict=True):
                        if inputs[k][variable] == block:
                            table[:, blocks.index(block), slots[group][each], within[k][variable]] = column
                        elif column.any():
                            return None
        except (*REFUSALS, InputError):
            return None
        same = all(np.array_equal(table[place], self._read(name, parameters.at(place))) for place in parameters.checked)
        return table if same and np.isfinite(table).all() else None

    def check(self, p: Parameters) -> None:
        """Raise `InputError` where a function of a round is wrong at these parameters."""
        functions = (self.start_client, self.start_server, self.begin, self.step, self.finish, self.aggregate)
        for function in (*functions, *((self.sent,) if self.algorithm.compressed else ())):
            function(p)

    def arithmetic(self, p: Parameters, *, of_variables: bool = False) -> bool:
        """Whether functions of a round do arithmetic alone with those parameters that are an `UntoldNumber`.

        ``of_variables``: with their variables, too, so that no threshold is anywhere.
        """
        a = self.algorithm
        names = ["start_client", "start_server", "begin", "step", "finish", "aggregate"]
        names += ["sent"] * bool(a.compressed) + ["after"] * bool(a.second_oracle)
        calls = [(name, self._groups(name)[0]) for name in names]
        calls.append(("records", (a.server, a.client, self._point)))
        return all(self._arithmetic(name, inputs, p, of_variables=of_variables) for name, inputs in calls)

    def _arithmetic(self, name: str, inputs: tuple[Group, ...], p: Parameters, *, of_variables: bool) -> bool:
        """`arithmetic` of one function."""
        reader = _LinearReader(self.algorithm, name, inputs, self.algorithm.blocks, kind=Fraction)
        try:
            if of_variables:
                untold = np.full(reader.units.shape, UntoldNumber(), dtype=object)
                getattr(self.algorithm, name)(*reader.arguments(untold), p)
            else:
                self._called(name, reader.arguments(reader.units), p)
        except (InputError, *REFUSALS):
            return False
        return True

    def _settled(self, name: str, p: Parameters) -> bool:
        """Whether a function of one's own method need not be tried at each of its parameters.

        It does arithmetic alone with parameters and variables, so that what it returns are rational functions of them,
        and these are linear in the variables at parameters that are drawn at random: then they are at all of them. It
        is found out the second time that it is asked, since a method may be read but once.
        """
        # What wraps a method is this package's, and made anew for each run.
        inner, around = self.algorithm, [type(self.algorithm)]
        while (inside := getattr(inner, "inner", None)) is not None:
            inner, around = inside, [*around, type(inside)]
        known: dict[tuple[Any, ...], bool | None] = vars(inner).setdefault("_settled", {})
        key = name, frozenset(p), *around
        if key not in known:
            known[key] = None
        elif known[key] is None:
            untold, random = copy.copy(p), copy.copy(p)
            untold.update(dict.fromkeys(p, UntoldNumber()))  # type: ignore[attr-defined]  # all are dictionaries
            drawn = np.random.default_rng(0).integers(1, 1 << 30, size=(len(p), 2)).tolist()
            numbers = {each: Binary(*pair) for each, pair in zip(sorted(p), drawn, strict=True)}
            random.update(numbers)  # type: ignore[attr-defined]
            known[key] = False
            if self._arithmetic(name, self._groups(name)[0], untold, of_variables=True):
                with suppress(InputError):
                    self._values(name, random, Binary, _ALL)
                    known[key] = True
        return bool(known[key])

    def records(self, names: tuple[str, ...], p: Parameters) -> dict[str, list[TermMap]]:
        """The terms of the named quantities as coefficients on (server, client, gradient).

        Raises `InputError` for a quantity that is no second moment of one round's variables.
        """
        a = self.algorithm
        inputs = (a.server, a.client, self._point)
        reader = _LinearReader(a, "records", inputs, a.blocks, kind=Fraction if self._exact else None)
        units, *probed = (self._called("records", reader.arguments(each), p) for each in (reader.units, *reader.probes))
        if unknown := [name for name in names if name not in units]:
            known = ", ".join(sorted(units))
            raise InputError(f"{unknown[0]} is no second moment of one round's variables, which are {known}")
        result: dict[str, list[TermMap]] = {}
        for name in names:
            result[name] = []
            for term, *checks in zip(units[name], *(each[name] for each in probed), strict=True):
                if term.over is TermOver.VALUES:
                    none = np.zeros(reader.width)
                    result[name].append(TermMap(term.over, term.factor, 0, none, none))
                    continue
                block, left = reader.vector(f"{name}, left", term.left, [each.left for each in checks])
                other, right = reader.vector(f"{name}, right", term.right, [each.right for each in checks])
                if block != other and left.any() and right.any():
                    raise MethodError(f"{said(a, 'records')} multiplies in {name!r} variables of different blocks")
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

    def _groups(self, name: str) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
        """The groups of variables that a function receives, and those that it returns."""
        a, point = self.algorithm, self._point
        groups: dict[str, tuple[tuple[Group, ...], tuple[Group, ...]]] = {
            "start_client": ((point, point), (a.client,)),
            "start_server": ((point, a.client), (a.server,)),
            "begin": ((a.server, a.client), (a.local,)),
            "step": ((a.local, a.answers), (a.local,)),
            "finish": ((a.server, a.client, a.local), (a.client, a.message)),
            "aggregate": ((a.server, a.message), (a.server,)),
            "after": ((a.local, point), (a.local,)),
            "sent": ((a.client, a.message), (a.client,)),
            "score": ((a.server, a.client, point), (point,)),
        }
        return groups[name]

    def _read(self, name: str, p: Parameters) -> Array:
        """Coefficients (block, output slot, input slot) of a linear function, by evaluation on unit vectors."""
        if not self.algorithm.linear:
            raise InputError(f"{named(self.algorithm)} is not linear: {name} has no coefficients; use engine=step")
        if self.algorithm.beyond and not self._beyond:
            what = self.algorithm.beyond
            raise InputError(f"{named(self.algorithm)} {what}, which engine=exact and engine=step alone follow")
        # Reading takes its time, and many rounds and clients of a run may have the same parameters.
        key = name, *p.items()
        if key not in self._known:
            if len(self._known) == _KEPT_TABLES:
                self._known.clear()
            self._known[key] = self._exactly(name, p) if self._exact else self._table(name, p, None)
            self._known[key].flags.writeable = False
        return self._known[key]

    def _exactly(self, name: str, p: Parameters) -> Array:
        """Coefficients as rationals."""
        try:
            table = self._table(name, p, Fraction)
            if not floats_in(table):
                return table
        except InputError:
            # A float makes a float of a rational, which rounds: the method may be linear all the same.
            pass
        return np.asarray(plain(self._table(name, p, Binary)), dtype=object)

    # The coefficients of each function of an `Algorithm`; those of ``after`` are on (local, nearest).
    start_client = functools.partialmethod(_read, "start_client")
    start_server = functools.partialmethod(_read, "start_server")
    begin = functools.partialmethod(_read, "begin")
    step = functools.partialmethod(_read, "step")
    finish = functools.partialmethod(_read, "finish")
    aggregate = functools.partialmethod(_read, "aggregate")
    sent = functools.partialmethod(_read, "sent")
    after = functools.partialmethod(_read, "after")
    score = functools.partialmethod(_read, "score")

    def _table(self, name: str, p: Parameters, kind: type[Fraction] | None) -> Array:
        if kind is not None:
            numbers = {k: kind(v) if math.isfinite(v) else v for k, v in p.items()}
            # Some mappings say why a parameter is missing.
            p = copy.copy(p)
            p.update(numbers)  # type: ignore[attr-defined]  # all of them are dictionaries
        # Functions are tried once: what is linear at some parameters is so at others, where it is this package's.
        function = type(self.algorithm), type(getattr(self.algorithm, "inner", None)), name, kind
        own, tried = self.algorithm.own, function in _TRIED
        settled = self._settled(name, p) if own else tried
        if tried and not settled and kind is not None:
            # Thresholds at these parameters show in floats, too, which cost a twentieth.
            self._table(name, p, None)
        table = self._values(name, p, kind, _NONE if settled else _LAST if tried or not own else _ALL)
        if kind is not None or not own:
            _TRIED.add(function)
        return table

    def _values(self, name: str, p: Parameters, kind: type[Fraction] | None, tries: slice) -> Array:
        """Coefficients by values on unit vectors, which values on the probes of the slice ``tries`` have to follow."""
        (inputs, outputs), blocks = self._groups(name), self.algorithm.blocks
        reader = _LinearReader(self.algorithm, name, inputs, blocks, kind=kind, tries=tries)
        watched = self.algorithm.own and tries != _NONE
        result, *probed = (
            self._returned(name, reader.arguments(each), p, watched=watched) for each in (reader.units, *reader.probes)
        )
        slots, height = _positions(outputs, blocks)
        table = reader.zeros(len(blocks), height, reader.width)
        for group, variables in enumerate(outputs):
            for each, block in variables.items():
                for found in (result, *probed):
                    if each not in found[group]:
                        raise MethodError(f"{said(self.algorithm, name)} does not return {each!r}")
                number, row = reader.vector(each, result[group][each], [found[group][each] for found in probed])
                if row.any() and blocks[number] != block:
                    raise MethodError(f"{said(self.algorithm, name)} mixes blocks in {each!r}")
                table[blocks.index(block), slots[group][each]] = row
        return table

    def _returned(
        self, name: str, arguments: list[Variables], p: Parameters, *, watched: bool
    ) -> tuple[Variables, ...]:
        """The groups of variables that a function returns."""
        result = self._called(name, arguments, p) if watched else self._call(name, arguments, p)
        groups = result if name == "finish" else (result,)
        if name == "finish" and not (isinstance(groups, (tuple, list)) and len(groups) == 2):
            raise MethodError(
                f"{said(self.algorithm, name)} returns {brief(result)}, not a pair: the client's state and its message"
            )
        for each in groups:
            if not isinstance(each, Mapping):
                raise MethodError(f"{said(self.algorithm, name)} returns {brief(each)}, not its variables by name")
        return tuple(groups)

    def _called(self, name: str, arguments: list[Variables], p: Parameters) -> Any:
        """The value of a method's function; raises `InputError` where one's own changes its arguments."""
        if not self.algorithm.own:
            return self._call(name, arguments, p)
        before = [{each: np.array(value) for each, value in group.items()} for group in arguments]
        parameters = dict(p)
        result = self._call(name, arguments, p)
        changed = [each for group, old in zip(arguments, before, strict=True) for each in _changed(group, old)]
        # A mapping may add a parameter as it is read.
        changed += [each for each, number in parameters.items() if p.get(each) is not number]
        if changed:
            raise MethodError(
                f"{said(self.algorithm, name)} changes its input {changed[0]!r}: compute a new value and return that"
            )
        return result

    def _call(self, name: str, arguments: list[Variables], p: Parameters) -> Any:
        # What is no number is refused where it is read.
        with np.errstate(all="ignore"):
            return getattr(self.algorithm, name)(*arguments, p)


@dataclass(frozen=True)
class TermMap:
    """A `Term` with coefficients on the slots (server, client, gradient) of one block."""

    over: TermOver
    factor: float
    block: int
    left: Array
    right: Array


def _changed(group: Variables, before: Variables) -> Iterator[str]:
    """Names of a group whose values are no longer what they were."""
    yield from group.keys() ^ before.keys()
    for name in group.keys() & before.keys():
        new = np.asarray(group[name])
        if new.shape != before[name].shape or not np.array_equal(new, before[name]):
            yield name


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


@functools.cache
def _probes(count: int, kind: type[Fraction] | None) -> tuple[Any, ...]:
    """Values of so many variables, a row each, on which a linear function agrees with what it is on unit vectors.

    A threshold shows on one side of it only: there are numbers of all sizes at once, where the norm is that of the
    largest, from 1 up and from 1 down, small ones alone, and, last, those of ordinary size.
    """
    # Rationals cost more, and small whole numbers are as good as any.
    step = 1 if kind is None else 10
    up = np.repeat(np.arange(0, 101, step), 3)
    random = np.random.default_rng(0)
    probes = []
    for exponents in (up, -up, np.full(3, -100), np.zeros(3, dtype=int)):
        values = random.standard_normal((count, exponents.size))
        if kind is None:
            probe: Any = values * 10.0**exponents
        else:
            probe = np.empty(values.shape, dtype=object)
            for place, value in np.ndenumerate(values):
                probe[place] = kind(round(64 * value)) * kind(10) ** int(exponents[place[1]])
        probes.append(probe)
    return tuple(probes)


# Which of the probes a function has to follow.
_ALL, _LAST, _NONE = slice(None), slice(-1, None), slice(0)
# Functions that were found to be linear, one's own in fractions: algorithm, the one inside it, name, kind of numbers.
_TRIED: set[tuple[Any, ...]] = set()


class _LinearReader:
    """Reads linear functions of some groups of variables off their values on unit vectors."""

    def __init__(
        self,
        algorithm: Algorithm,
        function: str,
        inputs: tuple[Group, ...],
        blocks: tuple[str, ...],
        *,
        kind: type[Fraction] | None = None,
        tries: slice | None = None,
    ) -> None:
        self._algorithm, self._function, self._kind = algorithm, function, kind
        self._inputs, self._blocks = inputs, blocks
        self._names = [(group, name) for group, variables in enumerate(inputs) for name in variables]
        self._slots, self.width = _positions(inputs, blocks)
        count = len(self._names)
        self.units: Any = self.zeros(count, count)
        np.fill_diagonal(self.units, 1.0 if kind is None else kind(1))
        # This package's methods are known to have no thresholds.
        self.probes = _probes(count, kind)[tries or (_ALL if algorithm.own else _LAST)]

    @property
    def _where(self) -> str:
        return said(self._algorithm, self._function)

    def zeros(self, *shape: int) -> Any:
        """Zeros, rationals where the reader is exact."""
        return np.zeros(shape) if self._kind is None else np.full(shape, self._kind(0), dtype=object)

    def arguments(self, values: Array) -> list[Variables]:
        """The groups with these values, a row of ``values`` per variable."""
        arguments: list[Variables] = [{} for _ in self._inputs]
        for (group, name), entry in zip(self._names, values, strict=True):
            # A copy: a function that changes what it is given is found out, and spoils no other call.
            arguments[group][name] = entry.copy()
        return arguments

    def vector(self, name: object, on_units: Any, on_probes: Sequence[Any]) -> tuple[int, Array]:
        """Block and coefficients by slot of one output."""
        row = np.broadcast_to(self._numbers(name, on_units, len(self._names)), (len(self._names),))
        if not all(self._follows(name, row, *each) for each in zip(self.probes, on_probes, strict=True)):
            raise MethodError(
                f"{self._where} returns a {name!r} that is not a linear function of the variables, the same for each "
                "coordinate; a method that is none says 'linear = False'"
            )
        slots, block = self.zeros(self.width), None
        for coefficient, (group, variable) in zip(row, self._names, strict=True):
            if coefficient != 0.0:
                where = self._inputs[group][variable]
                if block not in (None, where):
                    raise MethodError(f"{self._where} mixes blocks in {name!r}")
                block = where
                slots[self._slots[group][variable]] = coefficient
        return 0 if block is None else self._blocks.index(block), slots

    def _follows(self, name: object, row: Array, probe: Any, found: Any) -> bool:
        """Whether an output is the combination with these coefficients where the variables have these values."""
        size = np.abs(probe).max(axis=0, initial=0)
        # What large numbers give beyond float64 tells nothing.
        found = self._numbers(name, found, probe.shape[1], finite=np.less(size, 1e6))
        if self._kind is not None:
            return bool(np.all(row.dot(probe) == found)) if len(row) else True
        with np.errstate(over="ignore", invalid="ignore"):
            wanted = row @ probe
            atol = 1e-12 * (1 + np.abs(row).max(initial=0.0)) * size
            return bool(np.all((np.abs(found - wanted) <= atol + 1e-9 * np.abs(wanted)) | ~np.isfinite(found)))

    def _numbers(self, name: object, given: Any, size: int, finite: Any = True) -> Any:
        """Numbers that a function returned for a variable: one for each coordinate or for all, finite if required."""
        try:
            values = np.asarray(given)
            if np.iscomplexobj(values):
                raise TypeError
            # Rationals may be larger than any float.
            rational = values.dtype == object and all(isinstance(each, (int, Fraction)) for each in values.flat)
            beyond = not rational and bool((~np.isfinite(values.astype(float)) & finite).any())
            values = values.astype(float if self._kind is None else object)
        except (TypeError, ValueError, OverflowError):
            raise MethodError(f"{self._where} returns {brief(given)} as {name!r}, no real numbers") from None
        if values.shape not in ((), (size,)):
            raise MethodError(
                f"{self._where} returns a {name!r} of the shape {values.shape}, where the inputs have {(size,)}"
            )
        if beyond:
            raise MethodError(f"{self._where} returns NaN or infinity in {name!r}")
        return values
