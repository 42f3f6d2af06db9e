"""Proofs as graphs: what is established along checked links only, and what is said to be missing."""

import dataclasses
import itertools
import json
import re

import pytest
import sympy as sp
from matplotlib.patches import FancyBboxPatch

import bounds
import ratecheck as rc
from bounds.ledger import implications as claimed
from bounds.ledger.implication import Fact
from bounds.ledger.step import Scope
from ratecheck.auditing import graph as proofs
from ratecheck.auditing import ledger
from ratecheck.auditing.finding import StepResult, StepVerdict
from ratecheck.auditing.graph import Flaw, Grade, Link, Node, ProofGraph
from ratecheck.auditing.implications import How, ImplicationVerdict
from ratecheck.auditing.implied import Implied, implied
from ratecheck.errors import InputError
from ratecheck.plain import plain, read
from ratecheck.views.drawing.graph import graph_figure
from ratecheck.views.proofs.graph import graph_text

LIGHT = "fedsum/corollary-c.3"


def step(name, verdict, *, kind="scalar", basis="certificate", repaired=""):
    """A finding on a step."""
    return StepResult(
        id=name,
        location="line 1",
        claim="a <= b",
        kind=kind,
        of="paper/lemma",
        verdict=verdict,
        basis=basis,
        evidence="",
        vacuous=False,
        repair="",
        repaired=repaired,
        repaired_evidence="",
        witness="",
        unused=(),
        loose=(),
        asked=True,
        remark="",
        seconds=0.0,
    )


def node(name, own=Grade.PROVED):
    """A statement that rests on steps of this grade."""
    why = "" if own is Grade.PROVED else "because"
    return Node(name, name, name, is_fact=False, own=own, tally="1 step", why=why)


def chain(*grades, links=Grade.PROVED):
    """Statements a, b, c, ... each from the next, with the grades of the nodes."""
    names = [chr(ord("a") + k) for k in range(len(grades))]
    nodes = {name: node(name, grade) for name, grade in zip(names, grades, strict=True)}
    missing = "" if links is Grade.PROVED else "no link"
    made = [Link(low, (high,), links, "how", missing) for low, high in itertools.pairwise(names)]
    return ProofGraph("a", nodes, tuple(made))


def test_a_statement_is_as_good_as_the_worst_that_it_rests_on():
    """Links, steps of its own, and those of what it follows from, however far."""
    proved, checked, open_, false = Grade.PROVED, Grade.CHECKED, Grade.OPEN, Grade.FALSE
    assert chain(proved, proved, proved).grade is proved
    assert chain(proved, proved, Grade.SOLVER).grade is Grade.SOLVER
    assert chain(proved, proved, checked).grade is checked
    assert chain(proved, checked, open_).grade is open_
    assert chain(proved, false, proved).grade is false
    assert chain(proved, proved, links=open_).grade is open_
    assert chain(proved, proved, checked).grades["b"] is checked


def test_what_is_missing_is_named_from_the_nearest_on():
    """First the link of the statement itself, last the steps of the farthest."""
    graph = chain(Grade.PROVED, Grade.CHECKED, Grade.OPEN, links=Grade.OPEN)
    assert [gap.partition(":")[0] for gap in graph.gaps] == ["a", "b", "b", "c"]
    assert chain(Grade.PROVED, Grade.PROVED).gaps == ()


def test_a_circle_proves_nothing():
    """A statement that follows from itself is open."""
    links = (Link("a", ("b",), Grade.PROVED, ""), Link("b", ("a",), Grade.PROVED, ""))
    assert ProofGraph("a", {name: node(name) for name in "ab"}, links).grade is Grade.OPEN


