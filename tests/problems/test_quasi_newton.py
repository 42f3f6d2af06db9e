"""L-BFGS of one's own: the minima of convex functions, by SciPy and by hand."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from ratecheck.problems.linear.quasi_newton import minimised

CURVATURES = np.logspace(-3, 3, 12)
CENTRE = np.linspace(-2.0, 5.0, 12)
ROWS = np.random.default_rng(0).normal(size=(60, 8))


def quadratic(x):
    """Of condition number 1e6."""
    return float(CURVATURES @ (x - CENTRE) ** 2 / 2), CURVATURES * (x - CENTRE)


def logistic(x):
    """A mean of logistic losses that has a minimum."""
    signs = np.where(np.arange(60) % 2, 1.0, -1.0)
    margins = signs * (ROWS @ x)
    return float(np.logaddexp(0, -margins).mean()), ROWS.T @ (-signs / (1 + np.exp(margins))) / 60


def test_a_badly_conditioned_quadratic():
    """Its minimum is 0."""
    assert quadratic(minimised(quadratic, np.zeros(12), 3000))[0] < 1e-11


def test_logistic_losses_as_by_scipy():
    """The same value, and a gradient as small."""
    found, other = minimised(logistic, np.zeros(8), 200), minimize(logistic, np.zeros(8), jac=True, method="L-BFGS-B")
    assert abs(logistic(found)[0] - other.fun) < 1e-10
    assert np.abs(logistic(found)[1]).max() < 1e-8


def test_at_the_minimum_and_without_a_minimum():
    """Nothing is moved there; a linear function ends with its iterations."""
    assert (minimised(quadratic, CENTRE, 9) == CENTRE).all()
    assert minimised(lambda x: (float(x.sum()), np.ones(2)), np.zeros(2), 5).sum() < -3
