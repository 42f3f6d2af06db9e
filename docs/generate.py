"""What the documentation computes: tables from the registries, outputs of the examples.

`everything` runs before Sphinx reads a page and writes to ``docs/_generated``, from where the pages include. What takes
long is kept there under a hash of the sources of ``bounds`` and ``ratecheck``, so that a second build is quick.

An example is a fenced block of ``bash`` or ``python`` in a page. It ends with status 0 unless a comment in it says
``# exit code N``. The examples of a page run in order in one folder, and ``{output}`` shows what the block above it
printed. A block that contains ``pip install`` is not run.
"""

# ruff: noqa: INP001  # a script beside the pages

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import itertools
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import classics
import nbformat
import numpy as np
import reviews
import statement_pages
import sympy as sp
from docutils import nodes
from docutils.parsers.rst import directives
from erratum_cards import card
from markdown_parts import code, link, linked, plain, table
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import bounds
import ratecheck
from bounds.ledger import steps
from bounds.ledger.fault import FaultKind
from bounds.ledger.implications import PAPERS as IMPLYING
from bounds.ledger.implications import audited
from bounds.ledger.rate_table import Row, tables
from bounds.ledger.refuted import of_paper
from bounds.ledger.step import Scope
from bounds.papers.textbook.pairs import PairKind
from bounds.roots import shown
from bounds.statement import Statement, number
from bounds.symbols import Quantity, Role
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import Group
from ratecheck.api.checks.review import ReviewResult
from ratecheck.auditing.finding import SPECIAL, StepVerdict
from ratecheck.auditing.graph import READ, Grade
from ratecheck.auditing.mutation.analysis import MutantStatus
from ratecheck.complexity.tables import TableReport, check_table
from ratecheck.outcome import Outcome
from ratecheck.problems import Constant, Logistic, MinMax, Problem, Quadratic
from ratecheck.problems.build import build
from ratecheck.settings.setting import Options
from ratecheck.verification.verify import verify
from ratecheck.views.checks.selftest import textbook_counts
from ratecheck.views.proofs.graph import headline, tallies
from ratecheck.views.theory.catalogue import count

HERE = Path(__file__).parent
GENERATED = HERE / "_generated"
# Files that are put beside the built pages as they are.
EXTRA = HERE / "_extra"

_log = logging.getLogger(__name__)


def everything(_: Sphinx | None = None) -> None:
    """Write all tables and run all examples."""
    GENERATED.mkdir(exist_ok=True)
    tables: dict[str, Callable[[], str]] = {
        "notation": notation,
        "counts": counts,
        "found": found_in_papers,
        "left-out": left_out,
        "implications": implied,
        "selftest": self_test,
        "methods": methods,
        "variables": variables,
        "parameters": parameters,
        "constants": constants,
        "one-core": lambda: measured("one-core"),
        "two-cores": lambda: measured("two-cores"),
        **{f"coverage-{kind}": functools.partial(coverage, kind) for kind in ("rigorous", "spread", "kurtosis")},
        "tightness": tightness,
        "tightness-by-term": tightness_by_term,
        "claims": claims,
        "quarter": quarter,
        "tables": rate_tables,
        **{f"rates-{paper}": functools.partial(rate_cards, paper) for paper in carded()},
        "rates-planted": planted_rates,
        "caught": caught,
        "classics": classic_rows,
        "classics-left-out": classics_left_out,
        "reach": reach,
        "polish": polish,
        "audit": audit_counts,
        "proofs": proof_graphs,
        "scopes": scopes,
        "audit-mutants": mutants,
        **{f"audit-{paper}": functools.partial(ledger, paper) for paper in reviews.PAPERS},
    }
    # The examples are processes of their own and run beside the tables, the pages with most of them first. Before these
    # the kernels are compiled, which takes most of a minute, and beside that come pages that need none.
    early = {name: place for place, name in enumerate(("start", "stepsizes", "gallery", "comparing"))}
    pages = sorted(
        HERE.glob("*.md"), key=lambda page: (early.get(page.stem, len(early)), -len(examples(page)), page.name)
    )
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(run_page, page) for page in pages]
        for name, made in tables.items():
            _write(GENERATED / f"{name}.md", made())
        for paper in reviews.PAPERS:
            _reviewed(paper)
        statement_pages.write(_write)
        _write(EXTRA / "ratecheck.ipynb", notebook(HERE / "python.md"))
        for page in running:
            page.result()


def _reviewed(paper: str) -> None:
    """Write the review of a paper beside the pages."""
    ReviewResult(reviews.kept(paper)).save(EXTRA / f"review-{paper}.html")


def _write(path: Path, text: str) -> None:
    """Write only what changed, so that Sphinx rebuilds only what changed."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


@functools.cache
def sources_digest() -> str:
    """A hash of every source file of ``bounds`` and ``ratecheck``."""
    digest = hashlib.sha256()
    for package in (bounds, ratecheck):
        folder = Path(package.__file__ or "").parent
        for source in sorted(folder.rglob("*.py")):
            digest.update(str(source.relative_to(folder.parent)).encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


# Examples.


@dataclass(frozen=True)
class Example:
    """A block of code in a page, which line of the page it ends in, and the exit code that it announces."""

    language: str
    code: str
    exit_code: int
    end: int


# A folder with ``ratecheck`` and ``python`` that start more quickly, as the tests have one.
COMMANDS = "RATECHECK_DOCS_COMMANDS"
_BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT_CODE = re.compile(r"# exit code (\d+)")


def examples(page: Path) -> list[Example]:
    """The examples of a page, in order."""
    text = page.read_text()
    found = []
    for block in _BLOCK.finditer(text):
        language, code = block.groups()
        if "pip install" not in code:
            announced = _EXIT_CODE.search(code)
            end = text.count("\n", 0, block.end()) + 1
            found.append(Example(language, code, int(announced[1]) if announced else 0, end))
    return found


def run(example: Example, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one example in a folder; stdout holds both streams in the order in which they were written."""
    commands = Path(os.environ.get(COMMANDS, Path(sys.executable).parent))
    shell = ["bash", "-euo", "pipefail", "-c"] if example.language == "bash" else [str(commands / "python"), "-c"]
    path = f"{commands}{os.pathsep}{os.environ.get('PATH', '')}"
    # More than a hundred processes need not compile the package one by one.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(  # noqa: S603  # the pages are ours
        [*shell, example.code, *arguments],
        cwd=folder,
        env={**inherited, "PATH": path, "COLUMNS": str(_COLUMNS), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def run_folder(page: Path) -> Path:
    """Where the outputs of a page's examples are kept."""
    codes = json.dumps([example.code for example in examples(page)])
    digest = hashlib.sha256((sources_digest() + codes).encode()).hexdigest()[:16]
    return GENERATED / "runs" / f"{page.stem}-{digest}"


def run_page(page: Path) -> None:
    """Run a page's examples unless their outputs are there already; raise where an exit code is not as announced."""
    folder = run_folder(page)
    if (folder / "done").exists() or not examples(page):
        return
    for old in folder.parent.glob(f"{page.stem}-*"):
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True)
    for position, example in enumerate(examples(page)):
        _log.info("running example %d of %s", position + 1, page.name)
        finished = run(example, folder)
        if finished.returncode != example.exit_code:
            found, wanted = finished.returncode, example.exit_code
            message = f"{page.name}: exit code {found} instead of {wanted} from\n{example.code}{finished.stdout}"
            raise ExtensionError(message)
        (folder / f"{position}.txt").write_text(finished.stdout)
    (folder / "done").touch()


