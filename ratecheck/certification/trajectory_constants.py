"""Constants that need not exist on the whole space, but do along a run: measured there, in the run that they prescribe.

Step sizes depend on the constant and the run on the step sizes, so the constant is found by trying: each `Measure`
says where to begin and what a run shows. Where another problem with the same run has the constant everywhere, it is
that problem's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.certification.continued_functions import Continued
from ratecheck.engines.monte_carlo import bilevel_rounds
from ratecheck.engines.monte_carlo.bilevel_rounds import STEEPEST
from ratecheck.engines.monte_carlo.played import Played
from ratecheck.engines.monte_carlo.visits import visits
from ratecheck.engines.outcomes import enumerated
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.problems import Bilevel, BilevelSamples, Certificate, Constant
from ratecheck.problems.quadratic_functions import UNBOUNDED, QuadraticFunctions


@dataclass(frozen=True)
class Trajectory:
    """A run: its ``setup``, its ``records`` (mean over replicates, or expectation), ``seed`` and ``replicates``.

    ``samples``: the constant has to hold for what the oracles answer, noise included. ``continues``: nothing is assumed
    of points that the run does not see, so that functions may continue otherwise there. ``played`` has what attempts
    before this one played. ``steep``: nothing is assumed of how curved functions are, either.
    """

    setup: Setup
    records: Mapping[str, Array]
    seed: int
    replicates: int
    samples: bool
    continues: bool = True
    played: Played = field(default_factory=Played)
    steep: bool = False

    @cached_property
    def continued(self) -> Continued | None:
        """The functions of the run as they may continue, which several constants are read off."""
        if not self.continues:
            return None
        found = partial(Continued.of, self.setup, self.records, steep=self.steep)
        return self.played.once(self.setup, "continued", found)


@dataclass(frozen=True)
class Measure:
    """``start`` is the first value to try, ``largest`` the smallest value that holds along a run.

    ``sampled`` says in words what the number lacks where the run is random. ``partial``: it is that of the server's
    models, not of every point at which a client evaluates a gradient. ``possible`` says whether a run of the case may
    show one, and ``weakens`` whether a larger number that the statement fixes stands in for a certified one.
    ``beyond``: it is only that of functions which continue otherwise beyond the run. ``of_run``: the statement means
    the run by it, so that nothing stands in for what it requires.
    """

    start: Callable[[CertifiedCase], float]
    largest: Callable[[Trajectory], Constant]
    sampled: str
    partial: bool = False
    possible: Callable[[CertifiedCase], bool] = lambda _: True
    weakens: bool = False
    beyond: bool = False
    of_run: bool = False


def _along(name: str, value: float | None) -> Constant:
    """A constant of the points of a run; absent where it was not recorded or is no number."""
    if value is None or not math.isfinite(value):
        why = "not measured along the run" if value is None else "not finite along the run"
        return Constant.absent(name, why)
    return Constant(name, value, Certificate.TRAJECTORY, "measured at its iterates")


def _dissimilarity(trail: Trajectory) -> Constant:
    """b, as a bound everywhere or for the server's models.

    For these it is the root of the largest (1/n) sum_i E||grad_u f_i||^2 - E||grad_u f||^2, if that is recorded.
    """
    continued = trail.continued
    if continued is not None and math.isfinite(continued.dissimilarity2):
        return Constant("b", math.sqrt(continued.dissimilarity2), Certificate.UPPER_BOUND, BEYOND)
    if not {"B", "G_u"} <= trail.records.keys():
        return _along("b", None)
    gap = trail.records["B"] / trail.setup.problem.n - trail.records["G_u"]
    return _along("b", math.sqrt(max(float(gap.max()), 0.0)) if np.isfinite(gap).all() else math.inf)


def _gap(trail: Trajectory) -> Constant:
    """F_0 of a function that has a minimum beyond what the run sees."""
    continued = trail.continued
    if continued is None or not math.isfinite(continued.gap):
        problem = trail.setup.problem.objective
        why = UNBOUNDED if problem is None else problem.no_minimum
        return Constant.absent("F_0", why)
    return Constant("F_0", continued.gap, Certificate.UPPER_BOUND, STEEP if trail.steep else BEYOND)


def _has_gap(case: CertifiedCase) -> bool:
    """Whether the run is that of one coordinate after the other, and nothing in it is random."""
    problem, pattern = case.problem.quadratic, case.participation
    if problem is None or pattern is None or not pattern.deterministic or case.noisy or pattern.mixes < 1:
        return False
    return not (problem.H * (1 - np.eye(problem.d))).any() and bool(problem.H.any())


def _gap_at_start(case: CertifiedCase) -> float:
    """||grad f||^2/(2L) at the start, which every f bounded below exceeds."""
    problem = case.problem.quadratic
    assert problem is not None
    on_u, on_v = problem.gradients(*case.problem.start(case.start))
    with np.errstate(all="ignore"):
        square = float(np.sum(on_u.mean(axis=0) ** 2) + np.sum(on_v**2) / problem.n)
        found = square / (2 * float(np.abs(problem.H).max()))
    # Any number will do to begin with.
    return found if 0 < found < math.inf else 1.0


def _steepest(trail: Trajectory) -> Constant:
    """L_f: the largest ||grad f_i|| at a point where client i, taking part or not, makes a local step."""
    problem = trail.setup.problem.seen_as(Bilevel)
    assert problem is not None
    # Of a run whose local steps were recorded it is known.
    if (known := trail.records.get(STEEPEST[trail.samples])) is not None:
        return _along("L_f", float(known.max()))
    if (sampled := problem.seen_as(BilevelSamples)) is None:
        setup, wanted = trail.setup, range(trail.replicates)
        simulate = partial(bilevel_rounds.steepest, setup, seed=trail.seed, wanted=wanted)
        run = trail.played.run(setup, "steepest", wanted, simulate)
        return _along("L_f", float(run.records[STEEPEST[trail.samples]].max()))
    norms2 = (float(each.max()) if np.isfinite(each).all() else math.inf for each in _norms2(trail, sampled))
    return _along("L_f", math.sqrt(max(norms2)))


def _norms2(trail: Trajectory, sampled: BilevelSamples) -> Iterator[Array]:
    """||grad f_i||^2 at the points of local steps, with every outcome of the noise."""
    either = sampled.noise_f[..., None]
    for outcome in enumerated.visits(trail.setup):
        gradients = sampled.Q @ outcome.points[:, : sampled.d_x + sampled.d_y] - sampled.q[..., None]
        for noise in (either, -either) if trail.samples else (0.0,):
            yield np.sum((gradients + noise) ** 2, axis=1)


def _steepest_at_start(case: CertifiedCase) -> float:
    """Largest ||grad f_i|| at the start or, where all are 0 there, at the lower level's solution."""
    problem = case.problem.seen_as(Bilevel)
    assert problem is not None
    x, y = (np.asarray(case.start.get(name, np.zeros(d))) for name, d in (("x0", problem.d_x), ("y0", problem.d_y)))
    for each in (y, problem.y_star(x, case.weights)):
        point = np.concatenate([x, each])
        if largest := float(np.linalg.norm(problem.Q @ point - problem.q, axis=1).max()):
            return largest
    raise InputError("L_f=0 at the start and at the lower level's solution there: give another start")


