"""Does a statement hold on a problem: both sides, with every assumption's certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bounds.statement import Assumption, Claim, Given, Over, Relation, Statement, compiled
from bounds.symbols import COMMON as CERTIFIED
from bounds.symbols import Role, Vocabulary
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.base import RECORDS
from ratecheck.checks.admissible import step_sizes
from ratecheck.checks.confidence import radius
from ratecheck.checks.verdict import Comparison, Outcome, Verdict
from ratecheck.engines import exact, lemmas, setup, step
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import real, whole
from ratecheck.participation import Trace
from ratecheck.problems import Certificate, Constant, Quadratic, SingleLevel

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
    where a step size breaks the statement's conditions. Raises `InputError` for values that make no sense.
    """

    engine: str = "auto"
    seed: int = 0
    replicates: int = 16
    level: float = 0.01
    anyway: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.engine not in _ENGINES:
            raise InputError(f"no engine {self.engine!r}; {did_you_mean(str(self.engine), _ENGINES)}")
        whole("replicates", self.replicates, 2, why="one run has no confidence bound")
        if self.threads is not None:
            whole("threads", self.threads, 1)
        if not 0 < real("level", self.level) < 0.5:
            raise InputError(f'level={self.level:g} breaks "0 < level < 0.5": it is the probability of a wrong verdict')


def verify(
    statement: Statement,
    problem: SingleLevel,
    given: Given,
    options: Options = Options(),
    *,
    name: str = "",
    progress: Progress | None = None,
    observe: Observe | None = None,
) -> Verdict:
    """Compare both sides of a statement on a problem.

    ``given`` holds m, K, T, sigma_u, sigma_v and, if wished, step sizes and constants larger than the certified ones.
    Step sizes that are not given are the prescribed ones, else the largest admissible gamma and the smallest
    admissible outer ones. ``observe`` receives the left side of every claim per round, arrays (T,) or (replicates, T);
    where b is found along the trajectory, once for every b tried. Raises `InputError` for unusable input.
    """
    statement.check_names(given)
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so there is nothing to compare with")
    if reasons := foreign(statement):
        values, _ = statement.complete(given)
        return Verdict(statement, Outcome.NOT_APPLICABLE, name or problem.kind, "none", values, reasons=reasons)
    numbers = {symbol: real(symbol, value) for symbol, value in given.items()}
    check = _Check(statement, problem, numbers, options, name or problem.kind, progress, observe)
    return check.run()


def foreign(statement: Statement) -> tuple[str, ...]:
    """What of a statement problems and runs do not know, or know as something else, in words; empty if nothing."""
    vocabulary = statement.vocabulary
    left = {symbol.name for claim in statement.claims for symbol in claim.metric.expr.free_symbols}
    names = sorted({*statement.parameters, *left}, key=vocabulary.order.__getitem__)
    unknown = [vocabulary[name] for name in names if name not in CERTIFIED or vocabulary[name] != CERTIFIED[name]]
    certified = ", ".join(q.name for q in unknown if q.role in (Role.SETTING, Role.CONSTANT))
    measured = ", ".join(q.name for q in unknown if q.role is Role.MEASURED)
    found = (("no problem certifies", certified), ("no run measures", measured if not certified else ""))
    return tuple(f"{what} {listed} yet" for what, listed in found if listed)