def notebook(page: Path) -> str:
    """A page with Python examples as a Jupyter notebook, whose outputs a reader makes."""
    parts = re.split(r"^```(\S+)\n(.*?)^```\n", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    words, kinds, codes = parts[::3], parts[1::3], parts[2::3]
    cells = []
    for k, text in enumerate(words):
        # Other pages do not lie beside a notebook.
        if shown := re.sub(r"\[([^\]]+)\]\([^)]*\.md[^)]*\)", r"\1", text).strip():
            cells.append(nbformat.v4.new_markdown_cell(shown, id=f"words-{k}"))
        if k < len(kinds) and kinds[k] == "python":
            cells.append(nbformat.v4.new_code_cell(codes[k].rstrip(), id=f"code-{k}"))
        elif k < len(kinds) and kinds[k] != "{output}":
            cells.append(nbformat.v4.new_markdown_cell(f"```{kinds[k]}\n{codes[k]}```", id=f"block-{k}"))
    made = nbformat.v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    return str(nbformat.writes(made)) + "\n"


class Output(SphinxDirective):
    """What the example above printed, or the figure that it drew (``:figure: FILE``)."""

    option_spec: ClassVar = {
        "figure": directives.unchanged_required,
        "alt": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """A literal block, or an image."""
        page = Path(self.env.doc2path(self.env.docname))
        above = sum(example.end < self.lineno for example in examples(page)) - 1
        if above < 0:
            raise self.error("there is no example above this output")
        folder = run_folder(page)
        if "figure" in self.options:
            uri = "/" + (folder / self.options["figure"]).relative_to(HERE).as_posix()
            return [nodes.image(uri=uri, alt=self.options.get("alt", ""), width="100%")]
        text = "\n".join(map(wrap, (folder / f"{above}.txt").read_text().rstrip().splitlines()))
        return [nodes.literal_block(text, text, language="text", classes=["output"])]


def wrap(line: str) -> str:
    """A long line broken as a reader would, under the word that follows its label."""
    label = re.match(r"( *)\S+ +", line)
    tabular = label is not None and not label[1] and len(re.findall(r"\S {2,}\S", line)) > 1
    if len(line) <= _COLUMNS or tabular:
        return line
    indent = " " * (label.end() if label and (label[1] or line[label.end() - 2] == " ") else 4)
    broken = textwrap.wrap(line, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(broken)


_COLUMNS = 98


def notation() -> str:
    """Every symbol of every paper, by who supplies its value; what papers share is listed with the first of them."""
    parts: list[str] = []
    listed: set[Quantity] = set()
    for paper, vocabulary in ((paper, bounds.vocabulary(paper)) for paper in bounds.PAPERS):
        own = [quantity for quantity in vocabulary if quantity not in listed]
        listed.update(own)
        parts += [f"## {bounds.title(paper)}", ""]
        for role in Role:
            rows = [_defined(quantity) for quantity in own if quantity.role is role]
            parts += [f"### {_PLURAL[role]}", "", table(_NOTATION, rows)] if rows else []
    return "\n".join(parts)


_NOTATION = ("name", "symbol", "meaning", "domain", "degree in $f$", "degree in $x$")


def _defined(q: Quantity) -> tuple[str, ...]:
    return code(q.name), f"${q.latex}$", plain(q.meaning), q.domain.value, str(q.f_degree), str(q.x_degree)


_PLURAL = {
    Role.SETTING: "Settings of a run",
    Role.FREE: "Free parameters of the analysis",
    Role.CONSTANT: "Constants of a problem",
    Role.STEP_SIZE: "Step sizes",
    Role.MEASURED: "Quantities of a run",
}


def counts() -> str:
    """How many statements of each paper there are, as ``ratecheck list --summary`` counts them."""
    found = {paper: count(paper) for paper in bounds.PAPERS}
    rows = [(plain(bounds.title(paper)), code(paper), *map(str, row.values())) for paper, row in found.items()]
    return table(("paper", "prefix", *next(iter(found.values()))), rows)


def found_in_papers() -> str:
    """Of each paper, how many statements are printed, and which of them the audit refutes."""
    rows = []
    for paper in reviews.PAPERS:
        printed = [each.key for each in bounds.statements(paper) if not each.key.endswith("-repaired")]
        against = {each.key: each.what for each in of_paper(paper) if each.key in printed}
        said = "; ".join(f"{plain(what)}: {count}" for what, count in Counter(against.values()).items())
        listed = ", ".join(map(link, against))
        title = f"[{plain(bounds.title(paper))}](/statements/{paper}/index.md)"
        rows.append((title, str(len(printed)), said or "none refuted", listed or "-"))
    return table(("paper", "statements", "by the audit", "which"), rows)


def left_out() -> str:
    """What of each paper is not in the catalogue, and why."""
    parts = []
    for paper in bounds.PAPERS:
        rows = [(plain(numbered), linked(reason)) for numbered, reason in bounds.left_out(paper)]
        parts += [f"## {bounds.title(paper)}", "", table(("in the paper", "why not"), rows) if rows else "Nothing.", ""]
    return "\n".join(parts)


def implied() -> str:
    """Every implication with its verdict and constants, as kept in implications.json, and what is not algebra."""
    answers = json.loads((HERE / "implications.json").read_text())
    parts = []
    for paper in IMPLYING:
        rows = [_implication(answer) for answer in answers if answer["conclusion"].startswith(f"{paper}/")]
        head = ("conclusion", "premises", "verdict", "constants: printed → sharpest")
        parts += [f"## {bounds.title(paper)}", "", table(head, rows), ""]
        by_hand = [(link(key), ", ".join(map(link, used)), plain(why)) for key, used, why in audited(paper)]
        parts += [table(("conclusion", "premises", "not algebra between statements"), by_hand), ""] if by_hand else []
    return "\n".join(parts)


def _implication(answer: Mapping[str, Any]) -> tuple[str, ...]:
    constants = []
    for constant in answer["constants"]:
        sharpest = "?" if constant["sharpest"] is None else f"{constant['sharpest']:.6g}"
        sign = "" if constant["bracketed"] or constant["sharpest"] in (None, 0) else "<= "
        constants.append(plain(f"{constant['place']}: {constant['printed']:.6g} → {sign}{sharpest}"))
    how = f" ({answer['how']})" if answer["how"] else ""
    premises = ", ".join(map(link, answer["premises"]))
    return link(answer["conclusion"]), premises, answer["verdict"] + how, "; ".join(constants)


def claims() -> str:
    """Every claim of the kept studies with its verdict and intervals, the choices, and the theorems on the curves."""
    parts = []
    for name, study in json.loads((HERE / "claims.json").read_text()).items():
        rows = [
            (plain(claim["source"]), plain(claim["says"]), _verdict(claim), *_spans(claim)) for claim in study["claims"]
        ]
        parts += [f"### {code(name)}", "", plain(study["title"]) + ".", ""]
        parts += [table(("in the paper", "claim", "verdict", "agree, oppose, of", "ratios", "limits"), rows), ""]
        if study["chosen"]:
            parts += ["Chosen here:", "", *(f"- {plain(text)}" for text in study["chosen"]), ""]
        if study["theory"]:
            head = ("figure", "curve", "theorem", "bound", "of the metric", "mean over rounds", "admissible")
            parts += [table(head, _beside(study)), ""]
    return "\n".join(parts)


def _verdict(claim: Mapping[str, Any]) -> str:
    """With the curves of which noise hides whether they are steady, where the claim is about steady states."""
    noisy = ", ".join(claim["noisy"])
    return claim["verdict"] + (plain(f"; not known to be steady: {noisy}") if noisy else "")


def _spans(claim: Mapping[str, Any]) -> tuple[str, ...]:
    count = f"{claim['agree']}, {claim['oppose']}, {claim['comparisons']}"
    if claim["ratios"] is None:
        return count, "", ""
    (low, high), (least, most) = claim["ratios"], claim["limits"]
    end = "∞" if most is None else f"{most:.3g}"
    return count, f"{low:.3g} to {high:.3g}", f"{least:.3g} to {end}"


def _beside(study: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            plain(each["figure"]),
            plain(each["curve"].partition("=")[2]),
            link(each["statement"]),
            *("" if bound is None else f"{bound:.3g}" for bound in (each["bound"], each["metric_bound"])),
            f"{each['mean']:.3g}",
            "yes" if each["admissible"] else "no",
        )
        for each in study["theory"]
    ]


def self_test() -> str:
    """Mutants caught by kind and by statement, survivors, valid instances and Monte Carlo, from selftest.json."""
    data = json.loads((HERE / "selftest.json").read_text())
    kinds = [(row["kind"], *_caught(row)) for row in (*data["kinds"], {"kind": "all", **data["all"]})]
    rows = [
        (
            link(row["key"]),
            *_caught(row),
            "" if row["tightness"] is None else f"{row['tightness']:.3g}",
            plain(", ".join(f"{count} {engine}" for engine, count in row["instances"].items())),
            str(row["alarms"]),
        )
        for row in data["statements"]
    ]
    survivors = [(code(each["key"]), plain(each["reason"])) for each in data["survivors"]]
    counts, random = data["instances"], data["monte_carlo"]
    alarms = (
        f"Of {sum(counts.values()):,} valid instances, {counts['exact']:,} of them decided by the exact engine, "
        f"{len(data['alarms'])} were called violated."
    )
    rows_open = {name: sum(row[name] for row in data["statements"]) for name in ("diverged", "undecided")}
    every = sum(rows_open.values()) + sum(counts.values())
    left_open = (
        f"Besides, {rows_open['undecided']:,} valid instances were left undecided, and on {rows_open['diverged']:,} "
        f"the run diverged: {sum(rows_open.values()) / every:.1%} of all."
    )
    causes = [(str(count), plain(cause)) for cause, count in data["open"]["causes"].items()]
    monte_carlo = (
        f"Of {random['verdicts']:,} Monte Carlo verdicts at the level {random['level']:g} on each side, "
        f"{random['accused']} called a true statement violated and {random['passed']} said that a false one holds; "
        f"the limit is {random['limit']}."
    )
    papers = " ".join(dict.fromkeys(row["key"].partition("/")[0] for row in data["statements"]))
    plan = " ".join(
        f"--{name} {data['plan'][name]}" for name in ("mutants", "instances", "planted", "evaluations", "seed")
    )
    return "\n".join(
        [
            f"The plan was `ratecheck selftest {papers} {plan} --json`.",
            "",
            "## Mutants",
            "",
            table(("kind", *_CHECKS), kinds),
            "",
            "| false by at least | of statements | mutants | caught by audit or falsify | by falsify |",
            "| --- | --- | --- | --- | --- |",
            *(_false_by(data[name]) for name in ("much", "some")),
            "",
            "## Survivors",
            "",
            "Mutants in the last table that neither audit nor falsify catches.",
            "",
            table(("mutant", "why"), survivors) if survivors else "None.",
            "",
            "## Statements",
            "",
            table(("statement", *_CHECKS, "tightness", "valid instances", "alarms"), rows),
            "",
            "## False alarms",
            "",
            alarms,
            "",
            left_open,
            "",
            *([table(("instances", "cause"), causes), ""] if causes else []),
            *_textbook(data),
            monte_carlo,
            "",
        ]
    )


def _textbook(data: Mapping[str, Any]) -> list[str]:
    """The textbook's false twins, and its true statements over all functions."""
    if not data.get("twins"):
        return []
    found = (
        "Of {twins} false twins of the textbook, {caught} are caught by falsify. Of its {true} true "
        "statements the worst case over all functions covers {covered}, and accuses {accused}."
    )
    return [found.format(**textbook_counts(data)), ""]


_CHECKS = ("mutants", "audit", "falsify", "verify", "any", "harmless")


def _caught(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in _CHECKS)


def _false_by(share: Mapping[str, Any]) -> str:
    of = f"tightness above {share['tightness']:g}" if share["tightness"] else "all"
    percent = f" ({share['caught'] / share['mutants']:.0%})" if share["mutants"] else ""
    return f"| {share['factor']:g} | {of} | {share['mutants']} | {share['caught']}{percent} | {share['falsify']} |"


# Audit.


def audit_counts() -> str:
    """How many steps each ledger has, by verdict, and on what the proofs rest."""
    labels = [*(verdict.value for verdict in StepVerdict), SPECIAL]
    kinds = [kind for kind in FaultKind if kind is not FaultKind.MISPRINT]
    rows, by_kind = [], []
    for paper in reviews.PAPERS:
        found = reviews.steps(paper)
        counts = [sum(f["label"] == label for f in found) for label in labels]
        covering = [f["basis"] for f in found if f["label"] != SPECIAL]
        bases = [covering.count(basis) for basis in ("certificate", "solver", "instances")]
        numbers = map(str, (len(found), *counts, *bases))
        rows.append((f"[{plain(bounds.title(paper))}](audit-{paper}.md)", *numbers))
        wrong = Counter(f["finding"] for f in found if f["verdict"] == StepVerdict.FALSE.value)
        causes = len(reviews.kept(paper)["errata"])
        by_kind.append((plain(bounds.title(paper)), *(str(wrong[kind.value]) for kind in kinds), str(causes)))
    parts = [table(("paper", "steps", *labels, "certified", "z3 only", "on instances"), rows), ""]
    parts += ["The steps that are FALSE, by kind, and how many causes all errata have, misprints included:", ""]
    return "\n".join([*parts, table(("paper", *(kind.text for kind in kinds), "causes"), by_kind)])


def scopes() -> str:
    """The steps of the papers that examine another claim than the printed one, with what is narrower."""
    rows = [
        (code(step.id), plain(step.claim), step.scope.value, plain(step.narrower))
        for paper in reviews.PAPERS
        for step in steps(paper)
        if step.scope is not Scope.AS_PRINTED
    ]
    return table(("step", "printed claim", "scope", "what is special or assumed"), rows)


def proof_graphs() -> str:
    """The graphs of the main theorems in the kept reviews: what is checked, the figure, and what is missing."""
    every = {key: graph for paper in reviews.PAPERS for key, graph in reviews.graphs(paper).items()}
    kept = {key: every[key] for key in reviews.DRAWN}
    rows = []
    for key, graph in kept.items():
        links, every = graph.counts
        read = graph.kinds[READ]
        own = [node.own for node in graph.nodes.values()]
        counts = (str(sum(each is grade for each in own)) for grade in Grade)
        rows.append((link(key), graph.grade.value, f"{links} of {every}", str(read), *counts))
    head = ("theorem", "", "links proved", READ, *(f"itself {grade.value}" for grade in Grade))
    parts = [table(head, rows), ""]
    for key, graph in kept.items():
        gaps = [f"{number}. {plain(gap)}" for number, gap in enumerate(graph.gaps, 1)]
        parts += [f"### {plain(key)}", "", f"![{headline(graph)}](_static/{reviews.figure(key).name})", ""]
        parts += [plain(line) + "." for line in tallies(graph)]
        if graph.added:
            parts += ["", "Assumed, and not printed or printed otherwise:", ""]
            parts += [f"- {code(of)}: {plain(what)}" for of, what in graph.added]
        parts += ["", *gaps, ""]
    return "\n".join(parts)


def mutants() -> str:
    """What became of the mutants of every ledger, as kept in mutations.json, and what no check refutes."""
    kept = json.loads((HERE / "mutations.json").read_text())
    kinds = (("all", "all"), ("algebra", "by algebra"), ("instances", "on instances"))
    fates = [fate.value for fate in MutantStatus]
    rows = [
        (
            plain(each["paper"]),
            str(each["steps"]),
            words,
            *(str(each[kind][fate]) for fate in fates),
            f"{each[kind]['share']:.1%}",
        )
        for each in kept
        for kind, words in kinds
    ]
    parts = [table(("paper", "steps tested", "claims", *fates, "refuted of those that may do harm"), rows), ""]
    for each in kept[-1:]:
        by_kind = [
            (plain(kind), *(str(found[fate]) for fate in fates), f"{found['share']:.1%}")
            for kind, found in each["kinds"].items()
            if any(found[fate] for fate in fates)
        ]
        head = ("what is changed", *fates, "refuted of those that may do harm")
        parts += [f"Of {plain(each['paper'])}, by what is changed:", "", table(head, by_kind), ""] if by_kind else []
    changes = list(kept[0]["noticed"])
    noticed = [(plain(each["paper"]), *(str(each["noticed"][by]) for by in changes)) for each in kept]
    parts += ["Constants of claims on instances, by the change that an instance noticed:", ""]
    parts += [table(("paper", *changes), noticed), ""]
    survivors = [
        (code(row["id"]), plain(row["mutant"]), plain(row["reason"])) for each in kept for row in each["survivors"]
    ]
    parts += ["### Survivors", "", "Those that do no harm or make no sense are left out.", ""]
    parts.append(table(("step", "change", "why it survives"), survivors))
    return "\n".join(parts)


def ledger(paper: str) -> str:
    """A paper's ledger: what became of each statement, the errata, and every step with its evidence."""
    kept = reviews.kept(paper)
    audited = [entry for entry in kept["statements"] if entry["steps"]]
    parts = ["## Conclusions", "", table(("statement", "conclusion"), map(_concluded, audited))]
    if kept["errata"]:
        parts += ["## Errata", "", "One per cause, what matters most first.", ""]
        parts += [line for each in kept["errata"] for line in card(each)]
    parts += ["## Steps", ""]
    header = ("step", "in the paper", "claim", "kind", "verdict", "evidence")
    for entry in audited:
        parts += [f"### {code(entry['key'])}", "", table(header, map(_step, entry["steps"]))]
    return "\n".join(parts)


def _concluded(entry: Mapping[str, Any]) -> tuple[str, str]:
    return link(entry["key"]), f"**{entry['standing']}**" + "".join(f"; {plain(why)}" for why in entry["reasons"])


def _step(f: Mapping[str, Any]) -> tuple[str, ...]:
    room = _room().get(f["id"], {"unused": (), "loose": ()})
    notes = [f["evidence"]]
    notes += [f"not needed: {name}" for name in room["unused"]]
    notes += [f"room: {each}" for each in room["loose"]]
    notes += [f"repaired form: {f['repaired']}"] if f["repaired"] else []
    label = ": ".join(filter(None, (f["label"], plain(f["narrower"]))))
    return code(f["id"]), plain(f["location"]), plain(f["claim"]), f["kind"], label, plain("; ".join(notes))


@functools.cache
def _room() -> Mapping[str, Any]:
    """What steps hold without and the room of their constants, as kept in room.json."""
    kept: Mapping[str, Any] = json.loads((HERE / "room.json").read_text())
    return kept


def methods() -> str:
    """The registry of methods."""
    rows = [
        (
            code(method.name),
            method.title,
            code(type(method.algorithm).__name__),
            ", ".join(map(code, method.step_sizes)),
            ", ".join(code(f"{name}={value:g}") for name, value in method.fixed.items()) or "nothing",
            _blocks(method),
            "all" if method.full else "any",
        )
        for method in METHODS.values()
    ]
    return table(("name", "method", "algorithm", "step sizes to give", "fixes", "variables", "clients"), rows)


def _blocks(method: Method) -> str:
    if method.algorithm.bilevel:
        return "upper, lower and system"
    if not {*method.algorithm.blocks} <= {"u", "v"}:
        return f"{' and '.join(method.algorithm.blocks)}, each with its partial gradients"
    return " and ".join(name for name, has in (("shared", method.shared), ("personal", method.personal)) if has)


def variables() -> str:
    """Which variables each algorithm keeps where."""
    algorithms = {type(method.algorithm): method.algorithm for method in METHODS.values()}
    rows = [
        (code(type(a).__name__), *(_group(group) for group in (a.server, a.client, a.local, a.message)))
        for a in algorithms.values()
    ]
    return table(("algorithm", "server", "client", "local", "message"), rows)


def _group(group: Group) -> str:
    return ", ".join(f"{code(name)} (on {block})" for name, block in group.items())


def parameters() -> str:
    """The parameters of every kind of problem, with their defaults."""
    makers = {
        "`quadratic`": Quadratic.synthetic,
        "`logistic`": Logistic.synthetic,
        "`minmax`": MinMax.synthetic,
        "`digits`, `breast_cancer`, `libsvm:PATH`": Logistic.from_table,
    }
    rows = [(name, ", ".join(code(f"{p.name}={p.default}") for p in _numeric(maker))) for name, maker in makers.items()]
    return table(("problem", "parameters and their defaults"), [*rows, ("`PATH.npz`", "`shared`")])


def _numeric(maker: Callable[..., Problem]) -> list[inspect.Parameter]:
    """Parameters that a command can set: all but the table and options that are words."""
    parameters = inspect.signature(maker).parameters.values()
    return [p for p in parameters if p.name != "table" and not isinstance(p.default, str)]


def constants() -> str:
    """The constants of three problems, with their certificates."""
    problems = {
        "`quadratic`": build("quadratic", {}),
        "`quadratic`, `coupling=0.3`": build("quadratic", {"coupling": 0.3}),
        "`digits`": build("digits", {}),
    }
    found = {name: problem.constants(sigma_u=0.3, sigma_v=0.3) for name, problem in problems.items()}
    names = next(iter(found.values()))
    rows = [(code(name), *(_certified(each[name]) for each in found.values())) for name in names]
    return table(("constant", *problems), rows)


def _certified(constant: Constant) -> str:
    value = "" if math.isinf(constant.value) else f"{constant.value:.4g}, "
    return f"{value}**{constant.certificate.value}**: {plain(constant.reason)}"


def measured(name: str) -> str:
    """A table of benchmark figures, kept as JSON beside the benchmarks."""
    cells = json.loads((HERE.parent / "benchmarks" / f"{name}.json").read_text())

    def ratio(cell: dict, engine: str, other: str) -> str:
        return f"{cell[other] / cell[engine]:.1f}" if cell[engine] else ""

    rows = [
        (
            cell["task"],
            *(str(cell[key]) for key in ("n", "d", "K")),
            *(f"{cell[key]:.1f}" if cell[key] else "" for key in ("step", "leap", "JAX", "NumPy")),
            ratio(cell, "step", "JAX"),
            ratio(cell, "step", "NumPy"),
            ratio(cell, "leap", "JAX"),
        )
        for cell in cells
    ]
    times = ("step, ns", "leap, ns", "JAX, ns", "NumPy, ns")
    return table(("task", "n", "d", "K", *times, "JAX/step", "NumPy/step", "JAX/leap"), rows)


def coverage(kind: str) -> str:
    """How often confidence bounds of one kind are ever wrong, from the figures beside the benchmarks."""
    cells = json.loads((HERE.parent / "benchmarks" / "confidence.json").read_text())
    found = {(c["case"], c["side"], c["level"], c["looks"]): c for c in cells if c["kind"] == kind}
    columns = list(dict.fromkeys(key[2:] for key in found))

    def share(cell: dict) -> str:
        return f"{100 * cell['rate']:.1f}" + (r"\*" if cell["least"] > cell["level"] else "")

    names = {"any": "any", "decide": "verify"}
    rows = []
    for case, side in dict.fromkeys(key[:2] for key in found):
        any_cell = found[case, side, *columns[0]]
        moments = [] if kind == "rigorous" else ["none" if any_cell["moment"] is None else f"{any_cell['moment']:.4g}"]
        name = case if any_cell["supposed"] else f"*{case}*"
        rows.append((name, side, *moments, *(share(found[case, side, *column]) for column in columns)))
    heads = (f"level {100 * level:g}%, {names[looks]}" for level, looks in columns)
    return table(("values", "bound", *([] if kind == "rigorous" else ["moment"]), *heads), rows)


def rate_tables() -> str:
    """The papers' tables, checked: a table each, and below it what decided every row."""
    return "\n".join(_rate_table(check_table(each)) for each in tables().values())


def _rate_table(report: TableReport) -> str:
    printed = report.table
    words = list(dict.fromkeys(column for row in printed.rows for column in row.columns))
    names = {quantity.symbol: quantity.latex for quantity in printed.vocabulary}

    def order(row: Row, column: str) -> str:
        terms = " + ".join(sp.latex(shown(term), symbol_names=names) for term in row.orders[column])
        name = r"\tilde O" if row.hides_logarithms else "O"
        return rf"${name}\left({terms}\right)$"

    rows = [
        (
            plain(checked.row.label),
            *(order(checked.row, column) for column in printed.headers),
            *(plain(checked.row.columns.get(word, "")) for word in words),
            link(checked.row.key),
            plain(checked.headline),
        )
        for checked in report.rows
    ]
    source = printed.source
    lines = [f"## {code(printed.name)}: {plain(printed.title)}", ""]
    lines += [f"{plain(source.number)}, {plain(source.location)}, of {plain(source.paper)}.", ""]
    lines.append(table(("row", *printed.headers.values(), *words, "statement", "verdict"), rows))
    findings = [(checked.row.label, finding) for checked in report.rows for finding in checked.findings]
    findings += [("special case", finding) for finding in report.reductions]
    for label, finding in findings:
        lines.append(
            f"- **{plain(label)}** {code(finding.outcome.value)}{''.join(f' {limit}' for limit in finding.limits)} "
            f"{linked(finding.says)}: {plain(finding.evidence)}"
        )
    return "\n".join([*lines, ""])


# Rate cards.


@functools.cache
def _cards() -> dict[str, dict[str, Any]]:
    """The cards as kept in rates.json, by paper and key."""
    return json.loads((HERE / "rates.json").read_text())


def carded() -> list[str]:
    """The papers that have cards."""
    return list(_cards())


def rate_cards(paper: str) -> str:
    """A paper's cards: per term and parameter both exponents and the verdict; below, what is not attained, and why.

    Rows of its tables that quote other work share one table at the end.
    """
    every = _cards().get(paper, {})
    own = {key: card for key, card in every.items() if key.startswith(f"{paper}/")}
    parts = [_own_card(key, card) for key, card in own.items()]
    quoted = [card for key, card in every.items() if key not in own]
    return "\n".join([*parts, *([_quoted_cards(quoted)] if quoted else [])])


def planted_rates() -> str:
    """What the cards said of every wrong exponent, a row per term and parameter."""
    pairs: dict[tuple[str, str, str], dict[float, Mapping[str, Any]]] = {}
    for each in json.loads((HERE.parent / "benchmarks" / "planted.json").read_text()):
        pairs.setdefault((each["statement"], each["row"], each["parameter"]), {})[each["power"]] = each
    every = [each for pair in pairs.values() for each in pair.values()]
    counts = Counter(each["found"] for each in every if each["caught"])
    missed = [each for each in every if not each["caught"]]
    said = ", ".join(f"{number} {finding}" for finding, number in counts.most_common())
    passed = [each["verify"] for each in every if each["left"] is not None]
    rows = [
        (link(key), plain(row), code(name), *map(_planted, pair.values())) for (key, row, name), pair in pairs.items()
    ]
    says = (
        f"Of {len(every)} wrong exponents {len(every) - len(missed)} are found as they should be: {said}. An instance "
        f"passes the wrong bound in {len(passed)} cells; {code('verify')} says {code('VIOLATED')} of "
        f"{passed.count('VIOLATED')} of them, and the others are runs that it does not take, or not exactly enough."
    )
    open_ones = [
        f"- {code(each['statement'])}, {plain(each['row'])} in {code(each['parameter'])}: {_instead(each)}; "
        f"{plain(each['reason'])}"
        for each in missed
    ]
    head = ("statement", "term", "x", "term times x^(-1/4)", "term times x^(1/4)")
    return "\n".join([says, "", *open_ones, "", table(head, rows), ""])


def caught() -> str:
    """How many wrong statements of the pairs the search refutes by kind, and which it misses, as kept."""
    listed = json.loads((HERE.parent / "benchmarks" / "caught.json").read_text())
    wrong = [each for each in listed if not each["true"]]
    true = [each for each in listed if each["true"]]
    violated = Outcome.VIOLATED.value
    asked = Counter(each["kind"] for each in wrong)
    found = Counter(each["kind"] for each in wrong if each["outcome"] == violated)
    missed = [each for each in wrong if each["outcome"] != violated]
    accused = sum(each["outcome"] == violated for each in true)
    spent = sorted(each["evaluations"] for each in wrong if each["outcome"] == violated)
    says = (
        f"Of {len(wrong)} wrong statements {len(wrong) - len(missed)} are refuted, half of them within "
        f"{spent[len(spent) // 2]} evaluations, and of {len(true)} true ones {accused} are accused."
    )
    open_ones = [
        f"- missed: {code(each['key'])}, left / right at most {each['tightness']:.3g}"
        + (f"; needed: {plain(each['hard'])}" if each["hard"] else "")
        for each in missed
    ]
    rows = [(plain(PairKind[kind.upper()].value), str(found[kind]), str(count)) for kind, count in asked.items()]
    kinds = table(("what is wrong", "refuted", "of"), rows)
    return "\n".join([says, "", *open_ones, "", kinds, "", *_counterexample_sizes(wrong), ""])


def classic_rows() -> str:
    """The classics by chapter: three answers to each beside the known worst case, as kept."""
    kept = json.loads((HERE / "classics.json").read_text())
    sharp = [row for row in kept if classics.comparable(row)]
    agreeing = [row for row in sharp if classics.agrees(row)]
    refuted = [row for row in kept if row["worst"].get("false", {}).get("outcome") == "VIOLATED"]
    says = (
        f"There are {len(kept)} theorems. For {len(sharp)} the literature's value is tight, proved or as far as "
        f"computed, and a worst case was enclosed: in {len(agreeing)} rows both ends agree with it within "
        f"{classics.AGREEMENT:.1%}. {len(refuted)} of the theorems are refuted at their numbers where they say twice "
        "as much."
    )
    parts = [says, ""]
    for chapter, rows in itertools.groupby(kept, key=lambda row: row["chapter"]):
        doc = importlib.import_module(f"bounds.papers.classics.{chapter}").__doc__ or ""
        header = ("theorem", "verify", "search", "worst case", "known", "found / known", "says twice as much")
        parts += [f"## {chapter.replace('_', ' ').capitalize()}", "", doc, "", table(header, map(_classic_row, rows))]
    return "\n".join(parts)


def classics_left_out() -> str:
    """What the classics do not have, with reasons."""
    rows = [(plain(what), plain(why)) for what, why in bounds.left_out(bounds.CLASSICS)]
    return table(("example", "why not"), rows)


def _classic_row(row: dict[str, Any]) -> tuple[str, ...]:
    verdict, search, worst = row["verify"], row["search"], row["worst"]
    refused = plain("refused: ")
    at = ", ".join(f"{name}={value:g}" for name, value in worst.get("at", {}).items())
    outcome = verdict.get("outcome", refused + plain(verdict.get("refused", ""))).replace("_", " ")
    engine = verdict.get("engine", "none")
    slack = "" if engine == "none" else f" ({engine})"
    slack += "" if verdict.get("slack") is None else f", {verdict['slack']:.3g}"
    reasons = "" if not verdict.get("reasons") else f": {plain(verdict['reasons'][0])}"
    tightest = search.get("tightness")
    searched = refused + plain(search.get("refused", "")) if "refused" in search else _ratio(tightest)
    known = plain(row["standing"])
    known += f": {code(row['value'])}, {plain(row['known_from'])}" if row["value"] else ""
    if "refused" in worst:
        return (
            f"{code(row['key'])}: {plain(row['title'])}. {plain(row['source'])}", outcome + slack + reasons, searched,
            refused + plain(worst["refused"]), known, "", "",
        )  # fmt: skip
    enclosed = f"{worst['lower']:.6g} to {worst['upper']:.6g} at {code(at)}; right side {worst['right']:.6g}"
    return (
        f"{code(row['key'])}: {plain(row['title'])}. {plain(row['source'])}",
        outcome + slack + reasons,
        searched,
        enclosed,
        known,
        _ratio(worst["lower"] / worst["known"]) if worst["known"] else "",
        plain(worst["false"]["outcome"].split(" up to")[0]),
    )


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def reach() -> str:
    """How close to tight theorems the search comes by evaluations, beside worst functions and PEPit, as kept."""
    kept = HERE.parent / "benchmarks" / "reach.json"
    listed = json.loads(kept.read_text())
    searches, others = [], []
    for each in listed:
        for run, alone in zip(each["search"], each["quadratics"], strict=True):
            found = (f"{_range(x['least'], x['largest'])}; {x['seconds']:.2g} s" for x in (run, alone))
            searches.append((each["theorem"], str(run["evaluations"]), *found))
        over, other = each["functions"], each.get("pepit")
        enclosed = f"{_range(over['lower'], over['upper'])}; {over['seconds']:.2g} s, {over['programs']} programs"
        others.append((each["theorem"], enclosed, f"{other['ratio']:.7g}; {other['seconds']:.2g} s" if other else "-"))
    first = table(("theorem", "evaluations", "search", "search on quadratics alone"), searches)
    return f"{first}\n\n{table(('theorem', 'worst functions', 'PEPit'), others)}\n"


def polish() -> str:
    """What local methods reach from the same points, and in how many evaluations, as kept."""
    kept = HERE.parent / "benchmarks" / "polish.json"
    listed = json.loads(kept.read_text())
    rows = []
    for way in listed[0]["ways"]:
        shares, spent = [], {level: [] for level in (0.9, 0.99, 0.999)}
        for each in listed:
            most = max(run[-1][1] for run in each["ways"].values())
            shares.append(each["ways"][way][-1][1] / most)
            for level, counts in spent.items():
                reached = (count for count, found in each["ways"][way] if found >= level * most)
                counts.append(next(reached, math.inf))
        means = (
            f"{statistics.mean(min(count, listed[0]['evaluations']) for count in counts):.0f} "
            f"({sum(map(math.isfinite, counts))})"
            for counts in spent.values()
        )
        rows.append((way, f"{statistics.mean(shares):.3f}", f"{min(shares):.3f}", *means))
    says = (
        f"{len(listed)} searches of {len({each['key'] for each in listed})} statements, {listed[0]['evaluations']} "
        "evaluations each. Shares are of the largest that any way reaches from the same points; evaluations to so much "
        "of it in the mean, all of them where it is not reached, and in how many searches it is."
    )
    heads = ("way", "share, mean", "share, least", "to 90%", "to 99%", "to 99.9%")
    return f"{says}\n\n{table(heads, rows)}\n"


def _range(low: float, high: float) -> str:
    """Two numbers, or one where they agree to seven digits."""
    one, other = f"{low:.7g}", f"{high:.7g}"
    return one if one == other else f"{one} to {other}"


def _counterexample_sizes(wrong: Sequence[Mapping[str, Any]]) -> list[str]:
    """How large the shrunk counterexamples are."""
    written = [each["counterexample"] for each in wrong if "counterexample" in each]
    if not written:
        return []
    limits = {"clients": 3, "variables": 2, "digits": 3}
    names = {"clients": "clients", "variables": "variables", "rounds": "rounds", "digits": "digits of a number"}
    rows = [
        (
            name,
            f"{statistics.median(each[key] for each in written):g}",
            str(max(each[key] for each in written)),
        )
        for key, name in names.items()
    ]
    small = sum(all(each[key] <= most for key, most in limits.items()) for each in written)
    says = (
        f"Their {len(written)} counterexamples on quadratics and functions with kinks, shrunk: {small} have at most 3 "
        "clients, 2 variables and 3 digits in every numerator and denominator."
    )
    return [
        says,
        "",
        table(("", "median", "largest"), rows),
    ]


def _instead(each: Mapping[str, Any]) -> str:
    if each["found"] != each["wanted"]:
        return f"{each['found']} instead of {each['wanted']}"
    loose = plain(f"x^{each['term'] - each['worst']:.3f}")
    return f"{each['found']} by {loose}, while x to the {_two(each['power'])} was planted"


def _planted(each: Mapping[str, Any]) -> str:
    if each["term"] is None:
        return each["found"]
    return plain(f"{_two(each['term'])} → {_two(each['worst'])}") + f" {each['found']}"


def _own_card(key: str, card: Mapping[str, Any]) -> str:
    names, order = card["parameters"], bounds.get(key).order_only
    says = f"{link(key)}: {card['card']}. Each cell: term → worst case."
    if order:
        says += " Known up to a constant only: exponents are compared, nothing else."
    constants = () if order else ("left/right",)
    rows = [
        (plain(row), *_rate_cells(card, row, names), *(_rate_constants(card, row) for _ in constants))
        for row in card["rows"]
    ]
    return "\n".join(
        [
            f"## {code(key)}",
            "",
            says,
            *_asked(card),
            "",
            table(("term", *map(code, names), *constants), rows),
            "",
            *(_rate_reason(cell) for cell in card["cells"] if cell["verdict"] != "ATTAINED"),
            "",
            "The hardest instances:",
            "",
            *(_hardest(card, row) for row in card["rows"]),
            "",
        ]
    )


def _quoted_cards(cards: Sequence[Mapping[str, Any]]) -> str:
    """One table of all rows; what is not attained is seen in its cells."""
    names = list(dict.fromkeys(name for card in cards for name in card["parameters"]))
    rows = [(link(card["key"]), plain(row), *_rate_cells(card, row, names)) for card in cards for row in card["rows"]]
    return "\n".join(["## Rates of other work", "", table(("rate", "term", *map(code, names)), rows), ""])


def _rate_cells(card: Mapping[str, Any], row: str, names: Iterable[str]) -> tuple[str, ...]:
    cells = {(cell["row"], cell["parameter"]): cell for cell in card["cells"]}
    return tuple(_rate_cell(cells.get((row, name))) for name in names)


def _asked(card: Mapping[str, Any]) -> list[str]:
    """What `verify` says of the hardest instances, one per cell at most."""
    hardest = [cell for cell in card["cells"] if cell["constant"] is not None]
    said = Counter(cell["check"] for cell in hardest if cell["check"] is not None)
    if not said:
        return []
    outcomes = ", ".join(f"{code(outcome)} on {count}" for outcome, count in said.items())
    asked = f"{code('verify')} was asked about one instance of {said.total()} of the {len(hardest)} cells with numbers"
    return [f"{asked}: {outcomes}. The others are runs that it does not take, mostly for their sizes."]


def _rate_cell(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return ""
    if cell["term"] is None:
        return cell["verdict"]
    return plain(f"{_two(cell['term'])} → {_two(cell['worst'])}") + f" {cell['verdict']}"


def _two(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")


def _rate_constants(card: Mapping[str, Any], row: str) -> str:
    found = [c["constant"] for c in card["cells"] if c["row"] == row and c["constant"] is not None]
    if not found:
        return "-"
    low, high = (f"{value:.3g}" for value in (min(found), max(found)))
    return plain(low if low == high else f"{low} ... {high}")


def _rate_reason(cell: Mapping[str, Any]) -> str:
    loose = "" if cell["loose"] is None else f" by {cell['parameter']}^{cell['loose']:.2f}"
    return (
        f"- {plain(cell['row'])} in {code(cell['parameter'])}: {cell['verdict']}{plain(loose)}, {plain(cell['reason'])}"
    )


def _hardest(card: Mapping[str, Any], row: str) -> str:
    seen = [c for c in card["cells"] if c["row"] == row and c["hardest"] is not None]
    if not seen:
        return f"- {plain(row)}: none"
    worst = max(seen, key=lambda cell: cell["constant"] or 0.0)
    low, high = worst["range"]
    return f"- {plain(row)}: {plain(worst['hardest'])}, while {code(worst['parameter'])} runs from {low:g} to {high:g}"


# Tightness.

_TIGHT = ("pfl/theorem-3.7", "pfl/theorem-3.11", "pfl/theorem-4.5")


def tightness() -> str:
    """The largest left side / right side of every sound theorem, as kept in tightness.json."""
    kept = json.loads((HERE / "tightness.json").read_text())
    header = ("statement", "largest left / right", "engine", "instance", "tried", "over all functions")
    rows = []
    for found in kept["searches"]:
        worst = found["worst"]
        engine, values = ("-", "") if worst is None else (worst["engine"], _numbers(worst["values"]))
        both = kept["pep"].get(found["key"])
        pep = "" if both is None else f"{both[0]:.4f} ... {both[1]:.4f}"
        ratio = "-" if found["tightness"] is None else f"{found['tightness']:.4g}"
        where = "-" if found["shape"] is None else f"{found['shape']}: {values}"
        rows.append((link(found["key"]), ratio, engine, where, str(found["evaluations"]), pep))
    return table(header, rows)


def tightness_by_term() -> str:
    """The largest left side / right side found where each term of a theorem decides the bound."""
    kept = json.loads((HERE / "tightness.json").read_text())
    rows = []
    for found in kept["searches"]:
        for niche in found["terms"]:
            ratio = "-" if niche["tightness"] is None else f"{niche['tightness']:.3g}"
            sizes = [*bounds.get(found["key"]).vocabulary.run.values()]
            values = niche["values"] or {}
            where = _numbers({name: values[name] for name in sizes if name in values})
            shown = f"{plain(niche['instance'])}; {where}" if niche["instance"] else plain(niche["reason"])
            rows.append((link(found["key"]), plain(niche["term"]), ratio, shown))
    return table(("statement", "term", "left / right", "instance, or why there is none"), rows)


def _numbers(values: Mapping[str, float]) -> str:
    return ", ".join(code(f"{name}={value:.4g}") for name, value in values.items())


def quarter() -> str:
    """The limits of the ratio for three theorems, and on one quadratic chosen by hand."""
    rows = [(link(key), *(f"{x:.4f}" for x in (_limit(bounds.get(key)), _coupled(key)))) for key in _TIGHT]
    return table(("statement", "limit", "coupled"), rows)


def _cap(statement: Statement) -> float:
    """The largest admissible L*K*gamma with one client."""
    condition = next(c for c in statement.conditions if c.name == "gamma")
    return number(condition.right, {"n": 1.0, "m": 1.0, "K": 1.0, "L": 1.0})


def _limit(statement: Statement) -> float:
    """x/(2(1-exp(-2x))) at x = L*K*gamma: gradient flow between rounds, the first term alone on the right."""
    x = _cap(statement)
    return -x / (2 * math.expm1(-2 * x))


def _coupled(key: str) -> float:
    """Left / right for one client with f = (u+v-1)^2/2, many local steps and many rounds."""
    problem = Quadratic(np.ones((1, 2, 2)), np.ones((1, 2)), shared=1)
    verdict = verify(bounds.get(key), problem, {"m": 1, "K": 1000, "T": 1000}, Options(engine="exact"))
    worst = verdict.worst
    return math.nan if worst is None else worst.left / worst.right
