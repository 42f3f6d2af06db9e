"""Statements of "Personalized Federated Learning via ADMM with Moreau Envelope" (FLAME).

Zhu, Zeng, Wang, Sun and Peng. Problem (7) is min sum_i alpha_i (f_i(theta_i) + lambda/2 ||theta_i - w_i||^2) subject
to w_i = w, with the augmented Lagrangian (8); P^t = (Theta^t, W^t, Pi^t, w^t) is the state before round t, and
F^* the least value of the joint objective (6). Numbers are the paper's.

Symbols. The weights enter the bounds through alpha_min and alpha_max alone, because with x = lambda*alpha

* c1(alpha) = (x + rho)/2 - x^2 (1 + rho)/rho^2 is concave, so its least value lies at an end, and as c1(0) > 0 it is
  positive everywhere once it is at alpha_max;
* q(alpha) = (1/rho^2 - 1) x^2 - (L*alpha + rho)/2 is negative at 0 and, where rho < 1, convex (elsewhere it is negative
  throughout): once positive it grows, so it is positive everywhere if it is at alpha_min, and 1/(4 q) is largest there;
* alpha^2/q(alpha) = 1/((1/rho^2 - 1) lambda^2 - L/(2 alpha) - rho/(2 alpha^2)) falls wherever its denominator keeps its
  sign, so the printed c0 lies at alpha_min as well (where q changes its sign in between, nothing makes sense).

A lemma about a sum over clients, each with constants of its own, is stated with the least favourable constant; the two
are the same where the weights are equal.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy as sp

from bounds.papers.paper import Paper
from bounds.statement import Assumption, Claim, Over, Relation, Statement
from bounds.symbols import Domain, Role, Vocabulary

TITLE = "Personalized Federated Learning via ADMM with Moreau Envelope"

VOCABULARY = Vocabulary()
_define = VOCABULARY.define

_INTEGER, _POSITIVE, _NONNEGATIVE, _REAL = Domain.POSITIVE_INTEGER, Domain.POSITIVE, Domain.NONNEGATIVE, Domain.REAL
_SETTING, _FREE, _CONSTANT, _STEP = Role.SETTING, Role.FREE, Role.CONSTANT, Role.STEP_SIZE

# Settings of a run. lambda and rho multiply squared distances, so they scale like a smoothness constant.
m = _define("m", "m", "clients", _INTEGER, _SETTING, 0, 0)
s = _define("s", "s", "clients sampled per round", _INTEGER, _SETTING, 0, 0)
T = _define("T", "T", "rounds", _INTEGER, _SETTING, 0, 0)
lambda_ = _define("lambda_", r"\lambda", "parameter of the Moreau envelope", _POSITIVE, _SETTING, 1, -2)
alpha_min = _define("alpha_min", r"\alpha_{\min}", "smallest weight of a client", _POSITIVE, _SETTING, 0, 0)
alpha_max = _define("alpha_max", r"\alpha_{\max}", "largest weight of a client", _POSITIVE, _SETTING, 0, 0)
k = _define("k", "k", "Young parameter of Proposition 3", _POSITIVE, _FREE, 0, 0, default=1.0)
share = _define(
    "share", r"\beta", "share of the convexity lambda - L that pays for the inner error", _POSITIVE, _FREE, 0, 0,
    default=0.5,
)  # fmt: skip

# Constants of a problem.
L = _define("L", "L", "smoothness: largest Lipschitz constant of the clients' gradients", _POSITIVE, _CONSTANT, 1, -2)
mu = _define("mu", r"\mu", "strong convexity of L_i in theta_i, smallest over the clients", _POSITIVE, _CONSTANT, 1, -2)
eps_max = _define(
    "eps_max", r"\epsilon_{\max}", "largest ||grad_theta_i L||^2 at which a client stops its inner problem, eq. (13)",
    _NONNEGATIVE, _CONSTANT, 2, -2,
)  # fmt: skip
gamma_bar = _define(
    "gamma_bar", r"\overline{\gamma}", "least relative skew of the selection, eq. (18)", _POSITIVE, _CONSTANT, 0, 0
)
gap = _define(
    "gap", r"\mathbb{E}[\mathcal{L}^0-\mathcal{L}^T]", "initial gap L^0 - F^*, by Lemma 3 at least E[L^0 - L^T]",
    _NONNEGATIVE, _CONSTANT, 1, 0,
)  # fmt: skip
F_star = _define("F_star", "F^*", "least value of the joint objective (6)", _REAL, _CONSTANT, 1, 0)

rho = _define("rho", r"\rho", "penalty parameter", _POSITIVE, _STEP, 1, -2)

VOCABULARY.alias("lambda", "parameter of the Moreau envelope", many=False, lambda_=max)
VOCABULARY.alias("alpha", "weights of the clients: one number, or a list", many=True, alpha_min=min, alpha_max=max)
VOCABULARY.run = {"clients": "m", "participants": "s", "rounds": "T"}
VOCABULARY.order_pair("s", "m")
VOCABULARY.order_pair("alpha_min", "alpha_max")


def _measured(name: str, latex: str, meaning: str, domain: Domain, f_degree: int, x_degree: int) -> sp.Symbol:
    return _define(name, latex, meaning, domain, Role.MEASURED, f_degree, x_degree)


# Quantities of a run. The part of grad_L2 by pi_i is a squared distance, not a squared gradient: it has no degrees of
# its own, and takes those of its other parts.
grad_L2 = _measured(
    "grad_L2", r"\mathbb{E}\|\nabla\mathcal{L}(\mathcal{P}^t)\|^2",
    "E||grad L(P^t)||^2: by w plus, summed over the clients, by theta_i, w_i and pi_i", _NONNEGATIVE, 2, -2,
)  # fmt: skip
grad_theta2 = _measured(
    "grad_theta2", r"\mathbb{E}\|\nabla\mathcal{L}(\Theta^t)\|^2", "sum_i E||grad_theta_i L(P^t)||^2", _NONNEGATIVE,
    2, -2,
)  # fmt: skip
lagrangian = _measured("lagrangian", r"\mathcal{L}^t", "Lagrangian (8) at P^t", _REAL, 1, 0)
descent = _measured(
    "descent", r"\mathcal{L}^{t+1}-\mathcal{L}^t", "change of the Lagrangian (8) in a round", _REAL, 1, 0
)
dtheta2 = _measured(
    "dtheta2", r"\sum_{i\in\mathcal{S}^t}\|\theta_i^{t+1}-\theta_i^t\|^2",
    "sum over the selected clients of ||theta_i^{t+1} - theta_i^t||^2", _NONNEGATIVE, 0, 2,
)  # fmt: skip
dw2 = _measured(
    "dw2", r"\sum_{i\in\mathcal{S}^t}\|w_i^{t+1}-w_i^t\|^2",
    "sum over the selected clients of ||w_i^{t+1} - w_i^t||^2", _NONNEGATIVE, 0, 2,
)  # fmt: skip
_measured(
    "grad_i2", r"\|\nabla_{\theta_i}\mathcal{L}_i(\mathcal{P}^t)\|^2",
    "||grad_theta_i L_i(P^t)||^2 of one selected client", _NONNEGATIVE, 2, -2,
)  # fmt: skip
_measured(
    "dtheta_i2", r"\|\theta_i^{t+1}-\theta_i^t\|^2", "||theta_i^{t+1} - theta_i^t||^2 of the same client",
    _NONNEGATIVE, 0, 2,
)  # fmt: skip
dual_residual = _measured(
    "dual_residual", r"\max_i\|\pi_i^t-\lambda\alpha_i(\theta_i^t-w_i^t)\|",
    "max_i ||pi_i^t - lambda*alpha_i*(theta_i^t - w_i^t)||", _NONNEGATIVE, 1, -1,
)  # fmt: skip
# Quantities of claims about no run.
_measured(
    "envelope_change", r"\|\nabla F(w_1)-\nabla F(w_2)\|", "||grad F(w_1) - grad F(w_2)|| of the Moreau envelope F",
    _NONNEGATIVE, 1, -1,
)  # fmt: skip
_measured("distance", r"\|w_1-w_2\|", "||w_1 - w_2||", _NONNEGATIVE, 0, 1)
_measured("envelope_grad", r"\|\nabla F(w)\|", "||grad F(w)|| of the Moreau envelope F", _NONNEGATIVE, 1, -1)
_measured("prox_step", r"\|w-\hat\theta(w)\|", "||w - prox(w)||", _NONNEGATIVE, 0, 1)
_measured(
    "remainder", r"f(\theta_1)-f(\theta_2)-\langle\nabla f(\theta_i),\theta_1-\theta_2\rangle",
    "f(theta_1) - f(theta_2) - <grad f(theta_i), theta_1 - theta_2>, i = 1 or 2", _REAL, 1, 0,
)  # fmt: skip
_measured("inner", r"\langle\theta_1,\theta_2\rangle", "<theta_1, theta_2>", _REAL, 0, 2)
_measured("first2", r"\|\theta_1\|^2", "||theta_1||^2", _NONNEGATIVE, 0, 2)
_measured("second2", r"\|\theta_2\|^2", "||theta_2||^2", _NONNEGATIVE, 0, 2)
_measured("difference2", r"\|\theta_1-\theta_2\|^2", "||theta_1 - theta_2||^2", _NONNEGATIVE, 0, 2)
_measured("sum2", r"\|\sum_i\theta_i\|^2", "||sum of m vectors||^2", _NONNEGATIVE, 0, 2)
_measured("squares", r"\sum_i\|\theta_i\|^2", "sum of the m vectors' ||theta_i||^2", _NONNEGATIVE, 0, 2)

VOCABULARY.facts = {
    "L": "L",
    "mu": "inner_convexity",
    "eps_max": "inner_error",
    "gamma_bar": "selection_skew",
    "gap": "lagrangian_gap",
    "F_star": "joint_minimum",
    "grad_L2": "grad_L2",
    "grad_theta2": "grad_theta2",
    "lagrangian": "lagrangian",
    "descent": "change:lagrangian",
    # Clients that are not selected do not move, so that a sum over the selected ones is one over all.
    "dtheta2": "step:theta",
    "dw2": "step:w_i",
    "grad_i2": "participant:grad_theta2",
    "dtheta_i2": "participant:step:theta",
    "dual_residual": "largest:dual_residual2",
}

ONE = sp.Integer(1)
SMOOTH = Assumption.SMOOTHNESS
INEXACT = (SMOOTH, Assumption.INNER_ACCURACY, Assumption.DUAL_START)
UNBIASED = (*INEXACT, Assumption.BOUNDED_BELOW, Assumption.UNBIASED_SELECTION)
BIASED = (*INEXACT, Assumption.BOUNDED_BELOW, Assumption.SKEWED_SELECTION)


# --- Constants of Theorem 2, and what replaces them ---


def _young(alpha: sp.Expr) -> sp.Expr:
    """The Young parameter q that (38) takes for a client of that weight."""
    return (1 / rho**2 - 1) * lambda_**2 * alpha**2 - (L * alpha + rho) / 2


def _descent(alpha: sp.Symbol) -> sp.Expr:
    """Gain of a client of that weight per squared step, before the minimum is taken: c1."""
    return (lambda_ * alpha + rho) / 2 - lambda_**2 * alpha**2 * (1 + rho) / rho**2


def _w_descent(alpha: sp.Symbol) -> sp.Expr:
    """Gain by (36) and (37) per squared step of w_i, with Young parameter k instead of rho. Concave in alpha."""
    return (lambda_ * alpha + rho) / 2 - lambda_**2 * alpha**2 * (1 + 1 / k) / rho


def _theta_descent(alpha: sp.Symbol) -> sp.Expr:
    """Gain by (36) and (38) per squared step of theta_i, with k as above and q = share*alpha*(lambda - L)/2.

    Concave in alpha and 0 at 0, so positive everywhere once it is at alpha_max.
    """
    return (1 - share) * (lambda_ - L) * alpha / 2 - lambda_**2 * alpha**2 * (1 + k) / rho


def _largest(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    # SymPy would compare the two, for a tenth of a second.
    return sp.Max(one, other, evaluate=False)


def _smallest(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    return sp.Min(one, other, evaluate=False)


def _c0(alpha: sp.Expr) -> sp.Expr:
    """Factor of a client's inner error in (38), for that weight."""
    return alpha**2 / _young(alpha)


