"""Kept machine code: what calls something that the process does not have is compiled anew."""

from __future__ import annotations

import os
import subprocess
import sys

from ratecheck.kernels import compile as compilation
from ratecheck.kernels import machine_code

PAIR = """
from ratecheck.kernels.compile import kernel, kernel_apart

@kernel_apart
def callee(x):
    return x + 1.0

@kernel
def caller(x):
    return 2.0 * callee(x)
"""
ASK = "import pair; print(pair.caller(3.0), sum(pair.caller.stats.cache_hits.values()), pair.callee(3.0))"


def ask(folder):
    """The caller's number, how often its machine code was loaded, and the callee's number, in a fresh process."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]),
        "RATECHECK_CACHE": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, cwd=folder, capture_output=True, text=True, check=True
    )
    number, hits, callee = done.stdout.split()
    return float(number), int(hits), float(callee)


def test_callers_of_code_that_is_lost_are_compiled_anew(tmp_path):
    """The name of what they call has changed: calling it would end the process."""
    (tmp_path / "pair.py").write_text(PAIR)
    assert ask(tmp_path) == (8.0, 0, 4.0)
    assert ask(tmp_path) == (8.0, 1, 4.0)
    (kept,) = (tmp_path / "cache").glob("kernels-*")
    for entry in kept.glob("pair.callee-*"):
        entry.unlink()
    assert ask(tmp_path) == (8.0, 0, 4.0)
    assert ask(tmp_path) == (8.0, 1, 4.0)


def plus_one(x):
    """One more than x."""
    return x + 1.0


def test_code_that_calls_what_is_not_there_is_refused(tmp_path, monkeypatch):
    """Whatever the reason: the function is compiled."""
    monkeypatch.setenv("RATECHECK_CACHE", str(tmp_path))
    for missing, hits in (("no_such_function", 0), ("sqrt", 0), ("sqrt", 1)):
        monkeypatch.setattr(machine_code, "_names", lambda library, name=missing: ((name,), ()))  # noqa: ARG005
        found = compilation.kernel(plus_one)
        assert found(1.0) == 2.0
        assert sum(found.stats.cache_hits.values()) == hits
