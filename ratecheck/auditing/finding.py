"""The verdict on one step, with everything that supports it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from bounds.ledger.fault import Fault, FaultKind
from bounds.ledger.own import StepError
from bounds.ledger.step import Check, Scope, Step, StepKind
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import Answer, Decision, unknown
from ratecheck.auditing.dispatch import decide
from ratecheck.auditing.export.claim_data import identified
from ratecheck.auditing.mutation.probe import Probe
from ratecheck.auditing.sanity import QUESTIONS, SECONDS, Hygiene, examine, satisfied

# Several times what the hardest step of the four papers takes.
STEP_SECONDS = 60.0
# What is said of a step then, which another machine, or the same one when it is less busy, may decide: it is not kept.
OUT_OF_TIME = f"not decided in {STEP_SECONDS:g} seconds"


class StepVerdict(Enum):
    """The verdict on a printed claim.

    PROVED is the line as it is printed, for all values. CHECKED is not refuted: on instances, or in a special case that
    is proved.
    """

    PROVED = "PROVED"
    CHECKED = "CHECKED"
    FALSE = "FALSE"
    TYPO = "TYPO"
    STANDARD = "STANDARD"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """A step's verdict.

    ``basis`` is "certificate" or "solver" for what is proved, be it a special case, and "instances" otherwise.
    ``scope`` is that of what holds to what is printed, and ``narrower`` says what is special. ``vacuous`` says that
    the hypotheses cannot hold, or that no instance was checked. ``repaired`` is the verdict on the repaired form,
    PROVED, CHECKED, FALSE or UNKNOWN, and "" without one. ``asked`` says that every hypothesis and constant of what
    holds was examined for ``unused`` and ``loose``. ``fault`` is what a reader makes of a refuted step. ``file`` is
    the file of a user's own ledger, and "" for a ledger of a paper. ``digest`` is that of the claim and its hypotheses
    as data, which a certificate has too, and "" where the claim is checked on instances alone. ``computed_from`` has
    the hashes of the ``input``, all that the ledger says of the step, and of the ``checker``, all code and libraries
    that decide, where both are known.
    """

    id: str
    location: str
    claim: str
    kind: str
    of: str
    verdict: StepVerdict
    basis: str
    evidence: str
    vacuous: bool
    repair: str
    repaired: str
    repaired_evidence: str
    witness: str
    unused: tuple[str, ...]
    loose: tuple[str, ...]
    asked: bool
    remark: str
    seconds: float
    digest: str = ""
    scope: Scope = Scope.AS_PRINTED
    narrower: str = ""
    computed_from: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None
    file: str = ""

    @property
    def paper(self) -> str:
        """The prefix of the id, or the file of a user's own ledger."""
        return self.file or self.id.partition("/")[0]

    @property
    def end_to_end(self) -> bool:
        """Whether the claim is that of the whole statement, on instances."""
        return self.kind == StepKind.END_TO_END.value

    @property
    def certified(self) -> bool:
        """Whether the printed line has a proof that exact arithmetic re-checks."""
        return self.basis == "certificate" and self.scope.covers

    @property
    def special(self) -> bool:
        """Whether what holds, the claim or its repaired form, is less than what is printed: a special case of it."""
        return not self.scope.covers and "CHECKED" in (self.verdict.value, self.repaired)

    @property
    def label(self) -> str:
        """The verdict in words: CHECKED is in a special case, or on instances."""
        return SPECIAL if self.special and self.verdict is StepVerdict.CHECKED else self.verdict.value

    @property
    def repaired_label(self) -> str:
        """PROVED, CHECKED, FALSE or UNKNOWN for the repaired form; "" without one."""
        return SPECIAL if self.special and self.repaired == StepVerdict.CHECKED.value else self.repaired

    @property
    def mended(self) -> bool:
        """Whether the printed claim is false and the repaired one is proved, or not refuted on its instances."""
        return self.verdict in (StepVerdict.FALSE, StepVerdict.TYPO) and self.repaired in ("PROVED", "CHECKED")

    def filed(self, fault: Fault | None) -> StepResult:
        """The result with the fault of a refuted step; TYPO for a misprint whose repaired form is not refuted."""
        if fault is None or self.verdict is not StepVerdict.FALSE:
            return self
        typo = fault.kind is FaultKind.MISPRINT and self.mended
        return dataclasses.replace(self, fault=fault, verdict=StepVerdict.TYPO if typo else self.verdict)