# alpha^2/q(alpha) falls where q > 0 and jumps where q changes its sign, in between: the maximum is over all weights.
C0_PRINTED = _largest(_c0(alpha_min), _c0(alpha_max))
VOCABULARY.maximum("alpha", C0_PRINTED, _c0)
# <g, d> <= q ||d||^2 + ||g||^2/(4 q), where eps_i already contains alpha_i^2, eq. (13).
C0 = 1 / (4 * _young(alpha_min))
C1 = _smallest(_descent(alpha_min), _descent(alpha_max))
# Eq. (42) prints L^2 + 2 lambda^2 where its own inequality gives 2 L^2 + 2 lambda^2 and (L + lambda)^2 would do. As
# c1 > 0 and q > 0 imply lambda > L, what is missing, 2 alpha^2 (2 L - lambda) lambda <= 2 (lambda*alpha)^2 <= 2 rho^2,
# is covered by the term 2 rho^2 + 2, which belongs to the steps of w_i. So c2 stays as printed in the repaired form.
C2 = 4 * lambda_**2 * alpha_max**2 * (1 + 1 / rho**2) + 2 * alpha_max**2 * (L**2 + 2 * lambda_**2) + 2 * rho**2 + 2
# Where k and the share are free, the inner error costs 1/(4 q) and the two kinds of steps are weighed apart: C is
# the largest ratio of (42)-(44) to the descent. theta's ratio grows with alpha, w_i's has its ends.
INNER_COST = 1 / (2 * share * alpha_min * (lambda_ - L))
W_DESCENT = _smallest(_w_descent(alpha_min), _w_descent(alpha_max))
THETA_DESCENT = _smallest(_theta_descent(alpha_min), _theta_descent(alpha_max))
_DUAL_STEP = 4 * lambda_**2 * alpha_max**2 * (1 + 1 / rho**2)
THETA_GRADIENT = 2 * alpha_max**2 * (L + lambda_) ** 2
WIDE_RATIO = _largest(
    (THETA_GRADIENT + _DUAL_STEP) / _theta_descent(alpha_max), (2 * rho**2 + 2 + _DUAL_STEP) / W_DESCENT
)
WIDE_RATIO_THETA = THETA_GRADIENT / THETA_DESCENT


