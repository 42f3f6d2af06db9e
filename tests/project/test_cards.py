"""The kept rate cards: what the script keeps, what the pages show of it, and that it is what the checker says."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from fake_card import card

import bounds
import ratecheck as rc
from bounds.ledger.rate_table import QuotedRow, tables
from ratecheck.algorithms import METHODS
from ratecheck.exponents.card import columns
from ratecheck.plain import plain
from ratecheck.views.checks.rates import rates_fields

DOCS = Path(__file__).parents[2] / "docs"


def load(name):
    """A script beside the pages, which is no package."""
    # It imports others beside it.
    sys.path[:0] = [] if str(DOCS) in sys.path else [str(DOCS)]
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


cards = load("cards")
KEPT = json.loads(cards.KEPT.read_text())


def cells():
    """Every cell that is kept, with its statement."""
    return [(bounds.get(key), cell) for kept in KEPT.values() for key, card in kept.items() for cell in card["cells"]]


def test_every_listed_statement_has_its_card():
    """In the order of the lists, with a row for every term and a column for every parameter; the figures are there."""
    assert {paper: tuple(kept) for paper, kept in KEPT.items()} == cards.KEYS
    for kept in KEPT.values():
        for key, found in kept.items():
            statement = bounds.get(key)
            assert {row.partition(": ")[0] for row in found["rows"]} == set(statement.claims[0].terms)
            assert statement.order_only or set(found["parameters"]) <= set(columns(statement))
    for name, drawn in (("rates", cards.DRAWN), ("local-steps", cards.LOCAL_STEPS)):
        for paper in drawn:
            assert (cards.FIGURES / f"{name}-{paper}.png").read_bytes().startswith(b"\x89PNG")


def test_rates_of_other_work_are_those_of_the_tables():
    """Every row about another's method that is here has its card beside the paper's own."""
    for name, table in tables().items():
        quoted = [row.key for row in table.rows if isinstance(row, QuotedRow)]
        listed = [key for key in cards.KEYS[name.partition("/")[0]] if key in quoted]
        assert listed == [key for key in quoted if bounds.get(key).algorithm in METHODS]


def test_what_is_exceeded():
    """No theorem with constants; of the orders those that lack the tau_bar which Lemma 8 lost."""
    exceeded = {(s.key, c["row"], c["parameter"]) for s, c in cells() if c["verdict"] == "EXCEEDED"}
    assert exceeded == {
        (f"simfbo/{name}", "local updates", "tau_bar")
        for name in ("theorem-1-order", "theorem-1-order-full", "theorem-2-order")
    }
    for _, cell in cells():
        assert cell["constant"] is None or cell["constant"] <= 1
        assert cell["check"] in (None, "HOLDS", "INCONCLUSIVE")
        assert cell["reason"] or cell["verdict"] == "ATTAINED"


def test_what_is_kept_of_a_card():
    """Both exponents, the constant, the range and the instance of every cell; four digits."""
    kept = cards.summary(plain(rates_fields(card())))
    gap, loose, missing, exceeded = kept["cells"]
    assert (gap["term"], gap["worst"], gap["constant"], gap["range"]) == (-1.0, -1.0, 0.25, [10.0, 1000.0])
    assert (loose["worst"], loose["loose"], missing["worst"], missing["range"]) == (-1.25, 0.25, None, None)
    assert exceeded["verdict"] == "EXCEEDED"
    assert "curvature 0.5" in gap["hardest"]


def test_the_page_of_a_paper(monkeypatch):
    """One table per statement; what is not attained with its reason."""
    pytest.importorskip("sphinx", reason="needs the extra docs")
    generate = load("generate")
    monkeypatch.setattr(
        generate, "_cards", lambda: {"pfl": {"pfl/theorem-3.7": cards.summary(plain(rates_fields(card())))}}
    )
    page = generate.rate_cards("pfl")
    assert generate.carded() == ["pfl"]
    assert generate.rate_cards("flame") == ""
    assert "## `pfl/theorem-3.7`" in page
    assert "\N{MINUS SIGN}1\\.00 → \N{MINUS SIGN}1\\.25 LOOSE" in page
    assert "LOOSE by T\\^0\\.25, because of a reason" in page
    assert "NOT REACHED, at most 7% of the bound" in page
    assert page.count("list-table") == 1
    assert "was asked" not in page


def test_the_page_counts_what_was_checked_and_has_rates_of_other_work(monkeypatch):
    """Checks by what `verify` says; quoted rates share a table, in which a parameter that a rate has not is empty."""
    pytest.importorskip("sphinx", reason="needs the extra docs")
    generate = load("generate")
    own, other = cards.summary(plain(rates_fields(card()))), cards.summary(plain(rates_fields(card(exceeded=False))))
    own["cells"][0]["check"] = "HOLDS"
    other |= {"key": "baselines/fedavg-yu", "parameters": ["K"]}
    kept = {"pfl/theorem-3.7": own, "baselines/fedavg-yu": other}
    monkeypatch.setattr(generate, "_cards", lambda: {"pfl": kept})
    page = generate.rate_cards("pfl")
    assert "one instance of 1 of the 3 cells with numbers: `HOLDS` on 1." in page
    own_part, quoted = page.split("## Rates of other work")
    assert "baselines/fedavg-yu" not in own_part
    assert quoted.count("fedavg-yu") >= 2
    assert "\N{MINUS SIGN}1\\.00 → \N{MINUS SIGN}1\\.00 ATTAINED" in quoted
    assert "LOOSE" not in quoted


def test_a_kept_card_is_what_the_checker_says():
    """The rounds of one statement, computed anew."""
    key = "pfl/theorem-3.11-tuned"
    anew = {cell["row"]: cell for cell in cards.summary(rc.rates(key, over="T").to_dict())["cells"]}
    for cell in KEPT["pfl"][key]["cells"]:
        if cell["parameter"] == "T":
            assert cell["verdict"] == anew[cell["row"]]["verdict"]
            assert cell["worst"] == pytest.approx(anew[cell["row"]]["worst"], abs=0.02)
