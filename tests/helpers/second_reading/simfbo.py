"""Independent second reading of the federated bilevel paper (SimFBO and ShroFBO), kept as a test oracle.

The paper is "SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning".  Every formula
was transcribed from the text of the paper alone, without sight of the package's own transcription.  The functions
without a suffix hold what is printed, also where it looks like a slip; those ending in ``_repaired`` hold a form that
can be proved, with the reason in the docstring.  The tables ``RIGHT_SIDES``, ``CONDITIONS`` and ``PRESCRIBED`` at the
end go by key.

Conventions
-----------
Squares: ``sigma_f``, ``sigma_g``, ``sigma_gg``, ``sigma_gh``, ``sigma_M1`` and ``sigma_M2`` are square roots of what
the paper prints.  ``beta_gh`` is the constant whose square stands in Assumption 4.

Weights: w_i = p_i |a_i|_1 / sum_j p_j |a_j|_1 for SimFBO, w_i = p_i for ShroFBO.  Every lemma from 5 on is about w:
the tilde on y*, v* and Phi says "p replaced by w"; the appendix often drops the tilde on y* and v*.  beta_max bounds
n w_i, beta_max_prime bounds n p_i.  w~_i = (n / P) w_i.  ``rho`` is rho^(t) = sum_j p_j |a_j|_1 of one round,
``rho_bar`` its average over the rounds.

c_gamma: K_1 = A_1 / c_gamma_y contains 1 / c_gamma_y, and below (38) c_gamma_y is bounded from BELOW by
256 K_1 L_y / mu_g.  A larger c_gamma_y makes K_1 smaller, so the circle closes without a fixed-point search: the two
together are c_gamma_y^2 >= 256 A_1 L_y / mu_g.  There is a smallest admissible value (``_c_gamma_y_smallest``) and,
from the circle alone, no largest one.  An upper limit comes from (39) once rho^(t) gamma_x is fixed
(``_c_gamma_y_interval``).  The same holds for c_gamma_v with K_2 = (6 L_1^2 / mu_g) / c_gamma_v.

Arguments of the statements about one round (all are expectations given the past, or full expectations):

gap_y, gap_v
    E |y^(t) - y~*(x^(t))|^2 and E |v^(t) - v~*(x^(t))|^2.
gradient
    E |grad Phi~(x^(t))|^2.
mean_x
    E |sum_i w_i h~_{x,i}|^2, the expected normalized direction of all clients; mean_y likewise.
aggregate_x, aggregate_y, aggregate_v
    E |sum_{i in C} w~_i h_i|^2, the sampled stochastic direction.
drift_x, drift_y, drift_v
    sum_i w_i sum_k (a_i^k / |a_i|_1) E |x_i^{t,k} - x^(t)|^2, and the same for y and v.
drift_f, drift_g, drift_R
    the same average of Delta_f, Delta_g, Delta_R of Lemma 6; with the suffix ``_sq`` the weight is w_i^2.
noise_weight, noise_weight_r
    sum_i w_i^2 |a_i|_2^2 / |a_i|_1^2, and the same sum with the further factor r_i^2, r_i = max_k |v_i^{t,k}|.
dx2, dy2, dv2
    squared distances of two points.

Doubts about the text as a whole
--------------------------------
* tau_bar is the mean of the tau_i in the main text and in (40), but the sum in Appendix B.  Used here: the mean.
* w_i and with it Phi~ depend on t through a_i^(t).  The proofs need shares |a_i|_1 / sum_j p_j |a_j|_1 that do not
  change from round to round.  Never stated.
* Theorems 1 and 2 name Assumptions 1-3, but beta_gh and sigma_gh of Assumption 4 stand in M_1 and in (39).
* Silent throughout: unbiased samples, independent over clients and steps given the past; clients drawn independently
  of the samples; |v^(0)| <= r; Phi~ bounded below; n >= 2 (division by n - 1); all rounds |C| = P; a_i^k > 0.
* h sums k = 1, ..., tau_i in Appendix B and k = 0, ..., tau_i - 1 in (4) and in the proofs.  Used here: the latter.
* h~ is called E[h].  It is the sum of conditional means along the random local path, so E[h] = E[h~] only.
* There is no numbered corollary.  The complexity statements inside the theorems are (55)-(57).
"""

import math
from collections.abc import Callable

Pairs = list[tuple[float, float]]


# --- Constants: Lemmas 1-4, eq. (13) -------------------------------------------------------------------------------


def _r(*, L_f: float, mu_g: float, **_: float) -> float:
    """Radius of the server-side projection, r = L_f / mu_g (Proposition 1, Lemma 1)."""
    return L_f / mu_g


def _r_max(*, alpha_min: float, alpha_max: float, **p: float) -> float:
    """Bound of the local v, r_max = (1 + alpha_max / alpha_min) r (Lemma 2)."""
    return (1 + alpha_max / alpha_min) * _r(**p)


def _L_R(*, L_1: float, L_2: float, **p: float) -> float:
    """L_R = (2 (L_2^2 r_max^2 + L_1^2))^(1/2) (Lemma 3)."""
    return math.sqrt(2 * (L_2**2 * _r_max(**p) ** 2 + L_1**2))


def _L_tilde(*, L_f: float, L_1: float, L_2: float, mu_g: float, **_: float) -> float:
    """L~ of (13).  Re-derived: right (joint Lipschitz constant of the surrogate with its own v)."""
    return L_1 + L_1**2 / mu_g + L_f * (L_2 / mu_g + L_1 * L_2 / mu_g**2)


def _L_Phi(*, L_1: float, mu_g: float, **p: float) -> float:
    """L_Phi of (13), a smoothness constant, not its square.  Re-derived: right."""
    tilde = _L_tilde(L_1=L_1, mu_g=mu_g, **p)
    return tilde + tilde * L_1 / mu_g


def _L_y(*, L_1: float, mu_g: float, **_: float) -> float:
    """L_y of (13).  Right."""
    return L_1 / mu_g


def _L_v(*, L_f: float, L_1: float, L_2: float, mu_g: float, **_: float) -> float:
    """L_v of (13).  Re-derived: right."""
    return math.sqrt(2 * L_1**2 / mu_g**2 + 2 * L_f**2 * L_2**2 / mu_g**4) * math.sqrt(1 + (L_1 / mu_g) ** 2)


def _L_yx(*, L_1: float, L_2: float, mu_g: float, **_: float) -> float:
    """L_yx of (13), Lipschitz constant of the Jacobian of y*.  Re-derived: right."""
    spread = L_2 + L_2 * L_1 / mu_g
    return spread / mu_g + L_1 * spread / mu_g**2


def _L_vx(*, L_1: float, L_2: float, L_3: float, mu_g: float, **p: float) -> float:
    """L_vx of (13), as printed.  Too small in general, see ``_L_vx_repaired``."""
    r, L_v, L_y = _r(mu_g=mu_g, **p), _L_v(L_1=L_1, L_2=L_2, mu_g=mu_g, **p), L_1 / mu_g
    inner = (L_2**2 + r**2 * L_3**2 + L_2**2 * L_v**2) * (1 + L_y**2) + L_2**2 * L_v**2
    return 2 / mu_g * math.sqrt(inner)


def _L_vx_repaired(*, L_1: float, L_2: float, L_3: float, mu_g: float, **p: float) -> float:
    """Return a Lipschitz constant of the Jacobian of v* that can be proved.

    (15) sets the partial derivative in y of grad_v R(x, y, v*(x)) at y*(x) to zero; only the total derivative (14)
    vanishes.  So (16) loses the terms with the Jacobian of y*: F_yy y*' and v*^T G_yyy y*', and with them L_yx.
    From (14): G_yy v*' = F_yx + F_yy y*' - v*^T (G_yyx + G_yyy y*'), with |y*'| <= L_y, |v*'| <= L_v, |F_yy| <= L_1,
    |G_yyy| <= L_2; differences of each factor give the sum below.  The printed constant fails for instance for
    f = L_f y and g(x, y) = G(y) - a x y with G'' = mu_g + eps (1 - cos(y (L_3 / eps)^(1/2))), eps -> 0: the true
    constant tends to r L_3 (L_y^2 - L_y) / mu_g, the printed one to 2 r L_3 (1 + L_y^2)^(1/2) / mu_g, which is smaller
    from L_y = 3.2 on (checked at L_y = 5.5: 25 against 11.2).
    """
    r, L_v, L_y = _r(mu_g=mu_g, **p), _L_v(L_1=L_1, L_2=L_2, mu_g=mu_g, **p), L_1 / mu_g
    L_yx = _L_yx(L_1=L_1, L_2=L_2, mu_g=mu_g)
    root = math.sqrt(1 + L_y**2)
    explicit = root * ((L_2 + r * L_3) * (1 + L_y) + L_2 * L_v)
    return (explicit + L_2 * L_v * (1 + L_y) + (L_1 + r * L_2) * L_yx) / mu_g


def _A(*, L_1: float, L_2: float, **p: float) -> float:
    """L_1^2 + r^2 L_2^2, a group that recurs without a name."""
    return L_1**2 + _r(**p) ** 2 * L_2**2


def _B(*, L_f: float, L_1: float, **p: float) -> float:
    """L_f^2 + r_max^2 L_1^2, a group that recurs without a name."""
    return L_f**2 + _r_max(L_f=L_f, **p) ** 2 * L_1**2


# --- Constants: Lyapunov function, eqs (37)-(40) -------------------------------------------------------------------


def _A_1(*, L_1: float, mu_g: float, **p: float) -> float:
    """K_1 c_gamma_y, the bracket of K_1 below (37)."""
    q = {"L_1": L_1, "mu_g": mu_g, **p}
    return 40 * _A(**q) / mu_g + 384 * _L_R(**q) ** 2 * L_1**2 / mu_g**3


def _K_1(*, c_gamma_y: float, **p: float) -> float:
    """K_1 below (37)."""
    return _A_1(**p) / c_gamma_y


def _K_2(*, L_1: float, mu_g: float, c_gamma_v: float, **_: float) -> float:
    """K_2 below (37)."""
    return 6 * L_1**2 / (mu_g * c_gamma_v)


def _delta(*, rho: float, gamma_x: float, c_gamma_y: float, mu_g: float, **_: float) -> float:
    """delta_t = rho gamma_y mu_g / 4 with gamma_y = c_gamma_y gamma_x (below (37))."""
    return rho * c_gamma_y * gamma_x * mu_g / 4


def _delta_prime(*, rho: float, gamma_x: float, c_gamma_v: float, mu_g: float, **_: float) -> float:
    """delta'_t = rho gamma_v mu_g / 4 with gamma_v = c_gamma_v gamma_x (below (37))."""
    return rho * c_gamma_v * gamma_x * mu_g / 4


def _curvature(**p: float) -> float:
    """K_1 (L_y^2 + L_yx / 2) + K_2 (L_v^2 + L_vx / 2), as in (39)-(43)."""
    return _K_1(**p) * (_L_y(**p) ** 2 + _L_yx(**p) / 2) + _K_2(**p) * (_L_v(**p) ** 2 + _L_vx(**p) / 2)


def _curvature_repaired(**p: float) -> float:
    """K_1 (2 L_y^2 + L_yx / 2) + K_2 (2 L_v^2 + L_vx / 2) with the repaired L_vx, from the repaired Lemma 10."""
    y = _K_1(**p) * (2 * _L_y(**p) ** 2 + _L_yx(**p) / 2)
    return y + _K_2(**p) * (2 * _L_v(**p) ** 2 + _L_vx_repaired(**p) / 2)


