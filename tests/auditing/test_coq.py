"""Certificates as lemmas of Coq: which claims leave, that they are stated in full, and that Coq accepts them."""

import json
import os
import random
import re
import shutil
import subprocess
from fractions import Fraction

import pytest
import sympy as sp
from test_certificates import CLAIMS, changed, numbers, step

import ratecheck as rc
from bounds.ledger.step import Gram, Scalar, above, below, positive
from bounds.ledger.vectors import dot, square, vectors
from bounds.ledger.written import written
from ratecheck import recheck
from ratecheck.auditing import ledger
from ratecheck.auditing.export import coq
from ratecheck.auditing.export.certificates import certificate, file_data
from ratecheck.auditing.export.coq_terms import number_text

x, y = sp.symbols("x y", positive=True)
r, s = sp.symbols("r s", real=True)
c = sp.Symbol("c", nonnegative=True)
# Names of Coq's own, and those that the proofs use.
N, R, match, p_w_K, E_y, e_given, e_name = sp.symbols("N R match p_w_K E_y e_given e_name", positive=True)
K = sp.Symbol("K", positive=True, integer=True)
u, v, w = vectors("u v w")
f = sp.Function("f")

MORE = {
    "names": Scalar(left=2 * N * R, operator="<=", right=N**2 + R**2 * match, hypotheses=(above(match, 1),)),
    "names of the proofs": Scalar(
        left=E_y * sp.sqrt(x) + p_w_K * e_given,
        operator="<=",
        right=E_y * y + K * p_w_K * e_given + e_name * c,
        hypotheses=(below(sp.sqrt(x), y),),
    ),
    "a root in two ways": Scalar(
        left=(written(1) + (written(x) + y)) ** sp.Rational(1, 2),
        operator="<=",
        right=2 * ((written(1) + x) + y) ** sp.Rational(1, 2),
    ),
    "signs": Scalar(left=r * s * x, operator="<=", right=x * y * (r**2 + s**2), hypotheses=(above(y, 1),)),
    "roots": Scalar(left=sp.sqrt(x) * c, operator="<=", right=c * y, hypotheses=(below(sp.sqrt(x), y),)),
    "strict": Scalar(left=1 / y, operator="<", right=1 / x, hypotheses=(positive(y - x),)),
    "impossible": Scalar(left=x + 1, operator="<=", right=x, hypotheses=(below(x, -y),)),
    "functions": Scalar(left=f(x) * c, operator="<=", right=f(x) * c + sp.exp(r) * sp.pi * x**y),
    "minimum": Scalar(left=sp.Min(x, 1 / y, 2), operator="<=", right=(x + 1 / y) / 2),
    "a root that may be 0": Scalar(left=sp.sqrt(r) * x, operator="<=", right=x * (1 + r)),
    "denominators": Scalar(left=1 / (1 / x - y), operator="==", right=x / (1 - x * y)),
    "a root of what cancels": Scalar(
        left=(written(x) - y + written(y**2) / y) ** sp.Rational(1, 2) * y, operator="<=", right=sp.sqrt(x) * y
    ),
    "roots as divisors": Scalar(left=x / sp.sqrt(x * y + y), operator="<=", right=x / sp.sqrt(x * y)),
    "polarisation": Gram(left=dot(u + v, x * w) * 4, operator="==", right=x * (square(u + v + w) - square(u + v - w))),
    "order of names": Gram(left=2 * dot(*vectors("N N2")), operator="<=", right=sum(map(square, vectors("N N2")))),
    "coefficients": Gram(left=2 * dot(u - v / y, w), operator="<=", right=square(u * y - v) / y**2 + square(w)),
}

# Claims that hold where vectors are numbers, and not beyond.
PLANE = {
    "reverse": (["*", ["dot", "u", "u"], ["dot", "v", "v"]], ["*", ["dot", "u", "v"], ["dot", "u", "v"]]),
    "signs": (["*", ["dot", "u", "u"], ["dot", "v", "w"]], ["*", ["dot", "u", "v"], ["dot", "u", "w"]]),
}


