"""A statement's page as Markdown, LaTeX and HTML: one sequence of blocks, set three ways."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bounds.printing.abbreviations import is_definition
from bounds.printing.page import OVER, OVER_OF, Line, Page, PrintedInequality, place, quantity_domain
from bounds.printing.tex import Tex, length
from bounds.statement import Relation

_SIGNS = {"<=": r"\le", ">=": r"\ge", "==": "=", "<": "<", ">": ">", "= O": "= O"}
# A displayed formula is broken between its terms where a line would have more characters.
_LONGEST = 64


@dataclass(frozen=True)
class Words:
    """Prose, in which keys of statements may stand."""

    text: str


@dataclass(frozen=True)
class Key:
    """The key of a statement, or another name as it is typed."""

    text: str
    statement: bool = True


@dataclass(frozen=True)
class Formula:
    """LaTeX between words."""

    latex: str


Inline = Words | Key | Formula


@dataclass(frozen=True)
class Heading:
    """The title."""

    parts: tuple[Inline, ...]


@dataclass(frozen=True)
class Paragraph:
    """A label and what it says; several entries are a list."""

    label: str
    entries: tuple[tuple[Inline, ...], ...]


@dataclass(frozen=True)
class Display:
    """A formula on lines of its own, one per row."""

    rows: tuple[str, ...]

    @property
    def latex(self) -> str:
        """The rows as one formula."""
        if len(self.rows) == 1:
            return self.rows[0].replace("{}&", " ")
        return "\\begin{aligned}\n" + " \\\\\n".join(self.rows) + "\n\\end{aligned}"


@dataclass(frozen=True)
class MarkupTable:
    """The symbols: as printed, as typed, meaning and domain."""

    rows: tuple[tuple[Inline, Inline, Inline, Inline], ...]


Block = Heading | Paragraph | Display | MarkupTable


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
    def head(self) -> Iterator[Block]:
        """Title and place."""
        statement = self.page.statement
        yield Heading((Key(statement.key), Words(": " + statement.title)))
        about: list[Inline] = [Words(f"{place(statement)}, {statement.source.paper}.")]
        if statement.algorithm is not None:
            about += [Words(" Algorithm: "), Key(statement.algorithm, statement=False), Words(".")]
        yield Paragraph("", (tuple(about),))

    @property
    def body(self) -> Iterator[Block]:
        """All but title and symbols."""
        page, statement = self.page, self.page.statement
        for inequality in page.claims:
            yield Paragraph("", (tuple(self._introduced(inequality)),))
            yield Display(self.claim(inequality))
        if page.abbreviations:
            yield Paragraph("", ((Words("where"),),))
            rows = (
                broken(self.tex.name(each.name) + " =", [("", self.tex.split(each.formula))])
                for each in page.abbreviations
            )
            yield Display(tuple(row for group in rows for row in group))
        if statement.assumptions:
            yield Paragraph("Assumes", tuple((Words(assumption.value),) for assumption in statement.assumptions))
        for label, lines in (
            ("If", [(line, line.note) for line in page.conditions]),
            ("Step sizes", [(line, kind) for kind, line in page.rules]),
            ("With", [(line, "") for line in page.products]),
            ("Fixes", [(line, "") for line in page.settings]),
        ):
            if lines:
                yield Paragraph(label, tuple(self._noted(line, note) for line, note in lines))
        for label, keys in (("Follows from", statement.follows_from), ("Used in", page.used_in)):
            if keys:
                yield Paragraph(label, (_listed(keys),))
        if statement.remark:
            yield Paragraph("Remark", ((Words(statement.remark),),))
        if page.partner is not None:
            label = "Repaired form" if page.repaired_by_partner else "Printed form"
            yield Paragraph(label, ((Words(". ".join(page.partner_words)),),))

    @property
    def symbols(self) -> MarkupTable:
        """The table of symbols."""
        return MarkupTable(
            tuple(
                (Formula(q.latex), Key(q.name, statement=False), Words(q.meaning), Words(quantity_domain(q)))
                for q in self.page.symbols
            )
        )

    def _introduced(self, inequality: PrintedInequality) -> Iterator[Inline]:
        claim = inequality.claim
        name = f" {claim.name}" if len(self.page.statement.claims) > 1 else ""
        if is_definition(self.page.statement, claim):
            yield Words(f"Definition{name}:")
            return
        over = OVER[claim.metric.over]
        metric = None if inequality.metric is None else self.tex.product(inequality.metric)
        if metric is None or metric.replace(" ", "") == claim.metric.latex.replace(" ", ""):
            yield Words(f"Claim{name}{', ' if over else ''}{over}:")
        else:
            yield Words(f"Claim{name}, {OVER_OF[claim.metric.over]}")
            yield Formula(metric)
            yield Words(":")

    def line(self, line: Line) -> str:
        """A hypothesis or step rule."""
        return f"{self.tex.product(line.left)} {_SIGNS[line.operator]} {self.tex.product(line.right)}"

    def _noted(self, line: Line, note: str) -> tuple[Inline, ...]:
        return (Formula(r"\displaystyle " + self.line(line)), *([Words(f" ({note})")] if note else []))

    def claim(self, inequality: PrintedInequality, *, named: bool = True) -> tuple[str, ...]:
        """A claim in rows; with ``named``, the name of every term under it."""
        claim = inequality.claim
        several = named and len(inequality.terms) > 1
        parts = [(name if several else "", self.tex.split(term)) for name, term in inequality.terms]
        order = claim.relation is Relation.ORDER
        return broken(f"{claim.metric.latex} {_SIGNS[claim.relation.value]}", parts, enclosed=order)


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


def _listed(keys: Sequence[str]) -> tuple[Inline, ...]:
    parts: list[Inline] = []
    for key in keys:
        parts += [Words(", "), Key(key)] if parts else [Key(key)]
    return tuple(parts)


# Markdown.


def markdown_escaped(text: str) -> str:
    """Text with everything that Markdown would interpret escaped."""
    escaped = re.sub(r"[\\`*_{}\[\]<>#|~$^]|^[-+]", r"\\\g<0>", text)
    # A number that begins a list; a backslash before a digit would be shown.
    return re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", escaped)


def markdown_code(text: str) -> str:
    """Text as typed, between more backticks than it has."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{' '.join(text.split())}{space}{ticks}"


