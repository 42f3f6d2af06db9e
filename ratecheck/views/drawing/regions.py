"""The figure of an admissible region: what conditions leave of two step sizes."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bounds.symbols import Vocabulary
from ratecheck.stepsizes.admissible import StepSizes
from ratecheck.stepsizes.nearest import Nearest
from ratecheck.stepsizes.region import Region
from ratecheck.views.drawing import style
from ratecheck.views.drawing.fitting import letter, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Beyond the region, so that its boundary is seen to be one; in parts of its width and height.
_MARGIN = 0.12
_SIZE = (8.4, 5.6)
_TITLE_WIDTH, _TITLE_SIZE = 100, 10.0
# Longer conditions are named only.
_SHORT = 44
_FILL = "#56B4E9"
_POINTS = {"optimum": ("*", 15), "prescribed": ("D", 8), "default": ("d", 8), "given": ("X", 10), "nearest": ("o", 8)}
_LABELS = {
    "optimum": "minimises the bound",
    "prescribed": "prescribed",
    "default": "default",
    "given": "given, not admissible",
    "nearest": "nearest admissible",
}


def marks(answer: StepSizes, axes: tuple[str, str]) -> dict[str, dict[str, float]]:
    """The points of a feasible answer that have both coordinates: the optimum and what the statement sets."""
    points = {
        "optimum": answer.optimal,
        "prescribed": answer.prescribed,
        "default": answer.defaults | answer.prescribed,
    }
    found = {}
    for name, point in points.items():
        complete = dict(point)
        # Whichever way round a product comes.
        for product in (*answer.statement.step_products, *answer.statement.step_products):
            product.fill(complete)
        if {*axes} <= complete.keys():
            found[name] = {axis: complete[axis] for axis in axes}
    if found.get("default") == found.get("prescribed"):
        found.pop("default", None)
    return found


def region_figure(
    answer: StepSizes, region: Region, points: Mapping[str, Mapping[str, float]], closest: Nearest | None
) -> Figure:
    """The region with the points named in ``points``, as a picture.

    ``answer`` is the one whose step sizes are free; ``closest`` is what would do for given ones that would
    not.
    """
    with style.styled():
        figure = style.new_figure(*_SIZE)
        _draw(figure.add_subplot(), answer, region, points)
        set_title(figure, _title(answer, closest), _TITLE_SIZE, ha="left", x=0.01)
    return figure


def _draw(axes: Axes, answer: StepSizes, region: Region, points: Mapping[str, Mapping[str, float]]) -> None:
    vocabulary = answer.statement.vocabulary
    axes.set(xscale="log", yscale="log")
    xs, ys = zip(*region.vertices, strict=True)
    if max(ys) > min(ys) or max(xs) > min(xs):
        axes.fill(xs, ys, color=_FILL, alpha=0.35, linewidth=0, label="admissible")
    for look, (because, edges) in zip(style.looks(), _by_reason(region).items(), strict=False):
        plain = {key: look[key] for key in ("color", "linestyle")}
        for k, edge in enumerate(edges):
            label = _wrapped(because, answer) if k == 0 else None
            axes.plot(*zip(*edge, strict=True), label=label, zorder=3, **plain)
    for name, point in points.items():
        marker, size = _POINTS[name]
        colour = style.COLOURS[1] if name == "given" else "black"
        axes.plot(
            point[region.axes[0]], point[region.axes[1]], marker, color=colour, markersize=size, zorder=4,
            markerfacecolor="none" if name == "nearest" else colour, markeredgewidth=1.5, label=_LABELS[name],
        )  # fmt: skip
    if {"given", "nearest"} <= points.keys():
        ends = [[points[name][axis] for name in ("given", "nearest")] for axis in region.axes]
        axes.plot(*ends, color="0.35", linewidth=1.0, linestyle=(0, (1, 2)), zorder=2)
    _limits(axes, region, points)
    axes.set_xlabel(_axis(region.axes[0], vocabulary))
    axes.set_ylabel(_axis(region.axes[1], vocabulary))
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8.5, borderaxespad=0.0, handlelength=3.0)


def _by_reason(region: Region) -> dict[tuple[str, ...], list[tuple[tuple[float, float], ...]]]:
    reasons: dict[tuple[str, ...], list[tuple[tuple[float, float], ...]]] = {}
    for edge in region.edges:
        if edge.because:
            reasons.setdefault(edge.because, []).append(edge.points)
    return reasons


def _limits(axes: Axes, region: Region, points: Mapping[str, Mapping[str, float]]) -> None:
    """The frame, with a margin where the region ends inside and none where it goes on."""
    ends = [(min(side), max(side)) for side in zip(*region.vertices, strict=True)]
    cut_off = {place for edge in region.edges if not edge.because for place in _frame_side(edge.points, ends)}
    limits = []
    for k, name in enumerate(region.axes):
        shown = [*ends[k], *(point[name] for point in points.values())]
        low, high = min(shown), max(shown)
        room = max(_MARGIN * math.log(high / low), 0.1)
        stops = ((k, 0) in cut_off and low == ends[k][0], (k, 1) in cut_off and high == ends[k][1])
        limits.append((low * math.exp(-room * (not stops[0])), high * math.exp(room * (not stops[1]))))
    axes.set(xlim=limits[0], ylim=limits[1])


def _frame_side(points: tuple[tuple[float, float], ...], ends: list[tuple[float, float]]) -> list[tuple[int, int]]:
    """The sides of the frame on which an edge without conditions lies, as (axis, low or high)."""
    found = []
    for k, side in itertools.product((0, 1), (0, 1)):
        if all(math.isclose(point[k], ends[k][side], rel_tol=1e-9) for point in points):
            found.append((k, side))
    return found


def _axis(name: str, vocabulary: Vocabulary) -> str:
    return f"${letter(vocabulary[name])}$   ({name})"


def _wrapped(because: tuple[str, ...], answer: StepSizes) -> str:
    """The conditions, by name where the formula is long."""
    texts = {condition.name: condition.text for condition in answer.statement.hypotheses}
    lines = []
    for name in because:
        text = texts.get(name, name)
        lines.append(text if len(text) <= _SHORT else f"condition '{name}'")
    return "\n".join(lines)


def _title(answer: StepSizes, closest: Nearest | None) -> str:
    vocabulary = answer.statement.vocabulary
    used = {name for condition in answer.statement.hypotheses for name in condition.symbols}
    values = ", ".join(f"{name}={value:.6g}" for name, value in answer.values.items() if name in used)
    fixed = [f"{rule.symbol}={rule.value:.6g}" for rule in answer.problem.fixed if rule.symbol in vocabulary]
    lines = [f"{answer.statement.key}: {answer.statement.title}"]
    lines += textwrap.wrap(f"at {values}", _TITLE_WIDTH) if values else []
    lines += (
        [f"given {', '.join(fixed)}; every other step size is free"] if fixed else ["every other step size is free"]
    )
    if closest is not None and not closest.steps:
        lines.append("the given step sizes have no admissible neighbour")
    return "\n".join(lines)
