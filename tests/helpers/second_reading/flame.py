"""Independent second reading of the FLAME paper, kept as a test oracle.

The paper is "Personalized Federated Learning via ADMM with Moreau Envelope".  Every formula below was transcribed
from the text of the paper alone, without sight of the package's own transcription, so that the two can be compared
at random points.  The statements are written down as printed, also where the printed form is a slip; a second entry
whose key ends in ``-repaired`` holds what the proof supports, and its docstring says why.

Symbols.  ``alpha`` is the weight of a client: a number (all clients alike, or one client) or a sequence with one
entry per client.  ``lambda_`` is the Moreau parameter, ``rho`` the penalty, ``L`` the Lipschitz constant of every
gradient (Assumption 1), ``m`` the number of clients, ``s`` the number selected per round, ``T`` the number of rounds,
``mu`` the strong convexity of L_i in theta_i, ``eps_max`` the largest epsilon_i^t of (13), ``gamma_bar`` the number
of (18) and ``gap`` the difference of Lagrangian values that the theorem multiplies.  A name ending in ``_sq`` is a
squared Euclidean norm.  For statements on one client: ``dtheta_sq`` is |theta_i^{t+1} - theta_i^t|^2, ``dw_sq`` is
|w_i^{t+1} - w_i^t|^2 and ``eps`` is epsilon_i^t; in sums over clients they may be sequences.

The squared residual of (13) contains the factor alpha_i^2: |alpha_i (grad f_i + lambda (theta - w_i))|^2 <= eps.

The letters used in the docstrings: A_i = lambda alpha_i, x_i = A_i / rho, kappa = L / lambda, and
q_i = (1/rho^2 - 1) A_i^2 - (L alpha_i + rho)/2, the parameter of the Young split in (38).  Condition A is the one
printed in Lemma 1.

Where all conditions hold.  Condition A says 2 x^2 (1 + rho) < rho (1 + x); it implies x < 1, so the second printed
condition rho >= lambda alpha_i of Theorem 2 is redundant.  Condition A together with q > 0, which is used but never
printed, implies 2 x (1 + rho) < 1 - kappa (so rho > 2 lambda alpha), rho < 0.281 and
alpha (lambda (1 - rho) - L) > rho^2 (so lambda > L).  What is left is a sliver around rho^3 = 2 (lambda alpha)^2, where
the weights of two clients differ by less than six per cent; for lambda = 5 and alpha = 1/50 it is
0.26363 < rho < 0.26494, with L below 0.21.  The experiments of the paper (rho = 0.01, lambda = 5, alpha_i = 1/m with
m = 50 or 100) violate A and rho >= lambda alpha_i.  The keys ending in ``-wide-repaired`` decouple the two Young
parameters and hold for every large rho as soon as lambda > L.

Every function takes keyword arguments and ignores those it does not need.  A condition is a pair (left, right), read
left <= right; all pairs are strict inequalities except ``s <= m``, ``gamma_bar <= 1``, ``rho >= lambda alpha_i`` and
the pair that bounds mu.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

Values = float | Sequence[float]
Pairs = list[tuple[float, float]]


# --- Shared pieces of the statements -------------------------------------------------------------------------------


def _rows(*values: Values) -> list[tuple[float, ...]]:
    """One tuple per client; numbers stand for every client."""
    size = max((len(value) for value in values if isinstance(value, Sequence)), default=1)
    columns = [value if isinstance(value, Sequence) else [value] * size for value in values]
    return list(zip(*columns, strict=True))


def _each(alpha: Values) -> list[float]:
    """The weights as a list."""
    return [row[0] for row in _rows(alpha)]


def _descent(alpha: float, lambda_: float, rho: float) -> float:
    """(lambda alpha + rho)/2 - lambda^2 alpha^2 (1 + rho)/rho^2: positive under condition A, c_1 is its minimum."""
    return (lambda_ * alpha + rho) / 2 - lambda_**2 * alpha**2 * (1 + rho) / rho**2


def _young(alpha: float, lambda_: float, rho: float, L: float) -> float:
    """The Young parameter of (38), q = (1/rho^2 - 1) lambda^2 alpha^2 - (L alpha + rho)/2.

    (1 - rho) times ``_descent`` plus q is (alpha (lambda (1 - rho) - L) - rho^2)/2, whence the implied conditions.
    """
    return (1 / rho**2 - 1) * lambda_**2 * alpha**2 - (L * alpha + rho) / 2


# --- The constants of Theorem 2 ------------------------------------------------------------------------------------


def _c0(*, alpha: Values, lambda_: float, rho: float, L: float, **_: float) -> float:
    """c_0, below (20) and in (47): the largest alpha_i^2 / q_i.

    Needs q_i > 0 for every i, which is not printed; with a negative q_i the client drops out of the maximum unseen.
    """
    return max(a**2 / _young(a, lambda_, rho, L) for a in _each(alpha))


def _c0_repaired(*, alpha: Values, lambda_: float, rho: float, L: float, **_: float) -> float:
    """The largest 1 / (4 q_i).

    (13) bounds the squared residual with alpha_i inside, so the Young split <G, D> <= q |D|^2 + |G|^2/(4 q) leaves
    eps/(4 q).  The printed alpha_i^2/q is too small for alpha_i < 1/2.  Had (13) no alpha_i inside, alpha_i^2/(4 q)
    would be enough and the printed c_0 would hold with a factor four to spare.
    """
    return max(1 / (4 * _young(a, lambda_, rho, L)) for a in _each(alpha))


def _c1(*, alpha: Values, lambda_: float, rho: float, **_: float) -> float:
    """c_1, below (20) and above (48): the smallest descent coefficient of Lemma 1; positive by condition A."""
    return min(_descent(a, lambda_, rho) for a in _each(alpha))


def _c2(*, alpha: Values, lambda_: float, rho: float, L: float, **_: float) -> float:
    """c_2, below (20) and (49): the constant of (45).

    It is the sum where the larger of the two coefficients in (45) would do.  Its term 2 alpha^2 (L^2 + 2 lambda^2)
    comes from the slip in (42), but the slack of the sum covers that as long as alpha_max L <= sqrt(1 + rho^2), which
    condition A and L <= lambda imply.
    """
    a = max(_each(alpha))
    return 4 * lambda_**2 * a**2 * (1 + 1 / rho**2) + 2 * a**2 * (L**2 + 2 * lambda_**2) + 2 * rho**2 + 2


def _c2_repaired(*, alpha: Values, lambda_: float, rho: float, L: float, **_: float) -> float:
    """c_2 with the coefficient 4 alpha^2 (L^2 + lambda^2) that the two Young splits of (42) give."""
    a = max(_each(alpha))
    return 4 * lambda_**2 * a**2 * (1 + 1 / rho**2) + 4 * a**2 * (L**2 + lambda_**2) + 2 * rho**2 + 2


def _c3(**p: Any) -> float:
    """c_3 = 2 + c_2 c_0 / c_1, below (20) and (49): 2 from (42), the rest from (48)."""
    return 2 + _c2(**p) * _c0(**p) / _c1(**p)


def _c3_repaired(**p: Any) -> float:
    """c_3 with the repaired c_0 and c_2."""
    return 2 + _c2_repaired(**p) * _c0_repaired(**p) / _c1(**p)


def _c4(*, m: float, s: float, gamma_bar: float, **p: Any) -> float:
    """c_4 = 2 + m c_0 c_2 / (s c_1 gamma_bar), below (20) and (56).

    The factor m/s is not needed: (54) bounds a sum of s terms by m c_0 eps_max where s c_0 eps_max holds.
    """
    return 2 + m * _c0(**p) * _c2(**p) / (s * _c1(**p) * gamma_bar)


def _c4_repaired(*, gamma_bar: float, **p: Any) -> float:
    """c_4 with the repaired c_0 and c_2 and s instead of m in (54): 2 + c_0 c_2 / (c_1 gamma_bar)."""
    return 2 + _c0_repaired(**p) * _c2_repaired(**p) / (_c1(**p) * gamma_bar)


def _c0_wide(*, delta: Values, **_: Any) -> float:
    """The largest 1 / (4 delta_i), with a free Young parameter delta_i > 0 (a number or a sequence) in (38)."""
    return max(1 / (4 * d) for d in _each(delta))


def _c1_wide(*, alpha: Values, lambda_: float, rho: float, L: float, delta: Values, young: float, **_: Any) -> float:
    """The smallest descent coefficient with free Young parameters.

    ``young`` is the k of (23) in (36), ``delta`` the q of (38).  The coefficient of dtheta_sq becomes
    alpha (lambda - L)/2 - delta - A^2 (1 + k)/rho, that of dw_sq (A + rho)/2 - A^2 (1 + 1/k)/rho.  The choice of the
    paper is k = rho and delta = q, for which both are equal to c_1.
    """
    return min(
        min(
            a * (lambda_ - L) / 2 - d - lambda_**2 * a**2 * (1 + young) / rho,
            (lambda_ * a + rho) / 2 - lambda_**2 * a**2 * (1 + 1 / young) / rho,
        )
        for a, d in _rows(alpha, delta)
    )


def _c3_wide(**p: Any) -> float:
    """c_3 with free Young parameters."""
    return 2 + _c2_repaired(**p) * _c0_wide(**p) / _c1_wide(**p)


def _c4_wide(*, gamma_bar: float, **p: Any) -> float:
    """c_4 with free Young parameters."""
    return 2 + _c0_wide(**p) * _c2_repaired(**p) / (_c1_wide(**p) * gamma_bar)


# --- Right sides: Section 3.4, Proposition 1 -----------------------------------------------------------------------


def _proposition_1_smoothness(*, lambda_: float, **_: float) -> float:
    """Proposition 1: F of (2) is L_F-smooth with L_F = lambda.

    Left side: the Lipschitz constant of grad F.  Printed for f proper, lower semicontinuous and weakly convex, or
    with an L-Lipschitz gradient; the condition lambda > 2 L is printed for the second case only.  Cited, not proved,
    and used nowhere in the proofs: FLAME works on the relaxed problem (6).

    Doubts: the weakly convex case needs a condition too.  For f = -L theta^2/2 and lambda < L, F is nowhere finite.
    The norm in (3) lacks its square, and F tends to f as lambda grows, not as it shrinks.
    """
    return lambda_


def _proposition_1_gradient(*, lambda_: float, w: float, theta_hat: float, **_: float) -> float:
    """(4): one coordinate of grad F(w); ``theta_hat`` is the proximal point (3) of ``w``.

    Needs a unique proximal point: lambda greater than the modulus of weak convexity.
    """
    return lambda_ * (w - theta_hat)


def _proposition_1_smoothness_repaired(*, lambda_: float, L: float, **_: float) -> float:
    """L_F = max(lambda, lambda L/(lambda - L)) for an L-weakly convex f and lambda > L.

    u -> u - prox(u) has Lipschitz constant max(1, kappa/(1 - kappa)) because 1 + df/lambda is (1 - kappa)-strongly
    monotone.  The maximum is lambda exactly for lambda >= 2 L, the printed condition; f = -L theta^2/2 attains it
    below.
    """
    return max(lambda_, lambda_ * L / (lambda_ - L))


def _proposition_1_smoothness_smooth(*, lambda_: float, L: float, **_: float) -> float:
    """L_F = lambda L/(lambda - L) for an f with L-Lipschitz gradient and lambda > L, attained by f = -L theta^2/2.

    grad F(u) = grad f(prox u) and prox has Lipschitz constant lambda/(lambda - L).  At most lambda iff lambda >= 2 L.
    """
    return lambda_ * L / (lambda_ - L)


# --- Right sides: Appendix A, Propositions 2 and 3 -----------------------------------------------------------------


def _proposition_2(*, L: float, distance_sq: float, **_: float) -> float:
    """(21).  Left side: f(theta_1) - f(theta_2) - <grad f(theta_i), theta_1 - theta_2>, for i = 1 and for i = 2.

    Assumption 1 only.  ``distance_sq`` is |theta_1 - theta_2|^2.  Used in (38) with i = 1, where it is the lower
    quadratic bound at theta_1.
    """
    return L / 2 * distance_sq


def _proposition_3_inner(*, k: float, a_sq: float, b_sq: float, **_: float) -> float:
    """(22).  Left side: 2 <a, b>; ``a_sq`` and ``b_sq`` are |a|^2 and |b|^2, k > 0.  Used in (38)."""
    return k * a_sq + 1 / k * b_sq


def _proposition_3_difference(*, k: float, a_sq: float, b_sq: float, **_: float) -> float:
    """(23).  Left side: |a - b|^2; k > 0.  Used with k = rho in (36), with k = 1 in (31) and (42) to (44)."""
    return (1 + k) * a_sq + (1 + 1 / k) * b_sq


def _proposition_3_sum(*, squares: Sequence[float], **_: float) -> float:
    """(24).  Left side: |sum of theta_i|^2; ``squares`` are the m numbers |theta_i|^2.  Not used in the proofs."""
    return len(squares) * sum(squares)


# --- Right sides: Section 4.3, Theorem 1 ---------------------------------------------------------------------------


def _theorem_1_lower(*, alpha: float, lambda_: float, L: float, grad_sq: float, **_: float) -> float:
    """(14), left inequality, and (33): a lower bound of dtheta_sq.

    ``grad_sq`` is |grad_theta_i L_i(theta_i^t, w_i^t, pi_i^t, w^t)|^2, with its factor alpha_i^2 inside.  Follows
    from (31) by dropping the gradient at theta_i^{t+1}; printed as holding approximately.

    Uses Assumption 1, exact solution of (9) (eps = 0), and that client i updates: an unselected client has
    dtheta_sq = 0.  False with eps > 0: f = theta^2/2, L = lambda = alpha = 1, w_i = 0, theta^t = 1 and
    theta^{t+1} = 1/10 have eps = 1/25, dtheta_sq = 81/100 and right side 1.  Motivates the biased selection; enters
    no other proof.  The selection uses g_i without the factor alpha_i, so E g_i is the gradient over alpha_i, not
    the gradient as printed: for unequal weights the order of the clients changes.
    """
    return grad_sq / (2 * alpha**2 * (L**2 + lambda_**2))


def _theorem_1_upper(*, mu: float, grad_sq: float, **_: float) -> float:
    """(14), right inequality, and (33): an upper bound of dtheta_sq.

    Follows from (32), mu-strong monotonicity of grad_theta_i L_i, by dropping the gradient at theta_i^{t+1}.  mu
    contains alpha_i: it is alpha_i lambda for convex f_i and alpha_i (lambda - L) otherwise, with lambda > L.  False
    with eps > 0: f = 0, lambda = alpha = mu = 1, w_i = 0, theta^t = 1, theta^{t+1} = -1/10 have eps = 1/100,
    dtheta_sq = 121/100 and right side 1.
    """
    return grad_sq / mu**2


def _theorem_1_lower_repaired(
    *, alpha: float, lambda_: float, L: float, grad_sq: float, eps: float, **_: float
) -> float:
    """The left inequality of (14) with the residual kept: ``max(|g| - sqrt(eps), 0)^2 / (2 alpha^2 (L^2 + lambda^2))``.

    For a client that updates; (L + lambda)^2 in place of 2 (L^2 + lambda^2) is sharper and also true.
    """
    return max(math.sqrt(grad_sq) - math.sqrt(eps), 0) ** 2 / (2 * alpha**2 * (L**2 + lambda_**2))


def _theorem_1_upper_repaired(*, mu: float, grad_sq: float, eps: float, **_: float) -> float:
    """The right inequality of (14) with the residual kept."""
    return (math.sqrt(grad_sq) + math.sqrt(eps)) ** 2 / mu**2


# --- Right sides: Lemmas 1 to 3 ------------------------------------------------------------------------------------


def _lemma_1(
    *, alpha: Values, lambda_: float, rho: float, L: float, dtheta_sq: Values, dw_sq: Values, eps: Values, **_: float
) -> float:
    """(16).  Left side: L^{t+1} - L^t of the augmented Lagrangian (8) at (Theta, W, Pi, w), surely, not in the mean.

    ``alpha``, ``dtheta_sq``, ``dw_sq`` and ``eps`` run over the clients in S^t.  Follows from (34) to (39).

    Uses Assumption 1, (10) to (13) for i in S^t, (12) for w^t and w^{t+1}, Lemma 2 at t and t + 1 (hence the
    initialisation (28)), condition A, and q_i > 0, which is not printed.  Used in (46) and (53).

    Slips.  (i) Without q_i > 0 it is false even for exact solutions: m = s = 1, alpha = lambda = 1, rho = 2, f = 0,
    w_1^0 = 0, theta^0 = 1 satisfy A, and the Lagrangian falls by 1/4 where (16) asks for 3/4.  (ii) alpha_i^2/q_i
    should be 1/(4 q_i); the second last line of (39) prints alpha_i/q_i.  With q > 0 (16) is false for m = s = 4,
    alpha = 1/4, rho = 81/500, lambda = 243/1250, L = 0, two pairs of opposite clients with linear f_i,
    theta^0 = 0, theta^1 = 1 and eps = (2 q)^2, where the repaired form holds with equality.
    """
    return sum(
        -_descent(a, lambda_, rho) * (w + t) + a**2 / _young(a, lambda_, rho, L) * e
        for a, t, w, e in _rows(alpha, dtheta_sq, dw_sq, eps)
    )


def _lemma_1_repaired(
    *, alpha: Values, lambda_: float, rho: float, L: float, dtheta_sq: Values, dw_sq: Values, eps: Values, **_: float
) -> float:
    """(16) with eps/(4 q_i), under condition A and q_i > 0.  The sum may keep -rho m/2 |w^{t+1} - w^t|^2 as well."""
    return sum(
        -_descent(a, lambda_, rho) * (w + t) + e / (4 * _young(a, lambda_, rho, L))
        for a, t, w, e in _rows(alpha, dtheta_sq, dw_sq, eps)
    )


def _lemma_1_wide(
    *,
    alpha: Values,
    lambda_: float,
    rho: float,
    L: float,
    delta: Values,
    young: float,
    dtheta_sq: Values,
    dw_sq: Values,
    eps: Values,
    **_: float,
) -> float:
    """(16) with free Young parameters: ``young`` = k > 0 in (36) and ``delta`` > 0 in (38).

    The proof is that of the paper.  No condition is needed for the inequality; the conditions make it a descent.
    """
    return sum(
        -(a * (lambda_ - L) / 2 - d - lambda_**2 * a**2 * (1 + young) / rho) * t
        - ((lambda_ * a + rho) / 2 - lambda_**2 * a**2 * (1 + 1 / young) / rho) * w
        + e / (4 * d)
        for a, d, t, w, e in _rows(alpha, delta, dtheta_sq, dw_sq, eps)
    )


def _lemma_2(*, alpha: float, lambda_: float, theta: float, w: float, **_: float) -> float:
    """(25), (27), (29): one coordinate of pi_i^t; an identity.

    ``theta`` and ``w`` are that coordinate of theta_i^t and w_i^t.  Follows from (10) and (11) for a client selected
    in round t - 1, by induction for the others, and needs the initialisation (28) at t = 0, which Algorithm 1 does
    not ask for.  Without (28) it fails until the client has been selected for the first time.  Used in Lemma 3, (36),
    (43).
    """
    return lambda_ * alpha * (theta - w)


def _lemma_3(*, F_star: float, **_: float) -> float:
    """Lemma 3 and (30).  A lower bound, of L^{t+1}; with (28) of L^0 too.

    ``F_star`` is the minimum of (6).  Uses Lemma 2, rho >= lambda alpha_i, and F_star > -infinity, which is not
    among the assumptions.  Used in (51), with L^T.  Without rho >= lambda alpha_i it is false: m = 1,
    lambda = alpha = 1, rho = 1/2, f = 0, theta = 1, w_1 = 0 give the value -1/2 and F_star = 0.
    """
    return F_star


def _lemma_3_identity(
    *, alpha: Values, lambda_: float, rho: float, objective: float, consensus_sq: Values, **_: float
) -> float:
    """The last equality of (30): L^t itself, by Lemma 2.

    ``objective`` is the objective of (6) at (Theta^t, w^t), ``consensus_sq`` holds |w_i^t - w^t|^2.
    """
    return objective + sum((rho - lambda_ * a) / 2 * c for a, c in _rows(alpha, consensus_sq))


# --- Right sides: Theorem 2 ----------------------------------------------------------------------------------------


def _theorem_2_unbiased(*, s: float, T: float, gap: float, eps_max: float, **p: Any) -> float:
    """(19) and (50); with ``gap`` = E[L^0 - F_star] also (51).

    Left side: 1/(m T) times the sum over t = 0..T-1 of |grad L(P^t)|^2, the squares of the gradients with respect to
    w, every theta_i, w_i and pi_i, printed without expectation.  ``gap`` is printed as E[L^0 - L^{t+1}]; the
    telescoping of (49) gives E[L^0 - L^T].

    Uses Lemmas 1 to 3, hence (28), condition A, rho >= lambda alpha_i (for (51) only), F_star > -infinity, q_i > 0
    (not printed), w^0 = mean of z_i^0 as in Algorithm 1, and S^t uniform among the sets of s clients, independent of
    what the clients compute.  (42) to (45) hold for an updating client only, so (45) and (47) need the updates that
    every client would make if it were selected, with residual at most eps_max, and (19) is about the mean.  On a
    single path it is false: if the client selected is stationary and another is not, nothing moves and gap = 0.

    Slips: E missing on the left, L^{t+1} for L^T, the square missing at 2 |pi^{t+1} - pi^t| in (43), the sign of pi
    and the square in (41), the factor 2 for 4 in (42), c_0.  False without q_i > 0, even for eps = 0 and
    lambda > 2 L: m = s = T = 1, alpha = lambda = 1, rho = 3/2, f = -theta^2/5, theta^0 = 1, w_1^0 = 0 have
    L^0 = -1/30, L^1 = 0 and a positive left side.  With q_i > 0 false through c_0: the example at Lemma 1, T = 1.
    """
    return _c2(**p) / (s * T * _c1(**p)) * gap + _c3(**p) * eps_max


def _theorem_2_biased(*, m: float, s: float, T: float, gamma_bar: float, gap: float, eps_max: float, **p: Any) -> float:
    """(20) and (57).

    Left side: 1/(m T) times the sum over t = 0..T-1 and i = 1..m of |grad_theta_i L(P^t)|^2, without expectation.
    (56) prints |grad L(P^t)|^2 for it, but only the theta part was bounded.  ``gap`` as in (19).

    Uses the same as (19), with S^t given P^t independent of the updates, and gamma_bar > 0.  The first inequality of
    (54) pulls gamma through a sum with unequal coefficients: false for unequal alpha_i (coefficients -1 and -2,
    squares 2 and 1, client 1 selected: -2 is not at most -8/3); (55) needs c_1 only and survives.

    gamma_bar is at most 1 for every strategy, since equal |theta_i' - theta_i| give the ratio 1 in (17), so the
    bound is never better than with unbiased selection.  As defined in (18), with theta' free, gamma_bar is m/s times
    the smallest probability of being selected: it is 0 for the strategy of Algorithm 1 with more candidates than
    selected clients, where the client with the smallest gradient is never taken, and the bound is void.
    """
    c4 = _c4(m=m, s=s, gamma_bar=gamma_bar, **p)
    return _c2(**p) / (s * T * _c1(**p) * gamma_bar) * gap + c4 * eps_max


def _theorem_2_unbiased_repaired(*, s: float, T: float, gap: float, eps_max: float, **p: Any) -> float:
    """(19) in the mean, with ``gap`` = E[L^0 - L^T] or E[L^0 - F_star], under q_i > 0, with the repaired c_0, c_2."""
    return _c2_repaired(**p) / (s * T * _c1(**p)) * gap + _c3_repaired(**p) * eps_max


def _theorem_2_biased_repaired(*, s: float, T: float, gamma_bar: float, gap: float, eps_max: float, **p: Any) -> float:
    """(20) in the mean, under q_i > 0 and gamma_bar > 0, with the repaired c_0, c_2 and c_4.

    gamma_bar may be any lower bound of E[sum over S of dtheta_sq]/s over the mean of dtheta_sq, for the updates
    that every client would make.
    """
    c4 = _c4_repaired(gamma_bar=gamma_bar, **p)
    return _c2_repaired(**p) / (s * T * _c1(**p) * gamma_bar) * gap + c4 * eps_max


def _theorem_2_unbiased_wide(*, s: float, T: float, gap: float, eps_max: float, **p: Any) -> float:
    """(19) in the mean, from Lemma 1 with free Young parameters."""
    return _c2_repaired(**p) / (s * T * _c1_wide(**p)) * gap + _c3_wide(**p) * eps_max


def _theorem_2_biased_wide(*, s: float, T: float, gamma_bar: float, gap: float, eps_max: float, **p: Any) -> float:
    """(20) in the mean, from Lemma 1 with free Young parameters."""
    c4 = _c4_wide(gamma_bar=gamma_bar, **p)
    return _c2_repaired(**p) / (s * T * _c1_wide(**p) * gamma_bar) * gap + c4 * eps_max


# --- Definition 2 --------------------------------------------------------------------------------------------------


def _relative_skew(*, probability: Sequence[float], dtheta_sq: Sequence[float], **_: float) -> float:
    """(17) for sets of fixed size; ``probability`` holds P(i in S), with sum s.  Undefined if nobody moves."""
    s, m = sum(probability), len(probability)
    return m / s * sum(p * d for p, d in zip(probability, dtheta_sq, strict=True)) / sum(dtheta_sq)


def _least_skew(*, probability: Sequence[float], **_: float) -> float:
    """The minimum of (17) over the movements for given selection probabilities: at most 1, and 1 iff they are equal.

    (18) is the minimum of this number over the states that decide about the selection.
    """
    return len(probability) / sum(probability) * min(probability)


# --- Right sides: steps of the proofs ------------------------------------------------------------------------------


def _equation_31(*, alpha: float, lambda_: float, L: float, dtheta_sq: float, **_: float) -> float:
    """(31).  Left side: |difference of grad_theta_i L_i at theta_i^{t+1} and theta_i^t|^2, w_i^t fixed.  Right."""
    return 2 * alpha**2 * (L**2 + lambda_**2) * dtheta_sq


def _equation_35(*, rho: float, m: float, dw_server_sq: float, **_: float) -> float:
    """(35): e_1^t itself; ``dw_server_sq`` is |w^{t+1} - w^t|^2.  Right, for w^{t+1} by (12); any w^t will do."""
    return -rho * m / 2 * dw_server_sq


def _equation_36(*, alpha: float, lambda_: float, rho: float, dtheta_sq: float, dw_sq: float, **_: float) -> float:
    """(36).  Left side: the share of a selected client in e_2^t, |pi^{t+1} - pi^t|^2/rho.  Right, by (23), k = rho.

    Uses Lemma 2 at t and t + 1.
    """
    return lambda_**2 * alpha**2 * (1 + rho) / rho * (dtheta_sq + dw_sq / rho)


def _equation_37(*, alpha: float, lambda_: float, rho: float, dw_sq: float, **_: float) -> float:
    """(37): the share of a selected client in e_3^t, an identity.  Right."""
    return -(lambda_ * alpha + rho) / 2 * dw_sq


def _equation_38(
    *, alpha: float, lambda_: float, rho: float, L: float, dtheta_sq: float, eps: float, **_: float
) -> float:
    """(38).  Left side: the share of a selected client in e_4^t.  Wrong: see the repaired form."""
    q = _young(alpha, lambda_, rho, L)
    return (q + alpha * (L - lambda_) / 2) * dtheta_sq + alpha**2 / q * eps


def _equation_38_repaired(
    *, alpha: float, lambda_: float, rho: float, L: float, dtheta_sq: float, eps: float, **_: float
) -> float:
    """(38) with eps/(4 q), and q > 0.  The equality behind it holds: q - alpha (lambda - L)/2 is as printed."""
    q = _young(alpha, lambda_, rho, L)
    return (q + alpha * (L - lambda_) / 2) * dtheta_sq + eps / (4 * q)


def _equation_42(*, alpha: float, lambda_: float, L: float, dtheta_sq: float, eps: float, **_: float) -> float:
    """(42).  Left side: |grad_theta_i L(P^t)|^2.

    The second inequality lacks a factor 2 at the difference of the gradients of f_i.  The bound is still true for
    lambda >= 2 L, since (L + lambda)^2 <= L^2 + 2 lambda^2 then.  Otherwise false: alpha = L = 1, lambda = 3/2,
    f = theta^2/2, w_i = 0, theta^t = 2, theta^{t+1} = 1 have left side 25, eps = 25/4 and right side 47/2.
    """
    return 2 * alpha**2 * (L**2 + 2 * lambda_**2) * dtheta_sq + 2 * eps


def _equation_42_repaired(*, alpha: float, lambda_: float, L: float, dtheta_sq: float, eps: float, **_: float) -> float:
    """(42) with 4 alpha^2 (L^2 + lambda^2); 2 alpha^2 (L + lambda)^2 is the best constant beside 2 eps."""
    return 4 * alpha**2 * (L**2 + lambda_**2) * dtheta_sq + 2 * eps


def _equation_43(*, alpha: float, lambda_: float, rho: float, dtheta_sq: float, dw_sq: float, **_: float) -> float:
    """(43).  Left side: |grad_w_i L(P^t)|^2 = rho^2 |w_i^t - w^t|^2.  Right, by Lemma 2 and (11), if i updates."""
    return (2 * rho**2 + 4 * lambda_**2 * alpha**2) * dw_sq + 4 * lambda_**2 * alpha**2 * dtheta_sq


def _equation_44(*, alpha: float, lambda_: float, rho: float, dtheta_sq: float, dw_sq: float, **_: float) -> float:
    """(44).  Left side: |grad_pi_i L(P^t)|^2 = |w_i^t - w^t|^2.  Right: (43) over rho^2."""
    return _equation_43(alpha=alpha, lambda_=lambda_, rho=rho, dtheta_sq=dtheta_sq, dw_sq=dw_sq) / rho**2


def _equation_45(*, m: float, dtheta_sq: Values, dw_sq: Values, eps_max: float, **p: Any) -> float:
    """(45), last line.  Left side: |grad L(P^t)|^2; the sums run over all m clients, as if every client updated."""
    moved = sum(t + w for t, w in (row[:2] for row in _rows(dtheta_sq, dw_sq)))
    return _c2(**p) * moved + 2 * m * eps_max


def _equation_48(*, m: float, s: float, drop: float, eps_max: float, **p: Any) -> float:
    """(48).  Left side: the sum of dtheta_sq + dw_sq over all clients; ``drop`` is E[L^t - L^{t+1}] given P^t."""
    return m / (s * _c1(**p)) * drop + m * _c0(**p) / _c1(**p) * eps_max


def _equation_55(*, m: float, s: float, gamma_bar: float, drop: float, eps_max: float, **p: Any) -> float:
    """(55).  Left side: the sum of dtheta_sq over all clients; ``drop`` as in (48).  m^2/s could be m."""
    c1 = _c1(**p)
    return m / (s * c1 * gamma_bar) * drop + m**2 * _c0(**p) / (s * c1 * gamma_bar) * eps_max


# --- Conditions ----------------------------------------------------------------------------------------------------


def _conditions_proposition_1(*, lambda_: float, L: float, **_: float) -> Pairs:
    """Printed for a nonconvex f with L-Lipschitz gradient."""
    return [(2 * L, lambda_)]


def _conditions_proposition_1_repaired(*, lambda_: float, L: float, **_: float) -> Pairs:
    return [(L, lambda_)]


def _conditions_proposition_3(*, k: float, **_: float) -> Pairs:
    return [(0.0, k)]


def _conditions_theorem_1(*, mu: float, **_: float) -> Pairs:
    """Printed: L_i is mu-strongly convex in theta_i."""
    return [(0.0, mu)]


def _conditions_theorem_1_repaired(*, alpha: float, lambda_: float, L: float, mu: float, **_: float) -> Pairs:
    """What Assumption 1 certifies: mu is at most alpha (lambda - L), not lambda - L.

    With ``L`` = 0 the pair is the one of a convex f.
    """
    return [(0.0, mu), (mu, alpha * (lambda_ - L))]


def _conditions_lemma_1(*, alpha: Values, lambda_: float, rho: float, **_: Any) -> Pairs:
    """Condition A, printed in Lemma 1 and Theorem 2, one pair per client."""
    return [(lambda_**2 * a**2 * (1 + rho) / rho**2, (lambda_ * a + rho) / 2) for a in _each(alpha)]


def _conditions_young(*, alpha: Values, lambda_: float, rho: float, L: float, **_: Any) -> Pairs:
    """q_i > 0: used in (38) and by c_0, never printed."""
    return [(0.0, _young(a, lambda_, rho, L)) for a in _each(alpha)]


def _conditions_lemma_1_repaired(**p: Any) -> Pairs:
    return [*_conditions_lemma_1(**p), *_conditions_young(**p)]


def _conditions_wide(
    *, alpha: Values, lambda_: float, rho: float, L: float, delta: Values, young: float, **_: Any
) -> Pairs:
    """Positive Young parameters and both coefficients negative.  Implies lambda > L and rho > lambda alpha_i."""
    return [
        (0.0, young),
        *((0.0, d) for d in _each(delta)),
        *((lambda_**2 * a**2 * (1 + young) / rho + d, a * (lambda_ - L) / 2) for a, d in _rows(alpha, delta)),
        *((lambda_**2 * a**2 * (1 + 1 / young) / rho, (lambda_ * a + rho) / 2) for a in _each(alpha)),
    ]


def _conditions_lemma_3(*, alpha: Values, lambda_: float, rho: float, **_: Any) -> Pairs:
    """Printed in Lemma 3 and Theorem 2; condition A implies it."""
    return [(lambda_ * a, rho) for a in _each(alpha)]


def _conditions_theorem_2(**p: Any) -> Pairs:
    """The two conditions printed in Theorem 2."""
    return [*_conditions_lemma_1(**p), *_conditions_lemma_3(**p)]


def _conditions_theorem_2_unbiased_repaired(*, m: float, s: float, **p: Any) -> Pairs:
    return [*_conditions_lemma_1_repaired(**p), (s, m)]


def _conditions_theorem_2_biased_repaired(*, m: float, s: float, gamma_bar: float, **p: Any) -> Pairs:
    return [*_conditions_lemma_1_repaired(**p), (s, m), (0.0, gamma_bar), (gamma_bar, 1.0)]


def _conditions_theorem_2_unbiased_wide(*, m: float, s: float, **p: Any) -> Pairs:
    return [*_conditions_wide(**p), (s, m)]


def _conditions_theorem_2_biased_wide(*, m: float, s: float, gamma_bar: float, **p: Any) -> Pairs:
    return [*_conditions_wide(**p), (s, m), (0.0, gamma_bar), (gamma_bar, 1.0)]


def _conditions_c2(*, alpha: Values, rho: float, L: float, **_: Any) -> Pairs:
    """Under this (45) holds with the printed c_2 in spite of (42); not strict."""
    return [(max(_each(alpha)) ** 2 * L**2, 1 + rho**2)]


def _implied_lemma_1(*, alpha: Values, lambda_: float, rho: float, **_: Any) -> Pairs:
    """Follows from condition A: (1 - x)(1 + 2 x) rho > 2 x^2 > 0, so x < 1."""
    return [(lambda_ * a, rho) for a in _each(alpha)]


def _implied_lemma_1_repaired(*, alpha: Values, lambda_: float, rho: float, L: float, **_: Any) -> Pairs:
    """Follows from condition A and q_i > 0; see the docstrings of the module and of ``_young``."""
    return [
        (L, lambda_),
        (rho, 0.281),
        *((rho**2, a * (lambda_ * (1 - rho) - L)) for a in _each(alpha)),
        *((2 * lambda_**2 * a * (1 + rho), rho * (lambda_ - L)) for a in _each(alpha)),
    ]


# --- Prescribed iterates, initial values and parameters ------------------------------------------------------------


def _algorithm_w_i(
    *, alpha: float, lambda_: float, rho: float, theta_next: float, w: float, pi: float, **_: float
) -> float:
    """(10): w_i^{t+1} from theta_i^{t+1}, the server's w^t and pi_i^t; the exact minimiser.

    Algorithm 1 takes theta_i^{t,H-1} for theta_i^{t+1} and so wastes the last of the H steps.
    """
    return (lambda_ * alpha * theta_next + rho * w - pi) / (lambda_ * alpha + rho)


def _algorithm_pi_i(*, rho: float, w_i_next: float, w: float, pi: float, **_: float) -> float:
    """(11): pi_i^{t+1}."""
    return pi + rho * (w_i_next - w)


def _algorithm_z_i(*, rho: float, w_i: float, pi: float, **_: float) -> float:
    """The message z_i^t; (12) is the mean of the messages, over all m clients."""
    return w_i + pi / rho


def _algorithm_pi_0(*, alpha: float, lambda_: float, theta: float, w: float, **_: float) -> float:
    """(28): the initial pi_i^0 that Lemma 2 needs."""
    return lambda_ * alpha * (theta - w)


def _ratio_low(*, lambda_: float, rho: float, L: float, **_: float) -> float:
    """For 0 < rho < 1: q > 0 iff x = lambda alpha / rho exceeds this."""
    k = L / lambda_
    return (k * rho + math.sqrt(k**2 * rho**2 + 8 * rho * (1 - rho**2))) / (4 * (1 - rho**2))


def _ratio_high(*, rho: float, **_: float) -> float:
    """Condition A iff x = lambda alpha / rho is below this."""
    return (rho + math.sqrt(rho**2 + 8 * rho * (1 + rho))) / (4 * (1 + rho))


def _ratio_end(*, lambda_: float, L: float, **_: float) -> float:
    """Some rho satisfies A and q > 0 at x iff 0 < x < this; 0.3904 for L = 0, and 0 for L >= lambda."""
    d = 1 - L / lambda_
    return (d - 2 + math.sqrt(4 + 4 * d + 9 * d**2)) / (4 * (1 + d))


def _wide_delta(*, alpha: float, lambda_: float, L: float, **_: float) -> float:
    """A choice of delta for young = 1."""
    return alpha * (lambda_ - L) / 8


def _wide_rho(*, alpha: Values, lambda_: float, L: float, **_: float) -> float:
    """The smallest rho for which, with young = 1 and that delta, c_1 is seen to be at least alpha_min (lambda - L)/4.

    Needs lambda > L.
    """
    return 16 * lambda_**2 * max(_each(alpha)) / (lambda_ - L)


# --- The tables ----------------------------------------------------------------------------------------------------

CONSTANTS: dict[str, Callable[..., float]] = {
    "flame/c0": _c0,
    "flame/c0-repaired": _c0_repaired,
    "flame/c0-wide-repaired": _c0_wide,
    "flame/c1": _c1,
    "flame/c1-wide-repaired": _c1_wide,
    "flame/c2": _c2,
    "flame/c2-repaired": _c2_repaired,
    "flame/c3": _c3,
    "flame/c3-repaired": _c3_repaired,
    "flame/c3-wide-repaired": _c3_wide,
    "flame/c4": _c4,
    "flame/c4-repaired": _c4_repaired,
    "flame/c4-wide-repaired": _c4_wide,
}

RIGHT_SIDES: dict[str, dict[str, Callable[..., float]]] = {
    "flame/proposition-1": {"smoothness": _proposition_1_smoothness, "gradient": _proposition_1_gradient},
    "flame/proposition-1-repaired": {
        "smoothness": _proposition_1_smoothness_repaired,
        "smoothness-smooth": _proposition_1_smoothness_smooth,
    },
    "flame/proposition-2": {"main": _proposition_2},
    "flame/proposition-3": {
        "inner": _proposition_3_inner,
        "difference": _proposition_3_difference,
        "sum": _proposition_3_sum,
    },
    "flame/theorem-1": {"lower": _theorem_1_lower, "upper": _theorem_1_upper},
    "flame/theorem-1-repaired": {"lower": _theorem_1_lower_repaired, "upper": _theorem_1_upper_repaired},
    "flame/lemma-1": {"main": _lemma_1},
    "flame/lemma-1-repaired": {"main": _lemma_1_repaired},
    "flame/lemma-1-wide-repaired": {"main": _lemma_1_wide},
    "flame/definition-2": {"skew": _relative_skew, "least": _least_skew},
    "flame/lemma-2": {"main": _lemma_2},
    "flame/lemma-3": {"main": _lemma_3, "identity": _lemma_3_identity},
    "flame/theorem-2-unbiased": {"main": _theorem_2_unbiased},
    "flame/theorem-2-unbiased-repaired": {"main": _theorem_2_unbiased_repaired},
    "flame/theorem-2-unbiased-wide-repaired": {"main": _theorem_2_unbiased_wide},
    "flame/theorem-2-biased": {"main": _theorem_2_biased},
    "flame/theorem-2-biased-repaired": {"main": _theorem_2_biased_repaired},
    "flame/theorem-2-biased-wide-repaired": {"main": _theorem_2_biased_wide},
}

PROOF_STEPS: dict[str, Callable[..., float]] = {
    "flame/equation-31": _equation_31,
    "flame/equation-35": _equation_35,
    "flame/equation-36": _equation_36,
    "flame/equation-37": _equation_37,
    "flame/equation-38": _equation_38,
    "flame/equation-38-repaired": _equation_38_repaired,
    "flame/equation-42": _equation_42,
    "flame/equation-42-repaired": _equation_42_repaired,
    "flame/equation-43": _equation_43,
    "flame/equation-44": _equation_44,
    "flame/equation-45": _equation_45,
    "flame/equation-48": _equation_48,
    "flame/equation-55": _equation_55,
}

CONDITIONS: dict[str, Callable[..., Pairs]] = {
    "flame/proposition-1": _conditions_proposition_1,
    "flame/proposition-1-repaired": _conditions_proposition_1_repaired,
    "flame/proposition-3": _conditions_proposition_3,
    "flame/theorem-1": _conditions_theorem_1,
    "flame/theorem-1-repaired": _conditions_theorem_1_repaired,
    "flame/lemma-1": _conditions_lemma_1,
    "flame/lemma-1-repaired": _conditions_lemma_1_repaired,
    "flame/lemma-1-wide-repaired": _conditions_wide,
    "flame/lemma-3": _conditions_lemma_3,
    "flame/theorem-2-unbiased": _conditions_theorem_2,
    "flame/theorem-2-unbiased-repaired": _conditions_theorem_2_unbiased_repaired,
    "flame/theorem-2-unbiased-wide-repaired": _conditions_theorem_2_unbiased_wide,
    "flame/theorem-2-biased": _conditions_theorem_2,
    "flame/theorem-2-biased-repaired": _conditions_theorem_2_biased_repaired,
    "flame/theorem-2-biased-wide-repaired": _conditions_theorem_2_biased_wide,
    "flame/equation-38-repaired": _conditions_young,
    "flame/equation-42": _conditions_proposition_1,
    "flame/equation-45": _conditions_c2,
}

IMPLIED: dict[str, Callable[..., Pairs]] = {
    "flame/lemma-1": _implied_lemma_1,
    "flame/lemma-1-repaired": _implied_lemma_1_repaired,
    "flame/lemma-1-wide-repaired": _implied_lemma_1,
}

PRESCRIBED: dict[str, dict[str, Callable[..., float]]] = {
    "flame/algorithm-1": {
        "w_i": _algorithm_w_i,
        "pi_i": _algorithm_pi_i,
        "z_i": _algorithm_z_i,
        "pi_0": _algorithm_pi_0,
    },
    "flame/lemma-1-repaired": {"ratio_low": _ratio_low, "ratio_high": _ratio_high, "ratio_end": _ratio_end},
    "flame/lemma-1-wide-repaired": {"delta": _wide_delta, "rho": _wide_rho},
}

EXPERIMENTS: dict[str, dict[str, float]] = {
    "Section 5.2.1": {"m": 50, "rho": 0.01, "lambda_": 5, "alpha": 1 / 50},
    "Section 5.2.2, smallest lambda": {"m": 50, "rho": 0.01, "lambda_": 1, "alpha": 1 / 50},
    "Section 5.2.4, largest rho": {"m": 50, "rho": 0.1, "lambda_": 5, "alpha": 1 / 50},
    "Section 5.2.5": {"m": 100, "s": 10, "rho": 0.01, "lambda_": 5, "alpha": 1 / 100},
}
