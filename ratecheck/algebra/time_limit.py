"""A time limit for computations that cannot be told to stop, in seconds of computing.

Not in seconds of the clock, so that a verdict does not depend on what else the machine does.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Seconds after which a limit that has passed is raised again.
_AGAIN = 0.05


class OutOfTime(BaseException):
    """The limit has passed. Not an `Exception`: SymPy catches those."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` inside the block after so many seconds; limits may be nested, the nearer end counts.

    Only the main thread of a process on a POSIX system can be interrupted; elsewhere there is no limit.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    over = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        if not over:
            raise OutOfTime

    outer = signal.getitimer(signal.ITIMER_PROF)[0]
    started = time.process_time()
    before = signal.signal(signal.SIGPROF, stop)
    # Again and again: what is raised inside of a finaliser or of a callback of the garbage collector is swallowed.
    signal.setitimer(signal.ITIMER_PROF, max(1e-3, min(seconds, outer) if outer else seconds), _AGAIN)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if outer:
            signal.setitimer(signal.ITIMER_PROF, max(1e-3, outer - (time.process_time() - started)), _AGAIN)
