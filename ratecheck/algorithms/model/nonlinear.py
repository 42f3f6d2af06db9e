"""Calling the functions of a method that is not linear: on arrays (rows, coordinates), a row per client and replicate.

Nothing is read off such functions: what they return is what happens. They may use the coordinates of a row together, as
a norm does, but rows are runs of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.errors import brief
from ratecheck.algorithms.model.answers import NUMBER
from ratecheck.algorithms.model.asking import MethodError, said
from ratecheck.aliases import Array

if TYPE_CHECKING:
    from ratecheck.algorithms.model.algorithm import Algorithm, Group, Parameters, Variables

# What larger numbers give beyond float64 is a run that blows up, not a mistake of the function.
_ORDINARY = 1e6


class Functions:
    """The functions of ``algorithm`` where a block has ``sizes[block]`` coordinates.

    Every function returns its groups of variables as arrays (rows, coordinates). These may be arguments, or share
    memory with one another, so that nobody may change either. `MethodError` is raised for what is no array, for NaN or
    infinity made of ordinary numbers, and for changed inputs.
    """

    def __init__(self, algorithm: Algorithm, sizes: Mapping[str, int]) -> None:
        self.algorithm, self.sizes = algorithm, {**sizes, NUMBER: 1}
        point: Group = {block: block for block in algorithm.blocks}
        a = algorithm
        self._groups: dict[str, tuple[tuple[Group, ...], tuple[Group, ...]]] = {
            "start_client": ((point, point), (a.client,)),
            "start_server": ((point, a.client), (a.server,)),
            "begin": ((a.server, a.client), (a.local,)),
            "step": ((a.local, a.answers), (a.local,)),
            "finish": ((a.server, a.client, a.local), (a.client, a.message)),
            "sent": ((a.client, a.message), (a.client,)),
            "aggregate": ((a.server, a.message), (a.server,)),
            "score": ((a.server, a.client, point), (point,)),
            "measure": ((a.server, point), (dict.fromkeys(a.measures, NUMBER),)),
        }

    def __call__(
        self, name: str, arguments: tuple[Variables, ...], p: Parameters, *, made_up: bool = False
    ) -> tuple[dict[str, Array], ...]:
        """The groups that a function returns, of as many rows as the arguments have.

        Arguments that are ``made_up`` may be none that a run has, such as a negative mean of squares: what is no number
        then is no mistake.
        """
        given: list[Variables] = []
        # What a function hands back as it was is not examined again.
        originals: dict[int, Array] = {}
        rows = 0
        for group in arguments:
            locked: Variables = {}
            for each, array in group.items():
                original = array if array.flags.c_contiguous else np.ascontiguousarray(array)
                # It cannot be written to: a function that changes its inputs raises.
                view = original.view()
                view.setflags(write=False)
                locked[each] = view
                originals[id(view)] = original
                rows = len(view)
            given.append(locked)
        wanted = self._groups[name][1]
        found: list[dict[str, Array]] = []
        # What is no number is found where it is returned.
        with np.errstate(all="ignore"):
            result = getattr(self.algorithm, name)(*given, p)
            groups = result if name == "finish" else (result,)
            if not (isinstance(groups, (tuple, list)) and len(groups) == len(wanted)):
                raise MethodError(
                    f"{self._said(name)} returns {brief(result)}, not a pair: the client's state and its message"
                )
            for group, variables in zip(groups, wanted, strict=True):
                if not isinstance(group, Mapping):
                    raise MethodError(f"{self._said(name)} returns {brief(group)}, not its variables by name")
                found.append({})
                for each, block in variables.items():
                    if each not in group:
                        raise MethodError(f"{self._said(name)} does not return {each!r}")
                    value = group[each]
                    if (original := originals.get(id(value))) is None or original.shape[1] != self.sizes[block]:
                        value = self._array(name, each, value, (rows, self.sizes[block]))
                        if not made_up and value.size:
                            self._check_numbers(name, each, value, given)
                    else:
                        value = original
                    found[-1][each] = value
        return tuple(found)

    def made_up(self, name: str, sizes: Array) -> tuple[dict[str, Array], ...]:
        """Arguments of a function: normal random numbers times ``sizes`` (rows, 1), the same in every call."""
        random = np.random.default_rng(0)
        return tuple(
            {each: sizes * random.standard_normal((len(sizes), self.sizes[block])) for each, block in group.items()}
            for group in self._groups[name][0]
        )

    def check(self, p: Parameters) -> None:
        """Raise `MethodError` where a function of a round is wrong, or what it returns of a replicate is of others."""
        names: tuple[str, ...] = ("start_client", "start_server", "begin", "step", "finish", "aggregate")
        names += ("sent",) if self.algorithm.compressed else ()
        names += ("measure",) if self.algorithm.measures else ()
        for name in names:
            for sizes in ((1.0, 1.0, 1.0), (1e-6, 1.0, 1e3)):
                self._check_rows(name, np.array(sizes)[:, None], p)

    def _check_rows(self, name: str, sizes: Array, p: Parameters) -> None:
        arguments = self.made_up(name, sizes)
        together = self(name, arguments, p, made_up=True)
        kept = [{each: array.copy() for each, array in group.items()} for group in together]
        self(name, tuple({k: -2 * v for k, v in group.items()} for group in arguments), p, made_up=True)
        for ours, before in zip(together, kept, strict=True):
            for each, array in ours.items():
                if not np.array_equal(array, before[each], equal_nan=True):
                    raise MethodError(
                        f"{self._said(name)} changes the {each!r} that it returned before: return an array of its own "
                        "in every call"
                    )
        for row in range(len(sizes)):
            one = tuple({k: v[row : row + 1] for k, v in group.items()} for group in arguments)
            alone = self(name, one, p, made_up=True)
            for ours, other in zip(together, alone, strict=True):
                for each, array in ours.items():
                    off = 1e-12 * float(sizes[row, 0])
                    if not np.allclose(array[row], other[each][0], rtol=1e-9, atol=off, equal_nan=True):
                        raise MethodError(
                            f"{self._said(name)} returns a {each!r} that depends on other replicates, or on more than "
                            "its inputs: rows are replicates, so reduce over axis=-1 with keepdims=True"
                        )

    def _array(self, name: str, variable: str, value: Any, shape: tuple[int, int]) -> Array:
        if type(value) is np.ndarray and value.shape == shape and value.dtype == np.float64 and value.flags.carray:
            return value
        try:
            array = np.asarray(value)
            if np.iscomplexobj(array):
                raise TypeError
            array = array.astype(float, copy=False)
        except (TypeError, ValueError, OverflowError):
            raise MethodError(f"{self._said(name)} returns {brief(value)} as {variable!r}, no real numbers") from None
        # One number per row or for all; a lone axis could be either of the two.
        if array.shape not in ((), (shape[0], 1), shape):
            raise MethodError(
                f"{self._said(name)} returns a {variable!r} of the shape {array.shape}, where the inputs have {shape}"
            )
        return np.array(np.broadcast_to(array, shape), order="C")

    def _check_numbers(self, name: str, variable: str, array: Array, given: list[Variables]) -> None:
        # The sum is one pass over the array; it may leave the range of floats where no entry does.
        if math.isfinite(np.add.reduce(array, axis=None)) or np.isfinite(array).all():
            return
        if not np.isfinite(array[_ordinary(given, len(array))]).all():
            raise MethodError(f"{self._said(name)} returns NaN or infinity in {variable!r}")

    def _said(self, name: str) -> str:
        return said(self.algorithm, name)


def _ordinary(arguments: list[Variables], rows: int) -> Any:
    """Which rows hold numbers of ordinary size only."""
    usual = np.ones(rows, dtype=bool)
    for group in arguments:
        for array in group.values():
            usual &= (np.abs(array) < _ORDINARY).all(axis=1)
    return usual
