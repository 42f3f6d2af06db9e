"""A report of a study says what the study found, in every form, and what was not looked at."""

import itertools
import json
import re

import pytest
from click.testing import CliRunner
from html_page import Page
from markdown_it import MarkdownIt

import ratecheck as rc
from ratecheck.commands.records.report import command
from ratecheck.errors import InputError
from ratecheck.studies import load
from ratecheck.studies.study import ClaimKind
from ratecheck.views.report.data import judged

STUDY = r"""
name = "tiny"
title = "Two figures & <one> file"
metric = { G_u = 1, G_v = 1 }
chosen = ["The start is drawn at random."]
theorems = ["pfl/theorem-3.7"]
problem = { name = "quadratic", n = 3, d = 4 }

[run]
algorithm = "fedavg-p"
m = 2
K = 5
T = 200
gamma = 0.02
sigma_u = 0.5
sigma_v = 0.5
eta_u = 2
eta_v = 1.5
replicates = 16

[[figure]]
name = "steps"
vary = "gamma"
values = [0.001, 0.01, 0.05]

[[figure]]
name = "local"
vary = "K"
values = [1, 2]

[[claim]]
name = "higher"
figure = "steps"
says = "a larger step size leaves a larger error"
source = "Section 1"
kind = "mean"
effect = "rises"

[[claim]]
name = "sooner"
figure = "steps"
says = "a larger step size is faster at first"
kind = "speed"
effect = "rises"
levels = [0.5, 0.1]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the study is."""
    place = tmp_path_factory.mktemp("study")
    (place / "tiny.toml").write_text(STUDY)
    return place


@pytest.fixture(scope="module")
def found(folder):
    """Its report; the cells are kept beside it."""
    return rc.report(folder / "tiny.toml", results=folder / "cells")


def test_the_report_has_what_the_run_found(folder, found):
    """Ten numbers and more, from the result of the run; the same cells give the same bytes."""
    run = rc.run(folder / "tiny.toml", out=folder / "cells")
    data, beside = found.to_dict(), run.to_dict()
    assert [data[name] for name in ("claims", "curves", "theory", "level", "level_of_one_interval", "chosen")] == [
        [{**claim, "judged": data["claims"][k]["judged"]} for k, claim in enumerate(beside["claims"])],
        *(beside[name] for name in ("curves", "theory", "level", "level_of_one_interval", "chosen")),
    ]
    verdicts = [claim.verdict.value for claim in run.claims]
    assert {name: count for name, count in data["counts"]["verdicts"].items() if count} == {
        name: verdicts.count(name) for name in verdicts
    }
    assert data["counts"]["curves"] == 5
    assert data["counts"]["comparisons"] == sum(len(claim.comparisons) for claim in run.claims) == 3 + 6
    assert found.all_confirmed == run.all_confirmed
    again = rc.report(folder / "tiny.toml", results=folder / "cells")
    assert (again.html, again.markdown, str(again)) == (found.html, found.markdown, str(found))


def test_the_page_stands_alone_with_its_data_and_figures(found):
    """No network, no script; ids are unique, links lead somewhere; a figure per figure of the file, escaped titles."""
    shown = Page(found.html)
    assert json.loads(shown.data) == found.to_dict()
    assert len(shown.ids) == len(set(shown.ids))
    assert all(link.startswith("#") and link[1:] in shown.ids for link in shown.links)
    tags = [tag for tag, _ in shown.tags]
    assert tags.count("svg") == tags.count("figure") == 2
    assert [attributes.get("type") for tag, attributes in shown.tags if tag == "script"] == ["application/json"]
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    text = "".join(shown.text)
    assert "Two figures & <one> file" in text
    for claim in found.data["claims"]:
        assert {claim["says"], claim["verdict"], claim["judged"]} <= {
            part for part in re.split(r"\s*—\s*|\n", "\n".join(shown.text)) if part
        }
    assert "of 5 bounds are of settings that their theorem admits" in text
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]+"', "", found.html)


def test_markdown_shows_the_same_words(found):
    """Rendered, the claims and every number are there, and no backslash."""
    rendered = re.sub(r"<[^>]+>", "\n", MarkdownIt("commonmark").enable("table").render(found.markdown))
    assert "\\" not in rendered
    for claim in found.data["claims"]:
        assert claim["judged"] in rendered
    ratios = [each["ratio"] for claim in found.data["claims"] for each in claim["comparisons"] if each["ratio"]]
    assert len(ratios) >= 3
    assert all(f"{ratio['value']:.4g}" in rendered for ratio in ratios)
    assert "ratecheck run tiny.toml --only steps" in rendered


