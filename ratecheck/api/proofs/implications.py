"""``rc.implications``, the command ``implications``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bounds
from bounds.ledger.implication import Implication
from bounds.ledger.implications import implications as of_paper
from bounds.ledger.implications import of
from bounds.statement import Statement
from ratecheck.api.given import StatementLike
from ratecheck.api.proofs.proof_files import ProofFiles
from ratecheck.api.result import Result
from ratecheck.auditing.export.certificates import answered
from ratecheck.auditing.export.claim_data import identified
from ratecheck.auditing.implications import CheckedImplication, ImplicationVerdict, check, obligation_steps
from ratecheck.execution import cores, shared
from ratecheck.views.progress import progress
from ratecheck.views.proofs.certificates import leaving_text
from ratecheck.views.proofs.implications import implication_fields, implication_text


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ImplicationsResult(Result):
    """The implications of the papers, each ``answers`` with its verdict and constants.

    ``certificates`` are those of the inequalities that the proved ones come down to, with the reason where there is
    none, if they were requested; ``file`` says where they were written.
    """

    answers: tuple[CheckedImplication, ...]
    certificates: tuple[Mapping[str, Any], ...] = ()
    file: str = ""

    @property
    def verdict(self) -> ImplicationVerdict | None:
        """The worst: FALSE where one is, else UNKNOWN where one is; None where nothing is wrong."""
        verdicts = {answer.verdict for answer in self.answers}
        return next((v for v in (ImplicationVerdict.FALSE, ImplicationVerdict.UNKNOWN) if v in verdicts), None)

    @property
    def proved(self) -> tuple[Implication, ...]:
        """Implications that are proved."""
        return tuple(each.implication for each in self.answers if each.verdict is ImplicationVerdict.PROVED)

    def __str__(self) -> str:
        written = [leaving_text(self.certificates, self.file, "inequalities")] if self.file else []
        return "\n".join([*map(implication_text, self.answers), *written])

    def _headline(self) -> str:
        return f"{len(self.answers)} implications{'' if self.verdict is None else f', {self.verdict.value} among them'}"

    def _fields(self) -> dict[str, Any]:
        steps = [step for each in self.proved for step in obligation_steps(each)]
        return {
            "implications": [implication_fields(answer) for answer in self.answers],
            "steps": [{"id": step.id, "digest": identified(step)[0]} for step in steps],
        }


def implications(
    scope: StatementLike | None = None,
    *,
    sharpest: bool = False,
    certificates: str | Path | None = None,
    coq: str | Path | None = None,
) -> ImplicationsResult:
    """Whether conclusions follow from premises as the papers say, and with which constants at best.

    All implications, or those of the paper ``scope``, or those that conclude the statement ``scope``; the latter, and
    all with ``sharpest``, with the sharpest constants that the same argument gives (minutes for a paper). The
    inequalities that the proved ones come down to are written to ``certificates``, a file for `recheck.py`, and to
    ``coq``, one of lemmas for Coq (``.v``). Computed on all cores. Raises `InputError` for an unknown paper or key, and
    for a file that cannot be written.

    >>> import ratecheck as rc
    >>> len(rc.implications("pfl/corollary-3.8").answers)
    1
    """
    targets = ProofFiles.of(certificates, coq)
    wanted = scope.key if isinstance(scope, Statement) else scope
    single = wanted is not None and "/" in wanted
    if wanted is not None and not single and wanted not in bounds.PAPERS:
        bounds.statements(wanted)  # says which papers there are
    papers = (wanted,) if wanted in bounds.PAPERS else bounds.PAPERS
    chosen = of(wanted) if wanted and single else [each for paper in papers for each in of_paper(paper)]
    result = ImplicationsResult(tuple(_checked(chosen, sharpest=sharpest or single)))
    if not targets.wanted:
        return result
    with progress("writing certificates") as report:
        proofs = shared(_proofs, [(each,) for each in result.proved], cores(), report)
    found = tuple(each for several in proofs for each in several)
    result = dataclasses.replace(result, certificates=found)
    with result.kept():
        return dataclasses.replace(result, file=targets.save(found))


def _checked(wanted: Sequence[Implication], *, sharpest: bool) -> list[CheckedImplication]:
    """The answers in order, computed side by side."""
    if len(wanted) <= 1:
        with progress("checking implications"):
            return [check(each, sharpest=sharpest) for each in wanted]
    with progress("checking implications") as report:
        return shared(_answer, [(each, sharpest) for each in wanted], cores(), report)


def _proofs(implication: Implication) -> list[dict[str, Any]]:
    """The certificates of what an implication comes down to, with the reason where there is none."""
    return [answered(step) for step in obligation_steps(implication)]


def _answer(implication: Implication, sharpest: bool) -> CheckedImplication:
    """The answer without its certificates, which are large to send between processes."""
    return dataclasses.replace(check(implication, sharpest=sharpest), certificates=())
