"""Inequalities with maxima and roots as polynomial ones.

A `System` says: wherever every hypothesis polynomial is nonnegative, so is ``goal``. It comes from a condition under
conditions by four equivalences: a maximum or minimum that stands on the convenient side splits an inequality into
several, any other one splits the whole into cases; roots of sums become symbols S with S**2 == R; and a power that
occurs in multiples of one exponent only becomes a symbol of its own (n**(1/3), or eta_u**2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from bounds.statement import Condition

ZERO, ONE = sp.Integer(0), sp.Integer(1)


@dataclass(frozen=True)
class Pair:
    """``small <= large``, or ``<`` where strict."""

    small: sp.Expr
    large: sp.Expr
    strict: bool = False

    @property
    def difference(self) -> sp.Expr:
        """The expression that has to be nonnegative."""
        return self.large - self.small

    def put(self, substitution: Mapping[sp.Expr, sp.Expr]) -> Pair:
        """Both sides after a substitution."""
        return Pair(self.small.xreplace(substitution), self.large.xreplace(substitution), self.strict)


@dataclass(frozen=True)
class System:
    """``goal >= 0`` (``> 0`` where strict) wherever all ``hypotheses`` are nonnegative and all symbols in their domain.

    ``positive`` says which hypotheses are strict; ``restored`` gives the original symbols in terms of the system's.
    """

    goal: sp.Expr
    strict: bool
    hypotheses: tuple[sp.Expr, ...]
    positive: tuple[bool, ...]
    restored: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)

    def put(self, values: Mapping[sp.Symbol, sp.Expr]) -> System:
        """The system with values for some symbols."""
        goal, *hypotheses = (sp.sympify(each).xreplace(values) for each in (self.goal, *self.hypotheses))
        return System(goal, self.strict, tuple(hypotheses), self.positive, self.restored)

    def under(self, hypotheses: Iterable[sp.Expr]) -> System:
        """The system's goal under other hypotheses, none of them strict."""
        hypotheses = tuple(hypotheses)
        return replace(self, hypotheses=hypotheses, positive=(False,) * len(hypotheses))


def pairs(condition: Condition) -> tuple[Pair, ...]:
    """A condition as inequalities; an equality is two."""
    left, right = condition.left, condition.right
    upward, downward = Pair(left, right, condition.operator == "<"), Pair(right, left, condition.operator == ">")
    if condition.operator == "==":
        return upward, downward
    return (upward,) if condition.operator in ("<=", "<") else (downward,)


def systems(goal: Condition, hypotheses: Iterable[Condition]) -> Iterator[System]:
    """The polynomial inequalities that are together equivalent to the goal under the hypotheses."""
    # A lower bound by a maximum is several bounds; an upper bound by a minimum has simpler cases.
    known = [
        part
        for condition in hypotheses
        for pair in pairs(condition)
        for part in ([pair] if pair.large.has(sp.Min) else conjuncts(pair))
    ]
    for pair in pairs(goal):
        for part in conjuncts(pair):
            for case in _cases([part, *known]):
                yield _reduced(case)


def conjuncts(pair: Pair) -> list[Pair]:
    """Inequalities that hold together exactly when the pair does: x >= Max(a, b) is x >= a and x >= b."""
    for atom in sorted(pair.small.atoms(sp.Max) | pair.large.atoms(sp.Min), key=str):
        place = sp.Dummy(positive=True)
        slope = sp.diff(pair.put({atom: place}).difference, place)
        convenient = slope.is_negative if isinstance(atom, sp.Max) else slope.is_positive
        if convenient and place not in slope.free_symbols:
            return [each for argument in atom.args for each in conjuncts(pair.put({atom: argument}))]
    return [pair]


def _cases(inequalities: Sequence[Pair]) -> Iterator[list[Pair]]:
    """The goal (first) and the hypotheses in each case of every maximum and minimum that is left."""
    atoms = {atom for pair in inequalities for side in (pair.small, pair.large) for atom in side.atoms(sp.Max, sp.Min)}
    if not atoms:
        yield list(inequalities)
        return
    atom = min(atoms, key=lambda each: (len(each.atoms(sp.Max, sp.Min)), str(each)))
    for chosen in atom.args:
        rest = [other for other in atom.args if other != chosen]
        order = [Pair(o, chosen) if isinstance(atom, sp.Max) else Pair(chosen, o) for o in rest]
        yield from _cases([*(pair.put({atom: chosen}) for pair in inequalities), *order])


