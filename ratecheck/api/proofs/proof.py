"""``rc.proof``, the command ``audit KEY --graph FILE``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bounds
from bounds.ledger.implications import implications
from bounds.statement import Statement
from ratecheck.api.given import StatementLike
from ratecheck.api.result import DrawnResult, target
from ratecheck.auditing import graph as proofs
from ratecheck.auditing import ledger
from ratecheck.auditing.finding import StepResult
from ratecheck.auditing.graph import Plan, ProofGraph
from ratecheck.auditing.implied import implied
from ratecheck.errors import InputError
from ratecheck.execution import executor
from ratecheck.views.drawing.graph import graph_figure
from ratecheck.views.progress import progress
from ratecheck.views.proofs.graph import graph_text, headline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class ProofResult(DrawnResult):
    """The proof of a statement as a ``graph``: what it follows from, how, and what keeps it from being proved."""

    graph: ProofGraph

    def __str__(self) -> str:
        return graph_text(self.graph)

    def _headline(self) -> str:
        return headline(self.graph)

    def _fields(self) -> dict[str, Any]:
        return {**self.graph.fields(), "file": self.file}

    def _draw(self) -> Figure:
        return graph_figure(self.graph)


def proof(
    statement: StatementLike,
    *,
    file: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> ProofResult:
    """The proof of a statement as a graph, every link of which is checked or said to be missing.

    A link is an implication between statements in the form that the argument uses, printed or repaired, with
    certificates; or it is missing, where the ledger has the lines of a proof and nothing that adds them up. What a
    statement or fact rests on itself are steps of the ledger. The graph's grade is PROVED where all of that is.
    ``file`` is where the picture goes (SVG, PDF or PNG). Answers are kept. ``workers`` and ``scheduler`` are those of
    `audit`. Raises `InputError` for an unknown key, for a statement whose paper has no ledger, and for a file that
    cannot be written.

    >>> import ratecheck as rc
    >>> found = rc.proof("pfl/corollary-3.8")  # doctest: +SKIP
    >>> found.graph.grade, found.graph.gaps[0]  # doctest: +SKIP
    """
    place = target(file)
    key = statement.key if isinstance(statement, Statement) else bounds.get(statement).key
    paper = key.partition("/")[0]
    if not ledger.has_ledger(paper):
        raise InputError(f"{key} has no graph: there is no ledger of its proof")
    return ProofResult(graph=graphs([key], {}, workers, scheduler)[key]).save(place)


def graphs(
    keys: Sequence[str], known: Mapping[str, StepResult], workers: int | None, scheduler: str | None
) -> dict[str, ProofGraph]:
    """The graphs of statements of one paper, of whose steps some are ``known``.

    They have most steps and implications in common, each of which is examined once.
    """
    paper = keys[0].partition("/")[0]
    plans = {key: proofs.plan(key) for key in keys}
    steps = dict(known)
    missing = [each for each in dict.fromkeys(i for plan in plans.values() for i in plan.steps) if each not in steps]
    if missing:
        with executor(scheduler, workers) as where, progress("auditing") as report:
            steps |= {each.id: each for each in ledger.audit([ledger.module_of(paper)], missing, report, where)}
    wanted = [each for each in implications(paper) if any(each in plan.implications for plan in plans.values())]
    with executor(scheduler, workers) as where, progress("checking implications") as report:
        answers = implied(wanted, report, where)

    def made(plan: Plan) -> ProofGraph:
        found = [answers[wanted.index(each)] for each in plan.implications]
        return proofs.graph(plan, [steps[each] for each in plan.steps], found)

    return {key: made(plan) for key, plan in plans.items()}
