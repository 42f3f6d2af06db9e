"""Expectations without sampling: first and second moments on quadratic problems with additive noise.

The state z = (server, client_1, ..., client_n, 1) of all variables follows z' = A_0 z + sum_{i in S} (B_i z + noise_i).
Its mean and covariance C therefore follow linear recursions. Under uniform sampling only the inclusion probabilities
pi_1 = P(i in S) and pi_2 = P(i, j in S) matter, never the subsets themselves: with Bbar = sum_i B_i,
A_1 = A_0 + pi_1 Bbar and M = E[z z'] = C + mean mean',

    mean' = A_1 mean
    C' = A_1 C A_1' + (pi_2 - pi_1^2) Bbar M Bbar' + (pi_1 - pi_2) sum_i B_i M B_i' + pi_1 sum_i N_i;

a given trace is followed as it is. Recorded quantities are quadratic in z. Mean and covariance are kept apart because a
gradient near a stationary point is a small difference: squared after the subtraction it keeps its digits, inside M it
would lose them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ratecheck.algorithms.base import Over, TermMap
from ratecheck.engines.affine import AffineRounds
from ratecheck.engines.records import plan, weighted
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.participation import Bernoulli, Independent, Uniform
from ratecheck.problems import Logistic

Array = NDArray[np.float64]
Progress = Callable[[float], None]
# A round and a client; None where it is about no single one.
Place = tuple[int | None, int | None]

_EPS = float(np.finfo(float).eps)
# Round maps kept per set of participants: bounds the memory on long given traces.
_KEPT_MAPS = 64


@dataclass(frozen=True)
class Expectation:
    """Expected per-round quantities: ``records`` maps a name to an array (T,), ``errors`` to bounds of its rounding.

    ``weights`` says which of them add up to the quantity that the method's theorems bound. The bounds are of first
    order in the unit of rounding: they assume that a round does not amplify earlier errors.

    Where entries are not rounds 0 ... T-1, ``places`` names the round and the client of each (None: no single one) and
    ``course`` is the metric per round. ``sizes`` holds, of a quantity that is a difference, how large it would be if
    nothing in it cancelled.
    """

    records: dict[str, Array]
    errors: dict[str, Array]
    weights: dict[str, float]
    rate: float
    places: Sequence[Place] | None = None
    course: Array | None = None
    sizes: dict[str, Array] = field(default_factory=dict)

    @property
    def metric(self) -> Array:
        """The expectation of what the method's theorems bound, per round: such as E[G_u + rate*G_v]."""
        return weighted(self.records, self.weights) if self.course is None else self.course

    def place(self, entry: int) -> Place:
        """Round and client of an entry."""
        return (entry, None) if self.places is None else self.places[entry]

    @property
    def rounding(self) -> Array:
        """Rounding error of the metric per round."""
        return weighted(self.errors, self.weights)

    @property
    def diverged(self) -> bool:
        """Whether a moment left the range of floating-point numbers."""
        return not bool(np.isfinite(self.metric).all())


@dataclass(frozen=True)
class Moment:
    """Mean and covariance of the state, and how much rounding they carry.

    ``mean_error`` bounds the error of each entry of the mean; ``root_error[k]*root_error[l]`` that of covariance[k, l].
    """

    mean: Array
    covariance: Array
    mean_error: Array
    root_error: Array

    def through(self, matrix: Array, size: Array, spread: Array, spread_root: Array) -> Moment:
        """The moment of ``matrix z``, plus the covariance ``spread`` of what is independent of it.

        ``size`` bounds the terms that were added up to ``matrix``. The rounding is that of size |z|, so it also covers
        large outer step sizes, whose terms nearly cancel. The error of spread[k, l] is at most
        spread_root[k]*spread_root[l].
        """
        return self.carried(matrix, size, matrix @ self.covariance @ matrix.T + spread, spread_root)

    def carried(self, matrix: Array, size: Array, covariance: Array, spread_root: Array) -> Moment:
        """As `through`, with the new covariance at hand."""
        covariance = (covariance + covariance.T) / 2
        unit = len(self.mean) * _EPS
        roots = np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))
        return Moment(
            matrix @ self.mean,
            covariance,
            self.mean_error + unit * (size @ np.abs(self.mean)),
            np.hypot(np.hypot(self.root_error, np.sqrt(unit) * (size @ roots)), spread_root),
        )

    def part(self, positions: NDArray[np.intp]) -> Moment:
        """The moment of some entries of the state."""
        square = np.ix_(positions, positions)
        errors = self.mean_error[positions], self.root_error[positions]
        return Moment(self.mean[positions], self.covariance[square], *errors)

    def inner(self, left: Array, right: Array) -> tuple[float, float]:
        """E<left z, right z> and its rounding error."""
        a, b = left @ self.mean, right @ self.mean
        da, db = (np.abs(rows) @ (self.mean_error + _EPS * np.abs(self.mean)) for rows in (left, right))
        value = float(a @ b + np.sum((left @ self.covariance) * right))
        scatter = (np.abs(left) @ self.root_error) @ (np.abs(right) @ self.root_error)
        return value, float(np.abs(a) @ db + np.abs(b) @ da + da @ db + scatter)

    def square(self, rows: Array) -> tuple[float, float]:
        """E||rows z||^2 and its rounding error."""
        return self.inner(rows, rows)


