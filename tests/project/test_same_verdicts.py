"""Records of command lines, compared exactly or up to what other libraries round."""

from __future__ import annotations

import copy
import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "same_verdicts.py"


@pytest.fixture(scope="module")
def script():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("same_verdicts", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ENTRY = {
    "code": 0, "err": "", "cpu": 1.0, "files": {},
    "out": {"outcome": "HOLDS", "claims": [{"left": 1e-17, "right": 2.0, "error": 1e-12}], "evidence": "x=1"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "same", "rounded"),
    [
        (lambda _: None, True, True),
        (lambda e: e["out"]["claims"][0].update(right=2.0 * (1 + 1e-12)), False, True),
        (lambda e: e["out"]["claims"][0].update(left=3e-17), False, True),
        (lambda e: e["out"].update(evidence="x=2"), False, True),
        (lambda e: e["out"]["claims"][0].update(right=2.0001), False, False),
        (lambda e: e["out"].update(outcome="VIOLATED"), False, False),
        (lambda e: e.update(code=1), False, False),
        (lambda e: e["out"].pop("claims"), False, False),
    ],
)
def test_what_counts_as_the_same(script, change, same, rounded):
    """Verdicts, keys and exit codes exactly; numbers up to rounding where libraries differ."""
    before, after = {"verify": ENTRY}, {"verify": copy.deepcopy(ENTRY)}
    change(after["verify"])
    assert (script.compare(before, after, {}, words=False) == 0) is same
    assert (script.compare(_rounded(script, before, after), after, {}, words=False) == 0) is rounded


def test_the_hash_of_code_and_libraries_is_not_compared(script):
    """It says which these are; the hash of what the ledger says is compared."""
    hashes = {"input": "1", "checker": "2"}
    for key, same in (("checker", True), ("input", False)):
        one, other = ({**ENTRY, "out": {"computed_from": each}} for each in (hashes, {**hashes, key: "3"}))
        assert (script.compare({"audit": one}, {"audit": other}, {}, words=False) == 0) is same


def test_where_a_search_ends_is_not_compared(script):
    """Of `falsify` alone, and its verdict is."""
    one, other = ({**ENTRY, "out": {"verdict": "INCONCLUSIVE", "worst": {"T": T}}} for T in (7, 9))
    for line, same in (("falsify key", True), ("verify key", False)):
        before, after = {line: one}, {line: other}
        assert (script.compare(_rounded(script, before, after), after, {}, words=False) == 0) is same


def _rounded(script, before, after):
    return {line: script._as_rounded(each, after[line], line) for line, each in before.items()}
