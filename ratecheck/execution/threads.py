"""Tasks on threads of this process, for work that leaves the interpreter's lock: simulations do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from ratecheck.execution.cores import cores
from ratecheck.execution.flow import Executor, Pool, Task


class Threads(Executor):
    """So many threads, by default one per core; tasks end soon once ``stop`` is set, for which they look themselves."""

    local = True

    def __init__(self, count: int | None = None) -> None:
        self.count, self.stop = count or cores(), threading.Event()

    @contextmanager
    def pool(self, renew: int | None) -> Iterator[Pool]:
        """Threads for the block; they are never renewed."""
        self.stop.clear()
        with ThreadPoolExecutor(self.count) as threads:
            try:
                yield _ThreadPool(threads, self.count)
            except BaseException:
                self.stop.set()
                threads.shutdown(wait=False, cancel_futures=True)
                raise


class _ThreadPool:
    lost: tuple[type[BaseException], ...] = ()

    def __init__(self, threads: ThreadPoolExecutor, count: int) -> None:
        self._threads, self.slots = threads, 2 * count

    def submit(self, work: Callable[..., Any], task: Task) -> Future[Any]:
        return self._threads.submit(work, *task)

    def check(self) -> None:
        """Threads are not lost."""

    def restart(self) -> None:
        """Nor are they replaced."""
