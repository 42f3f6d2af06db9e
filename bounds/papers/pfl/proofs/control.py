"""Proofs of Lemmas 4.1 and 4.3: what the control variates change (Appendix A)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from bounds import symbols as s
from bounds.ledger.draw import Draw, NoisyRational, Rational, expect_square, mean, noise, subsets
from bounds.ledger.families import one_more
from bounds.ledger.step import Scalar, Step, StepKind, above, below
from bounds.ledger.vectors import square, vectors
from bounds.papers.pfl.proofs import forms
from bounds.papers.pfl.proofs.appendix import a_4, inner_u, inner_v, personal_moves
from bounds.papers.pfl.proofs.lemmas import PERSONAL
from bounds.papers.pfl.proofs.runs import Histories, LocalRound, average, small_run
from bounds.papers.pfl.proofs.terms import drawn, gram, identity, on_runs, scalar

n, m, K, L, gamma, gamma_u, gamma_v = s.n, s.m, s.K, s.L, s.gamma, s.gamma_u, s.gamma_v
su, sv = s.sigma_u**2, s.sigma_v**2
Gap = tuple[Fraction, Fraction]
Pairs = list[Gap]
ZERO = Fraction(0)


def _run(draw: Draw) -> Histories:
    return small_run(draw, scaffold=True)


# --- Exact instances: proof of Lemma 4.1 ---------------------------------------------------------------------------


def _variates(draw: Draw, *, last: bool) -> Pairs:
    """E||c_i^t less its formula||^2 and 0; with ``last`` the samples are of the last round with client i."""
    law = small_run(draw, scaffold=True, rounds=3, local_steps=(1, 2))
    p = law.p
    found = []
    for one in law.rounds(2):
        for i, client in enumerate(p.clients):
            terms = [
                client.grad_u(*one.memory[i][k])
                + (one.old_noise(i, k) if last else noise((one.t - 1, i, k, "u"), p.noise_u))
                for k in range(p.K)
            ]
            found.append((expect_square(one.c[i] - average(terms)), ZERO))
    return found


def _mean_variate(draw: Draw) -> Pairs:
    law = small_run(draw, scaffold=True, rounds=3, local_steps=(1, 2))
    return [(expect_square(one.c_mean - average(list(one.c))), ZERO) for one in law.rounds(2)]


def _moves(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    found = []
    for one in law.rounds(law.last):
        for after in one.next:
            taking = [i for i in range(p.n) if after.seen[i] == one.t]
            total = NoisyRational()
            for i, k in itertools.product(taking, range(p.K)):
                total = total + one.walks[i][k][2] - one.c[i] + one.c_mean
            found.append((expect_square(after.u - one.u + p.gamma / p.m * total), ZERO))
    return found


def _over_samples(law: Histories, quantity: Callable[[LocalRound, tuple[int, ...]], Fraction]) -> Fraction:
    """The expectation over the histories and the sample of the last round."""
    p = law.p
    return law.mean(law.last, lambda one: mean(quantity(one, sample) for sample in subsets(p.n, p.m)))


def _errors(one: LocalRound, taking: tuple[int, ...] | range) -> list[NoisyRational]:
    """The hatted W_ik of the clients named."""
    return [one.old_noise(i, k) for i, k in itertools.product(taking, range(one.problem.K))]


def _size(one: NoisyRational) -> Fraction:
    """E|one| where each noise is a fair sign."""
    parts = [scale for scale in one.noises.values() if scale]
    signs = itertools.product((-1, 1), repeat=len(parts))
    return mean(abs(one.constant + sum((c * e for c, e in zip(parts, each, strict=True)), ZERO)) for each in signs)


def _own_errors(one: LocalRound, sample: tuple[int, ...]) -> NoisyRational:
    """sum_ik 1_i*(c_i^t - d_i^t)."""
    return sum((one.problem.K * (one.c[i] - one.d[i]) for i in sample), NoisyRational())


def _mean_error(one: LocalRound, sample: tuple[int, ...]) -> NoisyRational:
    """sum_ik 1_i*(c^t - d^t)."""
    return len(sample) * one.problem.K * (one.c_mean - average(list(one.d)))


def _small(draw: Draw) -> Histories:
    return small_run(draw, scaffold=True, local_steps=(1, 2))


def _without_square(draw: Draw) -> Gap:
    law = _small(draw)
    right = _over_samples(law, lambda one, sample: expect_square(sum(_errors(one, sample), NoisyRational())))
    return _over_samples(law, lambda one, sample: _size(_own_errors(one, sample))), right


def _with_square(draw: Draw) -> Gap:
    law = _small(draw)
    right = _over_samples(law, lambda one, sample: expect_square(sum(_errors(one, sample), NoisyRational())))
    return _over_samples(law, lambda one, sample: expect_square(_own_errors(one, sample))), right


def _one_error(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    found = []
    for one in law.rounds(law.last):
        for i, k in itertools.product(range(p.n), range(p.K)):
            there = mean(int(i in sample) for sample in subsets(p.n, p.m))
            found.append((there * expect_square(one.old_noise(i, k)), p.sigma_u**2 * p.m / p.n))
    return found


def _own_orthogonal(draw: Draw) -> Gap:
    law = _run(draw)
    left = _over_samples(law, lambda one, sample: expect_square(sum(_errors(one, sample), NoisyRational())))
    return left, _over_samples(law, lambda one, sample: expect_square(_errors(one, sample)))


def _own_variance(draw: Draw) -> Gap:
    law = _run(draw)
    p = law.p
    left = _over_samples(law, lambda one, sample: expect_square(_errors(one, sample)))
    return left, p.m * p.K * p.sigma_u**2


def _sampled_mean(draw: Draw) -> Gap:
    law = _run(draw)
    p = law.p
    right = law.mean(law.last, lambda one: expect_square(sum(_errors(one, range(p.n)), NoisyRational())))
    return _over_samples(law, lambda one, sample: expect_square(_mean_error(one, sample))), right * p.m / p.n


def _all_orthogonal(draw: Draw) -> Gap:
    law = _run(draw)
    p, t = law.p, law.last
    left = law.mean(t, lambda one: expect_square(sum(_errors(one, range(p.n)), NoisyRational())))
    right = law.mean(t, lambda one: expect_square(_errors(one, range(p.n))))
    return left * p.m / p.n, right * p.m / p.n


def _all_variance(draw: Draw) -> Gap:
    law = _run(draw)
    p = law.p
    left = law.mean(law.last, lambda one: expect_square(_errors(one, range(p.n))))
    return left * p.m / p.n, p.m * p.K * p.sigma_u**2


def _new_noise(draw: Draw) -> Gap:
    law = _run(draw)
    p = law.p

    def total(one: LocalRound, sample: tuple[int, ...]) -> Fraction:
        pairs = itertools.product(sample, range(p.K))
        return expect_square(sum((one.walks[i][k][2] - one.grad_u[i][k] for i, k in pairs), NoisyRational()))

    return _over_samples(law, total), p.m * p.K * p.sigma_u**2


def _a_8_first(draw: Draw, two: Rational) -> Gap:
    law = _run(draw)
    p = law.p

    def split(one: LocalRound, sample: tuple[int, ...]) -> Fraction:
        middle = average(list(one.d))
        known = sum((one.sums[i] - p.K * (one.d[i] - middle) for i in sample), NoisyRational())
        pairs = itertools.product(sample, range(p.K))
        new = sum((one.walks[i][k][2] - one.grad_u[i][k] for i, k in pairs), NoisyRational())
        return expect_square(known) + expect_square(new + _own_errors(one, sample) + _mean_error(one, sample))

    right = two * p.gamma**2 / p.m**2 * _over_samples(law, split)
    return law.mean(law.last, LocalRound.move_u), right


def _a_8_mean(draw: Draw, two: Rational) -> Gap:
    law = _run(draw)
    p, t = law.p, law.last

    def step(one: LocalRound, sample: tuple[int, ...]) -> Fraction:
        middle = average(list(one.d))
        total = sum((one.sums[i] - p.K * (one.d[i] - middle) for i in sample), NoisyRational())
        return expect_square(p.gamma / p.m * total)

    share = two * p.gamma**2 * (p.n - p.m) / (p.m * p.n**2)
    return _over_samples(law, step), law.mean(t, LocalRound.T_2u) + share * law.mean(t, LocalRound.S_3u)


def _a_8(draw: Draw, mean_: Rational, sampling: Rational, noisy: Rational) -> Gap:
    law = _run(draw)
    p, t = law.p, law.last
    right = mean_ * law.mean(t, LocalRound.T_2u)
    right += sampling * p.gamma**2 * (p.n - p.m) / (p.m * p.n**2) * law.mean(t, LocalRound.S_3u)
    return law.mean(t, LocalRound.move_u), right + noisy * p.K * p.gamma**2 * p.sigma_u**2 / p.m


# --- Exact instances: proof of Lemma 4.3 ---------------------------------------------------------------------------


def _one_local_step(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    found = []
    for one in law.rounds(law.last):
        for i, k in itertools.product(range(p.n), range(p.K)):
            u, left = one.walks[i][k][0], expect_square(one.walks[i][k + 1][0] - one.u)
            direction = one.grad_u[i][k] - one.c[i] + one.c_mean
            right = expect_square(u - p.steps[0] * direction - one.u) + p.sigma_u**2 * p.steps[0] ** 2
            found.append((left, right))
    return found


def _own_errors_mean(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    return [
        (expect_square(one.c[i] - one.d[i]), expect_square(_errors(one, (i,))) / p.K**2)
        for one in law.rounds(law.last)
        for i in range(p.n)
    ]


def _own_errors_bound(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    return [
        (expect_square(one.c[i] - one.d[i]), p.sigma_u**2 / p.K) for one in law.rounds(law.last) for i in range(p.n)
    ]


def _all_errors_mean(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    return [
        (expect_square(one.c_mean - average(list(one.d))), expect_square(_errors(one, range(p.n))) / (p.n * p.K) ** 2)
        for one in law.rounds(law.last)
    ]


def _all_errors_bound(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    bound = p.sigma_u**2 / (p.n * p.K)
    return [(expect_square(one.c_mean - average(list(one.d))), bound) for one in law.rounds(law.last)]


def _own_staleness(draw: Draw, two: Rational) -> Pairs:
    law = _run(draw)
    p = law.p
    return [
        (
            expect_square(one.start_u[i] - one.d[i]),
            two * p.L**2 * mean(one.stale(i, k) for k in range(p.K)),
        )
        for one in law.rounds(law.last)
        for i in range(p.n)
    ]


def _mean_staleness(draw: Draw, two: Rational) -> Pairs:
    law = _run(draw)
    p = law.p
    return [
        (expect_square(one.full - average(list(one.d))), two * p.L**2 * one.C() / (p.n * p.K))
        for one in law.rounds(law.last)
    ]


def _geometric(draw: Draw, rate: Rational, half: Rational, terms: Rational) -> Gap:
    """The sum of K + terms powers of q = 1 + rate/(K - 1), and half*(K - 1)*q^(K - 1)."""
    steps = draw.whole(2, 40)
    q = 1 + Fraction(rate) / (steps - 1)
    return sum((q**j for j in range(steps + int(terms))), ZERO), half * (steps - 1) * q ** (steps - 1)


def _at_most_four(draw: Draw, rate: Rational, four: Rational) -> Gap:
    steps = draw.whole(2, 40)
    q = 1 + Fraction(rate) / (steps - 1)
    return sum((q**j for j in range(draw.whole(0, steps - 1))), ZERO), Fraction(four) * steps


# --- Expressions ---------------------------------------------------------------------------------------------------

Y, C_, D_ = vectors("Y C D")
x, a, g, d_i, f, d, c_i, c = vectors("x a g d_i f d c_i c")
T_2u, T_2v, S_3u = s.T_2u, s.T_2v, s.S_3u
Y2, C2, D2, DU, DV, U, V, C_i, gv, w, S, q, base, E_ik = sp.symbols(
    "Y2 C2 D2 DU DV U V C_i g_v2 w S q base E_ik", nonnegative=True
)
_two_steps = above(K, 2)
_local_cap = below(12 * L**2 * K * (K - 1) * (gamma_u**2 + gamma_v**2), 1)
_sampling = gamma**2 * (n - m) / (m * n**2)
A_8 = 2 * T_2u + 4 * _sampling * S_3u + 18 * K * gamma**2 * su / m
_lemma_4_1 = (
    s.T_1u
    + s.T_1v
    + 2 * L * T_2u
    + 2 * L * T_2v
    + 4 * L * _sampling * S_3u
    + 18 * L * K * su * gamma**2 / m
    + 2 * L * K * sv * gamma**2 * m / n
)
_start_u = 12 * L**2 * gamma_u**2 * (C_i + s.C / n) + 6 * K * gamma_u**2 * s.G_u
_u_step = (
    (1 + 1 / (K - 1) + 12 * L**2 * K * gamma_u**2) * U
    + 12 * L**2 * K * gamma_u**2 * V
    + 12 * L**2 * gamma_u**2 * C_i
    + 12 * L**2 * gamma_u**2 / n * s.C
    + 6 * K * gamma_u**2 * s.G_u
    + 13 * su * gamma_u**2
)
_v_step = (
    (1 + 1 / (K - 1) + 4 * L**2 * K * gamma_v**2) * V
    + 4 * L**2 * K * gamma_v**2 * U
    + 2 * K * gamma_v**2 * gv
    + sv * gamma_v**2
)
_six = (a - g, g - d_i, f - d, f, c_i - d_i, c - d)
_added = _start_u + 2 * K * gamma_v**2 * w**2 + 13 * su * gamma_u**2 + sv * gamma_v**2
_noise = su * gamma_u**2 + sv * gamma_v**2
_together = forms.errors_together()


def _times_four(power: int) -> Scalar:
    """The second inequality for E_ik; the norm of the personal gradient has the power given."""
    right = 48 * L**2 * K * gamma_u**2 * (C_i + s.C / n) + 24 * K**2 * gamma_u**2 * s.G_u
    return Scalar(
        left=_added * S,
        operator="<=",
        right=right + 8 * K**2 * gamma_v**2 * w**power + 52 * K * _noise,
        hypotheses=(below(S, 4 * K),),
    )


FOUR_ONE: tuple[Step, ...] = (
    on_runs(
        "lemma-4.1-2",
        "proof of Lemma 4.1, first display",
        "c_i^t = (1/K)*sum_k grad_u F(alpha_ik^{t-1}, beta_ik^{t-1}, xi_ik^{t-1})",
        lambda draw: _variates(draw, last=False),
        "==",
        repaired=drawn(lambda draw: _variates(draw, last=True), "=="),
        repair="the samples are those of the last round before t in which client i took part, as alpha and beta are",
        remark="Line 10 of Algorithm 4.1 changes c_i only where i takes part. The martingale property of W and its hat"
        " then holds given the samples of clients, with their last rounds as times.",
    ),
    on_runs(
        "lemma-4.1-3",
        "proof of Lemma 4.1, first display",
        "c^t = (1/n)*sum_i c_i^t",
        _mean_variate,
        "==",
        form=forms.mean_of_variates,
    ),
    on_runs(
        "lemma-4.1-4",
        "proof of Lemma 4.1, second display",
        "u^{t+1} - u^t = -(gamma/m)*sum_ik 1_i*(grad_u F(u_ik, v_ik, xi_ik) - c_i + c)",
        _moves,
        "==",
        form=forms.shared_move,
    ),
    on_runs(
        "lemma-4.1-5",
        "proof of Lemma 4.1, second display",
        "v_i^{t+1} - v_i^t = -gamma*1_i*sum_k grad_v F(u_ik, v_ik, xi_ik)",
        lambda draw: personal_moves(_run(draw)),
        "==",
        form=forms.personal_move,
    ),
    on_runs(
        "lemma-4.1-6",
        "proof of Lemma 4.1, third display",
        "E<grad_u f, du> = T_1u",
        lambda draw: inner_u(_run(draw)),
        "==",
        form=lambda: forms.inner_u(scaffold=True),
    ),
    on_runs(
        "lemma-4.1-7",
        "proof of Lemma 4.1, third display",
        "(1/n)*sum_i E<grad_v f_i, dv_i> = T_1v",
        lambda draw: inner_v(_run(draw)),
        "==",
        form=forms.inner_v,
    ),
    on_runs(
        "lemma-4.1-8",
        "proof of Lemma 4.1, before eq. (A.7)",
        "E||W_ik||^2 <= sigma_u^2*m/n",
        _one_error,
        form=forms.one_error,
    ),
    on_runs(
        "lemma-4.1-9",
        "proof of Lemma 4.1, eq. (A.7), first line, first equality",
        "E||sum_ik 1_i*(c_i - d_i)|| = E||sum_ik W_ik||^2",
        _without_square,
        "==",
        repaired=drawn(_with_square, "==", form=forms.own_errors),
        repair="the square of the norm on the left, as used in eq. (A.8)",
        remark="The noises are fair signs. The square is missing in the second line too.",
    ),
    on_runs(
        "lemma-4.1-10",
        "proof of Lemma 4.1, eq. (A.7), first line, second equality",
        "E||sum_ik W_ik||^2 = sum_ik E||W_ik||^2",
        _own_orthogonal,
        "==",
        form=forms.errors_of_sample,
    ),
    on_runs(
        "lemma-4.1-11",
        "proof of Lemma 4.1, eq. (A.7), first line, inequality",
        "sum_ik E||W_ik||^2 <= m*K*sigma_u^2",
        _own_variance,
        form=forms.errors_bounded,
    ),
    on_runs(
        "lemma-4.1-12",
        "proof of Lemma 4.1, eq. (A.7), second line, first equality",
        "E||sum_ik 1_i*(c - d)||^2 = E 1_i*E||sum_ik hat W_ik||^2",
        _sampled_mean,
        "==",
        repaired=drawn(_sampled_mean, form=forms.errors_of_mean),
        repair="<= in place of =: the factor on the right is (m/n)^2, which is at most E 1_i = m/n",
        remark="With the missing square restored.",
    ),
    on_runs(
        "lemma-4.1-13",
        "proof of Lemma 4.1, eq. (A.7), second line, second equality",
        "E 1_i*E||sum_ik hat W_ik||^2 = (m/n)*sum_ik E||hat W_ik||^2",
        _all_orthogonal,
        "==",
        form=lambda: one_more(m / n),
    ),
    on_runs(
        "lemma-4.1-14",
        "proof of Lemma 4.1, eq. (A.7), second line, inequality",
        "(m/n)*sum_ik E||hat W_ik||^2 <= m*K*sigma_u^2",
        _all_variance,
        form=forms.errors_bounded,
    ),
    on_runs(
        "lemma-4.1-15",
        "proof of Lemma 4.1, eq. (A.8), first inequality",
        "E||du||^2 <= 2*E||(gamma/m)*P||^2 + (2*gamma^2/m^2)*E||Y + C + D||^2 with the sums P of"
        " 1_i*(grad_u f_i - d_i + d), Y of Y_ik, C of 1_i*(c_i - d_i) and D of 1_i*(c - d)",
        _a_8_first,
        constants={"two": 2},
        remark="By the mean inequality it would be Y - C + D. The line is true as printed: E<Y, C> = 0, and"
        " E<C, D> = m^2*K^2*E||c - d||^2 is not negative.",
        form=forms.controlled_square,
    ),
    gram(
        "lemma-4.1-16",
        "proof of Lemma 4.1, eq. (A.8), second inequality",
        "||Y + C + D||^2 <= 3*(||Y||^2 + ||C||^2 + ||D||^2)",
        square(Y + C_ + D_),
        3 * (square(Y) + square(C_) + square(D_)),
    ),
    on_runs(
        "lemma-4.1-17",
        "proof of Lemma 4.1, eq. (A.8), second inequality",
        "E||sum_ik Y_ik||^2 <= m*K*sigma_u^2",
        _new_noise,
        form=forms.errors_of_round,
    ),
    scalar(
        "lemma-4.1-18",
        "proof of Lemma 4.1, eq. (A.8), second inequality",
        "(2*gamma^2/m^2)*3*(E||Y||^2 + E||C||^2 + E||D||^2) <= 18*K*gamma^2*sigma_u^2/m",
        6 * gamma**2 / m**2 * (Y2 + C2 + D2),
        18 * K * gamma**2 * su / m,
        *(below(each, m * K * su) for each in (Y2, C2, D2)),
    ),
    on_runs(
        "lemma-4.1-19",
        "proof of Lemma 4.1, display after eq. (A.8)",
        "E||(gamma/m)*sum_ik 1_i*(grad_u f_i(u_ik, v_ik) - d_i + d)||^2 <= T_2u + 2*gamma^2*(n-m)/(m*n^2)*S_3u",
        _a_8_mean,
        constants={"two": 2},
        form=forms.controlled_mean,
    ),
    on_runs(
        "lemma-4.1-20",
        "proof of Lemma 4.1, eq. (A.8), last line",
        "E||du||^2 <= 2*T_2u + 4*gamma^2*(n-m)/(m*n^2)*S_3u + 18*K*gamma^2*sigma_u^2/m",
        _a_8,
        constants={"mean_": 2, "sampling": 4, "noisy": 18},
        form=forms.controlled,
    ),
    on_runs(
        "lemma-4.1-21",
        "proof of Lemma 4.1, eq. (A.4) still holds",
        "E||dv_i||^2 <= (2*gamma^2*m/n)*E||sum_k grad_v f_i(u_ik, v_ik)||^2 + 2*K*gamma^2*sigma_v^2*m/n",
        lambda draw, two, noisy: a_4(_run(draw), two, noisy),
        constants={"two": 2, "noisy": 2},
        form=forms.personal_square,
    ),
    scalar(
        "lemma-4.1-22",
        "proof of Lemma 4.1, last line",
        "the bounds in eq. (A.1) give eq. (4.2)",
        s.T_1u + s.T_1v + L * DU + L * DV,
        _lemma_4_1,
        below(DU, A_8),
        below(DV, 2 * T_2v + 2 * K * sv * gamma**2 * m / n),
    ),
    gram(
        "lemma-4.1-23",
        "proof of Lemma 4.1, eq. (A.8), second inequality in one piece, not printed",
        "E||Y + C + D||^2 <= 9*m*K*sigma_u^2",
        _together.left,
        _together.right,
        *_together.hypotheses,
        conditions=_together.conditions,
        remark="From the lines that lead to it by way of eq. (A.7), with its equalities as they hold.",
    ),
)

FOUR_THREE: tuple[Step, ...] = (
    on_runs(
        "lemma-4.3-2",
        "proof of Lemma 4.3, first display, second equality",
        "E||u_{i,k+1} - u^t||^2 = E||u_ik - gamma_u*(grad_u f_i(u_ik, v_ik) - c_i + c) - u^t||^2 + sigma_u^2*gamma_u^2",
        _one_local_step,
        "==",
        repaired=drawn(_one_local_step, form=forms.local_step),
        repair="<= in place of =, as in the proof of Lemma 3.5: sigma_u^2 bounds the variance",
        remark="The hat of u_ik on the right is not printed.",
    ),
    scalar(
        "lemma-4.3-3",
        "proof of Lemma 4.3, first display, first inequality",
        "K - 1 > 0",
        K - 1,
        0,
        operator=">",
        repaired=Scalar(left=K - 1, operator=">", right=sp.Integer(0), hypotheses=(_two_steps,)),
        repair="K >= 2; for K = 1 the drift is 0, which the proof of Lemma 3.5 says and this one does not",
        remark="1/(K-1) divides by it.",
    ),
    gram(
        "lemma-4.3-4",
        "proof of Lemma 4.3, first display, first inequality",
        "||u_ik - gamma_u*g - u^t||^2 <= (1 + 1/(K-1))*||u_ik - u^t||^2 + K*gamma_u^2*||g||^2 with"
        " g = grad_u f_i(u_ik, v_ik) - c_i + c",
        square(x - gamma_u * (a - c_i + c)),
        (1 + 1 / (K - 1)) * square(x) + K * gamma_u**2 * square(a - c_i + c),
        conditions=(_two_steps,),
    ),
    gram(
        "lemma-4.3-5",
        "proof of Lemma 4.3, first display, second inequality",
        "||grad_u f_i(u_ik, v_ik) - c_i + c||^2 <= 6*(||grad_u f_i(u_ik, v_ik) - grad_u f_i||^2"
        " + ||grad_u f_i - d_i||^2 + ||grad_u f - d||^2 + ||grad_u f||^2 + ||c_i - d_i||^2 + ||c - d||^2)",
        square(a - c_i + c),
        6 * sum(map(square, _six)),
    ),
    on_runs(
        "lemma-4.3-6",
        "proof of Lemma 4.3, second display, first line",
        "E||c_i - d_i||^2 = (1/K^2)*sum_k E||hat W_ik||^2",
        _own_errors_mean,
        "==",
        form=lambda: one_more(1 / K**2),
    ),
    on_runs(
        "lemma-4.3-7",
        "proof of Lemma 4.3, second display, first line",
        "E||c_i - d_i||^2 <= sigma_u^2/K",
        _own_errors_bound,
        form=forms.own_variate,
    ),
    on_runs(
        "lemma-4.3-8",
        "proof of Lemma 4.3, second display, second line",
        "E||c - d||^2 = 1/(n^2*K^2)*sum_ik E||hat W_ik||^2",
        _all_errors_mean,
        "==",
        form=lambda: one_more(1 / (n * K) ** 2),
    ),
    on_runs(
        "lemma-4.3-9",
        "proof of Lemma 4.3, second display, second line",
        "E||c - d||^2 <= sigma_u^2/(n*K)",
        _all_errors_bound,
        form=forms.mean_variate,
    ),
    on_runs(
        "lemma-4.3-10",
        "proof of Lemma 4.3, third display, by Assumption 2.1",
        "E||grad_u f_i - d_i||^2 <= (2*L^2/K)*sum_k C_ik",
        _own_staleness,
        constants={"two": 2},
        form=forms.stale_own,
    ),
    on_runs(
        "lemma-4.3-11",
        "proof of Lemma 4.3, third display, by Assumption 2.1",
        "E||grad_u f - d||^2 <= 2*L^2/(n*K)*C",
        _mean_staleness,
        constants={"two": 2},
        form=forms.stale_mean,
    ),
    scalar(
        "lemma-4.3-12",
        "proof of Lemma 4.3, third display",
        "E||u_{i,k+1} - u^t||^2 <= (1 + 1/(K-1) + 12*L^2*K*gamma_u^2)*E||u_ik - u^t||^2"
        " + 12*L^2*K*gamma_u^2*E||v_ik - v_i^t||^2 + 12*L^2*gamma_u^2*sum_k C_ik + 12*L^2*gamma_u^2/n*C"
        " + 6*K*gamma_u^2*G_u + 13*sigma_u^2*gamma_u^2",
        (1 + 1 / (K - 1)) * U
        + 6 * K * gamma_u**2 * (2 * L**2 * (U + V) + 2 * L**2 / K * C_i + 2 * L**2 / (n * K) * s.C + s.G_u)
        + 6 * K * gamma_u**2 * (su / K + su / (n * K))
        + su * gamma_u**2,
        _u_step,
        _two_steps,
        remark="U = E||u_ik - u^t||^2, V = E||v_ik - v_i^t||^2, C_i the sum of C_ik over k.",
    ),
    gram(
        "lemma-4.3-13",
        "proof of Lemma 4.3, fourth display",
        "||v_{i,k+1} - v_i^t||^2 <= (1 + 1/(K-1) + 4*L^2*K*gamma_v^2)*||v_ik - v_i^t||^2"
        " + 4*L^2*K*gamma_v^2*||u_ik - u_i^t||^2 + 2*K*gamma_v^2*||grad_v f_i(u^t, v_i^t)||^2",
        PERSONAL[0].left,
        PERSONAL[0].right,
        *PERSONAL[0].hypotheses,
        conditions=PERSONAL[0].conditions,
        repaired=PERSONAL[1],
        repair="u^t in place of u_i^t, as in the proof of Lemma 3.5",
        remark="Without the noise. x = u_ik - u^t, w = u_ik - u_i^t, y = v_ik - v_i^t.",
    ),
    scalar(
        "lemma-4.3-14",
        "proof of Lemma 4.3, eq. (A.9)",
        "E_{i,k+1} <= (1 + 1/(K-1) + 12*L^2*K*(gamma_u^2 + gamma_v^2))*E_ik + 12*L^2*gamma_u^2*sum_k C_ik"
        " + 12*L^2*gamma_u^2/n*C + 6*K*gamma_u^2*G_u + 2*K*gamma_v^2*||grad_v f_i||^2 + 13*sigma_u^2*gamma_u^2"
        " + sigma_v^2*gamma_v^2",
        _u_step + _v_step,
        (1 + 1 / (K - 1) + 12 * L**2 * K * (gamma_u**2 + gamma_v**2)) * (U + V)
        + 12 * L**2 * gamma_u**2 * C_i
        + 12 * L**2 * gamma_u**2 / n * s.C
        + 6 * K * gamma_u**2 * s.G_u
        + 2 * K * gamma_v**2 * gv
        + 13 * su * gamma_u**2
        + sv * gamma_v**2,
        _two_steps,
        remark="The expectation of the squared personal gradient is not printed.",
    ),
    scalar(
        "lemma-4.3-15",
        "proof of Lemma 4.3, after eq. (A.9)",
        "12*L^2*K*(gamma_u^2 + gamma_v^2) <= 1/(K-1)",
        12 * L**2 * K * (gamma_u**2 + gamma_v**2),
        1 / (K - 1),
        _local_cap,
        _two_steps,
    ),
    scalar(
        "lemma-4.3-16",
        "proof of Lemma 4.3, display after eq. (A.9), first inequality",
        "E_ik <= a*sum_{r<k} (1 + 2/(K-1))^r: if it holds for k, then for k + 1",
        q * E_ik + base,
        base * (q * S + 1),
        below(E_ik, base * S),
        remark="S is the sum up to k - 1, q = 1 + 2/(K-1), base the part of eq. (A.9) without E_ik. One of the two"
        " texts of the paper has the upper limit K - 1 for k - 1.",
    ),
    on_runs(
        "lemma-4.3-17",
        "proof of Lemma 4.3, under the display after eq. (A.9)",
        "sum_{r=0}^{K-1} (1 + 2/(K-1))^r <= (K-1)/2*(1 + 2/(K-1))^(K-1)",
        _geometric,
        kind=StepKind.STANDARD,
        constants={"rate": 2, "half": Fraction(1, 2), "terms": 0},
        repaired=drawn(_geometric, kind=StepKind.STANDARD, rate=2, half=Fraction(1, 2), terms=-1),
        repair="the sum up to K - 2: k - 1 is at most K - 2, so that the sums in use are not longer",
    ),
    on_runs(
        "lemma-4.3-18",
        "proof of Lemma 4.3, display after eq. (A.9), second inequality",
        "sum_{r=0}^{k-1} (1 + 2/(K-1))^r <= 4*K for k < K",
        _at_most_four,
        kind=StepKind.STANDARD,
        constants={"rate": 2, "four": 4},
    ),
    Step(
        id="pfl/lemma-4.3-19",
        location="proof of Lemma 4.3, display after eq. (A.9), second inequality",
        claim="E_ik <= 48*L^2*K*gamma_u^2*(sum_k C_ik + C/n) + 24*K^2*gamma_u^2*G_u + 8*K^2*gamma_v^2*||grad_v f_i||"
        " + 52*K*(sigma_u^2*gamma_u^2 + sigma_v^2*gamma_v^2)",
        of="pfl/lemma-4.3",
        check=_times_four(1),
        repaired=_times_four(2),
        repair="the square of the norm of the personal gradient",
        remark="S is the sum of powers, w the norm of the personal gradient.",
    ),
    identity(
        "lemma-4.3-20",
        "proof of Lemma 4.3, last display",
        "the sum over i and k is the lemma",
        K * (48 * L**2 * K * gamma_u**2 * (s.C + n * s.C / n) + n * 24 * K**2 * gamma_u**2 * s.G_u)
        + K * (8 * K**2 * gamma_v**2 * n * s.G_v + n * 52 * K * _noise),
        96 * L**2 * K**2 * gamma_u**2 * s.C
        + 24 * n * K**3 * gamma_u**2 * s.G_u
        + 8 * n * K**3 * gamma_v**2 * s.G_v
        + 52 * n * K**2 * _noise,
    ),
)

STEPS: tuple[Step, ...] = (*FOUR_ONE, *FOUR_THREE)
