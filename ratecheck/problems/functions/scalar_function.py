"""Functions of one variable with piecewise constant curvature, in rationals."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from bounds.printing.notation import Notation


@dataclass(frozen=True)
class ScalarFunction:
    """A function phi of one variable with phi(0) = 0, in rationals.

    ``slope`` is phi'(0), ``curvatures`` (J + 1) are those between the ``kinks`` (J), which ascend.
    """

    kinks: tuple[Fraction, ...]
    curvatures: tuple[Fraction, ...]
    slope: Fraction

    @staticmethod
    def of(kinks: Sequence[Fraction], curvatures: Sequence[Fraction], slope: Fraction) -> ScalarFunction:
        """The curve without pieces of no width, and without breakpoints where the curvature stays the same."""
        kept: list[tuple[Fraction, Fraction]] = []
        for kink, h in zip(kinks, curvatures[1:], strict=True):
            if kept and kept[-1][0] == kink:
                kept.pop()
            bent = kept[-1][1] if kept else curvatures[0]
            if h != bent:
                kept.append((kink, h))
        return ScalarFunction(tuple(k for k, _ in kept), (curvatures[0], *(h for _, h in kept)), slope)

    @cached_property
    def _at_kinks(self) -> list[tuple[Fraction, Fraction]]:
        """Phi' and phi at every breakpoint, from one to the next."""
        if not self.kinks:
            return []
        # From 0 to the first breakpoint, piece by piece: what lies beyond counts nothing.
        first, gradient, value = self.kinks[0], self.slope, self.slope * self.kinks[0]
        for low, high, h in zip((None, *self.kinks), (*self.kinks, None), self.curvatures, strict=True):
            start, end = _moved(Fraction(0), low, high), _moved(first, low, high)
            gradient += h * (end - start)
            value += h * (end - start) * ((end - start) / 2 + (first - end))
        found = [(gradient, value)]
        for h, (low, high) in zip(self.curvatures[1:], itertools.pairwise(self.kinks), strict=False):
            way = high - low
            value += gradient * way + h * way**2 / 2
            gradient += h * way
            found.append((gradient, value))
        return found

    def _from(self, x: Fraction) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """The curvature at x, how far x is from a breakpoint of its piece, and phi' and phi there."""
        return self._within(bisect.bisect_left(self.kinks, x), x)

    def _within(self, piece: int, x: Fraction) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        if not self.kinks:
            return self.curvatures[0], x, self.slope, Fraction(0)
        kink = max(piece - 1, 0)
        return self.curvatures[piece], x - self.kinks[kink], *self._at_kinks[kink]

    def slopes(self) -> list[tuple[Fraction, Fraction]]:
        """Of every piece the curvature and the least |phi'|."""
        found = []
        for low, high, h in zip((None, *self.kinks), (*self.kinks, None), self.curvatures, strict=True):
            ends = [self.gradient(x) for x in (low, high) if x is not None] or [self.slope]
            # Without an end, slopes go on to infinity of the sign that h, or -h to the left, has.
            signs = {e > 0 for e in ends} | ({h > 0} if high is None and h else set())
            signs |= {h < 0} if low is None and h else set()
            found.append((h, Fraction(0) if len(signs) > 1 or 0 in ends else min(map(abs, ends))))
        return found

    def curvature(self, x: Fraction) -> Fraction:
        """phi''(x), at a breakpoint that to its left."""
        return self._from(x)[0]

    def gradient(self, x: Fraction) -> Fraction:
        """phi'(x)."""
        h, way, gradient, _ = self._from(x)
        return gradient + h * way

    def gradients(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """The range of phi' on [low, high]: phi' is monotone between breakpoints, so these or the ends are extreme."""
        piece = bisect.bisect_left(self.kinks, low)
        h, way, gradient, _ = self._within(piece, low)
        at_low = gradient + h * way
        if piece == len(self.kinks) or high <= self.kinks[piece]:
            # In one piece the other end is as far along its line.
            at_high = at_low + h * (high - low)
            return (at_low, at_high) if h.numerator >= 0 else (at_high, at_low)
        last = bisect.bisect_left(self.kinks, high)
        values = [at_low, self.gradient(high), *(slope for slope, _ in self._at_kinks[piece:last])]
        return min(values), max(values)

    def value(self, x: Fraction) -> Fraction:
        """phi(x)."""
        h, way, gradient, value = self._from(x)
        return value + gradient * way + h * way**2 / 2

    def formula(self, name: str, notation: Notation) -> str:
        """Phi of a variable, piece by piece."""
        written = []
        for j, h in enumerate(self.curvatures):
            at = self.kinks[j - 1] if j else self.kinks[0] if self.kinks else Fraction(0)
            slope = self.gradient(at) - h * at
            constant = self.value(at) - slope * at - h * at**2 / 2
            terms = [(h / 2, f"{name}^2"), (slope, name), (constant, "")]
            written.append(notation.sum([(factor, body) for factor, body in terms if factor]))
        if len(written) == 1:
            return written[0]
        ends = [notation.fraction(kink) for kink in self.kinks]
        below, above = (r"\le", r"\ge") if notation.tex else ("<=", ">=")
        where = [
            f"{name} {below} {ends[0]}",
            *(f"{low} {below} {name} {below} {high}" for low, high in itertools.pairwise(ends)),
            f"{name} {above} {ends[-1]}",
        ]
        if notation.tex:
            rows = r" \\ ".join(rf"{part} & {span}" for part, span in zip(written, where, strict=True))
            return rf"\begin{{cases}} {rows} \end{{cases}}"
        return ", ".join(f"{part} for {span}" for part, span in zip(written, where, strict=True))

    @staticmethod
    def mean(curves: list[ScalarFunction]) -> ScalarFunction:
        """The mean of some curves."""
        count, jumps = len(curves), dict[Fraction, Fraction]()
        for each in curves:
            for kink, (before, after) in zip(each.kinks, itertools.pairwise(each.curvatures), strict=True):
                jumps[kink] = jumps.get(kink, Fraction(0)) + after - before
        kinks = sorted(jumps)
        total = sum((each.curvatures[0] for each in curves), Fraction(0))
        bent = [h / count for h in itertools.accumulate((jumps[kink] for kink in kinks), initial=total)]
        return ScalarFunction.of(kinks, bent, sum((each.slope for each in curves), Fraction(0)) / count)

    @cached_property
    def _stationary(self) -> list[Fraction]:
        """Points with phi' = 0: one of each piece where it is curved, both ends of a flat one."""
        found = []
        for j, h in enumerate(self.curvatures):
            low = self.kinks[j - 1] if j else None
            high = self.kinks[j] if j < len(self.kinks) else None
            at = low if low is not None else high if high is not None else Fraction(0)
            gradient = self.gradient(at)
            if h:
                point = at - gradient / h
                if (low is None or point >= low) and (high is None or point <= high):
                    found.append(point)
            elif not gradient:
                found += [end for end in (low, high) if end is not None] or [Fraction(0)]
        return sorted({*found})

    @cached_property
    def infimum(self) -> Fraction | None:
        """Inf phi; None where phi is unbounded below."""
        first, last = self.curvatures[0], self.curvatures[-1]
        ends = (self.kinks[0], self.kinks[-1]) if self.kinks else (Fraction(0), Fraction(0))
        down = self.gradient(ends[0]) > 0 if not first else first < 0
        up = self.gradient(ends[1]) < 0 if not last else last < 0
        if down or up:
            return None
        # Bounded below and flat or growing at both ends, phi has a minimum, at a stationary point.
        return min(self.value(x) for x in self._stationary)

    @cached_property
    def lowest_point(self) -> Fraction:
        """A minimiser, of a function that is bounded below."""
        return min(self._stationary, key=self.value)

    @cached_property
    def minimiser(self) -> Fraction | None:
        """The only minimiser; None where there is none, or several."""
        lowest = self.infimum
        points = [] if lowest is None else [x for x in self._stationary if self.value(x) == lowest]
        if len(points) != 1:
            return None
        x = points[0]
        # A piece without end, or a whole line, that is flat at the minimum.
        sides = {sum(kink < x for kink in self.kinks), sum(kink <= x for kink in self.kinks)}
        return None if any(not self.curvatures[j] for j in sides if not self._bounded(j)) else x

    def _bounded(self, j: int) -> bool:
        return 0 < j < len(self.kinks)

    @cached_property
    def dominance(self) -> Fraction | None:
        """The largest mu with phi'(x)^2 >= 2 mu (phi(x) - inf phi) for all x; None where there is none above 0.

        On a piece phi'^2/(phi - inf phi) is monotone on either side of the point with phi' = 0, so that it is least at
        a breakpoint, far away, or at such a point.
        """
        lowest = self.infimum
        if lowest is None or any(self.value(x) != lowest for x in self._stationary):
            return None
        found = []
        for j, h in enumerate(self.curvatures):
            ends = [self.kinks[k] for k in (j - 1, j) if 0 <= k < len(self.kinks)]
            found += [self.gradient(x) ** 2 / (2 * gap) for x in ends if (gap := self.value(x) - lowest)]
            if not self._bounded(j):
                flat = not h and not self.gradient(ends[0] if ends else Fraction(0))
                found += [] if flat else [h]
            if h and any(self._touches(j, x) for x in self._stationary):
                found.append(h)
        least = min(found, default=Fraction(0))
        return least if least > 0 else None

    @cached_property
    def growth(self) -> Fraction | None:
        """The largest mu with phi(x) - inf phi >= (mu/2) dist(x, X*)^2 for all x; None where there is none above 0.

        X* are the minimisers, between whose first and last there are no others. At the distance y from them
        2 (phi - inf phi)/y^2 = h + 2 B/y + 2 A/y^2 on a piece of curvature h, which is least at its ends, far away, or
        at y = -2 A/B. Where minimisers lie apart it is not looked for.
        """
        lowest = self.infimum
        points = [] if lowest is None else [x for x in self._stationary if self.value(x) == lowest]
        if any(self.value((x + y) / 2) != lowest for x, y in itertools.pairwise(points)):
            return None
        found = [ratio for side, end in zip((-1, 1), (points[:1], points[-1:]), strict=True)
                 for x in end for ratio in self._growths(x, side)]  # fmt: skip
        least = min(found, default=Fraction(0))
        return least if least > 0 else None

    def _growths(self, point: Fraction, side: int) -> Iterator[Fraction]:
        """Values of 2 (phi - inf phi)/y^2 at the distances y to one side of a minimiser, the least among them."""
        beyond = [x for x in self.kinks[::side] if side * (x - point) > 0]
        ends: list[Fraction | None] = [*beyond, None]
        for start, end in zip([point, *beyond], ends, strict=True):
            # Inside the piece, where the curvature is that of it.
            h = self.curvature(start + side if end is None else (start + end) / 2)
            y, gap, gradient = (
                side * (start - point),
                self.value(start) - self.value(point),
                side * self.gradient(start),
            )
            A, B = gap - gradient * y + h * y**2 / 2, gradient - h * y
            if A > 0 > B and y <= -2 * A / B and (end is None or side * (end - point) >= -2 * A / B):
                yield h - B**2 / (2 * A)
            if end is not None:
                yield 2 * (self.value(end) - self.value(point)) / (end - point) ** 2
            elif h or gradient:
                yield h

    def _touches(self, j: int, x: Fraction) -> bool:
        return (j == 0 or self.kinks[j - 1] <= x) and (j == len(self.kinks) or x <= self.kinks[j])


def _moved(x: Fraction, low: Fraction | None, high: Fraction | None) -> Fraction:
    """X moved into a piece."""
    x = x if low is None else max(x, low)
    return x if high is None else min(x, high)
