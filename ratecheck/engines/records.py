"""The quantities recorded before each round, in the form that all engines share.

A quantity is a sum of two kinds of parts: ``rows``, the square of an affine map of the point that the server holds, and
``terms``, products of linear functions of server, client and gradient taken over the clients. Where the recorded point
is the server's alone and the problem is affine, terms become rows, so that the cost does not grow with the clients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import TermMap, TermOver, U, by_work
from ratecheck.aliases import Array
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError, did_you_mean
from ratecheck.problems import Bilevel
from ratecheck.problems.matrices import least_solution, solution_error
from ratecheck.problems.quadratic_functions import QuadraticObjective

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Record:
    """A quantity: ``constant`` + ||rows @ point - offset||^2 + the sum of ``terms``, each given client by client.

    ``rows`` is (r, d) on the server's point, ``terms`` a list of one `TermMap` per client each (per
    type of a population), with coefficients on
    the slots (server, client, gradient, displacement); the displacement is that from ``anchor`` (n, d). ``given_sizes``
    (r, d + 1) bounds the terms that were added up to rows and offset, and whatever else they are off by in units of
    rounding; ``doubt`` is the error of the constant, and below ``least`` the quantity is by rounding alone.
    """

    name: str
    rows: Array
    offset: Array
    terms: tuple[tuple[TermMap, ...], ...] = ()
    constant: float = 0.0
    given_sizes: Array | None = None
    doubt: float = 0.0
    least: float = -math.inf

    @property
    def sizes(self) -> Array:
        """As given, or else those of rows and offset."""
        own = np.abs(np.column_stack([self.rows, self.offset]))
        return own if self.given_sizes is None else self.given_sizes

    @property
    def content(self) -> tuple[object, ...]:
        """See `RecordPlan.content`."""
        arrays = (each.tobytes() for each in (self.rows, self.offset, self.sizes))
        terms = (
            (term.over, term.factor, term.block, term.left.tobytes(), term.right.tobytes())
            for column in self.terms
            for term in column
        )
        return self.name, self.constant, self.doubt, *arrays, *terms


@dataclass(frozen=True)
class RecordPlan:
    """All records of a run.

    ``groups`` and ``slots`` say for each block where the recorded point is: in the server's state (0) or the client's
    (1). ``anchor`` (n, d) is the point from which displacements are measured, ``anchor_error`` (n, d) what it may be
    off in units of rounding.
    """

    records: tuple[Record, ...]
    groups: NDArray[np.int64]
    slots: NDArray[np.int64]
    anchor: Array
    anchor_error: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(record.name for record in self.records)

    def only(self, names: Collection[str]) -> RecordPlan:
        """The plan of some of the records."""
        return replace(self, records=tuple(record for record in self.records if record.name in names))

    @property
    def least(self) -> tuple[float, ...]:
        """Of each quantity in order the number below which it is by rounding alone."""
        return tuple(record.least for record in self.records)

    @property
    def content(self) -> tuple[object, ...]:
        """All of it as something that is equal where the records of two plans are the same functions of a state."""
        where = (each.tobytes() for each in (self.groups, self.slots, self.anchor, self.anchor_error))
        return (*where, *(record.content for record in self.records))


def plan(setup: Setup) -> RecordPlan:
    """The plan of a setup; raises `InputError` for a quantity that the method or the problem does not have."""
    problem_records, known = _of_problem(setup), recorded(setup)
    for name in setup.records:
        if name not in known:
            raise not_recorded(setup, [name])
    point = setup.maps.point()
    groups = np.array([0 if group == "server" else 1 for group, _ in point])
    slots = np.array([slot for _, slot in point])
    own = _terms(setup, tuple(name for name in setup.records if name not in problem_records))
    records = []
    for name in setup.records:
        record = problem_records[name]() if name in problem_records else own[name]
        records.append(_on_server(setup, record, groups, slots))
    return RecordPlan(tuple(records), groups, slots, *_anchor(setup))


def recorded(setup: Setup) -> tuple[str, ...]:
    """Names of the quantities that a run of the setup can record: those of the method, and of the problem."""
    return tuple(dict.fromkeys((*_own(setup), *_of_problem(setup))))


def not_recorded(setup: Setup, names: Sequence[str]) -> InputError:
    """The error for quantities that the method does not record: which it does, and which of these have near names."""
    known = recorded(setup)
    near = [hint for name in names if (hint := did_you_mean(name, known)).startswith("did you mean")]
    listed = " and ".join(map(repr, names))
    return InputError("; ".join([f"{setup.method.spoken} does not record {listed}, only {', '.join(known)}", *near]))


def _own(setup: Setup) -> list[str]:
    """Names that the algorithm defines."""
    server, client = (dict.fromkeys(group, np.zeros(1)) for group in (setup.algorithm.server, setup.algorithm.client))
    gradient = dict.fromkeys(setup.algorithm.blocks, np.zeros(1))
    found = setup.algorithm.records(server, client, gradient, setup.at(0).parameters(0))
    # An operator that is no gradient has no values.
    kept = [
        name
        for name, terms in found.items()
        if setup.problem.potential or all(term.over is not TermOver.VALUES for term in terms)
    ]
    return [*kept, *setup.algorithm.measures]


def _terms(setup: Setup, names: tuple[str, ...]) -> dict[str, Record]:
    """Quantities of the algorithm; one that it measures itself is put in place of an empty sum by whoever calls it."""
    found = {name: Record(name, np.zeros((0, setup.problem.d)), np.zeros(0)) for name in names}
    summed = tuple(name for name in names if name not in setup.algorithm.measures)
    if not summed:
        return found
    clients, kind = setup.kinds
    of_kinds = [setup.maps.records(summed, setup.parameters(i)) for i in clients.tolist()]
    for name in summed:
        own = (each[name] for each in of_kinds)
        columns = [[_padded(term) for term in column] for column in zip(*own, strict=True)]
        found[name] = replace(found[name], terms=tuple(tuple(column[k] for k in kind.tolist()) for column in columns))
    return found


def _padded(term: TermMap) -> TermMap:
    """With a coefficient on the displacement."""
    left, right = (np.append(vector, 0.0) for vector in (term.left, term.right))
    return TermMap(term.over, term.factor, term.block, left, right)


def _anchor(setup: Setup) -> tuple[Array, Array]:
    nothing = np.zeros((setup.problem.distinct, setup.problem.d))
    if "distance2" not in setup.records:
        return nothing, nothing
    point, off = setup.problem.centre()
    return nothing + point, nothing + off


def _of_problem(setup: Setup) -> dict[str, Callable[[], Record]]:
    """Quantities that the problem defines, at the recorded point."""
    problem = setup.problem
    if (bilevel := problem.seen_as(Bilevel)) is not None:
        found: dict[str, Callable[[], Record]] = {}
        # The objective weighs clients by p; with unequal local steps SimFBO solves the one that weighs them by w.
        for mark, weights in (("", setup.shares), ("_w", by_work(setup.shares, setup.norms))):
            found |= _of_bilevel(bilevel, mark, weights)
        return found
    if setup.algorithm.record_oracle != "gradient":
        return {}
    own: dict[str, Callable[[], Record]] = {"gap": lambda: _gap(setup), "distance2": lambda: _distance(setup)}
    return {name: own[name] for name in problem.of_minimum}


def _of_bilevel(problem: Bilevel, mark: str, weights: Array) -> dict[str, Callable[[], Record]]:
    """||grad Phi(x)||^2, ||y - y*(x)||^2, ||v - v*(x)||^2 and Phi(x) - inf Phi, for clients weighed like this."""
    x, y, v = np.split(np.eye(problem.d), [problem.d_x, problem.d_x + problem.d_y])

    def sized(rows: Array, offset: Array, by_point: float, fixed: float) -> Array:
        sizes = np.abs(np.column_stack([rows, offset]))
        sizes[:, :-1] += by_point * (rows != 0).any(axis=0)
        sizes[:, -1] += fixed
        return sizes

    # In norms, what the maps are made of, and how the inverse of the mean of the A_i multiplies rounding.
    A = np.einsum("i,iab->ab", weights, problem.A)
    inverse = float(np.linalg.norm(np.linalg.inv(A), 2))
    loss = (problem.n + 8 * problem.d) * (1 + inverse * float(np.linalg.norm(A, 2)))
    Q, q, B, b = (float(np.linalg.norm(part, axis=tuple(range(1, part.ndim))).max()) for part in _parts(problem))
    bend, shift = 1 + inverse * B, inverse * b

    def error(name: str, variable: Array, solution: tuple[Array, Array], by_x: float, fixed: float) -> Record:
        rows = variable - solution[0] @ x
        return Record(name, rows, solution[1], given_sizes=sized(rows, solution[1], loss * by_x, loss * fixed))

    def gradient() -> Record:
        P, r = problem.hypergradient_map(weights)
        sizes = sized(P @ x, r, 4 * loss * bend**2 * Q, 4 * loss * bend * (q + Q * shift))
        return Record(f"grad_Phi{mark}2", P @ x, r, given_sizes=sizes)

    def gap() -> Record:
        P, r = problem.hypergradient_map(weights)
        if math.isinf(problem.infimum(weights)):
            raise InputError("there is no gap: Phi is unbounded below")
        root, point = _root(P / 2), least_solution(P, r)
        # P and r are rounded themselves: that is another rest of the system.
        _, away = solution_error(P, r, point)
        values = np.linalg.eigvalsh(P)
        least = float(values[values > 1e-12 * values[-1]].min(initial=values[-1]))
        rest = 4 * loss * (bend**2 * Q * float(np.linalg.norm(point)) + bend * (q + Q * shift))
        sizes = _root_sizes(root, point, away + rest / math.sqrt(max(least, 1e-300)))
        sizes[:, :-1] += 4 * loss * bend**2 * Q / math.sqrt(max(least, 1e-300))
        return Record(f"Phi{mark}_gap", root @ x, root @ point, given_sizes=_on(sizes, x))

    return {
        f"grad_Phi{mark}2": gradient,
        f"y_error{mark}2": lambda: error(f"y_error{mark}2", y, problem.y_map(weights), inverse * B, shift),
        f"v_error{mark}2": lambda: error(
            f"v_error{mark}2", v, problem.v_map(weights), inverse * Q * bend, inverse * (q + Q * shift)
        ),
        f"Phi{mark}_gap": gap,
    }


def _parts(problem: Bilevel) -> tuple[Array, Array, Array, Array]:
    return problem.Q, problem.q, problem.B, problem.b


def _on(sizes: Array, x: Array) -> Array:
    """Sizes on x and a constant as sizes on the whole point and a constant."""
    return np.column_stack([sizes[:, :-1] @ np.abs(x), sizes[:, -1]])


def _function_gap(setup: Setup, problem: QuadraticObjective) -> Record:
    """The gap f - inf f."""
    infimum = problem.infimum()
    if math.isinf(infimum):
        raise InputError(f"there is no gap: {problem.no_minimum}")
    if problem.d_v == 0 and setup.algorithm.point is None:
        H, g = problem.mean()
        root, point = _root(H / 2), least_solution(H, g)
        return Record("gap", root, root @ point, given_sizes=_root_sizes(root, point, solution_error(H, g, point)[1]))
    # The infimum is made of a solution x of Hx = g and products with it: -g'x/2.
    joint, slope = problem.joint()
    point = least_solution(joint, slope) if len(joint) else slope
    away, _ = solution_error(joint, slope, point)
    length, steep = float(np.linalg.norm(point)), float(np.linalg.norm(slope))
    curvature = float(np.linalg.norm(joint)) if len(joint) else 0.0
    doubt = _EPS * (64 * (problem.d + problem.distinct) * (steep * (length + away) + curvature * length**2)) / problem.n
    return _value_above(setup, infimum, doubt)


def _gap(setup: Setup) -> Record:
    """The gap f - inf f, where the infimum is known by linear algebra or is the problem's own."""
    if (objective := setup.problem.objective) is not None:
        return _function_gap(setup, objective)
    if (lowest := setup.problem.lowest) is None:
        raise InputError("there is no gap: f is unbounded below")
    return _value_above(setup, float(lowest))


