"""Certificates leave: `recheck.py` accepts them by itself, and none of them with a number changed."""

import ast
import copy
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

import ratecheck as rc
from bounds.ledger.step import Gram, Identity, Scalar, Step, above, below, equal
from bounds.ledger.vectors import dot, square, vectors
from ratecheck import recheck
from ratecheck.auditing import ledger
from ratecheck.auditing.export import certificates
from ratecheck.auditing.export.certificates import certificate, file_data
from ratecheck.auditing.export.claim_data import NotExpressibleError

x, y, L, gamma, A, B = sp.symbols("x y L gamma A B", positive=True)
K = sp.Symbol("K", integer=True, positive=True)
r, s = sp.symbols("r s", real=True)
c = sp.Symbol("c", nonnegative=True)
u, v, w = vectors("u v w")

CLAIMS = {
    "identity": Identity(left=(x + y) ** 2 / x, right=x + 2 * y + y**2 / x),
    "square": Scalar(left=2 * r * s, operator="<=", right=r**2 + s**2),
    "strict": Scalar(left=x, operator="<", right=x + y),
    "product": Scalar(left=6 * x, operator="<=", right=x * y, hypotheses=(above(y, 6),)),
    "root": Scalar(left=2 * sp.sqrt(x * y), operator="<=", right=x + y),
    "root of a sum": Scalar(left=sp.sqrt(x**2 + y**2), operator="<=", right=x + y),
    "maximum": Scalar(left=sp.Max(x, y), operator=">=", right=(x + y) / 2),
    "cap": Scalar(
        left=1 / (1 - gamma * L), operator="<=", right=1 + 2 * gamma * L, hypotheses=(below(gamma, 1 / (2 * L)),)
    ),
    "caps": Scalar(
        left=(1 - x) * (1 - y) * (1 - L),
        operator=">=",
        right=sp.Integer(0),
        hypotheses=(below(x, 1), below(y, 1), below(L, 1)),
    ),
    "floors": Scalar(
        left=(x - 1) * (y - 1) * (L - 1),
        operator=">=",
        right=sp.Integer(0),
        hypotheses=(above(x, 1), above(y, 1), above(L, 1)),
    ),
    "whole numbers": Scalar(left=3 * K, operator="<=", right=K**2 + 2),
    "whole": Scalar(left=K, operator="<=", right=K**2),
    "lower bounds": Scalar(left=x * y + 1, operator="<=", right=x**2 * y, hypotheses=(above(x, 2), above(y, 1))),
    "equal": Scalar(left=x * B, operator="==", right=x * y * A, hypotheses=(equal(B, A * y),)),
    "parallelogram": Gram(left=square(u + v) + square(u - v), operator="==", right=2 * square(u) + 2 * square(v)),
    "young": Gram(left=2 * dot(u, v), operator="<=", right=x * square(u) + square(v) / x),
    "smooth": Gram(
        left=square(u - w),
        operator="<=",
        right=2 * square(u - v) + 2 * L**2 * square(w),
        hypotheses=(below(square(v - w), L**2 * square(w)),),
    ),
}


def step(name, check):
    """A step of one's own."""
    return Step(id=f"own/{name}", location="", claim=name, of="own", check=check)


@pytest.fixture(scope="module")
def found():
    """The certificate of each claim."""
    return {name: certificate(step(name, check), check) for name, check in CLAIMS.items()}


def numbers(data, path=()):
    """The places of all numbers of a certificate that its proof rests on."""
    if isinstance(data, (dict, list)):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            if key in ("id", "digest", "variables", "vectors"):
                continue
            if not path and key == "hypotheses":
                kept = {name.lstrip("-") for name in certificates.used(data["proofs"])}
                rested = [each if str(turn) in kept else [] for turn, each in enumerate(value, 1)]
                yield from numbers(rested, (key,))
                continue
            yield from numbers(value, (*path, key))
    elif re.fullmatch(r"-?[0-9]+(/[0-9]+)?", data) and path[-2:-1] != ("hypotheses",):
        yield path


def changed(data, path, number):
    """The certificate with one number changed."""
    data = copy.deepcopy(data)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = number(place[path[-1]])
    return data


def accepted(data):
    """Whether the checker accepts a certificate, whose digest is made anew."""
    try:
        recheck.step({**data, "digest": recheck.digest(data)})
    except (ArithmeticError, ValueError, LookupError):
        return False
    return True


CHANGES = (lambda text: str(Fraction(text) + Fraction(1, 1000)), lambda text: str(-2 * Fraction(text)))


def notices(data):
    """The numbers whose change the checker does not notice."""
    tried = [(path, changed(data, path, change)) for path in numbers(data) for change in CHANGES]
    return [path for path, other in tried if other != data and accepted(other)]


@pytest.mark.parametrize("name", CLAIMS)
def test_a_certificate_is_accepted_and_with_any_number_changed_rejected(found, name):
    """By a thousandth, and in sign and size: of a square the sign alone says nothing."""
    assert accepted(found[name])
    assert list(numbers(found[name]))
    assert notices(found[name]) == []


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_that_is_false_has_none(found, name):
    """The sides interchanged, under the same proof."""
    data = found[name]
    if data["relation"] != "==":
        turned = {**data, "left": data["right"], "right": data["left"]}
        assert not accepted(turned)


