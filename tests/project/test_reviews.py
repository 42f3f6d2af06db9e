"""The kept reviews: that they are about what the ledgers have now, and what the checker says."""

import importlib.util
from pathlib import Path

import pytest

import bounds
import ratecheck as rc
from bounds.ledger import steps
from bounds.ledger.fault import faults
from ratecheck.auditing.graph import Grade, plan

DOCS = Path(__file__).parents[2] / "docs"
_spec = importlib.util.spec_from_file_location("reviews", DOCS / "reviews.py")
reviews = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reviews)
GRAPHS = {key: graph for paper in reviews.PAPERS for key, graph in reviews.graphs(paper).items()}


@pytest.mark.parametrize("paper", reviews.PAPERS)
def test_every_step_and_erratum_is_there(paper):
    """Once, with its place and claim as they are now, and the fault that is filed; no verdict is one of a clock."""
    kept = {step["id"]: (step["location"], step["claim"], step["of"]) for step in reviews.steps(paper)}
    assert kept == {step.id: (step.location, step.claim, step.of) for step in steps(paper)}
    assert len(reviews.steps(paper)) == len(kept)
    filed = {frozenset(each.steps) for each in faults(paper)}
    assert {frozenset(each["steps"]) for each in reviews.kept(paper)["errata"]} == filed
    assert {each["key"] for each in reviews.kept(paper)["statements"]} <= {
        each.key for each in bounds.statements(paper)
    }
    assert not [step["id"] for step in reviews.steps(paper) if "not decided in" in step["evidence"]]


@pytest.mark.parametrize("paper", reviews.PAPERS)
def test_some_verdicts_are_made_again(paper):
    """Of steps from all over the ledger, with their evidence."""
    fields = ("verdict", "basis", "evidence", "repaired", "certified")
    for kept in reviews.steps(paper)[5::80]:
        (made,) = rc.audit(step=kept["id"], workers=1).to_dict()["steps"]
        assert {name: made[name] for name in fields} == {name: kept[name] for name in fields}, kept["id"]


@pytest.mark.long
@pytest.mark.parametrize("paper", reviews.PAPERS)
def test_a_review_is_what_the_checker_says(paper):
    """All of it."""
    assert rc.review(paper).to_dict() == reviews.kept(paper)


def test_every_main_theorem_has_its_graph():
    """In the order of the list, each with a figure that names every statement in it."""
    for key in reviews.DRAWN:
        graph, picture = GRAPHS[key], reviews.figure(key).read_text()
        assert graph.root == key
        assert all(node.label[:20] in picture for node in graph.nodes.values() if not node.is_fact)


@pytest.mark.parametrize("key", GRAPHS)
def test_a_kept_graph_is_about_what_there_is(key):
    """The statements, links and steps are those of the ledger and of the implications."""
    graph, wanted = GRAPHS[key], plan(key)
    assert {node.id for node in graph.nodes.values() if not node.is_fact} == {*wanted.statements}
    implied = [link for link in graph.links if link.how.startswith("implication")]
    assert len(implied) == len(wanted.implications)
    for link, implication in zip(implied, wanted.implications, strict=True):
        assert link.conclusion == implication.conclusion
        assert link.premises[: len(implication.premises)] == implication.premises
        assert len(link.premises) == len(implication.premises) + len(implication.facts)
    assert {step for node in graph.nodes.values() for step in node.steps} <= {*wanted.steps}


def test_no_kept_graph_says_more_than_its_parts():
    """The grade that is kept is that of the worst part, and what is not proved has a reason."""
    for graph in GRAPHS.values():
        parts = {node.own for node in graph.nodes.values()} | {link.grade for link in graph.links}
        if graph.grade in (Grade.PROVED, Grade.SOLVER):
            assert parts <= {Grade.PROVED, Grade.SOLVER}
        elif graph.grade is Grade.ASSUMED and not graph.gaps:
            assert parts <= {Grade.PROVED, Grade.SOLVER}
            assert graph.added
        else:
            assert graph.grade in parts
            assert graph.gaps
