"""A review says what the audit and the graphs say, in every form, and nothing that is not in its data."""

import copy
import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
import xml.dom.minidom
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from html_page import VOID, Page

import bounds
import ratecheck as rc
from bounds.ledger.experiment import experiments
from bounds.printing.markup import MarkupBlocks
from bounds.printing.nodes import Display, Listing, Math, parts, text
from bounds.printing.statement_page import page
from ratecheck.auditing.finding import StepVerdict
from ratecheck.auditing.graph import ProofGraph
from ratecheck.stepsizes.coverage import coverage
from ratecheck.views.document import html, markdown
from ratecheck.views.document.mathml import LatexError, mathml
from ratecheck.views.document.style import STYLE
from ratecheck.views.review import short, summary, words
from ratecheck.views.review.data import HEADLINE, LEVELS, Requested, Reviewed, review_fields
from ratecheck.views.review.document import document

KEY = "flame/theorem-1"
OWN = Path(__file__).parents[2] / "docs" / "own.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def found():
    """The review of a theorem that has a false step, a repaired form and two graphs."""
    return rc.review(KEY)


@pytest.fixture(scope="module")
def plain(found):
    """Its data."""
    return found.to_dict()


def formulas(part):
    """Every formula of the pages of the statements whose names begin so; to set them all takes minutes."""
    for paper in (*bounds.PAPERS, bounds.TEXTBOOK):
        for statement in (each for each in bounds.statements(paper) if each.key.partition("/")[2].startswith(part)):
            blocks = MarkupBlocks(page(statement))
            lines = [cell for row in blocks.symbols.rows for cell in row]
            for block in blocks.body:
                if isinstance(block, Display):
                    yield block.latex
                else:
                    lines += block.items if isinstance(block, Listing) else (block.parts,)
            yield from (part.latex for line in lines for part in parts(line) if isinstance(part, Math))


