"""Processes that share work: they leave an interrupt to the process that started them, and end with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from typing import Any

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_SILENT = "ignore::UserWarning:multiprocessing.resource_tracker"


def share(
    work: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    count: int,
    done: Callable[[int, Any], None],
    *,
    renew: int | None = None,
) -> None:
    """Do ``work(*task)`` for every task in ``count`` processes of one thread each.

    ``done`` gets the number of a task and its result, in the order in which they are finished, in this thread. After
    ``renew`` tasks per process the rest is given to fresh ones. An error or an interrupt ends all of them at once,
    whatever they are doing.
    """
    if count == 1 or len(tasks) < 2:
        for number, task in enumerate(tasks):
            done(number, work(*task))
        return
    batch = len(tasks) if renew is None else renew * count
    for first in range(0, len(tasks), batch):
        numbers = range(first, min(first + batch, len(tasks)))
        _share(work, {number: tasks[number] for number in numbers}, count, done)


def _share(
    work: Callable[..., Any], tasks: dict[int, tuple[Any, ...]], count: int, done: Callable[[int, Any], None]
) -> None:
    others = {*multiprocessing.active_children()}
    _start_tracker()
    # Workers are started anew: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(count, len(tasks)), mp_context=context, initializer=_begin)
    try:
        with _one_thread_each(), _interrupts_held():
            futures = {pool.submit(work, *task): number for number, task in tasks.items()}
        for future in as_completed(futures):
            done(futures[future], future.result())
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in {*multiprocessing.active_children()} - others:
            worker.terminate()
        raise
    pool.shutdown()


def _start_tracker() -> None:
    """Start the process that cleans up semaphores: it does so without a word where an interrupt left them."""
    sys.warnoptions.append(_SILENT)
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(_SILENT)


def _begin() -> None:
    """In a worker, before its first task."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()


def _end_with_parent() -> None:
    """Also where the parent had no time to say so."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits for the end of the block, and processes and threads started inside do not hear it at all.

    They end when this process says so, not while they hold a lock.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers of one thread: there is one of them per core."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            with contextlib.suppress(KeyError):
                os.environ.pop(name) if value is None else os.environ.update({name: value})
