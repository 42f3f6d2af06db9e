"""``rc.audit``, the command ``audit``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

import bounds
from bounds.statement import Statement
from ratecheck.api.proofs.proof_files import ProofFiles
from ratecheck.api.result import Result
from ratecheck.auditing import ledger, selection
from ratecheck.auditing.errata import Erratum, errata
from ratecheck.auditing.export import conclusions as following
from ratecheck.auditing.export.conclusions import Conclusion
from ratecheck.auditing.finding import StepResult, StepVerdict
from ratecheck.auditing.mutation import analysis
from ratecheck.auditing.mutation.analysis import MutationSummary
from ratecheck.auditing.selection import OwnSelection
from ratecheck.errors import InputError, did_you_mean
from ratecheck.execution import executor
from ratecheck.views.progress import progress
from ratecheck.views.proofs.audit import (
    conclusions_fields,
    counts_text,
    errata_fields,
    findings_fields,
    ledger_text,
    mutation_text,
    step_text,
)
from ratecheck.views.proofs.certificates import certificate_text, leaving_text


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result):
    """The ``steps`` of proofs, each with its verdict; what follows for each statement; errata, what matters most first.

    ``one`` says that a single step was requested; ``changed`` says then, where it was checked on instances, what these
    make of the claim with one thing changed. ``certificates`` are those that were requested, with the reason where
    there is none; ``file`` says where they were written.
    """

    steps: tuple[StepResult, ...]
    conclusions: Mapping[str, Conclusion]
    errata: tuple[Erratum, ...]
    one: bool = False
    certificates: tuple[Mapping[str, Any], ...] = ()
    file: str = ""
    changed: MutationSummary | None = None

    @property
    def false(self) -> tuple[StepResult, ...]:
        """The steps that are refuted."""
        return tuple(step for step in self.steps if step.verdict is StepVerdict.FALSE)

    def __str__(self) -> str:
        if self.one:
            (step,) = self.steps
            text = step_text(step, self.conclusions[step.of], self.changed)
            return "\n".join([text, *map(certificate_text, self.certificates)])
        text = ledger_text(self.steps, self.conclusions, self.errata)
        return f"{text}\n{leaving_text(self.certificates, self.file)}" if self.file else text

    def _headline(self) -> str:
        if self.one:
            return f"{self.steps[0].id}: {self.steps[0].label}"
        return counts_text(self.steps).replace("\n", "; ")

    def _fields(self) -> dict[str, Any]:
        steps = zip(self.steps, findings_fields(self.steps, self.conclusions), strict=True)
        fields = {
            "steps": [{**fields, "computed_from": dict(step.computed_from)} for step, fields in steps],
            "conclusions": conclusions_fields(self.conclusions),
            "errata": errata_fields(self.errata),
        }
        return fields if self.changed is None else {**fields, "power": self.changed.instances.fields()}


@dataclass(frozen=True, eq=False, repr=False)
class MutationResult(Result):
    """Whether the audit notices changes of printed numbers, paper by paper and over all."""

    summaries: tuple[MutationSummary, ...]

    def __str__(self) -> str:
        return mutation_text(self.summaries)

    def _headline(self) -> str:
        return ", ".join(f"{each.name}: {each.all.share:.1%} refuted" for each in self.summaries)

    def _fields(self) -> dict[str, Any]:
        return {"summaries": [summary.fields() for summary in self.summaries]}


class AuditOptions(TypedDict, total=False):
    """The arguments of `audit` beside the paper."""

    step: str | None
    room: bool
    certificates: str | Path | None
    coq: str | Path | None
    workers: int | None
    scheduler: str | None


@overload
def audit(
    paper: str | None = None, *, mutate: Literal[False] = False, **options: Unpack[AuditOptions]
) -> AuditResult: ...
@overload
def audit(paper: str | None = None, *, mutate: Literal[True], **options: Unpack[AuditOptions]) -> MutationResult: ...
@overload
def audit(
    paper: str | None = None, *, mutate: bool, **options: Unpack[AuditOptions]
) -> AuditResult | MutationResult: ...
def audit(
    paper: str | None = None,
    *,
    step: str | None = None,
    room: bool = False,
    mutate: bool = False,
    certificates: str | Path | None = None,
    coq: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
) -> AuditResult | MutationResult:
    """Every step of the proofs of a paper, or of all papers, proved with a certificate, checked or refuted.

    ``paper`` may be the key of a statement: its steps are examined then, with those of the statements that it follows
    from. It may be a Python file with a tuple ``STEPS`` of `bounds.ledger.Step` beside statements of one's own,
    ``path/to/file.py`` or ``path/to/file.py:name``; what they follow from in the catalogue is examined too, but for
    ``mutate``. ``certificates`` is a file for `recheck.py`, ``coq`` one of lemmas for Coq (``.v``), of the same proofs.
    ``step`` is the id of a single step, and no other one is examined. With ``room``, and of a single step, also what
    hypotheses it holds without and how far its constants can move; that takes several times as long. With ``mutate``
    every printed constant, exponent and direction is changed, and what is compared in a few ways, one at a time, and
    the result says whether that is noticed. Takes minutes; answers are kept, but for steps of a file that are
    functions. ``workers`` is the number of processes, one per core by default; with ``scheduler``, the address of a
    Dask scheduler, its workers do it.
    Raises `InputError` for a paper without a ledger, for a statement without steps, for an unknown step, for a file
    with a ledger that cannot be used, such as one with a step whose function fails, and for a file that cannot be
    written.

    >>> import ratecheck as rc
    >>> found = rc.audit("flame")  # doctest: +SKIP
    >>> found.conclusions["flame/theorem-1"].standing  # doctest: +SKIP
    """
    for name, given in (("certificates", certificates), ("coq", coq)):
        if mutate and given is not None:
            raise InputError(f"mutate and {name}: changed numbers have no certificates; give one of the two")
    targets = ProofFiles.of(certificates, coq)
    if mutate and room:
        raise InputError("mutate and room: changed numbers have no slack of their own; give one of the two")
    room = room or step is not None
    chosen = _of_file(paper, step) if paper is not None and bounds.own.is_own(paper) else _of_catalogue(paper, step)
    first, ids = chosen.parts[0]
    if mutate:
        return _mutated(first, ids, workers, scheduler)
    steps: list[StepResult] = []
    with executor(scheduler, workers) as where, progress("auditing") as report:
        for ledgers, its in chosen.parts:
            steps += ledger.audit(ledgers, its, report, where, room=room)
    proofs: list[dict[str, Any]] = []
    if targets.wanted or step is not None:
        with executor(scheduler, workers) as where, progress("writing certificates") as report:
            for ledgers, its in chosen.parts:
                proofs += ledger.certificates(ledgers, chosen.with_proofs(its, steps), report, where)
    if step is None:
        found = _all(steps, chosen.statements, proofs)
    else:
        found = _one(steps[0], first[0], proofs, "" if chosen.own is None else chosen.own.address(steps[0].of))
    with found.kept():
        file = targets.save(found.certificates)
    return replace(found, file=file)


@dataclass(frozen=True)
class _Subject:
    """The steps of an audit, by the ledgers that they are of, None for all of these, and the statements concluded on.

    ``own`` is the selection from a file of the user's own, and from what its statements follow from.
    """

    parts: tuple[tuple[Sequence[ledger.Ledger], tuple[str, ...] | None], ...]
    statements: Sequence[Statement]
    own: OwnSelection | None = None

    def with_proofs(self, ids: tuple[str, ...] | None, steps: Sequence[StepResult]) -> Collection[str] | None:
        """The steps of which certificates are requested; functions of a user's file are examined only once."""
        if self.own is None or ids is None:
            return ids
        return {each.id for each in steps if each.verdict is StepVerdict.PROVED and each.id in ids}


