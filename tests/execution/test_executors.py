"""Executors: the same results wherever tasks run, and nothing lost with a worker that is killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dying_tasks import dies, dies_once
from extras import needs_distributed
from small_study import PAIR, SWEEP
from terminal import wait_for

import ratecheck as rc
from ratecheck.api.records.run import ShardResult, measured
from ratecheck.errors import InputError
from ratecheck.execution import Processes, Threads, executor, share
from ratecheck.execution.fingerprint import differences, fingerprint
from ratecheck.studies import RunStore, load, run_study
from ratecheck.studies.execute import cells_of
from ratecheck.studies.remote import computed
from ratecheck.studies.storage.shard import Shard

# Local steps of one figure of it, which are the work of a cell.
STEPS = [*range(1, 13)]


def study_of(folder, text):
    """The text as a study."""
    (folder / "study.toml").write_text(text)
    return load(folder / "study.toml")


def slow(factor):
    """The sweep with so many times the local steps in one figure: cells that are long enough to be killed over."""
    assert f"values = {STEPS}" in SWEEP
    return SWEEP.replace(f"values = {STEPS}", f"values = {[factor * K for K in STEPS]}")


def contents(folder):
    """All files of a store, hidden ones too."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.glob("**/*") if path.is_file()}


def alone(folder, text):
    """The study's store after a run on a thread of this process."""
    run_study(study_of(folder, text), RunStore(folder / "alone"), threads=1)
    return contents(folder / "alone")


# This machine


@pytest.mark.parametrize("where", [Threads(2), Processes(2)])
def test_tasks_may_come_late(where):
    """A source that has nothing at the moment is asked again; an error ends it, and says what it was."""
    found, glances = {}, []
    tasks = [(7, 3), None, None, (8, 3), (9, 3)]
    where.run(divmod, tasks, found.__setitem__, glance=lambda: glances.append(0))
    assert found == {0: (2, 1), 1: (2, 2), 2: (3, 0)}
    assert glances
    with pytest.raises(ZeroDivisionError):
        where.run(divmod, [(1, 1), (1, 0)], lambda *_: None)


def test_a_killed_process_costs_its_tasks_nothing(tmp_path):
    """They are done again by others; where all are killed, one line says so."""
    found = {}
    share(dies_once, [(number, str(tmp_path)) for number in range(5)], 2, found.__setitem__)
    assert found == {number: number**2 for number in range(5)}
    with pytest.raises(InputError, match="killed 3 times in a row"):
        share(dies, [(0,), (1,)], 2, found.__setitem__)


def test_what_is_asked_of_the_catalogue_is_asked_of_what_workers_return():
    """That the audit calls a statement false is said where another process searched it too."""
    found = rc.falsify("pfl/theorem-3.7", "pfl/lemma-a.2", evaluations=2, workers=2).to_dict()
    assert [each["worst"]["audit"] is None for each in found["searches"]] == [True, False]


def test_processes_compute_the_same_store(tmp_path):
    """From the definition of a cell alone."""
    expected = alone(tmp_path, PAIR)
    run_study(load(tmp_path / "study.toml"), RunStore(tmp_path / "cells"), executor=Processes(2))
    assert contents(tmp_path / "cells") == expected


def test_another_cell_is_not_taken_for_this_one(tmp_path):
    """Whatever differs on the other machine, its key does."""
    cell = cells_of(study_of(tmp_path, PAIR))[0]
    assert computed(cell.curve, (), measured=False, seed=cell.seed, key=cell.key, first=0, count=1)["G_u"].shape == (
        1,
        400,
    )
    with pytest.raises(InputError, match="is another cell on the worker"):
        computed(cell.curve, (), measured=False, seed=cell.seed, key="0" * 32, first=0, count=1)


def test_what_differs_is_said():
    """By name."""
    mine = fingerprint()
    assert differences(mine, dict(mine)) == ""
    assert differences(mine, {**mine, "numpy": "0.1"}) == f"numpy: 0.1 there, {mine['numpy']} here"


# Shards


def test_shards_gathered_are_the_plain_run(tmp_path):
    """Byte for byte; each says which cells are its own, and no cell is two shards'."""
    expected = alone(tmp_path, SWEEP)
    titles = []
    for number in (1, 2, 3):
        done = measured(tmp_path / "study.toml", out=tmp_path / "out", threads=1, shard=f"{number}/3")
        assert isinstance(done, ShardResult)
        assert (done.done.computed, done.done.stored, done.complete) == (8, 8 * number, number == 3)
        assert str(done).startswith(f"sweep, shard {number}/3: 8 of 24 cells, 8 computed here, 0 found\n")
        assert all(f"  {title}\n" in str(done) for title in done.done.curves)
        titles += done.done.curves
    assert sorted(titles) == sorted(curve.title for curve in load(tmp_path / "study.toml").curves)
    assert contents(tmp_path / "out" / "cells") == expected
    gathered = measured(tmp_path / "study.toml", out=tmp_path / "out", threads=1)
    assert (gathered.records.computed, gathered.records.reused) == (0, 24)
    assert contents(tmp_path / "out" / "cells") == expected


def test_a_shard_may_be_empty(tmp_path):
    """More shards than cells: nothing to do is done at once."""
    study_of(tmp_path, PAIR)
    done = measured(tmp_path / "study.toml", out=tmp_path / "out", shard="3/3")
    assert (done.done.computed, done.done.stored, done.done.total, done.done.curves) == (0, 0, 2, ())


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "1", "1/0", "-1/3", "1/3/2", "", "1.5/3", "²/3"])
def test_bad_shards_are_one_line(tmp_path, cli, text):
    """With the value, before anything runs."""
    study_of(tmp_path, PAIR)
    done = cli("run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--shard", text)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert f"--shard {text}".strip() in done.stderr
    assert not (tmp_path / "out").exists()


def test_shards_share_everything_out():
    """Whatever their number."""
    for count in (1, 2, 3, 7, 20):
        parts = [Shard(number, count).of(range(11)) for number in range(1, count + 1)]
        assert sorted(item for part in parts for item in part) == [*range(11)]
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


# Dask


def test_without_dask_the_extra_is_named(tmp_path, cli, monkeypatch):
    """One line."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    study_of(tmp_path, PAIR)
    done = cli("run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--scheduler", "tcp://127.0.0.1:1")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert 'pip install "ratecheck[distributed]"' in done.stderr


@needs_distributed
@pytest.mark.parametrize("address", ["x", "tcp://127.0.0.1:1", "foo://127.0.0.1:8786", "tcp://"])
@pytest.mark.parametrize("command", ["run", "rates"])
def test_bad_addresses_are_one_line(tmp_path, cli, monkeypatch, address, command):
    """With the address, and what one looks like."""
    monkeypatch.setattr("ratecheck.execution.cluster._PATIENCE", 0.3)
    study_of(tmp_path, PAIR)
    words = {
        "run": ("run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out")),
        "rates": ("rates", "flame/theorem-1"),
    }  # fmt: skip
    done = cli(*words[command], "--scheduler", address)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert f"--scheduler {address}: no Dask scheduler answers there" in done.stderr


@needs_distributed
def test_a_client_that_could_not_connect_is_closed_at_once(monkeypatch):
    """Its finaliser may run while the next one holds the lock that it wants."""
    import distributed

    monkeypatch.setattr("ratecheck.execution.cluster._PATIENCE", 0.3)
    made, make = [], distributed.Client.__init__

    def kept(client, *words, **options):
        made.append(client)
        make(client, *words, **options)

    monkeypatch.setattr(distributed.Client, "__init__", kept)
    for address in ("tcp://127.0.0.1:1", "x"):
        with pytest.raises(InputError, match="no Dask scheduler answers"), executor(address):
            pass
    assert [client.status for client in made] == ["closed", "closed"]


@needs_distributed
def test_a_scheduler_has_workers_of_its_own(tmp_path, cli):
    """Either is meant; and a statement of one's own is known here alone."""
    study_of(tmp_path, PAIR)
    (tmp_path / "mine.py").write_text("")
    for words in (
        ("run", str(tmp_path / "study.toml"), "--threads", "2"), ("rates", "pfl/theorem-3.7", "--workers", "2"),
        ("audit", "flame", "--workers", "2"),
    ):  # fmt: skip
        done = cli(*words, "--scheduler", "tcp://127.0.0.1:1")
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert "give either" in done.stderr


@needs_distributed
def test_a_local_cluster_computes_the_same_store(tmp_path):
    """Two worker processes of Dask, for a study and for tasks of another kind."""
    from distributed import LocalCluster

    expected = alone(tmp_path, SWEEP)
    # Without an address the scheduler's server warns where another cluster of this machine has the default port.
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:
        address = cluster.scheduler_address
        found = measured(tmp_path / "study.toml", out=tmp_path / "out", scheduler=address)
        assert (found.records.computed, found.records.reused) == (24, 0)
        assert contents(tmp_path / "out" / "cells") == expected
        squares = {}
        with executor(address) as workers:
            share(dies_once, [(number, str(tmp_path)) for number in range(4)], workers, squares.__setitem__, renew=2)
            assert squares == {number: number**2 for number in range(4)}
            with pytest.raises(ZeroDivisionError):
                share(divmod, [(1, 0)], workers, lambda *_: None)


@contextlib.contextmanager
def cluster_of_processes(folder, workers):
    """The address of a scheduler and the processes of its workers, as one starts them by hand."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    with (folder / "log").open("w") as log:

        def start(*words):
            return subprocess.Popen(
                [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]], stdout=log, stderr=log, cwd=folder,
                env=environment,
            )  # fmt: skip

        file = folder / "scheduler.json"
        processes = [start("dask_scheduler", "--scheduler-file", str(file), "--port", "0", "--no-dashboard")]
        try:
            assert wait_for(file.exists)
            processes += [
                start("dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--no-dashboard")
                for _ in range(workers)
            ]
            import json

            yield json.loads(file.read_text())["address"], processes[1:]
        finally:
            for process in processes:
                process.kill()
                process.wait()


@needs_distributed
@pytest.mark.long
def test_a_killed_worker_loses_nothing(tmp_path):
    """Scheduler and workers by hand, one of them killed amid a cell: the store is that of a local run."""
    expected = alone(tmp_path, slow(100))
    with cluster_of_processes(tmp_path, 2) as (address, workers):
        words = [
            "run",
            str(tmp_path / "study.toml"),
            "--out",
            str(tmp_path / "out"),
            "--scheduler",
            address,
            "--shard",
            "1/1",
        ]
        run = subprocess.Popen([sys.executable, "-m", "ratecheck", *words], stdout=subprocess.PIPE, text=True)
        assert wait_for(lambda: len([*(tmp_path / "out").glob("cells/??/*.npz")]) >= 3, 1500)
        assert run.poll() is None
        workers[0].kill()
        said, _ = run.communicate(timeout=1500)
        assert run.returncode == 0
    assert "24 of 24 cells, 24 computed here, 0 found" in said
    assert contents(tmp_path / "out" / "cells") == expected


@needs_distributed
@pytest.mark.long
def test_an_interrupt_ends_what_the_workers_do(tmp_path):
    """Within two seconds here, and soon there; what is finished stays, and a scheduler that goes away is said."""
    study_of(tmp_path, slow(1_000_000))
    words = ["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--scheduler"]
    with cluster_of_processes(tmp_path, 1) as (address, [worker]):
        for end in (signal.SIGINT, signal.SIGTERM):
            run = subprocess.Popen([sys.executable, "-m", "ratecheck", *words, address], start_new_session=True)
            assert wait_for(lambda: children(worker.pid), 1500)
            time.sleep(5)
            begun = time.monotonic()
            run.send_signal(end)
            run.communicate(timeout=60)
            assert time.monotonic() - begun < 2 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
            assert run.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[end]
            assert wait_for(lambda: not children(worker.pid), 60)
    assert not [*(tmp_path / "out").glob("**/.*")]


