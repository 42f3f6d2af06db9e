"""One comparison: conditions are decided, a run is followed by an engine, and the sides of every claim are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from bounds.statement import Assumption, Over, number
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import expected_delay
from ratecheck.engines import setup
from ratecheck.engines.engine import Engine, choose
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments import lemmas
from ratecheck.engines.monte_carlo import bilevel_rounds, own_rounds
from ratecheck.engines.monte_carlo.played import Played
from ratecheck.engines.monte_carlo.rounding import step_rounding
from ratecheck.engines.monte_carlo.stepwise import Run
from ratecheck.engines.monte_carlo.traced_rounds import way
from ratecheck.engines.records import recorded
from ratecheck.engines.wanted import Wanted
from ratecheck.errors import BeyondFloatsError, InputError, NoValueError
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation
from ratecheck.problems import Constant
from ratecheck.settings.applicability import within
from ratecheck.settings.constrained_minimum import outside
from ratecheck.settings.on_trace import OnTrace, step_values
from ratecheck.settings.pointwise import Points
from ratecheck.settings.setting import Setting
from ratecheck.statistics.sequential_test import FIRST
from ratecheck.verification import claim_sides as sides
from ratecheck.verification.engine_runs import Reporting, by_symbol, measured, set_up, wanted
from ratecheck.verification.entries import entries
from ratecheck.verification.monte_carlo import Replicates, judge
from ratecheck.verification.vacuity import vacuity
from ratecheck.verification.verdict import NO_ENGINE, Verdict, at_least


@dataclass(frozen=True)
class Request:
    """A request for a comparison: a setting on one trace, all of whose constants have a value.

    ``traces`` is the number of traces of which any may refute the statement. ``along`` are the constants that the run
    measures, in order to see whether those that were tried hold along it. ``played`` has the runs of those that were
    tried before.
    """

    on: OnTrace
    reporting: Reporting
    traces: int = 1
    along: tuple[str, ...] = ()
    played: Played = field(default_factory=Played)

    @property
    def setting(self) -> Setting:
        """The setting."""
        return self.on.setting


@dataclass(frozen=True)
class Judged:
    """A verdict, and by symbol the constants that the run measured, of which those of no run are missing."""

    verdict: Verdict
    measured: Mapping[str, Constant] = field(default_factory=dict)


def no_verdict(setting: Setting, trace: Participation, reporting: Reporting, reasons: tuple[str, ...]) -> Verdict:
    """NOT_APPLICABLE for these reasons, with the numbers that were given."""
    return Verdict(
        setting.statement, Outcome.NOT_APPLICABLE, reporting.name, NO_ENGINE, setting.values_on(trace), reasons=reasons,
        ranges=setting.ranges,
    )  # fmt: skip


def compare(request: Request) -> Judged:
    """Both sides of the statement on one trace, where its conditions hold or that does not matter to the caller.

    Raises `InputError` for numbers that contradict the statement, and where the wanted engine does not follow the run.
    """
    on, setting, statement = request.on, request.setting, request.setting.statement
    none = no_verdict(setting, on.trace, request.reporting, ())
    none = replace(none, constants=dict(on.constants))
    try:
        found = step_values(on)
    except (BeyondFloatsError, NoValueError) as error:
        # Without a value: a rule divides by a constant that is 0 here, such as a delay, and prescribes nothing.
        outcome = Outcome.NOT_APPLICABLE if isinstance(error, NoValueError) else Outcome.INCONCLUSIVE
        return Judged(replace(none, outcome=outcome, reasons=(str(error),)))
    conditions = statement.check_conditions(found.values)
    broken = tuple(check.broken for check in conditions if check.holds is False)
    base = replace(none, values=found.values, chosen=found.chosen, conditions=conditions)
    if broken and not setting.options.ignore_conditions:
        return Judged(replace(base, reasons=broken))
    if broken:
        base = replace(base, notes=("compared although " + " and ".join(broken),))
    if setting.options.vacuity:
        vacuous, until = vacuity(found)
        base = replace(base, vacuous=vacuous, vacuous_until=until)
    if setting.method is None:
        return Judged(_without_run(request, base, found.values))
    ready = set_up(setting, on.trace, found.values)
    if ready.algorithm.mixed and on.trace.says:
        base = replace(base, notes=(*base.notes, on.trace.says))
    if reason := _outside(setting, ready):
        return Judged(replace(base, reasons=(reason,)))
    return _by_engine(request, base, ready)


def _outside(setting: Setting, ready: setup.Setup) -> str | None:
    """Why the minimum is not known of which the statement speaks, or why the start is not in the server's ball."""
    if not setting.problem.potential and (reason := _of_operator(setting, ready)):
        return reason
    if reason := setting.problem.unmeasured(setting.recorded, recorded(ready), random=setup.is_random(ready)):
        return reason
    if reason := outside(setting, ready):
        return reason
    if Assumption.BALL not in setting.statement.assumptions:
        return None
    block = ready.projected[1]
    norm = float(np.linalg.norm(ready.point[0, ready.block_of == block]))
    r = float(ready.step_sizes["r"])
    return None if norm <= r else f"the start has a norm of {norm:.6g}, outside the ball of radius r={r:.6g}"


