"""Claims of this ledger for every n, P and number of local steps, and for any f_i and g_i within the assumptions.

Products stand for expectations. Sums over clients have the weights w_i, which add up to 1, and sums over the local
steps of a client the weights a_i^k; where all clients are sampled alike a vector of client i is w_i times what is said.
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger import families
from bounds.ledger.families import deviation, per_client, sampled, sampled_with, squares, total
from bounds.ledger.proof import at_most, gram, nonnegative, positives, reals
from bounds.ledger.step import Gram, Scalar, above, below, equal
from bounds.ledger.vectors import dot, square, vectors
from bounds.ledger.written import written
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs.form import weighted

ZERO = sp.Integer(0)
L_1, L_2, L_3, L_f, mu = s.L_1, s.L_2, s.L_3, s.L_f, s.mu_g
r, r_max = positives("r r_max")
# ||x_1 - x_2||^2 + ||y_1 - y_2||^2, and ||v_1 - v_2||^2.
_moved2, _dv2 = nonnegative("distance2 dv2")


# --- Lemma 1 ---


def optimal_v(exponent: sp.Expr) -> Gram:
    """G_yy v* = F_y with a Hessian that is at least mu_g."""
    v, slope = vectors("v* F_y")
    return gram(
        square(v),
        L_f**2 / mu**exponent,
        below(mu**2 * square(v), square(slope), "G_yy is at least mu_g"),
        below(square(slope), L_f**2, "Assumption 2"),
    )


# --- Lemma 2: a local step, and one from the ball of radius one*r ---


def local_step() -> Gram:
    """The point v - s*(G*v - F) is (I - s*G)*v + s*F for a symmetric G, s = eta_v*a: tested against any vector."""
    v, Gv, slope, probe, Gprobe = vectors("v Gv F_y probe Gprobe")
    step = positives("eta_v*a")
    return gram(
        dot(v - step * (Gv - slope), probe),
        dot(v, probe - step * Gprobe) + step * dot(slope, probe),
        equal(dot(Gv, probe), dot(v, Gprobe), "G_yy is symmetric"),
        operator="==",
    )


def contracts() -> Gram:
    """The point v - s*G*v with a symmetric G between mu_g and L_1, and s = eta_v*a_i^k <= 1/L_1."""
    v, Gv = vectors("v Gv")
    step = positives("eta_v*a")
    return gram(
        square(v - step * Gv),
        (1 - step * mu) ** 2 * square(v),
        above(dot(Gv, v), mu * square(v), "G is at least mu_g"),
        above(dot(Gv - mu * v, L_1 * v - Gv), 0, "G is symmetric, from mu_g to L_1"),
        where=(below(step * L_1, 1), below(mu, L_1)),
    )


def stays_in_ball(one: sp.Expr) -> Gram:
    """The next point lies between two of the ball: v - s*G*v is (1 - s*mu_g)*in, and s*F is s*mu_g*(F/mu_g)."""
    inside, slope = vectors("in F/mu_g")
    share, before2, slope2 = nonnegative("s*mu_g before2 slope2")
    return gram(
        square((1 - share) * inside + share * slope),
        one * ((1 - share) * before2 + share * slope2),
        below(square(inside), before2, "the line before: at most r^2"),
        below(square(slope), slope2, "||F|| <= L_f: at most r^2"),
        where=(below(share, 1),),
    )


# --- Lemma 3 ---


def slope_of_system() -> Gram:
    """grad_v R_i = G*v - F at two points v: G of their difference, with a symmetric G, tested against any vector."""
    one, other, Gone, Gother, slope, probe, Gprobe = vectors("v_1 v_2 Gv_1 Gv_2 F_y probe Gprobe")
    return gram(
        dot((Gone - slope) - (Gother - slope), probe),
        dot(one - other, Gprobe),
        equal(dot(Gone, probe), dot(one, Gprobe), "G_yy is symmetric"),
        equal(dot(Gother, probe), dot(other, Gprobe), "G_yy is symmetric"),
        operator="==",
    )


def linear_system(exponent: sp.Expr) -> Gram:
    """The bound on the change of grad_v R_i at a fixed v."""
    Gv, Hv, F, H = vectors("G1v G2v F1 F2")
    return gram(
        square((Gv - F) - (Hv - H)),
        2 * (L_2**2 * r_max**2 + L_1**exponent) * _moved2,
        below(square(Gv - Hv), L_2**2 * r_max**2 * _moved2, "Assumption 2, ||v|| <= r_max"),
        below(square(F - H), L_1**2 * _moved2, "Assumption 2"),
    )


# --- Lemma 4 ---


def inverses() -> Gram:
    """(G1^-1 - G2^-1) z = -G1^-1 (G1 - G2) u for u = G2^-1 z, with symmetric matrices, tested against any vector.

    The vector against which it is tested is G1*q, so that <G1^-1 a, G1*q> = <a, q>.
    """
    z, first, u, G1u, q, G1q = vectors("z G1^-1*z u G1*u q G1*q")
    return gram(
        dot(first - u, G1q),
        -dot(G1u - z, q),
        equal(dot(first, G1q), dot(z, q), "G1 is symmetric"),
        equal(dot(u, G1q), dot(G1u, q), "G1 is symmetric"),
        operator="==",
    )


(_probe,) = vectors("probe")
_G_dv, _dG_v, _dF, _G_yyx_v, _G_yyy_v, _F_yx, _F_yy = vectors("G_yy*dv dG_yy*v dF_y G_yyx*v G_yyy*dy*v F_yx*dx F_yy*dy")


def total_derivative() -> Gram:
    """(14) in a direction dx, with dy = y*' dx and dv = v*' dx: rules of differentiation, tested against any vector."""
    return gram(
        dot(_G_yyx_v + _G_yyy_v + _G_dv - _F_yx - _F_yy, _probe),
        ZERO,
        equal(dot(_dG_v + _G_dv, _probe), dot(_dF, _probe), "product rule: G_yy v* = F_y for every x"),
        equal(dot(_dG_v, _probe), dot(_G_yyx_v + _G_yyy_v, _probe), "chain rule: G_yy at (x, y*(x))"),
        equal(dot(_dF, _probe), dot(_F_yx + _F_yy, _probe), "chain rule: F_y at (x, y*(x))"),
        operator="==",
    )


def partial_derivative() -> Gram:
    """(16) in a direction dx, with the partial derivative dv of v*(x, y): y stays as it is."""
    return gram(
        dot(_G_dv, _probe),
        dot(_F_yx - _G_yyx_v, _probe),
        equal(dot(_dG_v + _G_dv, _probe), dot(_dF, _probe), "product rule: G_yy v* = F_y for every (x, y)"),
        equal(dot(_dG_v, _probe), dot(_G_yyx_v, _probe), "in x alone"),
        equal(dot(_dF, _probe), dot(_F_yx, _probe), "in x alone"),
        operator="==",
    )


def partial_derivatives() -> Gram:
    """(16) at two points, the one less the other."""
    G_dv, G_yyx_v, F_yx = vectors("G_yy(2)*dv G_yyx(2)*v F_yx(2)*dx")
    return gram(
        dot(_G_dv - G_dv, _probe),
        dot(_F_yx - F_yx, _probe) - dot(_G_yyx_v - G_yyx_v, _probe),
        equal(dot(_G_dv, _probe), dot(_F_yx - _G_yyx_v, _probe), "(16)"),
        equal(dot(G_dv, _probe), dot(F_yx - G_yyx_v, _probe), "(16) at the other point"),
        operator="==",
    )


def optimum_moves() -> Gram:
    """||y*(x_1) - y*(x_2)|| <= L_1/mu_g ||x_1 - x_2||: u is the change of grad_y G from y*(x_2) to y*(x_1) at x_1."""
    u, dy, dx = vectors("u dy dx")
    return gram(
        square(dy),
        formulas.L_Y**2 * square(dx),
        above(dot(u, dy), mu * square(dy), "G is strongly convex"),
        below(square(u), L_1**2 * square(dx), "-u is its change from x_1 to x_2 at y*(x_2), where it vanishes"),
    )


def solution_moves() -> Gram:
    """The fifth claim: G1 (v_1 - v_2) = F1 - F2 - (G1 - G2) v_2 for v_1 = G1^-1 F1 and v_2 = G2^-1 F2."""
    dv, dF, dGv = vectors("dv dF dG*v_2")
    dx2, dy2 = nonnegative("dx2 dy2")
    return gram(
        mu**2 * square(dv),
        2 * (L_1**2 + r**2 * L_2**2) * (dx2 + dy2),
        below(mu**2 * square(dv), square(dF - dGv), "G1 is at least mu_g"),
        below(square(dF), L_1**2 * (dx2 + dy2), "Assumption 2"),
        below(square(dGv), L_2**2 * r**2 * (dx2 + dy2), "Assumption 2, Lemma 1"),
    )


def v_jacobian() -> Scalar:
    """The change of v*' by (14), factor by factor: norms, with root = sqrt(1 + L_y^2)."""
    d, dx, dF, dv, dG3, dG, dJ, distance = nonnegative("dv_jacobian dx dF dv dG3 dG_yy dy_jacobian distance")
    L_y, L_v, L_yx, root = positives("L_y L_v L_yx root")
    right = (root * ((L_2 + r * L_3) * (1 + L_y) + L_2 * L_v) + L_2 * L_v * (1 + L_y) + (L_1 + r * L_2) * L_yx) / mu
    return at_most(
        d,
        right * dx,
        below(
            mu * d,
            dF * (1 + L_y) + L_1 * dJ + dv * L_2 * (1 + L_y) + r * dG3 * (1 + L_y) + r * L_2 * dJ + dG * L_v,
            "(14) at two points: F_yx + F_yy y*', v*, G_yyx + G_yyy y*' and G_yy",
        ),
        below(dF, L_2 * distance, "Assumption 2"),
        below(dG3, L_3 * distance, "Assumption 2"),
        below(dG, L_2 * distance, "Assumption 2"),
        below(dv, L_v * dx, "fifth claim"),
        below(dJ, L_yx * dx, "fourth claim"),
        below(distance, root * dx, "third claim"),
    )


