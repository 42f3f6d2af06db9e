"""Formulas in two dimensions on a terminal: fractions with bars, tall brackets, sums broken between their terms."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from bounds.printing.formula import Call, Exponent, Fractional, Item, Order, Power, PrintedProduct, Root, Sum
from bounds.printing.plain import has_superscript, raised

# Upper, middle and lower part of a tall bracket.
_TALL = {True: (tuple("⎛⎜⎝"), tuple("⎞⎟⎠")), False: (tuple("/|\\"), tuple("\\|/"))}
_ENDLESS = 10**6
# A fraction inside of another one is set on a line if it has fewer columns.
_SHORT = 24


def width(text: str) -> int:
    """How many columns a line takes: combining marks take none."""
    return sum(not unicodedata.combining(character) for character in text)


@dataclass(frozen=True)
class Box:
    """Lines of equal width; those of boxes side by side are aligned at the baseline."""

    lines: tuple[str, ...]
    baseline: int = 0

    @property
    def width(self) -> int:
        """Columns."""
        return width(self.lines[0])

    @property
    def flat(self) -> bool:
        """Whether the box has one line."""
        return len(self.lines) == 1


def beside(*boxes: Box) -> Box:
    """Boxes from left to right."""
    above = max(box.baseline for box in boxes)
    below = max(len(box.lines) - box.baseline for box in boxes)
    lines = []
    for k in range(-above, below):
        rows = (
            box.lines[box.baseline + k] if 0 <= box.baseline + k < len(box.lines) else " " * box.width for box in boxes
        )
        lines.append("".join(rows))
    return Box(tuple(lines), above)


def stacked(boxes: Sequence[Box], baseline: int = 0, *, centred: bool = False) -> Box:
    """Boxes from top to bottom."""
    columns = max(box.width for box in boxes)
    lines = []
    for box in boxes:
        left = (columns - box.width) // 2 if centred else 0
        lines += [" " * left + line + " " * (columns - width(line) - left) for line in box.lines]
    return Box(tuple(lines), baseline)


def in_rows(boxes: Sequence[Box], columns: int) -> Box:
    """Boxes from left to right, and from top to bottom where a row is full."""
    rows: list[list[Box]] = [[]]
    for box in boxes:
        if rows[-1] and sum(each.width for each in rows[-1]) + box.width > columns:
            rows.append([])
        rows[-1].append(box)
    joined = [beside(*row) for row in rows]
    return joined[0] if len(joined) == 1 else stacked(joined, joined[0].baseline)


@dataclass(frozen=True)
class Drawing:
    """Draws products as boxes.

    ``name`` gives a symbol's print. Without ``unicode`` nothing but ASCII is used; with ``line`` all is on one line;
    ``code`` is one line of program text, as Python and SymPy read it.
    """

    order: Order
    name: Callable[[str], str]
    unicode: bool
    line: bool = False
    code: bool = False

    def line_of(self, product: PrintedProduct) -> str:
        """A product on one line."""
        return replace(self, line=True).product(product, _ENDLESS).lines[0]

    def product(self, product: PrintedProduct, columns: int, depth: int = 0) -> Box:
        """A product; where it is a sum, the sum without brackets."""
        terms = self.order.unbracketed(product)
        if terms:
            return self.sum(terms, columns, depth)
        box = self.unsigned(product, columns, depth)
        return beside(self._text(self._minus), box) if self.order.fraction(product).negative else box

    def unsigned(self, product: PrintedProduct, columns: int, depth: int = 0) -> Box:
        """A product without its sign."""
        parts = self.order.fraction(product)
        if not parts.denominator:
            return self._items(parts.numerator, columns, depth)
        if not parts.after:
            return self._fraction(parts, columns, depth)
        after = self._items(parts.after, columns, depth)
        if after.width > columns // 2:
            after = self._items(parts.after, columns // 2, depth)
        fraction = self._fraction(parts, columns - after.width - 3, depth)
        fraction = self.bracketed(fraction) if fraction.flat and not self.code else fraction
        return beside(fraction, self._text("*" if self.code else " "), after)

    def _fraction(self, parts: Fractional, columns: int, depth: int) -> Box:
        room = columns if self.line else columns - 2
        above, below = (
            self._items(half, room, depth + 1, alone=not self.line) for half in (parts.numerator, parts.denominator)
        )
        if self.line or (depth and above.flat and below.flat and above.width + below.width < _SHORT):
            return self._inline(parts, columns, depth)
        bar = self._text(("─" if self.unicode else "-") * (max(above.width, below.width) + 2))
        return stacked((above, bar, below), len(above.lines), centred=True)

    def _inline(self, parts: Fractional, columns: int, depth: int) -> Box:
        above = self._items(parts.numerator, columns, depth + 1)
        below = self._items(parts.denominator, columns, depth + 1)
        if len(parts.denominator) > 1:
            below = self.bracketed(below)
        return beside(above, self._text("/"), below)

    def sum(self, terms: Sequence[PrintedProduct], columns: int, depth: int = 0) -> Box:
        """Terms with their signs, in as many rows as it takes."""
        boxes = []
        for k, term in enumerate(terms):
            negative = self.order.fraction(term).negative
            sign = (self._minus if negative else "") if k == 0 else f" {self._minus if negative else '+'} "
            boxes.append(beside(self._text(sign), self.unsigned(term, columns - len(sign), depth)))
        return in_rows(boxes, columns)

    def _items(self, items: tuple[Item, ...], columns: int, depth: int, *, alone: bool = False) -> Box:
        """Factors side by side; ``alone`` where a single sum needs no brackets."""
        if not items:
            return self._text("1")
        if alone and len(items) == 1 and isinstance(items[0], Power) and items[0].exponent == 1:
            base = items[0].base
            if isinstance(base, Sum):
                return self.sum(self.order.terms(base), columns, depth)
        boxes = [self._item(item, columns, depth) for item in items]
        for widest in sorted(range(len(boxes)), key=lambda k: -boxes[k].width):
            # The widest gives way to the others first.
            excess = sum(box.width + 1 for box in boxes) - 1 - columns
            if excess > 0:
                boxes[widest] = self._item(items[widest], max(boxes[widest].width - excess, _SHORT), depth)
        spaced = [boxes[0]]
        for box in boxes[1:]:
            spaced += [self._text("*" if self.code else " "), box]
        return beside(*spaced)

    def _item(self, item: Item, columns: int, depth: int) -> Box:
        if isinstance(item, int):
            return self._text(str(item))
        if isinstance(item, Root):
            return self._root(item, columns, depth)
        base = self._base(item.base, columns, depth)
        if item.exponent == 1:
            return base
        if isinstance(item.base, str) and not self.code and has_superscript(base.lines[0]):
            base = self.bracketed(base)
        return self._raised(base, item.exponent)

    def _root(self, root: Root, columns: int, depth: int) -> Box:
        inside = self.product(root.inside, columns - 3, depth + 1)
        short = self.unicode and inside.flat and inside.lines[0].isalnum()
        return beside(self._text("√" if self.unicode else "sqrt"), inside if short else self.bracketed(inside))

    def _base(self, base: object, columns: int, depth: int) -> Box:
        if isinstance(base, str):
            name = self.name(base)
            return self._text(f"({name})" if _compound(name) else name)
        if isinstance(base, Sum):
            return self.bracketed(self.sum(self.order.terms(base), columns - 2, depth))
        if isinstance(base, Call):
            return self._call(base, columns, depth)
        assert isinstance(base, PrintedProduct)
        return self.bracketed(self.product(base, columns - 2, depth))

    def _call(self, call: Call, columns: int, depth: int) -> Box:
        name = call.name if self.code else call.name.lower()
        boxes = [self.product(argument, columns - len(name) - 4, depth + 1) for argument in self.order.arguments(call)]
        followed = [beside(box, self._text(", ")) for box in boxes[:-1]]
        arguments = [*followed, boxes[-1]]
        fitting = sum(box.width for box in arguments) <= columns - len(name) - 2
        inside = beside(*arguments) if fitting else stacked(arguments, sum(len(box.lines) for box in arguments) // 2)
        return beside(self._text(name), self.bracketed(inside))

    def _raised(self, base: Box, exponent: Exponent) -> Box:
        text = str(exponent) if isinstance(exponent, Fraction) else self.line_of(exponent)
        if self.code:
            return beside(base, self._text(f"**{text}" if text.isdigit() else f"**({text})"))
        return _cornered(base, raised(text, unicode=self.unicode))

    def bracketed(self, box: Box) -> Box:
        """The box in brackets of its height."""
        if box.flat:
            return beside(self._text("("), box, self._text(")"))
        rows = len(box.lines) - 2
        sides = [Box((top, *[middle] * rows, bottom), box.baseline) for top, middle, bottom in _TALL[self.unicode]]
        return beside(sides[0], box, sides[1])

    @property
    def _minus(self) -> str:
        return "−" if self.unicode else "-"

    @staticmethod
    def _text(text: str) -> Box:
        return Box((text,))


def _compound(name: str) -> bool:
    """Whether a symbol's print is a sum, which needs brackets as a factor; what is inside of bars is none."""
    depth = bars = 0
    for k, character in enumerate(name):
        depth += {"(": 1, "[": 1, "{": 1, "⟨": 1, ")": -1, "]": -1, "}": -1, "⟩": -1}.get(character, 0)
        bars += 2 if character == "‖" else character == "|"
        if depth == 0 and bars % 4 == 0 and name[k : k + 3] in {" + ", " − ", " - "}:
            return True
    return False


def _cornered(base: Box, text: str) -> Box:
    """The text at the upper right corner of a box."""
    return Box((base.lines[0] + text, *(line + " " * width(text) for line in base.lines[1:])), base.baseline)
