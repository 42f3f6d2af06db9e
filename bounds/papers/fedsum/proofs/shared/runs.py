"""FedSUM-B, FedSUM and FedSUM-CR in small: one dimension, quadratic f_i, rational numbers, exact expectations.

The algorithms are run as they are printed (Algorithms 1, 2, 3), from the messages delta_i on, so that what the paper
says about y^(t), h_i^(t) and y_i^(t) can be checked against them. Rounds are 0 ... T-1; x^(-1) = x^(0), y^(-1) = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from bounds.ledger.draw import Draw, NoisyRational, expect, expect_square, mean, noise
from bounds.ledger.participation import ParticipationMatrix

ALGORITHMS = ("fedsum-b", "fedsum", "fedsum-cr")


def total(terms: Iterable[NoisyRational]) -> NoisyRational:
    """The sum of random variables."""
    return sum(terms, NoisyRational())


@dataclass(frozen=True, kw_only=True)
class ScalarClients:
    """Clients f_i(x) = h_i*x^2/2 - g_i*x, |h_i| <= L, noise of variance noise^2 <= sigma^2; settings of a run."""

    algorithm: str
    who: ParticipationMatrix
    h: tuple[Fraction, ...]
    g: tuple[Fraction, ...]
    x0: Fraction
    K: int
    L: Fraction
    sigma: Fraction
    noise: Fraction
    eta_g: Fraction
    eta_l: Fraction

    @property
    def N(self) -> int:  # the paper's symbol
        """Clients."""
        return len(self.h)

    @property
    def T(self) -> int:  # the paper's symbol
        """Rounds."""
        return self.who.T

    @property
    def eta(self) -> Fraction:
        """eta_g*eta_l."""
        return self.eta_g * self.eta_l

    @property
    def average(self) -> Fraction:
        """max{1, tau_avg}."""
        return max(Fraction(1), self.who.tau_avg)

    def grad(self, i: int, x: NoisyRational) -> NoisyRational:
        """Grad f_i(x)."""
        return self.h[i] * x - self.g[i]

    def value(self, x: NoisyRational) -> Fraction:
        """E f(x)."""
        return mean(h / 2 * expect(x, x) - g * expect(x) for h, g in zip(self.h, self.g, strict=True))

    @property
    def F_0(self) -> Fraction:
        """The mean of ||grad f_i(x^0)||^2."""
        return mean((h * self.x0 - g) ** 2 for h, g in zip(self.h, self.g, strict=True))

    @property
    def Delta_f(self) -> Fraction:
        """f(x^0) - inf f, for mean curvature above 0, or 0 with mean g = 0."""
        h, g = mean(self.h), mean(self.g)
        return (h * self.x0 - g) ** 2 / (2 * h) if h else Fraction(0)


class ScalarRun:
    """One run: all quantities by their names in the paper; gradients are taken at ``points[i, t]``, k = 0 ... K-1."""

    def __init__(self, problem: ScalarClients) -> None:
        self.p = problem
        self.who = problem.who
        self.x = [NoisyRational(problem.x0)]
        self.y = {-1: NoisyRational()}
        self.h = [(NoisyRational(),) * problem.N]
        self.a = [(-1,) * problem.N]
        self.z = [(self.x[0],) * problem.N]
        self.points: dict[tuple[int, int], tuple[NoisyRational, ...]] = {}
        self.stochastic: dict[tuple[int, int], tuple[NoisyRational, ...]] = {}
        self.direction: dict[tuple[int, int], NoisyRational] = {}
        self.delta: dict[tuple[int, int], NoisyRational] = {}
        for t in range(problem.T):
            self._play(t)

    def _play(self, t: int) -> None:
        p, h, a, z = self.p, list(self.h[t]), list(self.a[t]), list(self.z[t])
        for i in self.who.present(t):
            h[i] = self._local(i, t)
            self.delta[i, t] = h[i] - self.h[t][i]
            a[i], z[i] = t, self.x[t]
        self.h.append(tuple(h))
        self.a.append(tuple(a))
        self.z.append(tuple(z))
        self.y[t] = self.y[t - 1] + total(self.delta[i, t] for i in self.who.present(t))
        self.x.append(self.x[t] - p.eta * p.K / p.N * self.y[t])

    def _local(self, i: int, t: int) -> NoisyRational:
        """The local steps of client i in round t; returns h_i^(t+1)."""
        p = self.p
        start = self.x[t]
        drawn = [noise((i, t, k), p.noise) for k in range(p.K)]
        if p.algorithm == "fedsum-b":
            self.points[i, t] = (start,) * p.K
            self.stochastic[i, t] = tuple(p.grad(i, start) + each for each in drawn)
            end = start - p.eta_l * total(self.stochastic[i, t])
            return (start - end) / (p.eta_l * p.K)
        if p.algorithm == "fedsum":
            correction = self.y[t - 1] - self.h[t][i]
        else:
            correction = p.N / (p.eta * p.K) * (self.z[t][i] - start) / (t - self.a[t][i]) - self.h[t][i]
        self.direction[i, t] = correction
        walk, taken = [start], []
        for each in drawn:
            taken.append(p.grad(i, walk[-1]) + each)
            walk.append(walk[-1] - p.eta_l / p.N * (taken[-1] + correction))
        self.points[i, t], self.stochastic[i, t] = tuple(walk[:-1]), tuple(taken)
        return p.N / (p.eta_l * p.K) * (start - walk[-1]) - correction

    def at(self, t: int) -> NoisyRational:
        """x^(t), with x^(-1) = x^(0)."""
        return self.x[max(t, 0)]

    def gradients(self, i: int, t: int) -> NoisyRational:
        """sum_k grad f_i(x_i^{t,k}) for a client that took part in round t."""
        return total(self.p.grad(i, x) for x in self.points[i, t])

    def noises(self, i: int, t: int) -> NoisyRational:
        """sum_k [g_i - grad f_i](x_i^{t,k})."""
        return total(self.stochastic[i, t]) - self.gradients(i, t)

    def aggregate(self, t: int) -> NoisyRational:
        """Sum over i in A_t and k of grad f_i(x_i^{a_{i,t},k})."""
        return total(self.gradients(i, self.who.last(i, t)) for i in self.seen(t))

    def noise(self, t: int) -> NoisyRational:
        """Sum over i in A_t and k of the noise of client i's gradients of round a_{i,t}."""
        return total(self.noises(i, self.who.last(i, t)) for i in self.seen(t))

    def seen(self, t: int) -> tuple[int, ...]:
        """A_t."""
        return self.who.seen(t) if t >= 0 else ()

    def full(self, t: int) -> NoisyRational:
        """sum_i grad f_i(x^t)."""
        return total(self.p.grad(i, self.at(t)) for i in range(self.p.N))

    def drift(self, i: int, t: int) -> Fraction:
        """sum_k E||x^t - x_i^{t,k}||^2; 0 for t = -1."""
        return sum((expect_square(x - self.x[t]) for x in self.points[i, t]), Fraction(0)) if t >= 0 else Fraction(0)

    # --- sums over the rounds 0 ... T-1, or to ``last`` ---

    def gamma(self, last: int | None = None) -> Fraction:
        """Gamma: the sum of E||aggregate||^2."""
        return sum((expect_square(self.aggregate(t)) for t in self.rounds(last)), Fraction(0))

    def stale(self, last: int | None = None) -> Fraction:
        """D: the sum of E||K*full - aggregate||^2."""
        rounds = self.rounds(last)
        return sum((expect_square(self.p.K * self.full(t) - self.aggregate(t)) for t in rounds), Fraction(0))

    def inner(self) -> Fraction:
        """-(eta/N)*sum_t E<grad f(x^t), noise>."""
        p = self.p
        return -p.eta / p.N**2 * sum((expect(self.full(t), self.noise(t)) for t in self.rounds()), Fraction(0))

    def moved(self) -> Fraction:
        """W: the sum of E||x^{t+1} - x^t||^2."""
        return sum((expect_square(self.x[t + 1] - self.x[t]) for t in self.rounds()), Fraction(0))

    def metric(self) -> Fraction:
        """The mean over the rounds of E||grad f(x^t)||^2."""
        return mean(expect_square(self.full(t)) / self.p.N**2 for t in self.rounds())

    def drifts(self) -> Fraction:
        """X: the sum over t and i in A_t of the drift of client i's last round."""
        pairs = [(i, self.who.last(i, t)) for t in self.rounds() for i in self.seen(t)]
        return sum((self.drift(i, a) for i, a in pairs), Fraction(0))

    def rounds(self, last: int | None = None) -> range:
        """0 ... T-1, or 0 ... last."""
        return range(self.p.T if last is None else last + 1)


