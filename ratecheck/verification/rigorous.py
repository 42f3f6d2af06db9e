"""Both sides of a statement on an instance, with a proof that the instance meets every assumption and condition.

Floats of the instance stand for the binary fractions that they are. Constants are proved in rationals
(`ratecheck.certification.exact_constants`), prescribed step sizes are their formulas and not rounded values of them,
the right side and the run are enclosed. What cannot be decided so is said to be undecided, never guessed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from bounds.statement import Assumption, Claim, Condition, Over, Relation, Statement
from ratecheck.algebra import ball
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError, enclose, outward
from ratecheck.algebra.linear_algebra import Entries, semidefinite
from ratecheck.certification.certified_constants import NOISE
from ratecheck.certification.exact_constants import Proved, participations
from ratecheck.certification.uncertified import unmet
from ratecheck.engines.rigorous.moments import RigorousRun, vectors
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Participation, Trace
from ratecheck.problems import Problem, Quadratic
from ratecheck.stepsizes.choose import GIVEN, any_value, chosen_values
from ratecheck.verification import claim_sides as sides
from ratecheck.verification.applicability import certifiable, foreign, method_of, step_source, unlike
from ratecheck.verification.setting import Options, prepared
from ratecheck.verification.verdict import Verdict

if TYPE_CHECKING:
    from ratecheck.verification.instance import Instance

# Bits of the fixed-point numbers, until both sides are told apart.
_BITS = (384, 1024, 3072, 9216)
# Sides that agree to so many digits are not told apart by more of them.
_SAME = Fraction(1, 2**200)
# By how much a step size may be moved so that a condition holds exactly, and what counts as rounding of a condition.
_NUDGE, _ROUNDING = Fraction(1, 2**38), Fraction(1, 10**9)

# Local steps in all up to which a run is followed in rationals, whose digits grow with every one of them.
_FEW_STEPS = 256
_EXACTLY = Options(engine="exact")

Numbers = dict[str, Number]
# Quantities of single clients.
_SINGLE = "participant:"


@dataclass(frozen=True)
class Proof:
    """What was proved: ``outcome`` VIOLATED, HOLDS or NOT_APPLICABLE, or None where ``reason`` says why nothing was.

    ``left`` and ``right`` enclose the sides of the claim with the least room, in round ``round`` (None: the mean).
    ``notes`` say what was moved so that the instance meets the conditions exactly.
    """

    outcome: Outcome | None
    reason: str = ""
    claim: str = ""
    round: int | None = None
    left: Enclosure | None = None
    right: Enclosure | None = None
    notes: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the outcome is proved."""
        return self.outcome is not None

    def decides(self, verdict: Verdict) -> Verdict:
        """The verdict with the outcome that is proved; as it was where nothing is."""
        if self.outcome is None or self.outcome is verdict.outcome:
            return verdict
        reasons = (self.reason,) if self.outcome is Outcome.NOT_APPLICABLE else ()
        was = f"the {verdict.engine} engine in floating point says {verdict.outcome.value}"
        return replace(verdict, outcome=self.outcome, reasons=reasons, notes=(*verdict.notes, was))

    def fields(self) -> dict[str, Any]:
        """As JSON data; ends of intervals are floats rounded outwards."""
        return {
            "verdict": None if self.outcome is None else self.outcome.value,
            "proved": self.proved,
            "reason": self.reason,
            "claim": self.claim,
            "round": self.round,
            "left": None if self.left is None else list(outward(self.left)),
            "right": None if self.right is None else list(outward(self.right)),
            "notes": list(self.notes),
        }


class _ForeignError(Exception):
    """The instance is proved not to meet the assumptions or conditions."""


def prove(instance: Instance, options: Options = _EXACTLY) -> Proof:
    """Decide an instance rigorously; raises `InputError` for unusable input."""
    return decided(
        instance.statement, instance.problem, instance.given, options, instance.participation, instance.start
    )


def decided(
    statement: Statement, problem: Problem, given: Mapping[str, Any], options: Options,
    participation: Participation | None, start: Mapping[str, Any], *, brief: bool = False,
) -> Proof:  # fmt: skip
    """Decide what `verify` is asked rigorously; arguments as there. ``brief``: without following a run."""
    try:
        return _decide(statement, problem, dict(given), options, participation, start, brief=brief)
    except _ForeignError as error:
        # Who compares anyway wants a comparison.
        outcome = None if options.anyway else Outcome.NOT_APPLICABLE
        return Proof(outcome, f"not an instance of the assumptions: {error}")
    except UndecidedError as error:
        return Proof(None, str(error))
    except ArithmeticError:
        return Proof(None, "a number leaves the range of floats on the way")


