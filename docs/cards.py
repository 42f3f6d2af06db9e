"""The rate cards that the pages show: ``docs/rates.json``, and the figures ``docs/_static/rates-*.png``.

    python docs/cards.py [PAPER]...

makes those of the papers anew, by default of all; it takes minutes. What is kept of a card is what its tables say.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import bounds
import ratecheck as rc
from ratecheck.exponents.local_steps import local_steps
from ratecheck.views.drawing import style
from ratecheck.views.drawing.rates import local_steps_figure

HERE = Path(__file__).parent
KEPT, FIGURES = HERE / "rates.json", HERE / "_static"
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
    """What the pages show of a card's JSON, with four digits; the reason only where a cell is not ATTAINED."""
    cells = [
        {
            **{name: cell[name] for name in ("row", "parameter", "verdict")},
            "reason": None if cell["verdict"] == "ATTAINED" else cell["reason"],
            "loose": _short(cell["loose"]),
            "constant": _short(cell["constant"]),
            "term": None if cell["predicted"] is None else _power(cell["predicted"]["exponent"]),
            "worst": None if cell["measured"] is None else _power(cell["measured"]["exponent"]),
            "range": None if not cell.get("values") else [_short(cell["values"][k]) for k in (0, -1)],
            "hardest": _hardest(cell),
            "check": None if cell["check"] is None else cell["check"]["verdict"],
        }
        for cell in card["cells"]
    ]
    return {**{name: card[name] for name in ("key", "card", "seed", "rows", "parameters")}, "cells": cells}


def _hardest(cell: dict[str, Any]) -> str | None:
    """The instance in words; that of a statement known only up to a constant is in the reason."""
    if cell["hardest"] is not None:
        return str(cell["hardest"]["text"])
    return str(cell["reason"]) if cell["measured"] is not None and cell["verdict"] == "ATTAINED" else None


def _short(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(f"{value:.4g}") + 0.0


def _power(value: float | None) -> float | None:
    """An exponent that is zero up to rounding is zero."""
    return None if value is None or math.isnan(value) else round(value, 4) + 0.0


def _written(kept: dict[str, dict[str, Any]]) -> str:
    """JSON in the order of the lists, a line per cell."""
    ordered = {
        paper: {key: kept[paper][key] for key in keys if key in kept[paper]}
        for paper, keys in KEYS.items()
        if paper in kept
    }
    text = json.dumps(ordered, indent=1)
    return re.sub(r"\n(?: {5,}| {4}(?=\}))", " ", text) + "\n"


def main(papers: list[str]) -> None:
    """Write the file and the figures."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    FIGURES.mkdir(exist_ok=True)
    for paper in papers or KEYS:
        for key in KEYS[paper]:
            kept.setdefault(paper, {})[key] = summary(rc.rates(key).to_dict())
            KEPT.write_text(_written(kept))
        if paper in DRAWN:
            rc.plot(DRAWN[paper], rates=True, out=FIGURES / f"rates-{paper}.png")
        if paper in LOCAL_STEPS:
            cases = [local_steps(bounds.get(key), label, setting) for key, label, setting in LOCAL_STEPS[paper]]
            style.save(local_steps_figure(cases), FIGURES / f"local-steps-{paper}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
