"""Formulas bring their font along: without one a browser stretches neither roots nor brackets.

That a root covers its fraction is the font's doing and seen in a browser only; here is what a browser needs for it.
"""

import base64
import re
import string

from bounds.printing.nodes import Display, Document, Section
from ratecheck.views.document import html, mathml
from ratecheck.views.document.style import FORMULAS, formulas


def characters():
    """What the font is for, by the ranges that the style sheet tells browsers."""
    (ranges,) = re.findall(r"unicode-range:([^;]*);", formulas())
    found = set()
    for each in ranges.replace("U+", "").split(","):
        first, _, last = each.strip().partition("-")
        found |= {chr(code) for code in range(int(first, 16), int(last or first, 16) + 1)}
    return found


def test_a_document_holds_the_font_and_names_it_for_formulas():
    """No network, nothing beside the file."""
    page = html.page(Document("Review", "mine", "a title", (Section(2, "S", "s", (Display(r"\sqrt{x}"),)),), {}))
    ((family, source),) = re.findall(r'@font-face \{[^}]*font-family: ("[^"]+");\s*src: url\(([^)]*)\) format', page)
    kind, kept = source.split(",")
    font = base64.b64decode(kept, validate=True)
    assert kind == "data:font/woff2;base64"
    assert font == (FORMULAS / "math.woff2").read_bytes()
    assert font.startswith(b"wOF2")
    assert re.search(r"\nmath \{\s*font-family: " + family, page)
    assert page.count("url(") == 1


def test_the_font_has_what_formulas_are_written_with():
    """Every character that `mathml` can write is in the part of the font that is shipped."""
    commands = [f"\\{name}" for name in mathml._ELEMENTS]
    letters = [f"\\{name}{{{string.ascii_letters}}}" for name in mathml._VARIANTS]
    accents = [f"\\{name} x" for name in mathml._ACCENTS]
    fences = [f"\\left{sign}x\\right{sign}" for sign in mathml._FENCES]
    written = [*commands, *letters, *accents, *fences, r"\underbrace{x}_{y}", "x'", "a-b*c", r"\frac{1}{\sqrt{2}}"]
    shown = {sign for each in written for sign in re.sub("<[^>]*>", "", mathml.mathml(each))}
    assert len(shown) > 450
    assert shown - characters() == set()
    # Single letters stand in italics, which have code points of their own.
    assert {"\N{MATHEMATICAL ITALIC SMALL X}", "\N{MATHEMATICAL ITALIC SMALL ALPHA}", "√"} <= characters()