# --- Lemma 5 ---


def size_of_g(exponent: sp.Expr) -> Gram:
    """The first bound."""
    slopes, at_any = weighted("g g_star")
    at_star = at_any - total(at_any)
    (distance,) = vectors("y-y*")
    return gram(
        squares(slopes),
        s.beta_gh**2 * L_1**exponent * square(distance) + s.sigma_gh**2,
        below(squares(slopes), s.beta_gh**2 * square(total(slopes)) + s.sigma_gh**2, "Assumption 4"),
        below(squares(slopes - at_star), L_1**2 * square(distance), "grad_y g_i is smooth"),
    )


def size_of_R(exponent: sp.Expr) -> Gram:
    """The second bound, and with G_xy and F_x the third."""
    Gv, F = weighted("Gv F")
    return gram(
        squares(Gv - F),
        2 * r_max**2 * L_1**exponent + 2 * L_f**2,
        below(squares(Gv), r_max**2 * L_1**2, "||G|| <= L_1, ||v|| <= r_max"),
        below(squares(F), L_f**2, "Assumption 2"),
    )


# --- Lemma 6 ---


def change_of_f(exponent: sp.Expr) -> Gram:
    """The first bound, and with G_yy and F_y the third."""
    F, H, Gv, Hv, Hu = vectors("F1 F2 G1v1 G2v1 G2v2")
    return gram(
        square((F - H) - (Gv - Hu)),
        3 * (L_1**exponent + r**2 * L_2**2) * _moved2 + 3 * L_1**exponent * _dv2,
        below(square(F - H), L_1**2 * _moved2, "Assumption 2"),
        below(square(Gv - Hv), L_2**2 * r**2 * _moved2, "Assumption 2, ||v|| <= r"),
        below(square(Hv - Hu), L_1**2 * _dv2, "Assumption 2"),
    )


