"""Passes that change several numbers at once, where no single one may change.

A bound that is violated by little is so where sizes, step sizes and slopes fit together: fewer rounds want step sizes
chosen anew at the edge of the conditions, or noise that is larger by as much; other units change every number; clients
are alike, or opposite, only together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from bounds.symbols import Domain
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.falsification.shrinking.simpler import Numbers, ShrinkingState, quantity, resized, with_given, without
from ratecheck.verification.instance import Instance

# Rounds and local steps that are tried with other step sizes and other noise.
_FEW = (1, 2, 3, 4, 6, 8, 12)
# Binary digits to which all numbers are rounded together.
_DIGITS = (1, 2, 3, 4, 6, 8)
# Clients up to which pairs of them are looked at.
_PAIRED = 8
# Simple values of a parameter between 0 and 1, such as a momentum.
_PARAMETERS = (0.5, 1.0, 0.0)

_Change = Callable[[Instance], Instance]


# --- Sizes, with what depends on them ---


def few(state: ShrinkingState) -> None:
    """Few rounds or local steps, with step sizes that are chosen anew or grow as the sizes fall, and more noise."""
    rounds, steps = state.numbers.size("rounds"), state.numbers.steps_in(state.instance.given)
    for names in ((rounds, steps), (rounds,), (steps,)):
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
    noisy = [name for name in given if numbers.is_noise(name) and np.any(given[name])]
    if noisy:
        for more in (0, 2):
            louder = partial(_scaled, names=noisy, factor=2.0 ** (math.ceil(math.log2(ratio) / 2) + more))
            yield louder
            if chosen:
                yield partial(_both, first=louder, second=partial(without, names=[*chosen, *claims]))
    for name in _parameters(state.instance, numbers):
        for value in _PARAMETERS:
            set_to = partial(with_given, **{name: value})
            yield partial(_both, first=set_to, second=partial(without, names=[*chosen, *claims]))


def _both(instance: Instance, first: _Change, second: _Change) -> Instance:
    return second(first(instance))


def _scaled(instance: Instance, names: list[str], factor: float) -> Instance:
    return with_given(instance, **{name: (np.asarray(instance.given[name]) * factor).tolist() for name in names})


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
            first = partial(with_given, **{name: value})
            if state.offer(partial(_both, first=first, second=partial(without, names=steps))):
                break


# --- Clients ---


def alike(state: ShrinkingState) -> None:
    """Clients with the functions of another one, or with opposite slopes: all of them, then one after the other."""
    n = state.instance.problem.n
    if not 1 < n <= _PAIRED:
        return
    for i in range(n):
        if any(state.offer(partial(_all_as, i=i, sign=sign)) for sign in (1.0, -1.0)):
            break
    for i, j in itertools.permutations(range(n), 2):
        if any(state.offer(partial(_as, i=i, j=j, sign=sign)) for sign in (1.0, -1.0)):
            continue


def _all_as(instance: Instance, i: int, sign: float) -> Instance:
    """Every client as client i, every other one with opposite slopes where the sign is one."""
    for j in range(instance.problem.n):
        if j != i:
            instance = _as(instance, i=i, j=j, sign=sign if (j - i) % 2 else 1.0)
    return instance


def _as(instance: Instance, i: int, j: int, sign: float) -> Instance:
    """Client j as client i, with opposite slopes where the sign is one."""
    problem = instance.problem
    found = {name: array.copy() for name, array in problem.arrays().items() if array.shape[:1] == (problem.n,)}
    for name, array in found.items():
        array[j] = array[i] * (sign if problem.degrees.get(name) == 1 else 1.0)
    if not found or (sign < 0 and not problem.degrees):
        raise InputError("no clients to compare")
    return replace(instance, problem=problem.with_arrays(found))


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


def rounded(state: ShrinkingState) -> None:
    """All numbers to few binary digits, as they are or in units in which one is 1, with step sizes chosen or rounded."""
    given, numbers = state.instance.given, state.numbers
    loose = [name for name in given if name in numbers.steps or numbers.is_claim(name)]
    starts: list[_Change] = [lambda instance: instance, *_units(state)]
    for digits in _DIGITS:
        for first in starts:
            second = partial(_rounded, digits=digits, numbers=numbers)
            released = partial(without, names=loose)
            if state.offer(partial(_both, first=first, second=second)):
                return
            if loose and state.offer(partial(_both, first=partial(_both, first=first, second=released), second=second)):
                return


def _rounded(instance: Instance, digits: int, numbers: Numbers) -> Instance:
    """All numbers but sizes to so many binary digits: the nearest, of step sizes those below."""
    sizes = {*numbers.statement.vocabulary.run.values(), numbers.steps_in(instance.given), "delta"}
    given = {
        name: value
        if name in sizes
        else _short(value, digits, np.floor if name in numbers.steps else np.round).tolist()
        for name, value in instance.given.items()
    }
    problem = instance.problem
    degrees = problem.degrees or dict.fromkeys(problem.arrays(), 0)
    arrays = {name: _short(array, digits) for name, array in problem.arrays().items() if name in degrees}
    start = {name: _short(value, digits) for name, value in instance.start.items()}
    return replace(instance, given=given, problem=problem.with_arrays(arrays), start=start)


def _short(value: object, digits: int, to: Callable[[Array], Array] = np.round) -> Array:
    """Numbers to so many binary digits."""
    mantissa, exponent = np.frexp(np.asarray(value, dtype=float))
    return np.asarray(np.ldexp(to(np.ldexp(mantissa, digits)), exponent - digits))


def _units(state: ShrinkingState) -> list[_Change]:
    """Units in which the largest curvature is 1 and so is a slope, a level of noise or a coordinate of the start."""
    problem = state.instance.problem
    if not problem.degrees:
        return []
    arrays = problem.arrays()
    slopes = {
        abs(x) for name, degree in problem.degrees.items() if degree == 1 for x in np.ravel(arrays[name]).tolist()
    }
    levels = [
        (float(np.max(value)), "noise") for name, value in state.instance.given.items() if state.numbers.is_noise(name)
    ]
    starts = {
        abs(float(x)) for value in state.instance.start.values() for x in np.ravel(np.asarray(value, dtype=float))
    }
    sizes = [*((x, "slope") for x in (min(slopes - {0.0}, default=0.0), max(slopes, default=0.0))), *levels]
    sizes += [(x, "start") for x in (max(starts, default=0.0),)]
    return [partial(in_units, size=size, of=of) for size, of in dict.fromkeys(sizes) if size > 0.0]


def in_units(instance: Instance, size: float, of: str) -> Instance:
    """The instance with largest curvature 1, in units in which a number of this kind and size is 1.

    f -> a f and x -> c x take a curvature H to a H/c^2, a slope g to a g/c, as noise, and a start x to c x.
    """
    arrays, degrees = instance.problem.arrays(), instance.problem.degrees
    curvature = max((float(np.abs(arrays[name]).max()) for name, each in degrees.items() if each == 2), default=0.0)
    if curvature == 0.0:
        raise InputError("nothing to measure by")
    c = 1 / size if of == "start" else curvature / size
    a = c**2 / curvature
    given = {}
    for name, value in instance.given.items():
        known = quantity(instance.statement, name)
        factor = 1.0 if known is None else a**known.f_degree * c**known.x_degree
        given[name] = (np.asarray(value) * factor).tolist()
    start = {name: np.asarray(value) * c for name, value in instance.start.items()}
    problem = instance.problem.with_arrays({name: arrays[name] * (a / c**degree) for name, degree in degrees.items()})
    return replace(instance, problem=problem, given=given, start=start)


PASSES: tuple[Callable[[ShrinkingState], None], ...] = (few, alike, curved, rounded, parameters)
