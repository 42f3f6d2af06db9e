"""Searches for violating instances as text and as JSON data."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bounds
from ratecheck.falsification.falsified import Falsified
from ratecheck.falsification.shrinking.simpler import SIZES
from ratecheck.outcome import Outcome
from ratecheck.plain import picked, picked_or_none
from ratecheck.views.checks.counterexample import WrittenCounterexample
from ratecheck.views.checks.verdict import verdict_fields, verdict_text
from ratecheck.views.numbers import number
from ratecheck.views.width import columns, table

if TYPE_CHECKING:
    from ratecheck.falsification.falsified import Shrunk
    from ratecheck.falsification.performance_estimation.worst_case import WorstCase
    from ratecheck.falsification.performance_estimation.worst_functions import WorstFunctions
    from ratecheck.falsification.terms import Niche
    from ratecheck.falsification.unconfirmed import Unconfirmed
    from ratecheck.proving.prove import PotentialProof
    from ratecheck.verification.instance import Instance

# Columns of a sentence.
_COLUMNS = 100

# Sides that agree to this are called tight; searches that agree to this are called alike, where there are several.
_TIGHT, _ALIKE, _SEVERAL = 1e-6, 0.01, 2

# What is said where no instance has a side other than 0.
_ZERO = "left and right are 0 on all of them, so that this says little"

_OUTCOMES = {
    Outcome.VIOLATED: "VIOLATED",
    Outcome.INCONCLUSIVE: "no violation found",
    Outcome.NOT_APPLICABLE: "NOT_APPLICABLE",
}


def _columns() -> int:
    """The width of sentences, so that none is broken twice."""
    return min(columns() or _COLUMNS, _COLUMNS)


def simplest(found: Falsified) -> Instance | None:
    """The instance of a search, a counterexample after it was shrunk."""
    return found.instance if found.shrunk is None else found.shrunk.instance


def shown_ratio(found: Falsified) -> float | None:
    """Left side / right side: of a shrunk counterexample that of its sentence, else the largest that was found."""
    shown = None if found.shrunk is None else counterexample(found)
    return found.tightness if shown is None else shown.ratio


def counterexample(found: Falsified) -> WrittenCounterexample | None:
    """The counterexample of a search as a person would write it; None where none was found."""
    verdict = found.verdict if found.shrunk is None else found.shrunk.verdict
    instance = simplest(found)
    if instance is None or verdict is None or not found.by_instance:
        return None
    return WrittenCounterexample(instance, verdict)


def falsified_text(found: Falsified, proof: PotentialProof | None = None) -> str:
    """The outcome, what was spent, a proof at some numbers where there is one, and the worst instance as a verdict."""
    statement = found.statement
    ratio, largest = shown_ratio(found), "largest " * (found.shrunk is None)
    tight = "" if ratio is None else f"   {largest}left side / right side {number(ratio)}"
    lines = [f"{statement.key}   {statement.title}   {outcome_text(found)}{tight}"]
    if found.unconfirmed is not None:
        lines += textwrap.wrap(_unconfirmed_text(found.unconfirmed), _columns(), subsequent_indent="          ")
    spent = f"  tried   {found.evaluations} instances, of which {found.applicable} meet every condition"
    spent += f"; {_ZERO}" if found.only_zero else ""
    spent += "; a hard instance of a term does" if found.by_instance and not found.applicable else ""
    lines.append(spent + (f"; {found.stopped}" if found.stopped and not found.clocked else ""))
    if found.clocked:
        lines.insert(-1, f"  CLOCK   {found.stopped}")
    lines += textwrap.wrap(_few_text(found, "  FEW     "), _columns(), subsequent_indent="          ")
    lines += [f"  because {reason}" for reason in found.reasons]
    if found.outcome is Outcome.INCONCLUSIVE:
        lines.append("  note    a search proves nothing: other instances may be tighter")
        lines += [] if proof is None else _proof_text(proof)
        lines += _agreement(found)
    if found.shape is not None:
        lines.append(f"  shape   {found.shape}")
    if found.outcome is Outcome.INCONCLUSIVE:
        lines += _searched_text(found)
    lines += _terms_text(found)
    if found.functions is not None:
        lines += _functions_text(found, found.functions)
    if found.not_convex is not None:
        lines += _not_convex_text(found.not_convex)
    if found.shrunk is not None and (shown := counterexample(found)) is not None:
        sentence = textwrap.fill(shown.text, _columns(), initial_indent="  ", subsequent_indent="  ")
        lines += [f"  shrunk  {_shrunk_text(found, found.shrunk)}", "", "the counterexample:", sentence, ""]
        lines.append(verdict_text(shown.verdict))
    elif found.verdict is not None and not found.by_function:
        lines += ["", "the worst instance:", verdict_text(found.verdict)]
    return "\n".join(lines)


def _proof_text(proof: PotentialProof) -> list[str]:
    """What is proved, and that it is so at these numbers alone."""
    from ratecheck.views.proofs.prove import proved_text

    text = f"{proved_text(proof)}; at other numbers it may fail"
    return textwrap.wrap(text, _columns(), initial_indent="  proof   ", subsequent_indent="          ")


def outcome_text(found: Falsified) -> str:
    """The outcome in words; what exceeds the bound unconfirmed is not "no violation found"."""
    return found.outcome.value if found.unconfirmed is not None else _OUTCOMES[found.outcome]


def _few_text(found: Falsified, name: str) -> str:
    """What is said under a name where few instances met every condition; empty elsewhere."""
    return found.few * (
        f"{name}{found.applicable} of {found.evaluations} instances meet every condition: hardly anything that the "
        "statement is about was searched; give numbers that meet its conditions"
    )


def _unconfirmed_text(found: Unconfirmed) -> str:
    ratio = "a run leaves the range of numbers" if math.isinf(found.ratio) else f"left / right {number(found.ratio)}"
    return f"  OPEN    {ratio} on {found.where}: above the bound, and not confirmed, since {found.why}"


def _not_convex_text(found: Shrunk) -> list[str]:
    """The text of a failure on functions that are not convex."""
    shown = WrittenCounterexample(found.instance, found.verdict).text
    said = f"no convexity is assumed, and it fails without: {shown}. Where convexity is meant, assume it"
    return [textwrap.fill(said, _columns(), initial_indent="  convex  ", subsequent_indent="          ")]


def _agreement(found: Falsified) -> list[str]:
    """Whether the statement is tight, or an equality at an edge; else whether searches that share nothing end alike."""
    if found.tightness is None:
        return []
    if found.tightness >= 1 - _TIGHT:
        if found.edges:
            return [
                f"  edge    left and right agree to 1e-6 where {', '.join(found.edges)}: elsewhere there may be slack"
            ]
        instance = (found.of_instance or 0.0) >= 1 - _TIGHT
        return [f"  tight   left and right agree to 1e-6 on the worst {'instance' if instance else 'function'}"]
    if len(found.independent) < _SEVERAL:
        return []
    most, least = found.independent[0], found.independent[-1]
    said = "agree" if least >= (1 - _ALIKE) * most else "do not agree: more evaluations may find more"
    listed = ", ".join(f"{number(each)}" for each in found.independent)
    return [f"  alike   the searches on the best {len(found.independent)} shapes, each by itself, {said} ({listed})"]


def _searched_text(found: Falsified) -> list[str]:
    """Families and their sizes, and what was not reached."""
    if found.searched is None:
        return []
    lines = [f"  among   {family}" for family in found.searched.families]
    return lines + [f"  missed  {each}" for each in found.searched.missed]


def _functions_text(found: Falsified, functions: WorstFunctions) -> list[str]:
    """The text on the worst convex functions: the case that fails, or how close the closest comes."""
    worst = functions.worst
    if worst is None:
        return [f"  convex  functions beyond quadratics were not evaluated: {functions.reason}"]
    if found.by_function:
        return ["", "the worst convex function, by its values and gradients:", worst_case_text(worst),
                f"  again   {again(worst)}"]  # fmt: skip
    sizes = sorted({tuple((name, int(case.case.values[name])) for name in ("n", "K", "T")) for case in functions.cases})
    where = "; ".join(" ".join(f"{name}={value}" for name, value in size) for size in sizes)
    most = "" if functions.tightness is None else f", left / right at most {number(_most(functions))}"
    return [f"  convex  worst functions of small runs{most}, at {where}"]


def again(found: WorstCase) -> str:
    """The command that encloses a worst case anew."""
    values = " ".join(f"{name}={value:.17g}" for name, value in found.case.values.items())
    address = bounds.own.address_of(found.case.source or found.case.statement)
    return f"ratecheck falsify {address} --pep {values}"


def _most(functions: WorstFunctions) -> float:
    """The largest upper value / right side."""
    return max(each.upper.left / each.lower.right for case in functions.cases for each in case.enclosures
               if each.lower.right > 0)  # fmt: skip


def _terms_text(found: Falsified) -> list[str]:
    """The largest left side per term of the bound, and what passes the bound at sizes that nothing checks."""
    if found.terms is None:
        return []
    if found.terms.reason:
        return [f"  terms   not looked at one by one: {found.terms.reason}"]
    lines = [f"  terms   {_niche_text(niche)}" for niche in found.terms.niches]
    return lines or ["  terms   none that depends on a constant"]


def _niche_text(niche: Niche) -> str:
    if niche.hard is None:
        return f"{niche.row.name}: {niche.reason}"
    text = f"{niche.row.name}: left / right {number(niche.tightness)} at {niche.at}"
    if niche.violation is not None and not niche.refuted:
        text += f": above the bound, which is not confirmed, since {niche.violation.doubt}"
    return text


def _shrunk_text(found: Falsified, shrunk: Shrunk) -> str:
    """The cost of shrinking, and left side / right side and the sizes before and after."""
    ratio = shown_ratio(found)
    parts = [] if found.tightness == ratio else [f"left / right {number(found.tightness)} to {number(ratio)}"]
    for name, before, after in zip(("n", "d", "T", "K"), shrunk.before, shrunk.after, strict=False):
        if before or after:
            parts.append(f"{name}={after}" if before == after else f"{name}={before} to {after}")
    stopped = f"; {shrunk.stopped}" if shrunk.stopped else ""
    return f"in {shrunk.evaluations} more evaluations, {', '.join(parts)}{stopped}"


def falsified_table(found: Sequence[Falsified]) -> str:
    """One row per search."""
    rows = [("statement", "outcome", "largest left/right", "tried", "engine", "shape")]
    for each in found:
        engine = "-" if each.verdict is None else each.verdict.engine
        shape = "-" if each.shape is None else str(each.shape)
        cells = (number(shown_ratio(each)), str(each.evaluations), engine, shape)
        rows.append((each.statement.key, outcome_text(each), *cells))
    unsure = [
        f"OPEN  {each.statement.key}:{_unconfirmed_text(each.unconfirmed).removeprefix('  OPEN   ')}"
        for each in found
        if each.unconfirmed is not None
    ]
    clocked = [f"CLOCK {each.statement.key}: {each.stopped}" for each in found if each.clocked]
    zero = [
        f"note  {each.statement.key}: {each.applicable} instances meet every condition; {_ZERO}"
        for each in found
        if each.only_zero
    ]
    few = [_few_text(each, f"FEW   {each.statement.key}: ") for each in found if each.few]
    return "\n".join([table(rows), *unsure, *clocked, *few, *zero])


def falsified_fields(found: Falsified) -> dict[str, Any]:
    """A search as JSON data; ``found`` is the instance before it was shrunk."""
    shrunk, functions = found.shrunk, found.functions
    verdict = found.verdict if shrunk is None else shrunk.verdict
    return {
        **picked(found, key="statement.key", verdict="outcome"),
        "unconfirmed": picked_or_none(found.unconfirmed, "ratio", "where", "why"),
        "tightness": shown_ratio(found),
        "shape": None if found.shape is None else str(found.shape),
        **picked(found, "evaluations", "applicable", "scouted", "zero", "stopped", "clocked", "reasons"),
        "worst": None if verdict is None else verdict_fields(verdict),
        "instance": simplest(found),
        "counterexample": None if shrunk is None else picked_or_none(counterexample(found), "text", "latex"),
        "shrunk": None if shrunk is None else _shrunk_fields(shrunk, found.instance),
        "terms": [] if found.terms is None else [_niche_fields(niche) for niche in found.terms.niches],
        "functions": None if functions is None else _functions_fields(functions),
        "independent": found.independent,
        **picked(found.searched, searched="families", missed="missed"),
        "not_convex": None if found.not_convex is None else _not_convex_fields(found.not_convex),
    }


def _not_convex_fields(found: Shrunk) -> dict[str, Any]:
    shown = WrittenCounterexample(found.instance, found.verdict)
    return {**picked(shown, "text", "latex"), "instance": found.instance}


def _functions_fields(functions: WorstFunctions) -> dict[str, Any]:
    worst = functions.worst
    return {
        **picked(functions, "violated", "tightness", "reason"),
        "cases": len(functions.cases),
        "worst": None if worst is None else worst.to_json(),
    }


def _niche_fields(niche: Niche) -> dict[str, Any]:
    return {
        **picked(niche, term="row.name", tightness="tightness", reason="reason"),
        **picked(niche.hard, instance="text", values="values"),
        "violation": picked_or_none(niche.violation, "at", "confirmed"),
    }


def _shrunk_fields(shrunk: Shrunk, found: Instance | None) -> dict[str, Any]:
    return {
        **picked(shrunk, "evaluations", "stopped"),
        "before": dict(zip(SIZES, shrunk.before, strict=True)),
        "after": dict(zip(SIZES, shrunk.after, strict=True)),
        "found": found,
    }


def worst_case_text(found: WorstCase) -> str:
    """The largest left side over all smooth functions, from below and from above, beside the right side."""
    values = " ".join(f"{name}={number(value)}" for name, value in found.case.shown.items())
    right, lower, upper = found.lower.right, found.lower.left, found.upper.left
    between = f"; left / right between {lower / right:.6g} and {upper / right:.6g}" if right > 0 else ""
    tight = "; tight" if found.worst.tight and not found.violated else ""
    several, worst = len(found.enclosures) > 1, found.worst.comparison
    where = f", in round {worst.round}, the closest of {len(found.enclosures)}" if several else ""
    lines = [
        f"{found.case.statement.key}   {found.case.statement.title}   {found.outcome} at these numbers{tight}",
        f"  left    at least {lower:.8g}, on an instance checked in exact arithmetic{where}",
        f"          at most  {upper:.8g}, by Clarabel{'' if found.upper.safe else ', numeric'}",
        f"  right   {right:.8g}{between}",
        f"  with    {values}",
    ]
    return "\n".join([*lines, *(f"  note    {note}" for note in found.notes)])
