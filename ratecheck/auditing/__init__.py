"""The audit of proofs: every step of a ledger certified, refuted or left open, and what follows for the statements.

The names are loaded when first used: what the audit keeps about false statements (`refuted`) is asked for by commands
that need none of its solvers.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ratecheck.auditing.conclusions import Conclusion, Erratum, Standing, conclude, errata
    from ratecheck.auditing.finding import StepResult, StepVerdict, examine_step
    from ratecheck.auditing.ledger import audit, has_ledger, module_of, mutate, position
    from ratecheck.auditing.mutation import ChangedStep, MutantStatus, MutationSummary, Tested, summarise

# Name -> module of this package.
_PLACES = {
    "Conclusion": "conclusions",
    "Erratum": "conclusions",
    "Standing": "conclusions",
    "conclude": "conclusions",
    "errata": "conclusions",
    "StepResult": "finding",
    "StepVerdict": "finding",
    "examine_step": "finding",
    "audit": "ledger",
    "has_ledger": "ledger",
    "module_of": "ledger",
    "mutate": "ledger",
    "position": "ledger",
    "ChangedStep": "mutation",
    "MutantStatus": "mutation",
    "MutationSummary": "mutation",
    "Tested": "mutation",
    "summarise": "mutation",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)


__all__ = [
    "ChangedStep",
    "Conclusion",
    "Erratum",
    "MutantStatus",
    "MutationSummary",
    "Standing",
    "StepResult",
    "StepVerdict",
    "Tested",
    "audit",
    "conclude",
    "errata",
    "examine_step",
    "has_ledger",
    "module_of",
    "mutate",
    "position",
    "summarise",
]