def _bracket(*, c_gamma_v: float, **p: float) -> float:
    """L_Phi^2 / 2 + K_1 (...) + K_2 (...) + 2 K_2 c_gamma_v^2, the bracket of M_1 and M_2 in (40)."""
    q = {"c_gamma_v": c_gamma_v, **p}
    return _L_Phi(**q) ** 2 / 2 + _curvature(**q) + 2 * _K_2(**q) * c_gamma_v**2


def _bracket_repaired(*, c_gamma_v: float, **p: float) -> float:
    """L_Phi / 2 + repaired curvature + 3 K_2 c_gamma_v^2 (2 + delta' <= 3)."""
    q = {"c_gamma_v": c_gamma_v, **p}
    return _L_Phi(**q) / 2 + _curvature_repaired(**q) + 3 * _K_2(**q) * c_gamma_v**2


def _M_1(*, beta_max: float, c_gamma_y: float, sigma_gh: float, **p: float) -> float:
    """M_1 of (40), repeated below (47).

    Consistent with (43).  The last term lacks the factor 1 + delta_t of Lemma 10; since (39) forces
    delta_t <= mu_g^2 / (288 L_1^2), the factor is at most 1 + 1/288.
    """
    q = {"beta_max": beta_max, "c_gamma_y": c_gamma_y, "sigma_gh": sigma_gh, **p}
    return 2 * _bracket(**q) * beta_max * _B(**q) + _K_1(**q) * c_gamma_y**2 * beta_max * sigma_gh**2


def _M_1_repaired(*, beta_max: float, c_gamma_y: float, sigma_gh: float, **p: float) -> float:
    """M_1 from the repaired Lemmas 7, 9 and 10 (L_Phi for L_Phi^2, 2 + delta <= 3, repaired L_vx)."""
    q = {"beta_max": beta_max, "c_gamma_y": c_gamma_y, "sigma_gh": sigma_gh, **p}
    return 2 * _bracket_repaired(**q) * beta_max * _B(**q) + 3 * _K_1(**q) * c_gamma_y**2 * beta_max * sigma_gh**2


def _M_2(*, c_gamma_y: float, sigma_f: float, sigma_g: float, sigma_gg: float, **p: float) -> float:
    """M_2 of (40).

    Below (49) it stands again with L_vx / (2F), an undefined F and surely a misprint for L_vx / 2.  As in M_1, the
    last term lacks 1 + delta_t.
    """
    q = {"c_gamma_y": c_gamma_y, **p}
    variance = sigma_f**2 + _r_max(**q) ** 2 * sigma_gg**2
    return 2 * _bracket(**q) * variance + _K_1(**q) * c_gamma_y**2 * sigma_g**2


def _M_2_repaired(*, c_gamma_y: float, sigma_f: float, sigma_g: float, sigma_gg: float, **p: float) -> float:
    """M_2 from the repaired Lemmas 7, 9 and 10; the noise of Lemma 9 counts twice (cross term of (23))."""
    q = {"c_gamma_y": c_gamma_y, **p}
    variance = sigma_f**2 + _r_max(**q) ** 2 * sigma_gg**2
    return 4 * _bracket_repaired(**q) * variance + 6 * _K_1(**q) * c_gamma_y**2 * sigma_g**2


def _M_3(
    *, P: float, beta_max: float, L_1: float, mu_g: float, c_gamma_y: float, c_gamma_v: float, **p: float
) -> float:
    """M_3 of (40), repeated below (51).

    Re-derived from Lemmas 7-10 and (39): 3/2, 24 K_2 c_gamma_v, 17/4 = 4 + 1/4 and 16 K_2 c_gamma_v are right given
    s = rho gamma_x <= 4 / L_Phi^2 and s <= 4 / c_gamma_v.  Slips: the second c in the K_1 bracket is printed
    c_gamma_v and must be c_gamma_y; the last term should carry 1 + delta'_t <= 2, that is 8 L_R^2 / mu_g, as the K_1
    bracket does (4 = 2 * 2).
    """
    q = {"L_1": L_1, "mu_g": mu_g, "c_gamma_y": c_gamma_y, "c_gamma_v": c_gamma_v, **p}
    K_1, K_2 = _K_1(**q), _K_2(**q)
    common = 3 / 2 + 24 * K_2 * c_gamma_v + beta_max / P * (17 / 4 + 16 * K_2 * c_gamma_v)
    lower = 4 * c_gamma_y * L_1**2 / mu_g + 8 * c_gamma_v * (2 * beta_max / P + 3) * L_1**2
    return 3 * common * _A(**q) + K_1 * lower + K_2 * c_gamma_v * 4 * _L_R(**q) ** 2 / mu_g


def _M_3_repaired(*, L_1: float, mu_g: float, **p: float) -> float:
    """M_3 from the repaired lemmas and the repaired step sizes; it no longer depends on the c_gamma.

    3 A (3/2 + 3/8 + 3/8 + 3) + K_1 c_gamma_y (4 L_1^2 / mu_g + 6 mu_g) + 8 K_2 c_gamma_v L_R^2 / mu_g, in this order
    from Lemma 7, from the curvature of Phi~, from that of y~* and v~*, from the aggregate of v, and from Lemma 10.
    """
    q = {"L_1": L_1, "mu_g": mu_g, **p}
    K_2_c = 6 * L_1**2 / mu_g
    return (
        63 / 4 * _A(**q)
        + _A_1(**q) * (4 * L_1**2 / mu_g + 6 * mu_g)
        + 8 * K_2_c * _L_R(L_1=L_1, mu_g=mu_g, **p) ** 2 / mu_g
    )


def _sigma_M1_sq(*, alpha_max: float, sigma_f: float, sigma_gg: float, **p: float) -> float:
    q = {"alpha_max": alpha_max, **p}
    return alpha_max**2 * (sigma_f**2 + _r_max(**q) ** 2 * sigma_gg**2) + alpha_max * _B(**q)


def _sigma_M1(**p: float) -> float:
    """sigma_M1 of Proposition 3 and Lemma 8."""
    return math.sqrt(_sigma_M1_sq(**p))


def _sigma_M2_sq(*, alpha_max: float, c_a: float, sigma_g: float, sigma_gh: float, **p: float) -> float:
    own = alpha_max**2 * sigma_g**2 + 2 * c_a * alpha_max * sigma_gh**2
    return own + _sigma_M1_sq(alpha_max=alpha_max, **p)


def _sigma_M2(**p: float) -> float:
    """sigma_M2, defined below (21)."""
    return math.sqrt(_sigma_M2_sq(**p))


def _sigma_M1_sq_repaired(
    *, alpha_max: float, tau_bar: float, c_a: float, sigma_f: float, sigma_gg: float, **p: float
) -> float:
    q = {"alpha_max": alpha_max, **p}
    variance = sigma_f**2 + _r_max(**q) ** 2 * sigma_gg**2
    return 4 * c_a * alpha_max**2 * (variance + c_a * tau_bar * _B(**q))


def _sigma_M1_repaired(**p: float) -> float:
    """sigma_M1 such that the repaired Lemma 8 keeps its printed shape; it grows with tau_bar."""
    return math.sqrt(_sigma_M1_sq_repaired(**p))


def _sigma_M2_sq_repaired(
    *, alpha_max: float, tau_bar: float, c_a: float, sigma_g: float, sigma_gh: float, **p: float
) -> float:
    own = c_a * alpha_max**2 * (2 * sigma_g**2 + 4 * c_a * tau_bar * sigma_gh**2)
    return own + _sigma_M1_sq_repaired(alpha_max=alpha_max, tau_bar=tau_bar, c_a=c_a, **p)


def _sigma_M2_repaired(**p: float) -> float:
    """sigma_M2 such that the repaired (21) keeps its printed shape; it grows with tau_bar."""
    return math.sqrt(_sigma_M2_sq_repaired(**p))


# --- Step sizes: eqs (38), (39) ------------------------------------------------------------------------------------


def _c_gamma_y_smallest(*, mu_g: float, **p: float) -> float:
    """Smallest c_gamma_y with c_gamma_y >= 256 K_1 L_y / mu_g, K_1 = A_1 / c_gamma_y: 16 (A_1 L_y / mu_g)^(1/2)."""
    return 16 * math.sqrt(_A_1(mu_g=mu_g, **p) * _L_y(mu_g=mu_g, **p) / mu_g)


def _c_gamma_v_smallest(*, L_1: float, mu_g: float, **p: float) -> float:
    """Smallest c_gamma_v with c_gamma_v >= 256 K_2 L_v / mu_g: 16 (6 L_v)^(1/2) L_1 / mu_g."""
    return 16 * math.sqrt(6 * _L_v(L_1=L_1, mu_g=mu_g, **p)) * L_1 / mu_g


def _c_gamma_y_smallest_repaired(*, mu_g: float, **p: float) -> float:
    """Smallest c_gamma_y with c_gamma_y >= 64 K_1 L_y^2 / mu_g (repaired Lemma 10): 8 L_y (A_1 / mu_g)^(1/2)."""
    return 8 * _L_y(mu_g=mu_g, **p) * math.sqrt(_A_1(mu_g=mu_g, **p) / mu_g)


def _c_gamma_v_smallest_repaired(*, L_1: float, mu_g: float, **p: float) -> float:
    """Smallest c_gamma_v with c_gamma_v >= 64 K_2 L_v^2 / mu_g (repaired Lemma 10): 8 L_v 6^(1/2) L_1 / mu_g."""
    return 8 * math.sqrt(6) * _L_v(L_1=L_1, mu_g=mu_g, **p) * L_1 / mu_g


def _lower_bracket(*, P: float, beta_max: float, beta_gh: float, L_1: float, **_: float) -> float:
    """(2 beta_max / P + 3) L_1^2 + 2 beta_max beta_gh^2 / P + 3 L_1^2, the bracket of (39) with c_gamma_y."""
    return (2 * beta_max / P + 3) * L_1**2 + 2 * beta_max * beta_gh**2 / P + 3 * L_1**2