@dataclass
class _Check:
    statement: Statement
    problem: SingleLevel
    given: dict[str, float]
    options: Options
    name: str
    progress: Progress | None
    observe: Observe | None

    def run(self) -> Verdict:
        self._check_shape()
        self.certified = self._certify()
        absent = [c for c in self.certified.values() if c.certificate is Certificate.ABSENT and c.name != "b"]
        if absent:
            reasons = tuple(f"{c.name} does not exist: {c.reason}" for c in absent)
            return self._verdict(
                Outcome.NOT_APPLICABLE, values=dict(self.given), constants=self.certified, reasons=reasons
            )
        if "b" in self.certified and self.certified["b"].certificate is Certificate.ABSENT:
            return self._along_trajectory()
        return self._compare(self.certified)

    def _check_shape(self) -> None:
        problem, given = self.problem, self.given
        name = self.statement.algorithm
        if name is not None:
            if name not in METHODS:
                raise InputError(
                    f"{self.statement.key} is about no known algorithm {name!r}; {did_you_mean(name, METHODS)}"
                )
            chosen = METHODS[name]
            chosen.check_problem(problem.kind, problem.layout)
            chosen.check_steps(int(given.get("K", 1)))
        if given.setdefault("n", problem.n) != problem.n:
            raise InputError(f"n={given['n']:g} does not fit the problem, which has {problem.n} clients")
        for setting in ("m", "K", "T"):
            if setting not in self.statement.settings and setting not in given:
                raise InputError(f"how many {self.statement.vocabulary[setting].meaning}? give {setting}=...")

    def _certify(self) -> dict[str, Constant]:
        sigmas = {name: self.given.get(name, 0.0) for name in ("sigma_u", "sigma_v")}
        for name, value in sigmas.items():
            if name in self.given:
                self.statement.vocabulary[name].check(value)
        found = self.problem.constants(sigma_u=sigmas["sigma_u"], sigma_v=sigmas["sigma_v"])
        constants = {}
        assumed = [name for assumption in self.statement.assumptions for name in assumption.constants]
        for name in dict.fromkeys([*self.statement.parameters, *assumed]):
            if name not in found:
                continue
            constant = found[name]
            claimed = self.given.get(name)
            if claimed is not None and name not in sigmas:
                if constant.certificate is Certificate.ABSENT:
                    raise InputError(
                        f"{name}={claimed:g} cannot be assumed: there is no {name} here, {constant.reason}"
                    )
                # A larger constant is as true as the certified one; a smaller one would be a false assumption.
                if claimed < constant.value * (1 - 1e-12):
                    raise InputError(
                        f'{name}={claimed:g} breaks "{name} >= {constant.value:g}", its {constant.certificate.value} '
                        f"value on this problem. Smallest admissible {name}: {constant.value:.10g}."
                    )
                constant = replace(constant, value=claimed, certificate=Certificate.UPPER_BOUND, reason="given")
            constants[name] = constant
        if "F_0" in constants and constants["F_0"].value <= 0:
            raise InputError(
                "F_0=0: the start is already a minimiser, so the statement says nothing; give another start"
            )
        return constants

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

    def _values(self, constants: Mapping[str, Constant]) -> tuple[dict[str, float], dict[str, str]]:
        """All numbers of the statement, and where each step size comes from."""
        parameters = set(self.statement.parameters)
        values = {k: v for k, v in self.given.items() if k in parameters | {"n", "m", "K", "T"}}
        values |= {name: constant.value for name, constant in constants.items() if name in parameters}
        vocabulary = self.statement.vocabulary
        names = [name for name in self.statement.parameters if vocabulary[name].role is Role.STEP_SIZE]
        chosen = {name: "given" for name in names if name in values}
        chosen |= {name: "fixed by the statement" for name in names if name in self.statement.settings}
        completed, _ = self.statement.complete(values)
        if names and "gamma" not in completed and self.statement.step_products:
            region = step_sizes(self.statement, values)
            high = region.admissible["gamma"].high
            if region.feasible and math.isfinite(high):
                values["gamma"], chosen["gamma"] = high, "largest admissible"
            else:
                for product in self.statement.step_products:
                    outer = product.outer.name
                    values.setdefault(outer, 1.0)
                    chosen.setdefault(outer, "unrestricted")
                values["gamma"], chosen["gamma"] = self._free_gamma(values), "as large as the local conditions admit"
            completed, _ = self.statement.complete(values)
        for rule in self.statement.step_rules:
            name = rule.symbol.name
            if name in completed:
                chosen.setdefault(name, "smallest admissible" if rule.at_least else "prescribed")
        for name in names:
            if name not in completed:
                self._choose(name, completed, chosen)
        completed, _ = self.statement.complete(completed)
        for product in self.statement.step_products:
            chosen.setdefault(product.local.name, f"{product.product}/{product.outer}")
        return completed, {name: chosen.get(name, "from the others") for name in names if name in completed}

    def _choose(self, name: str, values: dict[str, float], chosen: dict[str, str]) -> None:
        """A value for a step size that no rule sets and that is tied to no other."""
        high = math.inf
        if self.statement.hypotheses:
            high = step_sizes(self.statement, values).admissible[name].high
        if math.isfinite(high):
            values[name], chosen[name] = high, "largest admissible"
        elif name.startswith("eta"):
            values[name], chosen[name] = 1.0, "unrestricted"

    def _free_gamma(self, values: Mapping[str, float]) -> float:
        """For statements that do not limit gamma itself: from the limits of the local step sizes, else 1/(8LK)."""
        region = step_sizes(self.statement, values)
        ceiling = min((region.admissible[p.local.name].high for p in self.statement.step_products), default=math.inf)
        return ceiling / 2 if math.isfinite(ceiling) else 1 / (8 * values.get("L", 1.0) * values["K"])

    def _compare(self, constants: dict[str, Constant]) -> Verdict:
        values, chosen = self._values(constants)
        checks = self.statement.check_conditions(values)
        broken = tuple(check.broken for check in checks if check.holds is False)
        base = self._verdict(Outcome.INCONCLUSIVE, values=values, constants=constants, chosen=chosen, conditions=checks)
        if broken and not self.options.anyway:
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=broken)
        if broken:
            base = replace(base, notes=("compared although " + " and ".join(broken),))
        unmet = self._unmet(values)
        if unmet:
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=unmet)
        vacuous, until = self._vacuity(values, chosen)
        base = replace(base, vacuous=vacuous, vacuous_until=until)
        if all(claim.metric.over is Over.NO_RUN for claim in self.statement.claims):
            return self._judge(base, lemmas.vectors(self.problem, int(values["m"])), values)
        ready = self._setup(values)
        if self._engine(ready) == "exact":
            return self._by_exact(base, ready, values)
        return self._by_step(base, ready, values)

    def _unmet(self, values: Mapping[str, float]) -> tuple[str, ...]:
        """Assumptions that are properties of the run rather than constants."""
        if Assumption.FULL_PARTICIPATION in self.statement.assumptions and values["m"] != values["n"]:
            return (f"m={values['m']:g}, but the statement is about full participation",)
        return ()

    def _setup(self, values: Mapping[str, float]) -> setup.Setup:
        assert self.statement.algorithm is not None
        chosen = METHODS[self.statement.algorithm]
        given = self.given
        return setup.prepare(
            self.statement.algorithm,
            self.problem,
            Trace.uniform(self.problem.n, int(values["m"])),
            K=int(values["K"]),
            T=int(values["T"]) if "T" in values else int(given["T"]),
            noise={name: given.get(name, 0.0) for name in ("sigma_u", "sigma_v")},
            step_sizes={name: values[name] for name in chosen.step_sizes if name in values},
        )

    def _engine(self, ready: setup.Setup) -> str:
        wanted = self.options.engine
        if wanted == "exact":
            exact.check_exact(ready)
        if wanted != "auto":
            return wanted
        state = ready.problem.d * (2 + 2 * ready.problem.n)
        return "exact" if isinstance(ready.problem, Quadratic) and state <= _LARGEST_EXACT_STATE else "step"

    def _by_exact(self, base: Verdict, ready: setup.Setup, values: dict[str, float]) -> Verdict:
        needed = _measured(self.statement)
        if needed <= set(RECORDS):
            result = exact.expect(ready, progress=self.progress)
        else:
            result = lemmas.expect(ready, progress=self.progress)
        self._measure_b(result.records)
        base = replace(base, engine="exact")
        if result.diverged or _blown_up(result.metric):
            return replace(base, outcome=Outcome.DIVERGED, reasons=(_growth(result.metric),))
        self._report(result.records, values)
        return self._judge(base, result, values)

    def _report(self, records: Mapping[str, Array], values: Mapping[str, float]) -> None:
        if self.observe is not None:
            claims, vocabulary = self.statement.claims, self.statement.vocabulary
            self.observe({claim.name: _evaluate(claim.metric.expr, vocabulary, values, records) for claim in claims})

    def _judge(self, base: Verdict, result: exact.Expectation, values: dict[str, float]) -> Verdict:
        vocabulary = self.statement.vocabulary
        comparisons = [_worst_round(claim, vocabulary, values, result) for claim in self.statement.claims]
        outcomes = {_judged(c, k) for c, k in zip(comparisons, self.statement.claims, strict=True)}
        outcome = next(o for o in (Outcome.VIOLATED, Outcome.INCONCLUSIVE, Outcome.HOLDS) if o in outcomes)
        return replace(base, outcome=outcome, engine="exact", comparisons=tuple(comparisons))

    def _by_step(self, base: Verdict, ready: setup.Setup, values: dict[str, float]) -> Verdict:
        missing = _measured(self.statement) - set(RECORDS)
        base = replace(base, engine="step")
        if missing:
            reason = (
                f"the step engine does not record {', '.join(sorted(missing))}: use a quadratic problem, engine=exact"
            )
            return replace(base, outcome=Outcome.NOT_APPLICABLE, reasons=(reason,))
        run = step.simulate(
            ready, seed=self.options.seed, replicates=self.options.replicates,
            threads=self.options.threads, progress=self.progress,
        )  # fmt: skip
        base = replace(base, replicates=self.options.replicates, level=self.options.level)
        diverged = [metric for metric in run.metric if _blown_up(metric)]
        if diverged:
            return replace(base, outcome=Outcome.DIVERGED, reasons=(_growth(diverged[0]),))
        means = {name: values_.mean(axis=0) for name, values_ in run.records.items()}
        self._measure_b(means)
        self._report(run.records, values)
        level = self.options.level / len(self.statement.claims)
        judged = [_sampled(claim, self.statement.vocabulary, values, run, level) for claim in self.statement.claims]
        outcomes = {outcome for outcome, _ in judged}
        outcome = next(o for o in (Outcome.VIOLATED, Outcome.INCONCLUSIVE, Outcome.HOLDS) if o in outcomes)
        caveat = "confidence is asymptotic in the replicates and needs a finite variance"
        comparisons = tuple(comparison for _, comparison in judged)
        return replace(base, outcome=outcome, comparisons=comparisons, notes=(*base.notes, caveat))

    def _measure_b(self, records: Mapping[str, Array]) -> None:
        """Dissimilarity in expectation along the run: the largest (1/n) sum_i E||grad_u f_i||^2 - E||grad_u f||^2."""
        gap = records["B"] / self.problem.n - records["G_u"]
        self.measured_b = math.sqrt(max(float(gap.max()), 0.0)) if np.isfinite(gap).all() else math.inf

    def _vacuity(self, values: dict[str, float], chosen: Mapping[str, str]) -> tuple[bool | None, int | None]:
        trivial = self.statement.claims[0].metric.trivial
        if trivial is None:
            return None, None
        kept = ("given", "largest admissible", "unrestricted")
        fixed = {k: v for k, v in values.items() if chosen.get(k, "given") in kept}

        def vacuous(T: int) -> bool:
            return bool(self.statement.evaluate(**{**fixed, "T": float(T)}).vacuous)

        return self.statement.evaluate(**values).vacuous, _first_false(vacuous)

    def _verdict(self, outcome: Outcome, **parts: object) -> Verdict:
        return Verdict(statement=self.statement, outcome=outcome, problem=self.name, engine="none", **parts)  # type: ignore[arg-type]


