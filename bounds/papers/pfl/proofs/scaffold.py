"""Scaffold-P: Lemmas 4.1 to 4.4 as stated, Theorem 4.5 and Corollary 4.6 (Section 4)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from bounds import symbols as s
from bounds.ledger.draw import Draw, Rational
from bounds.ledger.proof import Proof, at_most, drawn, gram, same
from bounds.ledger.step import Step, StepKind, above, below, equal
from bounds.ledger.vectors import square, vectors
from bounds.ledger.written import at
from bounds.papers.pfl.proofs import forms
from bounds.papers.pfl.proofs.lemmas import on_terms, round_change
from bounds.papers.pfl.proofs.runs import (
    Histories,
    LocalRound,
    local,
    root_above,
    scaffold,
    small_run,
    two_thirds_above,
)
from bounds.papers.pfl.proofs.terms import A, D, r, root, smooth
from bounds.papers.pfl.proofs.theorems import NOISE, noise, rational_root, with_steps

n, m, K, T, L, gamma, eta_u, eta_v = s.n, s.m, s.K, s.T, s.L, s.gamma, s.eta_u, s.eta_v
G_u, G_v, E, C, F_0 = s.G_u, s.G_v, s.E, s.C, s.F_0
su, sv = s.sigma_u**2, s.sigma_v**2
Gap = tuple[Fraction, Fraction]


# --- Exact instances -----------------------------------------------------------------------------------------------


def _run(draw: Draw) -> Histories:
    return small_run(draw, scaffold=True)


def _lemma_4_1(draw: Draw, **bound: Rational) -> Gap:
    law = _run(draw)
    return round_change(law, law.mean(law.last, LocalRound.S_3u), **bound)


def _lemma_4_2(draw: Draw, stale: Rational, drift: Rational) -> Gap:
    law = _run(draw)
    p, t = law.p, law.last
    right = p.L**2 * p.K * (stale * law.mean(t, LocalRound.C) + drift * law.mean(t, LocalRound.E))
    return law.mean(t, LocalRound.S_3u), right


def _lemma_4_3(draw: Draw, stale: Rational, shared: Rational, personal: Rational, noisy: Rational) -> Gap:
    law = small_run(draw, local(12), scaffold=True)
    p, t = law.p, law.last
    g_u, g_v = p.steps[0] ** 2, p.steps[1] ** 2
    right = stale * p.L**2 * p.K**2 * g_u * law.mean(t, LocalRound.C)
    right += p.n * p.K**3 * (shared * g_u * law.mean(t, LocalRound.G_u) + personal * g_v * law.mean(t, LocalRound.G_v))
    return law.mean(t, LocalRound.E), right + noisy * p.n * p.K**2 * (p.sigma_u**2 * g_u + p.sigma_v**2 * g_v)


def _lemma_4_4(draw: Draw, decay: Rational, gradients: Rational, noisy: Rational) -> tuple[sp.Expr, sp.Expr]:
    law = small_run(draw, scaffold, scaffold=True, rounds=3)
    p, t = law.p, draw.whole(1, 2)
    hatted = law.mean(t - 1, LocalRound.G_u) + Fraction(p.m, p.n) * law.mean(t - 1, LocalRound.G_v)
    right = sp.Rational((1 - Fraction(p.m, p.n) / decay) * law.mean(t - 1, LocalRound.C))
    right += sp.Integer(p.n) ** sp.Rational(2, 3) * sp.Rational(p.m * p.K * hatted / (gradients * p.L**2))
    return sp.Rational(law.mean(t, LocalRound.C)), right + sp.Rational(p.m**2 * noise(p) / (noisy * p.L**2))


def _theorem_4_5(draw: Draw, gap: Rational, noisy: Rational) -> Gap:
    law = small_run(draw, scaffold, scaffold=True, convex=True)
    p = law.p
    return law.metric(hat=True), gap * p.F_0 / (p.T * p.K * p.gamma) + noisy * noise(p) * p.L * p.gamma


def _rate(draw: Draw, slow: int, factor: int, rest: Rational, **kind: Any) -> Gap | None:
    given = small_run(draw, scaffold=True, convex=True, **kind).p
    if given.F_0 == 0:
        return None
    p, s_ = rational_root(given, factor, noise(given))
    # A power n^(2/3) that is rounded up in the step size has to be rounded up in the rate.
    power = max(Fraction(1), two_thirds_above(p.n) / p.m)
    gamma_ = 1 / (slow * p.L * p.K * power + s_)
    law = with_steps(p, gamma_, root_above(p.m), root_above(Fraction(p.n, p.m)))
    return law.metric(hat=True), 8 * s_ * p.F_0 / (p.K * p.T) + rest * p.L * p.F_0 / p.T * power


def _no_staleness(draw: Draw) -> Gap:
    return _run(draw).mean(0, LocalRound.C), Fraction(0)


def _sum_of_C(draw: Draw, decay: Rational) -> Gap:
    share = Fraction(draw.whole(1, 6), 6) / decay
    rounds = draw.whole(1, 12)
    added = draw.vector(rounds, 0, 3)
    C_t = [Fraction(0)]
    for t in range(1, rounds):
        C_t.append((1 - share) * C_t[-1] + added[t - 1])
    return share * sum(C_t, Fraction(0)), sum(added, Fraction(0))


# --- Expressions ---------------------------------------------------------------------------------------------------

x, y, g, h, mid = vectors("x y g h mid")
lkg = L * K * gamma
hat = m / n * G_v
D_alpha, sum_C, M_u, M_v, M_hat = sp.symbols("D_alpha sum_C M_u M_v M_hat", nonnegative=True)
f_now, f_next = sp.symbols("f_now f_next", real=True)
_fewer = below(m, n)
_cap = below(72 * lkg, 1)
_cap_m = below(72 * lkg * r**2, m)
_outer = (above(eta_u**2, m), above(eta_v**2, n / m))
_noise = 18 * L * K * su * gamma**2 / m + 2 * L * K * sv * gamma**2 * m / n
_slope_4 = (-K * gamma / 2 + 4 * L * K**2 * gamma**2) * (G_u + hat)
_lemmas = (
    (-K * gamma / 2 * G_u + L**2 * gamma / n * E)
    + (-K * gamma * m / (2 * n) * G_v + L**2 * gamma * m / n**2 * E)
    + 2 * L * (2 * K**2 * gamma**2 * G_u + 4 * L**2 * K * gamma**2 / n * E)
    + 2 * L * (2 * K**2 * gamma**2 * m / n * G_v + 4 * L**2 * K * gamma**2 * m / n**2 * E)
    + 4 * L * gamma**2 * (n - m) / (m * n**2) * (16 * L**2 * K * C + 16 * L**2 * K * E)
)
_drift_first = (
    L**2 * gamma / n + 72 * L**3 * K * gamma**2 / n + L**2 * gamma * m / n**2 + 8 * L**3 * K * gamma**2 * m / n**2
) * E
_stale = 64 * L**3 * K * gamma**2 / (m * n) * C
E_LEMMA = (
    96 * L**2 * K**2 * (gamma / eta_u) ** 2 * C
    + 24 * n * K**3 * (gamma / eta_u) ** 2 * G_u
    + 8 * n * K**3 * (gamma / eta_v) ** 2 * G_v
    + 52 * n * K**2 * (su * (gamma / eta_u) ** 2 + sv * (gamma / eta_v) ** 2)
)
E_SECOND = (
    96 * L**2 * K**2 * gamma**2 / eta_u**2 * C
    + 24 * n * K**3 * gamma**2 * (G_u / eta_u**2 + G_v / eta_v**2)
    + 52 * n * K**2 * gamma**2 * (su / eta_u**2 + sv / eta_v**2)
)
_E_third = 2 * L * K * gamma / m * C + n * K**2 * gamma / (2 * L) * (G_u + hat) + 3 * n * K * gamma / (4 * L) * NOISE
_together = (
    (-K * gamma / 2 + 6 * L * K**2 * gamma**2) * (G_u + hat)
    + 72 * L**3 * K * gamma**2 / (m * n) * C
    + 21 * L * K * su * gamma**2 / m
    + 21 * L * K * sv * gamma**2 * m / n
)
_half = sp.Rational(1, 2)
_gap = F_0 / (T * K * gamma)
_averaged = _gap + 21 * NOISE * L * gamma + 72 * L**3 * gamma / (m * n * T) * sum_C
_summed = below(
    (K * gamma / 2 - 6 * L * K**2 * gamma**2) * T * (M_u + m / n * M_v),
    F_0 + T * 21 * L * K * gamma**2 * NOISE + 72 * L**3 * K * gamma**2 / (m * n) * sum_C,
)
_NOISE = NOISE.subs(n, r**3)
_sum_bound = below(
    m / (4 * r**3) * sum_C, T * m * r**2 * K / (36 * L**2) * (M_u + m / r**3 * M_v) + m**2 * T / (18 * L**2) * _NOISE
)
_hatted = (_half - 6 * lkg) * (M_u + m / r**3 * M_v)
_combined = _half - 6 * lkg - 8 * lkg * r**2 / m
_root_4_6 = equal(root**2 * F_0, 37 * L * K * T * A)
_power = sp.Max(1, n ** sp.Rational(2, 3) / m)
_rate_4_6 = 8 * sp.sqrt(37 * L * F_0 / (K * T) * NOISE) + 288 * L * F_0 / T * _power
W, q = sp.symbols("W q", positive=True)
_step_4_6 = equal(gamma * (72 * L * K * W + root), 1)

_of_lemma_4_1 = Proof("pfl/lemma-4.1")
_of_lemma_4_2 = Proof("pfl/lemma-4.2")
_of_lemma_4_3 = Proof("pfl/lemma-4.3")
_of_lemma_4_4 = Proof("pfl/lemma-4.4")
_of_theorem_4_5 = Proof("pfl/theorem-4.5")
_of_corollary_4_6 = Proof("pfl/corollary-4.6")
_of_scaffold_explicit = Proof("pfl/scaffold-explicit")
_of_scaffold = Proof("pfl/scaffold")
_of_parallel_sgd_scaffold = Proof("pfl/parallel-sgd-scaffold", "Section 4.3.1")

STEPS: tuple[Step, ...] = (
    _of_lemma_4_1(
        "Lemma 4.1, eq. (4.2)",
        "E f(u^{t+1}, v^{t+1}) - E f(u^t, v^t) <= T_1u + T_1v + 2*L*T_2u + 2*L*T_2v"
        " + 4*L*gamma^2*(n-m)/(m*n^2)*S_3u + 18*L*K*sigma_u^2*gamma^2/m + 2*L*K*sigma_v^2*gamma^2*m/n",
        drawn(_lemma_4_1, kind=StepKind.END_TO_END, second=2, sampling=4, shared=18, personal=2),
    ),
    *on_terms("lemma-3.2", 10, _run, *2 * ["text before Lemma 4.2: Lemma 3.2 holds for Scaffold-P"]),
    *on_terms("lemma-3.3", 8, _run, *2 * ["text before Lemma 4.2: Lemma 3.3 holds for Scaffold-P"]),
    _of_lemma_4_2(
        "Lemma 4.2",
        "S_3u <= 16*L^2*K*C + 16*L^2*K*E",
        drawn(_lemma_4_2, kind=StepKind.END_TO_END, form=forms.stale_variance, stale=16, drift=16),
        remark="Printed with E before S_3u, which is an expectation already.",
    ),
    _of_lemma_4_2(
        "proof of Lemma 4.2, first inequality",
        "S_3u <= sum_i 2*||sum_k (grad_u f_i(u_ik, v_ik) - d_i)||^2 + (2/n)*||sum_ik (grad_u f_i(u_ik, v_ik) - d)||^2",
        gram(forms.STALE_LEFT, forms.STALE_HALVES),
    ),
    _of_lemma_4_2(
        "proof of Lemma 4.2, second inequality",
        "S_3u <= 4*K*sum_ik (2*||grad_u f_i(u^t, v_i^t) - grad_u f_i(alpha, beta)||^2"
        " + 2*||grad_u f_i(u_ik, v_ik) - grad_u f_i(u^t, v_i^t)||^2)",
        gram(forms.STALE_HALVES, forms.STALE_SPLIT),
        remark="One of the two texts of the paper has lost the second summand; v^t stands for v_i^t.",
    ),
    _of_lemma_4_2(
        "proof of Lemma 4.2, third inequality",
        "||grad_u f_i(u^t, v_i^t) - grad_u f_i(alpha, beta)||^2 <= 2*L^2*(||alpha - u^t||^2 + ||beta - v_i^t||^2)",
        gram(square(g - h), 2 * L**2 * (square(x) + square(y)), *smooth(g, mid, h, x, y)),
        remark="The gradient is h at (u^t, v_i^t) and g at (alpha, beta).",
    ),
    _of_lemma_4_2(
        "proof of Lemma 4.2, third inequality",
        "S_3u <= 16*L^2*K*sum_ik (||alpha - u^t||^2 + ||beta - v_i^t||^2 + ||u_ik - u^t||^2 + ||v_ik - v_i^t||^2)",
        at_most(
            4 * K * (2 * D_alpha + 2 * D),
            16 * L**2 * K * C + 16 * L**2 * K * E,
            below(D_alpha, 2 * L**2 * C),
            below(D, 2 * L**2 * E),
        ),
    ),
    _of_lemma_4_3(
        "Lemma 4.3",
        "E <= 96*L^2*K^2*gamma_u^2*C + 24*n*K^3*gamma_u^2*G_u + 8*n*K^3*gamma_v^2*G_v"
        " + 52*n*K^2*(sigma_u^2*gamma_u^2 + sigma_v^2*gamma_v^2)",
        drawn(_lemma_4_3, kind=StepKind.END_TO_END, stale=96, shared=24, personal=8, noisy=52),
    ),
    _of_lemma_4_4(
        "Lemma 4.4, eq. (4.3)",
        "C^t <= (1 - m/(4*n))*C^{t-1} + m*n^(2/3)*K/(36*L^2)*(G_u^{t-1} + hat G_v^{t-1})"
        " + m^2/(18*L^2)*(sigma_u^2/m + m*sigma_v^2/n)",
        drawn(_lemma_4_4, kind=StepKind.END_TO_END, decay=4, gradients=36, noisy=18),
    ),
    _of_theorem_4_5(
        "Theorem 4.5",
        "(1/T)*sum_t (G_u + hat G_v) <= 4*F_0/(T*K*gamma) + 148*(sigma_u^2/m + sigma_v^2*m/n)*L*gamma",
        drawn(_theorem_4_5, kind=StepKind.END_TO_END, gap=4, noisy=148),
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, eq. (4.4), first inequality",
        "Lemmas 3.2, 3.3 and 4.2 in Lemma 4.1 give (-K*gamma/2 + 4*L*K^2*gamma^2)*(G_u + hat G_v)"
        " + (L^2*gamma/n + 72*L^3*K*gamma^2/n + L^2*gamma*m/n^2 + 8*L^3*K*gamma^2*m/n^2)*E"
        " + 64*L^3*K*gamma^2/(m*n)*C + 18*L*K*sigma_u^2*gamma^2/m + 2*L*K*sigma_v^2*gamma^2*m/n",
        at_most(_lemmas + _noise, _slope_4 + _drift_first + _stale + _noise, _fewer),
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, eq. (4.4), second inequality",
        "(L^2*gamma/n + 72*L^3*K*gamma^2/n + L^2*gamma*m/n^2 + 8*L^3*K*gamma^2*m/n^2)*E <= 4*L^2*gamma/n*E",
        at_most(_drift_first, 4 * L**2 * gamma / n * E, _cap, _fewer),
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, use of Lemma 4.3",
        "12*L^2*K*(K-1)*(gamma_u^2 + gamma_v^2) <= 1",
        at_most(12 * L**2 * K * (K - 1) * ((gamma / eta_u) ** 2 + (gamma / eta_v) ** 2), 1, _cap, _fewer, *_outer),
        remark="Not printed: the condition of the lemma, which the steps of the theorem have to satisfy.",
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, bound on E, second inequality",
        "E <= 96*L^2*K^2*gamma^2/eta_u^2*C + 24*n*K^3*gamma^2*(G_u/eta_u^2 + G_v/eta_v^2)"
        " + 52*n*K^2*gamma^2*(sigma_u^2/eta_u^2 + sigma_v^2/eta_v^2)",
        at_most(E_LEMMA, E_SECOND),
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, bound on E, third inequality",
        "E <= 2*L*K*gamma/m*C + n*K^2*gamma/(2*L)*(G_u + hat G_v) + 3*n*K*gamma/(4*L)*(sigma_u^2/m + m*sigma_v^2/n)",
        at_most(E_SECOND, _E_third, _cap, *_outer),
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, together with eq. (4.4)",
        "E f(t+1) <= E f(t) + (-K*gamma/2 + 6*L*K^2*gamma^2)*(G_u + hat G_v) + 72*L^3*K*gamma^2/(m*n)*C"
        " + 21*L*K*sigma_u^2*gamma^2/m + 21*L*K*sigma_v^2*gamma^2*m/n",
        at_most(_slope_4 + 4 * L**2 * gamma / n * _E_third + _stale + _noise, _together),
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, the inequality rewritten",
        "(1/2 - 6*L*K*gamma)*(G_u + hat G_v) <= (E f(t) - E f(t+1))/(K*gamma)"
        " + 21*(sigma_u^2/m + m*sigma_v^2/n)*L*gamma + 72*L^3*gamma/(m*n)*C",
        at_most(
            (_half - 6 * lkg) * (G_u + hat),
            (f_now - f_next) / (K * gamma) + 21 * NOISE * L * gamma + 72 * L**3 * gamma / (m * n) * C,
            below(f_next, f_now + _together),
        ),
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, eq. (4.5)",
        "(1/2 - 6*L*K*gamma)*(1/T)*sum_t (G_u + G_v) <= F_0/(T*K*gamma) + 21*(sigma_u^2/m + m*sigma_v^2/n)*L*gamma"
        " + 72*L^3*gamma/(m*n*T)*sum_t C",
        at_most((_half - 6 * lkg) * (M_u + M_v), _averaged, _summed, _fewer, _cap),
        repaired=at_most((_half - 6 * lkg) * (M_u + m / n * M_v), _averaged, _summed, _fewer, _cap),
        repair="hat G_v = (m/n)*G_v in place of G_v, as in the line before and in the theorem",
        remark="M_u and M_v are the means of G_u and G_v; the hypothesis is the sum over t of the inequality before."
        " One of the two texts of the paper has 2 in place of 21. With f_i = v_i^2/2, K = m = 1, n = 4 and no noise"
        " the left side is almost twice the right one for large T.",
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, sum of C",
        "C^0 = 0",
        drawn(_no_staleness, "==", form=lambda: forms.no_drift("alpha^{-1} = u^0", "beta^{-1} = v_i^0")),
        remark="From the initial alpha = u^0 and beta = v_i^0; the sum of C needs it.",
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, sum of C",
        "(m/(4*n))*sum_t C^t <= sum_t m*n^(2/3)*K/(36*L^2)*(G_u + hat G_v)"
        " + m^2*T/(18*L^2)*(sigma_u^2/m + m*sigma_v^2/n)",
        drawn(_sum_of_C, kind=StepKind.STANDARD, decay=4),
        remark="The largest C^t that Lemma 4.4 allows; all that it adds in a round is one number.",
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, the sum of C in eq. (4.5)",
        "(1/2 - 6*L*K*gamma - 8*L*K*gamma*n^(2/3)/m)*(1/T)*sum_t (G_u + G_v) <= F_0/(T*K*gamma)"
        " + 37*(sigma_u^2/m + m*sigma_v^2/n)*L*gamma",
        at_most(
            _combined * (M_u + M_v),
            _gap + 37 * _NOISE * L * gamma,
            below(_hatted, _averaged.subs(n, r**3)),
            _sum_bound,
            below(m, r**3),
            _cap,
            _cap_m,
        ),
        repaired=at_most(
            _combined * (M_u + m / r**3 * M_v),
            _gap + 37 * _NOISE * L * gamma,
            below(_hatted, _averaged.subs(n, r**3)),
            _sum_bound,
        ),
        repair="hat G_v in place of G_v, as in the theorem",
        remark="r is the cube root of n; eq. (4.5) is taken with the hat.",
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, last line",
        "6*L*K*gamma <= 1/8",
        at_most(6 * lkg, sp.Rational(1, 8), _cap),
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, last line",
        "8*L*K*gamma <= m/(8*n^(2/3))",
        at_most(8 * lkg, m / (8 * r**2), _cap_m),
        remark="r is the cube root of n.",
    ),
    _of_theorem_4_5(
        "proof of Theorem 4.5, last line",
        "the bound of the theorem",
        at_most(
            M_hat,
            4 * _gap + 148 * NOISE * L * gamma,
            below(_combined * M_hat, _gap + 37 * NOISE * L * gamma),
            below(6 * lkg, sp.Rational(1, 8)),
            below(8 * lkg, m / (8 * r**2)),
        ),
    ),
    _of_corollary_4_6(
        "Corollary 4.6",
        "(1/T)*sum_t (G_u + hat G_v) <= 8*sqrt(37*L*F_0/(K*T)*(sigma_u^2/m + sigma_v^2*m/n))"
        " + 288*L*F_0/T*max(1, n^(2/3)/m)",
        drawn(lambda draw, rest: _rate(draw, 72, 37, rest), kind=StepKind.END_TO_END, rest=288),
        remark="L is taken so large that the root is rational; n^(2/3) is rounded up on both sides.",
    ),
    _of_corollary_4_6(
        "Corollary 4.6, under the assumptions of Theorem 4.5",
        "(72*L*K*max(n^(2/3)/m, 1) + sqrt(37*L*K*T*A/F_0))^(-1) <= 1/(72*L*K)",
        at_most(gamma, 1 / (72 * L * K), _step_4_6, above(W, 1)),
        remark="A is sigma_u^2/m + m*sigma_v^2/n, s the root and W = max(n^(2/3)/m, 1).",
    ),
    _of_corollary_4_6(
        "Corollary 4.6, under the assumptions of Theorem 4.5",
        "(72*L*K*max(n^(2/3)/m, 1) + sqrt(37*L*K*T*A/F_0))^(-1) <= m/(72*L*K*n^(2/3))",
        at_most(gamma, m / (72 * L * K * r**2), _step_4_6, above(W, r**2 / m)),
        remark="r is the cube root of n.",
    ),
    _of_corollary_4_6(
        "Corollary 4.6, first term of Theorem 4.5",
        "4*F_0/(T*K*gamma) = 288*L*F_0/T*max(1, n^(2/3)/m) + 4*sqrt(37*L*F_0*A/(K*T))",
        at_most(4 * F_0 / (T * K * gamma), 288 * L * F_0 / T * W + 4 * root * F_0 / (K * T), _step_4_6, operator="=="),
        remark="W is max(1, n^(2/3)/m).",
    ),
    _of_corollary_4_6(
        "Corollary 4.6, second term of Theorem 4.5",
        "148*A*L*gamma <= 4*sqrt(37*L*F_0*A/(K*T))",
        at_most(148 * A * L * gamma, 4 * root * F_0 / (K * T), _step_4_6, _root_4_6),
    ),
    _of_corollary_4_6(
        "Corollary 4.6, from Theorem 4.5",
        "4*F_0/(T*K*gamma) + 148*A*L*gamma <= 8*sqrt(37*L*F_0*A/(K*T)) + 288*L*F_0/T*max(1, n^(2/3)/m)",
        at_most(
            4 * F_0 / (T * K * gamma) + 148 * A * L * gamma,
            8 * root * F_0 / (K * T) + 288 * L * F_0 / T * W,
            _step_4_6,
            _root_4_6,
        ),
        remark="The constants follow exactly: both terms are attained as gamma*s tends to 1.",
    ),
    _of_scaffold_explicit(
        "eq. (4.6), with the constants of Corollary 4.6",
        "(1/T)*sum_t E||grad f(u^t)||^2 <= 8*sqrt(37*L*F_0*sigma_u^2/(m*K*T)) + 288*L*F_0/T*max(1, n^(2/3)/m)",
        drawn(lambda draw, rest: _rate(draw, 72, 37, rest, personal=False), kind=StepKind.END_TO_END, rest=288),
    ),
    _of_scaffold(
        "eq. (4.6)",
        "Corollary 4.6 with sigma_v^2 = 0 is 8*sqrt(37*L*F_0)*sqrt(sigma_u^2/(m*K*T))"
        " + 288*L*F_0*(1/T)*max(1, n^(2/3)/m)",
        same(
            at(_rate_4_6, {s.sigma_v: 0}),
            8 * sp.sqrt(37 * L * F_0) * sp.sqrt(su / (m * K * T)) + 288 * L * F_0 / T * _power,
        ),
    ),
    _of_scaffold(
        "eq. (4.7), text below",
        "max(1, n^(2/3)/m) <= (n/m)^(2/3): the rate (4.6) improves on (4.7)",
        at_most(sp.Max(1, r**2 / q**3), r**2 / q**2, above(q, 1), below(q, r)),
        remark="r and q are the cube roots of n and m.",
    ),
    _of_parallel_sgd_scaffold(
        "last paragraph",
        "Corollary 4.6 with K = 1, m = n and sigma_u^2 = 0 is 8*sqrt(37*L*F_0/T*sigma_v^2) + 288*L*F_0/T",
        at_most(
            8 * sp.sqrt(37 * L * F_0 / T * NOISE.subs({m: n, s.sigma_u: 0})) + 288 * L * F_0 / T * sp.Max(1, 1 / r),
            8 * sp.sqrt(37 * L * F_0 / T * sv) + 288 * L * F_0 / T,
            above(r, 1),
            operator="==",
        ),
        remark="r is the cube root of n: n^(2/3)/m is 1/r.",
    ),
    _of_parallel_sgd_scaffold(
        "last paragraph",
        "1/(n*T)*sum_it E||grad f_i(v_i^t)||^2 <= 8*sqrt(37*L*F_0/T*sigma_v^2) + 288*L*F_0/T",
        drawn(
            lambda draw, rest: _rate(draw, 72, 37, rest, shared=False, full=True, local_steps=(1, 1)),
            kind=StepKind.END_TO_END,
            rest=288,
        ),
    ),
)
