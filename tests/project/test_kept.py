"""What is kept of long runs: of the right form, about what there is, and little."""

import json
from pathlib import Path

import kept
import pytest

import bounds
import ratecheck as rc
from bounds.papers.textbook.pairs import PAIRS, PairKind
from bounds.papers.textbook.statements import STATEMENTS

ROOT = Path(__file__).parents[2]
# Made by scripts of their own, and by `kept`.
SCRIPTS = {"claims", "classics", "examples", "rates", "reviews", "slack"}


def test_every_digest_can_be_made():
    """Each is there, by a script of its own or by a command that is named."""
    assert {path.stem for path in kept.FOLDER.glob("*.json")} == SCRIPTS | {*kept.MAKES}
    assert all((ROOT / "docs" / f"{name if name != 'rates' else 'cards'}.py").exists() for name in SCRIPTS)


@pytest.mark.parametrize("name", sorted(SCRIPTS | {*kept.MAKES}))
def test_a_digest_is_written_as_it_is_read(name):
    """So that making one anew changes the rows that have changed and no others."""
    assert (kept.FOLDER / f"{name}.json").read_text() == kept.written(kept.load(name)) + "\n"


def test_little_json_is_kept():
    """Whole runs are made by their commands."""
    files = [*kept.FOLDER.glob("*.json"), *(ROOT / "benchmarks").rglob("*.json"), *(ROOT / "docs").glob("*.json")]
    assert sum(len(file.read_text().splitlines()) for file in files) < 5_000


def keys(value):
    """Every key of a statement in a digest."""
    if isinstance(value, dict):
        yield from (value[name] for name in ("key", "statement", "conclusion", "root") if name in value)
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys(item)


@pytest.mark.parametrize("name", sorted(SCRIPTS | {*kept.MAKES}))
def test_a_digest_is_about_statements_that_there_are(name):
    """Those of the catalogue, classics, and textbook; survivors of the self-test are named after their originals."""
    pairs = (each.key for pair in PAIRS for each in (pair.true, pair.wrong))
    classics = (each.key for each in bounds.statements(bounds.CLASSICS))
    known = {*bounds.keys(), *classics, *pairs, *(each.key for each in STATEMENTS)}
    assert {key.partition("~")[0] for key in keys(kept.load(name))} <= known


def test_a_line_is_a_row():
    """Objects in a list are rows; what has rows in it is broken."""
    data = {"a": 1, "rows": [{"x": [1, 2], "y": {"z": 0}}, {"x": []}], "of": {"b": {"c": [1.5, None]}}}
    text = kept.written(data)
    assert json.loads(text) == data
    assert text.splitlines() == [
        "{", ' "a": 1,', ' "rows": [', '  {"x": [1, 2], "y": {"z": 0}},', '  {"x": []}', " ],", ' "of": {',
        '  "b": {"c": [1.5, null]}', " }", "}",
    ]  # fmt: skip


def test_a_mark_is_of_all_that_is_said():
    """Another verdict, another piece of evidence, another mark; the words about a certificate have none."""
    step = dict(zip(kept.STEP, ("FALSE", "", "1 <= 0 fails", "PROVED", True), strict=True))
    marks = {kept.step_mark({**step, name: "other"}) for name in step} | {kept.step_mark(step)}
    assert len(marks) == len(step) + 1
    proved = {**step, "basis": "certificate"}
    assert kept.step_mark(proved) == kept.step_mark({**proved, "evidence": "2 squares"})
    assert kept.mark({"a": 1, "b": 2}) == kept.mark({"b": 2, "a": 1})


def test_surviving_mutants_are_counted_by_fate():
    """Where code moves to another line the mark stays, and with another reason it does not."""
    rows = [("a in line 3 of f", "no instance tells"), ("b", "weaker on every instance"), ("c", "proved as well")]
    found = kept.surviving(rows)
    assert {name: found[name] for name in ("no instance tells", kept.NO_STRONGER, "proved as well")} == {
        "no instance tells": 1, kept.NO_STRONGER: 1, "proved as well": 1,
    }  # fmt: skip
    assert kept.surviving([("a in line 9 of f", "no instance tells"), *rows[1:]]) == found
    assert kept.surviving([("a in line 3 of g", "no instance tells"), *rows[1:]]) != found


def test_the_search_refutes_what_is_wrong_and_accuses_nothing():
    """As kept: every kind of mistake is there."""
    found = kept.load("caught")
    assert {kind.upper() for kind in found["kinds"]} == {kind.name for kind in PairKind}
    assert sum(count for _, count in found["kinds"].values()) == found["wrong"]
    assert found["wrong"] - found["refuted"] == len(found["missed"])
    assert found["accused"] == 0


