"""Studies: files that say what to run and what is claimed about it, a store of results, checks of the claims."""

from ratecheck.studies.claims import ClaimResult, ClaimVerdict, Findings, judge
from ratecheck.studies.execute import run_study
from ratecheck.studies.store import RunStore
from ratecheck.studies.study import Curve, Figure, Study, StudyClaim, load

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
