"""Independent second reading of the FedSUM paper, kept as a test oracle.

The paper is "FedSUM Family: Efficient Federated Learning Methods under Arbitrary Client Participation" (FedSUM-B,
FedSUM and FedSUM-CR).  Every formula below was transcribed from the text of the paper alone, without sight of the
package's own transcription, so that the two can be compared at random points.  The statements are written down as
printed, also where the printed form looks like a slip; a second function, under the key with the suffix
``-repaired``, then gives the form that can be proved, and its docstring says why.

``sigma`` is a square root: the paper prints its square.  With f = (1/N) sum_i f_i, ``Delta_f`` is f(x^(0)) - f* and
``F_0`` is (1/N) sum_i |grad f_i(x^(0))|^2.  a_{i,t} is the last round up to t with client i active (-1 if none),
A_t is the set of clients active at least once up to round t, tau_t = max_i (t - a_{i,t}), ``tau_avg`` is the mean of
tau_t over t = 0, ..., T-1 and ``tau_max`` the maximum.  The paper takes that maximum over 0 <= t <= T, although the
participation S_t, and with it tau_t, is given for t <= T - 1 only.  Every function takes keyword arguments and
ignores those it does not need.

Quantities of the run that occur on right sides:

``aggregate_sum`` (FedSUM-B): sum over t = 0, ..., T-1 of E |sum_{i in A_t} grad f_i(x^(a_{i,t}))|^2.
``local_aggregate_sum`` (FedSUM, FedSUM-CR): sum over t = 0, ..., T-1 of
E |sum_{i in A_t} sum_{k < K} grad f_i(x_i^(a_{i,t},k))|^2.
``aggregate_sum_T`` and ``local_aggregate_sum_T``: the same sums over t = 0, ..., T.

Used silently throughout: f* is finite; the participation sequence is independent of the gradient noise (all
expectations are conditional on it; a sequence that reacts to the noise would break the martingale arguments);
the noises of different clients, rounds and steps are independent; x^(-1) = x^(0), y^(-1) = 0 and h_i^(0) = 0.
The condition tau_max >= 1 is used silently as well: at full participation (tau_max = 0) the step-size rules divide by
zero, and the right sides of the theorems shrink to their noise term, which no finite step size reaches at sigma = 0.
"""

import math
from collections.abc import Callable

Pairs = list[tuple[float, float]]


# --- Shared pieces of the statements -------------------------------------------------------------------------------


def _noise_term(
    delay: float, *, N: float, K: float, T: float, L: float, sigma: float, Delta_f: float, **_: float
) -> float:
    """sqrt(delay L sigma^2 Delta_f) / sqrt(N K T)."""
    return math.sqrt(delay * L * sigma**2 * Delta_f) / math.sqrt(N * K * T)


def _noise_step(numerator: float, *, K: float, T: float, L: float, sigma: float, tau_avg: float, **_: float) -> float:
    """sqrt(numerator) / sqrt(max{1, tau_avg} K T L sigma^2), read as infinity at sigma = 0."""
    if sigma == 0:
        return math.inf
    return math.sqrt(numerator) / math.sqrt(max(1, tau_avg) * K * T * L * sigma**2)


# --- Right sides: Section 4 ----------------------------------------------------------------------------------------


def _theorem_4_1(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    **_: float,
) -> float:
    """Equation (12).

    Left side: the mean over t = 0, ..., T-1 of E[|grad f(x^(t))|^2 | S_0, ..., S_{T-1}], the expectation being over
    the gradient noise alone.  Algorithms: FedSUM-B, FedSUM, FedSUM-CR.  Assumptions 1.1, 1.2; silently those of the
    module docstring.  Step sizes: the prescribed eta_g and eta_l.

    It follows from Theorem G.1, equation (113), by max{1, tau_avg} <= 1 + tau_avg, at a loss between 1 and sqrt(2);
    used for Corollary 4.1 and, by the text, for Corollary G.1.

    Doubts: at tau_max = 0 the rule is undefined and the right side false (no finite run reaches 0 at sigma = 0).
    The rule needs tau_max and tau_avg of the whole sequence before the first round.
    """
    noise = 30 * math.sqrt((1 + tau_avg) * L * sigma**2 * Delta_f) / math.sqrt(N * K * T)
    return noise + 20 * tau_max * (L * Delta_f + F_0) / T


def _theorem_4_1_repaired(*, L: float, T: float, Delta_f: float, F_0: float, tau_max: float, **p: float) -> float:
    """Equation (12) with max{1, tau_max} for tau_max, in the step sizes and on the right side.

    The printed form means nothing at full participation; this one follows from the repaired Theorem G.1 for every
    tau_max >= 0 and agrees with the printed one for tau_max >= 1.
    """
    noise = 30 * _noise_term(1 + p["tau_avg"], L=L, T=T, Delta_f=Delta_f, **p)
    return noise + 20 * max(1, tau_max) * (L * Delta_f + F_0) / T


def _corollary_4_1(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    **_: float,
) -> float:
    """Equation (13); ``tau_max`` and ``tau_avg`` stand for the expectations E[tau_max] and E[tau_avg].

    Left side: the mean over t = 0, ..., T-1 of E |grad f(x^(t))|^2, over noise and participation.  Algorithms:
    FedSUM-B, FedSUM, FedSUM-CR.  Assumptions 1.1, 1.2 and a random participation sequence.

    It follows from Theorem 4.1 by the concavity of the root (with max{1, tau_avg} that step would not do).

    Doubts: the setting is that of Theorem 4.1, so the step sizes are functions of the realised tau_max and tau_avg
    and hence random; with E[tau_max] and E[tau_avg] in the rule the statement does not follow.  A sequence that has
    tau_max = 0 with positive probability leaves the rule undefined on that event.
    """
    noise = 30 * math.sqrt((1 + tau_avg) * L * sigma**2 * Delta_f) / math.sqrt(N * K * T)
    return noise + 20 * tau_max * (L * Delta_f + F_0) / T


def _corollary_4_1_repaired(*, L: float, T: float, Delta_f: float, F_0: float, tau_max: float, **p: float) -> float:
    """Equation (13) with 1 + E[tau_max] for E[tau_max].

    The repaired Theorem 4.1 has max{1, tau_max} <= 1 + tau_max; the event tau_max = 0 is thus covered.
    """
    noise = 30 * _noise_term(1 + p["tau_avg"], L=L, T=T, Delta_f=Delta_f, **p)
    return noise + 20 * (1 + tau_max) * (L * Delta_f + F_0) / T


# --- Right sides: Appendix B ---------------------------------------------------------------------------------------


