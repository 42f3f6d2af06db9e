"""Tables of binary classification data, and their split over clients.

A :class:`DataTable` is what every data set becomes: features, labels in {-1, +1}, and the groups along which
:func:`split` makes clients heterogeneous. Nothing is downloaded: :func:`digits` and :func:`breast_cancer` come with
scikit-learn, :func:`libsvm` reads a file that the user names, :func:`synthetic` needs no file at all.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import importlib
import math
import operator
import os
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from bounds.numbers import decimal
from ratecheck.aliases import Array
from ratecheck.caching import opened
from ratecheck.errors import InputError
from ratecheck.inputs import floats, nonnegative, real, whole

Indices = NDArray[np.int64]

EVEN_AGAINST_ODD = ((0, 2, 4, 6, 8), (1, 3, 5, 7, 9))
LARGEST_DENSE = 2**29  # numbers in a dense table: 4 GiB
SPLITS = ("label", "iid", "dirichlet", "shards", "features", "quality", "quantity")
PARTS = ("all", "train", "test")
_UNDERFLOWS = 0.1  # Dirichlet's alpha below which shares leave the range of floats
_EQUAL = 1e300  # and above which they are equal
_INDICES = 2**31 - 1  # of a LIBSVM file: what its reader takes
_FILL = "needed finite values: drop the row or fill the value in"
QUANTITIES = 4  # clients of 1, 1/2, 1/4 and 1/8 of the largest number of rows


class Samples(Protocol):
    """What `split` needs of a table: a name, features and labels by row, and groups where it has them."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def features(self) -> Any:
        """The features (M, d), dense or a CSR matrix."""

    @property
    def labels(self) -> Array:
        """The labels (M,), numbers."""

    @property
    def groups(self) -> Indices | None:
        """The finer classes (M,)."""


@dataclass(frozen=True, eq=False)
class DataTable:
    """A binary classification data set of ``M`` rows.

    ``name`` is what messages call it; ``features`` has shape (M, d); ``labels`` has shape (M,), values -1 and +1;
    ``groups`` has shape (M,) and holds integers, or is ``None``: the finer classes that :func:`split` sorts by.
    Arrays are stored as C-contiguous float64 (groups: int64).

    Raises :class:`InputError` where a shape does not fit, a value is not finite, or a label is not -1 or +1.
    """

    name: str
    features: Array
    labels: Array
    groups: Indices | None = None

    def __post_init__(self) -> None:
        features = floats(f"features of {self.name}", self.features)
        labels = floats(f"labels of {self.name}", self.labels)
        if features.ndim != 2 or features.shape[0] == 0:
            raise InputError(f"features of {self.name}: shape {features.shape}; needed (M, d) with M >= 1 rows")
        if labels.shape != features.shape[:1]:
            raise InputError(f"labels of {self.name}: shape {labels.shape}; needed {features.shape[:1]}, one per row")
        _require_finite(self.name, features)
        wrong = np.flatnonzero(np.abs(labels) != 1.0)
        if wrong.size:
            raise InputError(
                f"labels of {self.name}: row {wrong[0] + 1} (counting from 1) is {labels[wrong[0]]:g}; needed -1 or +1"
            )
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)
        if self.groups is not None:
            object.__setattr__(self, "groups", _groups(self.name, self.groups, len(labels)))


def digits(classes: tuple[Collection[int], Collection[int]] = EVEN_AGAINST_ODD) -> DataTable:
    """The 1,797 images of 8 x 8 pixels of handwritten digits bundled with scikit-learn; pixels scaled to [0, 1].

    ``classes`` = (digits labelled -1, digits labelled +1), even against odd by default; digits in neither are left out.
    ``groups`` is the digit, so that ``split(table, 10, "label")`` gives about one digit to each client. It stands in
    for the MNIST data of "Sharper Convergence Guarantees for Federated Learning with Partial Model Personalization",
    Section 5.

    Raises :class:`InputError` where a class is empty, holds something other than the digits 0 to 9, or overlaps the
    other, and where scikit-learn is missing.
    """
    negative, positive = _digit_classes(classes)
    bunch = _sklearn_datasets().load_digits()
    digit = np.asarray(bunch.target, dtype=np.int64)
    kept = np.isin(digit, sorted(negative | positive))
    labels = np.where(np.isin(digit, sorted(positive)), 1.0, -1.0)
    return DataTable("digits", np.asarray(bunch.data, dtype=np.float64)[kept] / 16.0, labels[kept], digit[kept])


