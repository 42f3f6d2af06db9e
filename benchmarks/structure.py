"""How the code is laid out, in numbers: lines, folders, circles, doubled names, and how far a new kind reaches.

``python benchmarks/structure.py [ROOT ...]`` prints a table about the packages below each ROOT (this checkout by
default), one column each, so that two checkouts stand side by side.

Arrows are imports from one file of the packages to another one, at the top, inside of a function or for annotations
alone; a circle is a set of files each of which reaches each other by arrows. The walk of an argument is the sequence of
files whose functions are called with it while a command runs: the files that it enters, and how often it comes back to
one that it had left. The reach of a kind is the number of files outside of its folder that name its class: it was
written or changed for that kind. A kind that no file names was one new file, as a guest's is.
"""

from __future__ import annotations

import ast
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("bounds", "ratecheck")
MOST_FILES = 18
# The kinds whose reach is counted: the folder that defines them, and the base class of each.
KINDS = {
    "problem": ("ratecheck/problems", {"Problem", "SingleLevel"}),
    "pattern": ("ratecheck/participation", {"Participation", "Independent"}),
    "noise law": ("ratecheck/noise", {"NoiseLaw"}),
    "engine": ("ratecheck/engines", {"Engine"}),
    "family": ("ratecheck/families", {"Family"}),
    "method": ("ratecheck/algorithms", {"Algorithm"}),
}

WALK = """
import contextlib, io, json, sys
from importlib import import_module
from pathlib import Path
root = Path(sys.argv[1]).resolve()
import bounds
from ratecheck.cli import _run
def walk(run, is_it):
    trip = []
    def watch(frame, event, argument):
        if event != "call":
            return
        name = frame.f_code.co_filename
        if not name.startswith(str(root)) or "site-packages" in name or (trip and trip[-1] == name):
            return
        names = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
        if any(is_it(frame.f_locals.get(each)) for each in names):
            trip.append(name)
    sys.setprofile(watch)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run()
    finally:
        sys.setprofile(None)
    return len(set(trip)), len(trip) - len(set(trip))
key = "pfl/theorem-3.7"
statement = bounds.get(key)
numbers = "n=10 m=9 K=25 L=1 T=400 F_0=1 b=0.4 sigma_u=0.3 sigma_v=0.3".split()
step = import_module("bounds.papers.pfl.proofs").STEPS[0]
examine = import_module("ratecheck.auditing.finding").examine_step
print(json.dumps({
    "verify": walk(lambda: _run(["verify", key, "T=20"]), lambda value: value is statement),
    "stepsize": walk(lambda: _run(["stepsize", key, *numbers]), lambda value: value is statement),
    "audit": walk(lambda: examine(step), lambda value: value is step),
}))
"""


def modules(root: Path) -> dict[str, Path]:
    """Module name -> file."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def parsed(known: dict[str, Path]) -> dict[str, ast.Module]:
    """Module name -> its code."""
    return {name: ast.parse(path.read_text()) for name, path in known.items()}


def running(tree: ast.Module) -> ast.Module:
    """The module without its imports for annotations alone."""
    body = [n for n in tree.body if not (isinstance(n, ast.If) and getattr(n.test, "id", "") == "TYPE_CHECKING")]
    return ast.Module(body, [])


def arrows(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Module -> modules of the packages that it imports, wherever the import stands."""
    found: dict[str, set[str]] = {}
    for name, tree in trees.items():
        named = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    named.add(full if full in trees else node.module)
        found[name] = (named & {*trees}) - {name}
    return found


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of more than one module that reach one another: strongly connected components, by reachability."""
    reached: dict[str, set[str]] = {}
    for start, direct in graph.items():
        seen, todo = set(), [*direct]
        while todo:
            here = todo.pop()
            if here not in seen:
                seen.add(here)
                todo += graph[here]
        reached[start] = seen
    found: list[set[str]] = []
    for name in graph:
        together = {other for other in reached[name] if name in reached[other]}
        if len(together) > 1 and together not in found:
            found.append(together)
    return found


def classes(trees: dict[str, ast.Module]) -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class at the top of a module, with its module."""
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                yield name, node


