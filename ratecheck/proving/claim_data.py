"""Claims and proofs as data of `ratecheck.recheck`: sums of multiples of hypotheses and of what cannot be negative."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ratecheck import recheck

# An expression of the checker: a number or a name, or an operation and its parts.
Tree = Any


def scaled(factor: Fraction | int | str, tree: Tree) -> Tree:
    """A multiple of an expression; the factor is a number or the name of one.

    >>> scaled(Fraction(1, 2), "x"), scaled(3, "1")
    (['*', '1/2', 'x'], '3')
    """
    if isinstance(factor, str):
        return factor if tree == "1" else ["*", factor, tree]
    if tree == "1":
        return str(Fraction(factor))
    return tree if factor == 1 else ["*", str(Fraction(factor)), tree]


def added(terms: Sequence[Tree]) -> Tree:
    """The sum of expressions, 0 without any."""
    return ["+", *terms] if len(terms) > 1 else terms[0] if terms else "0"


def constant(value: Fraction | int) -> list[Any]:
    """A number as a polynomial of the checker."""
    return [[str(Fraction(value)), {}]]


def proofs(
    claim: Mapping[str, Any],
    used: Iterable[tuple[str, bool, Fraction | int | str]],
    terms: Sequence[Mapping[str, Any]] = (),
) -> list[Any]:
    """A proof of a claim left <= right: right - left is a sum of ``terms``, and of multiples of hypotheses.

    ``used`` are their names, for an equation whether right - left is meant, and what multiplies the difference: a
    number, or the name of one.
    """
    named, goals = recheck.stated(claim)
    goal = goals[0][0]
    if not goal:
        return []
    multiplier = constant(1 / scale_of(goal, claim, named))
    multiples = []
    for name, reverse, value in used:
        poly = named.facts[f"-{name}" if reverse else name][0]
        scale = abs(scale_of(poly, claim["hypotheses"][int(name) - 1], named))
        factor = [[str(1 / scale), {value: "1"}]] if isinstance(value, str) else constant(value / scale)
        multiples.append({"factor": factor, "hypotheses": [f"-{name}" if reverse else name]})
    return [{"by": "terms", "multiplier": multiplier, "terms": [*multiples, *terms]}]


def scale_of(poly: Any, compared: Mapping[str, Any], named: recheck.ClaimNames) -> Fraction:
    """What the checker multiplies right - left by, so that coefficients are whole numbers."""
    (left, _), (right, _) = named.sides(compared)
    difference = recheck.plus(right, recheck.times(recheck.MINUS, left))
    monomial = next(iter(difference))
    return Fraction(poly[monomial] / difference[monomial])


@dataclass(frozen=True)
class LinearClaim:
    """A claim about real numbers: left <= right, by a sum of multiples of hypotheses (left, right, multiple).

    ``rest`` is by how much right exceeds left beyond that sum; ``signs`` are further numbers with their kinds.
    """

    numbers: Sequence[str]
    left: Tree
    right: Tree
    hypotheses: Sequence[tuple[Tree, Tree, Fraction | int | str]] = ()
    rest: Fraction = Fraction(0)
    signs: Mapping[str, str] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """The claim with the hypotheses that it uses and its proof, as the checker reads them."""
        hypotheses = [each for each in self.hypotheses if each[2]]
        claim = {
            "variables": {**dict.fromkeys(self.numbers, "real"), **self.signs},
            "vectors": [],
            "left": self.left,
            "relation": "<=",
            "right": self.right,
            "hypotheses": [{"left": low, "relation": "<=", "right": high} for low, high, _ in hypotheses],
        }
        uses = [(str(turn), False, factor) for turn, (_, _, factor) in enumerate(hypotheses, 1)]
        return {**claim, "proofs": proofs(claim, uses, [{"factor": constant(self.rest)}] if self.rest else [])}
