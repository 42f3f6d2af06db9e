"""MIFA, FedVARP, FedADMM and pFedMe on all engines, against twins written apart from the engines."""

import functools

import numpy as np
import pytest
from scipy.optimize import root
from twins_baselines import fedadmm, fedvarp, mifa, pfedme

import ratecheck as rc
from ratecheck.participation import Trace
from ratecheck.problems import Logistic, Quadratic

N, D = 5, 4
PROBLEM = Quadratic.synthetic(N, D, D, curvature=1.0, seed=2)
RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.random((14, N)) < 0.5
MATRIX[[0, 6]] = False  # rounds without anybody
START = RANDOM.standard_normal(D)
K = 3
SIZES = {
    "mifa": {"eta_g": 0.7, "eta_l": 0.1},
    "fedvarp": {"eta_g": 0.7, "eta_l": 0.1},
    "fedadmm": {"eta_g": 0.7, "eta_l": 0.1, "rho": 1.3},
    "pfedme": {"eta": 0.2, "beta": 0.8, "lambda_": 1.7},
}
RECORDS = {"pfedme": ("grad_F2", "spread_F2")}
BAND = 4.5  # standard errors; with fixed seeds a passing comparison stays passed

methods = pytest.mark.parametrize("algorithm", list(SIZES))
noisy = pytest.mark.parametrize("algorithm", ["mifa", "fedvarp", "fedadmm"])
engines = pytest.mark.parametrize("engine", ["exact", "step", "leap"])
sampled = pytest.mark.parametrize("engine", ["step", "leap"])


def gradient(i, x, problem=PROBLEM):
    """The gradient of f_i."""
    return problem.H[i] @ x - problem.g[i]


def proximal(i, w, lambda_=SIZES["pfedme"]["lambda_"]):
    """The minimiser of f_i + lambda/2 ||. - w||^2."""
    return np.linalg.solve(PROBLEM.H[i] + lambda_ * np.eye(D), PROBLEM.g[i] + lambda_ * w)


def twin(algorithm, matrix, gradient=gradient, x0=START, **options):
    """The server's model before every round."""
    sizes = {**SIZES[algorithm], **options}
    if algorithm == "pfedme":
        exact = functools.partial(proximal, lambda_=sizes["lambda_"])
        return pfedme(gradient, matrix, x0, R=K, exact=exact, **sizes)["w"][:-1]
    if algorithm == "fedadmm":
        return fedadmm(gradient, matrix, x0, E=K, eta=sizes.pop("eta_g"), **sizes)["theta"][:-1]
    return {"mifa": mifa, "fedvarp": fedvarp}[algorithm](gradient, matrix, x0, K=K, **sizes)["x"][:-1]


def measured(algorithm, path, **options):
    """What the engines record along these models."""
    if algorithm == "pfedme":
        lambda_ = {**SIZES[algorithm], **options}["lambda_"]
        slopes = np.array([[lambda_ * (w - proximal(i, w, lambda_)) for i in range(N)] for w in path])
        means = slopes.mean(axis=1)
        return {"grad_F2": np.sum(means**2, axis=1), "spread_F2": np.sum(slopes**2, axis=2).mean(axis=1)}
    slopes = np.array([[gradient(i, x) for i in range(N)] for x in path])
    return {"G_u": np.sum(slopes.mean(axis=1) ** 2, axis=1), "B": np.sum(slopes**2, axis=(1, 2))}


def run(algorithm, engine, trace=None, problem=PROBLEM, **options):
    """Records by name; of one replicate (T,) from the exact engine, otherwise (replicates, T)."""
    given = {"K": K, "x0": START, **SIZES.get(algorithm, {}), **options}
    trace = Trace(MATRIX) if trace is None else trace
    if engine == "exact":
        return rc.exact(algorithm, problem, trace, **given).records
    return rc.simulate(algorithm, problem, trace, engine=engine, **given).records


@pytest.mark.every(2)
@engines
@methods
def test_without_noise(algorithm, engine):
    """Every engine follows the twin to rounding, rounds without anybody included."""
    found = run(algorithm, engine)
    for name, values in measured(algorithm, twin(algorithm, MATRIX)).items():
        np.testing.assert_allclose(found[name], np.broadcast_to(values, found[name].shape), rtol=1e-10, err_msg=name)


@noisy
def test_logistic(algorithm):
    """The step engine follows the twin on losses that are not quadratic."""
    problem = Logistic.synthetic(n=N, N=6, d=D, shared=D, rho=0.1, seed=5)
    nothing = np.zeros((N, 0))
    path = twin(algorithm, MATRIX, lambda i, x: problem.gradients(x, nothing)[0][i], eta_l=0.5)
    expected = [np.sum(problem.gradients(x, nothing)[0].mean(axis=0) ** 2) for x in path]
    found = run(algorithm, "step", problem=problem, eta_l=0.5)["G_u"]
    np.testing.assert_allclose(found[0], expected, rtol=1e-10)


