"""One round of SimFBO on small quadratic bilevel problems, with exact expectations.

x, y and v are numbers. Client i has ``g_i = m*y^2/2 - (a*x + b)*y`` and
``f_i = p*x^2/2 + q*x*y + s*y^2/2 + c*x + e*y``, so that every local point is an affine function of the noises, L_2 and
L_3 are 0 (the paper's are positive: any small number, for which a strict inequality stays), and the constants are
computed from the coefficients. The noises are independent signs times sigma: with them
every gradient on the way is bounded, and outside of the points that a round can reach f_i may be continued with the
Lipschitz constant L_f, which a quadratic has not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from bounds.ledger.draw import Draw, NoisyRational, expect, expect_square, mean, noise, subsets

X, Y, V = 0, 1, 2
Triple: TypeAlias = tuple[NoisyRational, NoisyRational, NoisyRational]
Numbers: TypeAlias = tuple[Fraction, Fraction, Fraction]
ZEROS: Numbers = (Fraction(0), Fraction(0), Fraction(0))


def size(one: NoisyRational) -> Fraction:
    """The largest absolute value, the noises being signs."""
    return abs(one.constant) + sum((abs(c) for c in one.noises.values()), Fraction(0))


@dataclass(frozen=True)
class BilevelClient:
    """The coefficients of g_i and f_i and the local coefficients a_i^k."""

    m: Fraction
    a: Fraction
    b: Fraction
    p: Fraction
    q: Fraction
    s: Fraction
    c: Fraction
    e: Fraction
    steps: tuple[Fraction, ...]

    @property
    def norm(self) -> Fraction:
        """|a_i|_1."""
        return sum(self.steps, Fraction(0))

    @property
    def smoothness(self) -> Fraction:
        """A bound of both Hessians' norms: the largest row sum."""
        g = abs(self.a) + self.m
        return max(g, abs(self.p) + abs(self.q), abs(self.q) + abs(self.s))

    def f_x(self, point: Triple) -> NoisyRational:
        """The x gradient of f_i."""
        return self.p * point[X] + self.q * point[Y] + self.c

    def f_y(self, point: Triple) -> NoisyRational:
        """The y gradient of f_i."""
        return self.q * point[X] + self.s * point[Y] + self.e

    def directions(self, point: Triple) -> Triple:
        """The surrogate gradient of f_i, the y gradient of g_i and the v gradient of R_i."""
        x, y, v = point
        return self.f_x(point) + self.a * v, self.m * y - self.a * x - self.b, self.m * v - self.f_y(point)


