"""Rates of other work that the papers' tables quote, as the tables print them: orders, no constants.

A row is written in the symbols of the paper that quotes it, and its source is that paper's table: nothing here was
taken from the quoted work itself. Orders hide constants of the problem, which the remarks name, so that most rows are
not homogeneous; those of FedSUM's table carry all of them.

PFL's Table 2 (problem (1.1)) and Table 3 (problem (2.1), personal variables absent) hide L and F_0 and print no left
side: it is that of the paper's own row. Their footnotes: BGD is the gradient dissimilarity of Assumption 2.3; BG is
(1/n) sum_i ||grad_u f_i||^2 <= b^2; "no sampling" is m = n. FedSUM's Table 1 prints no rate for other work but says for
two cases that the family matches it. SimFBO's Table 1 counts the samples that a client draws, and the rounds, until
E||grad Phi||^2 <= eps (Definition 2).
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds import symbols as s
from bounds.papers.fedsum import building as fedsum_building
from bounds.papers.fedsum import symbols as fedsum
from bounds.papers.pfl import statements as pfl
from bounds.papers.simfbo import symbols as simfbo
from bounds.statement import Assumption, Claim, Metric, Over, Relation, Source, Statement
from bounds.symbols import Domain, Role, Vocabulary

TITLE = "Other work, as the papers' tables quote it"

_BOUNDED = Vocabulary()
_BOUNDED.define(
    "b",
    "b",
    "root of the bound on (1/n) sum_i ||grad_u f_i||^2, where a table row assumes that",
    Domain.NONNEGATIVE,
    Role.CONSTANT,
    1,
    -1,
)
_ACCURACY = Vocabulary()
eps = _ACCURACY.define(
    "eps", r"\epsilon", "accuracy: the value of E||grad Phi||^2 to be reached", Domain.POSITIVE, Role.SETTING, 2, -2
)
samples = _ACCURACY.define(
    "samples", r"N_{\epsilon}", "samples that a client draws until eps is reached", Domain.POSITIVE, Role.MEASURED, 0, 0
)
rounds = _ACCURACY.define(
    "rounds", r"T_{\epsilon}", "rounds of communication until eps is reached", Domain.POSITIVE, Role.MEASURED, 0, 0
)

# What the papers' vocabularies lack. A row's own vocabulary is its paper's, with these added where it needs them.
VOCABULARY = Vocabulary(_BOUNDED, _ACCURACY)
COMPLEXITY = Vocabulary(simfbo.VOCABULARY, _ACCURACY)

ONE = sp.Integer(1)
_THIRD = sp.Rational(1, 3)
_NO_CONSTANTS = "The table hides L and F_0"


def _row(
    key: str,
    title: str,
    source: Source,
    claims: tuple[Claim, ...],
    *,
    vocabulary: Vocabulary,
    algorithm: str,
    assumptions: tuple[Assumption, ...],
    remark: str,
    settings: Mapping[str, sp.Expr] | None = None,
) -> Statement:
    return Statement(
        key=f"baselines/{key}",
        title=title,
        source=source,
        vocabulary=vocabulary,
        algorithm=algorithm,
        assumptions=(*assumptions, Assumption.QUOTED),
        claims=claims,
        conditions=(),
        step_rules=(),
        step_products=(),
        settings=settings or {},
        follows_from=(),
        remark=remark,
    )


# --- Partial model personalisation, Tables 2 and 3 ---

PFL_TABLE_2 = Source(paper=pfl.TITLE, number="Table 2", location="Section 3.2.2")
PFL_TABLE_3 = Source(paper=pfl.TITLE, number="Table 3", location="Section 3.2.3")

n, m, K, T, b, sigma_u, sigma_v = s.n, s.m, s.K, s.T, s.b, s.sigma_u, s.sigma_v
_UNSAMPLED = 1 - m / n
_PERSONAL_NOISE = sigma_u**2 + m * sigma_v**2 / n
_PERSONAL_MAIN = sp.sqrt(_PERSONAL_NOISE + _UNSAMPLED * b**2) / sp.sqrt(T)
_DISSIMILAR = (*pfl.DISSIMILAR, Assumption.NO_PERSONAL)
_SHARED_FULL = (*pfl.FULL, Assumption.NO_PERSONAL)
_SHARED_NOISE = sigma_u**2 + K * _UNSAMPLED * b**2
_NOISE_AND_SAMPLING = "noise and dissimilarity"


def _personal(key: str, title: str, terms: Mapping[str, sp.Expr]) -> Statement:
    return _row(
        key,
        title,
        PFL_TABLE_2,
        (pfl.SAMPLED_GRADIENTS(terms, relation=Relation.ORDER),),
        vocabulary=pfl.VOCABULARY,
        algorithm=key,
        assumptions=pfl.DISSIMILAR,
        remark=f"Quoted from Pillutla et al. (2022). {_NO_CONSTANTS}, and names no assumptions.",
    )


def _shared(
    key: str,
    title: str,
    reference: str,
    terms: Mapping[str, sp.Expr],
    *,
    sampling: bool,
    bounded: bool = False,
    remark: str = "",
) -> Statement:
    """A row of Table 3: ``sampling`` says whether m < n is covered, ``bounded`` whether it is BG instead of BGD."""
    assumed = Assumption.MEAN_GRADIENT_BOUND if bounded else Assumption.DISSIMILARITY
    return _row(
        key,
        title,
        PFL_TABLE_3,
        (pfl.SHARED_GRADIENT(terms, relation=Relation.ORDER),),
        vocabulary=Vocabulary(pfl.VOCABULARY, _BOUNDED) if bounded else pfl.VOCABULARY,
        algorithm="fedavg",
        assumptions=_DISSIMILAR if sampling else (*_SHARED_FULL, assumed),
        settings={} if sampling else {"m": n},
        remark=f"Quoted from {reference}. {_NO_CONSTANTS}. {remark}".rstrip(),
    )


_MIXED = "Has sigma_u^2 where the other rows have its root: the hidden constants have other units than theirs."
_KARIMIREDDY, _YANG, _YU = "Karimireddy et al. (2020)", "Yang et al. (2021)", "Yu et al. (2019)"


# --- FedSUM, Table 1 ---


def _matched(
    key: str,
    title: str,
    clients: sp.Expr,
    delay: sp.Expr,
    *,
    case: int,
    assumptions: tuple[Assumption, ...],
    remark: str,
) -> Statement:
    """``clients`` take part in a round on average, and a client waits ``delay`` rounds."""
    L, Delta_f, F_0, sigma = fedsum.L, fedsum.Delta_f, fedsum.F_0, fedsum.sigma
    return _row(
        key,
        title,
        Source(paper=fedsum.TITLE, number=f"Table 1, Case {case}", location="Section 4"),
        (
            fedsum_building.mean_gradient(
                {
                    "noise": sp.sqrt(L * sigma**2 * Delta_f) / sp.sqrt(clients * fedsum.K * fedsum.T),
                    "1/T": delay * (L * Delta_f + F_0) / fedsum.T,
                },
                relation=Relation.ORDER,
            ),
        ),
        vocabulary=fedsum.VOCABULARY,
        algorithm=key,
        assumptions=(*fedsum_building.STANDARD, *assumptions),
        remark=f"The table prints no rate for it but says that FedSUM's {remark}",
    )


# --- SimFBO, Table 1 ---


def _complexity(quantity: sp.Symbol, order: sp.Expr) -> Claim:
    latex = COMPLEXITY[quantity.name].latex
    metric = Metric(latex=latex, weights={quantity: ONE}, over=Over.WHOLE_RUN, trivial=None)
    return Claim(name=quantity.name, metric=metric, relation=Relation.ORDER, terms={"complexity": order})


SIMFBO_TABLE_1 = Source(paper=simfbo.TITLE, number="Table 1", location="Section 1.1")


def _bilevel(key: str, title: str, drawn: sp.Expr, communicated: sp.Expr) -> Statement:
    return _row(
        key,
        title,
        SIMFBO_TABLE_1,
        (_complexity(samples, drawn), _complexity(rounds, communicated)),
        vocabulary=COMPLEXITY,
        algorithm=key,
        assumptions=(),
        remark="The table hides every constant of the problem. What it says about system-level heterogeneity, partial "
        "participation, sampling without replacement and speedup is not encoded.",
    )


STATEMENTS: tuple[Statement, ...] = (
    _personal(
        "fedsim",
        "FedSim",
        {
            _NOISE_AND_SAMPLING: _PERSONAL_MAIN,
            "drift": ((b**2 + sigma_u**2 + sigma_v**2) * (K - 1) / (K * T**2)) ** _THIRD,
            "1/T": 1 / T,
        },
    ),
    _personal(
        "fedalt",
        "FedAlt",
        {
            _NOISE_AND_SAMPLING: _PERSONAL_MAIN,
            "drift": ((b**2 + _PERSONAL_NOISE) * (K - 1) / (K * T**2)) ** _THIRD,
            "1/T": 1 / T,
        },
    ),
    _shared(
        "fedavg-karimireddy-partial",
        "FedAvg, partial participation, by Karimireddy et al.",
        _KARIMIREDDY,
        {
            _NOISE_AND_SAMPLING: sp.sqrt(_SHARED_NOISE) / sp.sqrt(m * K * T),
            "drift": (b**2 / T**2) ** _THIRD,
            "1/T": 1 / T,
        },
        sampling=True,
    ),
    _shared(
        "fedavg-yang-partial",
        "FedAvg, partial participation, by Yang et al.",
        _YANG,
        {_NOISE_AND_SAMPLING: _SHARED_NOISE / sp.sqrt(m * K * T), "1/T": (K * b**2 + sigma_u**2 + 1) / T},
        sampling=True,
        remark=_MIXED,
    ),
    _shared(
        "fedavg-yu",
        "FedAvg, full participation, by Yu et al.",
        _YU,
        {"noise": sp.sqrt(sigma_u**2 / (n * K * T)), "gradients": b**2 * n * K / T},
        sampling=False,
        bounded=True,
        remark="Here b bounds the gradients themselves (BG).",
    ),
    _shared(
        "fedavg-karimireddy-full",
        "FedAvg, full participation, by Karimireddy et al.",
        _KARIMIREDDY,
        {"noise": sp.sqrt(sigma_u**2 / (n * K * T)), "drift": (b**2 / T**2) ** _THIRD, "1/T": 1 / T},
        sampling=False,
    ),
    _shared(
        "fedavg-yang-full",
        "FedAvg, full participation, by Yang et al.",
        _YANG,
        {"noise": sigma_u**2 / sp.sqrt(n * K * T), "1/T": (K * b**2 + sigma_u**2 + 1) / T},
        sampling=False,
        remark=_MIXED,
    ),
    _matched(
        "scallion",
        "SCALLION without compression, uniform sampling",
        fedsum.S,
        fedsum.N / fedsum.S,
        case=1,
        assumptions=(Assumption.UNIFORM_SUBSETS,),
        remark="rate of Case 1 matches it up to log factors: so this is that rate without them. From Huang et al. "
        "(2023).",
    ),
    _matched(
        "fedawe",
        "FedAWE, independent participation",
        fedsum.delta * fedsum.N,
        1 / fedsum.delta,
        case=2,
        assumptions=(Assumption.INDEPENDENT_PARTICIPATION, Assumption.DISSIMILARITY),
        remark="rate of Case 2, in which log factors are hidden (a tilde over the O), matches it: so this is that rate "
        "without them. From Xiang et al. (2024), who also bound the dissimilarity (Section 1.2).",
    ),
    _bilevel("fednest", "FedNest", eps**-2, eps**-2),
    _bilevel("fbo-aggitd", "FBO-AggITD", eps**-2, eps**-2),
    _bilevel("fedbio", "FedBiO", eps ** sp.Rational(-5, 2) / simfbo.n, eps ** sp.Rational(-3, 2)),
    _bilevel("fedmbo", "FedMBO", eps**-2 / simfbo.P, eps**-2),
)

LEFT_OUT: tuple[tuple[str, str], ...] = (
    ("PFL, eq. (4.7)", "SCAFFOLD's rate as known before, printed in the text: pfl/scaffold-prior."),
    ("FedSUM, Table 1, Case 3", "CyCP is called not comparable, as it needs the PL condition; no rate is printed."),
    ("FedSUM, Table 1, Case 4", "The table names no other work."),
)
