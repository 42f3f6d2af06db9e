"""Ledgers with their verdicts as text and as JSON data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ratecheck.auditing.errata import Erratum
from ratecheck.auditing.export.conclusions import Conclusion
from ratecheck.auditing.finding import StepResult, StepVerdict
from ratecheck.auditing.mutation.analysis import MutationSummary
from ratecheck.plain import picked
from ratecheck.views.width import table

# What the JSON data of an erratum have in place of a fault.
_UNFILED: Mapping[str, Any] = {"kind": "", "wrong": "", "meant": "", "changes": [], "headline": False}
_ORDER = list(StepVerdict)
_BASIS = {"certificate": "certified", "solver": "z3 only", "instances": "instances"}


def findings_fields(findings: Sequence[StepResult], conclusions: Mapping[str, Conclusion]) -> list[dict[str, Any]]:
    """Steps as JSON data, one object each."""
    return [
        {
            **picked(f, "id", "paper", "location", "claim", "kind", "of", "verdict", "certified", "basis", "scope"),
            **picked(f, "narrower", "label"),
            "finding": "" if f.fault is None else f.fault.kind,
            **picked(f, "evidence", "repair", "repaired", "vacuous", "unused", "loose", "asked", "digest"),
            "conclusion": conclusions[f.of].text,
        }
        for f in findings
    ]


def conclusions_fields(conclusions: Mapping[str, Conclusion]) -> list[dict[str, Any]]:
    """The conclusions on each statement, as JSON data."""
    return [picked(c, "key", "standing", "reasons", "steps") for c in conclusions.values()]


def errata_fields(errata: Sequence[Erratum]) -> list[dict[str, Any]]:
    """The errata as JSON data, what matters most first."""
    return [
        {
            "steps": [f.id for f in each.findings],
            **(_UNFILED if each.fault is None else each.fault.fields()),
            "consequence": each.consequence,
        }
        for each in errata
    ]


def ledger_text(findings: Sequence[StepResult], conclusions: Mapping[str, Conclusion], wrong: Sequence[Erratum]) -> str:
    """A table of steps per statement, the conclusions, the errata, and the counts."""
    parts = []
    for key in conclusions:
        rows = [["  step", "location", "kind", "verdict", "by"]]
        rows += [_row(f) for f in findings if f.of == key]
        parts += [key, table(rows), ""]
    parts += ["conclusions", *(f"  {c.key}: {c.text}" for c in conclusions.values()), ""]
    if wrong:
        parts.append("errata, what matters most first")
        for position, each in enumerate(wrong, 1):
            parts += [_erratum(position, each), ""]
    parts.append(counts_text(findings))
    return "\n".join(parts)


def _row(finding: StepResult) -> list[str]:
    # Of a user's own ids not every one begins with a paper.
    step = finding.id.partition("/")[2] or finding.id
    by = _BASIS.get(finding.basis, f"repaired form {finding.repaired_label}" if finding.repaired else "")
    return [f"  {step}", finding.location, finding.kind, finding.label, finding.narrower if finding.special else by]


def _erratum(position: int, erratum: Erratum) -> str:
    finding, fault = erratum.first, erratum.fault
    repair = f"{finding.repair or 'see the repaired form'} ({_repaired(finding) or 'not checked'})"
    rows = [
        ["claim", finding.claim],
        ["wrong", fault.wrong if fault else ""],
        ["because", finding.evidence],
        ["repair", repair if finding.repair or finding.repaired else ""],
        ["meant", fault.meant if fault else ""],
        ["also", ", ".join(each.id for each in erratum.findings[1:])],
        ["so", erratum.consequence],
    ]
    head = f"{position:3}. {finding.id}   {finding.location}   {erratum.kind}"
    return "\n".join([head, *(f"     {label:7}  {text}" for label, text in rows if text)])


def _repaired(finding: StepResult) -> str:
    """The verdict on the repaired form, and the part of it that was examined."""
    return finding.repaired_label + (f": {finding.narrower}" if finding.special else "")


def step_text(finding: StepResult, conclusion: Conclusion, changed: MutationSummary | None) -> str:
    """Everything about one step, and what the instances on which it was checked make of the ``changed`` claim."""
    rows = [
        ["claim", finding.claim],
        ["kind", finding.kind],
        ["examined", f"{finding.scope.value}{': ' * bool(finding.narrower)}{finding.narrower}"],
        ["evidence", finding.evidence],
        ["power", "" if changed is None else power_text(changed)],
        ["witness", f"the hypotheses hold at {finding.witness}" if finding.witness else ""],
        *(["unused", name] for name in finding.unused),
        *(["slack", each] for each in finding.loose),
        ["partial", "" if finding.asked else "not all were examined: more may be unused, or have slack"],
        ["repair", f"{finding.repair} ({_repaired(finding)}: {finding.repaired_evidence})" if finding.repaired else ""],
        *([["fault", f"{finding.fault.kind.text}: {finding.fault.wrong}"]] if finding.fault else []),
        *([["meant", finding.fault.meant]] if finding.fault else []),
        ["remark", finding.remark],
        ["statement", f"{finding.of}: {conclusion.text}"],
    ]
    special = f": {finding.narrower}" if finding.special and not finding.repaired else ""
    head = f"{finding.id}   {finding.location}   {finding.label}{special}"
    return "\n".join([head, *(f"  {label:9}  {text}" for label, text in rows if text)])


def power_text(changed: MutationSummary) -> str:
    """The number of wrong claims that the instances of a step tell from the right one."""
    power = changed.instances
    if not power.harmful:
        return "not known: the claim has nothing that can be changed"
    needed = ", ".join(f"{count} by {by}" for by, count in changed.noticed.items() if count)
    numbers = f"; numbers had to be changed: {needed}" if needed else ""
    return f"the instances refute {power.refuted} of {power.harmful} claims with one thing changed{numbers}"


def counts_text(findings: Sequence[StepResult]) -> str:
    """The number of steps of each verdict, and the basis of the proofs."""
    lines = []
    for paper in dict.fromkeys(f.paper for f in findings):
        own = [f for f in findings if f.paper == paper]
        labels = Counter(f.label for f in sorted(own, key=lambda f: _ORDER.index(f.verdict)))
        verdicts = ", ".join(f"{count} {label}" for label, count in labels.items())
        covering = Counter(f.basis for f in own if f.scope.covers)
        bases = ", ".join(f"{covering[basis]} {name}" for basis, name in _BASIS.items() if covering[basis])
        line = f"{paper}: {len(own)} steps; {verdicts}; {bases or 'nothing proved'}"
        if any(f.asked for f in own if f.basis):
            line += f"; {sum(bool(f.loose) for f in own)} with slack"
            if part := sum(not f.asked for f in own):
                line += f", {part} examined in part"
        lines.append(line)
    return "\n".join(lines)


def _by_kind(summary: MutationSummary) -> list[list[str]]:
    """The fates of the mutants of every kind."""
    head = [summary.name, *summary.all.counts, "of those that may do harm"]
    return [head] + [
        [kind, *map(str, found.counts.values()), f"{found.share:.1%} refuted"]
        for kind, found in summary.kinds.items()
        if any(found.counts.values())
    ]


def mutation_text(summaries: Sequence[MutationSummary]) -> str:
    """The refuted mutants by method of decision and kind of change, and those that survive."""
    rows = [["", "claims", *summaries[0].all.counts, "of those that may do harm"]]
    for each in summaries:
        parts = (("all", each.all), ("by algebra", each.algebra), ("on instances", each.instances))
        rows += [
            [each.name if kind == "all" else "", kind, *map(str, found.counts.values()), f"{found.share:.1%} refuted"]
            for kind, found in parts
        ]
    lines = [table(rows), "", table(_by_kind(summaries[-1]))]
    for each in summaries:
        if any(each.noticed.values()):
            noticed = ", ".join(f"{count} at {by}" for by, count in each.noticed.items())
            lines.append(f"{each.name}: constants of claims on instances are noticed {noticed}")
    survivors = [list(one) for each in summaries for one in each.survivors]
    if survivors:
        lines += ["", table([["step", "change", "why it survives"], *survivors])]
    return "\n".join(lines)
