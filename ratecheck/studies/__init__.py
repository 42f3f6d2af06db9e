"""Studies: files that say what to run and what is claimed about it, a store of results, checks of the claims."""

from ratecheck.studies.claims import ClaimResult, Findings, Verdict, judge
from ratecheck.studies.execute import run_study
from ratecheck.studies.store import Store
from ratecheck.studies.study import Claim, Curve, Figure, Study, load

__all__ = [
    "Claim",
    "ClaimResult",
    "Curve",
    "Figure",
    "Findings",
    "Store",
    "Study",
    "Verdict",
    "judge",
    "load",
    "run_study",
]
