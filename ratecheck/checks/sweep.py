"""How the left side of a statement moves with rounds, local steps, participation and step size, beside its bound.

Around one setting each of K, m and gamma is varied alone. The measured scaling exponent comes from least squares in
log-log, the predicted one is the local exponent d log bound / d log K of the statement's own right side, with the step
sizes that it prescribes put in. A matching exponent is evidence, never proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.special import stdtrit

import bounds
from bounds.statement import Over, Statement
from bounds.symbols import Domain, Role
from ratecheck.checks.closed import closed_bound
from ratecheck.checks.confidence import radius
from ratecheck.checks.verdict import Outcome, Verdict
from ratecheck.checks.verify import Options, Progress, foreign, verify
from ratecheck.errors import InputError
from ratecheck.problems import Problem

Array = NDArray[np.float64]

PARAMETERS = ("K", "m", "gamma")
DEFAULTS = Options(replicates=16)
# Error probability of every band and interval.
LEVEL = 0.05
# A sweep reaches from a quarter of the given setting to four times it, or as far below the largest admissible value.
_REACH = 4.0
# Points per sweep. Monte Carlo runs cost more.
_POINTS = {"exact": 7, "step": 5}
# Rounds at which curves over T are evaluated, at most.
_ROUNDS = 120
# A fit is called bent where the exponents of its two halves differ by more than this.
_BENT = 0.15


@dataclass(frozen=True)
class Fit:
    """Exponent p of the law y = c*x^p by least squares in log-log, and an interval ``low <= p <= high``.

    ``ends`` are the exponents of the lower and of the upper half of the points: where they differ there is no one law.
    """

    exponent: float
    low: float
    high: float
    ends: tuple[float, float]

    @property
    def bent(self) -> bool:
        """Whether the two halves tell different exponents, so that the law has not set in over the whole range."""
        return abs(self.ends[1] - self.ends[0]) > _BENT


@dataclass(frozen=True)
class Rounds:
    """Curves over rounds: all arrays have one entry per number of rounds in ``T``.

    ``metric`` is the left side's quantity in round T-1, ``mean`` its average over rounds 0 ... T-1, each with the half
    width of its band (zero where the engine is exact). ``bound`` is the right side at T, of this run where
    ``own_steps`` is false, of the run with the step sizes prescribed for T where it is true; NaN where a condition of
    the statement fails at T. ``trivial`` is what smoothness alone gives.
    """

    T: NDArray[np.int64]
    metric: Array
    metric_error: Array
    mean: Array
    mean_error: Array
    bound: Array
    own_steps: bool
    trivial: float | None


@dataclass(frozen=True)
class Sweep:
    """One parameter varied around the value ``at``: left side ``measured`` with half width ``error``, and ``bound``.

    ``held`` names the step sizes that keep their value, the others follow the statement's rules. ``predicted`` is the
    statement's local exponent at ``at`` (NaN where it has none). ``left_out`` says which values gave no number and why.
    """

    parameter: str
    at: float
    held: tuple[str, ...]
    values: Array
    measured: Array
    error: Array
    bound: Array
    predicted: float
    fit: Fit
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Survey:
    """Everything that a figure about one statement shows; ``fixed`` says why a parameter is not varied."""

    verdict: Verdict
    rounds: Rounds
    sweeps: tuple[Sweep, ...]
    fixed: dict[str, str]


def survey(
    statement: Statement,
    problem: Problem,
    given: Mapping[str, float],
    options: Options = DEFAULTS,
    *,
    vary: Sequence[str] = PARAMETERS,
    name: str = "",
    progress: Progress | None = None,
) -> Survey:
    """Measure a statement at the given setting and with each parameter in ``vary`` varied alone.

    ``given`` and ``options`` are those of `verify`. Step sizes that the statement prescribes follow every change; a
    free gamma keeps its value, and so does every step size in ``given``. Raises `InputError` for a statement that is
    not about a mean over rounds or has no value, for a setting that is not admissible or diverges, and where a single
    parameter is asked for that cannot be varied.
    """
    check_measurable(statement)
    runner = _Runner(statement, problem, options, name, progress, total=1 + 8 * len(vary))
    verdict, left = runner.run(given)
    if left is None:
        raise InputError(f"nothing to plot for {statement.key}: {' '.join(verdict.reasons)}")
    runner.options = replace(options, engine=verdict.engine)
    plans = {parameter: _Plan.of(statement, given, verdict, parameter) for parameter in vary}
    runner.total = 1 + sum(len(plan.values) - 1 for plan in plans.values() if isinstance(plan, _Plan))
    sweeps = {k: plan if isinstance(plan, str) else _sweep(runner, plan, verdict, left) for k, plan in plans.items()}
    fixed = {parameter: reason for parameter, reason in sweeps.items() if isinstance(reason, str)}
    if len(vary) == 1 and fixed:
        raise InputError(f"{vary[0]} cannot be varied: {fixed[vary[0]]}")
    rounds = _over_rounds(statement, _held(statement, given, verdict.values), verdict.values, left)
    return Survey(verdict, rounds, tuple(sweep for sweep in sweeps.values() if isinstance(sweep, Sweep)), fixed)


def check_measurable(statement: Statement) -> None:
    """Raise `InputError` unless the statement has a value and is about the mean over the rounds of a run."""
    if _measurable(statement):
        return
    reason = "is known only up to a constant"
    if not statement.order_only:
        reason = f"is about {statement.claims[0].metric.over.value}"
    known = [other for paper in bounds.PAPERS for other in bounds.statements(paper)]
    others = [other for other in known if _measurable(other) and not foreign(other)]
    others.sort(key=lambda other: other.algorithm != statement.algorithm)
    raise InputError(
        f"{statement.key} {reason}; a plot needs a bound with a value on a mean over rounds, such as {others[0].key}"
    )


def _measurable(statement: Statement) -> bool:
    return not statement.order_only and statement.claims[0].metric.over is Over.MEAN_OF_ROUNDS


def local_exponent(statement: Statement, parameter: str, held: Iterable[str], values: Mapping[str, float]) -> float:
    """Local exponent d log(bound) / d log(parameter) at the given values, for the first claim.

    The step sizes in ``held`` stay as they are, the others follow the statement's rules. At a kink (a tie in a maximum)
    it is the mean of the exponents on the two sides. NaN where it does not exist or is infinite.
    """
    symbol = statement.vocabulary[parameter].symbol
    bound = closed_bound(statement, {*held, *{parameter} & _steps(statement)})
    # Numbers first: the derivative of sqrt(x) at a noise x that is zero throughout would be 0/0.
    curve = bound.xreplace({s: _float(values[s.name]) for s in bound.free_symbols - {symbol}})
    slope = sp.N((symbol * sp.diff(curve, symbol) / curve).xreplace({symbol: _float(values[parameter])}))
    return float(slope) if slope.is_real and slope.is_finite else math.nan


def _float(value: float) -> sp.Expr:
    """A number with digits to spare; zero as an exact zero, so that terms without noise vanish."""
    return sp.Float(value, 30) if value else sp.Integer(0)


def fit(values: Array, measured: Array, samples: Array | None = None) -> Fit:
    """Fit measured = c * values^p.

    ``values``, ``measured``: (points,), positive; ``samples``: (points, replicates), whose means ``measured`` are. The
    interval is that of the regression, which takes the scatter about the line as noise. With samples half of the error
    probability goes to the band of Monte Carlo, which widens it; that is computed from one exponent per replicate,
    because a replicate's runs at different points share their random streams.
    Raises `InputError` for fewer than two points.
    """
    if len(values) < 2:
        raise InputError(f"an exponent needs at least 2 points, here is {len(values)}")
    x, y = np.log(values), np.log(measured)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    exponent = float(weights @ y)
    residual = y - y.mean() - exponent * (x - x.mean())
    freedom = len(x) - 2
    level = LEVEL if samples is None else LEVEL / 2
    half = math.inf
    if freedom:
        deviation = math.sqrt(float(residual @ residual) / freedom * float(weights @ weights))
        half = float(stdtrit(freedom, 1 - level / 2)) * deviation
    if samples is not None:
        half += float(radius(weights @ (samples / measured[:, None]), level / 2))
    middle = (len(x) + 1) // 2
    ends = [_slope(x[part], y[part]) for part in (slice(None, max(middle, 2)), slice(-max(middle, 2), None))]
    return Fit(exponent, exponent - half, exponent + half, (ends[0], ends[1]))


def _slope(x: Array, y: Array) -> float:
    centred = x - x.mean()
    return float(centred @ y / (centred @ centred))


@dataclass
class _Runner:
    """Verifies at one setting after the other and keeps count of them."""

    statement: Statement
    problem: Problem
    options: Options
    name: str
    progress: Progress | None
    total: int
    done: int = 0

    def run(self, given: Mapping[str, float]) -> tuple[Verdict, Array | None]:
        """The verdict and the left side per round, (T,) or (replicates, T); None where there is no comparison."""
        seen: list[Array] = []
        claim = self.statement.claims[0].name
        verdict = verify(
            self.statement, self.problem, given, self.options,
            name=self.name, progress=self._report, observe=lambda sides: seen.append(sides[claim]),
        )  # fmt: skip
        self.done += 1
        self._report(0.0)
        return verdict, seen[-1] if verdict.comparisons else None

    def _report(self, fraction: float) -> None:
        if self.progress is not None:
            self.progress(min((self.done + fraction) / self.total, 1.0))


@dataclass(frozen=True)
class _Plan:
    """A sweep to be run: ``given`` without the parameter, which takes the ``values`` in turn, ``at`` among them."""

    parameter: str
    at: float
    values: tuple[float, ...]
    given: dict[str, float]
    held: tuple[str, ...]

    @staticmethod
    def of(statement: Statement, given: Mapping[str, float], verdict: Verdict, parameter: str) -> _Plan | str:
        """The plan, or the reason for which the parameter cannot be varied."""
        if parameter in statement.settings:
            return f"{statement.key} is about {parameter} = {statement.settings[parameter]}"
        if parameter in _prescribed(statement):
            return f"{statement.key} prescribes {parameter}"
        if parameter not in verdict.values:
            return f"{statement.key} has no {parameter}"
        vocabulary, at = statement.vocabulary, verdict.values[parameter]
        held = _held(statement, given, verdict.values, parameter)
        constants = {k: v for k, v in verdict.values.items() if vocabulary[k].role is not Role.STEP_SIZE}

        def admissible(value: float) -> bool:
            values, _ = statement.complete({**constants, **held, parameter: value})
            return all(check.holds is not False for check in statement.check_conditions(values))

        limits = (1.0, verdict.values["n"]) if parameter == "m" else None
        whole = vocabulary[parameter].domain is Domain.POSITIVE_INTEGER
        values = _ladder(at, limits, _POINTS[verdict.engine], admissible, whole=whole)
        if len(values) < 2:
            return f"no other value than {at:g} is admissible"
        rest = {k: v for k, v in given.items() if vocabulary[k].role is not Role.STEP_SIZE}
        return _Plan(parameter, at, values, {**rest, **held}, tuple(sorted(held)))


def _steps(statement: Statement) -> set[str]:
    return {name for name in statement.parameters if statement.vocabulary[name].role is Role.STEP_SIZE}


def _prescribed(statement: Statement) -> set[str]:
    return {rule.symbol.name for rule in statement.step_rules if not rule.at_least}


def _held(
    statement: Statement, given: Mapping[str, float], values: Mapping[str, float], parameter: str = ""
) -> dict[str, float]:
    """Step sizes that keep their value while ``parameter`` changes; the others follow the statement's rules."""
    steps = _steps(statement)
    # The local step size of a product follows from the others.
    tied = {product.local.name for product in statement.step_products}
    if parameter in steps:
        return {k: values[k] for k in steps - tied - {parameter} if k in values}
    held = {k: v for k, v in given.items() if k in steps - _prescribed(statement)}
    rest = {k: v for k, v in values.items() if k not in steps}
    completed, _ = statement.complete({**rest, **held})
    return {**held, **{k: values[k] for k in (steps & values.keys()) - completed.keys() - tied}}


