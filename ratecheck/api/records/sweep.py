"""``rc.sweep``: one function at many settings, as a table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.statement import Statement
from ratecheck.api.checks.verify import verify
from ratecheck.api.given import StatementLike, one
from ratecheck.api.result import DrawnResult, Result, target
from ratecheck.errors import InputError, did_you_mean
from ratecheck.views.progress import progress
from ratecheck.views.records.sweep import sweep_figure, sweep_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of a result's numbers the one that a picture shows: the first that there is.
_SHOWN = ("slack", "value", "rounds", "optimal_bound")
# What every result has, and what other columns say.
_LEFT_OUT = ("schema", "key", "headline")
# Both sides of a verdict, which its JSON has claim by claim.
_SIDES = ("left", "right")


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult(DrawnResult):
    """What a function says of a statement at many settings.

    ``varied`` has the values of every name that varies. ``rows`` has one dictionary per setting, the last name varying
    fastest: what varies, every number and word that the result's JSON has at its top, both sides of a verdict, and
    under ``refused`` why a setting has no result. ``results`` are the results themselves, None where it was refused.
    """

    statement: Statement
    varied: Mapping[str, tuple[Any, ...]]
    rows: tuple[Mapping[str, Any], ...]
    results: tuple[Result | None, ...]
    shown: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in ``rows``, what varies first."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row))

    def to_frame(self) -> Any:
        """The rows as a data frame of pandas; raises `InputError` where pandas is not installed."""
        try:
            import pandas as pd
        except ImportError:
            raise InputError("a data frame needs pandas: pip install pandas; without it there are .rows") from None
        return pd.DataFrame(list(self.rows), columns=list(self.columns))

    def __str__(self) -> str:
        return sweep_text(self.rows, [name for name in self.columns if name in self.varied or self._tells(name)])

    def _tells(self, name: str) -> bool:
        """Whether a column is a number or verdict, or differs between the rows."""
        done = [row for row, result in zip(self.rows, self.results, strict=True) if result is not None]
        values = {row.get(name) for row in (self.rows if name == "refused" else done)}
        return len(values) > 1 or (name in ("verdict", *_SHOWN, *_SIDES) and values != {None})

    def _headline(self) -> str:
        return f"{self.statement.key} over {', '.join(self.varied)}: {len(self.rows)} settings"

    def _fields(self) -> dict[str, Any]:
        rows = [dict(row) for row in self.rows]
        return {"key": self.statement.key, "varied": dict(self.varied), "rows": rows, "file": self.file}

    def _draw(self) -> Figure:
        title = f"{self.statement.key}: {self.shown}"
        return sweep_figure(title, self.rows, tuple(self.varied), self.shown)


def sweep(
    statement: StatementLike,
    /,
    *,
    verb: Callable[..., Result] = verify,
    show: str | None = None,
    out: str | Path | None = None,
    **named: Any,
) -> SweepResult:
    """A function of this package, at every combination of the values that are given as lists or arrays.

    Parameters
    ----------
    statement
        As for the function.
    verb
        The function, such as ``rc.verify``, ``rc.bound``, ``rc.stepsize`` or ``rc.rounds``.
    show
        The column that the picture shows against the first name that varies; by default slack, value, rounds or
        optimal_bound, whichever there is.
    out
        The file of a picture, if one is wanted.
    **named
        What the function takes. A list, range or array of one dimension is one value per setting; where a setting has
        a list of its own, such as the local steps of every client, give a list of lists. Each setting is a check of its
        own, with its own error probability.

    Raises
    ------
    InputError
        Where nothing varies, or every setting is refused; a single setting that is refused is a row that says why.

    Examples
    --------
    >>> import ratecheck as rc
    >>> found = rc.sweep("pfl/theorem-3.7", K=[1, 5], m=[2, 4], n=4, T=20)
    >>> [row["verdict"] for row in found.rows]
    ['HOLDS', 'HOLDS', 'HOLDS', 'HOLDS']
    """
    place, chosen = target(out), one(statement)
    varied = {name: values for name, given in named.items() if (values := _several(given)) is not None}
    if empty := [name for name, values in varied.items() if not values]:
        raise InputError(f"{empty[0]} has no values")
    if not varied:
        raise InputError("nothing varies: give a list or an array, such as K=[1, 5, 25]")
    fixed = {name: given for name, given in named.items() if name not in varied}
    settings = [dict(zip(varied, values, strict=True)) for values in itertools.product(*varied.values())]
    rows, results = [], []
    with progress(f"sweeping {chosen.key}") as report:
        for k, setting in enumerate(settings):
            result, refused = _result(verb, chosen, {**fixed, **setting})
            rows.append({**setting, **_numbers(result), "refused": refused})
            results.append(result)
            report((k + 1) / len(settings))
    if not any(results):
        raise InputError(f"all {len(settings)} settings are refused, the first: {rows[0]['refused']}")
    found = {name for row in rows for name in row}
    if show is not None and show not in found:
        raise InputError(f"no column {show!r} to show; {did_you_mean(show, sorted(found))}")
    shown = show or next((name for name in _SHOWN if name in found), next(iter(varied)))
    return SweepResult(chosen, varied, tuple(rows), tuple(results), shown, file=place).save()


def _several(given: Any) -> tuple[Any, ...] | None:
    """The values of what varies; None of a single value."""
    if isinstance(given, np.ndarray):
        return tuple(given.tolist()) if given.ndim == 1 else None
    return tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else None


def _result(verb: Callable[..., Result], statement: Statement, given: Mapping[str, Any]) -> tuple[Result | None, str]:
    """The result, or why there is none."""
    try:
        return verb(statement, **given), ""
    except InputError as error:
        return None, str(error)


def _numbers(result: Result | None) -> dict[str, Any]:
    """The numbers and words at the top of a result's JSON, and both sides of a verdict."""
    if result is None:
        return {}
    top = {name: value for name, value in result.to_dict().items() if name not in _LEFT_OUT}
    sides = {name: getattr(result, name) for name in _SIDES if hasattr(result, name)}
    return {
        name: each for name, each in {**top, **sides}.items() if each is None or isinstance(each, int | float | str)
    }