@dataclass(frozen=True)
class BilevelRound:
    """Round t from ``start`` with weights w_i and P clients sampled; eta and sigma are those of x, y and v."""

    clients: tuple[BilevelClient, ...]
    w: tuple[Fraction, ...]
    P: int
    start: Numbers | Triple
    eta: Numbers
    sigma: Numbers = ZEROS
    t: int = 0

    @property
    def n(self) -> int:
        """Clients."""
        return len(self.clients)

    @property
    def origin(self) -> Triple:
        """(x^t, y^t, v^t)."""
        x, y, v = (value if isinstance(value, NoisyRational) else NoisyRational(value) for value in self.start)
        return x, y, v

    @cached_property
    def paths(self) -> tuple[tuple[Triple, ...], ...]:
        """The local points of every client, which do not depend on who is sampled."""
        found = []
        for i, client in enumerate(self.clients):
            points = [self.origin]
            for k, step in enumerate(client.steps[:-1]):
                x, y, v = (
                    at - step * eta * direction
                    for at, eta, direction in zip(points[-1], self.eta, self.noisy(i, k, points[-1]), strict=True)
                )
                points.append((x, y, v))
            found.append(tuple(points))
        return tuple(found)

    def noisy(self, i: int, k: int, point: Triple) -> Triple:
        """The sampled directions of client i at local step k."""
        x, y, v = (
            direction + noise((self.t, i, k, variable), self.sigma[variable])
            for variable, direction in enumerate(self.clients[i].directions(point))
        )
        return x, y, v

    def shares(self, i: int) -> list[Fraction]:
        """a_i^k/|a_i|_1."""
        return [step / self.clients[i].norm for step in self.clients[i].steps]

    def h(self, i: int, variable: int) -> NoisyRational:
        """h_i, the average of the sampled directions."""
        terms = zip(self.shares(i), self.paths[i], strict=True)
        return sum((c * self.noisy(i, k, at)[variable] for k, (c, at) in enumerate(terms)), NoisyRational())

    def h_mean(self, i: int, variable: int) -> NoisyRational:
        """h~_i, the average of the mean directions along the client's path."""
        terms = zip(self.shares(i), self.paths[i], strict=True)
        return sum((c * self.clients[i].directions(at)[variable] for c, at in terms), NoisyRational())

    def at_start(self, i: int, variable: int) -> NoisyRational:
        """The mean direction at the server's point."""
        return self.clients[i].directions(self.origin)[variable]

    def sampled(self, chosen: Sequence[int], variable: int) -> NoisyRational:
        """sum_{i in C} w~_i h_i."""
        return sum((Fraction(self.n, self.P) * self.w[i] * self.h(i, variable) for i in chosen), NoisyRational())

    def sampled_mean(self, chosen: Sequence[int], variable: int) -> NoisyRational:
        """sum_{i in C} w~_i h~_i."""
        return sum((Fraction(self.n, self.P) * self.w[i] * self.h_mean(i, variable) for i in chosen), NoisyRational())

    def mean_direction(self, variable: int) -> NoisyRational:
        """sum_i w_i h~_i."""
        return sum((weight * self.h_mean(i, variable) for i, weight in enumerate(self.w)), NoisyRational())

    def sampled_square(self, variable: int) -> Fraction:
        """E||sum_{i in C} w~_i h_i||^2."""
        return mean(expect_square(self.sampled(chosen, variable)) for chosen in self.samples)

    @property
    def samples(self) -> list[tuple[int, ...]]:
        """The equally likely sets C."""
        return list(subsets(self.n, self.P))

    def drift(self, variable: int, power: int = 1) -> Fraction:
        """sum_i w_i^power sum_k (a_i^k/|a_i|_1) E||x_i^k - x^t||^2, or of y or v."""
        return sum(
            (
                self.w[i] ** power * c * expect_square(at[variable] - self.origin[variable])
                for i in range(self.n)
                for c, at in zip(self.shares(i), self.paths[i], strict=True)
            ),
            Fraction(0),
        )

    def drift_f(self, power: int = 1) -> Fraction:
        """The average of Delta_f = Delta_R of Lemma 6, as in `drift`."""
        return 3 * self.L_1**2 * sum((self.drift(variable, power) for variable in (X, Y, V)), Fraction(0))

    def drift_g(self, power: int = 1) -> Fraction:
        """The average of Delta_g of Lemma 6, as in `drift`."""
        return self.L_1**2 * (self.drift(X, power) + self.drift(Y, power))

    @property
    def noise_weight(self) -> Fraction:
        """sum_i w_i^2 |a_i|_2^2/|a_i|_1^2."""
        return sum((w**2 * sum(share**2 for share in self.shares(i)) for i, w in enumerate(self.w)), Fraction(0))

    @property
    def sampling(self) -> Fraction:
        """(n-P)/(P(n-1)), 0 for one client."""
        return Fraction(self.n - self.P, self.P * max(self.n - 1, 1))

    @cached_property
    def L_1(self) -> Fraction:
        """Lipschitz constant of the gradients."""
        return max(client.smoothness for client in self.clients)

    @cached_property
    def mu_g(self) -> Fraction:
        """Strong convexity."""
        return min(client.m for client in self.clients)

    @cached_property
    def L_f(self) -> Fraction:
        """A bound of the gradients of f_i, samples included, at the points of the round, with r above every ||v||."""
        found = []
        for client, path in zip(self.clients, self.paths, strict=True):
            for at in (*path, (self.origin[X], self.y_star(self.origin[X]), self.origin[V])):
                noises = self.sigma[X] + self.sigma[V]
                found += [size(client.f_x(at)) + size(client.f_y(at)) + noises, self.mu_g * size(at[V])]
        return max(found)

    @property
    def r(self) -> Fraction:
        """The radius L_f/mu_g."""
        return self.L_f / self.mu_g

    @property
    def r_max(self) -> Fraction:
        """The bound of Lemma 2."""
        return (1 + self.alpha_max / self.alpha_min) * self.r

    @property
    def size2(self) -> Fraction:
        """r_max^2 L_1^2 + L_f^2."""
        return self.r_max**2 * self.L_1**2 + self.L_f**2

    @property
    def alpha_max(self) -> Fraction:
        """Largest a_i^k."""
        return max(max(client.steps) for client in self.clients)

    @property
    def alpha_min(self) -> Fraction:
        """Smallest a_i^k."""
        return min(min(client.steps) for client in self.clients)

    @property
    def beta_max(self) -> Fraction:
        """The largest weight times n."""
        return self.n * max(self.w)

    @property
    def tau_bar(self) -> Fraction:
        """Mean number of local steps."""
        return Fraction(sum(len(client.steps) for client in self.clients), self.n)

    @property
    def c_a(self) -> Fraction:
        """The smallest constant with |a_i|_1 <= c_a*tau_bar*alpha_max."""
        return max(client.norm for client in self.clients) / (self.tau_bar * self.alpha_max)

    def average(self, name: str) -> Fraction:
        """sum_i w_i times a coefficient."""
        return sum((w * getattr(client, name) for w, client in zip(self.w, self.clients, strict=True)), Fraction(0))

    def y_star(self, x: NoisyRational) -> NoisyRational:
        """The minimiser in y of sum_i w_i g_i(x, .)."""
        return (self.average("a") * x + self.average("b")) / self.average("m")

    def v_star(self, x: NoisyRational) -> NoisyRational:
        """The minimiser in v of sum_i w_i R_i(x, y*(x), .)."""
        f_y = self.average("q") * x + self.average("s") * self.y_star(x) + self.average("e")
        return f_y / self.average("m")

    def phi(self, x: NoisyRational) -> Fraction:
        """E Phi_w(x) = E sum_i w_i f_i(x, y*(x))."""
        y = self.y_star(x)
        curved = self.average("p") * expect(x, x) + 2 * self.average("q") * expect(x, y)
        curved += self.average("s") * expect(y, y)
        return curved / 2 + self.average("c") * expect(x) + self.average("e") * expect(y)

    @property
    def gradient(self) -> NoisyRational:
        """The gradient of Phi_w at x^t by eq. (11), the mean direction at (x^t, y*, v*)."""
        x = self.origin[X]
        at = (x, self.y_star(x), self.v_star(x))
        terms = zip(self.w, self.clients, strict=True)
        return sum((weight * client.directions(at)[X] for weight, client in terms), NoisyRational())

    @property
    def gap_y(self) -> Fraction:
        """||y^t - y*(x^t)||^2."""
        return expect_square(self.origin[Y] - self.y_star(self.origin[X]))

    @property
    def gap_v(self) -> Fraction:
        """||v^t - v*(x^t)||^2."""
        return expect_square(self.origin[V] - self.v_star(self.origin[X]))


