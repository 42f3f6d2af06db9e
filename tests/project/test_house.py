"""The page that tells a stranger where what is: every named file is there and has the named thing."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "house.md").read_text().splitlines()
    if line.startswith("|") and "?" in line
]


def defined(path):
    """Functions, classes and names that a file defines, at any depth."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_there_are_twenty_one_questions():
    """Each of its own, with an answer of its own."""
    assert len({question for question, *_ in ROWS}) == len(ROWS) == 21
    assert len({(file, name) for _, file, name in ROWS}) == 21


@pytest.mark.parametrize(("question", "file", "name"), ROWS, ids=[row[2].strip("`") for row in ROWS])
def test_the_answer_is_there(question, file, name):
    """The file that the page names defines what it names."""
    [path] = [ROOT / found for found in re.findall(r"`([^`]+\.py)`", file)]
    assert name.strip("`") in set(defined(path)), question
