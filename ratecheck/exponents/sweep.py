"""The left side of a statement as a function of one parameter of a run, beside its bound.

A statement that is not about a mean over rounds is surveyed entry by entry (`entries`), and nothing is varied.

For one that is, each parameter is varied alone around one setting. The measured scaling exponent comes from least
squares in log-log, the predicted one is the local exponent of the statement's own right side, with the step sizes that
it prescribes substituted. A matching exponent is evidence, never proof.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bounds
from bounds.statement import Assumption, Over, Statement, names_in
from bounds.symbols import Role
from ratecheck.algorithms import METHODS, Algorithm
from ratecheck.aliases import Array, Progress
from ratecheck.errors import InputError
from ratecheck.exponents import parameters as varied
from ratecheck.exponents.local_exponent import local_exponent
from ratecheck.exponents.parameters import SweepPlan, SweepPoint
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation
from ratecheck.problems import Problem
from ratecheck.settings.applicability import foreign
from ratecheck.settings.setting import Options
from ratecheck.statistics.confidence import radius
from ratecheck.statistics.exponent_fit import LEVEL, Fit, fit
from ratecheck.verification.entries import Course, Entries, courses
from ratecheck.verification.verdict import Comparison, Verdict
from ratecheck.verification.verify import verify

# Both sides by claim, of one participation.
Seen = Mapping[str, Entries]

# What a figure shows unless it is told otherwise.
DRAWN = (varied.LOCAL_STEPS, varied.PARTICIPANTS, varied.STEP_SIZE)
DEFAULTS = Options(replicates=16)
# Replicates where each is a participation that the exact engine follows, or a run of a bilevel method.
COSTLY = 8
_FEWER_ROUNDS = 100.0
# Coordinates of a run, over the server and all clients, beyond which its second moments cost much.
_LARGE_STATE = 200
# Participations of a statement about a whole run; of one about every round one is drawn.
_WHOLE_RUNS = 3
# Rounds at which curves over T are evaluated, at most.
_ROUNDS = 120
# Points expected in a sweep, for the progress.
_EXPECTED = 8
# A mean beyond this is one of a run that left the range of floating-point numbers, and known from below only.
_OVERFLOWN = 1e290
# A left side that is known less accurately than this, relative to itself, is no point of a law.
_ACCURATE = 0.1
# A left side that exceeds the bound by this factor has left the region that a convergence statement is about.
_BLOWN_UP = 1e6


@dataclass(frozen=True)
class Rounds:
    """Curves over rounds: all arrays have one entry per number of rounds in ``T``.

    ``metric`` is the left side's quantity in round T-1, ``mean`` its average over rounds 0 ... T-1, each with the half
    width of its band (zero where the engine is exact). ``bound`` is the right side at T, of this run where
    ``own_steps`` is false, of the run with the step sizes prescribed for T where it is true; NaN where a condition of
    the statement fails at T or that is no number. ``trivial`` is what smoothness alone gives.
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

    ``terms`` are the parts of the bound and ``vacuous`` says where it is no better than smoothness alone. ``held``
    names the step sizes that keep their value, the others follow the statement's rules. ``predicted`` is the
    statement's local exponent at ``at`` (NaN where it has none), ``law`` the exponent of the bound over the same points
    that ``fit`` describes. ``left_out`` says which values gave no number and why.
    """

    parameter: str
    role: str
    at: float
    held: tuple[str, ...]
    values: Array
    measured: Array
    error: Array
    bound: Array
    terms: Mapping[str, Array]
    vacuous: NDArray[np.bool_]
    predicted: float
    fit: Fit
    law: Fit
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class SweepSurvey:
    """Everything that a figure about one statement shows; ``fixed`` says why a parameter is not varied.

    ``rounds`` is None where it was not requested, and where the statement is about the mean over participations, which
    no single run shows. ``courses`` are the claims of a statement that is not about a mean over rounds.
    """

    verdict: Verdict
    rounds: Rounds | None
    sweeps: tuple[Sweep, ...]
    fixed: dict[str, str]
    courses: tuple[Course, ...] = ()


def affordable(statement: Statement) -> int:
    """Replicates of a figure that takes some seconds."""
    method = METHODS.get(statement.algorithm or "")
    bilevel = method is not None and method.algorithm.bilevel
    return COSTLY if bilevel or Assumption.DRAWN_STEP_SIZES in statement.assumptions else DEFAULTS.replicates


def rounds_of(statement: Statement, problem: Problem, given: Mapping[str, object]) -> dict[str, float]:
    """Rounds of a figure where nobody says how many: fewer than of a check where they cost much; empty elsewhere."""
    symbol = statement.vocabulary.run.get(varied.ROUNDS, "")
    method = METHODS.get(statement.algorithm or "")
    if method is None or symbol not in statement.vocabulary or symbol in statement.settings or symbol in given:
        return {}
    many = not _measurable(statement) or affordable(statement) < DEFAULTS.replicates
    return {symbol: _FEWER_ROUNDS} if many or _large(statement, method.algorithm, problem) else {}


def _large(statement: Statement, algorithm: Algorithm, problem: Problem) -> bool:
    """Whether second moments of a large state are followed; which clients a score selects only samples tell."""
    if not (algorithm.linear and problem.affine) or Assumption.SKEWED_SELECTION in statement.assumptions:
        return False
    server, client = (
        sum(problem.layout[block] for block in group.values()) for group in (algorithm.server, algorithm.client)
    )
    return server + problem.n * client > _LARGE_STATE


def drawn(statement: Statement) -> int:
    """Participations of a figure about a statement that is about each of them by itself."""
    return _WHOLE_RUNS if any(claim.metric.over is Over.WHOLE_RUN for claim in statement.claims) else 1


def survey(
    statement: Statement,
    problem: Problem,
    given: Mapping[str, float],
    options: Options = DEFAULTS,
    *,
    vary: Sequence[str] | None = None,
    curves: bool = True,
    participation: Participation | None = None,
    start: Mapping[str, ArrayLike] | None = None,
    name: str = "",
    progress: Progress | None = None,
) -> SweepSurvey:
    """Measure a statement at the given setting and with each parameter in ``vary`` varied alone.

    ``given`` and ``options`` are those of `verify`; ``vary`` are names as `varied.parameter` takes them, by default
    those of local steps, participants and step size. Step sizes that the statement prescribes follow every change; a
    free step size keeps its value, and so does every one in ``given``. ``participation`` and ``start`` are those at the
    setting itself, as `verify` takes them. Without ``curves`` over rounds the exact engine can take shortcuts for many
    rounds. Raises `InputError` for a statement without a value, for one that is not about
    a mean over rounds where something is to be varied, for a setting that is not admissible or diverges, for a name
    that is no parameter, and where the single parameter requested cannot be varied.
    """
    if vary or not curves:
        check_measurable(statement)
    check_valued(statement)
    if not _measurable(statement):
        point = SweepPoint(math.nan, given, problem, participation, start or {})
        return _by_entries(_Runner(statement, options, name, progress, total=1), point)
    chosen = (
        varied.parameters(statement, DRAWN) if vary is None else [varied.parameter(statement, word) for word in vary]
    )
    runner = _Runner(statement, options, name, progress, total=1 + _EXPECTED * len(chosen))
    attended = participation or varied.participation(statement, problem, given)
    centre = SweepPoint(math.nan, given, problem, attended, start or {})
    verdict, seen = runner.run(centre, curves=curves)
    _check_measured(verdict)
    # The points of a figure need no verdict beyond rounding, nor from which T on a bound says something.
    if curves:
        runner.options = replace(options, vacuity=False, rigorous=False)
    if missing := verdict.comparisons[0].missing:
        raise InputError(f"nothing to measure for {statement.key}: {missing}")
    if verdict.engine in ("exact", "step"):
        runner.options = replace(runner.options, engine=verdict.engine)
    plans = {each.symbol: varied.plan(statement, problem, given, verdict, each) for each in chosen}
    runner.total = 1 + sum(len(plan.points) for plan in plans.values() if isinstance(plan, SweepPlan))
    sweeps = {k: plan if isinstance(plan, str) else _sweep(runner, plan) for k, plan in plans.items()}
    fixed = {symbol: reason for symbol, reason in sweeps.items() if isinstance(reason, str)}
    if vary is not None and len(vary) == 1 and fixed:
        (symbol,) = fixed
        raise InputError(f"{symbol} cannot be varied: {fixed[symbol]}")
    held = varied.held_steps(statement, given, verdict.values)
    rounds = _over_rounds(statement, held, verdict.values, seen[-1]) if seen else None
    return SweepSurvey(verdict, rounds, tuple(sweep for sweep in sweeps.values() if isinstance(sweep, Sweep)), fixed)


def part(sweep: Sweep, which: slice) -> Sweep:
    """Some points of a sweep of the exact engine, with the laws that they follow."""
    values, measured, error, bound = (x[which] for x in (sweep.values, sweep.measured, sweep.error, sweep.bound))
    return replace(
        sweep, values=values, measured=measured, error=error, bound=bound, vacuous=sweep.vacuous[which],
        terms={label: term[which] for label, term in sweep.terms.items()},
        fit=fit(values, measured, None, error), law=fit(values, bound),
    )  # fmt: skip


def longer(sweep: Sweep, value: float, comparison: Comparison, *, vacuous: bool) -> Sweep:
    """A sweep of the exact engine and one point more, beyond its range."""
    at = int(np.searchsorted(sweep.values, value))
    whole = replace(
        sweep,
        values=np.insert(sweep.values, at, value),
        measured=np.insert(sweep.measured, at, comparison.left),
        error=np.insert(sweep.error, at, comparison.error),
        bound=np.insert(sweep.bound, at, comparison.right),
        vacuous=np.insert(sweep.vacuous, at, vacuous),
        terms={label: np.insert(term, at, comparison.terms[label]) for label, term in sweep.terms.items()},
    )
    return part(whole, slice(None))


def usable(verdict: Verdict, value: float) -> str | None:
    """Why a verdict is no point of a law; None where it is one."""
    if not verdict.comparisons:
        return " ".join(verdict.reasons)
    return _unfit(_Measured(value, verdict, None))


def _by_entries(runner: _Runner, point: SweepPoint) -> SweepSurvey:
    """Every claim of a statement that is not about a mean over rounds, entry by entry."""
    statement = runner.statement
    verdict, seen = runner.run(point, curves=True, every=True)
    _check_measured(verdict)
    if not seen:
        raise InputError(f"nothing to draw for {statement.key}: its sides are numbers that no run shows")
    drawn = [each for claim in statement.claims for each in courses(claim, [sides[claim.name] for sides in seen])]
    return SweepSurvey(verdict, None, (), {}, tuple(drawn))


def _check_measured(verdict: Verdict) -> None:
    if not verdict.comparisons:
        raise InputError(f"nothing to measure for {verdict.statement.key}: {' '.join(verdict.reasons)}")


def check_valued(statement: Statement) -> None:
    """Raise `InputError` unless the statement has a value and problems know what it is about."""
    if statement.order_only:
        check_measurable(statement)
    if reasons := foreign(statement):
        raise InputError(f"nothing to draw for {statement.key}: {'; '.join(reasons)}")


def check_measurable(statement: Statement) -> None:
    """Raise `InputError` unless the statement has one value and is about the mean over the rounds of a run."""
    reason = unmeasurable(statement)
    if not reason:
        return
    if not statement.order_only and statement.claims[0].metric.over is Over.MEAN_OF_ROUNDS:
        raise InputError(f"{reason}; 'ratecheck verify' compares both sides")
    known = [other for paper in bounds.PAPERS for other in bounds.statements(paper)]
    others = [other for other in known if _measurable(other) and not foreign(other)]
    others.sort(key=lambda other: other.algorithm != statement.algorithm)
    raise InputError(f"{reason}, such as {others[0].key}")


def unmeasurable(statement: Statement) -> str:
    """Why a statement has no value that is about the mean over the rounds of a run; empty where it has one."""
    if _measurable(statement):
        return ""
    claim, vocabulary = statement.claims[0], statement.vocabulary
    if statement.in_probability:
        return f"{statement.key} claims something with a probability; needed is a bound on expectations"
    if not statement.order_only and claim.metric.over is Over.MEAN_OF_ROUNDS:
        names = [name for name in names_in(claim.bound) if vocabulary[name].role is Role.MEASURED]
        return (
            f"the right side of {statement.key} contains {', '.join(sorted(names))}, which differs from round to "
            "round: it has no exponent of its own"
        )
    reason = "is known only up to a constant"
    if not statement.order_only:
        reason = f"is about {claim.metric.over.value.removeprefix('at ')}"
    return f"{statement.key} {reason}; needed is a bound with a value on a mean over rounds"


def _measurable(statement: Statement) -> bool:
    claim, vocabulary = statement.claims[0], statement.vocabulary
    constant = all(vocabulary[name].role is not Role.MEASURED for name in names_in(claim.bound))
    return (
        not (statement.order_only or statement.in_probability) and constant and claim.metric.over is Over.MEAN_OF_ROUNDS
    )


@dataclass
class _Runner:
    """Verifies at one setting after the other and keeps count of them."""

    statement: Statement
    options: Options
    name: str
    progress: Progress | None
    total: int
    done: int = 0

    def run(self, point: SweepPoint, *, curves: bool, every: bool = False) -> tuple[Verdict, list[Seen]]:
        """The verdict and both sides by entry, where there are any and ``curves``: the last, or with ``every`` all.

        Several are those of several participations, or of constants that were tried along the trajectory.
        """
        seen: list[Seen] = []
        verdict = verify(
            self.statement, point.problem, point.given, self.options,
            participation=point.participation, start=point.start, name=self.name, progress=self._report,
            observe=seen.append if curves else None,
        )  # fmt: skip
        self.done += 1
        self._report(0.0)
        if not verdict.comparisons:
            return verdict, []
        # One comparison per participation and claim: what was tried before along a trajectory is no answer.
        count = len(verdict.comparisons) // len(self.statement.claims) if every else 1
        return verdict, seen[-count:]

    def _report(self, fraction: float) -> None:
        if self.progress is not None:
            self.progress(min((self.done + fraction) / self.total, 1.0))


@dataclass(frozen=True)
class _Measured:
    """One point of a sweep; ``samples`` are the replicates' left sides, None where the engine is exact."""

    value: float
    verdict: Verdict
    samples: Array | None

    @property
    def left(self) -> float:
        return self.verdict.comparisons[0].left if self.samples is None else float(self.samples.mean())


