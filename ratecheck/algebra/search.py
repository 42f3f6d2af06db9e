"""The search for certificates: hypotheses to use up by substitutions until no coefficient is negative."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.polys.rings import PolyElement, PolyRing

from ratecheck.algebra.positivity.polynomial import System
from ratecheck.algebra.positivity.substitution import (
    ZERO,
    HypothesisKind,
    Key,
    Pivot,
    Ratio,
    SubstitutionCertificate,
    all_hypotheses,
    by_power,
    definite,
    key_of,
    ratio_of,
    symbols_of,
    void,
)  # fmt: skip
from ratecheck.algebra.work_limit import spend

# A way to use up hypotheses is worth the algebra only if the goal is nonnegative at that many random points.
_SAMPLES, _ROUNDING = 200, 1e-9
# Ways looked at and ways expanded in the search for one part: counted, so that no answer depends on the machine's load.
_LOOKED_AT, _EXPANDED = 2000, 80
# What a look takes beside a column of a linear programme.
_LOOK = 15
# Counterexamples: points drawn, those tried exactly, the share of zeros, and the logarithm that stands for 0.
_DRAWS, _DRAWS_KEPT, _ZEROS, _ZERO = 4000, 12, 0.5, -300.0


def first_certificate(system: System, hints: Sequence[Key] = ()) -> SubstitutionCertificate | None:
    """The first certificate that is found, the cases at its borders included; None where there is none."""
    for found in Search(system).run(hints=hints):
        return completed(found)
    return None


def completed(certificate: SubstitutionCertificate) -> SubstitutionCertificate | None:
    """A certificate completed for the cases in which a symbol at a border is 0; None where one was not found."""
    borders = certificate.borders
    if borders is None:
        return None
    cases: dict[sp.Symbol, SubstitutionCertificate | None] = {}
    for symbol in sorted(borders, key=str):
        case = certificate.system.put({symbol: ZERO})
        if void(case):
            cases[symbol] = None
            continue
        more = first_certificate(case)
        if more is None:
            return None
        cases[symbol] = more
    return dataclasses.replace(certificate, at_zero=cases)


class Search:
    """Ways to use up the hypotheses of a system, up to a number of tries; ``parameter`` stays as it is."""

    def __init__(self, system: System, parameter: sp.Symbol | None = None) -> None:
        self.system, self.parameter = system, parameter
        self.symbols = symbols_of(system)
        self.ring = PolyRing(self.symbols, sp.ZZ)  # whole numbers are fast
        self.hypotheses = [self._ratio(each) for each in all_hypotheses(system)]
        self.goal = self._oriented(self._ratio(system.goal))

    def _ratio(self, expr: sp.Expr) -> Ratio:
        return ratio_of(self.ring, expr)

    def _oriented(self, ratio: Ratio) -> Ratio:
        """The ratio with a denominator that is positive at most random points where the hypotheses hold."""
        if definite(ratio.denominator):
            return ratio
        path = max(itertools.islice(self._paths(list(enumerate(self.hypotheses))), 8), key=len)
        logs = np.random.default_rng(0).uniform(-9.0, 9.0, (len(self.symbols), _SAMPLES))
        with np.errstate(all="ignore"):
            _to_old(path, logs)
            exponents, coefficients = _arrays(ratio.denominator)
            size = exponents @ logs
            values = (coefficients[:, None] * np.exp(size - np.max(size, axis=0))).sum(axis=0)
        return ratio if np.nanmedian(np.sign(values)) >= 0 else Ratio(-ratio.numerator, -ratio.denominator)

    def parts(self) -> Iterator[tuple[sp.Expr, Search]]:
        """The goal as a sum of monomials in the symbols that no hypothesis restricts, each times a part of its own."""
        restricting = [*self.hypotheses, Ratio(self.goal.denominator, self.ring.one)]
        monomials = [m for h in restricting for p in (h.numerator, h.denominator) for m in p.itermonoms()]
        fixed = {i for m in monomials for i, exponent in enumerate(m) if exponent}
        free = [i for i, s in enumerate(self.symbols) if i not in fixed and s != self.parameter]
        groups: dict[tuple[int, ...], PolyElement] = {}
        for monomial, coefficient in self.goal.numerator.iterterms():
            rest = tuple(0 if i in free else e for i, e in enumerate(monomial))
            groups.setdefault(tuple(monomial[i] for i in free), self.ring.zero)[rest] = coefficient
        for key, numerator in groups.items():
            monomial = sp.Mul(*(self.symbols[i] ** e for i, e in zip(free, key, strict=True)))
            part = numerator.as_expr() / self.goal.denominator.as_expr()
            yield monomial, Search(dataclasses.replace(self.system, goal=part), self.parameter)

    def run(self, value: Fraction | None = None, hints: Sequence[Key] = ()) -> Iterator[SubstitutionCertificate]:
        """Without a parameter the first certificate, if one is found; with one, a candidate for each way (`threshold`).

        Ways that worked elsewhere (``hints``) come first, then small sets of hypotheses, which make small polynomials.
        ``value`` is the parameter's, for which a candidate has to look right at random points.
        """
        seen: set[Key] = set()
        for path in itertools.islice(itertools.chain(self._followed(hints), self._ways()), _LOOKED_AT):
            if len(seen) == _EXPANDED:
                return
            spend(_LOOK)
            key = key_of([step.pivot for step in path])
            if key in seen or not self._plausible(path, value):
                continue
            seen.add(key)
            goal = self.goal
            for step in path:
                goal = goal.put(step.x, step.above, step.below)
            if self.parameter is not None or goal.definite:
                yield SubstitutionCertificate(self.system, tuple(step.pivot for step in path), goal)
                if self.parameter is None:
                    return

    def _ways(self) -> Iterator[tuple[_Step, ...]]:
        domains = len(self.hypotheses) - len(self.system.hypotheses)
        numbered = list(enumerate(self.hypotheses))
        for size in range(len(self.system.hypotheses) + 1):
            for subset in itertools.combinations(numbered[domains:], size):
                for order in ([*numbered[:domains], *subset], [*subset, *numbered[:domains]]):
                    yield from self._paths(order)

    def _followed(self, hints: Sequence[Key]) -> Iterator[tuple[_Step, ...]]:
        for hint in hints:
            hypotheses, path = dict(enumerate(self.hypotheses)), []
            for index, name, kind in hint:
                steps = self._choices(index, hypotheses[index]) if index in hypotheses else []
                step = next((s for s in steps if (s.pivot.symbol.name, s.pivot.kind) == (name, kind)), None)
                if step is None:
                    break
                path.append(step)
                hypotheses = {i: h.put(step.x, step.above, step.below) for i, h in hypotheses.items() if i != index}
            else:
                yield tuple(path)

    def negative_points(self) -> Iterator[dict[sp.Symbol, Fraction]]:
        """Points at which the hypotheses that could be used up hold and the goal is negative, most negative first."""
        numbered = list(enumerate(self.hypotheses))
        domains = len(self.hypotheses) - len(self.system.hypotheses)
        orders = ([*numbered[domains:], *numbered[:domains]], numbered)
        paths = [path for order in orders for path in itertools.islice(self._paths(order), 8)]
        exponents, coefficients = _arrays(self.goal.numerator)
        if not len(coefficients):
            return
        for number, path in enumerate(sorted(paths, key=len, reverse=True)):
            logs = self._drawn(path, np.random.default_rng(number))
            new = logs.copy()
            with np.errstate(all="ignore"):
                _to_old(path, logs)
                size = exponents @ logs
                terms = coefficients[:, None] * np.exp(size - np.max(size, axis=0))
            totals = terms.sum(axis=0) / np.abs(terms).sum(axis=0)
            for draw in np.argsort(totals)[:_DRAWS_KEPT]:
                if not totals[draw] < -_ROUNDING:
                    break
                yield self._exact(path, new[:, draw])

    def _drawn(self, path: Sequence[_Step], rng: np.random.Generator) -> NDArray[np.float64]:
        """Logarithms of the new symbols: of many sizes, zeros among those that may be 0, whole numbers where needed."""
        logs = rng.uniform(-1.0, 1.0, (len(self.symbols), _DRAWS)) * rng.choice([1.0, 8.0, 24.0], _DRAWS)
        pivoted = {step.x for step in path}
        whole = {s for s in self.symbols if s - 1 in set(all_hypotheses(self.system))}
        for x, symbol in enumerate(self.symbols):
            if symbol in whole:
                with np.errstate(divide="ignore"):
                    logs[x] = np.log(np.floor(np.exp(np.abs(logs[x])) + (x not in pivoted)))
            if x in pivoted or not symbol.is_positive:
                logs[x] = np.where(rng.random(_DRAWS) < _ZEROS, _ZERO, logs[x])
        return np.maximum(logs, _ZERO)

    def _exact(self, path: Sequence[_Step], logs: NDArray[np.float64]) -> dict[sp.Symbol, Fraction]:
        """The old symbols' values, in fractions, at the new ones with few digits."""
        values = [Fraction(0) if log <= _ZERO else Fraction(f"{math.exp(log):.4g}") for log in logs]
        whole = {x for x, s in enumerate(self.symbols) if s - 1 in set(all_hypotheses(self.system))}
        values = [Fraction(round(math.exp(logs[x]))) if x in whole and v else v for x, v in enumerate(values)]
        for step in reversed(path):
            below = _at(step.below, values)
            if not below:
                break
            values[step.x] = _at(step.above, values) / below
        return dict(zip(self.symbols, values, strict=True))

    def _paths(
        self, hypotheses: Sequence[tuple[int, Ratio]], path: tuple[_Step, ...] = ()
    ) -> Iterator[tuple[_Step, ...]]:
        """Ways to use up hypotheses in that order, where they can be."""
        hypotheses = [(i, h) for i, h in hypotheses if not h.definite]
        for position, (index, hypothesis) in enumerate(hypotheses):
            choices = self._choices(index, hypothesis)
            others = hypotheses[:position] + hypotheses[position + 1 :]
            for step in choices:
                rest = [(i, h.put(step.x, step.above, step.below)) for i, h in others]
                yield from self._paths(rest, (*path, step))
            if choices:
                return
        yield path

    def _plausible(self, path: Sequence[_Step], value: Fraction | None) -> bool:
        """Whether the goal is nonnegative at random values of the new symbols."""
        rng = np.random.default_rng(0)
        logs = rng.uniform(-9.0, 9.0, (len(self.symbols), _SAMPLES))
        if self.parameter is not None and value is not None:
            logs[self.symbols.index(self.parameter)] = math.log(value)
        with np.errstate(all="ignore"):
            _to_old(path, logs)
            exponents, coefficients = _arrays(self.goal.numerator)
            terms = coefficients[:, None] * np.exp(exponents @ logs - np.max(exponents @ logs, axis=0))
        total, size = terms.sum(axis=0), np.abs(terms).sum(axis=0)
        return not np.any(total < -_ROUNDING * size)

    def _choices(self, index: int, hypothesis: Ratio) -> list[_Step]:
        """Pivots on a hypothesis."""
        choices = []
        for x, symbol in enumerate(self.symbols):
            parts = by_power(hypothesis.numerator, x)
            if symbol == self.parameter or not set(parts) <= {0, 1} or 1 not in parts:
                continue
            slope, rest = parts[1], parts.get(0, self.ring.zero)
            for kind in HypothesisKind:
                pivot = Pivot(index, symbol, kind, slope, rest, hypothesis.denominator)
                if pivot.justified and (kind is not HypothesisKind.AT_MOST or rest):
                    choices.append(_Step(pivot, x, *pivot.value))
        return sorted(choices, key=lambda step: (step.pivot.kind is HypothesisKind.AT_MOST, -step.x))


