"""Instances that exceed a bound by one evaluation while no other one confirms it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unconfirmed:
    """Something that exceeds the bound: ``ratio`` is left side / right side there, infinite where a run diverges.

    ``where`` says on what, and ``why`` it is not confirmed.
    """

    ratio: float
    where: str
    why: str


def larger(*found: Unconfirmed | None) -> Unconfirmed | None:
    """The one that exceeds the bound by most; None of none."""
    return max((each for each in found if each is not None), key=lambda each: each.ratio, default=None)
