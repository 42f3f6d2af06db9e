"""What an algorithm is: four small functions between server, client and local variables.

Given the oracle's outputs, every function of every method here is linear and acts on each coordinate alike, so a
function is written once for "the variable" and works on numbers, vectors and SymPy symbols. `linear_maps` reads off its
coefficients by evaluating it on unit vectors; all engines run on those coefficients, never on a second copy of the
method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.errors import InputError
from ratecheck.inputs import positive

Array = NDArray[np.float64]
Variables = dict[str, Any]
Parameters = Mapping[str, float]


class Space(IntEnum):
    """The coordinates on which a variable lives: those of the shared variable u or those of a personal v_i."""

    SHARED = 0
    PERSONAL = 1


class Algorithm(ABC):
    """One federated method.

    Class attributes name the variables and the space of each: ``server`` and ``client`` state, ``local`` variables,
    ``message`` sent by a client. In each space the first local variable is the point at which gradients are taken.
    ``step_sizes`` are the parameters beside n, m (clients in this round, for ``aggregate``), K and delay (rounds since
    the client's last one, t + 1 before its first, for ``begin``). ``averages``: the server averages over participants,
    so that a round without any leaves it as it is. ``uses_delay``: ``begin`` depends on the delay, affinely in its
    inverse.

    A function receives variables by name and returns the new ones by name; ``p`` maps parameter names to numbers.
    ``point`` and ``gradient`` have the entries "u" and "v".
    """

    name: ClassVar[str]
    title: ClassVar[str]
    step_sizes: ClassVar[tuple[str, ...]]
    averages: ClassVar[bool] = True
    uses_delay: ClassVar[bool] = False
    server: ClassVar[dict[str, Space]]
    client: ClassVar[dict[str, Space]]
    local: ClassVar[dict[str, Space]]
    message: ClassVar[dict[str, Space]]

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


@dataclass(frozen=True)
class Counts:
    """How many variables a group has in each space; ``slots`` is the larger number."""

    shared: int
    personal: int

    @property
    def slots(self) -> int:
        """Width of the group in the padded coefficient tables."""
        return max(self.shared, self.personal)

    @staticmethod
    def of(variables: Mapping[str, Space]) -> Counts:
        """Count the variables of a group."""
        shared = sum(space is Space.SHARED for space in variables.values())
        return Counts(shared, len(variables) - shared)


@dataclass(frozen=True)
class LinearMaps:
    """Coefficients of the four functions and of the start, per space (first axis, see `Space`).

    Columns are the inputs in the order named: ``begin`` (server, client), ``step`` (local, gradient), ``finish``
    (server, client, local), ``aggregate`` (server, message total), ``start_client`` (point, gradient) and
    ``start_server`` (point, client average). Rows are the outputs; those of ``finish`` are (client, message).
    Variables are numbered within their space and padded with zeros to the larger of the two counts.
    """

    server: Counts
    client: Counts
    local: Counts
    message: Counts
    start_client: Array
    start_server: Array
    begin: Array
    step: Array
    finish: Array
    aggregate: Array


_POINT = {"u": Space.SHARED, "v": Space.PERSONAL}


def linear_maps(algorithm: Algorithm, p: Parameters) -> LinearMaps:
    """The coefficients of the algorithm's functions at given parameters.

    Raises `TypeError` where a function is not linear, mixes the two spaces or forgets an output: an error of the
    algorithm's definition.
    """
    server, client, local, message = algorithm.server, algorithm.client, algorithm.local, algorithm.message

    def finish(s: Variables, c: Variables, x: Variables) -> Variables:
        new, sent = algorithm.finish(s, c, x, p)
        return {f"client {k}": v for k, v in new.items()} | {f"message {k}": v for k, v in sent.items()}

    finished = {f"client {k}": v for k, v in client.items()} | {f"message {k}": v for k, v in message.items()}
    return LinearMaps(
        server=Counts.of(server),
        client=Counts.of(client),
        local=Counts.of(local),
        message=Counts.of(message),
        start_client=_coefficients(lambda x, g: algorithm.start_client(x, g, p), (_POINT, _POINT), (client,)),
        start_server=_coefficients(lambda x, c: algorithm.start_server(x, c, p), (_POINT, client), (server,)),
        begin=_coefficients(lambda s, c: algorithm.begin(s, c, p), (server, client), (local,)),
        step=_coefficients(lambda x, g: algorithm.step(x, g, p), (local, _POINT), (local,)),
        finish=_coefficients(finish, (server, client, local), _split(finished)),
        aggregate=_coefficients(lambda s, t: algorithm.aggregate(s, t, p), (server, message), (server,)),
    )


def _split(finished: Mapping[str, Space]) -> tuple[dict[str, Space], dict[str, Space]]:
    new = {k: v for k, v in finished.items() if k.startswith("client ")}
    return new, {k: v for k, v in finished.items() if k not in new}


def _slots(variables: Mapping[str, Space]) -> int:
    return Counts.of(variables).slots


def _positions(groups: tuple[Mapping[str, Space], ...]) -> list[dict[str, int]]:
    """Slot of each variable: groups one after the other, numbered within their space."""
    positions, offset = [], 0
    for group in groups:
        count = dict.fromkeys(Space, 0)
        position = {}
        for name, space in group.items():
            position[name] = offset + count[space]
            count[space] += 1
        positions.append(position)
        offset += _slots(group)
    return positions


def _coefficients(
    function: Callable[..., Variables],
    inputs: tuple[Mapping[str, Space], ...],
    outputs: tuple[Mapping[str, Space], ...],
) -> Array:
    """Coefficients (space, output slot, input slot) of a linear function, by evaluation on unit vectors."""
    names = [(group, name) for group, variables in enumerate(inputs) for name in variables]
    units = np.eye(len(names))

    def call(values: Array) -> Variables:
        arguments: list[Variables] = [{} for _ in inputs]
        for (group, name), value in zip(names, values, strict=True):
            arguments[group][name] = value
        return function(*arguments)

    result = call(units)
    probe = np.random.default_rng(0).standard_normal((len(names), 3))
    probed = call(probe)
    in_slots, out_slots = _positions(inputs), _positions(outputs)
    shape = (len(Space), sum(map(_slots, outputs)), sum(map(_slots, inputs)))
    coefficients = np.zeros(shape)
    for group, variables in enumerate(outputs):
        for name, space in variables.items():
            if name not in result:
                raise TypeError(f"the function does not return {name!r}")
            row = np.broadcast_to(np.asarray(result[name], dtype=float), (len(names),))
            if not np.allclose(row @ probe, probed[name], rtol=1e-9, atol=1e-12 * (1 + np.abs(row).max(initial=0.0))):
                raise TypeError(f"{name!r} is not a linear function of the variables")
            for column, (source, variable) in enumerate(names):
                if inputs[source][variable] is space:
                    coefficients[space, out_slots[group][name], in_slots[source][variable]] = row[column]
                elif row[column] != 0.0:
                    raise TypeError(f"{name!r} mixes the shared and the personal coordinates")
    return coefficients


def check_step_sizes(algorithm: str, needed: tuple[str, ...], given: Mapping[str, float]) -> None:
    """Raise `InputError` unless every needed step size is given, finite and positive."""
    for name in needed:
        if name not in given:
            raise InputError(f"{algorithm} needs the step size {name}: give {name}=...")
        positive(name, given[name])
