"""What starts by a fork, as examples of the documentation do in the tests, ends and prints as what starts anew."""

import os
import subprocess
import sys
from pathlib import Path

import forked
import pytest


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The folder with the commands."""
    with forked.commands(tmp_path_factory.mktemp("commands"), {**os.environ}) as folder:
        yield folder


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("ratecheck show pfl/theorem-3.7 --ascii", 0),
        ("ratecheck bound pfl/theorem-3.7 n=10", 2),
        ("ratecheck list | head -2", 0),
        ("python -c 'import sys; print(sys.argv, __name__, sys.path[0]); sys.exit(3)' one two", 3),
        ("echo 'print(6 * 7)' | python -", 0),
        ("cd / && python -c 'import os; print(os.getcwd(), os.environ[\"WORD\"])'", 0),
        ("python -c 'import sys; sys.exit(\"a word\")'", 1),
    ],
)
def test_it_ends_and_prints_as_a_new_process(line, code, quick, tmp_path):
    """Both streams; the process has the folder and the environment of who asks."""
    new, by_fork = (
        subprocess.run(
            ["/bin/bash", "-o", "pipefail", "-c", line],
            env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "WORD": "said"},
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )
        for folder in (Path(sys.executable).parent, quick)
    )  # fmt: skip
    assert (by_fork.returncode, by_fork.stdout, by_fork.stderr) == (new.returncode, new.stdout, new.stderr)
    assert new.returncode == code


def test_an_error_has_its_type_and_exit_code(quick):
    """The traceback has other files in it."""
    done = subprocess.run([quick / "python", "-c", "1/0"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "ZeroDivisionError: division by zero")
