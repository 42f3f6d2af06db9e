"""Theorems 3.7 and 3.11 with what follows from them (Sections 3.2.2 to 3.3.2)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds import symbols as s
from bounds.ledger.draw import Draw, Rational, expect_square, mean
from bounds.ledger.proof import Proof, at_most, drawn, same
from bounds.ledger.step import Step, StepKind, above, below, equal
from bounds.ledger.written import at, sqrt
from bounds.papers.pfl.proofs.runs import (
    Histories,
    LocalRound,
    QuadraticClients,
    complete,
    partial,
    root_above,
    small_run,
)
from bounds.papers.pfl.proofs.terms import A, M, root

n, m, K, T, L, gamma, eta_u, eta_v, b = s.n, s.m, s.K, s.T, s.L, s.gamma, s.eta_u, s.eta_v, s.b
G_u, G_v, E, B, B_0, F_0 = s.G_u, s.G_v, s.E, s.B, s.B_0, s.F_0
su, sv = s.sigma_u**2, s.sigma_v**2
Gap = tuple[Fraction, Fraction]


# --- Exact instances -----------------------------------------------------------------------------------------------


def noise(p: QuadraticClients) -> Fraction:
    """sigma_u^2/m + m*sigma_v^2/n."""
    return p.sigma_u**2 / p.m + p.m * p.sigma_v**2 / p.n


def dissimilar(p: QuadraticClients) -> Fraction:
    """4*(n-m)*K*b^2/(m*n) + noise."""
    return Fraction(4 * (p.n - p.m) * p.K, p.m * p.n) * p.spread + noise(p)


def _theorem_3_7(draw: Draw, gap: Rational, noisy: Rational, drift: Rational) -> Gap:
    law = small_run(draw, partial, alike=True, convex=True)
    p = law.p
    right = gap * p.F_0 / (p.T * p.K * p.gamma) + noisy * p.L * dissimilar(p) * p.gamma
    right += drift * p.L**2 * p.K * (p.K - 1) * p.spread / p.steps[2] ** 2 * p.gamma**2
    return law.metric(hat=True), right


def rational_root(p: QuadraticClients, factor: int, noisy: Fraction) -> tuple[QuadraticClients, Fraction]:
    """The problem with a larger L such that s = sqrt(factor*L*K*T*noisy/F_0) is rational, and s."""
    if noisy == 0:
        return p, Fraction(0)
    size = factor * p.K * p.T * noisy / p.F_0
    s_ = root_above(size * p.L) or Fraction(1, 60)
    return replace(p, L=s_**2 / size), s_


def with_steps(p: QuadraticClients, gamma_: Fraction, least_u: Fraction, least_v: Fraction) -> Histories:
    """A run with these steps, the outer ones as small as they may be."""
    return Histories(replace(p, steps=(gamma_ / least_u, gamma_ / least_v, least_u, least_v)))


def _partial_rate(draw: Draw, slow: int, factor: int, rest: Rational, **kind: Any) -> Gap | None:
    """Corollary 3.8; ``slow`` and ``factor`` are 32 and 3 in its step size, ``rest`` is 129."""
    given = small_run(draw, alike=True, convex=True, **kind).p
    if given.F_0 == 0:
        return None
    p, s_ = rational_root(given, factor, dissimilar(given))
    least = max(root_above(p.m), root_above(p.spread * p.T / (p.L * p.F_0)))
    law = with_steps(p, 1 / (slow * p.L * p.K + s_), least, root_above(Fraction(p.n, p.m)))
    return law.metric(hat=True), 8 * s_ * p.F_0 / (p.K * p.T) + rest * p.L * p.F_0 / p.T


def _parallel(draw: Draw, slow: int, factor: int, rest: Rational) -> Gap | None:
    given = small_run(draw, full=True, convex=True, shared=False, local_steps=(1, 1)).p
    if given.F_0 == 0:
        return None
    p, s_ = rational_root(given, factor, given.sigma_v**2)
    law = with_steps(p, 1 / (slow * p.L + s_), Fraction(1), Fraction(1))
    return law.metric(hat=False), 8 * s_ * p.F_0 / p.T + rest * p.L * p.F_0 / p.T


def full_noise(p: QuadraticClients) -> Fraction:
    """sigma_u^2/n + sigma_v^2."""
    return p.sigma_u**2 / p.n + p.sigma_v**2


def _least_outer(p: QuadraticClients) -> Fraction:
    """At least max(T, sqrt(B^0*T/(n*L*F_0)), sqrt(n))."""
    start = Histories(p).mean(0, LocalRound.B) * p.T / (p.n * p.L * p.F_0)
    return max(Fraction(p.T), root_above(start), root_above(p.n))


def _theorem_3_11(draw: Draw, gap: Rational, noisy: Rational, rest: Rational) -> Gap | None:
    given = small_run(draw, complete(84), full=True, convex=True, rounds=draw.whole(2, 3)).p
    if given.F_0 == 0:
        return None
    p = with_steps(given, given.gamma, _least_outer(given), Fraction(1)).p
    right = gap * p.F_0 / (p.T * p.K * p.gamma) + noisy * p.L * full_noise(p) * p.gamma + rest * p.L * p.F_0 / p.T
    return Histories(p).metric(hat=False), right


def _full_rate(draw: Draw, slow: int, factor: int, rest: Rational, **kind: Any) -> Gap | None:
    given = small_run(draw, full=True, convex=True, rounds=draw.whole(2, 3), **kind).p
    if given.F_0 == 0:
        return None
    p, s_ = rational_root(given, factor, full_noise(given))
    law = with_steps(p, 1 / (slow * p.L * p.K + s_), _least_outer(p), Fraction(1))
    return law.metric(hat=False), 8 * s_ * p.F_0 / (p.K * p.T) + rest * p.L * p.F_0 / p.T


def _start(draw: Draw) -> Gap:
    first = small_run(draw, convex=True).rounds(0)[0]
    return first.B(), first.problem.n * expect_square(first.full)


def _start_of_clients(draw: Draw) -> Gap:
    law = small_run(draw, convex=True)
    p = law.p
    squares = ((client.h * p.u + client.c * v - client.g) ** 2 for client, v in zip(p.clients, p.v, strict=True))
    return law.mean(0, LocalRound.B), sum(squares, Fraction(0))


def _telescope(draw: Draw) -> Gap:
    values = draw.vector(draw.whole(2, 6))
    least = min(values) - draw.rational(0, 1)
    rounds = len(values) - 1
    return mean(values[t] - values[t + 1] for t in range(rounds)), (values[0] - least) / rounds


def _sequence(draw: Draw) -> tuple[int, Fraction, tuple[Fraction, ...], Fraction]:
    """T >= 2, B^0, the numbers G_u^t + G_v^t, and the noise term sigma_u^2/n + sigma_v^2 over K."""
    rounds, alone = draw.whole(2, 24), draw.whole(0, 3)
    # Three times in four only one of the three quantities is there: each constant is then checked alone.
    first, noisy = draw.rational(0, 3) * (alone in (0, 1)), draw.rational(0, 3) * (alone in (0, 2))
    G = tuple(draw.rational(0, 3) * (alone == 0 or (alone == 3 and r == 0)) for r in range(rounds))
    return rounds, first, G, noisy


def _unrolled(
    rounds: int, first: Fraction, G: tuple[Fraction, ...], noisy: Fraction, q: Fraction, two: Rational
) -> Fraction:
    """The double sum of the proof of Theorem 3.11, over n = 1 client."""
    found = Fraction(0)
    for t in range(rounds):
        past = sum((G[r] * q ** (t - 1 - r) for r in range(t)), Fraction(0))
        found += q**t * first + two * rounds * (past + noisy * sum((q**r for r in range(t)), Fraction(0)))
    return found


def _deduced(draw: Draw, rate: Rational, two: Rational) -> Gap:
    rounds, first, G, noisy = _sequence(draw)
    q = 1 + Fraction(rate) / (rounds - 1)
    B_t = [first]
    for t in range(1, rounds):
        B_t.append(q * B_t[-1] + two * rounds * (G[t - 1] + noisy))
    return sum(B_t, Fraction(0)), _unrolled(rounds, first, G, noisy, q, two)


def _summed(draw: Draw, rate: Rational, start: Rational, gradients: Rational, noisy: Rational) -> Gap:
    rounds, first, G, level = _sequence(draw)
    left = _unrolled(rounds, first, G, level, 1 + Fraction(rate) / (rounds - 1), 2)
    right = start * rounds * first + gradients * rounds**2 * sum(G, Fraction(0)) + noisy * rounds**3 * level
    return left, right


def _geometric(draw: Draw, rate: Rational, half: Rational) -> Gap:
    rounds = draw.whole(2, 40)
    t, q = draw.whole(0, rounds - 1), 1 + Fraction(rate) / (rounds - 1)
    return sum((q**r for r in range(t)), Fraction(0)), half * (rounds - 1) * q**t


def _below_eight(draw: Draw, rate: Rational, limit: Rational) -> Gap:
    rounds = draw.whole(2, 60)
    return (1 + Fraction(rate) / (rounds - 1)) ** (rounds - 1), Fraction(limit)


# --- Expressions ---------------------------------------------------------------------------------------------------

x = L * K * gamma
hat = m / n * G_v
f_now, f_next = sp.symbols("f_now f_next", real=True)
sum_B = sp.Symbol("sum_B", nonnegative=True)
# Of the rounds before the last, of the last one, and the gap E f - inf f before that.
_sum_M, _last_M, _B_before, _B_last, _gap_last = sp.symbols("sum_M last_M B_before B_last gap_last", nonnegative=True)
NOISE = su / m + m * sv / n
BRACKET = 4 * (n - m) * K * b**2 / (m * n) + NOISE
FULL = su / n + sv
_fewer = below(m, n)
_cap = below(32 * x, 1)
_outer = (above(eta_u**2, m), above(eta_v**2, n / m))
_noise_2 = 2 * L * K * su * gamma**2 / m + 2 * L * K * sv * gamma**2 * m / n
_sampled = 12 * (1 / m - 1 / n) * L * K**2 * b**2 * gamma**2
_slope_4 = (-K * gamma / 2 + 4 * L * K**2 * gamma**2) * (G_u + hat)
_slope_5 = (-K * gamma / 2 + 5 * L * K**2 * gamma**2) * (G_u + hat)
_lemmas = (
    (-K * gamma / 2 * G_u + L**2 * gamma / n * E)
    + (-K * gamma * m / (2 * n) * G_v + L**2 * gamma * m / n**2 * E)
    + 2 * L * (2 * K**2 * gamma**2 * G_u + 4 * L**2 * K * gamma**2 / n * E)
    + 2 * L * (2 * K**2 * gamma**2 * m / n * G_v + 4 * L**2 * K * gamma**2 * m / n**2 * E)
)
_variance = 4 * L * gamma**2 * (n - m) / (m * n**2) * (3 * n * K**2 * b**2 + 12 * L**2 * K * E)
_drift_first = (
    L**2 * gamma / n + 56 * L**3 * K * gamma**2 / n + L**2 * gamma * m / n**2 + 8 * L**3 * K * gamma**2 * m / n**2
) * E
_drift_b = 8 * n * K**2 * (K - 1) * b**2 * gamma**2 / eta_u**2
_E_lemma = (
    8 * K**2 * (K - 1) * (gamma / eta_u) ** 2 * (n * G_u + n * b**2)
    + 8 * n * K**3 * (gamma / eta_v) ** 2 * G_v
    + 4 * n * K**2 * (su * (gamma / eta_u) ** 2 + sv * (gamma / eta_v) ** 2)
)
_E_second = (
    _drift_b
    + 8 * n * K**3 * gamma**2 * (G_u / eta_u**2 + G_v / eta_v**2)
    + 4 * n * K**2 * gamma**2 * (su / eta_u**2 + sv / eta_v**2)
)
_E_third = _drift_b + n * K**2 * gamma / (4 * L) * (G_u + hat) + n * K * gamma / (4 * L) * NOISE
_together = (
    _slope_5
    + 32 * L**2 * K**2 * (K - 1) * b**2 * gamma**3 / eta_u**2
    + _sampled
    + 3 * L * K * su * gamma**2 / m
    + 3 * L * K * sv * gamma**2 * m / n
)
_divided = 32 * L**2 * K * (K - 1) * b**2 * gamma**2 / eta_u**2 + 3 * L * BRACKET * gamma
_bound_3_7 = (
    4 * F_0 / (T * K * gamma) + 12 * L * BRACKET * gamma + 128 * L**2 * K * (K - 1) * b**2 / eta_u**2 * gamma**2
)

# Corollaries: s is the root in the step size, gamma*(slow*L*K + s) = 1.
_step_3_8 = equal(gamma * (32 * L * K + root), 1)
_root_3_8 = equal(root**2 * F_0, 3 * L * K * T * A)
_outer_3_8 = above(eta_u**2 * L * F_0, b**2 * T)
_rate_3_8 = 8 * sp.sqrt(3 * BRACKET * L * F_0 / (K * T)) + 129 * L * F_0 / T
_fewer_terms = 8 * sp.sqrt(3 * (4 * (n - m) * K * b**2 / (m * n) + su / m) * L * F_0 / (K * T)) + 129 * L * F_0 / T

_slope_full = (-K * gamma / 2 + 4 * L * K**2 * gamma**2) * (G_u + G_v)
_noise_full = 2 * L * K * su * gamma**2 / n + 2 * L * K * sv * gamma**2
_E_full = K**2 * gamma / (4 * L * eta_u**2) * B + n * K**2 * gamma / (4 * L) * G_v + n * K * gamma / (4 * L) * FULL
_E_full_lemma = (
    8 * K**2 * (K - 1) * (gamma / eta_u) ** 2 * B
    + 8 * n * K**3 * (gamma / eta_v) ** 2 * G_v
    + 4 * n * K**2 * (su * (gamma / eta_u) ** 2 + sv * (gamma / eta_v) ** 2)
)
_together_full = (
    (-K * gamma / 2 + 5 * L * K**2 * gamma**2) * (G_u + G_v)
    + L * K**2 * gamma**2 / (n * eta_u**2) * B
    + 3 * L * K * su * gamma**2 / n
    + 3 * L * K * sv * gamma**2
)
_averaged = F_0 / (T * K * gamma) + 3 * L * FULL * gamma + L * K * gamma / (n * T * eta_u**2) * sum_B
_sum_B = 8 * T * B_0 + 16 * n * T**3 * M + 8 * n * T**3 / K * FULL
_outer_full = (above(eta_u**2, n), above(eta_v, 1))
_start_B = above(eta_u**2 * n * L * F_0, B_0 * T)
_step_full = equal(gamma * (84 * L * K + root), 1)
_root_full = equal(root**2 * F_0, 11 * L * K * T * A)
_rate_full = 8 * sp.sqrt(11 * L * F_0 / (K * T) * FULL) + 337 * L * F_0 / T

_of_theorem_3_7 = Proof("pfl/theorem-3.7")
_of_corollary_3_8 = Proof("pfl/corollary-3.8")
_of_fedavg_partial = Proof("pfl/fedavg-partial", "Section 3.2.3")
_of_parallel_sgd = Proof("pfl/parallel-sgd", "Section 3.2.3")
_of_theorem_3_11 = Proof("pfl/theorem-3.11")
_of_theorem_3_11_tuned = Proof("pfl/theorem-3.11-tuned", "Theorem 3.11")
_of_fedavg_full = Proof("pfl/fedavg-full")

PARTIAL: tuple[Step, ...] = (
    _of_theorem_3_7(
        "Theorem 3.7",
        "(1/T)*sum_t (G_u + hat G_v) <= 4*F_0/(T*K*gamma)"
        " + 12*L*(4*(n-m)*K*b^2/(m*n) + sigma_u^2/m + m*sigma_v^2/n)*gamma + 128*L^2*K*(K-1)*b^2/eta_u^2*gamma^2",
        drawn(_theorem_3_7, kind=StepKind.END_TO_END, gap=4, noisy=12, drift=128),
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, eq. (3.4), first inequality",
        "Lemmas 3.2, 3.3 and 3.4 in Lemma 3.1 give (-K*gamma/2 + 4*L*K^2*gamma^2)*(G_u + hat G_v)"
        " + (L^2*gamma/n + 56*L^3*K*gamma^2/n + L^2*gamma*m/n^2 + 8*L^3*K*gamma^2*m/n^2)*E"
        " + 12*(1/m - 1/n)*L*K^2*b^2*gamma^2 + 2*L*K*sigma_u^2*gamma^2/m + 2*L*K*sigma_v^2*gamma^2*m/n",
        at_most(_lemmas + _variance + _noise_2, _slope_4 + _drift_first + _sampled + _noise_2, _fewer),
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, eq. (3.4), second inequality",
        "(L^2*gamma/n + 56*L^3*K*gamma^2/n + L^2*gamma*m/n^2 + 8*L^3*K*gamma^2*m/n^2)*E <= 4*L^2*gamma/n*E",
        at_most(_drift_first, 4 * L**2 * gamma / n * E, _cap, _fewer),
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, use of Lemma 3.5",
        "4*L^2*K*(K-1)*(gamma_u^2 + gamma_v^2) <= 1",
        at_most(4 * L**2 * K * (K - 1) * ((gamma / eta_u) ** 2 + (gamma / eta_v) ** 2), 1, _cap, _fewer, *_outer),
        remark="Not printed: the condition of the lemma, which the steps of the theorem have to satisfy.",
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, bound on E, second inequality",
        "E <= 8*n*K^2*(K-1)*b^2*gamma^2/eta_u^2 + 8*n*K^3*gamma^2*(G_u/eta_u^2 + G_v/eta_v^2)"
        " + 4*n*K^2*gamma^2*(sigma_u^2/eta_u^2 + sigma_v^2/eta_v^2)",
        at_most(_E_lemma, _E_second),
        remark="Lemma 3.5 with B <= n*G_u + n*b^2, gamma_u = gamma/eta_u and gamma_v = gamma/eta_v.",
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, bound on E, third inequality",
        "E <= 8*n*K^2*(K-1)*b^2*gamma^2/eta_u^2 + n*K^2*gamma/(4*L)*(G_u + hat G_v)"
        " + n*K*gamma/(4*L)*(sigma_u^2/m + m*sigma_v^2/n)",
        at_most(_E_second, _E_third, _cap, *_outer),
        remark="One of the two texts of the paper has lost the hat.",
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, together with eq. (3.4)",
        "E f(t+1) <= E f(t) + (-K*gamma/2 + 5*L*K^2*gamma^2)*(G_u + hat G_v) + 32*L^2*K^2*(K-1)*b^2*gamma^3/eta_u^2"
        " + 12*(1/m - 1/n)*L*K^2*b^2*gamma^2 + 3*L*K*sigma_u^2*gamma^2/m + 3*L*K*sigma_v^2*gamma^2*m/n",
        at_most(_slope_4 + 4 * L**2 * gamma / n * _E_third + _sampled + _noise_2, _together),
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, the inequality rewritten",
        "(1/2 - 5*L*K*gamma)*(G_u + hat G_v) <= E[f(t) - f(t+1)]/(K*gamma) + 32*L^2*K*(K-1)*b^2*gamma^2/eta_u^2"
        " + 3*L*(4*(n-m)*K*b^2/(m*n) + sigma_u^2/m + m*sigma_v^2/n)*gamma",
        at_most(
            (sp.Rational(1, 2) - 5 * x) * (G_u + hat),
            (f_now - f_next) / (K * gamma) + _divided,
            below(f_next, f_now + _together),
        ),
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, average over t",
        "(1/T)*sum_t (E f(t) - E f(t+1)) <= F_0/T",
        drawn(_telescope, kind=StepKind.STANDARD),
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, last line",
        "5*L*K*gamma <= 1/4",
        at_most(5 * x, sp.Rational(1, 4), _cap),
    ),
    _of_theorem_3_7(
        "proof of Theorem 3.7, last line",
        "the bound of the theorem",
        at_most(
            M,
            _bound_3_7,
            below((sp.Rational(1, 2) - 5 * x) * M, F_0 / (T * K * gamma) + _divided),
            below(5 * x, sp.Rational(1, 4)),
            _fewer,
        ),
    ),
    _of_corollary_3_8(
        "Corollary 3.8",
        "(1/T)*sum_t (G_u + hat G_v) <= 8*sqrt(3*(4*(n-m)*K*b^2/(m*n) + sigma_u^2/m + m*sigma_v^2/n)*L*F_0/(K*T))"
        " + 129*L*F_0/T",
        drawn(lambda draw, rest: _partial_rate(draw, 32, 3, rest), kind=StepKind.END_TO_END, rest=129),
        remark="L is taken so large that the root is rational.",
    ),
    _of_corollary_3_8(
        "Corollary 3.8, the root in gamma and the root in the rate",
        "(F_0/(K*T))*sqrt(3*L*K*T*A/F_0) = sqrt(3*A*L*F_0/(K*T))",
        same(F_0 / (K * T) * sqrt(3 * L * K * T * A / F_0), sqrt(3 * A * L * F_0 / (K * T))),
        remark="A is the bracket; below, s is the root in gamma, gamma*(32*L*K + s) = 1.",
    ),
    _of_corollary_3_8(
        "Corollary 3.8, under the assumptions of Theorem 3.7",
        "(32*L*K + sqrt(3*L*K*T*A/F_0))^(-1) <= 1/(32*L*K)",
        at_most(gamma, 1 / (32 * L * K), _step_3_8),
    ),
    _of_corollary_3_8(
        "Corollary 3.8, first term of Theorem 3.7",
        "4*F_0/(T*K*gamma) = 128*L*F_0/T + 4*sqrt(3*A*L*F_0/(K*T))",
        at_most(4 * F_0 / (T * K * gamma), 128 * L * F_0 / T + 4 * root * F_0 / (K * T), _step_3_8, operator="=="),
    ),
    _of_corollary_3_8(
        "Corollary 3.8, second term of Theorem 3.7",
        "12*L*A*gamma <= 4*sqrt(3*A*L*F_0/(K*T))",
        at_most(12 * L * A * gamma, 4 * root * F_0 / (K * T), _step_3_8, _root_3_8),
    ),
    _of_corollary_3_8(
        "Corollary 3.8, third term of Theorem 3.7",
        "128*L^2*K*(K-1)*b^2/eta_u^2*gamma^2 <= L*F_0/T",
        at_most(128 * L**2 * K * (K - 1) * b**2 / eta_u**2 * gamma**2, L * F_0 / T, _cap, _outer_3_8),
        remark="The left side is at most an eighth of the right: 128 + 1/8 would do in place of 129.",
    ),
    _of_corollary_3_8(
        "Corollary 3.8, from Theorem 3.7",
        "8*sqrt(3*A*L*F_0/(K*T)) + 129*L*F_0/T",
        at_most(
            4 * F_0 / (T * K * gamma) + 12 * L * A * gamma + 128 * L**2 * K * (K - 1) * b**2 / eta_u**2 * gamma**2,
            8 * root * F_0 / (K * T) + 129 * L * F_0 / T,
            _step_3_8,
            _root_3_8,
            _outer_3_8,
        ),
    ),
    _of_corollary_3_8(
        "Remark 3.9",
        "more local update steps K accelerate the convergence",
        at_most(BRACKET.subs(K, K + 1) / (K + 1), BRACKET / K, _fewer),
        remark="What the root of Corollary 3.8 has of K, for K + 1 against K.",
    ),
    _of_corollary_3_8(
        "Remark 3.9",
        "more sampled clients m accelerate the convergence",
        at_most(BRACKET.subs(m, m + 1), BRACKET, below(m + 1, n)),
        repaired=at_most(BRACKET.subs(m, m + 1).subs(s.sigma_v, 0), BRACKET.subs(s.sigma_v, 0), below(m + 1, n)),
        repair="without noise in the personal gradients, as the remark says of the linear speedup: m*sigma_v^2/n grows",
        remark="The bracket of Corollary 3.8 for m + 1 against that for m; hat G_v on the left has m in it too. The"
        " linear speedup in m is restricted to small sigma_v^2, this sentence is not.",
    ),
    _of_fedavg_partial(
        "first display",
        "(1/T)*sum_t E||grad f(u^t)||^2 <= 8*sqrt(3*(4*(n-m)*K*b^2/(m*n) + sigma_u^2/m)*L*F_0/(K*T)) + 129*L*F_0/T",
        drawn(lambda draw, rest: _partial_rate(draw, 32, 3, rest, personal=False), kind=StepKind.END_TO_END, rest=129),
    ),
    _of_fedavg_partial(
        "first display",
        "Corollary 3.8 without the influence of sigma_v^2",
        same(at(_rate_3_8, {s.sigma_v: 0}), _fewer_terms),
    ),
    _of_parallel_sgd(
        "second display",
        "1/(n*T)*sum_it E||grad f_i(v_i^t)||^2 <= 8*sqrt(3*sigma_v^2*L*F_0/T) + 129*L*F_0/T",
        drawn(lambda draw, rest: _parallel(draw, 32, 3, rest), kind=StepKind.END_TO_END, rest=129),
    ),
    _of_parallel_sgd(
        "second display",
        "Corollary 3.8 with K = 1, m = n and sigma_u^2 = 0",
        same(at(_rate_3_8, {K: 1, m: n, s.sigma_u: 0}), 8 * sp.sqrt(3 * sv * L * F_0 / T) + 129 * L * F_0 / T),
    ),
)

COMPLETE: tuple[Step, ...] = (
    _of_theorem_3_11(
        "Theorem 3.11, first claim",
        "(1/T)*sum_t (G_u + G_v) <= 4*F_0/(T*K*gamma) + 44*L*(sigma_u^2/n + sigma_v^2)*gamma + L*F_0/T",
        drawn(_theorem_3_11, kind=StepKind.END_TO_END, gap=4, noisy=44, rest=1),
    ),
    _of_theorem_3_11(
        "Theorem 3.11, last line",
        "B^0 = sum_i E||grad_u f(u^0, v_i^0)||^2",
        drawn(_start, "=="),
        repaired=drawn(_start_of_clients, "=="),
        repair="f_i in place of f, as B^t is defined before Lemma 3.5 and used in the proof",
        remark="B^t was defined as sum_i E||grad_u f_i(u^t, v_i^t)||^2. The condition on eta_u contains B^0. With the"
        " printed sum the theorem fails: n = K = T = 2, L = 1, no noise, f_1 = u^2/2 - 10^6*u, f_2 = 10^6*u,"
        " u^0 = 1/1000, eta_u = 2 and gamma = 1/168 satisfy the conditions; the sides are 9.8 and 4.2e-5.",
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, eq. (3.5)",
        "E f(t+1) <= E f(t) + (-K*gamma/2 + 4*L*K^2*gamma^2)*(G_u + G_v) + 4*L^2*gamma/n*E"
        " + 2*L*K*sigma_u^2*gamma^2/n + 2*L*K*sigma_v^2*gamma^2",
        at_most(_lemmas.subs(m, n) + _noise_full, _slope_full + 4 * L**2 * gamma / n * E + _noise_full, _cap),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, use of Lemma 3.5",
        "4*L^2*K*(K-1)*(gamma_u^2 + gamma_v^2) <= 1",
        at_most(4 * L**2 * K * (K - 1) * ((gamma / eta_u) ** 2 + (gamma / eta_v) ** 2), 1, _cap, *_outer_full),
        remark="Not printed: the condition of the lemma.",
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, bound on E",
        "E <= K^2*gamma/(4*L*eta_u^2)*B + n*K^2*gamma/(4*L)*G_v + n*K*gamma/(4*L)*(sigma_u^2/n + sigma_v^2)",
        at_most(_E_full_lemma, _E_full, _cap, *_outer_full),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, together with eq. (3.5)",
        "E f(t+1) <= E f(t) + (-K*gamma/2 + 5*L*K^2*gamma^2)*(G_u + G_v) + L*K^2*gamma^2/(n*eta_u^2)*B"
        " + 3*L*K*sigma_u^2*gamma^2/n + 3*L*K*sigma_v^2*gamma^2",
        at_most(_slope_full + 4 * L**2 * gamma / n * _E_full + _noise_full, _together_full),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, eq. (3.6)",
        "(1/2 - 5*L*K*gamma)*(1/T)*sum_t (G_u + G_v) <= F_0/(T*K*gamma) + 3*L*(sigma_u^2/n + sigma_v^2)*gamma"
        " + L*K*gamma/(n*T*eta_u^2)*sum_t B",
        at_most(
            (sp.Rational(1, 2) - 5 * x) * M,
            _averaged,
            equal(T * M, _sum_M + _last_M, "M is the mean"),
            equal(sum_B, _B_before + _B_last, "the sum of B"),
            below(
                (K * gamma / 2 - 5 * L * K**2 * gamma**2) * _sum_M,
                F_0
                - _gap_last
                + L * K**2 * gamma**2 / (n * eta_u**2) * _B_before
                + (T - 1) * 3 * L * K * gamma**2 * FULL,
                "the rounds before the last, added up",
            ),
            below(
                (K * gamma / 2 - 5 * L * K**2 * gamma**2) * _last_M,
                _gap_last + L * K**2 * gamma**2 / (n * eta_u**2) * _B_last + 3 * L * K * gamma**2 * FULL,
                "the inequality before, of the last round",
            ),
        ),
        remark="With one round more: gap_last is E f - inf f before it, and that after it is at least 0.",
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, use of Lemma 3.6",
        "T - 1 > 0",
        at_most(T - 1, 0, operator=">"),
        repaired=at_most(T - 1, sp.Integer(0), above(T, 2), operator=">"),
        repair="T >= 2; for T = 1 eq. (3.6) gives the bound without the lemma",
        remark="2/(T-1) divides by it.",
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, sum of B, first inequality",
        "sum_t B^t <= sum_t ((1 + 2/(T-1))^t*B^0 + 2*n*T*sum_{r<t} (G_u^r + G_v^r)*(1 + 2/(T-1))^(t-1-r)"
        " + (2*n*T/K)*(sigma_u^2/n + sigma_v^2)*sum_{r<t} (1 + 2/(T-1))^r)",
        drawn(_deduced, kind=StepKind.STANDARD, rate=2, two=2),
        remark="n = 1, and the largest B^t that Lemma 3.6 allows, for T >= 2.",
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, under the sum of B",
        "sum_{r=0}^{t-1} (1 + 2/(T-1))^r <= (T-1)/2*(1 + 2/(T-1))^t",
        drawn(_geometric, kind=StepKind.STANDARD, rate=2, half=Fraction(1, 2)),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, under the sum of B",
        "(1 + 2/(T-1))^t <= (1 + 2/(T-1))^(T-1) <= 8",
        drawn(_below_eight, kind=StepKind.STANDARD, rate=2, limit=8),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, sum of B, second inequality",
        "sum_t B^t <= 8*T*B^0 + 16*n*T^2*sum_t (G_u + G_v) + (8*n*T^3/K)*(sigma_u^2/n + sigma_v^2)",
        drawn(_summed, kind=StepKind.STANDARD, rate=2, start=8, gradients=16, noisy=8),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, the sum of B in eq. (3.6)",
        "(1/2 - 21*L*K*gamma)*(1/T)*sum_t (G_u + G_v) <= F_0/(T*K*gamma) + 11*L*(sigma_u^2/n + sigma_v^2)*gamma"
        " + B^0/(4*n*eta_u^2)",
        at_most(
            (sp.Rational(1, 2) - 21 * x) * M,
            F_0 / (T * K * gamma) + 11 * L * FULL * gamma + B_0 / (4 * n * eta_u**2),
            below((sp.Rational(1, 2) - 5 * x) * M, _averaged.subs(sum_B, _sum_B)),
            above(eta_u, T),
            _cap,
        ),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, last line",
        "21*L*K*gamma <= 1/4",
        at_most(21 * x, sp.Rational(1, 4), below(gamma, 1 / (84 * K * L))),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, last line",
        "B^0/(4*n*eta_u^2) <= L*F_0/(4*T)",
        at_most(B_0 / (4 * n * eta_u**2), L * F_0 / (4 * T), _start_B),
    ),
    _of_theorem_3_11(
        "proof of Theorem 3.11, last line",
        "the first bound of the theorem",
        at_most(
            M,
            4 * F_0 / (T * K * gamma) + 44 * L * FULL * gamma + L * F_0 / T,
            below((sp.Rational(1, 2) - 21 * x) * M, F_0 / (T * K * gamma) + 11 * L * FULL * gamma + L * F_0 / (4 * T)),
            below(21 * x, sp.Rational(1, 4)),
        ),
    ),
    _of_theorem_3_11_tuned(
        "second claim",
        "(1/T)*sum_t (G_u + G_v) <= 8*sqrt(11*L*F_0/(K*T)*(sigma_u^2/n + sigma_v^2)) + 337*L*F_0/T",
        drawn(lambda draw, rest: _full_rate(draw, 84, 11, rest), kind=StepKind.END_TO_END, rest=337),
        remark="L is taken so large that the root is rational.",
    ),
    _of_theorem_3_11_tuned(
        "second claim, step size",
        "(84*L*K + sqrt(11*L*K*T*A/F_0))^(-1) <= 1/(84*L*K)",
        at_most(gamma, 1 / (84 * L * K), _step_full),
        remark="A is sigma_u^2/n + sigma_v^2 and s the root.",
    ),
    _of_theorem_3_11_tuned(
        "second claim, first term",
        "4*F_0/(T*K*gamma) = 336*L*F_0/T + 4*sqrt(11*L*F_0*A/(K*T))",
        at_most(4 * F_0 / (T * K * gamma), 336 * L * F_0 / T + 4 * root * F_0 / (K * T), _step_full, operator="=="),
    ),
    _of_theorem_3_11_tuned(
        "second claim, second term",
        "44*L*A*gamma <= 4*sqrt(11*L*F_0*A/(K*T))",
        at_most(44 * L * A * gamma, 4 * root * F_0 / (K * T), _step_full, _root_full),
    ),
    _of_theorem_3_11_tuned(
        "second claim",
        "4*F_0/(T*K*gamma) + 44*L*A*gamma + L*F_0/T <= 8*sqrt(11*L*F_0*A/(K*T)) + 337*L*F_0/T",
        at_most(
            4 * F_0 / (T * K * gamma) + 44 * L * A * gamma + L * F_0 / T,
            8 * root * F_0 / (K * T) + 337 * L * F_0 / T,
            _step_full,
            _root_full,
        ),
    ),
    _of_fedavg_full(
        "Section 3.3.2",
        "(1/T)*sum_t E||grad f(u^t)||^2 <= 8*sqrt(11*sigma_u^2*L*F_0/(n*K*T)) + 337*L*F_0/T",
        drawn(lambda draw, rest: _full_rate(draw, 84, 11, rest, personal=False), kind=StepKind.END_TO_END, rest=337),
    ),
    _of_fedavg_full(
        "Section 3.3.2",
        "Theorem 3.11 with sigma_v^2 = 0",
        same(at(_rate_full, {s.sigma_v: 0}), 8 * sp.sqrt(11 * su * L * F_0 / (n * K * T)) + 337 * L * F_0 / T),
    ),
)

STEPS: tuple[Step, ...] = (*PARTIAL, *COMPLETE)