# --- Instances ---


def participation(draw: Draw, N: int, T: int) -> ParticipationMatrix:  # the papers' symbols
    """Everybody always, or anything, more often with few absent in a row."""
    kind = draw.whole(0, 4)
    if kind == 0:
        return ParticipationMatrix(((True,) * N,) * T)
    share = draw.whole(1, 4)
    return ParticipationMatrix(tuple(tuple(draw.whole(0, 4) < share for _ in range(N)) for _ in range(T)))


def whole_root(value: int) -> Fraction:
    """A rational number whose square is at least ``value``, and which is the root where this is whole."""
    root = math.isqrt(value)
    return Fraction(root) if root * root == value else Fraction(math.isqrt(64 * value) + 1, 8)


def longest_delay(who: ParticipationMatrix, *, to_T: bool) -> int:
    """tau_max over rounds 0 ... T, as Section 2.2 defines it, or max{1, tau_max} over rounds 0 ... T-1."""
    return who.tau_max_T if to_T else max(1, who.tau_max)


def step_sizes(draw: Draw, delay: int, K: int, L: Fraction) -> tuple[Fraction, Fraction]:
    """eta_g, eta_l with eta_l <= 1/(10*sqrt(delay)*K*L), eta_g*eta_l <= 1/(10*delay*K*L)."""
    share = Fraction(1) if draw.whole(0, 1) else draw.rational(Fraction(1, 10), 1)
    eta_l = share / (10 * whole_root(delay) * K * L)
    eta = Fraction(1) if draw.whole(0, 1) else draw.rational(Fraction(1, 10), 1)
    return eta / (10 * delay * K * L) / eta_l, eta_l


