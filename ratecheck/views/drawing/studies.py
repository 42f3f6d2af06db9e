"""The figures of a study: the metric over rounds on a logarithmic scale, one panel per figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.studies.claims import Findings, metric
from ratecheck.studies.execute import StudyResult
from ratecheck.studies.instance import models_per_round
from ratecheck.studies.study import TOGETHER, Curve, Figure, HorizontalAxis, Study
from ratecheck.views.drawing.fitting import fit_panels
from ratecheck.views.drawing.style import looks, new_figure, save, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Rounds are averaged in bins, so that noise does not paint over the curves.
_BINS = 150
_MARKERS = 8
_BAND = 0.95
_COLUMNS = 2
_SUFFIXES = (".png", ".svg", ".pdf")


def draw(findings: Findings, outcome: StudyResult, folder: Path, *, together: bool = True) -> list[Path]:
    """One PNG, SVG and PDF per figure, and with ``together`` one of each with all of them; returns the paths.

    Lines are means over replicates, bands pointwise 95% intervals of that mean; where a claim is about the
    steady state, a black line marks the window taken for it, at its mean, and dots carry that level on. Raises
    `InputError` where a file cannot be written.
    """
    figures = findings.study.figures
    sheets: dict[str, tuple[Figure, ...]] = {figure.name: (figure,) for figure in figures}
    if together and len(figures) > 1:
        sheets[TOGETHER] = figures
    paths = []
    with styled():
        for name, panels in sheets.items():
            columns = min(len(panels), _COLUMNS)
            rows = math.ceil(len(panels) / columns)
            sheet = new_figure(4.0 * columns, 3.6 * rows)
            axes = sheet.subplots(rows, columns, squeeze=False, sharey=len(panels) > 1)
            for ax in axes.flat[len(panels) :]:
                ax.set_visible(False)
            for ax, figure in zip(axes.flat, panels, strict=False):
                _panel(ax, figure, findings, outcome)
            for ax in axes[:, 0]:
                ax.set_ylabel(findings.study.metric)
            fit_panels(sheet)
            for suffix in _SUFFIXES:
                paths.append(folder / f"{name}{suffix}")
                save(sheet, paths[-1])
    return paths


def check_labels(study: Study) -> None:
    """Raise `InputError` for a title or symbol that cannot be typeset: better now than after the study has run."""
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    for figure in study.figures:
        for text in (study.metric, figure.title, *(curve.label for curve in figure.curves)):
            try:
                parser.parse(text)
            except ValueError as error:
                reason = str(error).strip().splitlines()[-1]
                raise InputError(
                    f"{study.path}: figure {figure.name!r}: {text!r} cannot be typeset: {reason}"
                ) from None


def _panel(ax: Axes, figure: Figure, findings: Findings, outcome: StudyResult) -> None:
    units = [models_per_round(curve) if figure.axis is HorizontalAxis.COMMUNICATION else 1.0 for curve in figure.curves]
    last = max(unit * curve.T for unit, curve in zip(units, figure.curves, strict=True))
    steady = any(claim.about_steady_state and figure.name in claim.figures for claim in findings.study.claims)
    for k, (look, unit, curve) in enumerate(zip(_looks(figure, findings.study), units, figure.curves, strict=False)):
        # Markers of curves that lie on each other stand side by side.
        look["markevery"] = (k / (_MARKERS * len(figure.curves)), 1 / _MARKERS)
        _curve(ax, curve, look, unit, last if steady else None, findings, outcome)
    quick = " (quick)" if findings.study.quick else ""
    ax.set_yscale("log")
    ax.locator_params(axis="x", nbins=5)
    ax.set(title=f"{figure.name}: {figure.title}{quick}", xlabel=_XLABEL[figure.axis])
    ax.title.set_fontsize("medium")
    # Below the panel, where it covers nothing.
    ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


_XLABEL = {HorizontalAxis.ROUNDS: "rounds $t$", HorizontalAxis.COMMUNICATION: "communication (full-sized models)"}


def _looks(figure: Figure, study: Study) -> list[dict[str, Any]]:
    """One look per curve: where methods are compared, that of the method in every figure of the study."""
    methods = list(dict.fromkeys(c.algorithm for f in study.figures if f.vary == "algorithm" for c in f.curves))
    by_method = dict(zip(methods, looks(), strict=False))
    if figure.vary == "algorithm":
        return [dict(by_method[curve.algorithm]) for curve in figure.curves]
    return [look for look, _ in zip(looks(), figure.curves, strict=False)]


def _curve(
    ax: Axes,
    curve: Curve,
    look: dict[str, Any],
    unit: float,
    last: float | None,
    findings: Findings,
    outcome: StudyResult,
) -> None:
    values, summary = metric(findings.study, outcome.records[curve.title]), findings.summaries[curve.title]
    if summary.diverged:
        ax.plot([], [], label=f"{curve.label} (diverged)", **look)
        return
    rounds, mean, radius = binned(values)
    rounds = unit * rounds
    ax.plot(rounds, mean, label=curve.label, **look)
    # A logarithmic axis has no place for a lower limit below zero.
    ax.fill_between(
        rounds, np.maximum(mean - radius, mean / 10), mean + radius, color=look["color"], alpha=0.2, linewidth=0
    )
    if last is None:
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
    error = means.std(axis=1, ddof=1) / math.sqrt(replicates)
    return (starts + stops - 1) / 2, means.mean(axis=1), float(stdtrit(replicates - 1, 0.5 + _BAND / 2)) * error
