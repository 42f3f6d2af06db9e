"""A time limit for computations that cannot be told to stop, in seconds of computing.

Not in seconds of the clock, so that a verdict does not depend on what else the machine does.
"""

from __future__ import annotations

import _weakrefset
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Seconds after which a limit that has passed is raised again.
_AGAIN = 0.05
# Where callbacks of weak references are written.
_WEAK = (weakref.__file__, _weakrefset.__file__)


class OutOfTime(BaseException):
    """The limit has passed. Not an `Exception`: SymPy catches those."""


def _swallows(frame: FrameType | None) -> bool:
    """Whether a finaliser, a callback of a weak reference or what reports on these runs: exceptions end none."""
    while frame is not None:
        if frame.f_code.co_name in ("__del__", "unraisable") or frame.f_code.co_filename in _WEAK:
            return True
        frame = frame.f_back
    return False


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` inside the block after so many seconds; limits may be nested, the nearer end counts.

    Only the main thread of a process on a POSIX system can be interrupted; elsewhere there is no limit.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    over = False

    def stop(_number: int, frame: FrameType | None) -> None:
        if not over and not _swallows(frame):
            raise OutOfTime

    report = sys.unraisablehook

    def unraisable(args: sys.UnraisableHookArgs) -> None:
        # It is raised again, so that there is nothing to report.
        if not issubclass(args.exc_type, OutOfTime):
            report(args)

    outer = signal.getitimer(signal.ITIMER_PROF)[0]
    started = time.process_time()
    before = signal.signal(signal.SIGPROF, stop)
    # Again and again: nothing is raised inside of a finaliser, and what is raised in other callbacks may be swallowed.
    signal.setitimer(signal.ITIMER_PROF, max(1e-3, min(seconds, outer) if outer else seconds), _AGAIN)
    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        over = True
        sys.unraisablehook = report
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if outer:
            signal.setitimer(signal.ITIMER_PROF, max(1e-3, outer - (time.process_time() - started)), _AGAIN)
