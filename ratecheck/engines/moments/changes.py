"""Changes in a round: of the method's records, of its variables, and the parts of single clients.

Quantities by name, R being a record of the method and V a variable:

* ``change:R``: E[R(z') - R(z)], computed from z' - z and not as a difference;
* ``step:V``: E||V' - V||^2, of a client's variable summed over the clients;
* a part of a record is what one client adds to it, if it is a sum over the clients; `parts` and `steps` give all of
  them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ratecheck.algorithms.model.algorithm import TermOver
from ratecheck.aliases import Array
from ratecheck.engines.moments.exact import Moments, Recorder, term_sides
from ratecheck.engines.moments.transition import Transition, scaled, total
from ratecheck.engines.records import plan
from ratecheck.errors import InputError

# Weighted product of two maps of z.
Product = tuple[float, Array, Array]
# A value, its rounding error, and how large it would be if nothing in it cancelled.
Difference = tuple[float, float, float]


class Changes:
    """Quantities of a round; those of the setup's records."""

    def __init__(self, moments: Moments, recorder: Recorder) -> None:
        self._moments, self._recorder = moments, recorder
        self._identity = np.eye(moments.size)
        self._forms: dict[str, tuple[Array, Array]] = {}
        self._parts: dict[str, list[list[Product]]] = {}

    def change(self, record: str, round_: Transition) -> Difference:
        """E[R(z') - R(z)] = E<2Qz, z' - z> + E<z' - z, Q(z' - z)> for a record z'Qz plus a constant."""
        if record not in self._forms:
            self._forms[record] = self._recorder.form(record)
        form, size = self._forms[record]
        first = round_.inner(2 * form, -self._identity, self._identity, 2 * size)
        second = round_.of(-self._identity, self._identity).inner(form, self._identity, (size, None))
        magnitude = round_.magnitude
        return (*total((first, second)), float(magnitude @ np.abs(form) @ magnitude))

    def step(self, variable: str, round_: Transition) -> Difference:
        """E||V' - V||^2, summed over the clients where it is theirs."""
        if variable in self._moments.setup.algorithm.server:
            return self._step(variable, 0, round_)
        return _added(self.steps(variable, round_))

    def steps(self, variable: str, round_: Transition) -> list[Difference]:
        """E||V_i' - V_i||^2 for every client."""
        return [self._step(variable, i, round_) for i in range(self._moments.n)]

    def _step(self, variable: str, i: int, round_: Transition) -> Difference:
        rows = self._moments.variable_rows(variable, i)
        return (*round_.square(-rows, rows), float(np.sum((np.abs(rows) @ round_.magnitude) ** 2)))

    def parts(self, record: str, round_: Transition) -> list[Difference]:
        """Every client's part of a record before the round."""
        return [_added(self._part(*product, round_) for product in products) for products in self._products(record)]

    def _part(self, factor: float, left: Array, right: Array, round_: Transition) -> Difference:
        magnitude = abs(factor) * float((np.abs(left) @ round_.magnitude) @ (np.abs(right) @ round_.magnitude))
        return (*scaled(factor, round_.inner(left, right)), magnitude)

    def _products(self, record: str) -> list[list[Product]]:
        if record not in self._parts:
            self._parts[record] = self._read(record)
        return self._parts[record]

    def _read(self, name: str) -> list[list[Product]]:
        moments, recorded = self._moments, plan(self._moments.setup)
        record = recorded.records[recorded.names.index(name)]
        if len(record.rows) or any(column[0].over is not TermOver.CLIENTS for column in record.terms):
            raise InputError(f"{name} has no parts: it is not a sum over the clients")
        return [
            [
                (
                    column[i].factor / moments.n,
                    *(
                        side[0]
                        for side in term_sides(moments, i, column[i], recorded.anchor[i], recorded.anchor_error[i])
                    ),
                )  # type: ignore[misc]  # two sides
                for column in record.terms
            ]
            for i in range(moments.n)
        ]


def _added(numbers: Iterable[Difference]) -> Difference:
    values, errors, sizes = zip(*numbers, strict=True)
    return float(sum(values)), float(sum(errors)), float(sum(sizes))
