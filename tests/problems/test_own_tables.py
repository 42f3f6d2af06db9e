"""One's own tables: files as usual tools write them, from file to problem; bad ones refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extras import needs_data

from ratecheck.errors import InputError
from ratecheck.problems.build import build, features, own_clients
from ratecheck.problems.datasets import plain_rows, split, synthetic

pytest.importorskip("pandas", reason="needs the extra data: pip install 'ratecheck[data]'")

ROWS = "age,bmi,site,w,sick\n1,0.5,b,1,yes\n2,-1,a,2,no\n3,0,b,3,no\n-1,4,a,1,yes\n0.5,1,b,1,yes\n"


def written(folder: Path, name: str, text: str | bytes) -> str:
    """The path of a file with that text."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_a_csv_with_clients_and_weights(tmp_path: Path) -> None:
    """Unequal clients in the order of their names, weights of rows, labels in the order of theirs."""
    path = written(tmp_path, "t.csv", ROWS)
    options = {"label": "sick", "client": "site", "weight": "w"}
    problem: Any = build(path, options)
    assert (problem.n, problem.d, problem.counts.tolist()) == (2, 2, [2, 3])
    np.testing.assert_array_equal(problem.features.toarray(), [[2, -1], [-1, 4], [1, 0.5], [3, 0], [0.5, 1]])
    np.testing.assert_array_equal(problem.targets, [-1, 1, 1, -1, 1])
    np.testing.assert_allclose(problem.factors, [2 / 3, 1 / 3, 1 / 5, 3 / 5, 1 / 5])
    assert own_clients(path, options)
    assert not own_clients(path, {"label": "sick"})
    assert features(path, {"label": "sick", "drop": "site"}) == 3
    by_rows: Any = build(path, {**options, "average": "rows"})
    np.testing.assert_allclose(by_rows.factors, 2 / 8 * np.array([2, 1, 1, 3, 1]))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("semicolons.csv", "﻿a;b;label\r\n0,5;1;x\r\n-1,25;2;z\r\n3;0;x\r\n4,0;1;z\r\n"),
        ("tabs.tsv", "a\tb\tlabel\n0.5\t1\tx\n-1.25\t2\tz\n3\t0\tx\n4\t1\tz\n"),
        ("quoted.csv", 'a,b,"label"\n0.5,1,"x"\n-1.25,2,"z"\n3,0,"x"\n4,1,"z"\n'),
        ("saved.csv", "# a b label\n5.0e-01 1.0 1.0\n-1.25 2.0 2.0\n3.0 0.0 1.0\n4.0 1.0 2.0\n"),
    ],
)
def test_text_as_usual_tools_write_it(tmp_path: Path, name: str, text: str) -> None:
    """Semicolons with decimal commas and a BOM, tabs, quotes, numpy.savetxt with a header."""
    problem: Any = build(written(tmp_path, name, text), {"n": 2, "how": "iid"})
    rows = problem.features.toarray()
    np.testing.assert_array_equal(rows[np.argsort(rows[:, 0])], [[-1.25, 2], [0.5, 1], [3, 0], [4, 1]])


def test_columns_without_a_header_are_numbers(tmp_path: Path) -> None:
    """numpy.savetxt without a header; the last column is -1."""
    path = tmp_path / "plain.txt"
    np.savetxt(path, [[0.5, 1, 0], [2, 3, 1], [1, 1, 1], [0, 0, 0]])
    problem: Any = build(f"table:{path}", {"n": 1, "label": -1.0})
    rows = problem.features.toarray()
    np.testing.assert_array_equal(rows[np.argsort(rows[:, 0])], [[0, 0], [0.5, 1], [1, 1], [2, 3]])
    other: Any = build(f"table:{path}", {"n": 1, "label": 0.0, "loss": "squares", "batch": 2})
    np.testing.assert_array_equal(np.sort(other.targets), [0, 0.5, 1, 2])


