"""The conclusions from verdicts on steps to the statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from bounds.ledger.fault import Fault, FaultKind
from bounds.statement import Statement
from ratecheck.auditing.finding import StepResult, StepVerdict


class ProofStanding(Enum):
    """The standing of a statement after the audit of its proof, in order from best to worst.

    It holds where every step is proved or standard. With a step that was only checked, on instances or in a special
    case, it is not refuted, and so with a repair, since nothing shows that the steps after a repaired one need no more
    than that. Where readers filed every fault and none changes the statement, it is the proof that needs the repair.
    """

    HOLDS = "holds as printed"
    CHECKED = "not refuted as printed"
    PROOF = "not refuted as printed, its proof needs a repair"
    REPAIR = "not refuted with repair"
    UNDECIDED = "undecided"
    FALSE = "false as printed"


_ORDER = list(ProofStanding)


@dataclass(frozen=True)
class Conclusion:
    """A statement's standing, why, and the steps that decide it; ``mended`` says that each of these has a repair."""

    key: str
    standing: ProofStanding
    reasons: tuple[str, ...]
    steps: tuple[str, ...]
    mended: bool

    @property
    def text(self) -> str:
        """The standing and its reasons in one line."""
        return self.standing.value + (f": {'; '.join(self.reasons)}" if self.reasons else "")


def conclude(findings: Sequence[StepResult], statements: Sequence[Statement]) -> dict[str, Conclusion]:
    """The standing of every statement that has steps, in the order of the steps.

    A statement is false where an end-to-end step is, unless what it lacks is an assumption or the exclusion of an edge
    case, or it is a misprint. It is not refuted with repair where every false step of its proof, or of the statements
    that it follows from, has a repaired form that is not refuted, or where a fault that is made elsewhere changes it;
    where no fault changes it, its proof needs the repair alone.
    It is undecided where a step is unknown, or false and not mended, or where nothing in the ledger is about a
    statement that it follows from.
    """
    own: dict[str, list[StepResult]] = {}
    for finding in findings:
        own.setdefault(finding.of, []).append(finding)
    follows = premises_of(statements, own)
    changes = _changes(findings)
    faults = [finding.fault for finding in findings if finding.fault is not None]
    changed = {key for fault in faults for key in fault.changes}
    # What nobody has filed may change any statement.
    filed = all(each.fault or not each.mended for each in findings)
    found: dict[str, Conclusion] = {}

    def visit(key: str, above: tuple[str, ...]) -> Conclusion | None:
        if key not in own or key in above:
            return None
        if key not in found:
            premises = [visit(premise, (*above, key)) for premise in follows.get(key, ())]
            missing = [premise for premise in follows.get(key, ()) if premise not in own]
            known = [each for each in premises if each is not None]
            judged = _judge(key, own[key], known, missing, changes.get(key, ()))
            whole = any(each.end_to_end and each.mended for each in own[key])
            alone = judged.standing is ProofStanding.REPAIR and filed and key not in changed and not whole
            found[key] = replace(judged, standing=ProofStanding.PROOF) if alone else judged
        return found[key]

    for key in own:
        visit(key, ())
    return {key: found[key] for key in own}


def if_complete(found: Mapping[str, Conclusion], findings: Sequence[StepResult]) -> dict[str, Conclusion]:
    """The conclusions; those on a user's own statements that hold suppose a complete ledger, which nobody has read."""
    counts = Counter(each.of for each in findings if each.file)

    def said(each: Conclusion) -> Conclusion:
        if each.standing is not ProofStanding.HOLDS or not counts[each.key]:
            return each
        steps = "step is" if counts[each.key] == 1 else f"{counts[each.key]} steps are"
        return replace(each, reasons=(f"if the {steps} all of its proof", *each.reasons))

    return {key: said(each) for key, each in found.items()}


def premises_of(statements: Sequence[Statement], audited: Container[str]) -> dict[str, list[str]]:
    """The premises of each statement; for a repaired form without steps the printed one, whose steps repair it."""
    printed = {each.key: each.repairs for each in statements if each.repairs and each.key not in audited}
    return {each.key: [printed.get(premise, premise) for premise in each.follows_from] for each in statements}


def of_one(finding: StepResult, count: int, address: str = "") -> Conclusion:
    """The conclusion from a single step on its statement of ``count`` steps: the step can refute it, and no more.

    ``address`` is what the audit takes for the statement, where that is not its key.
    """
    standing, reason = _of_step(finding)
    if standing is not ProofStanding.FALSE:
        examine = f"'ratecheck audit {address or finding.of}' examines all of its proof"
        standing, reason = ProofStanding.UNDECIDED, f"this is one of its {count} steps; {examine}"
    return Conclusion(finding.of, standing, (reason,), (finding.id,), finding.mended)