def _stepsize_terms(
    *, P: float, beta_max: float, L_1: float, mu_g: float, c_gamma_y: float, c_gamma_v: float, **p: float
) -> dict[str, float]:
    """Return the twelve terms of the minimum in (39), in the printed order.

    Silently mu_g <= L_1.  Uses Lemmas 7-10; the terms make the coefficients of gap_v, gap_y and mean_x in (41)
    nonpositive and are used again in M_3.  What each is for (s = rho gamma_x, A = L_1^2 + r^2 L_2^2):

    1.  gap_v: -9/2 + 3/2 + 3 = 0 times L_1^2 s.  Exact.
    2.  gap_y: share of the aggregate of v, A s.
    3.  gap_y: share of the curvature of v~*, A s.
    4.  gap_y: share of the curvature of Phi~, A s / 2.
    5.  mean_x: needs s L_Phi^2 / 2 <= 1/8, that is s <= 1 / (4 L_Phi^2).  Printed 4 / L_Phi^2, and 17/4 in M_3 is
        computed with the printed value.  A slip; the other terms do not imply the needed one (random search).
    6., 7.  used for 16 and 24 K_2 c_gamma_v in M_3.  mu_g is not missing as far as delta <= 1 goes: terms 1 and 8
        already give delta, delta' <= 1/48.
    8.  gap_y: share of the aggregate of y, K_1 c_gamma_y mu_g s / 6.
    9.  gap_y: share of the curvature of y~*.  Printed L_v^2; L_y^2 is meant.  Harmless (L_v >= L_y).
    10., 11.  delta_{t,1} >= delta_t / 2.  They rest on the 1/2 in the definition of delta_t, see Lemma 10.
    12. mean_x: s (K_1 ... + K_2 ...) <= 1/8.

    The 40 and 384 of K_1 come out exactly: (3 + 9/2 + 1/2 + 1 + 1) A = 10 A and 96 L_1^2 L_R^2 / mu_g^2 are a quarter
    of K_1 c_gamma_y mu_g; three times 1/6 and delta_t use up the rest.
    """
    q = {"P": P, "beta_max": beta_max, "L_1": L_1, "mu_g": mu_g, "c_gamma_y": c_gamma_y, "c_gamma_v": c_gamma_v, **p}
    v_curve = _L_v(**q) ** 2 + _L_vx(**q) / 2
    return {
        "1": mu_g / (12 * L_1**2 * c_gamma_v),
        "2": mu_g / (36 * L_1**2 * c_gamma_v) / (2 * beta_max / P + 3),
        "3": P * mu_g * c_gamma_v / (36 * L_1**2 * beta_max) / v_curve,
        "4": P / (6 * _L_Phi(**q) ** 2 * beta_max),
        "5": 4 / _L_Phi(**q) ** 2,
        "6": 4 / c_gamma_y,
        "7": 4 / c_gamma_v,
        "8": mu_g / (12 * c_gamma_y) / _lower_bracket(**q),
        "9": P * c_gamma_y * mu_g / (36 * beta_max * _A(**q)) / (_L_v(**q) ** 2 + _L_yx(**q) / 2),
        "10": c_gamma_y * mu_g / (4 * _L_yx(**q) * _B(**q)),
        "11": c_gamma_v * mu_g / (4 * _L_vx(**q) * _B(**q)),
        "12": 1 / (8 * _curvature(**q)),
    }


def _stepsize_terms_repaired(
    *,
    P: float,
    beta_max: float,
    beta_gh: float,
    L_1: float,
    mu_g: float,
    c_gamma_y: float,
    c_gamma_v: float,
    **p: float,
) -> dict[str, float]:
    """Bounds of rho gamma_x under which the repaired Lemmas 7-10 give the repaired (45).

    Checked coefficient by coefficient: gap_v -9/2 + 3/2 + 3 = 0; mean_x four times 1/8; gap_y at most
    3.7 A + 53 L_1^2 L_R^2 / mu_g^2 plus (1/4 + 1/6) K_1 c_gamma_y mu_g, below 3/4 K_1 c_gamma_y mu_g with the printed
    K_1.  The share beta_max / P that the printed terms 2-4 and 9 carry sits in the factors min(1, P / beta_max).
    """
    q = {"P": P, "beta_max": beta_max, "L_1": L_1, "mu_g": mu_g, "c_gamma_y": c_gamma_y, "c_gamma_v": c_gamma_v, **p}
    share = beta_max / P
    lower = (3 * share + 3) * L_1**2 / 24 + 2 * share * beta_gh**2 * L_1**2 + 3 * L_1**2
    return {
        "v": mu_g / (18 * L_1**2 * c_gamma_v) / (1 + share),
        "Phi": min(1, 1 / share) / (4 * _L_Phi(**q)),
        "delta": 4 / (c_gamma_y * mu_g),
        "delta_prime": 4 / (c_gamma_v * mu_g),
        "y": mu_g / (12 * c_gamma_y) / lower,
        "remainder_y": c_gamma_y * mu_g / (8 * _L_yx(**q) * beta_max**2 * _B(**q)),
        "remainder_v": c_gamma_v * mu_g / (8 * _L_vx_repaired(**q) * beta_max**2 * _B(**q)),
        "curvature": min(1, 1 / share) / (8 * _curvature_repaired(**q)),
    }


def _rho_gamma_x_largest(**p: float) -> float:
    """Largest rho^(t) gamma_x that (39) admits for given c_gamma."""
    return min(_stepsize_terms(**p).values())


def _rho_gamma_x_largest_repaired(**p: float) -> float:
    """Largest rho^(t) gamma_x that the repaired (39) admits for given c_gamma."""
    return min(_stepsize_terms_repaired(**p).values())


def _eta_x_largest(*, tau_bar: float, c_a: float, alpha_max: float, L_1: float, **_: float) -> float:
    """Largest eta_x of (39), eta_x^2 tau_bar <= 1 / (2 c_a alpha_max L_1^2)."""
    return math.sqrt(1 / (2 * c_a * alpha_max * L_1**2) / tau_bar)


def _eta_y_largest(*, tau_bar: float, c_a: float, alpha_max: float, L_1: float, mu_g: float, **_: float) -> float:
    """Largest eta_y of (39).

    The second bound is the smaller one always: mu_g <= L_1 makes mu_g^2 / (96 L_1^4) < 1 / (4 L_1^2).
    """
    first = 1 / (4 * c_a * alpha_max * L_1**2)
    second = mu_g**2 / (96 * c_a * alpha_max * L_1**4)
    return math.sqrt(min(first, second) / tau_bar)


def _eta_x_largest_repaired(*, tau_bar: float, c_a: float, alpha_max: float, L_1: float, **_: float) -> float:
    """Largest eta_x with 4 eta_x^2 c_a^2 tau_bar^2 alpha_max^2 L_1^2 <= 1 (tau_bar^2, not tau_bar)."""
    return 1 / (2 * c_a * tau_bar * alpha_max * L_1)


def _eta_y_largest_repaired(
    *, tau_bar: float, c_a: float, alpha_max: float, L_1: float, mu_g: float, beta_gh: float, **_: float
) -> float:
    """Largest eta_y with 8 eta_y^2 c_a^2 tau_bar^2 alpha_max^2 beta_gh^2 L_1^2 <= mu_g^2 / (24 L_1^2)."""
    return mu_g / (math.sqrt(192) * c_a * tau_bar * alpha_max * beta_gh * L_1**2)


def _eta_v_largest_repaired(*, alpha_max: float, L_1: float, **_: float) -> float:
    """Largest eta_v with eta_v alpha_max L_1 <= 1, which Lemma 2 needs; (39) has no bound of eta_v at all."""
    return 1 / (alpha_max * L_1)


def _c_gamma_y_interval(
    *,
    rho: float,
    gamma_x: float,
    P: float,
    beta_max: float,
    L_1: float,
    mu_g: float,
    c_gamma_v: float,
    **p: float,
) -> tuple[float, float]:
    """Smallest and largest c_gamma_y that (38) and (39) admit for given rho gamma_x and c_gamma_v.

    Below: the circle with K_1 and terms 9, 10, 12 of (39).  Above: terms 6 and 8.  Empty when the first exceeds the
    second, as it does for a rho gamma_x that is too large.
    """
    q = {"P": P, "beta_max": beta_max, "L_1": L_1, "mu_g": mu_g, "c_gamma_v": c_gamma_v, **p}
    s = rho * gamma_x
    room = 1 / (8 * s) - _K_2(**q) * (_L_v(**q) ** 2 + _L_vx(**q) / 2)
    low = max(
        _c_gamma_y_smallest(**q),
        36 * s * beta_max * _A(**q) * (_L_v(**q) ** 2 + _L_yx(**q) / 2) / (P * mu_g),
        4 * s * _L_yx(**q) * _B(**q) / mu_g,
        _A_1(**q) * (_L_y(**q) ** 2 + _L_yx(**q) / 2) / room if room > 0 else math.inf,
    )
    return low, min(4 / s, mu_g / (12 * s) / _lower_bracket(**q))


def _c_gamma_v_interval(
    *,
    rho: float,
    gamma_x: float,
    P: float,
    beta_max: float,
    L_1: float,
    mu_g: float,
    c_gamma_y: float,
    **p: float,
) -> tuple[float, float]:
    """Smallest and largest c_gamma_v that (38) and (39) admit for given rho gamma_x and c_gamma_y.

    Below: the circle with K_2 and terms 3, 11, 12 of (39).  Above: terms 1, 2 and 7; term 2 is the smallest.
    """
    q = {"P": P, "beta_max": beta_max, "L_1": L_1, "mu_g": mu_g, "c_gamma_y": c_gamma_y, **p}
    s = rho * gamma_x
    v_curve = _L_v(**q) ** 2 + _L_vx(**q) / 2
    room = 1 / (8 * s) - _K_1(**q) * (_L_y(**q) ** 2 + _L_yx(**q) / 2)
    low = max(
        _c_gamma_v_smallest(**q),
        36 * s * L_1**2 * beta_max * v_curve / (P * mu_g),
        4 * s * _L_vx(**q) * _B(**q) / mu_g,
        6 * L_1**2 / mu_g * v_curve / room if room > 0 else math.inf,
    )
    return low, min(mu_g / (12 * L_1**2 * s), mu_g / (36 * L_1**2 * s) / (2 * beta_max / P + 3), 4 / s)


def _c_gamma_y_largest(**p: float) -> float:
    """Largest c_gamma_y that (39) admits for given rho gamma_x (upper end of ``_c_gamma_y_interval``)."""
    return _c_gamma_y_interval(**p)[1]


def _c_gamma_v_largest(**p: float) -> float:
    """Largest c_gamma_v that (39) admits for given rho gamma_x (upper end of ``_c_gamma_v_interval``)."""
    return _c_gamma_v_interval(**p)[1]


# --- Main text: Propositions 1-3 -----------------------------------------------------------------------------------


def _proposition_1(**p: float) -> float:
    """Bound of |v_i^{t,k}|; main text Proposition 1, Appendix Lemma 2, proof (12).

    Left side: the norm (not squared) of the local v after k = 1, ..., tau_i steps; r_i names it.  Assumptions 1, 2.
    Weights: none.  Silently: (12) bounds the sampled gradient and Hessian, so the bounds |grad_y f_i(.; psi)| <= L_f
    and mu_g I <= Hess_yy g_i(.; psi) <= L I are needed for each sample, eta_v a_i^k <= 1 / L (nowhere in (39)), and
    |v^(0)| <= r.  Used in Lemmas 3, 5, 8, 9, 10.  Main text and appendix agree.
    """
    return _r_max(**p)


def _proposition_1_repaired(**p: float) -> float:
    """Return r: under the same hypotheses the local v never leaves the server's ball.

    (12) reads |v'| <= (1 - c) |v| + c L_f / mu_g with one and the same c = eta_v a_i^k mu_g in [0, 1], so |v| <= r
    gives |v'| <= r.  The printed bound is true but loose by 1 + alpha_max / alpha_min >= 2; the loss comes from
    replacing a_i^k by alpha_min in one place and alpha_max in the other.
    """
    return _r(**p)


def _conditions_proposition_1_repaired(*, eta_v: float, **p: float) -> Pairs:
    """eta_v alpha_max L_1 <= 1, which makes |I - eta_v a Hess| <= 1 - eta_v a mu_g; missing in the paper."""
    return [(eta_v, _eta_v_largest_repaired(**p))]


