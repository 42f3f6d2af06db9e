"""The FedSUM paper's assumptions, conditions and step rules, and how its statements are built."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds.papers.fedsum.symbols import (
    F_0,
    TITLE,
    VOCABULARY,
    Delta_f,
    G_u,
    K,
    L,
    N,
    S,
    T,
    eta,
    eta_g,
    eta_l,
    moved_sum,
    sigma,
    tau_avg,
    tau_max,
)
from bounds.statement import (
    Assumption,
    Claim,
    Condition,
    Metric,
    Over,
    Relation,
    Source,
    Statement,
    StepProduct,
    StepRule,
)

ONE = sp.Integer(1)
# max{1, tau_max}: what the rules need so that they have a value when everybody takes part all the time.
M = sp.Max(1, tau_max)
AVERAGE = sp.Max(1, tau_avg)

STANDARD = (Assumption.SMOOTHNESS, Assumption.TOTAL_NOISE, Assumption.OBLIVIOUS_PARTICIPATION)
# Of a random participation: its step sizes are known only when it is.
DRAWN = (*STANDARD, Assumption.DRAWN_STEP_SIZES)
PRODUCTS = (StepProduct(product=eta, local=eta_l, outer=eta_g),)

MEAN_GRADIENT = Metric(
    latex=r"\frac1T\sum_{t=0}^{T-1}\mathbb{E}\|\nabla f(x^{(t)})\|^2",
    weights={G_u: ONE},
    over=Over.MEAN_OF_ROUNDS,
    # inf f <= f(x - grad f(x)/L) <= f(x) - ||grad f(x)||^2/(2L), attained by f = L*x^2/2.
    trivial=2 * L * Delta_f,
)


def whole_run(symbol: sp.Symbol, over: Over = Over.WHOLE_RUN) -> Metric:
    """A single quantity as the left side."""
    return Metric(latex=VOCABULARY[symbol.name].latex, weights={symbol: ONE}, over=over, trivial=None)


def make_statement(
    number: str,
    title: str,
    location: str,
    metric: Metric,
    terms: Mapping[str, sp.Expr],
    *,
    algorithm: str | None,
    assumptions: tuple[Assumption, ...] = STANDARD,
    conditions: tuple[Condition, ...] = (),
    step_rules: tuple[StepRule, ...] = (),
    follows_from: tuple[str, ...] = (),
    remark: str = "",
    part: str = "",
    repaired: bool = False,
) -> Statement:
    """A statement with one claim; ``part`` is what follows its number where one number has several statements."""
    key = f"fedsum/{number.lower().replace(' ', '-')}" + ("-" + part.lower().replace(" ", "-") if part else "")
    exprs = [
        *terms.values(),
        *(side for c in conditions for side in (c.left, c.right)),
        *(r.symbol for r in step_rules),
    ]
    names = {s.name for expr in exprs for s in sp.sympify(expr).free_symbols}
    return Statement(
        key=f"{key}-repaired" if repaired else key,
        title=title,
        source=Source(
            paper=TITLE,
            number=number + (f", {part}" if part else "") + (", repaired" if repaired else ""),
            location=location,
        ),
        vocabulary=VOCABULARY,
        algorithm=algorithm,
        assumptions=assumptions,
        claims=(Claim(name="main", metric=metric, relation=Relation.AT_MOST, terms=terms),),
        conditions=conditions,
        step_rules=step_rules,
        step_products=PRODUCTS if names & PRODUCTS[0].names else (),
        settings={},
        follows_from=tuple(f"fedsum/{name}" for name in follows_from),
        remark=remark,
        repairs=key if repaired else "",
    )


def at_most(name: str, left: sp.Expr, right: sp.Expr) -> Condition:
    """The condition ``left <= right``."""
    return Condition(name=name, left=left, operator="<=", right=right)


# Not printed: at tau_max = 0 a rule or a cap divides by zero.
DELAYED = Condition(name="somebody is away", left=tau_max, operator=">=", right=ONE)
SOME_AWAY = Condition(name="participants", left=S, operator="<", right=N)


def unified_rules(delay: sp.Expr) -> tuple[StepRule, ...]:
    """eta_g and eta_l of Theorem 4.1; the minimum is written as one over a maximum, to have a value at sigma = 0."""
    slow = sp.sqrt(AVERAGE * K * T * L * sigma**2 / (N * delay * Delta_f))
    return (
        StepRule(symbol=eta_g, value=1 / sp.sqrt(delay), at_least=False),
        StepRule(symbol=eta_l, value=1 / sp.Max(10 * sp.sqrt(delay) * K * L, slow), at_least=False),
    )


def product_rule(delay: sp.Expr) -> tuple[StepRule, ...]:
    """eta_g*eta_l of Theorem C.1, likewise."""
    slow = sp.sqrt(AVERAGE * K * T * L * sigma**2 / (N * Delta_f))
    return (StepRule(symbol=eta, value=1 / sp.Max(slow, 10 * K * delay * L), at_least=False),)


def rate_terms(delays: sp.Expr, delay: sp.Expr) -> dict[str, sp.Expr]:
    """Right side of the theorems: ``delays`` under the root, ``delay`` with the 1/T terms."""
    return {
        "noise": 30 * sp.sqrt(delays * L * sigma**2 * Delta_f / (N * K * T)),
        "initial gap": 20 * delay * L * Delta_f / T,
        "first gradients": 20 * delay * F_0 / T,
    }


ALL_THREE = "Stands for FedSUM-B and FedSUM-CR as well."
NO_ZERO = (
    "tau_max >= 1 is not printed. Section 2.2 takes tau_max over rounds 0 ... T without saying who takes part in round "
    "T: if nobody does, it is at least 1. If everybody always does, round T included, or over rounds 0 ... T-1 as in "
    "Appendix F, it is 0: then eta_g = 1/sqrt(tau_max) divides by zero, and at sigma = 0 the right side is 0. The "
    "repaired form has max{1, tau_max} in its place."
)
WITH_MAX = (
    "With max{1, tau_max} in place of tau_max in the step sizes and in the 1/T terms, so that tau_max = 0 is allowed."
)


def movement(number: str, algorithm: str, sum_of_gradients: sp.Expr, location: str) -> Statement:
    """The sum of ||x^{t+1} - x^t||^2 against that of the aggregated gradients: Lemmas C.1, D.1, E.1."""
    return make_statement(
        number,
        "Movement of the server's model",
        location,
        whole_run(moved_sum),
        {"noise": 2 * eta**2 * K * T * sigma**2 / N, "gradients": 2 * eta**2 / N**2 * sum_of_gradients},
        algorithm=algorithm,
        follows_from=("lemma-b.1",),
    )


def windows(
    number: str,
    algorithm: str,
    left: sp.Symbol,
    right: sp.Symbol,
    power: int,
    follows_from: tuple[str, ...],
    location: str,
) -> Statement:
    """Gradients summed over windows of delay: Lemmas C.2, D.2, E.2 and Corollaries C.3, D.3, E.3."""
    return make_statement(
        number,
        "Gradients summed over the delays" + (", weighted by the delays" if power == 2 else ""),
        location,
        whole_run(left),
        {"gradients": tau_max**power * right},
        algorithm=algorithm,
        follows_from=follows_from,
        remark="Counts how often a round falls into a window of delay; uses neither smoothness nor the noise bound.",
    )


def noise_inner(
    number: str,
    algorithm: str,
    left: sp.Symbol,
    gradients: sp.Expr,
    follows_from: tuple[str, ...],
    location: str,
    *,
    repaired: bool = False,
) -> Statement:
    """The sum of <grad f(x^t), noise> at delayed rounds: Lemmas C.5, D.5, E.5."""
    return make_statement(
        number,
        "First-order effect of the noise",
        location,
        whole_run(left),
        {
            "noise": 3 * eta**2 * K / N * tau_avg * sigma**2 * L * T,
            "gradients": 2 * eta**2 / N**2 * tau_max * L * gradients,
        },
        algorithm=algorithm,
        follows_from=follows_from,
        remark=(
            "The sum on the right runs to T - 1, as on the left; the proof gives that."
            if repaired
            else "The sum on the right runs to T, that on the left to T - 1: true, as what is added is not negative, "
            "but it asks for a round T that is not played. The repaired form, with T - 1 twice, is stronger."
        ),
        repaired=repaired,
    )
