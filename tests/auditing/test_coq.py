"""Certificates as lemmas of Coq: which claims leave, that they are stated in full, and that Coq accepts them."""

import os
import re
import shutil
import subprocess
from fractions import Fraction

import pytest
import sympy as sp
from test_certificates import CLAIMS, changed, numbers, step

import ratecheck as rc
from bounds.ledger.step import Scalar, above, below, positive
from ratecheck.auditing import coq, ledger
from ratecheck.auditing.certificates import certificate, file_data

x, y = sp.symbols("x y", positive=True)
r, s = sp.symbols("r s", real=True)
c = sp.Symbol("c", nonnegative=True)
# Names of Coq's own, and those that the proofs use.
N, R, match = sp.symbols("N R match", positive=True)

MORE = {
    "names": Scalar(left=2 * N * R, operator="<=", right=N**2 + R**2 * match, hypotheses=(above(match, 1),)),
    "signs": Scalar(left=r * s * x, operator="<=", right=x * y * (r**2 + s**2), hypotheses=(above(y, 1),)),
    "roots": Scalar(left=sp.sqrt(x) * c, operator="<=", right=c * y, hypotheses=(below(sp.sqrt(x), y),)),
    "strict": Scalar(left=1 / y, operator="<", right=1 / x, hypotheses=(positive(y - x),)),
    "impossible": Scalar(left=x + 1, operator="<=", right=x, hypotheses=(below(x, -y),)),
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
    for word in ("Admitted", "Axiom", "admit", "Parameter", "Hypothesis", "Variable"):
        assert not re.search(rf"\b{word}\b", text)


def test_the_statement_is_the_claim(found):
    """Variables with their signs, denominators, hypotheses as printed, the claim."""
    text = coq.lemma("cap", found["cap"])
    statement = text[: text.index("Proof.")]
    assert "forall " in statement
    for line in ("0 < L ->", "0 < gamma ->", "(1 + (- 1) * L * gamma) <> 0 ->", "(* gamma <= 1/(2*L) *)"):
        assert line in statement
    assert statement.rstrip().endswith("<= (1 + (2 * L * gamma)).")


def test_names_of_coq_are_not_taken(found):
    """N and R are numbers of the claim and not those of the language."""
    text = coq.lemma("own", found["more names"])
    assert "forall N_1 R_1 match_1 : R," in text


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


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
def test_coq_accepts_claims_of_all_kinds(found, tmp_path):
    """Every rule of the checker, and names that are Coq's own."""
    text = coq.coq_text({"steps": [*found.values()]})
    assert accepted(text, tmp_path) == (True, "")


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
@pytest.mark.parametrize("name", ["square", "cap", "caps", "whole numbers", "root", "smooth"])
def test_coq_rejects_a_changed_number(found, tmp_path, name):
    """Every number of the proofs and of what is claimed, one at a time, with the rest as it was."""
    texts = set()
    for path in numbers(found[name]):
        if path[0] in ("proofs", "left", "right", "hypotheses"):
            try:
                texts.add(coq.lemma("own", changed(found[name], path, lambda n: str(Fraction(n) + 1))))
            except (ArithmeticError, LookupError, coq.NotWrittenError):
                continue  # the writer follows the checker, which refuses it
    assert texts
    for text in texts:
        ok, _ = accepted(coq.PREAMBLE.read_text() + text, tmp_path)
        assert not ok, text


@pytest.mark.long
@pytest.mark.usefixtures("coqc")
@pytest.mark.parametrize("paper", ["flame", "pfl", "fedsum", "simfbo"])
def test_coq_accepts_every_certificate_of_a_paper(paper, tmp_path):
    """All of them in one file."""
    found = file_data(ledger.certificates([ledger.module_of(paper)]))
    text = coq.coq_text(found)
    assert text.count("is not written") <= 0.02 * len(found["steps"])
    assert accepted(text, tmp_path) == (True, "")
