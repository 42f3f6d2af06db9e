"""Functions that satisfy the Polyak-Lojasiewicz inequality."""

from bounds.papers.classics.building import EXACT, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import KARIMI

CLASSICS = (
    classic(
        "gradient-dominated-values",
        "Gradient descent under the Polyak-Lojasiewicz inequality, values",
        KARIMI("Theorem 1"),
        left="gap",
        over="every_round_but_first",
        right="(1 - mu_PL/L)**t*F_0",
        assumptions=("smoothness", "polyak_lojasiewicz", "full_participation", "no_personal"),
        settings=EXACT,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "mu_PL": 0.4, "F_0": 3},
        standing=Standing.UPPER,
    ),
)
