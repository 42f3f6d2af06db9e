"""Worst cases of statements that say how many clients a round samples."""

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.falsification.performance_estimation.worst_case import worst_case

pytest.importorskip("clarabel", reason="needs the extra pep")

NUMBERS = {"n": 2, "T": 1, "L": 1.0, "dist2_0": 1.0, "zeta_star": 1.0, "gamma": 0.25}
GIVEN = {"method": "fedavg", "given": "smooth, convex, sampling", "when": "gamma <= 1/(4*L), m == 1, K == 1"}


class TestFixedParticipants:
    """m is what the statement says, and not the number of clients that is given."""

    def test_a_round_of_one_client(self):
        """SGD on two functions: the known bound holds, and a quarter of its noise is too little."""
        found = {
            share: worst_case(theorem(f"nearer <= -gamma*gap + {share}*gamma**2*zeta_star**2", **GIVEN), NUMBERS)
            for share in ("2", "1/2")
        }
        assert found["2"].outcome == "HOLDS"
        assert found["1/2"].outcome == "VIOLATED"
        # f_i = (x - c_i)^2/2 with c = (1, -1), from 1: what a round adds is no more than the worst.
        x, c, gamma = 1.0, np.array([1.0, -1.0]), NUMBERS["gamma"]
        assert np.mean((x - gamma * (x - c)) ** 2) - x**2 + gamma * x**2 / 2 <= found["2"].upper.left

    def test_runs_of_sampled_clients_are_refused(self):
        """With the number of the statement."""
        claim = theorem("mean gap <= R_0**2/(gamma*T) + 2*gamma*zeta_star**2", **GIVEN)
        with pytest.raises(rc.InputError, match='m=1 breaks "m == n"'):
            worst_case(claim, {**NUMBERS, "n": 3})