def _quiet(case: CertifiedCase) -> bool:
    """Whether a run on quadratics has nothing random, and few enough local steps to be looked at one by one."""
    problem, pattern = case.problem.quadratic, case.participation
    if problem is None or pattern is None or not pattern.deterministic or case.noisy or pattern.mixes < 1:
        return False
    steps = 1.0 if case.work is None else float(np.max(case.work.steps))
    return (case.T or 0) * steps * problem.n <= _MOST_VISITS


def _one_kind(case: CertifiedCase) -> bool:
    """Whether clients' functions are the same with and without their weights: a run shows gradients of n p_i f_i."""
    return not case.of_both


# Local steps of all clients that are looked at one by one.
_MOST_VISITS = 200_000


def _largest_visited(name: str, size: Callable[[QuadraticFunctions, Array], Array]) -> Callable[[Trajectory], Constant]:
    """The largest of some size over the points (n, d) at which clients, participating or not, evaluate gradients."""

    def find(trail: Trajectory) -> Constant:
        problem, largest = trail.setup.problem.quadratic, 0.0
        assert problem is not None
        try:
            for visit in visits(trail.setup):
                largest = max(largest, float(size(problem, visit.points[..., 0]).max()))
        except InputError as error:
            return Constant.absent(name, str(error))
        return _along(name, largest)

    return find


def _gradient_sizes(problem: QuadraticFunctions, points: Array) -> Array:
    return np.linalg.norm(problem.forms.gradients(points), axis=1)


def _distances(problem: QuadraticFunctions, points: Array) -> Array:
    found = problem.minimizer()
    return np.array([math.inf]) if found is None else np.linalg.norm(points - problem.forms.points(*found), axis=1)


def _at_start(size: Callable[[QuadraticFunctions, Array], Array]) -> Callable[[CertifiedCase], float]:
    """The size at the start, from which on the constant is tried."""

    def find(case: CertifiedCase) -> float:
        problem = case.problem.quadratic
        assert problem is not None
        found = float(size(problem, problem.forms.points(*case.problem.start(case.start))).max())
        return found if 0 < found < math.inf else 1.0

    return find


# How a constant that no quadratic has is had by another problem with the same run.
STEEP = "of functions that turn up sharply beyond the box of the run"
BEYOND = "of functions that continue with another curvature beyond the box of the run"

MEASURES: Mapping[str, Measure] = {
    "b": Measure(
        lambda _: 0.0, _dissimilarity, "comes from means over replicates, without a confidence bound", partial=True,
        possible=_one_kind,
    ),
    "F_0": Measure(_gap_at_start, _gap, "is of one run", possible=_has_gap, weakens=True, beyond=True),
    "L_f": Measure(_steepest_at_start, _steepest, "is the largest over the replicates, not over all that may happen"),
    "visited_gradient": Measure(
        _at_start(_gradient_sizes), _largest_visited("visited_gradient", _gradient_sizes), "is of one run",
        possible=lambda case: _quiet(case) and _one_kind(case), of_run=True,
    ),
    "visited_distance": Measure(
        _at_start(_distances), _largest_visited("visited_distance", _distances), "is of one run",
        possible=_quiet, of_run=True,
    ),
}  # fmt: skip
