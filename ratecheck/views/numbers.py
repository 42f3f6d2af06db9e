"""Numbers as text."""

from __future__ import annotations

import math

from ratecheck.verification.verdict import lost


def number(value: float | None) -> str:
    """A number with four significant digits."""
    return "-" if value is None else f"{value:.4g}"


def side(value: float, error: float) -> str:
    """One side of a claim: no digits where it has none, or where they are nothing but rounding."""
    if not math.isfinite(value):
        return "beyond float64"
    if not math.isfinite(error):
        return "not known"
    return f"0 to within rounding ({error:.0e})" if lost(value, error) else number(value)
