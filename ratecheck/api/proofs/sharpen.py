"""``rc.sharpen``, the command ``sharpen``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bounds
from bounds.statement import Statement
from ratecheck.api.given import StatementLike
from ratecheck.api.proofs.proof_files import ProofFiles
from ratecheck.api.result import Result
from ratecheck.auditing import sharpen as proofs
from ratecheck.auditing.sharpen import SharperTheorem
from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsified import Falsified
from ratecheck.falsification.falsify import falsify_to_the_end
from ratecheck.inputs import whole
from ratecheck.outcome import Outcome
from ratecheck.plain import picked_or_none
from ratecheck.views.progress import progress
from ratecheck.views.proofs.sharpen import leaving_text, sharpen_fields, sharpen_text


@dataclass(frozen=True, eq=False, repr=False)
class SharpenResult(Result):
    """A ``theorem`` whose constants are as small as its proof allows, with the lemmas that became sharper.

    ``search`` is what a search for violations of the sharper theorem found, None where there was none; ``file`` says
    where the proofs were written.
    """

    theorem: SharperTheorem
    search: Falsified | None = None
    file: str = ""

    @property
    def statement(self) -> Statement:
        """The theorem with its sharper constants, which `bound`, `verify` and the others take as any statement."""
        return self.theorem.theorem.sharper

    def __str__(self) -> str:
        text = sharpen_text(self.theorem)
        if self.search is not None:
            text += f"\n  {self._gap()}"
        return f"{text}\n{leaving_text(self.theorem, self.file)}" if self.file else text

    def _gap(self) -> str:
        assert self.search is not None
        if self.search.outcome is Outcome.VIOLATED:
            return "refuted by an instance: something that it rests on is false"
        if self.search.tightness is None:
            return "worst instance: none was found on which it says something"
        ratio = self.search.tightness
        return f"worst instance found: left / right {ratio:.4g}, in {self.search.evaluations} evaluations"

    def _headline(self) -> str:
        many = sum(len(each.constants) for each in self.theorem.statements)
        return f"{self.theorem.theorem.printed.key}: {many} sharper constants in its proof"

    def _fields(self) -> dict[str, Any]:
        search = picked_or_none(self.search, "outcome", "tightness", "evaluations")
        return {**sharpen_fields(self.theorem), "search": search, "file": self.file}


def sharpen(
    statement: StatementLike,
    *,
    caps: bool = False,
    evaluations: int = 0,
    seed: int = 0,
    certificates: str | Path | None = None,
    coq: str | Path | None = None,
) -> SharpenResult:
    """The theorem with the smallest constants for which its proof by implications still has certificates.

    The factors of its right side, and of the lemmas that implications derive, are made smaller one after the other, all
    of them holding together; with ``caps`` upper limits on step sizes are widened before that. Numbers are rounded up
    to simple fractions. With ``evaluations`` > 0 the sharper theorem is searched for violations, so that the gap to
    the worst instance is seen. ``certificates`` is a file for all inequalities, for `recheck.py`, ``coq`` one of lemmas
    for Coq (``.v``). Takes from seconds to minutes. Raises `InputError` for an unknown key, for a statement that no
    implication concludes or that bounds an order, and for a file that cannot be written.

    >>> import ratecheck as rc
    >>> found = rc.sharpen("pfl/lemma-3.6-recursion")
    >>> [(each.place, str(each.printed), str(each.sharper)) for each in found.theorem.theorem.constants]
    [('gradients', '2', '3/16'), ('noise', '2', '3/32')]
    """
    whole("evaluations", evaluations, 0)
    targets, file = ProofFiles.of(certificates, coq), ""
    if isinstance(statement, str) and bounds.own.is_own(statement):
        raise InputError(f"{statement}: sharper constants come from implications, which only the catalogue's have")
    key = statement.key if isinstance(statement, Statement) else bounds.get(statement).key
    with progress("sharpening") as report:
        found = proofs.sharpen(key, caps=caps, report=report)
    search = None
    if evaluations:
        with progress("searching"):
            search = falsify_to_the_end(found.theorem.sharper, Budget(evaluations), seed=seed)
    if targets.wanted:
        with progress("certificates") as report:
            found = proofs.certified(found, report)
        answers = [{"certificate": each, "reason": ""} for each in found.certificates]
        without = [{"id": name, "certificate": None, "reason": why} for name, why in found.uncertified]
        with SharpenResult(found, search).kept():
            file = targets.save([*answers, *without])
    return SharpenResult(found, search, file)
