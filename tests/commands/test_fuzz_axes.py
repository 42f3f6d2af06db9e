"""Own theorems, statements, studies and stores by named axes: no traceback, no wrong exit code."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import fuzz_axes
import pytest

SCRIPT = Path(fuzz_axes.__file__)


def tried(first, last, seconds):
    """What the script says of these cases, by the end of each kind."""
    words = [sys.executable, str(SCRIPT), str(first), str(last), str(seconds)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["cases"], found["wrong"]) == (last - first, 0)
    return found["ends"]


def test_the_first_dozen():
    """A first look: good ends and refusals."""
    assert {end.split()[-1] for end in tried(0, 12, 5)} >= {"0", "2"}


# In parts, since a single test may not take as long as all of them do.
@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 11_000, 500))
def test_ten_thousand_cases(first):
    """Every kind, most of the commands, and every exit code."""
    ends = tried(first, first + 500, 10)
    assert {end.split()[0] for end in ends} == {*fuzz_axes.KINDS}
    assert {end.split()[-1] for end in ends} >= {"0", "1", "2", "3"}


def test_a_case_is_a_function_of_its_number():
    """So that one that fails can be tried again."""
    assert fuzz_axes.case(17) == fuzz_axes.case(17)


def test_axes_are_reached():
    """Each function, place, command and kind is drawn by some of the ten thousand."""
    texts = [case.files.get("mine.py", b"") for case in map(fuzz_axes.case, range(1000, 6000))]
    for function in fuzz_axes.FUNCTIONS.values():
        assert any(f"\nf = {function}\n".encode() in text for text in texts), function
    words = {case.words[0] for case in map(fuzz_axes.case, range(1000, 2000))}
    assert words >= {command[0] for command in fuzz_axes.COMMANDS.values()} | {"run", "report", "results"}


def test_the_judge_sees_what_is_wrong(monkeypatch):
    """A command that fails inside is reported by the same way that the cases take."""
    from ratecheck.commands.theory import lint

    def broken(*_, **__):
        raise RuntimeError("planted")

    monkeypatch.setattr(lint, "lint", broken, raising=False)
    case = fuzz_axes.KINDS["statement"][0](random.Random(0))  # noqa: S311  # no secret
    assert fuzz_axes.fuzz.attempt(case).wrong == "exit code"
