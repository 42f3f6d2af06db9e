"""Exact moments of clients that are alike but for their state: by types, at a cost that does not grow with n.

Clients with the same Hessian, step sizes and numbers of local steps differ in the constants c_i of their oracles
M x - c_i and in where they start. With c_i as a part of client i's state (`Sloped`) they follow the same map, and where
who takes part treats them alike, a renumbering of the clients drawn at random changes no quantity that is a mean over
them: so they are a population (`populations`) whose members start at different states x_i, and differences from the
mean state have the second moment

    E[w w'] = (1/(N - 1)) sum_i (cov(x_i - x) + m_i m_i'),   m_i = E[x_i - x].

The second part is L L' for a matrix L with no more columns than a client's state has entries. It is followed as further
columns of the mean (see `Moment`), so that what is small by cancellation, such as a control variate less the gradient
that it stands for, keeps its digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import Algorithm, TermMap
from ratecheck.algorithms.model.sloped import Sloped
from ratecheck.aliases import Array
from ratecheck.engines.moments.affine import AffineRounds, Layout, Start
from ratecheck.engines.moments.expectation import Moments, VaryingMoments
from ratecheck.engines.moments.moment import EPS, Moment, majorant
from ratecheck.engines.records import RecordPlan, plan
from ratecheck.engines.setup import Setup
from ratecheck.engines.types.populations import MOST_COUNTS, PopulationMoments, ignores_count
from ratecheck.participation.model.law import Clients
from ratecheck.problems import Population, Quadratic

# The state by types is followed where it is at most this share of that client by client.
_SHARE = 0.75
# The share of the clients that types may be where coefficients of all of them are read in every round.
_FEWER = 0.5

Members = NDArray[np.intp]


def pays(setup: Setup) -> bool:
    """Whether clients may be taken together, and that makes a smaller state or, read anew in every round, fewer."""
    if (found := types(setup)) is None:
        return False
    if setup.algorithm.varying and len(found) <= _FEWER * setup.problem.n:
        return True
    blocks = [size for block, size in setup.sizes.items() if block in setup.algorithm.local.values()]
    client = sum(setup.sizes[block] for block in setup.algorithm.client.values())
    slopes = len(_oracles(setup.algorithm)) * sum(blocks)
    return 2 * len(found) * (client + slopes) <= _SHARE * setup.problem.n * client


def types(setup: Setup) -> list[Members] | None:
    """The clients of every type, numbered by their first; None where clients are not taken together."""
    fixed = setup.trace.fixed(setup.T)
    law = setup.trace.law(0) if fixed is None and setup.trace.constant_law else None
    if setup.algorithm.mixed or setup.trace.partition is not None or (fixed is None and law is None):
        return None
    if not of_slopes(setup):
        return None
    found = groups(setup, fixed)
    if law is None or 2 * len(found) > setup.problem.n:
        return found
    even = law.match(
        subsets=lambda _: True,
        clients=lambda each: _even(setup, each, found),
        draws=lambda _: False,
        sets=lambda _: False,
    )
    return found if even else None


def of_slopes(setup: Setup) -> bool:
    """Whether clients of one Hessian differ in slopes alone, and quantities are means over the clients."""
    problem, algorithm = setup.problem, setup.algorithm
    if problem.quadratic is None or algorithm.asks_more:
        return False
    stepped = all(block in algorithm.local.values() for block, size in setup.sizes.items() if size)
    # Personal minimisers differ from client to client.
    own = "distance2" in setup.records and problem.quadratic.d_v > 0
    return stepped and not own and algorithm.projects is None and bool((setup.shares == setup.shares[0]).all())


def groups(setup: Setup, fixed: NDArray[np.bool_] | None) -> list[Members]:
    """Clients with the same Hessian and numbers that come in the same rounds."""
    quadratic = setup.problem.quadratic
    assert quadratic is not None
    came = None if fixed is None else fixed[:1] if fixed.strides[0] == 0 else fixed
    found: dict[tuple[object, ...], list[int]] = {}
    for i in range(setup.problem.n):
        sizes = tuple(float(v[i]) for v in setup.step_sizes.values() if isinstance(v, np.ndarray))
        parts = [quadratic.H[i], setup.weights[i], *([] if came is None else [came[:, i]])]
        key = int(setup.local_steps[i]), sizes, *(part.tobytes() for part in parts)
        found.setdefault(key, []).append(i)
    return [np.array(members) for members in found.values()]


def _oracles(algorithm: Algorithm) -> list[str]:
    """The oracles whose constants clients hold: the method's, and that of what is recorded."""
    return list(dict.fromkeys((algorithm.oracle, algorithm.record_oracle)))


