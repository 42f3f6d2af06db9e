"""Prose in Markdown is shown as it was written."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bounds.printing.markup import markdown_escaped

pytestmark = pytest.mark.quick


def shown(markdown):
    """What a reader sees."""
    rendered = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    return html.unescape(re.sub(r"<[^>]+>", "", rendered)).strip()


@pytest.mark.parametrize(
    "text", ["0.5 of it", "1. first", "2) second", "1.", "-1", "+ x", "- x", "a_b*c*", "<b>", r"\x"]
)
def test_prose_by_hand(text):
    """Numbers at the start are no list, signs no bullets."""
    assert shown(markdown_escaped(text)) == text


@given(st.text("01.)-+*_`#<>|~$^[]{}!a \\", min_size=1).map(lambda text: " ".join(text.split())))
def test_any_prose(text):
    """Whatever is typed, in one line."""
    assert shown(markdown_escaped(text)) == text
