"""Affine runs of a batch of instances: round maps from the method's functions, and the quantities that are recorded.

The state is z = (server, client 1, ..., client n, 1). See `ratecheck.kernels.scouting` for what a round does to it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import Algorithm, TermOver, U, check_after
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.kernels import scouting as kernels
from ratecheck.participation import delays
from ratecheck.scouting.coefficients import BatchReader, BatchTerm, Unscouted

# Entries of the second moment up to which long runs are followed by powers.
_PAIRS = 72
# A unit of rounding, and up to which share a mean may change by some.
_EPS, _KNOWN = float(np.finfo(float).eps), 1e-6
# A difference from a constant has no digits below this share of it.
_DIGITS = 1e-12
# Eigenvalues of I - A that count as 0, and what of a difference is rounding.
_FLAT, _LOST, _DRIFT = 1e-13, 1e-14, 1e-11
# Products of rows (N, r, D) on the state, row by row, times a factor (N,).
_Product = tuple[Array, Array, Array]
# Rounds that are followed one by one.
LONGEST = 1024


@dataclass(frozen=True)
class BatchLaw:
    """The participants in a batch: uniform samples of ``m`` clients, clients on their own, or matrices (rounds, n).

    Samples are drawn with replacement where clients may come ``again``.
    ``share`` (N,) is the probability of a client, ``matrices`` one per instance, where these decide. ``mixing``
    (N, n, n) are the graphs' matrices and ``mixes`` (N,) the probabilities of mixing, for methods that mix.
    """

    m: int = 0
    again: bool = False
    share: Array | None = None
    matrices: Sequence[NDArray[np.bool_]] | None = None
    mixing: Array | None = None
    mixes: Array | None = None

    def everybody(self, n: int) -> bool:
        """Whether each of n clients comes once."""
        return self.m == n and not self.again


@dataclass(frozen=True)
class Batch:
    """Runs of one shape: N instances with n clients of d variables.

    ``M`` (N, n, d, d) and ``c`` (N, n, d): the oracle's answer at x is M x - c; ``H`` and ``g`` are those of the
    gradient, ``centre`` (N, n, d) a minimiser and ``lowest`` (N,) the infimum of f. ``parameters`` are (N,) or (N, n),
    ``steps`` (N, n), ``noise`` (N, d) standard deviations, ``start`` (N, n, d), ``T`` (N,).
    """

    algorithm: Algorithm
    sizes: tuple[int, ...]
    M: Array
    c: Array
    record_M: Array
    record_c: Array
    H: Array
    g: Array
    centre: Array
    lowest: Array
    parameters: Mapping[str, Array]
    steps: NDArray[np.int64]
    noise: Array
    start: Array
    T: NDArray[np.int64]
    law: BatchLaw
    # Whether H and g say all of f, and whether a point is recorded to which the last of T - 1 rounds leads.
    forms: bool = True
    further: bool = False

    @property
    def count(self) -> int:
        """N."""
        return len(self.M)

    @property
    def n(self) -> int:
        """Clients of an instance."""
        return int(self.M.shape[1])

    def at(self, points: NDArray[np.int64]) -> Batch:
        """The runs at some of the points, in this order, which may come several times."""
        law = self.law
        share, mixing, mixes = (None if each is None else each[points] for each in (law.share, law.mixing, law.mixes))
        own = {
            each.name: getattr(self, each.name)[points]
            for each in fields(self)
            if isinstance(getattr(self, each.name), np.ndarray)
        }
        parameters = {name: value[points] for name, value in self.parameters.items()}
        return replace(self, **own, parameters=parameters, law=replace(law, share=share, mixing=mixing, mixes=mixes))


class BatchRun:
    """The round maps of a batch, and its quantities."""

    # Entries of the state up to which runs are followed.
    most_entries: ClassVar[int] = 40

    def __init__(self, batch: Batch) -> None:
        self.batch, algorithm = batch, batch.algorithm
        reader = self.reader = BatchReader(algorithm, batch.sizes, batch.count)
        self.server, self.client, self.local, self.message = (
            reader.layout(group) for group in (algorithm.server, algorithm.client, algorithm.local, algorithm.message)
        )
        self.size = self.server.size + batch.n * self.client.size + 1
        if self.size > self.most_entries:
            raise Unscouted(f"a state of {self.size} entries")
        self.check()
        if not {*algorithm.varying} <= batch.parameters.keys():
            # What is done before round 0 reads the coefficients of round 0.
            self.batch = self._in_rounds(np.arange(batch.count), np.zeros(batch.count, dtype=np.int64))

    def check(self) -> None:
        """Raise `Unscouted` for runs that are not followed."""
        algorithm, law = self.batch.algorithm, self.batch.law
        if algorithm.compressed and (law.matrices is not None or law.share is not None):
            raise Unscouted("compressed messages of clients that come at times of their own")
        if algorithm.varying and law.matrices is not None:
            raise Unscouted("given participants and coefficients that differ from round to round")

    def _in_rounds(self, points: NDArray[np.int64], rounds: NDArray[np.int64]) -> Batch:
        """The points in these rounds, with the coefficients that they have there."""
        algorithm, batch = self.batch.algorithm, self.batch
        columns = self._parameters(0, participants=float(batch.law.m or batch.n))
        table = np.stack([np.broadcast_to(value.reshape(-1), (batch.count,)) for value in columns.values()], axis=1)
        known = [dict(zip(columns, row, strict=True)) for row in table.tolist()]
        T = batch.T.tolist()
        try:
            for b in range(batch.count if batch.further else 0):
                check_after(algorithm, T[b], known[b])
        except InputError as error:
            raise Unscouted(str(error)) from None
        found = [
            algorithm.coefficients(t, T[b], known[b]) for b, t in zip(points.tolist(), rounds.tolist(), strict=True)
        ]
        more = {name: np.array([each[name] for each in found], dtype=float) for name in algorithm.varying}
        own = batch.at(points)
        return replace(own, parameters={**own.parameters, **more})

    @cached_property
    def single_rounds(self) -> tuple[BatchRun, NDArray[np.int64]]:
        """A run whose instances have the rounds of this one, and which of them each round (N, rounds) is like."""
        most, N = int(max(self.followed_rounds.max(initial=1), 1)), self.batch.count
        if not self.batch.algorithm.varying:
            return self, np.repeat(np.arange(N)[:, None], most, axis=1)
        b, t = np.nonzero(np.arange(most) < self.followed_rounds[:, None])
        which = np.zeros((N, most), dtype=np.int64)
        which[b, t] = np.arange(len(b))
        return BatchRun(replace(self._in_rounds(b, t), further=False)), which

    @property
    def followed_rounds(self) -> NDArray[np.int64]:
        """Rounds (N,) that are followed one by one; 0 where there are too many."""
        return np.where(self.batch.T <= LONGEST, self.batch.T, 0)

    # --- Parameters ---

    def _parameters(self, i: int, *, participants: float = 1.0, delay: float = 1.0) -> dict[str, Array]:
        """What the method's functions receive for client i, as columns."""
        batch = self.batch
        sizes = {name: value if value.ndim == 1 else value[:, i] for name, value in batch.parameters.items()}
        steps = batch.steps.astype(float)
        mixes = np.ones(batch.count) if batch.law.mixes is None else batch.law.mixes
        known = {"K": steps[:, i], "norm": steps[:, i], "mean_norm": steps.mean(axis=1), "mixes": mixes, **sizes}
        columns = {name: np.asarray(value, dtype=float)[:, None] for name, value in known.items()}
        fixed = {"n": float(batch.n), "m": max(participants, 1.0), "delay": delay, "weight": 1.0, "p": 1 / batch.n}
        return {**columns, **{name: np.asarray(value) for name, value in fixed.items()}}

    @cached_property
    def _alike(self) -> bool:
        """Whether local steps and parameters are those of every client."""
        steps = self.batch.steps
        alike = (value.ndim == 1 or bool((value == value[:, :1]).all()) for value in self.batch.parameters.values())
        return bool((steps == steps[:, :1]).all()) and all(alike)

    # --- A client's round ---

    @cached_property
    def _rounds(self) -> list[_Client]:
        """What each client's round makes of y_i = (server, client i, 1)."""
        batch, reader = self.batch, self.reader
        N, n, size = batch.count, batch.n, self.local.size
        change, noise = np.zeros((N, n, size + 1, size + 1)), np.zeros((N, n, size + 1, size + 1))
        first, tables = self.local.first, self.tables
        if len(first) != reader.point.size:
            raise Unscouted("a block without a local variable")
        for i in range(n):
            own, gradient = tables[i].step
            change[:, i, :size, :size] = own - np.eye(size)
            change[:, i, :size, first] += np.einsum("bpq,bqr->rbp", gradient, batch.M[:, i])
            change[:, i, :size, size] = -np.einsum("bpq,bq->bp", gradient, batch.c[:, i])
            if batch.noise.any():
                noise[:, i, :size, :size] = np.einsum("bpq,bq,brq->bpr", gradient, batch.noise**2, gradient)
        shape = change.shape
        flat_change, flat_noise = (np.ascontiguousarray(x.reshape(N * n, size + 1, size + 1)) for x in (change, noise))
        kernels.repeated(flat_change, flat_noise, np.ascontiguousarray(batch.steps.reshape(-1)))
        change, noise = flat_change.reshape(shape), flat_noise.reshape(shape)
        return [self._client(tables[i], change[:, i], noise[:, i]) for i in range(n)]

    @cached_property
    def tables(self) -> list[_Tables]:
        """The functions of each client as matrices."""
        if self._alike:
            return [self._tables(0)] * self.batch.n
        return [self._tables(i) for i in range(self.batch.n)]

    @cached_property
    def _stacked(self) -> tuple[Array, Array, Array, Array, Array]:
        """What everybody does in every round: begin, steps on the variables and on the gradient, still and load.

        Each is (N, n, outputs, inputs).
        """
        begin, own, pull, still, load = (
            np.ascontiguousarray(np.stack(each, axis=1))
            for each in zip(*((t.begin + t.rate, *t.step, t.still, t.load) for t in self.tables), strict=True)
        )
        return begin, own, pull, still, load

    def _tables(self, i: int) -> _Tables:
        """The functions of client i as matrices; `begin` is affine in 1/delay, and is read at two delays."""
        reader, p = self.reader, self._parameters(i)
        state, own = (self.server, self.client), (self.client, self.message)
        once = [self._joined(reader.matrices("begin", self._parameters(i, delay=d), state, (self.local,))[0])
                for d in ((1.0, 2.0) if self.batch.algorithm.uses_delay else (1.0,))]  # fmt: skip
        rate = 2 * (once[0] - once[1]) if self.batch.algorithm.uses_delay else np.zeros_like(once[0])
        step = reader.matrices("step", p, (self.local, reader.point), (self.local,))[0]
        finish = reader.matrices("finish", p, (*state, self.local), own)
        still = np.concatenate([self._joined(row[:2]) for row in finish], axis=1)
        load = np.concatenate([row[2] for row in finish], axis=1)
        kept, told = np.eye(self.client.size), np.zeros((self.client.size, self.message.size))
        if self.batch.algorithm.compressed:
            kept, told = reader.matrices("sent", p, own, (self.client,))[0]
        return _Tables(once[0] - rate, rate, (step[0], step[1]), still, load, kept, told)

    @staticmethod
    def _joined(matrices: Sequence[Array]) -> Array:
        """Matrices on several inputs as one on all of them."""
        return np.concatenate([*matrices], axis=2)

    def _client(self, tables: _Tables, change: Array, noise: Array) -> _Client:
        """A client's round from its functions and its K local steps local <- (I + E) local + noise."""
        size = self.local.size
        moved, shift = change[:, :size, :size], change[:, :size, size]

        def rows(begin: Array, still: Array) -> Array:
            return still + tables.load @ (begin + moved @ begin)

        fixed = rows(tables.begin, tables.still)
        fixed = np.concatenate([fixed, (tables.load @ shift[:, :, None])], axis=2)
        rate = rows(tables.rate, np.zeros_like(tables.still))
        rate = np.concatenate([rate, np.zeros((*rate.shape[:2], 1))], axis=2)
        noise = tables.load @ noise[:, :size, :size] @ np.swapaxes(tables.load, 1, 2)
        kept, told = (np.broadcast_to(each, (len(rate), *each.shape[-2:])) for each in (tables.kept, tables.told))
        return _Client(fixed, rate, noise, kept, told)

    # --- A round ---

    def _places(self, i: int) -> tuple[list[int], list[int]]:
        """Entries of z: (server, client i), and these with the last one."""
        start = self.server.size + i * self.client.size
        outputs = [*range(self.server.size), *range(start, start + self.client.size)]
        return outputs, [*outputs, self.size - 1]

    def _base(self, participants: int) -> tuple[Array, Array]:
        """The map without anybody, and from a message to the server, where so many take part."""
        p = self._parameters(0, participants=float(participants))
        if not self._alike:
            # What differs by client is not the server's.
            p = {name: value for name, value in p.items() if name not in ("K", "norm")}
        keep, send = self.reader.matrices("aggregate", p, (self.server, self.message), (self.server,))[0]
        if not participants and self.batch.algorithm.averages:
            keep = np.broadcast_to(np.eye(self.server.size), keep.shape)
        base = np.zeros((self.batch.count, self.size, self.size))
        base[:] = np.eye(self.size)
        base[:, : self.server.size, : self.server.size] = keep
        return base, send

    def _part(self, i: int, send: Array, own: _Client, delay: Array | None = None) -> tuple[Array, Array]:
        """What client i adds to the maps and to the noise, by what its round is at these points.

        ``delay`` (points,) or None for one that does not matter.
        """
        size = self.client.size
        # A client that is not there has the delay 0, and is left out.
        rows = own.rows if delay is None else own.rows + own.rate / np.where(delay > 0, delay, 1.0)[:, None, None]
        outputs, inputs = map(np.array, self._places(i))
        load = self._load(send, own)
        added = np.concatenate([send @ rows[:, size:], load[:, self.server.size :] @ rows], axis=1)
        added[:, self.server.size :, self.server.size : self.server.size + size] -= np.eye(size)
        matrix, noise = np.zeros((2, len(rows), self.size, self.size))
        matrix[:, outputs[:, None], inputs] = added
        noise[:, outputs[:, None], outputs] = load @ own.noise @ np.swapaxes(load, 1, 2)
        return matrix, noise

    def _load(self, send: Array, own: _Client) -> Array:
        """What (client', message) is to (server, client) in the end: added up there, and told here."""
        load = np.zeros((len(own.rows), self.server.size + self.client.size, own.rows.shape[1]))
        load[:, : self.server.size, self.client.size :] = send
        load[:, self.server.size :, : self.client.size] = own.kept
        load[:, self.server.size :, self.client.size :] = own.told
        return load

    def _compressed(self, members: Sequence[int], send: Array, share: float) -> tuple[Array, Array, Array]:
        """The fluctuations of compression, their variances and their noise; each member comes with this probability.

        A coordinate v of a message becomes v + (xi - 1) v with E xi = 1 and Var xi = 1/q - 1, independent of all else.
        """
        algorithm, N, D = self.batch.algorithm, self.batch.count, self.size
        places = (self.message.entries[name] for name in algorithm.compressed)
        sent = [self.client.size + k for here in places for k in range(here.start, here.stop)]
        F, noise = np.zeros((N, len(members) * len(sent), D, D)), np.zeros((N, D, D))
        omega = share * (1 / self.batch.parameters["q"] - 1) if sent else np.zeros(N)
        for j, (i, k) in enumerate(itertools.product(members, sent)):
            own, (outputs, inputs) = self._rounds[i], map(np.array, self._places(i))
            column = self._load(send, own)[:, :, k]
            F[:, j, outputs[:, None], inputs] = column[:, :, None] * own.rows[:, None, k]
            spread = (omega * own.noise[:, k, k])[:, None, None]
            noise[:, outputs[:, None], outputs] += spread * column[:, :, None] * column[:, None, :]
        return F, np.repeat(omega[:, None], F.shape[1], axis=1), noise

    def _of_set(self, members: Sequence[int]) -> tuple[Array, Array]:
        """Map and noise of a round with these participants."""
        matrix, send = self._base(len(members))
        noise = np.zeros_like(matrix)
        # Where delays matter all rounds are alike only if everybody comes to each.
        for i in members:
            more, spread = self._part(i, send, self._rounds[i], np.ones(self.batch.count))
            matrix, noise = matrix + more, noise + spread
        return matrix, noise

    @cached_property
    def alike_rounds(self) -> _RoundMaps:
        """The map of every round, where all have the same law."""
        law = self.batch.law
        if law.share is not None:
            found = self._on_their_own(law.share)
        elif law.everybody(self.batch.n):
            matrix, noise = self._of_set(range(law.m))
            F, w, more = self._compressed(range(law.m), self._base(law.m)[1], 1.0)
            found = _RoundMaps(matrix, F, w, noise + more)
        else:
            found = self._sampled(law.m, again=law.again)
        return found if law.mixing is None else self._mixed(found)

    def _sampled(self, m: int, *, again: bool) -> _RoundMaps:
        """A round of a uniform sample of m clients: covariances of counts are a multiple of I plus one of 11'.

        With replacement these are m/n of I less m/n^2 of 11'.
        """
        n = self.batch.n
        one, two = m / n, m * (m - 1) / max(n * (n - 1), 1)
        together, apart = (-one / n, one) if again else (two - one * one, one - two)
        base, send = self._base(m)
        parts = [self._part(i, send, self._rounds[i]) for i in range(n)]
        total = np.sum([matrix for matrix, _ in parts], axis=0)
        F = np.stack([total, *(matrix for matrix, _ in parts)], axis=1)
        w = np.broadcast_to(np.array([together, *[apart] * n]), (self.batch.count, n + 1))
        lost, variance, noise = self._compressed(range(n), send, one)
        return _RoundMaps(
            base + one * total, np.concatenate([F, lost], axis=1), np.concatenate([w, variance], axis=1),
            one * np.sum([noise for _, noise in parts], axis=0) + noise,
        )  # fmt: skip

    def _on_their_own(self, share: Array) -> _RoundMaps:
        """A round of clients that take part independently, as a mean over the sets of participants."""
        n = self.batch.n
        if n > 4:
            raise Unscouted("too many clients on their own")
        sets = [members for k in range(n + 1) for members in itertools.combinations(range(n), k)]
        maps = [self._of_set(members) for members in sets]
        w = np.stack([share ** len(members) * (1 - share) ** (n - len(members)) for members in sets], axis=1)
        A = np.einsum("bs,sbij->bij", w, np.stack([matrix for matrix, _ in maps]))
        F = np.stack([matrix for matrix, _ in maps], axis=1) - A[:, None]
        return _RoundMaps(A, F, w, np.einsum("bs,sbij->bij", w, np.stack([noise for _, noise in maps])))

    def _mixed(self, rounds: _RoundMaps) -> _RoundMaps:
        """The round, and then mixing with its probability."""
        law, N, D = self.batch.law, self.batch.count, self.size
        assert law.mixing is not None
        assert law.mixes is not None
        P = np.zeros((N, D, D))
        P[:] = np.eye(D)
        for name in self.batch.algorithm.mixed:
            here = self.client.entries[name]
            for k in range(here.start, here.stop):
                places = self.server.size + k + self.client.size * np.arange(self.batch.n)
                P[np.ix_(np.arange(N), places, places)] = law.mixing
        share = law.mixes[:, None, None]
        mean = share * P + (1 - share) * np.eye(D)
        F, w = P[:, None] @ rounds.F, law.mixes[:, None] * rounds.w
        Q = share * (P @ rounds.Q @ np.swapaxes(P, 1, 2)) + (1 - share) * rounds.Q
        if (law.mixes < 1).any():
            D_ = P - np.eye(D)
            coin = (law.mixes * (1 - law.mixes))[:, None]
            F = np.concatenate([F, rounds.F, (D_ @ rounds.A)[:, None]], axis=1)
            w = np.concatenate([w, (1 - law.mixes)[:, None] * rounds.w, coin], axis=1)
        return _RoundMaps(mean @ rounds.A, F, w, Q)

    def _scheduled(self, matrices: Sequence[NDArray[np.bool_]], T: int) -> tuple[_RoundMaps, NDArray[np.int64]]:
        """The different rounds of given participants, and which of them comes when."""
        N, n = self.batch.count, self.batch.n
        # A client's delay where it takes part, if that matters, else 1; 0 where it is away: (N, T, n).
        present = delays.stacked(matrices, T, rest=False)
        there = np.where(present, delays.of_clients(present) if self.batch.algorithm.uses_delay else 1, 0)
        b, t = np.nonzero(np.arange(T) < self.batch.T[:, None])
        kinds, kind = np.unique(np.column_stack([b, there[b, t]]), axis=0, return_inverse=True)
        of, delay = kinds[:, 0], kinds[:, 1:]
        place = np.arange(len(kinds)) - np.searchsorted(of, of)
        which = np.zeros((N, T), dtype=np.int64)
        which[b, t] = place[kind.reshape(-1)]
        count = (delay > 0).sum(axis=1)
        bases, sends = (np.stack(each) for each in zip(*map(self._base, range(n + 1)), strict=True))
        matrix, send, noise = bases[count, of], sends[count, of], np.zeros((len(kinds), self.size, self.size))
        for i, own in enumerate(self._rounds):
            more, spread = self._part(i, send, own.at(of), delay[:, i])
            here = (delay[:, i] > 0)[:, None, None]
            matrix, noise = matrix + np.where(here, more, 0.0), noise + np.where(here, spread, 0.0)
        most = int(place.max(initial=0)) + 1
        A, Q = np.zeros((2, N, most, self.size, self.size))
        A[of, place], Q[of, place] = matrix, noise
        return _RoundMaps(A, np.zeros((N, most, 0, self.size, self.size)), np.zeros((N, most, 0)), Q), which

    # --- Start and quantities ---

    @cached_property
    def beginning(self) -> tuple[Array, Array]:
        """Mean (N, D) and covariance (N, D, D) of the state before round 0."""
        batch, reader, N = self.batch, self.reader, self.batch.count
        point = reader.point
        mean, covariance = np.zeros((N, self.size)), np.zeros((N, self.size, self.size))
        mean[:, -1] = 1.0
        from_point, from_clients = reader.matrices(
            "start_server", self._parameters(0), (point, self.client), (self.server,)
        )[0]
        total, tables = np.zeros((N, self.client.size)), None
        for i in range(batch.n):
            if tables is None or not self._alike:
                tables = reader.matrices("start_client", self._parameters(i), (point, point), (self.client,))[0]
            there, slope = tables
            gradient = np.einsum("bij,bj->bi", batch.M[:, i], batch.start[:, i]) - batch.c[:, i]
            own = np.einsum("bij,bj->bi", there, batch.start[:, i]) + np.einsum("bij,bj->bi", slope, gradient)
            total += own / batch.n
            start = self.server.size + i * self.client.size
            mean[:, start : start + self.client.size] = own
            if batch.noise.any() and not batch.algorithm.full_start:
                root = slope * (batch.noise / np.sqrt(batch.steps[:, i])[:, None])[:, None, :]
                load = np.concatenate([from_clients @ root / batch.n, root], axis=1)
                outputs, _ = self._places(i)
                covariance[np.ix_(range(N), outputs, outputs)] += load @ np.swapaxes(load, 1, 2)
        mean[:, : self.server.size] = np.einsum("bij,bj->bi", from_point, batch.start[:, 0])
        mean[:, : self.server.size] += np.einsum("bij,bj->bi", from_clients, total)
        return mean, covariance

    def _variable(self, group: int, name: str, i: int) -> Array:
        """The rows (N, size, D) of a variable of the server (0) or of client i (1) on z."""
        layout = self.client if group else self.server
        here = layout.entries[name]
        start = self.server.size + i * self.client.size if group else 0
        rows = np.zeros((self.batch.count, here.stop - here.start, self.size))
        rows[:, range(rows.shape[1]), range(start + here.start, start + here.stop)] = 1.0
        return rows

    def _points(self) -> tuple[list[Array], dict[str, int]]:
        """The rows (N, d, D) of the recorded point of every client, and the group of each block's variable."""
        algorithm, found, groups = self.batch.algorithm, [], dict[str, int]()
        names = []
        for block in algorithm.blocks:
            size = self.batch.sizes[algorithm.blocks.index(block)]
            for group, variables in enumerate((algorithm.server, algorithm.client)):
                own = [name for name, where in variables.items() if where == block]
                wanted = own[0] if own and algorithm.point is None else (algorithm.point or {}).get(block)
                if wanted in own:
                    names.append((group, wanted))
                    groups |= {block: group} if size else {}
                    break
            else:
                if size:
                    raise Unscouted("nothing is recorded of a block")
                names.append((0, ""))
        for i in range(self.batch.n):
            parts = [self._variable(group, name, i) for group, name in names if name]
            found.append(np.concatenate(parts, axis=1))
        return found, groups

    @cached_property
    def _recorded(self) -> list[dict[str, list[BatchTerm]]]:
        """The terms of what the method records, client by client."""
        layouts, n = (self.server, self.client, self.reader.point), self.batch.n
        if self._alike:
            return [self.reader.terms(self._parameters(0), layouts)] * n
        return [self.reader.terms(self._parameters(i), layouts) for i in range(n)]

    def quantities(self, names: Sequence[str]) -> Quantities:
        """The named quantities; raises `Unscouted` for one that is none of one round's variables."""
        points, groups = self._points()
        gradients = self._gradients(points)
        constant = np.zeros((self.batch.count, len(names)))
        found: list[_Product] = []
        owner: list[int] = []
        for q, name in enumerate(names):
            constant[:, q], own = self._summands(name, points, groups, gradients)
            found += own
            owner += [q] * sum(each[0].shape[1] for each in own)
        if not found:
            raise Unscouted("nothing is recorded")
        left, right, factor = (
            np.ascontiguousarray(np.concatenate(side, axis=1))
            for side in (
                [a for a, _, _ in found],
                [b for _, b, _ in found],
                [np.broadcast_to(factor[:, None], a.shape[:2]) for a, _, factor in found],
            )
        )
        return Quantities(left, right, factor, np.array(owner, dtype=np.int64), constant)

    def _summands(
        self, name: str, points: list[Array], groups: Mapping[str, int], gradients: list[Array]
    ) -> tuple[Array, list[_Product]]:
        """A quantity as a constant (N,) and products."""
        batch, n = self.batch, self.batch.n
        ones = np.ones(batch.count)
        constant, terms = 0 * ones, [each.get(name, []) for each in self._recorded]
        if name in ("distance2", "gap") and batch.algorithm.record_oracle == "gradient":
            away = [self._away(point, batch.centre[:, i]) for i, point in enumerate(points)]
            if name == "distance2":
                return constant, [(each, each, ones / n) for each in away]
            if batch.forms and (groups.get(U) != 1 or n == 1):
                return constant, [(batch.H[:, i] @ each, each, ones / (2 * n)) for i, each in enumerate(away)]
            constant, terms = -batch.lowest, [[BatchTerm(TermOver.VALUES, ones, "", {}, {})]] * n
        elif name not in self._recorded[0]:
            raise Unscouted(f"{name} is not recorded")
        by_term = zip(*terms, strict=True)
        return constant, [each for own in by_term for each in self._products(own, points, gradients)]

    @staticmethod
    def _away(point: Array, centre: Array) -> Array:
        """The rows of a point less a constant (N, d)."""
        rows = point.copy()
        rows[:, :, -1] -= centre
        return rows

    def _gradients(self, points: list[Array]) -> list[Array]:
        """The rows (N, d, D) of every client's gradient at its recorded point."""
        found = []
        for i, point in enumerate(points):
            gradient = self.batch.record_M[:, i] @ point
            gradient[:, :, -1] -= self.batch.record_c[:, i]
            found.append(gradient)
        return found

    def _values(self, i: int, points: list[Array], gradients: list[Array]) -> tuple[Array, Array, float]:
        """Rows and a factor whose product is f_i at the recorded point: x'(H x - 2 g)/2."""
        slope = gradients[i].copy()
        slope[:, :, -1] -= self.batch.record_c[:, i]
        return points[i], slope, 0.5

    def _products(self, terms: Sequence[BatchTerm], points: list[Array], gradients: list[Array]) -> list[_Product]:
        """A summand of a recorded quantity as products, from what it is for each client."""
        batch, N, n, first = self.batch, self.batch.count, self.batch.n, terms[0]
        if first.over is TermOver.VALUES:
            values = [self._values(i, points, gradients) for i in range(n)]
            return [(a, b, share * own.factor / n) for (a, b, share), own in zip(values, terms, strict=True)]
        block = batch.algorithm.blocks.index(first.block)
        start = sum(batch.sizes[:block])
        here = slice(start, start + batch.sizes[block])

        def side(i: int, coefficients: Mapping[tuple[int, str], Array]) -> Array:
            rows = np.zeros((N, batch.sizes[block], self.size))
            for (group, name), value in coefficients.items():
                own = gradients[i][:, here] if group == 2 else self._variable(group, name, i)
                rows = rows + value[:, None, None] * own
            return rows

        sides = [(side(i, own.left), side(i, own.right)) for i, own in enumerate(terms)]
        if first.over is TermOver.MEANS:
            a, b = (np.mean([each[k] for each in sides], axis=0) for k in (0, 1))
            return [(a, b, first.factor)]
        return [(a, b, own.factor / n) for (a, b), own in zip(sides, terms, strict=True)]

    # --- Results ---

    def by_round(self, names: Sequence[str]) -> Array:
        """The quantities before every round, (N, names, rounds).

        NaN where a run is shorter, or too long, and where a difference from a constant has no digits.
        """
        found = self.quantities(names)
        series = self._series(found)
        return np.where(np.abs(series) < _DIGITS * np.abs(found.constant[..., None]), np.nan, series)

    def _series(self, found: Quantities) -> Array:
        """Quantities before every round, (N, names, rounds)."""
        batch, T = self.batch, self.followed_rounds
        most = int(max(T.max(initial=1), 1))
        if batch.law.matrices is not None:
            rounds, which = self._scheduled(batch.law.matrices, most)
        else:
            run, place = self.single_rounds
            one, which = run.alike_rounds, np.repeat(np.arange(most)[None], batch.count, axis=0)
            if run is self:
                place, which = place[:, :1], np.zeros_like(which)
            rounds = _RoundMaps(*(np.ascontiguousarray(each[place]) for each in (one.A, one.F, one.w, one.Q)))
        mean, covariance = self.beginning

        def followed(A: Array, F: Array, left: Array, right: Array) -> Array:
            out = np.full((*found.constant.shape, most), np.nan)
            kernels.rounds(
                A, F, rounds.w, rounds.Q, which, mean, covariance, left, right, found.factor, found.owner,
                found.constant, T.astype(np.int64), out,
            )  # fmt: skip
            return out

        return known(followed, rounds.A, rounds.F, found.left, found.right)

    def mean(self, names: Sequence[str]) -> Array:
        """The means of the quantities over the rounds, (N, names); NaN for runs that are too long."""
        batch = self.batch
        alike = batch.law.matrices is None and not batch.algorithm.varying
        centred = self._centred(names) if alike else None
        pairs = None if centred is None else self._pairs(centred[0], centred[1])
        if centred is None or pairs is None:
            return self._mean_of(self._series(self.quantities(names)), LONGEST)
        found, one, (mean, covariance) = centred

        def followed(A: Array, F: Array, left: Array, right: Array) -> Array:
            out = np.empty((batch.count, len(names)))
            kernels.means(
                A, F, np.ascontiguousarray(one.w), np.ascontiguousarray(one.Q), *pairs, mean, covariance, left, right,
                found.factor, found.owner, found.constant, batch.T, out,
            )  # fmt: skip
            return out

        return known(followed, one.A, one.F, found.left, found.right)

    def _mean_of(self, series: Array, longest: int) -> Array:
        """Means over the rounds of quantities before each, NaN for runs that are longer than what is followed."""
        T = self.batch.T[:, None]
        total = np.where((np.arange(series.shape[2]) < T)[:, None], series, 0.0).sum(axis=2)
        return np.where(longest >= T, total / T, np.nan)

    def _centred(self, names: Sequence[str]) -> tuple[Quantities, _RoundMaps, tuple[Array, Array]]:
        """Quantities, round and start in z - z*, z* being where the mean stays, if it does.

        Powers of a map keep the digits of what tends to 0, and not those of differences from a limit.
        """
        found, one, (mean, covariance) = self.quantities(names), self.alike_rounds, self.beginning
        D = self.size
        away = one.A[:, :-1, :-1] - np.eye(D - 1)
        # Of a map that leaves the range of floats there is no pseudo-inverse.
        away[~np.isfinite(away).all(axis=(1, 2))] = 0.0
        still = -np.einsum("bij,bj->bi", np.linalg.pinv(away, rcond=_FLAT), one.A[:, :-1, -1])
        still = np.where(np.isfinite(still), still, 0.0)
        S = np.zeros_like(one.A)
        S[:] = np.eye(D)
        S[:, :-1, -1] = still
        back = 2 * np.eye(D) - S

        def moved(matrices: Array) -> Array:
            """The map in the new coordinates, without what is left of differences."""
            left, right = (each if matrices.ndim == 3 else each[:, None] for each in (back, S))
            new, size = left @ matrices @ right, np.abs(left) @ np.abs(matrices) @ np.abs(right)
            new[np.abs(new) <= _LOST * size] = 0.0
            # A drift by rounding alone would move the state far in 10^9 rounds.
            new[..., -1][np.abs(new[..., -1]) <= _DRIFT * size[..., -1]] = 0.0
            new[..., -1, -1] = matrices[..., -1, -1]
            return np.asarray(new)

        rows = [np.ascontiguousarray(side @ S) for side in (found.left, found.right)]
        quantities = Quantities(rows[0], rows[1], found.factor, found.owner, found.constant)
        mean = np.einsum("bij,bj->bi", back, mean)
        return quantities, _RoundMaps(moved(one.A), moved(one.F), one.w, one.Q), (mean, covariance)

    @cached_property
    def _classes(self) -> tuple[int, ...]:
        """The first client that each is like, in all instances and but for its name."""
        batch = self.batch
        if batch.law.mixing is not None:
            return tuple(range(batch.n))
        own = [
            batch.M, batch.c, batch.record_M, batch.record_c, batch.H, batch.g, batch.centre, batch.start, batch.steps,
        ]  # fmt: skip
        own += [value for value in batch.parameters.values() if value.ndim > 1]
        alike = np.all(
            [
                ((each[:, :, None] == each[:, None]) | np.isnan(each[:, None])).all(axis=(0, *range(3, each.ndim + 1)))
                for each in own
            ],
            axis=0,
        )
        return tuple(alike.argmax(axis=1).tolist())

    def _pairs(self, found: Quantities, one: _RoundMaps) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """The entries of the second moment that matter to the quantities, and (D, D) which of them each entry equals.

        Entries that clients who are alike have in common are one. None where they are too many.
        """
        # An entry matters where it does in one instance.
        links = np.asarray(np.concatenate([one.A[:, None], one.F], axis=1).any(axis=0))
        left, right = (side.any(axis=0) for side in (found.left, found.right))
        needed: NDArray[np.bool_] = np.asarray(np.einsum("ri,rj->ij", left, right) > 0)
        needed = needed | needed.T
        while True:
            more: NDArray[np.bool_] = needed | np.any([link.T @ needed @ link for link in links], axis=0)
            more[-1, -1] = True
            more |= more.T
            if np.array_equal(more, needed):
                break
            needed = more
        size = self.size
        kept = np.where(needed, orbits(self.server.size, self.client.size, self._classes), -1)
        own = [each for each in np.unique(kept[needed]).tolist() if each != size * size - 1]
        if len(own) >= _PAIRS:
            return None
        own.append(size * size - 1)
        place = np.where(needed, np.searchsorted(own, kept), -1)
        return np.array([divmod(each, size) for each in own], dtype=np.int64), place.astype(np.int64)


