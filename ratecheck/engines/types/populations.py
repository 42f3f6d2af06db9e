"""Exact moments of runs on populations: clients of a few types, at a cost that does not depend on how many there are.

The clients of a type are exchangeable, whenever a round takes all sets of them with the same size equally likely: their
states c_i have one mean, one variance and one covariance. Of a type with N clients it is enough to know the mean
c = (1/N) sum_i c_i of their states and the variance V of w = sum_i e_i c_i for a unit vector e whose entries add up to
0, which is that of c_i - c times N/(N-1): c_i = c + d_i with E[d_i d_i'] = (N-1)/N V, and w is uncorrelated with the
server's state s and with every c. So the state that is followed is

    z = (s, c_1, ..., c_G, w_1, ..., w_G, 1).

Let client i of type g add R_g (s, c_i, 1) to s and c_g where it takes part, and X_g (s, c_i, 1) to its own state. With
N_g clients of type g, P(i takes part) = p_g and E over the clients (p_g = m/n where m of n are sampled),

    mean          z' = A_0 z + sum_g p_g N_g R_g (s, c_g, 1),       w_g' = (I + p_g X_g^c) w_g,

and who takes part adds to the covariance of (s, c) and to that of w_g, in terms of M = E[z z'],

    sampling      q sum_g N_g (R_g - R) M (R_g - R)' + q sum_g (N_g - 1) R_g^c V_g R_g^c',
                  q X_g M X_g' + q (1 - 1/N_g - 1/n) X_g^c V_g X_g^c',   q = m (n - m)/(n (n - 1)), R = sum_g N_g R_g/n;
    independent   sum_g q_g N_g R_g M R_g' + sum_g q_g (N_g - 1) R_g^c V_g R_g^c',
                  q_g X_g M X_g' + q_g (1 - 1/N_g) X_g^c V_g X_g^c',     q_g = p_g (1 - p_g),

the superscript c being the columns of the client's own state. All weights are nonnegative, and where all clients would
move the state alike, R_g - R is 0: nothing cancels. That is a `RoundMap` as any other one, and so is its rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import LinearMaps, check_alike
from ratecheck.aliases import Array
from ratecheck.engines.moments.expectation import (
    Moments,
    check_affine,
    check_exact,
    client_by_client,
)
from ratecheck.engines.moments.moment import Moment, majorant
from ratecheck.engines.moments.roundmap import Fluctuation, Noise, RoundMap, mixture
from ratecheck.engines.moments.terms import Sides
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import epochs
from ratecheck.errors import InputError
from ratecheck.participation.model.counts import count_probabilities
from ratecheck.participation.model.law import Clients, Multinomial, RoundLaw, Sets, Subsets

# Clients up to which the possible numbers of participants are gone through, where the server divides by theirs.
MOST_COUNTS = 2000


def moments_of(setup: Setup) -> Moments:
    """The recursion of a run that was checked: client by client, or by types where the problem counts them."""
    if setup.problem.multiplicities is not None:
        return PopulationMoments(setup)
    return client_by_client(setup) if setup.trace.partition is None else epochs.EpochMoments(setup)


def check(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine and, on a population, clients of a type are exchangeable in it."""
    counts = setup.problem.multiplicities
    if counts is None:
        (check_exact if setup.trace.partition is None else epochs.check)(setup)
        return
    check_affine(setup)
    check_alike(setup.algorithm, "a population")
    if setup.algorithm.coin is not None:
        raise InputError(f"{setup.method.spoken} tosses a coin in every round, which types do not: use its full()")
    if setup.trace.deterministic:
        setup.problem.by_row("who takes part in round 0", np.asarray(setup.trace.fixed(1), dtype=float)[0])
        return
    law = setup.trace.law(0)
    if law is None:
        raise InputError(
            "a population is followed for uniform sampling, independent participation, and given participants of whole "
            "types: for others use its full()"
        )
    if setup.algorithm.uses_delay:
        raise InputError(f"{setup.method.spoken} depends on delays, here random: draw a trace, and use full()")
    law.match(
        subsets=lambda _: None,
        clients=lambda each: _check_clients(setup, each),
        draws=_refuse_sets,
        sets=_refuse_sets,
    )