def _ladder(
    at: float,
    limits: tuple[float, float] | None,
    count: int,
    admissible: Callable[[float], bool],
    *,
    whole: bool,
) -> tuple[float, ...]:
    """About ``count`` geometrically spaced admissible values, ``at`` among them."""

    def usable(value: float) -> bool:
        return admissible(float(round(value)) if whole else value)

    low, high = limits or (at / _REACH, at * _REACH)
    high = _edge(at, high, usable)
    if limits is None:
        low = max(high / _REACH**2, 1.0) if whole else high / _REACH**2
    grid = np.geomspace(_edge(at, min(low, at), usable), high, count)
    if whole:
        return tuple(sorted({float(round(value)) for value in grid} | {at}))
    # The end is kept however close it is, because it is the largest admissible value.
    apart = [math.log(grid[-1] / grid[0]) / (3 * (count - 1))] * (count - 1) + [1e-9]
    kept = (float(value) for value, gap in zip(grid, apart, strict=True) if abs(math.log(value / at)) > gap)
    return tuple(sorted([at, *kept]))


def _edge(inside: float, outside: float, usable: Callable[[float], bool]) -> float:
    """The value next to ``outside`` that is still usable, by bisection of the logarithm from ``inside``."""
    if usable(outside):
        return outside
    for _ in range(60):
        middle = math.sqrt(inside * outside)
        inside, outside = (middle, outside) if usable(middle) else (inside, middle)
    return inside