@functools.cache
def orbits(server: int, client: int, classes: tuple[int, ...]) -> NDArray[np.int64]:
    """(D, D): the number k D + l, k <= l, of the first entry that each entry of the second moment equals.

    The state is ``server`` entries, ``client`` of each client, and 1. Clients of one of the ``classes`` may change
    places, so that only whether two entries are of one client matters.
    """
    n = len(classes)
    size = server + n * client + 1
    second = {first: next((i for i in range(n) if classes[i] == first and i != first), first) for first in classes}

    def owner(k: int) -> tuple[int, int] | None:
        return divmod(k - server, client) if server <= k < size - 1 else None

    def entry(i: int, e: int) -> int:
        return server + i * client + e

    found = np.empty((size, size), dtype=np.int64)
    for k in range(size):
        for q in range(k, size):
            one, two = owner(k), owner(q)
            pair = [k, q]
            if one is not None:
                i, e = one
                pair[0] = entry(classes[i], e)
                if two is not None and classes[two[0]] == classes[i] and two[0] != i:
                    e, f = sorted((e, two[1]))
                    pair = [entry(classes[i], e), entry(second[classes[i]], f)]
                elif two is not None:
                    pair[1] = entry(classes[two[0]], two[1])
            elif two is not None:
                pair[1] = entry(classes[two[0]], two[1])
            low, high = sorted(pair)
            found[k, q] = found[q, k] = low * size + high
    return found


