"""Studies: what a file may say, what the store keeps, and whether the claim checkers can tell true from false."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.layout_engine import ConstrainedLayoutEngine

from ratecheck.commands.records.run import command
from ratecheck.errors import InputError
from ratecheck.studies import ClaimVerdict, RunStore, judge, load, run_study
from ratecheck.studies.claims import Side
from ratecheck.studies.estimate import Steadiness, mean_interval, passage, ratio_interval, summarise
from ratecheck.studies.execute import cells_of
from ratecheck.studies.storage import store
from ratecheck.studies.study import pairs
from ratecheck.views.drawing.studies import binned, draw

PAPER = Path(__file__).parents[2] / "experiments" / "pfl-figures.toml"

TINY = """
name = "tiny"
title = "Two figures on quadratics"
level = 0.05
metric = { G_u = 1, G_v = 1 }

[problem]
name = "quadratic"
n = 3
d = 4
condition = 2
heterogeneity = 0.1

[run]
algorithm = "fedavg-p"
m = 2
K = 5
T = 120
gamma = 0.02
sigma_u = 0.5
sigma_v = 0.5
eta_u = 2
eta_v = 1.5
replicates = 8

[[figure]]
name = "steps"
vary = "gamma"
values = [0.02, 0.16]
run = { T = [200, 100] }

[[figure]]
name = "spread"
title = 'different $b$'
vary = "heterogeneity"
symbol = "b"
values = [0.1, 1, 10]

[[claim]]
name = "error"
figure = "steps"
says = "a larger gamma leads to a larger error"
kind = "steady-state"
effect = "rises"

