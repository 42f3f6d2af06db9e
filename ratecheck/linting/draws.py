"""Random settings inside the conditions of a statement, the same ones in every call.

They need not belong to a problem: what is seen at one is a fact about formulas.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bounds.statement import Condition, Statement, names_in, number
from bounds.symbols import Domain, Quantity
from ratecheck.errors import InputError
from ratecheck.linting.occurrence import used
from ratecheck.stepsizes.admissible_intervals import is_empty
from ratecheck.stepsizes.feasible_set import FeasibleSet, step_names
from ratecheck.stepsizes.interval import Interval

# How many settings are wanted, and how many are tried for them.
WANTED, _TRIES = 16, 120
_LONGEST_RUN, _WIDEST = 4.0, 1.5
# Powers of ten within which constants are drawn: near 1 first, then far apart, where conditions leave nothing there.
_NEAR, _FAR = 1.0, 4.0
# A step size without an end is drawn within this factor of the other one.
_FACTOR = 30.0
# After so many settings without an admissible step size no more are drawn.
_HOPELESS = 96


@dataclass(frozen=True)
class DrawnSettings:
    """``settings`` are completed values that meet all conditions; ``constants`` those without step sizes.

    ``closed`` are constants that meet the conditions about them alone, and leave no step size.
    """

    settings: tuple[Mapping[str, float], ...]
    constants: tuple[Mapping[str, float], ...]
    closed: tuple[Mapping[str, float], ...]


def draws(statement: Statement, wanted: int = WANTED) -> DrawnSettings:
    """Random settings of a statement; none where none is met."""
    rng = np.random.default_rng(zlib.crc32(statement.key.encode()))
    settings: list[Mapping[str, float]] = []
    constants: list[Mapping[str, float]] = []
    closed: list[Mapping[str, float]] = []
    for k in range(_TRIES):
        if len(settings) >= wanted or (len(closed) >= _HOPELESS and not settings):
            break
        far = k >= _TRIES // 3 or (len(closed) >= wanted and not settings)
        given = constants_of(statement, rng, _FAR if far else _NEAR)
        if given is None:
            continue
        constants.append(given)
        try:
            found = _with_steps(statement, given, rng)
        except InputError:
            continue
        if found is None:
            closed.append(given)
        elif all(check.holds is not False for check in statement.check_conditions(found)):
            settings.append(found)
    return DrawnSettings(tuple(settings), tuple(constants), tuple(closed))


def constants_of(statement: Statement, rng: np.random.Generator, spread: float = _NEAR) -> dict[str, float] | None:
    """Numbers for all but step sizes that meet the conditions about them alone; None where these do not."""
    vocabulary = statement.vocabulary
    steps = {*step_names(statement)}
    occurring = sorted(used(statement), key=vocabulary.order.__getitem__)
    wanted = [name for name in occurring if name not in steps and name not in statement.settings]
    given = {
        name: _number(vocabulary[name], rng, spread, rounds=name == vocabulary.run.get("rounds"))
        for name in wanted
        if name not in vocabulary.derived
    }
    # Some conditions leave only pairs that are nearly equal.
    equal = spread > _NEAR and rng.random() < 0.5  # one in two
    for _ in range(3):
        for smaller, larger in vocabulary.ordered:
            if {smaller, larger} <= given.keys():
                given[smaller], given[larger] = sorted((given[smaller], given[larger]))
                if equal:
                    given[smaller] = given[larger]
        for condition in statement.conditions:
            if not condition.symbols & steps:
                _mend(statement, condition, given, rng)
    try:
        values, _ = statement.bare.complete(given)
    except InputError:
        return None
    values |= {
        name: number(expr, values)
        for name, expr in vocabulary.derived.items()
        if name in wanted and names_in(expr) <= values.keys()
    }
    checks = statement.check_conditions({k: v for k, v in values.items() if k not in steps})
    return None if any(check.holds is False for check in checks) else dict(values)


def _number(quantity: Quantity, rng: np.random.Generator, spread: float, *, rounds: bool) -> float:
    if quantity.domain is Domain.POSITIVE_INTEGER:
        return float(f"{round(10 ** rng.uniform(0, _LONGEST_RUN if rounds else _WIDEST)):.2g}")
    if quantity.domain is Domain.REAL:
        return float(f"{rng.normal():.2g}")
    return float(f"{10 ** rng.uniform(-spread, spread):.2g}")


def _mend(statement: Statement, condition: Condition, given: dict[str, float], rng: np.random.Generator) -> None:
    """Move a number that is one side of a broken condition inside it."""
    for side, other, sign in ((condition.left, condition.right, 1), (condition.right, condition.left, -1)):
        if not side.is_Symbol or side.name not in given or not names_in(other) <= given.keys():
            continue
        if condition.check(statement.key, given).holds is not False:
            return
        limit, up = number(other, given), (condition.operator in (">", ">=")) == (sign > 0)
        factor = 1.0 if condition.operator == "==" else 10 ** rng.uniform(0.01, 0.5)
        moved = limit * factor if up else limit / factor
        if statement.vocabulary[side.name].domain is Domain.POSITIVE_INTEGER:
            moved = float(np.ceil(moved) if up else np.floor(moved))
        if statement.vocabulary[side.name].domain.admits(moved):
            given[side.name] = moved
            return


def _with_steps(statement: Statement, given: Mapping[str, float], rng: np.random.Generator) -> dict[str, float] | None:
    """The constants with admissible step sizes; None where there are none."""
    chosen = dict(given)
    names = step_names(statement)
    if not names:
        return chosen
    ruled = {rule.symbol.name for rule in statement.step_rules if not rule.at_least}
    free = [name for name in names if name not in ruled and not _at_least(statement, name)]
    restricted = bool(statement.hypotheses or statement.step_products)
    for name in free:
        if name in chosen:
            continue
        interval = FeasibleSet.of(statement, chosen).admissible() if restricted else {}
        if interval and is_empty(interval):
            return None
        chosen[name] = _inside(interval[name], rng) if interval else 10 ** rng.uniform(-_NEAR, _NEAR)
        # Products may decide the next one.
        values, _ = statement.complete(chosen)
        chosen |= {each: values[each] for each in free if each in values}
    values, _ = statement.complete(chosen)
    return values


def _at_least(statement: Statement, name: str) -> bool:
    return any(rule.symbol.name == name and rule.at_least for rule in statement.step_rules)


def _inside(interval: Interval, rng: np.random.Generator) -> float:
    """A number in an interval, on a logarithmic scale."""
    low, high = interval.low, interval.high
    if low <= 0 and not np.isfinite(high):
        low, high = 1 / _FACTOR, _FACTOR
    low, high = (low if low > 0 else high / _FACTOR), (high if np.isfinite(high) else low * _FACTOR)
    found = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    rounded = float(f"{found:.2g}")
    return rounded if low <= rounded <= high else found
