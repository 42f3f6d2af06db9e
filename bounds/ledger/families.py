"""Vectors of n clients and of their K local steps, for every n and K, and sums over all clients or over a sample.

A quadratic expression that treats clients alike, and the steps of a client alike, splits into three that have nothing
to do with each other: how steps differ from their client's mean, how clients differ from each other, and sums over
everything. So a claim about n clients is a claim about a few vectors, whose numbers are functions of n, m and K: a
`Gram`. With A_i = sum_k a_ik,

    sum_ik <a_ik, b_ik> = sum_ik <a_ik - A_i/K, b_ik - B_i/K> + sum_i <A_i, B_i>/K,
    sum_i <X_i, Y_i>    = sum_i <X_i - X, Y_i - Y> + <sum_i X_i, sum_i Y_i>/n        with the means X and Y,

and for a sample S of m clients, drawn without replacement and independently of the vectors,

    E<sum_{i in S} X_i, sum_{i in S} Y_i> = q sum_i <X_i - X, Y_i - Y> + (m/n)^2 <sum_i X_i, sum_i Y_i>,

with q = P(i in S) - P(i, j in S) = m (n - m)/(n (n - 1)) for i != j, and q = 0 for n = 1. Vectors may be random and
depend on each other: products stand for their expectations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from bounds import symbols as s
from bounds.ledger.step import above, below, equal
from bounds.ledger.vectors import Vector, dot, product_symbol
from bounds.statement import Condition

n, m, K = s.n, s.m, s.K
Coefficients = Mapping[str, sp.Expr]
_NONE: Coefficients = {}
NOTHING = Vector({})


@dataclass(frozen=True)
class PerClient:
    """X_i = sum_name own[name] * name_i + common, for every client i."""

    own: Coefficients
    common: Vector = NOTHING

    def __add__(self, other: PerClient | Vector) -> PerClient:
        if isinstance(other, Vector):
            return PerClient(self.own, self.common + other)
        return PerClient(_sum(self.own, other.own), self.common + other.common)

    def __rmul__(self, scalar: sp.Expr | int) -> PerClient:
        return PerClient(_times(scalar, self.own), scalar * self.common)

    def __sub__(self, other: PerClient | Vector) -> PerClient:
        return self + -1 * other


@dataclass(frozen=True)
class PerStep:
    """a_ik = sum_name own[name] * name_ik + client_i, for every client i and its local steps k."""

    own: Coefficients
    client: PerClient = field(default_factory=lambda: PerClient(_NONE))

    def __add__(self, other: PerStep | PerClient | Vector) -> PerStep:
        if not isinstance(other, PerStep):
            return PerStep(self.own, self.client + other)
        return PerStep(_sum(self.own, other.own), self.client + other.client)

    def __rmul__(self, scalar: sp.Expr | int) -> PerStep:
        return PerStep(_times(scalar, self.own), scalar * self.client)

    def __sub__(self, other: PerStep | PerClient | Vector) -> PerStep:
        return self + -1 * other


def per_client(names: str) -> tuple[PerClient, ...]:
    """Named vectors of every client, from their names with spaces between them."""
    return tuple(PerClient({name: sp.Integer(1)}) for name in names.split())


def per_step(names: str) -> tuple[PerStep, ...]:
    """Named vectors of every local step of every client, from their names with spaces between them."""
    return tuple(PerStep({name: sp.Integer(1)}) for name in names.split())


def over_steps(a: PerStep) -> PerClient:
    """A_i = sum_k a_ik."""
    return PerClient({f"{name}_i": c for name, c in a.own.items()}) + K * a.client


def total(X: PerClient | PerStep) -> Vector:
    """sum_i X_i, or sum_ik a_ik."""
    if isinstance(X, PerStep):
        return total(over_steps(X))
    return Vector({f"sum {name}": c for name, c in X.own.items()}) + n * X.common


def mean(X: PerClient) -> Vector:
    """(1/n) sum_i X_i."""
    return total(X) / n


def deviation(X: PerClient, Y: PerClient) -> sp.Expr:
    """sum_i <X_i - X, Y_i - Y> with the means X and Y over clients."""
    return _products("from the mean of clients", X.own, Y.own)


def each(X: PerClient | PerStep, Y: PerClient | PerStep) -> sp.Expr:
    """sum_i <X_i, Y_i>, or sum_ik <a_ik, b_ik> where one of both has steps."""
    if isinstance(X, PerClient) and isinstance(Y, PerClient):
        return sp.expand(deviation(X, Y) + dot(total(X), total(Y)) / n)
    a, b = (each_ if isinstance(each_, PerStep) else PerStep(_NONE, each_) for each_ in (X, Y))
    inside = _products("from the mean of steps", a.own, b.own)
    return sp.expand(inside + each(over_steps(a), over_steps(b)) / K)


def squares(X: PerClient | PerStep) -> sp.Expr:
    """sum_i ||X_i||^2, or sum_ik ||a_ik||^2."""
    return each(X, X)


# P(i in S) - P(i, j in S) for i != j, and 0 for one client.
q = sp.Symbol("q", nonnegative=True)
SAMPLE: tuple[Condition, ...] = (
    above(m, 1),
    below(m, n),
    equal(q * n * (n - 1), m * (n - m), "q = P(i in S) - P(i, j in S)"),
)
# 1/(n - 1) <= 2/n for n >= 2, and q = 0 for n = 1.
FEW: Condition = below(q, 2 * m * (n - m) / n**2, "1/(n-1) <= 2/n")


def sampled(X: PerClient, Y: PerClient) -> sp.Expr:
    """E<sum_{i in S} X_i, sum_{i in S} Y_i>; the claim needs the conditions `SAMPLE`.

    What is common to all clients is there m times, whoever is drawn.
    """
    return sp.expand(q * deviation(X, Y) + (m / n) ** 2 * dot(total(X), total(Y)))


def sampled_with(X: PerClient, fixed: Vector) -> sp.Expr:
    """E<sum_{i in S} X_i, g> for a vector g that does not depend on S."""
    return sp.expand(m / n * dot(total(X), fixed))


def sampled_each(X: PerClient, Y: PerClient) -> sp.Expr:
    """E sum_{i in S} <X_i, Y_i>."""
    return sp.expand(m / n * each(X, Y))


def uncorrelated(errors: PerStep, squared: sp.Expr) -> tuple[Condition, ...]:
    """E<xi_ik, xi_jl> = 0 for different clients and for different steps; ``squared`` is sum_ik E||xi_ik||^2."""
    sums, what = over_steps(errors), "errors are uncorrelated"
    inside = each(errors, errors) - each(sums, sums) / K
    return (
        equal(sp.expand(inside), (1 - 1 / K) * squared, f"{what}: from the mean of steps"),
        equal(deviation(sums, sums), (1 - 1 / n) * squared, f"{what}: from the mean of clients"),
        equal(dot(total(sums), total(sums)), squared, f"{what}: sum"),
    )


def independent(errors: PerStep, others: PerStep) -> tuple[Condition, ...]:
    """E<xi_ik, omega_jl> = 0 for all clients and steps, in sums over steps."""
    one, other = over_steps(errors), over_steps(others)
    return (
        equal(deviation(one, other), 0, "errors of two rounds are uncorrelated: from the mean of clients"),
        equal(dot(total(one), total(other)), 0, "errors of two rounds are uncorrelated: sum"),
    )


def _sum(one: Coefficients, other: Coefficients) -> Coefficients:
    zero = sp.Integer(0)
    return {name: one.get(name, zero) + other.get(name, zero) for name in {**one, **other}}


def _times(scalar: sp.Expr | int, own: Coefficients) -> Coefficients:
    return {name: sp.sympify(scalar) * c for name, c in own.items()}


def _products(what: str, one: Coefficients, other: Coefficients) -> sp.Expr:
    """A sum of products of deviations, bilinear in the named vectors."""
    pairs = ((a * b, f"{i} {what}", f"{j} {what}") for i, a in one.items() for j, b in other.items())
    return sp.expand(sp.Add(*(c * product_symbol(i, j) for c, i, j in pairs)))
