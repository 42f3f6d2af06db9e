"""Certificates of proofs on a range: claims about vectors and one number x, which `ratecheck.recheck` checks alone.

Each requirement is multiplied by the common denominator of its coefficients and of the unknowns, which is positive on
the range, so that a claim is a polynomial in x. That the rounds add up is a claim about numbers, in which the
potential's constants have names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ratecheck import recheck
from ratecheck.proving.certificate import answered, sum_of_squares
from ratecheck.proving.claim_data import Tree, added, scale_of, scaled
from ratecheck.proving.forms import ONE, Entry, Key
from ratecheck.proving.polynomials import Polynomial, bernstein
from ratecheck.proving.ranges.range_proof import RangePart, RangeProof, RangeRequirement

PolynomialForm = Mapping[Key, Polynomial]


def range_certificates(proof: RangeProof) -> list[dict[str, Any]]:
    """The claims that make up a proof on a range, each with its certificate, or why there is none."""
    about = f"{proof.statement.key} for {proof.range}"
    answers: list[dict[str, Any]] = []
    for number, part in enumerate(proof.parts):
        where = about if len(proof.parts) == 1 else f"{about}, part {number + 1}"
        claims = [(each.base.name, _RangeClaim(part, each).data) for each in part.functions]
        answers += [answered(f"{where}: {name}", make) for name, make in [*claims, *_summed(part)]]
    return answers


def _summed(part: RangePart) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """How rounds add up, whatever the constants are."""
    names = {u: f"constant {k}" for k, u in enumerate(dict.fromkeys(part.base.named_numbers))}
    for name, claim in part.base.summed({u: names[u] for u in names}):
        yield name, replace(claim, signs=dict.fromkeys(names.values(), "nonnegative")).data


class _RangeClaim:
    """A requirement on the range as a claim of the checker."""

    def __init__(self, part: RangePart, requirement: RangeRequirement) -> None:
        self.part, self.requirement, self.x = part, requirement, part.range.name
        self.used = [
            (u, fact, known)
            for (u, fact), known in zip(requirement.base.facts, requirement.facts, strict=True)
            if part.value(u)
        ]
        self.left, self.right = self._side(requirement.left), self._side(requirement.right)

    def data(self) -> dict[str, Any]:
        """The claim with its hypotheses and its proof."""
        at, forms = self.part.range, [self.left, self.right, *(known for *_, known in self.used)]
        keys = [*dict.fromkeys(key for form in forms for key in form if key != ONE)]
        hypotheses = [
            {"left": self._tree(known), "relation": "==" if fact.equal else "<=", "right": "0"}
            for _, fact, known in self.used
        ]
        hypotheses.append({"left": self.x, "relation": "<=", "right": str(at.high)})
        if at.low:
            hypotheses.append({"left": str(at.low), "relation": "<=", "right": self.x})
        claim = {
            "variables": {self.x: "positive", **{key.name: "real" for key in keys if not isinstance(key, Entry)}},
            "vectors": [*dict.fromkeys(v for key in keys if isinstance(key, Entry) for v in self._pair(key))],
            "left": self._tree(self.left),
            "relation": "<=",
            "right": self._tree(self.right),
            "hypotheses": hypotheses,
        }
        named, goals = recheck.stated(claim)
        if not goals[0][0]:
            return {**claim, "proofs": []}
        multiplier = [[str(1 / scale_of(goals[0][0], claim, named)), {}]]
        return {
            **claim,
            "proofs": [{"by": "terms", "multiplier": multiplier, "terms": [*self._terms(claim, named)]}],
        }

    def _side(self, affine: Mapping[int | None, PolynomialForm]) -> dict[Key, Polynomial]:
        """A side at the polynomials that were found, times the denominator of all of them."""
        found: dict[Key, Polynomial] = {}
        for u, form in affine.items():
            factor = self.part.below if u is None else self.part.value(u)
            for key, poly in form.items():
                found[key] = found.get(key, Polynomial()).plus(poly.times(factor))
        return {key: poly for key, poly in found.items() if poly}

    def _vector(self, block: str, number: int, *, deviations: bool) -> str:
        name, *more = self.requirement.base.vectors[number - 1], block
        return f"{'deviations of ' * deviations}{name}, {more[0]}"

    def _pair(self, key: Entry) -> tuple[str, str]:
        first, second = (self._vector(key.block, v, deviations=key.deviations) for v in (key.first, key.second))
        return first, second

    def _tree(self, form: PolynomialForm) -> Tree:
        return added([self._product(poly, key) for key, poly in form.items() if poly])

    def _product(self, poly: Polynomial, key: Key) -> Tree:
        factor = added([scaled(c, _power(self.x, k)) for k, c in enumerate(poly.coefficients) if c])
        if key == ONE:
            return factor
        return ["*", factor, ["dot", *self._pair(key)] if isinstance(key, Entry) else key.name]

    # --- The proof ---

    def _terms(self, claim: Mapping[str, Any], named: recheck.ClaimNames) -> Iterator[dict[str, Any]]:
        """Multiples of the facts, numbers, and squares: right - left is their sum."""
        names = [*map(str, range(1, len(claim["hypotheses"]) + 1))]
        # What the checker multiplies each hypothesis by, so that its coefficients are whole numbers.
        self.scales = {
            name: abs(scale_of(named.facts[name][0], hypothesis, named))
            for name, hypothesis in zip(names, claim["hypotheses"], strict=True)
        }
        self.high, self.low = str(len(self.used) + 1), str(len(self.used) + 2)
        yield from self._multiples()
        yield from self._numbers()
        yield from self._squares()

    def _weighed(self, value: Fraction, up: int, down: int, fact: str = "") -> dict[str, Any]:
        """Value (x - low)^up (high - x)^down times a fact, or another side of an equation where its name has a -."""
        at = self.part.range
        used = [*([fact] if fact else []), *[self.high] * down, *([self.low] * up if at.low else [])]
        for name in used:
            value /= self.scales[name.removeprefix("-")]
        factor = [[str(value), {self.x: str(up)} if up and not at.low else {}]]
        return {"factor": factor, **({"hypotheses": used} if used else {})}

    def _bernstein(
        self, numbers: Sequence[Fraction], fact: str = "", *, equal: bool = False
    ) -> Iterator[dict[str, Any]]:
        """The multiple of a fact by a polynomial, by its coefficients in Bernstein's basis."""
        d, width = len(numbers) - 1, self.part.range.high - self.part.range.low
        for k, value in enumerate(numbers):
            if value:
                yield self._weighed(
                    abs(value) * math.comb(d, k) / width**d, k, d - k, f"-{fact}" if equal and value > 0 else fact
                )

    def _multiples(self) -> Iterator[dict[str, Any]]:
        assert self.part.part.y is not None
        for turn, (u, fact, _) in enumerate(self.used, 1):
            numbers = [self.part.part.y[number] for number in self.part.unknowns[u]]
            yield from self._bernstein(numbers, str(turn), equal=fact.equal)

    def _numbers(self) -> Iterator[dict[str, Any]]:
        at, rest = self.part.range, Polynomial()
        for sign, form in ((1, self.right), (-1, self.left)):
            rest = rest.plus(form.get(ONE, Polynomial()).times(sign))
        for u, _, known in self.used:
            rest = rest.plus(known.get(ONE, Polynomial()).times(self.part.value(u)))
        yield from self._bernstein(bernstein(rest, rest.degree, at.low, at.high))

    def _squares(self) -> Iterator[dict[str, Any]]:
        program, y = self.part.part.plan.program, self.part.part.y
        assert y is not None
        for block in program.blocks:
            places = self.part.squares.get(program.required[block.form].name)
            if places is None or places.requirement is not self.requirement.base:
                continue
            for weight, row in sum_of_squares(block.at(y)):
                norm: dict[str, list[Any]] = {}
                for c, number in zip(row, block.vectors, strict=True):
                    v, k = places.places[number - 1]
                    if c:
                        name = self._vector(places.block, v, deviations=places.deviations)
                        norm.setdefault(name, []).append([str(c), {self.x: str(k)} if k else {}])
                yield {
                    **self._weighed(weight, places.up, places.down),
                    "norm": [[poly, v] for v, poly in norm.items()],
                }


def _power(x: str, k: int) -> Tree:
    return "1" if k == 0 else x if k == 1 else ["^", x, str(k)]
