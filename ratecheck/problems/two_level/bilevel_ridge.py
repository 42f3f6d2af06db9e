"""Ridge regression on two levels: a bilevel quadratic from a table, some weights fitted above and the others below.

Source of the problem class: ``simfbo`` ("SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel
Learning"), problem (1). Its Section 5 splits the weights of a network so: the hidden layers above, the last one below.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import positive, whole
from ratecheck.problems.datasets import DataTable, breast_cancer, digits, split
from ratecheck.problems.problem import WrittenProblem
from ratecheck.problems.two_level.bilevel import Bilevel


class BilevelRidge(Bilevel):
    """Least squares for a linear model on two sets of weights: x on the leading features, y on the others.

    With the rows ``(s_l, t_l)`` and labels ``c_l`` of client i::

        g_i(x, y) = (1/2N) sum_l (s_l'x + t_l'y - c_l)^2 + ridge/2 ||y||^2             (training rows)
        f_i(x, y) = (1/2M) sum_l (s_l'x + t_l'y - c_l)^2 + ridge/2 ||(x, y)||^2        (validation rows)

    so that y fits the training rows and x, through y*(x), the validation rows. The terms of g_i without y are left
    out. What is made is a `Bilevel`.
    """

    kind: ClassVar[str] = "bilevel-ridge"
    written: ClassVar[tuple[WrittenProblem, ...]] = (
        WrittenProblem("digits-bilevel", "from_table", lambda _: digits()),
        WrittenProblem("breast_cancer-bilevel", "from_table", lambda _: breast_cancer()),
    )

    @classmethod
    def from_table(
        cls,
        table: DataTable,
        n: int = 10,
        *,
        upper: int | None = None,
        ridge: float = 0.1,
        how: str = "label",
        seed: int = 0,
        alpha: float = 0.5,
    ) -> Bilevel:
        """The problem on ``table`` dealt to ``n`` clients by :func:`ratecheck.problems.datasets.split`.

        ``upper`` is the number of leading features whose weights are x: half of them (rounded down) by default. Every
        second row of a client, in the order of the split, is for validation. Raises :class:`InputError` where one of
        the two levels has no feature, a client has fewer than two rows, or ``ridge`` is not positive, and as ``split``
        does.
        """
        rows = np.stack(split(table, n, how, seed, alpha))  # type: ignore[arg-type]  # `how` is checked there
        d = table.features.shape[1]
        d_x = whole("upper", d // 2 if upper is None else upper, 1, d - 1, "each level needs a feature")
        ridge = positive("ridge", ridge)
        if rows.shape[1] < 2:
            raise InputError(
                f"n={n} leaves a client {rows.shape[1]} row: needed are two, one for each level; take fewer clients"
            )
        features, labels = table.features[rows], table.labels[rows]
        (H, h), (Q, q) = (_least_squares(features[:, part], labels[:, part]) for part in (np.s_[::2], np.s_[1::2]))
        H[:, range(d), range(d)] += ridge
        Q[:, range(d), range(d)] += ridge
        return Bilevel(H[:, d_x:, d_x:], -H[:, d_x:, :d_x], h[:, d_x:], Q, q)


def _least_squares(features: Array, labels: Array) -> tuple[Array, Array]:
    """Hessian (n, d, d) and linear term (n, d) of half the mean squared error of every client."""
    count = labels.shape[1]
    return np.einsum("nla,nlb->nab", features, features) / count, np.einsum("nla,nl->na", features, labels) / count
