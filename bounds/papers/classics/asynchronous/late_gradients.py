"""Asynchronous SGD, one client in a round: in turn, so that gradients are n rounds late, or drawn uniformly."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import KOLOSKOVA_ASYNC

CLASSICS = (
    classic(
        "async-cyclic-gradients",
        "Asynchronous SGD, clients in turn, squared gradients",
        KOLOSKOVA_ASYNC("the method, for clients in turn"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "16*F_0/(3*gamma_u*T)",
            "noise": "4*L*gamma_u*sigma_u**2*(1 + 2*n/T)",
            "heterogeneity": "32*gamma_u**2*L**2*n**2*b**2*(1 + n/T)/3",
        },
        algorithm="async-sgd",
        assumptions=("smoothness", "noise", "dissimilarity", "cyclic_blocks", "no_personal"),
        conditions=("gamma_u*L*n <= 1/4",),
        settings={"K": 1, "m": 1},
        trivial="2*L*F_0",
        at={"n": 2, "m": 1, "T": 2, "L": 1, "gamma_u": 0.1, "sigma_u": 0, "b": 1, "F_0": 1},
        remark="Derived here. u = x - gamma sum_i g_i(z_i), from which what is under way has been taken already, makes "
        "in n rounds a step along the mean of gradients, each as far from u as gamma times the n gradients before; in "
        "an epoch that is in sum of squares at most 2 gamma^2 n^3 (G + b^2) + gamma^2 n^2 sigma^2 and 1/8 of the one "
        "before.",
    ),
    classic(
        "async-uniform-gradients",
        "Asynchronous SGD, clients drawn uniformly, squared gradients",
        KOLOSKOVA_ASYNC("the rate for clients that differ, drawn uniformly, with constants"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "2*F_0/(gamma_u*T)",
            "variance": "L*gamma_u*(2*b**2 + sigma_u**2)",
            "delay": "12*n**2*gamma_u**2*L**2*(2*b**2 + sigma_u**2)",
        },
        algorithm="async-sgd",
        assumptions=("smoothness", "noise", "dissimilarity", "uniform_sampling", "no_personal"),
        conditions=("gamma_u*L*n <= 1/4",),
        settings={"K": 1, "m": 1},
        trivial="2*L*F_0",
        at={"n": 2, "m": 1, "T": 2, "L": 1, "gamma_u": 0.1, "sigma_u": 0, "b": 1, "F_0": 1},
        remark="The constants are derived here. What arrives is in expectation the mean of all clients' late "
        "gradients, and D = (1/n) sum_i ||x - z_i||^2 is in expectation at most (1 - 1/(2n)) times the D before, "
        "and (2n - 1) gamma^2 times the squared norm of what arrives.",
    ),
)
