"""Studies of losses and errors of models: what is measured, the claims about it, and FLAME's files."""

from __future__ import annotations

from pathlib import Path

import kept as digests
import numpy as np
import pytest

from ratecheck.engines.monte_carlo import stepwise
from ratecheck.engines.setup import prepare
from ratecheck.errors import InputError
from ratecheck.participation.build import build as pattern
from ratecheck.participation.largest import Largest
from ratecheck.problems import Logistic, Moreau, Quadratic
from ratecheck.problems.datasets import synthetic
from ratecheck.studies import ClaimVerdict, RunStore, judge, load, run_study
from ratecheck.studies.execute import cells_of
from ratecheck.studies.instance import participation_of
from ratecheck.studies.models import ModelKernel
from ratecheck.studies.study import MEASURES, pairs
from ratecheck.studies.theory import theory

pytest.importorskip("sklearn.datasets", reason="needs the extra data: pip install 'ratecheck[data]'")

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
STEPS = {"eta": 0.3, "rho": 0.4, "lambda_": 2.0}

TINY = """
name = "tiny"
metric = { loss_global = 1 }

[participation]
biased = { kind = "largest", candidates = 3 }

[problem]
name = "breast_cancer"
n = 4
shared = 30
batch = 2
part = "train"

[run]
algorithm = "flame"
m = 2
K = 3
T = 30
replicates = 4
eta = 0.1
rho = 0.5
lambda_ = 1.0

[[figure]]
name = "a"
vary = "rho"
values = [0.5, 1.0]

[[figure]]
name = "b"
vary = "rho"
values = [0.5, 1.0]

[[figure]]
name = "a-PM"
runs = "a"
metric = { error_personal = 1 }
theorems = ["flame/theorem-2-unbiased"]

[[figure]]
name = "who"
vary = "participation"
values = ["biased", "uniform"]
"""


def data(part="all", **options):
    """A small problem, or its held-out part."""
    return Logistic.from_table(synthetic(120, 3, seed=1, groups=4), 4, shared=3, seed=5, part=part, **options)


def written(folder, text):
    """The text as a file."""
    path = folder / "study.toml"
    path.write_text(text)
    return path


def planted(tmp_path, claim, columns):
    """Judge one claim on made-up curves: ``columns`` has the metric's rounds for every curve of a and b."""
    study = load(written(tmp_path, TINY + f'[[claim]]\nname = "c"\nsays = "s"\n{claim}\n'))
    rng = np.random.default_rng(0)
    records = {
        curve.title: {
            name: np.array(columns.get((curve.runs, curve.value), [1.0] * 30)) * rng.uniform(0.999, 1.001, (8, 1))
            for name in MEASURES
        }
        | {"grad_L2": np.ones((8, 30)), "grad_theta2": np.ones((8, 30))}
        for curve in study.curves
    }
    return judge(study, records).claims[0]


# What is measured


@pytest.mark.parametrize("who", ["uniform", "largest", "bernoulli:0.4"])
def test_measuring_changes_nothing(who):
    """The method's own records are those of the engine, to the last bit, for biased selection too."""
    trace = Largest(4, 2, 3) if who == "largest" else pattern(who, 4, 2)
    setup = prepare("flame", data("train", batch=3), trace, K=3, T=12, step_sizes=STEPS)
    plain = stepwise.simulate(setup, seed=3, replicates=5, threads=1).records
    measured = stepwise.simulate(
        setup, kernel=ModelKernel(setup, data("test")), seed=3, replicates=5, threads=1
    ).records
    assert set(measured) == {*plain, *MEASURES}
    for name, values in plain.items():
        np.testing.assert_array_equal(measured[name], values)