# --- Conditions ---


DESCENT = {"descent": "lambda**2*alpha_max**2*(1 + rho)/rho**2 < (lambda*alpha_max + rho)/2"}
PENALTY = {"penalty": "rho >= lambda*alpha_max"}
YOUNG = {"Young parameter": "(1/rho**2 - 1)*lambda**2*alpha_min**2 > (L*alpha_min + rho)/2"}
SKEW = {"relative skew": "gamma_bar <= 1"}
ENVELOPE = {"convexity of the inner problem": "lambda > L"}
# The steps of theta_i imply rho > 2 lambda*alpha_max, hence PENALTY (so does DESCENT, printed beside it).
WIDE = {
    **ENVELOPE,
    "share": "share < 1",
    "steps of theta_i": "rho > 2*lambda**2*alpha_max*(1 + k)/((1 - share)*(lambda - L))",
    "steps of w_i": "lambda**2*alpha_max**2*(1 + 1/k)/rho < (lambda*alpha_max + rho)/2",
}


# --- Building statements ---

PAPER = Paper(
    name="flame",
    title=TITLE,
    vocabulary=VOCABULARY,
    formulas={
        "C0_PRINTED": C0_PRINTED,
        "C0": C0,
        "C1": C1,
        "C2": C2,
        "INNER_COST": INNER_COST,
        "W_DESCENT": W_DESCENT,
        "THETA_DESCENT": THETA_DESCENT,
        "WIDE_RATIO": WIDE_RATIO,
        "WIDE_RATIO_THETA": WIDE_RATIO_THETA,
    },
)
_claim, _vectors = PAPER.claim, partial(PAPER.claim, over=Over.NO_RUN)


