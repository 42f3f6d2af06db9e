"""A cell computed by another process, perhaps elsewhere: from its definition, and only if it is the same cell."""

from __future__ import annotations

import contextlib
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ratecheck import caching
from ratecheck.aliases import Progress
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.problems import Problem
from ratecheck.studies.instance import setup_of, tested_on
from ratecheck.studies.models import ModelKernel
from ratecheck.studies.storage.cell_file import Records
from ratecheck.studies.storage.store import cell_key
from ratecheck.studies.study import Curve

try:
    import fcntl
except ImportError:  # Windows: kernels may be compiled by several processes at once
    fcntl = None  # type: ignore[assignment]


def simulated(
    setup: Setup, test: Problem | None, seed: int, first: int, count: int, progress: Progress | None = None
) -> Records:
    """So many replicates from ``first`` on; the samples of ``test`` are what models are tested on, if they are."""
    kernel = None if test is None else ModelKernel(setup, test)
    run = stepwise.simulate(
        setup, seed=seed, first_replicate=first, replicates=count, threads=1, progress=progress, kernel=kernel
    )
    return run.records


def computed(
    curve: Curve, more: tuple[str, ...], measured: bool, seed: int, key: str, first: int, count: int
) -> Records:
    """So many replicates of a cell from ``first`` on; it records ``more``, and its models where they are ``measured``.

    Raises `InputError` unless the cell has this key here too: the same numbers, code, compiler and NumPy.
    """
    setup, test = setup_of(curve, more), tested_on(curve) if measured else None
    if cell_key(setup, seed, test) != key:
        raise InputError(
            f"figure {curve.figure!r}, {curve.name} is another cell on the worker {platform.node()}: its data, its "
            "kind of processor, RATECHECK_KERNELS or its versions are not those of this machine"
        )
    _warmed(setup)
    return simulated(setup, test, seed, first, count)


# Whether the kernels are there in this process.
_warm = threading.Event()


def _warmed(setup: Setup) -> None:
    """Have the kernels compiled before the first cell, by one process of each machine; the others find them."""
    if not _warm.is_set():
        with _alone():
            stepwise.simulate(replace(setup, T=1), replicates=1, threads=1)
        _warm.set()


@contextmanager
def _alone() -> Iterator[None]:
    """One process of this machine at a time, where there is a cache that the next one finds."""
    root = caching.cache_root()
    if fcntl is None or root is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            root.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context((Path(root) / "compiling.lock").open("wb"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
