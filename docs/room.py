"""What the steps of the ledgers hold without, and by how much their constants can be sharper: ``docs/room.json``.

    python docs/room.py [PAPER]...

makes those of the papers named anew, by default of all; it takes minutes. An entry is a step that holds, with ``asked``
false where not every hypothesis and constant was asked about.
"""

# ruff: noqa: INP001  # a script beside the pages

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bounds
import ratecheck as rc
from ratecheck.auditing.finding import StepResult
from ratecheck.auditing.ledger import has_ledger

KEPT = Path(__file__).parent / "room.json"


def rows(steps: Iterable[StepResult]) -> dict[str, dict[str, Any]]:
    """What is kept of the steps that hold, by their ids."""
    return {
        step.id: {"unused": list(step.unused), "loose": list(step.loose), "asked": step.asked}
        for step in steps
        if step.basis
    }


def main(papers: list[str]) -> None:
    """Make the entries of some papers; those of others are kept."""
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    with_ledger = [paper for paper in bounds.PAPERS if has_ledger(paper)]
    for paper in papers or with_ledger:
        others = {key: row for key, row in found.items() if not key.startswith(f"{paper}/")}
        found = others | rows(rc.audit(paper, room=True).steps)
    order = {paper: k for k, paper in enumerate(with_ledger)}
    kept = dict(sorted(found.items(), key=lambda item: order[item[0].partition("/")[0]]))
    lines = (f"{json.dumps(key)}: {json.dumps(row)}" for key, row in kept.items())
    KEPT.write_text("{\n " + ",\n ".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
