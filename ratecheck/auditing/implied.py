"""Whether implications hold, in worker processes, with a cache by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bounds.ledger import implications as claimed
from bounds.ledger.implication import Implication
from ratecheck.aliases import Progress
from ratecheck.auditing.implications import How, ImplicationVerdict
from ratecheck.auditing.ledger import ResultStore
from ratecheck.execution import Executor, cores, shared
from ratecheck.plain import plain, read


@dataclass(frozen=True)
class Implied:
    """The answer for one implication: what it rests on, how many certificates it has, and what is open."""

    verdict: ImplicationVerdict
    how: How | None
    certificates: int
    open: tuple[str, ...]


def implied(
    implications: Sequence[Implication], progress: Progress | None = None, workers: int | Executor | None = None
) -> list[Implied]:
    """The answers in order; those that are known are not computed again."""
    store = ResultStore()
    folder = None if isinstance(workers, Executor) or store.folder is None else str(store.folder)
    tasks = []
    for each in implications:
        paper = each.conclusion.partition("/")[0]
        tasks.append((paper, claimed.implications(paper).index(each), folder))
    return [read(Implied, each) for each in shared(work_on, tasks, workers or cores(), progress)]


def work_on(paper: str, place: int, folder: str | None) -> dict[str, Any]:
    """The answer for an implication of a paper, as data; one that is not the same in every run is not kept."""
    from ratecheck.algebra.positivity.smt import SOLVER
    from ratecheck.auditing.cache_key import implication_digest
    from ratecheck.auditing.implications import check

    implication = claimed.implications(paper)[place]
    store = ResultStore(None if folder is None else Path(folder))
    key = f"implied-{implication_digest(implication)}"
    kept: dict[str, Any] | None = store.get(key)
    if kept is None:
        killed = SOLVER.killed
        answer = check(implication, sharpest=False)
        kept = plain(Implied(answer.verdict, answer.how, len(answer.certificates), answer.open))
        if SOLVER.killed == killed:
            store.put(key, kept)
    return kept