def test_losses_and_errors_are_those_of_the_models():
    """FLAME played by hand, every client in every round: its w and its theta_i."""
    train, test = data("train", rho=0.1), data("test", rho=0.1)
    setup = prepare("flame", train, pattern("uniform", 4, 4), K=3, T=8, step_sizes=STEPS)
    found = stepwise.simulate(setup, kernel=ModelKernel(setup, test), seed=0, replicates=2, threads=1).records
    n, eta, rho, lambda_ = 4, STEPS["eta"], STEPS["rho"], STEPS["lambda_"]
    theta, w_i, pi, w = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(3)
    alone = [Logistic(np.abs(rows)[None] * np.sign(rows)[None], np.ones((1, len(rows))), shared=3, rho=0.1)
             for rows in train.A]  # fmt: skip
    none = np.zeros((1, 0))
    for t in range(8):
        common = np.mean([each.value(w, none) for each in alone])
        own = np.mean([each.value(x, none) for each, x in zip(alone, theta, strict=True)])
        wrong = [np.where(m == 0, 0.5, m < 0).mean() for m in (test.A @ w, np.einsum("ila,ia->il", test.A, theta))]
        expected = dict(zip(MEASURES, (common, own, abs(common - own), *wrong), strict=True))
        for name, value in expected.items():
            np.testing.assert_allclose(found[name][:, t], value, rtol=1e-9, atol=1e-12, err_msg=f"{name} {t}")
        for _ in range(3):
            slope = np.array([each.gradients(x, none)[0][0] for each, x in zip(alone, theta, strict=True)])
            theta = theta - eta * (slope + lambda_ * (theta - w_i))
        weight = lambda_ / n
        w_i = (weight * theta + rho * w - pi) / (weight + rho)
        pi = pi + rho * (w_i - w)
        w = (w_i + pi / rho).mean(axis=0)
    # It has moved, and the two models differ.
    assert found["loss_gap"][0, -1] > 1e-3


def test_personal_models_of_other_methods():
    """Those of pFedMe are proximal points of the server's model; FedAvg's are that model itself."""
    train = data("train")
    setup = prepare("pfedme", train, pattern("uniform", 4, 4), K=1, T=2,
                    step_sizes={"eta": 0.5, "beta": 1.0, "lambda_": 2.0})  # fmt: skip
    found = stepwise.simulate(setup, kernel=ModelKernel(setup), seed=0, replicates=2, threads=1).records
    prox = np.stack([Moreau(train, 2.0).prox(i, np.zeros(3)) for i in range(4)])
    loss = np.logaddexp(0, -np.einsum("ila,ia->il", train.A, prox)).mean()
    penalty = 0.01 * np.mean([p @ p / (1 + p @ p) for p in prox])
    assert found["loss_personal"][0, 0] == pytest.approx(loss + penalty, rel=1e-9)
    assert found["loss_global"][0, 0] == pytest.approx(np.log(2))
    setup = prepare("fedavg", train, pattern("uniform", 4, 2), K=2, T=5, step_sizes={"gamma_u": 0.5, "eta_u": 1.0})
    found = stepwise.simulate(setup, kernel=ModelKernel(setup), seed=0, replicates=2, threads=1).records
    np.testing.assert_array_equal(found["loss_personal"], found["loss_global"])
    assert found["error_global"][0, 0] == 0.5


def test_only_logistic_models_are_measured():
    """One line for other problems, and for personal variables, which are no models of their own."""
    quadratic = Quadratic(np.stack([np.eye(3)] * 4), np.ones((4, 3)), 3)
    split = Logistic.from_table(synthetic(120, 3, seed=1), 4, shared=2)
    for problem, method, steps in (
        (quadratic, "flame", STEPS),
        (split, "fedavg-p", {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.0, "eta_v": 1.0}),
    ):
        setup = prepare(method, problem, pattern("uniform", 4, 4), K=1, T=2, step_sizes=steps)
        with pytest.raises(InputError, match="logistic problems without personal variables"):
            ModelKernel(setup)


# Study files


def test_a_tiny_study_runs(tmp_path):
    """Curves drawn again share their cells; the second run finds them; the test problem has a say in the key."""
    study = load(written(tmp_path, TINY))
    store = RunStore(tmp_path / "cells")
    first = run_study(study, store, threads=1)
    again = run_study(study, store, threads=1)
    assert (first.computed, again.computed, again.reused) == (6, 0, 6)
    for title, records in first.records.items():
        for name, values in records.items():
            np.testing.assert_array_equal(again.records[title][name], values)
    np.testing.assert_array_equal(
        first.records["a rho=0.5"]["error_personal"], first.records["a-PM rho=0.5"]["error_personal"]
    )
    keys = {cell.curve.title: cell.key for cell in cells_of(study)}
    assert keys["a rho=0.5"] == keys["a-PM rho=0.5"]
    whole = load(written(tmp_path, TINY.replace('part = "train"', 'part = "all"')))
    assert {cell.key for cell in cells_of(whole)}.isdisjoint(keys.values())
    findings = judge(study, first.records)
    assert findings.summaries["a rho=0.5"].samples[0] != findings.summaries["a-PM rho=0.5"].samples[0]


