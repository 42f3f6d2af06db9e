"""The expectation of a run without sampling: first and second moments on quadratics with additive noise.

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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import TermOver
from ratecheck.aliases import Array, Progress
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments.affine import AffineRounds, ClientRound
from ratecheck.engines.moments.block_rounds import BlockMixing, BlockRound, SampledRound
from ratecheck.engines.moments.coefficients import CoefficientReader
from ratecheck.engines.moments.moment import (
    EPS,
    TINY,
    LocalMoments,
    Moment,
    MomentForms,
    columns,
    majorant,
    squares,
    turned,
)
from ratecheck.engines.moments.roundmap import Fluctuation, Noise, RoundMap, kept, mixture
from ratecheck.engines.moments.terms import RecordedTerms, Sides, summands, together
from ratecheck.engines.records import RecordPlan, plan
from ratecheck.engines.setup import Setup, check_clients, check_linear
from ratecheck.errors import InputError
from ratecheck.execution.one_thread import single_threaded
from ratecheck.participation.model.counts import count_probabilities, inclusion_by_count
from ratecheck.participation.model.law import Clients, Multinomial, Sets, Subsets

# Round maps kept per set of participants, and increments per client and delay: bounds the memory on long given traces.
_KEPT_MAPS, KEPT_INCREMENTS = 64, 1024


def check_affine_gradients(setup: Setup) -> None:
    """Raise `InputError` unless every client's gradient is affine."""
    if not setup.problem.affine:
        raise InputError(f"the exact engine needs a quadratic problem, not a {setup.problem.kind} one: use engine=step")


def check_affine(setup: Setup) -> None:
    """Raise `InputError` unless rounds are affine, whoever takes part: a quadratic problem and a linear method."""
    check_linear(setup, "the exact engine")
    check_affine_gradients(setup)
    if setup.algorithm.steps_per_sample > 1 and setup.noise.any():
        raise InputError(f"{setup.method.name} {setup.algorithm.beyond}, which have one noise then: use engine=step")
    fixed = setup.trace.deterministic
    if setup.algorithm.projects and math.isfinite(float(setup.step_sizes["r"])) and (setup.noise.any() or not fixed):
        raise InputError(
            "a projection is not affine: the exact engine can leave it out only where nothing is random and it never "
            "acts; use engine=step, or r=inf"
        )


