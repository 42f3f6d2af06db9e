"""Programs for PEPit: they run as they stand, and find what the enclosure found."""

import contextlib
import io
import warnings

import pytest
from extras import needs_pep

import bounds
import ratecheck as rc
from bounds.papers.classics.statements import CLASSICS
from ratecheck.falsification.performance_estimation.worst_case import worst_case

pytestmark = needs_pep

KNOWN = {each.statement.key: dict(each.known.at) for each in CLASSICS}
# Left sides of every kind of oracle and outcome, with PEPit's class for each.
EXPORTED = [
    ("classics/gradient-descent-values", "SmoothConvexFunction"),
    ("classics/strongly-convex-values", "SmoothStronglyConvexFunction"),
    ("classics/nonconvex-best-gradient", "SmoothFunction"),
    ("classics/heavy-ball-values", "SmoothStronglyConvexFunction"),
    ("classics/optimized-gradient-values", "SmoothConvexFunction"),
    ("classics/sgd-averaged-values", "Point()"),
    ("classics/subgradient-best-value", "ConvexLipschitzFunction"),
    ("classics/proximal-point-strongly-convex", "StronglyConvexFunction"),
    ("classics/proximal-gradient-distances", "ConvexFunction, "),
    ("classics/monotone-proximal-point-steps", "MonotoneOperator"),
    ("classics/strongly-monotone-proximal-point", "StronglyMonotoneOperator"),
    ("classics/fixed-point-halpern", "CocoerciveOperator"),
    ("classics/sampled-step", "f_1"),
    ("pfl/theorem-3.7", "f_star = Expression()"),
]
PAPERS = {"pfl/theorem-3.7": {"n": 2, "L": 2, "F_0": 0.7, "b": 0.9, "K": 2, "T": 2}}


def printed(program):
    """What a program prints, by name."""
    said = io.StringIO()
    with warnings.catch_warnings(action="ignore"), contextlib.redirect_stdout(said):
        exec(compile(program, "question.py", "exec"), {"__name__": "__main__"})  # noqa: S102  # what is tested
    return {name: float(value) for name, value in (line.split() for line in said.getvalue().splitlines())}


@pytest.mark.parametrize(("key", "part"), EXPORTED)
def test_pepit_finds_the_same_left_side(key, part):
    """To 1e-4 of it, from a program that uses the class that is meant."""
    found = worst_case(bounds.get(key), {**KNOWN, **PAPERS}[key])
    program = found.script("the command")
    assert part in program
    theirs = printed(program)
    assert theirs["left"] == pytest.approx(found.upper.left, rel=1e-4, abs=1e-4 * found.worst.scale)
    assert theirs["right"] == pytest.approx(found.lower.right, rel=1e-7)


def test_the_command_writes_it(tmp_path, cli):
    """The file is what Python returns, and names the command that repeats the question."""
    given = ["n=1", "T=2", "L=1", "gamma_u=1", "dist2_0=1"]
    path, words = tmp_path / "question.py", ["classics/gradient-descent-values", *given]
    assert cli("falsify", *words, "--pep", "--script", str(path)).returncode == 0
    parameters = {name: float(value) for name, value in (word.split("=") for word in given)}
    assert path.read_text() == rc.falsify(words[0], pep=True, parameters=parameters).pepit()
    again = next(
        line.split(": ", 1)[1] for line in path.read_text().splitlines() if line.startswith("The same question")
    )
    assert cli(*again.split()[1:]).returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["classics/gradient-descent-values"], "give --pep as well"),
        (["classics/gradient-descent-values", "pfl/theorem-3.7", "--pep"], "is for one statement, not for 2"),
    ],
)
def test_what_has_no_program(tmp_path, cli, words, message):
    """A search has none, and several statements have several."""
    path = tmp_path / "question.py"
    refused = cli("falsify", *words, "--script", str(path))
    assert refused.returncode == 2
    assert message in refused.stderr
    assert not path.exists()
