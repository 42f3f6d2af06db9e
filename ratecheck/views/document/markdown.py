"""A document in Markdown, formulas between dollar signs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from bounds.printing.markup import markdown_code, markdown_display, markdown_escaped, markdown_formula
from ratecheck.views.document.nodes import (
    Code,
    Display,
    Document,
    Fold,
    Grid,
    Hyperlink,
    Listing,
    Math,
    Node,
    Paragraph,
    Part,
    Picture,
    Section,
    Strong,
    Terms,
)


def page(document: Document) -> str:
    """The document as Markdown."""
    parts = [f"# {document.kind} of {_line((Code(document.of),))}", markdown_escaped(document.title)]
    for section in document.sections:
        parts += _node(section)
    return "\n\n".join(parts) + "\n"


def _line(parts: Sequence[Part]) -> str:
    return "".join(map(_part, parts))


def _part(part: Part) -> str:
    if isinstance(part, Code):
        return markdown_code(part.text)
    if isinstance(part, Math):
        return f"${markdown_formula(part.latex)}$"
    if isinstance(part, Hyperlink):
        return f"[{markdown_escaped(part.text)}](#{part.target})"
    if isinstance(part, Strong):
        return f"**{markdown_escaped(part.text)}**"
    return markdown_escaped(part)


def _cell(parts: Sequence[Part]) -> str:
    """In a table, where a bar would end the cell."""
    found = ""
    for part in parts:
        if isinstance(part, Math):
            found += _part(Math(part.latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")))
        elif isinstance(part, Code):
            found += markdown_code(part.text).replace("|", "\\|")
        else:
            # A line break would end the row; a space between a label and what follows it stays.
            found += re.sub(r"\s+", " ", _part(part))
    return found.strip()


def _node(node: Node) -> Iterator[str]:  # noqa: C901  # one case per kind of node
    if isinstance(node, Section):
        # Names that links lead to: those that readers make of headings differ from reader to reader.
        yield f'<a id="{html.escape(node.name)}"></a>'
        yield f"{'#' * node.level} {_line(node.title)}"
        for each in node.nodes:
            yield from _node(each)
    elif isinstance(node, Paragraph):
        yield _line(node.parts)
    elif isinstance(node, Listing):
        yield "\n".join(f"- {_line(item)}" for item in node.items)
    elif isinstance(node, Terms):
        yield "\n".join(f"- **{markdown_escaped(label)}**: {_line(line)}" for label, line in node.rows)
    elif isinstance(node, Display):
        yield markdown_display(node.latex)
    elif isinstance(node, Grid):
        head = [f"| {' | '.join(_cell((each,)) for each in node.head)} |", f"|{' --- |' * len(node.head)}"]
        yield "\n".join([*head, *(f"| {' | '.join(map(_cell, row))} |" for row in node.rows)])
    elif isinstance(node, Fold):
        yield f"**{markdown_escaped(node.title)}**"
        for each in node.nodes:
            yield from _node(each)
    elif isinstance(node, Picture):
        yield _line(node.instead) if node.instead else markdown_escaped(node.says)
