"""The rate cards that the pages show: ``docs/kept/rates.json``, and the figures ``docs/_static/rates-*.png``.

    python docs/cards.py [PAPER]...

makes those of the papers anew, by default of all; it takes minutes. What is kept of a card is what its tables say.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import kept
from kept import short

import bounds
import ratecheck as rc
from ratecheck.exponents.local_steps import local_steps
from ratecheck.views.drawing import style
from ratecheck.views.drawing.rates import local_steps_figure

HERE = Path(__file__).parent
FIGURES = HERE / "_static"
# The statements of each paper that have a card, in printed order; then the rows of its tables that quote other work.
KEYS = {
    "pfl": (
        "pfl/theorem-3.7",
        "pfl/corollary-3.8",
        "pfl/theorem-3.11-tuned",
        "pfl/theorem-4.5",
        "pfl/corollary-4.6",
        "baselines/fedsim",
        "baselines/fedavg-karimireddy-partial",
        "baselines/fedavg-yang-partial",
        "baselines/fedavg-yu",
        "baselines/fedavg-karimireddy-full",
        "baselines/fedavg-yang-full",
    ),
    "fedsum": (
        "fedsum/theorem-c.1",
        "fedsum/theorem-d.1",
        "fedsum/theorem-e.1",
        "fedsum/theorem-4.1",
        "fedsum/theorem-g.1",
        "fedsum/corollary-4.1",
        "fedsum/corollary-g.1-case-1",
        "fedsum/corollary-g.1-case-2",
        "fedsum/corollary-g.1-case-3",
        "fedsum/corollary-g.1-case-4",
    ),
    "flame": ("flame/theorem-2-unbiased-wide-repaired", "flame/theorem-2-biased-wide-repaired"),
    "simfbo": (
        "simfbo/theorem-1-order",
        "simfbo/theorem-1-order-full",
        "simfbo/theorem-1-order-partial",
        "simfbo/theorem-2-order",
    ),
}
# The statement of each paper whose card is drawn. What is known only up to a constant has no bound to draw.
DRAWN = {
    "pfl": "pfl/corollary-3.8",
    "fedsum": "fedsum/theorem-d.1",
    "flame": "flame/theorem-2-unbiased-wide-repaired",
}
# What local steps buy: statements and settings, side by side.
_PFL = {"n": 100.0, "T": 1e9, "L": 1.0, "F_0": 1.0, "sigma_u": 10.0, "sigma_v": 0.0, "b": 1.0, "B_0": 0.0}
_FEDSUM = {"N": 100.0, "T": 1e7, "L": 1.0, "Delta_f": 1.0, "sigma": 10.0, "F_0": 1.0}
LOCAL_STEPS = {
    "pfl": (
        ("pfl/corollary-3.8", "m = n: every client", {**_PFL, "m": 100.0}),
        ("pfl/corollary-3.8", "m = n/10: a tenth of them", {**_PFL, "m": 10.0}),
        ("pfl/corollary-4.6", "m = n/10, with control variates", {**_PFL, "m": 10.0}),
    ),
    "fedsum": (
        ("fedsum/theorem-d.1", "short absences", {**_FEDSUM, "tau_max": 1.0, "tau_avg": 1.0}),
        ("fedsum/theorem-d.1", "long and rare absences", {**_FEDSUM, "tau_max": 1000.0, "tau_avg": 1.0}),
        ("fedsum/theorem-d.1", "long and frequent absences", {**_FEDSUM, "tau_max": 1000.0, "tau_avg": 300.0}),
    ),
}


def summary(card: dict[str, Any]) -> dict[str, Any]:
    """What the pages show of a card's JSON, with four digits."""
    checks = Counter(
        each["check"]["verdict"] for each in card["cells"] if each["check"] and each["constant"] is not None
    )
    numbers = sum(each["constant"] is not None for each in card["cells"])
    return {
        **{name: card[name] for name in ("key", "card", "seed", "parameters")},
        "checks": dict(checks),
        "numbers": numbers,
        "rows": [_row(name, [each for each in card["cells"] if each["row"] == name]) for name in card["rows"]],
    }


def _row(name: str, cells: list[dict[str, Any]]) -> dict[str, Any]:
    """A term: both exponents and the verdict by parameter, what is not attained and why, the constants, the hardest."""
    constants = [each["constant"] for each in cells if each["constant"] is not None]
    return {
        "row": name,
        "cells": {each["parameter"]: [*map(_exponent, _exponents(each)), each["verdict"]] for each in cells},
        "open": [
            [each["parameter"], short(each["loose"]), each["reason"]] for each in cells if each["verdict"] != "ATTAINED"
        ],
        "constants": [short(end(constants)) for end in (min, max)] if constants else [],
        "hardest": _hardest(cells),
    }


def _exponents(cell: dict[str, Any]) -> tuple[float | None, ...]:
    return tuple(cell[name] and cell[name]["exponent"] for name in ("predicted", "measured"))


def _exponent(value: float | None) -> float | None:
    """An exponent that is zero up to rounding is zero."""
    return None if short(value) is None else round(value, 4) + 0.0


def _hardest(cells: list[dict[str, Any]]) -> list[Any]:
    """The instance where the constant is largest, in words, the parameter that runs there, and its range.

    That of a statement known only up to a constant is in the reason.
    """
    texts = [
        each["hardest"]["text"]
        if each["hardest"] is not None
        else each["reason"]
        if each["measured"] is not None and each["verdict"] == "ATTAINED"
        else None
        for each in cells
    ]
    seen = [(each, text) for each, text in zip(cells, texts, strict=True) if text is not None]
    if not seen:
        return []
    worst, text = max(seen, key=lambda pair: pair[0]["constant"] or 0.0)
    return [text, worst["parameter"], *(short(worst["values"][k]) for k in (0, -1))]


def main(papers: list[str]) -> None:
    """Write the file and the figures."""
    found = kept.load("rates")
    FIGURES.mkdir(exist_ok=True)
    for paper in papers or KEYS:
        for key in KEYS[paper]:
            found.setdefault(paper, {})[key] = summary(rc.rates(key).to_dict())
        found[paper] = {key: found[paper][key] for key in KEYS[paper]}
        kept.save("rates", found)
        if paper in DRAWN:
            rc.plot(DRAWN[paper], rates=True, out=FIGURES / f"rates-{paper}.png")
        if paper in LOCAL_STEPS:
            cases = [local_steps(bounds.get(key), label, setting) for key, label, setting in LOCAL_STEPS[paper]]
            style.save(local_steps_figure(cases), FIGURES / f"local-steps-{paper}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
