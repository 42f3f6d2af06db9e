"""``ratecheck show``."""

from __future__ import annotations

import shutil
import sys

import click

import bounds
from bounds.printing import markup
from bounds.printing.page import Page, page
from bounds.printing.text import COLUMNS, drawing, statement_text
from ratecheck.commands.arguments import json_option, key_argument, print_json
from ratecheck.errors import InputError


@click.command(name="show")
@key_argument
@click.option("--latex", is_flag=True, help="Print LaTeX (needs amsmath and amssymb).")
@click.option("--markdown", is_flag=True, help="Print Markdown with formulas between dollar signs.")
@click.option("--ascii", "as_ascii", is_flag=True, help="Print nothing but ASCII.")
@json_option
def command(key: str, latex: bool, markdown: bool, as_ascii: bool, as_json: bool) -> None:
    """Show the statement KEY: claims, assumptions, conditions, step sizes, and what every symbol means.

    Symbols that the paper defines, such as the constants of its analysis, are explained under "where".
    """
    if latex + markdown + as_ascii + as_json > 1:
        raise InputError("--latex, --markdown, --ascii and --json exclude each other: give one of them")
    shown = page(bounds.get(key))
    if as_json:
        print_json(_fields(shown))
    elif latex:
        click.echo(markup.latex(shown))
    elif markdown:
        click.echo(markup.markdown(shown))
    else:
        columns = shutil.get_terminal_size((COLUMNS, 24)).columns
        text = statement_text(shown, columns, unicode=not as_ascii)
        click.echo(text if _writable(text) else statement_text(shown, columns, unicode=False))


def _writable(text: str) -> bool:
    """Whether stdout has all characters of the text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def latex_lines(shown: Page) -> list[str]:
    """Every claim, then every condition, each as one formula."""
    blocks = markup.MarkupBlocks(shown)
    claims = ("".join(blocks.claim(claim, named=False)).replace("{}&", " ").replace("&", "") for claim in shown.claims)
    rules = (line for kind, line in shown.rules if kind != "default")
    return [*claims, *map(blocks.line, (*shown.conditions, *rules))]


def _fields(shown: Page) -> dict[str, object]:
    statement, code = shown.statement, drawing(shown, unicode=False, code=True).line_of
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
                "abbreviated": {label: code(term) for label, term in inequality.terms},
            }
            for claim, inequality in zip(statement.claims, shown.claims, strict=True)
        ],
        "abbreviations": {each.name: code(each.formula) for each in shown.abbreviations},
        "assumptions": [assumption.value for assumption in statement.assumptions],
        "conditions": [
            {"name": c.name, "text": c.text, "abbreviated": f"{code(line.left)} {line.operator} {code(line.right)}"}
            for c, line in zip(statement.conditions, shown.conditions, strict=True)
        ],
        "step_sizes": [
            {
                "name": rule.symbol.name,
                "relation": ">=" if rule.at_least else "==",
                "value": str(rule.value),
                "kind": kind,
                "abbreviated": code(line.right),
            }
            for rule, (kind, line) in zip(statement.step_rules, shown.rules, strict=True)
        ],
        "settings": {name: str(value) for name, value in statement.settings.items()},
        "parameters": {name: statement.vocabulary[name].meaning for name in statement.parameters},
        "follows_from": list(statement.follows_from),
        "used_in": list(shown.used_in),
        "partner": None if shown.partner is None else {"key": shown.partner.key, "differs_in": list(shown.differences)},
        "remark": statement.remark,
        "latex": latex_lines(shown),
    }
