"""Methods that ask for two gradients in a local step have no box, which is said and is no error of the program."""

from __future__ import annotations

import numpy as np
import pytest
from recursive import Recursive

from ratecheck.algorithms import METHODS, Method
from ratecheck.certification.continued_functions import Continued
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo.visits import box
from ratecheck.errors import InputError
from ratecheck.participation import Trace
from ratecheck.problems import Quadratic

pytestmark = pytest.mark.quick


def test_two_gradients_have_no_box(monkeypatch):
    """No continuation is known then."""
    monkeypatch.setitem(METHODS, "estimate", Method("estimate", "estimate", Recursive(), {"K": 1}, personal=False))
    problem, trace = Quadratic(np.ones((2, 1, 1)), np.ones((2, 1)), 1), Trace(np.ones((3, 2), dtype=bool))
    run = setup.prepare("estimate", problem, trace, K=1, T=3, step_sizes={"gamma_u": 0.1, "a": 0.5}, noise={})
    with pytest.raises(InputError, match="more than one gradient"):
        box(run)
    assert Continued.of(run) is None
