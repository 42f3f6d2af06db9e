"""Certificates by linear algebra: the goal as a combination of products of hypotheses.

``goal = sum_k c_k * m_k * P_k`` with c_k >= 0 rational, m_k a monomial that cannot be negative, and P_k a product of
at most two hypotheses, 1, or the square of a difference. Comparing the coefficients of monomials makes this a linear
programme in the c_k; its vertex is solved again in fractions, and `Combination.check` expands the sum with SymPy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, sub

import numpy as np
import sympy as sp
from sympy.polys.rings import PolyElement, ring

from ratecheck.algebra.linear_algebra import solve
from ratecheck.algebra.positivity.polynomial import System
from ratecheck.algebra.positivity.substitution import all_hypotheses
from ratecheck.algebra.work_limit import spend

ONE = sp.Integer(1)

_COLUMNS = 3000
_ROWS = 1500
# Of the simplex method: a clock would make the answer the machine's. Programmes with a solution take some 200 at most.
_ITERATIONS = 1500
_SQUARED = 40

Monomial = tuple[int, ...]


@dataclass(frozen=True)
class Summand:
    """``coefficient * monomial * root**2 * product of the hypotheses with these numbers``."""

    coefficient: sp.Rational
    monomial: sp.Expr
    hypotheses: tuple[int, ...]
    root: sp.Expr = ONE


@dataclass(frozen=True)
class Combination:
    """Why ``system.goal`` is nonnegative: ``multiplier`` times it is the sum of ``summands``, each nonnegative.

    The multiplier is a product of positive symbols. Goal and hypotheses count as polynomials of the same sign.
    """

    system: System
    summands: tuple[Summand, ...]
    multiplier: sp.Expr = ONE

    def check(self) -> bool:
        """Whether the summands are nonnegative and their sum is the goal's numerator, by plain expansion."""
        goal = polynomial(self.system.goal)
        hypotheses = [polynomial(each) for each in all_hypotheses(self.system)]
        total = sp.Integer(0)
        for summand in self.summands:
            if not (summand.coefficient >= 0 and _nonnegative_monomial(summand.monomial)):
                return False
            factors = sp.Mul(*(hypotheses[i] for i in summand.hypotheses))
            total += summand.coefficient * summand.monomial * summand.root**2 * factors
        positive = _nonnegative_monomial(self.multiplier) and all(s.is_positive for s in self.multiplier.free_symbols)
        return positive and sp.expand(self.multiplier * goal - total) == 0

    @property
    def strict(self) -> bool:
        """Whether the goal is even positive: a summand is a product of positive symbols."""
        return any(
            not summand.hypotheses
            and summand.root == 1
            and summand.coefficient > 0
            and all(s.is_positive for s in summand.monomial.free_symbols)
            for summand in self.summands
        )

    @property
    def used(self) -> frozenset[int]:
        """The numbers of the hypotheses that occur."""
        return frozenset(i for summand in self.summands for i in summand.hypotheses)


def polynomial(expr: sp.Expr) -> sp.Expr:
    """A polynomial with the sign of a rational expression: the numerator, times the denominator where it has to be."""
    numerator, denominator = sp.fraction(sp.together(expr))
    denominator = sp.expand(denominator)
    terms = sp.Add.make_args(denominator)
    if all(_nonnegative_term(term) for term in terms):
        return sp.expand(numerator)
    if all(_nonnegative_term(-term) for term in terms):
        return sp.expand(-numerator)
    return sp.expand(numerator * denominator)


def nonnegative_polynomial(expr: sp.Expr) -> bool:
    """Whether no term of an expanded polynomial can be negative."""
    return all(_nonnegative_term(term) for term in sp.Add.make_args(sp.expand(expr)))


def _nonnegative_term(term: sp.Expr) -> bool:
    coefficient, monomial = term.as_coeff_Mul()
    return bool(coefficient >= 0) and _nonnegative_monomial(monomial)


def _nonnegative_monomial(monomial: sp.Expr) -> bool:
    powers = monomial.as_powers_dict() if monomial != 1 else {}
    return all(
        base.is_Symbol and exponent.is_Integer and exponent > 0 and (base.is_nonnegative or exponent % 2 == 0)
        for base, exponent in powers.items()
    )


def combine(system: System, pairs: bool = True, multiplier: sp.Expr = ONE) -> Combination | None:
    """A certificate for a system, if there is one of this form and moderate size."""
    polynomials_of = [polynomial(each) for each in (system.goal, *all_hypotheses(system))]
    # A multiplier may have a symbol of which only denominators spoke, and these are cleared.
    symbols = sorted({s for each in (*polynomials_of, multiplier) for s in each.free_symbols}, key=str)
    if not symbols:
        value = polynomials_of[0]
        return Combination(system, (Summand(value, sp.Integer(1), ()),)) if value >= 0 else None
    polynomials = ring(symbols, sp.QQ)[0]
    plain, *rest = map(polynomials.from_expr, polynomials_of)
    goal = plain * polynomials.from_expr(multiplier)
    known = [(i, each) for i, each in enumerate(rest) if each]
    free = tuple(not s.is_nonnegative for s in symbols)
    products: list[tuple[tuple[int, ...], PolyElement]] = [((), polynomials.one)]
    products += [((i,), each) for i, each in known]
    if pairs and len(known) <= 12:
        both = itertools.combinations_with_replacement(known, 2)
        products += [((i, j), one * other) for (i, one), (j, other) in both if len(one) * len(other) <= 400]
    columns = _columns(goal, products, free)
    spend(len(columns))
    solved = _solve(goal, columns)
    if solved is None:
        return None
    summands = [
        Summand(
            sp.Rational(c.numerator, c.denominator),
            _power_product(symbols, monomial),
            () if isinstance(label, _Square) else label,
            _root(symbols, label) if isinstance(label, _Square) else sp.Integer(1),
        )
        for c, (label, monomial, _) in solved
    ]
    found = Combination(system, tuple(summands), multiplier)
    return found if found.check() else None


