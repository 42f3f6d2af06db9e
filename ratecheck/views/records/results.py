"""A table of stored results as text, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ratecheck import files
from ratecheck.errors import InputError
from ratecheck.views.numbers import number
from ratecheck.views.width import table

Row = Mapping[str, Any]

_ENDINGS = (".csv", ".parquet")


def results_text(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """The table for people: numbers with four digits."""
    return table([list(columns), *([_short(row.get(name)) for name in columns] for row in rows)])


def check_export(path: Path) -> None:
    """Raise `InputError` where the table cannot be written there: another ending, no place, no library."""
    if path.suffix.lower() not in _ENDINGS:
        raise InputError(f"{path}: the ending has to be one of {', '.join(_ENDINGS)}")
    files.check_target(path)
    if path.suffix.lower() == ".parquet":
        _pyarrow()


def export(path: Path, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Write the table, numbers in full; raises `InputError` as `check_export` does."""
    check_export(path)
    files.save(path, _csv(rows, columns) if path.suffix.lower() == ".csv" else _parquet(rows, columns))


def _csv(rows: Sequence[Row], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_present(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def _parquet(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    pa, buffer = _pyarrow(), io.BytesIO()
    pa.parquet.write_table(
        pa.table({name: _alike([_present(row.get(name)) for row in rows]) for name in columns}), buffer
    )
    return buffer.getvalue()


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise InputError('Parquet needs the extra `table`: pip install "ratecheck[table]"; CSV needs none') from None
    return pa


def _present(value: Any) -> Any:
    """A value of a table; what is no number is absent, and a list is words."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _alike(values: list[Any]) -> list[Any]:
    """Values of one column have one type: words where one of them is."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and float in kinds:
        return [None if value is None else float(value) for value in values]
    return values if len(kinds) < 2 else [None if value is None else str(value) for value in values]


def _short(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return number(value) if isinstance(value, float) else str(value)
