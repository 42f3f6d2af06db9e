"""Every statement that `verify` answers is drawn by default, and the figure says what it shows.

The quick set draws one statement of each kind at small settings, the long one all of them by default.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
import warnings

import numpy as np
import pytest

import bounds
from bounds.ledger.refuted import refuted
from ratecheck.cli import _run
from ratecheck.exponents import parameters as varied
from ratecheck.exponents.sweep import _measurable, affordable, drawn, rounds_of, survey
from ratecheck.settings.applicability import foreign
from ratecheck.settings.prepare import prepare
from ratecheck.settings.setting import Options
from ratecheck.statistics.exponent_fit import fit
from ratecheck.verification.entries import PAIR, ROUND, RUN
from ratecheck.verification.verify import verify
from ratecheck.views.drawing import panels, style
from ratecheck.views.drawing.fitting import fitted, window, wrapped

ANSWERED = [key for key in bounds.keys() if not bounds.get(key).order_only and not foreign(bounds.get(key))]
# What was refused, crashed, or is of a kind of its own, with the panels of its figure.
QUICK = {
    "simfbo/theorem-1": 2,
    "flame/theorem-2-biased": 3,
    "flame/theorem-2-unbiased-repaired": 3,
    "fedsum/theorem-4.1": 3,
    "fedsum/corollary-g.1-case-3": 2,
    "fedsum/lemma-c.1": 1,
    "fedsum/lemma-f.2": 1,
    "pfl/lemma-3.2": 2,
    "pfl/lemma-a.2": 1,
    "flame/theorem-1": 2,
    "simfbo/lemma-4": 6,
}
# One sweep of SimFBO's is enough here: each takes seconds.
VARIED = {"simfbo/theorem-1": ("gamma",)}
# These take as long as all others; Lemma 4 of SimFBO and Theorem 2 of FLAME, biased, are drawn in their place.
SLOW = ("simfbo/theorem-1", "flame/theorem-2-unbiased-repaired")
SMALL = {"T": 12.0, "K": 2.0, "tau_bar": 2.0}
_DEFAULT_SECONDS = 30.0


def surveyed(key, **given):
    """The survey of a statement as the command makes it, with small settings where they are asked for."""
    statement = bounds.get(key)
    known = {name: value for name, value in given.items() if name in statement.vocabulary}
    known = {name: value for name, value in known.items() if name not in statement.settings}
    problem, _, _ = prepare(statement, None, known)
    problem, values, name = prepare(statement, None, {**rounds_of(statement, problem, known), **known})
    runs = 4 if given else affordable(statement)
    options = Options(replicates=runs, traces=drawn(statement))
    return survey(statement, problem, values, options, vary=VARIED.get(key) if given else None, name=name)


def check_figure(figure):
    """No text is clipped, no panel is empty, no legend covers data or another text."""
    figure.canvas.draw()
    title = figure._suptitle.get_window_extent()
    legends = [axes.get_legend().get_window_extent() for axes in figure.axes]
    frames = [axes.get_window_extent() for axes in figure.axes]
    for box in [title, *legends]:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    for box, other in [*itertools.combinations([*legends, title], 2), *itertools.product(legends, frames)]:
        assert not box.padded(-1).overlaps(other.padded(-1))
    for axes in figure.axes:
        label = axes.yaxis.label.get_window_extent()
        assert figure.bbox.y0 <= label.y0
        assert label.y1 <= figure.bbox.y1
        shown = [line for line in axes.lines if np.isfinite(np.asarray(line.get_ydata(), dtype=float)).any()]
        assert len(shown) >= 2
        ticks = [text.get_text() for text in axes.get_xticklabels() if text.get_text()]
        assert len(set(ticks)) == len(ticks)


# --- The quick set ---


@pytest.fixture(
    scope="module", params=[pytest.param(key, marks=pytest.mark.long) if key in SLOW else key for key in QUICK]
)
def small(request):
    """A statement of each kind at small settings: key, survey and figure; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = surveyed(request.param, **SMALL)
        with style.styled():
            figure = panels.draw(found)
            figure.canvas.draw()
            yield request.param, found, figure


def test_a_figure_of_every_kind(small):
    """As many panels as there is to show, from an instance inside the statement's own conditions."""
    key, found, figure = small
    assert len(figure.axes) == QUICK[key]
    assert all(check.holds is not False for check in found.verdict.conditions)
    assert found.verdict.comparisons
    check_figure(figure)


