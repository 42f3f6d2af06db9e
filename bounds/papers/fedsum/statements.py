"""Statements of "FedSUM Family: Efficient Federated Learning Methods under Arbitrary Client Participation".

You and Pu; the algorithms FedSUM-B (Appendix C), FedSUM (D) and FedSUM-CR (E). Problem (1) is f(x) = (1/N) sum_i
f_i(x). Numbers are the paper's. sigma is the square root of what the paper writes squared, and ``eta`` = eta_g*eta_l.

Notation of the meanings below: a_{i,t} is the last round up to t in which client i took part, -1 if there is none, with
x^(-1) = x^(0); A_t are the clients that took part up to round t; tau_t = max_i (t - a_{i,t}). All expectations are
given the participation. Where a statement ``repairs`` another the remark says what was wrong in the printed form.

With M = max{1, tau_max} the repaired Lemmas D.4 and E.4 are proved like the printed ones, but for three things. Between
two participations of a client lie up to tau_max + 1 <= 2M rounds, which sum_k k^2 <= K^3/3 makes up for. In its first
participation, which counts for at most tau_max + 1 rounds, a client has h_i = 0: the first norm of eq. (48) then has
four parts, one of them k*grad f_i(x^0), so that 8*eta_l^2*K^3*(tau_max + 1)*F_0/(3*N) joins the drift. Times 3*N*K*L^2,
and 8/7 for solving eq. (59), where eta_l^2*K^2*L^2 <= 1/(100*M), that is below K^2*F_0/5. In E.4 each y^(q) is counted
in at most tau_max + 1 rounds, as in D.4, which is what eq. (94) says and eq. (95) does not.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

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
from bounds.symbols import Domain, Role, Vocabulary

TITLE = "FedSUM Family: Efficient Federated Learning Methods under Arbitrary Client Participation"

VOCABULARY = Vocabulary()
_define = VOCABULARY.define
_INTEGER, _POSITIVE, _NONNEGATIVE = Domain.POSITIVE_INTEGER, Domain.POSITIVE, Domain.NONNEGATIVE
_SETTING, _CONSTANT, _STEP = Role.SETTING, Role.CONSTANT, Role.STEP_SIZE

N = _define("N", "N", "clients", _INTEGER, _SETTING, 0, 0)
S = _define("S", "S", "clients that take part in a round", _INTEGER, _SETTING, 0, 0)
K = _define("K", "K", "local steps per round", _INTEGER, _SETTING, 0, 0)
T = _define("T", "T", "rounds", _INTEGER, _SETTING, 0, 0)
# Real, not whole: an upper bound or an expectation may stand in.
tau_max = _define(
    "tau_max", r"\tau_{\max}", "maximum delay: max of tau_t over rounds 0 ... T", _NONNEGATIVE, _SETTING, 0, 0
)
tau_avg = _define(
    "tau_avg", r"\tau_{\text{avg}}", "average delay: mean of tau_t over rounds 0 ... T-1", _NONNEGATIVE, _SETTING, 0, 0
)
delta = _define(
    "delta", r"\delta", "least probability with which a client takes part in a round", _POSITIVE, _SETTING, 0, 0
)

L = _define("L", "L", "smoothness: largest Lipschitz constant of the clients' gradients", _POSITIVE, _CONSTANT, 1, -2)
sigma = _define(
    "sigma", r"\sigma", "root of the bound on the gradient's noise variance", _NONNEGATIVE, _CONSTANT, 1, -1
)
Delta_f = _define("Delta_f", r"\Delta_f", "initial gap f(x^0) - inf f", _POSITIVE, _CONSTANT, 1, 0)
F_0 = _define("F_0", "F_0", "mean over the clients of ||grad f_i||^2 at the start", _NONNEGATIVE, _CONSTANT, 2, -2)
VOCABULARY.run = {"clients": "N", "participants": "S", "local_steps": "K", "rounds": "T"}
VOCABULARY.order_pair("S", "N")
VOCABULARY.order_pair("tau_avg", "tau_max")

eta_g = _define("eta_g", r"\eta_g", "global step size", _POSITIVE, _STEP, 0, 0)
eta_l = _define("eta_l", r"\eta_l", "local step size", _POSITIVE, _STEP, -1, 2)
eta = _define("eta", r"(\eta_g\eta_l)", "effective step size eta_g*eta_l", _POSITIVE, _STEP, -1, 2)


def _measured(name: str, latex: str, meaning: str, f_degree: int, x_degree: int, *, signed: bool = False) -> sp.Symbol:
    domain = Domain.REAL if signed else Domain.NONNEGATIVE
    return _define(name, latex, meaning, domain, Role.MEASURED, f_degree, x_degree)


G_u = _measured("G_u", r"\mathbb{E}\|\nabla f(x^{(t)})\|^2", "E||grad f(x^t)||^2", 2, -2)
noise_square = _measured(
    "noise_square",
    r"\mathbb{E}\|\sum_{i\in\mathcal{A}_t}\sum_k[g_i-\nabla f_i]\|^2",
    "E||sum over i in A_t and k of the noise of client i's gradient k in round a_{i,t}||^2",
    2,
    -2,
)
moved_sum = _measured(
    "moved_sum", r"\sum_{t=0}^{T-1}\mathbb{E}\|x^{(t+1)}-x^{(t)}\|^2", "sum over t < T of E||x^{t+1} - x^t||^2", 0, 2
)
E_tau_max = _measured(
    "E_tau_max", r"\mathbb{E}[\tau_{\max}]", "expectation of tau_max over the clients' participation", 0, 0
)


def _sums(prefix: str, gradients: str, words: str, target: str, where: str) -> tuple[sp.Symbol, ...]:
    """The sums over a run in Lemmas 1, 2, 4, 5: ``words`` is H_t, the gradients that the server's y^(t) stands for."""
    inner = rf"\mathbb{{E}}\|{gradients.replace('?', 't')}\|^2"
    window = rf"\sum_{{p=t-\tau_t}}^{{t-1}}\mathbb{{E}}\|{gradients.replace('?', 'p')}\|^2"
    difference = rf"\mathbb{{E}}\|{target}\sum_i\nabla f_i(x^{{(t)}})-{gradients.replace('?', 't')}\|^2"
    h, times = f"H_t = {words}", "K*" if target else ""
    return (
        _measured(
            f"{prefix}aggregate_sum", rf"\sum_{{t=0}}^{{T-1}}{inner}", f"sum over t < T of E||H_t||^2, {h}", 2, -2
        ),
        _measured(
            f"{prefix}aggregate_sum_T", rf"\sum_{{t=0}}^{{T}}{inner}", f"sum over t <= T of E||H_t||^2, {h}", 2, -2
        ),
        _measured(
            f"{prefix}window_sum",
            rf"\sum_{{t=0}}^{{T-1}}{window}",
            f"sum over t < T and t - tau_t <= p < t of E||H_p||^2, {h}, H_-1 = 0",
            2,
            -2,
        ),
        _measured(
            f"{prefix}delayed_window_sum",
            rf"\sum_{{t=0}}^{{T-1}}\tau_t{window}",
            f"sum over t < T and t - tau_t <= p < t of tau_t*E||H_p||^2, {h}, H_-1 = 0",
            2,
            -2,
        ),
        _measured(
            f"{prefix}stale_sum",
            rf"\sum_{{t=0}}^{{T-1}}{difference}",
            f"sum over t < T of E||{times}sum_i grad f_i(x^t) - H_t||^2, {h}",
            2,
            -2,
        ),
        _measured(
            f"{prefix}stale_sum_T",
            rf"\sum_{{t=0}}^{{T}}{difference}",
            f"sum over t <= T of E||{times}sum_i grad f_i(x^t) - H_t||^2, {h}",
            2,
            -2,
        ),
        _measured(
            f"{prefix}noise_inner_sum",
            rf"-\frac{{\eta_g\eta_l}}{{N}}\sum_{{t=0}}^{{T-1}}\mathbb{{E}}\langle\nabla f(x^{{(t)}}),"
            rf"\sum_{{i\in\mathcal{{A}}_t}}\sum_k[g_i-\nabla f_i]({where})\rangle",
            "-(eta_g*eta_l/N) * sum over t < T of E<grad f(x^t), sum over i in A_t and k of the noise of client i's "
            f"gradient k in round a_{{i,t}}>, gradients at {'the local iterates' if target else 'x^a_{i,t}'}",
            1,
            0,
            signed=True,
        ),
    )