def known(followed: Callable[..., Array], *arrays: Array) -> Array:
    """What is followed from arrays, NaN where it changes when their entries are rounded otherwise."""
    once = followed(*(np.ascontiguousarray(each) for each in arrays))
    again = followed(*(np.ascontiguousarray(each * (1 + _EPS * _signs(each.shape[1:]))) for each in arrays))
    with np.errstate(invalid="ignore"):  # runs that overflow
        return np.where((np.abs(once - again) <= _KNOWN * np.abs(once)) | (once == 0), once, np.nan)


@functools.cache
def _signs(shape: tuple[int, ...]) -> Array:
    """1 or -1 in every entry, the same in every run."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=shape)


@dataclass(frozen=True)
class _Tables:
    """A client's functions as matrices: ``begin`` + ``rate``/delay, ``step`` on itself and the gradient, ``finish``.

    ``kept`` and ``told`` are those of ``sent``, on the client and on the message.
    """

    begin: Array
    rate: Array
    step: tuple[Array, Array]
    still: Array
    load: Array
    kept: Array
    told: Array


@dataclass(frozen=True)
class _Client:
    """(client', message) = (``rows`` + ``rate``/delay) (server, client, 1) + noise of this covariance.

    Once it knows what was sent, a client is ``kept`` client' + ``told`` message.
    """

    rows: Array
    rate: Array
    noise: Array
    kept: Array
    told: Array

    def at(self, points: NDArray[np.int64]) -> _Client:
        """The round at some of the points of the batch, in this order."""
        return _Client(*(getattr(self, each.name)[points] for each in fields(self)))


@dataclass(frozen=True)
class _RoundMaps:
    """The arrays of `ratecheck.kernels.scouting`."""

    A: Array
    F: Array
    w: Array
    Q: Array


@dataclass(frozen=True)
class Quantities:
    """Products of rows (N, R, D), factors (N, R), owners (R,), constants (N, names); see the kernels."""

    left: Array
    right: Array
    factor: Array
    owner: NDArray[np.int64]
    constant: Array
