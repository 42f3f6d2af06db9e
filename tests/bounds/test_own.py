"""A user's own statement, taken by every command where it takes a key: the template of the documentation."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from short_theorem import DESCENT

import bounds
import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError
from ratecheck.falsification.performance_estimation.interpolation import Answers

PAGE = Path(__file__).parents[2] / "docs" / "own.md"
KEY = "mine.py:descent"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the template of the page in mine.py."""
    template = re.search(r"^cat > whole\.py <<'END'\n(.*?)^END$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "mine.py").write_text(template[1])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "arguments", "check"),
    [
        ("show", [], lambda f: f["key"] == "mine/descent" and f["conditions"]),
        # 2*F_0/(gamma_u*T) by hand.
        ("bound", ["L=2", "F_0=3", "T=100", "gamma_u=0.5"], lambda f: f["value"] == 2 * 3 / (0.5 * 100)),
        ("stepsize", ["L=2", "F_0=3", "T=100"], lambda f: f["admissible"]["gamma_u"] == [0.0, 0.5]),
        # The best gamma_u is 1/L, which leaves 2*L*F_0/T <= eps.
        ("rounds", ["L=2", "F_0=3", "eps=0.01"], lambda f: f["rounds"] == 1200),
        ("verify", ["n=4", "T=30"], lambda f: f["verdict"] == "HOLDS"),
        ("plot", ["n=4", "T=30"], lambda f: Path(f["file"]).stat().st_size > 10_000),
    ],
)
@pytest.mark.usefixtures("here")
def test_every_command_takes_it(cli, command, arguments, check):
    """Each of the commands that take one key."""
    done = cli(command, KEY, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert check(json.loads(done.stdout))


def test_an_edited_file_is_read_anew(here, tmp_path_factory, monkeypatch):
    """In one process: of the same length and time, or of the same name in another folder."""
    mine = here / "mine.py"
    assert rc.get(KEY).title == "Gradient descent"
    kept = mine.stat()
    mine.write_text(mine.read_text().replace("Gradient descent", "Gradient ascents"))
    os.utime(mine, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    assert rc.get(KEY).title == "Gradient ascents"
    other = tmp_path_factory.mktemp("other")
    (other / "mine.py").write_text(mine.read_text().replace("Gradient ascents", "Another"))
    monkeypatch.chdir(other)
    assert rc.get(KEY).title == "Another"


@pytest.mark.usefixtures("here")
def test_commands_with_several_keys_take_it(cli):
    """Beside keys of the catalogue."""
    numbers = ["L=1", "F_0=1", "n=5", "B_0=1", "K=1", "T=100", "sigma_u=0"]
    done = cli("compare", KEY, "pfl/fedavg-full", *numbers, "--json")
    values = json.loads(done.stdout)["values"]
    assert values["mine/descent"] == 2 / 100
    done = cli("verify", KEY, "pfl/theorem-3.11", "n=4", "m=4", "K=1", "T=20", "sigma_u=0", "--json")
    assert [row["key"] for row in json.loads(done.stdout)["verdicts"]] == ["mine/descent", "pfl/theorem-3.11"]


@pytest.mark.usefixtures("here")
def test_a_file_is_listed_and_verified_as_a_whole(cli):
    """Without a name it stands for all statements in it."""
    assert [row["key"] for row in json.loads(cli("list", "mine.py", "--json").stdout)["statements"]] == [KEY]
    assert cli("verify", "mine.py", "n=4", "T=20").returncode == 0


def test_a_wrong_statement_of_ones_own_is_caught(here, cli):
    """The same with a fifth of the right side is VIOLATED on the default problem, with exit code 1."""
    text = (here / "mine.py").read_text()
    (here / "wrong.py").write_text(text.replace("2 * F_0 / (gamma_u * T)", "2 * F_0 / (5 * gamma_u * T)"))
    done = cli("verify", "wrong.py:descent", "n=4", "T=30", "--json")
    assert (json.loads(done.stdout)["verdict"], done.returncode) == ("VIOLATED", 1)


@pytest.mark.usefixtures("here")
def test_python_takes_it_too():
    """rc.get as well as the command line."""
    assert rc.get(KEY).evaluate(L=2, F_0=3, T=100, gamma_u=0.5).value == pytest.approx(0.12)


@pytest.mark.parametrize(
    ("key", "text", "parts"),
    [
        ("none.py:a", None, ("no file 'none.py'",)),
        ("mine.py:descnt", None, ("no statement 'descnt'", "did you mean 'descent'")),
        ("mine.py", None, ("which statement", "mine.py:descent")),
        ("empty.py:a", "x = 1\n", ("empty.py defines no statement",)),
        ("empty.py", "x = 1\n", ("empty.py defines no statement",)),
        ("broken.py:a", "x = 1\n\ny = 1 / 0\n", ("line 3", "ZeroDivisionError")),
        ("syntax.py:a", "x = (\n", ("line 1", "SyntaxError")),
        ("import.py:a", "import nothing_of_that_name\n", ("line 1", "nothing_of_that_name")),
        ("quit.py:a", "raise SystemExit(3)\n", ("SystemExit",)),
        (
            "part.py:a",
            "from bounds.statement import Source\nSource(paper='x')\n",
            ("line 2", "Source lacks number and location"),
        ),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_is_wrong_is_said_in_one_line(cli, key, text, parts):
    """File, line and error, without a traceback, exit code 2."""
    if text is not None:
        Path(key.partition(":")[0]).write_text(text)
    done = cli("show", key)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr
    with pytest.raises(InputError):
        bounds.get(key)


@pytest.mark.usefixtures("here")
def test_a_file_without_statements_has_no_list(cli):
    """One line, no traceback."""
    Path("empty.py").write_text("x = 1\n")
    done = cli("list", "empty.py")
    assert done.returncode == 2
    assert done.stderr.startswith("ratecheck: empty.py defines no statement")


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("2 * F_0 /", "sp.sin(F_0) /", "no rule for sin in sin(F_0)"),
        ("2 * F_0 /", "F_0 ** sp.sin(L) /", "no rule for sin in sin(L)"),
        ("2 * F_0 / (gamma_u * T)", "2.5", "term 'gap' of claim 'main' is 2.5, no SymPy expression"),
        ("2 * F_0 /", "2 * sp.Symbol('gama') /", "no symbol 'gama' in its vocabulary; did you mean 'gamma'"),
        ('"K": sp.', '"k": sp.', "no symbol 'k' in its vocabulary"),
        ('"<="', '"=<"', "condition 'step size' has the operator '=<'; known: <=, >=, ==, <, >"),
        ("    claims=(Claim", "    claims=() and (Claim", "has no claims"),
    ],
)
def test_a_part_without_a_value_is_named(here, cli, old, new, part):
    """Before any command uses it: one line with the statement and the part, exit code 2."""
    text = (here / "mine.py").read_text()
    assert text.count(old) == 1
    (here / "mine.py").write_text(text.replace(old, new))
    for command in (["show"], ["bound", "gamma_u=0.5", "L=2", "F_0=3", "T=100"], ["stepsize", "L=2"]):
        done = cli(command[0], KEY, *command[1:])
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith("ratecheck: mine.py:descent")
        assert part in done.stderr


@pytest.mark.parametrize(
    ("repairs", "code", "part"),
    [
        ("pfl/lemma-a.2", 0, ""),
        ("mine/descent", 0, ""),
        ("pfl/lemma-a.22", 2, "repairs 'pfl/lemma-a.22': no statement 'pfl/lemma-a.22' in the catalogue"),
    ],
)
def test_it_may_repair_a_statement(here, cli, repairs, code, part):
    """One of the catalogue or of its own file; any other key is refused."""
    line = f'import dataclasses\nbetter = dataclasses.replace(descent, key="mine/better", repairs="{repairs}")\n'
    (here / "mine.py").write_text((here / "mine.py").read_text() + line)
    done = cli("show", "mine.py:better")
    assert (done.returncode, part in done.stderr) == (code, True), done.stderr


def test_pi_is_a_number(here, cli):
    """As in pi*F_0/(gamma_u*T)."""
    (here / "mine.py").write_text((here / "mine.py").read_text().replace("2 * F_0 /", "sp.pi * F_0 /"))
    done = cli("bound", KEY, "L=2", "F_0=3", "T=100", "gamma_u=0.5", "--json")
    assert json.loads(done.stdout)["value"] == pytest.approx(math.pi * 3 / (0.5 * 100), rel=1e-12)


def test_an_unknown_method_is_named(here, cli):
    """By every command, whether it runs it or not; one that the file defines further down is known."""
    (here / "mine.py").write_text((here / "mine.py").read_text().replace('"fedavg"', '"fedavgg"'))
    done = cli("verify", KEY, "n=4", "T=10")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no algorithm 'fedavgg'; did you mean 'fedavg'" in done.stderr
    for command in ("bound", "show", "stepsize", "lint"):
        assert (again := cli(command, KEY)).returncode == 2
        assert again.stderr == done.stderr
    (here / "mine.json").write_text(json.dumps(DESCENT | {"algorithm": ""}))
    assert "algorithm: no algorithm ''" in cli("lint", "mine.json").stderr
    with pytest.raises(InputError, match="no algorithm 'fedavgg'"):
        rc.bound(theorem(**DESCENT | {"algorithm": "fedavgg"}))


def test_a_method_may_stand_below_its_theorem(here, cli):
    """The file is read to its end before anyone asks."""
    define = "\nfrom ratecheck.algorithms import METHODS\nMETHODS['mymethod'] = METHODS['fedavg']\n"
    (here / "mine.py").write_text((here / "mine.py").read_text().replace('"fedavg"', '"mymethod"') + define)
    try:
        assert cli("bound", KEY, "L=2", "F_0=3", "T=100", "gamma_u=0.5").returncode == 0
    finally:
        del METHODS["mymethod"]


def test_no_bytecode_is_left_beside_the_file(here, cli):
    """The user's folder stays as it is."""
    cli("show", KEY)
    assert [path.name for path in here.iterdir()] == ["mine.py"]


def test_a_counterexample_is_asked_again(here, cli):
    """The saved instance needs the user's statement beside it, and the message says how."""
    text = (here / "mine.py").read_text()
    (here / "wrong.py").write_text(text.replace("2 * F_0 / (gamma_u * T)", "F_0 / (10 * gamma_u * T)"))
    found = cli("falsify", "wrong.py:descent", "--evaluations", "60")
    assert found.returncode == 1, found.stderr
    again = found.stderr.split("'")[1].split()[1:]
    assert again[1:3] == ["wrong.py:descent", "--instance"]
    assert cli(*again).returncode == 1
    assert cli("verify", "wrong.py:descent", "T=3", *again[2:]).returncode == 2


@pytest.mark.usefixtures("here")
def test_only_the_command_line_runs_a_file(cli):
    """A data file that names a Python file runs nothing; named on the command line the same instance is asked about."""
    Path("mine.py").write_text(Path("mine.py").read_text() + "\nfrom pathlib import Path\nPath('ran').touch()\n")
    assert cli("falsify", "pfl/fedavg-full", "--evaluations", "5", "--out", "instance.json").returncode == 0
    saved = json.loads(Path("instance.json").read_text())
    for key in (KEY, "mine.py", str(Path.cwd() / KEY)):
        Path("instance.json").write_text(json.dumps({**saved, "statement": key}))
        done = cli("verify", "--instance", "instance.json")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert f"instance.json names {key!r}" in done.stderr
        assert "where the command line names it" in done.stderr
        assert not Path("ran").exists()
    Path("instance.json").write_text(json.dumps({**saved, "statement": KEY, "given": {"K": 1, "T": 3}}))
    assert cli("verify", KEY, "--instance", "instance.json").returncode in (0, 3)
    assert Path("ran").exists()


@pytest.mark.usefixtures("here")
def test_answers_and_arrays_run_nothing(cli):
    """Saved answers name statements of the catalogue, and arrays of objects, which hold code, are not read."""
    nothing = {"values": {}, "gradients": [], "heights": [], "tilts": []}
    with pytest.raises(InputError, match=re.escape(f"names '{KEY}'")):
        Answers.load({"key": KEY, **nothing})
    np.savez("problem.npz", H=np.array([print], dtype=object), g=np.zeros((1, 1)))
    done = cli("verify", "pfl/theorem-3.7", "--problem", "problem.npz")
    assert done.returncode == 2
    assert "allow_pickle=False" in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("raise BaseException('x')", "BaseException: x"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("raise EOFError", "EOFError"),
        ("raise MemoryError", "MemoryError"),
        ("descent = dataclasses.replace(descent, vocabulary=1)", "vocabulary of the statement is 1"),
        ("descent = dataclasses.replace(descent, title=None)", "title of the statement is None"),
        ("descent = dataclasses.replace(descent, assumptions=('smooth',))", "a part of assumptions of the statement"),
        ("descent = dataclasses.replace(descent, claims=None)", "claims of the statement is None"),
        ("descent = dataclasses.replace(descent, source='x')", "source of the statement is 'x'"),
    ],
)
@pytest.mark.parametrize("command", ["show", "bound", "verify"])
def test_whatever_a_file_does_is_one_line(here, cli, line, message, command):
    """What it raises, exits included, and fields of another kind."""
    (here / "mine.py").write_text(f"{(here / 'mine.py').read_text()}\nimport dataclasses\n{line}\n")
    done = cli(command, KEY)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


def test_a_file_with_a_dataclass_runs(here):
    """Dataclasses look for the module of their class, which is not found by imports afterwards."""
    mine = here / "mine.py"
    mine.write_text(mine.read_text() + "\nimport dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int\n")
    assert rc.get(KEY).title == "Gradient descent"
    assert not [name for name in sys.modules if name.startswith("_own_statements")]
