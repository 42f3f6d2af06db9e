"""Constants that a problem of somebody's own declares: one that its own gradients contradict is refused."""

import numpy as np
import pytest
import sympy as sp

import ratecheck as rc
from ratecheck.certification.declared import check_declared
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


# --- Constants that are declared of a formula ---

X = sp.Symbol("x")
# A bump far away from the start, where all of its curvature is: there f'' = -2 + 1/5.
BUMP = sp.exp(-((X - 6) ** 2)) + (X - 1) ** 2 / 10


def bump(**declared):
    """A verdict on one client with the bump."""
    problem = rc.problems.from_sympy(BUMP, declared={"infimum": 0.0, "b": 0.0, **declared})
    return rc.verify("classics/nonconvex-mean-gradient", problem=problem, T=20)


def test_declared_constants_are_marked():
    """A right one is taken, and said to be declared; not so one that is proved: |f''| <= 2 - 1/5 here."""
    found = bump(L=1.81)
    assert found.outcome is rc.Outcome.HOLDS
    assert found.constants["F_0"].certificate is Certificate.DECLARED
    assert "F_0=0.1 declared" in str(found)
    assert "HOLDS on this problem, if F_0=0.1 is as declared  " in str(found)
    assert found.constants["L"].certificate is Certificate.UPPER_BOUND
    assert "L=1.81 upper bound (declared, and proved: " in str(found)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"L": 1.76}, "declares L=1.76, but between two points a gradient changes by 1.8 times"),
        ({"L": 1.81, "infimum": 0.0001}, "declares F_0="),
    ],
)
def test_declared_constants_that_points_contradict_are_refused(declared, message):
    """2% too small is found, six units away from the start; so is a value below the declared infimum."""
    with pytest.raises(rc.InputError, match=message) as caught:
        bump(**declared)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"strong_convexity": 0.05}, r"strong_convexity=0\.05, but between two points .* is -1\.8 times"),
        ({"polyak_lojasiewicz": 0.19}, r"polyak_lojasiewicz=0\.19, but at a point"),
        ({"b": 0.2}, r"declares b=0\.2, but at a point the gradients are 0\.4"),
    ],
)
def test_other_declared_constants_are_tried_too(declared, message):
    """Strong convexity that f does not have, a gradient that nearly vanishes, gradients farther apart."""
    functions = [BUMP, (X - 1) ** 2 / 10] if "b" in declared else BUMP
    problem = rc.problems.from_sympy(functions, declared={"L": 1.81, "infimum": 0.0, **declared})
    start = {"x0": np.zeros(1)}
    with pytest.raises(rc.InputError, match=message):
        check_declared(problem, problem.certified(start, {}), start)


def test_what_is_proved_overrides_no_larger_declaration():
    """A declared L above the proved one is proved; one below it is tried, and taken as declared."""
    f = sp.log(1 + sp.exp(X)) + X**2 / 8
    assert rc.problems.from_sympy(f, declared={"L": 2.0}).constants()["L"].certificate is Certificate.UPPER_BOUND
    assert rc.problems.from_sympy(f, declared={"L": 0.4}).constants()["L"].certificate is Certificate.DECLARED
