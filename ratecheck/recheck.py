"""Check certificates without ratecheck: ``python recheck.py FILE.json [AUDIT.json] [--claims]``.

``ratecheck audit PAPER --certificates FILE.json`` writes the file, whose schema is in docs/audit.md. Exit code
0: all is accepted, 1: a certificate is rejected, 2: unreadable. ``--claims`` prints each claim as the data of the file
have it; with AUDIT.json, from ``ratecheck audit PAPER --json``, each has to be a claim of that audit.

A polynomial is a dict from monomials, sorted tuples of (key, exponent), to coefficients. A key is (x,) for a real
number x or (u, v), sorted, for the inner product of two vectors of a real inner product space: a real number as well.
A state: kinds of the numbers; facts, polynomials that are nonnegative, or positive where marked strict; the goal, such
a polynomial too, and whether it is strict.
"""

import hashlib
import json
import math
import os
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

ONE, MINUS, POSITIVE = {(): Fraction(1)}, {(): Fraction(-1)}, ("positive", "whole")
KINDS = ("positive", "nonnegative", "real", "whole")
OPPOSITE = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "==": "=="}
IMPLIED = {">=": (">=",), "<=": ("<=",), ">": (">", ">="), "<": ("<", "<="), "==": ("==", ">=", "<=")}
# Products of short terms that the check of a claim may take, a second, and those of a whole file per byte. With
# coefficients of b bits one counts as 1 + b^2/2^18, with n powers as 1 + n/4.
WORK, PER_BYTE, LEFT = 200_000, 10, [0]
LONGEST, DEEPEST, HIGHEST = 2000, 60, 1000


class RepeatedError(ArithmeticError):
    """A claim that says x = x, or one of its hypotheses."""


def need(condition: object, why: str, error: type[ArithmeticError] = ArithmeticError) -> None:
    if not condition:
        raise error(why)


def spend(work: int) -> None:  # before the work is done
    LEFT[0] -= work
    need(LEFT[0] >= 0, "more work than a claim may take")


def fields(data: Any, required: str, optional: str = "") -> Any:  # an object with these keys and no others
    need(isinstance(data, dict), f"no object with {required}")
    missing, more = set(required.split()) - set(data), set(data) - {*required.split(), *optional.split()}
    need(not missing, f"without {', '.join(sorted(missing))}")
    need(not more, f"the schema does not name {', '.join(sorted(map(repr, more)))}")
    return data


def listed(data: Any, why: str) -> Any:
    need(isinstance(data, list), f"no list of {why}")
    return data


def number(text: Any, bound: int = 0) -> Fraction:
    fits = isinstance(text, str) and len(text) <= LONGEST and re.fullmatch(r"-?[0-9]+(/[0-9]+)?", text)
    need(fits, f"{str(text)[:40]!r} is no fraction")
    value = Fraction(text)
    need(str(value) == text, f"{text[:40]} is not in lowest terms")
    need(not bound or max(abs(value.numerator), value.denominator) <= bound, f"the exponent {text[:40]} is too large")
    return value


# --- Polynomials ---


