"""Check certificates without ratecheck: ``python recheck.py FILE.json [AUDIT.json] [--claims]``.

``ratecheck audit PAPER --certificates FILE.json`` writes the file, whose schema is in docs/certificates.md. Exit code
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
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

ONE, MINUS, POSITIVE = {(): Fraction(1)}, {(): Fraction(-1)}, ("positive", "whole")
KINDS = ("positive", "nonnegative", "real", "whole")
OPPOSITE = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
FUNCTIONS = ("exp", "log")
# Products of short coefficients that the check of one claim may take: some seconds. Of b bits it counts as b^2/2^18.
WORK, LEFT = 2_000_000, [0]
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


def times(*polys: Any) -> Any:
    total: Any = ONE
    for poly in polys:
        spend(len(total) * len(poly) * max(map(cost, (0, *total.values()))) * max(map(cost, (0, *poly.values()))))
        found: Any = {}
        for m, c in total.items():
            for k, d in poly.items():
                powers = plus(dict(m), dict(k)) if m and k else dict(m or k)
                monomial = tuple(sorted(powers.items()))
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
    found = []
    for term in listed(data, "terms"):
        need(isinstance(term, list) and len(term) in (2, 3) and isinstance(term[1], dict), "no term")
        powers: Any = {}
        for name, text in term[1].items():
            e = number(text, HIGHEST)
            need(name in signs, f"{name!r} is no number of this claim")
            fits = signs[name] in POSITIVE or (e > 0 and (signs[name] == "nonnegative" or e.denominator == 1))
            need(fits, f"a meaningless power of {name}")
            powers = plus(powers, {(name,): e})
        for pair in listed(term[2] if len(term) == 3 else [], "inner products"):
            need(isinstance(pair, list) and len(pair) == 2 and all(v in vectors for v in pair), "no inner product")
            powers = plus(powers, {tuple(sorted(pair)): Fraction(1)})
        found.append({tuple(sorted(powers.items())): number(term[0])})
    return plus(*found)


# --- Claims: quotients of a polynomial and powers of others, as they are written ---


class Claim:
    """What the names of a claim stand for; roots, maxima and functions in it become numbers of their own."""

    def __init__(self, variables: Any, vectors: Any) -> None:
        need(isinstance(variables, dict), "no kinds of numbers")
        for name in (*variables, *listed(vectors, "vectors")):
            fits = isinstance(name, str) and 0 < len(name) <= 200 and name.isprintable() and '"' not in name
            need(fits, f"the name {str(name)[:200]!r}")
            need(not re.fullmatch(r"-?[0-9/]+", name), f"the name {name!r} is a number")
        for name, sort in variables.items():
            need(sort in KINDS, f"{name} is {sort!r}, which is no kind of number")
        need(len(set(vectors)) == len(vectors), "a vector twice")
        self.signs, self.vectors, self.facts = dict(variables), set(vectors), {}
        for x in variables:
            if variables[x] == "whole":
                self.facts[x] = (plus(one(x), MINUS), False)
        self.declared = set(variables)

    def read(self, data: Any) -> Any:
        return read(data, self.signs, self.vectors)

    def quotient(self, node: Any, deep: int = 0) -> Any:  # (p, {q: e}) for p divided by all q^e
        need(deep < DEEPEST, "too deep")
        spend(1)
        if isinstance(node, str):
            if node in self.declared:
                return one(node), {}
            value = number(node)
            return ({(): value} if value else {}), {}
        need(isinstance(node, list) and len(node) > 1 and isinstance(node[0], str), "no expression")
        operation, *parts = node
        if operation == "+":
            return self.total(*(self.quotient(each, deep + 1) for each in parts))
        if operation == "*":
            return product(*(self.quotient(each, deep + 1) for each in parts))
        if operation == "/" and len(parts) == 2:
            return product(self.quotient(parts[0], deep + 1), self.inverse(self.quotient(parts[1], deep + 1)))
        if operation == "^" and len(parts) == 2:
            return self.raised(parts[0], number(parts[1], HIGHEST), deep)
        if operation == "dot" and len(parts) == 2:
            first, second = (self.vector(each, deep + 1) for each in parts)
            pairs: Any = ((a, b, (one(u, v), {})) for u, a in first.items() for v, b in second.items())
            return self.total(*(product(*pair) for pair in pairs))
        return one(self.named(node, deep)), {}

    def vector(self, node: Any, deep: int) -> Any:  # {vector: coefficient}
        need(deep < DEEPEST, "too deep")
        spend(1)
        if isinstance(node, str):
            need(node in self.vectors, f"{node!r} is no vector")
            return {node: (ONE, {})}
        need(isinstance(node, list) and len(node) > 1, "no vector")
        if node[0] == "*" and len(node) == 3:
            factor = self.quotient(node[1], deep + 1)
            return {v: product(factor, c) for v, c in self.vector(node[2], deep + 1).items()}
        need(node[0] == "+", "no vector")
        parts = [self.vector(each, deep + 1) for each in node[1:]]
        names = {v: None for part in parts for v in part}
        return {v: self.total(*(part[v] for part in parts if v in part)) for v in names}

    def total(self, *quotients: Any) -> Any:
        common: Any = {}
        for _, below in quotients:
            common |= {q: max(e, common.get(q, e)) for q, e in below.items()}
        return plus(*(times(p, *missing(common, below)) for p, below in quotients)), common

    def inverse(self, quotient: Any) -> Any:  # a product of numbers is split into its factors
        poly, below = quotient
        need(poly, "a divisor is 0")
        if len(poly) > 1:
            return times(*missing(below, {})), {frozen(poly): Fraction(1)}
        ((monomial, c),) = poly.items()
        return times({(): 1 / c}, *missing(below, {})), {frozen(one(*x)): e for x, e in monomial}

    def raised(self, node: Any, e: Fraction, deep: int) -> Any:
        base = self.quotient(node, deep + 1)
        if e.denominator == 1:
            if e < 0:
                base = self.inverse(base)
            return power(base[0], abs(int(e))), {q: k * abs(int(e)) for q, k in base[1].items()}
        if isinstance(node, str) and node in self.declared and self.signs[node] != "real":
            name = node
        else:
            name, e = self.named(["^", node, f"1/{e.denominator}"], deep), Fraction(e.numerator)
        return ({(((name,), e),): Fraction(1)}, {}) if e > 0 else (ONE, {frozen(one(name)): -e})

    def named(self, node: Any, deep: int) -> str:  # a number of its own, with what defines it among the facts
        operation, parts, name = node[0], node[1:], shown(node)
        need(name not in self.declared, f"the name {name!r} is that of an expression")
        if name in self.signs:
            return name
        if operation == "^":
            base, order = self.quotient(parts[0], deep + 1), number(parts[1], HIGHEST).denominator
            self.signs[name] = "positive" if self.sign(base) > 1 else "nonnegative"
            self.know(name, self.goals((power(one(name), order), {}), "==", base))
        elif operation in ("max", "min"):
            values = [self.quotient(each, deep + 1) for each in parts]
            seen = (max if operation == "max" else min)(map(self.sign, values))
            self.signs[name] = ("real", "nonnegative", "positive")[seen]
            for turn, value in enumerate(values):
                self.know(f"{name}{turn}", self.goals((one(name), {}), ">=" if operation == "max" else "<=", value))
        else:
            for each in {"constant": [], "function": parts[1:]}.get(operation, parts):
                self.quotient(each, deep + 1)
            self.signs[name] = self.function(operation, parts)
        return name

    def function(self, operation: str, parts: Any) -> str:  # the kind of a value of which no more is known
        if operation == "power" and len(parts) == 2:
            return ("real", "nonnegative", "positive")[self.sign(self.quotient(parts[0]))]
        if operation == "function":
            known = ("max", "min", "sqrt", *FUNCTIONS)
            need(len(parts) > 1 and re.fullmatch(r"[A-Za-z]\w*", parts[0]) and parts[0] not in known, "no function")
            return "real"
        need(parts in (["pi"], ["e"]) if operation == "constant" else operation in FUNCTIONS, "no operation")
        return "real" if operation == "log" else "positive"

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
        need(relation in OPPOSITE or relation == "==", f"there is no relation {str(relation)[:40]!r}")
        poly, below = self.total(left, product((MINUS, {}), right))
        for q, e in below.items():
            spend(len(poly))
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
    below: Any = {}
    for _, each in quotients:
        below = plus(below, each)
    return times(*(p for p, _ in quotients)), below


def missing(common: Any, below: Any) -> Any:  # what brings a denominator to the common one
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
    need(data["left"] != data["right"], "both sides are the same", RepeatedError)
    claim = Claim(data["variables"], data["vectors"])
    left, right = claim.sides(data)
    for turn, each in enumerate(listed(data["hypotheses"], "hypotheses"), 1):
        above, below = claim.sides(fields(each, SIDES))
        if each["relation"] != data["relation"]:  # a <= b is b >= a
            own, other = (below, above) if OPPOSITE.get(each["relation"]) == data["relation"] else (None, None)
        else:
            own, other = above, below
        need(not same(own, left, other, right), f"the claim is hypothesis {turn}", RepeatedError)
        claim.know(str(turn), claim.goals(above, each["relation"], below))
    return claim, claim.goals(left, data["relation"], right)


def same(own: Any, left: Any, other: Any, right: Any) -> bool:  # sides, but for one positive number
    pairs = [(own, left), (other, right)]
    if own is None or any(one[1] != two[1] or one[0].keys() != two[0].keys() for one, two in pairs):
        return False
    ratios = {two[0][m] / c for one, two in pairs for m, c in one[0].items()}
    return len(ratios) == 1 and min(ratios) > 0


def step(data: Any) -> None:
    LEFT[0] = WORK
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


def main(arguments: list[str]) -> int:
    paths, where, code = [each for each in arguments if each != "--claims"], "no file", 2
    try:
        where = " ".join(paths) or where
        refused: Any = {
            "parse_float": refuse,
            "parse_int": lambda n: int(n) if len(n) < 10 else refuse(n),
            "parse_constant": refuse,
        }
        file = json.loads(Path(paths[0]).read_text("utf-8"), object_pairs_hook=once, **refused)
        need(fields(file, "schema steps", "without_certificate")["schema"] == 2, "another schema")
        audited = None
        if len(paths) > 1:
            audit = json.loads(Path(paths[1]).read_text("utf-8"))
            audited = {(each["id"], each["digest"]) for each in audit["steps"]}
        seen: set[str] = set()
        for turn, each in enumerate(listed(file["steps"], "steps"), 1):
            where, code = f"step {turn}", 1
            where = repr(each["id"])[1:-1][:80]
            step(each)
            need(each["id"] not in seen, "a step twice")
            need(audited is None or (each["id"], each["digest"]) in audited, "the audit has no such claim")
            seen.add(each["id"])
            if "--claims" in arguments:
                print(text(each))
    except BrokenPipeError:  # whoever reads the claims has seen enough
        return 2
    except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, OSError, RecursionError) as error:
        print(f"{where} is rejected: {type(error).__name__}: {str(error)[:300]}")
        return code
    print(f"{len(file['steps'])} certificates are accepted")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
