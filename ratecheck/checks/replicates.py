"""Claims judged by simulated replicates, which are drawn once for all claims and added until each is decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from bounds.statement import Claim, Over, Relation, Statement, compiled
from bounds.symbols import Domain, Role, Vocabulary
from ratecheck.checks import sides
from ratecheck.checks.confidence import shares
from ratecheck.checks.sequential import Decision, decide, of_every_run
from ratecheck.checks.verdict import Comparison
from ratecheck.engines import step

Array = NDArray[np.float64]
Records = Mapping[str, Array]


class Replicates:
    """Records of replicates by the paper's symbols, simulated when they are first asked for, ``most`` at most.

    ``simulate`` runs the replicates in a range, ``symbols`` turns records by their own names into records by symbol.
    """

    def __init__(
        self, simulate: Callable[[range], step.Run], symbols: Callable[[Records], dict[str, Array]], most: int
    ) -> None:
        self.simulate, self.symbols, self.most = simulate, symbols, most
        self._batches: dict[range, step.Run] = {}

    def __call__(self, wanted: range) -> dict[str, Array]:
        """Records of these replicates."""
        if wanted not in self._batches:
            self._batches[wanted] = self.simulate(wanted)
        return self.symbols(self._batches[wanted].records)

    @property
    def drawn(self) -> int:
        """How many there are."""
        return sum(len(batch) for batch in self._batches)

    @property
    def records(self) -> dict[str, Array]:
        """Everything that was drawn: batches follow one another, whichever claim asked for them."""
        runs = [run.records for run in self._batches.values()]
        return self.symbols({name: np.concatenate([records[name] for records in runs]) for name in runs[0]})

    @property
    def metric(self) -> Array:
        """What the method's theorems bound, (replicates, T)."""
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
) -> tuple[list[Decision], list[Comparison]]:
    """A decision and a comparison for every claim; see `decide`.

    ``share`` is the part of the level that VIOLATED may use; see `decide`. ``every_run`` are symbols of quantities that
    are bounded in each run rather than in the mean. ``normal``: what is recorded are quadratic functions of normal
    variables. ``ranges`` maps symbols to their largest values, where these are known.
    """
    vocabulary = statement.vocabulary
    parts = shares(share, [1.0] * len(statement.claims))
    decisions = []
    for claim, part in zip(statement.claims, parts, strict=True):
        draw = partial(_both, claim, vocabulary, values, runs)
        if sides.measured_in(claim.metric.expr, vocabulary) & every_run:
            decisions.append(of_every_run(draw, runs.most))
            continue
        decisions.append(
            decide(
                draw, level, runs.most, first=first, share=part, normal=normal and _affine(claim, vocabulary),
                nonnegative=nonnegative(claim, vocabulary, values), equal=claim.relation is Relation.EQUAL,
                largest=_largest(claim, vocabulary, values, ranges),
            )
        )  # fmt: skip
    records = runs.records
    pairs = zip(statement.claims, decisions, strict=True)
    return decisions, [_compared(claim, vocabulary, values, records, decision) for claim, decision in pairs]


def nonnegative(claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float]) -> bool:
    """Whether the left side can never be below 0 and the right side is not random."""
    if any(vocabulary[s.name].role is Role.MEASURED for s in claim.bound.free_symbols):
        return False
    weights = (
        float(compiled(w)(**{s.name: values[s.name] for s in w.free_symbols})) for w in claim.metric.weights.values()
    )
    domains = {vocabulary[symbol.name].domain for symbol in claim.metric.weights}
    return Domain.REAL not in domains and min(weights) >= 0


def _affine(claim: Claim, vocabulary: Vocabulary) -> bool:
    """Whether both sides are affine in what a run measures."""
    difference = sides.written_out(claim.metric.expr - claim.bound, vocabulary)
    measured = [s for s in difference.free_symbols if vocabulary[s.name].role is Role.MEASURED]
    rates = [sp.diff(difference, symbol) for symbol in measured]
    return not any(rate.free_symbols & {*measured} for rate in rates)


def _largest(claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], ranges: Mapping[str, Array]) -> float:
    """What a left side that is a sum with weights of at least 0 cannot exceed."""
    measured = sides.measured_in(claim.metric.expr, vocabulary)
    if not measured <= ranges.keys():
        return math.inf
    known = {name: ranges[name] for name in measured} or {"": np.zeros(1)}
    return float(sides.evaluate(claim.metric.expr, vocabulary, values, known)[0])


def _both(
    claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], runs: Replicates, wanted: range
) -> tuple[Array, Array]:
    """Both sides of a claim in the replicates wanted, by round or as means over the rounds."""
    records = runs(wanted)
    left, right = (_by_check(claim, expr, vocabulary, values, records) for expr in (claim.metric.expr, claim.bound))
    return left, right


def _by_check(
    claim: Claim, expr: sp.Expr, vocabulary: Vocabulary, values: Mapping[str, float], records: Records
) -> Array:
    """An expression (replicates, checks) where the claim is about it: in rounds, or in their mean."""
    array = sides.evaluate(expr, vocabulary, values, records)
    if claim.metric.over is Over.MEAN_OF_ROUNDS:
        return np.asarray(array.mean(axis=1, keepdims=True))
    return array[:, sides.first_round(claim, array.shape[1]) :]


def _compared(
    claim: Claim, vocabulary: Vocabulary, values: Mapping[str, float], records: Records, decision: Decision
) -> Comparison:
    """A claim's two sides where there is the least room, over the replicates that decided it."""
    mine = {name: array[: decision.replicates] for name, array in records.items()}
    parts = {
        label: float(_by_check(claim, term, vocabulary, values, mine)[:, decision.worst].mean())
        for label, term in claim.terms.items()
    }
    rounds = next(iter(records.values())).shape[1]
    place = None if claim.metric.over is Over.MEAN_OF_ROUNDS else sides.first_round(claim, rounds) + decision.worst
    return Comparison(claim.name, place, decision.left, decision.right, decision.error, parts)
