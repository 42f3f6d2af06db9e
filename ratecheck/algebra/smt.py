"""z3 on a system: believed only where nothing better is found."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from ratecheck.algebra.polynomial import System
from ratecheck.algebra.refutation import SOLVER, Solver, smt

__all__ = ["SOLVER", "Solver", "decide"]


def decide(system: System, seconds: float) -> tuple[str, dict[sp.Symbol, Fraction]]:
    """Whether the goal can fail: "unsat" (proved), "sat" with a point to be checked, "unknown", or "killed".

    Every denominator is asserted to be different from 0; roots were replaced by symbols with equations before.
    """
    expressions = (system.goal, *system.hypotheses)
    symbols = sorted({s for expr in expressions for s in expr.free_symbols}, key=str)
    names = {symbol: f"x{i}" for i, symbol in enumerate(symbols)}
    lines = [f"(declare-const {name} Real)" for name in names.values()]
    lines += [f"(assert ({_domain(symbol)}))".replace("@", name) for symbol, name in names.items() if _domain(symbol)]
    for number, expr in enumerate(expressions):
        numerator, denominator = sp.fraction(sp.together(expr))
        if not denominator.is_number:
            lines.append(f"(assert (distinct {smt(denominator, names)} 0.0))")
        product = smt(sp.expand(numerator * denominator), names)
        operator = ("<=" if system.strict else "<") if number == 0 else ">="
        lines.append(f"(assert ({operator} {product} 0.0))")
    answer, model = SOLVER.ask("\n".join(lines), seconds)
    back = {name: symbol for symbol, name in names.items()}
    point = {back[name]: value for name, value in model.items() if name in back}
    return answer, {symbol: point.get(symbol, Fraction(1)) for symbol in symbols}


def _domain(symbol: sp.Symbol) -> str:
    if symbol.is_integer and symbol.is_positive:
        return ">= @ 1.0"
    if symbol.is_positive:
        return "> @ 0.0"
    return ">= @ 0.0" if symbol.is_nonnegative else ""
