"""What is kept of the reviews of the papers, ``docs/kept/reviews.json``, and graphs of main theorems as figures.

    python docs/reviews.py [PAPER]...

makes those of the papers named anew, by default of all; it takes minutes. Of what ``ratecheck review PAPER --json``
prints, every step with its evidence, a digest is kept: what the steps mean for every statement, the errata, and what
the graphs say. The pages of the papers are made from it.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import kept
from kept import DRAWN

import bounds
import ratecheck as rc
from bounds.ledger import steps
from bounds.ledger.fault import faults
from ratecheck.auditing.graph import ProofGraph
from ratecheck.auditing.ledger import has_ledger
from ratecheck.views.drawing import style
from ratecheck.views.drawing.graph import graph_figure

FIGURES = Path(__file__).parent / "_static"
PAPERS = tuple(paper for paper in bounds.PAPERS if has_ledger(paper))


@functools.cache
def of_paper(paper: str) -> dict[str, Any]:
    """What is kept of the review of a paper."""
    found: dict[str, Any] = kept.load("reviews")[paper]
    return found


def graphs(paper: str) -> dict[str, dict[str, Any]]:
    """What is kept of the proof graphs in the review of a paper, by what they are of."""
    return {each["root"]: each for each in of_paper(paper)["graphs"]}


def errata(paper: str) -> list[dict[str, Any]]:
    """The errata of a paper, what matters most first: what was found, with what the ledger and its readers say."""
    by_id, filed = {step.id: step for step in steps(paper)}, {fault.id: fault for fault in faults(paper)}
    found = []
    for number, each in enumerate(of_paper(paper)["errata"], 1):
        step, fault = by_id[each["step"]], filed[each["step"]]
        found.append(
            {
                **each,
                "number": number,
                "kind": fault.kind.text,
                "place": step.location,
                "printed": step.claim,
                "repair": step.repair,
                "wrong": fault.wrong,
                "meant": fault.meant,
                "changes": fault.changes,
                "steps": fault.steps,
                "command": f"ratecheck audit --step {step.id}",
            }
        )
    return found


def figure(key: str) -> Path:
    """Where the figure of a theorem's graph is."""
    return FIGURES / f"proof-{key.replace('/', '-')}.svg"


def main(papers: list[str]) -> None:
    """Make the digests and the figures; those of other papers are kept."""
    every = kept.load("reviews")
    for paper in papers or PAPERS:
        found = rc.review(paper).to_dict()
        every[paper] = kept.review(found)
        kept.save("reviews", every)
        for graph in (each for entry in found["statements"] for each in entry["graphs"] if each["root"] in DRAWN):
            style.save(graph_figure(ProofGraph.read(graph)), figure(graph["root"]))


if __name__ == "__main__":
    main(sys.argv[1:])
