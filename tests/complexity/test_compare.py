"""Comparisons: values are those of the statements, and changes lie where SciPy finds the bounds equal."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from scipy.optimize import brentq

import bounds
from ratecheck.complexity import compare as checks
from ratecheck.complexity import tuned_bound as curve
from ratecheck.errors import InputError
from ratecheck.views.theory.compare import comparison_fields, comparison_text

GIVEN = {"n": 10, "m": 9, "T": 1000, "L": 1, "F_0": 1, "sigma_u": 0.3, "sigma_v": 0.3}
FEDAVG, SCAFFOLD = bounds.get("pfl/corollary-3.8"), bounds.get("pfl/corollary-4.6")
PRIOR = bounds.get("pfl/scaffold-prior")


def compared(statements, given, *axes):
    """The comparison over axes written as on the command line."""
    return checks.compare(statements, given, checks.read_axes(statements, axes))


def gap(K, b):
    """Log ratio of the two corollaries, by the statements themselves."""
    values = {**GIVEN, "K": K, "b": b}
    return math.log(FEDAVG.evaluate(**values).value / SCAFFOLD.evaluate(**values).value)


def test_values_are_those_of_the_statements():
    """Every entry of the table is an evaluation, and the smallest is the smallest."""
    found = compared((FEDAVG, SCAFFOLD), {**GIVEN, "b": 1}, "K=1:500:9")
    for i, K in enumerate(found.axes[0].values):
        wanted = [s.evaluate(**GIVEN, b=1, K=K).value for s in (FEDAVG, SCAFFOLD)]
        assert found.values[:, i, 0] == pytest.approx(wanted, rel=1e-12)
        assert found.smallest[i, 0] == wanted.index(min(wanted))


def test_a_change_along_a_continuous_axis_is_a_root():
    """Corollary 3.8 is the smaller one up to some b."""
    found = compared((FEDAVG, SCAFFOLD), {**GIVEN, "K": 25}, "b=0:10")
    (change,) = found.crossings
    assert (change.before, change.after, change.at) == (0, 1, None)
    assert change.high == pytest.approx(brentq(lambda b: gap(25, b), 1e-6, 10), rel=2e-6)


def test_a_change_along_a_whole_axis_lies_between_neighbours():
    """The last K at which Scaffold-P's bound is the larger one, and the first at which it is not."""
    found = compared((FEDAVG, SCAFFOLD), {**GIVEN, "b": 4.0}, "K=1:1000")
    (change,) = found.crossings
    assert change.high == change.low + 1
    assert gap(change.low, 4.0) < 0 < gap(change.high, 4.0)


def test_a_map_has_a_change_per_column():
    """The border of the two-axis map lies on the root for every K."""
    found = compared((FEDAVG, SCAFFOLD), GIVEN, "K=1:1000:5", "b=0.01:10:7")
    assert found.values.shape == (2, 5, 7)
    assert [c.at for c in found.crossings] == list(found.axes[0].values)
    for change in found.crossings:
        root = brentq(lambda b, K=change.at: gap(K, b), 1e-6, 10)
        assert change.high == pytest.approx(root, rel=2e-6)


def test_two_papers_are_compared_by_giving_the_numbers_of_both():
    """Symbols m and S move together along one axis."""
    other = bounds.get("fedsum/corollary-g.1-case-1")
    mine = bounds.get("pfl/fedavg-partial")
    given = {"n": 10, "N": 10, "K": 5, "T": 1e6, "L": 1, "sigma_u": 1, "sigma": 1, "b": 0, "F_0": 1, "Delta_f": 1}
    found = compared((mine, other), given, "m,S=1:9:4")
    for i, m in enumerate(found.axes[0].values):
        own = {k: v for k, v in given.items() if k in mine.vocabulary}
        assert found.values[0, i, 0] == pytest.approx(mine.evaluate(**own, m=m).value)
        own = {k: v for k, v in given.items() if k in other.vocabulary}
        assert found.values[1, i, 0] == pytest.approx(other.evaluate(**own, S=m).value)


