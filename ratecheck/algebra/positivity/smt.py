"""z3 in a process of its own: queried in SMT-LIB, stopped by its own count of work.

Its answers are used only where no certificate and no counterexample was found.
"""

from __future__ import annotations

import atexit
import json
import select
import subprocess
import sys
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import IO

import sympy as sp

from ratecheck import ending
from ratecheck.algebra.positivity.polynomial import System
from ratecheck.algebra.positivity.substitution import all_hypotheses, symbols_of

_PROCESS = Path(__file__).parent / "z3_process.py"
# z3's own unit of work, of which it does about so many in a second of a quiet machine.
_WORK = 1_200_000
# What `refute` may spend.
_SECONDS = 10.0
# Seconds after which a process that z3's own count does not stop is killed; no verdict rests on that.
_LATE = 60.0


class Solver:
    """A process that the first query starts, and the first one after it was killed; ``killed`` says how often."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.killed = 0

    def check(self, text: str, seconds: float, logic: str = "", late: float = _LATE) -> tuple[str, dict[str, Fraction]]:
        """The answer to a query in SMT-LIB: "unsat", "sat" with a (rounded) model, "unknown" or "killed".

        ``seconds`` stands for as much work as a quiet machine does in them, and z3 counts the work. Only where it does
        not come to an end all the same, it is killed, after as many seconds of the clock and ``late`` more.
        """
        if self._process is None or self._process.poll() is not None:
            self._start()
        process = self._process
        assert process is not None
        query = {"text": text, "work": max(1, int(_WORK * seconds)), "logic": logic}
        try:
            _stream(process.stdin).write(json.dumps(query) + "\n")
            _stream(process.stdin).flush()
            ready, _, _ = select.select([_stream(process.stdout)], [], [], seconds + late)
            line = _stream(process.stdout).readline() if ready else ""
        except OSError:
            line = ""
        except BaseException:
            # A late answer must not be taken for the answer to the next query.
            self.close()
            raise
        if not line:
            self.close()
            self.killed += 1
            return "killed", {}
        found = json.loads(line)
        return found["answer"], {name: Fraction(int(p), int(q)) for name, (p, q) in found["model"].items()}

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # a script of ours
            [sys.executable, str(_PROCESS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        ending.adopt(self._process)
        atexit.register(self.close)

    def close(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            for stream in (self._process.stdin, self._process.stdout):
                try:
                    _stream(stream).close()
                except OSError:
                    continue
            self._process.wait()
            ending.release(self._process)
            self._process = None


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


SOLVER = Solver()


def decide(system: System, seconds: float) -> tuple[str, dict[sp.Symbol, Fraction]]:
    """Whether the goal can fail: "unsat" (proved), "sat" with a point to be checked, "unknown", or "killed".

    Every denominator is asserted to be different from 0; roots were replaced by symbols with equations before. Without
    a logic z3 looks for the tactic itself.
    """
    expressions = (system.goal, *system.hypotheses)
    names = _names(sorted({s for expr in expressions for s in expr.free_symbols}, key=str))
    lines = _declared(names, whole=True)
    for number, expr in enumerate(expressions):
        numerator, denominator = sp.fraction(sp.together(expr))
        if not denominator.is_number:
            lines.append(f"(assert (distinct {written(denominator, names)} 0.0))")
        operator = _fails(system) if number == 0 else ">="
        lines.append(f"(assert ({operator} {written(sp.expand(numerator * denominator), names)} 0.0))")
    answer, model = SOLVER.check("\n".join(lines), seconds)
    return answer, _point(model, names)


def refute(system: System, seconds: float = _SECONDS) -> bool | dict[sp.Symbol, Fraction]:
    """True where z3 proves the goal, a point where it is negative, or False where z3 does not know.

    ``seconds`` stands for work, as for `Solver.check`. By z3's tactic for polynomials, with what the domains of the
    symbols say; a hypothesis times the square of its denominator counts also where that is 0.
    """
    names = _names(symbols_of(system))
    lines = _declared(names)
    for expr in all_hypotheses(system):
        numerator, denominator = sp.fraction(sp.together(expr))
        lines.append(f"(assert (>= {written(numerator * denominator, names)} 0.0))")
    numerator, denominator = sp.fraction(sp.together(system.goal))
    lines.append(f"(assert (not (= {written(denominator, names)} 0.0)))")
    # The goal times the square of its denominator, so that no quotient is left.
    lines.append(f"(assert ({_fails(system)} {written(numerator * denominator, names)} 0.0))")
    answer, model = SOLVER.check("\n".join(lines), seconds, "QF_NRA")
    return _point(model, names) if answer == "sat" else answer == "unsat"


def _names(symbols: Iterable[sp.Symbol]) -> dict[sp.Symbol, str]:
    return {symbol: f"x{i}" for i, symbol in enumerate(symbols)}


def _declared(names: Mapping[sp.Symbol, str], *, whole: bool = False) -> list[str]:
    """Symbols with their signs; ``whole`` says that a positive whole number is at least 1."""
    lines = [f"(declare-const {name} Real)" for name in names.values()]
    for symbol, name in names.items():
        if whole and symbol.is_integer and symbol.is_positive:
            lines.append(f"(assert (>= {name} 1.0))")
        elif symbol.is_nonnegative:
            lines.append(f"(assert ({'>' if symbol.is_positive else '>='} {name} 0.0))")
    return lines


def _fails(system: System) -> str:
    """The relation of the goal to 0 where it fails."""
    return "<=" if system.strict else "<"


def _point(model: Mapping[str, Fraction], names: Mapping[sp.Symbol, str]) -> dict[sp.Symbol, Fraction]:
    return {symbol: model.get(name, Fraction(1)) for symbol, name in names.items()}


def written(expr: sp.Expr, names: Mapping[sp.Symbol, str]) -> str:
    """A polynomial in SMT-LIB."""
    if expr.is_Symbol:
        return names[expr]
    if expr.is_Rational:
        size = f"(/ {abs(expr.p)}.0 {expr.q}.0)"
        return f"(- {size})" if expr < 0 else size
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        return f"(* {' '.join([written(expr.base, names)] * int(expr.exp))} 1.0)"
    if expr.is_Add or expr.is_Mul:
        return f"({'+' if expr.is_Add else '*'} {' '.join(written(argument, names) for argument in expr.args)})"
    raise ValueError(f"{expr} is no polynomial")
