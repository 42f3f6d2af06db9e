"""Instances that a search found, continued along the card's parameters: scaled, certified anew, counted where worse."""

import numpy as np
import pytest
from click.testing import CliRunner
from test_alike_instances import TIGHT, descent

import ratecheck as rc
from ratecheck.commands.checks.rates import command
from ratecheck.errors import InputError
from ratecheck.exponents.card import CellFinding, _hardest, card
from ratecheck.exponents.continued import continued
from ratecheck.exponents.hard_instances import worst
from ratecheck.outcome import Outcome
from ratecheck.participation import Uniform
from ratecheck.problems import Piecewise, Quadratic
from ratecheck.verification.instance import Instance

# The worst function of five rounds with steps of 1/L: a slope of 8, then a bowl.
FOUND = Instance(TIGHT["gap"], Piecewise([[[8.0, 10.0]]], [[[0.0, 1.0, 0.0]]], [[-1.0]]), None, {"T": 5.0})
SETTING = {"n": 1.0, "T": 5.0, "L": 2.0, "dist2_0": 3.0, "gamma_u": 0.5}


@pytest.mark.parametrize("n", [1, 3])
def test_where_it_was_found_it_reaches_the_bound_again(n):
    """With another L and another distance, and with equal clients beside it: L R^2/18."""
    hard = continued(TIGHT["gap"], {**SETTING, "n": float(n)}, FOUND)
    assert hard.left == pytest.approx(2 * 3 / 18, rel=1e-8)
    instance = hard.instance()
    assert (instance.problem.n, instance.problem.constants()["L"].value) == (n, pytest.approx(2.0))
    assert instance.problem.constants()["distance2_0"].value == pytest.approx(3.0)


def test_in_longer_runs_it_is_slowed_down():
    """Curvatures times 1/c make 4 steps 4c steps: with N of them h R^2/18 for h = 4 L/N, within a tenth of it."""
    N = 100
    hard = continued(TIGHT["gap"], {**SETTING, "T": N + 1.0}, FOUND)
    slowed = 4 / N * 2 * 3 / 18
    assert slowed * 0.9 < hard.left <= 2 * 3 / (4 * N + 2)


def test_what_the_setting_does_not_admit_is_not_counted():
    """More rounds than are followed, fewer clients than it has, a constant that does not exist."""
    assert continued(TIGHT["gap"], {**SETTING, "T": 5000.0}, FOUND) is None
    two = Instance(TIGHT["gap"], Quadratic(np.ones((2, 1, 1)), np.ones((2, 1)), 1), None, {"T": 5.0})
    assert continued(TIGHT["gap"], SETTING, two) is None
    flat = Instance(TIGHT["gap"], Piecewise([[[0.0, 1.0]]], [[[1.0, 0.0, 1.0]]], [[0.0]]), None, {"T": 5.0})
    assert continued(TIGHT["gap"], SETTING, flat) is None


@pytest.mark.long
def test_the_card_names_what_was_worst():
    """A weak instance is never named."""
    weak = Instance(TIGHT["gap"], Quadratic(np.ones((1, 1, 1)), np.ones((1, 1)), 1), None, {"T": 5.0})
    (cell,) = card(TIGHT["gap"], over=["dist2_0"], found=[weak]).cells
    assert cell.finding is CellFinding.ATTAINED
    assert {*cell.worst.families} == {"equal clients on a slope that ends in a bowl"}
    assert {each.found for each in cell.worst.instances} == {None}
    assert cell.worst.measured.exponent == pytest.approx(1.0, abs=1e-6)


def test_where_no_family_is_as_hard_it_is_the_worst_and_accuses():
    """4 L F_0/(3N + 2) is reached by a function that is not convex; the families reach 2 L F_0/(2N + 1), of 7/2."""
    statement = descent(
        "4*L*F_0/(7*(T - 1)/2 + 2)", left="G_u", over="best_round",
        assumptions=["smoothness", "full_participation", "no_personal"],
    )  # fmt: skip
    bent = Instance(statement, Piecewise([[[0.5, 1.0]]], [[[1.0, -1.0, 1.0]]], [[-1.0]]), None, {"T": 2.0})
    setting = {"n": 1.0, "T": 2.0, "L": 2.0, "F_0": 3.0, "gamma_u": 0.5}
    assert worst(statement, setting).left == pytest.approx(6 * 2 / 3, rel=1e-3)
    hard = _hardest(statement, setting, None, [bent])
    assert hard.left == pytest.approx(6 * 4 / 5, rel=1e-8)
    assert hard.family.startswith("the instance given")
    assert hard.instance().verdict().outcome is Outcome.VIOLATED


def test_bad_input_is_one_line(tmp_path):
    """Drawn clients, other problems, statements without constants, and files that are none."""
    drawn = Instance(FOUND.statement, Quadratic(np.ones((2, 1, 1)), np.ones((2, 1)), 1), Uniform(2, 1), {"T": 5.0})
    with pytest.raises(InputError, match="clients that are drawn is not continued"):
        card(TIGHT["gap"], found=[drawn])
    with pytest.raises(InputError, match="needed are quadratics, or piecewise quadratics"):
        card(TIGHT["gap"], found=[Instance(FOUND.statement, rc.problems.Logistic.synthetic(), None, {})])
    with pytest.raises(InputError, match="known only up to a constant: no instance"):
        rc.rates("baselines/fedavg-yu", instances=[FOUND])
    missing = str(tmp_path / "none.json")
    result = CliRunner().invoke(command, ["pfl/fedavg-full", "--instance", missing])
    assert isinstance(result.exception, InputError)
    assert str(result.exception).startswith(f"no file {missing}")
