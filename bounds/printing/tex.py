"""Formulas in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bounds.printing.formula import Call, Exponent, Item, Order, Power, PrintedProduct, Root, Sum

# The arguments of a maximum stand one below the other where they are longer.
_LONGEST = 64
_FUNCTIONS = {"Max": r"\max", "Min": r"\min", "log": r"\log", "exp": r"\exp"}


@dataclass(frozen=True)
class Tex:
    """Writes products; ``name`` gives a symbol's LaTeX."""

    order: Order
    name: Callable[[str], str]

    def product(self, product: PrintedProduct) -> str:
        """A product; where it is a sum, the sum without brackets."""
        terms = self.order.unbracketed(product)
        if terms:
            return self.sum(terms)
        sign = "-" if self.order.fraction(product).negative else ""
        return sign + self.unsigned(product)

    def unsigned(self, product: PrintedProduct) -> str:
        """A product without its sign."""
        parts = self.order.fraction(product)
        if not parts.denominator:
            return self._items(parts.numerator)
        fraction = rf"\frac{{{self._half(parts.numerator)}}}{{{self._half(parts.denominator)}}}"
        return " ".join([fraction, self._items(parts.after)]) if parts.after else fraction

    def split(self, product: PrintedProduct) -> list[str]:
        """A product in pieces between which a line may break; the first may begin with a minus sign."""
        terms = self.order.unbracketed(product)
        return self._pieces(terms) if terms else [self.product(product)]

    def sum(self, terms: Sequence[PrintedProduct]) -> str:
        """Terms with their signs."""
        return "".join(self._pieces(terms))

    def _pieces(self, terms: Sequence[PrintedProduct]) -> list[str]:
        pieces = []
        for k, term in enumerate(terms):
            negative = self.order.fraction(term).negative
            sign = ("-" if negative else "") if k == 0 else (" - " if negative else " + ")
            pieces.append(sign + self.unsigned(term))
        return pieces

    def _half(self, items: tuple[Item, ...]) -> str:
        if len(items) == 1 and isinstance(items[0], Power) and items[0].exponent == 1:
            base = items[0].base
            if isinstance(base, Sum):
                return self.sum(self.order.terms(base))
        return self._items(items)

    def _items(self, items: tuple[Item, ...]) -> str:
        return " ".join(map(self._item, items)) or "1"

    def _item(self, item: Item) -> str:
        if isinstance(item, int):
            return str(item)
        if isinstance(item, Root):
            return rf"\sqrt{{{self.product(item.inside)}}}"
        if isinstance(item.base, str):
            name = self.name(item.base)
            if item.exponent == 1:
                return bracketed(name) if compound(name) else name
            # A letter that has a superscript of its own takes no second one.
            simple = "^" not in name and not compound(name) and "'" not in name
            return (name if simple else bracketed(name)) + self._raised(item.exponent)
        if isinstance(item.base, Sum):
            text = bracketed(self.sum(self.order.terms(item.base)))
        elif isinstance(item.base, Call):
            text = self._call(item.base)
            text = text if item.exponent == 1 else bracketed(text)
        else:
            assert isinstance(item.base, PrintedProduct)
            text = bracketed(self.product(item.base))
        return text if item.exponent == 1 else text + self._raised(item.exponent)

    def _raised(self, exponent: Exponent) -> str:
        if isinstance(exponent, Fraction):
            return f"^{exponent}" if exponent.denominator == 1 and exponent < 10 else f"^{{{exponent}}}"
        return f"^{{{self.product(exponent)}}}"

    def _call(self, call: Call) -> str:
        arguments = list(map(self.product, self.order.arguments(call)))
        inside = ", ".join(arguments)
        if len(arguments) > 1 and length(inside) > _LONGEST:
            inside = r"\begin{gathered}" + r", \\ ".join(arguments) + r"\end{gathered}"
        name = _FUNCTIONS.get(call.name, rf"\operatorname{{{call.name}}}")
        if call.name in {"Max", "Min"}:
            return rf"{name}\left\{{{inside}\right\}}"
        return name + bracketed(inside)


def bracketed(text: str) -> str:
    """The text in brackets of its height."""
    return rf"\left({text}\right)" if re.search(r"\\frac|\\sum|\\left", text) else f"({text})"


def compound(latex: str) -> bool:
    """Whether a symbol's LaTeX is a sum, which needs brackets as a factor; what is inside of bars is none."""
    depth, inside = 0, False
    for k, sign in enumerate(re.findall(r"\\[A-Za-z]+|\\.|.", latex)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1, r"\langle": 1, r"\rangle": -1}.get(sign, 0)
        inside ^= sign == r"\|"
        if depth == 0 and not inside and k and sign in "+-":
            return True
    return False


def length(formula: str) -> int:
    """About how many characters wide a formula is set; of a fraction the longer half counts."""
    longer = lambda halves: max(halves[1], halves[2], key=len)  # noqa: E731
    half = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
    formula = re.sub(r"\\frac" + half + half, longer, formula)
    formula = re.sub(r"\}_\{\\text\{[^{}]*\}\}", "", formula)
    formula = re.sub(r"\\(left|right|mathcal|mathbf|mathbb|hat|sqrt|frac|underbrace|bigl|bigr)\b", "", formula)
    return len(re.sub(r"[{}^_&\s]", "", re.sub(r"\\[A-Za-z]+", "x", formula)))
