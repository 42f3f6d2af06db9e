"""Prose in Markdown is shown as it was written, and claims are called what they are."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import bounds
from bounds.ledger.fault import faults
from bounds.printing.markdown import code, escaped, formula
from bounds.printing.markup import markdown
from bounds.printing.statement_page import page
from ratecheck.auditing import ledger

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
    assert shown(escaped(text)) == text


@given(st.text("01.)-+*_`#<>|~$^[]{}!a \\", min_size=1).map(lambda text: " ".join(text.split())))
def test_any_prose(text):
    """Whatever is typed, in one line."""
    assert shown(escaped(text)) == text


def claims_of(key):
    """The page of a statement, from its claims on, without spaces."""
    return markdown(page(bounds.get(key))).replace(" ", "")


@pytest.mark.parametrize("key", ["pfl/lemma-a.1", "pfl/lemma-a.2", "flame/proposition-1", "textbook/sample-mean"])
def test_a_lemma_that_is_an_equality_is_a_claim(key):
    """Both of its sides are measured, so that it defines nothing."""
    assert "Definition" not in claims_of(key)
    assert "Claim" in claims_of(key)


def test_a_symbol_with_its_formula_is_defined():
    """Constants of an analysis are set, not claimed."""
    assert "Definitiondelta:" in claims_of("simfbo/young-parameters")


def test_no_formula_has_the_coefficient_minus_one():
    """A sign is enough."""
    assert r"-\mathcal{L}^t\le-F^*" in claims_of("flame/lemma-3")
    for paper in bounds.PAPERS:
        for statement in bounds.statements(paper):
            for claim in statement.claims:
                assert not re.search(r"-1(?![0-9./}])", claim.metric.latex), (statement.key, claim.metric.latex)


@pytest.mark.parametrize("paper", bounds.PAPERS)
def test_what_readers_see_does_not_speak_of_the_code(paper):
    """A remark, a step or an erratum never sends a reader into a Python module."""
    shown_texts = [statement.remark for statement in bounds.statements(paper)]
    shown_texts += [condition.name for statement in bounds.statements(paper) for condition in statement.hypotheses]
    for fault in faults(paper):
        shown_texts += [fault.wrong, fault.meant]
    if ledger.has_ledger(paper):
        for step in ledger.load(ledger.module_of(paper)):
            shown_texts += [step.location, step.claim, step.remark, step.repair]
    assert [text for text in shown_texts if re.search(r"docstring|\bmodules?\b", text)] == []


@pytest.mark.parametrize(
    "latex",
    ["</math><script>alert(4)</script>", "$ <b>x</b> $", r"\\$<img src=x>", r"\$", "a\n\n# <i>b</i>", "!<!-- c", "t<T"],
)
def test_a_formula_is_no_html(latex):
    """A symbol's LaTeX is a user's text, and neither ends its formula nor is a tag to whoever reads on."""
    written = f"${formula(latex)}$"
    assert not MarkdownIt("commonmark").render(written).replace("<p>", "").replace("</p>", "").count("<")
    assert not re.search(r"(?<!\\)(\\\\)*\$.", written[1:])
    assert "\n\n" not in written


def test_a_key_with_backticks_is_shown_as_typed():
    """Between more of them than it has."""
    assert shown(code("a`<b>``c")) == "a`<b>``c"
