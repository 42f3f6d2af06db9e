"""What is kept of long runs: of the right form, about what there is, and little."""

import json
from pathlib import Path

import kept
import pytest

import bounds
from bounds.papers.textbook.pairs import PAIRS, PairKind
from bounds.papers.textbook.statements import STATEMENTS

ROOT = Path(__file__).parents[2]
# Made by scripts of their own, and by `kept`.
SCRIPTS = {"claims", "classics", "rates", "reviews", "slack"}


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
    """Another verdict, another piece of evidence, another mark; the order of keys has none."""
    step = dict(zip(kept.STEP, ("PROVED", "certificate", "2 squares", "", True), strict=True))
    marks = {kept.step_mark({**step, name: "other"}) for name in step} | {kept.step_mark(step)}
    assert len(marks) == len(step) + 1
    assert kept.step_mark(dict(reversed(step.items()))) == kept.step_mark(step)
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
