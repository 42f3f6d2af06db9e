"""Exact expectations of short bilevel runs whose samples have two values: all outcomes are followed.

Outcomes are the signs of all samples and, where clients are drawn uniformly, the sets of them; all are equally likely.
Nothing has to be linear: the projection of v and what holds in every run are those of each outcome. Points include
those of clients that are not in the round, which make their local steps too, as proofs let them (`visits`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.bilevel_rounds import EVERY_RUN, RoundSums
from ratecheck.engines.monte_carlo.visits import LocalMaps, Visit
from ratecheck.engines.records import plan
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.problems import BilevelSamples

# Outcomes that are followed, and entries of the arrays that hold the points of one local step.
LARGEST = 2**16
_ENTRIES = 10**7
# Quantities that a bound knows to hold in every outcome, beside those that are claimed so.
_LARGEST_OF_ALL = EVERY_RUN | {"noise_weight_r"}


def problem_of(setup: Setup) -> BilevelSamples:
    """The problem of the run; raises `InputError` for one without samples of two values."""
    problem = setup.problem.seen_as(BilevelSamples)
    if problem is None:
        raise InputError(f"outcomes are followed of samples with two values, which a {setup.problem.kind} one has not")
    return problem


def outcomes(setup: Setup) -> int:
    """The number of outcomes of a run; raises `InputError` where clients are drawn in another way than uniformly."""
    signs = int(setup.local_steps.sum()) * sum(problem_of(setup).sampled)
    count = 1
    for t in range(min(setup.T, LARGEST)):
        count *= 2**signs * len(_participants(setup, t))
        if count > LARGEST:
            break
    return count


def check(setup: Setup) -> None:
    """Raise `InputError` where there are too many outcomes to follow."""
    if not setup.algorithm.tabled:
        raise InputError(f"outcomes are followed for linear methods without a graph, and {setup.method.spoken} is none")
    largest = LARGEST if setup.problem.n * setup.K * setup.problem.d * LARGEST < _ENTRIES else LARGEST // 16
    if outcomes(setup) > largest:
        raise InputError(
            f"T={setup.T} rounds of {setup.K} local steps have more than {largest} outcomes of their samples: take "
            "fewer rounds, local steps or clients"
        )


@dataclass
class _Branches:
    """All outcomes so far: server (slots, d, outcomes) and clients (n, slots, d, outcomes) before a round."""

    server: Array
    client: Array

    @property
    def count(self) -> int:
        """The number of outcomes."""
        return int(self.server.shape[-1])


@dataclass(frozen=True)
class _Round:
    """Round t in every outcome: ``signs`` (n, K, 3, outcomes) and ``members`` (n, outcomes)."""

    t: int
    signs: Array
    members: NDArray[np.bool_]


def visits(setup: Setup) -> Iterator[Visit]:
    """The local steps of all clients in order, in all outcomes: the points, and what the samples add there."""
    run = _EnumeratedRun(setup)
    for round_ in run.rounds():
        yield from run.local_steps(round_)
        run.finish(round_)


def expect(setup: Setup, *, inside: bool = False) -> dict[str, Array]:
    """Expectations (T,) of what the run records; with ``inside`` also of all that SimFBO's lemmas speak of in a round.

    Errors before a round are then those of the objective that the method descends. What is claimed of every run, and
    r_i in noise_weight_r, are the largest over the outcomes.
    """
    check(setup)
    run, found = _EnumeratedRun(setup), dict[str, list[float]]()
    recorded = plan(setup)
    for record in recorded.records:
        if record.terms or recorded.groups.any():
            raise InputError(f"{record.name} is not known of samples whose outcomes are followed")
    with np.errstate(over="ignore", invalid="ignore"):
        for round_ in run.rounds():
            sums = RoundSums(setup)
            point = run.branches.server[recorded.slots[setup.block_of], np.arange(setup.problem.d)]
            values = {
                record.name: record.constant + np.sum((record.rows @ point - record.offset[:, None]) ** 2, axis=0)
                for record in recorded.records
            }
            for visit in run.local_steps(round_):
                if visit.k == 0:
                    sums.begin(visit.points)
                if inside:
                    sums.step(visit.k, visit.points, visit.noise)
            values |= sums.finish(round_.members) if inside else {}
            for name, value in values.items():
                most = value.max() if name in _LARGEST_OF_ALL else value.mean()
                found.setdefault(name, []).append(float(most))
            run.finish(round_)
    return {name: np.array(each) for name, each in found.items()}


class _EnumeratedRun:
    """One run in all its outcomes."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.problem, self.maps = setup, problem_of(setup), LocalMaps.of(setup)
        self.M, self.c = self.problem.operator()
        blocks, n = setup.block_of, setup.problem.n
        self.finishes = np.stack([setup.finish(i)[blocks] for i in range(n)])
        starts = np.stack([setup.start_client(i)[blocks] for i in range(n)])
        if starts[..., 1].any():
            raise InputError(f"{setup.method.spoken} starts with a sample, whose outcomes are not followed")
        client = np.einsum("idc,id->icd", starts[..., 0], setup.point)
        table = setup.maps.start_server(setup.parameters())[blocks]
        server = table[:, :, 0].T * setup.point[0] + np.einsum("dsc,cd->sd", table[:, :, 1:], client.mean(axis=0))
        self.branches = _Branches(server[..., None], client[..., None])

    def rounds(self) -> Iterator[_Round]:
        """The rounds, each with the outcomes of its own samples added to those before it."""
        n, K = self.setup.problem.n, self.setup.K
        used = np.arange(K)[None, :, None] < self.setup.local_steps[:, None, None]
        drawn = np.argwhere(used & np.array(self.problem.sampled))
        for t in range(self.setup.T):
            sets = _participants(self.setup, t)
            own = 2 ** len(drawn) * len(sets)
            numbers = np.tile(np.arange(own), self.branches.count)
            signs = np.ones((n, K, 3, len(numbers)))
            for bit, (i, k, kind) in enumerate(drawn):
                signs[i, k, kind] -= 2 * (numbers >> bit & 1)
            members = sets[numbers >> len(drawn)].T
            old = self.branches
            self.branches = _Branches(np.repeat(old.server, own, axis=-1), np.repeat(old.client, own, axis=-1))
            yield _Round(t, signs, members)

    def local_steps(self, round_: _Round) -> Iterator[Visit]:
        """The local steps of the round; the clients' last variables are kept for `finish`."""
        server, client = self.branches.server, self.branches.client
        state = np.concatenate([np.broadcast_to(server, (len(client), *server.shape)), client], axis=1)
        local = np.einsum("idls,isdb->ildb", self.maps.begin, state)
        for k in range(self.setup.K):
            points = local[:, 0]
            noise = self.problem.moved(points, round_.signs[:, k])
            yield Visit(round_.t, k, points, noise)
            answer = self.M @ points - self.c[..., None] + noise
            inputs = np.concatenate([local, answer[:, None]], axis=1)
            moved = np.einsum("idlm,imdb->ildb", self.maps.step(k), inputs)
            local = np.where((k < self.setup.local_steps)[:, None, None, None], moved, local)
        self.local, self.state = local, state

    def finish(self, round_: _Round) -> None:
        """The end of the round: clients' states and messages, the server's step and its projection."""
        setup, clients = self.setup, self.branches.client.shape[1]
        results = np.einsum("idos,isdb->iodb", self.finishes, np.concatenate([self.state, self.local], axis=1))
        here = round_.members[:, None, None, :]
        client = np.where(here, results[:, :clients], self.branches.client)
        total = np.sum(np.where(here, results[:, clients:], 0.0), axis=0)
        inputs = np.concatenate([self.branches.server, total])
        counts, server = round_.members.sum(axis=0), np.empty_like(self.branches.server)
        for count in np.unique(counts):
            table, lanes = setup.aggregate(int(count))[setup.block_of], counts == count
            server[..., lanes] = np.einsum("dsm,mdb->sdb", table, inputs[..., lanes])
        self._project(server)
        self.branches = _Branches(server, client)

    def _project(self, server: Array) -> None:
        slot, block = self.setup.projected
        if slot < 0:
            return
        rows, radius = slice(*self.setup.starts[block : block + 2]), float(self.setup.step_sizes["r"])
        length = np.sqrt(np.sum(server[slot, rows] ** 2, axis=0))
        server[slot, rows] *= np.where(length > radius, radius / np.where(length > radius, length, 1.0), 1.0)


def _participants(setup: Setup, t: int) -> NDArray[np.bool_]:
    """(sets, n): who may take part in round t, all sets equally likely."""
    trace = setup.trace
    if trace.deterministic:
        none = np.zeros((2, 1), dtype=np.uint64)
        return np.asarray(trace.masks(t, 1, none)[0].T)
    law = trace.law(t)
    if law is None or not law.uniform or trace.selected:
        raise InputError(
            f"outcomes are followed of clients that are given or drawn uniformly, not of {trace.kind} ones"
        )
    n, size = setup.problem.n, int(trace.size or 0)
    if math.comb(n, size) > LARGEST:
        raise InputError(f"{math.comb(n, size)} sets of clients are too many to follow")
    sets = np.zeros((math.comb(n, size), n), dtype=np.bool_)
    for row, who in enumerate(itertools.combinations(range(n), size)):
        sets[row, list(who)] = True
    return sets
