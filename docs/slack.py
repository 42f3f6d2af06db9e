"""What steps hold without, and how many of their constants could be sharper: ``docs/kept/slack.json``.

    python docs/slack.py [PAPER]...

makes the part of the papers named anew, by default of all; it takes minutes. ``ratecheck audit PAPER --room`` names
every constant.
"""

from __future__ import annotations

import sys

import kept

import bounds
import ratecheck as rc
from ratecheck.auditing.ledger import has_ledger


def main(papers: list[str]) -> None:
    """Make the parts of some papers; those of others are kept."""
    found = kept.load("slack")
    for paper in papers or [paper for paper in bounds.PAPERS if has_ledger(paper)]:
        found[paper] = kept.remarks(rc.audit(paper, room=True).to_dict()["steps"])
        kept.save("slack", found)


if __name__ == "__main__":
    main(sys.argv[1:])
