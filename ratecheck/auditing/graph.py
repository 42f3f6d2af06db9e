"""The proof of a statement as a graph: what it follows from, which of these links are checked, and what is missing.

A statement follows from others by a *checked implication* (`auditing.implications`), whose premises are statements in
the form that the argument uses, printed or repaired, and facts that the proof shows on its way; or by the *lines* of
its own proof, which the ledger has as steps. Of lines it is known that each of them holds, not that they add up to the
statement, nor that a line after a repaired one needs no more than the repaired form gives.

What is established is counted by kind: links with certificates are told from those that are read and have none, and
proved lines from textbook facts, misprints and special cases. What a proof assumes beyond the printed text is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

import bounds
from bounds.ledger import implications as claimed
from bounds.ledger.fault import FaultKind, faults
from bounds.ledger.implication import Fact, Implication
from bounds.ledger.step import Scope, Step, StepKind
from bounds.numbers import counted
from bounds.statement import Statement
from ratecheck.auditing import ledger
from ratecheck.auditing.finding import StepResult, StepVerdict
from ratecheck.auditing.implications import How, ImplicationVerdict
from ratecheck.auditing.implied import Implied
from ratecheck.auditing.selection import closure
from ratecheck.plain import picked, plain, read


class Grade(Enum):
    """The grade of evidence, in order from best to worst."""

    PROVED = "PROVED"
    SOLVER = "PROVED, z3 only"
    ASSUMED = "PROVED, more assumed"
    CHECKED = "CHECKED"
    OPEN = "OPEN"
    FALSE = "FALSE"


class Flaw(Enum):
    """The reason for which a node does not stand; of several the first counts."""

    ITSELF = "FALSE itself"
    ARGUMENT = "its argument is broken"
    PREMISE = "a premise of it is FALSE"


_ORDER = list(Grade)


def worst(grades: Iterable[Grade]) -> Grade:
    """The worst of some grades; PROVED where there is none."""
    return max(grades, key=_ORDER.index, default=Grade.PROVED)


@dataclass(frozen=True)
class Link:
    """``conclusion`` from ``premises``, ids of nodes, and how: the ``grade`` is of the link, not of its premises.

    ``missing`` says what a link that is not proved lacks. ``certificates`` is how many a proved one has: with none, its
    two sides are the same expression, which is read and not certified.
    """

    conclusion: str
    premises: tuple[str, ...]
    grade: Grade
    how: str
    missing: str = ""
    certificates: int = 0

    @property
    def kind(self) -> str:
        """The evidence for the link, in words."""
        if self.grade is Grade.PROVED:
            return "certified" if self.certificates else READ
        return {Grade.SOLVER: "on the word of z3", Grade.FALSE: "false"}.get(self.grade, "open")


READ = "read, not certified"


@dataclass(frozen=True)
class Node:
    """A statement, named by its key, or a fact within a proof, named by the statement and its place among the facts.

    ``own`` is the grade of its own steps of the ledger, where these are what it rests on: ``tally`` counts them,
    ``kinds`` has their ids by kind, ``why`` says what they lack, and ``steps`` are those that are not proved. ``label``
    is its name in a figure. ``repairs`` is the printed statement in whose place it stands.
    """

    id: str
    label: str
    text: str
    is_fact: bool = False
    own: Grade = Grade.PROVED
    tally: str = ""
    why: str = ""
    steps: tuple[str, ...] = ()
    repairs: str = ""
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The key of a statement; of a fact what it is about, and in whose proof."""
        return f"{self.id.partition(' ')[0]}, {self.label}" if self.is_fact else self.id


