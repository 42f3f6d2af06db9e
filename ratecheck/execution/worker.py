"""What a process that does tasks does first: it leaves interrupts to the one that started it, and ends with it."""

from __future__ import annotations

import os
import signal
import threading
import time

# Of one thread each: there is a process per core.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# Seconds between looks at the parent.
_LOOK = 0.5


def begin(parent: int) -> None:
    """In a worker whose parent is this process, before its first task."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process with its parent, also where the parent is killed: an orphan is given another parent."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)