def test_pfedme_on_logistic_losses():
    """The same for pFedMe, whose proximal maps Newton's method computes."""
    problem, none, lambda_ = Logistic.synthetic(n=N, N=6, d=D, shared=D, rho=0.1, seed=5), np.zeros((N, 0)), 1.7

    def slope(i, x):
        return problem.gradients(x, none)[0][i]

    def exact(i, w):
        found = root(lambda theta: slope(i, theta) + lambda_ * (theta - w), w, tol=1e-14)
        assert np.abs(found.fun).max() < 1e-12
        return found.x

    path = pfedme(slope, MATRIX, START, R=K, exact=exact, **SIZES["pfedme"])["w"][:-1]
    slopes = np.array([[lambda_ * (w - exact(i, w)) for i in range(N)] for w in path])
    found = run("pfedme", "step", problem=problem)
    np.testing.assert_allclose(found["grad_F2"][0], np.sum(slopes.mean(axis=1) ** 2, axis=1), rtol=1e-9)
    np.testing.assert_allclose(found["spread_F2"][0], np.sum(slopes**2, axis=2).mean(axis=1), rtol=1e-9)


@methods
def test_sampling_without_noise(algorithm):
    """Expectations over uniform subsets: the average of the twin over all sequences of participants."""
    subsets = [np.isin(np.arange(N), pair) for pair in np.transpose(np.triu_indices(N, 1))]
    plans = [[first, second, first] for first in subsets for second in subsets]
    runs = [measured(algorithm, twin(algorithm, plan)) for plan in plans]
    found = run(algorithm, "exact", Trace.uniform(N, 2), T=3)
    for name in runs[0]:
        np.testing.assert_allclose(found[name], np.mean([each[name] for each in runs], axis=0), rtol=1e-10)


@pytest.mark.every(2)
@sampled
@pytest.mark.parametrize("trace", [Trace(MATRIX), Trace.uniform(N, 2)], ids=["given", "uniform"])
@noisy
def test_with_noise(algorithm, trace, engine):
    """The mean over replicates of either Monte Carlo engine agrees with the exact expectation."""
    options, runs = {"T": len(MATRIX), "sigma": 3.0}, 2500
    exact = run(algorithm, "exact", trace, **options)["G_u"]
    found = run(algorithm, engine, trace, seed=17, replicates=runs, **options)["G_u"]
    error = found.std(axis=0, ddof=1) / np.sqrt(runs)
    # 12 comparisons of 14 dependent rounds: the band is exceeded by chance with probability below 0.2%.
    assert (np.abs(found.mean(axis=0) - exact) <= BAND * error + 1e-12 * exact).all()
    quiet = run(algorithm, "exact", trace, T=len(MATRIX))["G_u"]
    assert exact[-1] - quiet[-1] > 2 * BAND * error[-1]  # Noise of this size is seen.


@noisy
def test_expectation_after_one_noisy_round(algorithm):
    """E||grad f||^2 after one round of one step of everybody: the variance is eta_g^2 eta_l^2 sigma^2/(n d) by hand."""
    sigma, scale = 5.0, {"eta_g": 0.7, "eta_l": 0.1}
    # FedADMM's message has the step and the step of the dual, eta_l sigma each.
    factor = 0.7 * 0.1 * (2.0 if algorithm == "fedadmm" else 1.0)
    options = {**SIZES[algorithm], **scale, "K": 1, "records": ("G_u",)}
    full = Trace(np.ones((2, N)))
    quiet, found = (run(algorithm, "exact", full, sigma=s, **options)["G_u"][1] for s in (0.0, sigma))
    noise = factor**2 * sigma**2 / (N * D) * np.sum(PROBLEM.H.mean(axis=0) ** 2)
    assert found == pytest.approx(quiet + noise, rel=1e-10)
    assert noise > 1e-3 * quiet


# --- Facts ---


@engines
def test_full_participation_makes_them_one(engine):
    """Where everybody plays, MIFA, FedVARP and FedAvg take the same steps.

    With noise the exact moments are the same, and so are single runs of the step engine, as long as none of the methods
    has local steps enough to take them in eigenbases, where its noise is another of the same law.
    """
    sizes = {"records": ("G_u", "B"), "sigma": 0.0 if engine == "leap" else 0.3, "T": 8, "K": 2}
    found = [
        run("mifa", engine, Trace.full(N), **sizes),
        run("fedvarp", engine, Trace.full(N), **sizes),
        run("fedavg", engine, Trace.full(N), gamma_u=0.1, eta_u=0.7, **sizes),
    ]
    for other in found[1:]:
        for name in sizes["records"]:
            np.testing.assert_allclose(other[name], found[0][name], rtol=1e-9, err_msg=name)
    apart = [run(name, engine, records=("G_u",))["G_u"] for name in ("mifa", "fedvarp")]
    assert np.abs(np.ravel(apart[0]) / np.ravel(apart[1]) - 1).max() > 0.01


