"""The page of a statement: one file, without network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from bounds.statement import Statement
from ratecheck.views.document.mathml import shown
from ratecheck.views.document.style import STYLE, formulas

_HERE = Path(__file__).parent


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


# The part of the page's script that computes, and touches nothing on the page.
FORMULAS_JS = _text("formulas.js")


def page(statement: Statement, model: Mapping[str, Any], latex: str) -> str:
    """The page as HTML; ``latex`` is the first claim, ``model`` what `model.model` makes of the statement."""
    return Template(_text("page.html")).substitute(
        key=escape(statement.key),
        title=escape(statement.title),
        style=formulas() + STYLE + _text("page.css"),
        claim=shown(latex, display=True),
        model=written(model),
        formulas=FORMULAS_JS,
        script=_text("page.js"),
    )


def written(model: Mapping[str, Any]) -> str:
    """The model as a literal of JavaScript that may stand in a page."""
    return json.dumps(model, ensure_ascii=True).replace("<", "\\u003c")
