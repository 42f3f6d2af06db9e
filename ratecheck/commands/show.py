"""``ratecheck show``."""

from __future__ import annotations

import click
import sympy as sp

import bounds
from bounds.display import shown
from bounds.statement import Relation, Statement
from ratecheck.commands.arguments import json_option, key_argument, print_json
from ratecheck.views.text import statement_text, symbols_text

_LATEX = {Relation.AT_MOST: r"\le", Relation.EQUAL: "=", Relation.ORDER: r"= O"}


@click.command(name="show")
@key_argument
@click.option("--latex", is_flag=True, help="Print LaTeX.")
@json_option
def command(key: str, latex: bool, as_json: bool) -> None:
    """Show the statement KEY: claims, assumptions, conditions, step sizes."""
    statement = bounds.get(key)
    if as_json:
        print_json(_fields(statement))
    elif latex:
        click.echo("\n".join(latex_lines(statement)))
    else:
        click.echo(statement_text(statement))
        click.echo("\n" + symbols_text(statement))


def latex_lines(statement: Statement) -> list[str]:
    """Every claim and condition in the paper's symbols."""
    names = {quantity.symbol: quantity.latex for quantity in statement.vocabulary}
    lines = []
    for claim in statement.claims:
        right = sp.latex(shown(claim.bound), symbol_names=names)
        right = rf"\left({right}\right)" if claim.relation is Relation.ORDER else right
        lines.append(f"{claim.metric.latex} {_LATEX[claim.relation]} {right}")
    operators = {"<=": r"\le", ">=": r"\ge", "==": "=", "<": "<", ">": ">"}
    for c in statement.hypotheses:
        sides = (sp.latex(shown(side), symbol_names=names) for side in (c.left, c.right))
        lines.append(f" {operators[c.operator]} ".join(sides))
    return lines


def _fields(statement: Statement) -> dict[str, object]:
    return {
        "key": statement.key,
        "title": statement.title,
        "paper": statement.source.paper,
        "number": statement.source.number,
        "location": statement.source.location,
        "algorithm": statement.algorithm,
        "order_only": statement.order_only,
        "claims": [
            {
                "name": claim.name,
                "left": str(claim.metric.expr),
                "over": claim.metric.over.value,
                "relation": claim.relation.value,
                "right": str(claim.bound),
                "terms": {label: str(expr) for label, expr in claim.terms.items()},
            }
            for claim in statement.claims
        ],
        "assumptions": [assumption.value for assumption in statement.assumptions],
        "conditions": [{"name": c.name, "text": c.text} for c in statement.conditions],
        "step_sizes": [
            {"name": rule.symbol.name, "relation": ">=" if rule.at_least else "==", "value": str(rule.value)}
            for rule in statement.step_rules
        ],
        "settings": {name: str(value) for name, value in statement.settings.items()},
        "parameters": {name: statement.vocabulary[name].meaning for name in statement.parameters},
        "follows_from": list(statement.follows_from),
        "remark": statement.remark,
        "latex": latex_lines(statement),
    }
