"""Studies on bilevel problems: unequal local steps by name, metrics of a figure's own, and SimFBO's file."""

from __future__ import annotations

from pathlib import Path

import kept as digests
import numpy as np
import pytest
from extras import needs_data

from ratecheck.errors import InputError
from ratecheck.studies import ClaimVerdict, RunStore, judge, load, run_study
from ratecheck.studies.claims import metric
from ratecheck.studies.execute import cells_of
from ratecheck.studies.instance import local_steps_of, models_per_round, weights_of
from ratecheck.studies.study import ClaimKind, Effect, pairs
from ratecheck.studies.theory import theory

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

BILEVEL = """
name = "bilevel"
metric = { grad_Phi2 = 1 }
metric_name = "original"
theorems = ["simfbo/theorem-1-repaired", "simfbo/theorem-2-repaired"]

[local_steps]
uneven = [1, 2, 6, 1]
drawn = { least = 2, most = 5, seed = 7 }

[problem]
name = "bilevel"
n = 4
d_x = 2
d_y = 3
condition = 2

[run]
m = 4
K = "uneven"
T = 400
replicates = 4
eta_x = 1e-5
eta_y = 1e-5
eta_v = 1e-5
gamma_x = 0.05
gamma_y = 0.2
gamma_v = 0.2

[[figure]]
name = "methods"
vary = "algorithm"
values = ["simfbo", "shrofbo"]

[[figure]]
name = "theorems"
runs = "methods"
metric = "theorem"
metric_name = "each its own"

[[figure]]
name = "gap"
vary = "K"
values = ["drawn", "uneven", 3]
run = { algorithm = "shrofbo", sigma_f = 0.2, sigma_g = 0.1, T = 30 }
metric = { Phi_gap = 1, y_error2 = 0.5 }

[[claim]]
name = "best"
figure = "methods"
says = "ShroFBO converges to the original objective, SimFBO does not"
kind = "last"
effect = "better"
curves = ["shrofbo"]
against = ["simfbo"]

[[claim]]
name = "own"
figure = "theorems"
says = "in the objective of its theorem SimFBO is down to a thousandth as soon as ShroFBO"
kind = "speed"
effect = "no-worse"
margin = 0.5
curves = ["simfbo"]
against = ["shrofbo"]
levels = [0.001]

[[claim]]
name = "gap"
figure = "gap"
says = "less gap with more work"
kind = "mean"
effect = "falls"
"""


def written(folder, text):
    """The text as a file."""
    path = folder / "study.toml"
    path.write_text(text)
    return path


def test_local_steps_have_names(tmp_path):
    """A list is taken as it is, a range is drawn once for each client, a number is for all."""
    study = load(written(tmp_path, BILEVEL))
    drawn, uneven, equal = study.figure("gap").curves
    assert [curve.label for curve in (drawn, uneven, equal)] == ["drawn", "uneven", "$K = 3$"]
    assert local_steps_of(uneven, 4) == [1, 2, 6, 1]
    assert local_steps_of(equal, 4) == 3
    many = local_steps_of(drawn, 1000)
    assert set(many) == {2, 3, 4, 5}
    assert many == local_steps_of(drawn, 1000)
    # Four equally likely counts: each within five standard deviations of a quarter.
    assert all(abs(many.count(k) - 250) < 5 * np.sqrt(1000 * 3 / 16) for k in range(2, 6))
    setups = {cell.curve.title: cell.setup for cell in cells_of(study)}
    assert setups["gap K=uneven"].local_steps.tolist() == [1, 2, 6, 1]


def test_figures_have_their_own_metric(tmp_path):
    """The study's, what each method's theorem bounds, or quantities that the method does not record by itself."""
    study = load(written(tmp_path, BILEVEL))
    assert [figure.metric for figure in study.figures] == ["original", "each its own", "y_error2 + Phi_gap"]
    weights = {curve.title: dict(weights_of(study, curve)) for curve in study.curves}
    assert weights["methods algorithm=simfbo"] == {"grad_Phi2": 1}
    assert weights["theorems algorithm=simfbo"] == {"grad_Phi_w2": 1}
    assert weights["theorems algorithm=shrofbo"] == {"grad_Phi2": 1}
    cells = {cell.curve.title: cell for cell in cells_of(study)}
    assert cells["methods algorithm=simfbo"].key == cells["theorems algorithm=simfbo"].key
    assert set(cells["gap K=3"].setup.records) == {"grad_Phi2", "y_error2", "v_error2", "Phi_gap"}
    records = {name: np.full((2, 3), value) for name, value in (("Phi_gap", 1.0), ("y_error2", 4.0))}
    assert np.all(metric(study, cells["gap K=3"].curve, records) == 3.0)


def test_tiny_run_finds_what_the_theorems_say(tmp_path):
    """Without noise and with tiny local steps SimFBO solves the w-weighted problem, another one; ShroFBO its own."""
    study = load(written(tmp_path, BILEVEL)).only(["methods", "theorems"])
    found = run_study(study, RunStore(tmp_path / "cells"), threads=1)
    assert (found.computed, found.reused) == (2, 0)
    simfbo, shrofbo = (found.records[f"methods algorithm={name}"] for name in ("simfbo", "shrofbo"))
    assert simfbo["grad_Phi_w2"][0, -1] < 1e-6 * simfbo["grad_Phi_w2"][0, 0]
    assert shrofbo["grad_Phi2"][0, -1] < 1e-6 * shrofbo["grad_Phi2"][0, 0]
    assert simfbo["grad_Phi2"][0, -1] > 1e-3 * simfbo["grad_Phi2"][0, 0]
    findings = judge(study, found.records)
    assert [claim.verdict for claim in findings.claims] == [ClaimVerdict.CONFIRMED] * 2
    # The same claims the other way round are refuted.
    swapped = BILEVEL.replace(
        'curves = ["shrofbo"]\nagainst = ["simfbo"]', 'curves = ["simfbo"]\nagainst = ["shrofbo"]'
    )
    other = load(written(tmp_path, swapped)).only(["methods"])
    assert judge(other, found.records).claims[0].verdict is ClaimVerdict.REFUTED


