"""``rc.scaling``, the command ``scaling``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ratecheck.api.given import Parameter, Parameters, StatementLike, names, one, warning
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.exponents.scaling import Agreement, Exponent, Scaling, of_order
from ratecheck.exponents.scaling import scaling as exponents_of
from ratecheck.exponents.sweep import check_measurable
from ratecheck.settings.prepare import ProblemLike, prepare
from ratecheck.settings.setting import Options
from ratecheck.views.checks.scaling import overall, scaling_fields, scaling_text
from ratecheck.views.progress import progress


@dataclass(frozen=True, eq=False, repr=False)
class ScalingResult(Result):
    """Measured exponents beside those of the bound; ``scaling`` has the measurements and what was left out."""

    scaling: Scaling

    @property
    def agreement(self) -> Agreement | None:
        """Whether all exponents are consistent with the bound's; None where there is no conclusion."""
        return self.scaling.agreement

    @property
    def exponents(self) -> dict[str, Exponent]:
        """The exponents by the parameter that was varied."""
        return {each.sweep.parameter: each for each in self.scaling.exponents}

    def __str__(self) -> str:
        return scaling_text(self.scaling)

    def _headline(self) -> str:
        over = f" in {', '.join(self.exponents)}" if self.exponents else ""
        return f"{self.scaling.statement.key}: {overall(self.scaling)}{over}"

    def _fields(self) -> dict[str, Any]:
        return scaling_fields(self.scaling)


def scaling(
    statement: StatementLike,
    /,
    *,
    problem: ProblemLike | None = None,
    over: str | Sequence[str] | None = None,
    engine: str = "auto",
    seed: int = 0,
    replicates: int = 16,
    threads: int | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> ScalingResult:
    """The exponents of both sides of a statement in K, m, T, delay and step size, on one problem.

    Problem, engine, seed and parameters as for `verify`; each parameter is varied alone around the setting. ``over``
    names what to vary, such as ``"K,T"``; by default local steps, participants, rounds, delay and step size. Raises
    `InputError` for a statement that is not about a mean over rounds, and for input that cannot be used. Where the
    range around the setting is no asymptotic one, another is looked for. Of an order nothing is measured.

    >>> import ratecheck as rc
    >>> sorted(rc.scaling("pfl/theorem-3.7", T=50, over="K").exponents)
    ['K']
    """
    found = one(statement)
    if not found.order_only:
        check_measurable(found)
    given = numbers(parameters, named, found.vocabulary)
    if found.order_only:
        return ScalingResult(of_order(found), remarks=warning(found))
    found = found.at(given)
    instance, values, name = prepare(found, problem, given)
    options = Options(engine=engine, seed=seed, replicates=replicates, threads=threads)
    chosen = None if over is None else names(over)
    with progress(f"measuring {found.key}") as report:
        measured = exponents_of(found, instance, values, options, over=chosen, name=name, progress=report)
    return ScalingResult(measured, remarks=warning(found))
