"""The graph of a proof as text."""

from __future__ import annotations

from ratecheck.auditing.graph import Grade, ProofGraph, steps_by_kind
from ratecheck.views.width import table

_MEANING = {
    Grade.PROVED: "every link is a checked implication, and every step is proved or a textbook fact",
    Grade.SOLVER: "every link is a checked implication, and every step is proved, some on the word of z3 only",
    Grade.ASSUMED: "every link is a checked implication, and every step is proved, with more assumed than is printed",
    Grade.CHECKED: "every link is a checked implication, but some steps were only checked",
    Grade.OPEN: "the graph is not complete",
    Grade.FALSE: "the argument breaks: a link or a statement that it rests on is false",
}


def graph_text(graph: ProofGraph) -> str:
    """The statement, what it rests on with the distance from it, and what keeps it from being proved."""
    rows = [["", "with all that it rests on", "itself", "by"]]
    for depth, node in graph.walk():
        above = graph.above(node.id)
        ways = [f"{each.how} from {len(each.premises)}: {each.grade.value}" for each in above]
        flaw = graph.flaws.get(node.id)
        by = "; ".join(each for each in ("" if flaw is None else flaw.value, *ways, node.tally) if each)
        rows.append(
            ["  " * depth + (node.label if node.is_fact else node.id), graph.grades[node.id].value, node.own.value, by]
        )
    parts = [headline(graph), "", table(rows)]
    if graph.mended:
        parts += ["", f"it rests on repaired forms in place of the printed ones: {', '.join(graph.mended)}"]
    if graph.gaps:
        parts += ["", "what keeps it from being proved, the nearest first"]
        parts += [f"  {number}. {gap}" for number, gap in enumerate(graph.gaps, 1)]
    if graph.added:
        parts += ["", "what it assumes that is not printed, or printed otherwise"]
        parts += [f"  {of}: {what}" for of, what in graph.added]
    return "\n".join([*parts, "", *tallies(graph)])


def tallies(graph: ProofGraph) -> list[str]:
    """The parts of the graph by kind: its links, and the steps of the ledger."""
    proved, links = graph.counts
    kinds = ", ".join(f"{count} {kind}" for kind, count in graph.kinds.items())
    found = [f"{proved} of {links} links are checked implications{': ' * bool(kinds)}{kinds}"]
    if graph.step_kinds:
        found.append(steps_by_kind(graph.step_kinds))
    return found


def headline(graph: ProofGraph) -> str:
    """Statement, grade, and what the grade means."""
    return f"{graph.root}: {graph.grade.value}: {_MEANING[graph.grade]}"
