"""A limit on work for searches that may find nothing: counted, so that no answer depends on the machine or its load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LEFT: ContextVar[list[int] | None] = ContextVar("work left", default=None)


class OutOfWorkError(Exception):
    """More work than the block around it may take."""


@contextmanager
def at_most(work: int) -> Iterator[None]:
    """Raise `OutOfWorkError` inside the block where `spend` is told of more work than that."""
    before = _LEFT.set([work])
    try:
        yield
    finally:
        _LEFT.reset(before)


def spend(work: int) -> None:
    """Count work before it is done, in columns of a linear programme; of no effect where nothing limits it."""
    left = _LEFT.get()
    if left is None:
        return
    left[0] -= work
    if left[0] < 0:
        raise OutOfWorkError
