"""Numbers as text."""

from __future__ import annotations

import math

from bounds.numbers import apart
from ratecheck.verification.verdict import Comparison, lost

_DIGITS = 4


def number(value: float | None) -> str:
    """A number with four significant digits."""
    return "-" if value is None else f"{value:.{_DIGITS}g}"


def sides(comparison: Comparison) -> tuple[str, str]:
    """Both sides of a claim: with more digits where they differ, with the same where rounding alone parts them."""
    left, right = (
        side(value, error)
        for value, error in (
            (comparison.left, comparison.left_error),
            (comparison.right, comparison.right_error),
        )
    )
    if not comparison.significant:
        return left, right
    if not tie(comparison):
        return apart(comparison.left, comparison.right, _DIGITS)
    for digits in range(_DIGITS, 0, -1):
        texts = {f"{value:.{digits}g}" for value in (comparison.left, comparison.right)}
        if len(texts) == 1:
            (text,) = texts
            return text, text
    return right, right


def tie(comparison: Comparison) -> bool:
    """Whether the sides agree to within their rounding."""
    return abs(comparison.left - comparison.right) <= comparison.left_error + comparison.right_error


def side(value: float, error: float) -> str:
    """One side of a claim: no digits where it has none, or where they are nothing but rounding."""
    if not math.isfinite(value):
        return "beyond float64"
    if not math.isfinite(error):
        return "not known"
    return f"0 to within rounding ({error:.0e})" if lost(value, error) else number(value)