def _sweep(runner: _Runner, plan: _Plan, centre: Verdict, left: Array) -> Sweep | str:
    """The sweep, or the reason for which there is none; ``left`` is the left side at the centre."""
    points: list[tuple[float, Array, float, float]] = []
    left_out: list[str] = []
    for value in plan.values:
        again = value != plan.at
        verdict, sides = runner.run({**plan.given, plan.parameter: value}) if again else (centre, left)
        if sides is None:
            verb = "diverged" if verdict.outcome is Outcome.DIVERGED else "not applicable"
            left_out.append(f"{plan.parameter}={value:.4g} {verb}: {' '.join(verdict.reasons)}")
        else:
            points.append((value, sides.mean(axis=-1), verdict.comparisons[0].right, verdict.comparisons[0].error))
    if len(points) < 2:
        return f"too few values give a number: {'; '.join(left_out)}"
    values, averages, bound, rounding = (np.array(column) for column in zip(*points, strict=True))
    samples = averages if averages.ndim == 2 else None
    measured = averages if samples is None else samples.mean(axis=1)
    return Sweep(
        parameter=plan.parameter, at=plan.at, held=plan.held, values=values, measured=measured,
        error=rounding if samples is None else _band(samples.T), bound=bound,
        predicted=local_exponent(centre.statement, plan.parameter, plan.held, centre.values),
        fit=fit(values, measured, samples), left_out=tuple(left_out),
    )  # fmt: skip