# --- Lemma 7 ---

_step = positives("rho_gamma_x")
_change, _inner = reals("Phi_change inner")
_gap_y, _gap_v, _drift_f, _drift_g, _grad2, _mean2, _apart2, _sampled2, _drift_x, _drift_y = nonnegative(
    "gap_y gap_v drift_f drift_g grad2 mean2 apart2 sampled2 drift_x drift_y"
)
_slope, _L_Phi, _L_R, _size, _variance = positives("slope L_Phi L_R size variance")


def inner_product(factor: sp.Expr) -> Gram:
    """E<grad Phi, sum_{i in C} w~_i h_i> = <grad Phi, sum_i w_i h~_i>, with a client's noise that has mean 0."""
    h, noise = per_client("w*h w*noise")
    (gradient,) = vectors("grad_Phi")
    left = s.n / s.P * sampled_with(h + noise, gradient).xreplace({families.m: s.P})
    unbiased = equal(dot(total(noise), gradient), 0, "the noise has mean 0")
    return gram(left, factor * dot(total(h), gradient), unbiased, operator="==")


def averaged_drift() -> Gram:
    """Jensen's inequality over clients and their local steps, and Lemma 6."""
    (d,) = weighted("d")
    return gram(3 * square(total(d)), 3 * _drift_f, below(squares(d), _drift_f, "Lemma 6"))