def _decide(
    statement: Statement, problem: Problem, given: dict[str, Any], options: Options,
    participation: Participation | None, start: Mapping[str, Any], *, brief: bool,
) -> Proof:  # fmt: skip
    statement = statement.at(given)
    quadratic = problem.quadratic
    if quadratic is None:
        raise UndecidedError(f"a {problem.kind} problem is not followed rigorously")
    if reasons := foreign(statement):
        raise UndecidedError("; ".join(reasons))
    check, pattern = prepared(statement, problem, given, options, participation, start)
    if reason := unlike(statement, pattern, int(check.settings.get("participants", 0))):
        raise _ForeignError(reason)
    if reason := unmet(statement, problem, pattern):
        raise _ForeignError(reason)
    subject = _Subject(
        statement, quadratic, check.given, check.parameters, check.settings, check.noise, start
    )  # fmt: skip
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        if brief:
            raise UndecidedError("it would take too long")
        return subject.over_draws(pattern)
    if check.method is None:
        return subject.without_run(pattern)
    follow = subject.at_every_state if brief else subject.on
    return _together([follow(trace) for trace in check.traces(pattern)])


@dataclass(frozen=True)
class _Subject:
    """An instance with everything but who takes part; the names are those of `ratecheck.verification.verify`."""

    statement: Statement
    problem: Quadratic
    given: Mapping[str, float]
    parameters: Mapping[str, Any]
    settings: Mapping[str, float]
    noise: Mapping[str, float]
    start: Mapping[str, Any]

    @property
    def rounds(self) -> int:
        """T, 1 where there is none."""
        return int(self.settings.get("rounds", 1))

    @property
    def _few(self) -> bool:
        """Whether the run is short enough for rationals."""
        return int(self.settings.get("local_steps", 1)) * self.rounds <= _FEW_STEPS

    def on(self, trace: Participation) -> Proof:
        """The statement on one participation."""
        values, notes = self._values(self.statement, trace)
        measured = self._measured()
        claims = self.statement.claims
        means = all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in claims)
        run = self._run(values, trace)
        if measured and all(name.startswith(_SINGLE) for name in measured.values()):
            return self.at_every_state(trace)

        def decide(bits: int) -> Proof:
            names = sorted(set(measured.values()))
            if means:
                found = run.averages(names, bits)
                records = [{symbol: found[name] for symbol, name in measured.items()}]
            else:
                by_round = run.rounds(names, bits)
                records = [{symbol: by_round[name][t] for symbol, name in measured.items()} for t in range(run.T)]
            return _decided(claims, values, records, each_round=not means)

        proof = _until_decided(decide, self._few)
        if not proof.proved:
            with suppress(UndecidedError):
                return self.at_every_state(trace)
        return replace(proof, notes=notes)

    def at_every_state(self, trace: Participation) -> Proof:
        """Claims that are quadratic in the state and hold at every state, whatever the run.

        Raises `UndecidedError` where they are not or do not.
        """
        values, notes = self._values(self.statement, trace)
        measured = self._measured()
        names, run = sorted(set(measured.values())), self._run(values, trace)
        single = all(name.startswith(_SINGLE) for name in names)
        found = run.participants(names) if single else [run.forms(names)]
        for forms, claim in itertools.product(found, self.statement.claims):
            room = _form(claim, values, {symbol: forms[name] for symbol, name in measured.items()})
            if not (semidefinite(room) if claim.relation is Relation.AT_MOST else not room.any()):
                raise UndecidedError("float64 cannot tell the sides apart, and following the run would take too long")
        return Proof(Outcome.HOLDS, "at every state of such a run", notes=notes)

    def without_run(self, pattern: Participation) -> Proof:
        """Claims about vectors, or about the participation alone."""
        values, notes = self._values(self.statement, pattern)
        if all(claim.metric.over is Over.NO_RUN for claim in self.statement.claims):
            found = vectors(self.problem, int(self.settings.get("participants", 0)))
            records: Numbers = {symbol: found[name] for symbol, name in self._measured().items()}
        else:
            (symbol,) = self._measured()
            records = {symbol: self._proved(pattern).expected_delay()}
        return replace(_decided(self.statement.claims, values, [records], each_round=False), notes=notes)

    def over_draws(self, pattern: Participation) -> Proof:
        """Expectations over the participation, step sizes being those of the one that is drawn."""
        rules = step_source(self.statement)
        if rules is None:
            raise UndecidedError("nothing that it follows from says which step sizes")
        values, notes = self._values(self.statement, pattern)
        measured = self._measured()
        claims = self.statement.claims
        drawn = []
        for q, matrix in participations(pattern, self.rounds):
            # A pattern that is always the same may be long: it is not copied.
            trace = pattern if pattern.fixed(self.rounds) is not None else Trace(matrix)
            drawn.append((q, self._run(self._values(rules, trace)[0], trace)))

        def decide(bits: int) -> Proof:
            names = sorted(set(measured.values()))
            totals = dict.fromkeys(measured, Enclosure.of(0))
            for q, run in drawn:
                found = run.averages(names, bits)
                totals = {symbol: totals[symbol] + q * found[name] for symbol, name in measured.items()}
            return _decided(claims, values, [totals], each_round=False)

        return replace(_until_decided(decide, self._few), notes=notes)

    # --- The run ---

    def _measured(self) -> dict[str, str]:
        """What a run records, by the statement's symbols."""
        facts = self.statement.vocabulary.facts
        return {symbol: facts[symbol] for symbol in sorted(sides.measured(self.statement))}

    def _run(self, values: Numbers, trace: Participation) -> RigorousRun:
        method = method_of(self.statement)
        assert method is not None
        proved = self._proved(trace)
        noise = {name: proved.fact(name) or 0 for name in ("sigma_u", "sigma_v")}
        if "sigma" in self.noise:
            block = "sigma_u" if self.problem.d_u else "sigma_v"
            noise = {block: proved.fact("sigma") or 0}
        sizes: dict[str, Any] = {name: values[name] for name in method.step_sizes if name in values}
        sizes |= {
            name: list(proved.weights) if name == "alpha" else Fraction(float(value))
            for name, value in self.parameters.items()
        }
        silent = [name for name in method.step_sizes if name not in sizes and name not in method.algorithm.optional]
        sizes |= {name: self._silent(name, proved) for name in silent}
        return RigorousRun.of(
            method, self.problem, trace, K=int(self.settings.get("local_steps", 1)), T=self.rounds, noise=noise,
            step_sizes=sizes, start=self.start,
        )  # fmt: skip

    def _silent(self, name: str, proved: Proved) -> Fraction:
        """A step size of which the statement says nothing: what is given, else what `verify` takes."""
        if name in self.given:
            return Fraction(self.given[name])
        L = proved.fact("L")
        if L is None or name not in self.statement.vocabulary:
            raise UndecidedError(f"the statement does not say which {name}")
        steps = float(self.settings.get("local_steps", 1))
        return Fraction(any_value(self.statement.vocabulary[name], float(Enclosure.of(L).middle), steps))

    # --- The numbers ---

    def _proved(self, trace: Participation | None) -> Proved:
        lambda_ = self.parameters.get("lambda_")
        return Proved(
            problem=self.problem,
            trace=trace,
            T=int(self.settings["rounds"]) if "rounds" in self.settings else None,
            noise={name: Fraction(float(value)) for name, value in self.noise.items()},
            lambda_=None if lambda_ is None else Fraction(float(lambda_)),
            weights=self._weights(),
            start=self.start,
        )

    def _weights(self) -> list[Fraction]:
        """The clients' weights alpha_i; the default 1/n is exact."""
        n = self.problem.n
        given = self.parameters.get("alpha")
        if given is None or (np.isscalar(given) and given == 1 / n):
            return [Fraction(1, n)] * n
        return [Fraction(float(x)) for x in np.broadcast_to(np.asarray(given, dtype=float), (n,))]

    def _values(self, statement: Statement, trace: Participation) -> tuple[Numbers, tuple[str, ...]]:
        """All numbers of a statement, at which every assumption and condition is proved; what was moved for that."""
        vocabulary = statement.vocabulary
        names = {*statement.parameters, *vocabulary.run.values()}
        known: Numbers = {name: Fraction(value) for name, value in self.given.items() if name in names}
        if "alpha" in self.parameters and "alpha" in vocabulary.aliases:
            targets = vocabulary.aliases["alpha"].targets.items()
            known |= {target: choose(self._weights()) for target, choose in targets if target in names}  # type: ignore[arg-type]
        known |= self._constants(statement, trace)
        settled = _Settled.of(statement, known)
        values = dict(settled.values)
        for name, expr in vocabulary.derived.items():
            if name in statement.parameters and name not in values:
                values[name] = enclose(expr, values).plain
        return values, settled.notes

    def _constants(self, statement: Statement, trace: Participation) -> Numbers:
        """The constants of a statement, each proved to be as weak as the true one."""
        proved = self._proved(trace)
        found: Numbers = {}
        for name, fact in certifiable(statement).items():
            certified = proved.fact(fact)
            if certified is None:
                if name in statement.parameters:
                    raise UndecidedError(f"{name} is not proved on this problem and participation")
                continue
            claimed = self.given.get(name)
            if claimed is None or fact in NOISE:
                found[name] = certified
                continue
            found[name] = Fraction(claimed)
            if not proved.admits(fact, Fraction(claimed)):
                raise _ForeignError(f"{name}={claimed!r} is not {_bounds(name, certified)}")
        return found


