"""The picture of a rate card: per term and parameter the bound, the worst case found and a typical instance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.symbols import Vocabulary
from ratecheck.aliases import Array
from ratecheck.exponents.card import Card, RateCell
from ratecheck.exponents.curves import Curves
from ratecheck.exponents.finding import CellFinding
from ratecheck.exponents.local_steps import LocalSteps
from ratecheck.exponents.regimes import TermRow
from ratecheck.statistics.exponent_fit import fit
from ratecheck.views.checks.rates import overall, two
from ratecheck.views.drawing import style
from ratecheck.views.drawing.fitting import fitted, letter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches: the width of a page, the height of a row of panels, and of what stands above them.
_WIDTH, _HEIGHT, _ABOVE = 7.0, 1.75, 0.9
# One column is as wide as a telephone, where it is read.
_COLUMN, _ABOVE_COLUMN = 3.6, 1.6
_SMALL, _TITLE = 7.0, 9.0
# The height of a figure of one row, and over how many points at either end an exponent is taken.
_LONE, _ENDS = 2.9, 5
# No axis is shorter than this, in decades, so that what is constant looks constant.
_SHORTEST = 1.5
# A triangle's run, as a share of the regime in decades, and where it begins.
_RUN, _BEGIN = 0.3, 0.45
# Values that differ by this share of them are the same.
_SAME = 1e-9
# The share of the axis between both sides that a triangle with its number needs.
_BETWEEN = 0.24
# Room below and above the curves, in shares of the axis.
_ROOM = 0.12
TYPICAL = "typical instance: eight curvatures from L/10 to L"


def rates_figure(card: Card, curves: Sequence[Curves]) -> Figure:
    """Rows are terms, columns parameters; what varies and everything else is that of each cell's regime."""
    with style.styled():
        rows, columns = card.rows, card.parameters
        lone = len(columns) == 1
        width, above = (_COLUMN, _ABOVE_COLUMN) if lone else (_WIDTH, _ABOVE)
        figure = style.new_figure(width, _HEIGHT * len(rows) + above)
        axes = figure.subplots(len(rows), len(columns), squeeze=False)
        by_place = {(each.cell.row, each.cell.parameter): each for each in curves}
        latex = card.statement.vocabulary
        for i, row in enumerate(rows):
            for j, name in enumerate(columns):
                panel, cell = axes[i, j], card.cell(row, name)
                found = by_place.get((row, name))
                if found is not None:
                    _draw(panel, found, f"${letter(latex[name])}$")
                else:
                    _empty(panel, "" if cell is None else f"{cell.finding.value}: {cell.reason}")
                heading = [] if cell is None else [_verdict(cell, latex)]
                if lone:
                    heading[:0] = [" ".join(_lines(row, latex))]
                if heading:
                    panel.set_title("\n".join(heading), fontsize=_SMALL, pad=3)
            if not lone:
                _label(figure, axes[i, 0], row, latex)
        _legend(figure, card, curves, columns=1 if lone else 3)
        return figure


def local_steps_figure(cases: Sequence[LocalSteps]) -> Figure:
    """Both sides against the number of local steps, one panel per case, with their exponents at either end."""
    with style.styled():
        figure = style.new_figure(_WIDTH, _LONE)
        panels = figure.subplots(1, len(cases), squeeze=False, sharey=True)[0]
        looks = list(_looks().items())[:2]
        widest = 0.8 * figure.bbox.width / len(cases)
        for axes, case in zip(panels, cases, strict=True):
            for (name, look), side in zip(looks, (case.bound, case.worst), strict=True):
                axes.loglog(case.values, side, label=name, **look)
            symbol = letter(case.statement.vocabulary[case.statement.vocabulary.run["local_steps"]])
            axes.set_xlabel(f"${symbol}$", fontsize=_SMALL, labelpad=1)
            axes.tick_params(labelsize=_SMALL - 1, pad=1.5, length=2)
            axes.minorticks_off()
            text, size = fitted(figure, [case.statement.key, case.label], widest, _SMALL + 1)
            axes.set_title(text, fontsize=size)
        _ranged(panels[0], np.concatenate([side for case in cases for side in (case.bound, case.worst)]), 0.0)
        for axes, case in zip(panels, cases, strict=True):
            _ticks(axes)
            for side, above, (_, look) in ((case.bound, True, looks[0]), (case.worst, False, looks[1])):
                for half in (slice(None, _ENDS), slice(-_ENDS, None)):
                    slope = fit(case.values[half], side[half]).exponent
                    _triangle(axes, case.values[half], side[half], slope, look["color"], above=above)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=_SMALL)
        return figure


