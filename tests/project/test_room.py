"""What is kept of what the steps of the ledgers hold without, and of the room of their constants (docs/room.json)."""

import json
import sys
from pathlib import Path

import pytest

import bounds
import ratecheck as rc
from bounds.ledger.step import StepKind
from ratecheck.auditing.ledger import has_ledger, load, module_of

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import room

KEPT = json.loads(room.KEPT.read_text())
PAPERS = [paper for paper in bounds.PAPERS if has_ledger(paper)]


def test_it_is_about_steps_of_the_ledgers():
    """Every key is a step's, in printed order, and nine in ten steps of a ledger that are no citation have an entry."""
    ids = {paper: [step.id for step in load(module_of(paper))] for paper in PAPERS}
    assert list(KEPT) == [step for paper in PAPERS for step in ids[paper] if step in KEPT]
    remarked = sum(bool(row["unused"] or row["loose"]) for row in KEPT.values())
    assert remarked > 100
    steps = [step for paper in PAPERS for step in load(module_of(paper)) if step.kind is not StepKind.STANDARD]
    assert len(KEPT) > 0.75 * len(steps)


@pytest.mark.parametrize("paper", PAPERS)
def test_some_entries_are_made_again(paper):
    """One that was asked about whole; on a slower machine a clock may end its questions."""
    whole = [key for key, row in KEPT.items() if key.startswith(f"{paper}/") and row["asked"]]
    assert len(whole) > 30
    made = [(key, room.rows(rc.audit(step=key, workers=1).steps)[key]) for key in whole[:: len(whole)]]
    assert all(row == KEPT[key] for key, row in made if row["asked"])
    assert any(row["asked"] for _, row in made)


@pytest.mark.long
@pytest.mark.parametrize("paper", PAPERS)
def test_all_entries_are_made_again(paper):
    """Those whose questions a clock ended are left out."""
    made = room.rows(rc.audit(paper, room=True).steps)
    kept = {key: row for key, row in KEPT.items() if key.startswith(f"{paper}/")}
    assert made.keys() == kept.keys()
    assert all(made[key] == row for key, row in kept.items() if row["asked"] and made[key]["asked"])
