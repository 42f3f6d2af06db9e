"""Formulas and comparisons as text, such as ``2*F_0/(gamma_u*T)`` and ``gamma_u <= 1/L``, as SymPy expressions.

The text is Python's notation for arithmetic. It is parsed and never run: what it may hold is listed in `expression`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from bounds.errors import InputError, did_you_mean
from bounds.formula import unreal
from bounds.symbols import Vocabulary

_OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.Pow: lambda left, right: left**right,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sqrt": sp.sqrt, "log": sp.log, "exp": sp.exp, "Max": sp.Max, "Min": sp.Min, "max": sp.Max, "min": sp.Min,
}  # fmt: skip
_OF_MANY = frozenset({"Max", "Min", "max", "min"})
_COMPARISON = re.compile(r"<=|>=|==|!=|=<|=>|<|>|=")
_ADMISSIBLE = "+ - * / **, brackets, numbers, symbols, sqrt, log, exp, max, min and pi are admissible"
# SymPy computes powers of numbers to the last digit.
_LARGEST_POWER = 1000
_MOST_BITS = 100_000
_LONGEST = 10_000
NOTHING: Mapping[str, sp.Expr] = {}


class UnknownSymbolError(InputError):
    """A formula has a ``name`` that is no symbol of its vocabulary; ``elsewhere`` is another vocabulary that has it."""

    def __init__(self, name: str, vocabulary: Vocabulary, elsewhere: str = "") -> None:
        # A vocabulary begins with settings, constants and step sizes, which are wanted most.
        near = did_you_mean(name, vocabulary.order, as_given=True)
        hint = f' here; vocabulary="{elsewhere}" has it' if elsewhere else f"; {near}"
        if called := vocabulary.words.get(name) or vocabulary.usual.get(name):
            hint = f": it is called {called!r} here"
        super().__init__(f"no symbol {name!r}{hint}")
        self.name = name

    def __reduce__(self) -> tuple[type[InputError], tuple[str]]:
        """In another process the message is enough."""
        return InputError, (str(self),)


def expression(text: str, vocabulary: Vocabulary) -> sp.Expr:
    """The formula as an expression in the symbols of the vocabulary; decimal numbers become fractions.

    Admissible are numbers, symbols, ``+ - * / **``, brackets, ``sqrt``, ``log``, ``exp``, ``max``, ``min`` and ``pi``;
    the word ``lambda`` stands for ``lambda_`` where that is the symbol. Raises `InputError` for anything else, and
    `UnknownSymbolError` for a name that is no symbol.

    >>> from bounds.symbols import COMMON
    >>> expression("2*F_0/(gamma_u*T)", COMMON)
    2*F_0/(T*gamma_u)
    """
    found = read(text, vocabulary)
    if unreal(found):
        raise InputError(f"{text!r} is {found}, which is no real number whatever the symbols are")
    return found


def read(text: str, vocabulary: Vocabulary, named: Mapping[str, sp.Expr] = NOTHING) -> sp.Expr:
    """The formula as `expression` has it, whether real or not; ``named`` are formulas that may stand in it by a name.

    Raises `InputError` as `expression` does.
    """
    if len(text) > _LONGEST:
        raise InputError(f"a formula of {len(text)} characters is too long: at most {_LONGEST}")
    # A word of Python's grammar.
    written = re.sub(r"\blambda\b", "lambda_", text.strip())
    try:
        tree = ast.parse(written, mode="eval")
    except SyntaxError as error:
        raise InputError(f"{text!r} cannot be read: {error.msg}; {_ADMISSIBLE}") from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise InputError(f"{text[:60]!r} cannot be read: {error or 'nested too deeply'}; {_ADMISSIBLE}") from None
    try:
        return _FormulaReader(written, vocabulary, named).read(tree.body)
    except RecursionError:
        raise InputError(f"{text[:60]!r} cannot be read: nested too deeply") from None


def sides(text: str) -> tuple[str, str, str]:
    """Left side, operator and right side of a comparison such as ``gamma_u <= 1/L``, as texts.

    Raises `InputError` unless there is exactly one of ``<=``, ``>=``, ``==``, ``<``, ``>``.
    """
    signs = _COMPARISON.findall(text)
    if len(signs) != 1:
        what = "no comparison" if not signs else "several comparisons: write one condition for each"
        raise InputError(f"{text!r} has {what}; it is one such as 'gamma_u <= 1/L'")
    sign = signs[0]
    if sign in {"=", "=<", "=>", "!="}:
        hint = {"=": "write ==", "=<": "write <=", "=>": "write >="}.get(sign, "known: <=, >=, ==, <, >")
        raise InputError(f"{text!r} has the operator {sign!r}; {hint}")
    left, right = text.split(sign)
    if not (left.strip() and right.strip()):
        raise InputError(f"{text!r} lacks the {'right' if left.strip() else 'left'} side")
    return left, sign, right


def _small_power(base: sp.Expr, exponent: sp.Expr) -> bool:
    """Whether a power of numbers has digits that a computer can hold."""
    if not (base.is_Rational and exponent.is_Rational):
        return True
    size = max(abs(base.p), base.q).bit_length()
    return bool(abs(exponent) <= _LARGEST_POWER and size * abs(exponent) <= _MOST_BITS)


class _FormulaReader:
    """Turns the parts of a parsed formula into expressions."""

    def __init__(self, text: str, vocabulary: Vocabulary, named: Mapping[str, sp.Expr]) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self._named = named

    def read(self, node: ast.expr) -> sp.Expr:
        if isinstance(node, ast.Constant):
            return self._number(node)
        if isinstance(node, ast.Name):
            return self._symbol(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            inside = self.read(node.operand)
            return -inside if isinstance(node.op, ast.USub) else inside
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return self._function(node)
        raise InputError(f"{self._part(node)!r} is not admissible in a formula; {_ADMISSIBLE}")

    def _operation(self, node: ast.BinOp) -> sp.Expr:
        if isinstance(node.op, ast.BitXor):
            raise InputError(f"{self._part(node)!r}: write ** for powers, not ^")
        apply = _OPERATIONS.get(type(node.op))
        if apply is None:
            raise InputError(f"{self._part(node)!r} is not admissible in a formula; {_ADMISSIBLE}")
        left, right = self.read(node.left), self.read(node.right)
        if isinstance(node.op, ast.Div) and right.is_number and right.is_zero:
            raise InputError(f"{self._part(node)!r} divides by zero")
        if isinstance(node.op, ast.Pow) and left.is_number and right.is_number and not _small_power(left, right):
            raise InputError(f"{self._part(node)!r} is a number of too many digits")
        return apply(left, right)

    def _function(self, node: ast.Call) -> sp.Expr:
        name = node.func.id if isinstance(node.func, ast.Name) else self._part(node.func)
        function = _FUNCTIONS.get(name)
        if function is None or node.keywords:
            if name in self._vocabulary.order:
                raise InputError(f"{self._part(node)!r}: {name} is no function; write {name}*(...) for a product")
            raise InputError(f"{self._part(node)!r}: no function {name!r}; {did_you_mean(name, _FUNCTIONS)}")
        if not (node.args if name in _OF_MANY else len(node.args) == 1):
            raise InputError(f"{self._part(node)!r}: {name} takes one argument, not {len(node.args)}")
        return function(*map(self.read, node.args))

    def _number(self, node: ast.Constant) -> sp.Expr:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise InputError(f"{self._part(node)!r} is no number and no symbol; {_ADMISSIBLE}")
        if isinstance(node.value, int):
            return sp.Integer(node.value)
        # As written: 0.1 is a tenth.
        mantissa, _, exponent = self._part(node).replace("_", "").lower().partition("e")
        if abs(int(exponent or 0)) > _LARGEST_POWER:
            raise InputError(f"{self._part(node)!r} is beyond the numbers that a computer has")
        return sp.Rational(mantissa) * sp.Integer(10) ** int(exponent or 0)

    def _symbol(self, name: str) -> sp.Expr:
        if name in self._named:
            return self._named[name]
        order = self._vocabulary.order
        for known in (name, name.rstrip("_")):
            if known in order:
                return self._vocabulary[known].symbol
        if name == "pi":
            return sp.pi
        raise UnknownSymbolError(name, self._vocabulary)

    def _part(self, node: ast.expr) -> str:
        part = " ".join((ast.get_source_segment(self._text, node) or self._text).split())
        return part if len(part) <= 60 else part[:60] + "..."
