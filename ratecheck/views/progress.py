"""Progress on stderr for whatever takes longer than two seconds; silent where stderr is not a terminal."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Seconds before anything is shown, and between two looks at the numbers.
_PATIENCE, _GLANCE = 1.0, 0.1
# Work that takes more seconds than that says so as soon as its pace is known.
_LONG = 10.0

_shown = threading.Lock()


class _Bar:
    """A progress bar: the share of the work that is done, and the thread that draws it.

    Work reports from whatever thread it runs in, so a report is an assignment of numbers and nothing else.
    """

    def __init__(self, title: str) -> None:
        # Not at the top: help needs no theory.
        from ratecheck.errors import printable

        self.title = printable(title)
        self.known: tuple[float | None, str] = (None, "")
        self._begun = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw, name="progress", daemon=True)

    def report(self, fraction: float, so_far: str = "") -> None:
        """Note the fraction done and what is known so far."""
        self.known = fraction, so_far

    def begin(self) -> None:
        """Start the thread that draws."""
        self._thread.start()

    def end(self) -> None:
        """Take the bar away; nothing is drawn after this."""
        self._over.set()
        self._thread.join()

    def _draw(self) -> None:
        if self._over.wait(_PATIENCE):
            return
        # A terminal that goes away, or that cannot draw, is no reason to fail.
        with contextlib.suppress(Exception):
            self._draw_until_over()

    def _draw_until_over(self) -> None:
        # Rich is imported only when a bar is drawn.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (
            # Keys and paths may have brackets, which are no markup.
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
        )
        bar = Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        task = bar.add_task(self.title, total=None)
        bar.start()
        try:
            while not self._over.wait(_GLANCE):
                fraction, so_far = self.known
                in_all = expected(time.monotonic() - self._begun, fraction)
                text = ", ".join(filter(None, (so_far, _compiling(), in_all)))
                known: dict[str, Any] = {"description": f"{self.title}: {text}" if text else self.title}
                if fraction is not None and math.isfinite(fraction):
                    known |= {"total": 1.0, "completed": min(max(fraction, 0.0), 1.0)}
                bar.update(task, refresh=True, **known)
        finally:
            bar.stop()


def expected(elapsed: float, fraction: float | None) -> str:
    """How long the work takes in all at its pace so far, in words; empty where that is no more than ten seconds.

    ``fraction`` of it took ``elapsed`` seconds. Work that ends early, as replicates that decide do, takes less.
    """
    if fraction is None or not 0 < fraction < 1 or elapsed <= _LONG * fraction:
        return ""
    seconds = elapsed / fraction
    return f"up to about {seconds:.0f} s" if seconds < 100 else f"up to about {seconds / 60:.0f} min"


def _compiling() -> str:
    """Whether kernels are being compiled at this moment, which happens once per installation."""
    module = sys.modules.get("ratecheck.kernels.compile")
    underway = None if module is None else getattr(module, "underway", None)
    return "compiling, once" if underway is not None and underway() else ""


@contextmanager
def progress(title: str) -> Iterator[Callable[..., None]]:
    """A function to call with the fraction done and, if wished, with what is known so far; from any thread.

    The bar appears once the work proves long. Work inside of work is not shown apart.
    """
    bar = _Bar(title)
    if not (terminal() and _shown.acquire(blocking=False)):
        yield bar.report
        return
    try:
        bar.begin()
        try:
            yield bar.report
        finally:
            bar.end()
    finally:
        _shown.release()


def terminal() -> bool:
    """Whether someone looks at stderr."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False