@dataclass(frozen=True)
class _Step:
    """A pivot with the position of its symbol and what is substituted, above/below."""

    pivot: Pivot
    x: int
    above: PolyElement
    below: PolyElement


def _to_old(path: Sequence[_Step], logs: NDArray[np.float64]) -> None:
    """Turn the new symbols' logarithms into the old ones', in place."""
    for step in reversed(path):
        logs[step.x] = _log_value(step.above, logs) - _log_value(step.below, logs)


def _at(poly: PolyElement, values: Sequence[Fraction]) -> Fraction:
    """A polynomial in fractions."""
    total = Fraction(0)
    for monomial, coefficient in poly.iterterms():
        total += int(coefficient) * math.prod(v**e for v, e in zip(values, monomial, strict=True) if e)
    return total


def _arrays(poly: PolyElement) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Exponents (terms, symbols) and coefficients (terms)."""
    exponents = np.array([m for m, _ in poly.iterterms()], dtype=np.float64)
    return exponents, np.array([float(c) for _, c in poly.iterterms()])


def _log_value(poly: PolyElement, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of a polynomial without negative coefficients."""
    exponents, coefficients = _arrays(poly)
    if not len(coefficients):
        return np.full(logs.shape[1], -np.inf)
    size: NDArray[np.float64] = np.logaddexp.reduce(exponents @ logs + np.log(coefficients)[:, None], axis=0)
    return size


