"""Theorems beside curves: what a bound implies of the metric, admissible repetitions, and how both are drawn."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.colors import to_hex

from ratecheck.commands.records.run import command
from ratecheck.errors import InputError
from ratecheck.studies import judge, load
from ratecheck.studies.admissible import with_admissible
from ratecheck.studies.theory import theory
from ratecheck.views.drawing.studies import _panels, _sheet
from ratecheck.views.drawing.style import styled

# A method, a pattern and problems that no paper's figures have.
STUDY = """
name = "beside"
metric = { G_u = 1 }
theorems = ["fedsum/lemma-c.6-repaired", "pfl/fedavg-partial"]

[problem]
name = "quadratic"
n = 4
d = 3
shared = 3
condition = 2

[run]
m = 2
K = 2
T = 40
replicates = 6
sigma_u = 0.1
eta_g = 0.5
eta_l = 10
eta_u = 0.5
gamma_u = 10
participation = "cyclic"

[[figure]]
name = "methods"
vary = "algorithm"
values = ["mifa", "fedsum-b", "fedavg"]
admissible = true

[[figure]]
name = "steps"
vary = "eta_l"
values = [1e-4, 20, 30]
run = { algorithm = "fedsum-b", T = [40, 40, 60], eta_g = 0.25 }
admissible = { replicates = 3 }