def descent(curvature: sp.Expr) -> Scalar:
    """The claim, put together; slope = L_1^2 + r^2*L_2^2."""
    return at_most(
        _change,
        -_step / 2 * (_grad2 + _mean2)
        + _step / 2 * (6 * _slope * _gap_y + 3 * L_1**2 * _gap_v)
        + 3 * _step / 2 * _drift_f
        + curvature * _L_Phi * _step**2 / 2 * _sampled2,
        below(_change, -_step * _inner + _L_Phi * _step**2 / 2 * _sampled2, "first display, repaired, and (a)"),
        equal(2 * _inner, _grad2 + _mean2 - _apart2, "(19), second equality"),
        below(_apart2, 6 * _slope * _gap_y + 3 * L_1**2 * _gap_v + 3 * _drift_f, "below (19), and Lemma 6"),
    )


# --- Lemma 8: one client and its local step k, with A = sum_{j<k} a_j <= |a_i|_1 ---

_A = positives("A")
_eta, _c_a, _tau, _alpha = positives("eta c_a tau_bar alpha_max")
_noise2 = nonnegative("noise2")
_path = _c_a * _tau * _alpha
_TOTAL = below(_A, _path, "A <= |a_i|_1 <= c_a*tau_bar*alpha_max")


def noise_and_gradient(factor: sp.Expr) -> Gram:
    """(20), second equality, with a factor."""
    noise, gradient = vectors("noise gradient")
    uncorrelated = equal(square(noise), _noise2, "the noises of two local steps are uncorrelated")
    return gram(square(noise + gradient), factor * (_noise2 + square(gradient)), uncorrelated)


def bounded_drift(factor: sp.Expr) -> Gram:
    """The drift of x or of v at a local step: bounded gradients, and noises with sum_j a_j^2 <= alpha_max*A."""
    (noise,) = vectors("noise")
    (gradients,) = weighted("gradient", _A)
    return gram(
        _eta**2 * square(noise + total(gradients)),
        factor * _eta**2 * (_alpha * _A * _variance + _A**2 * _size),
        below(square(noise), _alpha * _A * 2 * _variance, "uncorrelated noises of the local steps"),
        below(squares(gradients), _A * 2 * _size, "Lemma 5, of every client"),
    )


def drift_of_x(factor: sp.Expr) -> Scalar:
    """`bounded_drift` with |a_i|_1 <= c_a*tau_bar*alpha_max, for all clients and local steps."""
    drift = nonnegative("drift")
    return at_most(
        drift,
        factor * _eta**2 * _tau * _c_a * _alpha**2 * (_variance + _c_a * _tau * _size),
        below(drift, 4 * _eta**2 * (_alpha * _A * _variance + _A**2 * _size), "at a local step"),
        _TOTAL,
    )


def noise_of_steps() -> Scalar:
    """E||sum_j a_j noise_j||^2 <= alpha_max*A times the variance: of one j, and added up."""
    own, noise2 = nonnegative("a_j noise2")
    right = _alpha * own * 2 * _variance
    return at_most(own**2 * noise2, right, below(own, _alpha), below(noise2, 2 * _variance, "one noise"))


_whole, _start2 = positives("|a_i|_1"), nonnegative("start2")


def _of_own_drift(start2: sp.Expr) -> sp.Expr:
    """Right side of `own_drift`, for a squared gradient at the start."""
    return _eta**2 * (
        2 * _alpha * _A * s.sigma_g**2 + 4 * _A * _whole * L_1**2 * (_drift_x + _drift_y) + 4 * _A**2 * start2
    )


def own_drift() -> Gram:
    """The drift of y at a local step of a client: changes u_j of its gradient, and the gradient at the start.

    The drifts of the client are averages over all of its local steps, with the weights a_j/|a_i|_1.
    """
    noise, start = vectors("noise gradient")
    (changes_,) = weighted("u", _A)
    return gram(
        _eta**2 * square(noise + total(changes_ + start)),
        _of_own_drift(square(start)),
        below(square(noise), _alpha * _A * s.sigma_g**2, "uncorrelated noises of the local steps"),
        below(squares(changes_), _whole * L_1**2 * (_drift_x + _drift_y), "grad_y g_i is smooth"),
    )


