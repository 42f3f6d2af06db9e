"""Short forms for the steps of this ledger: the proof of one statement, its checks, and symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import sympy as sp

from bounds.ledger.families import PerClient, per_client
from bounds.ledger.step import Algebraic, Check, Draws, Enumerated, Gram, Identity, Number, Scalar, Side, Step, StepKind
from bounds.statement import Condition

# What a function of an instance yields: both sides of the claim.
Pairs: TypeAlias = Iterator[tuple[Number, Number]]


@dataclass(frozen=True)
class ProofForm:
    """The proof of the statement ``simfbo/<name>``; called, it makes one of its steps."""

    name: str

    def __call__(
        self,
        number: int,
        location: str,
        claim: str,
        check: Check,
        *,
        repaired: Check | None = None,
        repair: str = "",
        remark: str = "",
    ) -> Step:
        """The step of that number."""
        return Step(
            id=f"simfbo/{self.name}-{number}",
            location=location,
            claim=claim,
            of=f"simfbo/{self.name}",
            check=check,
            repaired=repaired,
            repair=repair,
            remark=remark,
        )


def scalar(left: Side, operator: str, right: Side, *hypotheses: Condition) -> Scalar:
    """A claim between scalars under hypotheses."""
    return Scalar(left=left, operator=operator, right=right, hypotheses=hypotheses)


def identity(left: Side, right: Side) -> Identity:
    """An exact equality."""
    return Identity(left=left, right=right)


def gram(
    left: Side, operator: str, right: Side, *hypotheses: Condition, conditions: tuple[Condition, ...] = ()
) -> Gram:
    """A claim between inner products."""
    return Gram(left=left, operator=operator, right=right, hypotheses=hypotheses, conditions=conditions)


def drawn(
    kind: StepKind, sides: Callable[..., Any], operator: str = "<=", *, count: int = 60, **constants: Number
) -> Enumerated:
    """A claim about random instances."""
    return Enumerated(kind=kind, sides=sides, operator=operator, instances=Draws(count=count), constants=constants)


def for_all(check: Enumerated, form: Callable[..., Algebraic]) -> Enumerated:
    """The claim with a form for all values, see `Enumerated`."""
    return replace(check, form=form)


def weighted(names: str, weight: sp.Expr = sp.S.One) -> tuple[PerClient, ...]:
    """Named vectors of every client, for sums with weights w_i > 0 that add up to ``weight``, as sum_i w_i X_i."""
    return per_client(names, weight)


def nonnegative(names: str) -> Any:
    """Symbols for numbers from 0 on."""
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
