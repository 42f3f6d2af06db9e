"""Small problems that are worst for many statements, in units of a curvature and a step size: before they are scaled.

All runs start at 0. Clients are of two kinds; curvatures are those at both ends of what a statement admits, and such
that a run is over after its rounds. Piecewise quadratic ones are flat where the run leads, or are hills.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.problems import Problem, build

# How near to a minimiser a run starts where all that is left is noise.
_NEAR = 2.0**-20
_MIDDLE = 0.3
# The slope that balances one of 1, but for a start that is no minimiser; problems that are drawn.
_BALANCED, _DRAWN = -1 + 2.0**-10, 6


@dataclass(frozen=True)
class Scales:
    """Clients ``n``, personal variables ``d_v``, curvatures from ``low`` to ``high``, and how ``long`` a run is.

    ``long`` is the sum of its steps, ``bent`` whether clients' functions need not be convex, ``alike`` whether all
    clients have the same curvature, and ``cocoercive`` whether an operator is, with 1/``high``.
    """

    n: int
    d_v: int
    low: float
    high: float
    long: float
    bent: bool
    alike: bool
    cocoercive: bool

    @property
    def curvatures(self) -> list[float]:
        """From the largest to the smallest."""
        over = 1 / self.long if self.long > 0 else self.low
        found = (self.high, min(max(over, self.low), self.high), max(self.low, _MIDDLE * self.high), self.low)
        return [each for each in dict.fromkeys(found) if each > 0]


def in_turns(*kinds: Iterable[Problem]) -> Iterator[Problem]:
    """The first of each kind, then the second of each, and so on: none keeps the others waiting."""
    for each in itertools.zip_longest(*kinds):
        yield from (problem for problem in each if problem is not None)


def quadratics(at: Scales) -> Iterator[Problem]:
    """Clients that are equal, with a gradient of -1 at the start; a start near a minimiser; two curvatures at once."""
    first, *others = at.curvatures
    yield _quadratic(at, (first, first), (1.0, 1.0))
    yield _quadratic(at, (at.high, at.high), (_NEAR, _NEAR))
    for curvature in others:
        yield _quadratic(at, (curvature, curvature), (1.0, 1.0))
    yield _quadratic(at, (at.high, at.high), (1.0, 1.0), beside=at.curvatures[-1])
    if at.d_v:
        yield _quadratic(at, (at.high, at.high), (1.0, 1.0), coupled=True)


def unlike_clients(at: Scales) -> Iterator[Problem]:
    """Clients of two kinds, half and half, and one beside the others; each client's gradient at the start is -slope."""
    low = at.curvatures[-1]
    for alone in () if at.n == 1 else (False, True) if at.n > 2 else (False,):
        if at.alike:
            yield _quadratic(at, (low, low), (1.0, _BALANCED), alone=alone)
        else:
            yield _quadratic(at, (at.high, low), (1.0, _BALANCED), alone=alone)
            yield _quadratic(at, (low, at.high), (1.0, _BALANCED), alone=alone)
            if at.bent:
                yield _quadratic(at, (at.high, -_MIDDLE * at.high), (1.0, 1.0), alone=alone)
        for slopes in ((1.0, _BALANCED), (1.0, 0.0)):
            yield _quadratic(at, (at.high, at.high), slopes, alone=alone)


def _quadratic(
    at: Scales,
    curvatures: tuple[float, float],
    slopes: tuple[float, float],
    *,
    alone: bool = False,
    coupled: bool = False,
    beside: float | None = None,
) -> Problem:
    """Two kinds of clients, of which the first is ``alone`` or half of all; ``beside`` is a second curvature."""
    kind = _kinds(at.n, alone=alone)
    shared = 1 if beside is None else 2
    d = shared + at.d_v
    H, g = np.zeros((at.n, d, d)), np.zeros((at.n, d))
    for c in range(d):
        H[:, c, c] = np.array(curvatures)[kind] if c != 1 or beside is None else beside
        g[:, c] = np.array(slopes)[kind]
    if coupled:
        H[:, 0, shared] = H[:, shared, 0] = curvatures[0] / 2
    return build.read({"kind": "quadratic", "H": H, "g": g, "shared": shared})


def drawn(at: Scales) -> Iterator[Problem]:
    """Two shared variables, and each client with curvatures and slopes of its own where they may differ."""
    rng = np.random.default_rng([at.n, at.d_v])
    for _ in range(_DRAWN):
        d = 2 + at.d_v
        shares = rng.choice((0.0, 0.5, 1.0), size=(1 if at.alike else at.n, d))
        H, g = np.zeros((at.n, d, d)), rng.normal(size=(at.n, d))
        low = at.curvatures[-1]
        H[:, range(d), range(d)] = low + shares * (at.high - low)
        yield build.read({"kind": "quadratic", "H": H, "g": g, "shared": 2})


def _kinds(n: int, *, alone: bool) -> NDArray[np.intp]:
    return np.minimum(np.arange(n) // (1 if alone else -(-n // 2)), 1)


def pieces(at: Scales) -> Iterator[Problem]:
    """Clients on a slope that ends where the run does, before or after, or on two slopes; on a bowl."""
    for end in (1.0, 0.5, 2.0):
        yield _piecewise(at, (at.long * end, 2 * at.long * end + 1), (at.low, at.high, at.low))
    if at.n > 1:
        yield _piecewise(at, (at.long, 2 * at.long + 1), (at.low, at.high, at.low), other=_MIDDLE)
    yield _piecewise(at, (at.long / 2, at.long), (at.high, at.low, at.high))


def hills(at: Scales) -> Iterator[Problem]:
    """Clients whose run leads over a hill, starts on one, or ends in the smaller of two wells, away from the other."""
    if at.bent:
        wide = max(at.long, 4 / at.high)
        for kinks in ((-wide, -wide / 8), (at.long / 4, at.long / 2), (-1e-3 * at.long, at.long / 4)):
            yield _piecewise(at, kinks, (at.high, -at.high, at.high))


def _piecewise(
    at: Scales, kinks: tuple[float, float], curvatures: tuple[float, float, float], *, other: float | None = None
) -> Problem:
    """Equal clients with a slope of -1 at the start, or the second half mirrored with the ``other`` slope."""
    mirrored = (_kinds(at.n, alone=False) > 0) & (other is not None)

    def of_all(row: tuple[float, ...], sign: float) -> NDArray[np.float64]:
        rows = np.where(mirrored[:, None], sign * np.array(row[::-1]), np.array(row))
        return np.asarray(rows[:, None, :])

    slopes = np.where(mirrored, other or 0.0, -1.0)[:, None]
    arrays = {"kinks": of_all(kinks, -1.0), "curvatures": of_all(curvatures, 1.0), "slopes": slopes}
    return build.read({"kind": "piecewise", **arrays})


def turns(at: Scales) -> Iterator[Problem]:
    """Operators that turn around a saddle point, with no curvature, with little and with as much."""
    for curvature in dict.fromkeys((at.low, at.high / 2, at.high)):
        turn = max((curvature if at.cocoercive else at.high) * at.high - curvature**2, 0.0) ** 0.5
        A, B = (np.full((at.n, 1, 1), each) for each in (curvature, turn))
        ones = np.ones((at.n, 1))
        yield build.read({"kind": "minmax", "A": A, "B": B, "C": A, "a": ones, "c": ones})


def larger(problem: Problem, times: float) -> Problem:
    """The problem with the same curvatures in which a run is so many times as large."""
    arrays = problem.arrays()
    names = {*problem.points, *(name for name, degree in problem.degrees.items() if degree == 1)}
    return problem.with_arrays({name: arrays[name] * times for name in names})
