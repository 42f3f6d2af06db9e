"""The symbols of the FedSUM paper: settings, constants, step sizes and measured quantities.

Notation of the meanings: a_{i,t} is the last round up to t in which client i took part, -1 if there is none, with
x^(-1) = x^(0); A_t are the clients that took part up to round t; tau_t = max_i (t - a_{i,t}). All expectations are
given the participation.
"""

from __future__ import annotations

import sympy as sp

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
# Of one run; real, not whole, since an upper bound may stand in.
tau_max = _define(
    "tau_max", r"\tau_{\max}", "maximum delay: max of tau_t over rounds 0 ... T", _NONNEGATIVE, _SETTING, 0, 0
)
tau_avg = _define(
    "tau_avg", r"\tau_{\text{avg}}", "average delay: mean of tau_t over rounds 0 ... T-1", _NONNEGATIVE, _SETTING, 0, 0
)
mean_tau_max, mean_tau_avg = (
    _define(
        f"mean_tau_{kind}",
        rf"\mathbb{{E}}[\tau_{{{latex}}}]",
        f"expectation of tau_{kind}",
        _NONNEGATIVE,
        _SETTING,
        0,
        0,
    )
    for kind, latex in (("max", r"\max"), ("avg", r"\text{avg}"))
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
VOCABULARY.order_pair("mean_tau_avg", "mean_tau_max")

eta_g = _define("eta_g", r"\eta_g", "global step size", _POSITIVE, _STEP, 0, 0)
eta_l = _define("eta_l", r"\eta_l", "local step size", _POSITIVE, _STEP, -1, 2)
eta = _define("eta", r"(\eta_g\eta_l)", "effective step size eta_g*eta_l", _POSITIVE, _STEP, -1, 2)


# The factor of the noise in the repaired rates, max{1, tau_avg}.
AVERAGE = sp.Max(1, tau_avg)


def _measured(name: str, latex: str, meaning: str, f_degree: int, x_degree: int, *, signed: bool = False) -> sp.Symbol:
    domain = Domain.REAL if signed else Domain.NONNEGATIVE
    return _define(name, latex, meaning, domain, Role.MEASURED, f_degree, x_degree)


G_u = _measured("G_u", r"\mathbb{E}\|\nabla f(x^{(t)})\|^2", "E||grad f(x^t)||^2", 2, -2)
noise_square = _measured(
    "noise_square", r"\mathbb{E}\|\sum_{i\in\mathcal{A}_t}\sum_k[g_i-\nabla f_i]\|^2",
    "E||sum over i in A_t and k of the noise of client i's gradient k in round a_{i,t}||^2", 2, -2,
)  # fmt: skip
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
_sums(
    "local_",
    r"\sum_{i\in\mathcal{A}_?}\sum_k\nabla f_i(x_i^{(a_{i,?},k)})",
    "sum over i in A_t and k < K of grad f_i(x_i^{a_{i,t},k})",
    "K",
    r"x_i^{(a_{i,t},k)}",
)


def _facts(prefix: str, kind: str) -> dict[str, str]:
    """Facts behind the symbols of `_sums`: ``kind`` is "mean_" for gradients that are not summed over k."""
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
    **{each: each for each in ("tau_max", "tau_avg", "mean_tau_max", "mean_tau_avg", "delta", "G_u", "E_tau_max")},
    "noise_square": "noise2",
    "moved_sum": "total:step:x",
    # FedSUM-B takes all K gradients at x^a_{i,t}: one of them is their mean.
    **_facts("", "mean_"),
    **_facts("local_", ""),
}
