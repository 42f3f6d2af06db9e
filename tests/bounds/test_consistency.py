"""What nothing meets is refused, in a short theorem and in a statement that is written out alike."""

import dataclasses

import pytest
import sympy as sp
from short_theorem import DESCENT

from bounds import own
from bounds.consistency import faults
from bounds.errors import InputError
from bounds.statement import Condition, StepRule
from bounds.symbols import COMMON
from bounds.theorem import theorem

K, L, T, gamma_u, m, n = (COMMON[name].symbol for name in ("K", "L", "T", "gamma_u", "m", "n"))
SETTINGS = {"K": sp.Integer(1), "m": n, "sigma_u": sp.Integer(0), "eta_u": sp.Integer(1)}

# What is changed of a written-out statement, and the place and reason of the one fault.
IMPOSSIBLE = {
    "domain": ({"settings": SETTINGS | {"K": sp.Integer(0)}}, "settings['K']", "K=0 breaks"),
    "domain by way of another": (
        {"settings": SETTINGS | {"n": sp.Integer(3), "m": n / 2}},
        "settings['m']",
        "m=1.5: needed a whole number",
    ),
    "order of numbers": (
        {"settings": SETTINGS | {"m": sp.Integer(5), "n": sp.Integer(3)}},
        "settings['m']",
        '"m <= n" is broken: 5 <= 3 is false',
    ),
    "order of formulas": ({"settings": SETTINGS | {"m": n + 1}}, "settings['m']", '"m <= n" is broken'),
    "whole": (
        {"settings": SETTINGS | {"K": n + sp.Rational(1, 2)}},
        "settings['K']",
        "which n + 1/2 is for no numbers",
    ),
    "circle of settings": ({"settings": SETTINGS | {"K": K + 1}}, "settings['K']", "K is set by way of itself, K -> K"),
    "step size below zero": (
        {"step_rules": (StepRule(symbol=gamma_u, value=sp.Integer(-1), at_least=False),)},
        "step_rules['gamma_u']",
        'gamma_u=-1 breaks "gamma_u > 0"',
    ),
    "step size that is never positive": (
        {"step_rules": (StepRule(symbol=gamma_u, value=1 - 2 * n, at_least=False),)},
        "step_rules['gamma_u']",
        "which 1 - 2*n is for no numbers",
    ),
    "circle": (
        {"step_rules": (StepRule(symbol=gamma_u, value=gamma_u / 2, at_least=False),)},
        "step_rules['gamma_u']",
        "gamma_u is set by way of itself, gamma_u -> gamma_u",
    ),
    "numbers": (
        {"conditions": (Condition(name="cap", left=sp.Integer(2), operator="<=", right=sp.Integer(1)),)},
        "conditions['cap']",
        "2 <= 1 is false whatever the numbers are",
    ),
    "domain of the symbols": (
        {"conditions": (Condition(name="cap", left=gamma_u, operator="<=", right=-1 / L),)},
        "conditions['cap']",
        "is false whatever the numbers are",
    ),
    "settings": (
        {"conditions": (Condition(name="K >= 2", left=K, operator=">=", right=sp.Integer(2)),)},
        "conditions[0]",
        "K >= 2 is false with the settings K=1",
    ),
    "settings of a pair": (
        {"conditions": (Condition(name="some", left=m, operator="<", right=n),)},
        "conditions['some']",
        "m < n is false with the settings m=n",
    ),
}
# The same at the edge, where something meets it.
POSSIBLE = {
    "whole": {"settings": SETTINGS | {"K": (n + 1) / 2}},
    "some positive": {"step_rules": (StepRule(symbol=gamma_u, value=2 - n, at_least=False),)},
    "order": {"settings": SETTINGS | {"m": sp.Integer(3), "n": sp.Integer(3)}},
    "pair": {"conditions": (Condition(name="all", left=m, operator="<=", right=n),)},
    "numbers": {"conditions": (Condition(name="cap", left=sp.Integer(1), operator="<=", right=sp.Integer(1)),)},
    "settings": {"conditions": (Condition(name="one", left=K, operator=">=", right=sp.Integer(1)),)},
    "some numbers": {"conditions": (Condition(name="cap", left=gamma_u, operator="<=", right=(1 - L) / L),)},
    "default": {"step_rules": (StepRule(symbol=gamma_u, value=gamma_u / 2, at_least=False, free=True),)},
    "from below": {"step_rules": (StepRule(symbol=gamma_u, value=1 / (L * T), at_least=True),)},
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_nothing_meets_is_refused(name):
    """Of a statement that is written out, as of a short theorem: the same place and reason."""
    changed, place, reason = IMPOSSIBLE[name]
    statement = dataclasses.replace(theorem(**DESCENT), **changed)
    [fault] = faults(statement)
    assert (fault.place, reason in fault.reason) == (place, True), fault
    with pytest.raises(InputError) as refused:
        own._check(statement)
    assert str(refused.value) == f"{fault.place}: {fault.reason}"
    with pytest.raises(InputError) as short:
        theorem(**DESCENT | changed)
    assert str(short.value) == str(refused.value)


@pytest.mark.parametrize("name", POSSIBLE)
def test_what_something_meets_is_taken(name):
    """Equality at an end is enough, and nothing is refused that SymPy cannot decide."""
    statement = dataclasses.replace(theorem(**DESCENT), **POSSIBLE[name])
    assert not [*faults(statement)]
