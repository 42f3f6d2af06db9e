"""What the checks notice of statements made wrong on purpose, as plain text and as data."""

from __future__ import annotations

from collections.abc import Sequence

from ratecheck.checks.selftest.audit import Fate
from ratecheck.checks.selftest.measure import Share, Tried
from ratecheck.views.text import table

_HEAD = ("kind", "mutants", "weaker", "accused", "caught", "harmless", "undecided", "no argument", "share caught")


def shares_text(found: Sequence[Share]) -> str:
    """A row per kind, and one for all."""
    rows = [[share.kind.value, *map(str, _counts(share)), _percent(share.share)] for share in found]
    total = [sum(column) for column in zip(*map(_counts, found), strict=True)]
    caught, undecided = (sum(getattr(share, name) for share in found) for name in ("caught", "undecided"))
    together = caught / (caught + undecided) if caught + undecided else None
    return table([list(_HEAD), *rows, ["all", *map(str, total), _percent(together)]])


def _counts(share: Share) -> tuple[int, ...]:
    return (
        share.mutants,
        share.weaker,
        share.accused,
        share.caught,
        share.harmless,
        share.undecided,
        share.untouched,
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}%"


def shares_fields(found: Sequence[Share]) -> list[dict[str, object]]:
    """The same as data."""
    names = ("mutants", "weaker", "accused", "caught", "harmless", "undecided", "untouched", "share")
    return [{"kind": share.kind.value, **{name: getattr(share, name) for name in names}} for share in found]


def tried_fields(each: Tried) -> dict[str, object]:
    """One mutant and what the audit said of it, as data."""
    mutant, answer = each.mutant, each.answer
    return {
        "key": mutant.statement.key,
        "kind": mutant.kind.value,
        "text": mutant.text,
        "direction": mutant.direction.value,
        "caught": answer.fate is Fate.CAUGHT,
        "answer": answer.fate.value,
        "how": answer.how,
        "evidence": answer.evidence,
    }
