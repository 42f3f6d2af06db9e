"""Symbols, and a short way to a check.

``eta`` is eta_g*eta_l. Sums over a run are symbols: Gamma is sum_t E||sum of the gradients in y^(t)||^2, D the sum of
the squared differences between K*sum_i grad f_i(x^t) and these gradients, G the sum of E||grad f(x^t)||^2, I the inner
products with the noise, W the sum of E||x^{t+1} - x^t||^2, X the drift sum_t sum_{i in A_t} sum_k E||x^{a_{i,t}} -
x_i^{a_{i,t},k}||^2; all run over t < T. Gamma_T, G_T and W_T are the summands of t = T, a round that is not played.
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger.proof import at_most
from bounds.ledger.step import Scalar, above, below
from bounds.papers.fedsum.symbols import T, tau_avg, tau_max

tau = tau_max
tau_t = sp.Symbol("tau_t", integer=True, positive=True)
A_t = sp.Symbol("A_t", nonnegative=True)
Gamma, D, G, W, X = sp.symbols("Gamma D G W X", nonnegative=True)
Gamma_T, G_T, W_T = sp.symbols("Gamma_T G_T W_T", nonnegative=True)
I = sp.Symbol("I", real=True)  # noqa: E741  # the inner product

# max{1, tau_avg} as one symbol, which keeps roots short.
average = sp.Symbol("max(1,tau_avg)", positive=True)
# Where the paper divides by sigma.
noisy = sp.Symbol("sigma", positive=True)

AVERAGE_FACTS = (above(average, 1), below(tau_avg, average))
SOMEBODY_AWAY = above(tau, 1, "tau_max of Section 2.2")
# Section 2.2 takes tau_max over rounds 0 ... T, although S_T is not given: with nobody in round T it is at least 1.
TO_T = "tau_max over rounds 0 ... T, as in Section 2.2; with nobody in round T it is at least 1"
PLAYED = "Over rounds 0 ... T-1, as in Appendix F, tau_max is 0 if everybody always takes part"


def of_a_run(claim: Scalar) -> Scalar:
    """The claim with what holds of the delays of every run, so that nothing else refutes it.

    tau_max is a whole number up to T, tau_avg is at most tau_max, and max{1, tau_avg} at most max{1, tau_max}.
    """
    sides = [claim.left, claim.right, *(side for h in claim.hypotheses for side in (h.left, h.right))]
    symbols = {symbol for side in sides for symbol in side.free_symbols}
    facts = [
        below(tau, T, "tau_max <= T") if T in symbols else None,
        below(tau_avg, tau, "tau_avg <= tau_max") if tau_avg in symbols else None,
        below(average, sp.Max(1, tau), "tau_avg <= tau_max") if average in symbols else None,
    ]
    whole = {tau: sp.Symbol("tau_max", integer=True, nonnegative=True)}

    hypotheses = (*claim.hypotheses, *(fact for fact in facts if fact is not None))
    return at_most(claim.left, claim.right, *hypotheses, operator=claim.operator).put(whole)
