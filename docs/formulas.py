"""Formulas as MathML when the pages are built, so that they are read without a network and do not move while loading.

A formula that is not read is a warning, which fails the build.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from ratecheck.views.document.mathml import LatexError, mathml

_log = logging.getLogger(__name__)


# A formula of more signs in a line of text may be wider than a phone: it gets a box of its own, which scrolls there.
_LONG = 40


def _inline(writer: Any, node: nodes.Element) -> None:
    formula = _set(node, display=False)
    writer.body.append(f'<span class="formula">{formula}</span>' if len(node.astext()) > _LONG else formula)
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.Element) -> None:
    writer.body.append(f'<div class="math">{_set(node, display=True)}</div>')
    raise nodes.SkipNode


def _set(node: nodes.Element, *, display: bool) -> str:
    try:
        return mathml(node.astext(), display=display)
    except LatexError as error:
        _log.warning("a formula is not read: %s", error, location=node)
        return ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
