"""The use of local steps: the bound and the worst case found over K at one setting, its step sizes prescribed anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.exponents.hard_instances import worst
from ratecheck.exponents.regimes import Bound

_POINTS = 13


@dataclass(frozen=True)
class LocalSteps:
    """Both sides over local steps ``values``, each (points,); ``label`` says which case it is, such as m = n."""

    statement: Statement
    label: str
    setting: Mapping[str, float]
    values: Array
    bound: Array
    worst: Array


def local_steps(statement: Statement, label: str, setting: Mapping[str, float], largest: float = 1e4) -> LocalSteps:
    """The curves from one local step to ``largest``; ``setting`` has every other number that the bound depends on.

    Raises `InputError` where the bound does not depend on local steps, where one of its numbers is missing, and where a
    condition is broken.
    """
    name = statement.vocabulary.run.get("local_steps", "")
    bound = Bound(statement)
    if name not in bound.names or name in statement.settings:
        raise InputError(f"{statement.key} does not depend on local steps")
    if missing := [each for each in bound.names if each != name and each not in setting]:
        raise InputError(f"{statement.key} needs {', '.join(missing)}")
    values = np.unique(np.round(np.geomspace(1, largest, _POINTS)))
    at = {**{each: np.full(len(values), setting[each]) for each in bound.names if each != name}, name: values}
    if (bound.slack(at) < 0).any():
        raise InputError(f"{statement.key}: a condition is broken at {name}={values[np.argmin(bound.slack(at))]:g}")
    given = {each: setting[each] for each in bound.names if each != name}
    hard = [worst(statement, {**given, name: float(K)}) for K in values]
    terms = bound.terms({each: np.array([found.values[each] for found in hard]) for each in bound.names})
    right = sum(terms.values(), np.zeros(len(values)))
    return LocalSteps(statement, label, given, values, right, np.array([found.left for found in hard]))
