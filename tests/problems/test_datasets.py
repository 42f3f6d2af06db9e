"""Tables and their split over clients: what they hold, and that bad input is refused in one clear line."""

from __future__ import annotations

import bz2
import gzip
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratecheck.errors import InputError
from ratecheck.participation.build import build as build_pattern
from ratecheck.problems.build import build
from ratecheck.problems.datasets import DataTable, breast_cancer, digits, libsvm, split, synthetic

sklearn_datasets = pytest.importorskip("sklearn.datasets", reason="needs the extra data: pip install 'ratecheck[data]'")

pytestmark = pytest.mark.filterwarnings("error")


def refused(call: Callable[[], Any], *fragments: str) -> None:
    """The call raises an InputError of one line that contains every fragment."""
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert [f for f in fragments if f not in message] == [], message


def plain(rows: int = 12, groups: int = 3) -> DataTable:
    """A table whose only feature is the row number and whose groups take turns."""
    number = np.arange(rows, dtype=np.int64)
    return DataTable("plain", number[:, None] * 1.0, np.where(number % 2 == 0, -1.0, 1.0), number % groups)


def test_digits_are_pixels_in_the_unit_interval_labelled_by_parity() -> None:
    """Pixels in [0, 1] with both ends attained, label +1 exactly for odd digits, groups the digit."""
    table, raw = digits(), sklearn_datasets.load_digits()
    assert table.features.shape == (1797, 64)
    assert table.features.flags.c_contiguous
    assert (table.features.min(), table.features.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(table.groups, raw.target)
    np.testing.assert_array_equal(table.labels, np.where(raw.target % 2 == 1, 1.0, -1.0))


def test_digits_keeps_only_the_digits_of_the_two_classes() -> None:
    """Three against eight: no other digit is left, eight is +1."""
    table = digits(classes=((3,), (8,)))
    assert table.groups is not None
    assert set(table.groups) == {3, 8}
    np.testing.assert_array_equal(table.labels, np.where(table.groups == 8, 1.0, -1.0))


@pytest.mark.parametrize(
    "classes", [((), (1,)), ((1, 2), (2, 3)), ((1,), (10,)), ((1,), (-1,)), ((0.5,), (1,)), 3, ((1,),)]
)
def test_digits_refuses_classes_that_are_not_two_disjoint_sets_of_digits(classes: Any) -> None:
    """The message shows the classes that were given."""
    refused(lambda: digits(classes=classes), f"classes={classes!r}", "needed two")


def test_breast_cancer_is_standardised() -> None:
    """569 x 30, every feature with mean 0 and variance 1, 357 benign rows labelled +1."""
    table = breast_cancer()
    assert table.features.shape == (569, 30)
    np.testing.assert_allclose(table.features.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(table.features.var(axis=0), 1.0, rtol=1e-12)
    assert int((table.labels == 1.0).sum()) == 357


@pytest.mark.parametrize("load", [digits, breast_cancer])
def test_without_scikit_learn_the_message_names_the_extra(load: Callable[[], DataTable], monkeypatch: Any) -> None:
    """A missing scikit-learn is an InputError that says what to install."""
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    refused(load, 'pip install "ratecheck[data]"')


def test_libsvm_reads_back_what_scikit_learn_wrote(tmp_path: Path) -> None:
    """Features survive a round trip through the file; labels 3 and 7 become -1 and +1."""
    features = np.round(np.random.default_rng(0).standard_normal((20, 5)), 6)
    labels = np.where(np.arange(20) % 3 == 0, 3, 7)
    sklearn_datasets.dump_svmlight_file(features, labels, str(tmp_path / "some.txt"), zero_based=False)
    table = libsvm(tmp_path / "some.txt")
    assert table.name == "some.txt"
    np.testing.assert_array_equal(table.features, features)
    np.testing.assert_array_equal(table.labels, np.where(labels == 7, 1.0, -1.0))


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_libsvm_reads_compressed_files(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    """The suffix decides how a file is decompressed."""
    file = tmp_path / f"data{suffix}"
    file.write_bytes(pack(b"+1 1:0.5 3:2\n-1 2:1 # a comment\n"))
    table = libsvm(str(file))
    np.testing.assert_array_equal(table.features, [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(table.labels, [1.0, -1.0])


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("", ["holds no data"]),
        ("# only a comment\n\n", ["holds no data"]),
        ("1 1:2\n-1 a:3\n", ["line 2 does not parse: its entry 1 is not INDEX:VALUE"]),
        ("1 1:2\n\n-1 1:x\n", ["line 3 does not parse: its entry 1 is not INDEX:VALUE"]),
        ("one 1:2\n", ["line 1 does not parse: its label is no number"]),
        ("1 1:2:3\n-1 1:1\n", ["line 1 does not parse: its entry 1 is not INDEX:VALUE"]),
        ("1 1:2\n-1 3:1 2:4\n", ["line 2 does not parse: its entry 2 has the index 2 after 3", "increase"]),
        ("1 1:2\n-1 3:1 3:4\n", ["line 2 does not parse: its entry 2 has the index 3 once more"]),
        ("1 -1:2\n-1 1:1\n", ["line 1 does not parse: its entry 1 has the index -1", "0 <= index < 2147483647"]),
        ("1 99999999999999999999:1\n-1 1:1\n", ["line 1 does not parse", "99999999999999999999, which breaks"]),
        ("1,2 1:3\n", ["line 1 does not parse: its label is no number"]),
        ("\x00\x01\xff", ["line 1 does not parse"]),
        ("1 1:2\n-1 1:1_0\n", ["line 2 does not parse: its entry 1 is not INDEX:VALUE"]),
        ("1_0 1:2\n-1 1:1\n", ["line 1 does not parse: its label is no number"]),
        ("1 1:2\n-1 1:\xef\xbc\x91\n", ["line 2 does not parse: its entry 1 is not INDEX:VALUE"]),
        ("1 1:2\n-1 2:nan\n", ["row 2, feature 2", "nan"]),
        ("1 1:2\n-1 1:-inf\n", ["row 2, feature 1", "-inf"]),
        ("1 1:2\n-1 1:1\nnan 1:1\n", ["label of data row 3", "nan"]),
        ("1 1:2\n1 1:3\n", ["1 distinct labels (1)", "exactly 2"]),
        ("1 1:2\n2 1:3\n3 1:1\n", ["3 distinct labels (1, 2, 3)", "exactly 2"]),
        ("1 999999999:1\n-1 1:1\n", ["2 rows x 999999999 features", "4 GiB"]),
    ],
)
def test_libsvm_refuses_a_bad_file_in_one_line(tmp_path: Path, text: str, fragments: list[str]) -> None:
    """Whatever is wrong with the text, the message names the file, the place and the fault."""
    file = tmp_path / "bad.libsvm"
    file.write_text(text, encoding="latin-1")
    refused(lambda: libsvm(file), str(file), *fragments)


def test_libsvm_reads_a_file_that_begins_with_a_mark(tmp_path: Path) -> None:
    """As some editors write it before a text; a comment may hold what a number may not."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf+1 1:0.5\n-1 1:2 # of_some\n")
    np.testing.assert_array_equal(libsvm(tmp_path / "a").features, [[0.5], [2.0]])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_data_are_regular_files(tmp_path: Path) -> None:
    """What has no end, or nobody who writes to it, is refused at once, by name too."""
    for suffix in ("txt", "csv", "npz"):
        os.mkfifo(tmp_path / f"pipe.{suffix}")
        (tmp_path / f"zero.{suffix}").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        file = tmp_path / name
        refused(lambda file=file: build(f"libsvm:{file}.txt", {}), "it is no regular file")  # type: ignore[misc]
        refused(lambda file=file: build(f"{file}.npz", {}), "it is no regular file")  # type: ignore[misc]
        for pattern in (f"{file}.csv", f"{file}.npz", f"graph:{file}.csv"):
            refused(lambda pattern=pattern: build_pattern(pattern, 3, 2), "it is no regular file")  # type: ignore[misc]


def test_libsvm_refuses_what_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, a folder, a false or a cut-off archive, a name that no file can have, and no name at all."""
    (tmp_path / "false.gz").write_bytes(b"no archive")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"1 1:2\n-1 1:3\n" * 100)[:40])
    refused(lambda: libsvm(tmp_path / "missing"), str(tmp_path / "missing"), "cannot be read", "No such file")
    refused(lambda: libsvm(tmp_path), str(tmp_path), "cannot be read", "directory")
    refused(lambda: libsvm(tmp_path / "false.gz"), "false.gz", "cannot be read")
    refused(lambda: libsvm(tmp_path / "cut.gz"), "cut.gz", "ended before")
    refused(lambda: libsvm("a\0b"), "null")
    refused(lambda: libsvm("two\nlines"), "two lines")
    refused(lambda: libsvm(3.5), "path=3.5")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("features", "labels", "groups", "fragments"),
    [
        ([[1.0], [np.inf]], [1, -1], None, ["row 2, feature 1", "inf"]),
        ([[1.0], [2.0]], [1, 0], None, ["row 2", "is 0", "-1 or +1"]),
        ([[1.0], [2.0]], [1, np.nan], None, ["row 2", "is nan"]),
        ([[1.0], [2.0]], [1], None, ["(1,)", "(2,)"]),
        ([1.0, 2.0], [1, -1], None, ["(2,)", "(M, d)"]),
        (np.zeros((0, 3)), [], None, ["(0, 3)"]),
        ([["a"], ["b"]], [1, -1], None, ["array of numbers"]),
        ([[1.0], [2.0]], [1, -1], [0.5, 1.0], ["groups", "float64", "integers"]),
        ([[1.0], [2.0]], [1, -1], [1], ["groups", "(1,)", "(2,)"]),
    ],
)
def test_a_table_refuses_arrays_that_do_not_fit(features: Any, labels: Any, groups: Any, fragments: list[str]) -> None:
    """Shapes, labels and values are checked wherever a table comes from."""
    refused(lambda: DataTable("mine", features, labels, groups), "mine", *fragments)


