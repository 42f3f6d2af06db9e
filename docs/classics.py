"""What this program says of the classics, ``docs/kept/classics.json``, from which the catalogue has its table.

    python docs/classics.py [KEY]...

makes the rows named anew, by default all; it takes minutes. A row has three answers, each apart from the others:

- ``verify``: the verdict on the default problem,
- ``search``: what `falsify` finds in `EVALUATIONS` instances, the worst small functions left out,
- ``worst``: the worst case over all functions at the numbers at which the literature knows it, enclosed by `falsify
  --pep`; beside it stands the known value, and whether the theorem is refuted there when it says twice as much.

Each is an error message instead where the command refuses.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Mapping
from typing import Any

import kept
import sympy as sp

import ratecheck as rc
from bounds.papers.classics.known import Classic, Standing
from bounds.papers.classics.statements import CHAPTERS
from bounds.statement import Statement
from ratecheck.errors import InputError
from ratecheck.falsification.falsify import Budget
from ratecheck.falsification.falsify import falsify as search
from ratecheck.falsification.performance_estimation.worst_case import EnclosedRounds, WorstCase, worst_case
from ratecheck.outcome import Outcome

# Instances of a search, and rounds on the default problem: after many more both sides are rounding.
EVALUATIONS, ROUNDS = 60, 30
# Step sizes that nothing in a statement sets or limits.
_OPEN = ("lambda_",)
# Digits that are kept: beyond them are the solver's.
short = functools.partial(kept.short, digits=7)
# How far a worst case may be from a known value that is called tight.
AGREEMENT = 1e-3


def comparable(row: Mapping[str, Any]) -> bool:
    """Whether the literature's value is called tight, proved or as far as computed, and a worst case was enclosed."""
    return row["standing"] in (Standing.TIGHT.value, Standing.NUMERICAL.value) and "refused" not in row["worst"]


def distance(row: Mapping[str, Any]) -> float:
    """The larger distance of both ends of the worst case from the known value, relative to it or to the sides."""
    worst = row["worst"]
    return max(abs(worst[end] - worst["known"]) for end in ("lower", "upper")) / (abs(worst["known"]) or worst["scale"])


def agrees(row: Mapping[str, Any]) -> bool:
    """Whether the worst case is the known value, up to `AGREEMENT`."""
    return distance(row) <= AGREEMENT


def scaled(statement: Statement, factor: sp.Rational) -> Statement:
    """The statement with its right side multiplied by a number, a false one where it was tight."""
    claim, *others = statement.claims
    terms = {name: factor * term for name, term in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms), *others))


def last(found: WorstCase) -> EnclosedRounds:
    """The enclosure that the known value is about: that of the last round, or the only one."""
    return max(found.enclosures, key=lambda each: each.comparison.round or 0)


def enclosed(classic: Classic) -> dict[str, Any]:
    """The worst left side at the known numbers, from below and from above, beside the known value."""
    statement, known = classic.statement, classic.known
    found = worst_case(statement, known.at)
    here = last(found)
    value = known.at_numbers(found.case.values)
    row: dict[str, Any] = {
        "round": here.comparison.round,
        "lower": short(here.lower.left),
        "upper": short(here.upper.left),
        "safe": here.upper.safe,
        "right": short(here.lower.right),
        "scale": short(max(here.size, here.scale)),
        "tight": here.tight,
        "outcome": found.outcome,
        "known": None if value is None else short(value),
    }
    factor = stronger(here)
    false = worst_case(scaled(statement, factor), known.at)
    row["false"] = {"factor": str(factor), "outcome": "VIOLATED" if false.violated else false.outcome}
    return row


def stronger(found: EnclosedRounds) -> sp.Rational:
    """What a right side is multiplied by so that the theorem says twice as much: 2 where it is negative."""
    moved = [found.comparison.weights[name] for name in found.comparison.moved]
    negative = found.lower.right == 0 and bool(moved) and all(weight >= 0 for weight in moved)
    return sp.Rational(2) if negative else sp.Rational(1, 2)


def verified(classic: Classic) -> dict[str, Any]:
    """The verdict on the default problem in so many rounds, with the known case's step size where none is set."""
    statement = classic.statement
    steps = {name: classic.known.at[name] for name in _OPEN if name in statement.parameters}
    rounds = {} if "T" in statement.settings else {"T": ROUNDS}
    found = rc.verify(statement, **rounds, **steps)
    reasons = list(found.verdict.reasons)
    return {
        "outcome": found.outcome.name,
        "engine": found.verdict.engine,
        "slack": None if found.slack is None else short(found.slack),
        **({"reasons": reasons} if reasons else {}),
    }


def searched(statement: Statement) -> dict[str, Any]:
    """The outcome and the largest left / right side of a short search."""
    found = search(statement, Budget(EVALUATIONS))
    tightness = found.tightness
    return {
        "outcome": "VIOLATED" if found.outcome is Outcome.VIOLATED else found.outcome.name,
        "tightness": None if tightness is None else short(tightness),
    }


def row(classic: Classic) -> dict[str, Any]:
    """All that is kept of a classic: three answers, and a mark of what they are about."""
    return {
        "key": classic.statement.key,
        "about": about(classic),
        "verify": _asked(verified, classic),
        "search": _asked(searched, classic.statement),
        "worst": _asked(enclosed, classic),
    }


def about(classic: Classic) -> str:
    """A mark of the known value, its standing, and the numbers at which it is known."""
    known = classic.known
    return kept.mark([known.value, known.standing.value, dict(known.at)])


def rows() -> list[dict[str, Any]]:
    """What is kept of every classic, with what the catalogue says of it."""
    answers = {each["key"]: each for each in kept.load("classics")}
    return [
        {
            **answers[classic.statement.key],
            "chapter": chapter,
            "title": classic.statement.title,
            "source": f"{classic.statement.source.paper}, {classic.statement.source.number}",
            "value": classic.known.value,
            "standing": classic.known.standing.value,
            "known_from": classic.known.source,
            "at": dict(classic.known.at),
        }
        for chapter, classics in CHAPTERS.items()
        for classic in classics
    ]


def _asked(ask: Any, about: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = ask(about)
    except InputError as error:
        return {"refused": str(error)}
    return found


def main(keys: list[str]) -> None:
    """Make the rows; what is not named is kept."""
    before: Mapping[str, Any] = {each["key"]: each for each in kept.load("classics")}
    found = []
    for classic in (each for classics in CHAPTERS.values() for each in classics):
        key = classic.statement.key
        if not keys or key in keys:
            found.append(row(classic))
            sys.stderr.write(f"{key}\n")
        elif key in before:
            found.append(before[key])
    kept.save("classics", found)


if __name__ == "__main__":
    main(sys.argv[1:])
