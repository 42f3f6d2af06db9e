"""What can be recorded of a run: values, gaps and distances, by all engines and directly from trajectories."""

import functools

import numpy as np
import pytest
from twins_flame import flame

import ratecheck as rc
from ratecheck.participation import Trace
from ratecheck.problems import Bilevel, Logistic, Quadratic

N, D, D_U, K = 5, 5, 3, 3
SHARED = Quadratic.synthetic(N, D, D, curvature=1.0, seed=2)
PERSONAL = Quadratic.synthetic(N, D, D_U, curvature=1.0, coupling=0.6, seed=2)
RANDOM = np.random.default_rng(5)
MATRIX = RANDOM.random((12, N)) < 0.5
MATRIX[4] = False  # a round without anybody
SIZES = {"gamma_u": 0.1, "gamma_v": 0.15, "eta_u": 0.9, "eta_v": 1.1}
RECORDS = ("f", "gap", "distance2")
BAND = 4.5  # standard errors; with fixed seeds a passing comparison stays passed

engines = pytest.mark.parametrize("engine", ["exact", "step", "leap"])
sampled = pytest.mark.parametrize("engine", ["step", "leap"])


def simulation(engine):
    """The function that runs this engine."""
    return rc.exact if engine == "exact" else functools.partial(rc.simulate, engine=engine)


def start_of(problem):
    """A starting point that is zero in no coordinate."""
    rng = np.random.default_rng(7)
    return {"x0": rng.standard_normal(problem.d_u), "v0": rng.standard_normal((problem.n, problem.d_v))}


def path_of(problem, matrix):
    """FedAvg-P's (u, v) before every round, from the problem's gradients."""
    start = start_of(problem)
    u, v = start["x0"], start["v0"].copy()
    for row in np.asarray(matrix, dtype=bool):
        yield u, v.copy()
        sent = []
        for i in np.flatnonzero(row):
            w, own = u, v.copy()
            for _ in range(K):
                by_u, by_v = (part[i] for part in problem.gradients(w, own))
                w, own[i] = w - SIZES["gamma_u"] * by_u, own[i] - SIZES["gamma_v"] * by_v
            sent.append(w)
            v[i] = (1 - SIZES["eta_v"]) * v[i] + SIZES["eta_v"] * own[i]
        if sent:
            u = (1 - SIZES["eta_u"]) * u + SIZES["eta_u"] * np.mean(sent, axis=0)


def value_of(problem, u, v):
    """The mean over clients of w'H_i w/2 - g_i'w."""
    points = [np.concatenate([u, v[i]]) for i in range(problem.n)]
    return np.mean([w @ H @ w / 2 - g @ w for w, H, g in zip(points, problem.H, problem.g, strict=True)])


def minimum_of(problem):
    """The minimiser (u, v) of least norm of f, by one linear system in (u, v_1, ..., v_n)."""
    d_u, d_v = problem.d_u, problem.d_v
    places = []
    for i in range(problem.n):
        place = np.zeros((problem.d, d_u + problem.n * d_v))
        place[:d_u, :d_u] = np.eye(d_u)
        place[d_u:, d_u + i * d_v : d_u + (i + 1) * d_v] = np.eye(d_v)
        places.append(place)
    matrix = sum(P.T @ H @ P for P, H in zip(places, problem.H, strict=True))
    slope = sum(P.T @ g for P, g in zip(places, problem.g, strict=True))
    point = np.linalg.pinv(matrix, rcond=1e-10) @ slope
    return point[:d_u], point[d_u:].reshape(problem.n, d_v)


def expected_of(problem, path):
    """The three records along a path."""
    best_u, best_v = minimum_of(problem)
    infimum = value_of(problem, best_u, best_v)
    values = np.array([value_of(problem, u, v) for u, v in path])
    away = [np.sum((u - best_u) ** 2) + np.sum((v - best_v) ** 2) / problem.n for u, v in path]
    return {"f": values, "gap": values - infimum, "distance2": np.array(away)}


def run(engine, problem, trace=None, **options):
    """Records of FedAvg-P."""
    given = {"K": K, "records": RECORDS, **start_of(problem), **SIZES, **options}
    return simulation(engine)("fedavg-p", problem, Trace(MATRIX) if trace is None else trace, **given).records


# --- Values on quadratics ---


@engines
@pytest.mark.parametrize("shared", [D, D_U, 0], ids=["shared only", "both", "personal only"])
def test_values_on_quadratics(shared, engine):
    """f, f - inf f and the squared distance to the minimiser, computed from the trajectory."""
    problem = Quadratic.synthetic(N, D, shared, curvature=1.0, coupling=0.6 if 0 < shared < D else 0.0, seed=2)
    found, expected = run(engine, problem), expected_of(problem, list(path_of(problem, MATRIX)))
    for name in RECORDS:
        wanted = np.broadcast_to(expected[name], found[name].shape)
        np.testing.assert_allclose(found[name], wanted, rtol=1e-10, atol=1e-13, err_msg=name)
    assert (expected["gap"] > 0).all()


