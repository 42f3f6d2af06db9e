"""The interval engine's recheck of verdicts that rounding leaves open: when, at which cost, and with which result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from bounds.statement import Claim, ConditionCheck, Relation, names_in, number
from bounds.symbols import measured_in
from ratecheck.algebra.enclosure import Enclosure, outward
from ratecheck.engines.rigorous.runs import exact_runs
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation
from ratecheck.settings.setting import Setting
from ratecheck.verification import claim_sides as sides
from ratecheck.verification.proof import VerdictProof
from ratecheck.verification.rigorous import decided
from ratecheck.verification.verdict import Comparison, Verdict

# A bound that is larger than a rounding error by this factor can be told from it.
_TELLING = 1e3
# A violation by less than this, relative to the larger side, is rechecked without rounding.
_HAIR = 1e-6


def rechecked(verdict: Verdict, setting: Setting, trace: Participation) -> Verdict:
    """The verdict of floating point on one trace where rounding decides nothing, otherwise what is proved.

    A violation within rounding is rechecked in any case: prescribed step sizes and certified constants are rounded,
    too. With ``setting.options.rigorous`` what is inconclusive is rechecked, and so is every violation: it is kept
    where nothing is proved.
    """
    pairs = list(zip(verdict.comparisons, verdict.statement.claims, strict=False))
    if any(check.holds is False for check in verdict.conditions):
        return verdict
    if verdict.outcome is Outcome.INCONCLUSIVE and pairs and all(_by_formula(verdict, *pair) for pair in pairs):
        note = "the sides are equal by the formulas that set the step sizes"
        return replace(verdict, outcome=Outcome.HOLDS, reasons=(), notes=(*verdict.notes, note))
    one_run = setting.problem.piecewise and not verdict.replicates
    if not (verdict.engine == "exact" or one_run) or not pairs:
        return verdict
    violated = [c for c, claim in pairs if sides.judged(c, claim)[0] is Outcome.VIOLATED]
    if verdict.outcome is Outcome.VIOLATED and not violated:
        # Sides that differ by their rounding errors can be judged either way.
        violated = [c for c, _ in pairs]
    within_rounding = bool(violated) and max(map(_excess, violated)) < _HAIR
    # A bound that is a number and overflows is nothing that a run could settle.
    numbers = all(math.isfinite(c.right) or _measured(verdict, claim) for c, claim in pairs)
    rigorous = setting.options.rigorous
    is_open = rigorous and verdict.outcome in (Outcome.INCONCLUSIVE, Outcome.DIVERGED) and numbers
    if not is_open and not within_rounding and not (violated and rigorous):
        return verdict
    proof = _prove(setting, trace)
    if proof.outcome in (Outcome.HOLDS, Outcome.VIOLATED):
        note = f"{proof.outcome.value} is proved in interval arithmetic"
        if proof.outcome is Outcome.VIOLATED and proof.left is not None and proof.right is not None:
            note += f": the sides differ by {_gap(proof.left, proof.right):.3g}"
        if proof.outcome is not verdict.outcome:
            note += "; float64 alone cannot tell the sides apart"
        notes, comparisons = (*verdict.notes, note, *proof.notes), proof.shown(verdict)
        return replace(verdict, outcome=proof.outcome, comparisons=comparisons, reasons=(), notes=notes)
    return _unproved(verdict, setting, proof, within_rounding=within_rounding)


def _prove(setting: Setting, trace: Participation) -> VerdictProof:
    """The proof of the interval engine on the trace, at a bounded cost."""
    options = replace(setting.options, engine="exact", ignore_conditions=False)
    try:
        return decided(replace(setting.on(trace) if trace.deterministic else setting, options=options))
    except InputError as error:
        return VerdictProof(None, str(error))


def _gap(left: Enclosure, right: Enclosure) -> float:
    """The least distance of the sides."""
    return abs(outward(left - right if left.low > right.high else right - left)[0])


def _unproved(verdict: Verdict, setting: Setting, proof: VerdictProof, *, within_rounding: bool) -> Verdict:
    """The verdict where nothing is proved."""
    if verdict.outcome is Outcome.INCONCLUSIVE and proof.agree:
        note = "the sides agree to within a millionth of them in interval arithmetic, where float64 is not exact enough"
        return replace(verdict, outcome=Outcome.HOLDS, reasons=(), notes=(*verdict.notes, note, *proof.notes))
    if verdict.outcome is Outcome.INCONCLUSIVE:
        why = proof.reason or "the enclosures of the two sides overlap"
        reasons = (*verdict.reasons, f"the interval engine does not decide it either: {why}", *_shorter(verdict))
        return replace(verdict, reasons=reasons)
    runs = exact_runs(setting.problem)
    if runs is not None and runs.doubt and (runs.must_be_proved or proof.left is not None):
        reason = f"{runs.doubt}: {proof.reason or 'the enclosures of the two sides overlap'}"
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, reasons=(reason,))
    if not within_rounding:
        return verdict
    edge = [check.condition.text for check in verdict.conditions if _on_the_edge(check)]
    why = f'"{edge[0]}" holds up to rounding only' if edge else f"nothing is proved: {proof.reason or 'they overlap'}"
    reason = f"the sides agree to within rounding, and {why}"
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, reasons=(reason,))


def _shorter(verdict: Verdict) -> Iterator[str]:
    """A number of rounds that tells more, where the bound falls below the rounding of the left side."""
    claims = {claim.name: claim for claim in verdict.statement.claims}
    rounds, worst = verdict.statement.vocabulary.run.get("rounds", ""), verdict.worst
    if worst is None or worst.significant or rounds not in verdict.values:
        return
    bound, T = claims[worst.claim].bound, int(verdict.values[rounds])
    while (T := T // 2) > 0:
        values = {**verdict.values, rounds: T, **dict.fromkeys(verdict.statement.vocabulary.counters, T)}
        if not names_in(bound) <= values.keys():
            return
        if number(bound, values) > _TELLING * worst.left_error:
            yield f"both sides are as small as rounding; a shorter run tells more, such as {rounds}={T}"
            return


def _measured(verdict: Verdict, claim: Claim) -> bool:
    """Whether the right side contains what a run measures."""
    return bool(measured_in(claim.bound, verdict.statement.vocabulary))


def _by_formula(verdict: Verdict, comparison: Comparison, claim: Claim) -> bool:
    """Whether a claim about numbers holds, if need be since a step size is set to the other side."""
    if measured_in(claim.bound - claim.metric.expr, verdict.statement.vocabulary):
        return False
    if sides.judged(comparison, claim)[0] is Outcome.HOLDS:
        return True
    rules = {
        rule.symbol: rule.value
        for rule in verdict.statement.step_rules
        if verdict.chosen.get(rule.symbol.name) in ("prescribed", "default", "smallest admissible")
    }
    left, right = claim.metric.expr, claim.bound
    for _ in rules:
        left, right = left.xreplace(rules), right.xreplace(rules)
    # A minimum is at most each of its parts.
    parts = left.args if isinstance(left, sp.Min) and claim.relation is Relation.AT_MOST else (left,)
    return any(sp.expand(part - right) == 0 for part in parts)


def _excess(comparison: Comparison) -> float:
    """The difference of the sides relative to the larger one."""
    return abs(comparison.left - comparison.right) / max(abs(comparison.left), abs(comparison.right), comparison.size)


def _on_the_edge(check: ConditionCheck) -> bool:
    """Whether a condition is met by the tolerance for rounding alone."""
    if check.left is None or check.right is None:
        return False
    operator, left, right = check.condition.operator, check.left, check.right
    return (operator in ("<=", "==") and left > right) or (operator in (">=", "==") and left < right)