[[claim]]
name = "speed"
figure = "steps"
says = "a larger gamma leads to faster convergence"
kind = "speed"
effect = "rises"
levels = [0.5, 0.25]
"""

ONE_FIGURE = """
name = "planted"
metric = { G_u = 1 }
problem = { name = "quadratic" }
run = { algorithm = "fedavg-p", m = 9, K = 1, T = 400, gamma = 0.1, eta_u = 3, eta_v = 3, replicates = 12 }
figure = [
    { name = "a", vary = "K", values = [1, 2, 3] },
    { name = "b", vary = "K", values = [1, 2, 3] },
]
"""


def written(folder, text, name="study.toml"):
    """The text as a file."""
    path = folder / name
    path.write_text(text)
    return path


def planted(tmp_path, claim, floors, *, taus=None, slope=0.0, other=None, T=400):
    """Judge one claim on made-up curves: floor_k*(noise + slope*t/T) + exp(-t/tau_k), and return its result."""
    study = load(written(tmp_path, ONE_FIGURE + f'[[claim]]\nname = "c"\nsays = "s"\nfigure = "a"\n{claim}\n'))
    rng = np.random.default_rng(1)
    records = {}
    for figure, levels in (("a", floors), ("b", other or floors)):
        for k, floor in enumerate(levels):
            t, tau = np.arange(T), (taus or [15] * 3)[k]
            noise = rng.gamma(16, 1 / 16, size=(12, T)) + slope * (t / T)
            records[f"{figure} K={k + 1}"] = {"G_u": floor * noise + np.exp(-t / tau)}
    return judge(study, records).claims[0]


# Loading


def test_the_papers_study_is_complete():
    """All seven printed figures are there, each claim can be checked, and gamma = gamma_u*eta_u = gamma_v*eta_v."""
    study = load(PAPER)
    assert {"1a", "1b", "1c", "1d", "2a", "2b", "2c"} <= {figure.name for figure in study.figures}
    assert {name for claim in study.claims for name in claim.figures} == {figure.name for figure in study.figures}
    assert all(claim.source for claim in study.claims)
    assert {theorem.key for theorem in study.theorems} == {"pfl/theorem-3.7", "pfl/theorem-3.11", "pfl/theorem-4.5"}
    for curve in study.curves:
        steps, n = curve.step_sizes, 10
        gamma = curve.value if curve.name.startswith("gamma") else 0.001
        assert steps["gamma_u"] * steps["eta_u"] == pytest.approx(gamma)
        assert steps["gamma_v"] * steps["eta_v"] == pytest.approx(gamma)
        assert steps["eta_u"] >= math.sqrt(curve.m)
        assert steps["eta_v"] >= math.sqrt(n / curve.m) * (1 - 1e-6)
        if curve.m == n and curve.algorithm == "fedavg-p":
            assert steps["eta_u"] >= curve.T
    for figure in ("1b", "2b"):
        assert all(curve.noise["sigma_v"] == 0 < curve.noise["sigma_u"] for curve in study.figure(figure).curves)


def test_lists_give_one_value_per_curve(tmp_path):
    """A list in `run` is dealt to the curves; a figure's own tables override the study's."""
    study = load(written(tmp_path, TINY))
    assert [curve.T for curve in study.figure("steps").curves] == [200, 100]
    assert [curve.T for curve in study.figure("spread").curves] == [120] * 3
    assert [curve.parameters["heterogeneity"] for curve in study.figure("spread").curves] == [0.1, 1, 10]
    assert study.figure("spread").curves[1].label == "$b = 1$"
    assert study.figure("steps").curves[0].label == r"$\gamma = 0.02$"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "tiny"', "", "the key 'name' is missing"),
        ('name = "tiny"', 'name = "a/b"', "names files"),
        ("level = 0.05", "level = 2", 'level: 2 breaks "level < 1"'),
        ("level = 0.05", "levl = 0.05", "unknown key 'levl'; did you mean 'level'"),
        ("level = 0.05", 'level = "low"', "level: a number is needed, not 'low'"),
        ("level = 0.05", "level = 0.05\nseed = -1", 'seed: -1 breaks "seed >= 0"'),
        ("G_u = 1, G_v = 1", "G_w = 1", "metric: unknown key 'G_w'"),
        ("G_u = 1, G_v = 1", "G_u = 0", "give the weight of at least one"),
        ("K = 5", "K = 5.5", "figure 'steps': run: K: a whole number"),
        ("K = 5", "", "figure 'steps': run: the key 'K' is missing"),
        ("K = 5", "K = 5\nstep = 1", "run: unknown key 'step'"),
        ("m = 2", "m = 4", "figure 'steps', gamma=0.02: m=4 breaks"),
        ("eta_u = 2", "", "figure 'steps': run: fedavg-p needs the step size gamma_u"),
        ("eta_u = 2", "eta_u = 2\ngamma_u = 1", "gamma is given too"),
        ("eta_u = 2", "eta_u = -2", 'eta_u: -2 breaks "eta_u > 0"'),
        ('algorithm = "fedavg-p"', 'algorithm = "fedavg-q"', "did you mean 'fedavg-p'"),
        ("replicates = 8", "replicates = 1", 'replicates: 1 breaks "replicates >= 2"'),
        ('name = "quadratic"\n', "", "problem: the key 'name' is missing"),
        ('name = "quadratic"', 'name = "quadratics"', "did you mean 'quadratic'"),
        ("condition = 2", "conditon = 2", "has no parameter 'conditon'; did you mean 'condition'"),
        ("condition = 2", "condition = 0", 'condition=0 breaks "condition >= 1"'),
        ("condition = 2", 'condition = "much"', "figure 'steps', gamma=0.02: condition='much'"),
        ("T = [200, 100]", "T = [200, 100, 50]", "T lists 3 values for 2 curves"),
        ('vary = "gamma"', 'vary = "gama"', "vary: no setting 'gama'; did you mean 'gamma'"),
        (
            'vary = "heterogeneity"',
            'vary = "hetero"',
            "figure 'spread', hetero=0.1: the problem 'quadratic' has no parameter",
        ),
        ("values = [0.02, 0.16]", "values = [0.02, 0.02]", "one is given twice"),
        ("values = [0.02, 0.16]", "values = []", "the list is empty"),
        ("values = [0.02, 0.16]", "values = [0.02]\nnot_run = 1", "figure 'steps'"),
        ('name = "spread"', 'name = "all"', "'all' is the file of all figures together"),
        ('name = "spread"', 'name = "steps"', "two have the name 'steps'"),
        ('kind = "speed"', 'kind = "sped"', "claim 'speed': kind: no 'sped' here; did you mean 'speed'"),
        ("levels = [0.5, 0.25]", "levels = [5]", 'levels: 5 breaks "levels < 1"'),
        ('effect = "rises"\nlevels', 'effect = "up"\nlevels', "claim 'speed': effect: no 'up' here"),
        ('kind = "speed"\neffect = "rises"\nlevels = [0.5, 0.25]', 'kind = "below"\nthan = "spread"', "in common"),
        ('figure = "steps"\nsays = "a larger gamma leads to f', 'figure = "step"\nsays = "f', "did you mean 'steps'"),
        ('name = "tiny"', 'nmae = "tiny"', "unknown key 'nmae'; did you mean 'name'"),
        ("level = 0.05", "level = true", "level: a number is needed, not True"),
        ("level = 0.05", "level = inf", "level: a finite number is needed, not inf"),
        ("level = 0.05", f"level = 0x{'f' * 5000}", "level: a number is needed, not a number of thousands of digits"),
        ('title = "Two figures on quadratics"', "title = 3", "title: a text in quotes is needed, not 3"),
        ('title = "Two figures on quadratics"', 'title = " "', "title: it is empty"),
        ("level = 0.05", "chosen = []", "chosen: the list is empty"),
        ("level = 0.05", 'chosen = "all"', "chosen: a list in brackets is needed, not 'all'"),
        ("level = 0.05", "steady = 3", "steady: a table is needed, not 3"),
        ("level = 0.05", "steady = { windo = 0.2 }", "steady: unknown key 'windo'; did you mean 'window'"),
        ("level = 0.05", "steady = { window = 1 }", 'steady: window: 1 breaks "window < 1"'),
        ("level = 0.05", "quick = { replicates = 1.5 }", "quick: replicates: a whole number is needed, not 1.5"),
        ("level = 0.05", "participation = { P1 = 5 }", "participation: P1: a pattern in quotes, or a table"),
        ("level = 0.05", "participation = { P1 = { p = 1 } }", "participation: P1: the key 'kind' is missing"),
        ("level = 0.05", "local_steps = { odd = 5 }", "local_steps: odd: a list with a number for each client, or a"),
        ("level = 0.05", 'local_steps = { odd = [1, "x"] }', "local_steps: odd: a whole number is needed, not 'x'"),
        ("{ G_u = 1, G_v = 1 }", "5", "metric: a table is needed, not 5"),
        ("metric = { G_u = 1, G_v = 1 }", "", "metric: give the weight of at least one of G_u"),
        ("G_u = 1, G_v = 1", "G_u = -1", 'metric: G_u: -1 breaks "G_u >= 0"'),
        ("K = 5", "K = 0", "figure 'steps': run: K: 0 breaks \"K >= 1\""),
        ("K = 5", 'K = "odd"', "run: K: a number is needed, or a name in [local_steps], not 'odd'"),
        ("m = 2", f"m = 1{'0' * 400}", 'breaks "m <= 1e+15"'),
        ('vary = "gamma"', 'vary = "gamma"\nsymbl = "x"', "figure 'steps': unknown key 'symbl'; did you mean 'symbol'"),
        ('vary = "gamma"', 'vary = "gamma"\nruns = "b"', "figure 'steps': unknown key 'vary'; known: metric"),
        ('vary = "gamma"', 'vary = "a\\nb"', "vary: one line without control characters is needed, not 'a\\nb'"),
        ("values = [0.02, 0.16]", "values = [0.02, [1]]", "values: finite numbers or texts are needed, not [1]"),
        ("values = [0.02, 0.16]", "values = [0.02, nan]", "values: finite numbers or texts are needed, not nan"),
        ("run = { T = [200, 100] }", "run = 3", "figure 'steps': run: a table is needed, not 3"),
        ("run = { T = [200, 100] }", 'run = { T = [200, "x"] }', "run: T: a whole number is needed, not 'x'"),
        ('name = "error"\n', "", "claim number 1: the key 'name' is missing"),
        ('name = "speed"', 'name = "error"', "claim: two have the name 'error'"),
        ('figure = "steps"\nsays = "a larger gamma leads to f', 'says = "f', "speed': the key 'figure' is missing"),
        ('kind = "speed"', 'kind = "speed"\nfigures = ["steps"]', "figure: figures is given too; leave one"),
        ('kind = "speed"', 'kind = "speed"\nmargin = 1', "margin: it says nothing in a claim with kind = 'speed' and"),
        ('kind = "speed"\neffect = "rises"', 'kind = "speed"', "claim 'speed': the key 'effect' is missing"),
        ('kind = "speed"', 'kind = "below"\nthan = "spread"', "effect: it says nothing in a claim with kind = 'below'"),
        (
            'state"\neffect = "rises"',
            'state"\neffect = "rises"\npower = 9e9',
            "0.02^9e+09 is beyond the range of numbers",
        ),
    ],
)
def test_errors_name_file_and_key(tmp_path, old, new, said):
    """Whatever is wrong in a study file is one line that names the file and the key; the planted slips all count."""
    assert old in TINY
    path = written(tmp_path, TINY.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        cells_of(load(path))
    message = str(caught.value)
    assert said in message
    assert message.startswith(str(path))
    assert "\n" not in message


def test_values_that_round_to_the_same_are_told_apart(tmp_path):
    """By all their digits; what others do not round to keeps its name, which enters the seed."""
    study = load(written(tmp_path, TINY.replace("[0.1, 1, 10]", "[0.1234567, 0.1234568, 0.125]")))
    curves = study.figure("spread").curves
    assert [curve.name.partition("=")[2] for curve in curves] == ["0.1234567", "0.1234568", "0.125"]
    for twice in ("[1, 2, 1.0]", '["1", 1]', "[0.1234567, 0.1234567]"):
        with pytest.raises(InputError, match="values: one is given twice"):
            load(written(tmp_path, TINY.replace("[0.1, 1, 10]", twice)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no study file"),
        (b"a = [", "is not TOML"),
        (b"\xff", "not TOML"),
        (b"seed = " + b"9" * 5000, "is not TOML: "),
        (b"seed = " + b"[" * 5000, "arrays in one another, more than 32 deep"),
        (b"seed.a" + b".a" * 3000 + b" = 1", "tables or arrays in one another, more than 32 deep"),
        (b"name" + b".a" * 40 + b" = 1", "tables or arrays in one another, more than 32 deep"),
        (b"claim = 3\nname = 'a'\nmetric = {G_u = 1}", r"claim: tables are needed, written \[\[claim\]\]"),
        (b"figure = [1]\nname = 'a'\nmetric = {G_u = 1}", r"figure: tables are needed, written \[\[figure\]\]"),
        (b"name = 'a'\nmetric = {G_u = 1}", r"figure: the study has none; give at least one \[\[figure\]\]"),
    ],
)
def test_unreadable_files(tmp_path, content, said):
    """A file that is missing or no TOML is one line too."""
    path = tmp_path / "s.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        load(path)


# The store


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The tiny study run without interruption: study and outcome."""
    folder = tmp_path_factory.mktemp("whole")
    study = load(written(folder, TINY))
    return study, run_study(study, RunStore(folder / "cells"), threads=1)


