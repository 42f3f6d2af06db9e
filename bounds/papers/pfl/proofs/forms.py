"""Claims of this ledger for every n, m and K, in the vectors of a round; instances of the same claims are in `runs`.

Products stand for expectations. In round t, for client i and its local step k:

    s_i = grad_u f_i(u^t, v_i^t), a_ik = grad_u f_i(u_ik, v_ik), mid_ik = grad_u f_i(u^t, v_ik), x_ik = u_ik - u^t,
    w_i = grad_v f_i(u^t, v_i^t), z_ik = grad_v f_i(u_ik, v_ik), low_ik = grad_v f_i(u^t, v_ik), y_ik = v_ik - v_i^t;

xi_ik and zeta_ik are the errors of the stochastic gradients. The sample of round t does not depend on any of them. An
error has mean zero given all that came before it, so that errors of different clients, or of different steps of one
client, are uncorrelated, and so are errors and what was known before the round.
"""

from __future__ import annotations

import sympy as sp

from bounds import symbols as s
from bounds.ledger.families import (
    FEW,
    NOTHING,
    SAMPLE,
    PerClient,
    deviation,
    each,
    independent,
    mean,
    over_steps,
    per_client,
    per_step,
    q,
    sampled,
    sampled_with,
    squares,
    total,
    uncorrelated,
)
from bounds.ledger.proof import at_most, gram, same
from bounds.ledger.step import Gram, Identity, Scalar, above, below, equal, equations
from bounds.ledger.vectors import dot, square, vectors
from bounds.ledger.written import written

n, m, K, L, gamma, eta_u, eta_v = s.n, s.m, s.K, s.L, s.gamma, s.eta_u, s.eta_v
su, sv = s.sigma_u**2, s.sigma_v**2
start_u, start_v = per_client("s w")
a, mid, x, xi = per_step("a mid x xi")
z, low, y, zeta = per_step("z low y zeta")
A, Z, Xi, Zeta = over_steps(a), over_steps(z), over_steps(xi), over_steps(zeta)
full = mean(start_u)
G_u, G_v = square(full), squares(start_v) / n
E = squares(x) + squares(y)
T_1u, T_1v = -gamma / n * dot(full, total(a)), -gamma * m / n**2 * each(start_v, z)
T_2u, T_2v = (gamma / n) ** 2 * square(total(a)), gamma**2 * m / n**2 * squares(Z)
T_3u = deviation(A, A)
# Smoothness along (u^t, v_i^t) -> (u^t, v_ik) -> (u_ik, v_ik), added up over i and k.
SMOOTH_U = (below(squares(a - mid), L**2 * squares(x)), below(squares(mid - start_u), L**2 * squares(y)))
SMOOTH_V = (below(squares(z - low), L**2 * squares(x)), below(squares(low - start_v), L**2 * squares(y)))
# The squared dissimilarity, and the squared errors over all clients and steps.
b2, N_u, N_v = sp.symbols("b2 N_u N_v", nonnegative=True)
DISSIMILAR = below(deviation(start_u, start_u), n * b2, "eq. (2.3)")
_share = gamma**2 * (n - m) / (m * n**2)


# --- Sums and samples of random vectors: Lemma A.2 ---

(X,) = per_client("X")
SAMPLE_SUM = squares(X) / (m * n) + (m - 1) / (m * n * (n - 1)) * (square(total(X)) - squares(X))
SAMPLE_SPLIT = square(mean(X)) + (n - m) / (m * n * (n - 1)) * deviation(X, X)


def sample_mean(factor: sp.Expr) -> Gram:
    """Lemma A.2, with <=."""
    right = square(mean(X)) + factor * (n - m) / (m * n**2) * deviation(X, X)
    return gram(sampled(X, X) / m**2, right, where=(*SAMPLE, FEW))


def sample_products() -> Gram:
    """By the probabilities that one client, and that two clients are drawn."""
    one = m / n
    two = one - q
    right = (one * squares(X) + two * (square(total(X)) - squares(X))) / m**2
    return gram(sampled(X, X) / m**2, right, operator="==", where=SAMPLE)


