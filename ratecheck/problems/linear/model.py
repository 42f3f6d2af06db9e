"""Linear models on sparse rows: least squares, logistic and Huber regression and softmax, with L2 regularisation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.aliases import Array
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import bounded, nonnegative, whole
from ratecheck.problems.constants import NO_PROOF, UNKNOWN, Certificate, Constant, Constants
from ratecheck.problems.datasets import DataTable, binary_labels, breast_cancer, digits
from ratecheck.problems.linear.dealing import AVERAGES, clients_of, targets
from ratecheck.problems.linear.floor import Floor, Point, WeightedRows
from ratecheck.problems.linear.losses import Loss
from ratecheck.problems.linear.spectra import largest_square
from ratecheck.problems.linear.spreads import ball_spread, box_spread, sample_spread, steepest
from ratecheck.problems.linear.tables import FORMS, LabelledTable, from_libsvm
from ratecheck.problems.linear.tables import table as read_table
from ratecheck.problems.logistic import LARGEST, Logistic
from ratecheck.problems.problem import Form, SingleLevel, WrittenProblem
from ratecheck.problems.quadratic import Quadratic

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle
    from ratecheck.problems.two_level.inner import InnerProblem

_EPS = float(np.finfo(float).eps)
# The distance from the minimiser, beside its norm, at which a point may stand for it.
_NEAR = 1e-6


# Variables up to which least squares with full gradients is a quadratic problem, which all engines follow.
_MOST_QUADRATIC = 300
# Tables with at most so many numbers, or with a larger share of entries, are dense.
_SMALL = 2**16
_SPARSE = 0.25


def _features(table: DataTable | LabelledTable, _: Mapping[str, Any]) -> int:
    return int(table.features.shape[1])


def _columns(path: str, options: Mapping[str, Any]) -> int:
    return int(read_table(path, options).features.shape[1])


def _as_dense(table: DataTable | LabelledTable) -> DataTable | None:
    """The table with dense features and two labels; None for one that is sparse."""
    if isinstance(table, DataTable):
        return table
    M, d = table.features.shape
    if M * d > _SMALL and table.features.nnz < _SPARSE * M * d:
        return None
    return DataTable(table.name, table.features.toarray(), binary_labels(table.name, table.labels))


def _as_rows(table: DataTable | LabelledTable, loss: str) -> LabelledTable:
    """The table with sparse features; softmax takes the finer classes where there are any."""
    if isinstance(table, LabelledTable):
        return table
    import scipy.sparse

    fine = loss == "softmax" and table.groups is not None
    return LabelledTable(table.name, scipy.sparse.csr_matrix(table.features), table.groups if fine else table.labels)


@dataclass(frozen=True, eq=False)
class Labelled:
    """The rows of one client: features, a CSR matrix (N_i, features); targets and weights (N_i,)."""

    features: Any
    targets: Array
    weights: Array


class LeastSquares(Quadratic):
    """Least squares with full gradients as the quadratic problem that it is, in the words of the model."""

    described = ""
    weights: Array

    @property
    def shares(self) -> Array:
        """See `LinearModel.shares`."""
        return self.weights

    @classmethod
    def of(cls, model: LinearModel) -> LeastSquares:
        """The quadratics of the clients of a model with the squared loss."""
        H, g = np.zeros((model.n, model.d, model.d)), np.zeros((model.n, model.d))
        for i in range(model.n):
            here = model.rows_of(i)
            rows, factors = model.features[here].toarray(), model.factors[here, None]
            H[i] = rows.T @ (factors * rows)
            g[i] = rows.T @ (factors[:, 0] * model.targets[here])
        H = 0.5 * (H + H.transpose(0, 2, 1)) + model.l2 * np.eye(model.d)
        found = cls(H, g, model.d_u)
        found.weights = model.shares
        found.described = model.sizes
        return found

    @property
    def sizes(self) -> str:
        """See `LinearModel.sizes`."""
        return self.described or super().sizes


class LinearModel(WeightedRows, SingleLevel):
    """Regularised empirical risks of a linear model over ``n`` clients, with shared and personal variables.

    ``f_i(w) = sum_l q_il phi(a_il'w, y_il) + l2/2 ||w||^2 + rho r(w)`` with ``w = (u, v_i)``, the row weights
    ``q_il = p_i w_il / sum_l w_il`` and the client's weight ``p_i``, of mean 1: 1 each by default, so that f_i is a
    mean; where they are proportional to the clients' rows, ``f = (1/n) sum_i f_i`` is the mean over all rows. ``r`` is
    the regulariser of `Logistic`. The first ``shared`` features belong to u. With several outputs the variables of a
    feature are side by side.

    ``batch=B``: every local step draws B of the client's rows uniformly with replacement, each with its weight.
    Rows stay sparse, from here to the kernels and the constants.

    Raises `InputError` for a shape or a number that does not fit.
    """

    kind: ClassVar[str] = "linear-model"
    written: ClassVar[tuple[WrittenProblem, ...]] = (
        WrittenProblem("digits", "from_table", lambda _: digits(), _features),
        WrittenProblem("breast_cancer", "from_table", lambda _: breast_cancer(), _features),
        WrittenProblem("libsvm:", "from_table", from_libsvm, _features),
        *(
            WrittenProblem(name, "from_file", str, _columns, counted="client", accepts=accepts)
            for name, accepts in FORMS.items()
        ),
    )

    def __init__(
        self,
        clients: Sequence[Labelled],
        loss: Loss,
        *,
        outputs: int = 1,
        shared: int | None = None,
        l2: float = 0.0,
        rho: float = 0.0,
        batch: int | None = None,
        weights: ArrayLike | None = None,
        note: str = "",
    ) -> None:
        import scipy.sparse

        self.n, self.loss, self.outputs, self.note = len(clients), loss, outputs, note
        self.counts = np.array([client.features.shape[0] for client in clients], dtype=np.int64)
        if not self.n or not self.counts.all():
            raise InputError("clients: needed at least one, each with at least one row")
        self.features = scipy.sparse.vstack([client.features for client in clients], format="csr")
        self.features.sum_duplicates()
        bounded("features", self.features.data, LARGEST)
        self.targets = bounded("targets", np.concatenate([client.targets for client in clients]), LARGEST)
        width = self.features.shape[1]
        d_u = whole("shared", width if shared is None else shared, 0, width, "there are that many features")
        self.d_u, self.d_v = d_u * outputs, (width - d_u) * outputs
        self.d, self.shared = width * outputs, d_u
        self.l2, self.rho = (nonnegative(name, value) for name, value in (("l2", l2), ("rho", rho)))
        if max(self.l2, self.rho) > LARGEST:
            raise InputError(f"l2, rho: at most {LARGEST:g}; rescale the objective")
        least = int(self.counts.min())
        self.batch = (
            None if batch is None else whole("batch", batch, 1, least, "the smallest client has that many rows")
        )
        own = np.ones(self.n) if weights is None else bounded("weights", weights, LARGEST, (self.n,))
        self.client_weights: Array = own / own.sum()
        shares = [self.n * p / own.sum() * c.weights / c.weights.sum() for p, c in zip(own, clients, strict=True)]
        self.factors = np.concatenate(shares)
        self.first = np.concatenate([[0], np.cumsum(self.counts)])

    @classmethod
    def from_table(
        cls,
        table: DataTable | LabelledTable,
        n: int = 10,
        *,
        loss: str = "logistic",
        l2: float = 0.0,
        rho: float | None = None,
        shared: int | None = None,
        delta: float = 1.0,
        batch: int | None = None,
        how: str = "label",
        seed: int = 0,
        alpha: float = 0.5,
        classes: int = 2,
        part: str = "all",
    ) -> SingleLevel:
        """The problem on ``table`` dealt to ``n`` clients by :func:`ratecheck.problems.datasets.dealt`.

        The logistic loss without ``l2`` is the problem of the paper: ``rho`` is 0.01 and half of the features are
        ``shared`` unless they are given; for dense tables it is a `Logistic`. Otherwise ``rho`` is 0 and all features
        are shared. ``loss`` is logistic, softmax (of the finer classes of a table), squares or huber.
        """
        plain = loss == "logistic" and not l2
        given = (0.01 if plain else 0.0) if rho is None else rho
        split: dict[str, Any] = {"how": how, "seed": seed, "alpha": alpha, "classes": classes, "part": part}
        if plain and shared is None:
            shared = int(table.features.shape[1]) // 2
        dense = _as_dense(table) if plain else None
        if dense is not None:
            return Logistic.from_table(dense, n, shared=shared, rho=given, batch=batch, **split)
        rows = _as_rows(table, loss)
        return cls._dealt(rows, n, loss=loss, l2=l2, rho=given, shared=shared, delta=delta, batch=batch, **split)

    @classmethod
    def from_file(
        cls,
        path: str,
        n: int | None = None,
        *,
        label: str | float | None = None,
        client: str | float | None = None,
        weight: str | float | None = None,
        drop: str | float | None = None,
        loss: str = "logistic",
        l2: float = 0.0,
        rho: float = 0.0,
        shared: int | None = None,
        delta: float = 1.0,
        batch: int | None = None,
        average: str = "clients",
        how: str = "label",
        seed: int = 0,
        alpha: float = 0.5,
        classes: int = 2,
        part: str = "all",
    ) -> SingleLevel:
        """The problem on the table in a file; see `ratecheck.problems.linear.tables.table`.

        ``label``, ``client`` and ``weight`` name columns, ``drop`` those that are left out; all others are features.
        Without ``client`` the rows are dealt to ``n`` clients, ten by default. ``average="rows"`` weighs the clients by
        the weights of their rows, so that f is the mean over all rows; ``"clients"`` weighs them equally.
        """
        columns = {"label": label, "client": client, "weight": weight, "drop": drop}
        rows = read_table(path, {name: value for name, value in columns.items() if value is not None})
        return cls._dealt(
            rows, n, loss=loss, l2=l2, rho=rho, shared=shared, delta=delta, batch=batch, average=average,
            how=how, seed=seed, alpha=alpha, classes=classes, part=part,
        )  # fmt: skip

    @classmethod
    def _dealt(
        cls,
        table: LabelledTable,
        n: int | None,
        *,
        loss: str,
        l2: float,
        rho: float,
        shared: int | None,
        delta: float,
        batch: int | None,
        average: str = "clients",
        **split: Any,
    ) -> SingleLevel:
        if average not in AVERAGES:
            raise InputError(f"average={average!r}: {did_you_mean(str(average), AVERAGES)}")
        wanted = targets(table, loss, delta)
        rows, features, note = clients_of(table, wanted, n, **split)
        weights = np.ones(len(wanted.values)) if table.weights is None else table.weights
        clients = [Labelled(features[each], wanted.values[each], weights[each]) for each in rows]
        own = [float(client.weights.sum()) for client in clients] if average == "rows" else None
        found = cls(
            clients, wanted.loss, outputs=wanted.outputs, shared=shared, l2=l2, rho=rho, batch=batch, weights=own,
            note=note,
        )  # fmt: skip
        quadratic = loss == "squares" and found.batch is None and not found.rho and found.d <= _MOST_QUADRATIC
        return LeastSquares.of(found) if quadratic else found

    @property
    def shares(self) -> Array:
        """The clients' weights p_i: 1/n each, or in proportion to their rows."""
        return self.client_weights

    @property
    def least_curvature(self) -> float | None:
        """What the regularisers leave: l2, less rho/2; None where that is below 0."""
        least = self.l2 - 0.5 * self.rho
        return least if least >= 0 else None

    @property
    def sizes(self) -> str:
        """See `Problem.sizes`; with the rows of the clients, and what was dropped."""
        low, high = int(self.counts.min()), int(self.counts.max())
        rows = f"{low}" if low == high else f"{low} to {high}"
        loss = self.loss.name + (f" of {self.outputs} classes" if self.outputs > 1 else "")
        l2 = f", l2={self.l2:g}" if self.l2 else ""
        note = f", {self.note}" if self.note else ""
        return f"{super().sizes}, {loss}{l2}, {rows} rows each{note}"

    def __repr__(self) -> str:
        return f"LinearModel(n={self.n}, {self.sizes})"

    # --- Runs ---

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        """See `Problem.oracle`; the proximal map is that of the dense problem."""
        from ratecheck.kernels.local.linear import SparseRows
        from ratecheck.kernels.oracle import LINEAR, Oracle

        if name != "gradient":
            return self._dense(f"no {name} oracle").oracle(name, noise, lambda_)
        delta = float(getattr(self.loss, "delta", 1.0))
        A = self.features
        rows = SparseRows(
            A.data[None], A.indices.astype(np.float64)[None], A.indptr.astype(np.int64), self.first.astype(np.int64),
            self.targets, self.factors, self.outputs, self.loss.code, delta, float(self.l2),
        )  # fmt: skip
        none2, none3 = np.zeros((1, 1)), np.zeros((1, 1, 1))
        return Oracle(
            LINEAR, none3, none2, none3, float(self.rho), self.d_u, int(self.batch or 0), 0.0, noise, rows=rows
        )

    @cached_property
    def classifier(self) -> Logistic | None:
        """The dense problem, where it is one that `Logistic` knows and fits into memory."""
        equal = bool((self.factors == 1.0 / self.counts[0]).all()) and int(self.counts.min()) == int(self.counts.max())
        if self.loss.name != "logistic" or self.l2 or not equal or self.features.shape[0] * self.d > 2**27:
            return None
        features = self.features.toarray().reshape(self.n, -1, self.d)
        labels = self.targets.reshape(self.n, -1)
        return Logistic(features, labels, shared=self.d_u, rho=self.rho, batch=self.batch)

    def seen_as(self, form: type[Form]) -> Form | None:
        """See `Problem.seen_as`: also as a `Logistic`, where `classifier` is one."""
        dense = self.classifier if form is Logistic else None
        return super().seen_as(form) if dense is None else dense.seen_as(form)

    def _dense(self, what: str) -> Logistic:
        if self.classifier is None:
            raise InputError(f"a {self.kind} problem has {what}: use a method that takes gradients")
        return self.classifier

    def inner(self, lambda_: float) -> InnerProblem:
        """See `SingleLevel.inner`: that of the dense problem."""
        return self._dense("no inner solver").inner(lambda_)

    def value(self, u: ArrayLike, v: ArrayLike) -> float:
        """``f(u, v)`` with ``u`` of shape (d_u,) and ``v`` of shape (n, d_v)."""
        u, v = self._checked_point(u, v)
        loss = math.fsum(self.factors * self.loss.values(self._outputs(u, v), self.targets)) / self.n
        square, own = float(u @ u), np.square(v).sum(axis=1)
        convex = 0.5 * self.l2 * (square + float(own.mean()))
        return loss + convex + self.rho * (square / (1 + square) + float((own / (1 + own)).mean()))

    def gradients(self, u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Every ``grad_u f_i(u, v_i)``, shape (n, d_u), and every ``grad_v f_i(u, v_i)``, shape (n, d_v)."""
        u, v = self._checked_point(u, v)
        slopes = self.factors[:, None] * self.loss.slopes(self._outputs(u, v), self.targets)
        found = np.stack([self._pulled(i, slopes) for i in range(self.n)])
        of_u = (self.l2 + 2 * self.rho / (1 + float(u @ u)) ** 2) * u
        of_v = (self.l2 + 2 * self.rho / np.square(1 + np.square(v).sum(axis=1, keepdims=True))) * v
        return found[:, : self.d_u] + of_u, found[:, self.d_u :] + of_v

    def _pulled(self, i: int, slopes: Array) -> Array:
        """``sum_l slopes_l a_l`` over the rows of client i, (d,)."""
        rows = self.rows_of(i)
        return np.asarray(self.features[rows].T @ slopes[rows]).ravel()

    def _outputs(self, u: Array, v: Array) -> Array:
        shared = np.asarray(self.features[:, : self.shared] @ u.reshape(-1, self.outputs))
        if self.d_v:
            personal = self.features[:, self.shared :]
            for i in range(self.n):
                shared[self.rows_of(i)] += personal[self.rows_of(i)] @ v[i].reshape(-1, self.outputs)
        return shared

    # --- Constants ---

    def constants(
        self, u0: ArrayLike | None = None, v0: ArrayLike | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """See `Logistic.constants`; with those of the minimum where the regulariser makes f strongly convex.

        All are upper bounds (of mu lower ones), up to rounding of a few units in the last place:

        - L: the loss's largest curvature times the largest eigenvalue of a client's weighted A'A, bounded as in
          `ratecheck.problems.linear.spectra`; ``L_uv``: the product of the roots of those of the blocks.
        - F_0: f at the start less a lower bound by duality, see `ratecheck.problems.linear.floor`.
        - b, the mini-batches' sigma: slopes anywhere in the loss's range; least squares have none.
        """
        u = bounded("u0", np.zeros(self.d_u) if u0 is None else u0, LARGEST, (self.d_u,))
        v = bounded("v0", np.zeros((self.n, self.d_v)) if v0 is None else v0, LARGEST, (self.n, self.d_v))
        noise = {"sigma_u": nonnegative("sigma_u", sigma_u), "sigma_v": nonnegative("sigma_v", sigma_v)}
        floor, why = self._floor.value
        gap = max(0.0, self.value(u, v) - floor)
        start = float(np.square(self.gradients(u, v)[0]).sum())
        blocks = self._blocks
        return Constants(
            *self._smoothness,
            Constant("F_0", gap, Certificate.UPPER_BOUND, f"f(x0) - lower bound: {why}"),
            Constant.exact("B_0", start, "gradients at the start"),
            self._dissimilarity,
            *(self._noise(name, blocks[name[-1]], level) for name, level in noise.items()),
            *self._of_minimum(u),
        )

    @cached_property
    def _blocks(self) -> dict[str, Any]:
        """The features of the shared and of the personal variables, CSR matrices."""
        return {"u": self.features[:, : self.shared], "v": self.features[:, self.shared :]}

    @cached_property
    def _smoothness(self) -> tuple[Constant, ...]:
        """``L_u, L_v, L_uv, L_vu, L``; see `Logistic`, whose regulariser has the curvature 2 at most."""
        found = []
        push, roof = self.l2 + 2 * self.rho, self.loss.curvature
        for name, rows in self._blocks.items():
            if rows.shape[1] == 0:
                found.append(Constant.exact(f"L_{name}", 0.0, "the block is absent"))
                continue
            squares, how = self._squares[name], self._how[name]
            why = f"{roof:g} times the largest eigenvalue of A'A, by {how}"
            found.append(Constant(f"L_{name}", roof * float(squares.max()) + push, Certificate.UPPER_BOUND, why))
        mixed = roof * float(np.sqrt(self._squares["u"] * self._squares["v"]).max())
        why = "root of the product of the blocks' own" if mixed else "a block is absent"
        kind = Certificate.UPPER_BOUND if mixed else Certificate.EXACT
        overall = max(found, key=lambda each: each.value)
        why_all = overall.reason if not mixed else "max(L_u, L_v), which bounds L_uv and L_vu"
        return (
            *found,
            *(Constant(name, mixed, kind, why) for name in ("L_uv", "L_vu")),
            Constant("L", overall.value, Certificate.UPPER_BOUND, why_all),
        )

    @cached_property
    def _spectra(self) -> dict[str, list[tuple[float, str]]]:
        """Bounds of the largest eigenvalue of ``sum_l q_il a_il a_il'`` of every client, by block."""
        return {
            name: [largest_square(self._weighted(rows, i)) for i in range(self.n)]
            for name, rows in self._blocks.items()
        }

    @property
    def _squares(self) -> dict[str, Array]:
        return {name: np.array([square for square, _ in found]) for name, found in self._spectra.items()}

    @property
    def _how(self) -> dict[str, str]:
        return {name: max(found)[1] for name, found in self._spectra.items()}

    def _weighted(self, rows: Any, i: int) -> Any:
        """The rows of client i times the roots of their weights."""
        import scipy.sparse

        here = self.rows_of(i)
        return scipy.sparse.diags_array(np.sqrt(self.factors[here])) @ rows[here]

    @cached_property
    def _range(self) -> tuple[Array, Array] | None:
        return self.loss.slope_range(self.targets, self.outputs)

    @cached_property
    def _dissimilarity(self) -> Constant:
        """``b``: gradients of regularisers are common to the clients and cancel; those of the losses are left."""
        if self.d_u == 0 or self.n == 1:
            return Constant.exact("b", 0.0, "no shared variables" if self.d_u == 0 else "one client")
        if self._range is None:
            return Constant.absent("b", f"{UNKNOWN}: slopes of least squares are unbounded; take loss=huber")
        rows = [self._blocks["u"][self.rows_of(i)] for i in range(self.n)]
        ends = [(self.factors[here, None] * low, self.factors[here, None] * high) for here, low, high in self._ends()]
        box = box_spread(rows, ends)
        # With weights q_l the slopes are at most q_l h off the middle, h half the widest range of a slope, and
        # |sum_l q_l t_l a_l|^2 <= (sum_l q_l) times the largest eigenvalue of sum_l q_l a_l a_l' for |t_l| <= 1.
        half = 0.5 * max(float((high - low).max()) for _, low, high in self._ends())
        total = np.add.reduceat(self.factors, self.first[:-1])
        ball = ball_spread(rows, ends, half * np.sqrt(self.outputs * total * self._squares["u"]))
        how = "coordinate by coordinate" if box <= ball else "centred in the middle, Minkowski"
        return Constant("b", min(box, ball), Certificate.UPPER_BOUND, f"slopes in their range, {how}")

    def _ends(self) -> list[tuple[slice, Array, Array]]:
        assert self._range is not None
        low, high = self._range
        return [(self.rows_of(i), low[self.rows_of(i)], high[self.rows_of(i)]) for i in range(self.n)]

    def _noise(self, name: str, rows: Any, additive: float) -> Constant:
        if rows.shape[1] == 0:
            return Constant.exact(name, 0.0, "the block is absent")
        if self.batch is None:
            return Constant.exact(name, additive, "additive noise, full gradients")
        if self._range is None:
            return Constant.absent(name, f"{UNKNOWN}: the variance of mini-batches of least squares is unbounded")
        worst = self._sampling[name]
        why = f"additive noise {additive:g} and batches of {self.batch}, any slopes in their range"
        return Constant(name, math.hypot(additive, worst / math.sqrt(self.batch)), Certificate.UPPER_BOUND, why)

    @cached_property
    def _sampling(self) -> dict[str, float]:
        """Standard deviations of the gradient of one row that is drawn, of the worst client, by noise."""
        found = {}
        for block, rows in self._blocks.items():
            each = []
            for i, (here, low, high) in enumerate(self._ends()):
                scale = self.counts[i] * self.factors[here, None]
                each.append(sample_spread(rows[here], scale * low, scale * high, self.loss.longest * scale[:, 0]))
            found[f"sigma_{block}"] = max(each)
        return found

    @cached_property
    def largest_gradients(self) -> dict[str, float]:
        """See `Logistic.largest_gradients`; with l2 there is no bound."""
        if self._range is None or self.l2:
            return {}
        push = self.rho * 3 * math.sqrt(3) / 8 * (1 + 1e-12)
        found = {}
        for name, rows in self._blocks.items():
            each = [self.factors[here, None] * end for here, *ends in self._ends() for end in ends]
            low, high = np.concatenate(each[::2]), np.concatenate(each[1::2])
            if name == "u":
                found["G_u"] = (steepest(rows, low / self.n, high / self.n) + push) ** 2 if self.d_u else 0.0
            else:
                own = [steepest(rows[here], low[here], high[here]) for here in map(self.rows_of, range(self.n))]
                found["G_v"] = float(np.square(np.array(own) + push).mean()) if self.d_v else 0.0
        return found

    def of_gradients(self, name: str) -> Constant | None:
        """See `Problem.of_gradients`: slopes in their range, and the regulariser's gradient on either block."""
        if name != "gradient_bound":
            return None
        if self._range is None or self.l2:
            what = "least squares" if self._range is None else "the l2 term"
            return Constant.absent(name, f"the gradients of {what} have no bound")
        push = self.rho * 3 * math.sqrt(3) / 8 * (1 + 1e-12) * math.sqrt((self.d_u > 0) + (self.d_v > 0))
        each = [
            steepest(self.features[here], self.factors[here, None] * low, self.factors[here, None] * high)
            for here, low, high in self._ends()
        ]
        why = "slopes in their range, and the regulariser's largest"
        return Constant(name, max(each) + push, Certificate.UPPER_BOUND, why)

    # --- The minimum ---

    @cached_property
    def _floor(self) -> Floor:
        return Floor(self)

    @property
    def _minimiser(self) -> Point | None:
        """A point near the only minimiser, where there are no personal variables and f is strongly convex."""
        return self._floor.minimiser if self.least_curvature and not self.rho and not self.d_v else None

    @property
    def minimum_known(self) -> bool:
        """Whether the minimiser is known up to a small distance."""
        point = self._minimiser
        return point is not None and point.away <= _NEAR * (1 + float(np.linalg.norm(point.x)))

    def centre(self) -> tuple[Array, float]:
        point = self._minimiser
        return (np.zeros(self.d) if point is None else point.x), 0.0

    @property
    def lowest(self) -> float:
        """A lower bound of f."""
        return self._floor.value[0]

    @property
    def several(self) -> str:
        """None where f is strongly convex; see `Problem.several`."""
        return "" if self._minimiser is not None else super().several

    @property
    def doubts(self) -> dict[str, float]:
        """Errors of gaps and distances, beside what a run rounds."""
        point = self._minimiser
        if point is None or not self.minimum_known:
            return {}
        size = max(1.0, abs(point.value))
        reach = 4 * max(1.0, float(np.linalg.norm(point.x)))
        return {
            "gap": point.value - self.lowest + 64 * math.sqrt(len(self.targets)) * _EPS * size,
            "distance2": point.away * (point.away + reach),
        }

    def _of_minimum(self, start: Array) -> list[Constant]:
        """mu, where the regularisers give one, and where the minimiser is."""
        least, names = self.least_curvature, ("strong_convexity", "clients_strong_convexity", "polyak_lojasiewicz")
        if self.d_v:
            return []
        if not least:
            why = f"{NO_PROOF}: the losses are convex, and no l2 term is larger than rho; give l2=..."
            return [Constant.absent(name, why) for name in names]
        mu = [Constant(name, least, Certificate.LOWER_BOUND, "the l2 term; the losses are convex") for name in names]
        point = self._minimiser
        if point is None:
            return mu
        away = (float(np.linalg.norm(start - point.x)) * (1 + 8 * _EPS) + point.away) ** 2
        L = self._smoothness[-1].value
        lengths = np.linalg.norm(self.gradients(point.x, np.zeros((self.n, 0)))[0], axis=1) + L * point.away
        reason = "a ball around a point that is nearly stationary"
        root = math.sqrt(float(np.square(lengths).mean())) * (1 + 8 * _EPS)
        return [
            *mu,
            Constant("distance2_0", away * (1 + 8 * _EPS), Certificate.UPPER_BOUND, f"the minimiser is in {reason}"),
            Constant("minimiser_heterogeneity", root, Certificate.UPPER_BOUND, f"gradients in {reason}"),
        ]