def _changes(findings: Sequence[StepResult]) -> dict[str, list[Fault]]:
    """Statement -> the faults that are made elsewhere and change it."""
    found: dict[str, list[Fault]] = {}
    for finding in findings:
        if finding.fault is not None and finding.fault.id == finding.id:
            for key in finding.fault.changes:
                if key != finding.of:
                    found.setdefault(key, []).append(finding.fault)
    return found


def _judge(
    key: str,
    steps: Sequence[StepResult],
    premises: Sequence[Conclusion],
    missing: Sequence[str],
    changes: Sequence[Fault],
) -> Conclusion:
    found = [(*_of_step(step), step) for step in steps]
    marks = [(standing, reason) for standing, reason, _ in found]
    marks += map(_of_premise, premises)
    marks += [
        (ProofStanding.UNDECIDED, f"rests on {premise}, of which no step is in the ledger") for premise in missing
    ]
    marks += [(ProofStanding.REPAIR, f"{fault.kind.text} of {fault.id}, which changes it") for fault in changes]
    standing = max((standing for standing, _ in marks), key=_ORDER.index)
    shown = [reason for level, reason in marks if level is standing and reason]
    checked = [step for level, _, step in found if level is ProofStanding.CHECKED]
    if standing is ProofStanding.CHECKED:
        shown = [*_partly(checked, len(steps)), *shown]
    deciding = [step for level, _, step in found if level not in (ProofStanding.HOLDS, ProofStanding.CHECKED)]
    mended = all(step.mended for step in deciding)
    return Conclusion(key, standing, tuple(shown), tuple(step.id for step in deciding), mended)


def _partly(checked: Sequence[StepResult], count: int) -> Iterator[str]:
    """The numbers of steps, of ``count``, that were checked on instances and in a special case, in words."""
    special = [step for step in checked if step.special]
    if len(checked) > len(special):
        yield f"{len(checked) - len(special)} of its {count} steps checked on instances"
    if special:
        what = "; ".join(dict.fromkeys(step.narrower for step in special))
        yield f"{len(special)} of its {count} steps checked in a special case ({what})"


def _of_step(step: StepResult) -> tuple[ProofStanding, str]:
    """The standing of a statement from one of its steps, and the reason."""
    if step.verdict is StepVerdict.UNKNOWN:
        return ProofStanding.UNDECIDED, f"{step.location} is {'vacuous' if step.vacuous else 'not decided'}"
    if step.verdict is StepVerdict.FALSE or (step.end_to_end and step.verdict is StepVerdict.TYPO):
        return _of_refuted(step)
    checked = "CHECKED" in (step.verdict.value, step.repaired)
    return ProofStanding.CHECKED if checked else ProofStanding.HOLDS, ""


def refutes(step: StepResult) -> bool:
    """Whether a step makes its statement false as printed: exact numbers meet its conditions and break its claim."""
    return _of_step(step)[0] is ProofStanding.FALSE


# What a statement may lack that is not false but for that.
_LACKING = (FaultKind.ASSUMPTION, FaultKind.EDGE_CASE, FaultKind.MISPRINT)


def _of_refuted(step: StepResult) -> tuple[ProofStanding, str]:
    if not step.mended:
        why = step.evidence if step.end_to_end else "no repair is proved"
        return ProofStanding.FALSE if step.end_to_end else ProofStanding.UNDECIDED, f"{step.location}, {why}"
    repair = step.repair or "the repaired form"
    kind = None if step.fault is None else step.fault.kind
    if step.end_to_end and kind not in _LACKING:
        return ProofStanding.FALSE, f"{step.location}, {step.evidence}; repaired: {step.repair}"
    return ProofStanding.REPAIR, f"{step.location}{'' if kind is None else f', {kind.text}'}: {repair}"


def _of_premise(premise: Conclusion) -> tuple[ProofStanding, str]:
    """The standing of a statement that rests on a premise, and the reason."""
    if premise.standing is ProofStanding.HOLDS:
        return ProofStanding.HOLDS, ""
    if premise.standing is ProofStanding.FALSE and premise.mended:
        return ProofStanding.REPAIR, f"rests on {premise.key}, in its repaired form"
    if premise.standing is ProofStanding.FALSE:
        return ProofStanding.UNDECIDED, f"rests on {premise.key}, which is false as printed"
    return premise.standing, f"rests on {premise.key}, which is {premise.standing.value}"