def sample_probabilities() -> Gram:
    """With P(i, j in S) = m (m - 1)/(n (n - 1)), for n >= 2."""
    return gram(sampled(X, X) / m**2, SAMPLE_SUM, operator="==", where=(*SAMPLE, above(n, 2)))


# --- Smoothness: Lemma A.3 ---


def descent() -> Gram:
    """Eq. (A.1): f_i from (u, v_i) to (u, v_i + dv_i) and to (u + du, v_i + dv_i), where the gradient is after_i."""
    (du,) = vectors("du")
    dv, after = per_client("dv after")
    before, half, end = sp.symbols("f_before f_half f_end", real=True)
    return gram(
        end - before,
        dot(full, du) + each(start_v, dv) / n + L * square(du) + L / n * squares(dv),
        below(end - half, dot(mean(after), du) + L / 2 * square(du), "smooth in u"),
        below(half - before, each(start_v, dv) / n + L / (2 * n) * squares(dv), "smooth in v_i"),
        below(squares(after - start_u), L**2 * squares(dv), "grad_u is smooth in v_i"),
    )


# --- One round ---


def shared_move() -> Identity:
    """Lines of the algorithm: u^{t+1} of u^t and the sum F of the sampled clients' stochastic gradients."""
    u, F = vectors("u F")
    local = m * u - gamma / eta_u * F
    return equations(((1 - eta_u) * u + eta_u / m * local - u, -gamma / m * F))


def personal_move() -> Identity:
    """Lines of the algorithm: v_i^{t+1} of v_i^t, where ``there`` is 1 if client i takes part and 0 if not."""
    v, F = vectors("v F")
    there = sp.Symbol("there", nonnegative=True)
    return equations((there * ((1 - eta_v) * v + eta_v * (v - gamma / eta_v * F) - v), -gamma * there * F))


# What a client's stochastic gradients add up to, with and without control variates c_i and their mean.
(control,) = per_client("c")
_moves = {False: A + Xi, True: A + Xi - K * control + K * mean(control)}
KNOWN_U = equal(dot(full, total(Xi)), 0, "errors are not correlated with what was known before")
KNOWN_V = equal(each(start_v, Zeta), 0, "errors are not correlated with what was known before")


def inner_u(*, scaffold: bool = False) -> Gram:
    """E<grad_u f, du> = T_1u."""
    left = -gamma / m * sampled_with(_moves[scaffold], full)
    return gram(left, T_1u, KNOWN_U, operator="==")


def inner_v() -> Gram:
    """(1/n) sum_i E<grad_v f_i, dv_i> = T_1v: client i takes part with probability m/n."""
    left = -gamma * m / n**2 * each(start_v, Z + Zeta)
    return gram(left, T_1v, KNOWN_V, operator="==")


def one_inner_v() -> Gram:
    """E<w, dv_i> of one client i for a vector w that is known before."""
    w, Z_i, errors = vectors("w Z_i errors")
    known = equal(dot(w, errors), 0, "errors are not correlated with what was known before")
    left, right = -gamma * m / n * dot(w, Z_i + errors), -gamma * m / n * dot(w, Z_i)
    return gram(left, right, known, operator="==")


def squared_move(two: sp.Expr) -> Gram:
    """Eq. (A.3), first inequality; the errors of the sample have the squares (m/n) N_u."""
    right = two * gamma**2 / m**2 * (sampled(A, A) + m / n * N_u)
    left = gamma**2 / m**2 * sampled(A + Xi, A + Xi)
    return gram(left, right, *uncorrelated(xi, N_u), where=SAMPLE)


def squared_mean(two: sp.Expr) -> Gram:
    """Lemma A.2 for the sums over k."""
    left = gamma**2 / m**2 * sampled(A, A)
    return gram(left, T_2u + two * _share * T_3u, where=(*SAMPLE, FEW))


def one_error() -> Scalar:
    """E||1_i xi_ik||^2 = (m/n) E||xi_ik||^2."""
    error = sp.Symbol("e2", nonnegative=True)
    return at_most(m / n * error, su * m / n, below(error, su))


