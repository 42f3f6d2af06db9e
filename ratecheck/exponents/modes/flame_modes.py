"""Time averages of FLAME on one-dimensional modes whose clients are alike within groups, over any number of rounds.

FLAME keeps w_i near w and pi_i near the value that the client's gradient at w gives: on a mode of small curvature h the
left side is made of w_i - w and pi_i, of order h, hence h^2 in second moments, where `exchangeable`, which follows w_i
itself, has nothing but rounding. Here the variables are w, p_i = pi_i and d_i = w_i - w. With kappa = h/(lambda+h),
c = alpha*lambda and zeta_i = (g_i + e_i/alpha)/(lambda + h), where e_i = grad_theta_i L is the inner error, a selected
client has

    theta_i - w = (1 - kappa) d_i - kappa w + zeta_i,
    p_i+ = c (rho (theta_i - w) + p_i)/(c + rho),    w_i+ - w = (c (theta_i - w) - p_i)/(c + rho),

and w moves by the mean of w_i+ - w_i + (p_i+ - p_i)/rho, from which every d_i is then taken. Afterwards
theta_i = w_i + p_i/c (Lemma 2 of the paper), which the start has too. No coefficient is a difference of near numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ratecheck.aliases import Array
from ratecheck.exponents.modes.modes import Long, mean_over_rounds

# Where w and the constant one stand; then p and d of two clients of every group.
_W, _ONE, _FIRST = 0, 1, 2


@dataclass(frozen=True)
class FlameModes:
    """FLAME on f_i(x) = h x^2/2 - g x, one row per mode; arrays (modes, groups), group k of ``sizes[k]`` clients.

    All weights are ``alpha``. ``error`` are the clients' inner errors grad_theta_i L, the same in every round;
    ``random_error`` is the size of further ones, of a sign drawn anew for every client and round. s clients are drawn
    uniformly from all, or, with ``chances``, from group k alone with probability ``chances[k]``.
    """

    curvature: Array
    slope: Array
    sizes: tuple[float, ...]
    s: float
    T: int
    lambda_: float
    rho: float
    alpha: float
    error: float = 0.0
    random_error: float = 0.0
    chances: tuple[float, ...] | None = None

    def averages(self, weights: Mapping[str, float], start: Array) -> Array:
        """(1/T) sum_{t<T} E sum_q weights[q] q for q of grad_L2 and grad_theta2, from w_i = w = ``start``, (modes,)."""
        with np.errstate(all="ignore"):
            return np.asarray(_FlameMoments(self).average(weights, np.asarray(start)), dtype=np.float64)


class _FlameMoments:
    """The linear map of the second moments of z = (w, 1, p_11, d_11, p_12, d_12, p_21, ...), one for every mode."""

    def __init__(self, run: FlameModes) -> None:
        self.run = run
        shape = np.broadcast_shapes(np.shape(run.curvature), np.shape(run.slope), (1, len(run.sizes)))
        self.h, self.g = (np.broadcast_to(x, shape).astype(np.longdouble) for x in (run.curvature, run.slope))
        self.count, self.groups = shape
        self.size = _FIRST + 4 * self.groups
        self.places = self._places()
        self.basis = np.zeros((len(self.places), self.size, self.size), dtype=np.longdouble)
        for k, places in enumerate(self.places):
            for place in places:
                self.basis[(k, *place)] = 1

    def _client(self, group: int, which: int) -> slice:
        first = _FIRST + 2 * (2 * group + which)
        return slice(first, first + 2)

    def _places(self) -> list[list[tuple[int, int]]]:
        """The entries of E[z z'] that are equal, a list for every independent number."""
        server, own = (_W, _ONE), range(2)
        found = [[(a, b)] for a in server for b in server if a <= b]
        for g in range(self.groups):
            one, two = self._client(g, 0).start, self._client(g, 1).start
            found += [[(a, one + b), (a, two + b)] for a in server for b in own]
            for a, b in ((0, 0), (0, 1), (1, 1)):
                found += [[(one + a, one + b), (two + a, two + b)], [(one + a, two + b), (one + b, two + a)]]
            for other in range(g + 1, self.groups):
                its = [self._client(other, which).start for which in (0, 1)]
                found += [[(x + a, y + b) for x in (one, two) for y in its] for a in own for b in own]
        return [sorted({*places} | {(b, a) for a, b in places}) for places in found]

    # --- one round ---

    def _one(self, group: int) -> float:
        """P(i takes part)."""
        run = self.run
        return run.s / sum(run.sizes) if run.chances is None else run.chances[group] * run.s / run.sizes[group]

    def _two(self, group: int, other: int) -> float:
        """P(i and j take part) for i != j."""
        run, count, chance = self.run, sum(self.run.sizes), 1.0
        if run.chances is not None:
            count, chance = run.sizes[group], run.chances[group] if group == other else 0.0
        return chance * run.s * (run.s - 1) / (count * (count - 1)) if count > 1 else 0.0

    def _moves(self, group: int, which: int) -> tuple[Long, Long]:
        """The changes of p, d and z_i = w_i + pi_i/rho of a participant: (modes, 3, size); by its inner error, (3,)."""
        run, h = self.run, self.h[:, group]
        c, rho, lambda_ = (np.longdouble(x) for x in (run.alpha * run.lambda_, run.rho, run.lambda_))
        kappa, stay = h / (lambda_ + h), lambda_ / (lambda_ + h)
        zeta = (self.g[:, group] + np.longdouble(run.error) / run.alpha) / (lambda_ + h)
        # By theta_i - w, and by p_i and d_i themselves.
        by_theta = np.array([c * rho, c, 2 * c], dtype=np.longdouble) / (c + rho)
        rows = np.zeros((self.count, 3, self.size), dtype=np.longdouble)
        p = self._client(group, which).start
        rows[:, :, _W] = -kappa[:, None] * by_theta
        rows[:, :, _ONE] = zeta[:, None] * by_theta
        rows[:, :, p] = np.array([-rho, -1, -2], dtype=np.longdouble) / (c + rho)
        rows[:, :, p + 1] = stay[:, None] * by_theta - np.array([0, 1, 1], dtype=np.longdouble)
        return rows, by_theta

    def _round(self) -> Long:
        """The map of the independent numbers over one round, (modes, numbers, numbers)."""
        sizes, groups, basis = self.run.sizes, range(self.groups), self.basis[None]
        n, one = sum(sizes), [self._one(g) for g in groups]
        unit = np.zeros((1, 1, self.size), dtype=np.longdouble)
        unit[0, 0, _ONE] = 1
        w = np.zeros((1, 1, self.size), dtype=np.longdouble)
        w[0, 0, _W] = 1
        noise = (np.longdouble(self.run.random_error) / self.run.alpha / (self.run.lambda_ + self.h)) ** 2

        def form(left: Long, right: Long) -> Long:
            """E[(left z)(right z)'] for every element of the basis."""
            return np.asarray(left[:, None] @ basis @ np.swapaxes(right[:, None], -1, -2))

        moves = {(g, k): self._moves(g, k) for g in groups for k in (0, 1)}
        move = {at: rows[:, :2] for at, (rows, _) in moves.items()}
        sent = {at: rows[:, 2:] / n for at, (rows, _) in moves.items()}
        keep = {at: np.eye(self.size, dtype=np.longdouble)[None, self._client(*at)] for at in moves}
        shocks = {}
        for g in groups:
            by = moves[g, 0][1] / np.array([1, 1, n], dtype=np.longdouble)
            shocks[g] = one[g] * noise[:, g, None, None, None] * np.outer(by, by) * form(unit, unit)

        new = np.zeros((self.count, len(self.places), self.size, self.size), dtype=np.longdouble)
        expected = np.asarray(sum(one[g] * sizes[g] * sent[g, 0] for g in groups))
        # The change D of w, then every p and d before D is taken from d: ``with_change`` are their moments with D.
        square = np.zeros((self.count, len(self.places), 1, 1), dtype=np.longdouble)
        with_change: dict[int, Long] = {}
        for g, size in enumerate(sizes):
            beside = self._two(g, g) * (size - 1) * sent[g, 1]
            for h in groups:
                if h != g:
                    beside = beside + self._two(g, h) * sizes[h] * sent[h, 0]
            square = square + size * (one[g] * form(sent[g, 0], sent[g, 0]) + form(sent[g, 0], beside))
            square = square + size * shocks[g][..., 2:, 2:]
            others = expected - one[g] * size * sent[g, 0] + one[g] * (size - 1) * sent[g, 1]
            changed = form(keep[g, 0], others) + one[g] * form(keep[g, 0] + move[g, 0], sent[g, 0])
            with_change[g] = changed + form(move[g, 0], beside) + shocks[g][..., :2, 2:]
        w_change, one_change = form(w, expected), form(unit, expected)
        new[..., _W, _W] = (form(w, w) + 2 * w_change + square)[..., 0, 0]
        new[..., _W, _ONE] = (form(w, unit) + one_change)[..., 0, 0]
        new[..., _ONE, _ONE] = form(unit, unit)[..., 0, 0]
        for g in groups:
            here = self._client(g, 0)
            mean = form(keep[g, 0] + one[g] * move[g, 0], unit)[..., 0]
            mean[..., 1] -= one_change[..., 0, 0]
            cross = (form(keep[g, 0] + one[g] * move[g, 0], w) + with_change[g])[..., 0]
            cross[..., 1] -= (w_change + square)[..., 0, 0]
            new[..., _ONE, here], new[..., _W, here] = mean, cross
            own = form(keep[g, 0], keep[g, 0]) + shocks[g][..., :2, :2]
            own = own + one[g] * (form(keep[g, 0], move[g, 0]) + form(move[g, 0], keep[g, 0] + move[g, 0]))
            new[..., here, here] = self._relative(own, with_change[g], with_change[g], square)
            for h in range(g, self.groups):
                at = (h, int(h == g))
                apart = form(keep[g, 0], keep[at] + one[h] * move[at]) + one[g] * form(move[g, 0], keep[at])
                apart = apart + self._two(g, h) * form(move[g, 0], move[at])
                new[..., here, self._client(*at)] = self._relative(apart, with_change[g], with_change[h], square)
        return np.swapaxes(np.stack([new[(..., *places[0])] for places in self.places], axis=-1), -1, -2)

    @staticmethod
    def _relative(moments: Long, left: Long, right: Long, square: Long) -> Long:
        """E[(p, d - D)(p', d' - D)'] from the moments of (p, d), (p', d') and D."""
        found = moments.copy()
        found[..., 1, :] -= right[..., 0]
        found[..., :, 1] -= left[..., 0]
        found[..., 1, 1] += square[..., 0, 0]
        return found

    # --- the quantity, the average ---

    def _quantity(self, weights: Mapping[str, float]) -> Long:
        """The linear form of the independent numbers that is the weighted sum of quantities, (modes, numbers)."""
        run, sizes = self.run, self.run.sizes
        both, whole = weights.get("grad_theta2", 0.0) + weights.get("grad_L2", 0.0), weights.get("grad_L2", 0.0)
        if extra := weights.keys() - {"grad_theta2", "grad_L2"}:
            raise KeyError(f"these moments have no {', '.join(sorted(extra))}")

        def product(left: Long, right: Long) -> Long:
            return np.asarray(np.einsum("ma,kab,mb->mk", left, self.basis, right))

        found = np.zeros((self.count, len(self.places)), dtype=np.longdouble)
        for g, size in enumerate(sizes):
            # The gradient by w is zero: w is the mean of all w_i + p_i/rho. By Lemma 2 that by w_i is rho (w_i - w),
            # and that by pi_i is w_i - w.
            by_theta, apart = (np.zeros((self.count, self.size), dtype=np.longdouble) for _ in range(2))
            p, steep = self._client(g, 0).start, run.alpha * self.h[:, g]
            by_theta[:, _W], by_theta[:, p + 1] = steep, steep
            by_theta[:, _ONE] = -run.alpha * self.g[:, g]
            by_theta[:, p] = 1 + self.h[:, g] / run.lambda_
            apart[:, p + 1] = 1
            found += size * both * product(by_theta, by_theta)
            found += size * whole * (1 + np.longdouble(run.rho) ** 2) * product(apart, apart)
        return found

    def average(self, weights: Mapping[str, float], start: Array) -> Long:
        """(1/T) sum over t < T of the quantity, (modes,)."""
        z = np.zeros((self.count, self.size), dtype=np.longdouble)
        z[:, _W], z[:, _ONE] = start, 1
        moments = np.stack([z[:, places[0][0]] * z[:, places[0][1]] for places in self.places], axis=-1)
        form, power = self._quantity(weights), self._round()
        return mean_over_rounds(form, power, moments, int(self.run.T))
