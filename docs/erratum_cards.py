"""An erratum as a card: what is printed, what is wrong with it, by which numbers, what would do, and what follows."""

# ruff: noqa: INP001  # a script beside the pages

from __future__ import annotations

from collections.abc import Sequence

from markdown_parts import code, plain

from ratecheck.auditing.errata import Erratum


def card(erratum: Erratum, number: int | None = None) -> Sequence[str]:
    """The lines of a card, with its number in the paper's list where it stands in one."""
    first, fault = erratum.first, erratum.fault
    rows = [
        ("printed", plain(first.claim)),
        ("wrong", plain(fault.wrong) if fault else ""),
        ("counterexample", plain(first.evidence)),
        ("repair", f"{plain(first.repair or 'see the repaired form')} ({first.repaired})" if first.repaired else ""),
        ("charitable reading", plain(fault.meant) if fault else ""),
        ("steps", ", ".join(code(each.id) for each in erratum.findings)),
        ("repeat it", code(f"ratecheck audit --step {first.id}")),
        ("consequence", plain(erratum.consequence)),
    ]
    body = [f"- *{label}*: {text}" for label, text in rows if text]
    numbered = "" if number is None else f"{number}. "
    return [
        f"```{{admonition}} {numbered}{plain(first.location)}: {erratum.kind}",
        ":class: erratum",
        "",
        *body,
        "```",
        "",
    ]
