"""A statement as text, and in a notebook: what ``ratecheck show`` prints, also as Markdown, LaTeX and HTML."""

from __future__ import annotations

from bounds.printing import markup
from bounds.printing.statement_page import page
from bounds.printing.text import statement_text
from bounds.statement import Statement


def text(statement: Statement) -> str:
    """The statement as `print` shows it."""
    return statement_text(page(statement))


def markdown(statement: Statement) -> str:
    """The statement as Markdown."""
    return markup.markdown(page(statement))


def latex(statement: Statement) -> str:
    """The statement as LaTeX."""
    return markup.latex(page(statement))


def html(statement: Statement) -> str:
    """The statement as HTML."""
    return markup.as_html(page(statement))
