"""Both sides of a statement on an instance, with a proof that the instance meets every assumption and condition.

Floats of the instance stand for the binary fractions that they are. Constants are proved in rationals
(`ratecheck.certification.exact_constants`), prescribed step sizes are their formulas and not rounded values of them,
the right side and the run are enclosed. What cannot be decided so is said to be undecided, never guessed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bounds.statement import Assumption, Over, Relation, Statement
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.algebra.linear_algebra import semidefinite
from ratecheck.certification.certified_constants import NOISE
from ratecheck.certification.exact_constants import Proved, participations, proved
from ratecheck.certification.uncertified import unmet
from ratecheck.engines.rigorous.exact_run import ExactRun, RunSize
from ratecheck.engines.rigorous.moment_runs import vectors
from ratecheck.engines.rigorous.runs import exact_runs
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation, Trace
from ratecheck.problems import Problem, SingleLevel
from ratecheck.settings.applicability import certifiable, step_source, unlike
from ratecheck.settings.setting import Setting
from ratecheck.stepsizes.choose import any_value
from ratecheck.verification.exact_values import ForeignError, Numbers, exact_values
from ratecheck.verification.proof import (
    TOO_LONG,
    CostLimit,
    VerdictProof,
    decided_claims,
    decided_rounds,
    quadratic_form,
    together,
    until_decided,
)

# Local steps in all up to which the sides are short enough to be read as rationals.
_READABLE_STEPS = 32
# Products of numbers that a recheck takes by itself, some seconds, and one that a user requests.
AFFORDABLE, REQUESTED = 1.5e7, 1.5e8
# What step sizes of one participation cost.
_STEP_SIZES = 4e4
# What a constant that stands for the true one may differ by, relative to it.
_NEXT = Fraction(1, 10**13)

# Quantities of single clients.
_SINGLE = "participant:"


def exact_numbers(setting: Setting) -> Numbers:
    """Certified constants, step sizes and sizes of a setting by symbol; nothing where they are not proved.

    Those of the first participation, where the statement is about every one of them.
    """
    if (runs := exact_runs(setting.problem)) is None or not setting.law.additive:
        return {}
    try:
        return _Exactly(setting, runs, REQUESTED).numbers(setting.traces()[0])
    except (ForeignError, UndecidedError, ArithmeticError):
        return {}


def not_followed(problem: Problem) -> VerdictProof:
    """Nothing, since runs on such a problem have no exact form."""
    return VerdictProof(None, f"a {problem.kind} problem is not followed rigorously")


def decided(setting: Setting, limit: float = AFFORDABLE, *, exactly: bool = False) -> VerdictProof:
    """The proof on a setting, at a cost of so many products of numbers."""
    try:
        return _decide(setting, limit, exactly=exactly)
    except ForeignError as error:
        # A comparison that ignores the conditions is a comparison.
        outcome = None if setting.options.ignore_conditions else Outcome.NOT_APPLICABLE
        return VerdictProof(outcome, f"not an instance of the assumptions: {error}")
    except UndecidedError as error:
        return VerdictProof(None, str(error))
    except ArithmeticError:
        return VerdictProof(None, "a number leaves the range of floats on the way")


def _decide(setting: Setting, limit: float, *, exactly: bool) -> VerdictProof:
    statement, problem, pattern = setting.statement, setting.problem, setting.pattern
    if (runs := exact_runs(problem)) is None:
        return not_followed(problem)
    if reason := unlike(statement, problem, pattern, int(setting.sizes.get("participants", 0))):
        raise ForeignError(reason)
    if reason := unmet(statement.assumptions, problem, pattern):
        raise ForeignError(reason)
    if np.ptp(setting.steps) > 0:
        raise UndecidedError("clients with different numbers of local steps are not followed in interval arithmetic")
    if setting.method is not None and not setting.method.algorithm.linear:
        raise UndecidedError(f"{setting.method.spoken} is not linear, so that interval arithmetic does not follow it")
    if not setting.law.additive:
        raise UndecidedError(
            f"{setting.law.kind} noise depends on the point, which interval arithmetic does not follow"
        )
    subject = _Exactly(setting, runs, limit, exactly)
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        return subject.over_draws(pattern)
    if setting.method is None:
        return subject.without_run(pattern)
    return together([subject.on(trace) for trace in setting.traces()])


@dataclass(frozen=True)
class _Exactly:
    """A setting in exact numbers; the functions are those of `ratecheck.verification.verify`.

    ``runs`` is the kind of runs that the problem has. ``limit`` is what may be spent on one participation, in products
    of numbers. ``rational`` wants both sides in rationals where a few digits would decide.
    """

    setting: Setting
    runs: type[ExactRun]
    limit: float
    rational: bool = False

    @property
    def problem(self) -> SingleLevel:
        """The problem in the form in which its runs are followed."""
        form = self.runs.form(self.setting.problem)
        assert form is not None
        return form

    @property
    def rounds(self) -> int:
        """The rounds at whose start the run is recorded, 1 where there is none."""
        return self.setting.rounds or 1

    @property
    def _steps(self) -> int:
        """Local steps in all."""
        return int(self.setting.sizes.get("local_steps", 1)) * self.rounds

    @property
    def _first(self) -> bool:
        """Whether rationals are tried first."""
        return self.rational and self._steps <= _READABLE_STEPS

    @property
    def _means(self) -> bool:
        """Whether all claims are about means over the rounds."""
        return all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in self.setting.statement.claims)

    def on(self, trace: Participation) -> VerdictProof:
        """The statement on one participation."""
        values, notes = self._values(self.setting.statement, trace)
        measured = self._measured()
        if measured and all(name.startswith(_SINGLE) for name in measured.values()):
            return self.at_every_state(trace)
        run, work = self._run(values, trace), CostLimit(self._products(trace), self._steps, self.limit)
        try:
            if work.products > work.limit:
                raise UndecidedError(f"float64 cannot tell the sides apart, and {TOO_LONG}")
            proof = (self._averaged if self._means else self._by_round)(run, values, work)
        except UndecidedError as error:
            proof = VerdictProof(None, str(error))
        if not proof.proved:
            with suppress(UndecidedError):
                return self.at_every_state(trace)
        return replace(proof, notes=notes, products=min(work.products, work.limit))

    def _averaged(self, run: ExactRun, values: Numbers, work: CostLimit) -> VerdictProof:
        """Claims about means over the rounds."""
        measured, claims = self._measured(), self.setting.statement.claims
        if self.setting.statement.counts_rounds:
            raise UndecidedError("a mean over rounds in which the number of the round stands")

        def decide(bits: int) -> VerdictProof:
            found = run.averages(sorted(set(measured.values())), bits)
            return decided_claims(claims, values, {symbol: found[name] for symbol, name in measured.items()})

        return until_decided(decide, work, self._first)

    def _by_round(self, run: ExactRun, values: Numbers, work: CostLimit) -> VerdictProof:
        """Claims about every round."""
        measured, claims = self._measured(), self.setting.statement.claims
        if any(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in claims):
            raise UndecidedError("a claim on a mean over rounds beside one on single rounds")
        counted = self.setting.statement.vocabulary.counters

        def follow(bits: int) -> Iterator[Mapping[str, Number]]:
            for t, found in enumerate(run.rounds(sorted(set(measured.values())), bits)):
                yield {**{symbol: found[name] for symbol, name in measured.items()}, **dict.fromkeys(counted, t)}

        return decided_rounds(claims, values, follow, run.T, work, first=self._first)

    def _products(self, trace: Participation) -> float:
        """Products of numbers by which a run is followed once."""
        # The noise that is remembered is known without following the run.
        if self.setting.recorded == {"noise2"}:
            return 0.0
        assert self.setting.method is not None
        K, method = self._steps // self.rounds, self.setting.method
        return self.runs.products(RunSize(method, self.problem, trace, K, self.rounds, self._means))

    def at_every_state(self, trace: Participation) -> VerdictProof:
        """Claims that are quadratic in the state and hold at every state, whatever the run.

        Raises `UndecidedError` where they are not or do not.
        """
        values, notes = self._values(self.setting.statement, trace)
        measured = self._measured()
        names, run = sorted(set(measured.values())), self._run(values, trace)
        single = all(name.startswith(_SINGLE) for name in names)
        found = run.participants(names) if single else [run.forms(names)]
        for forms, claim in itertools.product(found, self.setting.statement.claims):
            slack = quadratic_form(claim, values, {symbol: forms[name] for symbol, name in measured.items()})
            if not (semidefinite(slack) if claim.relation is Relation.AT_MOST else not slack.any()):
                raise UndecidedError("float64 cannot tell the sides apart, and following the run would take too long")
        return VerdictProof(Outcome.HOLDS, "at every state of such a run", notes=notes)

    def without_run(self, pattern: Participation) -> VerdictProof:
        """Claims about vectors, or about the participation alone."""
        values, notes = self._values(self.setting.statement, pattern)
        if all(claim.metric.over is Over.NO_RUN for claim in self.setting.statement.claims):
            if (quadratic := self.problem.quadratic) is None:
                raise UndecidedError("vectors of functions that are not quadratic")
            martingale = Assumption.MARTINGALE in self.setting.statement.assumptions
            found = vectors(quadratic, int(self.setting.sizes.get("participants", 0)), martingale=martingale)
            records: dict[str, Number] = {symbol: found[name] for symbol, name in self._measured().items()}
        else:
            (symbol,) = self._measured()
            records = {symbol: self._proved(pattern).expected_delay()}
        return replace(decided_claims(self.setting.statement.claims, values, records), notes=notes)

    def over_draws(self, pattern: Participation) -> VerdictProof:
        """Expectations over the participation, step sizes being those of the one that is drawn."""
        rules = step_source(self.setting.statement)
        if rules is None:
            raise UndecidedError("nothing that it follows from says which step sizes")
        values, notes = self._values(self.setting.statement, pattern)
        measured = self._measured()
        claims = self.setting.statement.claims
        possible, drawn = participations(pattern, self.rounds), []
        work = CostLimit(len(possible) * (self._products(pattern) + _STEP_SIZES), self._steps, self.limit)
        if work.products > work.limit:
            raise UndecidedError(f"{len(possible)} participations are possible: {TOO_LONG}")
        for q, matrix in possible:
            # A pattern that is always the same may be long: it is not copied.
            trace = pattern if pattern.deterministic else Trace(matrix)
            drawn.append((q, self._run(self._values(rules, trace)[0], trace)))

        def decide(bits: int) -> VerdictProof:
            names = sorted(set(measured.values()))
            totals = dict.fromkeys(measured, Enclosure.of(0))
            for q, run in drawn:
                found = run.averages(names, bits)
                totals = {symbol: totals[symbol] + q * found[name] for symbol, name in measured.items()}
            return decided_claims(claims, values, totals)

        return replace(until_decided(decide, work, self._first), notes=notes, products=work.products)

    # --- The run ---

    def _measured(self) -> dict[str, str]:
        """The records of a run, by the statement's symbols."""
        facts = self.setting.statement.vocabulary.facts
        return {symbol: facts[symbol] for symbol in sorted(self.setting.statement.measured)}

    def _run(self, values: Numbers, trace: Participation) -> ExactRun:
        method = self.setting.method
        assert method is not None
        proved = self._proved(trace)
        noise = {name: proved.fact(name) or 0 for name in ("sigma_u", "sigma_v")}
        if "sigma" in self.setting.noise:
            block = "sigma_u" if self.problem.d_u else "sigma_v"
            noise = {block: proved.fact("sigma") or 0}
        sizes: dict[str, Any] = {name: values[name] for name in method.step_sizes if name in values}
        sizes |= {
            name: list(proved.weights) if name == "alpha" else _number(value)
            for name, value in self.setting.parameters.items()
        }
        silent = [name for name in method.step_sizes if name not in sizes and name not in method.algorithm.optional]
        sizes |= {name: self._silent(name, proved) for name in silent}
        K = int(self.setting.sizes.get("local_steps", 1))
        rest: dict[str, Any] = {
            "K": K, "T": self.rounds, "noise": noise, "step_sizes": sizes, "start": self.setting.start,
        }  # fmt: skip
        return self.runs.of(method, self.problem, trace, **rest)

    def _silent(self, name: str, proved: Proved) -> Fraction:
        """A step size of which the statement says nothing: what is given, else what `verify` takes."""
        if name in self.setting.values:
            return Fraction(self.setting.values[name])
        L = proved.fact("L")
        if L is None or name not in self.setting.statement.vocabulary:
            raise UndecidedError(f"the statement does not say which {name}")
        steps = float(self.setting.sizes.get("local_steps", 1))
        return Fraction(any_value(self.setting.statement.vocabulary[name], float(Enclosure.of(L).middle), steps))

    # --- The numbers ---

    def numbers(self, trace: Participation) -> Numbers:
        """All numbers of the statement on one participation."""
        return self._values(self.setting.statement, trace)[0]

    def _proved(self, trace: Participation | None) -> Proved:
        lambda_ = self.setting.parameters.get("lambda_")
        rest: dict[str, Any] = {
            "trace": trace,
            "T": int(self.setting.sizes["rounds"]) if "rounds" in self.setting.sizes else None,
            "noise": {name: Fraction(float(value)) for name, value in self.setting.noise.items()},
            "lambda_": None if lambda_ is None else _number(lambda_),
            "weights": self._weights(),
            "start": self.setting.start,
        }
        cocoercive = Assumption.COCOERCIVE_OPERATOR in self.setting.statement.assumptions
        return proved(self.problem, cocoercive=cocoercive, **rest)

    def _weights(self) -> list[Fraction]:
        """The clients' weights alpha_i; the default 1/n is exact."""
        n = self.problem.n
        given = self.setting.parameters.get("alpha")
        if given is None or (np.isscalar(given) and given == 1 / n):
            return [Fraction(1, n)] * n
        return [Fraction(float(x)) for x in np.broadcast_to(np.asarray(given, dtype=float), (n,))]

    def _values(self, statement: Statement, trace: Participation) -> tuple[Numbers, tuple[str, ...]]:
        """All numbers of a statement, at which every assumption and condition is proved; what was moved for that."""
        vocabulary = statement.vocabulary
        names = {*statement.parameters, *vocabulary.run.values()}
        known: dict[str, Number] = {
            name: Fraction(value) for name, value in self.setting.values.items() if name in names
        }
        if "alpha" in self.setting.parameters and "alpha" in vocabulary.aliases:
            targets = vocabulary.aliases["alpha"].targets.items()
            known |= {target: choose(self._weights()) for target, choose in targets if target in names}  # type: ignore[arg-type]
        constants, moved = self._constants(statement, trace)
        found = exact_values(statement, {**known, **constants})
        return found.values, (*moved, *found.notes)

    def _constants(self, statement: Statement, trace: Participation) -> tuple[Numbers, list[str]]:
        """The constants of a statement, each proved to be as weak as the true one, and which were moved for that.

        A float next to the true one stands for it, as one next to a step size does.
        """
        proved = self._proved(trace)
        found: dict[str, Number] = {}
        moved = []
        for name, fact in certifiable(statement).items():
            certified = proved.fact(fact)
            if certified is None:
                if name in statement.parameters:
                    raise UndecidedError(f"{name} is not proved on this problem and participation")
                continue
            claimed = self.setting.values.get(name)
            if claimed is None or (fact in NOISE and not self.setting.case(trace).of_both):
                found[name] = certified
                continue
            found[name] = value = Fraction(claimed)
            if not proved.admits(fact, value):
                true = Enclosure.of(certified).middle
                if abs(value - true) > _NEXT * abs(true):
                    raise ForeignError(f"{name}={claimed!r} is not {_bounds(name, certified)}")
                found[name] = certified
                moved.append(f"{name}={claimed!r} is moved to that of the problem, {float(true)!r}")
        return found, moved


def _bounds(name: str, certified: Number) -> str:
    return f"as weak as the {name} of the problem, {float(Enclosure.of(certified).middle)!r}"


def _number(value: ArrayLike) -> Fraction:
    """The binary fraction that a float is."""
    return Fraction(float(np.asarray(value, dtype=float)))
