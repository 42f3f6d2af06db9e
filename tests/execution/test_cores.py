"""The number of cores: those that the process may use, and all of the machine where that is not known."""

import os
import subprocess
import sys

import pytest

from ratecheck.execution import Processes, Threads, cores


@pytest.mark.parametrize("count", [1, 3])
def test_what_is_given_no_number_of_workers_takes_the_cores_that_it_may_use(count, monkeypatch):
    """Threads and processes alike; a number that is given counts."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(count)), raising=False)
    assert cores() == Threads().count == Processes().count == count
    assert Threads(5).count == Processes(5).count == 5


@pytest.mark.parametrize(("whole", "found"), [(6, 6), (None, 1)])
def test_where_the_system_does_not_say_all_cores_count(whole, found, monkeypatch):
    """One where their number is not known either."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: whole)
    assert cores() == found


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs a system that restricts processes to cores")
def test_a_process_that_is_restricted_to_one_core_has_one():
    """As by ``taskset``."""
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from ratecheck.execution import cores; print(cores())"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
