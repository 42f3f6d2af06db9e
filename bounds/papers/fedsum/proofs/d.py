"""Appendix D: FedSUM, Lemmas D.1 to D.6 and Theorem D.1, eqs. (40)-(76)."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from bounds.ledger.draw import Draw, expect_square
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, at_most, counting, drawn, gram
from bounds.ledger.step import Step, StepKind, below
from bounds.ledger.vectors import square
from bounds.papers.fedsum.proofs import besides, rate
from bounds.papers.fedsum.proofs.main import of_round, same_variable
from bounds.papers.fedsum.proofs.shared import common, delays, forms, local, weights
from bounds.papers.fedsum.proofs.shared.common import ZERO, Side
from bounds.papers.fedsum.proofs.shared.runs import small_run, total
from bounds.papers.fedsum.proofs.shared.terms import A_t
from bounds.papers.fedsum.proofs.shared.windows import Pairs, both, corollary_3, counts, lemma_2, visits
from bounds.papers.fedsum.symbols import K, N, T, eta, eta_l, sigma

_state = Proof("fedsum/lemma-d.4", "Appendix D", "fedsum/appendix-d")
_move = Proof("fedsum/lemma-d.1", "Lemma D.1")
_stale = Proof("fedsum/lemma-d.4", "Lemma D.4")
_P, _V = sp.symbols("P V", nonnegative=True)


def _control(draw: Draw, *, before: bool) -> Iterable[Side]:
    """Eq. (40) for i in A_t, or for clients that took part before round t."""
    run = small_run(draw, "fedsum")
    p = run.p
    for t in run.rounds():
        clients = run.seen(t - 1 if before else t)
        yield from (same_variable(run.h[t][i], of_round(run, i, run.who.before(i, t)) / p.K) for i in clients)


def _corrections(draw: Draw) -> Iterable[Side]:
    run = small_run(draw, "fedsum")
    for (i, t), direction in run.direction.items():
        others = total(total(run.stochastic[j, run.who.before(j, t)]) for j in run.seen(t - 1) if j != i)
        yield same_variable(direction, others / run.p.K)


def _old_direction(draw: Draw, *, printed: bool) -> Iterable[Side]:
    """y^{a-1}, with the rounds a_{j,a} that eq. (58) prints, or with a_{j,a-1}."""
    run = small_run(draw, "fedsum")
    for _, _, a, _ in visits(run.who):
        pairs = [(j, run.who.last(j, a) if printed else run.who.before(j, a)) for j in run.seen(a - 1)]
        yield same_variable(run.y[a - 1], total(total(run.stochastic[j, r]) for j, r in pairs) / run.p.K)


def _squared(draw: Draw) -> Iterable[Side]:
    run = small_run(draw, "fedsum")
    p = run.p
    for _, _, a, _ in visits(run.who):
        y = run.y[a - 1]
        left = sum((expect_square(k * y) for k in range(p.K)), ZERO)
        yield left, p.K**3 * expect_square(y)


def _split_directions(draw: Draw, factor: int) -> Iterable[Side]:
    """E||y^{a-1}||^2 K^2 by gradients and noise."""
    run = small_run(draw, "fedsum")
    p = run.p
    for _, _, a, _ in visits(run.who):
        gradients = expect_square(run.aggregate(a - 1)) if a else ZERO
        right = factor * (gradients + p.N * p.K * p.sigma**2)
        yield p.K**2 * expect_square(run.y[a - 1]), right


def _old_rounds(p: ParticipationMatrix, more: int) -> Pairs:
    """How often the gradients of y^(q) occur as those of y^{a-1}, against N*(tau_max + more)."""
    left = counts(p.T, ((1, [a - 1]) for _, _, a, _ in visits(p)))
    return both(left, counts(p.T, [(p.N * (p.tau_max + more if more else p.tau_max_T), range(p.T))]))


STEPS: tuple[Step, ...] = (
    _state(
        "eq. (40)",
        "h_i^(t) = (1/K) sum_k g_i(x_i^{a_{i,t-1},k}, xi_i^{a_{i,t-1},k}) for i in A_t",
        drawn(lambda draw: _control(draw, before=False), "=="),
        repaired=drawn(lambda draw: _control(draw, before=True), "==", form=lambda: forms.control(local=True)),
        repair="for i in A_{t-1}; h_i^(t) = 0 for the others, as in eq. (8)",
        remark="In its first round a client has a_{i,t-1} = -1; with x_i^{-1,k} = x^(-1) = x^(0) eq. (40) takes a "
        "gradient there. This is where Lemma D.4 loses an F_0 term.",
    ),
    _state(
        "eq. (41)",
        "y_i^(t) = (1/K) sum_{j in A_{t-1} without i} sum_k g_j(x_j^{a_{j,t-1},k}, xi_j^{a_{j,t-1},k})",
        drawn(_corrections, "==", form=forms.correction),
    ),
    _move(
        "eq. (42), equalities",
        "||x^{t+1} - x^t||^2 = (eta_g eta_l K/N)^2 ||y^t||^2 = (eta_g eta_l/N)^2 ||sum_{i in A_t} sum_k g_i||^2",
        drawn(lambda draw: common.one_step(draw, "d"), "==", form=forms.one_step),
    ),
    _move(
        "eq. (42), inequality",
        "(eta_g eta_l/N)^2 ||u + v||^2 <= 2 (eta_g eta_l/N)^2 ||u||^2 + 2 (eta_g eta_l/N)^2 ||v||^2",
        gram(
            eta**2 / N**2 * square(common.u + common.v),
            2 * eta**2 / N**2 * square(common.u) + 2 * eta**2 / N**2 * square(common.v),
        ),
        remark="u the noise, v the gradients.",
    ),
    _move(
        "eq. (43)",
        "E||x^{t+1} - x^t||^2 <= 2 (eta_g eta_l)^2 K/N sigma^2 + 2 (eta_g eta_l/N)^2 E||sum_i sum_k grad f_i||^2",
        at_most(
            2 * eta**2 / N**2 * (_V + _P),
            2 * eta**2 * K / N * sigma**2 + 2 * eta**2 / N**2 * _P,
            below(_V, N * K * sigma**2, "Lemma B.1"),
        ),
    ),
    _move(
        "statement",
        "sum_t E||x^{t+1} - x^t||^2 <= 2 (eta_g eta_l)^2 K T sigma^2/N + 2 (eta_g eta_l/N)^2 sum_t E||sum_i sum_k"
        " grad f_i||^2",
        drawn(
            lambda draw, **numbers: common.movement(draw, "d", **numbers),
            kind=StepKind.END_TO_END,
            noise=2,
            gradients=2,
            form=forms.movement,
        ),
    ),
    *lemma_2(Proof("fedsum/lemma-d.2", "Lemma D.2"), last="=="),
    *corollary_3(Proof("fedsum/corollary-d.3", "Corollary D.3")),
    *local.split_and_far(_stale, local.D_4),
    *local.drift_of_clients(_stale, local.D_4),
    *local.five_terms(_stale, local.D_4),
    _stale(
        "eq. (57)",
        "sum_k ||sum_{p<k} y^{a-1}||^2 = sum_k k^2 ||y^{a-1}||^2 <= K^3 ||y^{a-1}||^2",
        drawn(_squared, form=forms.squared_steps),
    ),
    _stale(
        "eq. (58), equality",
        "y^{a-1} = (1/K) sum_{j in A_{a-1}} sum_k g_j(x_j^{a_{j,a},k}, xi_j^{a_{j,a},k}), a = a_{i,t}",
        drawn(lambda draw: _old_direction(draw, printed=True), "=="),
        repaired=drawn(lambda draw: _old_direction(draw, printed=False), "==", form=forms.direction),
        repair="a_{j,a-1} in place of a_{j,a}",
        remark="Client i itself takes part in round a.",
    ),
    _stale(
        "eq. (58), first inequality",
        "K^2 E||y^{a-1}||^2 <= 2 E||sum_{j in A_{a-1}} sum_k grad f_j||^2 + 2 N K sigma^2",
        drawn(_split_directions, factor=2, form=forms.old_direction),
        remark="For every t and i; times 2 eta_l^2 K, summed over at most N T of them.",
    ),
    _stale(
        "eq. (58), noise",
        "4 eta_l^2 K sum_t sum_{i in A_t} N K sigma^2 <= 4 eta_l^2 K^2 N^2 sigma^2 T",
        at_most(
            4 * eta_l**2 * K * T * A_t * N * K * sigma**2, 4 * eta_l**2 * K**2 * N**2 * sigma**2 * T, below(A_t, N)
        ),
    ),
    _stale(
        "eq. (58), last inequality",
        "sum_t sum_{i in A_t} q_{a-1} <= N tau_max sum_t q_t",
        counting(_old_rounds, more=0),
        repaired=counting(_old_rounds, more=1, form=delays.old_rounds),
        repair="each round occurs at most N (tau_max + 1) times",
        remark="q_p = E||sum_j sum_k grad f_j||^2; coefficient by coefficient.",
    ),
    *local.assembly(_stale, local.D_4),
    *weights.as_printed(_stale, local.D_4),
    *besides.not_printed(_stale, local.D_4),
    *common.lemma_5(Proof("fedsum/lemma-d.5", "Lemma D.5"), "d", ("63", "64", "65", "66"), equality=True),
    *rate.lemma_6(Proof("fedsum/lemma-d.6", "Lemma D.6"), rate.D_6),
    *rate.theorem(Proof("fedsum/theorem-d.1", "Theorem D.1"), rate.D_6),
)
