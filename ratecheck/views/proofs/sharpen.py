"""Sharper theorems as text and as JSON data."""

from __future__ import annotations

from typing import Any

from bounds.numbers import counted
from bounds.roots import shown as formula
from ratecheck.auditing.sharpen import SharperConstant, SharperStatement, SharperTheorem
from ratecheck.plain import picked
from ratecheck.views.proofs.implications import shown


def sharpen_text(found: SharperTheorem) -> str:
    """The sharper constants by statement, the theorem with them, and what it rests on."""
    lines = [_line(each) for each in found.statements if each.constants or each.open]
    theorem = found.theorem
    if not theorem.constants and not theorem.open:
        lines.append(f"{theorem.printed.key}  as printed: the argument gives no smaller constant")
    if theorem.constants:
        lines += [f"\n  {formula(claim.metric.expr)} <= {formula(claim.bound)}" for claim in theorem.sharper.claims]
        lines += [f"  for {formula(c.left)} {c.operator} {formula(c.right)}" for c in theorem.sharper.conditions]
    lines.append("")
    links = sum(len(each.implications) for each in found.statements)
    lines.append(f"  proved by certificates: {counted(links, 'implication')}, with all of these constants together")
    if found.taken:
        lines.append(f"  taken as they are: {', '.join(found.taken)}")
    if found.facts:
        lines.append(f"  taken from the text: {', '.join(found.facts)}")
    return "\n".join(lines)


def leaving_text(found: SharperTheorem, file: str) -> str:
    """The inequalities that were written with a proof, and those without."""
    many = len(found.certificates) + len(found.uncertified)
    text = f"  {len(found.certificates)} of {counted(many, 'inequality', 'inequalities')} written to {file}"
    return "\n".join([text, *(f"  without: {name}: {why}" for name, why in found.uncertified)])


def sharpen_fields(found: SharperTheorem) -> dict[str, Any]:
    """Sharper constants as JSON data."""
    return {
        "statement": found.theorem.printed.key,
        "statements": [
            {
                "key": each.printed.key,
                "constants": [_fields(constant) for constant in each.constants],
                "open": each.open,
                "bounds": {claim.name: str(claim.bound) for claim in each.sharper.claims},
                "conditions": [f"{c.left} {c.operator} {c.right}" for c in each.sharper.conditions],
                "premises": list(dict.fromkeys(one for link in each.implications for one in link.premises)),
            }
            for each in found.statements
        ],
        **picked(found, "taken", "facts"),
    }


def _line(each: SharperStatement) -> str:
    said = "; ".join(map(_constant, each.constants)) or f"as printed: {each.open}"
    return f"{each.printed.key}  {said}"


def _constant(constant: SharperConstant) -> str:
    name = f"limit of {constant.place}: 1/" if constant.is_cap else f"{constant.place}: "
    # Where no numbers rule out a smaller one, the argument may give more than was found.
    more = "" if constant.refuted or constant.sharper == 0 else " or less"
    if constant.is_cap:
        return f"{name}{shown(constant.printed)} -> 1/{shown(constant.sharper)}{more}"
    return f"{name}{shown(constant.printed)} -> {shown(constant.sharper)}{more}"


def _fields(constant: SharperConstant) -> dict[str, Any]:
    return {
        **picked(constant, claim="claim", place="place", divides_a_limit="is_cap"),
        "printed": str(constant.printed),
        "sharper": str(constant.sharper),
        "least": float(constant.least),
        "bracketed": constant.refuted,
    }
