"""Proof of Lemma 4.4: how stale the remembered iterates become (Appendix A)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from bounds import symbols as s
from bounds.ledger.draw import Draw, NoisyRational, Rational, expect, expect_square, mean
from bounds.ledger.proof import Proof, at_most, drawn, gram, same
from bounds.ledger.step import Step, StepKind, above, below
from bounds.ledger.vectors import dot, square, vectors
from bounds.ledger.written import written
from bounds.papers.pfl.proofs import forms
from bounds.papers.pfl.proofs.control import A_8
from bounds.papers.pfl.proofs.runs import (
    Histories,
    LocalRound,
    QuadraticClient,
    QuadraticClients,
    average,
    scaffold,
    small_run,
)
from bounds.papers.pfl.proofs.scaffold import E_LEMMA, E_SECOND
from bounds.papers.pfl.proofs.terms import r
from bounds.papers.pfl.proofs.theorems import NOISE

n, m, K, L, gamma, eta_u, eta_v = s.n, s.m, s.K, s.L, s.gamma, s.eta_u, s.eta_v
G_u, G_v, E, C = s.G_u_prev, s.G_v_prev, s.E, s.C_prev
su, sv = s.sigma_u**2, s.sigma_v**2
Gap = tuple[Fraction, Fraction]
Pairs = Iterable[Gap]
ZERO = Fraction(0)


def _run(draw: Draw) -> Histories:
    return small_run(draw, scaffold=True)


# --- Exact instances -----------------------------------------------------------------------------------------------


def _parts(one: LocalRound, i: int) -> tuple[list[LocalRound], list[LocalRound]]:
    """The next rounds where client i did not take part, and where it did."""
    return [a for a in one.next if a.seen[i] != one.t], [a for a in one.next if a.seen[i] == one.t]


def _each(law: Histories) -> list[tuple[int, int]]:
    return list(itertools.product(range(law.p.n), range(law.p.K)))


def _factorised(draw: Draw) -> Pairs:
    """E||alpha_ik^{t-1} - u^t||^2 against the two expectations with weights 1 - m/n and m/n."""
    law = _run(draw)
    p, t = law.p, law.last
    share = Fraction(p.m, p.n)
    for i, k in _each(law):

        def left(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            return mean(expect_square(after.memory[i][k][0] - after.u) for after in one.next)

        def right(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            kept = mean(expect_square(one.memory[i][k][0] - after.u) for after in one.next)
            return (1 - share) * kept + share * mean(expect_square(one.walks[i][k][0] - a.u) for a in one.next)

        yield law.mean(t, left), law.mean(t, right)


def _conditioned(draw: Draw) -> Pairs:
    """E||alpha_ik^{t-1} - u^t||^2 against expectations given that client i does not, or does, take part."""
    law = _run(draw)
    p, t = law.p, law.last
    share = Fraction(p.m, p.n)
    for i, k in _each(law):

        def left(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            return mean(expect_square(after.memory[i][k][0] - after.u) for after in one.next)

        def right(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            out, within = _parts(one, i)
            kept = mean(expect_square(one.memory[i][k][0] - after.u) for after in out) if out else ZERO
            return (1 - share) * kept + share * mean(expect_square(one.walks[i][k][0] - a.u) for a in within)

        yield law.mean(t, left), law.mean(t, right)


def _change_u(one: LocalRound) -> NoisyRational:
    """E(u^{t+1} - u^t | F^t)."""
    return one.known(average([each.u - one.u for each in one.next]))


def _change_v(one: LocalRound, i: int) -> NoisyRational:
    """E(v_i^{t+1} - v_i^t | F^t)."""
    return one.known(average([each.v[i] - one.v[i] for each in one.next]))


def _crossed(draw: Draw) -> Pairs:
    law = _run(draw)
    t = law.last
    for i, k in _each(law):

        def left(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            return mean(expect(after.u - one.u, one.memory[i][k][0] - one.u) for after in one.next)

        def right(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            return expect(_change_u(one), one.memory[i][k][0] - one.u)

        yield law.mean(t, left), law.mean(t, right)


def _turned(draw: Draw) -> Histories:
    """Two clients, one in each round without noise, whose v_i has reached the minimum when round 1 begins."""
    g = draw.rational(1, 3)
    plain = QuadraticClients(
        clients=(),
        m=1,
        K=1,
        T=2,
        L=Fraction(1),
        steps=(Fraction(1),) * 4,
        sigma_u=ZERO,
        sigma_v=ZERO,
        noise_u=ZERO,
        noise_v=ZERO,
        u=ZERO,
        v=(ZERO, ZERO),
        scaffold=True,
    )
    two = QuadraticClient(h=ZERO, c=Fraction(1), p=ZERO, g=g, q=ZERO)
    steps = scaffold(draw, replace(plain, clients=(two, two)))
    # u goes from 0 to gamma*g, where the derivative u - q by v_i is 0.
    reached = replace(two, q=steps[0] * steps[2] * g)
    return Histories(replace(plain, clients=(reached, reached), steps=steps))


def _decay_u(draw: Draw, *, shrink: Rational, moved: Rational, drift: Rational, change: Rational) -> Pairs:
    """Both sides of the display; the constants are those of its four terms."""
    law = small_run(draw, scaffold, scaffold=True)
    p, t = law.p, law.last
    share = Fraction(p.m, p.n)
    for i, k in _each(law):

        def left(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            return mean(expect_square(after.memory[i][k][0] - after.u) for after in one.next)

        def right(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            total = (1 - share / shrink) * expect_square(one.memory[i][k][0] - one.u) + moved * one.move_u()
            total += drift * share * expect_square(one.walks[i][k][0] - one.u)
            return total + change / share * expect_square(_change_u(one))

        yield law.mean(t, left), law.mean(t, right)


def _decay_v(draw: Draw, *, earlier: bool) -> Pairs:
    """Both sides of the display; ``earlier``: beta^{t-2} in place of beta^{t-1} on the right."""
    law = small_run(draw, scaffold, scaffold=True) if draw.index % 4 else _turned(draw)
    p, t = law.p, law.last
    share = Fraction(p.m, p.n)
    for i, k in _each(law):

        def left(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            return mean(expect_square(after.memory[i][k][1] - after.v[i]) for after in one.next)

        def right(one: LocalRound, i: int = i, k: int = k) -> Fraction:
            now = one.memory[i][k][1]
            old = [now] if earlier else [after.memory[i][k][1] for after in one.next]
            total = (1 - share / 2) * mean(expect_square(beta - one.v[i]) for beta in old) + 2 * one.move_v(i)
            total += 2 * share * expect_square(one.walks[i][k][1] - one.v[i])
            return total + 2 / share * expect_square(_change_v(one, i))

        yield law.mean(t, left), law.mean(t, right)


def _mean_change(draw: Draw) -> Pairs:
    law = _run(draw)
    p = law.p
    return [
        (expect_square(_change_u(one) + p.gamma / p.n * one.known(sum(one.sums, NoisyRational()))), ZERO)
        for one in law.rounds(law.last)
    ]


def _jensen_u(draw: Draw) -> Gap:
    law = _run(draw)
    p, t = law.p, law.last
    left = law.mean(t, lambda one: expect_square(one.known(sum(one.sums, NoisyRational()))))
    return (p.gamma / p.n) ** 2 * left, law.mean(t, LocalRound.T_2u)


def _jensen_v(draw: Draw) -> Gap:
    law = _run(draw)
    p, t = law.p, law.last
    left = law.mean(t, lambda one: mean(expect_square(_change_v(one, i)) for i in range(p.n)))
    return left, law.mean(t, LocalRound.T_2v)


# --- Expressions ---------------------------------------------------------------------------------------------------

x, a, D_u = vectors("x a Du")
lkg = L * K * gamma
hat = m / n * G_v
DU, DV, MU, MV, a2, move, e2, mean_move = sp.symbols("DU DV MU MV a2 move e2 mean_move", nonnegative=True)
kappa = sp.Symbol("kappa", positive=True)
_fewer = below(m, n)
_cap, _cap_m = below(72 * lkg, 1), below(72 * lkg * r**2, m)
_outer = (above(eta_u**2, m), above(eta_v**2, n / m))
_cube = (below(m, r**3), above(r, 1))
_a_13_u = (
    4 * K**2 * gamma**2 * G_u
    + 72 * L**2 * K * gamma**2 / n * E
    + 64 * L**2 * K * gamma**2 * (n - m) / (m * n**2) * C
    + 18 * K * su * gamma**2 / m
)
_a_13_v = 4 * K**2 * gamma**2 * hat + 8 * L**2 * K * gamma**2 * m / n**2 * E + 2 * K * sv * gamma**2 * m / n
_a_11 = 4 * L**2 * K * gamma**2 / n * E + 2 * K**2 * gamma**2 * G_u
_a_12 = 4 * L**2 * K * gamma**2 * m / n**2 * E + 2 * K**2 * gamma**2 * hat
_a_10 = (1 - m / (2 * n)) * C + 2 * n * K * (_a_13_u + _a_13_v) + 2 * m / n * E + 2 * n**2 * K / m * (_a_11 + _a_12)
_a_14 = (
    (1 - m / (3 * n)) * C + 3 * m / r * E + m * r**2 * K / (72 * L**2) * (G_u + hat) + m**2 / (72 * L**2) * NOISE
).subs(n, r**3)
_previous = {s.C: C, s.G_u: G_u, s.G_v: G_v}
_E_third = (C / (54 * r**2) + n * K / (216 * L**2) * (G_u + hat) + m * r / (72 * L**2) * NOISE).subs(n, r**3)
_a_10_r = _a_10.subs(n, r**3)
_lemma_4_4 = ((1 - m / (4 * n)) * C + m * r**2 * K / (36 * L**2) * (G_u + hat) + m**2 / (18 * L**2) * NOISE).subs(
    n, r**3
)

_of_lemma_4_4 = Proof("pfl/lemma-4.4", "proof of Lemma 4.4", first=2)

STEPS: tuple[Step, ...] = (
    _of_lemma_4_4(
        "first display, second equality",
        "E||alpha_ik^{t-1} - u^t||^2 = (1 - m/n)*E||alpha_ik^{t-2} - u^t||^2 + (m/n)*E||u_ik^{t-1} - u^t||^2",
        drawn(_factorised, "=="),
        repaired=drawn(_conditioned, "=="),
        repair="the expectations given that client i does not, or does, take part in round t-1: u^t depends on it",
        remark="u^t is made from the sample of round t-1 and is not independent of 1_{i in S^{t-1}}. The same for beta,"
        " where v_i^t = v_i^{t-1} unless i takes part. Carried to eq. (A.10), the repair adds the spread of the"
        " clients' changes: at most 64*L^2*K^2*gamma^2/(m*n)*(C + E) + 4*K^2*gamma^2*sigma_u^2/m, for which eq."
        " (A.14) has slack. Lemma 4.4 stands.",
    ),
    _of_lemma_4_4(
        "first display, inequality",
        "||u_ik^{t-1} - u^t||^2 <= 2*(||u_ik^{t-1} - u^{t-1}||^2 + ||du||^2)",
        gram(square(x - D_u), 2 * (square(x) + square(D_u))),
    ),
    _of_lemma_4_4(
        "second display, first line",
        "||alpha_ik^{t-2} - u^t||^2 = ||alpha_ik^{t-2} - u^{t-1}||^2 + ||du||^2 + 2*<du, alpha_ik^{t-2} - u^{t-1}>",
        same(square(a - D_u), square(a) + square(D_u) + 2 * dot(D_u, a)),
        repaired=same(square(a - D_u), square(a) + square(D_u) - 2 * dot(D_u, a)),
        repair="minus the inner product; the next inequality does not see the sign",
        remark="a = alpha_ik^{t-2} - u^{t-1}.",
    ),
    _of_lemma_4_4(
        "second display, inequality",
        "E<du, alpha_ik^{t-2} - u^{t-1}> = E<E(du | F^{t-1}), alpha_ik^{t-2} - u^{t-1}>",
        drawn(_crossed, "==", kind=StepKind.STANDARD),
        remark="The second vector is known given F^{t-1}.",
    ),
    _of_lemma_4_4(
        "second display, inequality",
        "2*<E(du | F), a> <= kappa*||a||^2 + ||E(du | F)||^2/kappa",
        gram(2 * dot(D_u, a), kappa * square(a) + square(D_u) / kappa),
    ),
    _of_lemma_4_4(
        "choice of kappa",
        "kappa = m/(2*(n-m)) has n - m > 0",
        at_most(n - m, 0, _fewer, operator=">"),
        repaired=at_most(n - m, sp.Integer(0), below(m + 1, n), operator=">"),
        repair="m < n; for m = n the factor 1 - m/n removes the term",
    ),
    _of_lemma_4_4(
        "third display",
        "(1 - m/n)*((1 + kappa)*||a||^2 + ||du||^2 + ||E(du | F)||^2/kappa) + (2*m/n)*(||u_ik - u||^2 + ||du||^2)"
        " <= (1 - m/(2*n))*||a||^2 + 2*||du||^2 + (2*m/n)*||u_ik - u||^2 + (2*n/m)*||E(du | F)||^2",
        at_most(
            (1 - m / n) * (a2 + move)
            + m / (2 * n) * a2
            + 2 * (n - m) ** 2 / (m * n) * mean_move
            + 2 * m / n * (e2 + move),
            (1 - m / (2 * n)) * a2 + 2 * move + 2 * m / n * e2 + 2 * n / m * mean_move,
            _fewer,
        ),
        remark="a2, move, e2 and mean_move are the four expectations. By (1 - m/n)*kappa = m/(2*n) and (1 - m/n)/kappa "
        "= 2*(n - m)^2/(m*n), which for m = n is more than stands there.",
    ),
    _of_lemma_4_4(
        "third display",
        "E||alpha_ik^{t-1} - u^t||^2 <= (1 - m/(2*n))*E||alpha_ik^{t-2} - u^{t-1}||^2 + 2*E||du||^2"
        " + (2*m/n)*E||u_ik^{t-1} - u^{t-1}||^2 + (2*n/m)*E||E(du | F^{t-1})||^2",
        drawn(_decay_u, shrink=2, moved=2, drift=2, change=2),
        remark="Two rounds of Scaffold-P with the step sizes of the lemma. With any step sizes the line can fail, since"
        " it has the expectations of the first display, which are not those given that client i does or does not take"
        " part.",
    ),
    _of_lemma_4_4(
        "fourth display",
        "E||beta_ik^{t-1} - v_i^t||^2 <= (1 - m/(2*n))*E||beta_ik^{t-1} - v_i^{t-1}||^2 + 2*E||dv_i||^2"
        " + (2*m/n)*E||v_ik^{t-1} - v_i^{t-1}||^2 + (2*n/m)*E||E(dv_i | F^{t-1})||^2",
        drawn(lambda draw: _decay_v(draw, earlier=False)),
        repaired=drawn(lambda draw: _decay_v(draw, earlier=True)),
        repair="beta^{t-2} in place of beta^{t-1} on the right, as alpha^{t-2} in the display before",
        remark="Two rounds of Scaffold-P with the step sizes of the lemma. Eq. (A.10) sums the repaired form.",
    ),
    _of_lemma_4_4(
        "eq. (A.10)",
        "C^t <= (1 - m/(2*n))*C^{t-1} + 2*n*K*E(||du||^2 + (1/n)*sum_i ||dv_i||^2) + (2*m/n)*E^{t-1}"
        " + (2*n^2*K/m)*E(||E(du | F)||^2 + (1/n)*sum_i ||E(dv_i | F)||^2)",
        same(
            (1 - m / (2 * n)) * C
            + n * K * 2 * DU
            + K * 2 * (n * DV)
            + 2 * m / n * E
            + 2 * n / m * (n * K * MU + K * n * MV),
            (1 - m / (2 * n)) * C + 2 * n * K * (DU + DV) + 2 * m / n * E + 2 * n**2 * K / m * (MU + MV),
        ),
        remark="The sum of the two displays over i and k.",
    ),
    _of_lemma_4_4(
        "before eq. (A.11)",
        "E(du | F) = -(gamma/n)*sum_ik E(grad_u f_i(u_ik, v_ik) | F)",
        drawn(_mean_change, "==", form=forms.mean_move),
    ),
    _of_lemma_4_4(
        "eq. (A.11), first inequality",
        "(gamma^2/n^2)*E||E(sum_ik grad_u f_i(u_ik, v_ik) | F)||^2 <= T_2u",
        drawn(_jensen_u, form=forms.mean_square_u),
    ),
    _of_lemma_4_4(
        "eq. (A.12), first inequality",
        "(1/n)*sum_i E||E(dv_i | F)||^2 <= T_2v",
        drawn(_jensen_v, form=forms.mean_square_v),
    ),
    _of_lemma_4_4(
        "eq. (A.13), first line",
        "E||du||^2 <= 4*K^2*gamma^2*G_u + 72*L^2*K*gamma^2/n*E + 64*L^2*K*gamma^2*(n-m)/(m*n^2)*C"
        " + 18*K*sigma_u^2*gamma^2/m",
        at_most(A_8.subs({s.T_2u: _a_11, s.S_3u: 16 * L**2 * K * (C + E)}), _a_13_u, _fewer),
        remark="Lemmas 3.3 and 4.2 in eq. (A.8).",
    ),
    _of_lemma_4_4(
        "eq. (A.13), second line",
        "(1/n)*sum_i E||dv_i||^2 <= 4*K^2*gamma^2*hat G_v + 8*L^2*K*gamma^2*m/n^2*E + 2*K*sigma_v^2*gamma^2*m/n",
        same(2 * written(_a_12) + 2 * K * sv * gamma**2 * m / n, _a_13_v),
        remark="Lemma 3.3 in eq. (A.4). One of the two texts of the paper has lost the hat.",
    ),
    _of_lemma_4_4(
        "eq. (A.14)",
        "C^t <= (1 - m/(3*n))*C^{t-1} + 3*m/n^(1/3)*E^{t-1} + m*n^(2/3)*K/(72*L^2)*(G_u + hat G_v)"
        " + m^2/(72*L^2)*(sigma_u^2/m + m*sigma_v^2/n)",
        at_most(_a_10_r, _a_14, _cap, _cap_m, *_cube),
        remark="Eq. (A.11), (A.12) and (A.13) in eq. (A.10); r is the cube root of n.",
    ),
    _of_lemma_4_4(
        "use of Lemma 4.3",
        "12*L^2*K*(K-1)*(gamma_u^2 + gamma_v^2) <= 1",
        at_most(12 * L**2 * K * (K - 1) * ((gamma / eta_u) ** 2 + (gamma / eta_v) ** 2), 1, _cap, _fewer, *_outer),
        remark="Not printed: the condition of the lemma.",
    ),
    _of_lemma_4_4(
        "last display, second inequality",
        "E <= 96*L^2*K^2*gamma^2/eta_u^2*C + 24*n*K^3*gamma^2*(G_u/eta_u^2 + G_v/eta_v^2)"
        " + 52*n*K^2*gamma^2*(sigma_u^2/eta_u^2 + sigma_v^2/eta_v^2)",
        at_most(E_LEMMA.subs(_previous), E_SECOND.subs(_previous)),
    ),
    _of_lemma_4_4(
        "last display, third inequality",
        "E <= C/(54*n^(2/3)) + n*K/(216*L^2)*(G_u + hat G_v) + m*n^(1/3)/(72*L^2)*(sigma_u^2/m + m*sigma_v^2/n)",
        at_most(
            E_SECOND.subs(_previous).subs(n, r**3),
            _E_third,
            _cap,
            _cap_m,
            above(eta_u**2, m),
            above(eta_v**2, r**3 / m),
            *_cube,
        ),
        remark="r is the cube root of n.",
    ),
    _of_lemma_4_4(
        "last line",
        "the bound on E in eq. (A.14) gives the lemma",
        at_most(_a_14.subs(E, _E_third), _lemma_4_4, *_cube),
        remark="r is the cube root of n.",
    ),
)