def _proposition_2(
    *,
    rho: float,
    gamma_x: float,
    gamma_v: float,
    mu_g: float,
    delta_t1_prime: float,
    gap_y: float,
    gap_v: float,
    aggregate_v: float,
    aggregate_x: float,
    mean_x: float,
    drift_x: float,
    drift_y: float,
    drift_v: float,
    **p: float,
) -> float:
    """One round of v, main text form (unnumbered display).

    Left side: E |v^(t+1) - v~*(x^(t+1))|^2 - E |v^(t) - v~*(x^(t))|^2.  Weights w.  Assumptions 1-3.  The main text
    defines neither delta'_t nor delta'_{t,1}; the definition below (32) is used.  Differs from the second part of
    Lemma 10: L_vx / 4 and 2 L_v / delta'_{t,1} here against L_vx / 2 and 4 L_v / delta'_{t,1} there.  The derivation
    in the appendix gives L_vx / 2, so the main text is stronger than what is proved.
    """
    q = {"mu_g": mu_g, **p}
    s = rho * gamma_x
    delta = delta_t1_prime + _L_vx(**q) * _B(**q) * s**2 / 2
    step = rho * gamma_v
    return (
        (delta - step * mu_g - delta * step * mu_g) * gap_v
        + (1 + delta) * step**2 * aggregate_v
        + (1 + delta) * step * 4 * _L_R(**q) ** 2 / mu_g * (drift_x + drift_y + drift_v)
        + (1 + delta) * step * 4 * _L_R(**q) ** 2 / mu_g * gap_y
        + s**2 * (_L_v(**q) ** 2 + _L_vx(**q) / 4) * aggregate_x
        + s**2 * 2 * _L_v(**q) / delta_t1_prime * mean_x
    )


def _proposition_3(*, eta_v: float, tau_bar: float, **p: float) -> float:
    """Drift of v; the second line of Lemma 8.

    Left side: drift_v, with k running from 1 to tau_i - 1 (k = 0 contributes nothing).  Weights w.  Names Assumptions
    1 and 2, uses 3 as well (sigma_f, sigma_gg) and Lemma 2.  False for large tau_bar, see ``_lemma_8_x_repaired``.
    """
    return eta_v**2 * tau_bar * _sigma_M1_sq(**p)


def _proposition_3_repaired(*, eta_v: float, tau_bar: float, **p: float) -> float:
    """Drift of v with the factor |a_i|_1 restored, see ``_lemma_8_x_repaired``."""
    return eta_v**2 * tau_bar * _sigma_M1_sq_repaired(tau_bar=tau_bar, **p)


# --- Appendix C: Lemmas 1-6 ----------------------------------------------------------------------------------------


def _lemma_1(*, L_f: float, mu_g: float, **_: float) -> float:
    """Bound of |v*|^2.

    Left side: the square of the minimizer of R(x, y*, .).  Assumptions 1, 2.  Stated for the weights p, used for w
    (the proof does not care).  Right.  Used in Lemmas 6, 7.
    """
    return L_f**2 / mu_g**2


def _lemma_3(*, dx2: float, dy2: float, **p: float) -> float:
    """Lipschitz bound of grad_v R_i in (x, y) for fixed v, |v| <= r_max.

    Left side: |grad_v R_i(x1, y1, v) - grad_v R_i(x2, y2, v)|^2.  Assumptions 1, 2, silently Lemma 2.  No weights.
    Right.  Also states mu_g-strong convexity of R_i in v.  Lemma 10 uses L_R for a change of v as well, which this
    lemma does not cover; Lemma 6 and 3 A <= 2 L_R^2 close the gap.
    """
    return _L_R(**p) ** 2 * (dx2 + dy2)


def _lemma_4_surrogate(*, dy2: float, **p: float) -> float:
    """First inequality of Lemma 4: |surrogate(x, y) - grad Phi(x)|^2 with dy2 = |y - y*(x)|^2.

    Printed with grad f(x, y) on the left; meant is the surrogate with v = [G_yy(x, y)]^(-1) F_y(x, y).  Weights p,
    used for w.  Assumptions 1, 2 (3 is named but not needed).
    """
    return _L_tilde(**p) ** 2 * dy2


def _lemma_4_gradient(*, dx2: float, **p: float) -> float:
    """|grad Phi(x1) - grad Phi(x2)|^2.  Used in Lemma 7, there as L_Phi^2 / 2 in place of L_Phi / 2."""
    return _L_Phi(**p) ** 2 * dx2


def _lemma_4_y(*, dx2: float, **p: float) -> float:
    """|y*(x1) - y*(x2)|^2.  Used in (36)."""
    return _L_y(**p) ** 2 * dx2


def _lemma_4_y_jacobian(*, dx2: float, **p: float) -> float:
    """|Jac y*(x1) - Jac y*(x2)|^2.  Used in (30)."""
    return _L_yx(**p) ** 2 * dx2


def _lemma_4_v(*, dx2: float, **p: float) -> float:
    """|v*(x1) - v*(x2)|^2.  Used in (32)."""
    return _L_v(**p) ** 2 * dx2


def _lemma_4_v_jacobian(*, dx2: float, **p: float) -> float:
    """|Jac v*(x1) - Jac v*(x2)|^2, proof (14)-(18).  Used in (32).  False in general: (15) does not hold."""
    return _L_vx(**p) ** 2 * dx2


def _lemma_4_v_jacobian_repaired(*, dx2: float, **p: float) -> float:
    """|Jac v*(x1) - Jac v*(x2)|^2 with the constant of ``_L_vx_repaired``."""
    return _L_vx_repaired(**p) ** 2 * dx2


def _lemma_5_g(*, beta_gh: float, L_1: float, sigma_gh: float, gap_y: float, **_: float) -> float:
    """sum_i w_i |grad_y g_i(x, y)|^2 with gap_y = |y - y*(x)|^2.

    Names Assumption 2 and Lemma 2, uses Assumption 4.  "Any weights" is too much: Assumption 4 has to hold for them
    and y* has to be the minimizer for the same weights.  Right otherwise.  Used in Lemmas 8, 9, both times with a
    factor lost (beta_gh^2 in Lemma 8, L_1^2 in Lemma 9).
    """
    return beta_gh**2 * L_1**2 * gap_y + sigma_gh**2


def _lemma_5_bounded(*, L_f: float, L_1: float, **p: float) -> float:
    """sum_i w_i |grad_v R_i|^2 and sum_i w_i |surrogate f_i|^2, for |v| <= r_max.  Right.  Used in Lemmas 9, 10."""
    return 2 * _r_max(L_f=L_f, **p) ** 2 * L_1**2 + 2 * L_f**2


def _lemma_6_f(*, L_1: float, dx2: float, dy2: float, dv2: float, **p: float) -> float:
    """Delta_f = Delta_R of Lemma 6.

    Left sides: |surrogate f_i(x, y, v) - surrogate f_i(x_i, y_i, v_i)|^2 and the same for grad_v R_i (the second
    grad is printed without its v), between the server's point and the local one.  No weights.  Assumption 2; Lemma 1
    is cited for |v^(t)| <= r, the reason is the projection.  Right.  Used in Lemmas 7, 9 and (22).
    """
    return 3 * _A(L_1=L_1, **p) * (dx2 + dy2) + 3 * L_1**2 * dv2


def _lemma_6_g(*, L_1: float, dx2: float, dy2: float, **_: float) -> float:
    """Delta_g of Lemma 6.  Right."""
    return L_1**2 * (dx2 + dy2)


# --- Appendix D.1: Lemma 7 -----------------------------------------------------------------------------------------


def _lemma_7(
    *,
    rho: float,
    gamma_x: float,
    L_1: float,
    gradient: float,
    mean_x: float,
    gap_y: float,
    gap_v: float,
    drift_f: float,
    aggregate_x: float,
    **p: float,
) -> float:
    """Descent of Phi~, proof (19).

    Left side: E Phi~(x^(t+1)) - E Phi~(x^(t)).  Weights w, for Phi~, y~*, v~* and h~.  Names Assumption 1, uses 2 and
    Lemmas 1, 4, 6.  The last square is printed without its expectation and v^(x^(t)) stands for v^(t).  Re-derived:
    6 A, 3 L_1^2 and 3/2 are right.  Slip: L_Phi^2 / 2 must be L_Phi / 2; as printed the lemma fails when L_Phi < 1.
    """
    q = {"L_1": L_1, **p}
    s = rho * gamma_x
    return (
        -s / 2 * (gradient + mean_x)
        + s / 2 * (6 * _A(**q) * gap_y + 3 * L_1**2 * gap_v)
        + 3 * s / 2 * drift_f
        + _L_Phi(**q) ** 2 * s**2 / 2 * aggregate_x
    )


def _lemma_7_repaired(*, rho: float, gamma_x: float, aggregate_x: float, **p: float) -> float:
    """Descent of Phi~ with L_Phi / 2: the descent lemma of an L-smooth function has L / 2, not L^2 / 2.

    Counterexample to the printed form: f_i = f(x) alone with curvature L_1 < 1/16 and mu_g = L_1, L_2 small; then
    L_Phi = 4 L_1 and L_Phi^2 < L_1.
    """
    s = rho * gamma_x
    printed = _lemma_7(rho=rho, gamma_x=gamma_x, aggregate_x=aggregate_x, **p)
    return printed + (_L_Phi(**p) - _L_Phi(**p) ** 2) * s**2 / 2 * aggregate_x


# --- Appendix D.2: Lemma 8, eqs (20)-(22) --------------------------------------------------------------------------


def _lemma_8_x(*, eta_x: float, tau_bar: float, **p: float) -> float:
    """drift_x, first line of Lemma 8.

    Weights w.  Names Assumptions 1, 2, 4, uses 3 and Lemma 2.  "As an easier case": not proved.  False for large
    tau_bar, see the repaired form.  Used in (22), (41).
    """
    return eta_x**2 * tau_bar * _sigma_M1_sq(**p)


def _lemma_8_x_repaired(*, eta_x: float, tau_bar: float, **p: float) -> float:
    """drift_x with every factor, in the printed shape eta_x^2 tau_bar sigma_M1^2 with the repaired sigma_M1.

    (a) of (20) bounds |sum_j a_j u_j|^2 by sum_j a_j |u_j|^2; Jensen gives |a_i|_1 times that.  So the part of the
    means is of order eta_x^2 tau_bar^2, not eta_x^2 tau_bar.  Deterministic counterexample: f_i linear in x with slope
    L_f, g_i without xy part, mu_g = L_1, a = 1, tau = 20: drift 123.5 eta_x^2 L_f^2 against 100 eta_x^2 L_f^2.
    Further: noise and mean are not orthogonal (the later means depend on the earlier noise), a factor 2; the two
    stochastic parts of the surrogate share a sample, another factor 2 on the noise, the 2 of Lemma 5 on the mean;
    |a_i|_2^2 <= alpha_max |a_i|_1 <= c_a tau_bar alpha_max^2, where (b) of (20) has no c_a.
    Result: 4 eta_x^2 [c_a tau_bar alpha_max^2 (sigma_f^2 + r_max^2 sigma_gg^2)
    + c_a^2 tau_bar^2 alpha_max^2 (L_f^2 + r_max^2 L_1^2)].
    """
    return eta_x**2 * tau_bar * _sigma_M1_sq_repaired(tau_bar=tau_bar, **p)


def _lemma_8_y(
    *,
    eta_x: float,
    eta_y: float,
    tau_bar: float,
    c_a: float,
    alpha_max: float,
    L_1: float,
    sigma_g: float,
    sigma_gh: float,
    gap_y: float,
    **p: float,
) -> float:
    """drift_y, third line of Lemma 8, proof (20).

    Weights w; y* is y~*.  Assumptions 1-4.  Silently 2 eta_y^2 c_a tau_bar alpha_max L_1^2 < 1.  Besides the factor
    of ``_lemma_8_x_repaired``, beta_gh^2 of Assumption 4 is lost in (b).  Used in (21), (22).
    """
    q = {"alpha_max": alpha_max, "L_1": L_1, **p}
    inner = (
        alpha_max**2 * sigma_g**2
        + 2 * c_a * alpha_max * L_1**2 * eta_x**2 * tau_bar * _sigma_M1_sq(**q)
        + 2 * c_a * alpha_max * L_1**2 * gap_y
        + 2 * c_a * alpha_max * sigma_gh**2
    )
    return eta_y**2 * tau_bar / (1 - 2 * eta_y**2 * c_a * tau_bar * alpha_max * L_1**2) * inner


