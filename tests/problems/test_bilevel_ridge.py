"""Ridge regression on two levels: against the two losses written out, row by row, and minimised by least squares."""

from __future__ import annotations

import numpy as np
import pytest
from extras import needs_data

from ratecheck.errors import InputError
from ratecheck.problems.build import build
from ratecheck.problems.datasets import split, synthetic
from ratecheck.problems.two_level.bilevel import Bilevel
from ratecheck.problems.two_level.bilevel_ridge import BilevelRidge

TABLE = synthetic(60, 5, seed=1)
RIDGE, D_X = 0.3, 2


def halves(n):
    """Training and validation rows of every client, as the documentation deals them."""
    rows = split(TABLE, n, "iid", 4)
    return [(part[0::2], part[1::2]) for part in rows]


def lower_solution(x, n):
    """The y that minimises the mean training loss of the clients, by least squares on stacked rows."""
    rows, right = [], []
    for training, _ in halves(n):
        scale = 1 / np.sqrt(len(training) * n)
        features, labels = TABLE.features[training], TABLE.labels[training]
        rows.append(scale * features[:, D_X:])
        right.append(scale * (labels - features[:, :D_X] @ x))
    d_y = TABLE.features.shape[1] - D_X
    rows.append(np.sqrt(RIDGE) * np.eye(d_y))
    right.append(np.zeros(d_y))
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0]


def upper_loss(x, n):
    """The mean validation loss at (x, y*(x))."""
    z = np.concatenate([x, lower_solution(x, n)])
    losses = [np.mean((TABLE.features[v] @ z - TABLE.labels[v]) ** 2) / 2 for _, v in halves(n)]
    return np.mean(losses) + RIDGE / 2 * z @ z


def test_it_is_the_two_losses():
    """y* solves the training rows, Phi is the validation loss but for a constant, and its gradient is the slope."""
    problem = BilevelRidge.from_table(TABLE, 4, upper=D_X, ridge=RIDGE, how="iid", seed=4)
    assert type(problem) is Bilevel
    x, other = np.array([0.4, -1.1]), np.array([-0.2, 0.9])
    assert np.allclose(problem.y_star(x), lower_solution(x, 4))
    assert problem.value(x) - problem.value(other) == pytest.approx(upper_loss(x, 4) - upper_loss(other, 4))
    slope = [(upper_loss(x + e, 4) - upper_loss(x - e, 4)) / 2e-3 for e in 1e-3 * np.eye(2)]
    assert np.allclose(problem.hypergradient(x), slope)


@needs_data
def test_it_is_asked_for_by_name():
    """Half of the pixels above by default, as in study files."""
    problem = build("digits-bilevel", {"n": 10, "how": "iid"})
    assert (problem.n, problem.d_x, problem.d_y) == (10, 32, 32)
    assert build("breast_cancer-bilevel", {"upper": 12}).d_x == 12


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"upper": 0}, 'upper=0 breaks "1 <= upper <= 4"'),
        ({"upper": 5}, "each level needs a feature"),
        ({"ridge": 0}, 'ridge=0 breaks "ridge > 0"'),
        ({"n": 60}, "leaves a client 1 row: needed are two"),
        ({"how": "sorted"}, "how='sorted'"),
    ],
)
def test_bad_input_is_one_line(options, said):
    """Every slip names the parameter."""
    with pytest.raises(InputError, match=r".") as caught:
        BilevelRidge.from_table(TABLE, **options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
