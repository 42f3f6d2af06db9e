"""Appendix C, Lemmas 1 to 3, and Proposition 1: the sizes of v* and of the local v, and the linear system."""

from __future__ import annotations

from bounds.ledger.draw import Draw, expect_square
from bounds.ledger.draw import square as norm2
from bounds.ledger.proof import Proof, at_most, gram, nonnegative, positives, reals, same
from bounds.ledger.step import Number, StepKind, above, below, equal
from bounds.ledger.vectors import square, vectors
from bounds.ledger.written import written
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs import forms
from bounds.papers.simfbo.proofs.form import Pairs, drawn
from bounds.papers.simfbo.proofs.rounds import V, X, Y, drawn_point, drawn_round

L_1, L_2, L_f, mu = s.L_1, s.L_2, s.L_f, s.mu_g
SMOOTH = below(mu, L_1)

# --- Lemma 1 ---

_one = Proof("simfbo/lemma-1")
_inverse, _slope = nonnegative("inverse slope")


def _operator_norm(draw: Draw, exponent: int) -> Pairs:
    (a, b), vector = draw.vector(2), draw.vector(2)
    yield norm2((a * vector[0], b * vector[1])), max(abs(a), abs(b)) ** exponent * norm2(vector)


def _v_star(draw: Draw, exponent: int) -> Pairs:
    # F = <e, y> has the Lipschitz constant ||e||; G has a Hessian with the eigenvalues m and m + k.
    m, k, e = draw.positive(), draw.positive(), draw.vector(2)
    v = (e[0] / m, e[1] / (m + k))
    yield norm2(v), norm2(e) / m**exponent


_LEMMA_1 = (
    _one(
        "Lemma 1, first inequality",
        "||[G_yy]^-1 F_y||^2 <= ||[G_yy]^-1||^2 ||F_y||^2",
        drawn(_operator_norm, kind=StepKind.STANDARD, exponent=2),
        remark="The operator norm; checked for symmetric matrices in the basis of their eigenvectors.",
    ),
    _one(
        "Lemma 1, (a)",
        "||[G_yy]^-1||^2 ||F_y||^2 <= r^2",
        at_most(_inverse**2 * _slope**2, formulas.R**2, below(mu * _inverse, 1), below(_slope, L_f)),
    ),
    _one(
        "Lemma 1",
        "||v*||^2 <= L_f^2/mu_g^2",
        drawn(_v_star, form=forms.optimal_v, kind=StepKind.END_TO_END, exponent=2),
    ),
)

# --- Lemma 2 and Proposition 1 ---

_two = Proof("simfbo/lemma-2")
_v0, _v1, _v = nonnegative("v_0 v_1 v_k")
_a, _a0, _a1, _low, _high = positives("a a_0 a_1 alpha_min alpha_max")
_eta = s.eta_v
_hessian, _gradient, _error = reals("G_yy F_y noise")
_mean_hessian = nonnegative("G_yy_mean")
_q = 1 - _eta * _low * mu
# q^k and 1 + q + ... + q^{k-1}.
_power, _sum = nonnegative("q^k sum_q")
_steps = (below(_low, _a0), below(_low, _a1), below(_a0, _high), below(_a1, _high))
# The first local step starts at v^(t), which the projection keeps in the ball.
_IN_BALL = below(_v, formulas.R)


def _local_v(draw: Draw, one: Number, *, small: bool, ratio: bool) -> Pairs:
    mu_g, L_f_value = draw.positive(), draw.positive()
    largest, low = mu_g + draw.positive(), draw.positive()
    high = low + draw.positive()
    r = L_f_value / mu_g
    eta = draw.positive() / (3 * high * largest) if small else draw.positive(10)
    v = draw.rational(-1, 1) * r
    for _ in range(4):
        step = eta * draw.rational(low, high)
        v = (1 - step * draw.rational(mu_g, largest)) * v + step * draw.rational(-L_f_value, L_f_value)
        yield abs(v), (one + (high / low if ratio else 0)) * r


def _printed_v(draw: Draw, one: int) -> Pairs:
    yield from _local_v(draw, one, small=False, ratio=True)


def _repaired_v(draw: Draw, one: int) -> Pairs:
    yield from _local_v(draw, one, small=True, ratio=False)


