"""Work in parts that outlives an interruption: every finished part is kept beside the result until the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ratecheck.execution import share


def done(
    work: Callable[..., dict[str, Any]], tasks: Sequence[tuple[Any, ...]], jobs: int, out: Path, code: str
) -> list[dict[str, Any]]:
    """The results of all tasks, which are data, in their order; those kept by a run of the same code are taken up."""
    out.parent.mkdir(parents=True, exist_ok=True)
    kept = out.with_suffix(".parts")
    lines = kept.read_text().splitlines() if kept.exists() else []
    if lines[:1] != [code]:
        lines = [code]
        kept.write_text(f"{code}\n")
    found = {str(task): result for task, result in map(json.loads, lines[1:])}
    print(f"{len(found)} of {len(tasks)} parts are there", flush=True)
    left = [task for task in tasks if str([*task]) not in found]

    def put(number: int, result: dict[str, Any]) -> None:
        found[str([*left[number]])] = result
        with kept.open("a") as file:
            file.write(f"{json.dumps([left[number], result])}\n")
        print(f"{len(found)} of {len(tasks)} parts", flush=True)

    share(work, left, jobs, put)
    return [found[str([*task])] for task in tasks]


def write(out: Path, found: object) -> None:
    """Write the result, after which the parts are not needed."""
    out.write_text(f"{json.dumps(found, indent=1)}\n")
    out.with_suffix(".parts").unlink()