def _bounds(name: str, certified: Number) -> str:
    return f"as weak as the {name} of the problem, {float(Enclosure.of(certified).middle)!r}"


@dataclass
class _Settled:
    """Exact values of all numbers of a statement, and which of its conditions they are not proved to meet."""

    statement: Statement
    known: Numbers
    values: Numbers = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(statement: Statement, known: Numbers) -> _Settled:
        """Step sizes as the statement and the instance set them, moved by rounding where a condition needs that."""
        settled = _Settled(statement, known)
        settled._settle()
        return settled

    def _settle(self) -> None:
        floats = {name: float(Enclosure.of(value).middle) for name, value in self.known.items()}
        self.completed, self.chosen = chosen_values(self.statement, floats)
        self.values = self._exact({})
        unproved = self._unproved()
        if not unproved:
            return
        for condition in unproved:
            left, right = (enclose(side, self.values) for side in (condition.left, condition.right))
            apart = max(right.low - left.high, left.low - right.high, Fraction(0))
            fixed = left.exact and right.exact and not condition.symbols & self.chosen.keys()
            if fixed or apart > _ROUNDING * max(abs(left.low), abs(right.low)):
                raise _ForeignError(f'"{condition.text}" is broken: {float(left.low):.6g} and {float(right.low):.6g}')
        for name in self._free():
            for move in (-_NUDGE, _NUDGE):
                self.values = self._exact({name: move})
                if not self._unproved():
                    self.notes = (f"{name} is moved by {float(move):.2g} of it, so that the conditions hold exactly",)
                    return
        raise UndecidedError(f'"{unproved[0].text}" holds up to rounding only')

    def _free(self) -> list[str]:
        """Step sizes that nothing computes from others."""
        return [name for name in self.chosen if not self._ruled(name) and not self._from_product(name)]

    def _ruled(self, name: str) -> bool:
        """Whether a rule of the statement sets it; a given value of what is prescribed stands for the formula."""
        rule = next((rule for rule in self.statement.step_rules if rule.symbol.name == name), None)
        if rule is None:
            return False
        if self.chosen[name] == GIVEN:
            return not rule.at_least and not rule.free
        return self.chosen[name] in ("prescribed", "smallest admissible", "default")

    def _from_product(self, name: str) -> bool:
        why = self.chosen[name]
        every_given = any(
            name == product.local.name and all(self.chosen.get(each) == GIVEN for each in product.names)
            for product in self.statement.step_products
        )
        return every_given or why == "from the others" or "/" in why

    def _exact(self, moved: Mapping[str, Fraction]) -> Numbers:
        """All numbers, free step sizes being multiplied by 1 + moved."""
        values: Numbers = {name: value for name, value in self.known.items() if name not in self.chosen}
        statement = self.statement
        for name in statement.parameters:
            default = statement.vocabulary[name].default
            if default is not None and name not in self.chosen:
                values.setdefault(name, Fraction(default))
        for name in self._free():
            if name not in statement.settings:
                base = self.known.get(name, Fraction(self.completed[name]))
                values[name] = base * (1 + moved[name]) if name in moved else base
        rules = {rule.symbol.name: rule.value for rule in statement.step_rules if self._is_ruled(rule.symbol.name)}
        formulas = [*statement.settings.items(), *rules.items()]
        for product in statement.step_products:
            formulas.append((product.product.name, product.local * product.outer))
            formulas.append((product.local.name, product.product / product.outer))
            formulas.append((product.outer.name, product.product / product.local))
        for _ in range(len(formulas)):
            for name, expr in formulas:
                if name not in values and {s.name for s in expr.free_symbols} <= values.keys():
                    values[name] = enclose(expr, values).plain
        self._check_given(values)
        return values

    def _is_ruled(self, name: str) -> bool:
        return name in self.chosen and self._ruled(name)

    def _check_given(self, values: Numbers) -> None:
        """A given value has to be that of the formula that takes its place, but for rounding."""
        for name, given in self.known.items():
            used, said = Enclosure.of(values[name]).middle, Enclosure.of(given).middle
            if abs(used - said) > _ROUNDING * max(abs(used), abs(said)):
                raise _ForeignError(f"{name}={float(said):.10g} is not what the statement sets, {float(used):.10g}")

    def _unproved(self) -> list[Condition]:
        by_rule = {rule.condition.text for rule in self.statement.step_rules if self._is_ruled(rule.symbol.name)}
        return [c for c in self.statement.hypotheses if c.text not in by_rule and not _proved_condition(c, self.values)]


