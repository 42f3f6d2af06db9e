"""SimFBO and ShroFBO on all engines, against a twin written from the paper's Algorithm 1."""

import functools

import numpy as np
import pytest
from twins_simfbo import reweighted, shrofbo, simfbo

import ratecheck as rc
from ratecheck.participation import Trace
from ratecheck.problems import Bilevel, Quadratic

TWINS = {"simfbo": simfbo, "shrofbo": shrofbo}
N = 5
RANDOM = np.random.default_rng(3)


def weighed(problem, p):
    """The same clients with other weights in the objective."""
    return Bilevel(problem.A, problem.B, problem.b, problem.Q, problem.q, p=p)


P = np.array([0.1, 0.3, 0.15, 0.25, 0.2])
PROBLEM = weighed(Bilevel.synthetic(N, 3, 2, curvature=1.0, seed=4), P)
D_X, D_Y = PROBLEM.d_x, PROBLEM.d_y
MATRIX = RANDOM.random((12, N)) < 0.5
MATRIX[[3, 8]] = False  # rounds without anybody
TAU = [3, 1, 2, 4, 2]
WEIGHTS = RANDOM.random((N, 4)) + 0.5
START = {"x0": RANDOM.standard_normal(D_X), "y0": RANDOM.standard_normal(D_Y), "v0": RANDOM.standard_normal(D_Y)}
SIZES = {"eta_x": 0.05, "eta_y": 0.06, "eta_v": 0.07, "gamma_x": 0.04, "gamma_y": 0.08, "gamma_v": 0.06}
# Local step sizes of 1e-9: a client's directions are, to nine digits, all those at the server's point.
STILL = {"eta_x": 1e-9, "eta_y": 1e-9, "eta_v": 1e-9}
ERRORS = ("grad_Phi2", "y_error2", "v_error2", "Phi_gap")
OF_W = ("grad_Phi_w2", "y_error_w2", "v_error_w2", "Phi_w_gap")
STEPS = ("step_x2", "step_y2", "step_v2")
RADIUS = 0.8
BAND = 4.5  # standard errors; with fixed seeds a passing comparison stays passed

methods = pytest.mark.parametrize("algorithm", list(TWINS))
engines = pytest.mark.parametrize("engine", ["exact", "step", "leap"])
sampled = pytest.mark.parametrize("engine", ["step", "leap"])


def oracle(problem):
    """The twin's oracle from the problem's data alone."""

    def directions(i, x, y, v):
        by_f = problem.Q[i] @ np.concatenate([x, y]) - problem.q[i]
        by_x = by_f[: problem.d_x] + problem.B[i].T @ v  # grad_xy g_i = -B_i'.
        return by_x, problem.A[i] @ y - problem.B[i] @ x - problem.b[i], problem.A[i] @ v - by_f[problem.d_x :]

    return directions


def twin(algorithm, matrix=MATRIX, *, problem=PROBLEM, tau=TAU, weights=WEIGHTS, **options):
    """The twin's trajectory of x, y and v."""
    return TWINS[algorithm](
        oracle(problem), matrix, START["x0"], START["y0"], START["v0"], tau=tau, a=weights, p=problem.p,
        **{**SIZES, **options},
    )  # fmt: skip


def measured(path, problem=PROBLEM, tau=TAU, weights=WEIGHTS):
    """What the engines record, from a trajectory of the twin and linear algebra of the problem."""
    found = {}
    for names, w in ((ERRORS, problem.p), (OF_W, reweighted(tau, weights, problem.p))):
        rows = [
            (
                np.sum(problem.hypergradient(x, w) ** 2),
                np.sum((y - problem.y_star(x, w)) ** 2),
                np.sum((v - problem.v_star(x, w)) ** 2),
                problem.value(x, w) - problem.infimum(w),
            )
            for x, y, v in zip(path["x"], path["y"], path["v"], strict=True)
        ]
        found |= dict(zip(names, np.transpose(rows)[:, :-1], strict=True))
    ask = oracle(problem)
    for place, name in enumerate(STEPS):
        found[name] = [
            np.sum(sum(problem.p[i] * ask(i, x, y, v)[place] for i in range(problem.n)) ** 2)
            for x, y, v in zip(path["x"][:-1], path["y"], path["v"], strict=False)
        ]
    return found