def _lemma_b_1(*, N: float, K: float, sigma: float, **_: float) -> float:
    """Lemma B.1 (no number).

    Left side: E |sum_{i in A_t} sum_{k < K} [g_i(x^(a_{i,t},k), xi_i^(a_{i,t},k)) - grad f_i(x^(a_{i,t},k))]|^2 for
    one round t, over the noise.  Algorithms: all three (for FedSUM-B the point is x^(a_{i,t}), for the others
    x_i^(a_{i,t},k); the printed point carries no client index).  Assumption 1.2; silently independent noises, and a
    participation sequence independent of them.  No step-size condition.  The proof has the sharper A_t K sigma^2.

    Used in Lemmas C.1, C.5, D.1, D.5, E.1, E.5 and, for sums over rounds, in C.4, D.4, E.4.
    """
    return N * K * sigma**2


# --- Right sides: Appendix C, FedSUM-B -----------------------------------------------------------------------------


def _lemma_c_1(
    *,
    N: float,
    K: float,
    T: float,
    sigma: float,
    eta_g: float,
    eta_l: float,
    aggregate_sum: float,
    **_: float,
) -> float:
    """Lemma C.1, equations (15)-(16).

    Left side: sum over t = 0, ..., T-1 of E |x^(t+1) - x^(t)|^2.  Algorithm: FedSUM-B.  Assumption 1.2 (1.1 is named,
    but not used); any step sizes.  It follows from (14) and Lemma B.1; used for (32) in Lemma C.6.

    Slip in the proof: the last norm of (15) lacks its square.
    """
    product = eta_g * eta_l
    return 2 * product**2 * K * T / N * sigma**2 + 2 * product**2 * K**2 / N**2 * aggregate_sum


def _lemma_c_2(*, tau_max: float, aggregate_sum: float, **_: float) -> float:
    """Lemma C.2 (no number).

    Left side: sum over t = 0, ..., T-1 and p = t - tau_t, ..., t - 1 of
    E |sum_{j in A_p} grad f_j(x^(a_{j,p}))|^2, where p = -1 contributes 0 (A_{-1} is empty).  Algorithm: FedSUM-B.
    Assumptions 1.1, 1.2 are named, but it holds for any nonnegative numbers indexed by the rounds; any step sizes.
    It follows from Lemma B.2; used for Corollary C.3 and (27).

    Slip in the proof: the lower end min{0, t - tau_max} should be max{-1, t - tau_max}; harmless.
    """
    return tau_max * aggregate_sum


def _corollary_c_3(*, tau_max: float, aggregate_sum: float, **_: float) -> float:
    """Corollary C.3 (no number).

    Left side: that of Lemma C.2 with the weight tau_t on the inner sum of round t.  Algorithm: FedSUM-B.
    Assumptions 1.1, 1.2 are named, but not needed; any step sizes.  It follows from Lemma C.2 by tau_t <= tau_max;
    used for (21) in Lemma C.4.
    """
    return tau_max**2 * aggregate_sum


def _lemma_c_4(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    aggregate_sum_T: float,
    **_: float,
) -> float:
    """Lemma C.4, equations (17)-(23).

    Left side as printed: sum over t = 0, ..., T (so T + 1 rounds) of
    E |sum_i grad f_i(x^(t)) - sum_{i in A_t} grad f_i(x^(a_{i,t}))|^2.  Algorithm: FedSUM-B.  Assumptions 1.1, 1.2;
    any step sizes.  It follows from (14), Lemma C.2, Corollary C.3; used for (33) in Lemma C.6.

    Doubts: the range ends at T in the statement, on both sides, while (23) has T - 1 on the left and T on the right;
    round T has no participation set, and the noise term counts tau_t up to T - 1 only.  The statement prints n for N.
    The proof refers to (45) where (18) is meant.
    """
    product = eta_g * eta_l
    return (
        4 * product**2 * tau_max * tau_avg * N * K * T * L**2 * sigma**2
        + 4 * product**2 * tau_max**2 * K**2 * L**2 * aggregate_sum_T
        + 2 * N**2 * tau_max * F_0
    )


def _lemma_c_4_repaired(*, aggregate_sum: float, **p: float) -> float:
    """Lemma C.4 with both sums over t = 0, ..., T-1.

    That is what (17)-(22) prove and what Lemma C.6 needs; the right side takes ``aggregate_sum``.  It holds at
    tau_max = 0 too (both sides vanish).
    """
    p["aggregate_sum_T"] = aggregate_sum
    return _lemma_c_4(**p)


def _lemma_c_5(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    aggregate_sum_T: float,
    **_: float,
) -> float:
    """Lemma C.5, equations (24)-(27).

    Left side: -(eta_g eta_l / N) times the sum over t = 0, ..., T-1 of
    E <grad f(x^(t)), sum_{i in A_t} sum_{k < K} [g_i(x^(a_{i,t}), xi_i^(a_{i,t},k)) - grad f_i(x^(a_{i,t}))]>.
    Algorithm: FedSUM-B.  Assumptions 1.1, 1.2; silently participation independent of the noise, in (24).  Any step
    sizes; L > 0 is divided by.  It follows from (24), Lemma B.1 and Lemma C.2; used for (34) in Lemma C.6.

    Doubts: the sum on the right ends at T, the one on the left at T - 1.  Equation (27) drops the sum over k on its
    left; the proof names Corollary D.3 where Lemma C.2 is meant, and tau_t < t where tau_t > 0 is meant.
    The constants 3 and 2 could be halved (the product is bounded without the factor 1/2).
    """
    product = eta_g * eta_l
    return (
        3 * product**2 * K / N * tau_avg * sigma**2 * L * T
        + 2 * product**2 * K**2 / N**2 * tau_max * L * aggregate_sum_T
    )


def _lemma_c_5_repaired(*, aggregate_sum: float, **p: float) -> float:
    """Lemma C.5 with the right sum over t = 0, ..., T-1.

    The proof gives it, and Lemma C.6 needs it: its negative term ends at T - 1.
    """
    p["aggregate_sum_T"] = aggregate_sum
    return _lemma_c_5(**p)


def _lemma_c_6(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    **_: float,
) -> float:
    """Lemma C.6, equations (28)-(36).

    Left side: the mean over t = 0, ..., T-1 of E |grad f(x^(t))|^2, conditional on the participation.  Algorithm:
    FedSUM-B.  Assumptions 1.1, 1.2; silently f* finite and tau_max >= 1.  Condition: eta_g eta_l K <= 1/(8 tau_max L).
    It follows from the descent inequality with Lemmas C.1, C.4, C.5; used for Theorem C.1.

    The LaTeX of (36) and (37) drops the 1 of 10; the statement has it.  Under the condition the noise coefficient is
    (2 + 6 tau_avg + tau_avg / 2), so 17/2 would do for 10.

    Doubts: the comparison before (36) lacks tau_avg on its right (false for tau_avg > 4; with max{1, tau_avg} it
    holds and gives the same 10); (35) sums to T; (28) lacks an expectation.  At tau_max = 0 the condition is
    undefined, and without any bound on the step the statement is false.
    """
    product = eta_g * eta_l
    noise = 10 * product / N * max(1, tau_avg) * sigma**2 * L
    return 2 * Delta_f / (product * K * T) + noise + 2 * tau_max * F_0 / T