def test_what_a_search_catches():
    """By kind, with what is missed, and the sizes of counterexamples."""
    size = {"clients": 1, "variables": 2, "rounds": 4, "digits": 7}
    whole = [
        {"key": "a", "true": True, "outcome": "INCONCLUSIVE"},
        {"key": "b", "true": False, "kind": "lemma", "outcome": "VIOLATED", "evaluations": 5, "counterexample": size},
        {"key": "c", "true": False, "kind": "lemma", "outcome": "VIOLATED", "evaluations": 9},
        {"key": "d", "true": False, "kind": "cap", "outcome": "INCONCLUSIVE", "tightness": 0.51234, "hard": "many"},
    ]
    found = kept.caught(whole)
    assert (found["wrong"], found["refuted"], found["true"], found["accused"], found["half within"]) == (3, 2, 1, 0, 9)
    assert found["kinds"] == {"lemma": [2, 2], "cap": [0, 1]}
    assert found["missed"] == [{"key": "d", "tightness": 0.512, "hard": "many"}]
    assert (found["counterexamples"], found["small"], found["sizes"]["rounds"]) == (1, 0, [4, 4])


def test_which_wrong_exponents_are_found():
    """By statement, with the runs that pass the wrong bound, and what is missed in full."""
    row = {"row": "gap", "parameter": "K", "power": 0.25, "wanted": "LOOSE", "term": 0.0, "worst": -0.2, "reason": "r"}
    whole = [
        {**row, "statement": "a", "found": "LOOSE", "caught": True, "left": None, "verify": None},
        {**row, "statement": "a", "found": "EXCEEDED", "caught": True, "left": 2.0, "verify": "VIOLATED"},
        {**row, "statement": "b", "found": "ATTAINED", "caught": False, "left": 1.0, "verify": "HOLDS"},
    ]
    found = kept.planted(whole)
    assert (found["tried"], found["passed"], found["violated"]) == (3, 2, 1)
    assert found["statements"] == [{"key": "a", "LOOSE": 1, "EXCEEDED": 1}, {"key": "b", "missed": 1}]
    assert found["missed"] == [{**row, "statement": "b", "found": "ATTAINED"}]


def test_how_far_local_methods_come():
    """Two ways from the same points: shares of the best, and when each level of it is reached."""
    ways = {"one": [[1, 0.5], [10, 1.0]], "two": [[1, 0.5], [4, 0.95]]}
    one, two = kept.polish([{"key": "a", "evaluations": 20, "ways": ways}])["ways"]
    assert one == {"way": "one", "mean": 1.0, "least": 1.0, "evaluations": [10, 10, 10], "reached": [1, 1, 1]}
    assert two == {"way": "two", "mean": 0.95, "least": 0.95, "evaluations": [4, 20, 20], "reached": [1, 0, 0]}


def test_figures_of_benchmarks():
    """Times by engine, ratios beside those of other programs, and how often a bound is wrong."""
    run = {"evaluations": 30, "least": 0.1234567891, "largest": 1.0, "seconds": 0.5333}
    functions = {"lower": 0.9999907500057065, "upper": 1.0000001620511283, "seconds": 0.0999, "programs": 3}
    (found,) = kept.reach([{"theorem": "a", "search": [run], "quadratics": [run], "functions": functions}])
    assert found["search"] == found["quadratics"] == [[30, 0.1234568, 1.0, 0.53]]
    assert (found["functions"], found["pepit"]) == ([0.9999908, 1.0, 0.1, 3], [])
    cell = {
        "task": "noisy",
        "n": 1,
        "d": 2,
        "K": 3,
        "T": 4,
        "cores": 1,
        "step": 1.5,
        "leap": None,
        "JAX": 0,
        "NumPy": 2,
    }
    assert kept.cores([cell]) == [
        {"task": "noisy", "n": 1, "d": 2, "K": 3, "step": 1.5, "leap": None, "JAX": None, "NumPy": 2.0}
    ]
    one = {"case": "a", "side": "lower", "kind": "rigorous", "moment": None, "supposed": True, "looks": "any"}
    rates = [
        {**one, "level": 0.05, "rate": 0.0186, "least": 0.013},
        {**one, "level": 0.01, "rate": 0.02, "least": 0.017},
    ]
    (row,) = kept.confidence(rates)
    assert row["looks"] == [[0.05, "any", 1.9, False], [0.01, "any", 2.0, True]]


def test_what_is_kept_of_a_search():
    """The largest ratio and where; of terms the sizes of the run alone."""
    found = rc.falsify(kept.AGAIN, evaluations=5).to_dict()
    whole = kept.tightness({"searches": [found], "pep": {kept.AGAIN: [0.03, 0.031]}})
    (search,) = whole["searches"]
    assert search["tightness"] == pytest.approx(found["tightness"], rel=1e-9)
    assert search["functions"] == [0.03, 0.031]
    assert "K=" in search["at"]
    assert json.loads(whole["instance"]) == found["instance"]
    assert [each["term"] for each in whole["terms"]] == [each["term"] for each in found["terms"]]
    assert all("sigma" not in each["at"] for each in whole["terms"])
