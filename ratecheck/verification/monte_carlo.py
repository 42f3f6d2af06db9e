"""Claims judged by simulated replicates, which are drawn once for all claims and added until each is decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import sympy as sp

from bounds.statement import Claim, Over, Relation, Statement, names_in, number
from bounds.symbols import Role, Vocabulary, is_round, measured_in, written_out
from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.engines.monte_carlo.rounding import step_rounding
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.statistics.binomial import decide_chance
from ratecheck.statistics.confidence import shares
from ratecheck.statistics.sequential_test import SequentialDecision, Tie, decide, of_every_run, of_numbers
from ratecheck.verification import claim_sides as sides
from ratecheck.verification.negative_bounds import nonnegative, not_random
from ratecheck.verification.verdict import Comparison

Records = Mapping[str, Array]

# Replicates that grew beyond this bound their expectation from below by it.
_LARGEST = 1e280


class Replicates:
    """Records of replicates by the paper's symbols, simulated when they are first used, ``most`` at most.

    ``simulate`` runs the replicates in a range, ``symbols`` turns records by their own names into records by symbol.
    ``rounding``, where there is one, says what the records in a range are wrong by beside `step_rounding`.
    """

    def __init__(
        self,
        simulate: Callable[[range], stepwise.Run],
        symbols: Callable[[Records], dict[str, Array]],
        most: int,
        rounding: Callable[[range], Records] | None = None,
    ) -> None:
        self.simulate, self.symbols, self.most, self.rounding = simulate, symbols, most, rounding
        self._batches: dict[range, stepwise.Run] = {}
        self._rounding: dict[range, Records] = {}

    def __call__(self, wanted: range) -> dict[str, Array]:
        """Records of these replicates."""
        if wanted not in self._batches:
            self._batches[wanted] = self.simulate(wanted)
        return self.symbols(self._batches[wanted].records)

    @property
    def drawn(self) -> int:
        """The number of replicates that were drawn."""
        return sum(len(batch) for batch in self._batches)

    @property
    def records(self) -> dict[str, Array]:
        """The records of all replicates: batches follow one another, whichever claim they were drawn for."""
        runs = [run.records for run in self._batches.values()]
        return self.symbols({name: np.concatenate([records[name] for records in runs]) for name in runs[0]})

    def errors(self, records: Records, vocabulary: Vocabulary) -> dict[str, Array]:
        """Error bounds of the first replicates' records, by symbol."""
        errors = step_rounding(records, vocabulary)
        if self.rounding is None:
            return errors
        for batch in self._batches:
            if batch not in self._rounding:
                self._rounding[batch] = self.rounding(batch)
        found = [self._rounding[batch] for batch in self._batches]
        more = self.symbols({name: np.concatenate([each[name] for each in found]) for name in found[0]})
        return {name: array + more[name][: len(array)] for name, array in errors.items()}

    @property
    def metric(self) -> Array:
        """The metric that the method's theorems bound, (replicates, T)."""
        return np.concatenate([run.metric for run in self._batches.values()])


def judge(
    statement: Statement,
    values: Mapping[str, float],
    runs: Replicates,
    level: float,
    share: float,
    *,
    first: int,
    normal: bool,
    every_run: frozenset[str],
    ranges: Mapping[str, Array],
    given: Collection[str] = (),
) -> tuple[list[SequentialDecision], list[Comparison]]:
    """A decision and a comparison for every claim; see `decide`.

    ``share`` is the part of the level that VIOLATED may use; see `decide`. ``every_run`` are symbols of quantities that
    are bounded in each run rather than in the mean. ``normal``: what is recorded are quadratic functions of normal
    variables. ``ranges`` maps symbols to their largest values, where these are known.
    """
    vocabulary = statement.vocabulary
    parts = shares(share, [1.0] * len(statement.claims))
    decisions: list[SequentialDecision] = []
    ties: list[Tie] = []
    for claim, part in zip(statement.claims, parts, strict=True):
        expected = claim.probability is None
        bounded = expected and not_random(claim, vocabulary) and nonnegative(claim, vocabulary, values)
        tie = partial(_tie, claim, partial(_errors, claim, vocabulary, values, runs, given, bounded))
        ties.append(tie)
        if not expected:
            decisions.append(_of_chance(claim, vocabulary, values, runs, level, part, first, given))
            continue
        draw = partial(_both, claim, vocabulary, values, runs, bounded)
        equal = claim.relation is Relation.EQUAL
        if not measured_in(claim.metric.expr, vocabulary) | measured_in(claim.bound, vocabulary):
            decisions.append(of_numbers(draw, min(first, runs.most), equal=equal, tie=tie))
            continue
        if measured_in(claim.metric.expr, vocabulary) & every_run:
            decisions.append(of_every_run(draw, runs.most, tie))
            continue
        decision = decide(
            draw, level, runs.most, first=first, share=part, normal=normal and _affine(claim, vocabulary),
            nonnegative=bounded, equal=equal,
            by_check=any(is_round(name, vocabulary) for name in names_in(claim.bound)),
            largest=_largest(claim, vocabulary, values, ranges), tie=tie,
        )  # fmt: skip
        beyond = not all(np.isfinite(array).all() for array in runs.records.values())
        if beyond and math.isfinite(decision.right) and decision.outcome is not Outcome.VIOLATED:
            # A replicate without a number may count as nothing where it makes the left side smaller only.
            decision = replace(decision, outcome=Outcome.DIVERGED, caveat="some replicates leave the range of float64")
        decisions.append(decision)
    records = runs.records
    found = zip(statement.claims, decisions, ties, strict=True)
    return decisions, [_compared(claim, vocabulary, values, records, decision, tie) for claim, decision, tie in found]


