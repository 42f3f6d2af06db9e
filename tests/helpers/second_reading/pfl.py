"""Independent second reading of the partial-personalization paper, kept as a test oracle.

The paper is "Sharper Convergence Guarantees for Federated Learning with Partial Model Personalization"
(FedAvg-P and Scaffold-P).  Every formula below was transcribed from the text of the paper alone, without sight of
the package's own transcription, so that the two can be compared at random points.  The statements are written down
as printed, also where the printed form looks like a slip.

``sigma_u``, ``sigma_v`` and ``b`` are square roots: the paper prints their squares.  ``G_u``, ``G_v``, ``E``, ``B``
and ``C`` are the calligraphic quantities of round t, the suffix ``_prev`` marks round t - 1, and the hatted G_v is
(m / n) G_v.  Every function takes keyword arguments and ignores those it does not need.
"""

import math
from collections.abc import Callable

Pairs = list[tuple[float, float]]


# --- Shared pieces of the statements -------------------------------------------------------------------------------


def _noise_partial(n: float, m: float, sigma_u: float, sigma_v: float) -> float:
    """sigma_u^2 / m + m sigma_v^2 / n."""
    return sigma_u**2 / m + m * sigma_v**2 / n


def _noise_full(n: float, sigma_u: float, sigma_v: float) -> float:
    """sigma_u^2 / n + sigma_v^2."""
    return sigma_u**2 / n + sigma_v**2


def _sampling(n: float, m: float, K: float, b: float) -> float:
    """4 (n - m) K b^2 / (m n)."""
    return 4 * (n - m) * K * b**2 / (m * n)


# --- Right sides: FedAvg-P (Section 3) -----------------------------------------------------------------------------


def _lemma_3_1(
    *,
    n: float,
    m: float,
    K: float,
    L: float,
    gamma: float,
    sigma_u: float,
    sigma_v: float,
    T_1u: float,
    T_1v: float,
    T_2u: float,
    T_2v: float,
    T_3u: float,
    **_: float,
) -> float:
    return (
        T_1u
        + T_1v
        + 2 * L * T_2u
        + 2 * L * T_2v
        + 4 * L * gamma**2 * (n - m) / (m * n**2) * T_3u
        + 2 * L * K * sigma_u**2 * gamma**2 / m
        + 2 * L * K * sigma_v**2 * gamma**2 * m / n
    )


def _lemma_3_2_u(*, n: float, K: float, L: float, gamma: float, G_u: float, E: float, **_: float) -> float:
    return -K * gamma / 2 * G_u + L**2 * gamma / n * E


def _lemma_3_2_v(*, n: float, m: float, K: float, L: float, gamma: float, G_v: float, E: float, **_: float) -> float:
    return -K * gamma * m / (2 * n) * G_v + L**2 * gamma * m / n**2 * E


def _lemma_3_3_u(*, n: float, K: float, L: float, gamma: float, G_u: float, E: float, **_: float) -> float:
    return 2 * K**2 * gamma**2 * G_u + 4 * L**2 * K * gamma**2 / n * E


def _lemma_3_3_v(*, n: float, m: float, K: float, L: float, gamma: float, G_v: float, E: float, **_: float) -> float:
    return 2 * K**2 * gamma**2 * m / n * G_v + 4 * L**2 * K * gamma**2 * m / n**2 * E


def _lemma_3_4(*, n: float, K: float, L: float, b: float, E: float, **_: float) -> float:
    return 3 * n * K**2 * b**2 + 12 * L**2 * K * E


def _lemma_3_5(
    *,
    n: float,
    K: float,
    gamma_u: float,
    gamma_v: float,
    sigma_u: float,
    sigma_v: float,
    B: float,
    G_v: float,
    **_: float,
) -> float:
    return (
        8 * K**2 * (K - 1) * gamma_u**2 * B
        + 8 * n * K**3 * gamma_v**2 * G_v
        + 4 * n * K**2 * (sigma_u**2 * gamma_u**2 + sigma_v**2 * gamma_v**2)
    )