@engines
def test_distance_to_the_minimiser_of_least_norm(engine):
    """Where f has a line of minimisers, the one of least norm counts, and the run keeps its part along the line."""
    direction = np.ones(D) / np.sqrt(D)
    across = np.eye(D) - np.outer(direction, direction)
    problem = Quadratic(across @ SHARED.H @ across, SHARED.g @ across, shared=D)
    found = run(engine, problem, Trace.full(N), T=400)
    along = (start_of(problem)["x0"] @ direction) ** 2
    last = {name: np.ravel(values)[-1] for name, values in found.items()}
    first = {name: np.ravel(values)[0] for name, values in found.items()}
    expected = expected_of(problem, list(path_of(problem, MATRIX[:1])))
    for name in RECORDS:
        assert first[name] == pytest.approx(expected[name][0], rel=1e-9)
    assert last["distance2"] > along * (1 - 1e-9)
    assert along > 0.1


@sampled
@pytest.mark.parametrize("problem", [SHARED, PERSONAL], ids=["shared only", "both"])
def test_with_noise(problem, engine):
    """The means over replicates agree with the exact expectations."""
    options, runs = {"T": 10, "sigma_u": 1.0, "sigma_v": 0.8 if problem.d_v else 0.0}, 2500
    exact = run("exact", problem, Trace.uniform(N, 2), **options)
    for name, values in run(engine, problem, Trace.uniform(N, 2), replicates=runs, seed=23, **options).items():
        error = values.std(axis=0, ddof=1) / np.sqrt(runs)
        # 12 comparisons of 10 dependent rounds: the band is exceeded by chance with probability below 0.2%.
        assert (np.abs(values.mean(axis=0) - exact[name]) <= BAND * error + 1e-12 * np.abs(exact[name])).all(), name


def test_expectations_after_one_noisy_step():
    """E f, E gap and E distance after one round of one step of everybody: the variance of u by hand."""
    sigma, full = 2.0, Trace(np.ones((2, N)))
    quiet, found = (run("exact", SHARED, full, K=1, sigma_u=s) for s in (0.0, sigma))
    variance = (SIZES["gamma_u"] * SIZES["eta_u"] * sigma) ** 2 / (N * D)  # of each coordinate of u
    curvature = np.trace(SHARED.H.mean(axis=0)) / 2
    for name, noise in (("f", variance * curvature), ("gap", variance * curvature), ("distance2", variance * D)):
        assert found[name][1] == pytest.approx(quiet[name][1] + noise, rel=1e-10)
        assert noise > 1e-4 * abs(quiet[name][1])


@engines
def test_at_personal_models(engine):
    """For FLAME, gap and distance2 are taken at the clients' theta_i: the gap may be negative."""
    problem, x0, sizes = SHARED, start_of(SHARED)["x0"], {"eta": 0.3, "rho": 2.0, "lambda_": 0.2}
    start = np.tile(x0, (N, 1))
    theta = flame(
        lambda i, x: problem.H[i] @ x - problem.g[i], MATRIX, start, start, np.zeros_like(start), K=4,
        alpha=np.full(N, 1 / N), **sizes,
    )["theta"][:-1]  # fmt: skip
    best, _ = minimum_of(problem)
    gaps = [
        np.mean([x @ H @ x / 2 - g @ x for x, H, g in zip(row, problem.H, problem.g, strict=True)]) for row in theta
    ]
    gaps = np.array(gaps) - value_of(problem, best, np.zeros((N, 0)))
    away = np.sum((theta - best) ** 2, axis=2).mean(axis=1)
    found = simulation(engine)("flame", problem, Trace(MATRIX), K=4, x0=x0, records=("gap", "distance2"), **sizes)
    np.testing.assert_allclose(np.ravel(found.records["gap"]), gaps, rtol=1e-10)
    np.testing.assert_allclose(np.ravel(found.records["distance2"]), away, rtol=1e-10)
    assert gaps[-1] < 0 < gaps[0]