@dataclass(frozen=True)
class ProofGraph:
    """The statement ``root`` with all that it follows from; ``added`` is what is assumed and not printed, and where."""

    root: str
    nodes: Mapping[str, Node]
    links: tuple[Link, ...]
    added: tuple[tuple[str, str], ...] = ()

    def above(self, node: str) -> tuple[Link, ...]:
        """The links that conclude a node; all of them are needed, each for a case of its own."""
        return self._by_conclusion.get(node, ())

    @cached_property
    def _by_conclusion(self) -> dict[str, tuple[Link, ...]]:
        found: dict[str, tuple[Link, ...]] = {}
        for link in self.links:
            found[link.conclusion] = (*found.get(link.conclusion, ()), link)
        return found

    @cached_property
    def grades(self) -> dict[str, Grade]:
        """The grade of every node with all that it rests on."""
        found: dict[str, Grade] = {}

        def visit(node: str, below: tuple[str, ...]) -> Grade:
            if node in below:
                return Grade.OPEN
            if node not in found:
                parts = [self.nodes[node].own]
                for link in self.above(node):
                    parts += [link.grade, *(visit(premise, (*below, node)) for premise in link.premises)]
                found[node] = worst(parts)
            return found[node]

        visit(self.root, ())
        return found

    @cached_property
    def flaws(self) -> dict[str, Flaw]:
        """The flaws of nodes with the grade FALSE: refuted themselves, by a false link, by a premise of that grade."""
        found: dict[str, Flaw] = {}
        for each, grade in self.grades.items():
            if grade is Grade.FALSE:
                broken = any(link.grade is Grade.FALSE for link in self.above(each))
                refuted = self.nodes[each].own is Grade.FALSE
                found[each] = Flaw.ITSELF if refuted else Flaw.ARGUMENT if broken else Flaw.PREMISE
        return found

    @property
    def grade(self) -> Grade:
        """The grade of the statement: PROVED where every link and every step that it rests on is.

        Of a printed one whose proof assumes what is not printed, it is no better than that.
        """
        printed = not self.nodes[self.root].repairs
        return worst((self.grades[self.root], *([Grade.ASSUMED] if printed and self.added else [])))

    @cached_property
    def mended(self) -> tuple[str, ...]:
        """Repaired forms that the argument of a printed statement rests on."""
        printed = not self.nodes[self.root].repairs
        return tuple(node.id for node in self.nodes.values() if node.repairs) if printed else ()

    @property
    def counts(self) -> tuple[int, int]:
        """The links that are proved, and all."""
        return sum(each.grade in _PROVED for each in self.links), len(self.links)

    @cached_property
    def kinds(self) -> Mapping[str, int]:
        """The number of links of each kind."""
        return Counter(each.kind for each in self.links)

    @cached_property
    def step_kinds(self) -> Mapping[str, int]:
        """The number of distinct steps of the ledger that the graph rests on, by kind."""
        found: dict[str, set[str]] = {}
        for node in self.nodes.values():
            for kind, steps in node.kinds.items():
                found.setdefault(kind, set()).update(steps)
        return {kind: len(found[kind]) for kind in _KINDS if kind in found}

    def walk(self) -> Iterator[tuple[int, Node]]:
        """Every node once, with its distance from the statement, the nearest first."""
        seen, level = {self.root}, [self.root]
        depth = 0
        while level:
            yield from ((depth, self.nodes[each]) for each in level)
            following: list[str] = []
            for each in level:
                for premise in (p for link in self.above(each) for p in link.premises):
                    if premise not in seen:
                        seen.add(premise)
                        following.append(premise)
            level, depth = following, depth + 1

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """The gaps that keep the statement from being proved, the nearest to it first."""
        found = []
        for _, node in self.walk():
            found += [f"{node.name}: {link.missing}" for link in self.above(node.id) if link.missing]
            if node.own not in _PROVED:
                found.append(": ".join(dict.fromkeys((node.name, node.tally, node.why))))
        return tuple(found)

    def fields(self) -> dict[str, Any]:
        """The graph as JSON data."""
        nodes = [
            {
                **picked(node, "id", "label", "text", "is_fact", "own"),
                "with_premises": self.grades[node.id],
                **picked(node, "tally", "why", "steps", "kinds", "repairs"),
            }
            for node in self.nodes.values()
        ]
        parts = ("conclusion", "premises", "grade", "how", "kind", "certificates", "missing")
        found: dict[str, Any] = plain(
            {
                **picked(self, "root", "grade"),
                "nodes": nodes,
                "links": [picked(each, *parts) for each in self.links],
                "mended": self.mended,
                "added": [{"of": of, "what": what} for of, what in self.added],
                "counts": {"links": self.kinds, "steps": self.step_kinds},
                "gaps": self.gaps,
            }
        )
        return found

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> ProofGraph:
        """The inverse of `fields`."""
        nodes = (read(Node, each) for each in fields["nodes"])
        links = tuple(read(Link, each) for each in fields["links"])
        added = tuple((each["of"], each["what"]) for each in fields["added"])
        return cls(fields["root"], {node.id: node for node in nodes}, links, added)


