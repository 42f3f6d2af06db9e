"""Valid instances far apart: many clients, long runs, and units in which numbers are tiny or huge.

`tally` evaluates many of them and counts the verdicts. A sound statement is never violated; what float64 and the
interval engine leave open is listed with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import bounds
from bounds.ledger.refuted import refuted
from ratecheck.errors import InputError
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.outcome import Outcome
from ratecheck.selftesting.seeds import seed_of
from ratecheck.selftesting.survey import searchable
from ratecheck.selftesting.wide import instance
from ratecheck.verification.instance import Instance
from ratecheck.verification.verdict import Verdict

Array = np.ndarray
# How an instance is evaluated.
_OPTIONS = replace(SEARCHED, rigorous=True, replicates=256, level=1e-4)


@dataclass
class Tally:
    """The number of verdicts of each kind, the VIOLATED and DIVERGED, reasons of open ones, and refused inputs."""

    counts: Counter[Outcome] = field(default_factory=Counter)
    accused: list[tuple[str, Instance, Verdict]] = field(default_factory=list)
    open: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def decided(self) -> int:
        """Instances about which the statement says something."""
        return sum(count for outcome, count in self.counts.items() if outcome is not Outcome.NOT_APPLICABLE)

    @property
    def undecided(self) -> float:
        """The share of them that is neither HOLDS nor VIOLATED."""
        known = self.counts[Outcome.HOLDS] + self.counts[Outcome.VIOLATED]
        return 1 - known / self.decided if self.decided else 0.0


def statements() -> list[str]:
    """Keys of the catalogue that have instances and are not known to be false."""
    keys = [s.key for paper in bounds.PAPERS for s in bounds.statements(paper) if not s.order_only]
    return [key for key in keys if refuted(bounds.get(key)) is None and searchable(bounds.get(key))]


def tally(keys: Sequence[str], numbers: Iterable[int], seed: int = 0) -> Tally:
    """Evaluate the instances of these numbers, of each statement in turn; each depends on its own number alone."""
    found = Tally()
    for k in numbers:
        key = keys[k % len(keys)]
        rng = np.random.default_rng([seed_of(seed, key, "wide"), k])
        made = instance(bounds.get(key), rng)
        if made is None:
            found.refused[key, "no instance was met"] += 1
            continue
        try:
            verdict = made.verdict(_OPTIONS)
        except InputError as error:
            found.refused[key, str(error)[:120]] += 1
            continue
        found.counts[verdict.outcome] += 1
        if verdict.outcome in (Outcome.VIOLATED, Outcome.DIVERGED):
            found.accused.append((key, made, verdict))
        if verdict.outcome in (Outcome.INCONCLUSIVE, Outcome.DIVERGED):
            found.open[key, "; ".join(verdict.reasons)[:120]] += 1
    return found
