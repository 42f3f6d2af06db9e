"""Pairs about sampled clients and local steps.

x is the server's model, y_ik a local iterate of client i, with y_i0 = x, h_k the mean over the clients of
grad f_i(y_ik), and q = (n - m)/(m (n - 1)) what a sample of m of n without replacement leaves of a variance. Convexity
is needed where it is assumed alone.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from bounds.papers.textbook.pairing import DRIFT, OUTER_STEP, Form, PairKind, StatementPair, T_2u, T_3u
from bounds.papers.textbook.statements import (
    CAP,
    EACH,
    F_0,
    NO_RUN,
    ONE,
    SAMPLED,
    ZERO,
    B,
    G,
    K,
    L,
    T,
    b,
    b_star,
    dist2_0,
    du2,
    fall,
    g,
    g_v,
    gamma,
    gap,
    inner,
    m,
    n,
    sampled2,
    sigma_u,
    spread,
    squares,
    sum2,
    xbar2,
)
from bounds.statement import Assumption, Relation

_SMOOTH, _NOISE, _SHARED = Assumption.SMOOTHNESS, Assumption.NOISE, Assumption.NO_PERSONAL
_ALL, _SOME, _NEAR = Assumption.FULL_PARTICIPATION, Assumption.UNIFORM_SAMPLING, Assumption.DISSIMILARITY
Q = (n - m) / (m * sp.Max(1, n - 1))
START = 2 * F_0 / (g * T)
# What a noiseless local run needs so that a gradient changes by at most e^(1/10) - 1 of itself, and by 1.
SHORT = (g, "<=", 1 / (10 * K * L))
ROUND = (g, "<=", 1 / (K * L))
SQUARES = K * (K - 1) * (2 * K - 1)

_SAMPLED: dict[str, Any] = {"settings": SAMPLED, "assumptions": (_SMOOTH, _NOISE, _SOME, _SHARED, _NEAR)}
_QUIET: dict[str, Any] = {"settings": {"m": n, "eta_u": ONE, "sigma_u": ZERO}, "assumptions": (_SMOOTH, _ALL, _SHARED)}
_NOISY: dict[str, Any] = {"settings": {"m": n, "eta_u": ONE}, "assumptions": (_SMOOTH, _NOISE, _ALL, _SHARED)}
_APART: dict[str, Any] = {**_QUIET, "assumptions": (_SMOOTH, _ALL, _SHARED, _NEAR)}

SGD_SAMPLED = Form(
    name="sampled", title="Sampled clients", left=G,
    right={"gap": START, "noise": L * g * sigma_u**2 / m, "sampling": L * g * b**2 * Q}, caps=(CAP,), **_SAMPLED,
)  # fmt: skip
SGD_SAMPLED_LOOSE = Form(
    name="sampled-loose", title="Sampled clients, four times the noise", left=G,
    right={"gap": START, "noise": 4 * L * g * sigma_u**2 / m, "sampling": L * g * b**2 / m}, caps=(CAP,), **_SAMPLED,
)  # fmt: skip
# For convex f_i, mean ||grad f_i(x)||^2 <= 4 L (f - f*) + 2 b_*^2; so ||x - x*||^2 falls by g (f - f*) - 2 g^2 b_*^2.
SAMPLED_VALUES = Form(
    name="sampled-values", title="Values with sampled clients", left=gap,
    right={"start": dist2_0 / (g * T), "sampling": 2 * g * b_star**2}, caps=((g, "<=", 1 / (4 * L)),),
    settings={**SAMPLED, "sigma_u": ZERO},
    assumptions=(_SMOOTH, Assumption.CONVEXITY, _SOME, Assumption.MINIMISER_HETEROGENEITY, _SHARED),
)  # fmt: skip
# The variance of a sample's mean of one step each, with that of all clients' gradients at x.
SAMPLED_MOVE = Form(
    name="sampled-move", title="How far a step of sampled clients goes", left=du2,
    right={"mean": g**2 * G, "noise": g**2 * sigma_u**2 / m, "sampling": g**2 * (B - n * G) * Q / n}, over=EACH,
    settings=SAMPLED, assumptions=(_SMOOTH, _NOISE, _SOME, _SHARED),
)  # fmt: skip
# The same for what K noiseless steps add up to at each client.
LOCAL_MOVE = Form(
    name="local-move", title="How far a round of sampled clients goes", left=du2,
    right={"mean": T_2u, "sampling": g**2 * Q * T_3u / n}, over=EACH, settings={"eta_u": ONE, "sigma_u": ZERO},
    assumptions=(_SMOOTH, _SOME, _SHARED), relation=Relation.AT_MOST,
)  # fmt: skip
# sum_k (grad f_i(y_ik) - h_k) = K (grad f_i(x) - grad f(x)) + what the drift adds; (a + c)^2 <= 2 a^2 + 2 c^2.
LOCAL_SPREAD = Form(
    name="local-spread", title="How far clients' local sums of gradients are apart", left=T_3u,
    right={"clients": 2 * n * K**2 * b**2, "drift": 2 * K * L**2 * DRIFT}, over=EACH, settings={"sigma_u": ZERO,
    "eta_u": ONE},
    assumptions=(_SMOOTH, _SOME, _SHARED, _NEAR),
)  # fmt: skip
SPREAD = Form(
    name="clients-apart", title="Gradients of the clients", left=B, right={"mean": n * G, "clients": 2 * n * b**2},
    over=EACH, settings=SAMPLED, assumptions=(_SMOOTH, _NOISE, _SOME, _SHARED, _NEAR),
)  # fmt: skip
AVERAGED = Form(
    name="averaged", title="The mean's square, a quarter of n", left={G: n / 4}, right={"clients": B}, over=EACH,
    assumptions=(_SMOOTH, _NOISE, _SOME, _SHARED),
)  # fmt: skip
_VECTORS: dict[str, Any] = {"over": NO_RUN, "algorithm": None}
SAMPLE = Form(
    name="sample", title="The mean of a sample", left=sampled2, right={"mean": xbar2, "sampling": spread / (n * m)},
    assumptions=(Assumption.INDEPENDENT_SAMPLING,), **_VECTORS,
)  # fmt: skip
SAMPLE_LOOSE = Form(
    name="sample-loose", title="The mean of a sample, four times its variance", left=sampled2,
    right={"mean": xbar2, "sampling": 4 * spread / (n * m)}, assumptions=(Assumption.INDEPENDENT_SAMPLING,),
    **_VECTORS,
)  # fmt: skip
SAMPLE_EXACTLY = Form(
    name="sample-exactly", title="The mean of a sample without replacement", left=sampled2,
    right={"mean": xbar2, "sampling": spread * Q / n}, assumptions=(Assumption.INDEPENDENT_SAMPLING,), **_VECTORS,
)  # fmt: skip
SUM = Form(name="sum", title="The square of a sum", left=sum2, right={"bound": n * squares}, **_VECTORS)

# -<grad f(x), h_k> = (||grad f(x) - h_k||^2 - G - ||h_k||^2)/2, and ||grad f(x) - h_k||^2 is at most L^2 times the
# mean of ||y_ik - x||^2.
FIRST_ORDER = Form(
    name="first-order", title="First-order change in a round of local steps", left=inner,
    right={"descent": -g * K * G / 2, "drift": g * L**2 * DRIFT / (2 * n)}, over=EACH, **_NOISY,
)  # fmt: skip
# ||y_ik - x|| <= g k (1 + g L)^k ||grad f_i(x)||, e^(1/5) < 5/4, and the squares of k < K add up to SQUARES/6.
QUIET_DRIFT = Form(
    name="drift", title="Drift of local gradient steps", left=DRIFT,
    right={"gradient": sp.Rational(5, 24) * g**2 * SQUARES * B}, caps=(SHORT,), over=EACH, **_QUIET,
)  # fmt: skip
ROUGH_DRIFT = Form(
    name="drift-rough", title="Drift of local gradient steps, roughly", left=DRIFT,
    right={"gradient": 5 * g**2 * K**3 * B},
    caps=(SHORT,), over=EACH, **_QUIET,
)  # fmt: skip
# Twice the noiseless drift, and twice what noise adds: E||y_ik - z_ik||^2 <= e^(1/5) k g^2 sigma^2 for noiseless z_ik.
NOISY_DRIFT = Form(
    name="drift-noise", title="Drift of local stochastic steps", left=DRIFT,
    right={
        "gradient": sp.Rational(5, 12) * g**2 * SQUARES * B,
        "noise": sp.Rational(5, 4) * n * g**2 * K * (K - 1) * sigma_u**2,
    }, caps=(SHORT,), over=EACH, **_NOISY,
)  # fmt: skip
# L/2 ||sum of the steps||^2 <= L gamma^2 K/2 sum_k ||h_k||^2, which the first-order change pays for up to 1/(K L).
DRIFTING = Form(
    name="local-gd", title="Local gradient descent, by its drift", left=G,
    right={"gap": 2 * F_0 / (gamma * K * T), "drift": L**2 * DRIFT / (n * K)}, caps=((gamma, "<=", 1 / (K * L)),),
    settings={"m": n, "sigma_u": ZERO}, assumptions=(_SMOOTH, _ALL, _SHARED), products=OUTER_STEP,
)  # fmt: skip
# The two above, with B <= n (G + b^2): g^2 L^2 (5/24) (K - 1) (2K - 1) <= 1/240 of G goes to the left.
LOCAL = Form(
    name="local-gd-apart", title="Local gradient descent, clients apart", left=G,
    right={
        "gap": sp.Rational(21, 10) * F_0 / (g * K * T),
        "drift": sp.Rational(9, 40) * (g * L * b) ** 2 * (K - 1) * (2 * K - 1),
    }, caps=(SHORT,), **_APART,
)  # fmt: skip
LOCAL_ROUGH = Form(
    name="local-gd-rough", title="Local gradient descent, clients apart, roughly", left=G,
    right={"gap": sp.Rational(21, 10) * F_0 / (g * K * T), "drift": sp.Rational(9, 20) * (g * L * b * K) ** 2},
    caps=(SHORT,), **_APART,
)  # fmt: skip
# Noise in a round: L/2 E||.||^2 <= L g^2 K sum_k E||h_k||^2 + L g^2 K sigma^2/n, and the drift with noise above.
LOCAL_SGD = Form(
    name="local-sgd", title="Local SGD, clients apart", left=G,
    right={
        "gap": sp.Rational(11, 5) * F_0 / (g * K * T),
        "noise": sp.Rational(11, 5) * L * g * sigma_u**2 / n,
        "drift": sp.Rational(1, 2) * (g * L * b) ** 2 * (K - 1) * (2 * K - 1),
        "walk": sp.Rational(3, 2) * (g * L * sigma_u) ** 2 * (K - 1),
    }, caps=(SHORT,), settings={"m": n, "eta_u": ONE}, assumptions=(_SMOOTH, _NOISE, _ALL, _SHARED, _NEAR),
)  # fmt: skip
# As LOCAL, with q times the variance of the clients' sums: 2 K^2 b^2 + 2 K L^2 E/n on average over the clients.
LOCAL_SAMPLED = Form(
    name="local-sampled", title="Local gradient descent of sampled clients", left=G,
    right={
        "gap": sp.Rational(21, 10) * F_0 / (g * K * T),
        "drift": sp.Rational(3, 10) * (g * L * b) ** 2 * (K - 1) * (2 * K - 1),
        "sampling": sp.Rational(21, 10) * L * g * K * b**2 * Q,
    }, caps=(SHORT,), settings={"eta_u": ONE, "sigma_u": ZERO}, assumptions=(_SMOOTH, _SOME, _SHARED, _NEAR),
)  # fmt: skip
# f(u + d, v + e) <= f + first order + L (||d||^2 + mean ||e_i||^2), where each block has Lipschitz constant L.
COUPLED = Form(
    name="two-blocks", title="A step on shared and personal variables", left=fall, right={"bound": ZERO},
    caps=((g, "<=", 1 / L), (g_v, "<=", 1 / L)), over=EACH, algorithm="fedavg-p",
    settings={"K": ONE, "m": n, "eta_u": ONE, "eta_v": ONE, "sigma_u": ZERO, "sigma_v": ZERO},
    assumptions=(_SMOOTH, _ALL),
)  # fmt: skip

FEDERATED_PAIRS: tuple[StatementPair, ...] = (
    SGD_SAMPLED.pair(
        PairKind.CONSTANT, "half-sampling", "half the variance of sampling",
        "f_i = L x^2/2 - s_i x with g = 1/L: the server is at the mean of the sampled s_i/L, so that G = q b^2.",
        **SGD_SAMPLED.term(sampling=L * g * b**2 * Q / 2),
    ),
    SGD_SAMPLED.pair(
        PairKind.CONSTANT, "third-noise", "a third of the noise",
        "On f_i = L x^2/2 with g = 1/L from the minimiser G is L g sigma^2/m from the second round on.",
        **SGD_SAMPLED.term(noise=L * g * sigma_u**2 / (3 * m)),
    ),
    SAMPLE_EXACTLY.pair(
        PairKind.EXPONENT_N, "with-n", "n in place of n - 1",
        "X_1 = 1 and X_2 = -1 with m = 1: 1 on the left, 1/2 on the right.",
        **SAMPLE_EXACTLY.term(sampling=spread * (n - m) / (m * n**2)),
    ),
    SAMPLE_LOOSE.pair(
        PairKind.EXPONENT_N, "clients", "the variance of a sample falls with n besides",
        "m = 1 and X_i of mean 0: spread/n on the left, more than 4 spread/n^2 from n = 5 on.",
        **SAMPLE_LOOSE.term(sampling=4 * spread / (n**2 * m)),
    ),
    AVERAGED.pair(
        PairKind.EXPONENT_N, "clients", "n^2 in place of n",
        "Equal clients have B = n G, less than n^2 G/4 from n = 5 on.",
        hard="n >= 5", left={G: n**2 / 4},
    ),
    SPREAD.pair(
        PairKind.EXPONENT_N, "clients", "the root of n in place of n",
        "Where the mean gradient is 0, B is n b^2, more than 2 b^2 sqrt(n) from n = 5 on.",
        hard="n >= 5", **SPREAD.term(clients=2 * sp.sqrt(n) * b**2),
    ),
    SUM.pair(
        PairKind.EXPONENT_N, "independent", "the root of n in place of n",
        "n equal vectors have ||sum||^2 = n times the sum of the squares.",
        hard="equal vectors", right={"bound": sp.sqrt(n) * squares},
    ),
    NOISY_DRIFT.pair(
        PairKind.EXPONENT_N, "clients", "the noise of local iterates does not grow with n",
        "Each of n clients walks by itself: n g^2 sigma^2 K (K - 1)/2 where curvature is small.",
        hard="n >= 3", **NOISY_DRIFT.term(noise=sp.Rational(5, 4) * g**2 * K * (K - 1) * sigma_u**2),
    ),
    SGD_SAMPLED_LOOSE.pair(
        PairKind.EXPONENT_M, "noise", "the noise falls as 1/m^2",
        "On f_i = L x^2/2 with g = 1/L from the minimiser G is L g sigma^2/m, more than 4/m^2 from m = 5 on.",
        hard="m >= 5", **SGD_SAMPLED_LOOSE.term(noise=4 * L * g * sigma_u**2 / m**2),
    ),
    SGD_SAMPLED_LOOSE.pair(
        PairKind.EXPONENT_M, "sampling", "the variance of sampling falls as 1/m^2",
        "With g = 1/L and one curvature G tends to q b^2, and q = (n - m)/(m (n - 1)) is above 1/m^2 for m = 2 "
        "and n = 4.",
        hard="n >= 4", **SGD_SAMPLED_LOOSE.term(sampling=L * g * b**2 / m**2),
    ),
    SAMPLE.pair(
        PairKind.EXPONENT_M, "sampled", "the variance falls as 1/m^2",
        "m = 5 of n = 10 vectors of mean 0: the factor of spread is 1/90 on the left, 1/250 on the right.",
        **SAMPLE.term(sampling=spread / (n * m**2)),
    ),
    SAMPLED_MOVE.pair(
        PairKind.EXPONENT_M, "noise", "the noise falls as 1/m^2",
        "Equal clients with noise, m = n = 2: sigma^2/2 on the left, sigma^2/4 on the right.",
        **SAMPLED_MOVE.term(noise=g**2 * sigma_u**2 / m**2),
    ),
    LOCAL_SAMPLED.pair(
        PairKind.EXPONENT_K, "sampling", "the variance of sampling as with one step",
        "One curvature L: the server steps by g K with variance q (g K b)^2, so that G tends to L g K q b^2/2.",
        **LOCAL_SAMPLED.term(sampling=sp.Rational(21, 10) * L * g * b**2 * Q),
    ),
    LOCAL_SPREAD.pair(
        PairKind.EXPONENT_K, "clients", "K in place of K^2",
        "f_i with one small curvature: sums of K gradients are K times as far apart as one.",
        **LOCAL_SPREAD.term(clients=2 * n * K * b**2),
    ),
    QUIET_DRIFT.pair(
        PairKind.EXPONENT_K, "steps", "K^2 in place of K^3",
        "A client with small curvature moves k g grad f_i(x), whose squares add up to K^3/3.",
        **QUIET_DRIFT.term(gradient=sp.Rational(5, 12) * g**2 * K * (K - 1) * B),
    ),
    ROUGH_DRIFT.pair(
        PairKind.EXPONENT_K, "steps", "K^2 in place of K^3",
        "A client with small curvature moves k g grad f_i(x), "
        "whose squares add up to more than 5 K^2 from K = 17 on.",
        hard="K >= 17", right={"gradient": 5 * g**2 * K**2 * B},
    ),
    LOCAL_ROUGH.pair(
        PairKind.EXPONENT_K, "steps", "the drift grows as K",
        "f_1 = L x^2/2 and f_2 = -L s x with s > 0 small: G tends to (g (K - 1) L b)^2/16 as T grows.",
        hard="unequal curvatures, K >= 10, large T", **LOCAL_ROUGH.term(drift=sp.Rational(9,
        20) * (g * L * b) ** 2 * K),
    ),
    SGD_SAMPLED.pair(
        PairKind.MISSING, "sampling", "without the variance of sampling",
        "f_i = L x^2/2 - s_i x: the sampled mean differs from that of all even where F_0 and sigma are 0.",
        **SGD_SAMPLED.term(sampling=None),
    ),
    SGD_SAMPLED.pair(
        PairKind.MISSING, "noise", "without the noise",
        "Equal clients with noise from the minimiser: G is positive from the second round on.",
        **SGD_SAMPLED.term(noise=None),
    ),
    SPREAD.pair(
        PairKind.MISSING, "no-clients", "without the dissimilarity",
        "Two clients with opposite gradients have G = 0 and B > 0.",
        **SPREAD.term(clients=None),
    ),
    LOCAL.pair(
        PairKind.MISSING, "drift", "as if it were large batches",
        "f_1 = L x^2/2 and f_2 with half the curvature and another minimiser, "
        "K = 2: local steps end off the minimum.",
        hard="unequal curvatures", **LOCAL.term(drift=None),
    ),
    LOCAL_SGD.pair(
        PairKind.MISSING, "drift", "as if it were minibatch SGD",
        "f_1 = L x^2/2 and f_2 with half the curvature and another minimiser, K = 2 and sigma = 0.",
        hard="unequal curvatures", **LOCAL_SGD.term(drift=None),
    ),
    LOCAL_SGD.pair(
        PairKind.MISSING, "walk", "without what noise adds to the drift",
        "Equal f_i' = L max(x, 0): local walks have gradients of mean about g L sigma at x = 0, whatever n is.",
        hard="no quadratics", **LOCAL_SGD.term(walk=None),
    ),
    LOCAL_SAMPLED.pair(
        PairKind.MISSING, "drift", "without the drift",
        "m = n leaves no variance of sampling, "
        "and local steps of clients with unequal curvatures end off the minimum.",
        hard="unequal curvatures", **LOCAL_SAMPLED.term(drift=None),
    ),
    LOCAL_SAMPLED.pair(
        PairKind.MISSING, "no-sampling", "without the variance of sampling",
        "One curvature and m = 1 of n = 2: the server goes to and fro between the clients' minimisers.",
        **LOCAL_SAMPLED.term(sampling=None),
    ),
    SGD_SAMPLED.pair(
        PairKind.METRIC, "each-client", "the mean of the clients' squared gradients",
        "m = n = 2 and opposite gradients at x: B/n = b^2, and the right side falls with T.",
        left={B: 1 / n},
    ),
    LOCAL.pair(
        PairKind.METRIC, "each-client", "the mean of the clients' squared gradients",
        "One curvature and opposite gradients at x: B/n = b^2, and with K = 1 the right side falls with T.",
        left={B: 1 / n},
    ),
    LOCAL.pair(
        PairKind.METRIC, "every-round", "in every round in place of on average",
        "Equal f_i = L x^2/2 start at 2 L F_0, and the right side falls as 1/T.",
        over=EACH,
    ),
    DRIFTING.pair(
        PairKind.CAP, "steps", "the cap without K",
        "f = L x^2/2 with gamma_u near 0 and gamma = 1/L goes from x to (1 - K) x, and E is near 0.",
        caps=((gamma, "<=", 1 / L),),
    ),
    LOCAL.pair(
        PairKind.CAP, "steps", "the cap without K",
        "f = L x^2/2 with g = 1/L and T = 1 has 2 L F_0 on the left, 21/10 L F_0/K on the right.",
        caps=((g, "<=", 1 / L),),
    ),
    SGD_SAMPLED.pair(
        PairKind.CAP, "three", "up to 3/L", "f_i = L x^2/2 with g = 3/L goes from x to -2x.", caps=((g, "<=", 3 / L),)
    ),
    COUPLED.pair(
        PairKind.CAP, "two", "up to 2/L",
        "n = 1 and f = L (u + v)^2/2: with g = 2/L and g_v = 1/L a step goes from u + v to -2 (u + v).",
        hard="coupled blocks", caps=((g, "<=", 2 / L), (g_v, "<=", 1 / L)),
    ),
    QUIET_DRIFT.pair(
        PairKind.CONVEXITY, "cap", "up to 1/L",
        "f = -L x^2/2 near x = 1: the local iterates grow as (1 + g L)^k.",
        hard="negative curvature", caps=((g, "<=", 1 / L),),
    ),
    SAMPLED_VALUES.pair(
        PairKind.CONVEXITY, "mean", "for a mean that is strongly convex",
        "f_1 = (x - 1)^2/2 and f_2 = -9 (x - 1)^2/20: a drawn client multiplies x - 1 by 1 - g or 1 + 0.9 g, whose "
        "squares have a mean above 1.",
        hard="clients that are not convex",
        assumptions=(
            _SMOOTH, Assumption.STRONG_CONVEXITY, _SOME, Assumption.MINIMISER_HETEROGENEITY, _SHARED,
        ),
    ),
    FIRST_ORDER.pair(
        PairKind.LEMMA, "drift", "half the drift",
        "f = L x^2/2 with g = 1/L and large K: y_k = 0 for k > 0, and the true right side is attained.",
        **FIRST_ORDER.term(drift=g * L**2 * DRIFT / (4 * n)),
    ),
    QUIET_DRIFT.pair(
        PairKind.LEMMA, "mean", "the mean gradient for the clients' own",
        "Two clients with opposite gradients drift, and G is 0.",
        **QUIET_DRIFT.term(gradient=sp.Rational(5, 24) * g**2 * SQUARES * n * G),
    ),
    NOISY_DRIFT.pair(
        PairKind.LEMMA, "noise", "the noise as if steps did not add up",
        "A walk of k steps has variance k g^2 sigma^2, which adds up to K (K - 1)/2.",
        **NOISY_DRIFT.term(noise=sp.Rational(5, 4) * n * g**2 * K * sigma_u**2),
    ),
    SAMPLED_MOVE.pair(
        PairKind.LEMMA, "sampling", "n in place of n - 1",
        "Two clients with opposite gradients and m = 1: g^2 B/2 on the left, g^2 B/4 on the right.",
        **SAMPLED_MOVE.term(sampling=g**2 * (B - n * G) * (n - m) / (n**2 * m)),
    ),
    LOCAL_MOVE.pair(
        PairKind.LEMMA, "sampling", "without the variance of sampling",
        "Two clients with opposite gradients and m = 1: the server moves, and T_2u is 0.",
        **LOCAL_MOVE.term(sampling=None),
    ),
)  # fmt: skip