@pytest.mark.parametrize("algorithm", ["mifa", "fedvarp"])
def test_memory_removes_the_error_of_sampling(algorithm):
    """With K = 1 and two clients a round MIFA and FedVARP converge; FedAvg stays where sampling keeps it."""
    sizes = {"K": 1, "T": 1500, "records": ("G_u",)}
    found = run(algorithm, "exact", Trace.uniform(N, 2), **{**SIZES[algorithm], "eta_g": 0.5}, **sizes)["G_u"]
    plain = run("fedavg", "exact", Trace.uniform(N, 2), gamma_u=0.1, eta_u=0.5, **sizes)["G_u"]
    assert found[-1] < 1e-14
    assert plain[-1] > 1e-4


def test_fedadmm_solves_the_consensus_problem():
    """With everybody and eta_g = 1, FedADMM converges to a minimiser of f, whatever the number of local steps."""
    for steps in (1, 10):
        sizes = {"eta_g": 1.0, "eta_l": 0.3, "rho": 1.3, "K": steps}
        assert run("fedadmm", "exact", Trace.full(N), T=800, **sizes)["G_u"][-1] < 1e-16


def test_pfedme_of_one_step_is_descent_on_the_envelopes():
    """With K = 1 and everybody, w moves by eta beta grad F, so that it converges to the minimiser of F."""
    found = run("pfedme", "exact", Trace.full(N), K=1, T=1500)["grad_F2"]
    assert found[-1] < 1e-20
    w, lambda_ = START.copy(), SIZES["pfedme"]["lambda_"]
    for t in range(5):
        slope = np.mean([lambda_ * (w - proximal(i, w)) for i in range(N)], axis=0)
        assert found[t] == pytest.approx(np.sum(slope**2), rel=1e-10)
        w = w - 0.2 * 0.8 * slope
    # More local steps and different clients: another fixed point.
    assert run("pfedme", "exact", Trace.full(N), K=20, T=1500)["grad_F2"][-1] > 1e-8


@sampled
@methods
def test_independent_of_threads_and_splits(algorithm, engine):
    """A replicate depends on seed and its number alone."""
    options = {"T": 8, "seed": 5} | ({} if algorithm == "pfedme" else {"sigma": 0.5})
    name = RECORDS.get(algorithm, ("G_u",))[0]
    one = run(algorithm, engine, Trace.uniform(N, 2), replicates=130, threads=1, **options)[name]
    two = run(algorithm, engine, Trace.uniform(N, 2), replicates=130, threads=2, **options)[name]
    few = run(algorithm, engine, Trace.uniform(N, 2), replicates=7, **options)[name]
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one[:7], few)
    assert len(np.unique(one[:, -1])) > 100


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        ("mifa", {"problem": Quadratic.synthetic(N, D, 2), "x0": np.zeros(2)}, "use shared=4"),
        ("fedvarp", {"eta": 0.1}, "no step size 'eta'"),
        ("fedadmm", {"rho": 0.0}, 'breaks "rho > 0"'),
        ("fedadmm", {"eta_l": [0.1] * N}, "eta_l="),
        ("mifa", {"weights": np.ones(N)}, "mifa does not weigh its local steps"),
        ("mifa", {"r": 1.0}, "no step size 'r'"),
        ("pfedme", {"sigma": 0.1}, "no noise"),
        ("pfedme", {"lambda_": 0.0}, 'breaks "lambda_ > 0"'),
        ("pfedme", {"records": ("gap",)}, "does not record 'gap'"),
        ("pfedme", {"problem": Quadratic(-PROBLEM.H, PROBLEM.g, shared=D), "lambda_": 0.5}, "lambda_=0.5 breaks"),
        ("fedvarp", {"problem": rc.problems.Bilevel.synthetic(N, 2, 2)}, "not for a bilevel one"),
    ],
)
@engines
def test_unusable_input(engine, algorithm, options, message):
    """One line that names the argument."""
    with pytest.raises(rc.InputError) as caught:
        run(algorithm, engine, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_selection_by_gradients_is_at_the_server_model():
    """Clients without state, and those whose state is no point, are ranked by their gradients at the server's model."""
    problem, T = Quadratic.synthetic(5, 3, 3, curvature=1.0, seed=1), 6
    sizes = {
        "fedavg": {"gamma_u": 0.1, "eta_u": 1.0},
        "mifa": {"eta_g": 1.0, "eta_l": 0.1},
        "fedsum": {"eta_g": 1.0, "eta_l": 0.1},
        "pfedme": {"eta": 0.1, "beta": 1.0, "lambda_": 2.0},
    }
    start = np.array([9.0, -7.0, 8.0])
    for name, options in sizes.items():
        run = rc.simulate(name, problem, Trace.largest(5, 2), T=T, K=2, x0=start, **options).metric[0]
        # The first round's choice by hand; the second metric then tells whether it was the one made.
        slopes = problem.H @ start - problem.g
        if name == "pfedme":
            moreau = rc.problems.Moreau(problem, 2.0)
            slopes = moreau.gradients(start)
        chosen = np.isin(np.arange(5), np.argsort(-np.linalg.norm(slopes, axis=1), kind="stable")[:2])
        given = rc.simulate(name, problem, Trace([chosen, chosen]), K=2, x0=start, **options).metric[0]
        np.testing.assert_allclose(run[:2], given, rtol=1e-12)
