"""Which findings are gone, which are new: those of the audit and of the linter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ratecheck.auditing.finding import StepResult, StepVerdict
from ratecheck.linting.finding import Report
from ratecheck.versions.match import last


@dataclass(frozen=True, kw_only=True)
class FindingsChange:
    """Findings in words: those of the old version alone, of the new one alone, and how many both have."""

    gone: tuple[str, ...]
    added: tuple[str, ...]
    kept: int


def steps(old: Sequence[StepResult], new: Sequence[StepResult]) -> FindingsChange:
    """The findings of the audit: steps that are false, misprinted or vacuous."""
    found: list[dict[tuple[object, ...], str]] = [
        {_key(each): _words(each) for each in side if _wrong(each)} for side in (old, new)
    ]
    return _compared(*found)


def lint(old: Report, new: Report) -> FindingsChange:
    """The findings of the linter, told apart by their subjects."""
    found: list[dict[tuple[object, ...], str]] = [
        {
            (each.level, each.check, each.field, each.part): f"{each.level.value}, {each.field}: {each.text}"
            for each in r.findings
        }
        for r in (old, new)
    ]
    return _compared(*found)


def _compared(old: Mapping[tuple[object, ...], str], new: Mapping[tuple[object, ...], str]) -> FindingsChange:
    return FindingsChange(
        gone=tuple(old[key] for key in old if key not in new),
        added=tuple(new[key] for key in new if key not in old),
        kept=len(old.keys() & new.keys()),
    )


def _wrong(step: StepResult) -> bool:
    return step.vacuous or step.verdict in (StepVerdict.FALSE, StepVerdict.TYPO)


def _key(step: StepResult) -> tuple[str, str]:
    return last(step.id), step.verdict.value


def _words(step: StepResult) -> str:
    kind = "" if step.fault is None else f", {step.fault.kind.text}"
    vacuous = ", vacuous" if step.vacuous else ""
    return f"{step.verdict.value} {step.id}{vacuous}{kind}: {step.claim}"