def test_titles_say_what_the_audit_calls_false_and_only_what_was_used(small):
    """The repaired key is named; a setting of the run that nothing used is not in the title."""
    key, found, figure = small
    false = refuted(bounds.get(key))
    title = " ".join(figure.get_suptitle().split())
    assert ("ratecheck audit --step" in title) == (false is not None)
    assert false is None or false.what in title
    if false is not None and false.repaired:
        assert false.repaired in title
    vocabulary = found.verdict.statement.vocabulary
    if found.verdict.statement.algorithm is None and key != "fedsum/lemma-f.2":
        assert f"${vocabulary['T'].latex} = " not in title
    if key == "fedsum/lemma-f.2":
        assert "$S = " not in title


def test_bands_are_promised_where_they_are_drawn(small):
    """Of Monte Carlo whose replicates differ; exact numbers have none."""
    _, _, figure = small
    has_band = any(axes.collections for axes in figure.axes)
    named = any("band" in text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts())
    assert ("% bands" in figure.get_suptitle()) == has_band == named


def test_entries_are_what_verify_compares():
    """The least room over the entries of a claim is that of the verdict; both sides by hand where there is one."""
    for key, along in (("pfl/lemma-3.2", ROUND), ("simfbo/lemma-4", PAIR), ("fedsum/lemma-c.1", RUN)):
        found = surveyed(key, **SMALL)
        assert {course.along for course in found.courses} == {along}
        for comparison in found.verdict.comparisons:
            mine = [course for course in found.courses if course.claim == comparison.claim]
            pairs = [pair for course in mine for pair in zip(course.left, course.right, strict=True)]
            assert any(pair == pytest.approx((comparison.left, comparison.right), rel=1e-12) for pair in pairs)


@pytest.mark.parametrize("key", ["flame/theorem-2-biased-repaired", "flame/theorem-2-unbiased-repaired"])
def test_defaults_lie_inside_the_conditions(key):
    """The sliver that the repaired conditions leave has a default; numbers of the caller's are never changed."""
    statement = bounds.get(key)
    problem, values, _ = prepare(statement, None, {"T": 10.0})
    verdict = verify(statement, problem, values, Options(replicates=4))
    assert verdict.comparisons
    assert all(check.holds for check in verdict.conditions)
    problem, values, _ = prepare(statement, None, {"T": 10.0, "alpha": 0.1})
    assert values["alpha"] == 0.1
    assert not verify(statement, problem, values, Options(replicates=4)).comparisons


def test_step_sizes_follow_whichever_is_varied():
    """Of gamma_y = c_gamma_y*gamma_x and gamma_v = c_gamma_v*gamma_x nothing contradicts the one that is varied."""
    values = {"gamma_x": 1.0, "gamma_y": 2.0, "gamma_v": 3.0, "c_gamma_y": 2.0, "c_gamma_v": 3.0}
    values |= {"gamma": 2.0, "gamma_u": 1.0, "eta_u": 2.0, "gamma_v": 0.5, "eta_v": 4.0}
    for key in ("simfbo/theorem-1", "pfl/theorem-3.7"):
        statement = bounds.get(key)
        for product in statement.step_products:
            for name in product.names:
                held = varied.held_steps(statement, {}, values, name)
                for each in statement.step_products:
                    assert len(each.names & {*held, name}) < 3
                assert name not in held


def test_the_delay_is_ringed_where_the_title_has_it():
    """The panel's participation is one of its own, which it says; the ring stands at the setting's tau_max."""
    statement = bounds.get("fedsum/theorem-d.1")
    problem, values, name = prepare(statement, None, {"N": 4.0, "S": 2.0, "T": 48.0, "K": 2.0})
    found = survey(statement, problem, values, vary=("tau",), name=name)
    (sweep,) = found.sweeps
    assert sweep.at == found.verdict.values["tau_max"]
    with style.styled():
        figure = panels.draw(found)
        texts = [axes.get_legend().get_title().get_text() for axes in figure.axes]
        assert any("another participation" in text for text in texts)


# --- Titles, outliers, constants ---


@pytest.mark.parametrize("length", [1, pytest.param(40, marks=pytest.mark.long), 400])
def test_titles_of_any_length_fit(length):
    """A long name, a word without spaces, many settings and long formulas."""
    with style.styled():
        figure = style.new_figure(6.4, 4.0)
        lines = ["word " * length, "x" * length, ", ".join(["$\\gamma_{u} = 1.5\\cdot 10^{-7}$ (given)"] * length)]
        text, size = fitted(figure, lines, 0.95 * figure.bbox.width, 11.0)
        drawn_text = figure.suptitle(text, fontsize=size)
        assert drawn_text.get_window_extent().width <= figure.bbox.width
        assert text.count("\\gamma") == length


def test_mathematics_is_never_broken():
    """A line is broken at spaces outside of dollars only."""
    pieces = wrapped("$a = b + c$, $d = e$ (given)", 12.0, len)
    assert pieces == ["$a = b + c$,", "$d = e$", "(given)"]


