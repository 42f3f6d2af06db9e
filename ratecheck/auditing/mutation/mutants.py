"""Claims with one printed number changed: if the check cannot tell, the number has slack or the check is blind.

A constant is made smaller or larger, whichever makes the claim stronger at points where the hypotheses hold; an
exponent is moved by one; the direction of the inequality is turned round. What else may be changed is in `structure`
for formulas, and in `rewrites` for code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

import sympy as sp

from bounds.ledger.step import Check, Enumerated, Gram, Identity, Scalar

Path: TypeAlias = tuple[int, ...]

TWO_PERCENT = sp.Rational(1, 50)
_TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


class MutantKind(Enum):
    """The object of a change: a number, an exponent, the direction, or one of several things about what is compared."""

    NUMBER = "number"
    EXPONENT = "exponent"
    DIRECTION = "direction"
    STRICT = "strict claim"
    SWAP = "swapped quantity"
    MEAN = "maximum for mean"
    CONDITION = "wrong conditional expectation"
    RANGE = "wrong index range"
    COMPARISON = ">= for > in the code"

    @property
    def structural(self) -> bool:
        """Whether neither a number nor the direction is changed."""
        return self not in (MutantKind.NUMBER, MutantKind.EXPONENT, MutantKind.DIRECTION)


class MutantStatus(Enum):
    """The fate of a mutant."""

    REFUTED = "refuted"
    HARMLESS = "proved as well"
    OPEN = "neither proved nor refuted"
    UNSEEN = "no instance tells"
    # Of other code for a claim on instances.
    SAME = "the same on every instance"
    WEAKER = "weaker on every instance"
    ELSEWHERE = "both sides changed"
    SENSELESS = "makes no sense"

    @property
    def harmful(self) -> bool:
        """Whether a proof with this change in it may be wrong."""
        return self in (MutantStatus.REFUTED, MutantStatus.OPEN, MutantStatus.UNSEEN)


@dataclass(frozen=True)
class PrintedConstant:
    """A number in one side of a claim, or a named constant of a claim on instances."""

    side: str
    path: Path
    value: sp.Rational
    exponent: bool
    name: str = ""
    factor: bool = False

    @property
    def text(self) -> str:
        """The constant in words, such as ``1/32 on the right``."""
        if self.factor:
            return f"a factor {self.value} on the {self.side}"
        if self.name:
            return f"{self.name}={self.value}"
        return f"{'exponent ' if self.exponent else ''}{self.value} on the {self.side}"


def constants(check: Check) -> list[PrintedConstant]:
    """The printed numbers of a claim: coefficients, summands and exponents, but for factors 1 and -1."""
    if isinstance(check, Enumerated):
        return [
            PrintedConstant("", (), sp.sympify(value), exponent=False, name=name)
            for name, value in check.constants.items()
        ]
    # The two in ||x + y||^2 = ... + 2<x, y> is printed nowhere: of a claim about vectors a whole side is changed too.
    whole = [factor_of(check)] if isinstance(check, Gram) else []
    return whole + [
        PrintedConstant(side, path, value, exponent)
        for side in ("left", "right")
        for path, value, exponent in _numbers(sp.sympify(getattr(check, side)), ())
    ]


def factor_of(check: Gram) -> PrintedConstant:
    """The factor 1 before the side that is larger, or the other where that is 0."""
    side = "right" if check.operator in ("<=", "==") else "left"
    if sp.sympify(getattr(check, side)) == 0:
        side = "left" if side == "right" else "right"
    return PrintedConstant(side, (), sp.Integer(1), exponent=False, factor=True)


def _numbers(expr: sp.Expr, path: Path) -> Iterator[tuple[Path, sp.Rational, bool]]:
    if expr.is_Rational and expr != 0:
        yield path, expr, False
    for position, argument in enumerate(expr.args):
        here = (*path, position)
        if argument.is_Rational:
            is_exponent = expr.is_Pow and position == 1
            # A factor 1 or -1 is a sign, no printed number; nor is the exponent of a reciprocal.
            if is_exponent and argument != -1:
                yield here, argument, True
            elif not is_exponent and not (expr.is_Mul and abs(argument) == 1) and argument != 0:
                yield here, argument, False
        elif argument.args:
            yield from _numbers(argument, here)


def replaced(expr: sp.Expr, path: Path, value: sp.Expr) -> sp.Expr:
    """The expression with something else at a place."""
    if not path:
        return value
    arguments = list(expr.args)
    arguments[path[0]] = replaced(arguments[path[0]], path[1:], value)
    return expr.func(*arguments)


def changed(check: Check, constant: PrintedConstant, value: sp.Expr) -> Check:
    """The claim with another value of a constant."""
    if isinstance(check, Enumerated):
        number = Fraction(int(value.p), int(value.q)) if value.is_Rational else value
        return dataclasses.replace(check, constants={**check.constants, constant.name: number})
    if constant.factor:
        whole = sp.expand(value * sp.sympify(getattr(check, constant.side)))
        return dataclasses.replace(check, **{constant.side: whole})
    side = replaced(sp.sympify(getattr(check, constant.side)), constant.path, value)
    return dataclasses.replace(check, **{constant.side: side})


def strengthened(check: Check, constant: PrintedConstant, by: sp.Rational, sign: int) -> Check:
    """The claim with a constant changed by a share in the direction that makes it stronger."""
    factor = 1 - by if (sign < 0) == (constant.value > 0) else 1 / (1 - by)
    return changed(check, constant, constant.value * factor)


def turned(check: Check) -> Check | None:
    """The claim with its inequality turned round; None for an equality."""
    if isinstance(check, Identity) or check.operator not in _TURNED:
        return None
    return with_operator(check, _TURNED[check.operator])


def with_operator(check: Scalar | Gram | Enumerated, operator: str) -> Check:
    """The claim with another operator, and its form with it; without a form where that cannot have it."""
    if not isinstance(check, Enumerated):
        return dataclasses.replace(check, operator=operator)
    algebraic, form = check.algebraic, check.form
    same = isinstance(algebraic, (Scalar, Gram)) and algebraic.operator == check.operator
    if form is None or not same or (isinstance(algebraic, Gram) and operator in ("<", ">")):
        return dataclasses.replace(check, operator=operator, form=None)

    def changed_form(**constants: sp.Expr) -> Scalar | Gram:
        found = form(**constants)
        assert isinstance(found, (Scalar, Gram))
        return dataclasses.replace(found, operator=operator)

    return dataclasses.replace(check, operator=operator, form=changed_form)
