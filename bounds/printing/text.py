"""A statement's page for a terminal, in Unicode or in ASCII."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from bounds.printing.box import Box, Drawing, beside, in_rows, stacked, width
from bounds.printing.formula import PrintedProduct
from bounds.printing.plain import plain
from bounds.printing.statement_page import OVER, OVER_OF, Line, Page, PrintedInequality, place, quantity_domain
from bounds.roots import shown
from bounds.statement import Over, Relation

COLUMNS = 100
_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "<": "<", ">": ">", "= O": "= O"}
# How wide the print of a symbol may be in a table.
_PRINTED = 12
# Where the text after a label begins.
_LABEL = 13


def statement_text(page: Page, columns: int = COLUMNS, *, unicode: bool = True) -> str:
    """The page as text of at most so many columns where that is possible."""
    return _Text(page, max(columns, 40), unicode).text


def drawing(page: Page, *, unicode: bool, code: bool = False) -> Drawing:
    """Draws the formulas of a page; with ``code``, as program text with ASCII names."""
    vocabulary = page.statement.vocabulary

    def name(symbol: str) -> str:
        return symbol if code or symbol not in vocabulary.order else plain(vocabulary[symbol].latex, unicode=unicode)

    return Drawing(page.order, name, unicode=unicode, line=code, code=code)


@dataclass(frozen=True)
class _Text:
    page: Page
    columns: int
    unicode: bool

    @cached_property
    def _draw(self) -> Drawing:
        return drawing(self.page, unicode=self.unicode)

    @property
    def text(self) -> str:
        statement = self.page.statement
        lines = self._wrapped(f"{statement.key}   {statement.title}", 4)
        lines += self._wrapped(f"{place(statement)}, {statement.source.paper}", 0)
        for inequality in self.page.claims:
            lines += ["", *self._claim(inequality)]
        if self.page.abbreviations:
            lines += ["", "where"]
            for definition in self.page.abbreviations:
                left = self._line(PrintedProduct.of(definition.name))
                lines += self._formula(f"{left} = ", definition.formula, "    ")
        lines.append("")
        for label, entries in self._entries():
            for k, entry in enumerate(entries):
                lines += self._labelled("" if k else label, entry)
        text = "\n".join(line.rstrip() for line in [*lines, "", *self._symbols()]).rstrip()
        # Titles and remarks may hold anything.
        return text if self.unicode else text.encode("ascii", "replace").decode()

    def _entries(self) -> Iterable[tuple[str, list[list[str]]]]:
        """The parts below the formulas, each under its label."""
        page, statement, prose = self.page, self.page.statement, self._prose
        if statement.method is not None:
            yield "algorithm", [prose(statement.method)]
        yield "assumes", [prose(assumption.value) for assumption in statement.said]
        several = len(page.conditions) > 1
        yield "if", [self._row(line, line.note if several else "") for line in page.conditions]
        yield "step sizes", [self._row(line, kind) for kind, line in page.rules]
        yield "with", [self._row(line) for line in page.products if not self._says_nothing(line)]
        yield "fixes", [self._row(line) for line in page.settings]
        yield "follows from", [prose(", ".join(statement.follows_from))] if statement.follows_from else []
        yield "used in", [prose(", ".join(page.used_in))] if page.used_in else []
        if statement.remark:
            yield "remark", [prose(statement.remark)]
        if page.partner is not None:
            kind = "repaired" if page.repaired_by_partner else "printed"
            yield kind, [prose(text) for text in page.partner_words]

    def _says_nothing(self, line: Line) -> bool:
        """Whether a product is printed as the product that it is."""
        return self._line(line.left).strip("()") == self._line(line.right)

    def _labelled(self, label: str, entry: list[str]) -> list[str]:
        return [f"{label if k == 0 else '':{_LABEL}}{line}" for k, line in enumerate(entry)]

    # Claims.

    def _claim(self, inequality: PrintedInequality) -> list[str]:
        claim = inequality.claim
        named = f"[{claim.name}]  " if len(self.page.statement.claims) > 1 else ""
        left = plain(claim.metric.latex, unicode=self.unicode)
        over = OVER[claim.metric.over]
        if claim.relation is Relation.EQUAL and claim.metric.over is Over.NO_RUN:
            return self._formula(f"{left} = ", inequality.right, "    ")
        words = [over] if over else []
        if inequality.metric is not None and self._line(inequality.metric) != left:
            words = [f"{OVER_OF[claim.metric.over]}{self._line(inequality.metric)}"]
        if claim.probability is not None:
            words.append(f"with probability at least {shown(claim.probability)}")
        lines = ["    " + named + left + "".join(f"      {each}" for each in words)]
        if width(lines[0]) > self.columns:
            lines = [f"    {named}{left}", *(f"        {each}" for each in words)]
        head = f"      {self._sign(claim.relation.value)}" + ("" if claim.relation is Relation.ORDER else " ")
        box = self._labelled_terms(inequality, self.columns - width(head) - 2)
        return lines + self._hung(head, self._draw.bracketed(box) if claim.relation is Relation.ORDER else box)

    def _labelled_terms(self, inequality: PrintedInequality, room: int) -> Box:
        """The right side as a sum, the name of every term under it."""
        boxes = []
        for k, (label, term) in enumerate(inequality.terms):
            # A sum has its own signs.
            negative = self._draw.order.fraction(term).negative and not self._draw.order.unbracketed(term)
            minus = "−" if self.unicode else "-"
            sign = (minus if negative else "") if k == 0 else f" {minus if negative else '+'} "
            box = (self._draw.unsigned if negative else self._draw.product)(term, room - len(sign))
            if k and box.lines[box.baseline].startswith(minus):
                box = self._draw.bracketed(box)
            if len(inequality.terms) > 1:
                box = stacked((box, Box((f"[{label}]",))), box.baseline, centred=True)
            boxes.append(beside(Box((sign,)), box) if sign else box)
        return in_rows(boxes, room)

    # Formulas in a line or more.

    def _line(self, product: PrintedProduct) -> str:
        return self._draw.line_of(product)

    def _sign(self, operator: str) -> str:
        return _SIGNS[operator] if self.unicode else operator.replace("==", "=")

    def _formula(self, head: str, product: PrintedProduct, indent: str) -> list[str]:
        """``head`` and the formula after it: on one line if it fits and is simple."""
        room = self.columns - len(indent) - width(head)
        return self._hung(indent + head, self._draw.product(product, room))

    @staticmethod
    def _hung(head: str, box: Box) -> list[str]:
        return list(beside(Box((head,)), box).lines)

    def _row(self, line: Line, kind: str = "") -> list[str]:
        """A hypothesis, in brackets its name or kind; in one line if it fits."""
        note = f"   [{kind}]" if kind else ""
        head = f"{self._line(line.left)} {self._sign(line.operator)} "
        room = self.columns - _LABEL - width(head) - len(note)
        flat = self._line(line.right)
        if width(flat) <= min(room, _FLAT):
            return [head + flat + note]
        box = self._draw.product(line.right, room)
        return self._hung(head, beside(box, Box((note,))) if note else box)

    # Words.

    def _prose(self, text: str) -> list[str]:
        return self._wrapped(text, 0, self.columns - _LABEL)

    def _wrapped(self, text: str, indent: int, columns: int | None = None) -> list[str]:
        return textwrap.wrap(
            text,
            columns or self.columns,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]

    def _symbols(self) -> list[str]:
        """A table of the symbols: as printed, as typed, their meaning and domain."""
        rows = []
        for quantity in self.page.symbols:
            printed = plain(quantity.latex, unicode=self.unicode)
            rows.append((printed, quantity.name, quantity.meaning, quantity_domain(quantity)))
        return ["symbols", *_table(rows, self.columns)] if rows else []


def _table(rows: Sequence[Sequence[str]], columns: int) -> list[str]:
    """Columns two spaces apart, indented; the second last is wrapped to what the others leave.

    What is too long for the first column has a line of its own.
    """
    widths = [max(width(row[k]) for row in rows) for k in range(len(rows[0]))]
    widths[0] = max((width(row[0]) for row in rows if width(row[0]) <= _PRINTED), default=0)
    widths[-2] = max(min(widths[-2], columns - 4 - sum(size + 2 for size in widths) + widths[-2] + 2), 20)
    lines = []
    for printed, *others, meaning, last in rows:
        first, *rest = textwrap.wrap(meaning, widths[-2], break_on_hyphens=False)
        if width(printed) > widths[0]:
            lines.append("    " + printed)
        cells = [printed if width(printed) <= widths[0] else "", *others, first, last]
        for line in (cells, *(["" for _ in cells[:-2]] + [more, ""] for more in rest)):
            padded = (cell + " " * (size - width(cell)) for cell, size in zip(line, widths, strict=True))
            lines.append("    " + "  ".join(padded))
    return lines


# A hypothesis longer than this is set with its fractions stacked.
_FLAT = 60
