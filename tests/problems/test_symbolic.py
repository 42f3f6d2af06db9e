"""Problems from SymPy: their form, their derivatives by differences, every constant against a dense grid."""

import functools
import itertools
import math
import re

import mpmath
import numpy as np
import pytest
import sympy as sp

import ratecheck as rc
from ratecheck.algebra.boxes import Boxes, on_boxes
from ratecheck.algebra.whole_line import X, on_line
from ratecheck.errors import InputError
from ratecheck.problems import Certificate, Piecewise, Quadratic, Symbolic, from_sympy

x, y, z = sp.symbols("x y z")

SMOOTH = {
    "logistic": [sp.log(1 + sp.exp(x - 2 * y)) + x**2 / 20 + y**2 / 10, sp.log(1 + sp.exp(-x)) + (x + y) ** 2 / 8],
    "square roots": [sp.sqrt(1 + (x - 1) ** 2) + sp.sqrt(4 + y**2), sp.sqrt(1 + (x + 2) ** 2) + sp.sqrt(1 + y**2)],
    "rational": [x**4 / (1 + x**2), (x - 3) ** 4 / (1 + (x - 3) ** 2)],
    "not convex": [x**2 / (1 + x**2) + y**2 / 5, sp.log(1 + (x - 1) ** 2) + y**2 / 5 - y],
    "waves": [x**2 + sp.cos(2 * x), x**2 + sp.sin(x) + x],
    "coupled": [x**2 + y**2 + sp.sin(x) * sp.cos(y), x**2 + y**2 + sp.sin(x) * sp.cos(y) + x],
    "three variables": [sp.log(sp.cosh(x + y - z)) + x**2 + y**2 + z**2 / 2, sp.atan(x) * x + y**2 + z**2],
}


@functools.cache
def smooth(name):
    """A smooth problem that is neither quadratic nor piecewise; its constants take seconds and are computed once."""
    found = from_sympy(SMOOTH[name])
    assert isinstance(found, Symbolic)
    return found


@pytest.fixture(params=SMOOTH)
def problem(request):
    """Each of them."""
    return smooth(request.param)


def grid(d, reach=12.0):
    """Points (k, d), dense where functions bend, and some far away."""
    axis = np.concatenate([np.linspace(-reach, reach, {1: 4001, 2: 161, 3: 41}[d]), [-1e3, 1e3, -40, 40]])
    return np.array([*itertools.product(axis, repeat=d)])


def hessians(f, variables, points):
    """The Hessians of a client as SymPy has it, without what `Symbolic` does to it."""
    numeric = sp.lambdify(variables, sp.hessian(f, variables), "numpy")
    with np.errstate(all="ignore"):
        found = [np.array(numeric(*point), dtype=float).reshape(len(variables), -1) for point in points]
    return [each for each in found if np.isfinite(each).all()]


def plain(name):
    """The functions of that name, and their variables in the order of their names."""
    return SMOOTH[name], sorted({s for f in SMOOTH[name] for s in f.free_symbols}, key=str)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", SMOOTH)
def test_curvature_against_a_grid(name):
    """L, mu and convexity: no point of the grid exceeds them, and L is not far above what is reached there."""
    functions, variables = plain(name)
    problem = smooth(name)
    points = grid(problem.d)
    points = points[np.random.default_rng(0).permutation(len(points))[:1000]] if problem.d > 1 else points
    spectra = [np.array([np.linalg.eigvalsh(H) for H in hessians(f, variables, points)]) for f in functions]
    constants = problem.constants()
    reached = max(float(np.abs(each).max()) for each in spectra)
    assert reached <= constants["L"].value * (1 + 1e-9)
    assert constants["L"].value <= 1.35 * reached
    least = min(float(each.min()) for each in spectra)
    if constants["convexity"].certificate is Certificate.ABSENT:
        assert least < 0
        assert constants["convexity"].standing == "does not exist"
    else:
        assert constants["convexity"].value <= least + 1e-9
    mean = [sum(Hs) / len(Hs) for Hs in zip(*(hessians(f, variables, points[:500]) for f in functions), strict=False)]
    if (mu := constants["strong_convexity"]).certificate is not Certificate.ABSENT:
        assert mu.value <= min(np.linalg.eigvalsh(H)[0] for H in mean) + 1e-9


