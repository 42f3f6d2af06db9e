"""Short ways to write a ledger: the proof of a statement, whose steps it makes, and their checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from bounds.ledger.step import (
    Algebraic,
    Check,
    Draws,
    Enumerated,
    Gram,
    Identity,
    Matrices,
    Number,
    Scalar,
    Side,
    Step,
    StepKind,
)
from bounds.statement import Condition


class Proof:
    """The proof of the statement of key ``of``, printed at ``place``; called, it makes the next of its steps.

    Steps have ids ``<ids>-<number>``, with ``of`` for ``ids`` where that is empty, and numbers from ``first`` on.
    """

    def __init__(self, of: str, place: str = "", ids: str = "", *, first: int = 1) -> None:
        self._of, self._place, self._ids, self._next = of, place, ids or of, first

    def __call__(self, location: str, claim: str, check: Check, *, number: int | None = None, **more: Any) -> Step:
        """The step after the one made last, or of that ``number``; ``more`` are other fields of `Step`."""
        number = self._next if number is None else number
        self._next = number + 1
        place = ", ".join(filter(None, (self._place, location)))
        return Step(id=f"{self._ids}-{number}", location=place, claim=claim, of=self._of, check=check, **more)


def at_most(left: Side, right: Side, *hypotheses: Condition, operator: str = "<=") -> Scalar:
    """``left <= right`` between scalar quantities, or with another operator."""
    return Scalar(left=left, operator=operator, right=right, hypotheses=hypotheses)


def same(left: Side, right: Side) -> Identity:
    """``left == right``, exactly."""
    return Identity(left=left, right=right)


def gram(
    left: Side, right: Side, *hypotheses: Condition, operator: str = "<=", where: tuple[Condition, ...] = ()
) -> Gram:
    """``left <= right`` between squared norms and inner products; ``where`` restricts scalars."""
    return Gram(left=left, operator=operator, right=right, hypotheses=hypotheses, conditions=where)


def counting(
    sides: Callable[..., Any],
    operator: str = "<=",
    *,
    clients: tuple[int, ...] = (1, 2),
    rounds: tuple[int, ...] = (1, 2, 3, 4),
    form: Callable[..., Algebraic] | None = None,
    **constants: Number,
) -> Enumerated:
    """A check on every participation matrix of these sizes, and its ``form`` for all of them where there is one."""
    return Enumerated(
        kind=StepKind.COUNTING,
        sides=sides,
        operator=operator,
        instances=Matrices(clients=clients, rounds=rounds),
        constants=constants,
        form=form,
    )


def drawn(
    sides: Callable[..., Any],
    operator: str = "<=",
    *,
    kind: StepKind = StepKind.EXPECTATION,
    count: int = 40,
    form: Callable[..., Algebraic] | None = None,
    **constants: Number,
) -> Enumerated:
    """A check on small random instances, and its ``form`` for all values where there is one."""
    return Enumerated(
        kind=kind, sides=sides, operator=operator, instances=Draws(count=count), constants=constants, form=form
    )


def nonnegative(names: str) -> Any:
    """Symbols for numbers from 0 on, from their names with spaces between them."""
    return sp.symbols(names, nonnegative=True)


def positives(names: str) -> Any:
    """Symbols for positive numbers."""
    return sp.symbols(names, positive=True)


def reals(names: str) -> Any:
    """Symbols for real numbers."""
    return sp.symbols(names, real=True)


def wholes(names: str) -> Any:
    """Symbols for whole numbers from 1 on."""
    return sp.symbols(names, integer=True, positive=True)
