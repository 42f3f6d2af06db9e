"""Kernels of runs that were set up before: on a problem that was seen, only what differs is made again.

What is kept belongs to a problem whose oracle is fixed by arrays, and goes with it. It depends on the method, its
parameters, the start, the noise and what is recorded, and not on rounds, replicates, seeds or participation. Methods
of a user's own are read again for every run: nobody knows what else their functions look at.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from ratecheck.aliases import Array
from ratecheck.engines.setup import Setup
from ratecheck.problems import Problem

Arrays = tuple[Array, ...]

# Kernels kept per problem: bounds the memory of a sweep over step sizes.
_KEPT = 4


class Kernel(Protocol):
    """A kernel made of a setup, of which a copy serves another run that differs in nothing that it is made of."""

    def serving(self, setup: Setup | None) -> Self:
        """The kernel for a run of that setup; without one, to be kept."""


K = TypeVar("K", bound=Kernel)


class _OfProblem:
    """The kernels of one problem, by what else they depend on, and its numbers when they were made."""

    def __init__(self, arrays: Arrays) -> None:
        self.numbers = [each.copy() for each in arrays]
        self.kernels: OrderedDict[tuple[object, ...], Kernel] = OrderedDict()

    def current(self, arrays: Arrays) -> bool:
        """True where nobody has written into the problem's arrays since."""
        return all(np.array_equal(*pair) for pair in zip(self.numbers, arrays, strict=True))


_lock = threading.Lock()
_known: WeakKeyDictionary[Problem, _OfProblem] = WeakKeyDictionary()


def prepared(kind: Callable[[Setup], K], setup: Setup, *others: object) -> K:
    """``kind(setup)``, or a copy of it where it was made before; ``others`` is what else it depends on."""
    problem, algorithm = setup.problem, setup.algorithm
    arrays = problem.oracle_arrays
    if arrays is None or algorithm.own:
        return kind(setup)
    key = kind, setup.method.name, algorithm, setup.trace.selected, setup.trace.copies, *others, *_numbers(setup)
    with _lock:
        of_problem = _known.get(problem)
        found: Any = None
        if of_problem is not None and of_problem.current(arrays):
            found = of_problem.kernels.get(key)
            if found is not None:
                of_problem.kernels.move_to_end(key)
                return found.serving(setup)
        else:
            of_problem = _known[problem] = _OfProblem(arrays)
    made = kind(setup)
    with _lock:
        of_problem.kernels[key] = made.serving(None)
        while len(of_problem.kernels) > _KEPT:
            of_problem.kernels.popitem(last=False)
    return made


def _numbers(setup: Setup) -> tuple[object, ...]:
    """All that a kernel depends on beside the problem, as values that can be compared."""
    sizes = ((name, _plain(value)) for name, value in sorted(setup.step_sizes.items()))
    arrays = setup.local_steps, setup.weights, setup.point, setup.noise
    return setup.records, setup.law.kind, setup.law.shape, *sizes, *map(_plain, arrays)


def _plain(value: float | Array | Any) -> object:
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