@given(
    rows=st.integers(1, 60),
    classes=st.integers(1, 5),
    share=st.floats(0, 1),
    how=st.sampled_from(["label", "iid", "dirichlet"]),
    alpha=st.sampled_from([1e-300, 1e-3, 0.5, 1e6]),
    seed=st.integers(0, 5),
)
@settings(max_examples=80, deadline=None)
def test_split_deals_equal_shares_of_distinct_rows(
    rows: int, classes: int, share: float, how: Any, alpha: float, seed: int
) -> None:
    """Every client gets M // n rows, nobody gets a row twice, and the seed alone decides which."""
    n = 1 + int(share * (rows - 1))
    table = plain(rows, classes)
    clients = split(table, n, how, seed, alpha)
    assert [len(c) for c in clients] == [rows // n] * n
    dealt = np.concatenate(clients)
    assert len(np.unique(dealt)) == len(dealt)
    assert dealt.min() >= 0
    assert dealt.max() < rows
    for first, second in zip(clients, split(table, n, how, seed, alpha), strict=True):
        np.testing.assert_array_equal(first, second)


def test_split_by_label_sorts_by_group_and_by_label_without_groups() -> None:
    """Clients of a table with three groups hold one group each; without groups they hold one label each."""
    table = plain(12, 3)
    assert table.groups is not None
    assert [set(table.groups[c]) for c in split(table, 3, "label")] == [{0}, {1}, {2}]
    bare = DataTable("bare", table.features, table.labels)
    assert [set(bare.labels[c]) for c in split(bare, 2, "label")] == [{-1.0}, {1.0}]


def test_split_iid_is_a_random_permutation_that_the_seed_decides() -> None:
    """Different seeds give different permutations, and no client of digits has one class only."""
    table = digits()
    first, second = split(table, 10, "iid", 0), split(table, 10, "iid", 1)
    assert not np.array_equal(first[0], second[0])
    assert table.groups is not None
    assert min(len(set(table.groups[c])) for c in first) == 10


def test_split_dirichlet_grows_more_uniform_with_alpha() -> None:
    """The share of a client's commonest digit falls from nearly one to nearly a tenth."""
    table = digits()
    groups = table.groups
    assert groups is not None

    def dominance(alpha: float) -> float:
        counts = [np.bincount(groups[c], minlength=10) for c in split(table, 10, "dirichlet", 0, alpha)]
        return float(np.mean([c.max() / c.sum() for c in counts]))

    skewed, middle, even = dominance(1e-3), dominance(0.5), dominance(1e4)
    assert skewed > 0.9 > middle > 0.25 > even > 0.1


# Ten classes of twenty rows, and three of four.
TEN = DataTable("ten", np.zeros((200, 1)), np.where(np.arange(200) % 2, 1.0, -1.0), np.arange(200) % 10)
THREE = DataTable("three", np.zeros((12, 1)), np.where(np.arange(12) < 6, 1.0, -1.0), np.repeat([0, 1, 2], 4))


def squares(counts: Any) -> float:
    """The sum of squared shares: 1 where there is one class."""
    return float(np.square(counts / counts.sum()).sum())


def one_by_one(alpha: float, seed: int) -> float:
    """A plain twin: every row of a client by itself, from the classes that are left, by shares in logarithms."""
    generator, left, found = np.random.default_rng([seed, 99]), np.full(10, 20), []
    for _ in range(10):
        logs = np.log(generator.gamma(alpha + 1, size=10)) + np.log(1 - generator.random(10)) / alpha
        counts = np.zeros(10, dtype=int)
        for _ in range(20):
            weights = np.exp(np.where(left > 0, logs, -np.inf) - logs[left > 0].max())
            drawn = int(np.searchsorted(np.cumsum(weights), generator.random() * weights.sum(), side="right"))
            counts[drawn] += 1
            left[drawn] -= 1
        found.append(squares(counts))
    return float(np.mean(found))


@pytest.mark.every(3)
@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.05, 0.1, 0.5, 2.0])
def test_split_dirichlet_has_the_law_of_gamma_draws(alpha: float) -> None:
    """How unequal the clients are, on the mean of many seeds, beside the twin."""
    mine = [
        np.mean([squares(np.bincount(TEN.groups[c], minlength=10)) for c in split(TEN, 10, "dirichlet", s, alpha)])
        for s in range(150)
    ]
    twin = [one_by_one(alpha, seed) for seed in range(150)]
    room = 4 * np.hypot(np.std(mine), np.std(twin)) / np.sqrt(150)
    assert abs(np.mean(mine) - np.mean(twin)) <= room


