"""The reviews of the papers, ``docs/reviews/PAPER.json``, and the graphs of main theorems in them as figures.

    python docs/reviews.py [PAPER]...

makes those of the papers named anew, by default of all; it takes minutes. A review is what ``ratecheck review PAPER
--json`` prints: every step of the paper's ledger with its verdict, what these mean for every statement, the errata and
the proof graphs. The pages on the audits are made from it.
"""

# ruff: noqa: INP001  # a script beside the pages

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

import bounds
import ratecheck as rc
from ratecheck.auditing.graph import ProofGraph
from ratecheck.auditing.ledger import has_ledger
from ratecheck.views.drawing import style
from ratecheck.views.drawing.graph import graph_figure

HERE = Path(__file__).parent
KEPT, FIGURES = HERE / "reviews", HERE / "_static"
PAPERS = tuple(paper for paper in bounds.PAPERS if has_ledger(paper))
# The main theorems whose graphs are drawn; one that is false as printed in its repaired form.
DRAWN = (
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


def kept_in(paper: str) -> Path:
    """Where the review of a paper is kept."""
    return KEPT / f"{paper}.json"


@functools.cache
def kept(paper: str) -> dict[str, Any]:
    """The review of a paper, as kept."""
    found: dict[str, Any] = json.loads(kept_in(paper).read_text())
    return found


def steps(paper: str) -> list[dict[str, Any]]:
    """The steps of a paper's ledger with their verdicts, statement by statement."""
    return [step for entry in kept(paper)["statements"] for step in entry["steps"]]


def graphs(paper: str) -> dict[str, ProofGraph]:
    """The proof graphs in the review of a paper, by what they are of."""
    return {each["root"]: ProofGraph.read(each) for entry in kept(paper)["statements"] for each in entry["graphs"]}


def figure(key: str) -> Path:
    """Where the figure of a theorem's graph is."""
    return FIGURES / f"proof-{key.replace('/', '-')}.svg"


def main(papers: list[str]) -> None:
    """Make the reviews and the figures; those of other papers are kept."""
    for paper in papers or PAPERS:
        found = rc.review(paper).to_dict()
        kept_in(paper).write_text(json.dumps(found, indent=1) + "\n")
        kept.cache_clear()
        made = graphs(paper)
        for key in DRAWN:
            if key in made:
                style.save(graph_figure(made[key]), figure(key))


if __name__ == "__main__":
    main(sys.argv[1:])
