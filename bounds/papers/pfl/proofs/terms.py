"""Constructors that keep the steps of this ledger short, and symbols that several of its modules share.

Hats are left out: u_ik and v_ik are the virtual sequences. A step ``name`` gets the id ``pfl/name`` and belongs to the
statement whose key is the id without its last number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from bounds import symbols as s
from bounds.ledger.step import Algebraic, Draws, Enumerated, Gram, Identity, Number, Scalar, Side, Step, StepKind, below
from bounds.ledger.vectors import Vector, square
from bounds.statement import Condition

# D is sum_ik E||grad_u f_i(u_ik, v_ik) - grad_u f_i(u^t, v_i^t)||^2, and D_v the same of the personal gradients.
D, D_v = sp.symbols("D D_v", nonnegative=True)
# M is the mean over rounds of the left side of a theorem, A the noise and dissimilarity in a corollary's root, and
# s the root in its step size.
M, A, root = sp.symbols("M A s", nonnegative=True)
# The cube root of n: n^(2/3) is r^2.
r = sp.Symbol("r", positive=True)


def _step(name: str, where: str, claim: str, check: Any, more: dict[str, Any]) -> Step:
    return Step(id=f"pfl/{name}", location=where, claim=claim, of=f"pfl/{name.rsplit('-', 1)[0]}", check=check, **more)


def scalar(
    name: str,
    where: str,
    claim: str,
    left: Side,
    right: Side,
    *hypotheses: Condition,
    operator: str = "<=",
    **more: Any,
) -> Step:
    """A step between scalar quantities."""
    check = Scalar(left=left, operator=operator, right=right, hypotheses=hypotheses)
    return _step(name, where, claim, check, more)


def identity(name: str, where: str, claim: str, left: Side, right: Side, **more: Any) -> Step:
    """A step that is an exact equality."""
    return _step(name, where, claim, Identity(left=left, right=right), more)


def gram(
    name: str,
    where: str,
    claim: str,
    left: sp.Expr,
    right: sp.Expr,
    *hypotheses: Condition,
    operator: str = "<=",
    conditions: tuple[Condition, ...] = (),
    **more: Any,
) -> Step:
    """A step between squared norms and inner products."""
    check = Gram(left=left, operator=operator, right=right, hypotheses=hypotheses, conditions=conditions)
    return _step(name, where, claim, check, more)


def drawn(
    sides: Callable[..., Any],
    operator: str = "<=",
    kind: StepKind = StepKind.EXPECTATION,
    count: int = 40,
    form: Callable[..., Algebraic] | None = None,
    **constants: Number,
) -> Enumerated:
    """A check on small exact instances, and its ``form`` for all values where there is one."""
    return Enumerated(
        kind=kind, sides=sides, operator=operator, instances=Draws(count=count), constants=constants, form=form
    )


def on_runs(
    name: str,
    where: str,
    claim: str,
    sides: Callable[..., Any],
    operator: str = "<=",
    kind: StepKind = StepKind.EXPECTATION,
    constants: Mapping[str, Number] | None = None,
    count: int = 40,
    form: Callable[..., Algebraic] | None = None,
    **more: Any,
) -> Step:
    """A step that small exact instances check; ``constants`` are the printed ones, by the function's names."""
    return _step(name, where, claim, drawn(sides, operator, kind, count, form, **(constants or {})), more)


def smooth(after: Vector, middle: Vector, before: Vector, du: Vector, dv: Vector) -> tuple[Condition, ...]:
    """Smoothness along (u, v) -> (u, v + dv) -> (u + du, v + dv): the gradient is before, then middle, then after."""
    return (
        below(square(after - middle), s.L**2 * square(du)),
        below(square(middle - before), s.L**2 * square(dv)),
    )
