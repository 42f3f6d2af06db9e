"""Ordinary input never ends in an error of the program: it is answered, or refused in one line."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import bounds
import ratecheck as rc
from bounds.errors import InputError
from bounds.statement_data import from_data
from bounds.theorem import symbol, theorem
from ratecheck.api.given import addresses
from ratecheck.problems import Piecewise
from ratecheck.studies import RunStore
from ratecheck.studies.storage.cell_file import pack

HEAD = """
from bounds.theorem import symbol, theorem
common = dict(
    title="Gradient descent", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"],
    left="G_u", over="mean_of_rounds", conditions=["gamma_u <= 1/L"], vocabulary="textbook",
    settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
)
"""
RIGHT = {
    "exponential": "2*F_0/(gamma_u*T)*exp(L*T)",
    "loglog": "2*F_0/(gamma_u*T)*(1 + log(log(T)))",
    "root": "2*F_0/(gamma_u*T)*(1 + sqrt(2*gamma_u*L - 1))",
    "logarithm": "-2*F_0/(gamma_u*T)*log(2*gamma_u*L - 1)",
    "cube": "2*F_0/(gamma_u*T)*(2 + (gamma_u*L - 1)**(1/3))",
    "tiny": "2*F_0/(gamma_u*T) + 1e-200*L*F_0",
    "round": "2*F_0/(gamma_u*(t + 1))",
    "right": "2*F_0/(gamma_u*T)",
    "wrong": "F_0/(2*gamma_u*T)",
}
FILE = HEAD + "".join(f"{name} = theorem(right={right!r}, **common)\n" for name, right in RIGHT.items())
ASKED = {
    "verify": ["n=3", "T=20"],
    "rounds": ["L=1", "F_0=1", "n=2", "eps=1e-3"],
    "stepsize": ["L=1", "F_0=1", "n=2", "T=10"],
    "scaling": ["n=2", "T=8"],
    "plot": ["n=2", "T=8", "--out", "a.png"],
}


def asked(*words, **options):
    """A process that runs the command."""
    return subprocess.run(
        [sys.executable, "-m", "ratecheck", *words], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture
def mine(tmp_path):
    """A folder with a file of theorems."""
    (tmp_path / "mine.py").write_text(FILE)
    return tmp_path


@pytest.fixture(scope="module")
def command():
    """The command line in this process: the exit code."""
    from ratecheck.cli import _run

    return lambda *words: _run([*words])


@pytest.mark.every(4)
@pytest.mark.parametrize("asks", ASKED)
@pytest.mark.parametrize("name", RIGHT)
def test_every_function_of_a_bound_is_answered_or_refused(name, asks, mine, command, capsys, monkeypatch):
    """Roots of what is negative, logarithms of logarithms, exponentials: exit codes 0 to 3, one line where 2."""
    monkeypatch.chdir(mine)
    code = command(asks, f"mine.py:{name}", *ASKED[asks])
    out, err = capsys.readouterr()
    assert code in (0, 1, 2, 3), err
    assert code != 2 or (err.count("\n") == 1 and not out)


def test_a_bound_without_a_value_somewhere_is_minimised_where_it_has_one():
    """sqrt(2 gamma L - 1) has none below 1/(2L): there the minimum cannot be."""
    found = theorem(
        "t", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"], left="G_u",
        over="mean_of_rounds", right="2*F_0/(gamma_u*T)*(1 + sqrt(2*gamma_u*L - 1))", conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip
    best = rc.stepsize(found, L=1, F_0=1, T=10, n=2).to_dict()["optimal"]["gamma_u"]
    # (1 + sqrt(2 x - 1))/x falls to 2 at x = 1/2, rises to its largest, and is 2 again at 1: both are smallest.
    assert best == pytest.approx(0.5, rel=1e-6) or best == pytest.approx(1.0, rel=1e-6)


BAD = {
    "nan": sp.nan, "infinity": sp.oo, "imaginary": sp.I, "float nan": float("nan"), "complex infinity": sp.zoo,
    "too large": sp.Integer(10) ** 400, "too small": sp.Rational(1, 10**400), "text too large": "10**400",
    "integer of JSON": 10**400, "floor": sp.floor(sp.Symbol("T") / 2), "sine": sp.sin(sp.Symbol("T")),
    "absolute value": sp.Abs(sp.Symbol("L") - 1), "cases": sp.Piecewise((1, sp.Symbol("T") > 3), (2, True)),
}  # fmt: skip


@pytest.mark.parametrize("place", ["right", "part", "condition", "rule", "trivial", "equals"])
@pytest.mark.parametrize("name", BAD)
def test_what_has_no_value_in_floats_is_refused_where_it_is_read(name, place):
    """In every part of a statement, a symbol that equals a formula included."""
    bad = BAD[name]
    fields = {"right": "2*F_0/(gamma_u*T)", "conditions": ["gamma_u <= 1/L"]}
    if place == "equals":
        fields |= {"right": "share*F_0/(gamma_u*T)", "symbols": symbol("share", "x", equals=bad)}
    if place == "right":
        fields["right"] = bad
    if place == "part":
        fields["right"] = {"a": bad, "b": "2*F_0/(gamma_u*T)"}
    if place == "condition":
        if isinstance(bad, str | int | float):
            fields["conditions"] = [f"gamma_u <= {'10**400' if name != 'float nan' else 'nan'}"]
        else:
            fields["conditions"] = [sp.Le(sp.Symbol("gamma_u"), bad, evaluate=False)]
    if place == "rule":
        fields["step_rules"] = {"gamma_u": bad}
    if place == "trivial":
        fields["trivial"] = bad
    with pytest.raises(InputError):
        theorem("t", algorithm="fedavg", assumptions=["smoothness"], left="G_u", over="mean_of_rounds", **fields)


def test_long_numbers_of_json():
    """Four hundred digits, as a number and as a power of the units."""
    data = {"title": "t", "algorithm": None, "assumptions": [], "left": "G_u", "over": "every_round", "right": 10**400}
    with pytest.raises(InputError, match="beyond float64"):
        from_data(data)
    own = {"name": "x", "meaning": "x", "degrees": [10**400, 0]}
    with pytest.raises(InputError, match="degrees"):
        from_data({**data, "right": "x", "symbols": [own]})


def test_a_constant_equals_no_quantity_of_the_run():
    """What differs from round to round is no constant."""
    with pytest.raises(InputError, match="no constant"):
        theorem(
            "t", algorithm="fedavg", assumptions=["smoothness"], left="G_u", over="mean_of_rounds", right="s*F_0",
            symbols=symbol("s", "x", equals="1/(t + 1)"), vocabulary="textbook",
        )  # fmt: skip


def test_a_setting_depends_on_no_step_size():
    """It is fixed before step sizes are."""
    with pytest.raises(InputError, match="fixed before there is a run, and gamma_u is a step size"):
        theorem(
            "t", algorithm="fedavg", assumptions=["smoothness"], left="G_u", over="mean_of_rounds", right="F_0*L/T",
            settings={"T": "1/gamma_u"},
        )  # fmt: skip


@pytest.mark.filterwarnings("error")
def test_a_card_of_starts_without_a_limit_is_quiet():
    """A bound that does not name the start lets it be as far as one likes: no warning of NumPy's."""
    found = theorem(
        "t", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"], left="G_u",
        over="last_round", right="1 + log(log(T))", conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip
    assert rc.rates(found, over="T").card.cells


def test_a_right_side_with_the_round_has_no_exponent(mine, command, capsys, monkeypatch):
    """One line, and the other commands still answer."""
    monkeypatch.chdir(mine)
    assert command("scaling", "mine.py:round") == 2
    assert "contains t, which differs from round to round" in capsys.readouterr().err
    assert command("plot", "mine.py:round", "n=2", "T=6", "--out", "a.png") == 0


# --- problems ---


def random_pieces(rng):
    """Few clients with few kinks, of curvatures that cancel, vanish or hardly do."""
    n, d, kinks = rng.choice([1, 2, 3]), rng.choice([1, 2]), rng.choice([0, 1, 3])
    pool = rng.choice([(0,), (0, 1), (-1, 0, 1), (0, 0, 1e-200), (1e-300, 1e50), (1, 2)])
    places = [[sorted(rng.sample(range(-9, 10), kinks)) for _ in range(d)] for _ in range(n)]
    curvatures = [[[rng.choice(pool) for _ in range(kinks + 1)] for _ in range(d)] for _ in range(n)]
    slopes = [[rng.choice([0, 1, -1, 0.3]) for _ in range(d)] for _ in range(n)]
    return Piecewise(np.array(places, dtype=float).reshape(n, d, kinks), curvatures, slopes)


def test_constants_of_any_pieces():
    """Whatever the pieces, a constant is a number that holds at points, or absent with its reason."""
    rng = random.Random(0)  # noqa: S311  # no secret
    for _ in range(200):
        problem = random_pieces(rng)
        assert all(each.reason for each in problem.constants([0.0] * problem.d).values())
        pair = [problem.of_gradients(name) for name in ("dissimilarity_G", "dissimilarity_B")]
        if not all(np.isfinite(each.value) for each in pair):
            continue
        G, B = (each.value for each in pair)
        for x in np.linspace(-12, 12, 25):
            own = problem.client_gradients(np.full(problem.d, x)) if hasattr(problem, "client_gradients") else None
            if own is None:
                own = np.array(
                    [[float(curve.gradient(sp.Rational(float(x)))) for curve in each] for each in problem.curves]
                )
            mean = own.mean(axis=0)
            assert (own**2).sum(axis=1).mean() <= (G**2 + B**2 * (mean**2).sum()) * (1 + 1e-9)


def test_dissimilarity_where_f_has_no_stationary_point():
    """Two linear clients: the excess over B^2 ||grad f||^2 may be negative everywhere, and G is 0 then."""
    problem = Piecewise(np.zeros((2, 1, 0)), [[[0.0]], [[0.0]]], [[1.0], [1.0]])
    assert problem.of_gradients("dissimilarity_G").value == 0.0
    flat = Piecewise(
        [[[-4.0]], [[-4.0]], [[-7.0]]], [[[1e-200, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]]], [[0.0], [0.0], [-1.0]]
    )
    assert flat.of_gradients("dissimilarity_G").value >= 0.0


# --- pages and figures ---


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "latex", [r"\boldsymbol{x}", r"\star", r"\tfrac12", r"\mine{x}", r"\vec x", r"f\circ g", "$x$", "x_{"]
)
def test_any_latex_of_a_symbol(latex, tmp_path, command, monkeypatch):
    """Known macros are set; what nobody knows stands as it is written."""
    share = f"symbol('c', 'x', role='free', default=0.5, latex={latex!r})"
    own = f"own = theorem(right='(1 + c)*2*F_0/(gamma_u*T)', symbols={share}, **common)\n"
    (tmp_path / "mine.py").write_text(HEAD + own)
    monkeypatch.chdir(tmp_path)
    assert command("review", "mine.py:own", "--evaluations", "2", "--out", "a.html") in (0, 1)
    assert command("plot", "mine.py:own", "n=2", "T=6", "--out", "a.png") == 0
    page = (tmp_path / "a.html").read_text()
    assert latex in page.replace("&amp;", "&") or "<math" in page


