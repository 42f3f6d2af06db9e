"""The four participation patterns in small: every run of clients with its probability, or one run drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from bounds.ledger.draw import Draw, subsets
from bounds.ledger.participation import ParticipationMatrix

Law = list[tuple[Fraction, ParticipationMatrix]]


def from_sets(clients: int, rounds: Sequence[Sequence[int]]) -> ParticipationMatrix:
    """The matrix in which those clients take part."""
    return ParticipationMatrix(tuple(tuple(i in present for i in range(clients)) for present in rounds))


def uniform(clients: int, sampled: int, rounds: int) -> Law:
    """Case 1: uniformly sampled subsets."""
    runs = list(itertools.product(subsets(clients, sampled), repeat=rounds))
    return [(Fraction(1, len(runs)), from_sets(clients, run)) for run in runs]


def independent(probabilities: Sequence[Fraction], rounds: int) -> Law:
    """Case 2: each client by itself in each round, with a probability of its own."""
    law: Law = []
    for row in itertools.product((False, True), repeat=len(probabilities) * rounds):
        weight = Fraction(1)
        for position, there in enumerate(row):
            p = probabilities[position % len(probabilities)]
            weight *= p if there else 1 - p
        n = len(probabilities)
        if weight:
            law.append((weight, ParticipationMatrix(tuple(row[t * n : (t + 1) * n] for t in range(rounds)))))
    return law


def cyclic(clients: int, block: int, rounds: int) -> ParticipationMatrix:
    """Blocks of consecutive clients in a fixed order, which wraps around."""
    return from_sets(clients, [[(t * block + j) % clients for j in range(block)] for t in range(rounds)])


def _epochs(
    orders: Sequence[Sequence[int]], block: int, rounds: int, *, whole_blocks: bool
) -> tuple[tuple[int, ...], ...]:
    """Rounds from orders of the clients, one for each epoch; a last block that is not whole is left out, or wraps."""
    found: list[tuple[int, ...]] = []
    for order in orders:
        count = len(order) // block if whole_blocks else math.ceil(Fraction(len(order), block))
        found += [tuple(order[(b * block + j) % len(order)] for j in range(block)) for b in range(count)]
    return tuple(found[:rounds])


def _number(clients: int, block: int, rounds: int, *, whole_blocks: bool) -> int:
    length = clients // block if whole_blocks else math.ceil(Fraction(clients, block))
    return math.ceil(Fraction(rounds, length))


def reshuffled(draw: Draw, clients: int, block: int, rounds: int, *, whole_blocks: bool) -> ParticipationMatrix:
    """One run with a new order in every epoch of floor(N/S) rounds (``whole_blocks``) or ceil(N/S) rounds."""
    epochs = _number(clients, block, rounds, whole_blocks=whole_blocks)
    orders = [_order(draw, clients) for _ in range(epochs)]
    return from_sets(clients, _epochs(orders, block, rounds, whole_blocks=whole_blocks))


def _order(draw: Draw, clients: int) -> list[int]:
    left, order = list(range(clients)), []
    while left:
        order.append(left.pop(draw.whole(0, len(left) - 1)))
    return order


def every_reshuffling(clients: int, block: int, rounds: int) -> Law:
    """All runs with epochs of ceil(N/S) rounds."""
    epochs = _number(clients, block, rounds, whole_blocks=False)
    runs = list(itertools.product(itertools.permutations(range(clients)), repeat=epochs))
    weight = Fraction(1, len(runs))
    return [(weight, from_sets(clients, _epochs(run, block, rounds, whole_blocks=False))) for run in runs]


def expected_delay(law: Law) -> Fraction:
    """E tau_max."""
    return sum((weight * who.tau_max for weight, who in law), Fraction(0))


def tail(law: Law, length: int) -> Fraction:
    """P(tau_max >= length)."""
    return sum((weight for weight, who in law if who.tau_max >= length), Fraction(0))


def gaps(who: ParticipationMatrix) -> Iterator[int]:
    """The rounds between two consecutive selections of a client."""
    for i in range(who.N):
        chosen = [t for t in range(who.T) if who.matrix[t][i]]
        yield from (later - earlier for earlier, later in itertools.pairwise(chosen))
