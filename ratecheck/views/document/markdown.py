"""A document in Markdown, formulas between dollar signs."""

from __future__ import annotations

from bounds.printing.markdown import Markdown, code, escaped
from bounds.printing.nodes import Document


def page(document: Document) -> str:
    """The document as Markdown."""
    head = f"# {document.kind} of {code(document.of)}\n\n{escaped(document.title)}\n\n"
    return head + Markdown().text(document.sections)