def personal_square(two: sp.Expr, noisy: sp.Expr) -> Gram:
    """Eq. (A.4), added up over the clients."""
    left = gamma**2 * m / n * squares(Z + Zeta)
    right = two * gamma**2 * m / n * squares(Z) + n * noisy * K * gamma**2 * sv * m / n
    hypotheses = (*uncorrelated(zeta, N_v), below(N_v, n * K * sv, "bounded variance"))
    return gram(left, right, *hypotheses)


# --- Lemmas 3.2 to 3.6 ---


def first_u(gradient: sp.Expr, drift: sp.Expr) -> Gram:
    """Lemma 3.2 for T_1u."""
    right = -gradient * K * gamma * G_u + drift * L**2 * gamma / n * E
    return gram(T_1u, right, *SMOOTH_U)


def first_v(gradient: sp.Expr, drift: sp.Expr) -> Gram:
    """Lemma 3.2 for T_1v."""
    right = -gradient * K * gamma * m / n * G_v + drift * L**2 * gamma * m / n**2 * E
    return gram(T_1v, right, *SMOOTH_V)


def second_u(gradient: sp.Expr, drift: sp.Expr) -> Gram:
    """Lemma 3.3 for T_2u."""
    right = gamma**2 * (gradient * K**2 * G_u + drift * L**2 * K / n * E)
    return gram(T_2u, right, *SMOOTH_U)


def second_v(gradient: sp.Expr, drift: sp.Expr) -> Gram:
    """Lemma 3.3 for T_2v."""
    right = gamma**2 * m / n * (gradient * K**2 * G_v + drift * L**2 * K / n * E)
    return gram(T_2v, right, *SMOOTH_V)


def variance(dissimilarity: sp.Expr, drift: sp.Expr) -> Gram:
    """Lemma 3.4."""
    right = dissimilarity * n * K**2 * b2 + drift * L**2 * K * E
    return gram(T_3u, right, *SMOOTH_U, DISSIMILAR)


def local_step() -> Gram:
    """One local step: its error is not correlated with anything before it."""
    here, g, error = vectors("u_ik-u g xi_ik")
    known = "the error is not correlated with what was known before"
    return gram(
        square(here - s.gamma_u * (g + error)),
        square(here - s.gamma_u * g) + su * s.gamma_u**2,
        below(square(error), su, "bounded variance"),
        equal(dot(error, here), 0, known),
        equal(dot(error, g), 0, known),
    )


def no_drift(u_first: str, v_first: str) -> Gram:
    """Points that are compared with u^t and v_i^t, and are these by what the algorithm begins with; of each client."""
    u, v, u_here, v_here = vectors("u v u_first v_first")
    return gram(
        square(u_here - u) + square(v_here - v),
        sp.Integer(0),
        equal(square(u_here - u), 0, u_first),
        equal(square(v_here - v), 0, v_first),
        operator="==",
    )


def gradients() -> Gram:
    """Lemma 3.6, first claim."""
    return gram(squares(start_u), n * G_u + n * b2, DISSIMILAR)


# --- Lemmas 4.1 and 4.3: control variates c_i = d_i + (1/K) sum_k omega_ik with errors omega of earlier rounds ---

(omega,) = per_step("omega")
(d,) = per_client("d")
Omega = over_steps(omega)
N_c = sp.Symbol("N_c", nonnegative=True)
BOUNDED_U, BOUNDED_C = (below(N, n * K * su, "bounded variance") for N in (N_u, N_c))
S_3u = deviation(A - K * d, A - K * d)
# In sums over k: what is known before the round, a_ik - d_i + d, and Y, C and D of eq. (A.8).
KNOWN = A - K * d + K * mean(d)
OWN, ALL = Omega, PerClient(NOTHING, mean(Omega))


def mean_of_variates() -> Identity:
    """c^t is the mean of c_i^t: if it is so before a round, c + (1/n) sum_i (c_i^{t+1} - c_i^t) is so after it."""
    (change,) = per_client("change")
    gap = mean(control + change) - (mean(control) + total(change) / n)
    return same(square(gap), sp.Integer(0))


def own_errors() -> Identity:
    """E||sum_ik 1_i (c_i - d_i)||^2 = E||sum_ik W_ik||^2 with c_i - d_i = (1/K) sum_k omega_ik."""
    apart = 1 / K * Omega
    return same(K**2 * written(sampled(apart, apart)), sampled(Omega, Omega))


