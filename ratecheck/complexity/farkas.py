"""Whether a monomial is at most a constant times a sum of others, wherever some monomials are at most 1.

With logarithms for coordinates a monomial is a linear function and ``fact <= 1`` a half-space. The theorem of
alternatives (Farkas) leaves two cases, each found by a linear program in floating point and then made exact:

- goal = prod q^(weight of q) * prod g^(weight of g) over terms q and facts g, with weights >= 0, those of the terms
  summing to 1. Then goal <= max q: the weights are the proof.
- exponents u of a variable x, every fact falling or constant along x^u, along which the goal outgrows every term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from ratecheck.algebra.linear_algebra import solve
from ratecheck.complexity.monomials import Monomial

# What the solver returns below this is 0.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Weights:
    """``goal`` = product of ``terms`` and ``facts`` to the power of their weights; those of the terms sum to 1."""

    goal: Monomial
    terms: Mapping[Monomial, Fraction]
    facts: Mapping[Monomial, Fraction]


@dataclass(frozen=True)
class Ray:
    """Exponents of x by name, along which the goal outgrows each of the terms by x^``growth`` or more."""

    powers: Mapping[str, Fraction]
    growth: Fraction


def decide(goal: Monomial, terms: Sequence[Monomial], facts: Sequence[Monomial]) -> Weights | Ray:
    """Weights if goal <= constant * sum of terms wherever all facts are at most 1, else a ray; both are exact."""
    if goal in terms:
        return Weights(goal, {goal: Fraction(1)}, {})
    names = sorted({name for monomial in (goal, *terms, *facts) for name, _ in monomial})
    vectors = [[dict(m).get(name, Fraction(0)) for name in names] for m in (*terms, *facts)]
    target = [dict(goal).get(name, Fraction(0)) for name in names]
    weights = _weights(vectors, target, len(terms))
    if weights is None:
        return _ray(vectors, target, len(terms), names)
    shares = [
        {monomial: weight for monomial, weight in zip(monomials, part, strict=True) if weight}
        for monomials, part in ((terms, weights[: len(terms)]), (facts, weights[len(terms) :]))
    ]
    return Weights(goal, *shares)


def _weights(vectors: list[list[Fraction]], target: list[Fraction], count: int) -> list[Fraction] | None:
    """Weights >= 0 with which the vectors give the target, those of the first ``count`` summing to 1."""
    rows = [[vector[i] for vector in vectors] for i in range(len(target))]
    rows.append([Fraction(int(k < count)) for k in range(len(vectors))])
    goal = [*target, Fraction(1)]
    if not count:
        return None
    found = linprog(np.ones(len(vectors)), A_eq=_floats(rows), b_eq=_floats([goal])[0], method="highs-ds")
    if found.status != 0:
        return None
    support = [k for k, weight in enumerate(found.x) if weight > _ROUNDING]
    weights = [Fraction(0)] * len(vectors)
    for k, weight in zip(support, _solve([[row[k] for k in support] for row in rows], goal), strict=True):
        weights[k] = weight
    if min(weights) < 0 or any(_dot(weights, row) != y for row, y in zip(rows, goal, strict=True)):
        raise ArithmeticError("the weights of a certificate could not be made exact")
    return weights


def _ray(vectors: list[list[Fraction]], target: list[Fraction], count: int, names: Sequence[str]) -> Ray:
    """A sparse u with (target - term)*u >= 1 for every term and fact*u <= 0 for every fact."""
    gaps = [[x - y for x, y in zip(target, vector, strict=True)] for vector in vectors[:count]]
    facts = vectors[count:]
    # u is the difference of two vectors >= 0, whose sum is made small.
    rows = [*([-x for x in gap] for gap in gaps), *facts]
    limits = [Fraction(-1)] * count + [Fraction(0)] * len(facts)
    powers = [Fraction(0)] * len(names)
    if count and names:
        both = _floats([[*row, *(-x for x in row)] for row in rows])
        found = linprog(np.ones(2 * len(names)), A_ub=both, b_ub=_floats([limits])[0], method="highs-ds")
        if found.status != 0:
            raise ArithmeticError("neither a certificate nor a ray was found")
        # A corner: the rows that hold with equality and the exponents that are 0 determine it.
        u = found.x[: len(names)] - found.x[len(names) :]
        support = [k for k, x in enumerate(u) if abs(x) > _ROUNDING]
        active = [i for i, slack in enumerate(found.slack) if slack < _ROUNDING]
        exact = _solve([[rows[i][k] for k in support] for i in active], [limits[i] for i in active])
        for k, x in zip(support, exact, strict=True):
            powers[k] = x
    growth = min((_dot(gap, powers) for gap in gaps), default=Fraction(1))
    if growth <= 0 or any(_dot(fact, powers) > 0 for fact in facts):
        raise ArithmeticError("a ray could not be made exact")
    return Ray({name: x for name, x in zip(names, powers, strict=True) if x}, growth)


def _dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))


def _floats(rows: Sequence[Sequence[Fraction]]) -> NDArray[np.float64]:
    return np.array([[float(x) for x in row] for row in rows])


def _solve(rows: list[list[Fraction]], goal: list[Fraction]) -> list[Fraction]:
    """A solution of rows*x = goal in fractions; unknowns that nothing fixes are 0."""
    found = solve([dict(enumerate([*row, y])) for row, y in zip(rows, goal, strict=True)], len(rows[0]))
    if found is None:
        raise ArithmeticError("a solution in floating point could not be made exact")
    return found
