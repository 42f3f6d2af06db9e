"""Expressions evaluated: one traversal for every kind of number, and plain Python functions of floats.

SymPy's own ``lambdify`` takes milliseconds an expression, which is most of the time of a command that evaluates each
expression once. The expressions of the catalogue are sums, products, powers, minima, maxima and logarithms only.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import sympy as sp

Function = Callable[..., float]
V = TypeVar("V")

_HALF = sp.Rational(1, 2)
# What is no real number, whatever the symbols are.
_UNREAL = (sp.nan, sp.oo, -sp.oo, sp.zoo, sp.I)


class RangeError(ArithmeticError):
    """A part of an expression that is known already leaves the range of floats."""


def unreal(expr: sp.Expr) -> bool:
    """Whether a part of an expression is no real number whatever its symbols are: infinite, undefined or complex.

    >>> unreal(sp.log(-sp.Symbol("L", positive=True))), unreal(sp.log(sp.Symbol("L", positive=True)))
    (True, False)
    """
    parts = sp.preorder_traversal(expr)
    return bool(expr.has(*_UNREAL)) or any(isinstance(part, sp.Expr) and part.is_real is False for part in parts)


def complaint(expr: sp.Expr) -> str:
    """Why an expression has no values in floats, whatever its symbols are; empty where it has some."""
    if unreal(expr):
        return f"{expr!s:.60} is no real number whatever the symbols are"
    try:
        function(expr, sorted(symbol.name for symbol in expr.free_symbols))
        # One that is rounded to zero has no value either.
        beyond = any(each.p and each.p / each.q == 0.0 for each in expr.atoms(sp.Rational))
    except ArithmeticError:
        beyond = True
    except TypeError as error:
        return f"{error}; sums, products, rational powers, Min, Max, log and exp are admissible"
    return "a number in it is beyond float64, whose range is from 2.2e-308 to 1.8e308" if beyond else ""


def of_arrays(
    symbols: Sequence[sp.Symbol], expr: sp.Expr, own: Mapping[str, Callable[..., Any]] | None = None
) -> Callable[..., Any]:
    """An expression as a NumPy function of its symbols; SymPy's functions that are named are those of one's ``own``.

    SymPy's ``modules="numpy"`` writes the same, and imports all that NumPy has, its reader of Fortran too.

    >>> x = sp.Symbol("x")
    >>> float(of_arrays([x], sp.sqrt(x) + 1)(4.0))
    3.0
    """
    from sympy.printing.numpy import NumPyPrinter

    known = dict(own or {})
    printer = NumPyPrinter(
        {
            "fully_qualified_modules": False,
            "inline": True,
            "allow_unknown_functions": True,
            "user_functions": {name: name for name in known},
        }
    )
    function: Callable[..., Any] = sp.lambdify(symbols, expr, modules=[known], printer=printer)
    return function


class Visitor(Generic[V]):
    """The traversal of an expression: a subclass says what its parts are in one kind of number.

    ``rules`` are what a sum, a product, ... of visited parts is. A part that occurs several times is visited once.
    """

    rules: ClassVar[Mapping[Any, Callable[..., Any]]] = {}

    def __init__(self) -> None:
        self._seen: dict[sp.Expr, V] = {}

    def visit(self, expr: sp.Expr) -> V:
        """An expression in this kind of number."""
        found = self._seen.get(expr)
        if found is None:
            read = self.symbol if expr.is_Symbol else self.operation if expr.args else self.number
            found = self._seen[expr] = read(expr)
        return found

    def symbol(self, symbol: sp.Symbol) -> V:
        """A symbol."""
        raise NotImplementedError

    def number(self, number: sp.Expr) -> V:
        """A number, or another expression without parts."""
        raise NotImplementedError

    def operation(self, expr: sp.Expr) -> V:
        """A sum, a product, a power or a function."""
        rule = self.rules.get(expr.func)
        return self.other(expr) if rule is None else rule([self.visit(part) for part in expr.args])

    def other(self, expr: sp.Expr) -> V:
        """Value of an expression without a rule of its own; raises TypeError unless a subclass knows better."""
        raise TypeError(f"no rule for {type(expr).__name__} in {expr}")


def function(expr: sp.Expr, names: Sequence[str], known: Mapping[str, float] | None = None) -> Function:
    """The expression as a function of ``names`` in that order, the symbols in ``known`` replaced by their values.

    The function raises `ZeroDivisionError` and `OverflowError` as Python's arithmetic does, and ValueError for the root
    of a negative number; a division by zero among what is known counts as infinity. Raises `RangeError` where
    the value of a known part is too large or too small for a float, and KeyError for a symbol that is neither known nor
    named.
    """
    writer = _Writer(names, known or {})
    try:
        result = writer.visit(expr)
    except OverflowError:
        raise RangeError from None
    arguments = ", ".join(writer.arguments.values())
    lines = [f"def formula({arguments}):", *(f"    {line}" for line in writer.lines), f"    return {_text(result)}"]
    scope: dict[str, Function] = {"sqrt": math.sqrt, "power": math.pow, "log": math.log, "exp": math.exp}
    scope["inf"] = math.inf  # type: ignore[assignment]
    exec("\n".join(lines), scope)  # noqa: S102  # the text is made of the expression's operations alone
    return scope["formula"]


def _root(value: str, exponent: sp.Rational) -> str:
    return f"sqrt({value})" if exponent == _HALF else f"power({value}, {exponent.p / exponent.q!r})"


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"({value!r})"


class _Writer(Visitor[float | str]):
    """One line of Python per part of an expression that is not known.

    A visited part is a float where everything in it is known, otherwise the name of the variable that holds it.
    """

    def __init__(self, names: Sequence[str], known: Mapping[str, float]) -> None:
        super().__init__()
        self.known = known
        # A symbol's name need not be a Python name.
        self.arguments = {name: f"x{k}" for k, name in enumerate(names)}
        self.lines: list[str] = []

    def symbol(self, symbol: sp.Symbol) -> float | str:
        return float(self.known[symbol.name]) if symbol.name in self.known else self.arguments[symbol.name]

    def number(self, number: sp.Expr) -> float:
        return number.p / number.q if number.is_Rational else float(number)

    def operation(self, expr: sp.Expr) -> float | str:
        if expr.is_Add:
            return self._sum(expr.args)
        if expr.is_Mul:
            return self._quotient(expr.args)
        if expr.is_Pow:
            return self._quotient((expr,))
        if isinstance(expr, (sp.Max, sp.Min)):
            return self._call(min if isinstance(expr, sp.Min) else max, expr.args)
        if isinstance(expr, (sp.log, sp.exp)):
            return self._call(math.log if isinstance(expr, sp.log) else math.exp, expr.args)
        return self.other(expr)

    def _sum(self, terms: Sequence[sp.Expr]) -> float | str:
        parts = [self.visit(term) for term in terms]
        constant = sum(part for part in parts if not isinstance(part, str))
        rest = [part for part in parts if isinstance(part, str)]
        if not rest:
            return _checked(constant, parts)
        return self._write(" + ".join(([_text(constant)] if constant else []) + rest))

    def _quotient(self, factors: Sequence[sp.Expr]) -> float | str:
        """A product, its negative powers gathered in one denominator."""
        above: list[float | str] = []
        below: list[float | str] = []
        for factor in factors:
            base, exponent = factor.as_base_exp() if factor.is_Pow else (factor, sp.S.One)
            if not exponent.is_Rational:
                # Such as (1 - gamma*mu)^T; a negative base has one where T is whole.
                above.append(self._write(f"power({_text(self.visit(base))}, {_text(self.visit(exponent))})"))
                continue
            if factor.is_Rational and not factor.is_Integer:
                above.append(float(factor.p))
                below.append(float(factor.q))
            else:
                (below if exponent < 0 else above).append(self._power(base, abs(exponent)))
        top, bottom = self._product(above), self._product(below)
        if isinstance(top, str) or isinstance(bottom, str):
            if bottom == 1.0:
                return self._write(_text(top))
            # Kept in the text also where it is zero: then the function says so.
            return self._write(f"{_text(top)} / {_text(bottom)}")
        if bottom == 0.0:
            return math.inf if top >= 0.0 else -math.inf
        # What is divided by infinity is zero, and rightly so.
        return _checked(top / bottom, (top,), product=math.isfinite(bottom))

    def _power(self, base: sp.Expr, exponent: sp.Rational) -> float | str:
        value = self.visit(base)
        if exponent == 1:
            return value
        if isinstance(value, str):
            return self._write(f"{value} ** {exponent}" if exponent.is_Integer else _root(value, exponent))
        try:
            result = math.sqrt(value) if exponent == _HALF else math.pow(value, exponent.p / exponent.q)
        except ValueError:
            # There is none, which the function says where it is called.
            return self._write(_root(_text(value), exponent))
        return _checked(result, (value,), product=True)

    def _product(self, factors: Sequence[float | str]) -> float | str:
        constants = [factor for factor in factors if not isinstance(factor, str)]
        rest = [factor for factor in factors if isinstance(factor, str)]
        constant = math.prod(constants)
        _checked(constant, constants, product=True)
        if not rest:
            return constant
        return "(" + " * ".join(([_text(constant)] if constant != 1.0 else []) + rest) + ")"

    def _call(self, operation: Callable[..., float], arguments: Sequence[sp.Expr]) -> float | str:
        parts = [self.visit(argument) for argument in arguments]
        if not any(isinstance(part, str) for part in parts):
            with contextlib.suppress(ValueError):
                return operation(*parts)
        return self._write(f"{operation.__name__}({', '.join(map(_text, parts))})")

    def _write(self, text: str) -> str:
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name


def _checked(value: float, parts: Sequence[float | str], *, product: bool = False) -> float:
    """The value of known parts; raises `RangeError` where none of them explains that it is infinite or zero."""
    numbers = [part for part in parts if not isinstance(part, str)]
    overflow = math.isinf(value) and not any(map(math.isinf, numbers))
    underflow = product and value == 0.0 and all(numbers)
    if math.isnan(value) or overflow or underflow:
        raise RangeError
    return value
