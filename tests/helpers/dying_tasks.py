"""Tasks whose process is killed. A process that runs one imports this file, and nothing of what is tested."""

import os
import signal
from pathlib import Path


def dies_once(number, folder):
    """The square; the process of one of them is killed at its first try."""
    mark = Path(folder) / str(number)
    if number == 2 and not mark.exists():
        mark.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def dies(_number):
    """Always."""
    os.kill(os.getpid(), signal.SIGKILL)