def children(pid):
    """The processes that a process started and that live."""
    found = []
    for name in filter(str.isdigit, (path.name for path in Path("/proc").iterdir())):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(name))
    return found


@needs_distributed
@pytest.mark.long
@pytest.mark.parametrize("words", [
    ("falsify", "pfl/theorem-3.7", "pfl/lemma-a.2", "--evaluations", "20", "--json"),
    ("rates", "pfl/theorem-3.7", "--over", "K", "--json"),
    ("selftest", "pfl/theorem-3.7", "--mutants", "3", "--instances", "3", "--planted", "5", "--evaluations", "10",
     "--json"),
])  # fmt: skip
def test_other_commands_say_the_same_on_dask(tmp_path, words):
    """Number by number."""
    here = subprocess.run([sys.executable, "-m", "ratecheck", *words], cwd=tmp_path, capture_output=True, check=False)
    with cluster_of_processes(tmp_path, 1) as (address, _):
        there = subprocess.run(
            [sys.executable, "-m", "ratecheck", *words, "--scheduler", address], cwd=tmp_path, capture_output=True,
            check=False,
        )  # fmt: skip
    assert here.returncode == there.returncode
    assert without_times(here.stdout) == without_times(there.stdout)


def without_times(output):
    """JSON lines but for seconds."""
    return [line for line in output.decode().splitlines() if '"seconds"' not in line]
