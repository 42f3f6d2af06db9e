"""Expectations of runs on quadratics with a proof: every number is enclosed, from the algorithm's own functions on.

The functions of an algorithm are evaluated on linear forms with exact coefficients; what many steps make of them is
followed in fixed-point enclosures (`ratecheck.algebra.ball`). With z = (server, client_1, ..., client_n, 1) and
M = E[z z'], a round is

    M' = sum_k w_k A_k M A_k' + N,

where a given set of participants has one term, uniform sampling one for the mean, one for its fluctuation and one per
client (pi_1 and pi_2 being the inclusion probabilities, as in `ratecheck.engines.moments.expectation`), and other laws
one per set. Recorded quantities are quadratic forms <Q, M>. Means over rounds of one law take O(log T) products.
Coordinates that no Hessian couples are followed apart, and their quantities added up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ratecheck.algebra.ball import EXACT, Ball, Entries, stacked
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.algebra.linear_algebra import definite, product, rationals, zero_of
from ratecheck.algorithms import Method
from ratecheck.algorithms.model.algorithm import TermOver, V
from ratecheck.engines.moments.lemmas import SIGNS, moments_of_vectors
from ratecheck.engines.rigorous.exact_run import ExactInputs, ExactRun, RunSize
from ratecheck.engines.rigorous.linear_forms import LinearForms, exact_answer, exact_parameters, units, zeros
from ratecheck.engines.rigorous.round_forms import MomentMap, RoundForms, mixed, of_a_round
from ratecheck.inputs import exact_shares
from ratecheck.participation import Participation
from ratecheck.participation.model.law import Clients, RoundLaw, Weighted
from ratecheck.problems import MinMax, Problem, Quadratic, SingleLevel
from ratecheck.problems.quadratic_functions import QuadraticFunctions

# Sets of participants that are enumerated, entries of the second moment whose map is squared, rounds one by one.
_MOST_SETS, _LARGEST, _MOST_ROUNDS = 256, 200, 20_000
# Numbers of a state on which quadratic forms are compared in rationals.
_LARGEST_FORM = 70
# Up to so many rounds are followed one by one even where they could be squared.
_FEW_ROUNDS = 16


@dataclass(frozen=True)
class RigorousRun(ExactRun):
    """A run in exact numbers.

    ``H`` (n, d, d), ``g`` (n, d) and ``start`` (n, d) hold rationals, ``variances`` (d,) those of the noise per
    coordinate; the first ``shared`` coordinates are those of the method's first block. ``parameters`` has what the
    algorithm's functions receive as ``p``, per client, without m and delay. H_i x - g_i is a gradient where
    ``potential`` says so, and otherwise H_i need not be symmetric.
    """

    method: Method
    H: Entries
    g: Entries
    shared: int
    start: Entries
    variances: Sequence[Number]
    K: int
    T: int
    trace: Participation
    parameters: tuple[Mapping[str, Number], ...]
    potential: bool = True

    @staticmethod
    def form(problem: Problem) -> SingleLevel | None:
        """See `ExactRun.form`: quadratics, or operators of a saddle point."""
        return problem.seen_as(MinMax) or problem.seen_as(Quadratic)

    @staticmethod
    def products(run: RunSize) -> float:
        """See `ExactRun.products`; coordinates that nothing couples are followed apart."""
        problem, trace, T = run.problem, run.trace, run.T
        coupled = any(np.any(H - np.diag(np.diagonal(H))) for H in problem.operator()[0])
        together = problem.d if coupled else 1
        algorithm = run.method.algorithm
        size = 1 + together * (len(algorithm.server) + problem.n * len(algorithm.client))
        found = float(T) * _terms(trace) * size**3
        if run.means and trace.constant_law and trace.size is not None:
            entries = size * (size + 1) // 2
            found = min(found, 8.0 * T.bit_length() * (size**3 if trace.size == problem.n else entries**3))
        return found * problem.d / together

    @classmethod
    def followed(cls, given: ExactInputs) -> RigorousRun:
        """See `ExactRun.followed`; raises `UndecidedError` for problems that are no quadratics."""
        method, problem, K, T = given.method, given.problem, given.K, given.T
        affine = cls.form(problem)
        if affine is None:
            raise UndecidedError(f"runs on a {problem.kind} problem are not followed rigorously")
        n, d_u, d_v = problem.n, affine.d_u, affine.d_v
        M, c = affine.operator()
        u = np.zeros(d_u) if given.start.get("x0") is None else given.start["x0"]
        v = np.zeros((n, d_v)) if given.start.get("v0") is None else given.start["v0"]
        points = np.concatenate(
            [np.broadcast_to(np.asarray(u, dtype=float), (n, d_u)), np.asarray(v, dtype=float)], axis=1
        )
        variances = [
            Enclosure.of(given.noise.get(name, 0)).power(Fraction(2)).plain / Fraction(size)
            for name, size in (("sigma_u", d_u), ("sigma_v", d_v))
            for _ in range(size)
        ]
        weights = None if np.ptp(problem.shares) == 0 else exact_shares(problem.shares)
        return RigorousRun(
            method, rationals(M), rationals(c), affine.layout[method.algorithm.blocks[0]], rationals(points), variances,
            K, T, given.trace, exact_parameters(method, n, K, given.step_sizes, weights=weights), problem.potential,
        )  # fmt: skip

    def averages(self, names: Sequence[str], bits: int) -> dict[str, Enclosure]:
        return _added([part.averages(names) for part in self._parts(bits)])

    def rounds(self, names: Sequence[str], bits: int) -> Iterator[dict[str, Enclosure]]:
        followed = [name for name in names if name != "noise2"]
        noise = [] if followed == [*names] else [({"noise2": each} for each in self._noise())]
        parts = [part.rounds(followed) for part in self._parts(bits)] if followed else []
        for each in zip(*parts, *noise, strict=True):
            added = _added(each[: len(parts)]) if parts else {}
            yield {**added, **(each[-1] if noise else {})}

    def _noise(self) -> list[Enclosure]:
        """Second moment of the noise that the server remembers: that of the last gradients of who took part so far."""
        fixed = self.trace.fixed(self.T)
        if fixed is None:
            raise UndecidedError("who took part so far is random")
        each = sum((Enclosure.of(variance) for variance in self.variances), Enclosure.of(0)) * self.K
        present = np.maximum.accumulate(fixed, axis=0).sum(axis=1)
        return [each * int(count) for count in present]

    def forms(self, names: Sequence[str]) -> dict[str, Entries]:
        part = _Part(self, list(range(len(self.g[0]))), EXACT)
        if part.size > _LARGEST_FORM:
            raise UndecidedError(f"a state of {part.size} numbers is large")
        return {name: ball.middle for name, ball in part.quantities(names).items()}

    def participants(self, names: Sequence[str]) -> Iterator[dict[str, Entries]]:
        part = _Part(self, list(range(len(self.g[0]))), EXACT)
        return (part.participant(names, i) for i in range(part.n))

    def _parts(self, bits: int) -> list[_Part]:
        return [_Part(self, coordinates, bits) for coordinates in self._coupled()]

    def _coupled(self) -> list[list[int]]:
        """Coordinates in groups: two are in one where some Hessian couples them."""
        d = len(self.g[0])
        groups = [{a} for a in range(d)]
        for a, b in itertools.combinations(range(d), 2):
            if any(H[a, b] != 0 or H[b, a] != 0 for H in self.H):
                one, two = (next(group for group in groups if c in group) for c in (a, b))
                if one is not two:
                    groups.remove(two)
                    one |= two
        return [sorted(group) for group in groups]


class _Part(LinearForms):
    """A run on some of its coordinates."""

    def __init__(self, run: RigorousRun, coordinates: list[int], bits: int) -> None:
        H = [H[np.ix_(coordinates, coordinates)] for H in run.H]
        shared = sum(c < run.shared for c in coordinates)
        super().__init__(run.method.algorithm, H, run.g[:, coordinates], shared, run.parameters)
        self.run, self.bits, self.start = run, bits, run.start[:, coordinates]
        self.potential = run.potential
        self.variances = [run.variances[c] for c in coordinates]
        self.fixed = run.trace.fixed(run.T)
        self._laws: dict[tuple[Any, ...], MomentMap] = {}
        self._clients: dict[tuple[int, int], tuple[Ball, Ball]] = {}

    # --- One client, one round ---

    def _client_round(self, i: int, delay: int) -> tuple[Ball, Ball]:
        """(client', message) as a map of y = (server, client, 1), and the covariance of their noise."""
        if (i, delay) in self._clients:
            return self._clients[i, delay]
        a, p, bits = self.algorithm, self.parameters(i, delay=delay), self.bits
        width, begun = self.server + self.client + 1, self.begun(p)
        step, loading = self.local_step(i, p)
        noise = product(loading * np.array(self.variances, dtype=object), loading.T)
        power, covariance = Ball.of(step, bits).power(Ball.of(noise, bits), self.run.K)
        wide = self.server + self.client + self.local
        server, client = self.forms(a.server, 0, wide), self.forms(a.client, self.server, wide)
        local = self.forms(a.local, self.server + self.client, wide)
        state, message = exact_answer(a.finish, server, client, local, p)
        rows = np.concatenate([self.rows(state, a.client, wide), self.rows(message, a.message, wide)])
        direct = np.concatenate([rows[:, : width - 1], zeros(len(rows), 1)], axis=1)
        from_local = Ball.of(np.concatenate([rows[:, width - 1 :], zeros(len(rows), 1)], axis=1), bits)
        result = Ball.of(direct, bits) + from_local @ (power @ Ball.of(begun, bits))
        self._clients[i, delay] = result, from_local @ covariance @ from_local.T
        return self._clients[i, delay]

    def _increment(self, i: int, to_server: Ball, delay: int = 1) -> tuple[Ball, Ball]:
        """The terms of client i in the map of z, and in the covariance of the noise."""
        rows, noise = self._client_round(i, delay)
        stay = zeros(self.client, self.server + self.client + 1)
        stay[:, self.server : -1] = units(self.client, 0, self.client)
        own = Ball.of(units(self.client, 0, len(rows.middle)), self.bits)
        sent = Ball.of(units(len(rows.middle) - self.client, self.client, len(rows.middle)), self.bits)
        load = stacked(to_server @ sent, own)
        change = load @ rows - stacked(Ball.of(zeros(self.server, stay.shape[1]), self.bits), Ball.of(stay, self.bits))
        at = self.server + i * self.client
        places = [*range(self.server), *range(at, at + self.client)]
        spread = load @ noise @ load.T
        return change.placed(self.size, places, [*places, self.size - 1]), spread.placed(self.size, places, places)

    def _base(self, count: int) -> tuple[Ball, Ball]:
        """The map of z without participants' messages, and that of the sum of messages to the server."""
        a, messages = self.algorithm, self.length(self.algorithm.message)
        width = self.server + messages
        if count or not a.averages:
            forms = self.forms(a.server, 0, width), self.forms(a.message, self.server, width)
            rows = self.rows(exact_answer(a.aggregate, *forms, self.parameters(0, participants=count)), a.server, width)
        else:
            rows = units(self.server, 0, width)
        keep = units(self.size, 0, self.size)
        keep[: self.server, : self.server] = rows[:, : self.server]
        return Ball.of(keep, self.bits), Ball.of(rows[:, self.server :], self.bits)

    # --- Laws of a round ---

    def _given(self, members: Sequence[int], delays: Sequence[int]) -> MomentMap:
        A, to_server = self._base(len(members))
        noise = Ball.of(zeros(self.size, self.size), self.bits)
        for i, delay in zip(members, delays, strict=True):
            B, N = self._increment(i, to_server, delay)
            A, noise = A + B, noise + N
        return MomentMap([(1, A)], [], noise)

    def _uniform(self, count: int) -> MomentMap:
        """All sets of that many clients with equal probability."""
        n = self.n
        if count in (0, n):
            return self._given(range(count), [1] * count)
        one, two = Fraction(count, n), Fraction(count * (count - 1), n * (n - 1))
        A, to_server = self._base(count)
        parts = [self._increment(i, to_server) for i in range(n)]
        total, noise = parts[0]
        for B, N in parts[1:]:
            total, noise = total + B, noise + N
        apart: list[tuple[Number, Ball]] = [(one - two, B) for B, _ in parts]
        return MomentMap([(1, A + total.scaled(one))], [(two - one * one, total), *apart], noise.scaled(one))

    def _independent(self, p: Sequence[Fraction]) -> MomentMap:
        n = self.n
        if len(set(p)) == 1:
            counted = {c: math.comb(n, c) * p[0] ** c * (1 - p[0]) ** (n - c) for c in range(n + 1)}
            return mixed([(q, self._uniform(c)) for c, q in counted.items() if q])
        return self._of_sets(*possible_sets(Clients(np.array(p, dtype=float))))

    def _drawn(self, m: int, *p: Fraction) -> MomentMap:
        """M draws by the probabilities p: numbers of draws have the means m p and the covariance m diag(p) - m pp'."""
        A, to_server = self._base(m)
        parts = [self._increment(i, to_server) for i in range(self.n)]
        total, noise = (parts[0][k].scaled(m * p[0]) for k in (0, 1))
        for share, (B, N) in zip(p[1:], parts[1:], strict=True):
            total, noise = total + B.scaled(m * share), noise + N.scaled(m * share)
        apart: list[tuple[Number, Ball]] = [(m * share, B) for share, (B, _) in zip(p, parts, strict=True)]
        return MomentMap([(1, A + total)], [(Fraction(-1, m), total), *apart], noise)

    def _of_sets(self, *weighted: tuple[Fraction, tuple[int, ...]]) -> MomentMap:
        """The map of a round whose participants are one of several sets."""
        return mixed([(q, self._given(members, [1] * len(members))) for q, members in weighted])

    @property
    def _constant(self) -> bool:
        """Whether every round has the same law."""
        if self.fixed is not None:
            # Rows without a stride are one row repeated.
            same = self.fixed.strides[0] == 0 or bool((self.fixed == self.fixed[0]).all())
            return same and not self.algorithm.uses_delay
        return self.run.trace.constant_law

    def _all_laws(self) -> Iterator[MomentMap]:
        """The law of every round in turn."""
        trace, last = self.run.trace, [-1] * self.n
        if self.fixed is None and (self.algorithm.uses_delay or trace.law(0) is None):
            raise UndecidedError(f"{trace.kind} participation is not followed rigorously")
        for t in range(self.run.T):
            if self.fixed is not None:
                members = [int(i) for i in np.flatnonzero(self.fixed[t])]
                delays = [t - last[i] if self.algorithm.uses_delay else 1 for i in members]
                for i in members:
                    last[i] = t
                yield self._kept(self._given, tuple(members), tuple(delays))
            else:
                law = trace.law(t)
                assert law is not None
                yield law.match(
                    subsets=lambda law: self._kept(self._uniform, law.m),
                    clients=lambda law: self._kept(self._independent, law.exact),
                    draws=lambda law: self._kept(self._drawn, law.m, *law.exact),
                    sets=lambda law: self._kept(self._of_sets, *law.weighted),
                )

    def _kept(self, make: Callable[..., MomentMap], *arguments: Any) -> MomentMap:
        """A law, made once."""
        if arguments not in self._laws:
            self._laws[arguments] = make(*arguments)
        return self._laws[arguments]

    # --- Moments and what is recorded of them ---

    def _first(self) -> Ball:
        """E[z z'] before round 0; the start's noise is that of a mean of K oracle outputs."""
        a, width = self.algorithm, self.n * self.d + 1
        clients, states = [], []
        for i in range(self.n):
            point = zeros(self.d, width)
            point[:, -1] = self.start[i]
            noise = units(self.d, i * self.d, width)
            gradient = self.split(self.answer(a.oracle, i, point) + noise)
            clients.append(exact_answer(a.start_client, self.split(point), gradient, self.parameters(i)))
            states.append(self.rows(clients[-1], a.client, width))
        mean = {name: sum((client[name] for client in clients), 0) / Fraction(self.n) for name in a.client}
        point = zeros(self.d, width)
        point[:, -1] = self.start[0]
        server = self.rows(exact_answer(a.start_server, self.split(point), mean, self.parameters(0)), a.server, width)
        rows = np.concatenate([server, *states, units(1, width - 1, width)])
        variances = [*(variance / Fraction(self.run.K) for variance in self.variances)] * self.n
        return Ball.of(product(rows * np.array([*variances, 1], dtype=object), rows.T), self.bits)

    def quantities(self, names: Sequence[str]) -> dict[str, Ball]:
        """The symmetric matrices Q of the recorded quantities <Q, M>."""
        a, n, width = self.algorithm, Fraction(self.n), self.size
        server, recorded, points, gradients = self.forms(a.server, 0, width), [], [], []
        for i in range(self.n):
            client = self.forms(a.client, self.server + i * self.client, width)
            points.append(self.recorded_point(server, client, width))
            gradients.append(self.answer(a.record_oracle, i, points[-1]))
            recorded.append(exact_answer(a.records, server, client, self.split(gradients[-1]), self.parameters(i)))
        found = {}
        for name in names:
            if name in ("gap", "distance2") and name not in recorded[0]:
                found[name] = self._from_minimum(name, points[0])
                continue
            if name not in recorded[0]:
                raise UndecidedError(f"{name} is not recorded rigorously")
            Q = zeros(width, width)
            for terms in zip(*(each[name] for each in recorded), strict=True):
                factors = [Enclosure.of(term.factor).plain for term in terms]
                if terms[0].over is TermOver.MEANS:
                    left, right = (sum(side, 0) / n for side in zip(*((t.left, t.right) for t in terms), strict=True))
                    Q = Q + factors[0] * product(left.T, right)
                elif terms[0].over is TermOver.CLIENTS:
                    for factor, term in zip(factors, terms, strict=True):
                        Q = Q + factor / n * product(term.left.T, term.right)
                else:
                    Q = Q + self._values(factors, points, gradients)
            found[name] = Ball.of((Q + Q.T) * Fraction(1, 2), self.bits)
        return found

    def _values(self, factors: Sequence[Number], points: list[Entries], gradients: list[Entries]) -> Entries:
        """(1/n) sum_i factor_i f_i at these points, where f_i = <x, grad f_i(x) - g_i>/2."""
        if not self.potential:
            raise UndecidedError("an operator has no values")
        Q = zeros(self.size, self.size)
        for i, (factor, point) in enumerate(zip(factors, points, strict=True)):
            lowered = gradients[i] + zeros(*gradients[i].shape)
            lowered[:, -1] = lowered[:, -1] - self.g[i]
            Q = Q + factor / Fraction(2 * self.n) * product(point.T, lowered)
        return Q

    def participant(self, names: Sequence[str], i: int) -> dict[str, Entries]:
        """The terms of client i in the records, and by how much a round in which it takes part moves its variables."""
        a, width = self.algorithm, self.server + self.client + 1
        if a.uses_delay:
            raise UndecidedError("what a client does depends on when it took part before")
        server, client = self.forms(a.server, 0, width), self.forms(a.client, self.server, width)
        gradient = self.answer(a.record_oracle, i, self.recorded_point(server, client, width))
        recorded, found = exact_answer(a.records, server, client, self.split(gradient), self.parameters(i)), {}
        for name in names:
            head, _, what = name.removeprefix("participant:").rpartition(":")
            Q = zeros(width, width)
            if head == "step":
                after, noise = self._client_round(i, 1)
                if noise.middle.any():
                    raise UndecidedError("a step with noise")
                starts = np.cumsum([0, *(self.sizes[block] for block in a.client.values())])
                rows = after.middle[starts[[*a.client].index(what)] :][: self.sizes[a.client[what]]]
                change = rows - client[what]
                Q = Q + product(change.T, change)
            elif (
                head
                or any(term.over is not TermOver.CLIENTS for term in recorded.get(what, ()))
                or what not in recorded
            ):
                raise UndecidedError(f"{name} is not recorded rigorously")
            else:
                for term in recorded[what]:
                    Q = Q + Enclosure.of(term.factor).plain / Fraction(self.n) * product(term.left.T, term.right)
            found[name] = (Q + Q.T) * Fraction(1, 2)
        return found

    def _from_minimum(self, name: str, point: Entries) -> Ball:
        """F - inf f or ||u - u*||^2, of shared variables alone."""
        H, g = (sum(each, 0) / Fraction(self.n) + zeros(*np.shape(each[0])) for each in (self.H, self.g[:, None]))
        if not self.potential and name == "gap":
            raise UndecidedError("an operator has no values, and no gap")
        known = not self.sizes.get(V) and (definite(H) or not self.potential)
        minimiser = zero_of(H, g[0]) if known else None
        if minimiser is None:
            raise UndecidedError(f"{name} is followed rigorously for shared variables with a single minimiser only")
        away = point + zeros(*point.shape)
        away[:, -1] = away[:, -1] - minimiser
        weight = H * Fraction(1, 2) if name == "gap" else units(self.d, 0, self.d)
        return Ball.of(product(product(away.T, weight), away), self.bits)

    def rounds(self, names: Sequence[str]) -> Iterator[dict[str, Enclosure]]:
        """Recorded quantities before every round."""
        if self.run.T > _MOST_ROUNDS:
            raise UndecidedError(f"T={self.run.T} rounds one by one are more than {_MOST_ROUNDS}")
        in_rounds = [name for name in names if of_a_round(name)]
        plain, of_laws = self.quantities([name for name in names if not of_a_round(name)]), self._of_laws(names)
        moment, laws, law = self._first(), self._all_laws(), None
        for t in range(self.run.T):
            # A law is made only where it is wanted: a run that ends after this round moves no further.
            if t:
                moment = (law or next(laws)).advance(moment)
            law = next(laws) if in_rounds else None
            forms = plain if law is None else {**plain, **of_laws(law)}
            yield {name: Q.inner(moment) for name, Q in forms.items()}

    def _of_laws(self, names: Sequence[str]) -> Callable[[MomentMap], Mapping[str, Ball]]:
        """The quantities of a round by its law, made once for each."""
        wanted, kept = [name for name in names if of_a_round(name)], {}
        size = self.run.trace.size
        share = None if size is None else Fraction(size, self.n)
        forms = RoundForms(
            self, self.variances, self.run.K, self.bits, share, lambda name: self.quantities([name])[name]
        )

        def found(law: MomentMap) -> Mapping[str, Ball]:
            if id(law) not in kept:
                kept[id(law)] = {name: forms.form(name, law) for name in wanted}
            return kept[id(law)]

        return found

    def averages(self, names: Sequence[str]) -> dict[str, Enclosure]:
        """Means over the rounds of recorded quantities."""
        T = self.run.T
        if T > _FEW_ROUNDS and self._constant:
            law, plain = next(self._all_laws()), [name for name in names if not of_a_round(name)]
            forms = {**self.quantities(plain), **self._of_laws(names)(law)}
            if len(law.terms) == 1:
                return {name: _by_doubling(law, Q, self._first(), T) for name, Q in forms.items()}
            entries, products = self.size * (self.size + 1) // 2, 2 * T * len(law.terms)
            # The cheaper of the two, by how many numbers are multiplied.
            if entries <= _LARGEST and entries**3 * T.bit_length() < products * self.size**3:
                return _by_squaring(law, forms, self._first(), T)
        totals = dict.fromkeys(names, Enclosure.of(0))
        for each in self.rounds(names):
            totals = {name: totals[name] + each[name] for name in names}
        return {name: total / T for name, total in totals.items()}


def _terms(trace: Participation) -> float:
    """Terms of a round's law."""
    if trace.deterministic:
        return 1
    law, n = trace.law(0), trace.n
    if law is None:
        return n + 2
    return law.match(
        subsets=lambda _: n + 2,
        clients=lambda law: (n + 1) * (n + 2) if len(set(law.exact)) == 1 else min(law.count(), _MOST_SETS),
        draws=lambda _: n + 2,
        sets=lambda law: min(law.count(), _MOST_SETS),
    )


def possible_sets(law: RoundLaw) -> list[Weighted]:
    """Every set of participants that is possible, with its probability; `UndecidedError` for too many."""
    if law.count() > _MOST_SETS:
        raise UndecidedError(f"more than {_MOST_SETS} sets of participants with different probabilities")
    return law.support()


def vectors(problem: QuadraticFunctions, m: int, *, martingale: bool) -> dict[str, Fraction]:
    """The quantities of `ratecheck.engines.moments.lemmas.vectors` in rationals."""
    n, X = problem.n, -rationals(problem.g)
    one, two = Fraction(m, n), Fraction(m * (m - 1), max(n * (n - 1), 1))
    found = moments_of_vectors(X, m, one, two, martingale=martingale and n <= SIGNS)
    if martingale and n > SIGNS:
        del found["sum2"], found["squares"]
    return {name: Fraction(value) for name, value in found.items()}


def _by_doubling(law: MomentMap, Q: Ball, moment: Ball, T: int) -> Enclosure:
    """Mean over t < T of <Q, L^t M> for L(M) = A M A' + N, by the adjoint: it is <Q_T, M> + c_T."""
    ((_, A),), N = law.terms, law.noise
    power, noise, form, constant = A, N, Q, Enclosure.of(0)
    for bit in f"{T:b}"[1:]:
        # Sums over 2k rounds from those over k: the latter k start at A_k M A_k' + N_k.
        constant = 2 * constant + form.inner(noise)
        form = form + power.T @ form @ power
        noise = noise + power @ noise @ power.T
        power = power @ power
        if bit == "1":
            constant = constant + form.inner(N)
            form = Q + A.T @ form @ A
            noise = N + A @ noise @ A.T
            power = A @ power
    return (form.inner(moment) + constant) / T


def _by_squaring(law: MomentMap, forms: Mapping[str, Ball], moment: Ball, T: int) -> dict[str, Enclosure]:
    """Means over t < T of <Q, L^t M>, by the powers of L on the entries of M together with the sums so far."""
    size, bits = len(moment.middle), moment.bits
    rows, columns = np.triu_indices(size)
    twice = rows != columns
    entries = len(rows)
    step = Ball(np.full((entries, entries), 0, dtype=object), 0, bits)
    for weight, A in law.terms:
        straight = A.taken(rows, rows).times(A.taken(columns, columns))
        crossed = A.taken(rows, columns).times(A.taken(columns, rows))
        crossed = Ball(crossed.middle * twice.astype(int).astype(object), crossed.radius, bits)
        step = step + (straight + crossed).scaled(weight)
    noise = np.full((entries, entries), 0, dtype=object)
    noise[:, -1] = law.noise.middle[rows, columns]
    step = step + Ball(noise, law.noise.radius, bits)
    weights = Ball.of([[Fraction(1 + int(both), T) for both in twice]], bits)
    sums = [Ball(Q.middle[rows, columns][None, :], Q.radius, bits).times(weights) for Q in forms.values()]
    k = len(sums)
    whole = np.full((entries + k, entries + k), 0, dtype=object)
    whole[:entries, :entries] = step.middle
    for j, each in enumerate(sums):
        whole[entries + j, :entries] = each.middle[0]
        whole[entries + j, entries + j] = 1 << bits
    square = Ball(whole, max(step.radius, *(each.radius for each in sums)), bits)
    state = np.concatenate([moment.middle[rows, columns], np.full(k, 0, dtype=object)])[:, None]
    reached = Ball(state, moment.radius, bits)
    rounds = T
    while True:
        if rounds & 1:
            reached = square @ reached
        rounds >>= 1
        if not rounds:
            break
        square = square @ square
    return {name: reached.entry(entries + j, 0) for j, name in enumerate(forms)}


def _added(parts: Sequence[Mapping[str, Enclosure]]) -> dict[str, Enclosure]:
    return {name: sum((part[name] for part in parts), Enclosure.of(0)) for name in parts[0]}
