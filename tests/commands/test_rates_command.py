"""``ratecheck rates`` and ``ratecheck plot --rates``: output, JSON, exit codes, files, mistakes in the input."""

from __future__ import annotations

import json

import pytest
from fake_card import card, curves
from fuzz import OWN

from ratecheck.api.checks import rates as made
from ratecheck.api.records import plot as plotting
from ratecheck.verification import instance as instances

KEY = "pfl/theorem-3.11-tuned"


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """A card that is EXCEEDED, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(made, "card_of", lambda *_, **__: card())
    monkeypatch.setattr(plotting, "curves", lambda each, _: curves(each))


def test_a_card_of_one_parameter(cli, tmp_path, monkeypatch):
    """K's exponent of the noise is -1/2, on both sides; nothing is written; the same seed, the same numbers."""
    monkeypatch.chdir(tmp_path)
    done = cli("rates", KEY, "--over", "K", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    exponents = {cell["row"]: (cell["predicted"]["exponent"], cell["measured"]["exponent"]) for cell in data["cells"]}
    assert exponents["noise: sigma_u"] == pytest.approx((-0.5, -0.5), abs=0.03)
    assert exponents["1/T"] == pytest.approx((0.0, 0.0), abs=0.03)
    assert {cell["verdict"] for cell in data["cells"]} == {"ATTAINED"}
    assert not [*tmp_path.iterdir()]
    assert cli("rates", KEY, "--over", "K", "--json").stdout == done.stdout


def test_usual_names_stand_for_the_papers_symbols(cli):
    """Such as the step size of a statement that leaves it free."""
    done = cli("rates", "pfl/theorem-3.11", "--over", "gamma,rounds", "--json")
    assert json.loads(done.stdout)["parameters"] == ["T", "gamma"]


def test_a_users_own_statement(cli, tmp_path, monkeypatch):
    """Gradient descent from the page about own theorems: 1/T, in the worst case too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    done = cli("rates", "mine.py:descent", "--over", "T")
    assert (done.returncode, done.stderr) == (0, "")
    assert "mine/descent   Gradient descent   1 ATTAINED" in done.stdout
    assert done.stdout.count("-1.00") == 2


@pytest.mark.usefixtures("fake")
def test_exceeded_is_a_finding_and_its_instance_is_saved(cli, tmp_path):
    """Exit code 1; the file is an instance, under the default name or the given one."""
    done = cli("rates", "pfl/theorem-3.7")
    assert done.returncode == 1
    assert "EXCEEDED" in done.stdout
    assert "--instance pfl-theorem-3.7-violated.json" in done.stderr
    assert instances.load(tmp_path / "pfl-theorem-3.7-violated.json").problem.n == 4
    assert cli("rates", "pfl/theorem-3.7", "--out", "a/b.json").returncode == 1
    assert instances.load(tmp_path / "a" / "b.json").problem.n == 4


@pytest.mark.usefixtures("fake")
def test_the_picture_is_written_under_the_key(cli, tmp_path):
    """With the text of the card; the exit code is the card's; JSON has the curves and the file."""
    done = cli("plot", "pfl/theorem-3.7", "--rates")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "written to pfl-theorem-3.7-rates.png"
    assert (tmp_path / "pfl-theorem-3.7-rates.png").stat().st_size > 20_000
    data = json.loads(cli("plot", "pfl/theorem-3.7", "--rates", "--json", "--out", "x.svg").stdout)
    assert data["file"] == "x.svg"
    assert len(data["curves"]) == 3
    assert "LOOSE by" in (tmp_path / "x.svg").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rates", "pfl/theorem-9.9"), "did you mean"),
        (("rates", "pfl/lemma-a.2"), "needed is a bound with a value on a mean over rounds"),
        (("rates", "pfl/lemma-4.4"), "is about every round"),
        (("rates", KEY, "--over", ""), "is not a list of names"),
        (("rates", KEY, "--over", "K,K"), "names K twice"),
        (("rates", KEY, "--over", "x"), "has nothing to vary by the name 'x'"),
        (("rates", KEY, "--seed", "-1"), "seed >= 0"),
        (("rates", KEY, "--seed", "x"), "not a valid integer"),
        (("rates", KEY, "--out", "."), "it is a folder"),
        (("plot", KEY, "--over", "K"), "'over' goes with rates"),
        (("plot", KEY, "--rates", "n=4"), "n has no place with rates"),
        (("plot", KEY, "--rates", "--problem", "logistic"), "problem has no place"),
        (("plot", KEY, "--rates", "--vary", "K"), "vary has no place"),
        (("plot", KEY, "--rates", "--out", "a.jpg"), "the ending has to be"),
    ],
)
def test_mistakes_are_one_line(cli, tmp_path, monkeypatch, words, message):
    """Exit code 2, nothing on stdout, no file."""
    monkeypatch.chdir(tmp_path)
    done = cli(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert not [*tmp_path.iterdir()]
