"""The LaTeX that statements and counterexamples are written in, as MathML, which browsers set without help.

What is read is the small part of LaTeX that `bounds.printing` and the vocabularies of the papers use; anything else is
an error, so that no formula is shown that lacks a part.
"""

from __future__ import annotations

import functools
import html
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_TEXT = re.compile(r"((?:[^{}\\]|\\.)*)\}", re.DOTALL)
_LETTERS = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega ell
    varepsilon varphi
"""
# Capitals stand upright, as in print.
_UPRIGHT = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega nabla infty"
_OPERATORS = """
    le ge ne approx in cdot times dots ldots to pm lesssim top partial bmod leq geq neq ll gg sim simeq equiv propto
    notin subset subseteq cup cap setminus forall exists rightarrow mapsto mid parallel perp cdots star ast circ bullet
    dagger prime odot oplus otimes mp div
"""
_LARGE = "sum prod"
# The element that each command becomes.
_ELEMENTS = {
    name: element
    for names, element in (
        (_LETTERS, "<mi>{}</mi>"),
        (_UPRIGHT, '<mi mathvariant="normal">{}</mi>'),
        (_OPERATORS, "<mo>{}</mo>"),
        (_LARGE, '<mo movablelimits="true">{}</mo>'),
    )
    for name in names.split()
}
# Signs that matplotlib's table of Unicode lacks or has in another form.
_OTHERWISE = {"epsilon": "ϵ", "le": "≤", "ge": "≥", "cdot": "·", "bmod": "mod", "perp": "⊥", "bullet": "•"}
# Their limits stand below and above them.
_LIMITS = (*(f"\\{name}" for name in _LARGE.split()), r"\underbrace", r"\max", r"\min", r"\inf", r"\sup", r"\lim")
_SIGNS: Mapping[str, str] = {"-": "\N{MINUS SIGN}", "*": "\N{ASTERISK OPERATOR}"}
_FENCES: Mapping[str, str] = {
    r"\|": "‖",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\{": "{",
    r"\}": "}",
    r"\langle": "⟨",
    r"\rangle": "⟩",
    r"\lceil": "⌈",
    r"\rceil": "⌉",
    r"\lfloor": "⌊",
    r"\rfloor": "⌋",
    ".": "",
}
_NAMES = ("max", "min", "log", "exp", "inf", "sup", "lim", "ln", "sin", "cos", "tan", "arg", "det", "dim", "ker")
_ACCENTS: Mapping[str, str] = {
    "bar": "¯",
    "overline": "¯",
    "hat": "^",
    "widehat": "^",
    "widetilde": "~",
    "tilde": "~",
    "vec": "→",
    "dot": "˙",
    "ddot": "¨",
    "check": "ˇ",
    "breve": "˘",
}
_BOLD = ("boldsymbol", "bm")
# Alphabets by their names in Unicode.
_VARIANTS: Mapping[str, str] = {
    "mathcal": "SCRIPT",
    "mathbb": "DOUBLE-STRUCK",
    "mathbf": "BOLD",
    "mathscr": "SCRIPT",
    "mathfrak": "FRAKTUR",
    "mathsf": "SANS-SERIF",
    "mathtt": "MONOSPACE",
    "mathit": "ITALIC",
}
_SPACES = (r"\,", r"\;", r"\!", r"\ ", r"\quad", r"\qquad", "~", r"\displaystyle")


class LatexError(ValueError):
    """A formula has something that is not read here."""


def shown(latex: str, *, display: bool = False) -> str:
    """A formula as `mathml` sets it, or as LaTeX writes it where a user's own symbol has more than is read here.

    >>> from ratecheck.views.document.mathml import shown
    >>> shown("§ < x")
    '<code>§ &lt; x</code>'
    """
    try:
        return mathml(latex, display=display)
    except LatexError:
        return f"<code>{html.escape(latex)}</code>"


def mathml(latex: str, *, display: bool = False) -> str:
    """A formula of LaTeX as a ``<math>`` element, the LaTeX in its ``alttext``; raises `LatexError`.

    >>> from ratecheck.views.document.mathml import mathml
    >>> mathml("x^2").count("<msup>")
    1
    """
    reader = _LatexReader(latex)
    body = _row(reader.until(""))
    if display or r"\displaystyle" in latex:
        body = _large(body)
    kind = ' display="block"' if display else ""
    return f'<math{kind} alttext="{html.escape(" ".join(latex.split()), quote=True)}">{body}</math>'


@dataclass
class _LatexReader:
    """Reads a formula from left to right; ``at`` is where."""

    latex: str
    at: int = 0
    closing: list[str] = field(default_factory=list)

    def _peek(self) -> str:
        found = _TOKEN.match(self.latex, self.at)
        return found[0] if found else ""

    def _next(self) -> str:
        token = self._peek()
        self.at += len(token)
        return token

    def _skip(self) -> str:
        """The next token that is no space, still to be read."""
        while (token := self._peek()) and token.isspace():
            self.at += len(token)
        return token

    def until(self, *ends: str) -> list[str]:
        """The elements up to one of some tokens, which is read too; ``""`` is the end of the formula."""
        found: list[str] = []
        while True:
            token = self._skip()
            if token in ends:
                self.at += len(token)
                self.closing.append(token)
                return found
            if not token:
                raise LatexError(f"{self.latex!r} ends where {' or '.join(map(repr, ends))} is missing")
            found.append(self._scripted())

    def _scripted(self) -> str:
        """An element with what is below and above it."""
        below = self._skip() in _LIMITS
        base = self._element()
        scripts: dict[str, str] = {}
        while (sign := self._skip()) and sign in "_^'":
            self.at += 1
            if sign == "'":
                scripts["^"] = _row([*([scripts["^"]] if "^" in scripts else []), "<mo>\N{PRIME}</mo>"])
                continue
            body = self._group()
            scripts[sign] = _row([scripts["^"], body]) if sign == "^" and "^" in scripts else body
        low, high = scripts.get("_"), scripts.get("^")
        both, sub, sup = ("munderover", "munder", "mover") if below else ("msubsup", "msub", "msup")
        if low is not None and high is not None:
            return f"<{both}>{base}{low}{high}</{both}>"
        if low is not None:
            return f"<{sub}>{base}{low}</{sub}>"
        return base if high is None else f"<{sup}>{base}{high}</{sup}>"

    def _group(self) -> str:
        """A group in braces, or a single letter, sign or digit: LaTeX takes one of the digits of 12."""
        if (token := self._skip())[:1].isdigit():
            self.at += 1
            return f"<mn>{token[0]}</mn>"
        return self._element()

    def _element(self) -> str:  # noqa: PLR0911  # one kind of token after the other
        sign = self._next()
        if not sign:
            raise LatexError(f"{self.latex!r} ends where something is missing")
        if sign == "{":
            return _row(self.until("}"))
        if sign[:1].isdigit():
            return f"<mn>{sign}</mn>"
        if sign.isalpha():
            return f"<mi>{sign}</mi>"
        if sign in _FENCES:
            return _fence(_FENCES[sign])
        if sign in _SPACES:
            return ""
        if sign.startswith("\\"):
            return self._command(sign[1:])
        if sign in "()[]|":
            return _fence(sign)
        if sign in "+-=,/<>*!:;.":
            return f"<mo>{html.escape(_SIGNS.get(sign, sign))}</mo>"
        raise LatexError(f"{sign!r} in {self.latex!r}")

    def _command(self, name: str) -> str:  # noqa: C901, PLR0911, PLR0912  # one case per command
        if name in _ELEMENTS:
            return _ELEMENTS[name].format(_sign(name))
        if name in _NAMES:
            return f"<mi>{name}</mi>"
        if name in ("frac", "tfrac", "dfrac"):
            fraction = f"<mfrac>{self._group()}{self._group()}</mfrac>"
            return _large(fraction) if name == "dfrac" else fraction
        if name == "sqrt":
            degree = self._degree()
            return f"<mroot>{self._group()}{degree}</mroot>" if degree else f"<msqrt>{self._group()}</msqrt>"
        if name in ("text", "mathrm", "operatorname", "texttt"):
            words = self._text()
            return f"<mtext>{html.escape(_spaced(words))}</mtext>"
        if name in _VARIANTS:
            return _styled(name, self._letters())
        if name in _ACCENTS:
            return f'<mover accent="true">{self._group()}<mo stretchy="false">{_ACCENTS[name]}</mo></mover>'
        if name in _BOLD:
            return f'<mrow style="font-weight: bold">{self._group()}</mrow>'
        if name == "underbrace":
            return f'<munder>{self._group()}<mo stretchy="true">⏟</mo></munder>'
        if name == "left":
            opening = self._fence_after()
            inside = self.until(r"\right")
            return _row([opening, *inside, self._fence_after()])
        if name in ("big", "bigl", "bigr", "Big", "Bigl", "Bigr", "bigg", "biggl", "biggr"):
            return self._fence_after()
        if name == "begin":
            return self._environment()
        if name == "_":
            return "<mo>_</mo>"
        raise LatexError(f"\\{name} in {self.latex!r}")

    def _text(self) -> str:
        """Words in braces, without the backslashes that LaTeX needs."""
        self._skip()
        found = _TEXT.match(self.latex, self.at + 1)
        if self._next() != "{" or found is None:
            raise LatexError(f"words without braces in {self.latex!r}")
        self.at = found.end()
        return re.sub(r"\\(.)", r"\1", found[1])

    def _degree(self) -> str:
        """The degree of a root, in square brackets; empty for a square root."""
        if self._skip() != "[":
            return ""
        self.at += 1
        return _row(self.until("]"))

    def _letters(self) -> str:
        """Letters of another alphabet, with or without braces."""
        braces = self._skip() == "{"
        start = self.at
        letters = self._text() if braces else self._next()
        if "\\" in self.latex[start : self.at]:
            raise LatexError(f"{self.latex[start : self.at]} in another alphabet, in {self.latex!r}")
        return letters

    def _fence_after(self) -> str:
        self._skip()
        token = self._next()
        shown = _FENCES.get(token, token)
        return _fence(shown, stretchy=True) if shown else ""

    def _environment(self) -> str:
        name = self._text()
        if name not in ("aligned", "gathered", "cases"):
            raise LatexError(f"{name} in {self.latex!r}")
        rows: list[list[str]] = [[]]
        while True:
            cell = self.until("&", r"\\", r"\end")
            rows[-1].append(_row(cell))
            end = self.closing.pop()
            if end == r"\\":
                rows.append([])
            elif end == r"\end":
                self._text()
                break
        kind = ' class="aligned"' if name == "aligned" else ""
        body = "".join(f"<mtr>{''.join(f'<mtd>{_large(cell)}</mtd>' for cell in row)}</mtr>" for row in rows)
        table = f"<mtable{kind}>{body}</mtable>"
        return _row([_fence("{", stretchy=True), table]) if name == "cases" else table


def _row(elements: Sequence[str]) -> str:
    """Elements as one."""
    shown = [each for each in elements if each]
    return shown[0] if len(shown) == 1 else f"<mrow>{''.join(shown)}</mrow>"


def _large(element: str) -> str:
    """As large as a formula on a line of its own; browsers do not hand that on to the cells of a table."""
    return f'<mstyle displaystyle="true">{element}</mstyle>'


def _fence(sign: str, *, stretchy: bool = False) -> str:
    return f'<mo stretchy="{str(stretchy).lower()}">{html.escape(sign)}</mo>'


def _styled(variant: str, letters: str) -> str:
    """Letters of another alphabet; browsers know these by their code points, not by an attribute."""
    if not (letters.isascii() and all(map(str.isalpha, letters))):
        raise LatexError(f"\\{variant}{{{letters}}}")
    return f"<mi>{''.join(_letter(_VARIANTS[variant], letter) for letter in letters)}</mi>"


def _letter(alphabet: str, letter: str) -> str:
    name = f"{'CAPITAL' if letter.isupper() else 'SMALL'} {letter.upper()}"
    try:
        return unicodedata.lookup(f"MATHEMATICAL {alphabet} {name}")
    except KeyError:  # one that was there before the block of mathematical letters
        older = f"{alphabet.replace('FRAKTUR', 'BLACK-LETTER')} {name}"
        return unicodedata.lookup("PLANCK CONSTANT" if alphabet == "ITALIC" else older)


@functools.cache
def _sign(name: str) -> str:
    """The sign of a command of LaTeX."""
    from matplotlib.mathtext import get_unicode_index

    return _OTHERWISE.get(name) or chr(get_unicode_index(f"\\{name}"))


def _spaced(words: str) -> str:
    """Spaces at the ends are meant."""
    inner = words.strip(" ")
    return words.replace(" ", "\N{NO-BREAK SPACE}") if inner != words else words
