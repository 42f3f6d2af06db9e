"""One mutant before three checks: the audit, the search for violating instances, and one default instance."""

from __future__ import annotations

from dataclasses import dataclass

from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.falsification.falsify import falsify_to_the_end
from ratecheck.outcome import Outcome
from ratecheck.selftesting.audit import AuditStatus, audited
from ratecheck.selftesting.factors import from_numbers, largest, verdict_factor
from ratecheck.selftesting.mutants import Mutant, MutationKind
from ratecheck.selftesting.seeds import seed_of
from ratecheck.selftesting.survey import DEFAULT, Survey, default_instance

# Of computing for each argument of the audit: what comes to an end does so in a tenth of it, on any machine.
_SECONDS = 300.0


@dataclass(frozen=True)
class Trial:
    """The answers of three checks on a mutant.

    ``searched`` and ``verified`` are verdicts; ``evaluations`` were spent by the search, and ``applicable`` of its
    instances met every condition; ``clocked`` says that a clock ended it. ``pool_factor`` is by what the mutant is
    false on the pool of its original (0: nowhere; None: its hypotheses or left side differ, so that no pool speaks
    about it), ``found_factor`` on the instance that the search ended with.
    """

    key: str
    original: str
    kind: MutationKind
    text: str
    audit: AuditStatus
    evidence: str
    searched: Outcome
    found_factor: float
    tightness: float | None
    evaluations: int
    applicable: int
    reasons: tuple[str, ...]
    verified: Outcome
    pool_factor: float | None
    clocked: bool = False

    @property
    def by_audit(self) -> bool:
        """Whether an argument between statements no longer gives it."""
        return self.audit is AuditStatus.CAUGHT

    @property
    def by_search(self) -> bool:
        """Whether the search found an instance that violates it."""
        return self.searched is Outcome.VIOLATED

    @property
    def by_verify(self) -> bool:
        """Whether the default instance violates it."""
        return self.verified is Outcome.VIOLATED

    @property
    def caught(self) -> bool:
        """Whether any check tells it from its original."""
        return self.by_audit or self.by_search or self.by_verify

    @property
    def contradictory(self) -> bool:
        """Whether the audit says that it follows, and an instance violates it: one of the two is wrong."""
        return self.audit is AuditStatus.HARMLESS and (self.by_search or self.by_verify or self.factor > 1)

    @property
    def factor(self) -> float:
        """The largest factor by which it is known to be false; at most 1 where it is not."""
        return max(self.found_factor, self.pool_factor or 0.0)


def tried(mutant: Mutant, survey: Survey, budget: Budget, seed: int) -> Trial:
    """Give a mutant to all three checks, and measure on the pool of its original how false it is."""
    statement = mutant.statement
    audit = audited(mutant, _SECONDS)
    try:
        found = falsify_to_the_end(statement, budget, seed=seed_of(seed, statement.key, "mutant"))
        searched, tight, reasons = found.outcome, found.tightness, found.reasons
        spent, applicable, found_factor = found.evaluations, found.applicable, verdict_factor(found.verdict)
        clocked = found.clocked
    except InputError as error:
        # Without what was changed the statement may have no value.
        searched, tight, reasons = Outcome.NOT_APPLICABLE, None, (str(error),)
        spent, applicable, found_factor, clocked = 0, 0, 0.0, False
    known = survey.pool if survey.default is None else (*survey.pool, survey.default)
    pool = largest(statement, known, SEARCHED)[0] if mutant.kind.of_right_side else None
    return Trial(
        key=statement.key,
        original=survey.key,
        kind=mutant.kind,
        text=mutant.text,
        audit=audit.status,
        evidence=f"{audit.how}: {audit.evidence}" if audit.how else audit.evidence,
        searched=searched,
        found_factor=found_factor,
        tightness=tight,
        evaluations=spent,
        applicable=applicable,
        reasons=reasons,
        verified=_verified(mutant, survey),
        pool_factor=pool,
        clocked=clocked,
    )


def _verified(mutant: Mutant, survey: Survey) -> Outcome:
    """The outcome of `verify` on the default instance; without a run where the original's left side is known."""
    statement = mutant.statement
    if mutant.kind.of_right_side and from_numbers(statement):
        if survey.default is None:
            return Outcome.NOT_APPLICABLE
        return Outcome.VIOLATED if largest(statement, (survey.default,), DEFAULT)[0] > 1 else Outcome.HOLDS
    try:
        return default_instance(statement).verdict(DEFAULT).outcome
    except InputError:
        return Outcome.NOT_APPLICABLE
