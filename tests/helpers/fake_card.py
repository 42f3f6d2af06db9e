"""A rate card made by hand: one cell of each kind, with curves that are known."""

from __future__ import annotations

import numpy as np

import bounds
from ratecheck.exponents.card import Card, RateCell, Violation, Worst
from ratecheck.exponents.curves import Curves
from ratecheck.exponents.families.hard import Hard
from ratecheck.exponents.finding import CellFinding
from ratecheck.exponents.regimes import Regime, TermRow
from ratecheck.outcome import Outcome
from ratecheck.statistics.exponent_fit import fit
from ratecheck.verification.verdict import Verdict

STATEMENT = bounds.get("pfl/theorem-3.7")
X = np.geomspace(10.0, 1000.0, 7)
GAP, DRIFT = TermRow("initial gap", None), TermRow("drift", "b")
BASE = {
    "n": 4.0, "m": 2.0, "K": 3.0, "T": 100.0, "L": 1.0, "F_0": 1.0, "b": 0.5, "sigma_u": 0.0, "sigma_v": 0.0,
    "gamma": 0.001,
}  # fmt: skip


def worst(term, left, x=X):
    """Both sides by their laws."""
    values, both = {**BASE, "K": float(x[-1])}, (0.5, 0.5)
    hard = Hard(STATEMENT, values, "equal curvatures", "u", (2.0, 2.0), both, (0.25, -0.25), 1.5, (), float(left[-1]))
    return Worst(x, term, term, left, fit(x, term), fit(x, left), fit(x, left / term), (hard,) * len(x))


def cell(row, name, finding, term=None, left=None, reason="because of a reason", **more):
    """A cell whose regime are these values."""
    if term is None:
        return RateCell(row, name, finding, reason)
    regime = Regime(row, name, tuple(X), {k: v for k, v in BASE.items() if k != name}, 0.95)
    return RateCell(row, name, finding, reason, regime, worst(term, left), **more)


def card(*, exceeded=True):
    """ATTAINED in K, LOOSE in T, NOT REACHED for the other term's K, and EXCEEDED in its T if that is wanted."""
    cells = [
        cell(GAP, "K", CellFinding.ATTAINED, 4 / X, 1 / X),
        cell(GAP, "T", CellFinding.LOOSE, 4 / X, X**-1.25, loose=0.25),
        cell(
            DRIFT, "K", CellFinding.NOT_REACHED, reason="at most 7% of the bound is this term while K runs over decades"
        ),
    ]
    if exceeded:
        hard = cells[0].worst.hardest
        violation = Violation(5000.0, 3.0, 2.0, hard, Verdict(hard.statement, Outcome.VIOLATED, "", "exact", {}))
        cells.append(cell(DRIFT, "T", CellFinding.EXCEEDED, X**0.0, 0.1 * X**0.5, violation=violation))
    return Card(STATEMENT, tuple(cells), seed=0)


def curves(made):
    """What the picture has of each cell: the regime, and a decade on either side."""
    wide = np.concatenate([[1.0, 3.0], X, [3000.0, 10000.0]])
    found = []
    for each in made.cells:
        if each.worst is not None:
            scaled = [np.exp(law.log_scale) * wide**law.exponent for law in (each.worst.predicted, each.worst.measured)]
            found.append(Curves(each, wide, scaled[0], 1.02 * scaled[0], scaled[1], scaled[1] / 3))
    return tuple(found)