def cost(*coefficients: Any) -> int:
    return 1 + (sum(c.numerator.bit_length() + c.denominator.bit_length() for c in coefficients) // 512) ** 2


def plus(*polys: Any) -> Any:
    total: Any = {}
    for monomial, c in (term for poly in polys for term in poly.items()):
        if monomial in total:
            spend(cost(total[monomial], c))
            c += total[monomial]  # noqa: PLW2901
        total[monomial] = c
    return {monomial: c for monomial, c in total.items() if c}


def merged(m: Any, k: Any) -> Any:  # the product of two monomials
    powers = dict(m)
    for x, e in k:
        powers[x] = powers.get(x, 0) + e
    return tuple(sorted((x, e) for x, e in powers.items() if e))


def times(*polys: Any) -> Any:
    total: Any = ONE
    for poly in polys:
        longest = sum(max(map(len, each), default=0) for each in (total, poly))
        sizes = max(map(cost, (0, *total.values()))) * max(map(cost, (0, *poly.values())))
        spend((1 + len(total) * len(poly)) * (1 + longest // 4) * sizes)
        found: Any = {}
        for m, c in total.items():
            for k, d in poly.items():
                monomial = merged(m, k)
                found[monomial] = found.get(monomial, 0) + c * d
        total = {monomial: c for monomial, c in found.items() if c}
    return total


def power(poly: Any, e: int) -> Any:
    spend(e)
    return times(*[poly] * e)


def one(*key: str) -> Any:  # the polynomial of a number, or of an inner product
    return {((tuple(sorted(key)), Fraction(1)),): Fraction(1)}


def frozen(poly: Any) -> Any:
    return tuple(sorted(poly.items()))


def kind(signs: Any, key: Any) -> Any:  # of a number, or of an inner product
    return signs[key[0]] if len(key) == 1 else "nonnegative" if key[0] == key[1] else "real"


def sign(poly: Any, signs: Any) -> int:  # 1: no term can be negative, 2: and one is positive, 0: neither is seen
    even = all(kind(signs, x) != "real" or e % 2 == 0 for m in poly for x, e in m)
    some = any(all(kind(signs, x) in POSITIVE for x, _ in m) for m in poly)
    return (1 + some) * (even and all(c > 0 for c in poly.values()))


def read(data: Any, signs: Any, vectors: Any) -> Any:  # terms [coefficient, {number: exponent}, [[vector, vector]]]
    total: Any = {}
    for term in listed(data, "terms"):
        need(isinstance(term, list) and len(term) in (2, 3) and isinstance(term[1], dict), "no term")
        pairs = listed(term[2] if len(term) > 2 else [], "inner products")
        spend(1 + len(term[1]) + len(pairs))
        powers: Any = {}
        for name, text in term[1].items():
            e = number(text, HIGHEST)
            need(name in signs, f"{name!r} is no number of this claim")
            fits = signs[name] in POSITIVE or (e > 0 and (signs[name] == "nonnegative" or e.denominator == 1))
            need(fits, f"a meaningless power of {name}")
            powers[(name,)] = e
        for pair in pairs:
            need(isinstance(pair, list) and len(pair) == 2 and all(v in vectors for v in pair), "no inner product")
            key = tuple(sorted(pair))
            powers[key] = powers.get(key, 0) + Fraction(1)
        monomial = merged(powers.items(), ())
        total[monomial] = plus({monomial: total.get(monomial, Fraction(0))}, {monomial: number(term[0])}).get(
            monomial, 0
        )
    return {monomial: c for monomial, c in total.items() if c}


# --- Claims: quotients of a polynomial and powers of others, as they are written ---


# How many parts an operation has, least and most.
PARTS = {"+": (2, 0), "*": (2, 0), "/": (2, 2), "^": (2, 2), "dot": (2, 2), "max": (2, 0), "min": (2, 0)}
PARTS |= {"exp": (1, 1), "log": (1, 1), "power": (2, 2), "constant": (1, 1), "function": (2, 0)}


def formed(node: Any, names: Any, vectors: Any, deep: int = 0, *, vector: bool = False) -> None:
    """Whether an expression, or a vector, is what the schema names; raises ArithmeticError where it is not."""
    spend(1)
    need(deep < DEEPEST, "too deep")
    if isinstance(node, str):
        if node not in (vectors if vector else names):
            need(not vector, f"{node[:40]!r} is no vector")
            number(node)
        return
    need(isinstance(node, list) and node and isinstance(node[0], str) and node[0] in PARTS, "no expression")
    operation, parts = node[0], node[1:]
    least, most = PARTS[operation]
    need(least <= len(parts) <= (most or len(parts)), f"{operation} has {len(parts)} parts")
    if vector:
        need(operation == "+" or (operation == "*" and len(parts) == 2), "no vector")
        kinds = [operation == "+" or turn > 0 for turn in range(len(parts))]
    elif operation == "constant":
        need(parts[0] in ("pi", "e") and parts[0] not in {*names, *vectors}, "no constant, or the name of a number")
        return
    else:
        kinds = [operation == "dot"] * len(parts)
    if operation == "function":
        taken = (
            isinstance(parts[0], str) and parts[0] not in ("sqrt", *PARTS) and re.fullmatch(r"[A-Za-z]\w*", parts[0])
        )
        need(taken, "no function")
        parts, kinds = parts[1:], kinds[1:]
    if operation == "^":
        number(parts[1], HIGHEST)
        parts = parts[:1]
    if operation == "power":
        need(not isinstance(parts[1], str) or parts[1] in names, "a power whose exponent is a number is ^")
    for each, own in zip(parts, kinds, strict=False):
        formed(each, names, vectors, deep + 1, vector=own)


class ClaimNames:
    """What the names of a claim stand for; roots, maxima and functions in it become numbers of their own."""

    def __init__(self, variables: Any, vectors: Any) -> None:
        need(isinstance(variables, dict), "no kinds of numbers")
        for name in (*variables, *listed(vectors, "vectors")):
            fits = isinstance(name, str) and 0 < len(name) <= 200 and name.isprintable() and '"' not in name
            need(fits, f"the name {str(name)[:200]!r}")
            need(not re.fullmatch(r"-?[0-9/]+", name), f"the name {name!r} is a number")
        for name, sort in variables.items():
            need(sort in KINDS, f"{name} is {sort!r}, which is no kind of number")
        need(len({*vectors, *variables}) == len(vectors) + len(variables), "a name twice")
        self.signs, self.vectors, self.facts = dict(variables), set(vectors), {}
        for x in variables:
            if variables[x] == "whole":
                self.facts[x] = (plus(one(x), MINUS), False)
        self.declared = set(variables)

    def quotient(self, node: Any) -> Any:  # (p, {q: e}) for p divided by all q^e
        if isinstance(node, str):
            value = Fraction(1) if node in self.declared else number(node)
            return (one(node) if node in self.declared else {(): value} if value else {}), {}
        operation, *parts = node
        if operation in ("+", "*", "/"):
            found: Any = map(self.quotient, parts)
            if operation == "/":
                found = iter([next(found), self.inverse(next(found))])
            return self.total(*found) if operation == "+" else product(*found)
        if operation == "^":
            return self.raised(parts[0], number(parts[1]))
        if operation == "dot":
            first, second = map(self.vector, parts)
            spend(len(first) * len(second))
            pairs: Any = ((a, b, (one(u, v), {})) for u, a in first.items() for v, b in second.items())
            return self.total(*(product(*pair) for pair in pairs))
        return one(self.named(node)), {}

    def vector(self, node: Any) -> Any:  # {vector: coefficient}
        if isinstance(node, str):
            return {node: (ONE, {})}
        operation, *parts = node
        if operation == "*":
            factor = self.quotient(parts[0])
            return {v: product(factor, c) for v, c in self.vector(parts[1]).items()}
        found = [self.vector(each) for each in parts]
        names = {v: None for part in found for v in part}
        spend(len(names) * len(found))
        return {v: self.total(*(part[v] for part in found if v in part)) for v in names}

    def total(self, *quotients: Any) -> Any:
        common: Any = {}
        for _, below in quotients:
            spend(1 + weight(below))
            common |= {q: max(e, common.get(q, e)) for q, e in below.items()}
        return plus(*(times(p, *missing(common, below)) for p, below in quotients)), common

    def inverse(self, quotient: Any) -> Any:  # a product of numbers is split into its factors
        poly, below = quotient
        need(poly, "a divisor is 0")
        if len(poly) > 1:
            return times(*missing(below, {})), {frozen(poly): Fraction(1)}
        ((monomial, c),) = poly.items()
        return times({(): 1 / c}, *missing(below, {})), {frozen(one(*x)): e for x, e in monomial}

    def raised(self, node: Any, e: Fraction) -> Any:
        if e.denominator == 1:
            base = self.quotient(node)
            if e < 0:
                base = self.inverse(base)
            return power(base[0], abs(int(e))), {q: k * abs(int(e)) for q, k in base[1].items()}
        if isinstance(node, str) and node in self.declared and self.signs[node] != "real":
            name = node
        else:
            name, e = self.named(["^", node, f"1/{e.denominator}"]), Fraction(e.numerator)
        return ({(((name,), e),): Fraction(1)}, {}) if e > 0 else (ONE, {frozen(one(name)): -e})

    def named(self, node: Any) -> str:  # a number of its own, with what defines it among the facts
        operation, parts, name = node[0], node[1:], shown(node)
        spend(len(name) // 8)
        need(name not in self.declared, f"the name {name!r} is that of an expression")
        if name in self.signs:
            return name
        if operation == "^":
            base, order = self.quotient(parts[0]), number(parts[1]).denominator
            need(self.sign((times(MINUS, base[0]), base[1])) < 2, "a root of a negative number")
            self.signs[name] = "positive" if self.sign(base) > 1 else "nonnegative"
            self.know(name, self.goals((power(one(name), order), {}), "==", base))
        elif operation in ("max", "min"):
            values = [self.quotient(each) for each in parts]
            seen = (max if operation == "max" else min)(map(self.sign, values))
            self.signs[name] = ("real", "nonnegative", "positive")[seen]
            for turn, value in enumerate(values):
                self.know(f"{name}{turn}", self.goals((one(name), {}), ">=" if operation == "max" else "<=", value))
        else:  # of which no more than a sign is known
            values = [] if operation == "constant" else [self.quotient(x) for x in parts[operation == "function" :]]
            defined = operation != "log" or self.sign((times(MINUS, values[0][0]), values[0][1])) == 0
            need(defined, "a logarithm of no positive number")
            base = values[0] if operation == "power" else (ONE, {})
            positive = operation in ("power", "exp", "constant")
            self.signs[name] = ("real", "nonnegative", "positive")[self.sign(base) if positive else 0]
        return name

    def know(self, name: str, goals: Any) -> None:
        need(name not in self.facts, f"two facts are called {name}")
        self.facts |= dict(zip((name, f"-{name}"), goals, strict=False))

    def sign(self, quotient: Any) -> int:
        poly, below = quotient
        seen = all(sign(dict(q), self.signs) or (e % 2 == 0) for q, e in below.items())
        return sign(poly, self.signs) * seen

    def sides(self, data: Any) -> Any:
        return self.quotient(data["left"]), self.quotient(data["right"])

    def goals(self, left: Any, relation: Any, right: Any) -> Any:  # as pairs (p, strict); denominators are cleared
        poly, below = self.total(left, product((MINUS, {}), right))
        for q, e in below.items():
            spend(len(poly) * (1 + max(map(len, poly), default=0) // 4))
            if len(q) == 1:  # a number, which may be in every term
                ((((x, _),), _),) = q
                least = min((dict(m).get(x, Fraction(0)) for m in poly), default=Fraction(0))
                drop = min(least, e)
                poly = {tuple((y, k - drop * (y == x)) for y, k in m if y != x or k > drop): c for m, c in poly.items()}
                e -= drop  # noqa: PLW2901
            if e % 2 and not sign(dict(q), self.signs):
                poly = times(poly, dict(q))
        common = Fraction(1)
        for c in poly.values():
            spend(cost(common, c))
            common = Fraction(math.lcm(common.numerator, c.denominator))
        poly = times({(): common}, poly)
        sides = {">=": [ONE], ">": [ONE], "<=": [MINUS], "<": [MINUS], "==": [ONE, MINUS]}[relation]
        return [(times(side, poly), relation in ("<", ">")) for side in sides]


def product(*quotients: Any) -> Any:
    spend(sum(weight(each) for _, each in quotients))
    return times(*(p for p, _ in quotients)), plus(*(each for _, each in quotients))


def weight(below: Any) -> int:  # of the terms in a denominator, which are what it is looked up by
    return sum(map(len, below))


def missing(common: Any, below: Any) -> Any:  # what brings a denominator to the common one
    spend(weight(common))
    for q, e in common.items():
        lack = e - below.get(q, 0)
        if lack and len(q) == 1:  # one number x, to any power
            ((((x, _),), _),) = q
            yield {((x, lack),): Fraction(1)}
        elif lack:
            yield power(dict(q), int(lack))


def shown(node: Any, outer: int = 0) -> str:
    """The text of an expression; names that could be read as expressions stand in quotes."""
    if isinstance(node, str):
        plain = re.fullmatch(r"[A-Za-z_][\w.']*|[0-9]+", node)
        return node if plain else f"({node})" if re.fullmatch(r"-?[0-9]+(/[0-9]+)?", node) else f'"{node}"'
    operation, parts = node[0], node[1:]
    if operation == "+":
        terms = [shown(each, 1) for each in parts]
        text, own = terms[0] + "".join(f" - {t[1:]}" if t[0] == "-" else f" + {t}" for t in terms[1:]), 1
    elif operation == "*":
        minus = parts[0] == "-1" and len(parts) > 1
        text, own = "-" * minus + "*".join(shown(each, 2) for each in parts[minus:]), 1 if minus else 2
    elif operation == "/":
        text, own = f"{shown(parts[0], 2)}/{shown(parts[1], 3)}", 2
    elif operation == "^" and parts[1] == "1/2":
        text, own = f"sqrt({shown(parts[0])})", 4
    elif operation in ("^", "power"):
        text, own = f"{shown(parts[0], 4)}^{shown(parts[1], 4)}", 3
    elif operation == "dot":
        same = parts[0] == parts[1]
        text, own = f"|{shown(parts[0])}|^2" if same else f"<{shown(parts[0])}, {shown(parts[1])}>", 3 if same else 4
    elif operation == "constant":
        text, own = parts[0], 4
    else:
        name = parts[0] if operation == "function" else operation
        text, own = f"{name}({', '.join(map(shown, parts[operation == 'function' :]))})", 4
    return f"({text})" if own < outer else text


# --- Proofs ---


def replace(state: Any, x: str, above: Any, below: Any, new: str) -> Any:  # above/below, of the kind new, for x
    spend(len(state[1]))

    def put(poly: Any) -> Any:  # times powers of x and below
        powers = [dict(m).get((x,), 0) for m in poly]
        low, high = min([0, *powers]), max([0, *powers])
        fits = state[0][x] in POSITIVE or low == 0
        need(fits and all((e - low) % 1 == 0 for e in powers), f"{x} may be 0, or under a root")
        rests = [{tuple((y, k) for y, k in m if y != (x,)): c} for m, c in poly.items()]
        parts = (
            (p, power(above, int(e - low)), power(below, int(high - e))) for p, e in zip(rests, powers, strict=True)
        )
        return plus(*(times(*part) for part in parts))

    return {**state[0], x: new}, {name: (put(p), some) for name, (p, some) in state[1].items()}, put(state[2]), state[3]


def substitute(state: Any, node: Any) -> Any:  # uses up a fact slope*x + rest >= 0; x' has the name of x
    fields(node, "by variable hypothesis kind", "then")
    need(node["kind"] in ("least", "most", "least relative", "most relative"), "no kind of substitution")
    x, signs, (known, strict) = node["variable"], state[0], state[1][node["hypothesis"]]
    need(x in signs, f"{x!r} is no number")
    slope: Any = {tuple((y, k) for y, k in m if y != (x,)): c for m, c in known.items() if dict(m).get((x,)) == 1}
    rest: Any = {m: c for m, c in known.items() if (x,) not in dict(m)}
    # x, or with "most" 1/x, is C + x', or C*(1 + x') if relative, with C = above/below.
    least, relative = node["kind"][0] == "l", node["kind"].endswith("relative")
    above, below = (times(MINUS, rest), slope) if least else (times(MINUS, slope), rest)
    fits = sign(below, signs) > 1 and (least or signs[x] in POSITIVE) and (not relative or sign(above, signs) > 1)
    need(fits and len(slope) + len(rest) == len(known), f"{node['hypothesis']} is no such bound")
    above = plus(above, times(above if relative else below, one(x)))
    return replace(state, x, *((above, below) if least else (below, above)), "positive" if strict else "nonnegative")


def cases(state: Any, x: str) -> Any:  # x is 0 or positive, negative or not, 1 or at least 2
    (signs, known, goal, strict), own = state, one(x)
    need(signs.get(x) in ("nonnegative", "whole", "real"), f"there are no cases of {x!r}")
    value = {"nonnegative": {}, "whole": ONE, "real": times(MINUS, own)}[signs[x]]
    new = {"nonnegative": "positive", "whole": "whole", "real": "nonnegative"}[signs[x]]
    more = {x: (plus(own, {(): Fraction(-2)}), False)} if new == "whole" else {}
    return replace(state, x, value, ONE, "nonnegative"), ({**signs, x: new}, {**known, **more}, goal, strict)


def summand(term: Any, state: Any, vectors: Any) -> Any:  # a nonnegative term, and whether it is seen to be positive
    signs, known, _, _ = state
    fields(term, "factor", "square norm hypotheses proof")
    used = [known[name] for name in listed(term.get("hypotheses", []), "hypotheses")]
    factor = read(term["factor"], signs, vectors)
    if "proof" in term:
        check((signs, known, factor, False), term["proof"], vectors)
    need("proof" in term or sign(factor, signs), "a factor may be negative")
    square = read(term.get("square", [["1", {}]]), signs, vectors)
    norm: Any = ONE
    if "norm" in term:  # |sum of coefficient*vector|^2
        form = [(read(c, signs, vectors), v) for c, v in listed(term["norm"], "coefficients and vectors")]
        need(all(v in vectors for _, v in form), "no vector")
        spend(len(form) ** 2)
        pairs = ((a, b, one(u, v)) for a, u in form for b, v in form)
        norm = plus(*(times(*pair) for pair in pairs))
    some = not {"square", "norm"} & set(term) and sign(factor, signs) > 1 and all(above for _, above in used)
    return times(factor, square, square, norm, *(p for p, _ in used)), some


def check(state: Any, node: Any, vectors: Any) -> None:  # raises ArithmeticError unless the node proves the goal
    signs, known, goal, strict = state
    by = node.get("by") if isinstance(node, dict) else None
    if by == "terms":  # multiplier*goal is the sum of all factor*square^2*norm*hypotheses
        fields(node, "by terms", "multiplier")
        multiplier = read(node.get("multiplier", [["1", {}]]), signs, vectors)
        need(sign(multiplier, signs) > 1, "the multiplier may be 0")
        found = [summand(term, state, vectors) for term in listed(node["terms"], "terms")]
        need(not plus(times(MINUS, multiplier, goal), *(p for p, _ in found)), "the terms do not add up")
        need(not strict or any(some for _, some in found), "the goal may be 0")
    elif by == "substitution":
        check(substitute(state, node), fields(node, "by variable hypothesis kind then")["then"], vectors)
    elif by == "cases":
        both = listed(fields(node, "by variable cases")["cases"], "cases")
        for case, proof in zip(cases(state, node["variable"]), both, strict=True):
            check(case, proof, vectors)
    else:  # a fact is negative: nothing is left to show
        need(by == "void", f"there is no rule {str(by)[:40]}")
        poly, above = known[fields(node, "by hypothesis proof")["hypothesis"]]
        check((signs, known, times(MINUS, poly), not above), node["proof"], vectors)


# --- The file ---

SIDES = "left relation right"


def digest(data: Any) -> str:
    """What the claim and its hypotheses are, and of which step, as one number."""
    claim = {key: data[key] for key in ("id", "variables", "vectors", *SIDES.split(), "hypotheses")}
    return hashlib.sha256(json.dumps(claim, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def stated(data: Any) -> Any:  # the names and facts of a claim, and its goals
    claim, hypotheses = ClaimNames(data["variables"], data["vectors"]), listed(data["hypotheses"], "hypotheses")
    for each in (data, *(fields(each, SIDES) for each in hypotheses)):
        relation = each["relation"]
        need(isinstance(relation, str) and relation in IMPLIED, f"there is no relation {str(relation)[:40]!r}")
        for side in ("left", "right"):
            formed(each[side], claim.declared, claim.vectors)
    need(shown(data["left"]) != shown(data["right"]), "both sides are the same", RepeatedError)
    left, right = claim.sides(data)
    for turn, each in enumerate(hypotheses, 1):
        above, below = claim.sides(each)
        relations = (each["relation"], OPPOSITE[each["relation"]])
        for sides, (same, turned) in (((above, below), relations), ((below, above), relations[::-1])):
            ratio = multiple(claim, sides, (left, right))
            given = ratio and data["relation"] in IMPLIED[same if ratio > 0 else turned]
            need(not given, f"the claim is hypothesis {turn}", RepeatedError)
        claim.know(str(turn), claim.goals(above, each["relation"], below))
    return claim, claim.goals(left, data["relation"], right)


def multiple(
    claim: ClaimNames, given: Any, sides: Any
) -> Fraction:  # which of the given sides, or difference, 0: of neither
    pairs = [*zip(given, sides, strict=True)]
    if not all(each[0] for each in (*given, *sides)):  # a - b >= 0 is a >= b
        pairs = [tuple(claim.total(left, product((MINUS, {}), right)) for left, right in (given, sides))]
    if any(known[1] != new[1] or known[0].keys() != new[0].keys() for known, new in pairs):
        return Fraction(0)
    ratios = {new[0][m] / c for known, new in pairs for m, c in known[0].items()}
    return ratios.pop() if len(ratios) == 1 else Fraction(0)


def step(data: Any, work: int = WORK) -> None:
    LEFT[0] = work
    fields(data, f"id variables vectors hypotheses proofs digest {SIDES}")
    need(isinstance(data["id"], str) and data["id"].isprintable(), "the id is no text")
    need(data["digest"] == digest(data), "the digest is that of another claim")
    claim, goals = stated(data)
    left = [(goal, strict) for goal, strict in goals if goal or strict]
    for (goal, strict), node in zip(left, listed(data["proofs"], "proofs"), strict=True):
        check((claim.signs, claim.facts, goal, strict), node, claim.vectors)


def line(data: Any) -> str:
    """A claim or hypothesis, made of its data."""
    return f"{shown(data['left'])} {data['relation'].replace('==', '=')} {shown(data['right'])}"


def text(data: Any) -> str:
    """The claim of a certificate and what it supposes, in words made of its data."""
    kinds = [(sort, [shown(x) for x, own in data["variables"].items() if own == sort]) for sort in KINDS]
    lines = [
        f"{data['id']}  {data['digest'][:16]}",
        f"  {line(data)}",
        *(f"    if {line(h)}" for h in data["hypotheses"]),
    ]
    for sort, names in (*kinds, ("vectors", [shown(v) for v in data["vectors"]])):
        lines += [f"    {sort}: {', '.join(names)}"] if names else []
    return "\n".join(lines)


def once(pairs: Any) -> Any:
    need(len({key for key, _ in pairs}) == len(pairs), "an object has a key twice")
    return dict(pairs)


def refuse(value: str) -> Any:
    raise ArithmeticError(f"{value[:40]} is no text")


def checked(
    file: Any, audited: Any, size: int, *, claims: bool
) -> Any:  # what to say, line by line; last of all why not
    left, seen, where = WORK + PER_BYTE * size, set(), "the file"
    try:
        for each in listed(file.get("without_certificate", []), "reasons"):
            need(all(isinstance(x, str) for x in fields(each, "id reason").values()), "a reason is no text")
        for turn, each in enumerate(listed(file["steps"], "steps"), 1):
            where = f"step {turn}"
            where = ascii(each["id"])[1:-1][:80]
            allowed = min(left, WORK)
            step(each, allowed)
            left -= allowed - LEFT[0]
            need(each["id"] not in seen, "a step twice")
            need(audited is None or (each["id"], each["digest"]) in audited, "the audit has no such claim")
            seen.add(each["id"])
            if claims:
                yield text(each), 0
    except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError, MemoryError) as error:
        yield f"{where} is rejected: {error}"[:300], 1
        return
    beside = len(file.get("without_certificate", []))
    yield f"{len(seen)} certificates are accepted" + f", and {beside} claims have none" * bool(beside), 0


def answer(arguments: list[str]) -> int:
    paths, code = [each for each in arguments if each != "--claims"], 2
    try:
        need(len(paths) in (1, 2), "python recheck.py FILE.json [AUDIT.json] [--claims]")
        strict: Any = {"parse_float": refuse, "parse_constant": refuse}
        strict["parse_int"] = lambda text: int(text) if len(text) < 10 else refuse(text)
        content = Path(paths[0]).read_text("utf-8")
        file = json.loads(content, object_pairs_hook=once, **strict)
        need(fields(file, "schema steps", "without_certificate")["schema"] == 2, "another schema")
        audited = None
        if len(paths) > 1:
            audit = json.loads(Path(paths[1]).read_text("utf-8"), object_pairs_hook=once)
            audited = {(each["id"], each["digest"]) for each in audit["steps"]}
    except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, OSError, RecursionError) as error:
        print(ascii(f"{' '.join(paths)} is not read: {error}")[1:-1][:300])
        return 2
    for said, code in checked(file, audited, len(content), claims="--claims" in arguments):  # noqa: B007
        print("\n".join(ascii(part)[1:-1] for part in said.split("\n")))
    return code


def main(arguments: list[str]) -> int:
    try:
        code = answer(arguments)
        sys.stdout.flush()
    except OSError:  # what is said is read by nobody, or there is no room for it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
