"""The summary that ``docs/mutations.json`` keeps of a whole mutation run, which names every mutant that survives.

    ratecheck audit --mutate --json > whole.json
    python docs/kept.py whole.json > docs/mutations.json

Mutants that are proved as well do no harm, nor do those that are the same or weaker on every instance: they are counted
per step. All others are kept one by one.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from ratecheck.auditing.mutation.analysis import MutantStatus

HARMLESS = MutantStatus.HARMLESS.value
NO_STRONGER = MutantStatus.SAME.value, MutantStatus.WEAKER.value


def summary(run: dict[str, Any]) -> dict[str, Any]:
    """One paper's run with ``harmless`` and ``no_stronger``, counts per step, apart from the other survivors."""
    survivors = run["survivors"]
    harmless = [row for row in survivors if row["reason"] == HARMLESS]
    no_stronger = [row for row in survivors if row["reason"].startswith(NO_STRONGER)]
    return {
        **run,
        "survivors": [row for row in survivors if row not in harmless and row not in no_stronger],
        "harmless": dict(Counter(row["id"] for row in harmless)),
        "no_stronger": dict(Counter(row["id"] for row in no_stronger)),
    }


if __name__ == "__main__":
    whole = json.loads(Path(sys.argv[1]).read_text())["summaries"]
    sys.stdout.write(json.dumps([summary(run) for run in whole], indent=1) + "\n")