def breast_cancer() -> DataTable:
    """The 569 tumours with 30 measurements bundled with scikit-learn: malignant -1, benign +1.

    Every feature is standardised (mean 0, variance 1 over the 569 rows): in the units of the file the largest feature
    exceeds the smallest by a factor of 10^5, and the smoothness constant would be that of one feature alone.

    Raises :class:`InputError` where scikit-learn is missing.
    """
    bunch = _sklearn_datasets().load_breast_cancer()
    raw = np.asarray(bunch.data, dtype=np.float64)
    labels = np.where(np.asarray(bunch.target) == 1, 1.0, -1.0)
    return DataTable("breast_cancer", (raw - raw.mean(axis=0)) / raw.std(axis=0), labels)


def libsvm(path: str | os.PathLike[str]) -> DataTable:
    """The table in a LIBSVM / SVMlight file: one ``label index:value index:value ...`` per line, as it is, unscaled.

    Files that end in ``.gz`` or ``.bz2`` are decompressed. The two distinct labels that the file must hold become
    -1 (the smaller) and +1 (the larger).

    Raises :class:`InputError` where the file is missing, unreadable or empty, where a line does not parse or holds a
    value that is not finite (with its number), where the table would not fit into 4 GiB, where there are not exactly
    two labels, and where scikit-learn is missing.
    """
    file, matrix, raw = libsvm_rows(path)
    shown, (rows, columns) = _one_line(file), matrix.shape
    if rows * columns > LARGEST_DENSE:
        raise InputError(f"{shown}: {rows} rows x {columns} features do not fit into 4 GiB; use fewer of them")
    features = np.asarray(matrix.toarray(), dtype=np.float64)
    return DataTable(_one_line(file.name), features, binary_labels(shown, raw))


def libsvm_rows(path: str | os.PathLike[str]) -> tuple[Path, Any, Array]:
    """The path, the features as a CSR matrix and the labels of a LIBSVM file as they are; see `libsvm`."""
    try:
        file = Path(path)
    except TypeError:
        raise InputError(f"path={path!r}: needed the path of a LIBSVM file") from None
    shown = _one_line(file)
    try:
        with _decompressed(file) as lines:
            found = plain_rows(lines.read())
            lines.seek(0)
            # Whatever is out of the ordinary is left to a reader that knows it, and says what is wrong with it.
            matrix, raw = found or _sklearn_datasets().load_svmlight_file(_Lines(lines))
        if matrix.shape[0] == 0:
            raise InputError(f"{shown}: the file holds no data; needed lines such as '+1 1:0.5 3:-2'")
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {_one_line(error.strerror or error)}") from None
    except Exception as error:  # noqa: BLE001  # the reader reports bad text by whatever its parser meets first
        raise InputError(f"{shown}: {_first_bad_line(file, error)}; needed lines such as '+1 1:0.5 3:-2'") from None
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right"))
        column, value = matrix.indices[bad[0]] + 1, matrix.data[bad[0]]
        raise InputError(f"{shown}: data row {row}, feature {column} (counting from 1) is {value}; {_FILL}")
    return file, matrix, np.asarray(raw, dtype=np.float64)


def synthetic(n_samples: int, d: int, seed: int = 0, *, groups: int = 10, heterogeneity: float = 1.0) -> DataTable:
    """A seeded table of ``groups`` related tasks with ``d`` features; row ``j`` is of task ``j % groups``.

    Task ``k`` draws rows ``a ~ N(h * mu_k, I) / sqrt(d)`` with ``h = heterogeneity``, and labels them +1 with
    probability ``1/(1 + exp(-4 a'(w + h * w_k)))``; ``w``, ``w_k`` ~ N(0, I) and ``mu_k`` ~ N(0, I/d) are drawn once.
    At ``h = 0`` all tasks follow one law; as it grows, the features and the best classifiers of the tasks drift apart.
    ``split(table, groups, "label")`` gives one task to each client where ``groups`` divides ``n_samples``.

    Raises :class:`InputError` where a count is below 1, ``heterogeneity`` is negative or not finite, or the seed is not
    a nonnegative integer.
    """
    n_samples, d = whole("n_samples", n_samples, 1), whole("d", d, 1)
    groups, generator = whole("groups", groups, 1), _generator(seed)
    h = nonnegative("heterogeneity", heterogeneity)
    common, shifts = generator.standard_normal(d), generator.standard_normal((groups, d)) / math.sqrt(d)
    tasks = common + h * generator.standard_normal((groups, d))
    group = np.arange(n_samples, dtype=np.int64) % groups
    features = (generator.standard_normal((n_samples, d)) + h * shifts[group]) / math.sqrt(d)
    margin = 4.0 * np.einsum("jk,jk->j", features, tasks[group])
    positive = generator.random(n_samples) < np.exp(-np.logaddexp(0.0, -margin))
    return DataTable("synthetic", features, np.where(positive, 1.0, -1.0), group)