def _reduced(case: Sequence[Pair]) -> System:
    case = [_squared(pair) for pair in case]
    roots = _Roots()
    differences = [roots.replace(pair.difference) for pair in case]
    squares = {symbol: square for square, symbol in roots.symbols.items()}
    restored: dict[sp.Symbol, sp.Expr] = {}
    expressions, powers = _powers([*differences, *squares.values()])
    restored.update(powers)
    differences, radicands = expressions[: len(differences)], expressions[len(differences) :]
    for position, symbol in enumerate(squares):
        solution = _solved(symbol, radicands[position], differences[1:])
        if solution is None:
            differences += _root_bounds(symbol, radicands[position])
            continue
        solved, value = solution
        radicands = [each.xreplace({solved: value}) for each in radicands]
        differences = [each.xreplace({solved: value}) for each in differences]
        differences.append(value)
        restored = {old: new.xreplace({solved: value}) for old, new in restored.items()} | {solved: value}
    goal, *hypotheses = differences
    positive = [pair.strict for pair in case[1:]]
    positive += [False] * (len(hypotheses) - len(positive))
    return System(goal, case[0].strict, tuple(_sign(_rooted(each)) for each in hypotheses), tuple(positive), restored)


def _sign(hypothesis: sp.Expr) -> sp.Expr:
    """Without the factors that are positive anyway: n**2 - 1 >= 0 is n - 1 >= 0."""
    return sp.Mul(*(factor for factor in sp.Mul.make_args(sp.factor(hypothesis)) if not factor.is_positive))


def _rooted(hypothesis: sp.Expr) -> sp.Expr:
    """The k-th roots compared, where the hypothesis compares two k-th powers: n**3 - m**3 >= 0 is n - m >= 0."""
    terms = [term.as_coeff_Mul() for term in sp.Add.make_args(hypothesis)]
    exponents = [e for _, product in terms for _, e in (f.as_base_exp() for f in sp.Mul.make_args(product))]
    if len(terms) != 2 or terms[0][0] * terms[1][0] > 0 or not all(e.is_Integer for e in exponents):
        return hypothesis
    for k in sorted(sp.divisors(math.gcd(*map(int, exponents))), reverse=True):
        roots = [sp.root(abs(c), k) for c, _ in terms]
        if all(root.is_Rational for root in roots):
            products = [sp.powdenest(product ** sp.Rational(1, k), force=True) for _, product in terms]
            return sp.Add(*(sp.sign(c) * r * p for (c, _), r, p in zip(terms, roots, products, strict=True)))
    return hypothesis


def _squared(pair: Pair) -> Pair:
    """The squares of both sides, where they differ by two nonnegative products and squaring removes their roots."""
    terms = sp.Add.make_args(pair.difference)
    small = [-term for term in terms if term.could_extract_minus_sign()]
    large = [term for term in terms if not term.could_extract_minus_sign()]
    if not any(map(_fractional, terms)) or len(small) != 1 or len(large) != 1:
        return pair
    if not (small[0].is_nonnegative and large[0].is_nonnegative):
        return pair
    squares = [sp.powdenest(side**2, force=True) for side in (small[0], large[0])]
    return pair if any(_fractional(side) for side in squares) else Pair(squares[0], squares[1], pair.strict)


def _fractional(expr: sp.Expr) -> bool:
    return any(not power.exp.is_Integer for power in expr.atoms(sp.Pow))


class _Roots:
    """Square roots of sums and of numbers, each replaced by a symbol; those whose ratio is rational share one."""

    def __init__(self) -> None:
        self.symbols: dict[sp.Expr, sp.Symbol] = {}

    def replace(self, expr: sp.Expr) -> sp.Expr:
        """The expression with roots of sums and of numbers as symbols."""
        if not expr.args:
            return expr
        factors = [power for power in sp.Mul.make_args(expr) if self._is_root(power)]
        if all(power.base.is_Symbol for power in factors):
            return expr.func(*map(self.replace, expr.args))
        radicand = sp.Mul(*(power.base ** (2 * power.exp) for power in factors))
        rest = sp.Mul(*(self.replace(factor) for factor in sp.Mul.make_args(expr) if factor not in factors))
        for known, symbol in self.symbols.items():
            ratio = sp.powdenest(sp.sqrt(sp.factor(sp.cancel(radicand / known))), force=True)
            if not _fractional(ratio):
                return rest * ratio * symbol
        symbol = sp.Dummy("S", positive=True)
        self.symbols[radicand] = symbol
        return rest * symbol

    @staticmethod
    def _is_root(expr: sp.Expr) -> bool:
        return expr.is_Pow and (2 * expr.exp).is_Integer and not expr.exp.is_Integer


