"""Verdicts as text, in the terms of the paper, and as JSON data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bounds.assumption import OF_SEVERAL, Assumption
from bounds.ledger.refuted import refuted, refuted_fields
from bounds.statement import Over, Relation
from bounds.statement import number as value
from bounds.symbols import Role
from ratecheck.outcome import Outcome
from ratecheck.plain import picked
from ratecheck.problems.constants import Certificate, Constant
from ratecheck.verification.verdict import lost
from ratecheck.views.numbers import number, sides, tie
from ratecheck.views.width import table

if TYPE_CHECKING:
    from ratecheck.verification.proof import VerdictProof
    from ratecheck.verification.verdict import Comparison, Verdict


def proof_text(proof: VerdictProof) -> str:
    """The proof on an instance, both sides as intervals."""
    lines = [f"  proof   {proof.outcome.value}, proved in interval arithmetic" if proof.outcome else "  proof   none"]
    if proof.reason:
        lines[0] += f": {proof.reason}"
    if proof.outcome is None:
        lines[0] += "; the verdict is that of floating point"
    fields = proof.fields()
    for name in ("left", "right"):
        if fields[name] is not None:
            low, high = fields[name]
            lines.append(f"  {name:6}  in [{low!r}, {high!r}]")
    return "\n".join([*lines, *(f"  note    {note}" for note in proof.notes)])


def verdict_text(verdict: Verdict) -> str:
    """A verdict with both sides, the numbers that went in and every assumption's certificate."""
    lines = [f"{verdict.statement.key}   {verdict.statement.title}   {outcome_text(verdict)}{_apart(verdict)}"]
    for comparison in _tightest(verdict):
        lines += _sides(verdict, comparison)
    lines += [f"  because {each.text}" for each in verdict.impossible]
    lines += [f"  because {reason}" for reason in verdict.reasons]
    lines.append(f"  on      {verdict.problem}")
    lines.append(f"  with    {_settings(verdict)}")
    lines += [f"  assumes {line}" for line in _assumed(verdict)]
    lines += [f"  uses    {line}" for line in _other_constants(verdict)]
    lines += [f"  note    {note}" for note in verdict.notes]
    against = refuted(verdict.statement)
    lines += [] if against is None else [f"  audit   {against.text}"]
    return "\n".join(lines)


def outcome_text(verdict: Verdict) -> str:
    """The outcome as a headline has it: what it is about, how much it says and what it rests on."""
    text = verdict.outcome.value
    if verdict.outcome is Outcome.HOLDS:
        text += f"{' (vacuous)' if verdict.vacuous else ''} on this problem"
    return f"{text}, if {' and '.join(verdict.supposes)}" if verdict.supposes else text


def _tightest(verdict: Verdict) -> list[Comparison]:
    """The comparison of each claim with the least slack: several participations are checks of the same claims."""
    found: dict[str, list[Comparison]] = {}
    for comparison in verdict.comparisons:
        found.setdefault(comparison.claim, []).append(comparison)
    equal = {claim.name for claim in verdict.statement.claims if claim.relation is Relation.EQUAL}
    return [
        min(each, key=lambda c: -abs(c.relative_slack) if c.claim in equal else c.relative_slack)
        for each in found.values()
    ]


def _apart(verdict: Verdict) -> str:
    """The distance of the sides: the slack, or for an equality their relative difference."""
    worst = verdict.worst
    if worst is not None and any(claim.relation is Relation.EQUAL for claim in verdict.statement.claims):
        if lost(worst.left, worst.left_error) and lost(worst.right, worst.right_error):
            return '   claimed "=", both sides are 0 to within rounding'
        larger = max(abs(worst.left), abs(worst.right), 1e-300)
        # Sides that are differences are compared with what they are differences of.
        parts, size = (" of their largest part", worst.size) if worst.size > 1.01 * larger else ("", larger)
        return f'   claimed "=", sides differ by {abs(worst.right - worst.left) / size:.2%}{parts}'
    return "" if verdict.slack is None else f"   slack {_slack(verdict)}"


