"""Wrong exponents, planted to see whether the rate card finds them: terms times ``x^(-1/4)`` and ``x^(1/4)``.

Where the card of the true statement says ATTAINED, a term that falls too fast has to be EXCEEDED, OPEN where `verify`
takes no run of these sizes, and one that falls too slowly LOOSE by that power. Where it is loose by x^p already, it
becomes loose by x^(p -+ 1/4); and what no setting inside the conditions reaches stays NOT REACHED.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

import bounds
from bounds.statement import Statement
from ratecheck.exponents import bilevel_orders
from ratecheck.exponents.card import RateCell, card, columns, right
from ratecheck.exponents.finding import CellFinding
from ratecheck.exponents.regimes import Bound

QUARTER = sp.Rational(1, 4)
# By how much the power by which a term is loose may differ from the one that was planted.
NEAR = 0.05
_SIZES, _DELAYS = ("local_steps", "participants", "clients", "rounds"), ("tau_max", "tau_avg", "tau_bar")


@dataclass(frozen=True)
class PlantedRate:
    """The cells of a true statement and of one whose ``term`` is multiplied by ``parameter`` to the ``power``."""

    key: str
    term: str
    parameter: str
    power: float
    true: RateCell
    found: RateCell

    @property
    def wanted(self) -> CellFinding:
        """What has to be found."""
        if self.true.finding is not CellFinding.ATTAINED:
            return self.true.finding
        return CellFinding.EXCEEDED if self.power < 0 else CellFinding.LOOSE

    @property
    def _allowed(self) -> float:
        """The true bound at the instance that passes the wrong one: no instance passes it, but rounding may."""
        violation = self.found.violation
        if violation is None:
            return math.inf
        bound = Bound(bounds.get(self.key))
        return float(right(bound, self.true.row, [violation.hard])[1][0])

    @property
    def caught(self) -> bool:
        """True where the planted error is found: by an instance above the wrong bound alone, or by the power."""
        if self.found.finding is not self.wanted and not (self.found.finding.passes and self.wanted.passes):
            return False
        if self.wanted is CellFinding.EXCEEDED:
            violation = self.found.violation
            return self.found.order is not None or (
                violation is not None and violation.bound < violation.left <= self._allowed
            )
        if self.wanted is CellFinding.LOOSE:
            planted = (self.true.loose or 0.0) + self.power
            return self.found.loose is not None and abs(self.found.loose - planted) <= NEAR
        return True


def parameters(statement: Statement) -> tuple[str, ...]:
    """The sizes of the run and the delays that the statement speaks of."""
    run = statement.vocabulary.run
    every = bilevel_orders.parameters(statement) if statement.order_only else columns(statement)
    names = dict.fromkeys((*(run[role] for role in _SIZES if role in run), *_DELAYS))
    return tuple(name for name in names if name in every)


def planted(statement: Statement, term: str, parameter: str, power: sp.Rational) -> Statement:
    """The statement with a term of its first claim times ``parameter`` to the ``power``."""
    first, *others = statement.claims
    factor = statement.vocabulary[parameter].symbol ** power
    terms = {label: expr * (factor if label == term else 1) for label, expr in first.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(first, terms=terms), *others))


def rates(key: str, parameter: str) -> Iterator[PlantedRate]:
    """Every row of a statement, too good and too bad by a quarter in the parameter."""
    statement = bounds.get(key)
    for true in card(statement, over=[parameter]).cells:
        for power in (-QUARTER, QUARTER):
            wrong = planted(statement, true.row.term, parameter, power)
            found = card(wrong, over=[parameter], rows=[true.row.name]).cells[0]
            yield PlantedRate(key, true.row.term, parameter, float(power), true, found)