def _check_clients(setup: Setup, law: Clients) -> None:
    p = setup.problem.by_row("the probability", law.p)
    if ignores_count(setup):
        return
    if (p != p[0]).any():
        raise InputError(
            f"{setup.method.spoken} divides by how many clients take part: give all types one probability, or use "
            "full()"
        )
    if setup.problem.n > MOST_COUNTS:
        raise InputError(
            f"{setup.method.spoken} divides by how many of n={setup.problem.n} clients take part, at most "
            f"{MOST_COUNTS} of which are gone through: use uniform sampling"
        )


def _refuse_sets(law: RoundLaw) -> None:
    raise InputError(f"a population is not followed where one of {law.count():g} sets takes part: use its full()")


def ignores_count(setup: Setup) -> bool:
    """Whether the server does the same whatever the number of participants."""
    if setup.algorithm.averages:
        return False
    numbers = _WithoutCount({name: value for name, value in setup.parameters().items() if name != "m"})
    LinearMaps(setup.algorithm).aggregate(numbers)
    return not numbers.was_read


class _WithoutCount(dict[str, float]):
    """Parameters without the number of participants, which say whether it was read."""

    was_read = False

    def __missing__(self, name: str) -> float:
        if name != "m":
            raise KeyError(name)
        self.was_read = True
        return 1.0


@dataclass(frozen=True)
class _TypeRound:
    """The terms of a participant of one type, in a round.

    ``moved`` (server + client, server + client + 1) is R_g on (s, c_g, 1), ``own`` X_g; in units of rounding, the
    errors bound those of their entries. ``noise`` is that of one client in (s, c_g), ``own_noise`` that in its state.
    """

    moved: Array
    moved_error: Array
    own: Array
    own_error: Array
    noise: Noise
    own_noise: Noise