def data(name, check):
    """The certificate of a claim."""
    return certificate(step(name, check), check)


@pytest.fixture(scope="module")
def found():
    """The certificates of all claims."""
    return {name: data(name, check) for name, check in {**CLAIMS, **{f"more {k}": v for k, v in MORE.items()}}.items()}


def test_every_certificate_is_a_lemma_with_a_proof(found):
    """None is admitted, and nothing is assumed beside the statement."""
    text = coq.coq_text(file_data([{"id": name, "certificate": each, "reason": ""} for name, each in found.items()]))
    assert "is not written" not in text
    lemmas = re.findall(r"^Lemma own_\w+ :", text, re.MULTILINE)
    assert len(lemmas) == len(set(lemmas)) == len(found)
    assert text.count("Qed.") == len(re.findall(r"^Lemma ", text, re.MULTILINE))
    for word in ("Admitted", "Axiom", "admit", "Parameter", "Conjecture", "Context"):
        assert not re.search(rf"\b{word}\b", text)
    supposed = re.findall(r"^(?:Hypothesis|Variable) (\w+)", text, re.MULTILINE)
    assert supposed == [
        "V", "vadd", "vscale", "inner", "inner_symmetric", "inner_add", "inner_scale", "inner_nonnegative"
    ]  # fmt: skip


def test_the_statement_is_the_claim(found):
    """Variables with their signs, denominators, hypotheses as printed, the claim."""
    text = coq.lemma("cap", found["cap"])
    statement = text[: text.index("Proof.")]
    assert "forall " in statement
    for line in ("0 < L ->", "0 < gamma ->", "- L * gamma + 1 <> 0 ->", "gamma <= 1 / (2 * L) ->"):
        assert f"  {line}\n" in statement
    assert statement.endswith("  1 / (- L * gamma + 1) <= 2 * L * gamma + 1.\n")
    text = coq.lemma("own", found["smooth"])
    assert "  inner (v [-] w) (v [-] w) <= inner w w * L ^ 2 ->\n" in text[: text.index("Proof.")]


def tree(draw, depth):
    """An expression as a file may have it."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(["x", "y", "2", "-3", "1/3", "-5/2"])
    operation = draw.choice("++**/^")
    if operation == "^":
        return ["^", tree(draw, depth - 1), draw.choice(["2", "3", "-1", "-2"])]
    parts = [tree(draw, depth - 1) for _ in range(2 if operation == "/" else draw.choice([2, 3]))]
    return [operation, *(["-1"] if operation == "*" and draw.random() < 0.4 else []), *parts]


def value(node, at):
    """What an expression is at a point."""
    if isinstance(node, str):
        return at[node] if node in at else Fraction(node)
    first, *rest = (value(each, at) for each in node[1:])
    for each in rest:
        first = {"+": first.__add__, "*": first.__mul__, "/": first.__truediv__, "^": first.__pow__}[node[0]](each)
        first = Fraction(first)
    return first


def test_an_expression_is_read_as_it_is_meant():
    """By the rules of Python, which for these operations are those of Coq."""
    draw = random.Random(0)  # noqa: S311  # no secret
    at, seen = {"x": Fraction(7, 3), "y": Fraction(5, 11)}, 0
    while seen < 500:
        left = tree(draw, 4)
        try:
            expected = value(left, at)
            data = {"id": "a", "variables": {"x": "positive", "y": "positive"}, "vectors": [], "left": left}
            data |= {"relation": "<=", "right": "0", "hypotheses": [], "proofs": []}
            own = coq._Lemma("own", {**data, "digest": recheck.digest(data)})
        except ArithmeticError:  # a division by 0, or both sides are 0
            continue
        text = re.sub(r"(?<![\w)] )/", "1/", own.term(left)).replace("^", "**")
        text = re.sub(r"(?<![\w])(\d+)", r"Fraction(\1)", re.sub(r"\*\* (\d+)", r"** int('\1')", text))
        text = re.sub(r"int\('Fraction\((\d+)\)'\)", r"\1", text)
        found = eval(text, {"Fraction": Fraction, **at})  # noqa: S307  # made above
        assert found == expected, (left, own.term(left))
        seen += 1


def test_names_of_coq_are_not_taken(found):
    """N and R are numbers of the claim and not those of the language."""
    text = coq.lemma("own", found["more names"])
    assert "forall (N_1 R_1 match_1 : R)," in text


# From the manual's list of keywords; names of commands, tactics and theorems; names of the file itself.
WORDS = """
    Axiom CoFixpoint Definition Fixpoint Hypothesis Parameter Prop SProp Set Theorem Type Variable as at cofix else
    end fix for forall fun if in let match return then where with by exists exists2 using IF mod Lemma Proof Qed
    Section Notation Ltac Import exp sqrt ln PI R V INR Rpower Rmax Rmin root whole norm cross inner vadd vscale
    seen nonzero divided ring field lra lia intro intros apply exact assert destruct rewrite transitivity remember
    subst clear first pose nat list nil cons S O o Rle_refl pow Rplus Rmult Rinv Ropp True False or and not eq h_1
    k_1 d_1 s e Y Z N D
