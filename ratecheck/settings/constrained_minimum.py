"""Methods that stay in a set: what their theorems say of a minimum is about that on the set.

Gaps are measured from the infimum over the whole space here, and distances to where that is. Where the minimiser is in
the set these are the same.
"""

from __future__ import annotations

import numpy as np

from ratecheck.algorithms.model.confined import excluded
from ratecheck.certification.assumptions import CERTIFICATION
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.settings.setting import Setting

# What depends on where the minimum is.
_OF_MINIMUM = frozenset({
    "gap", "change:gap", "distance2", "change:distance2", "distance2_0", "minimiser_heterogeneity", "interpolation",
    "visited_distance",
})  # fmt: skip


def outside(setting: Setting, ready: Setup) -> str | None:
    """Why the minimum over the whole space is not the one that the statement means; None where it is."""
    if ready.algorithm.linear or ready.problem.bilevel or not (about := _about(setting)):
        return None
    try:
        point = np.atleast_2d(ready.problem.centre()[0])[0]
    except InputError:
        # Nothing is measured from it then.
        return None
    where = excluded(ready.algorithm, ready.functions, ready.at(0).tossed(1.0).parameters(0), point)
    if not where:
        return None
    return (
        f"{ready.method.spoken} stays {where}, and the minimiser is outside: {', '.join(about)} would be about the "
        "minimum there, which is not known; where the minimiser is inside they are"
    )


def _about(setting: Setting) -> list[str]:
    """Symbols and assumptions of the statement that depend on where the minimum is."""
    statement, vocabulary = setting.statement, setting.statement.vocabulary
    facts, derived = vocabulary.facts, vocabulary.derived
    found = []
    for name in sorted({*statement.parameters, *statement.measured}):
        inside = {s.name for s in derived[name].free_symbols} if name in derived else set()
        if {facts.get(each) for each in (name, *inside)} & _OF_MINIMUM:
            found.append(name)
    for assumption in statement.assumptions:
        entry = CERTIFICATION[assumption]
        known = {*entry.facts.values()} & _OF_MINIMUM
        if known and not {facts.get(name) for name in found} & known:
            found.append(assumption.name.lower())
    return found
