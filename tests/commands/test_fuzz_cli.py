"""No command line and no file makes the tool crash, end with a wrong exit code or say more than a line about it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import fuzz
import pytest

SCRIPT = Path(fuzz.__file__)


def tried(first, last, seconds):
    """What the script says of these cases."""
    words = [sys.executable, str(SCRIPT), str(first), str(last), str(seconds)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["cases"] == last - first
    assert found["wrong"] == 0
    return found["ends"]


def test_the_first_cases():
    """A first look: several kinds, and good and bad ends among them."""
    ends = tried(0, 16, 5)
    assert {end.split()[1] for end in ends} >= {"0", "2"}
    assert len({end.split()[0] for end in ends}) >= 8


# In parts, since a single test may not take as long as all of them do.
@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 11_000, 500))
def test_ten_thousand_cases(first):
    """Every command and every file format, damaged in all ways that are known; most are refused, and many are not."""
    ends = tried(first, first + 500, 5)
    assert len({end.split()[0] for end in ends}) >= len(fuzz.KINDS) - 1
    assert {end.split()[1] for end in ends} >= {"0", "2", "3"}


def test_a_case_is_a_function_of_its_number():
    """So that one that fails can be tried again."""
    assert fuzz.case(17) == fuzz.case(17)


@pytest.mark.parametrize(
    ("code", "out", "err", "wrong"),
    [
        (2, "", "ratecheck: L=x\n", ""),
        (0, "{}", "note: all well\n", ""),
        (2, "", "one\ntwo\n", "an error is one line"),
        (2, "", "", "an error without a line"),
        (1, "{}", "Traceback (most recent call last)\n", "traceback, lines beside the result"),
        (4, "", "ratecheck: internal error\n", "exit code"),
        (-11, "", "", "exit code"),
        (0, "no json", "", "no JSON"),
        (0, "{}", "a.py:1: RuntimeWarning: overflow\n", "warning, lines beside the result"),
    ],
)
def test_what_counts_as_wrong(code, out, err, wrong):
    """The judge of the cases can tell."""
    assert fuzz._wrong(fuzz.Case("page", ("list", "--json"), {}), code, out, err) == wrong
