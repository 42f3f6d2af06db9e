"""Both sides of a claim entry by entry: rounds, participants of rounds, pairs of points, or the run as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bounds.statement import Claim, Over, number
from bounds.symbols import Vocabulary
from ratecheck.aliases import Array
from ratecheck.engines.expected_records import Place
from ratecheck.statistics.binomial import quantile, quantile_bounds
from ratecheck.statistics.confidence import radius
from ratecheck.statistics.exponent_fit import LEVEL
from ratecheck.verification import claim_sides as sides

Records = Mapping[str, Array]

# Entries that a curve shows, at most.
_SHOWN = 400
ROUND, PAIR, RUN = "round", "pair", "run"


@dataclass(frozen=True)
class Entries:
    """Both sides of a claim, (entries,), or (replicates, entries) where they were sampled.

    ``rounding`` is what the left side may be off by, zero where that is not known. ``places`` names round and client of
    each entry; None where entries are rounds 0, 1, .... ``chance`` is that of the quantiles which a claim in
    probability bounds; None for means.
    """

    left: Array
    right: Array
    rounding: Array
    places: Sequence[Place] | None = None
    chance: float | None = None


@dataclass(frozen=True)
class Course:
    """Both sides of a claim along ``x``, with the half widths of their bands (zero where they are exact).

    The left side is NaN where it is no more than its ``rounding``.

    ``along`` says what x is: the round, of which the entry with the least slack is taken (``crowd`` is the largest
    number of entries of a round); pairs of points, in the order of the right side; or participations, each with one
    number for the whole run.
    """

    claim: str
    along: str
    crowd: int
    x: Array
    left: Array
    left_error: Array
    right: Array
    right_error: Array
    rounding: Array


Observe = Callable[[Mapping[str, Entries]], None]


def entries(
    claim: Claim,
    vocabulary: Vocabulary,
    values: Mapping[str, float],
    records: Records,
    errors: Records,
    places: Sequence[Place] | None = None,
) -> Entries:
    """Both sides of a claim from records by symbol; ``errors`` are those of the records, as far as they are known."""
    left, right = (sides.evaluate(expr, vocabulary, values, records) for expr in (claim.metric.expr, claim.bound))
    rounding = np.zeros_like(left)
    for symbol, weight in claim.metric.weights.items():
        if symbol.name in errors:
            share = sides.evaluate(weight, vocabulary, values, records)
            rounding = rounding + np.abs(share) * errors[symbol.name]
    return Entries(
        left, right, rounding, places, None if claim.probability is None else number(claim.probability, values)
    )


def courses(claim: Claim, seen: Sequence[Entries]) -> tuple[Course, ...]:
    """The curves of a claim in a figure; ``seen`` has one item per participation that was drawn."""
    if all(len(each.left.T) == 1 for each in seen):
        left, right = (np.array([*map(float, each)]) for each in zip(*map(_single, seen), strict=True))
        off = np.array([float(np.mean(each.rounding)) for each in seen])
        x, none = np.arange(1.0, len(seen) + 1), np.zeros(len(seen))
        return (Course(claim.name, RUN, 1, x, _cut(left, off), none, right, none, off),)
    return tuple(_course(claim, each) for each in seen)


def _single(each: Entries) -> tuple[float, float]:
    """Both sides of a run's only entry: means, or the quantile of the left one."""
    left = float(np.mean(each.left)) if each.chance is None else float(quantile(each.left.ravel(), each.chance))
    return left, float(np.mean(each.right))


def _course(claim: Claim, found: Entries) -> Course:
    pairs = claim.metric.over is Over.NO_RUN
    left, left_error = _mean(found.left) if found.chance is None else _quantile(found.left, found.chance)
    right, right_error = _mean(found.right)
    off = np.broadcast_to(found.rounding, found.left.shape)
    off = off if off.ndim == 1 else off.mean(axis=0)
    first = claim.metric.over.first(len(left))
    if pairs:
        order = np.argsort(right, kind="stable")
        x, crowd = np.arange(1.0, len(left) + 1), 1
    elif found.places is None:
        order, crowd = np.arange(first, len(left)), 1
        x = order.astype(float)
    else:
        order, x, crowd = _least_slack(left - right, found.places)
    kept = _thinned(order, (left - right)[order])
    order, x = order[kept], x[kept]
    shown = [each[order] for each in (_cut(left, off), left_error, right, right_error, off)]
    return Course(claim.name, PAIR if pairs else ROUND, crowd, x, *shown)


def _cut(side: Array, off: Array) -> Array:
    """The side without what is nothing but rounding."""
    return np.where((off > 0) & (np.abs(side) <= off), np.nan, side)


def _mean(side: Array) -> tuple[Array, Array]:
    """The mean over replicates, and the half width of its band."""
    if side.ndim == 1:
        return side, np.zeros_like(side)
    if len(side) == 1:
        return side[0], np.zeros_like(side[0])
    return side.mean(axis=0), radius(side, LEVEL / 2)


def _quantile(side: Array, chance: float) -> tuple[Array, Array]:
    """The quantile over replicates, and the half width of its band, infinite where there are too few."""
    if side.ndim == 1 or len(side) == 1:
        return side.reshape(-1, side.shape[-1])[0], np.zeros(side.shape[-1])
    middle = quantile(side, chance)
    low, high = quantile_bounds(side, chance, LEVEL / 2)
    with np.errstate(invalid="ignore"):
        return middle, np.maximum(middle - low, high - middle)


def _least_slack(excess: Array, places: Sequence[Place]) -> tuple[NDArray[np.int64], Array, int]:
    """The entry of each round whose left side exceeds its right side most, the rounds, and the largest number."""
    rounds = np.array([-1 if t is None else t for t, _ in places])
    chosen, crowd = [], 1
    for t in np.unique(rounds):
        mine = np.flatnonzero(rounds == t)
        crowd = max(crowd, len(mine))
        chosen.append(int(mine[np.argmax(excess[mine])]))
    order = np.array(chosen, dtype=np.int64)
    return order, rounds[order].astype(float), crowd


def _thinned(order: NDArray[np.int64], excess: Array) -> NDArray[np.int64]:
    """Positions of at most so many entries as a curve shows, the one with the least slack among them."""
    count = len(order)
    if count <= _SHOWN:
        return np.arange(count)
    grid = np.linspace(0, count - 1, _SHOWN).astype(np.int64)
    return np.unique(np.append(grid, int(np.argmax(excess))))