_LEMMA_2 = (
    _two(
        "Lemma 2, first display",
        "v - eta_v a (G_yy v - F_y) = (I - eta_v a G_yy) v + eta_v a F_y",
        forms.local_step(),
        remark="G_yy is symmetric; tested against any vector.",
    ),
    _two(
        "Lemma 2, eq. (12), the sampled Hessian",
        "||(I - eta_v a G_yy(psi)) v + eta_v a F_y(psi)|| <= (1 - eta_v a mu_g) ||v|| + eta_v a L_f",
        at_most(
            (1 - _eta * _a * (_mean_hessian + _error)) * _v + _eta * _a * _gradient,
            (1 - _eta * _a * mu) * _v + _eta * _a * L_f,
            above(_mean_hessian, mu),
            below(_mean_hessian, L_1),
            below(_gradient, L_f),
            _IN_BALL,
        ),
        repaired=at_most(
            (1 - _eta * _a * (_mean_hessian + _error)) * _v + _eta * _a * _gradient,
            (1 - _eta * _a * mu) * _v + _eta * _a * L_f,
            above(_mean_hessian + _error, mu),
            below(_gradient, L_f),
        ),
        repair="mu_g bounds the Hessian of every sample.",
        remark="One dimension, v >= 0, the side of +v, k = 1. Assumptions 1 and 2 are about the means g_i and f_i; the "
        "Hessian of the sample is G_yy plus a noise of which only the variance is bounded. The other side is the "
        "next step.",
    ),
    _two(
        "Lemma 2, eq. (12), the other side",
        "||(I - eta_v a G_yy) v + eta_v a F_y|| <= (1 - eta_v a mu_g) ||v|| + eta_v a L_f",
        at_most(
            -(1 - _eta * _a * _mean_hessian) * _v - _eta * _a * _gradient,
            (1 - _eta * _a * mu) * _v + _eta * _a * L_f,
            above(_mean_hessian, mu),
            below(_mean_hessian, L_1),
            above(_gradient, -L_f),
            _IN_BALL,
        ),
        repaired=at_most(
            -(1 - _eta * _a * _mean_hessian) * _v - _eta * _a * _gradient,
            (1 - _eta * _a * mu) * _v + _eta * _a * L_f,
            above(_mean_hessian, mu),
            below(_mean_hessian, L_1),
            SMOOTH,
            above(_gradient, -L_f),
            below(_eta * _a * L_1, 1),
        ),
        repair="eta_v*alpha_max*L_1 <= 1, which is nowhere asked for.",
        remark="One dimension, v >= 0, the side of -v, k = 1; no noise.",
    ),
    _two(
        "Lemma 2, below (12), second line",
        "(12) telescoped: <= (1 - eta_v alpha_min mu_g)^k ||v^0|| + sum_{j<k} (1 - eta alpha_min mu_g)^j "
        "eta_v alpha_max L_f",
        at_most(
            (1 - _eta * _a1 * mu) * _v1 + _eta * _a1 * L_f,
            _q**2 * _v0 + (1 + _q) * _eta * _high * L_f,
            below(_v1, (1 - _eta * _a0 * mu) * _v0 + _eta * _a0 * L_f, "(12)"),
            *_steps,
        ),
        repaired=at_most(
            (1 - _eta * _a1 * mu) * _v1 + _eta * _a1 * L_f,
            _q * _power * _v0 + (1 + _q * _sum) * _eta * _high * L_f,
            below(_v1, _power * _v0 + _sum * _eta * _high * L_f, "the line for k"),
            *_steps,
            below(_eta * _high * mu, 1),
        ),
        repair="eta_v*alpha_max*mu_g <= 1, so that the factors are not negative.",
        remark="Printed with k = 2, v_1 being ||v_i^1||; repaired from k to k + 1, with v_1 for ||v_i^k||, q^k and"
        " the sum of all q^j before it. eta stands for eta_v in print.",
    ),
    _two(
        "Lemma 2, below (12), third line",
        "sum_{j<k} (1 - eta_v alpha_min mu_g)^j eta_v alpha_max L_f <= alpha_max L_f/(alpha_min mu_g)",
        at_most((1 + _q + _q**2) * _eta * _high * L_f, _high * L_f / (_low * mu)),
        repaired=at_most(
            _sum * _eta * _high * L_f,
            _high * L_f / (_low * mu),
            equal(_sum * (1 - _q), 1 - _power, "a geometric sum, with q^k >= 0"),
        ),
        repair="eta_v*alpha_min*mu_g <= 1; without it the sum of an odd number of terms is larger.",
        remark="Printed with k = 3, repaired for every k.",
    ),
    _two(
        "Lemma 2, below (12), fourth line",
        "(1 - eta_v alpha_min mu_g)^k ||v^0|| + alpha_max L_f/(alpha_min mu_g) <= (1 + alpha_max/alpha_min) r",
        at_most(_q**2 * _v0 + _high * L_f / (_low * mu), (1 + _high / _low) * formulas.R, below(_v0, formulas.R)),
        repaired=at_most(
            _power * _v0 + _high * L_f / (_low * mu),
            (1 + _high / _low) * formulas.R,
            below(_v0, formulas.R),
            below(_power, 1, "a power of a number between 0 and 1"),
        ),
        repair="eta_v*alpha_min*mu_g <= 1, so that the power is at most 1.",
        remark="Printed with k = 2, repaired for every k; ||v^(t)|| <= r by the projection.",
    ),
    _two(
        "Lemma 2",
        "||v_i^k|| <= (1 + alpha_max/alpha_min) r",
        drawn(_printed_v, kind=StepKind.END_TO_END, one=1),
        repaired=drawn(_repaired_v, kind=StepKind.END_TO_END, one=1),
        repair="eta_v*alpha_max*L_1 <= 1 and the bounds for every sample; then even r bounds the local v.",
        remark="One dimension; Hessians between mu_g and L_1 and F_y up to L_f, anew in every step.",
    ),
)
_PROPOSITION_1 = (
    Proof("simfbo/proposition-1")(
        "Proposition 1",
        "||v_i^(t,k)|| <= (1 + alpha_max/alpha_min) r for each t",
        drawn(_printed_v, kind=StepKind.END_TO_END, one=1),
        repaired=drawn(_repaired_v, kind=StepKind.END_TO_END, one=1),
        repair="As simfbo/lemma-2-7, and v^(0) in the ball of radius r.",
        remark="As simfbo/lemma-2-7, from a v^(t) in the ball. Algorithm 1 projects from the first round on and says "
        "nothing of v^(0), which has to be in the ball for t = 0.",
    ),
)

