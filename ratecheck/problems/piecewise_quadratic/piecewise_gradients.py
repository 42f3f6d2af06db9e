"""Bounds of the clients' gradients at every point, for piecewise constant curvature, in rationals.

``curves[i][c]`` is the function of coordinate c of client i, ``means[c]`` that of f, the mean over the clients.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ratecheck.problems.functions.scalar_function import ScalarFunction


@dataclass(frozen=True)
class PiecewiseGradients:
    """The facts of clients with such functions."""

    curves: Sequence[Sequence[ScalarFunction]]
    means: Sequence[ScalarFunction]

    @property
    def bound2(self) -> Fraction | None:
        """The largest ||grad f_i||^2 of a client anywhere; None where one is curved far away."""
        if any(curve.curvatures[0] or curve.curvatures[-1] for own in self.curves for curve in own):
            return None
        # Between breakpoints a derivative is monotone, and beyond them it is constant.
        steepest = (
            [max(curve.gradient(x) ** 2 for x in curve.kinks or (Fraction(0),)) for curve in own] for own in self.curves
        )
        return max(sum(each, Fraction(0)) for each in steepest)

    @property
    def interpolates(self) -> bool:
        """Whether one point minimises every f_i: the infimum of f is then the mean of theirs, and only then."""
        for c, mean in enumerate(self.means):
            lowest = [own[c].infimum for own in self.curves]
            if mean.infimum is None or any(each is None for each in lowest):
                return False
            total = sum((each for each in lowest if each is not None), Fraction(0))
            if total != mean.infimum * len(self.curves):
                return False
        return True

    @cached_property
    def pair2(self) -> tuple[Fraction, Fraction] | None:
        """(G^2, B^2) with (1/n) sum_i ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2 everywhere; None where there is none.

        Far away gradients grow as the curvatures h_i there, so that B^2 exceeds the mean of the h_i^2 over the square
        of their mean. Twice that is taken, 1 where the clients agree far away, and the least G for it.
        """
        ratios = [Fraction(1)]
        apart = False
        for c, mean in enumerate(self.means):
            for end in (0, -1):
                bent = [own[c].curvatures[end] for own in self.curves]
                squares = sum((h * h for h in bent), Fraction(0)) / len(bent)
                apart = apart or len({*bent}) > 1
                if squares and not mean.curvatures[end]:
                    # Clients that cancel in the mean far away; the mean knows no breakpoint where they do.
                    return None
                if squares:
                    ratios.append(squares / mean.curvatures[end] ** 2)
        B2 = 2 * max(ratios) if apart else Fraction(1)
        # Where f has no stationary point the excess may be negative everywhere.
        return max(sum((self._largest(c, B2) for c in range(len(self.means))), Fraction(0)), Fraction(0)), B2

    def _largest(self, c: int, B2: Fraction) -> Fraction:
        """The largest (1/n) sum_i (d_c f_i)^2 - B^2 (d_c f)^2: at a breakpoint or a vertex of a piece."""
        own, mean = [each[c] for each in self.curves], self.means[c]
        n, kinks = len(own), sorted({kink for curve in own for kink in curve.kinks})

        def excess(x: Fraction) -> Fraction:
            return sum((curve.gradient(x) ** 2 for curve in own), Fraction(0)) / n - B2 * mean.gradient(x) ** 2

        found = [excess(x) for x in kinks or (Fraction(0),)]
        for low, high in _pieces(kinks):
            # The excess of x + s is excess(x) + slope s + bend s^2 on the piece.
            x = low if low is not None else high if high is not None else Fraction(0)
            inside = _inside(low, high)
            h = [curve.curvature(inside) for curve in own]
            bar = sum(h, Fraction(0)) / n
            bend = sum((each * each for each in h), Fraction(0)) / n - B2 * bar**2
            products = sum((each * curve.gradient(x) for each, curve in zip(h, own, strict=True)), Fraction(0)) / n
            slope = 2 * (products - B2 * bar * mean.gradient(x))
            if bend < 0:
                top = x - slope / (2 * bend)
                if (low is None or top > low) and (high is None or top < high):
                    found.append(excess(top))
        return max(found)


def _pieces(kinks: Sequence[Fraction]) -> Iterator[tuple[Fraction | None, Fraction | None]]:
    ends: list[Fraction | None] = [None, *kinks, None]
    yield from itertools.pairwise(ends)


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None or high is None:
        return high - 1 if high is not None else low + 1 if low is not None else Fraction(0)
    return (low + high) / 2