def run(algorithm, engine, trace=None, problem=PROBLEM, **options):
    """Records by name; of one replicate (T,) from the exact engine, otherwise (replicates, T)."""
    given = {"K": TAU, "weights": WEIGHTS, "records": ERRORS + OF_W + STEPS, **START, **SIZES, **options}
    trace = Trace(MATRIX) if trace is None else trace
    if engine == "exact":
        return rc.exact(algorithm, problem, trace, **given).records
    return rc.simulate(algorithm, problem, trace, engine=engine, **given).records


def same(found, expected, rtol=1e-10):
    """Assert that all records agree."""
    for name, values in expected.items():
        wanted = np.broadcast_to(values, found[name].shape)
        np.testing.assert_allclose(found[name], wanted, rtol=rtol, atol=1e-14, err_msg=name)


# --- Against the twin, without noise ---


@engines
@methods
def test_without_noise(algorithm, engine):
    """Unequal tau, weights a_i^(k) and p, rounds without anybody: every engine follows the paper to rounding."""
    same(run(algorithm, engine), measured(twin(algorithm)))


@engines
@methods
def test_defaults(algorithm, engine):
    """Unit weights, equal p and the same number of steps for everybody, which need not be given."""
    problem = Bilevel.synthetic(N, 3, 2, curvature=1.0, seed=4)
    plain = {"tau": [3] * N, "weights": np.ones((N, 3))}
    expected = measured(twin(algorithm, problem=problem, **plain), problem, **plain)
    same(run(algorithm, engine, problem=problem, K=3, weights=None), expected)


@sampled
@methods
def test_projection(algorithm, engine):
    """With the ball of radius r in the way of v, both Monte Carlo engines follow the twin."""
    path = twin(algorithm, r=RADIUS)
    sizes = np.linalg.norm(path["v"][1:], axis=1)
    assert (sizes <= RADIUS * (1 + 1e-12)).all()
    assert 2 <= np.isclose(sizes, RADIUS).sum() < len(sizes)
    assert np.abs(path["x"] - twin(algorithm)["x"]).max() > 1e-3
    same(run(algorithm, engine, r=RADIUS), measured(path))


@engines
def test_a_ball_that_is_never_left(engine):
    """A radius beyond all v changes nothing, and is no reason for the exact engine to refuse."""
    same(run("simfbo", engine, r=100.0), run("simfbo", engine))


def test_projection_is_not_affine():
    """The exact engine refuses a ball that is left, and one that might be."""
    with pytest.raises(rc.InputError, match="engine=step"):
        run("simfbo", "exact", r=RADIUS)
    with pytest.raises(rc.InputError, match="engine=step"):
        run("simfbo", "exact", r=100.0, sigma_f=0.1)
    with pytest.raises(rc.InputError, match="engine=step"):
        run("simfbo", "exact", Trace.uniform(N, 2), T=3, r=100.0)


@engines
@methods
def test_forms_of_weights(algorithm, engine):
    """(n,) is a row per client of equal entries, (n, 1) the same, (K,) the same row for every client."""
    of_clients, of_steps = WEIGHTS[:, 0], WEIGHTS[0, :3]
    full = run(algorithm, engine, K=3, weights=np.tile(of_clients[:, None], (1, 3)))
    same(run(algorithm, engine, K=3, weights=of_clients), full)
    same(run(algorithm, engine, K=3, weights=of_clients[:, None]), full)
    full = run(algorithm, engine, K=3, weights=np.tile(of_steps, (N, 1)))
    same(run(algorithm, engine, K=3, weights=of_steps), full)


@engines
def test_weights_beyond_a_clients_steps_are_not_used(engine):
    """Client i uses the first tau_i entries of its row."""
    other = np.where(np.arange(4) < np.array(TAU)[:, None], WEIGHTS, 77.0)
    same(run("shrofbo", engine, weights=other), run("shrofbo", engine))


