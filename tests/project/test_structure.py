"""The layout of the code: kinds of problems, patterns and engines answer, and nobody asks what they are."""

import ast
import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_nobody_asks_for_a_kind():
    """Outside of its folder no file calls isinstance with a kind of problem, pattern, method or engine."""
    spec = importlib.util.spec_from_file_location("structure", ROOT / "benchmarks" / "structure.py")
    structure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(structure)
    folders = tuple(str(ROOT / folder) for folder, _ in structure.KINDS.values())
    read = ((name, path, path.read_text()) for name, path in structure.modules(ROOT).items())
    sources = [each for each in read if "isinstance(" in each[2] or str(each[1]).startswith(folders)]
    known = {name: path for name, path, _ in sources}
    trees = {name: ast.parse(text) for name, _, text in sources}
    assert {"Quadratic", "Piecewise"} <= {*structure.kinds(ROOT, known, trees)["problem"]}
    assert structure.asked_for(ROOT, known, trees) == {}
