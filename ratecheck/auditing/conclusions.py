"""What the verdicts on the steps mean for the statements."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from bounds.ledger.step import StepKind
from bounds.statement import Statement
from ratecheck.auditing.finding import StepResult, StepVerdict


class Standing(Enum):
    """Where a statement stands after its proof was audited; the later, the worse.

    It holds where every step is proved or standard. With a step that was only checked on instances it is not refuted,
    and so with a repair, since nothing shows that the steps after a repaired one need no more than that.
    """

    HOLDS = "holds as printed"
    CHECKED = "not refuted as printed"
    REPAIR = "not refuted with repair"
    UNDECIDED = "undecided"
    FALSE = "false as printed"


_ORDER = list(Standing)


@dataclass(frozen=True)
class Conclusion:
    """A statement's standing, why, and the steps that decide it; ``mended`` says that each of these has a repair."""

    key: str
    standing: Standing
    reasons: tuple[str, ...]
    steps: tuple[str, ...]
    mended: bool

    @property
    def text(self) -> str:
        """In one line."""
        return self.standing.value + (f": {'; '.join(self.reasons)}" if self.reasons else "")


def conclude(findings: Sequence[StepResult], statements: Sequence[Statement]) -> dict[str, Conclusion]:
    """The standing of every statement that has steps, in the order of the steps.

    A statement is false where an end-to-end step is; it is not refuted with repair where every false step of its proof,
    or of the statements that it follows from, has a repaired form that is not refuted; it is undecided where a step is
    unknown, or false and not mended, or where nothing in the ledger is about a statement that it follows from.
    """
    own: dict[str, list[StepResult]] = {}
    for finding in findings:
        own.setdefault(finding.of, []).append(finding)
    follows = premises_of(statements, own)
    found: dict[str, Conclusion] = {}

    def visit(key: str, above: tuple[str, ...]) -> Conclusion | None:
        if key not in own or key in above:
            return None
        if key not in found:
            premises = [visit(premise, (*above, key)) for premise in follows.get(key, ())]
            missing = [premise for premise in follows.get(key, ()) if premise not in own]
            found[key] = _judge(key, own[key], [each for each in premises if each is not None], missing)
        return found[key]

    for key in own:
        visit(key, ())
    return {key: found[key] for key in own}


def premises_of(statements: Sequence[Statement], audited: Container[str]) -> dict[str, list[str]]:
    """What each statement follows from; of a repaired form that has no steps the printed one, whose steps repair it."""
    printed = {each.key: each.repairs for each in statements if each.repairs and each.key not in audited}
    return {each.key: [printed.get(premise, premise) for premise in each.follows_from] for each in statements}


def of_one(finding: StepResult, count: int) -> Conclusion:
    """What a single step says of its statement, which has ``count`` steps: it can refute it, and nothing more."""
    standing, reason = _of_step(finding)
    if standing is not Standing.FALSE:
        examine = f"'ratecheck audit {finding.of}' examines all of its proof"
        standing, reason = Standing.UNDECIDED, f"this is one of its {count} steps; {examine}"
    return Conclusion(finding.of, standing, (reason,), (finding.id,), finding.mended)


def _judge(key: str, steps: Sequence[StepResult], premises: Sequence[Conclusion], missing: Sequence[str]) -> Conclusion:
    found = [(*_of_step(step), step) for step in steps]
    marks = [(standing, reason) for standing, reason, _ in found]
    marks += map(_of_premise, premises)
    marks += [(Standing.UNDECIDED, f"rests on {premise}, of which no step is in the ledger") for premise in missing]
    standing = max((standing for standing, _ in marks), key=_ORDER.index)
    shown = [reason for level, reason in marks if level is standing and reason]
    checked = sum(level is Standing.CHECKED for level, _, _ in found)
    if checked and standing is Standing.CHECKED:
        shown.insert(0, f"{checked} of its {len(steps)} steps checked on instances")
    deciding = [step for level, _, step in found if level not in (Standing.HOLDS, Standing.CHECKED)]
    mended = all(step.mended for step in deciding)
    return Conclusion(key, standing, tuple(shown), tuple(step.id for step in deciding), mended)


