"""How short sentences with formulas are written, as LaTeX or as plain text: numbers, symbols, sums, words between them.

What an item says of itself, such as the functions of a problem, is a list of formulas or phrases in one `Notation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import sympy as sp

_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# Digits of a fraction that is written as one.
_LONGEST = 24
# Significant digits of what is rounded.
DIGITS = 6
_SIGNS = {"!=": r"\ne", "~": r"\approx", ">=": r"\ge"}


@dataclass(frozen=True)
class Notation:
    """Formulas as LaTeX, or as plain text.

    >>> Notation(tex=False).sum([(Fraction(1, 2), "x^2"), (Fraction(-3), "x")])
    'x^2/2 - 3x'
    """

    tex: bool

    def name(self, symbol: str, latex: str = "") -> str:
        """A symbol; SymPy knows what is Greek and what is an index."""
        return (latex or sp.latex(sp.Symbol(symbol))) if self.tex else symbol

    def names(self, block: str, size: int) -> list[str]:
        """The variables of a block: its name, or x_1, x_2, ... where it has several."""
        return [self.name(block)] if size == 1 else [self.name(f"{block}_{c + 1}") for c in range(size)]

    def fraction(self, value: Fraction) -> str:
        """p/q."""
        if value.denominator == 1:
            return str(value.numerator)
        sign, top = "-" * (value < 0), abs(value.numerator)
        return rf"{sign}\frac{{{top}}}{{{value.denominator}}}" if self.tex else f"{sign}{top}/{value.denominator}"

    def term(self, factor: Fraction, body: str) -> str:
        """A positive factor times a body, such as ``3x^2/8``; the factor itself without one."""
        if not body:
            return self.fraction(factor)
        top, bottom = factor.numerator, factor.denominator
        front = "" if top == 1 else str(top)
        if bottom == 1:
            return f"{front}{body}"
        return rf"\frac{{{front}{body}}}{{{bottom}}}" if self.tex else f"{front}{body}/{bottom}"

    def sum(self, terms: Sequence[tuple[Fraction, str]]) -> str:
        """Factors times bodies, with their signs."""
        written = ""
        for factor, body in terms:
            sign = (" - " if factor < 0 else " + ") if written else "-" * (factor < 0)
            written += sign + self.term(abs(factor), body)
        return written or "0"

    @property
    def dots(self) -> str:
        """The sign of an omission."""
        return r"\dots" if self.tex else "..."

    def formula(self, text: str) -> str:
        """A formula as part of a sentence."""
        return f"${text}$" if self.tex else text

    def related(self, left: str, sign: str, right: str) -> str:
        """Two formulas with a sign between them."""
        return f"{left} {_SIGNS.get(sign, sign) if self.tex else sign} {right}"

    def words(self, text: str) -> str:
        """Words in a formula, with a space behind them."""
        return rf"\text{{{text} }}" if self.tex else f"{text} "

    def phrase(self, text: str) -> str:
        """Words in the place of a formula."""
        return rf"\text{{{text}}}" if self.tex else text

    def number(self, value: float | Decimal, digits: int = DIGITS) -> str:
        """A number rounded to some digits."""
        mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if self.tex and exponent else f"{value:.{digits}g}"

    def given(self, value: float) -> str:
        """A float as it is stored: a fraction where that is short, else the fewest digits that read back as it is."""
        exact = Fraction(value)
        fewest = next(digits for digits in range(1, 18) if float(f"{value:.{digits}g}") == value)
        return self.fraction(exact) if is_short(exact) else self.number(value, fewest)

    def listed(self, values: Sequence[float]) -> str:
        """Floats as they are stored: one alone, several in brackets."""
        numbers = [self.given(x) for x in values]
        return numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"


def is_short(value: Fraction) -> bool:
    """Whether a rational has few digits, so that it is written as p/q."""
    return len(f"{value.numerator}{value.denominator}") <= _LONGEST


def decimal(value: Fraction) -> float | Decimal:
    """A rational as a number that `Notation.number` rounds: the nearest float, or beyond their range a decimal."""
    try:
        return float(value)
    except OverflowError:
        return Decimal(value.numerator) / Decimal(value.denominator)


def counted(count: int) -> str:
    """A whole number in words up to twelve."""
    return _COUNTS[count] if count < len(_COUNTS) else str(count)
