"""The curves of a picture of a rate card: regimes with a decade on either side, a typical instance beside the worst.

The typical instance is a well-conditioned quadratic at the same setting; see `hard_instances.typical`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bounds.statement import Statement
from bounds.symbols import Domain
from ratecheck.aliases import Array, Progress
from ratecheck.errors import InputError
from ratecheck.exponents.card import Card, RateCell, columns, right
from ratecheck.exponents.hard_instances import typical, worst
from ratecheck.exponents.parameters import CLIENTS, DELAY, LOCAL_STEPS, PARTICIPANTS, ROUNDS, parameters, symbol_of
from ratecheck.exponents.regimes import Bound, Regime

# How far beyond its regime a parameter is followed, in decades, and at how many points.
_BEYOND, _POINTS = 1.0, 3
# No run is longer than a regime's can be.
_LARGEST = 1e9


@dataclass(frozen=True)
class Curves:
    """A cell's term, the whole bound, the worst left side found and that of a typical instance, each (points,).

    ``values`` are those of the parameter, the regime's among them. What could not be computed is NaN.
    """

    cell: RateCell
    values: Array
    term: Array
    bound: Array
    worst: Array
    typical: Array


def against(statement: Statement) -> tuple[str, ...]:
    """The default axes of pictures: local steps, participants, rounds, delay."""
    every = columns(statement)
    roles = (LOCAL_STEPS, PARTICIPANTS, ROUNDS, DELAY)
    symbols = [each.symbol for each in parameters(statement, roles) if each.symbol in every]
    if symbol_of(statement, PARTICIPANTS) not in symbols:
        symbols[1:1] = [each.symbol for each in parameters(statement, (CLIENTS,)) if each.symbol in every]
    return tuple(symbols) or every


def curves(card: Card, progress: Progress | None = None) -> tuple[Curves, ...]:
    """The curves of every cell that has a regime."""
    bound = Bound(card.statement)
    cells = [(cell, cell.regime) for cell in card.cells if cell.regime is not None]
    found = []
    for done, (cell, regime) in enumerate(cells):
        found.append(_curves(card.statement, bound, cell, regime))
        if progress is not None:
            progress((done + 1) / len(cells))
    return tuple(found)


def _curves(statement: Statement, bound: Bound, cell: RateCell, regime: Regime) -> Curves:
    scale = regime.row.scale
    settings = [regime.at(float(x)) for x in _values(statement, bound, regime)]
    hard = [worst(statement, each, scale) for each in settings]
    term, total = right(bound, regime.row, hard)
    values = np.array([each.values[regime.parameter] for each in hard])
    usual = np.array([_typical(statement, each, scale) for each in settings])
    return Curves(cell, values, term, total, _positive(np.array([each.left for each in hard])), _positive(usual))


def _typical(statement: Statement, values: dict[str, float], scale: str | None) -> float:
    """NaN where no engine computes it."""
    try:
        return typical(statement, values, scale)
    except InputError:
        return math.nan


def _positive(left: Array) -> Array:
    return np.where(left > 0, left, np.nan)


def _values(statement: Statement, bound: Bound, regime: Regime) -> Array:
    """The regime's values and, on either side, what the conditions admit."""
    inside = np.array(regime.values)
    steps = np.linspace(0, _BEYOND, _POINTS + 1)[1:]
    found = np.concatenate([inside[0] * 10.0 ** -steps[::-1], inside, inside[-1] * 10.0**steps])
    if statement.vocabulary[regime.parameter].domain is Domain.POSITIVE_INTEGER:
        found = np.unique(np.round(found))
        found = found[(found >= 1) & (found <= _LARGEST)]
    at = {**{name: np.full(len(found), value) for name, value in regime.base.items()}, regime.parameter: found}
    usable = bound.slack(at) >= 0
    for low, high in statement.vocabulary.ordered:
        if low in at and high in at:
            usable &= at[low] <= at[high]
    return np.asarray(found[usable | np.isin(found, inside)])
