"""Checked implications as text and as JSON data."""

from __future__ import annotations

from typing import Any

import sympy as sp

from ratecheck.auditing.implications import CheckedImplication, ImpliedConstant
from ratecheck.plain import picked


def implication_text(answer: CheckedImplication) -> str:
    """Conclusion <- premises, verdict, how, constants."""
    implication = answer.implication
    text = f"{answer.verdict.value:8} {implication.conclusion} <- {', '.join(implication.premises)}"
    if answer.how is not None:
        text += f"  [{answer.how.value}]"
    if answer.constants:
        text += "  " + "; ".join(map(constant_text, answer.constants))
    if answer.counterexample is not None:
        found = answer.counterexample
        at = ", ".join(f"{symbol}={shown(value)}" for symbol, value in found.values.items())
        text += f"\n         {found.obligation.name}: {shown(found.left)} {found.obligation.goal.operator} "
        text += f"{shown(found.right)} is false at {at}"
    if answer.open:
        text += f"\n         undecided: {', '.join(answer.open)}"
    return text


def constant_text(constant: ImpliedConstant) -> str:
    """A constant as printed and as sharp as it gets."""
    if constant.sharpest is None:
        return f"{constant.place}: {shown(constant.printed)} -> ?"
    sign = "" if constant.refuted or constant.sharpest == 0 else "<= "
    return f"{constant.place}: {shown(constant.printed)} -> {sign}{shown(constant.sharpest)}"


def shown(value: sp.Expr) -> str:
    """An exact number where it is short, otherwise six digits."""
    value = sp.sympify(value)
    exact = str(value)
    return exact if value.is_Rational and len(exact) <= 9 else f"{float(value):.6g}"


def implication_fields(answer: CheckedImplication) -> dict[str, Any]:
    """The answer as JSON."""
    found = answer.counterexample
    return {
        **picked(answer.implication, "conclusion", "premises"),
        "facts": [fact.location for fact in answer.implication.facts],
        "location": answer.implication.location,
        **picked(answer, verdict="verdict", how="how", undecided="open"),
        "constants": [
            {
                "place": constant.place,
                "printed": float(constant.printed),
                "sharpest": None if constant.sharpest is None else float(constant.sharpest),
                "exact": None if constant.sharpest is None else str(constant.sharpest),
                "bracketed": constant.refuted is not None,
            }
            for constant in answer.constants
        ],
        "counterexample": None
        if found is None
        else {
            "obligation": found.obligation.name,
            "values": {str(symbol): float(value) for symbol, value in found.values.items()},
            "left": float(found.left),
            "right": float(found.right),
        },
        "remark": answer.implication.remark,
    }