@pytest.mark.parametrize(
    ("verdicts", "repaired", "grade"),
    [
        ([{"verdict": StepVerdict.PROVED}, {"verdict": StepVerdict.STANDARD}], False, Grade.PROVED),
        ([{"verdict": StepVerdict.PROVED, "basis": "solver"}], False, Grade.SOLVER),
        ([{"verdict": StepVerdict.PROVED}, {"verdict": StepVerdict.CHECKED}], False, Grade.CHECKED),
        ([{"verdict": StepVerdict.UNKNOWN}], False, Grade.OPEN),
        # A misprint is no repair: later lines have the right form.
        ([{"verdict": StepVerdict.TYPO, "repaired": "PROVED"}], False, Grade.PROVED),
        # What follows a repaired line may need the printed one.
        ([{"verdict": StepVerdict.FALSE, "repaired": "PROVED"}], False, Grade.OPEN),
        ([{"verdict": StepVerdict.FALSE, "repaired": "PROVED"}], True, Grade.OPEN),
        ([{"verdict": StepVerdict.FALSE, "repaired": "FALSE"}], True, Grade.OPEN),
        # The statement itself, refuted as printed.
        ([{"verdict": StepVerdict.FALSE, "repaired": "PROVED", "kind": "end-to-end"}], False, Grade.FALSE),
        ([{"verdict": StepVerdict.FALSE, "repaired": "CHECKED", "kind": "end-to-end"}], True, Grade.CHECKED),
        # The statement itself, proved: its lines do not matter.
        (
            [
                {"verdict": StepVerdict.FALSE, "repaired": "PROVED"},
                {"verdict": StepVerdict.PROVED, "kind": "end-to-end"},
            ],
            False,
            Grade.PROVED,
        ),
    ],
)
def test_steps_say_no_more_than_was_found(verdicts, repaired, grade):
    """What verdicts on lines mean for what rests on them."""
    steps = [step(f"paper/lemma-{k}", **fields) for k, fields in enumerate(verdicts, 1)]
    found = proofs._graded(steps, repaired=repaired)
    assert found.own is grade
    assert found.tally
    proved = grade in (Grade.PROVED, Grade.SOLVER)
    assert bool(found.why) is not proved
    assert bool(found.steps) is not proved
    assert sum(map(len, found.kinds.values())) == int(re.match(r"\d+", found.tally)[0])


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        (Implied(ImplicationVerdict.PROVED, How.CERTIFICATE, 3, ()), Grade.PROVED),
        (Implied(ImplicationVerdict.PROVED, How.IDENTITY, 0, ()), Grade.PROVED),
        (Implied(ImplicationVerdict.PROVED, How.SOLVER, 0, ()), Grade.SOLVER),
        (Implied(ImplicationVerdict.UNKNOWN, None, 0, ("right side",)), Grade.OPEN),
        (Implied(ImplicationVerdict.FALSE, None, 0, ()), Grade.FALSE),
    ],
)
def test_a_link_is_what_the_implication_is(answer, grade):
    """Proved with certificates or on a solver's word, open, false: never more."""
    plan = proofs.plan(LIGHT)
    findings = [step(name, StepVerdict.PROVED) for name in plan.steps]
    findings = [
        dataclasses.replace(each, of=name.rpartition("-")[0], location="statement")
        for each, name in zip(findings, plan.steps, strict=True)
    ]
    graph = proofs.graph(plan, findings, [answer])
    assert graph.links[0].grade is grade
    assert graph.grade is grade
    kinds = {How.CERTIFICATE: "certified", How.IDENTITY: "read, not certified", How.SOLVER: "on the word of z3"}
    kind = kinds.get(answer.how, "false" if grade is Grade.FALSE else "open")
    assert graph.kinds == {kind: 1}
    assert f"1 {kind}" in graph_text(graph)
    assert (kind in graph.links[0].how) == (answer.how is How.IDENTITY)
    assert ProofGraph.read(json.loads(json.dumps(graph.fields()))) == graph
    assert read(Implied, json.loads(json.dumps(plain(answer)))) == answer