"""


def test_every_name_stays_a_name_of_its_own():
    """Names that differ in what Coq does not read differ there too."""
    names = ["x", "x'", "x^2", "x_2", "_x", "x y", "α", "1x", *WORDS.split()]
    text = coq.lemma("own", claim_of(names))
    (bound,) = re.findall(r"forall \((.*) : R\) \((.*) : V\),", text)
    found = [*bound[0].split(), *bound[1].split()]
    assert len(set(found)) == len(found) == 2 * len(names)
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", each) for each in found)


def claim_of(names):
    """A claim about a number and a vector of each name: the sum of all is at most twice the sum."""
    numbers_ = {f"{name}": "positive" for name in names}
    own = [f"{name} " for name in names]
    parts = [*names, *(["dot", each, each] for each in own)]
    terms = [["1", {name: "1"}] for name in names] + [["1", {}, [[each, each]]] for each in own]
    data = {"id": "names", "variables": numbers_, "vectors": own, "left": ["+", *parts], "relation": "<="}
    data |= {"right": ["*", "2", ["+", *parts]], "hypotheses": []}
    data |= {"proofs": [{"by": "terms", "terms": [{"factor": [each]} for each in terms]}]}
    found = {**data, "digest": recheck.digest(data)}
    recheck.step(found)
    return found


def test_long_numbers_are_hexadecimal():
    """What a lemma says of them is what the certificate says, and Coq need not read hundreds of decimal digits."""
    third, long = Fraction(10**40 + 1, 3), Fraction(-3, 10**30)
    assert number_text(third) == f"({hex(10**40 + 1)} / 3)"
    assert number_text(long) == f"(- (3 / {hex(10**30)}))"
    assert number_text(Fraction(10**29)) == str(10**29)


def test_a_comment_stays_one():
    """Whatever a claim is called."""
    check = CLAIMS["square"]
    found = certificate(step('a *) "b (* ', check), check)
    first = coq.lemma("own", found).splitlines()[0]
    assert first.count("(*") == first.count("*)") == 1
    assert '"' not in first


@pytest.mark.parametrize("name", ["a.json", "1.v", "a-b.v", "é.v", ".v"])
def test_a_file_that_coq_cannot_read_is_refused_at_once(tmp_path, name):
    """Before any step is looked at."""
    with pytest.raises(rc.InputError, match="Coq reads files such as"):
        rc.audit("flame", coq=tmp_path / name)


def test_changed_numbers_are_no_lemmas(tmp_path):
    """As with certificates."""
    with pytest.raises(rc.InputError, match="mutate and coq"):
        rc.audit("flame", mutate=True, coq=tmp_path / "a.v")


def accepted(text, folder):
    """Whether Coq accepts a file, and what it says."""
    (folder / "own.v").write_text(text)
    done = subprocess.run([shutil.which("coqc"), "own.v"], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def coqc():
    """Coq, installed from Debian where it is missing and may be."""
    if shutil.which("coqc") is None and shutil.which("apt-get") is not None and os.geteuid() == 0:
        for words in (["update"], ["install", "-y", "--no-install-recommends", "coq"]):
            subprocess.run([shutil.which("apt-get"), "-qq", *words], check=False, capture_output=True)
    if shutil.which("coqc") is None:
        pytest.skip("needs Coq 8.16 or later: apt-get install coq")


# What the real numbers of Coq's library rest on.
REALS = {
    "ClassicalDedekindReals.sig_forall_dec", "ClassicalDedekindReals.sig_not_dec", "Classical_Prop.classic",
    "FunctionalExtensionality.functional_extensionality_dep",
}  # fmt: skip


def lemmas_alone(text, folder):
    """Whether Coq accepts a file whose lemmas assume no more than the real numbers do."""
    names = re.findall(r"^Lemma (\w+)", text, re.MULTILINE)
    every = ", ".join(f"@{name}" for name in names)
    ok, said = accepted(f"{text}Definition every := ({every}).\nPrint Assumptions every.\n", folder)
    assumed = set(re.findall(r"^([\w.]+)\s*:", said, re.MULTILINE)) - {"Axioms"}
    return ok and assumed <= REALS and bool(assumed), said


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
def test_coq_accepts_claims_of_all_kinds(found, tmp_path):
    """Every rule of the checker, and names that are Coq's own."""
    words = WORDS.split()
    text = coq.coq_text({"steps": [*found.values(), *(claim_of(words[k : k + 10]) for k in range(0, len(words), 10))]})
    assert "is not written" not in text
    ok, said = lemmas_alone(text, tmp_path)
    assert ok, said


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
@pytest.mark.parametrize("name", PLANE)
def test_coq_rejects_what_holds_on_the_line_alone(tmp_path, name):
    """What was accepted when a vector was one of its coordinates."""
    left, right = PLANE[name]
    data = {"id": name, "variables": {}, "vectors": ["u", "v", "w"], "left": left, "relation": "<=", "right": right}
    data |= {"hypotheses": [], "proofs": [{"by": "terms", "terms": []}], "digest": ""}
    text = coq.coq_text({"steps": [data]})
    assert f"Lemma {name}" in text
    assert not accepted(text, tmp_path)[0]
    # The same file with its claim turned into what is true.
    turned = {**data, "left": ["dot", "u", "u"], "relation": ">=", "right": "0"}
    turned["proofs"] = [{"by": "terms", "terms": [{"factor": [["1", {}]], "norm": [[[["1", {}]], "u"]]}]}]
    assert accepted(coq.coq_text({"steps": [turned]}), tmp_path) == (True, "")


