"""Symbols, and short ways to a check and to a step.

``eta`` is eta_g*eta_l. Sums over a run are symbols: Gamma is sum_t E||sum of the gradients in y^(t)||^2, D the sum of
the squared differences between K*sum_i grad f_i(x^t) and these gradients, G the sum of E||grad f(x^t)||^2, I the inner
products with the noise, W the sum of E||x^{t+1} - x^t||^2, X the drift sum_t sum_{i in A_t} sum_k E||x^{a_{i,t}} -
x_i^{a_{i,t},k}||^2; all run over t < T. Gamma_T, G_T and W_T are the summands of t = T, a round that is not played.
"""

from __future__ import annotations

import dataclasses
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
    above,
    below,
)
from bounds.papers.fedsum.symbols import T, tau_avg, tau_max
from bounds.statement import Condition

tau = tau_max
tau_t = sp.Symbol("tau_t", integer=True, positive=True)
A_t = sp.Symbol("A_t", nonnegative=True)
Gamma, D, G, W, X = sp.symbols("Gamma D G W X", nonnegative=True)
Gamma_T, G_T, W_T = sp.symbols("Gamma_T G_T W_T", nonnegative=True)
I = sp.Symbol("I", real=True)  # noqa: E741  # the inner product

# max{1, tau_avg} as one symbol, which keeps roots short.
average = sp.Symbol("max(1,tau_avg)", positive=True)
# Where the paper divides by sigma.
noisy = sp.Symbol("sigma", positive=True)

AVERAGE_FACTS = (above(average, 1), below(tau_avg, average))
SOMEBODY_AWAY = above(tau, 1, "tau_max of Section 2.2")
# Section 2.2 takes tau_max over rounds 0 ... T, although S_T is not given: with nobody in round T it is at least 1.
TO_T = "tau_max over rounds 0 ... T, as in Section 2.2; with nobody in round T it is at least 1"
PLAYED = "Over rounds 0 ... T-1, as in Appendix F, tau_max is 0 if everybody always takes part"


def at_most(left: Side, right: Side, *hypotheses: Condition, operator: str = "<=") -> Scalar:
    """``left <= right`` between scalar quantities."""
    return Scalar(left=left, operator=operator, right=right, hypotheses=hypotheses)


def of_a_run(claim: Scalar) -> Scalar:
    """The claim with what holds of the delays of every run, so that nothing else refutes it.

    tau_max is a whole number up to T, tau_avg is at most tau_max, and max{1, tau_avg} at most max{1, tau_max}.
    """
    sides = [claim.left, claim.right, *(side for h in claim.hypotheses for side in (h.left, h.right))]
    symbols = {symbol for side in sides for symbol in side.free_symbols}
    facts = [
        below(tau, T, "tau_max <= T") if T in symbols else None,
        below(tau_avg, tau, "tau_avg <= tau_max") if tau_avg in symbols else None,
        below(average, sp.Max(1, tau), "tau_avg <= tau_max") if average in symbols else None,
    ]
    whole = {tau: sp.Symbol("tau_max", integer=True, nonnegative=True)}

    def put(condition: Condition) -> Condition:
        return dataclasses.replace(
            condition, left=condition.left.xreplace(whole), right=condition.right.xreplace(whole)
        )

    hypotheses = (*claim.hypotheses, *(fact for fact in facts if fact is not None))
    return at_most(
        claim.left.xreplace(whole), claim.right.xreplace(whole), *map(put, hypotheses), operator=claim.operator
    )


def same(left: Side, right: Side) -> Identity:
    """``left == right``."""
    return Identity(left=left, right=right)


def gram(
    left: sp.Expr, right: sp.Expr, *hypotheses: Condition, operator: str = "<=", where: tuple[Condition, ...] = ()
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


class FedsumPart:
    """The steps of one part of a proof, in order: `step` builds them with ids ``fedsum/<statement>-<number>``."""

    def __init__(self, of: str, place: str, ids: str = "") -> None:
        self.of, self.place, self.ids = of, place, ids or of
        self.count = 0

    def step(
        self,
        location: str,
        claim: str,
        check: Check,
        *,
        repaired: Check | None = None,
        repair: str = "",
        remark: str = "",
    ) -> Step:
        """The next step."""
        self.count += 1
        return Step(
            id=f"fedsum/{self.ids}-{self.count}",
            location=f"{self.place}, {location}" if location else self.place,
            claim=claim,
            of=f"fedsum/{self.of}",
            check=check,
            repaired=repaired,
            repair=repair,
            remark=remark,
        )
