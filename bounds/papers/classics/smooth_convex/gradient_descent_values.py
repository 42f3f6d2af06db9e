"""Values of gradient descent: f(x^t) - f* from ||x^0 - x*||."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import BECK, DRORI_TEBOULLE, NESTEROV

CLASSICS = (
    classic(
        "gradient-descent-values",
        "Gradient descent, values",
        DRORI_TEBOULLE("Theorem 3.1"),
        left="gap",
        over="every_round",
        right="L*dist2_0/(4*gamma_u*L*t + 2)",
        conditions=("gamma_u <= 1/L",),
        at={"n": 1, "T": 6, "L": 2, "gamma_u": 0.4, "dist2_0": 3},
        standing=Standing.TIGHT,
    ),
    classic(
        "gradient-descent-values-long",
        "Gradient descent, values, steps up to 2/L",
        DRORI_TEBOULLE("Conjecture 3.1"),
        left="gap",
        over="every_round",
        right="L*dist2_0/2*max(1/(2*gamma_u*L*t + 1), (1 - gamma_u*L)**(2*t))",
        conditions=("gamma_u < 2/L",),
        at={"n": 1, "T": 5, "L": 1, "gamma_u": 1.6, "dist2_0": 1},
        standing=Standing.NUMERICAL,
        remark="A conjecture there, for steps beyond 1/L.",
    ),
    classic(
        "gradient-descent-values-beck",
        "Gradient descent, values, as textbooks print it",
        BECK("Theorem 10.21"),
        left="gap",
        over="every_round_but_first",
        right="dist2_0/(2*gamma_u*t)",
        conditions=("gamma_u <= 1/L",),
        at={"n": 1, "T": 6, "L": 2, "gamma_u": 0.4, "dist2_0": 3},
        value="L*dist2_0/(4*gamma_u*L*t + 2)",
        standing=Standing.TIGHT,
        known_from="Drori, Teboulle (2014), Theorem 3.1",
    ),
    classic(
        "gradient-descent-values-nesterov",
        "Gradient descent, values, at 1/L",
        NESTEROV("Corollary 2.1.2"),
        left="gap",
        over="every_round",
        right="2*L*dist2_0/(t + 4)",
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 6, "L": 2, "dist2_0": 3},
        value="L*dist2_0/(4*t + 2)",
        standing=Standing.TIGHT,
        known_from="Drori, Teboulle (2014), Theorem 3.1",
    ),
)
