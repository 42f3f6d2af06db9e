"""Studies: files that say what to run and what is claimed about it, a store of results, checks of the claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ratecheck.studies.claims import ClaimResult, ClaimVerdict, Findings, judge
from ratecheck.studies.execute import run_study
from ratecheck.studies.storage.store import RunStore
from ratecheck.studies.study import Curve, Figure, Study, StudyClaim

__all__ = [
    "ClaimResult",
    "ClaimVerdict",
    "Curve",
    "Figure",
    "Findings",
    "RunStore",
    "Study",
    "StudyClaim",
    "judge",
    "load",
    "run_study",
]


def load(path: Path, theorems: Sequence[str | Path] = ()) -> Study:
    """Read and check a study file, which runs no Python but the files of ``theorems`` whose statements it names.

    Raises `InputError` with one line that names the file and the key.
    """
    # What checks files is imported with the first one: workers, and tables of results, do without.
    from ratecheck.studies import loading

    return loading.load(path, theorems)