def test_steps_are_counted_by_kind():
    """A textbook fact, a misprint and a special case are not counted as proved lines."""
    steps = [
        step("paper/lemma-1", StepVerdict.PROVED),
        step("paper/lemma-2", StepVerdict.PROVED),
        step("paper/lemma-3", StepVerdict.STANDARD, basis="instances"),
        step("paper/lemma-4", StepVerdict.TYPO, basis="", repaired="PROVED"),
        step("paper/lemma-5", StepVerdict.CHECKED, basis="instances"),
        dataclasses.replace(step("paper/lemma-6", StepVerdict.CHECKED), scope=Scope.MORE_ASSUMED, narrower="f convex"),
        dataclasses.replace(
            step("paper/lemma-7", StepVerdict.TYPO, basis="", repaired="CHECKED"),
            scope=Scope.SPECIAL_CASE,
            narrower="m = 1",
        ),
    ]
    assert proofs._graded(steps, repaired=False).tally == (
        "7 steps: 2 proved, 1 textbook fact, 1 misprint, proved as meant, 1 proved with more assumed, "
        "1 checked in a special case, 1 checked on instances"
    )


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("pfl/theorem-3.7", ("pfl/lemma-3.1-5", "independent of each other")),
        ("pfl/theorem-4.5", ("pfl/lemma-3.1-5", "independent of each other")),
        ("fedsum/corollary-g.1-case-2-repaired", ("fedsum/theorem-4.1-5", "independent of the gradients' noise")),
        ("simfbo/theorem-1-repaired", ("simfbo/lemma-2-2", "the Hessian of every sample")),
        ("simfbo/theorem-1-repaired", ("simfbo/lyapunov-repaired", "mu_g <= L_1")),
        ("simfbo/theorem-1-repaired", ("simfbo/lemma-2-repaired", "condition eta_v")),
    ],
)
def test_added_assumptions_are_listed(key, expected):
    """What the paper does not print and the proof needs: by faults, by repaired forms, by what an argument is given."""
    where, what = expected
    assert [text for of, text in proofs.plan(key).added if of == where and what in text], proofs.plan(key).added


@pytest.mark.long
def test_the_printed_assumption_is_about_clients():
    """The statement says steps as well, and the paper does not: the proof of 3.7 is one of more than is printed."""
    printed = rc.proof("pfl/theorem-3.7", workers=1)
    assert printed.graph.grade is Grade.ASSUMED
    assert "more assumed than is printed" in printed._headline()
    assert "4 textbook facts, 1 misprint" in str(printed)
    assert "3 of 3 links are checked implications: 3 certified" in str(printed)


def test_what_no_step_says_is_open():
    """A part of a fact that no step says; lines of which none is the statement; a repair that may be another one."""
    proved = {"a": step("a", StepVerdict.PROVED)}
    x = sp.Symbol("x")
    whole = Fact(location="eq. (1)", quantity=x, bound=x, steps=("a",))
    assert proofs._fact("f", whole, proved, repaired=False).own is Grade.PROVED
    part = dataclasses.replace(whole, missing="round T")
    assert proofs._fact("f", part, proved, repaired=False).own is Grade.OPEN
    said = [dataclasses.replace(proved["a"], location="Lemma 1, statement")]
    assert proofs._by_lines("k", "", said, repaired=False, forms=1).own is Grade.PROVED
    assert proofs._by_lines("k", "", said, repaired=True, forms=2).own is Grade.OPEN
    assert proofs._by_lines("k", "", [*proved.values()], repaired=False, forms=1).own is Grade.OPEN


def test_repaired_lines_are_enough_where_a_step_puts_them_together():
    """A false line with a repaired form: open by itself, and proved with a proved step that joins the lines."""
    mended = step("a", StepVerdict.FALSE, repaired="PROVED")
    x = sp.Symbol("x")
    fact = Fact(location="eq. (1)", quantity=x, bound=x, steps=("a", "b"))
    joined = dataclasses.replace(fact, joined="b")
    for last, own in ((StepVerdict.PROVED, Grade.PROVED), (StepVerdict.CHECKED, Grade.OPEN)):
        found = {"a": mended, "b": step("b", last)}
        assert proofs._fact("f", fact, found, repaired=True).own is Grade.OPEN
        assert proofs._fact("f", joined, found, repaired=True).own is own
        assert "1 proved in a repaired form" in proofs._fact("f", joined, found, repaired=True).tally
    unproved = {"a": step("a", StepVerdict.FALSE, repaired="CHECKED"), "b": step("b", StepVerdict.PROVED)}
    assert proofs._fact("f", joined, unproved, repaired=True).own is Grade.CHECKED


