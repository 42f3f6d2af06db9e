"""A store as a table, one row per cell, and the index that spares reading every file again.

A row of the index counts only for files that still have the name, size and time of change that it notes: an index that
is old, damaged or missing costs time, nothing else. It is written whole, by whoever reads the table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ratecheck import caching
from ratecheck.studies.estimate import summarise
from ratecheck.studies.storage.cell_file import Records
from ratecheck.studies.storage.store import RunStore

Row = dict[str, Any]

# It grows where a row has other columns, or they mean something else.
_FORM = 1
# Each interval is one by itself.
_ERROR = 0.05
# What a row begins with.
_FIRST = ("study", "figure", "curve", "algorithm", "problem")
# What earlier versions did not note of a study: the values that hold where its file gives none.
_DEFAULTS: Row = {"study": "", "code": "", "weights": {}, "window": 0.4, "tolerance": 0.1}


def table(store: RunStore) -> list[Row]:
    """A row for every cell: what it is, how many replicates there are, and its steady state."""
    known = _read(store)
    rows: dict[str, Any] = {}
    for key in store.cells():
        mark = _mark(store, key)
        entry = known.get(key, {})
        row = entry.get("row") if entry.get("files") == mark else _row(store, key)
        if row is not None:
            rows[key] = {"files": mark, "row": row}
    if rows != known:
        caching.write(_path(store), json.dumps({"form": _FORM, "cells": rows}).encode())
    return [entry["row"] for entry in rows.values()]


def _path(store: RunStore) -> Path:
    return store.folder / "index"


def _read(store: RunStore) -> dict[str, Any]:
    content = caching.read(_path(store))
    index = {} if content is None else json.loads(content)
    cells: dict[str, Any] = index["cells"] if index.get("form") == _FORM else {}
    return cells


def _mark(store: RunStore, key: str) -> list[list[Any]]:
    """Names of the cell's files, with what changes as they do."""
    # What is gone since, or a link that leads nowhere, is no file.
    found = ((path.name, path.stat()) for path in sorted(store.files(key)) if path.exists())
    return [[name, stat.st_size, stat.st_mtime_ns] for name, stat in found]


def _row(store: RunStore, key: str) -> Row | None:
    """The row of a cell; None where none of its files is as it was written, or as a study writes one."""
    found = store.read(key)
    if found is None:
        return None
    records, about = found[0], {**_DEFAULTS, **found[1]}
    if not _of_a_study(records, about):
        store.damaged += [path for path in sorted(store.files(key)) if path not in store.damaged]
        return None
    measured = _steady(records, about)
    # A curve's name is among the names of other things here.
    about["curve"] = about.pop("name", "")
    row: Row = {name: about.pop(name, None) for name in _FIRST}
    row |= _flat({name: value for name, value in about.items() if name not in {"weights", "replicates", "code"}})
    return {**row, "replicates": len(next(iter(records.values()))), **measured, "key": key, "code": about["code"]}


def _of_a_study(records: Records, about: Mapping[str, Any]) -> bool:
    """Whether what a cell says of itself is of the kinds that a study writes: a whole file need not be of one."""
    weights, window, tolerance = about["weights"], about["window"], about["tolerance"]
    if not (isinstance(weights, Mapping) and isinstance(about["study"], str) and isinstance(about["code"], str)):
        return False
    numbers = [window, tolerance, *weights.values()]
    real = all(isinstance(each, (int, float)) and math.isfinite(each) for each in numbers)
    return real and weights.keys() <= records.keys() and 0 < window <= 1 and tolerance > 0


def _flat(about: Mapping[str, Any]) -> Row:
    """Tables within the table, such as the step sizes, as columns of their own."""
    row = {name: value for name, value in about.items() if not isinstance(value, Mapping)}
    for table_name, inner in about.items():
        if isinstance(inner, Mapping):
            for name, value in inner.items():
                row[name if name not in row else f"{table_name}.{name}"] = value
    return row


def _steady(records: Records, about: Mapping[str, Any]) -> Row:
    """The mean of the study's metric over its window with a confidence interval, and that of each recorded quantity."""
    row: Row = {"steady": None, "low": None, "high": None, "state": None}
    reading = {"window": about["window"], "tolerance": about["tolerance"], "levels": (), "error": _ERROR}
    with np.errstate(over="ignore", invalid="ignore"):
        if about["weights"]:
            metric = np.asarray(sum(weight * records[name] for name, weight in about["weights"].items()))
            found = summarise(metric, **reading)
            interval = found.steady
            row = {"steady": interval.value, "low": interval.low, "high": interval.high}
            row["state"] = "diverged" if found.diverged else found.steadiness.value
        return row | {f"steady_{name}": summarise(array, **reading).steady.value for name, array in records.items()}
