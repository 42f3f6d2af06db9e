"""Theorems of recent papers, as `docs/recent.md` has them: the right forms hold, and the wrong ones fall."""

import ast
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP

PAGE = (Path(__file__).parents[2] / "docs" / "recent.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"cat > (\w+\.py) <<'END'\n(.*?)\nEND", PAGE, re.DOTALL))
RUNS = ast.literal_eval(re.search(r"^RUNS = (\{.*?^\})", PAGE, re.DOTALL | re.MULTILINE)[1].replace("10**6", "1000000"))
ALONE = "a lower bound on lower\\.py:hard alone"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files of the page; their methods are forgotten at the end, since other tests count methods."""
    found, known = tmp_path_factory.mktemp("theorems"), {*METHODS}
    for name, text in FILES.items():
        (found / name).write_text(f"{text}\n", encoding="utf-8")
    yield found
    for name in {*METHODS} - known:
        del METHODS[name]


@pytest.fixture
def there(folder, monkeypatch):
    """The folder of the files, from which they import what they have in common."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "common", raising=False)
    yield
    sys.modules.pop("common", None)


def test_every_file_is_run():
    """The list of runs has every file."""
    assert {*RUNS} == {*FILES} - {"common.py"}


@pytest.mark.long
@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("file", RUNS)
def test_the_right_form_holds_and_the_wrong_one_falls(file):
    """Both verdicts on the problem of the page, whose own run is examined when it is built."""
    outcomes = [rc.verify(f"{file}:{name}", **RUNS[file]).outcome.name for name in ("right", "wrong")]
    assert outcomes == ["HOLDS", "VIOLATED"]


# Twins: the same runs as plain loops.


def least_squares(n, d):
    """The Hessians and linear terms of a problem."""
    problem = rc.problems.Quadratic.synthetic(n=n, d=d, shared=d)
    return problem.H, problem.g


@pytest.mark.usefixtures("there")
def test_the_l_1_norm_along_signs():
    """The mean over the rounds of what `measure` returns."""
    H, g = least_squares(2, 4)
    x, total = np.zeros(4), 0.0
    for _ in range(20):
        gradient = H.mean(axis=0) @ x - g.mean(axis=0)
        total += np.abs(gradient).sum()
        x = x - 0.3 * np.sign(gradient)
    found = rc.verify("sign.py:right", n=2, d=4, T=20, gamma=0.3)
    assert found.left == pytest.approx(total / 20)


@pytest.mark.usefixtures("there")
def test_the_frank_wolfe_gap():
    """The best round of what `measure` makes of the mean gradient."""
    H, g = least_squares(2, 3)
    x, gaps, r, curvature = np.zeros(3), [], 0.7, 4 * np.linalg.norm(H, 2, axis=(1, 2)).max() * 0.7**2
    for _ in range(15):
        gradient = H.mean(axis=0) @ x - g.mean(axis=0)
        v = -r * gradient / np.linalg.norm(gradient)
        gaps.append(gradient @ (x - v))
        x = x + min(1, gaps[-1] / curvature) * (v - x)
    found = rc.verify("wolfe.py:right", n=2, d=3, T=15, radius=r)
    assert found.left == pytest.approx(min(gaps))


@pytest.mark.usefixtures("there")
def test_steps_that_are_shorter_where_gradients_are_long():
    """The mean over the rounds, on a function without L: by its own derivative."""
    x, total, curve, slope = 0.0, 0.0, 50.0, 3.0
    for _ in range(12):
        gradient = (x - 10) ** 3
        total += gradient**2 / (curve + slope * abs(gradient))
        x -= gradient / (curve + slope * abs(gradient))
    found = rc.verify("relaxed.py:right", T=12, curve=curve, slope=slope, problem="relaxed.py:steep")
    assert found.left == pytest.approx(total / 12)


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(("name", "low", "high"), [("box", -1.0, 2.0), ("simplex", -1.0, None)])
def test_the_gradient_mapping(name, low, high):
    """The projection by what SciPy minimises."""
    H, g = least_squares(2, 4)
    bounds = [(low, high)] * 4
    total = {"type": "eq", "fun": lambda z: z.sum()}

    def project(y):
        near = scipy.optimize.minimize(
            lambda z: np.sum((z - y) ** 2), np.zeros(4), bounds=bounds, constraints=[] if high else [total], tol=1e-14
        )
        return near.x

    x, mapping2 = np.zeros(4), 0.0
    for _ in range(8):
        after = project(x - 0.7 * (H.mean(axis=0) @ x - g.mean(axis=0)))
        mapping2, x = mapping2 + np.sum((x - after) ** 2) / 0.7**2, after
    found = rc.verify(f"inside.py:{name}", n=2, d=4, T=8, gamma=0.7)
    assert found.left == pytest.approx(mapping2 / 8, rel=1e-5)


@pytest.mark.usefixtures("there")
def test_the_gaps_weighed_by_the_servers_steps():
    """Two sums of a run on one left side."""
    H, g = least_squares(3, 3)
    gamma, least = 0.05, np.linalg.solve(H.mean(axis=0), g.mean(axis=0))
    f = lambda x: x @ H.mean(axis=0) @ x / 2 - g.mean(axis=0) @ x  # noqa: E731
    x, steps, weighed = np.zeros(3), 0.0, 0.0
    for _ in range(6):
        moves = []
        for A, b in zip(H, g, strict=True):
            y = x.copy()
            for _ in range(2):
                y = y - gamma * (A @ y - b)
            moves.append(x - y)
        mean = np.mean(moves, axis=0)
        eta = max(1, np.mean([move @ move for move in moves]) / (2 * mean @ mean))
        steps, weighed = steps + eta, weighed + eta * (f(x) - f(least))
        x = x - eta * mean
    b_star2 = np.mean([np.sum((A @ least - b) ** 2) for A, b in zip(H, g, strict=True)])
    found = rc.verify("fedexp.py:right", n=3, d=3, K=2, T=6, gamma=gamma)
    assert found.left == pytest.approx(weighed - 2 * gamma * 2 * b_star2 * steps)


@pytest.mark.usefixtures("there")
def test_the_starts_of_periods():
    """A mean over all rounds of the points where periods start is one over the periods."""
    H, g = least_squares(4, 2)
    gamma, eta, x, total = 0.02, 3.0, np.zeros(2), 0.0
    for _ in range(10):
        total += np.sum((H.mean(axis=0) @ x - g.mean(axis=0)) ** 2)
        u = x
        for block in ((0, 1), (2, 3)):
            ends = []
            for i in block:
                y = u
                for _ in range(2):
                    y = y - gamma * (H[i] @ y - g[i])
                ends.append(y)
            u = np.mean(ends, axis=0)
        x = x + eta * (u - x)
    found = rc.verify("amplified.py:right", n=4, m=2, d=2, K=2, periods=10, gamma=gamma, eta=eta)
    assert found.left == pytest.approx(total / 10)


def test_operators_at_the_saddle_point():
    """The certified root of the mean of squares at the zero of the mean operator."""
    problem = rc.problems.MinMax.synthetic(n=3, d_x=2, d_y=2, curvature=1.0)
    M, c = problem.operator()
    zero = np.linalg.solve(M.mean(axis=0), c.mean(axis=0))
    wanted = np.sqrt(np.mean([np.sum((A @ zero - b) ** 2) for A, b in zip(M, c, strict=True)]))
    assert problem.constants()["minimiser_heterogeneity"].value == pytest.approx(wanted)


class TestLowerBounds:
    """Claims with >=, of one problem alone."""

    @pytest.mark.usefixtures("there")
    def test_another_problem_is_refused(self):
        """The claim is not about it."""
        with pytest.raises(rc.InputError, match=ALONE):
            rc.verify("lower.py:right", problem="quadratic")

    @pytest.mark.usefixtures("there")
    @pytest.mark.parametrize("command", [rc.falsify, rc.prove])
    def test_nothing_is_searched_or_proved_for_all(self, command):
        """These are about all problems."""
        with pytest.raises(rc.InputError, match=ALONE):
            command("lower.py:right")

    def test_the_instance_is_named(self):
        """By a lower bound, and by no other claim."""
        with pytest.raises(rc.InputError, match="a lower bound, with >=, is one on a problem of the file"):
            theorem("last gap >= R_0**2/T", method="gd", given="convex")
        with pytest.raises(rc.InputError, match="names none"):
            theorem("last gap <= R_0**2/T", method="gd", given="convex", instance="hard")


def test_what_is_measured_is_no_matter_of_linear_methods():
    """Whose expectations the exact engine would have to know."""

    class Measuring(FedAvgP):
        measures = ("length",)

    with pytest.raises(rc.InputError, match="say 'linear = False'"):
        Method("measuring", "measuring", Measuring())
