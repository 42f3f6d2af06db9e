"""The value of an expression of a certificate, at a point exactly or at many in intervals.

It reads the data as they are written and shares no algebra with `ratecheck.recheck`. An arithmetic is `Exact`, in
fractions and, from the first root on, intervals of 100 digits, or `Intervals`, pairs of arrays of floats.
"""

from __future__ import annotations

import math
import zlib
from fractions import Fraction

import mpmath
import numpy as np

IV = mpmath.ctx_iv.MPIntervalContext()
IV.dps = 100
# An interval around 0 that is no wider is 0.
SAME = mpmath.mpf(10) ** -40


class UndefinedError(Exception):
    """A denominator that is 0, a root of a negative number, a logarithm of one, or none that is known well enough."""


def coefficients(name, count):
    """Those of the affine function that stands for any function of this name, of either sign."""
    seed = zlib.crc32(name.encode())
    return [Fraction((seed >> 3 * i) % 5 - 2) for i in range(count + 1)]


def value(node, numbers, vectors, arithmetic):
    """The value of an expression, where numbers and the coordinates of vectors have these values."""
    if isinstance(node, str):
        return numbers[node] if node in numbers else arithmetic.number(Fraction(node))
    operation, *parts = node
    if operation == "constant":
        return arithmetic.constant(parts[0])
    if operation == "dot":
        one, other = (vector(each, numbers, vectors, arithmetic) for each in parts)
        return total("+", [arithmetic.multiply(a, b) for a, b in zip(one, other, strict=True)], arithmetic)
    if operation == "^":
        return power(value(parts[0], numbers, vectors, arithmetic), Fraction(parts[1]), arithmetic)
    known = parts[1:] if operation == "function" else parts
    values = [value(each, numbers, vectors, arithmetic) for each in known]
    if operation == "function":
        first, *more = map(arithmetic.number, coefficients(parts[0], len(values)))
        return total("+", [first, *map(arithmetic.multiply, more, values)], arithmetic)
    return total(operation, values, arithmetic)


def total(operation, values, arithmetic):
    """An operation on numbers, from left to right if there are several."""
    rule = {"+": "add", "*": "multiply", "/": "divide", "power": "any_power"}.get(operation, operation)
    if operation in ("exp", "log"):
        (argument,) = values
        return getattr(arithmetic, rule)(argument)
    found = values[0]
    for each in values[1:]:
        found = getattr(arithmetic, rule)(found, each)
    return found


def power(base, e, arithmetic):
    """A power p/q, of which the root comes first."""
    if e.denominator > 1:
        base = arithmetic.root(base, e.denominator)
    if e < 0:
        base = arithmetic.divide(arithmetic.number(Fraction(1)), base)
    return arithmetic.power(base, abs(e.numerator))


def vector(node, numbers, vectors, arithmetic):
    """The coordinates of a combination of vectors."""
    if isinstance(node, str):
        return vectors[node]
    if node[0] == "*":
        factor = value(node[1], numbers, vectors, arithmetic)
        return [arithmetic.multiply(factor, each) for each in vector(node[2], numbers, vectors, arithmetic)]
    parts = [vector(each, numbers, vectors, arithmetic) for each in node[1:]]
    return [total("+", each, arithmetic) for each in zip(*parts, strict=True)]


class Exact:
    """Fractions, and from the first root on intervals of 100 digits."""

    @staticmethod
    def number(fraction):
        return fraction

    @staticmethod
    def alike(*values):
        if all(isinstance(each, Fraction) for each in values):
            return values
        return tuple(enclosed(each) if isinstance(each, Fraction) else each for each in values)

    def add(self, a, b):
        a, b = self.alike(a, b)
        return a + b

    def multiply(self, a, b):
        a, b = self.alike(a, b)
        return a * b

    def divide(self, a, b):
        if self.sign(b) == 0:
            raise UndefinedError
        a, b = self.alike(a, b)
        return a / b

    @staticmethod
    def sign(a):
        """Of an interval it is 0 if that is as good as a point; a wider one has none: its point does not count."""
        if isinstance(a, Fraction):
            return (a > 0) - (a < 0)
        if a.a > 0 or a.b < 0:
            return 1 if a.a > 0 else -1
        if not max(-a.a, a.b) <= SAME:
            raise UndefinedError
        return 0

    @staticmethod
    def power(a, n):
        return a**n

    def root(self, a, order):
        if self.sign(a) <= 0:
            if self.sign(a) < 0:
                raise UndefinedError
            return Fraction(0)
        if isinstance(a, Fraction):
            parts = [whole_root(each, order) for each in (a.numerator, a.denominator)]
            if all(parts):
                return Fraction(*parts)
        return self.exp(self.multiply(Fraction(1, order), self.log(a)))

    def max(self, a, b):
        return a if self.sign(self.add(a, self.multiply(Fraction(-1), b))) >= 0 else b

    def min(self, a, b):
        return b if self.max(a, b) is a else a

    @staticmethod
    def constant(name):
        return IV.exp(1) if name == "e" else IV.mpf(IV.pi)

    def exp(self, a):
        if isinstance(a, Fraction) and a == 0:
            return Fraction(1)
        (a, _) = self.alike(a, IV.mpf(0))
        if not -(10**6) < a.a <= a.b < 10**6:
            raise UndefinedError
        return IV.exp(a)

    def log(self, a):
        if self.sign(a) <= 0:
            raise UndefinedError
        return Fraction(0) if isinstance(a, Fraction) and a == 1 else IV.log(self.alike(a, IV.mpf(0))[0])

    def any_power(self, a, b):
        sign = self.sign(a)
        if sign < 0 or (sign == 0 and self.sign(b) <= 0):
            raise UndefinedError
        if sign == 0:
            return Fraction(0)
        if isinstance(b, Fraction) and b.denominator == 1 and abs(b) < 100:
            return a ** int(b) if b >= 0 else self.divide(Fraction(1), a ** int(-b))
        return self.exp(self.multiply(b, self.log(a)))

    def holds(self, a, relation, b):
        sign = self.sign(self.add(a, self.multiply(Fraction(-1), b)))
        return {">=": sign >= 0, "<=": sign <= 0, ">": sign > 0, "<": sign < 0, "==": sign == 0}[relation]