def _looks() -> dict[str, dict[str, Any]]:
    """Bound, worst case, typical instance."""
    bound, worst, typical, *_ = (look | {"markersize": 3.0, "linewidth": 1.3} for look, _ in zip(style.looks(), "abc"))  # noqa: B905
    return {
        "bound": bound | {"marker": ""},
        "worst case found": worst | {"linestyle": "-"},
        TYPICAL: typical,
    }


def _draw(axes: Axes, found: Curves, name: str) -> None:
    looks = dict(zip(("bound", "worst", "typical"), _looks().values(), strict=True))
    regime = found.cell.regime
    assert regime is not None
    axes.axvspan(regime.values[0], regime.values[-1], color="0.92", zorder=0)
    axes.loglog(found.values, found.term, color=looks["bound"]["color"], alpha=0.3, linewidth=4.5)
    for side in ("bound", "worst", "typical"):
        values = getattr(found, side)
        if np.isfinite(values).any():
            axes.loglog(found.values, values, **looks[side])
    violation = found.cell.violation
    if violation is not None and violation.left > 0:
        axes.loglog([violation.at], [violation.left], marker="*", color="black", markersize=9, linestyle="none")
    _limits(axes, found)
    worst = found.cell.worst
    if worst is not None:
        first, last = worst.values[0], worst.values[-1]
        inside = (found.values >= first * (1 - _SAME)) & (found.values <= last * (1 + _SAME))
        x = found.values[inside]
        _triangle(axes, x, found.bound[inside], worst.predicted.exponent, looks["bound"]["color"], above=True)
        sides = found.worst[inside], found.typical[inside]
        # Between both sides where there is room, else below everything.
        between = bool(np.min(np.log10(found.bound[inside] / sides[0])) > _BETWEEN * _decades(axes))
        lowest = sides[0] if between else np.fmin(*sides)
        if np.isfinite(lowest).all():
            _triangle(axes, x, lowest, worst.measured.exponent, looks["worst"]["color"], above=between)
    axes.set_xlabel(name, fontsize=_SMALL, labelpad=1)
    axes.tick_params(labelsize=_SMALL - 1, pad=1.5, length=2)
    axes.minorticks_off()


def _decades(axes: Axes) -> float:
    bottom, top = axes.get_ylim()
    return math.log10(top / bottom)


def _limits(axes: Axes, found: Curves) -> None:
    """All that is drawn, with room for the numbers, over no less than some decades."""
    sides = np.concatenate([found.term, found.bound, found.worst, found.typical])
    if found.cell.violation is not None:
        sides = np.append(sides, found.cell.violation.left)
    _ranged(axes, sides, _SHORTEST)
    _ticks(axes)


def _ranged(axes: Axes, sides: Array, shortest: float) -> None:
    logs = np.log10(sides[np.isfinite(sides) & (sides > 0)])
    low, high = float(logs.min()), float(logs.max())
    missing = max(0.0, shortest - (high - low)) / 2
    room = 2 * _ROOM * (high - low + 2 * missing)
    axes.set_ylim(10.0 ** (low - missing - room), 10.0 ** (high + missing + room))


