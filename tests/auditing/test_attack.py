"""The checker of certificates under attack: what it accepts is true, and broken copies of it are found out."""

import json
from fractions import Fraction

import certificate_attack
import claim_points
import pytest
from certificate_attack import attack, checker
from test_certificates import CLAIMS, step

from ratecheck.auditing import ledger
from ratecheck.auditing.export.certificates import certificate, file_data

PARTS, PART = 20, 5000


@pytest.fixture(scope="module")
def bases():
    """Certificates of one's own claims; by substitution, cases, squares, norms, with hypotheses, roots and maxima."""
    return [certificate(step(name, check), check) for name, check in CLAIMS.items()]


@pytest.fixture(scope="module")
def printed(bases):
    """These, and those of the papers."""
    papers = [ledger.module_of(paper) for paper in ("flame", "pfl", "fedsum", "simfbo")]
    return [*bases, *file_data(ledger.certificates(papers))["steps"]]


def is_sound(tally, cases):
    """Nothing false was accepted, and not for want of accepted claims, rules, or points that meet the hypotheses."""
    assert tally.wrong == []
    count = tally.count
    assert count["tried"] == cases
    assert count["accepted"] > cases / 10
    assert count["at a tenth of the points"] > 0.8 * count["accepted"]
    assert count["exact"] > 4 * count["accepted"]
    assert count["another digest"] > cases / 50
    assert {"terms", "substitution", "cases", "void", "norm", "square", "multiplier", "proof"} <= set(tally.rules)


def test_what_the_checker_accepts_is_true(bases):
    """Some hundred of the certificates of the long run, at fewer points."""
    is_sound(attack(checker(), bases, "short", range(600), points=300), 600)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_what_the_checker_accepts_of_100_000_is_true(printed, part, record_property):
    """At 1,000 points each, in dimension 1, 2 and 3."""
    tally = attack(checker(), printed, "long", range(part * PART, (part + 1) * PART))
    record_property("attack", json.dumps([tally.count, tally.accepted, tally.rules]))
    is_sound(tally, PART)


# Broken copies of the checker: what of its text is replaced, and by what.
COMMUTING = """    flat = sorted(v for key, e in powers.items() if len(key) == 2 for v in key * int(e))
    powers = {key: e for key, e in powers.items() if len(key) == 1}
    for pair in zip(flat[::2], flat[1::2]):
        powers[pair] = powers.get(pair, 0) + Fraction(1)
"""
PRODUCT = "    return tuple(sorted((x, e) for x, e in powers.items() if e))\n"
BOUND = "sign(below, signs) > 1 and (least or signs[x] in POSITIVE) and (not relative or sign(above, signs) > 1)"
CASES = 'zip(cases(state, node["variable"]), both, strict=True):'
ODD = "            if e % 2 and not sign(dict(q), self.signs):\n                poly = times(poly, dict(q))\n"
BROKEN = {
    "inner products commute as products of vectors": (PRODUCT, COMMUTING + PRODUCT),
    "strictness is ignored": ('need(not strict or any(some for _, some in found), "the goal may be 0")', ""),
    "hypotheses are strict": (
        'claim.know(str(turn), claim.goals(above, each["relation"], below))',
        'claim.know(str(turn), [(p, True) for p, _ in claim.goals(above, each["relation"], below)])',
    ),
    "a term is positive whatever its hypotheses are": (" and all(above for _, above in used)\n", "\n"),
    "a substitution asks for no sign": (BOUND, "True"),
    "nor of the slope": (BOUND, BOUND.replace("sign(below, signs) > 1 and ", "")),
    "the second case is dropped": (CASES, CASES.replace("zip(", "list(zip(").replace("):", "))[:1]:")),
    "the sign of denominators is ignored": (ODD, ""),
    "that of the multiplier": ('need(sign(multiplier, signs) > 1, "the multiplier may be 0")', ""),
    "or it may be 0": ("need(sign(multiplier, signs) > 1,", "need(sign(multiplier, signs) > 0,"),
    "that of factors": ('need("proof" in term or sign(factor, signs), "a factor may be negative")', ""),
    "odd powers are nonnegative": (
        'even = all(kind(signs, x) != "real" or e % 2 == 0 for m in poly for x, e in m)',
        "even = True",
    ),
    "inner products are nonnegative": ('"nonnegative" if key[0] == key[1] else "real"', '"nonnegative"'),
    "a hypothesis may be 0 and void": ("times(MINUS, poly), not above)", "times(MINUS, poly), False)"),
    "minima are maxima": ('">=" if operation == "max" else "<="', '">="'),
}
RARE = {
    "the first case is dropped": (CASES, CASES.replace("zip(", "list(zip(").replace("):", "))[1:]:")),
    "a substitution does not ask for the sign of a relative bound": (
        BOUND,
        BOUND.replace(" and (not relative or sign(above, signs) > 1)", ""),
    ),
    "a substitution does not ask for that of the number": (
        BOUND,
        BOUND.replace(" and (least or signs[x] in POSITIVE)", ""),
    ),
    "norms are positive": ('"nonnegative" if key[0] == key[1]', '"positive" if key[0] == key[1]'),
    "powers without a meaning": ('need(fits, f"a meaningless power of {name}")', ""),
    "there is no 2": ("Fraction(-2)}), False)}", "Fraction(-3)}), False)}"),
    "roots are replaced by 1": ("need(fits and all((e - low) % 1 == 0 for e in powers),", "need(fits,"),
}