def test_what_was_not_checked_is_said(folder, found):
    """Figures that were left out, smoke tests, choices, theorems that do not apply."""
    said = "\n".join(found.data["not_checked"])
    outside = sum(not each["admissible"] for each in found.data["theory"])
    assert outside
    assert f"{outside} of 5 bounds are evaluated where their theorem does not apply" in said
    assert "what was chosen" in said
    assert "smoke test" not in said
    part = rc.report(folder / "tiny.toml", results=folder / "some", only=["local"], quick=True)
    first, second, *_ = part.data["not_checked"]
    assert "smoke test" in first
    assert "left out, with the claims about them: steps" in second
    assert part.data["counts"]["claims"] == 0
    assert "smoke test" in str(part)


def test_a_curve_that_diverges_is_named(folder):
    """It is compared with nothing."""
    (folder / "far.toml").write_text(STUDY.replace("[0.001, 0.01, 0.05]", "[0.001, 0.01, 50]"))
    found = rc.report(folder / "far.toml", results=folder / "far", only=["steps"])
    assert "Diverged, and compared with nothing: steps gamma=50." in found.data["not_checked"]
    assert "diverged in 16" in found.markdown
    assert not found.all_confirmed


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('kind = "mean"\neffect = "falls"', "over all rounds is smaller for the larger gamma, in every comparison"),
        ('kind = "lowest"\neffect = "none"\nmargin = 0.1', "is the same for every gamma, up to 0.1 of it, in every"),
        ('kind = "last"\neffect = "bounded"\nmargin = 0.2', "is no larger for the larger gamma, up to 0.2 of it"),
        (
            'kind = "speed"\nlevels = [0.5, 0.1]\neffect = "falls"',
            "how soon the metric falls to 0.5 and 0.1 of its start is later for the larger gamma",
        ),
        (
            'kind = "mean"\neffect = "better"\ncurves = [0.001]\nagainst = [0.01, 0.05]\nfactor = 2',
            "is smaller for 0.001 than for 0.01 and 0.05 by a factor of at least 2",
        ),
        ('kind = "mean"\neffect = "rises"\naverage = true', "larger for the larger gamma, on average over all"),
        ('kind = "mean"\neffect = "bounded"\nmargin = 0.1\npower = -1', "over all rounds, divided by gamma^-1, is no"),
    ],
)
def test_what_is_asked_is_said_in_words(folder, lines, said):
    """Every kind of claim and every effect, in the words of the quantity that is varied."""
    head = STUDY.partition("[[claim]]")[0]
    (folder / "asked.toml").write_text(f'{head}[[claim]]\nname = "c"\nfigure = "steps"\nsays = "so"\n{lines}\n')
    study = load(folder / "asked.toml")
    assert said in judged(study.claims[0], study)


def test_every_kind_of_claim_in_the_repository_has_words(pytestconfig):
    """No brace is left open."""
    kinds = set()
    for file in sorted((pytestconfig.rootpath / "experiments").glob("*.toml")):
        study = load(file)
        for claim in study.claims:
            kinds.add(claim.kind)
            assert not re.search(r"[{}]|None", judged(claim, study)), claim.name
    assert kinds == set(ClaimKind)


def test_the_command(folder, found, monkeypatch):
    """The summary on the terminal, both forms on disk, the exit code of the verdicts, one line for bad input."""
    monkeypatch.chdir(folder)

    def run(*words):
        return CliRunner().invoke(command, words, standalone_mode=False)

    done = run("tiny.toml", "--results", "cells", "--out", "report.html")
    assert done.stdout.strip() == str(found).strip()
    assert done.return_value == int(not found.all_confirmed)
    assert (folder / "report.html").read_text() == found.html
    run("tiny.toml", "--results", "cells", "--out", "report.md")
    assert (folder / "report.md").read_text() == found.markdown
    assert json.loads(run("tiny.toml", "--results", "cells", "--json").stdout) == found.to_dict()
    for words, message in (
        (("tiny.toml", "--out", "report.pdf"), "the ending has to be one of .html, .md"),
        (("nowhere.toml",), "nowhere.toml"),
        (("tiny.toml", "--only", "nothing"), "no figure 'nothing'"),
    ):
        error = run(*words).exception
        assert isinstance(error, InputError)
        assert message in str(error)