def _lemma_3_6_dissimilarity(*, n: float, b: float, G_u: float, **_: float) -> float:
    return n * G_u + n * b**2


def _lemma_3_6_recursion(
    *,
    n: float,
    K: float,
    T: float,
    sigma_u: float,
    sigma_v: float,
    B_prev: float,
    G_u_prev: float,
    G_v_prev: float,
    **_: float,
) -> float:
    return (
        (1 + 2 / (T - 1)) * B_prev
        + 2 * n * T * (G_u_prev + G_v_prev)
        + 2 * n * T / K * _noise_full(n, sigma_u, sigma_v)
    )


def _theorem_3_7(
    *,
    n: float,
    m: float,
    K: float,
    T: float,
    L: float,
    gamma: float,
    eta_u: float,
    sigma_u: float,
    sigma_v: float,
    b: float,
    F_0: float,
    **_: float,
) -> float:
    return (
        4 * F_0 / (T * K * gamma)
        + 12 * L * (_sampling(n, m, K, b) + _noise_partial(n, m, sigma_u, sigma_v)) * gamma
        + 128 * L**2 * K * (K - 1) * b**2 / eta_u**2 * gamma**2
    )


def _corollary_3_8(
    *,
    n: float,
    m: float,
    K: float,
    T: float,
    L: float,
    sigma_u: float,
    sigma_v: float,
    b: float,
    F_0: float,
    **_: float,
) -> float:
    total = _sampling(n, m, K, b) + _noise_partial(n, m, sigma_u, sigma_v)
    return 8 * math.sqrt(3 * total * L * F_0 / (K * T)) + 129 * L * F_0 / T


def _fedavg_partial(
    *, n: float, m: float, K: float, T: float, L: float, sigma_u: float, b: float, F_0: float, **_: float
) -> float:
    total = _sampling(n, m, K, b) + sigma_u**2 / m
    return 8 * math.sqrt(3 * total * L * F_0 / (K * T)) + 129 * L * F_0 / T


def _parallel_sgd(*, T: float, L: float, sigma_v: float, F_0: float, **_: float) -> float:
    return 8 * math.sqrt(3 * sigma_v**2 * L * F_0 / T) + 129 * L * F_0 / T


def _theorem_3_11(
    *,
    n: float,
    K: float,
    T: float,
    L: float,
    gamma: float,
    sigma_u: float,
    sigma_v: float,
    F_0: float,
    **_: float,
) -> float:
    return 4 * F_0 / (T * K * gamma) + 44 * L * _noise_full(n, sigma_u, sigma_v) * gamma + L * F_0 / T


def _theorem_3_11_tuned(
    *, n: float, K: float, T: float, L: float, sigma_u: float, sigma_v: float, F_0: float, **_: float
) -> float:
    return 8 * math.sqrt(11 * L * F_0 / (K * T) * _noise_full(n, sigma_u, sigma_v)) + 337 * L * F_0 / T


def _fedavg_full(*, n: float, K: float, T: float, L: float, sigma_u: float, F_0: float, **_: float) -> float:
    return 8 * math.sqrt(11 * sigma_u**2 * L * F_0 / (n * K * T)) + 337 * L * F_0 / T


# --- Right sides: Scaffold-P (Section 4) ---------------------------------------------------------------------------


def _lemma_4_1(
    *,
    n: float,
    m: float,
    K: float,
    L: float,
    gamma: float,
    sigma_u: float,
    sigma_v: float,
    T_1u: float,
    T_1v: float,
    T_2u: float,
    T_2v: float,
    S_3u: float,
    **_: float,
) -> float:
    return (
        T_1u
        + T_1v
        + 2 * L * T_2u
        + 2 * L * T_2v
        + 4 * L * gamma**2 * (n - m) / (m * n**2) * S_3u
        + 18 * L * K * sigma_u**2 * gamma**2 / m
        + 2 * L * K * sigma_v**2 * gamma**2 * m / n
    )


