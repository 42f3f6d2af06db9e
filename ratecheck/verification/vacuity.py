"""From which number of rounds on a bound says more than smoothness alone."""

from __future__ import annotations

from ratecheck.algebra.one_dimensional import smallest_integer
from ratecheck.settings.on_trace import StepValues
from ratecheck.stepsizes.choose import INDEPENDENT

_LARGEST_T = 10**15


def vacuity(found: StepValues) -> tuple[bool | None, int | None]:
    """Whether the first claim is vacuous, and the smallest T from which on it is not; None where that is not known.

    Step sizes that depend on T are prescribed anew for every T.
    """
    statement = found.statement
    trivial, rounds = statement.claims[0].metric.trivial, statement.vocabulary.run.get("rounds")
    # Where the statement fixes the number of rounds, another one would be another value of what fixes it.
    if trivial is None or rounds is None or rounds in statement.settings:
        return None, None
    fixed = {k: v for k, v in found.values.items() if found.chosen.get(k, "given") in INDEPENDENT}

    def vacuous(T: int) -> bool:
        return bool(statement.evaluate(**{**fixed, rounds: float(T)}).vacuous)

    from_T = None if vacuous(_LARGEST_T) else smallest_integer(lambda T: not vacuous(T), _LARGEST_T, 2.0)
    return statement.evaluate(**found.values).vacuous, from_T
