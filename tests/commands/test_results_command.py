"""`ratecheck results`: what is stored, filtered, as a table, as JSON and as files."""

import csv
import json
import sys

import numpy as np
import pytest
from extras import needs_table
from small_study import SWEEP

import ratecheck as rc
from ratecheck.studies import RunStore, load, run_study


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder `results` with the cells of one study: its parent, the study, and the records."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "study.toml").write_text(SWEEP)
    study = load(folder / "study.toml")
    return folder, study, run_study(study, RunStore(folder / "results" / "sweep" / "cells")).records


@pytest.fixture(autouse=True)
def there(stored, monkeypatch):
    """The command is called where the results are."""
    monkeypatch.chdir(stored[0])


def test_every_cell_is_a_row(stored, cli):
    """Settings as in the study, the steady state by hand: the mean of the metric over the last 40% of the rounds."""
    _, study, records = stored
    data = json.loads(cli("results", "--json").stdout)
    assert data == rc.results().to_dict()
    assert data["total"] == len(data["results"]) == len(study.curves)
    rows = {f"{row['figure']} {row['curve']}": row for row in data["results"]}
    for curve in study.curves:
        row = rows[curve.title]
        found = records[curve.title]
        assert (row["study"], row["algorithm"], row["K"], row["T"]) == ("sweep", "fedavg-p", curve.K, 400)
        assert (row["replicates"], row["gamma_u"], row["n"]) == (32, curve.step_sizes["gamma_u"], 3)
        assert row["steady"] == pytest.approx((found["G_u"] + found["G_v"])[:, 240:].mean(), rel=1e-12)
        assert row["steady_G_u"] == pytest.approx(found["G_u"][:, 240:].mean(), rel=1e-12)
        assert row["low"] < row["steady"] < row["high"]


@pytest.mark.parametrize("store", ["results", "results/sweep", "results/sweep/cells"])
def test_the_store_may_be_named_at_any_level(store, cli):
    """Of all studies, of one, or the cells themselves."""
    done = cli("results", store)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split()[:4] == ["study", "figure", "curve", "algorithm"]
    assert done.stdout.splitlines()[-1] == "24 of 24 cells"


@pytest.mark.parametrize(
    ("where", "count"),
    [
        (["K=3"], 1),
        (["K=3.0,5"], 14),
        (["figure=local", "K=3,5,99"], 2),
        (["curve=gamma=0.02"], 1),
        (["figure=nothing"], 0),
        (["algorithm=fedavg-p", "m=x"], 0),
    ],
)
def test_conditions(where, count, cli):
    """All of them, each with one of its values."""
    done = cli("results", "--json", *(word for each in where for word in ("--where", each)))
    assert len(json.loads(done.stdout)["results"]) == count


def test_columns_and_conditions_of_the_function(cli):
    """The same words as arguments."""
    found = rc.results(where={"K": [3, 4], "figure": "local"}, columns=["curve", "steady"])
    assert [dict(row)["K"] for row in found] == [3, 4]
    assert len(found) == 2
    words = ("--where", "K=3,4", "--where", "figure=local", "--columns", "curve,steady")
    assert found.to_dict() == json.loads(cli("results", *words, "--json").stdout)
    assert [set(row) for row in found.to_dict()["results"]] == [{"curve", "steady"}] * 2
    text = cli("results", *words).stdout
    assert text.strip() == str(found)
    assert text.splitlines()[0].split() == ["curve", "steady"]


def test_csv_has_every_digit(stored, cli):
    """Numbers come back as they were."""
    folder, _, _ = stored
    done = cli("results", "--out", "a/b.csv", "--where", "figure=local")
    assert "12 rows in a/b.csv" in done.stderr
    with (folder / "a" / "b.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row, expected in zip(rows, rc.results(where={"figure": "local"}), strict=True):
        assert float(row["steady"]) == expected["steady"]
        assert row["curve"] == expected["curve"]


@needs_table
def test_parquet_has_every_digit(stored):
    """And types: whole numbers, numbers and words."""
    import pyarrow.parquet

    found = rc.results(out="a.parquet")
    back = pyarrow.parquet.read_table(stored[0] / "a.parquet").to_pylist()
    assert [row["steady"] for row in back] == [row["steady"] for row in found]
    assert {type(back[0][name]) for name in ("K", "steady", "curve")} == {int, float, str}


def test_without_the_library_the_extra_is_named(monkeypatch, cli):
    """Before anything is read."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = cli("results", "--out", "b.parquet")
    assert done.returncode == 2
    assert 'pip install "ratecheck[table]"' in done.stderr


def test_damaged_and_foreign_cells_are_said(tmp_path, stored, cli):
    """A damaged cell is left out; cells of other code are counted."""
    _, study, _ = stored
    store = RunStore(tmp_path / "cells")
    run_study(study.only(["local"]), store)
    paths = sorted(store.folder.glob("*/*.npz"))
    paths[0].write_bytes(b"")
    key = "0" * 32
    about = {"T": 3, "study": "other", "code": "x"}
    with store.taken(key) as part:
        store.save(part, key, 0, {"G_u": np.full((2, 3), np.inf)}, about)
    done = cli("results", tmp_path)
    assert done.stdout.splitlines()[-1] == "12 of 12 cells"
    assert f"damaged, and left out; a run computes it again: {paths[0]}" in done.stderr
    assert "1 of 12 cells were computed by other code than this" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "no results in nowhere"),
        (("study.toml",), "no results in study.toml"),
        (("--where", "K"), "'K' is not of the form NAME=VALUE"),
        (("--where", "Kay=3"), "no column 'Kay'"),
        (("--where", "K=3", "--where", "K=4"), "K is given twice"),
        (("--columns", "stedy"), "did you mean 'steady'"),
        (("--columns", ""), "no column ''"),
        (("--out", "a.xlsx"), "the ending has to be one of .csv, .parquet"),
        (("--out", "study.toml/a.csv"), "cannot be written"),
    ],
)
def test_errors_are_one_line(words, said, cli):
    """With exit code 2."""
    done = cli("results", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