def threshold(certificate: SubstitutionCertificate, parameter: sp.Symbol) -> sp.Expr:
    """The least value of the parameter from which on no coefficient is negative; infinite where there is none."""
    found = set()
    for poly in (certificate.goal.numerator, certificate.goal.denominator):
        last = poly.ring.symbols.index(parameter)
        grouped: dict[tuple[int, ...], dict[int, int]] = {}
        for monomial, coefficient in poly.iterterms():
            rest = (*monomial[:last], 0, *monomial[last + 1 :])
            grouped.setdefault(rest, {})[monomial[last]] = int(coefficient)
        found |= {_descending(powers) for powers in grouped.values()}
    # Few of the many polynomials decide; those are solved exactly.
    sizes = {coefficients: _last_root(coefficients) for coefficients in found if min(coefficients) < 0}
    largest = max(sizes.values(), default=0.0)
    if math.isinf(largest):
        return sp.oo
    deciding = [coefficients for coefficients, root in sizes.items() if root >= largest * (1 - 1e-6)]
    roots = [root for each in deciding for root in sp.real_roots(sp.Poly(each, sp.Dummy()))]
    return max([sp.Integer(0), *roots], key=lambda root: sp.N(root, 30))


def _descending(powers: Mapping[int, int]) -> tuple[int, ...]:
    """The coefficients of a univariate polynomial without their common factor, highest power first."""
    common, low, high = math.gcd(*powers.values()), min(powers), max(powers)
    return tuple(powers.get(power, 0) // common for power in range(high, low - 1, -1))


def _last_root(coefficients: tuple[int, ...]) -> float:
    """The largest positive root, 0 where there is none; infinite where the polynomial ends negative."""
    if coefficients[0] < 0:
        return math.inf
    roots = np.roots([float(each) for each in coefficients])
    return max([0.0, *(float(root.real) for root in roots if abs(root.imag) <= 1e-6 * abs(root))])