def _proved_condition(condition: Condition, values: Numbers) -> bool:
    left, right = (enclose(side, values) for side in (condition.left, condition.right))
    if condition.operator == "<=":
        return left.high <= right.low
    if condition.operator == ">=":
        return left.low >= right.high
    if condition.operator == "<":
        return left.high < right.low
    if condition.operator == ">":
        return left.low > right.high
    return left.exact and right.exact and left == right


def _form(claim: Claim, values: Numbers, forms: Mapping[str, Entries]) -> Entries:
    """Right side minus left side as a quadratic form in the state, whose last entry is 1."""
    difference = claim.bound - claim.metric.expr
    # Without an inner error there is no root of it.
    nothing = [symbol for symbol in difference.free_symbols if values.get(symbol.name) == 0]
    difference = difference.xreplace(dict.fromkeys(nothing, sp.S.Zero))
    symbols = [symbol for symbol in difference.free_symbols if symbol.name not in values]
    size = len(next(iter(forms.values())))
    total = np.full((size, size), Fraction(0), dtype=object)
    parts = [(sp.diff(difference, symbol), forms.get(symbol.name)) for symbol in symbols]
    one = np.full((size, size), Fraction(0), dtype=object)
    one[-1, -1] = Fraction(1)
    parts.append((difference.xreplace(dict.fromkeys(symbols, sp.S.Zero)), one))
    for rate, form in parts:
        if form is None or rate.free_symbols & {*symbols}:
            raise UndecidedError("the claim is not linear in what is measured before a round")
        factor = enclose(rate, values)
        if not factor.exact:
            raise UndecidedError("a number of the claim is irrational")
        total = total + factor.low * form
    return total


