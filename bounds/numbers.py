"""Numbers as callers give them, compared up to rounding, and printed so that a printed limit is admissible."""

from __future__ import annotations

import math
from collections.abc import Iterable

import sympy as sp

from bounds.errors import InputError
from bounds.symbols import Alias

# Prescribed step sizes are computed in floating point and must pass the condition that they meet with equality.
ROUNDING = 1e-12
# What is said of numbers that are no farther apart than that.
EQUAL = f"equal up to rounding ({ROUNDING:g} of them), while the condition is strict"


def as_float(name: str, value: object) -> float:
    """The value as a float; raises `InputError` for what is no number."""
    try:
        return float(value)  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}={value!r}: it has to be a number") from None


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "step"), counted(2, "inequality", "inequalities")
    ('1 step', '2 inequalities')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def decimal(text: str) -> float:
    """The number that a text stands for; raises `ValueError`, also for what nothing but Python takes for a number.

    >>> decimal("1e3")
    1000.0
    >>> decimal("1_0")
    Traceback (most recent call last):
    ValueError: no number: '1_0'
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"no number: {text!r}")
    return float(text)


def exact(number: float | sp.Float) -> sp.Rational:
    """The fraction that a decimal number stands for: the shortest one that is this float and no other.

    A number of SymPy with more digits than a float has is the binary fraction that it is.

    >>> exact(0.1), exact(sp.Float(0.6666666667)), exact(2 / 3)
    (1/10, 6666666667/10000000000, 3333333333333333/5000000000000000)
    """
    if isinstance(number, float) or sp.Float(float(number)) == number:
        return sp.Rational(repr(float(number)))
    return sp.Rational(number)


# What is said first of a symbol of which SymPy knows more than it may.
_TOLD = (
    "zero", "imaginary", "prime", "even", "odd", "positive", "negative", "integer", "rational", "irrational",
    "nonnegative", "nonpositive", "nonzero",
)  # fmt: skip


def assumed_beyond(symbol: sp.Basic, known: sp.Basic) -> str:
    """Assumptions of SymPy on a symbol and not on a known one, by which it may have simplified; empty where none are.

    >>> assumed_beyond(sp.Symbol("x", positive=True), sp.Symbol("x", real=True))
    'positive'
    """
    facts, usual = symbol.assumptions0, known.assumptions0
    more = [fact for fact, value in facts.items() if usual.get(fact) is not value]
    return next((fact for fact in _TOLD if fact in more and facts[fact]), "no usual number") if more else ""


def given_numbers(alias: Alias, value: object) -> list[float]:
    """Numbers given for an alias, as floats; a single number is a list of one."""
    if not alias.many or isinstance(value, str) or not isinstance(value, Iterable):
        return [as_float(alias.name, value)]
    numbers = [as_float(f"{alias.name}[{i}]", each) for i, each in enumerate(value)]
    if not numbers:
        raise InputError(f"{alias.name} ({alias.meaning}) is an empty list: give at least one number")
    return numbers


def holds(left: float, operator: str, right: float) -> bool:
    """Whether ``left <operator> right``, up to rounding."""
    finite = math.isfinite(left) and math.isfinite(right)
    slack = ROUNDING * max(abs(left), abs(right)) if finite else 0.0
    if operator == "<=":
        return left <= right + slack
    if operator == ">=":
        return left >= right - slack
    # What is equal but for rounding is not strictly smaller.
    if operator == "<":
        return left < right - slack
    if operator == ">":
        return left > right + slack
    return left == right or abs(left - right) <= slack


def farther(limit: float, operator: str) -> float:
    """From where on numbers count as smaller ("<") or larger (">") than a limit."""
    return limit - math.copysign(ROUNDING * abs(limit), 1 if operator == "<" else -1)


def apart(left: float | None, right: float | None, digits: int = 6) -> tuple[str, str]:
    """Both numbers with so many digits, or with more until they differ where they do."""
    texts = ("-", "-")
    for some in range(digits, 18):
        texts = tuple("-" if value is None else f"{value:.{some}g}" for value in (left, right))  # type: ignore[assignment]
        if texts[0] != texts[1] or left == right:
            break
    return texts


def inwards(limit: float | None, operator: str) -> str:
    """A limit with ten digits, or with all where a number with ten would break it."""
    if limit is None:
        return "-"
    for digits in (10, 17):
        unit = 10.0 ** (math.floor(math.log10(abs(limit))) - digits + 1) if limit and math.isfinite(limit) else 0.0
        step = -unit if operator in ("<=", ">") else unit
        for text in (f"{limit:.{digits}g}", f"{limit + step:.{digits}g}"):
            # What is not admissible itself is the limit for others: it is then named from its other side.
            if holds(float(text), operator, limit) or (operator in ("<", ">") and float(text) == limit):
                return text
    return repr(limit)