def test_an_order_is_never_called_smaller():
    """It is drawn with the constant 1, which is below everything here, and said to be known only up to a constant."""
    scaffold = bounds.get("pfl/scaffold")
    given = {"n": 10, "m": 5, "K": 10, "L": 1, "F_0": 1, "sigma_u": 0.3}
    found = compared((scaffold, PRIOR, FEDAVG), {**given, "sigma_v": 0.3, "b": 1}, "T=100:100000:4")
    decided = [s.order_only for s in found.statements]
    assert any(decided)
    order = decided.index(True)
    assert (found.values[order] > 0).all()
    assert order not in set(found.smallest.ravel())
    assert any("only up to a constant" in note for note in found.notes)


def test_fewer_than_two_known_bounds_decide_nothing():
    """One order and one bound: there is no smaller one to tell."""
    found = compared((FEDAVG, PRIOR), {**GIVEN, "b": 1, "K": 5})
    assert found.smallest[0, 0] == -1


def test_an_inadmissible_setting_has_no_value_and_says_why():
    """Theorem 3.7 at a step size that breaks its condition for large K."""
    theorem = bounds.get("pfl/theorem-3.7")
    found = compared((theorem, FEDAVG), {**GIVEN, "b": 1, "gamma": 0.005}, "K=1:100:5")
    assert math.isfinite(found.values[0, 0, 0])
    assert math.isnan(found.values[0, -1, 0])
    assert "gamma <= 1/(32*K*L)" in found.why[0]


def test_differences_are_noted():
    """Left sides and assumptions that are not those of the others."""
    notes = " ".join(compared((FEDAVG, SCAFFOLD), {**GIVEN, "b": 1, "K": 5}).notes)
    assert "by pfl/corollary-3.8, but not by all: bounded gradient dissimilarity" in notes
    assert "left sides" not in notes
    notes = " ".join(compared((FEDAVG, bounds.get("pfl/fedavg-partial")), {**GIVEN, "b": 1, "K": 5}).notes)
    assert "left sides" in notes


@pytest.mark.parametrize(
    ("axes", "given", "part"),
    [
        (("K=1",), {}, "is not of the form NAME=LOW:HIGH"),
        (("K=5:1",), {}, 'breaks "0 <= LOW < HIGH"'),
        (("K=1:x",), {}, "are numbers"),
        (("K=1.2:1.8",), {}, "no two whole numbers"),
        (("K=1:1e300:3",), {}, 'breaks "HIGH <= 2^53"'),
        (("K=1:10:1",), {}, "2 <= POINTS"),
        (("K=1:10", "K=1:5"), {}, "two axes"),
        (("K=1:10",), {"K": 3}, "K is given and stands on an axis"),
        (("kappa=1:10",), {}, "has a parameter 'kappa'"),
        (("B_0=1:10",), {"K": 3}, "no bound depends on B_0"),
        (("K=1:10", "b=1:2", "m=1:2"), {}, "3 axes"),
    ],
)
def test_bad_axes_are_named_in_one_line(axes, given, part):
    """One line that names what is wrong."""
    values = {k: v for k, v in {**GIVEN, "b": 1, **given}.items() if not any(a.startswith(f"{k}=") for a in axes)}
    with pytest.raises(InputError) as caught:
        compared((FEDAVG, SCAFFOLD), {**values, **given}, *axes)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_right_side_with_quantities_of_a_run_is_refused():
    """A lemma's right side has no value before there is a run."""
    for given in ({}, {"G_v": 1}):
        with pytest.raises(InputError, match="quantities of a run"):
            compared((FEDAVG, bounds.get("pfl/lemma-3.5")), {**GIVEN, "b": 1, "K": 5, **given})


def test_another_name_of_a_symbol_on_an_axis():
    """Lambda, and alpha, which stands for two symbols, move what they stand for."""
    keys = ("flame/theorem-2-unbiased", "flame/theorem-2-unbiased-wide-repaired")
    given = {"m": 50, "s": 10, "T": 1000, "L": 0.1, "gap": 1, "eps_max": 0, "rho": 2}
    for name, other in (("lambda", {"alpha": 0.01}), ("alpha", {"lambda": 5})):
        found = compared([bounds.get(key) for key in keys], {**given, **other}, f"{name}=0.01:0.02:3")
        for i, value in enumerate(found.axes[0].values):
            wanted = bounds.get(keys[0]).evaluate(**given, **other, **{name: float(value)}).value
            assert found.values[0, i, 0] == wanted
    with pytest.raises(InputError, match="alpha is given and stands on an axis"):
        compared([bounds.get(key) for key in keys], {**given, "lambda": 5, "alpha": [0.01, 0.02]}, "alpha=0.01:0.02")