def _value_above(setup: Setup, lowest: float, doubt: float = 0.0) -> Record:
    """The mean of the clients' values less a number, which is known up to ``doubt``.

    It is the value of F where clients share a point; at points of their own F_i may be below the infimum of the mean.
    """
    shares = dict(zip(setup.algorithm.blocks, setup.maps.point(), strict=True)).get(U, ("client", 0))[0] == "server"
    least = 0.0 if shares else -math.inf
    slots, distinct = setup.maps.server.slots + setup.maps.client.slots + 2, setup.problem.distinct
    term = TermMap(TermOver.VALUES, 1.0, 0, np.zeros(slots), np.zeros(slots))
    nothing = np.zeros((0, setup.problem.d))
    return Record("gap", nothing, np.zeros(0), ((term,) * distinct,), -lowest, doubt=doubt, least=least)


def _distance(setup: Setup) -> Record:
    """||u - u*||^2 + (1/n) sum_i ||v_i - v_i*||^2, to the minimiser of least norm."""
    slots = setup.maps.server.slots + setup.maps.client.slots + 2
    away = np.eye(slots)[-1]
    terms = [TermMap(TermOver.CLIENTS, 1.0, block, away, away) for block in range(len(setup.algorithm.blocks))]
    none = np.zeros((0, setup.problem.d))
    return Record("distance2", none, np.zeros(0), tuple((term,) * setup.problem.distinct for term in terms))


