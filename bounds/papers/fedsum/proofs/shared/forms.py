"""Lines of this ledger for every N, every K and every length of a window; `runs` has instances of the same lines.

Products stand for expectations given the participation. In a round p, S_p is the sum over j in A_p and k of the
gradients in y^(p), n_p that of their noise, so that y^(p) = (S_p + n_p)/K and x^{p+1} - x^p = -(eta_g eta_l K/N) y^(p);
with x^(-1) = x^(0) and y^(-1) = 0 a window may begin with round -1. The noise of a stochastic gradient has mean zero
given all that came before it, so that the noises of different clients, or of different steps, are uncorrelated.

A claim about every round, every client or every window is one about sums over them. A sum over nobody, or over a window
of no rounds, is 0 on both sides, so that sizes in denominators may be taken for positive.
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger.families import PerClient, each, mean, over_steps, per_client, per_step, squares, total, uncorrelated
from bounds.ledger.proof import at_most, gram, same
from bounds.ledger.step import Gram, Identity, Scalar, below, equal, equations
from bounds.ledger.vectors import dot, square, vectors
from bounds.papers.fedsum.symbols import Delta_f, K, L, N, T, eta, eta_l, sigma, tau_max
from bounds.statement import Condition

# The clients in A_t, those that are not, the rounds of any window, and those of the window of a round t.
A, away = sp.Symbol("A_t", positive=True), sp.Symbol("N-A_t", nonnegative=True)
w, delay = sp.symbols("w tau_t", positive=True)
# The expected square of one stochastic gradient's noise, of all in a sum, and of all in a sum, by the bound on one.
e2, V = sp.symbols("e2 V", nonnegative=True)
IN_A = below(A, N, "A_t are clients")
VARIANCE = below(e2, sigma**2, "bounded variance")


# --- What the algorithms compute: lines of Algorithms 1 to 3 ---

x, h, y_i = vectors("x h y_i")
(g,) = per_client("g", K)
there = sp.Symbol("there", nonnegative=True)


def control(*, local: bool) -> Identity:
    """Eqs. (5) and (8): h_i^(t+1) is the mean of the gradients of round a_{i,t}, if that was so of h_i^(t).

    ``there`` is 1 if client i takes part in round t and 0 if not; ``local`` says that it moves between its gradients.
    """
    if local:
        end = x - eta_l / N * total(g + y_i)
        new = N / (eta_l * K) * (x - end) - y_i
    else:
        end = x - eta_l * total(g)
        new = 1 / (eta_l * K) * (x - end)
    return equations((there * new + (1 - there) * h, there * mean(g) + (1 - there) * h))


def message() -> Identity:
    """Eq. (6)."""
    (old,) = per_client("old", K)
    end = x - eta_l * total(g)
    return equations((1 / (eta_l * K) * (x - end) - mean(old), mean(g) - mean(old)))


def direction() -> Identity:
    """Eqs. (7), (8): y^(t) = sum_i h_i^(t+1), if that was so of y^(t-1); ``kept`` are those that do not take part."""
    new, old = per_client("new old", sp.Symbol("S_t", positive=True))
    (kept,) = per_client("kept", sp.Symbol("N-S_t", positive=True))
    before = total(old) + total(kept)
    return equations((before + total(new - old), total(new) + total(kept)))


def correction() -> Identity:
    """Eq. (41): y^(t-1) - h_i, where client i is in A_{t-1}, ``there``, or has h_i = 0."""
    (others,) = vectors("others")
    return equations(((there * h + others) - there * h, others))


def averaged() -> Identity:
    """Eq. (11): since its last round the part of client i in y^(p) has been h_i; each y^(p) is this and ``others``."""
    (others,) = per_client("others", w)
    y = others + h
    now = x - eta * K / N * total(y)
    return equations((N / (eta * K * w) * (x - now) - h, mean(others)))


def averaged_moves() -> Identity:
    """Eq. (79), fourth equality: the moves since round a' by y, over their number w = t - a'."""
    (server,) = per_client("y", w)
    moved = total(-eta * K / N * server)
    return equations((-N / (eta * K * w) * moved - h, mean(server) - h))


def telescoping() -> Identity:
    """The moves of rounds a ... t add up to x^{t+1} - x^a, if those of rounds a ... t-1 add up to x^t - x^a."""
    now, following = vectors("x_t x_t+1")
    return equations(((now - x) + (following - now), following - x))


# --- One round ---

S, n = vectors("S n")
y = (S + n) / K


def one_step() -> Identity:
    """x^{t+1} - x^t by y^(t), and y^(t) by stochastic gradients: squares and inner products are the same."""
    following = x - eta * K / N * y
    return equations((following - x, -eta * K / N * y), (K * y, S + n))


# --- Windows of w rounds ---

Ss, ns = per_client("S n", w)
ys = 1 / K * (Ss + ns)
MOVED = total(-eta * K / N * ys)


def moved_by_y() -> Identity:
    """sum_p [x^{p+1} - x^p] = -(eta_g eta_l K/N) sum_p y^p."""
    return equations((MOVED, -eta * K / N * total(ys)))


def moved_by_gradients() -> Identity:
    """K sum_p y^p = sum_p sum_{j in A_p} sum_k g_j."""
    return equations((K * total(ys), total(Ss + ns)))


def window_moved() -> Identity:
    """Eqs. (45), (81) and after (26), (65): x^t - x^a by its moves, and these by stochastic gradients."""
    before, now, following = vectors("x_a x_t x_t+1")
    telescoped = ((now - before) + (following - now), following - before)
    return equations(telescoped, (MOVED, -eta / N * total(Ss + ns)))


def jensen() -> Gram:
    """||sum of w vectors||^2 <= w sum ||.||^2."""
    (X,) = per_client("X", w)
    return gram(square(total(X)), w * squares(X))


# --- Noise ---

(xi,) = per_step("xi", A, K)
UNCORRELATED = uncorrelated(xi, V)
BOUNDED = below(V, A * K * sigma**2, "bounded variance")


def noise_of_gradients(factor: sp.Expr) -> Scalar:
    """``factor`` times a sum over A_t and k of expected squares that are at most sigma^2."""
    return at_most(factor * A * K * e2, factor * A * K * sigma**2, VARIANCE)


def noise() -> Gram:
    """Lemma B.1 from its assumptions."""
    return gram(square(total(xi)), N * K * sigma**2, *UNCORRELATED, BOUNDED, where=(IN_A,))


def noise_of_round(operator: str, factor: sp.Expr, *conditions: Condition) -> Gram:
    """A round's w E||noise||^2 against ``factor`` times that of its single gradients, for every round of a window."""
    return gram(w * square(total(xi)), factor * squares(xi), *UNCORRELATED, operator=operator, where=conditions)


