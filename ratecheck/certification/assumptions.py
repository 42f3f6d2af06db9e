"""The certification of assumptions: one entry per assumption.

Its text and constants are those of `bounds.assumption.Assumption`. A constant enters through its certificate
(`ratecheck.certification.certified_constants`); an entry says what the assumption requires besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from bounds.assumption import Assumption
from bounds.statement import Over, Statement
from ratecheck.algorithms import METHODS
from ratecheck.certification.certified_constants import CertifiedCase

# The parameter of a method that solves a problem at each client in a round.
_INNER = "lambda_"


def _none(_: Statement) -> bool:
    return False


def _without_run(statement: Statement) -> bool:
    return all(claim.metric.over is Over.NO_RUN for claim in statement.claims)


def _two_levels(statement: Statement) -> bool:
    method = METHODS.get(statement.algorithm or "")
    return method is None or method.algorithm.bilevel


def _inner(statement: Statement) -> bool:
    method = METHODS.get(statement.algorithm or "")
    return method is not None and _INNER in method.algorithm.step_sizes


def _below(case: CertifiedCase) -> str:
    """The fact that exists where the objective is bounded below."""
    if _INNER in case.parameters:
        return "joint_minimum"
    return "Phi_gap" if case.problem.bilevel else "F_0"


def _always(fact: str) -> Callable[[CertifiedCase], str]:
    return lambda _: fact


@dataclass(frozen=True)
class Certification:
    """The certification of an assumption in words, and what it requires.

    - ``fits``: whether it can be true of what a statement is about, problem aside; None where it can of all.
    - ``lower_level``: it is about problems that have one.
    - ``law``: it is about the law of participation, which a pattern meets or not (`Participation.satisfies`).
    - ``selects``: it is about the participants, but as a constant.
    - ``drawn_before``: participation may not depend on the run.
    - ``facts``: what certifies a constant that it defines, where the vocabulary has no symbol for it.
    - ``met``: constants that the caller sets, so that every run meets them.
    - ``exists``: a fact that has to exist, after what to call it.
    - ``operators``: it may be said of an operator that is no gradient; ``operator``: it is about one, so that a
      statement which assumes it is about operators, gradients included.
    - ``everywhere``: it is about points that a run need not see, and nothing says that it stays true of functions that
      continue otherwise there (`ratecheck.certification.continued_functions`).
    """

    how: str
    fits: Callable[[Statement], bool] | None = None
    lower_level: bool = False
    law: bool = False
    selects: bool = False
    drawn_before: bool = False
    facts: Mapping[str, str] = field(default_factory=dict)
    met: tuple[str, ...] = ()
    exists: tuple[str, Callable[[CertifiedCase], str]] | None = None
    everywhere: bool = False
    operators: bool = False
    operator: bool = False


# An assumption about operators, among them gradients.
_of_operator = partial(Certification, operators=True, operator=True)
_PROBLEM = "the problem's certified constants"
_PATTERN = "the law of the participation pattern"
_METHOD = "the method's own rules"
_NOTHING = "nothing certifies it"
_ORACLE = "independent noise of the given size, or samples of the data"
_LAW = "the law of the noise"

CERTIFICATION: Mapping[Assumption, Certification] = {
    Assumption.SMOOTHNESS: Certification(_PROBLEM),
    Assumption.CONVEXITY: Certification(
        "the Hessians, or the form of the functions", exists=("convexity", _always("convexity"))
    ),
    Assumption.STRONG_CONVEXITY: Certification(
        "the Hessian of f",
        facts={"mu": "strong_convexity"},
        exists=("strong convexity", _always("strong_convexity")),
    ),
    Assumption.CLIENTS_STRONG_CONVEXITY: Certification(
        "the Hessians",
        facts={"mu_c": "clients_strong_convexity"},
        exists=("strong convexity of every client", _always("clients_strong_convexity")),
    ),
    Assumption.GENERALIZED_SMOOTHNESS: Certification(
        "(L, 0) where L exists; curvatures beside slopes of piecewise quadratics and of formulas of one variable",
        facts={"L_0": "generalized_L0", "L_1": "generalized_L1"},
        everywhere=True,
    ),
    Assumption.WEAK_CONVEXITY: Certification(
        "the least eigenvalue of the clients' Hessians, or -L", facts={"rho_weak": "weak_convexity"}
    ),
    Assumption.QUADRATIC_GROWTH: Certification(
        "the Polyak-Lojasiewicz inequality, which is stronger",
        facts={"mu_QG": "quadratic_growth"},
        exists=("quadratic growth", _always("quadratic_growth")),
    ),
    Assumption.POLYAK_LOJASIEWICZ: Certification(
        "the Hessian of f",
        facts={"mu_PL": "polyak_lojasiewicz"},
        exists=("the Polyak-Lojasiewicz inequality", _always("polyak_lojasiewicz")),
    ),
    Assumption.BOUNDED_SUBGRADIENTS: Certification(
        "functions that are linear far away, or losses with bounded slopes",
        facts={"M": "gradient_bound"},
        everywhere=True,
    ),
    Assumption.CONVEX_PART: Certification(
        "nothing of the problems here, which have no second part", exists=("a convex part", _always("convex_part"))
    ),
    Assumption.MONOTONE_OPERATOR: _of_operator(
        "the symmetric parts of affine operators; gradients of convex functions",
        exists=("convexity", _always("convexity")),
    ),
    Assumption.COCOERCIVE_OPERATOR: _of_operator(
        "affine operators beside their symmetric parts; gradients of smooth convex functions",
        exists=("convexity", _always("convexity")),
    ),
    Assumption.STRONGLY_MONOTONE_OPERATOR: _of_operator(
        "the symmetric part of the mean operator; gradients of strongly convex functions",
        facts={"mu": "strong_convexity"},
        exists=("strong convexity", _always("strong_convexity")),
    ),
    Assumption.CLIENTS_STRONGLY_MONOTONE: _of_operator(
        "the symmetric parts of the clients' operators; gradients of strongly convex functions",
        facts={"mu_c": "clients_strong_convexity"},
        exists=("strong monotonicity of every client", _always("clients_strong_convexity")),
    ),
    Assumption.LIPSCHITZ_OPERATOR: _of_operator("norms of affine operators; gradients of smooth functions"),
    Assumption.MINIMISER_HETEROGENEITY: Certification(
        "the clients' gradients at the minimiser of f",
        facts={"b_star": "minimiser_heterogeneity"},
        exists=("a bound on the clients' gradients at the minimiser", _always("minimiser_heterogeneity")),
        everywhere=True,
    ),
    Assumption.ZERO_HETEROGENEITY: Certification(
        "the clients' operators at the zero of their mean; gradients at the minimiser of f",
        facts={"b_star": "minimiser_heterogeneity"},
        exists=("a bound on the clients' operators at the zero of their mean", _always("minimiser_heterogeneity")),
        everywhere=True,
        operators=True,
    ),
    Assumption.INTERPOLATION: Certification(
        "a point at which every client's gradient is exactly 0",
        exists=("a common minimiser", _always("interpolation")),
        everywhere=True,
    ),
    Assumption.BOUNDED_GRADIENTS: Certification(
        "functions that are linear far away, or losses with bounded slopes",
        facts={"G": "gradient_bound"},
        everywhere=True,
    ),
    Assumption.VISITED_GRADIENTS: Certification(
        "the largest gradient of a run without randomness", facts={"G_run": "visited_gradient"}
    ),
    Assumption.BOUNDED_ITERATES: Certification(
        "the largest distance in a run without randomness", facts={"D": "visited_distance"}
    ),
    Assumption.GB_DISSIMILARITY: Certification(
        "a matrix that is positive semidefinite, or the curvatures far away",
        facts={"G_d": "dissimilarity_G", "B_d": "dissimilarity_B"},
        everywhere=True,
    ),
    Assumption.NOISE: Certification(_ORACLE, met=("sigma_u", "sigma_v"), operators=True),
    Assumption.RELATIVE_NOISE: Certification(_ORACLE, facts={"rho_noise": "relative_noise"}, met=("sigma_u",)),
    Assumption.HEAVY_TAILS: Certification(_LAW, facts={"p_noise": "noise_order", "sigma_p": "noise_moment"}),
    Assumption.SUB_GAUSSIAN: Certification(_LAW, facts={"sigma_sg": "sub_gaussian"}),
    Assumption.EXPECTED_SMOOTHNESS: Certification(
        "the law of the noise, and the smoothness of samples",
        facts={"A_es": "growth_A", "B_es": "growth_B", "C_es": "growth_C"},
    ),
    Assumption.DISSIMILARITY: Certification("the problem's certified constants, or the largest along the run"),
    Assumption.UNIFORM_SAMPLING: Certification(_PATTERN, law=True, operators=True),
    Assumption.FULL_PARTICIPATION: Certification(_PATTERN, operators=True),
    Assumption.NO_PERSONAL: Certification("the problem's blocks of variables", operators=True),
    Assumption.NO_SHARED: Certification("the problem's blocks of variables"),
    Assumption.UNEQUAL_STEPS: Certification("the numbers of local steps that are given", operators=True),
    Assumption.RANDOM_MIXING: Certification("the graph's own coins", facts={"p_W": "mixing_share"}, operators=True),
    Assumption.INDEPENDENT_SAMPLING: Certification("vectors that are drawn beforehand", _without_run),
    Assumption.MARTINGALE: Certification("vectors with random signs", _without_run),
    Assumption.LOWER_LEVEL: Certification(_PROBLEM, _two_levels, lower_level=True),
    Assumption.BILEVEL_LIPSCHITZ: Certification(_PROBLEM, _two_levels, lower_level=True),
    Assumption.BILEVEL_NOISE: Certification(
        _ORACLE, _two_levels, lower_level=True, met=("sigma_f", "sigma_g", "sigma_gg")
    ),
    Assumption.LOWER_HETEROGENEITY: Certification(_PROBLEM, _two_levels, lower_level=True),
    Assumption.LOCAL_WEIGHTS: Certification(
        "the clients' local steps and weights", _two_levels, lower_level=True, met=("tau_bar",)
    ),
    Assumption.BALL: Certification("the start", _two_levels, lower_level=True),
    Assumption.EVERY_SAMPLE: Certification("noise that is added to gradients alone", _two_levels, lower_level=True),
    Assumption.UNBIASED_SELECTION: Certification(_PATTERN, law=True, drawn_before=True, operators=True),
    Assumption.SKEWED_SELECTION: Certification(
        "the pattern's least relative skew", _inner, selects=True, facts={"gamma_bar": "selection_skew"}
    ),
    Assumption.INNER_ACCURACY: Certification(
        "inner problems that are solved exactly", _inner, facts={"eps_max": "inner_error"}
    ),
    Assumption.EXACT_INNER: Certification("inner problems that are solved exactly", _inner),
    Assumption.INNER_CONVEXITY: Certification(
        "lambda beyond the modulus of weak convexity", _inner, facts={"mu": "inner_convexity"}
    ),
    Assumption.DUAL_START: Certification(_METHOD, _inner),
    Assumption.BOUNDED_BELOW: Certification(_PROBLEM, exists=("a lower bound", _below)),
    Assumption.TOTAL_NOISE: Certification(_ORACLE, met=("sigma",), operators=True),
    Assumption.OBLIVIOUS_PARTICIPATION: Certification(_PATTERN, drawn_before=True, operators=True),
    Assumption.DRAWN_STEP_SIZES: Certification("step sizes that are chosen for each drawn participation"),
    Assumption.UNIFORM_SUBSETS: Certification(_PATTERN, law=True, drawn_before=True, operators=True),
    Assumption.INDEPENDENT_PARTICIPATION: Certification(_PATTERN, law=True, met=("delta",), operators=True),
    Assumption.RESHUFFLED_BLOCKS: Certification(_PATTERN, law=True, operators=True),
    Assumption.CYCLIC_BLOCKS: Certification(_PATTERN, law=True, operators=True),
    Assumption.WEIGHTED_SUBSETS: Certification(_PATTERN, law=True, drawn_before=True, operators=True),
    Assumption.WEIGHTED_DRAWS: Certification(_PATTERN, law=True, drawn_before=True, operators=True),
    Assumption.MEAN_GRADIENT_BOUND: Certification(_NOTHING, _none),
    Assumption.QUOTED: Certification(_NOTHING, _none),
}
