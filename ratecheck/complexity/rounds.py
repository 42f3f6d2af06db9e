"""The number of rounds that a bound needs: to be at most eps, and to say more than smoothness alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bounds.statement import Over, Statement, says_more
from ratecheck.algebra.one_dimensional import smallest_integer
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.cost import cost
from ratecheck.complexity import tuned_bound as curve
from ratecheck.errors import InputError
from ratecheck.stepsizes.feasible_set import Memory

# Whole numbers beyond this have no float of their own.
LARGEST = 2**53
NO_VALUE = "the bound has no finite value: a division by zero, or numbers beyond the range of floats on the way"
# Rounds between which the answer is searched grow by this factor: a bound that dips below eps for a shorter stretch and
# rises again is not followed.
_STRIDE = 1.3
# A bound that loses less than this part of itself over the last 10 binary orders does not fall to zero.
_FLAT = 0.01


@dataclass(frozen=True)
class RunCost:
    """The cost of a run of T rounds.

    ``received`` and ``sent`` are vectors per block of coordinates, over all participants and rounds where the number of
    participants is known (``participants``), else of one client that takes part in every round. ``calls`` are calls of
    the oracle (None where the number of local steps is unknown), ``oracle`` what is called. ``sent_share`` is the share
    of their coordinates that is sent, on average: 1 unless the method compresses, None where its q is unknown.
    """

    participants: float | None
    received: Mapping[str, float]
    sent: Mapping[str, float]
    calls: float | None
    oracle: str
    sent_share: float | None = 1.0


@dataclass(frozen=True)
class Horizon:
    """The answer of ``rounds``.

    ``rounds`` is the smallest T with bound <= eps (None where there is none up to 2^53; ``why`` says what is known),
    ``point`` the bound there and ``budget`` what so many rounds cost (None without an algorithm). ``vacuous_until`` is
    the smallest T from which the bound is below what smoothness alone gives, None where there is none or nothing is
    known, as ``trivial`` says. ``given`` are the numbers that were given, with that T. ``counter`` is the symbol of T;
    of a bound on x^t it is t, which so many rounds come before.
    """

    statement: Statement
    eps: float | None
    rounds: int | None
    point: curve.CurvePoint | None
    budget: RunCost | None
    vacuous_until: int | None
    trivial: float | None
    why: str
    given: Mapping[str, float] = field(default_factory=dict)
    counter: str = "T"


def horizon(statement: Statement, given: Mapping[str, float], eps: float | None, *, best: bool = False) -> Horizon:
    """The rounds after which the bound is at most ``eps`` and those after which it is not vacuous.

    T enters step-size rules and conditions as well as the bound; ``best`` is that of `curve.at`. A bound on x^t that
    does not depend on T is solved for t; where it depends on both, x^t is that of the last round, T-1. Raises
    `InputError` for a statement whose bound does not depend on the number of rounds, is about no run or has no value,
    for given and for fixed rounds, and for an eps that is not positive.
    """
    counter, t = _counter(statement, given), curve.round_symbol(statement)
    if eps is not None and not 0 < eps < math.inf:
        raise InputError(f'eps={eps:g} breaks "0 < eps < inf": it is what the bound has to reach')

    memory: Memory = {}

    def values(rounds: int) -> dict[str, float]:
        last = {} if t is None or t == counter else {t: rounds - 1.0}
        return {**given, counter: float(rounds), **last}

    def bound(rounds: int) -> curve.CurvePoint:
        return curve.at(statement, values(rounds), best=best, memory=memory)

    points = _Memory(bound)
    # Before round 0 of a run nothing has happened; where it is left out there is no bound on it.
    least = int(counter != t or statement.claims[0].metric.over is not Over.EVERY_ROUND)
    trivial = points(LARGEST).trivial
    until = None if trivial is None else _first(lambda k: _below(points(k), points(k).trivial), least)
    if eps is None:
        return Horizon(statement, None, None, None, None, until, trivial, "", counter=counter)
    rounds = _first(lambda k: _reached(points(k), eps), least)
    if rounds is None:
        return Horizon(statement, eps, None, None, None, until, trivial, _why(points, eps), counter=counter)
    cost_of_it = budget(statement, given, rounds)
    return Horizon(statement, eps, rounds, points(rounds), cost_of_it, until, trivial, "", values(rounds), counter)


def _counter(statement: Statement, given: Mapping[str, float]) -> str:
    """The unknown: T, or t of a bound on x^t without T; raises `InputError` where nothing is."""
    T, t = statement.vocabulary.run.get("rounds"), curve.round_symbol(statement)
    counter = T if T in statement.parameters else t
    if counter is None:
        raise InputError(f"{statement.key} does not depend on the number of rounds")
    if statement.claims[0].metric.over is Over.NO_RUN:
        raise InputError(f"{statement.key} bounds no quantity of a run: it has no number of rounds to solve for")
    if (fixed := statement.settings.get(counter)) is not None:
        raise InputError(f"{statement.key} fixes the number of rounds, {T} = {fixed}: ask for the bound instead")
    curve.check_right_side(statement)
    for name in (counter, t):
        if name is not None and name in given:
            raise InputError(f"{name}={given[name]:g}: the number of rounds is the unknown; leave it out")
    return counter


class _Memory:
    """Points by rounds, each computed once."""

    def __init__(self, bound: Callable[[int], curve.CurvePoint]) -> None:
        self._bound = bound
        self._known: dict[int, curve.CurvePoint] = {}

    def __call__(self, rounds: int) -> curve.CurvePoint:
        if rounds not in self._known:
            self._known[rounds] = self._bound(rounds)
        return self._known[rounds]

    @property
    def least(self) -> float:
        """The smallest bound among the points so far."""
        return min(point.value for point in self._known.values() if point.value is not None)


def _reached(point: curve.CurvePoint, eps: float) -> bool:
    return point.value is not None and point.value <= eps


def _below(point: curve.CurvePoint, trivial: float | None) -> bool:
    return point.value is not None and trivial is not None and says_more(point.value, trivial)


def _first(holds: Callable[[int], bool], least: int) -> int | None:
    return least if holds(least) else smallest_integer(holds, LARGEST, _STRIDE)


def _why(points: _Memory, eps: float) -> str:
    """The reason why the bound does not reach eps."""
    last, before = points(LARGEST), points(LARGEST >> 10)
    if last.value is None:
        return "the conditions cannot be met: " + "; ".join(last.broken)
    if not math.isfinite(last.value):
        return NO_VALUE
    if before.value is not None and last.value >= (1 - _FLAT) * before.value:
        return f"the bound does not fall below about {points.least:.4g}, however many the rounds"
    return f"more than 2^53 rounds: there the bound is {last.value:.4g}, above {eps:.4g}"


def budget(statement: Statement, given: Mapping[str, float], rounds: int) -> RunCost | None:
    """The cost of ``rounds`` rounds of the statement's algorithm; None for a statement about no algorithm."""
    if statement.algorithm is None or statement.algorithm not in METHODS:
        return None
    names = statement.vocabulary.run
    values, _ = statement.complete({**given, names["rounds"]: float(max(rounds, 1))})

    def known(role: str) -> float | None:
        return values.get(names.get(role, ""))

    participants, clients = known("participants"), known("clients")
    fixed = METHODS[statement.algorithm].fixed.get("K")
    steps = fixed if fixed is not None else known("local_steps")
    per_round = cost(statement.algorithm)
    all_rounds = rounds * (1.0 if participants is None else participants)
    calls: float | None = all_rounds if per_round.oracle == "prox" else None
    if per_round.oracle != "prox" and steps is not None and per_round.per_step is not None:
        first = 0.0 if not per_round.at_start else (1.0 if participants is None else clients or 0.0)
        calls = (all_rounds * per_round.per_step + first) * steps
    return RunCost(
        participants=participants,
        received={block: count * all_rounds for block, count in per_round.received.items()},
        sent={block: count * all_rounds for block, count in per_round.sent.items()},
        calls=calls,
        oracle=per_round.oracle,
        sent_share=values.get("q") if per_round.compressed else 1.0,
    )
