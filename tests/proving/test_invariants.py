"""What a method keeps, as a proof uses it: it holds along runs, and nothing else is used."""

from fractions import Fraction

import pytest

import bounds
from bounds.sentences import words
from ratecheck.proving.invariants import invariants
from ratecheck.proving.prove import completed, prove
from ratecheck.proving.question import Question
from ratecheck.proving.rounds import PlayedRound, RunStart

_SLOPES = (Fraction(1), Fraction(1, 2), Fraction(2, 3))


def _states(q: Question, rounds: int) -> list[tuple[list[Fraction], list[list[Fraction]]]]:
    """The server's and the clients' variables before each round, of f_i = a_i/2 (x - i)^2 with everybody there.

    Mixing replaces clients' variables by their mean, compression sends half of a message.
    """
    b, n = q.shared, 3
    start_client, start_server = (table[b] for table in q.start_tables)

    def of(table: object, inputs: list[Fraction]) -> list[Fraction]:
        return [sum((c * x for c, x in zip(row, inputs, strict=True)), Fraction(0)) for row in table]  # type: ignore[attr-defined]

    def slope(i: int, x: Fraction) -> Fraction:
        return _SLOPES[i] * (x - i)

    def mean(rows: list[list[Fraction]]) -> list[Fraction]:
        return [sum(column) / n for column in zip(*rows, strict=True)]

    point = Fraction(7, 2)
    clients = [of(start_client, [point, slope(i, point)]) for i in range(n)]
    server = of(start_server, [point, *mean(clients)])
    found = [(server, clients)]
    for t in range(rounds):
        begin, step, finish, sent, aggregate, _ = (None if table is None else table[b] for table in q.tables(t))
        kept, messages = [], []
        for i in range(n):
            local = of(begin, [*server, *clients[i]])
            for _ in range(q.K):
                local = of(step, [*local, slope(i, local[0])])
            out = of(finish, [*server, *clients[i], *local])
            own, message = out[: q.slots("client")], out[q.slots("client") :]
            if sent is not None:
                message = [each / 2 for each in message]
                own = of(sent, [*own, *message])
            kept.append(own)
            messages.append(message)
        server = of(aggregate, [*server, *(n * each for each in mean(messages))])
        for k, name in enumerate(q.variables("client", b)):
            if name in q.algorithm.mixed:
                shared = mean(kept)[k]
                kept = [[shared if j == k else each for j, each in enumerate(row)] for row in kept]
        clients = kept
        found.append((server, clients))
    return found


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("classics/scaffold-values", 1),
        ("classics/diana-distances", 1),
        ("classics/ef21-gradients", 1),
        ("classics/ef-sgd-gradients", 0),
        ("classics/dsgd-gradients", 1),
        ("classics/gradient-tracking-gradients", 2),
        ("fedsum/theorem-d.1-repaired", 1),
        ("fedsum/theorem-c.1-repaired", 1),
        ("classics/heavy-ball-values", 0),
    ],
)
def test_invariants_hold_along_a_run(key: str, number: int) -> None:
    """Each relation that a proof uses holds before every round, and where nothing is kept none is used."""
    basic = words.basic(bounds.get(key)).written
    clients = "N" if "N" in basic.vocabulary else "n"
    given = {} if basic.settings.get("n") == 1 else {clients: 3.0}
    values, _ = completed(basic, given)
    q = Question(basic, values)
    kept = invariants(q, PlayedRound, RunStart)
    assert len(kept) == number
    if q.n == 1:
        return
    for server, states in _states(q, 3):
        means = [sum(column) / 3 for column in zip(*states, strict=True)]
        for each in kept:
            assert sum(c * x for c, x in zip(each.server, server, strict=False)) == -sum(
                c * x for c, x in zip(each.client, means, strict=False)
            )


@pytest.mark.parametrize("key", ["fedsum/theorem-d.1-repaired", "fedsum/theorem-c.1-repaired"])
def test_any_participation_is_proved_of_everybody(key: str) -> None:
    """FedSUM in the symbols of its paper, with everybody in every round, which is said; others are out of reach."""
    proof = prove(bounds.get(key), {"T": 100})
    assert proof.verdict == "PROVED"
    assert proof.factor is not None
    assert proof.factor > Fraction(1, 100)
    with pytest.raises(ValueError, match="tau_max=0"):
        prove(bounds.get(key), {"T": 100, "tau_max": 3})
