"""Constants that a user's problem declares, tested against its gradients and values at some points.

A problem of this package certifies its constants by a proof, which tests examine. What another class returns is a
claim. It is refused where points at hand contradict it, since a step size that is prescribed for too small a constant
would show a violation that is due to the problem, not to the statement. Points that contradict nothing prove nothing.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ratecheck.aliases import Array
from ratecheck.certification.attempts import Attempts
from ratecheck.errors import InputError
from ratecheck.problems import Certificate, Constant, Problem
from ratecheck.problems.problem import SingleLevel

# What rounding may add to a ratio, a square or a difference.
_SHARE = 1e-6
_BROKEN = "a constant that the problem itself breaks certifies nothing"


def check_declared(problem: Problem, constants: Mapping[str, Constant], start: Mapping[str, Array]) -> None:
    """Raise `InputError` where a point contradicts L, L_u, L_v, b, F_0 or B_0 of a problem that is none of ours.

    So for what is `Certificate.DECLARED`, with strong convexity and the Polyak-Lojasiewicz inequality then, and where
    values or gradients at the start are no numbers, of another shape, or raise something.
    """
    outside = type(problem).__module__.partition(".")[0] != __name__.partition(".")[0]
    declared = any(each.certificate is Certificate.DECLARED for each in constants.values())
    if not (outside or declared):
        return
    try:
        single = problem.single
    except InputError:
        return
    _check_start(single, start)
    tried = Attempts(single, start)
    for name, least, seen in _contradictions(tried, constants):
        if name in constants and constants[name].value < least:
            declares = f"{type(problem).__name__} declares {name}={constants[name].value:.6g}"
            raise InputError(f"{declares}, but {seen}{_place(problem)}: {_BROKEN}")
    for why in _too_large(tried, constants):
        raise InputError(f"{type(problem).__name__} declares {why}{_place(problem)}: {_BROKEN}")


def _check_start(problem: SingleLevel, start: Mapping[str, Array]) -> None:
    points, kind = problem.start(start), type(problem).__name__
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


def _contradictions(tried: Attempts, constants: Mapping[str, Constant]) -> Iterator[tuple[str, float, str]]:
    """Names of constants, what they are at least, and why, point by point."""
    at_start = float(np.sum(tried.gradients(tried.start)[0] ** 2))
    yield "B_0", at_start * (1 - _SHARE), f"the squared gradients at the start are {at_start:.6g} in all"
    smooth = constants["L"].value if "L" in constants else 0.0
    yield from _fallen(tried.first, tried.lowest(smooth))
    for root in tried.apart():
        yield "b", root, f"at a point the gradients are {root:.6g} from their mean"
    for block, name in enumerate(("L_u", "L_v")):
        for ratio in tried.bent(block):
            for each in ("L", name):
                yield each, ratio, f"between two points a gradient changes by {ratio:.6g} times their distance"


def _too_large(tried: Attempts, constants: Mapping[str, Constant]) -> Iterator[str]:
    """Why constants are smaller than what is declared, such as strong convexity that f lacks at some points."""
    declared = {name: each.value for name, each in constants.items() if each.certificate is Certificate.DECLARED}
    mu = declared.get("strong_convexity")
    if mu is not None and (least := tried.least_bent()) < mu * (1 - _SHARE):
        seen = f"between two points <grad f(x) - grad f(y), x - y> is {least:.6g} times ||x - y||^2"
        yield f"strong_convexity={mu:.6g}, but {seen}"
    mu = declared.get("polyak_lojasiewicz")
    if mu is not None and (least := tried.least_dominance()) < mu * (1 - _SHARE):
        yield f"polyak_lojasiewicz={mu:.6g}, but at a point ||grad f||^2 is {2 * least:.6g} times f - inf f at most"


def _fallen(first: float, value: float) -> Iterator[tuple[str, float, str]]:
    fallen = first - value
    least = fallen - _SHARE * (abs(first) + abs(value))
    yield "F_0", least, f"at a point f is {fallen:.6g} below its value at the start"


def _place(problem: Problem, function: str = "constants") -> str:
    """The place of a declaration in the user's class, by default its constants; empty for a formula."""
    if type(problem).__module__.partition(".")[0] == __name__.partition(".")[0]:
        return ""
    code = getattr(inspect.unwrap(getattr(type(problem), function)), "__code__", None)
    return f" ({Path(code.co_filename).name}, line {code.co_firstlineno})" if code is not None else ""
