"""Errata of a paper: what is printed and does not hold, one erratum per cause, what matters most first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import bounds
from bounds.ledger.fault import Fault, FaultKind, faults
from bounds.statement import Relation
from ratecheck.auditing.export.conclusions import Conclusion, ProofStanding, refutes
from ratecheck.auditing.finding import StepResult, StepVerdict


@dataclass(frozen=True)
class Erratum:
    """The refuted or vacuous steps that have one cause, first the one where it is made, with how much it matters.

    ``fault`` says what is wrong, and how it may have been meant; None where nobody has filed the step. ``refutes`` are
    the statements that it makes false as printed. The smaller ``rank``, the more it matters; its first entry is the
    level: 0 changes a theorem as it is printed, 1 what the paper says of its results, 2 has no known repair, 3 changes
    explicit constants of a theorem that is printed with an O(.), 4 another statement, 5 lines of a proof, 6 and 7 are
    misprints that change a statement or none.
    """

    findings: tuple[StepResult, ...]
    fault: Fault | None
    refutes: tuple[str, ...]
    consequence: str
    rank: tuple[int, bool, int]

    @property
    def first(self) -> StepResult:
        """The step where it is made."""
        return self.findings[0]

    @property
    def kind(self) -> str:
        """The kind of the fault in words, or the verdict on a step that is not filed."""
        return self.first.verdict.value if self.fault is None else self.fault.kind.text


def errata(findings: Sequence[StepResult], conclusions: Mapping[str, Conclusion]) -> list[Erratum]:
    """Errata: everything false, vacuous or misprinted; those that change a theorem first, misprints last.

    Of equal level those come first that make a statement false as printed, then those that are filed first.
    """
    wrong = [each for each in findings if each.vacuous or each.verdict in (StepVerdict.FALSE, StepVerdict.TYPO)]
    grouped: dict[str, list[StepResult]] = {}
    for each in wrong:
        grouped.setdefault(each.id if each.fault is None else each.fault.id, []).append(each)
    filed = [fault.id for paper in dict.fromkeys(each.paper for each in wrong) for fault in faults(paper)]
    position = {name: number for number, name in enumerate(dict.fromkeys([*filed, *grouped]))}
    found = []
    for name, group in grouped.items():
        false = _false(group)
        level, consequence = _filed(group[0].fault, false) or _unfiled(group[0], conclusions)
        group.sort(key=lambda each: each.id != name)
        rank = (level, not false, position[name])
        found.append(Erratum(tuple(group), group[0].fault, false, consequence, rank))
    return sorted(found, key=lambda each: each.rank)


def _false(group: Sequence[StepResult]) -> tuple[str, ...]:
    """The statements that these steps make false as printed, what matters most first, as the fault lists them."""
    fault, false = group[0].fault, dict.fromkeys(each.of for each in group if refutes(each))
    listed = () if fault is None else fault.changes
    return tuple(sorted(false, key=lambda key: listed.index(key) if key in listed else len(listed)))


def _filed(fault: Fault | None, false: Sequence[str]) -> tuple[int, str] | None:
    """The level of a fault, and what it does to the statements, of which it makes some false as printed."""
    if fault is None:
        return None
    misprint = fault.kind is FaultKind.MISPRINT
    if fault.headline and not fault.changes:
        return 1, "what the paper says of its results is not so; no numbered statement changes"
    if not fault.changes:
        return (
            (7, "a misprint: no statement changes") if misprint else (5, "lines of the proof change, no statement does")
        )
    theorems = [key for key in fault.changes if key.partition("/")[2].startswith(("theorem", "corollary"))]
    explicit = [key for key in theorems if _under_an_order(key)]
    of_theorem = 3 if len(explicit) == len(theorems) else 0
    level = 6 if misprint else 4 if fault.kind is FaultKind.EDGE_CASE or not theorems else of_theorem
    others = [key for key in fault.changes if key not in (*false, *explicit)]
    parts = (("makes {} false as printed", false), ("changes {}", others), (_CONSTANTS, explicit))
    return level, "; ".join(text.format(", ".join(keys)) for text, keys in parts if keys)


_CONSTANTS = "changes constants of {}, which the paper has under an O(.)"


def _under_an_order(key: str) -> bool:
    """Whether a statement has the explicit constants of a theorem that the paper prints as an order.

    Then the printed form is a statement of the same number that follows from it.
    """
    if key.partition("/")[0] not in bounds.PAPERS:
        return False
    number = bounds.get(key).source.number.partition(",")[0]
    return any(
        each.claims[0].relation is Relation.ORDER and each.source.number.partition(",")[0] == number
        for each in bounds.statements(key.partition("/")[0])
        if key in each.follows_from
    )


def _unfiled(finding: StepResult, conclusions: Mapping[str, Conclusion]) -> tuple[int, str]:
    """Rank and text of a step that is vacuous, or false without a reason that a reader has given."""
    key = finding.of
    standing = conclusions[key].standing if key in conclusions else ProofStanding.UNDECIDED
    if finding.vacuous:
        return 2, f"nothing was shown; {key}: {standing.value}"
    if finding.end_to_end:
        return 0, f"{key} is false as printed"
    if not finding.mended:
        return 2, f"no repair is proved; {key}: {standing.value}"
    return (4, f"{key} is false as printed") if standing is ProofStanding.FALSE else (5, f"{key} {standing.value}")
