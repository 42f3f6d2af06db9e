"""Expectations of the quantities that the partial-personalisation paper (pfl) states lemmas about, exactly computed.

Names and definitions are those of `bounds.symbols`; statements of one's own may use them too. All are moments of the
state z = (server, clients, 1) and of the virtual local iterates l_ik, which every client computes whether sampled or
not: l_ik = P_k y_i + noise of covariance C_k, with y_i = (server, client_i, 1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import RECORDS, U, check_alike
from ratecheck.algorithms.model.remembering import Remembering
from ratecheck.aliases import Array, Progress
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments.block_rounds import OwnRound
from ratecheck.engines.moments.expectation import Moments, Recorder, check_exact
from ratecheck.engines.moments.moment import EPS, LocalMoments, Moment, Number, WideRows
from ratecheck.engines.moments.roundmap import RoundMap
from ratecheck.engines.moments.transition import Displacement, Transition
from ratecheck.engines.records import not_recorded, recorded
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.execution.one_thread import single_threaded
from ratecheck.participation import Trace
from ratecheck.problems import SingleLevel

# Rows on z, and the size of the terms that were added up to them.
Sized = tuple[Array, Array]

# What `expect` gives and what `vectors` gives.
NAMES = frozenset({*RECORDS, "E", "C", "T_1u", "T_1v", "T_2u", "T_2v", "T_3u", "S_3u", "descent", "inner_u", "inner_v"})
NAMES |= {"du2", "dv2", "sampled2", "xbar2", "spread", "sum2", "squares"}
# Quantities of the local iterates that a client remembers.
_EARLIER = frozenset({"S_3u", "C"})
# Quantities of what each client sees by itself, and of what a round changes.
_LOCAL = frozenset({"T_1v", "T_2v", "E", "C"})
_CHANGES = frozenset({"descent", "inner_u", "inner_v", "du2", "dv2"})
# The step sizes of which T_1u ... T_2v are made: a method that has none of them has none of these.
_STEPS = ("gamma_u", "eta_u", "gamma_v", "eta_v")


def expect(
    setup: Setup,
    names: Collection[str] = NAMES,
    *,
    recursion: Callable[[Setup], Moments] | None = None,
    progress: Progress | None = None,
) -> Expectation:
    """Expected lemma quantities per round: G_u, G_v, B, E, C, T_1u ... T_3u, S_3u, descent, inner_u ... dv2.

    Those among the ``names``, and the records. T_1u ... T_2v are those of methods with the step sizes gamma and eta of
    both blocks. S_3u and C, which are about iterates of earlier rounds, make the state three times as large. Clients
    are followed one by one, or by a ``recursion`` of types of them.
    Raises `InputError` for a run that is not affine.
    """
    check_exact(setup)
    check_alike(setup.algorithm, "what is known inside a round")
    if (setup.local_steps != setup.K).any():
        raise InputError("what happens inside a round is known where all clients take the same number of local steps")
    if missing := [name for name in RECORDS if name not in recorded(setup)]:
        # Without these the others, which are made of the same gradients, have no meaning.
        raise InputError(
            f"{', '.join(sorted(NAMES - {*RECORDS}))} are known of methods that record {', '.join(RECORDS)}; "
            f"{not_recorded(setup, missing)}"
        )
    # Without shared variables S_3u is 0.
    earlier = _EARLIER if setup.sizes[U] else _EARLIER - {"S_3u"}
    remembers = not earlier.isdisjoint(names)
    method = replace(setup.method, algorithm=Remembering(setup.algorithm)) if remembers else setup.method
    rows: list[Record] = []
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        one_by_one = Moments if setup.sizes[U] or _served(setup) else _Personal
        moments = (recursion or one_by_one)(replace(setup, method=method, records=RECORDS))
        probe = _Probe(moments, frozenset(names), remembers=remembers)
        for t, (moment, round_map) in enumerate(probe.moments.rounds()):
            rows.append(probe.quantities(moment, round_map, t))
            if progress is not None:
                progress(t / setup.T)
    records, errors = ({name: np.array([row[name][k] for row in rows]) for name in rows[0]} for k in range(2))
    return Expectation(records, errors, setup.metric, setup.trace.rate)


def _served(setup: Setup) -> bool:
    """Whether the server has any variable."""
    return any(setup.sizes[block] for block in setup.algorithm.server.values())


class _Personal(Moments):
    """The recursion of personal variables alone, of which all quantities here speak client by client."""

    sampled_round = OwnRound


# Quantities of the gradients at the origin, and of martingale differences made of them.
VECTORS = (frozenset({"sampled2", "xbar2", "spread"}), frozenset({"sum2", "squares"}))


def vectors(problem: SingleLevel, m: int, *, martingale: bool) -> Expectation:
    """Quantities of random vectors made of the gradients X_i at the origin.

    E||mean of m sampled X_i||^2, E||mean||^2 and sum_i ||X_i - mean||^2; and E||sum||^2 and sum_i E||.||^2 of the X_i
    or, with ``martingale``, of the martingale differences of `_martingale`.
    """
    n = problem.n
    if problem.multiplicities is not None:
        raise InputError(f"the vectors are those of clients one by one, which a {problem.kind} has not: use its full()")
    X = np.concatenate(problem.gradients(np.zeros(problem.d_u), np.zeros((n, problem.d_v))), axis=1)
    one, two = Trace.uniform(n, m).inclusion
    values = moments_of_vectors(X, m, one, two, martingale=martingale)
    # What they are made of before anything cancels.
    square = float(np.sum(np.linalg.norm(X, axis=1))) ** 2
    trace = float(np.trace(X @ X.T))
    sizes = {"sampled2": (one * trace + two * square) / m**2, "xbar2": square / n**2, "spread": trace + square / n}
    sizes["sum2"], sizes["squares"] = n * float(values["squares"]), float(values["squares"])
    records = {name: np.array([float(value)]) for name, value in values.items()}
    unit = 8 * (n + X.shape[1] + 2 ** min(n, SIGNS)) * EPS
    errors = {name: np.array([unit * size]) for name, size in sizes.items()}
    return Expectation(records, errors, {}, one)


# Signs of at most so many vectors are enumerated.
SIGNS = 10


def moments_of_vectors(X: Any, m: int, one: Any, two: Any, *, martingale: bool) -> dict[str, Any]:
    """The quantities of `vectors` for the rows of X, of floats or of rationals.

    ``one`` is the probability of a vector to be among the m that are sampled, ``two`` that of a pair.
    """
    gram, n = X.dot(X.T), len(X)
    trace, total = np.trace(gram), gram.sum()
    found = {
        "sampled2": (one - two) * trace / m**2 + two * total / m**2,
        "xbar2": total / n**2,
        "spread": trace - total / n,
        "sum2": total,
        "squares": trace,
    }
    if martingale:
        found["sum2"], found["squares"] = _martingale(X)
    return found


def _martingale(X: Any) -> tuple[Any, Any]:
    """E||sum_i Y_i||^2 and sum_i E||Y_i||^2 for Y_i = s_i*(1 + s_1 + ... + s_{i-1})*X_i with fair signs s_i.

    Each Y_i has mean zero given the earlier ones, but depends on them. All sequences of signs are enumerated, for the
    first ten vectors.
    """
    X = X[:SIGNS]
    signs = np.array(list(itertools.product((-1, 1), repeat=len(X))))
    weights = (signs * (1 + np.cumsum(signs, axis=1) - signs)).astype(X.dtype)
    sums = weights.dot(X)
    return np.mean(np.sum(sums**2, axis=1)), np.mean(weights**2, axis=0).dot(np.sum(X**2, axis=1))


Record = dict[str, Number]


def _scaled(factor: float, number: Number) -> Number:
    value = factor * number[0]
    return value, abs(factor) * number[1] + 8 * EPS * abs(value)


def _sum(numbers: Iterable[Number]) -> Number:
    values, errors = zip(*numbers, strict=True)
    return float(sum(values)), float(sum(errors)) + (len(values) + 1) * EPS * float(sum(map(abs, values)))


@dataclass(frozen=True)
class _Local:
    """Sums over the K virtual local iterates of one client, as maps of y_i and noise covariances.

    ``point_sum`` (d, q) is sum_k P_k and ``point_noise`` the covariance of sum_k l_ik; ``points`` (K*d, q) stacks the
    P_k and ``drifts`` the P_k - P_0; ``noise`` is sum_k tr C_k. The sizes bound the terms of which these are made.
    """

    point_sum: Array
    point_sum_size: Array
    point_noise: Array
    point_noise_size: Array
    points: Array
    sizes: Array
    drifts: Array
    drift_sizes: Array
    noise: Number


class _Probe:
    def __init__(self, moments: Moments, names: frozenset[str], *, remembers: bool) -> None:
        self.moments, self._names, self.remembers = moments, names, remembers
        self.setup = moments.setup
        quadratic = moments.setup.problem.representatives.quadratic
        assert quadratic is not None
        self.problem = quadratic
        every = range(moments.distinct)
        self.locals = [self._local(i) for i in every]
        self.gradients = [moments.gradient_rows(i) for i in every]
        self.points = [moments.point_rows(i) for i in every]
        self.recorder = Recorder(moments)
        self.sums = [self._gradient_sum(i) for i in every]
        self.sum_sizes = [self._gradient_sum_size(i) for i in every]
        pairs = list(zip(self.problem.H, self.locals, strict=True))
        self.noise = [H @ local.point_noise @ H.T for H, local in pairs]
        self.noise_sizes = [np.abs(H) @ local.point_noise_size @ np.abs(H).T for H, local in pairs]
        squares = [self.setup.K * float((moments.starts_of(i) ** 2).sum()) for i in every]
        self._displacement: Displacement | None = None
        unit = 4 * (self.problem.d + int(moments.counts.max()))
        self.last_square: list[Number] = [(square, unit * EPS * square) for square in squares]

    def _local(self, i: int) -> _Local:
        d, K = self.problem.d, self.setup.K
        step, noise = self.moments.rounds_of.local_step(i)
        power, at = self.moments.rounds_of.begin(i), self.moments.rounds_of.local.first
        start, large = power[at], np.abs(step)
        identity = np.eye(len(step))
        # The same sums with absolute values: every step rounds what it is made of a few times.
        size, unit = np.abs(power), 2 * len(step) + 8
        covariance, spread = np.zeros_like(noise), np.zeros_like(noise)
        accumulated, heap = np.zeros_like(step), np.zeros_like(step)
        total_noise, total_size = np.zeros((d, d)), np.zeros((d, d))
        points, sizes, square_noise, square_size = [], [], 0.0, 0.0
        for k in range(K):
            points.append(power[at])
            sizes.append((k + 1) * unit * size[at])
            square_noise += float(np.trace(covariance[np.ix_(at, at)]))
            square_size += 2 * (k + 1) * unit * float(np.trace(spread[np.ix_(at, at)]))
            # The noise of a step is in all later iterates: its sum over them is R w with R = sum of powers of step.
            total_noise += accumulated[at] @ noise @ accumulated[at].T
            total_size += heap[at] @ np.abs(noise) @ heap[at].T
            accumulated, heap = step @ accumulated + identity, large @ heap + identity
            covariance, spread = step @ covariance @ step.T + noise, large @ spread @ large.T + np.abs(noise)
            power, size = step @ power, large @ size
        drifts = np.concatenate([P - start for P in points])
        return _Local(
            np.sum(points, axis=0),
            np.sum(sizes, axis=0),
            total_noise,
            2 * K * unit * total_size,
            np.concatenate(points),
            np.concatenate(sizes),
            drifts,
            # The first iterate is where it starts.
            np.concatenate([np.zeros_like(sizes[0]), *sizes[1:]]),
            (square_noise, EPS * square_size),
        )

    def _lift(self, i: int, rows: Array) -> Array:
        """A map of y_i as a map of z."""
        lifted = np.zeros((len(rows), self.moments.size))
        lifted[:, self.moments.inputs(i)] = rows
        return lifted

    def _slope_rows(self, i: int) -> Array:
        """The constant g_i of the gradient as a map of z: a number, or an entry of the state."""
        rows = self.moments.slope_rows(i)
        rows[:, -1] = self.problem.g[i]
        return rows

    def _gradient_sum(self, i: int) -> Array:
        """Mean of sum_k grad f_i(l_ik) as a map of z."""
        return self._lift(i, self.problem.H[i] @ self.locals[i].point_sum) - self.setup.K * self._slope_rows(i)

    def _gradient_sum_size(self, i: int) -> Array:
        """Size of the terms of it."""
        size = self._lift(i, np.abs(self.problem.H[i]) @ self.locals[i].point_sum_size)
        return size + self.setup.K * np.abs(self._slope_rows(i))

    def _controlled(self, i: int) -> Sized:
        """Sum over k of grad f_i(l_ik) less that at the remembered local iterates, as a map of z: its slope cancels."""
        H, local, last = self.problem.H[i], self.locals[i], self._last_rows(i)
        size = self._lift(i, local.point_sum_size) + last
        return H @ (self._lift(i, local.point_sum) - last), np.abs(H) @ size

    def _last_rows(self, i: int) -> Array:
        """The remembered sum of local iterates as a map of z."""
        blocks = [block for block, size in self.setup.sizes.items() if size]
        return np.concatenate([self.moments.variable_rows(f"last_{block}", i) for block in blocks])

    @cached_property
    def _earlier(self) -> tuple[WideRows, Sized]:
        """Gradients less those at what is remembered, as `Parts.apart`, and what is remembered, as a map of y_i."""
        every = range(self.moments.distinct)
        controlled = WideRows(*self._apart([self._controlled(i) for i in every]))
        return controlled, self._own([(rows, rows) for rows in map(self._last_rows, every)])

    def _own(self, maps: Iterable[Sized]) -> Sized:
        """Maps of every client's y_i as a stack of maps of what is `Moments.seen` of each."""
        found = []
        for i, each in enumerate(maps):
            at = self.moments.seen(i)
            of_type = zip(*(self.moments.of_clients(i, side) for side in each), strict=True)
            found += [(rows[:, at], sizes[:, at]) for rows, sizes in of_type]
        return _stacked(found)

    def _lifted(self, maps: Iterable[Sized]) -> Sized:
        """Maps of y_i, each with its size, on the state."""
        return self._own((self._lift(i, rows), self._lift(i, sizes)) for i, (rows, sizes) in enumerate(maps))

    def _wide(self, maps: Iterable[Array]) -> WideRows:
        """Maps of every client's y_i, one after the other."""
        return WideRows(
            np.concatenate([rows for i, each in enumerate(maps) for rows in self.moments.of_clients(i, each)])
        )

    def _apart(self, maps: Sequence[Sized]) -> Sized:
        """The shared rows of every client's map less their mean, one client after the other."""
        shared = [_cut(each, slice(self.problem.d_u)) for each in maps]
        mean, size = (self.moments.mean([each[k] for each in shared]) for k in (0, 1))
        rows, sizes = [], []
        of = self.moments.of_clients
        for i, (each, large) in enumerate(shared):
            # How clients of a type differ has nothing to do with the mean.
            rows += [of(i, each - mean)[0], *of(i, each)[1:]]
            sizes += [of(i, large + size)[0], *of(i, large)[1:]]
        return np.concatenate(rows), np.concatenate(sizes)

    @cached_property
    def _parts(self) -> Parts:
        """Maps of all clients, one after the other, and those of y_i as a stack over the clients."""
        d_u, moments, counts = self.problem.d_u, self.moments, self.moments.counts
        gradients = [(rows, self._gradient_size(i)) for i, rows in enumerate(self.gradients)]
        sums = list(zip(self.sums, self.sum_sizes, strict=True))
        owners = [i for i, rows in enumerate(self.points) for _ in moments.of_clients(i, rows)]
        noises = list(zip(counts, self.noise, self.noise_sizes, strict=True))
        return Parts(
            np.array(owners),
            np.stack([moments.seen(i) for i in owners]),
            mean_u=(moments.mean([rows[:d_u] for rows, _ in gradients]), moments.mean([e[:d_u] for _, e in gradients])),
            total=_added([(N * rows[:d_u], N * e[:d_u]) for N, (rows, e) in zip(counts, sums, strict=True)]),
            gradients_v=self._own(_cut(each, slice(d_u, None)) for each in gradients),
            sums_v=self._own(_cut(each, slice(d_u, None)) for each in sums),
            apart=WideRows(*self._apart(sums)),
            iterates=self._lifted(_squares_of(local.points, local.sizes) for local in self.locals),
            drifts=self._lifted(_squares_of(local.drifts, local.drift_sizes) for local in self.locals),
            points=self._own((rows, np.abs(rows)) for rows in self.points),
            rows_v=self._wide(rows[d_u:] for rows, _ in gradients),
            moved=self._wide(self.points),
            moved_u=WideRows(self.points[0][:d_u]),
            moved_v=self._wide(rows[d_u:] for rows in self.points),
            bent=self._wide(H @ rows for H, rows in zip(self.problem.H, self.points, strict=True)),
            noise_u=_sum(_scaled(N, _noise(c, e, slice(d_u))) for N, c, e in noises),
            noise_v=_sum(_scaled(N, _noise(c, e, slice(d_u, None))) for N, c, e in noises),
        )

    def quantities(self, moment: Moment, round_map: RoundMap, t: int) -> Record:
        """The quantities of round t from the moment before it; call in order of t."""
        own = LocalMoments(moment, self._parts.own) if self._names & _LOCAL else None
        values, errors = self.recorder.record(moment)
        record: Record = {name: (float(v), float(e)) for name, v, e in zip(RECORDS, values, errors, strict=True)}
        found = self._spreads(moment)
        if {*_STEPS} <= self.setup.parameters(0).keys():
            found |= self._of_steps(moment, own)
        if own is not None:
            found["E"] = partial(self._drift, own)
        record |= {name: find() for name, find in found.items() if name in self._names}
        if own is not None and "C" in self._names:
            record["C"] = self._staleness(own)
            self._remember(own, t)
        return record | self._changes(moment, round_map)

    def _of_steps(self, moment: Moment, own: LocalMoments | None) -> dict[str, Callable[[], Number]]:
        """T_1u ... T_2v."""
        n, rate, parts, steps = self.moments.n, self.setup.trace.rate, self._parts, self.setup.parameters(0)
        gamma_u, gamma_v = steps["gamma_u"] * steps["eta_u"], steps["gamma_v"] * steps["eta_v"]
        found: dict[str, Callable[[], Number]] = {
            "T_1u": lambda: _scaled(-gamma_u / n, _inner(moment, parts.mean_u, parts.total)),
            "T_2u": lambda: _scaled(gamma_u**2 / n**2, _sum([_inner(moment, parts.total, parts.total), parts.noise_u])),
        }
        if own is not None:
            found["T_1v"] = lambda: _scaled(-gamma_v * rate / n, _all(own.inner(parts.gradients_v, parts.sums_v)))
            found["T_2v"] = lambda: _scaled(
                gamma_v**2 * rate / n, _sum([_all(own.inner(parts.sums_v, parts.sums_v)), parts.noise_v])
            )
        return found

    def _spreads(self, moment: Moment) -> dict[str, Callable[[], Number]]:
        """T_3u, and S_3u where iterates are remembered."""
        found: dict[str, Callable[[], Number]] = {"T_3u": lambda: self._spread(self._parts.apart, moment)}
        if not self.problem.d_u:
            return found | {"S_3u": lambda: (0.0, 0.0)}
        return found | ({"S_3u": lambda: self._spread(self._earlier[0], moment)} if self.remembers else {})

    def _drift(self, own: LocalMoments) -> Number:
        drifts = self._parts.drifts
        noises = zip(self.moments.counts, self.locals, strict=True)
        return _sum([_all(own.inner(drifts, drifts)), *(_scaled(N, local.noise) for N, local in noises)])

    def _gradient_size(self, i: int) -> Array:
        rows = np.abs(self.gradients[i])
        rows[:, -1] = np.abs(self.moments.measured[1][i])
        return rows

    def _spread(self, apart: WideRows, moment: Moment) -> Number:
        """sum_i E||s_i - mean||^2 of the shared parts, s_i having independent noise."""
        n = self.moments.n
        if n == 1:
            # One is its own mean.
            return 0.0, 0.0
        return _sum([moment.square_of(apart), _scaled(1 - 1 / n, self._parts.noise_u)])

    def _staleness(self, own: LocalMoments) -> Number:
        """sum_ik E||remembered l_ik - (u, v_i)||^2."""
        points, (_, last) = self._parts.points, self._earlier
        crossed, squares = _all(own.inner(points, last)), _all(own.inner(points, points))
        return _sum([*self.last_square, _scaled(-2.0, crossed), _scaled(self.setup.K, squares)])

    def _remember(self, own: LocalMoments, t: int) -> None:
        """Expected square of the remembered iterates after round t."""
        trace = self.setup.trace
        values, errors = own.inner(self._parts.iterates, self._parts.iterates)
        for i, N in enumerate(self.moments.counts):
            share = trace.rate if self.moments.fixed is None else float(self.moments.fixed[t, i])
            mine = self._parts.owners == i
            fresh = _sum(
                [*zip(values[mine].tolist(), errors[mine].tolist(), strict=True), _scaled(N, self.locals[i].noise)]
            )
            self.last_square[i] = _sum([_scaled(share, fresh), _scaled(1 - share, self.last_square[i])])

    def _changes(self, moment: Moment, round_map: RoundMap) -> Record:
        """Change of f and of the iterates over the round."""
        n, d_u, parts, names, record = self.moments.n, self.problem.d_u, self._parts, self._names, {}
        if not names & _CHANGES:
            return {}
        if self._displacement is None or self._displacement.round_map is not round_map:
            self._displacement = Displacement(round_map)
        change = self._displacement.at(moment)
        if names & {"descent", "inner_u"}:
            transition, first_u = Transition(moment, round_map), self.points[0][:d_u]
            record["inner_u"] = transition.inner(parts.mean_u[0], -first_u, first_u, parts.mean_u[1])
        if names & {"descent", "inner_v"}:
            record["inner_v"] = _scaled(1 / n, change.inner_before(parts.rows_v, parts.moved_v))
        if "descent" in names:
            # f is quadratic: f(z') - f(z) = <grad f, change> + (1/2n) sum_i change' H_i change, without cancellation.
            second = change.inner(parts.moved, parts.bent)
            record["descent"] = _sum([_sum([record["inner_u"], record["inner_v"]]), _scaled(1 / (2 * n), second)])
        if "du2" in names:
            record["du2"] = change.inner(parts.moved_u, parts.moved_u)
        if "dv2" in names:
            record["dv2"] = _scaled(1 / n, change.inner(parts.moved_v, parts.moved_v))
        return {name: number for name, number in record.items() if name in names}


