"""Pairs about gradient descent and SGD in which every client takes part with one step, and about proximal steps.

Facts with a proof below hold for all smooth functions that are bounded below, convex or not.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from bounds.papers.textbook.pairing import OUTER_STEP, Form, PairKind, StatementPair
from bounds.papers.textbook.statements import (
    ALONE,
    CAP,
    EACH,
    EXACT,
    F_0,
    LATER,
    NOISY,
    ONE,
    TWICE,
    ZERO,
    B,
    G,
    G_prev,
    G_v,
    K,
    L,
    T,
    beta,
    descent,
    dist2,
    dist2_prev,
    du2,
    eta,
    fall,
    g,
    g_v,
    gamma,
    gap,
    gap_prev,
    grad_F2,
    lambda_,
    n,
    nearer,
    sigma_u,
    sigma_v,
)
from bounds.statement import Assumption, StepRule

EXACTLY = (Assumption.SMOOTHNESS, Assumption.FULL_PARTICIPATION, Assumption.NO_PERSONAL)
NOISILY = (Assumption.SMOOTHNESS, Assumption.NOISE, Assumption.FULL_PARTICIPATION, Assumption.NO_PERSONAL)
# What noise adds to f in a step, at most.
RISE = L * (g * sigma_u) ** 2 / (2 * n)
START = 2 * F_0 / (g * T)
_NOISY: dict[str, Any] = {"settings": NOISY, "assumptions": NOISILY}
_EXACT: dict[str, Any] = {"settings": EXACT, "assumptions": EXACTLY}

DESCENT = Form(name="gd", title="Gradient descent", left=G, right={"gap": START}, caps=(CAP,), **_EXACT)
OUTER = Form(
    name="gd-outer-step", title="Gradient descent with an outer step", left=G, right={"gap": 2 * F_0 / (gamma * T)},
    caps=((gamma, "<=", 1 / L),), settings={"K": ONE, "m": n, "sigma_u": ZERO}, assumptions=EXACTLY,
    products=OUTER_STEP,
)  # fmt: skip
SGD = Form(
    name="sgd-two-terms", title="SGD", left=G, right={"gap": START, "noise": L * g * sigma_u**2 / n}, caps=(CAP,),
    **_NOISY,
)  # fmt: skip
SGD_WIDE = Form(
    name="sgd-up-to-two", title="SGD up to 2/L", left={G: 2 - L * g},
    right={"gap": START, "noise": L * g * sigma_u**2 / n}, caps=(TWICE,), **_NOISY,
)  # fmt: skip
# Weaker than SGD by a factor in the noise, behind which a wrong power of n hides up to n = 4.
SGD_LOOSE = Form(
    name="sgd-loose", title="SGD, four times the noise", left=G,
    right={"gap": START, "noise": 4 * L * g * sigma_u**2 / n}, caps=(CAP,), **_NOISY,
)  # fmt: skip
# With the step size that balances the two terms of SGD.
TUNED = Form(
    name="sgd-balanced", title="SGD, tuned", left=G,
    right={"gap": 2 * L * F_0 / T, "noise": sp.sqrt(8 * L * F_0 * sigma_u**2 / (n * T))},
    rules=(StepRule(symbol=g, value=1 / (L + sigma_u * sp.sqrt(L * T / (2 * F_0 * n))), at_least=False),), **_NOISY,
)  # fmt: skip
PERSONAL = Form(
    name="sgd-of-each", title="Every client its own SGD", left=G_v,
    right={"gap": 2 * F_0 / (g_v * T), "noise": L * g_v * sigma_v**2}, caps=((g_v, "<=", 1 / L),),
    settings={"K": ONE, "m": n, "eta_v": ONE}, algorithm="parallel-sgd",
    assumptions=(Assumption.SMOOTHNESS, Assumption.NOISE, Assumption.FULL_PARTICIPATION, Assumption.NO_SHARED),
)  # fmt: skip
# SCAFFOLD's corrections add up to 0 over all clients: with one step each it is SGD.
SCAFFOLD = Form(
    name="scaffold-one-step", title="SCAFFOLD, one step of every client", left=G,
    right={"gap": START, "noise": L * g * sigma_u**2 / n}, caps=(CAP,), algorithm="scaffold", **_NOISY,
)  # fmt: skip
# A step of local gradient descent on f alone never rises, and loses g/2 of its squared gradient.
ALONE_LOCALLY = Form(
    name="gd-in-rounds", title="One client, K steps in a round", left=G, right={"gap": START}, caps=(CAP,),
    settings=ALONE, assumptions=EXACTLY,
)  # fmt: skip
VALUES = Form(name="values", title="Values fall", left=fall, right={"bound": ZERO}, caps=(TWICE,), over=EACH, **_EXACT)
STEP = Form(
    name="step", title="A stochastic step", left=fall, right={"descent": -g * (1 - L * g / 2) * G, "noise": RISE},
    over=EACH, **_NOISY,
)  # fmt: skip
HALF_STEP = Form(
    name="half-step", title="A step of at most 1/L", left=fall, right={"descent": -g * G / 2}, caps=(CAP,), over=EACH,
    **_EXACT,
)  # fmt: skip
TOTAL = Form(
    name="total", title="What all rounds descend", left={descent: -ONE}, right={"gap": F_0 / T}, **_NOISY
)  # fmt: skip
# Round after round f rises by RISE at most, where steps are at most 2/L.
GAPS = Form(
    name="gaps", title="Values of SGD, any round", left=gap, right={"gap": F_0, "noise": 5 * T * RISE}, caps=(TWICE,),
    over=EACH, **_NOISY,
)  # fmt: skip
GAP_STEP = Form(
    name="gap-step", title="Values from one round to the next", left=gap, right={"gap": gap_prev, "noise": RISE},
    caps=(CAP,), over=LATER, **_NOISY,
)  # fmt: skip
MEAN_GAP = Form(
    name="mean-gap", title="Values on average", left=gap, right={"gap": F_0}, caps=(CAP,), **_EXACT
)  # fmt: skip
# ||x^{t+1} - x^t||^2 = g^2 G, and the mean of G is at most 2 F_0/(g T).
MOVES = Form(
    name="moves", title="How far gradient descent moves", left=du2, right={"gap": 10 * g * F_0 / T}, caps=(CAP,),
    **_EXACT,
)  # fmt: skip
# f(x - grad f(x)/L) is not below inf f.
SELF_BOUND = Form(name="self-bound", title="Gradients and values", left={G: ONE, gap: -2 * L}, right={"bound": ZERO},
                  over=EACH, **_NOISY)  # fmt: skip
GROWTH = Form(name="growth", title="Values and distances", left=gap, right={"distance": L * dist2 / 2}, over=EACH,
              **_NOISY)  # fmt: skip
BOUNDED = Form(name="bounded", title="Gradients never exceed smoothness", left=G, right={"gap": 2 * L * F_0},
               caps=(TWICE,), over=EACH, **_EXACT)  # fmt: skip
# With x* a stationary point: <grad f(x), x - x*> >= -||grad f(x)|| ||x - x*||, and Cauchy-Schwarz for the expectation.
NEARER = Form(
    name="nearer", title="Distances after a step", left=nearer,
    right={"first": 2 * g * sp.sqrt(G * dist2), "second": g**2 * G, "noise": g**2 * sigma_u**2 / n}, over=EACH,
    **_NOISY,
)  # fmt: skip
# ||x - x* - g grad f(x)|| <= (1 + g L) ||x - x*||.
DISTANCES = Form(
    name="distances", title="Distances from one round to the next", left=dist2,
    right={"distance": (1 + g * L) ** 2 * dist2_prev, "noise": g**2 * sigma_u**2 / n}, caps=(CAP,), over=LATER,
    **_NOISY,
)  # fmt: skip
# ||grad f(x+) - grad f(x)|| <= L g ||grad f(x)||.
GRADIENTS = Form(
    name="gradients", title="Gradients from one round to the next", left=G,
    right={"gradient": (1 + g * L) ** 2 * G_prev}, caps=(CAP,), over=LATER, **_EXACT,
)  # fmt: skip

# prox(w) minimises f + lambda/2 ||. - w||^2, so that it loses ||grad F||^2/(2 lambda) of f, convex or not.
_PROX: dict[str, Any] = {
    "settings": {"n": ONE, "m": ONE, "beta": ONE}, "assumptions": (Assumption.FULL_PARTICIPATION,
    Assumption.NO_PERSONAL),
    "rules": (StepRule(symbol=eta, value=1 / lambda_, at_least=False),), "algorithm": "pfedme",
}  # fmt: skip
PROXIMAL = Form(
    name="proximal",
    title="Proximal point, K steps in a round",
    left=grad_F2,
    right={"gap": 2 * lambda_ * F_0 / T},
    **_PROX,
)
# F - lambda/2 ||.||^2 is concave, and F has the infimum of f and lies below it: gradient descent on F.
DAMPED = Form(
    name="proximal-damped", title="Damped proximal point", left=grad_F2,
    right={"gap": 2 * lambda_ * F_0 / (beta * (2 - beta) * T)}, caps=((beta, "<", sp.Integer(2)),),
    **{**_PROX, "settings": {"n": ONE, "m": ONE, "K": ONE}},
)  # fmt: skip

GRADIENT_PAIRS: tuple[StatementPair, ...] = (
    OUTER.pair(
        PairKind.CONSTANT, "half", "half the gap", "f = L x^2/2 with gamma = 1/L and T = 1 has 2 L F_0 on the left.",
        right={"gap": F_0 / (gamma * T)},
    ),
    SGD_WIDE.pair(
        PairKind.CONSTANT, "noise", "a third of the noise",
        "On f = L x^2/2 from its minimiser the left side tends to L g sigma^2/n as T grows.",
        **SGD_WIDE.term(noise=L * g * sigma_u**2 / (3 * n)),
    ),
    PERSONAL.pair(
        PairKind.CONSTANT, "noise", "a third of the noise",
        "On f_i = L v^2/2 with g = 1/L from the minimiser the left side is L g sigma^2 from the second round on.",
        **PERSONAL.term(noise=L * g_v * sigma_v**2 / 3),
    ),
    TUNED.pair(
        PairKind.CONSTANT, "quarter", "a quarter of the noise",
        "On f = L x^2/2 with large T the left side is sqrt(2 L F_0 sigma^2/(n T)), half the true term.",
        **TUNED.term(noise=sp.sqrt(L * F_0 * sigma_u**2 / (2 * n * T))),
    ),
    SCAFFOLD.pair(
        PairKind.CONSTANT, "noise", "half the noise",
        "On f = L x^2/2 with g = 1/L from its minimiser the left side is L g sigma^2/n from the second round on.",
        **SCAFFOLD.term(noise=L * g * sigma_u**2 / (2 * n)),
    ),
    ALONE_LOCALLY.pair(
        PairKind.CONSTANT, "half", "half the gap", "f = L x^2/2 with g = 1/L and T = 1 has 2 L F_0 on the left.",
        right={"gap": F_0 / (g * T)},
    ),
    PROXIMAL.pair(
        PairKind.CONSTANT, "quarter", "a quarter of it",
        "f = a x^2/2 with small a and K = 1 has half the true right side on the left as T grows.",
        right={"gap": lambda_ * F_0 / (2 * T)},
    ),
    DAMPED.pair(
        PairKind.CONSTANT, "quarter", "a quarter of it",
        "f = a x^2/2 with small a has 1 - beta/2 times the true right side on the left as T grows.",
        right={"gap": lambda_ * F_0 / (2 * beta * (2 - beta) * T)},
    ),
    SGD_LOOSE.pair(
        PairKind.EXPONENT_N, "clients", "the noise falls as 1/n^2",
        "On f = L x^2/2 with g = 1/L from its minimiser the left side is L g sigma^2/n, "
        "more than 4/n^2 from n = 5 on.",
        hard="n >= 5", **SGD_LOOSE.term(noise=4 * L * g * sigma_u**2 / n**2),
    ),
    SGD.pair(
        PairKind.EXPONENT_N, "clients", "the noise falls as n^(-3/2)",
        "On f = L x^2/2 with g = 1/L from its minimiser the left side is L g sigma^2/n from the second round on.",
        **SGD.term(noise=L * g * sigma_u**2 / n ** sp.Rational(3, 2)),
    ),
    PERSONAL.pair(
        PairKind.EXPONENT_N, "clients", "the noise falls as 1/n",
        "Nothing is averaged: n equal clients have the squared gradients of one.",
        **PERSONAL.term(noise=L * g_v * sigma_v**2 / n),
    ),
    PROXIMAL.pair(
        PairKind.EXPONENT_K, "steps", "K times better",
        "f = lambda x^2/2 and T = 1 has lambda F_0/2 on the left, for every K.",
        right={"gap": 2 * lambda_ * F_0 / (K * T)},
    ),
    ALONE_LOCALLY.pair(
        PairKind.EXPONENT_K, "steps", "K times better",
        "f = L x^2/2 with g = 1/L and T = 1 has 2 L F_0 on the left, for every K.",
        right={"gap": 2 * F_0 / (g * K * T)},
    ),
    DESCENT.pair(
        PairKind.EXPONENT_T, "rounds", "T^(-3/2) in place of 1/T",
        "f = L x^2/2 with g = 1/L has 2 L F_0/T on the left.",
        right={"gap": 2 * F_0 / (g * T ** sp.Rational(3, 2))},
    ),
    TUNED.pair(
        PairKind.EXPONENT_T, "rounds", "the noise falls as 1/T",
        "On f = L x^2/2 with large T the left side is sqrt(2 L F_0 sigma^2/(n T)).",
        **TUNED.term(noise=sp.sqrt(8 * L * F_0 * sigma_u**2 / n) / T),
    ),
    TOTAL.pair(
        PairKind.EXPONENT_T, "rounds", "1/T^2 in place of 1/T",
        "f = L x^2/2 with g = 1/L and no noise descends F_0 in the first round, F_0/T on average.",
        right={"gap": F_0 / T**2},
    ),
    GAPS.pair(
        PairKind.EXPONENT_T, "rounds", "the noise adds up as the root of T",
        "On f = L x^2/2 from its minimiser with small g the gap is (T - 1) L g^2 sigma^2/(2n) in the last round.",
        hard="T >= 27", **GAPS.term(noise=5 * sp.sqrt(T) * RISE),
    ),
    MOVES.pair(
        PairKind.EXPONENT_T, "rounds", "T^(-3/2) in place of 1/T",
        "f = L x^2/2 with g = 1/L has 2 g F_0/T on the left, more than 10 T^(-3/2) from T = 26 on.",
        hard="T >= 26", right={"gap": 10 * g * F_0 / T ** sp.Rational(3, 2)},
    ),
    SGD.pair(
        PairKind.MISSING, "noiseless", "without the noise",
        "On f = L x^2/2 from its minimiser the left side is positive from the second round on, and F_0 is 0.",
        **SGD.term(noise=None),
    ),
    GAPS.pair(
        PairKind.MISSING, "noiseless", "without the noise",
        "From the minimiser of f = L x^2/2 the gap of the second round is L g^2 sigma^2/(2n).",
        **GAPS.term(noise=None),
    ),
    SGD.pair(
        PairKind.METRIC, "each-client", "the mean of the clients' squared gradients",
        "Two clients L (x - 1)^2/2 and L (x + 1)^2/2 at x = 0: the mean gradient is 0, each one is not.",
        left={B: 1 / n},
    ),
    SGD.pair(
        PairKind.METRIC, "every-round", "in every round in place of on average",
        "f = L x^2/2 with g = 1/L starts at 2 L F_0, and the right side falls as 1/T.",
        over=EACH,
    ),
    MEAN_GAP.pair(
        PairKind.METRIC, "distance", "distances in place of values",
        "f = a x^2/2 with a < L has dist2 = 2 F_0/a at the start.",
        left={dist2: L / 2},
    ),
    BOUNDED.pair(
        PairKind.METRIC, "each-client", "the mean of the clients' squared gradients",
        "Two clients L (x - 1)^2/2 and L (x + 1)^2/2 at x = 0: F_0 is 0, their gradients are not.",
        left={B: 1 / n},
    ),
    GROWTH.pair(
        PairKind.METRIC, "gradient", "squared gradients in place of values",
        "f = L x^2/2 has G/L = L x^2, twice the right side.",
        left={G: 1 / L},
    ),
    PROXIMAL.pair(
        PairKind.METRIC, "every-round", "in every round in place of on average",
        "f = lambda x^2/2 starts at lambda F_0/2, and the right side falls as 1/T.",
        over=EACH,
    ),
    VALUES.pair(
        PairKind.CAP, "four", "up to 4/L", "f = L x^2/2 with g = 3/L goes from x to -2x.", caps=((g, "<=", 4 / L),)
    ),
    DESCENT.pair(
        PairKind.CAP, "two", "up to 2/L", "f = L x^2/2 with g = 2/L goes from x to -x for ever.", caps=(TWICE,)
    ),
    SCAFFOLD.pair(
        PairKind.CAP, "four", "up to 4/L", "f = L x^2/2 with g = 3/L goes from x to -2x.", caps=((g, "<=", 4 / L),)
    ),
    OUTER.pair(
        PairKind.CAP, "three", "up to 3/L", "f = L x^2/2 with gamma = 3/L goes from x to -2x.",
        caps=((gamma, "<=", 3 / L),),
    ),
    GAP_STEP.pair(
        PairKind.CONVEXITY, "contracts", "values contract by 1 - g L",
        "f = a x^2/2 with a much smaller than L has (1 - g a)^2 in place of 1 - g L.",
        **GAP_STEP.term(gap=(1 - g * L) * gap_prev),
    ),
    DISTANCES.pair(
        PairKind.CONVEXITY, "contracts", "distances contract by (1 - g L)^2",
        "f = a x^2/2 with a much smaller than L has (1 - g a)^2.",
        **DISTANCES.term(distance=(1 - g * L) ** 2 * dist2_prev),
    ),
    SELF_BOUND.pair(
        PairKind.CONVEXITY, "reversed", "the other way round",
        "f = a x^2/2 with a < L has G = 2 a gap.",
        left={G: -ONE, gap: 2 * L},
    ),
    HALF_STEP.pair(
        PairKind.CONVEXITY, "gap", "a share g L of the gap is lost",
        "f = a x^2/2 with a much smaller than L loses 2 g a of the gap.",
        right={"descent": -g * L * gap},
    ),
    MEAN_GAP.pair(
        PairKind.CONVEXITY, "rate", "values on average fall as 1/(g L T)",
        "f = a x^2/2 with a much smaller than 1/(g T) keeps its gap F_0.",
        right={"gap": F_0 / (g * L * T)},
    ),
    GRADIENTS.pair(
        PairKind.CONVEXITY, "never-rise", "gradients never rise",
        "f = 1 + cos x has L = 1; near x = 0, where it is concave, a step takes x to (1 + g) x.",
        hard="negative curvature", right={"gradient": G_prev},
    ),
    STEP.pair(
        PairKind.LEMMA, "noise", "half the noise",
        "f = L x^2/2 rises by L g^2 sigma^2/(2n) from its minimiser.",
        **STEP.term(noise=RISE / 2),
    ),
    NEARER.pair(
        PairKind.LEMMA, "noise", "a quarter of the noise",
        "From the minimiser a step goes g^2 sigma^2/n away, where the other terms are 0.",
        **NEARER.term(noise=g**2 * sigma_u**2 / (4 * n)),
    ),
)  # fmt: skip