def _even(setup: Setup, law: Clients, members: Sequence[Members]) -> bool:
    """Whether clients of a type come with the same probability, all clients where it matters how many come."""
    if not ignores_count(setup) and ((law.p != law.p[0]).any() or setup.problem.n > MOST_COUNTS):
        return False
    return all(bool((law.p[each] == law.p[each[0]]).all()) for each in members)


def moments(setup: Setup) -> Moments:
    """The recursion of a run for which `pays`."""
    return VaryingAlikeMoments(setup) if setup.algorithm.varying else AlikeMoments(setup)


def by_types(setup: Setup, members: Sequence[Members]) -> Setup:
    """The run with types of clients, whose oracles have no constant."""
    firsts, quadratic = np.array([each[0] for each in members]), setup.problem.quadratic
    assert quadratic is not None
    shapes = Quadratic(quadratic.H[firsts], np.zeros((len(firsts), quadratic.d)), quadratic.d_u)
    return replace(
        setup,
        method=replace(setup.method, algorithm=Sloped(setup.algorithm)),
        problem=Population(shapes, [len(each) for each in members]),
        local_steps=setup.local_steps[firsts],
        weights=setup.weights[firsts],
        step_sizes={name: v[firsts] if isinstance(v, np.ndarray) else v for name, v in setup.step_sizes.items()},
        point=setup.point[firsts],
    )


class SlopedMoments(Moments):
    """A recursion in which ``members`` are the clients of each type, whose slopes are entries of the state."""

    original: Setup
    members: Sequence[Members]

    @cached_property
    def plan(self) -> RecordPlan:
        """What is recorded: one term for each type, with no coefficient on the slopes."""
        found, after = plan(self.original), self.original.maps
        at = after.server.slots + after.client.slots
        more = self.setup.maps.client.slots - after.client.slots
        firsts = [members[0] for members in self.members]

        def widened(term: TermMap) -> TermMap:
            left, right = (np.insert(side, [at] * more, 0.0) for side in (term.left, term.right))
            return replace(term, left=left, right=right)

        records = tuple(
            replace(record, terms=tuple(tuple(widened(column[i]) for i in firsts) for column in record.terms))
            for record in found.records
        )
        return replace(found, records=records, anchor=found.anchor[firsts], anchor_error=found.anchor_error[firsts])

    def slope_rows(self, i: int) -> Array:
        """See `Moments.slope_rows`: the mean of the type's, as entries of the state."""
        rows = np.zeros((self.setup.problem.d, self.size))
        for block, (first, last) in enumerate(zip(self.setup.starts, self.setup.starts[1:], strict=False)):
            for at in self._slopes(block)[-1:]:
                rows[np.arange(first, last), self.server + i * self.client + at] = 1.0
        return rows

    def _slopes(self, block: int) -> list[NDArray[np.intp]]:
        """Positions of the slopes of a block in a client's state, its last variables there, one for each oracle."""
        algorithm, layout = self.original.algorithm, self.rounds_of.client
        if algorithm.blocks[block] not in algorithm.local.values():
            return []
        count = layout.counts.by_block[block]
        return [layout.variable(block, count - k) for k in range(len(_oracles(algorithm)), 0, -1)]

    def places(self, own: Layout) -> NDArray[np.intp]:
        """Where the entries of a client's state are in one with slopes."""
        layout = self.rounds_of.client
        parts = [
            layout.variable(block, slot) for block, count in enumerate(own.counts.by_block) for slot in range(count)
        ]
        return np.concatenate([np.zeros(0, dtype=np.intp), *parts])

    def starts_of(self, i: int) -> Array:
        """See `Moments.starts_of`."""
        return self.original.point[self.members[i]]

    def states(self) -> tuple[Start, Array, Array]:
        """The server's start, and the mean states (n, client) of the clients with the size of their terms."""
        setup = self.original.at(0)
        rounds = AffineRounds(setup)
        start = rounds.start()
        states, sizes = np.zeros((self.n, self.client)), np.zeros((self.n, self.client))
        places = self.places(rounds.client)
        states[:, places], sizes[:, places] = start.means, start.sizes
        for block, (first, last) in enumerate(zip(setup.starts, setup.starts[1:], strict=False)):
            for at, oracle in zip(self._slopes(block), _oracles(setup.algorithm), strict=False):
                # The constants are numbers of the problem, or off by what is said.
                (_, c), (_, wrong) = setup.operator(oracle), setup.operator_error(oracle)
                states[:, at], sizes[:, at] = c[:, first:last], wrong[:, first:last] / EPS
        roots = np.zeros((len(self.members), self.client, setup.problem.d))
        roots[:, places] = start.roots[[int(members[0]) for members in self.members]]
        from_clients = np.zeros((self.server, self.client))
        from_clients[:, places] = start.from_clients
        return replace(start, from_clients=from_clients, roots=roots), states, sizes


