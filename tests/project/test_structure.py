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
    known = structure.modules(ROOT)
    trees = {name: ast.parse(path.read_text()) for name, path in known.items()}
    assert {"Quadratic", "Piecewise"} <= {*structure.kinds(ROOT, known, trees)["problem"]}
    assert structure.asked_for(ROOT, known, trees) == {}