@engines
@pytest.mark.parametrize("first_heavier", [True, False])
def test_order_of_weights(engine, first_heavier):
    """The variance after a round of two steps by hand: where the large weight comes first, the second step damps it.

    Without noise the order does not matter on quadratics, since the two local steps commute.
    """
    alone = Bilevel(*(part[:1] for part in (PROBLEM.A, PROBLEM.B, PROBLEM.b, PROBLEM.Q, PROBLEM.q)))
    a = (4.0, 0.25) if first_heavier else (0.25, 4.0)
    sizes = {"eta_x": 0.3, "eta_y": 0.2, "eta_v": 0.25}
    M, c = (part[0] for part in alone.operator())
    local = np.diag(np.repeat([0.3, 0.2, 0.25], [D_X, D_Y, D_Y]))
    outer = np.diag(np.repeat([SIZES["gamma_x"], SIZES["gamma_y"], SIZES["gamma_v"]], [D_X, D_Y, D_Y]))
    deviation = np.diag(np.repeat([20.0 / np.sqrt(D_X + D_Y), 10.0 / np.sqrt(D_Y)] * 2, [D_X, D_Y, D_Y, 0]))
    # q = a_0 (M z - c + e_0) + a_1 (M (z - a_0 E (M z - c + e_0)) - c + e_1), E the local step sizes.
    start = np.concatenate(list(START.values()))
    slope, step = M @ start - c, np.eye(alone.d) - a[1] * M @ local
    mean = start - outer @ (a[0] * step @ slope + a[1] * slope)
    P_, r = alone.hypergradient_map()
    rows = P_ @ np.eye(D_X, alone.d) @ outer
    square = np.sum((rows @ (a[0] * step) @ deviation) ** 2) + np.sum((rows * a[1] @ deviation) ** 2)
    expected = np.sum((P_ @ mean[:D_X] - r) ** 2) + square
    options = {"problem": alone, "K": 2, "weights": [a], "records": ("grad_Phi2",), "sigma_f": 20.0, "sigma_g": 10.0}
    if engine == "exact":
        found = run("simfbo", engine, Trace([[1], [1]]), **sizes, **options)["grad_Phi2"][1]
        assert found == pytest.approx(expected, rel=1e-10)
        return
    found = run("simfbo", engine, Trace([[1], [1]]), **sizes, **options, replicates=20000)["grad_Phi2"][:, 1]
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - expected) < BAND * error
    assert error < 0.02 * expected


@engines
def test_equal_work_makes_the_methods_the_same(engine):
    """With one ||a_i||_1 for all clients, ShroFBO's normalisation and rho cancel: identical trajectories."""
    weights = WEIGHTS[:, :3] / WEIGHTS[:, :3].sum(axis=1, keepdims=True)
    one, two = (run(name, engine, K=3, weights=weights) for name in TWINS)
    same(one, two, rtol=1e-9)
    three, four = (run(name, engine, K=3, weights=None) for name in TWINS)
    same(three, four, rtol=1e-9)
    assert np.abs(np.ravel(one["grad_Phi2"]) / np.ravel(three["grad_Phi2"]) - 1).max() > 0.01
    five, six = (run(name, engine) for name in TWINS)
    assert np.abs(np.ravel(five["grad_Phi2"]) / np.ravel(six["grad_Phi2"]) - 1).max() > 0.01


# --- With noise ---


@sampled
@pytest.mark.parametrize("trace", [Trace(MATRIX), Trace.uniform(N, 2)], ids=["given", "uniform"])
@methods
def test_with_noise(algorithm, trace, engine):
    """The mean over replicates of either Monte Carlo engine agrees with the exact expectation."""
    options, runs = {"T": len(MATRIX), "sigma_f": 0.6, "sigma_g": 0.5}, 2500
    exact = run(algorithm, "exact", trace, **options)
    for name, values in run(algorithm, engine, trace, seed=13, replicates=runs, **options).items():
        error = values.std(axis=0, ddof=1) / np.sqrt(runs)
        # 88 comparisons of 12 dependent rounds: the band is exceeded by chance with probability below 1%.
        assert (np.abs(values.mean(axis=0) - exact[name]) <= BAND * error + 1e-12 * np.abs(exact[name])).all(), name