def _of_step(step: StepResult) -> tuple[Standing, str]:
    """What one step makes of its statement, and why."""
    if step.verdict is StepVerdict.UNKNOWN:
        return Standing.UNDECIDED, f"{step.location} is {'vacuous' if step.vacuous else 'not decided'}"
    if step.verdict is StepVerdict.TYPO and step.kind == StepKind.END_TO_END.value:
        return Standing.REPAIR, f"{step.location}, a misprint: {step.repair or 'the repaired form'}"
    if step.verdict is not StepVerdict.FALSE:
        checked = "CHECKED" in (step.verdict.value, step.repaired)
        return Standing.CHECKED if checked else Standing.HOLDS, ""
    if step.kind == StepKind.END_TO_END.value:
        repaired = f"; repaired: {step.repair}" if step.mended else ""
        return Standing.FALSE, f"{step.location}, {step.evidence}{repaired}"
    if step.mended:
        return Standing.REPAIR, f"{step.location}: {step.repair or 'the repaired form'}"
    return Standing.UNDECIDED, f"{step.location} is false and no repair is proved"


def _of_premise(premise: Conclusion) -> tuple[Standing, str]:
    """What a premise makes of a statement that rests on it, and why."""
    if premise.standing is Standing.HOLDS:
        return Standing.HOLDS, ""
    if premise.standing is Standing.FALSE and premise.mended:
        return Standing.REPAIR, f"rests on {premise.key}, in its repaired form"
    if premise.standing is Standing.FALSE:
        return Standing.UNDECIDED, f"rests on {premise.key}, which is false as printed"
    return premise.standing, f"rests on {premise.key}, which is {premise.standing.value}"


@dataclass(frozen=True)
class Erratum:
    """A printed claim that does not hold, with how much it matters."""

    finding: StepResult
    consequence: str
    rank: tuple[int, int]


def errata(
    findings: Sequence[StepResult], conclusions: Mapping[str, Conclusion], statements: Sequence[Statement]
) -> list[Erratum]:
    """Everything that is false, vacuous or misprinted: what breaks a statement first, typing errors last."""
    dependants = _dependants(statements)
    found = []
    for finding in findings:
        level, consequence = _consequence(finding, conclusions)
        if level is not None:
            found.append(Erratum(finding, consequence, (level, -len(dependants.get(finding.of, ())))))
    return sorted(found, key=lambda each: each.rank)


def _consequence(finding: StepResult, conclusions: Mapping[str, Conclusion]) -> tuple[int | None, str]:
    """How much a finding matters, 0 the most, and what it does to its statement; None where nothing is wrong."""
    key = finding.of
    standing = conclusions[key].standing if key in conclusions else Standing.UNDECIDED
    false, misprint = finding.verdict is StepVerdict.FALSE, finding.verdict is StepVerdict.TYPO
    cases = (
        (finding.vacuous, 1, f"nothing was shown; {key}: {standing.value}"),
        (misprint and finding.kind == StepKind.END_TO_END.value, 2, f"a misprint of {key} itself"),
        (misprint, 3, "a misprint: nothing depends on it"),
        (false and finding.kind == StepKind.END_TO_END.value, 0, f"{key} is false as printed"),
        (false and finding.mended and standing is Standing.FALSE, 1, f"{key} is false as printed, see there"),
        (false and finding.mended, 2, f"{key} {standing.value}"),
        (false, 1, f"no repair is proved; {key}: {standing.value}"),
    )
    return next(((level, text) for applies, level, text in cases if applies), (None, ""))


def _dependants(statements: Sequence[Statement]) -> dict[str, set[str]]:
    """Which statements follow from each, directly or not."""
    found: dict[str, set[str]] = {}
    for statement in statements:
        todo = list(statement.follows_from)
        while todo:
            premise = todo.pop()
            known = found.setdefault(premise, set())
            if statement.key not in known:
                known.add(statement.key)
                todo += [p for s in statements if s.key == premise for p in s.follows_from]
    return found
