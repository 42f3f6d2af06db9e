"""One's own tables: CSV, Parquet, NPZ and LIBSVM files as features, labels, clients and weights.

Everything that is no label, client or weight, and is not left out, is a feature.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import importlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ratecheck.aliases import Array
from ratecheck.caching import bytes_of
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import described
from ratecheck.problems.datasets import Indices, libsvm_rows
from ratecheck.problems.npz import npz_arrays

# Names that a column of labels has by itself.
_LABELS = ("label", "labels", "target", "y", "class")
_FEATURES = ("features", "X", "x")
_NPZ_LABELS = ("labels", "y", "label", "targets", "target")
_CLIENTS = ("clients", "client")
_WEIGHTS = ("weights", "weight")
_SHOWN = 6
# Parameters whose value is the name of a column that is no feature.
_ROLES = ("client", "weight")
_FILL = "drop the row or fill the value in"


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A table as it was read: ``features`` a CSR matrix (M, d), ``labels`` (M,) numbers or texts.

    ``clients`` (M,) are numbers of clients from 0 on, ``of_clients`` their names; None where a file has no such column.
    ``weights`` (M,) are those of the rows, 1 each by default.
    """

    name: str
    features: Any
    labels: Any
    clients: Indices | None = None
    of_clients: Sequence[str] = ()
    weights: Array | None = None


def from_libsvm(path: str) -> LabelledTable:
    """The table in a LIBSVM file."""
    file, matrix, labels = libsvm_rows(path)
    return LabelledTable(" ".join(file.name.split()), matrix, labels)