@pytest.mark.parametrize("alpha", [1e-2, 1e-6, 1e-12, 1e-300, 5e-324])
def test_split_dirichlet_gives_one_class_after_the_other(alpha: float) -> None:
    """Once the wanted class is used up, the next one, and not all that are left."""
    for seed in range(20):
        clients = [THREE.groups[c].tolist() for c in split(THREE, 3, "dirichlet", seed, alpha)]
        if alpha < 1e-2 or seed == 2:
            assert sorted(clients) == [[0] * 4, [1] * 4, [2] * 4]
        if alpha < 1e-2:
            # Of twenty rows each the first client has one class whole, and all have few.
            kinds = [len({*TEN.groups[c]}) for c in split(TEN, 8, "dirichlet", seed, alpha)]
            assert (kinds[0], max(kinds) <= 3) == (2, True)


def test_split_dirichlet_of_digits() -> None:
    """The means of squared shares, which fell to 0.76 and 0.57 where shares underflowed."""
    table = digits()
    found = [
        np.mean([
            squares(np.bincount(table.groups[c], minlength=10))
            for seed in range(40)
            for c in split(table, 10, "dirichlet", seed, alpha)
        ])
        for alpha in (0.5, 0.1, 0.01, 1e-6)
    ]  # fmt: skip
    assert found == sorted(found)
    assert found[2] > 0.84
    assert 0.96 < found[3] < 0.99


