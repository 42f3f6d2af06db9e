"""Findings about a true step: can its hypotheses hold, which are needed, how much slack has each constant."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bounds.ledger.step import Check, Enumerated, Gram, Scalar
from ratecheck.algebra.counterexample import SearchRegion
from ratecheck.algebra.evaluate import number_text, point_text
from ratecheck.algebra.one_dimensional import bisect
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import QUICK, Decision, unknown
from ratecheck.auditing.dispatch import decide
from ratecheck.auditing.export.coordinates import Coordinates
from ratecheck.auditing.inequality import prove
from ratecheck.auditing.mutation import mutants
from ratecheck.auditing.mutation.mutants import TWO_PERCENT, PrintedConstant
from ratecheck.auditing.mutation.probe import Probe

# How many changed claims are decided per step. They are counted, so that what is found
# does not depend on how fast the machine is. One that takes so many seconds of computing all the same, more than twice
# what any proof takes in the four papers, is the last, or is left to the search for a counterexample.
QUESTIONS = 24
SECONDS = 3.0
# Work, not time: nothing but `SECONDS` ends it early. z3 is bounded by a clock alone, so it is not used.
_EFFORT = dataclasses.replace(QUICK, seconds=10 * SECONDS, solver=0)
_UNDECIDED = unknown("not decided")
_SHARES = (TWO_PERCENT, sp.Rational(1, 2), sp.Rational(9, 10), sp.Rational(99, 100))
_BISECTIONS = 6


@dataclass(frozen=True)
class Loose:
    """A constant with slack: the claim is proved with ``proved`` in its place, refuted with ``refuted``, if known."""

    constant: str
    proved: str
    refuted: str

    @property
    def text(self) -> str:
        """The finding in words, such as ``129 on the right: holds with 96, fails with 95``."""
        fails = f", fails with {self.refuted}" if self.refuted else ""
        return f"{self.constant}: holds with {self.proved}{fails}"


@dataclass(frozen=True)
class Hygiene:
    """Findings about a step that holds; ``satisfiable`` is None where neither witness nor contradiction was found.

    ``complete`` says that all its hypotheses and constants were examined.
    """

    satisfiable: bool | None
    witness: str
    unused: tuple[str, ...]
    loose: tuple[Loose, ...]
    complete: bool


class _Decisions:
    """A limited number of decisions about one step."""

    def __init__(self, most: int) -> None:
        self._left, self.complete = most, True

    def made(self, decide: Callable[[], Decision]) -> Decision:
        """The decision, which is UNKNOWN once the number or the time is used up."""
        if not self._left:
            self.complete = False
            return _UNDECIDED
        self._left -= 1
        try:
            with limit(SECONDS):
                return decide()
        except OutOfTime:
            # The others are about the same step, and as hard.
            self._left, self.complete = 0, False
            return _UNDECIDED


def examine(probe: Probe, questions: int = QUESTIONS) -> Hygiene:
    """Findings about the claim of a probe, by up to ``questions`` decisions; with 0, whether hypotheses can hold."""
    check = probe.check
    satisfiable, witness = satisfied(check)
    if not questions:
        return Hygiene(satisfiable, witness, (), (), complete=False)
    decisions = _Decisions(questions)
    loose = [found for constant in _judged(check) if (found := slack(probe, constant, decisions)) is not None]
    unused = [
        label
        for label, other in without_hypothesis(check)
        if decisions.made(lambda other=other: decide(other, _EFFORT)).true  # type: ignore[misc]
    ]
    return Hygiene(satisfiable, witness, tuple(unused), tuple(loose), decisions.complete)


def _judged(check: Check) -> list[PrintedConstant]:
    """The constants whose slack is worth a remark, those of the bound first."""
    if isinstance(check, Gram):
        return [mutants.factor_of(check)]
    bound = "left" if check.operator in (">=", ">") else "right"
    return sorted(mutants.constants(check), key=lambda constant: constant.side != bound)


def satisfied(check: Check) -> tuple[bool | None, str]:
    """Whether the hypotheses can hold, with a rational point where they do."""
    form = check.algebraic
    if form is None or not form.supposed:
        return True, ""
    scalar = Scalar(left=sp.Integer(1), operator="<=", right=sp.Integer(0), hypotheses=form.supposed)
    written = Coordinates(*(side for h in form.supposed for side in (h.left, h.right))).scalar(scalar, 1)
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


def slack(probe: Probe, constant: PrintedConstant, decisions: _Decisions) -> Loose | None:
    """The slack of a constant: how far it can be moved so that the claim holds; None for no slack."""
    check = probe.check
    if constant.exponent or check.operator == "==":
        return None
    sign = probe.direction(constant)
    if sign == 0:
        return None

    def at(share: sp.Rational) -> Decision:
        found = decisions.made(lambda: probe.decide(mutants.strengthened(check, constant, share, sign), _EFFORT))
        # What is proved for all values has slack only where that is proved too.
        of_form = isinstance(check, Enumerated) and check.form is not None
        return _UNDECIDED if of_form and found.certified == "instances" else found

    least = _least(constant.value)
    if not at(least).true:
        return None
    proved, refuted = _bracket(at, least)
    if refuted is None:
        return Loose(constant.text, _value(constant, proved, sign), "")
    proved, refuted = _bisected(at, proved, refuted)
    return Loose(constant.text, _value(constant, proved, sign), _value(constant, refuted, sign))


def _least(value: sp.Rational) -> sp.Rational:
    """The change that counts: two per cent, but half a unit of a whole number where that is less."""
    return min(TWO_PERCENT, 1 / (2 * abs(value))) if value.is_integer else TWO_PERCENT


def _bracket(at: Callable[[sp.Rational], Decision], proved: sp.Rational) -> tuple[sp.Rational, sp.Rational | None]:
    """A share at which the claim is proved, and a larger one at which it is refuted, if one is found."""
    for share in (each for each in _SHARES if each > proved):
        found = at(share)
        if not found.true:
            return proved, share if found.false else None
        proved = share
    return proved, None


def _bisected(
    at: Callable[[sp.Rational], Decision], proved: sp.Rational, refuted: sp.Rational
) -> tuple[sp.Rational, sp.Rational]:
    def holds(share: sp.Rational) -> bool | None:
        found = at(share)
        return found.true if found.true or found.false else None

    return bisect(holds, proved, refuted, steps=_BISECTIONS)


def _value(constant: PrintedConstant, share: sp.Rational, sign: int) -> str:
    factor = 1 - share if (sign < 0) == (constant.value > 0) else 1 / (1 - share)
    value = constant.value * factor
    return number_text(Fraction(int(value.p), int(value.q))) if value.is_Rational else str(value.evalf(8))