def table(path: str, options: Mapping[str, Any]) -> LabelledTable:
    """The table in a file, by its ending; ``options`` may name the columns ``label``, ``client``, ``weight``, ``drop``.

    A file is read once for several calls. Raises `InputError` in one line for a file that is missing or damaged, a
    column that it lacks, and a cell that is empty or no number where one is needed.
    """
    chosen = tuple((name, _text(options.get(name))) for name in ("label", "client", "weight", "drop"))
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        raise InputError(f"{_shown(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return _table(path, (status.st_mtime_ns, status.st_size, status.st_ino), chosen)


def is_table(path: str) -> bool:
    """Whether an .npz file has features; what cannot be read has none."""
    try:
        with np.load(io.BytesIO(bytes_of(Path(path))), allow_pickle=False) as stored:
            return any(name in stored.files for name in _FEATURES) and "H" not in stored.files
    except Exception:  # noqa: BLE001  # a damaged archive fails in many ways; its own reader says so
        return False


# How tables are written, and which .npz files are one.
FORMS: Mapping[str, Callable[[str], bool] | None] = {
    ".csv": None, ".csv.gz": None, ".tsv": None, ".parquet": None, ".npz": is_table, "table:": None,
}  # fmt: skip


@lru_cache(maxsize=2)
def _table(path: str, _status: tuple[int, ...], options: tuple[tuple[str, str | None], ...]) -> LabelledTable:
    chosen, file = dict(options), Path(path)
    suffix = file.with_suffix("").suffix if file.suffix in (".gz", ".bz2") else file.suffix
    if suffix == ".npz":
        return _from_npz(file, chosen)
    return _from_frame(_shown(file.name), _frame(file, suffix), chosen)


def _text(value: Any) -> str | None:
    """The name of a column; numbers are written as in a file."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return ",".join(str(_text(each)) for each in value)
    return f"{value:g}" if isinstance(value, float | int) else str(value)


def _shown(path: object) -> str:
    return " ".join(str(path).split())


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError('tables need the extra `data`: pip install "ratecheck[data]"') from None


# --- Text and Parquet ---


def _frame(file: Path, suffix: str) -> Any:
    """The file as a pandas table."""
    pandas = _package("pandas")
    try:
        raw = bytes_of(file)
        if suffix == ".parquet":
            return _package("pyarrow.parquet").read_table(io.BytesIO(raw)).to_pandas()
        raw = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(file.suffix, bytes)(raw)
        text = raw.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        form = _form(text)
        return pandas.read_csv(
            io.StringIO(text.removeprefix("#").lstrip(" ") if form.commented else text),
            sep=form.separator, decimal=form.decimal, header=0 if form.header else None, comment=form.comment,
            skipinitialspace=True, skip_blank_lines=True, keep_default_na=True, low_memory=False,
        )  # fmt: skip
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{_shown(file)}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{_shown(file)}: it is no text in UTF-8; save it as UTF-8") from None
    except Exception as error:  # noqa: BLE001  # readers report bad files by whatever they meet first
        reason = _shown(error).removeprefix("Error tokenizing data. C error: ") or type(error).__name__
        raise InputError(f"{_shown(file)}: it does not parse as a table: {reason}") from None


@dataclass(frozen=True)
class _Form:
    """How a text table is written; ``commented``: its header stands behind a #."""

    separator: str
    decimal: str
    header: bool
    commented: bool

    @property
    def comment(self) -> str | None:
        return None if self.header and not self.commented else "#"


def _form(text: str) -> _Form:
    """The form of a text by its first lines: semicolons, tabs, commas, or spaces as numpy.savetxt writes them."""
    lines = [line for line in text.splitlines()[:50] if line.strip()]
    if not lines:
        raise InputError("the file is empty")
    commented = lines[0].startswith("#")
    body = [line for line in lines[1:] if not line.startswith("#")] or lines[:1]
    separator = next((mark for mark in (";", "\t", ",") if all(mark in line for line in body)), r"\s+")
    cells = [cell.strip() for line in body for cell in re.split(separator, line.strip())]
    comma = separator != "," and any(re.fullmatch(r"[-+]?\d+,\d+([eE][-+]?\d+)?", cell) for cell in cells)
    decimal = "," if comma else "."
    if "," not in body[0] and separator == r"\s+" and "," in lines[0] and not commented:
        separator = ","  # one column without commas below a header
    first = [cell.strip() for cell in re.split(separator, lines[0].lstrip("# ").strip())]
    header = not all(_numeric(cell.replace(decimal, ".")) for cell in first)
    return _Form(separator, decimal, header, commented and header)


def _numeric(cell: str) -> bool:
    try:
        float(cell.strip("\"'") or "nan")
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class _Columns:
    """The names of the columns of a table; ``numbered``: it has no header, and they are numbers from 0 on."""

    table: str
    names: Sequence[str]
    numbered: bool

    def find(self, option: str, wanted: str) -> str:
        """The column of that name or number."""
        if wanted in self.names:
            return wanted
        count = len(self.names)
        if re.fullmatch(r"-?\d+", wanted) and -count <= int(wanted) < count:
            return self.names[int(wanted)]
        if self.numbered:
            raise InputError(f"{self.table}: {option}={wanted}: the table has the columns 0 to {count - 1}")
        raise InputError(f"{self.table}: {option}={wanted}: no such column; {did_you_mean(wanted, self.names)}")

    def label(self, given: str | None) -> str:
        """The column of the labels: the one that is given, or the only one with such a name."""
        if given is not None:
            return self.find("label", given)
        found = [each for each in self.names if each.lower() in _LABELS]
        if len(found) != 1:
            has = f"from 0 to {len(self.names) - 1}" if self.numbered else _several(self.names)
            raise InputError(f"{self.table}: which column has the labels? give label=NAME; its columns are {has}")
        return found[0]


def _from_frame(name: str, frame: Any, chosen: Mapping[str, str | None]) -> LabelledTable:
    import scipy.sparse

    numbered = not any(isinstance(column, str) for column in frame.columns)
    frame.columns = [str(column).strip() for column in frame.columns]
    columns = _Columns(name, list(frame.columns), numbered)
    if len(frame) == 0:
        raise InputError(f"{name}: the table has no rows")
    if twice := sorted({column for column in columns.names if columns.names.count(column) > 1}):
        raise InputError(f"{name}: the column {twice[0]!r} is there twice")
    used = {option: columns.find(option, each) for option in ("client", "weight") if (each := chosen[option])}
    used["label"] = columns.label(chosen["label"])
    if len({*used.values()}) < len(used):
        raise InputError(f"{name}: {', '.join(f'{k}={v}' for k, v in used.items())}: needed different columns")
    dropped = {columns.find("drop", each.strip()) for each in (chosen["drop"] or "").split(",") if each.strip()}
    kept = [each for each in columns.names if each not in used.values() and each not in dropped]
    if not kept:
        raise InputError(f"{name}: no column is left for the features")
    features = np.stack([_numbers(name, each, frame[each]) for each in kept], axis=1)
    found = {option: frame[column] for option, column in used.items()}
    labels = _filled(name, used["label"], found["label"])
    clients = _filled(name, used["client"], found["client"]) if "client" in used else None
    weights = _numbers(name, used["weight"], found["weight"]) if "weight" in used else None
    return _with(LabelledTable(name, scipy.sparse.csr_matrix(features), labels), clients, weights)


def _with(table: LabelledTable, clients: Any, weights: Array | None) -> LabelledTable:
    """The table with the clients and the weights of its rows, where it has them."""
    if clients is not None:
        names, numbers = np.unique(clients, return_inverse=True)
        shown = [f"{each:g}" if isinstance(each, float) else str(each) for each in names]
        table = replace(table, clients=numbers.astype(np.int64).ravel(), of_clients=shown)
    if weights is not None:
        bad = np.flatnonzero(weights <= 0)
        if bad.size:
            raise InputError(
                f"{table.name}: the weight of row {bad[0] + 1} is {weights[bad[0]]:g}; needed a positive number"
            )
        table = replace(table, weights=weights)
    return table


def _several(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _numbers(name: str, column: str, cells: Any) -> Array:
    """A column as finite numbers."""
    pandas = _package("pandas")
    if cells.dtype == object or str(cells.dtype) in ("str", "string", "category"):
        found = pandas.to_numeric(cells, errors="coerce")
        bad = np.flatnonzero(found.isna().to_numpy())
        if bad.size:
            cell = "empty" if pandas.isna(cells.iloc[bad[0]]) else described(str(cells.iloc[bad[0]]))
            more = f", and so are {bad.size - 1} more" if bad.size > 1 else ""
            # Parameters name columns by their role, and a column is often called so.
            meant = f"say {column}={column}, " if column in _ROLES else ""
            raise InputError(
                f"{name}: column {column!r}, row {bad[0] + 1} is {cell}{more}; features are numbers: leave the column "
                f"out with drop={column}, {meant}or {_FILL}"
            )
        cells = found
    try:
        numbers = np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise InputError(f"{name}: column {column!r} has no numbers; leave it out with drop={column}") from None
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        what = "empty or NaN" if np.isnan(numbers[bad[0]]) else "infinite"
        more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        raise InputError(f"{name}: column {column!r}, row {bad[0] + 1}{more} is {what}; {_FILL}")
    return numbers


def _filled(name: str, column: str, cells: Any) -> Any:
    """A column of labels or clients, as numbers where they are all numbers, else as texts; nothing may be missing."""
    bad = np.flatnonzero(cells.isna().to_numpy())
    if bad.size:
        raise InputError(f"{name}: column {column!r}, row {bad[0] + 1} is empty; {_FILL}")
    numbers = _package("pandas").to_numeric(cells, errors="coerce")
    if not numbers.isna().any():
        return _finite(name, column, numbers.to_numpy(dtype=np.float64))
    return np.array([str(cell) for cell in cells], dtype=object)


def _finite(name: str, column: str, numbers: Array) -> Array:
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise InputError(f"{name}: {column!r}, row {bad[0] + 1} is {numbers[bad[0]]}; {_FILL}")
    return numbers


# --- NPZ ---


def _from_npz(file: Path, chosen: Mapping[str, str | None]) -> LabelledTable:
    """Arrays by name: features (M, d), or a CSR matrix as SciPy saves it; labels, clients and weights (M,)."""
    import scipy.sparse

    name = _shown(file.name)
    if chosen["drop"]:
        raise InputError(f"{name}: drop= is for tables with columns; an .npz file has arrays")
    others = (*_FEATURES, *_NPZ_LABELS, *_CLIENTS, *_WEIGHTS, *(each for each in chosen.values() if each))
    arrays = npz_arrays(file, (), tuple(dict.fromkeys(others)))

    def pick(option: str, names: Sequence[str]) -> Any:
        wanted = chosen.get(option)
        if wanted is not None and wanted not in arrays:
            raise InputError(f"{name}: {option}={wanted}: no such array; it has {_several(sorted(arrays))}")
        return next((arrays[each] for each in ((wanted,) if wanted else names) if each in arrays), None)

    features, labels = pick("", _FEATURES), pick("label", _NPZ_LABELS)
    if features is None or labels is None:
        raise InputError(f"{name}: needed arrays features (or X) and labels (or y); it has {_several(sorted(arrays))}")
    if features.ndim != 2 or 0 in features.shape or not np.issubdtype(features.dtype, np.number):
        raise InputError(f"{name}: features: shape {features.shape} of {features.dtype}; needed numbers (M, d)")
    bad = np.argwhere(~np.isfinite(features))
    if bad.size:
        raise InputError(f"{name}: features, row {bad[0][0] + 1}, column {bad[0][1] + 1} is no finite number; {_FILL}")
    by_row = {"labels": labels, "clients": pick("client", _CLIENTS), "weights": pick("weight", _WEIGHTS)}
    for what, array in by_row.items():
        if array is not None and array.shape != features.shape[:1]:
            raise InputError(f"{name}: {what}: shape {array.shape}; needed {features.shape[:1]}, one per row")
        if array is not None and np.issubdtype(array.dtype, np.number):
            by_row[what] = _finite(name, what, array.astype(np.float64))
    found = LabelledTable(name, scipy.sparse.csr_matrix(features.astype(np.float64)), by_row["labels"])
    return _with(found, by_row["clients"], by_row["weights"])
