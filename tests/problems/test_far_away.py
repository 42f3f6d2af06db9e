"""What falls far away: bounds of second derivatives on the whole space, and what is said to exist or not."""

import itertools
import json
import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

from ratecheck.algebra.boxes import Boxes, Decay, Same, on_boxes
from ratecheck.algebra.decay import decayed
from ratecheck.algebra.whole_line import X, on_line
from ratecheck.cli import group
from ratecheck.problems import Certificate, from_sympy

x, y, z = sp.symbols("x y z", real=True)
E = sp.exp

LINES = {
    "Gauss": -E(-(X**2)),
    "Gauss, moved": E(-((X - 3) ** 2) / 2),
    "Gauss, far": E(-((X - 300) ** 2) / 2),
    "Gauss, wide": E(-((X / 100) ** 2)),
    "Gauss and a power": X**5 * E(-(X**2)),
    "Gauss and a wave": E(-(X**2)) * sp.cos(3 * X),
    "fourth power": E(-(X**4)),
    "root": X * E(-sp.sqrt(1 + X**2)),
    "Gauss and tanh": E(-(X**2)) * sp.tanh(X),
    "x tanh": X * sp.tanh(X),
    "sech": 1 / sp.cosh(X),
    "sech^2": X / sp.cosh(X) ** 2,
    "quotient": E(-(X**2)) / (1 + X**2),
    "SiLU": X / (1 + E(-X)),
    "two": X**2 * E(-(X**2) / 2) + X * E(-((X + 1) ** 2)),
}

SPACES = {
    "Welsch": 1 - E(-(x**2 + y**2) / 2),
    "correlated": 1 - E(-(x**2) - x * y - y**2 + x),
    "three": 1 - E(-(x**2 + y**2 + z**2) / 2),
    "Cauchy": sp.log(1 + x**2 + y**2),
    "Geman-McClure": (x**2 + y**2) / (1 + x**2 + y**2),
    "pseudo-Huber": sp.sqrt(1 + x**2 + y**2 + z**2),
    "with a quadratic": x**2 + y**2 / 3 - E(-(x**2) - y**2) - E(-((x - y) ** 2)),
    "product": x * y * E(-(x**2) - y**2),
}


def reached(second):
    """The least and largest second derivative on a grid, in 40 digits, without what the package does to it."""
    numeric = sp.lambdify(X, second, "mpmath")
    axis = [*np.linspace(-20, 20, 2001), *np.linspace(290, 310, 401), *np.linspace(-400, 400, 801), -1e3, 1e3]
    with mpmath.workdps(40):
        found = [numeric(mpmath.mpf(float(at))) for at in axis]
    return min(found), max(found)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", LINES)
def test_second_derivatives_on_the_line(name):
    """They are bounded, and by what a grid reaches up to a thousandth."""
    second = sp.diff(LINES[name], X, 2)
    found, (least, most) = on_line(second), reached(second)
    assert found.low <= least
    assert found.high >= most
    size = max(abs(least), abs(most))
    assert found.low >= least - 1e-3 * size
    assert found.high <= most + 1e-3 * size


@pytest.mark.every(2)
@pytest.mark.parametrize("growing", [E(X), X**3 * sp.tanh(X), X**2 * E(-X), sp.cosh(X), E(X**2)])
def test_what_has_no_bound_gets_none(growing):
    """An exponential that falls on one side only, and powers beside none."""
    assert math.isinf(on_line(sp.diff(growing, X, 2)).high)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", SPACES)
def test_hessians_in_several_dimensions(name):
    """L is no smaller than at any of 4000 points, and not far above."""
    f = SPACES[name]
    variables = sorted(f.free_symbols, key=str)
    L = from_sympy(f, clients=2).constants()["L"]
    hessian = sp.lambdify(variables, sp.hessian(f, variables), "numpy")
    rng = np.random.default_rng(0)
    points = np.concatenate([s * rng.standard_normal((1000, len(variables))) for s in (0.1, 1.0, 3.0, 30.0)])
    spectra = [np.abs(np.linalg.eigvalsh(np.array(hessian(*point), dtype=float))).max() for point in points]
    assert L.certificate is Certificate.UPPER_BOUND
    assert max(spectra) <= L.value <= 1.6 * max(spectra)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("f", "least"),
    [
        (x**2 / 2 + sp.cos(x), 0),
        (x**2 / 2 + sp.sin(x) + x, 0),
        (3 * x**2 / 2 + 3 * sp.cos(x), 0),
        (x**2 + E(-(x**2)), 0),
        (x**2 + y**2 + E(-(x**2) - y**2), 0),
        ((x + y) ** 2 / 2 + sp.cos(x + y), 0),
        (sp.sqrt(1 + x**2 + y**2), 0),
        (x**2 + sp.cos(x), 1),
    ],
)
def test_convexity_without_room(f, least):
    """The least curvature is reached, so that no rounding may be lost."""
    found = from_sympy(f, clients=2).constants()["convexity"]
    assert found.certificate is Certificate.LOWER_BOUND
    assert found.value == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("f", [x**2 / 2 + sp.Rational(1000001, 1000000) * sp.cos(x), 1 - E(-(x**2) / 10**4)])
def test_what_is_not_convex(f):
    """A point shows it, however little is missing or wherever it is."""
    found = from_sympy(f, clients=2).constants()["convexity"]
    assert found.certificate is Certificate.ABSENT
    assert found.value == math.inf