@pytest.mark.parametrize("alpha", [5e-324, 1e-3, 0.1, 1.0, 1e300, 1.7e308])
def test_split_dirichlet_deals_every_row_once(alpha: float) -> None:
    """Whatever the concentration."""
    rows = np.concatenate(split(TEN, 8, "dirichlet", 1, alpha))
    assert (np.unique(rows).tolist(), len(rows)) == (list(range(200)), 200)


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ({"n": 13}, ["n=13", "n <= 12", "plain", "does: 12"]),
        ({"n": 0}, ["n=0", "1 <= n", "does: 1"]),
        ({"n": 2.5}, ["n=2.5", "whole number"]),
        ({"n": 2, "how": "digit"}, ["how='digit'", "'label', 'iid', 'dirichlet'"]),
        ({"n": 2, "seed": -1}, ["seed=-1"]),
        ({"n": 2, "how": "dirichlet", "alpha": 0.0}, ["alpha=0", "alpha > 0", "each client takes one class until"]),
        ({"n": 2, "how": "dirichlet", "alpha": -1.0}, ["alpha=-1", 'breaks "alpha > 0"']),
        ({"n": 2, "how": "dirichlet", "alpha": float("inf")}, ["alpha=inf"]),
        ({"n": 2, "how": "dirichlet", "alpha": float("nan")}, ["alpha=nan"]),
        ({"n": 2, "how": "dirichlet", "alpha": "x"}, ["alpha='x'", "number"]),
    ],
)
def test_split_refuses_bad_arguments(arguments: dict[str, Any], fragments: list[str]) -> None:
    """The message names the argument, its value and what would do."""
    refused(lambda: split(plain(), **arguments), *fragments)


