"""Progress on stderr for whatever takes longer than two seconds; silent where stderr is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 1.5


@contextmanager
def progress(title: str) -> Iterator[Callable[..., None]]:
    """A function to call with the fraction done and, if wished, with what is known so far.

    The bar appears once the work proves long.
    """
    started = time.monotonic()
    bar: Any = None
    task: Any = None

    def report(fraction: float, so_far: str = "") -> None:
        nonlocal bar, task
        if bar is None:
            if not sys.stderr.isatty() or time.monotonic() - started < _PATIENCE:
                return
            # Rich is imported only when a bar is drawn.
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            task = bar.add_task(title, total=1.0)
        bar.update(task, completed=fraction, description=f"{title}: {so_far}" if so_far else title)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()