def weights(draw: Draw, n: int) -> tuple[Fraction, ...]:
    """Positive numbers with sum 1, now and then nearly all of it in one."""
    parts = [draw.positive() for _ in range(n)]
    if draw.whole(0, 2) == 0:
        parts[0] *= 50
    return tuple(part / sum(parts) for part in parts)


def drawn_client(draw: Draw, alpha: int, steps: int) -> BilevelClient:
    """Any client with up to that many local steps and a_i^k up to alpha."""
    a, b, p, q, s, c, e = draw.vector(7)
    local = tuple(draw.positive(alpha) for _ in range(draw.whole(1, steps)))
    return BilevelClient(draw.positive(), a, b, p, q, s, c, e, steps=local)


def drawn_round(draw: Draw, *, noisy: bool = False, alpha: int = 3, steps: int = 3, clients: int = 3) -> BilevelRound:
    """Any round; ``alpha`` is the largest a_i^k, ``steps`` the largest tau_i, ``clients`` the largest n."""
    n = draw.whole(2, clients)
    eta = draw.positive(Fraction(1, 4))
    return BilevelRound(
        clients=tuple(drawn_client(draw, alpha, steps) for _ in range(n)),
        w=weights(draw, n),
        P=draw.whole(1, n),
        start=(draw.rational(), draw.rational(), draw.rational()),
        eta=(eta, eta, eta),
        sigma=(draw.positive(), draw.positive(), draw.positive()) if noisy else ZEROS,
    )


def drawn_point(draw: Draw) -> Triple:
    """A point (x, y, v)."""
    return NoisyRational(draw.rational()), NoisyRational(draw.rational()), NoisyRational(draw.rational())


def opposite_round(draw: Draw, *, clients: int = 2) -> BilevelRound:
    """One local step, one client sampled of n equal ones but for opposite linear parts, all at the optimum for x = 0.

    Without noise and drift, and the mean directions are 0: everything that happens is due to who is sampled.
    """
    m, a = Fraction(1), draw.rational(1, 12)
    b, c, e = draw.positive(), draw.rational(), draw.rational()
    q, s = draw.rational(), draw.rational()
    signs = [Fraction(1), Fraction(-1)] * (clients // 2)
    return BilevelRound(
        clients=tuple(
            BilevelClient(m, a, sign * b, Fraction(0), q, s, sign * c, sign * e, steps=(Fraction(1),)) for sign in signs
        ),
        w=(Fraction(1, clients),) * clients,
        P=1,
        start=ZEROS,
        eta=(Fraction(1, 100), Fraction(1, 100), Fraction(1, 100)),
    )
