"""Scouts of two levels against verdicts, with step sizes that move all three variables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.statement import StepRule
from ratecheck.kernels import scouting as kernels
from tests.scouting.test_scout import Agreement

STEPS = {"gamma_x": "1/4", "gamma_y": "1/2", "gamma_v": "3/4", "eta_x": "1/10", "eta_y": "1/5", "eta_v": "1/3",
         "c_gamma_y": "2", "c_gamma_v": "3"}  # fmt: skip


def moving(key):
    """The statement with these step sizes, under no condition, and the bound 1/10."""
    statement = bounds.get(key)
    symbols = {name: statement.vocabulary[name].symbol for name in STEPS}
    rules = [StepRule(symbol=symbols[name], value=sp.Rational(value), at_least=False) for name, value in STEPS.items()]
    claim = replace(statement.claims[0], terms={"a tenth": sp.Rational(1, 10)})
    return replace(statement, claims=(claim,), conditions=(), step_rules=tuple(rules))


@pytest.mark.parametrize("key", ["simfbo/theorem-1-repaired", "simfbo/theorem-2"])
def test_scouts_of_two_levels_say_what_verdicts_say(key):
    """To the last digits on every shape, samples and sets of clients among them, and on the theorem's own steps."""
    found = Agreement().add(moving(key), 1000, 5).add(bounds.get(key), 1000, 2)
    assert not found.wrong
    assert found.judged == found.known >= 20
    assert found.largest < 1e-12


def _longer(rounds):
    """A local step more than there are."""

    def changed(*arguments):
        rounds(*arguments[:20], arguments[20] + 1, *arguments[21:])

    return changed


def _without_samples(rounds):
    """The means of what is sampled."""
    return lambda *arguments: rounds(*arguments[:13], np.zeros_like(arguments[13]), *arguments[14:])


def _without_ball(rounds):
    """No projection."""
    return lambda *arguments: rounds(*arguments[:16], 1e300 + arguments[16], *arguments[17:])


@pytest.mark.parametrize("plant", [_longer, _without_samples, _without_ball])
def test_an_error_in_the_kernel_of_two_levels_shows(plant, monkeypatch):
    """Of local steps, of samples, and of the projection."""
    monkeypatch.setattr(kernels, "level_rounds", plant(kernels.level_rounds))
    found = Agreement().add(moving("simfbo/theorem-1-repaired"), 1000, 5)
    assert found.wrong or found.largest > 1e-6
