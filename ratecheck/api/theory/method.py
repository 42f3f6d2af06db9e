"""``rc.method``, the command ``show`` for a method: what a name runs, in formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bounds.sentences import words
from ratecheck import algorithms
from ratecheck.algorithms import METHODS, Method
from ratecheck.api.result import Result
from ratecheck.views.theory.method import Parts, meanings, parts
from ratecheck.views.width import wrapped

_CLIENTS = {True: "all clients in every round", False: "any participation, m of n clients by default"}


@dataclass(frozen=True, eq=False, repr=False)
class MethodResult(Result):
    """One method: what its name fixes, the step sizes that it takes, and its ``formulas`` by the parts of a round.

    The formulas are what its functions compute, so that they are those of every engine; there are none where the
    functions take arrays alone. Variables end in ``_i`` at a client and in ``_ik`` in its local steps.
    """

    method: Method
    formulas: Parts
    implied: Mapping[str, float]
    clients: str

    def __str__(self) -> str:
        blocks = {
            "step sizes": [name + (f" ({default} by default)" if default else "") for name, default in self._takes],
            "fixed": [f"{name} = {value:g}" for name, value in self._fixed.items()],
            "clients": [self.clients],
            **{part: _equations(found) for part, found in self.formulas.items()},
            "where": [f"{name}: {meaning}" for name, meaning in self._where.items()],
        }
        wide = max(map(len, blocks))
        lines = [
            f"  {name if k == 0 else '':{wide}}  {line}"
            for name, found in blocks.items()
            for k, line in enumerate(found)
        ]
        about = [f"  {line}" for line in self.method.algorithm.about.split("\n") if line]
        return wrapped("\n".join([self._headline(), *about, *lines]))

    def _headline(self) -> str:
        return f"{self.method.spoken}: {self.method.title}"

    def _fields(self) -> dict[str, Any]:
        return {
            "method": self.method.spoken, "title": self.method.title, "about": self.method.algorithm.about,
            "step_sizes": dict(self._takes), "fixed": self._fixed, "clients": self.clients,
            "formulas": self.formulas, "where": self._where,
        }  # fmt: skip

    @property
    def _fixed(self) -> dict[str, float]:
        return {**self.method.fixed, **self.implied}

    @property
    def _takes(self) -> list[tuple[str, str | None]]:
        """The step sizes that may be given, each with its default, which may depend on n."""
        optional: Any = self.method.algorithm.optional
        return [
            (name, str(sp.nsimplify(optional[name](sp.Symbol("n")))) if name in optional else None)
            for name in self.method.step_sizes
        ]  # fmt: skip

    @property
    def _where(self) -> dict[str, str]:
        return meanings(self.method, self.formulas)


def _equations(found: dict[str, str]) -> list[str]:
    return [f"{name} = {formula}" for name, formula in found.items()]


def known(name: str) -> bool:
    """Whether there is a method of that name, or of that usual name in a theorem in one sentence."""
    return name in METHODS or name in words.METHODS


def method(name: str, /) -> MethodResult:
    """The method of a name, such as ``"scaffold"``, or of a usual one in a theorem in one sentence, such as ``"gd"``.

    Raises `InputError` for an unknown one.

    >>> import ratecheck as rc
    >>> rc.method("dsgd").formulas["on a graph"]
    {'x_i': 'sum_j W_ij x_j'}
    """
    if name in METHODS or name not in words.METHODS:
        found = algorithms.method(name)
        return MethodResult(found, parts(found), {}, _CLIENTS[found.full])
    usual, found = words.METHODS[name], METHODS[words.PREFIX + name]
    return MethodResult(found, parts(found, usual.implied), usual.implied, usual.clients)
