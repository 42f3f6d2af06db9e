"""What is kept of the reviews: that it is about what the ledgers have now, and what the checker says."""

import kept
import pytest
import reviews

import bounds
import ratecheck as rc
from bounds.ledger import steps
from bounds.ledger.fault import FaultKind, faults
from ratecheck.auditing.finding import StepVerdict
from ratecheck.auditing.graph import Grade, plan

GRAPHS = {key: graph for paper in reviews.PAPERS for key, graph in reviews.graphs(paper).items()}


def marked(paper):
    """The mark of every step of a paper by its id."""
    found = {}
    for entry in reviews.of_paper(paper)["statements"]:
        ids = [step.id for step in steps(paper) if step.of == entry["key"]]
        found |= dict(zip(ids, entry["marks"].split(), strict=True))
    return found


@pytest.mark.parametrize("paper", reviews.PAPERS)
def test_every_step_and_erratum_is_there(paper):
    """Every step has a mark and is counted once; an erratum is a fault that is filed, and says something of it."""
    found = reviews.of_paper(paper)
    assert {*marked(paper)} == {step.id for step in steps(paper)}
    assert found["steps"] == sum(found["labels"].values()) == len(marked(paper))
    assert sum(found["false"].values()) == found["labels"][StepVerdict.FALSE.value]
    assert {*found["false"]} <= {kind.value for kind in FaultKind}
    for entry in found["statements"]:
        counts = [int(label.partition(" ")[0]) for label in entry["labels"]]
        assert sum(counts) == len(entry["marks"].split())
        assert entry["certified"] <= sum(counts)
    assert {entry["key"] for entry in found["statements"]} <= {each.key for each in bounds.statements(paper)}
    assert sorted(each["step"] for each in found["errata"]) == sorted(fault.id for fault in faults(paper))
    for each in found["errata"]:
        assert each["evidence"]
        assert "not decided in" not in each["evidence"]
        assert all(key in each["consequence"] for key in each["refutes"])


@pytest.mark.every(2)
@pytest.mark.parametrize("paper", reviews.PAPERS)
def test_some_verdicts_are_made_again(paper):
    """Of steps from all over the ledger, with their evidence; of an erratum, with what its card shows."""
    marks = marked(paper)
    for key in [*marks][5::80]:
        (made,) = rc.audit(step=key, workers=1).to_dict()["steps"]
        assert kept.step_mark(made) == marks[key], key
    first = reviews.of_paper(paper)["errata"][0]
    (made,) = rc.audit(step=first["step"], workers=1).to_dict()["steps"]
    assert (made["evidence"], made["repaired"]) == (first["evidence"], first["repaired"])


@pytest.mark.long
@pytest.mark.parametrize("paper", reviews.PAPERS)
def test_a_review_is_what_the_checker_says(paper):
    """All of it."""
    assert kept.review(rc.review(paper).to_dict()) == reviews.of_paper(paper)


def test_every_main_theorem_has_its_graph():
    """In the order of the list, each with a figure that names every statement in it."""
    for key in kept.DRAWN:
        picture = reviews.figure(key).read_text()
        assert all(statement[:20] in picture for statement in plan(key).statements)


@pytest.mark.parametrize("key", GRAPHS)
def test_a_kept_graph_is_about_what_there_is(key):
    """Its statements are those of the plan, and it has a link for every implication; its grade is one."""
    graph, wanted = GRAPHS[key], plan(key)
    assert {*graph["statements"]} == {*wanted.statements}
    assert sum(graph["links"]) >= len(wanted.implications) == graph["implied"]
    assert graph["grade"] in {grade.value for grade in Grade}


def test_no_kept_graph_says_more_than_its_parts():
    """The grade that is kept is that of the worst part, and what is not proved has a reason."""
    for graph in GRAPHS.values():
        grade = Grade(graph["grade"])
        counts = zip(Grade, graph["own"], graph["links"], strict=True)
        parts = {each for each, own, links in counts if own or links}
        if grade in (Grade.PROVED, Grade.SOLVER):
            assert parts <= {Grade.PROVED, Grade.SOLVER}
        elif grade is Grade.ASSUMED and not graph["missing"]:
            assert parts <= {Grade.PROVED, Grade.SOLVER}
            assert graph["assumed"]
        else:
            assert grade in parts
            assert graph["missing"]