def test_statements_of_one_key_are_refused():
    """The answer names statements by their keys, so that one of the two would be lost."""
    other = dataclasses.replace(SCAFFOLD, key=FEDAVG.key)
    with pytest.raises(InputError, match=r"two of the statements have the key 'pfl/corollary-3\.8'"):
        compared((FEDAVG, other), {**GIVEN, "b": 1, "K": 5})


def test_the_command_draws_and_prints(cli, tmp_path):
    """Text, JSON and a picture, for none, one and two axes."""
    words = ["pfl/corollary-3.8", "pfl/corollary-4.6", *(f"{k}={v}" for k, v in GIVEN.items())]
    assert cli("compare", *words, "K=5", "b=1").stdout.count("pfl/corollary-3.8") >= 1
    for axes in (["--over", "K=1:50:4"], ["--over", "K=1:50:4", "--over", "b=0.1:10:5"]):
        rest = ["b=1"] if len(axes) == 2 else []
        path = tmp_path / f"{len(axes)}.png"
        done = cli("compare", *words, *rest, *axes, "--out", path, "--json")
        fields = json.loads(done.stdout)
        assert done.returncode == 0
        assert path.stat().st_size > 10_000
        assert len(fields["values"]["pfl/corollary-3.8"]) == 4
        assert fields["changes"][0]["to"] == "pfl/corollary-4.6" if len(axes) == 4 else not fields["changes"]
    nothing = cli("compare", *words, "K=5", "b=1", "--out", tmp_path / "x.png")
    assert nothing.returncode == 2
    assert "nothing to draw" in nothing.stderr
    assert cli("compare", words[0], "K=5").returncode == 2


FEDSUM = {"N": 100, "K": 5, "L": 1, "sigma": 1, "Delta_f": 1, "F_0": 1, "tau_max": 20, "tau_avg": 8}


def test_equal_bounds_are_called_equal():
    """A statement and its repaired form have one bound where tau_max >= 1: neither is smaller, and nothing changes."""
    statements = [bounds.get("fedsum/theorem-4.1"), bounds.get("fedsum/theorem-4.1-repaired")]
    found = checks.compare(statements, FEDSUM, checks.read_axes(statements, ["T=1:1e6"]))
    assert set(found.smallest.ravel().tolist()) == {checks.TIE}
    assert found.crossings == ()
    assert "=" in comparison_text(found)
    fields = comparison_fields(found)
    assert set(fields["smallest"]) == {None}
    assert all(fields["tied"])


@pytest.mark.parametrize("shift", [1e-15, -1e-15, 1e-12])
def test_rounding_makes_no_change(shift, monkeypatch):
    """Values that differ by rounding only, now one way and now the other, are equal along the whole axis."""
    statements = [bounds.get("fedsum/theorem-4.1"), bounds.get("fedsum/theorem-4.1-repaired")]
    exact = curve.at

    def rounded(statement, given, **options):
        point = exact(statement, given, **options)
        sign = 1 if statement is statements[0] and int(given["T"]) % 2 else -1
        return dataclasses.replace(point, value=point.value * (1 + sign * shift))

    monkeypatch.setattr(curve, "at", rounded)
    found = checks.compare(statements, FEDSUM, checks.read_axes(statements, ["T=1:1000"]))
    assert found.crossings == ()


def test_curves_that_cross_on_a_point_of_the_axis_change_once(monkeypatch):
    """Equal at one point only: one change, from one letter to the other."""
    statements = [bounds.get("fedsum/theorem-4.1"), bounds.get("fedsum/theorem-4.1-repaired")]

    def line(statement, given, **_):
        return curve.CurvePoint(given["L"] if statement is statements[0] else 10.0, {}, (), None, ())

    monkeypatch.setattr(curve, "at", line)
    given = {name: value for name, value in FEDSUM.items() if name != "L"} | {"T": 10}
    found = checks.compare(statements, given, checks.read_axes(statements, ["L=1:100:3"]))
    assert found.smallest.ravel().tolist() == [0, checks.TIE, 1]
    ((low, high, before, after),) = [(c.low, c.high, c.before, c.after) for c in found.crossings]
    assert (before, after) == (0, 1)
    assert low <= 10.0 <= high * (1 + 1e-6)