def _statement(key: str, title: str, location: str, *claims: Claim, **fields: Any) -> Statement:
    """A statement by its key; its number is the first two words of the key, such as Theorem 2."""
    kind, number, *part = key.split("-")
    number = f"{kind.capitalize()} {number}" + (f", {' '.join(part)}" if part else "")
    return PAPER.statement(key, title, number, location, *claims, **fields)


def _rate(quantity: str, ratio: str, inner_error: str) -> Claim:
    """A claim about a quantity divided by m, averaged over the rounds.

    What smoothness alone gives at a start with w_i^0 = w^0 and (28): there L^0 = sum_i G_i(theta_i) with
    G_i = alpha_i (f_i + lambda/2 ||. - w||^2), of which F^* <= sum_i min G_i, and grad_theta_i L = grad G_i is
    Lipschitz with alpha_i (L + lambda), so sum_i ||grad G_i||^2 <= 2 alpha_max (L + lambda) (L^0 - F^*); the gradients
    by w, w_i and pi_i vanish. It is attained by m = 2, f_1 = L (theta - 1)^2/2, f_2 = L (theta + 1)^2/2 at theta_i =
    w_i = 0.
    """
    return _claim(
        f"{quantity}/m",
        {"initial gap": f"({ratio})*gap/(s*T)", "inner error": f"({inner_error})*eps_max"},
        over=Over.MEAN_OF_ROUNDS,
        trivial="2*alpha_max*(L + lambda)*gap/m",
        latex=rf"\frac1{{mT}}\sum_{{t=0}}^{{T-1}}{VOCABULARY[quantity].latex}",
    )


