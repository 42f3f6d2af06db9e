"""Independent second reading of the papers' comparison tables, kept as a test oracle.

Tables 2 and 3 of the partial-personalization paper (``pfl-table-2``, ``pfl-table-3``), Table 1 of the FedSUM paper
(``fedsum-table-1``) and Table 1 of the SimFBO paper (``simfbo-table-1``).  Every row was transcribed from the text of
the papers alone, without sight of the package's own transcription, so that the two can be compared at random points.
A row is written down as printed, with every hidden constant 1 and hidden logarithms left out.

``ROWS`` goes by ``<table>/<method>[-<pattern>]``.  ``NO_FORMULA`` lists the work that a table names without a rate.
``CLAIMS`` holds what the papers say about how two rows compare, and where the printed orders bear it out.

Symbols (every function takes keyword arguments and ignores those that it does not need)
----------------------------------------------------------------------------------------
pfl
    ``n`` clients, ``m`` sampled clients, ``K`` local steps, ``T`` rounds; ``sigma_u``, ``sigma_v``, ``b`` are the
    square roots of what is printed.  L and F_0 do not occur: the tables hide them, so these rows have no units.
    ``b`` bounds the gradient dissimilarity (Assumption 2.3); in the row of Yu et al. it bounds the gradients.
fedsum
    ``N`` clients, ``S`` active clients a round, ``K`` local steps, ``T`` rounds, ``L`` smoothness, ``sigma`` root of
    the variance, ``Delta_f`` f(x^(0)) - f*, ``F_0`` (1/N) sum_i |grad f_i(x^(0))|^2, ``delta`` lower bound of the
    participation probabilities.
simfbo
    ``n`` clients, ``P`` sampled clients, ``eps`` the accuracy: E |grad Phi|^2 <= eps (Definition 2; no further
    square root).  ``samples`` is tau_bar T, per client by the proof of Theorem 1; ``rounds`` is the number of
    communication rounds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

Order = Callable[..., float]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a table.

    ``orders`` maps the quantity (``rate``, or ``samples`` and ``rounds``) to its function, ``printed`` to the formula
    in ASCII.  ``reference`` is the table's tag (``ours`` for the paper's own row), ``source`` who that is.
    ``columns`` are the row's other columns.  ``alternatives`` are other readings, by where they come from.
    """

    label: str
    reference: str
    source: str
    orders: dict[str, Order]
    printed: dict[str, str]
    columns: dict[str, str]
    logarithms_hidden: bool = False
    note: str = ""
    alternatives: dict[str, Order] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A comparison that a paper states: the order of ``better`` is said to be at most that of ``worse``.

    ``holds`` is the exact condition under which the two printed orders bear it out, in words; ``condition`` decides
    it at a point.
    """

    better: str
    worse: str
    quantity: str
    location: str
    says: str
    holds: str
    condition: Callable[..., bool]


# --- pfl-table-2: algorithms for the partially personalized problem ------------------------------------------------


def _pillutla_first(*, n: float, m: float, T: float, sigma_u: float, sigma_v: float, b: float, **_: float) -> float:
    """The first term of FedSim and FedAlt; the variance of u is not divided by m."""
    return math.sqrt(sigma_u**2 + m * sigma_v**2 / n + (1 - m / n) * b**2) / math.sqrt(T)


def _fedsim(*, n: float, m: float, K: float, T: float, sigma_u: float, sigma_v: float, b: float, **_: float) -> float:
    drift = math.cbrt((b**2 + sigma_u**2 + sigma_v**2) * (K - 1) / (K * T**2))
    return _pillutla_first(n=n, m=m, T=T, sigma_u=sigma_u, sigma_v=sigma_v, b=b) + drift + 1 / T


def _fedsim_short_root(
    *, n: float, m: float, K: float, T: float, sigma_u: float, sigma_v: float, b: float, **_: float
) -> float:
    noise = math.sqrt(sigma_u**2 + m * sigma_v**2 / n) / math.sqrt(T)
    drift = math.cbrt((b**2 + sigma_u**2 + sigma_v**2) * (K - 1) / (K * T**2))
    return noise + (1 - m / n) * b**2 + drift + 1 / T


def _fedalt(*, n: float, m: float, K: float, T: float, sigma_u: float, sigma_v: float, b: float, **_: float) -> float:
    drift = math.cbrt((b**2 + sigma_u**2 + m * sigma_v**2 / n) * (K - 1) / (K * T**2))
    return _pillutla_first(n=n, m=m, T=T, sigma_u=sigma_u, sigma_v=sigma_v, b=b) + drift + 1 / T


def _fedalt_without_last(*, T: float, **p: float) -> float:
    return _fedalt(T=T, **p) - 1 / T


def _fedavg_p(*, n: float, m: float, K: float, T: float, sigma_u: float, sigma_v: float, b: float, **_: float) -> float:
    total = sigma_u**2 / m + m * sigma_v**2 / n + (1 / m - 1 / n) * K * b**2
    return math.sqrt(total) / math.sqrt(K * T) + 1 / T


def _fedavg_p_long_root(
    *, n: float, m: float, K: float, T: float, sigma_u: float, sigma_v: float, b: float, **_: float
) -> float:
    total = sigma_u**2 / m + m * sigma_v**2 / n + (1 / m - 1 / n) * K * b**2
    return math.sqrt(total + 1 / T) / math.sqrt(2 * math.pi)


# --- pfl-table-3: FedAvg on the fully shared problem ---------------------------------------------------------------


def _spread(*, n: float, m: float, K: float, sigma_u: float, b: float, **_: float) -> float:
    """sigma_u^2 + K (1 - m/n) b^2, in the three rows with sampling."""
    return sigma_u**2 + K * (1 - m / n) * b**2


def _karimireddy_partial(*, m: float, K: float, T: float, b: float, **p: float) -> float:
    spread = _spread(m=m, K=K, b=b, **p)
    return math.sqrt(spread) / math.sqrt(m * K * T) + math.cbrt(b**2 / T**2) + 1 / T


def _karimireddy_partial_long_root(*, m: float, K: float, T: float, b: float, **p: float) -> float:
    spread = _spread(m=m, K=K, b=b, **p)
    return math.sqrt(spread + math.cbrt(b**2 / T**2) + 1 / T) / math.sqrt(m * K * T)


def _yang_partial(*, m: float, K: float, T: float, sigma_u: float, b: float, **p: float) -> float:
    spread = _spread(m=m, K=K, sigma_u=sigma_u, b=b, **p)
    return spread / math.sqrt(m * K * T) + (K * b**2 + sigma_u**2 + 1) / T


def _ours_partial(*, m: float, K: float, T: float, **p: float) -> float:
    return math.sqrt(_spread(m=m, K=K, **p)) / math.sqrt(m * K * T) + 1 / T


def _ours_partial_long_root(*, m: float, K: float, T: float, **p: float) -> float:
    return math.sqrt(_spread(m=m, K=K, **p) + 1 / T) / math.sqrt(m * K * T)


def _yu_full(*, n: float, K: float, T: float, sigma_u: float, b: float, **_: float) -> float:
    return math.sqrt(sigma_u**2 / (n * K * T)) + b**2 * n * K / T


def _karimireddy_full(*, n: float, K: float, T: float, sigma_u: float, b: float, **_: float) -> float:
    return math.sqrt(sigma_u**2 / (n * K * T)) + math.cbrt(b**2 / T**2) + 1 / T


def _yang_full(*, n: float, K: float, T: float, sigma_u: float, b: float, **_: float) -> float:
    return sigma_u**2 / math.sqrt(n * K * T) + (K * b**2 + sigma_u**2 + 1) / T


def _ours_full(*, n: float, K: float, T: float, sigma_u: float, **_: float) -> float:
    return math.sqrt(sigma_u**2 / (n * K * T)) + 1 / T


# --- fedsum-table-1 ------------------------------------------------------------------------------------------------


def _fedsum_sampled(
    *, N: float, S: float, K: float, T: float, L: float, sigma: float, Delta_f: float, F_0: float, **_: float
) -> float:
    """Cases 1, 3 and 4 print the same order."""
    return math.sqrt(L * sigma**2 * Delta_f) / math.sqrt(S * K * T) + N * (L * Delta_f + F_0) / (S * T)


def _fedsum_independent(
    *, N: float, K: float, T: float, L: float, sigma: float, Delta_f: float, F_0: float, delta: float, **_: float
) -> float:
    noise = math.sqrt(L * sigma**2 * Delta_f) / math.sqrt(delta * N * K * T)
    return noise + (L * Delta_f + F_0) / (delta * T)


def _fedsum_uniform_with_logarithms(
    *, N: float, S: float, K: float, T: float, L: float, sigma: float, Delta_f: float, F_0: float, **_: float
) -> float:
    noise = math.sqrt(L * sigma**2 * Delta_f * math.log(N * T)) / math.sqrt(S * K * T)
    return noise + N * math.log(N * T) * (L * Delta_f + F_0) / (S * T)


def _fedsum_independent_with_logarithms(*, N: float, T: float, delta: float, **p: float) -> float:
    return max(math.log(N * T), math.log(1 / delta)) * _fedsum_independent(N=N, T=T, delta=delta, **p)


# --- simfbo-table-1 ------------------------------------------------------------------------------------------------


def _eps_2(*, eps: float, **_: float) -> float:
    return 1 / eps**2


def _eps_2_over_P(*, eps: float, P: float, **_: float) -> float:
    return 1 / (eps**2 * P)


def _eps_2_5_over_n(*, eps: float, n: float, **_: float) -> float:
    return 1 / (eps**2 * math.sqrt(eps) * n)


def _eps_1_5(*, eps: float, **_: float) -> float:
    return 1 / (eps * math.sqrt(eps))


def _eps_1(*, eps: float, **_: float) -> float:
    return 1 / eps


# --- The rows ------------------------------------------------------------------------------------------------------

_KARIMIREDDY = "Karimireddy et al. 2020 (the Scaffold paper)"
_YANG = "Yang, Fang, Liu 2021"
_PILLUTLA = "Pillutla et al. 2022"

# Table 2 has no such columns: from Sections 1 and 2.2.
_TABLE_2_OTHERS = {"assumption": "bounded gradient dissimilarity (Sections 1, 2.2)", "sampling": "yes (m in the rate)"}
_BGD_YES = {"assumption": "bounded gradient dissimilarity", "sampling": "yes"}
_BGD_NO = {"assumption": "bounded gradient dissimilarity", "sampling": "no, m = n"}

_PFL: dict[str, Row] = {
    "pfl-table-2/fedsim": Row(
        label="FedSim",
        reference="[18]",
        source=_PILLUTLA,
        orders={"rate": _fedsim},
        printed={
            "rate": "1/sqrt(T) sqrt(sigma_u^2 + m sigma_v^2/n + (1 - m/n) b^2)"
            " + ((b^2 + sigma_u^2 + sigma_v^2) (K - 1)/(K T^2))^(1/3) + 1/T"
        },
        columns=_TABLE_2_OTHERS,
        note="From 000. 002 sets a minus in front and ends the root before (1 - m/n) b^2; its FedAlt row does not.",
        alternatives={"002, without its minus": _fedsim_short_root},
    ),
    "pfl-table-2/fedalt": Row(
        label="FedAlt",
        reference="[18]",
        source=_PILLUTLA,
        orders={"rate": _fedalt},
        printed={
            "rate": "1/sqrt(T) sqrt(sigma_u^2 + m sigma_v^2/n + (1 - m/n) b^2)"
            " + ((b^2 + sigma_u^2 + m sigma_v^2/n) (K - 1)/(K T^2))^(1/3) + 1/T"
        },
        columns=_TABLE_2_OTHERS,
        note="From 000. 002 has lost the last + 1/T.",
        alternatives={"002": _fedalt_without_last},
    ),
    "pfl-table-2/fedavg-p": Row(
        label="FedAvg-P",
        reference="ours",
        source="Corollary 3.8 (3.13 in 000)",
        orders={"rate": _fedavg_p},
        printed={"rate": "1/sqrt(K T) sqrt(sigma_u^2/m + m sigma_v^2/n + (1/m - 1/n) K b^2) + 1/T"},
        columns={"assumption": "bounded gradient dissimilarity (Theorem 3.7)", "sampling": "yes (m in the rate)"},
        note="From 000, and as Corollary 3.8 has it. 002 misreads sqrt(K T) as sqrt(2 pi) and draws 1/T into the root.",
        alternatives={"002": _fedavg_p_long_root},
    ),
    "pfl-table-3/fedavg-karimireddy-partial": Row(
        label="[12]",
        reference="[12]",
        source=_KARIMIREDDY,
        orders={"rate": _karimireddy_partial},
        printed={"rate": "1/sqrt(m K T) sqrt(sigma_u^2 + K (1 - m/n) b^2) + (b^2/T^2)^(1/3) + 1/T"},
        columns=_BGD_YES,
        note="From 000. 002 draws the last two terms into the root.",
        alternatives={"002": _karimireddy_partial_long_root},
    ),
    "pfl-table-3/fedavg-yang-partial": Row(
        label="[24]",
        reference="[24]",
        source=_YANG,
        orders={"rate": _yang_partial},
        printed={"rate": "1/sqrt(m K T) (sigma_u^2 + K (1 - m/n) b^2) + (K b^2 + sigma_u^2 + 1)/T"},
        columns=_BGD_YES,
        note="000 and 002 agree: no root around the bracket. The bracket is a square where the other rows have a root,"
        " so with L = F_0 = 1 the row is not of the same units as they are.",
    ),
    "pfl-table-3/fedavg-ours-partial": Row(
        label="Ours",
        reference="ours",
        source="Section 3.2.3",
        orders={"rate": _ours_partial},
        printed={"rate": "1/sqrt(m K T) sqrt(sigma_u^2 + K (1 - m/n) b^2) + 1/T"},
        columns=_BGD_YES,
        note="From 000, and as Section 3.2.3 has it. 002 draws 1/T into the root.",
        alternatives={"002": _ours_partial_long_root},
    ),
    "pfl-table-3/fedavg-yu-full": Row(
        label="[25]",
        reference="[25]",
        source="Yu, Yang, Zhu 2019",
        orders={"rate": _yu_full},
        printed={"rate": "sqrt(sigma_u^2/(n K T)) + b^2 n K/T"},
        columns={"assumption": "bounded gradients", "sampling": "no, m = n"},
        note="000 and 002 agree. The 2 on 'BG' is a footnote mark: here (1/n) sum_i |grad_u f_i|^2 <= b^2. There is"
        " no 1/T of its own.",
    ),
    "pfl-table-3/fedavg-karimireddy-full": Row(
        label="[12]",
        reference="[12]",
        source=_KARIMIREDDY,
        orders={"rate": _karimireddy_full},
        printed={"rate": "sqrt(sigma_u^2/(n K T)) + (b^2/T^2)^(1/3) + 1/T"},
        columns=_BGD_NO,
        note="000 and 002 agree.",
    ),
    "pfl-table-3/fedavg-yang-full": Row(
        label="[24]",
        reference="[24]",
        source=_YANG,
        orders={"rate": _yang_full},
        printed={"rate": "sigma_u^2/sqrt(n K T) + (K b^2 + sigma_u^2 + 1)/T"},
        columns=_BGD_NO,
        note="000 and 002 agree: sigma_u^2 stands outside the root, as in the partial row.",
    ),
    "pfl-table-3/fedavg-ours-full": Row(
        label="Ours",
        reference="ours",
        source="Section 3.3.2",
        orders={"rate": _ours_full},
        printed={"rate": "sqrt(sigma_u^2/(n K T)) + 1/T"},
        columns={"assumption": "none on heterogeneity", "sampling": "no, m = n"},
        note="002 reads sigma_w for sigma_u; Section 3.3.2 has sigma_u. The assumption column is a dash in 000 and"
        " empty in 002.",
    ),
}

_SAMPLED = "sqrt(L sigma^2 Delta_f)/sqrt(S K T) + N (L Delta_f + F_0)/(S T)"

_FEDSUM: dict[str, Row] = {
    "fedsum-table-1/fedsum-uniform": Row(
        label="Case 1",
        reference="ours",
        source="Corollary G.1, case 1",
        orders={"rate": _fedsum_sampled},
        printed={"rate": f"O~({_SAMPLED})"},
        columns={"related work": "equals SCALLION without compression, up to logarithms"},
        logarithms_hidden=True,
        note="By Corollary G.1 the hidden factors are sqrt(log(N T)) on the first term, log(N T) on the second.",
        alternatives={"with the logarithms of Corollary G.1": _fedsum_uniform_with_logarithms},
    ),
    "fedsum-table-1/fedsum-independent": Row(
        label="Case 2",
        reference="ours",
        source="Corollary G.1, case 2",
        orders={"rate": _fedsum_independent},
        printed={"rate": "O~(sqrt(L sigma^2 Delta_f)/sqrt(delta N K T) + (L Delta_f + F_0)/(delta T))"},
        columns={"related work": "equals FedAWE"},
        logarithms_hidden=True,
        note="By Corollary G.1 the hidden factor is max{log(N T), log(1/delta)} on both terms, outside the root."
        " Equal to the other cases at delta = S/N.",
        alternatives={"with the logarithms of Corollary G.1": _fedsum_independent_with_logarithms},
    ),
    "fedsum-table-1/fedsum-cyclic": Row(
        label="Case 3",
        reference="ours",
        source="Corollary G.1, its case 4",
        orders={"rate": _fedsum_sampled},
        printed={"rate": f"O({_SAMPLED})"},
        columns={"related work": "CyCP, not comparable: it needs the PL condition"},
        note="Case 3 is deterministic cyclic in Section 2, and so in this table (CyCP is cyclic). Lemma F.3 and"
        " Corollary G.1 call the reshuffled pattern case 3. The two rows are equal, so no number depends on it.",
    ),
    "fedsum-table-1/fedsum-reshuffled": Row(
        label="Case 4",
        reference="ours",
        source="Corollary G.1, its case 3",
        orders={"rate": _fedsum_sampled},
        printed={"rate": f"O({_SAMPLED})"},
        columns={"related work": "none known"},
        note="See the cyclic row about the numbering.",
    ),
}

# The four yes/no columns are check marks, which the text has lost: what follows is what the prose says of them.
_LOST = "lost"
_OTHERS_MARKS = {
    "system heterogeneity": _LOST,
    "partial participation": _LOST,
    "without replacement": "no (Section 1)",
    "linear speedup": _LOST,
}
_SIMFBO_NOTE = (
    "P is any number of sampled clients by the table's caption, but Theorems 1 and 2 give eps^-1 rounds for P = n only"
    " (with samples eps^-2/n), and eps^-2/P rounds for partial participation."
)

_SIMFBO: dict[str, Row] = {
    "simfbo-table-1/fednest": Row(
        label="FedNest",
        reference="[65]",
        source="Tarzanagh et al. 2022",
        orders={"samples": _eps_2, "rounds": _eps_2},
        printed={"samples": "eps^-2", "rounds": "eps^-2"},
        columns=_OTHERS_MARKS,
    ),
    "simfbo-table-1/fbo-aggitd": Row(
        label="FBO-AggITD",
        reference="[69]",
        source="Xiao, Ji 2023",
        orders={"samples": _eps_2, "rounds": _eps_2},
        printed={"samples": "eps^-2", "rounds": "eps^-2"},
        columns=_OTHERS_MARKS,
    ),
    "simfbo-table-1/fedbio": Row(
        label="FedBiO",
        reference="[36]",
        source="Li, Huang, Huang 2023",
        orders={"samples": _eps_2_5_over_n, "rounds": _eps_1_5},
        printed={"samples": "eps^-2.5 n^-1", "rounds": "eps^-1.5"},
        columns={**_OTHERS_MARKS, "without replacement": _LOST},
        note="Section 4 counts [36] among the momentum methods, which the caption leaves out; it stands in the table.",
    ),
    "simfbo-table-1/fedmbo": Row(
        label="FedMBO",
        reference="[24]",
        source="Huang, Zhang, Ji 2023",
        orders={"samples": _eps_2_over_P, "rounds": _eps_2},
        printed={"samples": "eps^-2 P^-1", "rounds": "eps^-2"},
        columns={**_OTHERS_MARKS, "partial participation": f"{_LOST}; P in the order says yes"},
    ),
    "simfbo-table-1/simfbo": Row(
        label="SimFBO",
        reference="ours",
        source="Theorem 1",
        orders={"samples": _eps_2_over_P, "rounds": _eps_1},
        printed={"samples": "eps^-2 P^-1", "rounds": "eps^-1"},
        columns={
            "system heterogeneity": f"{_LOST}; it may converge for another objective (Section 3)",
            "partial participation": "yes (abstract)",
            "without replacement": "yes (abstract)",
            "linear speedup": "yes (abstract)",
        },
        note=_SIMFBO_NOTE,
        alternatives={"rounds, Theorem 1, partial participation": _eps_2_over_P},
    ),
    "simfbo-table-1/shrofbo": Row(
        label="ShroFBO",
        reference="ours",
        source="Theorem 2",
        orders={"samples": _eps_2_over_P, "rounds": _eps_1},
        printed={"samples": "eps^-2 P^-1", "rounds": "eps^-1"},
        columns={
            "system heterogeneity": "yes (Section 1.1)",
            "partial participation": "yes (abstract)",
            "without replacement": "yes (abstract)",
            "linear speedup": "yes (abstract)",
        },
        note=_SIMFBO_NOTE,
        alternatives={"rounds, Theorem 2, partial participation": _eps_2_over_P},
    ),
}

ROWS: dict[str, Row] = {**_PFL, **_FEDSUM, **_SIMFBO}

NO_FORMULA: dict[str, str] = {
    "fedsum-table-1/scallion-uniform": "huang2023stochastic, without compression; said to equal case 1 up to logs",
    "fedsum-table-1/fedawe-independent": "xiang2024efficient; said to equal case 2. Section 1.2 counts it among the"
    " methods that bound the gradient dissimilarity, which the FedSUM row does not need",
    "fedsum-table-1/cycp-cyclic": "cho2023convergence; said not to be comparable, as it needs the PL condition",
}


# --- What the papers say about how the rows compare ----------------------------------------------------------------


def _always(**_: float) -> bool:
    return True


def _against_yang_partial(*, m: float, K: float, T: float, sigma_u: float, b: float, **p: float) -> bool:
    """sqrt(X) (1 - sqrt(X)) / sqrt(m K T) <= (K b^2 + sigma_u^2) / T, with X = sigma_u^2 + K (1 - m/n) b^2."""
    root = math.sqrt(_spread(m=m, K=K, sigma_u=sigma_u, b=b, **p))
    return root * (1 - root) * math.sqrt(T) <= math.sqrt(m * K) * (K * b**2 + sigma_u**2)


def _against_yang_full(*, n: float, K: float, T: float, sigma_u: float, b: float, **_: float) -> bool:
    return sigma_u * (1 - sigma_u) * math.sqrt(T) <= math.sqrt(n * K) * (K * b**2 + sigma_u**2)


def _against_yu(*, n: float, K: float, b: float, **_: float) -> bool:
    return b**2 * n * K >= 1


def _against_fedbio_samples(*, n: float, P: float, eps: float, **_: float) -> bool:
    return math.sqrt(eps) * n <= P


def _eps_at_most_1(*, eps: float, **_: float) -> bool:
    return eps <= 1


_TABLE_2_SAYS = "FedAvg-P is faster than the existing results"
_TABLE_2_HOLDS = "always, term by term; equal at K = m = 1"
_TABLE_3_UPPER = "Section 3.2.3 (upper part of Table 3)"
_TABLE_3_LOWER = "Section 3.3.2 (lower part of Table 3)"
_SIMFBO_SECTION = "Section 1.1, third contribution"

CLAIMS: tuple[Claim, ...] = (
    *(
        Claim(
            better="pfl-table-2/fedavg-p",
            worse=f"pfl-table-2/{other}",
            quantity="rate",
            location="Remark 3.10 (3.15 in 000)",
            says=_TABLE_2_SAYS,
            holds=_TABLE_2_HOLDS,
            condition=_always,
        )
        for other in ("fedsim", "fedalt")
    ),
    Claim(
        better="pfl-table-3/fedavg-ours-partial",
        worse="pfl-table-3/fedavg-karimireddy-partial",
        quantity="rate",
        location=_TABLE_3_UPPER,
        says="superior to the best known rates of FedAvg",
        holds="always; equal at b = 0",
        condition=_always,
    ),
    Claim(
        better="pfl-table-3/fedavg-ours-partial",
        worse="pfl-table-3/fedavg-yang-partial",
        quantity="rate",
        location=_TABLE_3_UPPER,
        says="superior to the best known rates of FedAvg",
        holds="if X = sigma_u^2 + K (1 - m/n) b^2 is 0 or at least 1, else for"
        " T <= m K (K b^2 + sigma_u^2)^2/(X (1 - sqrt(X))^2) only",
        condition=_against_yang_partial,
    ),
    Claim(
        better="pfl-table-3/fedavg-ours-full",
        worse="pfl-table-3/fedavg-yu-full",
        quantity="rate",
        location=_TABLE_3_LOWER,
        says="outperforms all baselines under the mildest assumptions",
        holds="if b^2 n K >= 1, as the other row has no 1/T of its own",
        condition=_against_yu,
    ),
    Claim(
        better="pfl-table-3/fedavg-ours-full",
        worse="pfl-table-3/fedavg-karimireddy-full",
        quantity="rate",
        location=_TABLE_3_LOWER,
        says="outperforms all baselines under the mildest assumptions",
        holds="always; equal at b = 0",
        condition=_always,
    ),
    Claim(
        better="pfl-table-3/fedavg-ours-full",
        worse="pfl-table-3/fedavg-yang-full",
        quantity="rate",
        location=_TABLE_3_LOWER,
        says="outperforms all baselines under the mildest assumptions",
        holds="if sigma_u is 0 or at least 1, else for T <= n K (K b^2 + sigma_u^2)^2/(sigma_u^2 (1 - sigma_u)^2) only",
        condition=_against_yang_full,
    ),
    *(
        Claim(
            better=f"simfbo-table-1/{own}",
            worse=f"simfbo-table-1/{other}",
            quantity="samples",
            location=_SIMFBO_SECTION,
            says="equal to the best sample complexity, that of FedMBO",
            holds=holds,
            condition=condition,
        )
        for own in ("simfbo", "shrofbo")
        for other, holds, condition in (
            ("fednest", "always", _always),
            ("fbo-aggitd", "always", _always),
            ("fedbio", "if P >= n sqrt(eps)", _against_fedbio_samples),
            ("fedmbo", "always, with equality", _always),
        )
    ),
    *(
        Claim(
            better=f"simfbo-table-1/{own}",
            worse=f"simfbo-table-1/{other}",
            quantity="rounds",
            location=_SIMFBO_SECTION,
            says="best communication complexity, by a factor eps^(-1/2)",
            holds=f"for eps <= 1, by a factor {factor}; by Theorems 1 and 2 for P = n only",
            condition=_eps_at_most_1,
        )
        for own in ("simfbo", "shrofbo")
        for other, factor in (
            ("fednest", "eps^-1"),
            ("fbo-aggitd", "eps^-1"),
            ("fedbio", "eps^(-1/2)"),
            ("fedmbo", "eps^-1"),
        )
    ),
)
