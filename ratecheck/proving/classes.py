"""What the answers of functions or operators of a class satisfy, at every pair of points.

Each of the inequalities is quadratic in points and answers and linear in values, so that it holds of vectors of random
variables in expectation, and averaged over the clients.

Sources: Taylor, Hendrickx, Glineur, "Smooth strongly convex interpolation and exact worst-case performance of
first-order methods" (2017), Theorem 4; Ryu, Taylor, Bergeling, Giselsson, "Operator splitting performance estimation"
(2020), Section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from ratecheck.proving.forms import Form, VectorFamily, plus

Point = Mapping[str, VectorFamily]
Inner = Callable[[Point, Point], Form]


@dataclass(frozen=True)
class OracleAnswer:
    """What an oracle answers at a point: gradients, and the mean of the functions' values as a form.

    ``local`` where the point is a client's own, after its first local step.
    """

    name: str
    point: Point
    gradient: Point
    value: Form
    local: bool = False


def apart(a: Point, b: Point) -> Point:
    """A - b, block by block."""
    return {block: a[block] - b[block] for block in a}


class AnswerClass(Protocol):
    """A class of functions or operators."""

    @property
    def name(self) -> str:
        """The property in a word."""

    @property
    def has_values(self) -> bool:
        """Whether there are function values."""

    def between(self, a: OracleAnswer, b: OracleAnswer, inner: Inner) -> Iterator[Form]:
        """Forms that are at most 0 for answers at two points, in this order."""


@dataclass(frozen=True)
class Curved:
    """Functions with curvatures from ``mu`` to ``L``; smooth where L is a number, not so where it is None.

    f(a) >= f(b) + <g_b, a - b> + (||g_a - g_b||^2/L + mu ||a - b||^2 - 2 mu/L <g_a - g_b, a - b>)/(2 (1 - mu/L)).
    mu = -L for functions that need not be convex.
    """

    mu: Fraction
    L: Fraction | None
    has_values: bool = True

    @property
    def name(self) -> str:
        """The property in a word."""
        return "smoothness" if self.mu < 0 else "strong convexity" if self.mu else "convexity"

    def between(self, a: OracleAnswer, b: OracleAnswer, inner: Inner) -> Iterator[Form]:
        """See the class."""
        away, bent = apart(a.point, b.point), apart(a.gradient, b.gradient)
        ratio = Fraction(0) if self.L is None else self.mu / self.L
        scale = 1 / (2 * (1 - ratio))
        parts: list[tuple[Fraction | int, Form]] = [
            (1, b.value),
            (-1, a.value),
            (1, inner(b.gradient, away)),
            (scale * self.mu, inner(away, away)),
        ]
        if self.L is not None:
            parts += [(scale / self.L, inner(bent, bent)), (-2 * scale * ratio, inner(bent, away))]
        yield plus(*parts)


@dataclass(frozen=True)
class Operator:
    """Operators that are ``mu``-strongly monotone, and ``L``-Lipschitz or 1/L-cocoercive where these are numbers."""

    mu: Fraction | None = None
    lipschitz: Fraction | None = None
    cocoercive: Fraction | None = None
    name: str = "operator"
    has_values: bool = False

    def between(self, a: OracleAnswer, b: OracleAnswer, inner: Inner) -> Iterator[Form]:
        """<F a - F b, a - b> >= mu ||a - b||^2, and >= ||F a - F b||^2/L; ||F a - F b|| <= L ||a - b||."""
        if a.name > b.name:
            return
        away, bent = apart(a.point, b.point), apart(a.gradient, b.gradient)
        if self.mu is not None:
            yield plus((self.mu, inner(away, away)), (-1, inner(bent, away)))
        if self.cocoercive is not None:
            yield plus((1 / self.cocoercive, inner(bent, bent)), (-1, inner(bent, away)))
        if self.lipschitz is not None:
            yield plus((1, inner(bent, bent)), (-(self.lipschitz**2), inner(away, away)))
