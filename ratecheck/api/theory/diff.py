"""``rc.diff``, the command ``diff``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bounds
from bounds.ledger.own import OwnLedger
from bounds.ledger.step import Step
from bounds.statement import Statement
from ratecheck.api.given import one
from ratecheck.api.result import Result
from ratecheck.auditing import ledger, selection
from ratecheck.auditing.finding import StepResult
from ratecheck.linting.lint import lint as linted
from ratecheck.versions import findings, statements, steps
from ratecheck.versions.findings import FindingsChange
from ratecheck.versions.match import last, match
from ratecheck.versions.statements import StatementChange
from ratecheck.versions.steps import LedgerChange
from ratecheck.views.progress import progress
from ratecheck.views.theory import diff as view


@dataclass(frozen=True, eq=False, repr=False)
class DiffResult(Result):
    """The changes between two versions.

    ``statements`` are those that both have; ``gone`` and ``added`` the keys of the others. ``lint`` has the linter's
    findings by the key of the new statement, where it changed. ``steps`` and ``findings`` are None where ledgers were
    not compared, and ``ledgers`` says then why.
    """

    statements: tuple[StatementChange, ...]
    gone: tuple[str, ...]
    added: tuple[str, ...]
    lint: Mapping[str, FindingsChange]
    steps: LedgerChange | None
    findings: FindingsChange | None
    ledgers: str

    @property
    def same(self) -> bool:
        """Whether all statements are proved to be the same, and none is gone or new; steps are not compared."""
        return not (self.gone or self.added) and all(each.same for each in self.statements)

    def __str__(self) -> str:
        blocks = []
        for each in self.statements:
            lines = [view.statement_text(each)]
            if (found := self.lint.get(each.new.key)) is not None and (found.gone or found.added):
                lines += [f"  {line}" for line in view.findings_lines("lint", found)]
            blocks.append("\n".join(lines))
        blocks += ["\n".join([f"gone: {key}" for key in self.gone] + [f"new: {key}" for key in self.added])]
        if self.steps is not None and self.findings is not None:
            blocks.append(
                "\n".join(view.ledger_lines(self.steps) + view.findings_lines("findings of the audit", self.findings))
            )
        else:
            blocks.append(f"steps of the proofs: not compared, {self.ledgers}")
        return "\n\n".join([*filter(None, blocks), self._headline()])

    def _headline(self) -> str:
        return view.counts(self.statements, self.gone, self.added)

    def _fields(self) -> dict[str, Any]:
        return {
            "statements": [view.statement_fields(each) for each in self.statements],
            "gone": self.gone,
            "new": self.added,
            "lint": {key: view.findings_fields(each) for key, each in self.lint.items()},
            "steps": None if self.steps is None else view.ledger_fields(self.steps),
            "findings": None if self.findings is None else view.findings_fields(self.findings),
            "ledgers": self.ledgers,
        }


def diff(old: str | Path | Statement, new: str | Path | Statement, /, *, audit: bool = True) -> DiffResult:
    """The changes between two versions of a paper's statements and of their proofs.

    Each version is a paper, a key, ``path/to/file.py``, ``path/to/file.py:name`` or a `bounds.statement.Statement`.
    Statements are matched by their names, then the only ones left. Formulas are compared as mathematics: "same" is
    proved by simplification, else both are computed at up to 20 random points that meet the conditions of both
    versions. A right side is larger or smaller everywhere where that is proved, else at these points. The steps of the
    proofs of these statements are examined as by `audit`, which takes minutes the first time; with ``audit=False``
    ledgers are left out. Raises `InputError` for what is none of these.

    >>> import ratecheck as rc
    >>> rc.diff("pfl/lemma-3.2", "pfl/lemma-3.2", audit=False).same
    True
    """
    ours, theirs = _version(old), _version(new)
    found = match(
        [(last(each.key), each) for each in ours.statements], [(last(each.key), each) for each in theirs.statements]
    )
    with progress("comparing"):
        changes = tuple(statements.diff(*pair) for pair in found.pairs)
        # The same statement has the same findings.
        lint = {each.new.key: findings.lint(linted(each.old), linted(each.new)) for each in changes if not each.same}
    why = "as asked" if not audit else _not_compared(ours, theirs)
    compared, wrong = (None, None) if why else _steps(ours, theirs)
    return DiffResult(
        statements=changes,
        gone=tuple(each.key for each in found.gone),
        added=tuple(each.key for each in found.added),
        lint=lint,
        steps=compared,
        findings=wrong,
        ledgers=why,
    )


@dataclass(frozen=True)
class _Version:
    """One side: its statements, and the steps of their proofs in a ledger, None without one."""

    statements: tuple[Statement, ...]
    ledger: ledger.Ledger | None
    steps: tuple[Step, ...]


def _version(subject: str | Path | Statement) -> _Version:
    if isinstance(subject, Statement):
        return _Version((subject,), None, ())
    name = str(subject) if isinstance(subject, (str, Path)) else subject
    if isinstance(name, str) and bounds.own.is_own(name):
        path, _ = bounds.own.split(name)
        mine = (one(name),) if name != path else tuple({each.key: each for each in bounds.statements(path)}.values())
        own = OwnLedger.read(path)
        return _with_steps(mine, own) if selection.has_steps_of_its_own(own) else _Version(mine, None, ())
    paper = isinstance(name, str) and name in bounds.PAPERS
    theirs = bounds.statements(name) if paper else (one(name),)
    prefix = theirs[0].key.partition("/")[0]
    if prefix not in bounds.PAPERS or not ledger.has_ledger(prefix):
        return _Version(theirs, None, ())
    return _with_steps(theirs, ledger.module_of(prefix))


def _with_steps(mine: tuple[Statement, ...], module: ledger.Ledger) -> _Version:
    """The steps about these statements, or about the printed forms of repaired ones."""
    every = ledger.load(module)
    audited = {each.of for each in every}
    wanted = {each.key if each.key in audited else each.repairs for each in mine}
    return _Version(mine, module, tuple(each for each in every if each.of in wanted))


def _not_compared(old: _Version, new: _Version) -> str:
    """The reason for which ledgers cannot be compared; empty where they can."""
    if not old.steps and not new.steps:
        return "neither version has any"
    if old.steps and old.ledger == new.ledger and old.steps == new.steps:
        return "the same steps are about both"
    if not (old.steps and new.steps):
        return f"only the {'old' if old.steps else 'new'} version has any"
    return ""


def _steps(old: _Version, new: _Version) -> tuple[LedgerChange, FindingsChange]:
    return steps.diff(old.steps, new.steps), findings.steps(_audited(old), _audited(new))


def _audited(version: _Version) -> list[StepResult]:
    assert version.ledger is not None
    with progress("auditing") as report:
        return ledger.audit([version.ledger], {each.id for each in version.steps}, report)