def same(first, second):
    """Whether two sets of records are equal to the last bit."""
    return first.keys() == second.keys() and all(
        np.array_equal(first[title][name], second[title][name]) for title in first for name in first[title]
    )


def test_interrupted_run_goes_on(whole, tmp_path):
    """After an interruption the finished cells are found, the others computed, and nothing differs."""
    study, expected = whole

    def interrupt(_fraction):
        if any((tmp_path / "cells").glob("*/*.npz")):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(study, RunStore(tmp_path / "cells"), threads=1, progress=interrupt)
    kept = len(list((tmp_path / "cells").glob("*/*.npz")))
    assert kept >= 1
    assert not list((tmp_path / "cells").glob("**/.*"))
    outcome = run_study(study, RunStore(tmp_path / "cells"), threads=1)
    assert (outcome.reused, outcome.computed) == (kept, len(study.curves) - kept)
    assert same(outcome.records, expected.records)


def test_cells_do_not_depend_on_threads_order_or_neighbours(whole, tmp_path):
    """Two threads, reversed figures, or one figure alone: the same numbers."""
    study, expected = whole
    turned = replace(study, figures=study.figures[::-1])
    assert same(run_study(turned, RunStore(tmp_path / "turned"), threads=2).records, expected.records)
    alone = run_study(study.only(["spread"]), RunStore(tmp_path / "alone"), threads=2).records
    assert same(alone, {title: expected.records[title] for title in alone})


