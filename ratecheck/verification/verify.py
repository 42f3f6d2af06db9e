"""Does a statement hold on a problem: both sides, with every assumption's certificate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from bounds.numbers import apart
from bounds.statement import Assumption, Given, Statement
from ratecheck.aliases import Progress
from ratecheck.certification.noise_facts import unmet_noise
from ratecheck.certification.own_functions import unequal
from ratecheck.certification.trajectory_constants import MEASURES
from ratecheck.certification.uncertified import lacking, may_continue, required, unmet
from ratecheck.engines import setup
from ratecheck.errors import InputError
from ratecheck.inputs import floats
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation
from ratecheck.problems import Certificate, Constant, Problem
from ratecheck.settings.applicability import check_expectations, foreign, steps_of_all, unlike
from ratecheck.settings.convexity import not_quadratic
from ratecheck.settings.on_trace import OnTrace, on_trace
from ratecheck.settings.setting import DEFAULTS, Options, Setting, check_drawn, resolve
from ratecheck.verification.along_trajectory import along_trajectory
from ratecheck.verification.drawn_step_sizes import over_draws
from ratecheck.verification.engine_runs import Reporting
from ratecheck.verification.entries import Observe
from ratecheck.verification.interval_recheck import rechecked
from ratecheck.verification.judgement import Request, compare, no_verdict, points
from ratecheck.verification.negative_bounds import impossible
from ratecheck.verification.verdict import NO_ENGINE, Verdict

# Clients whose numbers of local steps a verdict lists.
_LISTED = 20


def verify(
    statement: Statement,
    problem: Problem,
    given: Given,
    options: Options = DEFAULTS,
    *,
    participation: Participation | None = None,
    start: Mapping[str, ArrayLike] | None = None,
    name: str = "",
    progress: Progress | None = None,
    observe: Observe | None = None,
) -> Verdict:
    """Compare both sides of a statement on a problem.

    ``given`` holds the settings of the run (such as m, K, T), noise, parameters of the method and, if wished, step
    sizes and constants larger than the certified ones. Step sizes that are not given are those of `chosen_values`.
    ``participation`` is by default what the statement assumes; a statement about any participation is verified on
    ``options.traces`` sampled traces, each separately. ``start`` maps x0, y0, v0 to arrays, zeros by default.
    ``observe`` receives both sides of every claim by entry, for every participation; where b is found along the
    trajectory, once for every b tried. Raises `InputError` for unusable input.
    """
    statement.check_names(given)
    statement = statement.at(given)
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so there is nothing to compare with")
    label = name or problem.kind
    given, several = steps_of_all(statement, given, problem.n)
    if reasons := (several,) if several else foreign(statement):
        values, _ = statement.complete(given)
        return Verdict(statement, Outcome.NOT_APPLICABLE, label, NO_ENGINE, values, reasons=reasons)
    starts = {variable: floats(variable, value) for variable, value in (start or {}).items()}
    setup.starting_point(problem, {"x0": None, "y0": None, "v0": None, **starts})
    # What leaves the range of floats is judged by its values; NumPy's warnings would add nothing.
    with np.errstate(all="ignore"):
        setting = resolve(statement, problem, participation, given, options, starts)
        verdict = _on_declared(_verified(setting, Reporting(label, progress, observe)))
    if options.noise is not None:
        verdict = replace(verdict, notes=(f"the noise has the law {setting.law}", *verdict.notes))
    if not problem.bilevel and problem.multiplicities is None and unequal(problem.shares):
        own = setting.method is not None and setting.method.algorithm.own_functions
        whose = "hold of f_i and of n p_i f_i" if own else "are those of the functions n p_i f_i, as steps are"
        weighed = f"clients have unequal weights p_i: constants such as L {whose}"
        verdict = replace(verdict, notes=(*verdict.notes, weighed))
    if np.ptp(setting.steps) == 0:
        return verdict
    listed = ",".join(f"{each:g}" for each in setting.steps[:_LISTED]) + (",..." if problem.n > _LISTED else "")
    return replace(verdict, notes=(*verdict.notes, f"the clients take {listed} local steps in a round"))


def _verified(setting: Setting, reporting: Reporting) -> Verdict:
    statement, pattern = setting.statement, setting.pattern
    reason = (
        unlike(statement, setting.problem, pattern, setting.size("participants"))
        or unmet(statement.assumptions, setting.problem, pattern)
        or unmet_noise(statement.assumptions, setting.law, setting.noise)
        or not_quadratic(statement.title, setting.problem)
    )
    if reason:
        return no_verdict(setting, pattern, reporting, (reason,))
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        check_expectations(statement, "a step size for each participation")
        check_drawn(setting.problem)
        return _refuted(over_draws(setting, reporting))
    traces = setting.traces()
    verdicts = []
    for trace in traces:
        on = on_trace(setting, trace)
        found = _on(on, reporting, len(traces))
        verdicts.append(_of_one_minimiser(_refuted(rechecked(found, on.setting, trace)), on.setting))
    return verdicts[0] if len(verdicts) == 1 else _together(verdicts)


def _on(on: OnTrace, reporting: Reporting, traces: int) -> Verdict:
    """The verdict on one of ``traces`` traces, before rounding is looked at."""
    setting, facts = on.setting, on.statement.vocabulary.facts
    if setting.pointwise:
        on = on.with_constants({s: _at_points(setting, s) for s in on.absent if facts[s] == "L_f"})
    along = tuple(s for s in on.absent if _measurable(on, facts[s]))
    absent = (c.missing for s, c in on.absent.items() if s not in along)
    certified = required(on.statement.assumptions, on.statement.vocabulary, on.case)
    if reasons := (*absent, *lacking(certified), *on.contradicted):
        none = no_verdict(setting, on.trace, reporting, reasons)
        return replace(none, constants=dict(on.constants), required=certified)
    request = Request(on, reporting, traces, along)
    return replace(along_trajectory(request) if along else compare(request).verdict, required=certified)


def _measurable(on: OnTrace, fact: str) -> bool:
    """Whether a run shows a constant that does not exist, as far as problem and participation tell."""
    measure = None if on.setting.method is None else MEASURES.get(fact)
    if measure is None or not measure.possible(on.case):
        return False
    return not measure.beyond or may_continue(on.statement.assumptions)


def _at_points(setting: Setting, symbol: str) -> Constant:
    """L_f at the points that are drawn, or a larger one that the caller gave."""
    steepest = points(setting).steepest
    value = setting.values.get(symbol, steepest)
    if value < steepest:
        given, least = apart(value, steepest)
        raise InputError(f'{symbol}={given} breaks "{symbol} >= {least}", its value there')
    return Constant(symbol, value, Certificate.TRAJECTORY, "largest gradient at the points that are drawn")


def _refuted(verdict: Verdict) -> Verdict:
    """The verdict, VIOLATED where a bound is negative inside all conditions although the left side never is."""
    met = all(check.holds for check in verdict.conditions)
    if verdict.outcome is Outcome.NOT_APPLICABLE or not met:
        return verdict
    found = impossible(verdict.statement.claims, verdict.statement.vocabulary, verdict.values)
    return replace(verdict, outcome=Outcome.VIOLATED, impossible=found, supposes=()) if found else verdict


def _on_declared(verdict: Verdict) -> Verdict:
    """The verdict with what it rests on where constants are declared: tried at points, which proves nothing."""
    if verdict.outcome not in (Outcome.HOLDS, Outcome.VIOLATED) or verdict.impossible:
        return verdict
    known = [*verdict.constants.values()]
    for assumption, constants in verdict.required.items():
        names = {*map(verdict.statement.vocabulary.called, assumption.constants)}
        known += constants if not names & verdict.constants.keys() else ()
    declared = [c for c in known if c.certificate is Certificate.DECLARED]
    supposed = tuple(f"{c.name}={c.value:.6g} is as declared" for c in declared)
    return replace(verdict, supposes=(*verdict.supposes, *supposed))


def _of_one_minimiser(verdict: Verdict, setting: Setting) -> Verdict:
    """The verdict with a note where f has several minimisers; a violation becomes INCONCLUSIVE then.

    A statement may mean the nearest one, which is another one in every round.
    """
    if not setting.recorded & {"distance2", "change:distance2"} or not verdict.comparisons:
        return verdict
    if not (several := setting.problem.several):
        return verdict
    note = f"{several}: distances are those to the one of least norm, and the statement may mean the nearest"
    if verdict.outcome is not Outcome.VIOLATED or verdict.impossible:
        return replace(verdict, notes=(*verdict.notes, note))
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, reasons=(note,), supposes=())


def _together(verdicts: list[Verdict]) -> Verdict:
    """One verdict on several traces: the worst, with all comparisons."""
    order = (Outcome.VIOLATED, Outcome.DIVERGED, Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE, Outcome.HOLDS)
    first = min(verdicts, key=lambda v: (order.index(v.outcome), math.inf if v.slack is None else v.slack))
    comparisons = tuple(itertools.chain.from_iterable(v.comparisons for v in verdicts))
    note = f"each of {len(verdicts)} participations is a check of its own; the numbers are those of the tightest"
    return replace(first, comparisons=comparisons, notes=(*first.notes, note))