def own_drift_by_path(four: sp.Expr) -> Scalar:
    """`own_drift` with |a_i|_1 <= c_a*tau_bar*alpha_max."""
    return at_most(
        _of_own_drift(_start2),
        _eta**2
        * (
            2 * _path * _alpha * s.sigma_g**2
            + 4 * _path**2 * L_1**2 * (_drift_x + _drift_y)
            + four * _path**2 * _start2
        ),
        below(_A, _whole),
        below(_whole, _path, "|a_i|_1"),
    )


def drift_of_y(factor: sp.Expr) -> Scalar:
    """The third claim, from that of all clients, Lemma 5 and the first claim."""
    sigma_x2 = nonnegative("sigma_M1_2")
    spread = nonnegative("sum_w_g2")
    eta_x = positives("eta_x")
    return at_most(
        _drift_y,
        2 * _eta**2 * _tau * (_c_a * _alpha**2 * (2 * s.sigma_g**2 + 4 * _c_a * _tau * s.sigma_gh**2) + sigma_x2)
        + factor * _eta**2 * _path**2 * s.beta_gh**2 * L_1**2 * _gap_y,
        below(
            _drift_y,
            _eta**2
            * (
                2 * _path * _alpha * s.sigma_g**2
                + 4 * _path**2 * L_1**2 * (_drift_x + _drift_y)
                + 4 * _path**2 * spread
            ),
            "the clients' drifts, with the weights w_i",
        ),
        below(spread, s.beta_gh**2 * L_1**2 * _gap_y + s.sigma_gh**2, "Lemma 5"),
        below(_drift_x, eta_x**2 * _tau * sigma_x2, "first claim"),
        below(4 * eta_x**2 * _path**2 * L_1**2, 1, "eta_x"),
        below(8 * _eta**2 * _path**2 * L_1**2, 1, "eta_y"),
    )


# --- Lemma 9: vectors of client i have the factor w_i ---

n, P = s.n, s.P
_SAMPLED = {families.m: P, families.q: P * (n - P) / (n * (n - 1))}
_SIZES = (below(P, n), above(n, 2))
_start, _moves, _noise = per_client("w*gradient w*change w*noise")
_noises, _drift_sq, _weighted_size = nonnegative("sum_w2_noise2 drift_sq sum_w_size2")
# The noises of different clients are uncorrelated, and no noise is correlated with what is known at the start; the
# changes along a client's path have to do with its own noise, and not with that of others.
_OTHERS = 1 - 1 / n
_NOISES = (
    equal(deviation(_noise, _noise), _OTHERS * square(total(_noise)), "noises of different clients"),
    equal(deviation(_noise, _start), 0, "noise and the gradient at the start"),
    equal(dot(total(_noise), total(_start)), 0, "noises and the gradients at the start"),
    equal(
        deviation(_noise, _moves), _OTHERS * dot(total(_noise), total(_moves)), "noise and the changes of other clients"
    ),
)


def _second_moment(X: families.PerClient) -> sp.Expr:
    """E||sum_{i in C} (n/P) X_i||^2."""
    return sp.expand((n / P) ** 2 * sampled(X, X).xreplace(_SAMPLED))


def split(factor: sp.Expr) -> Gram:
    """(23), repaired: the noise of the sampled clients, and their mean directions."""
    mean_directions = _start + _moves
    return gram(
        _second_moment(mean_directions + _noise),
        factor * n / P * squares(_noise) + _second_moment(mean_directions) + n / P * squares(_moves),
        *_NOISES,
        where=_SIZES,
    )


def sampled_variance(one: sp.Expr) -> Gram:
    """(24)."""
    (direction,) = per_client("w*direction")
    right = n * (P - one) / (P * (n - 1)) * square(total(direction)) + n * formulas.SAMPLING * squares(direction)
    return gram(_second_moment(direction), right, operator="==", where=_SIZES)


def sampled_noises(factor: sp.Expr) -> Gram:
    """(23), (a): the noise of the sampled clients, of which each is sampled with the probability P/n."""
    right = factor * n / P * squares(_noise)
    return gram(_second_moment(_noise), right, _NOISES[0], operator="==", where=_SIZES)


