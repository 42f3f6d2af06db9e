"""The run that an engine evaluates, as `simulate`, `exact` and `exact_average` take it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, cast

from numpy.typing import ArrayLike

from ratecheck.errors import InputError
from ratecheck.participation import Participation
from ratecheck.problems import Problem

Function = TypeVar("Function", bound=Callable[..., Any])

# Standard deviations of the noise, by the oracle that they are of.
_NOISE = ("sigma", "sigma_u", "sigma_v", "sigma_f", "sigma_g")


@dataclass(frozen=True)
class RunRequest:
    """T rounds of K local steps of an algorithm, by name, on a problem with a participation pattern.

    ``x0`` (d_u,) and ``v0`` (n, d_v) are the start, zeros by default; on bilevel problems ``x0`` (d_x,), ``y0`` (d_y,)
    and ``v0`` (d_y,). ``K`` is one number or one per client; T is needed unless ``trace`` is a matrix, which says it.
    ``noise`` has the standard deviations by name. ``weights`` are the coefficients a_i^(k) of the methods that weigh
    their local steps, (n,), (K,) or (n, K). ``records`` names what to record: by default what the method's theorems are
    about. Nothing is checked here; see `ratecheck.engines.setup.ready`.
    """

    algorithm: str
    problem: Problem
    trace: Participation
    K: int | Sequence[int]
    T: int | None = None
    x0: ArrayLike | None = None
    y0: ArrayLike | None = None
    v0: ArrayLike | None = None
    weights: ArrayLike | None = None
    records: Sequence[str] | None = None
    noise: Mapping[str, float | None] | None = None
    step_sizes: Mapping[str, ArrayLike] = field(default_factory=dict)

    @classmethod
    def of(cls, algorithm: str, problem: Problem, trace: Participation, given: Mapping[str, Any]) -> RunRequest:
        """The request of a call with the keywords ``given``: what is neither a part of it nor noise is a step size."""
        own, noise = ({name: given[name] for name in names if name in given} for names in (_OPTIONS, _NOISE))
        rest = {name: value for name, value in given.items() if name not in {*own, *noise}}
        return cls(algorithm, problem, trace, **own, noise=noise, step_sizes=rest)


# The keywords of a call that are parts of the request under their own names.
_OPTIONS = {
    each.name: inspect.Parameter.empty if each.default is MISSING else each.default
    for each in fields(RunRequest)
    if each.name not in ("algorithm", "problem", "trace", "noise", "step_sizes")
}


def takes_runs(function: Function) -> Function:
    """Let a function that takes ``**given`` of `RunRequest.of` show the keywords, and say which of them it misses."""
    seen = inspect.signature(function)
    *first, given = seen.parameters.values()
    kind = inspect.Parameter.KEYWORD_ONLY
    head = [each for each in first if each.kind is not kind]
    options = [inspect.Parameter(name, kind, default=default) for name, default in _OPTIONS.items()]
    noise = [inspect.Parameter(name, kind, default=None) for name in _NOISE]
    shown = [*head, *options, *noise, *(each for each in first if each.kind is kind), given.replace(name="step_sizes")]
    signature = seen.replace(parameters=shown)
    needed = [each.name for each in shown if each.default is each.empty and each.kind is not each.VAR_KEYWORD]

    @functools.wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        has = {*needed[: len(args)], *given}
        if missing := [name for name in needed if name not in has]:
            raise InputError(f"{function.__name__} needs {', '.join(missing)}: give {missing[0]}=...")
        return function(*args, **given)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    return cast("Function", checked)