def test_more_replicates_are_added(whole, tmp_path):
    """A store with fewer replicates is extended, with the numbers of a run that had them all from the start."""
    study, expected = whole
    cells = RunStore(tmp_path / "cells")
    run_study(study.with_replicates(2), cells)
    outcome = run_study(study, cells)
    assert outcome.computed == len(study.curves)
    assert same(outcome.records, expected.records)
    fewer = run_study(study.with_replicates(3), cells)
    assert fewer.computed == 0
    assert {len(records["G_u"]) for records in fewer.records.values()} == {3}


def test_damaged_cell_is_recomputed(whole, tmp_path):
    """Half a file is no result."""
    study, expected = whole
    study = study.only(["steps"])
    cells = RunStore(tmp_path / "cells")
    run_study(study, cells)
    broken = next((tmp_path / "cells").glob("*/*.npz"))
    broken.write_bytes(broken.read_bytes()[:1000])
    outcome = run_study(study, cells)
    assert outcome.computed == 1
    assert same(outcome.records, {title: expected.records[title] for title in outcome.records})


def test_keys_hold_everything_that_determines_a_result(tmp_path, monkeypatch):
    """Any number that matters changes the key; titles, claims and the number of replicates do not."""

    def keys(old="", new=""):
        assert old in TINY
        return [cell.key for cell in cells_of(load(written(tmp_path, TINY.replace(old, new, 1))))]

    before = keys()
    assert len(set(before)) == len(before)
    changes = {
        "condition = 2": "condition = 3",
        "K = 5": "K = 6",
        "m = 2": "m = 3",
        "sigma_v = 0.5": "sigma_v = 0.4",
        "eta_u = 2": "eta_u = 3",
        '"fedavg-p"': '"scaffold-p"',
        'name = "tiny"': 'name = "tiny"\nseed = 1',
    }
    for old, new in changes.items():
        assert not set(keys(old, new)) & set(before), new
    for old, new in {"Two figures": "2 figures", "replicates = 8": "replicates = 7", "a larger": "any"}.items():
        assert keys(old, new) == before, new
    monkeypatch.setattr(store, "code_version", lambda: "other code")
    assert not set(keys()) & set(before)


