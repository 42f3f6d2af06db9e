"""Claims as data say what the ledgers say, with both sides as they are written, and none says x = x."""

import math
import random

import pytest
import sympy as sp

import bounds.ledger
from bounds.ledger.step import Enumerated, Gram, Identity, Scalar, Step, below, equations
from bounds.ledger.vectors import dot, factors, square, vectors
from bounds.ledger.written import at, sqrt, written
from ratecheck import recheck
from ratecheck.auditing.export.certificates import certificate
from ratecheck.auditing.export.claim_data import NotExpressibleError, claim_data, identified
from ratecheck.auditing.finding import StepVerdict, examine_step

PAPERS = ("pfl", "fedsum", "flame", "simfbo")
n, m = sp.symbols("n m", positive=True, integer=True)
x, y = sp.symbols("x y", positive=True)
u, v, w = vectors("u v w")


def step(check):
    """A step of one's own."""
    return Step(id="own/step", location="", claim="", of="own", check=check)


def line(check):
    """The text that the checker makes of a claim."""
    return recheck.line(claim_data(step(check), check))


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (
            Identity(left=square(u + v) + square(u - v), right=2 * square(u) + 2 * square(v)),
            "|u - v|^2 + |u + v|^2 = 2*|u|^2 + 2*|v|^2",
        ),
        (Identity(left=written(x - y) + y, right=x), "x - y + y = x"),
        (Identity(left=at((n - m) * x / n, {m: n}), right=0), "x*(-n + n)/n = 0"),
        (Identity(left=y * sqrt(x / y**2), right=sqrt(x)), "y*sqrt(x/y^2) = sqrt(x)"),
        (equations((u - v + (v - w), u - w)), "<any_1, u - v + v - w> = <any_1, u - w>"),
        (
            Gram(left=2 * dot(u, v - w), operator="<=", right=square(u) + square(v - w)),
            "2*<u, v - w> <= |v - w|^2 + |u|^2",
        ),
    ],
)
def test_sides_are_those_that_were_written(check, text):
    """Nothing cancels, and the claim has a certificate."""
    assert line(check) == text
    recheck.step(certificate(step(check), check))


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (Identity(left=x + y, right=y + x), "both sides are the same"),
        (Scalar(left=sp.Integer(0), operator="<=", right=sp.Integer(0)), "both sides are the same"),
        (Scalar(left=x, operator="<=", right=y, hypotheses=(below(x, y),)), "the claim is hypothesis 1"),
        (Scalar(left=3 * y, operator=">=", right=3 * x, hypotheses=(below(x, y),)), "the claim is hypothesis 1"),
        (
            Scalar(left=y - x, operator=">=", right=sp.Integer(0), hypotheses=(below(x, y),)),
            "the claim is hypothesis 1",
        ),
        (Scalar(left=x, operator="<=", right=2 * y, hypotheses=(below(x, y),)), ""),
    ],
)
def test_a_claim_that_says_nothing_is_not_proved(check, why):
    """Its step is checked in a special case, and says why; nothing leaves."""
    assert identified(step(check))[1] == why
    found = examine_step(step(check))
    assert found.verdict is (StepVerdict.CHECKED if why else StepVerdict.PROVED)
    assert found.narrower == why
    if why:
        with pytest.raises(NotExpressibleError, match=why):
            certificate(step(check), check)


def test_the_digest_is_that_of_the_certificate():
    """And of no other claim."""
    one, other = (Scalar(left=x, operator="<=", right=factor * (x + y)) for factor in (1, 2))
    assert examine_step(step(one)).digest == certificate(step(one), one)["digest"]
    assert examine_step(step(one)).digest != examine_step(step(other)).digest


def value(node, numbers, arrows):  # noqa: PLR0911  # an expression is one of several kinds
    """A number, or a vector, from its data."""
    if isinstance(node, str):
        if node in numbers:
            return numbers[node]
        return arrows[node] if node in arrows else float(sp.Rational(node))
    operation, *parts = node
    if operation == "constant":
        return {"pi": math.pi, "e": math.e}[parts[0]]
    if operation == "function":
        return float(getattr(sp, parts[0])(*(value(each, numbers, arrows) for each in parts[1:])))
    found = [value(each, numbers, arrows) for each in parts]
    if operation == "+":
        return [sum(each) for each in zip(*found, strict=True)] if isinstance(found[0], list) else sum(found)
    if operation == "*":
        return [found[0] * each for each in found[1]] if isinstance(found[-1], list) else math.prod(found)
    if operation == "dot":
        return math.sumprod(*found) if hasattr(math, "sumprod") else sum(a * b for a, b in zip(*found, strict=True))
    plain = {
        "/": lambda a, b: a / b,
        "^": lambda a, b: a**b,
        "power": lambda a, b: a**b,
        "max": max,
        "min": min,
        "exp": math.exp,
        "log": math.log,
    }
    return plain[operation](*found)


def drawn(kind, draw):
    """A number of a kind."""
    if kind == "whole":
        return float(draw.randint(1, 6))
    return draw.uniform(-2, 2) if kind == "real" else draw.uniform(0.1, 2)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_data_say_what_the_ledger_says(paper):
    """Both sides and all hypotheses at random numbers and vectors, of the data and of the SymPy expressions."""
    draw = random.Random(f"claim data {paper}")  # noqa: S311
    compared = 0
    for each in bounds.ledger.steps(paper)[::3]:
        check = each.check.algebraic if isinstance(each.check, Enumerated) else each.check
        if check is None:
            continue
        data = claim_data(each, check)
        numbers = {name: drawn(kind, draw) for name, kind in data["variables"].items()}
        arrows = {name: [draw.uniform(-1, 1) for _ in range(3)] for name in data["vectors"]}
        conditions = (*getattr(check, "hypotheses", ()), *getattr(check, "conditions", ()))
        assert len(data["hypotheses"]) == len(conditions)
        for ours, theirs in zip((data, *data["hypotheses"]), (check, *conditions), strict=True):
            for side in ("left", "right"):
                expr = getattr(theirs, side)
                pairs = {s: factors(s) for s in expr.free_symbols}
                point = {
                    s: numbers[s.name]
                    if pair is None
                    else sum(a * b for a, b in zip(*map(arrows.get, pair), strict=True))
                    for s, pair in pairs.items()
                }
                wanted = complex(expr.xreplace({s: sp.Float(number, 30) for s, number in point.items()}).evalf(30))
                if abs(wanted.imag) > 1e-12 or not math.isfinite(wanted.real):
                    continue
                assert math.isclose(value(ours[side], numbers, arrows), wanted.real, rel_tol=1e-7, abs_tol=1e-7), (
                    each.id
                )
                compared += 1
    assert compared > 100


@pytest.mark.parametrize("paper", PAPERS)
def test_no_ledger_has_a_line_that_says_nothing(paper):
    """But for lines that say themselves that what they need is what they claim."""
    for each in bounds.ledger.steps(paper):
        _, why = identified(each)
        assert "same" not in why, each.id
        assert not why or not examine_step(each).scope.covers, each.id
