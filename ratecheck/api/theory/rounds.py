"""``rc.rounds``, the command ``rounds``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ratecheck.api.given import Parameter, Parameters, StatementLike, one, unused, warning
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.complexity.rounds import Horizon, horizon
from ratecheck.errors import InputError
from ratecheck.views.progress import progress
from ratecheck.views.theory.horizon import horizon_fields, horizon_text


@dataclass(frozen=True, eq=False, repr=False)
class RoundsResult(Result):
    """The number of rounds that a bound needs; ``horizon`` has the step sizes there and what so many rounds cost."""

    horizon: Horizon

    @property
    def rounds(self) -> int | None:
        """The smallest T with a bound of at most eps; None without eps, or where no T up to 2^53 will do."""
        return self.horizon.rounds

    @property
    def vacuous_until(self) -> int | None:
        """The smallest T from which the bound says more than smoothness alone; None where there is none."""
        return self.horizon.vacuous_until

    def __str__(self) -> str:
        return horizon_text(self.horizon)

    def _headline(self) -> str:
        found = self.horizon
        said = "" if found.eps is None else f"{found.counter} = {found.rounds} for eps={found.eps:g}; "
        return f"{found.statement.key}: {said}not vacuous from {found.counter} = {found.vacuous_until}"

    def _fields(self) -> dict[str, Any]:
        return horizon_fields(self.horizon)


def rounds(
    statement: StatementLike, /, *, best: bool = False, parameters: Parameters | None = None, **named: Parameter
) -> RoundsResult:
    """The smallest T for which the bound is at most ``eps``, and the smallest from which it is not vacuous.

    Step sizes follow the statement's rules at every T; those that it leaves open minimise the bound, and with ``best``
    so do those that it leaves a choice. Parameters as for `bound`, ``eps`` among them; without it only the second
    number is found. Raises `InputError` for an order, which has no value, and for a number that is missing.

    >>> import ratecheck as rc
    >>> setting = dict(n=10, m=9, K=25, L=1, F_0=1, b=0.4, sigma_u=0.3, sigma_v=0.3)
    >>> rc.rounds("pfl/corollary-3.8", eps=0.1, **setting).rounds > 0
    True
    """
    found = one(statement)
    given = numbers(parameters, named, found.vocabulary)
    found = found.at(given)
    eps = given.pop("eps", None) if "eps" not in found.vocabulary else None
    if found.order_only:
        raise InputError(
            f"{found.key} is known only up to a constant (the paper prints O(...)), so it implies no number of "
            "rounds; 'show' prints the order"
        )
    with progress(f"searching rounds of {found.key}"):
        answer = horizon(found, given, eps, best=best)
    return RoundsResult(answer, remarks=(*unused(found.key, found.unused(given)), *warning(found)))
