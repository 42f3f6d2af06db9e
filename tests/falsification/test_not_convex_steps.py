"""Proximal steps of functions that are weakly convex alone, whose minimum lies where they turn up."""

from bounds.theorem import theorem
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsify import falsify
from ratecheck.outcome import Outcome
from ratecheck.views.checks.counterexample import WrittenCounterexample

_SENTENCE = "mean step2 <= F_0/({}*T)"
_WHEN = {"method": "proximal-point", "given": "weakly convex", "when": "lambda_ > rho_weak"}


def test_weak_convexity_is_not_forgotten():
    """Along -x^2/2 a step is up to twice as long as along functions that are convex."""
    found = falsify(theorem(_SENTENCE.format("lambda_"), **_WHEN), Budget(40, by_term=False))
    assert found.verdict is not None
    assert found.verdict.outcome is Outcome.VIOLATED
    assert (
        "of functions that turn up sharply beyond the box" in WrittenCounterexample(found.instance, found.verdict).text
    )
    right = falsify(theorem(_SENTENCE.format("(lambda_ - rho_weak/2)"), **_WHEN), Budget(60, by_term=False))
    assert right.tightness <= 1 + 1e-9