def test_parquet_and_npz(tmp_path: Path) -> None:
    """The same table in both; an .npz file of a quadratic problem is still one."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y, who = rng.standard_normal((9, 2)), rng.standard_normal(9), np.repeat(["p", "q", "r"], 3)
    pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "target": y, "who": who}).to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=X, y=y, who=who)
    np.savez(tmp_path / "q.npz", H=np.ones((2, 1, 1)), g=np.ones((2, 1)), shared=1)
    options = {"client": "who", "loss": "huber", "delta": 0.5, "l2": 0.1}
    found: list[Any] = [build(str(tmp_path / name), options) for name in ("t.parquet", "t.npz")]
    for problem in found:
        np.testing.assert_array_equal(problem.features.toarray(), X)
        np.testing.assert_array_equal(problem.targets, y)
    assert build(str(tmp_path / "q.npz"), {}).kind == "quadratic"


@needs_data
@pytest.mark.parametrize("text", ["1 0:0.5 3:-2\n0 1:1e-3\n1\n0 2:7.25 3:.5\n", "2 1:0.5 3:-2\n-1 1:1e-3\n\n2 7:3\n"])
def test_a_plain_libsvm_text_is_read_as_by_its_own_reader(text: str) -> None:
    """Indices from 0 and from 1, rows without entries, bit by bit."""
    from io import BytesIO

    from sklearn.datasets import load_svmlight_file

    wanted, labels = load_svmlight_file(BytesIO(text.encode()))
    found = plain_rows(text.encode())
    assert found is not None
    np.testing.assert_array_equal(found[0].toarray(), wanted.toarray())
    np.testing.assert_array_equal(found[1], labels)


@pytest.mark.parametrize(
    "text",
    ["1 1:2 # c\n", "1 qid:3 1:2\n", "1 2:1 1:1\n", "1 1:2 1:3\n", "1 1:x\n", "1 2 1:1\n", "1 1:1_0\n", "", "1 a:1\n"],
)
def test_other_libsvm_texts_are_left_to_it(text: str) -> None:
    """Comments, queries, indices that do not rise, words."""
    assert plain_rows(text.encode()) is None


REFUSED = [
    ("age,label\n1,0\nNaN,1\n", {}, "column 'age', row 2 is empty or NaN"),
    ("age,label\n1,0\n,1\n", {}, "column 'age', row 2 is empty or NaN"),
    ("age,label\n1,0\ninf,1\n", {}, "column 'age', row 2 is infinite"),
    ("age,town,label\n1,Bern,0\n2,Chur,1\n", {}, "leave the column out with drop=town"),
    ("age,client,label\n1,Bern,0\n2,Chur,1\n", {}, "say client=client, or drop the row"),
    ("age,label\n1,0\n2,\n", {}, "column 'label', row 2 is empty"),
    ("age,label,who\n1,0,a\n2,1,\n", {"client": "who"}, "column 'who', row 2 is empty"),
    ("age,label,w\n1,0,1\n2,1,0\n", {"weight": "w"}, "the weight of row 2 is 0"),
    ("age,label\n1,0\n2,1\n", {"label": "lable"}, "no such column; did you mean 'label'"),
    ("age,label\n1,0\n2,1\n", {"client": "label"}, "needed different columns"),
    ("age,kind\n1,0\n2,1\n", {}, "which column has the labels? give label=NAME; its columns are age, kind"),
    ("age,label\n1,0\n2,0\n", {}, "all rows have the label 0"),
    ("age,label\n1,0\n2,1\n3,2\n", {}, "loss=logistic needs exactly 2"),
    ("age,label\n1,a\n2,b\n", {"loss": "squares"}, "needs labels that are numbers"),
    ("age,label\n1,a\n2,b\n", {"loss": "hinge"}, "loss='hinge'"),
    ("age,label\n1,a\n2,b\n", {"average": "sum"}, "average='sum'"),
    ("label\n1\n0\n", {}, "no column is left for the features"),
    ("age,age,label\n1,2,0\n1,2,1\n", {"drop": "nothing"}, "no such column"),
    ("age,label\n", {}, "the table has no rows"),
    ("", {}, "the file is empty"),
    ("a,label\n1,0\n1,2,3,4\n", {}, "does not parse as a table"),
    ("age,label,who\n1,0,a\n2,1,b\n", {"client": "who", "n": 3}, "n=3: the column of clients of t.csv has 2"),
    ("age,label\n1,0\n2,1\n", {"n": 3}, 'n=3 breaks "1 <= n <= 2"'),
]


@pytest.mark.parametrize(("text", "options", "fragment"), REFUSED)
def test_bad_tables_are_refused_in_one_line(tmp_path: Path, text: str, options: dict[str, Any], fragment: str) -> None:
    """What is wrong, where, and what would do."""
    path = written(tmp_path, "t.csv", text)
    with pytest.raises(InputError) as caught:
        build(path, {"n": 1, **options} if "client" not in options else options)
    message = str(caught.value)
    assert "\n" not in message
    assert fragment in message


@pytest.mark.parametrize("name", ["missing.csv", "missing.parquet", "broken.parquet", "broken.npz", "latin.csv"])
def test_files_that_cannot_be_read_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    """A file that is not there, no Parquet, no archive, no UTF-8."""
    if not name.startswith("missing"):
        written(tmp_path, name, b"\xe9t\xe9,label\n1,2\n")
    with pytest.raises(InputError) as caught:
        build(str(tmp_path / name), {})
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_clients_have_as_many_shards_as_they_are_to_have_classes() -> None:
    """With as many rows of each class a client has at most that many classes, and with 2 what it always had."""
    table = synthetic(108, 2, groups=6, heterogeneity=0.0)
    assert table.groups is not None
    for classes in (1, 3):
        dealt = split(table, 6, "shards", classes=classes)
        assert [len(each) for each in dealt] == [18] * 6
        assert max(len({*table.groups[each]}) for each in dealt) == classes
    np.testing.assert_array_equal(split(table, 6, "shards"), split(table, 6, "shards", classes=2))