def check_exact(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine: a quadratic problem and state-independent participation."""
    if isinstance(setup.problem, Logistic):
        raise InputError(f"the exact engine needs a quadratic problem, not a {setup.problem.kind} one: use engine=step")
    fixed = setup.trace.fixed(setup.T) is not None
    if setup.algorithm.projects and math.isfinite(float(setup.step_sizes["r"])) and (setup.noise.any() or not fixed):
        raise InputError(
            "a projection is not affine: the exact engine can leave it out only where nothing is random and it never "
            "acts; use engine=step, or r=inf"
        )
    if fixed:
        return
    if not isinstance(setup.trace, Uniform | Independent):
        raise InputError(
            "the exact engine needs uniform or independent sampling, or a fixed pattern: use engine=step, or draw a "
            "trace"
        )
    if setup.algorithm.uses_delay:
        raise InputError(f"{setup.method.name} depends on delays, here random: draw a trace, or use engine=step")


def single_threaded() -> threadpool_limits:
    """Context with one thread for linear algebra: matrices are small, and results must not depend on threads."""
    return threadpool_limits(1, user_api="blas")


def expect(setup: Setup, *, progress: Progress | None = None) -> Expectation:
    """Expectations of all recorded quantities over T rounds; raises `InputError` for a run that is not affine."""
    check_exact(setup)
    # An overflow is a result here: the run diverges.
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        moments = Moments(setup)
        recorder = Recorder(moments)
        values, errors = np.empty((len(recorder.names), setup.T)), np.empty((len(recorder.names), setup.T))
        for t, (moment, _) in enumerate(moments.rounds()):
            values[:, t], errors[:, t] = recorder.record(moment)
            moments.check_projection(moment, t)
            if progress is not None and t % 64 == 0:
                progress(t / setup.T)
    records, rounding = (dict(zip(recorder.names, rows, strict=True)) for rows in (values, errors))
    return Expectation(records, rounding, setup.algorithm.metric(setup.trace.rate, setup.problem.n), setup.trace.rate)


class Recorder:
    """The planned quantities of a moment: weighted sums of E(row z)^2, and of products of two rows."""

    def __init__(self, moments: Moments) -> None:
        recorded = plan(moments.setup)
        self.names = recorded.names
        size, n = moments.size, moments.n
        rows, weights, owners = [np.zeros((0, size))], [np.zeros(0)], [np.zeros(0, dtype=int)]
        self._products: list[tuple[int, float, Array, Array]] = []
        self._constants = np.array([record.constant for record in recorded.records])

        def square(owner: int, matrix: Array, weight: float) -> None:
            rows.append(matrix)
            weights.append(np.full(len(matrix), weight))
            owners.append(np.full(len(matrix), owner))

        for q, record in enumerate(recorded.records):
            if len(record.rows):
                matrix = record.rows @ moments.point_rows(0)
                matrix[:, -1] -= record.offset
                square(q, matrix, 1.0)
            for column in record.terms:
                over = column[0].over
                if over is Over.VALUES:
                    for i, term in enumerate(column):
                        gradient = moments.gradient_rows(i)
                        gradient[:, -1] -= moments.measured[1][i]
                        self._products.append((q, term.factor / (2 * n), moments.point_rows(i), gradient))
                    continue
                sides = [term_sides(moments, i, term, recorded.anchor[i]) for i, term in enumerate(column)]
                if over is Over.MEANS:
                    left, right = (np.mean([side[k] for side in sides], axis=0) for k in (0, 1))
                    sides, factors = [(left, right)], [column[0].factor]
                else:
                    factors = [term.factor / n for term in column]
                for (left, right), factor in zip(sides, factors, strict=True):
                    if np.array_equal(left, right):
                        square(q, left, factor)
                    else:
                        self._products.append((q, factor, left, right))
        self._rows, weight, owner = np.concatenate(rows), np.concatenate(weights), np.concatenate(owners)
        self._sizes = np.abs(self._rows)
        self._owner = np.zeros((len(self.names), len(self._rows)))
        self._owner[owner, np.arange(len(owner))] = weight
        forms = [((self._rows * weights[:, None]).T @ self._rows).ravel() for weights in self._owner]
        self._forms = np.array(forms).reshape(len(forms), size * size)

    def record(self, moment: Moment) -> tuple[Array, Array]:
        """Values in the order of ``names``, and their rounding errors."""
        means = self._rows @ moment.mean
        deltas = self._sizes @ (moment.mean_error + _EPS * np.abs(moment.mean))
        scatter = (self._sizes @ moment.root_error) ** 2
        values = self._constants + self._owner @ means**2 + self._forms @ moment.covariance.ravel()
        errors = _EPS * np.abs(self._constants) + np.abs(self._owner) @ (
            (2 * np.abs(means) + deltas) * deltas + scatter
        )
        for q, factor, left, right in self._products:
            value, error = moment.inner(left, right)
            values[q] += factor * value
            errors[q] += abs(factor) * error
        return values, errors

    def form(self, name: str) -> Array:
        """The symmetric matrix Q of a quantity: it is a constant plus E[z'Qz]."""
        q = self.names.index(name)
        size = self._rows.shape[1]
        form = self._forms[q].reshape(size, size).copy()
        for owner, factor, left, right in self._products:
            if owner == q:
                form += factor / 2 * (left.T @ right + right.T @ left)
        return form

    def of_second_moment(self, second: Array, shift: Array) -> Array:
        """Values from E[x x'] where the state is z = shift x."""
        rows = self._rows @ shift
        values = self._constants + self._owner @ np.einsum("ra,ab,rb->r", rows, second, rows)
        for q, factor, left, right in self._products:
            values[q] += factor * float(np.sum((left @ shift @ second) * (right @ shift)))
        return values


def term_sides(moments: Moments, i: int, term: TermMap, anchor: Array) -> tuple[Array, Array]:
    """Both factors of a term of client i as maps of z."""
    slots = moments.slot_rows(i, term.block)
    starts = moments.setup.starts
    # The last slot is the displacement of the point from its anchor.
    slots[-1][:, -1] -= anchor[starts[term.block] : starts[term.block + 1]]
    left, right = (sum(c * rows for c, rows in zip(side, slots, strict=True)) for side in (term.left, term.right))
    return np.asarray(left), np.asarray(right)


@dataclass(frozen=True)
class Fluctuation:
    """``weight`` * F M F' is added to the covariance at ``rows``, M being the second moment of z at ``columns``."""

    weight: float
    matrix: Array
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]


@dataclass(frozen=True)
class RoundMap:
    """One round: z' = (mean + fluctuation) z + noise.

    ``size`` bounds the terms that were added up to ``mean``. ``fluctuations`` are uncorrelated with one another, of
    mean zero, and come from who was sampled.
    """

    mean: Array
    size: Array
    noise: Array
    fluctuations: Sequence[Fluctuation] = ()

    def spread(self, moment: Moment) -> Array:
        """Second moment of what is not mean: noise, and which clients were sampled."""
        spread = self.noise.copy()
        for part in self.fluctuations:
            shift = part.matrix @ moment.mean[part.columns]
            square = part.matrix @ moment.covariance[np.ix_(part.columns, part.columns)] @ part.matrix.T
            spread[np.ix_(part.rows, part.rows)] += part.weight * (square + np.outer(shift, shift))
        return spread

    def spread_root(self, moment: Moment) -> Array:
        """Roots of the rounding errors of `spread` that come from the mean.

        Contributions of the clients cancel one another where all would move the state alike; what is left over is
        rounding of each of them.
        """
        square = np.zeros_like(moment.mean)
        unit = len(square) * _EPS
        for part in self.fluctuations:
            mean, size = moment.mean[part.columns], np.abs(part.matrix)
            shift = np.abs(part.matrix @ mean)
            off = size @ (moment.mean_error[part.columns] + _EPS * np.abs(mean))
            error = unit * shift**2 + off**2
            ratio = off.max(initial=0.0) / max(shift.max(initial=0.0), 1e-300)
            if 0 < ratio < math.inf:
                # shift[k]*off[l] + off[k]*shift[l] is at most the product of the roots, by Cauchy, for every ratio.
                error += ratio * shift**2 + off**2 / ratio
            square[part.rows] += abs(part.weight) * error
        return np.sqrt(square)

    def advance(self, moment: Moment) -> Moment:
        """The moment after the round."""
        return moment.through(self.mean, self.size, self.spread(moment), self.spread_root(moment))

    def change(self, moment: Moment) -> Moment:
        """The moment of z' - z."""
        identity = np.eye(len(moment.mean))
        return moment.through(self.mean - identity, self.size + identity, self.spread(moment), self.spread_root(moment))


class SampledRound(RoundMap):
    """A round whose new covariance is put together block by block.

    With Bbar = sum_i B_i the covariance goes to A_0 C A_0' + pi_1 (Bbar C A_0' + its transpose) + pi_2 Bbar C Bbar'
    plus what the mean and the single clients add. Client i's rows of Bbar touch the server, itself and the constant
    alone: a product with it costs a fraction of one with a full matrix. ``parts`` are the B_i of the clients that may
    take part; pi_1 = pi_2 = 1 where all of them do.
    """

    def __init__(
        self, general: RoundMap, Bbar: Array, keep: Array, parts: Sequence[Fluctuation], inclusion: tuple[float, float]
    ) -> None:
        super().__init__(general.mean, general.size, general.noise, general.fluctuations)
        servers = len(keep)
        self._keep, self._inclusion, self._cut = keep, inclusion, servers
        self._rows, self._columns = (np.stack(part) for part in zip(*((p.rows, p.columns) for p in parts), strict=True))
        own = self._rows[:, servers:]
        self._mine = own.ravel()
        self._server_rows, self._last = Bbar[:servers], Bbar[self._mine, -1:]
        self._from_server = np.ascontiguousarray(Bbar[self._mine, :servers])
        self._own = np.ascontiguousarray(Bbar[own[:, :, None], own[:, None, :]])
        self._matrices = np.stack([part.matrix for part in parts])

    def _product(self, X: Array) -> Array:
        """Bbar X."""
        cut, (n, size, _), width = self._cut, self._own.shape, X.shape[1]
        result = np.zeros_like(X)
        result[:cut] = self._server_rows @ X
        mine = np.matmul(self._own, X[self._mine].reshape(n, size, width)).reshape(n * size, width)
        result[self._mine] = mine + self._from_server @ X[:cut] + self._last * X[-1]
        return result

    def advance(self, moment: Moment) -> Moment:
        """The moment after the round."""
        one, two = self._inclusion
        C, cut = moment.covariance, self._cut
        new = C.copy()
        new[:cut] = self._keep @ new[:cut]
        new[:, :cut] = new[:, :cut] @ self._keep.T
        new += self.noise
        half = self._product(C)
        new += two * self._product(np.ascontiguousarray(half.T))
        half[:, :cut] = half[:, :cut] @ self._keep.T
        new += one * (half + half.T)
        shift = self._product(moment.mean[:, None])[:, 0]
        new += (two - one * one) * np.outer(shift, shift)
        if one == two:
            return moment.carried(self.mean, self.size, new, self.spread_root(moment))
        second = C[self._columns[:, :, None], self._columns[:, None, :]]
        squares = np.matmul(np.matmul(self._matrices, second), self._matrices.transpose(0, 2, 1))
        # The means' share by what it comes to: its terms may cancel, and would leave their rounding behind.
        shifts = np.matmul(self._matrices, moment.mean[self._columns][:, :, None])
        squares += shifts * shifts.transpose(0, 2, 1)
        for rows, square in zip(self._rows, squares, strict=True):
            new[np.ix_(rows, rows)] += (one - two) * square
        return moment.carried(self.mean, self.size, new, self.spread_root(moment))


class Moments:
    """The second-moment recursion of one setup."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.rounds_of = AffineRounds(setup)
        self.n = setup.problem.n
        self.server, self.client = self.rounds_of.server.size, self.rounds_of.client.size
        self.size = self.server + self.n * self.client + 1
        self.measured = setup.operator(setup.algorithm.record_oracle)
        self.fixed = setup.trace.fixed(setup.T)
        self.last = np.full(self.n, -1)
        self._maps: dict[bytes, RoundMap] = {}

    def inputs(self, i: int) -> NDArray[np.intp]:
        """Positions of y_i = (server, client_i, 1) in z."""
        start = self.server + i * self.client
        return np.concatenate([np.arange(self.server), np.arange(start, start + self.client), [self.size - 1]])

    def outputs(self, i: int) -> NDArray[np.intp]:
        """Positions of (server, client_i) in z, the part that client i changes."""
        return self.inputs(i)[:-1]

    def start(self) -> Moment:
        """Mean and covariance of the starting state."""
        server, from_clients, means, noises = self.rounds_of.start()
        covariance = np.zeros((self.size, self.size))
        for i, noise in enumerate(noises):
            rows = self.outputs(i)
            loading = np.vstack([from_clients @ noise, noise])
            covariance[np.ix_(rows, rows)] += loading @ loading.T
        mean = np.concatenate([server, *means, [1.0]])
        return Moment(mean, covariance, self.size * _EPS * np.abs(mean), np.sqrt(_EPS * np.diagonal(covariance)))

    def increment(self, i: int, delay: float, to_server: Array) -> tuple[Array, Array, Array]:
        """What client i adds: rows ``outputs(i)`` on columns ``inputs(i)``, their size, and its noise covariance."""
        part = self.rounds_of.client_round(i, delay)
        change = part.client_rows.copy()
        change[:, self.server : self.server + self.client] -= np.eye(self.client)
        load = np.zeros((self.server + self.client, self.client + len(part.message_rows)))
        load[: self.server, self.client :] = to_server
        load[self.server :, : self.client] = np.eye(self.client)
        size = np.vstack([np.abs(to_server) @ part.message_size, part.client_size])
        return np.vstack([to_server @ part.message_rows, change]), size, load @ part.noise @ load.T

    def check_projection(self, moment: Moment, t: int) -> None:
        """Raise `InputError` where the projection would have acted on the state of round t."""
        if self.setup.algorithm.projects is None or t == 0:
            return
        radius = float(self.setup.step_sizes["r"])
        slot, block = self.setup.projected
        norm = float(np.linalg.norm(moment.mean[self.rounds_of.server.variable(block, slot)]))
        if norm > radius * (1 + 1e-12):
            raise InputError(
                f"the projection on the ball of radius {radius:g} acts in round {t} (norm {norm:.6g}), which is not "
                "affine: use engine=step or leap, or a larger r"
            )

    def rounds(self) -> Iterator[tuple[Moment, RoundMap]]:
        """The moment before round t and the map of round t, for t = 0, 1, ..., T-1; NaN once a moment overflows."""
        moment = self.start()
        for t in range(self.setup.T):
            round_map = self.round_map(t)
            yield moment, round_map
            if t + 1 < self.setup.T:
                moment = round_map.advance(moment)
                if not np.isfinite(moment.covariance).all() or not np.isfinite(moment.mean).all():
                    nothing = np.full_like(moment.mean, np.nan)
                    moment = Moment(nothing, np.full_like(moment.covariance, np.nan), nothing, nothing)

    @property
    def constant(self) -> bool:
        """Whether every round has the same map."""
        if self.fixed is not None:
            # Rows without a stride are one row repeated.
            same = self.fixed.strides[0] == 0 or bool((self.fixed == self.fixed[0]).all())
            return not self.setup.algorithm.uses_delay and same
        trace = self.setup.trace
        return isinstance(trace, Uniform) or (isinstance(trace, Bernoulli) and trace.p.ndim == 1)

    def round_map(self, t: int) -> RoundMap:
        """How round t changes the moments; call in order of t. Maps are kept per participants and their delays."""
        trace = self.setup.trace
        if self.fixed is None and isinstance(trace, Uniform):
            return self._kept(b"", lambda: self._sampled({trace.m: (1.0, *trace.inclusion)}))
        if self.fixed is None:
            assert isinstance(trace, Independent)
            p = trace.probabilities(t, 1)[0]
            return self._kept(p.tobytes(), lambda: self._independent(p))
        members = np.flatnonzero(self.fixed[t])
        delays = t - self.last[members] if self.setup.algorithm.uses_delay else np.ones(len(members), dtype=int)
        self.last[members] = t
        key = members.tobytes() + b"/" + delays.tobytes()
        return self._kept(key, lambda: self._given(members, delays))

    def _kept(self, key: bytes, build: Callable[[], RoundMap]) -> RoundMap:
        if key not in self._maps:
            if len(self._maps) == _KEPT_MAPS:
                self._maps.clear()
            self._maps[key] = build()
        return self._maps[key]

    def _base(self, keep: Array) -> Array:
        A_0 = np.eye(self.size)
        A_0[: self.server, : self.server] = keep
        return A_0

    def _given(self, members: NDArray[np.intp], delays: NDArray[np.intp]) -> RoundMap:
        keep, to_server = self.rounds_of.aggregate(len(members))
        A_0 = self._base(keep)
        B, size, noise, parts = self._sum(
            [(int(i), float(delay)) for i, delay in zip(members, delays, strict=True)], to_server
        )
        general = RoundMap(A_0 + B, np.abs(A_0) + size, noise)
        return SampledRound(general, B, keep, parts, (1.0, 1.0)) if parts else general

    def _sampled(self, counts: Mapping[int, tuple[float, float, float]]) -> RoundMap:
        """Exchangeable sampling: ``counts`` maps |S| to P(|S|), pi_1 = P(i in S given |S|) and pi_2 = P(i, j in S).

        Given |S|, the indicators have the covariance (pi_2 - pi_1^2) 11' + (pi_1 - pi_2) I.
        """
        whole = np.arange(self.size)
        maps, fluctuations = [], []
        for count, (probability, one, two) in counts.items():
            keep, to_server = self.rounds_of.aggregate(count)
            A_0 = self._base(keep)
            Bbar, size, noise, parts = self._sum([(i, np.inf) for i in range(self.n)], to_server)
            maps.append((probability, A_0 + one * Bbar, np.abs(A_0) + one * size, one * noise))
            fluctuations.append(Fluctuation(probability * (two - one * one), Bbar, whole, whole))
            fluctuations += [replace(part, weight=probability * (one - two)) for part in parts]
        general = _mixture(maps, fluctuations)
        if len(counts) > 1:
            return general
        return SampledRound(general, Bbar, keep, parts, (one, two))

    def _independent(self, p: Array) -> RoundMap:
        """Every client on its own, client i with probability p[i]."""
        tables = [self.rounds_of.aggregate(count) for count in range(self.n + 1)]
        if all((a == b).all() for table in tables for a, b in zip(table, tables[0], strict=True)):
            return self._by_client(p, *tables[0])
        if (p == p[0]).all():
            counts = range(self.n + 1)
            probabilities = _count_probabilities(p)
            pairs = max(self.n * (self.n - 1), 1)
            return self._sampled({c: (probabilities[c], c / self.n, c * (c - 1) / pairs) for c in counts})
        return self._unequal(p, tables)

    def _by_client(self, p: Array, keep: Array, to_server: Array) -> RoundMap:
        """Where the server does not divide by how many came, each client's coin is a fluctuation of its own."""
        A_0 = self._base(keep)
        mean, size, noise = A_0.copy(), np.abs(A_0), np.zeros_like(A_0)
        fluctuations = []
        for i in range(self.n):
            B, sizes, N, (part,) = self._sum([(i, np.inf)], to_server)
            mean, size, noise = mean + p[i] * B, size + p[i] * sizes, noise + p[i] * N
            fluctuations.append(replace(part, weight=p[i] * (1 - p[i])))
        return RoundMap(mean, size, noise, fluctuations)

    def _unequal(self, p: Array, tables: Sequence[tuple[Array, Array]]) -> RoundMap:
        """Different probabilities and a server that divides by |S|: given |S|, along the indicators' covariance."""
        whole = np.arange(self.size)
        count_probability, one, two = _inclusion_by_count(p)
        maps, fluctuations = [], []
        for count, (keep, to_server) in enumerate(tables):
            if count_probability[count] == 0.0:
                continue
            A_0 = self._base(keep)
            clients = [self._sum([(i, np.inf)], to_server)[:3] for i in range(self.n)]
            given = one[count] / count_probability[count]
            mean, size, noise = A_0.copy(), np.abs(A_0), np.zeros_like(A_0)
            for share, (B, sizes, N) in zip(given, clients, strict=True):
                mean, size, noise = mean + share * B, size + share * sizes, noise + share * N
            maps.append((float(count_probability[count]), mean, size, noise))
            covariance = two[count] / count_probability[count] - np.outer(given, given)
            values, vectors = np.linalg.eigh(covariance)
            for value, vector in zip(values, vectors.T, strict=True):
                if abs(value) > _EPS:
                    B = sum((entry * client[0] for entry, client in zip(vector, clients, strict=True)), np.zeros(()))
                    weight = float(count_probability[count] * value)
                    fluctuations.append(Fluctuation(weight, np.asarray(B), whole, whole))
        return _mixture(maps, fluctuations)

    def _sum(
        self, members: Iterable[tuple[int, float]], to_server: Array
    ) -> tuple[Array, Array, Array, list[Fluctuation]]:
        """Sums over (client, delay) of B_i, of its size and of the noise covariance, and the B_i one by one."""
        total, sizes, noise = (np.zeros((self.size, self.size)) for _ in range(3))
        parts = []
        for i, delay in members:
            B, size, N = self.increment(i, delay, to_server)
            rows, columns = self.outputs(i), self.inputs(i)
            total[np.ix_(rows, columns)] += B
            sizes[np.ix_(rows, columns)] += size
            noise[np.ix_(rows, rows)] += N
            parts.append(Fluctuation(1.0, B, rows, columns))
        return total, sizes, noise, parts

    def gradient_rows(self, i: int) -> Array:
        """What client i's measured oracle returns at the recorded point, as a matrix (d, size) on z."""
        M, c = self.measured
        rows = M[i] @ self.point_rows(i)
        rows[:, -1] -= c[i]
        return rows

    def point_rows(self, i: int) -> Array:
        """The recorded point of client i as a matrix (d, size) on z."""
        rows = np.zeros((self.setup.problem.d, self.size))
        at = self.point(i)
        kept = at >= 0
        rows[np.flatnonzero(kept), at[kept]] = 1.0
        return rows

    def variable_rows(self, name: str, i: int) -> Array:
        """A variable by name as a matrix on z: one of the server's, or else client i's."""
        algorithm = self.setup.algorithm
        owns = name in algorithm.server
        group, layout, offset = (
            (algorithm.server, self.rounds_of.server, 0)
            if owns
            else (algorithm.client, self.rounds_of.client, self.server + i * self.client)
        )
        if name not in group:
            known = ", ".join({**algorithm.server, **algorithm.client})
            raise InputError(f"{self.setup.method.name} has no variable {name!r}, only {known}")
        block = algorithm.blocks.index(group[name])
        slot = [each for each, where in group.items() if where == group[name]].index(name)
        at = offset + layout.variable(block, slot)
        rows = np.zeros((len(at), self.size))
        rows[np.arange(len(at)), at] = 1.0
        return rows

    def point(self, i: int) -> NDArray[np.intp]:
        """Positions in z of the point at which client i's quantities are recorded, -1 where there is none."""
        parts = []
        for block, (group, slot) in enumerate(self.setup.maps.point()):
            if slot < 0:
                parts.append(np.full(self.rounds_of.server.sizes[block], -1, dtype=np.intp))
            elif group == "server":
                parts.append(self.rounds_of.server.variable(block, slot))
            else:
                parts.append(self.server + i * self.client + self.rounds_of.client.variable(block, slot))
        return np.concatenate(parts)

    def slot_rows(self, i: int, block: int) -> list[Array]:
        """Maps of z for the slots (server, client, gradient, point) of one block, in the order of a `TermMap`."""
        size = self.setup.sizes[self.setup.algorithm.blocks[block]]
        starts = self.setup.starts
        rows = []
        for layout, offset in ((self.rounds_of.server, 0), (self.rounds_of.client, self.server + i * self.client)):
            for slot in range(layout.counts.slots):
                part = np.zeros((size, self.size))
                if slot < layout.counts.by_block[block]:
                    part[np.arange(size), offset + layout.variable(block, slot)] = 1.0
                rows.append(part)
        here = slice(starts[block], starts[block + 1])
        return [*rows, self.gradient_rows(i)[here], self.point_rows(i)[here]]


def _mixture(maps: Sequence[tuple[float, Array, Array, Array]], fluctuations: Sequence[Fluctuation]) -> RoundMap:
    """The round map of a mixture of (probability, mean, size, noise), whose parts fluctuate as given."""
    mean, size, noise = (sum(part[0] * part[k] for part in maps) for k in (1, 2, 3))
    whole = np.arange(len(maps[0][1]))
    apart = [Fluctuation(part[0], part[1] - mean, whole, whole) for part in maps if len(maps) > 1]
    kept = [part for part in (*fluctuations, *apart) if part.weight != 0.0]
    return RoundMap(np.asarray(mean), np.asarray(size), np.asarray(noise), _compressed(kept))


def _compressed(fluctuations: Sequence[Fluctuation]) -> list[Fluctuation]:
    """The same sum of weight * F M F' from fewer matrices.

    Matrices in the same place that are combinations of few (such as multiples of one another) are replaced by those:
    with G = (sqrt(weight_k) F_k)_k, the sum over k is unchanged by an orthogonal transformation of the F_k.
    """
    groups: dict[tuple[bytes, bytes, bool], list[Fluctuation]] = {}
    for part in fluctuations:
        groups.setdefault((part.rows.tobytes(), part.columns.tobytes(), part.weight > 0), []).append(part)
    result = []
    for (_, _, positive), parts in groups.items():
        if len(parts) == 1:
            result += parts
            continue
        G = np.stack([math.sqrt(abs(part.weight)) * part.matrix.ravel() for part in parts], axis=1)
        values, vectors = np.linalg.eigh(G.T @ G)
        shape, weight = parts[0].matrix.shape, 1.0 if positive else -1.0
        for k in np.flatnonzero(values > _EPS * values[-1]):
            matrix = np.ascontiguousarray((G @ vectors[:, k]).reshape(shape))
            result.append(Fluctuation(weight, matrix, parts[0].rows, parts[0].columns))
    return result


def _count_probabilities(p: Array) -> Array:
    """P(|S| = c) for c = 0 ... n, clients being independent."""
    counts = np.zeros(len(p) + 1)
    counts[0] = 1.0
    for probability in p:
        counts[1:] = (1 - probability) * counts[1:] + probability * counts[:-1]
        counts[0] *= 1 - probability
    return counts


def _inclusion_by_count(p: Array) -> tuple[Array, Array, Array]:
    """P(|S| = c), P(i in S, |S| = c) and P(i, j in S, |S| = c): arrays (n+1,), (n+1, n) and (n+1, n, n)."""
    n = len(p)
    one, two = np.zeros((n + 1, n)), np.zeros((n + 1, n, n))
    for i in range(n):
        rest = np.delete(p, i)
        one[1:, i] = p[i] * _count_probabilities(rest)
        two[:, i, i] = one[:, i]
        for j in range(i):
            both = p[i] * p[j] * _count_probabilities(np.delete(rest, j))
            two[2:, i, j] = two[2:, j, i] = both
    return _count_probabilities(p), one, two
