"""FLAME in small: one dimension, a few clients with quadratic f_i, rational numbers, every selection enumerated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bounds.ledger.draw import Draw, Rational, mean, subsets

Numbers = tuple[Fraction, ...]


@dataclass(frozen=True)
class ProximalClients:
    """Clients f_i(theta) = h_i*theta^2/2 - g_i*theta with |h_i| <= L and weights alpha_i, and the settings of FLAME."""

    alpha: Numbers
    h: Numbers
    g: Numbers
    lambda_: Fraction
    rho: Fraction
    L: Fraction

    @property
    def m(self) -> int:
        """Clients."""
        return len(self.alpha)

    def young(self, i: int) -> Fraction:
        """The Young parameter q of (38)."""
        x = self.lambda_ * self.alpha[i]
        return (1 / self.rho**2 - 1) * x**2 - (self.L * self.alpha[i] + self.rho) / 2

    def gain(self, i: int) -> Fraction:
        """Decrease in (39) per squared step, of which c_1 is the least."""
        x = self.lambda_ * self.alpha[i]
        return (x + self.rho) / 2 - x**2 * (1 + self.rho) / self.rho**2

    def inner_cost(self, i: int, cost: Fraction, power: int) -> Fraction:
        """Factor of eps_i in (38): cost*alpha_i^power/q."""
        return cost * self.alpha[i] ** power / self.young(i)

    def applies(self, *, with_young: bool) -> bool:
        """The condition of Lemma 1, without q = 0, by which (38) divides; and q > 0, if wanted."""
        young = [self.young(i) for i in range(self.m)]
        return self.c1 > 0 and 0 not in young and (min(young) > 0 or not with_young)

    def c0(self, cost: Fraction, power: int) -> Fraction:
        """The largest of `inner_cost`."""
        return max(self.inner_cost(i, cost, power) for i in range(self.m))

    @property
    def c1(self) -> Fraction:
        """The constant above (48)."""
        return min(map(self.gain, range(self.m)))

    @property
    def c2(self) -> Fraction:
        """The constant below (49)."""
        x, a, r2 = self.lambda_ * max(self.alpha), max(self.alpha), self.rho**2
        return 4 * x**2 * (1 + 1 / r2) + 2 * a**2 * (self.L**2 + 2 * self.lambda_**2) + 2 * r2 + 2


@dataclass(frozen=True)
class ClientVariables:
    """The clients' variables; the server's w follows from them by (12)."""

    theta: Numbers
    w_i: Numbers
    pi: Numbers


def bounded(problem: ProximalClients) -> bool:
    """Whether the joint objective (6) is bounded below.

    Minimised over the theta_i it is a quadratic in w, with lambda*h_i/(h_i + lambda) of each client.
    """
    lambda_ = problem.lambda_
    if any(h + lambda_ <= 0 for h in problem.h):
        return False
    shares = [weight * lambda_ / (h + lambda_) for weight, h in zip(problem.alpha, problem.h, strict=True)]
    bend = sum((share * h for share, h in zip(shares, problem.h, strict=True)), Fraction(0))
    slope = sum((share * g for share, g in zip(shares, problem.g, strict=True)), Fraction(0))
    return bend > 0 or (bend == 0 and slope == 0)


def start(problem: ProximalClients, theta: Sequence[Fraction], w_i: Sequence[Fraction]) -> ClientVariables:
    """The state with those variables and the dual variables of (28)."""
    pi = (problem.lambda_ * a * (t - v) for a, t, v in zip(problem.alpha, theta, w_i, strict=True))
    return ClientVariables(tuple(theta), tuple(w_i), tuple(pi))


def server(problem: ProximalClients, state: ClientVariables) -> Fraction:
    """The server's w, eq. (12)."""
    return mean(v + p / problem.rho for v, p in zip(state.w_i, state.pi, strict=True))


def lagrangian(problem: ProximalClients, state: ClientVariables) -> Fraction:
    """The augmented Lagrangian (8)."""
    w, half = server(problem, state), Fraction(1, 2)
    return sum(
        (
            a * (half * h * t * t - g * t + half * problem.lambda_ * (t - v) ** 2)
            + p * (v - w)
            + half * problem.rho * (v - w) ** 2
            for a, h, g, t, v, p in zip(
                problem.alpha, problem.h, problem.g, state.theta, state.w_i, state.pi, strict=True
            )
        ),
        Fraction(0),
    )


