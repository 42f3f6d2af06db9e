"""``rc.bound``, the command ``bound``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bounds.statement import Evaluation, Statement
from ratecheck.api.given import Parameter, Parameters, StatementLike, one, unused, warning
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.verification.negative_bounds import NegativeBound, of_evaluation
from ratecheck.views.numbers import number
from ratecheck.views.theory.bound import evaluation_fields, evaluation_text


@dataclass(frozen=True, eq=False, repr=False)
class BoundResult(Result):
    """A bound at given numbers; ``impossible`` are claims whose bound is negative although the left side never is."""

    statement: Statement
    evaluation: Evaluation
    impossible: tuple[NegativeBound, ...]

    @property
    def value(self) -> float:
        """The right side of the first claim; it bounds nothing unless `applicable`."""
        return self.evaluation.value

    @property
    def applicable(self) -> bool:
        """Whether no condition is broken."""
        return self.evaluation.applicable

    def __str__(self) -> str:
        text = evaluation_text(self.statement, self.evaluation)
        return "\n".join([text, *(f"refuted    {each.text}" for each in self.impossible)])

    def _headline(self) -> str:
        return f"{self.statement.key}: {number(self.value)}{'' if self.applicable else ', a condition is broken'}"

    def _fields(self) -> dict[str, Any]:
        return evaluation_fields(self.statement, self.evaluation, self.impossible)


def bound(statement: StatementLike, /, *, parameters: Parameters | None = None, **named: Parameter) -> BoundResult:
    """The right side of a statement at given numbers, its terms and its conditions.

    Parameters are given by keyword under the paper's symbols, or as the mapping ``parameters``; step sizes that the
    statement itself sets are filled in. A broken condition is no error: ``result.applicable`` is False then, and the
    value bounds nothing. Raises `InputError` for a number that is missing or that the statement does not know.

    >>> import ratecheck as rc
    >>> setting = dict(n=10, m=9, K=25, T=400, L=1, F_0=1, b=0.4, sigma_u=0.3, sigma_v=0.3)
    >>> rc.bound("pfl/corollary-3.8", **setting).applicable
    True
    """
    found = one(statement)
    given = numbers(parameters, named, found.vocabulary)
    evaluation = found.evaluate(**given)
    remarks = (*unused(found.key, found.unused(given)), *warning(found))
    return BoundResult(found, evaluation, of_evaluation(found.claims, found.vocabulary, evaluation), remarks=remarks)
