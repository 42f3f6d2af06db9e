"""Results as plain text, in the terms of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bounds.ledger.refuted import refuted
from bounds.numbers import apart
from bounds.statement import Evaluation, Over, Relation, Statement
from ratecheck.outcome import Outcome
from ratecheck.stepsizes.interval import Interval, point
from ratecheck.stepsizes.typable import end_text, shortest, steps_text, value_text
from ratecheck.verification.verdict import lost
from ratecheck.views.width import table

if TYPE_CHECKING:
    from ratecheck.stepsizes.admissible import StepSizes
    from ratecheck.stepsizes.nearest import Nearest
    from ratecheck.stepsizes.region import Region
    from ratecheck.verification.proof import Proof
    from ratecheck.verification.verdict import Comparison, Verdict


def number(value: float | None) -> str:
    """A number with four significant digits."""
    return "-" if value is None else f"{value:.4g}"


def side(value: float, error: float) -> str:
    """One side of a claim: no digits where it has none, or where they are nothing but rounding."""
    if not math.isfinite(value):
        return "beyond float64"
    return f"0 to within rounding ({error:.0e})" if lost(value, error) else number(value)


def evaluation_text(statement: Statement, evaluation: Evaluation) -> str:
    """A bound with its terms, conditions and defaults."""
    rows = []
    for name, value in evaluation.claims.items():
        label = "bound" if len(evaluation.claims) == 1 else f"bound [{name}]"
        shares = ", ".join(f"{term} {number(part)}" for term, part in evaluation.terms[name].items())
        rows.append((label, f"{value:.10g}", shares if len(evaluation.terms[name]) > 1 else ""))
    lines = [f"{statement.key}   {statement.title}", table(rows)]
    if evaluation.vacuous is not None:
        verb = "vacuous: no better than" if evaluation.vacuous else "not vacuous: below"
        lines.append(f"{verb} {number(evaluation.trivial)}, which smoothness alone gives")
    for check in evaluation.conditions:
        state = {True: "holds", False: "BROKEN", None: "undecided"}[check.holds]
        # Where a condition is broken by a hair, as many digits as tell the sides apart.
        sides = (number(check.left), number(check.right))
        left, right = apart(check.left, check.right, 4) if check.holds is False else sides
        compared = "" if check.left is None else f"   {left} against {right}"
        lines.append(f"{state:9}  {check.condition.text}{compared}")
    if evaluation.defaulted:
        filled = ", ".join(f"{name}={number(evaluation.values[name])}" for name in evaluation.defaulted)
        lines.append(f"filled in  {filled}")
    return "\n".join(lines)


def interval_text(interval: Interval) -> str:
    """An interval in the usual notation; 0 and infinity are open ends.

    Closed ends are rounded inwards and open ones outwards, so that what is printed is admissible or not as the bracket
    says; a value that is the only one is printed in full.
    """
    if interval.single:
        return f"{shortest(interval.low)} only"
    left, right = "(" if interval.open[0] else "[", ")" if interval.open[1] else "]"
    return f"{left}{end_text(interval, 0)}, {end_text(interval, 1)}{right}"


def step_sizes_text(answer: StepSizes, nearest: Nearest | None = None) -> str:
    """Admissible intervals, prescribed values and optimum; where there are none, what conflicts and what would do."""
    statement = answer.statement
    lines = [f"{statement.key}   {statement.title}"]
    if not answer.feasible:
        lines.append("no step sizes are admissible: these conditions conflict")
        lines += [f"  {name}" for name in answer.conflict]
        return "\n".join([*lines, *([] if nearest is None else _nearest_lines(nearest))])
    rules = {rule.symbol.name: rule for rule in statement.step_rules}
    rows = [("step size", "admissible", "prescribed", "minimises the bound")]
    known = answer.values | {rule.symbol: rule.value for rule in answer.problem.fixed}
    typed = steps_text(statement, known, answer.optimal)
    for name, interval in answer.admissible.items():
        prescribed = ""
        if name in answer.prescribed:
            smallest = Interval(answer.prescribed[name]) if rules[name].at_least else point(answer.prescribed[name])
            prescribed = ("from " if rules[name].at_least else "") + value_text(answer.prescribed[name], smallest)
        elif name in answer.defaults:
            prescribed = f"default {value_text(answer.defaults[name], interval)}"
        rows.append((name, interval_text(interval), prescribed, typed.get(name, "")))
    lines.append(table(rows))
    if answer.optimal_bound is not None:
        infimum = {0.0: "0: it has no positive infimum", -math.inf: "minus infinity"}
        lines.append(f"smallest bound {infimum.get(answer.optimal_bound, f'{answer.optimal_bound:.6g}')}")
    if answer.approached:
        ends = ", ".join(f"{name} -> {end:.6g}" for name, end in answer.approached.items())
        given = "value" if len(answer.approached) == 1 else "values"
        near = f"; at the {given} above the bound is within 1% of it" if answer.optimal else ""
        lines.append(f"approached as {ends}{near}")
    if answer.entangled:
        lines.append("the conditions tie the step sizes together: no minimiser of the bound was found")
    if not statement.hypotheses:
        lines.append("the statement restricts no step size")
    if answer.missing:
        lines.append(f"to minimise the bound, give also {', '.join(answer.missing)}")
    return "\n".join(lines)


def _exact(value: float) -> str:
    """A number that reads back as it is, with few digits where it has few."""
    return f"{value:.10g}" if float(f"{value:.10g}") == value else repr(value)


def region_text(region: Region) -> str:
    """Where the boundary of a region of two step sizes runs, and which conditions make it."""
    x, y = region.axes
    rows = [[f"boundary of ({x}, {y})", "from", "to"]]
    for edge in region.edges:
        if edge.because:
            ends = (f"({end[0]:.6g}, {end[1]:.6g})" for end in (edge.points[0], edge.points[-1]))
            rows.append([", ".join(edge.because), *ends])
    return table(rows)


def _nearest_lines(nearest: Nearest) -> list[str]:
    if not nearest.steps and not nearest.constants:
        return ["no step sizes would do, nor would a multiple of a single constant"]
    lines = []
    if nearest.steps:
        steps = ", ".join(f"{name}={_exact(value)}" for name, value in nearest.steps.items())
        lines.append(f"nearest admissible: {steps}")
    limits = [
        f"{name} {'>=' if limit.upwards else '<='} {_exact(limit.value)}" for name, limit in nearest.constants.items()
    ]
    if limits:
        condition = "or, with the step sizes as given," if nearest.as_given else "with other step sizes"
        lines.append(f"{condition} feasible for one of {'; '.join(limits)}")
    return lines


def proof_text(proof: Proof) -> str:
    """What was proved of an instance, both sides as intervals."""
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
    lines = [f"{verdict.statement.key}   {verdict.statement.title}   {outcome_text(verdict)}{_room(verdict)}"]
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
    """Of each claim the comparison with the least room: several participations are checks of the same claims."""
    found: dict[str, list[Comparison]] = {}
    for comparison in verdict.comparisons:
        found.setdefault(comparison.claim, []).append(comparison)
    equal = {claim.name for claim in verdict.statement.claims if claim.relation is Relation.EQUAL}
    return [min(each, key=lambda c: -abs(c.room) if c.claim in equal else c.room) for each in found.values()]


def _room(verdict: Verdict) -> str:
    """How far apart the sides are: the slack, or for an equality their relative difference."""
    worst = verdict.worst
    if worst is not None and any(claim.relation is Relation.EQUAL for claim in verdict.statement.claims):
        size = max(abs(worst.right), worst.size, 1e-300)
        return f'   claimed "=", sides differ by {abs(worst.right - worst.left) / size:.2%}'
    return "" if verdict.slack is None else f"   slack {number(verdict.slack)}"


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """One row per verdict."""
    rows = [("statement", "verdict", "left", "right", "slack", "engine")]
    for verdict in verdicts:
        worst = verdict.worst
        sides = ("-", "-")
        if worst is not None:
            sides = side(worst.left, worst.left_error), side(worst.right, worst.right_error)
        vacuous = " (vacuous)" if verdict.outcome is Outcome.HOLDS and verdict.vacuous else ""
        supposing = " (supposes moments)" if verdict.supposes else ""
        outcome = f"{verdict.outcome.value}{vacuous}{supposing}"
        rows.append((verdict.statement.key, outcome, *sides, number(verdict.slack), verdict.engine))
    return table(rows)


def _sides(verdict: Verdict, comparison: Comparison) -> list[str]:
    claim = next(c for c in verdict.statement.claims if c.name == comparison.claim)
    label = "" if len(verdict.statement.claims) == 1 else f"[{claim.name}] "
    place = claim.metric.over.value
    if comparison.round is not None:
        unit = "case" if claim.metric.over is Over.NO_RUN else "round"
        client = "" if comparison.client is None else f" and client {comparison.client}"
        place = f"{unit} {comparison.round}{client}, the one with least room"
    left = f"{label}{claim.metric.expr}, {place}"
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
    right = f"  right   {side(comparison.right, comparison.right_error)}" + (
        f"   {shares}" if len(comparison.terms) > 1 else ""
    )
    return [f"  left    {side(comparison.left, comparison.left_error)}   {left}; {how}", right + _vacuity(verdict)]


def _rounding(comparison: Comparison) -> str:
    """How accurate the difference of the sides is, relative to the left one or to what cancels in it."""
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
    settings = set(verdict.statement.vocabulary.run.values())
    ranges = {name: f"{least}..{most}" for name, (least, most) in verdict.ranges.items()}
    shown = [f"{name}={ranges.get(name, f'{value:g}')}" for name, value in verdict.values.items() if name in settings]
    steps = [
        f"{name}={number(verdict.values[name])} ({origin})"
        for name, origin in verdict.chosen.items()
        if name in verdict.values
    ]
    return " ".join(shown) + ("   " + ", ".join(steps) if steps else "")


def _assumed(verdict: Verdict) -> list[str]:
    if verdict.engine == "none" and not verdict.constants:
        # Nothing was run, and nothing certified.
        return []
    lines = []
    for assumption in verdict.statement.assumptions:
        certified = [verdict.constants[name] for name in assumption.constants if name in verdict.constants]
        facts = [f"{c.name}={number(c.value)} {c.certificate.value} ({c.reason})" for c in certified]
        lines.append(assumption.value + (f": {', '.join(facts)}" if facts else ": exact (by construction of the run)"))
    return lines


def _other_constants(verdict: Verdict) -> list[str]:
    others = [c for c in verdict.constants.values() if not _belongs(c.name, verdict.statement)]
    return [f"{c.name}={number(c.value)} {c.certificate.value} ({c.reason})" for c in others]


def _belongs(name: str, statement: Statement) -> bool:
    return any(name in assumption.constants for assumption in statement.assumptions)


def catalogue_text(statements: Mapping[str, Statement]) -> str:
    """What commands take for each statement, its number and its title."""
    rows = [
        (address, s.source.number, s.title + ("   (order only)" if s.order_only else ""))
        for address, s in statements.items()
    ]
    return table(rows)


def values_text(values: Mapping[str, object]) -> str:
    """``n=10 m=9``."""
    return " ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in values.items()
    )
