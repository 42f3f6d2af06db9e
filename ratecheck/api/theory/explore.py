"""``rc.explore``, the command ``explore``."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from bounds.printing.statement_page import page as shown_page
from bounds.statement import Statement
from bounds.symbols import ROUND, Role
from ratecheck import files
from ratecheck.api.checks.verify import verify
from ratecheck.api.given import Parameter, Parameters, StatementLike, one, place_of, unused, warning
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.settings.defaults import completed
from ratecheck.views.explorer.model import chosen, model
from ratecheck.views.explorer.page import page
from ratecheck.views.progress import progress
from ratecheck.views.theory.page import latex_lines

# Sizes of a run along which left sides are measured: the problem stays the same.
_AXES = ("rounds", "local_steps", "participants")
_REACH = 4


@dataclass(frozen=True, eq=False, repr=False)
class ExploreResult(Result):
    """A statement as a page with sliders; ``model`` is what the page computes with, ``file`` where it was written.

    ``start`` are the numbers at which the sliders begin.
    """

    statement: Statement
    start: Mapping[str, float]
    model: Mapping[str, Any]
    file: Path | None = None

    @cached_property
    def html(self) -> str:
        """One self-contained file: no network, the font and the formulas inside."""
        return page(self.statement, self.model, latex_lines(shown_page(self.statement))[0])

    def save(self, path: str | Path) -> Self:
        """Write the page; raises `InputError` where that fails."""
        place = _place(path)
        with self.kept():
            files.save(place, self.html)
        return dataclasses.replace(self, file=place)

    def __str__(self) -> str:
        points = sum(map(len, self.model["measured"].values()))
        sliders = ", ".join(each["name"] for each in self.model["parameters"])
        where = "" if self.file is None else f"\n  written {self.file}"
        return f"{self.statement.key}   sliders for {sliders}\n  {points} measured left sides{where}"

    def _headline(self) -> str:
        return f"{self.statement.key}: {len(self.model['parameters'])} sliders"

    def _fields(self) -> dict[str, Any]:
        return {"key": self.statement.key, "model": dict(self.model), "file": self.file}


def explore(
    statement: StatementLike,
    /,
    *,
    out: str | Path | None = None,
    points: int = 5,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> ExploreResult:
    """A page on which a statement's bound, conditions and admissible step sizes follow sliders in a browser.

    The sliders begin at the given parameters, and at those of `verify` and its problem for the others. ``points`` left
    sides are measured by `verify` along each size of the run, at its own step sizes, and drawn beside the bound; 0 for
    none. ``out`` is the file of the page, which ends in .html.

    Raises `InputError` for a statement without a value, numbers that cannot be used, and a file that cannot be written.

    >>> import ratecheck as rc
    >>> found = rc.explore("pfl/corollary-3.8", points=0)
    >>> [each["name"] for each in found.model["parameters"]][:4]
    ['n', 'm', 'K', 'T']
    """
    place = None if out is None else _place(out)
    whole("points", points, 0)
    wanted = one(statement)
    given = numbers(parameters, named, wanted.vocabulary)
    wanted.check_names(given)
    sizes, start, said = _start(wanted, given)
    measured = _measured(wanted, sizes, points) if said and points else {}
    made = model(wanted, start, measured, said)
    remarks = (*unused(wanted.key, wanted.unused(given)), *warning(wanted))
    found = ExploreResult(wanted, start, made, remarks=remarks)
    return found if place is None else found.save(place)


def _place(path: str | Path) -> Path:
    place = place_of("out", path)
    if place.suffix != ".html":
        raise InputError(f"{place} cannot be written: the ending has to be .html")
    files.check_target(place)
    return place


def _start(statement: Statement, given: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float], str]:
    """Sizes for `verify`, the numbers at which the sliders begin, and the problem of its left sides, "" for none."""
    try:
        sizes = {**completed(statement, given=given).values, **given}
    except InputError:
        sizes = dict(given)
    problem, known = "", {**sizes}
    with contextlib.suppress(InputError), progress(f"measuring {statement.key}"):
        found = verify(statement, parameters=sizes).to_dict()
        problem, known = found["problem"], {**found["values"], **given}
    free = [name for name in chosen(statement) if statement.vocabulary[name].role is not Role.STEP_SIZE]
    if per_round := [name for name in free if statement.vocabulary.facts.get(name) == ROUND and name not in given]:
        # The last round; left sides are those of other rounds, which say nothing beside it.
        problem, rounds = "", statement.vocabulary.run.get("rounds", "")
        known |= dict.fromkeys(per_round, max(1.0, known.get(rounds, 2.0) - 1))
    return sizes, {**dict.fromkeys(free, 1.0), **known}, problem


def _measured(statement: Statement, sizes: Mapping[str, float], points: int) -> dict[str, list[dict[str, float]]]:
    """Left sides by the symbol of a size of the run."""
    free, found = chosen(statement), {}
    for symbol in (statement.vocabulary.run[role] for role in _AXES if role in statement.vocabulary.run):
        if symbol not in free or symbol not in sizes:
            continue
        most = sizes["n"] if symbol == statement.vocabulary.run.get("participants") else _REACH * sizes[symbol]
        places = sorted({round(x) for x in np.geomspace(1, max(1.0, most), points)})
        rows = [{"x": float(x), "left": left} for x in places if (left := _left(statement, {**sizes, symbol: x}))]
        if rows:
            found[symbol] = rows
    return found


def _left(statement: Statement, sizes: Mapping[str, float]) -> float | None:
    """The left side of the first claim, where `verify` can say it."""
    try:
        claims = verify(statement, parameters=sizes).to_dict()["claims"]
    except InputError:
        return None
    return next((each["left"] for each in claims), None)
