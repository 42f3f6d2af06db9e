"""Claims with one printed number changed: if the check cannot tell, the number has room or the check is blind.

A constant is made smaller or larger, whichever makes the claim stronger at points where the hypotheses hold; an
exponent is moved by one; the direction of the inequality is turned round.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import sympy as sp

from bounds.proofs.step import Check, Enumerated, Gram, Identity, Scalar
from ratecheck.checks.audit import identity, inequality, instances, quadratic
from ratecheck.checks.audit.arithmetic import Undefined
from ratecheck.checks.audit.coordinates import Coordinates
from ratecheck.checks.audit.decision import FULL, Decision, Effort
from ratecheck.checks.audit.region import Region

Path: TypeAlias = tuple[int, ...]

TWO_PERCENT = sp.Rational(1, 50)
_COMPARED = 40
_TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


def decide(check: Check, effort: Effort = FULL) -> Decision:
    """Whether the claim of a step holds, by the checker of its form."""
    if isinstance(check, Identity):
        return identity.decide(check, effort)
    if isinstance(check, Scalar):
        return inequality.decide(check, effort)
    if isinstance(check, Gram):
        return quadratic.decide(check, effort)
    return instances.decide(check)


@dataclass(frozen=True)
class Constant:
    """A number in one side of a claim, or a named constant of a claim on instances."""

    side: str
    path: Path
    value: sp.Rational
    exponent: bool
    name: str = ""
    factor: bool = False

    @property
    def text(self) -> str:
        """Such as ``1/32 on the right``."""
        if self.factor:
            return f"a factor {self.value} on the {self.side}"
        if self.name:
            return f"{self.name}={self.value}"
        return f"{'exponent ' if self.exponent else ''}{self.value} on the {self.side}"


def constants(check: Check) -> list[Constant]:
    """The printed numbers of a claim: coefficients, summands and exponents, but for factors 1 and -1."""
    if isinstance(check, Enumerated):
        return [
            Constant("", (), sp.sympify(value), exponent=False, name=name) for name, value in check.constants.items()
        ]
    # The two in ||x + y||^2 = ... + 2<x, y> is printed nowhere: of a claim about vectors a whole side is changed too.
    whole = [factor_of(check)] if isinstance(check, Gram) else []
    return whole + [
        Constant(side, path, value, exponent)
        for side in ("left", "right")
        for path, value, exponent in _numbers(sp.sympify(getattr(check, side)), ())
    ]


def factor_of(check: Gram) -> Constant:
    """The factor 1 before the side that is larger, or the other where that is 0."""
    side = "right" if check.operator in ("<=", "==") else "left"
    if sp.sympify(getattr(check, side)) == 0:
        side = "left" if side == "right" else "right"
    return Constant(side, (), sp.Integer(1), exponent=False, factor=True)


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


def changed(check: Check, constant: Constant, value: sp.Expr) -> Check:
    """The claim with another value of a constant."""
    if isinstance(check, Enumerated):
        number = Fraction(int(value.p), int(value.q)) if value.is_Rational else value
        return dataclasses.replace(check, constants={**check.constants, constant.name: number})
    if constant.factor:
        whole = sp.expand(value * sp.sympify(getattr(check, constant.side)))
        return dataclasses.replace(check, **{constant.side: whole})
    side = replaced(sp.sympify(getattr(check, constant.side)), constant.path, value)
    return dataclasses.replace(check, **{constant.side: side})


def direction(check: Check, constant: Constant) -> int:
    """Whether the claim gets stronger with a smaller constant (-1) or a larger one (1); 0 where nothing moves."""
    gaps = _gap_function(check)
    if gaps is None:
        return -1
    try:
        smaller, larger = (
            gaps(changed(check, constant, constant.value * (1 + sign * TWO_PERCENT))) for sign in (-1, 1)
        )
        printed = gaps(check)
    except (TypeError, NameError, AttributeError, ZeroDivisionError, Undefined):
        return -1
    moved = [float(np.nansum(np.fmax(printed - other, 0))) for other in (smaller, larger)]
    if max(moved) <= 0:
        return 0
    return -1 if moved[0] >= moved[1] else 1


def _gap_function(check: Check) -> Callable[[Check], np.ndarray] | None:
    """The relative room of a claim at some fixed points, as a function of the claim."""
    if isinstance(check, Enumerated):
        return _instance_gaps
    if isinstance(check, Identity):
        return None
    scalar = check
    if isinstance(check, Gram):
        hypotheses = (*check.hypotheses, *check.conditions)
        scalar = Scalar(left=check.left, operator=check.operator, right=check.right, hypotheses=hypotheses)
    assert isinstance(scalar, Scalar)
    sides = [side for h in scalar.hypotheses for side in (h.left, h.right)]
    coordinates = Coordinates(scalar.left, scalar.right, *sides)
    written = coordinates.scalar(scalar, 1)
    region = Region(written.hypotheses, written.left.free_symbols | written.right.free_symbols)
    points = region.sample(512)
    sign = -1 if scalar.operator in (">=", ">") else 1
    put = coordinates.substitution(1)

    def gaps(other: Check) -> np.ndarray:
        assert not isinstance(other, Enumerated)
        with np.errstate(all="ignore"):
            left, right = (region.function(sp.sympify(s).xreplace(put))(points) for s in (other.left, other.right))
            return np.asarray(sign * (right - left) / (np.abs(left) + np.abs(right) + 1e-300))

    return gaps


def _instance_gaps(check: Check) -> np.ndarray:
    """The least room on each of the first instances; not a number where an instance is passed over."""
    assert isinstance(check, Enumerated)
    gaps: list[float] = []
    sign = -1 if check.operator in (">=", ">") else 1
    for instance in itertools.islice(instances.instances(check), _COMPARED):
        found = instances.pairs(check.sides(instance, **check.constants))
        gaps.append(min((float(sign * (right - left)) for left, right in found), default=np.nan))
    return np.array(gaps)


def strengthened(check: Check, constant: Constant, by: sp.Rational, sign: int) -> Check:
    """The claim with a constant changed by a share in the direction that makes it stronger."""
    factor = 1 - by if (sign < 0) == (constant.value > 0) else 1 / (1 - by)
    return changed(check, constant, constant.value * factor)


def turned(check: Check) -> Check | None:
    """The claim with its inequality turned round; None for an equality."""
    if isinstance(check, Identity) or check.operator not in _TURNED:
        return None
    return dataclasses.replace(check, operator=_TURNED[check.operator])
