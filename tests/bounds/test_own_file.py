"""A user's file with several theorems, some of which cannot be built: what is said, and what is still used."""

import json
from pathlib import Path

import pytest

import bounds

# Fourteen lines.
GOOD = '''"""Theorems of mine."""
import dataclasses
from bounds.statement import Assumption, Claim, Metric, Over, Relation, Source, Statement
from bounds.symbols import COMMON, Vocabulary
from bounds.theorem import symbol, theorem
gradient = ["smoothness", "full_participation", "no_personal"]
fields = {"title": "GD", "algorithm": "fedavg", "assumptions": gradient, "over": "mean_of_rounds",
          "right": "2*F_0/(gamma_u*T)", "conditions": "gamma_u <= 1/L", "settings": {"K": 1, "m": "n", "sigma_u": 0}}
def about(quantity):
    return theorem(left=quantity, **fields)


fields["settings"] |= {"eta_u": 1}
good = theorem(left="G_u", **fields)
'''
# What stands after "bad = " in line 15, the line that the message names, and a part of it.
BROKEN = {
    "unknown quantity": ('theorem(\n    left="G_w",\n    **fields,\n)', 16, "left: no symbol 'G_w'; did you mean"),
    "unknown field": (
        'theorem(left="G_u", condition="L <= 1", **fields)',
        15,
        "theorem has no field 'condition'; did you mean 'conditions'",
    ),
    "missing fields": ('theorem("A title")', 15, "theorem lacks algorithm, assumptions, left, over and right"),
    "by position": ('theorem("A title", "fedavg")', 15, "theorem takes its fields by name"),
    "unknown assumption": (
        'theorem(left="G_u", **fields | {"assumptions": ["smoth"]})',
        15,
        "assumptions: no Assumption 'smoth'",
    ),
    "wrong type": ('theorem(left="G_u", **fields | {"settings": 3})', 15, "settings: 3 is no mapping"),
    "a later line": (
        'theorem(\n    left="G_u",\n    trivial="2*l",\n    **fields,\n)',
        17,
        "trivial: no symbol 'l'",
    ),
    "a statement that lacks parts": (
        'Statement(\n    key="mine/bad",\n    title="x",\n)',
        15,
        "Statement lacks source, vocabulary, ",
    ),
    "a claim in a statement": (
        'Statement(\n    claims=(\n        Claim(name="main", metrc=1),\n    )\n)',
        17,
        "Claim has no field 'metrc'; did you mean 'metric'",
    ),
    "a member": (
        "Statement(assumptions=(Assumption.SMOTHNESS,))",
        15,
        "no Assumption.SMOTHNESS; did you mean 'SMOOTHNESS'",
    ),
    "a key of the vocabulary": (
        'Metric(latex="", weights={COMMON["G_w"]: 1}, over=Over.EVERY_ROUND, trivial=None)',
        15,
        "no symbol 'G_w'; did you mean",
    ),
    "a statement replaced": (
        'dataclasses.replace(good, titel="x")',
        15,
        "Statement has no field 'titel'; did you mean 'title'",
    ),
    "a symbol": ('symbol("my L", "mine")', 15, "name: 'my L' is not a name"),
    "a function of the file": ('about("G_w")', 10, "left: no symbol 'G_w'"),
    "found when it is used": (
        "dataclasses.replace(good, title=3)",
        15,
        "title of the statement is 3, not of the kind str",
    ),
    "a setting of another vocabulary": (
        'dataclasses.replace(good, settings={"k": good.settings["K"]})',
        15,
        "no symbol 'k' in its vocabulary",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_statement_does_not_block_its_neighbours(tmp_path, monkeypatch, cli, what):
    """Those before and after it are used; it says what is wrong with file and line; the file as a whole names it."""
    monkeypatch.chdir(tmp_path)
    text, line, part = BROKEN[what]
    Path("mine.py").write_text(f'{GOOD}bad = {text}\nlater = theorem(left="G_u", **fields)\n')
    for name in ("good", "later"):
        done = cli("bound", f"mine.py:{name}", "L=2", "F_0=3", "T=100", "gamma_u=0.5", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["value"] == 0.12
    for key in ("mine.py:bad", "mine.py"):
        command = "show" if ":" in key else "verify"
        done = cli(command, key)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert done.stderr.startswith(f"ratecheck: mine.py:bad, line {line}: "), done.stderr
        assert part in done.stderr
    assert "sound by itself: mine.py:good, mine.py:later" in done.stderr
    done = cli("show", "mine.py:bd")
    assert "did you mean 'bad'" in done.stderr


def test_what_needs_a_broken_part_says_so(tmp_path, monkeypatch, cli):
    """By the name of Python or of a symbol; what a name was before is not taken for what it is."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        f"{GOOD}other = good\n"
        'theta = symbol("theta", "any share", role="fre")\n'
        'first = theorem(left="G_u", **fields | {"right": "theta*F_0"})\n'
        "second = dataclasses.replace(first, title='x')\n"
        'F0 = theorem(left="G_w", **fields)\n'
        'fourth = theorem(left="G_u", **fields | {"right": "F0"})\n'
        'other = theorem(left="G_w", **fields)\n'
        "both = (good, first)\n"
        'third: Statement = theorem(left="G_u", **fields)\n'
    )
    for name, parts in {
        "theta": ("line 16: role: no Role 'fre'; did you mean 'free'",),
        "first": ("line 17", "it needs 'theta', which fails in line 16: role: no Role 'fre'"),
        "second": ("line 18", "it needs 'first', which fails in line 17"),
        "fourth": ("line 20: right: no symbol 'F0'; did you mean 'F_0'",),
        "other": ("line 21", "no symbol 'G_w'"),
        "both": ("line 22", "it needs 'first', which fails in line 17"),
    }.items():
        done = cli("show", f"mine.py:{name}")
        assert done.returncode == 2
        assert all(part in done.stderr for part in parts), done.stderr
    assert cli("show", "mine.py:third").returncode == 0
    done = cli("list", "mine.py")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert all(f"mine.py:{name}, line" in done.stderr for name in ("theta", "first", "second", "other"))


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("own = Vocabulary(COMMON); own.define()", "line 15, TypeError"),
        ("bad = theorem(left='G_w', **fields)\nprint(bad.title)", "line 16, it needs 'bad', which fails in line 15"),
        ("theorem(left='G_w', **fields)", "line 15, left: no symbol 'G_w'"),
        ("own = Vocabulary(COMMON)\nown.facts['x'] = theorem()", "line 16, theorem lacks title"),
        (
            "bad = theorem(left='G_w', **fields)\nown = Vocabulary(COMMON)\nx = own.define(bad)",
            "line 17, it needs 'bad', which fails in line 15",
        ),
        ("bad = COMMON['G_w']", "line 15, no symbol 'G_w'"),
        ("import bounds\nbounds.get('pfl/lemma-0')", "line 16, no statement 'pfl/lemma-0'"),
        ("bad = [].pop()", "line 15, IndexError"),
    ],
)
def test_what_else_fails_stops_the_file(tmp_path, monkeypatch, cli, line, part):
    """Since what follows may mean something else without it: file and line."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(f"{GOOD}{line}\n")
    done = cli("show", "mine.py:good")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"ratecheck: mine.py does not run: {part}"), done.stderr


def test_keys_that_nobody_chose_are_the_file_s_and_the_name_s(tmp_path, monkeypatch):
    """In a file that is called like a paper they are no keys of the paper."""
    monkeypatch.chdir(tmp_path)
    for stem, key in {"mine": "mine/good", "flame": "own/good"}.items():
        Path(f"{stem}.py").write_text(f'{GOOD}named = theorem(left="G_u", key="my/own", **fields)\nsame = good\n')
        found = bounds.own.addresses(f"{stem}.py")
        assert {name: each.key for name, each in found.items()} == {
            f"{stem}.py:good": key, f"{stem}.py:named": "my/own", f"{stem}.py:same": key,
        }  # fmt: skip
        assert found[f"{stem}.py:same"] is found[f"{stem}.py:good"]
        assert bounds.get(f"{stem}.py:good") is found[f"{stem}.py:good"]


def test_a_statement_that_was_never_built_is_broken(tmp_path, monkeypatch, cli):
    """It has no parts at all, and the others of the file are as they were."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(f"{GOOD}from bounds.statement import Statement\nbad = object.__new__(Statement)\n")
    done = cli("show", "mine.py:bad")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "mine.py:bad, line 16: it is a Statement that was never built" in done.stderr
    assert "sound by itself" in cli("lint", "mine.py").stderr


def test_an_unknown_method_is_named_with_its_line(tmp_path, monkeypatch, cli):
    """Where the file is read."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(f'{GOOD}bad = theorem(left="G_u", **fields | {{"algorithm": "fedavgg"}})\n')
    done = cli("verify", "mine.py:bad", "n=4", "T=10")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("ratecheck: mine.py:bad, line 15: no algorithm 'fedavgg'")


def test_the_address_of_a_statement_is_what_the_command_line_takes(tmp_path):
    """Of a user's own the file and the name, of others the key."""
    path = tmp_path / "mine.py"
    path.write_text(
        "from bounds.theorem import theorem\n"
        "bound = theorem(title='A', algorithm='fedavg', assumptions=['smoothness'], left='G_u', over='every_round',\n"
        "                right='2*L*F_0', vocabulary='textbook')\n"
    )
    address = f"{path}:bound"
    assert bounds.own.address_of(bounds.get(address)) == address
    assert bounds.own.address_of(bounds.get("pfl/theorem-3.7")) == "pfl/theorem-3.7"