def errors_of_sample() -> Gram:
    """E||sum_ik W_ik||^2 = sum_ik E||W_ik||^2."""
    hypotheses = uncorrelated(omega, N_c)
    return gram(sampled(Omega, Omega), m / n * N_c, *hypotheses, operator="==", where=SAMPLE)


def errors_of_mean() -> Gram:
    """E||sum_ik 1_i (c - d)||^2 <= E 1_i E||sum_ik hat W_ik||^2."""
    left, right = sampled(K * (1 / K * ALL), ALL), m / n * square(total(Omega))
    return gram(left, right, where=(below(m, n),))


def errors_of_round() -> Gram:
    """E||sum_ik Y_ik||^2 <= m K sigma_u^2."""
    hypotheses = (*uncorrelated(xi, N_u), BOUNDED_U)
    return gram(sampled(Xi, Xi), m * K * su, *hypotheses, where=SAMPLE)


def errors_bounded() -> Scalar:
    """(m/n) sum_ik E||hat W_ik||^2 <= m K sigma_u^2."""
    return at_most(m / n * N_c, m * K * su, BOUNDED_C)


def controlled_square(two: sp.Expr) -> Gram:
    """Eq. (A.8), first inequality: a move has Y - C + D, the printed line Y + C + D."""
    move, printed = KNOWN + Xi - OWN + ALL, Xi + OWN + ALL
    return gram(
        gamma**2 / m**2 * sampled(move, move),
        two * gamma**2 / m**2 * (sampled(KNOWN, KNOWN) + sampled(printed, printed)),
        *independent(xi, omega),
        where=SAMPLE,
    )


def controlled_mean(two: sp.Expr) -> Gram:
    """The second display after eq. (A.8): Lemma A.2."""
    left = gamma**2 / m**2 * sampled(KNOWN, KNOWN)
    return gram(left, T_2u + two * _share * S_3u, where=(*SAMPLE, FEW))


def controlled(mean_: sp.Expr, sampling: sp.Expr, noisy: sp.Expr) -> Scalar:
    """Eq. (A.8), from its first two inequalities and the display after it."""
    move, first, errors = sp.symbols("du2 P2 errors2", nonnegative=True)
    return at_most(
        move,
        mean_ * s.T_2u + sampling * _share * s.S_3u + noisy * K * gamma**2 * su / m,
        below(move, 2 * first + 2 * gamma**2 / m**2 * errors, "first inequality"),
        below(first, s.T_2u + 2 * _share * s.S_3u, "display after eq. (A.8)"),
        below(2 * gamma**2 / m**2 * errors, 18 * K * gamma**2 * su / m, "second inequality"),
    )


def own_variate() -> Gram:
    """The bound on sum_i E||c_i - d_i||^2: the lines of all clients, added up."""
    hypotheses = (*uncorrelated(omega, N_c), BOUNDED_C)
    return gram(squares(1 / K * Omega), n * su / K, *hypotheses)


def mean_variate() -> Gram:
    """The bound on E||c - d||^2."""
    hypotheses = (*uncorrelated(omega, N_c), BOUNDED_C)
    return gram(square(mean(Omega) / K), su / (n * K), *hypotheses)


# alpha_ik - u^t, beta_ik - v_i^t and the gradients at (alpha, beta) and (u^t, beta), whose mean over k is d_i.
alpha, beta, old, turn = per_step("alpha beta old turn")
C = squares(alpha) + squares(beta)
_mean_old = 1 / K * over_steps(old)
STALE = (below(squares(old - turn), L**2 * squares(alpha)), below(squares(turn - start_u), L**2 * squares(beta)))


def stale_mean(two: sp.Expr) -> Gram:
    """E||grad_u f - d||^2 <= 2 L^2/(n K) C."""
    left = square(full - mean(_mean_old))
    return gram(left, two * L**2 / (n * K) * C, *STALE)


def stale_own(two: sp.Expr) -> Gram:
    """E||grad_u f_i - d_i||^2 <= (2 L^2/K) sum_k C_ik, added up over the clients."""
    gap = start_u - _mean_old
    return gram(squares(gap), two * L**2 / K * C, *STALE)


