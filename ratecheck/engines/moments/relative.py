"""Moments of runs whose noise grows with the gradient, one gradient a round.

A client's noise in a round is normal of the covariance (sigma^2 + rho E||g||^2)/d I at its gradient g = M x - c. What
rho adds has the second moments of sqrt(rho/d) xi_cj g_j, summed over j, in coordinate c, the xi_cj being independent of
all else and of variance 1: fluctuations of the round map, one for each pair of coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ratecheck.algorithms.model.algorithm import Algorithm
from ratecheck.aliases import Array
from ratecheck.engines.moments.expectation import Moments, check_affine_gradients
from ratecheck.engines.moments.moment import EPS
from ratecheck.engines.moments.roundmap import Fluctuation, Noise
from ratecheck.engines.setup import Setup, check_clients
from ratecheck.errors import InputError


def follows(algorithm: Algorithm) -> bool:
    """Whether its rounds are linear in one gradient of each client that takes part, and nothing is projected."""
    return algorithm.tabled and algorithm.oracle == "gradient" and not algorithm.projects


def check(setup: Setup) -> None:
    """Raise `InputError` unless each client takes one gradient a round, of one block, by which it moves linearly."""
    algorithm = setup.algorithm
    if not setup.law.relative:
        raise InputError(f"{setup.law.kind} noise does not grow with the gradient")
    if not follows(algorithm):
        raise InputError(f"{setup.method.spoken} is followed for noise alone that does not depend on the point")
    if (setup.local_steps != 1).any() or sum(map(bool, setup.sizes.values())) > 1:
        raise InputError(f"{setup.law.kind} noise is followed in rounds of one gradient of one block of variables")
    check_clients(setup)
    check_affine_gradients(setup)
    if any(setup.start_client(i)[..., 1].any() for i in range(setup.problem.n)):
        raise InputError(f"{setup.method.spoken} starts with a sample, whose noise depends on the point")
    if not setup.trace.deterministic and ((law := setup.trace.law(0)) is None or not law.uniform):
        raise InputError(f"{setup.law.kind} noise is followed where clients are given or drawn uniformly")
    if algorithm.uses_delay and not setup.trace.deterministic:
        raise InputError(f"{setup.method.spoken} depends on delays, here random")


class RelativeMoments(Moments):
    """Client by client; see the module's docstring."""

    def _coins(
        self, members: Iterable[tuple[int, float, float]], to_server: Array
    ) -> tuple[list[Fluctuation], Array, Noise]:
        """What relative noise adds for each (client, delay, probability that it takes part), as compression does."""
        setup, rounds, found = self.setup, self.rounds_of, list[Fluctuation]()
        wrong = np.zeros((self.size, self.size))
        for i, delay, share in members:
            begun, rows, columns = rounds.begin(i, delay), self.outputs(i), self.inputs(i)
            answer, loads, sizes = self._gradient(i, begun)
            load, large = self._loaded(i, to_server)
            weight = share * setup.law.relative / len(answer)
            found += [
                Fluctuation(weight, np.outer(coordinate, gradient), rows, columns)
                for coordinate in load.T
                for gradient in answer
            ]
            unit = 4 * (sum(load.shape) + len(columns)) + 16
            whole = np.outer(large.sum(axis=1), (loads + unit * sizes).sum(axis=0))
            wrong[np.ix_(rows, columns)] += math.sqrt(weight) * whole
        return found, wrong, Noise.none(self.size)

    def _gradient(self, i: int, begun: Array) -> tuple[Array, Array, Array]:
        """Client i's gradient as rows on its inputs, their errors in units of rounding, and sizes of their terms."""
        rounds, point = self.rounds_of, begun[self.rounds_of.local.first]
        M, error = np.abs(rounds.M[i]), rounds.M_error[i] / EPS
        gradient, size, off = rounds.M[i] @ point, M @ np.abs(point), error @ np.abs(point)
        gradient[:, -1] -= rounds.c[i]
        size[:, -1] += np.abs(rounds.c[i])
        off[:, -1] += rounds.c_error[i] / EPS
        return gradient, off, size

    def _loaded(self, i: int, to_server: Array) -> tuple[Array, Array]:
        """What an answer loads on (server, client i), columns by its coordinates, and the sizes of these entries."""
        load, (ends, sizes) = self.loading(i, to_server), self.rounds_of.of_answer(i)
        return load @ ends, np.abs(load) @ sizes
