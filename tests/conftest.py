"""What several test files share."""

from __future__ import annotations

import os
import subprocess

import hypothesis
import pytest

from ratecheck.cli import _run

# A test's time is no property of what it tests.
hypothesis.settings.register_profile("busy", deadline=None)
hypothesis.settings.load_profile("busy")
# Processes that run tests beside each other inherit a width, which would break the lines of what commands print.
os.environ.pop("COLUMNS", None)


@pytest.fixture
def cli(capsys):
    """The command line in this process: ``cli("bound", ...)`` has a returncode, stdout and stderr."""

    def call(*arguments):
        code = _run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, captured.out, captured.err)

    return call
