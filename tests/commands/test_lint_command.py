"""``ratecheck lint``: text, data, exit codes, lines of the user's file."""

import json

import pytest

import bounds
import ratecheck as rc

WRONG = """
from bounds.theorem import theorem

wrong = theorem(
    title="Gradient descent",
    algorithm="fedavg",
    assumptions=["smoothness", "noise", "full_participation", "no_personal"],
    left="G_u",
    over="mean_of_rounds",
    right={
        "gap": "2*F_0/(gamma_u*T)",
        "noise": "gamma_u*sigma_u**2/n",
    },
    conditions=[
        "gamma_u <= 1/L",
        "gamma_u <= 3",
    ],
    settings={"K": 1, "m": "n", "eta_u": 1},
)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the template, which is right, and with a wrong statement."""
    monkeypatch.chdir(tmp_path)
    rc.new("theorem", "mine.py")
    (tmp_path / "wrong.py").write_text(WRONG)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_a_right_statement_has_nothing(cli):
    """Exit code 0."""
    done = cli("lint", "mine.py:descent")
    assert (done.returncode, "nothing found" in done.stdout) == (0, True), done.stdout


@pytest.mark.usefixtures("here")
def test_a_wrong_one_is_said_with_its_lines(cli):
    """Of the term and of the condition in the file; the same as data."""
    done = cli("lint", "wrong.py")
    assert done.returncode == 1
    assert "line 12, right['noise']" in done.stdout
    assert "line 16, conditions['gamma_u <= 3']" in done.stdout
    data = json.loads(cli("lint", "wrong.py", "--json").stdout)
    assert data == rc.lint("wrong.py").to_dict()
    [statement] = data["statements"]
    assert {(each["line"], each["level"]) for each in statement["findings"]} == {(12, "warning"), (16, "warning")}
    assert data["warnings"] == 2


def test_several_are_taken(cli, here):
    """Keys, files and JSON together."""
    data = {"title": "t", "algorithm": None, "assumptions": [], "left": "G_u", "over": "no_run", "right": 1}
    (here / "one.json").write_text(json.dumps(data))
    done = cli("lint", "pfl/theorem-3.7", "mine.py", "one.json", "--json")
    keys = [each["key"] for each in json.loads(done.stdout)["statements"]]
    assert keys == ["pfl/theorem-3.7", "mine/descent", "one/t"]


def test_what_the_audit_refutes_is_said(cli):
    """On stderr, beside what is found."""
    assert "fedsum/theorem-4.1" in cli("lint", "fedsum/theorem-4.1").stderr


def test_what_is_not_checked_is_listed():
    """With the reason."""
    [report] = rc.lint("pfl/scaffold").reports
    assert {each.check for each in report.not_checked} == {"units", "limits", "short run"}
    assert "not checked" in str(rc.lint("pfl/scaffold"))


def test_the_schema_is_printed(cli):
    """As JSON, without a statement."""
    done = cli("lint", "--schema")
    assert done.returncode == 0
    assert json.loads(done.stdout) == rc.statement_schema()
    papers = json.loads(done.stdout)["$defs"]["statement"]["properties"]["vocabulary"]["enum"]
    assert {*bounds.PAPERS} < {*papers}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "which statement"),
        (["pfl/theorem-3.8"], "no statement 'pfl/theorem-3.8'"),
        (["nowhere.py"], "no file"),
        (["nowhere.json"], "cannot be read"),
        (["mine.py:decsent"], "did you mean 'descent'"),
        (["pfl/theorem-3.7", "L=1"], "no statement 'L=1'"),
    ],
)
@pytest.mark.usefixtures("here")
def test_bad_input_is_one_line(cli, words, part):
    """Exit code 2."""
    done = cli("lint", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert part in done.stderr
