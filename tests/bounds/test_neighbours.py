"""A user's file imports the files beside it, from wherever the command is called."""

import sys

import pytest

from bounds import run_file

FILE = """from {module} import share
from bounds.theorem import theorem

own = theorem(f"mean grad2 <= {{share}}*F_0/(gamma*T)", method="gd", given="smooth", when="gamma <= 1/L")
"""


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch):
    """What files of a test add to the path and to the modules goes with it."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(run_file, "_FOLDERS", [])
    before = {*sys.modules}
    yield
    for name in {*sys.modules} - before:
        if name.startswith("beside_"):
            del sys.modules[name]


def folder(place, module, share):
    """A folder with a theorem whose number is that of a neighbour."""
    place.mkdir()
    (place / f"{module}.py").write_text(f"share = {share}\n")
    (place / "mine.py").write_text(FILE.format(module=module))
    return place / "mine.py"


def test_a_neighbour_is_imported(tmp_path, cli):
    """Its number is that of the theorem."""
    file = folder(tmp_path / "one", "beside_one", 2)
    done = cli("verify", f"{file}:own", "T=5")
    assert done.returncode == 0, done.stderr
    assert "HOLDS" in done.stdout


def test_neighbours_of_one_name_are_not_taken_for_each_other(tmp_path, cli):
    """The second folder's file is refused, by name, instead of getting the first one's number."""
    first, second = (folder(tmp_path / name, "beside_same", share) for name, share in (("one", 2), ("two", 3)))
    assert cli("show", f"{first}:own").returncode == 0
    done = cli("show", f"{second}:own")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "beside_same.py of" in done.stderr
    assert str(second.parent) in done.stderr


def test_a_library_is_not_hidden(tmp_path, cli):
    """By a neighbour of its name."""
    file = folder(tmp_path / "one", "beside_library", 2)
    (file.parent / "numpy.py").write_text("raise RuntimeError\n")
    file.write_text("import numpy\n" + file.read_text())
    assert cli("show", f"{file}:own").returncode == 0