def markdown_formula(latex: str) -> str:
    """LaTeX in one line that neither ends the formula it stands in nor is HTML to whoever reads it without formulas."""
    kept = re.sub(r"(\\.)|\$", lambda found: found[1] or r"\$", re.sub(r"\s+", " ", latex))
    return re.sub(r"<(?=[A-Za-z/!?])", "< ", kept)


def markdown_display(latex: str) -> str:
    """LaTeX on lines of its own, none of them empty, which would end it."""
    lines = "\n".join(markdown_formula(line) for line in latex.splitlines() if line.strip())
    return f"$$\n{lines}\n$$"


@dataclass(frozen=True)
class Markdown:
    """Writes blocks as Markdown; ``key`` sets the key of a statement and ``words`` prose."""

    key: Callable[[str], str] = markdown_code
    words: Callable[[str], str] = markdown_escaped

    def inline(self, parts: Sequence[Inline]) -> str:
        """Parts of a line."""
        return "".join(map(self._part, parts))

    def _part(self, part: Inline) -> str:
        if isinstance(part, Formula):
            return f"${markdown_formula(part.latex)}$"
        if isinstance(part, Key):
            return self.key(part.text) if part.statement else markdown_code(part.text)
        return self.words(part.text)

    def _cell(self, part: Inline) -> str:
        """A part in a table, where a bar would end the cell."""
        return self._part(Formula(part.latex.replace(r"\|", r"\Vert ")) if isinstance(part, Formula) else part)

    def block(self, block: Block) -> str:
        """A block and the empty line after it."""
        if isinstance(block, Heading):
            return f"### {self.inline(block.parts)}\n"
        if isinstance(block, Display):
            return markdown_display(block.latex) + "\n"
        if isinstance(block, Paragraph):
            label = f"**{block.label}:** " if block.label else ""
            if len(block.entries) == 1:
                return f"{label}{self.inline(block.entries[0])}\n"
            return "\n".join([label.rstrip(), "", *(f"- {self.inline(entry)}" for entry in block.entries), ""])
        rows = ["| symbol | name | meaning | domain |", "| --- | --- | --- | --- |"]
        rows += ["| " + " | ".join(map(self._cell, row)) + " |" for row in block.rows]
        return "\n".join([*rows, ""])


