"""Studies that compare methods and participations: patterns, communication, the theorem beside, FedSUM's files."""

from __future__ import annotations

import json
from pathlib import Path

import kept as digests
import numpy as np
import pytest
from click.testing import CliRunner

from ratecheck.commands.records.run import command
from ratecheck.errors import InputError
from ratecheck.participation import Biased
from ratecheck.studies import ClaimVerdict, judge, load
from ratecheck.studies.execute import cells_of
from ratecheck.studies.instance import models_per_round, participation_of
from ratecheck.studies.study import ADMISSIBLE, pairs
from ratecheck.studies.theory import theory

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

METHODS = """
name = "methods"
metric = { G_u = 1 }
chosen = ["The paper does not say where it starts; here at zero."]
theorems = ["fedsum/lemma-d.6-repaired", "pfl/fedavg-partial"]

[participation]
P1 = "uniform"
odd = { kind = "bernoulli", p = [0.5, 1.0, 0.5, 1.0] }

[problem]
name = "quadratic"
n = 4
d = 3
shared = 3
condition = 2

[run]
m = 2
K = 2
T = 60
replicates = 6
sigma_u = 0.1
eta_g = 0.5
eta_l = 0.01
eta_u = 0.5
gamma_u = 0.01

[[figure]]
name = "rounds"
vary = "algorithm"
values = ["fedsum", "fedsum-cr", "fedavg", "scaffold"]
run = { participation = "odd" }

[[figure]]
name = "models"
runs = "rounds"
x = "communication"

[[figure]]
name = "patterns"
vary = "participation"
values = ["P1", "odd", "bernoulli:0.1"]
run = { algorithm = "fedsum" }

[[claim]]
name = "cheaper"
figure = "models"
says = "FedSUM-CR needs less communication than FedSUM and SCAFFOLD"
kind = "speed"
effect = "better"
curves = ["fedsum-cr"]
against = ["fedsum", "scaffold"]
levels = [0.9]

[[claim]]
name = "patterns"
figures = ["patterns"]
says = "less participation, less progress"
kind = "mean"
effect = "rises"
"""


def written(folder, text):
    """The text as a file."""
    path = folder / "study.toml"
    path.write_text(text)
    return path


def test_patterns_have_the_names_of_the_paper(tmp_path):
    """A curve takes its pattern from the table or writes it out; the legend has methods by title, patterns by name."""
    study = load(written(tmp_path, METHODS))
    assert [curve.label for curve in study.figure("rounds").curves] == ["FedSUM", "FedSUM-CR", "FedAvg", "SCAFFOLD"]
    patterns = study.figure("patterns").curves
    assert [curve.label for curve in patterns] == ["P1", "odd", "bernoulli:0.1"]
    found = [participation_of(curve, 4) for curve in patterns]
    assert [pattern.kind for pattern in found] == ["uniform", "bernoulli", "bernoulli"]
    assert [pattern.rate for pattern in found] == pytest.approx([0.5, 0.75, 0.1])


def test_communication_counts_vectors_both_ways(tmp_path):
    """3 of 4 clients on average: FedSUM gets two vectors and sends one, SCAFFOLD two and two, others one each way."""
    curves = load(written(tmp_path, METHODS)).figure("models").curves
    assert [models_per_round(curve) for curve in curves] == pytest.approx([9, 6, 6, 12])


def test_curves_drawn_again_are_run_once(tmp_path):
    """Both axes show the same cells, and their intervals count once."""
    study = load(written(tmp_path, METHODS))
    keys = {cell.curve.title: cell.key for cell in cells_of(study)}
    assert keys["models algorithm=fedsum"] == keys["rounds algorithm=fedsum"]
    assert len(set(keys.values())) == 7
    assert study.intervals == 2 * 7 + 2 + 3


def test_speed_is_counted_along_the_axis(tmp_path):
    """Equal in rounds, two to three to four in communication."""
    study = load(written(tmp_path, METHODS))
    fall = np.exp(-np.arange(60) / 20) * np.ones((6, 1))
    findings = judge(study, {curve.title: {"G_u": fall} for curve in study.curves})
    ratios = [comparison.ratio.value for comparison in findings.claims[0].comparisons]
    assert ratios == pytest.approx([3 / 2, 2])
    assert findings.claims[0].verdict is ClaimVerdict.CONFIRMED
    assert findings.claims[1].verdict is ClaimVerdict.UNRESOLVED


def test_theorem_beside_the_curve(tmp_path):
    """FedSUM's lemma is about every participation within its caps; FedAvg's is not about this one at all."""
    found = {each.curve.title: each for each in theory(load(written(tmp_path, METHODS)))}
    assert "models algorithm=fedsum" not in found
    assert "rounds algorithm=scaffold" not in found
    assert "is about m of n clients sampled uniformly" in found["rounds algorithm=fedavg"].broken[0]
    assert found["rounds algorithm=fedavg"].bound is None
    near, far = found["patterns participation=P1"], found["patterns participation=bernoulli:0.1"]
    assert near.bound < far.bound
    bold = METHODS.replace("eta_l = 0.01", "eta_l = 10")
    broken = next(each for each in theory(load(written(tmp_path, bold))) if each.curve.algorithm == "fedsum")
    assert not broken.admissible
    assert "10 against" in broken.broken[0]


