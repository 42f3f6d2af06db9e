"""The search on statements with bounded gradients, (G, B)-dissimilarity, interpolation: true and false ones."""

import pytest

import ratecheck as rc
from bounds.theorem import theorem

STEPS = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}
EVERYBODY = ["smoothness", "full_participation", "no_personal"]
# Assumptions, left side, over, right side with a factor, settings and conditions, by what they are about.
CASES = {
    "bounded gradients": {
        "assumptions": [*EVERYBODY, "convexity", "bounded_gradients"],
        "left": "gap",
        "over": "mean_of_rounds",
        "right": "{}*(dist2_0/(2*gamma_u*T) + gamma_u*G**2/2)",
    },
    "visited gradients": {
        "assumptions": [*EVERYBODY, "convexity", "visited_gradients"],
        "left": "gap",
        "over": "mean_of_rounds",
        "right": "{}*(dist2_0/(2*gamma_u*T) + gamma_u*G_run**2/2)",
    },
    "interpolation": {
        "assumptions": ["smoothness", "convexity", "interpolation", "uniform_sampling", "no_personal"],
        "left": "gap",
        "over": "mean_of_rounds",
        "right": "{}*dist2_0/(2*gamma_u*T)",
        "conditions": ["gamma_u <= 1/(2*L)"],
        "settings": {"K": 1, "eta_u": 1, "sigma_u": 0},
    },
    "dissimilarity": {
        "assumptions": [*EVERYBODY, "gb_dissimilarity"],
        "left": "B",
        "over": "every_round",
        "right": "{}*n*(G_d**2 + B_d**2*G_u)",
        "conditions": ["gamma_u <= 1/L"],
    },
}


def asked(name, factor):
    """The end of a short search for an instance that fails."""
    fields = {"title": name.capitalize(), "algorithm": "fedavg", "vocabulary": "textbook", "settings": STEPS}
    fields |= CASES[name] | {"right": CASES[name]["right"].format(factor)}
    return rc.falsify(theorem(**fields), evaluations=40)


@pytest.mark.parametrize("name", CASES)
def test_a_false_twin_is_caught(name):
    """A quarter of the right side is too little, and the counterexample is one client."""
    found = asked(name, "1/4")
    assert found.outcome is rc.Outcome.VIOLATED
    assert found.instance.problem.n == 1


@pytest.mark.parametrize("name", CASES)
def test_the_true_one_is_not(name):
    """Instances are found that meet every assumption."""
    found = asked(name, 1)
    assert found.outcome is rc.Outcome.INCONCLUSIVE
    assert found.tightness > 0.1
