"""A bound at given numbers as text and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bounds.ledger.refuted import refuted_fields
from bounds.numbers import EQUAL, apart
from bounds.statement import Evaluation, Statement
from ratecheck.plain import picked
from ratecheck.verification.negative_bounds import NegativeBound
from ratecheck.views.numbers import number
from ratecheck.views.width import table


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
        if check.holds and str(check.condition.left) in statement.vocabulary.implied:
            continue
        state = {True: "holds", False: "BROKEN", None: "undecided"}[check.holds]
        # Where a condition is broken within rounding, as many digits as tell the sides apart.
        sides = (number(check.left), number(check.right))
        left, right = apart(check.left, check.right, 4) if check.holds is False else sides
        compared = "" if check.left is None else f"   {left} against {right}"
        compared += f", {EQUAL}" if check.close else ""
        lines.append(f"{state:9}  {check.condition.text}{compared}")
    if names := [name for name in evaluation.defaulted if name not in statement.vocabulary.implied]:
        filled = ", ".join(f"{name}={number(evaluation.values[name])}" for name in names)
        lines.append(f"filled in  {filled}")
    return "\n".join(lines)


def evaluation_fields(
    statement: Statement, evaluation: Evaluation, negative: Sequence[NegativeBound]
) -> dict[str, Any]:
    """A bound as JSON data; ``negative`` are the claims whose bound is negative although the left side never is."""
    return {
        "key": statement.key,
        "value": evaluation.value,
        "conditions": [
            {**picked(check.condition, "name", "text"), **picked(check, "holds", "left", "right")}
            for check in evaluation.conditions
        ],
        **picked(evaluation, "applicable", "vacuous", "trivial", "claims", "terms", "values", filled_in="defaulted"),
        "impossible": negative,
        "audit": refuted_fields(statement),
    }
