"""Where a statement does not apply, the answer names those that do: each of them has a verdict there."""

import numpy as np

import ratecheck as rc
from ratecheck.participation import Trace


def named(verdict):
    """The keys in the last note of a verdict that is none."""
    assert verdict.outcome.name == "NOT_APPLICABLE"
    assert verdict.notes[-1].startswith("statements that apply here: ")
    return [each for each in verdict.notes[-1].partition(": ")[2].split(", ") if "/" in each]


def test_a_matrix_of_who_takes_part():
    """Statements about uniform sampling do not apply, those on any participation do, and are named."""
    rows = Trace(np.random.default_rng(0).random((31, 6)) < 0.5)
    keys = named(rc.verify("pfl/theorem-3.7", n=6, K=2, T=30, participation=rows).verdict)
    assert not any("lemma" in key for key in keys)
    assert rc.verify(keys[0], n=6, K=2, T=30, participation=rows).outcome.name != "NOT_APPLICABLE"


def test_a_problem_without_a_constant():
    """The gradient descent statements of the logistic loss with a nonconvex regulariser are those without convexity."""
    keys = named(rc.verify("classics/gradient-descent-distances", problem="logistic", shared=20, n=3, T=20).verdict)
    for key in keys[:2]:
        assert rc.verify(key, problem="logistic", shared=20, n=3, T=20).outcome.name != "NOT_APPLICABLE"
