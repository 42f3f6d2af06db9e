"""The kept graphs of the main theorems: that they are about what the ledgers have now, and what the checker says."""

import importlib.util
import json
from pathlib import Path

import pytest

import ratecheck as rc
from ratecheck.auditing.graph import Grade, ProofGraph, plan

DOCS = Path(__file__).parents[2] / "docs"
_spec = importlib.util.spec_from_file_location("proofs", DOCS / "proofs.py")
proofs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(proofs)
KEPT = json.loads(proofs.KEPT.read_text())


def test_every_main_theorem_has_its_graph():
    """In the order of the list, each with a figure that names every statement in it."""
    assert tuple(KEPT) == proofs.KEYS
    for key, fields in KEPT.items():
        graph, picture = ProofGraph.read(fields), proofs.figure(key).read_text()
        assert graph.root == key
        assert all(node.label[:20] in picture for node in graph.nodes.values() if not node.is_fact)


@pytest.mark.parametrize("key", proofs.KEYS)
def test_a_kept_graph_is_about_what_there_is(key):
    """The statements, links and steps are those of the ledger and of the implications."""
    graph, wanted = ProofGraph.read(KEPT[key]), plan(key)
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
    for fields in KEPT.values():
        graph = ProofGraph.read(fields)
        assert graph.fields() == fields
        parts = {node.own for node in graph.nodes.values()} | {link.grade for link in graph.links}
        if graph.grade in (Grade.PROVED, Grade.SOLVER):
            assert parts <= {Grade.PROVED, Grade.SOLVER}
        else:
            assert graph.grade in parts
            assert graph.gaps


@pytest.mark.long
@pytest.mark.parametrize("key", proofs.KEYS)
def test_a_kept_graph_is_what_the_checker_says(key):
    """All of it."""
    assert rc.proof(key).graph.fields() == KEPT[key]