def stale_variance(stale: sp.Expr, drift: sp.Expr) -> Gram:
    """Lemma 4.2."""
    gap = A - K * _mean_old
    right = stale * L**2 * K * C + drift * L**2 * K * E
    return gram(deviation(gap, gap), right, *SMOOTH_U, *STALE)


# --- Lemma 4.4 ---


def mean_move() -> Gram:
    """E(du | F) = -(gamma/n) sum_ik E(a_ik | F), in products with any vector that is known given F."""
    (known,) = vectors("known")
    errors = equal(dot(known, total(Xi)), 0, "errors are not correlated with what was known before")
    left, right = -gamma / m * sampled_with(_moves[True], known), -gamma / n * dot(known, total(a))
    return gram(left, right, errors, operator="==")


def _conditional(left: sp.Expr, right: sp.Expr, parts: sp.Expr) -> Gram:
    return gram(left, right, equal(parts, 0, "E(. | F) is a projection"))


def mean_square_u() -> Gram:
    """(gamma^2/n^2) E||E(sum_ik a_ik | F)||^2 <= T_2u: the expectation given F is a projection."""
    mean_, rest = vectors("mean rest")
    return _conditional((gamma / n) ** 2 * square(mean_), (gamma / n) ** 2 * square(mean_ + rest), dot(mean_, rest))


def mean_square_v() -> Gram:
    """(1/n) sum_i E||E(dv_i | F)||^2 <= T_2v, where E(dv_i | F) = -gamma (m/n) E(sum_k z_ik | F)."""
    mean_, rest = per_client("mean rest")
    left = gamma**2 * m**2 / n**3 * squares(mean_)
    right = gamma**2 * m / n**2 * squares(mean_ + rest)
    part = equal(each(mean_, rest), 0, "E(. | F) is a projection")
    return gram(left, right, part, where=(below(m, n),))


# --- Sides of lines that hold for all vectors ---

GAP_U, GAP_V = a - start_u, z - start_v
# T_1u split at the gradient of the start.
CHAIN = -K * gamma * G_u - gamma / n * dot(full, total(GAP_U))
THREE = (
    3 * squares(over_steps(GAP_U)) + 3 * n * square(mean(over_steps(GAP_U))) + 3 * K**2 * deviation(start_u, start_u)
)
TWO_SUMS = 3 * squares(over_steps(GAP_U)) + 3 * n * square(mean(over_steps(GAP_U)))
# Lemma 4.2, with d_i the mean over k of the gradients at (alpha_ik, beta_ik).
_stale_sums = A - K * _mean_old
STALE_LEFT = deviation(_stale_sums, _stale_sums)
STALE_HALVES = 2 * squares(_stale_sums) + 2 / n * square(total(_stale_sums))
STALE_SPLIT = 4 * K * (2 * squares(old - start_u) + 2 * squares(GAP_U))


# --- Two displays in one piece, from the assumptions ---


def errors_together() -> Gram:
    """E||Y + C + D||^2 <= 9 m K sigma_u^2: errors of two rounds are uncorrelated."""
    printed = Xi + OWN + ALL
    hypotheses = (*uncorrelated(xi, N_u), *uncorrelated(omega, N_c), *independent(xi, omega), BOUNDED_U, BOUNDED_C)
    return gram(sampled(printed, printed), 9 * m * K * su, *hypotheses, where=SAMPLE)


def growth_of_gradients() -> Gram:
    """Eq. (A.6) for T >= 2: gradients at (u, v), (u, v + dv) and (u + du, v + dv) are before_i, half_i and s_i."""
    before, half, dv = per_client("before half dv")
    (du,) = vectors("du")
    return gram(
        squares(start_u),
        (1 + 1 / (s.T - 1)) * squares(before) + 2 * s.T * L**2 * (n * square(du) + squares(dv)),
        below(squares(start_u - half), L**2 * n * square(du), "smooth in u"),
        below(squares(half - before), L**2 * squares(dv), "grad_u is smooth in v_i"),
        where=(above(s.T, 2),),
    )