def _theorem_c_1(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    **_: float,
) -> float:
    """Theorem C.1, proof in (37)-(38).

    Left side: the mean over t = 0, ..., T-1 of E |grad f(x^(t))|^2, conditional on the participation.  Algorithm:
    FedSUM-B.  Assumptions 1.1, 1.2; silently tau_max >= 1.  Only the product eta_g eta_l is prescribed.  It follows
    from Lemma C.6: (38) has 12 in place of 30, and 12 is sharp for that step; used for Theorem G.1.

    Doubt: undefined at tau_max = 0.
    """
    noise = 30 * math.sqrt(max(1, tau_avg) * L * sigma**2 * Delta_f) / math.sqrt(N * K * T)
    return noise + 20 * tau_max * (F_0 + L * Delta_f) / T


def _theorem_repaired(*, L: float, T: float, Delta_f: float, F_0: float, tau_max: float, **p: float) -> float:
    """Theorems C.1, D.1, E.1, G.1 with max{1, tau_max} for tau_max, in the step sizes and on the right side.

    The printed forms mean nothing at tau_max = 0.  Each follows from the repaired Lemma C.6, D.6, E.6 for every
    tau_max >= 0; for tau_max >= 1 nothing changes.
    """
    noise = 30 * _noise_term(max(1, p["tau_avg"]), L=L, T=T, Delta_f=Delta_f, **p)
    return noise + 20 * max(1, tau_max) * (L * Delta_f + F_0) / T


# --- Right sides: Appendix D, FedSUM -------------------------------------------------------------------------------


def _lemma_d_1(
    *,
    N: float,
    K: float,
    T: float,
    sigma: float,
    eta_g: float,
    eta_l: float,
    local_aggregate_sum: float,
    **_: float,
) -> float:
    """Lemma D.1, equations (42)-(43).

    Left side: sum over t = 0, ..., T-1 of E |x^(t+1) - x^(t)|^2.  Algorithm: FedSUM.  Assumption 1.2 (1.1 is named,
    but not used); any step sizes.  It follows from (8) and Lemma B.1; used for (71) in Lemma D.6.

    Slip in the proof: the update is line 14 of Algorithm 2, not line 17.
    """
    product = eta_g * eta_l
    return 2 * product**2 * K * T * sigma**2 / N + 2 * product**2 / N**2 * local_aggregate_sum


def _lemma_d_2(*, tau_max: float, local_aggregate_sum: float, **_: float) -> float:
    """Lemma D.2 (no number).

    Left side: sum over t = 0, ..., T-1 and p = t - tau_t, ..., t - 1 of
    E |sum_{j in A_p} sum_{k < K} grad f_j(x_j^(a_{j,p},k))|^2.  Algorithm: FedSUM.  Assumptions 1.1, 1.2 are named,
    but not needed; any step sizes.  It follows from Lemma B.2; used for Corollary D.3 and (66).  The lower end
    min{0, t - tau_max} of the proof should be max{-1, t - tau_max}.
    """
    return tau_max * local_aggregate_sum


def _corollary_d_3(*, tau_max: float, local_aggregate_sum: float, **_: float) -> float:
    """Corollary D.3 (no number).

    Left side: that of Lemma D.2 with the weight tau_t on the inner sum of round t (a stray prime is printed after
    the point).  Algorithm: FedSUM.  Assumptions 1.1, 1.2 are named, but not needed.  It follows from Lemma D.2; used
    for (46) in Lemma D.4.
    """
    return tau_max**2 * local_aggregate_sum


def _lemma_d_4(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    local_aggregate_sum: float,
    **_: float,
) -> float:
    """Lemma D.4, equations (44)-(62).

    Left side: sum over t = 0, ..., T-1 of
    E |K sum_i grad f_i(x^(t)) - sum_{i in A_t} sum_{k < K} grad f_i(x_i^(a_{i,t},k))|^2.  Algorithm: FedSUM.
    Assumptions 1.1, 1.2; silently tau_max >= 1.  Condition: eta_l <= 1/(10 sqrt(tau_max) K L).  It follows from
    Lemma B.1, Corollary D.3 and the drift bound (60); used for (73) in Lemma D.6.

    The LaTeX drops the 1 of 150 in the statement and in (62), that of 10 and 20 in (59), the 5 and the 4 of 50 and
    40 in (60); the plain form keeps them.

    Doubts, none of which hurts the constants at tau_max >= 1: a_{i,t} - a_{i,a_{i,t}-1} is at most tau_max + 1, not
    tau_max, see (53); (54) counts 2 tau_max rounds where there are 2 tau_max + 1; (55) and (58) count tau_max
    where tau_max + 1 is right (the bound sum k^2 <= K^3/3 makes up for it); the decomposition (49) takes h_i for an
    averaged gradient, but before its second participation client i has h_i = 0, which leaves a term in F_0 out;
    (58) prints a_{j,a_{i,t}} for a_{j,a_{i,t}-1}; the comparison before (62) has lost 1/N^2 and has L^2 twice.
    At tau_max = 0 the condition is undefined and the statement false: at sigma = 0 the right side keeps only the
    multiple 24 eta_l^2 K^2 tau_max L^2 + ... = 0 of the aggregate, while the local steps of round 0 do drift.
    """
    product = eta_g * eta_l
    return (
        3 * K**2 * N**2 * tau_max * F_0
        + 8 * product**2 * K**3 * N * tau_max * max(1, tau_avg) * T * sigma**2 * L**2
        + 150 * eta_l**2 * N * K**3 * T * sigma**2 * L**2
        + (10 * product**2 * tau_max**2 * K**2 * L**2 + 24 * eta_l**2 * K**2 * tau_max * L**2) * local_aggregate_sum
    )


def _drift_repaired(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    local_aggregate_sum: float,
    **_: float,
) -> float:
    """Lemmas D.4 and E.4 with M = max{1, tau_max} for tau_max, and K^2 F_0 / 5 added.

    Condition: eta_l <= 1/(10 sqrt(M) K L).  The added term is what the first participation of each client costs,
    where h_i = 0: 8 eta_l^2 K^3 (tau_max + 1) F_0 / (3 N) in the drift bound, times 3 N K L^2 and at most 8/7 from
    the rearrangement.  With tau_max + 1 <= 2 M for the gaps, and K^2/2, K^3/3 for the sums of k and k^2, the other
    constants stand as printed in Lemma D.4.

    For FedSUM-CR it is the same: the averaging in (84) gives by (94) a noise term without tau_max and an aggregate
    term with tau_max + 1, so neither the tau_max in the noise term of Lemma E.4 nor the tau_max^2 of (95)-(98) is
    needed.
    """
    M = max(1, tau_max)
    product = eta_g * eta_l
    return (
        (3 * K**2 * N**2 * tau_max + K**2 / 5) * F_0
        + 8 * product**2 * K**3 * N * M * max(1, tau_avg) * T * sigma**2 * L**2
        + 150 * eta_l**2 * N * K**3 * T * sigma**2 * L**2
        + (10 * product**2 * M**2 * K**2 * L**2 + 24 * eta_l**2 * K**2 * M * L**2) * local_aggregate_sum
    )


