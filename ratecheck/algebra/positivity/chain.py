"""Certificates in two parts: lower bounds substituted in turn, x = C + x', then a combination of hypotheses."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from ratecheck.algebra.positivity.handelman import Combination, combine, nonnegative_polynomial, polynomial
from ratecheck.algebra.positivity.polynomial import System
from ratecheck.algebra.positivity.substitution import all_hypotheses


@dataclass(frozen=True)
class Put:
    """Hypothesis number ``hypothesis``, which says that the symbol is at least ``bound``, used up by x = bound + x'."""

    hypothesis: int
    symbol: sp.Symbol
    bound: sp.Expr


@dataclass(frozen=True)
class Chain:
    """Why ``system.goal`` is nonnegative: after the substitutions, ``last`` proves it."""

    system: System
    puts: tuple[Put, ...]
    last: Combination

    def check(self) -> bool:
        """Whether every substitution is justified by its hypothesis and the rest is what ``last`` proves."""
        current = _explicit(self.system)
        for put in self.puts:
            if not _justified(current.hypotheses[put.hypothesis], put):
                return False
            current = _put(current, put)
        same = self.last.system.goal == current.goal and self.last.system.hypotheses == current.hypotheses
        return same and self.last.check()

    @property
    def strict(self) -> bool:
        """Whether the goal is even positive; a symbol that was replaced no longer counts as positive."""
        return self.last.strict


def _explicit(system: System) -> System:
    """The system with the domains of whole numbers among the hypotheses, under plain symbols."""
    hypotheses = all_hypotheses(system)
    plain = {s: _plain(s) for s in _symbols(system) if s.is_integer}
    return System(
        polynomial(system.goal).xreplace(plain),
        system.strict,
        tuple(polynomial(h).xreplace(plain) for h in hypotheses),
        (False,) * len(hypotheses),
    )


def _plain(symbol: sp.Symbol) -> sp.Symbol:
    """The symbol as a number: positive if it was, whole no longer."""
    return sp.Symbol(symbol.name, positive=True) if symbol.is_positive else sp.Symbol(symbol.name, nonnegative=True)


def _symbols(system: System) -> set[sp.Symbol]:
    return {s for expr in (system.goal, *system.hypotheses) for s in sp.sympify(expr).free_symbols}


def _new(symbol: sp.Symbol) -> sp.Symbol:
    """The nonnegative symbol x' of a substitution x = bound + x'."""
    return sp.Symbol(symbol.name, nonnegative=True)


def _put(system: System, put: Put) -> System:
    value = {put.symbol: put.bound + _new(put.symbol)}
    return System(
        polynomial(system.goal.xreplace(value)),
        system.strict,
        tuple(polynomial(h.xreplace(value)) for h in system.hypotheses),
        system.positive,
    )


def _justified(hypothesis: sp.Expr, put: Put) -> bool:
    """Whether the hypothesis is something positive times x - bound, and the bound not negative."""
    slope = sp.diff(hypothesis, put.symbol)
    same = sp.expand(sp.fraction(sp.together(hypothesis - slope * (put.symbol - put.bound)))[0]) == 0
    above, below = sp.fraction(sp.together(put.bound))
    signs = all(nonnegative_polynomial(sp.expand(part)) for part in (slope, above, below))
    return same and signs and not slope.has(put.symbol) and slope != 0 and put.symbol.is_nonnegative


def chain(system: System) -> Chain | None:
    """Every hypothesis that is a lower bound substituted, as long as there is one, then a combination."""
    if not all(symbol.is_nonnegative for symbol in _symbols(system)):
        return None
    current, puts = _explicit(system), []
    for _ in range(len(current.hypotheses)):
        put = next((p for p in _lower_bounds(current) if p.symbol in current.goal.free_symbols), None)
        if put is None:
            break
        puts.append(put)
        current = _put(current, put)
    if not puts:
        return None
    last = combine(current, pairs=False) or combine(current)
    if last is None:
        return None
    found = Chain(system, tuple(puts), last)
    return found if found.check() else None


def _lower_bounds(system: System) -> list[Put]:
    """The hypotheses as lower bounds, those on symbols of few other hypotheses first."""
    found = []
    for number, hypothesis in enumerate(system.hypotheses):
        for symbol in sorted(hypothesis.free_symbols, key=str):
            slope = sp.diff(hypothesis, symbol)
            if slope == 0 or slope.has(symbol) or not nonnegative_polynomial(slope):
                continue
            rest = sp.expand(hypothesis - slope * symbol)
            if rest != 0 and nonnegative_polynomial(-rest):
                uses = sum(h.has(symbol) for h in system.hypotheses)
                found.append((uses, len(slope.free_symbols), Put(number, symbol, sp.cancel(-rest / slope))))
    return [put for _, _, put in sorted(found, key=lambda each: each[:2])]