@engines
def test_expectations_after_one_noisy_step(engine):
    """Means of the squared errors after one round of one step, the variances of x, y and v computed by hand."""
    sigma_f, sigma_g, full = 15.0, 12.0, Trace(np.ones((2, N)))
    once = {"tau": [1] * N, "weights": np.ones((N, 1))}
    quiet = measured(twin("simfbo", full.matrix, **once), **once)
    upper, lower = np.sum(P**2) * sigma_f**2 / (D_X + D_Y), np.sum(P**2) * sigma_g**2 / D_Y
    by_x, by_y, by_v = SIZES["gamma_x"] ** 2 * upper, SIZES["gamma_y"] ** 2 * lower, SIZES["gamma_v"] ** 2 * upper
    squares = {
        "grad_Phi2": by_x * np.sum(PROBLEM.hypergradient_map()[0] ** 2),
        "y_error2": by_y * D_Y + by_x * np.sum(PROBLEM.y_map()[0] ** 2),
        "v_error2": by_v * D_Y + by_x * np.sum(PROBLEM.v_map()[0] ** 2),
    }
    options = {"K": 1, "weights": None, "sigma_f": sigma_f, "sigma_g": sigma_g, "records": tuple(squares)}
    if engine == "exact":
        found = run("simfbo", engine, full, **options)
        for name, square in squares.items():
            assert found[name][1] == pytest.approx(quiet[name][1] + square, rel=1e-10)
        return
    found = run("simfbo", engine, full, replicates=20000, seed=3, **options)
    for name, square in squares.items():
        values = found[name][:, 1]
        error = values.std(ddof=1) / np.sqrt(len(values))
        assert abs(values.mean() - quiet[name][1] - square) < BAND * error
        assert square > 3 * error  # Without the noise the comparison would fail.


@sampled
def test_independent_of_threads_and_splits(engine):
    """A replicate depends on seed and its number alone."""
    options = {"sigma_f": 0.5, "sigma_g": 0.5, "seed": 5, "r": RADIUS, "trace": Trace.uniform(N, 2), "T": 8}
    one = run("shrofbo", engine, replicates=130, threads=1, **options)["grad_Phi2"]
    two = run("shrofbo", engine, replicates=130, threads=2, **options)["grad_Phi2"]
    few = run("shrofbo", engine, replicates=7, **options)["grad_Phi2"]
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one[:7], few)
    assert len(np.unique(one[:, -1])) == 130


# --- Which problem is solved ---


@methods
def test_limit(algorithm):
    """Unequal tau, full participation, local steps without drift: SimFBO solves the w-problem, ShroFBO the p-problem.

    The clients' Hessians differ, so that both levels are solved with other weights, not only with other linear terms.
    """
    options = {"weights": None, "records": ERRORS[:3] + OF_W[:3], **STILL, "gamma_x": 0.1, "gamma_y": 0.3}
    found = run(algorithm, "exact", Trace.full(N), T=4000, **options, gamma_v=0.3)
    limits = {name: values[-1] for name, values in found.items()}
    solved, missed = (OF_W, ERRORS) if algorithm == "simfbo" else (ERRORS, OF_W)
    for name in solved[:3]:
        assert limits[name] < 1e-14, name
    for name in missed[:3]:
        assert limits[name] > 1e-4, name
    # Where the other problem is stationary: the distance of the two, by linear algebra alone.
    w = reweighted(TAU, np.ones((N, 4)), P)
    (right, left), (other, offset) = (
        PROBLEM.hypergradient_map(q) for q in ((w, P) if algorithm == "simfbo" else (P, w))
    )
    x = np.linalg.solve(right, left)
    assert limits[missed[0]] == pytest.approx(np.sum((other @ x - offset) ** 2), rel=1e-4)


def test_limits_differ_and_agree_for_equal_tau():
    """The weights w are p where all clients do the same work, and grad Phi_w then is grad Phi."""
    np.testing.assert_allclose(reweighted([3] * N, np.ones((N, 3)), P), P)
    assert np.abs(reweighted(TAU, WEIGHTS, P) - P).max() > 0.05
    found = run("simfbo", "exact", K=3, weights=None)
    for name, mark in zip(ERRORS, OF_W, strict=True):
        np.testing.assert_allclose(found[name], found[mark], rtol=1e-9)