def noise_of_window() -> Gram:
    """E||sum_p noise_p||^2 <= w sum_p sum_j sum_k E||noise||^2, V the double sum."""
    singles = equal(squares(ns), V, "Lemma B.1, its equalities")
    return gram(square(total(ns)), w * V, singles)


def noise_of_window_bounded() -> Scalar:
    """tau_t sum_p sum_j sum_k E||noise||^2 <= N K tau_t^2 sigma^2, over so many pairs of a round and a client."""
    pairs = sp.Symbol("pairs", nonnegative=True)
    count = below(pairs, w * N, "at most N clients in each round")
    return at_most(w * pairs * K * e2, N * K * w**2 * sigma**2, count, VARIANCE)


def steps_apart(count: sp.Expr) -> Gram:
    """E||sum of the noises of ``count`` steps of one client||^2 <= count*sigma^2."""
    (error,) = per_client("xi", count)
    hypotheses = (*uncorrelated(error, V), below(V, count * sigma**2, "bounded variance"))
    return gram(square(total(error)), count * sigma**2, *hypotheses)


# --- Movement: Lemmas C.1, D.1, E.1 ---


def movement(noise: sp.Expr, gradients: sp.Expr) -> Gram:
    """The lemma, over the T rounds of a run."""
    Sr, nr = per_client("S n", T)
    return gram(
        squares(-eta / N * (Sr + nr)),
        noise * eta**2 * K * T * sigma**2 / N + gradients * eta**2 / N**2 * squares(Sr),
        below(squares(nr), T * N * K * sigma**2, "Lemma B.1"),
    )


# --- Staleness of FedSUM-B: Lemma C.4 ---


