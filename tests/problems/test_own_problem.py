"""A problem in a user's own file: from the command line to a verdict, and one line for what is wrong."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ratecheck.cli import group
from ratecheck.errors import InputError
from ratecheck.problems.build import build

FILE = """
import sympy as sp

import ratecheck as rc
from bounds.theorem import theorem

x, y = sp.symbols("x y")
bowl = rc.problems.from_sympy([x**2 + x * y + y**2 - x, x**2 + x * y + y**2 + y])
smooth = rc.problems.from_sympy([sp.sqrt(1 + (x - 1) ** 2) + y**2 / 8, sp.log(1 + sp.exp(x)) + y**2 / 8 + x**2 / 9])
quartic = rc.problems.from_sympy(x**4 - x, clients=2)


def descent(right):
    return theorem(
        title="Gradient descent",
        algorithm="fedavg",
        assumptions=["smoothness", "full_participation", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right=right,
        conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    )


sound, wrong = descent("2*F_0/(gamma_u*T)"), descent("0.3*F_0/(gamma_u*T)")
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file, as ``mine.py``."""
    (tmp_path / "mine.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return "mine.py"


def run(*words):
    """A command: its exit code, and what it prints as JSON, or its error."""
    result = CliRunner().invoke(group, [*words, "--json"], standalone_mode=False)
    return result.exception or (result.return_value, json.loads(result.stdout))


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(("problem", "engine"), [("bowl", "exact"), ("smooth", "step")])
def test_verdicts_on_it(problem, engine):
    """A right statement holds; with a seventh of its right side it is violated."""
    code, found = run("verify", "mine.py:sound", "--problem", f"mine.py:{problem}", "T=20")
    assert (code, found["verdict"], found["engine"]) == (0, "HOLDS", engine)
    assert found["problem"] == f"mine.py:{problem}: n=2, 2 shared and 0 personal variables"
    code, found = run("verify", "mine.py:wrong", "--problem", f"mine.py:{problem}", "T=3")
    assert (code, found["verdict"]) == (1, "VIOLATED")


@pytest.mark.usefixtures("file")
def test_second_derivatives_without_a_bound():
    """One line says so; nothing is judged."""
    code, found = run("verify", "mine.py:sound", "--problem", "mine.py:quartic", "T=3")
    assert (code, found["verdict"]) == (3, "NOT_APPLICABLE")
    assert "L does not exist: x**4 - x is a polynomial of degree 4" in found["reasons"][0]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ("mine.py:bow", "no problem 'bow' in mine.py; did you mean 'bowl'?"),
        ("mine.py:x", "mine.py, line 7: x is of the kind Symbol; needed an object of rc.problems"),
        ("mine.py:sound", "mine.py, line 26: sound is of the kind Statement"),
        ("mine.py", "which problem of mine.py? give mine.py:bowl; it has bowl, smooth, quartic"),
        ("other.py:bowl", "no file 'other.py'"),
    ],
)
def test_what_is_wrong_is_one_line(problem, message):
    """With the file and the line."""
    error = run("verify", "mine.py:sound", "--problem", problem, "T=3")
    assert isinstance(error, InputError)
    assert message in str(error)
    assert "\n" not in str(error)


def test_a_broken_problem_says_its_line(file):
    """The file stops there."""
    Path(file).write_text(f"{FILE}kink = rc.problems.from_sympy(sp.Abs(x))\n")
    error = run("verify", "mine.py:sound", "--problem", "mine.py:kink", "T=3")
    assert "line 27" in str(error)
    assert "is not smooth: at x=0 its derivative jumps from -1 to 1" in str(error)


def test_only_the_command_line_runs_a_file(file):
    """What a study or an instance names is built by name, and no file is a name."""
    Path(file).write_text("raise SystemExit('it was run')\n")
    with pytest.raises(InputError, match=r"no problem 'mine\.py:bowl'"):
        build("mine.py:bowl", {})


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("problem", ["mine.py:smooth", "piecewise"])
def test_statements_about_quadratics_are_not_judged_on_others(problem):
    """Their title says what they are about; exact line search is none on other functions."""
    code, found = run("verify", "classics/line-search-values", "--problem", problem, "T=5")
    assert (code, found["verdict"]) == (3, "NOT_APPLICABLE")
    assert "the title says that the statement is about quadratics" in found["reasons"][0]
    code, found = run("verify", "classics/line-search-values", "--problem", "mine.py:bowl", "T=3")
    assert (code, found["verdict"]) == (0, "HOLDS")


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "exact"), "symbolic"),
        (("--participation", "largest"), "clients that are selected by their gradients"),
    ],
)
def test_what_a_formula_does_not_do(words, message):
    """Moments are followed on quadratics; a selection by gradients needs compiled kernels."""
    error = run("verify", "mine.py:sound", "--problem", "mine.py:smooth", "T=3", *words)
    assert isinstance(error, InputError)
    assert message in str(error)