def found_out(patch, bases, cases):
    """The first certificate of a false claim that a broken checker accepts, which the sound one does not."""
    tally = attack(checker(patch), bases, "broken", range(cases), stop=True, points=300)
    assert tally.wrong, f"{tally.count['accepted']} of {cases} are accepted, and none is false"
    _, data, _ = tally.wrong[0]
    sound = checker()
    assert not certificate_attack.accepts(sound, {**data, "digest": sound.digest(data)})


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_checker_is_found_out(bases, name):
    """By the attack itself: the number of certificates is what is needed for all of them, and then some."""
    found_out(BROKEN[name], bases, 3000)


@pytest.mark.long
@pytest.mark.parametrize("name", RARE)
def test_a_checker_that_is_wrong_in_rare_cases_is_found_out(bases, name):
    """It takes more certificates."""
    found_out(RARE[name], bases, 40_000)


def test_a_digest_that_is_not_compared_is_found_out(bases):
    """A certificate with the digest of another claim."""
    patch = ('need(data["digest"] == digest(data), "the digest is that of another claim")', "")
    with pytest.raises(AssertionError, match="the digest is that of another claim"):
        attack(checker(patch), bases, "broken", range(3000), points=10)


# --- The oracle ---


def claim(left, relation, right, *hypotheses, vectors=(), **variables):
    """A claim as data."""
    sides = [dict(zip(("left", "relation", "right"), each, strict=True)) for each in hypotheses]
    found = {"variables": variables, "vectors": [*vectors], "left": left, "relation": relation, "right": right}
    return {**found, "hypotheses": sides}


SQUARES = ["*", ["dot", "u", "u"], ["dot", "v", "v"]]
MIXED = ["^", ["dot", "u", "v"], "2"]
TRUE = {
    "Cauchy and Schwarz": claim(MIXED, "<=", SQUARES, vectors="uv"),
    "of a root": claim(["^", ["*", "x", "y"], "1/2"], "<=", ["/", ["+", "x", "y"], "2"], x="positive", y="positive"),
    "of a logarithm": claim(["log", "x"], "<=", ["+", "x", "-1"], x="positive"),
    "of an equality": claim("y", ">=", "0", (["*", "x", "y"], "==", ["^", "r", "2"]), x="positive", y="real", r="real"),
    "orthogonal": claim(
        ["dot", ["+", "u", "v"], ["+", "u", "v"]],
        "==",
        ["+", ["dot", "u", "u"], ["dot", "v", "v"]],
        (["dot", "u", "v"], "==", "0"),
        vectors="uv",
    ),
    "under a cap": claim(
        "1",
        ">=",
        ["*", "x", "y", "L"],
        ("x", "<=", ["/", "1", ["*", "y", "L"]]),
        x="positive",
        y="positive",
        L="positive",
    ),
    "void": claim("1", "<=", "0", ("x", "<", "0"), x="positive"),
    "nowhere defined": claim("1", "<=", ["^", "-1", "1/2"]),
}
FALSE = {
    "the reverse": claim(SQUARES, "<=", MIXED, vectors="uv"),
    "in one dimension only": claim(SQUARES, "==", MIXED, vectors="uv"),
    "in two dimensions only": claim(
        ["*", ["dot", "w", "w"], ["+", SQUARES, ["*", "-1", MIXED]]],
        "<=",
        ["*", "1000000000", ["^", ["dot", "u", "v"], "2"]],
        (["dot", "u", "w"], "==", "0"),
        vectors="uvw",
    ),
    "strict at 0": claim("c", ">", "0", c="nonnegative"),
    "strict at 1": claim(["^", "x", "1/2"], "<", ["/", ["+", "x", "1"], "2"], x="positive"),
    "a root of a square": claim(["^", ["^", "r", "2"], "1/2"], "==", "r", r="real"),
    "by a thousandth": claim(["log", "x"], "<=", ["+", "x", "-1001/1000"], x="positive"),
    "on a line": claim("y", ">", "0", (["*", "x", "y"], "==", ["^", "r", "2"]), x="positive", y="real", r="real"),
    "beyond a cap": claim(
        "1",
        ">",
        ["*", "x", "y", "L"],
        ("x", "<=", ["/", "1", ["*", "y", "L"]]),
        x="positive",
        y="positive",
        L="positive",
    ),
    "a quotient": claim(["/", "x", "r"], ">=", "0", x="positive", r="real"),
    "a function": claim(["function", "f", "r"], ">=", "0", r="real"),
    "whole numbers": claim(["*", ["+", "K", "-1"], ["+", "K", "-3"]], ">=", "0", K="whole"),
}


@pytest.mark.parametrize("name", TRUE)
def test_the_oracle_finds_nothing_against_what_is_true(name):
    """At points that count, if there are any."""
    found = claim_points.judge(TRUE[name], 1)
    assert found.wrong is None
    assert (found.counted > 300) == (name not in ("void", "nowhere defined"))


@pytest.mark.parametrize("name", FALSE)
def test_the_oracle_finds_a_point_against_what_is_false(name):
    """A point that is written out is one of exact numbers."""
    found = claim_points.judge(FALSE[name], 1)
    assert found.wrong is not None
    for each in found.wrong.values():
        assert all(isinstance(part, Fraction) for part in (each if isinstance(each, list) else [each]))
