"""How a run ends when it is told to: within two seconds, and with no process left behind.

Python hands a signal to the main thread between two of its own instructions. A long call into compiled code, or a wait
for threads that are in one, may put that off for minutes; then a thread of this module ends the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

# Seconds that the run has to end by itself.
_GRACE = 1.5
_MEANT = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}

_granted = threading.Semaphore(0)
_watched, _told = threading.Event(), threading.Event()
_spoken = threading.Lock()
_children: set[subprocess.Popen[str]] = set()


class Terminated(KeyboardInterrupt):
    """The process was told to end: what keeps or prints the part that is done at an interrupt does so here too."""


def word(stop: KeyboardInterrupt) -> str:
    """The word for an interrupt or a termination."""
    return _MEANT[signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT]


def named(word: str) -> KeyboardInterrupt | None:
    """The interrupt or termination that is called so; None for whatever else a search may have stopped for."""
    kinds = {_MEANT[signal.SIGINT]: KeyboardInterrupt, _MEANT[signal.SIGTERM]: Terminated}
    return kinds[word]() if word in kinds else None


@contextmanager
def prompt() -> Iterator[None]:
    """Inside the block, and until the process has ended, an interrupt or a termination ends it soon."""
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _unraisable
    threading.excepthook = _in_thread
    _watched.set()
    threading.Thread(target=_watch, args=(readable,), name="ending", daemon=True).start()
    yield


@contextmanager
def as_told() -> Iterator[None]:
    """Inside the block an interrupt is one, also where compiled code that it met makes a `SystemError` of it.

    NumPy's loops over Python objects may go on with an exception set, which the interpreter finds later.
    """
    try:
        yield
    except SystemError as error:
        found = interrupt(error)
        if found is None:
            raise
        raise type(found) from error


def interrupt(error: BaseException) -> KeyboardInterrupt | None:
    """The interrupt that an error is, or that compiled code has made it of; None where it is something else."""
    found = error.__cause__ if isinstance(error, SystemError) else error
    return found if isinstance(found, KeyboardInterrupt) else None


def grant() -> None:
    """The interrupt has arrived, and what is done from here on, such as saving, is to be waited for."""
    _granted.release()


def first_word() -> bool:
    """Whether the caller is the first who says how the run ends, and so the one who does."""
    return not _watched.is_set() or _spoken.acquire(blocking=False)


def adopt(process: subprocess.Popen[str]) -> None:
    """The process ends with this one."""
    _children.add(process)


def release(process: subprocess.Popen[str]) -> None:
    """The process has ended."""
    _children.discard(process)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


def _unraisable(about: sys.UnraisableHookArgs) -> None:
    """A signal that arrives inside a destructor is lost there, without many words; `_watch` acts on it."""
    if not isinstance(about.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(about)


def _in_thread(about: threading.ExceptHookArgs) -> None:
    """What a pool's own threads meet while its processes are ended is nobody's concern."""
    if not _told.is_set():
        threading.__excepthook__(about)


def _watch(readable: int) -> None:
    while True:
        for number in os.read(readable, 64):
            if number in _MEANT:
                _told.set()
            if number in _MEANT and not _granted.acquire(timeout=_GRACE):
                _end(signal.Signals(number))


def _end(number: signal.Signals) -> None:
    """End the process from outside of the main thread, and all that it started."""
    with contextlib.suppress(Exception):
        if sys.stderr.isatty():
            # The cursor, which a progress bar hides.
            os.write(2, b"\r\x1b[K\x1b[?25h")
        if first_word():
            os.write(2, f"ratecheck: {_MEANT[number]}\n".encode())
    for process in list(_children):
        with contextlib.suppress(OSError):
            process.kill()
    processes = sys.modules.get("multiprocessing")
    if processes is not None:
        with contextlib.suppress(Exception):
            for worker in processes.active_children():
                worker.kill()
    os._exit(128 + number)
