"""Does a statement hold on a problem: both sides, with every assumption's certificate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bounds
from bounds.statement import Assumption, Given, Over, Statement, number
from bounds.symbols import Role
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.base import RECORDS
from ratecheck.checks import sides
from ratecheck.checks.chosen import INDEPENDENT, chosen_values
from ratecheck.checks.facts import LOWER, NOISE, Case, expected_delay
from ratecheck.checks.replicates import Replicates, judge, nonnegative
from ratecheck.checks.sequential import FIRST, decide
from ratecheck.checks.verdict import Comparison, Outcome, Verdict
from ratecheck.engines import averages, exact, lemmas, setup, step
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import real, whole
from ratecheck.participation import Bernoulli, Cyclic, Largest, Participation, Reshuffled, Trace, Uniform
from ratecheck.participation.independent import Independent
from ratecheck.problems import Bilevel, Certificate, Constant, Problem

Array = NDArray[np.float64]
Progress = Callable[[float], None]
Observe = Callable[[Mapping[str, Array]], None]

# A state larger than this makes the exact engine slower than sampling.
_LARGEST_EXACT_STATE = 1500
# A metric that grew beyond this multiple of its start has left the region that a convergence statement is about.
_BLOWN_UP = 1e6
# How often an assumed trajectory constant is raised to what was measured, and the margin on top.
_ATTEMPTS, _MARGIN = 30, 1.05


_ENGINES = ("auto", "exact", "step")


@dataclass(frozen=True)
class Options:
    """How to verify: engine ("auto", "exact", "step"), seed, replicates at most, error level, and ``anyway``.

    ``level`` is the probability of a wrong verdict that Monte Carlo may have. ``anyway`` compares the two sides even
    where a step size breaks the statement's conditions. ``traces`` is how many participations are drawn for a statement
    that speaks about each of them, or about their mean. ``vacuity`` asks from which T on the bound says something.
    Raises `InputError` for values that make no sense.
    """

    engine: str = "auto"
    seed: int = 0
    replicates: int = 16
    level: float = 0.01
    anyway: bool = False
    threads: int | None = None
    traces: int = 3
    vacuity: bool = True

    def __post_init__(self) -> None:
        if self.engine not in _ENGINES:
            raise InputError(f"no engine {self.engine!r}; {did_you_mean(str(self.engine), _ENGINES)}")
        whole("replicates", self.replicates, 2, why="one run has no confidence bound")
        whole("traces", self.traces, 1)
        if self.threads is not None:
            whole("threads", self.threads, 1)
        if not 0 < real("level", self.level) < 0.5:
            raise InputError(f'level={self.level:g} breaks "0 < level < 0.5": it is the probability of a wrong verdict')


def verify(
    statement: Statement,
    problem: Problem,
    given: Given,
    options: Options = Options(),
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
    default. ``observe`` receives the left side of every claim per round, arrays (T,) or (replicates, T); where b is
    found along the trajectory, once for every b tried. Raises `InputError` for unusable input.
    """
    statement.check_names(given)
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so there is nothing to compare with")
    label = name or problem.kind
    if reasons := foreign(statement):
        values, _ = statement.complete(given)
        return Verdict(statement, Outcome.NOT_APPLICABLE, label, "none", values, reasons=reasons)
    run = _Check(statement, problem, dict(given), options, label, participation, start or {}, progress, observe)
    return run.run()


def method_of(statement: Statement) -> Method | None:
    """The method that runs; where the paper counts no local steps, with its inner problems solved exactly."""
    name = statement.algorithm
    if name is None:
        return None
    if name not in METHODS:
        raise InputError(f"{statement.key} is about no known algorithm {name!r}; {did_you_mean(name, METHODS)}")
    method = METHODS[name]
    return METHODS[method.exact] if method.exact and "local_steps" not in statement.vocabulary.run else method


def every_participation(statement: Statement) -> bool:
    """Whether the statement speaks about every participation by itself, rather than about random ones."""
    assumptions = {*statement.assumptions}
    random = {*_PATTERNS, Assumption.INDEPENDENT_PARTICIPATION, Assumption.DRAWN_STEP_SIZES}
    return Assumption.OBLIVIOUS_PARTICIPATION in assumptions and not assumptions & random


def certify(
    statement: Statement, problem: Problem, given: Given, participation: Participation | None = None
) -> dict[str, Constant]:
    """The constants of a statement on a problem, by the paper's symbols; arguments as for `verify`."""
    return _Check(statement, problem, dict(given), Options(), "", participation, {}, None, None).certified_on_first()


