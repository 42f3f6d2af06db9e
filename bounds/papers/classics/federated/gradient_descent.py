"""Every client with one step a round: gradient descent on the mean."""

from bounds.papers.classics.building import NOISY, SMOOTH, STRONGLY_CONVEX, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import DRORI_TEBOULLE, NESTEROV, POLYAK_BOOK, TAYLOR_PROXIMAL

CLASSICS = (
    classic(
        "clients-values",
        "FedAvg with one local step, values",
        DRORI_TEBOULLE("Theorem 3.1"),
        left="gap",
        over="every_round",
        right="L*dist2_0/(4*gamma_u*eta_u*L*t + 2)",
        conditions=("gamma_u*eta_u <= 1/L",),
        settings={"K": 1, "m": "n", "sigma_u": 0},
        at={"n": 2, "T": 4, "L": 2, "gamma_u": 0.2, "eta_u": 2, "dist2_0": 3},
        standing=Standing.TIGHT,
        remark="With one local step of every client FedAvg is gradient descent on the mean of the functions.",
    ),
    classic(
        "clients-scaffold-distances",
        "SCAFFOLD with one local step, distances",
        TAYLOR_PROXIMAL("Theorem 3.1"),
        left="dist2",
        over="every_round_but_first",
        right="max((1 - gamma_u*L)**2, (1 - gamma_u*mu)**2)**t*dist2_0",
        algorithm="scaffold",
        assumptions=STRONGLY_CONVEX,
        conditions=("gamma_u <= 2/L",),
        at={"n": 2, "T": 3, "L": 2, "mu": 0.4, "gamma_u": 0.4, "dist2_0": 3},
        standing=Standing.TIGHT,
        remark="With one local step of every client SCAFFOLD is gradient descent on the mean of the functions.",
    ),
    classic(
        "clients-local-steps-alone",
        "One client with local steps, the mean gradient of the rounds",
        NESTEROV("Section 1.2.3"),
        left="G_u",
        over="mean_of_rounds",
        right="2*F_0/(gamma_u*T)",
        assumptions=SMOOTH,
        conditions=("gamma_u <= 1/L",),
        settings={"n": 1, "m": 1, "eta_u": 1, "sigma_u": 0},
        trivial="2*L*F_0",
        at={"K": 2, "T": 3, "L": 2, "gamma_u": 0.4, "F_0": 3},
        remark="Every local step descends, and the first one of a round by its share of the gradient at the server.",
    ),
    classic(
        "clients-minibatch-distances",
        "Minibatch SGD of several clients, distances",
        POLYAK_BOOK("Section 2.2"),
        left="dist2",
        over="every_round_but_first",
        right={
            "start": "(1 - gamma_u*mu)**(2*t)*dist2_0",
            "noise": "gamma_u**2*sigma_u**2/n*(1 - (1 - gamma_u*mu)**(2*t))/(1 - (1 - gamma_u*mu)**2)",
        },
        assumptions=("smoothness", "strong_convexity", "noise", "full_participation", "no_personal"),
        conditions=("gamma_u <= 2/(mu + L)",),
        settings=NOISY,
        at={"n": 2, "T": 2, "L": 1, "mu": 0.1, "gamma_u": 0.5, "sigma_u": 1, "dist2_0": 1},
        value="(1 - gamma_u*mu)**(2*t)*dist2_0 + gamma_u**2*sigma_u**2/2",
        standing=Standing.TIGHT,
        known_from="the quadratic of curvature mu, where the step is an equality",
        remark="The noise of n clients is that of one, divided by n.",
    ),
)