def markdown(page: Page) -> str:
    """The page as Markdown with formulas between dollar signs."""
    blocks = MarkupBlocks(page)
    return "\n".join(map(Markdown().block, [*blocks.head, *blocks.body, blocks.symbols]))


# LaTeX.


def latex(page: Page) -> str:
    """The page as LaTeX; needs ``amsmath`` and ``amssymb``."""
    blocks = MarkupBlocks(page)
    return "\n".join(map(_latex_block, [*blocks.head, *blocks.body, blocks.symbols]))


def _latex_inline(parts: Sequence[Inline]) -> str:
    return "".join(map(_latex_part, parts))


def _latex_part(part: Inline) -> str:
    if isinstance(part, Formula):
        return f"${part.latex}$"
    return rf"\texttt{{{_escaped(part.text)}}}" if isinstance(part, Key) else _escaped(part.text)


def _latex_block(block: Block) -> str:
    if isinstance(block, Heading):
        return rf"\paragraph{{{_latex_inline(block.parts)}}}"
    if isinstance(block, Display):
        return f"\\[\n{block.latex}\n\\]"
    if isinstance(block, Paragraph):
        label = rf"\textbf{{{block.label}:}} " if block.label else ""
        if len(block.entries) == 1:
            return f"{label}{_latex_inline(block.entries[0])}\n"
        items = [rf"\item {_latex_inline(entry)}" for entry in block.entries]
        return "\n".join([label.rstrip(), r"\begin{itemize}", *items, r"\end{itemize}"])
    rows = [" & ".join(map(_latex_part, row)) + r" \\" for row in block.rows]
    return "\n".join([r"\begin{tabular}{llp{7cm}l}", *rows, r"\end{tabular}"])


# HTML.


def as_html(page: Page) -> str:
    """The page as HTML with formulas between dollar signs, which a notebook sets."""
    blocks = MarkupBlocks(page)
    return "\n".join(map(_html_block, [*blocks.head, *blocks.body, blocks.symbols]))


def _html_inline(parts: Sequence[Inline]) -> str:
    return "".join(map(_html_part, parts))


def _html_part(part: Inline) -> str:
    if isinstance(part, Formula):
        return html.escape(f"${part.latex}$")
    return f"<code>{html.escape(part.text)}</code>" if isinstance(part, Key) else html.escape(part.text)


def _html_block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h3>{_html_inline(block.parts)}</h3>"
    if isinstance(block, Display):
        return html.escape(f"$$\n{block.latex}\n$$")
    if isinstance(block, Paragraph):
        label = f"<b>{block.label}:</b> " if block.label else ""
        if len(block.entries) == 1:
            return f"<p>{label}{_html_inline(block.entries[0])}</p>"
        items = "".join(f"<li>{_html_inline(entry)}</li>" for entry in block.entries)
        return f"<p>{label.rstrip()}</p><ul>{items}</ul>"
    rows = ["<tr>" + "".join(f"<td>{_html_part(cell)}</td>" for cell in row) + "</tr>" for row in block.rows]
    return f"<table>{''.join(rows)}</table>"
