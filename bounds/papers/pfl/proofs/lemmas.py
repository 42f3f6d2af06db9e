"""Lemmas 3.1 to 3.6 where the text states and proves them (Section 3.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds import symbols as s
from bounds.ledger.draw import Draw, Rational, expect_square, plus
from bounds.ledger.draw import square as norm
from bounds.ledger.families import deviation, squares, total
from bounds.ledger.proof import Proof, at_most, drawn, gram, same
from bounds.ledger.step import Gram, Step, StepKind, above, below
from bounds.ledger.vectors import dot, square, vectors
from bounds.ledger.written import at
from bounds.papers.pfl.proofs import forms
from bounds.papers.pfl.proofs.runs import Histories, LocalRound, complete, local, small_run
from bounds.papers.pfl.proofs.terms import D, D_v, smooth

n, m, K, L, gamma, gamma_u, gamma_v = s.n, s.m, s.K, s.L, s.gamma, s.gamma_u, s.gamma_v
G_u, G_v, E, B, b, sigma_u, sigma_v = s.G_u, s.G_v, s.E, s.B, s.b, s.sigma_u, s.sigma_v


# --- Exact instances -----------------------------------------------------------------------------------------------


def round_change(law: Histories, variance: Fraction, **bound: Rational) -> tuple[Fraction, Fraction]:
    """Both sides of Lemma 3.1 (``variance`` is T_3u) or Lemma 4.1 (S_3u) in the last round."""
    p, t = law.p, law.last
    change = law.mean(t + 1, LocalRound.value) - law.mean(t, LocalRound.value)
    right = law.mean(t, LocalRound.T_1u) + law.mean(t, LocalRound.T_1v)
    right += bound["second"] * p.L * (law.mean(t, LocalRound.T_2u) + law.mean(t, LocalRound.T_2v))
    right += bound["sampling"] * p.L * p.gamma**2 * (p.n - p.m) / (p.m * p.n**2) * variance
    right += bound["shared"] * p.L * p.K * p.sigma_u**2 * p.gamma**2 / p.m
    return change, right + bound["personal"] * p.L * p.K * p.sigma_v**2 * p.gamma**2 * p.m / p.n


def _lemma_3_1(draw: Draw, **bound: Rational) -> tuple[Fraction, Fraction]:
    law = small_run(draw)
    return round_change(law, law.mean(law.last, LocalRound.T_3u), **bound)


def _first(law: Histories, gradient: Rational, drift: Rational, *, personal: bool) -> tuple[Fraction, Fraction]:
    """Lemma 3.2 for T_1u or T_1v."""
    p, t, share = law.p, law.last, law.p.gamma * law.p.m / law.p.n if personal else law.p.gamma
    left, G = (LocalRound.T_1v, LocalRound.G_v) if personal else (LocalRound.T_1u, LocalRound.G_u)
    right = -gradient * p.K * law.mean(t, G) + drift * p.L**2 / p.n * law.mean(t, LocalRound.E)
    return law.mean(t, left), share * right


def _second(law: Histories, gradient: Rational, drift: Rational, *, personal: bool) -> tuple[Fraction, Fraction]:
    """Lemma 3.3 for T_2u or T_2v."""
    p, t, share = law.p, law.last, Fraction(law.p.m, law.p.n) if personal else 1
    left, G = (LocalRound.T_2v, LocalRound.G_v) if personal else (LocalRound.T_2u, LocalRound.G_u)
    right = gradient * p.K**2 * law.mean(t, G) + drift * p.L**2 * p.K / p.n * law.mean(t, LocalRound.E)
    return law.mean(t, left), p.gamma**2 * share * right


_TERMS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "lemma-3.2": (
        _first,
        {"gradient": Fraction(1, 2), "drift": 1},
        {
            "T_1u <= -K*gamma/2*G_u + L^2*gamma/n*E": forms.first_u,
            "T_1v <= -K*gamma*m/(2*n)*G_v + L^2*gamma*m/n^2*E": forms.first_v,
        },
    ),
    "lemma-3.3": (
        _second,
        {"gradient": 2, "drift": 4},
        {
            "T_2u <= 2*K^2*gamma^2*G_u + 4*L^2*K*gamma^2/n*E": forms.second_u,
            "T_2v <= 2*K^2*gamma^2*m/n*G_v + 4*L^2*K*gamma^2*m/n^2*E": forms.second_v,
        },
    ),
}


def on_terms(
    lemma: str, number: int, run: Callable[[Draw], Histories], *where: str, kind: StepKind = StepKind.EXPECTATION
) -> Iterator[Step]:
    """Both claims of Lemma 3.2 or 3.3, of u and of v, as steps from that number on."""
    proof = Proof(f"pfl/{lemma}", first=number)
    sides, constants, claims = _TERMS[lemma]
    for personal, (claim, form) in enumerate(claims.items()):

        def of_run(draw: Draw, personal: bool = bool(personal), **given: Rational) -> Any:
            return sides(run(draw), **given, personal=personal)

        yield proof(where[personal], claim, drawn(of_run, kind=kind, form=form, **constants))


def _no_variance(draw: Draw) -> tuple[Fraction, Fraction]:
    law = small_run(draw, full=True)
    return law.mean(law.last, LocalRound.T_3u), Fraction(0)


def _lemma_3_4(draw: Draw, dissimilarity: Rational, drift: Rational) -> tuple[Fraction, Fraction]:
    law = small_run(draw, alike=True)
    p, t = law.p, law.last
    right = dissimilarity * p.n * p.K**2 * p.spread + drift * p.L**2 * p.K * law.mean(t, LocalRound.E)
    return law.mean(t, LocalRound.T_3u), right


def _one_step(draw: Draw) -> tuple[Fraction, Fraction]:
    law = small_run(draw, local_steps=(1, 1))
    return law.mean(law.last, LocalRound.E), Fraction(0)


def _one_local_step(draw: Draw) -> Iterable[tuple[Fraction, Fraction]]:
    law = small_run(draw)
    p = law.p
    for one in law.rounds(law.last):
        for walk, grads in zip(one.walks, one.grad_u, strict=True):
            for k, grad in enumerate(grads):
                left = expect_square(walk[k + 1][0] - one.u)
                mean_step = expect_square(walk[k][0] - p.steps[0] * grad - one.u)
                yield left, mean_step + p.sigma_u**2 * p.steps[0] ** 2


def _lemma_3_5(draw: Draw, shared: Rational, personal: Rational, noise: Rational) -> tuple[Fraction, Fraction]:
    law = small_run(draw, local(4))
    p, t = law.p, law.last
    g_u, g_v = p.steps[0] ** 2, p.steps[1] ** 2
    right = shared * p.K**2 * (p.K - 1) * g_u * law.mean(t, LocalRound.B)
    right += personal * p.n * p.K**3 * g_v * law.mean(t, LocalRound.G_v)
    return law.mean(t, LocalRound.E), right + noise * p.n * p.K**2 * (p.sigma_u**2 * g_u + p.sigma_v**2 * g_v)


def _lemma_3_6(draw: Draw) -> tuple[Fraction, Fraction]:
    law = small_run(draw, alike=True)
    t = law.last
    return law.mean(t, LocalRound.B), law.p.n * (law.mean(t, LocalRound.G_u) + law.p.spread)


def recursion(draw: Draw, factor: Rational, gradients: Rational, noise: Rational) -> tuple[Fraction, Fraction]:
    """The second part of Lemma 3.6, between rounds 0 and 1 and between rounds 1 and 2 of three."""
    law = small_run(draw, complete(8), full=True, rounds=draw.whole(2, 3))
    p = law.p
    t = draw.whole(1, p.T - 1)
    right = (1 + Fraction(factor) / (p.T - 1)) * law.mean(t - 1, LocalRound.B)
    right += gradients * p.n * p.T * (law.mean(t - 1, LocalRound.G_u) + law.mean(t - 1, LocalRound.G_v))
    return law.mean(t, LocalRound.B), right + Fraction(noise * p.n * p.T, p.K) * (p.sigma_u**2 / p.n + p.sigma_v**2)


def _jensen(draw: Draw) -> tuple[Fraction, Fraction]:
    terms = [draw.vector(2) for _ in range(draw.whole(1, 6))]
    return norm(plus(*terms)), len(terms) * sum(map(norm, terms), Fraction(0))


def growth(draw: Draw, rate: Rational) -> tuple[int, int, Fraction]:
    """K >= 2, k < K and the factor 1 + rate/(K - 1)."""
    steps = draw.whole(2, 40)
    return steps, draw.whole(0, steps - 1), 1 + Fraction(rate) / (steps - 1)


def _geometric(draw: Draw, rate: Rational, half: Rational) -> tuple[Fraction, Fraction]:
    steps, k, q = growth(draw, rate)
    return sum((q**j for j in range(k)), Fraction(0)), half * (steps - 1) * q**k


def _longest(draw: Draw, rate: Rational) -> tuple[Fraction, Fraction]:
    steps, k, q = growth(draw, rate)
    return q**k, q ** (steps - 1)


def _exponential(draw: Draw) -> tuple[sp.Expr, sp.Expr]:
    x = draw.rational(-3, 3)
    return sp.Rational(1 + x), sp.exp(sp.Rational(x))


def _below_eight(draw: Draw, rate: Rational, limit: Rational) -> tuple[Fraction, Fraction]:
    steps, _, q = growth(draw, rate)
    return Fraction(steps - 1, 2) * q ** (steps - 1), Fraction(limit * (steps - 1))


# --- Vectors -------------------------------------------------------------------------------------------------------

x, y, w, g, h, mid = vectors("x y w g h mid")
_local = smooth(g, mid, h, x, y)
_noise = sigma_u**2 * gamma_u**2 + sigma_v**2 * gamma_v**2
_more_than_one = above(K, 2)
_local_cap = below(4 * L**2 * K * (K - 1) * (gamma_u**2 + gamma_v**2), 1)
_growth = 1 + 1 / (K - 1) + 4 * L**2 * K * gamma_v**2
U, V, S, gu, gv, Eik, q, a_, X = sp.symbols("U V S g_u2 g_v2 E_ik q a X", nonnegative=True)
_right = 2 * K * gamma_u**2 * gu + sigma_u**2 * gamma_u**2 + 2 * K * gamma_v**2 * gv + sigma_v**2 * gamma_v**2


def _personal_drift(moved: sp.Expr) -> Gram:
    """The bound on ||v_{i,k+1} - v_i||^2 without noise; ``moved`` stands in place of ||u_ik - u^t||^2."""
    return gram(
        square(y - gamma_v * g),
        _growth * square(y) + 4 * L**2 * K * gamma_v**2 * moved + 2 * K * gamma_v**2 * square(h),
        *_local,
        where=(_more_than_one,),
    )


PERSONAL = _personal_drift(square(w)), _personal_drift(square(x))

_of_lemma_3_1 = Proof("pfl/lemma-3.1", "Lemma 3.1")
_of_lemma_3_2 = Proof("pfl/lemma-3.2", "proof of Lemma 3.2", first=3)
_of_lemma_3_3 = Proof("pfl/lemma-3.3", "proof of Lemma 3.3", first=3)
_of_lemma_3_4 = Proof("pfl/lemma-3.4")
_of_lemma_3_5 = Proof("pfl/lemma-3.5")
_of_lemma_3_6 = Proof("pfl/lemma-3.6")
_of_lemma_3_6_recursion = Proof("pfl/lemma-3.6-recursion")

STEPS: tuple[Step, ...] = (
    _of_lemma_3_1(
        "eq. (3.2)",
        "E f(u^{t+1}, v^{t+1}) - E f(u^t, v^t) <= T_1u + T_1v + 2*L*T_2u + 2*L*T_2v"
        " + 4*L*gamma^2*(n-m)/(m*n^2)*T_3u + 2*L*K*sigma_u^2*gamma^2/m + 2*L*K*sigma_v^2*gamma^2*m/n",
        drawn(_lemma_3_1, kind=StepKind.END_TO_END, second=2, sampling=4, shared=2, personal=2),
    ),
    _of_lemma_3_1(
        "remark after eq. (3.2)",
        "if m = n, the term containing T_3u vanishes",
        same(at(4 * L * gamma**2 * (n - m) / (m * n**2) * s.T_3u, {m: n}), 0),
    ),
    *on_terms("lemma-3.2", 1, small_run, "Lemma 3.2, first claim", "Lemma 3.2, second claim", kind=StepKind.END_TO_END),
    _of_lemma_3_2(
        "first display, second line",
        "T_1u = -K*gamma*||grad_u f||^2 - (gamma/n)*sum_ik <grad_u f, grad_u f_i(u_ik, v_ik) - grad_u f_i(u^t, v_i^t)>",
        same(forms.T_1u, forms.CHAIN),
    ),
    _of_lemma_3_2(
        "under the second display",
        "<a, b> <= ||a||^2/2 + ||b||^2/2",
        gram(dot(x, y), square(x) / 2 + square(y) / 2),
    ),
    _of_lemma_3_2(
        "second display, first inequality",
        "T_1u <= -K*gamma/2*||grad_u f||^2 + gamma/(2*n)*sum_ik ||grad_u f_i(u_ik, v_ik) - grad_u f_i(u^t, v_i^t)||^2",
        gram(forms.CHAIN, -K * gamma / 2 * forms.G_u + gamma / (2 * n) * squares(forms.GAP_U)),
    ),
    _of_lemma_3_2(
        "second display, second inequality",
        "||grad_u f_i(u_ik, v_ik) - grad_u f_i(u^t, v_i^t)||^2 <= 2*L^2*(||u_ik - u^t||^2 + ||v_ik - v_i^t||^2)",
        gram(square(g - h), 2 * L**2 * (square(x) + square(y)), *_local),
        remark="One summand; the display writes v^t for v_i^t, here as in the proof of Lemma 3.4. The gradient is h at"
        " (u^t, v_i^t), mid at (u^t, v_ik) and g at (u_ik, v_ik).",
    ),
    _of_lemma_3_2(
        "second display, second inequality",
        "T_1u <= -K*gamma/2*G_u + L^2*gamma/n*E",
        at_most(
            -K * gamma / 2 * G_u + gamma / (2 * n) * D,
            -K * gamma / 2 * G_u + L**2 * gamma / n * E,
            below(D, 2 * L**2 * E),
        ),
    ),
    _of_lemma_3_2(
        "the similar approach for T_1v",
        "-(gamma*m/n^2)*sum_k <grad_v f_i, grad_v f_i(u_ik, v_ik)> <= -(K*gamma*m/(2*n^2))*||grad_v f_i||^2"
        " + (gamma*m/(2*n^2))*sum_k ||grad_v f_i(u_ik, v_ik) - grad_v f_i||^2",
        gram(forms.T_1v, gamma * m / n**2 * (-K / 2 * squares(forms.start_v) + squares(forms.GAP_V) / 2)),
        remark="Added up over the clients.",
    ),
    _of_lemma_3_2(
        "the similar approach for T_1v",
        "T_1v <= -K*gamma*m/(2*n)*G_v + L^2*gamma*m/n^2*E",
        at_most(
            -K * gamma * m / (2 * n) * G_v + gamma * m / (2 * n**2) * D_v,
            -K * gamma * m / (2 * n) * G_v + L**2 * gamma * m / n**2 * E,
            below(D_v, 2 * L**2 * E),
        ),
    ),
    *on_terms("lemma-3.3", 1, small_run, "Lemma 3.3, first claim", "Lemma 3.3, second claim", kind=StepKind.END_TO_END),
    _of_lemma_3_3(
        "between the first and the second line",
        "||sum_ik (grad_u f_i(u_ik, v_ik) - grad_u f)||^2 = ||sum_ik (grad_u f_i(u_ik, v_ik) - grad_u f_i)||^2",
        same(square(total(forms.a) - n * K * forms.full), square(total(forms.GAP_U))),
    ),
    _of_lemma_3_3(
        "first inequality",
        "T_2u <= 2*K^2*gamma^2*||grad_u f||^2"
        " + (2*K*gamma^2/n)*sum_ik ||grad_u f_i(u_ik, v_ik) - grad_u f_i(u^t, v_i^t)||^2",
        gram(forms.T_2u, 2 * K**2 * gamma**2 * forms.G_u + 2 * K * gamma**2 / n * squares(forms.GAP_U)),
    ),
    _of_lemma_3_3(
        "second inequality",
        "T_2u <= 2*K^2*gamma^2*G_u + 4*L^2*K*gamma^2/n*E",
        at_most(
            2 * K**2 * gamma**2 * G_u + 2 * K * gamma**2 / n * D,
            2 * K**2 * gamma**2 * G_u + 4 * L**2 * K * gamma**2 / n * E,
            below(D, 2 * L**2 * E),
        ),
    ),
    _of_lemma_3_3(
        "T_2v in a similar manner",
        "||sum_k grad_v f_i(u_ik, v_ik)||^2 <= 2*K^2*||grad_v f_i||^2"
        " + 2*K*sum_k ||grad_v f_i(u_ik, v_ik) - grad_v f_i||^2",
        gram(squares(forms.Z), 2 * K**2 * squares(forms.start_v) + 2 * K * squares(forms.GAP_V)),
        remark="Added up over the clients.",
    ),
    _of_lemma_3_3(
        "T_2v in a similar manner",
        "T_2v <= 2*K^2*gamma^2*m/n*G_v + 4*L^2*K*gamma^2*m/n^2*E",
        at_most(
            gamma**2 * m / n**2 * (2 * K**2 * n * G_v + 2 * K * D_v),
            2 * K**2 * gamma**2 * m / n * G_v + 4 * L**2 * K * gamma**2 * m / n**2 * E,
            below(D_v, 2 * L**2 * E),
        ),
    ),
    _of_lemma_3_4(
        "text before Lemma 3.4, again in the proof of Theorem 3.11",
        "T_3u = 0 with full client participation",
        drawn(_no_variance, "=="),
        repaired=same(((n - m) * s.T_3u).subs(m, n), sp.Integer(0)),
        repair="what vanishes is its coefficient n - m",
        remark="Lemma 3.1, to which the text refers, says it of the term; nothing else is used.",
    ),
    _of_lemma_3_4(
        "Lemma 3.4",
        "T_3u <= 3*n*K^2*b^2 + 12*L^2*K*E",
        drawn(_lemma_3_4, kind=StepKind.END_TO_END, form=forms.variance, dissimilarity=3, drift=12),
    ),
    _of_lemma_3_4(
        "proof of Lemma 3.4, first inequality",
        "||sum_k (grad_u f_i(u_ik, v_ik) - mean_j)||^2 <= 3*||sum_k (grad_u f_i(u_ik, v_ik) - grad_u f_i)||^2"
        " + 3*||mean_j sum_k (grad_u f_j - grad_u f_j(u_jk, v_jk))||^2 + 3*||sum_k (grad_u f_i - grad_u f)||^2",
        gram(forms.T_3u, forms.THREE),
        remark="Added up over the clients.",
    ),
    _of_lemma_3_4(
        "proof of Lemma 3.4, second inequality",
        "the first two sums are at most 6*K*sum_ik ||grad_u f_i(u_ik, v_ik) - grad_u f_i(u^t, v_i^t)||^2",
        gram(forms.TWO_SUMS, 6 * K * squares(forms.GAP_U)),
    ),
    _of_lemma_3_4(
        "proof of Lemma 3.4, second inequality",
        "||sum_k x_k||^2 <= K*sum_k ||x_k||^2",
        drawn(_jensen, kind=StepKind.STANDARD),
    ),
    _of_lemma_3_4(
        "proof of Lemma 3.4, third inequality",
        "sum_i ||grad_u f_i - grad_u f||^2 = sum_i ||grad_u f_i||^2 - n*||grad_u f||^2",
        same(deviation(forms.start_u, forms.start_u), squares(forms.start_u) - n * forms.G_u),
        remark="With eq. (2.3) the right side is at most n*b^2.",
    ),
    _of_lemma_3_4(
        "proof of Lemma 3.4, third inequality",
        "T_3u <= 12*L^2*K*E + 3*n*K^2*b^2",
        at_most(
            6 * K * D + 3 * K**2 * (B - n * G_u),
            12 * L**2 * K * E + 3 * n * K**2 * b**2,
            below(D, 2 * L**2 * E),
            below(B, n * b**2 + n * G_u),
        ),
    ),
    _of_lemma_3_5(
        "Lemma 3.5",
        "E <= 8*K^2*(K-1)*gamma_u^2*B + 8*n*K^3*gamma_v^2*G_v + 4*n*K^2*(sigma_u^2*gamma_u^2 + sigma_v^2*gamma_v^2)",
        drawn(_lemma_3_5, kind=StepKind.END_TO_END, shared=8, personal=8, noise=4),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, K = 1",
        "E = 0 if K = 1",
        drawn(_one_step, "==", form=lambda: forms.no_drift("u_{i,0} = u^t", "v_{i,0} = v_i^t")),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, first display, first inequality",
        "E||u_{i,k+1} - u^t||^2 <= E||u_ik - gamma_u*grad_u f_i(u_ik, v_ik) - u^t||^2 + sigma_u^2*gamma_u^2",
        drawn(_one_local_step, form=forms.local_step),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, under the first display",
        "2*<a, b> <= kappa*||a||^2 + ||b||^2/kappa with kappa = K - 1",
        gram(2 * dot(x, y), (K - 1) * square(x) + square(y) / (K - 1), where=(_more_than_one,)),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, first display, second inequality",
        "||u_ik - gamma_u*g - u^t||^2 <= (1 + 1/(K-1))*||u_ik - u^t||^2 + K*gamma_u^2*||g||^2",
        gram(
            square(x - gamma_u * g), (1 + 1 / (K - 1)) * square(x) + K * gamma_u**2 * square(g), where=(_more_than_one,)
        ),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, first display, third inequality",
        "K*gamma_u^2*||grad_u f_i(u_ik, v_ik)||^2 <= 2*K*gamma_u^2*||grad_u f_i||^2"
        " + 2*K*gamma_u^2*||grad_u f_i(u_ik, v_ik) - grad_u f_i||^2",
        gram(K * gamma_u**2 * square(g), 2 * K * gamma_u**2 * (square(h) + square(g - h))),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, first display, fourth inequality",
        "2*K*gamma_u^2*||grad_u f_i(u_ik, v_ik) - grad_u f_i||^2"
        " <= 4*L^2*K*gamma_u^2*(||u_ik - u^t||^2 + ||v_ik - v_i^t||^2)",
        gram(2 * K * gamma_u**2 * square(g - h), 4 * L**2 * K * gamma_u**2 * (square(x) + square(y)), *_local),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, second display",
        "||v_{i,k+1} - v_i^t||^2 <= (1 + 1/(K-1) + 4*L^2*K*gamma_v^2)*||v_ik - v_i^t||^2"
        " + 4*L^2*K*gamma_v^2*||u_ik - u_i^t||^2 + 2*K*gamma_v^2*||grad_v f_i(u^t, v_i^t)||^2",
        gram(PERSONAL[0].left, PERSONAL[0].right, *PERSONAL[0].hypotheses, where=PERSONAL[0].conditions),
        repaired=PERSONAL[1],
        repair="u^t in place of u_i^t, which by line 9 of Algorithm 3.1 is a client's last local iterate",
        remark="Without the noise. x = u_ik - u^t, w = u_ik - u_i^t, y = v_ik - v_i^t.",
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, eq. (3.3)",
        "the two inequalities add up to E_{i,k+1} <= (1 + 1/(K-1) + 4*L^2*K*(gamma_u^2 + gamma_v^2))*E_ik"
        " + 2*K*gamma_u^2*||grad_u f_i||^2 + 2*K*gamma_v^2*||grad_v f_i||^2 + sigma_u^2*gamma_u^2"
        " + sigma_v^2*gamma_v^2",
        same(
            (1 + 1 / (K - 1) + 4 * L**2 * K * gamma_u**2) * U
            + 4 * L**2 * K * gamma_u**2 * V
            + _growth * V
            + 4 * L**2 * K * gamma_v**2 * U
            + _right,
            (1 + 1 / (K - 1) + 4 * L**2 * K * (gamma_u**2 + gamma_v**2)) * (U + V) + _right,
        ),
        remark="U = E||u_ik - u^t||^2, V = E||v_ik - v_i^t||^2; the right sides are equal.",
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, after eq. (3.3)",
        "4*L^2*K*(gamma_u^2 + gamma_v^2) <= 1/(K-1)",
        at_most(4 * L**2 * K * (gamma_u**2 + gamma_v**2), 1 / (K - 1), _local_cap, _more_than_one),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, third display, first inequality",
        "E_ik <= a*sum_{r<k} (1 + 2/(K-1))^r: if it holds for k, then for k + 1",
        at_most(q * Eik + a_, a_ * (q * S + 1), below(Eik, a_ * S)),
        remark="S is the sum up to k - 1, q = 1 + 2/(K-1), a the part of eq. (3.3) without E_ik.",
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, under the third display",
        "sum_{r=0}^{k-1} (1 + 2/(K-1))^r <= (K-1)/2*(1 + 2/(K-1))^k",
        drawn(_geometric, kind=StepKind.STANDARD, rate=2, half=Fraction(1, 2)),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, under the third display",
        "(1 + 2/(K-1))^k <= (1 + 2/(K-1))^(K-1)",
        drawn(_longest, kind=StepKind.STANDARD, rate=2),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, under the third display",
        "1 + x <= e^x",
        drawn(_exponential, kind=StepKind.STANDARD),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, third display, second inequality",
        "(K-1)/2*(1 + 2/(K-1))^(K-1) <= 4*(K-1)",
        drawn(_below_eight, kind=StepKind.STANDARD, rate=2, limit=4),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, third display, second inequality",
        "E_ik <= 8*K*(K-1)*(gamma_u^2*||grad_u f_i||^2 + gamma_v^2*||grad_v f_i||^2)"
        " + 4*K*(sigma_u^2*gamma_u^2 + sigma_v^2*gamma_v^2)",
        at_most(
            _right * S,
            8 * K * (K - 1) * (gamma_u**2 * gu + gamma_v**2 * gv) + 4 * K * _noise,
            below(S, 4 * (K - 1)),
            _more_than_one,
        ),
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, fourth display, first inequality",
        "E <= 8*K^2*(K-1)*sum_i (...) + 4*n*K^2*(sigma_u^2*gamma_u^2 + sigma_v^2*gamma_v^2)",
        same(K * (8 * K * (K - 1) * X + n * 4 * K * _noise), 8 * K**2 * (K - 1) * X + 4 * n * K**2 * _noise),
        remark="The sum over i and k; X is the sum over i.",
    ),
    _of_lemma_3_5(
        "proof of Lemma 3.5, last display, and the lemma",
        "8*n*K^2*(K-1)*gamma_v^2*G_v <= 8*n*K^3*gamma_v^2*G_v",
        at_most(8 * n * K**2 * (K - 1) * gamma_v**2 * G_v, 8 * n * K**3 * gamma_v**2 * G_v),
    ),
    _of_lemma_3_6(
        "Lemma 3.6, first claim",
        "B <= n*G_u + n*b^2",
        drawn(_lemma_3_6, kind=StepKind.END_TO_END, form=forms.gradients),
    ),
    _of_lemma_3_6_recursion(
        "Lemma 3.6, second claim",
        "B^t <= (1 + 2/(T-1))*B^{t-1} + 2*n*T*(G_u^{t-1} + G_v^{t-1}) + (2*n*T/K)*(sigma_u^2/n + sigma_v^2)",
        drawn(recursion, kind=StepKind.END_TO_END, factor=2, gradients=2, noise=2),
    ),
)
