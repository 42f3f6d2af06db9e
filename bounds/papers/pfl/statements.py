"""Statements of "Sharper Convergence Guarantees for Federated Learning with Partial Model Personalization".

Chen, Cao, Yuan and Wen; the algorithms FedAvg-P and Scaffold-P. Problem (1.1) is
f(u, v) = (1/n) sum_i f_i(u, v_i) with a shared variable u and personal variables v_i. Numbers are the paper's.
The values sigma_u, sigma_v and b are the square roots of what the paper writes squared, and
gamma = gamma_u*eta_u = gamma_v*eta_v (Section 2.1).
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds import symbols as s
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

VOCABULARY = s.COMMON
TITLE = "Sharper Convergence Guarantees for Federated Learning with Partial Model Personalization"

n, m, K, T, L, F_0, b = s.n, s.m, s.K, s.T, s.L, s.F_0, s.b
sigma_u, sigma_v = s.sigma_u, s.sigma_v
gamma, gamma_u, gamma_v, eta_u, eta_v = s.gamma, s.gamma_u, s.gamma_v, s.eta_u, s.eta_v
G_u, G_v, E, B, C = s.G_u, s.G_v, s.E, s.B, s.C

ONE = sp.Integer(1)
NOISE = sigma_u**2 / m + m * sigma_v**2 / n
# Symbols before the bracket: SymPy multiplies a number into a sum at once, 4*(n - m) -> -4*m + 4*n.
SAMPLING = 4 * K * b**2 * (n - m) / (m * n)

SMOOTH = Assumption.SMOOTHNESS
STOCHASTIC = (SMOOTH, Assumption.NOISE, Assumption.UNIFORM_SAMPLING)
DISSIMILAR = (*STOCHASTIC, Assumption.DISSIMILARITY)
FULL = (SMOOTH, Assumption.NOISE, Assumption.FULL_PARTICIPATION)

PRODUCTS = (
    StepProduct(product=gamma, local=gamma_u, outer=eta_u),
    StepProduct(product=gamma, local=gamma_v, outer=eta_v),
)
# The assumption under which each of the products has nothing to multiply.
ABSENT = (Assumption.NO_SHARED, Assumption.NO_PERSONAL)


def _source(number: str, location: str) -> Source:
    return Source(paper=TITLE, number=number, location=location)


def _per_round(quantity: str, *, first: bool = True) -> Metric:
    """A single quantity in every round; ``first=False`` where the claim compares with the round before."""
    measured = s.COMMON[quantity]
    over = Over.EVERY_ROUND if first else Over.EVERY_ROUND_BUT_FIRST
    return Metric(latex=measured.latex, weights={measured.symbol: ONE}, over=over, trivial=None)


def _vectors(quantity: str) -> Metric:
    """A quantity of random vectors, which need not come from a run."""
    measured = s.COMMON[quantity]
    return Metric(latex=measured.latex, weights={measured.symbol: ONE}, over=Over.NO_RUN, trivial=None)


def _averaged(weights: Mapping[sp.Symbol, sp.Expr], latex: str, trivial: sp.Expr) -> Metric:
    return Metric(
        latex=rf"\frac1T\sum_{{t=0}}^{{T-1}}{latex}", weights=weights, over=Over.MEAN_OF_ROUNDS, trivial=trivial
    )


# What smoothness alone gives: G_u + w*G_v <= 2L(1+w)F at every point. The blockwise Lipschitz constants give
# inf f <= f(u+du, v+dv) <= f + <g_u,du> + (1/n) sum <g_i,dv_i> + (L/2n) sum (|du|+|dv_i|)^2; take du = -g_u/(L(1+w))
# and dv_i = -w*g_i/(L(1+w)). It is attained (n=1, f = L(u+v)^2/2), so no smaller number would do.
# Table 1: the hatted average counts a personal gradient at the rate m/n at which its variable is updated.
SAMPLED_GRADIENTS = _averaged(
    {G_u: ONE, G_v: m / n},
    r"\left(\mathcal{G}_u^t+\hat{\mathcal{G}}_{\mathbf{v}}^t\right)",
    trivial=2 * L * (1 + m / n) * F_0,
)
ALL_GRADIENTS = _averaged(
    {G_u: ONE, G_v: ONE}, r"\left(\mathcal{G}_u^t+\mathcal{G}_{\mathbf{v}}^t\right)", trivial=4 * L * F_0
)
SHARED_GRADIENT = _averaged({G_u: ONE}, r"\mathbb{E}\|\nabla f(u^t)\|^2", trivial=2 * L * F_0)
PERSONAL_GRADIENTS = _averaged({G_v: ONE}, r"\frac1n\sum_i\mathbb{E}\|\nabla f_i(v_i^t)\|^2", trivial=2 * L * F_0)


def _lemma(
    number: str,
    title: str,
    location: str,
    *claims: Claim,
    algorithm: str | None,
    assumptions: tuple[Assumption, ...],
    conditions: tuple[Condition, ...] = (),
    step_rules: tuple[StepRule, ...] = (),
    settings: Mapping[str, sp.Expr] | None = None,
    step_products: tuple[StepProduct, ...] = PRODUCTS,
    follows_from: tuple[str, ...] = (),
    remark: str = "",
    part: str = "",
    repairs: str = "",
) -> Statement:
    """A lemma; ``part`` is what follows its number where one number has several statements."""
    suffix = f"-{part.rsplit(maxsplit=1)[-1]}" if part else ""
    return Statement(
        key=f"pfl/lemma-{number.lower()}{suffix}",
        title=title,
        vocabulary=s.COMMON,
        source=_source(f"Lemma {number}" + (f", {part}" if part else ""), location),
        algorithm=algorithm,
        assumptions=assumptions,
        claims=claims,
        conditions=conditions,
        step_rules=step_rules,
        step_products=step_products,
        settings=settings or {},
        follows_from=follows_from,
        remark=remark,
        repairs=repairs,
    )


def _rate(
    key: str,
    title: str,
    number: str,
    location: str,
    metric: Metric,
    terms: Mapping[str, sp.Expr],
    *,
    algorithm: str,
    assumptions: tuple[Assumption, ...],
    conditions: tuple[Condition, ...] = (),
    step_rules: tuple[StepRule, ...] = (),
    settings: Mapping[str, sp.Expr] | None = None,
    relation: Relation = Relation.AT_MOST,
    follows_from: tuple[str, ...] = (),
    remark: str = "",
) -> Statement:
    return Statement(
        key=f"pfl/{key}",
        title=title,
        vocabulary=s.COMMON,
        source=_source(number, location),
        algorithm=algorithm,
        assumptions=assumptions,
        claims=(Claim(name="main", metric=metric, relation=relation, terms=terms),),
        conditions=conditions,
        step_rules=step_rules,
        step_products=tuple(
            product for block, product in zip(ABSENT, PRODUCTS, strict=True) if block not in assumptions
        ),
        settings=settings or {},
        follows_from=follows_from,
        remark=remark,
    )


def _at_most(name: str, left: sp.Expr, right: sp.Expr) -> Condition:
    return Condition(name=name, left=left, operator="<=", right=right)


def _claim(quantity: str, terms: Mapping[str, sp.Expr], *, name: str = "main", first: bool = True) -> Claim:
    return Claim(name=name, metric=_per_round(quantity, first=first), relation=Relation.AT_MOST, terms=terms)


def _exactly(symbol: sp.Symbol, value: sp.Expr) -> StepRule:
    return StepRule(symbol=symbol, value=value, at_least=False)


def _from(symbol: sp.Symbol, value: sp.Expr) -> StepRule:
    return StepRule(symbol=symbol, value=value, at_least=True)


PARTIAL_OUTER = (_from(eta_u, sp.sqrt(m)), _from(eta_v, sp.sqrt(n / m)))
SCAFFOLD_CAP = sp.Min(m / n ** sp.Rational(2, 3), 1) / (72 * L * K)

_LEMMA_3_1 = _lemma(
    "3.1",
    "Change of f over one round of FedAvg-P",
    "Section 3.2.1, eq. (3.2)",
    _claim(
        "descent",
        {
            "descent": s.T_1u + s.T_1v,
            "second moment": 2 * L * (s.T_2u + s.T_2v),
            "sampling": 4 * L * gamma**2 * (n - m) / (m * n**2) * s.T_3u,
            "noise": 2 * L * K * sigma_u**2 * gamma**2 / m + 2 * L * K * sigma_v**2 * gamma**2 * m / n,
        },
    ),
    algorithm="fedavg-p",
    assumptions=STOCHASTIC,
    follows_from=("pfl/lemma-a.2", "pfl/lemma-a.3"),
)

_LEMMA_3_2 = _lemma(
    "3.2",
    "First-order terms",
    "Section 3.2.1",
    _claim("T_1u", {"gradient": -K * gamma / 2 * G_u, "drift": L**2 * gamma / n * E}, name="T_1u"),
    _claim("T_1v", {"gradient": -K * gamma * m / (2 * n) * G_v, "drift": L**2 * gamma * m / n**2 * E}, name="T_1v"),
    algorithm="fedavg-p",
    assumptions=(SMOOTH,),
)

_LEMMA_3_3 = _lemma(
    "3.3",
    "Second-order terms",
    "Section 3.2.1",
    _claim("T_2u", {"gradient": 2 * K**2 * gamma**2 * G_u, "drift": 4 * L**2 * K * gamma**2 / n * E}, name="T_2u"),
    _claim(
        "T_2v",
        {"gradient": 2 * K**2 * gamma**2 * m / n * G_v, "drift": 4 * L**2 * K * gamma**2 * m / n**2 * E},
        name="T_2v",
    ),
    algorithm="fedavg-p",
    assumptions=(SMOOTH,),
)

_LEMMA_3_4 = _lemma(
    "3.4",
    "Variance due to sampling clients",
    "Section 3.2.1",
    _claim("T_3u", {"dissimilarity": 3 * n * K**2 * b**2, "drift": 12 * L**2 * K * E}),
    algorithm="fedavg-p",
    assumptions=(SMOOTH, Assumption.DISSIMILARITY),
)

_LEMMA_3_5 = _lemma(
    "3.5",
    "Drift of the local steps of FedAvg-P",
    "Section 3.2.1",
    _claim(
        "E",
        {
            "shared gradients": 8 * K**2 * (K - 1) * gamma_u**2 * B,
            "personal gradients": 8 * n * K**3 * gamma_v**2 * G_v,
            "noise": 4 * n * K**2 * (sigma_u**2 * gamma_u**2 + sigma_v**2 * gamma_v**2),
        },
    ),
    algorithm="fedavg-p",
    assumptions=(SMOOTH, Assumption.NOISE),
    conditions=(_at_most("local step sizes", 4 * L**2 * K * (K - 1) * (gamma_u**2 + gamma_v**2), ONE),),
)

_LEMMA_3_6 = _lemma(
    "3.6",
    "Size of the clients' shared gradients",
    "Section 3.2.1",
    _claim("B", {"gradient": n * G_u, "dissimilarity": n * b**2}, name="dissimilarity"),
    algorithm="fedavg-p",
    assumptions=(SMOOTH, Assumption.NOISE, Assumption.DISSIMILARITY),
    remark="The second part of the lemma, which needs no dissimilarity bound, is pfl/lemma-3.6-recursion.",
)

_LEMMA_3_6_RECURSION = _lemma(
    "3.6",
    "Growth of the clients' shared gradients with full participation",
    "Section 3.2.1",
    _claim(
        "B",
        {
            "previous": (1 + 2 / (T - 1)) * s.B_prev,
            "gradients": 2 * n * T * (s.G_u_prev + s.G_v_prev),
            "noise": 2 * n * T / K * (sigma_u**2 / n + sigma_v**2),
        },
        name="recursion",
        first=False,
    ),
    algorithm="fedavg-p",
    assumptions=FULL,
    conditions=(
        Condition(name="rounds", left=T, operator=">=", right=sp.Integer(2)),
        _at_most("gamma", gamma, 1 / (8 * L * K)),
    ),
    step_rules=(_from(eta_u, sp.Max(T, sp.sqrt(n))), _from(eta_v, ONE)),
    settings={"m": n},
    part="second part, the recursion",
    follows_from=("pfl/lemma-3.3", "pfl/lemma-3.5"),
    remark="T >= 2 is not printed; the factor 1 + 2/(T-1) needs it.",
)

THEOREM_3_7 = _rate(
    "theorem-3.7",
    "FedAvg-P, partial participation",
    "Theorem 3.7",
    "Section 3.2.2",
    SAMPLED_GRADIENTS,
    {
        "initial gap": 4 * F_0 / (T * K * gamma),
        "dissimilarity": 12 * L * SAMPLING * gamma,
        "noise": 12 * L * NOISE * gamma,
        "drift": 128 * L**2 * K * (K - 1) * b**2 / eta_u**2 * gamma**2,
    },
    algorithm="fedavg-p",
    assumptions=DISSIMILAR,
    conditions=(_at_most("gamma", gamma, 1 / (32 * L * K)),),
    step_rules=PARTIAL_OUTER,
    follows_from=("pfl/lemma-3.1", "pfl/lemma-3.2", "pfl/lemma-3.3", "pfl/lemma-3.4", "pfl/lemma-3.5", "pfl/lemma-3.6"),
)

COROLLARY_3_8 = _rate(
    "corollary-3.8",
    "FedAvg-P, partial participation, tuned",
    "Corollary 3.8",
    "Section 3.2.2",
    SAMPLED_GRADIENTS,
    {
        "noise and dissimilarity": 8 * sp.sqrt(3 * (SAMPLING + NOISE) * L * F_0 / (K * T)),
        "1/T": 129 * L * F_0 / T,
    },
    algorithm="fedavg-p",
    assumptions=DISSIMILAR,
    step_rules=(
        _exactly(gamma, 1 / (32 * L * K + sp.sqrt(3 * L * K * T / F_0 * (SAMPLING + NOISE)))),
        _from(eta_v, sp.sqrt(n / m)),
        _from(eta_u, sp.Max(sp.sqrt(m), sp.sqrt(b**2 * T / (L * F_0)))),
    ),
    follows_from=("pfl/theorem-3.7",),
)

FEDAVG_PARTIAL = _rate(
    "fedavg-partial",
    "FedAvg, partial participation",
    "Section 3.2.3, first display",
    "Section 3.2.3",
    SHARED_GRADIENT,
    {
        "noise and dissimilarity": 8 * sp.sqrt(3 * (SAMPLING + sigma_u**2 / m) * L * F_0 / (K * T)),
        "1/T": 129 * L * F_0 / T,
    },
    algorithm="fedavg",
    assumptions=(*DISSIMILAR, Assumption.NO_PERSONAL),
    step_rules=(
        _exactly(gamma, 1 / (32 * L * K + sp.sqrt(3 * L * K * T / F_0 * (SAMPLING + sigma_u**2 / m)))),
        _from(eta_u, sp.Max(sp.sqrt(m), sp.sqrt(b**2 * T / (L * F_0)))),
    ),
    follows_from=("pfl/corollary-3.8",),
    remark="The step sizes are those of Corollary 3.8 at sigma_v = 0; the display itself does not repeat them.",
)

PARALLEL_SGD = _rate(
    "parallel-sgd",
    "Parallel SGD, fully personal",
    "Section 3.2.3, second display",
    "Section 3.2.3",
    PERSONAL_GRADIENTS,
    {"noise": 8 * sp.sqrt(3 * sigma_v**2 * L * F_0 / T), "1/T": 129 * L * F_0 / T},
    algorithm="parallel-sgd",
    assumptions=(*FULL, Assumption.NO_SHARED),
    step_rules=(_exactly(gamma, 1 / (32 * L + sp.sqrt(3 * L * T / F_0 * sigma_v**2))), _from(eta_v, ONE)),
    settings={"m": n, "K": ONE},
    follows_from=("pfl/corollary-3.8",),
    remark="The step sizes are those of Corollary 3.8 at K = 1, m = n, sigma_u = 0; the display does not repeat them.",
)

FULL_NOISE = sigma_u**2 / n + sigma_v**2
FULL_OUTER = (
    _from(eta_u, sp.Max(T, sp.sqrt(s.B_0 * T / (n * L * F_0)), sp.sqrt(n))),
    _from(eta_v, ONE),
)

THEOREM_3_11 = _rate(
    "theorem-3.11",
    "FedAvg-P, full participation",
    "Theorem 3.11, first part",
    "Section 3.3.1",
    ALL_GRADIENTS,
    {
        "initial gap": 4 * F_0 / (T * K * gamma),
        "noise": 44 * L * FULL_NOISE * gamma,
        "1/T": L * F_0 / T,
    },
    algorithm="fedavg-p",
    assumptions=FULL,
    conditions=(_at_most("gamma", gamma, 1 / (84 * L * K)),),
    step_rules=FULL_OUTER,
    settings={"m": n},
    follows_from=("pfl/lemma-3.1", "pfl/lemma-3.2", "pfl/lemma-3.3", "pfl/lemma-3.5", "pfl/lemma-3.6-recursion"),
    remark="B^0 is printed with the gradient of f where that of f_i is meant, as in B^t before Lemma 3.5.",
)

THEOREM_3_11_TUNED = _rate(
    "theorem-3.11-tuned",
    "FedAvg-P, full participation, tuned",
    "Theorem 3.11, second part",
    "Section 3.3.1",
    ALL_GRADIENTS,
    {
        "noise": 8 * sp.sqrt(11 * L * F_0 / (K * T) * FULL_NOISE),
        "1/T": 337 * L * F_0 / T,
    },
    algorithm="fedavg-p",
    assumptions=FULL,
    step_rules=(
        _exactly(gamma, 1 / (84 * L * K + sp.sqrt(11 * L * K * T / F_0 * FULL_NOISE))),
        *FULL_OUTER,
    ),
    settings={"m": n},
    follows_from=("pfl/theorem-3.11",),
)

FEDAVG_FULL = _rate(
    "fedavg-full",
    "FedAvg, full participation",
    "Section 3.3.2",
    "Section 3.3.2",
    SHARED_GRADIENT,
    {"noise": 8 * sp.sqrt(11 * sigma_u**2 * L * F_0 / (n * K * T)), "1/T": 337 * L * F_0 / T},
    algorithm="fedavg",
    assumptions=(*FULL, Assumption.NO_PERSONAL),
    step_rules=(
        _exactly(gamma, 1 / (84 * L * K + sp.sqrt(11 * L * K * T / F_0 * sigma_u**2 / n))),
        FULL_OUTER[0],
    ),
    settings={"m": n},
    follows_from=("pfl/theorem-3.11-tuned",),
    remark="The step sizes are those of Theorem 3.11 at sigma_v = 0; the display itself does not repeat them.",
)

_LEMMA_4_1 = _lemma(
    "4.1",
    "Change of f over one round of Scaffold-P",
    "Section 4.2.1, eq. (4.2)",
    _claim(
        "descent",
        {
            "descent": s.T_1u + s.T_1v,
            "second moment": 2 * L * (s.T_2u + s.T_2v),
            "sampling": 4 * L * gamma**2 * (n - m) / (m * n**2) * s.S_3u,
            "noise": 18 * L * K * sigma_u**2 * gamma**2 / m + 2 * L * K * sigma_v**2 * gamma**2 * m / n,
        },
    ),
    algorithm="scaffold-p",
    assumptions=STOCHASTIC,
    follows_from=("pfl/lemma-a.2", "pfl/lemma-a.3"),
)

_LEMMA_4_2 = _lemma(
    "4.2",
    "Variance due to sampling clients, with control variates",
    "Section 4.2.1",
    _claim("S_3u", {"staleness": 16 * L**2 * K * C, "drift": 16 * L**2 * K * E}),
    algorithm="scaffold-p",
    assumptions=(SMOOTH,),
)

_LEMMA_4_3 = _lemma(
    "4.3",
    "Drift of the local steps of Scaffold-P",
    "Section 4.2.1",
    _claim(
        "E",
        {
            "staleness": 96 * L**2 * K**2 * gamma_u**2 * C,
            "shared gradient": 24 * n * K**3 * gamma_u**2 * G_u,
            "personal gradients": 8 * n * K**3 * gamma_v**2 * G_v,
            "noise": 52 * n * K**2 * (sigma_u**2 * gamma_u**2 + sigma_v**2 * gamma_v**2),
        },
    ),
    algorithm="scaffold-p",
    assumptions=(SMOOTH, Assumption.NOISE),
    conditions=(_at_most("local step sizes", 12 * L**2 * K * (K - 1) * (gamma_u**2 + gamma_v**2), ONE),),
    remark="The proof divides by K - 1: at K = 1 there is no drift, which the proof of Lemma 3.5 says.",
)

_LEMMA_4_4 = _lemma(
    "4.4",
    "Decay of the staleness",
    "Section 4.2.1, eq. (4.3)",
    _claim(
        "C",
        {
            "previous": (1 - m / (4 * n)) * s.C_prev,
            "gradients": m * n ** sp.Rational(2, 3) * K / (36 * L**2) * (s.G_u_prev + m / n * s.G_v_prev),
            "noise": m**2 / (18 * L**2) * NOISE,
        },
        first=False,
    ),
    algorithm="scaffold-p",
    assumptions=STOCHASTIC,
    conditions=(_at_most("gamma", gamma, SCAFFOLD_CAP),),
    step_rules=PARTIAL_OUTER,
    follows_from=("pfl/lemma-3.3", "pfl/lemma-4.2", "pfl/lemma-4.3"),
    remark=(
        "u^t depends on whether client i took part in round t-1, so the expectations on the right of the proof's first "
        "display have to be given that it did not, or did. No counterexample to the lemma itself is known."
    ),
)

THEOREM_4_5 = _rate(
    "theorem-4.5",
    "Scaffold-P, partial participation",
    "Theorem 4.5",
    "Section 4.3",
    SAMPLED_GRADIENTS,
    {"initial gap": 4 * F_0 / (T * K * gamma), "noise": 148 * NOISE * L * gamma},
    algorithm="scaffold-p",
    assumptions=STOCHASTIC,
    conditions=(_at_most("gamma", gamma, SCAFFOLD_CAP),),
    step_rules=PARTIAL_OUTER,
    follows_from=("pfl/lemma-3.2", "pfl/lemma-3.3", "pfl/lemma-4.1", "pfl/lemma-4.2", "pfl/lemma-4.3", "pfl/lemma-4.4"),
    remark="Eq. (4.5) and the sum of C in the proof print G_v where (m/n)*G_v is meant, as in the theorem.",
)

_SCAFFOLD_FACTOR = sp.Max(1, n ** sp.Rational(2, 3) / m)

COROLLARY_4_6 = _rate(
    "corollary-4.6",
    "Scaffold-P, partial participation, tuned",
    "Corollary 4.6",
    "Section 4.3",
    SAMPLED_GRADIENTS,
    {"noise": 8 * sp.sqrt(37 * L * F_0 / (K * T) * NOISE), "1/T": 288 * L * F_0 / T * _SCAFFOLD_FACTOR},
    algorithm="scaffold-p",
    assumptions=STOCHASTIC,
    step_rules=(
        _exactly(gamma, 1 / (72 * L * K * _SCAFFOLD_FACTOR + sp.sqrt(37 * L * K * T / F_0 * NOISE))),
        *PARTIAL_OUTER,
    ),
    follows_from=("pfl/theorem-4.5",),
)

SCAFFOLD = _rate(
    "scaffold",
    "SCAFFOLD, as recovered from Scaffold-P",
    "eq. (4.6)",
    "Section 4.3.1",
    SHARED_GRADIENT,
    {"noise": sp.sqrt(sigma_u**2 / (m * K * T)), "1/T": _SCAFFOLD_FACTOR / T},
    algorithm="scaffold",
    assumptions=(*STOCHASTIC, Assumption.NO_PERSONAL),
    relation=Relation.ORDER,
    follows_from=("pfl/corollary-4.6",),
    remark="The paper prints O(...); pfl/scaffold-explicit has the constants that Corollary 4.6 gives.",
)

SCAFFOLD_EXPLICIT = _rate(
    "scaffold-explicit",
    "SCAFFOLD, with the constants of Corollary 4.6",
    "Corollary 4.6 at sigma_v = 0",
    "Section 4.3.1",
    SHARED_GRADIENT,
    {
        "noise": 8 * sp.sqrt(37 * L * F_0 / (K * T) * sigma_u**2 / m),
        "1/T": 288 * L * F_0 / T * _SCAFFOLD_FACTOR,
    },
    algorithm="scaffold",
    assumptions=(*STOCHASTIC, Assumption.NO_PERSONAL),
    step_rules=(
        _exactly(gamma, 1 / (72 * L * K * _SCAFFOLD_FACTOR + sp.sqrt(37 * L * K * T / F_0 * sigma_u**2 / m))),
        PARTIAL_OUTER[0],
    ),
    follows_from=("pfl/corollary-4.6",),
    remark="Not printed as such: the case that eq. (4.6) is the order of.",
)

SCAFFOLD_PRIOR = _rate(
    "scaffold-prior",
    "SCAFFOLD, best rate known before",
    "eq. (4.7)",
    "Section 4.3.1",
    SHARED_GRADIENT,
    {"noise": sp.sqrt(sigma_u**2 / (m * K * T)), "1/T": (n / m) ** sp.Rational(2, 3) / T},
    algorithm="scaffold",
    assumptions=(*STOCHASTIC, Assumption.NO_PERSONAL),
    relation=Relation.ORDER,
    remark="Quoted from Karimireddy et al. (2020), known up to a constant.",
)

PARALLEL_SGD_SCAFFOLD = _rate(
    "parallel-sgd-scaffold",
    "Parallel SGD, fully personal, by way of Scaffold-P",
    "Section 4.3.1, last paragraph",
    "Section 4.3.1",
    PERSONAL_GRADIENTS,
    {"noise": 8 * sp.sqrt(37 * L * F_0 / T * sigma_v**2), "1/T": 288 * L * F_0 / T},
    algorithm="parallel-sgd",
    assumptions=(*FULL, Assumption.NO_SHARED),
    step_rules=(_exactly(gamma, 1 / (72 * L + sp.sqrt(37 * L * T / F_0 * sigma_v**2))), _from(eta_v, ONE)),
    settings={"m": n, "K": ONE},
    follows_from=("pfl/corollary-4.6",),
    remark="The paper says that Corollary 4.6 covers this case without printing it: K = 1, m = n, sigma_u = 0.",
)

_LEMMA_A_1 = _lemma(
    "A.1",
    "Second moment of the sum of a martingale difference sequence",
    "Appendix A",
    Claim(name="main", metric=_vectors("sum2"), relation=Relation.EQUAL, terms={"squares": s.squares}),
    algorithm=None,
    assumptions=(Assumption.MARTINGALE,),
    step_products=(),
)

_LEMMA_A_2 = _lemma(
    "A.2",
    "Second moment of the mean of a sample",
    "Appendix A",
    Claim(
        name="main",
        metric=_vectors("sampled2"),
        relation=Relation.EQUAL,
        terms={"mean": s.xbar2, "sampling": 2 * s.spread * (n - m) / (m * n**2)},
    ),
    algorithm=None,
    assumptions=(Assumption.INDEPENDENT_SAMPLING,),
    step_products=(),
    remark=(
        'Printed with "=", but the proof ends with 1/(n-1) <= 2/n, so only "<=" follows; '
        "equality has the factor (n-m)/(m*n*(n-1)). The form with <= is pfl/lemma-a.2-repaired."
    ),
)

_LEMMA_A_2_REPAIRED = _lemma(
    "A.2",
    "Second moment of the mean of a sample",
    "Appendix A",
    Claim(
        name="main",
        metric=_LEMMA_A_2.claims[0].metric,
        relation=Relation.AT_MOST,
        terms=_LEMMA_A_2.claims[0].terms,
    ),
    algorithm=None,
    assumptions=(Assumption.INDEPENDENT_SAMPLING,),
    step_products=(),
    part="repaired",
    repairs=_LEMMA_A_2.key,
    remark='pfl/lemma-a.2 with "<=", which is what its proof gives and what its uses need.',
)

_LEMMA_A_3 = _lemma(
    "A.3",
    "Change of f over one round, by smoothness alone",
    "Appendix A, eq. (A.1)",
    _claim("descent", {"first order": s.inner_u + s.inner_v, "second order": L * s.du2 + L * s.dv2}),
    algorithm="fedavg-p",
    assumptions=(SMOOTH,),
)

STATEMENTS: tuple[Statement, ...] = (
    _LEMMA_3_1,
    _LEMMA_3_2,
    _LEMMA_3_3,
    _LEMMA_3_4,
    _LEMMA_3_5,
    _LEMMA_3_6,
    _LEMMA_3_6_RECURSION,
    THEOREM_3_7,
    COROLLARY_3_8,
    FEDAVG_PARTIAL,
    PARALLEL_SGD,
    THEOREM_3_11,
    THEOREM_3_11_TUNED,
    FEDAVG_FULL,
    _LEMMA_4_1,
    _LEMMA_4_2,
    _LEMMA_4_3,
    _LEMMA_4_4,
    THEOREM_4_5,
    COROLLARY_4_6,
    SCAFFOLD,
    SCAFFOLD_EXPLICIT,
    SCAFFOLD_PRIOR,
    PARALLEL_SGD_SCAFFOLD,
    _LEMMA_A_1,
    _LEMMA_A_2,
    _LEMMA_A_2_REPAIRED,
    _LEMMA_A_3,
)

# Every numbered statement is in the catalogue.
LEFT_OUT: tuple[tuple[str, str], ...] = ()