@pytest.mark.parametrize("paper", claimed.PAPERS)
def test_every_fact_of_an_argument_has_its_steps(paper):
    """What an argument takes for granted is a definition, or steps of the ledger say it."""
    known = {each.id for each in ledger.load(ledger.module_of(paper))}
    facts = [fact for each in claimed.implications(paper) for fact in each.facts]
    assert paper == "textbook" or facts
    for fact in facts:
        assert bool(fact.steps) is not fact.by_definition, fact.location
        assert set(fact.steps) <= known
        assert not fact.joined or fact.joined in fact.steps


@pytest.mark.parametrize("paper", claimed.PAPERS)
def test_a_repaired_statement_rests_on_repaired_ones(paper):
    """Where the printed premise has a repaired form, the repaired conclusion does not name the printed one."""
    mended = {each.repairs for each in bounds.statements(paper) if each.repairs}
    for each in bounds.statements(paper):
        if each.repairs:
            assert not mended & set(each.follows_from), each.key


@pytest.mark.parametrize("paper", claimed.PAPERS)
def test_every_premise_is_in_the_graph(paper):
    """Whatever a statement says to follow from is reached, itself or by way of what the argument uses."""
    audited = {each.of for each in ledger.load(ledger.module_of(paper))}
    for statement in bounds.statements(paper):
        if statement.key in audited:
            plan = proofs.plan(statement.key)
            forms = {*plan.statements, *(bounds.get(each).repairs for each in plan.statements)}
            assert set(statement.follows_from) <= forms, statement.key


def test_a_proof_of_the_catalogue(cli, tmp_path):
    """Corollary C.3 of FedSUM: one link with a certificate, from a lemma that is proved for every participation."""
    file = tmp_path / "proof.svg"
    done = cli("audit", LIGHT, "--graph", str(file), "--workers", "1", "--json")
    assert done.returncode == 0
    data = json.loads(done.stdout)
    assert data["root"] == LIGHT
    assert data["grade"] == "PROVED"
    (link,) = data["links"]
    assert (link["grade"], link["how"]) == ("PROVED", "implication, 1 certificate")
    assert [each["own"] for each in data["nodes"]] == ["PROVED", "PROVED", "PROVED"]
    picture = file.read_text()
    assert "fedsum/lemma-c.2" in picture
    graph = ProofGraph.read(data)
    assert graph.fields().items() <= data.items()
    assert "1 of 1 links are checked implications" in graph_text(graph)
    assert len(graph_figure(graph).axes[0].texts) >= 2 * len(graph.nodes)


@pytest.mark.long
def test_an_argument_that_breaks_is_no_proof(cli, tmp_path):
    """FLAME's Theorem 2 does not follow from its Lemma 1 as printed: exit code 1, and the link is named."""
    done = cli("audit", "flame/theorem-2-unbiased", "--graph", str(tmp_path / "proof.pdf"), "--workers", "1")
    assert done.returncode == 1
    assert "the argument breaks" in done.stdout
    assert "flame/theorem-2-unbiased: the implication is false" in done.stdout