def _of_operator(setting: Setting, ready: setup.Setup) -> str | None:
    """Why something is not measured of an operator that is no gradient, such as a gap."""
    known = recorded(ready)
    # How far a round moves a point is that of points alone.
    followed = {*known, "du2", "dv2", *(f"{head}:{name}" for head in ("change", "largest") for name in known)}
    if unknown := sorted(setting.recorded - followed):
        # Of several symbols the first: the others are those of other rounds.
        symbols = {fact: name for name, fact in reversed(setting.statement.vocabulary.facts.items())}
        listed = ", ".join(symbols.get(name, name) for name in unknown)
        return (
            f"{listed} is not measured on a {ready.problem.kind} problem, whose oracle answers with an operator that "
            f"has no values: {', '.join(symbols.get(name, name) for name in known)} are"
        )
    return None


# --- Without a run ---


def points(setting: Setting) -> Points:
    """The points that are drawn for a statement about points."""
    return Points.of(setting.problem, setting.problem.shares, setting.options.seed)


def _without_run(request: Request, base: Verdict, values: dict[str, float]) -> Verdict:
    """Claims about vectors, or about the participation alone."""
    setting, recorded, known = request.setting, request.setting.recorded, replace(base, engine="exact")
    if all(claim.metric.over is Over.NO_RUN for claim in setting.statement.claims):
        if setting.pointwise:
            return _by_points(request, known, values)
        if setting.problem.bilevel:
            return _not_applicable(base, "vectors come from another problem")
        if len(others := [sorted(kind & recorded) for kind in lemmas.VECTORS if kind & recorded]) > 1:
            listed = " and ".join(", ".join(names) for names in others)
            return _not_applicable(base, f"{listed} are measured of different vectors, so that nothing relates them")
        m, martingale = setting.size("participants"), Assumption.MARTINGALE in setting.statement.assumptions
        return _conclude(request, known, lemmas.vectors(setting.problem.single, m, martingale=martingale))
    (symbol,) = setting.statement.measured
    delay = expected_delay(request.on.case, 0)
    if delay is None:
        return _not_applicable(base, "the delays depend on a run")
    records, errors = ({symbol: np.array([each])} for each in delay)
    return _conclude(request, known, Expectation(records, errors, {}, 1.0, places=[(None, None)]))


def _not_applicable(base: Verdict, reason: str) -> Verdict:
    return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=(reason,))