def test_a_curve_that_is_zero_throughout(tmp_path, command):
    """On a logarithmic axis there is nothing of it: the figure is drawn, and the claims stand."""
    from fuzz import STUDY

    (tmp_path / "study.toml").write_text(STUDY.replace("d = 4", "d = [1, 2]"))
    words = ("run", str(tmp_path / "study.toml"), "--quick", "--only", "own", "--out", str(tmp_path / "out"))
    assert command(*words) in (0, 3)
    assert (tmp_path / "out" / "own.png").stat().st_size > 1000


# --- stores ---


CELL = "0123456789abcdef0123456789abcdef"
WORDS = {"T": 5, "study": "s", "code": "c", "weights": {"G_u": 1.0}, "window": 0.4, "tolerance": 0.1, "name": "c"}


@pytest.mark.parametrize(
    ("records", "changed"),
    [
        ({"G_u": np.ones((2, 5))}, {"weights": {"other": 1.0}}),
        ({"G_u": np.ones((2, 5))}, {"weights": {"G_u": "x"}}),
        ({"G_u": np.ones((2, 5))}, {"window": None}),
        ({"G_u": np.ones((2, 5))}, {"study": {"a": 1}}),
        ({"G_u": np.ones((2, 5)) * 1j}, {}),
        ({"G_u": np.array([["x"] * 5] * 2)}, {}),
        ({"G_u": np.ones((2, 5)).astype("datetime64[s]")}, {}),
    ],
)
def test_a_foreign_cell_is_left_out(records, changed, tmp_path, command, capsys):
    """Whole by its checksum, and no study's: said in a note, the others tabulated."""
    cells = tmp_path / "s" / "cells"
    for cell, content, about in (
        (CELL, records, {**WORDS, **changed}), (CELL[::-1], {"G_u": np.ones((2, 5))}, WORDS)
    ):  # fmt: skip
        name = f"{cell}-0-2.npz"
        (cells / cell[:2]).mkdir(parents=True)
        (cells / cell[:2] / name).write_bytes(pack(name, content, about))
    assert command("results", str(tmp_path), "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["total"] == 1
    assert "damaged, and left out" in err
    assert RunStore(cells).cells() == sorted([CELL, CELL[::-1]])


def test_a_store_of_damaged_cells_alone(tmp_path, command, capsys):
    """Nothing to tabulate is no error; nor is a link that leads nowhere."""
    folder = tmp_path / "s" / "cells" / CELL[:2]
    folder.mkdir(parents=True)
    (folder / f"{CELL}-0-2.npz").write_bytes(b"x")
    (folder / f"{CELL}-0-3.npz").symlink_to("nowhere")
    assert command("results", str(tmp_path)) == 0
    assert "0 of 0 cells" in capsys.readouterr().out


# --- processes, disks, signals ---


def test_workers_know_files(mine, command, capsys, monkeypatch):
    """Processes of this machine read a user's file themselves; those of others cannot."""
    monkeypatch.chdir(mine)
    words = ("falsify", "mine.py:right", "mine.py:wrong", "--evaluations", "3", "--json")
    alone, shared = (_searches(command, capsys, *words, "--workers", count) for count in "12")
    assert alone == shared
    assert [each["verdict"] for each in alone] == ["INCONCLUSIVE", "VIOLATED"]
    assert addresses([bounds.get("mine.py:right")]) == [f"{mine / 'mine.py'}:right"]
    made = from_data(
        {"title": "t", "algorithm": None, "assumptions": [], "left": "G_u", "over": "no_run", "right": "L"}
    )
    with pytest.raises(InputError, match="not of the catalogue"):
        addresses([made])


def _searches(command, capsys, *words):
    assert command(*words) == 1
    found = json.loads(capsys.readouterr().out)["searches"]
    return [{k: v for k, v in each.items() if k != "seconds"} for each in found]


@pytest.mark.parametrize(
    "words",
    [
        ("falsify", "mine.py:wrong", "--evaluations", "3", "--out", "a.json"),
        ("rates", "mine.py:wrong", "--over", "T", "--out", "a.json"),
        ("plot", "mine.py:wrong", "n=2", "T=5", "--out", "a.png"),
        pytest.param(("audit", "pfl/lemma-3.2", "--certificates", "a.json"), marks=pytest.mark.long),
        ("audit", "fedsum/corollary-c.3", "--graph", "a.svg", "--workers", "1", "--json"),
        pytest.param(("sharpen", "pfl/lemma-3.6-recursion", "--certificates", "a.json"), marks=pytest.mark.long),
        ("review", "mine.py:wrong", "--evaluations", "2", "--out", "a.html"),
    ],
)
def test_a_full_disk_hides_no_verdict(words, mine, command, capsys, monkeypatch):
    """What was found is printed, and then the line about the file."""
    from ratecheck import files

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(mine)
    monkeypatch.setattr(files, "replace", full)
    assert command(*words) == 2
    out, err = capsys.readouterr()
    assert len(out) > 50
    assert err.splitlines()[-1].endswith("cannot be written: No space left on device")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_messages_that_cannot_be_written_change_no_verdict(mine):
    """Standard error is full: the verdict and its exit code stand."""
    with open("/dev/full", "w") as full:  # noqa: PTH123  # no path
        found = subprocess.run(
            [sys.executable, "-m", "ratecheck", "falsify", "mine.py:wrong", "--evaluations", "3"],
            stdout=subprocess.PIPE, stderr=full, text=True, check=False, cwd=mine,
        )  # fmt: skip
    assert found.returncode == 1
    assert "VIOLATED" in found.stdout


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM])
def test_a_signal_leaves_the_best_so_far(number, mine):
    """A termination prints what an interrupt prints, and both have their exit code."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ratecheck", "falsify", "mine.py:right", "--evaluations", "10000000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=mine,
    )  # fmt: skip
    try:
        while process.poll() is None and _seconds(process.pid) < 4:
            time.sleep(0.2)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    word, code = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}[number]
    assert process.returncode == code, err
    assert err.splitlines()[-1] == f"ratecheck: {word}"
    assert "no violation found" in out
    assert f"; {word}" in out


def _seconds(pid):
    """Processor time so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("inf")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "right", ["2**(-T/2)*F_0*L", "T**(-gamma_u*L)*F_0*L", "F_0*L/exp(exp(exp(T)))", "F_0*L/(t + 1)"]
)
def test_versions_are_compared_in_seconds(right, tmp_path, command, monkeypatch):
    """No exact power, no number of a million digits, and no run of a million rounds for a linter."""
    (tmp_path / "old.py").write_text(HEAD + "own = theorem(right='2*F_0/(gamma_u*T)', **common)\n")
    (tmp_path / "new.py").write_text(HEAD + f"own = theorem(right='2*F_0/(gamma_u*T) + {right}', **common)\n")
    monkeypatch.chdir(tmp_path)
    begun = time.process_time()
    assert command("diff", "old.py", "new.py", "--no-audit") == 0
    assert time.process_time() - begun < 8


def test_a_region_without_a_point_is_json_too(tmp_path, command, capsys, monkeypatch):
    """Nothing is admissible: exit code 3, and data on standard output all the same."""
    text = "own = theorem(right='2*F_0/(gamma_u*T)', step_rules={'gamma_u': '3/L'}, **common)\n"
    (tmp_path / "mine.py").write_text(HEAD + text)
    monkeypatch.chdir(tmp_path)
    assert command("plot", "region", "mine.py:own", "L=1", "F_0=1", "n=2", "T=10", "--json") == 3
    assert json.loads(capsys.readouterr().out)["points"] == {}


@pytest.mark.filterwarnings("error")
def test_infinitely_many_local_steps_are_refused_quietly():
    """A setting that leaves the range of floats: one line, and no warning of NumPy's."""
    found = theorem(
        "t", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"], left="G_u",
        over="mean_of_rounds", right="2*F_0/(gamma_u*T)", conditions=["gamma_u <= 1/L"],
        settings={"K": "exp(exp(T))", "m": "n", "eta_u": 1, "sigma_u": 0},
    )  # fmt: skip
    with pytest.raises(InputError, match="K="):
        rc.verify(found, n=2, T=20)
