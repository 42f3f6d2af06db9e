"""A statement in a notebook: what ``ratecheck show`` prints, as Markdown, LaTeX and HTML."""

from __future__ import annotations

from bounds.printing import markup
from bounds.printing.page import page
from bounds.statement import Statement


def markdown(statement: Statement) -> str:
    """The statement as Markdown."""
    return markup.markdown(page(statement))


def latex(statement: Statement) -> str:
    """The statement as LaTeX."""
    return markup.latex(page(statement))


def html(statement: Statement) -> str:
    """The statement as HTML."""
    return markup.as_html(page(statement))
