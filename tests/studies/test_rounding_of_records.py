"""What is nothing but rounding: not compared, not drawn; and the exit code of claims that it leaves open."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import bounds
from ratecheck.commands.exit_codes import of_claims
from ratecheck.commands.records import report as report_command
from ratecheck.commands.records import run as run_command
from ratecheck.studies import ClaimVerdict, RunStore, judge, load, run_study
from ratecheck.studies.claims import Findings
from ratecheck.studies.estimate import summarise
from ratecheck.studies.theory import CurveTheory
from ratecheck.views.drawing.studies import sheets
from ratecheck.views.records.study import study_text

CLAIMS = {
    "last": 'kind = "last"\neffect = "better"',
    "lowest": 'kind = "lowest"\neffect = "better"',
    "steady": 'kind = "steady-state"\neffect = "better"',
    "unrest": 'kind = "unrest"\neffect = "better"',
    "speed": 'kind = "speed"\nlevels = [1e-27]\neffect = "better"',
    "rounds": 'kind = "rounds"\ntargets = [1e-27]\neffect = "better"',
}
# Gradient descent by two names, until nothing is left of the gradient but rounding.
TWICE = """
name = "twice"
metric = { G_u = 1 }
problem = { name = "quadratic", n = 3, d = 4, shared = 4, seed = 1 }

[run]
m = 3
K = 1
T = 2000
replicates = 4
gamma_u = 0.9
eta_u = 1

[[figure]]
name = "methods"
vary = "algorithm"
values = ["fedavg", "scaffold"]
"""


def written(folder, *claims):
    """The study with claims that one method is better, either way round."""
    text = TWICE
    for claim in claims:
        for one, other in (("fedavg", "scaffold"), ("scaffold", "fedavg")):
            text += f'\n[[claim]]\nname = "{claim}-{one}"\nfigure = "methods"\nsays = "{one} is better"\n'
            text += f'{CLAIMS[claim]}\ncurves = ["{one}"]\nagainst = ["{other}"]\n'
    path = folder / "twice.toml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """The study, what was run, and what is found."""
    folder = tmp_path_factory.mktemp("twice")
    study = load(written(folder, *CLAIMS))
    outcome = run_study(study, RunStore(folder / "cells"))
    return study, outcome, judge(study, outcome.records)


def test_one_method_written_twice_does_not_differ(twice):
    """By no measure: both are the same numbers but for rounding, which leaves 12 times as much of one."""
    study, outcome, findings = twice
    a, b = (outcome.records[curve.title]["G_u"] for curve in study.curves)
    np.testing.assert_allclose(a[:, :50], b[:, :50], rtol=1e-9)
    assert not 0.5 < a[0, -1] / b[0, -1] < 2
    for result in findings.claims:
        assert result.verdict is ClaimVerdict.UNRESOLVED, result.claim.name
        (comparison,) = result.comparisons
        assert comparison.reason
        if comparison.ratio is not None:
            assert comparison.ratio.low < 1 < comparison.ratio.high


def test_a_curve_ends_where_rounding_begins(twice):
    """And its label says in which round; the rest would be a level that the run does not have."""
    _, outcome, findings = twice
    ((_, sheet),) = sheets(findings, outcome)
    lines = [line for line in sheet.axes[0].get_lines() if re.search(r"rounding from \d+ on", str(line.get_label()))]
    assert len(lines) == 2
    for line in lines:
        drawn = np.asarray(line.get_ydata())
        start = drawn[0]
        assert np.isnan(drawn[-1])
        # Vectors are known to 1e-12 of their largest, so that squares are lost below 1e-24 of it.
        assert 1e-25 * start < np.nanmin(drawn) < 1e-20 * start


@pytest.mark.parametrize("scale", [1e-12, 1.0])
def test_intervals_contain_what_rounding_may_do(scale):
    """Of a metric that may be off by a tenth, one way or the other."""
    rng = np.random.default_rng(0)
    metric = scale * (1 + 0.01 * rng.random((8, 40)))
    known = {"window": 0.5, "tolerance": 0.1, "levels": [], "error": 0.05}
    plain, found = summarise(metric, **known), summarise(metric, rounding=0.1 * metric, **known)
    assert found.steady.value == plain.steady.value
    assert found.steady.low == pytest.approx(0.9 * plain.steady.low, rel=1e-12)
    assert found.steady.high == pytest.approx(1.1 * plain.steady.high, rel=1e-12)
    assert not found.lost
    assert summarise(metric, rounding=2 * metric, **known).lost


def test_a_bound_below_the_mean_is_said_to_be_violated(twice):
    """In the table and in the legend of the figure; not by what rounding may make, nor where it bounds nothing."""
    study, outcome, findings = twice
    curve, statement = study.curves[0], bounds.get("pfl/fedavg-full")
    mean = float(findings.summaries[curve.title].means.mean())

    def beside(bound, broken=()):
        theory = (CurveTheory(curve, statement, bound, broken, bound, mean),)
        return replace(findings, study=replace(study, theorems=(statement,)), theory=theory)

    exceeded = {bound: beside(bound * mean) for bound in (0.5, 1 - 1e-12, 2.0)}
    assert [each.exceeded(*each.theory) for each in exceeded.values()] == [True, False, False]
    outside = beside(0.5 * mean, ("gamma <= 1",))
    assert not outside.exceeded(*outside.theory)
    assert "VIOLATED: the mean is above the bound" in study_text(exceeded[0.5])
    assert "VIOLATED" not in study_text(exceeded[2.0])
    ((_, sheet),) = sheets(exceeded[0.5], outcome)
    labels = [str(line.get_label()) for line in sheet.axes[0].get_lines()]
    assert any(label.endswith("bound of the mean, violated") for label in labels)


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["CONFIRMED", "SKIPPED"], 0),
        (["CONFIRMED", "UNRESOLVED"], 3),
        (["UNRESOLVED", "REFUTED"], 1),
        (["CONFIRMED", "MIXED"], 1),
        ([], 0),
    ],
)
def test_the_exit_code_of_claims(verdicts, code):
    """1 is a finding; what is not resolved is none."""
    claims = tuple(SimpleNamespace(verdict=ClaimVerdict(each)) for each in verdicts)
    assert of_claims(Findings(None, claims, {}, 0.05)) == code


@pytest.mark.parametrize("command", [run_command.command, report_command.command])
def test_a_study_that_is_not_resolved_ends_with_3(tmp_path, monkeypatch, command):
    """Both commands, and their help."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, [str(written(tmp_path, "last"))], standalone_mode=False)
    assert done.return_value == 3, done.output
    help_text = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert "1 where one is REFUTED or MIXED, else 3" in help_text
