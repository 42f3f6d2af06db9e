"""One statement as JSON data: every part as typed and as abbreviated, and its formulas in LaTeX."""

from __future__ import annotations

from typing import Any

from bounds.printing import markup
from bounds.printing.statement_page import Page
from bounds.printing.text import drawing
from ratecheck.plain import picked


def latex_lines(shown: Page) -> list[str]:
    """Every claim, then every condition, each as one formula."""
    blocks = markup.MarkupBlocks(shown)
    claims = ("".join(blocks.claim(claim, named=False)).replace("{}&", " ").replace("&", "") for claim in shown.claims)
    rules = (line for kind, line in shown.rules if kind != "default")
    return [*claims, *map(blocks.line, (*shown.conditions, *rules))]


def page_fields(shown: Page) -> dict[str, Any]:
    """A statement as JSON data."""
    statement, code = shown.statement, drawing(shown, unicode=False, code=True).line_of
    return {
        **picked(statement, "key", "title"),
        **picked(statement.source, "paper", "number", "location"),
        **picked(statement, algorithm="method", order_only="order_only"),
        "claims": [
            {
                "name": claim.name,
                "left": str(claim.metric.expr),
                **picked(claim, over="metric.over", relation="relation"),
                "right": str(claim.bound),
                "terms": {label: str(expr) for label, expr in claim.terms.items()},
                "abbreviated": {label: code(term) for label, term in inequality.terms},
            }
            for claim, inequality in zip(statement.claims, shown.claims, strict=True)
        ],
        "abbreviations": {each.name: code(each.formula) for each in shown.abbreviations},
        "assumptions": statement.assumptions,
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
        "follows_from": statement.follows_from,
        "used_in": shown.used_in,
        "partner": None if shown.partner is None else {"key": shown.partner.key, "differs_in": shown.differences},
        "remark": statement.remark,
        "latex": latex_lines(shown),
    }
