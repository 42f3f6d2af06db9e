"""Time averages of one-dimensional runs whose participants are drawn anew in every round, at a cost free of n.

The second moments of `types.TypeMoments` follow one linear map of some ten to thirty numbers, the entries of M and of
the V_g, of which T rounds take O(log T) products and K local steps O(log K). Many curvatures are computed at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms import Method
from ratecheck.algorithms.model.algorithm import LinearMaps, TermMap, TermOver
from ratecheck.errors import InputError
from ratecheck.exponents.modes.modes import Long, Modes, client_maps, mean_over_rounds
from ratecheck.exponents.modes.types import TypeMoments


@dataclass(frozen=True)
class ModeRun:
    """A method with its numbers, on the modes of one of its blocks; m of n clients are sampled uniformly.

    With ``probabilities`` each client takes part with that of its group, independently; m is how many do in the mean.
    ``step_sizes`` are the method's own parameters, fixed ones included. Raises `InputError` for a method whose runs are
    not of this kind.
    """

    method: Method
    block: str
    m: float
    K: int
    T: int
    step_sizes: Mapping[str, float]
    probabilities: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        algorithm = self.method.algorithm
        if algorithm.uses_delay or algorithm.bilevel or (self.probabilities and algorithm.averages):
            raise InputError(f"{self.method.spoken}: its rounds are no fixed linear map")

    def averages(
        self, modes: Modes, weights: Mapping[str, float], *, start: float = 0.0, noise: float = 0.0
    ) -> NDArray[np.float64]:
        """(1/T) sum_{t<T} E sum_q weights[q] q over recorded quantities q, (modes,).

        All clients start at ``start``; every gradient has independent noise of variance ``noise``.
        """
        with np.errstate(all="ignore"):
            return _DrawnMoments(self, modes, noise).average(weights, start).astype(np.float64)


class _DrawnMoments(TypeMoments):
    """The linear map of the entries of M and of the V_g, one for every mode."""

    def __init__(self, run: ModeRun, modes: Modes, noise: float) -> None:
        maps = client_maps(run, modes, noise, run.m, math.inf)
        super().__init__(run.method.algorithm, [maps], apart=True)
        self.run = run
        blocks = [range(self.means), *(range(w.start, w.stop) for w in map(self.spread, self.groups))]
        self.entries = np.array([(a, b) for block in blocks for a in block for b in block if a <= b]).T

    def average(self, weights: Mapping[str, float], start: float) -> Long:
        """(1/T) sum over t < T of the quantity, (modes,)."""
        moments = self.start(start)[:, *self.entries]
        return mean_over_rounds(self._form(weights), self._power(), moments, self.run.T)

    def _power(self) -> Long:
        """The map of the entries over one round, (modes, entries, entries)."""
        run, one = self.run, self.ds
        a_round = self.sampled(run.m) if run.probabilities is None else self.independent(run.m, run.probabilities)
        i, j = self.entries
        constant = (i == one) & (j == one)
        # A number (a, b) goes to E_ia E_jb + E_ib E_ja, as M is symmetric.
        new = a_round.N[:, i, j][..., None] * constant
        for weight, E in [(np.longdouble(1), a_round.A), *a_round.fluctuations]:
            left, right = E[:, i], E[:, j]
            pairs = left[:, :, i] * right[:, :, j] + np.where(i == j, 0, left[:, :, j] * right[:, :, i])
            new = new + weight * pairs
        return np.asarray(new)

    # --- the quantity ---

    def _form(self, weights: Mapping[str, float]) -> Long:
        """The linear form of the entries that is the weighted sum of quantities, (modes, entries)."""
        W = np.zeros((self.maps.count, self.size, self.size), dtype=np.longdouble)
        for record, terms in LinearMaps(self.run.method.algorithm).records((*weights,), self.maps.p).items():
            for term in terms:
                if term.over is TermOver.VALUES:
                    raise InputError(f"{record} has the objective's value in it, which these moments lack")
                if term.block == self.maps.block:
                    W += weights[record] * term.factor * self._term(term)
        lift = self._unit + self.sums
        W = lift.T @ (W + np.swapaxes(W, -1, -2)) @ lift
        rows, columns = self.entries
        return np.where(rows == columns, W[:, rows, columns] / 2, W[:, rows, columns])

    def _term(self, term: TermMap) -> Long:
        """W with <W, E z z'> the mean of products over clients, or the product of means."""
        n, sizes = self.modes.n, self.modes.sizes
        left, right = ([self._row(each, g) for g in self.groups] for each in (term.left, term.right))
        if term.over is not TermOver.CLIENTS:
            a, b = (np.tensordot(np.array(sizes) / n, rows, 1) for rows in (left, right))
            return np.asarray(a[:, :, None] * b[:, None])
        found = np.zeros((self.maps.count, self.size, self.size), dtype=np.longdouble)
        for g, N in enumerate(sizes):
            found += N / n * left[g][:, :, None] * right[g][:, None]
            # c_i differs from c_g by (N_g - 1)/N_g V_g in the mean square.
            a, b = (each[g][:, self.client(g)] for each in (left, right))
            found[:, self.spread(g), self.spread(g)] += (N - 1) / n * a[:, :, None] * b[:, None]
        return found

    def _row(self, coefficients: Any, group: int) -> Long:
        """A linear form of server, client and gradient as one of z, (modes, z)."""
        servers, clients = self.maps.maps.server.slots, self.maps.maps.client.slots
        row = np.zeros((self.maps.count, self.size), dtype=np.longdouble)
        row[:, : self.ds] = coefficients[: self.ds]
        here = self.client(group)
        row[:, here] = coefficients[servers : servers + self.dc]
        by_gradient = coefficients[servers + clients]
        kind, slot = self.maps.maps.point()[self.maps.block]
        row[:, slot if kind == "server" else here.start + slot] += by_gradient * self.modes.curvature[:, group]
        row[:, self.ds] -= by_gradient * self.modes.slope[:, group]
        return row