def slope(problem: ProximalClients, state: ClientVariables, i: int, theta: Fraction) -> Fraction:
    """The gradient of the Lagrangian by theta_i at the value given, with the factor alpha_i as in (13)."""
    return problem.alpha[i] * (problem.h[i] * theta - problem.g[i] + problem.lambda_ * (theta - state.w_i[i]))


def slopes2(problem: ProximalClients, state: ClientVariables) -> Fraction:
    """The squared gradients by all theta_i."""
    return sum((slope(problem, state, i, state.theta[i]) ** 2 for i in range(problem.m)), Fraction(0))


def apart(problem: ProximalClients, state: ClientVariables, i: int) -> Fraction:
    """w_i - w."""
    return state.w_i[i] - server(problem, state)


def gradient2(problem: ProximalClients, state: ClientVariables) -> Fraction:
    """The squared gradient of the Lagrangian by all variables; that by w vanishes with (12)."""
    by_w_i = (
        problem.lambda_ * a * (v - t) + p + problem.rho * apart(problem, state, i)
        for i, (a, t, v, p) in enumerate(zip(problem.alpha, state.theta, state.w_i, state.pi, strict=True))
    )
    by_pi = (apart(problem, state, i) for i in range(problem.m))
    return slopes2(problem, state) + sum((part**2 for part in (*by_w_i, *by_pi)), Fraction(0))


def after(
    problem: ProximalClients, state: ClientVariables, targets: Sequence[Fraction], selected: Sequence[int]
) -> ClientVariables:
    """The state after a round in which the clients selected reach theta_i = targets[i], eqs. (10) and (11)."""
    w = server(problem, state)
    theta, w_i, pi = list(state.theta), list(state.w_i), list(state.pi)
    for i in selected:
        x = problem.lambda_ * problem.alpha[i]
        theta[i] = targets[i]
        w_i[i] = (x * targets[i] + problem.rho * w - pi[i]) / (x + problem.rho)
        pi[i] += problem.rho * (w_i[i] - w)
    return ClientVariables(tuple(theta), tuple(w_i), tuple(pi))


def steps2(old: ClientVariables, new: ClientVariables, i: int) -> tuple[Fraction, Fraction]:
    """The squared steps of theta_i and of w_i."""
    return (new.theta[i] - old.theta[i]) ** 2, (new.w_i[i] - old.w_i[i]) ** 2


def stationary(problem: ProximalClients, state: ClientVariables, errors: Sequence[Fraction]) -> Numbers:
    """Stationary points of the inner problems (9), each moved by its error."""
    return tuple(
        (problem.g[i] + problem.lambda_ * state.w_i[i]) / (problem.h[i] + problem.lambda_) + errors[i]
        for i in range(problem.m)
    )


def paths(
    problem: ProximalClients, state: ClientVariables, errors: Sequence[Fraction], s: int, T: int
) -> Iterator[tuple[tuple[ClientVariables, ...], tuple[tuple[int, ...], ...]]]:
    """All runs of T rounds with s clients selected per round: the states before each round and at the end, and who."""
    if T == 0:
        yield (state,), ()
        return
    targets = stationary(problem, state, errors)
    for selected in subsets(problem.m, s):
        for states, chosen in paths(problem, after(problem, state, targets, selected), errors, s, T - 1):
            yield (state, *states), (selected, *chosen)


def worst_error(problem: ProximalClients, states: Sequence[ClientVariables], errors: Sequence[Fraction]) -> Fraction:
    """eps_max: the largest squared residual (13) over the clients, selected or not, in those rounds."""
    return max(
        slope(problem, state, i, target) ** 2
        for state in states
        for i, target in enumerate(stationary(problem, state, errors))
    )


# --- Instances ---


