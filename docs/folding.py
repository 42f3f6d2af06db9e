"""Tables of many columns, which a phone shows with a block for every row: each cell says what column it is of.

The style sheet folds what has the class ``many``.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

# Tables of so many columns are too wide for a phone.
_MANY = 4
_HEAD = "head-of-column"


def _name(_: Sphinx, document: nodes.document) -> None:
    """Give every cell of a wide table the words above its column."""
    for table in document.findall(nodes.table):
        head = next(iter(table.findall(nodes.thead)), None)
        words = [] if head is None else [entry.astext() for entry in head.findall(nodes.entry)]
        if len(words) < _MANY:
            continue
        table["classes"].append("many")
        for row in (row for body in table.findall(nodes.tbody) for row in body.findall(nodes.row)):
            for entry, word in zip(row.children, words, strict=True):
                if word and entry.astext():
                    entry[_HEAD] = word


def _cell(writer: Any, node: nodes.Element) -> None:
    HTML5Translator.visit_entry(writer, node)
    if _HEAD in node:
        tag, rest = writer.body[-1][:3], writer.body[-1][3:]
        writer.body[-1] = f'{tag} data-head="{escape(node[_HEAD], quote=True)}"{rest}'


def _after(writer: Any, node: nodes.Element) -> None:
    HTML5Translator.depart_entry(writer, node)


def setup(app: Sphinx) -> dict[str, bool]:
    """Name the cells when a page has been read."""
    app.connect("doctree-read", _name)
    app.add_node(nodes.entry, override=True, html=(_cell, _after))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