def inclusion(exponent: sp.Expr) -> Scalar:
    """(23), (b): all clients are sampled with the same probability."""
    likely, value = nonnegative("P(i_in_C) value")
    alike = equal(n * likely, P, "the sum over the clients is E|C| = P")
    return at_most((n / P) ** 2 * likely * value, (n / P) ** exponent * value, alike, operator="==")


def around_mean(factor: sp.Expr) -> Gram:
    """(24), (a): the mean of the sampled direction is sum_i w_i h~_i."""
    (direction,) = per_client("w*direction")
    all_ = total(direction)
    product_ = n / P * sampled_with(direction, all_).xreplace({families.m: P})
    apart = written(_second_moment(direction)) - 2 * written(product_) + square(all_)
    return gram(_second_moment(direction), apart + factor * square(all_), operator="==")


def local_noises(exponent: sp.Expr) -> Gram:
    """(23), (c): a client's local steps, one after the other, with the share a_i^k/|a_i|_1 of the last of them."""
    before, noise = vectors("sum_before noise")
    squares_before, noise2, share = nonnegative("squares_before noise2 share")
    return gram(
        square(before + share * noise),
        squares_before + share**exponent * noise2,
        equal(square(before), squares_before, "the steps before it"),
        equal(dot(before, noise), 0, "the noises of two local steps are uncorrelated"),
        equal(square(noise), noise2, "its square"),
        operator="==",
    )


def one_noise() -> Gram:
    """The noise of a surrogate gradient, or of grad_v R_i, of one sample: ``noise_g`` is that of the matrix times v."""
    of_f, of_g, v = vectors("noise_f noise_g v")
    length2 = nonnegative("r_i2")
    return gram(
        square(of_f - of_g),
        2 * (s.sigma_f**2 + length2 * s.sigma_gg**2),
        below(square(of_f), s.sigma_f**2, "Assumption 3"),
        below(square(of_g), s.sigma_gg**2 * square(v), "Assumption 3, given v"),
        below(square(v), length2, "the size of v"),
    )


def of_clients(factor: sp.Expr) -> Gram:
    """(25), (a), of all clients: w_i <= beta_max/n."""
    return gram(
        squares(_start + _moves),
        factor * squares(_moves) + 2 * s.beta_max / n * _weighted_size,
        below(squares(_start), s.beta_max / n * _weighted_size, "w_i <= beta_max/n"),
    )


def second_moment(noise: sp.Expr) -> Scalar:
    """The first claim, put together: ``mean`` is n(P-1)/(P(n-1)) E||sum_i w_i h~_i||^2, ``away`` (n-P)/(P(n-1))."""
    left, mean_squares, all_squares, mean, away = nonnegative("sampled2 sampled_mean2 sum_w2_h2 mean away")
    return at_most(
        left,
        noise * n / P * _noises + mean + (2 * n * away + n / P) * _drift_sq + 2 * away * s.beta_max * _weighted_size,
        below(left, 2 * n / P * _noises + mean_squares + n / P * _drift_sq, "(23), repaired"),
        below(mean_squares, mean + n * away * all_squares, "(24)"),
        below(all_squares, 2 * _drift_sq + 2 * s.beta_max / n * _weighted_size, "(25)"),
    )


def noise_of_gradient() -> Scalar:
    """(23), (c), of one local step: the noise of a surrogate gradient, or of grad_v R_i, times w_i^2 share^2."""
    square_, noise2, v2 = nonnegative("w2_share2 noise2 v2")
    bound = 2 * (s.sigma_f**2 + v2 * s.sigma_gg**2)
    return at_most(square_ * noise2, 2 * (square_ * s.sigma_f**2 + square_ * v2 * s.sigma_gg**2), below(noise2, bound))


_own, _all, _mean, _away = nonnegative("sampled2 sum_w2_noise2 mean away")
_SPLIT = below(
    _own,
    2 * n / P * _all + _mean + (2 * n * _away + n / P) * _drift_sq + 2 * _away * s.beta_max * _weighted_size,
    "the claim before",
)


