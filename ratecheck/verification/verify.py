"""Does a statement hold on a problem: both sides, with every assumption's certificate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from bounds.statement import Assumption, Given, Over, Statement, number
from ratecheck.algebra.one_dimensional import smallest_integer
from ratecheck.algorithms.base import RECORDS
from ratecheck.aliases import Array, Progress
from ratecheck.certification.certified_constants import expected_delay
from ratecheck.certification.trajectory_constants import MEASURES, Measure, Trajectory
from ratecheck.certification.uncertified import lacking, unmet
from ratecheck.engines import setup
from ratecheck.engines.moments import averages, exact, lemmas, quantities
from ratecheck.engines.monte_carlo import bilevel_rounds, step
from ratecheck.errors import BeyondFloatsError, InputError, NoValueError
from ratecheck.inputs import floats
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation, Trace
from ratecheck.participation.delays import draw_until
from ratecheck.problems import Certificate, Constant, Problem
from ratecheck.statistics.sequential_test import FIRST, decide
from ratecheck.stepsizes.choose import INDEPENDENT
from ratecheck.verification import claim_sides as sides
from ratecheck.verification import pointwise as points
from ratecheck.verification.applicability import foreign, step_source, unlike, within
from ratecheck.verification.entries import Observe, entries
from ratecheck.verification.interval_verdict import affordable, settled
from ratecheck.verification.monte_carlo import ONE_RUN, Replicates, judge, step_rounding
from ratecheck.verification.negative_bounds import impossible, nonnegative, not_random
from ratecheck.verification.rigorous import Proof, decided
from ratecheck.verification.setting import Asked, Options, recordable
from ratecheck.verification.verdict import Comparison, Verdict

DEFAULTS = Options()

# A state larger than this makes the exact engine slower than sampling.
_LARGEST_EXACT_STATE = 1500
# Rounds that are followed one by one where repeated squaring overflows: a run that blows up does so early.
_EARLY = 20_000
# Rounds that are followed one by one; a mean over rounds may be about more.
_MOST_FOLLOWED = 10**7
# How often an assumed trajectory constant is raised to what was measured, and the margin on top.
_ATTEMPTS, _MARGIN = 30, 1.05


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
    ``participation`` is by default what the statement assumes; a statement about any participation is asked about
    ``options.traces`` draws of uniform sampling, each a check of its own. ``start`` maps x0, y0, v0 to arrays, zeros by
    default. ``observe`` receives both sides of every claim by entry, for every participation; where b is found along
    the trajectory, once for every b tried. Raises `InputError` for unusable input.
    """
    statement.check_names(given)
    statement = statement.at(given)
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so there is nothing to compare with")
    label = name or problem.kind
    if reasons := foreign(statement):
        values, _ = statement.complete(given)
        return Verdict(statement, Outcome.NOT_APPLICABLE, label, "none", values, reasons=reasons)
    starts = {variable: floats(variable, value) for variable, value in (start or {}).items()}
    setup.starting_point(problem, {"x0": None, "y0": None, "v0": None, **starts})
    run = _Check(statement, problem, dict(given), options, label, participation, starts, progress, observe)
    # What leaves the range of floats is judged by its values; NumPy's warnings would add nothing.
    with np.errstate(all="ignore"):
        return run.run()


