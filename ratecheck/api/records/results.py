"""``rc.results``, the command ``results``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ratecheck.api.given import place_of, several
from ratecheck.api.result import Result
from ratecheck.errors import InputError, did_you_mean
from ratecheck.studies import RunStore
from ratecheck.studies.storage.index import Row, table
from ratecheck.studies.storage.store import code_version
from ratecheck.views.progress import progress
from ratecheck.views.records.results import check_export, export, results_text

# Columns that fit on a page; a store of other settings lacks some.
_SHOWN = (
    "study", "figure", "curve", "algorithm", "m", "K", "T", "replicates", "steady", "low", "high", "state",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ResultsResult(Result):
    """The requested cells as ``rows``, and the names of their ``columns``; `str` shows ``shown`` of them.

    ``total`` is how many cells there are.
    """

    rows: tuple[Mapping[str, Any], ...]
    columns: tuple[str, ...]
    shown: tuple[str, ...]
    total: int

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        # Of damaged cells alone there is no column.
        return f"{results_text(self.rows, self.shown)}\n\n{self._headline()}" if self.shown else self._headline()

    def _headline(self) -> str:
        return f"{len(self.rows)} of {self.total} cells"

    def _fields(self) -> dict[str, Any]:
        return {"total": self.total, "results": [{name: row.get(name) for name in self.columns} for row in self.rows]}

    def save(self, path: str | Path) -> ResultsResult:
        """Write the table, CSV or Parquet by its ending; raises `InputError` where that fails."""
        export(place_of("path", path), self.rows, self.columns)
        return replace(self, remarks=(*self.remarks, f"{len(self.rows)} rows in {path}"))


def results(
    store: str | Path = "results",
    *,
    where: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    out: str | Path | None = None,
) -> ResultsResult:
    """The stored cells of studies, a row for each: its name, its settings, its steady state.

    ``store`` is the folder of one study's results, or of several. ``where`` maps names of columns to a value, or to a
    list of them of which one has to be met; ``columns`` are those that are wanted. ``steady`` is the mean of the
    study's metric over its window with its own 95% interval, ``state`` whether that is a steady state. ``out`` is a
    CSV or Parquet file. Raises `InputError` for a folder without results and for an unknown column.
    """
    if out is not None:
        check_export(place_of("out", out))
    if not (where is None or isinstance(where, Mapping)):
        raise InputError(f"where={where!r}: needed values by the names of columns, such as {{'K': 5}}")
    wanted = () if columns is None else several("columns", columns)
    folders = _folders(place_of("store", store))
    rows: list[Row] = []
    damaged: list[Path] = []
    with progress(f"reading {store}") as report:
        for number, folder in enumerate(folders, 1):
            cells = RunStore(folder)
            rows += ({**row, "store": str(folder)} for row in table(cells))
            damaged += cells.damaged
            report(number / len(folders))
    rows.sort(key=_place)
    known = tuple(dict.fromkeys(name for row in rows for name in row))
    wanted = tuple(_column(name, known) for name in wanted)
    conditions = {_column(name, known): values for name, values in (where or {}).items()}
    chosen = tuple(row for row in rows if all(_meets(row.get(name), value) for name, value in conditions.items()))
    found = ResultsResult(
        chosen,
        wanted or known,
        wanted or tuple(name for name in _SHOWN if name in known),
        len(rows),
        remarks=tuple(_remarks(chosen, damaged)),
    )
    if out is None:
        return found
    with found.kept():
        return found.save(out)


def _folders(store: Path) -> list[Path]:
    """The stores in a folder: the folder itself, its cells, or those of the studies in it."""
    try:
        candidates = sorted({store, store / "cells", *store.glob("*/cells")})
        found = [folder for folder in candidates if any(folder.glob("??/*.npz")) or any(folder.glob("*.npz"))]
    except (OSError, ValueError) as error:
        raise InputError(f"{str(store)!r} cannot be read: {error}") from None
    if not found:
        raise InputError(f"no results in {store}; 'ratecheck run STUDY.toml' makes some")
    return found


def _column(name: str, known: tuple[str, ...]) -> str:
    if name not in known:
        raise InputError(f"no column {name!r}; {did_you_mean(name, known)}")
    return name


def _meets(value: Any, wanted: Any) -> bool:
    """Whether a value is the wanted one or among several; numbers and words that say the same are equal."""
    if isinstance(wanted, (list, tuple)):
        return any(_meets(value, one) for one in wanted)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(wanted) == value
        except (TypeError, ValueError):
            return False
    return str(value) == str(wanted)


def _place(row: Row) -> tuple[Any, ...]:
    value = row.get("value")
    order = (0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value))
    return (row["store"], row["study"], str(row.get("figure")), order, row["key"])


def _remarks(rows: Sequence[Mapping[str, Any]], damaged: Sequence[Path]) -> Iterator[str]:
    if damaged:
        yield f"damaged, and left out; a run computes it again: {', '.join(map(str, damaged))}"
    others = sum(row["code"] != code_version()[:12] for row in rows)
    if others:
        yield f"{others} of {len(rows)} cells were computed by other code than this"
