"""The changelog: every change that is not released is a fragment, and the newest version is that of the package."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOWNCRIER = PROJECT["tool"]["towncrier"]
KINDS = {kind["directory"] for kind in TOWNCRIER["type"]}
FRAGMENTS = sorted((ROOT / TOWNCRIER["directory"]).glob("*.md"))


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=[path.name for path in FRAGMENTS])
def test_a_fragment_is_a_sentence_of_a_kind(fragment):
    """Named +WHAT.KIND.md; text without a list or a heading of its own, in lines that can be read."""
    assert re.fullmatch(rf"\+[a-z0-9-]+\.({'|'.join(KINDS)})\.md", fragment.name)
    text = fragment.read_text()
    assert text.strip().endswith(".")
    assert not text.lstrip().startswith(("-", "#"))
    assert max(map(len, text.splitlines())) <= 120


def test_the_newest_version_is_that_of_the_package():
    """In pyproject.toml, CITATION.cff and at the head of the changelog, which ends where fragments are put."""
    text = (ROOT / TOWNCRIER["filename"]).read_text()
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", text, re.MULTILINE)
    assert newest[1] == PROJECT["project"]["version"]
    assert f"version: {newest[1]}\n" in (ROOT / "CITATION.cff").read_text()
    assert text.partition(TOWNCRIER["start_string"])[2].lstrip().startswith(f"## [{newest[1]}]")
    assert "[Unreleased]" not in text


def test_an_entry_can_be_read():
    """No longer than a page or two: what is not released is in fragments, and a merge has not put lines back."""
    entries = re.split(r"^## ", (ROOT / TOWNCRIER["filename"]).read_text(), flags=re.MULTILINE)[1:]
    assert max(len(entry.split()) for entry in entries) < 1_300


def test_the_next_entry_can_be_made():
    """With every fragment in it, as a list under its kind."""
    pytest.importorskip("towncrier", reason="needs the extra test")
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9.9", "--date", "2030-01-01"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "## [9.9.9] - 2030-01-01" in made
    assert made.count("\n- ") == len(FRAGMENTS)