class PopulationMoments(Moments):
    """The second-moment recursion of a run on a population: see the module's docstring for the state."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        counts = setup.problem.multiplicities
        assert counts is not None
        self.counts = counts.astype(float)
        self.size += self.distinct * self.client
        if self.fixed is not None:
            self.fixed = self._of_types(self.fixed)

    def _of_types(self, taking: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Given participants (T, n) as types (T, G); raises `InputError` for a round with a part of a type."""
        return _by_type(self.setup, taking)

    def spread_of(self, g: int) -> NDArray[np.intp]:
        """Positions of w_g in z."""
        return self.server + (self.distinct + g) * self.client + np.arange(self.client)

    # --- What is recorded ---

    def mean(self, parts: Sequence[Array] | Array) -> Array:
        """The mean over the clients of matrices on z, one per type."""
        return np.asarray(np.average(parts, axis=0, weights=self.counts))

    def over_clients(self, i: int, left: Sides, right: Sides) -> list[tuple[float, Sides, Sides]]:
        """As products of the mean state of the type, and of what clients differ from it; see `Moments`."""
        N = self.counts[i]
        summands = [(self.n / N, left, right)]
        if N > 1:
            own, spread = self.inputs(i)[self.server : -1], self.spread_of(i)
            apart = []
            for rows, sizes in (left, right):
                part = np.zeros_like(rows), np.zeros_like(sizes)
                part[0][:, spread], part[1][:, spread] = rows[:, own], sizes[:, own]
                apart.append(part)
            if apart[0][0].any() and apart[1][0].any():
                summands.append((self.n / (N - 1), *apart))
        return summands

    def seen(self, i: int) -> NDArray[np.intp]:
        """See `Moments.seen`: the mean state of the type, and how clients differ from it."""
        return np.concatenate([self.inputs(i), self.spread_of(i)])

    def of_clients(self, i: int, rows: Array) -> list[Array]:
        """See `Moments.of_clients`: N times that of the mean state, N - 1 times that of what clients differ from it."""
        N, found = self.counts[i], np.zeros_like(rows)
        if N == 1:
            return [rows]
        found[:, self.spread_of(i)] = rows[:, self.inputs(i)[self.server : -1]]
        return [math.sqrt(N) * rows, math.sqrt(N - 1) * found]

    def starts_of(self, i: int) -> Array:
        """See `Moments.starts_of`: the same for all clients of a type."""
        return np.repeat(self.setup.point[i : i + 1], int(self.counts[i]), axis=0)

    # --- The start ---

    def start(self) -> Moment:
        start = self.rounds_of.start()
        covariance = np.zeros((self.size, self.size))
        for g, (noise, N) in enumerate(zip(start.roots, self.counts, strict=True)):
            root = math.sqrt(N)
            rows, spread = self.outputs(g), self.spread_of(g)
            # The sum of the clients' noises is N times their mean.
            loading = np.vstack([root * (start.from_clients @ noise), noise / root])
            covariance[np.ix_(rows, rows)] += loading @ loading.T
            if N > 1:
                covariance[np.ix_(spread, spread)] = noise @ noise.T
        nothing = np.zeros(self.distinct * self.client)
        mean = np.concatenate([start.server, *start.means, nothing, [1.0]])
        size = np.concatenate([start.server_size, *start.sizes, nothing, [0.0]])
        roots = np.sqrt(np.diagonal(covariance))
        unit = self.setup.problem.d + self.distinct + 16
        off, rounding = majorant(unit * (size + roots)), majorant(np.sqrt(2 * unit) * roots)
        zeros = np.zeros(self.size)
        return Moment(mean, covariance, np.diag(off), np.diag(rounding), zeros, zeros)

    # --- Rounds ---

    def _of_subsets(self, law: Subsets) -> RoundMap:
        def build() -> RoundMap:
            ((_, round_map),), fluctuations = self._sample({law.m: 1.0})
            return replace(round_map, fluctuations=fluctuations)

        return self._kept(b"%d" % law.m, build)

    def _of_clients(self, law: Clients) -> RoundMap:
        if self.setup.trace.constant_law:
            # All clients are read once, not in every round.
            return self._kept(b"constant", lambda: self._independent(self._probabilities(law)))
        p = self._probabilities(law)
        return self._kept(p.tobytes(), lambda: self._independent(p))

    def _probabilities(self, law: Clients) -> Array:
        """The probability that a client takes part, of each type."""
        return np.asarray(self.setup.problem.by_row("the probability", law.p))

    def _of_draws(self, law: Multinomial) -> RoundMap:
        raise NotImplementedError(f"`check` refuses {type(law).__name__}")

    def _of_sets(self, law: Sets) -> RoundMap:
        raise NotImplementedError(f"`check` refuses {type(law).__name__}")

    def _given(self, members: NDArray[np.intp], delays: NDArray[np.intp]) -> RoundMap:
        """All clients of these types."""
        keep, to_server = self.rounds_of.aggregate(int(self.counts[members].sum()))
        whose = {int(g): float(delay) for g, delay in zip(members, delays, strict=True)}
        parts = {g: self._type(g, delay, to_server) for g, delay in whose.items()}
        round_map = self._mean_map(keep, parts, dict.fromkeys(parts, 1.0))
        return _joined(round_map, *self._sent(((g, delay, 1.0) for g, delay in whose.items()), to_server))

    def _sample(self, sizes: dict[int, float]) -> tuple[list[tuple[float, RoundMap]], list[Fluctuation]]:
        """Uniform sampling of as many clients as a random number says, whose probabilities are given."""
        maps, fluctuations = [], []
        for m, probability in sizes.items():
            keep, to_server = self.rounds_of.aggregate(m)
            if m == 0:
                maps.append((probability, self._mean_map(keep, {}, {})))
                continue
            parts = {g: self._type(g, math.inf, to_server) for g in range(self.distinct)}
            round_map = self._mean_map(keep, parts, dict.fromkeys(parts, m / self.n))
            found, error = self._sampled_apart(parts, m)
            coins, wrong, more = self._sent(((g, math.inf, m / self.n) for g in parts), to_server)
            error = round_map.error + error + wrong
            maps.append((probability, replace(round_map, error=error, noise=round_map.noise + more)))
            fluctuations += [replace(part, weight=probability * part.weight) for part in (*found, *coins)]
        return maps, fluctuations

    def _independent(self, p: Array) -> RoundMap:
        if not ignores_count(self.setup):
            return mixture(*self._sample(dict(enumerate(count_probabilities(np.full(self.n, p[0]))))))
        keep, to_server = self.rounds_of.aggregate(1)
        parts = {g: self._type(g, math.inf, to_server) for g in range(self.distinct)}
        round_map = self._mean_map(keep, parts, dict(enumerate(p)))
        fluctuations, error = [], np.zeros_like(round_map.mean)
        for g, part in parts.items():
            N, q = self.counts[g], float(p[g] * (1 - p[g]))
            if q == 0.0:
                continue
            rows, columns = self.outputs(g), self.inputs(g)
            fluctuations.append(Fluctuation(q * N, part.moved, rows, columns))
            error[np.ix_(rows, columns)] += math.sqrt(q * N) * part.moved_error
            more, wrong = self._apart(g, part, q, q * (1 - 1 / N))
            fluctuations, error = fluctuations + more, error + wrong
        return replace(round_map, error=round_map.error + error, fluctuations=fluctuations)

    def _sent(
        self, members: Iterable[tuple[int, float, float]], to_server: Array
    ) -> tuple[list[Fluctuation], Array, Noise]:
        """Moments of compression for each (type, delay, probability that a client takes part); see `Moments._coins`.

        With a the coefficients of a coordinate of the message on (s, c_g, 1) and b those of (s, c_g) on what is sent,
        omega the relative variance and V_g that of w_g, all clients of the type add

            p omega (N E[(a z)^2] + (N - 1) a^c V_g a^c') b b', and to w_g 1/N of that with b those of a client's state.
        """
        omega, found, noise = self.setup.compression, list[Fluctuation](), Noise.none(self.size)
        wrong = np.zeros((self.size, self.size))
        if omega == 0.0:
            return found, wrong, noise
        for g, delay, share in members:
            part, (_, known), N = self.rounds_of.client_round(g, delay), self.rounds_of.sent(g), self.counts[g]
            rows, columns, spread = self.outputs(g), self.inputs(g), self.spread_of(g)
            for j in self.rounds_of.compressed:
                whole = np.concatenate([to_server[:, j], known[:, j] / N])
                told, off = part.message_rows[j], part.message_error[j] + 2 * np.abs(part.message_rows[j])
                mine, k = slice(self.server, -1), self.client + j
                root = math.sqrt(max(part.noise[k, k], 0.0))
                for weight, column, to in ((N, whole, rows), (1.0, known[:, j], spread)):
                    if not column.any() or (to is spread and N == 1):
                        continue
                    for share_of, row, error, of in (
                        (1.0, told, off, columns), (1 - 1 / N, told[mine], off[mine], spread)
                    ):  # fmt: skip
                        q = share * omega * weight * share_of
                        if q > 0.0 and row.any():
                            found.append(Fluctuation(q, np.outer(column, row), to, of))
                            # The weight and the column are rounded, too.
                            wrong[np.ix_(to, of)] += math.sqrt(q) * np.outer(np.abs(column), error + 2 * np.abs(row))
                    scale = math.sqrt(share * omega * weight)
                    size, own = np.abs(column) * scale, Noise.none(self.size)
                    own.covariance[np.ix_(to, to)] = scale**2 * part.noise[k, k] * np.outer(column, column)
                    own.off[to], own.rough[to] = (
                        size * (part.off[k] + 8 * root),
                        size * math.hypot(part.rough[k], 4 * root),
                    )
                    noise = noise + own
        return found, wrong, noise

    def _type(self, g: int, delay: float, to_server: Array) -> _TypeRound:
        """The map of a client of type g; of the mean state of its type it changes a share of 1/N."""
        B, wrong, noise = self.increment(g, delay, to_server)
        share, own = np.ones(len(B)), slice(self.server, None)
        share[own] /= self.counts[g]
        moved = Noise(share[:, None] * noise.covariance * share, share * noise.off, share * noise.rough)
        alone = Noise(noise.covariance[own, own], noise.off[own], noise.rough[own])
        # One rounding by the share.
        error = share[:, None] * (wrong + np.abs(B))
        return _TypeRound(share[:, None] * B, error, B[own], wrong[own], moved, alone)

    def _mean_map(self, keep: Array, parts: dict[int, _TypeRound], p: dict[int, float]) -> RoundMap:
        """The round without the fluctuation of participation, p_g being the probability of a client of type g."""
        A_0 = self._base(keep)
        added, terms, error = (np.zeros_like(A_0) for _ in range(3))
        noise = Noise.none(self.size)
        for g, part in parts.items():
            N, rows, columns, spread = self.counts[g], self.outputs(g), self.inputs(g), self.spread_of(g)
            here = np.ix_(rows, columns)
            added[here] += p[g] * N * part.moved
            terms[here] += p[g] * N * np.abs(part.moved)
            error[here] += p[g] * N * part.moved_error
            noise = noise + self._placed(part.noise.scaled(p[g] * N), rows)
            if N > 1:
                own, square = slice(self.server, -1), np.ix_(spread, spread)
                added[square], terms[square] = p[g] * part.own[:, own], p[g] * np.abs(part.own[:, own])
                error[square] = p[g] * part.own_error[:, own]
                noise = noise + self._placed(part.own_noise.scaled(p[g]), spread)
        # The weights are rounded, the parts are added up, and then to what stays.
        error += (self.distinct + 8) * terms
        return RoundMap(A_0 + added, self._added(A_0, error, added), np.abs(A_0) + terms, noise)

    def _placed(self, noise: Noise, rows: NDArray[np.intp]) -> Noise:
        """A noise of some entries as one of the whole state."""
        placed = Noise.none(self.size)
        placed.covariance[np.ix_(rows, rows)] = noise.covariance
        placed.off[rows], placed.rough[rows] = noise.off, noise.rough
        return placed

    def _sampled_apart(self, parts: dict[int, _TypeRound], m: int) -> tuple[list[Fluctuation], Array]:
        """The variance that the choice of m of n clients adds, and by how much the matrices are off in mean square."""
        n, error, found = self.n, np.zeros((self.size, self.size)), list[Fluctuation]()
        q = m / n * (n - m) / (n - 1) if n > 1 else 0.0
        if q == 0.0:
            return found, error
        whole = np.arange(self.size)
        mean, large, wrong = (np.zeros((self.size, self.size)) for _ in range(3))
        for g, part in parts.items():
            here, share = np.ix_(self.outputs(g), self.inputs(g)), self.counts[g] / n
            mean[here] += share * part.moved
            large[here] += share * np.abs(part.moved)
            wrong[here] += share * part.moved_error
        for g, part in parts.items():
            N, here = self.counts[g], np.ix_(self.outputs(g), self.inputs(g))
            # Of a single type the choice makes no difference to the mean state.
            if self.distinct > 1:
                apart, size, own = -mean, large.copy(), wrong.copy()
                apart[here] += part.moved
                size[here] += np.abs(part.moved)
                own[here] += part.moved_error
                found.append(Fluctuation(q * N, apart, whole, whole))
                error += math.sqrt(q * N) * (own + (self.distinct + 8) * size)
            more, own = self._apart(g, part, q, q * (1 - 1 / N - 1 / n))
            found, error = found + more, error + own
        return found, error

    def _apart(self, g: int, part: _TypeRound, q: float, own: float) -> tuple[list[Fluctuation], Array]:
        """The variance that the choice adds because of the differences between clients of a type, and to these."""
        error, N = np.zeros((self.size, self.size)), self.counts[g]
        if N == 1:
            return [], error
        rows, columns, spread = self.outputs(g), self.inputs(g), self.spread_of(g)
        mine = slice(self.server, -1)
        found = [
            (q * (N - 1), part.moved[:, mine], part.moved_error[:, mine], rows, spread),
            (q, part.own, part.own_error, spread, columns),
            (own, part.own[:, mine], part.own_error[:, mine], spread, spread),
        ]
        for weight, matrix, wrong, to, of in found:
            # The weights are rounded, too.
            error[np.ix_(to, of)] += math.sqrt(max(weight, 0.0)) * (wrong + 8 * np.abs(matrix))
        return [Fluctuation(max(w, 0.0), matrix, to, of) for w, matrix, _, to, of in found if w > 0.0], error


def _joined(round_map: RoundMap, coins: Sequence[Fluctuation], wrong: Array, noise: Noise) -> RoundMap:
    """The round with these fluctuations and noise besides."""
    if not coins:
        return round_map
    more = [*round_map.fluctuations, *coins]
    return replace(round_map, error=round_map.error + wrong, noise=round_map.noise + noise, fluctuations=more)


def _by_type(setup: Setup, matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Given participants (T, n) as types (T, G); raises `InputError` for a round with a part of a type."""
    T = len(matrix)
    rows = matrix[:1] if matrix.strides[0] == 0 else matrix
    found = np.stack(
        [setup.problem.by_row(f"who takes part in round {t}", row.astype(float)) for t, row in enumerate(rows)]
    )
    return np.broadcast_to(found > 0, (T, found.shape[1])) if len(rows) < T else found > 0


__all__ = ["PopulationMoments", "check", "moments_of"]