# --- What there is to look at ---


@dataclass(frozen=True)
class Plan:
    """The parts of the graph of ``root``: the statements, the implications that conclude them, the ledger's steps.

    ``by_lines`` are the statements that follow by the lines of their own proofs. ``beside`` are the premises that no
    implication has, each with the reason. ``added`` is what is assumed and not printed, and where.
    """

    root: str
    statements: tuple[str, ...]
    implications: tuple[Implication, ...]
    by_lines: frozenset[str]
    beside: Mapping[str, tuple[tuple[str, str], ...]]
    steps: tuple[str, ...]
    added: tuple[tuple[str, str], ...] = ()


def plan(root: str) -> Plan:
    """The plan for a statement of the catalogue, whose paper has a ledger."""
    paper = root.partition("/")[0]
    every = ledger.load(ledger.module_of(paper))
    of: dict[str, list[str]] = {}
    for step in every:
        of.setdefault(step.of, []).append(step.id)
    known = claimed.implications(paper)
    behind: dict[str, list[str]] = {}
    for each in known:
        behind.setdefault(each.conclusion, []).extend(each.premises)
    reasons = {key: dict.fromkeys(premises, why) for key, premises, why in claimed.audited(paper)}
    by_lines: set[str] = set()
    beside: dict[str, tuple[tuple[str, str], ...]] = {}
    chosen: list[Implication] = []
    steps: dict[str, None] = {}
    todo, seen = [root], {root: None}
    while todo:
        key = todo.pop(0)
        statement = bounds.get(key)
        mine = [each for each in known if each.conclusion == key]
        used = dict.fromkeys(premise for each in mine for premise in each.premises)
        # What an argument uses by way of another statement, or in a repaired form, it does not use once more.
        covered = {key, *closure(used, behind)} if mine else {key}
        covered |= {bounds.get(each).repairs for each in covered}
        named = dict.fromkeys((*statement.follows_from, *reasons.get(key, {})))
        rest = [each for each in named if each not in covered]
        beside[key] = tuple((each, reasons.get(key, {}).get(each, "")) for each in rest)
        if mine:
            chosen += mine
            steps |= dict.fromkeys(step for each in mine for fact in each.facts for step in fact.steps)
            steps |= dict.fromkeys(_end_to_end(every, of.get(key) or of.get(statement.repairs, [])))
        else:
            by_lines.add(key)
            steps |= dict.fromkeys(of.get(key) or of.get(statement.repairs, []))
        for premise in (*used, *rest):
            if premise not in seen:
                seen[premise] = None
                todo.append(premise)
    ordered = tuple(each.id for each in every if each.id in steps)
    added = tuple(_added(paper, every, [*seen], ordered, chosen))
    return Plan(root, tuple(seen), tuple(chosen), frozenset(by_lines), beside, ordered, added)


# What a proof assumes that is not printed, or excludes.
_MORE = (FaultKind.ASSUMPTION, FaultKind.EDGE_CASE)


