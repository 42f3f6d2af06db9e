"""What interval arithmetic proves of the claims: sides are enclosed, with more digits until they are told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from bounds.statement import Claim, Over, Relation
from ratecheck.algebra import ball
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError, enclose, outward
from ratecheck.algebra.linear_algebra import Entries
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.verification.exact_values import Numbers
from ratecheck.verification.verdict import Verdict

# Bits of the fixed-point numbers, until both sides are told apart.
_BITS = (384, 1024, 3072, 9216)
# Sides that agree to so many digits are not told apart by more of them.
_SAME = Fraction(1, 2**200)


@dataclass(frozen=True)
class Proof:
    """What was proved: ``outcome`` VIOLATED, HOLDS or NOT_APPLICABLE, or None where ``reason`` says why nothing was.

    ``left`` and ``right`` enclose the sides of the claim with the least slack, in round ``round`` (None: the mean).
    ``notes`` say what was moved so that the instance meets the conditions exactly.
    """

    outcome: Outcome | None
    reason: str = ""
    claim: str = ""
    round: int | None = None
    left: Enclosure | None = None
    right: Enclosure | None = None
    notes: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the outcome is proved."""
        return self.outcome is not None

    def decides(self, verdict: Verdict) -> Verdict:
        """The verdict with the outcome that is proved; as it was where nothing is."""
        if self.outcome is None or self.outcome is verdict.outcome:
            return verdict
        reasons = (self.reason,) if self.outcome is Outcome.NOT_APPLICABLE else ()
        was = f"the {verdict.engine} engine in floating point says {verdict.outcome.value}"
        return replace(verdict, outcome=self.outcome, reasons=reasons, notes=(*verdict.notes, was))

    def fields(self) -> dict[str, Any]:
        """As JSON data; ends of intervals are floats rounded outwards."""
        return {
            "verdict": None if self.outcome is None else self.outcome.value,
            "proved": self.proved,
            "reason": self.reason,
            "claim": self.claim,
            "round": self.round,
            "left": None if self.left is None else list(outward(self.left)),
            "right": None if self.right is None else list(outward(self.right)),
            "notes": list(self.notes),
        }


def quadratic_form(claim: Claim, values: Numbers, forms: Mapping[str, Entries]) -> Entries:
    """Right side minus left side as a quadratic form in the state, whose last entry is 1."""
    difference = claim.bound - claim.metric.expr
    # Without an inner error there is no root of it.
    nothing = [symbol for symbol in difference.free_symbols if values.get(symbol.name) == 0]
    difference = difference.xreplace(dict.fromkeys(nothing, sp.S.Zero))
    symbols = [symbol for symbol in difference.free_symbols if symbol.name not in values]
    size = len(next(iter(forms.values())))
    total = np.full((size, size), Fraction(0), dtype=object)
    parts = [(sp.diff(difference, symbol), forms.get(symbol.name)) for symbol in symbols]
    one = np.full((size, size), Fraction(0), dtype=object)
    one[-1, -1] = Fraction(1)
    parts.append((difference.xreplace(dict.fromkeys(symbols, sp.S.Zero)), one))
    for rate, form in parts:
        if form is None or rate.free_symbols & {*symbols}:
            raise UndecidedError(
                "the claim is not linear in what is measured before a round, or has the round's number in it"
            )
        factor = enclose(rate, values)
        if not factor.exact:
            raise UndecidedError("a number of the claim is irrational")
        total = total + factor.low * form
    return total


def until_decided(decide: Callable[[int], Proof], few: bool, first: bool = False) -> Proof:
    """With more and more digits, until the sides are told apart or agree to many digits; of ``few`` steps exactly.

    ``first`` tries rationals before anything else, where nothing is irrational.
    """
    if first:
        with suppress(UndecidedError):
            return decide(ball.EXACT)
    proof, before = Proof(None), None
    for bits in _BITS:
        proof = decide(bits)
        if proof.proved:
            return proof
        assert proof.left is not None
        assert proof.right is not None
        size, width = max(abs(proof.left.middle), abs(proof.right.middle)), proof.left.width + proof.right.width
        # What the digits of irrational step sizes limit does not shrink with those of the run.
        if width <= _SAME * size or (before is not None and width > before / 2):
            break
        before = width
    if not few:
        return proof
    try:
        return decide(ball.EXACT)
    except UndecidedError:  # something irrational
        return proof


def decided_claims(
    claims: Sequence[Claim], values: Numbers, records: Sequence[Mapping[str, Number]], *, each_round: bool
) -> Proof:
    """All claims in all the rounds that they are about, or in the best of them."""
    found: list[Proof] = []
    for claim in claims:
        first = claim.metric.over.first(len(records))
        if len(records) <= first:
            raise InputError(
                f'T={len(records)} breaks "T >= {first + 1}": the claim compares a round with the one before'
            )
        by_round = []
        for t in range(first, len(records)):
            before = {f"{name}_prev": value for name, value in records[t - 1].items()} if t else {}
            here = {**values, **records[t], **before}
            left, right = enclose(claim.metric.expr, here), enclose(claim.bound, here)
            outcome = _compared(claim.relation, left, right)
            by_round.append(Proof(outcome, _why(outcome), claim.name, t if each_round else None, left, right))
        found += [_best(by_round)] if claim.metric.over is Over.BEST_ROUND else by_round
    return together(found)


def _best(proofs: Sequence[Proof]) -> Proof:
    """One of several of which one has to hold: it, else an undecided one, else the one that fails by least."""
    for outcome in (Outcome.HOLDS, None):
        for proof in proofs:
            if proof.outcome is outcome:
                return proof
    return max(proofs, key=_slack)


def _compared(relation: Relation, left: Enclosure, right: Enclosure) -> Outcome | None:
    if left.low > right.high or (relation is Relation.EQUAL and left.high < right.low):
        return Outcome.VIOLATED
    if relation is Relation.EQUAL:
        return Outcome.HOLDS if left.exact and left == right else None
    return Outcome.HOLDS if left.high <= right.low else None


def _why(outcome: Outcome | None) -> str:
    return "" if outcome is not None else "the enclosures of the two sides overlap"


def together(proofs: Sequence[Proof]) -> Proof:
    """One of several that all have to hold: one violated or undecided, else the one with least slack."""
    for outcome in (Outcome.VIOLATED, None):
        for proof in proofs:
            if proof.outcome is outcome:
                return proof
    return min(proofs, key=_slack)


def _slack(proof: Proof) -> float:
    if proof.left is None or proof.right is None:
        return 0.0
    left, right = proof.left.middle, proof.right.middle
    size = max(abs(left), abs(right))
    return float((right - left) / size) if size else 0.0
