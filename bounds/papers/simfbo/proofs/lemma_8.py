"""Appendix D.2, Lemma 8, eq. (20) to (22), and Proposition 3: the drifts of the local steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, NoisyRational, expect_square
from bounds.ledger.families import squares, total
from bounds.ledger.proof import Proof, at_most, gram, nonnegative, positives, wholes
from bounds.ledger.step import StepKind, below, equal, positive, together
from bounds.ledger.vectors import square, vectors
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs import forms
from bounds.papers.simfbo.proofs.form import Pairs, drawn, weighted
from bounds.papers.simfbo.proofs.rounds import ZEROS, BilevelClient, BilevelRound, Numbers, V, X, Y, drawn_round

_step = Proof("simfbo/lemma-8")
L_1, mu, c_a, tau, alpha_max = s.L_1, s.mu_g, s.c_a, s.tau_bar, s.alpha_max
_eta_x, _eta_v, _eta_y = s.eta_x, s.eta_v, s.eta_y
_a0, _a1, _a2, _alpha, _w1, _w2 = positives("a_0 a_1 a_2 alpha w_1 w_2")
_norm1 = _a0 + _a1 + _a2
_D0, _D1, _D2, _x_drift, _y_drift, _v_drift, _gap, _other = nonnegative("D_0 D_1 D_2 drift_x drift_y drift_v gap_y A")
_u1, _g, _g1, _g2, _F, _Gv, _noise_f, _noise_g = vectors("u1 g g1 g2 F Gv noise_f noise_g")
_sum, _own, _whole, _earlier, _last = positives("sum_a a_k whole earlier last")
# Of the a_j with j < k, with k <= j <= tau - 2, and of both; the same of their squares.
_before, _after, _all, _before2, _after2, _all2, _norm2 = nonnegative("before after all before2 after2 all2 norm2")
(_v,) = vectors("v")
_r_max = positives("r_max")
(_apart,), (_slopes,) = weighted("u", _sum), weighted("g")
_tau1, _tau2 = wholes("tau_1 tau_2")
_M1_2, _M2_2 = nonnegative("sigma_M1_2 sigma_M2_2")
_slope = positives("slope")
_sigma_gh2, _sigma_g2 = s.sigma_gh**2, s.sigma_g**2
_room = 2 * _eta_y**2 * tau * c_a * alpha_max * L_1**2
_X_CAP = below(2 * _eta_x**2 * tau * c_a * alpha_max * L_1**2, 1)
_Y_CAP = below(4 * _eta_y**2 * tau * c_a * alpha_max * L_1**2, 1)


def _path_sums(draw: Draw) -> tuple[NoisyRational, NoisyRational, Fraction]:
    """sum_{j<k} a_j times noise and times mean gradient of g_1, and the sum of a_j^2 E||noise||^2; k = 2."""
    run = drawn_round(draw, noisy=True, alpha=8)
    client, variable = run.clients[0], draw.whole(X, V)
    noise = gradient = NoisyRational()
    squares = Fraction(0)
    for k, (step, at) in enumerate(zip(client.steps, run.paths[0], strict=True)):
        exact = client.directions(at)[variable]
        gradient += step * exact
        noise += step * (run.noisy(0, k, at)[variable] - exact)
        squares += step**2 * run.sigma[variable] ** 2
    return noise, gradient, squares


def _split(draw: Draw, factor: int) -> Pairs:
    noise, gradient, squares = _path_sums(draw)
    yield expect_square(noise + gradient), factor * (squares + expect_square(gradient))


def _slow(draw: Draw, steps: int) -> BilevelRound:
    """Without noise and with small local steps, on which the a_i^k are large and equal."""
    run = drawn_round(draw, steps=steps)
    alpha = draw.positive(40)
    clients = tuple(replace(client, steps=(alpha,) * len(client.steps)) for client in run.clients)
    eta = Fraction(1, 1000) / (alpha * run.L_1)
    small: Numbers = (eta, eta, eta)
    return replace(run, clients=clients, eta=small)


def _sigma_M1_2(run: BilevelRound, factor: int, paths: int) -> Fraction:
    """alpha_max*(L_f^2 + r_max^2*L_1^2) without noise; repaired with 4*c_a*(c_a*tau_bar*alpha_max) before it."""
    return factor * run.size2 * run.alpha_max * (run.c_a**2 * run.tau_bar * run.alpha_max) ** paths


def _straight(draw: Draw) -> BilevelRound:
    """One client with f linear in x or in y and nothing of x in g: the local steps go straight on."""
    zero, mu_g, alpha = Fraction(0), draw.positive(), draw.positive(40)
    steps = (alpha,) * draw.whole(1, 24)
    c, e = (draw.positive(), zero) if draw.whole(0, 1) else (zero, draw.positive())
    eta = Fraction(1, 1000) / (alpha * mu_g * len(steps))
    client = BilevelClient(mu_g, zero, zero, zero, zero, zero, c, e, steps=steps)
    return BilevelRound(clients=(client,), w=(Fraction(1),), P=1, start=ZEROS, eta=(eta, eta, eta))


def _drift_xv(draw: Draw, factor: int, paths: int) -> Pairs:
    run = _slow(draw, 3) if draw.whole(0, 2) == 0 else _straight(draw)
    yield run.drift(X), run.eta[X] ** 2 * run.tau_bar * _sigma_M1_2(run, factor, paths)
    yield run.drift(V), run.eta[V] ** 2 * run.tau_bar * _sigma_M1_2(run, factor, paths)


def _drift_v(draw: Draw, factor: int, paths: int) -> Pairs:
    yield list(_drift_xv(draw, factor, paths))[1]


def _drift_x(draw: Draw, factor: int, paths: int) -> Pairs:
    yield next(_drift_xv(draw, factor, paths))


def _equal_curvature(draw: Draw) -> BilevelRound:
    """With equal quadratic parts of the g_i: Assumption 4 with beta_gh = 1 and the variance of the linear parts."""
    run = _slow(draw, 3)
    first = run.clients[0]
    return replace(run, clients=tuple(replace(client, m=first.m, a=first.a) for client in run.clients))


def _sigma_gh_2(run: BilevelRound) -> Fraction:
    middle = run.average("b")
    return sum((w * (client.b - middle) ** 2 for w, client in zip(run.w, run.clients, strict=True)), Fraction(0))


def _drift_y(draw: Draw, factor: int) -> Pairs:
    run = _equal_curvature(draw)
    eta2, path = run.eta[Y] ** 2, run.c_a * run.alpha_max
    right = factor * path * run.L_1**2 * (run.eta[X] ** 2 * run.tau_bar * _sigma_M1_2(run, 1, 0) + run.gap_y)
    right += factor * path * _sigma_gh_2(run)
    yield run.drift(Y), eta2 * run.tau_bar / (1 - factor * eta2 * path * run.tau_bar * run.L_1**2) * right


def _repaired_drift_y(draw: Draw, factor: int) -> Pairs:
    run = _equal_curvature(draw)
    path = run.c_a * run.alpha_max * run.tau_bar
    right = factor * run.eta[Y] ** 2 * path**2 * (_sigma_gh_2(run) + run.L_1**2 * run.gap_y)
    yield run.drift(Y), right + 2 * run.eta[Y] ** 2 * run.tau_bar * _sigma_M1_2(run, 4, 1)


_DRIFT_X_REMARK = (
    "Without noise, at a small eta, with equal a_i^k = a: the left side grows with a^2*tau_bar^2, the right side with "
    "a*tau_bar."
)
_PATH_REPAIR = "sigma_M1^2 of simfbo/constants-repaired, with the factor c_a*tau_bar*alpha_max >= |a_i|_1."

STEPS = (
    _step(
        "Lemma 8, eq. (20), second equality",
        "E||sum_{j<k} a_j (noise_j + grad_j)||^2 = sum_{j<k} a_j^2 E||noise_j||^2 + E||sum_{j<k} a_j grad_j||^2",
        drawn(_split, "==", factor=1),
        repaired=drawn(_split, form=forms.noise_and_gradient, factor=2),
        repair='"<=" with a factor 2 on both terms: a later gradient depends on the earlier noises.',
        remark='One client, any of the three variables (the others are "an easier case").',
    ),
    _step(
        "Lemma 8, eq. (20), first inequality",
        "||sum_{j<k} a_j grad_j||^2 <= 2 sum_{j<k} a_j ||grad_j - grad||^2 + 2 sum_{j<k} a_j ||grad||^2",
        gram(square(_a0 * _g + _a1 * (_u1 + _g)), 2 * _a1 * square(_u1) + 2 * (_a0 + _a1) * square(_g)),
        repaired=gram(square(total(_apart + _g)), _sum * (2 * squares(_apart) + 2 * _sum * square(_g))),
        repair="With the factor sum_{j<k} a_j <= |a_i|_1, which grows with the number of local steps.",
        remark="Printed with k = 2; u1 = grad_1 - grad, and grad_0 = grad: the first local point is the server's."
        " Repaired for every k, with weights a_j.",
    ),
    _step(
        "Lemma 8, display below (20), first line, first inequality",
        "(1/|a|_1) sum_k a_k sum_{j<k} a_j^2 <= (1/|a|_1) sum_k a_k sum_{j<=tau-2} a_j^2",
        at_most(_own * _before2 / _whole, _own * _all2 / _whole, equal(_all2, _before2 + _after2, "j from k on")),
        remark="Of every k, by the squares of a_j with j < k and with k <= j <= tau - 2; a_k and whole = |a|_1.",
    ),
    _step(
        "Lemma 8, display below (20), first line, the equality",
        "(1/|a|_1) sum_k a_k sum_{j<=tau-2} a_j^2 = sum_{j<=tau-2} a_j^2",
        at_most(
            (_earlier + _own) * _all2 / _whole,
            _all2,
            equal(_whole, _earlier + _own, "|a|_1, its last a_k apart"),
            operator="==",
        ),
        remark="The inner sum does not depend on k: the last a_k, and earlier, the sum of those before it.",
    ),
    _step(
        "Lemma 8, display below (20), first line, last inequality",
        "sum_{j<=tau-2} a_j^2 <= |a_i|_2^2",
        at_most(_all2, _norm2, equal(_norm2, _all2 + _own**2, "|a|_2^2, its last a_k apart")),
    ),
    _step(
        "Lemma 8, display below (20), second line",
        "(1/|a|_1) sum_k a_k sum_{j<k} a_j <= sum_{j<=tau-2} a_j <= |a_i|_1",
        together(
            at_most(_own * _before / _whole, _own * _all / _whole, equal(_all, _before + _after, "j from k on")),
            at_most(_all, _whole, equal(_whole, _all + _last, "|a|_1, its last apart")),
        ),
        remark="Of every k, as above, where the weights a_k/|a|_1 add up to 1, and the last inequality.",
    ),
    _step(
        "Lemma 8, eq. (20), (a), second term",
        "sum_k (a_k/|a|_1) sum_{j<k} a_j D_j <= sum_j (a_j/|a|_1) D_j, D_j = E||grad_j - grad||^2",
        at_most(_a2 * _a1 * _D1 / _norm1, (_a1 * _D1 + _a2 * _D2) / _norm1, below(_D1, _D2)),
        repaired=at_most(_a2 * _a1 * _D1 / _norm1, _norm1 * (_a1 * _D1 + _a2 * _D2) / _norm1),
        repair="With the factor |a_i|_1; step (b) has it again as c_a*tau_bar*alpha_max.",
        remark="tau_i = 3, where D_0 = 0, the first local point being the server's, and D_1 <= D_2; the index j stands "
        "free in print, in the sum over k.",
    ),
    _step(
        "Lemma 8, eq. (20), (b), first term",
        "sum_i w_i ||a_i||_2^2 sigma_g^2 <= tau_bar alpha_max^2 sigma_g^2",
        at_most(
            (_tau1**2 + _tau2**2) / (_tau1 + _tau2) * _alpha**2 * _sigma_g2, (_tau1 + _tau2) / 2 * _alpha**2 * _sigma_g2
        ),
        repaired=at_most(
            _w1 * _tau1 * _alpha**2 * _sigma_g2, _w1 * c_a * tau * _alpha**2 * _sigma_g2, below(_tau1, c_a * tau)
        ),
        repair="With c_a: ||a_i||_2^2 <= alpha_max*|a_i|_1 <= c_a*tau_bar*alpha_max^2.",
        remark="All a_i^k = alpha. Refuted with n = 2 and p_i = 1/2, so that w_i = tau_i/(tau_1 + tau_2); repaired "
        "client by client, with sum_i w_i = 1. tau_bar is the mean, as in Proposition 3; with the sum of Appendix B "
        "the line would be right.",
    ),
    _step(
        "Lemma 8, eq. (20), (b), third term",
        "sum_i w_i ||grad_y g_i(x,y)||^2 <= ||sum_i w_i [grad_y g_i(x,y) - grad_y g_i(x,y*)]||^2 + sigma_gh^2",
        gram(
            _w1 * square(_g1) + _w2 * square(_g2),
            square(_w1 * _g1 + _w2 * _g2) + _sigma_gh2,
            below(
                _w1 * square(_g1) + _w2 * square(_g2),
                s.beta_gh**2 * square(_w1 * _g1 + _w2 * _g2) + _sigma_gh2,
                "Assumption 4",
            ),
            where=(equal(_w1 + _w2, sp.Integer(1)), below(sp.Integer(1), s.beta_gh)),
        ),
        repaired=gram(
            squares(_slopes),
            s.beta_gh**2 * square(total(_slopes)) + _sigma_gh2,
            below(squares(_slopes), s.beta_gh**2 * square(total(_slopes)) + _sigma_gh2, "Assumption 4"),
        ),
        repair="With beta_gh^2, as in Assumption 4.",
        remark="Printed for n = 2, repaired for every n; the weighted mean of grad_y g_i(x, y*) is 0.",
    ),
    _step(
        "Lemma 8, eq. (20), (c)",
        "... <= 2 eta_y^2 c_a tau_bar alpha_max L_1^2 (drift_x + drift_y) "
        "+ 2 eta_y^2 c_a tau_bar alpha_max L_1^2 gap_y",
        at_most(
            2 * _eta_y**2 * c_a * tau * alpha_max * (_D0 + _D1),
            2 * _eta_y**2 * c_a * tau * alpha_max * L_1**2 * (_x_drift + _y_drift + _gap),
            below(_D0, L_1**2 * (_x_drift + _y_drift)),
            below(_D1, L_1**2 * _gap),
        ),
        remark="D_0 and D_1 are the averages of (b).",
    ),
    _step(
        'Lemma 8, "an easier case", the gradient',
        "the surrogate gradient of f_i and grad_v R_i are bounded: ||.||^2 <= 2 L_f^2 + 2 r_max^2 L_1^2",
        gram(
            square(_F - _Gv),
            2 * s.L_f**2 + 2 * _r_max**2 * s.L_1**2,
            below(square(_F), s.L_f**2, "Assumption 2"),
            below(square(_Gv), s.L_1**2 * square(_v), "Assumption 2"),
            below(square(_v), _r_max**2, "Lemma 2"),
        ),
        remark="F is grad_x f_i and Gv the product with v. Which bound is meant is not printed; this is that of Lemma "
        "5, and the claims that follow have half of it, for which the average over k would leave slack.",
    ),
    _step(
        'Lemma 8, "an easier case", the noise',
        "E||noise of the surrogate gradient||^2 <= 2 sigma_f^2 + 2 r_max^2 sigma_gg^2",
        forms.one_noise(),
        remark="noise_g is the noise of the second derivatives times v, of the same sample. Not printed here; this is "
        "the bound of (23), and as in the step before half of it follows.",
    ),
    _step(
        'Lemma 8, first claim, and "an easier case"',
        "drift_x <= eta_x^2 tau_bar (alpha_max^2 (sigma_f^2 + r_max^2 sigma_gg^2) + alpha_max (L_f^2 + r_max^2 L_1^2))",
        drawn(_drift_x, kind=StepKind.END_TO_END, factor=1, paths=0),
        repaired=drawn(_drift_x, kind=StepKind.END_TO_END, factor=4, paths=1),
        repair=_PATH_REPAIR,
        remark=_DRIFT_X_REMARK,
    ),
    _step(
        'Lemma 8, second claim, and "an easier case"',
        "drift_v <= eta_v^2 tau_bar sigma_M1^2",
        drawn(_drift_v, kind=StepKind.END_TO_END, factor=1, paths=0),
        repaired=drawn(_drift_v, kind=StepKind.END_TO_END, factor=4, paths=1),
        repair=_PATH_REPAIR,
        remark=_DRIFT_X_REMARK,
    ),
    _step(
        "Lemma 8, third claim, solved for the drift of y",
        "drift_y <= A + c (drift_x + drift_y) gives drift_y <= (A + c drift_x)/(1 - c), c = 2 eta_y^2 c_a tau_bar "
        "alpha_max L_1^2",
        at_most(
            _y_drift, (_other + _room * _x_drift) / (1 - _room), below(_y_drift, _other + _room * (_x_drift + _y_drift))
        ),
        repaired=at_most(
            _y_drift,
            (_other + _room * _x_drift) / (1 - _room),
            below(_y_drift, _other + _room * (_x_drift + _y_drift)),
            positive(1 - _room),
        ),
        repair="c < 1, which the lemma does not ask for; the next display does.",
    ),
    _step(
        "Lemma 8, third claim",
        "drift_y <= eta_y^2 tau_bar/(1 - 2 eta_y^2 c_a tau_bar alpha_max L_1^2) [alpha_max^2 sigma_g^2 "
        "+ 2 c_a alpha_max (L_1^2 eta_x^2 tau_bar sigma_M1^2 + L_1^2 gap_y + sigma_gh^2)]",
        drawn(_drift_y, kind=StepKind.END_TO_END, count=200, factor=2),
        repaired=drawn(_repaired_drift_y, kind=StepKind.END_TO_END, count=200, factor=8),
        repair="The claim on y of simfbo/lemma-8-repaired.",
        remark="Without noise, g_i with equal quadratic parts, for which beta_gh = 1.",
    ),
    _step(
        "Lemma 8, eq. (21)",
        "drift_y <= 2 eta_y^2 tau_bar sigma_M2^2 + 4 eta_y^2 tau_bar c_a alpha_max L_1^2 gap_y",
        at_most(
            _eta_y**2
            * tau
            / (1 - _room)
            * (
                alpha_max**2 * _sigma_g2
                + 2 * c_a * alpha_max * L_1**2 * (_eta_x**2 * tau * _M1_2 + _gap)
                + 2 * c_a * alpha_max * _sigma_gh2
            ),
            2 * _eta_y**2 * tau * (alpha_max**2 * _sigma_g2 + _M1_2 + 2 * c_a * alpha_max * _sigma_gh2)
            + 4 * _eta_y**2 * tau * c_a * alpha_max * L_1**2 * _gap,
            _X_CAP,
            _Y_CAP,
        ),
        remark="From the third claim; sigma_M2^2 = alpha_max^2 sigma_g^2 + sigma_M1^2 + 2 c_a alpha_max sigma_gh^2.",
    ),
    _step(
        "eq. (22), first part",
        "sum_i w_i sum_k (a_k/|a|_1) Delta_f <= 3 eta_x^2 tau_bar (L_1^2 + r^2 L_2^2) sigma_M1^2 + 3 eta_v^2 tau_bar "
        "L_1^2 sigma_M1^2 + 6 eta_y^2 tau_bar (L_1^2 + r^2 L_2^2) sigma_M2^2 + 12 eta_y^2 tau_bar (L_1^2 + r^2 L_2^2) "
        "c_a alpha_max L_1^2 gap_y",
        at_most(
            3 * _slope * (_x_drift + _y_drift) + 3 * L_1**2 * _v_drift,
            3 * _eta_x**2 * tau * _slope * _M1_2
            + 3 * _eta_v**2 * tau * L_1**2 * _M1_2
            + 6 * _eta_y**2 * tau * _slope * _M2_2
            + 12 * _eta_y**2 * tau * _slope * c_a * alpha_max * L_1**2 * _gap,
            below(_x_drift, _eta_x**2 * tau * _M1_2),
            below(_v_drift, _eta_v**2 * tau * _M1_2),
            below(_y_drift, 2 * _eta_y**2 * tau * _M2_2 + 4 * _eta_y**2 * tau * c_a * alpha_max * L_1**2 * _gap),
        ),
        remark="slope is L_1^2 + r^2 L_2^2; Delta_R is Delta_f.",
    ),
    _step(
        "eq. (22), second part",
        "sum_i w_i sum_k (a_k/|a|_1) Delta_g <= eta_x^2 tau_bar L_1^2 sigma_M1^2 + 2 eta_y^2 tau_bar L_1^2 sigma_M2^2 "
        "+ 4 eta_y^2 tau_bar c_a alpha_max L_1^4 gap_y",
        at_most(
            L_1**2 * (_x_drift + _y_drift),
            _eta_x**2 * tau * L_1**2 * _M1_2
            + 2 * _eta_y**2 * tau * L_1**2 * _M2_2
            + 4 * _eta_y**2 * tau * c_a * alpha_max * L_1**4 * _gap,
            below(_x_drift, _eta_x**2 * tau * _M1_2),
            below(_y_drift, 2 * _eta_y**2 * tau * _M2_2 + 4 * _eta_y**2 * tau * c_a * alpha_max * L_1**2 * _gap),
        ),
    ),
    Proof("simfbo/proposition-3")(
        "Proposition 3",
        "drift_v <= eta_v^2 tau_bar sigma_M1^2",
        drawn(_drift_v, kind=StepKind.END_TO_END, factor=1, paths=0),
        repaired=drawn(_drift_v, kind=StepKind.END_TO_END, factor=4, paths=1),
        repair=_PATH_REPAIR,
        remark="The second claim of Lemma 8. " + _DRIFT_X_REMARK,
    ),
)
