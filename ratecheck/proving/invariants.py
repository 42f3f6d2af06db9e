"""Linear relations between the states that a method keeps, such as c = mean of the c_i."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from ratecheck.proving.forms import VectorFamily, total
from ratecheck.proving.question import Question, VectorState

Row = dict[Hashable, Fraction]


@dataclass(frozen=True)
class Invariant:
    """What a method keeps: sum_s server_s v_s + sum_c client_c mean_i v_c,i = 0 before every round."""

    block: str
    server: tuple[Fraction, ...]
    client: tuple[Fraction, ...]


def invariants(q: Question, played: Callable[..., Any], started: Callable[[Question], Any]) -> tuple[Invariant, ...]:
    """The invariants of a method: linear, 0 at the start, and kept by a round whatever the gradients are.

    ``played`` and ``started`` make a round and the start. Methods whose coefficients vary have none.
    """
    found = q.known.get("invariants")
    if found is None:
        none = q.shared not in q.blocks or q.algorithm.varying
        found = q.known["invariants"] = () if none else tuple(_invariants(q, q.shared, played, started))
    return cast("tuple[Invariant, ...]", found)


def _invariants(
    q: Question, b: str, played: Callable[..., Any], started: Callable[[Question], Any]
) -> Iterator[Invariant]:
    start, first = started(q), played(q, 0, kept=(), apart=False)
    servers, clients = q.counts("server", b), q.counts("client", b)

    def variables(state: VectorState) -> list[VectorFamily]:
        return [*state.server[b][:servers], *(q.draw.mean_of(each) for each in state.client[b][:clients])]

    before = variables(first.raw_state)
    afters = [[_row(each) for each in variables(outcome.raw)] for outcome in first.outcomes]
    numbers = [next(iter(each.mean)) for each in before]
    units = [[Fraction(int(i == j)) for j in range(len(before))] for i in range(len(before))]
    at_start: list[Row] = [_row(each) for each in variables(start.raw)]
    if not q.minimiser:
        # The round is seen from the recorded point, where only relations between differences of points can be read off.
        server_shift, client_shift = (side[b] for side in q.shift)
        shifts = [*server_shift[:servers], *client_shift[:clients]]
        at_start = [{**row, ("shift", b): shift} for row, shift in zip(at_start, shifts, strict=True)]
    space = _annihilating(units, at_start)
    while space:
        # A round has to lead the space into itself, however its coin falls: what is left of its images modulo the space
        # has to vanish.
        left: list[Row] = []
        for row in space:
            left.append({})
            for side, after in enumerate(afters):
                image = _combination(row, after)
                vector = [image.pop(("mean", number), Fraction(0)) for number in numbers]
                image |= {("left", j): v for j, v in enumerate(_reduced(vector, space)) if v}
                left[-1] |= {(side, key): v for key, v in image.items()}
        smaller = _annihilating(space, left)
        if len(smaller) == len(space):
            break
        space = smaller
    for row in space:
        yield Invariant(b, tuple(row[:servers]), tuple(row[servers:]))


def _row(family: VectorFamily) -> Row:
    parts = {"mean": family.mean, "sampled": family.sampled}
    return {(part, number): value for part, row in parts.items() for number, value in row.items()}


def _combination(coefficients: Sequence[Fraction], rows: Sequence[Row]) -> Row:
    found: Row = {}
    for c, row in zip(coefficients, rows, strict=True):
        for key, value in row.items():
            found[key] = found.get(key, Fraction(0)) + c * value
    return {key: value for key, value in found.items() if value}


def _annihilating(space: list[list[Fraction]], images: Sequence[Row]) -> list[list[Fraction]]:
    """The combinations of the rows of ``space`` whose image is 0; ``images`` are those of the rows."""
    work = [(dict(image), list(basis)) for image, basis in zip(images, space, strict=True)]
    for key in sorted({key for image in images for key in image}, key=str):
        pivot = next((each for each in work if each[0].get(key)), None)
        if pivot is None:
            continue
        work.remove(pivot)
        for at, (image, basis) in enumerate(work):
            if factor := image.get(key, Fraction(0)) / pivot[0][key]:
                work[at] = (
                    _combination([Fraction(1), -factor], [image, pivot[0]]),
                    [a - factor * p for a, p in zip(basis, pivot[1], strict=True)],
                )
    return [basis for _, basis in work]


def _reduced(vector: list[Fraction], space: list[list[Fraction]]) -> list[Fraction]:
    """A vector minus its part in the span of the rows, 0 where it lies in it."""
    rows = [list(row) for row in space]
    for column in range(len(vector)):
        pivot = next((row for row in rows if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        *rows, vector = (
            [a - row[column] / pivot[column] * p for a, p in zip(row, pivot, strict=True)] for row in [*rows, vector]
        )
    return vector


def kept_by(
    kept: Sequence[Invariant],
    state: VectorState,
    mean_of: Callable[[VectorFamily], VectorFamily],
    fixed: Collection[tuple[str, str, int]] = (),
) -> VectorState:
    """The state with a variable given by the others, for each invariant.

    That is the server's last one or, without any, the mean of the clients' last one. ``fixed`` are variables, by group,
    block and slot, that are given already.
    """
    server = {b: list(vectors) for b, vectors in state.server.items()}
    client = {b: list(vectors) for b, vectors in state.client.items()}
    for each in kept:
        b = each.block
        terms = [("server", k, c) for k, c in enumerate(each.server) if c]
        terms += [("client", k, c) for k, c in enumerate(each.client) if c]
        open_terms = [term for term in terms if (term[0], b, term[1]) not in fixed]
        open_terms = [term for term in open_terms if term[0] == "server"] or [
            term for term in open_terms if client[b][term[1]].other is None and client[b][term[1]].joined is None
        ]
        if not open_terms:
            continue
        group, slot, factor = open_terms[-1]
        values = {"server": server[b], "client": [mean_of(vector) for vector in client[b]]}
        found = total(b, [(-c / factor, values[g][k]) for g, k, c in terms if (g, k) != (group, slot)])
        if group == "server":
            server[b][slot] = found
        else:
            client[b][slot] = replace(client[b][slot], mean=found.mean)
    return VectorState(server, client)
