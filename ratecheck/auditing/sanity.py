"""What a true step is worth: can its hypotheses hold, which of them are needed, how much room has each constant."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bounds.ledger.step import Check, Enumerated, Gram, Identity, Scalar
from ratecheck.algebra.counterexample import SearchRegion
from ratecheck.algebra.evaluate import number_text, point_text
from ratecheck.algebra.one_dimensional import bisect
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.coordinates import Coordinates
from ratecheck.auditing.decide import decide
from ratecheck.auditing.decision import QUICK, Decision
from ratecheck.auditing.inequality import prove
from ratecheck.auditing.mutation import mutants
from ratecheck.auditing.mutation.mutants import TWO_PERCENT, PrintedConstant
from ratecheck.auditing.mutation.probe import Probe

_SHARES = (TWO_PERCENT, sp.Rational(1, 2), sp.Rational(9, 10), sp.Rational(99, 100))
_BISECTIONS = 6


@dataclass(frozen=True)
class Loose:
    """A constant with room: the claim is proved with ``proved`` in its place and refuted with ``refuted``, if known."""

    constant: str
    proved: str
    refuted: str

    @property
    def text(self) -> str:
        """Such as ``129 on the right: holds with 96, fails with 95``."""
        fails = f", fails with {self.refuted}" if self.refuted else ""
        return f"{self.constant}: holds with {self.proved}{fails}"


@dataclass(frozen=True)
class Hygiene:
    """Findings about a step that holds; ``satisfiable`` is None where neither witness nor contradiction was found."""

    satisfiable: bool | None
    witness: str
    unused: tuple[str, ...]
    loose: tuple[Loose, ...]
    complete: bool


def examine(probe: Probe, seconds: float) -> Hygiene:
    """All of it about the claim of a probe, as far as the time goes."""
    check = probe.check
    end = time.process_time() + seconds
    satisfiable, witness = satisfied(check)
    unused: list[str] = []
    loose: list[Loose] = []
    complete = True
    try:
        with limit(seconds):
            for constant in _judged(check):
                found = room(probe, constant, end)
                loose += [] if found is None else [found]
            for label, other in without_hypothesis(check):
                if decide(other, QUICK).true:
                    unused.append(label)
    except OutOfTime:
        complete = False
    return Hygiene(satisfiable, witness, tuple(unused), tuple(loose), complete)


def _judged(check: Check) -> list[PrintedConstant]:
    """The constants whose room is worth a remark, those of the bound first."""
    if isinstance(check, Gram):
        return [mutants.factor_of(check)]
    bound = "left" if getattr(check, "operator", "==") in (">=", ">") else "right"
    return sorted(mutants.constants(check), key=lambda constant: constant.side != bound)


def satisfied(check: Check) -> tuple[bool | None, str]:
    """Whether the hypotheses can hold, with a rational point where they do."""
    if isinstance(check, (Identity, Enumerated)):
        return True, ""
    conditions = (*check.hypotheses, *check.conditions) if isinstance(check, Gram) else check.hypotheses
    if not conditions:
        return True, ""
    scalar = Scalar(left=sp.Integer(1), operator="<=", right=sp.Integer(0), hypotheses=conditions)
    written = Coordinates(*(side for h in conditions for side in (h.left, h.right))).scalar(scalar, 1)
    point = SearchRegion(written.hypotheses, ()).witness()
    if point is not None:
        return True, point_text(point)
    contradiction = prove(scalar, QUICK)
    return (False if contradiction is not None else None), ""


def without_hypothesis(check: Check) -> list[tuple[str, Check]]:
    """The claim without each of its hypotheses in turn."""
    if not isinstance(check, (Scalar, Gram)):
        return []
    found: list[tuple[str, Check]] = []
    for position, hypothesis in enumerate(check.hypotheses):
        rest = check.hypotheses[:position] + check.hypotheses[position + 1 :]
        found.append((hypothesis.name, dataclasses.replace(check, hypotheses=rest)))
    return found


def room(probe: Probe, constant: PrintedConstant, end: float) -> Loose | None:
    """How far a constant can be moved so that the claim still holds; None where the least change is too much."""
    check = probe.check
    if constant.exponent or isinstance(check, Identity) or getattr(check, "operator", "==") == "==":
        return None
    sign = probe.direction(constant)
    if sign == 0:
        return None

    def at(share: sp.Rational) -> Decision:
        return probe.decide(mutants.strengthened(check, constant, share, sign))

    least = _least(constant.value)
    if not at(least).true:
        return None
    proved, refuted = _bracket(at, least, end)
    if refuted is None:
        return Loose(constant.text, _value(constant, proved, sign), "")
    proved, refuted = _bisected(at, proved, refuted, end)
    return Loose(constant.text, _value(constant, proved, sign), _value(constant, refuted, sign))


def _least(value: sp.Rational) -> sp.Rational:
    """The change that counts: two per cent, but half a unit of a whole number where that is less."""
    return min(TWO_PERCENT, 1 / (2 * abs(value))) if value.is_integer else TWO_PERCENT


def _bracket(
    at: Callable[[sp.Rational], Decision], proved: sp.Rational, end: float
) -> tuple[sp.Rational, sp.Rational | None]:
    """A share at which the claim is proved, and a larger one at which it is refuted, if one is found."""
    for share in (each for each in _SHARES if each > proved):
        if time.process_time() > end:
            break
        found = at(share)
        if not found.true:
            return proved, share if found.false else None
        proved = share
    return proved, None


def _bisected(
    at: Callable[[sp.Rational], Decision], proved: sp.Rational, refuted: sp.Rational, end: float
) -> tuple[sp.Rational, sp.Rational]:
    def holds(share: sp.Rational) -> bool | None:
        found = at(share) if time.process_time() < end else None
        return None if found is None or not (found.true or found.false) else found.true

    return bisect(holds, proved, refuted, steps=_BISECTIONS)


def _value(constant: PrintedConstant, share: sp.Rational, sign: int) -> str:
    factor = 1 - share if (sign < 0) == (constant.value > 0) else 1 / (1 - share)
    value = constant.value * factor
    return number_text(Fraction(int(value.p), int(value.q))) if value.is_Rational else str(value.evalf(8))