def split(
    table: Samples,
    n: int,
    how: Literal["label", "iid", "dirichlet", "shards", "features", "quality", "quantity"] = "label",
    seed: int = 0,
    alpha: float = 0.5,
    classes: int = 2,
) -> list[Indices]:
    """Deal the ``M`` rows of ``table`` to ``n`` clients: a list of ``n`` arrays of ``M // n`` row numbers each.

    The remaining ``M - n * (M // n)`` rows, chosen at random, are dropped: the papers give every client the same number
    of samples. With the classes of a row its ``groups``, or its label where there are none:

    - ``"label"``: rows sorted by class, then cut into ``n`` pieces (the most heterogeneous);
    - ``"iid"``: a random permutation, cut into ``n`` pieces;
    - ``"dirichlet"``: each client draws class proportions from Dirichlet(alpha, ..., alpha) and takes its rows so, as
      long as a class lasts, and then by the same proportions of the others; small ``alpha`` is heterogeneous (one class
      until it is used up, then another), large ``alpha`` close to equal shares of each class.

    Four more are the skew patterns of "Personalized Federated Learning via ADMM with Moreau Envelope", Section 2.1:

    - ``"shards"``, label skew as in Section 5.1: rows sorted by class, cut into ``2 n`` pieces of ``M // (2 n)`` rows,
      of which every client gets two at random, or as many as ``classes`` says;
    - ``"features"``: each class sorted along its first principal component, so that all clients have about the same
      shares of classes, but different features;
    - ``"quality"``: as ``"iid"``; it is `dealt` that makes the clients' features noisy;
    - ``"quantity"``: clients 0, 4, 8, ... have ``N`` random rows, the others ``N/2``, ``N/4`` and ``N/8`` in turn, with
      the largest multiple ``N`` of 8 for which there are enough; a client's rows are repeated until there are ``N``,
      which leaves their mean as it is.

    Raises :class:`InputError` where ``n`` is not within 1..M, ``how`` is none of these, ``alpha`` is not positive and
    finite, or the seed is not a nonnegative integer.
    """
    n, seed = _clients(n, table), whole("seed", seed, 0)
    size = len(table.labels) // n
    order = _generator(seed).permutation(len(table.labels))[: n * size].astype(np.int64)
    kinds = table.labels if table.groups is None else table.groups
    if how == "label":
        order = order[np.argsort(kinds[order], kind="stable")]
    elif how == "dirichlet":
        return _dirichlet_split(order, np.unique(kinds[order], return_inverse=True)[1], n, seed, alpha)
    elif how == "shards":
        return _shards_split(order, kinds, table, n, seed, whole("classes", classes, 1))
    elif how == "features":
        order = order[_along_features(_dense(table, order), kinds[order])]
    elif how == "quantity":
        return _quantity_split(_generator(seed).permutation(len(table.labels)), table, n)
    elif how not in ("iid", "quality"):
        raise InputError(f"how={how!r}: needed {', '.join(map(repr, SPLITS[:-1]))} or {SPLITS[-1]!r}")
    return list(order.reshape(n, size))


def dealt(
    table: DataTable,
    n: int,
    how: str = "label",
    seed: int = 0,
    part: str = "all",
    alpha: float = 0.5,
    classes: int = 2,
) -> tuple[Array, Array]:
    """Features (n, N, d) and labels (n, N) of the clients to whom `split` deals the rows of ``table``.

    With ``how="quality"`` the features of client i have Gaussian noise, of ``i/(n-1)`` times the standard deviation of
    all features of the table. ``part``: ``"all"`` rows of a client, or the ``"test"`` rows, a fifth of them, that are
    held out, or the ``"train"`` rows that are left. With ``how="quantity"`` a fifth of the table is held out before,
    and dealt in equal parts.

    Raises :class:`InputError` as `split` does, for another ``part``, and where too few rows are left for it.
    """
    rows = dealt_rows(table, n, how, seed, part, alpha, classes)
    features = table.features[rows]
    if how == "quality":
        features = blurred(features, float(table.features.std()), seed, part)
    return features, table.labels[rows]