def test_outliers_do_not_set_the_axis():
    """One value far off is cut and reported, laws and two curves far apart are not."""
    x = np.arange(1.0, 9.0)
    law, far = 1 / x, 1e9 / x
    for curves in ((law,), (law, far), (x**-4,), (10.0 ** (-3 * x),)):
        found = window(*curves)
        assert (found.below, found.above) == (False, False)
    spoilt = far.copy()
    spoilt[3] = 1e40
    found = window(law, spoilt)
    assert (found.below, found.above) == (False, True)
    assert found.high == pytest.approx(1e9)
    spoilt[3] = math.inf
    assert window(law, spoilt).high == pytest.approx(1e9)
    assert window(np.zeros(3)) is None


def test_an_outlier_is_marked_at_the_edge():
    """Its value stands in the legend."""
    found = surveyed("pfl/theorem-3.7", n=4.0, m=3.0, K=2.0, T=12.0)
    sweep = found.sweeps[-1]
    bound = sweep.bound.copy()
    bound[1] = 1e60
    spoilt = dataclasses.replace(found, sweeps=(dataclasses.replace(sweep, bound=bound),), rounds=None)
    with style.styled():
        figure = panels.draw(spoilt)
        (axes,) = figure.axes
        assert axes.get_ylim()[1] < 1e6
        assert any("bound beyond the axis: $10^{60}$" in text.get_text() for text in axes.get_legend().get_texts())
        check_figure(figure)


def test_what_has_no_number_is_said():
    """Zeros, infinities and NaN in the curves over rounds are left out, and how many."""
    found = surveyed("pfl/theorem-3.7", n=4.0, m=3.0, K=2.0, T=12.0)
    metric = found.rounds.metric.copy()
    metric[2:4] = math.nan
    spoilt = dataclasses.replace(found, rounds=dataclasses.replace(found.rounds, metric=metric), sweeps=())
    with style.styled(), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = panels.draw(spoilt)
        figure.canvas.draw()
        texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        assert any(f"none at 2 of {len(metric)} points" in text for text in texts)


def test_constant_numbers_get_no_exponent():
    """Values that agree to rounding, or to what they may be off by; a slow law still has one."""
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert fit(x, np.full(4, 3.0)).constant
    assert fit(x, 3.0 + 1e-13 * x).constant
    assert fit(x, 3.0 + 1e-3 * x, rounding=np.full(4, 4e-3)).constant
    assert not fit(x, 3.0 + 1e-3 * x).constant
    assert panels.interval(fit(x, np.full(4, 3.0))) == "none: constant up to rounding"
    assert panels.interval(fit(x[:2], 1 / x[:2])).endswith("(two points: no interval)")


def test_a_confidence_bound_is_no_rounding():
    """Means over participations that differ are not called constant because few were drawn."""
    found = surveyed("fedsum/corollary-g.1-case-3", **SMALL)
    sweep = next(each for each in found.sweeps if each.parameter == "S")
    assert np.ptp(sweep.measured) > 0.1 * np.max(sweep.measured)
    assert not sweep.fit.constant


# --- All statements ---


@pytest.mark.long
@pytest.mark.parametrize("key", ANSWERED)
def test_every_statement_is_drawn_by_default(key, tmp_path, monkeypatch, capsys):
    """The command with default arguments: exit code 0, a figure, nothing clipped, in CPU time less than 30 s."""
    monkeypatch.chdir(tmp_path)
    figures = []
    original = panels.draw

    def draw(found):
        figures.append(original(found))
        return figures[-1]

    monkeypatch.setattr("ratecheck.views.drawing.plots.draw", draw)
    start = time.process_time()
    assert _run(["plot", key]) == 0
    assert time.process_time() - start < _DEFAULT_SECONDS
    assert (tmp_path / f"{key.replace('/', '-')}.png").stat().st_size > 10_000
    assert "Warning" not in capsys.readouterr().err
    check_figure(figures[0])
    assert _measurable(bounds.get(key)) or figures[0].axes


# --- How many rounds ---


@pytest.mark.parametrize(
    ("key", "rounds"),
    [
        ("pfl/theorem-3.7", {}),
        ("fedsum/theorem-d.1", {}),
        ("fedsum/theorem-e.1", {"T": 100.0}),
        ("flame/theorem-2-unbiased-repaired", {"T": 100.0}),
        ("flame/theorem-2-biased", {}),
        ("simfbo/theorem-1", {"T": 100.0}),
    ],
)
def test_a_figure_has_fewer_rounds_where_they_cost_much(key, rounds):
    """Second moments of a large state, bilevel methods; what nobody follows exactly keeps its rounds."""
    statement = bounds.get(key)
    problem, _, _ = prepare(statement, None, {})
    assert rounds_of(statement, problem, {}) == rounds
    assert rounds_of(statement, problem, {"T": 7.0}) == {}
