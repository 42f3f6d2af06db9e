"""Pairs about minibatches and about methods that keep old gradients while clients are away.

FedSUM-B moves x along H_t, the sum of the last gradients of all clients that have taken part, by step K/n, where
``step`` = eta_g eta_l. Nothing here needs convexity.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from bounds.papers.textbook.pairing import (
    B_0,
    DELAYED_STEP,
    E_tau,
    Form,
    PairKind,
    StatementPair,
    delta,
    direction,
    moved,
    stale,
    step,
    tau,
)
from bounds.papers.textbook.statements import EACH, F_0, ONE, ZERO, B, G, K, L, T, m, n, sigma_u
from bounds.statement import Assumption, Over, Relation

_SMOOTH, _NOISE, _SHARED = Assumption.SMOOTHNESS, Assumption.NOISE, Assumption.NO_PERSONAL
_BATCHES: dict[str, Any] = {
    "settings": {"m": n}, "assumptions": (_SMOOTH, _NOISE, Assumption.FULL_PARTICIPATION, _SHARED),
    "algorithm": "fedsum-b", "products": DELAYED_STEP,
}  # fmt: skip
_ANY: dict[str, Any] = {
    "settings": {"sigma_u": ZERO}, "assumptions": (_SMOOTH, Assumption.OBLIVIOUS_PARTICIPATION, _SHARED),
    "algorithm": "fedsum-b", "products": DELAYED_STEP,
}  # fmt: skip
_WHOLE: dict[str, Any] = {**_ANY, "over": Over.WHOLE_RUN}
_LATE = sp.Max(1, tau)

# SGD of step size step K, whose gradient is a mean of n K.
BATCHES = Form(
    name="minibatches", title="SGD with K gradients of every client", left=G,
    right={"gap": 2 * F_0 / (step * K * T), "noise": L * step * sigma_u**2 / n}, caps=((step * K, "<=", 1 / L),),
    **_BATCHES,
)  # fmt: skip
MOVED = Form(
    name="moved", title="How far old gradients move the server", left=moved,
    right={"bound": (step * K / n) ** 2 * direction},
    relation=Relation.EQUAL, **_WHOLE,
)  # fmt: skip
# A client that has taken part is off by L ||x^t - x^a||, t - a <= tau; one that has not by that and grad f_i(x^0), in
# at most tau rounds. (a + c)^2 <= 2 a^2 + 2 c^2, and a round counts in at most tau windows.
STALE = Form(
    name="stale", title="Staleness of the server's direction, no noise", left=stale,
    right={"moved": 2 * (step * K * L * tau) ** 2 * direction, "first": 2 * n * tau * B_0}, **_WHOLE,
)  # fmt: skip
# f(x^{t+1}) <= f(x^t) - s/2 (G + (1 - L s) ||v||^2 - ||grad f(x^t) - v||^2) with s = step K and v = H_t/n, and the
# staleness above: 2 (s L tau)^2 <= 1/2 <= 1 - L s.
DELAYED = Form(
    name="delayed", title="Gradient descent with old gradients", left=G,
    right={"gap": 2 * F_0 / (step * K * T), "first": 2 * tau * B_0 / (n * T)}, caps=((step * K, "<=",
    1 / (2 * L * _LATE)),),
    **_ANY,
)  # fmt: skip
_DELAYS: dict[str, Any] = {"over": Over.WHOLE_RUN, "algorithm": None}
# Blocks in a fixed order: ceil(n/m) rounds from one turn to the next, and ceil(n/m) - 1 <= (n - 1)/m.
CYCLIC = Form(
    name="cyclic-delay", title="Delay of clients in a fixed order", left=E_tau, right={"delay": (n - 1) / m},
    assumptions=(Assumption.CYCLIC_BLOCKS,), **_DELAYS,
)  # fmt: skip
# First of one epoch and last of the next.
RESHUFFLED = Form(
    name="reshuffled-delay", title="Delay of clients in an order drawn in each epoch", left=E_tau,
    right={"delay": 2 * (n - 1) / m}, assumptions=(Assumption.RESHUFFLED_BLOCKS,), **_DELAYS,
)  # fmt: skip


def _waiting(chance: sp.Expr) -> dict[str, sp.Expr]:
    """Where a client waits for k rounds with probability at most (1 - chance)^k in each of T + 1 rounds.

    The sum over k of min(1, n (T + 1) (1 - chance)^k) is at most log(n (T + 1))/chance + 1 + 1/chance.
    """
    return {"delay": 1 + (1 + sp.log(n * (T + 1))) / chance}


UNIFORM = Form(
    name="uniform-delay", title="Delay of sampled clients", left=E_tau, right=_waiting(m / n),
    assumptions=(Assumption.UNIFORM_SUBSETS,), **_DELAYS,
)  # fmt: skip
INDEPENDENT = Form(
    name="independent-delay", title="Delay of clients that come and go", left=E_tau, right=_waiting(delta),
    caps=((delta, "<=", ONE),), assumptions=(Assumption.INDEPENDENT_PARTICIPATION,), **_DELAYS,
)  # fmt: skip

DELAY_PAIRS: tuple[StatementPair, ...] = (
    BATCHES.pair(
        PairKind.CONSTANT, "quarter-noise", "a quarter of the noise",
        "On f = L x^2/2 with step K = 1/L from the minimiser G is L step sigma^2/n from the second round on.",
        **BATCHES.term(noise=L * step * sigma_u**2 / (4 * n)),
    ),
    RESHUFFLED.pair(
        PairKind.CONSTANT, "half", "as in a fixed order",
        "n = 2 and m = 1: whoever is first in one epoch and last in the next waits for two rounds between.",
        right={"delay": (n - 1) / m},
    ),
    MOVED.pair(
        PairKind.EXPONENT_N, "clients", "n^3 in place of n^2",
        "n equal clients f_i = L x^2/2 with T = 1 move as one does.",
        right={"bound": (step * K) ** 2 * direction / n**3},
    ),
    CYCLIC.pair(
        PairKind.EXPONENT_M, "sampled", "m^2 in place of m",
        "n = 10 clients, m = 5 in a round: one round of delay, 9/25 on the right.",
        right={"delay": (n - 1) / m**2},
    ),
    BATCHES.pair(
        PairKind.EXPONENT_K, "noise", "the noise falls with K besides",
        "On f = L x^2/2 with step K = 1/L from the minimiser G is L step sigma^2/n from the second round on.",
        **BATCHES.term(noise=L * step * sigma_u**2 / (n * K)),
    ),
    CYCLIC.pair(
        PairKind.EXPONENT_TAU, "root", "the root of it",
        "n = 10 clients, one in a round: nine rounds of delay.",
        right={"delay": sp.sqrt((n - 1) / m)},
    ),
    UNIFORM.pair(
        PairKind.EXPONENT_TAU, "root", "the root of n/m",
        "One of n = 40 clients in each of 1000 rounds: some client waits for about 270 of them.",
        hard="n >= 20 and T >= 100", right=_waiting(sp.sqrt(m / n)),
    ),
    INDEPENDENT.pair(
        PairKind.EXPONENT_TAU, "root", "the root of 1/delta",
        "delta = 1/100 and T = 1000: some client waits for hundreds of rounds.",
        hard="small delta and large T", right=_waiting(sp.sqrt(delta)),
    ),
    STALE.pair(
        PairKind.EXPONENT_TAU, "moved", "tau in place of tau^2",
        "A client with curvature L that is away while others with steady gradients move x: tau^3/3 adds up.",
        **STALE.term(moved=2 * (step * K * L) ** 2 * tau * direction),
    ),
    STALE.pair(
        PairKind.EXPONENT_TAU, "first", "the root of tau for clients that have not taken part",
        "n - 1 of n clients away until the last round, step near 0: (n - 1)^2/n^2 of n B_0 in each of tau rounds.",
        **STALE.term(first=2 * n * sp.sqrt(tau) * B_0),
    ),
    DELAYED.pair(
        PairKind.EXPONENT_TAU, "cap", "the root of tau in the cap",
        "f = L x^2/2 of one client that comes every tau + 1 rounds goes to (1 - L s (tau + 1)) x between: it grows "
        "where tau + 1 > 4 sqrt(tau).",
        hard="one client with gaps of 16 rounds, or T >= 200", caps=((step * K, "<=", 1 / (2 * L * sp.Max(1,
        sp.sqrt(tau)))),),
    ),
    UNIFORM.pair(
        PairKind.MISSING, "rounds", "without T in the logarithm",
        "One of n = 2 clients in a round: the longest wait grows with the logarithm of T.",
        hard="T >= 100", right={"delay": 1 + (1 + sp.log(2 * n)) * n / m},
    ),
    DELAYED.pair(
        PairKind.MISSING, "first", "without the gradients of those not heard yet",
        "x^0 minimises (f_1 + f_2)/2: F_0 is 0, and client 1 alone moves x away.",
        **DELAYED.term(first=None),
    ),
    STALE.pair(
        PairKind.MISSING, "no-first", "without the gradients of those not heard yet",
        "n = 2, client 2 away in round 0 and step near 0: its gradient is missing.",
        **STALE.term(first=None),
    ),
    BATCHES.pair(
        PairKind.METRIC, "each-client", "the mean of the clients' squared gradients",
        "Two clients with opposite gradients at x: F_0 is 0.",
        left={B: 1 / n},
    ),
    BATCHES.pair(
        PairKind.METRIC, "every-round", "in every round in place of on average",
        "f = L x^2/2 with step K = 1/L starts at 2 L F_0, and the right side falls as 1/T.",
        over=EACH,
    ),
    BATCHES.pair(
        PairKind.CAP, "steps", "the cap without K",
        "f = L x^2/2 with step = 1/L and K = 3 goes from x to -2x.",
        caps=((step, "<=", 1 / L),),
    ),
    DELAYED.pair(
        PairKind.CAP, "delay", "the cap without the delay",
        "One client with f = L x^2/2 and step K = 1/(2L) that comes every fifth round goes from x to -3x/2 between.",
        caps=((step * K, "<=", 1 / (2 * L)),),
    ),
    MOVED.pair(
        PairKind.LEMMA, "steps", "K in place of K^2",
        "f = L x^2/2 with T = 1 and K = 2 moves by 2 step grad f(x).",
        right={"bound": step**2 * K * direction / n**2},
    ),
)  # fmt: skip
