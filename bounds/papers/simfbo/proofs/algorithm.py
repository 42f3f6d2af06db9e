"""Section 2 and Appendix B: the aggregation, its expectation over the sampled clients, and the notation."""

from __future__ import annotations

from fractions import Fraction

from bounds.ledger.draw import Draw, expect, mean
from bounds.ledger.proof import Proof, positives, reals, same
from bounds.ledger.step import Number, StepKind
from bounds.ledger.written import written
from bounds.papers.simfbo.proofs.form import Pairs, drawn
from bounds.papers.simfbo.proofs.rounds import V, X, Y, drawn_round

_step = Proof("simfbo/theorem-1")


def _total(draw: Draw, total: Number) -> Pairs:
    run = drawn_round(draw)
    yield mean(sum(Fraction(run.n, run.P) * run.w[i] for i in chosen) for chosen in run.samples), total


def _one_sample(draw: Draw) -> Pairs:
    run = drawn_round(draw)
    for chosen in run.samples:
        yield expect(run.sampled(chosen, X)), sum(w * expect(run.h(i, X)) for i, w in enumerate(run.w))


def _sample_mean(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw)
    for variable in (X, Y, V):
        wanted = sum(w * expect(run.h(i, variable)) for i, w in enumerate(run.w))
        yield mean(expect(run.sampled(chosen, variable)) for chosen in run.samples), factor * wanted


def _path_mean(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    for variable in (X, Y, V):
        yield expect(run.h(0, variable)), factor * expect(run.h_mean(0, variable))


def _hypergradient(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw)
    x = run.origin[X]
    # Phi_w is quadratic here, so that its central difference is its derivative.
    yield factor * expect(run.gradient), (run.phi(x + 1) - run.phi(x - 1)) / 2


_p, _norm, _rho = positives("p norm rho")
_q, _g0, _g1, _g2 = reals("q g_0 g_1 g_2")
_tau1, _tau2, _a_0, _a_1, _a_2 = positives("tau_1 tau_2 a_0 a_1 a_2")

STEPS = (
    _step(
        "Section 2.3, below eq. (4)", "E sum_{i in C} p~_i = 1 with p~_i = (n/|C|) p_i", drawn(_total, "==", total=1)
    ),
    _step(
        "Section 2.4, eq. (6), first equality, with eq. (4)",
        "q_x = sum_{i in C} p~_i q_{x,i} = sum_{i=1}^n p_i q_{x,i}",
        drawn(_one_sample, "=="),
        repaired=drawn(_sample_mean, "==", factor=1),
        repair="In expectation over C, or for P = n.",
        remark="The proofs use the expectation.",
    ),
    _step(
        "Section 2.4, eq. (6), second equality",
        "sum_i p_i q_i = (sum_j p_j |a_j|_1) sum_i p_i |a_i|_1/(sum_j p_j |a_j|_1) q_i/|a_i|_1",
        same(_p * _q, _rho * (written(_p * _norm / _rho) * (_q / _norm))),
        remark="Client by client; rho is sum_j p_j |a_j|_1.",
    ),
    _step(
        "Appendix B, eq. (11)",
        "grad Phi_w(x) = sum_i w_i (surrogate gradient of f_i at x, y~*, v~*)",
        drawn(_hypergradient, "==", kind=StepKind.STANDARD, factor=1),
    ),
    _step(
        "Appendix B, the displays of h_i, against eq. (4)",
        "|a_i|_1 h_i = sum_{k=1}^{tau_i} a_i^k grad(x_i^k) = sum_{k=0}^{tau_i-1} a_i^k grad(x_i^k) = q_i",
        same(_a_1 * _g1 + _a_2 * _g2, _a_0 * _g0 + _a_1 * _g1),
        repaired=same(_a_0 * _g0 + _a_1 * _g1, _a_0 * _g0 + _a_1 * _g1),
        repair="k from 0 to tau_i - 1, as in (4) and in the proofs; there is no a_i^k with k = tau_i.",
        remark="tau_i = 2.",
    ),
    _step(
        "Appendix B, the three displays of E_C",
        "E_C[sum_{i in C} w~_i h_i] = sum_i w_i h_i for y, v and x",
        drawn(_sample_mean, "==", factor=1),
    ),
    _step(
        "Appendix B, the displays of h~_i",
        "h~_i = E[h_i] = (1/|a_i|_1) sum_k a_i^k times the mean gradient at the local point (x_i^k, y_i^k, v_i^k)",
        drawn(_path_mean, "==", factor=1),
        remark="Read as E[h_i] = E[h~_i], each sample averaged at its own local point. h~_i itself is random, since "
        "the local points depend on the earlier noises; (23) takes it for independent of the noise.",
    ),
    _step(
        "Appendix B, last line, against Proposition 3 and eq. (40)",
        "tau_bar := sum_i tau_i and tau_bar := sum_i tau_i/n",
        same(_tau1 + _tau2, (_tau1 + _tau2) / 2),
        repaired=same((_tau1 + _tau2) / 2, (_tau1 + _tau2) / 2),
        repair="The mean, as in Proposition 3 and (40).",
        remark="For n = 2. The two definitions of one symbol.",
    ),
)
