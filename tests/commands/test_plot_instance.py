"""``ratecheck plot --instance``: the run of a saved counterexample, with the places where the bound is passed."""

from __future__ import annotations

import json

import pytest

import bounds
from ratecheck.cli import _run
from ratecheck.problems import Quadratic
from ratecheck.verification.instance import Instance

# One client with x^2/2 from its minimiser: the left side is 0, the printed bound negative.
BELOW_ZERO = Instance(
    bounds.get("flame/theorem-2-unbiased"),
    Quadratic([[[1.0]]], [[0.0]], 1),
    None,
    {"m": 1.0, "s": 1.0, "T": 1.0, "lambda_": 1.0, "rho": 3.0, "eps_max": 1.0, "alpha": 1.0},
)


def test_crosses_stand_where_the_mean_is_above_the_bound(tmp_path, monkeypatch, capsys):
    """Half of x^2 from 1 with steps 1/2: means of squares 1, 5/8, ... against 1/T^2, which they pass from T = 2 on."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.py").write_text(
        "from bounds.theorem import theorem\n"
        'wrong = theorem("mean grad2 <= 2*F_0*L/T**2", method="gd", given="smooth", when="gamma <= 1/L")\n'
    )
    wrong = bounds.get("wrong.py:wrong")
    bowl = Instance(wrong, Quadratic([[[1.0]]], [[0.0]], 1), None, {"T": 4.0, "gamma": 0.5}, {"x0": [1.0]})
    bowl.save(tmp_path / "bowl.json")
    assert _run(["plot", "wrong.py:wrong", "--instance", "bowl.json", "--out", "bowl.svg", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "VIOLATED"
    means = [sum(4.0**-t for t in range(T)) / T for T in range(1, 5)]
    assert found["rounds"]["mean"] == pytest.approx(means, rel=1e-12)
    assert found["rounds"]["bound"] == pytest.approx([1 / T**2 for T in range(1, 5)], rel=1e-12)
    assert "violated at 3 of 4" in (tmp_path / "bowl.svg").read_text()


def test_a_negative_bound_is_drawn(tmp_path, monkeypatch, capsys):
    """An axis with logarithms would leave the picture empty."""
    monkeypatch.chdir(tmp_path)
    BELOW_ZERO.save(tmp_path / "negative.json")
    assert _run(["plot", "--instance", "negative.json", "--out", "negative.svg", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "VIOLATED"
    assert found["rounds"]["bound"] == pytest.approx([-869 / 182])
    assert "violated at 1 of 1" in (tmp_path / "negative.svg").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--instance", "none.json"], "no file none.json"),
        (["n=3", "pfl/theorem-3.7", "--instance", "negative.json"], "n and instance"),
        (["--vary", "K", "--instance", "negative.json"], "vary and instance"),
        (["--rates", "--instance", "negative.json"], "rates and instance"),
        ([], "which statement"),
    ],
)
def test_what_an_instance_leaves_open_is_nothing(tmp_path, monkeypatch, capsys, words, message):
    """One line, exit code 2."""
    monkeypatch.chdir(tmp_path)
    BELOW_ZERO.save(tmp_path / "negative.json")
    assert _run(["plot", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_statement_in_a_file_is_named_beside_its_instance(tmp_path, monkeypatch, capsys):
    """The file of an instance does not say where a statement of one's own is."""
    monkeypatch.chdir(tmp_path)
    BELOW_ZERO.save(tmp_path / "own.json")
    data = json.loads((tmp_path / "own.json").read_text())
    (tmp_path / "own.json").write_text(json.dumps({**data, "statement": "mine/wrong"}))
    assert _run(["verify", "--instance", "own.json"]) == 2
    assert "'ratecheck verify mine.py:wrong --instance own.json'" in capsys.readouterr().err
