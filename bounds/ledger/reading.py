"""How what is examined of a step relates to its printed line, as readers found beside the paper.

It is kept with the papers, in their modules ``readings``, as a tuple READINGS of `Reading`, of those steps of which
less than the printed line is examined, or more. All others cover what is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bounds.ledger.step import Scope, Step


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A reader's judgement of the steps of these ids: what is examined of them, in the words of `Step`."""

    steps: tuple[str, ...]
    scope: Scope
    narrower: str = ""


def stronger(*steps: str) -> Reading:
    """More than what is printed."""
    return Reading(steps=steps, scope=Scope.STRONGER)


def special(narrower: str, *steps: str) -> Reading:
    """A special case of what is printed."""
    return Reading(steps=steps, scope=Scope.SPECIAL_CASE, narrower=narrower)


def assumed(narrower: str, *steps: str) -> Reading:
    """More is assumed than is printed."""
    return Reading(steps=steps, scope=Scope.MORE_ASSUMED, narrower=narrower)


def read(steps: Sequence[Step], readings: Sequence[Reading]) -> tuple[Step, ...]:
    """The steps, each with what was read of it; raises `ValueError` for a reading of no step, or a second one."""
    found: dict[str, Reading] = {}
    for reading in readings:
        for step in reading.steps:
            if step in found:
                raise ValueError(f"step {step!r} has two readings")
            found[step] = reading
    if unknown := found.keys() - {step.id for step in steps}:
        raise ValueError(f"readings of no step: {', '.join(sorted(unknown))}")
    return tuple(
        replace(step, scope=found[step.id].scope, narrower=found[step.id].narrower) if step.id in found else step
        for step in steps
    )
