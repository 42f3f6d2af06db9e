"""A whole ledger: every step examined in worker processes, with a cache by content.

A ledger is a module with a tuple ``STEPS``, by default ``bounds.proofs.<paper>``. Workers import it themselves, since
the functions of a step do not travel between processes.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratecheck.caching import cache_root
from ratecheck.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from bounds.proofs.step import Step
    from ratecheck.checks.audit.finding import Finding
    from ratecheck.checks.audit.mutation import Tested

Progress = Callable[[float], None]


def module_of(paper: str) -> str:
    """The module with a paper's ledger."""
    return f"bounds.proofs.{paper}"


def has_ledger(paper: str) -> bool:
    """Whether there is one."""
    return importlib.util.find_spec(module_of(paper)) is not None


def load(module: str) -> tuple[Step, ...]:
    """The steps of a ledger; raises `InputError` where two have the same id."""
    steps: tuple[Step, ...] = importlib.import_module(module).STEPS
    seen: set[str] = set()
    for step in steps:
        if step.id in seen:
            raise InputError(f"{module} has two steps {step.id!r}: ids have to be unique")
        seen.add(step.id)
    return steps


class Store:
    """Findings by key, one small file each; what cannot be read or written is found anew."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = cache_root() / "audit" if folder is None else folder

    def get(self, key: str) -> Any:
        """What was kept, or None."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.folder / f"{key}.json").read_text())
        return None

    def put(self, key: str, value: Any) -> None:
        """Keep it, in one motion so that no reader sees half of it."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{key}.json"
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(value))
            part.replace(path)


def position(step: str, ids: Sequence[str]) -> int:
    """The place of a step in its ledger; raises `InputError` where there is none of this id."""
    if step not in ids:
        raise InputError(f"no step {step!r} in the ledger; {did_you_mean(step, ids)}")
    return ids.index(step)


def audit(modules: Sequence[str], progress: Progress | None = None, workers: int | None = None) -> list[Finding]:
    """The findings on every step of some ledgers, in printed order."""
    from ratecheck.checks.audit.finding import Finding

    return [Finding.read(fields) for fields in _over_steps("findings", modules, progress, workers)]


def mutate(
    modules: Sequence[str], only: str | None = None, progress: Progress | None = None, workers: int | None = None
) -> list[Tested]:
    """Every step of some ledgers, or ``only`` the one of this id, with its mutants and what became of them."""
    from ratecheck.checks.audit.mutation import Tested

    if only is None:
        return [Tested.read(fields) for fields in _over_steps("mutants", modules, progress, workers)]
    [module] = modules
    place = position(only, [step.id for step in load(module)])
    return [Tested.read(work_on("mutants", module, place, str(Store().folder)))]


def _over_steps(
    work: str, modules: Sequence[str], progress: Progress | None, workers: int | None
) -> list[dict[str, Any]]:
    """What some work yields for every step of some ledgers; a ledger whose sources are known is not even imported."""
    from ratecheck.checks.audit.content import sources_digest

    store = Store()
    keys = {module: f"{work}-{module}-{sources_digest(module, importlib.util.find_spec)}" for module in modules}
    found = {module: store.get(key) for module, key in keys.items()}
    missing = [module for module, fields in found.items() if fields is None]
    tasks = [(work, module, number) for module in missing for number in range(len(load(module)))]
    results = _run(tasks, store, progress or (lambda _: None), workers or os.cpu_count() or 1)
    for module in missing:
        found[module] = [results[task] for task in tasks if task[1] == module]
        store.put(keys[module], found[module])
    return [fields for module in modules for fields in found[module]]


Task = tuple[str, str, int]


def _run(tasks: Sequence[Task], store: Store, progress: Progress, workers: int) -> dict[Task, dict[str, Any]]:
    results = {}
    if workers == 1 or len(tasks) < 2:
        for done, task in enumerate(tasks):
            results[task] = work_on(*task, str(store.folder))
            progress((done + 1) / len(tasks))
        return results
    others = multiprocessing.active_children()
    # Workers are started anew: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    with _one_thread_each(), ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context) as pool:
        with _deaf_to_interrupts():
            futures = {pool.submit(work_on, *task, str(store.folder)): task for task in tasks}
        try:
            for done, future in enumerate(as_completed(futures)):
                results[futures[future]] = future.result()
                progress((done + 1) / len(tasks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - set(others):
                worker.terminate()
            raise
    return results


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started inside ignore Ctrl-C: they end when this one says so, not while they hold a lock."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers of one thread: there is one of them per core."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def work_on(work: str, module: str, position: int, folder: str) -> dict[str, Any]:
    """What some work yields for one step, as data; from the cache where the step's content is known."""
    from ratecheck.checks.audit.content import checker_digest, step_digest
    from ratecheck.checks.audit.finding import examine_step
    from ratecheck.checks.audit.mutation import test_step

    store = Store(Path(folder))
    step = importlib.import_module(module).STEPS[position]
    key = f"{work}-{checker_digest()}-{step_digest(step)}"
    kept = store.get(key)
    if kept is None:
        kept = (examine_step(step) if work == "findings" else test_step(step)).fields()
        store.put(key, kept)
    found: dict[str, Any] = kept
    return found