@engines
@pytest.mark.parametrize(
    ("algorithm", "sizes"),
    [
        ("scaffold", {"gamma_u": 0.1, "eta_u": 0.9}),
        ("fedsum", {"eta_g": 0.7, "eta_l": 0.02}),
        ("mifa", {"eta_g": 0.7, "eta_l": 0.1}),
        ("fedadmm", {"eta_g": 0.7, "eta_l": 0.1, "rho": 1.3}),
    ],
)
def test_records_of_other_methods(algorithm, sizes, engine):
    """On a quadratic with the Hessian h I of every client, gap = h distance2/2 and ||grad f||^2 = h^2 distance2."""
    h = 0.8
    problem = Quadratic(np.tile(h * np.eye(D), (N, 1, 1)), SHARED.g, shared=D)
    options = {"K": 2, "x0": start_of(problem)["x0"], "records": ("G_u", *RECORDS), **sizes}
    found = simulation(engine)(algorithm, problem, Trace(MATRIX), **options).records
    infimum = -np.sum(problem.g.mean(axis=0) ** 2) / (2 * h)
    np.testing.assert_allclose(found["gap"], h * found["distance2"] / 2, rtol=1e-10)
    np.testing.assert_allclose(found["G_u"], h**2 * found["distance2"], rtol=1e-10)
    np.testing.assert_allclose(found["f"], found["gap"] + infimum, rtol=1e-10)
    assert np.ravel(found["distance2"])[-1] != pytest.approx(np.ravel(found["distance2"])[0], rel=0.01)


# --- Values elsewhere ---


@pytest.mark.parametrize("shared", [4, 2, 0])
def test_value_on_logistic(shared):
    """F is Logistic.value along the trajectory."""
    problem = Logistic.synthetic(n=N, N=6, d=4, shared=shared, rho=0.2, seed=3)
    found = run("step", problem, records=("f",), replicates=2)["f"]
    expected = [problem.value(u, v) for u, v in path_of(problem, MATRIX)]
    np.testing.assert_allclose(found, np.broadcast_to(expected, (2, len(MATRIX))), rtol=1e-12)


def test_value_on_logistic_far_out():
    """No overflow in the loss where margins are in the thousands."""
    problem = Logistic.synthetic(n=N, N=6, d=4, shared=4, rho=0.2, seed=3)
    x0 = np.full(4, 1e4)
    found = rc.simulate("fedavg", problem, Trace.full(N), T=1, K=1, gamma_u=0.1, eta_u=1.0, x0=x0, records=("f",))
    assert found.records["f"][0, 0] == pytest.approx(problem.value(x0, np.zeros((N, 0))), rel=1e-12)


def test_gap_of_a_bilevel_problem():
    """Phi(x0) - inf Phi, for the given weights and for those of the work done."""
    problem = Bilevel.synthetic(3, 2, 2, curvature=1.0, seed=4)
    sizes = dict.fromkeys(("eta_x", "eta_y", "eta_v", "gamma_x", "gamma_y", "gamma_v"), 0.1)
    names, x0, w = ("Phi_gap", "Phi_w_gap"), [3.0, -2.0], np.array([1, 2, 3]) / 6
    found = rc.exact("simfbo", problem, Trace([[1, 1, 1]]), K=[1, 2, 3], x0=x0, records=names, **sizes).records
    assert found["Phi_gap"][0] == pytest.approx(problem.value(x0) - problem.infimum(), rel=1e-10)
    assert found["Phi_w_gap"][0] == pytest.approx(problem.value(x0, w) - problem.infimum(w), rel=1e-10)


# --- What cannot be recorded ---

UNBOUNDED = Quadratic(np.tile(np.diag([1.0, -1.0]), (N, 1, 1)), np.ones((N, 2)), shared=2)
SLOPE = Quadratic(np.tile(np.diag([1.0, 0.0]), (N, 1, 1)), np.ones((N, 2)), shared=2)


@engines
@pytest.mark.parametrize("problem", [UNBOUNDED, SLOPE], ids=["indefinite", "linear in a direction"])
def test_unbounded_functions_have_no_gap(problem, engine):
    """Neither a gap nor a minimiser; f itself can be recorded."""
    with pytest.raises(rc.InputError, match="f is unbounded below"):
        run(engine, problem, records=("gap",))
    with pytest.raises(rc.InputError, match="f is unbounded below"):
        run(engine, problem, records=("distance2",))
    assert np.isfinite(run(engine, problem, records=("f",))["f"]).all()


@engines
def test_unbounded_bilevel_problems_have_no_gap(engine):
    """The message says that it is Phi; its gradient can be recorded."""
    problem = Bilevel(
        np.ones((2, 1, 1)), np.ones((2, 1, 1)), np.ones((2, 1)), -np.tile(np.eye(2), (2, 1, 1)), np.ones((2, 2))
    )
    sizes = dict.fromkeys(("eta_x", "eta_y", "eta_v", "gamma_x", "gamma_y", "gamma_v"), 0.1)
    with pytest.raises(rc.InputError, match="Phi is unbounded below"):
        simulation(engine)("simfbo", problem, Trace.full(2), T=2, K=1, records=("Phi_gap",), **sizes)
    simulation(engine)("simfbo", problem, Trace.full(2), T=2, K=1, records=("grad_Phi2",), **sizes)


