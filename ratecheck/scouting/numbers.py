"""Numbers of a statement for a batch of instances: what follows from others, conditions, and step sizes inside them.

The rules are those of `Statement.complete` and of `ratecheck.families.choices`, in arrays. What is admissible is found
by sampling over `_DECADES` and then by bisection, so that a condition need not be monotone: the largest interval
counts.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bounds.numbers import ROUNDING
from bounds.statement import Condition, Statement, compiled, names_in
from ratecheck.aliases import Array
from ratecheck.families.coordinates import EDGE, LARGE, WIDE, between
from ratecheck.stepsizes.equations import pinned, root
from ratecheck.stepsizes.filling import Filled, filled
from ratecheck.stepsizes.interval import INSIDE

Values = dict[str, Array]

# Powers of 10 between which step sizes are looked for, values per power, and how what lies between two is searched:
# at these shares of its logarithm, again and again.
_DECADES, _PER_DECADE, _SHARES, _PASSES = (-16.0, 9.0), 4, np.linspace(0, 1, 65), 8
_GRID = np.logspace(*_DECADES, int((_DECADES[1] - _DECADES[0]) * _PER_DECADE) + 1)
_ROUGHLY = slice(32, 84, 2)
# How often values between two are looked at where none is admissible, for an interval that lies between them.
_CLOSER = 2
# The same of a step size that is chosen later, of which there has to be one.
_LATER = np.logspace(-4, 2, 121)


def evaluated(expr: sp.Expr, values: Mapping[str, Array]) -> Array:
    """A formula of arrays of one shape; infinite or NaN where it has no value."""
    with np.errstate(all="ignore"):
        found = compiled(expr)(**{name: values[name] for name in names_in(expr)})
    return np.asarray(found, dtype=float)


def completed(statement: Statement, values: Values) -> Values:
    """The values plus what the statement itself fixes; what contradicts it is left as it is."""
    found = dict(values)
    for name, expr in filled(statement, values.keys()):
        found[name] = evaluated(expr, found)
    return found


def with_derived(statement: Statement, values: Values) -> Values:
    """The values with the parameters that the vocabulary derives from others."""
    found = dict(values)
    for name, expr in statement.vocabulary.derived.items():
        if name in statement.parameters and name not in found and names_in(expr) <= found.keys():
            found[name] = evaluated(expr, found)
    return found


def holding(condition: Condition, values: Mapping[str, Array], rounding: float = ROUNDING) -> NDArray[np.bool_]:
    """Where a condition holds, up to a share of ``rounding`` of its sides."""
    left, right = evaluated(condition.left, values), evaluated(condition.right, values)
    slack: Array | float = 0.0
    with np.errstate(all="ignore"):
        if rounding:
            # In place: these arrays are the largest of a search.
            slack = np.asarray(np.maximum(np.abs(left), np.abs(right)))
            slack *= rounding
            slack[~np.isfinite(slack)] = 0.0
        return np.asarray(_HOLDING[condition.operator](left, right, slack))


_HOLDING: dict[str, Callable[[Array, Array, Array | float], NDArray[np.bool_]]] = {
    "<=": lambda left, right, slack: left <= right + slack,
    ">=": lambda left, right, slack: left >= right - slack,
    "<": lambda left, right, slack: left < right - slack,
    ">": lambda left, right, slack: left > right + slack,
    "==": lambda left, right, slack: (left == right) | (np.abs(left - right) <= slack),
}


def admitted(statement: Statement, values: Mapping[str, Array], size: int) -> NDArray[np.bool_]:
    """Where no condition that is known is broken, (size,)."""
    found = np.ones(size, dtype=bool)
    for condition in statement.hypotheses:
        if condition.symbols <= values.keys():
            found &= np.broadcast_to(holding(condition, values), (size,))
    for name, expr in statement.settings.items():
        if name in values and names_in(expr) <= values.keys():
            # What contradicts the statement's own settings is no instance.
            found &= np.broadcast_to(np.isclose(values[name], evaluated(expr, values), rtol=1e-9, atol=0.0), (size,))
    return found


def chosen(
    statement: Statement, name: str, values: Values, at: Array, later: Sequence[str] = (), *, of_method: bool = False
) -> Array:
    """A value (N,) for a step size inside what the conditions admit, at a coordinate (N,) of the cube; NaN for none.

    Conditions that lack one of those that are chosen ``later`` have to hold for some value of that one. A parameter
    ``of_method`` is as often close to its upper end as to the lower one.
    """
    for condition in pinned([each for each in statement.hypotheses if name in each.symbols]):
        only = root(condition, statement.vocabulary[name].symbol)
        if only is not None and names_in(only) <= values.keys():
            # Sampling seldom meets an equality.
            return np.broadcast_to(evaluated(only, values), at.shape)
    trial = _Trial(statement, name, values, later)
    grid = np.broadcast_to(_GRID, (len(at), len(_GRID)))
    # Where others have to be found for every value, there are fewer, and the ends are known roughly.
    grid, passes, shares = (grid[:, _ROUGHLY], 1, _SHARES[::8]) if trial.joint else (grid, _PASSES, _SHARES)
    count, inside, rows = grid.shape[1], trial(grid), np.arange(len(at))
    bounded = np.any(inside, axis=1)
    grid = grid.copy()
    for _ in range(_CLOSER):
        if (rest := ~bounded).any():
            own = trial.of(rest)
            grid[rest] = own.between(grid[rest])
            inside[rest] = own(grid[rest])
            bounded = np.any(inside, axis=1)
    found = []
    for ends, step, none in zip(_longest(inside), (-1, 1), (0.0, np.inf), strict=True):
        open_ = bounded & (ends + step >= 0) & (ends + step < count)
        good, bad = grid[rows, ends], grid[rows, np.clip(ends + step, 0, count - 1)]
        for _ in range(passes if open_.any() else 0):
            finer = good[:, None] * (bad / good)[:, None] ** shares
            holds = trial(finer)
            # The last value before the first that is not admissible.
            passed = np.where(holds.all(axis=1), len(shares), holds.argmin(axis=1))
            good, bad = finer[rows, np.maximum(passed - 1, 0)], finer[rows, np.minimum(passed, len(shares) - 1)]
        found.append(np.where(open_, good, none))
    return np.where(bounded, _inside(found[0], found[1], at, of_method=of_method), np.nan)


class _Trial:
    """Whether values (N, any number) of a step size are admissible with what they decide.

    ``joint`` says whether others, chosen later, have to be found for that.
    """

    def __init__(self, statement: Statement, name: str, values: Values, later: Sequence[str]) -> None:
        self._name, hypotheses = name, statement.hypotheses
        # What does not depend on the step size is evaluated once.
        self._fixed = {key: value for key, value in _wide(values).items() if key != name}
        self._steps, moving = list[Filled](), {name}
        for each, expr in filled(statement, {*values, name}):
            if names_in(expr) & moving:
                moving.add(each)
                self._steps.append((each, expr))
            else:
                self._fixed[each] = evaluated(expr, self._fixed)
        names = self._fixed.keys() | moving
        self._conditions, fixed = list[Condition](), list[Condition]()
        for condition in hypotheses:
            if condition.symbols <= names:
                (self._conditions if condition.symbols & moving else fixed).append(condition)
        self._before = [holding(condition, self._fixed, 0.0) for condition in fixed]
        # With a value of one that is chosen later: what follows, and the conditions that can be looked at.
        self._later = list[tuple[str, list[Filled], list[Condition]]]()
        for other in later:
            if other not in names:
                steps = filled(statement, {*names, other})
                more = {*names, other, *(each for each, _ in steps)}
                own = [c for c in hypotheses if c.symbols <= more and not c.symbols <= names]
                # What has nothing to do with this step size is not mended by it.
                if any(c.symbols & {*moving, *(each for each, _ in steps)} for c in own):
                    self._later.append((other, steps, own))
        self.joint = bool(self._later)

    def __call__(self, x: Array) -> NDArray[np.bool_]:
        mask, found = np.ones(x.shape, dtype=bool), self._decided(x)
        for part in self._alone(found):
            mask &= part
        # What is chosen later is looked for where nothing else fails: it costs the most by far.
        places = np.nonzero(mask)
        if self._later and len(places[0]):
            here = {
                name: np.broadcast_to(value, x.shape)[places] if value.ndim else value for name, value in found.items()
            }
            for part in self._with_later(here):
                mask[places] &= part
        return mask

    def of(self, rows: NDArray[np.bool_]) -> _Trial:
        """A trial of some of the instances."""
        found = copy.copy(self)
        found._fixed = _rows(self._fixed, rows)  # noqa: SLF001  # its own kind
        found._before = [part[rows] if part.ndim else part for part in self._before]  # noqa: SLF001
        return found

    def between(self, grid: Array) -> Array:
        """As many values (N, count) between the first two of the grid (N, count) where each condition holds at one."""
        met = np.ones((len(grid), grid.shape[1] - 1), dtype=bool)
        found = self._decided(grid)
        for part in self._alone(found):
            holds = np.broadcast_to(part, grid.shape)
            met &= holds[:, 1:] | holds[:, :-1]
        left = np.asarray(met.any(axis=1))
        for part in self._with_later(_rows(found, left)) if left.any() else ():
            holds = np.broadcast_to(part, (int(left.sum()), grid.shape[1]))
            met[left] &= holds[:, 1:] | holds[:, :-1]
        first, rows = met.argmax(axis=1), np.arange(len(grid))
        low, high = grid[rows, first][:, None], grid[rows, first + 1][:, None]
        return np.asarray(low * (high / low) ** np.linspace(0, 1, grid.shape[1]))

    def _decided(self, x: Array) -> Values:
        """Values (N, any number) of the step size with what they decide, and what does not depend on them."""
        found = {**self._fixed, self._name: x}
        for name, expr in self._steps:
            found[name] = evaluated(expr, found)
        return found

    def _alone(self, found: Values) -> Iterator[NDArray[np.bool_]]:
        """Where each condition holds that needs nothing which is chosen later."""
        yield from self._before
        for condition in self._conditions:
            # A strict one holds at the end as well, as `admitted` has it.
            yield holding(condition, found, ROUNDING if condition.operator in ("<", ">") else 0.0)

    def _with_later(self, found: Values) -> Iterator[NDArray[np.bool_]]:
        """Where something that is chosen later meets its conditions, at values of any shape."""
        for other, steps, conditions in self._later:
            more = {**_wide(found), other: _LATER}
            for name, expr in steps:
                more[name] = evaluated(expr, more)
            own = [holding(condition, more) for condition in conditions]
            yield np.asarray(np.logical_and.reduce(np.broadcast_arrays(*own)).any(axis=-1))


def _rows(values: Values, rows: NDArray[np.bool_]) -> Values:
    """The values of some instances, but for numbers."""
    return {key: value[rows] if value.ndim else value for key, value in values.items()}


def _wide(values: Values) -> Values:
    """The values with one more axis, but for numbers."""
    return {key: value[..., None] if value.ndim else value for key, value in values.items()}


def _longest(inside: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last place of the longest run of True in every row."""
    places = np.arange(inside.shape[1])
    length = places - np.maximum.accumulate(np.where(inside, -1, places), axis=1)
    last = length.argmax(axis=1)
    return last - np.maximum(length.max(axis=1), 1) + 1, last


def _unlimited(at: Array) -> Array:
    """A positive number where nothing is said, as `coordinates.inside` has it."""
    return np.asarray(LARGE * WIDE ** (np.minimum(at / EDGE, 1.0) - 1))


def _inside(low: Array, high: Array, at: Array, *, of_method: bool) -> Array:
    """A point of an interval, as `coordinates.inside` has it, or `coordinates.between`."""
    with np.errstate(all="ignore"):
        top = high * (1 - INSIDE)
        floor = np.maximum(low * (1 + INSIDE), top / WIDE)
        if of_method:
            below = between(floor, high, at)
        else:
            below = np.where(at > EDGE, high, floor * (top / floor) ** (at / EDGE))
        above = np.where(at > EDGE, low, low * WIDE ** (1 - at / EDGE))
        return np.where(np.isfinite(high), below, np.where(low > 0, above, _unlimited(at)))
