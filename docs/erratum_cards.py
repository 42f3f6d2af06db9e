"""An erratum as a card: what is printed, what is wrong with it, by which numbers, what would do, and what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markdown_parts import code, plain


def card(erratum: Mapping[str, Any], *, numbered: bool = True) -> Sequence[str]:
    """The lines of a card of an erratum in a review, with its number where it stands among the paper's errata."""
    repair = plain(erratum["repair"] or "see the repaired form")
    rows = [
        ("printed", plain(erratum["printed"])),
        ("wrong", plain(erratum["wrong"])),
        ("counterexample", plain(erratum["evidence"])),
        ("repair", f"{repair} ({erratum['repaired']})" if erratum["repaired"] else ""),
        ("charitable reading", plain(erratum["meant"])),
        ("steps", ", ".join(map(code, erratum["steps"]))),
        ("repeat it", code(erratum["command"])),
        ("consequence", plain(erratum["consequence"])),
    ]
    body = [f"- *{label}*: {text}" for label, text in rows if text]
    number = f"{erratum['number']}. " if numbered else ""
    return [
        f"```{{admonition}} {number}{plain(erratum['place'])}: {erratum['kind']}",
        ":class: erratum",
        "",
        *body,
        "```",
        "",
    ]