def _powers(expressions: Sequence[sp.Expr]) -> tuple[list[sp.Expr], dict[sp.Symbol, sp.Expr]]:
    """Every symbol's smallest common power as a symbol, and the old symbols in terms of the new."""
    exponents: dict[sp.Symbol, set[sp.Rational]] = {}

    def visit(expr: sp.Expr) -> None:
        if expr.is_Symbol:
            exponents.setdefault(expr, set()).add(ONE)
        elif expr.is_Pow and expr.base.is_Symbol and expr.exp.is_Rational:
            exponents.setdefault(expr.base, set()).add(expr.exp)
        else:
            for argument in expr.args:
                visit(argument)

    for expr in expressions:
        visit(expr)
    put: dict[sp.Expr, sp.Expr] = {}
    restored: dict[sp.Symbol, sp.Expr] = {}
    for symbol, found in exponents.items():
        scale = math.lcm(*(int(e.q) for e in found))
        unit = sp.Rational(math.gcd(*(int(e * scale) for e in found)), scale)
        # Symbols of our own keep their names: a constant that is sought, and roots that are still to be solved for.
        if unit == 1 or (isinstance(symbol, sp.Dummy) and unit.is_Integer):
            continue
        domain = {"positive": True} if symbol.is_positive else {"nonnegative": True}
        new = sp.Symbol(_power_name(symbol, unit), **domain)
        put |= {symbol**e: new ** (e / unit) for e in found} | {symbol: new ** (1 / unit)}
        restored[symbol] = new ** (1 / unit)
    return [expr.xreplace(put) for expr in expressions], restored


def _power_name(symbol: sp.Symbol, unit: sp.Rational) -> str:
    return f"{symbol.name}_{unit.p}_{unit.q}"


def powers_named(names: Iterable[str], symbols: Iterable[sp.Symbol]) -> dict[str, sp.Expr]:
    """The powers of the ``symbols`` of a claim by the names that a system has for them; other names are left out.

    >>> x = sp.Symbol("x", positive=True)
    >>> powers_named(["x", "x_2_1", "y"], [x])
    {'x_2_1': x**2}
    """
    known = {symbol.name: symbol for symbol in symbols}
    found: dict[str, sp.Expr] = {}
    for name in names:
        whole, _, below = name.rpartition("_")
        base, _, above = whole.rpartition("_")
        if name not in known and base in known and above.isdecimal() and below.isdecimal():
            unit = sp.Rational(int(above), int(below))
            if _power_name(known[base], unit) == name:
                found[name] = known[base] ** unit
    return found


def _root_bounds(root: sp.Symbol, radicand: sp.Expr) -> list[sp.Expr]:
    """The hypotheses of root**2 == radicand: two inequalities, and that the root is at least that of each term.

    The latter only where no term is negative: the root of A - B is not at least that of A.
    """
    terms = sp.Add.make_args(sp.expand(radicand))
    together = all(term.is_nonnegative for term in terms)
    roots = [sp.powdenest(sp.sqrt(term), force=True) for term in terms if together]
    return [root**2 - radicand, radicand - root**2, *(root - each for each in roots if not _fractional(each))]


def _solved(root: sp.Symbol, radicand: sp.Expr, hypotheses: Sequence[sp.Expr]) -> tuple[sp.Symbol, sp.Expr] | None:
    """A symbol of the radicand, the least used elsewhere, and its value from root**2 == radicand, if there is one."""
    candidates = sorted(radicand.free_symbols, key=lambda s: (sum(h.has(s) for h in hypotheses), s.name))
    for symbol in candidates:
        slope = sp.diff(radicand, symbol)
        if slope.is_positive and not slope.has(symbol):
            return symbol, sp.together((root**2 - radicand.xreplace({symbol: ZERO})) / slope)
        if not (radicand * symbol).has(symbol):
            return symbol, radicand * symbol / root**2
    return None


def domain_hypotheses(symbols: Iterable[sp.Symbol], restored: Mapping[sp.Symbol, sp.Expr]) -> list[sp.Expr]:
    """At least 1 is every positive whole number and its power; nonnegative symbols go without saying."""
    whole = {new for old, expr in restored.items() if _counts(old) for new in expr.free_symbols if expr.is_Pow}
    return [symbol - 1 for symbol in sorted(symbols, key=str) if _counts(symbol) or symbol in whole]


def _counts(symbol: sp.Symbol) -> bool:
    """Whether the symbol is a whole number from 1 on; one from 0 on says nothing more than that it is nonnegative."""
    return bool(symbol.is_integer and symbol.is_positive)
