"""Beside a curve, the theorem: its bound at the curve's setting, and whether that setting is admissible at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.statement import ConditionCheck, Over, Relation, Statement, number
from ratecheck.certification.uncertified import lacking, required, unmet
from ratecheck.errors import InputError
from ratecheck.settings.applicability import unlike
from ratecheck.settings.on_trace import OnTrace, on_trace, step_values
from ratecheck.settings.setting import Options, resolve
from ratecheck.studies.instance import local_steps_of, participation_of, problem_of, weights_of
from ratecheck.studies.study import Curve, Study


@dataclass(frozen=True)
class CurveTheory:
    """A statement at the setting of a curve.

    ``bound`` is the right side of its first claim (None where a constant or the kind of participation is missing), and
    ``broken`` says in words what keeps the statement from being about the curve; empty: the setting is admissible.
    ``metric_bound`` is what the bound implies of the mean over all rounds of the figure's metric, whose weights may
    differ from the statement's; None where it implies nothing. ``mean`` is that over all rounds of the figure's metric,
    or of the method's own where the figure shows its models.
    """

    curve: Curve
    statement: Statement
    bound: float | None
    broken: tuple[str, ...]
    metric_bound: float | None = None
    mean: float = math.nan

    @property
    def admissible(self) -> bool:
        """Whether the statement is about the curve."""
        return not self.broken


def theory(study: Study) -> tuple[CurveTheory, ...]:
    """Each of a figure's theorems on each curve of its algorithm; curves that are drawn again are left out."""
    return tuple(
        on_curve(curve, statement, weights_of(study, curve))
        for curve in study.curves
        for statement in statements_on(curve, study)
        if curve.figure == curve.runs
    )


def statements_on(curve: Curve, study: Study) -> tuple[Statement, ...]:
    """The theorems of the curve's figure about its algorithm, in the order of the file."""
    own = study.figure(curve.figure).theorems
    return tuple(each for each in (study.theorems if own is None else own) if each.algorithm == curve.algorithm)


def on_curve(curve: Curve, statement: Statement, weights: Mapping[str, float]) -> CurveTheory:
    """The statement at the curve's setting; ``weights`` are those of the figure's metric."""
    try:
        with np.errstate(all="ignore"):
            found = placed(curve, statement, curve.step_sizes)
            if isinstance(found, tuple):
                return CurveTheory(curve, statement, None, found)
            values = step_values(found).values
            evaluation = statement.evaluate(**values)
    except InputError as error:
        return CurveTheory(curve, statement, None, (str(error),))
    broken, factor = tuple(map(_broken, evaluation.broken)), _factor(statement, values, weights)
    implied = None if factor is None else factor * evaluation.value
    return CurveTheory(curve, statement, evaluation.value, broken, implied)


def placed(curve: Curve, statement: Statement, step_sizes: Mapping[str, float]) -> OnTrace | tuple[str, ...]:
    """The statement on the curve's run with these step sizes, for one draw of the participants; else why it is not."""
    problem = problem_of(curve)
    pattern = participation_of(curve, problem.n)
    vocabulary = statement.vocabulary
    run = vocabulary.run
    given: dict[str, Any] = {run["rounds"]: curve.T} if "rounds" in run else {}
    if "local_steps" in run:
        given[_local_steps(statement)] = local_steps_of(curve, problem.n)
    if run.get("participants") in statement.parameters:
        given[run["participants"]] = pattern.size or curve.m
    noise = {**curve.noise, "sigma": math.hypot(*curve.noise.values())}
    given |= {name: value for name, value in {**step_sizes, **noise}.items() if name in vocabulary}
    setting = resolve(statement, problem, pattern, given, Options(traces=1))
    reason = unlike(statement, problem, pattern, setting.size("participants")) or unmet(
        statement.assumptions, problem, pattern
    )
    if reason:
        return (reason,)
    on = on_trace(setting, setting.traces()[0])
    missing = tuple(c.missing for c in on.absent.values())
    return (*missing, *lacking(required(statement.assumptions, statement.vocabulary, on.case)), *on.contradicted) or on


def _factor(statement: Statement, values: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
    """The least c such that the figure's metric is at most c times what the statement bounds, whatever is recorded."""
    claim = statement.claims[0]
    if claim.metric.over is not Over.MEAN_OF_ROUNDS or claim.relation is not Relation.AT_MOST:
        return None
    facts = statement.vocabulary.facts
    own = {facts.get(s.name, s.name): number(weight, values) for s, weight in claim.metric.weights.items()}
    # What is recorded is nonnegative; a weight below zero would take something away.
    if any(weight < 0 for weight in own.values()) or any(own.get(name, 0.0) <= 0 for name in weights):
        return None
    return max(weight / own[name] for name, weight in weights.items())


def _local_steps(statement: Statement) -> str:
    """The name by which clients are given their numbers of local steps, of which the paper's symbol may be the mean."""
    vocabulary = statement.vocabulary
    symbol = vocabulary.run["local_steps"]
    return next((name for name in vocabulary.aliases if symbol in vocabulary.reach(name)), symbol)


def _broken(check: ConditionCheck) -> str:
    sides = "" if check.left is None or check.right is None else f": {check.left:.3g} against {check.right:.3g}"
    return f"{check.condition.text}{sides}"
