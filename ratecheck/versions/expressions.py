"""Whether two formulas are the same, which one is larger, and which of two conditions implies the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import sympy as sp

from bounds.ledger.step import Scalar
from bounds.roots import shown
from bounds.statement import Condition, names_in, number
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import QUICK
from ratecheck.auditing.dispatch import decide

# Seconds for one simplification or proof; formulas of more operations are compared by numbers alone.
_SECONDS, _LONGEST = 3.0, 400
# Numbers are computed with so many digits, and agree where they differ by no more than this share.
_DIGITS, _AGREE = 40, sp.Rational(1, 10**20)
_FAILURES = (OutOfTime, TypeError, NameError, AttributeError, ArithmeticError, ValueError, NotImplementedError)


class Sameness(Enum):
    """The certainty that two formulas are the same."""

    PROVED = "same"
    AT_POINTS = "same at random points"
    DIFFERENT = "changed"
    UNDECIDED = "cannot be compared"


class Larger(Enum):
    """Which of two formulas is larger."""

    LARGER = "larger"
    SMALLER = "smaller"
    MIXED = "larger at some points, smaller at others"
    UNDECIDED = "cannot be compared"


@dataclass(frozen=True, kw_only=True)
class SamplePoints:
    """Random ``values`` by name; ``of`` says where they lie."""

    values: tuple[Mapping[str, float], ...]
    of: str
    hypotheses: tuple[Condition, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Change:
    """The change of a formula.

    ``points`` says at how many points both had a value. ``ratio`` is new/old where it is constant, and
    ``ratio_proved`` says that this is proved. ``side`` says whether the new one is larger, ``side_proved`` whether for
    all values inside the conditions of both versions, and not at the points alone.
    """

    old: sp.Expr
    new: sp.Expr
    same: Sameness
    points: int
    ratio: sp.Expr | None = None
    ratio_proved: bool = False
    side: Larger = Larger.UNDECIDED
    side_proved: bool = False

    @property
    def coefficients(self) -> tuple[sp.Expr, sp.Expr] | None:
        """Old and new coefficient where nothing else changed."""
        (one, rest), (two, other) = self.old.as_coeff_Mul(), self.new.as_coeff_Mul()
        return (one, two) if rest == other and one != two else None


def with_symbols_of(expr: sp.Expr, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    """The expression in the symbols of these names: two versions may declare one of the same name differently."""
    expr = sp.sympify(expr)
    return expr.xreplace({each: symbols[each.name] for each in expr.free_symbols if each.name in symbols})


def compare(old: sp.Expr, new: sp.Expr, points: SamplePoints) -> Change:
    """Compare two formulas, in the same symbols: by simplification, and by numbers at the points.

    >>> import sympy as sp
    >>> x = sp.Symbol("x", positive=True)
    >>> compare((1 + x) ** 2, 1 + 2 * x + x**2, Points(values=(), of="anywhere")).same.value
    'same'
    """
    if old == new:
        return Change(old=old, new=new, same=Sameness.PROVED, points=0)
    values = [pair for each in points.values if (pair := _values(old, new, each)) is not None]
    differ = [not _agree(*pair) for pair in values]
    if not any(differ):
        unproved = Sameness.AT_POINTS if values else Sameness.UNDECIDED
        same = Sameness.PROVED if _zero(old - new) else unproved
        return Change(old=old, new=new, same=same, points=len(values))
    ratio, proved = _ratio(old, new, values)
    side, certain = _side(old, new, values, points.hypotheses)
    return Change(
        old=old,
        new=new,
        same=Sameness.DIFFERENT,
        points=len(values),
        ratio=ratio,
        ratio_proved=proved,
        side=side,
        side_proved=certain,
    )


def _values(old: sp.Expr, new: sp.Expr, at: Mapping[str, float]) -> tuple[sp.Expr, sp.Expr] | None:
    """The values of both at a point, to many digits; None where one of them has no real, finite value there."""
    if not names_in(old) | names_in(new) <= at.keys():
        return None
    found = []
    for expr in (old, new):
        # What leaves the range of floats has so many digits that nobody waits for them.
        if not math.isfinite(number(expr, at)):
            return None
        try:
            with limit(_SECONDS):
                # Put in as numbers of so many digits: of exact ones SymPy would compute powers to the last digit.
                value = sp.N(expr, _DIGITS, subs={s: sp.Rational(Fraction(at[s.name])) for s in expr.free_symbols})
        except _FAILURES:
            return None
        if not (value.is_number and value.is_real and value.is_finite):
            return None
        found.append(value)
    return found[0], found[1]


def _agree(one: sp.Expr, two: sp.Expr) -> bool:
    return bool(abs(one - two) <= _AGREE * max(abs(one), abs(two)))


def _zero(expr: sp.Expr) -> bool:
    """Whether simplification proves that an expression is 0."""
    if sp.count_ops(expr) > _LONGEST:
        return False
    try:
        with limit(_SECONDS):
            return sp.simplify(expr) == 0
    except _FAILURES:
        return False


def _ratio(old: sp.Expr, new: sp.Expr, values: Sequence[tuple[sp.Expr, sp.Expr]]) -> tuple[sp.Expr | None, bool]:
    """new/old where that is a constant, and whether it is proved."""
    ratios = [two / one for one, two in values if one != 0]
    if not ratios or len(ratios) < len(values) or not all(_agree(ratios[0], each) for each in ratios):
        return None, False
    try:
        with limit(_SECONDS):
            exact = sp.simplify(new / old) if sp.count_ops(old) + sp.count_ops(new) <= _LONGEST else None
    except _FAILURES:
        exact = None
    if exact is not None and exact.is_number:
        return exact, True
    # One point shows no constant.
    return (sp.Float(ratios[0], 15), False) if len(ratios) > 1 else (None, False)


def _side(
    old: sp.Expr, new: sp.Expr, values: Sequence[tuple[sp.Expr, sp.Expr]], hypotheses: tuple[Condition, ...]
) -> tuple[Larger, bool]:
    """Which one is larger at the points, and whether that is proved inside the hypotheses."""
    larger = any(two > one and not _agree(one, two) for one, two in values)
    smaller = any(two < one and not _agree(one, two) for one, two in values)
    if larger and smaller:
        return Larger.MIXED, True
    low, high = (old, new) if larger else (new, old)
    side = Larger.LARGER if larger else Larger.SMALLER
    return side, any(_proved(Scalar(left=low, operator="<=", right=high, hypotheses=h)) for h in ((), hypotheses))


def _proved(claim: Scalar) -> bool:
    sides = (claim.left, claim.right, *(side for each in claim.hypotheses for side in (each.left, each.right)))
    if sum(sp.count_ops(side) for side in sides) > _LONGEST:
        return False
    try:
        with limit(_SECONDS):
            return bool(decide(claim, QUICK).true)
    except _FAILURES:
        return False


def implied(condition: Condition, others: tuple[Condition, ...]) -> bool:
    """Whether a condition is proved to follow from others."""
    return _proved(
        Scalar(left=condition.left, operator=condition.operator, right=condition.right, hypotheses=tuple(others))
    )


class Tightness(Enum):
    """The change of a condition."""

    SAME = "same"
    TIGHTER = "tighter"
    LOOSER = "looser"
    NEITHER = "neither implies the other"
    UNDECIDED = "cannot be compared"


def tightness(old: Condition, new: Condition, points: SamplePoints) -> tuple[Tightness, bool]:
    """Whether the new condition admits less or more, and whether that is proved; else it is seen at the points.

    >>> import sympy as sp
    >>> x = sp.Symbol("x", positive=True)
    >>> old, new = (Condition(name="", left=x, operator="<=", right=sp.Integer(k)) for k in (2, 1))
    >>> tightness(old, new, Points(values=({"x": 1.5},), of="anywhere"))
    (<Tightness.TIGHTER: 'tighter'>, True)
    """
    if (old.left, old.operator, old.right) == (new.left, new.operator, new.right):
        return Tightness.SAME, True
    old_only = any(_holds(old, each) is True and _holds(new, each) is False for each in points.values)
    new_only = any(_holds(new, each) is True and _holds(old, each) is False for each in points.values)
    if old_only and new_only:
        return Tightness.NEITHER, True
    forward = not new_only and implied(old, (new,))
    backward = not old_only and implied(new, (old,))
    if forward and backward:
        return Tightness.SAME, True
    # A proof says that it is no looser; only a point shows that it is not the same.
    if old_only or new_only:
        return (Tightness.TIGHTER, forward) if old_only else (Tightness.LOOSER, backward)
    return Tightness.UNDECIDED, False


# Rounding decides nothing: sides that nearly agree say nothing about a condition.
_MARGIN = 1e-9


def _holds(condition: Condition, at: Mapping[str, float]) -> bool | None:
    if not condition.symbols <= at.keys():
        return None
    left, right = number(condition.left, at), number(condition.right, at)
    if not (math.isfinite(left) and math.isfinite(right)):
        return None
    if abs(left - right) <= _MARGIN * max(abs(left), abs(right)):
        return True if condition.operator == "==" else None
    return {"<=": left < right, "<": left < right, ">=": left > right, ">": left > right, "==": False}[
        condition.operator
    ]


def text(expr: sp.Expr) -> str:
    """A formula as it is read."""
    return str(shown(expr))