@dataclass
class _Check(Asked):
    # Participations of which any may refute the statement.
    checks: int = 1

    def run(self) -> Verdict:
        statement = self.statement
        pattern = self.trace = self.prepare()
        reason = unlike(statement, pattern, self._setting("participants")) or unmet(statement, self.problem, pattern)
        if reason:
            return self._verdict(Outcome.NOT_APPLICABLE, values=self.asked_values(), reasons=(reason,))
        if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
            return _refuted(self._over_draws(pattern))
        traces = list(self.traces(pattern))
        self.checks = len(traces)
        verdicts = [_refuted(self._settled(self._on(trace), trace)) for trace in traces]
        return verdicts[0] if len(verdicts) == 1 else _together(verdicts)

    def _on(self, trace: Participation) -> Verdict:
        self.trace = trace
        self.certified = self._certify(self.statement)
        missing = {s: c for s, c in self.certified.items() if c.certificate is Certificate.ABSENT}
        if missing and self._pointwise():
            at_points = {s: self._at_points(s) for s in missing if self._fact(s) == "L_f"}
            self.certified |= at_points
            missing = {s: c for s, c in missing.items() if s not in at_points}
        along = [s for s in missing if self.method is not None and self._fact(s) in MEASURES]
        absent = [c for s, c in missing.items() if s not in along]
        lacks = (*lacking(self.statement, self.case), *self.contradicted(self.certified))
        if absent or lacks:
            reasons = (*(f"{c.name} does not exist: {c.reason}" for c in absent), *lacks)
            return self._verdict(
                Outcome.NOT_APPLICABLE, values=self.asked_values(), constants=self.certified, reasons=reasons
            )
        return self._along_trajectory(along) if along else self._compare(self.certified)

    def _settled(self, verdict: Verdict, trace: Participation) -> Verdict:
        """What rounding leaves open is asked of the interval engine, as far as it follows such runs."""
        return settled(verdict, partial(self._proof, trace), rigorous=self.options.rigorous)

    def _proof(self, trace: Participation) -> Proof:
        """What the interval engine says, where its cost is bounded."""
        problem, T = self.problem.quadratic, self._setting("rounds", 1)
        if problem is None:
            return Proof(None, f"a {self.problem.kind} problem is not followed rigorously")
        means = all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in self.statement.claims)
        # The noise that is remembered is known without following the run.
        run = None if self._wanted() == {"noise2"} else self.method
        brief = run is not None and not affordable(problem, run, trace, T, means=means)
        asked = self.asked if trace.fixed(T) is None else trace
        options = replace(self.options, engine="exact", anyway=False)
        try:
            return decided(self.statement, self.problem, self.raw, options, asked, self.start, brief=brief)
        except InputError as error:
            return Proof(None, str(error))

    @cached_property
    def drawn(self) -> points.Points:
        """The points that are drawn for a statement about points."""
        assert self.problem.bilevel is not None
        return points.Points(self.problem.bilevel, self.problem.shares, self.options.seed)

    def _by_points(self, base: Verdict, values: dict[str, float]) -> Verdict:
        ball = self.statement.vocabulary.derived["r_max"]
        # Where its size does not follow from the statement's constants the statement has no v.
        found = self.drawn.records(number(ball, values) if within(ball, values) else 1.0)
        found = replace(found, records=self._symbols(found.records), errors=self._symbols(found.errors))
        note = "evaluated at random pairs of points; a claim is reported where it has the least room"
        return self._judge(replace(base, notes=(note,)), found, values)

    def _at_points(self, symbol: str) -> Constant:
        """L_f at the points that are drawn, or a larger one that the caller gave."""
        steepest = self.drawn.steepest
        if self.given.get(symbol, steepest) < steepest:
            raise InputError(f'{symbol}={self.given[symbol]:g} breaks "{symbol} >= {steepest:g}", its value there')
        value = self.given.get(symbol, steepest)
        return Constant(symbol, value, Certificate.TRAJECTORY, "largest gradient at the points that are drawn")

    def _along_trajectory(self, symbols: list[str]) -> Verdict:
        """Find constants that hold at every iterate of the run that they themselves prescribe."""
        measures = {s: MEASURES[self._fact(s)] for s in symbols}
        fixed = {s: value for s in symbols if (value := self._fixed(s)) is not None}
        said = {**fixed, **self.given}
        tried = {s: said.get(s, _MARGIN * measure.start(self.case)) for s, measure in measures.items()}
        verdict: Verdict | None = None
        for _ in range(_ATTEMPTS):
            found = {s: Constant(s, value, Certificate.TRAJECTORY, "tried") for s, value in tried.items()}
            self.measured = dict.fromkeys(symbols, math.inf)
            verdict = self._compare({**self.certified, **found})
            short = [s for s in symbols if self.measured[s] > tried[s]]
            if verdict.outcome is Outcome.NOT_APPLICABLE:
                return verdict
            if verdict.outcome is Outcome.DIVERGED or any(math.isinf(self.measured[s]) for s in short):
                # What the statement takes for granted is not there, so that it does not speak of this run.
                reason = f"the run overflows float64, so that no {' and '.join(symbols)} can be measured along it"
                return replace(verdict, outcome=Outcome.NOT_APPLICABLE, comparisons=(), reasons=(reason,))
            if any(c.missing for c in verdict.comparisons):
                return verdict
            if not short:
                held = {s: replace(each, reason="measured at its iterates") for s, each in found.items()}
                notes = (*verdict.notes, *_trajectory_notes(verdict, measures))
                return replace(verdict, constants={**verdict.constants, **held}, notes=notes)
            for s in short:
                if s in self.given:
                    raise InputError(
                        f'{s}={self.given[s]:g} breaks "{s} >= {self.measured[s]:g}", its value along the run'
                    )
                if s in fixed:
                    reason = f"the statement takes {s}={fixed[s]:g}, but {s} is {self.measured[s]:.6g} along the run"
                    return replace(verdict, outcome=Outcome.NOT_APPLICABLE, comparisons=(), reasons=(reason,))
                tried[s] = _MARGIN * self.measured[s]
        assert verdict is not None
        listed = " and ".join(f"{s} (tried up to {value:.3g})" for s, value in tried.items())
        reason = f"no {listed} holds along its own trajectory"
        return replace(verdict, outcome=Outcome.NOT_APPLICABLE, comparisons=(), reasons=(reason,))

    def _compare(self, constants: dict[str, Constant]) -> Verdict:
        statement = self.statement
        try:
            values, chosen = self._values(statement, constants)
        except (BeyondFloatsError, NoValueError) as error:
            # Without a value: a rule divides by a constant that is 0 here, such as a delay, and prescribes nothing.
            outcome = Outcome.NOT_APPLICABLE if isinstance(error, NoValueError) else Outcome.INCONCLUSIVE
            values = self.asked_values()
            return self._verdict(outcome, values=values, constants=constants, reasons=(str(error),))
        checks = statement.check_conditions(values)
        broken = tuple(check.broken for check in checks if check.holds is False)
        base = self._verdict(Outcome.INCONCLUSIVE, values=values, constants=constants, chosen=chosen, conditions=checks)
        if broken and not self.options.anyway:
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=broken)
        if broken:
            base = replace(base, notes=("compared although " + " and ".join(broken),))
        vacuous, until = self._vacuity(values, chosen)
        base = replace(base, vacuous=vacuous, vacuous_until=until)
        if self.method is None:
            return self._without_run(base, values)
        ready = self._setup(values)
        if reason := self._outside(ready):
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=(reason,))
        if self._engine(ready) == "exact":
            return self._by_exact(base, ready, values)
        return self._by_step(base, ready, values)

    def _outside(self, ready: setup.Setup) -> str | None:
        """Why the start is not in the ball on which the server projects."""
        if Assumption.BALL not in self.statement.assumptions:
            return None
        block = ready.projected[1]
        norm = float(np.linalg.norm(ready.point[0, ready.block_of == block]))
        r = float(ready.step_sizes["r"])
        return None if norm <= r else f"the start has a norm of {norm:.6g}, outside the ball of radius r={r:.6g}"

    def _without_run(self, base: Verdict, values: dict[str, float]) -> Verdict:
        """Claims about vectors, or about the participation alone."""
        if all(claim.metric.over is Over.NO_RUN for claim in self.statement.claims):
            if self._pointwise():
                return self._by_points(base, values)
            if self.problem.bilevel is not None:
                return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=("vectors come from another problem",))
            if len(others := [sorted(kind & self._wanted()) for kind in lemmas.VECTORS if kind & self._wanted()]) > 1:
                listed = " and ".join(", ".join(names) for names in others)
                reason = f"{listed} are measured of different vectors, so that nothing relates them"
                return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=(reason,))
            vectors = lemmas.vectors(self.problem.single, self._setting("participants"))
            return self._judge(base, vectors, values)
        (symbol,) = sides.measured(self.statement)
        found = expected_delay(self.case, 0)
        if found is None:
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=("the delays depend on a run",))
        records, errors = ({symbol: np.array([each])} for each in found)
        return self._judge(base, exact.Expectation(records, errors, {}, 1.0, places=[(None, None)]), values)

    # --- Runs ---

    def _setup(self, values: Mapping[str, float]) -> setup.Setup:
        assert self.method is not None
        assert self.trace is not None
        wanted, derived = self._wanted(), self.statement.vocabulary.derived
        records = None if wanted <= {*self.method.algorithm.recorded} or not recordable(wanted) else wanted
        return setup.prepare(
            self.method.name,
            self.problem,
            self.trace,
            K=self.steps,  # type: ignore[arg-type]  # an array will do
            weights=self.coefficients if self.method.algorithm.weighs else None,
            T=self._setting("rounds"),
            noise=self.noise,
            records=None if records is None else (*self.method.algorithm.recorded, *sorted(records)),
            step_sizes={
                **{name: number(derived[name], values) for name in self.method.step_sizes if name in derived},
                **{name: values[name] for name in self.method.step_sizes if name in values},
                **self.parameters,
            },
            **self.start,
        )

    def _engine(self, ready: setup.Setup) -> str:
        wanted = self.options.engine
        within = self._wanted() & bilevel_rounds.NAMES
        if within and wanted == "exact":
            raise InputError(f"the exact engine does not have {', '.join(sorted(within))}: use engine=step")
        if within:
            return "step"
        if wanted == "exact":
            exact.check_exact(ready)
        if wanted != "auto":
            return wanted
        if ready.problem.d * (2 + 2 * ready.problem.n) > _LARGEST_EXACT_STATE:
            return "step"
        try:
            exact.check_exact(ready)
        except InputError:
            return "step"
        return "exact"

    def _by_exact(self, base: Verdict, ready: setup.Setup, values: dict[str, float]) -> Verdict:
        result, followed = self._expected(ready)
        base = replace(base, engine="exact")
        if result.diverged and any(check.holds is False for check in base.conditions):
            # The statement never spoke of such a run.
            return replace(base, outcome=Outcome.DIVERGED, reasons=("the run leaves the range of float64",))
        records, errors, sizes = (self._symbols(part) for part in (result.records, result.errors, result.sizes))
        result = replace(result, records=records, errors=errors, sizes=sizes)
        self._measure(ready, result.records, 1)
        return self._judge(base, result, values, followed)

    def _expected(self, ready: setup.Setup) -> tuple[exact.Expectation, int | None]:
        """Expected quantities; and T where fewer rounds were followed, since a run blows up early."""
        wanted = self._wanted()
        if any(quantities.known(name) for name in wanted):
            return quantities.expect(self._followed(ready), wanted, progress=self.progress), None
        if not recordable(wanted):
            return lemmas.expect(self._followed(ready), progress=self.progress), None
        means = all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in self.statement.claims)
        by_round = self.observe is not None or self.measured
        if means and not by_round and averages.pays(ready):
            found = averages.average(ready)
            records, errors = ({k: np.array([v]) for k, v in each.items()} for each in (found.records, found.errors))
            finite, bounded = (all(math.isfinite(x) for x in each.values()) for each in (found.records, found.errors))
            if finite and (bounded or ready.T > _EARLY):
                return exact.Expectation(records, errors, found.weights, ready.trace.rate), None
            if finite:
                # Rounds one by one lose less than powers of the map.
                return exact.expect(ready, progress=self.progress), None
            early = replace(ready, T=min(_EARLY, ready.T))
            return exact.expect(early, progress=self.progress), ready.T
        return exact.expect(self._followed(ready), progress=self.progress), None

    def _followed(self, ready: setup.Setup) -> setup.Setup:
        """The run, where its rounds are few enough to follow one by one; raises `InputError` otherwise."""
        symbol = self.statement.vocabulary.run.get("rounds", "T")
        if ready.T > _MOST_FOLLOWED:
            raise InputError(
                f'{symbol}={ready.T} breaks "{symbol} <= {_MOST_FOLLOWED}": this run is followed by rounds'
            )
        return ready

    def _symbols(self, records: Mapping[str, Array]) -> dict[str, Array]:
        """Records by the paper's symbols, and under their own names."""
        facts = self.statement.vocabulary.facts
        return {**records, **{s: records[fact] for s, fact in facts.items() if fact in records}}

    def _report(
        self, values: Mapping[str, float], result: exact.Expectation | None, records: Mapping[str, Array]
    ) -> None:
        """Both sides of every claim for who observes; of sampled records, without a result, only these are known."""
        if self.observe is None:
            return
        errors, places = ({}, None) if result is None else (result.errors, result.places)
        vocabulary, claims = self.statement.vocabulary, self.statement.claims
        self.observe({c.name: entries(c, vocabulary, values, records, errors, places) for c in claims})

    def _judge(
        self, base: Verdict, result: exact.Expectation, values: dict[str, float], rounds: int | None = None
    ) -> Verdict:
        """Compare both sides of every claim; of ``rounds`` in all some may not have been followed."""
        vocabulary = self.statement.vocabulary
        self._report(values, result, result.records)
        comparisons = [
            sides.compared(claim, vocabulary, values, result, given=self.given, rounds=rounds)
            for claim in self.statement.claims
        ]
        outcome, reasons = sides.outcome(self.statement, comparisons)
        return replace(base, outcome=outcome, engine="exact", comparisons=tuple(comparisons), reasons=reasons)

    def _by_step(self, base: Verdict, ready: setup.Setup, values: dict[str, float]) -> Verdict:
        wanted = self._wanted()
        base = replace(base, engine="step")
        within = bool(wanted & bilevel_rounds.NAMES)
        if not within and not recordable(wanted):
            missing = ", ".join(sorted(wanted - {*RECORDS}))
            reason = f"the step engine does not record {missing}: use a quadratic problem, engine=exact"
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=(reason,))
        if not setup.is_random(ready):
            return self._by_one_run(base, ready, values, within=within)
        most = self.options.replicates
        runs = Replicates(partial(self._simulate, ready, within=within), self._symbols, most)
        # Who looks at the curves wants as many replicates of each as were asked for.
        first = FIRST if self.observe is None else most
        normal = setup.is_normal(ready) and not within
        most_of = ready.problem.largest_gradients
        ranges = self._symbols({name: np.array([largest]) for name, largest in most_of.items()})
        facts = self.statement.vocabulary.facts
        decisions, comparisons = judge(
            self.statement, values, runs, self.options.level, self.options.level / self.checks, first=first,
            normal=normal, every_run=frozenset(s for s in facts if facts[s] in bilevel_rounds.EVERY_RUN), ranges=ranges,
            given=self.given,
        )  # fmt: skip
        base = replace(base, replicates=runs.drawn, level=self.options.level)
        records = runs.records
        outcome = sides.worst_of({decision.outcome for decision in decisions})
        beyond = not all(np.isfinite(array).all() for array in records.values())
        if beyond and (outcome is Outcome.DIVERGED or any(check.holds is False for check in base.conditions)):
            reasons = ("some replicates leave the range of float64",)
            return replace(base, outcome=Outcome.DIVERGED, comparisons=(), reasons=reasons)
        self._measure(ready, {name: values_.mean(axis=0) for name, values_ in records.items()}, runs.drawn)
        self._report(values, None, records)
        caveats = dict.fromkeys(decision.caveat for decision in decisions if decision.outcome is outcome)
        no_number = tuple(dict.fromkeys(c.missing for c in comparisons if c.missing))
        if no_number and outcome is not Outcome.VIOLATED:
            return replace(base, outcome=outcome, comparisons=tuple(comparisons), reasons=no_number)
        supposed = dict.fromkeys(decision.supposes for decision in decisions if decision.outcome is outcome)
        return replace(
            base, outcome=outcome, comparisons=tuple(comparisons), notes=(*base.notes, *caveats),
            supposes=tuple(filter(None, supposed)),
        )  # fmt: skip

    def _by_one_run(self, base: Verdict, ready: setup.Setup, values: dict[str, float], *, within: bool) -> Verdict:
        """Where nothing is random one run says all, up to its rounding."""
        run = self._simulate(ready, range(1), within=within)
        records = self._symbols({name: array[0] for name, array in run.records.items()})
        errors = self._symbols(
            {name: array[0] for name, array in step_rounding(run.records, self.statement.vocabulary).items()}
        )
        self._measure(ready, records, 1)
        note = f"nothing is random: one run, whose rounding is taken as {ONE_RUN:g} of every quantity"
        found = self._judge(base, exact.Expectation(records, errors, {}, ready.trace.rate), values)
        return replace(found, engine="step", notes=(*base.notes, note))

    def _simulate(self, ready: setup.Setup, wanted: range, *, within: bool) -> step.Run:
        """These replicates; ``within`` asks for what happens inside a round."""
        self._followed(ready)
        most, progress = self.options.replicates, self.progress

        def report(share: float) -> None:
            if progress is not None:
                progress((wanted.start + share * len(wanted)) / most)

        seed = self.options.seed
        if within:
            return bilevel_rounds.simulate(ready, seed=seed, wanted=wanted, progress=report)
        return step.simulate(
            ready, seed=seed, first_replicate=wanted.start, replicates=len(wanted), threads=self.options.threads,
            progress=report,
        )  # fmt: skip

    def _measure(self, ready: setup.Setup, records: Mapping[str, Array], replicates: int) -> None:
        """What the run shows of the constants that are looked for along it."""
        samples = Assumption.EVERY_SAMPLE in self.statement.assumptions
        trail = Trajectory(ready, records, self.options.seed, replicates, samples)
        for symbol in self.measured:
            largest = MEASURES[self._fact(symbol)].largest(trail)
            self.measured[symbol] = math.inf if largest is None else largest

    # --- Means over the participation, step sizes being those of the one that is drawn ---

    def _over_draws(self, pattern: Participation) -> Verdict:
        rules = step_source(self.statement)
        if rules is None:
            reason = "nothing that it follows from says which step sizes"
            return self._verdict(Outcome.NOT_APPLICABLE, values=self.asked_values(), reasons=(reason,))
        self.trace = pattern
        self.certified = self._certify(self.statement)
        absent = tuple(f"{c.name} does not exist: {c.reason}" for c in self.certified.values() if math.isinf(c.value))
        absent = (*absent, *lacking(self.statement, self.case), *self.contradicted(self.certified))
        values = self.asked_values()
        base = self._verdict(Outcome.NOT_APPLICABLE, values=values, constants=self.certified, reasons=absent)
        if absent:
            return base
        values, chosen = self._values(self.statement, self.certified)
        checks = self.statement.check_conditions(values)
        broken = tuple(check.broken for check in checks if check.holds is False)
        base = replace(base, values=values, chosen=chosen, conditions=checks, reasons=broken)
        if broken:
            return base
        vacuous, until = self._vacuity(values, chosen)
        note = f"step sizes are those of {rules.key} for the participation that is drawn"
        base = replace(base, vacuous=vacuous, vacuous_until=until, notes=(note,))
        (claim,) = self.statement.claims
        vocabulary, nothing = self.statement.vocabulary, {"": np.zeros(1)}
        terms = {k: sides.enclosed(e, vocabulary, values, nothing, nothing).at(0)[0] for k, e in claim.terms.items()}
        right, wrong = sides.enclosed(claim.bound, vocabulary, values, nothing, nothing, self.given).at(0)
        if not math.isfinite(right) or not math.isfinite(wrong):
            return replace(base, outcome=Outcome.INCONCLUSIVE, reasons=("the bound overflows float64",))
        return self._drawn(replace(base, notes=(note,)), pattern, rules, terms, (right, wrong))

    def _drawn(
        self,
        base: Verdict,
        pattern: Participation,
        rules: Statement,
        terms: dict[str, float],
        bound: tuple[float, float],
    ) -> Verdict:
        """Compare with the bound, which is known up to a rounding error."""
        T, (right, wrong) = self._setting("rounds"), bound
        fixed, (claim,) = pattern.fixed(T) is not None, self.statement.claims
        rounding = [0.0]

        def draw(wanted: range) -> tuple[Array, Array]:
            lefts = []
            for r in wanted:
                self.trace = pattern if fixed else Trace(draw_until(pattern, T, self.options.seed, r))
                left, error, _ = self._left_of(rules, r)
                lefts.append([left])
                rounding.append(error)
            return np.array(lefts), np.full((len(lefts), 1), right)

        try:
            if fixed:
                self.trace = pattern
                left, error, engine = self._left_of(rules, 0)
                if engine != "sampled":
                    missing = "" if math.isfinite(left) and math.isfinite(error) else "the left side overflows float64"
                    comparison = Comparison(
                        claim.name, None, left, right, error + wrong, terms,
                        left_error=error, right_error=wrong, missing=missing,
                    )  # fmt: skip
                    outcome, reasons = sides.outcome(self.statement, [comparison])
                    found = replace(
                        base, outcome=outcome, engine=engine, comparisons=(comparison,), reasons=reasons
                    )  # fmt: skip
                    return self._settled(found, pattern)
            bounded = not_random(claim, self.statement.vocabulary) and nonnegative(
                claim, self.statement.vocabulary, base.values
            )
            decision = decide(
                draw, self.options.level, max(self.options.replicates, 2), nonnegative=bounded,
                tie=lambda _: (np.array([max(rounding)]), np.array([wrong])),
            )  # fmt: skip
        except InputError as error:
            return replace(base, reasons=(str(error),))
        comparison = Comparison(
            claim.name, None, decision.left, right, decision.error, terms, left_error=max(rounding), right_error=wrong
        )
        engine = "step" if fixed else "traces"
        return replace(
            base, outcome=decision.outcome, engine=engine, comparisons=(comparison,), replicates=decision.replicates,
            level=self.options.level, notes=(*base.notes, decision.caveat),
            supposes=tuple(filter(None, [decision.supposes])),
        )  # fmt: skip

    def _left_of(self, rules: Statement, r: int) -> tuple[float, float, str]:
        """The left side given one participation, its rounding error and the engine.

        Where the noise is sampled it is that of replicate r, and the engine is "sampled".

        Raises `InputError` where the step sizes of ``rules`` have no value or break its conditions.
        """
        certified = self._certify(rules)
        for constant in certified.values():
            if math.isinf(constant.value):
                raise InputError(f"{constant.name} does not exist: {constant.reason}")
        values, _ = self._values(rules, certified)
        for check in rules.check_conditions(values):
            if check.holds is False:
                raise InputError(check.broken)
        ready = self._setup(values)
        (claim,) = self.statement.claims

        def mean(records: Mapping[str, Array], errors: Mapping[str, Array]) -> tuple[float, float]:
            vocabulary, pair = self.statement.vocabulary, (self._symbols(records), self._symbols(errors))
            return sides.enclosed(claim.metric.expr, vocabulary, values, *pair, self.given).mean().at(())

        if self._engine(ready) == "exact":
            result, followed = self._expected(ready)
            if followed is not None:
                return math.inf, math.inf, "exact"
            return *mean(result.records, result.errors), "exact"
        run = step.simulate(ready, seed=self.options.seed, first_replicate=r, replicates=1)
        errors = step_rounding(run.records, self.statement.vocabulary)
        found = mean(*({name: array[0] for name, array in each.items()} for each in (run.records, errors)))
        return *found, "sampled" if setup.is_random(ready) else "step"

    def _vacuity(self, values: dict[str, float], chosen: Mapping[str, str]) -> tuple[bool | None, int | None]:
        trivial, rounds = self.statement.claims[0].metric.trivial, self.statement.vocabulary.run.get("rounds")
        if trivial is None or rounds is None or not self.options.vacuity:
            return None, None
        fixed = {k: v for k, v in values.items() if chosen.get(k, "given") in INDEPENDENT}

        def vacuous(T: int) -> bool:
            return bool(self.statement.evaluate(**{**fixed, rounds: float(T)}).vacuous)

        return self.statement.evaluate(**values).vacuous, _first_false(vacuous)

    def _verdict(self, outcome: Outcome, **parts: object) -> Verdict:
        return Verdict(
            statement=self.statement, outcome=outcome, problem=self.name, engine="none", ranges=self.ranges(), **parts,  # type: ignore[arg-type]
        )  # fmt: skip