def test_stores_merge_by_copying(whole, tmp_path):
    """Two halves computed apart are one whole once their files lie together."""
    study, expected = whole
    cells = RunStore(tmp_path / "steps")
    run_study(study.only(["steps"]), cells)
    run_study(study.only(["spread"]), RunStore(tmp_path / "spread"))
    shutil.copytree(tmp_path / "spread", tmp_path / "steps", dirs_exist_ok=True)
    outcome = run_study(study, cells)
    assert outcome.computed == 0
    assert same(outcome.records, expected.records)


# Claims, on curves whose truth is known


@pytest.mark.parametrize(
    ("claim", "floors", "verdict"),
    [
        ('kind = "steady-state"\neffect = "rises"', [1e-3, 2e-3, 4e-3], ClaimVerdict.CONFIRMED),
        ('kind = "steady-state"\neffect = "rises"', [4e-3, 2e-3, 1e-3], ClaimVerdict.REFUTED),
        ('kind = "steady-state"\neffect = "rises"', [1e-3, 2e-3, 1e-3], ClaimVerdict.MIXED),
        ('kind = "steady-state"\neffect = "rises"', [1e-3, 1e-3, 1e-3], ClaimVerdict.UNRESOLVED),
        ('kind = "steady-state"\neffect = "falls"', [4e-3, 2e-3, 1e-3], ClaimVerdict.CONFIRMED),
        ('kind = "steady-state"\neffect = "falls"', [1e-3, 2e-3, 4e-3], ClaimVerdict.REFUTED),
        ('kind = "steady-state"\neffect = "none"\nmargin = 0.2', [1e-3, 1e-3, 1e-3], ClaimVerdict.CONFIRMED),
        ('kind = "steady-state"\neffect = "none"\nmargin = 0.2', [1e-3, 2e-3, 4e-3], ClaimVerdict.REFUTED),
        ('kind = "steady-state"\neffect = "none"\nmargin = 0.2', [1e-3, 1e-3, 2e-3], ClaimVerdict.REFUTED),
        ('kind = "steady-state"\neffect = "none"\nmargin = 0.001', [1e-3, 1e-3, 1e-3], ClaimVerdict.UNRESOLVED),
        ('kind = "last"\neffect = "bounded"\npower = 1', [1e-3, 2e-3, 3e-3], ClaimVerdict.CONFIRMED),
        ('kind = "last"\neffect = "bounded"\npower = 1', [1e-3, 4e-3, 9e-3], ClaimVerdict.REFUTED),
        ('kind = "mean"\neffect = "rises"', [1e-1, 2e-1, 4e-1], ClaimVerdict.CONFIRMED),
        (
            'kind = "last"\neffect = "better"\ncurves = [1]\nagainst = [2, 3]',
            [1e-3, 2e-3, 4e-3],
            ClaimVerdict.CONFIRMED,
        ),
        ('kind = "last"\neffect = "better"\ncurves = [3]\nagainst = [1, 2]', [1e-3, 2e-3, 4e-3], ClaimVerdict.REFUTED),
        ('kind = "last"\neffect = "better"\ncurves = [2]\nagainst = [1, 3]', [1e-3, 2e-3, 4e-3], ClaimVerdict.MIXED),
        ('kind = "last"\neffect = "better"\ncurves = [1]\nagainst = [2]', [1e-3, 1e-3, 4e-3], ClaimVerdict.UNRESOLVED),
        ('kind = "last"\neffect = "no-worse"\ncurves = [1]\nagainst = [2]', [1e-3, 1e-3, 4e-3], ClaimVerdict.CONFIRMED),
        (
            'kind = "last"\neffect = "none"\ncurves = [1, 2]\nagainst = [1, 2]',
            [1e-3, 1e-3, 4e-3],
            ClaimVerdict.CONFIRMED,
        ),
    ],
)
def test_effects_on_the_steady_state(tmp_path, claim, floors, verdict):
    """True claims are confirmed, planted errors refuted, and what is too close to call is mixed."""
    assert planted(tmp_path, claim, floors).verdict is verdict


@pytest.mark.parametrize(
    ("effect", "taus", "verdict"),
    [
        ("rises", [40, 20, 10], ClaimVerdict.CONFIRMED),
        ("rises", [10, 20, 40], ClaimVerdict.REFUTED),
        ("falls", [10, 20, 40], ClaimVerdict.CONFIRMED),
        ("falls", [10, 20, 10], ClaimVerdict.MIXED),
    ],
)
def test_effects_on_speed(tmp_path, effect, taus, verdict):
    """The time constant decides, at every level; the steady state does not."""
    claim = f'kind = "speed"\neffect = "{effect}"\nlevels = [0.3, 0.1]'
    result = planted(tmp_path, claim, [1e-3, 4e-3, 2e-3], taus=taus)
    assert result.verdict is verdict
    assert len(result.comparisons) == 6
    if verdict is ClaimVerdict.CONFIRMED:
        first = result.comparisons[0]
        assert first.ratio.value == pytest.approx(taus[1] / taus[0], rel=0.1)