_LEMMA_1 = (
    "(16) has each client's own constant; here the least favourable one stands for all (equal weights: the same)."
)

_THEOREM_2_UPDATES = (
    "(42)-(44) bound the gradients of all clients by updates that only selected clients make: read the steps of (45) "
    "and (47) as those that a client would make if it were selected, with its inner error too, and the left side "
    "under E, which the paper prints on the right only. "
)

_THEOREM_2_PRINTED = (
    "False as printed where q(alpha_i) <= 0, see flame/lemma-1. Counterexample: one client, f = 0, L = lambda = "
    "alpha = 1, rho = 10, all variables 0, an inner solution theta = 1, so eps_max = 1: the left side is 0, the right "
    "one -18.7, of which -4.06 are the inner error. With the printed c0 it fails where q > 0 too: at the four clients "
    "of flame/lemma-1 with L = 1/1000, all selected in one round, the right side is -14. L^{t+1} outside the sum "
    "stands for L^T. E[L^0 - L^T] is negative in both, since L grows. With L^0 - F^* in its place, as in (51), the "
    "first fails as well: the gap is 0, and the inner error -4.06. "
)

_of_flame = partial(_statement, algorithm="flame")

STATEMENTS: tuple[Statement, ...] = (
    _statement(
        "proposition-1",
        "Smoothness and gradient of the Moreau envelope",
        "Section 3.4, eq. (4)",
        _vectors("envelope_change", {"distance": "lambda*distance"}, name="smoothness"),
        _vectors("envelope_grad", {"step": "lambda*prox_step"}, name="gradient", relation=Relation.EQUAL),
        algorithm=None,
        assumptions=(SMOOTH,),
        conditions={"lambda": "lambda > 2*L"},
        remark="The case of an L-smooth f, which is the one used. The paper asks nothing of lambda where f is weakly "
        "convex, which is right if that means convex. In the sense of a modulus f = -theta^2/2 with lambda = 3/2 "
        "has F'' = -3 = -2*lambda, and with lambda <= 1 no envelope: it takes lambda at least twice the modulus "
        "there too. Eq. (3) lost the square of its norm.",
    ),
    _statement(
        "proposition-1-wide-repaired",
        "Smoothness and gradient of the Moreau envelope, whenever the inner problem is convex",
        "Section 3.4",
        _vectors("envelope_change", {"distance": "lambda*L/(lambda - L)*distance"}, name="smoothness"),
        _vectors("envelope_grad", {"step": "lambda*prox_step"}, name="gradient", relation=Relation.EQUAL),
        algorithm=None,
        assumptions=(SMOOTH,),
        conditions=ENVELOPE,
        remark="Not printed: prox is Lipschitz with lambda/(lambda - L), and grad F(w) = grad f(prox(w)). It is "
        "attained by f = -L*theta^2/2, and lambda*L/(lambda - L) <= lambda exactly where lambda >= 2*L.",
        repairs="proposition-1",
    ),
    _statement(
        "theorem-1",
        "A selected client's step against its gradient",
        "Section 4.3, eq. (14)",
        _claim("grad_i2", {"step": "2*alpha_max**2*(L**2 + lambda**2)*dtheta_i2"}, name="lower"),
        _claim("dtheta_i2", {"gradient": "grad_i2/mu**2"}, name="upper"),
        algorithm="flame-exact",
        assumptions=(SMOOTH, Assumption.INNER_CONVEXITY, Assumption.EXACT_INNER),
        remark="The paper calls (14) approximate: its proof drops the inner error eps_i. It is exact where eps_i = 0, "
        "the form here; flame/theorem-1-repaired keeps the error. About selected clients only: the others stay where "
        "they are whatever their gradient. The lower side, printed divided by 2*alpha_i^2*(L^2 + lambda^2), has "
        "alpha_max for alpha_i.",
    ),
    _of_flame(
        "theorem-1-repaired",
        "A selected client's step against its gradient, with the inner error",
        "Section 4.3",
        _claim(
            "grad_i2",
            {
                "step": "(alpha_max*(L + lambda))**2*dtheta_i2",
                "inner error": "2*alpha_max*(L + lambda)*sqrt(dtheta_i2*eps_max) + eps_max",
            },
            name="lower",
        ),
        _claim(
            "dtheta_i2",
            {"gradient": "grad_i2/mu**2", "inner error": "(2*sqrt(grad_i2*eps_max) + eps_max)/mu**2"},
            name="upper",
        ),
        assumptions=(SMOOTH, Assumption.INNER_CONVEXITY, Assumption.INNER_ACCURACY),
        remark="flame/theorem-1 without the approximation that leads from (32) to (33): the triangle inequality on "
        "both sides, and (L + lambda)^2 for 2*(L^2 + lambda^2), which is no smaller.",
        repairs="theorem-1",
    ),
    _of_flame(
        "lemma-1",
        "Change of the Lagrangian over one round",
        "Section 4.4, eq. (16)",
        _claim("descent", {"steps": "-C1*(dtheta2 + dw2)", "inner error": "s*C0_PRINTED*eps_max"}),
        assumptions=INEXACT,
        conditions=DESCENT,
        follows_from=("lemma-2", "proposition-2", "proposition-3"),
        remark=f"{_LEMMA_1} False as printed: (38) uses q = (1/rho^2 - 1)*lambda^2*alpha_i^2 - (L*alpha_i + rho)/2 as "
        "a Young parameter and never asks q > 0. Counterexample: one client, alpha = L = lambda = 1, rho = 10, f = "
        "theta^2/2, theta = w_i = w = 1, pi = 0, solved exactly: L changes by -0.282, not by -1.359 or less. Where q > "
        "0 the inner error is multiplied by alpha_i^2/q instead of 1/(4*q), too little for alpha_i < 1/2 (eps_i "
        "contains alpha_i^2 already). Counterexample: four clients, alpha = 1/4, rho = 81/500, lambda = 243/1250, "
        "theta_i = 0, inner solutions x_i = 1, 1, -1, -1, w_i = 2553/5000*x_i, f_i linear such that grad_theta_i L = "
        "2*q*x_i at x_i, any small L: the change tends to the bound of flame/lemma-1-repaired as L falls. As (36) "
        "takes rho for a Young parameter, a number without unit, the two sides scale differently.",
    ),
    _of_flame(
        "lemma-1-repaired",
        "Change of the Lagrangian over one round, where (38) has a Young parameter",
        "Section 4.4",
        _claim("descent", {"steps": "-C1*(dtheta2 + dw2)", "inner error": "s*C0*eps_max"}),
        assumptions=INEXACT,
        conditions={**DESCENT, **YOUNG},
        follows_from=("lemma-2", "proposition-2", "proposition-3"),
        remark=f"{_LEMMA_1} flame/lemma-1 with q > 0 asked for and 1/(4*q) for alpha_i^2/q. The two conditions leave a "
        "sliver: they imply lambda > L, rho > 2*lambda*alpha_i, rho < (sqrt(17) - 3)/4 = 0.281 and nearly equal "
        "weights. The paper's experiments (rho = 0.01, lambda = 5, alpha_i = 1/50 or 1/100) break the printed one "
        "already. For larger rho take flame/lemma-1-wide-repaired.",
        repairs="lemma-1",
    ),
    _of_flame(
        "lemma-1-wide-repaired",
        "Change of the Lagrangian over one round, for every large rho",
        "Section 4.4",
        _claim(
            "descent",
            {
                "steps of theta_i": "-THETA_DESCENT*dtheta2",
                "steps of w_i": "-W_DESCENT*dw2",
                "inner error": "s*INNER_COST*eps_max",
            },
        ),
        assumptions=INEXACT,
        conditions=WIDE,
        follows_from=("lemma-2", "proposition-2", "proposition-3"),
        remark="Not printed: the proof of Lemma 1 with free Young parameters, k for rho in (36) and "
        "share*alpha_i*(lambda - L)/2 for q in (38). For every lambda > L it applies from some rho on, and both "
        "sides scale alike. A share near 0 is best where the inner problems are solved exactly.",
        repairs="lemma-1",
    ),
    _of_flame(
        "theorem-2-unbiased",
        "FLAME, clients selected uniformly",
        "Section 4.4, eq. (19)",
        _rate("grad_L2", "C2/C1", "2 + C2*C0_PRINTED/C1"),
        assumptions=UNBIASED,
        conditions={**DESCENT, **PENALTY},
        follows_from=("lemma-1", "lemma-2", "lemma-3"),
        remark=_THEOREM_2_PRINTED + _THEOREM_2_UPDATES,
    ),
    _of_flame(
        "theorem-2-unbiased-repaired",
        "FLAME, clients selected uniformly, where (38) has a Young parameter",
        "Section 4.4",
        _rate("grad_L2", "C2/C1", "2 + C2*C0/C1"),
        assumptions=UNBIASED,
        conditions={**DESCENT, **PENALTY, **YOUNG},
        follows_from=("lemma-1-repaired", "lemma-2", "lemma-3"),
        remark="flame/theorem-2-unbiased with q > 0 asked for, 1/(4*q) for alpha_i^2/q in c0, L^T for L^{t+1}, and E "
        f"on the left. {_THEOREM_2_UPDATES}c2 stays although (42) has lost a factor: its other terms cover what is "
        "missing. The conditions leave the sliver described at flame/lemma-1-repaired.",
        repairs="theorem-2-unbiased",
    ),
    _of_flame(
        "theorem-2-unbiased-wide-repaired",
        "FLAME, clients selected uniformly, for every large rho",
        "Section 4.4",
        _rate("grad_L2", "WIDE_RATIO", "2 + WIDE_RATIO*INNER_COST"),
        assumptions=UNBIASED,
        conditions=WIDE,
        follows_from=("lemma-2", "lemma-3", "proposition-2", "proposition-3"),
        remark="Not printed: Theorem 2 from the proof of flame/lemma-1-wide-repaired, with (L + lambda)^2 in (42) and "
        f"the steps of theta_i and w_i weighed apart instead of c2/c1. {_THEOREM_2_UPDATES}The left side adds squared "
        "distances (by pi_i) to squared gradients, so it depends on the units.",
        repairs="theorem-2-unbiased",
    ),
    _of_flame(
        "theorem-2-biased",
        "FLAME, clients selected with a skew",
        "Section 4.4, eq. (20)",
        _rate("grad_theta2", "C2/(C1*gamma_bar)", "2 + m*C0_PRINTED*C2/(s*C1*gamma_bar)"),
        assumptions=BIASED,
        conditions={**DESCENT, **PENALTY, **SKEW},
        follows_from=("lemma-1", "lemma-2", "lemma-3"),
        remark=(
            _THEOREM_2_PRINTED
            + _THEOREM_2_UPDATES
            + "(18) implies gamma_bar <= 1: let theta' differ at the client that is selected least often. So the bound "
            "is never below that of uniform selection, and where s < c candidates with the largest gradients are "
            "taken, as in Algorithm 1, the client with the smallest is never selected, gamma_bar = 0, and it says "
            "nothing. What the proof uses is the skew at the run's own updates only. (56) and (57) print "
            "grad L(P^t) for Theta^t."
        ),
    ),
    _of_flame(
        "theorem-2-biased-repaired",
        "FLAME, clients selected with a skew, where (38) has a Young parameter",
        "Section 4.4",
        _rate("grad_theta2", "C2/(C1*gamma_bar)", "2 + m*C0*C2/(s*C1*gamma_bar)"),
        assumptions=BIASED,
        conditions={**DESCENT, **PENALTY, **YOUNG, **SKEW},
        follows_from=("lemma-1-repaired", "lemma-2", "lemma-3"),
        remark="flame/theorem-2-biased with q > 0 asked for, 1/(4*q) for alpha_i^2/q in c0, L^T for L^{t+1}, and E on "
        f"the left. {_THEOREM_2_UPDATES}The m in c4 could be s: (54) has s inner errors, not m.",
        repairs="theorem-2-biased",
    ),
    _of_flame(
        "theorem-2-biased-wide-repaired",
        "FLAME, clients selected with a skew, for every large rho",
        "Section 4.4",
        _rate("grad_theta2", "WIDE_RATIO_THETA/gamma_bar", "2 + WIDE_RATIO_THETA*INNER_COST/gamma_bar"),
        assumptions=BIASED,
        conditions={**WIDE, **SKEW},
        follows_from=("lemma-1-wide-repaired", "lemma-2", "lemma-3"),
        remark="Not printed: Theorem 2 from flame/lemma-1-wide-repaired, with only the gradients by theta_i in the "
        f"constant and the s inner errors of (54) counted once each. {_THEOREM_2_UPDATES}Both sides scale alike.",
        repairs="theorem-2-biased",
    ),
    _statement(
        "proposition-2",
        "Smooth functions and their tangents",
        "Appendix A, eq. (21)",
        _vectors("remainder", {"distance": "L*difference2/2"}),
        algorithm=None,
        assumptions=(SMOOTH,),
    ),
    _statement(
        "proposition-3",
        "Young's and Jensen's inequalities",
        "Appendix A, eqs. (22)-(24)",
        _vectors(
            "2*inner",
            {"first": "k*first2", "second": "second2/k"},
            name="product",
            latex=rf"2{VOCABULARY['inner'].latex}",
        ),
        _vectors("difference2", {"first": "(1 + k)*first2", "second": "(1 + 1/k)*second2"}, name="difference"),
        _vectors("sum2", {"squares": "m*squares"}, name="sum"),
        algorithm=None,
        assumptions=(),
        remark="For every k > 0.",
    ),
    _of_flame(
        "lemma-2",
        "The dual variables in terms of the others",
        "Appendix A, eq. (25)",
        _claim("dual_residual", {"residual": 0}, relation=Relation.EQUAL),
        assumptions=(Assumption.DUAL_START,),
        remark="The start (28) is set in its proof and not in Algorithm 1; without it the equation fails for every "
        "client until its first selection.",
    ),
    _of_flame(
        "lemma-3",
        "The Lagrangian stays above the optimum",
        "Appendix A",
        _claim("-lagrangian", {"optimum": "-F_star"}),
        assumptions=(Assumption.DUAL_START, Assumption.BOUNDED_BELOW),
        conditions=PENALTY,
        follows_from=("lemma-2",),
        remark="Printed for rounds t + 1, as L >= F^* without the signs; with (28) it holds from round 0 on.",
    ),
)

LEFT_OUT: tuple[tuple[str, str], ...] = (
    ("Definition 1", "defines the Moreau envelope and its proximal map"),
    ("Assumption 1", "smoothness, an assumption of the statements"),
    ("Definition 2", "defines the relative skew and gamma_bar, which flame/theorem-2-biased takes as a constant"),
)