def test_an_answer_is_kept_until_something_changes(monkeypatch, tmp_path):
    """The second time nothing is computed; an implication that reads otherwise is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (implication,) = proofs.plan(LIGHT).implications
    first = implied([implication], workers=1)
    asked = []
    monkeypatch.setattr("ratecheck.auditing.implications.check", lambda *args, **_: asked.append(args))
    assert implied([implication], workers=1) == first
    assert not asked
    from ratecheck.auditing.cache_key import implication_digest

    other = next(each for each in claimed.implications("fedsum") if each.conclusion == "fedsum/corollary-d.3")
    assert implication_digest(other) != implication_digest(implication)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pfl", "--graph", "a.svg"], "--graph is of one statement"),
        (["--graph", "a.svg"], "--graph is of one statement"),
        (["pfl/theorem-3.7", "--graph", "a.svg", "--mutate"], "--graph is of one statement"),
        (["pfl/theorem-3.7", "--graph", "a.txt"], "a.txt cannot be written"),
        (["pfl/theorem-3.77", "--graph", "a.svg"], "pfl/theorem-3.77"),
        (["textbook/descent-lemma", "--graph", "a.svg"], "textbook"),
    ],
)
def test_bad_input_is_one_line(words, message, cli):
    """Exit code 2, and nothing computed."""
    done = cli("audit", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_verb_refuses_what_has_no_ledger():
    """A textbook statement has no ledger."""
    key = bounds.statements("textbook")[0].key
    with pytest.raises(InputError, match="no ledger"):
        rc.proof(key)


def test_repaired_forms_under_a_printed_statement_are_named():
    """What is read "as printed" may rest on repaired lemmas: the text says which, and the data keep it."""
    found = chain(Grade.OPEN, Grade.PROVED, Grade.FALSE)
    assert found.mended == ()
    nodes = {**found.nodes, "b": dataclasses.replace(found.nodes["b"], repairs="b-printed")}
    found = dataclasses.replace(found, nodes=nodes)
    assert found.mended == ("b",)
    assert "it rests on repaired forms in place of the printed ones: b\n" in graph_text(found)
    assert ProofGraph.read(found.fields()) == found
    assert (
        dataclasses.replace(found, nodes={**nodes, "a": dataclasses.replace(nodes["a"], repairs="a-printed")}).mended
        == ()
    )


def flawed():
    """A statement a from b by a broken argument, b from c, c from d, which is false itself; e beside d is proved."""
    nodes = {name: node(name, Grade.FALSE if name == "d" else Grade.PROVED) for name in "abcde"}
    links = (
        Link("a", ("b",), Grade.FALSE, "how", "the implication is false"),
        Link("b", ("c",), Grade.PROVED, "how"),
        Link("c", ("d", "e"), Grade.PROVED, "how"),
    )
    return ProofGraph("a", nodes, links)


def test_false_itself_a_broken_argument_and_a_false_premise_are_three_things():
    """Each node has the reason that is its own; what stands has none; data tell the same once more."""
    expected = {"a": Flaw.ARGUMENT, "b": Flaw.PREMISE, "c": Flaw.PREMISE, "d": Flaw.ITSELF}
    assert flawed().flaws == expected
    assert ProofGraph.read(flawed().fields()).flaws == expected
    assert chain(Grade.PROVED, Grade.CHECKED, Grade.OPEN).flaws == {}
    both = dataclasses.replace(flawed(), nodes={**flawed().nodes, "a": node("a", Grade.FALSE)})
    assert both.flaws["a"] is Flaw.ITSELF
    rows = graph_text(flawed()).splitlines()
    assert [row.count("FALSE itself") for row in rows if row.strip().startswith("d ")] == [1]


def test_a_figure_tells_what_is_false_from_what_rests_on_it():
    """The three kinds have their own words, grounds and lines, and stand in the legend; others do not."""
    axes = graph_figure(flawed()).axes[0]
    words = [text.get_text() for text in axes.texts]
    assert words.count(Flaw.PREMISE.value) == 2
    assert words.count(Flaw.ARGUMENT.value) == 1
    assert words.count("FALSE itself: 1 step") == 1
    assert words.count("1 step") == 1
    boxes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    looks = {(box.get_facecolor(), box.get_edgecolor(), box.get_linestyle()) for box in boxes}
    assert (len(boxes), len(looks)) == (5, 4)
    assert len({face for face, _, _ in looks}) == len({edge for _, edge, _ in looks}) == 4
    legend = {text.get_text() for text in axes.get_legend().get_texts()}
    assert {f"box: {flaw.value}" for flaw in Flaw} <= legend
    sound = graph_figure(chain(Grade.PROVED, Grade.CHECKED)).axes[0].get_legend().get_texts()
    assert {text.get_text() for text in sound} == {"PROVED", "CHECKED"}
