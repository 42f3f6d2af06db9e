"""Skew patterns of data dealt to clients, held-out rows, and that what was there before is as it was."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from ratecheck.commands.arguments import parse_values
from ratecheck.errors import InputError
from ratecheck.problems import Logistic
from ratecheck.problems.build import build
from ratecheck.problems.datasets import PARTS, SPLITS, DataTable, dealt, digits, split, synthetic

needs_data = pytest.mark.usefixtures("sklearn")


@pytest.fixture(scope="module")
def sklearn() -> Any:
    """Scikit-learn's tables."""
    return pytest.importorskip("sklearn.datasets", reason="needs the extra data: pip install 'ratecheck[data]'")


def table(rows: int = 240, groups: int = 4) -> DataTable:
    """Rows that can be told apart, of several classes."""
    return synthetic(rows, 3, seed=2, groups=groups)


def digest(*arrays: Any) -> str:
    """A hash of the arrays' bytes."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


# Recorded before there were skew patterns.
@pytest.mark.parametrize(
    ("how", "seed", "recorded"),
    [
        ("label", 0, "f7b28ca754f02d20"),
        ("label", 7, "dca70bde170dc67d"),
        ("iid", 0, "51acb5b91026860e"),
        ("iid", 7, "f26c68fc3d222298"),
        ("dirichlet", 0, "5282245e4bc099dd"),
        ("dirichlet", 7, "8f027015b61e1a77"),
    ],
)
def test_splits_are_those_of_before(how: Any, seed: int, recorded: str) -> None:
    """The same rows to the same clients, in the same order."""
    assert digest(*split(synthetic(230, 3, seed=2), 9, how, seed)) == recorded


@needs_data
@pytest.mark.parametrize(
    ("name", "options", "recorded"),
    [
        ("digits", {}, "b4713306c89c7f26"),
        ("digits", {"n": 50, "how": "dirichlet", "shared": 64, "rho": 0.5, "seed": 3}, "f4f52fefdf361bca"),
        ("breast_cancer", {"n": 4, "how": "iid"}, "cc2f5b214f13cf71"),
        ("logistic", {"n": 5, "N": 12, "d": 6}, "766676d0012719de"),
    ],
)
def test_problems_are_those_of_before(name: str, options: dict[str, Any], recorded: str) -> None:
    """To the last bit of their data."""
    assert digest(build(name, options).A) == recorded  # type: ignore[attr-defined]  # they are logistic


def test_shards_give_two_classes_at_most() -> None:
    """Every client has two pieces of rows that are sorted by class; no row is dealt twice."""
    data = table()
    clients = split(data, 12, "shards", 1)
    assert [len(rows) for rows in clients] == [20] * 12
    assert len(np.unique(np.concatenate(clients))) == 240
    assert data.groups is not None
    kinds = [len(np.unique(data.groups[rows])) for rows in clients]
    # 24 pieces of 10 rows of classes of 60: each piece is of one class.
    assert max(kinds) == 2
    assert any(not np.array_equal(a, b) for a, b in zip(clients, split(data, 12, "shards", 2), strict=True))


@needs_data
def test_feature_skew_keeps_the_classes() -> None:
    """All clients have about the same shares of the digits, and features that change from the first to the last."""
    data = digits()
    clients = split(data, 10, "features")
    assert data.groups is not None
    counts = np.array([np.bincount(data.groups[rows], minlength=10) for rows in clients])
    assert np.abs(counts - counts.mean(axis=0)).max() <= 3
    even = np.array([np.bincount(data.groups[rows], minlength=10) for rows in split(data, 10, "iid")])
    assert np.abs(even - even.mean(axis=0)).max() > 3
    for digit in range(10):
        of_digit = data.features[data.groups == digit]
        direction = np.linalg.svd(of_digit - of_digit.mean(axis=0))[2][0]
        along = [(data.features[rows] @ direction)[data.groups[rows] == digit] for rows in clients]
        steps = np.diff([part.mean() for part in along])
        assert (steps > 0).all() or (steps < 0).all()


def test_quantity_skew_repeats_rows_without_changing_the_mean() -> None:
    """Clients of 64, 32, 16 and 8 rows; the objective is that of the rows once each."""
    data = table()
    clients = split(data, 8, "quantity")
    assert {len(rows) for rows in clients} == {64}
    assert [len(np.unique(rows)) for rows in clients] == [64, 32, 16, 8] * 2
    assert len(np.unique(np.concatenate(clients))) == 240
    whole = Logistic.from_table(data, 8, how="quantity", shared=3)
    u, none = np.array([0.3, -1.0, 2.0]), np.zeros((1, 0))
    for i, rows in enumerate(clients):
        once = np.unique(rows)
        alone = Logistic(data.features[once][None], data.labels[once][None], shared=3)
        np.testing.assert_allclose(
            whole.gradients(u, np.zeros((8, 0)))[0][i], alone.gradients(u, none)[0][0], rtol=1e-12, atol=1e-15
        )


def test_quality_skew_is_noise_that_grows_from_client_to_client() -> None:
    """No noise at the first client, that of the features' own standard deviation at the last; labels stay."""
    data = synthetic(40000, 3, seed=2)
    features, labels = dealt(data, 5, "quality", 1)
    rows = np.stack(split(data, 5, "iid", 1))
    np.testing.assert_array_equal(labels, data.labels[rows])
    noise = features - data.features[rows]
    assert not noise[0].any()
    np.testing.assert_allclose(
        noise.std(axis=(1, 2)), data.features.std() * np.array([0, 0.25, 0.5, 0.75, 1]), rtol=0.02
    )


