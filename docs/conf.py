"""Sphinx configuration. Everything computed comes from `generate`."""

from __future__ import annotations

import gc
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import click
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import examples  # noqa: E402  # it lies beside this file
import generate  # noqa: E402

import ratecheck  # noqa: E402

# As in a command: documents and formulas are many objects that stay, and to look through them for garbage takes long.
gc.set_threshold(50_000, 20, 50)

project = "ratecheck"
author = "the ratecheck developers"
copyright = author
version = release = installed_version("ratecheck")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_click", "formulas", "folding"]
exclude_patterns = ["_build", "_generated", "_extra", "changes", "house.md"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"ratecheck {version}"
# Formulas look as in reviews, which bring their font along.
html_static_path = ["_static", str(Path(ratecheck.__file__).parent / "views" / "document" / "formulas")]
generate.EXTRA.mkdir(exist_ok=True)
html_extra_path = [generate.EXTRA.name]
html_css_files = ["math.css", "ratecheck.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False

default_role = "py:obj"
# Options begin with two hyphens, also in prose.
smartquotes_action = "qe"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def _typed(_: Sphinx, __: click.Context, lines: list[str]) -> None:
    """`plot KEY` is a command of a group whose name nobody types."""
    lines[:] = [line.replace("ratecheck plot sides", "ratecheck plot") for line in lines]


def _accessible(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    """What scrolls is reached by keyboard, and headings of the sidebar say their level."""
    for name, old, new in (
        ("body", "<pre>", '<pre tabindex="0">'),
        ("body", '<div class="math', '<div tabindex="0" class="math'),
        ("body", '<span class="formula"', '<span tabindex="0" class="formula"'),
        ("body", '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
        ("furo_navigation_tree", 'role="heading"', 'role="heading" aria-level="2"'),
    ):
        if name in context:
            context[name] = context[name].replace(old, new)


def setup(app: Sphinx) -> None:
    """Connect the generators."""
    app.connect("sphinx-click-process-usage", _typed)
    # A change of the sources outdates every page that shows an output.
    app.add_config_value("sources_digest", examples.sources_digest(), "env")
    app.add_directive("output", examples.Output)
    app.connect("builder-inited", generate.everything)
    # After the theme has made its sidebar.
    app.connect("html-page-context", _accessible, priority=900)