def test_biased_selection_has_a_name(tmp_path):
    """Of 3 candidates the m = 2 with the largest gradients."""
    curve = load(written(tmp_path, TINY)).figure("who").curves[0]
    found = participation_of(curve, 4)
    assert (found.kind, found.s, found.c) == ("largest", 2, 3)


def test_figures_have_theorems_of_their_own(tmp_path):
    """On their curves alone, and not where curves are drawn again."""
    text = TINY.replace('name = "b"\n', 'name = "b"\ntheorems = ["flame/theorem-2-unbiased"]\n')
    study = load(written(tmp_path, text))
    assert {each.curve.title for each in theory(study)} == {"b rho=0.5", "b rho=1"}
    records = {c.title: {name: np.full((4, 30), 2.0) for name in (*MEASURES, "grad_L2")} for c in study.curves}
    # What the theorem bounds is the gradient over m, not the loss that the figure shows.
    assert [each.mean for each in judge(study, records).theory] == [0.5, 0.5]


FALL, SLOW = [2.0 - 0.06 * t for t in range(30)], [2.0 - 0.02 * t for t in range(30)]
ROUNDS = 'kind = "rounds"\nfigures = ["a", "b"]\neffect = "better"\ncurves = [0.5]\nagainst = [1.0]\ntargets = '
HALF = {("a", 0.5): FALL, ("a", 1.0): SLOW, ("b", 0.5): SLOW, ("b", 1.0): SLOW}


def test_rounds_to_a_target_are_whole(tmp_path):
    """To 1.49 from 2 by 0.06 and by 0.02 a round: 9 and 26 rounds; each figure may have its own target."""
    found = planted(tmp_path, ROUNDS + "[1.49, 1.7]", HALF)
    assert found.comparisons[0].ratio.value == pytest.approx(26 / 9, rel=0.03)
    assert found.verdict is ClaimVerdict.UNRESOLVED


def test_a_target_that_is_not_reached_bounds_the_way(tmp_path):
    """At 1.0 the slow curve never is."""
    found = planted(tmp_path, ROUNDS + "[1.0]", HALF)
    assert found.comparisons[0].ratio.high == np.inf
    assert "in 8 of 8" in found.comparisons[0].reason
    assert found.comparisons[1].ratio is None


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ("average = true\nfactor = 1.5", ClaimVerdict.CONFIRMED),
        ("average = true\nfactor = 2.5", ClaimVerdict.REFUTED),
        ("factor = 1.5", ClaimVerdict.UNRESOLVED),
        ("factor = 4.0", ClaimVerdict.REFUTED),
    ],
)
def test_averages_and_factors(tmp_path, more, verdict):
    """Ratios of about 2.9 and 1: 1.9 on average; one of two comparisons has the factor 1.5, none has 4."""
    found = planted(tmp_path, ROUNDS + f"[1.49]\n{more}", HALF)
    # The second figure's curves are alike.
    expected = ClaimVerdict.UNRESOLVED if more == "factor = 1.5" else verdict
    if more == "factor = 1.5":
        assert [c.side.value for c in found.comparisons] == ["agrees", "opposes"]
        expected = ClaimVerdict.MIXED
    assert found.verdict is expected
    if "average" in more:
        assert found.average.value == pytest.approx((26 / 9 + 1) / 2, rel=0.03)


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        (({"rho": 0.5}, FALL, SLOW), ClaimVerdict.CONFIRMED),
        (({"rho": 0.5}, SLOW, FALL), ClaimVerdict.REFUTED),
    ],
)
def test_most_counts_figures(tmp_path, second, verdict):
    """Both agree: most do. One opposes: no more than half."""
    _, own, other = second
    columns = {("a", 0.5): FALL, ("a", 1.0): SLOW, ("b", 0.5): own, ("b", 1.0): other}
    claim = ROUNDS.replace('kind = "rounds"', 'kind = "lowest"').replace("\ntargets = ", "\nmost = true")
    assert planted(tmp_path, claim, columns).verdict is verdict