def check_exact(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine and rounds are independent: see `epochs` for orders."""
    check_clients(setup)
    check_affine(setup)
    if setup.trace.deterministic:
        return
    if (law := setup.trace.law(0)) is None:
        raise InputError(
            "the exact engine needs uniform or independent sampling, or a fixed pattern: use engine=step, or draw a "
            "trace"
        )
    if setup.algorithm.compressed and not law.uniform:
        raise InputError(
            f"{setup.method.spoken} compresses at random, which the exact engine follows for uniform sampling and "
            "given participants: use engine=step"
        )
    if setup.algorithm.uses_delay:
        raise InputError(f"{setup.method.spoken} depends on delays, here random: draw a trace, or use engine=step")


def expect(setup: Setup, *, progress: Progress | None = None) -> Expectation:
    """Expectations of all recorded quantities over T rounds; raises `InputError` for a run that is not affine."""
    check_exact(setup)
    return follow(setup, client_by_client, progress=progress)


def follow(setup: Setup, recursion: Callable[[Setup], Moments], *, progress: Progress | None = None) -> Expectation:
    """`expect` by this recursion of the moments, of a run that it follows."""
    # An overflow is a result here: the run diverges.
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        moments = recursion(setup)
        recorder = moments.recorder()
        values, errors = np.empty((len(recorder.names), setup.T)), np.empty((len(recorder.names), setup.T))
        for t, moment in enumerate(moments.before_rounds()):
            values[:, t], errors[:, t] = recorder.record(moment)
            if progress is not None and t % 64 == 0:
                progress(t / setup.T)
    records, rounding = (dict(zip(recorder.names, rows, strict=True)) for rows in (values, errors))
    return Expectation(records, rounding, setup.metric, setup.trace.rate)


# Quantities, factors, the entries (products, entries) that are spoken of, and both sides as stacks on these.
_Products = tuple[NDArray[np.intp], Array, NDArray[np.intp], Sides, Sides]


class Recorder:
    """The planned quantities of a moment, or ``names`` of them: weighted sums of E(row z)^2 and of products of rows."""

    def __init__(self, moments: Moments, names: Collection[str] | None = None) -> None:
        self._wanted = names
        plans = [self._plan(part) for part in moments.parts]
        self.names = plans[0].names
        # Roundings by which a row is made: a mean over clients among them, and what parts have in common.
        self._scale = moments.distinct + 8 + (len(plans) - 1) * len(plans)
        constants = np.array([[record.constant for record in each.records] for each in plans])
        doubts = np.array([[record.doubt for record in each.records] for each in plans]) + EPS * np.abs(constants)
        self.constants, self.doubts = constants.sum(axis=0), doubts.sum(axis=0)
        squared, products = zip(*map(self._read, moments.parts), strict=True)
        self._rows, sizes, self._owner = (
            each[0] if len(each) == 1 else np.stack(each) for each in zip(*squared, strict=True)
        )
        self._products: list[tuple[int, float, Sides, Sides]] = list(products[0])
        if len(products) > 1:
            self._products = [
                (*each[0][:2], together([one[2] for one in each]), together([one[3] for one in each]))
                for each in zip(*products, strict=True)
            ]
        self._sizes, self._large = sizes * self._scale, np.abs(self._rows)
        self._shares, self._unit = np.abs(self._owner), int(np.count_nonzero(self._rows, axis=-1).max(initial=0)) + 8
        # Quantities that are made of squares: the others have no form.
        self._squared = np.flatnonzero(self._shares.any(axis=(*range(self._shares.ndim - 2), -1)))
        self._set_forms()

    def _set_forms(self) -> None:
        self._forms = MomentForms.of(self._squares(self._owner))
        positive = bool((self._owner >= 0).all())
        self._above = self._forms if positive else MomentForms.of(self._squares(self._shares))

    def _plan(self, moments: Moments) -> RecordPlan:
        """What is recorded of a part."""
        return moments.plan if self._wanted is None else moments.plan.only(self._wanted)

    def _read(self, moments: Moments) -> tuple[tuple[Array, Array, Array], list[tuple[int, float, Sides, Sides]]]:
        """Rows, their sizes and their weights in the quantities, and the products."""
        recorded, size = self._plan(moments), moments.size
        terms = RecordedTerms(moments, recorded)
        rows, sizes, weights, owners = (
            [np.zeros((0, size))],
            [np.zeros((0, size))],
            [np.zeros(0)],
            [np.zeros(0, dtype=int)],
        )
        products: list[tuple[int, float, Sides, Sides]] = []

        def square(owner: int, side: Sides, weight: float) -> None:
            rows.append(side[0])
            sizes.append(side[1])
            weights.append(np.full(len(side[0]), weight))
            owners.append(np.full(len(side[0]), owner))

        for q, record in enumerate(recorded.records):
            if len(record.rows):
                point = moments.point_rows(0)
                matrix, large = record.rows @ point, record.sizes[:, :-1] @ point
                matrix[:, -1] -= record.offset
                large[:, -1] += record.sizes[:, -1]
                square(q, (matrix, large), 1.0)
            for column in record.terms:
                over = column[0].over
                if over is TermOver.VALUES:
                    for i, term in enumerate(column):
                        gradient, slope = moments.gradient_rows(i), moments.slope_rows(i)
                        large = np.abs(gradient) + np.abs(slope)
                        gradient -= slope
                        point = moments.point_rows(i)
                        for share, left, right in moments.over_clients(i, (point, np.abs(point)), (gradient, large)):
                            products.append((q, term.factor / (2 * share), left, right))
                    continue
                for factor, left, right in summands(moments, column, terms.sides(column)):
                    if np.array_equal(left[0], right[0]):
                        square(q, left, factor)
                    else:
                        products.append((q, factor, left, right))
        owner = np.concatenate(owners)
        table = np.zeros((len(self.names), len(owner)))
        table[owner, np.arange(len(owner))] = np.concatenate(weights)
        return (np.concatenate(rows), np.concatenate(sizes), table), products

    @cached_property
    def _together(self) -> list[_Products]:
        """Products of as many rows on as many entries."""
        groups: dict[tuple[int, int], list[tuple[int, float, NDArray[np.intp], Sides, Sides]]] = {}
        for q, factor, left, right in self._products:
            used = columns(sum((np.abs(each) for each in (*left, *right)), np.zeros(())))
            groups.setdefault((left[0].shape[-2], len(used)), []).append((q, factor, used, left, right))
        found: list[_Products] = []
        for parts in groups.values():
            owners, factors, places, *sides = zip(*parts, strict=True)
            left, right = (self._stacked(places, each) for each in sides)
            found.append((np.array(owners), np.array(factors), np.stack(places), left, right))
        return found

    def _stacked(self, places: Sequence[NDArray[np.intp]], sides: Sequence[Sides]) -> Sides:
        """Sides at their places, as stacks."""
        rows, sizes = (
            np.stack([each[k][..., at] for at, each in zip(places, sides, strict=True)], axis=-3) for k in (0, 1)
        )
        return rows, self._scale * sizes

    def _squares(self, weights: Array) -> Array:
        """Forms (quantities, size * size) of the weighted sums of squares of the rows, for those that have any."""
        forms = []
        for weight in np.moveaxis(weights[..., self._squared, :], -2, 0):
            used = columns(weight)
            rows = self._rows[..., used, :]
            forms.append((turned(rows * weight[..., used, None]) @ rows).ravel())
        return np.array(forms).reshape(len(forms), -1 if forms else 0)

    def _evaluated(self, forms: MomentForms, matrix: Array) -> Array:
        """<form, matrix> of every quantity."""
        parts = self._rows.ndim
        found = np.zeros((*matrix.shape[:-parts], len(self.names)))
        if len(forms.entries):
            found[..., self._squared] = forms.on(matrix.reshape(*matrix.shape[:-parts], -1))
        return found

    def narrow(self) -> NDArray[np.intp]:
        """Let the state be that of the entries that the quantities speak of, which are returned."""
        sides = [self._rows, self._sizes, *(part for *_, left, right in self._products for part in (*left, *right))]
        used = columns(np.concatenate([np.abs(each).reshape(-1, each.shape[-1]) for each in sides]))
        self._rows, self._sizes, self._large = (each[..., used] for each in (self._rows, self._sizes, self._large))
        self._products = [
            (q, factor, (left[0][..., used], left[1][..., used]), (right[0][..., used], right[1][..., used]))
            for q, factor, left, right in self._products
        ]
        self._set_forms()
        return used

    def record(self, moment: Moment) -> tuple[Array, Array]:
        """Values in the order of ``names``, (names,) or (runs, names), and their rounding errors."""
        means = squares(self._rows @ moment.mean)
        values = self.constants + _over(self._owner, means)
        # E|r(z + e)|^2 - E|rz|^2 is at most 2 sqrt(E|rz|^2 E|re|^2) + E|re|^2; the rows r themselves are rounded, too.
        own = self._sizes @ (self._unit * moment.roots)
        square, rounding = _over(self._shares, means), np.zeros_like(values)
        if moment.certain:
            off = np.maximum(self._evaluated(self._above, moment.off), 0.0)
        else:
            spread = self._evaluated(self._forms, moment.covariance)
            values += spread
            if self._above is not self._forms:
                spread = self._evaluated(self._above, moment.covariance)
            scatter = self._large @ moment.spreads
            off, rounding = (self._evaluated(self._above, each) for each in (moment.off, moment.rounding))
            off, rounding = np.maximum(off, 0.0), np.maximum(rounding, 0.0)
            square = square + np.abs(spread)
            rounding = rounding + 4 * self._unit * _over(self._shares, scatter**2)
        off = EPS * (np.sqrt(off) + np.sqrt(_over(self._shares, own**2)))
        errors = self.doubts + (2 * np.sqrt(square) + off) * off + EPS * (rounding + 16 * square)
        errors = errors + TINY * (_over(self._shares, means != 0) > 0)
        for owners, factors, at, left, right in self._together:
            found, wrong = LocalMoments(moment, at).inner(left, right)
            np.add.at(values.T, owners, (factors * found).T)
            np.add.at(errors.T, owners, (np.abs(factors) * (wrong + 8 * EPS * np.abs(found))).T)
        # An error that left the range of floats has no bound.
        return values, np.where(np.isnan(errors) & np.isfinite(values), np.inf, errors)

    def form(self, name: str) -> Sides:
        """The symmetric matrix Q of a quantity, a constant plus E[z'Qz], and the size of its terms."""
        q = self.names.index(name)
        form = np.zeros((*self._rows.shape[:-2], *[self._rows.shape[-1]] * 2))
        if q in self._squared:
            form += self._squares(self._owner)[np.flatnonzero(self._squared == q)[0]].reshape(form.shape)
        size = turned(self._sizes * self._shares[..., q, :, None]) @ self._sizes / self._scale
        for owners, factors, at, left, right in self._together:
            mine = owners == q
            if not mine.any():
                continue
            square = at[mine][:, :, None], at[mine][:, None]
            halves = factors[mine][:, None, None] / 2
            for found, share, k in ((form, halves, 0), (size, np.abs(halves) / self._scale, 1)):
                one, other = (side[k][..., mine, :, :] for side in (left, right))
                added = share * (turned(one) @ other + turned(other) @ one)
                # One form, or one for each of the parts.
                targets, summands = found.reshape(-1, *found.shape[-2:]), added.reshape(-1, *added.shape[-3:])
                for target, summand in zip(targets, summands, strict=True):
                    np.add.at(target, square, summand)
        return form, size

    def centred(self, shift: Array, second: Array) -> Centred:
        """The quantities of x where the state is z = shift x, at a second moment of x or a sum of such."""
        pairs = np.triu_indices(len(second))
        roots, large = np.sqrt(np.maximum(np.diagonal(second), 0.0)), np.abs(shift)
        rows, sizes = self._rows @ shift, self._unit * (self._sizes @ large @ roots)
        own, scatter = self._shares @ sizes**2, self._shares @ (np.abs(rows) @ roots) ** 2
        signed, above = (np.einsum("qr,ra,rb->qab", weights, rows, rows) for weights in (self._owner, self._shares))
        for q, factor, *sides in self._products:
            left, right = (side[0] @ shift for side in sides)
            a, b = (math.sqrt(max(float(np.sum((part @ second) * part)), 0.0)) for part in (left, right))
            # |<l, r>| is at most (theta |l|^2 + |r|^2/theta)/2.
            theta = b / a if a > 0 < b else 1.0
            signed[q] += factor / 2 * (left.T @ right + right.T @ left)
            for share, part, side in ((theta, left, sides[0]), (1 / theta, right, sides[1])):
                weight = abs(factor) / 2 * share
                above[q] += weight * part.T @ part
                wrong = self._scale * self._unit * (side[1] @ large @ roots)
                own[q] += weight * float(wrong @ wrong)
                scatter[q] += weight * float(np.sum((np.abs(part) @ roots) ** 2))
        return Centred(signed[:, *pairs], above[:, *pairs], np.sqrt(own), scatter)


@dataclass(frozen=True)
class Centred:
    """Forms of the quantities, by the entries on and above the diagonal, and nonnegative ones that bound them.

    In units of rounding, ``own`` is the root of what their rows are off and ``scatter`` the rounding of their products.
    """

    signed: Array
    above: Array
    own: Array
    scatter: Array


def _over(weights: Array, terms: Array) -> Array:
    """Weighted sums of terms, which are columns in the parts of a stack."""
    return weights @ terms if terms.ndim == 1 else (weights @ terms).sum(axis=(-3, -1))


class Moments:
    """The second-moment recursion of one setup."""

    sampled_round = SampledRound

    def __init__(self, setup: Setup, rounds: AffineRounds | None = None) -> None:
        self.setup = setup
        self.rounds_of = AffineRounds(setup) if rounds is None else rounds
        self.n, self.distinct = setup.problem.n, setup.problem.distinct
        self.server, self.client = self.rounds_of.server.size, self.rounds_of.client.size
        self.size = self.server + self.distinct * self.client + 1
        # How many clients there are of each that is followed.
        self.counts = np.ones(self.distinct)
        self.measured = setup.operator(setup.algorithm.record_oracle)
        self.fixed = setup.trace.fixed(setup.T)
        self.last = np.full(self.distinct, -1)
        self._maps: dict[bytes, RoundMap] = {}
        self._increments: dict[tuple[int, float, bytes], tuple[Array, Array, Noise]] = {}

    @property
    def parts(self) -> Sequence[Moments]:
        """The moments of parts of the state that have nothing to do with one another, see `Moment`: one, as a rule."""
        return [self]

    def recorder(self) -> Recorder:
        """The quantities that `before_rounds` gives the moments of."""
        return Recorder(self)

    @cached_property
    def plan(self) -> RecordPlan:
        """What is recorded."""
        return plan(self.setup)

    def inputs(self, i: int) -> NDArray[np.intp]:
        """Positions of y_i = (server, client_i, 1) in z."""
        start = self.server + i * self.client
        return np.concatenate([np.arange(self.server), np.arange(start, start + self.client), [self.size - 1]])

    def outputs(self, i: int) -> NDArray[np.intp]:
        """Positions of (server, client_i) in z, the part that client i changes."""
        return self.inputs(i)[:-1]

    def start(self) -> Moment:
        """Mean and covariance of the starting state."""
        start = self.rounds_of.start()
        covariance = np.zeros((self.size, self.size))
        for i, noise in enumerate(start.roots):
            rows = self.outputs(i)
            loading = np.vstack([start.from_clients @ noise, noise])
            covariance[rows[:, None], rows] += loading @ loading.T
        mean = np.concatenate([start.server, *start.means, [1.0]])
        size = np.concatenate([start.server_size, *start.sizes, [0.0]])
        roots = np.sqrt(np.diagonal(covariance))
        unit = self.setup.problem.d + self.n + 16
        off = np.diag(majorant(unit * (size + roots)))
        nothing = np.zeros(self.size)
        return Moment(mean, covariance, off, np.diag(majorant(np.sqrt(2 * unit) * roots)), nothing, nothing)

    def increment(self, i: int, delay: float, to_server: Array) -> tuple[Array, Array, Noise]:
        """As `_increment`, once for every client, delay, and number of participants."""
        key = i, delay, to_server.tobytes()
        if key not in self._increments:
            if len(self._increments) == KEPT_INCREMENTS:
                self._increments.clear()
            first = self.rounds_of.firsts[i]
            found = self._increment(i, delay, to_server) if first == i else self.increment(first, delay, to_server)
            self._increments[key] = found
        return self._increments[key]

    def _increment(self, i: int, delay: float, to_server: Array) -> tuple[Array, Array, Noise]:
        """The increment of client i: rows ``outputs(i)`` on columns ``inputs(i)``, their error in units, its noise."""
        return self._added_by(i, self.rounds_of.client_round(i, delay), to_server)

    def loading(self, i: int, to_server: Array) -> Array:
        """The matrix from what client i computes, (client', message), to what it changes, rows ``outputs(i)``."""
        return np.block([[np.zeros((self.server, self.client)), to_server], [*self.rounds_of.sent(i)]])

    def _added_by(self, i: int, part: ClientRound, to_server: Array) -> tuple[Array, Array, Noise]:
        own, known = self.rounds_of.sent(i)
        change, size = own @ part.client_rows + known @ part.message_rows, np.abs(part.message_rows)
        change[..., self.server : self.server + self.client] -= np.eye(self.client)
        load = self.loading(i, to_server)
        large, told = np.abs(load).T, part.message_error + (size.shape[-2] + 8) * size
        kept_error = np.abs(own) @ part.client_error + np.abs(known) @ told
        if known.any():
            kept_error = kept_error + (len(own) + 8) * np.abs(own) @ np.abs(part.client_rows)
        error = np.concatenate([np.abs(to_server) @ told, kept_error + 2 * np.abs(change)], axis=-2)
        roots = np.sqrt(np.maximum(np.diagonal(part.noise, axis1=-2, axis2=-1), 0.0))
        unit = 2 * roots.shape[-1] + 8
        noise = Noise(
            load @ part.noise @ load.T,
            (part.off + 4 * roots) @ large,
            np.hypot(part.rough, np.sqrt(unit) * roots) @ large,
        )
        return np.concatenate([to_server @ part.message_rows, change], axis=-2), error, noise

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

    def before_rounds(self) -> Iterator[Moment]:
        """The moment before each of the T rounds."""
        return (moment for moment, _ in self.rounds())

    def rounds(self) -> Iterator[tuple[Moment, RoundMap]]:
        """The moment before round t and the map of round t, for t = 0, 1, ..., T-1; NaN once a moment overflows.

        A moment is to be read before the next one is asked for, which may take its place. Raises as `check_projection`.
        """
        moment = self.start()
        for t in range(self.setup.T):
            round_map = self.round_map(t)
            self.check_projection(moment, t)
            yield moment, round_map
            if t + 1 < self.setup.T:
                moment = round_map.carry(moment)
                if not (_finite(moment.covariance) and _finite(moment.mean)):
                    nothing, square = np.full_like(moment.loose, np.nan), np.full_like(moment.covariance, np.nan)
                    moment = Moment(np.full_like(moment.mean, np.nan), square, square, square, nothing, nothing)

    @property
    def constant(self) -> bool:
        """Whether every round has the same map."""
        if self.fixed is not None:
            # Rows without a stride are one row repeated.
            same = self.fixed.strides[0] == 0 or bool((self.fixed == self.fixed[0]).all())
            return not self.setup.algorithm.uses_delay and same
        return self.setup.trace.constant_law

    def round_map(self, t: int) -> RoundMap:
        """The map of the moments in round t; call in order of t. Maps are kept per participants and their delays."""
        if self.fixed is None:
            law = self.setup.trace.law(t)
            assert law is not None
            return law.match(
                subsets=self._of_subsets, clients=self._of_clients, draws=self._of_draws, sets=self._of_sets
            )
        members = np.flatnonzero(self.fixed[t])
        delays = t - self.last[members] if self.setup.algorithm.uses_delay else np.ones(len(members), dtype=int)
        self.last[members] = t
        key = members.tobytes() + b"/" + delays.tobytes()
        return self._kept(key, lambda: self._given(members, delays))

    def _of_subsets(self, law: Subsets) -> RoundMap:
        return self._kept(b"%d" % law.m, lambda: self._sampled({law.m: (1.0, *law.inclusion)}))

    def _of_clients(self, law: Clients) -> RoundMap:
        return self._kept(law.p.tobytes(), lambda: self._independent(law.p))

    def _of_draws(self, law: Multinomial) -> RoundMap:
        """Clients come m p_i times on average, with the covariance m diag(p) - m pp'."""
        share, whole = law.m * law.p, np.arange(self.size)

        def build() -> RoundMap:
            each = self._by_client(share, share * (1 - law.p + share), share, *self.rounds_of.aggregate(law.m))
            total = np.zeros((self.size, self.size))
            for times, part in zip(share, each.fluctuations, strict=True):
                total[np.ix_(part.rows, part.columns)] += times * part.matrix
            return replace(each, fluctuations=[*each.fluctuations, Fluctuation(-1 / law.m, total, whole, whole)])

        return self._kept(law.p.tobytes() + b"/%d" % law.m, build)

    def _of_sets(self, law: Sets) -> RoundMap:
        """A mixture of the maps of the sets."""

        def build() -> RoundMap:
            chosen = [(float(q), np.array(members, dtype=int)) for q, members in law.weighted]
            return mixture([(q, self._given(members, np.ones_like(members))) for q, members in chosen], [])

        return self._kept(repr(law.weighted).encode(), build)

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
        B, error, noise, parts = self._sum(
            [(int(i), float(delay)) for i, delay in zip(members, delays, strict=True)], to_server
        )
        coins, wrong, more = self._coins(
            ((int(i), float(delay), 1.0) for i, delay in zip(members, delays, strict=True)), to_server
        )
        off, terms = self._added(A_0, error, B) + wrong, np.abs(A_0) + np.abs(B)
        general = RoundMap(A_0 + B, off, terms, noise + more, coins)
        mixing = None
        if self.setup.mixing is not None:
            mixing = self._mixing(self.setup.mixing)
            P = np.eye(self.size)
            P[self.server : -1, self.server : -1] = mixing.matrix
            general = general.sometimes(P, mixing.share)
        # Without variables of clients there are no blocks.
        if coins or not parts or not self.client:
            return general
        own = np.stack([part.rows[self.server :] for part in parts])
        return BlockRound(general, A_0 + B, self.server, own, mixing)

    def _coins(
        self, members: Iterable[tuple[int, float, float]], to_server: Array
    ) -> tuple[list[Fluctuation], Array, Noise]:
        """The moments that compression adds for each (client, delay, probability that it takes part).

        These are fluctuations, what they are off in mean square in units of rounding, and noise. A coordinate v of
        a message becomes v + (xi - 1) v with E xi = 1 and Var xi = 1/q - 1, independent of all else.
        """
        omega, found, noise = self.setup.compression, [], Noise.none(self.size)
        wrong = np.zeros((self.size, self.size))
        if omega == 0.0:
            return [], wrong, noise
        for i, delay, share in members:
            part, (_, known) = self.rounds_of.client_round(i, delay), self.rounds_of.sent(i)
            rows, columns = self.outputs(i), self.inputs(i)
            for j in self.rounds_of.compressed:
                column = np.concatenate([to_server[:, j], known[:, j]])
                found.append(Fluctuation(share * omega, np.outer(column, part.message_rows[j]), rows, columns))
                k = self.client + j
                scale = math.sqrt(share * omega)
                size, root = np.abs(column) * scale, math.sqrt(max(part.noise[k, k], 0.0))
                wrong[np.ix_(rows, columns)] += np.outer(size, part.message_error[j] + 2 * np.abs(part.message_rows[j]))
                own = Noise.none(self.size)
                own.covariance[np.ix_(rows, rows)] = share * omega * part.noise[k, k] * np.outer(column, column)
                own.off[rows] = size * (part.off[k] + 8 * root)
                own.rough[rows] = size * math.hypot(part.rough[k], 4 * root)
                noise = noise + own
        return found, wrong, noise

    def _mixing(self, W: Array) -> BlockMixing:
        """The map of z that takes mixed variables of client i to the sum over j of W_ij times those of client j."""
        algorithm, layout, columns = self.setup.algorithm, self.rounds_of.client, [np.zeros(0, dtype=np.intp)]
        for name in algorithm.mixed:
            block = algorithm.client[name]
            slot = [each for each, where in algorithm.client.items() if where == block].index(name)
            columns.append(layout.variable(algorithm.blocks.index(block), slot))
        return BlockMixing(W, np.sort(np.concatenate(columns)), self.server, self.client, self.setup.mixes)

    def _added(self, A_0: Array, error: Array, B: Array) -> Array:
        """Errors of A_0 + B, the sum over the clients having ``error``."""
        return np.asarray(4 * np.abs(A_0) * ~kept(A_0)[:, None] + error + (self.distinct + 4) * np.abs(B))

    def _sampled(self, counts: Mapping[int, tuple[float, float, float]]) -> RoundMap:
        """Exchangeable sampling: ``counts`` maps |S| to P(|S|), pi_1 = P(i in S given |S|) and pi_2 = P(i, j in S).

        Given |S|, the indicators have the covariance (pi_2 - pi_1^2) 11' + (pi_1 - pi_2) I.
        """
        whole = np.arange(self.size)
        maps, fluctuations = [], []
        for count, (probability, one, two) in counts.items():
            keep, to_server = self.rounds_of.aggregate(count)
            A_0 = self._base(keep)
            Bbar, error, noise, parts = self._sum([(i, np.inf) for i in range(self.n)], to_server)
            # In mean square, what a client adds is there with its probability.
            terms, large = np.abs(A_0) + math.sqrt(one) * np.abs(Bbar), self._together(parts)
            error = self._added(A_0, math.sqrt(one) * error, math.sqrt(one) * large)
            coins, wrong, more = self._coins(((i, np.inf, one) for i in range(self.n)), to_server)
            maps.append((probability, RoundMap(A_0 + one * Bbar, error + wrong, terms, noise.scaled(one) + more)))
            fluctuations += [replace(coin, weight=probability * coin.weight) for coin in coins]
            fluctuations.append(Fluctuation(probability * (two - one * one), Bbar, whole, whole))
            fluctuations += [replace(part, weight=probability * (one - two)) for part in parts]
        general = mixture(maps, fluctuations)
        return general if coins or len(counts) > 1 else self.sampled_round(general, Bbar, keep, parts, (one, two))

    def _together(self, parts: Sequence[Fluctuation]) -> Array:
        """The sum of the sizes of what clients add."""
        total = np.zeros((self.size, self.size))
        for part in parts:
            total[part.rows[:, None], part.columns] += np.abs(part.matrix)
        return total

    def _independent(self, p: Array) -> RoundMap:
        """Every client on its own, client i with probability p[i]."""
        tables = [self.rounds_of.aggregate(count) for count in range(self.n + 1)]
        if all((a == b).all() for table in tables for a, b in zip(table, tables[0], strict=True)):
            return self._by_client(p, p, p * (1 - p), *tables[0])
        if (p == p[0]).all():
            counts = range(self.n + 1)
            probabilities = count_probabilities(p)
            pairs = max(self.n * (self.n - 1), 1)
            return self._sampled({c: (probabilities[c], c / self.n, c * (c - 1) / pairs) for c in counts})
        return self._unequal(p, tables)

    def _by_client(self, share: Array, square: Array, variance: Array, keep: Array, to_server: Array) -> RoundMap:
        """Clients that come, each on its own, ``share`` times on average and ``square`` in mean square; all are (n,).

        What the server does may not depend on how many come; how often each does is a fluctuation of its own.
        """
        A_0 = self._base(keep)
        mean, terms, error, noise = A_0.copy(), np.abs(A_0), np.zeros_like(A_0), Noise.none(self.size)
        fluctuations = []
        for i in range(self.n):
            B, wrong, N, (part,) = self._sum([(i, np.inf)], to_server)
            root = math.sqrt(square[i])
            mean, terms = mean + share[i] * B, terms + root * np.abs(B)
            error, noise = error + root * (wrong + 4 * np.abs(B)), noise + N.scaled(share[i])
            fluctuations.append(replace(part, weight=variance[i]))
        return RoundMap(mean, self._added(A_0, error, terms), terms, noise, fluctuations)

    def _unequal(self, p: Array, tables: Sequence[tuple[Array, Array]]) -> RoundMap:
        """Different probabilities and a server that divides by |S|: given |S|, along the indicators' covariance."""
        whole = np.arange(self.size)
        count_probability, one, two = inclusion_by_count(p)
        maps, fluctuations = [], []
        for count, (keep, to_server) in enumerate(tables):
            if count_probability[count] == 0.0:
                continue
            A_0 = self._base(keep)
            clients = [self._sum([(i, np.inf)], to_server)[:3] for i in range(self.n)]
            given = one[count] / count_probability[count]
            mean, terms, error, noise = A_0.copy(), np.abs(A_0), np.zeros_like(A_0), Noise.none(self.size)
            for share, (B, wrong, N) in zip(given, clients, strict=True):
                root = math.sqrt(share)
                mean, terms = mean + share * B, terms + root * np.abs(B)
                error, noise = error + root * (wrong + 8 * np.abs(B)), noise + N.scaled(share)
            error = self._added(A_0, error, 8 * terms)
            maps.append((float(count_probability[count]), RoundMap(mean, error, terms, noise)))
            covariance = two[count] / count_probability[count] - np.outer(given, given)
            values, vectors = np.linalg.eigh(covariance)
            for value, vector in zip(values, vectors.T, strict=True):
                if abs(value) > EPS:
                    B = sum((entry * client[0] for entry, client in zip(vector, clients, strict=True)), np.zeros(()))
                    weight = float(count_probability[count] * value)
                    fluctuations.append(Fluctuation(weight, np.asarray(B), whole, whole))
        return mixture(maps, fluctuations)

    def _sum(
        self, members: Iterable[tuple[int, float]], to_server: Array
    ) -> tuple[Array, Array, Noise, list[Fluctuation]]:
        """Sums over (client, delay) of B_i, of its error and of the noise, and the B_i one by one."""
        total, errors, covariance = (np.zeros((self.size, self.size)) for _ in range(3))
        off, rough = np.zeros(self.size), np.zeros(self.size)
        parts = []
        for i, delay in members:
            B, error, noise = self.increment(i, delay, to_server)
            columns = self.inputs(i)
            rows = columns[:-1]
            total[rows[:, None], columns] += B
            errors[rows[:, None], columns] += error
            covariance[rows[:, None], rows] += noise.covariance
            # The noises of clients are independent.
            off[rows], rough[rows] = np.hypot(off[rows], noise.off), np.hypot(rough[rows], noise.rough)
            parts.append(Fluctuation(1.0, B, rows, columns))
        return total, errors, Noise(covariance, off, rough), parts

    def mean(self, parts: Sequence[Array] | Array) -> Array:
        """The mean over the clients of matrices on z, one for each."""
        return np.asarray(np.mean(parts, axis=0))

    def over_clients(self, i: int, left: Sides, right: Sides) -> list[tuple[float, Sides, Sides]]:
        """The summands of client i's sides in (1/n) sum_i <left_i z, right_i z>: (n, left, right).

        The first entry is what a product is divided by.
        """
        return [(self.n, left, right)]

    def seen(self, i: int) -> NDArray[np.intp]:
        """Positions in z of what `of_clients` makes of maps of y_i."""
        return self.inputs(i)

    def of_clients(self, i: int, rows: Array) -> list[Array]:
        """Maps of z that have, in all, the squares of a map of y_i at all clients that i stands for."""
        return [rows]

    def starts_of(self, i: int) -> Array:
        """The starting points (clients, d) of those."""
        return self.setup.point[i : i + 1]

    def gradient_rows(self, i: int) -> Array:
        """The answer of client i's measured oracle at the recorded point, as a matrix (d, size) on z."""
        return np.asarray(self.measured[0][i] @ self.point_rows(i) - self.slope_rows(i))

    def slope_rows(self, i: int) -> Array:
        """The constant c of that oracle, M x - c, as a matrix (d, size) on z."""
        rows = np.zeros((self.setup.problem.d, self.size))
        rows[:, -1] = self.measured[1][i]
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
            raise InputError(f"{self.setup.method.spoken} has no variable {name!r}, only {known}")
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

    def slot_rows(self, i: int, block: int, slot: int) -> Array:
        """Map of z for one of the slots (server, client, gradient, point) of a block, in the order of a `TermMap`."""
        size = self.setup.sizes[self.setup.algorithm.blocks[block]]
        for layout, offset in ((self.rounds_of.server, 0), (self.rounds_of.client, self.server + i * self.client)):
            if slot < layout.counts.slots:
                part = np.zeros((size, self.size))
                if slot < layout.counts.by_block[block]:
                    part[np.arange(size), offset + layout.variable(block, slot)] = 1.0
                return part
            slot -= layout.counts.slots
        starts = self.setup.starts
        return (self.point_rows(i) if slot else self.gradient_rows(i))[starts[block] : starts[block + 1]]


def _finite(numbers: Array) -> bool:
    """Whether all are: so they are where their sum is."""
    return bool(np.isfinite(numbers.sum()) or np.isfinite(numbers).all())


def client_by_client(setup: Setup) -> Moments:
    """The recursion of a run that was checked."""
    if setup.algorithm.coin is not None:
        return CoinMoments(setup)
    return VaryingMoments(setup) if setup.algorithm.varying else Moments(setup)


class VaryingMoments(Moments):
    """The recursion where coefficients differ from round to round: the map of every round is its own."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup.at(0))

    @property
    def constant(self) -> bool:
        """No round is like another."""
        return False

    def round_map(self, t: int) -> RoundMap:
        """The map of the coefficients of round t; call in order of t."""
        now = self.setup.at(t)
        self.rounds_of = AffineRounds(now, CoefficientReader(now, self.rounds_of.tables))
        self._maps.clear()
        self._increments.clear()
        return super().round_map(t)


class CoinMoments(Moments):
    """The recursion where a coin is tossed in every round: the map of a round is the mixture of those of both sides.

    The start and what is recorded do not depend on it.
    """

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup.tossed(1.0).at(0))
        self._sides: list[tuple[float, Moments]] = []
        # By the identities of the maps, which are kept beside their mixture.
        self._mixtures: dict[tuple[int, ...], tuple[list[tuple[float, RoundMap]], RoundMap]] = {}
        for probability, coin in ((setup.chance, 1.0), (1 - setup.chance, 0.0)):
            if probability:
                kind = VaryingMoments if setup.algorithm.varying else Moments
                self._sides.append((probability, kind(setup.tossed(coin))))

    @property
    def constant(self) -> bool:
        """As it is of both sides."""
        return self._sides[0][1].constant

    def round_map(self, t: int) -> RoundMap:
        """The mixture of the maps of round t; call in order of t."""
        maps = [(probability, side.round_map(t)) for probability, side in self._sides]
        if len(maps) == 1:
            return maps[0][1]
        key = tuple(id(each) for _, each in maps)
        if key not in self._mixtures:
            inside = [replace(part, weight=q * part.weight) for q, each in maps for part in each.fluctuations]
            if len(self._mixtures) == _KEPT_MAPS:
                self._mixtures.clear()
            self._mixtures[key] = maps, mixture(maps, inside)
        return self._mixtures[key][1]
