"""Phase retrieval: derivatives by differences, constants against searches, and verdicts, files and counterexamples."""

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import minimize

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.cli import group
from ratecheck.errors import InputError
from ratecheck.falsification.shrink import shrink, violation
from ratecheck.problems import build
from ratecheck.problems.constants import Certificate
from ratecheck.problems.phase_retrieval import PhaseRetrieval
from ratecheck.verification.instance import Instance, read
from ratecheck.views.checks.counterexample import WrittenCounterexample

FILE = """
from bounds.theorem import theorem

common = {
    "title": "Gradient descent",
    "algorithm": "fedavg",
    "over": "mean_of_rounds",
    "settings": {"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
}
everybody = ["full_participation", "no_personal"]
any_step = theorem(assumptions=everybody, left="G_u", right="2*F_0/(gamma_u*T)", **common)
smooth = theorem(
    assumptions=["smoothness", *everybody], left="G_u", right="2*F_0/(gamma_u*T)", conditions=["gamma_u <= 1/L"],
    **common,
)
falls = theorem(assumptions=everybody, left="gap", right="F_0", vocabulary="textbook", **common)
"""
# Consistent measurements, some with errors, and one client with one variable.
KINDS = {
    "consistent": {"n": 3, "N": 8, "d": 2, "seed": 1},
    "errors": {"n": 2, "N": 10, "d": 3, "error": 0.3, "seed": 2},
    "line": {"n": 1, "N": 2, "d": 1, "seed": 3},
}


