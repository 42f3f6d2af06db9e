"""A page for every statement of the catalogue, and one per paper that lists them.

`write` makes them before Sphinx reads, in ``docs/statements``: the statement, then what every check has said of it,
each with a link to the page that has the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import kept
import reviews
from erratum_cards import card
from markdown_parts import code, link, linked, plain, statement_label, table

import bounds
from bounds.ledger.implications import PAPERS as IMPLYING
from bounds.ledger.implications import implications
from bounds.ledger.refuted import refuted
from bounds.printing.markdown import Markdown
from bounds.printing.markup import MarkupBlocks
from bounds.printing.statement_page import page, place
from bounds.statement import Statement
from ratecheck.settings.applicability import foreign

HERE = Path(__file__).parent
PAGES = HERE / "statements"

# In the order of the kept answers.
_IMPLICATIONS = tuple(one for paper in IMPLYING for one in implications(paper))
_NO_STEPS = "no step of its proof is examined here"
# What the review of a paper says of a statement, and an erratum in it.
Entry = Mapping[str, Any]
Erratum = Mapping[str, Any]


def write(put: Callable[[Path, str], None]) -> None:
    """Write all pages by ``put``, and remove those of statements that are no more."""
    made: dict[Path, str] = {}
    for paper in bounds.PAPERS:
        audited = paper in reviews.PAPERS
        entries = {entry["key"]: entry for entry in reviews.of_paper(paper)["statements"]} if audited else {}
        errata = reviews.errata(paper) if audited else ()
        made[PAGES / paper / "index.md"] = _listed(paper, entries)
        for statement in bounds.statements(paper):
            made[PAGES / f"{statement.key}.md"] = _page(statement, entries.get(statement.key), errata)
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, text)
    for path in set(PAGES.rglob("*.md")) - made.keys():
        path.unlink()


def _listed(paper: str, entries: Mapping[str, Entry]) -> str:
    """The statements of a paper, each with its standing, and where all that is known of them is in one document."""
    own = bounds.statements(paper)
    rows = [(link(s.key), plain(s.title), plain(place(s)), _badge(s, entries.get(s.key))) for s in own]
    return "\n".join(
        [
            f"# {plain(bounds.title(paper))}",
            "",
            *_documents(paper),
            table(("statement", "about", "in the paper", "its proof"), rows),
            "",
        ]
    )


def _documents(paper: str) -> Sequence[str]:
    """Links to what is known of a paper as a whole."""
    if paper not in reviews.PAPERS:
        return ()
    said = f"[the audit of the proofs, the errata and the rate cards](/{paper}.md)"
    return (f"As a whole: {said}; `ratecheck review {paper} --out {paper}.html` writes all of it as one document.", "")


def _page(statement: Statement, entry: Entry | None, errata: Sequence[Erratum]) -> str:
    blocks = MarkupBlocks(page(statement))
    head, body = Markdown(words=plain), Markdown(key=link, words=linked)
    title, *about = (head.text([node]) for node in blocks.head)
    checked = [row for make in _CHECKS if (row := make(statement)) is not None]
    graph = _graph(statement)
    paper = statement.key.partition("/")[0]
    return "\n".join(
        [
            # The page of the paper lists it: a tree of all statements in every page takes a third of the time.
            "---\norphan: true\n---\n",
            f"({statement_label(statement.key)})=",
            title.replace("###", "#", 1),
            *about,
            f"All statements: [{plain(bounds.title(paper))}](/statements/{paper}/index.md).",
            "",
            *([f"**{_sentence(statement, badge)}**", ""] if (badge := _badge(statement, entry)) else []),
            body.text(blocks.body),
            *_wrong(statement, errata),
            "## What has been checked",
            "",
            table(
                ("check", "what it says"),
                [
                    (f"[proof, step by step]({_ledger_page(statement)})", _proof(statement, entry)),
                    *checked,
                ],
            ),
            "",
            *graph,
            f"On the command line: {code(f'ratecheck show {statement.key}')}"
            + (
                f", {code(f'ratecheck verify {statement.key}')}"
                if not (statement.order_only or foreign(statement))
                else ""
            )
            + ".",
            "",
        ]
    )


def _wrong(statement: Statement, errata: Sequence[Erratum]) -> list[str]:
    """The errata that make the statement false as printed or change it, as cards."""
    mine = [e for e in errata if statement.key in {*e["changes"], *e["refutes"]}]
    lines = [line for each in mine for line in card(each, numbered=False)]
    return ["## What is wrong as printed", "", *lines] if mine else []


# --- What each check says ---


def _badge(statement: Statement, entry: Entry | None) -> str:
    """The standing of the proof in a few words."""
    if (against := refuted(statement)) is not None:
        return against.what
    return "" if entry is None else str(entry["standing"])


def _sentence(statement: Statement, badge: str) -> str:
    """What the audit says, on the page of the statement itself."""
    return f"By the audit of its proof{' it' if refuted(statement) else ':'} {badge}."


def _proof(statement: Statement, entry: Entry | None) -> str:
    parts = []
    if (against := refuted(statement)) is not None:
        parts.append(f"{plain(against.what)}: step {code(against.step)}")
        parts += [f"repaired: {link(against.repaired)}"] if against.repaired else []
    if entry is not None:
        steps = len(entry["marks"].split())
        certified = f" (algebra of {entry['certified']} of {steps} steps certified)"
        parts.append(f"**{entry['standing']}**{certified}" + "".join(f"; {linked(why)}" for why in entry["reasons"]))
    return "; ".join(parts) or _NO_STEPS


def _ledger_page(statement: Statement) -> str:
    paper = statement.key.partition("/")[0]
    return f"/{paper}.md#audit" if paper in reviews.PAPERS else "/audit.md"


def _implied(statement: Statement) -> tuple[str, str] | None:
    mine = [
        f"from {', '.join(map(link, one.premises)) or 'nothing else'}: {answer['verdict']}"
        for one, answer in zip(_IMPLICATIONS, kept.load("implications"), strict=True)
        if one.conclusion == statement.key
    ]
    return ("[follows from others](/audit.md#implications)", "; ".join(mine)) if mine else None


def _tightness(statement: Statement) -> tuple[str, str] | None:
    found = next((e for e in kept.load("tightness")["searches"] if e["key"] == statement.key), None)
    if found is None or found["tightness"] is None:
        return None
    said = f"{found['tightness']:.3g} is the largest left side over right side of {found['evaluations']} instances"
    return "[tightness](/falsify.md#tightness)", said


def _card(statement: Statement) -> tuple[str, str] | None:
    paper = statement.key.partition("/")[0]
    card = kept.load("rates").get(paper, {}).get(statement.key)
    return None if card is None else (f"[rates](/{paper}.md#rates)", f"cells of the rate card: {plain(card['card'])}")


def _selftest(statement: Statement) -> tuple[str, str] | None:
    row = next((e for e in kept.load("selftest")["statements"] if e["key"] == statement.key), None)
    if row is None:
        return None
    valid = sum(count for count, _ in row["instances"])
    return (
        "[self-test](/selftest.md)",
        f"{row['any']} of {row['mutants']} changed forms caught; {row['alarms']} of {valid} valid instances accused",
    )


_CHECKS = (_implied, _tightness, _card, _selftest)


def _graph(statement: Statement) -> Sequence[str]:
    """The graph of the proof where one is kept."""
    if statement.key not in kept.DRAWN:
        return ()
    return (f"![What {statement.key} follows from](/_static/{reviews.figure(statement.key).name})", "")