def _sweep(runner: _Runner, plan: SweepPlan) -> Sweep | str:
    """The sweep, or the reason for which there is none."""
    points: list[_Measured] = []
    left_out: list[str] = []
    for point in plan.points:
        found = _measure(runner, point)
        if isinstance(found, str):
            left_out.append(f"{plan.parameter.symbol}={point.value:.4g} {found}")
        else:
            points.append(found)
    if len(points) < 2:
        return f"too few values give a number: {'; '.join(left_out)}"
    values, measured = (np.array(column) for column in zip(*((each.value, each.left) for each in points), strict=True))
    comparisons = [each.verdict.comparisons[0] for each in points]
    bound = np.array([each.right for each in comparisons])
    samples = _together([each.samples for each in points])
    at = plan.at if plan.at in values else float(values[np.argmin(np.abs(np.log(values / plan.at)))])
    error = np.array([each.error for each in comparisons]) if samples is None else _band(samples.T)
    # Only of the exact engine the error is nothing but rounding.
    rounding = error if all(each.verdict.engine == "exact" for each in points) else None
    return Sweep(
        parameter=plan.parameter.symbol, role=plan.parameter.role, at=at, held=plan.held, values=values,
        measured=measured,
        error=error, bound=bound,
        terms={label: np.array([each.terms[label] for each in comparisons]) for label in comparisons[0].terms},
        vacuous=np.array([bool(each.verdict.vacuous) for each in points]),
        predicted=_predicted(runner.statement, plan, points, at),
        fit=fit(values, measured, samples, rounding), law=fit(values, bound),
        left_out=tuple(left_out),
    )  # fmt: skip