# Two sides that agree to this relative accuracy, and differ by no more than rounding, count as equal.
_EQUAL = 1e-6


def _judged(comparison: Comparison, claim: Claim) -> Outcome:
    """Compare two numbers known up to rounding."""
    gap = comparison.left - comparison.right
    if claim.relation is Relation.EQUAL:
        gap = abs(gap)
    if gap > comparison.error:
        return Outcome.VIOLATED
    size = max(abs(comparison.left), abs(comparison.right))
    decided = gap < -comparison.error or comparison.error <= _EQUAL * size
    return Outcome.HOLDS if decided else Outcome.INCONCLUSIVE


def _trajectory_notes(verdict: Verdict) -> tuple[str, ...]:
    """What a dissimilarity measured along the run itself does not say."""
    notes = [
        "b is a property of this run, not of the problem; what the statement says about b alone holds by definition"
    ]
    if verdict.engine == "step":
        notes.append("b comes from means over replicates, without a confidence bound")
    return tuple(notes)


def _measured(statement: Statement) -> set[str]:
    """Names of the per-round quantities in the statement, without the suffix for the round before."""
    symbols = {s.name for claim in statement.claims for s in claim.bound.free_symbols | claim.metric.expr.free_symbols}
    return {name.removesuffix("_prev") for name in symbols if statement.vocabulary[name].role is Role.MEASURED}