def simplest(draw: Draw, lambda_: int, rho: int, theta: Fraction) -> tuple[ProximalClients, ClientVariables]:
    """One client, f = theta^2/2 with weight 1, from that theta and w_i = 1; it is shown in few words."""
    draw.show(m=1, alpha=1, h=1, lambda_=lambda_, rho=rho, theta=theta, w_i=1)
    one, zero = (Fraction(1),), (Fraction(0),)
    problem = ProximalClients(one, one, zero, Fraction(lambda_), Fraction(rho), Fraction(1))
    return problem, start(problem, (theta,), one)


def _curved(draw: Draw, alpha: Numbers, lambda_: Fraction, rho: Fraction, L: Fraction) -> ProximalClients:
    h = tuple(L * draw.rational(-1, 1) for _ in alpha)
    return ProximalClients(alpha, h, draw.vector(len(alpha)), lambda_, rho, L)


def loose(draw: Draw, m: int) -> tuple[ProximalClients, ClientVariables]:
    """Settings without a condition, and a state with (28)."""
    alpha = tuple(draw.positive(1) for _ in range(m))
    problem = _curved(draw, alpha, draw.positive(), draw.positive(), draw.positive(2))
    return problem, start(problem, draw.vector(m), draw.vector(m))


def wide(draw: Draw, m: int) -> ProximalClients:
    """A large rho: the condition of Lemma 1 holds with any weights, and q < 0."""
    alpha = tuple(draw.positive(1) for _ in range(m))
    lambda_, L = draw.positive(3), draw.positive(1)
    # With rho >= 3 x the condition follows from 1/9 < x/2 + 7 rho/18.
    return _curved(draw, alpha, lambda_, 3 * lambda_ * max(alpha) + Fraction(2, 7) + draw.positive(2), L)


def narrow(draw: Draw, m: int) -> ProximalClients:
    """The sliver in which the condition of Lemma 1 and q > 0 both hold, with equal weights."""
    alpha = Fraction(1, draw.whole(m, 2 * m))
    rho = Fraction(draw.whole(2, 27), 100)
    ratios = [x for x in (Fraction(k, 1000) for k in range(1, 500)) if _in_sliver(x, rho)]
    x = ratios[draw.whole(0, len(ratios) - 1)]
    largest = (2 * (1 - rho**2) * x**2 - rho) / alpha
    return _curved(draw, (alpha,) * m, x * rho / alpha, rho, largest * draw.rational(Fraction(1, 10), Fraction(9, 10)))


def _in_sliver(x: Fraction, rho: Fraction) -> bool:
    return x**2 * (1 + rho) < rho * (1 + x) / 2 and 2 * (1 - rho**2) * x**2 > rho


def show(
    draw: Draw, problem: ProximalClients, state: ClientVariables | None = None, **others: Rational | Numbers
) -> None:
    """Name the problem, a state and what else an instance has, for evidence to print it."""
    for shown in (problem, state):
        draw.show(**({} if shown is None else shown.__dict__))
    draw.show(**others)


def anywhere(draw: Draw, m: int) -> tuple[ProximalClients, ClientVariables]:
    """A problem of either kind, and a state with (28)."""
    problem = (wide if draw.index % 2 else narrow)(draw, m)
    return problem, start(problem, draw.vector(m), draw.vector(m))


def tight(draw: Draw, *, flat: bool = False) -> tuple[ProximalClients, ClientVariables, Numbers]:
    """Two opposite clients at which (36) and (38) lose nothing but what they need not, and the points they reach.

    h = -L makes (21) tight, a residual of 2*q*dtheta the Young split of (38), dw_i = -rho*dtheta that of (36), and by
    symmetry the server's w stays at 0. With ``flat`` h = 0, so that the joint objective (6) is bounded below.
    """
    free = narrow(draw, 2)
    a, lambda_, rho, L, x = free.alpha[0], free.lambda_, free.rho, free.L, free.lambda_ * free.alpha[0]
    place = (x + rho * x + rho**2) / rho
    size = draw.positive(3)
    targets = (size, -size)
    h = Fraction(0) if flat else -L
    curvature = h + lambda_ * (1 - place) - 2 * free.young(0) / a
    problem = ProximalClients((a, a), (h, h), tuple(curvature * t for t in targets), lambda_, rho, L)
    return problem, start(problem, (Fraction(0),) * 2, tuple(place * t for t in targets)), targets
