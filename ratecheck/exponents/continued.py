"""An instance that a search found, continued to other sizes: the same functions, scaled, for the card's settings.

What is hard in a short run seldom is in a long one as it stands. So the functions f_i become a f_i(x/w): a and w are
such that the constants at the start are as large as the setting allows, and that curvatures are a share of L, which is
searched: a slope that a run of 5 rounds just leaves is left by one of 50 rounds where steps are a tenth as long beside
it. Clients are copied as evenly as their number allows, and a participation trace is repeated. The left side is what
`verify` says, which certifies every constant anew: what the setting does not admit is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.exponents.families.hard import Hard, given_of
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation, Periodic
from ratecheck.problems import Certificate, Constant
from ratecheck.problems.quadratic_functions import QuadraticFunctions
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance

# Local steps of a run, and coordinates of all clients: runs are followed step by step.
_MOST_STEPS, _MOST_COORDINATES = 1000, 200
# Shares of L that are tried, per decade and over how many decades; and how often the best is looked at closer.
_PER_DECADE, _DECADES, _CLOSER, _CLOSE = 2, 3, 2, 4
# Room for rounding below a constant that is to be reached.
_ROOM = 1e-10
_OPTIONS = Options(engine="auto", replicates=16, level=1e-6, traces=1, vacuity=False, rigorous=False)
_NOT_COUNTED = frozenset({Outcome.NOT_APPLICABLE, Outcome.DIVERGED})
# Degrees of constants in a and 1/w, by fact: those of roots are half of their squares'.
_DEGREES = {
    "F_0": (1, 0), "distance2_0": (0, -2), "b": (1, 1), "B_0": (2, 2), "minimiser_heterogeneity": (1, 1),
}  # fmt: skip


def check_continued(found: Instance) -> None:
    """Raise `InputError` for an instance that has no continuation: of another kind, or of clients that are drawn."""
    found.problem.scaled(np.arange(found.problem.n), 1.0, 1.0)
    if found.participation is not None and found.participation.matrix is None:
        raise InputError("an instance with clients that are drawn is not continued: needed is a trace")


def continued(statement: Statement, values: Mapping[str, float], found: Instance) -> Hard | None:
    """The instance at a setting with its worst share of L; None where it has no such form, or is not admitted there."""
    full, _ = statement.complete(values)
    run, problem = statement.vocabulary.run, found.problem
    n0 = problem.n
    n = int(full.get(run.get("clients", ""), n0))
    K, T = (int(full.get(run.get(role, ""), 1.0)) for role in ("local_steps", "rounds"))
    if n < n0 or K * T > _MOST_STEPS or n * problem.d > _MOST_COORDINATES:
        return None
    rows = np.arange(n) * n0 // n
    copied = replace(
        found, statement=statement, problem=problem.scaled(rows, 1.0, 1.0), participation=_repeated(found, rows),
        given=given_of(statement, full), start={k: _start(k, x, rows) for k, x in found.start.items()},
    )  # fmt: skip
    shares = np.logspace(-_DECADES, 0, _DECADES * _PER_DECADE + 1)
    best: tuple[float, float, Instance] | None = None
    for _ in range(_CLOSER):
        for share in shares:
            seen = _evaluated(copied, statement, full, float(share))
            if seen is not None and (best is None or seen[0] > best[0]):
                best = seen[0], float(share), seen[1]
        if best is None:
            return None
        step = shares[1] / shares[0]
        shares = best[1] * step ** np.linspace(-1, 1, _CLOSE + 1)
        shares = shares[shares <= 1]
    assert best is not None
    left, share, instance = best
    name = f"the instance given, curvatures times {share:.2g}"
    return Hard(statement, full, name, "", (float(n),), (), (), 0.0, (), left, found=instance)


def _evaluated(
    base: Instance, statement: Statement, values: Mapping[str, float], share: float
) -> tuple[float, Instance] | None:
    """The left side where the largest curvature is this share of L, and the instance; None where it does not count."""
    factors = _factors(base, statement, values, share)
    if factors is None:
        return None
    a, w = factors
    rows = np.arange(base.problem.n)
    start = {name: np.asarray(x) * w for name, x in base.start.items()}
    instance = replace(base, problem=base.problem.scaled(rows, a, w), start=start)
    try:
        verdict = instance.verdict(_OPTIONS)
    except InputError:
        return None
    if verdict.outcome in _NOT_COUNTED or not verdict.comparisons:
        return None
    left = verdict.comparisons[0].left
    return (left, instance) if math.isfinite(left) else None


def _factors(
    base: Instance, statement: Statement, values: Mapping[str, float], share: float
) -> tuple[float, float] | None:
    """The factors a and w, as large as the constants allow; None where one does not exist, or leaves nothing."""
    start: dict[str, Any] = {f"{k[0].replace('x', 'u')}0": np.asarray(x, dtype=float) for k, x in base.start.items()}
    constants = dict(base.problem.single.constants(**start))
    if (quadratic := base.problem.quadratic) is not None:
        constants |= _of_minimiser(quadratic, base.start)
    facts = {fact: values[s] for s, fact in statement.vocabulary.facts.items()
             if s in statement.parameters and s in values}  # fmt: skip
    own = constants["L"].value
    if not 0 < own < math.inf:
        return None
    bent = share * facts.get("L", own) / own
    # With a = bent w^2 a constant of degrees (p, q) grows as bent^p w^(2p - q).
    widest = math.inf
    for fact, (p, q) in _DEGREES.items():
        if fact not in facts:
            continue
        constant = constants.get(fact)
        if constant is None or constant.certificate is Certificate.ABSENT:
            return None
        if constant.value > 0:
            widest = min(widest, (facts[fact] * (1 - _ROOM) / (constant.value * bent**p)) ** (1 / (2 * p - q)))
    w = widest if math.isfinite(widest) else 1.0
    return (bent * w**2, w) if w > 0 else None


def _of_minimiser(problem: QuadraticFunctions, start: Mapping[str, Any]) -> dict[str, Constant]:
    """Constants of the minimiser, in floats: `verify` certifies them anew. Of shared variables alone."""
    if problem.d_v:
        return {}
    H, g = problem.H.mean(axis=0), problem.g.mean(axis=0)
    point = np.linalg.lstsq(H, g, rcond=None)[0]
    away = np.asarray(start.get("x0", np.zeros(problem.d)), dtype=float) - point
    apart = np.mean(np.sum((problem.H @ point - problem.g) ** 2, axis=1))
    found = {"distance2_0": float(away @ away), "minimiser_heterogeneity": math.sqrt(float(apart))}
    return {name: Constant.exact(name, x, "in floats") for name, x in found.items()}


def _start(name: str, x: Any, rows: NDArray[np.intp]) -> Array:
    """The start, with a row for every copy where clients have their own."""
    array = np.asarray(x, dtype=float)
    return array[rows] if name == "v0" and array.ndim == 2 else array


def _repeated(found: Instance, rows: NDArray[np.intp]) -> Participation | None:
    """The trace over and over; None where the statement fixes participation."""
    if found.participation is None:
        return None
    return Periodic(np.asarray(found.participation.matrix)[:, rows])