def dealt_rows(
    table: Samples, n: int, how: str = "label", seed: int = 0, part: str = "all", alpha: float = 0.5, classes: int = 2
) -> Indices:
    """The numbers of the rows (n, N) that `dealt` gives to the clients; raises `InputError` as `dealt` does."""
    if part not in PARTS:
        raise InputError(f"part={part!r}: needed {', '.join(map(repr, PARTS[:-1]))} or {PARTS[-1]!r}")
    n, seed = _clients(n, table), whole("seed", seed, 0)
    if part != "all" and how == "quantity":
        return _quantity_part(table, n, seed, part)
    rows = np.stack(split(table, n, how, seed, alpha, classes))  # type: ignore[arg-type]  # `how` is checked there
    return rows if part == "all" else _held_out(rows, table, seed, part)


def blurred(features: Array, size: float, seed: int, part: str) -> Array:
    """Features (n, N, d) of clients with the Gaussian noise of ``how="quality"``, ``size`` that of the last client."""
    noise = np.random.default_rng([whole("seed", seed, 0), 3, PARTS.index(part)]).standard_normal(features.shape)
    return features + size * np.linspace(0.0, 1.0, len(features))[:, None, None] * noise


def _dense(table: Samples, rows: Indices) -> Array:
    """The features of these rows, where they fit into memory."""
    found = table.features[rows]
    if found.shape[0] * found.shape[1] > LARGEST_DENSE // 8:
        raise InputError(f'how="features" needs the features of {table.name} as a dense table of at most 512 MiB')
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


def _clients(n: Any, table: Samples) -> int:
    return whole("n", n, 1, len(table.labels), f"{table.name} has that many rows")


def _held_out(rows: Indices, table: Samples, seed: int, part: str) -> Indices:
    """The test rows of each client, or the others; ``rows`` is (n, N)."""
    test = rows.shape[1] // 5
    if test == 0:
        raise InputError(f"part={part!r}: clients of {rows.shape[1]} rows of {table.name}; needed at least 5 each")
    mixed = np.random.default_rng([seed, 2]).permuted(rows, axis=1)
    return mixed[:, :test] if part == "test" else mixed[:, test:]


def _shards_split(order: Indices, classes: Any, table: Samples, n: int, seed: int, each: int) -> list[Indices]:
    size = len(table.labels) // (each * n)
    if size == 0:
        raise InputError(
            f'n={n} breaks "{each} n <= {len(table.labels)}", the rows of {table.name}, which how="shards" needs'
        )
    order = order[: each * n * size]
    shards = order[np.argsort(classes[order], kind="stable")].reshape(each * n, size)
    drawn = np.random.default_rng([seed, 1]).permutation(each * n).reshape(n, each)
    return list(shards[drawn].reshape(n, each * size))


def _along_features(features: Array, classes: Any) -> Indices:
    """An order of the rows in which every class is spread evenly, sorted along its first principal component."""
    place = np.empty(len(classes))
    for each in np.unique(classes):
        here = np.flatnonzero(classes == each)
        centred = features[here] - features[here].mean(axis=0)
        direction = np.linalg.svd(centred, full_matrices=False)[2][0]
        # The sign of a principal component is arbitrary.
        direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
        rank = np.argsort(np.argsort(centred @ direction, kind="stable"), kind="stable")
        place[here] = (rank + 0.5) / len(here)
    return np.argsort(place, kind="stable")


def _quantity_split(order: Indices, table: Samples, n: int) -> list[Indices]:
    """Clients of N, N/2, N/4 and N/8 rows in turn, repeated until there are N."""
    shares = 2 ** (np.arange(n) % QUANTITIES)
    eighth = 2 ** (QUANTITIES - 1)
    largest = eighth * int(len(order) / (eighth / shares).sum())
    # The numbers of rows are largest / shares: as many eighths as fit.
    if largest == 0:
        raise InputError(
            f'how="quantity": {len(order)} rows of {table.name} are too few for n={n} clients of 8, 4, 2 and 1'
        )
    counts = largest // shares
    pieces = np.split(order[: counts.sum()], np.cumsum(counts)[:-1])
    return [np.tile(piece, share).astype(np.int64) for piece, share in zip(pieces, shares, strict=True)]


