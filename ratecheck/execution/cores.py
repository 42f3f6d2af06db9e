"""How many cores there are to work on, for what is given no number of workers."""

import os


def cores() -> int:
    """The number of processor cores that this process may use, at least 1.

    Fewer than the machine has where ``taskset``, a container or a batch system restricts the process to some of them.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1
