"""A claim as data, with both sides and the hypotheses as they are written: what `ratecheck.recheck` reads and shows.

An expression is a number as text, a name, or a list of an operation and its parts; see docs/audit.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from bounds.ledger.step import Check, Step
from bounds.ledger.vectors import InnerProduct, Vector, factors
from bounds.ledger.written import WrittenOperation, ordered
from ratecheck import recheck

_FUNCTIONS = {"log": ["log"], "exp": ["exp"], "Max": ["max"], "Min": ["min"]}
_CONSTANTS = {sp.pi: "pi", sp.E: "e"}


class NotExpressibleError(Exception):
    """The reason for which a claim or its proof has no certificate."""


def claim_data(step: Step, check: Check, names: Names | None = None) -> dict[str, Any]:
    """The claim of a check for all values with its digest; raises `NotExpressibleError` where it has no such form.

    ``{"id", "variables", "vectors", "left", "relation", "right", "hypotheses", "digest"}``, without proofs.
    """
    form = check.algebraic
    if form is None:
        raise NotExpressibleError("checked on instances")
    names = Names() if names is None else names
    left, right = form.printed
    found: dict[str, Any] = {
        "id": step.id,
        **_comparison(names, left, form.operator, right),
        "hypotheses": [_comparison(names, each.left, each.operator, each.right) for each in form.given],
    }
    found["variables"] = {name: _kind(symbol) for name, symbol in sorted(names.numbers.items())}
    found["vectors"] = sorted(names.vectors)
    return {**found, "digest": recheck.digest(found)}


def identified(step: Step) -> tuple[str, str]:
    """The digest of a step's claim, and why the claim says nothing that is not given, or "".

    The digest is "" where the claim is checked on instances alone or has no form as data. A claim says nothing where
    both of its sides are the same, or where it is one of its hypotheses.
    """
    try:
        data = claim_data(step, step.check)
    except NotExpressibleError:
        return "", ""
    try:
        recheck.LEFT[0] = recheck.WORK
        recheck.stated(data)
    except recheck.RepeatedError as error:
        return str(data["digest"]), str(error)
    except ArithmeticError:
        pass  # whoever writes its certificate says why
    return str(data["digest"]), ""


def _comparison(names: Names, left: Any, operator: str, right: Any) -> dict[str, Any]:
    return {"left": names.tree(left), "relation": operator, "right": names.tree(right)}


def _kind(symbol: sp.Symbol) -> str:
    if symbol.is_integer and symbol.is_positive:
        return "whole"
    return "positive" if symbol.is_positive else "nonnegative" if symbol.is_nonnegative else "real"


@dataclass(frozen=True)
class Names:
    """The numbers and vectors that expressions mention, collected while these become data.

    ``named`` has the SymPy expression of whatever is a number of its own for the checker: numbers, roots, maxima.
    """

    numbers: dict[str, sp.Symbol] = field(default_factory=dict)
    vectors: set[str] = field(default_factory=set)
    named: dict[str, sp.Expr] = field(default_factory=dict)

    def tree(self, side: Any) -> Any:
        """An expression, written out or not, as data."""
        if isinstance(side, WrittenOperation):
            if side.operation == "value":
                return self.tree(side.parts[0])
            if side.operation == "^":
                # SymPy would split or cancel the root of this value.
                root = sp.Symbol(f"({side.parts[0].value})^(1/{side.parts[1].q})", nonnegative=True)
                return self._raised(self.tree(side.parts[0]), side.parts[1], root)
            node = [side.operation, *map(self.tree, side.parts)]
            return self._own(node, side.value) if side.operation in ("max", "min") else node
        return self._expression(sp.sympify(side))

    def vector(self, vector: Vector) -> Any:
        """A combination of vectors as it is written."""
        if vector.written is None:
            return self._combination(vector.coefficients)
        operation, *parts = vector.written
        if operation == "*":
            return ["*", self.tree(parts[0]), self.vector(parts[1])]
        return [operation, *map(self.vector, parts)]

    def _combination(self, coefficients: Mapping[str, sp.Expr]) -> Any:
        self.vectors.update(coefficients)
        terms = [name if c == 1 else ["*", self.tree(c), name] for name, c in coefficients.items()]
        if not terms:
            raise NotExpressibleError("a vector without names")
        return terms[0] if len(terms) == 1 else ["+", *terms]

    def _expression(self, expr: sp.Expr) -> Any:
        if expr.is_Symbol:
            return self._symbol(expr)
        if expr.is_Rational:
            return str(expr)
        if expr.is_Add:
            return ["+", *map(self._expression, ordered(expr))]
        if expr.is_Mul:
            return self._product(expr)
        return self._power(expr) if expr.is_Pow else self._function(expr)

    def _power(self, expr: sp.Expr) -> Any:
        if not expr.exp.is_Rational:
            return self._own(["power", *map(self._expression, expr.args)], expr)
        if expr.exp < 0:
            return ["/", "1", self._expression(1 / expr)]
        return self._raised(self._expression(expr.base), expr.exp, expr.base ** sp.Rational(1, expr.exp.q))

    def _raised(self, base: Any, e: sp.Rational, root: sp.Expr) -> list[Any]:
        """A power, whose root, if it has one, is a number of its own."""
        if not e.is_Integer:
            self._own(["^", base, f"1/{e.q}"], root)
        return ["^", base, str(e)]

    def _function(self, expr: sp.Expr) -> Any:
        if expr in _CONSTANTS:
            return self._own(["constant", _CONSTANTS[expr]], expr)
        if isinstance(expr, (sp.Max, sp.Min)) or expr.is_Function:
            name = type(expr).__name__
            return self._own([*_FUNCTIONS.get(name, ["function", name]), *map(self._expression, ordered(expr))], expr)
        raise NotExpressibleError(f"{type(expr).__name__} is not expressed")

    def _symbol(self, symbol: sp.Symbol) -> Any:
        if isinstance(symbol, InnerProduct):
            return ["dot", self.vector(symbol.one), self.vector(symbol.other)]
        pair = factors(symbol)
        if pair is not None:
            self.vectors.update(pair)
            return ["dot", *pair]
        if self.numbers.setdefault(symbol.name, symbol) != symbol:
            raise NotExpressibleError(f"two quantities are called {symbol.name}")
        self.named[symbol.name] = symbol
        return symbol.name

    def _own(self, node: list[Any], expr: sp.Expr) -> list[Any]:
        self.named[recheck.shown(node)] = expr
        return node

    def _product(self, expr: sp.Expr) -> Any:
        """A fraction where there are divisors."""
        number, rest = expr.as_coeff_Mul()
        above: list[sp.Expr] = []
        below: list[sp.Expr] = []
        for factor in ordered(rest) if rest.is_Mul else (rest,):
            base, e = factor.as_base_exp()
            (below if e.is_Rational and e < 0 else above).append(base ** (-e) if e.is_Rational and e < 0 else factor)
        minus = ["-1"] if number.p < 0 else []
        over = [*([] if abs(number.p) == 1 else [str(abs(number.p))]), *map(self._expression, above)]
        under = [*([] if number.q == 1 else [str(number.q)]), *map(self._expression, below)]
        top: Any = multiplied([*minus, *over] or ["1"])
        return ["/", top, multiplied(under)] if under else top


def multiplied(parts: Sequence[Any]) -> Any:
    """The product of some expressions."""
    return parts[0] if len(parts) == 1 else ["*", *parts]
