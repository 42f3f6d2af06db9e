"""A whole ledger: every step examined in worker processes, with a cache by content.

A ledger is a module with a tuple ``STEPS``, by default the ``proofs`` of a paper in `bounds.papers`, or a file of a
user's own with such a tuple. Workers import the module, or run what the file held, themselves, since the functions of a
step do not travel between processes.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import json
import platform
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bounds import papers
from bounds.ledger.fault import by_step
from bounds.ledger.own import OwnLedger
from ratecheck.aliases import Progress
from ratecheck.caching import Store
from ratecheck.errors import InputError, did_you_mean
from ratecheck.execution import Executor, cores, share
from ratecheck.plain import plain, read

if TYPE_CHECKING:
    from bounds.ledger.step import Step
    from ratecheck.auditing.finding import StepResult
    from ratecheck.auditing.mutation.analysis import Tested

# The name of a module, or a file of a user's own as it was read.
Ledger: TypeAlias = str | OwnLedger


def module_of(paper: str) -> str:
    """The module with a paper's ledger."""
    return papers.module_of(paper, "proofs")


def has_ledger(paper: str) -> bool:
    """Whether there is one."""
    return papers.has(paper, "proofs")


def load(module: Ledger) -> tuple[Step, ...]:
    """The steps of a ledger; raises `InputError` where two have the same id, or where a user's own cannot be used."""
    steps = _steps(module)
    seen: set[str] = set()
    for step in steps:
        if step.id in seen:
            raise InputError(f"{module} has two steps {step.id!r}: ids have to be unique")
        seen.add(step.id)
    return steps


def _steps(ledger: Ledger) -> tuple[Step, ...]:
    if isinstance(ledger, OwnLedger):
        return ledger.steps
    steps: tuple[Step, ...] = importlib.import_module(ledger).STEPS
    return steps


class ResultStore:
    """Findings by key, as JSON in a `Store`, which returns an entry as it was written or not at all."""

    def __init__(self, folder: Path | None = None) -> None:
        self._store = Store.of("audit", ".json") if folder is None else Store(folder, ".json")
        self.folder = self._store.folder

    def get(self, key: str) -> Any:
        """The kept result, or None."""
        return json.loads(self._store.get(key) or b"null")

    def put(self, key: str, value: Any) -> None:
        """Keep it."""
        self._store.put(key, json.dumps(value).encode())


def one(module: Ledger, step: str) -> tuple[str, ...]:
    """The id of a step of a ledger; raises `InputError` where there is none of this id."""
    ids = [each.id for each in load(module)]
    if step not in ids:
        raise InputError(f"no step {step!r} in the ledger; {did_you_mean(step, ids)}")
    return (step,)


def audit(
    modules: Sequence[Ledger],
    ids: Collection[str] | None = None,
    progress: Progress | None = None,
    workers: int | Executor | None = None,
    *,
    room: bool = False,
) -> list[StepResult]:
    """The findings on the steps of some ledgers, all of them or those of ``ids`` alone, in printed order.

    With ``room`` also what hypotheses are not needed and what slack constants have.
    """
    from ratecheck.auditing.finding import StepResult

    found = []
    for ledger, fields in _over_steps("room" if room else "findings", modules, ids, progress, workers):
        result = read(StepResult, fields)
        if isinstance(ledger, OwnLedger):
            found.append(dataclasses.replace(result, file=ledger.path).filed(ledger.faults.get(result.id)))
        else:
            found.append(result.filed(by_step(result.paper).get(result.id)))
    return found


def certificates(
    modules: Sequence[Ledger],
    ids: Collection[str] | None = None,
    progress: Progress | None = None,
    workers: int | Executor | None = None,
) -> list[dict[str, Any]]:
    """The certificates of the steps of some ledgers, all or those of ``ids`` alone; see `certificates.exported`."""
    found = _over_steps("certificates", modules, ids, progress, workers)
    return [{**fields, "file": ledger.path} if isinstance(ledger, OwnLedger) else fields for ledger, fields in found]


def mutate(
    modules: Sequence[Ledger],
    ids: Collection[str] | None = None,
    progress: Progress | None = None,
    workers: int | Executor | None = None,
) -> list[Tested]:
    """The steps of some ledgers, all or those of ``ids`` alone, with their mutants and what became of them."""
    from ratecheck.auditing.mutation.analysis import Tested

    found = _over_steps("mutants", modules, ids, progress, workers)
    return [
        dataclasses.replace(read(Tested, fields), file=ledger.path if isinstance(ledger, OwnLedger) else "")
        for ledger, fields in found
    ]