def _lemma_4_2(*, K: float, L: float, C: float, E: float, **_: float) -> float:
    return 16 * L**2 * K * C + 16 * L**2 * K * E


def _lemma_4_3(
    *,
    n: float,
    K: float,
    L: float,
    gamma_u: float,
    gamma_v: float,
    sigma_u: float,
    sigma_v: float,
    C: float,
    G_u: float,
    G_v: float,
    **_: float,
) -> float:
    return (
        96 * L**2 * K**2 * gamma_u**2 * C
        + 24 * n * K**3 * gamma_u**2 * G_u
        + 8 * n * K**3 * gamma_v**2 * G_v
        + 52 * n * K**2 * (sigma_u**2 * gamma_u**2 + sigma_v**2 * gamma_v**2)
    )


def _lemma_4_4(
    *,
    n: float,
    m: float,
    K: float,
    L: float,
    sigma_u: float,
    sigma_v: float,
    C_prev: float,
    G_u_prev: float,
    G_v_prev: float,
    **_: float,
) -> float:
    return (
        (1 - m / (4 * n)) * C_prev
        + m * n ** (2 / 3) * K / (36 * L**2) * (G_u_prev + m / n * G_v_prev)
        + m**2 / (18 * L**2) * _noise_partial(n, m, sigma_u, sigma_v)
    )


def _theorem_4_5(
    *,
    n: float,
    m: float,
    K: float,
    T: float,
    L: float,
    gamma: float,
    sigma_u: float,
    sigma_v: float,
    F_0: float,
    **_: float,
) -> float:
    return 4 * F_0 / (T * K * gamma) + 148 * _noise_partial(n, m, sigma_u, sigma_v) * L * gamma


def _corollary_4_6(
    *,
    n: float,
    m: float,
    K: float,
    T: float,
    L: float,
    sigma_u: float,
    sigma_v: float,
    F_0: float,
    **_: float,
) -> float:
    noise = 8 * math.sqrt(37 * L * F_0 / (K * T) * _noise_partial(n, m, sigma_u, sigma_v))
    return noise + 288 * L * F_0 / T * max(1, n ** (2 / 3) / m)


def _scaffold(*, n: float, m: float, K: float, T: float, sigma_u: float, **_: float) -> float:
    return math.sqrt(sigma_u**2 / (m * K * T)) + 1 / T * max(1, n ** (2 / 3) / m)


def _scaffold_prior(*, n: float, m: float, K: float, T: float, sigma_u: float, **_: float) -> float:
    return math.sqrt(sigma_u**2 / (m * K * T)) + 1 / T * (n / m) ** (2 / 3)


# --- Right sides: Appendix A ---------------------------------------------------------------------------------------


def _lemma_a_1(*, squares: float, **_: float) -> float:
    return squares


def _lemma_a_2(*, n: float, m: float, xbar2: float, spread: float, **_: float) -> float:
    return xbar2 + 2 * (n - m) / (m * n**2) * spread


def _lemma_a_3(*, L: float, inner_u: float, inner_v: float, du2: float, dv2: float, **_: float) -> float:
    return inner_u + inner_v + L * du2 + L * dv2


# --- Conditions ----------------------------------------------------------------------------------------------------


def _conditions_lemma_3_5(*, K: float, L: float, gamma_u: float, gamma_v: float, **_: float) -> Pairs:
    return [(4 * L**2 * K * (K - 1) * (gamma_u**2 + gamma_v**2), 1.0)]


def _conditions_lemma_3_6(
    *, n: float, m: float, K: float, T: float, L: float, gamma: float, eta_u: float, eta_v: float, **_: float
) -> Pairs:
    return [
        (m, n),
        (n, m),
        (max(T, math.sqrt(n)), eta_u),
        (1.0, eta_v),
        (gamma, 1 / (8 * L * K)),
    ]