def _evaluate(expr: object, vocabulary: Vocabulary, values: Mapping[str, float], records: Mapping[str, Array]) -> Array:
    """An expression per round: parameters from ``values``, per-round quantities from ``records``."""
    arguments: dict[str, object] = {}
    for symbol in expr.free_symbols:  # type: ignore[attr-defined]
        name = symbol.name
        if vocabulary[name].role is not Role.MEASURED:
            arguments[name] = np.float64(values[name])
        elif name.endswith("_prev"):
            arguments[name] = np.roll(records[name.removesuffix("_prev")], 1, axis=-1)
        else:
            arguments[name] = records[name]
    shape = next(iter(records.values())).shape
    # Outside its conditions (--anyway) a formula may divide by zero.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.broadcast_to(np.asarray(compiled(expr)(**arguments), dtype=float), shape)


_TIE = 1e-12


def _sampled(
    claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], run: step.Run, level: float
) -> tuple[Outcome, Comparison]:
    """Judge a claim by its replicates; a claim about every round shares the error level among the rounds."""
    left, right = (_evaluate(expr, vocabulary, values, run.records) for expr in (claim.metric.expr, claim.bound))
    terms = {label: _evaluate(expr, vocabulary, values, run.records) for label, expr in claim.terms.items()}
    first = 1 if claim.metric.over is Over.EVERY_ROUND_BUT_FIRST else 0
    if claim.metric.over is Over.MEAN_OF_ROUNDS:
        left, right = left.mean(axis=1, keepdims=True), right.mean(axis=1, keepdims=True)
        terms = {label: term.mean(axis=1, keepdims=True) for label, term in terms.items()}
    excess = (left - right)[:, first:]
    errors = np.array([radius(column, level / excess.shape[1]) for column in excess.T])
    mean = excess.mean(axis=0)
    # Where nothing is random the sides may agree to the last digits; rounding decides nothing.
    tie = _TIE * (np.abs(left) + np.abs(right)).mean(axis=0)[first:]
    if (mean - errors > tie).any():
        outcome, worst = Outcome.VIOLATED, int(np.argmax(mean - errors - tie))
    else:
        outcome = Outcome.HOLDS if (mean + errors <= tie).all() else Outcome.INCONCLUSIVE
        worst = int(np.argmax(mean + errors))
    t = first + worst
    parts = {label: float(term[:, t].mean()) for label, term in terms.items()}
    place = None if claim.metric.over is Over.MEAN_OF_ROUNDS else t
    sides = float(left[:, t].mean()), float(right[:, t].mean())
    return outcome, Comparison(claim.name, place, *sides, float(errors[worst]), parts)