def _slack(verdict: Verdict) -> str:
    """The slack; where it is 1 in the digits shown, on which side of it, and whether it may be less."""
    worst = min((c for c in verdict.comparisons if c.slack is not None), key=lambda c: c.slack or 0.0, default=None)
    rounded = worst is not None and verdict.outcome is Outcome.HOLDS and (worst.slack or 0.0) < 1 and tie(worst)
    if rounded:
        return "1 to within rounding"
    if worst is not None and worst.at_least:
        return f"at most {number(verdict.slack)}"
    just_below = verdict.slack is not None and verdict.slack < 1 and number(verdict.slack) == "1"
    return f"1 - {1 - verdict.slack:.1g}" if just_below and verdict.slack is not None else number(verdict.slack)


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """One row per verdict."""
    rows = [("statement", "verdict", "left", "right", "slack", "engine")]
    for verdict in verdicts:
        worst = verdict.worst
        shown = ("-", "-")
        if worst is not None:
            shown = sides(worst)
        vacuous = " (vacuous)" if verdict.outcome is Outcome.HOLDS and verdict.vacuous else ""
        supposing = " (if ...)" if verdict.supposes else ""
        outcome = f"{verdict.outcome.value}{vacuous}{supposing}"
        rows.append((verdict.statement.key, outcome, *shown, _slack(verdict), verdict.engine))
    return table(rows)


# How a round was chosen, where it is not the one with the least slack.
_WHICH = {Over.LAST_ROUND: "the last one", Over.AFTER_ROUNDS: "that of x^T", Over.BEST_ROUND: "the best one"}


def _sides(verdict: Verdict, comparison: Comparison) -> list[str]:
    claim = next(c for c in verdict.statement.claims if c.name == comparison.claim)
    label = "" if len(verdict.statement.claims) == 1 else f"[{claim.name}] "
    place = claim.metric.over.value
    if comparison.round is not None:
        unit = "case" if claim.metric.over is Over.NO_RUN else "round"
        client = "" if comparison.client is None else f" and client {comparison.client}"
        which = _WHICH.get(claim.metric.over, "the one with the least slack")
        place = f"{unit} {comparison.round}{client}, {which}"
    left = f"{label}{claim.metric.expr}, {place}"
    if claim.probability is not None and verdict.replicates is not None:
        left = f"{number(value(claim.probability, verdict.values))}-quantile of {left}"
    if verdict.replicates is None:
        how = f"{verdict.engine} engine{_rounding(comparison)}"
    else:
        drawn = "participations drawn" if verdict.engine == "traces" else "replicates"
        how = f"{verdict.replicates} {drawn}"
        if math.isfinite(comparison.error):
            how += f", +-{number(comparison.error)} at level {verdict.level:.3g}"
    size = sum(abs(term) for term in comparison.terms.values())
    size = size if math.isfinite(size) else 0.0
    shares = ", ".join(f"{name} {_share(abs(term) / size)}" for name, term in comparison.terms.items()) if size else ""
    one, other = sides(comparison)
    one = f"at least {one}" if comparison.at_least else one
    right = f"  right   {other}" + (f"   {shares}" if len(comparison.terms) > 1 else "")
    return [f"  left    {one}   {left}; {how}", right + _vacuity(verdict)]


def _rounding(comparison: Comparison) -> str:
    """The error of the difference of the sides, relative to the left one or to what cancels in it."""
    size = max(abs(comparison.left), comparison.size)
    if not math.isfinite(comparison.error) or not 0 < size < math.inf:
        return ""
    if comparison.error > size:
        return f", rounding error up to {comparison.error:.0e}"
    it = "its parts" if comparison.size > abs(comparison.left) else "it"
    return f", rounding error about {comparison.error / size:.0e} of {it}"


def _share(part: float) -> str:
    return "<1%" if 0 < part < 0.005 else f"{part:.0%}"


def _vacuity(verdict: Verdict) -> str:
    if verdict.vacuous is None:
        return ""
    if verdict.vacuous_until is None:
        return "; vacuous at every T: no better than smoothness alone"
    if verdict.vacuous:
        return f"; vacuous: no better than smoothness alone before T = {verdict.vacuous_until}"
    return f"; not vacuous from T = {verdict.vacuous_until}"


