"""Appendix D.1, Lemma 7: the change of Phi_w in one round."""

from __future__ import annotations

from fractions import Fraction

from bounds.ledger.draw import Draw, expect, expect_square, mean
from bounds.ledger.families import squares, total
from bounds.ledger.proof import Proof, at_most, gram, nonnegative, positives
from bounds.ledger.step import StepKind, below
from bounds.ledger.vectors import dot, square, vectors
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs import forms
from bounds.papers.simfbo.proofs.form import Pairs, drawn, weighted
from bounds.papers.simfbo.proofs.rounds import ZEROS, BilevelClient, BilevelRound, X, drawn_round

_step = Proof("simfbo/lemma-7")
_h, _d2 = nonnegative("curvature dx2")
_s, _r = positives("rho_gamma_x r")
_grad, _mean, _one, _two, _three = vectors("grad_Phi mean_direction D1 D2 D3")
_dy, _dv = vectors("y_gap v_gap")
_F, _G = weighted("dF dG_v")
# (13), with an L_2 that is not 0, as Assumption 2 has it.
_L_PHI = (1 + s.L_1 / s.mu_g) ** 2 * (s.L_1 + s.L_f / s.mu_g * positives("L_2"))


def _inner(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    gradient = run.gradient
    left = mean(expect(gradient, run.sampled(chosen, X)) for chosen in run.samples)
    yield left, factor * expect(gradient, run.mean_direction(X))


def _decoupled(draw: Draw) -> BilevelRound:
    """One client, one step, y and v optimal, nothing of y in x: an ordinary gradient step on curvature up to L_1."""
    unit = Fraction(1, draw.whole(1, 200))
    zero = Fraction(0)
    client = BilevelClient(unit, zero, zero, unit, zero, zero, zero, draw.rational(-1, 1) * unit, steps=(Fraction(1),))
    return BilevelRound(clients=(client,), w=(Fraction(1),), P=1, start=(Fraction(1), zero, client.e / unit), eta=ZEROS)


def _lemma(draw: Draw, exponent: int) -> Pairs:
    run = _decoupled(draw) if draw.whole(0, 1) else drawn_round(draw, noisy=True)
    step = draw.positive()
    after = mean(run.phi(run.start[X] - step * run.sampled(chosen, X)) for chosen in run.samples)
    slope, L_Phi = run.L_1**2, run.L_1 * (1 + run.L_1 / run.mu_g) ** 2
    right = (
        -step / 2 * (expect_square(run.gradient) + expect_square(run.mean_direction(X)))
        + step / 2 * (6 * slope * run.gap_y + 3 * slope * run.gap_v)
        + 3 * step / 2 * run.drift_f()
        + L_Phi**exponent * step**2 / 2 * run.sampled_square(X)
    )
    yield after - run.phi(run.origin[X]), right


STEPS = (
    _step(
        "Lemma 7, first display, the inequality",
        "E Phi(x+) <= E Phi(x) - E<grad Phi, rho gamma_x sum_C w~ h> + (rho gamma_x)^2 L_Phi^2/2 E||sum_C w~ h||^2",
        at_most(_h / 2 * _d2, _L_PHI**2 / 2 * _d2, below(_h, s.L_1), below(s.mu_g, s.L_1)),
        repaired=at_most(_h / 2 * _d2, formulas.L_PHI / 2 * _d2, below(_h, s.L_1), below(s.mu_g, s.L_1)),
        repair="L_Phi/2, as in the descent lemma.",
        remark="The second-order term for Phi of curvature h <= L_1, as with f_i = h*||x||^2/2 and nothing of x in "
        "g_i: squared, L_Phi has another unit than a curvature.",
    ),
    _step(
        "Lemma 7, eq. (19), (a)",
        "E<grad Phi(x^t), sum_{i in C} w~_i h_i> = E<grad Phi(x^t), sum_i w_i h~_i>",
        drawn(_inner, "==", form=forms.inner_product, factor=1),
    ),
    _step(
        "Lemma 7, eq. (19), second equality",
        "-s<grad Phi, sum_i w_i h~_i> = -(s/2)(||grad Phi||^2 + ||sum w h~||^2) + (s/2)||grad Phi - sum w h~||^2",
        gram(
            -_s * dot(_grad, _mean),
            -_s / 2 * (square(_grad) + square(_mean)) + _s / 2 * square(_grad - _mean),
            operator="==",
        ),
        remark="s is rho^(t)*gamma_x.",
    ),
    _step(
        "Lemma 7, below (19), first inequality",
        "||grad Phi - sum_i w_i h~_i||^2 <= 3||in y||^2 + 3||in v||^2 + 3||in the local points||^2",
        gram(square(_one + _two + _three), 3 * square(_one) + 3 * square(_two) + 3 * square(_three)),
    ),
    _step(
        "Lemma 7, below (19), (a), first term",
        "3||sum_i w_i[(F_x changes) - (G_xy changes) v*]||^2 <= 6(L_1^2 + r^2 L_2^2)||y* - y||^2",
        gram(
            3 * square(total(_F - _G)),
            6 * (s.L_1**2 + _r**2 * s.L_2**2) * square(_dy),
            below(squares(_F), s.L_1**2 * square(_dy), "F_x is smooth"),
            below(squares(_G), _r**2 * s.L_2**2 * square(_dy), "G_xy is smooth, ||v*|| <= r"),
        ),
        remark="sum_i w_i = 1, so that sum_i w_i ||change||^2 is at most the bound on one of them.",
    ),
    _step(
        "Lemma 7, below (19), (a), second term",
        "3||sum_i w_i G_xy (v* - v)||^2 <= 3 L_1^2 ||v* - v||^2",
        gram(
            3 * square(total(_G)),
            3 * s.L_1**2 * square(_dv),
            below(squares(_G), s.L_1**2 * square(_dv), "||G_xy|| <= L_1"),
        ),
        remark="sum_i w_i = 1.",
    ),
    _step(
        "Lemma 7",
        "E Phi(x+) - E Phi(x) <= -(s/2)(E||grad Phi||^2 + E||sum w h~||^2) + (s/2)(6(L_1^2 + r^2 L_2^2) gap_y "
        "+ 3 L_1^2 gap_v) + (3s/2) drift_f + L_Phi^2 s^2/2 ||sum_C w~ h||^2",
        drawn(_lemma, kind=StepKind.END_TO_END, exponent=2, count=40),
        repaired=drawn(_lemma, kind=StepKind.END_TO_END, exponent=1, count=40),
        repair="L_Phi/2.",
        remark="Quadratic f_i and g_i, L_2 as small as one likes; the last norm is printed without E.",
    ),
)
