"""Min-max problems: the operator against differences, every constant against a search that tries to exceed it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.certification.exact_constants import ProvedOperator
from ratecheck.errors import InputError
from ratecheck.problems import Certificate, MinMax
from ratecheck.problems import build as forms

ROTATION = MinMax([[[0.0]]], [[[1.0]]], [[[0.0]]], [[0.0]], [[1.0]])


@pytest.fixture(name="problem")
def _problem() -> MinMax:
    return MinMax.synthetic(n=3, d_x=3, d_y=2, coupling=0.6, curvature=0.8, seed=4)


def test_the_operator_is_the_gradient_in_x_and_its_opposite_in_y(problem):
    """By central differences of the value, which are exact up to rounding for quadratics."""
    z, steps = np.random.default_rng(0).standard_normal(problem.d), np.eye(problem.d) * 1e-3
    slopes = [(problem.value(z + s, np.zeros((3, 0))) - problem.value(z - s, np.zeros((3, 0)))) / 2e-3 for s in steps]
    signs = np.array([1, 1, 1, -1, -1])
    mean = problem.gradients(z, np.zeros((3, 0)))[0].mean(axis=0)
    np.testing.assert_allclose(mean, signs * slopes, atol=1e-10)
    M, c = problem.operator()
    np.testing.assert_allclose(problem.gradients(z, np.zeros((3, 0)))[0], M @ z - c)
    assert np.abs(M - M.transpose(0, 2, 1)).max() > 0.1, "no gradient"


def test_constants_are_met_and_not_met_by_less(problem):
    """On many random differences: never exceeded, and nearly reached by the best of them after some ascent."""
    constants = problem.constants(np.ones(problem.d))
    L, C, mu = (constants[name].value for name in ("L", "cocoercivity", "strong_convexity"))
    M = problem.operator()[0]
    w = np.random.default_rng(1).standard_normal((20_000, problem.d))
    w /= np.linalg.norm(w, axis=1)[:, None]
    moved = np.einsum("iab,kb->kia", M, w)
    along, squares = np.einsum("kia,ka->ki", moved, w), np.sum(moved**2, axis=2)
    assert squares.max() <= L**2 <= 1.3 * squares.max()
    assert (squares / along).max() <= C <= 1.3 * (squares / along).max()
    assert mu <= along.mean(axis=1).min() <= 1.3 * mu
    assert constants["convexity"].value <= along.min()


def test_a_rotation_is_monotone_and_nothing_more():
    """Its constants do not exist, and its Lipschitz constant is 1."""
    constants = ROTATION.constants()
    assert constants["L"].value == 1
    assert constants["convexity"].value == 0
    assert constants["strong_convexity"].certificate is Certificate.ABSENT
    assert constants["cocoercivity"].certificate is Certificate.ABSENT
    assert constants["distance2_0"].value == pytest.approx(1)


@pytest.mark.parametrize("cocoercive", [False, True])
def test_constants_are_proved_in_rationals(problem, cocoercive):
    """The proved ones are those of floating point, weaker ones are admitted, and stronger ones are not."""
    proved = ProvedOperator(problem, None, None, {}, None, [], {"x0": np.ones(5)}, cocoercive=cocoercive)
    constants = problem.constants(np.ones(5))
    L, mu = proved.fact("L"), proved.fact("strong_convexity")
    assert float(L) == pytest.approx(constants["cocoercivity" if cocoercive else "L"].value, rel=1e-8)
    assert float(mu) == pytest.approx(constants["strong_convexity"].value, rel=1e-8)
    assert proved.admits("L", L * Fraction(11, 10))
    assert not proved.admits("L", L * Fraction(9, 10))
    assert proved.admits("strong_convexity", mu * Fraction(9, 10))
    assert not proved.admits("strong_convexity", mu * Fraction(11, 10))
    assert float(proved.fact("distance2_0")) == pytest.approx(constants["distance2_0"].value, rel=1e-9)
    assert proved.fact("F_0") is None


def test_the_zero_is_where_the_mean_operator_vanishes(problem):
    """Alone for an invertible mean; the nearest to 0 where there are several; none where a slope has no curvature."""
    point, error, alone = problem.zero
    M, c = problem.mean
    np.testing.assert_allclose(M @ point, c, atol=1e-13)
    assert alone
    assert error < 1e-12
    flat = MinMax([[[1.0, 0.0], [0.0, 0.0]]], [[[0.0], [0.0]]], [[[1.0]]], [[2.0, 0.0]], [[0.0]])
    assert not flat.zero[2]
    np.testing.assert_allclose(flat.zero[0], [2, 0, 0])
    assert MinMax([[[0.0]]], [[[0.0]]], [[[1.0]]], [[1.0]], [[0.0]]).zero is None


def test_l_is_the_constant_that_the_statement_means(problem):
    """A Lipschitz constant, or that of cocoercivity."""
    lipschitz, cocoercive = (
        CertifiedCase(problem, None, None, cocoercive=each).fact("L").value for each in (False, True)
    )
    assert lipschitz == pytest.approx(1)
    assert cocoercive > 1.5


def test_it_reads_what_it_writes(problem, tmp_path):
    """As JSON data, and as an .npz file by name."""
    again = forms.read(forms.fields(problem))
    np.testing.assert_array_equal(again.operator()[0], problem.operator()[0])
    path = tmp_path / "saddle.npz"
    np.savez(path, **{name: getattr(problem, name) for name in "ABCac"})
    loaded = forms.build(f"minmax:{path}", {})
    np.testing.assert_array_equal(loaded.operator()[1], problem.operator()[1])


@pytest.mark.parametrize("coupling", [0.0, 1.0])
def test_the_ends_of_the_coupling(coupling):
    """Two separate problems, or a bilinear one, with the Lipschitz constant 1."""
    problem = MinMax.synthetic(n=2, d_x=2, d_y=3, coupling=coupling, curvature=1.0)
    assert bool(problem.B.any()) == (coupling == 1)
    assert bool(problem.A.any()) == (coupling == 0)
    assert problem.constants()["L"].value == pytest.approx(1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": [[[-1.0]]]}, r'A\[0\] has the eigenvalue -1, which breaks "-1 >= 0"'),
        ({"A": [[1.0]]}, r"A: shape \(1, 1\); needed \(1, 1, 1\)"),
        ({"c": [[np.inf]]}, r"c\[0, 0\] is inf; needed finite values"),
        ({"B": [1.0]}, r"B: shape \(1,\); needed \(n, d_x, d_y\), each at least 1"),
    ],
)
def test_what_is_no_such_problem_is_refused(change, message):
    """In one line, with the value and the condition."""
    arrays = {"A": [[[1.0]]], "B": [[[1.0]]], "C": [[[1.0]]], "a": [[0.0]], "c": [[0.0]]}
    with pytest.raises(InputError, match=message):
        MinMax(**{**arrays, **change})


def test_what_is_not_symmetric_is_refused():
    """Unlike B, which need not be."""
    with pytest.raises(InputError, match=r"A\[0\] differs from its transpose by 1"):
        MinMax([[[1.0, 1.0], [0.0, 1.0]]], [[[1.0, 2.0], [3.0, 4.0]]], np.eye(2)[None], [[0, 0]], [[0, 0]])
    with pytest.raises(InputError, match='coupling=2 breaks "0 <= coupling <= 1"'):
        MinMax.synthetic(coupling=2)


def test_proximal_steps_are_refused():
    """In one line."""
    with pytest.raises(InputError, match="proximal steps on a minmax problem are resolvents"):
        rc.simulate("proximal-point", ROTATION, rc.participation.Trace.full(1), K=1, T=3, lambda_=1.0)
