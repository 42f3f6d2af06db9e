"""A sweep as text and as a figure: one row per setting."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.views.drawing import style
from ratecheck.views.width import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]

# Curves that colours and line styles tell apart.
_CURVES = 7
_NUMBERS = (int, float)


def sweep_text(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """A table of these columns."""
    return table([tuple(columns), *(tuple(_cell(row.get(name)) for name in columns) for row in rows)])


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def sweep_figure(title: str, rows: Sequence[Row], varied: Sequence[str], shown: str) -> Figure:
    """The column ``shown`` against the first of the ``varied`` names, one curve for every setting of the others.

    Points that are violated, or where a condition is broken, are marked. Raises `InputError` where the column has no
    numbers.
    """
    drawn = [row for row in rows if _number(row.get(varied[0])) and _number(row.get(shown))]
    if not drawn:
        raise InputError(f"nothing to draw: no setting has numbers {varied[0]} and {shown}")
    curves: dict[str, list[Row]] = {}
    for row in drawn:
        curves.setdefault(", ".join(f"{name}={_cell(row[name])}" for name in varied[1:]), []).append(row)
    if len(curves) > _CURVES:
        raise InputError(f"{len(curves)} curves are too many to be told apart, {_CURVES} the most")
    with style.styled():
        figure = style.new_figure(6.4, 4.2)
        axes = figure.subplots()
        for (label, curve), line in zip(curves.items(), style.looks(), strict=False):
            ordered = sorted(curve, key=lambda row: row[varied[0]])
            axes.plot([row[varied[0]] for row in ordered], [row[shown] for row in ordered], label=label, **line)
        marked = {
            "violated": (style.WRONG, [row for row in drawn if row.get("verdict") == Outcome.VIOLATED.value]),
            "a condition is broken": ("#666666", [row for row in drawn if row.get("applicable") is False]),
        }
        for label, (colour, points) in marked.items():
            if points:
                look: dict[str, Any] = {"color": colour, "markersize": 9, "markeredgewidth": 2, "label": label}
                axes.plot([row[varied[0]] for row in points], [row[shown] for row in points], "x", **look)
        for axis, name in (("x", varied[0]), ("y", shown)):
            if _logarithmic([row[name] for row in drawn]):
                axes.set(**{f"{axis}scale": "log"})
        left_out = f", {len(rows) - len(drawn)} of {len(rows)} settings without a number" if drawn != list(rows) else ""
        axes.set(xlabel=varied[0], ylabel=shown, title=f"{title}{left_out}")
        if len(curves) > 1 or any(points for _, points in marked.values()):
            axes.legend()
    return figure


def _number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool) and math.isfinite(value)


def _logarithmic(values: Sequence[float]) -> bool:
    """Whether positive numbers span more than a factor of ten."""
    return min(values) > 0 and max(values) > 10 * min(values)
