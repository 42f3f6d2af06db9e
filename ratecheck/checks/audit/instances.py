"""Claims that are checked on instances: every participation matrix of some sizes, or random rational instances."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bounds.proofs.draw import Draw
from bounds.proofs.participation import Participation, every
from bounds.proofs.step import Draws, Enumerated, Matrices, Number
from ratecheck.checks.audit.arithmetic import Undefined, Value, as_value, holds, sides_text
from ratecheck.checks.audit.decision import Answer, Decision


def instances(claim: Enumerated) -> Iterator[Participation | Draw]:
    """All instances of a claim, in a fixed order."""
    if isinstance(claim.instances, Matrices):
        for clients, rounds in itertools.product(claim.instances.clients, claim.instances.rounds):
            yield from every(clients, rounds)
    elif isinstance(claim.instances, Draws):
        # The seed names the claim, so that no other step changes its instances.
        seed = named(claim.sides)
        yield from (Draw(index, seed) for index in range(claim.instances.count))
    else:
        yield from claim.instances


def named(function: Callable[..., Any]) -> str:
    """The name of a function, or of the one that was given arguments beforehand."""
    while isinstance(function, functools.partial):
        function = function.func
    return f"{function.__module__}.{function.__qualname__}"


def pairs(found: Any) -> list[tuple[Value, Value]]:
    """What ``sides`` returned, as pairs of numbers; one pair or many, none for an instance that is passed over."""
    if found is None:
        return []
    listed = list(found)
    if len(listed) == 2 and not isinstance(listed[0], (tuple, list)):
        listed = [listed]
    return [(as_value(left), as_value(right)) for left, right in listed]


def decide(claim: Enumerated, constants: Mapping[str, Number] | None = None) -> Decision:
    """Whether a claim holds on all instances, with other ``constants`` than printed if given."""
    checked = passed_over = count = 0
    for instance in instances(claim):
        try:
            found = pairs(claim.sides(instance, **(claim.constants if constants is None else constants)))
        except (ZeroDivisionError, Undefined):
            return Decision(answer=Answer.UNKNOWN, evidence=f"division by zero on {instance_text(instance)}")
        if not found:
            passed_over += 1
            continue
        checked += 1
        count += len(found)
        for left, right in found:
            if not holds(left, claim.operator, right):
                return Decision(
                    answer=Answer.FALSE,
                    evidence=f"false on {instance_text(instance)}: {sides_text(left, claim.operator, right)}",
                )
    kind = "participation matrices" if isinstance(claim.instances, Matrices) else "random rational instances"
    if not checked:
        return Decision(answer=Answer.UNKNOWN, evidence=f"vacuous: all {passed_over} {kind} are passed over")
    skipped = f", {passed_over} passed over" if passed_over else ""
    return Decision(
        answer=Answer.TRUE,
        certified="instances",
        evidence=f"{count} comparisons on {checked} {kind}{skipped}",
    )


def instance_text(instance: Participation | Draw) -> str:
    """An instance as evidence shows it: the rows of a matrix with a 1 for who takes part, or the number of a draw."""
    if isinstance(instance, Participation):
        rows = ["".join("1" if there else "0" for there in row) for row in instance.matrix]
        return f"the {instance.T} x {instance.N} matrix {'/'.join(rows)}"
    return f"draw {instance.index}"
