"""Parameters of a method at many places at once, such as rounds and clients, and its functions on unit vectors there.

The functions of a method are arithmetic of variables and parameters. So most of them take an array of each parameter
for the number that it is, and one call on unit vectors has their coefficients at all places.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ratecheck.aliases import Array

# What a function raises that takes no arrays of parameters, or is wrong.
REFUSALS = (TypeError, ValueError, KeyError, AttributeError, IndexError, ArithmeticError)
# Places, evenly spread, at which what was read at all of them at once is read once more by itself.
_CHECKED = 6


@dataclass(frozen=True)
class ParameterBatch:
    """Parameters at ``size`` places: ``common`` are the same at all of them, ``arrays`` (size,) are not.

    Some mappings say why a parameter is missing, so that ``common`` keeps its class.
    """

    common: dict[str, float]
    arrays: Mapping[str, Array] = field(default_factory=dict)
    size: int = 1

    def at(self, place: int) -> dict[str, float]:
        """The parameters at one place."""
        found = copy.copy(self.common)
        found.update({name: array[place].item() for name, array in self.arrays.items()})
        return found

    def together(self) -> dict[str, Any]:
        """The parameters at all places: numbers, and arrays (size, 1) of those that differ."""
        found: dict[str, Any] = copy.copy(self.common)
        found.update({name: array.astype(float)[:, None] for name, array in self.arrays.items()})
        return found

    def repeated(self, times: int) -> ParameterBatch:
        """The places so many times, one after the other."""
        arrays = {name: np.tile(array, times) for name, array in self.arrays.items()}
        return ParameterBatch(self.common, arrays, times * self.size)

    def having(self, found: Sequence[Mapping[str, float]]) -> ParameterBatch:
        """With further parameters, which are given for each of the places."""
        arrays = {name: np.array([each[name] for each in found]) for name in found[0]}
        return ParameterBatch(self.common, {**self.arrays, **arrays}, self.size)

    @property
    def checked(self) -> list[int]:
        """Places to look at: the first and the last, some between them, and the ends of every parameter that differs.

        A function that decides by all numbers of an array at once decides wrongly at one end of the parameter or the
        other.
        """
        ends = {int(end) for array in self.arrays.values() for end in (array.argmin(), array.argmax())}
        return sorted({*ends, *np.linspace(0, self.size - 1, _CHECKED).astype(int).tolist()})


def on_units(
    algorithm: object, function: str, groups: Sequence[Mapping[str, str]], p: Mapping[str, Any]
) -> tuple[list[tuple[int, str]], Any]:
    """The variables of the groups, by group and name, and a function's value where each is a unit vector.

    With arrays (size, 1) for parameters the values are (size, variables), or broadcast to that.
    """
    names = [(k, each) for k, group in enumerate(groups) for each in group]
    arguments: list[dict[str, Any]] = [{} for _ in groups]
    for (k, each), unit in zip(names, np.eye(len(names)), strict=True):
        arguments[k][each] = unit
    with np.errstate(all="ignore"):
        return names, getattr(algorithm, function)(*arguments, p)
