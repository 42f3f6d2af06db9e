"""Gradient tracking; lambda_W = ||W - 11'/n||_2 is how fast the graph mixes."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import DI_LORENZO

CLASSICS = (
    classic(
        "gradient-tracking-gradients",
        "Gradient tracking, squared gradients at the mean and distances from it",
        DI_LORENZO("its convergence, with a rate and constants"),
        left="G_u + L**2*consensus2",
        over="mean_of_rounds",
        right={"gap": "2*F_0/(gamma_u*T)", "start": "16*lambda_W**2*gamma_u**2*L**2*B_0/(n*(1 - lambda_W)**4*T)"},
        algorithm="gradient-tracking",
        assumptions=("smoothness", "full_participation", "no_personal"),
        conditions=("gamma_u <= 1/(2*L)", "4*gamma_u*L*lambda_W <= (1 - lambda_W)**2", "lambda_W < 1"),
        settings={"K": 1, "m": "n", "sigma_u": 0},
        trivial="2*L*F_0",
        at={"n": 2, "T": 2, "L": 1, "gamma_u": 0.1, "lambda_W": 0.5, "F_0": 1, "B_0": 1},
        remark="The constants are derived here. Over the rounds, in mean square, the distances from the mean are at "
        "most lambda/(1 - lambda) times those of gamma y, and these at most 2/(1 - lambda) (gamma d_0 + gamma^2 L "
        "||mean gradients||) with d_0^2 <= B_0/n, so that no bound on how much clients differ is needed.",
    ),
)
