"""Changes of certificates: of numbers, kinds, relations, sides, hypotheses, names, and of every part of a proof."""

from __future__ import annotations

import copy
from fractions import Fraction

from drawn_claims import CONSTANTS, RELATIONS

KINDS = ("positive", "nonnegative", "real", "whole")
SUBSTITUTIONS = ("least", "most", "least relative", "most relative")


def places(data, path=()):
    """All parts of a certificate, by their paths."""
    yield path
    if isinstance(data, (dict, list)):
        for key, each in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(each, (*path, key))


def at(data, path):
    """A part of a certificate."""
    for key in path:
        data = data[key]
    return data


def is_number(text):
    """Whether a part is a fraction as text."""
    return isinstance(text, str) and text.lstrip("-").replace("/", "", 1).isdigit() and not text.endswith("/")


def is_expression(part):
    """Whether a part of a claim is an expression of a number."""
    return isinstance(part, str) or (isinstance(part, list) and bool(part) and isinstance(part[0], str))


class Changes:
    """Changes of a certificate, in place; each is drawn, and raises a LookupError where it has nothing to change."""

    def __init__(self, drawn):
        self.drawn, self.rng = drawn, drawn.rng
        self.all = {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("to_")}

    def change(self, data):
        """One change; its name."""
        name = self.rng.choice(sorted(self.all))
        self.all[name](data)
        return name

    def chosen(self, data, fits, *roots):
        """A place under one of the given keys whose part fits."""
        found = [p for root in roots or data for p in places(data[root], (root,)) if len(p) > 1 and fits(at(data, p))]
        return self.rng.choice(found)

    @staticmethod
    def set(data, path, new):
        """Puts a part in a place."""
        at(data, path[:-1])[path[-1]] = new

    def side(self, data):
        """A side of the claim or of a hypothesis, as its path."""
        roots = [(), ()] + [("hypotheses", i) for i in range(len(data["hypotheses"]))]
        return (*self.rng.choice(roots), self.rng.choice(("left", "right")))

    def inner(self, data):
        """A part of a side that is an expression."""
        side = self.side(data)
        found = [p for p in places(at(data, side), side) if p == side or p[-1] != 0]
        return self.rng.choice(found)

    def to_number(self, data):
        """Another number."""
        path = self.chosen(data, is_number, "left", "right", "hypotheses", "proofs")
        value = Fraction(at(data, path))
        new = self.rng.choice(
            [
                value + 1,
                -value,
                2 * value,
                value / 2,
                value + Fraction(1, 1000),
                Fraction(0),
                1 / value if value else value,
            ]
        )
        self.set(data, path, str(new))

    def to_kind(self, data):
        """A number of another kind, or of none."""
        name = self.rng.choice(sorted(data["variables"]))
        data["variables"][name] = self.rng.choice((*KINDS, *KINDS, "Real", "", None, "vector"))

    def to_vector(self, data):
        """A vector for a number, or the reverse."""
        if data["vectors"] and self.drawn.chance(0.5):
            name = self.rng.choice(data["vectors"])
            data["variables"][name] = self.rng.choice(KINDS)
            if self.drawn.chance(0.8):
                data["vectors"].remove(name)
        else:
            name = self.rng.choice(sorted(data["variables"]))
            data["vectors"].append(name)
            if self.drawn.chance(0.8):
                del data["variables"][name]

    def to_relation(self, data):
        """Another relation, or none."""
        part = self.rng.choice([data, data, *data["hypotheses"]])
        part["relation"] = self.rng.choice((*RELATIONS, *RELATIONS, "< ", "=", "=<", "!=", ""))

    def to_sides(self, data):
        """The sides interchanged."""
        part = self.rng.choice([data, data, *data["hypotheses"]])
        part["left"], part["right"] = part["right"], part["left"]

    def to_subtree(self, data):
        """Another expression in a place of a side."""
        path = self.inner(data)
        new = at(data, self.inner(data)) if self.drawn.chance(0.6) else self.drawn.expression(data, 1)
        self.set(data, path, copy.deepcopy(new))

    def to_operation(self, data):
        """Another operation on the same parts."""
        path = self.chosen(
            data,
            lambda part: (
                isinstance(part, list) and part and part[0] in ("+", "*", "/", "^", "max", "min", "dot", "exp", "log")
            ),
            "left",
            "right",
            "hypotheses",
        )
        at(data, path)[0] = self.rng.choice(["+", "*", "/", "max", "min", "dot", "exp", "^", "power", "function"])

    def to_name(self, data):
        """Another name in one place of the proofs, or in the claim everywhere."""
        names = [*data["variables"], *data["vectors"]]
        old, new = self.rng.choice(names), self.rng.choice(names)
        roots = self.rng.choice((("left", "right"), ("hypotheses",), ("proofs",), ("left", "right", "hypotheses")))
        found = [p for root in roots for p in places(data[root], (root,)) if at(data, p) == old]
        for path in found if roots != ("proofs",) else [self.rng.choice(found)]:
            self.set(data, path, new)

    def to_pairs(self, data):
        """Other pairs of vectors: <u, v>^2 where |u|^2 |v|^2 stood, and the reverse."""
        path = self.chosen(
            data, lambda part: isinstance(part, list) and part[:1] == ["dot"], "left", "right", "hypotheses"
        )
        node = at(data, path)
        one, other = node[1], self.rng.choice([*data["vectors"], node[2]])
        square, mixed = ["*", ["dot", one, one], ["dot", other, other]], ["^", ["dot", one, other], "2"]
        new = self.rng.choice([["dot", one, other], ["dot", other, other], square, mixed])
        self.set(data, path, copy.deepcopy(new))
        if self.drawn.chance(0.3):
            data["left"], data["right"] = (square, mixed) if self.drawn.chance(0.5) else (mixed, square)

    def to_hypotheses(self, data):
        """Hypotheses more, fewer, or in another order."""
        rng, found = self.rng, data["hypotheses"]
        turn = rng.random()
        if turn < 0.3:
            found.insert(rng.randint(0, len(found)), self.drawn.comparison(data))
        elif turn < 0.45:
            found.insert(0, {key: copy.deepcopy(data[key]) for key in ("right", "relation", "left")})
        elif turn < 0.7:
            found.pop(rng.randrange(len(found)) if found else 0)
        else:
            rng.shuffle(found)

    def to_more(self, data):
        """Something added to one side, or both sides multiplied, divided, or raised alike."""
        rng, turn = self.rng, self.rng.random()
        part = rng.choice([data, data, *data["hypotheses"]])
        more = self.drawn.expression(data, 1)
        if turn < 0.4:
            side = rng.choice(("left", "right"))
            part[side] = ["+", part[side], more]
            return
        for side in ("left", "right"):
            own = part[side]
            part[side] = (
                ["*", own, more]
                if turn < 0.6
                else ["/", own, more]
                if turn < 0.85
                else ["^", own, "1/2" if turn < 0.95 else "2"]
            )

    def nodes(self, data, *rules):
        """The steps of the proofs by these rules, as paths."""
        fits = lambda part: isinstance(part, dict) and part.get("by") in rules  # noqa: E731
        return self.chosen(data, fits, "proofs")

    def to_substitution(self, data):
        """Another number, fact or kind of a substitution."""
        node = at(data, self.nodes(data, "substitution"))
        key = self.rng.choice(("variable", "hypothesis", "kind"))
        names = sorted(data["variables"]) or ["x"]
        node[key] = {
            "variable": self.rng.choice(names),
            "hypothesis": self.rng.choice(["1", "2", "-1", *names]),
            "kind": self.rng.choice((*SUBSTITUTIONS, "most or least")),
        }[key]

    def to_rule(self, data):
        """A step left out, or one put in."""
        rng, path = self.rng, self.nodes(data, "terms", "substitution", "cases", "void")
        node = at(data, path)
        inner = [each for key in ("then", "proof") for each in [node.get(key)] if each] + list(node.get("cases", []))
        names = sorted(data["variables"]) or ["x"]
        new = rng.choice(
            [
                *inner,
                {"by": "cases", "variable": rng.choice(names), "cases": [node, copy.deepcopy(node)]},
                {"by": "void", "hypothesis": rng.choice(["1", "2", "-1", *names]), "proof": node},
                {
                    "by": "substitution",
                    "variable": rng.choice(names),
                    "hypothesis": rng.choice(["1", "2"]),
                    "kind": rng.choice(SUBSTITUTIONS),
                    "then": node,
                },
                {"by": "terms", "terms": []},
            ]
        )
        self.set(data, path, new)

    def to_cases(self, data):
        """Cases interchanged, left out, or of another number."""
        node = at(data, self.nodes(data, "cases"))
        turn = self.rng.random()
        if turn < 0.3:
            node["cases"].reverse()
        elif turn < 0.6:
            node["cases"].pop()
        else:
            node["variable"] = self.rng.choice(sorted(data["variables"]))

    def to_terms(self, data):
        """Terms more or fewer, or with other parts; another multiplier."""
        rng, node = self.rng, at(data, self.nodes(data, "terms"))
        turn, names = rng.random(), sorted(data["variables"])
        if turn < 0.2:
            node["multiplier"] = [[rng.choice(CONSTANTS), {name: "1" for name in names if self.drawn.chance(0.4)}]]
            return
        term = rng.choice(node["terms"])
        if turn < 0.35:
            node["terms"].remove(term)
        elif turn < 0.45:
            node["terms"].append(copy.deepcopy(term))
        elif turn < 0.6:
            term.pop(rng.choice(("square", "norm", "hypotheses", "proof")))
        elif turn < 0.8:
            name = rng.choice(["1", "2", "3", *names])
            term["hypotheses"] = [*term.get("hypotheses", []), rng.choice((name, f"-{name}"))]
        else:
            term["square"] = [["1", {name: "1"}] for name in rng.sample(names, min(2, len(names)))]

    def to_junk(self, data):
        """What the schema does not name."""
        path = self.rng.choice(list(places(data)))
        part = at(data, path)
        if isinstance(part, dict):
            part[self.rng.choice(("note", "below", "Relation", "x", ""))] = self.rng.choice(
                ("1", "positive", [], {}, None)
            )
        elif isinstance(part, list):
            part.insert(self.rng.randint(0, len(part)), self.rng.choice(("1", "x", "j", [], {}, None)))
        else:
            self.set(data, path, self.rng.choice((None, [], {}, "", 1, f"{part} ", ["+", part], "1e9", "9" * 30)))
