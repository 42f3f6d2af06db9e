"""The rounding of simulated quantities: an estimate, on which no verdict may rest alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bounds.symbols import Vocabulary
from ratecheck.algorithms.model.algorithm import POINTS
from ratecheck.aliases import Array

# Rounding of simulated quantities, relative to them, and that of the vectors of which they are squares.
ONE_RUN, _CANCELLED = 1e-9, 1e-12
# The powers of f's and x's units in the squared size of points.
_OF_POINTS = (0, 2)
# How a verdict says it.
TAKEN = f"rounding is taken as {ONE_RUN:g} of every quantity"


def step_rounding(records: Mapping[str, Array], vocabulary: Vocabulary) -> dict[str, Array]:
    """The estimated rounding of simulated quantities, replicate by replicate.

    Quantities are squares and products of vectors whose entries cancel: these have errors relative to the largest in
    the run, among quantities of the same unit, so that a small square has a larger relative error than a large one.
    How far clients are apart, which may be 0, has errors relative to their points.
    """
    units: dict[object, list[str]] = {}
    for name in records:
        units.setdefault(_unit(name, vocabulary), []).append(name)
    found: dict[str, Array] = {}
    for names in units.values():
        found |= _of_one_unit({name: records[name] for name in names})
    return found


def _unit(name: str, vocabulary: Vocabulary) -> object:
    """The unit of a quantity; one that the paper does not name has its own."""
    if name == POINTS:
        return _OF_POINTS
    symbol = next((s for s, fact in vocabulary.facts.items() if name in (s, fact)), None)
    return name if symbol is None else (vocabulary[symbol].f_degree, vocabulary[symbol].x_degree)


def _of_one_unit(records: Mapping[str, Array]) -> dict[str, Array]:
    with np.errstate(all="ignore"):
        # What is largest so far: a run that blows up later was accurate before.
        sizes = [np.where(np.isfinite(array), np.abs(array), 0.0) for array in records.values()]
        most = np.maximum.accumulate(np.maximum.reduce(np.broadcast_arrays(*sizes)), axis=-1)
        own = {name: np.abs(array) for name, array in records.items()}
        return {
            name: ONE_RUN * size + 2 * _CANCELLED * np.sqrt(size) * np.sqrt(most) + _CANCELLED**2 * most
            for name, size in own.items()
        }
