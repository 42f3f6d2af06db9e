"""Changes in a round: of the method's records, of its variables, and the parts of single clients.

Quantities by name, R being a record of the method and V a variable:

* ``change:R``: E[R(z') - R(z)], computed from z' - z and not as a difference;
* ``step:V``: E||V' - V||^2, of a client's variable summed over the clients;
* a part of a record is what one client adds to it, if it is a sum over the clients; `parts` and `steps` give all of
  them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import TermOver
from ratecheck.aliases import Array
from ratecheck.engines.moments.expectation import Moments, Recorder
from ratecheck.engines.moments.moment import LocalMoments, added_up, column
from ratecheck.engines.moments.terms import RecordedTerms, Sides, together
from ratecheck.engines.moments.transition import Transition, scaled, total
from ratecheck.engines.records import plan
from ratecheck.errors import InputError

# A value, its rounding error, and how large it would be if nothing in it cancelled.
Difference = tuple[float, float, float]


@dataclass(frozen=True)
class Products:
    """A product of two maps for every client: its factor (n,), the entries ``own`` (n, entries) of z, both sides."""

    factors: Array
    own: NDArray[np.intp]
    left: Sides
    right: Sides


class Changes:
    """Quantities of a round; ``changing`` are the records of the setup whose `change` is asked for."""

    def __init__(self, moments: Moments, changing: Collection[str]) -> None:
        self._moments, self._recorder = moments, Recorder(moments, changing)
        self._forms: dict[str, tuple[Array, Array, Array]] = {}
        self._rows: dict[str, Array] = {}
        self._parts: dict[str, list[Products]] = {}

    def change(self, record: str, round_: Transition) -> Difference:
        """E[R(z') - R(z)] = E<2Qz, z' - z> + E<z' - z, Q(z' - z)> for a record z'Qz plus a constant."""
        if record not in self._forms:
            form, size = self._recorder.form(record)
            self._forms[record] = form, size, np.abs(form)
        form, size, large = self._forms[record]
        at, change = round_.change
        square = ..., at[:, None], at
        first = scaled(2.0, round_.inner_change(form, size))
        second = change.inner(form[square], np.eye(len(at)), (size[square], None))
        magnitude = round_.magnitude
        return (*total((first, second)), float((magnitude * (large @ magnitude)).sum()))

    def step(self, variable: str, round_: Transition) -> Difference:
        """E||V' - V||^2, summed over the clients where it is theirs."""
        if variable in self._moments.setup.algorithm.server:
            if variable not in self._rows:
                self._rows[variable] = self._moments.variable_rows(variable, 0)
            rows = self._rows[variable]
            return (*round_.square(-rows, rows), float(np.sum((np.abs(rows) @ round_.magnitude) ** 2)))
        return _added(self.steps(variable, round_))

    def steps(self, variable: str, round_: Transition) -> list[Difference]:
        """E||V_i' - V_i||^2 for every client."""
        n = self._moments.n
        if variable not in self._rows:
            parts = [self._moments.variable_rows(variable, i) for i in range(n)]
            self._rows[variable] = np.concatenate(parts, axis=-2)
        rows = self._rows[variable]
        sizes = ((np.abs(rows) @ round_.magnitude) ** 2).reshape(-1, n, rows.shape[-2] // n).sum(axis=(0, 2))
        return _listed(*round_.changes(rows, n), sizes)

    def parts(self, record: str, round_: Transition) -> list[Difference]:
        """Every client's part of a record before the round."""
        found = np.zeros((3, self._moments.n))
        for each in self._products(record):
            values, errors = LocalMoments(round_.moment, each.own).inner(each.left, each.right)
            magnitude = column(round_.magnitude)[..., each.own, :]
            sizes = ((np.abs(each.left[0]) @ magnitude) * (np.abs(each.right[0]) @ magnitude)).sum(axis=(-2, -1))
            found += [each.factors * values, np.abs(each.factors) * errors, np.abs(each.factors) * added_up(sizes)]
        return _listed(*found)

    def _products(self, record: str) -> list[Products]:
        if record not in self._parts:
            found = [self._read(moments, record) for moments in self._moments.parts]
            self._parts[record] = (
                found[0]
                if len(found) == 1
                else [
                    replace(
                        each[0], left=together([one.left for one in each]), right=together([one.right for one in each])
                    )
                    for each in zip(*found, strict=True)
                ]
            )
        return self._parts[record]

    def _read(self, moments: Moments, name: str) -> list[Products]:
        recorded = plan(moments.setup)
        record = recorded.records[recorded.names.index(name)]
        if len(record.rows) or any(terms[0].over is not TermOver.CLIENTS for terms in record.terms):
            raise InputError(f"{name} has no parts: it is not a sum over the clients")
        of_terms = RecordedTerms(moments, recorded)
        own, found = np.stack([moments.inputs(i) for i in range(moments.n)]), []
        for terms in record.terms:
            left, right = (
                (np.take_along_axis(rows, own[:, None], axis=2), np.take_along_axis(sizes, own[:, None], axis=2))
                for rows, sizes in of_terms.sides(terms)
            )
            found.append(Products(np.array([term.factor for term in terms]) / moments.n, own, left, right))
        return found


def _listed(values: Array, errors: Array, sizes: Array) -> list[Difference]:
    return [(float(a), float(b), float(c)) for a, b, c in zip(values, errors, sizes, strict=True)]


def _added(numbers: Iterable[Difference]) -> Difference:
    values, errors, sizes = zip(*numbers, strict=True)
    return float(sum(values)), float(sum(errors)), float(sum(sizes))
