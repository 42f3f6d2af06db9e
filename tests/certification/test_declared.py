"""Constants that a problem of somebody's own declares: one that its own gradients contradict is refused."""

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.problem import SingleLevel
from ratecheck.problems.quadratic import Quadratic

FORM = Quadratic([np.diag([1.0, 0.5])] * 3, [[1.0, 0.2], [-0.5, 0.8], [0.3, -1.0]], 2)


class Own(SingleLevel):
    """Three quadratics of two variables, which declare what they are told to."""

    kind = "own"
    affine = True

    def __init__(self, **declared):
        self.n, self.d, self.d_u, self.d_v, self.declared = 3, 2, 2, 0, declared

    @property
    def quadratic(self):
        """The form."""
        return FORM

    def operator(self):
        """The form's."""
        return FORM.operator()

    def value(self, u, v):
        """The form's."""
        return FORM.value(u, v)

    def gradients(self, u, v):
        """The form's."""
        return FORM.gradients(u, v)

    def oracle(self, name, noise, lambda_):
        """The form's."""
        return FORM.oracle(name, noise, lambda_)

    def constants(self, u0=None, v0=None, sigma_u=0.0, sigma_v=0.0):
        """The form's, but for what is declared."""
        found = dict(FORM.constants(u0, v0, sigma_u, sigma_v))
        for name, value in self.declared.items():
            found[name] = Constant(name, value, Certificate.EXACT, "declared")
        return Constants(*found.values())


def asked(**declared):
    """A verdict on the problem."""
    return rc.verify("pfl/fedavg-full", problem=Own(**declared), K=2, T=5, sigma_u=0.1)


def test_what_is_right_or_larger_is_taken():
    """A larger constant is as true."""
    for declared in ({}, {"L": 3.0, "L_u": 3.0}, {"b": 5.0}, {"F_0": 7.0}):
        assert asked(**declared).outcome is rc.Outcome.HOLDS


@pytest.mark.parametrize("name", ["L", "L_u", "b", "F_0", "B_0"])
def test_what_is_too_small_is_refused(name):
    """In one line with the file and the line of what declares it."""
    right = FORM.constants()[name].value
    with pytest.raises(rc.InputError, match=rf"Own declares {name}=.*\(test_declared\.py, line \d+\)") as caught:
        asked(**{name: 0.5 * right})
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("function", "answer", "message"),
    [
        (
            "gradients",
            lambda *_: (np.ones((3, 1)), np.ones((3, 0))),
            r"gradients .*returns shapes \(3, 1\) and \(3, 0\)",
        ),
        ("gradients", lambda *_: (np.full((3, 2), np.nan), np.ones((3, 0))), "returns NaN or infinity at the start"),
        ("gradients", lambda *_: 1 / 0, r"gradients raises ZeroDivisionError: .*\(test_declared\.py, line \d+\)"),
        ("value", lambda *_: "one", "value raises ValueError"),
    ],
)
def test_what_is_no_function_is_refused(monkeypatch, function, answer, message):
    """In one line, too."""
    monkeypatch.setattr(Own, function, answer)
    with pytest.raises(rc.InputError, match=message) as caught:
        asked()
    assert len(str(caught.value).splitlines()) == 1
