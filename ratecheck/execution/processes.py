"""Tasks in processes of this machine, by joblib's loky: they leave an interrupt to this process, and end with it."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from ratecheck.execution.cores import cores
from ratecheck.execution.flow import Done, Executor, Pool, Task
from ratecheck.execution.worker import ONE_THREAD, begin

_LOKY = "joblib.externals.loky"
_SILENT = tuple(f"ignore::UserWarning:{module}.resource_tracker" for module in ("multiprocessing", f"{_LOKY}.backend"))


def share(
    work: Callable[..., Any],
    tasks: Sequence[Task],
    where: int | Executor,
    done: Done,
    *,
    renew: int | None = None,
) -> None:
    """Do ``work(*task)`` for every task in so many processes of one thread each, or where an executor does it.

    ``done`` gets the number of a task and its result, in the order in which they are finished, in this thread. After
    ``renew`` tasks a process is replaced by a fresh one. An error or an interrupt ends all of them at once, whatever
    they are doing; the tasks of a process that is killed are done again.
    """
    if isinstance(where, int):
        if where == 1 or len(tasks) < 2:
            for number, task in enumerate(tasks):
                done(number, work(*task))
            return
        where = Processes(min(where, len(tasks)))
    where.run(work, tasks, done, renew=renew)


def shared(
    work: Callable[..., Any],
    tasks: Sequence[Task],
    where: int | Executor,
    progress: Callable[[float], None] | None = None,
) -> list[Any]:
    """The results of ``work(*task)`` in the order of the tasks, which are done as by `share`."""
    found: dict[int, Any] = {}

    def done(number: int, result: Any) -> None:
        found[number] = result
        if progress is not None:
            progress(len(found) / len(tasks))

    share(work, tasks, where, done)
    return [found[number] for number in range(len(tasks))]


class Processes(Executor):
    """So many processes, by default one per core, which last as long as there are tasks."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count or cores()

    def run(
        self,
        work: Callable[..., Any],
        tasks: Iterable[Task | None],
        done: Done,
        *,
        renew: int | None = None,
        glance: Callable[[], None] | None = None,
    ) -> None:
        """See `Executor.run`; after ``renew`` tasks per process the rest is given to fresh ones."""
        if renew is None:
            super().run(work, tasks, done, glance=glance)
            return
        every, batch = [*tasks], renew * self.count
        for first in range(0, len(every), batch):
            super().run(work, every[first : first + batch], _later(done, first), glance=glance)

    @contextmanager
    def pool(self, renew: int | None) -> Iterator[Pool]:
        """Processes for the block."""
        pool = _ProcessPool(self.count)
        with warnings.catch_warnings():
            # A process that has grown too large is replaced, and loky says so.
            warnings.filterwarnings("ignore", category=UserWarning, module=_LOKY.replace(".", r"\."))
            try:
                yield pool
            except BaseException:
                pool.close(kill=True)
                raise
            pool.close()


class _ProcessPool:
    def __init__(self, count: int) -> None:
        self._count, self._loky = count, importlib.import_module(f"{_LOKY}.process_executor")
        self.lost: tuple[type[BaseException], ...] = (self._loky.TerminatedWorkerError,)
        self.slots = 2 * count
        _start_trackers()
        self._start()

    def _start(self) -> None:
        self._executor = self._loky.ProcessPoolExecutor(
            self._count, initializer=begin, initargs=(os.getpid(),), env=ONE_THREAD
        )

    def submit(self, work: Callable[..., Any], task: Task) -> Future[Any]:
        with _interrupts_held():
            future: Future[Any] = self._executor.submit(work, *task)
        return future

    def check(self) -> None:
        """A result or an error comes of itself."""

    def restart(self) -> None:
        self.close(kill=True)
        self._start()

    def close(self, *, kill: bool = False) -> None:
        self._executor.shutdown(wait=True, kill_workers=kill)


def _later(done: Done, first: int) -> Done:
    return lambda number, result: done(first + number, result)


def _start_trackers() -> None:
    """Start the processes that clean up semaphores: they do so without a word where an interrupt left them."""
    sys.warnoptions.extend(_SILENT)
    try:
        with _interrupts_held():
            for name in ("multiprocessing", f"{_LOKY}.backend"):
                importlib.import_module(f"{name}.resource_tracker").ensure_running()
    finally:
        for option in _SILENT:
            sys.warnoptions.remove(option)


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