@pytest.mark.parametrize(("f", "standing"), [
    (x**4, "does not exist"),
    (x**2 * y**2 + x, "does not exist"),
    (E(x), "is not certified"),
    (x**2 * sp.sin(x), "is not certified"),
    ((sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1) * x**4 + E(x), "is not certified"),
])  # fmt: skip
def test_only_what_is_proved_does_not_exist(f, standing):
    """Of a polynomial it is proved; elsewhere no proof was found, which is said."""
    assert from_sympy(f, clients=2).constants()["L"].standing == standing


FILE = """
import sympy as sp

import ratecheck as rc
from bounds.theorem import theorem

x = sp.Symbol("x")
welsch = rc.problems.from_sympy([1 - sp.exp(-(x**2) / 2), 1 - sp.exp(-((x - 1) ** 2) / 2)])
growing = rc.problems.from_sympy([sp.exp(x), sp.exp(x)])
descent, bent = (
    theorem(
        title="Gradient descent",
        algorithm="fedavg",
        assumptions=["smoothness", "full_participation", "no_personal", *more],
        left="G_u",
        over="mean_of_rounds",
        right="2*F_0/(gamma_u*T)",
        conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    )
    for more in ([], ["convexity"])
)
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file, as ``mine.py``."""
    (tmp_path / "mine.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return "mine.py"


def test_a_verdict_on_welsch_s_loss(file):
    """It has an L, so that gradient descent is judged."""
    result = CliRunner().invoke(group, ["verify", f"{file}:descent", "--problem", f"{file}:welsch", "T=20", "--json"])
    found = json.loads(result.stdout)
    assert found["verdict"] == "HOLDS"
    assert found["constants"]["L"]["value"] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("problem", "word"), [("welsch", "does not exist"), ("growing", "is not certified")])
def test_every_line_says_the_same_of_an_assumption(file, problem, word):
    """Convexity that is missing above is not exact below; JSON says of L what the text says."""
    statement = f"{file}:bent" if problem == "welsch" else f"{file}:descent"
    words = ["verify", statement, "--problem", f"{file}:{problem}", "T=20"]
    text = CliRunner().invoke(group, words).stdout
    name, assumed = ("convexity", "every client's function is convex") if problem == "welsch" else ("L", "smoothness")
    assert f"because {name} {word}" in text
    line = next(each for each in text.splitlines() if f"assumes {assumed}" in each)
    assert word in line
    assert "exact" not in line
    if problem == "growing":
        found = json.loads(CliRunner().invoke(group, [*words, "--json"]).stdout)
        assert found["constants"]["L"]["certificate"] == word


def test_the_decay_of_powers_beside_an_exponential():
    """x^k exp(-x) in intervals against a grid, the top inside or not, and without an end."""
    ends = [0.0, 0.3, 1.0, 1.7, 3.0, 5.5, 40.0, math.inf]
    for k, (low, high) in itertools.product((1, 2, 5), itertools.combinations(ends, 2)):
        box = on_boxes(Decay(sp.Integer(k), x), {"x": Boxes(np.array(low), np.array(high))})
        with mpmath.workdps(30):
            grid = [mpmath.mpf(low) + (min(high, 900.0) - mpmath.mpf(low)) * t / 50 for t in range(51)]
            # The top, where it is inside.
            grid += [mpmath.mpf(k)] if low < k < high else []
            seen = [u**k * mpmath.exp(-u) for u in grid]
        assert box.low <= min(seen)
        assert max(seen) <= box.high <= max(seen) * 1.01 + 1e-300 or math.isinf(high)
        assert math.isfinite(box.high)
    assert not on_boxes(Decay(sp.Integer(1), x), {"x": Boxes(np.array(-1.0), np.array(1.0))}).known


@pytest.mark.parametrize("name", LINES)
def test_the_form_with_decay_is_equal(name):
    """At random points, far and near."""
    s = sp.Symbol("s", positive=True)
    far = sp.diff(LINES[name], X, 2).subs(X, 1 / s)
    found = decayed(far, {s: [(0.0, 1e-9)]})
    assert found is not None
    plain = found.replace(Same, lambda a, b: (a + b) / 2).replace(Decay, lambda k, u: u**k * sp.exp(-u))
    for at in (sp.Rational(1, 40), sp.Rational(2, 7), sp.Rational(3, 2)):
        assert sp.N((plain - far).subs(s, at), 30) == pytest.approx(0, abs=1e-20)


def test_products_and_sums_that_are_exact_are_not_rounded():
    """As fractions say; where they are not the bound is beyond them."""
    from fractions import Fraction

    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, (2, 4000))
    a, b = np.choose(kinds, [rng.integers(-99, 99, (2, 4000)), rng.standard_normal((2, 4000)),
                             2.0 ** rng.integers(-600, 400, (2, 4000))])  # fmt: skip
    total, product = Boxes.of(a) + Boxes.of(b), Boxes.of(a) * Boxes.of(b)
    for i, (p, q) in enumerate(zip(map(Fraction, a), map(Fraction, b), strict=True)):
        for box, exact in ((total, p + q), (product, p * q)):
            low, high = float(box.low[i]), float(box.high[i])
            assert Fraction(low) <= exact <= Fraction(high)
            assert (low == high) <= (Fraction(low) == exact)
    one = Boxes(np.array([0.9]), np.array([1.0]))
    assert float((Boxes.of(1.0) + Boxes.of(-1.0) * one).low[0]) == 0
