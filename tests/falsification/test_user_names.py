"""Worst cases at given numbers speak the symbols of the theorem; a single client is not said to be sampled."""

from __future__ import annotations

import pytest

import ratecheck as rc
from bounds.theorem import symbol, theorem
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import DeterministicCase


def test_numbers_have_the_names_of_the_theorem():
    """And not those of the basic setting, b_star and sigma_u."""
    drift = theorem(
        "dist2 <= dist2_0 + 2*gamma*zeta_star**2/mu", method="local-gd", given="smooth, convex, f strongly convex",
        when="gamma*L <= 1/2, K == 2",
    )  # fmt: skip
    given = {"n": 2, "T": 1, "L": 1, "mu": 0.1, "gamma": 0.5, "zeta_star": 3, "dist2_0": 1}
    shown = DeterministicCase.of(drift, given).shown
    assert shown["zeta_star"] == 3
    assert "sigma" in shown
    assert not {"b_star", "sigma_u"} & {*shown}


def test_what_nothing_certifies_is_called_as_it_was_written():
    """C is another quantity in the basic setting."""
    more = theorem("mean grad2 <= 2*F_0/(gamma*T) + C", method="gd", given="smooth", when="gamma <= 1/L",
                   symbols=symbol("C", "a constant", role="constant"))  # fmt: skip
    with pytest.raises(InputError, match="no problem certifies C yet"):
        DeterministicCase.of(more, {"T": 2, "L": 1})


@pytest.mark.parametrize(("n", "said"), [(1, "every client takes part"), (2, "m of n clients sampled")])
def test_a_single_client_is_not_sampled(n, said):
    """It takes part in every round."""
    sampled = theorem("mean grad2 <= 2*F_0/(gamma*T)", method="fedavg", given="smooth, sampling",
                      when="gamma <= 1/L, K == 1")  # fmt: skip
    assert f"assumes {said}" in str(rc.verify(sampled, n=n, m=n, T=3))