def chance(claim: Claim, values: Mapping[str, float]) -> float:
    """The probability that a claim states; raises `InputError` where the numbers make it none."""
    assert claim.probability is not None
    found = number(claim.probability, values)
    if not 0 < found <= 1:
        raise InputError(f'the probability {claim.probability} = {found:g} breaks "0 < {claim.probability} <= 1"')
    return found


def _of_chance(
    claim: Claim,
    vocabulary: Vocabulary,
    values: Mapping[str, float],
    runs: Replicates,
    level: float,
    share: float,
    first: int,
    given: Collection[str],
) -> SequentialDecision:
    """The decision on a claim in probability: a run meets it in all rounds that it is about, or in the best one."""

    def errors(drawn: int) -> Array:
        left, right = _errors(claim, vocabulary, values, runs, given, bounded=False, drawn=drawn)
        return left + right

    return decide_chance(
        lambda wanted: _both(claim, vocabulary, values, runs, bounded=False, wanted=wanted),
        chance(claim, values), level, runs.most,
        any_check=claim.metric.over is Over.BEST_ROUND, share=share, first=first, errors=errors,
    )  # fmt: skip


def _affine(claim: Claim, vocabulary: Vocabulary) -> bool:
    """Whether both sides are affine in what a run measures."""
    difference = written_out(claim.metric.expr - claim.bound, vocabulary)
    measured = [s for s in difference.free_symbols if vocabulary[s.name].role is Role.MEASURED]
    rates = [sp.diff(difference, symbol) for symbol in measured]
    return not any(rate.free_symbols & {*measured} for rate in rates)


def _largest(claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], ranges: Mapping[str, Array]) -> float:
    """The upper bound of a left side that is a sum with nonnegative weights."""
    measured = measured_in(claim.metric.expr, vocabulary)
    if not measured <= ranges.keys():
        return math.inf
    known = {name: ranges[name] for name in measured} or {"": np.zeros(1)}
    return float(sides.evaluate(claim.metric.expr, vocabulary, values, known)[0])


def _both(
    claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], runs: Replicates, bounded: bool, wanted: range
) -> tuple[Array, Array]:
    """Both sides of a claim in the replicates wanted, by round or as means over the rounds.

    Where the left side cannot be negative (``bounded``) what is beyond the range of floats counts as nothing.
    """
    records = runs(wanted)
    if bounded:
        records = {name: _least(array) for name, array in records.items()}
    left, right = (_by_check(claim, expr, vocabulary, values, records) for expr in (claim.metric.expr, claim.bound))
    if bounded and left.min() < 0:
        # Only what a method of one's own measures can be so.
        said = "its symbols say that it never is below 0: domain='real' would do"
        raise InputError(f"{claim.metric.expr} is {left.min():.6g} in a run, but {said}")
    return left, right


def _least(array: Array) -> Array:
    return np.where(np.isfinite(array), np.minimum(array, _LARGEST), 0.0)


def _tie(claim: Claim, errors: Callable[[int], tuple[Array, Array]], drawn: int) -> tuple[Array, Array]:
    """The rounding error of either side, per check, in the mean over the first replicates."""
    found = errors(drawn)
    if claim.metric.over is Over.MEAN_OF_ROUNDS:
        left, right = (each[:, 0].mean(axis=0, keepdims=True) for each in found)
    else:
        left, right = (each.mean(axis=0) for each in found)
    return left, right


def _errors(
    claim: Claim,
    vocabulary: Vocabulary,
    values: Mapping[str, float],
    runs: Replicates,
    given: Collection[str],
    bounded: bool,
    drawn: int,
) -> tuple[Array, Array]:
    """The rounding error of either side in each of the first replicates, (replicates, checks)."""
    records = {name: array[:drawn] for name, array in runs.records.items()}
    if bounded:
        records = {name: _least(array) for name, array in records.items()}
    errors = runs.errors(records, vocabulary)
    found = []
    for expr in (claim.metric.expr, claim.bound):
        side = sides.enclosed(expr, vocabulary, values, records, errors, given)
        if claim.metric.over is Over.MEAN_OF_ROUNDS:
            found.append(side.mean().error[:, None])
        else:
            found.append(side.error[:, sides.first_round(claim, side.error.shape[1]) :])
    return found[0], found[1]


def _by_check(
    claim: Claim, expr: sp.Expr, vocabulary: Vocabulary, values: Mapping[str, float], records: Records
) -> Array:
    """An expression (replicates, checks) where the claim is about it: in rounds, or in their mean."""
    array = sides.evaluate(expr, vocabulary, values, records)
    if claim.metric.over is Over.MEAN_OF_ROUNDS:
        return np.asarray(array.mean(axis=1, keepdims=True))
    return array[:, sides.first_round(claim, array.shape[1]) :]


def _compared(
    claim: Claim,
    vocabulary: Vocabulary,
    values: Mapping[str, float],
    records: Records,
    decision: SequentialDecision,
    tie: Tie,
) -> Comparison:
    """A claim's two sides where there is the least slack, over the replicates that decided it."""
    mine = {name: array[: decision.replicates] for name, array in records.items()}
    parts = {
        label: float(_by_check(claim, term, vocabulary, values, mine)[:, decision.worst].mean())
        for label, term in claim.terms.items()
    }
    rounds = next(iter(records.values())).shape[1]
    place = None if claim.metric.over is Over.MEAN_OF_ROUNDS else sides.first_round(claim, rounds) + decision.worst
    left_error, right_error = (float(error[decision.worst]) for error in tie(decision.replicates))
    missing = "" if math.isfinite(decision.left - decision.right) else "the bound overflows float64"
    return Comparison(
        claim.name, place, decision.left, decision.right, decision.error, parts,
        left_error=left_error, right_error=right_error, missing=missing,
    )  # fmt: skip
