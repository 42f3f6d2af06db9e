"""Items answer for themselves: hardly any file asks a problem, a pattern, a method or an engine for its class."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from structure import arrows, circles, modules, named_outside, parsed, reach, referents, walks  # noqa: E402  # a script, not a package

INPUT = "what a caller gives is checked, or told from a name"
# File, class and reason of what stays.
ALLOWED = {
    ("ratecheck/engines/setup.py", "Problem"): INPUT,
    ("ratecheck/engines/setup.py", "Participation"): INPUT,
    ("ratecheck/settings/prepare.py", "Problem"): INPUT,
    ("ratecheck/settings/prepare.py", "Participation"): INPUT,
}


@pytest.fixture(scope="module")
def trees():
    """The code of both packages."""
    return parsed(modules(ROOT))


def test_no_kind_is_asked_for_elsewhere(trees):
    """But for four places, each with its reason: a new kind needs no branch anywhere."""
    assert sorted((place, kind) for place, _, kind in named_outside(ROOT, trees)) == sorted(ALLOWED)


def test_few_files_name_a_kind(trees):
    """A limit that is lowered where less is reached: the kinds that others are turned into have the longest reach."""
    most = {sort: max(found.values()) for sort, found in reach(ROOT, modules(ROOT), trees).items()}
    limits = {"problem": 8, "pattern": 6, "noise law": 2, "engine": 2, "family": 1, "method": 1}
    assert {sort: count for sort, count in most.items() if count > limits[sort]} == {}


def test_a_statement_walks_straight():
    """Files that an input enters while a command runs, and how often it comes back to one: limits as above."""
    limits = {"verify": (14, 20), "stepsize": (8, 5), "audit": (3, 3)}
    long = {
        name: walk for name, walk in walks(ROOT).items() if any(a > b for a, b in zip(walk, limits[name], strict=True))
    }
    assert long == {}


def test_no_file_reaches_itself(trees):
    """Not by imports for annotations either: of two files at most one knows the other."""
    assert circles(arrows(trees)) == []


def test_every_public_method_is_explained(trees):
    """By a docstring of its own, or of the method that it overrides."""
    classes, silent = {}, []
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and module != "ratecheck.recheck":
                bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
                methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
                known, others = classes.setdefault(node.name, (set(), set()))
                known |= {each.name for each in methods if ast.get_docstring(each)}
                others |= bases
                public = not node.name.startswith("_") and "Protocol" not in bases
                silent += [(node.name, each.name) for each in methods if public and not each.name.startswith("_")]

    def explained(of, name):
        known, bases = classes.get(of, ({name}, ()))
        return name in known or any(base in classes and explained(base, name) for base in bases)

    assert [(of, name) for of, name in silent if not explained(of, name)] == []


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(x, Mine)",
        "isinstance(x, (int, Mine))",
        "isinstance(x, int | problems.Mine)",
        "issubclass(type(x), Base)",
        "type(x) is Mine",
        "type(x) in (int, Mine)",
        "match x:\n    case Mine(n=3):\n        pass",
    ],
)
def test_every_way_to_ask_is_seen(code, tmp_path):
    """In a checkout of one problem and one file that asks for it; in the problem's own folder it may be asked for."""
    for folder, text in {
        "ratecheck/problems": "class Base(SingleLevel): pass\nclass Mine(Base): pass\n",
        "ratecheck/views": "",
        "bounds": "",
    }.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file.py").write_text(text)
    assert named_outside(tmp_path) == []
    for folder in ("ratecheck/problems", "ratecheck/views"):
        with (tmp_path / folder / "file.py").open("a") as file:
            file.write(f"x = 1\n{code}\n")
    assert [place for place, *_ in named_outside(tmp_path)] == ["ratecheck/views/file.py"]


def test_a_docstring_names_its_thing(trees):
    """Its first words do not refer to another docstring."""
    assert referents(trees) == []
    code = 'def f():\n    """The same for g."""\n\ndef g():\n    """Itself."""\n'
    assert referents({"m": ast.parse(code)}) == [("m", "The same for g.")]