SPECIAL = "CHECKED IN A SPECIAL CASE"
_NOTHING = Hygiene(satisfiable=None, witness="", unused=(), loose=(), complete=True)


def examine_step(step: Step, *, room: bool = False) -> StepResult:
    """The verdict on a step; with ``room`` also which hypotheses it does not need and how far its constants can move.

    Together that takes several times as long as the verdict.
    """
    started = time.process_time()
    digest, why = identified(step)
    if why and step.scope.covers:
        step = dataclasses.replace(step, scope=Scope.MORE_ASSUMED, narrower=why)
    probe = Probe(step.check)
    decision = _guarded(probe.settle)
    repaired = None
    if decision.answer is not Answer.TRUE and step.repaired is not None:
        repaired = _mended(step.repaired)
    hygiene = _examined(probe, QUESTIONS if room else 0) if decision.true else _NOTHING
    vacuous = decision.evidence.startswith("vacuous") or (decision.true and hygiene.satisfiable is False)
    evidence = decision.evidence
    if vacuous and decision.true:
        evidence = "vacuous: the hypotheses contradict each other"
    if decision.false and step.scope is Scope.STRONGER:
        evidence = f"more than the printed claim is refuted, which says nothing of it: {evidence}"
    return StepResult(
        id=step.id,
        location=step.location,
        claim=step.claim,
        kind=step.kind.value,
        of=step.of,
        verdict=_verdict(step, decision, vacuous),
        basis=decision.certified if decision.true and not vacuous else "",
        evidence=evidence,
        vacuous=vacuous,
        repair=step.repair,
        repaired="" if repaired is None else _held(step, repaired).value,
        repaired_evidence="" if repaired is None else repaired.evidence,
        witness=hygiene.witness,
        unused=hygiene.unused,
        loose=tuple(each.text for each in hygiene.loose),
        asked=hygiene.complete,
        remark=step.remark,
        scope=step.scope,
        narrower=step.narrower,
        seconds=round(time.process_time() - started, 3),
        digest=digest,
    )


def _mended(check: Check) -> Decision:
    """The decision on a repaired form; it repairs nothing where its hypotheses contradict each other."""
    found = _guarded(lambda: decide(check))
    if found.true and _guarded_satisfied(check) is False:
        return unknown("vacuous: the hypotheses contradict each other")
    return found


def _guarded_satisfied(check: Check) -> bool | None:
    try:
        with limit(SECONDS):
            return satisfied(check)[0]
    except OutOfTime:
        return None


def _guarded(work: Any) -> Decision:
    try:
        with limit(STEP_SECONDS):
            found: Decision = work()
            return found
    except OutOfTime:
        return unknown(OUT_OF_TIME)
    except StepError:
        # A user's own step that cannot be examined as it is written.
        raise
    except Exception as error:  # noqa: BLE001  # one faulty step of a ledger must not hide the others
        return unknown(f"the check failed with {type(error).__name__}: {error}")


def _examined(probe: Probe, questions: int) -> Hygiene:
    try:
        return examine(probe, questions)
    except Exception:  # noqa: BLE001  # the verdict stands without remarks
        return _NOTHING


def _verdict(step: Step, decision: Decision, vacuous: bool) -> StepVerdict:
    if vacuous or decision.answer is Answer.UNKNOWN:
        return StepVerdict.UNKNOWN
    if decision.false:
        return StepVerdict.UNKNOWN if step.scope is Scope.STRONGER else StepVerdict.FALSE
    return StepVerdict.STANDARD if step.kind is StepKind.STANDARD else _held(step, decision)


def _held(step: Step, decision: Decision) -> StepVerdict:
    """The verdict on the claim of a step, or on its repaired form, from a decision alone."""
    if decision.true:
        proved = decision.certified != "instances" and step.scope.covers
        return StepVerdict.PROVED if proved else StepVerdict.CHECKED
    return StepVerdict.FALSE if decision.false else StepVerdict.UNKNOWN
