"""Coefficients of an algorithm's functions, each rounded once.

The functions are evaluated on rationals. So what cancels in them, such as the step 1 - eta*lambda less the identity, or
the point that a client received less the one that it sends back, loses no digits, and every coefficient is known to a
few units in its last place.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ratecheck.algorithms.model.algorithm import LinearMaps
from ratecheck.algorithms.model.asking import MethodError
from ratecheck.aliases import Array
from ratecheck.engines.setup import Setup


@dataclass(frozen=True)
class Coefficients:
    """Tables (block, outputs, inputs) of one client, as in `LinearMaps`.

    ``begin`` and ``still`` are (fixed, rate), to be read as fixed + rate/delay. ``changes`` (1 or K, ...) are the local
    steps less the identity. ``local`` is ``finish`` on the local variables, ``still`` what the client's new state and
    message would be if it took no step.
    """

    begin: Array
    changes: Array
    local: Array
    still: Array
    start: Array


class CoefficientReader:
    """Reads the coefficients of one setup; ``before`` reads those of the same run with the coefficients of a round."""

    def __init__(self, setup: Setup, before: CoefficientReader | None = None) -> None:
        maps = LinearMaps(setup.algorithm, exact=True, beyond=True) if before is None else before._maps  # noqa: SLF001
        self._maps: LinearMaps = maps
        self._setup, self._alike = setup, setup.alike
        self._clients: dict[int, Coefficients] = {}
        self._aggregates: dict[int, Array] = {}

    def client(self, i: int) -> Coefficients:
        """The coefficients of client i; clients with the same parameters share one object."""
        i = 0 if self._alike else i
        if i not in self._clients:
            self._clients[i] = self._read(i)
        return self._clients[i]

    def _read(self, i: int) -> Coefficients:
        setup, maps = self._setup, self._maps
        p = setup.parameters(i)
        begin, finish = self._begin(i), maps.finish(p)
        inputs = begin.shape[-1]
        local = finish[:, :, inputs:]
        still = np.stack([np.stack([a.dot(b) for a, b in zip(local, part, strict=True)]) for part in begin])
        still[0] = still[0] + finish[:, :, :inputs]
        start = maps.start_client(p)
        return Coefficients(_floats(begin), self._changes(i), _floats(local), _floats(still), _floats(start))

    def _begin(self, i: int) -> Any:
        setup, read = self._setup, self._maps.begin
        once = read(setup.parameters(i, delay=1.0))
        if not setup.algorithm.uses_delay:
            return np.stack([once, 0 * once])
        rate = 2 * (once - read(setup.parameters(i, delay=2.0)))
        fixed = once - rate
        if not np.all(read(setup.parameters(i, delay=4.0)) == fixed + rate / 4):
            raise MethodError(f"{setup.method.spoken}: begin is not affine in 1/delay")
        return np.stack([fixed, rate])

    def _changes(self, i: int) -> Array:
        setup, read = self._setup, self._maps.step
        weights = setup.weights[i]
        if not setup.algorithm.weighs or len(weights) == 1:
            return _floats(_less_identity(read(setup.parameters(i, weight=float(weights[0])))))[None]
        fixed, once, many = (read(setup.parameters(i, weight=w)) for w in (0.0, 1.0, 4.0))
        if not np.all(many == fixed + 4 * (once - fixed)):
            raise MethodError(f"{setup.method.spoken}: step is not affine in the weight")
        return _floats(_less_identity(fixed)) + weights[:, None, None, None] * _floats(once - fixed)

    def aggregate(self, participants: int) -> Array:
        """The coefficients of ``aggregate``; a server that averages stays as it is without participants."""
        if participants not in self._aggregates:
            self._aggregates[participants] = _floats(self._aggregate(participants))
        return self._aggregates[participants]

    def aggregate_change(self, participants: int) -> Array:
        """`aggregate` less the identity: where the server nearly stays, what changes keeps its digits."""
        return _floats(_less_identity(self._aggregate(participants)))

    def _aggregate(self, participants: int) -> Any:
        table = self._maps.aggregate(self._setup.parameters(participants=participants))
        if not participants and self._setup.algorithm.averages:
            table = -_less_identity(0 * table)
        return table

    def start_server(self) -> Array:
        """The coefficients of ``start_server``."""
        return _floats(self._maps.start_server(self._setup.parameters()))


def _less_identity(table: Any) -> Any:
    """The table less the identity on the inputs that are outputs."""
    result = table.copy()
    for k in range(table.shape[1]):
        result[:, k, k] = result[:, k, k] - Fraction(1)
    return result


def _floats(table: Any) -> Array:
    return np.asarray(table, dtype=np.float64)