def _lemma_d_5(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    local_aggregate_sum_T: float,
    **_: float,
) -> float:
    """Lemma D.5, equations (63)-(66).

    Left side: -(eta_g eta_l / N) times the sum over t = 0, ..., T-1 of E <grad f(x^(t)), sum_{i in A_t} sum_{k < K}
    [g_i(x_i^(a_{i,t},k), xi_i^(a_{i,t},k)) - grad f_i(x_i^(a_{i,t},k))]>.  Algorithm: FedSUM.  Assumptions 1.1, 1.2;
    silently participation independent of the noise, in (63).  Any step sizes.  It follows from (63), Lemma B.1 and
    Lemma D.2; used for (72) in Lemma D.6.

    Doubt: the right sum ends at T in the statement and at T - 1 in (66).
    """
    product = eta_g * eta_l
    return (
        3 * product**2 * K / N * tau_avg * sigma**2 * L * T
        + 2 * product**2 / N**2 * tau_max * L * local_aggregate_sum_T
    )


def _lemma_d_5_repaired(*, local_aggregate_sum: float, **p: float) -> float:
    """Lemmas D.5 and E.5 with the right sum over t = 0, ..., T-1, as in (66).

    Lemmas D.6 and E.6 need this form: the negative term of the descent inequality ends at T - 1.
    """
    p["local_aggregate_sum_T"] = local_aggregate_sum
    return _lemma_d_5(**p)


def _lemma_d_6(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    **_: float,
) -> float:
    """Lemma D.6, equations (67)-(75).

    Left side: the mean over t = 0, ..., T-1 of E |grad f(x^(t))|^2, conditional on the participation.  Algorithm:
    FedSUM.  Assumptions 1.1, 1.2; silently f* finite and tau_max >= 1.  Conditions:
    eta_l <= 1/(10 sqrt(tau_max) K L) and eta_g eta_l <= 1/(10 tau_max K L).  It follows from the descent inequality
    with Lemmas D.1, D.4, D.5; used for Theorem D.1.

    The LaTeX drops the 7 of 75 in (73), the 1 of 10 and the 2 of 24 in (74), the 1 of 150 in (75); the statement has
    150.  Under the conditions 44/5 would do for 9.

    Doubts: (71)-(74) have eta_g eta_l K L where Lemma D.1 gives twice that (the bracket stays positive, 0.06 for
    0.16); F_0 and f are printed with n for N; sums end at T in (70)-(73).  At tau_max = 0 the conditions are
    undefined.
    """
    product = eta_g * eta_l
    return (
        2 * Delta_f / (product * K * T)
        + 9 * product * max(1, tau_avg) * sigma**2 * L / N
        + 3 * tau_max * F_0 / T
        + 150 * eta_l**2 * K * sigma**2 * L**2 / N
    )


def _lemma_d_6_repaired(*, N: float, T: float, F_0: float, **p: float) -> float:
    """Lemmas D.6 and E.6 plus F_0 / (5 N^2 T), under the conditions with max{1, tau_max} for tau_max.

    The added term comes from the repaired Lemma D.4 (E.4): the printed proof takes no account of h_i = 0 at a
    client's first participation.  For FedSUM-CR it follows from the repaired E.4 only, not from the printed one.
    """
    return _lemma_d_6(N=N, T=T, F_0=F_0, **p) + F_0 / (5 * N**2 * T)


def _theorem_d_1(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    **_: float,
) -> float:
    """Theorem D.1, proof from (76).

    Left side: the mean over t = 0, ..., T-1 of E |grad f(x^(t))|^2, conditional on the participation.  Algorithm:
    FedSUM.  Assumptions 1.1, 1.2; silently tau_max >= 1.  Step sizes: the prescribed eta_g and eta_l.  It follows
    from Lemma D.6: the proof ends with 26 in place of 30, and 24 is sharp beside the 20; used for Theorem G.1.

    Doubt: undefined at tau_max = 0.
    """
    noise = 30 * math.sqrt(max(1, tau_avg) * L * sigma**2 * Delta_f) / math.sqrt(N * K * T)
    return noise + 20 * tau_max * (L * Delta_f + F_0) / T


# --- Right sides: Appendix E, FedSUM-CR ----------------------------------------------------------------------------


def _lemma_e_1(
    *,
    N: float,
    K: float,
    T: float,
    sigma: float,
    eta_g: float,
    eta_l: float,
    local_aggregate_sum: float,
    **_: float,
) -> float:
    """Lemma E.1 (no number).

    Left side: sum over t = 0, ..., T-1 of E |x^(t+1) - x^(t)|^2.  Algorithm: FedSUM-CR.  Assumption 1.2 (1.1 is
    named, but not used); any step sizes.  It follows as Lemma D.1 from (77) and Lemma B.1; used for (103).
    """
    product = eta_g * eta_l
    return 2 * product**2 * K * T * sigma**2 / N + 2 * product**2 / N**2 * local_aggregate_sum


def _lemma_e_2(*, tau_max: float, local_aggregate_sum: float, **_: float) -> float:
    """Lemma E.2 (no number).

    Left side: sum over t = 0, ..., T-1 and p = t - tau_t, ..., t - 1 of
    E |sum_{j in A_p} sum_{k < K} grad f_j(x_j^(a_{j,p},k))|^2.  Algorithm: FedSUM-CR.  Assumptions 1.1, 1.2 are
    named, but not needed.  It follows as Lemma D.2 from Lemma B.2; used for Corollary E.3 and Lemma E.5.
    """
    return tau_max * local_aggregate_sum


def _corollary_e_3(*, tau_max: float, local_aggregate_sum: float, **_: float) -> float:
    """Corollary E.3 (no number).

    Left side: that of Lemma E.2 with the weight tau_t on the inner sum of round t.  Algorithm: FedSUM-CR.
    Assumptions 1.1, 1.2 are named, but not needed.  It follows from Lemma E.2; used for (82) in Lemma E.4.
    """
    return tau_max**2 * local_aggregate_sum


