"""The fields of a theorem that holds, as `bounds.theorem.theorem` takes them."""

DESCENT = {
    "title": "Gradient descent",
    "algorithm": "fedavg",
    "assumptions": ["smoothness", "full_participation", "no_personal"],
    "left": "G_u",
    "over": "mean_of_rounds",
    "right": {"gap": "2*F_0/(gamma_u*T)"},
    "conditions": ["gamma_u <= 1/L"],
    "settings": {"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
}
