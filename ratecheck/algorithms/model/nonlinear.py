"""Calling the functions of a method that is not linear: on arrays (replicates, coordinates), a row per replicate.

Nothing is read off such functions: what they return is what happens. They may use the coordinates of a replicate
together, as a norm does, but replicates are runs of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ratecheck.algorithms.model.asking import MethodError, brief, said
from ratecheck.aliases import Array

if TYPE_CHECKING:
    from ratecheck.algorithms.model.algorithm import Algorithm, Group, Parameters, Variables

# What larger numbers give beyond float64 is a run that blows up, not a mistake of the function.
_ORDINARY = 1e6
# Rows of the arrays on which functions are tried.
_TRIED = 3


class Functions:
    """The functions of ``algorithm`` where a block has ``sizes[block]`` coordinates.

    Every function returns its groups of variables as arrays (replicates, coordinates). `MethodError` is raised for what
    is none, for NaN or infinity made of ordinary numbers, and for changed inputs.
    """

    def __init__(self, algorithm: Algorithm, sizes: Mapping[str, int]) -> None:
        self.algorithm, self.sizes = algorithm, dict(sizes)
        point: Group = {block: block for block in algorithm.blocks}
        a = algorithm
        self._groups: dict[str, tuple[tuple[Group, ...], tuple[Group, ...]]] = {
            "start_client": ((point, point), (a.client,)),
            "start_server": ((point, a.client), (a.server,)),
            "begin": ((a.server, a.client), (a.local,)),
            "step": ((a.local, point), (a.local,)),
            "finish": ((a.server, a.client, a.local), (a.client, a.message)),
            "sent": ((a.client, a.message), (a.client,)),
            "aggregate": ((a.server, a.message), (a.server,)),
            "score": ((a.server, a.client, point), (point,)),
        }

    def __call__(
        self, name: str, arguments: tuple[Variables, ...], p: Parameters, *, made_up: bool = False
    ) -> tuple[dict[str, Array], ...]:
        """The groups that a function returns, of as many replicates as the arguments have.

        Arguments that are ``made_up`` may be none that a run has, such as a negative mean of squares: what is no number
        then is no mistake.
        """
        given = tuple({k: _locked(v) for k, v in group.items()} for group in arguments)
        rows = len(next(iter(v for group in given for v in group.values())))
        # What is no number is found where it is returned.
        with np.errstate(all="ignore"):
            result = getattr(self.algorithm, name)(*given, p)
        groups = result if name == "finish" else (result,)
        wanted = self._groups[name][1]
        if not (isinstance(groups, (tuple, list)) and len(groups) == len(wanted)):
            raise MethodError(
                f"{self._said(name)} returns {brief(result)}, not a pair: the client's state and its message"
            )
        ordinary = None
        found: list[dict[str, Array]] = []
        for group, variables in zip(groups, wanted, strict=True):
            if not isinstance(group, Mapping):
                raise MethodError(f"{self._said(name)} returns {brief(group)}, not its variables by name")
            found.append({})
            for each, block in variables.items():
                if each not in group:
                    raise MethodError(f"{self._said(name)} does not return {each!r}")
                array = self._array(name, each, group[each], (rows, self.sizes[block]))
                found[-1][each] = array
                if not (made_up or np.isfinite(array).all()):
                    ordinary = _ordinary(given, rows) if ordinary is None else ordinary
                    if not np.isfinite(array[ordinary]).all():
                        raise MethodError(f"{self._said(name)} returns NaN or infinity in {each!r}")
        return tuple(found)

    def check(self, p: Parameters) -> None:
        """Raise `MethodError` where a function of a round is wrong, or what it returns of a replicate is of others."""
        names = ("start_client", "start_server", "begin", "step", "finish", "aggregate")
        for name in (*names, *(("sent",) if self.algorithm.compressed else ())):
            for sizes in ((1.0, 1.0, 1.0), (1e-6, 1.0, 1e3)):
                self._check_rows(name, np.array(sizes)[:, None], p)

    def _check_rows(self, name: str, sizes: Array, p: Parameters) -> None:
        random = np.random.default_rng(0)
        arguments = tuple(
            {each: sizes * random.standard_normal((_TRIED, self.sizes[block])) for each, block in group.items()}
            for group in self._groups[name][0]
        )
        together = self(name, arguments, p, made_up=True)
        for row in range(_TRIED):
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

    def _said(self, name: str) -> str:
        return said(self.algorithm, name)


def _locked(array: Array) -> Array:
    """The array, which cannot be written to: a function that changes its inputs raises."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _ordinary(arguments: tuple[Variables, ...], rows: int) -> Any:
    """Which rows hold numbers of ordinary size only."""
    usual = np.ones(rows, dtype=bool)
    for group in arguments:
        for array in group.values():
            usual &= (np.abs(array) < _ORDINARY).all(axis=1)
    return usual
