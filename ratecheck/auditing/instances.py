"""Claims that are checked on instances: every participation matrix of some sizes, or random rational instances."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from bounds.ledger.draw import Draw
from bounds.ledger.participation import ParticipationMatrix, every
from bounds.ledger.step import Draws, Enumerated, Matrices
from ratecheck.algebra.evaluate import as_value


def instances(claim: Enumerated) -> Iterator[ParticipationMatrix | Draw]:
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


def pairs(found: Any, value: Callable[[Any], Any] = as_value) -> list[tuple[Any, Any]]:
    """What ``sides`` returned, as pairs of numbers; one pair or many, none for an instance that is passed over."""
    if found is None:
        return []
    listed = list(found)
    if len(listed) == 2 and not isinstance(listed[0], (tuple, list)):
        listed = [listed]
    return [(value(left), value(right)) for left, right in listed]


def instance_text(instance: ParticipationMatrix | Draw) -> str:
    """An instance as evidence shows it: the rows of a matrix with a 1 for who takes part, or the number of a draw."""
    if isinstance(instance, ParticipationMatrix):
        rows = ["".join("1" if there else "0" for there in row) for row in instance.matrix]
        return f"the {instance.T} x {instance.N} matrix {'/'.join(rows)}"
    return f"draw {instance.index}"
