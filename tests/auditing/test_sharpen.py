"""Theorems with smaller constants: they follow, smaller ones do not, and what leaves is accepted without ratecheck."""

import dataclasses
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from test_certificates import changed, numbers

import bounds
import ratecheck as rc
from bounds.ledger import implications as claimed
from ratecheck import recheck
from ratecheck.auditing import sharpen as sharpening
from ratecheck.auditing.implications import ImplicationVerdict, check

KEY = "pfl/lemma-3.6-recursion"


@pytest.fixture(scope="module")
def found():
    """A lemma that one implication concludes."""
    return rc.sharpen(KEY)


def test_smaller_constants_follow_and_smaller_ones_still_do_not(found):
    """All of them together have certificates; each of them a hundredth smaller is refuted by numbers."""
    (link,) = claimed.of(KEY)
    printed, sharper = bounds.get(KEY).claims[0].terms, found.statement.claims[0].terms
    assert [each.place for each in found.theorem.theorem.constants] == ["gradients", "noise"]
    assert check(link, found.statement, sharpest=False, solver=False).verdict is ImplicationVerdict.PROVED
    for name in ("gradients", "noise"):
        ratio = sp.simplify(sharper[name] / printed[name])
        assert ratio.is_Rational
        assert ratio < 1
        claim = found.statement.claims[0]
        less = dataclasses.replace(claim, terms={**claim.terms, name: claim.terms[name] * sp.Rational(99, 100)})
        too_small = dataclasses.replace(found.statement, claims=(less, *found.statement.claims[1:]))
        assert check(link, too_small, sharpest=False, solver=False).verdict is ImplicationVerdict.FALSE


def test_the_sharper_statement_is_used_as_any_other(found):
    """Its bound is smaller at numbers, and holds on the default problem."""
    both = []
    for statement in (bounds.get(KEY), found.statement):
        bound = statement.claims[0].bound
        both.append(float(bound.subs({symbol: 4 if symbol.name in "nmTK" else 0.5 for symbol in bound.free_symbols})))
    assert both[1] < both[0]
    assert rc.verify(found.statement, n=3, T=4, K=2).outcome is rc.Outcome.HOLDS


def test_certificates_are_accepted_and_a_changed_one_is_not(tmp_path, cli):
    """By the one file that imports nothing of ratecheck; the smallest change of a number is seen."""
    file = tmp_path / "proof.json"
    done = cli("sharpen", KEY, "--certificates", str(file), "--evaluations", "5", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["search"]["outcome"] == "INCONCLUSIVE"
    assert data["search"]["tightness"] <= 1
    kept = json.loads(file.read_text())
    assert (len(kept["steps"]), kept["without_certificate"]) == (8, [])
    said = subprocess.run([sys.executable, recheck.__file__, file], capture_output=True, text=True, check=False)
    assert said.stdout == "8 certificates are accepted\n"
    step = next(each for each in kept["steps"] if list(numbers(each)))
    path = next(path for path in numbers(step) if path[0] in ("left", "right"))
    step = changed(step, path, lambda text: str(Fraction(text) * Fraction(99, 100)))
    file.write_text(json.dumps({**kept, "steps": [{**step, "digest": recheck.digest(step)}]}))
    assert subprocess.run([sys.executable, recheck.__file__, file], capture_output=True, check=False).returncode == 1


def test_wider_limits(found):
    """The limit on the step size is widened at the bound as printed, which nothing is then left to gain from."""
    wide = rc.sharpen(KEY, caps=True)
    (cap, *rest) = wide.theorem.theorem.constants
    assert (cap.place, cap.is_cap, str(cap.printed), str(cap.sharper)) == ("gamma", True, "8", "4")
    assert all(
        each.sharper >= narrow.sharper for each, narrow in zip(rest, found.theorem.theorem.constants, strict=False)
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "sharper"),
    [
        ("pfl/theorem-3.7", {"initial gap": "116/41", "dissimilarity": "645/19", "noise": "73/11", "drift": "249/4"}),
        ("fedsum/theorem-c.1-repaired", {"noise": "21/2", "first gradients": "2"}),
        ("fedsum/theorem-d.1-repaired", {"noise": "138/11", "first gradients": "16/5"}),
    ],
)
def test_theorems_of_the_papers(key, sharper):
    """The lemmas behind them are sharper, too; no instance that a short search finds refutes them."""
    found = rc.sharpen(key, evaluations=200)
    assert {each.place: str(each.sharper) for each in found.theorem.theorem.constants} == sharper
    assert found.search.outcome is rc.Outcome.INCONCLUSIVE
    assert found.search.tightness < 1


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("pfl/lemma-3.2", "the conclusion of no implication"),
        ("pfl/theorem-99", "no statement"),
    ],
)
def test_what_has_nothing_to_sharpen(cli, key, message):
    """One line, exit code 2."""
    done = cli("sharpen", key)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("value", "fraction"),
    [("2.8287292817679557", "116/41"), ("8.5", "17/2"), ("0.0009", "1/1111"), ("7", "7"), ("0", "0")],
)
def test_numbers_are_rounded_up_to_simple_fractions(value, fraction):
    """By no more than a thousandth."""
    number = sp.Rational(value)
    assert str(sharpening.rounded_up(number)) == fraction
    assert number <= sharpening.rounded_up(number) <= number * sp.Rational(1001, 1000)


def test_the_target_is_looked_at_first(cli, tmp_path):
    """A folder is no file."""
    done = cli("sharpen", KEY, "--certificates", str(tmp_path))
    assert done.returncode == 2
    assert Path(tmp_path).is_dir()
