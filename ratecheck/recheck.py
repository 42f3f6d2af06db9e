"""Check what ``ratecheck audit PAPER --certificates FILE.json`` wrote: ``python recheck.py FILE.json``.

Exit code 0: all is accepted, 1: a certificate is rejected, 2: unreadable. A polynomial is a dict from monomials, sorted
tuples of (variable, exponent), to coefficients. A state: signs of variables; hypotheses, polynomials that are
nonnegative, or positive where marked strict; the goal, such a polynomial too, and whether it is strict.
"""

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

ONE, MINUS, POSITIVE = {(): Fraction(1)}, {(): Fraction(-1)}, ("positive", "whole")


def need(condition: object, why: str) -> None:
    if not condition:
        raise ArithmeticError(why)


def plus(*polys: Any) -> Any:
    total: Any = {}
    for monomial, c in (term for poly in polys for term in poly.items()):
        total[monomial] = total.get(monomial, 0) + c
    return {monomial: c for monomial, c in total.items() if c}


def times(*polys: Any) -> Any:
    total: Any = ONE
    for poly in polys:
        pairs = [(plus(dict(m), dict(k)), c * d) for m, c in total.items() for k, d in poly.items()]
        total = plus(*({tuple(sorted(m.items())): c} for m, c in pairs))
    return total


def read(data: Any, signs: Any) -> Any:  # other exponents than whole positive ones only where they have a meaning
    fits = [(signs[n], Fraction(e)) for _, m in data for n, e in m.items()]
    need(all(s in POSITIVE or (e > 0 and (s == "nonnegative" or e % 1 == 0)) for s, e in fits), "a meaningless power")
    return plus(*({tuple(sorted((n, Fraction(e)) for n, e in m.items())): Fraction(c)} for c, m in data))


def sign(poly: Any, signs: Any) -> int:  # 1: no term can be negative, 2: and one is positive, 0: neither is seen
    even = all(signs[n] not in ("real", "vector") or e % 2 == 0 for m in poly for n, e in m)
    some = any(all(signs[n] in POSITIVE for n, _ in m) for m in poly)
    return (1 + some) * (even and all(c > 0 for c in poly.values()))


def degrees(poly: Any, signs: Any) -> set[Any]:  # in vectors: the inner product of two is written as their product
    return {sum(e for n, e in m if signs[n] == "vector") for m in poly} | {0}


def goals(data: Any, signs: Any) -> Any:  # as pairs (p, strict); denominators are cleared, whatever their sign
    above: Any = {}
    below = ONE
    signed = [*((ONE, part) for part in data["left"]), *((MINUS, part) for part in data["right"])]
    for turn, (factors, divisors) in signed:
        up, down = (times(*(read(each, signs) for each in part)) for part in (factors, divisors))
        need(up and down, "a factor or divisor is 0")
        if down != below:
            above, up, below = times(above, down), times(up, below), times(below, down)
        above = plus(above, times(turn, up))
    poly = above if sign(below, signs) else times(above, below)
    need(degrees(poly, signs) <= {0, 2} and below == read(data["below"], signs), "a degree or a denominator")
    sides = {">": [ONE], "<": [MINUS], "=": [ONE, MINUS]}[data["relation"][0]]
    return [(times(side, poly), data["relation"] in ("<", ">")) for side in sides]


def replace(state: Any, x: str, above: Any, below: Any, new: str) -> Any:  # above/below, of the sign new, for x
    def put(poly: Any) -> Any:  # times powers of x and below
        powers = [dict(m).get(x, 0) for m in poly]
        low, high = min([0, *powers]), max([0, *powers])
        fits = state[0][x] in POSITIVE or (low == 0 and state[0][x] != "vector")
        need(fits and all((e - low) % 1 == 0 for e in powers), f"{x} may be 0, or under a root")
        rests = [{tuple((n, k) for n, k in m if n != x): c} for m, c in poly.items()]
        parts = [[p, *[above] * int(e - low), *[below] * int(high - e)] for p, e in zip(rests, powers, strict=True)]
        return plus(*(times(*part) for part in parts))

    return {**state[0], x: new}, {name: (put(p), some) for name, (p, some) in state[1].items()}, put(state[2]), state[3]