class AlikeMoments(SlopedMoments, PopulationMoments):
    """The recursion by types of clients: see the module."""

    def __init__(self, setup: Setup) -> None:
        found = types(setup)
        assert found is not None
        self.original, self.members = setup, found
        super().__init__(by_types(setup, found))

    def _of_types(self, taking: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return taking[:, [members[0] for members in self.members]]

    def _probabilities(self, law: Clients) -> Array:
        return np.asarray(law.p[[members[0] for members in self.members]])

    def start(self) -> Moment:
        """See `Moments.start`: mean states, and how the clients of a type differ from theirs."""
        start, states, sizes = self.states()
        covariance = np.zeros((self.size, self.size))
        means, large, columns, apart = [], [], [], np.zeros((self.distinct, self.client))
        for g, (members, noise) in enumerate(zip(self.members, start.roots, strict=True)):
            N, rows, spread = len(members), self.outputs(g), self.spread_of(g)
            loading = np.vstack([np.sqrt(N) * (start.from_clients @ noise), noise / np.sqrt(N)])
            covariance[np.ix_(rows, rows)] += loading @ loading.T
            mean, size = mean_state(states[members], sizes[members])
            means.append(mean)
            large.append(size)
            if N > 1:
                covariance[np.ix_(spread, spread)] = noise @ noise.T
                found, apart[g] = _root(states[members] - mean, sizes[members] + size)
                placed = np.zeros((self.size, found.shape[1]))
                placed[spread] = found
                columns.append(placed)
        nothing = np.zeros(self.distinct * self.client)
        mean = np.concatenate([start.server, *means, nothing, [1.0]])
        size = np.concatenate([start.server_size, *large, apart.ravel(), [0.0]])
        roots = np.sqrt(np.diagonal(covariance))
        unit = self.setup.problem.d + self.n + 16
        off, rounding = majorant(unit * (size + roots)), majorant(np.sqrt(2 * unit) * roots)
        zeros = np.zeros(self.size)
        whole = np.column_stack([mean, *columns])
        return Moment(whole, covariance, np.diag(off), np.diag(rounding), zeros, zeros)


def mean_state(states: Array, sizes: Array) -> tuple[Array, Array]:
    """The mean of states (N, entries), and the size of its terms: the mean of equal numbers is one of them."""
    even = (states == states[0]).all(axis=0)
    mean = np.where(even, states[0], states.mean(axis=0))
    return mean, sizes.mean(axis=0) + np.where(even, 0.0, np.abs(states).mean(axis=0))


def _root(differences: Array, sizes: Array) -> tuple[Array, Array]:
    """L with L L' = D'D/(N - 1) for D (N, state), and the root of the mean square by which entries are off.

    The errors are in units of N + d + 16 roundings, those of the differences being ``sizes``.
    """
    N, width = differences.shape
    triangle = np.linalg.qr(differences, mode="r") / np.sqrt(N - 1)
    lengths = np.linalg.norm(differences, axis=0) / np.sqrt(N - 1)
    # A factor is rounded column by column; a row of it that is no more than that is none.
    least = 4 * N * EPS * lengths
    triangle = triangle[(np.abs(triangle) > least).any(axis=1)]
    return triangle.T, np.sqrt((sizes**2).sum(axis=0) / (N - 1)) + 8 * width * lengths


class VaryingAlikeMoments(VaryingMoments, AlikeMoments):
    """By types of clients, where coefficients differ from round to round."""


__all__ = ["AlikeMoments", "SlopedMoments", "by_types", "groups", "mean_state", "moments", "of_slopes", "pays", "types"]
