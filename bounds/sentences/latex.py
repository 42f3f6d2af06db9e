r"""Formulas and sentences in LaTeX, such as ``\frac{2 F_0}{\gamma T}``, as text in the notation of `bounds.parsing`.

What can be read in two ways is refused in one line that says how to write it: a symbol in front of a bracket, which may
be a call, a slash in front of a product, a power before an index, a function of a product without brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from bounds.errors import InputError

_TOKEN = re.compile(
    r"\s*(?:(?P<command>\\(?:[A-Za-z]+|.))|(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<letter>[A-Za-z])|(?P<sign>\S))"
)
# What is about looks alone, and delimiters that grow.
_LOOKS = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|limits|nolimits|quad|qquad|[,;:!> ])(?![A-Za-z])|~|&|\$"
)
_FRACTIONS = frozenset({r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"})
_PRODUCTS = frozenset({r"\cdot", r"\times", "*"})
_FUNCTIONS = {r"\log": "log", r"\ln": "log", r"\exp": "exp"}
_OF_MANY = {r"\max": "max", r"\min": "min"}
_UPRIGHT = frozenset({r"\mathrm", r"\mathit", r"\text", r"\textrm", r"\operatorname", r"\mathsf", r"\mathbf"})
_GREEK = frozenset(
    rf"\{name}"
    for names in (
        "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi varphi",
        "chi psi omega Gamma Delta Theta Lambda Phi Psi Omega",
    )
    for name in names.split()
)
_SAME = {"varepsilon": "epsilon", "varphi": "phi"}
_OPEN, _CLOSED = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
# In one pair of brackets the braces of a set, as in \max\{a, b\}.
_BRACES = {r"\{": "{", r"\}": "}", r"\lbrace": "{", r"\rbrace": "}"}
_RELATIONS = re.compile(r"\\leqslant(?![A-Za-z])|\\leq(?![A-Za-z])|\\le(?![A-Za-z])")


def is_latex(text: str) -> bool:
    """Whether a text is LaTeX, which has commands or braces."""
    return "\\" in text or "{" in text


def formula(text: str) -> str:
    r"""The formula, or a comparison of two, as text of + - * / **; raises `InputError` for what has no one meaning.

    >>> formula(r"\frac{2 F_0}{\gamma T}")
    '2*F_0/(gamma*T)'
    """
    written = _RELATIONS.sub("<=", _quantities(text))
    written = re.sub(r"\\geqslant(?![A-Za-z])|\\geq(?![A-Za-z])|\\ge(?![A-Za-z])", ">=", written)
    parts = re.split(r"(<=|>=|==|<|>|=)", written)
    found = [_Reader(each, text).whole() if k % 2 == 0 else each for k, each in enumerate(parts)]
    return " ".join("==" if each == "=" else each for each in found)


def sentence(text: str) -> str:
    r"""A theorem, whose left side says which rounds are meant, in the words of `bounds.sentences.sentence`.

    >>> sentence(r"\frac1T\sum_{t=0}^{T-1} \mathbb{E}\|\nabla f(x_t)\|^2 \le \frac{2 F_0}{\gamma T}")
    'mean grad2 <= 2*F_0/(gamma*T)'
    """
    written = _with_usual_rounds(_LOOKS.sub(" ", text).strip())
    left, *others = re.split(r"(<=|==)", _RELATIONS.sub("<=", written), maxsplit=1)
    if others and re.fullmatch(r"(?!.*\bf\s*\()[\w\s+*/().-]+", left):
        # Words on the left, a formula on the right.
        return f"{left.strip()} {others[0]} {formula(others[1])}"
    word, rest = "", written
    for said, pattern in _ROUNDS:
        if found := pattern.match(written):
            word, rest = said, written[found.end() :]
            break
    else:
        if found := re.match(r"([A-Za-z]{3,})(?=[\s\\({])", written):
            word, rest = found[1], written[found.end() :]
        elif _SUM.match(written):
            raise InputError(f"{text}: {_MEAN}")
    rest = _AVERAGED.sub(r"{\\mathrm{averaged_gap}}", rest)
    rest, last = _LAST.sub(lambda found: found[0].replace("T", "t", 1), rest), bool(_LAST.search(rest))
    if last and word:
        raise InputError(f'"{text}" speaks of x_T, which is one round, and of a {word}')
    read = formula(rest)
    if "averaged_gap" in read:
        return read.replace("averaged_gap", "gap at the mean iterate", 1)
    return f"{word or ('last' if last else '')} {read}".strip()


def _with_usual_rounds(text: str) -> str:
    """The text with rounds t of T in place of others such as r of R, where a mean over them says so and T is free."""
    found = _OTHER_ROUNDS.match(text)
    for new, letter in found.groupdict().items() if found else ():
        if letter != new and re.search(_LETTER.format(new), text):
            return text
        text = re.sub(_LETTER.format(letter), new, text)
    return text


def _loose(pattern: str) -> re.Pattern[str]:
    """A pattern in which a blank stands for any number of them."""
    return re.compile(pattern.replace(" ", r"\s*"))


_NORM = r"(?:\\\||\\[lr]?Vert(?![A-Za-z])|\|)"
_AT = r"(?:_ \{ [tk] \}|_ [tk]|\^ \{ \(? [tk] \)? \}|\^ [tk])"
_START = r"(?:_ \{ 0 \}|_ 0|\^ \{ \(? 0 \)? \}|\^ 0)"
_STAR = r"(?:[_^] \{ (?:\*|\\star|\\ast) \}|[_^] (?:\*|\\star|\\ast))"
_X = r"(?:x|w|\\theta|\\mathbf \{ [xw] \}|\\mathbf [xw]|\\bm \{ [xw] \})"
_INFIMUM = rf"(?:f {_STAR}|f \( {_X} {_STAR} \)|\\inf f|f _ \{{ \\inf \}}|f _ \{{ \\min \}})"
_SQUARE = r" \^ (?:\{ 2 \}|2)"
_ONE = r"(?:\\frac \{ 1 \} \{ T \}|\\frac 1 \{ T \}|\\frac \{ 1 \} T|\\frac 1 T|1 / T)"
# What a left side begins with, and which rounds it says.
_ROUNDS = (
    ("mean", _loose(rf" {_ONE} \\sum _ \{{ [tk] = 0 \}} \^ \{{ T - 1 \}}")),
    ("best", _loose(r" \\min _ \{ (?:0 \\leq? )?[tk] (?:< T|\\leq? T - 1|= 0 , (?:\\[cl]?dots|\\dotsc) , T - 1) \}")),
    ("best", _loose(r" \\min _ \{ [tk] \\in \\\{ 0 , \\[cl]?dots , T - 1 \\\} \}")),
)
_OTHER_ROUNDS = _loose(r" \\frac (?:\{ 1 \}|1) \{? (?P<T>[A-Z]) \}? \\sum _ \{ (?P<t>[a-z]) = 0 \} \^ \{ (?P=T) - 1 \}")
# A letter by itself; R_0 is a number of the start.
_LETTER = r"(?<![A-Za-z\\]){}(?![A-Za-z]| ?_ ?0| ?_ ?\{{ ?0)"
_MEAN = r"a sum is read as the mean \frac1T\sum_{t=0}^{T-1}, over x_0 ... x_(T-1)"
_SUM = _loose(rf" (?:{_ONE})? \\sum|\\sum")
_LAST = _loose(rf"{_X} (?:_ T|_ \{{ T \}}|\^ T|\^ \{{ T \}})(?= [)\-+])")
_GAP = rf"f \( {_X} {_AT} \) - {_INFIMUM}"
# Quantities of a run and of its start, and their names.
_QUANTITIES = (
    ("grad2", _loose(rf"{_NORM} \\nabla f \( {_X} {_AT} \) {_NORM}{_SQUARE}")),
    ("dist2_0", _loose(rf"{_NORM} {_X} {_START} - {_X} {_STAR} {_NORM}{_SQUARE}")),
    ("R_0", _loose(rf"{_NORM} {_X} {_START} - {_X} {_STAR} {_NORM}")),
    ("dist2", _loose(rf"{_NORM} {_X} {_AT} - {_X} {_STAR} {_NORM}{_SQUARE}")),
    ("F_0", _loose(rf"\( f \( {_X} {_START} \) - {_INFIMUM} \)")),
    ("F_0", _loose(rf"f \( {_X} {_START} \) - {_INFIMUM}")),
    ("gap", _loose(_GAP)),
)
_AVERAGED = _loose(rf"f \( \\bar (?:\{{ x \}}|x)(?: _ T| _ \{{ T \}})? \) - {_INFIMUM}")
_EXPECTED = _loose(r"\\(?:mathbb|mathrm|mathbf)(?: \{ E \}| E)|\\E(?![A-Za-z])|\\operatorname \{ E \}")


def _quantities(text: str) -> str:
    """The text without what is about looks, and with quantities of a run and its start under their names."""
    written = _LOOKS.sub(" ", text)
    for name, pattern in _QUANTITIES:
        # A difference that is multiplied has brackets around it already.
        written = pattern.sub(rf"{{\\mathrm{{{name}}}}}", written)
    while (found := _EXPECTED.search(written)) is not None:
        rest = written[found.end() :].lstrip()
        # E[...] of what has a name by now: the brackets say nothing else.
        inside = re.match(r"\[([^\[\]]*)\]", rest)
        if inside:
            rest = (f"({inside[1]})" if re.search(r"[+-]", inside[1]) else inside[1]) + rest[inside.end() :]
        written = written[: found.start()] + rest
    return written


_NAMED = "a norm has a name here: dist2, grad2, dist2_0, R_0 ('ratecheck list symbols')"


class _Reader:
    """Turns the tokens of a formula into text; ``whole`` reads all of them."""

    def __init__(self, text: str, given: str) -> None:
        self.given, self.place = given, 0
        self.tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            assert found is not None
            sign = found[0].strip()
            self.tokens.append(_BRACES.get(sign, sign) if sign in (r"\lbrace", r"\rbrace") else sign)
            at = found.end()

    def whole(self) -> str:
        found = self.sum()
        if self.place < len(self.tokens):
            raise self.refused(f"{self.here!r} is not expected there")
        return found

    def refused(self, why: str) -> InputError:
        return InputError(f'"{self.given.strip()}" cannot be read as LaTeX: {why}')

    @property
    def here(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        found = self.here
        if not found or (wanted and found != wanted):
            raise self.refused(
                f"{wanted or 'something'} is missing" + (f" before {found!r}" if found else " at its end")
            )
        self.place += 1
        return found

    def sum(self) -> str:
        found = self.take() if self.here in ("+", "-") else ""
        found = ("-" if found == "-" else "") + self.term()
        while self.here in ("+", "-"):
            found += f" {self.take()} {self.term()}"
        return found

    def term(self) -> str:
        """Factors, and at most one slash, after which there is one factor alone."""
        found, divided = self.factor(), False
        while True:
            if self.here in _PRODUCTS:
                self.take()
                found = f"{found}*{self.factor()}"
            elif self.here == "/":
                self.take()
                found, divided = f"{found}/{_bracketed(self.factor())}", True
            elif self._begins_factor():
                if divided:
                    raise self.refused(rf"a / b {self.here} is (a/b) {self.here} or a/(b {self.here}): write \frac")
                found = f"{found}*{self.factor()}"
            else:
                return found

    def _begins_factor(self) -> bool:
        sign = self.here
        return bool(sign) and sign[0] not in "+-*/^_,)]}|=<>&" and sign not in (r"\}", r"\|")

    def factor(self) -> str:
        """One thing with its power."""
        before = self.place
        name, base = self.atom()
        if self.here != "^":
            if name and self.here in ("(", "[") and not self._begins_product():
                shown = self.tokens[before]
                raise self.refused(rf"{shown}(...) may be a product or a call: write {shown} \cdot (...)")
            return base
        self.take()
        exponent = self.argument()
        if self.here == "_":
            index = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else ""
            index = index if index.isalnum() else "{...}"
            raise self.refused(rf"an index comes before the power: write {self.tokens[before]}_{index}^{{{exponent}}}")
        if self.here == "^":
            raise self.refused("two powers, one on the other: write brackets")
        if base == "e":
            return f"exp({exponent})"
        return f"{_bracketed(base)}**{_bracketed(exponent)}"

    def _begins_product(self) -> bool:
        """Whether brackets have 1 + or 1 - first and no round, as the argument of no call has."""
        inside = self.tokens[self.place + 1 :]
        inside = inside[: inside.index(")")] if ")" in inside else []
        sum_of_one = len(inside) > 2 and inside[0].isdigit() and inside[1] in "+-"
        return sum_of_one and not {"t", "k", "T"} & {*inside}

    def argument(self) -> str:
        """What stands in braces, or the next sign."""
        if self.here == "{":
            return self.group()
        sign = self.take()
        if re.fullmatch(r"\d+", sign) and len(sign) > 1:
            # \frac12 is a half.
            self.place -= 1
            self.tokens[self.place : self.place + 1] = [*sign]
            sign = self.take()
        if sign.isalnum():
            return sign
        if sign in _GREEK:
            return _letter(sign)
        raise self.refused(f"{sign!r} has to stand in braces there")

    def group(self) -> str:
        opening = self.take()
        found = self.sum()
        self.take(_OPEN[opening])
        return found

    def atom(self) -> tuple[str, str]:
        """The name of a symbol, empty for anything else, and the text."""
        sign = self.here
        if sign.isalpha() or sign in _GREEK or sign in _UPRIGHT:
            name = self._symbol()
            return name, name
        return "", self._operation() if sign.startswith("\\") else self._enclosed()

    def _operation(self) -> str:
        """What a command makes of what follows."""
        sign = self.here
        if sign in _FRACTIONS:
            self.take()
            above, below = self.argument(), self.argument()
            return f"{_bracketed(above, product=True)}/{_bracketed(below)}"
        if sign == r"\sqrt":
            return self._root()
        if sign in _FUNCTIONS or sign in _OF_MANY:
            return self._function()
        if sign == r"\pi":
            return self.take()[1:]
        norm = sign in (r"\|", r"\Vert")
        raise self.refused(_NAMED if norm else _MEAN if sign == r"\sum" else f"{sign!r} is not known")

    def _enclosed(self) -> str:
        """A number, or what stands in brackets."""
        sign = self.here
        if sign in ("(", "["):
            return f"({self.group()})"
        if sign == "{":
            inside = self.group()
            return inside if re.fullmatch(r"\w+", inside) else f"({inside})"
        if sign and (sign[0].isdigit() or sign[0] == "."):
            return self.take()
        why = f"{sign!r} is not known" if sign else "it ends where a formula is expected"
        raise self.refused(_NAMED if sign == "|" else why)

    def _root(self) -> str:
        self.take()
        if self.here != "[":
            return f"sqrt({self.argument()})"
        order = self.group()
        return f"({self.argument()})**(1/{_bracketed(order)})"

    def _function(self) -> str:
        sign = self.take()
        if self.here == "^":
            raise self.refused(rf"write ({sign} ...)^{{...}} for a power of a value")
        if sign in _OF_MANY:
            return self._of_many(sign)
        if self.here in ("(", "[", "{"):
            return f"{_FUNCTIONS[sign]}({self.group()})"
        inside = self.factor()
        if self._begins_factor() or self.here in ("/", *_PRODUCTS):
            raise self.refused(rf"where does the argument of {sign} end? write {sign}(...)")
        return f"{_FUNCTIONS[sign]}({inside})"

    def _of_many(self, sign: str) -> str:
        closing = {r"\{": r"\}", "(": ")", "[": "]", "{": "}"}
        opening = self.here
        if opening not in closing:
            raise self.refused(rf"write {sign}\{{..., ...\}}")
        self.take()
        parts = [self.sum()]
        while self.here == ",":
            self.take()
            parts.append(self.sum())
        self.take(closing[opening])
        return f"{_OF_MANY[sign]}({', '.join(parts)})"

    def _symbol(self) -> str:
        sign = self.take()
        name = self._word() if sign in _UPRIGHT else _letter(sign)
        if self.here == "_":
            self.take()
            index = self._word() if self.here == "{" else _letter(self.take())
            name = f"{name}_{_STARS.get(index, index)}"
        return name

    def _word(self) -> str:
        """Letters, digits and underscores in braces."""
        self.take("{")
        found = ""
        while self.here != "}":
            sign = self.take()
            found += "_" if sign in ("_", r"\_") else _letter(sign)
        self.take("}")
        if not re.fullmatch(r"\w+|\*|star", found):
            raise self.refused(f"{found!r} is no name of letters and digits")
        return found


_STARS = {"*": "star", "ast": "star"}


def _letter(sign: str) -> str:
    return _SAME.get(sign[1:], sign[1:]) if sign.startswith("\\") else sign


_SIMPLE: Callable[[str], object] = re.compile(r"[\w.]+|(?:sqrt|log|exp|max|min)\([^()]*\)").fullmatch


def _bracketed(text: str, *, product: bool = False) -> str:
    """The text in brackets unless it is one thing; a ``product`` may stand on the left of a slash as it is."""
    if _SIMPLE(text) or _in_brackets(text) or (product and not re.search(r" [+-] |^-", text)):
        return text
    return f"({text})"


def _in_brackets(text: str) -> bool:
    """Whether one pair of brackets encloses all of the text."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth and place < len(text) - 1:
            return False
    return True