def _refuted(verdict: Verdict) -> Verdict:
    """The verdict, VIOLATED where a bound is negative inside all conditions although the left side never is."""
    met = all(check.holds for check in verdict.conditions)
    if verdict.outcome is Outcome.NOT_APPLICABLE or not met:
        return verdict
    found = impossible(verdict.statement, verdict.values)
    return replace(verdict, outcome=Outcome.VIOLATED, impossible=found, supposes=()) if found else verdict


def _together(verdicts: list[Verdict]) -> Verdict:
    """One verdict on several participations: the worst, with all comparisons."""
    order = (Outcome.VIOLATED, Outcome.DIVERGED, Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE, Outcome.HOLDS)
    first = min(verdicts, key=lambda v: (order.index(v.outcome), math.inf if v.slack is None else v.slack))
    comparisons = tuple(itertools.chain.from_iterable(v.comparisons for v in verdicts))
    note = f"each of {len(verdicts)} participations is a check of its own; the numbers are those of the tightest"
    return replace(first, comparisons=comparisons, notes=(*first.notes, note))


def _trajectory_notes(verdict: Verdict, measures: Mapping[str, Measure]) -> tuple[str, ...]:
    """What constants measured along the run itself do not say."""
    listed = " and ".join(measures)
    alone = f"what the statement says about {listed} alone holds by definition"
    notes = [f"{listed} is a property of this run, not of the problem; {alone}"]
    if verdict.engine == "step":
        notes += [f"{symbol} {measure.sampled}" for symbol, measure in measures.items()]
    return tuple(notes)


_LARGEST_T = 10**15


def _first_false(predicate: Callable[[int], bool]) -> int | None:
    """Smallest T at which a predicate that once false stays false is false; None where it is true throughout."""
    return None if predicate(_LARGEST_T) else smallest_integer(lambda T: not predicate(T), _LARGEST_T, 2.0)
