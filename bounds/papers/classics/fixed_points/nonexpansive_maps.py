"""Fixed points of a nonexpansive map N: A = L/2 (I - N) is cocoercive, and a step of 2/L along A leads to N x."""

from bounds.papers.classics.building import COCOERCIVE, EXACT, PLAIN, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import LIEDER, LIEDER_THESIS

CLASSICS = (
    classic(
        "fixed-point-halpern",
        "Halpern's iteration of a nonexpansive map",
        LIEDER("Theorem 2.1"),
        left="G_u",
        over="every_round",
        right="L**2*dist2_0/(t + 1)**2",
        algorithm="halpern",
        assumptions=COCOERCIVE,
        settings=PLAIN,
        step_rules={"gamma_u": "2/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        standing=Standing.TIGHT,
        remark="G_u is the squared norm of A x, L^2/4 ||x - N x||^2.",
    ),
    classic(
        "fixed-point-krasnoselskii-mann",
        "Krasnoselskii-Mann iteration, constant steps",
        LIEDER_THESIS("Theorem 4.9"),
        left="G_u",
        over="every_round_but_first",
        right="L**2*dist2_0/(gamma_u*L*(2 - gamma_u*L))*(t/(t + 1))**t/(t + 1)",
        assumptions=COCOERCIVE,
        conditions=("gamma_u >= 1/L", "gamma_u <= (1 + sqrt(1/2))/L"),
        settings=EXACT,
        at={"n": 1, "T": 4, "L": 2, "gamma_u": 0.75, "dist2_0": 3},
        standing=Standing.NUMERICAL,
        remark="Between x and N x at the share gamma_u L/2; PEPit's examples find the bound reached.",
    ),
)
