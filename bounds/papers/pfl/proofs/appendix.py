"""Lemmas A.1 to A.3 and the proofs of Lemmas 3.1 and 3.6 (Appendix A)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

import sympy as sp

from bounds import symbols as s
from bounds.ledger.draw import Draw, NoisyRational, Rational, expect, expect_square, mean, noise, plus, subsets, times
from bounds.ledger.draw import dot as inner
from bounds.ledger.draw import square as norm
from bounds.ledger.proof import Proof, at_most, drawn, gram, same
from bounds.ledger.step import Step, StepKind, above, below
from bounds.ledger.vectors import square, vectors
from bounds.ledger.written import at, written
from bounds.papers.pfl.proofs import forms
from bounds.papers.pfl.proofs.runs import Histories, LocalRound, small_run
from bounds.papers.pfl.proofs.terms import smooth

n, m, K, T, L, gamma, eta_u, eta_v = s.n, s.m, s.K, s.T, s.L, s.gamma, s.eta_u, s.eta_v
G_u, G_v, E, B = s.G_u_prev, s.G_v_prev, s.E, s.B_prev
su, sv = s.sigma_u**2, s.sigma_v**2
Gap = tuple[Fraction, Fraction]
Vectors = tuple[tuple[Fraction, ...], ...]


# --- Exact instances: sums and samples of random vectors -----------------------------------------------------------


def _martingale(draw: Draw) -> Gap:
    """Differences that are signs times vectors, each vector a function of the signs before."""
    length = draw.whole(1, 4)
    scale = {past: draw.vector(2) for j in range(length) for past in itertools.product((-1, 1), repeat=j)}
    outcomes = [
        [times(signs[j], scale[signs[:j]]) for j in range(length)]
        for signs in itertools.product((-1, 1), repeat=length)
    ]
    return mean(norm(plus(*terms)) for terms in outcomes), mean(
        sum(map(norm, terms), Fraction(0)) for terms in outcomes
    )


def _vectors(draw: Draw) -> tuple[list[Vectors], int]:
    """Equally likely values of n random vectors, which depend on each other, and m."""
    count = draw.whole(1, 4)
    values = [tuple(draw.vector(2) for _ in range(count)) for _ in range(2)]
    return values, draw.whole(1, count)


def _sampled(values: list[Vectors], size: int) -> Fraction:
    """E||(1/m) sum_{i in S} X_i||^2."""
    samples = list(subsets(len(values[0]), size))
    return mean(norm(plus(*(X[i] for i in sample))) / size**2 for X in values for sample in samples)


def _spread(values: list[Vectors]) -> Gap:
    """E||mean||^2 and sum_i E||X_i - mean||^2."""
    count = len(values[0])
    middle = [times(Fraction(1, count), plus(*X)) for X in values]
    around = mean(
        sum((norm(plus(x, times(-1, center))) for x in X), Fraction(0))
        for X, center in zip(values, middle, strict=True)
    )
    return mean(map(norm, middle)), around


def _lemma_a_2(draw: Draw, factor: Rational) -> Gap:
    values, size = _vectors(draw)
    count = len(values[0])
    center, around = _spread(values)
    return _sampled(values, size), center + Fraction(factor) * (count - size) / (size * count**2) * around


def _products(draw: Draw) -> Gap:
    values, size = _vectors(draw)
    count = len(values[0])
    samples = list(subsets(count, size))
    right = Fraction(0)
    for i, j in itertools.product(range(count), repeat=2):
        both = mean(int(i in sample and j in sample) for sample in samples)
        right += both * mean(inner(X[i], X[j]) for X in values) / size**2
    return _sampled(values, size), right


def _probabilities(draw: Draw) -> Gap | None:
    values, size = _vectors(draw)
    count = len(values[0])
    if count == 1:
        return None
    squares = mean(sum(map(norm, X), Fraction(0)) for X in values)
    mixed = mean(norm(plus(*X)) for X in values) - squares
    right = squares / (size * count) + Fraction(size - 1, size * count * (count - 1)) * mixed
    return _sampled(values, size), right


# --- Exact instances: smoothness -----------------------------------------------------------------------------------


def _lemma_a_3(draw: Draw) -> Gap:
    law = small_run(draw)
    t = law.last
    left = law.mean(t + 1, LocalRound.value) - law.mean(t, LocalRound.value)
    first = law.mean(t, _first_order_u) + law.mean(t, _first_order_v)
    return left, first + law.p.L * (law.mean(t, LocalRound.move_u) + law.mean(t, LocalRound.moves_v))


def _first_order_u(one: LocalRound) -> Fraction:
    return mean(expect(one.full, after.u - one.u) for after in one.next)


def _first_order_v(one: LocalRound) -> Fraction:
    return mean(expect(one.start_v[i], after.v[i] - one.v[i]) for after in one.next for i in range(one.problem.n))


def _two_descents(draw: Draw, half: Rational) -> Gap:
    """A quadratic at (u + du, v + dv) less at (u, v)."""
    client = small_run(draw).p.clients[0]
    u, v, du, dv = (NoisyRational(draw.rational()) for _ in range(4))
    left = client.value(u + du, v + dv) - client.value(u, v)
    right = expect(client.grad_u(u, v + dv), du) + half * abs(client.h) * expect_square(du)
    return left, right + expect(client.grad_v(u, v), dv) + half * abs(client.p) * expect_square(dv)


def _cauchy_schwarz(draw: Draw) -> Gap:
    """The squares of both sides where the left one is positive: the difference of gradients is at most L_uv*||dv||."""
    constant, du, dv = draw.positive(), draw.vector(2), draw.vector(2)
    turn = (Fraction(3, 5), Fraction(4, 5))
    turned = (turn[0] * dv[0] - turn[1] * dv[1], turn[1] * dv[0] + turn[0] * dv[1])
    product = inner(times(constant * draw.rational(-1, 1), turned), du)
    return max(product, Fraction(0)) ** 2, constant**2 * norm(dv) * norm(du)


# --- Exact instances: proof of Lemma 3.1 ---------------------------------------------------------------------------

Pairs = Iterable[Gap]


def _shared_moves(draw: Draw) -> Pairs:
    """E||u^{t+1} - u^t + (gamma/m) sum_ik 1_i F_ik||^2 and 0."""
    law = small_run(draw)
    p = law.p
    for one in law.rounds(law.last):
        for after in one.next:
            taking = [i for i in range(p.n) if after.seen[i] == one.t]
            total = sum((one.walks[i][k][2] for i in taking for k in range(p.K)), NoisyRational())
            yield expect_square(after.u - one.u + p.gamma / p.m * total), Fraction(0)


def personal_moves(law: Histories) -> Pairs:
    """E||v_i^{t+1} - v_i^t + gamma 1_i sum_k F_ik||^2 and 0."""
    p = law.p
    for one in law.rounds(law.last):
        for after in one.next:
            for i in range(p.n):
                total = sum((one.walks[i][k][3] for k in range(p.K)), NoisyRational()) * int(after.seen[i] == one.t)
                yield expect_square(after.v[i] - one.v[i] + p.gamma * total), Fraction(0)


def _tower(draw: Draw) -> Gap:
    law = small_run(draw)
    p = law.p

    def right(one: LocalRound) -> Fraction:
        share = Fraction(1, p.m)
        return mean(
            -p.gamma * share * expect(one.full, sum((one.sums[i] for i in sample), NoisyRational()))
            for sample in subsets(p.n, p.m)
        )

    return law.mean(law.last, _first_order_u), law.mean(law.last, right)


def inner_u(law: Histories) -> Gap:
    """E<grad_u f, u^{t+1} - u^t> and T_1u."""
    return law.mean(law.last, _first_order_u), law.mean(law.last, LocalRound.T_1u)


def inner_v(law: Histories) -> Gap:
    """(1/n) sum_i E<grad_v f_i, v_i^{t+1} - v_i^t> and T_1v."""
    return law.mean(law.last, _first_order_v), law.mean(law.last, LocalRound.T_1v)


def _one_inner_v(draw: Draw) -> Pairs:
    law = small_run(draw)
    p, t = law.p, law.last
    for i in range(p.n):

        def left(one: LocalRound, i: int = i) -> Fraction:
            return mean(expect(one.start_v[i], after.v[i] - one.v[i]) for after in one.next)

        def right(one: LocalRound, i: int = i) -> Fraction:
            return -p.gamma * p.m / p.n * expect(one.start_v[i], sum(one.grad_v[i], NoisyRational()))

        yield law.mean(t, left), law.mean(t, right)


def _conditional(draw: Draw, *, fresh: bool) -> Pairs:
    """E||E(F_ik | F_{i,k-1}) - grad_u f_i(u_ik)||^2 and 0 for one client, whose samples are ``fresh`` in each step."""
    curvature, slope, step, start = (draw.rational() for _ in range(4))
    sigma = draw.positive()
    u, known = NoisyRational(start), list[object]()
    for k in range(draw.whole(1, 3)):
        name = k if fresh else 0
        grad = curvature * u - slope
        stochastic = grad + noise(name, sigma)
        yield expect_square(stochastic.given(known) - grad), Fraction(0)
        known.append(name)
        u = u - step * stochastic


def _order(draw: Draw, *, smaller: bool) -> Pairs:
    """How often (a < b) or (b < a) for each two pairs (i, k); ``smaller``: i < j in place of the printed i = j."""
    pairs = list(itertools.product(range(draw.whole(1, 3)), range(draw.whole(1, 3))))

    def less(one: tuple[int, int], other: tuple[int, int]) -> bool:
        (i, k), (j, h) = one, other
        return (i < j if smaller else i == j) or (i == j and k < h)

    return [
        (Fraction(less(one, other) + less(other, one)), Fraction(1)) for one, other in itertools.combinations(pairs, 2)
    ]


def _mean_step(one: LocalRound) -> Fraction:
    """E||(gamma/m) sum_ik 1_i grad_u f_i(u_ik, v_ik)||^2."""
    p = one.problem
    return mean(
        expect_square(p.gamma / p.m * sum((one.sums[i] for i in sample), NoisyRational()))
        for sample in subsets(p.n, p.m)
    )


def _noise_step(one: LocalRound) -> Fraction:
    """sum_ik E||Y_ik||^2."""
    p = one.problem
    squares = [
        sum((expect_square(one.walks[i][k][2] - one.grad_u[i][k]) for k in range(p.K)), Fraction(0)) for i in range(p.n)
    ]
    return mean(sum((squares[i] for i in sample), Fraction(0)) for sample in subsets(p.n, p.m))


def _a_3_first(draw: Draw, two: Rational) -> Gap:
    law = small_run(draw)
    p, t = law.p, law.last
    right = law.mean(t, _mean_step) + p.gamma**2 / p.m**2 * law.mean(t, _noise_step)
    return law.mean(t, LocalRound.move_u), two * right


def _a_3_mean(draw: Draw, two: Rational) -> Gap:
    law = small_run(draw)
    p, t = law.p, law.last
    share = two * p.gamma**2 * (p.n - p.m) / (p.m * p.n**2)
    return law.mean(t, _mean_step), law.mean(t, LocalRound.T_2u) + share * law.mean(t, LocalRound.T_3u)


def _a_3_noise(draw: Draw) -> Pairs:
    law = small_run(draw)
    p = law.p
    for one in law.rounds(law.last):
        for i, k in itertools.product(range(p.n), range(p.K)):
            there = mean(int(i in sample) for sample in subsets(p.n, p.m))
            square_ = expect_square(one.walks[i][k][2] - one.grad_u[i][k])
            yield there * square_, p.sigma_u**2 * p.m / p.n


def a_4(law: Histories, two: Rational, noisy: Rational) -> Pairs:
    """Eq. (A.4) for each client."""
    p, t = law.p, law.last
    for i in range(p.n):

        def moved(one: LocalRound, i: int = i) -> Fraction:
            return one.move_v(i)

        def squared(one: LocalRound, i: int = i) -> Fraction:
            return expect_square(sum(one.grad_v[i], NoisyRational()))

        share = p.gamma**2 * p.m / p.n
        right = two * share * law.mean(t, squared) + noisy * p.K * share * p.sigma_v**2
        yield law.mean(t, moved), right


# --- Expressions ---------------------------------------------------------------------------------------------------

x, y, g, h, mid = vectors("x y g h mid")
du, dv, L_u, L_v, L_uv, squares, Y2, DU, DV, S_v = sp.symbols(
    "du dv L_u L_v L_uv squares Y2 DU DV S_v", nonnegative=True
)
kappa = sp.Symbol("kappa", positive=True)
lkg = L * K * gamma
FULL = su / n + sv
_cap = below(8 * lkg, 1)
GROWTH = forms.growth_of_gradients()
_two_rounds = above(T, 2)
_outer = (above(eta_u, T), above(eta_u**2, n), above(eta_v, 1))
_sampling = gamma**2 * (n - m) / (m * n**2)
_move_u = 4 * K**2 * gamma**2 * G_u + 8 * L**2 * K * gamma**2 / n * E + 2 * K * gamma**2 * su / n
_move_v = 4 * K**2 * gamma**2 * G_v + 8 * L**2 * K * gamma**2 / n * E + 2 * K * sv * gamma**2
_before_a_5 = (
    (1 + 1 / (T - 1)) * B
    + 8 * n * T * L**2 * K**2 * gamma**2 * (G_u + G_v)
    + 32 * T * L**4 * K * gamma**2 * E
    + 4 * n * T * L**2 * K * gamma**2 * FULL
)
_a_5 = (1 + 1 / (T - 1)) * B + n * T * (G_u + G_v) + T * L**2 / K * E + n * T / K * FULL
_E_first = (
    8 * K**3 * (gamma / eta_u) ** 2 * B
    + 8 * n * K**3 * (gamma / eta_v) ** 2 * G_v
    + 4 * n * K**2 * (su * (gamma / eta_u) ** 2 + sv * (gamma / eta_v) ** 2)
)
_E_second = 8 * K**3 * gamma**2 / T**2 * B + 8 * n * K**3 * gamma**2 * G_v + 4 * n * K**2 * gamma**2 * FULL
_E_third = K / (L**2 * T**2) * B + n * K / L**2 * G_v + n / L**2 * FULL
_a_3_last = 2 * s.T_2u + 4 * _sampling * s.T_3u + 2 * K * gamma**2 * su / m
_lemma_3_1 = (
    s.T_1u
    + s.T_1v
    + 2 * L * s.T_2u
    + 2 * L * s.T_2v
    + 4 * L * _sampling * s.T_3u
    + 2 * L * K * su * gamma**2 / m
    + 2 * L * K * sv * gamma**2 * m / n
)

_of_lemma_a_1 = Proof("pfl/lemma-a.1")
_of_lemma_a_2 = Proof("pfl/lemma-a.2")
_of_lemma_a_3 = Proof("pfl/lemma-a.3")
_of_lemma_3_1 = Proof("pfl/lemma-3.1", "proof of Lemma 3.1", first=3)
_of_lemma_3_6_recursion = Proof("pfl/lemma-3.6-recursion", first=2)

PREREQUISITES: tuple[Step, ...] = (
    _of_lemma_a_1(
        "Lemma A.1",
        "E||X_1 + ... + X_n||^2 = E||X_1||^2 + ... + E||X_n||^2",
        drawn(_martingale, "==", kind=StepKind.STANDARD),
    ),
    _of_lemma_a_2(
        "Lemma A.2",
        "E||(1/m)*sum_i 1_i*X_i||^2 = E||X||^2 + 2*(n-m)/(m*n^2)*sum_i E||X_i - X||^2 with X the mean",
        drawn(_lemma_a_2, "==", kind=StepKind.END_TO_END, factor=2),
        repaired=drawn(_lemma_a_2, kind=StepKind.END_TO_END, factor=2, form=forms.sample_mean),
        repair="<= in place of =, as the last line of the proof gives",
    ),
    _of_lemma_a_2(
        "proof of Lemma A.2, first display",
        "E||(1/m)*sum_i 1_i*X_i||^2 = (1/m^2)*sum_ij E(1_i*1_j)*E<X_i, X_j>",
        drawn(_products, "==", form=forms.sample_products),
    ),
    _of_lemma_a_2(
        "proof of Lemma A.2, second display, first line",
        "= 1/(m*n)*sum_i E||X_i||^2 + (m-1)/(m*n*(n-1))*sum_{i != j} E<X_i, X_j>",
        drawn(_probabilities, "==", form=forms.sample_probabilities),
        remark="n >= 2. The second expectation is not printed.",
    ),
    _of_lemma_a_2(
        "proof of Lemma A.2, second display, second line",
        "= E||X||^2 + (n-m)/(m*n*(n-1))*sum_i E||X_i - X||^2",
        same(forms.SAMPLE_SUM, forms.SAMPLE_SPLIT),
        remark="n >= 2.",
    ),
    _of_lemma_a_2(
        "proof of Lemma A.2, last line",
        "1/(n-1) <= 2/n when n >= 2",
        at_most(1 / (n - 1), 2 / n, above(n, 2)),
    ),
    _of_lemma_a_3(
        "Lemma A.3, eq. (A.1)",
        "E f(u^{t+1}, v^{t+1}) - E f(u^t, v^t) <= E<grad_u f, du> + (1/n)*sum_i E<grad_v f_i, dv_i>"
        " + L*E||du||^2 + (1/n)*sum_i L*E||dv_i||^2",
        drawn(_lemma_a_3, kind=StepKind.END_TO_END, form=forms.descent),
    ),
    _of_lemma_a_3(
        "proof of Lemma A.3, first display",
        "f_i(t+1) - f_i(t) <= <grad_u f_i(u^t, v_i^{t+1}), du> + L_u/2*||du||^2"
        " + <grad_v f_i(u^t, v_i^t), dv_i> + L_v/2*||dv_i||^2",
        drawn(_two_descents, kind=StepKind.STANDARD, half=Fraction(1, 2)),
    ),
    _of_lemma_a_3(
        "proof of Lemma A.3, second display, first inequality",
        "<grad_u f_i(u^t, v_i^{t+1}) - grad_u f_i(u^t, v_i^t), du> <= L_uv*||dv_i||*||du||",
        drawn(_cauchy_schwarz, kind=StepKind.STANDARD),
    ),
    _of_lemma_a_3(
        "proof of Lemma A.3, second display, second inequality",
        "L_uv*||dv_i||*||du|| <= L_uv/2*(||dv_i||^2 + ||du||^2)",
        at_most(L_uv * dv * du, L_uv / 2 * (dv**2 + du**2)),
    ),
    _of_lemma_a_3(
        "proof of Lemma A.3, third display",
        "(L_u/2 + L_uv/2)*||du||^2 + (L_v/2 + L_uv/2)*||dv_i||^2 <= L*||du||^2 + L*||dv_i||^2",
        at_most(
            (L_u / 2 + L_uv / 2) * du**2 + (L_v / 2 + L_uv / 2) * dv**2,
            L * du**2 + L * dv**2,
            below(L_u, L),
            below(L_v, L),
            below(L_uv, L),
        ),
    ),
)

FIRST: tuple[Step, ...] = (
    _of_lemma_3_1(
        "first display",
        "u^{t+1} - u^t = -(gamma/m)*sum_ik 1_i*grad_u F(u_ik, v_ik, xi_ik)",
        drawn(_shared_moves, "==", form=forms.shared_move),
    ),
    _of_lemma_3_1(
        "first display",
        "v_i^{t+1} - v_i^t = -gamma*1_i*sum_k grad_v F(u_ik, v_ik, xi_ik)",
        drawn(lambda draw: personal_moves(small_run(draw)), "==", form=forms.personal_move),
    ),
    _of_lemma_3_1(
        "under eq. (A.2)",
        "E(grad_u F(u_ik, v_ik, xi_ik) | F_{i,k-1}) = grad_u f_i(u_ik, v_ik)",
        drawn(lambda draw: _conditional(draw, fresh=False), "=="),
        repaired=drawn(lambda draw: _conditional(draw, fresh=True), "=="),
        repair="the samples of a client's steps have to be independent of each other; Assumption 2.2 says so of the"
        " clients alone",
        remark="Literally read: a client may use one sample in all its steps. With a new sample xi_{i,k}^t in every"
        " step, as is usual and probably meant, the line is true.",
    ),
    _of_lemma_3_1(
        "eq. (A.2), second and third line",
        "E<grad_u f, du> = sum_ik E<grad_u f, -(gamma/m)*1_i*E(grad_u F(u_ik, v_ik, xi_ik) | F_{i,k-1})>",
        drawn(_tower, "==", kind=StepKind.STANDARD),
        remark="The tower property. One of the paper's two texts has lost the outer expectation in the second line.",
    ),
    _of_lemma_3_1(
        "eq. (A.2), last line",
        "E<grad_u f, du> = T_1u",
        drawn(lambda draw: inner_u(small_run(draw)), "==", form=forms.inner_u),
    ),
    _of_lemma_3_1(
        "display after eq. (A.2)",
        "E<grad_v f_i, dv_i> = -(gamma*m/n)*sum_k E<grad_v f_i, grad_v f_i(u_ik, v_ik)>",
        drawn(_one_inner_v, "==", form=forms.one_inner_v),
    ),
    _of_lemma_3_1(
        "text after eq. (A.2)",
        "(1/n)*sum_i <grad_v f_i, dv_i> = T_1v",
        drawn(lambda draw: inner_v(small_run(draw)), "==", form=forms.inner_v),
        remark="The expectation on the left is not printed.",
    ),
    _of_lemma_3_1(
        "order of the martingale difference sequence",
        "(i, k) < (j, l) if i = j or both i = j and k < l orders the pairs",
        drawn(lambda draw: _order(draw, smaller=False), "==", kind=StepKind.STANDARD),
        repaired=drawn(lambda draw: _order(draw, smaller=True), "==", kind=StepKind.STANDARD),
        repair="i < j in place of the first i = j",
        remark="Of two different pairs exactly one has to come before the other.",
    ),
    _of_lemma_3_1(
        "eq. (A.3), first inequality",
        "E||du||^2 <= 2*E||(gamma/m)*sum_ik 1_i*grad_u f_i(u_ik, v_ik)||^2 + (2*gamma^2/m^2)*sum_ik E||Y_ik||^2",
        drawn(_a_3_first, form=forms.squared_move, two=2),
    ),
    _of_lemma_3_1(
        "display after eq. (A.3)",
        "E||(gamma/m)*sum_ik 1_i*grad_u f_i(u_ik, v_ik)||^2 <= T_2u + 2*gamma^2*(n-m)/(m*n^2)*T_3u",
        drawn(_a_3_mean, form=forms.squared_mean, two=2),
    ),
    _of_lemma_3_1(
        "second display after eq. (A.3)",
        "E||Y_ik||^2 = E 1_i*E||grad_u F - grad_u f_i||^2 <= sigma_u^2*m/n",
        drawn(_a_3_noise, form=forms.one_error),
    ),
    _of_lemma_3_1(
        "eq. (A.3), second inequality",
        "E||du||^2 <= 2*T_2u + 4*gamma^2*(n-m)/(m*n^2)*T_3u + 2*K*gamma^2*sigma_u^2/m",
        at_most(
            2 * (s.T_2u + 2 * _sampling * s.T_3u) + 2 * gamma**2 / m**2 * n * K * Y2, _a_3_last, below(Y2, su * m / n)
        ),
    ),
    _of_lemma_3_1(
        "eq. (A.4)",
        "E||dv_i||^2 <= (2*gamma^2*m/n)*E||sum_k grad_v f_i(u_ik, v_ik)||^2 + 2*K*gamma^2*sigma_v^2*m/n",
        drawn(lambda draw, two, noisy: a_4(small_run(draw), two, noisy), form=forms.personal_square, two=2, noisy=2),
    ),
    _of_lemma_3_1(
        "text after eq. (A.4)",
        "(1/n)*sum_i ||dv_i||^2 <= 2*T_2v + 2*K*sigma_v^2*gamma^2*m/n",
        at_most(
            (2 * gamma**2 * m / n * S_v + n * 2 * K * gamma**2 * sv * m / n) / n,
            2 * (gamma**2 * m / n**2 * S_v) + 2 * K * sv * gamma**2 * m / n,
        ),
        remark="S_v is sum_i E||sum_k grad_v f_i(u_ik, v_ik)||^2; the expectation on the left is not printed.",
    ),
    _of_lemma_3_1(
        "last line",
        "the bounds in eq. (A.1) give eq. (3.2)",
        at_most(
            s.T_1u + s.T_1v + L * DU + L * DV,
            _lemma_3_1,
            below(DU, _a_3_last),
            below(DV, 2 * s.T_2v + 2 * K * sv * gamma**2 * m / n),
        ),
        remark="Printed with a wrong number, (3.1) for (3.2).",
    ),
)

SIXTH: tuple[Step, ...] = (
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, first display after eq. (A.5)",
        "||grad_u f_i(t)||^2 <= (1 + 1/kappa)*||grad_u f_i(t-1)||^2 + 2*(1 + kappa)*L^2*(||du||^2 + ||dv_i||^2)"
        " for all kappa > 0",
        gram(
            square(g),
            (1 + 1 / kappa) * square(h) + 2 * (1 + kappa) * L**2 * (square(x) + square(y)),
            *smooth(g, mid, h, x, y),
        ),
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, before eq. (A.6)",
        "kappa = T - 1 > 0",
        at_most(T - 1, 0, operator=">"),
        repaired=at_most(T - 1, sp.Integer(0), _two_rounds, operator=">"),
        repair="T >= 2; for T = 1 there is no round to which the lemma would be applied",
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, eq. (A.6)",
        "B^t <= (1 + 1/(T-1))*B^{t-1} + 2*T*L^2*sum_i E(||du||^2 + ||dv_i||^2)",
        same(
            at((1 + 1 / kappa) * B + 2 * (1 + kappa) * L**2 * squares, {kappa: T - 1}),
            (1 + 1 / (T - 1)) * B + 2 * T * L**2 * squares,
        ),
        remark="The sum over i at kappa = T - 1.",
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, display after eq. (A.6), first line",
        "E||du||^2 <= 4*K^2*gamma^2*G_u + 8*L^2*K*gamma^2/n*E + 2*K*gamma^2*sigma_u^2/n",
        same(at(_a_3_last, {s.T_2u: 2 * K**2 * gamma**2 * G_u + 4 * L**2 * K * gamma**2 / n * E, m: n}), _move_u),
        remark="Lemma 3.3 in eq. (A.3) with m = n.",
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, display after eq. (A.6), second line",
        "(1/n)*sum_i E||dv_i||^2 <= 4*K^2*gamma^2*G_v + 8*L^2*K*gamma^2/n*E + 2*K*sigma_v^2*gamma^2",
        same(2 * written(2 * K**2 * gamma**2 * G_v + 4 * L**2 * K * gamma**2 / n * E) + 2 * K * sv * gamma**2, _move_v),
        remark="Lemma 3.3 in eq. (A.4) with m = n.",
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, second display after eq. (A.6)",
        "B^t <= (1 + 1/(T-1))*B^{t-1} + 8*n*T*L^2*K^2*gamma^2*(G_u + G_v) + 32*T*L^4*K*gamma^2*E"
        " + 4*n*T*L^2*K*gamma^2*(sigma_u^2/n + sigma_v^2)",
        at_most((1 + 1 / (T - 1)) * B + 2 * T * L**2 * n * (_move_u + _move_v), _before_a_5, _two_rounds),
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, eq. (A.5)",
        "B^t <= (1 + 1/(T-1))*B^{t-1} + n*T*(G_u + G_v) + T*L^2/K*E + n*T/K*(sigma_u^2/n + sigma_v^2)",
        at_most(_before_a_5, _a_5, _cap, _two_rounds),
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, use of Lemma 3.5",
        "4*L^2*K*(K-1)*(gamma_u^2 + gamma_v^2) <= 1",
        at_most(4 * L**2 * K * (K - 1) * ((gamma / eta_u) ** 2 + (gamma / eta_v) ** 2), 1, _cap, *_outer),
        remark="Not printed: the condition of the lemma.",
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, last display, first inequality",
        "E <= 8*K^3*gamma_u^2*B + 8*n*K^3*gamma_v^2*G_v + 4*n*K^2*(sigma_u^2*gamma_u^2 + sigma_v^2*gamma_v^2)",
        at_most(8 * K**2 * (K - 1) * (gamma / eta_u) ** 2 * B, 8 * K**3 * (gamma / eta_u) ** 2 * B),
        remark="The one term in which the line differs from Lemma 3.5.",
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, last display, second inequality",
        "E <= 8*K^3*gamma^2/T^2*B + 8*n*K^3*gamma^2*G_v + 4*n*K^2*gamma^2*(sigma_u^2/n + sigma_v^2)",
        at_most(_E_first, _E_second, *_outer),
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, last display, third inequality",
        "E <= K/(L^2*T^2)*B + n*K/L^2*G_v + n/L^2*(sigma_u^2/n + sigma_v^2)",
        at_most(_E_second, _E_third, _cap),
    ),
    _of_lemma_3_6_recursion(
        "proof of Lemma 3.6, last line",
        "the bound on E in eq. (A.5) gives the lemma",
        at_most(
            _a_5.subs(E, _E_third), (1 + 2 / (T - 1)) * B + 2 * n * T * (G_u + G_v) + 2 * n * T / K * FULL, _two_rounds
        ),
    ),
    _of_lemma_3_6_recursion(
        "eq. (A.6) in one piece, not printed",
        "for T >= 2: B^t <= (1 + 1/(T-1))*B^{t-1} + 2*T*L^2*sum_i E(||du||^2 + ||dv_i||^2)",
        gram(GROWTH.left, GROWTH.right, *GROWTH.hypotheses, where=GROWTH.conditions),
        remark="From Assumption 2.1 with kappa = T - 1 put in.",
    ),
)

STEPS: tuple[Step, ...] = (*PREREQUISITES, *FIRST, *SIXTH)
