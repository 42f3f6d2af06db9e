"""Linear rates of gradient descent as textbooks print them."""

from bounds.papers.classics.building import STRONGLY_CONVEX, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import NESTEROV, POLYAK

CLASSICS = (
    classic(
        "strongly-convex-distances-nesterov",
        "Gradient descent, distances, as textbooks print it",
        NESTEROV("Theorem 2.1.15"),
        left="dist2",
        over="every_round_but_first",
        right="(1 - 2*gamma_u*mu*L/(mu + L))**t*dist2_0",
        assumptions=STRONGLY_CONVEX,
        conditions=("gamma_u <= 2/(mu + L)",),
        at={"n": 1, "T": 4, "L": 2, "mu": 0.4, "gamma_u": 0.4, "dist2_0": 3},
        value="(1 - gamma_u*mu)**(2*t)*dist2_0",
        standing=Standing.TIGHT,
        known_from="Taylor, Hendrickx, Glineur (2018), Theorem 3.1",
    ),
    classic(
        "strongly-convex-values-nesterov",
        "Gradient descent, values, at 2/(mu + L)",
        NESTEROV("Theorem 2.1.15"),
        left="gap",
        over="every_round",
        right="L/2*((L - mu)/(L + mu))**(2*t)*dist2_0",
        assumptions=STRONGLY_CONVEX,
        step_rules={"gamma_u": "2/(mu + L)"},
        at={"n": 1, "T": 3, "L": 2, "mu": 0.2, "dist2_0": 3},
        standing=Standing.TIGHT,
        known_from="the quadratic of curvature L",
    ),
    classic(
        "strongly-convex-values-polyak",
        "Gradient descent, values, at 1/L",
        POLYAK("Theorem 4"),
        left="gap",
        over="every_round_but_first",
        right="(1 - mu/L)**t*F_0",
        assumptions=STRONGLY_CONVEX,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "mu": 0.4, "F_0": 3},
        value="(1 - mu/L)**(2*t)*F_0",
        standing=Standing.TIGHT,
        known_from="Taylor, Hendrickx, Glineur (2018), Theorem 3.3",
        remark="Proved there from the Polyak-Lojasiewicz inequality alone.",
    ),
)
