"""Searches for violating instances as text."""

from __future__ import annotations

from ratecheck.checks.falsify import Falsified
from ratecheck.checks.verdict import Outcome
from ratecheck.views.text import number, verdict_text


def falsified_text(found: Falsified) -> str:
    """The outcome, what was spent, and the worst instance as a verdict."""
    statement = found.statement
    what = {
        Outcome.VIOLATED: "VIOLATED",
        Outcome.INCONCLUSIVE: "no violation found",
        Outcome.NOT_APPLICABLE: "NOT_APPLICABLE",
    }[found.outcome]
    tight = "" if found.tightness is None else f"   largest left side / right side {number(found.tightness)}"
    lines = [f"{statement.key}   {statement.title}   {what}{tight}"]
    spent = f"  tried   {found.evaluations} instances, of which {found.applicable} meet every condition"
    lines.append(spent + (f"; {found.stopped}" if found.stopped else ""))
    lines += [f"  because {reason}" for reason in found.reasons]
    if found.outcome is Outcome.INCONCLUSIVE:
        lines.append("  note    a search proves nothing: other instances may be tighter")
    if found.verdict is not None:
        lines += [f"  shape   {found.shape}", "", "the worst instance:", verdict_text(found.verdict)]
    return "\n".join(lines)
