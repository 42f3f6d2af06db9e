"""The examples of the pages: found, run when the pages are built, and shown with what they printed.

An example is a fenced block of ``bash`` or ``python`` in a page. It ends with status 0 unless a comment in it says
``# exit code N``. The examples of a page run in order in one folder, and ``{output}`` shows what the block above it
printed. A block that contains ``pip install`` is not run. What they print is kept in ``docs/_generated`` under a hash
of the sources of ``bounds`` and ``ratecheck``, so that a second build is quick.

A reader of the repository sees an output in the page, where

    python docs/examples.py [PAGE ...]

writes it. A build fails where the page says something else than the example prints, but for the last digits of numbers
and for seconds. The command also keeps, in ``docs/kept/examples.json``, a hash for each page of what its outputs came
from: the sources, the versions of the libraries, the examples and the outputs. A page of which none of these changed is
not run again by a build; a page that shows a figure always is, since figures are not in the repository.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import kept
import nbformat
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import bounds
import ratecheck

HERE = Path(__file__).parent
GENERATED = HERE / "_generated"

_log = logging.getLogger(__name__)


@functools.cache
def sources_digest() -> str:
    """A hash of every source file of ``bounds`` and ``ratecheck``."""
    digest = hashlib.sha256()
    for package in (bounds, ratecheck):
        folder = Path(package.__file__ or "").parent
        for source in sorted(folder.rglob("*.py")):
            digest.update(str(source.relative_to(folder.parent)).encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Example:
    """A block of code in a page, which line of the page it ends in, and the exit code that it announces."""

    language: str
    code: str
    exit_code: int
    end: int


_NAME = re.compile(r"[\w-]+")
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


@functools.cache
def libraries() -> tuple[str, ...]:
    """Name and version of each installed library that a command may use, and of Python."""
    names = {_NAME.match(line)[0] for line in importlib.metadata.requires("ratecheck") or () if "'test'" not in line}
    installed = {each.name.lower(): each.version for each in importlib.metadata.distributions()}
    return (sys.version.split()[0], *(f"{name} {installed[name]}" for name in sorted(names) if name in installed))


def origin(page: Path) -> str:
    """A hash of what a page's outputs came from: sources, libraries, examples, and the outputs themselves."""
    parts = [sources_digest(), *libraries(), *(each.code for each in examples(page)), *OUTPUT.findall(page.read_text())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def is_kept(page: Path) -> bool:
    """Whether the page's outputs came from what is here, and no figure is shown that a run would have to draw."""
    return kept.load("examples").get(page.stem) == origin(page) and "\n:figure:" not in page.read_text()


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


# A number by itself: not one of a name such as theorem-3.7.
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\d)")
_SECONDS = re.compile(r"\d[\d.]*( s\b| seconds\b| ms\b)")
# What two machines round differently: this share of a number, a unit of its last digit, and what is rounding itself.
_CLOSE, _ROUNDING = 2e-3, 1e-9


def alike(kept: str, printed: str) -> bool:
    """Whether two texts differ by spaces, the last digits of numbers and seconds at most."""
    texts = [" ".join(_SECONDS.sub(r"-\1", text).split()) for text in (kept, printed)]
    if _NUMBER.sub("#", texts[0]) != _NUMBER.sub("#", texts[1]):
        return False
    pairs = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    return all(abs(float(a) - float(b)) <= min(_room(a), _room(b)) for a, b in pairs)


def _room(number: str) -> float:
    """How far another number may be from one that is printed; a whole number has no last digit that was rounded."""
    digits, _, exponent = number.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])) if "." in digits or exponent else 0.0
    return max(_CLOSE * abs(float(number)), 1.01 * unit, _ROUNDING)


def printed(page: Path, line: int) -> str | None:
    """What the example above a line of a page printed, in lines of a page's width; None where there is no example."""
    above = sum(example.end < line for example in examples(page)) - 1
    if above < 0:
        return None
    return "\n".join(map(wrap, (run_folder(page) / f"{above}.txt").read_text().rstrip().splitlines()))


# An output that a page keeps.
OUTPUT = re.compile(r"^```\{output\}\n(?!:)(.*?)^```$", re.MULTILINE | re.DOTALL)


def write(page: Path) -> None:
    """Put into a page what its examples print; what is alike stays as it is."""
    run_page(page)
    text = page.read_text()

    def filled(block: re.Match[str]) -> str:
        new = printed(page, text.count("\n", 0, block.start()) + 1)
        return block[0] if new is None or alike(block[1], new) else f"```{{output}}\n{new}\n```"

    page.write_text(OUTPUT.sub(filled, text))


class Output(SphinxDirective):
    """What the example above printed, as the page keeps it, or the figure that it drew (``:figure: FILE``)."""

    has_content = True
    option_spec: ClassVar = {
        "figure": directives.unchanged_required,
        "alt": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """A literal block, or an image."""
        page = Path(self.env.doc2path(self.env.docname))
        text = "\n".join(self.content) if is_kept(page) else printed(page, self.lineno)
        if text is None:
            raise self.error("there is no example above this output")
        if "figure" in self.options:
            uri = "/" + (run_folder(page) / self.options["figure"]).relative_to(HERE).as_posix()
            return [nodes.image(uri=uri, alt=self.options.get("alt", ""), width="100%")]
        if not alike("\n".join(self.content), text):
            raise self.error(f"the page keeps another output; python docs/examples.py {page.name} writes\n{text}")
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


if __name__ == "__main__":
    written = [HERE / name for name in sys.argv[1:]] or sorted(HERE.glob("*.md"))
    for each in written:
        write(each)
    origins = {each.stem: origin(each) for each in written if examples(each)}
    kept.save("examples", dict(sorted((kept.load("examples") | origins).items())))