@pytest.fixture(params=KINDS)
def problem(request):
    """One of each kind."""
    return PhaseRetrieval.random(**KINDS[request.param])


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The statements, as ``mine.py``."""
    (tmp_path / "mine.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)


def run(*words):
    """A command: its exit code, and what it prints as JSON, or its error."""
    result = CliRunner().invoke(group, [*words, "--json"], standalone_mode=False)
    return result.exception or (result.return_value, json.loads(result.stdout))


def twin(problem, i, x):
    """F_i at x (d,) as it is defined, number by number; in rationals where x is."""
    total = 0 * x[0]
    for row, s, b in zip(problem.A[i], problem.s[i], problem.b[i], strict=True):
        t = sum(type(x[0])(a) * each for a, each in zip(row, x, strict=True)) + type(x[0])(s)
        total += (t * t - type(x[0])(b) ** 2) ** 2
    return total / (4 * problem.N)


def whole(problem, x):
    """F at x (d,), by the twin."""
    return sum(twin(problem, i, x) for i in range(problem.n)) / problem.n


def slopes(f, x, h=1e-5):
    """Central differences of f at x (d,), the last axis being variables."""
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))], axis=-1)


def gradient(problem, i, x):
    """The gradient of f_i at x (d,), as the oracle answers."""
    return problem.oracle("gradient", np.zeros(problem.d), 0.0).gradient(i, x[:, None])[:, 0]


def points(problem, reach=2.0, count=200):
    """Points (count, d) around 0."""
    return reach * np.random.default_rng(0).standard_normal((count, problem.d))


def test_values_and_gradients(problem):
    """As defined, and as differences of the values; Hessians as differences of the gradients."""
    for x in points(problem, count=5):
        for i in range(problem.n):
            assert problem.client_values(i, x[:, None])[0] == pytest.approx(twin(problem, i, x), rel=1e-12)
            by_values = slopes(lambda y, i=i: twin(problem, i, y), x)
            np.testing.assert_allclose(gradient(problem, i, x), by_values, rtol=1e-6, atol=1e-6)
            by_gradients = slopes(lambda y, i=i: gradient(problem, i, y), x)
            np.testing.assert_allclose(problem.hessian(i, x), by_gradients, rtol=1e-6, atol=1e-6)
        none = np.zeros((problem.n, 0))
        assert problem.value(x, none) == pytest.approx(whole(problem, x), rel=1e-12)
        rows = [gradient(problem, i, x) for i in range(problem.n)]
        np.testing.assert_array_equal(problem.gradients(x, none)[0], rows)


def test_all_replicates_at_once(problem):
    """Points (d, k) give what each gives alone."""
    x = points(problem, count=7).T
    many = problem.client_gradient(0, x)
    for k in range(7):
        np.testing.assert_allclose(many[:, k], gradient(problem, 0, x[:, k]), rtol=1e-12, atol=1e-14)


def test_the_gap_against_a_search(problem):
    """No point found is lower than F_0 says; it is exact where a point with f = 0 is known, in rationals."""
    F_0 = problem.constants()["F_0"]
    zero = [Fraction(0)] * problem.d
    start = whole(problem, zero)
    # The float that is certified is not below the value, and next to it.
    assert start <= Fraction(F_0.value) <= start * (1 + Fraction(1, 10**12))
    found = [minimize(lambda x: whole(problem, x), x0).fun for x0 in points(problem, count=12)]
    assert float(start) - min(found) <= F_0.value
    if problem.signal is None:
        assert F_0.certificate is Certificate.UPPER_BOUND
        assert problem.lowest is None
        assert not problem.minimum_known
    else:
        assert F_0.certificate is Certificate.EXACT
        assert whole(problem, [Fraction(each) for each in problem.signal]) == problem.lowest == 0


def test_large_data_are_bounded_in_floats():
    """Where rationals would take long F_0 is rounded up, by little."""
    problem = PhaseRetrieval.random(5, 300, 3, error=0.1)
    start = whole(problem, [Fraction(0)] * 3)
    assert start <= Fraction(problem.constants()["F_0"].value) <= start * (1 + Fraction(1, 10**10))


def test_gradients_at_the_start(problem):
    """B_0 is not below the sum of the squares in rationals, at 0 and elsewhere, and hardly above."""
    for x in (np.zeros(problem.d), points(problem, count=1)[0]):
        exact = Fraction(0)
        point = [Fraction(each) for each in x]
        for i in range(problem.n):
            total = [Fraction(0)] * problem.d
            for row, s, b in zip(problem.A[i], problem.s[i], problem.b[i], strict=True):
                t = sum((Fraction(a) * each for a, each in zip(row, point, strict=True)), Fraction(s))
                total = [old + (t**2 - Fraction(b) ** 2) * t * Fraction(a) for old, a in zip(total, row, strict=True)]
            exact += sum((each / problem.N) ** 2 for each in total)
        found = Fraction(problem.constants(x)["B_0"].value)
        assert exact <= found <= exact * (1 + Fraction(1, 10**9))


def test_smoothness_on_a_ball_against_a_search(problem):
    """No Hessian and no difference of gradients in the ball exceeds it; on a line it is attained at an end."""
    rng = np.random.default_rng(1)
    for radius in (0.1, 1.0, 5.0):
        centre = rng.standard_normal(problem.d)
        L = problem.smoothness_on_ball(radius, centre).value
        away = rng.standard_normal((300, problem.d))
        away *= radius / np.linalg.norm(away, axis=1, keepdims=True)
        # Some on the sphere, where second derivatives are largest, and others inside.
        away[100:] *= rng.random((200, 1))
        inside = centre + away
        most = 0.0
        for i in range(problem.n):
            H = [slopes(lambda y, i=i: gradient(problem, i, y), x) for x in inside]
            most = max(most, np.abs(np.linalg.eigvalsh(H)).max())
            for x, y in pairwise(inside):
                rise = np.linalg.norm(gradient(problem, i, x) - gradient(problem, i, y))
                # What the gradients round.
                assert rise <= L * np.linalg.norm(x - y) * (1 + 1e-9) + 1e-13 * L * (radius + np.linalg.norm(centre))
        assert 0.2 * L <= most <= L * (1 + 1e-6)


def test_smoothness_on_a_ball_is_attained():
    """Of (x^2 - 1)^2/4 it is 3 r^2 - 1 in the ball of radius r, but not below 1."""
    problem = PhaseRetrieval([[[1.0]]], [[1.0]])
    for radius, L in ((0.0, 1.0), (0.5, 1.0), (1.0, 2.0), (3.0, 26.0)):
        assert problem.smoothness_on_ball(radius).value == pytest.approx(L, rel=1e-12)
    with pytest.raises(InputError, match='radius=-1 breaks "radius >= 0"'):
        problem.smoothness_on_ball(-1.0)


def test_curvature_against_a_search(problem):
    """No eigenvalue is below the least curvature, which a stationary start attains."""
    for i in range(problem.n):
        H = [slopes(lambda y, i=i: gradient(problem, i, y), x) for x in points(problem, 0.7, 300)]
        assert np.linalg.eigvalsh(H).min() >= problem.least_curvature - 1e-6
    flat = PhaseRetrieval(problem.A, problem.b)
    lowest = min(np.linalg.eigvalsh(flat.hessian(i, np.zeros(flat.d))).min() for i in range(flat.n))
    assert flat.least_curvature == pytest.approx(lowest, rel=1e-12)
    # A client with that curvature is not convex.
    assert flat.constants()["convexity"].certificate is Certificate.ABSENT


def test_what_does_not_exist_grows(problem):
    """No L, no bound of the gradients; no dissimilarity where clients differ: each grows as the degree says."""
    found, e = problem.constants(), np.eye(problem.d)[0]
    assert found["L"].missing.startswith("L does not exist: f_i is a polynomial of degree 4")
    assert problem.of_gradients("gradient_bound").certificate is Certificate.ABSENT
    sizes = [np.abs(np.linalg.eigvalsh(problem.hessian(0, r * e))).max() for r in (1e3, 1e4)]
    assert sizes[1] / sizes[0] == pytest.approx(100, rel=0.05)
    if problem.n == 1:
        assert found["b"].value == 0.0
        return
    assert found["b"].missing == "b does not exist: gradients of clients grow apart like x^3 along coordinate 0"
    apart = [np.ptp([gradient(problem, i, r * e)[0] for i in range(problem.n)]) for r in (1e5, 1e6)]
    assert apart[1] / apart[0] == pytest.approx(1000, rel=0.05)


def test_degenerate_clients():
    """Equal ones have b = 0, constant ones L = 0, and sums of fourth powers are convex; the rest is not known."""
    A, b = np.array([[1.0, 2.0]]), np.array([1.0])
    equal = PhaseRetrieval([A, A], [b, b]).constants()
    assert (equal["b"].value, equal["b"].certificate) == (0.0, Certificate.EXACT)
    constant = PhaseRetrieval([0 * A], [b])
    assert (constant.constants()["L"].value, constant.of_gradients("gradient_bound").value) == (0.0, 0.0)
    powers = PhaseRetrieval([A], [0 * b], [b])
    assert powers.constants()["convexity"].value == 0.0
    lowest = [np.linalg.eigvalsh(powers.hessian(0, x))[0] for x in points(powers)]
    assert min(lowest) > -1e-9
    # The fourth powers agree, so that gradients grow apart by x alone.
    other = PhaseRetrieval([A, A], [b, 2 * b]).constants()["b"]
    assert other.missing == "b is not certified: no proof was found of a bound of the gradients' dissimilarity"


def test_the_minimiser():
    """At the signal every f_i is 0; the distance to it is that of the start, rounded up."""
    problem = PhaseRetrieval.random(**KINDS["consistent"])
    found = problem.constants()
    exact = sum(Fraction(each) ** 2 for each in problem.signal)
    assert exact <= Fraction(found["distance2_0"].value) <= exact * (1 + Fraction(1, 10**13))
    assert found["minimiser_heterogeneity"].value == problem.of_gradients("interpolation").value == 0.0
    assert all(not gradient(problem, i, problem.signal).any() for i in range(problem.n))
    np.testing.assert_array_equal(problem.centre()[0], problem.signal)
    errors = PhaseRetrieval.random(**KINDS["errors"])
    assert errors.of_gradients("interpolation") is None
    assert errors.constants()["distance2_0"].standing == "is not certified"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], [1.0]), "A has the shape (1, 1), needed is (n, N, d) with at least one of each"),
        (([[[1.0]]], [1.0]), "b: shape (1,); needed (1, 1)"),
        (([[[1.0]]], [[1.0]], [[1.0, 2.0]]), "s: shape (1, 2); needed (1, 1)"),
        (([[[np.nan]]], [[1.0]]), "A[0, 0, 0] is nan; needed finite values of size at most 1e+20"),
        (([[[1.0]]], [[1e21]]), "b[0, 0] is 1e+21; needed finite values of size at most 1e+20"),
        (
            ([[[1.0], [1.0]]], [[1.0, 2.0]], None, [1.0]),
            "signal: measurement 1, client 0: the square is off by -3; needed is exactly (a_ij'x + s_ij)^2 = b_ij^2",
        ),
    ],
)
def test_what_is_refused(arguments, message):
    """In one line with the value and the condition."""
    with pytest.raises(InputError) as caught:
        PhaseRetrieval(*arguments)
    assert str(caught.value) == message


def test_it_is_written_and_read(problem, tmp_path):
    """As JSON data with all constants the same, and as an .npz file."""
    again = build.read(json.loads(json.dumps(build.fields(problem))))
    assert build.fields(again) == build.fields(problem)
    assert repr(again.constants()) == repr(problem.constants())
    np.savez(tmp_path / "data.npz", A=problem.A, b=problem.b, s=problem.s)
    name = f"phase-retrieval:{tmp_path / 'data.npz'}"
    stored = build.build(name, {})
    np.testing.assert_array_equal(stored.A, problem.A)
    np.testing.assert_array_equal(stored.s, problem.s)
    assert (build.features(name, {}), build.own_clients(name, {})) == (problem.d, True)


def test_simpler_neighbours():
    """Without a variable it is the problem where that is 0; without a client, that of the others; the signal may go."""
    problem = PhaseRetrieval.random(**KINDS["consistent"])
    less, fewer = problem.without_variable(0), problem.without_client(1)
    assert twin(less, 2, np.array([0.7])) == twin(problem, 2, np.array([0.0, 0.7]))
    assert less.signal is None
    assert fewer.n == 2
    np.testing.assert_array_equal(fewer.A, problem.A[[0, 2]])
    np.testing.assert_array_equal(fewer.signal, problem.signal)
    assert problem.with_arrays({"b": 2 * problem.b}).signal is None
    axis = PhaseRetrieval([[[1.0, 2.0]]], [[2.0]], None, [0.0, 1.0])
    np.testing.assert_array_equal(axis.without_variable(0).signal, [1.0])
    assert axis.without_variable(1).signal is None
    with pytest.raises(InputError, match="no variable to leave out"):
        axis.without_variable(1).without_variable(0)


def descended(problem, gamma, T):
    """The models x^0 ... x^{T-1} of gradient descent from 0, in plain NumPy."""
    x, models = np.zeros(problem.d), []
    for _ in range(T):
        models.append(x)
        t = problem.A @ x + problem.s
        x = x - gamma * np.einsum("ij,ijd->d", (t**2 - problem.b**2) * t, problem.A) / (problem.n * problem.N)
    return models


@pytest.mark.usefixtures("file")
def test_verdicts_from_the_command_line():
    """By the step engine: right with short steps, wrong with long ones, not applicable where L is needed."""
    words = ("--problem", "phase-retrieval", "n=3", "N=8", "d=2", "seed=1")
    code, found = run("verify", "mine.py:any_step", *words, "T=20", "gamma_u=0.05")
    assert (code, found["verdict"], found["engine"]) == (0, "HOLDS", "step")
    assert found["problem"] == "phase-retrieval: n=3, 2 shared and 0 personal variables, N=8 d=2 seed=1"
    problem = PhaseRetrieval.random(**KINDS["consistent"])
    models = descended(problem, 0.05, 20)
    squares = [np.sum(slopes(lambda x: whole(problem, x), x) ** 2) for x in models]
    assert found["claims"][0]["left"] == pytest.approx(np.mean(squares), rel=1e-6)
    code, found = run("verify", "mine.py:any_step", *words, "T=3", "gamma_u=3")
    assert (code, found["verdict"]) == (1, "VIOLATED")
    code, found = run("verify", "mine.py:smooth", *words, "T=20")
    assert (code, found["verdict"]) == (3, "NOT_APPLICABLE")
    error = run("verify", "mine.py:any_step", "--problem", "phase-retrieval", "rows=3", "gamma_u=1", "T=2")
    assert isinstance(error, InputError)
    assert "rows" in str(error)


@pytest.mark.usefixtures("file")
def test_gaps_are_measured():
    """From the infimum 0 where the measurements are consistent; refused in words where they are not."""
    words = ("verify", "mine.py:falls", "--problem", "phase-retrieval", "n=3", "N=8", "d=2", "seed=1", "T=20")
    code, found = run(*words, "gamma_u=0.05")
    assert (code, found["verdict"]) == (0, "HOLDS")
    problem = PhaseRetrieval.random(**KINDS["consistent"])
    values = [whole(problem, x) for x in descended(problem, 0.05, 20)]
    assert found["claims"][0]["left"] == pytest.approx(np.mean(values), rel=1e-6)
    assert "measured where the minimum is known" in str(run(*words, "error=0.1", "gamma_u=0.05"))


def test_a_counterexample_is_shrunk_and_printed(tmp_path):
    """Of the false statement that any step size descends: one client with one variable, and read from its file."""
    statement = theorem(
        "Gradient descent", algorithm="fedavg", assumptions=["full_participation", "no_personal"], left="G_u",
        over="mean_of_rounds", right="2*F_0/(gamma_u*T)", settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    )  # fmt: skip
    given = {"m": 2.0, "K": 1.0, "T": 3.0, "sigma_u": 0.0, "gamma_u": 3.0, "eta_u": 1.0}
    found = Instance(statement, PhaseRetrieval.random(2, 3, 2, seed=1), None, given)
    small = shrink(found)
    problem = small.instance.problem
    assert isinstance(problem, PhaseRetrieval)
    assert (problem.n, problem.d) == (1, 1)
    text = WrittenCounterexample(small.instance, small.verdict).text
    assert text.startswith("one client, f = (2x + 1)^4/12, no noise, K = T = 1, gamma_u = 1, eta_u = 1: left ~ ")
    # By hand: f(0) = 1/12 and f'(0) = 2/3.
    assert text.endswith("left ~ 0.444444 > right ~ 0.166667")
    assert "|" not in text
    path = tmp_path / "found.json"
    small.instance.save(path)
    again = read(json.loads(path.read_text()), statement=statement)
    assert violation(again).outcome.value == "VIOLATED"
    assert rc.verify(instance=again).outcome.value == "VIOLATED"


def test_the_sentence():
    """Equal measurements together, zero rows left out, numbers as they are stored."""
    problem = PhaseRetrieval(
        [[[1.0, 0.0], [1.0, 0.0]], [[0.5, -1.0], [0.0, 0.0]]], [[1.0, -1.0], [0.0, 2.0]], [[0.0, 0.0], [2.0, 0.0]]
    )
    given = {"m": 2.0, "K": 1.0, "T": 1.0, "sigma_u": 0.0, "gamma_u": 9.0, "eta_u": 1.0}
    statement = theorem(
        "Gradient descent", algorithm="fedavg", assumptions=["full_participation", "no_personal"], left="G_u",
        over="mean_of_rounds", right="0.001*F_0", settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    )  # fmt: skip
    instance = Instance(statement, problem, None, given)
    written = WrittenCounterexample(instance, violation(instance))
    assert written.text.startswith("two clients, f_1 = (x_1^2 - 1)^2/4, f_2 = (x_1/2 - x_2 + 2)^4/8, no noise, ")
    assert r"$f_{1} = \frac{(x_{1}^2 - 1)^2}{4}$, $f_{2} = \frac{(\frac{x_{1}}{2} - x_{2} + 2)^4}{8}$" in written.latex
