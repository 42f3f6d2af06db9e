"""Potentials: quadratic forms of the states, and a multiple of f - f*, that are found and not given.

A `Plan` is a semidefinite program whose feasible points are proofs. With V_t the potential before round t, which is
the same for all rounds (one potential) or has coefficients of its own for each (a chain):

- mean: V_{t+1} <= V_t - metric_t + c and V >= 0, so that the mean of metric_t is at most V_0/T + c;
- chain: V_{t+1} <= V_t + c_t - w_t metric_t and w_r metric_r <= V_r, so that sum_t w_t metric_t <= V_0 + sum_t c_t;
- rate: V_{t+1} <= rho V_t + c and metric <= V, so that metric_t <= rho^t V_0 + (1 + rho + ... + rho^(t-1)) c;
- step: what one round changes, from any state.

Each of them is required of all vectors that satisfy what is known of a round.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ratecheck.proving.classes import Point
from ratecheck.proving.forms import ONE, Form, plus
from ratecheck.proving.program import Program
from ratecheck.proving.question import Compared, Question, State
from ratecheck.proving.rounds import Round, Start
from ratecheck.proving.vectors import Fact, Vectors


@dataclass(frozen=True)
class Plan:
    """A program whose unknown ``factor`` multiplies the right side, and how many rounds a solution is about."""

    kind: str
    program: Program
    factor: int
    every_T: bool


class Potential:
    """Unknown coefficients of a potential."""

    def __init__(self, program: Program, q: Question, label: str, *, gradients: bool) -> None:
        self.q, self.program, self.label, self.gradients = q, program, label, gradients
        self.height = program.unknown(f"{label}: f - f*", signed=True) if q.has_values else None
        self.weights: dict[str, int] = {}

    def before(self, played: Round) -> dict[int, Form]:
        """V before the round."""
        height = {} if self.height is None else played.height
        return self._at(played.vectors, played.state, height, played.here.gradient if self.gradients else None)

    def after(self, played: Round) -> dict[int, Form]:
        """V after the round."""
        height = {} if self.height is None else played.next_height
        return self._at(
            played.vectors, played.after, height, played.next.gradient if self.gradients and played.next else None
        )

    def at_start(self, start: Start) -> dict[int, Form]:
        """V before the first round."""
        height = {} if self.height is None else start.height
        return self._at(start.vectors, start.state, height, start.here.gradient if self.gradients else None)

    def _at(self, vectors: Vectors, state: State, height: Form, gradient: Point | None) -> dict[int, Form]:
        """The potential at a state, by unknown."""
        found = {} if self.height is None else {self.height: plus((1, height), (-1, self.q.lowest))}
        for name, form in _terms(self.q, vectors, state, gradient).items():
            if name not in self.weights:
                self.weights[name] = self.program.unknown(f"{self.label}: {name}", signed=False)
            found[self.weights[name]] = form
        return found


def _terms(q: Question, vectors: Vectors, state: State, gradient: Point | None) -> dict[str, Form]:
    """The forms that a potential may have, by name."""
    found: dict[str, Form] = {}
    for b in q.blocks:
        own = [(name, family, group) for group in ("server", "client") for name, family in q.named(state, group, b)]
        if gradient is not None:
            own.append(("grad f", gradient[b], "client"))
        for (one, x, g), (two, y, h) in itertools.combinations_with_replacement(own, 2):
            shown = f"||{one}||^2" if one == two else f"<{one}, {two}>"
            if b != q.shared:
                found[f"mean of {shown}"] = vectors.draw.average(x, y)
                continue
            found[shown] = vectors.draw.of_means(x, y)
            if g == h == "client" and q.n > 1:
                found[f"deviations of {shown}"] = vectors.draw.of_deviations(x, y)
    return found


def _sum(*parts: tuple[Fraction | int, Mapping[Any, Form]]) -> dict[int | None, Form]:
    """A sum of multiples of affine forms."""
    found: dict[int | None, Form] = {}
    for factor, affine in parts:
        for unknown, form in affine.items():
            found[unknown] = plus((1, found.get(unknown, {})), (factor, form))
    return found


def _require(program: Program, affine: dict[int | None, Form], facts: Sequence[Fact], where: str) -> None:
    """Have an affine form be nonnegative by multiples of what is known."""
    for fact in facts:
        if fact.form:
            affine[program.unknown(f"{where}: {fact.name}", signed=not fact.equal)] = fact.form
    program.nonnegative(affine)


def mean(q: Question, compared: Compared, *, gradients: bool, every_T: bool) -> Plan:
    """One potential for a mean over the rounds: V_0/T + c <= a/T + b for ``every_T``, or the right side at T."""
    program = Program()
    factor, constant = program.unknown("factor", signed=True), program.unknown("constant", signed=True)
    V = Potential(program, q, "V", gradients=gradients)
    played = Round(q, 0)
    step = _sum((1, V.before(played)), (-1, V.after(played)), (1, {constant: {ONE: Fraction(1)}}))
    step[None] = plus((-1, played.metric(compared)))
    _require(program, step, played.facts, "round")
    still = Round(q, 0, played=False)
    _require(program, _sum((1, V.before(still))), still.facts, "V >= 0")
    first = program.unknown("V_0", signed=True)
    start = Start(q)
    _require(program, _sum((-1, V.at_start(start)), (1, {first: {ONE: Fraction(1)}})), start.facts, "start")
    if every_T:
        assert q.in_rounds is not None
        for part, unknown in zip(q.in_rounds, (first, constant), strict=True):
            program.nonnegative({factor: {ONE: part}, unknown: {ONE: Fraction(-1)}})
    else:
        at_T: dict[int | None, Form] = {
            first: {ONE: Fraction(-1, q.T)},
            constant: {ONE: Fraction(-1)},
            factor: {ONE: compared.right},
        }
        program.nonnegative(at_T)
    return Plan("mean", program, factor, every_T=every_T)


def chain(q: Question, compared: Compared, *, gradients: bool, weights: str = "last") -> Plan:
    """A potential for each round: ``weights`` of the metric on the last round, the mean, or found for the best one."""
    program = Program()
    factor = program.unknown("factor", signed=True)
    last = q.T - 1 if compared.round is None else compared.round
    shares = (
        [program.unknown(f"weight of round {t}", signed=True) for t in range(last + 1)] if weights == "best" else []
    )
    if shares:
        program.equal.append({None: Fraction(-1), **{u: Fraction(1) for u in shares}})
    potentials = [Potential(program, q, f"V_{t}", gradients=gradients) for t in range(last + 1)]
    constants = [program.unknown(f"constant of round {t}", signed=True) for t in range(last)]

    def weighed(t: int, metric: Form) -> dict[int | None, Form]:
        if shares:
            return {shares[t]: metric}
        if weights == "mean":
            return {None: plus((Fraction(1, last + 1), metric))}
        return {None: metric} if t == last else {}

    for t in range(last):
        played = Round(q, t)
        step = _sum(
            (1, potentials[t].before(played)),
            (-1, potentials[t + 1].after(played)),
            (1, {constants[t]: {ONE: Fraction(1)}}),
            (-1, weighed(t, played.metric(compared))),
        )
        _require(program, step, played.facts, f"round {t}")
    end = Round(q, last, played=compared.changes)
    _require(
        program,
        _sum((1, potentials[last].before(end)), (-1, weighed(last, end.metric(compared)))),
        end.facts,
        f"round {last}",
    )
    start = Start(q)
    begin = _sum(
        (-1, potentials[0].at_start(start)),
        (-1, {u: {ONE: Fraction(1)} for u in constants}),
        (1, {factor: {ONE: compared.right}}),
    )
    _require(program, begin, start.facts, "start")
    return Plan("chain", program, factor, every_T=False)


def rate(q: Question, every: Sequence[Compared], rho: Fraction, *, gradients: bool) -> Plan:
    """One potential that shrinks by ``rho`` in every round, for the claims on all of these rounds."""
    program = Program()
    factor, constant = program.unknown("factor", signed=True), program.unknown("constant", signed=True)
    first = program.unknown("V_0", signed=True)
    V = Potential(program, q, "V", gradients=gradients)
    played = Round(q, 0)
    step = _sum((rho, V.before(played)), (-1, V.after(played)), (1, {constant: {ONE: Fraction(1)}}))
    _require(program, step, played.facts, "round")
    still = Round(q, 0, played=False)
    _require(
        program, {**_sum((1, V.before(still))), None: plus((-1, still.metric(every[0])))}, still.facts, "metric <= V"
    )
    start = Start(q)
    _require(program, _sum((-1, V.at_start(start)), (1, {first: {ONE: Fraction(1)}})), start.facts, "start")
    power, total = Fraction(1), Fraction(0)
    at = {each.round: each for each in every}
    for t in range(max(r for r in at if r is not None) + 1):
        if t in at:
            program.nonnegative({factor: {ONE: at[t].right}, first: {ONE: -power}, constant: {ONE: -total}})
        power, total = power * rho, total * rho + 1
    return Plan("rate", program, factor, every_T=False)


def one_step(q: Question, compared: Compared) -> Plan:
    """What one round changes, from any state that the method's invariants allow."""
    program = Program()
    factor = program.unknown("factor", signed=True)
    played = Round(q, compared.round or 0)
    _require(program, {None: plus((-1, played.metric(compared))), factor: {ONE: compared.right}}, played.facts, "round")
    return Plan("step", program, factor, every_T=True)
