"""Claims drawn at random, many of them true as they are made, as the data of certificates without proofs."""

from __future__ import annotations

import copy
import random

NUMBERS = {
    "x": "positive",
    "y": "positive",
    "L": "positive",
    "c": "nonnegative",
    "r": "real",
    "s": "real",
    "K": "whole",
}
VECTORS = ["u", "v", "w"]
CONSTANTS = ("1", "2", "3", "-1", "1/2", "0", "5/3")
RELATIONS = (">=", ">", "<=", "<", "==")


class Drawn:
    """Expressions, claims and proofs drawn at random."""

    def __init__(self, seed):
        self.rng = random.Random(seed)  # noqa: S311

    def chance(self, p):
        """Whether what has this probability happens."""
        return self.rng.random() < p

    def expression(self, claim, depth=2):
        """An expression in the names of a claim."""
        rng = self.rng
        if depth == 0 or self.chance(0.3):
            return self.atom(claim)
        operation = (
            rng.choice("+++***//^^.") if self.chance(0.9) else rng.choice(("max", "min", "root", "exp", "log", "f"))
        )
        parts = [self.expression(claim, depth - 1) for _ in range(rng.choice((2, 2, 3)))]
        if operation == ".":
            return self.atom({**claim, "variables": {}})
        if operation == "f":
            functions = (["function", "f", parts[0]], ["constant", rng.choice(("pi", "e"))], ["power", *parts[:2]])
            return rng.choice(functions)
        powers = {"^": ("2", "2", "2", "3", "-1", "-2", "0", "1"), "root": ("1/2", "1/2", "3/2", "1/3", "-1/2", "2/3")}
        if operation in powers:
            return ["^", parts[0], rng.choice(powers[operation])]
        return [operation, *parts[: {"/": 2, "exp": 1, "log": 1}.get(operation)]]

    def atom(self, claim):
        """A constant, a number, or an inner product."""
        numbers, vectors, turn = sorted(claim["variables"]), claim["vectors"], self.rng.random()
        if turn < 0.25 or not (numbers or vectors):
            return self.rng.choice(CONSTANTS)
        if vectors and (turn < 0.5 or not numbers):
            return ["dot", self.vector(claim), self.vector(claim)]
        return self.rng.choice(numbers)

    def vector(self, claim):
        """A combination of the vectors of a claim."""
        rng, one = self.rng, self.rng.choice(claim["vectors"])
        turn = rng.random()
        if turn < 0.6:
            return one
        if turn < 0.75:
            return ["*", self.expression(claim, 1), one]
        return ["+", one, ["*", rng.choice(("-1", "2", "1/2")), rng.choice(claim["vectors"])]]

    def monomial(self, claim):
        """A product of names, or of inner products."""
        rng = self.rng
        names = [
            *claim["variables"],
            *([["dot", rng.choice(claim["vectors"]), rng.choice(claim["vectors"])]] if claim["vectors"] else []),
        ]
        parts = [rng.choice(names) for _ in range(rng.randint(1, 3))] if names else ["1"]
        return ["*", rng.choice(("1", "2", "1/2", "3")), *parts]

    def comparison(self, claim):
        """Two sides and a relation; many a bound of a number, as hypotheses are."""
        rng = self.rng
        names = sorted(claim["variables"])
        if names and self.chance(0.6):
            left = rng.choice(names) if self.chance(0.7) else self.monomial(claim)
            right = rng.choice((rng.choice(CONSTANTS), self.expression(claim, 1), self.expression(claim, 2)))
        else:
            left, right = self.expression(claim), self.expression(claim)
        return {"left": left, "relation": rng.choice(RELATIONS), "right": right}

    def blank(self):
        """A claim's names, few of them, and its relation."""
        rng = self.rng
        vectors = sorted(rng.sample(VECTORS, rng.choice((0, 0, 0, 1, 2, 2, 3))))
        numbers = sorted(rng.sample(sorted(NUMBERS), rng.randint(0 if vectors else 1, 3)))
        return {
            "id": "own/drawn",
            "variables": {name: NUMBERS[name] for name in numbers},
            "vectors": vectors,
            "left": "0",
            "relation": rng.choice((">=", "<=", ">", "<", ">", "==")),
            "right": "0",
            "hypotheses": [],
            "proofs": [],
        }

    # --- Claims that are true as they are made ---

    def identity(self):
        """An expression, and the same rewritten."""
        data = self.blank()
        data["left"], data["relation"] = self.expression(data, 3), "=="
        data["right"] = self.rewritten(data, data["left"])
        return data

    def rewritten(self, claim, node, depth=3):
        """The same value, written otherwise."""
        rng = self.rng
        if depth and isinstance(node, list) and node[0] in ("+", "*"):
            parts = [self.rewritten(claim, each, depth - 1) for each in node[1:]]
            rng.shuffle(parts)
            node = [node[0], *parts]
            sums = [i for i, each in enumerate(parts) if isinstance(each, list) and each[0] == "+"]
            if node[0] == "*" and sums and self.chance(0.6):
                i = rng.choice(sums)
                node = ["+", *(["*", *parts[:i], each, *parts[i + 1 :]] for each in parts[i][1:])]
        if depth and isinstance(node, list) and node[0] == "^" and node[2] == "2":
            node = ["*", node[1], node[1]]
        turn = rng.random()
        if turn < 0.15:
            extra = self.expression(claim, 1)
            return ["+", node, extra, ["*", "-1", extra]]
        if turn < 0.3 and claim["variables"]:
            extra = rng.choice(sorted(claim["variables"]))
            return ["/", ["*", node, extra], extra]
        return node

    def squares(self):
        """A sum of products of factors, squares, norms and hypotheses, some moved to the other side."""
        rng, data = self.rng, self.blank()
        data["relation"] = rng.choice((">=", "<="))
        data["hypotheses"] = [self.comparison(data) for _ in range(rng.randint(0, 2))]
        sides = ([], [])
        for _ in range(rng.randint(1, 3)):
            parts = [self.positive(data)]
            if self.chance(0.6):
                parts.append(["^", ["+", self.expression(data, 1), ["*", "-1", self.expression(data, 1)]], "2"])
            if data["vectors"] and self.chance(0.5):
                each = self.vector(data)
                parts.append(["dot", each, each])
            if data["hypotheses"] and self.chance(0.5):
                each = rng.choice(data["hypotheses"])
                more, less = ("left", "right") if each["relation"] in (">=", ">", "==") else ("right", "left")
                parts.append(["+", each[more], ["*", "-1", each[less]]])
            term = ["*", *parts]
            moved = self.monomial(data)
            sides[0].extend([term, moved])
            sides[1].append(moved)
        left, right = (["+", *side] for side in sides)
        data["left"], data["right"] = (left, right) if data["relation"] == ">=" else (right, left)
        return data

    def positive(self, claim):
        """A factor that cannot be negative."""
        names = [name for name, kind in claim["variables"].items() if kind != "real"]
        return self.rng.choice([*names, "1", "2", "1/3"])

    def young(self):
        """2 f <a, b> <= f x |a|^2 + f |b|^2 / x, of numbers or vectors."""
        rng, data = self.rng, self.blank()
        data["vectors"], data["relation"] = ["u", "v"], "<="
        data["variables"] = {"c": "nonnegative", "r": "real", "x": "positive"}
        a, b, f = self.vector(data), self.vector(data), self.positive(data)
        weight = rng.choice(["x", ["*", "2", "x"], ["+", "x", "1"]])
        data["left"] = ["*", "2", f, ["dot", a, b]]
        data["right"] = ["+", ["*", f, weight, ["dot", a, a]], ["/", ["*", f, ["dot", b, b]], weight]]
        return data

    def caps(self):
        """(1 - x) (1 - y) >= 0 and the like where every number is capped, or bounded below."""
        rng, data = self.rng, self.blank()
        data["vectors"], data["relation"] = [], ">="
        data["variables"] = dict.fromkeys(("L", "x", "y"), "positive")
        sign = rng.choice((1, -1))
        bounds = {name: rng.choice(("1", "2", ["/", "1", "L"] if name != "L" else "3")) for name in ("x", "y", "L")}
        relation = "<=" if sign > 0 else ">="
        data["hypotheses"] = [{"left": x, "relation": relation, "right": b} for x, b in bounds.items()]
        gaps = [["+", b, ["*", "-1", x]] if sign > 0 else ["+", x, ["*", "-1", b]] for x, b in bounds.items()]
        data["left"] = ["*", *rng.sample(gaps, rng.randint(1, 3))]
        return data

    def any(self):
        """A claim that may well be false."""
        data = self.blank()
        data |= self.comparison(data)
        data["hypotheses"] = [self.comparison(data) for _ in range(self.rng.randint(0, 3))]
        return data

    def small(self):
        """A short polynomial, some of whose numbers are roots, maxima or minima, with bounds of them."""
        rng, data = self.rng, self.blank()
        parts = [*data["variables"], *(["dot", v, w] for v in data["vectors"] for w in data["vectors"])]
        first, other = rng.choice([*parts, *["K"] * ("K" in parts)]), rng.choice([*parts, "1"])
        more = [
            ["^", first, "1/2"],
            ["max", first, other],
            ["min", first, other],
            ["^", first, "2"],
            ["/", other, first],
        ]
        parts = [first, first, other, other, rng.choice(more)]
        if self.chance(0.3):  # its sign changes at whole numbers
            factors = [["+", first, ["*", "-1", rng.choice(("1", "2", "3", "0"))]] for _ in range(rng.randint(1, 3))]
            data["left"] = ["*", *factors, *rng.sample(parts, self.chance(0.3))]
            data["relation"] = rng.choice((">=", data["relation"]))
        else:
            sizes = ("1", "1", "2", "-1", "-1", "-2", "1/2")
            terms = [["*", rng.choice(sizes), *rng.sample(parts, rng.randint(0, 3))] for _ in range(rng.randint(1, 3))]
            data["left"] = ["+", *terms]
        for _ in range(rng.choice((0, 1, 1, 2))):
            left, right = rng.choice([first, *parts]), rng.choice([*CONSTANTS, *parts])
            data["hypotheses"].append({"left": left, "relation": rng.choice(RELATIONS), "right": right})
        return copy.deepcopy(data)

    def quotient(self):
        """A short claim with both sides divided by something that may be negative."""
        data = self.small()
        below = self.atom(data) if self.chance(0.5) else ["+", self.atom(data), self.atom(data)]
        for side in ("left", "right"):
            data[side] = ["/", data[side], below]
        return data

    def pairings(self):
        """The same vectors in pairs, on either side others."""
        rng, data = self.rng, self.blank()
        data["vectors"] = ["u", "v", "w"]
        drawn = rng.choice(("uuvv", "uuvv", "uuvvww", "uvvw", "uuuv"))
        for side in ("left", "right"):
            shuffled = rng.sample(drawn, len(drawn))
            pairs = [["dot", a, b] for a, b in zip(shuffled[::2], shuffled[1::2], strict=True)]
            data[side] = [
                "*",
                *pairs,
                *rng.sample(sorted(data["variables"]), rng.randint(0, 1) * bool(data["variables"])),
            ]
        return data