def test_gradients_are_those_of_the_values(problem):
    """By central differences, at random points."""
    rng = np.random.default_rng(1)
    nothing = np.zeros((problem.n, 0))
    for point in 3 * rng.standard_normal((5, problem.d)):
        slopes = problem.gradients(point, nothing)[0].mean(axis=0)
        for c, unit in enumerate(1e-5 * np.eye(problem.d)):
            way = (problem.value(point + unit, nothing) - problem.value(point - unit, nothing)) / 2e-5
            assert way == pytest.approx(slopes[c], abs=1e-7 * (1 + abs(slopes[c])))


@pytest.mark.every(2)
def test_the_infimum_against_a_grid(problem):
    """No value is below it; where the minimiser is known a value comes near, and the point is where it says."""
    nothing = np.zeros((problem.n, 0))
    values = [problem.value(point, nothing) for point in grid(problem.d)[:: max(1, len(grid(problem.d)) // 4000)]]
    minimum = problem.bounds.minimum
    assert math.isfinite(minimum.low)
    assert minimum.low <= min(values) + 1e-12
    gap = problem.constants()["F_0"].value
    assert gap >= problem.value(np.zeros(problem.d), nothing) - min(values) - 1e-12
    assert minimum.high - minimum.low <= 1e-4 * (1 + abs(minimum.high)) or minimum.point is None
    if minimum.point is not None:
        assert np.linalg.norm(problem.gradients(minimum.point, nothing)[0].mean(axis=0)) < 1e-9
        distance = problem.constants()["distance2_0"].value
        assert distance == pytest.approx(float(minimum.point @ minimum.point), rel=1e-9, abs=1e-15)


@pytest.mark.every(2)
def test_the_dissimilarity_against_a_grid(problem):
    """B is reached up to a third where it exists; where it is not known the gradients part farther and farther."""
    nothing = np.zeros((problem.n, 0))
    points = grid(problem.d)[:: max(1, len(grid(problem.d)) // 4000)]
    spreads = []
    for point in points:
        g = problem.gradients(point, nothing)[0]
        spreads.append(math.sqrt(np.mean(np.sum((g - g.mean(axis=0)) ** 2, axis=1))))
    b = problem.constants()["b"]
    if b.certificate is Certificate.ABSENT:
        assert max(spreads) > 20 * sorted(spreads)[len(spreads) // 2]
        return
    assert max(spreads) <= b.value * (1 + 1e-9)
    assert b.value <= 1.35 * max(spreads)


def test_simple_forms():
    """Quadratics and sums of piecewise quadratics are what the exact engines follow."""
    bowl = from_sympy([x**2 + x * y + y**2 - x, sp.Float("0.5") * x**2 + y])
    assert isinstance(bowl, Quadratic)
    np.testing.assert_array_equal(bowl.H, [[[2, 1], [1, 2]], [[1, 0], [0, 0]]])
    np.testing.assert_array_equal(bowl.g, [[1, 0], [0, -1]])
    huber = sp.Piecewise((x**2 / 2, sp.Abs(x) <= 1), (sp.Abs(x) - sp.Rational(1, 2), True))
    found = from_sympy(huber + sp.Max(0, y - 1) ** 2, clients=2)
    assert isinstance(found, Piecewise)
    for point in np.random.default_rng(0).uniform(-4, 4, (40, 2)):
        wanted = huber.subs(x, point[0]) + max(0, point[1] - 1) ** 2
        assert found.value(point, None) == pytest.approx(float(wanted), abs=1e-12)
    assert found.constants()["L"].value == 2


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (sp.Abs(x), "x=0 its derivative jumps from -1 to 1"),
        (sp.Max(0, x * y), "they are taken of one variable"),
        (sp.log(x), "no proof was found that x is always positive"),
        (sp.Function("f")(x), "is not understood"),
        ("x**2", "functions[0] is 'x**2', no SymPy expression"),
        ([], "functions is empty"),
    ],
)
def test_what_is_refused(functions, message):
    """In one line, with the reason."""
    with pytest.raises(InputError, match=re.escape(message)) as found:
        from_sympy(functions)
    assert "\n" not in str(found.value)


def test_symbols_that_are_no_variables_are_named():
    """A parameter has to have a value."""
    with pytest.raises(InputError, match="a is none of the variables x"):
        from_sympy(sp.Symbol("a") * x**2, [x])


@pytest.mark.parametrize("f", [x**4, sp.exp(x) + sp.exp(-x), sp.sin(x**2), x**2 * y**2 + x**2 + y**2])
def test_no_bound_of_the_second_derivatives_is_said_so(f):
    """And never a number; of a polynomial it is proved that there is none."""
    L = from_sympy(f + x).constants()["L"]
    assert L.certificate is Certificate.ABSENT
    unknown = "L is not certified: no proof was found of a bound of the second derivatives"
    said = f"L does not exist: {f + x} is a polynomial of degree 4" if f.is_polynomial() else unknown
    assert L.missing.startswith(said)


LINES = [
    sp.sqrt(1 + (X - 1) ** 2), X**4 / (1 + X**2), X**2 * sp.sin(X) / (1 + X**2), sp.atan(X) * X, sp.tanh(X) ** 3,
    (1 + X**2) ** sp.Rational(1, 3), (1 + X**2) ** sp.Rational(5, 12), X * sp.exp(-X) / (1 + sp.exp(-X)) ** 2,
    X / (1 + X**2) - X**3 / (1 + X**4),
]  # fmt: skip


@pytest.mark.every(3)
@pytest.mark.parametrize("f", LINES)
@pytest.mark.parametrize("order", [1, 2])
def test_ranges_on_the_line_hold_at_many_points(f, order):
    """In 50 digits, near and far away; and a bound is near to what is reached where there is one."""
    derivative = sp.diff(f, X, order)
    found = on_line(derivative)
    numeric = sp.lambdify(X, derivative, "mpmath")
    points = [sign * 10.0**e for e in np.linspace(-3, 4, 60) for sign in (1, -1)] + [*np.linspace(-6, 6, 241)]
    with mpmath.workdps(50):
        values = [float(numeric(mpmath.mpf(point))) for point in points]
    assert found.low <= min(values) + 1e-12
    assert max(values) <= found.high + 1e-12


def test_boxes_hold_random_points():
    """Of every function that has a rule, on boxes of all sizes; compared with 40 digits."""
    u = sp.Symbol("u", real=True)
    functions = [
        u**3, u**-2, sp.sqrt(1 + u**2), sp.exp(u), sp.log(2 + u**2), sp.sin(u), sp.cos(3 * u), sp.tanh(u), sp.sinh(u),
        sp.cosh(u), sp.atan(u), sp.asinh(u), sp.Abs(u), (1 + u**2) ** sp.Rational(-3, 2), sp.cbrt(1 + u**4), sp.pi * u,
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    for f in functions:
        numeric = sp.lambdify(u, f, "mpmath")
        for size in (1e-12, 1e-3, 1.0, 30.0):
            low = 5 * rng.standard_normal(20)
            box = Boxes(low, low + size)
            found = on_boxes(f, {"u": box})
            for k in range(20):
                for point in (box.low[k], box.high[k], (box.low[k] + box.high[k]) / 2):
                    with mpmath.workdps(40):
                        value = numeric(mpmath.mpf(float(point)))
                        assert mpmath.mpf(float(found.low[k])) <= value <= mpmath.mpf(float(found.high[k]))


def test_runs_are_those_of_a_quadratic():
    """Called oracles give what compiled ones do, with noise and sampling from the same streams."""
    quadratic = from_sympy([x**2 + y**2 / 2 - x, x**2 / 2 + y**2 + y])
    called = Symbolic([x**2 + y**2 / 2 - x, x**2 / 2 + y**2 + y], [x, y])
    trace = rc.participation.Trace.uniform(2, 1)
    setting = {"K": 2, "T": 8, "gamma_u": 0.2, "eta_u": 0.9, "sigma_u": 0.3, "seed": 5, "replicates": 3}
    for method, more in (("fedavg", {}), ("scaffold", {})):
        runs = [rc.simulate(method, each, trace, records=["G_u", "B", "f", "gap", "distance2"], **setting, **more)
                for each in (quadratic, called)]  # fmt: skip
        for name, array in runs[0].records.items():
            np.testing.assert_allclose(runs[1].records[name], array, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        # Simplified, these have no singularity: a jump by 3 pi, kinks, and logarithms of negative numbers.
        ((x - 3) ** 2 + 3 * sp.atan(1 / (x - 1)), "no proof was found that x - 1 is never 0"),
        (sp.atan((x + 1) / (1 - x)) + x**2, "no proof was found that 1 - x is never 0"),
        (sp.atan(1 / (x + y - 1)) + x**2 + y**2, "no proof was found that x + y - 1 is never 0"),
        (x**2 + (x**2 - 1) / (x - 1), "no proof was found that x - 1 is never 0"),
        (sp.sqrt(x**2 - 2 * x + 1) + x**2, "no proof was found that x**2 - 2*x + 1 is always positive"),
        (x**2 - 5 * sp.sqrt(x**2 - 2 * x + 1), "no proof was found that x**2 - 2*x + 1 is always positive"),
        (x**2 + sp.log(2 * x + 6) - sp.log(x + 3), "no proof was found that x + 3 is always positive"),
        (sp.cbrt((x + 1) ** 3) + x**2, "no proof was found that (x + 1)**3 is always positive"),
        (sp.sqrt(x + 2) * sp.sqrt(3 * x + 6) + sp.cos(x), "no proof was found that x + 2 is always positive"),
        # Far away, and where the denominator is 0 without changing its sign.
        (1 / (x - 10**5) ** 2 + x**2, "no proof was found that x - 100000 is never 0"),
        (-sp.log(10**8 - x) + x**2, "no proof was found that 100000000 - x is always positive"),
        (1 / (1 + sp.cos(x)), "no proof was found that cos(x) + 1 is never 0"),
        (sp.sqrt((x - y - 1) ** 2) + x**2 + y**2, "has a kink at 0"),
        (sp.Mod(x, 2), "is not understood"),
        (x**3 / 0, "functions[0] has no finite value"),
        (sp.sin(x) * 10**400, "functions[0] has a number above 1e100"),
        # A single point, and pieces that are no polynomials.
        (sp.Piecewise((-5, sp.Eq(x, 7)), (x**2, True)), "at x=7 alone its value is -5, not 49"),
        (sp.Piecewise((x**2, x < 0), (5, x <= 0), (x**2, True)), "at x=0 alone its value is 5, not 0"),
        (sp.Piecewise((sp.exp(-(x**2)), x < 1), (x, True)), "pieces are quadratic"),
        (sp.Abs(x) ** 3 / (1 + x**2), "pieces are quadratic"),
    ],
)
def test_what_is_not_smooth_everywhere_is_refused(f, said):
    """Although a simplified form of it may be: bounds of that are about another function."""
    with pytest.raises(rc.InputError) as caught:
        from_sympy(f)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "f",
    [
        sp.log(sp.exp(x) + sp.exp(y)),
        1 / (x**2 - 2 * x + 2),
        1 / (2 + sp.cos(x)),
        sp.sqrt(x**2 + x * y + y**2 + 1),
        1 / (1 + x**2 * y**2) + x**2 + y**2,
        sp.log(2 + sp.sin(x) * sp.cos(y)),
        sp.cbrt(1 + x**2),
        sp.exp(x) / (1 + sp.exp(x)),
    ],
)
def test_what_is_smooth_everywhere_is_shown_to_be(f):
    """By the signs of its parts, or by a lower bound of what stands under a root, in a logarithm or below."""
    assert isinstance(from_sympy(f), Symbolic)


@pytest.mark.parametrize("declared", [["L"], 3, {1: 2}])
def test_constants_are_declared_by_name(declared):
    """One line for anything else."""
    with pytest.raises(rc.InputError, match="give constants by name, such as"):
        from_sympy(x**4 / (1 + x**2), declared=declared)