def test_level_that_is_not_reached_bounds_the_way_to_it(tmp_path):
    """A curve whose floor lies above the level takes longer than it was run: enough for an order, and it says so."""
    claim = 'kind = "speed"\neffect = "rises"\nlevels = [0.1]'
    result = planted(tmp_path, claim, [1e-3, 0.5, 1e-3], taus=[40, 20, 10])
    assert [comparison.side for comparison in result.comparisons] == [Side.OPPOSES, Side.AGREES, Side.AGREES]
    assert "a K=2 is not down to 0.1 after 400 rounds in 12 of 12" in result.comparisons[0].reason
    assert result.comparisons[0].ratio.high == math.inf
    assert result.comparisons[2].ratio.low == 0


def test_levels_that_neither_reaches_decide_nothing(tmp_path):
    """Who of two is slower cannot be known where neither comes down."""
    claim = 'kind = "speed"\neffect = "rises"\nlevels = [0.1]'
    result = planted(tmp_path, claim, [0.5, 0.5, 0.5], taus=[40, 20, 10])
    assert result.verdict is ClaimVerdict.UNRESOLVED
    assert {comparison.side for comparison in result.comparisons} == {Side.UNDECIDED}


def test_unrest_is_change_from_round_to_round(tmp_path):
    """Noise of a fifth of the level, or of none: the quiet curve is the better one, however high it lies."""
    study = load(
        written(
            tmp_path,
            ONE_FIGURE + '[[claim]]\nname="c"\nsays="s"\nfigure="a"\nkind="unrest"\neffect="better"\n'
            "curves=[1]\nagainst=[2, 3]\n",
        )
    )
    noise = np.random.default_rng(0).random((12, 400))
    records = {curve.title: {"G_u": 1 + 0.2 * noise} for curve in study.curves}
    records["a K=1"] = {"G_u": 9 + 0.02 * noise}
    assert judge(study, records).claims[0].verdict is ClaimVerdict.CONFIRMED


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        ([2e-3, 4e-3, 8e-3], ClaimVerdict.CONFIRMED),
        ([5e-4, 1e-3, 2e-3], ClaimVerdict.REFUTED),
        ([2e-3, 2e-3, 1e-3], ClaimVerdict.MIXED),
    ],
)
def test_one_family_below_another(tmp_path, other, verdict):
    """Curves of the same value are compared, and only those."""
    result = planted(tmp_path, 'kind = "below"\nthan = "b"', [1e-3, 2e-3, 4e-3], other=other)
    assert result.verdict is verdict
    assert all(comparison.first.value == comparison.second.value for comparison in result.comparisons)


def test_unsteady_curves_decide_nothing(tmp_path):
    """Curves that still rise differ three-fold, but not in a steady state that they have not reached."""
    result = planted(tmp_path, 'kind = "steady-state"\neffect = "rises"', [1e-3, 3e-3, 9e-3], slope=6.0)
    assert result.verdict is ClaimVerdict.UNRESOLVED
    assert all("is not steady: drift" in comparison.reason for comparison in result.comparisons)


def test_diverged_curves_decide_nothing(tmp_path):
    """Infinity is no steady state, and no error either."""
    study = load(
        written(
            tmp_path, ONE_FIGURE + '[[claim]]\nname="c"\nsays="s"\nfigure="a"\nkind="steady-state"\neffect="none"\n'
        )
    )
    records = {curve.title: {"G_u": np.ones((12, 400))} for curve in study.curves}
    records["a K=2"] = {"G_u": np.where(np.arange(400) < 300, 1.0, np.inf) * np.ones((12, 1))}
    result = judge(study, records).claims[0]
    assert [comparison.side for comparison in result.comparisons] == [Side.UNDECIDED, Side.AGREES, Side.UNDECIDED]
    assert "a K=2 diverged in 12 of 12 replicates" in result.comparisons[0].reason


