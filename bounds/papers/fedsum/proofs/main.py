"""Sections 2 to 4: the delays, what the algorithms compute (eqs. (3)-(11)), Theorem 4.1 and Corollary 4.1."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial

import sympy as sp

from bounds.ledger.draw import Draw, NoisyRational, expect_square, mean
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, at_most, counting, drawn
from bounds.ledger.step import Step, StepKind
from bounds.papers.fedsum.proofs import tails, tuned
from bounds.papers.fedsum.proofs.shared import delays, forms
from bounds.papers.fedsum.proofs.shared.runs import ScalarRun, small_run, total
from bounds.papers.fedsum.proofs.shared.terms import PLAYED, TO_T
from bounds.papers.fedsum.symbols import Delta_f, K, L, N, T, sigma, tau_avg

_rounds = Proof("fedsum/theorem-4.1", "Section 2.2", "fedsum/delays")
_algorithms = Proof("fedsum/theorem-4.1", "Section 3", "fedsum/algorithms")
_theorem = Proof("fedsum/theorem-4.1", "Theorem 4.1")
_corollary = Proof("fedsum/corollary-4.1", "Corollary 4.1")

Sides = Iterable[tuple[Fraction, Fraction]]


def _recursion(p: ParticipationMatrix) -> list[tuple[int, int]]:
    rounds = [(i, t) for i in range(p.N) for t in range(p.T)]
    return [(p.last(i, t), t if p.matrix[t][i] else p.before(i, t)) for i, t in rounds]


def _taken_part(p: ParticipationMatrix, *, printed: bool) -> Iterable[tuple[int, int]]:
    """Sizes of A_t, as the clients with a_{i,t} >= 0, and of the union; both are subsets of the clients."""
    for t in range(p.T):
        union = {i for j in range(t + 1) for i in p.present(t if printed else j)}
        yield len(p.seen(t)), len(union)


def same_variable(left: NoisyRational, right: NoisyRational) -> tuple[Fraction, Fraction]:
    """Two random variables are one if the expected square of the difference is 0."""
    return expect_square(left - right), Fraction(0)


def _control(draw: Draw, algorithm: str) -> Sides:
    run = small_run(draw, algorithm)
    for t in run.rounds():
        for i in range(run.p.N):
            a = run.who.last(i, t)
            right = total(run.stochastic[i, a]) / run.p.K if a >= 0 else NoisyRational()
            yield same_variable(run.h[t + 1][i], right)


def _message(draw: Draw) -> Sides:
    run = small_run(draw, "fedsum-b")
    for (i, t), delta in run.delta.items():
        before = run.who.before(i, t)
        old = total(run.stochastic[i, before]) / run.p.K if before >= 0 else NoisyRational()
        yield same_variable(delta, total(run.stochastic[i, t]) / run.p.K - old)


def _sum_of_messages(draw: Draw) -> Sides:
    run = small_run(draw, "fedsum-b")
    for t in run.rounds():
        first = total(delta for (_, j), delta in run.delta.items() if j <= t)
        second = total(run.delta[i, j] for i in run.seen(t) for j in range(t + 1) if run.who.last(i, j) == j)
        yield same_variable(run.y[t], first)
        yield same_variable(first, second)


def server_direction(draw: Draw, algorithm: str) -> Sides:
    """y^(t) against (1/K)*sum over i in A_t and k of g_i at the local iterates of round a_{i,t}."""
    run = small_run(draw, algorithm)
    return [same_variable(run.y[t], (run.aggregate(t) + run.noise(t)) / run.p.K) for t in run.rounds()]


def of_round(run: ScalarRun, i: int, t: int) -> NoisyRational:
    """sum_k g_i(x_i^{t,k}), with x_i^{-1,k} = x^(-1) = x^(0) and the expected gradient there."""
    return total(run.stochastic[i, t]) if t >= 0 else run.p.K * run.p.grad(i, run.x[0])


def _correction(draw: Draw, *, printed: bool) -> Sides:
    run = small_run(draw, "fedsum")
    for (i, t), direction in run.direction.items():
        others = [j for j in run.seen(t if printed else t - 1) if j != i]
        right = total(of_round(run, j, run.who.before(j, t)) for j in others) / run.p.K
        yield same_variable(direction, right)


def _stored(draw: Draw) -> Sides:
    run = small_run(draw, "fedsum-cr")
    for t in run.rounds():
        for i in range(run.p.N):
            a = run.who.last(i, t)
            yield Fraction(run.a[t + 1][i]), Fraction(a)
            yield same_variable(run.z[t + 1][i], run.at(a))


def _averaged(draw: Draw) -> Sides:
    run = small_run(draw, "fedsum-cr")
    for (i, t), direction in run.direction.items():
        before = run.who.before(i, t)
        window = range(before, t)
        others = [(j, p) for p in window for j in run.seen(p) if j != i]
        right = total(total(run.stochastic[j, run.who.last(j, p)]) for j, p in others) / ((t - before) * run.p.K)
        yield same_variable(direction, right)


def _root_of_mean(draw: Draw) -> tuple[sp.Expr, sp.Expr]:
    values = [sp.Rational(draw.rational(0, 6)) for _ in range(draw.whole(1, 4))]
    left = sp.Add(*(sp.sqrt(1 + value) for value in values)) / len(values)
    return left, sp.sqrt(1 + sp.Add(*values) / len(values))


def _expected_delay(draw: Draw) -> tuple[Fraction, Fraction]:
    """The 1/T term with max{1, tau_max} of the participation that is drawn, against that with the expectation."""
    delays = [draw.whole(0, 4) for _ in range(draw.whole(1, 4))]
    return mean(max(1, delay) for delay in delays), 1 + mean(delays)


def _reacting(draw: Draw) -> tuple[Fraction, sp.Expr]:
    """Eq. (12) for N = K = L = 1, T = 2, f = x^2/2, given that the client takes part in round 0 only.

    The noise of round 0 is s or -s with probability q each, 0 otherwise, sigma^2 = 2*q*s^2; the client takes part in
    round 1 exactly if it was 0: so here it was s or -s. tau_max is 2, with round 2, and eta_g*eta_l = 1/20, the second
    entry of the minimum being larger for sigma <= 5*|x^0|.
    """
    x, q, step = draw.positive(2), Fraction(1, 10 ** draw.whole(4, 8)), Fraction(1, 20)
    sigma = x * draw.rational(Fraction(1, 2), 5)
    draw.show(N=1, K=1, L=1, T=2, x0=x, sigma=sigma, q=q, eta_g_eta_l=step)
    square = sigma**2 / (2 * q)
    left = (x**2 + (1 - step) ** 2 * x**2 + step**2 * square) / 2
    gap, first, delays = x**2 / 2, x**2, (2, Fraction(1, 2))
    root = sp.sqrt(sp.Rational((1 + delays[1]) * sigma**2 * gap / 2))
    return left, 30 * root + sp.Rational(20 * delays[0] * (gap + first) / 2)


STEPS: tuple[Step, ...] = (
    _rounds(
        "eq. (3)",
        "a_{i,t} = a_{i,t-1} if client i is not in S_t, t if it is, with a_{i,-1} = -1",
        counting(_recursion, "=="),
    ),
    _rounds(
        "eq. (4)",
        "tau_t = max_i (t - a_{i,t}) >= 0",
        counting(lambda p: [(p.delay(t), 0) for t in range(p.T)], ">=", form=delays.nonnegative),
    ),
    _rounds(
        "Section 3.1, before eq. (7)",
        "A_t := union over j <= t of S_t is the set of clients that took part up to round t",
        counting(lambda p: _taken_part(p, printed=True), "=="),
        repaired=counting(lambda p: _taken_part(p, printed=False), "=="),
        repair="S_j in place of S_t",
    ),
    _algorithms(
        "eq. (5), second equality",
        "FedSUM-B: h_i^(t+1) = (1/K) sum_k grad F_i(x^{a_{i,t}}; xi_i^{a_{i,t},k}) if a_{i,t} >= 0, 0 if a_{i,t} = -1",
        drawn(lambda draw: _control(draw, "fedsum-b"), "==", form=lambda: forms.control(local=False)),
        remark="Against Algorithm 1, lines 3 to 13.",
    ),
    _algorithms(
        "eq. (6)",
        "delta_i^(t) = (1/K) sum_k grad F_i(x^(t); xi_i^{t,k}) - (1/K) sum_k grad F_i(x^{a_{i,t-1}};"
        " xi_i^{a_{i,t-1},k})",
        drawn(_message, "==", form=forms.message),
        remark="The second sum is 0 if a_{i,t-1} = -1.",
    ),
    _algorithms(
        "eq. (7), first and second equality",
        "y^(t) = sum_{j<=t} sum_{i in S_j} delta_i^(j) = sum_{i in A_t} sum_{j<=t} delta_i^(j) [j = a_{i,j}]",
        drawn(_sum_of_messages, "=="),
    ),
    _algorithms(
        "eq. (7), third equality, and eq. (14)",
        "FedSUM-B: y^(t) = (1/K) sum_{i in A_t} sum_k grad F_i(x^{a_{i,t}}; xi_i^{a_{i,t},k})",
        drawn(lambda draw: server_direction(draw, "fedsum-b"), "==", form=forms.direction),
    ),
    _algorithms(
        "eq. (8), first line",
        "FedSUM: h_i^(t+1) = (1/K) sum_k grad F_i(x_i^{a_{i,t},k}; xi_i^{a_{i,t},k}) if a_{i,t} >= 0, 0 if a_{i,t}"
        " = -1",
        drawn(lambda draw: _control(draw, "fedsum"), "==", form=lambda: forms.control(local=True)),
    ),
    _algorithms(
        "eq. (8), second line, and eq. (39)",
        "FedSUM: y^(t) = (1/K) sum_{i in A_t} sum_k grad F_i(x_i^{a_{i,t},k}; xi_i^{a_{i,t},k})",
        drawn(lambda draw: server_direction(draw, "fedsum"), "==", form=forms.direction),
    ),
    _algorithms(
        "eq. (9)",
        "y_i^(t) = (1/K) sum_{j in A_t without i} sum_k grad F_j(x_j^{a_{j,t-1},k}; xi_j^{a_{j,t-1},k})",
        drawn(lambda draw: _correction(draw, printed=True), "=="),
        repaired=drawn(lambda draw: _correction(draw, printed=False), "==", form=forms.correction),
        repair="A_{t-1} in place of A_t, as in eq. (41)",
        remark="A client that takes part in round t for the first time has a_{j,t-1} = -1; with x^(-1) = x^(0) it "
        "would count with its gradient at x^(0), which it has not sent.",
    ),
    _algorithms(
        "eq. (10)", "a_i^(t+1) = a_{i,t} and z_i^(t+1) = x^{a_{i,t}}, with x^(-1) = x^(0)", drawn(_stored, "==")
    ),
    _algorithms(
        "eq. (11)",
        "y_i^(t) = 1/((t - a_{i,t-1})*K) sum_{p=a_{i,t-1}}^{t-1} sum_{j in A_p without i} sum_k grad"
        " F_j(x_j^{a_{j,p},k})",
        drawn(_averaged, "==", form=forms.averaged),
        remark="A_{-1} is empty. The stochastic gradients of eq. (11) carry their xi.",
    ),
    _theorem(
        "step sizes",
        "eta_g = 1/sqrt(tau_max) has a value: tau_max > 0 for every participation",
        counting(lambda p: (Fraction(p.tau_max_T), Fraction(0)), ">", clients=(1, 2, 3), form=delays.somebody_is_away),
        remark=f"{TO_T}.",
    ),
    _theorem(
        "step sizes, for full participation",
        "the same for tau_max over rounds 0 ... T-1, as in Appendix F, or with everybody in round T too",
        counting(lambda p: (Fraction(p.tau_max), Fraction(0)), ">", clients=(1, 2, 3)),
        repaired=counting(
            lambda p: (Fraction(max(1, p.tau_max)), Fraction(0)), ">", clients=(1, 2, 3), form=tails.positive
        ),
        repair="max{1, tau_max} in place of tau_max",
        remark="If everybody always takes part, as in Case 1 with S = N or Case 2 with delta = 1, tau_max is 0 and"
        " eta_g = 1/sqrt(tau_max) has no value; no step sizes would do, as the bound is 0 without noise.",
    ),
    _theorem(
        "eq. (12) from eq. (113)",
        "30 sqrt(max{1, tau_avg} L sigma^2 Delta_f/(NKT)) <= 30 sqrt((1 + tau_avg) L sigma^2 Delta_f/(NKT))",
        at_most(
            30 * sp.sqrt(sp.Max(1, tau_avg) * L * sigma**2 * Delta_f / (N * K * T)),
            30 * sp.sqrt((1 + tau_avg) * L * sigma**2 * Delta_f / (N * K * T)),
        ),
    ),
    _theorem(
        "statement, eq. (12)",
        "mean of E||grad f(x^t)||^2 <= 30 sqrt((1 + tau_avg) L sigma^2 Delta_f/(NKT)) + 20 tau_max (L Delta_f + F_0)/T",
        drawn(partial(tuned.theorem_4_1, to_T=True), kind=StepKind.END_TO_END, count=60, root=30, rest=20),
        remark=f"{TO_T}. {PLAYED}, and no step sizes would do, as the right side is 0 without noise.",
    ),
    _theorem(
        "statement, 'arbitrary client participation', 'controllable or uncontrollable'",
        "E[||grad f(x^t)||^2 | S_0 ... S_{T-1}] averaged <= 30 sqrt((1 + tau_avg) L sigma^2 Delta_f/(NKT))"
        " + 20 tau_max (L Delta_f + F_0)/T",
        drawn(_reacting, kind=StepKind.END_TO_END),
        repaired=drawn(partial(tuned.theorem_4_1, to_T=True), kind=StepKind.END_TO_END, count=60, root=30, rest=20),
        repair="the participation is independent of the gradients' noise, which Lemma B.1 and eqs. (24) and (63) use",
        remark="A client that takes part again only after small noise: given that it does not, its noise was large, "
        "whatever sigma. f(x) = x^2/2; the noise of round 0 is sigma/sqrt(2*q) or minus that with probability q each, "
        "and 0 otherwise; given that it was not 0, tau_avg = 1/2, tau_max = 2, and the left side is (x0^2 + (19/20)^2"
        " x0^2 + sigma^2/(800*q))/2. Nothing in Assumptions 1.1 and 1.2 is about the participation; the line is true"
        " if it is read as given beforehand, as 'the expectation over the stochastic gradient' may mean.",
    ),
    _theorem(
        "not printed: the repaired theorem",
        "eq. (12) for tau_max over rounds 0 ... T-1 with max{1, tau_max} in place of tau_max",
        drawn(partial(tuned.theorem_4_1, to_T=False), kind=StepKind.END_TO_END, count=60, root=30, rest=20),
    ),
    _corollary(
        "after eq. (13)",
        "E sqrt(1 + tau_avg) <= sqrt(1 + E tau_avg)",
        drawn(_root_of_mean, kind=StepKind.STANDARD),
        remark="Jensen's inequality.",
    ),
    _corollary(
        "not printed: the second term of eq. (13) for tau_max over rounds 0 ... T-1",
        "E[20 max{1, tau_max} (L Delta_f + F_0)/T] <= 20 (1 + E[tau_max]) (L Delta_f + F_0)/T",
        drawn(_expected_delay, form=tails.expected_delay),
        remark="The expectation of the 1/T term of the repaired Theorem 4.1, over 20 (L Delta_f + F_0)/T. E[tau_max]"
        " alone would not do.",
    ),
    _corollary(
        "not printed: step sizes set beforehand",
        "1/(10 tau K L) <= 1/(10 tau_max K L) for the participation that is drawn, tau a delay that none exceeds",
        drawn(tuned.sure_step_size, form=tails.sure_step_size),
        remark="The step sizes of Theorem 4.1 are made of the delays of the participation drawn. Appendix G says that"
        " the expected delays suffice in the final theorem, which is true of the bound: with 1/(10 E[tau_max] K L) the"
        " cap of Lemmas C.6, D.6 and E.6 may be broken.",
    ),
    _corollary(
        "statement, eq. (13)",
        "E over the participation of the mean of E||grad f(x^t)||^2 <= 30 sqrt((1 + E tau_avg) L sigma^2 Delta_f/(NKT))"
        " + 20 E[tau_max] (L Delta_f + F_0)/T",
        drawn(partial(tuned.corollary_4_1, to_T=True), kind=StepKind.END_TO_END, count=30, root=30, rest=20),
        remark=f"Two participations, equally likely; step sizes of the one that is drawn. {TO_T}.",
    ),
    _corollary(
        "not printed: the repaired corollary",
        "the same for tau_max over rounds 0 ... T-1, max{1, tau_max} in the step sizes, 1 + E[tau_max] in the bound",
        drawn(partial(tuned.corollary_4_1, to_T=False), kind=StepKind.END_TO_END, count=30, root=30, rest=20),
    ),
)