def test_lowest_is_that_of_any_round(tmp_path):
    """A curve that comes down and goes up again keeps its lowest."""
    dip = [*FALL[:15], *FALL[:15]]
    claim = 'kind = "lowest"\nfigure = "a"\neffect = "better"\ncurves = [0.5]\nagainst = [1.0]'
    found = planted(tmp_path, claim, {("a", 0.5): dip, ("a", 1.0): SLOW})
    assert found.comparisons[0].ratio.value == pytest.approx(min(SLOW) / min(dip), rel=0.01)


CLAIM = f'[[claim]]\nname = "c"\nsays = "s"\n{ROUNDS}[1.0]\n'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("loss_global = 1", "loss_globl = 1", "metric: unknown key 'loss_globl'; did you mean 'loss_global'"),
        ("loss_global = 1", "grad_F2 = 1", "figure 'a', rho=0.5: flame does not record 'grad_F2'"),
        ("{ error_personal = 1 }", "{ error_personal = -1 }", "error_personal"),
        ("candidates = 3", "candidate = 3", "no key 'candidate'; did you mean 'candidates'"),
        ("candidates = 3", "candidates = 9", "c=9"),
        ('"flame/theorem-2-unbiased"', '"flame/theorem-22"', "theorems: no statement 'flame/theorem-22'"),
        ("targets = [1.0]", "targets = [1.0, 2.0, 3.0]", "3 numbers for 2 figures; give one, or one per figure"),
        ("targets = [1.0]\n", "", "the key 'targets' is missing"),
        ("targets = [1.0]", "targets = [0.0]", 'breaks "targets > 0"'),
        ("targets = [1.0]", "targets = [1.0]\naverage = 1", "average: true or false is needed"),
        ("targets = [1.0]", "targets = [1.0]\naverage = true\nmost = true", "most: average is given too"),
        ('part = "train"', 'part = "trains"', "part='trains'"),
    ],
)
def test_errors_are_one_line(tmp_path, old, new, said):
    """That names the file and the key."""
    text = TINY + CLAIM
    assert old in text
    path = written(tmp_path, text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        cells_of(load(path))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


# FLAME's files

FLAME = ["flame-figures", "flame-table-3", "flame-published-figures", "flame-published-table-3"]
SKEWS = {"labels": "shards", "features": "features", "quality": "quality", "quantity": "quantity"}


@pytest.mark.parametrize("name", FLAME)
def test_flame_files_load(name):
    """Every figure but the theorem's has a claim; step sizes are the paper's, all four patterns are there."""
    study = load(EXPERIMENTS / f"{name}.toml")
    claimed = {figure for claim in study.claims for figure in claim.figures}
    assert {figure.name for figure in study.figures} - claimed <= {"theorem-2"}
    assert study.chosen
    assert all(claim.source for claim in study.claims)
    assert {curve.parameters["how"] for curve in study.curves} == set(SKEWS.values())
    for curve in study.curves:
        assert (curve.T, curve.parameters["part"], curve.parameters["rho"]) == (100, "train", 0.0)
        for skew, how in SKEWS.items():
            assert (skew in curve.figure) <= (curve.parameters["how"] == how)
        steps = curve.step_sizes
        assert curve.algorithm != ("flame" if "published" in name else "flame-published")
        if curve.algorithm.startswith("flame") and curve.figure[0] not in "46t":
            assert (steps["eta"], steps["rho"], steps["lambda_"]) == (0.01, 0.01, 5.0)
        assert (curve.parameters["n"], curve.m) == ((100, 10) if curve.figure.startswith("7") else (50, 50))


@pytest.mark.parametrize("name", FLAME)
def test_the_page_keeps_every_claim_of_flame(name):
    """What is kept is of the file as it is: its claims and its theorems' curves."""
    study = load(EXPERIMENTS / f"{name}.toml")
    kept = digests.load("claims")[name]
    assert [claim["name"] for claim in kept["claims"]] == [claim.name for claim in study.claims]
    assert [claim["comparisons"] for claim in kept["claims"]] == [len(pairs(claim, study)) * max(len(claim.levels), 1)
                                                                  for claim in study.claims]  # fmt: skip
    shown = {(each["figure"], each["curve"]) for each in kept["theory"]}
    assert shown <= {(curve.figure, curve.name) for curve in study.curves}
