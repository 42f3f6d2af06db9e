"""What statements take for granted: one entry per assumption, with its text and the constants that it defines."""

from __future__ import annotations

from enum import Enum
from typing import Self


class Assumption(Enum):
    """An assumption of a statement, in the words a verdict uses; ``constants`` are the symbols it defines.

    How each is certified, or why it cannot be, says `ratecheck.certification.assumptions`.
    """

    constants: tuple[str, ...]
    """Names of the constants through which the assumption enters a bound."""

    def __new__(cls, text: str, *constants: str) -> Self:
        """A member whose value is its text."""
        member = object.__new__(cls)
        member._value_ = text
        member.constants = constants
        return member

    SMOOTHNESS = ("smoothness", "L")
    CONVEXITY = "every client's function is convex"
    STRONG_CONVEXITY = ("f, the mean of the clients' functions, is strongly convex", "mu")
    CLIENTS_STRONG_CONVEXITY = ("every client's function is strongly convex", "mu_c")
    GENERALIZED_SMOOTHNESS = (
        "every client's function is (L_0, L_1)-smooth: the Hessian's norm is at most L_0 + L_1 ||grad f_i||",
        "L_0",
        "L_1",
    )
    WEAK_CONVEXITY = (
        "every client's function is weakly convex: with rho_weak/2 ||x||^2 it is convex",
        "rho_weak",
    )
    QUADRATIC_GROWTH = ("f - inf f is at least mu_QG/2 times the squared distance to the nearest minimiser", "mu_QG")
    POLYAK_LOJASIEWICZ = ("f satisfies the Polyak-Lojasiewicz inequality", "mu_PL")
    BOUNDED_SUBGRADIENTS = ("every client's function is Lipschitz: subgradients have norms of at most M", "M")
    CONVEX_PART = "the objective has a convex part beside the clients' functions, whose proximal steps are taken"
    MONOTONE_OPERATOR = "the oracle answers with a maximal monotone operator, which need not be a gradient"
    COCOERCIVE_OPERATOR = (
        "the oracle answers with an operator A, <A x - A y, x - y> >= ||A x - A y||^2/L, which need not be a gradient",
        "L",
    )
    STRONGLY_MONOTONE_OPERATOR = (
        "the mean of the operators with which the clients answer is strongly monotone, and need not be a gradient",
        "mu",
    )
    CLIENTS_STRONGLY_MONOTONE = (
        "the operator of every client is strongly monotone, and need not be a gradient",
        "mu_c",
    )
    LIPSCHITZ_OPERATOR = ("the oracle answers with an L-Lipschitz operator, which need not be a gradient", "L")
    MINIMISER_HETEROGENEITY = ("bounded gradients of the clients at the minimiser of f", "b_star")
    ZERO_HETEROGENEITY = ("bounded operators of the clients at the zero of their mean", "b_star")
    INTERPOLATION = "one point minimises every client's function"
    BOUNDED_GRADIENTS = ("||grad f_i|| <= G for every client at every point", "G")
    VISITED_GRADIENTS = ("||grad f_i|| <= G_run for every client at each point where the run evaluates one", "G_run")
    BOUNDED_ITERATES = ("each point where the run evaluates a client is at most D away from the minimiser of f", "D")
    GB_DISSIMILARITY = (
        "(G, B)-bounded gradient dissimilarity: (1/n) sum_i ||grad f_i||^2 <= G_d^2 + B_d^2 ||grad f||^2",
        "G_d",
        "B_d",
    )
    NOISE = ("unbiased gradients with bounded variance, independent across clients and steps", "sigma_u", "sigma_v")
    RELATIVE_NOISE = (
        "unbiased gradients of variance at most sigma_u^2 + rho_noise ||grad f_i||^2, independent of each other",
        "sigma_u",
        "rho_noise",
    )
    HEAVY_TAILS = (
        "unbiased gradients with a bounded p-th moment, E||noise||^p <= sigma_p^p, independent of each other",
        "p_noise",
        "sigma_p",
    )
    SUB_GAUSSIAN = (
        "unbiased gradients with sub-Gaussian noise, E exp(||noise||^2/sigma_sg^2) <= e, independent of each other",
        "sigma_sg",
    )
    EXPECTED_SMOOTHNESS = (
        "unbiased gradients with E||g_i||^2 <= 2 A (f_i - inf f_i) + B ||grad f_i||^2 + C, independent of each other",
        "A_es",
        "B_es",
        "C_es",
    )
    DISSIMILARITY = ("bounded gradient dissimilarity", "b")
    UNIFORM_SAMPLING = "m of n clients sampled uniformly without replacement, independently of the noise"
    FULL_PARTICIPATION = "every client takes part in every round"
    NO_PERSONAL = "no personal variables"
    NO_SHARED = "no shared variable"
    UNEQUAL_STEPS = "client i takes K_i local steps in a round, which may differ from client to client"
    RANDOM_MIXING = (
        "a round mixes clients on a graph with one probability, along all edges or none, independently of all else",
        "p_W",
    )
    INDEPENDENT_SAMPLING = "the vectors do not depend on the sample"
    MARTINGALE = "each vector has mean zero whatever those before it are"
    LOWER_LEVEL = ("every lower-level function strongly convex in y", "mu_g")
    BILEVEL_LIPSCHITZ = (
        "Lipschitz f_i, gradients and second derivatives of f_i and g_i, third derivatives of g_i",
        "L_f",
        "L_1",
        "L_2",
        "L_3",
    )
    BILEVEL_NOISE = (
        "unbiased gradients and second derivatives with bounded variance, independent across clients and steps",
        "sigma_f",
        "sigma_g",
        "sigma_gg",
    )
    LOWER_HETEROGENEITY = ("bounded heterogeneity of the lower-level gradients", "beta_gh", "sigma_gh")
    LOCAL_WEIGHTS = (
        (
            "coefficients a_i^k from alpha_min to alpha_max, weights w_i at most beta_max/n and the same in every round"
            ", |a_i|_1 from c_a_prime*tau_bar*alpha_min to c_a*tau_bar*alpha_max, rho^(t) from rho_bar/2 to 3*rho_bar/2"
        ),
        "alpha_min",
        "alpha_max",
        "beta_max",
        "c_a",
        "c_a_prime",
        "tau_bar",
        "rho_bar",
    )
    BALL = "the server's v starts in the ball of radius r = L_f/mu_g"
    EVERY_SAMPLE = "the bounds mu_g, L_1 and L_f hold for every single sample, not only for the means"
    UNBIASED_SELECTION = "s of m clients sampled uniformly without replacement, independently of the run so far"
    SKEWED_SELECTION = ("a selection whose relative skew is nowhere below gamma_bar", "gamma_bar")
    INNER_ACCURACY = ("inner problems solved to a squared gradient of at most eps_max", "eps_max")
    EXACT_INNER = "inner problems solved exactly"
    INNER_CONVEXITY = ("strongly convex inner problems", "mu")
    DUAL_START = "dual variables that start at pi_i = lambda*alpha_i*(theta_i - w_i)"
    BOUNDED_BELOW = "a joint objective that is bounded below"
    TOTAL_NOISE = ("unbiased gradients with bounded variance, independent across clients, rounds and steps", "sigma")
    OBLIVIOUS_PARTICIPATION = "who takes part does not depend on the noise"
    DRAWN_STEP_SIZES = "step sizes set for the participation that is drawn; both sides in expectation over it"
    UNIFORM_SUBSETS = "S of N clients sampled uniformly without replacement, independently in each round"
    INDEPENDENT_PARTICIPATION = (
        "clients take part independently, with probability at least delta in each round",
        "delta",
    )
    RESHUFFLED_BLOCKS = "blocks of S clients that go round in an order drawn anew in each epoch"
    CYCLIC_BLOCKS = "blocks of S clients that go round in a fixed order"
    WEIGHTED_SUBSETS = "m of n clients drawn one after the other, by their weights in the objective among those left"
    WEIGHTED_DRAWS = "m independent draws of clients in every round, each by their weights in the objective"
    MEAN_GRADIENT_BOUND = ("a bound on the mean over the clients of ||grad f_i||^2", "b")
    QUOTED = "what else the quoted work assumes, which the table does not say"


# Bounds on gradients at every point, which functions have that are linear far away.
BOUNDED = frozenset({Assumption.BOUNDED_GRADIENTS, Assumption.BOUNDED_SUBGRADIENTS})
# Laws of who takes part, of which nothing is left where there is one client.
OF_SEVERAL = frozenset({
    Assumption.UNIFORM_SAMPLING, Assumption.UNIFORM_SUBSETS, Assumption.WEIGHTED_SUBSETS, Assumption.WEIGHTED_DRAWS,
    Assumption.UNBIASED_SELECTION,
})  # fmt: skip
