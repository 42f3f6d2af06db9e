"""FedNova, whose clients take different numbers of local steps."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import WANG_FEDNOVA

CLASSICS = (
    classic(
        "fednova-gradients",
        "FedNova, squared gradients",
        WANG_FEDNOVA("the rate of FedNova, with constants"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "14*F_0/(5*gamma_u*K_bar*T)",
            "noise": "14*L*gamma_u*K_bar*sigma_u**2/(5*n*K_min)",
            "heterogeneity": "4*gamma_u**2*L**2*(K_max - 1)*(2*K_max - 1)*b**2/5",
            "drift": "4*gamma_u**2*L**2*(K_max - 1)*sigma_u**2",
        },
        algorithm="fednova",
        assumptions=("smoothness", "noise", "dissimilarity", "unequal_steps", "full_participation", "no_personal"),
        conditions=("gamma_u*L*K_max <= 1/2",),
        settings={"m": "n", "eta_u": 1},
        trivial="2*L*F_0",
        at={"n": 2, "T": 2, "L": 1, "gamma_u": 0.1, "K_bar": 1, "K_min": 1, "K_max": 1, "sigma_u": 0, "b": 1, "F_0": 1},
        remark="The constants are derived here: a local point is off by at most gamma_u k |grad f_i| (e^c - 1)/c + "
        "e^c gamma_u sigma_u sqrt(k) in mean square, c = 1/2, so that the mean direction is off by at most 2/7 of "
        "G_u + b^2 and the noise of the drift.",
    ),
)
