"""A statement's page as Markdown, LaTeX and HTML: one sequence of nodes, set three ways."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bounds.printing import nodes
from bounds.printing.abbreviations import is_definition
from bounds.printing.markdown import Markdown
from bounds.printing.nodes import (
    Code,
    Display,
    Grid,
    Heading,
    Listing,
    Math,
    Node,
    Paragraph,
    Part,
    parts,
    text,
)
from bounds.printing.statement_page import OVER, OVER_OF, Line, Page, PrintedInequality, place, quantity_domain
from bounds.printing.tex import Tex, length
from bounds.roots import shown
from bounds.statement import Relation

_SIGNS = {"<=": r"\le", ">=": r"\ge", "==": "=", "<": "<", ">": ">", "= O": "= O"}
# A displayed formula is broken between its terms where a line would have more characters.
_LONGEST = 64


@dataclass(frozen=True)
class MarkupBlocks:
    """The parts of a page in order."""

    page: Page

    @cached_property
    def tex(self) -> Tex:
        """Writes the formulas in the symbols of the paper."""
        vocabulary = self.page.statement.vocabulary
        return Tex(self.page.order, lambda name: vocabulary[name].latex if name in vocabulary.order else _safe(name))

    @property
    def head(self) -> Iterator[Node]:
        """Title and place."""
        statement = self.page.statement
        yield Heading((Code(statement.key, key=True), ": " + statement.title))
        about: list[Part] = [f"{place(statement)}, {statement.source.paper}."]
        if statement.method is not None:
            about += [" Algorithm: ", Code(statement.method), "."]
        yield Paragraph(tuple(about))

    @property
    def body(self) -> Iterator[Node]:
        """All but title and symbols."""
        page, statement = self.page, self.page.statement
        for inequality in page.claims:
            yield Paragraph(tuple(self._introduced(inequality)))
            yield Display(aligned(self.claim(inequality)))
        if page.abbreviations:
            yield Paragraph(("where",))
            rows = (
                broken(self.tex.name(each.name) + " =", [("", self.tex.split(each.formula))])
                for each in page.abbreviations
            )
            yield Display(aligned([row for group in rows for row in group]))
        if statement.said:
            yield _labelled("Assumes", tuple((assumption.value,) for assumption in statement.said))
        for label, lines in (
            ("If", [(line, line.note) for line in page.conditions]),
            ("Step sizes", [(line, kind) for kind, line in page.rules]),
            ("With", [(line, "") for line in page.products]),
            ("Fixes", [(line, "") for line in page.settings]),
        ):
            if lines:
                yield _labelled(label, tuple(self._noted(line, note) for line, note in lines))
        for label, keys in (("Follows from", statement.follows_from), ("Used in", page.used_in)):
            if keys:
                yield Paragraph(_listed(keys), label)
        if statement.remark:
            yield Paragraph(statement.remark, "Remark")
        if page.partner is not None:
            label = "Repaired form" if page.repaired_by_partner else "Printed form"
            yield Paragraph(". ".join(page.partner_words), label)

    @property
    def symbols(self) -> Grid:
        """The table of symbols: as printed, as typed, meaning and domain."""
        rows = ((Math(q.latex), Code(q.name), q.meaning, quantity_domain(q)) for q in self.page.symbols)
        return Grid("", ("symbol", "name", "meaning", "domain"), tuple(rows))

    @property
    def all(self) -> tuple[Node, ...]:
        """The whole page."""
        return (*self.head, *self.body, self.symbols)

    def _introduced(self, inequality: PrintedInequality) -> Iterator[Part]:
        claim = inequality.claim
        name = f" {claim.name}" if len(self.page.statement.claims) > 1 else ""
        if is_definition(self.page.statement, claim):
            yield f"Definition{name}:"
            return
        over = OVER[claim.metric.over]
        if claim.probability is not None:
            chance = f"with probability at least {shown(claim.probability)}"
            over = f"{over}, {chance}" if over else chance
        metric = None if inequality.metric is None else self.tex.product(inequality.metric)
        if metric is None or metric.replace(" ", "") == claim.metric.latex.replace(" ", ""):
            yield f"Claim{name}{', ' if over else ''}{over}:"
        else:
            yield f"Claim{name}, {OVER_OF[claim.metric.over]}"
            yield Math(metric)
            yield ":" if claim.probability is None else f", with probability at least {shown(claim.probability)}:"

    def line(self, line: Line) -> str:
        """A hypothesis or step rule."""
        return f"{self.tex.product(line.left)} {_SIGNS[line.operator]} {self.tex.product(line.right)}"

    def _noted(self, line: Line, note: str) -> tuple[Part, ...]:
        return (Math(r"\displaystyle " + self.line(line)), *([f" ({note})"] if note else []))

    def claim(self, inequality: PrintedInequality, *, named: bool = True) -> tuple[str, ...]:
        """A claim in rows; with ``named``, the name of every term under it."""
        claim = inequality.claim
        several = named and len(inequality.terms) > 1
        parts = [(name if several else "", self.tex.split(term)) for name, term in inequality.terms]
        order = claim.relation is Relation.ORDER
        return broken(f"{claim.metric.latex} {_SIGNS[claim.relation.value]}", parts, enclosed=order)


def aligned(rows: Sequence[str]) -> str:
    """Rows as one formula on lines of its own."""
    if len(rows) == 1:
        return rows[0].replace("{}&", " ")
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def broken(head: str, parts: Sequence[tuple[str, list[str]]], *, enclosed: bool = False) -> tuple[str, ...]:
    """``head`` and a sum of named parts, each with its terms, broken between them where it is long."""
    pieces: list[str] = []
    for name, terms in parts:
        terms = _signed(terms, first=not pieces)  # noqa: PLW2901
        if name:
            sign, term = _unsigned("".join(terms), several=len(terms) > 1)
            pieces.append(rf"{sign}\underbrace{{{term}}}_{{\text{{{_escaped(name)}}}}}")
        else:
            pieces += terms
    if enclosed:
        # Brackets that may close on another line have no \left and \right.
        pieces = [rf"\bigl({pieces[0]}", *pieces[1:]]
        pieces[-1] += r"\bigr)"
    rows = [head + "{}&"]
    for piece in pieces:
        if length(rows[-1] + piece) > _LONGEST and not rows[-1].endswith("&"):
            rows.append("&")
        rows[-1] += piece
    return tuple(rows)


def _signed(terms: list[str], *, first: bool) -> list[str]:
    """Terms with `` + `` or `` - `` before all but the very first."""
    if first:
        return terms
    sign, begin = (" - ", terms[0][1:]) if terms[0].startswith("-") else (" + ", terms[0])
    return [sign + begin, *terms[1:]]


def _unsigned(text: str, *, several: bool) -> tuple[str, str]:
    """The sign before an underbraced term, and the term; a sum after a minus sign is bracketed."""
    for sign in (" + ", " - ", "-"):
        if text.startswith(sign):
            rest = text[len(sign) :]
            if several and "-" in sign:
                return " + ", "-" + rest
            return sign, rest
    return "", text


def _safe(name: str) -> str:
    return rf"\mathrm{{{_escaped(name)}}}"


def _escaped(text: str) -> str:
    """Text for LaTeX."""
    special = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    escaped = (special.get(c, "\\" + c if c in "&%$#_{}" else c) for c in text)
    return "".join(escaped)


def _labelled(label: str, entries: tuple[tuple[Part, ...], ...]) -> Node:
    """A label and what it says; several entries are a list."""
    return Paragraph(entries[0], label) if len(entries) == 1 else Listing(entries, label)


def _listed(keys: Sequence[str]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for key in keys:
        parts += [", ", Code(key, key=True)] if parts else [Code(key, key=True)]
    return tuple(parts)


# Markdown.


def markdown(page: Page) -> str:
    """The page as Markdown with formulas between dollar signs."""
    return Markdown().text(MarkupBlocks(page).all)


# LaTeX.


def latex(page: Page) -> str:
    """The page as LaTeX; needs ``amsmath`` and ``amssymb``."""
    return "\n".join(map(_latex_node, MarkupBlocks(page).all))


def _latex_line(line: nodes.Line) -> str:
    return "".join(map(_latex_part, parts(line)))


def _latex_part(part: Part) -> str:
    if isinstance(part, Math):
        return f"${part.latex}$"
    return rf"\texttt{{{_escaped(part.text)}}}" if isinstance(part, Code) else _escaped(text(part))


def _latex_node(node: Node) -> str:
    label = rf"\textbf{{{named}:}} " if (named := getattr(node, "label", "")) else ""
    if isinstance(node, Heading):
        return rf"\paragraph{{{_latex_line(node.parts)}}}"
    if isinstance(node, Display):
        return f"\\[\n{node.latex}\n\\]"
    if isinstance(node, Paragraph):
        return f"{label}{_latex_line(node.parts)}\n"
    if isinstance(node, Listing):
        items = [rf"\item {_latex_line(item)}" for item in node.items]
        return "\n".join([label.rstrip(), r"\begin{itemize}", *items, r"\end{itemize}"])
    assert isinstance(node, Grid), "a statement's page has no other nodes"
    rows = [" & ".join(map(_latex_line, row)) + r" \\" for row in node.rows]
    return "\n".join([r"\begin{tabular}{llp{7cm}l}", *rows, r"\end{tabular}"])


# HTML.


def as_html(page: Page) -> str:
    """The page as HTML with formulas between dollar signs, which a notebook sets."""
    return "\n".join(map(_html_node, MarkupBlocks(page).all))


def _html_line(line: nodes.Line) -> str:
    return "".join(map(_html_part, parts(line)))


def _html_part(part: Part) -> str:
    if isinstance(part, Math):
        return html.escape(f"${part.latex}$")
    return f"<code>{html.escape(part.text)}</code>" if isinstance(part, Code) else html.escape(text(part))


def _html_node(node: Node) -> str:
    label = f"<b>{named}:</b> " if (named := getattr(node, "label", "")) else ""
    if isinstance(node, Heading):
        return f"<h3>{_html_line(node.parts)}</h3>"
    if isinstance(node, Display):
        return html.escape(f"$$\n{node.latex}\n$$")
    if isinstance(node, Paragraph):
        return f"<p>{label}{_html_line(node.parts)}</p>"
    if isinstance(node, Listing):
        items = "".join(f"<li>{_html_line(item)}</li>" for item in node.items)
        return f"<p>{label.rstrip()}</p><ul>{items}</ul>"
    assert isinstance(node, Grid), "a statement's page has no other nodes"
    rows = ["<tr>" + "".join(f"<td>{_html_line(cell)}</td>" for cell in row) + "</tr>" for row in node.rows]
    return f"<table>{''.join(rows)}</table>"