@pytest.mark.parametrize(
    ("part", "least"), [("theorem-1", 20), pytest.param("", 500, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_every_formula_of_the_catalogue_becomes_mathml(part, least):
    """Well-formed, with the numbers of the formula, each as often as it is there."""
    seen = set(formulas(part))
    assert len(seen) > least
    for latex in seen:
        tree = mathml(latex, display=True)
        xml.dom.minidom.parseString(tree)  # noqa: S318  # our own
        text = re.sub(r"<[^>]+>", " ", tree)
        assert sorted("".join(NUMBER.findall(text))) == sorted("".join(NUMBER.findall(latex))), latex


@pytest.mark.parametrize(
    ("latex", "part"),
    [
        (r"\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        ("x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        (r"\max_i a", "<munder><mi>max</mi><mi>i</mi></munder>"),
        (r"\mathcal{L}", "<mi>\N{SCRIPT CAPITAL L}</mi>"),
        (r"\text{a < b}", "<mtext>a &lt; b</mtext>"),
        (r"\prod_i a", '<munder><mo movablelimits="true">∏</mo><mi>i</mi></munder>'),
        (r"\lceil n/S\rceil", '<mo stretchy="false">⌈</mo>'),
        (r"g^\top x", "<msup><mi>g</mi><mo>\N{DOWN TACK}</mo></msup>"),
        (r"\dfrac12", '<mstyle displaystyle="true"><mfrac><mn>1</mn><mn>2</mn></mfrac></mstyle>'),
        (r"\delta'", "<msup><mi>\N{GREEK SMALL LETTER DELTA}</mi><mo>\N{PRIME}</mo></msup>"),
    ],
)
def test_mathml_by_hand(latex, part):
    """What a formula has to become."""
    assert part in mathml(latex)


@pytest.mark.parametrize("latex", [r"\nonsense", "{x", r"\left(x", r"\begin{matrix}x\end{matrix}", "§"])
def test_what_is_not_read_is_an_error(latex):
    """Nothing is left out in silence."""
    with pytest.raises(LatexError):
        mathml(latex)


def test_numbers_are_those_of_the_audit(plain):
    """Counts by verdict and basis, of all and of every statement; errata with their order; the graphs."""
    audited, counts = rc.audit(KEY), plain["counts"]
    verdicts = [step.verdict for step in audited.steps]
    by_key = {each["key"]: each for each in plain["statements"]}
    numbers = [
        (counts["steps"], len(verdicts)),
        (counts["certified"], sum(step.certified for step in audited.steps)),
        (counts["certified"] + counts["solver"], verdicts.count(StepVerdict.PROVED)),
        (counts["special"] + counts["exhaustive"] + counts["instances"], verdicts.count(StepVerdict.CHECKED)),
        (counts["standard"], verdicts.count(StepVerdict.STANDARD)),
        (counts["false"], verdicts.count(StepVerdict.FALSE)),
        (sum(counts["kinds"].values()), verdicts.count(StepVerdict.FALSE)),
        (counts["misprints"], verdicts.count(StepVerdict.TYPO)),
        (counts["undecided"], verdicts.count(StepVerdict.UNKNOWN)),
        (counts["errata"], len(audited.errata)),
        (counts["main"], 1),
    ]
    for key, conclusion in audited.conclusions.items():
        own = [step for step in audited.steps if step.of == key]
        numbers += [(by_key[key]["counts"]["steps"], len(own)), (len(by_key[key]["steps"]), len(own))]
        assert by_key[key]["standing"] == conclusion.standing.value
    for number, (mine, theirs) in enumerate(zip(plain["errata"], audited.errata, strict=True), 1):
        numbers += [(mine["number"], number), (mine["level"], theirs.rank[0])]
        assert (mine["printed"], mine["evidence"]) == (theirs.first.claim, theirs.first.evidence)
    assert len(numbers) >= 10
    assert all(shown == recomputed for shown, recomputed in numbers)
    assert min(counts["steps"], counts["certified"], counts["false"], counts["errata"]) > 0
    graphs = by_key[KEY]["graphs"]
    assert [graph["root"] for graph in graphs] == [KEY, f"{KEY}-repaired"]
    assert all(graph == rc.proof(graph["root"]).graph.fields() for graph in graphs)


def test_the_page_is_made_of_its_data_alone(found, plain):
    """The data are inside, every number in the text is in them, and the same data give the same bytes."""
    text = found.html
    shown = Page(text)
    assert json.loads(shown.data) == plain
    assert text == html.page(document(json.loads(shown.data))) == rc.review(KEY).html
    known = set(NUMBER.findall(json.dumps(plain)))
    assert known.issuperset(NUMBER.findall(" ".join(shown.text)))
    changed = copy.deepcopy(plain)
    changed["counts"]["certified"] = 987654
    assert "987654" in html.page(document(changed))
    assert "987654" in markdown.page(document(changed))
    assert "987654" in summary.text(changed)
    assert "987654" not in text


def test_the_page_stands_alone_and_can_be_read_aloud(found):
    """No network and no script; ids are unique, links lead somewhere, tables and figures say what they are."""
    shown = Page(found.html)
    assert len(shown.ids) == len(set(shown.ids))
    assert all(link.startswith("#") and link[1:] in shown.ids for link in shown.links)
    tags = [tag for tag, _ in shown.tags]
    assert tags.count("h1") == tags.count("main") == tags.count("nav") == 1
    assert {"math", "svg", "title", "desc", "caption"} <= {*tags}
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in shown.tags if tag == "th")
    assert [attributes.get("type") for tag, attributes in shown.tags if tag == "script"] == ["application/json"]
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]+"', "", found.html)


def test_an_erratum_of_several_statements_is_told_once(plain):
    """In full under the statement of its first step; the others, and all lists, lead there."""
    changed = copy.deepcopy(plain)
    (entry, *_) = changed["statements"]
    number = entry["errata"][0]
    changed["statements"].append({**entry, "key": "flame/other", "main": False, "graphs": [], "repaired": []})
    shown = Page(html.page(document(changed)))
    assert len(shown.ids) == len(set(shown.ids))
    assert all(link[1:] in shown.ids for link in shown.links)
    made = html.page(document(changed))
    own, others = (made.index(f'id="{short.anchor(key)}-errata"') for key in (KEY, "flame/other"))
    assert own < made.index(f'<section id="e-{number}"') < others < made.rindex(f">Erratum {number}</a>")
    changed["errata"][number - 1]["of"] = "flame/other"
    made = html.page(document(changed))
    assert made.index('id="s-flame-other-errata"') < made.index(f'<section id="e-{number}"')
    # Where the review has no statement of that name, under the first that has it.
    changed["errata"][number - 1]["of"] = "flame/elsewhere"
    shown = Page(html.page(document(changed)))
    assert len(shown.ids) == len(set(shown.ids))
    assert all(link[1:] in shown.ids for link in shown.links)


def test_a_proved_graph_says_what_it_takes_as_known(plain):
    """A statement's comparison with instances is CHECKED beside a graph that is PROVED: no link, and said so."""
    graph = next(each for entry in plain["statements"] for each in entry["graphs"])
    changed = copy.deepcopy(plain)
    changed["statements"][0]["graphs"][0] |= {"grade": "PROVED"}
    text = markdown.page(document(changed))
    (said,) = (line for line in text.splitlines() if line.startswith(f"Proof graph of `{graph['root']}`: **PROVED**"))
    for part in ("every step that a link uses", "textbook facts are taken as known", "is no link"):
        assert part in said
    assert "textbook facts are taken as known" in answered(changed)["Does it stand?"]


@pytest.mark.parametrize("standing", ["holds as printed", "not refuted as printed"])
def test_misprints_in_the_proof_of_what_is_printed_right_are_said(plain, standing):
    """What holds as printed is the statement; a line that is a misprint does not."""
    changed = copy.deepcopy(plain)
    (entry, *_) = changed["statements"]
    entry["standing"] = standing
    said = f"{standing}, with misprints in its proof or beside it"
    assert said not in html.page(document(changed))
    entry["steps"][0]["verdict"] = "TYPO"
    assert f"<strong>{said}</strong>" in html.page(document(changed))
    assert dict(summary.stands(changed))[KEY].startswith(said)
    assert "misprint" in words.standing_meaning(standing)


def test_words_are_explained_before_they_are_used(found):
    """Each word of the audit stands in the legend, which comes before the first verdict; how to install is said."""
    for form in (found.html, found.markdown):
        first = min(form.index(word) for word in ("CHECKED", "STANDARD", "OPEN") if word in form)
        assert form.index("Words of this review") < first
        assert form.index("ledger") > form.index("Words of this review")
        assert "pip install ." in form
        assert "pip install ratecheck" not in form
    named = {name for name, _ in words.LEGEND}
    assert {"ledger", "draw", "CHECKED", "STANDARD", "proof graph"} <= named


def test_a_wide_table_keeps_its_roles_and_heads(found):
    """A phone shows its rows as blocks, which takes the roles of a table away unless they are written out."""
    shown = Page(found.html)
    many = [attributes for tag, attributes in shown.tags if tag == "table" and attributes.get("class") == "many"]
    assert many
    assert all(attributes["role"] == "table" for attributes in many)
    roles = Counter(attributes.get("role") for tag, attributes in shown.tags if tag in ("tr", "th", "td"))
    heads = [attributes for _, attributes in shown.tags if "data-head" in attributes]
    assert min(roles["row"], roles["cell"], roles["rowheader"], roles["columnheader"]) > 0
    assert len(heads) == roles["cell"] + roles["rowheader"]
    assert "table.many [data-head]::before" in STYLE


def answered(data):
    """The answers in short as text, by question."""
    return {question: "\n".join(map(text, lines)) for question, lines in short.answers(data)}


def test_a_review_begins_with_the_four_answers(found, plain):
    """Before any list: the worst erratum, the standing, what repeats it, what is open; all as the audit says."""
    audited = rc.audit(KEY)
    worst, conclusion = audited.errata[0], audited.conclusions[KEY]
    error, stands, check, left = answered(plain).values()
    assert worst.first.location in error
    assert worst.fault.wrong in error
    assert conclusion.standing.value.capitalize() in stands
    assert bounds.get(KEY).source.number in stands
    assert f"ratecheck audit --step {worst.first.id}" in check
    unproved = sum(step.verdict.value in ("CHECKED", "STANDARD", "UNKNOWN") for step in audited.steps)
    assert f"{unproved} step" in left
    shown = Page(found.html)
    opened = [attributes.get("id") for tag, attributes in shown.tags if tag == "section"]
    assert opened[:3] == ["short", "q-1", "q-2"]
    assert found.html.index("<nav") < found.html.index("<summary>Contents</summary>") < found.html.index('id="short"')
    for form in (found.markdown.replace("\\", ""), str(found)):
        assert form.index(worst.fault.wrong) < form.lower().index("what is wrong, what matters most first")


def test_the_answers_tell_what_a_repair_changes(plain):
    """A proof alone, a misprint in the statement, or the statement; where it is false or lacks something, that too."""
    changed = copy.deepcopy(plain)
    (first, *others), (entry, *_) = changed["errata"], changed["statements"]
    changed["errata"] = [first]
    assert not others or others[0]["number"] > first["number"]
    number = entry["number"]
    repair, proof = "not refuted with repair", "not refuted as printed, its proof needs a repair"
    cases = (
        ([], "wrong term", proof, "(lines of the proof change, the statement does not)"),
        ([KEY], "misprint", repair, "(a misprint in the statement is corrected)"),
        ([KEY], "wrong term", repair, "(the statement changes)"),
    )
    for keys, kind, standing, says in cases:
        entry["standing"] = changed["standings"][0]["standing"] = standing
        first |= {"changes": keys, "kind": kind}
        said = answered(changed)["Does it stand?"]
        assert f"{standing.capitalize()} {says}: {number}." in said
        # Of the printed form of a statement that has a misprint nobody says that it is not refuted.
        wrong = bool(keys) and kind == "misprint"
        assert ("It is not refuted as printed." in said) != wrong
        assert ("Misprinted in the statement (the repaired form corrects it)." in said) == wrong
    first |= {"changes": [KEY], "kind": "misprint"}
    entry["repaired"], forms = [], entry["repaired"]
    assert "Misprinted in the statement (what is encoded is corrected)." in answered(changed)["Does it stand?"]
    second = {**copy.deepcopy(entry), "key": "flame/other", "number": "Theorem 0"}
    changed["statements"].append(second)
    said = answered(changed)["Does it stand?"]
    assert f"Misprinted in the statement (what is encoded is corrected): {number}." in said
    assert "None of the others is refuted as printed." in said
    changed["statements"].remove(second)
    entry["repaired"] = forms
    first |= {"changes": [KEY], "kind": "wrong term"}
    first["wrong"] = ""
    assert "(a step is false, and its repair is not refuted)" in answered(changed)["Does it stand?"]
    entry["known"] = {"what": "needs an assumption that is not printed", "text": ""}
    said = answered(changed)["Does it stand?"]
    assert f"{number}: needs an assumption that is not printed." in said
    assert "It is not refuted" not in said
    entry["known"] = None
    graph = next(each for each in entry["graphs"] if each["root"] == KEY)
    grade, graph["grade"] = graph["grade"], "FALSE"
    said = answered(changed)["Does it stand?"]
    assert "The printed argument breaks (a link" in said
    assert f"is false): {number}." in said
    assert "It is not refuted" not in said
    graph["grade"], entry["standing"] = grade, "false as printed"
    changed["standings"][0]["standing"] = "false as printed"
    assert "not refuted" not in answered(changed)["Does it stand?"]
    first |= {"refutes": [{"key": KEY, "evidence": "0 <= -1 fails", "command": "ratecheck audit --step x"}]}
    assert "ratecheck audit --step x. In numbers: 0 <= -1 fails." in answered(changed)["How would you check it?"]
    assert f"It refutes {KEY}" in html.page(document(changed))


def test_markdown_says_the_same(found, plain):
    """Errata, commands, formulas between dollar signs, what was not checked; and no heading is lost."""
    text = found.markdown
    headings = len(re.findall(r"<h[1-6]", found.html))
    assert len(re.findall(r"^#+ ", text, re.MULTILINE)) == headings
    for each in plain["errata"]:
        assert f"Erratum {each['number']}" in text
        assert f"`{each['command']}`" in text
    display = next(block["display"] for block in plain["statements"][0]["statement"] if "display" in block)
    assert f"$$\n{display}\n$$" in text
    assert all(row.count(" | ") == row.rstrip(" |").count(" | ") for row in text.splitlines() if row.startswith("|---"))


def test_links_in_markdown_lead_somewhere(found):
    """To a name before a heading, of which there is one each; and a label in a table keeps its space."""
    text = found.markdown
    names = re.findall(r'^<a id="([^"]+)"></a>$', text, re.MULTILINE)
    assert len(names) == len(set(names))
    links = re.findall(r"\]\(#([^)]+)\)", text)
    assert {*links} <= {*names}
    assert any(link.startswith("e-") for link in links)
    assert "; in full under [" in text


def test_what_was_not_run_is_said(plain):
    """Nothing was searched, so no tightness and no counterexample is claimed."""
    assert plain["asked"] == {"evaluations": 0, "seed": 0, "sharpest": False, "prove": False}
    for each in plain["statements"]:
        assert each["searches"] == each["constants"] == each["brackets"] == []
        assert any("not searched" in line for line in each["not_checked"])
        # Steps that are whole statements were tried on instances.
        whole = any(step["kind"] == "end-to-end" for step in each["steps"])
        assert any("beyond those of its steps" in line for line in each["not_checked"]) == whole
    assert any("beyond the instances of their steps" in line for line in plain["not_checked"])
    assert "Beyond the instances of the steps no search" in answered(plain)["What was not checked?"]
    for each in plain["statements"]:
        checked = [step["id"] for step in each["steps"] if step["verdict"] == "CHECKED"]
        assert all(any(step in line for line in each["not_checked"]) for step in checked)
    text = summary.text(plain)
    assert "not searched" in text
    assert "verified" not in text


@pytest.fixture
def own(tmp_path):
    """The file of the documentation, with a proof."""
    first, second = re.findall(r"^cat >>? whole\.py <<'END'\n(.*?)^END$", OWN.read_text(), re.MULTILINE | re.DOTALL)
    file = tmp_path / "mine.py"
    file.write_text(first + second)
    return file, first, second


def test_a_file_of_ones_own(own):
    """With its ledger, with an error in it, and without a ledger; no path of the machine is in a review."""
    file, first, second = own
    found = rc.review(str(file), evaluations=20)
    assert not found.finding
    assert found.data["counts"]["certified"] == 3
    assert found.data["statements"][0]["standing"] == "not refuted as printed"
    error, stands, *_ = answered(found.data).values()
    assert error == "None was found: no step was refuted."
    assert "It is not refuted as printed." in stands
    assert str(file.parent) not in found.html + found.markdown + str(found)
    assert "ratecheck audit mine.py:descent" in found.markdown
    file.write_text(first + second.replace("gamma_u / 2 * square", "gamma_u * square"))
    slip = rc.review(f"{file}:descent", evaluations=20)
    assert slip.finding
    assert slip.data["errata"][0]["command"] == "ratecheck audit mine.py --step mine/descent-1"
    error, stands, check, _ = answered(slip.data).values()
    assert "f_next <= f - (gamma_u/2)*||g||^2" in error
    assert "Undecided" in stands
    assert "ratecheck audit mine.py --step mine/descent-1. In numbers: false at" in check
    assert [each["what"] for each in slip.data["levels"]] == [LEVELS[2]]
    file.write_text(first)
    bare = rc.review(str(file))
    assert bare.data["counts"]["steps"] == 0
    assert bare.data["statements"][0]["standing"] is None
    assert "no step of a proof was examined" in str(bare)
    assert "no step of it was examined" in answered(bare.data)["What was not checked?"]


@pytest.mark.long
def test_the_commands_of_a_review_repeat_it(own):
    """As they stand in the data, one after the other in the folder of the file: all end well."""
    file, *_ = own
    found = rc.review(str(file), evaluations=20).to_dict()
    (entry,) = found["statements"]
    commands = [each["command"] for each in (*found["commands"], *entry["commands"])]
    exact = [each for each in commands if "NAME=VALUE" not in each and not each.startswith("ratecheck falsify")]
    assert len(exact) >= 8
    # The words of the commands are this Python and this package, wherever they are installed.
    there = file.parent / "bin"
    there.mkdir()
    for name, start in (("python", sys.executable), ("ratecheck", f"{sys.executable} -m ratecheck")):
        (there / name).write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        (there / name).chmod(0o755)
    said = {}
    for command in exact:
        done = subprocess.run(
            ["sh", "-c", command],  # noqa: S607
            cwd=file.parent,
            env={**os.environ, "PATH": f"{there}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
        said[command] = done.stdout
    assert said["python recheck.py proofs.json"] == f"{found['counts']['certified']} certificates are accepted\n"
    assert json.loads(Page((file.parent / "review.html").read_text()).data) == found
    shown = rc.review(str(file), evaluations=20).markdown
    assert all(f"`{command}`" in shown for command in commands)


def rules(text):
    """The rules of a style sheet by selector, those within @media print in a list of their own."""
    screen, _, paper = text.partition("@media print {")
    assert text.count("{") == text.count("}")

    def read(part):
        pairs = re.findall(r"([^{}]+)\{([^{}]*)\}", part)
        return {name.strip(): body for names, body in pairs for name in names.split(",")}

    return read(screen), read(paper)


def test_wide_things_scroll_in_their_own_box(found):
    """Every table, displayed formula and figure stands in a box of class wide, which scrolls; inline formulas do."""
    parser = Nesting(found.html)
    assert parser.seen["table"] > 3
    assert parser.seen["svg"] == 2
    assert parser.seen["math"] > 3
    assert parser.outside == []
    screen, _ = rules(STYLE)
    for box in (".wide", ".formula"):
        assert "max-width: 100%" in screen[box]
        assert "overflow-x: auto" in screen[box]
    assert "height: auto" in screen["figure svg"]
    assert "max-width: 100%" in screen["figure svg"]
    # 36rem are 576 pixels, so that a screen of 390 has these rules.
    assert "@media screen and (max-width: 36rem)" in STYLE
    assert 'content="width=device-width, initial-scale=1"' in found.html


class Nesting(HTMLParser):
    """How many tables, figures and formulas there are, and those that stand in no box that scrolls."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.outside, self._boxes = Counter(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """What is inside of which box."""
        classes = {*(dict(attributes).get("class") or "").split()}
        if tag in ("table", "svg", "math"):
            self.seen[tag] += 1
            if not any(self._boxes):
                self.outside.append(tag)
        if tag not in VOID:
            self._boxes.append(bool(classes & {"wide", "formula"}))

    def handle_endtag(self, tag):
        """The box is left."""
        self._boxes.pop()


def test_paper_shows_everything_on_white(found):
    """Folds are open, nothing scrolls, the ground is white, statements begin pages, headings stay with what follows."""
    _, paper = rules(STYLE)
    assert "content-visibility: visible" in paper["details::details-content"]
    assert "overflow: visible" in paper[".wide"]
    assert "--paper: #fff" in paper[":root"]
    assert "color-scheme: light;" in paper[":root"]
    assert all("break-after: avoid" in paper[f"h{level}"] for level in range(1, 6))
    for group in ("main", "others"):
        assert "break-before: page" in paper[f"#{group}-statements > section"]
    # A section per statement, right under the group.
    ids = re.findall(r'<section id="([^"]+)"', found.html)
    assert "main-statements" in ids
    assert f"s-{KEY.replace('/', '-')}" in ids
    # The last rules win: paper after the dark colours of a screen.
    assert STYLE.index("prefers-color-scheme: dark") < STYLE.index("@media print")


SETTINGS = "flame/theorem-2-unbiased"


def test_the_settings_of_the_experiments_are_in_every_form(found, plain):
    """As `coverage` says, and in the summary where none is covered; what restricts no step size says so."""
    assert plain["counts"]["settings"] == 7
    assert plain["statements"][0]["coverage"] == []
    assert "no condition on a step size" in found.markdown
    forms = [bounds.get(f"{SETTINGS}{end}") for end in ("", "-repaired")]
    every = {each.key: coverage(each, experiments("flame")) for each in forms}
    asked = Requested(of=SETTINGS, title="", evaluations=0, seed=0, sharpest=False, settings=7)
    reviewed = Reviewed(forms[0], SETTINGS, main=True, repaired=(forms[1],), coverage=every)
    made = json.loads(json.dumps(review_fields(asked, [reviewed], [], {}, [])))
    (entry,) = made["statements"]
    assert [each["key"] for each in entry["coverage"]] == [each.key for each in forms]
    for shown, real in zip(entry["coverage"], every.values(), strict=True):
        assert [each["verdict"] for each in shown["settings"]] == [each.verdict.value for each in real]
        assert shown["verdicts"] == {"NOT COVERED": 7}
    none = "no form of it covers any of the 7 settings of the paper's experiments"
    assert none in dict(summary.stands(made))[SETTINGS]
    page, text = html.page(document(made)), markdown.page(document(made))
    assert Nesting(page).outside == []
    for form in (" ".join(Page(page).text), text, summary.text(made)):
        assert none in form.replace("\\", "").replace("&#x27;", "'")
    assert "Section 5.2.5, Fig. 7" in page
    assert "Section 5.2.5, Fig. 7" in text
    known = set(NUMBER.findall(json.dumps(made)))
    assert known.issuperset(NUMBER.findall(" ".join(Page(page).text)))
    # A setting that is one of two is told apart, in the table of the settings and in that of the conditions.
    two = "Section 5.2.2, Fig. 4, lambda = 1"
    rows = [line.split(" | ")[0].strip("| ") for line in text.splitlines() if line.startswith(f"| {two}")]
    assert {*rows} == {f"{two}, m=50", f"{two}, m=100"}
    entry["coverage"][0]["verdicts"] = {"NOT COVERED": 6, "COVERED": 1}
    assert f"experiments is covered by {SETTINGS}-repaired" in dict(summary.stands(made))[SETTINGS]
    bare = json.loads(json.dumps(review_fields(dataclasses.replace(asked, settings=0), [reviewed], [], {}, [])))
    assert "prints no settings" in markdown.page(document(bare))
    unread = review_fields(dataclasses.replace(asked, settings=None), [reviewed], [], {}, [])
    assert any("none were read" in line for line in unread["not_checked"])


def test_a_graph_tells_why_a_node_does_not_stand(plain):
    """In the table and the description of the figure, as `ProofGraph.flaws` says; nothing where there is no flaw."""
    changed = copy.deepcopy(plain)
    (graph, *_) = changed["statements"][0]["graphs"]
    assert ProofGraph.read(graph).flaws == {}
    assert "FALSE itself" not in markdown.page(document(changed))
    graph["nodes"][0] |= {"own": "FALSE", "with_premises": "FALSE"}
    graph["grade"] = "FALSE"
    assert [flaw.value for flaw in ProofGraph.read(graph).flaws.values()] == ["FALSE itself"]
    assert "FALSE: FALSE itself" in markdown.page(document(changed))
    assert f"{graph['nodes'][0]['label']}: FALSE itself" in html.page(document(changed))


def test_a_search_is_told_with_its_counterexample(own):
    """A fifth of the right side is refuted: in mathematics, with the command, and the review is a finding."""
    file, first, _ = own
    file.write_text(first.replace("2 * F_0 /", "F_0 / 4 /"))
    assert "F_0 / 4 /" in file.read_text()
    found = rc.review(str(file), evaluations=20)
    (search,) = found.data["statements"][0]["searches"]
    alone = rc.falsify(f"{file}:descent", evaluations=20)
    assert (search["verdict"], search["tightness"]) == ("VIOLATED", alone.tightness)
    assert search["counterexample"]["latex"] == alone.as_latex()
    assert found.finding
    error, stands, check, _ = answered(found.data).values()
    assert f"mine/descent is violated: {search['counterexample']['text']}." in error
    assert "Refuted by a counterexample: mine/descent" in stands
    assert "ratecheck falsify mine.py:descent --evaluations 20 --seed 0" in check
    shown = Page(found.html)
    assert "smallest counterexample known" in " ".join(shown.text)
    known = set(NUMBER.findall(json.dumps(found.to_dict())))
    assert known.issuperset(NUMBER.findall(" ".join(shown.text)))
    assert "--evaluations 20 --seed 0" in found.markdown
    assert "**refuted by a counterexample**" in found.markdown


def test_a_file_of_ones_own_is_searched_by_default(own):
    """What holds and what does not look different without any option; 0 evaluations search nothing."""
    file, first, _ = own
    file.write_text(first)
    right = rc.review(file)
    assert right.data["asked"]["evaluations"] == 200
    assert not right.finding
    error, stands, _, _ = answered(right.data).values()
    assert "None was found by the search" in error
    # A search ends before its budget where it has nothing left to look at.
    counted = r"Not refuted by a search of (1[5-9]\d|200) instances: mine/descent; left / right at most "
    assert re.search(counted, stands)
    # What is not refuted never looks as if it were, by a last digit.
    assert f"that was found: {right.data['statements'][0]['searches'][0]['ratio']}\n" in right.markdown
    file.write_text(first.replace("2 * F_0 /", "F_0 / 4 /"))
    assert rc.review(file).finding
    unsearched = rc.review(file, evaluations=0)
    assert not unsearched.finding
    error = answered(unsearched.data)["What is the main error?"]
    assert error == "No step of a proof was examined, so that none was refuted."


@pytest.mark.long
def test_a_form_without_steps_rests_on_a_proof(monkeypatch):
    """A rate in orders has no step of its own; whose proof it rests on is said, and how that stands."""
    monkeypatch.setattr("ratecheck.api.checks.review._graphs", lambda *_: {})
    plain = rc.review("simfbo/theorem-1-order-full").data
    entry = {each["key"]: each for each in plain["statements"]}["simfbo/theorem-1-order-full"]
    assert [each["key"] for each in entry["rests_on"]] == ["simfbo/theorem-1"]
    said = dict(summary.stands(plain))[entry["key"]]
    assert said.startswith(f"no step of its own; it rests on simfbo/theorem-1, {entry['rests_on'][0]['standing']}")
    assert entry["not_checked"][0] == "how it follows from simfbo/theorem-1: no step of that was examined"


def test_headline_claims_come_early_and_misprints_are_listed(plain):
    """The summary has every erratum: those that change what a reader takes from the paper in full."""
    text = summary.text(plain)
    assert all(f"  {each['number']}. {each['place']}   {each['kind']}" in text for each in plain["errata"])
    changed = copy.deepcopy(plain)
    changed["errata"][-1] |= {"level": LEVELS.index(HEADLINE), "consequence": "this one"}
    assert "this one" in summary.text(changed)
    assert "this one" not in text


def test_links_lead_somewhere_in_every_form(found):
    """In HTML and Markdown every link has its target; the text of a terminal, which has none, points at no link."""
    targets, links = re.findall(r'\bid="([^"]+)"', found.html), re.findall(r'href="#([^"]+)"', found.html)
    assert links
    assert {*links} <= {*targets}
    anchors, pointed = re.findall(r'<a id="([^"]+)"', found.markdown), re.findall(r"\]\(#([^)]+)\)", found.markdown)
    assert pointed
    assert {*pointed} <= {*anchors}
    said = str(found)
    assert "see there" not in said + found.markdown + found.html
    assert "the whole list is below" in said
    assert "In the document that --out writes: all commands" in said