def _conditions_theorem_3_7(
    *, n: float, m: float, K: float, L: float, gamma: float, eta_u: float, eta_v: float, **_: float
) -> Pairs:
    return [
        (math.sqrt(m), eta_u),
        (math.sqrt(n / m), eta_v),
        (gamma, 1 / (32 * L * K)),
    ]


def _conditions_corollary_3_8(
    *,
    n: float,
    m: float,
    T: float,
    L: float,
    eta_u: float,
    eta_v: float,
    b: float,
    F_0: float,
    **_: float,
) -> Pairs:
    return [
        (math.sqrt(n / m), eta_v),
        (max(math.sqrt(m), math.sqrt(b**2 * T / (L * F_0))), eta_u),
    ]


def _conditions_theorem_3_11_tuned(
    *,
    n: float,
    m: float,
    T: float,
    L: float,
    eta_u: float,
    eta_v: float,
    F_0: float,
    B_0: float,
    **_: float,
) -> Pairs:
    return [
        (m, n),
        (n, m),
        (max(T, math.sqrt(B_0 * T / (n * L * F_0)), math.sqrt(n)), eta_u),
        (1.0, eta_v),
    ]


def _conditions_theorem_3_11(*, K: float, L: float, gamma: float, **p: float) -> Pairs:
    return [*_conditions_theorem_3_11_tuned(L=L, **p), (gamma, 1 / (84 * L * K))]


def _conditions_lemma_4_3(*, K: float, L: float, gamma_u: float, gamma_v: float, **_: float) -> Pairs:
    return [(12 * L**2 * K * (K - 1) * (gamma_u**2 + gamma_v**2), 1.0)]


def _conditions_scaffold_p(
    *, n: float, m: float, K: float, L: float, gamma: float, eta_u: float, eta_v: float, **_: float
) -> Pairs:
    """The conditions of Lemma 4.4, printed again in Theorem 4.5."""
    return [
        (math.sqrt(m), eta_u),
        (math.sqrt(n / m), eta_v),
        (gamma, 1 / (72 * L * K) * min(m / n ** (2 / 3), 1)),
    ]


def _conditions_corollary_4_6(*, n: float, m: float, eta_u: float, eta_v: float, **_: float) -> Pairs:
    return [
        (math.sqrt(m), eta_u),
        (math.sqrt(n / m), eta_v),
    ]


# --- Prescribed step sizes (the outer ones are the smallest admissible) --------------------------------------------


def _corollary_3_8_gamma(
    *,
    n: float,
    m: float,
    K: float,
    T: float,
    L: float,
    sigma_u: float,
    sigma_v: float,
    b: float,
    F_0: float,
    **_: float,
) -> float:
    total = _sampling(n, m, K, b) + _noise_partial(n, m, sigma_u, sigma_v)
    return 1 / (32 * L * K + math.sqrt(3 * L * K * T / F_0 * total))


def _corollary_3_8_eta_u(*, m: float, T: float, L: float, b: float, F_0: float, **_: float) -> float:
    return max(math.sqrt(m), math.sqrt(b**2 * T / (L * F_0)))


def _corollary_3_8_eta_v(*, n: float, m: float, **_: float) -> float:
    return math.sqrt(n / m)


def _theorem_3_11_tuned_gamma(
    *, n: float, K: float, T: float, L: float, sigma_u: float, sigma_v: float, F_0: float, **_: float
) -> float:
    return 1 / (84 * L * K + math.sqrt(11 * L * K * T / F_0 * _noise_full(n, sigma_u, sigma_v)))


def _theorem_3_11_tuned_eta_u(*, n: float, T: float, L: float, F_0: float, B_0: float, **_: float) -> float:
    return max(T, math.sqrt(B_0 * T / (n * L * F_0)), math.sqrt(n))


def _theorem_3_11_tuned_eta_v(**_: float) -> float:
    return 1.0


def _corollary_4_6_gamma(
    *,
    n: float,
    m: float,
    K: float,
    T: float,
    L: float,
    sigma_u: float,
    sigma_v: float,
    F_0: float,
    **_: float,
) -> float:
    slow = 72 * L * K * max(n ** (2 / 3) / m, 1)
    return 1 / (slow + math.sqrt(37 * L * K * T / F_0 * _noise_partial(n, m, sigma_u, sigma_v)))


