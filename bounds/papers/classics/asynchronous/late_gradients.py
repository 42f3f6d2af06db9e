"""Asynchronous SGD, one client in a round: in turn, so that gradients are n rounds late, or drawn uniformly."""

from __future__ import annotations

from bounds.papers.classics.building import classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import KOLOSKOVA_ASYNC, STICH_KARIMIREDDY

CLASSICS = (
    classic(
        "async-cyclic-gradients",
        "Asynchronous SGD, clients in turn, squared gradients",
        STICH_KARIMIREDDY("the rate for delayed gradients, with constants, for clients that differ"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "2*F_0/(gamma_u*T)",
            "noise": "5*L*gamma_u*sigma_u**2/2",
            "heterogeneity": "2*n*b**2",
        },
        algorithm="async-sgd",
        assumptions=("smoothness", "noise", "dissimilarity", "cyclic_blocks", "no_personal"),
        conditions=("gamma_u*L*n <= 3/8",),
        settings={"K": 1, "m": 1},
        trivial="2*L*F_0",
        at={"n": 2, "m": 1, "T": 2, "L": 1, "gamma_u": 0.1, "sigma_u": 0, "b": 0, "F_0": 1},
        value="",
        standing=Standing.UNKNOWN,
        remark="The constants are derived here: a gradient is at most n rounds late, so that its point is off by at "
        "most 2 gamma^2 n (the sum of n squared directions + sigma^2), squared, and one client's gradient differs from "
        "that of f by at most n b^2, squared.",
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
        value="",
        standing=Standing.UNKNOWN,
        remark="The constants are derived here. What arrives is in expectation the mean of all clients' late "
        "gradients, and D = (1/n) sum_i ||x - z_i||^2 is in expectation at most (1 - 1/(2n)) times the D before, "
        "and (2n - 1) gamma^2 times the squared norm of what arrives.",
    ),
)