def foreign(statement: Statement) -> tuple[str, ...]:
    """What of a statement problems and runs do not know, or know as something else, in words; empty if nothing."""
    vocabulary = statement.vocabulary
    method = METHODS.get(statement.algorithm or "")
    own = set(method.algorithm.step_sizes) if method else set()
    parameters = own | {target for name in own for target in vocabulary.reach(name) if name in vocabulary}
    known = {*vocabulary.run.values(), *vocabulary.facts, *parameters}

    def unknown(name: str) -> bool:
        if name in known or vocabulary[name].default is not None or name in statement.settings:
            return False
        return name not in vocabulary.derived or any(unknown(s.name) for s in vocabulary.derived[name].free_symbols)

    roles = (Role.SETTING, Role.CONSTANT)
    certified = [n for n in statement.parameters if vocabulary[n].role in roles and unknown(n)]
    left = sorted((n for n in sides.measured(statement) if unknown(n)), key=vocabulary.order.__getitem__)
    found = (("no problem certifies", certified), ("no run measures", left if not certified else []))
    return tuple(f"{what} {', '.join(names)} yet" for what, names in found if names)


@dataclass
class _Check:
    statement: Statement
    problem: Problem
    raw: dict[str, object]
    options: Options
    name: str
    asked: Participation | None
    start: Mapping[str, ArrayLike]
    progress: Progress | None
    observe: Observe | None

    def run(self) -> Verdict:
        statement = self.statement
        pattern = self.prepare()
        if reason := _unlike(statement, pattern, self._setting("participants")):
            return self._verdict(Outcome.NOT_APPLICABLE, values=dict(self.given), reasons=(reason,))
        if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
            return self._over_draws(pattern)
        verdicts = [self._on(trace) for trace in self._traces(pattern)]
        return verdicts[0] if len(verdicts) == 1 else _together(verdicts)

    def certified_on_first(self) -> dict[str, Constant]:
        """Constants on the participation, or on the first draw of it."""
        self.trace = self._traces(self.prepare())[0]
        return self._certify(self.statement)

    def prepare(self) -> Participation:
        """Settings, parameters and noise by the paper's symbols; returns who takes part."""
        statement = self.statement
        self.method = method_of(statement)
        if self.method is not None:
            self.method.check_problem(self.problem.kind, self.problem.layout)
        self.given = statement.resolve(self.raw)  # type: ignore[arg-type]  # names were checked
        # What contradicts the statement's own settings is refused before anything is computed.
        statement.bare.complete({k: v for k, v in self.given.items() if statement.vocabulary[k].role is Role.SETTING})
        self.parameters = self._parameters()
        self.settings = self._settings()
        self.noise = {
            fact: self.given.get(symbol, 0.0) for symbol, fact in statement.vocabulary.facts.items() if fact in NOISE
        }
        return self._pattern()

    # --- What the statement is asked about ---

    def _parameters(self) -> dict[str, ArrayLike]:
        """Parameters of the method that are no step sizes of the paper, such as the clients' weights."""
        if self.method is None:
            return {}
        vocabulary = self.statement.vocabulary
        found: dict[str, ArrayLike] = {}
        for name in self.method.step_sizes:
            targets = [target for target in vocabulary.reach(name) if name in vocabulary]
            if not targets or vocabulary[targets[0]].role is Role.STEP_SIZE:
                continue
            values = {self.given[target] for target in targets if target in self.given}
            default = self.method.algorithm.optional.get(name)
            if name in self.raw:
                numbers = np.ravel(np.asarray(self.raw[name], dtype=float))
                found[name] = float(numbers[0]) if numbers.size == 1 else numbers
            elif len(values) == 1:
                found[name] = values.pop()
            elif values:
                raise InputError(f"{' and '.join(targets)} differ: give {name}=..., one number per client")
            elif default is not None:
                found[name] = default(self.problem.n)
            else:
                raise InputError(f"{self.method.name} needs {vocabulary[targets[0]].meaning}: give {targets[0]}=...")
            for target, choose in getattr(vocabulary.aliases.get(name), "targets", {}).items():
                self.given[target] = choose(list(np.ravel(np.asarray(found[name], dtype=float))))
        return found

    def _settings(self) -> dict[str, float]:
        """Clients, participants, local steps and rounds by role; raises `InputError` for what is missing."""
        roles, statement = self.statement.vocabulary.run, self.statement
        if "clients" in roles and self.given.setdefault(roles["clients"], self.problem.n) != self.problem.n:
            given = self.given[roles["clients"]]
            raise InputError(
                f"{roles['clients']}={given:g} does not fit the problem, which has {self.problem.n} clients"
            )
        fixed = {k: number(v, self.given) for k, v in statement.settings.items() if _within(v, self.given)}
        found = {role: {**fixed, **self.given}[s] for role, s in roles.items() if s in {*fixed, *self.given}}
        size = getattr(self.asked, "m", getattr(self.asked, "S", getattr(self.asked, "s", None)))
        if self.asked is not None and size is not None and found.setdefault("participants", float(size)) != size:
            raise InputError(f"{roles['participants']}={found['participants']:g} contradicts a pattern with {size}")
        if "participants" in found and "participants" in roles:
            self.given.setdefault(roles["participants"], found["participants"])
        needed = {"participants"} if self.asked is None and not _NO_SIZE & {*statement.assumptions} else set()
        needed |= {"local_steps", "rounds"} if self.method is not None else set()
        needed |= {"rounds"} if "rounds" in roles and roles["rounds"] in statement.parameters else set()
        for role in sorted(needed & {*roles} - {*found}):
            raise InputError(f"how many {statement.vocabulary[roles[role]].meaning}? give {roles[role]}=...")
        if self.method is not None:
            self.method.check_steps(whole(roles.get("local_steps", "K"), found.get("local_steps", 1), 1))
        return found

    def _setting(self, role: str, default: int = 0) -> int:
        return whole(self.statement.vocabulary.run.get(role, role), self.settings.get(role, default), 0)

    def _pattern(self) -> Participation:
        """The participation that was asked for, or the one that the statement assumes."""
        if self.asked is not None:
            if self.asked.n != self.problem.n:
                raise InputError(
                    f"the participation is about {self.asked.n} clients, but the problem has {self.problem.n}"
                )
            return self.asked
        n, assumptions = self.problem.n, self.statement.assumptions
        size = self._setting("participants", n)
        if Assumption.FULL_PARTICIPATION in assumptions:
            return Uniform(n, size or n)
        if Assumption.INDEPENDENT_PARTICIPATION in assumptions:
            symbol = next((s for s, fact in self.statement.vocabulary.facts.items() if fact == "delta"), "delta")
            if symbol not in self.given:
                raise InputError(f"with which probability does a client take part? give {symbol}=...")
            return Bernoulli(self.given[symbol], n)
        for assumption, build in _PATTERNS.items():
            if assumption in assumptions:
                return build(n, size)
        return Uniform(n, size)

    def _traces(self, pattern: Participation) -> list[Participation]:
        """The pattern itself, or draws of it where the statement speaks about every participation by itself."""
        T = self._setting("rounds")
        if not every_participation(self.statement):
            return [pattern]
        if pattern.fixed(T) is not None:
            return [pattern]
        return [Trace(pattern.draw(T, self.options.seed, r)) for r in range(self.options.traces)]

    # --- One participation ---

    def _on(self, trace: Participation) -> Verdict:
        self.trace = trace
        self.certified = self._certify(self.statement)
        absent = [c for s, c in self.certified.items() if c.certificate is Certificate.ABSENT and c.name != "b"]
        if absent:
            reasons = tuple(f"{c.name} does not exist: {c.reason}" for c in absent)
            return self._verdict(
                Outcome.NOT_APPLICABLE, values=dict(self.given), constants=self.certified, reasons=reasons
            )
        if "b" in self.certified and self.certified["b"].certificate is Certificate.ABSENT:
            return self._along_trajectory()
        return self._compare(self.certified)

    @property
    def case(self) -> Case:
        """What facts are asked of."""
        T = self._setting("rounds") or None
        return Case(self.problem, self.trace, T, self.noise, self.parameters, self.start)

    def _certify(self, statement: Statement) -> dict[str, Constant]:
        """The constants of a statement by symbol."""
        vocabulary, case = statement.vocabulary, self.case
        derived = [vocabulary.derived[name] for name in statement.parameters if name in vocabulary.derived]
        assumed = [name for assumption in statement.assumptions for name in assumption.constants]
        inside = [s.name for expr in derived for s in expr.free_symbols]
        constants = {}
        for name in dict.fromkeys([*statement.parameters, *assumed, *inside]):
            if name not in vocabulary or name not in vocabulary.facts or vocabulary[name].role is Role.MEASURED:
                continue
            fact = vocabulary.facts[name]
            constant = case.fact(fact)
            if constant is None:
                if name in statement.parameters:
                    why = "this problem and participation do not certify it"
                    constants[name] = Constant(name, math.inf, Certificate.ABSENT, why)
                continue
            constants[name] = self._claimed(name, fact, replace(constant, name=name))
        self._check_start(statement, constants)
        return constants

    def _claimed(self, name: str, fact: str, constant: Constant) -> Constant:
        """The certified constant, or a weaker one that the caller gave."""
        claimed = self.given.get(name)
        if claimed is None or fact in NOISE:
            return constant
        if constant.certificate is Certificate.ABSENT:
            raise InputError(f"{name}={claimed:g} cannot be assumed: there is no {name} here, {constant.reason}")
        # A weaker constant is as true as the certified one; a stronger one would be a false assumption.
        lower = fact in LOWER
        margin = 1e-12 * abs(constant.value)
        if claimed > constant.value + margin if lower else claimed < constant.value - margin:
            relation, extreme = ("<=", "Largest") if lower else (">=", "Smallest")
            raise InputError(
                f'{name}={claimed:g} breaks "{name} {relation} {constant.value:g}", its {constant.certificate.value} '
                f"value on this problem. {extreme} admissible {name}: {constant.value:.10g}."
            )
        return replace(constant, value=claimed, certificate=Certificate.UPPER_BOUND, reason="given")

    def _check_start(self, statement: Statement, constants: Mapping[str, Constant]) -> None:
        for name, constant in constants.items():
            gap = statement.vocabulary.facts[name] == "F_0"
            if gap and constant.certificate is not Certificate.ABSENT and constant.value <= 0:
                raise InputError(
                    f"{name}=0: the start is already a minimiser, so the statement says nothing; give another start"
                )

    def _along_trajectory(self) -> Verdict:
        """Find a dissimilarity b that holds in expectation at every iterate of the run that b itself prescribes."""
        b = 0.0
        verdict: Verdict | None = None
        for _ in range(_ATTEMPTS):
            constants = {**self.certified, "b": Constant("b", b, Certificate.TRAJECTORY, "measured at its iterates")}
            self.measured_b = math.inf
            verdict = self._compare(constants)
            if verdict.outcome in (Outcome.NOT_APPLICABLE, Outcome.DIVERGED) or self.measured_b <= b:
                return replace(verdict, notes=(*verdict.notes, *_trajectory_notes(verdict)))
            b = _MARGIN * self.measured_b
        assert verdict is not None
        reason = f"no b holds along its own trajectory (tried up to {b:.3g})"
        return replace(verdict, outcome=Outcome.NOT_APPLICABLE, comparisons=(), reasons=(reason,))

    def _values(
        self, statement: Statement, constants: Mapping[str, Constant]
    ) -> tuple[dict[str, float], dict[str, str]]:
        """All numbers of the statement, and where each step size comes from."""
        names = {*statement.parameters, *statement.vocabulary.run.values()}
        values = {k: v for k, v in self.given.items() if k in names}
        values |= {name: c.value for name, c in constants.items() if math.isfinite(c.value)}
        values, chosen = chosen_values(statement, values)
        for name, expr in statement.vocabulary.derived.items():
            if name in statement.parameters and name not in values:
                values[name] = number(expr, values)
        return values, chosen

    def _compare(self, constants: dict[str, Constant]) -> Verdict:
        statement = self.statement
        values, chosen = self._values(statement, constants)
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
        if self._engine(ready) == "exact":
            return self._by_exact(base, ready, values)
        return self._by_step(base, ready, values)

    def _without_run(self, base: Verdict, values: dict[str, float]) -> Verdict:
        """Claims about vectors, or about the participation alone."""
        if all(claim.metric.over is Over.NO_RUN for claim in self.statement.claims):
            if isinstance(self.problem, Bilevel):
                return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=("vectors come from another problem",))
            vectors = lemmas.vectors(self.problem, self._setting("participants"))
            return self._judge(base, vectors, values)
        (symbol,) = sides.measured(self.statement)
        found = expected_delay(self.case, 0)
        if found is None:
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=("the delays depend on a run",))
        records, errors = ({symbol: np.array([each])} for each in found)
        return self._judge(base, exact.Expectation(records, errors, {}, 1.0), values)

    # --- Runs ---

    def _setup(self, values: Mapping[str, float]) -> setup.Setup:
        assert self.method is not None
        assert self.trace is not None
        wanted = {self.statement.vocabulary.facts[symbol] for symbol in sides.measured(self.statement)}
        records = None if wanted <= {*self.method.algorithm.recorded} or not self._recordable(wanted) else wanted
        return setup.prepare(
            self.method.name,
            self.problem,
            self.trace,
            K=self._setting("local_steps", 1),
            T=self._setting("rounds"),
            noise=self.noise,
            records=None if records is None else (*self.method.algorithm.recorded, *sorted(records)),
            step_sizes={
                **{name: values[name] for name in self.method.step_sizes if name in values},
                **self.parameters,
            },
            **self.start,
        )

    def _recordable(self, names: set[str]) -> bool:
        """Whether the engines record these quantities, rather than the lemmas' own engine."""
        return not names & lemmas.NAMES - {*RECORDS}

    def _engine(self, ready: setup.Setup) -> str:
        wanted = self.options.engine
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
        result = self._expected(ready)
        base = replace(base, engine="exact")
        if result.diverged or _blown_up(result.metric):
            return replace(base, outcome=Outcome.DIVERGED, reasons=(_growth(result.metric),))
        result = replace(result, records=self._symbols(result.records), errors=self._symbols(result.errors))
        self._measure_b(result.records)
        self._report(result.records, values)
        return self._judge(base, result, values)

    def _expected(self, ready: setup.Setup) -> exact.Expectation:
        wanted = {self.statement.vocabulary.facts[symbol] for symbol in sides.measured(self.statement)}
        if not self._recordable(wanted):
            return lemmas.expect(ready, progress=self.progress)
        means = all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in self.statement.claims)
        searched = any(c.certificate is Certificate.ABSENT for c in self.certified.values())
        by_round = self.observe is not None or searched
        if means and not by_round and averages.pays(ready):
            found = averages.average(ready)
            records, errors = ({k: np.array([v]) for k, v in each.items()} for each in (found.records, found.errors))
            return exact.Expectation(records, errors, found.weights, ready.trace.rate)
        return exact.expect(ready, progress=self.progress)

    def _symbols(self, records: Mapping[str, Array]) -> dict[str, Array]:
        """Records by the paper's symbols, and under their own names."""
        facts = self.statement.vocabulary.facts
        return {**records, **{s: records[fact] for s, fact in facts.items() if fact in records}}

    def _report(self, records: Mapping[str, Array], values: Mapping[str, float]) -> None:
        if self.observe is not None:
            claims, vocabulary = self.statement.claims, self.statement.vocabulary
            self.observe({c.name: sides.evaluate(c.metric.expr, vocabulary, values, records) for c in claims})

    def _judge(self, base: Verdict, result: exact.Expectation, values: dict[str, float]) -> Verdict:
        vocabulary = self.statement.vocabulary
        comparisons = [sides.compared(claim, vocabulary, values, result) for claim in self.statement.claims]
        outcome = sides.outcome(self.statement, comparisons)
        return replace(base, outcome=outcome, engine="exact", comparisons=tuple(comparisons))

    def _by_step(self, base: Verdict, ready: setup.Setup, values: dict[str, float]) -> Verdict:
        wanted = {self.statement.vocabulary.facts[symbol] for symbol in sides.measured(self.statement)}
        base = replace(base, engine="step")
        if not self._recordable(wanted):
            missing = ", ".join(sorted(wanted - {*RECORDS}))
            reason = f"the step engine does not record {missing}: use a quadratic problem, engine=exact"
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=(reason,))
        most = self.options.replicates
        runs = Replicates(
            ready, self._symbols, seed=self.options.seed, most=most, threads=self.options.threads,
            progress=self.progress,
        )  # fmt: skip
        # Who looks at the curves wants as many replicates of each as were asked for.
        first = FIRST if self.observe is None else most
        decisions, comparisons = judge(self.statement, values, runs, self.options.level, first)
        base = replace(base, replicates=runs.drawn, level=self.options.level)
        diverged = [metric for metric in runs.metric if _blown_up(metric)]
        if diverged:
            return replace(base, outcome=Outcome.DIVERGED, reasons=(_growth(diverged[0]),))
        records = runs.records
        self._measure_b({name: values_.mean(axis=0) for name, values_ in records.items()})
        self._report(records, values)
        outcome = sides.worst_of({decision.outcome for decision in decisions})
        caveats = dict.fromkeys(decision.caveat for decision in decisions if decision.outcome is outcome)
        return replace(base, outcome=outcome, comparisons=tuple(comparisons), notes=(*base.notes, *caveats))

    def _measure_b(self, records: Mapping[str, Array]) -> None:
        """Dissimilarity in expectation along the run: the largest (1/n) sum_i E||grad_u f_i||^2 - E||grad_u f||^2."""
        if "b" not in self.certified or not {"B", "G_u"} <= records.keys():
            return
        gap = records["B"] / self.problem.n - records["G_u"]
        self.measured_b = math.sqrt(max(float(gap.max()), 0.0)) if np.isfinite(gap).all() else math.inf

    # --- Means over the participation, step sizes being those of the one that is drawn ---

    def _over_draws(self, pattern: Participation) -> Verdict:
        rules = _step_source(self.statement)
        if rules is None:
            reason = "nothing that it follows from says which step sizes"
            return self._verdict(Outcome.NOT_APPLICABLE, values=dict(self.given), reasons=(reason,))
        T = self._setting("rounds")
        fixed = pattern.fixed(T) is not None
        self.trace = pattern
        self.certified = self._certify(self.statement)
        absent = tuple(f"{c.name} does not exist: {c.reason}" for c in self.certified.values() if math.isinf(c.value))
        base = self._verdict(Outcome.NOT_APPLICABLE, values=dict(self.given), constants=self.certified, reasons=absent)
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
        terms = {label: number(expr, values) for label, expr in claim.terms.items()}
        right = sum(terms.values())
        lefts: list[tuple[float, float]] = []

        def draw(wanted: range) -> tuple[Array, Array]:
            for r in wanted:
                self.trace = pattern if fixed else Trace(pattern.draw(T, self.options.seed, r))
                lefts.append(self._left_of(rules))
            found = np.array([[left] for left, _ in lefts[wanted.start : wanted.stop]])
            return found, np.full_like(found, right)

        try:
            if fixed:
                draw(range(1))
                ((left, error),) = lefts
                comparison = Comparison(claim.name, None, left, right, error + 1e-14 * right, terms)
                outcome = sides.outcome(self.statement, [comparison])
                return replace(base, outcome=outcome, engine="exact", comparisons=(comparison,))
            bounded = nonnegative(claim, self.statement.vocabulary, values)
            decision = decide(draw, self.options.level, max(self.options.replicates, 2), nonnegative=bounded)
        except InputError as error:
            return replace(base, reasons=(str(error),))
        comparison = Comparison(claim.name, None, decision.left, right, decision.error, terms)
        return replace(
            base, outcome=decision.outcome, engine="traces", comparisons=(comparison,), replicates=decision.replicates,
            level=self.options.level, notes=(note, decision.caveat),
        )  # fmt: skip

    def _left_of(self, rules: Statement) -> tuple[float, float]:
        """The left side given one participation, and its rounding error.

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
        vocabulary = self.statement.vocabulary
        if self._engine(ready) == "exact":
            result = exact.expect(ready, progress=self.progress)
            left, error = (
                sides.evaluate(claim.metric.expr, vocabulary, values, self._symbols(records)).mean()
                for records in (result.records, result.errors)
            )
            return float(left), float(error)
        run = step.simulate(ready, seed=self.options.seed, replicates=self.options.replicates)
        left = sides.evaluate(claim.metric.expr, vocabulary, values, self._symbols(run.records))
        return float(left.mean()), 0.0

    def _vacuity(self, values: dict[str, float], chosen: Mapping[str, str]) -> tuple[bool | None, int | None]:
        trivial, rounds = self.statement.claims[0].metric.trivial, self.statement.vocabulary.run.get("rounds")
        if trivial is None or rounds is None or not self.options.vacuity:
            return None, None
        fixed = {k: v for k, v in values.items() if chosen.get(k, "given") in INDEPENDENT}

        def vacuous(T: int) -> bool:
            return bool(self.statement.evaluate(**{**fixed, rounds: float(T)}).vacuous)

        return self.statement.evaluate(**values).vacuous, _first_false(vacuous)

    def _verdict(self, outcome: Outcome, **parts: object) -> Verdict:
        return Verdict(statement=self.statement, outcome=outcome, problem=self.name, engine="none", **parts)  # type: ignore[arg-type]


_PATTERNS: dict[Assumption, Callable[[int, int], Participation]] = {
    Assumption.UNIFORM_SAMPLING: Uniform,
    Assumption.UNIFORM_SUBSETS: Uniform,
    Assumption.UNBIASED_SELECTION: Uniform,
    Assumption.RESHUFFLED_BLOCKS: Reshuffled,
    Assumption.CYCLIC_BLOCKS: Cyclic,
    Assumption.SKEWED_SELECTION: lambda n, s: Uniform(n, n) if s == n else Largest(n, s),
}
# What says who takes part without a number of participants.
_NO_SIZE = {Assumption.FULL_PARTICIPATION, Assumption.INDEPENDENT_PARTICIPATION}
_KINDS: dict[Assumption, type] = {
    Assumption.UNIFORM_SAMPLING: Uniform,
    Assumption.UNIFORM_SUBSETS: Uniform,
    Assumption.UNBIASED_SELECTION: Uniform,
    Assumption.INDEPENDENT_PARTICIPATION: Independent,
    Assumption.RESHUFFLED_BLOCKS: Reshuffled,
    Assumption.CYCLIC_BLOCKS: Cyclic,
}


def _unlike(statement: Statement, pattern: Participation, size: int) -> str | None:
    """Why a participation is not the one that the statement is about."""
    n = pattern.n
    if Assumption.FULL_PARTICIPATION in statement.assumptions and pattern.rate < 1:
        symbol = statement.vocabulary.run.get("participants", "m")
        return f"{symbol}={pattern.rate * n:g}, but the statement is about full participation"
    everybody = pattern.rate == 1
    for assumption, kind in _KINDS.items():
        if assumption in statement.assumptions and not isinstance(pattern, kind):
            if everybody and size in (0, n) and assumption is not Assumption.INDEPENDENT_PARTICIPATION:
                continue
            return (
                f"a pattern of the kind {type(pattern).__name__.lower()}, but the statement is about {assumption.value}"
            )
    return None


def _within(expr: object, values: Mapping[str, float]) -> bool:
    return {s.name for s in expr.free_symbols} <= values.keys()  # type: ignore[attr-defined]


def _step_source(statement: Statement) -> Statement | None:
    """The first statement that it follows from, nearest first, that says which step sizes to take."""
    queue = list(statement.follows_from)
    for key in queue:
        found = bounds.get(key)
        if found.step_rules:
            return found
        queue += [each for each in found.follows_from if each not in queue]
    return None


def _together(verdicts: list[Verdict]) -> Verdict:
    """One verdict on several participations: the worst, with all comparisons."""
    order = (Outcome.VIOLATED, Outcome.DIVERGED, Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE, Outcome.HOLDS)
    first = min(verdicts, key=lambda v: (order.index(v.outcome), math.inf if v.slack is None else v.slack))
    comparisons = tuple(itertools.chain.from_iterable(v.comparisons for v in verdicts))
    note = f"each of {len(verdicts)} participations is a check of its own; the numbers are those of the tightest"
    return replace(first, comparisons=comparisons, notes=(*first.notes, note))


def _trajectory_notes(verdict: Verdict) -> tuple[str, ...]:
    """What a dissimilarity measured along the run itself does not say."""
    notes = [
        "b is a property of this run, not of the problem; what the statement says about b alone holds by definition"
    ]
    if verdict.engine == "step":
        notes.append("b comes from means over replicates, without a confidence bound")
    return tuple(notes)


def _blown_up(metric: Array) -> bool:
    start = max(float(metric[:2].max()), 1e-300)
    return not np.isfinite(metric).all() or float(metric[-1]) > _BLOWN_UP * start


def _growth(metric: Array) -> str:
    finite = np.isfinite(metric)
    if finite.all():
        return f"the metric grew from {metric[0]:.3g} to {metric[-1]:.3g}"
    return f"the metric left the range of floating-point numbers in round {int(np.argmin(finite))}"


_LARGEST_T = 10**15


def _first_false(predicate: Callable[[int], bool]) -> int | None:
    """Smallest T at which a predicate that once false stays false is false; None where it is true throughout."""
    if predicate(_LARGEST_T):
        return None
    low, high = 0, 1
    while predicate(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if predicate(middle) else (low, middle)
    return high
