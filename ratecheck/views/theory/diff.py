"""The changes between two versions, as text and as JSON data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp

from bounds.numbers import counted
from ratecheck.plain import picked
from ratecheck.versions.expressions import Change, Larger, Sameness, Tightness, text
from ratecheck.versions.findings import FindingsChange
from ratecheck.versions.statements import ClaimChange, ConditionChange, PartChange, StatementChange
from ratecheck.versions.steps import LedgerChange


def statement_text(found: StatementChange) -> str:
    """One block: how it was matched, then every change."""
    old, new = found.old.key, found.new.key
    lines = [f"{old if old == new else f'{old} -> {new}'}   matched {found.matched}"]
    if found.same:
        return f"{lines[0]}\n  same"
    for claim in found.claims:
        lines += _claim_lines(claim, found)
    lines += [f"  claim {name}: gone" for name in found.gone_claims]
    lines += [f"  claim {name}: new" for name in found.new_claims]
    lines += [f"  {condition_words(each)}" for each in found.conditions if each.changed]
    lines += [f"  {_part(each)}" for each in found.parts]
    return "\n".join(lines)


def _claim_lines(claim: ClaimChange, found: StatementChange) -> Iterator[str]:
    if not claim.changed and all(t.change and t.change.same is Sameness.PROVED for t in claim.terms):
        return
    yield f"  claim {claim.name}   at random points {found.points.of}"
    if claim.relation:
        yield f"    relation: {claim.relation[0]} -> {claim.relation[1]}"
    if claim.over:
        yield f"    over: {claim.over[0]} -> {claim.over[1]}"
    if claim.left.same is not Sameness.PROVED:
        yield f"    left side: {change_words(claim.left)}"
    for term in claim.terms:
        if term.change is None:
            yield (
                f"    {term.name}: gone, {text(term.old)}"
                if term.new is None
                else f"    {term.name}: new, {text(term.new)}"
            )
        else:
            yield f"    {term.name}: {change_words(term.change)}"
    yield f"    right side: {right_words(claim)}"


def change_words(change: Change) -> str:
    """The change in words, such as ``4 -> 48 (12 times)``."""
    if change.same is Sameness.PROVED:
        return "same"
    if change.same is Sameness.AT_POINTS:
        return f"same at {counted(change.points, 'random point')}: {text(change.old)} -> {text(change.new)}"
    if change.same is Sameness.UNDECIDED:
        return f"cannot be compared: {text(change.old)} -> {text(change.new)}"
    pair = change.coefficients
    formulas = f"{pair[0]} -> {pair[1]}" if pair else f"{text(change.old)} -> {text(change.new)}"
    if change.ratio is not None:
        seen = "" if change.ratio_proved else f" at {counted(change.points, 'random point')}"
        return f"{formulas} ({_number(change.ratio)} times{seen})"
    return f"{formulas} ({_side(change)})"


def right_words(claim: ClaimChange) -> str:
    """The larger right side, and whether the claim is weaker where only that changed."""
    change = claim.right
    if change.same is not Sameness.DIFFERENT:
        return change_words(change) if change.same is Sameness.PROVED else change_words(change).partition(":")[0]
    words = _side(change)
    if change.side in (Larger.LARGER, Larger.SMALLER) and claim.bounds_above:
        alone = claim.left.same is Sameness.PROVED and not claim.over
        if alone:
            return f"{words}: a {'weaker' if change.side is Larger.LARGER else 'stronger'} claim"
        return f"{words}; the left side changed too, so neither claim is called weaker"
    return words


def _side(change: Change) -> str:
    if change.side is Larger.UNDECIDED:
        return change.side.value
    if change.side is Larger.MIXED:
        return f"{change.side.value}, of {counted(change.points, 'random point')}"
    return (
        f"{change.side.value} everywhere, proved"
        if change.side_proved
        else f"{change.side.value} at {counted(change.points, 'random point')}"
    )


def _number(value: sp.Expr) -> str:
    return str(value) if value.is_Rational else f"{float(value):.6g}"


def condition_words(found: ConditionChange) -> str:
    """A condition, what became of it, and how sure that is."""
    if found.new is None:
        assert found.old is not None
        implied = ", but the new ones imply it, which is proved" if found.proved else ""
        return f'condition "{found.old.text}": gone{implied}'
    if found.old is None:
        implied = ", but the old ones imply it, which is proved" if found.proved else ""
        return f'condition "{found.new.text}": new{implied}'
    sure = ""
    if found.tightness in (Tightness.TIGHTER, Tightness.LOOSER):
        sure = ", proved" if found.proved else " at random points"
    return f'condition "{found.old.text}" -> "{found.new.text}": {found.tightness.value}{sure}'


def _part(found: PartChange) -> str:
    if found.change is not None:
        return f"{found.part}: {change_words(found.change)}"
    if not found.new:
        return f"{found.part}: gone, {found.old}"
    return f"{found.part}: {found.old} -> {found.new}" if found.old else f"{found.part}: new, {found.new}"


def ledger_lines(found: LedgerChange) -> list[str]:
    """The changes of the steps."""
    moved = f"{len(found.changed)} changed, {len(found.gone)} gone, {len(found.added)} new"
    lines = [f"steps of the proofs: {found.same} same, {moved}"]
    lines += [f"  {each.name}: {change}" for each in found.changed for change in each.changes]
    return [*lines, *(f"  gone: {each}" for each in found.gone), *(f"  new: {each}" for each in found.added)]


def findings_lines(what: str, found: FindingsChange) -> list[str]:
    """Findings that are gone, then those that are new."""
    lines = [f"{what}: {len(found.gone)} gone, {len(found.added)} new, {found.kept} in both"]
    return [*lines, *(f"  gone: {each}" for each in found.gone), *(f"  new: {each}" for each in found.added)]


def counts(found: Sequence[StatementChange], gone: Sequence[str], added: Sequence[str]) -> str:
    """The counts in words, such as ``2 statements matched: 1 same, 1 changed; 0 gone, 1 new``."""
    same = sum(each.same for each in found)
    many = counted(len(found), "statement")
    return f"{many} matched: {same} same, {len(found) - same} changed; {len(gone)} gone, {len(added)} new"


def statement_fields(found: StatementChange) -> dict[str, Any]:
    """Changes of a statement as JSON data."""
    return {
        **picked(found, old="old.key", new="new.key", matched="matched", same="same", points="points.of"),
        "claims": [
            {
                "name": each.name,
                "left": change_fields(each.left),
                "right": change_fields(each.right),
                "terms": [
                    {
                        "name": term.name,
                        "old": _text(term.old if term.change is None else term.change.old),
                        "new": _text(term.new if term.change is None else term.change.new),
                        "change": None if term.change is None else change_fields(term.change),
                    }
                    for term in each.terms
                ],
                **picked(each, "over", "relation"),
            }
            for each in found.claims
        ],
        "claims_gone": found.gone_claims,
        "claims_new": found.new_claims,
        "conditions": [
            {
                "old": None if each.old is None else each.old.text,
                "new": None if each.new is None else each.new.text,
                "change": each.tightness if each.old and each.new else "gone" if each.old else "new",
                "proved": each.proved,
            }
            for each in found.conditions
        ],
        "parts": [
            {
                **picked(each, "part", "old", "new"),
                "change": None if each.change is None else change_fields(each.change),
            }
            for each in found.parts
        ],
    }


def change_fields(change: Change) -> dict[str, Any]:
    """A change of a formula as JSON."""
    return {
        "old": str(change.old),
        "new": str(change.new),
        **picked(change, "same", "points"),
        "ratio": None if change.ratio is None else str(change.ratio),
        "ratio_proved": change.ratio_proved,
        "side": change.side if change.same is Sameness.DIFFERENT else None,
        "side_proved": change.side_proved,
    }


def ledger_fields(found: LedgerChange) -> dict[str, Any]:
    """The steps as JSON."""
    changed = [picked(each, "name", "changes") for each in found.changed]
    return {"same": found.same, "changed": changed, **picked(found, gone="gone", new="added")}


def findings_fields(found: FindingsChange) -> dict[str, Any]:
    """Findings as JSON."""
    return {"gone": found.gone, "new": found.added, "both": found.kept}


def _text(expr: sp.Expr | None) -> str | None:
    return None if expr is None else str(expr)
