"""A process that answers questions in SMT-LIB, one line of JSON each, so that it can be killed at any time.

Run as a script: a question is ``{"text": ..., "milliseconds": ...}``, the answer ``{"answer": "unsat" | "sat" |
"unknown", "model": {name: [numerator, denominator]}}``. Every question gets a solver of its own. Algebraic numbers of a
model are rounded: whoever asks has to check the point.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Answer until the input ends."""
    import z3

    for line in sys.stdin:
        question = json.loads(line)
        solver = z3.Solver()
        solver.set("timeout", question["milliseconds"])
        try:
            solver.add(z3.parse_smt2_string(question["text"]))
            answer = str(solver.check())
        except z3.Z3Exception:
            answer = "unknown"
        model = {}
        if answer == "sat":
            found = solver.model()
            for variable in found.decls():
                value = found[variable]
                if z3.is_algebraic_value(value):
                    value = value.approx(30)
                if z3.is_rational_value(value) or z3.is_int_value(value):
                    fraction = value.as_fraction() if z3.is_rational_value(value) else value.as_long()
                    model[variable.name()] = [str(fraction.numerator), str(fraction.denominator)]
        sys.stdout.write(json.dumps({"answer": answer, "model": model}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
