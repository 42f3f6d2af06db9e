"""Settings at which equal sides say little of the bound: sizes of 1, everybody there, and constants that play no part.

With one client nothing is sampled and nobody differs, in one round nothing has happened yet, and without noise its term
is 0: a statement that is wrong in any of them may be an equality there.
"""

from __future__ import annotations

from collections.abc import Mapping

from bounds.statement import Statement, names_in, number
from ratecheck.exponents.regimes import DISTURBANCES, UNITS
from ratecheck.settings.applicability import free_sizes

# A share of the bound that is none.
_NONE = 1e-6
_STARTS = tuple(fact for fact in UNITS if fact != "L")


def edges(statement: Statement, values: Mapping[str, float]) -> tuple[str, ...]:
    """What the statement leaves open and is at its edge here, such as ``n=1``, ``m=n``, ``sigma_u=0``."""
    run, facts = statement.vocabulary.run, statement.vocabulary.facts
    free = {name for name in free_sizes(statement) if name in values and name not in statement.settings}
    found = [f"{name}=1" for role, name in run.items() if role != "participants" and name in free and values[name] == 1]
    n, m = run.get("clients", ""), run.get("participants", "")
    # A constant may stand in the bound under another name, such as a squared distance under that of its root.
    bound = statement.written.claims[0].bound
    open_ones = [name for name in statement.parameters if name in values and name not in statement.settings]
    disturbing = [name for name in open_ones if facts.get(name) in DISTURBANCES]
    if not (m in free or disturbing or n in names_in(bound)):
        # As many copies of the client do the same.
        found = [each for each in found if each != f"{n}=1"]
    if m in free and values.get(n, 1) > 1 and values[m] == values[n]:
        found.append(f"{m}={n}")
    # Of a bound with quantities of the run, such as the round t, the values alone say only which constants are 0.
    known = names_in(bound) if names_in(bound) <= values.keys() else set()
    for name in (*disturbing, *(name for name in open_ones if facts.get(name) in _STARTS)):
        if name not in known:
            found += [f"{name}=0"] if values[name] == 0 else []
            continue
        whole, without = (number(bound, {**values, name: value}) for value in (values[name], 0.0))
        if abs(whole - without) <= _NONE * abs(whole):
            found.append(f"{name}=0" if values[name] == 0 else f"next to no {name}")
    return tuple(found)
