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

There may be any number of clients in place of n, and of steps in place of K: those that have taken part so far, or the
rounds of a window in place of the clients. A family may be empty where its size is in no denominator of the claim. Sums
over clients may have weights w_i > 0 in place of 1: the size is then sum_i w_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from bounds import symbols as s
from bounds.ledger.step import Gram, above, below, equal
from bounds.ledger.vectors import Vector, dot, square, vectors
from bounds.statement import Condition

n, m, K = s.n, s.m, s.K
NOTHING = Vector({})


@dataclass(frozen=True)
class PerClient:
    """X_i = own_i + common for every client i: ``own`` is a combination of named vectors, of which each has its own.

    ``size`` is how many clients there are. Only families of one size can be added.
    """

    own: Vector
    common: Vector = NOTHING
    size: sp.Expr = n

    def __add__(self, other: PerClient | Vector) -> PerClient:
        if isinstance(other, Vector):
            return PerClient(self.own, self.common + other, self.size)
        return PerClient(self.own + other.own, self.common + other.common, _same(self.size, other.size))

    def __rmul__(self, scalar: sp.Expr | int) -> PerClient:
        return PerClient(scalar * self.own, scalar * self.common, self.size)

    def __sub__(self, other: PerClient | Vector) -> PerClient:
        return self + -1 * other


@dataclass(frozen=True)
class PerStep:
    """a_ik = own_ik + client_i for every client i and its local steps k, with ``own`` as in `PerClient`."""

    own: Vector
    client: PerClient = PerClient(NOTHING)
    steps: sp.Expr = K

    def __add__(self, other: PerStep | PerClient | Vector) -> PerStep:
        if not isinstance(other, PerStep):
            return PerStep(self.own, self.client + other, self.steps)
        return PerStep(self.own + other.own, self.client + other.client, _same(self.steps, other.steps))

    def __rmul__(self, scalar: sp.Expr | int) -> PerStep:
        return PerStep(scalar * self.own, scalar * self.client, self.steps)

    def __sub__(self, other: PerStep | PerClient | Vector) -> PerStep:
        return self + -1 * other


def per_client(names: str, size: sp.Expr = n) -> tuple[PerClient, ...]:
    """Named vectors of every client, from their names with spaces between them."""
    return tuple(PerClient(own, size=size) for own in vectors(names))


def per_step(names: str, size: sp.Expr = n, steps: sp.Expr = K) -> tuple[PerStep, ...]:
    """Named vectors of every local step of every client, from their names with spaces between them."""
    return tuple(PerStep(own, PerClient(NOTHING, size=size), steps) for own in vectors(names))


def over_steps(a: PerStep) -> PerClient:
    """A_i = sum_k a_ik."""
    own = Vector({f"{name}_i": c for name, c in a.own.coefficients.items()})
    return PerClient(own, size=a.client.size) + a.steps * a.client


def total(X: PerClient | PerStep) -> Vector:
    """sum_i X_i, or sum_ik a_ik."""
    if isinstance(X, PerStep):
        return total(over_steps(X))
    return Vector({f"sum {name}": c for name, c in X.own.coefficients.items()}) + X.size * X.common


def mean(X: PerClient) -> Vector:
    """(1/n) sum_i X_i."""
    return total(X) / X.size


def deviation(X: PerClient, Y: PerClient) -> sp.Expr:
    """sum_i <X_i - X, Y_i - Y> with the means X and Y over clients."""
    return dot(*(_renamed(each_.own, "from the mean of clients") for each_ in (X, Y)))


def each(X: PerClient | PerStep, Y: PerClient | PerStep) -> sp.Expr:
    """sum_i <X_i, Y_i>, or sum_ik <a_ik, b_ik> where one of both has steps."""
    if isinstance(X, PerClient) and isinstance(Y, PerClient):
        return sp.expand(deviation(X, Y) + dot(total(X), total(Y)) / _same(X.size, Y.size))
    steps = next(each_.steps for each_ in (X, Y) if isinstance(each_, PerStep))
    a, b = (each_ if isinstance(each_, PerStep) else PerStep(NOTHING, each_, steps) for each_ in (X, Y))
    inside = dot(*(_renamed(each_.own, "from the mean of steps") for each_ in (a, b)))
    return sp.expand(inside + each(over_steps(a), over_steps(b)) / _same(a.steps, b.steps))


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


def uncorrelated(errors: PerClient | PerStep, squared: sp.Expr) -> tuple[Condition, ...]:
    """E<xi_ik, xi_jl> = 0 for different clients and for different steps; ``squared`` is sum_ik E||xi_ik||^2."""
    what = "errors are uncorrelated"
    sums = over_steps(errors) if isinstance(errors, PerStep) else errors
    of_clients = (
        equal(deviation(sums, sums), (1 - 1 / sums.size) * squared, f"{what}: from the mean of clients"),
        equal(dot(total(sums), total(sums)), squared, f"{what}: sum"),
    )
    if isinstance(errors, PerClient):
        return of_clients
    inside = sp.expand(each(errors, errors) - each(sums, sums) / errors.steps)
    return (equal(inside, (1 - 1 / errors.steps) * squared, f"{what}: from the mean of steps"), *of_clients)


def one_more(factor: sp.Expr | int = 1) -> Gram:
    """``factor`` E||sum of errors||^2 is ``factor`` times the sum of their squares: with one error after the others.

    It is not correlated with the sum of those before, of which this is known; of no errors both sides are 0.
    """
    before, error = vectors("sum_before error")
    squares_before, squared = sp.symbols("squares_before error2", nonnegative=True)
    return Gram(
        left=factor * square(before + error),
        operator="==",
        right=factor * (squares_before + squared),
        hypotheses=(
            equal(square(before), squares_before, "the errors before it"),
            equal(dot(before, error), 0, "uncorrelated"),
            equal(square(error), squared, "its square"),
        ),
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


def _same(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    """The size of two families, which is the same."""
    if one != other:
        raise ValueError(f"families of {one} and of {other} members")
    return one