def test_noise_is_the_problems(tmp_path):
    """sigma_f goes to x and v, sigma_g to y: 0.2 over 5 coordinates and 0.1 over 3."""
    cells = {cell.curve.title: cell for cell in cells_of(load(written(tmp_path, BILEVEL)))}
    expected = [0.2 / 5**0.5] * 2 + [0.1 / 3**0.5] * 3 + [0.2 / 5**0.5] * 3
    assert cells["gap K=drawn"].setup.noise == pytest.approx(expected)
    assert not cells["methods algorithm=simfbo"].setup.noise.any()


def test_communication_counts_both_ways(tmp_path):
    """x, y and v to each of four participants and back: two full-sized models each."""
    curves = load(written(tmp_path, BILEVEL)).figure("methods").curves
    assert [models_per_round(curve) for curve in curves] == pytest.approx([8, 8])


def test_theorems_are_evaluated_at_unequal_local_steps(tmp_path):
    """What keeps them from being about a quadratic is said: no f_i is Lipschitz. The local steps are understood."""
    found = {each.curve.title: each for each in theory(load(written(tmp_path, BILEVEL)))}
    said = "; ".join(found["methods algorithm=simfbo"].broken)
    assert "L_f does not exist" in said
    assert "tau" not in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('K = "uneven"', 'K = "unevn"', "run: K: no 'unevn' here; did you mean 'uneven'"),
        ("uneven = [1, 2, 6, 1]", "uneven = [1, 2, 6]", "K has 3 entries"),
        ("uneven = [1, 2, 6, 1]", "uneven = [1, 2, 6, 0]", 'local_steps: uneven: 0 breaks "uneven >= 1"'),
        ("least = 2, most = 5", "least = 2, mots = 5", "local_steps: drawn: unknown key 'mots'; did you mean 'most'"),
        ("least = 2, most = 5", "least = 6, most = 5", 'local_steps: drawn: most: 5 breaks "most >= 6"'),
        ("least = 2, most = 5", "least = 2", "local_steps: drawn: the key 'most' is missing"),
        ('metric = "theorem"', 'metric = "theorems"', "figure 'theorems': metric: no 'theorems' here; did you mean"),
        ("Phi_gap = 1", "Phi_gape = 1", "unknown key 'Phi_gape'"),
        ("Phi_gap = 1", "G_u = 1", "shrofbo does not record 'G_u'"),
        ("sigma_f = 0.2", "sigma_u = 0.2", "a bilevel problem has no noise 'sigma_u'"),
    ],
)
def test_errors_name_file_and_key(tmp_path, old, new, said):
    """One line that names file and key."""
    assert old in BILEVEL
    path = written(tmp_path, BILEVEL.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        cells_of(load(path))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def paper():
    """SimFBO's study."""
    return load(EXPERIMENTS / "simfbo-figures.toml")


def test_the_papers_study_is_complete(paper):
    """Every figure has a claim, every claim its place in the paper; settings are those of Appendix A.2."""
    assert {figure.name for figure in paper.figures} == {name for claim in paper.claims for name in claim.figures}
    assert all(claim.source for claim in paper.claims)
    assert paper.chosen
    by_name = {claim.name: claim for claim in paper.claims}
    assert (by_name["best-label"].kind, by_name["best-label"].effect) == (ClaimKind.LAST, Effect.BETTER)
    assert (by_name["resilience"].kind, by_name["resilience"].effect) == (ClaimKind.LAST, Effect.NONE)
    assert by_name["other-objective"].kind is ClaimKind.BELOW
    assert by_name["communication"].power == -1
    sizes = {"2-iid": (0.2, 0.1, 0.05), "2-label": (0.2, 0.1, 0.05), "4-iid": (0.03, 0.02, 0.01)}
    for name, printed in sizes.items():
        for curve in paper.figure(name).curves:
            for kind in ("eta", "gamma"):
                assert tuple(curve.step_sizes[f"{kind}_{block}"] for block in "yvx") == printed
    for curve in paper.figure("2-iid").curves:
        assert (curve.parameters["n"], curve.m, curve.K) == (100, 10, 1)
    for curve in paper.figure("draws-shrofbo").curves:
        counts = local_steps_of(curve, curve.parameters["n"])
        assert curve.m == len(counts) == 10
        assert 1 <= min(counts) < max(counts) <= 10


@needs_data
def test_the_papers_study_can_run(paper):
    """Every cell is ready, and what is drawn again is not run again."""
    cells = cells_of(paper)
    assert len({cell.key for cell in cells}) == sum(curve.figure == curve.runs for curve in paper.curves)
    spread = [local_steps_of(curve, 10) for curve in paper.figure("spread-simfbo").curves]
    assert [sum(counts) for counts in spread] == [50, 50, 50]


def test_the_page_keeps_every_claim_of_the_file(paper):
    """What is kept is of the file as it is: its claims and its theorems' curves."""
    kept = digests.load("claims")[paper.name]
    assert [claim["name"] for claim in kept["claims"]] == [claim.name for claim in paper.claims]
    assert [claim["comparisons"] for claim in kept["claims"]] == [len(pairs(claim, paper)) for claim in paper.claims]
    shown = {(each["figure"], each["curve"]) for each in kept["theory"]}
    assert shown <= {(curve.figure, curve.name) for curve in paper.curves}
