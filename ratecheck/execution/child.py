"""A process that does one task after the other for a thread of a Dask worker.

A task needs the main thread of a process for itself: limits on computing time are signals, and z3 is called by one at a
time. A worker of Dask runs tasks on other threads, and its processes may have no children of `multiprocessing`. So each
of its threads has a process of this kind, which reads tasks from its standard input and writes results to its standard
output, as bytes with their number before them.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import platform
import select
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

from ratecheck.errors import InputError
from ratecheck.execution.fingerprint import differences, fingerprint
from ratecheck.execution.worker import ONE_THREAD, begin

_HEAD = struct.Struct("<Q")
# Seconds between looks whether the result is still wanted.
_LOOK = 0.5
# Processes of a worker that may be killed over a task before the task is to blame.
_LOSSES = 3
_threads = threading.local()


class Unwanted(Exception):  # noqa: N818  # no error: the caller has gone
    """Nobody waits for the result."""


def request(payload: bytes, renew: int | None, wanted: Callable[[], bool]) -> bytes:
    """The answer of the process of this thread to `packed`; it is replaced after ``renew`` tasks, and where it died.

    Raises `Unwanted` once nobody wants the result, and `InputError` where the process is killed again and again.
    """
    for _ in range(_LOSSES):
        child: _Child | None = getattr(_threads, "child", None)
        if child is None or child.done == renew:
            if child is not None:
                child.end()
            child = _threads.child = _Child()
        try:
            return child.request(payload, wanted)
        except EOFError:
            child.end()
            _threads.child = None
        except BaseException:
            child.end()
            _threads.child = None
            raise
    raise InputError(f"a task's process was killed {_LOSSES} times, perhaps for want of memory: take fewer threads")


class _Child:
    """A child process that computes tasks; ``done`` counts them."""

    def __init__(self) -> None:
        self.done = 0
        self._process = subprocess.Popen(  # a module of ours
            [sys.executable, "-m", "ratecheck.execution.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # It can import what the worker can.
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def request(self, payload: bytes, wanted: Callable[[], bool]) -> bytes:
        """The answer; raises `EOFError` where the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _write(self._process.stdin, payload)
        except OSError:
            raise EOFError from None
        while not select.select([self._process.stdout], [], [], _LOOK)[0]:
            if not wanted():
                raise Unwanted
        self.done += 1
        return _read(self._process.stdout)

    def end(self) -> None:
        """Whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError, AttributeError):
                stream.close()  # type: ignore[union-attr]


def packed(work: Callable[..., Any], task: tuple[Any, ...]) -> bytes:
    """A task as bytes, with what its result may depend on beside it."""
    return pickle.dumps((fingerprint(), pickle.dumps((work, task))))


def unpacked(answer: bytes) -> Any:
    """The result in an answer; raises what the task raised."""
    succeeded, found = pickle.loads(answer)  # noqa: S301  # of our own process
    if not succeeded:
        raise found
    return found


def _answer(payload: bytes) -> bytes:
    try:
        theirs, inner = pickle.loads(payload)  # noqa: S301  # of our own client
        if other := differences(theirs, fingerprint()):
            raise InputError(f"the worker on {platform.node()} runs other code ({other}): install the same on both")
        work, task = pickle.loads(inner)  # noqa: S301
        return pickle.dumps((True, work(*task)))
    except Exception as error:  # noqa: BLE001  # whatever it is, the client gets it
        try:
            answer = pickle.dumps((False, error))
            pickle.loads(answer)  # noqa: S301
        except Exception:  # noqa: BLE001
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
        return answer


def _write(file: IO[bytes], content: bytes) -> None:
    file.write(_HEAD.pack(len(content)) + content)
    file.flush()


def _read(file: IO[bytes]) -> bytes:
    """The message that `_write` wrote; raises `EOFError` where the other side has ended."""
    head = file.read(_HEAD.size)
    content = file.read(*_HEAD.unpack(head)) if len(head) == _HEAD.size else b""
    if len(head) < _HEAD.size or len(content) < _HEAD.unpack(head)[0]:
        raise EOFError
    return content


def main() -> None:
    """Answer until the other side ends."""
    begin(os.getppid())
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a task prints is no answer.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            _write(answers, _answer(_read(questions)))


if __name__ == "__main__":
    main()
