"""The figure of a proof graph as SVG inside of a page."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Mapping
from typing import Any

from ratecheck.auditing.graph import ProofGraph
from ratecheck.views.drawing import style
from ratecheck.views.drawing.graph import graph_figure


def svg(graph: Mapping[str, Any], name: str, title: str, says: str) -> str:
    """The figure of a graph's data; ``name`` tells its ids from those of other figures on the page."""
    data = io.StringIO()
    with style.styled():
        graph_figure(ProofGraph.read(graph)).savefig(data, format="svg", metadata={"Date": None})
    drawn = data.getvalue()
    body = drawn[drawn.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    # Ids are of the page, not of the figure.
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    described = f"<title>{html.escape(title)}</title><desc>{html.escape(says)}</desc>"
    opening = re.match(r"<svg[^>]*>", body)
    assert opening is not None
    attributes = f' role="img" aria-label="{html.escape(title, quote=True)}"'
    return opening[0][:-1] + attributes + ">" + described + body[opening.end() :].strip()