def _lemma_e_4(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    local_aggregate_sum: float,
    **_: float,
) -> float:
    """Lemma E.4, equations (80)-(98).

    Left side: sum over t = 0, ..., T-1 of
    E |K sum_i grad f_i(x^(t)) - sum_{i in A_t} sum_{k < K} grad f_i(x_i^(a_{i,t},k))|^2.  Algorithm: FedSUM-CR.
    Assumptions 1.1, 1.2; silently tau_max >= 1.  Condition: eta_l <= 1/(10 sqrt(tau_max) K L).  It follows from
    Lemma B.1, Corollary E.3 and the drift bound (96); used for (105) in Lemma E.6.

    The LaTeX drops the 1 of 150 in the statement and in (98), that of 10 and 20 in (95), the 5 and the 4 of 50 and
    40 in (96); the plain form keeps them.

    Doubts: the proof ends in (98) with 24 eta_l^2 K^2 tau_max^2 L^2, the statement has tau_max; the square enters
    between (94) and (95) and is not needed.  The factor tau_max in the noise term 150 ... enters between (95) and
    (96) and is not needed either, but with it Lemma E.6 does not follow.  Otherwise as for Lemma D.4: gaps of
    tau_max + 1, h_i = 0 at the first participation, false at tau_max = 0.
    """
    product = eta_g * eta_l
    return (
        3 * K**2 * N**2 * tau_max * F_0
        + 8 * product**2 * K**3 * N * tau_max * max(1, tau_avg) * T * sigma**2 * L**2
        + 150 * eta_l**2 * N * K**3 * tau_max * T * sigma**2 * L**2
        + (10 * product**2 * tau_max**2 * K**2 * L**2 + 24 * eta_l**2 * K**2 * tau_max * L**2) * local_aggregate_sum
    )


def _equation_98(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    local_aggregate_sum: float,
    **_: float,
) -> float:
    """The last line of (98), with which the proof of Lemma E.4 ends.

    Left side, algorithm, assumptions and condition as in Lemma E.4; it has tau_max^2 where the statement has
    tau_max, in the term with 24.  With the square, the bracket of (106) is negative from tau_max = 2 on under the
    printed condition; it would take eta_l <= 1/(10 tau_max K L).
    """
    product = eta_g * eta_l
    return (
        3 * K**2 * N**2 * tau_max * F_0
        + 8 * product**2 * K**3 * N * tau_max * max(1, tau_avg) * T * sigma**2 * L**2
        + 150 * eta_l**2 * N * K**3 * tau_max * T * sigma**2 * L**2
        + (10 * product**2 * tau_max**2 * K**2 * L**2 + 24 * eta_l**2 * K**2 * tau_max**2 * L**2) * local_aggregate_sum
    )


def _lemma_e_5(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    local_aggregate_sum_T: float,
    **_: float,
) -> float:
    """Lemma E.5 (no number).

    Left side: -(eta_g eta_l / N) times the sum over t = 0, ..., T-1 of E <grad f(x^(t)), sum_{i in A_t} sum_{k < K}
    [g_i(x_i^(a_{i,t},k), xi_i^(a_{i,t},k)) - grad f_i(x_i^(a_{i,t},k))]>.  Algorithm: FedSUM-CR.  Assumptions 1.1,
    1.2; silently participation independent of the noise.  Any step sizes.  It follows as Lemma D.5; used for (104).

    Doubt: the right sum ends at T, the left one at T - 1.
    """
    product = eta_g * eta_l
    return (
        3 * product**2 * K / N * tau_avg * sigma**2 * L * T
        + 2 * product**2 / N**2 * tau_max * L * local_aggregate_sum_T
    )


def _lemma_e_6(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    **_: float,
) -> float:
    """Lemma E.6, equations (99)-(107).

    Left side: the mean over t = 0, ..., T-1 of E |grad f(x^(t))|^2, conditional on the participation.  Algorithm:
    FedSUM-CR.  Assumptions 1.1, 1.2; silently f* finite and tau_max >= 1.  Conditions:
    eta_l <= 1/(10 sqrt(tau_max) K L) and eta_g eta_l <= 1/(10 tau_max K L).  Claimed from Lemmas E.1, E.4, E.5; used
    for Theorem E.1 (whose proof names Lemma D.6).

    Doubts: Lemma E.4 as printed gives 150 tau_max in the last term, see the function for the literal chain; the
    repaired E.4 gives the 150 printed here.  (105) has 75 eta_g eta_l^3 N K^2 tau_max where N should divide (its
    LaTeX drops the 7), and 3 where Lemma E.4 gives 4; (106) has tau_max^2, (105) tau_max; (103)-(106) have
    eta_g eta_l K L where Lemma E.1 gives twice that; F_0 is printed with n for N.
    """
    product = eta_g * eta_l
    return (
        2 * Delta_f / (product * K * T)
        + 9 * product * max(1, tau_avg) * sigma**2 * L / N
        + 3 * tau_max * F_0 / T
        + 150 * eta_l**2 * K * sigma**2 * L**2 / N
    )


def _lemma_e_6_literal_chain(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    eta_g: float,
    eta_l: float,
    **_: float,
) -> float:
    """Not printed: what Lemma E.4 as printed gives in the place of Lemma E.6.

    The factor tau_max of the noise term of E.4 stays, and with the prescribed step sizes it would turn the 15 of
    Theorem E.1's proof into 15 tau_max / max{1, tau_avg} beside the root: the rate of the theorem would be lost.
    """
    product = eta_g * eta_l
    return (
        2 * Delta_f / (product * K * T)
        + 9 * product * max(1, tau_avg) * sigma**2 * L / N
        + 3 * tau_max * F_0 / T
        + 150 * eta_l**2 * K * tau_max * sigma**2 * L**2 / N
    )


def _theorem_e_1(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    **_: float,
) -> float:
    """Theorem E.1, proof from (108).

    Left side: the mean over t = 0, ..., T-1 of E |grad f(x^(t))|^2, conditional on the participation.  Algorithm:
    FedSUM-CR.  Assumptions 1.1, 1.2; silently tau_max >= 1.  Step sizes: the prescribed eta_g and eta_l.  It follows
    from Lemma E.6 (the proof names D.6): 26 in the proof, 24 sharp; used for Theorem G.1.

    Doubts: undefined at tau_max = 0.  The proof's estimate of the last term has 150 eta_l^2 N K sigma^2 L^2 with
    eta_l scaled by 1/N, unlike (108) and the prescribed step; with those the same 15 comes out.
    """
    noise = 30 * math.sqrt(max(1, tau_avg) * L * sigma**2 * Delta_f) / math.sqrt(N * K * T)
    return noise + 20 * tau_max * (L * Delta_f + F_0) / T


# --- Right sides: Appendix F, delays under the four participation patterns -----------------------------------------


def _lemma_f_1(*, N: float, S: float, T: float, **_: float) -> float:
    """Lemma F.1, equations (109)-(110).

    Left side: E[tau_max], over the participation.  Case 1: in each round S of N clients, uniformly, independent over
    the rounds (silently); condition S < N.  The logarithm is natural.  No algorithm, no step size.  Used, with
    tau_avg <= tau_max, for Corollary G.1, case 1.

    Doubts: the statement has rounds 0, ..., T (T + 1 of them), the union bound T rounds.  The proof's m may be
    negative (then the bound is trivial); the first line of the union bound is an inequality.  As S < N, every tau_t
    is at least 1.  At S = N the left side is 0, but the case is excluded.  The 4 is generous: on a grid of N, S, T the
    sum of min{1, N (T - l + 1) (1 - S/N)^l} over l stays below 1.09 (N/S) ln(N T), with T or with T + 1 rounds.
    """
    return 4 * N / S * math.log(N * T)