# --- Lemma 3 ---

_three = Proof("simfbo/lemma-3")
_Gv, _Hv, _F1, _F2 = vectors("G1v G2v F1 F2")
_dG2, _dF2, _v2, _D = nonnegative("dG2 dF2 v2 distance2")
_r_max = positives("r_max")


def _linear_system(draw: Draw, exponent: int) -> Pairs:
    run, one, (x, y, _) = drawn_round(draw), drawn_point(draw), drawn_point(draw)
    other = (x, y, one[V])
    change = run.clients[0].directions(one)[V] - run.clients[0].directions(other)[V]
    yield expect_square(change), 2 * run.L_1**exponent * (expect_square(one[X] - x) + expect_square(one[Y] - y))


_LEMMA_3 = (
    _three(
        "Lemma 3, strong convexity",
        "the Hessian of R_i in v is that of g_i in y",
        forms.slope_of_system(),
        remark="The change of grad_v R_i is G_yy of that of v, which is symmetric; tested against any vector.",
    ),
    _three(
        "Lemma 3, first inequality",
        "||grad_v R_i(1) - grad_v R_i(2)||^2 <= 2||(G1 - G2) v||^2 + 2||F1 - F2||^2",
        gram(square((_Gv - _F1) - (_Hv - _F2)), 2 * square(_Gv - _Hv) + 2 * square(_F1 - _F2)),
    ),
    _three(
        "Lemma 3, second inequality",
        "... <= 2(L_2^2 r_max^2 + L_1^2)(||x_1 - x_2||^2 + ||y_1 - y_2||^2)",
        at_most(
            2 * _dG2 * _v2 + 2 * _dF2,
            2 * (L_2**2 * _r_max**2 + L_1**2) * _D,
            below(_dG2, L_2**2 * _D),
            below(_v2, _r_max**2),
            below(_dF2, L_1**2 * _D),
        ),
    ),
    _three(
        "Lemma 3, last equality",
        "2(L_2^2 r_max^2 + L_1^2) = L_R^2",
        same(2 * (L_2**2 * formulas.R_MAX**2 + L_1**2), written(formulas.L_R) ** 2),
    ),
    _three(
        "Lemma 3",
        "||grad_v R_i(x_1, y_1, v) - grad_v R_i(x_2, y_2, v)||^2 <= L_R^2 (||x_1 - x_2||^2 + ||y_1 - y_2||^2)",
        drawn(_linear_system, form=forms.linear_system, kind=StepKind.END_TO_END, exponent=2),
        remark="Quadratic f_i and g_i, for which L_R^2 = 2*L_1^2.",
    ),
)

STEPS = (*_LEMMA_1, *_LEMMA_2, *_PROPOSITION_1, *_LEMMA_3)