def of_x_or_v(noise: sp.Expr) -> Scalar:
    """The first and the third claim: what the noise and the gradients at the start are at most."""
    by_f, by_v, bound = nonnegative("noise_weight noise_weight_r bound_of_mean")
    return at_most(
        _own,
        noise * n / P * (by_f * s.sigma_f**2 + by_v * s.sigma_gg**2)
        + bound
        + (2 * n * _away + n / P) * _drift_sq
        + 4 * _away * s.beta_max * (r_max**2 * L_1**2 + L_f**2),
        _SPLIT,
        below(_all, 2 * (by_f * s.sigma_f**2 + by_v * s.sigma_gg**2), "(23), (c)"),
        below(_mean, bound, "itself for x; (28) for v"),
        below(_weighted_size, 2 * r_max**2 * L_1**2 + 2 * L_f**2, "Lemma 5"),
    )


def of_y(noise: sp.Expr) -> Scalar:
    """The second claim."""
    by_g = nonnegative("noise_weight")
    return at_most(
        _own,
        noise * n / P * by_g * s.sigma_g**2
        + 2 * _away * s.beta_max * s.sigma_gh**2
        + (2 * n * _away + n / P) * _drift_sq
        + 3 * _drift_g
        + (2 * _away * s.beta_max * s.beta_gh**2 * L_1**2 + 3 * L_1**2) * _gap_y,
        _SPLIT,
        below(_all, by_g * s.sigma_g**2, "(23), (c)"),
        below(_mean, 3 * L_1**2 * _gap_y + 3 * _drift_g, "(27)"),
        below(_weighted_size, s.beta_gh**2 * L_1**2 * _gap_y + s.sigma_gh**2, "Lemma 5"),
    )


def own_change() -> Gram:
    """Jensen's inequality over the local steps of a client, and Lemma 6."""
    weight = positives("w_i")
    (d,) = weighted("d")
    return gram(weight**2 * square(total(d)), weight**2 * _drift_f, below(squares(d), _drift_f, "Lemma 6, averaged"))


# --- Lemma 10 ---

_mu_step, _delta_1, _L_yx, _L_y, _bound = positives("rho_gamma_y delta_1 L_yx L_y bound")
_sampled_x, _sampled_y, _mean_x, _gap, _next, _moved, _drifts = nonnegative(
    "sampled_x2 sampled_y2 mean_x2 gap next moved drifts"
)


def sampled_inner(factor: sp.Expr) -> Gram:
    """(34), the equalities: the mean direction, and its value at the server's point, is 0 at the optimum."""
    h, noise, start, at_any = per_client("w*h w*noise w*gradient w*at_star")
    (error,) = vectors("error")
    at_star = at_any - families.mean(at_any)
    left = n / P * sampled_with(h + noise, error).xreplace({families.m: P})
    right = factor * dot(error, total(h) - total(start)) + dot(error, total(start) - total(at_star))
    return gram(left, right, equal(dot(total(noise), error), 0, "the noise has mean 0"), operator="==")


def sampled_inner_of_v(factor: sp.Expr) -> Gram:
    """(34) for v, with the three parts that add up to the mean direction less its value at the optimum."""
    h, noise, start, middle, at_any = per_client("w*h w*noise w*at_start w*at_y_star w*at_star")
    (error,) = vectors("error")
    at_star = at_any - families.mean(at_any)
    left = n / P * sampled_with(h + noise, error).xreplace({families.m: P})
    parts = (h - start, start - middle, middle - at_star)
    right = factor * sp.Add(*(dot(error, total(part)) for part in parts))
    return gram(left, right, equal(dot(total(noise), error), 0, "the noise has mean 0"), operator="==")


def sampled_surely() -> Gram:
    """||sum_{i in C} w~_i h_i||^2 <= beta_max^2 times a bound of every ||h_i||^2: w~_i <= beta_max/P."""
    (chosen,) = per_client("w~*h", P)
    each_ = below(squares(chosen), P * (s.beta_max / P) ** 2 * 2 * _size, "Lemma 5, of every sample; P clients")
    return gram(square(total(chosen)), 2 * s.beta_max**2 * _size, each_)


def remainder(half: sp.Expr) -> Scalar:
    """-2<e, remainder> by a bound on ||x+ - x||^2 that holds surely; ``pair`` is L_yx*||e||*||x+ - x||^2."""
    pair, e2, d2 = nonnegative("pair error2 dx2")
    return at_most(
        pair,
        half * _L_yx * (_bound * e2 + d2),
        below(pair, _L_yx / 2 * e2 * d2 + _L_yx / 2 * d2, "third inequality, second term"),
        below(d2, _bound, "surely"),
    )


