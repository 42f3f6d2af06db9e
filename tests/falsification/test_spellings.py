"""The search finds the same whether a theorem is a sentence or is written field by field."""

import pytest

from bounds.theorem import theorem
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsify import falsify
from ratecheck.outcome import Outcome

_FIELDS = {
    "algorithm": "fedavg",
    "assumptions": ["smoothness", "noise", "dissimilarity", "full_participation", "no_personal"],
    "left": "G_u",
    "over": "mean_of_rounds",
    "settings": {"m": "n", "eta_u": 1},
    "conditions": ["gamma_u <= 1/(4*K*L)"],
    "right": {
        "gap": "4*F_0/(gamma_u*K*T)",
        "noise": "4*L*gamma_u*sigma_u**2/n",
        "drift": "16*L**2*gamma_u**2*K*(K - 1)*b**2",
    },
}
_SENTENCE = "mean grad2 <= 4*F_0/(gamma*K*T) + 4*L*gamma*sigma**2/n + 16*(gamma*L)**2*K*(K - 1)*zeta**2"
_WHEN = {"given": "smooth, noise, full participation", "when": "gamma <= 1/(4*K*L)"}


@pytest.mark.parametrize(
    "statement",
    [
        lambda: theorem(title="fields", **_FIELDS),
        lambda: theorem(_SENTENCE, method="fedavg", **_WHEN),
        lambda: theorem(_SENTENCE, method="local-sgd", **_WHEN),
    ],
    ids=["fields", "fedavg", "local-sgd"],
)
def test_noise_beside_a_breakpoint(statement):
    """What the walk of a client costs is forgotten, which equal clients with a breakpoint alone show."""
    found = falsify(statement(), Budget(20, by_term=False))
    assert found.verdict is not None
    assert found.verdict.outcome is Outcome.VIOLATED
    assert found.tightness > 10