def _of_catalogue(paper: str | None, step: str | None) -> _Subject:
    papers = _papers(paper, step)
    modules = [ledger.module_of(name) for name in papers]
    statements = [statement for name in papers for statement in bounds.statements(name)]
    return _Subject(((modules, _ids(paper, step, modules)),), statements)


def _of_file(address: str, step: str | None) -> _Subject:
    """The user's own ledger, and the parts of the catalogue that its statements follow from; or one step of it."""
    chosen = selection.of_file(address)
    if step is None:
        premises = (([module], ids) for module, ids in chosen.premises.items())
        return _Subject((([chosen.ledger], chosen.ids), *premises), chosen.statements, chosen)
    if step not in chosen.ids:
        raise InputError(f"no step {step!r} in the ledger of {address}; {did_you_mean(step, chosen.ids)}")
    return _Subject((([chosen.ledger], (step,)),), chosen.statements, chosen)


def _all(steps: list[StepResult], statements: Sequence[Statement], proofs: list[dict[str, Any]]) -> AuditResult:
    """The conclusions from steps on the statements."""
    conclusions = following.if_complete(following.conclude(steps, statements), steps)
    wrong = tuple(errata(steps, conclusions))
    return AuditResult(tuple(steps), conclusions, wrong, certificates=tuple(proofs))


