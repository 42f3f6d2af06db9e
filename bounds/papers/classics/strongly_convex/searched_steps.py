"""Steps that are searched along a line, on quadratics."""

from bounds.papers.classics.building import STRONGLY_CONVEX, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import NOCEDAL

# At x and further along the direction.
_TWO_GRADIENTS = {"K": 2, "m": "n", "sigma_u": 0}

CLASSICS = (
    classic(
        "line-search-values",
        "Exact line search on quadratics, values",
        NOCEDAL("Theorem 3.3"),
        left="gap",
        over="every_round_but_first",
        right="((L - mu)/(L + mu))**(2*t)*F_0",
        algorithm="line-search",
        assumptions=STRONGLY_CONVEX,
        settings=_TWO_GRADIENTS,
        at={"n": 1, "T": 4, "L": 1, "mu": 0.1, "F_0": 1},
        standing=Standing.TIGHT,
        known_from="Luenberger (1973), Introduction to Linear and Nonlinear Programming, Kantorovich's inequality",
        remark="Reached where curvatures are mu and L and the gradient has the same size along both. De Klerk, Glineur "
        "and Taylor (2017) prove the same rate for all smooth strongly convex functions, on which this method is "
        "another.",
    ),
    classic(
        "conjugate-gradients-values",
        "Conjugate gradients on quadratics, values",
        NOCEDAL("Equation (5.36)"),
        left="gap",
        over="every_round_but_first",
        right="4*((sqrt(L) - sqrt(mu))/(sqrt(L) + sqrt(mu)))**(2*t)*F_0",
        algorithm="conjugate-gradients",
        assumptions=STRONGLY_CONVEX,
        settings=_TWO_GRADIENTS,
        at={"n": 1, "T": 4, "L": 1, "mu": 0.1, "F_0": 1},
        standing=Standing.UPPER,
        remark="The squared bound on the norm of x - x* in the Hessian's own norm.",
    ),
)
