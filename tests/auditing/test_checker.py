"""Files made by hand to deceive or to exhaust the checker of certificates: each is rejected, in one line and soon."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import claim_points
import pytest
from certificate_attack import checker
from test_attack import BROKEN

from ratecheck import recheck

REAL, POSITIVE = {"x": "real"}, {"x": "positive"}
# Calls of functions and returns from them for each unit of work that the checker counts, and each part of the data.
CALLS = 200


def term(coefficient, powers=None, *pairs):
    """One term of a polynomial in a proof."""
    return [str(coefficient), powers or {}, *([[list(pair) for pair in pairs]] if pairs else [])]


def terms(*found, **more):
    """A proof by terms."""
    return {"by": "terms", "terms": list(found), **more}


def sides(left, relation, right):
    """A comparison as data."""
    return {"left": left, "relation": relation, "right": right}


def certificate(left, relation, right, *proofs, variables=REAL, vectors=(), given=(), **more):
    """A certificate with its digest."""
    found = {"id": "own/claim", "variables": variables, "vectors": [*vectors], **sides(left, relation, right)}
    found |= {"hypotheses": [sides(*each) for each in given], "proofs": [*proofs], **more}
    return signed(found)


def signed(data):
    """The same with the digest that it ought to have."""
    return {**data, "digest": recheck.digest(data)}


def answer(tmp_path, capsys, *steps, audit=None, **more):
    """What the script says about a file, and its exit code."""
    paths = [tmp_path / "file.json", *([tmp_path / "audit.json"] if audit else [])]
    paths[0].write_text(json.dumps({"schema": 2, "steps": steps, "without_certificate": [], **more}))
    if audit:
        paths[1].write_text(json.dumps({"steps": audit}))
    code = recheck.main([str(path) for path in paths])
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert said.isascii()
    assert said[:-1].isprintable()
    return code, said


class TooMuchError(BaseException):
    """The checker does more than it counts."""


def rejected(module, data, work=recheck.WORK):
    """The reason why a checker rejects a certificate, after no more calls of functions than its work allows."""
    left = [CALLS * (work + len(json.dumps(data)) // 5)]

    def count(*_):
        left[0] -= 1
        if left[0] < 0:
            sys.setprofile(None)
            raise TooMuchError

    sys.setprofile(count)
    try:
        module.step(data, work)
    except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return str(error) or type(error).__name__
    finally:
        sys.setprofile(None)
    return ""


def square(name="x"):
    """That a square is nonnegative."""
    return certificate(["^", name, "2"], ">=", "0", terms({"factor": [term(1)], "square": [term(1, {name: "1"})]}))


# --- False claims ---

UU, VV, UV, VW, UW = (["dot", *pair] for pair in ("uu", "vv", "uv", "vw", "uw"))
HALF = "1/2"
PAIRS = {
    "the reverse of Cauchy and Schwarz": certificate(["*", UU, VV], "<=", ["^", UV, "2"], variables={}, vectors="uv"),
    "three vectors": certificate(["*", UV, VW], "==", ["*", VV, UW], variables={}, vectors="uvw"),
    "numbers for inner products": certificate(
        ["+", ["*", "y", UV], ["*", "z", VV]],
        ">=",
        "0",
        {
            "by": "substitution",
            "variable": "y",
            "hypothesis": "1",
            "kind": "least",
            "then": {
                "by": "substitution",
                "variable": "z",
                "hypothesis": "2",
                "kind": "least",
                "then": terms(
                    {"factor": [term(HALF, {"y": "1"})], "norm": [[[term(1)], "u"], [[term(1)], "v"]]},
                    {"factor": [term(HALF, {}, "uu"), term(HALF, {}, "vv")], "hypotheses": ["-1"]},
                    {"factor": [term(1, {"z": "1"}, "vv")]},
                ),
            },
        },
        variables={"y": "real", "z": "real"},
        vectors="uv",
        given=[("y", "==", UV), ("z", "==", ["*", "-1", UU])],
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_inner_products_do_not_commute_as_products_of_vectors(name):
    """Each is false in two dimensions, and a checker for which they do commute accepts it."""
    data = PAIRS[name]
    assert claim_points.judge(data, 1).wrong
    commuting = checker(BROKEN["inner products commute as products of vectors"])
    assert rejected(commuting, data) == ""
    assert rejected(recheck, data)


def test_in_one_dimension_it_would_be_true():
    """So that what is rejected is not the form: the other direction, with a term of its own, is a certificate."""
    norm = {"factor": [term(1)], "norm": [[[term(1)], "u"], [[term(-1)], "v"]]}
    claim = certificate(["*", "2", UV], "<=", ["+", UU, VV], terms(norm), variables={}, vectors="uv")
    assert rejected(recheck, claim) == ""


def function(name, *parts):
    """A function of which nothing is known."""
    return ["function", name, *parts]


FALSE = {
    "a power with a third part": certificate(
        ["^", "x", "2", "j"],
        "==",
        "x",
        terms({"factor": [term(1)], "hypotheses": ["x^2"]}),
        terms({"factor": [term(1)], "hypotheses": ["-x^2"]}),
        variables=POSITIVE,
    ),
    "pi is a number of the claim": certificate(
        ["exp", "pi"], "==", ["exp", ["constant", "pi"]], variables={"pi": "real"}
    ),
    "e is a vector of the claim": certificate(["constant", "e"], ">=", ["dot", "e", "e"], variables={}, vectors="e"),
    "a function called exp": certificate(function("exp", "x"), "==", ["exp", "x"]),
    "a function called sqrt": certificate(
        ["+", ["^", "x", "1/2"], function("sqrt", "x")],
        ">=",
        "0",
        terms({"factor": [term(2, {"sqrt(x)": "1"})]}),
    ),
    "a function called max": certificate(["+", ["max", "x", "1"], ["*", "-1", function("max", "x", "1")]], "==", "0"),
    "under a root of a negative number": certificate(
        ["+", "1", ["*", "0", ["^", "-1", "1/2"]]],
        "<=",
        "0",
        {
            "by": "void",
            "hypothesis": "-sqrt((-1))",
            "proof": terms({"factor": [term(1)]}, {"factor": [term(2, {"sqrt((-1))": "1"})]}),
        },
    ),
    "divided by 0": certificate(["/", "1", ["+", "x", ["*", "-1", "x"]]], "==", "0"),
    "a real number as if it were nonnegative": certificate("x", ">=", "0", terms({"factor": [term(1, {"x": "1"})]})),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_rejected(name, tmp_path, capsys):
    """Under proofs that once were enough."""
    assert answer(tmp_path, capsys, FALSE[name])[0] == 1


# --- What the schema does not name ---

SCHEMA = {
    "a kind": certificate("x", ">=", "0", terms({"factor": [term(1, {"x": "1"})]}), variables={"x": "Real"}),
    "a kind that is a list": certificate("x", "==", ["+", "x", "0"], variables={"x": []}),
    "a relation": certificate("x", "< ", ["+", "x", "1"], terms({"factor": [term(1)]})),
    "one equality sign": certificate("x", "=", ["+", "x", "0"]),
    "a relation of a hypothesis": certificate("x", "==", ["+", "x", "0"], given=[("x", "=>", "0")]),
    "two arguments of exp": certificate(["exp", "x", "x"], ">=", "0", terms({"factor": [term(1, {"exp(x, x)": "1"})]})),
    "more of a quotient": certificate(["exp", ["/", "x", "2"]], "==", ["exp", ["/", "x", "2", "more", {"a": []}]]),
    "more of a constant": certificate(["constant", "pi"], "==", ["constant", "pi", "3"], variables={}),
    "an operation": certificate(["-", "x", "x"], "==", "0"),
    "the maximum of one": certificate(["max", "x"], "==", ["+", "x", "0"]),
    "a power whose exponent is a number": certificate(["power", "x", "2"], "==", ["+", ["power", "x", "2"], "0"]),
    "an empty expression": certificate([], "==", "0"),
    "a number and a vector of one name": certificate(
        ["dot", "x", "x"], ">=", "0", terms({"factor": [term(1)], "norm": [[[term(1)], "x"]]}), vectors="x"
    ),
    "a vector twice": certificate(UU, "==", ["+", UU, "0"], variables={}, vectors="uu"),
    "a vector as a number": certificate("u", "==", ["+", "u", "0"], variables={}, vectors="u"),
    "a number as a vector": certificate(["dot", "x", "x"], "==", ["^", "x", "2"]),
    "a name that is a number": certificate("2", "==", "3", variables={"2": "real"}),
    "a name that is an expression": certificate(
        ["^", ["+", "x", "x"], "1/2"], ">=", "0", variables={**REAL, "sqrt(x + x)": "real"}
    ),
    "an exponent that is no fraction": certificate(["^", "x", "x"], "==", "0"),
    "a number with a power of ten": certificate("1e9999999", ">=", "0", terms({"factor": [term("1e9999999")]})),
    "a number with a point": certificate("0.5", "==", "1/2"),
    "a number with a sign": certificate("+1", "==", "1"),
    "a number in other digits": certificate("\u0661", "==", "1"),
    "a number that is not in lowest terms": certificate("2/4", "==", "1/2"),
    "a number that divides by 0": certificate("1/0", ">=", "0"),
    "a number as such": certificate(1, "==", "1"),
    "no proof": certificate(["^", "x", "2"], ">=", "0"),
    "a proof too many": certificate(["+", "x", "x"], "==", ["*", "2", "x"], terms()),
    "a rule": certificate(["^", "x", "2"], ">=", "0", {"by": "magic"}),
    "a rule that is a lone surrogate": certificate(["^", "x", "2"], ">=", "0", {"by": "\ud800"}),
    "a rule that colours the terminal": certificate(["^", "x", "2"], ">=", "0", {"by": "\x1b[31mred"}),
    "a name that is a lone surrogate": certificate(["^", "\ud800", "2"], ">=", "0", variables={"\ud800": "real"}),
    "an id that is none": signed({**square(), "id": ["a"]}),
    "an id of two lines": signed({**square(), "id": "a\nb is accepted"}),
}
SCHEMA["a name that turns the line round"] = signed({**square("x\u202e"), "variables": {"x\u202e": "real"}})


@pytest.mark.parametrize("name", SCHEMA)
def test_what_the_schema_does_not_name_is_refused(name, tmp_path, capsys):
    """In one line that can be printed."""
    assert answer(tmp_path, capsys, SCHEMA[name])[0] == 1


EVERY = certificate(
    ["*", "2", "x", "K"],
    "<=",
    ["+", ["*", "4", "x", "K"], ["^", "x", "2"], ["dot", "u", "u"]],
    {
        "by": "cases",
        "variable": "c",
        "cases": [
            {
                "by": "substitution",
                "variable": "x",
                "hypothesis": "1",
                "kind": "least",
                "then": terms(
                    {"factor": [term(1)], "square": [term(1), term(1, {"x": "1"})]},
                    {"factor": [term(1)], "norm": [[[term(1)], "u"]]},
                    {
                        "factor": [term(2, {"K": "1"}), term(2, {"x": "1", "K": "1"})],
                        "proof": terms({"factor": [term(2, {"K": "1"}), term(2, {"x": "1", "K": "1"})]}),
                    },
                    multiplier=[term(1)],
                ),
            },
            terms(
                {"factor": [term(1)], "square": [term(1, {"x": "1"})]},
                {"factor": [term(1, {}, "uu")]},
                {"factor": [term(2, {"K": "1"})], "hypotheses": ["1"]},
                {"factor": [term(2, {"K": "1"})]},
            ),
        ],
    },
    variables={"K": "whole", "c": "nonnegative", "x": "real"},
    vectors="u",
    given=[("x", ">=", "1")],
)


def objects(data, path=()):
    """The places of all objects whose keys the schema fixes."""
    if isinstance(data, dict) and path[-1:] != ("variables",):
        yield path
    for key, each in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if not (path[-1:] in (("factor",), ("square",), ("norm",), ("multiplier",)) or key == "variables"):
            yield from objects(each, (*path, key))


def test_no_object_has_fields_that_the_schema_does_not_name(tmp_path, capsys):
    """In any place of a certificate by every rule, which is accepted as it is; nor has the file, or its last list."""
    assert answer(tmp_path, capsys, EVERY) == (0, "1 certificates are accepted\n")
    places = list(objects(EVERY))
    assert len(places) == 15
    for path in places:
        data = copy.deepcopy(EVERY)
        place = data
        for key in path:
            place = place[key]
        place["note"] = "believe me"
        code, said = answer(tmp_path, capsys, signed(data))
        assert code == 1, path
        assert "'note'" in said
    assert answer(tmp_path, capsys, EVERY, note="believe me")[0] == 2
    assert answer(tmp_path, capsys, EVERY, without_certificate=[{"id": "own/b", "reason": "", "note": ""}])[0] != 0
    for other in ("", {}):
        assert answer(tmp_path, capsys, EVERY, without_certificate=other)[0] != 0
    assert answer(tmp_path, capsys, EVERY, without_certificate=[{"id": "own/b", "reason": 1}])[0] != 0
    beside = answer(tmp_path, capsys, EVERY, without_certificate=[{"id": "own/b", "reason": "too long"}])
    assert beside == (0, "1 certificates are accepted, and 1 claims have none\n")


@pytest.mark.parametrize("key", [*EVERY])
def test_no_field_is_left_out(key, tmp_path, capsys):
    """Whatever else is said."""
    assert answer(tmp_path, capsys, {k: each for k, each in EVERY.items() if k != key})[0] == 1


@pytest.mark.parametrize(
    "text",
    [
        '"schema": 2, "schema": 2',
        '"schema": 2.0',
        '"schema": 1e0',
        '"schema": NaN',
        f'"schema": {"9" * 5000}',
        '"schema": "2"',
    ],
)
def test_json_is_read_strictly(text, tmp_path, capsys):
    """A key twice, and numbers that are not short whole ones."""
    (tmp_path / "file.json").write_text(f'{{{text}, "steps": [], "without_certificate": []}}')
    assert recheck.main([str(tmp_path / "file.json")]) == 2
    assert capsys.readouterr().out.count("\n") == 1


# --- Claims and certificates ---


def others():
    """Two certificates with claims, hypotheses and ids of their own."""
    first = certificate(
        "x",
        ">=",
        "1",
        terms({"factor": [term(1)], "hypotheses": ["1"]}, {"factor": [term(1)]}),
        given=[("x", ">=", "2")],
    )
    second = certificate(
        "y",
        ">=",
        "3",
        terms({"factor": [term(1)], "hypotheses": ["1"]}, {"factor": [term(1)]}),
        variables={"y": "real"},
        given=[("y", ">=", "4")],
    )
    return signed({**first, "id": "own/a"}), signed({**second, "id": "own/b"})


@pytest.mark.parametrize(
    "keys",
    ["id", "hypotheses", "left right", "variables", "relation", "digest", "left right variables hypotheses relation"],
)
def test_nothing_of_a_claim_is_swapped(keys, tmp_path, capsys):
    """Between two certificates that are accepted; digests made anew are not those of the audit."""
    first, second = others()
    audit = [{"id": each["id"], "digest": each["digest"]} for each in (first, second)]
    assert answer(tmp_path, capsys, first, second, audit=audit)[0] == 0
    second = {**second, "relation": "<=" if keys == "relation" else second["relation"]}
    swapped = [
        {**one, **{key: other[key] for key in keys.split()}} for one, other in ((first, second), (second, first))
    ]
    assert "digest" in answer(tmp_path, capsys, *swapped)[1]
    if keys != "digest":
        assert answer(tmp_path, capsys, *map(signed, swapped), audit=audit)[0] == 1
    assert answer(tmp_path, capsys, first, first)[0] == 1


def test_swapped_ids_are_told_by_the_audit_alone(tmp_path, capsys):
    """What the file says of itself holds."""
    first, second = others()
    audit = [{"id": each["id"], "digest": each["digest"]} for each in (first, second)]
    swapped = [signed({**first, "id": second["id"]}), signed({**second, "id": first["id"]})]
    assert answer(tmp_path, capsys, *swapped)[0] == 0
    assert answer(tmp_path, capsys, *swapped, audit=audit) == (1, "own/b is rejected: the audit has no such claim\n")


SUM = ["+", "x", "y"]
BOTH = {"x": "real", "y": "real"}
REPEATED = {
    "x = x": certificate("x", "==", "x"),
    "0 = 0": certificate("0", "==", "0"),
    "x + y <= x + y": certificate(SUM, "<=", SUM, variables=BOTH),
    "a hypothesis": ("x", "<=", "y", ("x", "<=", "y")),
    "turned round": ("x", "<=", "y", ("y", ">=", "x")),
    "an equality, turned": ("x", "==", "y", ("y", "==", "x")),
    "times a number": (["*", "2", "x"], "<=", ["*", "2", "y"], ("x", "<=", "y")),
    "from a strict one": ("x", "<=", "y", ("x", "<", "y")),
    "from an equality": ("x", "<=", "y", ("x", "==", "y")),
    "the second": (SUM, ">=", "0", ("x", ">=", "1"), (SUM, ">=", "0")),
    "times -1": (["*", "-1", "x"], ">=", ["*", "-1", "y"], ("x", "<=", "y")),
    "an equality, times -1": (["*", "-1", "x"], "==", ["*", "-1", "y"], ("x", "==", "y")),
    "from what is on one side": ("x", ">=", "y", (["+", "x", ["*", "-1", "y"]], ">=", "0")),
    "from a sum on one side": ("x", ">=", ["*", "-1", "y"], ("0", "<=", SUM)),
    "on one side": (["+", "x", ["*", "-1", "y"]], ">=", "0", ("x", ">=", "y")),
    "in another order": (SUM, ">=", "0", (["+", "y", "x"], ">=", "0")),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_claim_that_says_nothing_is_no_certificate(name):
    """Both sides are the same, or the claim is given, whatever the proof is."""
    data = REPEATED[name]
    if isinstance(data, tuple):
        *claim, turn = data[:3], len(data) - 3
        use = [
            terms({"factor": [term(2 if name == "times a number" else 1)], "hypotheses": [f"{sign}{turn}"]})
            for sign in ("", "-")
        ]
        proofs = use if data[1] == "==" else use[:1]
        data = certificate(*claim[0], *proofs, variables=BOTH, given=data[3:])
    assert rejected(recheck, data) in (
        "both sides are the same",
        f"the claim is hypothesis {1 + (name == 'the second')}",
    )


@pytest.mark.parametrize(
    "same", [("0", "00"), ("x", ["+", "x"]), ("x", ["*", "x"]), ("1/2", "2/4"), ("x", ["^", "x", "1/1"])]
)
def test_nor_in_disguise(same):
    """Numbers in lowest terms, sums and products of more than one."""
    assert rejected(recheck, certificate(same[0], "==", same[1]))


def test_an_identity_of_what_is_printed_is_a_certificate():
    """Nothing of it cancels before the checker expands it."""
    assert (
        rejected(recheck, certificate(["^", ["+", "x", "1"], "2"], "==", ["+", ["^", "x", "2"], ["*", "2", "x"], "1"]))
        == ""
    )


# --- What is said ---


def test_a_power_may_have_any_exponent(tmp_path, capsys):
    """Of x^(y + 1) no more than its sign is known."""
    shown = ["power", "x", ["+", "y", "1"]]
    proof = terms({"factor": [["1", {"x^(y + 1)": "1"}]]})
    positive = {"x": "positive", "y": "positive"}
    assert answer(tmp_path, capsys, certificate("0", "<=", shown, proof, variables=positive))[0] == 0
    assert answer(tmp_path, capsys, certificate("0", "<=", ["power", "x", "2"], proof, variables=positive))[0] == 1


@pytest.mark.parametrize("buffered", [True, False])
def test_what_cannot_be_said_is_no_rejection(tmp_path, buffered):
    """A full disk ends with 2 and without a traceback, and so does a reader that has gone."""
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"schema": 2, "steps": [square()]}))
    command = [sys.executable, *([] if buffered else ["-u"]), recheck.__file__, path, "--claims"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (2, b"")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as begun:
        begun.stdout.close()
        assert begun.stderr.read() == b""
    assert begun.returncode == 2


# --- Work ---


def many(count, kind="real", prefix="a"):
    """Numbers of a claim."""
    return {f"{prefix}{i:x}": kind for i in range(count)}


N, NAMES, V = many(2500), list(many(2500)), [f"v{i:x}" for i in range(140)]
LETTERS = [["+", *many(30, prefix=p)] for p in "abcdefgh"]
DOTS = [["dot", a, b] for i, a in enumerate(V) for b in V[:i]]
LONG = [f"w{i:x}" for i in range(2300)]
NOTHING = ["+", *(["*", "0", v] for v in LONG)]


def big(i):
    """A fraction of many digits in lowest terms."""
    return str(recheck.Fraction(10**990 + i, 10**990 + 10**9 + 7 * i))


WORK = {
    "8 factors of 30 terms": certificate(
        ["*", *LETTERS], ">=", "0", variables={x: "real" for each in LETTERS for x in each[1:]}
    ),
    "3 factors of 120 terms": certificate(
        ["*", *(["+", *many(120, prefix=p)] for p in "abc")],
        ">=",
        "0",
        variables={x: "real" for p in "abc" for x in many(120, prefix=p)},
    ),
    "an exponent of 10^8": certificate(["^", "x", "100000000"], ">=", "0"),
    "a root of order 10^8": certificate(["^", "x", "1/100000000"], ">=", "0"),
    "an exponent of 10^8 in a proof": certificate("x", ">=", "0", terms({"factor": [term(1, {"x": "100000000"})]})),
    "powers of powers": certificate(["^", ["^", ["^", ["+", "x", "1"], "900"], "900"], "900"], ">=", "0"),
    "a number of 10^5 digits": certificate("9" * 10**5, ">=", "0"),
    "powers of numbers": certificate(["^", ["^", ["^", "3", "900"], "900"], "900"], ">=", "0"),
    "a sum of reciprocals": certificate(
        ["+", *(["/", "1", n] for n in NAMES[:2000])], ">=", "0", variables=many(2000, "positive")
    ),
    "a product of 4500": certificate(["*", *many(4500)], "==", ["*", "2", "a0"], variables=many(4500)),
    "a power of a product of 2000": certificate(
        ["^", ["+", "1", ["*", *NAMES[:2000]]], "900"], "==", "0", variables=many(2000)
    ),
    "a product of 4700 inner products": certificate(["*", *DOTS[:4700]], "==", "0", variables={}, vectors=V),
    "a monomial of 7000 inner products": certificate(
        "x", ">=", "0", terms({"factor": [term(1, {}, *(d[1:] for d in DOTS[:7000]))]}), vectors=V
    ),
    "a norm of 9000 vectors": certificate(
        "x", ">=", "0", terms({"factor": [term(1)], "norm": [[[], "u"]] * 9000}), vectors="u"
    ),
    "an inner product of sums of nothing": certificate(
        ["dot", NOTHING, NOTHING], ">=", "0", variables={}, vectors=LONG
    ),
    "an inner product of sums": certificate(["dot", ["+", *LONG], ["+", *LONG]], ">=", "0", variables={}, vectors=LONG),
    "a sum over a product": certificate(
        ["/", ["+", *NAMES], ["*", *NAMES]], ">=", "0", variables=many(2500, "positive")
    ),
    "a sum of zeros over numbers": certificate(["+", *(["/", "0", n] for n in NAMES)], ">=", "0", variables=N),
    "powers of long fractions": certificate(
        ["*", *(["^", ["*", *map(big, (1, 3, 5, 7))], str(13 + j)] for j in range(5))], ">=", "0"
    ),
    "powers of powers of long numbers": certificate(
        ["*", *(["^", ["^", f"{10**899 + 1}/7", "8"], "20"] for _ in range(40))], ">=", "0"
    ),
    "a power of a sum of long fractions": certificate(
        ["^", ["+", *(["*", big(2 * i + 1), ["^", "x", str(i + 2)]] for i in range(20))], "3"], ">=", "0"
    ),
    "a power of a trinomial": certificate(["^", ["+", "x", "y", big(3)], "12"], ">=", "0", variables=BOTH),
    "a power of a binomial": certificate(["^", ["+", "1", "x"], "1000"], ">=", "0"),
}
DEEP, ROOTS = "x", ["function", "f", *["1"] * 20_000]
for _ in range(200):
    DEEP = ["+", "1", DEEP]
for _ in range(55):
    ROOTS = ["^", ROOTS, "1/2"]
WORK["a deep expression"] = certificate(DEEP, ">=", "0")
WORK["roots of roots of a long function"] = certificate(ROOTS, ">=", "0")
DIVISOR = ["+", *(["^", name, f"{k}/997"] for name in "xy" for k in range(1, 900))]
WORK["a long divisor in many products"] = certificate(
    ["*", "1", *(["*", "1", ["/", "1", DIVISOR]] for _ in range(3)), ["/", "1", DIVISOR]],
    ">=",
    "0",
    variables={"x": "positive", "y": "positive"},
)
CASES = terms()
for _ in range(150):
    CASES = {"by": "cases", "variable": "x", "cases": [CASES, terms()]}
WORK["cases with many facts"] = certificate(
    "0",
    "<=",
    ["+", "x", "0"],
    terms({"factor": [term(1, {"x": "1"})]}, *[{"factor": [], "proof": CASES}] * 5),
    variables={"x": "nonnegative"},
    given=[("0", "<=", "0")] * 500,
)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", WORK)
def test_work_is_bounded_before_it_is_done(name):
    """By the count of the checker itself, which is compared with the functions that are called."""
    assert rejected(recheck, WORK[name], recheck.WORK // 10)


def test_a_file_of_many_steps_is_bounded_too(tmp_path, capsys, monkeypatch):
    """Each of which would be accepted: what all of them take is bounded by the size of the file."""
    monkeypatch.setattr(recheck, "WORK", 20_000)
    one = certificate(["^", ["+", "1", "x"], "80"], "==", ["*", ["+", "1", "x"], ["^", ["+", "1", "x"], "79"]])
    recheck.step(one, recheck.WORK)
    spent, size = recheck.WORK - recheck.LEFT[0], len(json.dumps(one))
    fits = recheck.WORK // (spent - recheck.PER_BYTE * size)
    assert answer(tmp_path, capsys, *(signed({**one, "id": f"own/{i}"}) for i in range(fits)))[0] == 0
    code, said = answer(tmp_path, capsys, *(signed({**one, "id": f"own/{i}"}) for i in range(fits + 3)))
    assert code == 1
    assert said.endswith(" is rejected: more work than a claim may take\n")