@dataclass(frozen=True)
class Parts:
    """The maps of which quantities are made, with the sizes of their terms.

    On z: ``mean_u`` and ``total``, gradients of u and their sums over the local steps; ``apart``, one
    client after the other, less the mean. As stacks on what is seen of clients, at positions ``own``, each part being
    of one of the ``owners``: the gradients and sums of v, all local iterates, how far they drift, and points.
    ``rows_v`` are the gradients of v on z. All clients' points are ``moved`` on z, H_i times them ``bent``, those of v
    ``moved_v``, and ``moved_u`` is that of u.
    """

    owners: NDArray[np.intp]
    own: NDArray[np.intp]
    mean_u: Sized
    total: Sized
    gradients_v: Sized
    sums_v: Sized
    apart: WideRows
    iterates: Sized
    drifts: Sized
    points: Sized
    rows_v: WideRows
    moved: WideRows
    moved_u: WideRows
    moved_v: WideRows
    bent: WideRows
    noise_u: Number
    noise_v: Number


def _stacked(maps: Sequence[Sized]) -> Sized:
    """Maps of one shape as a stack."""
    return np.stack([rows for rows, _ in maps]), np.stack([sizes for _, sizes in maps])


def _squares_of(rows: Array, sizes: Array) -> Sized:
    """Rows with the same squares, as many as there are columns at most; a column is rounded as a whole."""
    if len(rows) <= rows.shape[1] + 1:
        return rows, sizes
    factor = np.asarray(np.linalg.qr(rows, mode="r"))
    large = math.sqrt(len(rows)) * np.linalg.norm(rows, axis=0) + np.linalg.norm(sizes, axis=0)
    # The rows of the factor are as far off as that together.
    return factor, np.broadcast_to(large / math.sqrt(len(factor)), factor.shape)


def _added(maps: Sequence[Sized]) -> Sized:
    """The sum of maps."""
    rows, sizes = zip(*maps, strict=True)
    return np.sum(rows, axis=0), np.sum(sizes, axis=0)


def _cut(rows: Sized, part: slice) -> Sized:
    return rows[0][part], rows[1][part]


def _inner(moment: Moment, left: Sized, right: Sized) -> Number:
    """With the rounding of rows that were added up of as many terms as there are clients."""
    return moment.inner(left[0], right[0], (left[1], right[1]))


def _all(numbers: tuple[Array, Array]) -> Number:
    """The sum over the clients."""
    values, errors = numbers
    return float(values.sum()), float(errors.sum()) + (len(values) + 1) * EPS * float(np.abs(values).sum())


def _noise(matrix: Array, size: Array, part: slice) -> Number:
    return float(np.trace(matrix[part, part])), 8 * EPS * float(np.trace(size[part, part]))
