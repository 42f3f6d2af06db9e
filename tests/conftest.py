"""What several test files share."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import hypothesis
import pytest
import seconds

from ratecheck.cli import _GARBAGE, _run

# A test's time is no property of what it tests.
hypothesis.settings.register_profile("busy", deadline=None)
hypothesis.settings.load_profile("busy")
# Processes that run tests beside each other inherit a width, which would break the lines of what commands print.
os.environ.pop("COLUMNS", None)
# Nor is this meant for tests that a test starts.
WRITTEN = os.environ.pop("RATECHECK_SECONDS", None)

HERE = Path(__file__).parent
# As in a command: what is imported and collected stays, and to look through it for garbage takes long.
gc.set_threshold(*_GARBAGE)
# `pytest -m quick`: some of every folder whose tests say much in little time, less than a minute together on one core.
QUICK = {
    "algorithms/test_fedsum.py",
    "bounds/test_own.py",
    "bounds/test_own_file.py",
    "bounds/test_parsing.py",
    "bounds/test_theorem.py",
    "complexity/test_compare.py",
    "complexity/test_horizon.py",
    "engines/test_cost.py",
    "participation/test_participation.py",
    "problems/test_quadratic.py",
    "project/test_house.py",
    "statistics/test_confidence.py",
    "stepsizes/test_admissible.py",
    "verification/test_headline.py",
    "views/test_width.py",
}
# Tests of these files that cost as much as all others of theirs.
COSTLY = ("test_verdicts_err_no_more_often_than_the_level", "test_a_terminal_s_own_width_counts")


def pytest_configure(config):
    """The process that starts the others hears how long their tests take."""
    if WRITTEN is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(seconds.Seconds(WRITTEN))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config):
    """Files are handed out in the order of the collection, not by how many tests they have."""
    config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Of two processes one imports the test files from the end, so that each compiles half of them."""
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" and session.config.args_source.name == "TESTPATHS":
        wanted = (path for path in HERE.rglob("test_*.py") if not pytest_ignore_collect(path, session.config))
        for path in sorted(wanted, reverse=True):
            sys.path.insert(0, str(path.parent))
            # What cannot be imported, or is to be skipped, is said when it is collected.
            with contextlib.suppress(Exception, pytest.skip.Exception):
                importlib.import_module(path.stem)


def pytest_ignore_collect(collection_path, config):
    """Import no other file where only these are wanted."""
    if config.option.markexpr == "quick" and collection_path.is_file():
        return collection_path.relative_to(HERE).as_posix() not in QUICK or None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What takes long comes first; mark what is quick, and as long what is left to the full-length checks."""
    kept = seconds.kept()
    items.sort(key=lambda item: -kept.get(item.nodeid.partition("::")[0], 0))
    met = Counter()
    for item in items:
        if every := item.get_closest_marker("every"):
            test = item.nodeid.partition("[")[0]
            if met[test] % every.args[0]:
                item.add_marker("long")
            met[test] += 1
        wanted = item.path.relative_to(HERE).as_posix() in QUICK and item.originalname not in COSTLY
        if wanted and not item.get_closest_marker("long"):
            item.add_marker("quick")


def pytest_collection_finish():
    """What is imported stays, so that no collection of garbage looks through it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def one_core():
    """The processes that run tests beside each other share the cores: what is given no number of workers has one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
        yield


@pytest.fixture
def cli(capsys):
    """The command line in this process: ``cli("bound", ...)`` has a returncode, stdout and stderr."""

    def call(*arguments):
        code = _run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, captured.out, captured.err)

    return call


@pytest.fixture
def no_scouts(monkeypatch):
    """Every shape is searched by whole verdicts."""
    from ratecheck.scouting.coefficients import Unscouted

    def refused(_):
        raise Unscouted("a test of the search by verdicts")

    monkeypatch.setattr("ratecheck.falsification.scouts.Scout", refused)
