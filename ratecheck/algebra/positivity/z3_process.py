"""A process that answers queries in SMT-LIB, one line of JSON each, so that it can be killed at any time.

Run as a script: a query is ``{"text": ..., "work": ..., "logic": ...}``, the answer ``{"answer": "unsat" | "sat" |
"unknown", "model": {name: [numerator, denominator]}}``. Every query gets a solver of its own, which may do so much
work, counted by z3 itself: the answer is the same on every machine and under any load. Algebraic numbers of a model are
rounded: the caller has to check the point.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

_DIGITS = 30


def main() -> None:
    """Answer until the input ends."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    import z3

    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(z3, json.loads(line))) + "\n")
        sys.stdout.flush()


def answer(z3: Any, query: dict[str, Any]) -> dict[str, Any]:
    """The answer to one query."""
    # A context of its own: earlier queries have no say.
    context = z3.Context()
    logic = query.get("logic")
    solver = z3.SolverFor(logic, ctx=context) if logic else z3.Solver(ctx=context)
    solver.set("rlimit", query["work"])
    try:
        solver.add(z3.parse_smt2_string(query["text"], ctx=context))
        found = str(solver.check())
    except z3.Z3Exception:
        return {"answer": "unknown", "model": {}}
    return {"answer": found, "model": _numbers(z3, solver.model()) if found == "sat" else {}}


def _numbers(z3: Any, model: Any) -> dict[str, list[str]]:
    numbers: dict[str, list[str]] = {}
    for variable in model.decls():
        value = model[variable]
        if z3.is_algebraic_value(value):
            value = value.approx(_DIGITS)
        if z3.is_rational_value(value) or z3.is_int_value(value):
            fraction = value.as_fraction() if z3.is_rational_value(value) else value.as_long()
            numbers[variable.name()] = [str(fraction.numerator), str(fraction.denominator)]
    return numbers


def _end_with_parent(parent: int) -> None:
    """Nobody waits for the answer any more, even where nobody could say so."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