def _quantity_part(table: Samples, n: int, seed: int, part: str) -> Indices:
    order, test = _generator(seed).permutation(len(table.labels)), len(table.labels) // 5
    if part == "train":
        return np.stack(_quantity_split(order[test:], table, n))
    if test < n:
        raise InputError(f"part={part!r}: a fifth of the {len(order)} rows of {table.name} is less than one per client")
    return np.asarray(order[: n * (test // n)].reshape(n, -1), dtype=np.int64)


def _dirichlet_split(order: Indices, classes: Indices, n: int, seed: int, alpha: float) -> list[Indices]:
    """Hand out ``order`` client by client, each by its own Dirichlet class proportions among what is left."""
    concentration = real("alpha", alpha)
    if concentration <= 0:
        raise InputError(
            f'alpha={concentration:g} breaks "alpha > 0"; as alpha falls, each client takes one class until it is used '
            "up, and so does alpha=1e-6"
        )
    generator = np.random.default_rng([seed, 1])
    pools = [order[classes == k] for k in range(int(classes.max()) + 1)]
    taken = np.zeros(len(pools), dtype=np.int64)
    clients = []
    for _ in range(n):
        shares = _log_shares(generator, len(pools), concentration)
        counts = _capped_draw(generator, len(order) // n, shares, np.array([len(p) for p in pools]) - taken)
        clients.append(np.concatenate([p[t : t + c] for p, t, c in zip(pools, taken, counts, strict=True)]))
        taken += counts
    return clients


def _log_shares(generator: np.random.Generator, classes: int, alpha: float) -> Callable[[Any], Array]:
    """Shares of Dirichlet(alpha, ..., alpha) as a function of the classes that are left, which alone have some.

    Shares are those of independent Gamma(alpha) variables G. For small alpha most of them are below the range of
    floats, while G has the law of Gamma(alpha + 1) U^(1/alpha), of which alpha log(G) is within it.
    """
    alpha = min(alpha, _EQUAL)
    if alpha < _UNDERFLOWS:
        logs = alpha * np.log(generator.standard_gamma(alpha + 1, classes)) + np.log1p(-generator.random(classes))
    else:
        logs, alpha = np.log(generator.standard_gamma(alpha, classes)), 1.0

    def shares(left: Any) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            weights = np.where(left, np.exp((logs - logs[left].max()) / alpha), 0.0)
        return np.asarray(weights / weights.sum())

    return shares


def _capped_draw(generator: np.random.Generator, size: int, shares: Callable[[Any], Array], left: Indices) -> Indices:
    """``size`` draws by the ``shares`` of classes, no class more often than it has rows ``left``."""
    counts = np.zeros_like(left)
    while (missing := size - int(counts.sum())) > 0:
        counts = np.minimum(counts + generator.multinomial(missing, shares(counts < left)), left)
    return counts


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(whole("seed", seed, 0))


def _digit_classes(classes: tuple[Collection[int], Collection[int]]) -> tuple[set[int], set[int]]:
    try:
        negative, positive = (set(map(operator.index, part)) for part in classes)
    except (TypeError, ValueError):
        raise InputError(f"classes={classes!r}: needed two collections of digits, such as ((3,), (8,))") from None
    if not negative or not positive or negative & positive or not negative | positive <= set(range(10)):
        raise InputError(f"classes={classes!r}: needed two disjoint nonempty collections of digits 0 to 9")
    return negative, positive


def binary_labels(file: str, raw: Array) -> Array:
    """Labels of which there are two different ones as -1 and +1; raises `InputError` for others."""
    bad = np.flatnonzero(~np.isfinite(raw))
    if bad.size:
        raise InputError(f"{file}: the label of data row {bad[0] + 1} (counting from 1) is {raw[bad[0]]}; drop the row")
    values = np.unique(raw)
    if len(values) != 2:
        shown = ", ".join(f"{v:g}" for v in values[:5]) + (", ..." if len(values) > 5 else "")
        raise InputError(f"{file}: {len(values)} distinct labels ({shown}); needed exactly 2, which become -1 and +1")
    return np.where(raw == values[1], 1.0, -1.0)


@contextlib.contextmanager
def _decompressed(file: Path) -> Iterator[IO[bytes]]:
    unpack: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(file.suffix, contextlib.nullcontext)
    with opened(file) as raw, unpack(raw) as text:
        yield text


def plain_rows(text: bytes) -> tuple[Any, Array] | None:
    """Features (CSR) and labels of a LIBSVM text without comments and other rarities; None for any other text.

    Numbers are read all at once. Indices start at 1, or at 0 where one of them is 0.
    """
    import scipy.sparse

    if b"#" in text or b"_" in text or b"q" in text or not text.isascii():
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    counts = np.array([line.count(b":") for line in lines], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    places = np.concatenate([[0], np.cumsum(2 * counts + 1)])
    # A label has no colon, and a pair has one: other numbers of words are not what they seem to be.
    if not lines or [len(line.split()) for line in lines] != (counts + 1).tolist():
        return None
    try:
        # NumPy warns, or since 2.3 raises an error, where the text holds something else than numbers.
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            numbers = np.fromstring(text.replace(b":", b" "), sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    if len(numbers) != places[-1]:
        return None
    labels = numbers[places[:-1]]
    pairs = np.delete(numbers, places[:-1]).reshape(-1, 2)
    indices, values = pairs[:, 0], np.ascontiguousarray(pairs[:, 1])
    whole_ones = (indices == np.floor(indices)) & (indices >= 0) & (indices < _INDICES)
    rising = np.diff(indices) > 0
    rising[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < len(indices))] - 1] = True
    if not (len(indices) and whole_ones.all() and rising.all()):
        return None
    columns = indices.astype(np.int32) - int(indices.min() > 0)
    shape = len(lines), int(columns.max()) + 1
    return scipy.sparse.csr_matrix((values, columns, starts), shape=shape), labels


class _Lines:
    """The lines of a LIBSVM file, as its reader takes them, without the mark that some editors put before a text."""

    def __init__(self, file: IO[bytes], *, strict: bool = True) -> None:
        self.read, self._file, self._strict = file.read, file, strict

    def __iter__(self) -> Iterator[bytes]:
        for number, line in enumerate(self._file):
            # The reader takes 1_0 for 10, which no other does.
            if self._strict and b"_" in line.partition(b"#")[0]:
                raise ValueError
            yield line if number else line.removeprefix(codecs.BOM_UTF8)


def _first_bad_line(file: Path, error: Exception) -> str:
    """Where the text stops being LIBSVM, and why; what stands there is repeated only where it is a number."""
    try:
        with _decompressed(file) as lines:
            for number, line in enumerate(_Lines(lines, strict=False), start=1):
                if fault := _fault(line.decode("utf-8", errors="replace")):
                    return f"line {number} does not parse: {fault}"
    except Exception as damage:  # noqa: BLE001  # of the file, whatever it holds
        return _one_line(damage)
    return f"it does not parse ({type(error).__name__})"


def _fault(line: str) -> str:
    """What of one line is not LIBSVM, or an empty text."""
    label, *pairs = line.partition("#")[0].split() or ["0"]
    previous, place = -1, "its label"
    try:
        decimal(label)
        for number, pair in enumerate(pairs, start=1):
            place = f"its entry {number}"
            name, value = pair.split(":")
            if name == "qid":
                continue
            for text in (name, value):
                decimal(text)
            index = int(name)
            if not 0 <= index < _INDICES:
                return f'{place} has the index {index}, which breaks "0 <= index < {_INDICES}"'
            if index == previous:
                return f"{place} has the index {index} once more: each index of a line stands there once"
            if index < previous:
                return f"{place} has the index {index} after {previous}: the indices of a line have to increase"
            previous = index
    except ValueError:
        return f"{place} is {'no number' if place == 'its label' else 'not INDEX:VALUE'}"
    return ""


def _groups(name: str, groups: Any, rows: int) -> Indices:
    array = np.asarray(groups)
    if array.shape != (rows,) or not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"groups of {name}: shape {array.shape} of {array.dtype}; needed ({rows},) integers")
    return np.ascontiguousarray(array, dtype=np.int64)


def _require_finite(name: str, features: Array) -> None:
    bad = np.argwhere(~np.isfinite(features))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"{name}: data row {row + 1}, feature {column + 1} (counting from 1) is {features[row, column]}; {_FILL}"
        )


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


def _sklearn_datasets() -> Any:
    try:
        return importlib.import_module("sklearn.datasets")
    except ImportError:
        raise InputError('this needs the extra `data`: pip install "ratecheck[data]"') from None
