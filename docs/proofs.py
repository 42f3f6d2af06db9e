"""The graphs of the papers' main theorems: ``docs/proofs.json``, and the figures ``docs/_static/proof-*.svg``.

    python docs/proofs.py [KEY]...

makes those named anew, by default of all; it takes minutes. A theorem that is false as printed is drawn in its repaired
form.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import ratecheck as rc

HERE = Path(__file__).parent
KEPT, FIGURES = HERE / "proofs.json", HERE / "_static"
KEYS = (
    "pfl/theorem-3.7",
    "pfl/theorem-3.11",
    "pfl/theorem-4.5",
    "fedsum/theorem-c.1-repaired",
    "fedsum/theorem-d.1-repaired",
    "fedsum/theorem-e.1-repaired",
    "fedsum/theorem-4.1-repaired",
    "flame/theorem-2-unbiased-repaired",
    "flame/theorem-2-biased-repaired",
    "simfbo/theorem-1-repaired",
    "simfbo/theorem-2-repaired",
)


def figure(key: str) -> Path:
    """Where the figure of a theorem's graph is."""
    return FIGURES / f"proof-{key.replace('/', '-')}.svg"


def main(keys: list[str]) -> None:
    """Make the graphs and their figures; what is not asked for is kept."""
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for key in keys or KEYS:
        result = rc.proof(key, file=figure(key))
        found[key] = result.graph.fields()
    ordered = {key: found[key] for key in KEYS if key in found}
    KEPT.write_text(json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
