"""A check of the checks: whether the audit notices that a printed number has changed.

Each mutant of a claim that holds is refuted, or proved as well (the number has room, the mutant does no harm), or left
open. A constant that has room at two per cent is changed by a half and then by nine tenths, until it does harm.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sympy as sp

from bounds.proofs.step import Check, Enumerated, Step
from ratecheck.checks.audit import mutants
from ratecheck.checks.audit.clock import OutOfTime, limit
from ratecheck.checks.audit.decision import Answer, Decision
from ratecheck.checks.audit.mutants import TWO_PERCENT, decide
from ratecheck.checks.audit.probe import Probe

SECONDS = 90.0
_SHARES = (TWO_PERCENT, sp.Rational(1, 2), sp.Rational(9, 10))


class Fate(Enum):
    """What became of a mutant."""

    REFUTED = "refuted"
    HARMLESS = "proved as well"
    OPEN = "neither proved nor refuted"
    UNSEEN = "no instance tells"


@dataclass(frozen=True)
class Tested:
    """A step that holds and its mutants: what was changed, what became of it."""

    id: str
    fates: tuple[tuple[str, Fate], ...]

    def fields(self) -> dict[str, Any]:
        """As data for a file."""
        return {"id": self.id, "fates": [[text, fate.name] for text, fate in self.fates]}

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Tested:
        """The inverse of `fields`."""
        return cls(fields["id"], tuple((text, Fate[name]) for text, name in fields["fates"]))


def test_step(step: Step) -> Tested:
    """The mutants of a step; none where the claim as printed does not hold."""
    end = time.process_time() + SECONDS
    try:
        with limit(SECONDS):
            holds = decide(step.check).true
    except OutOfTime:
        holds = False
    fates = tuple(_fates(step.check, end)) if holds else ()
    return Tested(step.id, fates)


def _fates(check: Check, end: float) -> Iterator[tuple[str, Fate]]:
    probe = Probe(check)
    for constant in mutants.constants(check):
        if constant.exponent:
            for by in (1, -1):
                mutant = mutants.changed(check, constant, constant.value + by)
                yield f"{constant.text} {by:+d}", _fate(probe, mutant, end)
            continue
        signs = (-1, 1) if getattr(check, "operator", "==") == "==" else (probe.direction(constant),)
        for sign in signs:
            if sign != 0:
                yield _worst(probe, constant, sign, end)
    turned = mutants.turned(check)
    if turned is not None:
        yield "inequality turned round", _fate(probe, turned, end)


def _worst(probe: Probe, constant: mutants.Constant, sign: int, end: float) -> tuple[str, Fate]:
    """The smallest change of a constant that is refuted, or what became of the largest."""
    text, fate = constant.text, Fate.OPEN
    for share in _SHARES:
        text = f"{constant.text}, {'-' if sign < 0 else '+'}{int(100 * share)}%"
        fate = _fate(probe, mutants.strengthened(probe.check, constant, share, sign), end)
        if fate in (Fate.REFUTED, Fate.OPEN):
            break
    return text, fate


def _fate(probe: Probe, mutant: Check, end: float) -> Fate:
    decision = _decision(probe, mutant, end)
    if decision.false:
        return Fate.REFUTED
    if isinstance(mutant, Enumerated):
        return Fate.UNSEEN
    return Fate.HARMLESS if decision.true else Fate.OPEN


def _decision(probe: Probe, mutant: Check, end: float) -> Decision:
    left = end - time.process_time()
    if left <= 0:
        return Decision(answer=Answer.UNKNOWN, evidence="out of time")
    try:
        with limit(left):
            return probe.decide(mutant)
    except OutOfTime:
        return Decision(answer=Answer.UNKNOWN, evidence="out of time")
    except (ValueError, TypeError, ArithmeticError, IndexError) as error:
        # A changed whole number may make no sense where it counts something.
        return Decision(answer=Answer.UNKNOWN, evidence=f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Summary:
    """How many mutants there are of each fate; ``share`` is that of the refuted among those that may do harm."""

    counts: dict[str, int]
    share: float
    survivors: tuple[tuple[str, str, str], ...]

    def fields(self) -> dict[str, Any]:
        """As JSON data."""
        survivors = [{"id": i, "mutant": m, "reason": r} for i, m, r in self.survivors]
        return {**dataclasses.asdict(self), "survivors": survivors}


def summarise(tested: list[Tested]) -> Summary:
    """All mutants together."""
    fates = [(each.id, text, fate) for each in tested for text, fate in each.fates]
    counts = {fate.value: sum(f is fate for _, _, f in fates) for fate in Fate}
    harmful = len(fates) - counts[Fate.HARMLESS.value]
    survivors = tuple((i, text, fate.value) for i, text, fate in fates if fate is not Fate.REFUTED)
    return Summary(counts, counts[Fate.REFUTED.value] / harmful if harmful else 1.0, survivors)