def stale_split() -> Identity:
    """Eq. (17), equality: F_i at x^t and ``old`` at x^{a_{i,t}}, of clients in A_t and of the others."""
    F, old = per_client("F old", A)
    G, first = per_client("G first", away)
    left = total(F) + total(G) - total(old)
    return equations((left, total(F - old) + total(G - first) + total(first)))


def stale_squares() -> Gram:
    """Eq. (17), first inequality: N differences, and the first gradients of those that are not in A_t."""
    (difference,), (first,) = per_client("d", N), per_client("first", away)
    right = 2 * N * squares(difference) + 2 * away * squares(first)
    return gram(square(total(difference) + total(first)), right)


def unseen_squares() -> Gram:
    """Eqs. (61), (97): ||sum_{i not in A_t} grad f_i(x^0)||^2 <= (N - A_t) sum_i ||grad f_i(x^0)||^2."""
    (first,), (seen,) = per_client("first", away), per_client("seen", A)
    return gram(square(total(first)), away * (squares(first) + squares(seen)))


def unseen_of_all() -> Gram:
    """Eq. (22), first inequality."""
    (first,), (seen,) = per_client("first", away), per_client("seen", A)
    return gram(2 * away * squares(first), 2 * away * (squares(first) + squares(seen)))


# Clients' windows in a round t, of tau_t rounds each: those before a_{i,t} are left out, as zeros.
Si, ni = per_step("S n", N, delay)
moves = -eta / N * over_steps(Si + ni)
Q = sp.Symbol("Q_t", nonnegative=True)
IN_WINDOW = below(squares(Si), N * Q, "the round's window, with Q_t the sum of E||S_p||^2, has that of each client")


def moved_since(noise: sp.Expr, gradients: sp.Expr) -> Gram:
    """Eq. (21), first inequality, in a round t."""
    right = noise * eta**2 * K * tau_max * sigma**2 * delay + gradients * eta**2 / N * delay * Q
    return gram(
        squares(moves),
        right,
        below(squares(ni), N * delay * N * K * sigma**2, "Lemma B.1"),
        IN_WINDOW,
        where=(below(delay, tau_max),),
    )


def apart_in_windows() -> Gram:
    """Sum_i E||sum_p S_p||^2 <= N tau_t sum_{p=t-tau_t}^{t-1} E||S_p||^2 in a round t."""
    right = N * delay * Q
    return gram(squares(over_steps(Si)), right, IN_WINDOW)


# --- The noise's first order: Lemmas C.5, D.5, E.5 ---


def unrelated() -> Identity:
    """Eqs. (24), (63), repaired: given what came before, a point is known, and the noise has mean 0 over its outcomes.

    The outcomes are a family whose weights are their probabilities.
    """
    (then,), (outcome,) = vectors("grad_then"), per_client("outcome", sp.Integer(1))
    noise = outcome - mean(outcome)
    return same(dot(then, total(noise)), sp.Integer(0))


def from_the_oldest() -> Gram:
    """Eqs. (25), (64): grad f(x^{t-tau_t}) is older than the noise of every client's last round; client by client."""
    now, then, before, noise = vectors("grad_t grad_then noise_before noise")
    known = "noise is not correlated with what was known before"
    return gram(
        dot(now, before + noise),
        dot(now - then, before + noise),
        equal(dot(then, before), 0, "the clients before it"),
        equal(dot(then, noise), 0, known),
        operator="==",
    )


def smooth_mean() -> Gram:
    """The mean f is smooth as the mean of N smooth functions; the differences of the gradients of f_i are d_i."""
    (d,), (apart,) = per_client("d", N), vectors("x_t-x_then")
    smooth = below(squares(d), N * L**2 * square(apart), "smoothness of each f_i")
    return gram(square(mean(d)), L**2 * square(apart), smooth)


# --- Descent: Lemmas C.6, D.6, E.6 ---


def summed_descent() -> Gram:
    """Eqs. (31), (70), (102) with all sums to T - 1: the descent lemma of T rounds, added up."""
    grads, Sr, nr = per_client("grad_f S n", T)
    move = -eta / N * (Sr + nr)
    start, end, least = sp.symbols("f_0 f_T f_inf", real=True)
    share = eta / (2 * N**2 * K)
    right = Delta_f - eta / N * each(grads, nr) - eta * K / 2 * squares(grads) - share * squares(Sr)
    right += share * squares(K * N * grads - Sr) + L / 2 * squares(move)
    return gram(
        sp.Integer(0),
        right,
        below(end - start, each(grads, move) + L / 2 * squares(move), "the descent lemma, added up"),
        equal(Delta_f, start - least, "Delta_f"),
        below(least, end, "f is bounded below"),
    )


