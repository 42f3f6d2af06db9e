"""``rc.stepsize``, the command ``stepsize``."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bounds.statement import Statement
from ratecheck.api.given import Parameter, Parameters, StatementLike, names, one, unused, warning
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible import StepSizes, step_sizes
from ratecheck.stepsizes.interval import Interval
from ratecheck.stepsizes.nearest import Nearest, nearest
from ratecheck.stepsizes.region import Region, choose_axes, free_constants
from ratecheck.stepsizes.region import region as region_of
from ratecheck.verification.negative_bounds import NegativeBound, of_evaluation
from ratecheck.views.numbers import number
from ratecheck.views.progress import progress
from ratecheck.views.theory.stepsizes import region_fields, region_text, step_sizes_fields, step_sizes_text


@dataclass(frozen=True, eq=False, repr=False)
class StepsizeResult(Result):
    """Step sizes that a statement admits.

    ``step_sizes`` has everything. ``nearest`` is what would be admissible where nothing is, ``impossible`` claims whose
    bound is negative at admissible step sizes although the left side never is, ``region`` the region of two step sizes
    where one was requested.
    """

    step_sizes: StepSizes
    nearest: Nearest | None
    impossible: tuple[NegativeBound, ...]
    region: Region | None = None

    @property
    def feasible(self) -> bool:
        """Whether any step sizes are admissible."""
        return self.step_sizes.feasible

    @property
    def admissible(self) -> dict[str, Interval]:
        """The interval of each step size: the values for which some choice of the others meets every condition."""
        return self.step_sizes.admissible if self.feasible else {}

    @property
    def prescribed(self) -> dict[str, float]:
        """The step sizes that the statement sets; for "at least" the smallest value."""
        return self.step_sizes.prescribed

    @property
    def optimal(self) -> dict[str, float]:
        """The step sizes that minimise the bound."""
        return self.step_sizes.optimal

    @property
    def conflict(self) -> tuple[str, ...]:
        """A smallest set of conditions that cannot hold together; empty where step sizes are admissible."""
        return self.step_sizes.conflict

    def __str__(self) -> str:
        lines = [step_sizes_text(self.step_sizes, self.nearest)]
        lines += [] if self.region is None else [region_text(self.region)]
        return "\n".join([*lines, *(f"refuted: {each.text}" for each in self.impossible)])

    def _headline(self) -> str:
        if not self.feasible:
            return f"{self.step_sizes.statement.key}: nothing is admissible"
        steps = ", ".join(f"{name}={number(value)}" for name, value in self.optimal.items())
        return f"{self.step_sizes.statement.key}: {steps or ', '.join(self.admissible)}"

    def _fields(self) -> dict[str, Any]:
        fields = step_sizes_fields(self.step_sizes, self.nearest, self.impossible)
        return fields if self.region is None else {**fields, "region": region_fields(self.region)}


def stepsize(
    statement: StatementLike,
    /,
    *,
    region: str | Sequence[str] | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> StepsizeResult:
    """The step sizes that a statement admits, prescribes, and that minimise its bound.

    Parameters as for `bound`: the constants of the problem (L, F_0, ...) and the setting (n, m, K, T); step sizes given
    too are taken as fixed. ``region`` names two step sizes or constants, such as ``"gamma_u,eta_u"``, whose region is
    wanted too. That nothing is admissible is no error: ``result.feasible`` is False then. Raises `InputError` for a
    statement without conditions on step sizes, for a number that a condition lacks, and for a region of nothing.

    >>> import ratecheck as rc
    >>> found = rc.stepsize("pfl/theorem-3.7", n=10, m=9, K=25, L=1)
    >>> found.admissible["gamma"].high
    0.00125
    """
    found = one(statement)
    given = numbers(parameters, named, found.vocabulary)
    found = found.at(given)
    axes = None if region is None else ",".join(names(region))
    with progress(f"step sizes of {found.key}"):
        answer = step_sizes(found, given, free_constants(found, axes, given))
    negative = _negative(found, given, answer)
    with progress("nearest that is admissible"):
        closest = None if answer.feasible else nearest(answer.problem, given, answer.core)
    drawn = None
    if axes is not None:
        if not answer.feasible:
            raise InputError(f"the feasible set is empty: {'; '.join(answer.conflict)}")
        with progress("region"):
            drawn = region_of(answer.problem, answer.admissible, choose_axes(answer.problem, answer.admissible, axes))
    remarks = (*unused(found.key, found.unused(given)), *warning(found))
    return StepsizeResult(answer, closest, negative, drawn, remarks=remarks)


def _negative(statement: Statement, given: dict[str, Any], answer: StepSizes) -> tuple[NegativeBound, ...]:
    """Bounds that are negative at the step sizes that minimise the first one, near them, or at those prescribed."""
    if not answer.feasible or statement.order_only:
        return ()
    best = {name: value for name, value in answer.optimal.items() if name not in given}
    near = [
        {name: _towards(end, answer.admissible[name], share) for name, end in answer.approached.items()}
        for share in _NEAR
        if answer.approached
    ]
    for chosen in (best, *({**best, **each} for each in near), {}):
        with contextlib.suppress(InputError):
            evaluation = statement.evaluate(**{**given, **chosen})
            found = of_evaluation(statement.claims, statement.vocabulary, evaluation)
            if found:
                return found
    return ()


# How far from an end that is only approached the bound is looked at, as a share of the way to the other end.
_NEAR = (1e-9, 1e-6, 1e-4, 1e-2, 0.1)


def _towards(end: float, interval: Interval, share: float) -> float:
    """A value inside the interval, a share of the way from one of its ends to the other one."""
    if math.isinf(end):
        return max(interval.low, 1.0) / share
    high = interval.high if math.isfinite(interval.high) else 2 * end + 1
    other = high if end <= interval.low else interval.low
    return end + share * (other - end)
