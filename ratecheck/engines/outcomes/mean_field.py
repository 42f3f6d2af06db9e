"""All outcomes of the steps of a run in floating point, for a search; see `ratecheck.engines.rigorous.mean_field_runs`.

What a quantity is known to is the middle of an enclosure with its half width as the error. Rounding widens the radius.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ratecheck.aliases import Array
from ratecheck.engines.rigorous.mean_field_runs import FEW, MOST, Round, all_outcomes, without_memory
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.problems import PiecewiseSamples
from ratecheck.problems.piecewise_quadratic.piecewise_samples import RECORDED

# Steps of a client, one for each outcome, that are followed.
_LONGEST = 10**8
# What a round loses, as a share of the largest number in it.
_OFF = 1e-14


def check(setup: Setup) -> None:
    """Raise `InputError` where a run is not followed so."""
    n, K, T = setup.problem.n, setup.K, setup.T
    if setup.problem.seen_as(PiecewiseSamples) is None:
        raise InputError(f"the mean of a round is followed of equal clients, which a {setup.problem.kind} has not")
    if not without_memory(setup.algorithm):
        raise InputError(f"{setup.method.spoken} with noise on functions that are not quadratic is not followed")
    if setup.trace.rate != 1:
        raise InputError("noise on functions that are not quadratic is followed where everybody takes part")
    if not setup.alike:
        raise InputError("clients that are not alike are not followed with noise on functions that are not quadratic")
    if unknown := sorted({*setup.records} - RECORDED):
        raise InputError(f"{', '.join(unknown)} is not known of noise on functions that are not quadratic")
    if not all_outcomes(n, K, T) and (K > MOST or 2.0 ** (K + 1) * T > _LONGEST):
        raise InputError(
            f"K={K} local steps in T={T} rounds: outcomes are followed of at most {FEW} signs in all, or of {MOST} "
            f"local steps in a round and {_LONGEST:g} in all"
        )


@dataclass(frozen=True)
class MeanField:
    """Enclosures of the server's points: E|x_t - z_t|^2 <= radius_t^2, with one atom z_t wherever there is a radius.

    ``atoms`` are equally likely, those of one round after the other.
    """

    setup: Setup

    @property
    def problem(self) -> PiecewiseSamples:
        """The problem."""
        problem = self.setup.problem.seen_as(PiecewiseSamples)
        assert problem is not None
        return problem

    @cached_property
    def round(self) -> Round:
        """The coefficients of a round."""
        n = self.problem.n
        return Round.of(self.setup.algorithm, self.setup.parameters(participants=n), n)

    @property
    def followed(self) -> bool:
        """Whether all outcomes are."""
        return all_outcomes(self.problem.n, self.setup.K, self.setup.T)

    @cached_property
    def _sigma(self) -> float:
        return float(self.setup.noise.max(initial=0.0))

    @cached_property
    def _pieces(self) -> tuple[Array, Array, Array, Array]:
        """Ends and curvatures of the pieces, and where a way from 0 enters them."""
        kinks = self.problem.kinks[0, 0]
        low, high = np.concatenate([[-np.inf], kinks]), np.concatenate([kinks, [np.inf]])
        return low, high, np.clip(0.0, low, high), self.problem.curvatures[0, 0]

    def gradient(self, x: Array) -> Array:
        """F' at points of any shape."""
        slope, pieces = self._steps
        found = np.full(np.shape(x), slope)
        for low, high, origin, curvature in pieces:
            # Only the ends of the line have no limit, where nothing is cut off.
            way = x if low == -math.inf else np.maximum(x, low)
            way = way if high == math.inf else np.minimum(way, high)
            found += curvature * (way - origin)
        return found

    @cached_property
    def _steps(self) -> tuple[float, list[tuple[float, float, float, float]]]:
        """F'(0), and the ends, the place that is nearest to 0 and the curvature of every piece."""
        pieces = zip(*(side.tolist() for side in self._pieces), strict=True)
        return float(self.problem.one.slopes[0, 0]), [*pieces]

    def ends(self, x: Array) -> Array:
        """The ends of one client's local steps, (points, 2^K)."""
        step, a, c = self.round, self.round.a, self.round.c
        u = (step.begin * x)[:, None]
        for _ in range(self.setup.K):
            kept = a * u + c * self.gradient(u)
            u = np.concatenate([kept + c * self._sigma, kept - c * self._sigma], axis=1)
        return u

    def laws(self) -> Iterable[tuple[Array, float]]:
        """Atoms and radius before every round."""
        z, radius, n, K = self.setup.point[0, :1].copy(), 0.0, self.problem.n, self.setup.K
        curvatures = self.problem.curvatures[0, 0].tolist()
        lipschitz = self.round.lipschitz(curvatures, K)
        variance = self.round.variance(curvatures, K, self._sigma) / n
        before, after, largest = math.nan, 0.0, 0.0
        for t in range(self.setup.T):
            yield z, radius
            if t == self.setup.T - 1:
                return
            if self.followed:
                ends = self.ends(z)
                total = np.zeros((len(z), 1))
                for _ in range(n):
                    total = (total[:, :, None] + ends[:, None, :]).reshape(len(z), -1)
                z = (self.round.alpha * z[:, None] + self.round.beta * total / n).ravel()
                continue
            if z[0] != before:
                ends = self.ends(z)
                before, after = float(z[0]), float(self.round.alpha * z[0] + self.round.beta * ends.mean())
                largest = abs(before) + float(np.abs(ends).max())
            radius = math.sqrt((lipschitz * radius) ** 2 + variance) + _OFF * largest
            z = np.array([after])

    def expect(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """The recorded quantities, (T,), as middles of enclosures and their half widths."""
        laws = [*self.laws()]
        radius = np.array([each for _, each in laws])
        atoms = [z for z, _ in laws] if self.followed else [np.concatenate([z for z, _ in laws])]
        middles, widths = {}, {}
        for name in self.setup.records:
            if self.followed:
                found = [self._recorded(name, z, np.zeros_like(z)) for z in atoms]
                low, high = (np.array([side[k].mean() for side in found]) for k in range(2))
            else:
                low, high = self._recorded(name, atoms[0], radius)
            middles[name], widths[name] = (low + high) / 2, (high - low) / 2
        return middles, widths

    def _recorded(self, name: str, z: Array, radius: Array) -> tuple[Array, Array]:
        """Bounds at each atom with its radius; see `ratecheck.engines.rigorous.mean_field_runs`."""
        bent = self.problem.curvatures
        if name == "G_v":
            return np.zeros_like(z), np.zeros_like(z)
        if name in ("G_u", "B"):
            factor = float(self.problem.n) if name == "B" else 1.0
            low, high = _square(self.gradient(z), float(np.abs(bent).max()) * radius)
            return factor * low, factor * high
        if name == "distance2":
            assert self.problem.minimiser is not None
            return _square(z - float(self.problem.minimiser[0]), radius)
        rise, tangent = self._gaps(z), np.abs(self.gradient(z)) * radius
        down, up = (0.5 * each * radius**2 for each in (min(bent.min(), 0.0), max(bent.max(), 0.0)))
        return np.where(radius > 0, np.maximum(rise - tangent + down, 0.0), rise), rise + tangent + up

    def _gaps(self, x: Array) -> Array:
        """F - inf f: how f rises from its minimum, so that nothing cancels."""
        low, high, _, curvature = self._pieces
        start = float(self.problem.curve.lowest_point)
        found = np.zeros(np.shape(x))
        for j, h in enumerate(curvature):
            end = np.minimum(np.maximum(x, low[j]), high[j])
            way = end - min(max(start, low[j]), high[j])
            found += h * way * (0.5 * way + (x - end))
        return found


def _square(middle: Array, off: Array) -> tuple[Array, Array]:
    """Bounds of the mean square of numbers that are so far from these in the mean square."""
    size = np.abs(middle)
    return np.maximum(size - off, 0.0) ** 2, (size + off) ** 2


def followed(setup: Setup) -> bool:
    """Whether all outcomes of a run are."""
    return MeanField(setup).followed


def expect(setup: Setup) -> tuple[dict[str, Array], dict[str, Array]]:
    """See `MeanField.expect`; raises `InputError` as `check`."""
    check(setup)
    return MeanField(setup).expect()
