"""Whether a bound on x^T that is judged at x^(T-1) would hold with the index shifted by one.

The last of T rounds is round T-1, which T-1 rounds came before. A theorem that counts iterates from 1, or speaks of
what T rounds lead to, is wrong by one round as it is written here, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bounds.statement import Claim, Over, Statement
from ratecheck.algorithms.model.averaged import PREFIX
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.verification.verdict import Verdict


def shifted(statement: Statement) -> tuple[Statement, str] | None:
    """The statement with T-1 for T, or t-1 for t, on its right sides, and which symbol that is; None where it has none.

    Step sizes stay as they are. Where the first round would then be one before the start it is left out.
    """
    vocabulary = statement.vocabulary
    T = vocabulary.run.get("rounds", "")
    t = next(iter(vocabulary.counters), "")
    names = {s.name for claim in statement.claims for s in claim.bound.free_symbols}
    of_last = all(claim.metric.over in (Over.LAST_ROUND, Over.BEST_ROUND) for claim in statement.claims)
    of_each = all(claim.metric.over in (Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST) for claim in statement.claims)
    name = T if of_last and T in names else t if of_each and t in names else ""
    # The mean of the iterates is no round's.
    if not name or (statement.algorithm or "").startswith(PREFIX):
        return None
    symbol = vocabulary[name].symbol

    def moved(claim: Claim) -> Claim:
        over = Over.EVERY_ROUND_BUT_FIRST if of_each else claim.metric.over
        terms = {label: term.xreplace({symbol: symbol - 1}) for label, term in claim.terms.items()}
        return replace(claim, terms=terms, metric=replace(claim.metric, over=over))

    return replace(statement, claims=tuple(map(moved, statement.claims))), name


def with_shift(verdict: Verdict, again: Callable[[Statement], Verdict]) -> Verdict:
    """A violated verdict with a note where shifting the index would make the statement hold on the same run.

    ``again`` judges another statement there.
    """
    found = shifted(verdict.statement) if verdict.outcome is Outcome.VIOLATED and not verdict.impossible else None
    if found is None:
        return verdict
    statement, name = found
    try:
        other = again(statement)
    except (InputError, ArithmeticError):
        return verdict
    worst = other.worst
    # Sides that are equal on this run, as they are on quadratics of one curvature, cannot be told apart.
    equal = worst is not None and not worst.missing and abs(worst.left - worst.right) <= worst.error
    if other.outcome is not Outcome.HOLDS and not (other.outcome is Outcome.INCONCLUSIVE and equal):
        return verdict
    last = name == statement.vocabulary.run.get("rounds")
    judged, meant = (f"x^({name}-1), the last of {name} rounds", name) if last else (f"x^{name}", f"({name}+1)")
    note = (
        f"judged is {judged}: with {name}-1 for {name} on the right side it would hold here; is a bound on x^{meant} "
        "meant?"
    )
    return replace(verdict, notes=(*verdict.notes, note))