def _by_points(request: Request, base: Verdict, values: dict[str, float]) -> Verdict:
    setting = request.setting
    ball = setting.statement.vocabulary.derived["r_max"]
    # Where its size does not follow from the statement's constants the statement has no v.
    found = points(setting).records(number(ball, values) if within(ball, values) else 1.0)
    note = "evaluated at random pairs of points; a claim is reported where it has the least slack"
    return _conclude(request, replace(base, notes=(note,)), _with_symbols(setting, found))


# --- Expectations ---


def _by_engine(request: Request, base: Verdict, ready: setup.Setup) -> Judged:
    """The verdict of the first engine that follows the run to what the statement compares."""
    setting = request.setting
    want = wanted(setting, by_round=request.reporting.observe is not None or bool(request.along))
    option = setting.options.engine
    if setting.statement.in_probability and setup.is_random(ready):
        if option == "exact":
            raise InputError(f"{setting.statement.key} is about the runs that meet a bound: use engine=step")
        # Of the best round too, which is then one of the run.
        option, want = "step", replace(want, means=False, best_round=False)
    engine, unrecorded = choose(ready, want, option)
    base = replace(base, engine=engine.option)
    if not ready.algorithm.linear:
        note = f"{ready.method.spoken} is not linear: its run is followed step by step, {way(ready)}"
        base = replace(base, notes=(*base.notes, note))
    if unrecorded:
        return Judged(_not_applicable(base, unrecorded))
    if engine.option == "step" and setup.is_random(ready):
        return _by_replicates(request, base, ready, engine, want)
    follow = partial(engine.follow, ready, want, request.reporting.progress)
    return _by_expectation(request, base, ready, request.played.once(ready, engine.name, follow))


def _by_expectation(request: Request, base: Verdict, ready: setup.Setup, result: Expectation) -> Judged:
    setting = request.setting
    base = replace(base, notes=(*base.notes, *result.notes))
    if result.diverged and any(check.holds is False for check in base.conditions):
        # The statement never spoke of such a run.
        reasons = ("the run leaves the range of float64",)
        return Judged(replace(base, outcome=Outcome.DIVERGED, reasons=reasons))
    result = _with_symbols(setting, result)
    seen = measured(setting, ready, request.along, result.records, 1, request.played)
    found = _conclude(request, base, result)
    return Judged(_from_below(found, result.least) if result.least else found, seen)


def _from_below(found: Verdict, why: str) -> Verdict:
    """The verdict with the least that left sides may be."""
    listed = ", ".join(f"{each.left + each.left_error:.4g}" for each in found.comparisons)
    note = f"the left side is at least what is shown, {why}; it is at most {listed}"
    return replace(found, comparisons=tuple(map(at_least, found.comparisons)), notes=(*found.notes, note))


def _with_symbols(setting: Setting, result: Expectation) -> Expectation:
    records, errors, sizes = (by_symbol(setting, part) for part in (result.records, result.errors, result.sizes))
    return replace(result, records=records, errors=errors, sizes=sizes)


def _observe(
    request: Request, values: Mapping[str, float], result: Expectation | None, records: Mapping[str, Array]
) -> None:
    """Both sides of every claim to the observer; of sampled records, without a result, only these are known."""
    observe = request.reporting.observe
    if observe is None:
        return
    vocabulary, claims = request.setting.statement.vocabulary, request.setting.statement.claims
    errors, places = (step_rounding(records, vocabulary), None) if result is None else (result.errors, result.places)
    observe({c.name: entries(c, vocabulary, values, records, errors, places) for c in claims})


def _conclude(request: Request, base: Verdict, result: Expectation) -> Verdict:
    """Compare both sides of every claim."""
    statement, values = request.setting.statement, base.values
    _observe(request, values, result, result.records)
    given = request.setting.values
    comparisons = [
        sides.compared(claim, statement.vocabulary, values, result, given=given) for claim in statement.claims
    ]
    outcome, reasons = sides.outcome(statement.claims, comparisons)
    return replace(base, outcome=outcome, comparisons=tuple(comparisons), reasons=reasons)


