"""What the first page says in numbers, and its picture, ``docs/_static/first-picture.svg``.

    python docs/first_page.py

draws the picture anew: a bound that is violated, and its repaired form. Both are Theorem 2 of FLAME on one problem;
what varies is the accuracy that is stated of the inner solutions, which are exact, so that every value of it is true.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import classics
import reviews

import bounds
import ratecheck as rc
from bounds.ledger.refuted import of_paper
from ratecheck.views.drawing import style

PLACE = Path(__file__).parent / "_static" / "first-picture.svg"
PRINTED = "flame/theorem-2-unbiased"
REPAIRED = f"{PRINTED}-wide-repaired"
# One client, where the printed conditions and those of the repaired form are met.
SETTING = {"m": 1, "s": 1, "T": 2000, "lambda_": 4, "rho": 50}
# Free parameters of the repaired proof.
FREE = {"k": 1, "share": 0.5}
STATED = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)


def results() -> str:
    """What was found, in a sentence: every number is counted in the catalogue or in what is kept of long runs."""
    printed = {s.key for paper in reviews.PAPERS for s in bounds.statements(paper) if not s.key.endswith("-repaired")}
    against = Counter(each.what for paper in reviews.PAPERS for each in of_paper(paper) if each.key in printed)
    false = sum(count for what, count in against.items() if what.startswith("is false as printed"))
    assumed = against["needs an assumption that is not printed"]
    whole = {graph["root"] for paper in reviews.PAPERS for graph in reviews.of_paper(paper)["graphs"] if _proved(graph)}
    proved = {key.removesuffix("-repaired").removesuffix("-wide") for key in whole}
    sharp = [row for row in classics.rows() if classics.comparable(row)]
    met = sum(map(classics.agrees, sharp))
    return (
        f"Of {len(printed)} statements that four papers on federated optimisation print, {false} are false as printed "
        f"and {assumed} need an assumption that is not printed. {len(proved)} theorems and corollaries are proved step "
        f"by step, {len(proved - whole)} of them in a repaired form only. Of {len(sharp)} known worst cases of "
        f"classical theorems {met} are met within {classics.AGREEMENT:.1%}."
    )


def _proved(graph: dict[str, str]) -> bool:
    return graph["grade"].startswith("PROVED")


@dataclass(frozen=True)
class Point:
    """Both sides of a statement at one stated accuracy, and the verdict."""

    stated: float
    left: float
    right: float
    violated: bool


def points(key: str, stated: tuple[float, ...] = STATED) -> list[Point]:
    """Verdicts of `verify` for a statement."""
    free = FREE if key == REPAIRED else {}
    found = []
    for eps_max in stated:
        verdict = rc.verify(key, **SETTING, **free, eps_max=eps_max)
        if verdict.outcome is not rc.Outcome.VIOLATED and verdict.outcome is not rc.Outcome.HOLDS:
            raise RuntimeError(f"{key} at eps_max={eps_max} is {verdict.outcome.name}")
        found.append(Point(eps_max, verdict.left, verdict.right, verdict.outcome is rc.Outcome.VIOLATED))
    return found


def draw() -> None:
    """Two panels: as printed, and repaired."""
    with style.styled():
        figure = style.new_figure(8.2, 3.1)
        axes = figure.subplots(1, 2)
        for panel, key, name in zip(axes, (PRINTED, REPAIRED), ("as printed", "repaired"), strict=True):
            found = points(key)
            stated = [each.stated for each in found]
            violated = [each for each in found if each.violated]
            looks = style.looks()
            panel.plot(stated, [each.right for each in found], label="bound", **next(looks))
            panel.plot(stated, [each.left for each in found], label="left side, computed exactly", **next(looks))
            if violated:
                sides = [(each.stated, each.left, each.right) for each in violated]
                at, left, right = (list(each) for each in zip(*sides, strict=True))
                panel.vlines(at, right, left, colors=style.WRONG, linewidth=1.2)
                panel.plot(at, right, "x", color=style.WRONG, markersize=8, markeredgewidth=2, label="violated")
            else:
                panel.set_yscale("log")
            verdict = f"VIOLATED at {len(violated)} of {len(found)}" if violated else f"HOLDS at {len(found)}"
            panel.set_title(f"{name}: {verdict} points", fontsize=10)
            panel.set_xlabel(r"stated $\epsilon_{\max}$, accuracy of the inner solutions")
            panel.set_ylabel("both sides")
            panel.legend(fontsize=8)
        style.save(figure, PLACE)


if __name__ == "__main__":
    draw()
