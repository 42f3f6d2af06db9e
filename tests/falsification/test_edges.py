"""An equality with one client, in one round, without noise is no tightness; the shape is that of the run."""

import math
from dataclasses import replace

import pytest
from sampled_clients import sampled

import bounds
from bounds.theorem import theorem
from ratecheck.falsification.edges import edges
from ratecheck.falsification.falsified import Falsified
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.views.checks.falsify import falsified_table, falsified_text

SAMPLED = {"n": 8.0, "m": 2.0, "K": 1.0, "T": 50.0, "L": 1.0, "sigma_u": 1.0, "b": 1.0, "F_0": 1.0, "gamma_u": 0.5,
           "eta_u": 1.0}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, ()),
        ({"n": 1.0, "m": 1.0}, ("n=1",)),
        ({"m": 8.0}, ("m=n",)),
        ({"T": 1.0}, ("T=1",)),
        ({"sigma_u": 0.0}, ("sigma_u=0",)),
        ({"b": 1e-9}, ("next to no b",)),
        ({"F_0": 0.0}, ("F_0=0",)),
        ({"n": 1.0, "m": 1.0, "T": 1.0, "b": 0.0}, ("n=1", "T=1", "b=0")),
    ],
)
def test_what_is_at_its_edge(changed, expected):
    """K is fixed by the statement, so that 1 is no edge."""
    assert edges(sampled(sampling="L*gamma_u*b**2/m"), {**SAMPLED, **changed}) == expected


def test_copies_of_one_client_are_no_edge():
    """Everybody takes part, nothing disturbs: n clients with one function reach what one reaches."""
    found = bounds.get("classics/nonconvex-mean-gradient")
    values = {"n": 1.0, "m": 1.0, "K": 1.0, "T": 9.0, "L": 1.0, "sigma_u": 0.0, "F_0": 1.0, "gamma_u": 1.0}
    assert edges(found, values) == ()


def test_a_wrong_statement_is_not_called_tight():
    """One client, or several that are equal, reach the bound, whatever it says of sampling."""
    text = falsified_text(
        falsify(
            sampled(sampling="L*gamma_u*b**2/m**2"), Budget(evaluations=40, by_term=False, functions=False, later=0)
        )
    )
    assert "  tight" not in text
    line = next(each for each in text.splitlines() if each.startswith("  edge"))
    assert "n=1" in line or "b=0" in line


def test_the_shape_is_that_of_the_run():
    """One client at a time, as the statement fixes it, however many take part in the family."""
    incremental = theorem(
        key="mine/incremental",
        title="Incremental gradient method",
        algorithm="fedavg",
        assumptions=[
            "cyclic_blocks", "smoothness", "minimiser_heterogeneity", "strong_convexity", "convexity", "no_personal"
        ],
        left="dist2",
        over="last_round",
        right="dist2_0 + 9*gamma_u**2*L*n**2*b_star**2/mu",
        conditions=["gamma_u <= 1/(2*n*L)"],
        settings={"K": 1, "m": 1, "eta_u": 1, "sigma_u": 0},
        vocabulary="textbook",
    )  # fmt: skip
    for seed in range(4):
        found = falsify(incremental, Budget(evaluations=30, by_term=False, functions=False, later=0), seed=seed)
        assert found.shape.size == found.verdict.values["m"] == 1
        assert "1 per round" in falsified_text(found)


def test_it_is_said_where_hardly_an_instance_meets_the_conditions():
    """Nothing was found where next to nothing was searched; what violates it has been, wherever it was."""
    few = Falsified(sampled(sampling="L*gamma_u*b**2/m"), None, None, None, 40, 9, 0.0)
    assert few.few
    assert not replace(few, applicable=10).few
    assert not replace(few, applicable=0).few
    assert "  FEW     9 of 40 instances meet every condition" in falsified_text(few)
    assert "FEW   mine/sampled: 9 of 40" in falsified_table([few, few])
    assert "FEW" not in falsified_text(replace(few, applicable=10))


def test_a_constant_under_another_name_is_no_small_one():
    """A squared distance, with which the bound grows although it has the distance."""
    found = theorem("mean gap <= L*R_0**2/T", method="gd", given="smooth, convex", when="gamma == 1/L")
    values = {"n": 2.0, "m": 2.0, "K": 1.0, "T": 9.0, "L": 1.0, "dist2_0": 2.0, "R_0": math.sqrt(2), "gamma": 1.0}
    assert edges(found, values) == ()
    assert edges(found, {**values, "dist2_0": 0.0, "R_0": 0.0}) == ("dist2_0=0",)