# --- Replicates ---


def _by_replicates(request: Request, base: Verdict, ready: setup.Setup, engine: Engine, want: Wanted) -> Judged:
    setting, statement, options = request.setting, request.setting.statement, request.setting.options
    most, level, facts = options.replicates, options.level, statement.vocabulary.facts
    matters = own_rounds.rounding_matters(ready) or ready.problem.doubts
    rounding = partial(_moved, ready, options.seed) if matters else None

    def simulate(replicates: range) -> Run:
        sample = partial(engine.sample, ready, want, replicates, request.reporting.progress)
        return request.played.run(ready, engine.name, replicates, sample)

    runs = Replicates(simulate, partial(by_symbol, setting), most, rounding)
    largest = ready.problem.largest_gradients
    decisions, comparisons = judge(
        statement, base.values, runs, level, level / request.traces,
        # An observer of curves wants as many replicates of each as are allowed.
        first=FIRST if request.reporting.observe is None else most,
        normal=setup.is_normal(ready) and not want.inside,
        every_run=frozenset(s for s in facts if facts[s] in bilevel_rounds.EVERY_RUN),
        ranges=by_symbol(setting, {name: np.array([value]) for name, value in largest.items()}),
        given=setting.values,
    )  # fmt: skip
    base = replace(base, replicates=runs.drawn, level=level)
    records = runs.records
    outcome = sides.worst_of({decision.outcome for decision in decisions})
    beyond = not all(np.isfinite(array).all() for array in records.values())
    if beyond and (outcome is Outcome.DIVERGED or any(check.holds is False for check in base.conditions)):
        reasons = ("some replicates leave the range of float64",)
        diverged = replace(base, outcome=Outcome.DIVERGED, comparisons=(), reasons=reasons)
        return Judged(diverged)
    largest_of = bilevel_rounds.STEEPEST
    means = {name: each.max(axis=0) if name in largest_of else each.mean(axis=0) for name, each in records.items()}
    seen = measured(setting, ready, request.along, means, runs.drawn, request.played)
    _observe(request, base.values, None, records)
    base = replace(base, outcome=outcome, comparisons=tuple(comparisons))
    supposing = any(decision.supposes for decision in decisions)
    if outcome is Outcome.HOLDS and supposing and (missing := _no_moment(ready)):
        return Judged(replace(base, outcome=Outcome.INCONCLUSIVE, reasons=(missing,)), seen)
    no_number = tuple(dict.fromkeys(c.missing for c in comparisons if c.missing))
    if no_number and outcome is not Outcome.VIOLATED:
        return Judged(replace(base, reasons=no_number), seen)
    deciding = [decision for decision in decisions if decision.outcome is outcome]
    caveats, supposed = (
        tuple(filter(None, dict.fromkeys(each)))
        for each in ((d.caveat for d in deciding), (d.supposes for d in deciding))
    )
    return Judged(replace(base, notes=(*base.notes, *caveats), supposes=supposed), seen)


def _no_moment(ready: setup.Setup) -> str:
    """Why squares of the run have no second moment, as bounds of their means suppose; empty where that is not known."""
    if not (ready.noise.any() and math.isinf(ready.law.fourth) and ready.algorithm.linear and ready.problem.affine):
        return ""
    return f"{ready.law} noise has no fourth moment, so that no confidence bound for squares from above is known"


def _moved(ready: setup.Setup, seed: int, wanted: range) -> dict[str, Array]:
    """The error bounds of the replicates' records from rounding and an uncertain minimum."""
    doubts, shape = ready.problem.doubts, (len(wanted), ready.T)
    moved = own_rounds.rounding(ready, seed=seed, wanted=wanted) if own_rounds.rounding_matters(ready) else {}
    nothing = np.zeros(shape)
    return {name: moved.get(name, nothing) + doubts.get(name, 0.0) for name in ready.records}
