"""``rc.implications``, the command ``implications``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import bounds
from bounds.ledger.implication import Implication
from bounds.ledger.implications import implications as of_paper
from bounds.ledger.implications import of
from bounds.statement import Statement
from ratecheck.api.given import StatementLike
from ratecheck.api.result import Result
from ratecheck.auditing.implications import CheckedImplication, ImplicationVerdict, check
from ratecheck.execution import share
from ratecheck.views.implications import implication_fields, implication_text
from ratecheck.views.progress import progress


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ImplicationsResult(Result):
    """What the papers say to follow from what, each ``answers`` with its verdict and constants."""

    answers: tuple[CheckedImplication, ...]

    @property
    def verdict(self) -> ImplicationVerdict | None:
        """The worst: FALSE where one is, else UNKNOWN where one is; None where nothing is wrong."""
        verdicts = {answer.verdict for answer in self.answers}
        return next((v for v in (ImplicationVerdict.FALSE, ImplicationVerdict.UNKNOWN) if v in verdicts), None)

    def __str__(self) -> str:
        return "\n".join(map(implication_text, self.answers))

    def _headline(self) -> str:
        return f"{len(self.answers)} implications{'' if self.verdict is None else f', {self.verdict.value} among them'}"

    def _fields(self) -> dict[str, Any]:
        return {"implications": [implication_fields(answer) for answer in self.answers]}


def implications(scope: StatementLike | None = None, *, sharpest: bool = False) -> ImplicationsResult:
    """Whether conclusions follow from premises as the papers say, and with which constants at best.

    All implications, or those of the paper ``scope``, or those that conclude the statement ``scope``; the latter, and
    all with ``sharpest``, with the sharpest constants that the same argument gives (minutes for a paper). Computed on
    all cores. Raises `InputError` for an unknown paper or key.

    >>> import ratecheck as rc
    >>> len(rc.implications("pfl/corollary-3.8").answers)
    1
    """
    wanted = scope.key if isinstance(scope, Statement) else scope
    single = wanted is not None and "/" in wanted
    if wanted is not None and not single and wanted not in bounds.PAPERS:
        bounds.statements(wanted)  # says which papers there are
    papers = (wanted,) if wanted in bounds.PAPERS else bounds.PAPERS
    chosen = of(wanted) if wanted and single else [each for paper in papers for each in of_paper(paper)]
    return ImplicationsResult(tuple(_checked(chosen, sharpest=sharpest or single)))


def _checked(wanted: Sequence[Implication], *, sharpest: bool) -> list[CheckedImplication]:
    """The answers in order, computed side by side."""
    if len(wanted) <= 1:
        with progress("checking implications"):
            return [check(each, sharpest=sharpest) for each in wanted]
    answers: dict[int, CheckedImplication] = {}
    with progress("checking implications") as report:

        def done(number: int, answer: CheckedImplication) -> None:
            answers[number] = answer
            report(len(answers) / len(wanted))

        share(_answer, [(each, sharpest) for each in wanted], os.cpu_count() or 1, done)
    return [answers[number] for number in range(len(wanted))]


def _answer(implication: Implication, sharpest: bool) -> CheckedImplication:
    """The answer without its certificates, which are large to send between processes."""
    return dataclasses.replace(check(implication, sharpest=sharpest), certificates=())
