"""Figures as SVG inside of a page."""

from __future__ import annotations

import html
import io
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ratecheck.auditing.graph import ProofGraph
from ratecheck.views.drawing import style
from ratecheck.views.drawing.graph import graph_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_svg(figure: Figure) -> str:
    """The figure as the text of an SVG file without a date, so that the same figure is the same text."""
    data = io.StringIO()
    with style.styled():
        figure.savefig(data, format="svg", metadata={"Date": None})
    return data.getvalue()


def graph_svg(graph: Mapping[str, Any]) -> str:
    """The figure of a proof graph, of its data."""
    with style.styled():
        return figure_svg(graph_figure(ProofGraph.read(graph)))


def inside(drawn: str, name: str, title: str, says: str) -> str:
    """An SVG file as an element of a page; ``name`` tells its ids from those of other figures there."""
    body = drawn[drawn.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    # Ids are of the page, not of the figure; lines of one kind share theirs in a figure, where nothing refers to it.
    seen: Counter[str] = Counter()

    def named(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        return f'id="{name}-{found[1]}{f"-{seen[found[1]]}" if seen[found[1]] > 1 else ""}"'

    body = re.sub(r'\bid="([^"]+)"', named, body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    described = f"<title>{html.escape(title)}</title><desc>{html.escape(says)}</desc>"
    opening = re.match(r"<svg[^>]*>", body)
    assert opening is not None
    # As wide as it was drawn; on a phone it scrolls where it would be too small to be read.
    width = re.search(r'\bwidth="([^"]+)"', opening[0])
    least = f"min(34rem, {width[1]})" if width else "34rem"
    attributes = f' role="img" aria-label="{html.escape(title, quote=True)}" style="min-width: {least}"'
    return opening[0][:-1] + attributes + ">" + described + body[opening.end() :].strip()