def _lemma_8_y_repaired(
    *,
    eta_x: float,
    eta_y: float,
    tau_bar: float,
    c_a: float,
    alpha_max: float,
    beta_gh: float,
    L_1: float,
    sigma_g: float,
    sigma_gh: float,
    gap_y: float,
    **p: float,
) -> float:
    """drift_y with every factor: Y (1 - 4 eta_y^2 S^2 L_1^2) <= 2 eta_y^2 c_a tau_bar alpha_max^2 sigma_g^2 + ...

    S = c_a tau_bar alpha_max bounds |a_i|_1; the rest is 4 eta_y^2 S^2 (L_1^2 drift_x + beta_gh^2 L_1^2 gap_y
    + sigma_gh^2).  Needs 4 eta_y^2 S^2 L_1^2 < 1.
    """
    q = {"alpha_max": alpha_max, "L_1": L_1, "c_a": c_a, "tau_bar": tau_bar, **p}
    S = c_a * tau_bar * alpha_max
    drift_x = _lemma_8_x_repaired(eta_x=eta_x, **q)
    inner = L_1**2 * drift_x + beta_gh**2 * L_1**2 * gap_y + sigma_gh**2
    noise = 2 * eta_y**2 * c_a * tau_bar * alpha_max**2 * sigma_g**2
    return (noise + 4 * eta_y**2 * S**2 * inner) / (1 - 4 * eta_y**2 * S**2 * L_1**2)


def _lemma_8_y_simplified(
    *, eta_y: float, tau_bar: float, c_a: float, alpha_max: float, L_1: float, gap_y: float, **p: float
) -> float:
    """drift_y, third line of (21).  Follows from Lemma 8 under its two conditions (checked)."""
    q = {"c_a": c_a, "alpha_max": alpha_max, "L_1": L_1, **p}
    return 2 * eta_y**2 * tau_bar * _sigma_M2_sq(**q) + 4 * eta_y**2 * tau_bar * c_a * alpha_max * L_1**2 * gap_y


def _lemma_8_y_simplified_repaired(
    *, eta_y: float, tau_bar: float, c_a: float, alpha_max: float, beta_gh: float, L_1: float, gap_y: float, **p: float
) -> float:
    """drift_y, (21) from the repaired Lemma 8 under the repaired conditions."""
    q = {"tau_bar": tau_bar, "c_a": c_a, "alpha_max": alpha_max, "L_1": L_1, **p}
    S = c_a * tau_bar * alpha_max
    return 2 * eta_y**2 * tau_bar * _sigma_M2_sq_repaired(**q) + 8 * eta_y**2 * S**2 * beta_gh**2 * L_1**2 * gap_y


def _lemma_8_f(
    *,
    eta_x: float,
    eta_y: float,
    eta_v: float,
    tau_bar: float,
    c_a: float,
    alpha_max: float,
    L_1: float,
    gap_y: float,
    **p: float,
) -> float:
    """drift_f = drift_R, first part of (22).  Follows from Lemma 6 and (21)."""
    q = {"c_a": c_a, "alpha_max": alpha_max, "L_1": L_1, **p}
    A, M1, M2 = _A(**q), _sigma_M1_sq(**q), _sigma_M2_sq(**q)
    return (
        3 * eta_x**2 * tau_bar * A * M1
        + 3 * eta_v**2 * tau_bar * L_1**2 * M1
        + 6 * eta_y**2 * tau_bar * A * M2
        + 12 * eta_y**2 * tau_bar * A * c_a * alpha_max * L_1**2 * gap_y
    )


def _lemma_8_g(
    *,
    eta_x: float,
    eta_y: float,
    tau_bar: float,
    c_a: float,
    alpha_max: float,
    L_1: float,
    gap_y: float,
    **p: float,
) -> float:
    """drift_g, second part of (22).  Follows from Lemma 6 and (21)."""
    q = {"c_a": c_a, "alpha_max": alpha_max, "L_1": L_1, **p}
    return (
        eta_x**2 * tau_bar * L_1**2 * _sigma_M1_sq(**q)
        + 2 * eta_y**2 * tau_bar * L_1**2 * _sigma_M2_sq(**q)
        + 4 * eta_y**2 * tau_bar * c_a * alpha_max * L_1**4 * gap_y
    )


def _conditions_lemma_8(
    *, eta_x: float, eta_y: float, tau_bar: float, c_a: float, alpha_max: float, L_1: float, **_: float
) -> Pairs:
    """The two conditions above (21)."""
    return [
        (2 * eta_x**2 * tau_bar * c_a * alpha_max * L_1**2, 1.0),
        (4 * eta_y**2 * c_a * tau_bar * alpha_max * L_1**2, 1.0),
    ]


def _conditions_lemma_8_repaired(
    *, eta_x: float, eta_y: float, eta_v: float, tau_bar: float, c_a: float, alpha_max: float, L_1: float, **_: float
) -> Pairs:
    """What the repaired (21) needs, and the bound of eta_v for Lemma 2."""
    S = c_a * tau_bar * alpha_max
    return [
        (4 * eta_x**2 * S**2 * L_1**2, 1.0),
        (8 * eta_y**2 * S**2 * L_1**2, 1.0),
        (eta_v * alpha_max * L_1, 1.0),
    ]


# --- Appendix D.3: Lemma 9, eqs (23)-(28) --------------------------------------------------------------------------


def _sampling(n: float, P: float) -> float:
    """(n - P) / (P (n - 1))."""
    return (n - P) / (P * (n - 1))


def _lemma_9_identity(*, n: float, P: float, mean_x: float, squares: float, **_: float) -> float:
    """(24): E |sum_{i in C} w~_i z_i|^2 for P of n clients without replacement, z independent of C.

    mean_x = |sum_i w_i z_i|^2, squares = sum_i w_i^2 |z_i|^2.  An identity, right (checked by enumeration); the steps
    above it mix h and h~.
    """
    return n * (P - 1) / (P * (n - 1)) * mean_x + n * _sampling(n, P) * squares


def _noise(*, n: float, P: float, sigma_f: float, sigma_gg: float, noise_weight: float, noise_weight_r: float) -> float:
    """2 (n / P) sum_i w_i^2 |a_i|_2^2 / |a_i|_1^2 (sigma_f^2 + r_i^2 sigma_gg^2)."""
    return 2 * n / P * (noise_weight * sigma_f**2 + noise_weight_r * sigma_gg**2)


def _lemma_9_x(
    *,
    n: float,
    P: float,
    beta_max: float,
    sigma_f: float,
    sigma_gg: float,
    noise_weight: float,
    noise_weight_r: float,
    mean_x: float,
    drift_f_sq: float,
    **p: float,
) -> float:
    """aggregate_x, proof (23)-(25).

    Weights w.  Names Assumptions 1-3, uses Lemmas 5, 6.  The second equality of (23) is wrong: h - h~ of client i is
    correlated with h~ of the same client, since later local iterates contain the earlier noise (no harm for
    tau_i = 1).  The 2 in front is for the shared sample of the two stochastic parts.  Used in (41).
    """
    noise = _noise(
        n=n, P=P, sigma_f=sigma_f, sigma_gg=sigma_gg, noise_weight=noise_weight, noise_weight_r=noise_weight_r
    )
    return (
        noise
        + n * (P - 1) / (P * (n - 1)) * mean_x
        + 2 * n * _sampling(n, P) * drift_f_sq
        + 4 * _sampling(n, P) * beta_max * _B(**p)
    )


def _lemma_9_x_repaired(*, n: float, P: float, drift_f_sq: float, **p: float) -> float:
    """aggregate_x with the cross term of (23).

    Different clients stay orthogonal; for one client 2 E <h - h~, h~> = 2 E <h - h~, h~ - surrogate f_i(x^(t), ...)>
    <= E |h - h~|^2 + the average of Delta_f.  This doubles the noise and adds (n / P) drift_f_sq.
    """
    noise = {k: p[k] for k in ("sigma_f", "sigma_gg", "noise_weight", "noise_weight_r")}
    return _lemma_9_x(n=n, P=P, drift_f_sq=drift_f_sq, **p) + _noise(n=n, P=P, **noise) + n / P * drift_f_sq


def _lemma_9_y(
    *,
    n: float,
    P: float,
    beta_max: float,
    beta_gh: float,
    L_1: float,
    sigma_g: float,
    sigma_gh: float,
    noise_weight: float,
    drift_g: float,
    drift_g_sq: float,
    gap_y: float,
    **_: float,
) -> float:
    """aggregate_y, proof (26), (27).

    Weights w, y* is y~*.  Names Assumptions 1-3, uses 4.  Slip: beta_gh^2 in front of gap_y lacks the L_1^2 of
    Lemma 5 (dimensions); fails for instance with P = 1, equal g_i and one large w_i.  n (P - 1) / (P (n - 1)) <= 1 is
    dropped.  Equality in (23) as for x.  Used in (41).
    """
    return (
        n / P * noise_weight * sigma_g**2
        + 2 * _sampling(n, P) * beta_max * sigma_gh**2
        + 2 * n * _sampling(n, P) * drift_g_sq
        + 3 * drift_g
        + (2 * _sampling(n, P) * beta_max * beta_gh**2 + 3 * L_1**2) * gap_y
    )


def _lemma_9_y_repaired(
    *,
    n: float,
    P: float,
    beta_max: float,
    beta_gh: float,
    L_1: float,
    sigma_g: float,
    sigma_gh: float,
    noise_weight: float,
    drift_g: float,
    drift_g_sq: float,
    gap_y: float,
    **_: float,
) -> float:
    """aggregate_y with beta_gh^2 L_1^2 and with the cross term of (23)."""
    return (
        2 * n / P * noise_weight * sigma_g**2
        + 2 * _sampling(n, P) * beta_max * sigma_gh**2
        + (2 * n * _sampling(n, P) + n / P) * drift_g_sq
        + 3 * drift_g
        + (2 * _sampling(n, P) * beta_max * beta_gh**2 * L_1**2 + 3 * L_1**2) * gap_y
    )


def _lemma_9_v(
    *,
    n: float,
    P: float,
    beta_max: float,
    L_1: float,
    sigma_f: float,
    sigma_gg: float,
    noise_weight: float,
    noise_weight_r: float,
    drift_R: float,
    drift_R_sq: float,
    gap_v: float,
    **p: float,
) -> float:
    """aggregate_v, (28), "similarly".

    Weights w.  Names Assumptions 1-3.  Not similar: grad_v R~(x, y, v*) is not zero at y = y^(t), only at y = y*, so
    a term with gap_y is missing.  Counterexample: v^(t) = v~*, y^(t) != y~*, no noise, no drift, P = n.
    """
    q = {"L_1": L_1, **p}
    noise = _noise(
        n=n, P=P, sigma_f=sigma_f, sigma_gg=sigma_gg, noise_weight=noise_weight, noise_weight_r=noise_weight_r
    )
    return (
        noise
        + 4 * _sampling(n, P) * beta_max * _B(**q)
        + 2 * n * _sampling(n, P) * drift_R_sq
        + 3 * drift_R
        + 3 * L_1**2 * gap_v
    )