def _lemma_f_2(*, N: float, T: float, delta: float, **_: float) -> float:
    """Lemma F.2, equations (111)-(112).

    Left side: E[tau_max], over the participation.  Case 2, but with probabilities p_i >= delta that do not depend on
    the round, where Section 2 has p_i^t >= delta; the proof extends to those, by (1 - delta)^l.  Silently
    independent over rounds.  Condition: 0 < delta <= 1.  Natural logarithms.  Used for Corollary G.1, case 2.

    Doubts: p is one number in the proof, though it belongs to client i.  At N T = 1 the last step needs
    ln(1/delta) >= delta; the statement holds there all the same.  tau_avg may be less than 1, and tau_max 0.  On a
    grid 1.09 would do for 4 with T rounds, 1.98 with T + 1 rounds.
    """
    return 4 / delta * max(math.log(N * T), math.log(1 / delta))


def _lemma_f_3(*, N: float, S: float, **_: float) -> float:
    """Lemma F.3 (no number).

    Left side: E[tau_max], and by the proof tau_max itself.  Participation: reshuffled cyclic, called case 3 here and
    in Corollary G.1, but case 4 in Section 2 and Table 1.  Used for Corollary G.1, case 3.

    Doubts: an epoch is given floor(N/S) rounds; if S does not divide N and the remaining clients sit out, the lemma
    is false (a client may miss any number of epochs).  With ceil(N/S) rounds, or with blocks that run on into the
    next order, tau_max <= 2 N / S holds, so 4 is twice what is needed; the proof's 2 floor(N/S) may be exceeded by
    one with blocks that run on (N = 7, S = 4).
    """
    return 4 * N / S


def _lemma_f_4(*, N: float, S: float, **_: float) -> float:
    """Lemma F.4 (no number).

    Left side: tau_max, surely.  Participation: deterministic cyclic, called case 4 here and in Corollary G.1, but
    case 3 in Section 2 and Table 1.  Used for Corollary G.1, case 4.

    With blocks that wrap around, tau_max <= ceil(N/S) - 1 < N / S, so 2 is twice what is needed.  If the last
    N - S floor(N/S) clients were left out instead, they would never be active.
    """
    return 2 * N / S


# --- Right sides: Appendix G ---------------------------------------------------------------------------------------


def _theorem_g_1(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    tau_max: float,
    tau_avg: float,
    **_: float,
) -> float:
    """Theorem G.1, equation (113).

    Left side: the mean over t = 0, ..., T-1 of E[|grad f(x^(t))|^2 | S_0, ..., S_{T-1}], over the noise.
    Algorithms: FedSUM-B, FedSUM, FedSUM-CR.  Assumptions 1.1, 1.2; silently tau_max >= 1.  Step sizes: the
    prescribed eta_g and eta_l, whose product is that of Theorem C.1.  It follows from Theorems C.1, D.1, E.1; used
    for Theorem 4.1.

    Doubt: undefined at tau_max = 0.
    """
    noise = 30 * math.sqrt(max(1, tau_avg) * L * sigma**2 * Delta_f) / math.sqrt(N * K * T)
    return noise + 20 * tau_max * (L * Delta_f + F_0) / T


def _corollary_g_1_case_1(
    *,
    N: float,
    S: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    **_: float,
) -> float:
    """Corollary G.1, case 1: uniform sampling of S clients.

    Left side: the mean over t = 0, ..., T-1 of E |grad f(x^(t))|^2, over noise and participation.  Algorithms:
    FedSUM-B, FedSUM, FedSUM-CR.  Assumptions 1.1, 1.2; silently S < N, by Lemma F.1.  Step sizes: said to be chosen
    appropriately, meant are those of Theorem G.1 with the realised delays.

    Claimed from Corollary 4.1 with Lemma F.1, which gives 30 sqrt(4 + S/(N log(N T))) for 60, at most 65.2 (N = 2,
    S = T = 1) and never 60.  The 60 does follow from (113): for S < N all tau_t are at least 1, so max{1, tau_avg}
    is tau_avg.  The 80 follows exactly.
    """
    noise = 60 * math.sqrt(L * sigma**2 * Delta_f * math.log(N * T)) / math.sqrt(S * K * T)
    return noise + 80 * (L * Delta_f + F_0) * N * math.log(N * T) / (S * T)


def _corollary_g_1_case_1_repaired(*, N: float, S: float, T: float, **p: float) -> float:
    """Lemma F.1 put into (13), without rounding: 1 + (4 N / S) ln(N T) stays under the root.

    The printed form drops the 1, which Corollary 4.1 does not allow.
    """
    delay = _lemma_f_1(N=N, S=S, T=T)
    return 30 * _noise_term(1 + delay, N=N, T=T, **p) + 20 * delay * (p["L"] * p["Delta_f"] + p["F_0"]) / T


def _corollary_g_1_case_2(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    delta: float,
    **_: float,
) -> float:
    """Corollary G.1, case 2: independent participation with probabilities at least delta.

    Left side, algorithms, assumptions, step sizes as in case 1; from Corollary 4.1 with Lemma F.2.

    Doubts: the maximum stands outside the root, by the LaTeX (the plain form does not tell); Lemma F.2 puts it
    inside.  As printed the claim follows from Corollary 4.1 when N T >= 4, and is then loose by the root of the
    maximum; for N T <= 3 it does not follow, except for small delta.  With the maximum inside, 30 sqrt(4 + delta/max)
    replaces 60.  The event tau_max = 0, where the step sizes are undefined, has positive probability.
    """
    largest = max(math.log(N * T), math.log(1 / delta))
    noise = 60 * math.sqrt(L * sigma**2 * Delta_f) * largest / math.sqrt(delta * N * K * T)
    return noise + 80 * (L * Delta_f + F_0) * largest / (delta * T)


def _corollary_g_1_case_2_repaired(*, N: float, T: float, delta: float, **p: float) -> float:
    """Lemma F.2 put into the repaired (13), without rounding.

    The maximum stands under the root, where Lemma F.2 puts it, and the 1 beside tau_avg is kept; 1 + E[tau_max]
    covers the event tau_max = 0.
    """
    delay = _lemma_f_2(N=N, T=T, delta=delta)
    return 30 * _noise_term(1 + delay, N=N, T=T, **p) + 20 * (1 + delay) * (p["L"] * p["Delta_f"] + p["F_0"]) / T