def test_every_rule_and_kind_occurs(found):
    """So that the tests of changed numbers are about all of them."""
    text = json.dumps(found)
    for rule in ("terms", "substitution", "cases"):
        assert f'"by": "{rule}"' in text


def test_what_is_false_does_not_leave():
    """There is a reason instead."""
    wrong = Scalar(left=x + y, operator="<=", right=x)
    with pytest.raises(NotExpressibleError, match="none was found"):
        certificate(step("wrong", wrong), wrong)


def test_rules_ask_for_signs():
    """Multipliers, factors and slopes that are not what a rule needs."""

    def claim(side, proof, *hypotheses, relation=">="):
        return {
            "id": "own/signs",
            "variables": {"x": "nonnegative", "r": "real", "K": "whole"},
            "vectors": ["u"],
            "hypotheses": [{"left": each, "relation": ">=", "right": "0"} for each in hypotheses],
            "left": side,
            "relation": relation,
            "right": "0",
            "proofs": [proof],
        }

    def terms(*factors, **more):
        return {"by": "terms", "terms": [{"factor": each} for each in factors], **more}

    r_, x_, u_ = [["1", {"r": "1"}]], [["1", {"x": "1"}]], [["1", {}, [["u", "u"]]]]
    assert accepted(claim("x", terms(x_)))
    assert not accepted(claim("x", terms(x_), relation=">"))
    assert not accepted(claim("r", terms(r_)))
    assert accepted(claim(["dot", "u", "u"], terms(u_)))
    # A multiplier that may be 0 says nothing.
    assert not accepted(claim("-1", terms(multiplier=[["0", {}]])))
    assert not accepted(claim(["*", "-1", "x"], terms(multiplier=x_)))
    # x >= 1 where r*x >= r: the slope r has no sign.
    put = {"by": "substitution", "variable": "x", "hypothesis": "1", "kind": "least", "then": terms(x_)}
    assert not accepted(claim("x", put, ["+", ["*", "r", "x"], ["*", "-1", "r"]]))


def run(path, file):
    """The checker as a script, without ratecheck on its path."""
    return subprocess.run([sys.executable, "-I", path, *file], capture_output=True, text=True, check=False)


def test_the_checker_stands_alone(found, tmp_path):
    """Few lines, the standard library, exit codes."""
    source = Path(recheck.__file__).read_text()
    assert len(source.splitlines()) <= 620
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).partition(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert imported <= sys.stdlib_module_names
    script, file = tmp_path / "recheck.py", tmp_path / "found.json"
    script.write_text(source)
    data = file_data([{"certificate": each, "id": name, "reason": ""} for name, each in found.items()])
    file.write_text(json.dumps(data))
    done = run(script, [file])
    assert (done.returncode, done.stdout) == (0, f"{len(CLAIMS)} certificates are accepted\n")
    wrong = next(path for path in numbers(data["steps"][3]))
    spoiled = changed(data, ("steps", 3, *wrong), CHANGES[0])
    spoiled["steps"][3]["digest"] = recheck.digest(spoiled["steps"][3])
    file.write_text(json.dumps(spoiled))
    done = run(script, [file])
    assert done.returncode == 1
    assert done.stdout.startswith(f"{data['steps'][3]['id']} is rejected: ")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": 1, "steps": []}', '{"schema": 2}', '{"schema": 2.0, "steps": []}', "[" * 10**5]
)
def test_a_malformed_file_is_one_line(tmp_path, text):
    """Exit code 2, no traceback."""
    (tmp_path / "file.json").write_text(text)
    done = run(recheck.__file__, [tmp_path / "file.json"])
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (2, "", 1)
    assert run(recheck.__file__, [tmp_path / "none.json"]).returncode == 2
    assert run(recheck.__file__, []).returncode == 2


def test_a_target_that_cannot_be_written_is_told_at_once(tmp_path):
    """Before any step is looked at."""
    with pytest.raises(rc.InputError, match="is a folder"):
        rc.audit("flame", certificates=tmp_path)
    with pytest.raises(rc.InputError, match="changed numbers have no certificates"):
        rc.audit("flame", mutate=True, certificates=tmp_path / "file.json")


def test_the_text_lists_the_hypotheses_that_it_names(found):
    """And says what has no certificate."""
    from ratecheck.views.proofs.certificates import certificate_text, leaving_text

    text = certificate_text({"certificate": found["smooth"], "reason": ""})
    assert "hypothesis 1: |v - w|^2 <= |w|^2*L^2" in text
    assert "2 times hypothesis 1" in text
    answers = [
        {"id": "own/a", "certificate": found["smooth"], "reason": ""},
        {"id": "own/b", "certificate": None, "reason": "proved on z3's word"},
        {"id": "own/c", "certificate": None, "reason": ""},
    ]
    assert leaving_text(answers, "f.json") == (
        "own: 1 of 2 proved steps with a certificate in f.json; 1 without: proved on z3's word"
    )


@pytest.mark.long
@pytest.mark.parametrize("paper", ["flame", "pfl", "fedsum", "simfbo"])
def test_every_certificate_of_a_paper_notices_every_changed_number(paper):
    """All of them, number by number."""
    data = file_data(ledger.certificates([ledger.module_of(paper)]))
    assert data["schema"] == certificates.SCHEMA
    assert data["steps"]
    for each in data["steps"]:
        assert accepted(each), each["id"]
        assert notices(each) == [], each["id"]
