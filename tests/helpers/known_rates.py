"""Textbook rates as statements whose terms stand apart, so that each has a row of its own in a rate card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

import bounds
from bounds.papers.textbook.statements import VOCABULARY
from bounds.statement import Condition, Statement, StepRule

n, m, K, T, L, F_0, b, sigma, gamma = (
    VOCABULARY[name].symbol for name in ("n", "m", "K", "T", "L", "F_0", "b", "sigma_u", "gamma_u")
)


def like(
    key: str,
    name: str,
    terms: Mapping[str, sp.Expr],
    *,
    rule: sp.Expr | None = None,
    cap: sp.Expr | None = None,
    algorithm: str = "fedavg",
    **settings: sp.Expr,
) -> Statement:
    """A catalogued statement about the same runs with other terms, step size and settings."""
    known = bounds.get(f"textbook/{key}")
    claim = known.claims[0]
    # A bound above what smoothness alone gives says nothing about rates.
    claim = replace(claim, terms=terms, metric=replace(claim.metric, trivial=2 * L * F_0))
    return replace(
        known,
        key=f"textbook/{name}",
        algorithm=algorithm,
        claims=(claim,),
        conditions=() if cap is None else (Condition(name="cap", left=gamma, operator="<=", right=cap),),
        step_rules=() if rule is None else (StepRule(symbol=gamma, value=rule, at_least=False),),
        settings=settings,
    )


def _tuned(name: str, key: str, variance: sp.Expr) -> Statement:
    """One step of each participant, of the size that is best against this variance of the mean gradient."""
    terms = {"initial gap": 2 * L * F_0 / T, "variance": sp.sqrt(8 * L * F_0 * variance / T)}
    rule = 1 / (L + sp.sqrt(L * T * variance / (2 * F_0)))
    given = bounds.get(f"textbook/{key}").settings
    return like(key, name, terms, rule=rule, **given)


ONE = sp.Integer(1)
# Gradient descent at 1/L.
GRADIENT_DESCENT = like("gradient-descent-rule", "gd", {"initial gap": 2 * L * F_0 / T}, rule=1 / L, K=ONE, m=n,
                        eta_u=ONE, sigma_u=sp.Integer(0))  # fmt: skip
# Every client one step: the noise of the mean gradient is sigma^2/n.
SGD = _tuned("sgd-two-terms", "sgd-tuned", sigma**2 / n)
# One step of m of n clients without replacement: the mean differs from that of all by (n - m)/(m (n - 1)) b^2.
SAMPLING = _tuned("fedavg-sampling", "sgd-sampled-exactly", b**2 * (n - m) / (m * sp.Max(1, n - 1)))


def drift(algorithm: str) -> Statement:
    """K local steps of all clients, without noise: far from tight in its constants."""
    terms = {"initial gap": 4 * F_0 / (gamma * K * T), "drift": 128 * gamma**2 * L**2 * b**2 * K * (K - 1)}
    return like(
        "sgd-sampled-exactly", f"drift-{algorithm}", terms, cap=1 / (32 * K * L), algorithm=algorithm,
        m=n, eta_u=ONE, sigma_u=sp.Integer(0),
    )  # fmt: skip
