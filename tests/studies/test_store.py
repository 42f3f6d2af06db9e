"""The store: what is damaged, killed, shared, extended or of an earlier version costs time, never a number."""

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from small_study import PAIR, SWEEP

import ratecheck
from ratecheck.engines.setup import prepare, with_law
from ratecheck.errors import InputError
from ratecheck.participation import Uniform
from ratecheck.problems import Quadratic
from ratecheck.studies import RunStore, load, run_study
from ratecheck.studies.execute import cells_of
from ratecheck.studies.storage import store as store_of
from ratecheck.studies.storage.cell_file import pack, unpack
from ratecheck.studies.storage.index import table

RUN = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from ratecheck.studies import RunStore, load, run_study
study = load(Path(sys.argv[1]))
with TemporaryDirectory() as warm:
    run_study(study.with_replicates(2), RunStore(Path(warm)))
print("ready", flush=True)
print(run_study(study, RunStore(Path(sys.argv[2])), threads=2).computed, flush=True)
"""
# The same, killed when half of a cell's bytes are on the disk.
HALF = RUN.replace(
    'print("ready", flush=True)',
    """
import os, signal
whole = Path.write_bytes
def half(path, content):
    whole(path, content[: len(content) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
Path.write_bytes = half
print("ready", flush=True)
""",
)


def study_of(folder, text):
    """The text as a study."""
    (folder / "study.toml").write_text(text)
    return load(folder / "study.toml")


@pytest.fixture
def pair(tmp_path):
    """A study of two cells, its store after a run, and the bytes of all its files."""
    study, store = study_of(tmp_path, PAIR), RunStore(tmp_path / "cells")
    run_study(study, store)
    return study, store, contents(store.folder)


def contents(folder):
    """All files of a store, hidden ones too."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.glob("**/*") if path.is_file()}


def finished(folder):
    """What tells a finished cell from one that was written again."""
    stats = {path: path.stat() for path in folder.glob("??/*.npz")}
    return {path: (stat.st_ino, stat.st_mtime_ns, stat.st_size) for path, stat in stats.items()}


def start(folder, store, program=RUN):
    """A process that runs the folder's study, once it is about to begin."""
    words = [sys.executable, "-c", program, str(folder / "study.toml"), str(store)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process):
    """How many cells it computed."""
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return int(said)


# The form of a file


def test_a_cell_is_an_archive_that_numpy_reads(pair):
    """In a folder of two digits, with all records and what they are."""
    study, store, files = pair
    for cell in cells_of(study):
        path = store.folder / cell.key[:2] / f"{cell.key}-0-32.npz"
        with np.load(io.BytesIO(files[path.relative_to(store.folder).as_posix()]), allow_pickle=False) as stored:
            assert stored["G_u"].shape == (32, 400)
            assert '"study": "sweep"' in str(stored["about"])
    assert len(files) == 2


def test_every_byte_counts():
    """One changed anywhere, one more or less, or another name: it is not what was written."""
    records = {"G_u": np.arange(6.0).reshape(2, 3)}
    content = pack("a.npz", records, {"T": 3})
    assert content == pack("a.npz", {"G_u": records["G_u"].copy()}, {"T": 3})
    found, about = unpack("a.npz", content)
    assert about == {"T": 3}
    assert np.array_equal(found["G_u"], records["G_u"])
    for place in range(len(content)):
        assert unpack("a.npz", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]) is None
        assert unpack("a.npz", content[:place]) is None
    assert unpack("a.npz", content + b"\0") is None
    assert unpack("b.npz", content) is None


def damage(kind, path, other):
    """Do to a file what may happen to it."""
    content = path.read_bytes()
    if kind == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "edited":
        path.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    elif kind == "another cell":
        path.write_bytes(other.read_bytes())
    elif kind == "pickle":
        buffer = io.BytesIO()
        np.savez(buffer, G_u=np.array([[print]], dtype=object), about=np.array("{}"))
        path.write_bytes(buffer.getvalue())
    else:
        records, about = unpack(path.name, content)
        cut = {"fewer rounds": np.s_[:, :-1], "fewer replicates": np.s_[:-1]}[kind]
        path.write_bytes(pack(path.name, {name: array[cut] for name, array in records.items()}, about))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("put", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), os.mkdir])
def test_what_is_no_regular_file_is_damaged(pair, put):
    """A pipe that nobody writes to and a device that does not end are not waited for; a folder is in the way."""
    study, store, before = pair
    path, _ = sorted(finished(store.folder))
    path.unlink()
    put(path)
    if path.is_dir():
        outcome = run_study(study, RunStore(store.folder))
        assert outcome.unsaved == f"{path} cannot be written: Is a directory"
        assert len(outcome.records) == 2
        path.rmdir()
    else:
        assert len(table(RunStore(store.folder))) == 1
        (store.folder / "index").unlink()
        assert run_study(study, RunStore(store.folder)).damaged == (path,)
        assert contents(store.folder) == before
    put(store.folder / f"{'0' * 32}.npz")
    assert run_study(study, RunStore(store.folder)).damaged == ()


@pytest.mark.parametrize(
    "kind", ["truncated", "empty", "edited", "another cell", "pickle", "fewer rounds", "fewer replicates"]
)
def test_what_is_damaged_is_computed_again(pair, kind):
    """And said; the other cell is left alone, and in the end the store is what it was."""
    study, store, before = pair
    path, other = sorted(finished(store.folder))
    damage(kind, path, other)
    kept = finished(store.folder)[other]
    outcome = run_study(study, RunStore(store.folder))
    assert (outcome.computed, outcome.reused, outcome.damaged) == (1, 1, (path,))
    assert contents(store.folder) == before
    assert finished(store.folder)[other] == kept
    assert run_study(study, RunStore(store.folder)).damaged == ()


def test_more_replicates_are_another_file(pair):
    """What is there stays as it is; damage to the first part is repaired beside the second."""
    study, store, before = pair
    expected = run_study(study.with_replicates(40), RunStore(store.folder.with_name("anew"))).records
    more = run_study(study.with_replicates(40), store)
    after = contents(store.folder)
    assert len(after) == 4
    assert {name: after[name] for name in before} == before
    for title, records in expected.items():
        assert all(np.array_equal(records[name], more.records[title][name]) for name in records)
    assert all(len(records["G_u"]) == 20 for records in run_study(study.with_replicates(20), store).records.values())
    first = next(path for path in finished(store.folder) if path.name.endswith("-0-32.npz"))
    damage("empty", first, None)
    again = run_study(study.with_replicates(40), RunStore(store.folder))
    assert again.computed == 1
    assert not first.exists()
    for title, records in expected.items():
        assert all(np.array_equal(records[name], again.records[title][name]) for name in records)


def test_stores_of_earlier_versions_are_taken_over(pair, tmp_path):
    """One level, no checksum: found, given the present form; damaged ones are computed again, and said."""
    study, _, before = pair
    old = tmp_path / "old"
    old.mkdir()
    for name, content in before.items():
        with np.load(io.BytesIO(content)) as stored:
            np.savez(old / f"{name[3:35]}.npz", **stored)
    outcome = run_study(study, RunStore(old))
    assert (outcome.computed, outcome.reused) == (0, 2)
    assert contents(old) == before
    key = next(iter(before))[3:35]
    (old / f"{key}.npz").write_bytes(b"PK")
    (old / key[:2] / f"{key}-0-32.npz").unlink()
    outcome = run_study(study, RunStore(old))
    assert (outcome.computed, outcome.damaged) == (1, (old / f"{key}.npz",))
    assert contents(old) == before


def test_a_folder_that_is_none(tmp_path):
    """One line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be used as a folder"):
        RunStore(tmp_path / "file" / "cells")


# Runs that are killed, and runs at the same time


def test_a_cell_is_one_s_at_a_time(tmp_path):
    """Whoever comes second is told so, until the first has ended; nothing is left of what was not finished."""
    first, second = (RunStore(tmp_path) for _ in range(2))
    key = "ab" * 16
    with first.taken(key) as part, second.taken(key) as other, second.taken("cd" * 16) as another:
        assert part is not None
        assert other is None
        assert another is not None
    with second.taken(key) as part:
        second.save(part, key, 0, {"G_u": np.zeros((2, 3))}, {"T": 3})
    with first.taken(key) as part:
        assert part is not None
    assert list(contents(tmp_path)) == [f"ab/{key}-0-2.npz"]


def test_two_runs_share_a_store(tmp_path):
    """No cell is computed by both, and the store is that of one run."""
    study = study_of(tmp_path, SWEEP)
    run_study(study, RunStore(tmp_path / "alone"))
    both = [start(tmp_path, tmp_path / "cells") for _ in range(2)]
    assert sum(map(ended, both)) == len(study.curves)
    assert contents(tmp_path / "cells") == contents(tmp_path / "alone")


def test_killed_while_a_cell_is_written(pair, tmp_path):
    """What is half there counts for nothing, its lock has ended, and the next run clears it away."""
    study, _, expected = pair
    killed = start(tmp_path, tmp_path / "killed", HALF)
    killed.communicate(timeout=120)
    assert killed.returncode < 0
    assert not finished(tmp_path / "killed")
    assert any(name.endswith(".part") for name in contents(tmp_path / "killed"))
    assert run_study(study, RunStore(tmp_path / "killed")).computed == 2
    assert contents(tmp_path / "killed") == expected


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_any_moment(tmp_path, kills):
    """No finished cell is lost or written again, what remains is computed once, and the store is that of one run."""
    cells = len(study_of(tmp_path, SWEEP).curves)
    whole = start(tmp_path, tmp_path / "whole")
    begun = time.monotonic()
    assert ended(whole) == cells
    seconds, expected = time.monotonic() - begun, contents(tmp_path / "whole")
    rng, amid, number = np.random.default_rng(kills), 0, 0
    while kills:
        number += 1
        store, computed = tmp_path / f"killed-{number}", 0
        while computed < cells:
            before = finished(store)
            process = start(tmp_path, store)
            if kills:
                if amid:
                    time.sleep(rng.uniform(0, seconds * (1 - len(before) / cells)))
                else:
                    # Amid the cells however fast the machine is at this moment.
                    while process.poll() is None and len(finished(store)) == len(before):
                        time.sleep(1e-3)
                if process.poll() is None:
                    process.kill()
                    kills -= 1
            said, _ = process.communicate(timeout=120)
            after = finished(store)
            assert {path: after[path] for path in before} == before
            assert all(unpack(path.name, path.read_bytes()) for path in after)
            if said:
                assert int(said) == cells - len(before)
                computed = len(after)
            amid += process.returncode != 0 and 0 < len(after) < cells
        assert contents(store) == expected
    # The moments are no use if all of them were before the first cell, or after the last.
    assert amid > 0


# The index


def test_the_index_is_never_needed(pair):
    """Absent, cut off, of another form or about other files: the same table; and no run reads it."""
    study, store, _ = pair
    expected, index = table(store), store.folder / "index"
    assert [row["replicates"] for row in expected] == [32, 32]
    whole = index.read_bytes()
    assert table(store) == expected
    for content in (None, b"", whole[:100], whole.replace(b"sweep", b"swept")):
        index.unlink() if content is None else index.write_bytes(content)
        assert table(store) == expected
        assert index.read_bytes() == whole
    index.write_bytes(b"")
    assert run_study(study, store).computed == 0
    index.unlink()
    index.mkdir()
    assert table(store) == expected


def test_the_index_follows_the_files(pair):
    """A new file, a damaged one and a removed one show at once."""
    study, store, _ = pair
    assert len(table(store)) == 2
    run_study(study.with_replicates(40), store)
    assert [row["replicates"] for row in table(store)] == [40, 40]
    for path in finished(store.folder):
        if path.name.endswith("-32-40.npz"):
            path.unlink()
    path = min(finished(store.folder))
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"x")
    os.utime(path, ns=(1, 1))
    assert [row["replicates"] for row in table(store)] == [32]
    assert store.damaged == [path]


def test_a_key_is_of_the_code_and_of_the_law_of_the_noise():
    """Every folder whose code has a say is read, and two laws without attributes are two cells."""
    package = Path(ratecheck.__file__).parent
    assert all([*(package / folder).rglob("*.py")] for folder in store_of._CODE)
    read = []
    with pytest.MonkeyPatch.context() as patch:
        real = Path.read_bytes
        patch.setattr(Path, "read_bytes", lambda path: read.append(path) or real(path))
        store_of.code_version.__wrapped__()
    assert {path.relative_to(package).parts[0] for path in read} == {*store_of._CODE}
    problem, step_sizes = Quadratic.synthetic(n=2, d=1, shared=1), {"gamma_u": 0.1, "eta_u": 1.0}
    run = prepare("fedavg", problem, Uniform(2, 1), K=1, T=1, step_sizes=step_sizes)
    assert store_of.cell_key(with_law(run, "signs"), 0) != store_of.cell_key(run, 0)