def _over_rounds(statement: Statement, held: Mapping[str, float], values: Mapping[str, float], left: Array) -> Rounds:
    """Curves over T from the left side per round, (T,) or (replicates, T)."""
    T = left.shape[-1]
    grid = np.unique(np.round(np.geomspace(1, T, _ROUNDS)).astype(np.int64))
    runs = np.atleast_2d(left)
    metric = runs[:, grid - 1]
    mean = (np.cumsum(runs, axis=1) / np.arange(1, T + 1))[:, grid - 1]
    own_steps = "gamma" in _prescribed(statement)
    # A run has one set of step sizes; a statement that prescribes gamma is about another run for every T.
    vocabulary = statement.vocabulary
    rest = {k: v for k, v in values.items() if not own_steps or vocabulary[k].role is not Role.STEP_SIZE}
    evaluations = [statement.evaluate(**{**rest, **held, "T": float(t)}) for t in grid]
    return Rounds(
        T=grid, metric=metric.mean(axis=0), metric_error=_band(metric),
        mean=mean.mean(axis=0), mean_error=_band(mean),
        bound=np.array([e.value if e.applicable else math.nan for e in evaluations]),
        own_steps=own_steps, trivial=evaluations[-1].trivial,
    )  # fmt: skip


def _band(runs: Array) -> Array:
    """Half width of the confidence band at every column of (replicates, points); zero for a single, exact row."""
    if len(runs) == 1:
        return np.zeros(runs.shape[1])
    return radius(runs, LEVEL / 2)