def substitute(state: Any, node: Any) -> Any:  # uses up a hypothesis slope*x + rest >= 0; x' has the name of x
    x, signs, (known, strict) = node["variable"], state[0], state[1][node["hypothesis"]]
    slope: Any = {tuple((n, k) for n, k in m if n != x): c for m, c in known.items() if dict(m).get(x) == 1}
    rest: Any = {m: c for m, c in known.items() if x not in dict(m)}
    # x, or with "most" 1/x, is C + x', or C*(1 + x') if relative, with C = above/below.
    least, relative = node["kind"][0] == "l", node["kind"].endswith("relative")
    above, below = (times(MINUS, rest), slope) if least else (times(MINUS, slope), rest)
    fits = sign(below, signs) > 1 and (least or signs[x] in POSITIVE) and (not relative or sign(above, signs) > 1)
    need(fits and len(slope) + len(rest) == len(known), f"{node['hypothesis']} is no such bound")
    above = plus(above, times(above if relative else below, {((x, Fraction(1)),): Fraction(1)}))
    return replace(state, x, *((above, below) if least else (below, above)), "positive" if strict else "nonnegative")


def cases(state: Any, x: str) -> Any:  # x is 0 or positive, negative or not, 1 or at least 2
    (signs, known, goal, strict), own = state, {((x, Fraction(1)),): Fraction(1)}
    value = {"nonnegative": {}, "whole": ONE, "real": times(MINUS, own)}[signs[x]]
    new = {"nonnegative": "positive", "whole": "whole", "real": "nonnegative"}[signs[x]]
    more = {x: (plus(own, {(): Fraction(-2)}), False)} if new == "whole" else {}
    return replace(state, x, value, ONE, "nonnegative"), ({**signs, x: new}, {**known, **more}, goal, strict)


def check(state: Any, node: Any) -> None:  # raises ArithmeticError unless the node proves the goal
    signs, known, goal, strict = state
    if node["by"] == "terms":  # multiplier*goal is the sum of all factor*square^2*hypotheses
        total, some = times(MINUS, read(node.get("multiplier", [["1", {}]]), signs), goal), not strict
        need(sign(read(node.get("multiplier", [["1", {}]]), signs), signs) > 1, "the multiplier may be 0")
        for term in node["terms"]:
            used = [known[name] for name in term.get("hypotheses", ())]
            factor, square = read(term["factor"], signs), read(term.get("square", [["1", {}]]), signs)
            if "proof" in term:
                check((signs, known, factor, False), term["proof"])
            need("proof" in term or sign(factor, signs), "a factor may be negative")
            degree = 2 * max(degrees(square, signs)) + sum(max(degrees(p, signs)) for p, _ in used)
            need(degree <= 2 and degrees(factor, signs) == {0}, "not linear in inner products")
            total = plus(total, times(factor, square, square, *(p for p, _ in used)))
            some = some or ("square" not in term and sign(factor, signs) > 1 and all(above for _, above in used))
        need(some and not total, "the terms do not add up")
    elif node["by"] == "substitution":
        check(substitute(state, node), node["then"])
    elif node["by"] == "cases":
        for case, proof in zip(cases(state, node["variable"]), node["cases"], strict=True):
            check(case, proof)
    else:  # a hypothesis is negative: nothing is left to show
        need(node["by"] == "void", f"there is no rule {node['by']}")
        poly, strict = known[node["hypothesis"]]
        check((signs, known, times(MINUS, poly), not strict), node["proof"])


def step(data: Any) -> None:
    signs = data["variables"]
    known = {x: ({((x, Fraction(1)),): Fraction(1), (): Fraction(-1)}, False) for x in signs if signs[x] == "whole"}
    for name, hypothesis in data["hypotheses"].items():
        known |= dict(zip((name, f"-{name}"), goals(hypothesis, signs), strict=False))
    left = [(goal, strict) for goal, strict in goals(data, signs) if goal or strict]
    for (goal, strict), node in zip(left, data["proofs"], strict=True):
        check((signs, known, goal, strict), node)


if __name__ == "__main__":
    where, code = " ".join(sys.argv[1:]) or "no file", 2
    try:
        file = json.loads(Path(sys.argv[1]).read_text("utf-8"))
        need(file["schema"] == 1, "another schema")
        for each in file["steps"]:
            where, code = each["id"], 1
            step(each)
    except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, OSError, RecursionError) as error:
        sys.exit(print(f"{where} is rejected: {error!r}") or code)
    print(f"{len(file['steps'])} certificates are accepted")
