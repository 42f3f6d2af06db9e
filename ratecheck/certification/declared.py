"""Constants that a problem of somebody's own declares, against what its own gradients and values show at some points.

A problem of this package certifies its constants by a proof, which tests examine. What another class returns is a
claim. It is refused where points at hand contradict it, since a step size that is prescribed for too small a constant
would accuse a statement of what the problem did. Points that contradict nothing prove nothing.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.problems import Constant, Problem
from ratecheck.problems.problem import SingleLevel

# Points at every distance from the start.
_POINTS, _SCALES = 6, (0.1, 1.0, 10.0)
# Steps of gradient descent from the start, which show how far f falls.
_STEPS = 50
# What rounding may add to a ratio, a square or a difference.
_SHARE = 1e-6


def check_declared(problem: Problem, constants: Mapping[str, Constant], start: Mapping[str, Array]) -> None:
    """Raise `InputError` where a point contradicts L, L_u, L_v, b, F_0 or B_0 of a problem that is none of ours.

    So where its values or gradients at the start are no numbers, of another shape, or raise something.
    """
    outside = type(problem).__module__.partition(".")[0] != __name__.partition(".")[0]
    if not (outside and isinstance(problem, SingleLevel)):
        return
    _check_start(problem, start)
    for name, least, seen in _contradictions(problem, constants, start):
        if name in constants and constants[name].value < least:
            declares = f"{type(problem).__name__} declares {name}={constants[name].value:.6g}"
            broken = "a constant that the problem itself breaks certifies nothing"
            raise InputError(f"{declares}, but {seen}{_place(problem)}: {broken}")


def _check_start(problem: SingleLevel, start: Mapping[str, Array]) -> None:
    points = [np.asarray(start.get(name, np.zeros(shape)), dtype=float) for name, shape in problem.starts.items()]
    kind = type(problem).__name__
    for function, shapes in (("value", [()]), ("gradients", [(problem.n, problem.d_u), (problem.n, problem.d_v)])):
        try:
            found = getattr(problem, function)(*points)
            arrays = [np.asarray(each, dtype=float) for each in (found if function == "gradients" else (found,))]
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            place = f"{Path(frame.filename).name}, line {frame.lineno}"
            raise InputError(f"{kind}: {function} raises {reason} ({place})") from error
        if [each.shape for each in arrays] != shapes:
            listed = " and ".join(str(each.shape) for each in arrays)
            wanted = " and ".join(map(str, shapes))
            raise InputError(f"{kind}: {function}{_place(problem, function)} returns shapes {listed}; needed {wanted}")
        if not all(np.isfinite(each).all() for each in arrays):
            raise InputError(f"{kind}: {function}{_place(problem, function)} returns NaN or infinity at the start")


def _contradictions(
    problem: SingleLevel, constants: Mapping[str, Constant], start: Mapping[str, Array]
) -> Iterator[tuple[str, float, str]]:
    """Names of constants, what they are at least, and why, point by point."""
    u0, v0 = (np.asarray(start.get(name, np.zeros(shape)), dtype=float) for name, shape in problem.starts.items())
    rng, first = np.random.default_rng(0), problem.value(u0, v0)
    at_start = float(np.sum(problem.gradients(u0, v0)[0] ** 2))
    u, v, smooth = u0, v0, constants["L"].value if "L" in constants else 0.0
    for _ in range(_STEPS if 0 < smooth < np.inf else 0):
        on_u, on_v = problem.gradients(u, v)
        u, v = u - on_u.mean(axis=0) / (2 * smooth), v - on_v / (2 * smooth)
    yield from _fallen(first, problem.value(u, v))
    yield "B_0", at_start * (1 - _SHARE), f"the squared gradients at the start are {at_start:.6g} in all"
    for scale in np.repeat(_SCALES, _POINTS):
        u, v = u0 + scale * rng.standard_normal(u0.shape), v0 + scale * rng.standard_normal(v0.shape)
        on_u, on_v = problem.gradients(u, v)
        apart = float(np.mean(np.sum((on_u - on_u.mean(axis=0)) ** 2, axis=1)))
        size = float(np.mean(np.sum(on_u**2, axis=1)))
        root = max(apart - _SHARE * size, 0.0) ** 0.5
        yield "b", root, f"at a point the gradients are {root:.6g} from their mean"
        yield from _fallen(first, problem.value(u, v))
        for step, block in ((u.shape, 0), (v.shape, 1)):
            if not np.prod(step):
                continue
            way = rng.standard_normal(step)
            moved = problem.gradients(u + way, v) if block == 0 else problem.gradients(u, v + way)
            change = np.linalg.norm(moved[block] - (on_u, on_v)[block], axis=1)
            length = np.linalg.norm(way) if block == 0 else np.linalg.norm(way, axis=1)
            ratio = float(np.max(change / length)) * (1 - _SHARE)
            for name in ("L", ("L_u", "L_v")[block]):
                yield name, ratio, f"between two points a gradient changes by {ratio:.6g} times their distance"


def _fallen(first: float, value: float) -> Iterator[tuple[str, float, str]]:
    fallen = first - value
    least = fallen - _SHARE * (abs(first) + abs(value))
    yield "F_0", least, f"at a point f is {fallen:.6g} below its value at the start"


def _place(problem: Problem, function: str = "constants") -> str:
    """Where the class says it, by default its constants."""
    code = getattr(inspect.unwrap(getattr(type(problem), function)), "__code__", None)
    return f" ({Path(code.co_filename).name}, line {code.co_firstlineno})" if code is not None else ""