def _together(columns: Sequence[Array | None]) -> Array | None:
    """Replicates (points, replicates); None unless there are some at every point.

    Where nothing is random one run counts for all of them.
    """
    known = [column for column in columns if column is not None]
    most = max((len(column) for column in known), default=1)
    if len(known) < len(columns) or most == 1:
        return None
    return np.array([np.broadcast_to(column, most) if len(column) == 1 else column for column in known])


def _measure(runner: _Runner, point: SweepPoint) -> _Measured | str:
    """The verdict of `verify` at a point, or why there is no number."""
    try:
        verdict, seen = runner.run(point, curves=runner.options.engine == "step")
    except InputError as error:
        return f"not evaluated: {error}"
    if not verdict.comparisons:
        verb = "diverged" if verdict.outcome is Outcome.DIVERGED else "not applicable"
        return f"{verb}: {' '.join(verdict.reasons)}"
    samples = np.atleast_2d(seen[-1][runner.statement.claims[0].name].left).mean(axis=1) if seen else None
    found = _Measured(point.value, verdict, samples)
    return _unfit(found) or found


def _unfit(found: _Measured) -> str | None:
    """Why a number is no point of a law."""
    verdict, comparison = found.verdict, found.verdict.comparisons[0]
    if not found.left < _OVERFLOWN:
        return f"diverged: {' '.join(verdict.reasons) or 'the left side leaves the range of floating-point numbers'}"
    if comparison.missing:
        return f"left out: {comparison.missing}"
    if found.left > _BLOWN_UP * abs(comparison.right):
        return f"diverged: the left side {found.left:.3g} is far beyond the bound {comparison.right:.3g}"
    if not (0 < found.left < math.inf and 0 < comparison.right < math.inf):
        return f"left out: {found.left:.3g} <= {comparison.right:.3g} has no logarithm"
    if found.samples is None and verdict.engine != "traces" and comparison.error > _ACCURATE * found.left:
        return f"left out: the left side {found.left:.3g} is known only up to {comparison.error:.3g}"
    return None


