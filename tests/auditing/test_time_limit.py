"""A time limit is kept wherever it passes, and nothing of it is lost in a finaliser."""

from __future__ import annotations

import ctypes
import sys
import time
import weakref

import pytest

from ratecheck.algebra.time_limit import OutOfTime, limit

pytestmark = pytest.mark.quick


def spin(seconds, done=None):
    """Compute for so many seconds of the processor."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    if done is not None:
        done.append("whole")


class Finalised:
    """Computes while it is finalised."""

    def __init__(self, done):
        self.done = done

    def __del__(self):
        spin(0.3, self.done)


class Plain:
    """Has weak references."""


def leave_finalised(done):
    """An object that computes on its end."""
    del done[:]
    Finalised(done)


def leave_watched(done):
    """An object on whose end a callback computes."""
    del done[:]
    gone = Plain()
    weakref.finalize(gone, spin, 0.3, done)
    del gone


def limited(compute):
    """Compute under a limit that passes."""
    with limit(0.05):
        compute()


@pytest.mark.parametrize("leave", [leave_finalised, leave_watched])
def test_a_limit_that_passes_in_a_finaliser_is_raised_after_it(monkeypatch, leave):
    """Raised inside, it would be reported as ignored, and the computation would go on until the next signal."""
    ignored, done = [], []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    monkeypatch.setattr(sys, "excepthook", lambda *what: ignored.append(what))
    begun = time.process_time()
    with pytest.raises(OutOfTime):
        limited(lambda: (leave(done), spin(5.0)))
    assert done == ["whole"]
    assert ignored == []
    assert time.process_time() - begun < 3.0


def test_the_nearer_of_two_limits_counts():
    """Nested limits, and one that is not reached."""
    with limit(5.0):
        with pytest.raises(OutOfTime), limit(0.05):
            spin(3.0)
        spin(0.01)
    with pytest.raises(OutOfTime), limit(0.05), limit(5.0):
        spin(3.0)


def test_what_a_callback_swallows_is_raised_again_without_a_word(monkeypatch):
    """As of compiled code, which reports an exception as one that cannot be raised, and goes on."""
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    callback = ctypes.CFUNCTYPE(None)(lambda: spin(0.08))

    def compute():
        """Beyond the limit, once where that is swallowed and then where it is not."""
        callback()
        spin(5.0)

    with pytest.raises(OutOfTime), limit(0.05):
        compute()
    assert said == []