def _power_product(symbols: Sequence[sp.Symbol], monomial: Monomial) -> sp.Expr:
    return sp.Mul(*(s**e for s, e in zip(symbols, monomial, strict=True)))


def _root(symbols: Sequence[sp.Symbol], square: _Square) -> sp.Expr:
    factor = sp.Rational(square.factor.numerator, square.factor.denominator)
    return _power_product(symbols, square.one) - factor * _power_product(symbols, square.other)


@dataclass(frozen=True)
class _Square:
    """``(one - factor*other)**2`` for two monomials."""

    one: Monomial
    other: Monomial
    factor: Fraction


_Column = tuple[tuple[int, ...] | _Square, Monomial, dict[Monomial, Fraction]]


def _columns(
    goal: PolyElement, products: Sequence[tuple[tuple[int, ...], PolyElement]], free: tuple[bool, ...]
) -> list[_Column]:
    """Products times monomials that share a monomial with the goal, or, if there are few, with such a product."""
    found: dict[tuple[tuple[int, ...], Monomial], _Column] = {}
    targets = set(goal.monoms())
    for _ in range(2):
        new: set[Monomial] = set()
        for label, product in products[1:]:
            for monomial in {q for t in targets for p in product.monoms() if (q := _quotient(t, p, free)) is not None}:
                if (label, monomial) in found:
                    continue
                if len(found) >= _COLUMNS:
                    break
                terms = {
                    _times(m, monomial): Fraction(int(c.numerator), int(c.denominator)) for m, c in product.terms()
                }
                found[label, monomial] = (label, monomial, terms)
                new |= terms.keys()
        if len(found) > _COLUMNS // 4:
            break
        targets = new - targets
    rows = set(goal.monoms()).union(*(terms for _, _, terms in found.values()))
    single = [((), row, {row: Fraction(1)}) for row in rows if _quotient(row, (0,) * len(row), free) is not None]
    return [*single, *found.values(), *_squares(goal, free)]


def _squares(goal: PolyElement, free: tuple[bool, ...]) -> Iterator[_Column]:
    """For every negative term of the goal, squares that have it between two positive terms."""
    terms = {m: Fraction(int(c.numerator), int(c.denominator)) for m, c in goal.terms()}
    plus = [m for m, c in terms.items() if c > 0 or any(free)]
    if len(plus) > _SQUARED:
        return
    for one, other in itertools.combinations(plus, 2):
        middle = tuple((a + b) // 2 for a, b in zip(one, other, strict=True))
        if _times(middle, middle) != _times(one, other) or terms.get(middle, 0) == 0:
            continue
        shared = tuple(map(min, one, other))
        if _quotient(shared, (0,) * len(shared), free) is None:
            continue
        halves = [tuple((a - b) // 2 for a, b in zip(m, shared, strict=True)) for m in (one, other)]
        size = terms[middle]
        factors = {Fraction(1), Fraction(-1)}
        factors |= {-size / (2 * terms[one])} if terms[one] > 0 else set()
        factors |= {-2 * terms[other] / size} if terms[other] > 0 else set()
        for factor in factors:
            column = {one: Fraction(1), middle: -2 * factor, other: factor**2}
            yield _Square(halves[0], halves[1], factor), shared, column


def _times(one: Monomial, other: Monomial) -> Monomial:
    return tuple(map(add, one, other))


def _quotient(one: Monomial, other: Monomial, free: tuple[bool, ...]) -> Monomial | None:
    quotient = tuple(map(sub, one, other))
    if min(quotient) < 0 or any(e % 2 for e in itertools.compress(quotient, free)):
        return None
    return quotient


def _solve(goal: PolyElement, columns: Sequence[_Column]) -> list[tuple[Fraction, _Column]] | None:
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    rows = {row: i for i, row in enumerate(sorted({m for _, _, terms in columns for m in terms} | set(goal.monoms())))}
    if not goal:
        return []
    if len(rows) > _ROWS or not columns:
        return None
    right = [Fraction(0)] * len(rows)
    for monomial, coefficient in goal.terms():
        right[rows[monomial]] = Fraction(int(coefficient.numerator), int(coefficient.denominator))
    scale = [max(map(abs, terms.values())) for _, _, terms in columns]
    entries = [(rows[m], j, float(c / scale[j])) for j, (_, _, terms) in enumerate(columns) for m, c in terms.items()]
    size = max((abs(float(value)) for value in right), default=1.0) or 1.0
    which = np.array([(i, j) for i, j, _ in entries]).T
    matrix = csr_matrix((np.array([c for _, _, c in entries]), which), shape=(len(rows), len(columns)))
    cost = np.array([1.0 + (0.5 if isinstance(label, _Square) else 0.1 * len(label)) for label, _, _ in columns])
    found = linprog(
        cost,
        A_eq=matrix,
        b_eq=np.array([float(value) / size for value in right]),
        method="highs-ds",
        options={"maxiter": _ITERATIONS},
    )
    if found.status != 0:
        return None
    for least in (1e-9, 1e-12):
        support = [j for j, c in enumerate(found.x) if c > least]
        lines = [{len(support): value} for value in right]
        for k, j in enumerate(support):
            for monomial, coefficient in columns[j][2].items():
                lines[rows[monomial]][k] = coefficient
        solution = solve(lines, len(support))
        if solution is not None and all(c >= 0 for c in solution):
            return [(c, columns[j]) for c, j in zip(solution, support, strict=True) if c > 0]
    return None