CHANGES = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": "<"}


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
@pytest.mark.parametrize("name", ["square", "cap", "caps", "whole numbers", "root", "smooth", "young", "maximum"])
def test_coq_rejects_a_changed_number_or_relation(found, tmp_path, name):
    """Every number of the proofs and of what is claimed, one at a time, with the rest as it was."""
    data = found[name]
    assert accepted(coq.coq_text({"steps": [data]}), tmp_path) == (True, "")
    wrong = [changed(data, path, lambda n: str(Fraction(n) + 1)) for path in numbers(data)]
    wrong.append({**data, "relation": CHANGES[data["relation"]]})
    texts = set()
    for each in wrong:
        try:
            texts.add(coq.lemma("own", each))
        except (ArithmeticError, LookupError, StopIteration, coq.NotWrittenError):
            continue  # the writer follows the checker, which refuses it
    assert texts
    for text in texts:
        ok, _ = accepted(coq.PREAMBLE.read_text() + text + coq.END, tmp_path)
        assert not ok, text


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
@pytest.mark.parametrize(("key", "given"), [("sgd-distances", {"T": 40}), ("ef-sgd-gradients", {})])
def test_coq_accepts_proofs_with_long_numbers(key, given, tmp_path):
    """Powers of a rate with hundreds of digits, and sums of squares of eight vectors."""
    rc.prove(f"classics/{key}", **given, evaluations=0, coq=tmp_path / "made.v")
    text = (tmp_path / "made.v").read_text()
    assert "is not written" not in text
    assert re.search(r"\b0x[0-9a-f]{40,} / 0x", text)
    ok, said = lemmas_alone(text, tmp_path)
    assert ok, said


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
@pytest.mark.parametrize("paper", ["flame", "pfl", "fedsum", "simfbo"])
def test_coq_accepts_every_certificate_of_a_paper(paper, tmp_path):
    """All of them in one file."""
    found = file_data(ledger.certificates([ledger.module_of(paper)]))
    text = coq.coq_text(found)
    assert len(found["steps"]) > 50
    assert "is not written" not in text
    ok, said = lemmas_alone(text, tmp_path)
    assert ok, said


