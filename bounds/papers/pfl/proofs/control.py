"""Proofs of Lemmas 4.1 and 4.3: what the control variates change (Appendix A)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction

import sympy as sp

from bounds import symbols as s
from bounds.ledger.draw import Draw, NoisyRational, Rational, expect_square, mean, noise, subsets
from bounds.ledger.families import one_more
from bounds.ledger.proof import Proof, at_most, drawn, gram, same
from bounds.ledger.step import Scalar, Step, StepKind, above, below
from bounds.ledger.vectors import square, vectors
from bounds.papers.pfl.proofs import forms
from bounds.papers.pfl.proofs.appendix import a_4, inner_u, inner_v, personal_moves
from bounds.papers.pfl.proofs.lemmas import PERSONAL
from bounds.papers.pfl.proofs.runs import Histories, LocalRound, QuadraticClients, average, small_run

n, m, K, L, gamma, gamma_u, gamma_v = s.n, s.m, s.K, s.L, s.gamma, s.gamma_u, s.gamma_v
su, sv = s.sigma_u**2, s.sigma_v**2
Gap = tuple[Fraction, Fraction]
Pairs = Iterable[Gap]
ZERO = Fraction(0)
# A quantity of a round and the clients that take part in it.
OfSample = Callable[[LocalRound, tuple[int, ...] | range], Fraction]


def _run(draw: Draw) -> Histories:
    return small_run(draw, scaffold=True)


# --- Exact instances: proof of Lemma 4.1 ---------------------------------------------------------------------------


def _variates(draw: Draw, *, last: bool) -> Pairs:
    """E||c_i^t less its formula||^2 and 0; with ``last`` the samples are of the last round with client i."""
    law = small_run(draw, scaffold=True, rounds=3, local_steps=(1, 2))
    p = law.p
    for one in law.rounds(2):
        for i, client in enumerate(p.clients):
            terms = [
                client.grad_u(*one.memory[i][k])
                + (one.old_noise(i, k) if last else noise((one.t - 1, i, k, "u"), p.noise_u))
                for k in range(p.K)
            ]
            yield expect_square(one.c[i] - average(terms)), ZERO


def _mean_variate(draw: Draw) -> Pairs:
    law = small_run(draw, scaffold=True, rounds=3, local_steps=(1, 2))
    return [(expect_square(one.c_mean - average(list(one.c))), ZERO) for one in law.rounds(2)]


def _moves(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    for one in law.rounds(law.last):
        for after in one.next:
            taking = [i for i in range(p.n) if after.seen[i] == one.t]
            total = NoisyRational()
            for i, k in itertools.product(taking, range(p.K)):
                total = total + one.walks[i][k][2] - one.c[i] + one.c_mean
            yield expect_square(after.u - one.u + p.gamma / p.m * total), ZERO


def _over_samples(law: Histories, quantity: OfSample) -> Fraction:
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


def _own_errors(one: LocalRound, sample: tuple[int, ...] | range) -> NoisyRational:
    """sum_ik 1_i*(c_i^t - d_i^t)."""
    return sum((one.problem.K * (one.c[i] - one.d[i]) for i in sample), NoisyRational())


def _mean_error(one: LocalRound, sample: tuple[int, ...] | range) -> NoisyRational:
    """sum_ik 1_i*(c^t - d^t)."""
    return len(sample) * one.problem.K * (one.c_mean - average(list(one.d)))


def _small(draw: Draw) -> Histories:
    return small_run(draw, scaffold=True, local_steps=(1, 2))


def _in_mean(left: OfSample, right: OfSample, run: Callable[[Draw], Histories] = _run) -> Callable[[Draw], Gap]:
    """Both quantities in expectation over the histories and the sample."""

    def sides(draw: Draw) -> Gap:
        law = run(draw)
        return _over_samples(law, left), _over_samples(law, right)

    return sides


def _squared_sum(one: LocalRound, taking: tuple[int, ...] | range) -> Fraction:
    """E||sum_ik W_ik||^2 of the clients named."""
    return expect_square(sum(_errors(one, taking), NoisyRational()))


def _sum_of_squares(one: LocalRound, taking: tuple[int, ...] | range) -> Fraction:
    """sum_ik E||W_ik||^2 of the clients named."""
    return expect_square(_errors(one, taking))


def _of_all(quantity: OfSample) -> OfSample:
    """m/n times the quantity of all clients."""
    return lambda one, _: quantity(one, range(one.problem.n)) * one.problem.m / one.problem.n


def _variance(one: LocalRound, _: tuple[int, ...] | range) -> Fraction:
    return one.problem.m * one.problem.K * one.problem.sigma_u**2


def _own_square(one: LocalRound, sample: tuple[int, ...] | range) -> Fraction:
    return expect_square(_own_errors(one, sample))


def _one_error(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    for one in law.rounds(law.last):
        for i, k in itertools.product(range(p.n), range(p.K)):
            there = mean(int(i in sample) for sample in subsets(p.n, p.m))
            yield there * expect_square(one.old_noise(i, k)), p.sigma_u**2 * p.m / p.n


def _new_errors(one: LocalRound, sample: tuple[int, ...] | range) -> NoisyRational:
    """sum_ik 1_i*Y_ik."""
    pairs = itertools.product(sample, range(one.problem.K))
    return sum((one.walks[i][k][2] - one.grad_u[i][k] for i, k in pairs), NoisyRational())


def _known(one: LocalRound, sample: tuple[int, ...] | range) -> NoisyRational:
    """sum_ik 1_i*(grad_u f_i(u_ik, v_ik) - d_i + d)."""
    middle = average(list(one.d))
    return sum((one.sums[i] - one.problem.K * (one.d[i] - middle) for i in sample), NoisyRational())


def _a_8_first(draw: Draw, two: Rational) -> Gap:
    law = _run(draw)
    p = law.p

    def split(one: LocalRound, sample: tuple[int, ...] | range) -> Fraction:
        errors = _new_errors(one, sample) + _own_errors(one, sample) + _mean_error(one, sample)
        return expect_square(_known(one, sample)) + expect_square(errors)

    right = two * p.gamma**2 / p.m**2 * _over_samples(law, split)
    return law.mean(law.last, LocalRound.move_u), right


def _a_8_mean(draw: Draw, two: Rational) -> Gap:
    law = _run(draw)
    p, t = law.p, law.last

    left = _over_samples(law, lambda one, sample: expect_square(p.gamma / p.m * _known(one, sample)))
    share = two * p.gamma**2 * (p.n - p.m) / (p.m * p.n**2)
    return left, law.mean(t, LocalRound.T_2u) + share * law.mean(t, LocalRound.S_3u)


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
    for one in law.rounds(law.last):
        for i, k in itertools.product(range(p.n), range(p.K)):
            u, left = one.walks[i][k][0], expect_square(one.walks[i][k + 1][0] - one.u)
            direction = one.grad_u[i][k] - one.c[i] + one.c_mean
            right = expect_square(u - p.steps[0] * direction - one.u) + p.sigma_u**2 * p.steps[0] ** 2
            yield left, right


def _of_clients(sides: Callable[..., Gap]) -> Callable[..., Pairs]:
    """Both sides of a claim about client i, for every client and history."""

    def found(draw: Draw, **constants: Rational) -> Pairs:
        law = _run(draw)
        return [sides(one, i, **constants) for one in law.rounds(law.last) for i in range(law.p.n)]

    return found


def _of_rounds(sides: Callable[..., Gap]) -> Callable[..., Pairs]:
    """Both sides of a claim about all clients, for every history."""

    def found(draw: Draw, **constants: Rational) -> Pairs:
        law = _run(draw)
        return [sides(one, law.p, **constants) for one in law.rounds(law.last)]

    return found


def _own_variate(one: LocalRound, i: int) -> Fraction:
    """E||c_i - d_i||^2."""
    return expect_square(one.c[i] - one.d[i])


def _mean_variates(one: LocalRound) -> Fraction:
    """E||c - d||^2."""
    return expect_square(one.c_mean - average(list(one.d)))


def _own_staleness(one: LocalRound, i: int, two: Rational) -> Gap:
    p = one.problem
    return expect_square(one.start_u[i] - one.d[i]), two * p.L**2 * mean(one.stale(i, k) for k in range(p.K))


def _mean_staleness(one: LocalRound, p: QuadraticClients, two: Rational) -> Gap:
    return expect_square(one.full - average(list(one.d))), two * p.L**2 * one.C() / (p.n * p.K)


def _geometric(draw: Draw, rate: Rational, half: Rational, terms: Rational) -> Gap:
    """The sum of K + terms powers of q = 1 + rate/(K - 1), and half*(K - 1)*q^(K - 1)."""
    steps = draw.whole(2, 40)
    q = 1 + Fraction(rate) / (steps - 1)
    return sum((q**j for j in range(steps + int(terms))), ZERO), half * (steps - 1) * q ** (steps - 1)


def _at_most_four(draw: Draw, rate: Rational, four: Rational) -> Gap:
    steps = draw.whole(2, 40)
    q = 1 + Fraction(rate) / (steps - 1)
    return sum((q**j for j in range(draw.whole(0, steps - 1))), ZERO), Fraction(four) * steps


_SAMPLED_MEAN = _in_mean(lambda one, sample: expect_square(_mean_error(one, sample)), _of_all(_squared_sum))

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
    return at_most(_added * S, right + 8 * K**2 * gamma_v**2 * w**power + 52 * K * _noise, below(S, 4 * K))


_of_lemma_4_1 = Proof("pfl/lemma-4.1", "proof of Lemma 4.1", first=2)
_of_lemma_4_3 = Proof("pfl/lemma-4.3", "proof of Lemma 4.3", first=2)

FOUR_ONE: tuple[Step, ...] = (
    _of_lemma_4_1(
        "first display",
        "c_i^t = (1/K)*sum_k grad_u F(alpha_ik^{t-1}, beta_ik^{t-1}, xi_ik^{t-1})",
        drawn(lambda draw: _variates(draw, last=False), "=="),
        repaired=drawn(lambda draw: _variates(draw, last=True), "=="),
        repair="the samples are those of the last round before t in which client i took part, as alpha and beta are",
        remark="Line 10 of Algorithm 4.1 changes c_i only where i takes part. The martingale property of W and its hat"
        " then holds given the samples of clients, with their last rounds as times.",
    ),
    _of_lemma_4_1(
        "first display",
        "c^t = (1/n)*sum_i c_i^t",
        drawn(_mean_variate, "==", form=forms.mean_of_variates),
    ),
    _of_lemma_4_1(
        "second display",
        "u^{t+1} - u^t = -(gamma/m)*sum_ik 1_i*(grad_u F(u_ik, v_ik, xi_ik) - c_i + c)",
        drawn(_moves, "==", form=forms.shared_move),
    ),
    _of_lemma_4_1(
        "second display",
        "v_i^{t+1} - v_i^t = -gamma*1_i*sum_k grad_v F(u_ik, v_ik, xi_ik)",
        drawn(lambda draw: personal_moves(_run(draw)), "==", form=forms.personal_move),
    ),
    _of_lemma_4_1(
        "third display",
        "E<grad_u f, du> = T_1u",
        drawn(lambda draw: inner_u(_run(draw)), "==", form=lambda: forms.inner_u(scaffold=True)),
    ),
    _of_lemma_4_1(
        "third display",
        "(1/n)*sum_i E<grad_v f_i, dv_i> = T_1v",
        drawn(lambda draw: inner_v(_run(draw)), "==", form=forms.inner_v),
    ),
    _of_lemma_4_1(
        "before eq. (A.7)",
        "E||W_ik||^2 <= sigma_u^2*m/n",
        drawn(_one_error, form=forms.one_error),
    ),
    _of_lemma_4_1(
        "eq. (A.7), first line, first equality",
        "E||sum_ik 1_i*(c_i - d_i)|| = E||sum_ik W_ik||^2",
        drawn(_in_mean(lambda one, sample: _size(_own_errors(one, sample)), _squared_sum, _small), "=="),
        repaired=drawn(_in_mean(_own_square, _squared_sum, _small), "==", form=forms.own_errors),
        repair="the square of the norm on the left, as used in eq. (A.8)",
        remark="The noises are fair signs. The square is missing in the second line too.",
    ),
    _of_lemma_4_1(
        "eq. (A.7), first line, second equality",
        "E||sum_ik W_ik||^2 = sum_ik E||W_ik||^2",
        drawn(_in_mean(_squared_sum, _sum_of_squares), "==", form=forms.errors_of_sample),
    ),
    _of_lemma_4_1(
        "eq. (A.7), first line, inequality",
        "sum_ik E||W_ik||^2 <= m*K*sigma_u^2",
        drawn(_in_mean(_sum_of_squares, _variance), form=forms.errors_bounded),
    ),
    _of_lemma_4_1(
        "eq. (A.7), second line, first equality",
        "E||sum_ik 1_i*(c - d)||^2 = E 1_i*E||sum_ik hat W_ik||^2",
        drawn(_SAMPLED_MEAN, "=="),
        repaired=drawn(_SAMPLED_MEAN, form=forms.errors_of_mean),
        repair="<= in place of =: the factor on the right is (m/n)^2, which is at most E 1_i = m/n",
        remark="With the missing square restored.",
    ),
    _of_lemma_4_1(
        "eq. (A.7), second line, second equality",
        "E 1_i*E||sum_ik hat W_ik||^2 = (m/n)*sum_ik E||hat W_ik||^2",
        drawn(_in_mean(_of_all(_squared_sum), _of_all(_sum_of_squares)), "==", form=lambda: one_more(m / n)),
    ),
    _of_lemma_4_1(
        "eq. (A.7), second line, inequality",
        "(m/n)*sum_ik E||hat W_ik||^2 <= m*K*sigma_u^2",
        drawn(_in_mean(_of_all(_sum_of_squares), _variance), form=forms.errors_bounded),
    ),
    _of_lemma_4_1(
        "eq. (A.8), first inequality",
        "E||du||^2 <= 2*E||(gamma/m)*P||^2 + (2*gamma^2/m^2)*E||Y + C + D||^2 with the sums P of"
        " 1_i*(grad_u f_i - d_i + d), Y of Y_ik, C of 1_i*(c_i - d_i) and D of 1_i*(c - d)",
        drawn(_a_8_first, form=forms.controlled_square, two=2),
        remark="By the mean inequality it would be Y - C + D. The line is true as printed: E<Y, C> = 0, and"
        " E<C, D> = m^2*K^2*E||c - d||^2 is not negative.",
    ),
    _of_lemma_4_1(
        "eq. (A.8), second inequality",
        "||Y + C + D||^2 <= 3*(||Y||^2 + ||C||^2 + ||D||^2)",
        gram(square(Y + C_ + D_), 3 * (square(Y) + square(C_) + square(D_))),
    ),
    _of_lemma_4_1(
        "eq. (A.8), second inequality",
        "E||sum_ik Y_ik||^2 <= m*K*sigma_u^2",
        drawn(
            _in_mean(lambda one, sample: expect_square(_new_errors(one, sample)), _variance), form=forms.errors_of_round
        ),
    ),
    _of_lemma_4_1(
        "eq. (A.8), second inequality",
        "(2*gamma^2/m^2)*3*(E||Y||^2 + E||C||^2 + E||D||^2) <= 18*K*gamma^2*sigma_u^2/m",
        at_most(
            6 * gamma**2 / m**2 * (Y2 + C2 + D2),
            18 * K * gamma**2 * su / m,
            *(below(each, m * K * su) for each in (Y2, C2, D2)),
        ),
    ),
    _of_lemma_4_1(
        "display after eq. (A.8)",
        "E||(gamma/m)*sum_ik 1_i*(grad_u f_i(u_ik, v_ik) - d_i + d)||^2 <= T_2u + 2*gamma^2*(n-m)/(m*n^2)*S_3u",
        drawn(_a_8_mean, form=forms.controlled_mean, two=2),
    ),
    _of_lemma_4_1(
        "eq. (A.8), last line",
        "E||du||^2 <= 2*T_2u + 4*gamma^2*(n-m)/(m*n^2)*S_3u + 18*K*gamma^2*sigma_u^2/m",
        drawn(_a_8, form=forms.controlled, mean_=2, sampling=4, noisy=18),
    ),
    _of_lemma_4_1(
        "eq. (A.4) still holds",
        "E||dv_i||^2 <= (2*gamma^2*m/n)*E||sum_k grad_v f_i(u_ik, v_ik)||^2 + 2*K*gamma^2*sigma_v^2*m/n",
        drawn(lambda draw, two, noisy: a_4(_run(draw), two, noisy), form=forms.personal_square, two=2, noisy=2),
    ),
    _of_lemma_4_1(
        "last line",
        "the bounds in eq. (A.1) give eq. (4.2)",
        at_most(
            s.T_1u + s.T_1v + L * DU + L * DV,
            _lemma_4_1,
            below(DU, A_8),
            below(DV, 2 * T_2v + 2 * K * sv * gamma**2 * m / n),
        ),
    ),
    _of_lemma_4_1(
        "eq. (A.8), second inequality in one piece, not printed",
        "E||Y + C + D||^2 <= 9*m*K*sigma_u^2",
        gram(_together.left, _together.right, *_together.hypotheses, where=_together.conditions),
        remark="From the lines that lead to it by way of eq. (A.7), with its equalities as they hold.",
    ),
)

FOUR_THREE: tuple[Step, ...] = (
    _of_lemma_4_3(
        "first display, second equality",
        "E||u_{i,k+1} - u^t||^2 = E||u_ik - gamma_u*(grad_u f_i(u_ik, v_ik) - c_i + c) - u^t||^2 + sigma_u^2*gamma_u^2",
        drawn(_one_local_step, "=="),
        repaired=drawn(_one_local_step, form=forms.local_step),
        repair="<= in place of =, as in the proof of Lemma 3.5: sigma_u^2 bounds the variance",
        remark="The hat of u_ik on the right is not printed.",
    ),
    _of_lemma_4_3(
        "first display, first inequality",
        "K - 1 > 0",
        at_most(K - 1, 0, operator=">"),
        repaired=at_most(K - 1, sp.Integer(0), _two_steps, operator=">"),
        repair="K >= 2; for K = 1 the drift is 0, which the proof of Lemma 3.5 says and this one does not",
        remark="1/(K-1) divides by it.",
    ),
    _of_lemma_4_3(
        "first display, first inequality",
        "||u_ik - gamma_u*g - u^t||^2 <= (1 + 1/(K-1))*||u_ik - u^t||^2 + K*gamma_u^2*||g||^2 with"
        " g = grad_u f_i(u_ik, v_ik) - c_i + c",
        gram(
            square(x - gamma_u * (a - c_i + c)),
            (1 + 1 / (K - 1)) * square(x) + K * gamma_u**2 * square(a - c_i + c),
            where=(_two_steps,),
        ),
    ),
    _of_lemma_4_3(
        "first display, second inequality",
        "||grad_u f_i(u_ik, v_ik) - c_i + c||^2 <= 6*(||grad_u f_i(u_ik, v_ik) - grad_u f_i||^2"
        " + ||grad_u f_i - d_i||^2 + ||grad_u f - d||^2 + ||grad_u f||^2 + ||c_i - d_i||^2 + ||c - d||^2)",
        gram(square(a - c_i + c), 6 * sum(map(square, _six))),
    ),
    _of_lemma_4_3(
        "second display, first line",
        "E||c_i - d_i||^2 = (1/K^2)*sum_k E||hat W_ik||^2",
        drawn(
            _of_clients(lambda one, i: (_own_variate(one, i), _sum_of_squares(one, (i,)) / one.problem.K**2)),
            "==",
            form=lambda: one_more(1 / K**2),
        ),
    ),
    _of_lemma_4_3(
        "second display, first line",
        "E||c_i - d_i||^2 <= sigma_u^2/K",
        drawn(
            _of_clients(lambda one, i: (_own_variate(one, i), one.problem.sigma_u**2 / one.problem.K)),
            form=forms.own_variate,
        ),
    ),
    _of_lemma_4_3(
        "second display, second line",
        "E||c - d||^2 = 1/(n^2*K^2)*sum_ik E||hat W_ik||^2",
        drawn(
            _of_rounds(lambda one, p: (_mean_variates(one), _sum_of_squares(one, range(p.n)) / (p.n * p.K) ** 2)),
            "==",
            form=lambda: one_more(1 / (n * K) ** 2),
        ),
    ),
    _of_lemma_4_3(
        "second display, second line",
        "E||c - d||^2 <= sigma_u^2/(n*K)",
        drawn(_of_rounds(lambda one, p: (_mean_variates(one), p.sigma_u**2 / (p.n * p.K))), form=forms.mean_variate),
    ),
    _of_lemma_4_3(
        "third display, by Assumption 2.1",
        "E||grad_u f_i - d_i||^2 <= (2*L^2/K)*sum_k C_ik",
        drawn(_of_clients(_own_staleness), form=forms.stale_own, two=2),
    ),
    _of_lemma_4_3(
        "third display, by Assumption 2.1",
        "E||grad_u f - d||^2 <= 2*L^2/(n*K)*C",
        drawn(_of_rounds(_mean_staleness), form=forms.stale_mean, two=2),
    ),
    _of_lemma_4_3(
        "third display",
        "E||u_{i,k+1} - u^t||^2 <= (1 + 1/(K-1) + 12*L^2*K*gamma_u^2)*E||u_ik - u^t||^2"
        " + 12*L^2*K*gamma_u^2*E||v_ik - v_i^t||^2 + 12*L^2*gamma_u^2*sum_k C_ik + 12*L^2*gamma_u^2/n*C"
        " + 6*K*gamma_u^2*G_u + 13*sigma_u^2*gamma_u^2",
        at_most(
            (1 + 1 / (K - 1)) * U
            + 6 * K * gamma_u**2 * (2 * L**2 * (U + V) + 2 * L**2 / K * C_i + 2 * L**2 / (n * K) * s.C + s.G_u)
            + 6 * K * gamma_u**2 * (su / K + su / (n * K))
            + su * gamma_u**2,
            _u_step,
            _two_steps,
        ),
        remark="U = E||u_ik - u^t||^2, V = E||v_ik - v_i^t||^2, C_i the sum of C_ik over k.",
    ),
    _of_lemma_4_3(
        "fourth display",
        "||v_{i,k+1} - v_i^t||^2 <= (1 + 1/(K-1) + 4*L^2*K*gamma_v^2)*||v_ik - v_i^t||^2"
        " + 4*L^2*K*gamma_v^2*||u_ik - u_i^t||^2 + 2*K*gamma_v^2*||grad_v f_i(u^t, v_i^t)||^2",
        gram(PERSONAL[0].left, PERSONAL[0].right, *PERSONAL[0].hypotheses, where=PERSONAL[0].conditions),
        repaired=PERSONAL[1],
        repair="u^t in place of u_i^t, as in the proof of Lemma 3.5",
        remark="Without the noise. x = u_ik - u^t, w = u_ik - u_i^t, y = v_ik - v_i^t.",
    ),
    _of_lemma_4_3(
        "eq. (A.9)",
        "E_{i,k+1} <= (1 + 1/(K-1) + 12*L^2*K*(gamma_u^2 + gamma_v^2))*E_ik + 12*L^2*gamma_u^2*sum_k C_ik"
        " + 12*L^2*gamma_u^2/n*C + 6*K*gamma_u^2*G_u + 2*K*gamma_v^2*||grad_v f_i||^2 + 13*sigma_u^2*gamma_u^2"
        " + sigma_v^2*gamma_v^2",
        at_most(
            _u_step + _v_step,
            (1 + 1 / (K - 1) + 12 * L**2 * K * (gamma_u**2 + gamma_v**2)) * (U + V)
            + 12 * L**2 * gamma_u**2 * C_i
            + 12 * L**2 * gamma_u**2 / n * s.C
            + 6 * K * gamma_u**2 * s.G_u
            + 2 * K * gamma_v**2 * gv
            + 13 * su * gamma_u**2
            + sv * gamma_v**2,
            _two_steps,
        ),
        remark="The expectation of the squared personal gradient is not printed.",
    ),
    _of_lemma_4_3(
        "after eq. (A.9)",
        "12*L^2*K*(gamma_u^2 + gamma_v^2) <= 1/(K-1)",
        at_most(12 * L**2 * K * (gamma_u**2 + gamma_v**2), 1 / (K - 1), _local_cap, _two_steps),
    ),
    _of_lemma_4_3(
        "display after eq. (A.9), first inequality",
        "E_ik <= a*sum_{r<k} (1 + 2/(K-1))^r: if it holds for k, then for k + 1",
        at_most(q * E_ik + base, base * (q * S + 1), below(E_ik, base * S)),
        remark="S is the sum up to k - 1, q = 1 + 2/(K-1), base the part of eq. (A.9) without E_ik. One of the two"
        " texts of the paper has the upper limit K - 1 for k - 1.",
    ),
    _of_lemma_4_3(
        "under the display after eq. (A.9)",
        "sum_{r=0}^{K-1} (1 + 2/(K-1))^r <= (K-1)/2*(1 + 2/(K-1))^(K-1)",
        drawn(_geometric, kind=StepKind.STANDARD, rate=2, half=Fraction(1, 2), terms=0),
        repaired=drawn(_geometric, kind=StepKind.STANDARD, rate=2, half=Fraction(1, 2), terms=-1),
        repair="the sum up to K - 2: k - 1 is at most K - 2, so that the sums in use are not longer",
    ),
    _of_lemma_4_3(
        "display after eq. (A.9), second inequality",
        "sum_{r=0}^{k-1} (1 + 2/(K-1))^r <= 4*K for k < K",
        drawn(_at_most_four, kind=StepKind.STANDARD, rate=2, four=4),
    ),
    _of_lemma_4_3(
        "display after eq. (A.9), second inequality",
        "E_ik <= 48*L^2*K*gamma_u^2*(sum_k C_ik + C/n) + 24*K^2*gamma_u^2*G_u + 8*K^2*gamma_v^2*||grad_v f_i||"
        " + 52*K*(sigma_u^2*gamma_u^2 + sigma_v^2*gamma_v^2)",
        _times_four(1),
        repaired=_times_four(2),
        repair="the square of the norm of the personal gradient",
        remark="S is the sum of powers, w the norm of the personal gradient.",
    ),
    _of_lemma_4_3(
        "last display",
        "the sum over i and k is the lemma",
        same(
            K * (48 * L**2 * K * gamma_u**2 * (s.C + n * s.C / n) + n * 24 * K**2 * gamma_u**2 * s.G_u)
            + K * (8 * K**2 * gamma_v**2 * n * s.G_v + n * 52 * K * _noise),
            96 * L**2 * K**2 * gamma_u**2 * s.C
            + 24 * n * K**3 * gamma_u**2 * s.G_u
            + 8 * n * K**3 * gamma_v**2 * s.G_v
            + 52 * n * K**2 * _noise,
        ),
    ),
)

STEPS: tuple[Step, ...] = (*FOUR_ONE, *FOUR_THREE)
