"""A theorem about sampled clients, in short form, which several tests make wrong in one term."""

from bounds.theorem import theorem


def sampled(**right):
    """One step of m of n clients per round; the truth is L gamma b^2 (n - m)/(m (n - 1)) for the sampling."""
    return theorem(
        key="mine/sampled",
        title="SGD with sampled clients",
        algorithm="fedavg",
        assumptions=["smoothness", "noise", "dissimilarity", "uniform_sampling", "no_personal"],
        left="G_u",
        over="mean_of_rounds",
        right={"gap": "2*F_0/(gamma_u*T)", "noise": "L*gamma_u*sigma_u**2/m", **right},
        conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "eta_u": 1},
    )