def _root_sizes(root: Array, point: Array, error: float) -> Array:
    """Sizes of a root R and of R times a point, whose error in the norm of R is that (`solution_error`)."""
    large = np.full_like(root, 4 * len(root) * float(np.abs(root).max(initial=0.0)))
    return np.column_stack([large, np.full(len(root), error) + large @ np.abs(point)])


def _root(matrix: Array) -> Array:
    """A square root R, R'R = matrix, of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def _on_server(setup: Setup, record: Record, groups: NDArray[np.int64], slots: NDArray[np.int64]) -> Record:
    """The record with its terms as rows, where all of them are squares that depend on the server's point alone."""
    problem = setup.problem
    if problem.multiplicities is not None:
        # Its terms are few as they are.
        return record
    present = [size > 0 for size in setup.sizes.values()]
    if not problem.affine or not record.terms or any(groups[k] for k in range(len(groups)) if present[k]):
        return record
    M, c = setup.operator(setup.algorithm.record_oracle)
    anchor, away = _anchor(setup)
    servers, clients = setup.maps.server.slots, setup.maps.client.slots
    starts = setup.starts
    parts: list[Array] = []
    large: list[Array] = []
    for term in record.terms:
        block = term[0].block
        here = slice(starts[block], starts[block + 1])
        # All clients at once: (clients, rows, entries).
        left, right = (np.stack([getattr(each, side) for each in term]) for side in ("left", "right"))
        factors = np.array([each.factor for each in term])
        state = np.delete(left[:, : servers + clients], slots[block], axis=1)
        values = any(each.over is TermOver.VALUES for each in term)
        if values or (left != right).any() or (factors < 0).any() or state.any():
            return record
        root = np.sqrt(factors)[:, None, None]
        on_point, on_gradient, on_displacement = (left[:, k, None, None] for k in (slots[block], -2, -1))
        identity = np.eye(problem.d)[here]
        rows = on_gradient * M[:, here] + (on_point + on_displacement) * identity
        offsets = on_gradient * c[:, here, None] + on_displacement * anchor[:, here, None]
        by_point = abs(on_gradient) * np.abs(M[:, here]) + (abs(on_point) + abs(on_displacement)) * identity
        apart = abs(on_displacement) * (np.abs(anchor[:, here, None]) + away[:, here, None])
        fixed = abs(on_gradient) * np.abs(c[:, here, None]) + apart
        both, sizes = (root * np.concatenate(each, axis=2) for each in ((rows, offsets), (by_point, fixed)))
        for found, each in ((parts, both), (large, sizes)):
            means = term[0].over is TermOver.MEANS
            found.append(each.mean(axis=0) if means else each.reshape(-1, each.shape[2]) / math.sqrt(problem.n))
    joint = np.concatenate([record.rows, *(part[:, :-1] for part in parts)])
    offset = np.concatenate([record.offset, *(part[:, -1] for part in parts)])
    every = np.concatenate([record.sizes, *large])
    if len(joint) > problem.d + 1:
        # The same squares from the triangular factor, which has fewer rows; its columns are rounded as wholes.
        terms = len(joint)
        factor = np.asarray(np.linalg.qr(np.column_stack([joint, offset]), mode="r"))
        joint, offset = factor[:, :-1], factor[:, -1]
        every = np.broadcast_to(math.sqrt(terms) * np.linalg.norm(every, axis=0), factor.shape)
    return Record(
        record.name, np.ascontiguousarray(joint), np.ascontiguousarray(offset), (), record.constant, every, record.doubt
    )