def _corollary_g_1_case_3(
    *,
    N: float,
    S: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    **_: float,
) -> float:
    """Corollary G.1, case 3: here reshuffled cyclic participation (case 4 in Section 2 and Table 1).

    Left side, algorithms, assumptions, step sizes as in case 1; claimed from Corollary 4.1 with Lemma F.3, which
    gives 30 sqrt(4 + S/N) <= 67.1 for 60.  The 60 does follow from (113), as max{1, tau_avg} <= 4 N / S, and from
    Corollary 4.1 with the true tau_max <= 2 N / S.  The 80 follows exactly.  At S = N the step sizes are undefined.
    """
    return 60 * math.sqrt(L * sigma**2 * Delta_f) / math.sqrt(S * K * T) + 80 * N * (L * Delta_f + F_0) / (S * T)


def _corollary_g_1_case_3_repaired(*, N: float, S: float, T: float, **p: float) -> float:
    """Lemma F.3 put into (13), without rounding: 1 + 4 N / S stays under the root.

    The printed form drops the 1, which Corollary 4.1 does not allow.
    """
    delay = _lemma_f_3(N=N, S=S)
    return 30 * _noise_term(1 + delay, N=N, T=T, **p) + 20 * delay * (p["L"] * p["Delta_f"] + p["F_0"]) / T


def _corollary_g_1_case_4(
    *,
    N: float,
    S: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    F_0: float,
    **_: float,
) -> float:
    """Corollary G.1, case 4: here deterministic cyclic participation (case 3 in Section 2 and Table 1).

    Left side, algorithms, assumptions, step sizes as in case 1 (no randomness of participation); from Theorem 4.1
    with Lemma F.4, which gives 30 sqrt(2 + S/N) <= 52 for 60 and 40 for 80.  At S = N the step sizes are undefined.
    """
    return 60 * math.sqrt(L * sigma**2 * Delta_f) / math.sqrt(S * K * T) + 80 * N * (L * Delta_f + F_0) / (S * T)


# --- Conditions ----------------------------------------------------------------------------------------------------


def _conditions_lemma_b_2(*, k: float, min_last_selection: float, **_: float) -> Pairs:
    """Lemma B.2 itself: k <= min_i a_{i, k + tau_max}, for every k >= 0.

    ``min_last_selection`` is min over i of a_{i, k + tau_max}: every client is active at least once in the rounds
    k, ..., k + tau_max.  It follows from the definition (2)-(4) alone; no algorithm, no assumption.  Used for
    Lemmas C.2, D.2, E.2.  Doubt: it needs k + tau_max <= T - 1, the last round with a participation set (T, if
    tau_max is taken over t <= T and round T exists).
    """
    return [(k, min_last_selection)]


def _conditions_lemma_c_6(*, K: float, L: float, tau_max: float, eta_g: float, eta_l: float, **_: float) -> Pairs:
    """eta_g eta_l K <= 1/(8 tau_max L); undefined at tau_max = 0."""
    return [(eta_g * eta_l * K, 1 / (8 * tau_max * L))]


def _conditions_lemma_c_6_repaired(*, tau_max: float, **p: float) -> Pairs:
    """With max{1, tau_max}: the bracket of (34) needs 2 eta_g eta_l K L <= 1 at tau_max = 0 too."""
    return _conditions_lemma_c_6(tau_max=max(1, tau_max), **p)


def _conditions_lemma_d_4(*, K: float, L: float, tau_max: float, eta_l: float, **_: float) -> Pairs:
    """eta_l <= 1/(10 sqrt(tau_max) K L), printed in Lemmas D.4 and E.4; undefined at tau_max = 0."""
    return [(eta_l, 1 / (10 * math.sqrt(tau_max) * K * L))]


def _conditions_lemma_d_4_repaired(*, tau_max: float, **p: float) -> Pairs:
    """With max{1, tau_max}, so that it is defined at full participation."""
    return _conditions_lemma_d_4(tau_max=max(1, tau_max), **p)


def _conditions_lemma_d_6(*, K: float, L: float, tau_max: float, eta_g: float, eta_l: float, **_: float) -> Pairs:
    """Printed in Lemmas D.6 and E.6: the condition of D.4 and eta_g eta_l <= 1/(10 tau_max K L)."""
    return [
        (eta_l, 1 / (10 * math.sqrt(tau_max) * K * L)),
        (eta_g * eta_l, 1 / (10 * tau_max * K * L)),
    ]


def _conditions_lemma_d_6_repaired(*, tau_max: float, **p: float) -> Pairs:
    """With max{1, tau_max}, so that it is defined at full participation."""
    return _conditions_lemma_d_6(tau_max=max(1, tau_max), **p)


def _conditions_lemma_f_1(*, N: float, S: float, **_: float) -> Pairs:
    """S < N, for integers."""
    return [(S, N - 1)]


def _conditions_lemma_f_2(*, delta: float, **_: float) -> Pairs:
    """0 < delta <= 1; the first inequality is strict."""
    return [(0.0, delta), (delta, 1.0)]


# --- Prescribed step sizes -----------------------------------------------------------------------------------------


def _theorem_c_1_product(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    tau_max: float,
    tau_avg: float,
    **_: float,
) -> float:
    """The product eta_g eta_l of Theorem C.1; the first entry of the minimum is infinite at sigma = 0."""
    noise = _noise_step(N * Delta_f, K=K, T=T, L=L, sigma=sigma, tau_avg=tau_avg)
    return min(noise, 1 / (10 * K * tau_max * L))


def _theorem_c_1_product_repaired(*, tau_max: float, **p: float) -> float:
    """The product eta_g eta_l of Theorem C.1 with max{1, tau_max}."""
    return _theorem_c_1_product(tau_max=max(1, tau_max), **p)


def _unified_eta_g(*, tau_max: float, **_: float) -> float:
    """The eta_g of Theorems 4.1, D.1, E.1, G.1: 1 / sqrt(tau_max)."""
    return 1 / math.sqrt(tau_max)


def _unified_eta_l(
    *,
    N: float,
    K: float,
    T: float,
    L: float,
    sigma: float,
    Delta_f: float,
    tau_max: float,
    tau_avg: float,
    **_: float,
) -> float:
    """The eta_l of Theorems 4.1, D.1, E.1, G.1; the second entry of the minimum is infinite at sigma = 0."""
    noise = _noise_step(N * tau_max * Delta_f, K=K, T=T, L=L, sigma=sigma, tau_avg=tau_avg)
    return min(1 / (10 * math.sqrt(tau_max) * K * L), noise)


def _unified_eta_g_repaired(*, tau_max: float, **_: float) -> float:
    """The eta_g with max{1, tau_max}."""
    return _unified_eta_g(tau_max=max(1, tau_max))


def _unified_eta_l_repaired(*, tau_max: float, **p: float) -> float:
    """The eta_l with max{1, tau_max}."""
    return _unified_eta_l(tau_max=max(1, tau_max), **p)


# --- The three tables ----------------------------------------------------------------------------------------------