@pytest.mark.parametrize(
    ("trend", "spread", "state"),
    [
        (0.0, 0.02, Steadiness.STEADY),
        (1.0, 0.02, Steadiness.UNSTEADY),
        (-0.5, 0.02, Steadiness.UNSTEADY),
        (0.02, 0.0, Steadiness.STEADY),
        (0.0, 0.5, Steadiness.UNRESOLVED),
    ],
)
def test_steadiness(trend, spread, state):
    """A drift beyond the tolerance is seen, a small one is put up with, and noise is called noise."""
    rng, T = np.random.default_rng(0), 200
    halves = np.exp(spread * rng.standard_normal((16, 2)))
    metric = np.repeat(halves, T // 2, axis=1) * (1 + trend * np.arange(T) / T)
    assert summarise(metric, window=0.999, tolerance=0.1, levels=[], error=0.01).steadiness is state


def test_passage_is_interpolated():
    """exp(-t/10) falls to a tenth at t = 10 log 10, between two rounds; a curve that stays up never does."""
    t = np.arange(100)
    found = passage(np.stack([np.exp(-t / 10), np.ones(100)]), 0.1)
    assert found[0] == pytest.approx(10 * math.log(10), rel=1e-9)
    assert np.isnan(found[1])


@pytest.mark.parametrize("paired", [False, True])
def test_ratio_interval_covers(paired):
    """At error 0.1 the interval misses the true ratio in about one sample of ten, and not more often."""
    rng, missed, trials = np.random.default_rng(3), 0, 3000
    for _ in range(trials):
        common = rng.standard_normal(10) if paired else 0.0
        a = 3.0 * (1 + 0.2 * (common + rng.standard_normal(10)))
        b = 2.0 * (1 + 0.3 * (common + rng.standard_normal(10)))
        interval = ratio_interval(a, b, 0.1, paired=paired)
        missed += not interval.low <= 1.5 <= interval.high
    assert missed / trials < 0.1 + 3 * math.sqrt(0.09 / trials)
    assert missed / trials > 0.05


def test_ratio_without_bound():
    """Where the denominator may be zero, nothing is excluded; one replicate says nothing."""
    rng = np.random.default_rng(0)
    assert ratio_interval(np.ones(5), rng.standard_normal(5) + 0.2, 0.01).high == math.inf
    assert ratio_interval(np.ones(1), np.ones(1), 0.01).high == math.inf


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000])
def test_intervals_of_numbers_whose_squares_are_none(exponent):
    """A power of two in all numbers is one in the intervals: nothing overflows, and no warning is heard."""
    rng = np.random.default_rng(0)
    a, b = rng.gamma(9, size=(2, 6))
    here, there = ratio_interval(a, b, 0.01, paired=True), ratio_interval(np.ldexp(a, exponent), b, 0.01, paired=True)
    assert [there.value, there.low, there.high] == np.ldexp([here.value, here.low, here.high], exponent).tolist()
    assert ratio_interval(np.ldexp(a, exponent), np.ldexp(b, exponent), 0.01, paired=True) == here
    mean, large = mean_interval(a, 0.01), mean_interval(np.ldexp(a, exponent), 0.01)
    assert [large.value, large.low, large.high] == np.ldexp([mean.value, mean.low, mean.high], exponent).tolist()
    band, wide = (binned(np.ldexp(np.stack([a, b]), k)) for k in (0, exponent))
    np.testing.assert_array_equal(np.ldexp(band[1:], exponent), wide[1:])


def test_ratios_and_means_beyond_numbers():
    """A ratio of what is no number is unbounded; a curve whose mean is none has diverged, rounding included."""
    interval = ratio_interval(np.array([1.0, math.inf]), np.ones(2), 0.01)
    assert math.isnan(interval.value)
    assert (interval.low, interval.high) == (0.0, math.inf)
    large, asked = np.full((3, 10), 1e308), {"window": 0.4, "tolerance": 0.1, "levels": [], "error": 0.01}
    assert summarise(large, **asked).diverged == 3
    assert summarise(large / 100, rounding=large, **asked).diverged == 3
    assert summarise(large / 100, **asked).diverged == 0


def test_divergence_is_said_and_drawn(tmp_path):
    """Step sizes that are too large by far: finite numbers whose squares are not, and others that left the range."""
    text = TINY.replace("values = [0.02, 0.16]", "values = [10, 100]").replace(
        "run = { T = [200, 100] }", "run = { T = 30 }"
    )
    study = load(written(tmp_path, text)).only(["steps"])
    records = run_study(study, RunStore(tmp_path / "cells"), threads=1)
    findings = judge(study, records.records)
    draw(findings, records, tmp_path)
    large, beyond = findings.summaries.values()
    assert large.steady.value > 1e154
    assert (large.diverged, beyond.diverged) == (0, 8)
    assert [result.verdict for result in findings.claims] == [ClaimVerdict.UNRESOLVED] * 2


