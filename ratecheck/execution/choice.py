"""Which executor is meant: an address is that of a scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ratecheck.errors import InputError
from ratecheck.execution.cores import cores
from ratecheck.execution.flow import Executor


@contextmanager
def executor(scheduler: str | None, workers: int | None = None) -> Iterator[Executor | int]:
    """For `share`, inside the block: the workers of the scheduler at the address, or so many processes here.

    By default one per core. Raises `InputError` where there is no scheduler, where Dask is not installed, and where
    both are requested.
    """
    if scheduler is None:
        yield workers or cores()
        return
    with scheduled(scheduler, "workers", workers) as found:
        yield found


@contextmanager
def scheduled(scheduler: str, name: str, count: int | None) -> Iterator[Executor]:
    """The workers of a scheduler; a ``count`` of processes or threads here beside them is a mistake."""
    if count not in (None, 1):
        raise InputError(
            f"--{name} {count} is about this machine, and --scheduler {scheduler} has its own: give either"
        )
    from ratecheck.execution.cluster import connected

    with connected(scheduler) as found:
        yield found
