"""Small runs of FedAvg-P and Scaffold-P in exact arithmetic.

Objectives are quadratic in two variables, ``f_i(u, v) = h*u^2/2 + c*u*v + p*v^2/2 - g*u - q*v``; the noise of the
gradients is additive. Every iterate is then an `NoisyRational` random variable once the samples of clients are fixed,
and the samples are enumerated: all expectations are exact. Symbols are the paper's; hats are left out, since only the
virtual sequences, which every client has in every round, occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from bounds.ledger.draw import Draw, NoisyRational, Rational, expect, expect_square, mean, noise, subsets

Steps = tuple[Fraction, Fraction, Fraction, Fraction]
"""gamma_u, gamma_v, eta_u, eta_v with gamma_u*eta_u == gamma_v*eta_v."""


def average(values: list[NoisyRational]) -> NoisyRational:
    """The mean of random variables."""
    return sum(values, NoisyRational()) / len(values)


@dataclass(frozen=True, kw_only=True)
class QuadraticClient:
    """The objective ``h*u^2/2 + c*u*v + p*v^2/2 - g*u - q*v``."""

    h: Fraction
    c: Fraction
    p: Fraction
    g: Fraction
    q: Fraction

    def grad_u(self, u: NoisyRational, v: NoisyRational) -> NoisyRational:
        """The derivative by u."""
        return self.h * u + self.c * v - self.g

    def grad_v(self, u: NoisyRational, v: NoisyRational) -> NoisyRational:
        """The derivative by v."""
        return self.c * u + self.p * v - self.q

    def value(self, u: NoisyRational, v: NoisyRational) -> Fraction:
        """The expected value."""
        quadratic = self.h / 2 * expect(u, u) + self.c * expect(u, v) + self.p / 2 * expect(v, v)
        return quadratic - self.g * expect(u) - self.q * expect(v)


@dataclass(frozen=True, kw_only=True)
class QuadraticClients:
    """A problem with the parameters of a run; ``noise_u`` and ``noise_v`` are at most sigma_u and sigma_v."""

    clients: tuple[QuadraticClient, ...]
    m: int
    K: int
    T: int
    L: Fraction
    steps: Steps
    sigma_u: Fraction
    sigma_v: Fraction
    noise_u: Fraction
    noise_v: Fraction
    u: Fraction
    v: tuple[Fraction, ...]
    scaffold: bool

    @property
    def n(self) -> int:
        """Clients."""
        return len(self.clients)

    @property
    def gamma(self) -> Fraction:
        """gamma_u*eta_u."""
        return self.steps[0] * self.steps[2]

    @property
    def spread(self) -> Fraction:
        """b^2 for clients that differ in g alone: the mean of ||grad_u f_i||^2 less ||grad_u f||^2."""
        g = [client.g for client in self.clients]
        return mean(x * x for x in g) - mean(g) ** 2

    @property
    def F_0(self) -> Fraction:
        """f(u^0, v^0) less the least value of f; for p > 0 and, with the v_i eliminated, positive curvature in u."""
        start = mean(
            client.value(NoisyRational(self.u), NoisyRational(v))
            for client, v in zip(self.clients, self.v, strict=True)
        )
        curvature = mean(client.h - client.c**2 / client.p for client in self.clients)
        slope = mean(client.g - client.c * client.q / client.p for client in self.clients)
        constant = mean(client.q**2 / (2 * client.p) for client in self.clients)
        return start + constant + (slope**2 / (2 * curvature) if curvature else Fraction(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalRound:
    """Round t of one history of samples.

    ``c`` are the control variates c_i^t (zeros in FedAvg-P), ``c_mean`` is c^t, ``memory`` the pairs
    (alpha_{i,k}^{t-1}, beta_{i,k}^{t-1}), ``seen`` the last round before t in which client i took part, -1 if none.
    """

    problem: QuadraticClients
    t: int
    u: NoisyRational
    v: tuple[NoisyRational, ...]
    c: tuple[NoisyRational, ...]
    c_mean: NoisyRational
    memory: tuple[tuple[tuple[NoisyRational, NoisyRational], ...], ...]
    seen: tuple[int, ...]

    @cached_property
    def walks(self) -> tuple[tuple[tuple[NoisyRational, NoisyRational, NoisyRational, NoisyRational], ...], ...]:
        """For client i and k = 0 ... K: u_ik, v_ik and the two stochastic gradients there."""
        problem = self.problem
        gamma_u, gamma_v, _, _ = problem.steps
        found = []
        for i, client in enumerate(problem.clients):
            u, v = self.u, self.v[i]
            walk = []
            for k in range(problem.K + 1):
                F_u = client.grad_u(u, v) + noise((self.t, i, k, "u"), problem.noise_u)
                F_v = client.grad_v(u, v) + noise((self.t, i, k, "v"), problem.noise_v)
                walk.append((u, v, F_u, F_v))
                u, v = u - gamma_u * (F_u - self.c[i] + self.c_mean), v - gamma_v * F_v
            found.append(tuple(walk))
        return tuple(found)

    def after(self, sampled: tuple[int, ...]) -> LocalRound:
        """The next round where ``sampled`` take part in this one: lines 3 to 13 of the algorithms."""
        problem = self.problem
        gamma_u, _, eta_u, eta_v = problem.steps
        last = [walk[problem.K] for walk in self.walks]
        v, c, memory, seen = list(self.v), list(self.c), list(self.memory), list(self.seen)
        for i in sampled:
            v[i] = (1 - eta_v) * self.v[i] + eta_v * last[i][1]
            memory[i] = tuple((u_k, v_k) for u_k, v_k, _, _ in self.walks[i][:-1])
            seen[i] = self.t
            if problem.scaffold:
                c[i] = self.c[i] - self.c_mean + (self.u - last[i][0]) / (problem.K * gamma_u)
        change = sum((c[i] - self.c[i] for i in sampled), NoisyRational())
        return LocalRound(
            problem=problem,
            t=self.t + 1,
            u=(1 - eta_u) * self.u + eta_u * average([last[i][0] for i in sampled]),
            v=tuple(v),
            c=tuple(c),
            c_mean=self.c_mean + change / problem.n,
            memory=tuple(memory),
            seen=tuple(seen),
        )

    @cached_property
    def next(self) -> tuple[LocalRound, ...]:
        """The next rounds, one for each equally likely sample of this one."""
        return tuple(self.after(sampled) for sampled in subsets(self.problem.n, self.problem.m))

    @cached_property
    def grad_u(self) -> tuple[tuple[NoisyRational, ...], ...]:
        """grad_u f_i(u_ik, v_ik) for client i and k < K."""
        return tuple(
            tuple(client.grad_u(u, v) for u, v, _, _ in walk[:-1])
            for client, walk in zip(self.problem.clients, self.walks, strict=True)
        )

    @cached_property
    def grad_v(self) -> tuple[tuple[NoisyRational, ...], ...]:
        """grad_v f_i(u_ik, v_ik) for client i and k < K."""
        return tuple(
            tuple(client.grad_v(u, v) for u, v, _, _ in walk[:-1])
            for client, walk in zip(self.problem.clients, self.walks, strict=True)
        )

    @cached_property
    def start_u(self) -> tuple[NoisyRational, ...]:
        """grad_u f_i(u^t, v_i^t)."""
        return tuple(client.grad_u(self.u, v) for client, v in zip(self.problem.clients, self.v, strict=True))

    @cached_property
    def start_v(self) -> tuple[NoisyRational, ...]:
        """grad_v f_i(u^t, v_i^t)."""
        return tuple(client.grad_v(self.u, v) for client, v in zip(self.problem.clients, self.v, strict=True))

    @cached_property
    def full(self) -> NoisyRational:
        """grad_u f(u^t, v^t)."""
        return average(list(self.start_u))

    @cached_property
    def d(self) -> tuple[NoisyRational, ...]:
        """d_i^t."""
        return tuple(
            average([client.grad_u(alpha, beta) for alpha, beta in remembered])
            for client, remembered in zip(self.problem.clients, self.memory, strict=True)
        )

    def known(self, one: NoisyRational) -> NoisyRational:
        """The conditional expectation given the noises of the rounds before this one."""
        return one.given(name for name in one.noises if isinstance(name, tuple) and name[0] < self.t)

    @cached_property
    def sums(self) -> tuple[NoisyRational, ...]:
        """sum_k grad_u f_i(u_ik, v_ik)."""
        return tuple(sum(row, NoisyRational()) for row in self.grad_u)

    def old_noise(self, i: int, k: int) -> NoisyRational:
        """The noise of the gradient that c_i^t has for step k: of the last round with client i, or of the start."""
        return noise((self.seen[i], i, k, "u"), self.problem.noise_u)

    def value(self) -> Fraction:
        """E f(u^t, v^t)."""
        return mean(client.value(self.u, v) for client, v in zip(self.problem.clients, self.v, strict=True))

    def G_u(self) -> Fraction:
        """E||grad_u f(u^t, v^t)||^2."""
        return expect_square(self.full)

    def G_v(self) -> Fraction:
        """(1/n) sum_i E||grad_v f_i(u^t, v_i^t)||^2."""
        return expect_square(self.start_v) / self.problem.n

    def B(self) -> Fraction:
        """sum_i E||grad_u f_i(u^t, v_i^t)||^2."""
        return expect_square(self.start_u)

    def drift(self, i: int, k: int) -> Fraction:
        """E_{i,k}^t."""
        u, v, _, _ = self.walks[i][k]
        return expect_square([u - self.u, v - self.v[i]])

    def E(self) -> Fraction:
        """The sum of the drifts."""
        return sum((self.drift(i, k) for i in range(self.problem.n) for k in range(self.problem.K)), Fraction(0))

    def stale(self, i: int, k: int) -> Fraction:
        """C_{i,k}^t."""
        alpha, beta = self.memory[i][k]
        return expect_square([alpha - self.u, beta - self.v[i]])

    def C(self) -> Fraction:
        """The sum of the stalenesses."""
        return sum((self.stale(i, k) for i in range(self.problem.n) for k in range(self.problem.K)), Fraction(0))

    def T_1u(self) -> Fraction:
        """-(gamma/n) sum_ik E<grad_u f, grad_u f_i(u_ik, v_ik)>."""
        total = sum(self.sums, NoisyRational())
        return -self.problem.gamma / self.problem.n * expect(self.full, total)

    def T_1v(self) -> Fraction:
        """-(gamma*m/n^2) sum_ik E<grad_v f_i, grad_v f_i(u_ik, v_ik)>."""
        pairs = zip(self.start_v, self.grad_v, strict=True)
        total = sum((expect(start, sum(row, NoisyRational())) for start, row in pairs), Fraction(0))
        return -self.problem.gamma * self.problem.m / self.problem.n**2 * total

    def T_2u(self) -> Fraction:
        """(gamma/n)^2 E||sum_ik grad_u f_i(u_ik, v_ik)||^2."""
        total = sum(self.sums, NoisyRational())
        return (self.problem.gamma / self.problem.n) ** 2 * expect_square(total)

    def T_2v(self) -> Fraction:
        """(gamma^2*m/n^2) sum_i E||sum_k grad_v f_i(u_ik, v_ik)||^2."""
        sums = [sum(row, NoisyRational()) for row in self.grad_v]
        return self.problem.gamma**2 * self.problem.m / self.problem.n**2 * expect_square(sums)

    def T_3u(self) -> Fraction:
        """sum_i E||sum_k (grad_u f_i(u_ik, v_ik) - mean over j)||^2."""
        return expect_square([each - average(list(self.sums)) for each in self.sums])

    def S_3u(self) -> Fraction:
        """T_3u with K*(d_i - d) subtracted."""
        sums = [total - self.problem.K * d for total, d in zip(self.sums, self.d, strict=True)]
        return expect_square([each - average(sums) for each in sums])

    def move_u(self) -> Fraction:
        """E||u^{t+1} - u^t||^2, over the samples of this round too."""
        return mean(expect_square(after.u - self.u) for after in self.next)

    def move_v(self, i: int) -> Fraction:
        """E||v_i^{t+1} - v_i^t||^2."""
        return mean(expect_square(after.v[i] - self.v[i]) for after in self.next)

    def moves_v(self) -> Fraction:
        """(1/n) sum_i E||v_i^{t+1} - v_i^t||^2."""
        return mean(self.move_v(i) for i in range(self.problem.n))


class Histories:
    """All histories of a run; ``p`` is the problem, ``last`` the last round that it plays."""

    def __init__(self, problem: QuadraticClients) -> None:
        self.p = problem
        self._levels: list[tuple[LocalRound, ...]] = [(self._first(),)]
        self.last = problem.T - 1

    def _first(self) -> LocalRound:
        problem = self.p
        u, v = NoisyRational(problem.u), tuple(map(NoisyRational, problem.v))
        zero = tuple(NoisyRational() for _ in v)
        c = zero
        if problem.scaffold:
            c = tuple(
                average([client.grad_u(u, v[i]) + noise((-1, i, k, "u"), problem.noise_u) for k in range(problem.K)])
                for i, client in enumerate(problem.clients)
            )
        memory = tuple(((u, each),) * problem.K for each in v)
        return LocalRound(
            problem=problem, t=0, u=u, v=v, c=c, c_mean=average(list(c)), memory=memory, seen=(-1,) * problem.n
        )

    def rounds(self, t: int) -> tuple[LocalRound, ...]:
        """Round t of every history, equally likely."""
        while len(self._levels) <= t:
            self._levels.append(tuple(after for one in self._levels[-1] for after in one.next))
        return self._levels[t]

    def mean(self, t: int, quantity: Callable[[LocalRound], Fraction]) -> Fraction:
        """The expectation of a quantity of round t."""
        return mean(quantity(one) for one in self.rounds(t))

    def metric(self, *, hat: bool) -> Fraction:
        """The mean over rounds 0 ... T-1 of G_u + G_v, with ``hat`` of G_u + (m/n)*G_v."""
        weight = Fraction(self.p.m, self.p.n) if hat else Fraction(1)
        return mean(self.mean(t, LocalRound.G_u) + weight * self.mean(t, LocalRound.G_v) for t in range(self.p.T))


def root_above(x: Rational) -> Fraction:
    """A rational number little above the square root, the root itself where it is a multiple of 1/60."""
    k = math.isqrt(int(3600 * Fraction(x)))
    return Fraction(k if Fraction(k, 60) ** 2 >= x else k + 1, 60)


def two_thirds_above(n: int) -> Fraction:
    """A rational number little above n^(2/3)."""
    k = round(60 * n ** (2 / 3)) - 1
    while Fraction(k, 60) ** 3 < n * n:
        k += 1
    return Fraction(k, 60)


Chooser = Callable[[Draw, QuadraticClients], Steps]


def free(draw: Draw, problem: QuadraticClients) -> Steps:
    """Any step sizes."""
    gamma, eta_u, eta_v = draw.positive() / problem.L, draw.positive(), draw.positive()
    return gamma / eta_u, gamma / eta_v, eta_u, eta_v


def local(constant: int) -> Chooser:
    """Local step sizes with constant*L^2*K*(K-1)*(gamma_u^2 + gamma_v^2) <= 1."""

    def choose(draw: Draw, problem: QuadraticClients) -> Steps:
        cap = 1 / root_above(constant * problem.L**2 * problem.K * max(problem.K - 1, 1))
        a, b = ((3, 5), (4, 5)), ((4, 5), (3, 5))
        (x, xd), (y, yd) = (a, b, ((99, 101), (20, 101)), ((1, 9), (1, 9)))[draw.whole(0, 3)]
        gamma_u, gamma_v, eta_u = cap * Fraction(x, xd), cap * Fraction(y, yd), draw.positive()
        return gamma_u, gamma_v, eta_u, gamma_u * eta_u / gamma_v

    return choose


def _outer(draw: Draw, gamma: Fraction, least_u: Fraction, least_v: Fraction) -> Steps:
    eta_u, eta_v = (least * draw.whole(1, 2) for least in (least_u, least_v))
    return gamma / eta_u, gamma / eta_v, eta_u, eta_v


def _part(draw: Draw) -> Fraction:
    return Fraction(draw.whole(1, 4), 4)


def partial(draw: Draw, problem: QuadraticClients) -> Steps:
    """Step sizes of Theorem 3.7: gamma <= 1/(32*L*K), eta_u >= sqrt(m), eta_v >= sqrt(n/m)."""
    gamma = _part(draw) / (32 * problem.L * problem.K)
    return _outer(draw, gamma, root_above(problem.m), root_above(Fraction(problem.n, problem.m)))


def scaffold(draw: Draw, problem: QuadraticClients) -> Steps:
    """Step sizes of Theorem 4.5: gamma <= min(m/n^(2/3), 1)/(72*L*K), eta_u >= sqrt(m), eta_v >= sqrt(n/m)."""
    gamma = _part(draw) * min(problem.m / two_thirds_above(problem.n), Fraction(1)) / (72 * problem.L * problem.K)
    return _outer(draw, gamma, root_above(problem.m), root_above(Fraction(problem.n, problem.m)))


def complete(constant: int) -> Chooser:
    """Step sizes of Lemma 3.6: gamma <= 1/(constant*L*K), eta_u >= max(T, sqrt(n)), eta_v >= 1."""

    def choose(draw: Draw, problem: QuadraticClients) -> Steps:
        gamma = _part(draw) / (constant * problem.L * problem.K)
        return _outer(draw, gamma, max(Fraction(problem.T), root_above(problem.n)), Fraction(1))

    return choose


def small_run(
    draw: Draw,
    steps: Chooser = free,
    *,
    scaffold: bool = False,
    full: bool = False,
    alike: bool = False,
    convex: bool = False,
    shared: bool = True,
    personal: bool = True,
    rounds: int = 2,
    local_steps: tuple[int, int] = (1, 3),
) -> Histories:
    """A run of ``rounds`` rounds of Scaffold-P (``scaffold``) or FedAvg-P on up to three clients.

    ``alike``: the clients' shared gradients differ by constants, so that b exists. ``convex``: f has a least value.
    ``shared`` and ``personal`` say which variables there are; ``full``: all clients take part.
    """
    n = draw.whole(1, 3)
    h = draw.positive() if convex else draw.rational()
    clients = []
    for _ in range(n):
        own = h if alike else draw.positive() if convex else draw.rational()
        p = draw.positive() if convex else draw.rational()
        # Half of the least curvature leaves the Hessian positive definite.
        c = draw.rational(-min(own, p) / 2, min(own, p) / 2) if convex else draw.rational()
        clients.append(
            QuadraticClient(
                h=own if shared else Fraction(0),
                c=c if shared and personal and not alike else Fraction(0),
                p=p if personal else Fraction(1),
                g=draw.rational() if shared else Fraction(0),
                q=draw.rational() if personal else Fraction(0),
            )
        )
    constants = [abs(x) for client in clients for x in (client.h, client.c, client.p if personal else Fraction(0))]
    sigma_u, sigma_v = draw.rational(0, 2) * shared, draw.rational(0, 2) * personal
    problem = QuadraticClients(
        clients=tuple(clients),
        m=n if full else draw.whole(1, n),
        K=draw.whole(*local_steps),
        T=rounds,
        L=(max(constants) or Fraction(1)) * draw.whole(1, 2),
        steps=(Fraction(1),) * 4,
        sigma_u=sigma_u,
        sigma_v=sigma_v,
        noise_u=sigma_u * Fraction(draw.whole(1, 2), 2),
        noise_v=sigma_v * Fraction(draw.whole(1, 2), 2),
        u=draw.rational() if shared else Fraction(0),
        v=draw.vector(n) if personal else (Fraction(0),) * n,
        scaffold=scaffold,
    )
    return _law(replace(problem, steps=steps(draw, problem)))


@lru_cache(maxsize=128)
def _law(problem: QuadraticClients) -> Histories:
    """One law for all values of a claim's constants on one instance: what it has found is not found again."""
    return Histories(problem)
