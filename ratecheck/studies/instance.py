"""The instance of a curve: its problem, participation, local work, measures, and the cost of a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.cost import cost
from ratecheck.engines.records import plan
from ratecheck.engines.setup import Setup, prepare
from ratecheck.errors import InputError, did_you_mean
from ratecheck.participation import Participation
from ratecheck.participation.build import build, read
from ratecheck.participation.largest import Largest
from ratecheck.problems import Problem
from ratecheck.problems.build import build as build_problem
from ratecheck.studies.study import Curve, Study

# Problems and costs are the same for many curves.
_problems: dict[str, Problem] = {}
_cost = lru_cache(cost)


def problem_of(curve: Curve) -> Problem:
    """The curve's problem; raises `InputError` for parameters that make none.

    A method that solves its inner problems exactly draws no mini-batches.
    """
    exact = METHODS[curve.algorithm].algorithm.oracle == "prox"
    parameters = {name: value for name, value in curve.parameters.items() if not (exact and name == "batch")}
    name = repr((curve.problem, sorted(parameters.items())))
    if name not in _problems:
        try:
            _problems[name] = build_problem(curve.problem, parameters)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"problem {curve.problem!r}: {' '.join(str(error).split())}") from None
    return _problems[name]


def setup_of(curve: Curve, more: Sequence[str] = ()) -> Setup:
    """The curve's run, ready for an engine, which records ``more`` than the method does.

    Raises `InputError` for what cannot be run.
    """
    problem, own = problem_of(curve), METHODS[curve.algorithm].algorithm.recorded
    setup = prepare(
        curve.algorithm, problem, participation_of(curve, problem.n), K=local_steps_of(curve, problem.n), T=curve.T,
        noise=curve.noise, records=[*own, *more], step_sizes=curve.step_sizes,
    )  # fmt: skip
    if more:  # what the method does not record by itself it may not know at all
        plan(setup)
    return setup


def tested_on(curve: Curve) -> Problem:
    """The problem on whose samples the curve's models are tested."""
    if curve.parameters.get("part") != "train":
        return problem_of(curve)
    kept = {name: value for name, value in curve.parameters.items() if name != "batch"}
    return problem_of(replace(curve, parameters={**kept, "part": "test"}))


def participation_of(curve: Curve, n: int) -> Participation:
    """The participation of n clients in all; raises `InputError` for what is no pattern."""
    pattern = curve.pattern
    if not isinstance(pattern, Mapping):
        return build(pattern, n, curve.m)
    try:
        if pattern["kind"] == Largest.kind:
            return Largest(n, curve.m, **{name: value for name, value in _renamed(pattern).items() if name != "kind"})
        return read(pattern)
    except (KeyError, TypeError) as error:
        raise InputError(f"participation {curve.participation!r}: {' '.join(str(error).split())}") from None


def local_steps_of(curve: Curve, n: int) -> int | list[int]:
    """Local steps of each of the n clients.

    A range ``{least, most, seed}`` is drawn once, uniformly and each client by itself.
    """
    steps = curve.steps
    if not isinstance(steps, Mapping):
        return steps if isinstance(steps, int) else list(steps)
    rng = np.random.default_rng(steps.get("seed", 0))
    return [int(count) for count in rng.integers(steps.get("least", 1), steps["most"] + 1, n)]


def weights_of(study: Study, curve: Curve) -> Mapping[str, float]:
    """Weights of the recorded quantities in the metric of the curve's figure."""
    weights = study.figure(curve.figure).weights
    if weights is not None:
        return weights
    n = problem_of(curve).n
    return METHODS[curve.algorithm].algorithm.metric(participation_of(curve, n).rate, n)


def _renamed(pattern: Mapping[str, Any]) -> dict[str, Any]:
    """The number of candidates has a name in files."""
    known = {"kind": "kind", "candidates": "c"}
    for name in pattern:
        if name not in known:
            raise InputError(
                f"participation of the kind {Largest.kind!r}: no key {name!r}; {did_you_mean(name, known)}"
            )
    return {known[name]: value for name, value in pattern.items()}


def models_per_round(curve: Curve) -> float:
    """Full-sized models that the participants of a round receive and send, on average over the rounds.

    A model has the coordinates of all blocks; a method whose vectors live on one block counts that block alone.
    """
    problem, once = problem_of(curve), _cost(curve.algorithm)
    sizes = problem.layout
    numbers = sum(count * sizes[block] for way in (once.received, once.sent) for block, count in way.items())
    return participation_of(curve, problem.n).rate * problem.n * numbers / problem.d
