"""The kinds of runs in exact numbers, and which of them a problem has."""

from __future__ import annotations

from ratecheck.engines.rigorous.exact_run import ExactRun
from ratecheck.engines.rigorous.mean_field_runs import MeanFieldRun
from ratecheck.engines.rigorous.moment_runs import RigorousRun
from ratecheck.engines.rigorous.piecewise_runs import PiecewiseRun
from ratecheck.problems import Problem

RUNS: tuple[type[ExactRun], ...] = (RigorousRun, PiecewiseRun, MeanFieldRun)


def exact_runs(problem: Problem) -> type[ExactRun] | None:
    """The kind of runs in exact numbers on the problem; None where they are not followed rigorously."""
    return next((kind for kind in RUNS if kind.form(problem) is not None), None)
