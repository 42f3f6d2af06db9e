"""What a round costs, against what the papers say is sent."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.cost import cost

# Vectors received and sent by a participant, counted in the papers' algorithms.
PAPERS = {
    "fedavg-p": ({"u": 1}, {"u": 1}),  # u; u_i
    "fedavg": ({"u": 1}, {"u": 1}),
    "scaffold-p": ({"u": 2}, {"u": 2}),  # u and c; u_i and the change of c_i
    "scaffold": ({"u": 2}, {"u": 2}),
    "fedsum-b": ({"u": 1}, {"u": 1}),  # x; delta_i
    "fedsum": ({"u": 2}, {"u": 1}),  # x and y; delta_i
    "fedsum-cr": ({"u": 1}, {"u": 1}),  # x, y being recovered; delta_i
    "flame": ({"u": 1}, {"u": 1}),  # w; z_i
    "flame-exact": ({"u": 1}, {"u": 1}),
    "simfbo": ({"x": 1, "y": 1, "v": 1}, {"x": 1, "y": 1, "v": 1}),
    "shrofbo": ({"x": 1, "y": 1, "v": 1}, {"x": 1, "y": 1, "v": 1}),
    "parallel-sgd": ({}, {}),  # nothing is shared
    "async-sgd": ({"u": 1}, {"u": 1}),  # the model; a late gradient
    "fednova": ({"u": 1}, {"u": 1}),  # x; the mean local gradient
    "dsgd": ({"u": 1}, {"u": 1}),  # x_j of every neighbour
    "proxskip": ({"u": 1}, {"u": 1}),  # x_j of every neighbour
    "gradient-tracking": ({"u": 2}, {"u": 2}),  # x_j and what it tracks
}


@pytest.mark.parametrize("name", PAPERS)
def test_vectors_are_those_that_the_papers_send(name):
    """Both directions, by block."""
    found = cost(name)
    assert (dict(found.received), dict(found.sent)) == PAPERS[name]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_cost(name):
    """Every method but the one without shared variables sends and receives."""
    found = cost(name)
    assert bool(found.sent) == bool(found.received) == (name != "parallel-sgd")


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.algorithm.linear])
def test_functions_without_coefficients_cost_the_same(name, monkeypatch):
    """What is found by trying other values is what coefficients say."""
    method = METHODS[name]
    algorithm = copy.copy(method.algorithm)
    algorithm.__class__ = type("Called", (type(algorithm),), {"linear": False})
    monkeypatch.setitem(METHODS, "called", dataclasses.replace(method, name="called", algorithm=algorithm))
    assert cost("called") == cost(name)


def test_who_takes_gradients_before_the_first_round():
    """Scaffold's control variates start as the mean of K gradients, SAGA and EF21 remember those at the start.

    Line searches begin along the gradient there.
    """
    first = {"scaffold-p", "scaffold", "saga", "ef21", "line-search", "conjugate-gradients"}
    assert {name for name in METHODS if cost(name).at_start} == first


def test_methods_with_exact_inner_solutions_say_so():
    """Their oracle is the proximal map."""
    proximal = {"proximal-point", "fast-proximal-point", "halpern-proximal"}
    assert {name for name in METHODS if cost(name).oracle == "prox"} == {"flame-exact", "pfedme", *proximal}