def _ticks(axes: Axes) -> None:
    """Powers of ten, few of them."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        first, last = (math.log10(limit) for limit in limits)
        axis.set_major_locator(FixedLocator([10.0**power for power in _powers(first, last)]))
        axis.set_major_formatter(FuncFormatter(_power))


def _power(value: float, _: object = None) -> str:
    power = round(math.log10(value))
    return str(10**power) if 0 <= power <= 2 else f"$10^{{{power}}}$"


def _powers(low: float, high: float) -> list[int]:
    """A few powers of ten inside of an axis, equally far apart."""
    first, last = math.ceil(low), math.floor(high)
    step = max(1, math.ceil((last - first) / 4))
    return list(range(first, last + 1, step))


def _triangle(axes: Axes, x: Array, y: Array, exponent: float, colour: str, *, above: bool) -> None:
    """The slope of a curve as a right triangle beside it, with its number."""
    width = math.log10(x[-1] / x[0])
    begin = math.log10(x[0]) + _BEGIN * width
    ends = np.array([begin, begin + _RUN * width])
    decades = _decades(axes)
    offset = (0.05 if above else -0.05) * decades
    first = float(np.interp(begin, np.log10(x), np.log10(y))) + offset
    rise = exponent * (ends[1] - ends[0])
    level = max(first, first + rise) if above else min(first, first + rise)
    corners = np.array([[ends[0], first], [ends[1], first + rise], [ends[0 if (rise > 0) == above else 1], level]])
    if abs(rise) > 0.02 * decades:
        axes.fill(*(10.0**corners.T), facecolor=colour, alpha=0.35, edgecolor=colour, linewidth=0.6)
    place = (10.0 ** float(ends.mean()), 10.0 ** (level + 0.25 * offset))
    text = f"${two(exponent)}$"
    axes.text(*place, text, color=colour, fontsize=_SMALL, ha="center", va="bottom" if above else "top")


def _verdict(cell: RateCell, vocabulary: Vocabulary) -> str:
    if cell.finding is CellFinding.LOOSE and cell.loose is not None:
        return f"LOOSE by ${letter(vocabulary[cell.parameter])}^{{{two(cell.loose)}}}$"
    return cell.finding.value


def _empty(axes: Axes, text: str) -> None:
    """A panel without curves says why."""
    axes.set_axis_off()
    figure = axes.figure
    reason = text.partition(": ")[2]
    widest = 0.8 * figure.bbox.width / max(1, axes.get_gridspec().ncols + 1)  # type: ignore[union-attr]
    wrapped, size = fitted(figure, [reason], widest, _SMALL - 1)  # type: ignore[arg-type]
    axes.text(0.5, 0.5, wrapped, transform=axes.transAxes, ha="center", va="center", fontsize=size, color="0.35")


def _lines(row: TermRow, vocabulary: Vocabulary) -> list[str]:
    """The row's term, and the constant that makes it large."""
    return [row.term] + ([] if row.scale is None else [f"by ${letter(vocabulary[row.scale])}$"])


def _label(figure: Figure, axes: Axes, row: TermRow, vocabulary: Vocabulary) -> None:
    """What a row is about, to the left of its panels."""
    text, size = fitted(figure, _lines(row, vocabulary), 0.85 * _HEIGHT * figure.dpi, _SMALL + 1)
    axes.text(
        -0.42, 0.5, text, transform=axes.transAxes, rotation=90, ha="center", va="center", fontsize=size,
        fontweight="bold",
    )  # fmt: skip


def _legend(figure: Figure, card: Card, curves: Sequence[Curves], *, columns: int) -> None:
    """One for all panels, above them, under the title."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    looks = _looks()
    if not any(np.isfinite(each.typical).any() for each in curves):
        looks[f"{TYPICAL} (none was computed)"] = looks.pop(TYPICAL)
    handles: list[Any] = [Line2D([], [], label=name, **look) for name, look in looks.items()]
    handles.insert(1, Line2D([], [], color=looks["bound"]["color"], alpha=0.3, linewidth=4.5, label="its term"))
    handles.append(Patch(color="0.92", label="where the term is the bound"))
    if any(each.cell.violation is not None for each in curves):
        handles.append(Line2D([], [], marker="*", color="black", linestyle="none", label="passes the bound"))
    title = [f"{card.statement.key}: {card.statement.title}", overall(card)]
    text, size = fitted(figure, title, 0.92 * figure.bbox.width, _TITLE, bold=True)
    figure.legend(
        handles=handles, loc="outside upper center", ncols=columns, fontsize=_SMALL, handlelength=2.5, title=text,
        title_fontproperties={"weight": "bold", "size": size},
    )  # fmt: skip
