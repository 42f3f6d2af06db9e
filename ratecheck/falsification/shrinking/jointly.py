"""Passes that change several numbers at once, where no single one may change.

A bound that is violated by little is so where sizes, step sizes and slopes fit together: fewer rounds want step sizes
chosen anew at the edge of the conditions, or noise that is larger by as much; other units change every number; clients
are alike, or opposite, only together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from bounds.symbols import Domain
from ratecheck.algebra.simplest import bits
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.falsification.shrinking.simpler import Numbers, ShrinkingState, quantity, resized, with_given, without
from ratecheck.verification.instance import Instance

# Rounds and local steps that are tried with other step sizes and other noise.
_FEW = (1, 2, 3, 4, 6, 8, 12)
# Powers of 2 by which noise, or what clients differ by, grows beyond what fewer rounds need.
_LOUDER = (0, 2, 6)
# Binary digits to which all numbers are rounded together.
_DIGITS = (1, 2, 3, 4, 6, 8)
# Digits above which a number is rounded where others are not.
_LONG = 8
# Clients up to which pairs of them are looked at.
_PAIRED = 8
# Simple values of a parameter between 0 and 1, such as a momentum.
_PARAMETERS = (0.5, 1.0, 0.0)

_Change = Callable[[Instance], Instance]


# --- Sizes, with what depends on them ---


def few(state: ShrinkingState) -> None:
    """Few rounds or local steps, with step sizes that are chosen anew or grow as the sizes fall, and more noise."""
    rounds, steps = state.numbers.size("rounds"), state.numbers.steps_in(state.instance.given)
    for names in ((rounds,), (steps,), (rounds, steps)):
        if all(name in state.instance.given for name in names):
            _fewest(state, names)


def _fewest(state: ShrinkingState, names: tuple[str, ...]) -> None:
    for k in _FEW:
        before = max(float(np.max(state.instance.given[name])) for name in names)
        if k >= before:
            return
        sized = partial(resized, numbers=state.numbers, sizes=dict.fromkeys(names, k))
        others = _with_sizes(state, before / k)
        if any(state.offer(partial(_both, first=change, second=sized)) for change in others):
            return


def _with_sizes(state: ShrinkingState, ratio: float) -> Iterator[_Change]:
    """What may go along with sizes that are smaller by a ratio."""
    given, numbers = state.instance.given, state.numbers
    chosen = [name for name in given if name in numbers.steps]
    claims = [name for name in given if numbers.is_claim(name)]
    if chosen or claims:
        yield partial(without, names=[*chosen, *claims])
    if chosen:
        yield partial(without, names=chosen)
        yield partial(_scaled, names=chosen, factor=2.0 ** round(math.log2(ratio)))
    if state.instance.problem.points:
        yield from (partial(_closer, ratio=factor) for factor in (ratio, ratio**2))
    noisy = [name for name in given if numbers.is_noise(name) and np.any(given[name])]
    anew = partial(without, names=[*chosen, *claims])
    for grown in [partial(_scaled, names=noisy)] * bool(noisy) + [_steeper] * (state.instance.problem.n > 1):
        for more in _LOUDER:
            louder = partial(grown, factor=2.0 ** (math.ceil(math.log2(ratio) / 2) + more))
            yield louder
            if chosen:
                yield partial(_both, first=louder, second=anew)
    for name in _parameters(state.instance, numbers):
        for value in _PARAMETERS:
            yield partial(_both, first=partial(_set, name=name, value=value), second=anew)


def _both(instance: Instance, first: _Change, second: _Change) -> Instance:
    return second(first(instance))


def _set(instance: Instance, name: str, value: float) -> Instance:
    return with_given(instance, **{name: value})


def _scaled(instance: Instance, names: list[str], factor: float) -> Instance:
    return with_given(instance, **{name: (np.asarray(instance.given[name]) * factor).tolist() for name in names})


def _closer(instance: Instance, ratio: float) -> Instance:
    """Breakpoints that are closer by a ratio, to quarters: a run of fewer rounds does not get as far."""
    problem = instance.problem
    arrays = problem.arrays()
    return replace(
        instance, problem=problem.with_arrays({name: np.round(4 * arrays[name] / ratio) / 4 for name in problem.points})
    )


def _steeper(instance: Instance, factor: float) -> Instance:
    """Slopes that are larger by a factor."""
    problem = instance.problem
    arrays = {name: array * factor for name, array in problem.arrays().items() if problem.degrees.get(name) == 1}
    if not arrays:
        raise InputError("no slopes")
    return replace(instance, problem=problem.with_arrays(arrays))


def _parameters(instance: Instance, numbers: Numbers) -> list[str]:
    """Free parameters between 0 and 1 that are given, such as a momentum."""
    found = []
    for name, value in instance.given.items():
        known = quantity(numbers.statement, name)
        whole = known is not None and known.domain is Domain.POSITIVE_INTEGER
        fixed = name in {*numbers.statement.vocabulary.run.values(), *numbers.steps, "delta"}
        if not (fixed or whole or numbers.is_noise(name) or numbers.is_claim(name)) and np.ndim(value) == 0:
            found += [name] * (0 < float(value) < 1)
    return found


def parameters(state: ShrinkingState) -> None:
    """Simple parameters, with step sizes that are chosen anew."""
    for name in _parameters(state.instance, state.numbers):
        steps = [each for each in state.instance.given if each in state.numbers.steps]
        for value in _PARAMETERS if steps else ():
            first = partial(_set, name=name, value=value)
            if state.offer(partial(_both, first=first, second=partial(without, names=steps))):
                break


# --- Clients ---


def alike(state: ShrinkingState) -> None:
    """Clients with the functions of one of them, or with opposite slopes; with some of their arrays; then in pairs."""
    n = state.instance.problem.n
    if not 1 < n <= _PAIRED:
        return
    names = [name for name, array in state.instance.problem.arrays().items() if array.shape[:1] == (n,)]
    for some in (names, *itertools.combinations(names, 1), *itertools.combinations(names, 2)):
        for i, sign in itertools.product(range(n), (1.0, -1.0)):
            if state.offer(partial(_all_as, i=i, sign=sign, names=some)):
                break
    for i, j in itertools.permutations(range(n), 2):
        any(state.offer(partial(_as, i=i, j=j, sign=sign, names=names)) for sign in (1.0, -1.0))


def _all_as(instance: Instance, i: int, sign: float, names: Collection[str]) -> Instance:
    """Every client as client i, every other one with opposite slopes where the sign is one."""
    for j in range(instance.problem.n):
        if j != i:
            instance = _as(instance, i=i, j=j, sign=sign if (j - i) % 2 else 1.0, names=names)
    return instance


def _as(instance: Instance, i: int, j: int, sign: float, names: Collection[str]) -> Instance:
    """Client j with these arrays of client i, and with opposite slopes where the sign is one."""
    degrees = instance.problem.degrees
    if sign < 0 and not any(degrees.get(name) == 1 for name in names):
        raise InputError("no slopes to turn")
    found = {name: array.copy() for name, array in instance.problem.arrays().items() if name in names}
    for name, array in found.items():
        array[j] = array[i] * (sign if degrees.get(name) == 1 else 1.0)
    return replace(instance, problem=instance.problem.with_arrays(found))


def ordered(state: ShrinkingState) -> None:
    """Equal clients beside each other, those with the shortest numbers first."""
    if state.instance.participation is None and not state.instance.start:
        state.offer(_ordered)


def _ordered(instance: Instance) -> Instance:
    n = instance.problem.n
    found = {name: array for name, array in instance.problem.arrays().items() if array.shape[:1] == (n,)}
    if any(np.ndim(value) for value in instance.given.values()):
        raise InputError("clients differ by more than their functions")
    rows = [[float(x) for array in found.values() for x in np.ravel(array[i])] for i in range(n)]
    order = sorted(range(n), key=lambda i: (sum(map(bits, rows[i])), rows[i]))
    return replace(
        instance, problem=instance.problem.with_arrays({name: array[order] for name, array in found.items()})
    )


def measured_alike(state: ShrinkingState) -> None:
    """Two arrays of one client by the same factor, a power of 2, by which a number of the first is about 1."""
    problem = state.instance.problem
    arrays = {name: array for name, array in problem.arrays().items() if array.shape[:1] == (problem.n,)}
    for i, (one, other) in itertools.product(range(min(problem.n, _PAIRED)), itertools.permutations(arrays, 2)):
        size = float(np.abs(arrays[one][i]).max(initial=0.0))
        if size > 0.0 and (power := -round(math.log2(size))):
            for part in (power, math.trunc(power / 2), math.trunc(power / 4)):
                if part and state.offer(partial(_times, i=i, names=(one, other), factor=2.0**part)):
                    break


def _times(instance: Instance, i: int, names: Collection[str], factor: float) -> Instance:
    """The instance with arrays of client i multiplied."""
    found = {name: array.copy() for name, array in instance.problem.arrays().items() if name in names}
    for array in found.values():
        array[i] *= factor
    return replace(instance, problem=instance.problem.with_arrays(found))


def curved(state: ShrinkingState) -> None:
    """The largest curvature of a client where others have none, so that what is measured has a minimum."""
    if "H" in state.instance.problem.degrees:
        state.offer(_curved)


def _curved(instance: Instance) -> Instance:
    array = instance.problem.arrays()["H"]
    most = np.abs(array).max()
    places = np.arange(array.shape[-1])
    diagonal = array[:, places, places]
    array[:, places, places] = np.where(diagonal == 0.0, most, diagonal)
    return replace(instance, problem=instance.problem.with_arrays({"H": array}))


# --- All numbers ---


def units(state: ShrinkingState) -> None:
    """Other units of functions and variables, in which the largest curvature is 1 and one more number."""
    for change in _units(state):
        state.offer(change)


def rounded(state: ShrinkingState) -> None:
    """All numbers to few binary digits, as they are or in units in which one is 1, step sizes given or chosen."""
    given, numbers = state.instance.given, state.numbers
    loose = [name for name in given if name in numbers.steps or numbers.is_claim(name)]
    bases: list[_Change] = [_itself, *_units(state)]
    bases += [partial(_both, first=base, second=partial(without, names=loose)) for base in bases if loose]
    for digits in _DIGITS:
        for base, above in itertools.product(bases, (0, _LONG)):
            short = partial(_rounded, digits=digits, above=above, numbers=numbers)
            if state.offer(partial(_both, first=base, second=short)):
                return


def _itself(instance: Instance) -> Instance:
    return instance


def _rounded(instance: Instance, digits: int, above: int, numbers: Numbers) -> Instance:
    """Numbers of more digits than ``above`` but sizes to so many binary digits: the nearest, of step sizes below."""
    sizes = {*numbers.statement.vocabulary.run.values(), numbers.steps_in(instance.given), "delta"}
    problem = instance.problem
    names = {*problem.degrees, *problem.points} or {*problem.arrays()}
    short = partial(_short, digits=digits, above=above)
    given = {**instance.given}
    for name in {*given} - sizes:
        given[name] = short(given[name], to=np.floor if name in numbers.steps else np.round).tolist()
    arrays = {name: short(array) for name, array in problem.arrays().items() if name in names}
    start = {name: short(value) for name, value in instance.start.items()}
    return replace(instance, given=given, problem=problem.with_arrays(arrays), start=start)


def _short(value: ArrayLike, digits: int, above: int, to: Callable[[Array], Array] = np.round) -> Array:
    """Numbers to so many binary digits, where they have more than some."""
    array = np.asarray(value, dtype=float)
    mantissa, exponent = np.frexp(array)
    long = np.array([bits(x) > above for x in np.ravel(array)]).reshape(array.shape)
    return np.asarray(np.where(long, np.ldexp(to(np.ldexp(mantissa, digits)), exponent - digits), array))


def _units(state: ShrinkingState) -> list[_Change]:
    """Units in which the largest curvature is 1, and so is a slope, a level of noise or a coordinate of a point."""
    problem = state.instance.problem
    if not problem.degrees:
        return []
    arrays, degrees, given = problem.arrays(), problem.degrees, state.instance.given
    curvatures, slopes = (_sizes_of(arrays[name] for name, each in degrees.items() if each == k) for k in (2, 1))
    points = _sizes_of([*state.instance.start.values(), *(arrays[name] for name in problem.points)])
    found = [("curvature", x) for x in curvatures[-1:]]
    found += [("slope", x) for x in (*slopes[:1], *slopes[-1:])]
    found += [("noise", x) for x in _sizes_of(value for name, value in given.items() if state.numbers.is_noise(name))]
    found += [("point", x) for x in points[-1:]]
    return [partial(in_units, size=size, of=of) for of, size in dict.fromkeys(found)]


def _sizes_of(values: Iterable[ArrayLike]) -> list[float]:
    """The sizes of numbers that are not 0, ascending."""
    return sorted({abs(x) for value in values for x in np.ravel(np.asarray(value, dtype=float)).tolist()} - {0.0})


def in_units(instance: Instance, size: float, of: str) -> Instance:
    """The instance with largest curvature 1, in units in which a number of this kind and size is 1.

    f -> a f and x -> c x take a curvature H to a H/c^2, a slope g to a g/c, as noise, and a point x to c x; every other
    number is multiplied as its scaling degrees say (`bounds.symbols`). Without curvature c is 1 where it can be.
    """
    arrays, degrees, points = instance.problem.arrays(), instance.problem.degrees, instance.problem.points
    curvature = max((float(np.abs(arrays[name]).max()) for name, each in degrees.items() if each == 2), default=0.0)
    if of == "curvature":
        a, c = 1 / size, 1.0
    elif curvature == 0.0:
        a, c = (1.0, 1 / size) if of == "point" else (1 / size, 1.0)
    else:
        c = 1 / size if of == "point" else curvature / size
        a = c**2 / curvature
    given = {}
    for name, value in instance.given.items():
        known = quantity(instance.statement, name)
        factor = 1.0 if known is None else a**known.f_degree * c**known.x_degree
        given[name] = (np.asarray(value) * factor).tolist()
    start = {name: np.asarray(value) * c for name, value in instance.start.items()}
    changed = {name: arrays[name] * (a / c**degree) for name, degree in degrees.items()}
    changed |= {name: arrays[name] * c for name in points}
    return replace(instance, problem=instance.problem.with_arrays(changed), given=given, start=start)


PASSES: tuple[Callable[[ShrinkingState], None], ...] = (
    few, alike, ordered, measured_alike, curved, units, rounded, parameters,
)  # fmt: skip
