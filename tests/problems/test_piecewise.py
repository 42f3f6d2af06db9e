"""Functions with kinks: constants against a grid that knows nothing of pieces, three engines against each other."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import bounds
import ratecheck as rc
from ratecheck.algorithms import METHODS
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo import piecewise_rounds, stepwise
from ratecheck.engines.rigorous import piecewise_runs
from ratecheck.errors import InputError
from ratecheck.participation import Trace
from ratecheck.problems import Certificate, Piecewise
from ratecheck.problems.functions.scalar_function import ScalarFunction
from ratecheck.verification.verify import verify

HUBER = {"kinks": [[[-1.0, 1.0]]], "curvatures": [[[0.0, 1.0, 0.0]]], "slopes": [[0.0]]}
NOTHING = np.zeros((1, 0))


def derivative(kinks, curvatures, slope, x):
    """The integral of the curvature from 0 to x, interval by interval."""
    low, high = min(0.0, x), max(0.0, x)
    ends = [low, *(kink for kink in kinks if low < kink < high), high]
    total = sum(curvatures[np.searchsorted(kinks, (a + b) / 2)] * (b - a) for a, b in itertools.pairwise(ends))
    return slope + (total if x > 0 else -total)


def drawn(rng):
    """One coordinate, a few clients whose outer curvatures agree, numbers of one digit so that ties occur."""
    n, J = rng.integers(1, 4), rng.integers(0, 4)
    kinks = np.sort(np.round(rng.normal(size=(n, 1, J)), 1), axis=2)
    curvatures = np.round(rng.uniform(-0.3, 1.0, (n, 1, J + 1)), 1)
    curvatures[..., [0, -1]] = abs(curvatures[0, :, [0, -1]].T if J else np.repeat(curvatures[:1, :, 0], 2, axis=1))
    return kinks, curvatures, np.round(rng.normal(size=(n, 1)), 1)


@pytest.mark.parametrize("seed", range(60))
def test_constants_against_a_grid(seed):
    """Dissimilarity, infimum and the Polyak-Lojasiewicz constant, where a grid shows them."""
    kinks, curvatures, slopes = drawn(np.random.default_rng(seed))
    problem = Piecewise(kinks, curvatures, slopes)
    found = problem.constants([0.25])
    x = np.unique(np.concatenate([np.linspace(-60, 60, 601), kinks.ravel()]))
    gradients = np.array([
        [derivative(kinks[i, 0], curvatures[i, 0], slopes[i, 0], y) for y in x] for i in range(problem.n)
    ])  # fmt: skip
    mean = gradients.mean(axis=0)
    assert found["b"].value == pytest.approx(np.sqrt(((gradients - mean) ** 2).mean(axis=0).max()), abs=1e-12)
    assert found["L"].value == np.abs(curvatures).max()
    values = np.array([problem.value([y], NOTHING) for y in x])
    slopes_seen = problem.gradients(np.array([0.25]), NOTHING)[0][:, 0]
    assert slopes_seen == pytest.approx([derivative(kinks[i, 0], curvatures[i, 0], slopes[i, 0], 0.25)
                                         for i in range(problem.n)], abs=1e-12)  # fmt: skip
    # Trapezoids are exact where no kink lies between two points: all kinks are points.
    integral = np.concatenate([[0.0], np.cumsum((mean[1:] + mean[:-1]) / 2 * np.diff(x))])
    assert values - values[0] == pytest.approx(integral, abs=1e-9)
    if problem.lowest is None:
        assert found["F_0"].certificate is Certificate.ABSENT
        assert (mean[-1] < 0) or (mean[0] > 0)
        return
    gap = values - float(problem.lowest)
    assert gap.min() >= -1e-12
    assert gap.min() <= 0.03
    seen = gap > 1e-6
    ratio = (mean[seen] ** 2 / (2 * gap[seen])).min(initial=np.inf)
    mu = found["polyak_lojasiewicz"].value
    if np.isfinite(mu):
        assert ratio >= mu * (1 - 1e-6)
    else:
        assert ratio < 0.05


def test_many_clients_cost_little():
    """Constants of a thousand clients; the dissimilarity is that of a plain computation at all their kinks."""
    problem = Piecewise.synthetic(1000, 2, kinks=2)
    found = problem.constants()
    total = 0.0
    for c in range(2):
        x = problem.kinks[:, c].ravel()
        ends = np.concatenate([np.full((1000, 1), -np.inf), problem.kinks[:, c], np.full((1000, 1), np.inf)], axis=1)
        gradients = np.repeat(problem.slopes[:, c, None], len(x), axis=1)
        for j in range(3):
            low, high = ends[:, j, None], ends[:, j + 1, None]
            gradients += problem.curvatures[:, c, j, None] * (np.clip(x, low, high) - np.clip(0.0, low, high))
        total += gradients.var(axis=0).max()
    assert found["b"].value == pytest.approx(np.sqrt(total), rel=1e-12)
    assert found["F_0"].certificate is Certificate.EXACT


def test_constants_of_huber_s_function():
    """Known in closed form."""
    problem = Piecewise(**HUBER)
    found = problem.constants([3.0])
    assert {name: found[name].value for name in ("L", "F_0", "B_0", "b", "distance2_0")} == {
        "L": 1.0, "F_0": 2.5, "B_0": 1.0, "b": 0.0, "distance2_0": 9.0,
    }  # fmt: skip
    assert found["strong_convexity"].certificate is Certificate.ABSENT
    assert found["polyak_lojasiewicz"].certificate is Certificate.ABSENT
    assert problem.least_curvature == 0.0


def test_a_flat_minimum_has_no_minimiser():
    """A function that is 0 on [-1, 1] and grows beyond, and one that is 0 from 1 on."""
    flat = Piecewise([[[-1.0, 1.0]]], [[[1.0, 0.0, 1.0]]], [[0.0]])
    assert flat.lowest == 0
    assert flat.minimiser is None
    assert flat.constants()["distance2_0"].certificate is Certificate.ABSENT
    assert flat.constants()["polyak_lojasiewicz"].value == 1.0
    ramp = Piecewise([[[1.0]]], [[[1.0, 0.0]]], [[-1.0]])
    assert ramp.lowest == Fraction(-1, 2)
    assert ramp.minimiser is None
    assert Piecewise([[[1.0]]], [[[1.0, 0.0]]], [[-2.0]]).lowest is None


def test_pieces_without_width_and_without_a_kink_are_dropped():
    """Kinks where nothing changes, and one of two at the same place."""
    curve = ScalarFunction.of(
        [Fraction(0), Fraction(1), Fraction(1)], [Fraction(1), Fraction(1), Fraction(5), Fraction(2)], Fraction(0)
    )
    assert curve == ScalarFunction((Fraction(1),), (Fraction(1), Fraction(2)), Fraction(0))


@pytest.mark.parametrize(
    "name", ["fedavg-p", "scaffold-p", "mifa", "fedvarp", "fedadmm", "fedsum", "fedsum-b", "fedsum-cr"]
)
def test_three_engines_agree(name):
    """Compiled steps, NumPy and rationals, with clients that are away in some rounds."""
    rng = np.random.default_rng(1)
    n, d, J, K, T = 3, 2, 3, 3, 7
    problem = Piecewise(
        np.sort(rng.normal(size=(n, d, J)), axis=2), rng.uniform(0, 1, (n, d, J + 1)), rng.normal(size=(n, d))
    )
    method = METHODS[name].algorithm
    sizes = {size: 0.1 for size in method.step_sizes if size not in method.optional}
    ready = setup.prepare(
        name, problem, Trace(rng.random((T, n)) < 0.7), K=K, T=T, records=("G_u", "B", "f", "gap", "distance2"),
        step_sizes=sizes, x0=rng.normal(size=d),
    )  # fmt: skip
    exact = piecewise_runs.expect(ready, ready.records).records
    assert piecewise_rounds.covered(ready)
    run, errors = piecewise_rounds.simulate(ready)
    compiled = stepwise.simulate(ready).records
    for record, values in exact.items():
        assert run.records[record][0] == pytest.approx(values, rel=1e-12), record
        assert compiled[record][0] == pytest.approx(values, rel=1e-12), record
        assert (np.abs(run.records[record][0] - values) <= errors[record][0] + 1e-15 * np.abs(values)).all()


def test_a_quadratic_without_kinks_is_that_quadratic():
    """The same constants, and the same run, as the quadratic problem with these curvatures."""
    rng = np.random.default_rng(2)
    h, g = rng.uniform(0.1, 1.0, (3, 2)), rng.normal(size=(3, 2))
    pieces = Piecewise(np.zeros((3, 2, 0)), h[:, :, None], -g)
    quadratic = rc.problems.Quadratic([np.diag(row) for row in h], g, 2)
    for name in ("L", "F_0", "B_0"):
        assert pieces.constants()[name].value == pytest.approx(quadratic.constants()[name].value, rel=1e-12)
    given = {"K": 2, "T": 6, "L": 1.0, "F_0": 5.0, "B_0": 50.0, "sigma_u": 0}
    statement = bounds.get("pfl/fedavg-full")
    verdicts = [verify(statement, each, given) for each in (pieces, quadratic)]
    assert verdicts[0].worst.left == pytest.approx(verdicts[1].worst.left, rel=1e-12)
    assert verdicts[0].engine == "exact"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kinks": [[[1.0, -1.0]]]}, "kinks[0, 0]: 1 is followed by -1; needed ascending kinks"),
        ({"kinks": [[[1.0]]]}, "kinks: shape (1, 1, 1); needed (1, 1, 2)"),
        ({"slopes": [[np.inf]]}, "slopes[0, 0] is inf; needed finite values"),
        ({"curvatures": [1.0]}, "curvatures: shape (1,); needed (n, d, J + 1)"),
    ],
)
def test_bad_input_is_refused(wrong, said):
    """In one line, with the place."""
    with pytest.raises(InputError) as caught:
        Piecewise(**{**HUBER, **wrong})
    assert said in str(caught.value)


def test_files_and_names(tmp_path, cli):
    """From an .npz file, by name, and in a file of an instance."""
    moved = {**HUBER, "slopes": [[0.5]]}
    np.savez(tmp_path / "huber.npz", **{name: np.array(value) for name, value in moved.items()})
    key = "pfl/fedavg-full"
    found = cli("verify", key, "--problem", f"piecewise:{tmp_path}/huber.npz", "K=1", "T=3")
    assert found.returncode == 0
    assert "on      piecewise:" in found.stdout
    found = cli("verify", key, "--problem", f"piecewise:{tmp_path}/none.npz")
    assert found.returncode == 2
    assert "no file" in found.stderr
    found = cli("verify", key, "--problem", "piecewise", "curvature=2")
    assert found.returncode == 2
    assert 'curvature=2 breaks "0 <= curvature <= 1"' in found.stderr
    problem = Piecewise.synthetic(3, 2, kinks=3, convex=False, seed=5)
    assert problem.constants()["L"].value == pytest.approx(1.0)
    assert problem.constants()["F_0"].certificate is Certificate.EXACT
    again = Piecewise.read(problem.fields())
    assert repr(again.constants()) == repr(problem.constants())
