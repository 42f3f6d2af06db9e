"""A document as one HTML file: no network, no scripts, the data inside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape

from bounds.printing.nodes import (
    Code,
    Display,
    Document,
    Fold,
    Grid,
    Hyperlink,
    Line,
    Listing,
    Math,
    Node,
    Paragraph,
    Part,
    Picture,
    Section,
    Strong,
    Terms,
    parts,
    text,
)
from ratecheck.views.document.mathml import shown
from ratecheck.views.document.style import STYLE, formulas
from ratecheck.views.document.svg import inside


def page(document: Document) -> str:
    """The document as HTML, its data under an id that is its kind in small letters."""
    sections = document.sections
    kept = json.dumps(document.data, ensure_ascii=True).replace("<", "\\u003c")
    name, kind, word = escape(document.of), escape(document.kind), escape(document.kind.lower())
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{kind} of {name}</title>",
            f"<style>{formulas()}{STYLE}</style>",
            "</head>",
            "<body>",
            f'<a class="skip" href="#main">Skip to the {word}</a>',
            f"<header><h1>{kind} of <code>{name}</code></h1><p>{escape(document.title)}</p></header>",
            # Folded, so that the first screen is the first section.
            f'<nav aria-label="Contents"><details><summary>Contents</summary>{_contents(sections)}</details></nav>',
            '<main id="main">',
            *(line for section in sections for line in _node(section)),
            "</main>",
            "<footer><p>Made by ratecheck from the data inside of this file.</p></footer>",
            f'<script type="application/json" id="{word}">{kept}</script>',
            "</body>",
            "</html>",
            "",
        ]
    )


def _contents(sections: Sequence[Section]) -> str:
    items = ""
    for section in sections:
        inner = "".join(
            f'<li><a href="#{each.name}">{_line(each.title)}</a></li>'
            for each in section.nodes
            if isinstance(each, Section) and each.level == section.level + 1
        )
        nested = f"<ul>{inner}</ul>" if inner else ""
        items += f'<li><a href="#{section.name}">{_line(section.title)}</a>{nested}</li>'
    return f"<ul>{items}</ul>"


def _line(line: Line) -> str:
    return "".join(map(_part, parts(line)))


def _part(part: Part) -> str:
    if isinstance(part, Code):
        return f"<code>{escape(part.text)}</code>"
    if isinstance(part, Math):
        return f'<span class="formula">{shown(part.latex)}</span>'
    if isinstance(part, Hyperlink):
        return f'<a href="#{part.target}">{escape(part.text)}</a>'
    if isinstance(part, Strong):
        return f"<strong>{escape(part.text)}</strong>"
    return escape(part)


def _node(node: Node) -> Iterator[str]:
    if isinstance(node, Section):
        heading = f'<h{node.level} id="{node.name}-h">{_line(node.title)}</h{node.level}>'
        yield f'<section id="{node.name}" aria-labelledby="{node.name}-h">{heading}'
        for each in node.nodes:
            yield from _node(each)
        yield "</section>"
    elif isinstance(node, Paragraph):
        yield f"<p>{_line(node.parts)}</p>"
    elif isinstance(node, Listing):
        yield f"<ul>{''.join(f'<li>{_line(item)}</li>' for item in node.items)}</ul>"
    elif isinstance(node, Terms):
        yield f"<dl>{''.join(f'<dt>{escape(label)}</dt><dd>{_line(line)}</dd>' for label, line in node.rows)}</dl>"
    elif isinstance(node, Display):
        formula = shown(node.latex, display=True)
        yield f'<div class="wide" tabindex="0" role="group" aria-label="Formula">{formula}</div>'
    elif isinstance(node, Grid):
        yield from _grid(node)
    elif isinstance(node, Fold):
        yield f"<details><summary>{escape(node.title)}</summary>"
        yield from _node(node.node)
        yield "</details>"
    elif isinstance(node, Picture):
        drawn = inside(node.draw(), node.name, node.title, node.says)
        yield f'<figure class="wide" tabindex="0" aria-label="{escape(node.title, quote=True)}">{drawn}</figure>'


# Tables of so many columns are too wide for a phone, and those whose cells are so long side by side.
_MANY, _LONG = 4, 120


def _grid(grid: Grid) -> Iterator[str]:
    """A table; where a phone shows its rows as blocks, roles keep it a table for those who listen to it."""
    kind = ' class="many" role="table"' if len(grid.head) >= _MANY or _width(grid) >= _LONG else ""
    yield f'<div class="wide" tabindex="0" role="group" aria-label="{escape(grid.caption, quote=True)}"><table{kind}>'
    yield f"<caption>{escape(grid.caption)}</caption>"
    head = "".join(f'<th scope="col"{_role(kind, "columnheader")}>{escape(name)}</th>' for name in grid.head)
    yield f"<thead><tr{_role(kind, 'row')}>{head}</tr></thead><tbody>"
    for row in grid.rows:
        cells = "".join(_cell(kind, name, line) for name, line in zip(grid.head[1:], row[1:], strict=True))
        first = f'<th scope="row"{_role(kind, "rowheader")}{_head(kind, grid.head[0])}>{_line(row[0])}</th>'
        yield f"<tr{_role(kind, 'row')}>{first}{cells}</tr>"
    yield "</tbody></table></div>"


def _width(grid: Grid) -> int:
    """The signs of the longest cells of all columns, side by side."""
    lengths = [[len(text(cell)) for cell in row] for row in grid.rows]
    return sum(map(max, zip(*lengths, strict=True)))


def _cell(kind: str, name: str, line: Line) -> str:
    return f"<td{_role(kind, 'cell')}{_head(kind, name)}>{_line(line)}</td>"


def _role(kind: str, role: str) -> str:
    return f' role="{role}"' if kind else ""


def _head(kind: str, name: str) -> str:
    return f' data-head="{escape(name, quote=True)}"' if kind and name else ""
