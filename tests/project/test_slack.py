"""What is kept of what the steps of the ledgers hold without, and of the slack of their constants."""

import kept
import pytest

import bounds
import ratecheck as rc
from bounds.ledger import steps
from bounds.ledger.step import StepKind
from ratecheck.auditing.ledger import has_ledger

KEPT = kept.load("slack")
PAPERS = [paper for paper in bounds.PAPERS if has_ledger(paper)]


def marked(paper):
    """The mark of every step of a paper that holds, by its id; "-" where not everything was examined."""
    verdicts = {entry["key"]: entry for entry in kept.load("reviews")[paper]["statements"]}
    holding = {}
    for row in KEPT[paper]["marks"]:
        own = [step.id for step in steps(paper) if step.of == row["key"]]
        held = [own[place] for place in map(int, row["places"].split())]
        assert len(own) == len(verdicts[row["key"]]["marks"].split())
        holding |= dict(zip(held, row["marks"].split(), strict=True))
    return holding


@pytest.mark.parametrize("paper", PAPERS)
def test_it_is_about_steps_of_the_ledgers(paper):
    """Three in four steps of a ledger that are no citation hold; what is not needed is of such steps."""
    found, holding = KEPT[paper], marked(paper)
    assert len(holding) == found["steps"]
    assert sum(mark == "-" for mark in holding.values()) == found["in part"]
    assert len(holding) > 0.7 * sum(step.kind is not StepKind.STANDARD for step in steps(paper))
    assert {row["step"] for row in found["unused"]} <= {*holding}
    assert found["with slack"] <= found["constants"]


def test_it_says_something():
    """Of more than a hundred steps."""
    assert sum(found["with slack"] + len(found["unused"]) for found in KEPT.values()) > 100


@pytest.mark.every(2)
@pytest.mark.parametrize("paper", PAPERS)
def test_some_marks_are_made_again(paper):
    """One of a step that was examined whole; on a slower machine a clock may end its questions."""
    whole = [key for key, mark in marked(paper).items() if mark != "-"]
    assert len(whole) > 30
    (made,) = rc.audit(step=whole[0], workers=1).to_dict()["steps"]
    assert made["asked"]
    assert kept.slack_mark(made) == marked(paper)[whole[0]]


@pytest.mark.long
@pytest.mark.parametrize("paper", PAPERS)
def test_all_marks_are_made_again(paper):
    """Those whose questions a clock ended are left out."""
    made = {step["id"]: step for step in rc.audit(paper, room=True).to_dict()["steps"] if step["basis"]}
    assert made.keys() == marked(paper).keys()
    for key, mark in marked(paper).items():
        assert mark == "-" or not made[key]["asked"] or kept.slack_mark(made[key]) == mark, key