def test_drift_bias_falls_with_the_local_step_sizes():
    """With larger local steps ShroFBO misses the p-problem too: by a bias of the order of the step sizes squared."""
    records, limits = {"records": ("grad_Phi2",), "weights": None, "gamma_x": 0.1, "gamma_y": 0.3, "gamma_v": 0.3}, []
    for size in (0.08, 0.04, 0.02):
        local = {"eta_x": size, "eta_y": size, "eta_v": size}
        limits.append(run("shrofbo", "exact", Trace.full(N), T=4000, **{**records, **local})["grad_Phi2"][-1])
    assert limits[2] > 1e-8
    assert 3.0 < limits[0] / limits[1] < 5.0
    assert 3.0 < limits[1] / limits[2] < 5.0


# --- Unusable input ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": np.ones(3)}, "weights have the shape (3,)"),
        ({"weights": np.ones((N, 3))}, "weights have the shape (5, 3)"),
        ({"weights": np.ones((4, N))}, "weights have the shape (4, 5)"),
        ({"weights": 1.0}, "weights have the shape ()"),
        ({"weights": [1, 1, 1, -1, 1]}, "weights[3, 0]=-1"),
        ({"weights": np.where(np.arange(20).reshape(N, 4) == 8, 0.0, 1.0)}, "weights[2, 0]=0"),
        ({"weights": [1, 1, 1, 1, np.inf]}, "weights[4, 0]=inf"),
        ({"weights": "none"}, "weights"),
        ({"K": [1, 2, 3]}, "K has 3 entries"),
        ({"K": [1, 2, 3, 4.5, 1]}, "K[3]=4.5"),
        ({"K": 0}, "K=0"),
        ({"sigma": 0.1}, "no noise 'sigma'"),
        ({"sigma_u": 0.1}, "no noise 'sigma_u'"),
        ({"sigma_g": -0.1}, 'breaks "sigma_g >= 0"'),
        ({"r": 0.0}, 'r=0 breaks "r > 0"'),
        ({"r": -1.0}, 'r=-1 breaks "r > 0"'),
        ({"r": np.nan}, "r=nan"),
        ({"eta_z": 0.1}, "no step size 'eta_z'"),
        ({"gamma_y": 0.0}, 'gamma_y=0 breaks "gamma_y > 0"'),
        ({"y0": np.zeros(D_Y + 1)}, "y0 has the shape (3,)"),
        ({"v0": np.zeros((N, D_Y))}, "v0 has the shape (5, 2)"),
        ({"x0": [0, np.nan, 0]}, "x0[1] is nan"),
        ({"problem": Quadratic.synthetic(N, 3, 3)}, "not for a quadratic one"),
        ({"trace": Trace.full(N + 1), "T": 3}, "is about 6 clients"),
    ],
)
@engines
def test_unusable_input(engine, options, message):
    """One line that names the argument."""
    with pytest.raises(rc.InputError) as caught:
        run("simfbo", engine, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@engines
def test_other_methods_refuse_a_bilevel_problem(engine):
    """FedAvg has one level."""
    sizes = {"K": 1, "gamma_u": 0.1, "eta_u": 1.0}
    simulate = rc.exact if engine == "exact" else functools.partial(rc.simulate, engine=engine)
    with pytest.raises(rc.InputError, match="not for a bilevel one"):
        simulate("fedavg", PROBLEM, Trace(MATRIX), **sizes)


@engines
def test_no_ball(engine):
    """An infinite radius is no projection."""
    same(run("simfbo", engine, r=np.inf), run("simfbo", engine))


@engines
def test_unused_weights_may_be_anything(engine):
    """A table of weights of unequal lengths, padded with NaN."""
    padded = np.where(np.arange(4) < np.array(TAU)[:, None], WEIGHTS, np.nan)
    same(run("simfbo", engine, weights=padded), run("simfbo", engine))


def test_an_empty_round_does_not_project():
    """Without participants the server stays as it is, even outside the ball; on step and leap."""
    start = {"v0": np.full(PROBLEM.d_y, 5.0)}
    sizes = {f"{side}_{block}": 0.01 for side in ("eta", "gamma") for block in "xyv"}
    for engine in ("step", "leap"):
        run = rc.simulate(
            "simfbo", PROBLEM, Trace(np.zeros((3, PROBLEM.n))), K=1, r=1.0, engine=engine, records=("v_error2",),
            **start, **sizes,
        )  # fmt: skip
        assert (run.records["v_error2"] == run.records["v_error2"][0, 0]).all()