def _worst_round(
    claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], result: exact.Expectation
) -> Comparison:
    """Both sides by the exact engine: means over rounds, or the round with the least room."""
    left, right = (_evaluate(expr, vocabulary, values, result.records) for expr in (claim.metric.expr, claim.bound))
    terms = {label: _evaluate(expr, vocabulary, values, result.records) for label, expr in claim.terms.items()}
    size = np.abs(left) + sum(np.abs(term) for term in terms.values())
    error = _rounding(claim, vocabulary, values, terms, result.errors)
    if claim.metric.over is Over.MEAN_OF_ROUNDS:
        parts = {label: float(term.mean()) for label, term in terms.items()}
        return Comparison(claim.name, None, float(left.mean()), float(right.mean()), float(error.mean()), parts)
    first = 1 if claim.metric.over is Over.EVERY_ROUND_BUT_FIRST else 0
    if len(left) <= first:
        raise InputError(f'T={len(left)} breaks "T >= {first + 1}": the claim compares a round with the one before')
    room = np.abs(left - right) if claim.relation is Relation.EQUAL else left - right
    t = first + int(np.argmax((room / np.maximum(size, 1e-300))[first:]))
    parts = {label: float(term[t]) for label, term in terms.items()}
    return Comparison(claim.name, t, float(left[t]), float(right[t]), float(error[t]), parts)


# Evaluating a formula in floating point costs a few units in the last place.
_FORMULA_ROUNDING = 1e-14


def _rounding(
    claim: Claim,
    vocabulary: Vocabulary,
    values: Mapping[str, float],
    terms: Mapping[str, Array],
    errors: Mapping[str, Array],
) -> Array:
    """Rounding error per round: the engine's on the quantities that it computed, the formula's on the rest.

    Claims are linear in the computed quantities, so an expression at their errors is the expression's error.
    """
    error = np.abs(_evaluate(claim.metric.expr, vocabulary, values, errors))
    for label, term in terms.items():
        computed = any(vocabulary[s.name].role is Role.MEASURED for s in claim.terms[label].free_symbols)
        share = np.abs(_evaluate(claim.terms[label], vocabulary, values, errors)) if computed else 0.0
        error = error + share + _FORMULA_ROUNDING * np.abs(term)
    return error


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