def product(one: sp.Expr) -> Gram:
    """(30): e = mean_e + e' and x+ - x = mean_d + d', of means given the past and of deviations, J the Jacobian."""
    mean_e, own_e, J_mean, J_own = vectors("mean_e e' J*mean_d J*d'")
    e = mean_e + own_e
    zero = "a mean and a deviation"
    return gram(
        -2 * dot(e, J_mean + J_own),
        _delta_1 * square(e) + square(J_mean) / _delta_1 + one * (square(own_e) + square(J_own)),
        equal(dot(mean_e, own_e), 0, zero),
        equal(dot(mean_e, J_own), 0, zero),
        equal(dot(own_e, J_mean), 0, zero),
    )


def moved_optimum(one: sp.Expr) -> Scalar:
    """(29) and (30), repaired, with rho_gamma_x = 1 in the squares of x."""
    e2, own_e2, mean_J2, own_J2, mean_d2, own_d2, optimum2 = nonnegative(
        "e2 own_e2 mean_J2 own_J2 mean_d2 own_d2 optimum2"
    )
    cross, rest = reals("cross rest")
    return at_most(
        _next,
        (1 + _delta_1 + _L_yx * _bound / 2) * e2
        + _L_yx / 2 * _sampled_x
        + one * _sampled_y
        + 2 * _L_y**2 * _sampled_x
        + _L_y**2 / _delta_1 * _mean_x,
        below(_next, e2 + optimum2 + cross + rest, "(29) and (30), first equality"),
        below(cross, _delta_1 * e2 + mean_J2 / _delta_1 + own_e2 + own_J2, "the product, repaired"),
        below(rest, _L_yx / 2 * (_bound * e2 + _sampled_x), "the remainder, repaired"),
        below(optimum2, _L_y**2 * _sampled_x, "(36)"),
        below(mean_J2, _L_y**2 * mean_d2, "||J|| <= L_y"),
        below(own_J2, _L_y**2 * own_d2, "||J|| <= L_y"),
        below(mean_d2, _mean_x, "the mean given the past, squared"),
        below(own_d2, _sampled_x, "a variance"),
        below(own_e2, _sampled_y, "a variance"),
    )


def progress(squares_: sp.Expr) -> Scalar:
    """The claim, put together, with rho_gamma_x = 1 in the squares of x; ``error`` is what (35) adds to (1+delta)."""
    error, delta = nonnegative("error"), _delta_1 + _L_yx * _bound / 2
    return at_most(
        _next - _gap,
        (delta - _mu_step * mu - delta * _mu_step * mu) * _gap
        + (squares_ + delta) * _sampled_y
        + (1 + delta) * error
        + (2 * _L_y**2 + _L_yx / 2) * _sampled_x
        + _L_y**2 / _delta_1 * _mean_x,
        below(
            _next,
            (1 + delta) * _moved
            + _L_yx / 2 * _sampled_x
            + _sampled_y
            + 2 * _L_y**2 * _sampled_x
            + _L_y**2 / _delta_1 * _mean_x,
            "(29) and (30), repaired",
        ),
        below(_moved, (1 - _mu_step * mu) * _gap + _sampled_y + error, "(35), repaired"),
    )


def descent_of_v() -> Gram:
    """The display for v, (a), with 1/mu_g."""
    e, u, z, q = vectors("e u z q")
    return gram(
        -dot(e, u) - dot(e, z) - dot(e, q),
        square(u) / mu + square(z) / mu - mu / 2 * square(e),
        above(dot(e, q), mu * square(e), "R is strongly convex in v"),
    )


def step_of_v(factor: sp.Expr) -> Scalar:
    """(35) for v; the squares of u and z of the line before by Lemma 3."""
    inner = reals("inner")
    u2, z2 = nonnegative("u2 z2")
    return at_most(
        _moved,
        (1 - _mu_step * mu) * _gap + _sampled_y + factor * _mu_step * _L_R**2 / mu * (_drifts + _gap_y),
        below(_moved, _gap + _sampled_y - 2 * _mu_step * inner, "(33) for v, the projection being non-expansive"),
        below(-inner, u2 / mu + z2 / mu - mu / 2 * _gap, "(a), with 1/mu_g"),
        below(u2, 2 * _L_R**2 * _drifts, "(b), repaired"),
        below(z2, _L_R**2 * _gap_y, "Lemma 3"),
    )
