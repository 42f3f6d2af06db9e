"""The figure of a proof: the statement on the left, and to the right of it what it rests on."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ratecheck.auditing.graph import Flaw, Grade, Node, ProofGraph
from ratecheck.views.drawing import style
from ratecheck.views.drawing.fitting import set_title
from ratecheck.views.proofs.graph import headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour, line style: told apart in grey by the line, and by the words inside of the boxes.
_LOOKS: Mapping[Grade, tuple[str, Any]] = {
    Grade.PROVED: (style.COLOURS[2], "-"),
    Grade.SOLVER: (style.COLOURS[0], "-"),
    Grade.ASSUMED: (style.COLOURS[5], "-"),
    Grade.CHECKED: (style.COLOURS[4], "-"),
    Grade.OPEN: ("#777777", "--"),
    Grade.FALSE: (style.COLOURS[1], ":"),
}
# Edge and ground of a box that does not stand; the line tells them apart in grey.
_FLAWED: Mapping[Flaw, tuple[str, Any, str]] = {
    Flaw.ITSELF: (style.COLOURS[1], "-", "#F6D5C2"),
    Flaw.ARGUMENT: (style.COLOURS[3], "-.", "#F5E4ED"),
    Flaw.PREMISE: (style.COLOURS[6], ":", "#E8E8E8"),
}
# In inches.
_COLUMN, _BOX, _ROW, _HEIGHT = 3.5, 2.7, 0.62, 0.46
_LETTERS = 34
# How often the order within columns is improved.
_SWEEPS = 8


def graph_figure(graph: ProofGraph) -> Figure:
    """The graph in columns, by the longest way from the statement; arrows lead from premises to what they give."""
    columns = _columns(graph)
    width = _COLUMN * (len(columns) - 1) + _BOX + 0.4
    rows = max(len(column) for column in columns)
    with style.styled():
        figure = style.new_figure(max(width, 6.0), rows * _ROW + 1.3)
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.grid(visible=False)
        places = {
            node: (_COLUMN * c, _ROW * (rows - 1 - r - (rows - len(column)) / 2))
            for c, column in enumerate(columns)
            for r, node in enumerate(column)
        }
        _draw_links(axes, graph, places)
        for node, (x, y) in places.items():
            _draw_box(axes, graph.nodes[node], graph.flaws.get(node), x, y)
        axes.set_xlim(-0.1, max(width, 6.0) - 0.1)
        axes.set_ylim(-_ROW, rows * _ROW)
        _legend(axes, graph)
        set_title(figure, textwrap.shorten(headline(graph), 130), 10.0, ha="left", x=0.01)
    return figure


def _columns(graph: ProofGraph) -> list[list[str]]:
    """The nodes by the longest way from the statement, ordered so that few arrows cross."""
    depth: dict[str, int] = {graph.root: 0}

    def visit(node: str, above: tuple[str, ...]) -> None:
        for premise in (p for link in graph.above(node) for p in link.premises):
            if premise not in above and depth.get(premise, -1) < depth[node] + 1:
                depth[premise] = depth[node] + 1
                visit(premise, (*above, node))

    visit(graph.root, ())
    columns: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for node, far in depth.items():
        columns[far].append(node)
    neighbours: dict[str, list[str]] = {node: [] for node in depth}
    for link in graph.links:
        for premise in link.premises:
            neighbours[premise].append(link.conclusion)
            neighbours[link.conclusion].append(premise)
    for _ in range(_SWEEPS):
        place = {node: r - len(column) / 2 for column in columns for r, node in enumerate(column)}
        for column in columns:
            column.sort(key=lambda node: _mean([place[each] for each in neighbours[node]], place[node]))
    return columns


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _draw_links(axes: Axes, graph: ProofGraph, places: Mapping[str, tuple[float, float]]) -> None:
    for link in graph.links:
        colour, line = _LOOKS[link.grade]
        end = places[link.conclusion]
        for premise in link.premises:
            begin = places[premise]
            axes.annotate(
                "",
                xy=(end[0] + _BOX, end[1]),
                xytext=begin,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": colour,
                    "linestyle": line,
                    "linewidth": 1.2,
                    "shrinkA": 0,
                    "shrinkB": 0,
                    "connectionstyle": "arc3,rad=0.0",
                },
                zorder=1,
            )


def _draw_box(axes: Axes, node: Node, flaw: Flaw | None, x: float, y: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    colour, line, ground = (*_LOOKS[node.own], "white") if flaw is None else _FLAWED[flaw]
    axes.add_patch(
        FancyBboxPatch(
            (x, y - _HEIGHT / 2),
            _BOX,
            _HEIGHT,
            boxstyle=f"round,pad=0,rounding_size={0.2 if node.is_fact else 0.04}",
            edgecolor=colour,
            linestyle=line,
            facecolor=ground,
            linewidth=1.6,
            zorder=2,
        )
    )
    said = node.tally or "by what it follows from"
    second = said if flaw is None else f"{flaw.value}: {node.tally}" if flaw is Flaw.ITSELF else flaw.value
    for text, up, size, weight in ((node.label, 0.08, 8.5, "bold"), (second, -0.1, 7.0, "normal")):
        axes.text(
            x + 0.08,
            y + up,
            textwrap.shorten(text, _LETTERS if weight == "bold" else _LETTERS + 14, placeholder="..."),
            fontsize=size,
            fontweight=weight,
            va="center",
            parse_math=False,
            zorder=3,
        )


def _legend(axes: Axes, graph: ProofGraph) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    flaws = graph.flaws
    used = {node.own for name, node in graph.nodes.items() if name not in flaws} | {link.grade for link in graph.links}
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=_LOOKS[grade][0], linestyle=_LOOKS[grade][1], label=grade.value)
        for grade in Grade
        if grade in used
    ]
    for flaw in Flaw:
        if flaw in flaws.values():
            edge, line, ground = _FLAWED[flaw]
            handles.append(Patch(edgecolor=edge, facecolor=ground, linestyle=line, label=f"box: {flaw.value}"))
    axes.legend(handles=handles, loc="lower left", ncols=min(len(handles), 4), fontsize=8)