# --- Local steps: Lemmas D.4 and E.4 ---


def _smooth(difference: PerClient, moved: PerClient) -> Condition:
    return below(squares(difference), L**2 * squares(moved), "smoothness")


def moved_targets() -> Gram:
    """Eqs. (45), (81), inequality."""
    d, moved = per_client("d moved", N)
    right = N * L**2 * squares(moved)
    return gram(square(total(d)), right, _smooth(d, moved))


def far(factor: sp.Expr) -> Gram:
    """Eqs. (46), (82), first inequality, over K^2 and in a round t; V is sum_i sum_p A_p K sigma^2."""
    (d,) = per_client("d", N)
    right = factor * eta**2 / N * L**2 * (delay * V + squares(over_steps(Si)))
    hypotheses = (_smooth(d, moves), below(squares(ni), V, "Lemma B.1"))
    return gram(3 * square(total(d)), right, *hypotheses)


def local_split() -> Identity:
    """Eqs. (47), (83), equality."""
    (grad,), (walked,) = per_client("grad", A), per_step("walked", A, K)
    return equations((K * total(grad) - total(walked), total(-1 * walked + grad)))


def near() -> Gram:
    """Eqs. (47), (83), inequality."""
    d, moved = per_step("d moved", A, K)
    smooth = below(squares(d), L**2 * squares(moved), "smoothness")
    right = N * K * L**2 * squares(moved)
    return gram(square(total(d)), right, smooth, where=(IN_A,))


k = sp.Symbol("k", positive=True)
(taken,) = per_client("g", k)


def walked() -> Identity:
    """Eqs. (48), (84), equalities: after k steps of a client."""
    here = x + total(-eta_l / N * (taken + y_i))
    return equations((here - x, -eta_l / N * total(taken + y_i)))


def two_parts(factor: sp.Expr) -> Gram:
    """Eqs. (48), (84), inequality: y_i is the server's direction less h_i."""
    (server,) = vectors("server")
    left = square(total(taken + (server - h)))
    right = factor * (square(total(taken - h)) + k**2 * square(server))
    return gram(left, right)


def drifted(count: sp.Expr) -> Gram:
    """Eqs. (51), (55), (87), (91): the gradients of ``count`` steps against the drift of those steps."""
    d, moved = per_client("d moved", count)
    right = count * L**2 * squares(moved)
    return gram(square(total(d)), right, _smooth(d, moved))


def between_visits() -> Gram:
    """Eqs. (52), (88), the inequality after the equality; V is K sigma^2 sum_p A_p of the w = a - a' rounds."""
    right = 2 * eta**2 / N**2 * (square(total(Ss)) + w * V)
    hypotheses = (below(squares(ns), V, "Lemma B.1"),)
    return gram(square(MOVED), right, *hypotheses)


def between_visits_apart() -> Gram:
    """Eqs. (52), (88), last inequality, over 2 (eta_g eta_l/N)^2."""
    right = w * squares(Ss) + w**2 * N * K * sigma**2
    clients = below(V, w * N * K * sigma**2, "at most N clients in each round")
    return gram(square(total(Ss)) + w * V, right, clients)


def squared_steps() -> Gram:
    """Eqs. (57), (93): sum_{k<K} k^2 = (K - 1) K (2K - 1)/6."""
    (server,) = vectors("server")
    left = (K - 1) * K * (2 * K - 1) / 6 * square(server)
    return gram(left, K**3 * square(server))


def old_direction(factor: sp.Expr) -> Gram:
    """Eq. (58), first inequality."""
    right = factor * (square(S) + N * K * sigma**2)
    hypotheses = (below(square(n), N * K * sigma**2, "Lemma B.1"),)
    return gram(K**2 * square(y), right, *hypotheses)


def old_directions(factor: sp.Expr) -> Gram:
    """Eq. (94), first inequality."""
    right = factor * (squares(Ss) / w + N * K * sigma**2)
    hypotheses = (below(squares(ns), w * N * K * sigma**2, "Lemma B.1"),)
    return gram(K**2 / w**2 * square(total(ys)), right, *hypotheses)