(aggregate_sum, aggregate_sum_T, window_sum, delayed_window_sum, stale_sum, stale_sum_T, noise_inner_sum) = _sums(
    "",
    r"\sum_{i\in\mathcal{A}_?}\nabla f_i(x^{(a_{i,?})})",
    "sum over i in A_t of grad f_i(x^a_{i,t})",
    "",
    r"x^{(a_{i,t})}",
)
(
    local_aggregate_sum,
    local_aggregate_sum_T,
    local_window_sum,
    local_delayed_window_sum,
    local_stale_sum,
    local_stale_sum_T,
    local_noise_inner_sum,
) = _sums(
    "local_",
    r"\sum_{i\in\mathcal{A}_?}\sum_k\nabla f_i(x_i^{(a_{i,?},k)})",
    "sum over i in A_t and k < K of grad f_i(x_i^{a_{i,t},k})",
    "K",
    r"x_i^{(a_{i,t},k)}",
)


def _facts(prefix: str, kind: str) -> dict[str, str]:
    """What the symbols of `_sums` are: ``kind`` is "mean_" for gradients that are not summed over k."""
    return {
        f"{prefix}aggregate_sum": f"total:{kind}gradients2",
        f"{prefix}aggregate_sum_T": f"total_T:{kind}gradients2",
        f"{prefix}window_sum": f"windows:{kind}gradients2",
        f"{prefix}delayed_window_sum": f"delayed_windows:{kind}gradients2",
        f"{prefix}stale_sum": f"total:{kind}staleness2",
        f"{prefix}stale_sum_T": f"total_T:{kind}staleness2",
        f"{prefix}noise_inner_sum": "total:noise_inner",
    }


VOCABULARY.facts = {
    "L": "L",
    "sigma": "sigma",
    "Delta_f": "F_0",
    "F_0": "mean_B_0",
    "tau_max": "tau_max",
    "tau_avg": "tau_avg",
    "delta": "delta",
    "G_u": "G_u",
    "E_tau_max": "E_tau_max",
    "noise_square": "noise2",
    "moved_sum": "total:step:x",
    # FedSUM-B takes all K gradients at x^a_{i,t}: one of them is their mean.
    **_facts("", "mean_"),
    **_facts("local_", ""),
}

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


def _run(symbol: sp.Symbol, over: Over = Over.WHOLE_RUN) -> Metric:
    """A single quantity as the left side."""
    return Metric(latex=VOCABULARY[symbol.name].latex, weights={symbol: ONE}, over=over, trivial=None)


