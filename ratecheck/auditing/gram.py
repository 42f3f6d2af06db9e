"""Claims about vectors: the difference of the sides, less multiples of the hypotheses, is a sum of squares.

The difference is linear in inner products, so it is a quadratic form with a matrix of coefficients. Multipliers for the
hypotheses are those that cancel a coefficient. What is left is factorised exactly, ``Q = sum_k d_k l_k l_k'``; every
pivot d_k is shown to be nonnegative like any scalar claim. Where that fails, rational vectors are looked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import sympy as sp

from bounds.ledger.step import Gram, Scalar, scalar_of
from bounds.ledger.vectors import product_symbol
from bounds.numbers import counted
from bounds.roots import shown
from bounds.statement import Condition
from ratecheck.algebra.counterexample import Counterexample, SearchRegion, confirmed, refutes
from ratecheck.algebra.linear_algebra import squares
from ratecheck.algebra.positivity.handelman import combine
from ratecheck.algebra.positivity.polynomial import systems
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.aliases import Array
from ratecheck.auditing.decision import FULL, QUICK, Answer, Decision, Effort, unknown
from ratecheck.auditing.export.coordinates import Coordinates
from ratecheck.auditing.inequality import decide as decide_scalar
from ratecheck.auditing.inequality import prove as prove_scalar
from ratecheck.auditing.inequality import refuted, searched, vanishes

_LEAVES = 400
_POINTS = 12
_BASES = 12
_CHOICES = 4000
_FITS = 40
_ROUNDED = (2, 12, 1000, 10**8)
ZERO = sp.Integer(0)

# A matrix for each point and multiplier; a multiplier with the number of its hypothesis.
Parts: TypeAlias = Sequence[Sequence[Array]]
Bases: TypeAlias = Sequence[tuple[int, sp.Expr]]


def decide(claim: Gram, effort: Effort = FULL) -> Decision:
    """Whether a claim holds for all vectors and all scalars within its conditions."""
    if claim.operator == "==":
        return _both(claim, effort)
    form = _GramForm(claim)
    for dimension in (1, 2):
        found = searched(form.written(dimension), effort.generations)
        if found is not None:
            return refuted(form.written(1), found)
    found = form.along_an_eigenvector()
    if found is not None:
        return refuted(form.written(1), found)
    try:
        with limit(2 * effort.seconds):
            proved = form.prove()
            if proved is not None:
                return proved
    except OutOfTime:
        pass
    for dimension in (1, 2, 2, 3) if effort.deep > 40 else (1, 2):
        found = searched(form.written(dimension), effort.deep)
        if found is not None:
            return refuted(form.written(1), found)
    return unknown("no multipliers were found, and no vectors that refute it")


def _both(claim: Gram, effort: Effort) -> Decision:
    if vanishes(sp.sympify(claim.left) - claim.right):
        return Decision(answer=Answer.TRUE, certified="certificate", evidence="both sides expand to the same")
    decisions = []
    for operator in ("<=", ">="):
        decisions.append(decide(replace(claim, operator=operator), effort))
        if not decisions[-1].true:
            return decisions[-1]
    return decisions[0]


@dataclass(frozen=True)
class Squares:
    """``form = sum_k pivots[k] * (sum_j factors[k][j] * vector_j)**2`` in coefficients of inner products."""

    matrix: sp.Matrix
    pivots: tuple[sp.Expr, ...]
    factors: tuple[tuple[sp.Expr, ...], ...]

    def check(self) -> bool:
        """Whether the squares add up to the matrix, by plain expansion."""
        size = self.matrix.rows
        return all(
            vanishes(
                self.matrix[i, j] - sum((d * f[i] * f[j] for d, f in zip(self.pivots, self.factors, strict=True)), ZERO)
            )
            for i in range(size)
            for j in range(i, size)
        )


@dataclass(frozen=True, kw_only=True)
class _Proved(Decision):
    proof: GramProof | None = None


@dataclass(frozen=True)
class GramProof:
    """``goal = sum_i multipliers[i]*hypothesis_i + constant + squares``, with a goal that is to be nonnegative."""

    goal: sp.Expr
    hypotheses: tuple[sp.Expr, ...]
    multipliers: tuple[sp.Expr, ...]
    constant: sp.Expr
    names: tuple[str, ...]
    squares: Squares


def prove(claim: Gram, effort: Effort = FULL) -> GramProof | None:
    """Multipliers and squares that prove a claim that is an inequality, if they are found in time."""
    try:
        with limit(2 * effort.seconds):
            found = _GramForm(claim).prove()
    except OutOfTime:
        return None
    return found.proof if isinstance(found, _Proved) else None


class _GramForm:
    def __init__(self, claim: Gram) -> None:
        self.claim = claim
        direction = 1 if claim.operator in ("<=", "<") else -1
        self.goal = sp.expand(direction * (sp.sympify(claim.right) - claim.left))
        self.hypotheses = [_difference(h) for h in claim.hypotheses]
        self.free = [h.operator == "==" for h in claim.hypotheses]
        sides = [side for h in claim.hypotheses for side in (h.left, h.right)]
        self.coordinates = Coordinates(claim.left, claim.right, *sides)
        self.names = self.coordinates.vectors
        self.products = list(self.coordinates.products)
        self._points: list[dict[sp.Symbol, float]] | None = None

    def written(self, dimension: int) -> Scalar:
        """The claim in coordinates."""
        return self.coordinates.scalar(scalar_of(self.claim), dimension)

    def prove(self) -> Decision | None:
        """Multipliers and squares, or a combination of squares of pairs."""
        for residual, multipliers in itertools.islice(self._leaves(self.goal, 0, ()), _LEAVES):
            if self._plausible(residual, multipliers):
                proved = self._certified(residual, multipliers)
                if proved is not None:
                    return proved
        return self._fitted() or self._combined()

    def along_an_eigenvector(self) -> Counterexample | None:
        """Vectors, all multiples of one, for which a claim without hypotheses on vectors fails."""
        if self.hypotheses:
            return None
        claim = self.written(1)
        for point in self.points:
            numbers = self._numbers(self.goal, point)[:-1, :-1]
            if not np.isfinite(numbers).all() or _semidefinite(numbers):
                continue
            direction = np.linalg.eigh(numbers)[1][:, 0]
            values = {sp.Symbol(name, real=True): float(x) for name, x in zip(self.names, direction, strict=True)}
            for denominator in _ROUNDED:
                exact = {s: Fraction(v).limit_denominator(denominator) for s, v in {**point, **values}.items()}
                found = refutes(exact, claim.left, claim.operator, claim.right)
                if found is not None and confirmed(found, claim.hypotheses, claim.left, claim.operator, claim.right):
                    return found
        return None

    def _fitted(self) -> Decision | None:
        """Multipliers that are combinations of natural ones, with numbers from a small semidefinite programme."""
        natural = [base for h in self.hypotheses for base in self._natural(self.goal, h)]
        terms = [term for base in natural for term in sp.Add.make_args(sp.expand(base))]
        pool = list(dict.fromkeys([sp.Integer(1), *natural, *terms]))[:_BASES]
        bases = [(i, base) for i in range(len(self.hypotheses)) for base in pool]
        bases = [(i, base) for i, base in bases if self.free[i] or self._nonnegative_somewhere(base)]
        if not bases or not self.points:
            return None
        goals = [self._numbers(self.goal, point) for point in self.points]
        parts = [
            [_float(base, point) * self._numbers(self.hypotheses[i], point) for i, base in bases]
            for point in self.points
        ]
        for numbers in itertools.chain(
            self._chosen(goals, parts, bases), self._scaled(goals, parts, bases), self._mixed(goals, parts, bases)
        ):
            multipliers = [ZERO] * len(self.hypotheses)
            for number, (i, base) in zip(numbers, bases, strict=True):
                multipliers[i] += number * base
            products = (m * h for m, h in zip(multipliers, self.hypotheses, strict=True))
            residual = sp.expand(self.goal - sp.Add(*products))
            if self._plausible(residual, multipliers):
                proved = self._certified(residual, multipliers)
                if proved is not None:
                    return proved
        return None

    def _chosen(self, goals: Sequence[Array], parts: Parts, bases: Bases) -> Iterator[list[sp.Expr]]:
        """One natural multiplier, or none, for each hypothesis, where the numbers are right at all points."""
        options = [[None, *(j for j, (i, _) in enumerate(bases) if i == k)] for k in range(len(self.hypotheses))]
        for choice in itertools.islice(itertools.product(*options), _CHOICES):
            chosen = [j for j in choice if j is not None]
            if all(_semidefinite(goal - sum(part[j] for j in chosen)) for goal, part in zip(goals, parts, strict=True)):
                yield [sp.Integer(j in chosen) for j in range(len(bases))]

    def _scaled(self, goals: Sequence[Array], parts: Parts, bases: Bases) -> Iterator[list[sp.Expr]]:
        """A number times one natural multiplier for each hypothesis."""
        options = [[j for j, (i, _) in enumerate(bases) if i == k] for k in range(len(self.hypotheses))]
        for chosen in itertools.islice(itertools.product(*options), _FITS):
            own = [[part[j] for j in chosen] for part in parts]
            for numbers in fitted(goals, own, [self.free[bases[j][0]] for j in chosen]):
                found = dict(zip(chosen, numbers, strict=True))
                yield [found.get(j, ZERO) for j in range(len(bases))]

    def _mixed(self, goals: Sequence[Array], parts: Parts, bases: Bases) -> Iterator[list[sp.Expr]]:
        """A combination of all natural multipliers for each hypothesis."""
        yield from fitted(goals, parts, [self.free[i] for i, _ in bases])

    def _numbers(self, expr: sp.Expr, point: Mapping[sp.Symbol, float]) -> Array:
        """The coefficients of an expression as a matrix, with what stands beside the inner products in the corner."""
        matrix, constant = self._matrix(expr)
        size = len(self.names)
        numbers = np.zeros((size + 1, size + 1))
        numbers[:size, :size] = [[_float(entry, point) for entry in row] for row in matrix.tolist()]
        numbers[size, size] = _float(constant, point)
        return numbers

    def _leaves(
        self, residual: sp.Expr, number: int, multipliers: tuple[sp.Expr, ...]
    ) -> Iterator[tuple[sp.Expr, tuple[sp.Expr, ...]]]:
        if number == len(self.hypotheses):
            yield residual, multipliers
            return
        hypothesis = self.hypotheses[number]
        for multiplier in self._candidates(residual, hypothesis, self.free[number]):
            left = sp.expand(residual - multiplier * hypothesis) if multiplier != 0 else residual
            yield from self._leaves(left, number + 1, (*multipliers, multiplier))

    def _candidates(self, residual: sp.Expr, hypothesis: sp.Expr, free: bool) -> list[sp.Expr]:
        unique = dict.fromkeys(self._natural(residual, hypothesis))
        return [*(m for m in unique if free or self._nonnegative_somewhere(m)), ZERO]

    def _natural(self, residual: sp.Expr, hypothesis: sp.Expr) -> Iterator[sp.Expr]:
        """Multipliers that cancel a coefficient, and those that balance a product between two squares."""
        for symbol in (*self._linear_scalars(hypothesis), *self.products):
            below, above = hypothesis.coeff(symbol), residual.coeff(symbol)
            if below != 0 and above != 0:
                yield sp.cancel(above / below)
        for one, other in itertools.combinations(self.names, 2):
            above = residual.coeff(product_symbol(one, other))
            squares = [hypothesis.coeff(product_symbol(name, name)) for name in (one, other)]
            if above != 0 and all(square != 0 for square in squares) and (squares[0] * squares[1]).is_negative:
                balanced = sp.powdenest(above / (2 * sp.sqrt(-squares[0] * squares[1])), force=True)
                yield balanced
                yield -balanced
        for symbol in self._linear_scalars(hypothesis, scaled=True):
            below, above = hypothesis.coeff(symbol), residual.coeff(symbol)
            if below != 0 and above != 0:
                yield sp.cancel(above / below)

    def _linear_scalars(self, expr: sp.Expr, *, scaled: bool = False) -> list[sp.Symbol]:
        """Quantities such as function values that stand beside the inner products; ``scaled``: times other scalars."""
        rest = expr.xreplace(dict.fromkeys(self.products, ZERO))
        slopes = {s: sp.diff(rest, s) for s in sorted(rest.free_symbols, key=str)}
        if scaled:
            return [s for s, slope in slopes.items() if not slope.is_number and not slope.has(s)]
        return [s for s, slope in slopes.items() if slope.is_number]

    # --- numbers first ---

    @property
    def points(self) -> list[dict[sp.Symbol, float]]:
        """A few points within the conditions."""
        if self._points is None:
            sides = [side for c in self.claim.conditions for side in (c.left, c.right)]
            # A symbol may cancel in the difference of the sides and stand in each of them.
            expressions = (self.claim.left, self.claim.right, *self.hypotheses, *sides)
            scalars = {s for e in expressions for s in sp.sympify(e).free_symbols} - set(self.products)
            region = SearchRegion(self.claim.conditions, scalars)
            sampled = region.sample()[:, :_POINTS]
            self._points = [dict(zip(region.symbols, column, strict=True)) for column in sampled.T.tolist()]
        return self._points

    def _nonnegative_somewhere(self, expr: sp.Expr) -> bool:
        return not self.points or any(_float(expr, point) >= -1e-12 for point in self.points)

    def _plausible(self, residual: sp.Expr, multipliers: Sequence[sp.Expr]) -> bool:
        matrix, constant = self._matrix(residual)
        for point in self.points:
            if any(_float(m, point) < -1e-12 for m, free in zip(multipliers, self.free, strict=True) if not free):
                return False
            if _float(constant, point) < -1e-9:
                return False
            numbers = np.array([[_float(entry, point) for entry in row] for row in matrix.tolist()], dtype=float)
            if not np.isfinite(numbers).all():
                return False
            if numbers.size and np.linalg.eigvalsh(numbers).min() < -1e-9 * max(1.0, np.abs(numbers).max()):
                return False
        return True

    def _matrix(self, residual: sp.Expr) -> tuple[sp.Matrix, sp.Expr]:
        size = len(self.names)
        matrix = sp.zeros(size, size)
        for i, j in itertools.combinations_with_replacement(range(size), 2):
            coefficient = residual.coeff(product_symbol(self.names[i], self.names[j]))
            matrix[i, j] = matrix[j, i] = coefficient if i == j else coefficient / 2
        return matrix, residual.xreplace(dict.fromkeys(self.products, ZERO))

    # --- exactly ---

    def _certified(self, residual: sp.Expr, multipliers: Sequence[sp.Expr]) -> Decision | None:
        try:
            return self._factorised(residual, multipliers, self._nonnegative) or self._factorised(
                residual, multipliers, self._nonnegative_by_solver
            )
        except ZeroDivisionError:
            return None

    def _nonnegative(self, expr: sp.Expr) -> str:
        """On what it rests that a scalar is nonnegative within the conditions; "" where that is not known."""
        if sp.sympify(expr).is_nonnegative:
            return "certificate"
        claim = Scalar(left=ZERO, operator="<=", right=expr, hypotheses=self.claim.conditions)
        decision = prove_scalar(claim, QUICK)
        return "" if decision is None else decision.certified

    def _nonnegative_by_solver(self, expr: sp.Expr) -> str:
        claim = Scalar(left=ZERO, operator="<=", right=expr, hypotheses=self.claim.conditions)
        return decide_scalar(claim, QUICK).certified

    def _factorised(
        self, residual: sp.Expr, multipliers: Sequence[sp.Expr], sign: Callable[[sp.Expr], str]
    ) -> Decision | None:
        needed = [m for m, free in zip(multipliers, self.free, strict=True) if not free]
        matrix, constant = self._matrix(residual)
        bases = [sign(expr) for expr in (*needed, constant)]
        if not all(bases):
            return None

        def noted(pivot: sp.Expr) -> bool:
            bases.append(sign(pivot))
            return bool(bases[-1])

        found = factorise(matrix, noted)
        if found is None or not found.check():
            return None
        used = frozenset(i for i, m in enumerate(multipliers) if m != 0)
        parts = [f"{shown(m)} times hypothesis {i + 1}" for i, m in enumerate(multipliers) if m != 0]
        count = f"{counted(len(found.pivots), 'square')} with coefficients >= 0"
        basis = "solver" if "solver" in bases else "certificate"
        proof = GramProof(self.goal, tuple(self.hypotheses), tuple(multipliers), constant, tuple(self.names), found)
        evidence = " + ".join([*parts, count])
        return _Proved(answer=Answer.TRUE, certified=basis, evidence=evidence, used=used, proof=proof)

    def _combined(self) -> Decision | None:
        """Products of conditions with hypotheses and with squares of sums and differences of two vectors."""
        of_pairs = [
            product_symbol(a, a) + product_symbol(b, b) + sign * 2 * product_symbol(a, b)
            for a, b in itertools.combinations(self.names, 2)
            for sign in (1, -1)
        ]
        goal = Condition(name="", left=ZERO, operator="<=", right=self.goal)
        try:
            cases = list(systems(goal, (*self.claim.hypotheses, *self.claim.conditions)))
        except ValueError:
            return None
        for case in cases:
            found = combine(case.under((*case.hypotheses, *of_pairs)))
            if found is None:
                return None
        return Decision(
            answer=Answer.TRUE,
            certified="certificate",
            evidence="nonnegative combination of products of hypotheses, conditions and squares",
        )


def _semidefinite(matrix: Array) -> bool:
    size = float(np.abs(matrix).max())
    return bool(np.isfinite(size) and np.linalg.eigvalsh(matrix)[0] >= -1e-9 * size)


def fitted(
    goals: Sequence[Array], parts: Sequence[Sequence[Array]], free: Sequence[bool]
) -> Iterator[list[sp.Rational]]:
    """The numbers of `fit`, rounded to ever larger denominators."""
    for central in (False, True):
        found = fit(goals, parts, free, central=central)
        for denominator in () if found is None else (1, 2, 4, 12, 1000):
            yield [sp.Rational(c).limit_denominator(denominator) for c in found or ()]


def fit(
    goals: Sequence[Array], parts: Sequence[Sequence[Array]], free: Sequence[bool], central: bool, rounds: int = 40
) -> list[float] | None:
    """Numbers c >= 0 (any, where free) with ``goals[p] - sum_j c_j*parts[p][j]`` positive semidefinite for every p.

    The smallest, or with ``central`` those that leave the smallest eigenvalue as large as can be. By cutting planes:
    each eigenvector with a negative eigenvalue is a linear inequality about c.
    """
    from scipy.optimize import linprog

    scale = [max(float(np.abs(goal).max()), 1e-12) for goal in goals]
    scaled = [(goal / size, [part / size for part in own]) for goal, own, size in zip(goals, parts, scale, strict=True)]
    cuts = [_cut(goal, own, direction) for goal, own in scaled for direction in np.eye(len(goal))]
    # A free number is a difference of two.
    signs = [1.0] * len(free) + [-1.0 for is_free in free if is_free]
    columns = [*range(len(free)), *(j for j, is_free in enumerate(free) if is_free)]
    solution: Array = np.zeros(len(free))
    for _ in range(rounds):
        rows = np.array([row for row, _ in cuts])[:, columns] * np.array(signs)
        if not np.isfinite(rows).all():
            return None
        right = np.array([value for _, value in cuts]) + 1e-9
        slack = np.full((len(rows), 1), 1.0 if central else 0.0)
        cost = [1e-6 if central else 1.0] * len(columns) + [-1.0]
        ranges = [(0, 1e4)] * len(columns) + [(0, 1)]
        solved = linprog(cost, A_ub=np.hstack([rows, slack]), b_ub=right, bounds=ranges, method="highs")
        if solved.status != 0:
            return None
        solution = np.zeros(len(free))
        np.add.at(solution, columns, solved.x[:-1] * np.array(signs))
        new = []
        for goal, own in scaled:
            values, directions = np.linalg.eigh(goal - sum(c * part for c, part in zip(solution, own, strict=True)))
            if values[0] < -1e-8:
                new.append(_cut(goal, own, directions[:, 0]))
        if not new:
            break
        cuts += new
    return [float(c) for c in solution]


def _cut(goal: Array, parts: Sequence[Array], direction: Array) -> tuple[Array, float]:
    """Row and right side: c . row <= right says that the form is not negative in a direction."""
    return np.array([direction @ part @ direction for part in parts]), float(direction @ goal @ direction)


def _difference(hypothesis: Condition) -> sp.Expr:
    direction = -1 if hypothesis.operator in (">=", ">") else 1
    return sp.expand(direction * (hypothesis.right - hypothesis.left))


def _float(expr: sp.Expr, point: Mapping[sp.Symbol, float]) -> float:
    expr = sp.sympify(expr)
    try:
        return float(expr.xreplace({s: sp.Float(point[s]) for s in expr.free_symbols if s in point}))
    except (TypeError, ValueError):
        return float("nan")


def factorise(matrix: sp.Matrix, nonnegative: Callable[[sp.Expr], bool]) -> Squares | None:
    """An exact factorisation with pivots that are certified to be nonnegative; None where a pivot is not.

    A pivot may vanish at the border of the conditions: there the factorisation holds by continuity of the form.
    """
    found = squares(
        matrix.applyfunc(sp.cancel).tolist(),
        nonnegative,
        simplified=sp.cancel,
        order=lambda _, pivot: (not pivot.is_positive, sp.count_ops(pivot)),
    )
    if found is None:
        return None
    return Squares(matrix, tuple(pivot for _, pivot, _ in found), tuple(tuple(row) for _, _, row in found))