def _corollary_4_6_eta_u(*, m: float, **_: float) -> float:
    return math.sqrt(m)


def _corollary_4_6_eta_v(*, n: float, m: float, **_: float) -> float:
    return math.sqrt(n / m)


# --- The three tables ----------------------------------------------------------------------------------------------

RIGHT_SIDES: dict[str, dict[str, Callable[..., float]]] = {
    "pfl/lemma-3.1": {"main": _lemma_3_1},
    "pfl/lemma-3.2": {"T_1u": _lemma_3_2_u, "T_1v": _lemma_3_2_v},
    "pfl/lemma-3.3": {"T_2u": _lemma_3_3_u, "T_2v": _lemma_3_3_v},
    "pfl/lemma-3.4": {"main": _lemma_3_4},
    "pfl/lemma-3.5": {"main": _lemma_3_5},
    "pfl/lemma-3.6": {"dissimilarity": _lemma_3_6_dissimilarity, "recursion": _lemma_3_6_recursion},
    "pfl/theorem-3.7": {"main": _theorem_3_7},
    "pfl/corollary-3.8": {"main": _corollary_3_8},
    "pfl/theorem-3.11": {"main": _theorem_3_11},
    "pfl/theorem-3.11-tuned": {"main": _theorem_3_11_tuned},
    "pfl/lemma-4.1": {"main": _lemma_4_1},
    "pfl/lemma-4.2": {"main": _lemma_4_2},
    "pfl/lemma-4.3": {"main": _lemma_4_3},
    "pfl/lemma-4.4": {"main": _lemma_4_4},
    "pfl/theorem-4.5": {"main": _theorem_4_5},
    "pfl/corollary-4.6": {"main": _corollary_4_6},
    "pfl/fedavg-partial": {"main": _fedavg_partial},
    "pfl/parallel-sgd": {"main": _parallel_sgd},
    "pfl/fedavg-full": {"main": _fedavg_full},
    "pfl/scaffold": {"main": _scaffold},
    "pfl/scaffold-prior": {"main": _scaffold_prior},
    "pfl/lemma-a.1": {"main": _lemma_a_1},
    "pfl/lemma-a.2": {"main": _lemma_a_2},
    "pfl/lemma-a.3": {"main": _lemma_a_3},
}

CONDITIONS: dict[str, Callable[..., Pairs]] = {
    "pfl/lemma-3.5": _conditions_lemma_3_5,
    "pfl/lemma-3.6": _conditions_lemma_3_6,
    "pfl/theorem-3.7": _conditions_theorem_3_7,
    "pfl/corollary-3.8": _conditions_corollary_3_8,
    "pfl/theorem-3.11": _conditions_theorem_3_11,
    "pfl/theorem-3.11-tuned": _conditions_theorem_3_11_tuned,
    "pfl/lemma-4.3": _conditions_lemma_4_3,
    "pfl/lemma-4.4": _conditions_scaffold_p,
    "pfl/theorem-4.5": _conditions_scaffold_p,
    "pfl/corollary-4.6": _conditions_corollary_4_6,
}

PRESCRIBED: dict[str, dict[str, Callable[..., float]]] = {
    "pfl/corollary-3.8": {
        "gamma": _corollary_3_8_gamma,
        "eta_u": _corollary_3_8_eta_u,
        "eta_v": _corollary_3_8_eta_v,
    },
    "pfl/theorem-3.11-tuned": {
        "gamma": _theorem_3_11_tuned_gamma,
        "eta_u": _theorem_3_11_tuned_eta_u,
        "eta_v": _theorem_3_11_tuned_eta_v,
    },
    "pfl/corollary-4.6": {
        "gamma": _corollary_4_6_gamma,
        "eta_u": _corollary_4_6_eta_u,
        "eta_v": _corollary_4_6_eta_v,
    },
}
