"""Comparisons of bounds as text, JSON data and pictures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.statement import Statement
from ratecheck.complexity.compare import TIE, Axis, BoundComparison
from ratecheck.errors import InputError
from ratecheck.plain import picked
from ratecheck.views.drawing import style
from ratecheck.views.drawing.fitting import fit_panels
from ratecheck.views.numbers import number
from ratecheck.views.width import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Rows of the table along one axis, and columns and rows of the map of letters.
_ROWS, _MAP = 11, (33, 17)
_SHADE = 0.5


def comparison_text(found: BoundComparison) -> str:
    """A table of values, a map of letters for two axes, where the smallest bound changes, and what to know."""
    lines = [f"{_letter(k)}  {s.key}   {s.title}" for k, s in enumerate(found.statements)]
    if len(found.axes) == 2:
        lines += _map(found)
    else:
        lines.append(table(list(_rows(found))))
    lines += [f"change   {line}" for line in _changes(found)]
    lines += [f"no value {found.statements[k].key}: {reason}" for k, reason in found.why.items()]
    lines += [f"note     {note}" for note in found.notes]
    return "\n".join(lines)


def _letter(index: int) -> str:
    return {-1: "?", TIE: "="}.get(index) or chr(ord("A") + index)


def _rows(found: BoundComparison) -> Iterable[list[str]]:
    head = [found.axes[0].label] if found.axes else []
    yield [*head, *(_head(k, s) for k, s in enumerate(found.statements)), "smallest"]
    count = found.values.shape[1]
    for i in np.unique(np.linspace(0, count - 1, min(count, _ROWS)).round().astype(int)):
        place = [f"{found.axes[0].values[i]:.4g}"] if found.axes else []
        values = [number(None if math.isnan(v) else float(v)) for v in found.values[:, i, 0]]
        yield [*place, *values, _letter(int(found.smallest[i, 0]))]


def _head(index: int, statement: Statement) -> str:
    return f"{_letter(index)} (up to a constant)" if statement.order_only else _letter(index)


def _map(found: BoundComparison) -> list[str]:
    """The second axis upwards, the first to the right."""
    first, second = found.axes
    columns, rows = (
        np.unique(np.linspace(0, len(axis.values) - 1, min(len(axis.values), most)).round().astype(int))
        for axis, most in zip(found.axes, _MAP, strict=True)
    )
    labels = [f"{value:.4g}" for value in second.values[rows]]
    width = max(map(len, labels))
    what = "the letter of the smallest bound" + (", = for equal ones" if (found.smallest == TIE).any() else "")
    lines = [f"{second.label} upwards from {labels[0]}, {first.label} to the right: {what}"]
    for j, label in zip(reversed(rows), reversed(labels), strict=True):
        lines.append(f"{label:>{width}}  " + "".join(_letter(int(found.smallest[i, j])) for i in columns))
    low, high = (f"{first.values[k]:.4g}" for k in (0, -1))
    gap = " " * max(len(columns) - len(low) - len(high), 1)
    return [*lines, " " * (width + 2) + low + gap + high]


def _changes(found: BoundComparison) -> Iterable[str]:
    """One line per change along the last axis; for a map at every fourth value of the first, which draws its border."""
    if not found.axes:
        return
    last = found.axes[-1]
    kept = {None} if len(found.axes) == 1 else {float(value) for value in found.axes[0].values[::4]}
    for crossing in found.crossings:
        if crossing.at not in kept:
            continue
        where = f"at {last.label}={crossing.high:.6g}"
        if last.whole:
            where = f"between {last.label}={crossing.low:g} and {crossing.high:g}"
        other = "" if crossing.at is None else f"{found.axes[0].label}={crossing.at:.4g}: "
        yield f"{other}from {_letter(crossing.before)} to {_letter(crossing.after)} {where}"


def comparison_fields(found: BoundComparison) -> dict[str, Any]:
    """The comparison as JSON data: values by key, as a number, a list or a list of lists (first axis first)."""

    def shaped(values: Any) -> Any:
        return values[0, 0] if not found.axes else values[:, 0] if len(found.axes) == 1 else values

    return {
        "keys": [statement.key for statement in found.statements],
        "order_only": [statement.order_only for statement in found.statements],
        "axes": [picked(axis, "names", "values") for axis in found.axes],
        "values": {s.key: shaped(v) for s, v in zip(found.statements, found.values, strict=True)},
        "tied": shaped(found.smallest == TIE),
        "smallest": np.vectorize(lambda k: None if k < 0 else found.statements[k].key, otypes=[object])(
            shaped(found.smallest)
        ),
        "changes": [
            {
                "low": c.low,
                "high": c.high,
                "from": None if c.before < 0 else found.statements[c.before].key,
                "to": None if c.after < 0 else found.statements[c.after].key,
                "at": c.at,
            }
            for c in found.crossings
        ],
        "no_value": {found.statements[k].key: reason for k, reason in found.why.items()},
        "notes": found.notes,
    }


def comparison_figure(found: BoundComparison) -> Figure:
    """Curves for one axis or a map for two; raises `InputError` where there is no axis to draw along."""
    if not found.axes:
        raise InputError("nothing to draw at a single setting: give an axis, such as --over K=1:1000")
    with style.styled():
        figure = style.new_figure(7.2, 5.0)
        ax = figure.subplots()
        (_draw_curves if len(found.axes) == 1 else _draw_map)(figure, ax, found)
        given = "  ".join(f"{name}={value:g}" for name, value in found.given.items() if not isinstance(value, list))
        ax.set_title("which bound is smaller" + (f"\n{given}" if given else ""), fontsize="small")
        fit_panels(figure)
    return figure


def _scale(ax: Axes, which: str, axis: Axis) -> None:
    set_scale, set_label = getattr(ax, f"set_{which}scale"), getattr(ax, f"set_{which}label")
    if axis.values[0] > 0:
        set_scale("log")
    else:
        set_scale("symlog", linthresh=float(axis.values[1]))
    set_label(axis.label)


def _draw_curves(_: Figure, ax: Axes, found: BoundComparison) -> None:
    first = found.axes[0]
    for look, statement, values in zip(style.looks(), found.statements, found.values[:, :, 0], strict=False):
        label = statement.key + (" (up to a constant)" if statement.order_only else "")
        faint = {"alpha": 0.5, "linewidth": 1.2} if statement.order_only else {}
        ax.plot(first.values, values, label=label, markevery=max(1, len(values) // 8), **{**look, **faint})
    for crossing in found.crossings:
        ax.axvline(crossing.high, color="black", linewidth=0.8, linestyle=":")
    _scale(ax, "x", first)
    ax.set_yscale("log")
    ax.set_ylabel("right side")
    ax.legend(fontsize="small")


def _draw_map(_: Figure, ax: Axes, found: BoundComparison) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    first, second = found.axes
    _scale(ax, "x", first)
    _scale(ax, "y", second)
    colours = ["#BBBBBB", "#DDDDDD", *itertools.islice(itertools.cycle(style.COLOURS), len(found.statements))]
    ax.pcolormesh(
        first.values, second.values, found.smallest.T, cmap=ListedColormap(colours), vmin=-2.5,
        vmax=len(found.statements) - 0.5, shading="nearest", alpha=_SHADE, linewidth=0, rasterized=True,
    )  # fmt: skip
    ax.set_xlim(first.values[0], first.values[-1])
    ax.set_ylim(second.values[0], second.values[-1])
    known = [k for k, statement in enumerate(found.statements) if not statement.order_only]
    if len(known) == 2:
        _ratio_lines(ax, found, *known)
    handles = [
        Patch(color=colours[k + 2], alpha=_SHADE, label=f"{_letter(k)}  {statement.key}")
        for k, statement in enumerate(found.statements)
        if k in known
    ]
    if (found.smallest == -1).any():
        handles.append(Patch(color=colours[1], alpha=_SHADE, label="not both have a value"))
    if (found.smallest == TIE).any():
        handles.append(Patch(color=colours[0], alpha=_SHADE, label="equal"))
    ax.legend(handles=handles, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    ax.grid(visible=False)


def _ratio_lines(ax: Axes, found: BoundComparison, one: int, other: int) -> None:
    """Lines of equal ratio of the two bounds, thick where they are equal."""
    from matplotlib.ticker import FuncFormatter

    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.log10(found.values[one] / found.values[other]).T
    finite = ratio[np.isfinite(ratio)]
    if not finite.size:
        return
    levels = [level for level in (-3, -2, -1, math.log10(0.5), 0, math.log10(2), 1, 2, 3)
              if finite.min() < level < finite.max()]  # fmt: skip
    if not levels:
        return
    lines = ax.contour(
        found.axes[0].values, found.axes[1].values, ratio, levels=levels, colors="black",
        linewidths=[2.0 if level == 0 else 0.8 for level in levels], linestyles="solid",
    )  # fmt: skip
    name = f"{_letter(one)}/{_letter(other)}"
    ax.clabel(lines, fmt=FuncFormatter(lambda x, _: f"{name}={10**x:.3g}"), fontsize=7, inline_spacing=2)