def _added(
    paper: str, every: Sequence[Step], keys: Sequence[str], used: Sequence[str], chosen: Sequence[Implication]
) -> Iterator[tuple[str, str]]:
    """The places where something is assumed that the paper does not print, and the assumptions.

    That is what readers filed as missing in the proofs of these statements, or what is read of the steps in use; what
    repaired forms assume besides; and what is given to an implication and no statement says.
    """
    steps = {each.id: each for each in every}
    concerned = {*keys, *(bounds.get(key).repairs for key in keys)}
    assumed = {each for key in keys for each in bounds.get(key).assumptions}
    for fault in faults(paper):
        here = fault.assumption in assumed or concerned & {*fault.changes, *(steps[each].of for each in fault.steps)}
        if here and fault.kind in _MORE and not fault.headline:
            first = steps[fault.id]
            yield fault.id, f"{fault.kind.text}: {first.repair or fault.meant}"
    for each in used:
        if steps[each].scope is Scope.MORE_ASSUMED:
            yield each, steps[each].narrower
    for key in keys:
        yield from _beyond(bounds.get(key))
    for implication in chosen:
        for condition in implication.given:
            yield implication.conclusion, f"given to its argument: {condition.text}"


def _beyond(statement: Statement) -> Iterator[tuple[str, str]]:
    """The assumptions and conditions of a repaired form that the printed one does not have."""
    if statement.repairs:
        printed = bounds.get(statement.repairs)
        known = {each.text for each in printed.hypotheses}
        more = [each.value for each in statement.assumptions if each not in printed.assumptions]
        more += [f"condition {each.name}" for each in statement.hypotheses if each.text not in known]
        if more:
            yield statement.key, f"in place of what {printed.key} prints: {', '.join(dict.fromkeys(more))}"


def _end_to_end(every: Sequence[Any], ids: Sequence[str]) -> list[str]:
    return [each.id for each in every if each.id in ids and each.kind is StepKind.END_TO_END]


# --- The graph ---


def graph(plan: Plan, findings: Sequence[StepResult], answers: Sequence[Implied]) -> ProofGraph:
    """The graph from what was found on the plan's steps and implications, the latter in the plan's order."""
    found = {each.id: each for each in findings}
    of: dict[str, list[StepResult]] = {}
    for each in findings:
        of.setdefault(each.of, []).append(each)
    nodes: dict[str, Node] = {}
    links: list[Link] = []
    for key in plan.statements:
        statement = bounds.get(key)
        whole = [each for each in of.get(key, []) if each.end_to_end]
        if beside := plan.beside[key]:
            reasons = "; ".join(dict.fromkeys(reason for _, reason in beside if reason))
            links.append(_lines(key, tuple(premise for premise, _ in beside), reasons))
        if key in plan.by_lines:
            repaired = not of.get(key) and bool(statement.repairs)
            lines = of.get(key) or of.get(statement.repairs, [])
            forms = _forms(statement) if repaired else 1
            nodes[key] = _by_lines(key, statement.title, lines, repaired=repaired, forms=forms)
            continue
        if statement.repairs and not whole:
            # What the ledger has of the repaired form on runs is filed under the printed one.
            refuted = [each for each in of.get(statement.repairs, []) if _refutes_repair(each)]
        else:
            refuted = [each for each in whole if each.verdict in (StepVerdict.FALSE, StepVerdict.TYPO)]
        nodes[key] = _implied_node(key, statement.title, [each.id for each in refuted])
    for key in plan.statements:
        nodes[key] = replace(nodes[key], repairs=bounds.get(key).repairs)
    for number, (implication, answer) in enumerate(zip(plan.implications, answers, strict=True), 1):
        premises = list(implication.premises)
        for place, fact in enumerate(implication.facts, 1):
            repaired = bool(bounds.get(implication.conclusion).repairs)
            node = _fact(f"{implication.conclusion} #{number}.{place}", fact, found, repaired=repaired)
            nodes[node.id] = node
            premises.append(node.id)
        links.append(_implied(implication, answer, tuple(premises)))
    return ProofGraph(plan.root, nodes, tuple(links), plan.added)


def _implied_node(key: str, title: str, refuted: Sequence[str]) -> Node:
    """A statement that an implication gives; on runs it may be refuted all the same."""
    if not refuted:
        return Node(key, key, title)
    why = f"refuted by {refuted[0]}"
    return Node(key, key, title, own=Grade.FALSE, tally=why, why=why, steps=tuple(refuted))


