"""Coefficients of a method's functions at many parameters at once: one evaluation on unit vectors for a whole batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ratecheck.algorithms.model.algorithm import Algorithm, Group, Term, TermOver, Variables
from ratecheck.algorithms.model.batches import REFUSALS, on_units
from ratecheck.aliases import Array
from ratecheck.errors import InputError

Result = TypeVar("Result")

Numbers = Mapping[str, Array]


class Unscouted(Exception):  # noqa: N818  # nothing is wrong: whole verdicts are given instead
    """A statement, a shape or a method of which batches are not evaluated, and why."""


def of_arrays(read: Callable[..., Result]) -> Callable[..., Result]:
    """Let a reader raise `Unscouted` where a function takes no arrays, or is wrong: a verdict says what is."""

    @functools.wraps(read)
    def guarded(*arguments: Any, **options: Any) -> Result:
        try:
            return read(*arguments, **options)
        except (*REFUSALS, InputError) as error:
            raise Unscouted(f"a function of the method is not read: {error}") from error

    return guarded


@dataclass(frozen=True)
class BatchLayout:
    """A group of variables as one vector: block by block, in each its variables, with ``sizes`` entries each."""

    group: Group
    blocks: tuple[str, ...]
    sizes: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        """Entries in all."""
        return sum(self.sizes[self.blocks.index(block)] for block in self.group.values())

    @cached_property
    def entries(self) -> dict[str, slice]:
        """The entries of each variable."""
        found, start = dict[str, slice](), 0
        for block, size in zip(self.blocks, self.sizes, strict=False):
            for each in (each for each, where in self.group.items() if where == block):
                found[each] = slice(start, start + size)
                start += size
        return found

    @cached_property
    def first(self) -> list[int]:
        """Entries of the first variable of every block."""
        found: list[int] = []
        for block in self.blocks:
            name = next((each for each, where in self.group.items() if where == block), None)
            if name is not None:
                here = self.entries[name]
                found += range(here.start, here.stop)
        return found


class BatchReader:
    """Reads the functions of a method at parameters (N,) each.

    Raises `Unscouted` where one of them does not take arrays of parameters.
    """

    def __init__(self, algorithm: Algorithm, sizes: Sequence[int], batch: int) -> None:
        self.algorithm, self.batch, self.sizes = algorithm, batch, tuple(sizes)
        self.point = self.layout({block: block for block in algorithm.blocks})

    def layout(self, group: Group) -> BatchLayout:
        """The layout of a group of variables."""
        return BatchLayout(group, self.algorithm.blocks, self.sizes)

    @of_arrays
    def matrices(
        self, name: str, p: Numbers, inputs: Sequence[BatchLayout], outputs: Sequence[BatchLayout]
    ) -> list[list[Array]]:
        """The function as matrices (N, output, input), for every pair of an output and an input group."""
        names, result = self._on_units(name, p, inputs)
        groups: Any = result if name == "finish" else (result,)
        found = [[np.zeros((self.batch, out.size, each.size)) for each in inputs] for out in outputs]
        for out, values, matrices in zip(outputs, groups, found, strict=True):
            for variable, block in out.group.items():
                row = self._broadcast(values[variable], len(names))
                rows, width = out.entries[variable], self.sizes[self.algorithm.blocks.index(block)]
                for (k, each), coefficient in zip(names, row.T, strict=True):
                    if inputs[k].group[each] == block:
                        here = inputs[k].entries[each]
                        for step in range(width):
                            matrices[k][:, rows.start + step, here.start + step] = coefficient
        return found

    @of_arrays
    def terms(self, p: Numbers, inputs: Sequence[BatchLayout]) -> dict[str, list[BatchTerm]]:
        """All recorded quantities, by name, with coefficients on the variables of the inputs."""
        names, found = self._on_units("records", p, inputs)
        return {name: [self._term(each, names, inputs) for each in terms] for name, terms in found.items()}

    def _term(self, term: Term, names: list[tuple[int, str]], inputs: Sequence[BatchLayout]) -> BatchTerm:
        factor = np.broadcast_to(np.asarray(term.factor, dtype=float).reshape(-1), (self.batch,))
        if term.over is TermOver.VALUES:
            return BatchTerm(term.over, factor, "", {}, {})
        sides = []
        for vector in (term.left, term.right):
            row = self._broadcast(vector, len(names))
            sides.append({each: column for each, column in zip(names, row.T, strict=True) if column.any()})
        blocks = {inputs[k].group[each] for side in sides for k, each in side}
        if len(blocks) > 1:
            raise Unscouted("a quantity mixes blocks")
        return BatchTerm(term.over, factor, blocks.pop() if blocks else self.algorithm.blocks[0], *sides)

    def _broadcast(self, values: object, width: int) -> Array:
        return np.broadcast_to(np.asarray(values, dtype=float), (self.batch, width))

    def _on_units(
        self, name: str, p: Numbers, inputs: Sequence[BatchLayout]
    ) -> tuple[list[tuple[int, str]], Variables]:
        """The variables of the inputs, by group and name, and a function's value where each is a unit vector."""
        return on_units(self.algorithm, name, [layout.group for layout in inputs], p)


@dataclass(frozen=True)
class BatchTerm:
    """A summand of a recorded quantity: ``factor`` (N,), and (N,) coefficients by group and variable of one block."""

    over: TermOver
    factor: Array
    block: str
    left: Mapping[tuple[int, str], Array]
    right: Mapping[tuple[int, str], Array]
