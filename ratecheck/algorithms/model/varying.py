"""Any method with step sizes that change by the round, such as gamma_t = 2/(mu (t + 1))."""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from bounds.formula import function
from bounds.parsing import read
from bounds.sentences import words
from bounds.statement import names_in
from bounds.symbols import Vocabulary
from ratecheck.algorithms.model.algorithm import Algorithm, Parameters
from ratecheck.algorithms.model.registered import Method
from ratecheck.algorithms.model.wrapping import Wrapping
from ratecheck.errors import InputError

_ROUND, _ROUNDS = "t", "T"


class Varying(Wrapping):
    """``inner`` whose step sizes ``formulas`` are functions of the round t, the rounds T, and other parameters.

    A name in a formula is a step size of ``inner``, the same in all rounds, or a constant: that is a parameter under
    its name and `OF_STEPS`.
    """

    def __init__(self, inner: Algorithm, formulas: Mapping[str, str]) -> None:
        super().__init__(inner)
        self.formulas = {name: Formula.of(text) for name, text in formulas.items()}
        constants = {name for each in self.formulas.values() for name in each.names} - {_ROUND, _ROUNDS}
        self.known = {
            name: name if name in inner.step_sizes else f"{name}{words.OF_STEPS}" for name in sorted(constants)
        }
        kept = [name for name in inner.step_sizes if name not in formulas]
        self.step_sizes = tuple(dict.fromkeys([*kept, *self.known.values()]))  # type: ignore[misc]
        mine = (each for name, each in self.known.items() if name != each)
        self.constants = (*inner.constants, *mine)  # type: ignore[misc]
        self.varying = (*inner.varying, *map(_now, formulas))  # type: ignore[misc]
        # Formulas of a claim on x^T say so themselves (`bounds.sentences.sentence`).
        self.of_points = inner.of_points or not inner.varying  # type: ignore[misc]

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """As ``inner``, and the step sizes of round t."""
        known = {_ROUND: float(t), _ROUNDS: float(T), **{name: p[given] for name, given in self.known.items()}}
        now = {_now(name): each.at(known) for name, each in self.formulas.items()}
        return {**self.inner.coefficients(t, T, self.inside({**p, **now})), **now}

    def inside(self, p: Parameters) -> Parameters:
        """The parameters with the step sizes of the round."""
        found: Any = copy.copy(p)
        found.update({name: p[_now(name)] for name in self.formulas if _now(name) in p})
        return found


def _now(name: str) -> str:
    """The name of a step size's value in a round."""
    return f"{name}_t"


@dataclass(frozen=True)
class Formula:
    """A step size as a formula ``text`` of the round and of constants, whose ``names`` are those in it."""

    text: str
    names: tuple[str, ...]
    value: Any
    expression: sp.Expr

    @staticmethod
    @functools.lru_cache(maxsize=256)
    def of(text: str) -> Formula:
        """The formula, read once; raises `InputError` for a text that is none."""
        written = {each.id for each in ast.walk(ast.parse(text, mode="eval")) if isinstance(each, ast.Name)}
        found = read(text, Vocabulary(), {name: sp.Symbol(name, nonnegative=True) for name in written})
        names = tuple(sorted(names_in(found)))
        return Formula(text, names, function(found, names), found)

    def exact(self, known: Mapping[str, sp.Expr]) -> sp.Expr:
        """The value at exact numbers, not as it is rounded."""
        return self.expression.xreplace({each: known[each.name] for each in self.expression.free_symbols})

    def at(self, known: Mapping[str, Any]) -> float:
        """The value; raises `InputError` where there is none."""
        numbers = [float(known[name]) for name in self.names]
        try:
            return float(self.value(*numbers))
        except (ArithmeticError, ValueError) as error:
            at = ", ".join(f"{name}={number:g}" for name, number in zip(self.names, numbers, strict=True))
            raise InputError(f"the step size {self.text} has no value at {at}: {error}") from None


def varying(method: Method, formulas: Mapping[str, str]) -> Method:
    """The method with these step sizes by the round; raises `InputError` for a name that is no step size of it."""
    for name in formulas:
        if name not in method.step_sizes:
            raise InputError(f"{method.spoken} has no step size {name}; it has {', '.join(method.step_sizes)}")
    return replace(
        method,
        name=words.varying(method.name, formulas),
        title=words.varying(method.title, formulas),
        algorithm=Varying(method.algorithm, formulas),
        exact=None,
    )