def kinds(root: Path, known: dict[str, Path], trees: dict[str, ast.Module]) -> dict[str, dict[str, str]]:
    """For each sort of kind its classes, direct and indirect subclasses of the base, with the module of each."""
    bases = {
        node.name: ({ast.unparse(base).rpartition(".")[2].partition("[")[0] for base in node.bases}, name)
        for name, node in classes(trees)
    }
    found = {}
    for sort, (folder, roots) in KINDS.items():
        below = set(roots)
        while more := {name for name, (parents, _) in bases.items() if parents & below} - below:
            below |= more
        found[sort] = {
            name: bases[name][1]
            for name in sorted(below - roots)
            if not name.startswith("_") and str(known[bases[name][1]].relative_to(root)).startswith(folder)
        }
    return found


def reach(root: Path, known: dict[str, Path], trees: dict[str, ast.Module]) -> dict[str, dict[str, int]]:
    """For each kind how many files outside of its folder name its class."""
    named = {
        name: {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for name, tree in trees.items()
    }
    outside = {
        sort: {name for name, path in known.items() if not str(path.relative_to(root)).startswith(folder)}
        for sort, (folder, _) in KINDS.items()
    }
    return {
        sort: {kind: sum(kind in named[name] for name in outside[sort]) for kind in found}
        for sort, found in kinds(root, known, trees).items()
    }


def asked_for(root: Path, known: dict[str, Path], trees: dict[str, ast.Module]) -> Counter[str]:
    """Calls of isinstance with a concrete kind outside of the folder that defines it, by file."""
    found: Counter[str] = Counter()
    sorts = kinds(root, known, trees)
    for name, path in known.items():
        place = str(path.relative_to(root))
        elsewhere = {kind for sort, each in sorts.items() if not place.startswith(KINDS[sort][0]) for kind in each}
        for node in ast.walk(trees[name]):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                inside = [*ast.walk(node.args[1])]
                words = {n.id for n in inside if isinstance(n, ast.Name)}
                words |= {n.attr for n in inside if isinstance(n, ast.Attribute)}
                found[place] += bool(words & elsewhere)
    return +found


def named_outside(root: Path, trees: dict[str, ast.Module] | None = None) -> list[tuple[str, int, str]]:
    """Where an item of `KINDS` is asked for its class outside of the folder that defines it.

    File, line and class of every ``isinstance``, ``issubclass``, comparison with ``type(...)`` and class pattern of a
    ``match``; the abstract bases count as well. ``trees`` are those of the checkout, where they are known.
    """
    known = modules(root)
    trees = parsed(known) if trees is None else trees
    found = kinds(root, known, trees)
    asked = []
    for name, tree in trees.items():
        place = str(known[name].relative_to(root))
        sorts = [sort for sort in KINDS if not place.startswith(KINDS[sort][0])]
        wanted = {word for sort in sorts for word in (*found[sort], *KINDS[sort][1])}
        asked += [(place, node.lineno, word) for node in ast.walk(tree) for word in _compared(node) & wanted]
    return sorted(asked)


def _compared(node: ast.AST) -> set[str]:
    """The names of the classes with which a piece of code compares the class of something."""
    inside: list[ast.AST] = []
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        inside = [node.args[1]]
    elif isinstance(node, ast.MatchClass):
        inside = [node.cls]
    elif isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Call) and getattr(side.func, "id", "") == "type" for side in sides):
            inside = [side for side in sides if not isinstance(side, ast.Call)]
    parts = [part for each in inside for part in ast.walk(each)]
    return {part.id for part in parts if isinstance(part, ast.Name)} | {
        part.attr for part in parts if isinstance(part, ast.Attribute)
    }


