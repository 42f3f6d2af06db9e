"""z3 in a process of its own: asked in SMT-LIB, believed only where nothing better is found, killed when it is late."""

from __future__ import annotations

import atexit
import json
import select
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import IO

import sympy as sp

from ratecheck.checks.polynomial import System
from ratecheck.checks.solver import smt

_PROCESS = Path(__file__).with_name("z3_process.py")
_START = 15.0
_GRACE = 1.0


class Solver:
    """A process that is started when first asked and again after it had to be killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, text: str, seconds: float) -> tuple[str, dict[str, Fraction]]:
        """The answer to a question in SMT-LIB: "unsat", "sat" with a (rounded) model, or "unknown"."""
        started = self._process is None or self._process.poll() is not None
        if started:
            self._start()
        process = self._process
        assert process is not None
        try:
            _stream(process.stdin).write(json.dumps({"text": text, "milliseconds": int(1000 * seconds)}) + "\n")
            _stream(process.stdin).flush()
            ready, _, _ = select.select(
                [_stream(process.stdout)], [], [], seconds + _GRACE + (_START if started else 0)
            )
            line = _stream(process.stdout).readline() if ready else ""
        except OSError:
            line = ""
        except BaseException:
            # An answer that comes later must not be taken for the answer to the next question.
            self.close()
            raise
        if not line:
            self.close()
            return "unknown", {}
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
            self._process = None


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


SOLVER = Solver()


def decide(system: System, seconds: float) -> tuple[str, dict[sp.Symbol, Fraction]]:
    """Whether the goal can fail: "unsat" (proved), "sat" with a point to be checked, or "unknown".

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
