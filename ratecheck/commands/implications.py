"""``ratecheck implications``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

import click
import sympy as sp

import bounds
from bounds.ledger.implication import Implication
from bounds.ledger.implications import implications, of
from ratecheck.auditing.implications import CheckedImplication, ImplicationVerdict, ImpliedConstant, check
from ratecheck.commands.arguments import json_option, print_json, say
from ratecheck.views.progress import progress
from ratecheck.workers import share


@click.command(name="implications")
@click.argument("scope", metavar="[PAPER|KEY]", required=False)
@click.option("--sharpest", is_flag=True, help="Find the sharpest constants; takes minutes for a paper.")
@json_option
def command(scope: str | None, sharpest: bool, as_json: bool) -> int:
    """Check what the papers say to follow from what, and with which constants it follows at best.

    All implications, or those of a PAPER, or those that conclude the statement KEY. FALSE means that the argument does
    not give the conclusion as printed; the counterexample gives admissible numbers. With --sharpest, and for a KEY,
    constants are printed -> sharpest
    that the same argument gives; "<=" where no counterexample to a smaller one was found.
    """
    answers = checked(scope, sharpest=sharpest or (scope is not None and "/" in scope))
    if as_json:
        print_json([fields(answer) for answer in answers])
    else:
        say("\n".join(line(answer) for answer in answers))
    verdicts = {answer.verdict for answer in answers}
    return 1 if ImplicationVerdict.FALSE in verdicts else 3 if ImplicationVerdict.UNKNOWN in verdicts else 0


def checked(scope: str | None, *, sharpest: bool) -> list[CheckedImplication]:
    """The answers for one paper, one conclusion, or everything, on all cores."""
    papers = (scope,) if scope in bounds.PAPERS else bounds.PAPERS
    if scope is not None and "/" not in scope and scope not in bounds.PAPERS:
        bounds.statements(scope)  # says which papers there are
    wanted = of(scope) if scope and "/" in scope else [each for paper in papers for each in implications(paper)]
    return run(wanted, sharpest=sharpest)


def run(wanted: Sequence[Implication], *, sharpest: bool) -> list[CheckedImplication]:
    """The answers in order, computed side by side."""
    if len(wanted) <= 1:
        with progress("checking implications"):
            return [check(each, sharpest=sharpest) for each in wanted]
    answers: dict[int, CheckedImplication] = {}
    with progress("checking implications") as report:

        def done(number: int, answer: CheckedImplication) -> None:
            answers[number] = answer
            report(len(answers) / len(wanted))

        share(_answer, [(each, sharpest) for each in wanted], os.cpu_count() or 1, done)
    return [answers[number] for number in range(len(wanted))]


def _answer(implication: Implication, sharpest: bool) -> CheckedImplication:
    """The answer without its certificates, which are large to send between processes."""
    return dataclasses.replace(check(implication, sharpest=sharpest), certificates=())


def line(answer: CheckedImplication) -> str:
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


def fields(answer: CheckedImplication) -> dict[str, object]:
    """The answer as JSON."""
    found = answer.counterexample
    return {
        "conclusion": answer.implication.conclusion,
        "premises": list(answer.implication.premises),
        "facts": [fact.location for fact in answer.implication.facts],
        "location": answer.implication.location,
        "verdict": answer.verdict.value,
        "how": None if answer.how is None else answer.how.value,
        "undecided": list(answer.open),
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
