"""Assumptions that no function meets together, each with its proof.

Numbers that exclude each other are found in conditions (`bounds.consistency`, the linter). These are about functions:
each entry says why in one sentence, and as inequalities between numbers that have no solution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sympy as sp

from bounds.assumption import Assumption
from bounds.statement import Condition


@dataclass(frozen=True, kw_only=True)
class Incompatible:
    """``assumptions`` that leave no function, ``why`` in words, and ``proof``: inequalities that exclude each other.

    ``but`` are the functions that are left, where there are trivial ones: constants. ``instead`` is what a statement
    may assume in their place.
    """

    assumptions: frozenset[Assumption]
    why: str
    proof: tuple[Condition, ...]
    but: str = ""
    instead: str

    @property
    def text(self) -> str:
        """Message for the reader."""
        names = sorted(each.name.lower() for each in self.assumptions)
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        only = f"no such function but {self.but}" if self.but else "no such function"
        return f"{only}: {listed} exclude each other, since {self.why}"


def _below(left: sp.Expr, right: sp.Expr) -> Condition:
    return Condition(name=f"{left} <= {right}", left=sp.sympify(left), operator="<=", right=sp.sympify(right))


mu, G, norm, rise, slope = sp.symbols("mu G norm rise slope", positive=True)
shared, personal = sp.symbols("shared personal", nonnegative=True)
_ONLY_LINEAR = "a bound where the run evaluates gradients (visited_gradients), or on the noise alone"

INCOMPATIBLE = (
    Incompatible(
        assumptions=frozenset({Assumption.STRONG_CONVEXITY, Assumption.BOUNDED_GRADIENTS}),
        why="||grad f(x)|| >= mu ||x - x*|| exceeds every G far away (Nguyen et al., ICML 2018)",
        # At a point x with ||x - x*|| = norm = 2 G / mu, where slope = ||grad f(x)||.
        proof=(_below(mu * norm, slope), _below(slope, G), _below(2 * G / mu, norm)),
        instead=_ONLY_LINEAR,
    ),
    Incompatible(
        assumptions=frozenset({Assumption.POLYAK_LOJASIEWICZ, Assumption.BOUNDED_GRADIENTS, Assumption.SMOOTHNESS}),
        why="along x' = grad f(x) the gap f - f* grows like exp(2 mu_PL s), and it is at most G^2/(2 mu_PL)",
        # The gap at a point, and ``rise`` more than G^2/(2 mu) later on: 2 mu gap <= slope^2 <= G^2.
        proof=(_below(2 * mu * rise, slope**2), _below(slope, G), _below(G**2 / mu, rise)),
        but="a constant",
        instead=_ONLY_LINEAR,
    ),
    Incompatible(
        assumptions=frozenset({Assumption.NO_PERSONAL, Assumption.NO_SHARED}),
        why="they have no variable left",
        # One variable at least, and none of either kind.
        proof=(_below(1, shared + personal), _below(shared, 0), _below(personal, 0)),
        instead="one of them",
    ),
)


def incompatible(assumptions: Iterable[Assumption]) -> Iterator[Incompatible]:
    """The entries that are all among these assumptions."""
    assumed = {*assumptions}
    return (entry for entry in INCOMPATIBLE if entry.assumptions <= assumed)