def _settings(verdict: Verdict) -> str:
    vocabulary = verdict.statement.vocabulary
    settings = set(vocabulary.run.values())
    # A number that a caller or a search may choose belongs to what is to be repeated.
    settings |= {q.name for q in vocabulary if q.role in (Role.SETTING, Role.FREE)}
    settings -= vocabulary.implied
    ranges = {name: f"{least}..{most}" for name, (least, most) in verdict.ranges.items()}
    shown = [f"{name}={ranges.get(name, f'{value:g}')}" for name, value in verdict.values.items() if name in settings]
    steps = [
        f"{name}={number(verdict.values[name])} ({origin})"
        for name, origin in verdict.chosen.items()
        if name in verdict.values and name not in vocabulary.implied
    ]
    return " ".join(shown) + ("   " + ", ".join(steps) if steps else "")


def _assumed(verdict: Verdict) -> list[str]:
    if verdict.unrun and not verdict.constants:
        # Nothing was run, and nothing certified.
        return []
    lines = []
    for assumption in verdict.statement.said:
        names = map(verdict.statement.vocabulary.called, assumption.constants)
        certified = [verdict.constants[name] for name in names if name in verdict.constants]
        facts = [_certified(c) for c in certified]
        # Where there is a symbol it says as much.
        facts = facts or [f"{_existing(c)} ({c.reason})" for c in verdict.required.get(assumption, ())]
        lines.append(
            _said(assumption, verdict) + (f": {', '.join(facts)}" if facts else ": exact (by construction of the run)")
        )
    return lines


def _said(assumption: Assumption, verdict: Verdict) -> str:
    """The assumption in words; a single client is not sampled."""
    alone = verdict.values.get(verdict.statement.vocabulary.run.get("clients", "")) == 1
    return Assumption.FULL_PARTICIPATION.value if alone and assumption in OF_SEVERAL else assumption.value


def _existing(constant: Constant) -> str:
    """The certificate of what an assumption requires, where its size does not matter."""
    if constant.certificate is Certificate.ABSENT:
        return f"{constant.name} {constant.standing}"
    bounded = constant.certificate in (Certificate.UPPER_BOUND, Certificate.LOWER_BOUND)
    return "certified" if bounded else constant.standing


def _certified(constant: Constant) -> str:
    """``L=2 exact (largest eigenvalue)``; without a number where there is none."""
    named = f"{constant.name}={number(constant.value)}" if math.isfinite(constant.value) else constant.name
    return f"{named} {constant.standing} ({constant.reason})"


def _other_constants(verdict: Verdict) -> list[str]:
    vocabulary = verdict.statement.vocabulary
    assumed = {vocabulary.called(name) for assumption in verdict.statement.assumptions for name in assumption.constants}
    return [_certified(c) for c in verdict.constants.values() if c.name not in {*vocabulary.implied, *assumed}]


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON data."""
    return {
        **picked(verdict, key="statement.key", verdict="outcome", slack="slack", problem="problem", engine="engine"),
        "claims": [
            {
                **picked(c, name="claim", round="round", client="client", left="left", right="right", error="error"),
                **picked(c, "left_error", "right_error", "at_least", "significant", "slack", "terms"),
            }
            for c in verdict.comparisons
        ],
        **picked(verdict, values="values", step_sizes="chosen"),
        "constants": {
            c.name: picked(c, value="value", certificate="standing", reason="reason")
            for c in verdict.constants.values()
        },
        "assumptions": verdict.statement.assumptions,
        "conditions": [
            picked(c, name="condition.name", text="condition.text", holds="holds") for c in verdict.conditions
        ],
        **picked(verdict, "vacuous", "vacuous_until", "replicates", "level", "reasons", "notes"),
        "headline": outcome_text(verdict),
        **picked(verdict, "supposes", "impossible"),
        "audit": refuted_fields(verdict.statement),
    }
