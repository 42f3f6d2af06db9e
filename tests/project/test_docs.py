"""The documentation: its start page can be followed, its tables are complete, it builds without warnings."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import click
import forked
import pytest

import bounds
from bounds.ledger.rate_table import tables
from bounds.ledger.refuted import of_paper, refuted
from ratecheck.algorithms import METHODS
from ratecheck.cli import group
from ratecheck.complexity.tables import check_table
from ratecheck.verification import instance

DOCS = Path(__file__).parents[2] / "docs"

for extra, module in (("docs", "sphinx"), ("docs", "myst_parser"), ("docs", "numpydoc"), ("data", "sklearn")):
    pytest.importorskip(module, reason=f"needs the extra {extra}")
nbformat = pytest.importorskip("nbformat", reason="needs the extra docs")

import examples  # noqa: E402  # these need the extra
import generate  # noqa: E402
import kept  # noqa: E402
import reviews  # noqa: E402

# A folder in which the built pages are left, so that whoever wants them after the tests need not build them again.
KEEP = "RATECHECK_DOCS_KEEP"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the documentation with what its build generates anew; a warning fails the build."""
    docs = tmp_path_factory.mktemp("copy") / "docs"
    shutil.copytree(
        DOCS, docs, ignore=shutil.ignore_patterns("_build", "_generated", "_extra", "statements", "__pycache__")
    )
    shutil.copytree(DOCS.parent / "experiments", docs.parent / "experiments", ignore=shutil.ignore_patterns("*.py"))
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent)}
    with forked.commands(tmp_path_factory.mktemp("commands"), environment) as quick:
        build = subprocess.run(
            [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", docs, docs / "_build"],
            env=environment | {examples.COMMANDS: str(quick)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert build.returncode == 0, build.stdout + build.stderr
    if KEEP in os.environ:
        shutil.copytree(docs / "_build", os.environ[KEEP], dirs_exist_ok=True)
    return docs


@pytest.fixture(scope="module")
def pages(copy):
    """The built pages as HTML by name."""
    built = copy / "_build"
    return {str(page.relative_to(built).with_suffix("")): page.read_text() for page in built.rglob("*.html")}


def text(page):
    """What a reader sees, with whitespace collapsed."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def typeset(plain):
    """Plain text with the apostrophes and ellipses that the pages have, and whitespace collapsed."""
    plain = plain.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}").replace("...", "\N{HORIZONTAL ELLIPSIS}")
    return " ".join(plain.split())


def test_start_page_commands_end_as_announced(copy):
    """Every block of the start page, in order, in one folder, except for the installation, as the build ran them."""
    found = examples.examples(DOCS / "start.md")
    assert sum(example.language == "bash" for example in found) >= 6
    assert {example.exit_code for example in found} == {0, 3}
    # A block that ends otherwise than announced fails the build.
    folder = copy / "_generated" / "runs" / examples.run_folder(DOCS / "start.md").name
    for number in range(len(found)):
        assert "Traceback" not in (folder / f"{number}.txt").read_text()
    assert (folder / "theorem.png").stat().st_size > 10_000


def shown(name):
    """The outputs that a page shows, which the build compares with what its examples print."""
    return "\n".join(examples.OUTPUT.findall((DOCS / f"{name}.md").read_text()))


def test_what_was_corrected_is_refuted_as_claimed_and_not_as_corrected():
    """Every entry, as the page's own search says."""
    said = shown("corrected")
    entries = (DOCS / "corrected.md").read_text().count("**Claim.**")
    assert len(re.findall(r"^\w+   VIOLATED, left / right up to", said, re.MULTILINE)) == entries >= 8
    assert len(re.findall(r"^  corrected: INCONCLUSIVE, left / right up to", said, re.MULTILINE)) == entries


def test_recent_theorems_hold_in_their_right_form_and_fall_in_the_wrong_one():
    """Every file of the page, as its own run says."""
    said = shown("recent")
    files = {*re.findall(r"^cat > (\w+\.py)", (DOCS / "recent.md").read_text(), re.MULTILINE)} - {"common.py"}
    found = re.findall(r"^(\w+\.py):(right|wrong) +(\w+)", said, re.MULTILINE)
    wanted = {"right": "HOLDS", "wrong": "VIOLATED"}
    assert sorted(found) == sorted((file, form, outcome) for file in files for form, outcome in wanted.items())
    assert len(files) >= 20


def test_installation_is_not_run():
    """The page shows how to install, and that block is not an example."""
    assert "pip install" in (DOCS / "start.md").read_text()
    assert all("pip install" not in example.code for example in examples.examples(DOCS / "start.md"))


def test_example_is_parsed_with_its_exit_code(tmp_path):
    """Language, code, announced exit code and the line in which the block ends."""
    page = tmp_path / "page.md"
    page.write_text(
        "text\n\n```bash\nfalse  # exit code 1\n```\n\n```text\nno example\n```\n\n```python\nprint(1)\n```\n"
    )
    first, second = examples.examples(page)
    assert (first.language, first.exit_code, first.end) == ("bash", 1, 5)
    assert (second.language, second.code, second.exit_code) == ("python", "print(1)\n", 0)


def test_wrong_exit_code_fails_the_build(tmp_path, monkeypatch):
    """An example that does not end as announced stops the build instead of being shown."""
    monkeypatch.setattr(examples, "GENERATED", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```bash\nexit 3\n```\n")
    with pytest.raises(examples.ExtensionError, match="exit code 3 instead of 0"):
        examples.run_page(page)


def test_no_transcript_is_pasted():
    """Outputs stand where the build compares them: no page shows a verdict elsewhere."""
    for page in DOCS.glob("*.md"):
        assert not re.search(r"slack \d", examples.OUTPUT.sub("", page.read_text())), page.name


def test_every_page_is_in_the_map(pages):
    """The map on the first page links every other page."""
    links = set(re.findall(r'href="([a-z-]+)\.html["#]', pages["index"]))
    assert {page.stem for page in DOCS.glob("*.md")} <= links | {"index", "house"}
    assert "Which four functions define a method?" in text(pages["design"])


def test_what_has_moved_is_found(pages):
    """A page that is no more leads to a part of one that is."""
    for old, new in generate.MOVED.items():
        page, _, anchor = new.partition(".html#")
        assert f'url={new}"' in pages[old]
        assert f'id="{anchor}"' in pages[page], new


def test_notation_lists_every_quantity(pages):
    """Name, meaning and domain of every symbol of every paper."""
    shown = text(pages["reference"])
    quantities = [quantity for paper in bounds.PAPERS for quantity in bounds.vocabulary(paper)]
    assert len(quantities) > 20
    for quantity in quantities:
        assert f'<span class="pre">{quantity.name}</span>' in pages["reference"], quantity.name
        for part in (quantity.meaning, quantity.domain.value):
            assert typeset(part) in shown, quantity.name


def test_every_statement_has_a_page(pages):
    """Its paper lists it; what it claims, and what the checks say, its repaired form where the audit refutes it."""
    assert {name for name in pages if name.startswith("statements/")} == {
        *(f"statements/{key}" for key in bounds.keys()),
        *(f"statements/{paper}/index" for paper in bounds.PAPERS),
    }
    for key in bounds.keys():
        page, listed = pages[f"statements/{key}"], pages[f"statements/{key.partition('/')[0]}/index"]
        assert f'<span class="pre">{key}</span>' in listed, key
        assert 'class="math"' in page, key
        assert "What has been checked" in text(page), key
        against = refuted(bounds.get(key))
        if against is not None:
            assert against.what in text(page), key
            assert against.what in text(listed), key
            assert against.repaired is None or f"{against.repaired.partition('/')[2]}.html" in page, key


def test_a_page_of_a_statement_says_what_is_kept_of_its_checks(pages):
    """Tightness, rate card, self-test, implications and the graph of one theorem, from the files that are kept."""
    shown = text(pages["statements/pfl/theorem-3.7"])
    tight = next(each for each in kept.load("tightness")["searches"] if each["key"] == "pfl/theorem-3.7")
    row = next(each for each in kept.load("selftest")["statements"] if each["key"] == "pfl/theorem-3.7")
    assert f"{tight['tightness']:.3g} is the largest" in shown
    assert kept.load("rates")["pfl"]["pfl/theorem-3.7"]["card"] in shown
    assert f"{row['any']} of {row['mutants']} changed forms caught" in shown
    assert "follows from others" in shown
    assert "proof-pfl-theorem-3.7" in pages["statements/pfl/theorem-3.7"]


def test_the_notebook_has_the_examples_of_its_page():
    """Every Python example is a cell, in order; no output is pasted, and no link leads to a page that is not there."""
    made = nbformat.reads(examples.notebook(DOCS / "python.md"), as_version=4)
    nbformat.validate(made)
    codes = [cell.source for cell in made.cells if cell.cell_type == "code"]
    assert codes == [each.code.rstrip() for each in examples.examples(DOCS / "python.md") if each.language == "python"]
    words = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert "{output}" not in words
    assert ".md)" not in words
    assert not any(cell.get("outputs") for cell in made.cells)


def test_the_first_page_says_what_the_audit_refutes(pages):
    """Every statement that is refuted as printed is linked there."""
    for paper in bounds.PAPERS:
        for each in of_paper(paper):
            if not each.key.endswith("-repaired"):
                assert f"statements/{each.key}.html" in pages["index"], each.key


def test_the_commands_are_listed_with_their_options(pages):
    """Every command and every option that its help has; what is typed, without the name of the part of a group."""
    shown = text(pages["reference"])
    assert "ratecheck plot sides" not in shown
    context = click.Context(group, info_name="ratecheck")
    for name in group.list_commands(context):
        assert f"ratecheck {name}" in shown
        command = group.get_command(context, name)
        for option in (each for each in command.params if isinstance(each, click.Option)):
            assert option.opts[-1] in shown, (name, option.opts)


def test_formulas_need_no_network(pages):
    """Every formula is set when the pages are built, with its LaTeX beside it."""
    for name, page in pages.items():
        assert not re.search(r"<script[^>]+src=.(https?:)?//", page), name
        assert "mathjax" not in " ".join(re.findall(r"<script[^>]*>", page)).lower(), name
    page = pages["statements/pfl/theorem-3.7"]
    assert page.count("<math") == page.count("alttext=") > 5
    assert "_static/math.css" in page


def test_what_is_left_out_is_listed_with_its_reason(pages):
    """Number and reason of everything that is not in the catalogue, paper by paper."""
    for paper in bounds.PAPERS:
        shown = text(pages[paper if paper in reviews.PAPERS else "catalogue"])
        for number, reason in bounds.left_out(paper):
            assert typeset(number) in shown
            assert typeset(" ".join(reason.split()[:4])) in shown


def test_every_checked_table_is_shown(pages, copy):
    """Name, every row's label and statement, and the verdicts that the checks give, among them a refuted one.

    What the checks say of every table is examined in ``tests/complexity/test_tables.py``; here of one that is short.
    """
    shown = text(pages["rates"])
    rows = 0
    for name, printed in tables().items():
        assert name in shown
        for row in printed.rows:
            rows += 1
            assert typeset(row.label) in shown
            assert f'<span class="pre">{row.key}</span>' in pages["rates"]
    verdicts = re.findall(r"^- \*\*.*?\*\* `(\w+)`", (copy / "_generated" / "tables.md").read_text(), re.MULTILINE)
    assert {*verdicts} == {"HOLDS", "NOT_CHECKED", "VIOLATED"}
    assert len(verdicts) >= rows
    for checked in check_table(tables()["pfl/table-2"]).rows:
        for finding in checked.findings:
            assert typeset(finding.evidence) in shown


@pytest.mark.parametrize("paper", reviews.PAPERS)
def test_a_ledger_is_a_page(pages, paper):
    """Every statement whose proof is audited, every erratum with its steps, and the graphs of the main theorems."""
    shown = text(pages[paper])
    for entry in reviews.of_paper(paper)["statements"]:
        assert f'<span class="pre">{entry["key"]}</span>' in pages[paper]
    for each in reviews.errata(paper):
        assert typeset(" ".join(each["place"].split()[:2])) in shown
        assert all(f'<span class="pre">{step}</span>' in pages[paper] for step in each["steps"])
    assert pages[paper].count('class="erratum admonition"') == len(reviews.errata(paper))
    for key in kept.DRAWN:
        assert (reviews.figure(key).name in pages[paper]) is key.startswith(f"{paper}/")
    assert f'href="../../{paper}.html"' in pages[f"statements/{paper}/index"]


def test_a_wide_table_can_be_folded(pages):
    """A phone shows its rows as blocks: every cell with something in it says what column it is of."""
    table = re.search(r'<table class="[^"]*\bmany\b.*?</table>', pages["reference"], re.DOTALL)[0]
    heads = [text(head) for head in re.findall(r"<th[ >].*?</th>", table, re.DOTALL)]
    row = re.findall(r"<tr.*?</tr>", table, re.DOTALL)[1]
    assert re.findall(r'data-head="([^"]*)"', row) == ["name", "symbol", "meaning", "domain", *heads[4:]]
    narrow = re.search(r"<table(?:(?!</table>).)*what it prints.*?</table>", pages["audit"], re.DOTALL)[0]
    assert "data-head" not in narrow


def test_every_link_leads_somewhere(pages, copy):
    """Files and anchors that the pages refer to are there."""
    built = copy / "_build"
    anchors = {name: set(re.findall(r'\bid="([^"]+)"', page)) for name, page in pages.items()}
    broken = []
    for name, page in pages.items():
        for link in map(html.unescape, re.findall(r'\b(?:href|src)="([^"]+)"', page)):
            path, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            file = Path(os.path.normpath((built / name).parent / unquote(path.partition("?")[0]))) if path else None
            target = name if file is None else str(file.relative_to(built).with_suffix(""))
            missing = file is not None and not file.is_file()
            if missing or (anchor and unquote(anchor) not in anchors.get(target, ())):
                broken.append((name, link))
    assert not broken


def test_registry_lists_every_method(pages):
    """Every name that can be simulated."""
    for name in METHODS:
        assert f'<span class="pre">{name}</span>' in pages["algorithms"], name


def test_tightness_is_what_the_search_found(pages):
    """The page has the kept ratios, and the instance of one of them still gives its ratio."""
    whole = kept.load("tightness")
    shown = text(pages["falsify"])
    for found in whole["searches"]:
        assert found["key"] in shown
        assert found["verdict"] != "VIOLATED"
    found = next(each for each in whole["searches"] if each["key"] == kept.AGAIN)
    worst = instance.read(json.loads(whole["instance"])).verdict().worst
    assert worst.left / worst.right == pytest.approx(found["tightness"], rel=1e-6)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("short", "short"),
        ("  left    " + "word " * 30, "\n          word"),
        ("ratecheck: " + "word " * 30, "\n    word"),
    ],
)
def test_long_lines_are_broken_under_their_text(given, wanted):
    """Only long lines are changed, and only by line breaks."""
    broken = examples.wrap(given)
    assert wanted in broken
    assert broken.split() == given.split()
    assert max(map(len, broken.splitlines())) <= 100
