"""The figures of a study: the metric over rounds on a logarithmic scale, and the bounds of the theorems.

Measured curves have markers and bands, theory is lines without. Where a figure's curves are repeated at admissible step
sizes, they have a panel of their own in the same colours, dashed; where bounds lie decades away from the curves, they
have one too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.studies.claims import Findings, metric, rounding
from ratecheck.studies.estimate import scaled
from ratecheck.studies.execute import StudyResult
from ratecheck.studies.instance import models_per_round
from ratecheck.studies.study import TOGETHER, Curve, Figure, HorizontalAxis, Study
from ratecheck.studies.theory import CurveTheory
from ratecheck.views.drawing.fitting import fit_panels, lay_out
from ratecheck.views.drawing.style import looks, new_figure, save, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure


# Rounds are averaged in bins, so that noise does not paint over the curves.
_BINS = 150
_MARKERS = 8
_BAND = 0.95
_COLUMNS = 2
# Sheets of more panels have twice the columns.
_MANY = 16
# Inches of a panel with its title and its axis.
_HEIGHT = 3.3
# Bounds that lie further from the curves of their panel, as a factor, have a panel of their own.
_FAR = 1e3
# One mark per statement, at both ends of its lines.
_ENDS = ("|", "x", "+", "1", "2", "3", "4")
_DASHES = (2.5, 2.0)
# What marks the lines of theory; size of the legend's text, and the inches that a line of it takes.
_THEORY = "theory"
_LEGEND, _LINE = 8.0, 0.185
# Letters of the legend's text that two columns have room for.
_LETTERS = 42
_SUFFIXES = (".png", ".svg", ".pdf")


def draw(findings: Findings, outcome: StudyResult, folder: Path, *, together: bool = True) -> list[Path]:
    """One PNG, SVG and PDF per figure, and with ``together`` one of each with all of them; returns the paths.

    Of a smoke test there is one PNG, with all figures: more would take longer than all the rest of it.

    Lines are means over replicates, bands pointwise 95% intervals of that mean; where a claim is about the
    steady state, a black line marks the window taken for it, at its mean, and dots carry that level on. Raises
    `InputError` where a file cannot be written.
    """
    paths = []
    with styled():
        for name, sheet in sheets(findings, outcome, together=together):
            # Laid out once for all formats: that takes longer than writing any of them.
            lay_out(sheet)
            sheet.set_layout_engine("none")
            for suffix in _SUFFIXES[:1] if findings.study.quick else _SUFFIXES:
                paths.append(folder / f"{name}{suffix}")
                save(sheet, paths[-1])
    return paths


def sheets(
    findings: Findings, outcome: StudyResult, *, together: bool = True
) -> Iterator[tuple[str, MatplotlibFigure]]:
    """Every figure with its name, as Matplotlib has it, and last with ``together`` one that has all of them.

    Of a smoke test that one alone, where there is one.
    """
    panels: dict[str, list[_Panel]] = {}
    for figure in findings.study.figures:
        panels.setdefault(figure.repeats or figure.name, []).extend(_panels(figure, findings))
    if together and len(findings.study.figures) > 1:
        all_of_them = {TOGETHER: [panel for some in panels.values() for panel in some]}
        panels = all_of_them if findings.study.quick else panels | all_of_them
    with styled():
        for name, some in panels.items():
            columns = (_COLUMNS if len(some) <= _MANY else 2 * _COLUMNS) if name == TOGETHER else 1
            yield name, _sheet(some, columns, findings, outcome)


@dataclass(frozen=True)
class _Panel:
    """Curves of a figure and lines of theory, or with ``apart`` the lines alone, beside the means that they bound."""

    figure: Figure
    lines: tuple[CurveTheory, ...]
    apart: bool = False


def _panels(figure: Figure, findings: Findings) -> list[_Panel]:
    """The panel of a figure, and one more for bounds that would flatten it."""
    own = {f"{curve.runs} {curve.name}" for curve in figure.curves}
    lines = tuple(each for each in findings.theory if each.curve.title in own and _drawable(_height(each)))
    summaries = [findings.summaries[curve.title] for curve in figure.curves]
    levels = [level for each in summaries for level in (float(each.means.mean()), each.steady.value)]
    seen = [level for level in levels if _drawable(level)]
    low, high = (min(seen) / _FAR, max(seen) * _FAR) if seen else (0.0, math.inf)
    close = tuple(each for each in lines if low <= _height(each) <= high)
    far = tuple(each for each in lines if each not in close)
    return [_Panel(figure, close), *([_Panel(figure, far, apart=True)] if far else [])]


def _height(each: CurveTheory) -> float:
    return math.nan if each.metric_bound is None else each.metric_bound


def _drawable(value: float) -> bool:
    return math.isfinite(value) and value > 0


def _sheet(panels: Sequence[_Panel], columns: int, findings: Findings, outcome: StudyResult) -> MatplotlibFigure:
    columns = min(len(panels), columns)
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    # Below each row of panels one of legends.
    heights = [height for row in rows for height in (_HEIGHT, max(map(_legend_height, row)))]
    sheet = new_figure(4.0 * columns, sum(heights))
    axes = sheet.subplots(len(heights), columns, squeeze=False, height_ratios=heights)
    # Panels of one metric share their axis.
    shared: dict[str, Axes] = {}
    for k, row in enumerate(rows):
        for ax, place in axes[2 * k : 2 * k + 2, len(row) :].T:
            ax.set_visible(False)
            place.set_visible(False)
        for column, panel in enumerate(row):
            ax, place = axes[2 * k : 2 * k + 2, column]
            if not panel.apart:
                shared.setdefault(panel.figure.metric, ax)
                # Before anything is drawn: what is there already would not count in the common limits.
                if shared[panel.figure.metric] is not ax:
                    ax.sharey(shared[panel.figure.metric])
            _panel(ax, place, panel, findings, outcome)
            if column == 0 or panel.figure.metric != row[column - 1].figure.metric:
                ax.set_ylabel(panel.figure.metric)
            elif not panel.apart:
                ax.tick_params(labelleft=False)
    fit_panels(sheet, placed=not findings.study.quick)
    return sheet


def check_labels(study: Study) -> None:
    """Raise `InputError` for a title or symbol that cannot be typeset: better now than after the study has run."""
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    for figure in study.figures:
        for text in (figure.metric, figure.title, *(curve.label for curve in figure.curves)):
            try:
                parser.parse(text)
            except ValueError as error:
                reason = str(error).strip().splitlines()[-1]
                raise InputError(
                    f"{study.path}: figure {figure.name!r}: {text!r} cannot be typeset: {reason}"
                ) from None


def _panel(ax: Axes, place: Axes, panel: _Panel, findings: Findings, outcome: StudyResult) -> None:
    figure = panel.figure
    units = [models_per_round(curve) if figure.axis is HorizontalAxis.COMMUNICATION else 1.0 for curve in figure.curves]
    last = max(unit * curve.T for unit, curve in zip(units, figure.curves, strict=True))
    steady = any(claim.about_steady_state and figure.name in claim.figures for claim in findings.study.claims)
    looks = _looks(figure, findings.study)
    for k, (look, unit, curve) in enumerate(zip(looks, units, figure.curves, strict=True)):
        # Markers of curves that lie on each other stand side by side.
        look["markevery"] = (k / (_MARKERS * len(figure.curves)), 1 / _MARKERS)
        if panel.apart:
            _mean(ax, curve, look, unit, findings)
        else:
            _curve(ax, curve, look, unit, last if steady else None, findings, outcome)
    for line in ax.get_lines():
        # A curve that is 0 throughout has no place for markers on a logarithmic axis, and matplotlib needs one.
        if not (np.asarray(line.get_ydata(), dtype=float) > 0).any():
            line.set_markevery(None)
    ends = {f"{curve.runs} {curve.name}": unit * curve.T for unit, curve in zip(units, figure.curves, strict=True)}
    colours = {f"{c.runs} {c.name}": look["color"] for look, c in zip(looks, figure.curves, strict=True)}
    _bounds(ax, panel.lines, ends, colours, findings)
    quick = " (quick)" if findings.study.quick else ""
    apart = ", bounds" if panel.apart else ""
    ax.set_yscale("log")
    ax.locator_params(axis="x", nbins=5)
    name = figure.repeats or figure.name
    # A figure without a title of its own has that of what it varies.
    shown = f"{findings.study.title}, by {name}" if figure.title == name else f"{name}: {figure.title}"
    ax.set(title=f"{shown}{apart}{quick}", xlabel=_XLABEL[figure.axis])
    ax.title.set_fontsize("medium")
    _legend(place, ax)


def _legend(place: Axes, ax: Axes) -> None:
    """In a place of its own below the panel: what is measured in two columns, then what is bounded, line by line."""
    place.axis("off")
    entries = list(zip(*ax.get_legend_handles_labels(), strict=True))
    bounds = {str(line.get_label()) for line in ax.get_lines() if line.get_gid() == _THEORY}
    look: dict[str, Any] = {
        "fontsize": _LEGEND,
        "borderaxespad": 0.0,
        "borderpad": 0.0,
        "handlelength": 2.8,
        "labelspacing": 0.4,
    }
    for wanted, where in ((False, "upper center"), (True, "lower center")):
        part = [entry for entry in entries if (entry[1] in bounds) is wanted]
        if part:
            handles, labels = zip(*part, strict=True)
            look |= {"ncols": 1 if wanted else _columns(labels), "loc": where}
            place.add_artist(place.legend(handles, labels, **look))


def _columns(labels: Sequence[str]) -> int:
    """Two where the longest labels of both fit beside each other; what is between dollars is about half as long."""
    lengths = [len(label) - label.count("$") * len(label) // 4 for label in labels]
    half = math.ceil(len(lengths) / 2)
    return 2 if max(lengths[:half]) + max(lengths[half:], default=0) <= _LETTERS else 1


def _legend_height(panel: _Panel) -> float:
    """In inches."""
    lines = len({(each.statement.key, each.admissible) for each in panel.lines})
    labels = [_mean_label(curve) if panel.apart else curve.label for curve in panel.figure.curves]
    return _LINE * (math.ceil(len(labels) / _columns(labels)) + lines) + 0.05


def _bounds(
    ax: Axes, lines: Sequence[CurveTheory], ends: dict[str, float], colours: dict[str, str], findings: Findings
) -> None:
    """Each bound as a line over the rounds that it is about, in the colour of its curve; dashed: not admissible."""
    study = findings.study
    of_figures = (statement for figure in study.figures for statement in figure.theorems or ())
    theorems = {statement.key: statement for statement in (*study.theorems, *of_figures)}
    marks = dict(zip(theorems, cycle(_ENDS), strict=False))
    several = len({statement.source.paper for statement in theorems.values()}) > 1
    groups: dict[tuple[str, bool], list[CurveTheory]] = {}
    for each in lines:
        groups.setdefault((each.statement.key, each.admissible), []).append(each)
    for (key, admissible), group in groups.items():
        look: dict[str, Any] = {"linewidth": 1.1, "marker": marks[key], "markersize": 5.0}
        # Bounds that agree show both colours where they are dashed.
        styles = ["-" if admissible else (2.25 * k, _DASHES) for k in range(len(lines))]
        for each in group:
            line = [0.0, ends[each.curve.title]], [_height(each)] * 2
            style = styles[lines.index(each)]
            ax.plot(*line, color=colours[each.curve.title], linestyle=style, zorder=1.5, **look)
        own = {colours[each.curve.title] for each in group}
        source = group[0].statement.source
        name = f"{source.number} ({key.partition('/')[0]})" if several else source.number
        said = "bound of the mean" if admissible else "not admissible"
        said += ", violated" if any(map(findings.exceeded, group)) else ""
        colour = own.pop() if len(own) == 1 else "dimgrey"
        ax.plot([], [], color=colour, linestyle=styles[0], label=f"{name}, {said}", gid=_THEORY, **look)


def _mean(ax: Axes, curve: Curve, look: dict[str, Any], unit: float, findings: Findings) -> None:
    """The mean over all rounds, which the bounds are about, as a point at the last."""
    summary = findings.summaries[curve.title]
    if not summary.diverged:
        point = {"linestyle": "none", "marker": look["marker"], "color": look["color"]}
        ax.plot([unit * curve.T], [summary.means.mean()], label=_mean_label(curve), **point)


def _mean_label(curve: Curve) -> str:
    return f"{curve.label}, mean over rounds"


_XLABEL = {HorizontalAxis.ROUNDS: "rounds $t$", HorizontalAxis.COMMUNICATION: "communication (full-sized models)"}


# A curve at step sizes that stand for several of those that are varied.
_OTHER = {"color": "#000000", "marker": "X", "markersize": 4.5}


def _looks(figure: Figure, study: Study) -> list[dict[str, Any]]:
    """One look per curve: where methods are compared, that of the method in every figure of the study."""
    methods = list(dict.fromkeys(c.algorithm for f in study.figures if f.vary == "algorithm" for c in f.curves))
    by_method = dict(zip(methods, looks(), strict=False))
    if figure.vary == "algorithm":
        found = [dict(by_method[curve.algorithm]) for curve in figure.curves]
    else:
        # What is repeated at other step sizes has the colour of what it repeats.
        values = [curve.value for curve in study.figure(figure.repeats or figure.name).curves]
        by_value = dict(zip(values, looks(), strict=False))
        found = [dict(by_value.get(curve.value, _OTHER)) for curve in figure.curves]
    for look in found:
        # Dashes tell what is admissible; colours and markers tell the curves apart.
        look["linestyle"] = "--" if figure.repeats else "-"
        look["markerfacecolor"] = "white" if figure.repeats else look["color"]
    return found


def _curve(
    ax: Axes,
    curve: Curve,
    look: dict[str, Any],
    unit: float,
    last: float | None,
    findings: Findings,
    outcome: StudyResult,
) -> None:
    values = metric(findings.study, curve, outcome.records[curve.title])
    summary = findings.summaries[curve.title]
    if summary.diverged:
        ax.plot([], [], label=f"{curve.label} (diverged)", **look)
        return
    rounds, mean, radius = binned(values)
    # What is nothing but rounding is not drawn.
    mean = np.where(mean > binned(rounding(findings.study, curve, outcome.records[curve.title]))[1], mean, np.nan)
    rounds = unit * rounds
    note = f" (rounding from {rounds[np.isnan(mean)][0]:.0f} on)" if np.isnan(mean).any() else ""
    ax.plot(rounds, mean, label=curve.label + note, **look)
    # A logarithmic axis has no place for a lower limit below zero.
    ax.fill_between(
        rounds, np.maximum(mean - radius, mean / 10), mean + radius, color=look["color"], alpha=0.2, linewidth=0
    )
    if last is None:
        return
    if summary.lost:
        return
    first, end = unit * summary.first_round, unit * summary.T
    ax.hlines(summary.steady.value, first, end, color="black", linewidth=0.8, zorder=3)
    # Curves end in different rounds; the dots carry their levels to the edge, where they can be compared.
    ax.hlines(summary.steady.value, end, last, color=look["color"], linewidth=0.9, linestyle=":")


def binned(values: Array) -> tuple[Array, Array, Array]:
    """Middle of each bin of rounds, mean over bin and replicates, and the radius of the 95% interval of that mean.

    The first round has a bin of its own, so that the curve begins at its start.
    """
    replicates, T = values.shape
    edges = np.unique(np.concatenate([[0, 1], np.linspace(1, T, min(T, _BINS)).astype(int)]))
    edges = edges[edges <= T]
    starts, stops = edges[:-1], edges[1:]
    means = np.stack([values[:, a:b].mean(axis=1) for a, b in zip(starts, stops, strict=True)])
    means, exponent = scaled(means.T)
    radius = float(stdtrit(replicates - 1, 0.5 + _BAND / 2)) * means.std(axis=0, ddof=1) / math.sqrt(replicates)
    with np.errstate(over="ignore"):
        return (starts + stops - 1) / 2, np.ldexp(means.mean(axis=0), exponent), np.ldexp(radius, exponent)
