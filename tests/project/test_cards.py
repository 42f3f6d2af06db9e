"""The kept rate cards: what the script keeps, what the pages show of it, and that it is what the checker says."""

import importlib
from collections import Counter

import cards
import kept
import pytest
from fake_card import card

import bounds
import ratecheck as rc
from bounds.ledger.rate_table import QuotedRow, tables
from ratecheck.algorithms import METHODS
from ratecheck.exponents.card import columns
from ratecheck.plain import plain
from ratecheck.views.checks.rates import rates_fields

KEPT = kept.load("rates")


def every():
    """Every card that is kept."""
    return [found for of_paper in KEPT.values() for found in of_paper.values()]


def test_every_listed_statement_has_its_card():
    """In the order of the lists, with a row for every term and a column for every parameter; the figures are there."""
    assert {paper: tuple(found) for paper, found in KEPT.items()} == cards.KEYS
    for found in every():
        statement = bounds.get(found["key"])
        assert {row["row"].partition(": ")[0] for row in found["rows"]} == set(statement.claims[0].terms)
        assert statement.order_only or set(found["parameters"]) <= set(columns(statement))
        verdicts = Counter(verdict for row in found["rows"] for *_, verdict in row["cells"].values())
        assert {f"{count} {verdict}" for verdict, count in verdicts.items()} == {*found["card"].split(", ")}
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
    rows = [(found["key"], row) for found in every() for row in found["rows"]]
    cells = [(key, row["row"], name, cell[-1]) for key, row in rows for name, cell in row["cells"].items()]
    exceeded = {cell[:-1] for cell in cells if cell[-1] == "EXCEEDED"}
    assert exceeded == {
        (f"simfbo/{name}", "local updates", "tau_bar")
        for name in ("theorem-1-order", "theorem-1-order-full", "theorem-2-order")
    }
    for _, row in rows:
        assert all(constant <= 1 for constant in row["constants"])
        short = {name for name, cell in row["cells"].items() if cell[-1] != "ATTAINED"}
        assert short == {name for name, *_ in row["open"]}
        assert all(reason for *_, reason in row["open"])
    assert all({*found["checks"]} <= {"HOLDS", "INCONCLUSIVE"} for found in every())


def test_what_is_kept_of_a_card():
    """Both exponents, the constant, the range and the instance of every cell; four digits."""
    gap, drift = cards.summary(plain(rates_fields(card())))["rows"]
    assert gap["cells"] == {"K": [-1.0, -1.0, "ATTAINED"], "T": [-1.0, -1.25, "LOOSE"]}
    assert drift["cells"]["K"] == [None, None, "NOT REACHED"]
    assert drift["cells"]["T"][-1] == "EXCEEDED"
    assert [each[:2] for each in gap["open"]] == [["T", 0.25]]
    assert [each[:2] for each in drift["open"]] == [["K", None], ["T", None]]
    assert 0.25 in gap["constants"]
    text, name, low, high = gap["hardest"]
    assert "curvature 0.5" in text
    assert (name, low, high) == ("K", 10.0, 1000.0)


def test_the_page_of_a_paper(monkeypatch):
    """One table per statement; what is not attained with its reason."""
    pytest.importorskip("sphinx", reason="needs the extra docs")
    runs = importlib.import_module("run_tables")
    monkeypatch.setattr(
        runs, "_cards", lambda: {"pfl": {"pfl/theorem-3.7": cards.summary(plain(rates_fields(card())))}}
    )
    page = runs.rate_cards("pfl")
    assert runs.rate_cards("flame") == ""
    assert "### `pfl/theorem-3.7`" in page
    assert "\N{MINUS SIGN}1\\.00 → \N{MINUS SIGN}1\\.25 LOOSE" in page
    assert "LOOSE by T\\^0\\.25, because of a reason" in page
    assert "NOT REACHED, at most 7% of the bound" in page
    assert page.count("list-table") == 1
    assert "evaluated one" not in page


def test_the_page_counts_what_was_checked_and_has_rates_of_other_work(monkeypatch):
    """Checks by what `verify` says; quoted rates share a table, in which a parameter that a rate has not is empty."""
    pytest.importorskip("sphinx", reason="needs the extra docs")
    runs = importlib.import_module("run_tables")
    own, other = cards.summary(plain(rates_fields(card()))), cards.summary(plain(rates_fields(card(exceeded=False))))
    own["checks"] = {"HOLDS": 1}
    other |= {"key": "baselines/fedavg-yu", "parameters": ["K"]}
    found = {"pfl/theorem-3.7": own, "baselines/fedavg-yu": other}
    monkeypatch.setattr(runs, "_cards", lambda: {"pfl": found})
    page = runs.rate_cards("pfl")
    assert "one instance of 1 of the 3 cells with numbers: `HOLDS` on 1." in page
    own_part, quoted = page.split("## Rates of other work")
    assert "baselines/fedavg-yu" not in own_part
    assert quoted.count("fedavg-yu") >= 2
    assert "\N{MINUS SIGN}1\\.00 → \N{MINUS SIGN}1\\.00 ATTAINED" in quoted
    assert "LOOSE" not in quoted


def test_a_kept_card_is_what_the_checker_says():
    """The rounds of one statement, computed anew."""
    key = "pfl/theorem-3.11-tuned"
    anew = {row["row"]: row["cells"]["T"] for row in cards.summary(rc.rates(key, over="T").to_dict())["rows"]}
    before = {row["row"]: row["cells"]["T"] for row in KEPT["pfl"][key]["rows"] if "T" in row["cells"]}
    assert before.keys() == anew.keys()
    for name, (_, worst, verdict) in before.items():
        assert verdict == anew[name][-1]
        assert worst == pytest.approx(anew[name][1], abs=0.02)
