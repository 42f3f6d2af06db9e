"""``review``: what is printed and written, the exit codes, one line for every mistake in the input."""

import json

import pytest
from click.testing import CliRunner

import ratecheck as rc
from ratecheck.commands.checks.review import command

BARE = """\
from bounds.theorem import theorem

descent = theorem(
    title="Gradient descent",
    algorithm="fedavg",
    assumptions=["smoothness", "noise", "full_participation", "no_personal"],
    left="G_u",
    over="mean_of_rounds",
    right={"gap": "2*F_0/(gamma_u*T)", "noise": "L*gamma_u*sigma_u**2/n"},
    conditions=["gamma_u <= 1/L"],
    settings={"K": 1, "m": "n", "eta_u": 1},
)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the command runs, with a file of one's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(BARE)
    return tmp_path


def run(*words):
    """The end of the command."""
    return CliRunner().invoke(command, words, catch_exceptions=True, standalone_mode=False)


def test_summary_json_and_files_agree(folder):
    """The summary and the JSON on the terminal, both forms on disk: of the same data."""
    few = ("--evaluations", "20")
    result = run("mine.py", *few, "--out", "review.html")
    found = rc.review("mine.py", evaluations=20)
    assert result.return_value == 0
    assert "no step of a proof was examined" in result.stdout
    assert (folder / "review.html").read_text() == found.html
    assert run("mine.py:descent", *few, "--out", "deep/review.md").return_value == 0
    assert (folder / "deep" / "review.md").read_text() == rc.review("mine.py:descent", evaluations=20).markdown
    assert json.loads(run("mine.py", *few, "--json").stdout) == found.to_dict()


def test_a_false_step_is_a_finding():
    """Exit code 1."""
    result = run("flame/proposition-1")
    assert result.return_value == int(rc.review("flame/proposition-1").finding)
    assert run("flame/theorem-1").return_value == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "no paper 'nothing'"),
        (("pfl/theorem-3.8",), "no statement 'pfl/theorem-3.8'"),
        (("absent.py",), "absent.py"),
        (("mine.py:nothing",), "nothing"),
        (("mine.py", "--out", "review.txt"), "the ending has to be one of .html, .md"),
        (("mine.py", "--out", "mine.py/review.md"), "cannot be written"),
    ],
)
def test_mistakes_are_one_line(folder, words, message):
    """What is wrong, before anything is examined."""
    result = run(*words)
    assert isinstance(result.exception, rc.InputError)
    assert message in str(result.exception)
    assert len(str(result.exception).splitlines()) == 1
    assert {path.name for path in folder.iterdir()} <= {"mine.py", "__pycache__"}
