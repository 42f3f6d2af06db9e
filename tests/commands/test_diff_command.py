"""``ratecheck diff``: text, data, exit codes."""

import json

import pytest

import ratecheck as rc
from ratecheck.versions.expressions import Sameness, Tightness

HEAD = """
from bounds.ledger.step import Scalar, Step
from bounds.theorem import theorem
import sympy as sp

x = sp.Symbol("x", positive=True)
"""
THEOREM = """
{name} = theorem(
    title="Gradient descent",
    algorithm="fedavg",
    assumptions=["smoothness", "noise", "full_participation", "no_personal"],
    left="G_u",
    over="mean_of_rounds",
    right={{"gap": "{gap}", "noise": "{noise}*L*gamma_u*sigma_u**2/n"}},
    conditions=["gamma_u <= 1/({cap}*L)"],
    settings={{"K": 1, "m": "n", "eta_u": 1}},
)
"""
STEPS = """
STEPS = (Step(id="{file}/one", location="", claim="", of="{name}", check=Scalar(left=x, operator="<=", right={right})),)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with two versions of a theorem."""
    monkeypatch.chdir(tmp_path)
    old = THEOREM.format(name="descent", gap="2*F_0/(gamma_u*T)", noise=4, cap=1)
    new = THEOREM.format(name="descent", gap="(F_0 + F_0)/(T*gamma_u)", noise=48, cap=2)
    (tmp_path / "old.py").write_text(HEAD + old + STEPS.format(file="old", name="descent", right="x/2"))
    (tmp_path / "new.py").write_text(HEAD + new + STEPS.format(file="new", name="descent", right="2*x"))
    two = [THEOREM.format(name=name, gap="2*F_0/(gamma_u*T)", noise=4, cap=1) for name in ("more", "again")]
    (tmp_path / "two.py").write_text(HEAD + "".join(two))
    other = THEOREM.format(name="other", gap="2*F_0/(gamma_u*T)", noise=4, cap=1)
    (tmp_path / "other.py").write_text(HEAD + other)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_constants_conditions_steps_and_findings(cli):
    """A term with another constant, one that is the same, a tighter condition, a step that is mended."""
    found = rc.diff("old.py", "new.py")
    for text in (
        "old/descent -> new/descent   matched by name",
        "gap: same",
        "noise: 4 -> 48 (12 times)",
        "right side: larger everywhere, proved: a weaker claim",
        '"gamma_u <= 1/L" -> "gamma_u <= 1/(2*L)": tighter, proved',
        "one: right: x/2 -> 2*x",
        "findings of the audit: 1 gone, 0 new, 0 in both",
        "gone: FALSE old/one",
        "1 statement matched: 0 same, 1 changed; 0 gone, 0 new",
    ):
        assert text in str(found), str(found)
    done = cli("diff", "old.py", "new.py", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == found.to_dict()


@pytest.mark.usefixtures("here")
def test_the_other_way_round_is_stronger():
    """And the condition is looser."""
    found = rc.diff("new.py", "old.py", audit=False)
    assert "smaller everywhere, proved: a stronger claim" in str(found)
    assert [each.tightness for each in found.statements[0].conditions] == [Tightness.LOOSER]


@pytest.mark.usefixtures("here")
def test_without_audit_the_output_says_so(cli):
    """In text and data."""
    done = cli("diff", "old.py", "other.py", "--no-audit")
    assert "steps of the proofs: not compared, as asked" in done.stdout
    data = rc.diff("old.py", "other.py", audit=False).to_dict()
    assert (data["steps"], data["ledgers"]) == (None, "as asked")


@pytest.mark.usefixtures("here")
def test_other_names_are_matched_where_they_are_the_only_ones():
    """And the result says how; a file with itself is the same."""
    [found] = rc.diff("old.py", "other.py").statements
    assert (found.matched, found.same) == ("the only ones left", True)
    assert rc.diff("old.py:descent", "old.py:descent").same


@pytest.mark.usefixtures("here")
def test_statements_without_a_partner_are_listed():
    """In both directions."""
    found, back = rc.diff("old.py", "two.py", audit=False), rc.diff("two.py", "old.py", audit=False)
    assert found.gone == back.added == ("old/descent",)
    assert found.added == back.gone == ("two/more", "two/again")
    assert not found.same


def test_a_repaired_form_against_its_printed_one():
    """Lemma 1 of FLAME: the repair asks for one condition more, and one term is another."""
    found = rc.diff("flame/lemma-1", "flame/lemma-1-repaired")
    [change] = found.statements
    [claim] = change.claims
    same = {term.name: term.change.same for term in claim.terms}
    assert same == {"steps": Sameness.PROVED, "inner error": Sameness.DIFFERENT}
    assert [each.new.name for each in change.conditions if each.old is None] != []
    assert found.ledgers == "the same steps are about both"


@pytest.mark.parametrize(
    "words", [("nowhere.py", "old.py"), ("old.py", "pfl/nothing"), ("old.py:x", "old.py"), ("x", "y")]
)
@pytest.mark.usefixtures("here")
def test_what_is_not_there_is_one_line(cli, words):
    """Exit code 2."""
    done = cli("diff", *words)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
