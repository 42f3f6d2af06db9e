"""What the FedSUM ledger takes for granted when it counts rounds holds on every participation matrix of small sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
import sympy as sp

from bounds.ledger.participation import ParticipationMatrix, every
from bounds.ledger.step import Algebraic, Scalar
from bounds.papers.fedsum.proofs.shared import delays
from bounds.papers.fedsum.proofs.shared.windows import visits
from bounds.statement import Condition

Values = dict[str, Fraction | int]
ONE = sp.Integer(1)
SIZES = [(1, 1), (1, 5), (2, 3), (3, 2)]


def _rounds(p: ParticipationMatrix) -> Iterator[Values]:
    for t in range(p.T):
        for i in range(p.N):
            a = p.last(i, t)
            yield {"t": t, "a": a, "tau_t": p.delay(t), "there": int(p.matrix[t][i]), "a_before": p.before(i, t)}


def _seen(p: ParticipationMatrix) -> Iterator[Values]:
    """With the number of clients, and the largest number of them that were seen in a round of the window."""
    for values in _rounds(p):
        sizes = [len(p.seen(q)) for q in range(max(0, int(values["a"])), int(values["t"]))]
        yield {**values, "N": p.N, "A_p": max(sizes, default=0)}


def _oldest(p: ParticipationMatrix) -> Iterator[Values]:
    for values in _rounds(p):
        yield {**values, "first": min(p.last(j, int(values["t"])) for j in range(p.N))}


def _much_later(p: ParticipationMatrix) -> Iterator[Values]:
    for k in range(p.T - p.tau_max):
        for i in range(p.N):
            yield {"k": k, "a": p.last(i, k + p.tau_max), "tau_t": p.delay(k + p.tau_max)}


def _absences(p: ParticipationMatrix) -> Iterator[Values]:
    for i in range(p.N):
        for start in range(p.T):
            for t in range(start, p.T):
                if not any(p.matrix[r][i] for r in range(start, t + 1)):
                    known = {"there": 0, "a_before": p.before(i, t), "b": p.last(i, start - 1)}
                    yield {"t": t, "a": p.last(i, t), "start": start, **known}


def _after_a_visit(p: ParticipationMatrix) -> Iterator[Values]:
    for i, t, a, _ in visits(p):
        if a < t:
            yield {"t": a + 1, "a": p.last(i, a + 1), "there": 0, "a_before": p.last(i, a), "b": a}


def _visited(p: ParticipationMatrix) -> Iterator[Values]:
    for values in _rounds(p):
        if values["there"]:
            yield {**values, "k": max(0, int(values["t"]) - 1), "k*": values["t"], "a_k*": values["a"]}


def _in_windows(first: Callable[[ParticipationMatrix, Values], int], *, closed: str = "") -> Callable[..., Iterator]:
    """Every p of a window that ends with t - 1, or with the value that is named."""

    def found(p: ParticipationMatrix) -> Iterator[Values]:
        for values in _rounds(p):
            last = int(values[closed]) if closed else int(values["t"]) - 1
            yield from ({**values, "p": q} for q in range(first(p, values), last + 1))

    return found


def _containing(p: ParticipationMatrix) -> Iterator[Values]:
    for q in range(p.T):
        found = [t for t in range(q + 1, p.T) if t - p.delay(t) <= q]
        last = max(found, default=q)
        weighted = sum(map(p.delay, found))
        yield {"p": q, "count": len(found), "last": last, "tau_t": p.delay(last), "weighted": weighted}


def _of_one_client(p: ParticipationMatrix) -> Iterator[Values]:
    for i in range(p.N):
        for q in range(p.T):
            found = [t for t in range(q + 1, p.T) if p.last(i, t) <= q]
            weighted = sum(t - p.last(i, t) for t in found)
            yield {"p": q, "count": len(found), "last": max(found, default=q), "weighted": weighted}


def _not_yet(p: ParticipationMatrix) -> Iterator[Values]:
    for i in range(p.N):
        found = [t for t in range(p.T) if p.last(i, t) < 0]
        yield {"count": len(found), "last": max(found, default=-1)}


def _visits_of_windows(p: ParticipationMatrix) -> Iterator[Values]:
    for t in range(p.T):
        many = sum(len(p.seen(q)) for i in range(p.N) for q in range(p.last(i, t), t))
        yield {"visits": many, "tau_t": p.delay(t), "N": p.N}


def _pairs(p: ParticipationMatrix) -> Iterator[Values]:
    yield from ({"a": a, "b": b} for _, _, a, b in visits(p))


def _between(p: ParticipationMatrix, weight: Callable[[int, int], Fraction]) -> Iterator[Values]:
    """For a client and a round q: the rounds t with b <= q < a, which all have the same a and b."""
    for i in range(p.N):
        for q in range(-1, p.T):
            found = [(t, a, b) for j, t, a, b in visits(p) if j == i and b <= q < a]
            if found:
                ((a, b),) = {(a, b) for _, a, b in found}
                known = {"count": len(found), "last": max(found)[0], "weighted": sum(weight(x, y) for _, x, y in found)}
                yield {"p": q, "a": a, "b": b, "N": p.N, **known}


def _next(p: ParticipationMatrix) -> Iterator[Values]:
    for i in range(p.N):
        for r in range(p.T):
            found = [(t, a) for j, t, a, b in visits(p) if j == i and b == r]
            own = sum(a == r for j, _, a, _ in visits(p) if j == i)
            if found:
                ((a),) = {a for _, a in found}
                yield {"a": a, "count": len(found), "last": max(found)[0], "own": own}


def _counts(p: ParticipationMatrix) -> Iterator[Values]:
    total = sum(p.delay(t) for t in range(p.T))
    yield {"T": p.T, "tau_avg": p.tau_avg, "sum of tau_t": total}


def _clients(p: ParticipationMatrix) -> Iterator[Values]:
    yield from ({"N": p.N, "A_t": len(p.seen(t)), "A_p": len(p.seen(t))} for t in range(p.T))


def _end(p: ParticipationMatrix) -> Iterator[Values]:
    yield from ({"T": p.T, "a": p.last(i, p.T), "tau_max": p.tau_max_T} for i in range(p.N))


def _to_T(values: Callable[[ParticipationMatrix], Iterator[Values]]) -> Callable[..., Iterator[Values]]:
    """With tau_max of Section 2.2."""
    return lambda p: ({**each, "T": p.T, "tau_max": p.tau_max_T} for each in values(p))


LINES: dict[str, tuple[Callable[[], Algebraic], Callable[[ParticipationMatrix], Iterator[Values]]]] = {
    "nonnegative": (delays.nonnegative, _rounds),
    "somebody_is_away": (delays.somebody_is_away, _end),
    "mean_delay": (delays.mean_delay, _counts),
    "recent": (delays.recent, _much_later),
    "largest": (delays.largest, _rounds),
    "by_client": (delays.by_client, _oldest),
    "unchanged": (delays.unchanged, _absences),
    "too_long": (delays.too_long, _absences),
    "monotone": (delays.monotone, _rounds),
    "later": (delays.later, _visited),
    "still_last": (delays.still_last, _after_a_visit),
    "recent_enough": (delays.recent_enough, _rounds),
    "window_begins": (delays.window_begins, _rounds),
    "wider_window": (delays.wider_window, _in_windows(lambda _, v: int(v["t"] - v["tau_t"]))),
    "swapped_window": (delays.swapped_window, _in_windows(lambda p, v: max(0, int(v["t"]) - p.tau_max))),
    "window_bound": (delays.window_bound, _containing),
    "weighted_windows": (delays.weighted_windows, _containing),
    "clients_of_rounds": (delays.clients_of_rounds, _seen),
    "all_delays": (delays.all_delays, _seen),
    "clients_windows": (delays.clients_windows, _in_windows(lambda _, v: int(v["a"]))),
    "absent": (delays.absent, _not_yet),
    "delayed_noise": (lambda: delays.delayed_noise(largest=False), _visits_of_windows),
    "delayed_gradients": (delays.delayed_gradients, _of_one_client),
    "gap": (lambda: delays.gap(ONE), _pairs),
    "squared_gaps": (lambda: delays.squared_gaps(ONE), _pairs),
    "gap_windows": (delays.gap_windows, lambda p: _between(p, lambda a, b: Fraction(a - b))),
    "within_twice": (
        delays.within_twice,
        _to_T(_in_windows(lambda p, v: int(v["a"]) - p.tau_max_T, closed="a")),
    ),
    "clients_at_most": (delays.clients_at_most, _clients),
    "swapped_twice": (
        delays.swapped_twice,
        _to_T(_in_windows(lambda p, v: int(v["t"]) - 2 * p.tau_max_T, closed="t")),
    ),
    "older_drifts": (lambda: delays.older_drifts(ONE), _next),
    "first_visits": (delays.first_visits, lambda p: (v for v in _between(p, _one) if v["p"] == v["b"] == -1)),
    "old_rounds": (lambda: delays.old_rounds(ONE), lambda p: (v for v in _between(p, _one) if v["p"] == v["a"] - 1)),
    "averages": (lambda: delays.averages(ONE), lambda p: _between(p, lambda a, b: Fraction(1, a - b))),
}
WITHOUT = {"counted", "length", "length_twice", "not_seen"}


def _one(*_: int) -> Fraction:
    return Fraction(1)


def _true(condition: Condition | Scalar, values: Values) -> bool:
    put = {
        s: sp.Rational(Fraction(values[s.name]).numerator, Fraction(values[s.name]).denominator)
        for s in (condition.left - condition.right).free_symbols
    }
    gap = (condition.right - condition.left).xreplace(put)
    return bool({"<=": gap >= 0, ">=": gap <= 0, "==": gap == 0, ">": gap < 0}[condition.operator])


@pytest.mark.every(2)
@pytest.mark.parametrize("name", LINES)
def test_what_is_known_of_rounds_holds_on_every_matrix(name: str) -> None:
    """Every hypothesis, and the claim itself, with the numbers of the matrix put in."""
    form, values = LINES[name]
    claim = form()
    assert isinstance(claim, Scalar)
    weights = {f"weight_{number}": Fraction(1, number) for number in (1, 2, 3)}
    seen = 0
    for clients, rounds in SIZES:
        for p in every(clients, rounds):
            for own in values(p):
                numbers = {"tau_max": p.tau_max, "delays of other rounds": p.tau_max, **weights, **own}
                for known in (*claim.hypotheses, claim):
                    assert _true(known, numbers), (p.matrix, own, known)
                seen += 1
    assert seen > 20


def test_every_line_that_counts_is_among_them() -> None:
    """Nothing is taken for granted that is not tried; lines without hypotheses need no trial."""
    public = {
        name
        for name, each in vars(delays).items()
        if inspect.isfunction(each) and each.__module__ == delays.__name__ and not name.startswith("_")
    }
    assert public == set(LINES) | WITHOUT


def test_a_hypothesis_that_is_false_is_seen() -> None:
    """A client that comes every second round: a - a' <= tau_max fails, a - 1 - a' <= tau_max does not."""
    p = ParticipationMatrix(((True,), (False,), (True,)))
    numbers = next(v for v in _pairs(p) if v["b"] == 0)
    a, b, tau = delays.a, delays.b, delays.tau
    assert _true(delays.GAP, {**numbers, "tau_max": p.tau_max})
    assert not _true(Condition(name="", left=a - b, operator="<=", right=tau), {**numbers, "tau_max": p.tau_max})