def papers(graph: dict[str, set[str]]) -> dict[str, int]:
    """Folder of a paper -> how many modules outside of it import one of its modules."""
    of_paper = {
        name: ".".join(name.split(".")[:3])
        for name in graph
        if name.startswith("bounds.papers.") and f"{'.'.join(name.split('.')[:3])}.statements" in graph
    }
    return {
        paper: sum(
            of_paper.get(name) != paper and any(of_paper.get(each) == paper for each in named)
            for name, named in graph.items()
        )
        for paper in sorted({*of_paper.values()})
    }


# Beginnings of docstrings that name nothing by themselves.
_REFERENT = re.compile(r"(The same|Those|These|This|That|Its?|They|Their|Whether (it|they)|As above|The others?)\b")


def referents(trees: dict[str, ast.Module]) -> list[tuple[str, str]]:
    """Module and first line of each docstring that begins with a word for something said elsewhere."""
    found = []
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                first = (ast.get_docstring(node) or "").partition("\n")[0]
                if _REFERENT.match(first):
                    found.append((name, first))
    return found


def json_lines(root: Path) -> int:
    """Lines of the JSON files that are kept in git."""
    listed = subprocess.run(["git", "ls-files", "*.json"], cwd=root, capture_output=True, text=True, check=True)  # noqa: S607  # git of the path
    return sum(len((root / name).read_text().splitlines()) for name in listed.stdout.splitlines())


def walks(root: Path) -> dict[str, tuple[int, int]]:
    """For three commands the files that a statement or a step enters, and how often it comes back."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", WALK, str(root)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, env=environment)  # noqa: S603  # our own script
    found: dict[str, tuple[int, int]] = json.loads(done.stdout.splitlines()[-1])
    return found


def doubled(names: list[str]) -> list[str]:
    """What stands in a list more than once."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def measure(root: Path) -> dict[str, str]:
    """The rows of the table for one checkout."""
    known = modules(root)
    trees = parsed(known)
    lines = {name: len(path.read_text().splitlines()) for name, path in known.items()}
    folders = Counter(str(path.parent.relative_to(root)) for path in known.values())
    crowded = {folder: count for folder, count in folders.items() if count > MOST_FILES}
    files = [path.name for path in known.values() if path.name != "__init__.py"]
    checks, graph = asked_for(root, known, trees), arrows(trees)
    rows = {
        "files": str(len(known)),
        "lines of bounds and ratecheck": str(sum(lines.values())),
        "lines of ratecheck": str(sum(count for name, count in lines.items() if name.startswith("ratecheck"))),
        "largest file": str(max(lines.values())),
        f"folders, with more than {MOST_FILES} files": f"{len(folders)}, {len(crowded)}",
        "arrows": str(sum(map(len, graph.values()))),
        "circles of files": str(len(circles(graph))),
        "circles of files, but for annotations": str(len(circles(arrows({n: running(t) for n, t in trees.items()})))),
        "class names twice": str(len(doubled([node.name for _, node in classes(trees)]))),
        "file names twice": str(len(doubled(files))),
        "isinstance on a kind elsewhere": f"{sum(checks.values())} in {len(checks)} files",
        "kinds named outside of their folder": str(len(named_outside(root, trees))),
        "docstrings that begin with a referent": str(len(referents(trees))),
        "lines of JSON in git": str(json_lines(root)),
    }
    for sort, found in {**reach(root, known, trees), "paper": papers(graph)}.items():
        counts = sorted(found.values())
        median = f"{statistics.median(counts):g}, {counts[-1]}; {counts.count(0)} of {len(counts)}" if counts else "-"
        rows[f"files that name a {sort}: median, most; none"] = median
    for command, (entered, returns) in walks(root).items():
        rows[f"walk of {command}: files, returns"] = f"{entered}, {returns}"
    return rows


def main(roots: list[Path]) -> None:
    """Print the table, one column for each checkout."""
    columns = [measure(root) for root in roots]
    for row in columns[0]:
        print(f"{row:<42}" + "".join(f"{column.get(row, '-'):>22}" for column in columns))


if __name__ == "__main__":
    main([Path(each).resolve() for each in sys.argv[1:]] or [Path(__file__).resolve().parents[1]])
