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

from dataclasses import dataclass

import sympy as sp

from bounds import symbols as s
from bounds.ledger.step import above, below, equal
from bounds.ledger.vectors import Vector, dot, vectors
from bounds.statement import Condition

n, m, K = s.n, s.m, s.K
NOTHING = Vector({})


@dataclass(frozen=True)
class PerClient:
    """X_i = own_i + common for every client i: ``own`` is a combination of named vectors, of which each has its own."""

    own: Vector
    common: Vector = NOTHING

    def __add__(self, other: PerClient | Vector) -> PerClient:
        if isinstance(other, Vector):
            return PerClient(self.own, self.common + other)
        return PerClient(self.own + other.own, self.common + other.common)

    def __rmul__(self, scalar: sp.Expr | int) -> PerClient:
        return PerClient(scalar * self.own, scalar * self.common)

    def __sub__(self, other: PerClient | Vector) -> PerClient:
        return self + -1 * other


@dataclass(frozen=True)
class PerStep:
    """a_ik = own_ik + client_i for every client i and its local steps k, with ``own`` as in `PerClient`."""

    own: Vector
    client: PerClient = PerClient(NOTHING)

    def __add__(self, other: PerStep | PerClient | Vector) -> PerStep:
        if not isinstance(other, PerStep):
            return PerStep(self.own, self.client + other)
        return PerStep(self.own + other.own, self.client + other.client)

    def __rmul__(self, scalar: sp.Expr | int) -> PerStep:
        return PerStep(scalar * self.own, scalar * self.client)

    def __sub__(self, other: PerStep | PerClient | Vector) -> PerStep:
        return self + -1 * other


def per_client(names: str) -> tuple[PerClient, ...]:
    """Named vectors of every client, from their names with spaces between them."""
    return tuple(map(PerClient, vectors(names)))


def per_step(names: str) -> tuple[PerStep, ...]:
    """Named vectors of every local step of every client, from their names with spaces between them."""
    return tuple(map(PerStep, vectors(names)))


def over_steps(a: PerStep) -> PerClient:
    """A_i = sum_k a_ik."""
    return PerClient(Vector({f"{name}_i": c for name, c in a.own.coefficients.items()})) + K * a.client


def total(X: PerClient | PerStep) -> Vector:
    """sum_i X_i, or sum_ik a_ik."""
    if isinstance(X, PerStep):
        return total(over_steps(X))
    return Vector({f"sum {name}": c for name, c in X.own.coefficients.items()}) + n * X.common


def mean(X: PerClient) -> Vector:
    """(1/n) sum_i X_i."""
    return total(X) / n


def deviation(X: PerClient, Y: PerClient) -> sp.Expr:
    """sum_i <X_i - X, Y_i - Y> with the means X and Y over clients."""
    return dot(*(_renamed(each_.own, "from the mean of clients") for each_ in (X, Y)))


def each(X: PerClient | PerStep, Y: PerClient | PerStep) -> sp.Expr:
    """sum_i <X_i, Y_i>, or sum_ik <a_ik, b_ik> where one of both has steps."""
    if isinstance(X, PerClient) and isinstance(Y, PerClient):
        return sp.expand(deviation(X, Y) + dot(total(X), total(Y)) / n)
    a, b = (each_ if isinstance(each_, PerStep) else PerStep(NOTHING, each_) for each_ in (X, Y))
    inside = dot(*(_renamed(each_.own, "from the mean of steps") for each_ in (a, b)))
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


def _renamed(own: Vector, what: str) -> Vector:
    """The deviations of the named vectors."""
    return Vector({f"{name} {what}": c for name, c in own.coefficients.items()})