def _one(step: StepResult, module: ledger.Ledger, proofs: list[dict[str, Any]], address: str = "") -> AuditResult:
    """The verdict on one step, and the power of its instances; no other step is examined."""
    count = sum(each.of == step.of for each in ledger.load(module))
    conclusions = {step.of: following.of_one(step, count, address)}
    changed = None
    if step.verdict is StepVerdict.CHECKED and step.basis == "instances":
        with progress("changing numbers") as report:
            changed = analysis.summarise(ledger.mutate([module], [step.id], report, 1), step.id)
    wrong = tuple(errata([step], conclusions))
    return AuditResult((step,), conclusions, wrong, one=True, certificates=tuple(proofs), changed=changed)


def _mutated(
    modules: Sequence[ledger.Ledger], ids: tuple[str, ...] | None, workers: int | None, scheduler: str | None
) -> MutationResult:
    with executor(scheduler, workers) as where, progress("changing numbers") as report:
        tested = ledger.mutate(modules, ids, report, where)
    papers = dict.fromkeys(each.paper for each in tested)
    summaries = [analysis.summarise([each for each in tested if each.paper == paper], paper) for paper in papers]
    if len(summaries) > 1:
        summaries.append(replace(analysis.summarise(tested, "all papers"), survivors=()))
    return MutationResult(tuple(summaries))


def _papers(paper: str | None, step: str | None) -> list[str]:
    """The papers to look at: those with a ledger, where none is named."""
    if step is not None:
        prefix = step.partition("/")[0]
        if paper is not None and prefix != paper:
            raise InputError(f"step {step!r} is not one of {paper}: ids begin with the paper, such as {paper}/...")
        paper = prefix
    if paper is None:
        return [name for name in bounds.PAPERS if ledger.has_ledger(name)]
    if "/" in paper:
        paper = bounds.get(paper).key.partition("/")[0]
    else:
        bounds.statements(paper)
    if not ledger.has_ledger(paper):
        raise InputError(f"{paper} has no ledger of its proofs yet; {_those_with()}")
    return [paper]


def _ids(paper: str | None, step: str | None, modules: list[str]) -> tuple[str, ...] | None:
    """The steps to look at: one, or those of a statement and of all that it follows from; None for all of them."""
    if step is not None:
        return ledger.one(modules[0], step)
    if paper is None or "/" not in paper:
        return None
    steps = ledger.load(modules[0])
    audited = {each.of for each in steps}
    key = paper if paper in audited else bounds.get(paper).repairs
    if key not in audited:
        raise InputError(f"no step of the ledger is about {paper}; {did_you_mean(paper, sorted(audited))}")
    return selection.of_statement(key, steps)


def _those_with() -> str:
    found = [name for name in bounds.PAPERS if ledger.has_ledger(name)]
    return f"there is one of {', '.join(found)}" if found else "there is none yet"
