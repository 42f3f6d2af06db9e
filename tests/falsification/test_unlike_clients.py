"""Wrong theorems that fail where clients differ in curvature or many are drawn: each beside a right one."""

import pytest

from bounds.theorem import theorem
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.outcome import Outcome


def proxskip(rate):
    """ProxSkip under strong convexity at this rate (Mishchenko et al., ICML 2022, Theorem 3.6)."""
    return theorem(
        f"last dist2 <= {rate}**T*(dist2_0 + (gamma*zeta_star/p_W)**2)", method="proxskip",
        given="smooth, strongly convex, random mixing", when="gamma <= 1/L",
    )  # fmt: skip


def compressed(cap):
    """Compressed SGD under (G, B)-bounded dissimilarity with this step size."""
    return theorem(
        "mean grad2 <= 2*F_0/(gamma*T) + L*gamma*(1/q - 1)*G_d**2/n", method="compressed-sgd",
        given="smooth, gb dissimilarity", when=f"gamma*L*{cap} <= 1, m == n, q <= 1",
    )  # fmt: skip


def drawn(draws):
    """FedAvg with clients drawn by weight, whose variance is divided by ``draws``."""
    return theorem(
        f"last dist2 <= (1 - gamma*mu)**T*dist2_0 + 2*gamma*zeta_star**2/({draws}*p_min*mu)", method="drawn-fedavg",
        given="convex, f strongly convex, weighted draws", when="K == 1, gamma <= p_min/(2*L)",
    )  # fmt: skip


PAIRS = {
    "unequal curvatures and a coin": (proxskip("max(1 - gamma*mu, 1 - p_W**2)"), proxskip("(1 - gamma*mu)")),
    "opposed curvatures and compression": (
        compressed("(1 + (1/q - 1)*B_d**2/n)"), compressed("(1 + (1/q - 1)/n)"),
    ),
    "many draws": (drawn("m"), drawn("m**2")),
}  # fmt: skip
SMALL = Budget(150, by_term=False, functions=False)


@pytest.mark.parametrize("name", PAIRS)
def test_a_wrong_theorem_fails_and_the_right_one_beside_it_does_not(name):
    """What is found has a verdict of its own, which exact arithmetic confirms."""
    right, wrong = PAIRS[name]
    found = falsify(wrong, SMALL)
    assert found.outcome is Outcome.VIOLATED
    assert found.tightness > 1
    assert falsify(right, SMALL).outcome is not Outcome.VIOLATED