def _over_steps(
    work: str,
    modules: Sequence[Ledger],
    ids: Collection[str] | None,
    progress: Progress | None,
    workers: int | Executor | None,
) -> list[tuple[Ledger, dict[str, Any]]]:
    """The results of some work on the steps of some ledgers; a ledger whose sources are known is not even imported.

    Of a user's own file nothing is kept as a whole: what it reads and imports is not known.
    """
    from ratecheck.auditing.cache_key import sources_digest

    store = ResultStore()
    progress, workers = progress or (lambda _: None), workers or cores()
    if ids is not None or any(isinstance(each, OwnLedger) for each in modules):
        places = [
            (work, each, k) for each in modules for k, step in enumerate(load(each)) if ids is None or step.id in ids
        ]
        picked = _run(places, store, progress, workers)
        return [(task[1], picked[task][0]) for task in places]
    keys = {
        module: f"{work}-{module}-{sources_digest(module, importlib.util.find_spec)}" for module in map(str, modules)
    }
    found = {module: store.get(key) for module, key in keys.items()}
    missing = [module for module, fields in found.items() if fields is None]
    tasks: list[Task] = [(work, module, number) for module in missing for number in range(len(load(module)))]
    results = _run(tasks, store, progress, workers)
    for module in missing:
        mine = [results[task] for task in tasks if task[1] == module]
        found[module] = [fields for fields, _ in mine]
        if all(lasting for _, lasting in mine):
            store.put(keys[module], found[module])
    return [(module, fields) for module in modules for fields in found[str(module)]]


Task = tuple[str, Ledger, int]


def _run(
    tasks: Sequence[Task], store: ResultStore, progress: Progress, workers: int | Executor
) -> dict[Task, tuple[dict[str, Any], bool]]:
    results: dict[Task, tuple[dict[str, Any], bool]] = {}
    elsewhere = isinstance(workers, Executor)
    if elsewhere:
        # Other machines have caches of their own: what they find is kept here as well, and not requested again.
        keys = {task: _step_key(*task) for task in tasks}
        kept = {task: store.get(key) for task, key in keys.items() if key is not None}
        results = {task: (found, True) for task, found in kept.items() if found is not None}
    missing = [task for task in tasks if task not in results]

    def done(number: int, result: tuple[dict[str, Any], bool]) -> None:
        task = missing[number]
        results[task] = result
        key = _step_key(*task) if elsewhere and result[1] else None
        if key is not None:
            store.put(key, result[0])
        progress(len(results) / len(tasks))

    folder = None if elsewhere or store.folder is None else str(store.folder)
    share(work_on, [(*task, folder) for task in missing], workers, done)
    return results


def _computed_from(module: Ledger, position: int) -> dict[str, str]:
    """The hashes of a step and of all code that has a say in what is found of it; empty where they are not known.

    A function of a user's own may call, import and read whatever it likes, so that its content is not known.
    """
    from ratecheck.auditing.cache_key import checker_digest, formulas_alone, step_digest

    step = _steps(module)[position]
    if isinstance(module, OwnLedger) and not formulas_alone(step):
        return {}
    return {"input": step_digest(step), "checker": checker_digest()}


def _step_key(work: str, module: Ledger, position: int) -> str | None:
    """Under which the result on a step is kept: what it is computed from; None where it is not kept."""
    known = _computed_from(module, position)
    return f"{work}-{known['checker']}-{known['input']}" if known else None


def _is_kept(work: str, module: Ledger, position: int, store: ResultStore) -> bool:
    key = _step_key(work, module, position)
    return key is not None and store.get(key) is not None


def work_on(work: str, module: Ledger, position: int, folder: str | None) -> tuple[dict[str, Any], bool]:
    """The result of some work on one step, as data; from the cache where the step's content is known.

    Also whether it is the same in every run: where z3 had to be killed it is not, and it is not kept.
    """
    from ratecheck.algebra.positivity.smt import SOLVER
    from ratecheck.auditing.export.certificates import exported
    from ratecheck.auditing.finding import OUT_OF_TIME, StepResult, examine_step
    from ratecheck.auditing.mutation.analysis import test_step

    store = ResultStore(None if folder is None else Path(folder))
    try:
        step = _steps(module)[position]
    except InputError as error:
        if isinstance(module, OwnLedger) and not module.place.is_file():
            raise InputError(f"{error}; this was on {platform.node()}, which has no {module.place}") from None
        raise
    key = _step_key(work, module, position)
    kept = None if key is None else store.get(key)
    lasting = True
    if kept is None:
        killed = SOLVER.killed
        if work == "certificates":
            # A verdict is the same with findings on slack beside it.
            known = [each for each in ("findings", "room") if _is_kept(each, module, position, store)]
            found, lasting = work_on((known or ["findings"])[0], module, position, folder)
            kept = exported(step, read(StepResult, found))
        else:
            if work == "mutants":
                kept = plain(test_step(step))
            else:
                kept = plain(examine_step(step, room=work == "room"))
                kept["computed_from"] = _computed_from(module, position)
            lasting = SOLVER.killed == killed and OUT_OF_TIME not in (
                kept.get("evidence"),
                kept.get("repaired_evidence"),
            )
        if lasting and key is not None:
            store.put(key, kept)
    result: dict[str, Any] = kept
    return result, lasting and key is not None
