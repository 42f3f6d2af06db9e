"""What all executors have in common: tasks go out as long as there are free slots, results come in as they end."""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from ratecheck.errors import InputError

Task = tuple[Any, ...]
# Called with a task's number, in the order in which they went out, and its result.
Done = Callable[[int, Any], None]

# Seconds between looks at what is in progress.
GLANCE = 0.2
# Losses of workers in a row, without a result between them, after which the tasks are to blame.
_LOSSES = 3


class Future(Protocol):
    """A result that is to come."""

    def result(self) -> Any:
        """The result; raises what the task raised."""

    def add_done_callback(self, fn: Callable[[Any], None], /) -> None:
        """Call the function with this future once there is a result, from whatever thread."""


class Pool(Protocol):
    """A pool of workers. ``lost`` are the errors that say that workers were lost, and all that they had with them."""

    lost: tuple[type[BaseException], ...]

    @property
    def slots(self) -> int:
        """The most tasks that are handed out at once: no more than there are workers, and one each that follows."""

    def submit(self, work: Callable[..., Any], task: Task) -> Future:
        """Hand out a task."""

    def check(self) -> None:
        """Raise `InputError` where no result can come any more."""

    def restart(self) -> None:
        """Go on with other workers."""


class Executor(ABC):
    """Does tasks; ``local`` says that they share this process's memory, so that they need not be picklable."""

    local = False

    @abstractmethod
    def pool(self, renew: int | None) -> AbstractContextManager[Pool]:
        """A pool for the block; an error inside it, or an interrupt, ends what is being computed."""

    def run(
        self,
        work: Callable[..., Any],
        tasks: Iterable[Task | None],
        done: Done,
        *,
        renew: int | None = None,
        glance: Callable[[], None] | None = None,
    ) -> None:
        """Do ``work(*task)`` for every task; ``done`` gets its number and its result, in this thread.

        ``tasks`` is read for the next one when there is a free slot; it yields None where there is none at the moment.
        A process that did ``renew`` tasks is replaced by a fresh one. ``glance`` is called several times per second.
        Raises what a task raises, after which no other is handed out, and `InputError` where workers are lost again and
        again.
        """
        with self.pool(renew) as pool:
            _Flow(pool, work, done).run(iter(tasks), glance or (lambda: None))


class _Flow:
    """Tasks on their way through a pool; ``waiting`` are those that were handed out, by their future."""

    def __init__(self, pool: Pool, work: Callable[..., Any], done: Done) -> None:
        self._pool, self._work, self._done = pool, work, done
        self._waiting: dict[Any, tuple[int, Task]] = {}
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._number, self._losses = 0, 0

    def run(self, source: Iterator[Task | None], glance: Callable[[], None]) -> None:
        """Until there are no tasks and no results any more."""
        more = True
        while more or self._waiting:
            more = more and self._hand_out(source)
            if self._waiting:
                self._take_in()
            elif more:
                time.sleep(GLANCE)
            self._pool.check()
            glance()

    def _hand_out(self, source: Iterator[Task | None]) -> bool:
        """Fill the free slots; False once there are no more tasks."""
        while len(self._waiting) < self._pool.slots:
            try:
                task = next(source)
            except StopIteration:
                return False
            if task is None:
                return True
            self._submit(self._number, task)
            self._number += 1
        return True

    def _submit(self, number: int, task: Task) -> None:
        future = self._pool.submit(self._work, task)
        self._waiting[future] = number, task
        future.add_done_callback(self._ended.put)

    def _take_in(self) -> None:
        """The results that have come, or the first one, if it comes within a glance."""
        with contextlib.suppress(Empty):
            future = self._ended.get(timeout=GLANCE)
            while True:
                # Not one of a pool that was lost.
                if future in self._waiting:
                    self._take(future)
                future = self._ended.get_nowait()

    def _take(self, future: Any) -> None:
        try:
            result = future.result()
        except self._pool.lost as error:
            self._again(error)
            return
        self._losses = 0
        number, _ = self._waiting.pop(future)
        self._done(number, result)

    def _again(self, error: BaseException) -> None:
        """Hand everything out again that was with workers who are lost."""
        self._losses += 1
        if self._losses >= _LOSSES:
            raise InputError(
                f"workers were killed {self._losses} times in a row, perhaps for want of memory: take fewer of them; "
                "what was finished before is not lost where it is kept"
            ) from error
        lost = sorted(self._waiting.values(), key=lambda numbered: numbered[0])
        self._waiting.clear()
        self._pool.restart()
        for number, task in lost:
            self._submit(number, task)
