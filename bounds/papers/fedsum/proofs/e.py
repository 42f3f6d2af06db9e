"""Appendix E: FedSUM-CR, Lemmas E.1 to E.6 and Theorem E.1, eqs. (78)-(108)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bounds.ledger.draw import Draw, Rational, expect_square
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, at_most, counting, drawn
from bounds.ledger.step import Step, StepKind, above, below
from bounds.papers.fedsum.proofs import besides, rate
from bounds.papers.fedsum.proofs.main import of_round, same_variable
from bounds.papers.fedsum.proofs.shared import common, delays, forms, local, weights
from bounds.papers.fedsum.proofs.shared.common import ZERO, Side
from bounds.papers.fedsum.proofs.shared.runs import small_run, total
from bounds.papers.fedsum.proofs.shared.terms import A_t, Gamma, tau
from bounds.papers.fedsum.proofs.shared.windows import Pairs, both, corollary_3, counts, visits, window_bound
from bounds.papers.fedsum.symbols import K, L, N, T, eta_l, sigma

_state = Proof("fedsum/lemma-e.4", "Appendix E", "fedsum/appendix-e")
_move = Proof("fedsum/lemma-e.1", "Lemma E.1")
_stale = Proof("fedsum/lemma-e.4", "Lemma E.4")
_order = Proof("fedsum/lemma-e.5", "Lemma E.5")


def _control(draw: Draw, *, before: bool) -> Iterable[Side]:
    """Eq. (78) for all clients, or for those that took part before round t."""
    run = small_run(draw, "fedsum-cr")
    p = run.p
    for t in run.rounds():
        clients = run.seen(t - 1) if before else range(p.N)
        yield from (same_variable(run.h[t][i], of_round(run, i, run.who.before(i, t)) / p.K) for i in clients)


def _corrections(draw: Draw, stage: int) -> Iterable[Side]:
    """The equalities of eq. (79): z_i by x^{a'}, telescoping, and by y."""
    run = small_run(draw, "fedsum-cr")
    p = run.p
    for (i, t), direction in run.direction.items():
        b = run.who.before(i, t)
        factor = p.N / (p.eta * p.K * (t - b))
        lines = [
            direction,
            factor * (run.at(b) - run.x[t]) - run.h[t][i],
            factor * total(run.at(q) - run.at(q + 1) for q in range(b, t)) - run.h[t][i],
            Fraction(1, t - b) * total(run.y[q] for q in range(b, t)) - run.h[t][i],
        ]
        yield same_variable(lines[stage], lines[stage + 1])


def _squared(draw: Draw) -> Iterable[Side]:
    run = small_run(draw, "fedsum-cr")
    for _, _, a, b in visits(run.who):
        y = total(run.y[q] for q in range(b, a))
        yield sum((expect_square(k * y) for k in range(run.p.K)), ZERO), run.p.K**3 * expect_square(y)


def _by_gradients(draw: Draw) -> Iterable[Side]:
    run = small_run(draw, "fedsum-cr")
    for _, _, a, b in visits(run.who):
        y = total(run.y[q] for q in range(b, a))
        right = total(run.aggregate(q) + run.noise(q) for q in range(b, a) if q >= 0)
        yield run.p.K**2 * expect_square(y), expect_square(right)


def _split_directions(draw: Draw, factor: Rational) -> Iterable[Side]:
    """(K/(a - a'))^2 E||sum_q y^q||^2 by gradients and noise."""
    run = small_run(draw, "fedsum-cr")
    p = run.p
    for _, _, a, b in visits(run.who):
        y = Fraction(1, a - b) * total(run.y[q] for q in range(b, a))
        gradients = sum((expect_square(run.aggregate(q)) for q in range(b, a)), ZERO) / (a - b)
        yield p.K**2 * expect_square(y), factor * (gradients + p.N * p.K * p.sigma**2)


def _averages(p: ParticipationMatrix, more: Rational) -> Pairs:
    """sum_t sum_{i in A_t} 1/(a - a') sum_{q=a'}^{a-1} against N*(tau_max + more)."""
    left = counts(p.T, ((Fraction(1, a - b), range(b, a)) for _, _, a, b in visits(p)))
    return both(left, [p.N * (p.tau_max + Fraction(more) if more else Fraction(p.tau_max_T))] * p.T)


STEPS: tuple[Step, ...] = (
    _state(
        "eq. (78)",
        "h_i^(t) = (1/K) sum_k g_i(x_i^{a_{i,t-1},k}, xi_i^{a_{i,t-1},k}), with a_{i,-1} = -1 and x^(-1) = x^(0)",
        drawn(lambda draw: _control(draw, before=False), "=="),
        repaired=drawn(lambda draw: _control(draw, before=True), "==", form=lambda: forms.control(local=True)),
        repair="for i in A_{t-1}; h_i^(t) = 0 for the others, as in eq. (8)",
        remark="With x_i^{-1,k} = x^(-1) = x^(0) a client that has not taken part would hold a gradient at x^(0).",
    ),
    _state(
        "eq. (79), first and second equality",
        "y_i^(t) = N/(eta_g eta_l K) (z_i^(t) - x^(t))/(t - a_i^(t)) - h_i^(t)"
        " = N/(eta_g eta_l K) (x^{a_{i,t-1}} - x^(t))/(t - a_{i,t-1}) - h_i^(t)",
        drawn(lambda draw: _corrections(draw, 0), "=="),
    ),
    _state(
        "eq. (79), third equality",
        "= N/(eta_g eta_l K) 1/(t - a_{i,t-1}) sum_{p=a_{i,t-1}}^{t-1} (x^(p) - x^(p+1)) - h_i^(t)",
        drawn(lambda draw: _corrections(draw, 1), "==", form=forms.telescoping),
    ),
    _state(
        "eq. (79), fourth equality",
        "= 1/(t - a_{i,t-1}) sum_{p=a_{i,t-1}}^{t-1} y^(p) - h_i^(t)",
        drawn(lambda draw: _corrections(draw, 2), "==", form=forms.averaged_moves),
        remark="With y^(-1) = 0.",
    ),
    _move(
        "statement",
        "sum_t E||x^{t+1} - x^t||^2 <= 2 (eta_g eta_l)^2 K T sigma^2/N + 2 (eta_g eta_l/N)^2 sum_t E||sum_i sum_k"
        " grad f_i||^2",
        drawn(
            lambda draw, **numbers: common.movement(draw, "e", **numbers),
            kind=StepKind.END_TO_END,
            noise=2,
            gradients=2,
            form=forms.movement,
        ),
        remark="The proof is that of Lemma D.1.",
    ),
    _move(
        "not printed: eq. (42), equalities, for FedSUM-CR",
        "||x^{t+1} - x^t||^2 = (eta_g eta_l K/N)^2 ||y^t||^2 = (eta_g eta_l/N)^2 ||sum_{i in A_t} sum_k g_i||^2",
        drawn(lambda draw: common.one_step(draw, "e"), "==", form=forms.one_step),
    ),
    window_bound(Proof("fedsum/lemma-e.2", "Lemma E.2")),
    *corollary_3(Proof("fedsum/corollary-e.3", "Corollary E.3")),
    *local.split_and_far(_stale, local.E_4),
    *local.drift_of_clients(_stale, local.E_4),
    *local.five_terms(_stale, local.E_4),
    _stale(
        "eq. (93)",
        "sum_k ||sum_{p<k} sum_{q=a'}^{a-1} y^q||^2 <= K^3 ||sum_{q=a'}^{a-1} y^q||^2",
        drawn(_squared, form=forms.squared_steps),
        remark="Over (a - a')^2.",
    ),
    _stale(
        "eq. (94), equality",
        "K^2 E||sum_{q=a'}^{a-1} y^q||^2 = E||sum_{q=a'}^{a-1} sum_{j in A_q} sum_k g_j(x_j^{a_{j,q},k})||^2",
        drawn(_by_gradients, "==", form=forms.moved_by_gradients),
    ),
    _stale(
        "eq. (94), first inequality",
        "K^2/(a - a')^2 E||sum_q y^q||^2 <= 2/(a - a') sum_q E||sum_j sum_k grad f_j||^2 + 2 N K sigma^2",
        drawn(_split_directions, factor=2, form=forms.old_directions),
        remark="For every t and i; times 2 eta_l^2 K, summed over at most N T of them.",
    ),
    _stale(
        "eq. (94), noise",
        "4 eta_l^2 K sum_t sum_{i in A_t} N K sigma^2 <= 4 eta_l^2 K^2 N^2 sigma^2 T",
        at_most(
            4 * eta_l**2 * K * T * A_t * N * K * sigma**2, 4 * eta_l**2 * K**2 * N**2 * sigma**2 * T, below(A_t, N)
        ),
    ),
    _stale(
        "eq. (94), last inequality",
        "sum_t sum_{i in A_t} 1/(a - a') sum_{q=a'}^{a-1} q_p <= N tau_max sum_p q_p",
        counting(_averages, more=0),
        repaired=counting(_averages, more=1, form=delays.averages),
        repair="N (tau_max + 1)",
        remark="q_p = E||sum_j sum_k grad f_j||^2; coefficient by coefficient. Eq. (90), which the text names, is "
        "about another sum.",
    ),
    *local.assembly(_stale, local.E_4),
    _stale(
        "the lemma from eq. (98)",
        "24 eta_l^2 K^2 tau_max^2 L^2 <= 24 eta_l^2 K^2 tau_max L^2",
        at_most(24 * eta_l**2 * K**2 * tau**2 * L**2 * Gamma, 24 * eta_l**2 * K**2 * tau * L**2 * Gamma, above(tau, 1)),
        repaired=at_most(
            3 * N * K * L**2 * 4 * eta_l**2 / N * K * (2 * tau) * Gamma,
            24 * eta_l**2 * K**2 * tau * L**2 * Gamma,
            above(tau, 1),
        ),
        repair="from the repaired eq. (94), without the square: 4 eta_l^2/N K (tau_max + 1) Gamma in the drift",
        remark="Eqs. (95) to (98) have tau_max^2, the lemma has tau_max.",
    ),
    *weights.as_printed(_stale, local.E_4),
    *besides.not_printed(_stale, local.E_4),
    _order(
        "statement",
        "-(eta_g eta_l/N) sum_{t<T} E<grad f(x^t), noise> <= 3 (eta_g eta_l)^2 K/N tau_avg sigma^2 L T"
        " + 2 (eta_g eta_l/N)^2 tau_max L sum_{t<=T} E||sum_i sum_k grad f_i||^2",
        drawn(
            lambda draw, noise, gradients: common.first_order(draw, "e", noise, gradients, further=1),
            kind=StepKind.END_TO_END,
            noise=3,
            gradients=2,
        ),
        remark="The proof is that of Lemma D.5.",
    ),
    _order(
        "with the sum of eq. (66)",
        "the same with T - 1 on the right",
        drawn(
            lambda draw, noise, gradients: common.first_order(draw, "e", noise, gradients, further=0),
            kind=StepKind.END_TO_END,
            form=common.first_order_form(0),
            noise=3,
            gradients=2,
        ),
    ),
    *common.lemma_5(
        Proof("fedsum/lemma-e.5", "Lemma E.5, as Lemma C.5", "fedsum/lemma-e.5-lines"), "e", common.C_5, whole=False
    ),
    *rate.lemma_6(Proof("fedsum/lemma-e.6", "Lemma E.6"), rate.E_6),
    *rate.theorem(Proof("fedsum/theorem-e.1", "Theorem E.1"), rate.E_6),
)
