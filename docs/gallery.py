"""The pictures of the gallery, ``docs/gallery.md``, kept in ``docs/_static/gallery``.

    python docs/gallery.py [NAME ...]

draws them anew, all or those of these names. Every picture stands below the commands that draw it, which run in an
empty folder. ``errata`` and ``known`` are drawn here: what is known of the statements of four papers, and worst cases
that were computed beside known ones; ``explore`` is a recording of a page with sliders, for which RATECHECK_CHROMIUM
names a browser.

    python docs/gallery.py errata
    python docs/gallery.py known
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import classics
import reviews
from PIL import Image

import bounds
import ratecheck as rc
from bounds.ledger.refuted import of_paper
from ratecheck.views.drawing import style

HERE = Path(__file__).parent
PICTURES = HERE / "_static" / "gallery"
# Pixels and colours of what is kept: sharp at the width of a page, and small.
_WIDTH, _COLOURS = 1100, 128
_ENTRY = re.compile(r"^```console\n(.*?)^```\n\n!\[[^\]]*\]\(_static/(\S+?)\)", re.MULTILINE | re.DOTALL)
_RIGHT = "not refuted"


@dataclass(frozen=True)
class Entry:
    """The commands that draw a picture, as one script, and its file below ``_static``."""

    script: str
    file: str

    @property
    def kept_elsewhere(self) -> bool:
        """Whether it takes a browser, or another command of the documentation, such as that of the first page."""
        return self.file.endswith(".webp") or ("python docs/" in self.script and "gallery.py" not in self.script)


def entries(page: Path = HERE / "gallery.md") -> list[Entry]:
    """The pictures of a page, in order."""
    return [Entry(_script(commands), file) for commands, file in _ENTRY.findall(page.read_text())]


def _script(console: str) -> str:
    """What is typed in a console: lines after a prompt, and those that continue them."""
    return "".join(line[2:] for line in console.splitlines(keepends=True))


def draw(entry: Entry) -> None:
    """Run the commands of a picture and keep what they draw."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        finished = subprocess.run(  # noqa: S603  # the page is ours
            ["/bin/bash", "-euc", entry.script], cwd=folder, env={**os.environ, "PATH": path}, check=False
        )
        # A search that refutes ends with 1, which the script says with "|| true".
        if finished.returncode:
            raise SystemExit(f"exit code {finished.returncode} from\n{entry.script}")
        _keep(Path(folder) / Path(entry.file).name)


def _keep(drawn: Path) -> None:
    """A picture of fewer pixels and colours in the folder of the gallery."""
    PICTURES.mkdir(exist_ok=True)
    picture = Image.open(drawn).convert("RGB")
    if picture.width > _WIDTH:
        picture = picture.resize((_WIDTH, round(picture.height * _WIDTH / picture.width)), Image.Resampling.LANCZOS)
    picture.quantize(_COLOURS).save(PICTURES / drawn.name, optimize=True)


# What is done on the page with sliders: other numbers, a step size that is not admitted, the largest, other axes.
_SHOWN = ("", "K=5", "K=100", "gamma=0.01", "gamma=0.0012", "gamma=0.0012&axis=K", "gamma=0.0012&axis=m")


def record() -> None:
    """One picture after the other of the page with sliders, whose address has the numbers."""
    browser = os.environ.get("RATECHECK_CHROMIUM")
    if browser is None:
        raise SystemExit("RATECHECK_CHROMIUM names no browser")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        rc.explore("pfl/theorem-3.7", out=page)
        frames = []
        for k, numbers in enumerate(_SHOWN):
            place = Path(folder) / f"{k}.png"
            subprocess.run(  # noqa: S603  # the user's browser
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,1500",
                 f"--screenshot={place}", f"{page.as_uri()}#{numbers}"],
                check=True, capture_output=True,
            )  # fmt: skip
            frames.append(Image.open(place).convert("RGB").resize((800, 1200), Image.Resampling.LANCZOS))
        PICTURES.mkdir(exist_ok=True)
        frames[0].save(PICTURES / "explore.webp", save_all=True, append_images=frames[1:], duration=1800, loop=0)


def known() -> dict[str, Counter[str]]:
    """How many printed statements of each paper are refuted, and in which way."""
    found = {}
    for paper in reviews.PAPERS:
        printed = {s.key for s in bounds.statements(paper) if not s.key.endswith("-repaired")}
        against = Counter(each.what for each in of_paper(paper) if each.key in printed)
        found[paper] = Counter({_RIGHT: len(printed) - sum(against.values())}) + against
    return found


def draw_errata(file: Path) -> None:
    """Bars of the printed statements of four papers, by what is known of them."""
    found = known()
    kinds = sorted({kind for each in found.values() for kind in each}, key=lambda kind: (kind != _RIGHT, kind))
    with style.styled():
        figure = style.new_figure(6.4, 2.9)
        axes = figure.subplots()
        begun = dict.fromkeys(found, 0)
        for kind, colour in zip(kinds, (style.COLOURS[0], *style.COLOURS[1:5]), strict=False):
            for row, (paper, counts) in enumerate(found.items()):
                if count := counts[kind]:
                    axes.barh(
                        row, count, left=begun[paper], color=colour, label=kind if row == _first(found, kind) else ""
                    )
                    axes.text(begun[paper] + count / 2, row, str(count), ha="center", va="center", color="white")
                    begun[paper] += count
        axes.set_yticks(range(len(found)), list(found))
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set(xlabel="printed statements")
        false = sum(count for each in found.values() for kind, count in each.items() if kind.startswith("is false"))
        axes.set_title(f"Four papers: {false} of {sum(begun.values())} statements are false as printed", fontsize=11)
        axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.22), ncols=2, fontsize=8.5)
        style.save(figure, file)


def _first(found: dict[str, Counter[str]], kind: str) -> int:
    return next(row for row, counts in enumerate(found.values()) if counts[kind])


def draw_known(file: Path) -> None:
    """Worst cases that are known, and the semidefinite program's beside them: how far they are apart."""
    rows = [row for row in classics.rows() if classics.comparable(row)]
    apart = sorted(max(classics.distance(row), 1e-12) for row in rows)
    with style.styled():
        figure = style.new_figure(6.4, 3.2)
        axes = figure.subplots()
        look = next(style.looks())
        axes.semilogy(range(1, len(apart) + 1), apart, **{**look, "linestyle": "none"}, label="a classical theorem")
        axes.axhline(classics.AGREEMENT, color=style.COLOURS[1], linestyle="--", label=f"{classics.AGREEMENT:.1%}")
        axes.set(xlabel="theorems with a known worst case", ylabel="distance, relative")
        within = sum(each <= classics.AGREEMENT for each in apart)
        axes.set_title(
            f"{within} of {len(apart)} known worst cases are met within {classics.AGREEMENT:.1%}", fontsize=11
        )
        axes.legend(fontsize=9)
        style.save(figure, file)


_DRAWN_HERE: dict[str, Callable[[Path], None]] = {"errata": draw_errata, "known": draw_known}


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all of the page."""
    for entry in entries():
        name = Path(entry.file).stem
        if (names and name not in names) or (entry.kept_elsewhere and name not in names):
            continue
        if name == "explore":
            record()
        elif name in _DRAWN_HERE:
            with tempfile.TemporaryDirectory() as folder:
                _DRAWN_HERE[name](Path(folder) / f"{name}.png")
                _keep(Path(folder) / f"{name}.png")
        else:
            draw(entry)


if __name__ == "__main__":
    main(sys.argv[1:])
