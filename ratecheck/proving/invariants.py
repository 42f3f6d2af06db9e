"""Linear relations between the states that a method keeps, such as c = mean of the c_i."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, cast

from ratecheck.proving.forms import Coefficients, VectorFamily, VectorState, combined, total
from ratecheck.proving.question import Question

Row = dict[Hashable, Fraction]
# What a client's vector is made of.
_OF_CLIENTS = ("mean", "own", "joined mean", "joined own")


@dataclass(frozen=True)
class Invariant:
    """What a method keeps: sum_s server_s v_s + sum_c client_c mean_i v_c,i = 0 before every round.

    Or ``each`` client: sum_c client_c v_c,i = 0 for all i.
    """

    block: str
    server: tuple[Fraction, ...]
    client: tuple[Fraction, ...]
    each: bool = False


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
    if q.own_points:
        own = partial(_row, parts=_OF_CLIENTS)
        for row in _kept(
            q, b, start, first, 0, lambda state: [own(each) for each in state.client[b][:clients]], _OF_CLIENTS
        ):
            yield Invariant(b, (Fraction(0),) * servers, tuple(row), each=True)

    def variables(state: VectorState) -> list[Row]:
        families = [*state.server[b][:servers], *(q.draw.mean_of(each) for each in state.client[b][:clients])]
        return [_row(each) for each in families]

    for row in _kept(q, b, start, first, servers, variables):
        yield Invariant(b, tuple(row[:servers]), tuple(row[servers:]))


def _kept(
    q: Question,
    b: str,
    start: Any,
    first: Any,
    servers: int,
    variables: Callable[[VectorState], list[Row]],
    parts: Sequence[str] = ("mean",),
) -> list[list[Fraction]]:
    """Coefficients of the sums of some variables, of which so many are the server's, that are 0 in every round.

    Of these sums, ``parts`` are known to be 0.
    """
    before, afters = variables(first.raw_state), [variables(outcome.raw) for outcome in first.outcomes]
    numbers = [next(number for part, number in cast("Any", row) if part == "mean") for row in before]
    units = [[Fraction(int(i == j)) for j in range(len(before))] for i in range(len(before))]
    at_start, origin = variables(start.raw), None
    if not q.minimiser:
        # The round is seen from an origin, where only relations between differences of points can be read off.
        server_shift, client_shift = (side[b] for side in q.shift)
        shifts = [*server_shift[:servers], *client_shift[: len(before) - servers]]
        at_start = [{**row, ("shift", b): shift} for row, shift in zip(at_start, shifts, strict=True)]
        origin = q.origin[b][1] if q.own_points and len(parts) == 1 else None
    space = _annihilating(units, at_start)
    while space:
        # A round has to lead the space into itself, however its coin falls: what is left of its images modulo the space
        # has to vanish.
        left: list[Row] = []
        for row in space:
            left.append({})
            for side, after in enumerate(afters):
                image = _combination(row, after)
                for part in parts:
                    vector = [image.pop((part, number), Fraction(0)) for number in numbers]
                    if origin is not None:
                        # A relation between differences of points has one more coefficient, on the origin.
                        vector[origin] = -sum((c * s for c, s in zip(vector, shifts, strict=True)), Fraction(0))
                    image |= {("left", part, j): v for j, v in enumerate(_reduced(vector, space)) if v}
                left[-1] |= {(side, key): v for key, v in image.items()}
        smaller = _annihilating(space, left)
        if len(smaller) == len(space):
            return space
        space = smaller
    return []


def _row(family: VectorFamily, parts: Sequence[str] = ("mean", "sampled")) -> Row:
    joined = family.joined or VectorFamily(family.block)
    known = {"mean": family.mean, "own": family.own, "sampled": family.sampled}
    known |= {"joined mean": joined.mean, "joined own": joined.own}
    return {(part, number): value for part in parts for number, value in known[part].items()}


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

    That is the server's last one or, without any, the clients' last one or its mean. ``fixed`` are variables, by group,
    block and slot, that are given already.
    """
    for each in kept:
        b = each.block
        terms = [("server", k, state.server[b][k], c) for k, c in enumerate(each.server) if c]
        terms += [("client", k, state.client[b][k], c) for k, c in enumerate(each.client) if c]
        relation = total(b, [(c, v if each.each else mean_of(v)) for _, _, v, c in terms]).mean
        # One that is given by others already has more coefficients, or has none left in the relation.
        free = [(g, v) for g, k, v, _ in terms if (g, b, k) not in fixed and v.other is None and len(v.mean) == 1]
        free = [(g, v) for g, v in free if {*v.mean} <= {*relation}]
        found = [v for g, v in free if g == "server"] or [v for _, v in free]
        if found:
            (number,) = found[-1].mean
            others = {k: -c / relation[number] for k, c in relation.items() if k != number}
            state = _put(state, number, others, own=each.each)
    return state


def _put(state: VectorState, number: int, others: Coefficients, *, own: bool) -> VectorState:
    """The state with other vectors in place of one, of means or of the clients' ``own`` deviations as well."""

    def put(old: Coefficients) -> Coefficients:
        rest = {k: c for k, c in old.items() if k != number}
        return combined((1, rest), (old[number], others)) if number in old else old

    def of(family: VectorFamily) -> VectorFamily:
        return replace(family, mean=put(family.mean), own=put(family.own) if own else family.own)

    server, client = ({b: [of(v) for v in row] for b, row in part.items()} for part in (state.server, state.client))
    return VectorState(server, client)
