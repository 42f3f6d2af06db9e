"""Beside a curve, the theorem: its bound at the curve's setting, and whether that setting is admissible at all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bounds.statement import ConditionCheck, Statement
from ratecheck.certification.uncertified import lacking, unmet
from ratecheck.errors import InputError
from ratecheck.settings.applicability import unlike
from ratecheck.settings.on_trace import on_trace, step_values
from ratecheck.settings.setting import Options, resolve
from ratecheck.studies.instance import participation_of, problem_of
from ratecheck.studies.study import Curve, Study


@dataclass(frozen=True)
class CurveTheory:
    """A statement at the setting of a curve.

    ``bound`` is the right side of its first claim (None where a constant or the kind of participation is missing), and
    ``broken`` says in words what keeps the statement from being about the curve; empty: the setting is admissible.
    """

    curve: Curve
    statement: Statement
    bound: float | None
    broken: tuple[str, ...]

    @property
    def admissible(self) -> bool:
        """Whether the statement is about the curve."""
        return not self.broken


def theory(study: Study) -> tuple[CurveTheory, ...]:
    """Each of the study's theorems on each curve of its algorithm; curves that are drawn again are left out."""
    return tuple(
        _on_curve(curve, statement)
        for curve in study.curves
        for statement in study.theorems
        if statement.algorithm == curve.algorithm and curve.figure == curve.runs
    )


def _on_curve(curve: Curve, statement: Statement) -> CurveTheory:
    problem = problem_of(curve)
    pattern = participation_of(curve, problem.n)
    vocabulary = statement.vocabulary
    run = vocabulary.run
    given: dict[str, float] = {run["local_steps"]: curve.K, run["rounds"]: curve.T}
    if run.get("participants") in statement.parameters:
        given[run["participants"]] = pattern.size or curve.m
    noise = {"sigma_u": curve.sigma_u, "sigma_v": curve.sigma_v, "sigma": math.hypot(curve.sigma_u, curve.sigma_v)}
    given |= {name: value for name, value in {**curve.step_sizes, **noise}.items() if name in vocabulary}
    try:
        with np.errstate(all="ignore"):
            setting = resolve(statement, problem, pattern, given, Options(traces=1))
            reason = unlike(statement, pattern, setting.size("participants")) or unmet(statement, problem, pattern)
            if reason:
                return CurveTheory(curve, statement, None, (reason,))
            on = on_trace(setting, setting.traces()[0])
            missing = tuple(f"{c.name} does not exist: {c.reason}" for c in on.absent.values())
            if reasons := (*missing, *lacking(statement, on.case), *on.contradicted):
                return CurveTheory(curve, statement, None, reasons)
            evaluation = statement.evaluate(**step_values(on).values)
    except InputError as error:
        return CurveTheory(curve, statement, None, (str(error),))
    return CurveTheory(curve, statement, evaluation.value, tuple(map(_broken, evaluation.broken)))


def _broken(check: ConditionCheck) -> str:
    sides = "" if check.left is None or check.right is None else f": {check.left:.3g} against {check.right:.3g}"
    return f"{check.condition.text}{sides}"
