"""Proofs on a range of a parameter as text and as JSON data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ratecheck.proving.polynomials import Polynomial
from ratecheck.proving.ranges.range_proof import RangePart, RangeProof
from ratecheck.views.proofs.prove import multiplied, sets_text, side_text

# Coefficients of a potential that are shown.
_SHOWN = 8


def range_lines(found: RangeProof) -> Iterator[str]:
    """The verdict, and the potential whose coefficients are functions of the parameter."""
    if found.factor is None:
        yield f"{found.verdict} for all {found.range}: {found.reason}"
        return
    rounds = "for every T" if found.every_T else f"T = {int(found.values['T'])}"
    said = f"{side_text(found.factor, measured=found.measured)}{sets_text(found.statement)}"
    yield f"{found.verdict} for all {found.range}, {rounds}: {said}"
    part, name = found.parts[0], found.range.name
    terms = [(f"{each.label}: {term}", u) for each in part.base.potentials for term, u in each.terms if part.value(u)]
    for term, u in terms[:_SHOWN]:
        yield f"  {function_text(part, u, name)}  {term}"
    if len(terms) > _SHOWN:
        yield f"  and {len(terms) - _SHOWN} more"


def function_text(part: RangePart, unknown: int, name: str) -> str:
    """An unknown as a function of the parameter."""
    above, below = part.value(unknown), part.below
    shared = above.common(below)
    above, below = above.divided(shared)[0], below.divided(shared)[0]
    if below.degree == 0:
        return polynomial_text(above.times(1 / below.coefficients[0]), name)
    return f"({polynomial_text(above, name)})/({polynomial_text(below, name)})"


def polynomial_text(poly: Polynomial, name: str) -> str:
    """A polynomial in plain characters, its coefficients with six digits."""
    terms = []
    for k, c in enumerate(poly.coefficients):
        if c:
            power = "" if k == 0 else name if k == 1 else f"{name}^{k}"
            size = f"{float(c):.6g}"
            terms.append(
                power
                if power and size == "1"
                else f"-{power}"
                if power and size == "-1"
                else "*".join(filter(None, (size, power)))
            )
    return " + ".join(terms).replace("+ -", "- ") or "0"


def range_fields(found: RangeProof) -> dict[str, Any]:
    """A proof on a range as JSON data; unknowns are polynomials over ``denominator``, constant coefficients first."""
    return {
        "name": found.range.name,
        "low": str(found.range.low),
        "high": str(found.range.high),
        "verdict": found.verdict,
        "factor": None if found.factor is None else str(found.factor),
        "of": multiplied(measured=found.measured),
        "every_T": found.factor is not None and found.every_T,
        "reason": found.reason,
        "parts": [
            {
                "denominator": [str(c) for c in part.below.coefficients],
                "numerators": {
                    name: [str(c) for c in part.value(u).coefficients]
                    for u, name in enumerate(part.base.program.names)
                    if part.value(u)
                },
            }
            for part in found.parts
        ],
    }
