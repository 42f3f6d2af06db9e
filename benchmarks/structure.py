"""How the code is laid out, in numbers: files, lines, arrows, levels, and how many files one input passes through.

``python benchmarks/structure.py [ROOT]`` prints a table about the packages below ROOT (this checkout by default).
Arrows are imports from one file of the packages to another one, at the top or inside of a function; levels are files on
the longest chain of imports at the top of files. An input passes through a file where a function of that file is called
with it as an argument.
"""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

PACKAGES = ("bounds", "ratecheck")
# Folders that may ask for the class of what they define.
INTERFACES = ("ratecheck/problems", "ratecheck/participation", "ratecheck/algorithms")
CLASSES = {
    "Participation", "Trace", "Uniform", "Bernoulli", "Independent", "Sine", "Largest", "Delays",
    "Problem", "SingleLevel", "Quadratic", "Logistic", "Bilevel", "Remembering", "RememberingGradients",
}  # fmt: skip

PASSES = """
import contextlib, io, json, sys
from pathlib import Path
from ratecheck.cli import _run
root = Path(sys.argv[1]).resolve()
def passes(arguments, is_it):
    files = set()
    def watch(frame, event, argument):
        if event != "call":
            return
        name = frame.f_code.co_filename
        if not name.startswith(str(root)) or "site-packages" in name:
            return
        names = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
        if name not in files and any(is_it(frame.f_locals.get(each)) for each in names):
            files.add(name)
    sys.setprofile(watch)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = _run(arguments)
    finally:
        sys.setprofile(None)
    return len(files), code
key = "pfl/theorem-3.7"
import bounds
statement = bounds.get(key)
from importlib import import_module
numbers = "n=10 m=9 K=25 L=1 T=400 F_0=1 b=0.4 sigma_u=0.3 sigma_v=0.3".split()
found = {
    "verify's statement": passes(["verify", key, "T=20"], lambda value: value is statement),
    "stepsize's key": passes(["stepsize", key, *numbers], lambda value: isinstance(value, str) and value == key),
}
step = import_module("bounds.papers.pfl.proofs").STEPS[0]
examine = import_module("ratecheck.auditing.finding").examine_step
files = set()
def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(str(root)) and any(
        frame.f_locals.get(each) is step for each in frame.f_code.co_varnames[: frame.f_code.co_argcount]
    ):
        files.add(frame.f_code.co_filename)
sys.setprofile(watch)
examine(step)
sys.setprofile(None)
found["audit's step"] = (len(files), 0)
print(json.dumps(found))
"""


def modules(root: Path) -> dict[str, Path]:
    """Module name -> file."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree: ast.AST, known: dict[str, Path]) -> set[str]:
    """The modules of the packages that a piece of code imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in known else node.module)
    return found & {*known}


def arrows(known: dict[str, Path], *, top: bool) -> dict[str, set[str]]:
    """Module -> modules that it imports; ``top``: only where the import is run with the module itself."""
    found = {}
    for name, path in known.items():
        tree = ast.parse(path.read_text())
        body = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)] if top else [tree]
        found[name] = {each for node in body for each in imported(node, known)} - {name}
    return found


def levels(graph: dict[str, set[str]]) -> int:
    """Files on the longest chain of imports; a circle counts once."""
    going: set[str] = set()

    @functools.cache
    def depth(name: str) -> int:
        going.add(name)
        found = 1 + max((depth(each) for each in graph[name] if each not in going), default=0)
        going.discard(name)
        return found

    return max(map(depth, graph))


def class_checks(root: Path, known: dict[str, Path]) -> Counter[str]:
    """Calls of isinstance with a class of a problem, a participation or an algorithm, outside of their folders."""
    found: Counter[str] = Counter()
    for path in known.values():
        name = str(path.relative_to(root))
        if name.startswith(INTERFACES):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                named = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
                named |= {n.attr for n in ast.walk(node.args[1]) if isinstance(n, ast.Attribute)}
                found[name] += bool(named & CLASSES)
    return +found


def main(root: Path) -> None:
    """Print the table."""
    known = modules(root)
    folders = Counter(str(path.parent.relative_to(root)) for path in known.values())
    lines = sum(len(path.read_text().splitlines()) for path in known.values())
    graph = arrows(known, top=False)
    checks = class_checks(root, known)
    names: dict[str, set[str]] = {}
    for path in known.values():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                names.setdefault(node.name, set()).add(str(path))
    print(f"files                                   {len(known)}")
    print(f"folders                                 {len(folders)}")
    print(f"lines                                   {lines}")
    print("largest folders                         " + ", ".join(f"{d} {k}" for d, k in folders.most_common(5)))
    print(f"arrows                                  {sum(map(len, graph.values()))}")
    print(f"levels                                  {levels(arrows(known, top=True))}")
    print(f"isinstance outside the interfaces       {sum(checks.values())} in {len(checks)} files")
    print(f"class names for more than one thing     {sum(len(places) > 1 for places in names.values())}")
    command = [sys.executable, "-c", PASSES, str(root)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)  # noqa: S603  # our own script
    for what, (count, _) in json.loads(done.stdout.splitlines()[-1]).items():
        print(f"files that {what:<28} {count}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
