"""Constants that need not exist on the whole space, but do along a run: measured there, in the run that they prescribe.

Step sizes depend on the constant and the run on the step sizes, so the constant is found by trying: each `Measure`
says where to begin and what a run shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.engines.monte_carlo.visits import visits
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError


@dataclass(frozen=True)
class Trajectory:
    """A run: its ``setup``, its ``records`` (mean over replicates, or expectation), ``seed`` and ``replicates``.

    ``samples``: the constant has to hold for what the oracles answer, noise included.
    """

    setup: Setup
    records: Mapping[str, Array]
    seed: int
    replicates: int
    samples: bool


@dataclass(frozen=True)
class Measure:
    """``start`` is the first value to try, ``largest`` the smallest value that holds along a run.

    ``sampled`` says in words what the number lacks where the run is random.
    """

    start: Callable[[CertifiedCase], float]
    largest: Callable[[Trajectory], float | None]
    sampled: str


def _dissimilarity(trail: Trajectory) -> float | None:
    """Square root of the largest (1/n) sum_i E||grad_u f_i||^2 - E||grad_u f||^2, if recorded."""
    if not {"B", "G_u"} <= trail.records.keys():
        return None
    gap = trail.records["B"] / trail.setup.problem.n - trail.records["G_u"]
    return math.sqrt(max(float(gap.max()), 0.0)) if np.isfinite(gap).all() else math.inf


def _steepest(trail: Trajectory) -> float:
    """L_f: the largest ||grad f_i|| at a point where client i, taking part or not, makes a local step."""
    problem = trail.setup.problem.bilevel
    assert problem is not None
    xy = problem.d_x + problem.d_y
    largest = 0.0
    for visit in visits(trail.setup, seed=trail.seed, wanted=range(trail.replicates)):
        gradients = problem.Q @ visit.points[:, :xy] - problem.q[..., None]
        if trail.samples:
            # The directions of x and v have grad_x f_i and -grad_y f_i, and so has their noise.
            gradients[:, : problem.d_x] += visit.noise[:, : problem.d_x]
            gradients[:, problem.d_x :] -= visit.noise[:, xy:]
        square = np.sum(gradients**2, axis=1)
        largest = max(largest, float(square.max()) if np.isfinite(square).all() else math.inf)
    return math.sqrt(largest)


def _steepest_at_start(case: CertifiedCase) -> float:
    """Largest ||grad f_i|| at the start or, where all are 0 there, at the lower level's solution."""
    problem = case.problem.bilevel
    assert problem is not None
    x, y = (np.asarray(case.start.get(name, np.zeros(d))) for name, d in (("x0", problem.d_x), ("y0", problem.d_y)))
    for each in (y, problem.y_star(x, case.weights)):
        point = np.concatenate([x, each])
        if largest := float(np.linalg.norm(problem.Q @ point - problem.q, axis=1).max()):
            return largest
    raise InputError("L_f=0 at the start and at the lower level's solution there: give another start")


MEASURES: Mapping[str, Measure] = {
    "b": Measure(lambda _: 0.0, _dissimilarity, "comes from means over replicates, without a confidence bound"),
    "L_f": Measure(_steepest_at_start, _steepest, "is the largest over the replicates, not over all that may happen"),
}
