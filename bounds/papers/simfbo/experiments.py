"""The settings of the experiments of the SimFBO paper (Appendix A.2).

Local and server step sizes are the same numbers. Neither the constants of the problem (mu_g, L_f, L_1, ...) nor the
number of rounds is printed. What SimFBO takes in the experiment with unequal local work is given as that of another
experiment, without saying of which, and is not here.
"""

from __future__ import annotations

from bounds.ledger.experiment import Experiment, exact


def _setting(place: str, algorithm: str, steps: tuple[str, str, str], remark: str, **others: int) -> Experiment:
    """``steps`` are those of y, v and x, in this order."""
    y, v, x = steps
    return Experiment(
        place=place,
        algorithms=(algorithm,),
        values=exact(eta_y=y, eta_v=v, eta_x=x, gamma_y=y, gamma_v=v, gamma_x=x, alpha_min=1, alpha_max=1, **others),
        remark=remark,
    )


# A gradient with Lipschitz constant L_1 cannot grow faster than that, and strong convexity makes it grow with mu_g.
ORDERED = (("mu_g", "L_1"),)
EXPERIMENTS = (
    _setting(
        "Appendix A.2, MNIST-MLP", "simfbo", ("0.2", "0.1", "0.05"), "one local step each", n=100, P=10, tau_bar=1
    ),
    _setting(
        "Appendix A.2, CIFAR-10-CNN", "simfbo", ("0.1", "0.05", "0.03"), "one local step each", n=100, P=10, tau_bar=1
    ),
    _setting(
        "Appendix A.2, unequal local work",
        "shrofbo",
        ("0.03", "0.02", "0.01"),
        "1 to 10 local steps, drawn for each client",
        n=10,
        P=10,
    ),
)
