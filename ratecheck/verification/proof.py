"""Proofs of claims in interval arithmetic: sides are enclosed, with more digits until they are told apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from bounds.statement import Claim, Over, Relation
from ratecheck.algebra import ball
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError, enclose, encloser, outward
from ratecheck.algebra.linear_algebra import Entries
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.verification.exact_values import Numbers
from ratecheck.verification.verdict import Comparison, Verdict

# Bits of the fixed-point numbers, until both sides are told apart.
_BITS = (384, 1024, 3072, 9216)
# Sides that agree to so many digits are not told apart by more of them.
_SAME = Fraction(1, 2**200)
# Two sides that are claimed to be equal count as that if they agree to this relative accuracy.
EQUAL = 1e-6


@dataclass(frozen=True)
class VerdictProof:
    """A proof in interval arithmetic.

    ``outcome`` is VIOLATED, HOLDS or NOT_APPLICABLE, or None where nothing was proved, and ``reason`` says why.
    ``left`` and ``right`` enclose the sides of the claim with the least slack, in round ``round`` (None: the mean).
    ``notes`` say what was moved so that the instance meets the conditions exactly. ``agree``: all that is not proved is
    sides of equalities, and they agree to within `EQUAL` of them. ``products`` of numbers follow the run once.
    """

    outcome: Outcome | None
    reason: str = ""
    claim: str = ""
    round: int | None = None
    left: Enclosure | None = None
    right: Enclosure | None = None
    notes: tuple[str, ...] = ()
    agree: bool = False
    products: float = 0.0

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
        comparisons = self.shown(verdict)
        return replace(
            verdict, outcome=self.outcome, comparisons=comparisons, reasons=reasons, notes=(*verdict.notes, was)
        )

    def shown(self, verdict: Verdict) -> tuple[Comparison, ...]:
        """The comparisons of a verdict, those that the proof contradicts or that lack a number being its own.

        Floating point names the round that it is least sure of; what is violated is the round of which that is proved.
        """
        if self.left is None or self.right is None or self.outcome is Outcome.NOT_APPLICABLE:
            return verdict.comparisons
        (own, left_error), (other, right_error) = _nearest(self.left), _nearest(self.right)
        contradicted = self.outcome is Outcome.VIOLATED and verdict.outcome is not Outcome.VIOLATED
        claims = {claim.name: claim for claim in verdict.statement.claims}
        found = []
        for each in verdict.comparisons:
            if each.claim != self.claim or not (contradicted or each.missing) or not math.isfinite(own + other):
                found.append(each)
                continue
            alone = claims[each.claim].terms
            terms = each.terms if each.round == self.round else dict.fromkeys(alone, other) if len(alone) == 1 else {}
            shown = Comparison(
                each.claim, self.round, own, other, left_error + right_error, terms,
                left_error=left_error, right_error=right_error,
            )  # fmt: skip
            found.append(shown)
        return tuple(found)

    def fields(self) -> dict[str, Any]:
        """The proof as JSON data; ends of intervals are floats rounded outwards."""
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


def _nearest(side: Enclosure) -> tuple[float, float]:
    """The float in the middle of a side, and what it may be off by."""
    low, high = outward(side)
    middle = low / 2 + high / 2 if low < high else low
    return middle, max(high - middle, middle - low)


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


def until_decided(decide: Callable[[int], VerdictProof], work: CostLimit, first: bool = False) -> VerdictProof:
    """The proof with more and more digits, until the sides differ or agree to many digits; exact for few steps.

    Sides that are told apart by far less than what is open of them take more digits, so that there is a number to show.
    ``first`` tries rationals before anything else, where nothing is irrational. What costs more than ``work`` allows is
    left out.
    """
    if first:
        with suppress(UndecidedError):
            return decide(ball.EXACT)
    proof, before, spent = VerdictProof(None), None, 0.0
    for bits in _BITS:
        spent += work.products * _cost(bits)
        if spent > work.limit:
            return proof if proof.proved or proof.reason else VerdictProof(None, TOO_LONG)
        proof = decide(bits)
        if proof.proved and (proof.left is None or _width(proof) <= _size(proof)):
            return proof
        width = _width(proof)
        # What the digits of irrational step sizes limit does not shrink with those of the run.
        if width <= _SAME * _size(proof) or (before is not None and width > before / 2):
            break
        before = width
    if not work.steps <= _FEW_STEPS or spent + work.products * _cost_of_fractions(_PER_STEP * work.steps) > work.limit:
        return proof
    try:
        return decide(ball.EXACT)
    except UndecidedError:  # something irrational
        return proof


def decided_claims(claims: Sequence[Claim], values: Numbers, record: Mapping[str, Number]) -> VerdictProof:
    """All claims about one number each, such as a mean over the rounds."""
    here = {**values, **record}
    return together(
        [_proof(claim, None, enclose(claim.metric.expr, here), enclose(claim.bound, here)) for claim in claims]
    )


def decided_rounds(
    claims: Sequence[Claim], values: Numbers, follow: Callable[[int], Iterable[Mapping[str, Number]]], T: int,
    work: CostLimit, *, first: bool = False,
) -> VerdictProof:  # fmt: skip
    """All claims in all of the T rounds that they are about, ``follow`` being a run with so many digits.

    More digits are for the rounds that are still open. Those whose sides agree are evaluated in rationals, as long as
    these are short. ``first`` evaluates all of them so before anything else.
    """
    for claim in claims:
        if claim.metric.over.first(T) >= T:
            raise InputError(
                f'T={T} breaks "T >= {claim.metric.over.first(T) + 1}": the claim compares a round with the one before'
            )
    left = _Open(claims, values, follow, T, work)
    if first:
        left.exactly_if_short()
        if (proof := left.violated or left.none_open) is not None:
            return proof
    for bits in _BITS:
        if not left.affordable(bits):
            break
        left.enclosed(bits)
        if (proof := left.violated or left.none_open) is not None:
            return proof
        if not left.moving:
            break
    left.exactly_if_short()
    return left.violated or left.none_open or left.first_open


class _Open:
    """The rounds of claims that are not decided yet, and what is known of the others."""

    def __init__(
        self, claims: Sequence[Claim], values: Numbers, follow: Callable[[int], Iterable[Mapping[str, Number]]], T: int,
        work: CostLimit,
    ) -> None:  # fmt: skip
        self.claims, self.values, self.follow, self.T, self.work = claims, values, follow, T, work
        self.violated: VerdictProof | None = None
        self._least: VerdictProof | None = None
        self._spent = 0.0
        # Of claims about the best round, the rounds in which they fail.
        self._failing: dict[int, list[VerdictProof]] = {
            k: [] for k, claim in enumerate(claims) if claim.metric.over is Over.BEST_ROUND
        }
        # By claim and round what is known of the sides; those that more digits do not tell apart are still.
        self._open: dict[tuple[int, int], VerdictProof | None] = {
            (k, t): None for k, claim in enumerate(claims) for t in range(claim.metric.over.first(T), T)
        }
        self._still: set[tuple[int, int]] = set()
        self._operations = sum(int(sp.count_ops(claim.bound - claim.metric.expr)) + _COMPARED for claim in claims)

    @property
    def none_open(self) -> VerdictProof | None:
        """The claim and round with the least slack, once all of them hold."""
        return None if self._open else self._least

    @property
    def first_open(self) -> VerdictProof:
        """The first that is open, of those whose sides do not agree if there are any."""
        place, proof = min(self._open.items(), key=lambda each: each[1] is not None and each[1].agree)
        if proof is None:
            return VerdictProof(None, TOO_LONG)
        if place in self._still or not self._spent:
            return replace(proof, reason=f"{proof.reason}{self._before}")
        return replace(proof, reason=f"{proof.reason}, and more digits would take too long{self._before}")

    @property
    def _before(self) -> str:
        """Of claims on every round, how many come before the first that is open; they are decided, and hold."""
        every = all(c.metric.over in (Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST) for c in self.claims)
        first = min(t for _, t in self._open)
        decided = every and first > max(claim.metric.over.first(self.T) for claim in self.claims)
        return f"; in the rounds before that it holds: a run of {first} rounds would do" if decided else ""

    @property
    def moving(self) -> bool:
        """Whether more digits may decide more of them."""
        return len(self._still) < len(self._open)

    def _wanted(self, *, moving: bool) -> list[tuple[int, int]]:
        return [place for place in self._open if not moving or place not in self._still]

    def affordable(self, bits: int) -> bool:
        """Whether the open rounds can be evaluated with so many bits; counts their cost as spent."""
        wanted = self._wanted(moving=True)
        rounds = 1 + max(t for _, t in wanted)
        share = rounds / self.T
        operations = len(wanted) / len(self.claims) * self._operations
        self._spent += share * self.work.products * _cost(bits) + operations * _cost_of_fractions(bits) / 2
        return self._spent <= self.work.limit

    def enclosed(self, bits: int) -> None:
        """Evaluate the open rounds in intervals with so many bits."""
        places = set(self._wanted(moving=True))
        for place, left, right in self._sides(bits, bits + _GUARD, places):
            if place not in self._open:
                continue
            proof, before = _proof(self.claims[place[0]], place[1], left, right), self._open[place]
            if not self._settled(place, proof):
                width = _width(proof)
                if width <= _SAME * _size(proof) or (before is not None and width > _width(before) / 2):
                    self._still.add(place)
                self._open[place] = proof

    def exactly_if_short(self) -> None:
        """Evaluate the open rounds in rationals: first those where more digits do not help, which may be early ones."""
        for places in dict.fromkeys((frozenset(self._still), frozenset(self._open))):
            if places and self.violated is None:
                with suppress(UndecidedError):
                    self._exactly(places & self._open.keys())

    def _exactly(self, places: AbstractSet[tuple[int, int]]) -> None:
        """Evaluate these rounds in rationals; raises `UndecidedError` for long ones and for what is irrational."""
        if not places:
            return
        last = max(t for _, t in places)
        if self.work.steps > _FEW_STEPS * self.T:
            raise UndecidedError("a round of many local steps")
        # Before round 0 nothing is multiplied yet.
        each = last * self.work.products / self.T + (last + 1) * self._operations
        longest = _length_of_fractions(self.work.limit / max(each, 1.0))
        for place, left, right in self._sides(ball.EXACT, longest, places):
            if place in self._open:
                self._settled(place, _proof(self.claims[place[0]], place[1], left, right))

    def _settled(self, place: tuple[int, int], proof: VerdictProof) -> bool:
        """Whether something is proved, which is kept; a claim about the best round holds where one round does."""
        if not proof.proved:
            return False
        k = place[0]
        closed = [place]
        if k in self._failing and proof.outcome is Outcome.HOLDS:
            closed = [each for each in self._open if each[0] == k]
        for each in closed:
            del self._open[each]
            self._still.discard(each)
        if k in self._failing and proof.outcome is Outcome.VIOLATED:
            self._failing[k].append(proof)
            if any(each[0] == k for each in self._open):
                return True
            proof = max(self._failing[k], key=_slack)
        if proof.outcome is Outcome.VIOLATED:
            self.violated = self.violated or proof
        self._least = proof if self._least is None or _slack(proof) < _slack(self._least) else self._least
        return True

    def _sides(
        self, bits: int, digits: int, places: AbstractSet[tuple[int, int]]
    ) -> Iterator[tuple[tuple[int, int], Enclosure, Enclosure]]:
        """Both sides in these rounds of these claims, in the order of rounds."""
        at = [encloser((claim.metric.expr, claim.bound), self.values, digits) for claim in self.claims]
        last = max(t for _, t in places)
        before: dict[str, Number] = {}
        for t, record in enumerate(self.follow(bits)):
            if bits == ball.EXACT and any(_length(Enclosure.of(value)) > digits for value in record.values()):
                raise UndecidedError("rationals that are long")
            here = {**record, **before}
            for k, sides in enumerate(at):
                if (k, t) in places:
                    left, right = sides(here)
                    yield (k, t), left, right
            if t == last or self.violated is not None:
                return
            before = {f"{name}_prev": value for name, value in record.items()}


def _proof(claim: Claim, t: int | None, left: Enclosure, right: Enclosure) -> VerdictProof:
    outcome = _compared(claim.relation, left, right)
    where = "" if t is None else f" in round {t}"
    reason = "" if outcome is not None else f"the enclosures of the two sides overlap{where}"
    proof = VerdictProof(outcome, reason, claim.name, t, left, right)
    agree = outcome is None and claim.relation is Relation.EQUAL and _width(proof) <= Fraction(EQUAL) * _size(proof)
    return replace(proof, agree=agree)


def _size(proof: VerdictProof) -> Fraction:
    """The size of the larger side."""
    assert proof.left is not None
    assert proof.right is not None
    return max(abs(proof.left.middle), abs(proof.right.middle))


def _width(proof: VerdictProof) -> Fraction:
    """The sum of the widths of both enclosures."""
    assert proof.left is not None
    assert proof.right is not None
    return proof.left.width + proof.right.width


def _length(value: Enclosure) -> int:
    return max(value.low.numerator.bit_length(), value.low.denominator.bit_length())


# --- What it costs, in products of numbers with 384 binary digits, of which some seconds have 10^7 ---

TOO_LONG = "following the run would take too long"
# Local steps in all up to which sides are looked at in rationals, whose digits grow by so many with every one of them.
_FEW_STEPS, _PER_STEP = 256, 106
# The operations of a comparison; digits to spare for sides.
_COMPARED, _GUARD = 8, 64


@dataclass(frozen=True)
class CostLimit:
    """``products`` of numbers by which a run is followed once, its local ``steps`` in all, and a ``limit`` of the cost.

    The cost is counted, not timed, so that an answer depends on no clock.
    """

    products: float
    steps: int
    limit: float


def _cost(bits: int) -> float:
    """A product of whole numbers of so many digits."""
    return float((bits / _BITS[0]) ** 1.75)


def _cost_of_fractions(bits: float) -> float:
    """A product of fractions of so many digits, which are reduced."""
    return float(12 * max(bits / 100, 1.0) ** 1.45)


def _length_of_fractions(cost: float) -> int:
    """Digits of the fractions whose product costs so much; 0 where it is below any."""
    return 0 if cost < _cost_of_fractions(0) else int(min(100 * (cost / 12) ** (1 / 1.45), _PER_STEP * _FEW_STEPS))


def _compared(relation: Relation, left: Enclosure, right: Enclosure) -> Outcome | None:
    if left.low > right.high or (relation is Relation.EQUAL and left.high < right.low):
        return Outcome.VIOLATED
    if relation is Relation.EQUAL:
        return Outcome.HOLDS if left.exact and left == right else None
    return Outcome.HOLDS if left.high <= right.low else None


def together(proofs: Sequence[VerdictProof]) -> VerdictProof:
    """One of several that all have to hold: one violated or undecided, else the one with least slack."""
    for outcome in (Outcome.VIOLATED, None):
        if found := [proof for proof in proofs if proof.outcome is outcome]:
            return min(found, key=lambda proof: proof.agree)
    return min(proofs, key=_slack)


def _slack(proof: VerdictProof) -> float:
    if proof.left is None or proof.right is None:
        return 0.0
    left, right = proof.left.middle, proof.right.middle
    size = max(abs(left), abs(right))
    return float((right - left) / size) if size else 0.0
