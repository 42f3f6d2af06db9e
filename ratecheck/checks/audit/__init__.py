"""The audit of proofs: every step of a ledger certified, refuted or left open, and what follows for the statements."""

from ratecheck.checks.audit.conclusions import Conclusion, Erratum, Standing, conclude, errata
from ratecheck.checks.audit.finding import Finding, StepVerdict, examine_step
from ratecheck.checks.audit.ledger import audit, has_ledger, module_of, mutate, position
from ratecheck.checks.audit.mutation import Fate, Mutated, Summary, Tested, summarise

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
