"""Sharper terms, best values and brackets of proofs as text and as JSON data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ratecheck.plain import picked
from ratecheck.proving.bracket import Bracket
from ratecheck.proving.improve import BestValue, SharpTerm
from ratecheck.views.numbers import number
from ratecheck.views.proofs.prove import factor_text
from ratecheck.views.width import table


def improved_lines(sharpest: Sequence[SharpTerm], best: BestValue | None, bracket: Bracket | None) -> list[str]:
    """Lines below a proof; none for what was not requested."""
    return [*_sharpest(sharpest), *_best(best), *_bracket(bracket)]


def _sharpest(terms: Sequence[SharpTerm]) -> Iterator[str]:
    if terms:
        yield "  proved with one factor changed, the rest of the right side as it is:"
    several = len({each.claim for each in terms}) > 1
    for each in terms:
        factor = "no proof" if each.factor is None else factor_text(each.factor, 5)
        yield f"    {factor:>10}  {each.claim + ': ' if several else ''}{each.name}"


def _best(best: BestValue | None) -> Iterator[str]:
    if best is None:
        return
    name, left = best.parameter, f"{best.claim + ': ' if best.claim else ''}left side"
    left += " <= " if best.round is None else f" in round {best.round} <= "
    own = "no proof" if best.own_bound is None else f"{left}{factor_text(best.own_bound, 4)}"
    yield f"  best {name} = {best.value:.10g}: {left}{factor_text(best.bound, 4)}"
    yield f"    the right side is {number(best.right)} there; at {name} = {best.own_value:.10g}, the largest: {own}"


def _bracket(bracket: Bracket | None) -> Iterator[str]:
    if bracket is None:
        return
    rows: list[tuple[str, ...]] = [
        (",".join(bracket.axis.names), "found/right side", "proved/right side", "right side")
    ]
    shown = (
        [
            "-" if p.found is None else number(p.found), "-" if p.proved is None else factor_text(p.proved, 4),
            "-" if p.right is None else number(p.right),
        ]
        for p in bracket.points
    )  # fmt: skip
    rows += [(f"{p.value:.6g}", *row) for p, row in zip(bracket.points, shown, strict=True)]
    yield table(rows)
    yield from (f"  left out {p.value:.6g}: {p.reason}" for p in bracket.points if p.reason)


def improved_fields(sharpest: Sequence[SharpTerm], best: BestValue | None, bracket: Bracket | None) -> dict[str, Any]:
    """Sharper terms, best value and bracket as JSON data; nothing for what was not requested."""
    found: dict[str, Any] = {}
    if sharpest:
        found["sharpest"] = [
            {
                "claim": each.claim,
                "term": each.name,
                "factor": None if each.factor is None else float(each.factor),
                "exact_factor": None if each.factor is None else str(each.factor),
            }
            for each in sharpest
        ]
    if best is not None:
        found["best"] = {
            **picked(best, "parameter", "value", "bound"),
            "factor": float(best.factor),
            **picked(best, "right", "own_value", "own_bound", "claim", "round"),
        }
    if bracket is not None:
        found["over"] = {
            "names": list(bracket.axis.names),
            "points": [picked(p, "value", "found", "proved", "right", "reason") for p in bracket.points],
        }
    return found