def enclosed(fraction):
    """A fraction as an interval."""
    return IV.mpf(fraction.numerator) / IV.mpf(fraction.denominator)


def whole_root(number, order):
    """The root of a whole number, 0 where it is not whole."""
    root = round(mpmath.root(number, order)) if number.bit_length() < 50 else 0
    return root if root**order == number else 0


class Intervals:
    """Pairs of arrays of floats that enclose the values, one entry per point."""

    def __init__(self, count):
        self.count = count
        # Where something has no value, and where that is not known.
        self.undefined, self.unsure = np.zeros(count, bool), np.zeros(count, bool)

    @staticmethod
    def wide(low, high, by=3e-16):
        low, high = low - by * np.abs(low) - 1e-300, high + by * np.abs(high) + 1e-300
        return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)

    def number(self, fraction):
        near = float(fraction) if abs(fraction) < 10**300 else math.inf
        if near == fraction:
            return np.full(self.count, near), np.full(self.count, near)
        return self.wide(np.full(self.count, min(near, 1e300)), np.full(self.count, near))

    def add(self, a, b):
        return self.wide(a[0] + b[0], a[1] + b[1])

    def multiply(self, a, b):
        products = np.stack([a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]])
        return self.wide(products.min(0), products.max(0))

    def divide(self, a, b):
        zero = (b[0] <= 0) & (b[1] >= 0)
        self.undefined |= (b[0] == 0) & (b[1] == 0)
        self.unsure |= zero
        low, high = self.wide(1 / np.where(zero, 1, b[1]), 1 / np.where(zero, 1, b[0]))
        return self.multiply(a, (np.where(zero, -np.inf, low), np.where(zero, np.inf, high)))

    def power(self, a, n):
        if n == 0:
            return self.number(Fraction(1))
        low, high = a[0] ** n, a[1] ** n
        if n % 2 == 0:
            inside = (a[0] <= 0) & (a[1] >= 0)
            low, high = np.where(inside, 0, np.minimum(low, high)), np.maximum(low, high)
        return self.wide(low, high, 1e-15)

    def root(self, a, order):
        self.negative(a[0], a[1])
        return self.wide(*(np.maximum(each, 0) ** (1 / order) for each in a), 1e-13)

    def negative(self, low, high):
        self.undefined |= high < 0
        self.unsure |= low < 0

    def max(self, a, b):
        return np.maximum(a[0], b[0]), np.maximum(a[1], b[1])

    def min(self, a, b):
        return np.minimum(a[0], b[0]), np.minimum(a[1], b[1])

    def constant(self, name):
        return self.wide(*[np.full(self.count, {"pi": math.pi, "e": math.e}[name])] * 2)

    def exp(self, a):
        return self.wide(*map(np.exp, a), 1e-13)

    def log(self, a):
        self.undefined |= a[1] <= 0
        self.unsure |= a[0] <= 0
        return self.wide(*(np.log(np.maximum(each, 0)) for each in a), 1e-13)

    def any_power(self, a, b):
        zero = (a[0] <= 0) & (a[1] >= 0)
        self.undefined |= a[1] < 0
        self.unsure |= a[0] <= 0
        ones = np.where(zero, 1, a[0]), np.where(zero, 1, a[1])
        low, high = self.exp(self.multiply(b, self.log(ones)))
        return np.where(zero, -np.inf, low), np.where(zero, np.inf, high)

    def compared(self, a, relation, b):
        """Where a comparison surely holds, and where it is surely broken; neither where something has no sure value."""
        more, less = a[0] > b[1], a[1] < b[0]
        at_least, at_most = a[0] >= b[1], a[1] <= b[0]
        sure = {
            ">=": (at_least, less),
            ">": (more, at_most),
            "<=": (at_most, more),
            "<": (less, at_least),
            "==": (at_least & at_most, more | less),
        }[relation]
        return sure[0] & ~self.unsure, sure[1] & ~self.unsure