def _statement(
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


def _at_most(name: str, left: sp.Expr, right: sp.Expr) -> Condition:
    return Condition(name=name, left=left, operator="<=", right=right)


# Not printed: at tau_max = 0 a rule or a cap divides by zero.
DELAYED = Condition(name="somebody is away", left=tau_max, operator=">=", right=ONE)
SOME_AWAY = Condition(name="participants", left=S, operator="<", right=N)


def _unified_rules(delay: sp.Expr) -> tuple[StepRule, ...]:
    """eta_g and eta_l of Theorem 4.1; the minimum is written as one over a maximum, to have a value at sigma = 0."""
    slow = sp.sqrt(AVERAGE * K * T * L * sigma**2 / (N * delay * Delta_f))
    return (
        StepRule(symbol=eta_g, value=1 / sp.sqrt(delay), at_least=False),
        StepRule(symbol=eta_l, value=1 / sp.Max(10 * sp.sqrt(delay) * K * L, slow), at_least=False),
    )


def _product_rule(delay: sp.Expr) -> tuple[StepRule, ...]:
    """eta_g*eta_l of Theorem C.1, likewise."""
    slow = sp.sqrt(AVERAGE * K * T * L * sigma**2 / (N * Delta_f))
    return (StepRule(symbol=eta, value=1 / sp.Max(slow, 10 * K * delay * L), at_least=False),)


def _rate(delays: sp.Expr, delay: sp.Expr) -> dict[str, sp.Expr]:
    """Right side of the theorems: ``delays`` under the root, ``delay`` with the 1/T terms."""
    return {
        "noise": 30 * sp.sqrt(delays * L * sigma**2 * Delta_f / (N * K * T)),
        "initial gap": 20 * delay * L * Delta_f / T,
        "first gradients": 20 * delay * F_0 / T,
    }


_ALL_THREE = "Stands for FedSUM-B and FedSUM-CR as well."
_NO_ZERO = (
    "tau_max >= 1 is not printed. Section 2.2 takes tau_max over rounds 0 ... T without saying who takes part in round "
    "T: if nobody does, it is at least 1. If everybody always does, round T included, or over rounds 0 ... T-1 as in "
    "Appendix F, it is 0: then eta_g = 1/sqrt(tau_max) divides by zero, and at sigma = 0 the right side is 0. The "
    "repaired form has max{1, tau_max} in its place."
)
_WITH_MAX = (
    "With max{1, tau_max} in place of tau_max in the step sizes and in the 1/T terms, so that tau_max = 0 is allowed."
)

THEOREM_4_1 = _statement(
    "Theorem 4.1",
    "FedSUM family, any participation",
    "Section 4, eq. (12)",
    MEAN_GRADIENT,
    _rate(1 + tau_avg, tau_max),
    algorithm="fedsum",
    conditions=(DELAYED,),
    step_rules=_unified_rules(tau_max),
    follows_from=("theorem-g.1",),
    remark=f"For every participation by itself. {_ALL_THREE} {_NO_ZERO}",
)

THEOREM_4_1_REPAIRED = _statement(
    "Theorem 4.1",
    "FedSUM family, any participation",
    "Section 4, eq. (12)",
    MEAN_GRADIENT,
    _rate(1 + tau_avg, M),
    algorithm="fedsum",
    step_rules=_unified_rules(M),
    follows_from=("theorem-g.1-repaired",),
    remark=f"For every participation by itself. {_ALL_THREE} {_WITH_MAX}",
    repaired=True,
)

_EXPECTED = (
    "tau_max and tau_avg stand for their expectations over the participation. The step sizes are those of Theorem 4.1 "
    "for the participation that is drawn: they are random and known only when the run is over. Step sizes made of the "
    "expectations are not covered, as 1/(10*E[tau_max]*K*L) may break the cap of the participation drawn."
)

COROLLARY_4_1 = _statement(
    "Corollary 4.1",
    "FedSUM family, random participation",
    "Section 4, eq. (13)",
    MEAN_GRADIENT,
    _rate(1 + tau_avg, tau_max),
    algorithm="fedsum",
    assumptions=DRAWN,
    conditions=(DELAYED,),
    follows_from=("theorem-4.1",),
    remark=(
        f"{_EXPECTED} {_ALL_THREE} tau_max >= 1 is not printed; it is needed with probability one, not only in the "
        "mean."
    ),
)

COROLLARY_4_1_REPAIRED = _statement(
    "Corollary 4.1",
    "FedSUM family, random participation",
    "Section 4, eq. (13)",
    MEAN_GRADIENT,
    _rate(1 + tau_avg, 1 + tau_max),
    algorithm="fedsum",
    assumptions=DRAWN,
    follows_from=("theorem-4.1-repaired",),
    remark=(
        f"{_EXPECTED} {_ALL_THREE} With 1 + E[tau_max] in place of E[tau_max], as E[max{{1, tau_max}}] is at most "
        "that; it can exceed max{1, E[tau_max]}: tau_max = 0 or 2 with probability 1/2 each gives 1.5."
    ),
    repaired=True,
)

_LEMMA_B_1 = _statement(
    "Lemma B.1",
    "Noise of the aggregated gradients",
    "Appendix B",
    _run(noise_square, Over.EVERY_ROUND),
    {"noise": N * K * sigma**2},
    algorithm="fedsum",
    assumptions=(Assumption.TOTAL_NOISE, Assumption.OBLIVIOUS_PARTICIPATION),
    remark=_ALL_THREE,
)


def _movement(number: str, algorithm: str, sum_of_gradients: sp.Expr, location: str) -> Statement:
    return _statement(
        number,
        "Movement of the server's model",
        location,
        _run(moved_sum),
        {"noise": 2 * eta**2 * K * T * sigma**2 / N, "gradients": 2 * eta**2 / N**2 * sum_of_gradients},
        algorithm=algorithm,
        follows_from=("lemma-b.1",),
    )


def _windows(
    number: str,
    algorithm: str,
    left: sp.Symbol,
    right: sp.Symbol,
    power: int,
    follows_from: tuple[str, ...],
    location: str,
) -> Statement:
    return _statement(
        number,
        "Gradients summed over the delays" + (", weighted by the delays" if power == 2 else ""),
        location,
        _run(left),
        {"gradients": tau_max**power * right},
        algorithm=algorithm,
        follows_from=follows_from,
        remark="Counts how often a round falls into a window of delay; uses neither smoothness nor the noise bound.",
    )


def _noise_inner(
    number: str,
    algorithm: str,
    left: sp.Symbol,
    gradients: sp.Expr,
    follows_from: tuple[str, ...],
    location: str,
    *,
    repaired: bool = False,
) -> Statement:
    return _statement(
        number,
        "First-order effect of the noise",
        location,
        _run(left),
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


# --- Appendix C: FedSUM-B ---

_LEMMA_C_1 = _movement("Lemma C.1", "fedsum-b", K**2 * aggregate_sum, "Appendix C")
_LEMMA_C_2 = _windows("Lemma C.2", "fedsum-b", window_sum, aggregate_sum, 1, (), "Appendix C")
_COROLLARY_C_3 = _windows(
    "Corollary C.3", "fedsum-b", delayed_window_sum, aggregate_sum, 2, ("lemma-c.2",), "Appendix C"
)


def _staleness_c(gradients: sp.Expr) -> dict[str, sp.Expr]:
    return {
        "noise": 4 * eta**2 * tau_max * tau_avg * N * K * T * L**2 * sigma**2,
        "gradients": 4 * eta**2 * tau_max**2 * K**2 * L**2 * gradients,
        "first gradients": 2 * N**2 * tau_max * F_0,
    }


_LEMMA_C_4 = _statement(
    "Lemma C.4",
    "Staleness of the server's direction",
    "Appendix C",
    _run(stale_sum_T),
    _staleness_c(aggregate_sum_T),
    algorithm="fedsum-b",
    follows_from=("lemma-b.1", "lemma-c.2", "corollary-c.3"),
    remark=(
        "Both sums run to T, but tau_avg is a mean over t < T, so that the noise of round T is not paid for; eq. (23) "
        "has T - 1 on the left. False: N = K = T = 1, f = x^2/2, x^0 = 0, sigma > 0, S_0 = {1}, S_1 empty has "
        "eta^2*sigma^2 on the left and 0 on the right. The repaired form has T - 1 in both sums."
    ),
)

_LEMMA_C_4_REPAIRED = _statement(
    "Lemma C.4",
    "Staleness of the server's direction",
    "Appendix C, eq. (23)",
    _run(stale_sum),
    _staleness_c(aggregate_sum),
    algorithm="fedsum-b",
    follows_from=("lemma-b.1", "lemma-c.2", "corollary-c.3"),
    remark="Both sums run to T - 1, which is what the proof gives and what Lemma C.6 needs.",
    repaired=True,
)

_LEMMA_C_5 = _noise_inner(
    "Lemma C.5", "fedsum-b", noise_inner_sum, K**2 * aggregate_sum_T, ("lemma-b.1", "lemma-c.2"), "Appendix C"
)
_LEMMA_C_5_REPAIRED = _noise_inner(
    "Lemma C.5",
    "fedsum-b",
    noise_inner_sum,
    K**2 * aggregate_sum,
    ("lemma-b.1", "lemma-c.2"),
    "Appendix C, eq. (27)",
    repaired=True,
)

_RATE_C = {
    "initial gap": 2 * Delta_f / (eta * K * T),
    "noise": 10 * eta / N * AVERAGE * sigma**2 * L,
    "first gradients": 2 * tau_max * F_0 / T,
}

LEMMA_C_6 = _statement(
    "Lemma C.6",
    "FedSUM-B, any step size",
    "Appendix C",
    MEAN_GRADIENT,
    _RATE_C,
    algorithm="fedsum-b",
    conditions=(_at_most("eta", eta, 1 / (8 * tau_max * K * L)), DELAYED),
    follows_from=("lemma-c.1", "lemma-c.4-repaired", "lemma-c.5-repaired"),
    remark=(
        "tau_max >= 1 is not printed: at tau_max = 0 the cap eta <= 1/(8*tau_max*K*L) disappears, and no bound holds "
        "for eta > 2/(K*L) (N = 1, f = L*x^2/2)."
    ),
)

LEMMA_C_6_REPAIRED = _statement(
    "Lemma C.6",
    "FedSUM-B, any step size",
    "Appendix C",
    MEAN_GRADIENT,
    _RATE_C,
    algorithm="fedsum-b",
    conditions=(_at_most("eta", eta, 1 / (8 * M * K * L)),),
    follows_from=("lemma-c.1", "lemma-c.4-repaired", "lemma-c.5-repaired"),
    remark="With max{1, tau_max} in the cap; the right side needs no change.",
    repaired=True,
)

_MAGNIFIED_C = "The proof ends with 12 in place of 30 (eq. (38)) and with 2*tau_max*F_0/T in place of 20*tau_max*F_0/T."

THEOREM_C_1 = _statement(
    "Theorem C.1",
    "FedSUM-B, tuned",
    "Appendix C",
    MEAN_GRADIENT,
    _rate(AVERAGE, tau_max),
    algorithm="fedsum-b",
    conditions=(DELAYED,),
    step_rules=_product_rule(tau_max),
    follows_from=("lemma-c.6",),
    remark=(
        f"{_MAGNIFIED_C} tau_max >= 1 is not printed: at tau_max = 0 the step size divides by zero, and at sigma = 0 "
        "the right side is 0. The repaired form has max{1, tau_max}."
    ),
)

THEOREM_C_1_REPAIRED = _statement(
    "Theorem C.1",
    "FedSUM-B, tuned",
    "Appendix C",
    MEAN_GRADIENT,
    _rate(AVERAGE, M),
    algorithm="fedsum-b",
    step_rules=_product_rule(M),
    follows_from=("lemma-c.6-repaired",),
    remark=f"{_WITH_MAX} {_MAGNIFIED_C}",
    repaired=True,
)

# --- Appendices D and E: FedSUM and FedSUM-CR ---


def _staleness(delay: sp.Expr, first: sp.Expr, noise: sp.Expr) -> dict[str, sp.Expr]:
    """Right side of Lemmas D.4 and E.4; ``first`` and ``noise`` multiply what the printed forms disagree about."""
    return {
        "first gradients": sp.expand(first * K**2 * N**2) * F_0,
        "delay noise": 8 * eta**2 * K**3 * N * delay * AVERAGE * T * sigma**2 * L**2,
        "drift noise": 150 * eta_l**2 * N * K**3 * noise * T * sigma**2 * L**2,
        "delay gradients": 10 * eta**2 * delay**2 * K**2 * L**2 * local_aggregate_sum,
        "drift gradients": 24 * eta_l**2 * K**2 * delay * L**2 * local_aggregate_sum,
    }


def _local_cap(delay: sp.Expr) -> Condition:
    return _at_most("eta_l", eta_l, 1 / (10 * sp.sqrt(delay) * K * L))


def _caps(delay: sp.Expr) -> tuple[Condition, ...]:
    return (_local_cap(delay), _at_most("eta", eta, 1 / (10 * delay * K * L)))


_LOST = (
    "The proof takes h_i = 0 of a client's first participation for a gradient at x^0 (eqs. (40) and (49) in Appendix "
    "D, (78) and (85) in E), which loses an F_0 term in eqs. (59) and (95), and takes tau_max for the at most "
    "tau_max + 1 rounds between two participations."
)
_FALSE_AT_0 = (
    "tau_max >= 1 is not printed. At tau_max = 0, N = 1, K = 2, T = 1, f = x^2/2, x^0 = 1, sigma = 0 the left side is "
    "eta_l^2 and the right side 0."
)
_ADDED = (
    "With max{1, tau_max} in place of tau_max except beside F_0, and K^2*F_0/5 added, which covers the lost F_0 term "
    "(see the module's docstring)."
)
# F_0's factor over K^2*N^2, or over 1/T: what the printed lemmas have, and the term that their proofs lose.
FIRST, ADDED = 3 * tau_max, 1 / (5 * N**2)

_LEMMA_D_1 = _movement("Lemma D.1", "fedsum", local_aggregate_sum, "Appendix D")
_LEMMA_D_2 = _windows("Lemma D.2", "fedsum", local_window_sum, local_aggregate_sum, 1, (), "Appendix D")
_COROLLARY_D_3 = _windows(
    "Corollary D.3", "fedsum", local_delayed_window_sum, local_aggregate_sum, 2, ("lemma-d.2",), "Appendix D"
)

_LEMMA_D_4 = _statement(
    "Lemma D.4",
    "Staleness and drift of FedSUM",
    "Appendix D",
    _run(local_stale_sum),
    _staleness(tau_max, FIRST, ONE),
    algorithm="fedsum",
    conditions=(_local_cap(tau_max), DELAYED),
    follows_from=("lemma-b.1", "lemma-d.2", "corollary-d.3"),
    remark=f"{_LOST} {_FALSE_AT_0}",
)

_LEMMA_D_4_REPAIRED = _statement(
    "Lemma D.4",
    "Staleness and drift of FedSUM",
    "Appendix D",
    _run(local_stale_sum),
    _staleness(M, FIRST + ADDED, ONE),
    algorithm="fedsum",
    conditions=(_local_cap(M),),
    follows_from=("lemma-b.1", "lemma-d.2", "corollary-d.3"),
    remark=_ADDED,
    repaired=True,
)

_LEMMA_D_5 = _noise_inner(
    "Lemma D.5",
    "fedsum",
    local_noise_inner_sum,
    local_aggregate_sum_T,
    ("lemma-b.1", "lemma-d.2"),
    "Appendix D",
)
_LEMMA_D_5_REPAIRED = _noise_inner(
    "Lemma D.5",
    "fedsum",
    local_noise_inner_sum,
    local_aggregate_sum,
    ("lemma-b.1", "lemma-d.2"),
    "Appendix D, eq. (66)",
    repaired=True,
)


def _local_rate(first: sp.Expr) -> dict[str, sp.Expr]:
    return {
        "initial gap": 2 * Delta_f / (eta * K * T),
        "noise": 9 * eta * AVERAGE * sigma**2 * L / N,
        "first gradients": first * F_0 / T,
        "drift noise": 150 * eta_l**2 * K * sigma**2 * L**2 / N,
    }


def _last_lemma(number: str, title: str, location: str, algorithm: str, letter: str, more: str) -> Statement:
    return _statement(
        number,
        title,
        location,
        MEAN_GRADIENT,
        _local_rate(FIRST),
        algorithm=algorithm,
        conditions=(*_caps(tau_max), DELAYED),
        follows_from=(f"lemma-{letter}.1", f"lemma-{letter}.4", f"lemma-{letter}.5-repaired"),
        remark=(
            f"{more} tau_max >= 1 is not printed: at tau_max = 0 both caps disappear, and with caps at 1/(10*K*L) the "
            "F_0 term is missed: N = K = T = 2, f_1 = x + x^2/2, f_2 = -x, x^0 = 0, sigma = 0 has a positive left side "
            "and, as Delta_f -> 0, nothing on the right."
        ),
    )


def _last_lemma_repaired(number: str, title: str, location: str, algorithm: str, letter: str, more: str) -> Statement:
    return _statement(
        number,
        title,
        location,
        MEAN_GRADIENT,
        _local_rate(FIRST + ADDED),
        algorithm=algorithm,
        conditions=_caps(M),
        follows_from=(f"lemma-{letter}.1", f"lemma-{letter}.4-repaired", f"lemma-{letter}.5-repaired"),
        remark=(
            "With max{1, tau_max} in the caps, and F_0/(5*N^2*T) added for the F_0 term that the proof loses." + more
        ),
        repaired=True,
    )


def _theorem(number: str, title: str, location: str, algorithm: str, letter: str) -> tuple[Statement, Statement]:
    """Theorems D.1 and E.1 and their repaired forms."""
    magnified = "The proof ends with 26 in place of 30; 24 follows from the same lemma."
    return (
        _statement(
            number,
            title,
            location,
            MEAN_GRADIENT,
            _rate(AVERAGE, tau_max),
            algorithm=algorithm,
            conditions=(DELAYED,),
            step_rules=_unified_rules(tau_max),
            follows_from=(f"lemma-{letter}.6",),
            remark=f"{magnified} {_NO_ZERO}",
        ),
        _statement(
            number,
            title,
            location,
            MEAN_GRADIENT,
            _rate(AVERAGE, M),
            algorithm=algorithm,
            step_rules=_unified_rules(M),
            follows_from=(f"lemma-{letter}.6-repaired",),
            remark=f"{_WITH_MAX} {magnified}",
            repaired=True,
        ),
    )


_SLIP_71 = "Eq. (71) has 1 - eta*K*L where Lemma D.1 gives 1 - 2*eta*K*L; eq. (74) has room for that. Uses Lemma D.4."
LEMMA_D_6 = _last_lemma("Lemma D.6", "FedSUM, any step size", "Appendix D", "fedsum", "d", _SLIP_71)
LEMMA_D_6_REPAIRED = _last_lemma_repaired("Lemma D.6", "FedSUM, any step size", "Appendix D", "fedsum", "d", "")
THEOREM_D_1, THEOREM_D_1_REPAIRED = _theorem("Theorem D.1", "FedSUM, tuned", "Appendix D", "fedsum", "d")

_LEMMA_E_1 = _movement("Lemma E.1", "fedsum-cr", local_aggregate_sum, "Appendix E")
_LEMMA_E_2 = _windows("Lemma E.2", "fedsum-cr", local_window_sum, local_aggregate_sum, 1, (), "Appendix E")
_COROLLARY_E_3 = _windows(
    "Corollary E.3", "fedsum-cr", local_delayed_window_sum, local_aggregate_sum, 2, ("lemma-e.2",), "Appendix E"
)

_LEMMA_E_4 = _statement(
    "Lemma E.4",
    "Staleness and drift of FedSUM-CR",
    "Appendix E",
    _run(local_stale_sum),
    _staleness(tau_max, FIRST, tau_max),
    algorithm="fedsum-cr",
    conditions=(_local_cap(tau_max), DELAYED),
    follows_from=("lemma-b.1", "lemma-e.2", "corollary-e.3"),
    remark=(
        "tau_max stands in the drift's noise, where Lemma D.4 has none and none is needed: eq. (95) has none, eq. (96) "
        "has it. In the drift's gradients, eqs. (95) to (98) have tau_max^2 where the lemma and eq. (94) have tau_max. "
        f"{_LOST} {_FALSE_AT_0}"
    ),
)

_LEMMA_E_4_REPAIRED = _statement(
    "Lemma E.4",
    "Staleness and drift of FedSUM-CR",
    "Appendix E",
    _run(local_stale_sum),
    _staleness(M, FIRST + ADDED, ONE),
    algorithm="fedsum-cr",
    conditions=(_local_cap(M),),
    follows_from=("lemma-b.1", "lemma-e.2", "corollary-e.3"),
    remark=f"The same bound as the repaired Lemma D.4: no tau_max in the drift's noise. {_ADDED}",
    repaired=True,
)

_LEMMA_E_5 = _noise_inner(
    "Lemma E.5",
    "fedsum-cr",
    local_noise_inner_sum,
    local_aggregate_sum_T,
    ("lemma-b.1", "lemma-e.2"),
    "Appendix E",
)
_LEMMA_E_5_REPAIRED = _noise_inner(
    "Lemma E.5",
    "fedsum-cr",
    local_noise_inner_sum,
    local_aggregate_sum,
    ("lemma-b.1", "lemma-e.2"),
    "Appendix E",
    repaired=True,
)

LEMMA_E_6 = _last_lemma(
    "Lemma E.6",
    "FedSUM-CR, any step size",
    "Appendix E",
    "fedsum-cr",
    "e",
    "Does not follow from Lemma E.4 as printed, which would give 150*eta_l^2*K*tau_max*sigma^2*L^2/N; the tau_max is "
    "lost between eqs. (105) and (107). Eq. (106) has tau_max^2, which eta_l <= 1/(10*sqrt(tau_max)*K*L) does not "
    "control.",
)
LEMMA_E_6_REPAIRED = _last_lemma_repaired(
    "Lemma E.6",
    "FedSUM-CR, any step size",
    "Appendix E",
    "fedsum-cr",
    "e",
    " Follows from the repaired Lemma E.4, whose drift noise has no tau_max.",
)
THEOREM_E_1, THEOREM_E_1_REPAIRED = _theorem("Theorem E.1", "FedSUM-CR, tuned", "Appendix E", "fedsum-cr", "e")

# --- Appendix F: delays of the participation patterns ---

_CASES = {
    1: Assumption.UNIFORM_SUBSETS,
    2: Assumption.INDEPENDENT_PARTICIPATION,
    3: Assumption.RESHUFFLED_BLOCKS,
    4: Assumption.CYCLIC_BLOCKS,
}
_PROBABILITY = _at_most("probability", delta, ONE)
_SWAPPED = (
    "Section 2.1 calls reshuffled participation Case 4 and deterministic participation Case 3; here it is the reverse."
)
_LATER = sp.Max(sp.log(N * T), sp.log(1 / delta))
_DELAY_2 = 4 / delta * _LATER


def _delay(
    case: int, title: str, bound: sp.Expr, remark: str, conditions: tuple[Condition, ...] = (), latex: str = ""
) -> Statement:
    metric = _run(E_tau_max)
    if latex:
        metric = Metric(latex=latex, weights=metric.weights, over=metric.over, trivial=None)
    return _statement(
        f"Lemma F.{case}",
        title,
        "Appendix F",
        metric,
        {"delay": bound},
        algorithm=None,
        assumptions=(_CASES[case],),
        conditions=conditions,
        remark=remark,
    )


LEMMA_F_1 = _delay(
    1,
    "Maximum delay, uniform sampling",
    4 * N / S * sp.log(N * T),
    "The proof's union bound has T rounds; 0 ... T are T + 1.",
    (SOME_AWAY,),
)
LEMMA_F_2 = _delay(
    2,
    "Maximum delay, independent participation",
    _DELAY_2,
    "The lemma has probabilities fixed over time, Case 2 of Section 2.1 does not; the proof covers both. Its last "
    "step, 2 <= (2/delta)*max{...}, can fail for N*T <= 2, where the claim holds nevertheless.",
    (_PROBABILITY,),
)
LEMMA_F_3 = _delay(
    3,
    "Maximum delay, reshuffled cyclic participation",
    4 * N / S,
    f"{_SWAPPED} Holds in every run if an epoch lasts ceil(N/S) rounds; with the proof's floor(N/S) rounds a client "
    "may be left out of an epoch, and no such bound holds unless S divides N.",
)
LEMMA_F_4 = _delay(
    4,
    "Maximum delay, deterministic cyclic participation",
    2 * N / S,
    f"{_SWAPPED} Holds in every run, which is always the same one, so that E[tau_max] is tau_max. N/S would do.",
    latex=r"\tau_{\max}",
)

# --- Appendix G ---

THEOREM_G_1 = _statement(
    "Theorem G.1",
    "FedSUM family, any participation, sharper",
    "Appendix G, eq. (113)",
    MEAN_GRADIENT,
    _rate(AVERAGE, tau_max),
    algorithm="fedsum",
    conditions=(DELAYED,),
    step_rules=_unified_rules(tau_max),
    follows_from=("theorem-c.1", "theorem-d.1", "theorem-e.1"),
    remark=f"For every participation by itself. {_ALL_THREE} {_NO_ZERO}",
)

THEOREM_G_1_REPAIRED = _statement(
    "Theorem G.1",
    "FedSUM family, any participation, sharper",
    "Appendix G, eq. (113)",
    MEAN_GRADIENT,
    _rate(AVERAGE, M),
    algorithm="fedsum",
    step_rules=_unified_rules(M),
    follows_from=("theorem-c.1-repaired", "theorem-d.1-repaired", "theorem-e.1-repaired"),
    remark=f"For every participation by itself. {_ALL_THREE} {_WITH_MAX}",
    repaired=True,
)


def _case(
    case: int,
    title: str,
    noise: sp.Expr,
    delay: sp.Expr,
    remark: str,
    conditions: tuple[Condition, ...] = (),
) -> Statement:
    """``noise`` multiplies 60*sqrt(L*Delta_f)*sigma/sqrt(K*T), ``delay`` multiplies 80*(L*Delta_f + F_0)/T."""
    return _statement(
        "Corollary G.1",
        title,
        "Appendix G",
        MEAN_GRADIENT,
        {
            "noise": 60 * sp.sqrt(L * sigma**2 * Delta_f / (K * T)) * noise,
            "initial gap": 80 * L * Delta_f * delay / T,
            "first gradients": 80 * F_0 * delay / T,
        },
        algorithm="fedsum",
        assumptions=(*DRAWN, _CASES[case]),
        conditions=conditions,
        follows_from=("theorem-g.1-repaired", f"lemma-f.{case}"),
        remark=f"In expectation over the participation. {_TUNED} {_ALL_THREE} {remark}",
        part=f"Case {case}",
    )


_TUNED = (
    "The step sizes, which the corollary calls appropriate, are those of the repaired Theorem G.1 for the "
    "participation that is drawn."
)
_NOT_FROM_4_1 = (
    "Said to follow from Corollary 4.1, whose 1 + E[tau_avg] gives more than 60; it follows from Theorem G.1, as "
    "max{1, tau_avg} <= max{1, tau_max}."
)

_CASE_2_REPAIRED = _statement(
    "Corollary G.1",
    "FedSUM family, independent participation",
    "Appendix G",
    MEAN_GRADIENT,
    {
        "noise": 30 * sp.sqrt((1 + _DELAY_2) * L * sigma**2 * Delta_f / (N * K * T)),
        "initial gap": 20 * (1 + _DELAY_2) * L * Delta_f / T,
        "first gradients": 20 * (1 + _DELAY_2) * F_0 / T,
    },
    algorithm="fedsum",
    assumptions=(*DRAWN, _CASES[2]),
    conditions=(_PROBABILITY,),
    follows_from=("corollary-4.1-repaired", "lemma-f.2"),
    remark=(
        "In expectation over the participation; step sizes as in the repaired Theorem 4.1 for the participation that "
        f"is drawn. {_ALL_THREE} The bound of Lemma F.2 put into the repaired Corollary 4.1: the maximum stands under "
        "the root, and 1 + E[tau_max] covers runs with tau_max = 0."
    ),
    part="Case 2",
    repaired=True,
)

CASES = (
    _case(
        1,
        "FedSUM family, uniform sampling",
        sp.sqrt(sp.log(N * T) / S),
        N * sp.log(N * T) / S,
        f"{_NOT_FROM_4_1} S < N, of Lemma F.1, is not repeated in the corollary; at S = N = T = 1 the right side is 0.",
        (SOME_AWAY,),
    ),
    _case(
        2,
        "FedSUM family, independent participation",
        _LATER / sp.sqrt(delta * N),
        _LATER / delta,
        "The maximum stands outside the root of the noise term; Lemma F.2 puts it inside. False for N = T = 1 and "
        "delta near 1, as the maximum of the logarithms is then near 0: at delta = 1 the right side is 0.",
        (_PROBABILITY,),
    ),
    _CASE_2_REPAIRED,
    _case(
        3,
        "FedSUM family, reshuffled cyclic participation",
        1 / sp.sqrt(S),
        N / S,
        f"{_NOT_FROM_4_1} {_SWAPPED}",
    ),
    _case(
        4,
        "FedSUM family, deterministic cyclic participation",
        1 / sp.sqrt(S),
        N / S,
        f"{_SWAPPED} Lemma F.4 would give 42.5 and 40 in place of 60 and 80.",
    ),
)

STATEMENTS: tuple[Statement, ...] = (
    THEOREM_4_1,
    THEOREM_4_1_REPAIRED,
    COROLLARY_4_1,
    COROLLARY_4_1_REPAIRED,
    _LEMMA_B_1,
    _LEMMA_C_1,
    _LEMMA_C_2,
    _COROLLARY_C_3,
    _LEMMA_C_4,
    _LEMMA_C_4_REPAIRED,
    _LEMMA_C_5,
    _LEMMA_C_5_REPAIRED,
    LEMMA_C_6,
    LEMMA_C_6_REPAIRED,
    THEOREM_C_1,
    THEOREM_C_1_REPAIRED,
    _LEMMA_D_1,
    _LEMMA_D_2,
    _COROLLARY_D_3,
    _LEMMA_D_4,
    _LEMMA_D_4_REPAIRED,
    _LEMMA_D_5,
    _LEMMA_D_5_REPAIRED,
    LEMMA_D_6,
    LEMMA_D_6_REPAIRED,
    THEOREM_D_1,
    THEOREM_D_1_REPAIRED,
    _LEMMA_E_1,
    _LEMMA_E_2,
    _COROLLARY_E_3,
    _LEMMA_E_4,
    _LEMMA_E_4_REPAIRED,
    _LEMMA_E_5,
    _LEMMA_E_5_REPAIRED,
    LEMMA_E_6,
    LEMMA_E_6_REPAIRED,
    THEOREM_E_1,
    THEOREM_E_1_REPAIRED,
    LEMMA_F_1,
    LEMMA_F_2,
    LEMMA_F_3,
    LEMMA_F_4,
    THEOREM_G_1,
    THEOREM_G_1_REPAIRED,
    *CASES,
)

LEFT_OUT: tuple[tuple[str, str], ...] = (
    (
        "Lemma B.2",
        "a fact about a_{i,t} alone, min_i a_{i,k+tau_max} >= k for k + tau_max <= T; it has no bound to evaluate",
    ),
    (
        "eq. (98)",
        "the end of the proof of Lemma E.4, with tau_max^2 where the lemma has tau_max; no statement of its own",
    ),
    ("Table 1", "orders of Corollary G.1, with logarithms dropped; `ratecheck tables` compares the two"),
)