def leaving(path, of):
    """The certificates in a file, after a look at whether they and the lemmas beside it are about a statement."""
    steps, text = json.loads(path.read_text())["steps"], path.with_suffix(".v").read_text()
    for each in steps:
        recheck.step(each)
        assert re.fullmatch(rf"{of}:\d+:\d+", each["id"])
    assert len(re.findall(rf"^\(\* {of}:\d+:\d+ ", text, re.MULTILINE)) == len(steps) > 0
    assert "is not written" not in text
    return steps


def test_implications_leave_as_steps_do(tmp_path):
    """What a statement comes down to, for both checkers."""
    found = rc.implications("pfl/lemma-3.5", certificates=tmp_path / "a.json", coq=tmp_path / "a.v")
    assert found.file == f"{tmp_path / 'a.json'} and {tmp_path / 'a.v'}"
    assert f"proved inequalities with a certificate in {found.file}" in str(found)
    assert leaving(tmp_path / "a.json", "pfl/lemma-3.5") == [each["certificate"] for each in found.certificates]
    (tmp_path / "audit.json").write_text(json.dumps(found.to_dict()))
    assert recheck.main([str(tmp_path / "a.json"), str(tmp_path / "audit.json")]) == 0
    other = rc.implications("pfl/corollary-3.8").to_dict()
    (tmp_path / "audit.json").write_text(json.dumps(other))
    assert recheck.main([str(tmp_path / "a.json"), str(tmp_path / "audit.json")]) == 1


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
def test_sharper_theorems_leave_as_steps_do(tmp_path):
    """The same ids as for what is printed, and those of the lemmas behind it; Coq accepts both."""
    key, files = "pfl/lemma-3.6-recursion", [tmp_path / name for name in ("a.json", "b.json")]
    rc.implications(key, certificates=files[0], coq=files[0].with_suffix(".v"))
    found = rc.sharpen(key, certificates=files[1], coq=files[1].with_suffix(".v"))
    assert found.file == f"{files[1]} and {files[1].with_suffix('.v')}"
    printed, sharper = ({each["id"] for each in leaving(path, "pfl/lemma-.*")} for path in files)
    assert printed < sharper
    assert any(name.startswith("pfl/lemma-3.5:") for name in sharper - printed)
    for path in files:
        ok, said = lemmas_alone(path.with_suffix(".v").read_text(), tmp_path)
        assert ok, said


@pytest.mark.parametrize("work", [rc.implications, rc.sharpen])
def test_a_name_that_coq_cannot_read_is_refused_there_too(tmp_path, work):
    """Before anything is proved."""
    with pytest.raises(rc.InputError, match="Coq reads files such as"):
        work("pfl/corollary-3.8", coq=tmp_path / "a-b.v")
