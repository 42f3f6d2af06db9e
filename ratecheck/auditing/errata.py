"""Errata of a paper: what is printed and does not hold, one erratum per cause, what matters most first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bounds.ledger.fault import Fault, FaultKind, faults
from bounds.ledger.step import StepKind
from ratecheck.auditing.conclusions import Conclusion, Standing
from ratecheck.auditing.finding import StepResult, StepVerdict


@dataclass(frozen=True)
class Erratum:
    """The refuted or vacuous steps that have one cause, first the one where it is made, with how much it matters.

    ``fault`` says what is wrong, and how it may have been meant; None where nobody has filed the step. The smaller
    ``rank``, the more it matters.
    """

    findings: tuple[StepResult, ...]
    fault: Fault | None
    consequence: str
    rank: tuple[int, int]

    @property
    def first(self) -> StepResult:
        """The step where it is made."""
        return self.findings[0]

    @property
    def kind(self) -> str:
        """In words: the kind of the fault, or the verdict on a step that is not filed."""
        return self.first.verdict.value if self.fault is None else self.fault.kind.text


def errata(findings: Sequence[StepResult], conclusions: Mapping[str, Conclusion]) -> list[Erratum]:
    """Everything that is false, vacuous or misprinted: what changes a theorem first, then lemmas, misprints last.

    Faults of equal consequence keep the order in which they are filed.
    """
    wrong = [each for each in findings if each.vacuous or each.verdict in (StepVerdict.FALSE, StepVerdict.TYPO)]
    grouped: dict[str, list[StepResult]] = {}
    for each in wrong:
        grouped.setdefault(each.id if each.fault is None else each.fault.id, []).append(each)
    filed = [fault.id for paper in dict.fromkeys(each.paper for each in wrong) for fault in faults(paper)]
    position = {name: number for number, name in enumerate(dict.fromkeys([*filed, *grouped]))}
    found = []
    for name, group in grouped.items():
        level, consequence = _filed(group[0].fault) or _unfiled(group[0], conclusions)
        group.sort(key=lambda each: each.id != name)
        found.append(Erratum(tuple(group), group[0].fault, consequence, (level, position[name])))
    return sorted(found, key=lambda each: each.rank)


def _filed(fault: Fault | None) -> tuple[int, str] | None:
    """How much a fault matters, 0 the most, and what it does to the statements."""
    if fault is None:
        return None
    misprint = fault.kind is FaultKind.MISPRINT
    if fault.headline and not fault.changes:
        return 1, "what the paper says of its results is not so; no numbered statement changes"
    if not fault.changes:
        return (
            (5, "a misprint: no statement changes") if misprint else (3, "lines of the proof change, no statement does")
        )
    theorem = any(key.partition("/")[2].startswith(("theorem", "corollary")) for key in fault.changes)
    level = 4 if misprint else 2 if fault.kind is FaultKind.EDGE_CASE or not theorem else 0
    return level, f"changes {', '.join(fault.changes)}"


def _unfiled(finding: StepResult, conclusions: Mapping[str, Conclusion]) -> tuple[int, str]:
    """The same for a step that is false and of which no reader has said why, or vacuous."""
    key = finding.of
    standing = conclusions[key].standing if key in conclusions else Standing.UNDECIDED
    if finding.vacuous:
        return 2, f"nothing was shown; {key}: {standing.value}"
    if finding.kind == StepKind.END_TO_END.value:
        return 0, f"{key} is false as printed"
    if not finding.mended:
        return 2, f"no repair is proved; {key}: {standing.value}"
    return (
        (2, f"{key} is false as printed, see there") if standing is Standing.FALSE else (3, f"{key} {standing.value}")
    )
