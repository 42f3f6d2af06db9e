"""Means over the participation whose step sizes are those of the trace that is drawn.

E[left side] is compared with a bound that is a number: every trace has its own step sizes, and its own left side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.certification.uncertified import lacking, required
from ratecheck.engines import setup
from ratecheck.engines.engine import Engine, choose
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.monte_carlo.rounding import step_rounding
from ratecheck.engines.wanted import Wanted
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation
from ratecheck.participation.trace import drawn
from ratecheck.settings.applicability import step_source
from ratecheck.settings.on_trace import on_trace, step_values
from ratecheck.settings.setting import Setting
from ratecheck.statistics.sequential_test import decide
from ratecheck.verification import claim_sides as sides
from ratecheck.verification.engine_runs import Reporting, by_symbol, set_up, wanted
from ratecheck.verification.interval_recheck import rechecked
from ratecheck.verification.judgement import no_verdict
from ratecheck.verification.negative_bounds import nonnegative, not_random
from ratecheck.verification.vacuity import vacuity
from ratecheck.verification.verdict import Comparison, Verdict


@dataclass(frozen=True)
class _Left:
    """The left side given one trace, its rounding error, and the engine; "sampled" where the noise is."""

    value: float
    error: float
    engine: str


@dataclass(frozen=True)
class _Bound:
    """The right side, its rounding error, and its terms by name."""

    value: float
    error: float
    terms: dict[str, float]


@dataclass(frozen=True)
class _Means:
    """A mean over the participation that is compared with a bound; step sizes are those of ``rules`` on a trace."""

    setting: Setting
    reporting: Reporting
    rules: Statement
    values: Mapping[str, float]
    bound: _Bound


def over_draws(setting: Setting, reporting: Reporting) -> Verdict:
    """The verdict on a statement that assumes step sizes of the participation that is drawn."""
    statement, pattern = setting.statement, setting.pattern
    rules = step_source(statement)
    if rules is None:
        return no_verdict(setting, pattern, reporting, ("nothing that it follows from says which step sizes",))
    on = on_trace(setting, pattern)
    absent = tuple(c.missing for c in on.constants.values() if math.isinf(c.value))
    certified = required(statement.assumptions, statement.vocabulary, on.case)
    absent = (*absent, *lacking(certified), *on.contradicted)
    base = replace(no_verdict(setting, pattern, reporting, absent), constants=dict(on.constants), required=certified)
    if absent:
        return base
    found = step_values(on)
    conditions = statement.check_conditions(found.values)
    broken = tuple(check.broken for check in conditions if check.holds is False)
    base = replace(base, values=found.values, chosen=found.chosen, conditions=conditions, reasons=broken)
    if broken:
        return base
    if setting.options.vacuity:
        vacuous, until = vacuity(found)
        base = replace(base, vacuous=vacuous, vacuous_until=until)
    base = replace(base, notes=(f"step sizes are those of {rules.key} for the participation that is drawn",))
    bound = _bound(setting, found.values)
    if not math.isfinite(bound.value) or not math.isfinite(bound.error):
        return replace(base, outcome=Outcome.INCONCLUSIVE, reasons=("the bound overflows float64",))
    return _compare(_Means(setting, reporting, rules, found.values, bound), base)


def _bound(setting: Setting, values: dict[str, float]) -> _Bound:
    (claim,) = setting.statement.claims
    vocabulary, nothing = setting.statement.vocabulary, {"": np.zeros(1)}
    terms = {k: sides.enclosed(e, vocabulary, values, nothing, nothing).at(0)[0] for k, e in claim.terms.items()}
    return _Bound(*sides.enclosed(claim.bound, vocabulary, values, nothing, nothing, setting.values).at(0), terms)


def _compare(means: _Means, base: Verdict) -> Verdict:
    """Compare with the bound, which is known up to a rounding error."""
    fixed = means.setting.pattern.deterministic
    try:
        if fixed and (left := _lefts_on(means, [means.setting.pattern], range(1))[0]).engine != "sampled":
            return rechecked(_compare_number(means, base, left), means.setting, means.setting.pattern)
        return _compare_draws(means, base, fixed=fixed)
    except InputError as error:
        return replace(base, reasons=(str(error),))


def _compare_number(means: _Means, base: Verdict, left: _Left) -> Verdict:
    """The verdict where nothing is random, or only the noise and its expectation is known."""
    (claim,), bound = means.setting.statement.claims, means.bound
    missing = "" if math.isfinite(left.value) and math.isfinite(left.error) else "the left side overflows float64"
    comparison = Comparison(
        claim.name, None, left.value, bound.value, left.error + bound.error, bound.terms,
        left_error=left.error, right_error=bound.error, missing=missing,
    )  # fmt: skip
    outcome, reasons = sides.outcome((claim,), [comparison])
    return replace(base, outcome=outcome, engine=left.engine, comparisons=(comparison,), reasons=reasons)


def _compare_draws(means: _Means, base: Verdict, *, fixed: bool) -> Verdict:
    """The verdict of a sequential test on replicates: of the trace, or of the noise where the trace is ``fixed``."""
    setting, bound = means.setting, means.bound
    (claim,), pattern, options = setting.statement.claims, setting.pattern, setting.options
    rounding = [0.0]

    def draw(wanted: range) -> tuple[Array, Array]:
        traces = [pattern if fixed else drawn(pattern, setting.rounds, options.seed, r) for r in wanted]
        lefts = _lefts_on(means, traces, wanted)
        rounding.extend(left.error for left in lefts)
        return np.array([[left.value] for left in lefts]), np.full((len(lefts), 1), bound.value)

    vocabulary = setting.statement.vocabulary
    decision = decide(
        draw, options.level, max(options.replicates, 2),
        nonnegative=not_random(claim, vocabulary) and nonnegative(claim, vocabulary, means.values),
        tie=lambda _: (np.array([max(rounding)]), np.array([bound.error])),
    )  # fmt: skip
    comparison = Comparison(
        claim.name, None, decision.left, bound.value, decision.error, bound.terms,
        left_error=max(rounding), right_error=bound.error,
    )  # fmt: skip
    return replace(
        base, outcome=decision.outcome, engine="step" if fixed else "traces", comparisons=(comparison,),
        replicates=decision.replicates, level=options.level, notes=(*base.notes, decision.caveat),
        supposes=tuple(filter(None, [decision.supposes])),
    )  # fmt: skip


def _lefts_on(means: _Means, traces: Sequence[Participation], replicates: range) -> list[_Left]:
    """The left side given each trace; where the noise is sampled it is that of the replicate.

    Raises `InputError` where the step sizes of the rules have no value or break their conditions.
    """
    setting = means.setting
    want = wanted(setting, by_round=means.reporting.observe is not None)
    runs = [_DrawnRun.of(means, trace) for trace in traces]
    exact: dict[Engine, list[int]] = {}
    found: dict[int, _Left] = {}
    for k, run in enumerate(runs):
        engine, unrecorded = choose(run.ready, want, setting.options.engine)
        if unrecorded:
            raise InputError(unrecorded)
        if engine.option == "exact":
            exact.setdefault(engine, []).append(k)
        else:
            found[k] = run.sampled(engine, want, replicates[k])
    for engine, places in exact.items():
        results = engine.follow_each([runs[k].ready for k in places], want, means.reporting.progress)
        found |= {k: runs[k].expected(result) for k, result in zip(places, results, strict=True)}
    return [found[k] for k in range(len(runs))]


@dataclass(frozen=True)
class _DrawnRun:
    """A run on a trace that was drawn, with ``values`` among which are the step sizes of the rules on it."""

    setting: Setting
    values: Mapping[str, float]
    ready: setup.Setup

    @staticmethod
    def of(means: _Means, trace: Participation) -> _DrawnRun:
        """The run on this trace."""
        setting, rules = means.setting, means.rules
        on = on_trace(setting, trace, rules)
        for constant in on.constants.values():
            if math.isinf(constant.value):
                raise InputError(constant.missing)
        values = step_values(on).values
        for check in rules.check_conditions(values):
            if check.holds is False:
                raise InputError(check.broken)
        return _DrawnRun(setting, values, set_up(setting, trace, values))

    def expected(self, result: Expectation) -> _Left:
        """The left side, its expectation being this."""
        if result.rounds is not None:
            return _Left(math.inf, math.inf, "exact")
        return _Left(*self._mean(result.records, result.errors), "exact")

    def sampled(self, engine: Engine, want: Wanted, replicate: int) -> _Left:
        """The left side of one replicate."""
        run = engine.sample(self.ready, want, range(replicate, replicate + 1))
        errors = step_rounding(run.records, self.setting.statement.vocabulary)
        found = self._mean(*({name: array[0] for name, array in each.items()} for each in (run.records, errors)))
        return _Left(*found, "sampled" if setup.is_random(self.ready) else "step")

    def _mean(self, records: Mapping[str, Array], errors: Mapping[str, Array]) -> tuple[float, float]:
        setting = self.setting
        (claim,), vocabulary = setting.statement.claims, setting.statement.vocabulary
        pair = by_symbol(setting, records), by_symbol(setting, errors)
        return sides.enclosed(claim.metric.expr, vocabulary, self.values, *pair, setting.values).mean().at(())
