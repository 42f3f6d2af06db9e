"""The worst case over all convex functions at a few small sizes, beside the search: no quadratic reaches it.

Where a statement speaks of a minimum, quadratics are often far from the worst: gradient descent is slowest on functions
that are a slope and then a bowl. Such runs are small, so that `worst_case` encloses them in a fraction of a second.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bounds.statement import Assumption, Statement
from ratecheck.errors import InputError
from ratecheck.falsification.modelled import degrees
from ratecheck.falsification.performance_estimation.worst_case import WorstCase, worst_case
from ratecheck.falsification.unconfirmed import Unconfirmed, larger
from ratecheck.settings.applicability import counts
from ratecheck.settings.convexity import any_sign
from ratecheck.stepsizes.feasible_set import step_names

# Clients, local steps and rounds, of which a statement may set some itself.
_SIZES = ({"n": 1, "K": 1, "T": 4}, {"n": 1, "K": 2, "T": 2}, {"n": 2, "K": 1, "T": 2})
# One of two clients in one round, where clients are sampled uniformly.
_SAMPLED = {"n": 2, "m": 1, "K": 1, "T": 1}
# Whole numbers that fix a size of the run, such as k in T = 2^k.
_COUNT = 2
# Constants by fact; with L = 1 and starts of size 1 a step size is a share of 1/L.
_CONSTANTS = {
    "L": 1.0,
    "F_0": 1.0,
    "distance2_0": 1.0,
    "strong_convexity": 0.1,
    "gradient_bound": 1.0,
    "b": 1.0,
    "B_0": 2.0,
}
# Steps that are tried where no condition limits them, by whether they have a unit.
_OPEN = ({True: 0.5, False: 1.0}, {True: 1.5, False: 1.0})


@dataclass(frozen=True)
class WorstFunctions:
    """The worst cases that were enclosed, or the ``reason`` for which none was."""

    cases: tuple[WorstCase, ...] = ()
    reason: str = ""

    @property
    def worst(self) -> WorstCase | None:
        """The case that fails by most, or comes closest to failing."""
        return max(self.cases, key=lambda each: each.worst.excess, default=None)

    @property
    def violated(self) -> bool:
        """Whether an exactly checked instance has a larger left side than right side."""
        return any(each.violated for each in self.cases)

    @property
    def unconfirmed(self) -> Unconfirmed | None:
        """The largest excess that a solver reports without a checked instance; None without one."""
        return larger(
            *(
                Unconfirmed(
                    each.upper.left / each.lower.right if each.lower.right > 0 else math.inf,
                    "a function of small runs, " + ", ".join(f"{k}={v:.6g}" for k, v in case.case.values.items()),
                    f"that is a solver's upper value, and a checked instance has {each.lower.left:.6g} on the left and "
                    f"{each.lower.right:.6g} on the right",
                )
                for case in self.cases
                if case.undecided
                for each in case.enclosures
                if not (each.holds or each.close)
            )
        )

    @property
    def tightness(self) -> float | None:
        """The largest left side / right side of a checked instance; None where no right side is positive."""
        ratios = [each.lower.left / each.lower.right for case in self.cases for each in case.enclosures
                  if each.lower.right > 0]  # fmt: skip
        return max(ratios, default=None)


def worst_functions(statement: Statement, seed: int = 0) -> WorstFunctions:
    """The cases that are covered at `_SIZES`; none for statements about functions that need not be convex."""
    if any_sign(statement):
        return WorstFunctions(reason="it is about functions that need not be convex")
    if importlib.util.find_spec("clarabel") is None:
        return WorstFunctions(reason="the extra 'pep' is not installed")
    cases, reason = [], ""
    for given in _given(statement):
        try:
            found = worst_case(statement, given, seed=seed)
        except InputError as error:
            reason = reason or str(error)
            continue
        # A condition that is not decided gives no violation.
        if all(check.holds for check in found.case.statement.check_conditions(found.case.values)):
            cases.append(found)
        if cases and cases[-1].violated:
            break
    return WorstFunctions(tuple(cases), "" if cases else reason)


def _given(statement: Statement) -> Iterator[Mapping[str, float]]:
    """The numbers that are tried in turn."""
    facts = statement.vocabulary.facts
    known = {name: _CONSTANTS[fact] for name, fact in facts.items() if fact in _CONSTANTS}
    known = {name: value for name, value in known.items() if name in statement.parameters or name == "L"}
    ruled = {rule.symbol.name for rule in statement.step_rules}
    open_ = [name for name in step_names(statement) if name not in ruled]
    steps = {name: degrees(statement.vocabulary, name) != (0, 0) for name in open_}
    known |= dict.fromkeys(counts(statement), float(_COUNT))
    sampled = Assumption.UNIFORM_SAMPLING in statement.assumptions and "m" in statement.vocabulary
    seen = []
    for sizes in (*_SIZES, _SAMPLED) if sampled else _SIZES:
        # Gradients of several clients are far apart without end unless something limits them at the start.
        apart = {name: _CONSTANTS[fact] for name, fact in facts.items() if fact == "B_0" and sizes["n"] > 1}
        given = {name: float(v) for name, v in {**known, **apart, **sizes}.items() if name not in statement.settings}
        for more in ({}, *({name: kind[steps[name]] for name in steps} for kind in _OPEN)):
            if (together := {**given, **more}) not in seen:
                seen.append(together)
                yield together
