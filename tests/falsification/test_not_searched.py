"""What a search leaves out and a statement is about is named, with the verdict that has it."""

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome

FEW = Budget(10, by_term=False, functions=False, later=0)
PAIR = Budget(150, by_term=False, functions=False, later=0)


def _sgd(given, noise, cap="1/L"):
    return theorem(f"mean grad2 <= 2*F_0/(gamma*T) + {noise}", method="sgd", given=given, when=f"gamma <= {cap}")


class TestNotSearched:
    """False theorems that no instance of a search contradicts, and what the answer says of that."""

    @pytest.mark.parametrize(
        ("given", "noise", "cap", "missed"),
        [
            ("smooth, expected smoothness", "L*gamma*C_es", "1/(L*B_es)", "samples, A > 0"),
            ("smooth, heavy tails", "L*gamma*sigma_p**2", "1/L", "other moments than the variance"),
        ],
    )
    def test_noise_of_another_kind(self, given, noise, cap, missed):
        """Under additive noise they are true."""
        found = falsify(_sgd(given, noise, cap), FEW)
        assert found.outcome is not Outcome.VIOLATED
        assert sum(missed in each for each in found.searched.missed) == 1

    @pytest.mark.parametrize("given", ["relative noise", "expected smoothness"])
    def test_growing_noise_of_compressed_gradients(self, given):
        """It is followed where nothing else is random but who takes part, and elsewhere said to be missing."""
        compressed = theorem(
            "mean grad2 <= 9*F_0/(gamma*T)", method="diana", given=f"smooth, {given}", when="gamma <= 1/(9*L)"
        )
        found = falsify(compressed, FEW)
        assert sum("noise that grows with gradients" in each for each in found.searched.missed) == 1

    def test_additive_noise_is_searched(self):
        """A statement on that has nothing to say of others."""
        found = falsify(_sgd("smooth, noise", "L*gamma*sigma**2"), FEW)
        assert not any("of 'verify' ha" in each for each in found.searched.missed)

    def test_a_theorem_that_needs_equal_weights(self):
        """Uniform draws in the place of weighted ones: a loop ends away from the minimum, and 'verify' shows it."""
        claim = theorem(
            "mean gap <= R_0**2/(gamma*T) + 2*gamma*zeta_star**2", method="drawn-fedavg",
            given="smooth, convex, sampling", when="gamma <= 1/(4*L), m == 1, K == 1, eta == 1",
        )  # fmt: skip
        found = falsify(claim, PAIR, fixed={"n": 2})
        assert found.outcome is Outcome.VIOLATED
        assert np.ptp(found.instance.problem.p) > 0
        # f_1 = (x - 4)^2/2 and f_2 = x^2/2 with weights 3/4 and 1/4: f is least at 3, and uniform draws lead to 2.
        p, centres, gamma, T = np.array([0.75, 0.25]), np.array([4.0, 0.0]), 0.001, 40000
        mean, square, gaps = 0.0, 0.0, []
        for _ in range(T):
            gaps.append((square - 6 * mean + 9) / 2)
            noise = gamma**2 * np.var(centres)
            square = (1 - gamma) ** 2 * square + 2 * (1 - gamma) * gamma * 2 * mean + gamma**2 * 4 + noise
            mean = (1 - gamma) * mean + gamma * 2
        # The f_i have gradients -1 and 3 at 3; zeta_star, that of f_i and of 2 p_i f_i, is 3 at most.
        assert np.mean(gaps) > 9 / (gamma * T) + 2 * gamma * 9
        problem = rc.problems.WeightedQuadratic([[[1.0]], [[1.0]]], [[4.0], [0.0]], 1, p=p)
        verdict = rc.verify(claim, problem=problem, T=T, gamma=gamma)
        assert verdict.outcome is Outcome.VIOLATED
        assert verdict.left == pytest.approx(np.mean(gaps), rel=1e-9)
