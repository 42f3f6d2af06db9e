"""Linear models of tables: losses by name, targets of labels, and rows dealt to clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import positive, whole
from ratecheck.problems.datasets import PARTS, Indices, blurred, dealt_rows
from ratecheck.problems.linear.losses import HuberLoss, LogisticLoss, Loss, SoftmaxLoss, SquaredLoss
from ratecheck.problems.linear.tables import LabelledTable

LOSSES = ("logistic", "squares", "huber", "softmax")
AVERAGES = ("clients", "rows")
_MOST_CLASSES = 1000
_QUANTILES = 10
_CLIENTS = 10


@dataclass(frozen=True, eq=False)
class Targets:
    """The loss, what it compares with (M,), and how many outputs the model has; ``groups`` are classes for a split."""

    loss: Loss
    values: Array
    outputs: int
    groups: Indices


@dataclass(frozen=True, eq=False)
class Dealt:
    """A table whose rows are to be dealt, as `ratecheck.problems.datasets.split` takes it."""

    name: str
    features: Any
    labels: Array
    groups: Indices | None


def targets(table: LabelledTable, loss: str, delta: float) -> Targets:
    """The targets of a table's labels for a loss by name.

    Raises `InputError` for labels that are no numbers where these are needed, for one label alone, and for more than
    two with the logistic loss.
    """
    if loss not in LOSSES:
        raise InputError(f"loss={loss!r}: {did_you_mean(str(loss), LOSSES)}")
    labels, name = table.labels, table.name
    if loss in ("squares", "huber"):
        if labels.dtype == object or not np.issubdtype(labels.dtype, np.number):
            raise InputError(f"{name}: loss={loss} needs labels that are numbers; {labels[0]!r} is none")
        numbers = np.asarray(labels, dtype=np.float64)
        chosen: Loss = SquaredLoss() if loss == "squares" else HuberLoss(positive("delta", delta))
        edges = np.quantile(numbers, np.linspace(0, 1, _QUANTILES + 1)[1:-1])
        return Targets(chosen, numbers, 1, np.searchsorted(edges, numbers, side="right").astype(np.int64))
    values, codes = np.unique(labels, return_inverse=True)
    codes = codes.astype(np.int64).ravel()
    shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values[:5])
    shown += ", ..." if len(values) > 5 else ""
    if len(values) == 1:
        raise InputError(f"{name}: all rows have the label {shown}; needed at least 2 different ones")
    if loss == "logistic":
        if len(values) > 2:
            raise InputError(
                f"{name}: {len(values)} distinct labels ({shown}); loss=logistic needs exactly 2, which become -1 and "
                "+1: take loss=softmax for classes, loss=squares or loss=huber for numbers"
            )
        return Targets(LogisticLoss(), np.where(codes == 1, 1.0, -1.0), 1, codes)
    if len(values) > _MOST_CLASSES:
        raise InputError(f"{name}: {len(values)} distinct labels; loss=softmax takes at most {_MOST_CLASSES}")
    return Targets(SoftmaxLoss(), codes.astype(np.float64), len(values), codes)


def clients_of(
    table: LabelledTable, wanted: Targets, n: int | None, how: str, seed: int, part: str, alpha: float, classes: int
) -> tuple[list[Indices], Any, str]:
    """The rows of every client, the features, which may have noise, and what was dropped, in words.

    Clients are those of the table's own column, or ``n``, ten by default, to whom `split` deals the rows.
    """
    if table.clients is not None:
        count = len(table.of_clients)
        if n is not None and n != count:
            raise InputError(f"n={n:g}: the column of clients of {table.name} has {count}")
        order = np.argsort(table.clients, kind="stable").astype(np.int64)
        rows = np.split(order, np.cumsum(np.bincount(table.clients, minlength=count))[:-1])
        return _part(rows, table, seed, part), table.features, ""
    named = Dealt(table.name, table.features, wanted.values, wanted.groups)
    dealt = dealt_rows(named, _CLIENTS if n is None else n, how, seed, part, alpha, classes)
    features = table.features
    if how == "quality":
        features = _blurred(table, dealt, seed, part)
    left = features.shape[0] - len(np.unique(dealt))
    return list(dealt), features, f"{left} of {features.shape[0]} rows left out" if left else ""


def _blurred(table: LabelledTable, rows: Indices, seed: int, part: str) -> Any:
    """The features with the noise of ``how="quality"``."""
    import scipy.sparse

    if table.features.shape[0] * table.features.shape[1] > 2**26:
        raise InputError(f'how="quality" makes the features of {table.name} dense; they do not fit into 512 MiB')
    dense = table.features.toarray()
    dense[rows] = blurred(dense[rows], float(dense.std()), seed, part)
    return scipy.sparse.csr_matrix(dense)


def _part(rows: list[Indices], table: LabelledTable, seed: int, part: str) -> list[Indices]:
    """All rows of the clients, or a fifth of each, or the others."""
    if part not in PARTS:
        raise InputError(f"part={part!r}: needed {', '.join(map(repr, PARTS[:-1]))} or {PARTS[-1]!r}")
    if part == "all":
        return rows
    if (least := min(len(each) for each in rows)) < 5:
        raise InputError(f"part={part!r}: a client of {table.name} has {least} rows; needed at least 5 each")
    rng = np.random.default_rng([whole("seed", seed, 0), 2])
    mixed = [rng.permutation(each) for each in rows]
    return [each[: len(each) // 5] if part == "test" else each[len(each) // 5 :] for each in mixed]
