"""Tasks on the workers of a Dask scheduler, which gives those of a lost worker to another one."""

from __future__ import annotations

import contextlib
import importlib
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ratecheck.errors import InputError
from ratecheck.execution import child
from ratecheck.execution.flow import Executor, Pool, Task

# Seconds to reach the scheduler in; and after which one that does not answer any more counts as gone.
_PATIENCE = 10.0
# Seconds for which the number of workers is remembered.
_WORKERS = 2.0


@contextmanager
def connected(address: str) -> Iterator[Dask]:
    """An executor for the block; raises `InputError` without Dask, and where no scheduler answers at the address."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise InputError('--scheduler needs the extra `distributed`: pip install "ratecheck[distributed]"') from None
    log = logging.getLogger("distributed")
    before = log.level
    # What matters of it is said here, in one line.
    log.setLevel(logging.CRITICAL + 1)
    # Held before it connects, so that one that could not is closed here and now. Its own finaliser, whenever it is
    # collected, would wait for a lock that the next client may hold at that moment, on the same thread.
    client = distributed.Client.__new__(distributed.Client)
    try:
        with warnings.catch_warnings():
            # About versions: those that matter are compared by each worker's first task.
            warnings.simplefilter("ignore")
            try:
                client.__init__(address, timeout=_PATIENCE, set_as_default=False)
            except Exception as error:  # noqa: BLE001  # of a client amid its own making: anything
                reason = " ".join(str(error).split()) or type(error).__name__
                raise InputError(
                    f"--scheduler {address}: no Dask scheduler answers there, at an address such as tcp://HOST:8786 "
                    f"({reason[:160]})"
                ) from None
        yield Dask(client, address, distributed.KilledWorker)
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=1)
        log.setLevel(before)


class Dask(Executor):
    """The workers of a scheduler, as many as there are at any time."""

    def __init__(self, client: Any, address: str, killed: type[Exception]) -> None:
        self._client, self._address, self._killed = client, address, killed

    @contextmanager
    def pool(self, renew: int | None) -> Iterator[Pool]:
        """The workers for the block; at its end, however it comes about, nobody waits for what they do for it."""
        pool = _DaskPool(self._client, self._address, self._killed, renew)
        try:
            yield pool
        finally:
            pool.close()


class _DaskPool:
    lost: tuple[type[BaseException], ...] = ()

    def __init__(self, client: Any, address: str, killed: type[Exception], renew: int | None) -> None:
        self._client, self._address, self._killed, self._renew = client, address, killed, renew
        self._at_work: set[_Result] = set()
        self._seen, self._looked, self._threads = time.monotonic(), 0.0, 1

    @property
    def slots(self) -> int:
        if time.monotonic() - self._looked > _WORKERS:
            with contextlib.suppress(Exception):
                self._threads = max(sum(self._client.nthreads().values()), 1)
            self._looked = time.monotonic()
        return 2 * self._threads

    def submit(self, work: Callable[..., Any], task: Task) -> _Result:
        payload = child.packed(work, task)
        try:
            future = self._client.submit(_done, payload, self._renew, pure=False)
        except Exception as error:  # a client that is closed raises whatever it happens to
            raise self._gone() from error
        self._at_work.add(result := _Result(future, self))
        return result

    def check(self) -> None:
        if self._client.status == "running":
            self._seen = time.monotonic()
        elif self._client.status in ("closing", "closed") or time.monotonic() - self._seen > _PATIENCE:
            raise self._gone()

    def restart(self) -> None:
        """The scheduler replaces workers by itself."""

    def close(self) -> None:
        futures = [result.future for result in self._at_work]
        if futures and self._client.status == "running":
            with contextlib.suppress(Exception):
                self._client.cancel(futures)

    def ended(self, result: _Result) -> Any:
        """The value of a task that has ended."""
        self._at_work.discard(result)
        try:
            return child.unpacked(result.future.result())
        except self._killed:
            raise InputError(
                "a task was lost with every worker that tried it, perhaps for want of memory; "
                "what was finished before is not lost where it is kept"
            ) from None
        except BaseException as error:
            if type(error).__name__ in ("FutureCancelledError", "CancelledError"):
                raise self._gone() from None
            raise

    def _gone(self) -> InputError:
        return InputError(
            f"--scheduler {self._address}: the scheduler does not answer any more; what was finished before is not "
            "lost where it is kept"
        )


class _Result:
    """A future of Dask whose value is that of the task."""

    def __init__(self, future: Any, pool: _DaskPool) -> None:
        self.future, self._pool = future, pool

    def add_done_callback(self, fn: Callable[[Any], None], /) -> None:
        self.future.add_done_callback(lambda _: fn(self))

    def result(self) -> Any:
        return self._pool.ended(self)


def _done(payload: bytes, renew: int | None) -> bytes:
    """On a thread of a worker: what the process beside it answers."""
    distributed: Any = importlib.import_module("distributed")
    worker = distributed.get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        # The caller may have been interrupted.
        task = worker.state.tasks.get(key)
        return task is not None and task.state not in ("cancelled", "released", "forgotten")

    return child.request(payload, renew, wanted)