RIGHT_SIDES: dict[str, dict[str, Callable[..., float]]] = {
    "fedsum/theorem-4.1": {"main": _theorem_4_1},
    "fedsum/theorem-4.1-repaired": {"main": _theorem_4_1_repaired},
    "fedsum/corollary-4.1": {"main": _corollary_4_1},
    "fedsum/corollary-4.1-repaired": {"main": _corollary_4_1_repaired},
    "fedsum/lemma-b.1": {"main": _lemma_b_1},
    "fedsum/lemma-c.1": {"main": _lemma_c_1},
    "fedsum/lemma-c.2": {"main": _lemma_c_2},
    "fedsum/corollary-c.3": {"main": _corollary_c_3},
    "fedsum/lemma-c.4": {"main": _lemma_c_4},
    "fedsum/lemma-c.4-repaired": {"main": _lemma_c_4_repaired},
    "fedsum/lemma-c.5": {"main": _lemma_c_5},
    "fedsum/lemma-c.5-repaired": {"main": _lemma_c_5_repaired},
    "fedsum/lemma-c.6": {"main": _lemma_c_6},
    "fedsum/lemma-c.6-repaired": {"main": _lemma_c_6},
    "fedsum/theorem-c.1": {"main": _theorem_c_1},
    "fedsum/theorem-c.1-repaired": {"main": _theorem_repaired},
    "fedsum/lemma-d.1": {"main": _lemma_d_1},
    "fedsum/lemma-d.2": {"main": _lemma_d_2},
    "fedsum/corollary-d.3": {"main": _corollary_d_3},
    "fedsum/lemma-d.4": {"main": _lemma_d_4},
    "fedsum/lemma-d.4-repaired": {"main": _drift_repaired},
    "fedsum/lemma-d.5": {"main": _lemma_d_5},
    "fedsum/lemma-d.5-repaired": {"main": _lemma_d_5_repaired},
    "fedsum/lemma-d.6": {"main": _lemma_d_6},
    "fedsum/lemma-d.6-repaired": {"main": _lemma_d_6_repaired},
    "fedsum/theorem-d.1": {"main": _theorem_d_1},
    "fedsum/theorem-d.1-repaired": {"main": _theorem_repaired},
    "fedsum/lemma-e.1": {"main": _lemma_e_1},
    "fedsum/lemma-e.2": {"main": _lemma_e_2},
    "fedsum/corollary-e.3": {"main": _corollary_e_3},
    "fedsum/lemma-e.4": {"main": _lemma_e_4},
    "fedsum/lemma-e.4-equation-98": {"main": _equation_98},
    "fedsum/lemma-e.4-repaired": {"main": _drift_repaired},
    "fedsum/lemma-e.5": {"main": _lemma_e_5},
    "fedsum/lemma-e.5-repaired": {"main": _lemma_d_5_repaired},
    "fedsum/lemma-e.6": {"main": _lemma_e_6},
    "fedsum/lemma-e.6-literal-chain": {"main": _lemma_e_6_literal_chain},
    "fedsum/lemma-e.6-repaired": {"main": _lemma_d_6_repaired},
    "fedsum/theorem-e.1": {"main": _theorem_e_1},
    "fedsum/theorem-e.1-repaired": {"main": _theorem_repaired},
    "fedsum/lemma-f.1": {"main": _lemma_f_1},
    "fedsum/lemma-f.2": {"main": _lemma_f_2},
    "fedsum/lemma-f.3": {"main": _lemma_f_3},
    "fedsum/lemma-f.4": {"main": _lemma_f_4},
    "fedsum/theorem-g.1": {"main": _theorem_g_1},
    "fedsum/theorem-g.1-repaired": {"main": _theorem_repaired},
    "fedsum/corollary-g.1-case-1": {"main": _corollary_g_1_case_1},
    "fedsum/corollary-g.1-case-1-repaired": {"main": _corollary_g_1_case_1_repaired},
    "fedsum/corollary-g.1-case-2": {"main": _corollary_g_1_case_2},
    "fedsum/corollary-g.1-case-2-repaired": {"main": _corollary_g_1_case_2_repaired},
    "fedsum/corollary-g.1-case-3": {"main": _corollary_g_1_case_3},
    "fedsum/corollary-g.1-case-3-repaired": {"main": _corollary_g_1_case_3_repaired},
    "fedsum/corollary-g.1-case-4": {"main": _corollary_g_1_case_4},
}

CONDITIONS: dict[str, Callable[..., Pairs]] = {
    "fedsum/lemma-b.2": _conditions_lemma_b_2,
    "fedsum/lemma-c.6": _conditions_lemma_c_6,
    "fedsum/lemma-c.6-repaired": _conditions_lemma_c_6_repaired,
    "fedsum/lemma-d.4": _conditions_lemma_d_4,
    "fedsum/lemma-d.4-repaired": _conditions_lemma_d_4_repaired,
    "fedsum/lemma-d.6": _conditions_lemma_d_6,
    "fedsum/lemma-d.6-repaired": _conditions_lemma_d_6_repaired,
    "fedsum/lemma-e.4": _conditions_lemma_d_4,
    "fedsum/lemma-e.4-equation-98": _conditions_lemma_d_4,
    "fedsum/lemma-e.4-repaired": _conditions_lemma_d_4_repaired,
    "fedsum/lemma-e.6": _conditions_lemma_d_6,
    "fedsum/lemma-e.6-literal-chain": _conditions_lemma_d_6,
    "fedsum/lemma-e.6-repaired": _conditions_lemma_d_6_repaired,
    "fedsum/lemma-f.1": _conditions_lemma_f_1,
    "fedsum/lemma-f.2": _conditions_lemma_f_2,
}

_UNIFIED: dict[str, Callable[..., float]] = {"eta_g": _unified_eta_g, "eta_l": _unified_eta_l}
_UNIFIED_REPAIRED: dict[str, Callable[..., float]] = {
    "eta_g": _unified_eta_g_repaired,
    "eta_l": _unified_eta_l_repaired,
}

PRESCRIBED: dict[str, dict[str, Callable[..., float]]] = {
    "fedsum/theorem-4.1": _UNIFIED,
    "fedsum/theorem-4.1-repaired": _UNIFIED_REPAIRED,
    "fedsum/theorem-c.1": {"eta_g_eta_l": _theorem_c_1_product},
    "fedsum/theorem-c.1-repaired": {"eta_g_eta_l": _theorem_c_1_product_repaired},
    "fedsum/theorem-d.1": _UNIFIED,
    "fedsum/theorem-d.1-repaired": _UNIFIED_REPAIRED,
    "fedsum/theorem-e.1": _UNIFIED,
    "fedsum/theorem-e.1-repaired": _UNIFIED_REPAIRED,
    "fedsum/theorem-g.1": _UNIFIED,
    "fedsum/theorem-g.1-repaired": _UNIFIED_REPAIRED,
}