def _predicted(statement: Statement, plan: SweepPlan, points: Sequence[_Measured], at: float) -> float:
    """Local exponent of the bound at ``at``: the sum over all symbols that move of theirs times how fast they move.

    With the parameter itself may move what depends on the participation: delays and the number of participants.
    """
    where = next(k for k, each in enumerate(points) if each.value == at)
    values = points[where].verdict.values
    below, above = points[max(where - 1, 0)], points[min(where + 1, len(points) - 1)]
    vocabulary = statement.vocabulary
    moving = {symbol for symbol, fact in vocabulary.facts.items() if fact in varied.DELAYS}
    if plan.parameter.role == varied.CLIENTS:
        moving.add(vocabulary.run.get(varied.PARTICIPANTS, ""))
    total = local_exponent(statement, plan.parameter.symbol, plan.held, values)
    for symbol in sorted(moving & values.keys() - {plan.parameter.symbol}):
        low, high = (each.verdict.values[symbol] for each in (below, above))
        if low == high:
            continue
        if min(low, high, values[symbol]) <= 0:
            return math.nan
        rate = math.log(high / low) / math.log(above.value / below.value)
        total += rate * local_exponent(statement, symbol, plan.held, values)
    return total


def _over_rounds(statement: Statement, held: Mapping[str, float], values: Mapping[str, float], seen: Seen) -> Rounds:
    """Curves over T from both sides per round."""
    found = seen[statement.claims[0].name]
    runs = np.atleast_2d(found.left)
    T = runs.shape[1]
    grid = np.unique(np.round(np.geomspace(1, T, _ROUNDS)).astype(np.int64))
    metric, rounding = runs[:, grid - 1], np.atleast_2d(found.rounding)
    counts = np.arange(1, T + 1)
    mean, means_rounding = (
        (np.cumsum(array, axis=1) / counts)[:, grid - 1] for array in (runs, np.broadcast_to(rounding, runs.shape))
    )
    own_steps = bool(varied.prescribed(statement))
    # A run has one set of step sizes; a statement that prescribes them is about another run for every T.
    vocabulary, rounds = statement.vocabulary, statement.vocabulary.run[varied.ROUNDS]
    rest = {k: v for k, v in values.items() if not own_steps or vocabulary[k].role is not Role.STEP_SIZE}
    evaluations = [statement.evaluate(**{**rest, **held, rounds: float(t)}) for t in grid]
    return Rounds(
        T=grid, metric=_drawable(metric, rounding[:, grid - 1]), metric_error=_band(metric),
        mean=_drawable(mean, means_rounding), mean_error=_band(mean),
        bound=np.array([e.value if e.applicable and math.isfinite(e.value) else math.nan for e in evaluations]),
        own_steps=own_steps, trivial=evaluations[-1].trivial,
    )  # fmt: skip


def _drawable(runs: Array, rounding: Array) -> Array:
    """The mean over runs, NaN where it has no logarithm or is nothing but rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = runs.mean(axis=0)
        known = np.isfinite(mean) & (mean > np.maximum(np.mean(np.atleast_2d(rounding), axis=0), 0.0))
    return np.where(known, mean, math.nan)


def _band(runs: Array) -> Array:
    """Half width of the confidence band at every column of (replicates, points); zero for a single, exact row."""
    if len(runs) == 1:
        return np.zeros(runs.shape[1])
    return radius(runs, LEVEL / 2)