def _lemma_9_v_repaired(*, n: float, P: float, drift_R_sq: float, gap_y: float, **p: float) -> float:
    """aggregate_v with 3 L_R^2 gap_y (change of y at v = v~*, Lemma 3) and with the cross term of (23)."""
    noise = {k: p[k] for k in ("sigma_f", "sigma_gg", "noise_weight", "noise_weight_r")}
    printed = _lemma_9_v(n=n, P=P, drift_R_sq=drift_R_sq, **p)
    return printed + _noise(n=n, P=P, **noise) + n / P * drift_R_sq + 3 * _L_R(**p) ** 2 * gap_y


# --- Appendix D.4: Lemma 10, eqs (29)-(36) -------------------------------------------------------------------------


def _lemma_10_y(
    *,
    rho: float,
    gamma_x: float,
    gamma_y: float,
    mu_g: float,
    L_1: float,
    delta_t1: float,
    gap_y: float,
    aggregate_y: float,
    aggregate_x: float,
    mean_x: float,
    drift_x: float,
    drift_y: float,
    **p: float,
) -> float:
    """One round of y, first part of Lemma 10, proof (29)-(36).

    Left side: E |y^(t+1) - y~*(x^(t+1))|^2 - E |y^(t) - y~*(x^(t))|^2.  Weights w.  Assumptions 1-3, Lemmas 4, 5; any
    delta_{t,1} > 0, delta_t = delta_{t,1} + L_yx (r_max^2 L_1^2 + L_f^2) (rho gamma_x)^2 / 2 as defined below (30).
    Right: (33)-(36); (34) prints the wrong difference in (a), (35) "=" for "<=", and both have a spare factor 2.
    Doubts, all in (30): L_y must be L_y^2 (the printed 4 L_y is enough only up to L_y = 4); the line before the
    definition of delta_t has no 1/2; y^(t+1) and x^(t+1) share clients and local paths, so the mean of x^(t+1) - x^(t)
    may not be taken inside the product; products of expectations stand where only Cauchy-Schwarz is available; the
    bound of |x^(t+1) - x^(t)|^2 ignores noise and the weights w~.  See the repaired form.  Used in (41).
    """
    q = {"mu_g": mu_g, "L_1": L_1, **p}
    s, step = rho * gamma_x, rho * gamma_y
    delta = delta_t1 + _L_yx(**q) * _B(**q) * s**2 / 2
    return (
        (delta - step * mu_g - delta * step * mu_g) * gap_y
        + (1 + delta) * step**2 * aggregate_y
        + (1 + delta) * step * 2 * L_1**2 / mu_g * (drift_x + drift_y)
        + s**2 * (_L_y(**q) ** 2 + _L_yx(**q) / 2) * aggregate_x
        + s**2 * 4 * _L_y(**q) / delta_t1 * mean_x
    )


def _lemma_10_y_repaired(
    *,
    rho: float,
    gamma_x: float,
    gamma_y: float,
    mu_g: float,
    L_1: float,
    beta_max: float,
    delta_t1: float,
    gap_y: float,
    aggregate_y: float,
    aggregate_x: float,
    mean_x: float,
    drift_x: float,
    drift_y: float,
    **p: float,
) -> float:
    """One round of y with what the correlation costs.

    The inner product splits into the product of conditional means, which gives L_y^2 / delta_{t,1} on mean_x, and a
    covariance of at most (rho gamma_y)^2 aggregate_y + L_y^2 (rho gamma_x)^2 aggregate_x; hence 2 + delta_t and
    2 L_y^2.  For the remainder |x^(t+1) - x^(t)|^2 <= beta_max^2 2 (r_max^2 L_1^2 + L_f^2) (rho gamma_x)^2 has to hold
    surely (each sampled surrogate bounded), hence delta_t = delta_{t,1} + L_yx beta_max^2 (...) (rho gamma_x)^2.
    Counterexamples to the printed form: L_yx near 0 and L_y about 40 (the missing square); n = 2, P = 1,
    y^(t) = y~*, no noise, no drift, opposite client gradients (the correlation).
    """
    q = {"mu_g": mu_g, "L_1": L_1, **p}
    s, step = rho * gamma_x, rho * gamma_y
    delta = delta_t1 + _L_yx(**q) * beta_max**2 * _B(**q) * s**2
    return (
        (delta - step * mu_g - delta * step * mu_g) * gap_y
        + (2 + delta) * step**2 * aggregate_y
        + (1 + delta) * step * 2 * L_1**2 / mu_g * (drift_x + drift_y)
        + s**2 * (2 * _L_y(**q) ** 2 + _L_yx(**q) / 2) * aggregate_x
        + s**2 * _L_y(**q) ** 2 / delta_t1 * mean_x
    )


def _lemma_10_v(
    *,
    rho: float,
    gamma_x: float,
    gamma_v: float,
    mu_g: float,
    delta_t1_prime: float,
    gap_y: float,
    gap_v: float,
    aggregate_v: float,
    aggregate_x: float,
    mean_x: float,
    drift_x: float,
    drift_y: float,
    drift_v: float,
    **p: float,
) -> float:
    """One round of v, second part of Lemma 10, with delta'_t as below (32).

    Left side as in Proposition 2, from which it differs by L_vx / 2 and 4 L_v.  Weights w.  The projection is
    nonexpansive and v~* lies in the ball (Lemma 1 for w).  4 L_R^2 / mu_g is right for the drift and for gap_y.  The
    doubts of the first part apply, with L_v^2 for L_v.  Used in (41).
    """
    q = {"mu_g": mu_g, **p}
    s, step = rho * gamma_x, rho * gamma_v
    delta = delta_t1_prime + _L_vx(**q) * _B(**q) * s**2 / 2
    return (
        (delta - step * mu_g - delta * step * mu_g) * gap_v
        + (1 + delta) * step**2 * aggregate_v
        + (1 + delta) * step * 4 * _L_R(**q) ** 2 / mu_g * (drift_x + drift_y + drift_v)
        + (1 + delta) * step * 4 * _L_R(**q) ** 2 / mu_g * gap_y
        + s**2 * (_L_v(**q) ** 2 + _L_vx(**q) / 2) * aggregate_x
        + s**2 * 4 * _L_v(**q) / delta_t1_prime * mean_x
    )


def _lemma_10_v_repaired(
    *,
    rho: float,
    gamma_x: float,
    gamma_v: float,
    mu_g: float,
    beta_max: float,
    delta_t1_prime: float,
    gap_y: float,
    gap_v: float,
    aggregate_v: float,
    aggregate_x: float,
    mean_x: float,
    drift_x: float,
    drift_y: float,
    drift_v: float,
    **p: float,
) -> float:
    """One round of v, repaired like the first part; the repaired L_vx of Lemma 4 enters."""
    q = {"mu_g": mu_g, **p}
    s, step = rho * gamma_x, rho * gamma_v
    delta = delta_t1_prime + _L_vx_repaired(**q) * beta_max**2 * _B(**q) * s**2
    return (
        (delta - step * mu_g - delta * step * mu_g) * gap_v
        + (2 + delta) * step**2 * aggregate_v
        + (1 + delta) * step * 4 * _L_R(**q) ** 2 / mu_g * (drift_x + drift_y + drift_v + gap_y)
        + s**2 * (2 * _L_v(**q) ** 2 + _L_vx_repaired(**q) / 2) * aggregate_x
        + s**2 * _L_v(**q) ** 2 / delta_t1_prime * mean_x
    )


# --- Appendix D.5: Lyapunov function, eqs (37), (41)-(45) ----------------------------------------------------------


def _lyapunov(*, value: float, gap_y: float, gap_v: float, **p: float) -> float:
    """Psi(x^(t)) of (37), with value = E Phi~(x^(t)).  Weights w.  It depends on y^(t) and v^(t) as well."""
    return value + _K_1(**p) * gap_y + _K_2(**p) * gap_v


def _lyapunov_sync(
    *,
    n: float,
    P: float,
    rho: float,
    gamma_x: float,
    c_gamma_y: float,
    sigma_f: float,
    sigma_g: float,
    sigma_gg: float,
    noise_weight: float,
    noise_weight_r: float,
    **p: float,
) -> float:
    """epsilon_sync of (42).  The sigma_g part lacks 1 + delta_t."""
    q = {"c_gamma_y": c_gamma_y, **p}
    noise = _noise(
        n=n, P=P, sigma_f=sigma_f, sigma_gg=sigma_gg, noise_weight=noise_weight, noise_weight_r=noise_weight_r
    )
    lower = _K_1(**q) * c_gamma_y**2 * n / P * noise_weight * sigma_g**2
    return (rho * gamma_x) ** 2 * (_bracket(**q) * noise + lower)


def _lyapunov_part(*, n: float, P: float, rho: float, gamma_x: float, **p: float) -> float:
    """epsilon_part of (43), equal to 2 (rho gamma_x)^2 (n - P) / (P (n - 1)) M_1; sigma_gh lacks 1 + delta_t."""
    return 2 * (rho * gamma_x) ** 2 * _sampling(n, P) * _M_1(**p)


def _drift_factors(
    *, eta_x: float, eta_y: float, eta_v: float, tau_bar: float, M1: float, M2: float
) -> tuple[float, float]:
    """(eta_x^2 + eta_v^2) tau_bar sigma_M1^2 + 2 eta_y^2 tau_bar sigma_M2^2, and the same without eta_v."""
    y = 2 * eta_y**2 * tau_bar * M2
    return (eta_x**2 + eta_v**2) * tau_bar * M1 + y, eta_x**2 * tau_bar * M1 + y


def _lyapunov_drift(
    *,
    P: float,
    beta_max: float,
    rho: float,
    gamma_x: float,
    L_1: float,
    mu_g: float,
    c_gamma_y: float,
    c_gamma_v: float,
    eta_x: float,
    eta_y: float,
    eta_v: float,
    tau_bar: float,
    **p: float,
) -> float:
    """epsilon_cd of (44).  Same slips as M_3: c_gamma_v for c_gamma_y in the K_1 part, no 1 + delta'_t in the last."""
    q = {"L_1": L_1, "mu_g": mu_g, "c_gamma_y": c_gamma_y, "c_gamma_v": c_gamma_v, **p}
    K_1, K_2 = _K_1(**q), _K_2(**q)
    full, without_v = _drift_factors(
        eta_x=eta_x, eta_y=eta_y, eta_v=eta_v, tau_bar=tau_bar, M1=_sigma_M1_sq(**q), M2=_sigma_M2_sq(**q)
    )
    common = 3 / 2 + 24 * K_2 * c_gamma_v + beta_max / P * (17 / 4 + 16 * K_2 * c_gamma_v)
    lower = 4 * c_gamma_y * L_1**2 / mu_g + 8 * c_gamma_v * (2 * beta_max / P + 3) * L_1**2
    total = 3 * common * _A(**q) * full + K_1 * lower * without_v
    return rho * gamma_x * (total + K_2 * c_gamma_v * 4 * _L_R(**q) ** 2 / mu_g * full)


def _lyapunov_descent(*, rho: float, gamma_x: float, gradient: float, **p: float) -> float:
    """Right side of (45), the same as (41); left side Psi(x^(t+1)) - Psi(x^(t)).

    (41) prints "=" at (a) for "<=".  From Lemmas 7-10 as printed and (38), (39) as printed it follows except for
    mean_x (term 5 of (39)) and the lost factors 1 + delta_t named at (42)-(44); c_gamma_v for c_gamma_y in (44) is
    made up for by the spare factor in 4 c_gamma_y L_1^2 / mu_g, since term 8 of (39) is much stronger than term 6.
    """
    q = {"rho": rho, "gamma_x": gamma_x, **p}
    return -rho * gamma_x / 2 * gradient + _lyapunov_part(**q) + _lyapunov_sync(**q) + _lyapunov_drift(**q)


