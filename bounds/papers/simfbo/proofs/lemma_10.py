"""Appendix D.4, Lemma 10, eq. (29) to (36), and Proposition 2: the progress of y and v in one round."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, NoisyRational, expect, expect_square, mean, times
from bounds.ledger.draw import dot as product
from bounds.ledger.draw import square as norm2
from bounds.ledger.proof import Proof, at_most, gram, nonnegative, positives, same
from bounds.ledger.step import StepKind, above, below, equal, positive
from bounds.ledger.vectors import dot, square, vectors
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs import forms
from bounds.papers.simfbo.proofs.form import Pairs, drawn
from bounds.papers.simfbo.proofs.rounds import BilevelRound, V, X, Y, drawn_round, opposite_round, weights

_step = Proof("simfbo/lemma-10")
L_1, mu = s.L_1, s.mu_g
_s, _step_y, _delta, _delta_1, _L_yx, _B, _L_v, _L_R, _L_vx, _r, _r_max = positives(
    "rho_gamma_x rho_gamma_y delta delta_1 L_yx size L_v L_R L_vx r r_max"
)
_e, _rem, _d2, _slope, _m, _next, _moved, _gap, _sampled_y, _sampled_x, _mean_x, _drifts = nonnegative(
    "error remainder dx2 jacobian mean_x next moved gap sampled_y2 sampled_x2 mean_x2 drifts"
)
_a, _b, _c, _h, _jd = vectors("y_next y_star y_star_next sampled_y jacobian_dx")
_gap_e, _u, _z, _q, _dx, _dy, _dv, _change, _Gdv = vectors("y_error u z q dx dy dv change_xy G_dv")


@dataclass(frozen=True)
class _Sample:
    """Errors after one sample C: e = y+ - y*(x) and d = x+ - x, both one number."""

    e: Fraction
    d: Fraction


def _samples(draw: Draw) -> tuple[list[_Sample], Fraction]:
    """The values of e and d for every C, and the derivative of y* at x."""
    run = opposite_round(draw, clients=4) if draw.whole(0, 1) else drawn_round(draw)
    step, step_y = draw.positive(), draw.positive()
    error = run.origin[Y].constant - run.y_star(run.origin[X]).constant
    found = [
        _Sample(e=error - step_y * expect(run.sampled(chosen, Y)), d=-step * expect(run.sampled(chosen, X)))
        for chosen in run.samples
    ]
    return found, run.average("a") / run.average("m")


def _replaced_by_mean(draw: Draw, factor: int, covariance: int) -> Pairs:
    samples, jacobian = _samples(draw)
    e, d = mean(one.e for one in samples), mean(one.d for one in samples)
    left = -2 * jacobian * mean(one.e * one.d for one in samples)
    spread = mean((one.e - e) ** 2 for one in samples) + jacobian**2 * mean((one.d - d) ** 2 for one in samples)
    yield left, factor * mean(abs(one.e) for one in samples) * abs(jacobian * d) + covariance * spread


def _product_of_means(draw: Draw, factor: int, *, surely: bool) -> Pairs:
    # y*(x + d) = y*(x) + y*'(x)*d + curvature*d^2/2
    samples, _ = _samples(draw)
    curvature = draw.rational()
    remainders = [curvature * one.d**2 / 2 for one in samples]
    left = -2 * mean(one.e * rest for one, rest in zip(samples, remainders, strict=True))
    sizes = [abs(rest) for rest in remainders]
    yield left, factor * mean(abs(one.e) for one in samples) * (max(sizes) if surely else mean(sizes))


def _product_printed(draw: Draw, factor: int) -> Pairs:
    yield from _product_of_means(draw, factor, surely=False)


def _product_repaired(draw: Draw, factor: int) -> Pairs:
    yield from _product_of_means(draw, factor, surely=True)


def _sampled_size(draw: Draw, factor: int, *, repaired: bool) -> Pairs:
    # One client of n is sampled, one local step, f_i = c_i*x, nothing of x in g_i, mu_g = L_1, v = 0.
    n = draw.whole(2, 8)
    w, slopes = weights(draw, n), times(Fraction(1, draw.whole(1, 10)), draw.vector(n))
    noise, L_f = draw.positive() ** 2, max(abs(c) for c in slopes)
    left = n * sum(weight**2 * (c**2 + noise) for weight, c in zip(w, slopes, strict=True))
    size = L_f**2 + (2 * L_f) ** 2
    yield left, n * max(w) * factor * (size + noise) if repaired else factor * size


def _sampled_size_printed(draw: Draw, factor: int) -> Pairs:
    yield from _sampled_size(draw, factor, repaired=False)


def _sampled_size_repaired(draw: Draw, factor: int) -> Pairs:
    yield from _sampled_size(draw, factor, repaired=True)


def _inner_y(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    error = run.origin[Y] - run.y_star(run.origin[X])
    left = mean(expect(error, run.sampled(chosen, Y)) for chosen in run.samples)
    at_start = sum((w * run.at_start(i, Y) for i, w in enumerate(run.w)), NoisyRational())
    # grad_y G is 0 at y*.
    yield left, factor * expect(error, run.mean_direction(Y) - at_start) + run.average("m") * run.gap_y


def _inner_v(draw: Draw, factor: int) -> Pairs:
    run = drawn_round(draw, noisy=True)
    x, y, v = run.origin
    y_star, v_star = run.y_star(x), run.v_star(x)
    error = v - v_star
    left = mean(expect(error, run.sampled(chosen, V)) for chosen in run.samples)

    def gradient(point_y: NoisyRational, point_v: NoisyRational) -> NoisyRational:
        terms = zip(run.w, run.clients, strict=True)
        return sum((w * client.directions((x, point_y, point_v))[V] for w, client in terms), NoisyRational())

    parts = (
        run.mean_direction(V) - gradient(y, v),
        gradient(y, v) - gradient(y_star, v),
        gradient(y_star, v) - gradient(y_star, v_star),
    )
    yield left, factor * sum((expect(error, part) for part in parts), Fraction(0))


def _projection(draw: Draw) -> Pairs:
    # Directions of rational length, so that the projection is rational.
    directions = ((Fraction(1), Fraction(0)), (Fraction(3, 5), Fraction(4, 5)), (Fraction(-5, 13), Fraction(12, 13)))
    radius = draw.positive()
    length, inside = draw.positive(9), draw.rational(0, 1) * radius
    far, near = directions[draw.whole(0, 2)], times(inside, directions[draw.whole(0, 2)])
    projected, point = times(min(length, radius), far), times(length, far)

    def distance(one: tuple[Fraction, ...]) -> Fraction:
        return norm2(one) - 2 * product(one, near) + norm2(near)

    yield distance(projected), distance(point)


def _round_change(run: BilevelRound, variable: int, step: Fraction, other: Fraction) -> Fraction:
    """The change of E||y - y*||^2 or E||v - v*||^2 in the round; the projection leaves v as it is."""
    star = run.y_star if variable == Y else run.v_star
    before = run.gap_y if variable == Y else run.gap_v
    after = (
        run.start[variable] - other * run.sampled(chosen, variable) - star(run.start[X] - step * run.sampled(chosen, X))
        for chosen in run.samples
    )
    return mean(expect_square(one) for one in after) - before


def _progress(draw: Draw, variable: int, factor: int, power: int, squares: int) -> Pairs:
    """Lemma 10 for quadratics, where L_yx = L_vx = 0 and delta_t = delta_t1."""
    run = opposite_round(draw) if draw.whole(0, 1) else drawn_round(draw, noisy=True)
    step, other, delta = draw.positive(), draw.positive(), draw.positive(1) / draw.whole(1, 16)
    if variable == V and draw.whole(0, 1):
        # Steps and slopes at which the covariance of v+ and x+ weighs most against the printed terms.
        run, one, slope = opposite_round(draw), Fraction(1), draw.rational(Fraction(1, 2), 1)
        clients = zip(run.clients, (one, -one), strict=True)
        run = replace(
            run, clients=tuple(replace(each, a=slope, q=one, s=one, c=sign, e=sign) for each, sign in clients)
        )
        step, delta = other * draw.rational(Fraction(1, 40), Fraction(1, 10)), delta / 16
    L, mu_g = run.L_1, run.mu_g
    lipschitz2 = (L / mu_g) ** 2 if variable == Y else 2 * (L / mu_g) ** 2 * (1 + (L / mu_g) ** 2)
    moved = 2 * L**2 / mu_g * (run.drift(X) + run.drift(Y))
    gap = run.gap_y
    if variable == V:
        moved, gap = 8 * L**2 / mu_g * (run.drift(X) + run.drift(Y) + run.drift(V) + run.gap_y), run.gap_v
    mean2 = expect_square(run.mean_direction(X))
    # The root in L_v is rounded up, in favour of the claim.
    lipschitz = L / mu_g if variable == Y else Fraction(math.isqrt(math.floor(lipschitz2 * 10**12)) + 1, 10**6)
    right = (
        (delta - other * mu_g - delta * other * mu_g) * gap
        + (squares + delta) * other**2 * run.sampled_square(variable)
        + (1 + delta) * other * moved
        + step**2 * squares * lipschitz2 * run.sampled_square(X)
    )
    young = lipschitz2 if power == 2 else lipschitz**power
    yield _round_change(run, variable, step, other), right + step**2 / delta * mean2 * factor * young


def _progress_y(draw: Draw, factor: int, power: int, squares: int) -> Pairs:
    yield from _progress(draw, Y, factor, power, squares)


def _progress_v(draw: Draw, factor: int, power: int, squares: int) -> Pairs:
    yield from _progress(draw, V, factor, power, squares)


_CONTRACTED = (1 - _step_y * mu) * _gap + _step_y**2 * _sampled_y
_QUADRATIC = (
    "Quadratic f_i and g_i, for which L_yx = L_vx = 0 and delta_t = delta_t1 is any positive number; among them two "
    "clients of opposite gradients, one of them sampled, from y = y* and v = v*. The projection is never met. "
)
_JOINT = (
    below(square(_change), _L_R**2 * (square(_dx) + square(_dy)), "Lemma 3"),
    below(square(_Gdv), L_1**2 * square(_dv), "Assumption 2"),
)
_ROOM = (above(_L_R**2, 2 * L_1**2),)
_SHARED = (
    "The clients of one round serve x, y and v: their covariance costs another squared step of the variable and "
    "L_y^2 or L_v^2 once more, and the Young term has the square of the Lipschitz constant (simfbo/lemma-10-repaired)."
)

STEPS = (
    _step(
        "Lemma 10, eq. (29)",
        "||y+ - y*(x+)||^2 = ||y+ - y*(x)||^2 + ||y*(x) - y*(x+)||^2 + 2<y+ - y*(x), y*(x) - y*(x+)>",
        gram(square(_a - _c), square(_a - _b) + square(_b - _c) + 2 * dot(_a - _b, _b - _c), operator="=="),
    ),
    _step(
        "Lemma 10, eq. (30), first equality",
        "2<e, y*(x) - y*(x+)> = -2<e, y*'(x+ - x)> - 2<e, y*(x+) - y*(x) - y*'(x+ - x)>, e = y+ - y*(x)",
        gram(2 * dot(_a - _b, _b - _c), -2 * dot(_a - _b, _jd) - 2 * dot(_a - _b, _c - _b - _jd), operator="=="),
    ),
    _step(
        "Lemma 10, eq. (30), second line, first term",
        "-2E<e, y*'(x+ - x)> <= 2E||e|| E||rho gamma_x y*' sum_i w_i h~_x,i||",
        drawn(_replaced_by_mean, factor=2, covariance=0),
        repaired=drawn(_replaced_by_mean, factor=2, covariance=1),
        repair="With the variances of e and of y*'(x+ - x) added, for their covariance.",
        remark="y+ and x+ are made of the same sample C; the mean may replace x+ only if y+ does not depend on C.",
    ),
    _step(
        "Lemma 10, eq. (30), second line, second term",
        "-2E<e, remainder> <= 2E||e|| E||remainder||",
        drawn(_product_printed, count=200, factor=2),
        repaired=drawn(_product_repaired, count=200, factor=2),
        repair="With a bound of the remainder that holds for every C.",
        remark="The expectation of a product of two functions of the same sample; y* quadratic. The products of "
        "expectations stay to the fourth inequality, which draws E||x+ - x||^2 out of the first.",
    ),
    _step(
        "Lemma 10, eq. (30), (a)",
        "2 ||e|| ||remainder|| <= L_yx ||e|| ||x+ - x||^2",
        at_most(2 * _e * _rem, _L_yx * _e * _d2, below(_rem, _L_yx / 2 * _d2)),
    ),
    _step(
        "Lemma 10, eq. (30), third inequality, first term",
        "2 ||e|| ||rho gamma_x y*' S|| <= delta_t1 ||e||^2 + 4 (rho gamma_x)^2 L_y/delta_t1 ||S||^2",
        at_most(
            2 * _e * _s * _slope * _m,
            _delta_1 * _e**2 + 4 * _s**2 * formulas.L_Y / _delta_1 * _m**2,
            below(_slope, formulas.L_Y),
            below(mu, L_1),
        ),
        repaired=at_most(
            2 * _e * _s * _slope * _m,
            _delta_1 * _e**2 + _s**2 * formulas.L_Y**2 / _delta_1 * _m**2,
            below(_slope, formulas.L_Y),
            below(mu, L_1),
        ),
        repair="L_y^2/delta_t1; 4*L_y is enough for L_y <= 4 only.",
        remark="S = sum_i w_i h~_x,i, of size mean_x; jacobian = ||y*'||. delta_t1 > 0 is not said in print.",
    ),
    _step(
        "Lemma 10, eq. (30), third inequality, second term",
        "L_yx ||e|| ||x+ - x||^2 <= (L_yx/2) ||e||^2 ||x+ - x||^2 + (L_yx/2) ||x+ - x||^2",
        at_most(_L_yx * _e * _d2, _L_yx / 2 * _e**2 * _d2 + _L_yx / 2 * _d2),
        remark="The Young weight 1 has the unit of a length.",
    ),
    _step(
        "Lemma 10, eq. (30), fourth inequality",
        "E||x+ - x||^2 <= 2 (r_max^2 L_1^2 + L_f^2)(rho gamma_x)^2",
        drawn(_sampled_size_printed, factor=2),
        repaired=drawn(_sampled_size_repaired, factor=2),
        repair="beta_max times the bound, with the noise added: Lemma 5 is about sum_i w_i ||mean gradient||^2.",
        remark="Over (rho gamma_x)^2; one client sampled, unequal weights and noise.",
    ),
    _step(
        "Lemma 10, eq. (30), last equality, (b), and below (32) for delta_t'",
        "delta_t1 + L_yx (r_max^2 L_1^2 + L_f^2)(rho gamma_x)^2 = delta_t with delta_t := delta_t1 "
        "+ L_yx (r_max^2 L_1^2 + L_f^2)(rho gamma_x)^2/2",
        same(_delta_1 + _L_yx * _B * _s**2, _delta_1 + _L_yx * _B * _s**2 / 2),
        repaired=same(_delta_1 + _L_yx * _B * _s**2, _delta_1 + _L_yx * _B * _s**2),
        repair="delta_t without the 1/2.",
    ),
    _step(
        "Lemma 10, eq. (32), the same for v",
        "2 ||e|| ||rho gamma_x v*' S|| <= delta_t1' ||e||^2 + 4 (rho gamma_x)^2 L_v/delta_t1' ||S||^2",
        at_most(2 * _e * _s * _slope * _m, _delta_1 * _e**2 + 4 * _s**2 * _L_v / _delta_1 * _m**2, below(_slope, _L_v)),
        repaired=at_most(
            2 * _e * _s * _slope * _m, _delta_1 * _e**2 + _s**2 * _L_v**2 / _delta_1 * _m**2, below(_slope, _L_v)
        ),
        repair="L_v^2/delta_t1'.",
        remark="delta_1 is delta_t1', jacobian = ||v*'||.",
    ),
    _step(
        "Lemma 10, eq. (33), second equality",
        "||y - y* - rho gamma_y H||^2 = ||y - y*||^2 + (rho gamma_y)^2 ||H||^2 - 2 rho gamma_y <y - y*, H>",
        gram(
            square(_gap_e - _step_y * _h),
            square(_gap_e) + _step_y**2 * square(_h) - 2 * _step_y * dot(_gap_e, _h),
            operator="==",
        ),
        remark="H = sum_C w~ h_y.",
    ),
    _step(
        "Lemma 10, eq. (34), the equalities",
        "E<y - y*, sum_C w~ h_y> = <y - y*, sum_i w_i h~_y,i - grad G(y) + grad G(y) - grad G(y*)>",
        drawn(_inner_y, "==", form=forms.sampled_inner, factor=1),
    ),
    _step(
        "Lemma 10, eq. (34), (a)",
        "-<y - y*, u> - <y - y*, z> <= (1/mu_g) ||z||^2 + (mu_g/2) ||y - y*||^2 - mu_g ||y - y*||^2",
        gram(
            -dot(_gap_e, _u) - dot(_gap_e, _z),
            square(_z) / mu - mu / 2 * square(_gap_e),
            above(dot(_gap_e, _z), mu * square(_gap_e)),
        ),
        repaired=gram(
            -dot(_gap_e, _u) - dot(_gap_e, _z),
            square(_u) / mu - mu / 2 * square(_gap_e),
            above(dot(_gap_e, _z), mu * square(_gap_e)),
        ),
        repair="(1/mu_g) ||u||^2; the next line bounds u too.",
        remark="u = grad_y g_i at the local point less at (x, y), z = the same at (x, y) less at (x, y*); one client.",
    ),
    _step(
        "Lemma 10, eq. (34), (b)",
        "(1/mu_g) ||z||^2 <= (L_1^2/mu_g)(||x - x_i^k||^2 + ||y - y_i^k||^2)",
        gram(
            square(_z) / mu,
            L_1**2 / mu * (square(_dx) + square(_dy)),
            below(square(_u), L_1**2 * (square(_dx) + square(_dy)), "Assumption 2"),
        ),
        repaired=gram(
            square(_u) / mu,
            L_1**2 / mu * (square(_dx) + square(_dy)),
            below(square(_u), L_1**2 * (square(_dx) + square(_dy)), "Assumption 2"),
        ),
        repair="u, as in the step before",
        remark="u and z as in the step before.",
    ),
    _step(
        "Lemma 10, eq. (35)",
        "E||y+ - y*(x)||^2 = (1 - rho gamma_y mu_g) gap_y + (rho gamma_y)^2 E||H||^2 + 2 rho gamma_y L_1^2/mu_g drifts",
        at_most(
            _next,
            _CONTRACTED + 2 * _step_y * L_1**2 / mu * _drifts,
            below(_next, _gap + _step_y**2 * _sampled_y + 2 * _step_y * (L_1**2 / mu * _drifts - mu / 2 * _gap)),
            operator="==",
        ),
        repaired=at_most(
            _next,
            _CONTRACTED + 2 * _step_y * L_1**2 / mu * _drifts,
            below(_next, _gap + _step_y**2 * _sampled_y + 2 * _step_y * (L_1**2 / mu * _drifts - mu / 2 * _gap)),
        ),
        repair='"<=": (34), which is put in, is an inequality.',
    ),
    _step(
        "Lemma 10, eq. (36)",
        "||y*(x) - y*(x+)||^2 <= L_y^2 ||x - x+||^2 = L_y^2 (rho gamma_x)^2 ||sum_C w~ h_x||^2",
        gram(
            square(_b - _c),
            formulas.L_Y**2 * _s**2 * square(_h),
            below(square(_b - _c), formulas.L_Y**2 * square(_dx), "Lemma 4"),
            equal(square(_dx), square(_s * _h), "x - x+ by the algorithm"),
        ),
        remark="sampled_y stands for the sampled direction of x. The first right side is printed without E.",
    ),
    _step(
        "Lemma 10, first claim, the factor of gap_y",
        "(1 + delta_t)(1 - rho gamma_y mu_g) - 1 = delta_t - rho gamma_y mu_g - delta_t rho gamma_y mu_g",
        same((1 + _delta) * (1 - _step_y * mu) - 1, _delta - _step_y * mu - _delta * _step_y * mu),
    ),
    _step(
        "Lemma 10, first claim, (35) and (36) into (31)",
        "the claim on y",
        at_most(
            _next - _gap,
            (_delta - _step_y * mu - _delta * _step_y * mu) * _gap
            + (1 + _delta) * _step_y**2 * _sampled_y
            + (1 + _delta) * _step_y * 2 * L_1**2 / mu * _drifts
            + _s**2 * (formulas.L_Y**2 + _L_yx / 2) * _sampled_x
            + _s**2 * 4 * formulas.L_Y / _delta_1 * _mean_x,
            below(
                _next,
                (1 + _delta) * _moved
                + formulas.L_Y**2 * _s**2 * _sampled_x
                + _s**2 * 4 * formulas.L_Y / _delta_1 * _mean_x
                + _s**2 * _L_yx / 2 * _sampled_x,
            ),
            below(_moved, _CONTRACTED + 2 * _step_y * L_1**2 / mu * _drifts),
        ),
        remark="moved = E||y+ - y*(x)||^2. Right as algebra, from (31), (35) and (36) as they are printed, with <=.",
    ),
    _step(
        "Lemma 10, first claim",
        "E||y+ - y*(x+)||^2 - E||y - y*(x)||^2 <= ... with 4 L_y/delta_t1 and L_y^2 + L_yx/2",
        drawn(_progress_y, kind=StepKind.END_TO_END, count=200, factor=4, power=1, squares=1),
        repaired=drawn(_progress_y, kind=StepKind.END_TO_END, count=200, factor=1, power=2, squares=2),
        repair=_SHARED,
        remark=_QUADRATIC,
    ),
    _step(
        "Lemma 10, the display for v, the equality",
        "E<v - v*, sum_C w~ h_v> split at grad_v R_i(x, y, v) and grad_v R_i(x, y*, v)",
        drawn(_inner_v, "==", form=forms.sampled_inner_of_v, factor=1),
    ),
    _step(
        "Lemma 10, the display for v, (a)",
        "-<e, u> - <e, z> - <e, q> <= (2/mu_g) ||u||^2 + (2/mu_g) ||z||^2 - (mu_g/2) ||e||^2",
        gram(
            -dot(_gap_e, _u) - dot(_gap_e, _z) - dot(_gap_e, _q),
            2 * square(_u) / mu + 2 * square(_z) / mu - mu / 2 * square(_gap_e),
            above(dot(_gap_e, _q), mu * square(_gap_e)),
        ),
        remark="e = v - v* (y_error here), q the change of grad_v R_i in v at y*; 1/mu_g would do for 2/mu_g.",
    ),
    _step(
        "Lemma 10, the display for v, (b), first term",
        "(2/mu_g) ||grad_v R_i(x_i^k, y_i^k, v_i^k) - grad_v R_i(x, y, v)||^2 <= (2 L_R^2/mu_g)(||x - x_i^k||^2 "
        "+ ||y - y_i^k||^2 + ||v - v_i^k||^2)",
        gram(
            2 * square(_change + _Gdv) / mu,
            4 * (L_1**2 + s.L_2**2 * _r_max**2) / mu * (square(_dx) + square(_dy) + square(_dv)),
            below(square(_change), (L_1 + _r * s.L_2) ** 2 * (square(_dx) + square(_dy)), "Assumption 2, ||v|| <= r"),
            below(square(_Gdv), L_1**2 * square(_dv), "Assumption 2"),
            where=(below(mu, L_1), positive(s.L_2), above(_r_max, 2 * _r)),
        ),
        repaired=gram(
            square(_change + _Gdv) / mu,
            2 * _L_R**2 / mu * (square(_dx) + square(_dy) + square(_dv)),
            *_JOINT,
            where=_ROOM,
        ),
        repair="With 1/mu_g on the left, for which (a) leaves slack: the claim stands.",
        remark="L_R^2 = 2(L_1^2 + L_2^2 r_max^2), r_max = (1 + alpha_max/alpha_min) r. Lemma 3 gives L_R for a change "
        "of (x, y) at a fixed v; a change of v at the same time comes on top. At the server's v, of length up to r, "
        "the change in (x, y) is at most L_1 + r L_2 times the distance, that in v at most L_1 times ||dv||: short "
        "for r L_2 < (2/7) L_1 at r_max = 2 r, such as for f_i = -L_1*y^2/2 and G_yy of slope L_2 = L_1/(7*r) in y "
        "near L_1, at v = r.",
    ),
    _step(
        "Lemma 10, the projection",
        "||P_r(v - H) - v*||^2 <= ||v - H - v*||^2",
        drawn(_projection, kind=StepKind.STANDARD),
        remark="For ||v*|| <= r.",
    ),
    _step(
        "Lemma 10, second claim, put together",
        "the claim on v",
        at_most(
            _next - _gap,
            (_delta - _step_y * mu - _delta * _step_y * mu) * _gap
            + (1 + _delta) * _step_y**2 * _sampled_y
            + (1 + _delta) * _step_y * 4 * _L_R**2 / mu * _drifts
            + _s**2 * (_L_v**2 + _L_vx / 2) * _sampled_x
            + _s**2 * 4 * _L_v / _delta_1 * _mean_x,
            below(
                _next,
                (1 + _delta) * _moved
                + _L_v**2 * _s**2 * _sampled_x
                + _s**2 * 4 * _L_v / _delta_1 * _mean_x
                + _s**2 * _L_vx / 2 * _sampled_x,
            ),
            below(_moved, _CONTRACTED + 2 * _step_y * 2 * _L_R**2 / mu * _drifts),
        ),
        remark="As simfbo/lemma-10-18; delta, rho_gamma_y and sampled_y2 are those of v, gap_y is among the drifts.",
    ),
    _step(
        "Lemma 10, second claim",
        "E||v+ - v*(x+)||^2 - E||v - v*(x)||^2 <= ... with 4 L_v/delta_t1' and L_v^2 + L_vx/2",
        drawn(_progress_v, kind=StepKind.END_TO_END, count=200, factor=4, power=1, squares=1),
        repaired=drawn(_progress_v, kind=StepKind.END_TO_END, count=200, factor=1, power=2, squares=2),
        repair=_SHARED,
        remark=_QUADRATIC,
    ),
    Proof("simfbo/proposition-2")(
        "Proposition 2, against the second claim of Lemma 10",
        "(L_v^2 + L_vx/2) sampled_x2 + (4 L_v/delta_t1') mean_x2 <= (L_v^2 + L_vx/4) sampled_x2 + (2 L_v/delta_t1') "
        "mean_x2",
        at_most(
            (_L_v**2 + _L_vx / 2) * _sampled_x + 4 * _L_v / _delta_1 * _mean_x,
            (_L_v**2 + _L_vx / 4) * _sampled_x + 2 * _L_v / _delta_1 * _mean_x,
            below(_mean_x, _sampled_x),
            above(_L_v, sp.Integer(2)),
        ),
        repaired=at_most(
            (_L_v**2 + _L_vx / 2) * _sampled_x + 4 * _L_v / _delta_1 * _mean_x,
            (_L_v**2 + _L_vx / 2) * _sampled_x + 4 * _L_v / _delta_1 * _mean_x,
        ),
        repair="With the constants of Lemma 10, whose proof is the only one.",
        remark="All other terms of the two statements are the same. mean_x2 <= sampled_x2, whose mean it is of, and "
        "L_v >= 2 by (13).",
    ),
    Proof("simfbo/proposition-2", first=2)(
        "Proposition 2",
        "E||v+ - v*(x+)||^2 - E||v - v*(x)||^2 <= ... with 2 L_v/delta_t1' and L_v^2 + L_vx/4",
        drawn(_progress_v, kind=StepKind.END_TO_END, count=200, factor=2, power=1, squares=1),
        repaired=drawn(_progress_v, kind=StepKind.END_TO_END, count=200, factor=1, power=2, squares=2),
        repair=_SHARED,
        remark=_QUADRATIC,
    ),
)