def test_words_are_compared_in_the_order_of_the_file(tmp_path):
    """Patterns have no size; the file says which comes first."""
    study = load(written(tmp_path, METHODS))
    compared = [(first.value, second.value) for first, second in pairs(study.claims[1], study)]
    assert compared == [("P1", "odd"), ("P1", "bernoulli:0.1"), ("odd", "bernoulli:0.1")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('runs = "rounds"', 'runs = "round"', "figure 'models': runs: no 'round' here; did you mean 'rounds'"),
        ('x = "communication"', 'x = "communicated"', "figure 'models': x: no 'communicated' here"),
        ('"fedsum/lemma-d.6-repaired"', '"fedsum/lemma-d.66"', "theorems: no statement 'fedsum/lemma-d.66'"),
        ('participation = "odd"', 'participation = "od"', "figure 'rounds', algorithm=fedsum: no participation 'od'"),
        ("p = [0.5, 1.0, 0.5, 1.0]", "q = 1", "participation 'odd'"),
        ("p = [0.5, 1.0, 0.5, 1.0]", "p = [0.5, 1.0]", "about 2 clients"),
        ('against = ["fedsum", "scaffold"]', 'against = ["fedsun"]', "against: figure 'models' has no curve 'fedsun'"),
        ('effect = "better"', 'effect = "rises"', "claim 'cheaper': effect: no 'rises' here"),
        ('against = ["fedsum", "scaffold"]\n', "", "claim 'cheaper': the key 'against' is missing"),
        ('figures = ["patterns"]', 'figures = ["pattern"]', "did you mean 'patterns'"),
        ('kind = "mean"\neffect = "rises"', 'kind = "mean"\neffect = "rises"\npower = 1', "varies what has no powers"),
        ('chosen = ["', 'chosen = [1, "', "chosen: a text in quotes is needed"),
    ],
)
def test_errors_name_file_and_key(tmp_path, old, new, said):
    """One line that names file and key, also for what compares methods."""
    assert old in METHODS
    path = written(tmp_path, METHODS.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        cells_of(load(path))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_command_says_what_was_chosen_and_what_is_admissible(tmp_path):
    """The choices and the theorems are in the output; a smoke test writes one PNG."""
    path, out = written(tmp_path, METHODS), tmp_path / "out"
    result = CliRunner().invoke(command, [str(path), "--out", str(out), "--quick", "--threads", "1"])
    assert "chosen here: The paper does not say where it starts; here at zero." in result.output
    assert "not admissible" in result.output
    data = json.loads((out / "claims.json").read_text())
    assert data["chosen"]
    assert {each["statement"] for each in data["theory"]} == {"fedsum/lemma-d.6-repaired", "pfl/fedavg-partial"}
    assert {claim["verdict"] for claim in data["claims"]} <= {"CONFIRMED", "REFUTED", "MIXED", "SKIPPED"}
    assert (out / "all.png").stat().st_size > 1000
    assert len([*out.glob("*.png"), *out.glob("*.svg"), *out.glob("*.pdf")]) == 1


@pytest.mark.parametrize("name", ["fedsum-figures", "fedsum-table-1"])
def test_fedsum_files_load(name):
    """Every figure has a claim; step sizes are those of the paper, or admissible where the file says so."""
    study = load(EXPERIMENTS / f"{name}.toml")
    assert {figure.name for figure in study.figures} == {figure for claim in study.claims for figure in claim.figures}
    assert study.chosen
    for curve in study.curves:
        steps = curve.step_sizes
        outer, inner = (steps[name] for name in (("eta_u", "gamma_u") if "eta_u" in steps else ("eta_g", "eta_l")))
        # "For fairness, all algorithms use the same local and global learning rates."
        assert (outer, inner) in ((1.0, 0.01), (1.0, 0.1)) or study.name == "fedsum-table-1"
    if study.name == "fedsum-table-1":
        assert all(each.admissible for each in theory(study.only(["case-1"])))


@pytest.mark.parametrize("name", ["pfl-figures", "fedsum-figures", "fedsum-table-1"])
def test_the_page_keeps_every_claim_of_the_file(name):
    """What is kept is of the file as it is: its claims and its theorems' curves."""
    study = load(EXPERIMENTS / f"{name}.toml")
    kept = digests.load("claims")[name]
    assert [claim["name"] for claim in kept["claims"]] == [claim.name for claim in study.claims]
    expected = [len(pairs(claim, study)) * max(len(claim.levels), 1) for claim in study.claims]
    assert [claim["comparisons"] for claim in kept["claims"]] == expected
    assert all(claim.source for claim in study.claims)
    shown = {(each["figure"], each["curve"]) for each in kept["theory"]}
    own = {(curve.figure, curve.name) for curve in study.curves}
    repeated = {figure.name + ADMISSIBLE for figure in study.figures if figure.admissible}
    assert {figure for figure, _ in shown - own} == repeated
    admissible = {(each["figure"], each["curve"]) for each in kept["theory"] if each["admissible"]}
    assert shown - own <= admissible


def test_biased_clients_are_those_of_the_paper():
    """The list in the file is that of Appendix H.8."""
    study = load(EXPERIMENTS / "fedsum-figures.toml")
    curve = next(curve for curve in study.figure("9").curves if curve.value == "biased")
    assert np.allclose(participation_of(curve, 100).p, Biased(100).p)