def _implied(implication: Implication, answer: Implied, premises: tuple[str, ...]) -> Link:
    if answer.verdict is ImplicationVerdict.PROVED:
        if answer.how is How.SOLVER:
            return Link(implication.conclusion, premises, Grade.SOLVER, "implication, z3 only")
        count = answer.certificates
        many = counted(count, "certificate") if count else f"both sides the same: {READ}"
        return Link(implication.conclusion, premises, Grade.PROVED, f"implication, {many}", certificates=count)
    if answer.verdict is ImplicationVerdict.FALSE:
        missing = "the implication is false: admissible numbers break it ('ratecheck implications')"
        return Link(implication.conclusion, premises, Grade.FALSE, "implication", missing)
    missing = f"the implication is open: {'; '.join(dict.fromkeys(answer.open))}"
    return Link(implication.conclusion, premises, Grade.OPEN, "implication", missing)


def _lines(key: str, premises: tuple[str, ...], reason: str) -> Link:
    said = f": {reason}" if reason else ""
    missing = f"no checked implication from {', '.join(premises)}{said}"
    return Link(key, premises, Grade.OPEN, "the lines of its proof", missing)


def _forms(statement: Statement) -> int:
    """The number of repaired forms of the printed statement."""
    return sum(each.repairs == statement.repairs for each in bounds.statements(statement.key.partition("/")[0]))


def _refutes_repair(step: StepResult) -> bool:
    """Whether a step on runs, filed under the printed statement, refutes the repaired one."""
    if not step.end_to_end:
        return False
    return step.repaired == "FALSE" or (step.verdict is StepVerdict.FALSE and "not printed" in step.location)


def _fact(name: str, fact: Fact, found: Mapping[str, StepResult], *, repaired: bool) -> Node:
    label, text = f"{fact.quantity}, {fact.location}", f"{fact.quantity} <= {fact.bound}, {fact.location}"
    if fact.by_definition:
        return Node(name, label, text, is_fact=True, tally="by definition")
    if not fact.steps:
        why = f"{fact.location} is taken for granted"
        return Node(name, label, text, is_fact=True, own=Grade.OPEN, tally="taken for granted", why=why)
    joined = bool(fact.joined) and _of_step(found[fact.joined], repaired=repaired) in _PROVED
    node = _graded([found[step] for step in fact.steps], repaired=repaired, joined=joined)
    node = replace(node, id=name, label=label, text=text, is_fact=True)
    if fact.missing:
        why = "; ".join(each for each in (node.why, fact.missing) if each)
        return replace(node, own=worst((node.own, Grade.OPEN)), why=why)
    return node


def _by_lines(key: str, title: str, lines: Sequence[StepResult], *, repaired: bool, forms: int) -> Node:
    if not lines:
        why = "no step of the ledger is about it"
        return Node(key, key, title, own=Grade.OPEN, tally=why, why=why)
    node = replace(_graded(lines, repaired=repaired), id=key, label=key, text=title)
    lacking = [node.why] if node.why else []
    if not any(step.end_to_end or "statement" in step.location for step in lines):
        lacking.append("no step is the statement itself")
    if forms > 1:
        lacking.append("the ledger does not tell its repaired forms apart")
    if len(lacking) > bool(node.why):
        return replace(node, own=worst((node.own, Grade.OPEN)), why="; ".join(lacking))
    return node