def _lyapunov_descent_repaired(
    *,
    n: float,
    P: float,
    rho: float,
    gamma_x: float,
    gradient: float,
    noise_weight: float,
    eta_x: float,
    eta_y: float,
    eta_v: float,
    tau_bar: float,
    **p: float,
) -> float:
    """(45) from the repaired Lemmas 7-10 under the repaired (39); r_i is replaced by r_max."""
    q = {"P": P, "tau_bar": tau_bar, **p}
    s = rho * gamma_x
    full, _ = _drift_factors(
        eta_x=eta_x,
        eta_y=eta_y,
        eta_v=eta_v,
        tau_bar=tau_bar,
        M1=_sigma_M1_sq_repaired(**q),
        M2=_sigma_M2_sq_repaired(**q),
    )
    return (
        -s / 2 * gradient
        + 2 * s**2 * _sampling(n, P) * _M_1_repaired(**q)
        + s**2 * n / P * noise_weight * _M_2_repaired(**q)
        + s * full * _M_3_repaired(**q)
    )


# --- Theorem 1: eqs (46)-(57) --------------------------------------------------------------------------------------


def _theorem_1_initial(*, T: float, rho_bar: float, gamma_x: float, psi_gap: float, **_: float) -> float:
    """(53): 2 psi_gap / (T rho_bar gamma_x), psi_gap = Psi(x^(0)) - Psi(x^(T)).

    Of order psi_gap / sqrt(P tau_bar T) for gamma_x = sqrt(P / (tau_bar T)) and rho_bar of order tau_bar from below
    too (c_a' tau_bar alpha_min <= rho_bar).  (54) hides psi_gap in M_2, which vanishes without noise.
    """
    return 2 / T * psi_gap / (rho_bar * gamma_x)


def _theorem_1_part(*, n: float, P: float, rho_bar: float, gamma_x: float, **p: float) -> float:
    """(47), (48): 6 M_1 (n - P) / (P (n - 1)) rho_bar gamma_x.  Follows from (43) (checked)."""
    return 6 * _M_1(**p) * _sampling(n, P) * rho_bar * gamma_x


def _theorem_1_sync(
    *,
    P: float,
    tau_bar: float,
    rho_bar: float,
    gamma_x: float,
    beta_max: float,
    alpha_min: float,
    alpha_max: float,
    c_a_prime: float,
    **p: float,
) -> float:
    """(49), (50): 3 alpha_max beta_max / (c_a' alpha_min) rho_bar / (P tau_bar) gamma_x M_2.

    Follows from (42) with |a|_2^2 <= alpha_max |a|_1 and c_a' tau_bar alpha_min <= |a|_1 (checked).
    """
    q = {"P": P, "beta_max": beta_max, "alpha_min": alpha_min, "alpha_max": alpha_max, **p}
    return 3 * alpha_max * beta_max / (c_a_prime * alpha_min) * rho_bar / (P * tau_bar) * gamma_x * _M_2(**q)


def _theorem_1_drift(*, eta_x: float, eta_y: float, eta_v: float, tau_bar: float, **p: float) -> float:
    """(51), (52): 3 ((eta_x^2 + eta_v^2) tau_bar sigma_M1^2 + 2 eta_y^2 tau_bar sigma_M2^2) M_3.

    Follows from (44); 2 would do for 3, since the rho^(t) average to rho_bar.
    """
    full, _ = _drift_factors(
        eta_x=eta_x, eta_y=eta_y, eta_v=eta_v, tau_bar=tau_bar, M1=_sigma_M1_sq(**p), M2=_sigma_M2_sq(**p)
    )
    return 3 * full * _M_3(**p)


def _theorem_1(**p: float) -> float:
    """Theorem 1 with every constant of the appendix: (46) with (48), (50), (52), (53) put in.

    2 [(53) + (48) + (50) + (52)]
    = 4 psi_gap / (T rho_bar gamma_x) + 12 M_1 (n - P) / (P (n - 1)) rho_bar gamma_x
    + 6 alpha_max beta_max rho_bar gamma_x M_2 / (c_a' alpha_min P tau_bar)
    + 6 ((eta_x^2 + eta_v^2) tau_bar sigma_M1^2 + 2 eta_y^2 tau_bar sigma_M2^2) M_3.

    Left side: min_t E |grad Phi~(x^(t))|^2, t < T; the weights are w, so Phi~ is not the given objective.  The leading
    2 of (46) is (a): rho^(t) >= rho_bar / 2; for the minimum over t it is not needed, since the rho^(t) / rho_bar
    average to 1.  Names Assumptions 1-3, uses 4, (38), (39) and
    rho^(t) in [rho_bar / 2, 3 rho_bar / 2].  Silently: psi_gap bounded (Phi~ bounded below); T so large that
    gamma_x of order sqrt(P / (tau_bar T)) meets (39), that is T of order P tau_bar at least.  Follows from (45).
    """
    return 2 * (_theorem_1_initial(**p) + _theorem_1_part(**p) + _theorem_1_sync(**p) + _theorem_1_drift(**p))


def _theorem_1_order_part(*, n: float, P: float, T: float, tau_bar: float, **p: float) -> float:
    """First term of (9), (54), (56) without its constant.

    The proof gives n - 1 where (9) has n; Appendix E prints n - 1.
    """
    return _M_1(P=P, **p) * (n - P) / n * math.sqrt(tau_bar / (P * T))


def _theorem_1_order_sync(*, P: float, T: float, tau_bar: float, **p: float) -> float:
    """Second term of (9), (54)-(56) without its constant; should be M_2 + psi_gap."""
    return _M_2(P=P, **p) * math.sqrt(1 / (P * tau_bar * T))


def _theorem_1_order_drift(*, T: float, tau_bar: float, **p: float) -> float:
    """Third term of (9), (54)-(56) without its constant.

    sigma_M1, sigma_M2 and c_a are taken as constants.  With the repaired Lemma 8, which has eta^2 tau_bar^2, the step
    sizes of (38) give M_3 / T, not M_3 / (tau_bar T); the complexities below (55) and (57) survive.
    """
    return _M_3(**p) / (tau_bar * T)


def _theorem_1_order(**p: float) -> float:
    """Sum of the three terms of (9) with all constants set to 1; an order, not a bound."""
    return _theorem_1_order_part(**p) + _theorem_1_order_sync(**p) + _theorem_1_order_drift(**p)


def _theorem_1_order_partial(*, n: float, P: float, T: float, **p: float) -> float:
    """(57) with all constants set to 1: tau_bar = n / (n - P) in (56), P < n.  M_3 / T for M_3 (n - P) / (n T)."""
    q = {"P": P, **p}
    return (_M_1(**q) + _M_2(**q)) * math.sqrt((n - P) / (n * P * T)) + _M_3(**q) / T


def _theorem_1_repaired(
    *,
    n: float,
    P: float,
    T: float,
    tau_bar: float,
    rho_bar: float,
    gamma_x: float,
    beta_max: float,
    alpha_min: float,
    alpha_max: float,
    c_a_prime: float,
    eta_x: float,
    eta_y: float,
    eta_v: float,
    psi_gap: float,
    **p: float,
) -> float:
    """Theorem 1 from the repaired (45): the printed shape with the repaired M_1, M_2, M_3, sigma_M1, sigma_M2.

    Further hypotheses: Assumption 4; w_i the same in every round; each sample satisfies the bounds of Assumptions 1, 2
    as far as Lemma 2 and the remainder of Lemma 10 need it; conditions as in ``_conditions_stepsizes_repaired``.
    """
    q = {
        "P": P,
        "tau_bar": tau_bar,
        "beta_max": beta_max,
        "alpha_min": alpha_min,
        "alpha_max": alpha_max,
        **p,
    }
    full, _ = _drift_factors(
        eta_x=eta_x,
        eta_y=eta_y,
        eta_v=eta_v,
        tau_bar=tau_bar,
        M1=_sigma_M1_sq_repaired(**q),
        M2=_sigma_M2_sq_repaired(**q),
    )
    synchronization = alpha_max * beta_max / (c_a_prime * alpha_min) * rho_bar / (P * tau_bar) * gamma_x
    return (
        4 * psi_gap / (T * rho_bar * gamma_x)
        + 12 * _M_1_repaired(**q) * _sampling(n, P) * rho_bar * gamma_x
        + 6 * synchronization * _M_2_repaired(**q)
        + 6 * full * _M_3_repaired(**q)
    )


# --- Theorem 2: eqs (58)-(60) --------------------------------------------------------------------------------------


def _theorem_2_factor(*, beta_max_prime: float, beta_min: float, **_: float) -> float:
    """2 [1 + 2 ((beta_max' - beta_min) / beta_min)^2] of (60) and the display after it."""
    return 2 * (1 + 2 * ((beta_max_prime - beta_min) / beta_min) ** 2)


def _theorem_2_distance(
    *,
    L_1: float,
    distance_y: float,
    distance_v: float,
    gradient: float,
    beta_max_prime: float,
    beta_min: float,
    **p: float,
) -> float:
    """(59): bound of |grad Phi(x) - grad Phi~(x)|^2.

    distance_y = |y* - y~*|^2, distance_v = |v* - v~*|^2, gradient = |grad Phi~(x)|^2.  Step (b) is wrong: unequal
    factors (p_i - w_i) / w_i may not be drawn out of the norm of a sum.  With w = p the left side is 0 and the step
    is not needed.
    """
    factor = 2 * ((beta_max_prime - beta_min) / beta_min) ** 2
    return 6 * _A(L_1=L_1, **p) * distance_y + 6 * L_1**2 * distance_v + factor * gradient


def _theorem_2(**p: float) -> float:
    """Theorem 2 with every constant: the factor of (60) times Theorem 1.

    Left side: min_t |grad Phi(x^(t))|^2 (printed without E in the appendix, with E in the main text), for ShroFBO,
    weights p: w_i = p_i and beta_max = beta_max'.  Conditions and step sizes of Theorem 1, Assumption 4 for p.
    Appendix E ends with M_4, defined nowhere (M_3 in the main text), and with n - 1 for n.
    """
    return _theorem_2_factor(**p) * _theorem_1(**p)


def _theorem_2_repaired(**p: float) -> float:
    """Theorem 1 itself, repaired, with w = p.

    ShroFBO is the iteration of Appendix B with w_i = p_i, so Phi~ = Phi and nothing is lost; the detour through
    (58)-(60) and its factor are superfluous.
    """
    return _theorem_1_repaired(**p)


# --- Conditions ----------------------------------------------------------------------------------------------------


