"""z3 on a polynomial system: in a process of its own, so that it can be stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from ratecheck.checks.certificate import all_hypotheses, symbols_of
from ratecheck.checks.polynomial import System

# A hard end for a solver that does not come to one; the limit that counts is the work that it is allowed below.
_SECONDS = 120.0
# In z3's own unit, about ten seconds on a quiet machine: the same answer under any load.
_WORK = 12_000_000

# Reads a problem in SMT-LIB and prints "unsat", "unknown" or the values of a model.
_PROGRAM = """
import json, sys, z3
solver = z3.SolverFor("QF_NRA")
solver.set("rlimit", int(sys.argv[1]))
solver.from_string(sys.stdin.read())
answer = solver.check()
if answer == z3.sat:
    model = solver.model()
    values = {d.name(): model[d] for d in model}
    values = {k: v.approx(20) if z3.is_algebraic_value(v) else v for k, v in values.items()}
    print(json.dumps({k: v.as_fraction().__str__() for k, v in values.items()}))
else:
    print(json.dumps(str(answer)))
"""


def refute(system: System, seconds: float = _SECONDS) -> bool | dict[sp.Symbol, Fraction]:
    """True where z3 proves the goal, a point where it is negative, or False where z3 does not know in time."""
    symbols = symbols_of(system)
    names = {symbol: f"x{i}" for i, symbol in enumerate(symbols)}
    lines = [f"(declare-const {names[symbol]} Real)" for symbol in symbols]
    lines += [f"(assert ({_sign(symbol)} {names[symbol]} 0))" for symbol in symbols if symbol.is_nonnegative]
    for expr in all_hypotheses(system):
        numerator, denominator = sp.fraction(sp.together(expr))
        lines.append(f"(assert (>= {smt(numerator * denominator, names)} 0))")
    numerator, denominator = sp.fraction(sp.together(system.goal))
    lines.append(f"(assert (not (= {smt(denominator, names)} 0)))")
    # The goal times the square of its denominator, so that no quotient is left.
    lines.append(f"(assert ({'<=' if system.strict else '<'} {smt(numerator * denominator, names)} 0))")
    try:
        done = subprocess.run(  # noqa: S603  # our own program
            [sys.executable, "-c", _PROGRAM, str(_WORK)],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return False
    answer = json.loads(done.stdout)
    if isinstance(answer, str):
        return answer == "unsat"
    return {symbol: Fraction(answer.get(name, "1")) for symbol, name in names.items()}


def _sign(symbol: sp.Symbol) -> str:
    return ">" if symbol.is_positive else ">="


def smt(expr: sp.Expr, names: Mapping[sp.Symbol, str]) -> str:
    """A polynomial in SMT-LIB."""
    if expr.is_Symbol:
        return names[expr]
    if expr.is_Rational:
        size = f"(/ {abs(expr.p)}.0 {expr.q}.0)"
        return f"(- {size})" if expr < 0 else size
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        return f"(* {' '.join([smt(expr.base, names)] * int(expr.exp))} 1.0)"
    if expr.is_Add or expr.is_Mul:
        return f"({'+' if expr.is_Add else '*'} {' '.join(smt(argument, names) for argument in expr.args)})"
    raise ValueError(f"{expr} is no polynomial")
