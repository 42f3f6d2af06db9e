"""The audit of proofs: every step of a ledger certified, refuted or left open, and what follows for the statements."""

from ratecheck.auditing.conclusions import Conclusion, Erratum, Standing, conclude, errata
from ratecheck.auditing.finding import StepResult, StepVerdict, examine_step
from ratecheck.auditing.ledger import audit, has_ledger, module_of, mutate, position
from ratecheck.auditing.mutation import ChangedStep, MutantStatus, MutationSummary, Tested, summarise

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
