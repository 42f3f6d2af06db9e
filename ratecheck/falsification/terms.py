"""Where each term of a bound is needed most: hard instances of the rate card, at sizes that a search does not reach.

A bound is tight at one round for a trivial reason, and whatever is looked for on the whole of it ends there: what is
wrong in the noise, or in how the number of clients enters, hides behind the term that is largest. So every term has a
niche of its own: settings where it is at least `SHARE` of the bound, with up to 10^5 clients, 10^6 local steps and 10^9
rounds, and there the hardest of the one-dimensional instances of `exponents.hard_instances`, whose cost does not grow
with these sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import sympy as sp

from bounds.roots import shown
from bounds.statement import Statement
from ratecheck.aliases import Progress
from ratecheck.certification.certified_constants import DELAYS
from ratecheck.errors import InputError
from ratecheck.exponents import regimes
from ratecheck.exponents.card import MARGIN, Violation, columns, first_violation, right
from ratecheck.exponents.families.hard import Hard
from ratecheck.exponents.hard_instances import covered, of_alike_alone, unknown, worst
from ratecheck.exponents.regimes import Bound, Regime, TermRow
from ratecheck.exponents.sweep import unmeasurable
from ratecheck.falsification.unconfirmed import Unconfirmed, larger

# Settings that are tried for a niche, again and again: a rate card looks at more.
_TRIES = 600


@dataclass(frozen=True)
class Niche:
    """The hardest instance found where the term of ``row`` decides the bound, and left side / right side there.

    Without an instance ``reason`` says why. ``violation`` is one at which the left side passes the bound.
    """

    row: TermRow
    tightness: float | None = None
    hard: Hard | None = None
    reason: str = ""
    violation: Violation | None = None

    @property
    def refuted(self) -> bool:
        """Whether `verify` confirms a violation."""
        return self.violation is not None and self.violation.confirmed

    @property
    def at(self) -> str:
        """The sizes of the instance; empty without one."""
        if self.hard is None:
            return ""
        values = self.hard.values
        sizes = (name for name in self.hard.statement.vocabulary.run.values() if name in values)
        return ", ".join(f"{name}={values[name]:.4g}" for name in sizes)

    @property
    def unconfirmed(self) -> Unconfirmed | None:
        """The violation, if there is one that `verify` does not confirm."""
        if self.violation is None or self.refuted:
            return None
        ratio = self.violation.left / self.violation.bound
        return Unconfirmed(ratio, f"the term {self.row.name}, {self.at}", self.violation.doubt)


@dataclass(frozen=True)
class ByTerm:
    """A niche per term, and per constant that alone makes a term large; ``reason`` says why there are none."""

    niches: tuple[Niche, ...] = ()
    reason: str = ""

    @property
    def violation(self) -> Violation | None:
        """The first violation that `verify` confirms; None without one."""
        return next((niche.violation for niche in self.niches if niche.refuted), None)

    @property
    def unconfirmed(self) -> Unconfirmed | None:
        """The largest excess that `verify` does not confirm; None without one."""
        return larger(*(niche.unconfirmed for niche in self.niches))

    @property
    def hardest(self) -> Hard | None:
        """The instance with the largest left side / right side; None where there is none."""
        return max(self.niches, key=lambda niche: niche.tightness or 0.0).hard if self.niches else None


def by_term(
    statement: Statement, *, seed: int = 0, report: Progress | None = None, late: Callable[[], bool] = lambda: False
) -> ByTerm:
    """The niches of a statement, up to the first violation that `verify` confirms; none is begun once it is late."""
    statement = in_parts(statement)
    if reason := "" if of_alike_alone(statement) else unmeasurable(statement):
        return ByTerm(reason=reason)
    try:
        covered(statement)
    except InputError as error:
        return ByTerm(reason=str(error))
    bound = Bound(statement)
    found = []
    rows = regimes.rows(statement, bound)
    for number, row in enumerate(rows):
        if late():
            break
        found.append(_niche(statement, bound, row, seed))
        if report is not None:
            report((number + 1) / len(rows))
        if found[-1].refuted:
            break
    return ByTerm(tuple(found))


def in_parts(statement: Statement) -> Statement:
    """The statement with the summands of its first right side as its terms, where it was written as one term."""
    first, *others = statement.claims
    (only, *more) = first.terms.values()
    parts = sp.Add.make_args(only)
    if more or len(parts) == 1:
        return statement
    return replace(statement, claims=(replace(first, terms={str(shown(part)): part for part in parts}), *others))


def _niche(statement: Statement, bound: Bound, row: TermRow, seed: int) -> Niche:
    if known := unknown(statement, row.scale):
        return Niche(row, reason=known)
    best, reason = Niche(row), ""
    passed: Niche | None = None
    for regime in _regimes(statement, bound, row, seed):
        if isinstance(regime, str):
            reason = reason or regime
            continue
        ends = (regime.values[0], regime.values[-1])
        try:
            hard = [worst(statement, regime.at(x), row.scale) for x in ends]
        except InputError as error:
            reason = reason or str(error)
            continue
        _, total = right(bound, row, hard)
        for each, side in zip(hard, total, strict=True):
            # What passes the bound is a violation, confirmed or open, unless it is rounding or `verify` says otherwise.
            if 0 < each.left <= (1 + MARGIN) * side and each.left / side > (best.tightness or 0.0):
                best = Niche(row, float(each.left / side), each)
        violation = first_violation(statement, bound, regime, ends, hard, clear=1.0)
        if violation is not None and (violation.confirmed or passed is None):
            passed = Niche(row, violation.left / violation.bound, violation.hard, violation=violation)
        if passed is not None and passed.refuted:
            break
    best = passed or best
    return best if best.hard is not None else Niche(row, reason=reason or "no instance was found on which it is needed")


def _regimes(statement: Statement, bound: Bound, row: TermRow, seed: int) -> Iterator[Regime | str]:
    """Where the term decides the bound while one of the sizes of the run, or a delay, runs over its range."""
    vocabulary = statement.vocabulary
    sizes = {*vocabulary.run.values()}
    for name in columns(statement, bound):
        if name in sizes or vocabulary.facts.get(name) in DELAYS:
            yield regimes.find(statement, row, name, seed=seed, bound=bound, tries=_TRIES)