def _graded(steps: Sequence[StepResult], *, repaired: bool, joined: bool = False) -> Node:
    """A node without a name: the grade of some steps, their kinds, what they lack, and those that are not proved.

    ``repaired`` requests the repaired form of those that are false. ``joined`` says that a step puts them together in
    these forms.
    Where the statement itself is a step, and proved, the lines that lead to it do not matter.
    """
    whole = [step for step in steps if step.end_to_end]
    if whole and worst(_of_step(step, repaired=repaired) for step in whole) in _PROVED:
        steps = whole
    grades = [_of_step(step, repaired=repaired) for step in steps]
    grade = worst(grades)
    by_kind: dict[str, tuple[str, ...]] = {}
    for step, each in zip(steps, grades, strict=True):
        kind = _kind(step, each)
        by_kind[kind] = (*by_kind.get(kind, ()), step.id)
    kinds = {kind: by_kind[kind] for kind in _KINDS if kind in by_kind}
    tally = steps_by_kind({kind: len(ids) for kind, ids in kinds.items()})
    lacking = [step.id for step, each in zip(steps, grades, strict=True) if each not in _PROVED]
    worse = [step for step, each in zip(steps, grades, strict=True) if each is grade]
    why = [f"{worse[0].id} is {grade.value}{_narrower(worse[0])}"] if lacking else []
    mended = [step.id for step in steps if step.verdict is StepVerdict.FALSE and step.mended and not step.end_to_end]
    if mended and not joined:
        # What the lines after them need was printed for another form.
        why.append(
            f"{mended[0]} holds in a repaired form, and nothing checks that this is enough for the lines after it"
        )
        grade = worst((grade, Grade.OPEN))
        lacking += mended
    lacks = tuple(dict.fromkeys(lacking))
    return Node("", "", "", own=grade, tally=tally, why="; ".join(why), steps=lacks, kinds=kinds)


def steps_by_kind(kinds: Mapping[str, int]) -> str:
    """The number of steps in all and of each kind, in words."""
    parts = ", ".join(f"{each} {_KINDS[kind] if each > 1 else kind}" for kind, each in kinds.items())
    return f"{counted(sum(kinds.values()), 'step')}: {parts}"


def _narrower(step: StepResult) -> str:
    return f", {step.scope.value}: {step.narrower}" if step.special else ""


# The kinds of steps, with their plurals.
_KINDS: Mapping[str, str] = {
    "proved": "proved",
    "proved on the word of z3": "proved on the word of z3",
    "textbook fact": "textbook facts",
    "misprint, proved as meant": "misprints, proved as meant",
    "proved in a repaired form": "proved in a repaired form",
    "proved with more assumed": "proved with more assumed",
    "checked in a special case": "checked in a special case",
    "checked on instances": "checked on instances",
    "misprint, checked as meant": "misprints, checked as meant",
    "checked in a repaired form": "checked in a repaired form",
    "open": "open",
    "false": "false",
}


def _kind(step: StepResult, grade: Grade) -> str:
    """The kind of a step with this grade."""
    if grade in (Grade.OPEN, Grade.FALSE):
        return grade.value.lower()
    if step.verdict is StepVerdict.STANDARD:
        return "textbook fact"
    if grade is Grade.ASSUMED:
        return "proved with more assumed"
    how = "proved" if grade in _PROVED else "checked"
    if step.verdict in _AS_MEANT:
        return "checked in a special case" if step.special else _AS_MEANT[step.verdict].format(how)
    if grade is Grade.CHECKED:
        return "checked in a special case" if step.special else "checked on instances"
    return "proved on the word of z3" if grade is Grade.SOLVER else "proved"


_AS_MEANT = {StepVerdict.TYPO: "misprint, {} as meant", StepVerdict.FALSE: "{} in a repaired form"}


_PROVED = (Grade.PROVED, Grade.SOLVER)


def _of_step(step: StepResult, *, repaired: bool) -> Grade:
    if step.special and step.verdict is StepVerdict.CHECKED:
        more = step.scope is Scope.MORE_ASSUMED and step.basis != "instances"
        return Grade.ASSUMED if more else Grade.CHECKED
    known = {
        StepVerdict.PROVED: Grade.PROVED if step.certified else Grade.SOLVER,
        StepVerdict.STANDARD: Grade.PROVED,
        StepVerdict.CHECKED: Grade.CHECKED,
        StepVerdict.UNKNOWN: Grade.OPEN,
    }
    if step.verdict in known:
        return known[step.verdict]
    if step.end_to_end and not repaired:
        return Grade.FALSE
    return {"PROVED": Grade.PROVED, "CHECKED": Grade.CHECKED}.get(step.repaired, Grade.OPEN)