@pytest.mark.parametrize("how", SPLITS)
def test_held_out_rows_are_not_trained_on(how: str) -> None:
    """Train and test share no row; a client's own are all of them, but for unequal quantities."""
    numbered = DataTable("numbered", np.arange(240.0)[:, None], np.where(np.arange(240) % 2, 1.0, -1.0))
    if how == "quality":
        # Noise hides the numbers; the first client has none.
        parts = {part: dealt(numbered, 8, how, 3, part)[0][:1] for part in ("all", "train", "test")}
    else:
        parts = {part: dealt(numbered, 8, how, 3, part)[0] for part in ("all", "train", "test")}
    assert not np.intersect1d(parts["train"], parts["test"]).size
    if how == "quantity":
        assert len(np.unique(parts["test"])) == 48
        return
    for whole, train, test in zip(parts["all"], parts["train"], parts["test"], strict=True):
        assert len(test) == len(whole) // 5
        assert sorted([*train[:, 0], *test[:, 0]]) == sorted(whole[:, 0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"how": "shard"}, "how='shard': needed 'label', 'iid', 'dirichlet', 'shards', 'features', 'quality' or"),
        ({"part": "tests"}, "part='tests': needed 'all', 'train' or 'test'"),
        ({"n": 121, "how": "shards"}, 'n=121 breaks "2 n <= 240"'),
        ({"n": 240, "how": "quantity"}, "240 rows of synthetic are too few for n=240 clients"),
        ({"n": 60, "part": "test"}, "clients of 4 rows of synthetic; needed at least 5 each"),
        ({"n": 50, "how": "quantity", "part": "test"}, "a fifth of the 240 rows of synthetic is less than one per"),
        ({"how": "quality", "seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_dealt_is_one_line(arguments: dict[str, Any], said: str) -> None:
    """The message names the parameter."""
    with pytest.raises(InputError) as caught:
        dealt(table(), **{"n": 8, **arguments})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("how", SPLITS)
def test_numbers_of_the_command_line_are_whole_numbers(how: str, part: str) -> None:
    """The command line has no integers: 8.0 clients and the seed 3.0 are 8 and 3."""
    for found, expected in zip(dealt(table(), 8.0, how, 3.0, part), dealt(table(), 8, how, 3, part), strict=True):  # type: ignore[arg-type]  # on purpose
        np.testing.assert_array_equal(found, expected)


@needs_data
def test_parts_and_concentrations_are_asked_for_by_name() -> None:
    """On the command line and in studies, as in Python."""
    asked = parse_values(("n=4", "how=dirichlet", "alpha=0.1", "part=train"))
    assert asked == {"n": 4.0, "how": "dirichlet", "alpha": 0.1, "part": "train"}
    found = build("digits", asked)
    expected = Logistic.from_table(digits(), 4, how="dirichlet", alpha=0.1, part="train")
    assert digest(found.A) == digest(expected.A)  # type: ignore[attr-defined]  # they are logistic
    assert digest(expected.A) != digest(Logistic.from_table(digits(), 4, how="dirichlet", part="train").A)
