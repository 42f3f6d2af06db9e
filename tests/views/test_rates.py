"""Rate cards as text, as data and as pictures, on a card made by hand."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from fake_card import BASE, GAP, X, card, curves

import ratecheck as rc
from ratecheck.commands.exit_codes import of_card
from ratecheck.exponents.curves import Curves
from ratecheck.exponents.finding import CellFinding
from ratecheck.exponents.local_steps import LocalSteps
from ratecheck.plain import plain
from ratecheck.verification import instance as instances
from ratecheck.views.checks.rates import rates_fields, rates_text
from ratecheck.views.drawing import style
from ratecheck.views.drawing.rates import local_steps_figure, rates_figure


def test_the_table_has_both_exponents_and_the_verdict():
    """Three lines per term under the symbols, two decimals."""
    lines = rates_text(card()).splitlines()
    assert lines[0] == (
        "pfl/theorem-3.7   FedAvg-P, partial participation   1 EXCEEDED, 1 LOOSE, 1 NOT REACHED, 1 ATTAINED"
    )
    assert lines[2].split() == ["K", "T"]
    gap, drift = (next(k for k, line in enumerate(lines) if line.startswith(name)) for name in ("initial", "drift"))
    assert lines[gap].split()[2:] == ["term", "-1.00", "-1.00"]
    assert lines[gap + 1].split() == ["worst", "-1.00", "-1.25"]
    assert lines[gap + 2].split() == ["ATTAINED", "LOOSE"]
    assert lines[drift].split()[2:] == ["term", "-", "0.00"]
    assert lines[drift + 2].split() == ["REACHED", "EXCEEDED"]
    assert max(map(len, [*lines[:9], *lines[-3:]])) <= 120


def test_what_stands_behind_each_row():
    """Constants, ranges, the hard instance; every verdict that is not ATTAINED with its reason; how to read it."""
    text = rates_text(card())
    _, _, gap, drift, notes = text.split("\n\n")
    assert "left/right 0.141 ... 0.25" in gap  # T^-1.25 over 4/T at T=10; 1 over 4
    assert "ranges  K 10 ... 1000, T 10 ... 1000" in gap
    assert "hardest equal curvatures, one coordinate of u, curvature 0.5, slopes +0.25, -0.25, start 1.5" in gap
    assert "LOOSE in T: T^0.25; because of a reason" in gap
    assert "NOT REACHED in K: at most 7% of the bound" in drift
    assert "at T=5000: left 3, right 2; equal curvatures" in drift
    assert "'verify' says VIOLATED" in drift
    assert [line.split(":")[0] for line in notes.splitlines()] == ["term", "ATTAINED", "LOOSE"]


def test_narrow_terminals(monkeypatch):
    """At 80 columns nothing is wider after the words are wrapped; the tables themselves are not touched."""
    monkeypatch.setenv("COLUMNS", "80")
    table = rates_text(card()).split("\n\n")[1]
    assert max(map(len, table.splitlines())) <= 80


def test_the_data_have_everything():
    """Sides, fits with intervals, setting and instance; the violating one reads back as an instance."""
    data = json.loads(json.dumps(plain(rates_fields(card(), curves(card())))))
    first, loose, missing, exceeded = data["cells"]
    assert (data["exceeded"], data["rows"], data["parameters"]) == (True, ["initial gap", "drift: b"], ["K", "T"])
    assert first["predicted"]["exponent"] == pytest.approx(-1)
    assert first["constant"] == pytest.approx(0.25)
    assert first["setting"] == {k: v for k, v in BASE.items() if k != "K"}
    assert len({len(first[k]) for k in ("values", "term_values", "bound", "left")}) == 1
    assert first["hardest"]["curvatures"] == [0.5, 0.5]
    assert (loose["verdict"], loose["loose"]) == ("LOOSE", 0.25)
    assert (missing["verdict"], missing["measured"], missing["setting"]) == ("NOT REACHED", None, None)
    assert exceeded["violation"]["verdict"] == "VIOLATED"
    again = instances.read(exceeded["violation"]["instance"])
    assert again.statement.key == "pfl/theorem-3.7"
    assert again.problem.n == 4
    assert [each["parameter"] for each in data["curves"]] == ["K", "T", "T"]


def test_a_bound_without_a_constant_is_said_to_be_one():
    """Where left over right is no number there is no constant."""
    made = card(exceeded=False)
    worst = replace(made.cells[0].worst, bound=np.full(len(X), np.nan))
    made = replace(made, cells=(replace(made.cells[0], worst=worst),))
    assert "left/right known only up to a constant" in rates_text(made)
    result = rc.RatesResult(made)
    assert result.to_dict()["cells"][0]["constant"] is None


def test_the_result():
    """EXCEEDED is seen; the instance is the one with the largest left over right."""
    bad, good = rc.RatesResult(card()), rc.RatesResult(card(exceeded=False))
    assert (bad.exceeded, good.exceeded, good.instance) == (True, False, None)
    assert bad.instance.problem.n == 4
    assert repr(bad) == "<RatesResult pfl/theorem-3.7: 1 EXCEEDED, 1 LOOSE, 1 NOT REACHED, 1 ATTAINED>"


@pytest.mark.parametrize(
    ("findings", "code"),
    [((), 0), ((CellFinding.OPEN,), 3), ((CellFinding.EXCEEDED,), 1), ((CellFinding.OPEN, CellFinding.EXCEEDED), 1)],
)
def test_exit_codes(findings, code):
    """What passes the bound and is confirmed by nothing is open, unless something else is confirmed."""
    made = card(exceeded=False)
    more = tuple(replace(made.cells[0], finding=each) for each in findings)
    made = replace(made, cells=made.cells + more)
    assert of_card(made) == code
    assert (made.exceeded, made.open) == (code == 1, code == 3)


# --- The picture ---


@pytest.fixture(scope="module")
def figure():
    """Two terms by two parameters, drawn."""
    made = card()
    with style.styled():
        drawn = rates_figure(made, curves(made))
        drawn.canvas.draw()
        yield drawn


def test_panels_are_terms_by_parameters(figure):
    """Each with its verdict, both exponents and the shaded regime; an empty one says why."""
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["ATTAINED", "LOOSE by $T^{0.25}$", "NOT REACHED", "EXCEEDED"]
    texts = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert {"$-1.00$", "$-1.25$"} <= set(texts[1])
    assert "at most 7%" in " ".join(texts[2])
    for axes in (figure.axes[0], figure.axes[1], figure.axes[3]):
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        shaded = axes.patches[0].get_extents().transformed(axes.transData.inverted())
        assert (shaded.x0, shaded.x1) == (pytest.approx(10), pytest.approx(1000))
        assert axes.get_xlim()[0] <= 1
        assert axes.get_xlim()[1] >= 5000


def test_slopes_are_those_of_the_triangles(figure):
    """The legs of each triangle have the ratio of the exponent, in decades; what is constant has none."""
    for axes, slopes in ((figure.axes[0], (-1, -1)), (figure.axes[1], (-1, -1.25)), (figure.axes[3], (0.5,))):
        triangles = [patch for patch in axes.patches if len(patch.get_xy()) == 4]
        legs = [np.ptp(np.log10(patch.get_xy()), axis=0) for patch in triangles]
        assert [leg[1] / leg[0] for leg in legs] == pytest.approx([abs(slope) for slope in slopes])


def test_nothing_is_flat_or_clipped(figure):
    """A decade and a half at least; every text inside the figure; no two titles over one another."""
    shown = [axes for axes in figure.axes if axes.axison]
    for axes in shown:
        bottom, top = axes.get_ylim()
        assert np.log10(top / bottom) >= 1.5
    legend = figure.legends[0].get_window_extent()
    boxes = [text.get_window_extent() for axes in figure.axes for text in (*axes.texts, axes.title)]
    for box in [legend, *boxes]:
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.y1
    for first, second in itertools.combinations([legend, *(axes.title.get_window_extent() for axes in figure.axes)], 2):
        assert not first.overlaps(second)
    assert figure.get_size_inches()[0] == 7


def test_curves_differ_without_colour(figure):
    """Bound, worst case and typical instance by line or marker."""
    looks = [(line.get_linestyle(), line.get_marker()) for line in figure.axes[0].lines if line.get_alpha() is None]
    assert len(looks) == len(set(looks)) == 3


def test_a_typical_instance_that_no_engine_computes_is_said_to_be_missing():
    """The curve is left out, and the legend says so."""
    made = card(exceeded=False)
    without = [
        Curves(each.cell, each.values, each.term, each.bound, each.worst, np.full(len(each.values), np.nan))
        for each in curves(made)
    ]
    drawn = rates_figure(made, without)
    labels = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert any("none was computed" in label for label in labels)
    assert len(drawn.axes[0].lines) == 3


def test_what_local_steps_buy_is_one_panel_per_case():
    """With the exponents of both sides at either end."""
    K = np.unique(np.round(np.geomspace(1, 1e4, 13)))
    statement = card().statement
    cases = [
        LocalSteps(statement, "all", {}, K, K**-0.5, 0.1 * K**-0.5),
        LocalSteps(statement, "some", {}, K, np.ones(len(K)), 0.1 * np.ones(len(K))),
    ]
    drawn = local_steps_figure(cases)
    numbers = [[text.get_text() for text in axes.texts] for axes in drawn.axes]
    assert numbers == [["$-0.50$"] * 4, ["$0.00$"] * 4]
    assert [axes.get_title().splitlines()[-1] for axes in drawn.axes] == ["all", "some"]


def test_findings_and_rows_are_in_order():
    """The card's own order, whatever the cells' findings."""
    assert card().rows[0] == GAP
    assert card().cell(GAP, "T").finding is CellFinding.LOOSE