def _until_decided(decide: Callable[[int], Proof], few: bool) -> Proof:
    """With more and more digits, until the sides are told apart or agree to many digits; of ``few`` steps exactly."""
    proof, before = Proof(None), None
    for bits in _BITS:
        proof = decide(bits)
        if proof.proved:
            return proof
        assert proof.left is not None
        assert proof.right is not None
        size, width = max(abs(proof.left.middle), abs(proof.right.middle)), proof.left.width + proof.right.width
        # What the digits of irrational step sizes limit does not shrink with those of the run.
        if width <= _SAME * size or (before is not None and width > before / 2):
            break
        before = width
    if not few:
        return proof
    try:
        return decide(ball.EXACT)
    except UndecidedError:  # something irrational
        return proof


def _decided(
    claims: Sequence[Claim], values: Numbers, records: Sequence[Mapping[str, Number]], *, each_round: bool
) -> Proof:
    """All claims in all the rounds that they are about."""
    found = []
    for claim in claims:
        first = 1 if claim.metric.over is Over.EVERY_ROUND_BUT_FIRST else 0
        if len(records) <= first:
            raise InputError(
                f'T={len(records)} breaks "T >= {first + 1}": the claim compares a round with the one before'
            )
        for t in range(first, len(records)):
            before = {f"{name}_prev": value for name, value in records[t - 1].items()} if t else {}
            here = {**values, **records[t], **before}
            left, right = enclose(claim.metric.expr, here), enclose(claim.bound, here)
            outcome = _compared(claim.relation, left, right)
            found.append(Proof(outcome, _why(outcome), claim.name, t if each_round else None, left, right))
    return _together(found)


def _compared(relation: Relation, left: Enclosure, right: Enclosure) -> Outcome | None:
    if left.low > right.high or (relation is Relation.EQUAL and left.high < right.low):
        return Outcome.VIOLATED
    if relation is Relation.EQUAL:
        return Outcome.HOLDS if left.exact and left == right else None
    return Outcome.HOLDS if left.high <= right.low else None


def _why(outcome: Outcome | None) -> str:
    return "" if outcome is not None else "the enclosures of the two sides overlap"


def _together(proofs: Sequence[Proof]) -> Proof:
    """One of several that all have to hold: one violated or undecided, else the one with least room."""
    for outcome in (Outcome.VIOLATED, None):
        for proof in proofs:
            if proof.outcome is outcome:
                return proof
    return min(proofs, key=_room)


def _room(proof: Proof) -> float:
    if proof.left is None or proof.right is None:
        return 0.0
    left, right = proof.left.middle, proof.right.middle
    size = max(abs(left), abs(right))
    return float((right - left) / size) if size else 0.0
