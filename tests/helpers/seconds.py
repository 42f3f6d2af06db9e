"""How long the tests of each file take: written where ``RATECHECK_SECONDS`` says, and limited there.

The limit is a share of the whole, so that a slow machine fails no run: where all takes ten minutes with two processes,
a file may take 90 seconds. It is meant for runs of all tests, and only ``.ci/run`` sets the variable. Files are handed
out in the order of ``tests/seconds.json``, the longest first, so that no worker is left alone with one at the end; a
copy of what a run has written makes it new.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

SHARE = 90 / 1200
# The documentation with all its examples is built once, by the first test of this file.
WHOLE = "tests/project/test_docs.py"
KEPT = Path(__file__).parents[1] / "seconds.json"


def kept():
    """Seconds of the files that took more than one, in a run of all tests."""
    return json.loads(KEPT.read_text())


def beyond(seconds):
    """The files that take more than their share of the whole."""
    most = SHARE * sum(seconds.values())
    return {file: taken for file, taken in seconds.items() if taken > most and file != WHOLE}


class Seconds:
    """The plugin of the process that hears the reports of all workers."""

    def __init__(self, path):
        self.path, self.taken = Path(path), Counter()

    def pytest_runtest_logreport(self, report):
        """Add what one phase of a test took."""
        self.taken[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self, session):
        """Write all, and fail where a file takes too long."""
        long = {file: round(taken) for file, taken in self.taken.most_common() if taken >= 1}
        self.path.write_text(json.dumps(long, indent=1) + "\n")
        if session.exitstatus == pytest.ExitCode.OK and beyond(self.taken):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Name the files that take too long."""
        whole = sum(self.taken.values())
        for file, taken in beyond(self.taken).items():
            terminalreporter.write_line(f"TOO LONG {file}: {taken:.0f} s of {whole:.0f} s, over {SHARE:.1%}", red=True)
