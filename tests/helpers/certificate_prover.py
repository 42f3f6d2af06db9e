"""Proofs of certificates found with the rules and the algebra of a checker, be it a sound one or a broken one.

A change of a certificate alone is nearly always rejected because the terms of its proof no longer add up, which shows
little of the checker. So what is left over is added, be it seen to have a sign or, at times, not, and what has no proof
is given one by rules drawn at random.
"""

from __future__ import annotations

import contextlib
from fractions import Fraction

from certificate_changes import SUBSTITUTIONS

# What `recheck.main` reports as a rejection; anything else that is raised is a fault of the checker.
REJECTED = (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


class Prover:
    """Completes proofs with the rules and the algebra of a checker, be it a sound one or not."""

    def __init__(self, module, drawn):
        self.r, self.drawn, self.rng = module, drawn, drawn.rng

    def mended(self, data):
        """The certificate with a proof of every goal, where one is found, and the old ones otherwise."""
        r = self.r
        r.LEFT[0] = r.WORK
        claim, goals = r.stated(data)
        old, new = list(data["proofs"]), []
        for goal, strict in goals:
            if not goal and not strict:
                continue
            state, node = (claim.signs, claim.facts, goal, strict), old.pop(0) if old else None
            found = None
            with contextlib.suppress(*REJECTED):  # a step does not apply any more
                found = node and self.completed(state, node, claim.vectors)
            new.append(found or self.found(state, 3) or node or {"by": "terms", "terms": []})
        return {**data, "proofs": new}

    def completed(self, state, node, vectors):
        """A proof with the same steps, and terms for whatever is left over; None where that is not to be had."""
        r, by = self.r, node.get("by")
        if by == "terms":
            return self.added(state, node, vectors)
        if by == "substitution":
            then = self.completed(r.substitute(state, node), node["then"], vectors)
            return then and {**node, "then": then}
        if by == "cases":
            pairs = zip(r.cases(state, node["variable"]), node["cases"], strict=True)
            both = [self.completed(*pair, vectors) for pair in pairs]
            return {**node, "cases": both} if all(both) else None
        poly, above = state[1][node["hypothesis"]]
        proof = self.completed((*state[:2], r.times(r.MINUS, poly), not above), node["proof"], vectors)
        return proof and {**node, "proof": proof}

    def added(self, state, node, vectors):
        """A step by ``terms`` with more of them for what is left over."""
        r = self.r
        multiplier = r.read(node.get("multiplier", [["1", {}]]), state[0], vectors)
        terms, kept = [], []
        for each in node["terms"]:
            with contextlib.suppress(*REJECTED):
                terms.append(r.summand(each, state, vectors)[0])
                kept.append(each)
        rest = r.plus(r.times(multiplier, state[2]), *(r.times(r.MINUS, each) for each in terms))
        found = self.combined((*state[:2], rest, False)) or {"terms": []}
        return {**node, "terms": [*kept, *found["terms"]]}

    def found(self, state, depth):
        """A proof by rules drawn at random."""
        try:
            found = self.combined(state) or (self.multiplied(state) if self.drawn.chance(0.3) else None)
        except REJECTED:
            found = None
        if found or depth == 0:
            return found
        _, known, goal, _ = state
        keys = {x for p in (goal, *(p for p, _ in known.values())) for m in p for x, _ in m}
        numbers = sorted(key[0] for key in keys if len(key) == 1)
        for _ in range(4):
            rule = self.rng.choice((self.substituted, self.substituted, self.substituted, self.split, self.void))
            with contextlib.suppress(*REJECTED):  # where the rule does not apply, or has nothing to choose from
                found = rule(state, numbers, depth)
                if found:
                    return found
        return None

    def substituted(self, state, numbers, depth):
        """A fact used up for a number in it."""
        name = self.rng.choice(sorted(state[1]))
        own = sorted({x[0] for m in state[1][name][0] for x, _ in m if len(x) == 1}) or numbers
        node = {"by": "substitution", "variable": self.rng.choice(own), "hypothesis": name}
        node["kind"] = self.rng.choice(SUBSTITUTIONS)
        then = self.found(self.r.substitute(state, {**node, "then": {}}), depth - 1)
        return then and {**node, "then": then}

    def split(self, state, numbers, depth):
        """Two cases, of which each is proved as far as it can be."""
        node = {"by": "cases", "variable": self.rng.choice(numbers)}
        found = [self.found(case, depth - 1) for case in self.r.cases(state, node["variable"])]
        return {**node, "cases": [each or {"by": "terms", "terms": []} for each in found]}

    def void(self, state, _numbers, depth):
        """A fact that cannot hold."""
        name = self.rng.choice(sorted(state[1]))
        poly, above = state[1][name]
        proof = self.found((*state[:2], self.r.times(self.r.MINUS, poly), not above), depth - 1)
        return proof and {"by": "void", "hypothesis": name, "proof": proof}

    def multiplied(self, state):
        """Terms for a multiple of the goal, which may be a multiple by what is not positive."""
        r, rng = self.r, self.rng
        signs, known, goal, strict = state
        keys = sorted({x for m in goal for x, _ in m})
        monomial = tuple((x, Fraction(1)) for x in keys if self.drawn.chance(0.4))
        own = {monomial: Fraction(rng.choice((1, 1, -1)))}
        multiplier = rng.choice((own, own, r.plus(own, {(): Fraction(1)}), {}))
        found = self.combined((signs, known, r.times(goal, multiplier), strict))
        return found and {**found, "multiplier": terms_of(multiplier) or [["0", {}]]}

    def combined(self, state):
        """Terms that add up to the goal, up to three of them with facts or squares that take up what is negative."""
        r = self.r
        signs, known, goal, _ = state
        taken, blind = [], self.drawn.chance(0.1)
        for _ in range(4):
            if blind or r.sign(goal, signs) or not goal:
                rest = [{"factor": [term]} for term in terms_of(goal)]
                return {"by": "terms", "terms": [*taken, *rest]}
            pair = self.taken(signs, known, goal)
            if pair is None:
                return None
            term, poly = pair
            taken.append(term)
            goal = r.plus(goal, r.times(r.MINUS, poly))
        return None

    def taken(self, signs, known, goal):
        """A term, and its polynomial, that takes up a monomial that may be negative."""
        r, rng = self.r, self.rng
        bad = [m for m, c in goal.items() if not r.sign({m: c}, signs)]
        monomial = rng.choice(bad)
        c = goal[monomial]
        choices = []
        for name, (poly, _) in known.items():
            for own, d in poly.items():
                left = dict(monomial)
                for key, e in own:
                    left[key] = left.get(key, 0) - e
                over = {tuple(sorted((key, e) for key, e in left.items() if e)): c / d}
                whole = min(left.values(), default=0) >= 0 or self.drawn.chance(0.2)
                if c / d > 0 and whole and r.sign(over, signs):
                    choices.append(({"factor": terms_of(over), "hypotheses": [name]}, r.times(over, poly)))
        halves = self.halves(monomial, c)
        if choices and (not halves or self.drawn.chance(0.7)):
            return rng.choice(choices)
        return halves

    def halves(self, monomial, c):
        """A square (a +- b)^2 or |a +- b|^2 whose mixed term is the monomial."""
        r, rng = self.r, self.rng
        mixed = [key for key, _ in monomial if len(key) == 2 and key[0] != key[1]]
        if mixed:
            key = rng.choice(mixed)
            rest = r.times({tuple((k, e - (k == key)) for k, e in monomial if (k, e) != (key, 1)): abs(c) / 2})
            norm = [[[["1", {}]], key[0]], [[["1" if c > 0 else "-1", {}]], key[1]]]
            pairs = r.plus(
                r.one(key[0], key[0]), r.one(key[1], key[1]), r.times({(): Fraction(2 if c > 0 else -2)}, r.one(*key))
            )
            return {"factor": terms_of(rest), "norm": norm}, r.times(rest, pairs)
        if c > 0 and self.drawn.chance(0.2):  # a square of a root
            root = {tuple((key, e / 2) for key, e in monomial): Fraction(1)}
            return {"factor": [[str(c), {}]], "square": terms_of(root)}, r.times({(): c}, root, root)
        odd = [key for key, e in monomial if len(key) == 1 and e == 1]
        if not odd:
            return None
        first = tuple((key, e) for key, e in monomial if key == odd[0])
        other = tuple((key, e) for key, e in monomial if key != odd[0])
        square = r.plus({first: Fraction(1)}, {other: Fraction(1 if c > 0 else -1)})
        factor = {(): abs(c) / 2}
        return {"factor": terms_of(factor), "square": terms_of(square)}, r.times(factor, square, square)


def terms_of(poly):
    """A polynomial of the checker as data."""
    found = []
    for monomial, c in poly.items():
        pairs = [list(key) for key, e in monomial if len(key) == 2 for _ in range(int(e))]
        found.append([str(c), {key[0]: str(e) for key, e in monomial if len(key) == 1}, *([pairs] if pairs else [])])
    return found
