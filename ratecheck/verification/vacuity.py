"""From which number of rounds on a bound says more than smoothness alone."""

from __future__ import annotations

from collections.abc import Callable

from bounds.statement import Statement
from ratecheck.stepsizes.choose import INDEPENDENT
from ratecheck.verification.on_trace import StepValues

_LARGEST_T = 10**15


def vacuity(statement: Statement, found: StepValues) -> tuple[bool | None, int | None]:
    """Whether the first claim is vacuous, and the smallest T from which on it is not; None where that is not known.

    Step sizes that depend on T are prescribed anew for every T.
    """
    trivial, rounds = statement.claims[0].metric.trivial, statement.vocabulary.run.get("rounds")
    if trivial is None or rounds is None:
        return None, None
    fixed = {k: v for k, v in found.values.items() if found.chosen.get(k, "given") in INDEPENDENT}

    def vacuous(T: int) -> bool:
        return bool(statement.evaluate(**{**fixed, rounds: float(T)}).vacuous)

    return statement.evaluate(**found.values).vacuous, _first_false(vacuous)


def _first_false(predicate: Callable[[int], bool]) -> int | None:
    """Smallest T at which a predicate that once false stays false is false; None where it is true throughout."""
    if predicate(_LARGEST_T):
        return None
    low, high = 0, 1
    while predicate(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if predicate(middle) else (low, middle)
    return high