def _conditions_stepsizes(
    *,
    rho: float,
    gamma_x: float,
    c_gamma_y: float,
    c_gamma_v: float,
    mu_g: float,
    eta_x: float,
    eta_y: float,
    tau_bar: float,
    c_a: float,
    alpha_max: float,
    L_1: float,
    **p: float,
) -> Pairs:
    """(39) and the two bounds below (38), for one round: twelve terms, eta_x, eta_y (two), c_gamma_y, c_gamma_v.

    Always feasible: take the c_gamma at or above their smallest values and gamma_x small; every term is positive.
    """
    q = {
        "c_gamma_y": c_gamma_y,
        "c_gamma_v": c_gamma_v,
        "mu_g": mu_g,
        "alpha_max": alpha_max,
        "L_1": L_1,
        **p,
    }
    return [
        *((rho * gamma_x, term) for term in _stepsize_terms(**q).values()),
        (eta_x**2 * tau_bar, 1 / (2 * c_a * alpha_max * L_1**2)),
        (eta_y**2 * tau_bar, 1 / (4 * c_a * alpha_max * L_1**2)),
        (eta_y**2 * tau_bar, mu_g**2 / (96 * c_a * alpha_max * L_1**4)),
        (256 * _K_1(**q) * _L_y(**q) / mu_g, c_gamma_y),
        (256 * _K_2(**q) * _L_v(**q) / mu_g, c_gamma_v),
    ]


def _conditions_stepsizes_repaired(
    *,
    rho: float,
    gamma_x: float,
    c_gamma_y: float,
    c_gamma_v: float,
    mu_g: float,
    eta_x: float,
    eta_y: float,
    eta_v: float,
    **p: float,
) -> Pairs:
    """What the repaired (45) needs."""
    q = {"c_gamma_y": c_gamma_y, "c_gamma_v": c_gamma_v, "mu_g": mu_g, **p}
    return [
        *((rho * gamma_x, term) for term in _stepsize_terms_repaired(**q).values()),
        (eta_x, _eta_x_largest_repaired(**q)),
        (eta_y, _eta_y_largest_repaired(**q)),
        (eta_v, _eta_v_largest_repaired(**q)),
        (64 * _K_1(**q) * _L_y(**q) ** 2 / mu_g, c_gamma_y),
        (64 * _K_2(**q) * _L_v(**q) ** 2 / mu_g, c_gamma_v),
    ]


def _conditions_theorem_1(*, rho_bar: float, **p: float) -> Pairs:
    """(39) in every round, at the largest rho^(t) that rho^(t) in [rho_bar / 2, 3 rho_bar / 2] admits."""
    return _conditions_stepsizes(**{**p, "rho": 3 * rho_bar / 2})


def _conditions_theorem_1_repaired(*, rho_bar: float, **p: float) -> Pairs:
    """The repaired (39) in every round, at rho^(t) = 3 rho_bar / 2."""
    return _conditions_stepsizes_repaired(**{**p, "rho": 3 * rho_bar / 2})


# --- Prescribed step sizes -----------------------------------------------------------------------------------------


def _gamma_x_order(*, P: float, T: float, tau_bar: float, **_: float) -> float:
    """gamma_x of (38) with the constant of O() set to 1."""
    return math.sqrt(P / (tau_bar * T))


def _eta_order(*, T: float, tau_bar: float, **_: float) -> float:
    """eta_x, eta_y and eta_v of (38) with the constant of O() set to 1."""
    return 1 / (tau_bar * math.sqrt(T))


def _gamma_y(*, c_gamma_y: float, gamma_x: float, **_: float) -> float:
    """gamma_y = c_gamma_y gamma_x of (38)."""
    return c_gamma_y * gamma_x


def _gamma_v(*, c_gamma_v: float, gamma_x: float, **_: float) -> float:
    """gamma_v = c_gamma_v gamma_x of (38)."""
    return c_gamma_v * gamma_x


def _gamma_x_largest(*, rho_bar: float, **p: float) -> float:
    """Largest gamma_x that (39) admits in every round: the minimum over 3 rho_bar / 2."""
    return _rho_gamma_x_largest(**p) / (3 * rho_bar / 2)


def _gamma_x_largest_repaired(*, rho_bar: float, **p: float) -> float:
    """Largest gamma_x that the repaired (39) admits in every round."""
    return _rho_gamma_x_largest_repaired(**p) / (3 * rho_bar / 2)


def _T_smallest(*, P: float, tau_bar: float, **p: float) -> float:
    """Smallest T for which gamma_x = sqrt(P / (tau_bar T)) of (38) meets (39)."""
    return P / (tau_bar * _gamma_x_largest(P=P, **p) ** 2)


# --- The three tables ----------------------------------------------------------------------------------------------

RIGHT_SIDES: dict[str, dict[str, Callable[..., float]]] = {
    "simfbo/constants": {
        "r": _r,
        "r_max": _r_max,
        "L_R": _L_R,
        "L_tilde": _L_tilde,
        "L_Phi": _L_Phi,
        "L_y": _L_y,
        "L_v": _L_v,
        "L_yx": _L_yx,
        "L_vx": _L_vx,
        "K_1": _K_1,
        "K_2": _K_2,
        "delta": _delta,
        "delta_prime": _delta_prime,
        "M_1": _M_1,
        "M_2": _M_2,
        "M_3": _M_3,
        "sigma_M1": _sigma_M1,
        "sigma_M2": _sigma_M2,
    },
    "simfbo/constants-repaired": {
        "r_max": _proposition_1_repaired,
        "L_vx": _L_vx_repaired,
        "M_1": _M_1_repaired,
        "M_2": _M_2_repaired,
        "M_3": _M_3_repaired,
        "sigma_M1": _sigma_M1_repaired,
        "sigma_M2": _sigma_M2_repaired,
    },
    "simfbo/stepsizes": {"rho_gamma_x": _rho_gamma_x_largest, "eta_x": _eta_x_largest, "eta_y": _eta_y_largest},
    "simfbo/stepsizes-repaired": {
        "rho_gamma_x": _rho_gamma_x_largest_repaired,
        "eta_x": _eta_x_largest_repaired,
        "eta_y": _eta_y_largest_repaired,
        "eta_v": _eta_v_largest_repaired,
    },
    "simfbo/proposition-1": {"main": _proposition_1},
    "simfbo/proposition-1-repaired": {"main": _proposition_1_repaired},
    "simfbo/proposition-2": {"main": _proposition_2},
    "simfbo/proposition-2-repaired": {"main": _lemma_10_v_repaired},
    "simfbo/proposition-3": {"main": _proposition_3},
    "simfbo/proposition-3-repaired": {"main": _proposition_3_repaired},
    "simfbo/lemma-1": {"main": _lemma_1},
    "simfbo/lemma-2": {"main": _proposition_1},
    "simfbo/lemma-2-repaired": {"main": _proposition_1_repaired},
    "simfbo/lemma-3": {"main": _lemma_3},
    "simfbo/lemma-4": {
        "surrogate": _lemma_4_surrogate,
        "gradient": _lemma_4_gradient,
        "y": _lemma_4_y,
        "y_jacobian": _lemma_4_y_jacobian,
        "v": _lemma_4_v,
        "v_jacobian": _lemma_4_v_jacobian,
    },
    "simfbo/lemma-4-repaired": {"v_jacobian": _lemma_4_v_jacobian_repaired},
    "simfbo/lemma-5": {"g": _lemma_5_g, "R": _lemma_5_bounded, "f": _lemma_5_bounded},
    "simfbo/lemma-6": {"f": _lemma_6_f, "g": _lemma_6_g, "R": _lemma_6_f},
    "simfbo/lemma-7": {"main": _lemma_7},
    "simfbo/lemma-7-repaired": {"main": _lemma_7_repaired},
    "simfbo/lemma-8": {
        "x": _lemma_8_x,
        "v": _proposition_3,
        "y": _lemma_8_y,
        "y_simplified": _lemma_8_y_simplified,
        "f": _lemma_8_f,
        "g": _lemma_8_g,
    },
    "simfbo/lemma-8-repaired": {
        "x": _lemma_8_x_repaired,
        "v": _proposition_3_repaired,
        "y": _lemma_8_y_repaired,
        "y_simplified": _lemma_8_y_simplified_repaired,
    },
    "simfbo/lemma-9": {"x": _lemma_9_x, "y": _lemma_9_y, "v": _lemma_9_v, "identity": _lemma_9_identity},
    "simfbo/lemma-9-repaired": {"x": _lemma_9_x_repaired, "y": _lemma_9_y_repaired, "v": _lemma_9_v_repaired},
    "simfbo/lemma-10": {"y": _lemma_10_y, "v": _lemma_10_v},
    "simfbo/lemma-10-repaired": {"y": _lemma_10_y_repaired, "v": _lemma_10_v_repaired},
    "simfbo/lyapunov": {
        "value": _lyapunov,
        "descent": _lyapunov_descent,
        "sync": _lyapunov_sync,
        "part": _lyapunov_part,
        "drift": _lyapunov_drift,
    },
    "simfbo/lyapunov-repaired": {"descent": _lyapunov_descent_repaired},
    "simfbo/theorem-1": {
        "main": _theorem_1,
        "initial": _theorem_1_initial,
        "part": _theorem_1_part,
        "sync": _theorem_1_sync,
        "drift": _theorem_1_drift,
        "order": _theorem_1_order,
        "order_part": _theorem_1_order_part,
        "order_sync": _theorem_1_order_sync,
        "order_drift": _theorem_1_order_drift,
        "order_partial": _theorem_1_order_partial,
    },
    "simfbo/theorem-1-repaired": {"main": _theorem_1_repaired},
    "simfbo/theorem-2": {"main": _theorem_2, "factor": _theorem_2_factor, "distance": _theorem_2_distance},
    "simfbo/theorem-2-repaired": {"main": _theorem_2_repaired},
}

CONDITIONS: dict[str, Callable[..., Pairs]] = {
    "simfbo/stepsizes": _conditions_stepsizes,
    "simfbo/stepsizes-repaired": _conditions_stepsizes_repaired,
    "simfbo/proposition-1-repaired": _conditions_proposition_1_repaired,
    "simfbo/lemma-2-repaired": _conditions_proposition_1_repaired,
    "simfbo/lemma-8": _conditions_lemma_8,
    "simfbo/lemma-8-repaired": _conditions_lemma_8_repaired,
    "simfbo/theorem-1": _conditions_theorem_1,
    "simfbo/theorem-1-repaired": _conditions_theorem_1_repaired,
    "simfbo/theorem-2": _conditions_theorem_1,
    "simfbo/theorem-2-repaired": _conditions_theorem_1_repaired,
}

PRESCRIBED: dict[str, dict[str, Callable[..., float]]] = {
    "simfbo/stepsizes": {
        "c_gamma_y": _c_gamma_y_smallest,
        "c_gamma_v": _c_gamma_v_smallest,
        "c_gamma_y_largest": _c_gamma_y_largest,
        "c_gamma_v_largest": _c_gamma_v_largest,
        "gamma_y": _gamma_y,
        "gamma_v": _gamma_v,
        "gamma_x_largest": _gamma_x_largest,
        "T_smallest": _T_smallest,
    },
    "simfbo/stepsizes-repaired": {
        "c_gamma_y": _c_gamma_y_smallest_repaired,
        "c_gamma_v": _c_gamma_v_smallest_repaired,
        "gamma_y": _gamma_y,
        "gamma_v": _gamma_v,
        "gamma_x_largest": _gamma_x_largest_repaired,
    },
    "simfbo/theorem-1": {
        "gamma_x": _gamma_x_order,
        "gamma_y": _gamma_y,
        "gamma_v": _gamma_v,
        "eta_x": _eta_order,
        "eta_y": _eta_order,
        "eta_v": _eta_order,
    },
    "simfbo/theorem-2": {
        "gamma_x": _gamma_x_order,
        "gamma_y": _gamma_y,
        "gamma_v": _gamma_v,
        "eta_x": _eta_order,
        "eta_y": _eta_order,
        "eta_v": _eta_order,
    },
}