def small_run(
    draw: Draw,
    algorithm: str = "",
    *,
    capped: bool = False,
    to_T: bool = False,
    convex: bool = False,
    clients: int = 3,
    rounds: int = 4,
) -> ScalarRun:
    """A run; ``capped`` says that the step sizes keep the caps for `longest_delay`."""
    N, K, T = draw.whole(1, clients), draw.whole(1, 3), draw.whole(1, rounds)
    who = participation(draw, N, T)
    L = draw.positive(2)
    h = [L * draw.rational(-1, 1) for _ in range(N)]
    if convex:
        h = [L * draw.rational(Fraction(1, 6), 1)] + [L * draw.rational(0, 1) for _ in range(N - 1)]
    if draw.whole(0, 3) == 0:
        h = [L] * N
    sigma = Fraction(0) if draw.whole(0, 3) == 0 else draw.positive(2)
    eta_g, eta_l = draw.positive(2), draw.positive(1)
    if capped:
        eta_g, eta_l = step_sizes(draw, longest_delay(who, to_T=to_T), K, L)
    return ScalarRun(
        ScalarClients(
            algorithm=algorithm or ALGORITHMS[draw.whole(0, 2)],
            who=who,
            h=tuple(h),
            g=draw.vector(N),
            x0=draw.rational(),
            K=K,
            L=L,
            sigma=sigma,
            noise=sigma if draw.whole(0, 2) else sigma / 2,
            eta_g=eta_g,
            eta_l=eta_l,
        )
    )
