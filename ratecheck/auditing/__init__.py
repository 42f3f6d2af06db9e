"""The audit of proofs: every step of a ledger certified, refuted or left open, and what follows for the statements."""

from ratecheck.auditing.conclusions import Conclusion, Erratum, Standing, conclude, errata
from ratecheck.auditing.finding import Finding, StepVerdict, examine_step
from ratecheck.auditing.ledger import audit, has_ledger, module_of, mutate, position
from ratecheck.auditing.mutation import Fate, Mutated, Summary, Tested, summarise

__all__ = [
    "Conclusion",
    "Erratum",
    "Fate",
    "Finding",
    "Mutated",
    "Standing",
    "StepVerdict",
    "Summary",
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