[[claim]]
name = "faster"
figure = "methods"
says = "one is better"
kind = "steady-state"
effect = "better"
curves = ["fedsum-b"]
against = ["mifa"]
"""

PERSONAL = """
name = "personal"
metric = { G_u = 1, G_v = 2 }
theorems = ["pfl/theorem-4.5", "pfl/theorem-3.7"]
problem = { name = "quadratic", n = 4, d = 4, condition = 2 }
run = { K = 2, T = 30, gamma = 1, eta_u = 2, eta_v = 2, replicates = 4, sigma_u = 0.1 }
[[figure]]
name = "m"
vary = "m"
values = [1, 2, 4]
run = { algorithm = "scaffold-p" }
admissible = true
[[claim]]
name = "c"
figure = "m"
says = "s"
kind = "mean"
effect = "falls"
"""


def study_of(folder, text):
    """The text as a study."""
    (folder / "study.toml").write_text(text)
    return load(folder / "study.toml")


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """The study with what is repeated."""
    return with_admissible(study_of(tmp_path_factory.mktemp("study"), STUDY))


def test_repetitions_are_those_that_need_one(repeated):
    """Methods without a theorem, or with one about other participants, and admissible curves are left out."""
    assert [figure.name for figure in repeated.figures] == [
        "methods",
        "methods-admissible",
        "steps",
        "steps-admissible",
    ]
    methods, steps = (repeated.figure(f"{name}-admissible") for name in ("methods", "steps"))
    assert [curve.value for curve in methods.curves] == ["fedsum-b"]
    assert methods.repeats == "methods"
    # Two step sizes become one; the longer run stays.
    assert [(curve.T, curve.replicates) for curve in steps.curves] == [(60, 3)]
    assert steps.curves[0].value == steps.curves[0].step_sizes["eta_l"]
    assert "20" not in steps.curves[0].label


def test_repetitions_are_admissible_and_no_larger_ones_are(repeated):
    """One hundredth more breaks a condition; the outer step size stays."""
    for name in ("methods-admissible", "steps-admissible"):
        curve = repeated.figure(name).curves[0]
        assert curve.step_sizes["eta_g"] == repeated.figure(name.partition("-")[0]).curves[1].step_sizes["eta_g"]
        for factor, admissible in ((1.0, True), (0.5, True), (1.01, False)):
            sizes = {**curve.step_sizes, "eta_l": factor * curve.step_sizes["eta_l"]}
            figure = replace(repeated.figure(name), curves=(replace(curve, step_sizes=sizes),))
            (found,) = theory(replace(repeated, figures=(figure,)))
            assert found.admissible is admissible


@pytest.mark.parametrize("text", [STUDY, PERSONAL])
def test_everything_that_is_repeated_has_a_bound(tmp_path, text):
    """Whatever the method and its theorem: each repetition has an admissible one."""
    study = with_admissible(study_of(tmp_path, text))
    again = [curve.title for figure in study.figures if figure.repeats for curve in figure.curves]
    assert again
    found = {each.curve.title for each in theory(study) if each.admissible and each.metric_bound is not None}
    assert found >= set(again)


def test_bound_of_the_metric(tmp_path):
    """The theorem weighs G_v with m/n, the metric with 2: the metric is at most 2n/m times what is bounded."""
    study = study_of(tmp_path, PERSONAL)
    for each in theory(study):
        assert each.metric_bound == pytest.approx(each.bound * 2 * 4 / each.curve.m)
    only_u = study_of(tmp_path, PERSONAL.replace("G_u = 1, G_v = 2", "G_u = 3"))
    assert [each.metric_bound / each.bound for each in theory(only_u)] == pytest.approx([3.0] * 3)
    other = study_of(tmp_path, PERSONAL.replace("G_u = 1, G_v = 2", "G_u = 1, B = 1"))
    assert {each.metric_bound for each in theory(other)} == {None}


def test_intervals_are_counted_before_it_is_known_what_is_repeated(tmp_path):
    """Two more for each curve that may be: no decision depends on the other figures."""
    with_them = study_of(tmp_path, STUDY)
    without = study_of(tmp_path, STUDY.replace("admissible = true", "").replace("admissible = { replicates = 3 }", ""))
    assert with_them.intervals == without.intervals + 2 * 6


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("admissible = true", "admissible = 1", "figure 'methods': admissible: true or false is needed, not 1"),
        ("{ replicates = 3 }", "{ replicate = 3 }", "admissible: unknown key 'replicate'; did you mean 'replicates'"),
        ("{ replicates = 3 }", "{ replicates = 1 }", 'replicates: 1 breaks "replicates >= 2"'),
        ('name = "steps"', 'name = "methods-admissible"', "'methods-admissible' is 'methods' at admissible step sizes"),
        ('theorems = ["fedsum/lemma-c.6-repaired", "pfl/fedavg-partial"]', "", "list the theorems that say what is"),
    ],
)
def test_errors_name_file_and_key(tmp_path, old, new, said):
    """One line."""
    assert old in STUDY
    with pytest.raises(InputError) as caught:
        study_of(tmp_path, STUDY.replace(old, new, 1))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def sheet_of(study, names, level=1.0, levels=()):
    """Drawn figures with made-up curves at some level, their panels' axes by title, and the findings.

    ``levels`` are those of figures by name, where they differ.
    """
    fall, own = np.random.default_rng(0).random((6, 60)), dict(levels)
    records = {
        curve.title: {"G_u": fall[: curve.replicates, : curve.T] * own.get(curve.figure, level)}
        for curve in study.curves
    }
    findings = judge(study, records)

    class Outcome:
        pass

    Outcome.records = records
    figures = [figure for figure in study.figures if {figure.name, figure.repeats} & {*names.split()}]
    panels = [panel for figure in figures for panel in _panels(figure, findings)]
    with styled():
        sheet = _sheet(panels, 1, findings, Outcome)
    return findings, {ax.get_title(): ax for ax in sheet.axes if ax.get_title()}, sheet


def bound_lines(ax):
    """Height and colour of the horizontal lines over all rounds, and whether they are dashed."""
    lines = [line for line in ax.get_lines() if len(line.get_ydata()) == 2 and line.get_xdata()[0] == 0]
    return {(float(line.get_ydata()[0]), to_hex(line.get_color()), line.is_dashed()) for line in lines}


def texts(sheet):
    """Everything in the legends."""
    from matplotlib.legend import Legend

    return [text.get_text() for legend in sheet.findobj(Legend) for text in legend.get_texts()]


def test_bounds_are_lines_in_their_curves_colours(repeated):
    """Dashed where the setting is not admissible; the repetition has the colour of its curve, with another dash."""
    findings, axes, sheet = sheet_of(repeated, "methods")
    bound = {each.curve.title: each.metric_bound for each in findings.theory if each.metric_bound}
    own, again = axes.values()
    measured = {line.get_label(): to_hex(line.get_color()) for line in own.get_lines()}
    colour = measured["FedSUM-B"]
    assert bound_lines(own) == {(bound["methods algorithm=fedsum-b"], colour, True)}
    assert bound_lines(again) == {(bound["methods-admissible algorithm=fedsum-b"], colour, False)}
    (line,) = (line for line in again.get_lines() if line.get_label() == "FedSUM-B")
    assert to_hex(line.get_color()) == colour
    assert line.is_dashed()
    said = texts(sheet)
    assert "Lemma C.6, repaired (fedsum), not admissible" in said
    # The made-up means are about 0.54, and the admissible bound is 0.25; at 0.4 of that they are below it.
    assert "Lemma C.6, repaired (fedsum), bound of the mean, violated" in said
    assert "Lemma C.6, repaired (fedsum), bound of the mean" in texts(sheet_of(repeated, "methods", level=0.4)[2])
    assert {"MIFA", "FedSUM-B", "FedAvg"} <= set(said)
    assert all(not ax.get_legend() for ax in axes.values())


def test_bounds_decades_away_have_a_panel_of_their_own(repeated):
    """The curves are not flattened; beside the bounds are the means that they are about."""
    _, near, _ = sheet_of(repeated, "methods")
    findings, far, sheet = sheet_of(repeated, "methods", level=1e-9)
    assert len(near) == 2
    assert len(far) == 4
    own, apart = list(far.values())[:2]
    assert not bound_lines(own)
    assert len(bound_lines(apart)) == 1
    assert math.log10(own.get_ylim()[1] / own.get_ylim()[0]) < 3
    assert "FedSUM-B, mean over rounds" in texts(sheet)
    means = {float(line.get_ydata()[0]) for line in apart.get_lines() if len(line.get_ydata()) == 1}
    assert findings.summaries["methods algorithm=mifa"].means.mean() in means


def test_panels_of_one_sheet_have_limits_that_all_count_in(repeated):
    """Whichever is drawn first: none is cut off by the others' axis."""
    _, axes, _ = sheet_of(repeated, "methods steps", levels={"steps": 1e-2, "steps-admissible": 1e2})
    shared = [ax for title, ax in axes.items() if not title.endswith("bounds")]
    assert len({ax.get_ylim() for ax in shared}) == 1
    for ax in shared:
        low, high = ax.get_ylim()
        drawn = [line.get_ydata() for line in ax.get_lines() if len(line.get_ydata()) > 2]
        assert drawn
        assert all(low <= min(values) and max(values) <= high for values in drawn)


def test_command_has_it_in_the_output(tmp_path):
    """Step sizes, bounds and curves of the repetitions; a claim on noise says that it is one."""
    path, out = tmp_path / "study.toml", tmp_path / "out"
    path.write_text(STUDY.replace("eta_l = 10", "eta_l = 0.8").replace("gamma_u = 10", "gamma_u = 0.8"))
    result = CliRunner().invoke(command, [str(path), "--out", str(out), "--only", "methods", "--threads", "1"])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "largest admissible step sizes" in result.output
    assert "not known to be steady" in result.output
    assert not (out / "methods-admissible.png").exists()
    assert "not admissible" in (out / "methods.svg").read_text()
    found = CliRunner().invoke(command, [str(path), "--out", str(out), "--only", "methods", "--json"])
    data = json.loads(found.stdout)
    sizes = {curve["figure"]: curve["step_sizes"] for curve in data["curves"] if curve["algorithm"] == "fedsum-b"}
    assert sizes["methods-admissible"]["eta_l"] < sizes["methods"]["eta_l"] == 0.8
    assert data["claims"][0]["noisy"]
    assert any(each["admissible"] and each["figure"] == "methods-admissible" for each in data["theory"])