def test_all_intervals_share_one_budget(tmp_path):
    """Two intervals per curve and one per comparison; leaving figures out changes no decision."""
    study = load(PAPER)
    comparisons = sum(len(pairs(claim, study)) * max(len(claim.levels), 1) for claim in study.claims)
    repeated = sum(len(figure.curves) for figure in study.figures if figure.admissible)
    assert study.intervals == 2 * (len(study.curves) + repeated) + comparisons
    assert study.only(["1a"]).intervals == study.intervals
    tiny = load(written(tmp_path, TINY))
    assert tiny.intervals == 2 * 5 + 1 + 2


# The command


def run(*arguments):
    """Call the command; exit code, standard output and standard error."""
    result = CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, result.stdout, result.stderr


def test_command_end_to_end(tmp_path):
    """Claims that theory guarantees are confirmed, figures drawn, and a second run computes nothing."""
    path, out = written(tmp_path, TINY), tmp_path / "out"
    code, text, messages = run(path, "--out", out, "--threads", 2, "--json")
    data = json.loads(text)
    assert code == 0
    assert [claim["verdict"] for claim in data["claims"]] == ["CONFIRMED"] * 2
    assert data == json.loads((out / "claims.json").read_text())
    assert "5 cells computed, 0 found" in messages
    for name in ("steps", "spread", "all"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    drawn = (out / "steps.svg").read_bytes()
    assert b"0.16" in drawn
    _, text, messages = run(path, "--out", out, "--only", "steps")
    assert "0 cells computed, 2 found" in messages
    assert "2 claims: 2 CONFIRMED" in text
    assert (out / "steps.svg").read_bytes() == drawn


def test_false_claim_is_a_finding(tmp_path):
    """A planted falsehood is refuted with exit code 1."""
    text = TINY.replace(
        'larger error"\nkind = "steady-state"\neffect = "rises"', 'x"\nkind = "steady-state"\neffect = "falls"'
    )
    code, output, _ = run(written(tmp_path, text), "--out", tmp_path / "out", "--only", "steps")
    assert code == 1
    assert "REFUTED" in output
    assert not (tmp_path / "out" / "spread.png").exists()
    assert not (tmp_path / "out" / "claims.json").exists()


def test_diverged_study_is_drawn_and_reported(tmp_path):
    """Step sizes far too large: no verdict, no warning, and figures without the curves."""
    text = TINY.replace("[0.02, 0.16]", "[50, 100]")
    code, output, _ = run(written(tmp_path, text), "--out", tmp_path / "out", "--only", "steps")
    assert code == 3
    assert output.count("DIVERGED") == 2
    assert "(diverged)" in (tmp_path / "out" / "steps.svg").read_text()


def test_a_sheet_is_laid_out_once_for_all_formats(whole, tmp_path, monkeypatch):
    """Once to know the widths of its panels and once with their titles wrapped, whatever is written afterwards."""
    study, outcome = whole
    laid_out = []
    execute = ConstrainedLayoutEngine.execute

    def counted(engine, figure):
        laid_out.append(figure)
        return execute(engine, figure)

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", counted)
    paths = draw(judge(study, outcome.records), outcome, tmp_path)
    sheets = len(paths) // 3
    assert sheets == 3
    assert len(laid_out) == 2 * sheets


def test_quick_is_marked(tmp_path, monkeypatch):
    """The smoke test has fewer rounds and replicates, its own folder, and says so beside each verdict."""
    monkeypatch.chdir(tmp_path)
    _, text, _ = run(written(tmp_path, TINY), "--quick", "--replicates", 2)
    assert text.count("(quick)") == 2
    assert (tmp_path / "results" / "tiny-quick" / "all.png").exists()
    study = load(tmp_path / "study.toml").shortened()
    assert [curve.T for curve in study.curves] == [20] * 5
    assert {curve.replicates for curve in study.curves} == {4}


@pytest.mark.parametrize(
    ("symbol", "arguments", "said"),
    [
        ("b", ("--only", "stps"), "did you mean 'steps'"),
        ("b", ("--out", "study.toml/x"), "cannot be used as a folder"),
        ("{", (), "figure 'spread': '${ = 0.1$' cannot be typeset"),
    ],
)
def test_command_errors_are_one_line(tmp_path, monkeypatch, symbol, arguments, said):
    """An unknown figure, a folder that cannot be made, and a label that is no formula, before anything has run."""
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, TINY.replace('symbol = "b"', f'symbol = "{symbol}"'))
    with pytest.raises(InputError) as caught:
        run(path, *arguments)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("**/*.npz"))


def test_bins_keep_the_start_and_the_mean():
    """Averaging for the plot loses neither the first round nor any weight."""
    values = np.random.default_rng(0).random((3, 1000))
    rounds, mean, _ = binned(values)
    assert (rounds[0], mean[0]) == (0, pytest.approx(values[:, 0].mean()))
    assert rounds[-1] < 1000
    assert mean.mean() == pytest.approx(values.mean(), rel=0.02)