@engines
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gep", "fedavg-p does not record 'gep', only G_u, G_v, B"),
        ("gep", "; did you mean 'gap'?"),
        ("distance", "did you mean 'distance2'?"),
        ("grad_L2", "fedavg-p does not record 'grad_L2'"),
        ("", "does not record ''"),
    ],
)
def test_unknown_records(name, message, engine):
    """One line, with the name that may have been meant."""
    with pytest.raises(rc.InputError) as caught:
        run(engine, SHARED, records=("f", name))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["gap", "distance2"])
def test_logistic_problems_have_no_gap(name):
    """Their minimum is not known in closed form."""
    with pytest.raises(rc.InputError, match=f"does not record {name!r}"):
        run("step", Logistic.synthetic(n=N, N=4, d=4), records=(name,))


@engines
def test_metric_needs_its_records(engine):
    """A run without the quantities of the method's theorems has no metric, and says which one is missing."""
    problem, given = PERSONAL, {"K": K, **start_of(PERSONAL), **SIZES}
    without = simulation(engine)("fedavg-p", problem, Trace(MATRIX), records=("G_u", "f"), **given)
    with pytest.raises(rc.InputError, match="the metric needs G_v"):
        _ = without.metric
    enough = simulation(engine)("fedavg-p", problem, Trace(MATRIX), records=("G_v", "G_u"), **given)
    default = simulation(engine)("fedavg-p", problem, Trace(MATRIX), **given)
    np.testing.assert_allclose(enough.metric, default.metric, rtol=1e-14)
    assert list(enough.records) == ["G_v", "G_u"]
    assert list(default.records) == ["G_u", "G_v", "B"]


@engines
def test_recording_changes_nothing(engine):
    """The same run, whatever is recorded and in which order."""
    options = {"sigma_u": 0.4} if engine != "exact" else {}
    one = run(engine, PERSONAL, records=("G_u", "f"), **options)
    two = run(engine, PERSONAL, records=("distance2", "f", "B", "G_u", "gap"), **options)
    for name in one:
        np.testing.assert_allclose(two[name], one[name], rtol=1e-12)


@pytest.mark.parametrize(
    "engine",
    [
        "exact",
        "step",
        "leap",
    ],
)
def test_nothing_recorded(engine):
    """No records are asked for, and none come."""
    assert run(engine, SHARED, records=()) == {}


# --- Divergence ---


@pytest.mark.parametrize(
    "engine",
    [
        "exact",
        "step",
        "leap",
    ],
)
def test_divergence_within_a_round_is_a_result(engine):
    """Local steps that overflow: no warning, no error, and the run says that it diverged."""
    trace, sizes = Trace.full(N), {"K": 1000, "gamma_u": 50.0, "eta_u": 1.0, "sigma": 1.0}
    found = simulation(engine)("fedavg", SHARED, trace, T=3, **sizes)
    assert np.all(found.diverged)
    assert np.isfinite(np.ravel(found.records["G_u"])[0])


@engines
def test_divergence_over_rounds_is_a_result(engine):
    """The same over many rounds, with every kind of record."""
    found = run(engine, PERSONAL, Trace.full(N), T=600, gamma_u=30.0, gamma_v=30.0, records=(*RECORDS, "G_u", "G_v"))
    for values in found.values():
        assert not np.isfinite(np.ravel(values)[-1])
        assert np.isfinite(np.ravel(values)[:5]).all()


@engines
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y0": np.zeros(D)}, "no start y0"),
        ({"x0": np.zeros(D + 1)}, "x0 has the shape (6,)"),
        ({"x0": [0, 0, np.inf, 0, 0]}, "x0[2] is inf"),
        ({"weights": np.ones(N)}, "fedavg-p does not weigh its local steps"),
        ({"K": [1] * (N - 1)}, "K has 4 entries"),
        ({"sigma_g": 0.1}, "no noise 'sigma_g'"),
        ({"sigma_u": -0.1}, 'breaks "sigma_u >= 0"'),
        ({"r": 1.0}, "no step size 'r'"),
        ({"T": 13}, "it has 12 rows"),
    ],
)
def test_unusable_input(options, message, engine):
    """One line that names the argument."""
    with pytest.raises(rc.InputError) as caught:
        run(engine, SHARED, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{"K": [[1], [1, 2], 1, 1, 1]}, {"alpha": [[1], [1, 2]]}])
def test_ragged_input(options):
    """Nested lists of unequal lengths are refused in one line, as other input is."""
    given = {"K": 1, "eta": 0.1, "rho": 1.0, "lambda_": 1.0, **options}
    with pytest.raises(rc.InputError):
        rc.simulate("flame", SHARED, Trace(MATRIX), **given)