def test_synthetic_is_seeded_and_heterogeneity_moves_the_groups_apart() -> None:
    """Same seed, same table; group means coincide up to sampling error at 0 and drift apart as the dial grows."""
    first, again, other = synthetic(60, 4, 7), synthetic(60, 4, 7), synthetic(60, 4, 8)
    np.testing.assert_array_equal(first.features, again.features)
    np.testing.assert_array_equal(first.labels, again.labels)
    assert not np.array_equal(first.features, other.features)

    def spread(heterogeneity: float) -> float:
        table = synthetic(20_000, 4, 1, groups=4, heterogeneity=heterogeneity)
        means = [table.features[table.groups == k].mean(axis=0) for k in range(4)]
        return float(np.std(means, axis=0).max())

    same, near, far = spread(0.0), spread(1.0), spread(4.0)
    assert same < 0.02
    assert 0.1 < near < far


def test_synthetic_labels_follow_the_features() -> None:
    """A linear classifier beats chance by far, yet noise keeps it from being perfect."""
    table = synthetic(5_000, 5, 3, groups=1, heterogeneity=0.0)
    weights = np.linalg.lstsq(table.features, table.labels, rcond=None)[0]
    assert 0.7 < float((np.sign(table.features @ weights) == table.labels).mean()) < 0.99


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ((0, 3, 0), ["n_samples=0"]),
        ((3, 0, 0), ["d=0"]),
        ((3, 3, -2), ["seed=-2"]),
        ((3, 3, 1.5), ["seed=1.5", "whole number"]),
    ],
)
def test_synthetic_refuses_bad_arguments(arguments: tuple[Any, ...], fragments: list[str]) -> None:
    """Counts below one and seeds that are not nonnegative integers are named."""
    refused(lambda: synthetic(*arguments), *fragments)
    refused(lambda: synthetic(3, 3, heterogeneity=-1.0), "heterogeneity=-1", "does: 0")
    refused(lambda: synthetic(3, 3, groups=0), "groups=0")
