"""Appendix D.3, Lemma 9, eq. (23) to (28): the second moments of the sampled directions."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, NoisyRational, expect, expect_square, mean
from bounds.ledger.families import squares, total
from bounds.ledger.proof import Proof, at_most, gram, nonnegative, positives, reals, same
from bounds.ledger.step import StepKind, above, below
from bounds.ledger.vectors import square, vectors
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs import forms
from bounds.papers.simfbo.proofs.form import Pairs, drawn, weighted
from bounds.papers.simfbo.proofs.rounds import ZEROS, BilevelClient, BilevelRound, V, X, Y, drawn_round

_step = Proof("simfbo/lemma-9")
n, P, L_1, beta = s.n, s.P, s.L_1, s.beta_max
_SIZES = (below(P, n), above(n, sp.Integer(2)))
_S = formulas.SAMPLING
_squares, _total = nonnegative("squares total2")
_products = reals("products")
_w, _w1, _w2, _r_max, _L_R = positives("w w_1 w_2 r_max L_R")
_u, _g, _one, _two, _three, _dy, _dv, _drift, _Gdv, _Fdy, _noise_f, _noise_g = vectors(
    "u g D1 D2 D3 y_gap v_gap drift G_dv F_dy noise_f noise_g"
)
_noise, _mean2, _moved, _gap_y, _left, _size, _squared = nonnegative(
    "noise mean_x2 drift_f_sq gap_y sampled2 client2 sum_w2_h2"
)
_sigma_gh2 = s.sigma_gh**2


def _noise_of(run: BilevelRound, i: int, variable: int) -> NoisyRational:
    return run.h(i, variable) - run.h_mean(i, variable)


def _noise_part(run: BilevelRound, variable: int) -> Fraction:
    """E||sum_C w~ (h - h~)||^2."""
    return mean(
        expect_square(run.sampled(chosen, variable) - run.sampled_mean(chosen, variable)) for chosen in run.samples
    )


def _mean_part(run: BilevelRound, variable: int) -> Fraction:
    """E||sum_C w~ h~||^2."""
    return mean(expect_square(run.sampled_mean(chosen, variable)) for chosen in run.samples)


def _split(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    for variable in (X, Y, V):
        yield run.sampled_square(variable), factor * (_noise_part(run, variable) + _mean_part(run, variable))


def _repaired_split(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    for variable in (X, Y, V):
        moved = sum(
            (w**2 * expect_square(run.h_mean(i, variable) - run.at_start(i, variable)) for i, w in enumerate(run.w)),
            Fraction(0),
        )
        right = factor * _noise_part(run, variable) + _mean_part(run, variable) + Fraction(run.n, run.P) * moved
        yield run.sampled_square(variable), right


def _independent_noises(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    each = [(Fraction(run.n, run.P) * w) ** 2 * expect_square(_noise_of(run, i, X)) for i, w in enumerate(run.w)]
    yield _noise_part(run, X), factor * mean(sum(each[i] for i in chosen) for chosen in run.samples)


def _inclusion(draw: Draw, exponent: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    sizes = [w**2 * expect_square(_noise_of(run, i, X)) for i, w in enumerate(run.w)]
    factor = Fraction(run.n, run.P)
    yield mean(factor**2 * sum(sizes[i] for i in chosen) for chosen in run.samples), factor**exponent * sum(sizes)


def _client_noise(draw: Draw, exponent: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    for i in range(run.n):
        yield (expect_square(_noise_of(run, i, X)), sum(share**exponent for share in run.shares(i)) * run.sigma[X] ** 2)


def _decomposition(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    middle = run.mean_direction(X)
    apart = mean(expect_square(run.sampled_mean(chosen, X) - middle) for chosen in run.samples)
    yield _mean_part(run, X), apart + factor * expect_square(middle)


def _expanded(draw: Draw, one: int, *, tilde: bool) -> Pairs:
    run = drawn_round(draw, noisy=True)
    middle = run.mean_direction(X)
    apart = mean(expect_square(run.sampled_mean(chosen, X) - middle) for chosen in run.samples)
    h = [run.h_mean(i, X) if tilde else run.h(i, X) for i in range(run.n)]
    factor = [
        [Fraction(run.n, run.P) * w * (i in chosen) - one * w for i, w in enumerate(run.w)] for chosen in run.samples
    ]
    yield (
        apart,
        sum(mean(row[i] * row[j] for row in factor) * expect(h[i], h[j]) for i in range(run.n) for j in range(run.n)),
    )


def _expanded_printed(draw: Draw, one: int) -> Pairs:
    yield from _expanded(draw, one, tilde=False)


def _expanded_repaired(draw: Draw, one: int) -> Pairs:
    yield from _expanded(draw, one, tilde=True)


def _variance(draw: Draw, one: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    for variable in (X, Y, V):
        squares = sum(w**2 * expect_square(run.h_mean(i, variable)) for i, w in enumerate(run.w))
        middle = expect_square(run.mean_direction(variable))
        yield (
            _mean_part(run, variable),
            Fraction(run.n * (run.P - one), run.P * (run.n - 1)) * middle + run.n * run.sampling * squares,
        )


def _amplified(draw: Draw) -> BilevelRound:
    """All clients, two large steps on concave f_i = -L_1*x^2/2 with noise in x alone, at the largest eta_x allowed."""
    zero, L = Fraction(0), draw.positive()
    steps = (draw.positive(40),) * 2
    client = BilevelClient(L, zero, zero, -L, zero, zero, draw.rational(), zero, steps=steps)
    # The cap of (39): the square of eta_x is at most 1/(2 tau_bar c_a alpha_max L_1^2).
    eta = 1 / (2 * L * (math.isqrt(math.ceil(2 * steps[0])) + 1))
    start = (draw.rational(), zero, zero)
    count = draw.whole(2, 3)
    return BilevelRound(
        clients=(client,) * count,
        w=(Fraction(1, count),) * count,
        P=count,
        start=start,
        eta=(eta, eta, eta),
        sigma=(draw.positive(), zero, zero),
    )


def _lopsided(draw: Draw) -> BilevelRound:
    """One local step, one sampled of up to six clients with equal g_i, one of which may have nearly all weight."""
    run = drawn_round(draw, clients=6)
    m, heavy = draw.positive(12), draw.rational(Fraction(1, 100), Fraction(99, 100))
    light = (1 - heavy) / (run.n - 1)
    clients = tuple(
        replace(client, m=m, a=Fraction(0), b=Fraction(0), steps=client.steps[:1]) for client in run.clients
    )
    return replace(run, clients=clients, w=(heavy, *(light,) * (run.n - 1)), P=1, start=(*run.start[:2], Fraction(0)))


def _noise_term(run: BilevelRound) -> Fraction:
    """(2n/P) sum_i w_i^2 |a_i|_2^2/|a_i|_1^2 sigma_f^2."""
    return Fraction(2 * run.n, run.P) * run.noise_weight * (run.sigma[X] ** 2 + run.sigma[V] ** 2)


def _claim_x(draw: Draw, noises: int, moved: int) -> Pairs:
    run = _amplified(draw) if draw.whole(0, 1) else drawn_round(draw, noisy=True)
    yield (
        run.sampled_square(X),
        noises * _noise_term(run)
        + Fraction(run.n * (run.P - 1), run.P * (run.n - 1)) * expect_square(run.mean_direction(X))
        + (2 * run.n * run.sampling + moved * Fraction(run.n, run.P)) * run.drift_f(2)
        + 4 * run.sampling * run.beta_max * run.size2,
    )


def _claim_y(draw: Draw, exponent: int) -> Pairs:
    run = _lopsided(draw)
    error = 2 * run.sampling * run.beta_max * run.L_1**exponent + 3 * run.L_1**2
    spread = Fraction(run.n, run.P) * run.drift_g(2)
    yield (
        run.sampled_square(Y),
        (2 * run.n * run.sampling * run.drift_g(2) + 3 * run.drift_g() + spread + error * run.gap_y),
    )


def _claim_v(draw: Draw, error_of_y: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    at = run.origin[X]
    if draw.whole(0, 1):
        one = tuple(replace(client, steps=client.steps[:1]) for client in run.clients)
        run = replace(run, clients=one, P=run.n, sigma=ZEROS, start=(*run.start[:2], run.v_star(at).constant))
    yield (
        run.sampled_square(V),
        2 * _noise_term(run)
        + 4 * run.sampling * run.beta_max * run.size2
        + (2 * run.n * run.sampling + Fraction(run.n, run.P)) * run.drift_f(2)
        + 3 * run.drift_f()
        + 3 * run.L_1**2 * run.gap_v
        + error_of_y * 2 * run.L_1**2 * run.gap_y,
    )


(_changes,) = weighted("dg")
_COEFFICIENT = n * (P - 1) / (P * (n - 1))

STEPS = (
    _step(
        "Lemma 9, eq. (23), second equality",
        "E||sum_C w~ (h - h~ + h~)||^2 = E||sum_C w~ (h - h~)||^2 + E||sum_C w~ h~||^2",
        drawn(_split, "==", factor=1),
        repaired=drawn(_repaired_split, form=forms.split, factor=2),
        repair='"<=" with the noise twice and (n/P) sum_i w_i^2 E||h~_i - grad_i||^2: h~_i follows the noisy path, '
        "only the gradient at the server's point is independent of it.",
    ),
    _step(
        "Lemma 9, eq. (23), (a)",
        "E||sum_C w~_i (h_i - h~_i)||^2 = E sum_{i in C} w~_i^2 ||h_i - h~_i||^2",
        drawn(_independent_noises, "==", form=forms.sampled_noises, factor=1),
        remark="By independence across clients; sampling without replacement, which is named, has no part in it.",
    ),
    _step(
        "Lemma 9, eq. (23), (b)",
        "E sum_{i in C} w~_i^2 ||h_i - h~_i||^2 = (n/P) sum_i w_i^2 E||h_i - h~_i||^2",
        drawn(_inclusion, "==", form=forms.inclusion, exponent=1),
    ),
    _step(
        "Lemma 9, eq. (23), (c), over the local steps",
        "E||h_i - h~_i||^2 = sum_k (a_k/|a|_1)^2 E||noise_k||^2",
        drawn(_client_noise, "==", form=forms.local_noises, exponent=2),
    ),
    _step(
        "Lemma 9, eq. (23), (c), one sample",
        "E||noise of the surrogate gradient||^2 <= 2(sigma_f^2 + r_i^2 sigma_gg^2)",
        forms.one_noise(),
        remark="noise_g is the noise of the second derivatives times v; r_i = ||v_i^k|| is random, E r_i^2 is meant.",
    ),
    _step(
        "Lemma 9, eq. (24), (a)",
        "E||sum_C w~ h~||^2 = E||sum_C w~ h~ - sum_i w_i h~_i||^2 + E||sum_i w_i h~_i||^2",
        drawn(_decomposition, "==", form=forms.around_mean, factor=1),
    ),
    _step(
        "Lemma 9, eq. (24), third equality",
        "E||sum_i (1(i in C) w~_i - w_i) h~_i||^2 = the sum of the squares and products with h_i",
        drawn(_expanded_printed, "==", one=1),
        repaired=drawn(_expanded_repaired, "==", one=1),
        repair="With h~_i; the tilde is lost in print, in the squares up to the fifth and in the products to the end.",
    ),
    _step(
        "Lemma 9, eq. (24), fourth equality, squares",
        "E[1(i in C) w~_i^2 + w_i^2 - 2 1(i in C) w~_i w_i] = w_i^2 (n/P - 1)",
        same(P / n * (n / P * _w) ** 2 + _w**2 - 2 * P / n * (n / P) * _w * _w, _w**2 * (n / P - 1)),
    ),
    _step(
        "Lemma 9, eq. (24), fifth equality, products",
        "E[1(i, j in C) w~_i w~_j - ...] = w_i w_j ((n/P)(P - 1)/(n - 1) - 1)",
        same(
            P * (P - 1) / (n * (n - 1)) * (n / P) ** 2 * _w1 * _w2 - _w1 * _w2,
            _w1 * _w2 * (n / P * (P - 1) / (n - 1) - 1),
        ),
        remark="P(i, j in C) = P(P-1)/(n(n-1)); n >= 2 is not printed.",
    ),
    _step(
        "Lemma 9, eq. (24), sixth equality",
        "||S||^2 + (n/P - 1) squares + ((n/P)(P-1)/(n-1) - 1) products = (n/P)(P-1)/(n-1) ||S||^2 + (n/P)(n-P)/(n-1) "
        "squares",
        same(
            _squares + _products + (n / P - 1) * _squares + (n / P * (P - 1) / (n - 1) - 1) * _products,
            _COEFFICIENT * (_squares + _products) + n / P * (n - P) / (n - 1) * _squares,
        ),
        remark="squares = sum_i w_i^2 ||h~_i||^2, products the rest of ||S||^2, S = sum_i w_i h~_i.",
    ),
    _step(
        "Lemma 9, eq. (24)",
        "E||sum_C w~ h~||^2 = n(P-1)/(P(n-1)) E||sum_i w_i h~_i||^2 + n(n-P)/(P(n-1)) sum_i w_i^2 E||h~_i||^2",
        drawn(_variance, "==", form=forms.sampled_variance, one=1),
    ),
    _step(
        "Lemma 9, eq. (25), (a)",
        "w_i^2 ||h~_i||^2 <= 2 w_i^2 ||h~_i - grad||^2 + 2 (beta_max/n) w_i ||grad||^2",
        gram(
            _w**2 * square(_u + _g),
            2 * _w**2 * square(_u) + 2 * beta / n * _w * square(_g),
            where=(below(_w, beta / n),),
        ),
        remark="grad is the surrogate gradient of f_i, whose index is lost in print.",
    ),
    _step(
        "Lemma 9, eq. (25), (b), second part",
        "2 (beta_max/n) sum_i w_i ||grad_i||^2 <= 4 (beta_max/n)(r_max^2 L_1^2 + L_f^2)",
        at_most(
            2 * beta / n * _size,
            4 * beta / n * (_r_max**2 * L_1**2 + s.L_f**2),
            below(_size, 2 * _r_max**2 * L_1**2 + 2 * s.L_f**2),
        ),
        remark="client2 = sum_i w_i ||grad_i||^2, by Lemma 5; the first part is Jensen's inequality.",
    ),
    _step(
        "Lemma 9, below (25), first claim",
        "(23), (24) and (25) put together",
        at_most(
            _noise + _COEFFICIENT * _mean2 + n * _S * _squared,
            _noise + _COEFFICIENT * _mean2 + 2 * n * _S * _moved + 4 * _S * beta * (_r_max**2 * L_1**2 + s.L_f**2),
            below(_squared, 2 * _moved + 4 * beta / n * (_r_max**2 * L_1**2 + s.L_f**2)),
            *_SIZES,
        ),
    ),
    _step(
        "Lemma 9, first claim",
        "E||sum_C w~ h_x||^2 <= (2n/P) sum_i w_i^2 |a_i|_2^2/|a_i|_1^2 (sigma_f^2 + r_i^2 sigma_gg^2) "
        "+ n(P-1)/(P(n-1)) mean_x2 + 2n(n-P)/(P(n-1)) drift_f_sq + 4(n-P) beta_max/(P(n-1)) (r_max^2 L_1^2 + L_f^2)",
        drawn(_claim_x, kind=StepKind.END_TO_END, noises=1, moved=0),
        repaired=drawn(_claim_x, kind=StepKind.END_TO_END, noises=2, moved=1),
        repair="With the noise twice and (n/P) drift_f_sq, what (23) loses.",
        remark="Fails for P = n and two local steps on concave f_i at the largest eta_x of (39), where a_i^k is large: "
        "noise of the first step comes back in the second.",
    ),
    _step(
        "Lemma 9, eq. (26), the error of y",
        "2(n-P) beta_max/(P(n-1)) sum_i w_i ||grad_y g_i||^2 <= 2(n-P) beta_max/(P(n-1)) "
        "(sigma_gh^2 + beta_gh^2 gap_y)",
        at_most(
            2 * _S * beta * _size,
            2 * _S * beta * (_sigma_gh2 + s.beta_gh**2 * _gap_y),
            below(_size, s.beta_gh**2 * L_1**2 * _gap_y + _sigma_gh2),
            below(sp.Integer(1), s.beta_gh),
            *_SIZES,
        ),
        repaired=at_most(
            2 * _S * beta * _size,
            2 * _S * beta * (_sigma_gh2 + s.beta_gh**2 * L_1**2 * _gap_y),
            below(_size, s.beta_gh**2 * L_1**2 * _gap_y + _sigma_gh2),
            below(sp.Integer(1), s.beta_gh),
            *_SIZES,
        ),
        repair="beta_gh^2*L_1^2, as in Lemma 5.",
        remark="client2 = sum_i w_i ||grad_y g_i||^2.",
    ),
    _step(
        "Lemma 9, eq. (27), first inequality",
        "||sum_i w_i h~_y,i||^2 <= 3||.||^2 + 3||.||^2 + 3||.||^2",
        gram(square(_one + _two + _three), 3 * square(_one) + 3 * square(_two) + 3 * square(_three)),
        remark="The first of the three is 0, by (a).",
    ),
    _step(
        "Lemma 9, eq. (27), (b), first term",
        "3||sum_i w_i (grad_y g_i(x,y) - grad_y g_i(x,y*))||^2 <= 3 L_1^2 ||y - y*||^2",
        gram(
            3 * square(total(_changes)),
            3 * L_1**2 * square(_dy),
            below(squares(_changes), L_1**2 * square(_dy), "grad_y g_i is smooth"),
        ),
        remark="sum_i w_i = 1.",
    ),
    _step(
        "Lemma 9, second claim, (27) into (26)",
        "n(P-1)/(P(n-1)) E||sum_i w_i h~_y,i||^2 <= 3 L_1^2 gap_y + 3 drift_g",
        at_most(
            _COEFFICIENT * _total,
            3 * L_1**2 * _gap_y + 3 * _left,
            below(_total, 3 * L_1**2 * _gap_y + 3 * _left),
            *_SIZES,
        ),
        remark="sampled2 stands for drift_g. The coefficient is at most 1.",
    ),
    _step(
        "Lemma 9, second claim",
        "E||sum_C w~ h_y||^2 <= (n/P) noise sigma_g^2 + 2(n-P) beta_max/(P(n-1)) sigma_gh^2 + drifts "
        "+ (2(n-P) beta_max beta_gh^2/(P(n-1)) + 3 L_1^2) gap_y",
        drawn(_claim_y, kind=StepKind.END_TO_END, count=200, exponent=0),
        repaired=drawn(_claim_y, kind=StepKind.END_TO_END, count=200, exponent=2),
        repair="beta_gh^2*L_1^2.",
        remark="Without noise, equal g_i, for which beta_gh = 1 and sigma_gh = 0, and nothing of x in them; with the "
        "(n/P) drift_g_sq of the repaired (23).",
    ),
    _step(
        "Lemma 9, eq. (28), the mean direction of v",
        "||sum_i w_i h~_v,i||^2 <= 3 drift_R + 3 L_1^2 ||v - v*||^2",
        gram(
            square(_drift + _Gdv - _Fdy),
            3 * square(_drift) + 3 * L_1**2 * square(_dv),
            below(square(_Gdv), L_1**2 * square(_dv)),
            below(square(_Fdy), L_1**2 * square(_dy), "Assumption 2"),
        ),
        repaired=gram(
            square(_drift + _Gdv - _Fdy),
            3 * square(_drift) + 3 * L_1**2 * square(_dv) + 3 * _L_R**2 * square(_dy),
            below(square(_Gdv), L_1**2 * square(_dv)),
            below(square(_Fdy), _L_R**2 * square(_dy)),
            where=(above(_L_R**2, 2 * L_1**2),),
        ),
        repair="With 3*L_R^2*gap_y.",
        remark='"Similarly": grad_v R_i(x, y, v) is compared with the one at (y*, v*), where the weighted mean is 0; '
        "it depends on y too. F_dy is the change in y at v*: false even for G_yy the same at every y, where it is "
        "that of grad_y f_i alone; the repaired form has the bound of Lemma 3.",
    ),
    _step(
        "Lemma 9, third claim, eq. (28)",
        "E||sum_C w~ h_v||^2 <= noise + 4(n-P) beta_max/(P(n-1)) (r_max^2 L_1^2 + L_f^2) + drifts + 3 L_1^2 gap_v",
        drawn(_claim_v, kind=StepKind.END_TO_END, error_of_y=0),
        repaired=drawn(_claim_v, kind=StepKind.END_TO_END, error_of_y=3),
        repair="With 3*L_R^2*gap_y.",
        remark="Quadratic f_i and g_i, for which L_R^2 = 2*L_1^2; with the noise twice and the (n/P) drift_f_sq of the "
        "repaired (23), so that only the error of y is at issue.",
    ),
)
