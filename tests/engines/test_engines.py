"""Engines against independent oracles: the NumPy twins, enumeration of samples, closed forms, and each other."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from twins import TWINS, fedavg_p, logistic, quadratic, quantities

import ratecheck as rc
from ratecheck.engines import setup as preparation
from ratecheck.engines.moments.expectation import Moments
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.participation import Trace
from ratecheck.participation.model.law import Subsets
from ratecheck.problems import Logistic, Quadratic

ALGORITHMS = tuple(TWINS)
RECORDS = ("G_u", "G_v", "B")
BAND = 4.5  # standard errors; with fixed seeds a passing comparison stays passed
algorithms = pytest.mark.parametrize("algorithm", ALGORITHMS)


# --- Instances ---


def random_quadratic(seed, n=5, d_u=3, d_v=2, coupling=1.0):
    """Symmetric, possibly indefinite blocks of norm about 1: nothing in an engine needs convexity."""
    rng = np.random.default_rng([seed, n, d_u, d_v])
    d = d_u + d_v
    H = rng.standard_normal((n, d, d)) / d
    H = H + H.transpose(0, 2, 1) + 0.5 * np.eye(d)
    H[:, :d_u, d_u:] *= coupling
    H[:, d_u:, :d_u] *= coupling
    return Quadratic(H, rng.standard_normal((n, d)), shared=d_u)


def random_logistic(seed, n=4, N=6, d_u=3, d_v=2, batch=None):
    """Gaussian samples with random labels and a regulariser that matters."""
    rng = np.random.default_rng([seed, n, N, d_u, d_v])
    labels = np.where(rng.random((n, N)) < 0.5, -1.0, 1.0)
    return Logistic(rng.standard_normal((n, N, d_u + d_v)), labels, shared=d_u, rho=0.2, batch=batch)


def oracle_of(problem):
    """The twins' gradient for an instance, from its data alone."""
    if isinstance(problem, Quadratic):
        return quadratic(problem.H, problem.g, problem.d_u)
    return logistic(list(problem.A), problem.d_u, problem.rho)


def random_start(problem, seed=0):
    """A starting point that is zero in no coordinate."""
    rng = np.random.default_rng([seed, 77])
    return {"x0": rng.standard_normal(problem.d_u), "v0": rng.standard_normal((problem.n, problem.d_v))}


def random_steps(seed):
    """Four unrelated step sizes: nothing in an engine needs gamma_u*eta_u == gamma_v*eta_v."""
    rng = np.random.default_rng([seed, 78])
    local, outer = rng.uniform(0.02, 0.2, 2), rng.uniform(0.5, 1.8, 2)
    return {"gamma_u": local[0], "gamma_v": local[1], "eta_u": outer[0], "eta_v": outer[1]}


def random_matrix(seed, T, n, m=None):
    """Participation (T, n) with m clients in every round, or with 0 ... n where m is None."""
    rng = np.random.default_rng([seed, 79])
    sizes = [m] * T if m is not None else [n, 0, *rng.integers(0, n + 1, T - 2)]
    return np.array([np.isin(np.arange(n), rng.permutation(n)[:size]) for size in sizes])


def twin_of(algorithm, problem, matrix, start, K, steps):
    """The twin's records."""
    return TWINS[algorithm](oracle_of(problem), matrix, start["x0"], start["v0"], K=K, **steps)


def ready(algorithm, problem, trace, **options):
    """A prepared setup, for tests that call an engine directly."""
    steps = {name: options.pop(name) for name in ("gamma_u", "gamma_v", "eta_u", "eta_v") if name in options}
    noise = {name: options.pop(name) for name in ("sigma", "sigma_u", "sigma_v") if name in options}
    return preparation.prepare(algorithm, problem, trace, noise=noise, step_sizes=steps, **options)


def assert_close(found, expected, rtol=1e-10):
    """Every record within a relative distance; ``found`` maps names to arrays that broadcast to ``expected``."""
    for name in RECORDS:
        wanted = np.broadcast_to(expected[name], np.shape(found[name]))
        np.testing.assert_allclose(found[name], wanted, rtol=rtol, atol=0, err_msg=name)


@pytest.fixture
def wide_blocks(monkeypatch):
    """Blocks of 1,024 replicates, which change no bit (tested below): preparing a block costs more than these runs."""
    monkeypatch.setattr(stepwise, "LANES", 1024)


@pytest.fixture
def final_state(monkeypatch):
    """A function that simulates and returns server (slots, d, R) and client (n, slots, d, R) after the last round."""

    def simulate(setup, **options):
        ends = []
        original = stepwise.run_rounds

        def spy(*arguments):
            original(*arguments)
            server, client, _, _, _, first_round, record = arguments[-7:]
            if first_round + len(record) == setup.T:
                ends.append((server, client))

        with monkeypatch.context() as patch:
            patch.setattr(stepwise, "run_rounds", spy)
            patch.setattr(stepwise, "LANES", 1024)
            stepwise.simulate(setup, threads=1, **options)
        return tuple(np.concatenate(parts, axis=-1) for parts in zip(*ends, strict=True))

    return simulate


# --- (a) Engines against the twins ---

SHAPES = {"coupled": (3, 2), "fully shared": (4, 0), "fully personal": (0, 3), "one of each": (1, 1), "wide": (5, 6)}
MATRICES = {"m < n": 2, "m = 1": 1, "m = n": 5, "varying, with a round of nobody": None}


@algorithms
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("participation", MATRICES)
def test_step_and_exact_equal_the_twin_on_quadratics(algorithm, shape, participation):
    """Both engines follow the paper's algorithm to ten digits on given traces, without noise."""
    problem = random_quadratic(1, 5, *SHAPES[shape])
    matrix, start, steps = random_matrix(2, 9, 5, MATRICES[participation]), random_start(problem), random_steps(3)
    twin = twin_of(algorithm, problem, matrix, start, 4, steps)
    run = rc.simulate(algorithm, problem, Trace(matrix), K=4, replicates=3, **start, **steps)
    assert_close(run.records, twin)
    expectation = rc.exact(algorithm, problem, Trace(matrix), K=4, **start, **steps)
    assert_close(expectation.records, twin)
    rate = matrix.mean()
    np.testing.assert_allclose(run.metric, np.tile(twin["G_u"] + rate * twin["G_v"], (3, 1)), rtol=1e-10)
    np.testing.assert_allclose(expectation.metric, twin["G_u"] + rate * twin["G_v"], rtol=1e-10)


@algorithms
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("participation", MATRICES)
def test_step_equals_the_twin_on_logistic_full_gradients(algorithm, shape, participation):
    """The step engine follows the paper's algorithm to ten digits on a problem that is not quadratic."""
    problem = random_logistic(1, 5, 6, *SHAPES[shape])
    matrix, start, steps = random_matrix(4, 7, 5, MATRICES[participation]), random_start(problem), random_steps(5)
    twin = twin_of(algorithm, problem, matrix, start, 3, steps)
    run = rc.simulate(algorithm, problem, Trace(matrix), K=3, replicates=2, **start, **steps)
    assert_close(run.records, twin)


@algorithms
@pytest.mark.parametrize("kind", ["quadratic", "logistic"])
@pytest.mark.parametrize("m", [2, 5])
def test_uniform_sampling_follows_its_own_masks(algorithm, kind, m):
    """Replicate r plays exactly the subsets that the pattern draws from replicate r's stream, also over many blocks."""
    problem = random_quadratic(6) if kind == "quadratic" else random_logistic(6, n=5)
    start, steps, replicates, T = random_start(problem), random_steps(6), 70, 6
    trace = Trace.uniform(5, m)
    run = rc.simulate(algorithm, problem, trace, K=2, T=T, seed=9, replicates=replicates, **start, **steps)
    masks = trace.masks(0, T, stepwise.stream_keys(9, range(replicates)))
    for r in (0, 1, 63, 64, 69):
        twin = twin_of(algorithm, problem, masks[:, :, r], start, 2, steps)
        assert_close({name: values[r] for name, values in run.records.items()}, twin)
    assert (len(np.unique(masks.reshape(-1, replicates), axis=1).T) > 1) == (m < 5)


@algorithms
def test_the_start_is_zero_unless_given(algorithm):
    """Without x0 and v0 the run starts at zero."""
    problem = random_quadratic(8)
    matrix, steps = random_matrix(8, 4, 5, 3), random_steps(8)
    zero = {"x0": np.zeros(3), "v0": np.zeros((5, 2))}
    twin = twin_of(algorithm, problem, matrix, zero, 2, steps)
    assert_close(rc.exact(algorithm, problem, Trace(matrix), K=2, **steps).records, twin)
    run = rc.simulate(algorithm, problem, Trace(matrix), K=2, **steps)
    assert_close({name: values[0] for name, values in run.records.items()}, twin)


def test_fewer_rounds_than_the_matrix_has():
    """T says how much of a given trace is played; the matrix's own length is the default."""
    problem, steps = random_quadratic(8), random_steps(8)
    trace = Trace(random_matrix(8, 6, 5))
    whole, part = (rc.exact("scaffold-p", problem, trace, K=2, T=T, **steps) for T in (None, 4))
    assert whole.metric.shape == (6,)
    assert_close(part.records, {name: values[:4] for name, values in whole.records.items()})


@algorithms
def test_the_twin_comparison_notices_a_wrong_step_size(algorithm):
    """Planted error: a step size off by 1e-8 is far outside the tolerance of the comparisons above."""
    problem = random_quadratic(1)
    matrix, start, steps = random_matrix(2, 9, 5, 2), random_start(problem), random_steps(3)
    for name in steps:
        wrong = twin_of(algorithm, problem, matrix, start, 4, {**steps, name: steps[name] * (1 + 1e-8)})
        run = rc.simulate(algorithm, problem, Trace(matrix), K=4, **start, **steps)
        with pytest.raises(AssertionError):
            assert_close({key: values[0] for key, values in run.records.items()}, wrong)


PRECISE = np.longdouble


@algorithms
@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("eta", [1.0, 10.0, 1e4])
@pytest.mark.skipif(np.finfo(PRECISE).nmant < 60, reason="long double is double here")
def test_the_stated_rounding_error_covers_the_error(algorithm, m, eta):
    """Against the twin in 64-bit mantissas, as gradients fall to nothing; and the estimate is not large either."""
    problem = Quadratic.synthetic(4, 6, 3, coupling=0.3, condition=2.0, curvature=0.5)
    start, matrix = random_start(problem), random_matrix(3, 60, 4, m)
    steps = {"gamma_u": 0.3 / eta, "gamma_v": 0.3 / eta, "eta_u": eta, "eta_v": eta}
    precise = {name: PRECISE(value) for name, value in steps.items()}
    oracle = quadratic(problem.H.astype(PRECISE), problem.g.astype(PRECISE), problem.d_u)
    twin = TWINS[algorithm](oracle, matrix, *(x.astype(PRECISE) for x in start.values()), K=5, **precise)
    expectation = rc.exact(algorithm, problem, Trace(matrix), K=5, **start, **steps)
    truth = twin["G_u"] + m / 4 * twin["G_v"]
    assert (expectation.metric >= 0).all()
    assert expectation.rounding[0] < 1e-10 * truth[0]
    assert (np.abs(expectation.metric - truth) <= expectation.rounding).all()


@algorithms
@pytest.mark.parametrize("gamma", [30.0, 1e100])
def test_a_diverging_run_says_so_without_a_warning(algorithm, gamma):
    """Steps far beyond 2/L leave the range of numbers in both engines; a short part of the same run does not."""
    problem = random_quadratic(1)
    steps = {"gamma_u": gamma, "gamma_v": gamma, "eta_u": 1.0, "eta_v": 1.0}
    run = rc.simulate(algorithm, problem, Trace.uniform(5, 2), K=5, T=100, sigma_u=0.1, replicates=3, **steps)
    assert run.diverged.all()
    assert not rc.simulate(algorithm, problem, Trace.uniform(5, 2), K=5, T=1, replicates=3, **steps).diverged.any()
    assert rc.exact(algorithm, problem, Trace.uniform(5, 2), K=5, T=100, sigma_u=0.1, **steps).diverged
    assert not rc.exact(algorithm, problem, Trace.uniform(5, 2), K=5, T=1, **steps).diverged


# --- (b) Exact against Monte Carlo and against enumeration ---


def worst_deviation(run, expectation):
    """Largest |mean - expectation| in standard errors, over quantities and rounds; round 0 has to agree to 1e-10."""
    worst = 0.0
    for name in RECORDS:
        values, expected = run.records[name], expectation.records[name]
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        difference = np.abs(values.mean(axis=0) - expected)
        # Where nothing is random, the standard error is rounding itself.
        allowed = np.maximum(error, 1e-10 / BAND * np.abs(expected) + 1e-300)
        worst = max(worst, float((difference / allowed).max()))
    return worst


def drawn_instance(index, algorithm, full):
    """Random sizes, coupling, noise and step sizes, stable enough for a mean to be near normal."""
    rng = np.random.default_rng([index, 2024])
    n = int(rng.integers(2, 7))
    d = int(rng.integers(1, 7))
    problem = Quadratic.synthetic(
        n, d, int(rng.integers(0, d + 1)), coupling=rng.choice([0.0, 0.6]), condition=5.0,
        heterogeneity=rng.uniform(0, 2), curvature=rng.uniform(0, 1), seed=index,
    )  # fmt: skip
    K = int(rng.integers(1, 6))
    steps = random_steps(index)
    steps = {name: value / K if name.startswith("gamma") else value for name, value in steps.items()}
    options = {
        "K": K, "T": 6, "sigma_u": rng.uniform(0, 2), "sigma_v": rng.uniform(0, 2),
        **random_start(problem, index), **steps,
    }  # fmt: skip
    trace = Trace.full(n) if full else Trace.uniform(n, int(rng.integers(1, n)))
    return (algorithm, problem, trace), options


@pytest.mark.usefixtures("wide_blocks")
@algorithms
@pytest.mark.parametrize("full", [False, True], ids=["m<n", "m=n"])
@pytest.mark.parametrize("index", range(20))
def test_exact_is_the_mean_of_step(algorithm, full, index):
    """20 random instances: about 1,200 comparisons at 4.5 standard errors, a false alarm in one suite of a hundred."""
    arguments, options = drawn_instance(index, algorithm, full)
    run = rc.simulate(*arguments, seed=index, replicates=4000, **options)
    expectation = rc.exact(*arguments, **options)
    assert worst_deviation(run, expectation) < BAND
    spread = run.metric.std(axis=0) / np.sqrt(4000) / run.metric.mean(axis=0)
    assert spread.max() < 0.05  # else the comparison says nothing


@pytest.mark.usefixtures("wide_blocks")
@algorithms
def test_exact_is_the_mean_of_step_on_a_given_trace(algorithm):
    """The same for a trace with varying participation and a round of nobody."""
    problem = random_quadratic(4, n=4)
    trace = Trace(random_matrix(11, 8, 4))
    options = {"K": 3, "sigma_u": 1.0, "sigma_v": 0.5, **random_start(problem), **random_steps(4)}
    run = rc.simulate(algorithm, problem, trace, seed=1, replicates=10_000, **options)
    assert worst_deviation(run, rc.exact(algorithm, problem, trace, **options)) < BAND


WRONG = {
    "noise of the shared block": {"sigma_u": 1.05},
    "noise of the personal block": {"sigma_v": 1.05},
    "local step size": {"gamma_u": 1.05},
    "outer step size": {"eta_v": 1.05},
}


@pytest.mark.usefixtures("wide_blocks")
@algorithms
@pytest.mark.parametrize("error", WRONG)
def test_the_band_notices_a_wrong_parameter(algorithm, error):
    """Planted errors of a few percent leave the band of the comparisons above."""
    problem = random_quadratic(4, n=4)
    options = {"K": 3, "T": 6, "sigma_u": 1.5, "sigma_v": 1.5, **random_start(problem), **random_steps(4)}
    run = rc.simulate(algorithm, problem, Trace.uniform(4, 2), seed=1, replicates=40_000, **options)
    wrong = {name: options[name] * factor for name, factor in WRONG[error].items()}
    assert worst_deviation(run, rc.exact(algorithm, problem, Trace.uniform(4, 2), **options)) < BAND
    assert worst_deviation(run, rc.exact(algorithm, problem, Trace.uniform(4, 2), **{**options, **wrong})) > BAND


@pytest.mark.usefixtures("wide_blocks")
@algorithms
def test_the_band_notices_independent_sampling(algorithm, monkeypatch):
    """Planted error: pi_2 = pi_1^2, as if clients were sampled independently, leaves the band."""
    problem = random_quadratic(4, n=4)
    options = {"K": 3, "T": 6, "sigma_u": 0.5, "sigma_v": 0.5, **random_start(problem), **random_steps(4)}
    run = rc.simulate(algorithm, problem, Trace.uniform(4, 2), seed=1, replicates=40_000, **options)
    monkeypatch.setattr(Subsets, "inclusion", property(lambda law: (law.m / law.n, (law.m / law.n) ** 2)))
    assert worst_deviation(run, rc.exact(algorithm, problem, Trace.uniform(4, 2), **options)) > BAND


def sequences(n, m, T):
    """All participation matrices (T, n) with m clients per round; the last round is never seen, so one will do."""
    rows = [np.isin(np.arange(n), subset) for subset in itertools.combinations(range(n), m)]
    return [np.array([*choice, rows[0]]) for choice in itertools.product(rows, repeat=T - 1)]


@algorithms
@pytest.mark.parametrize(("n", "m", "T"), [(2, 1, 6), (3, 1, 4), (3, 2, 4), (4, 2, 3), (4, 3, 4), (5, 2, 3)])
def test_exact_is_the_average_over_all_samples(algorithm, n, m, T):
    """Without noise: the twin, run on every sequence of subsets."""
    problem = random_quadratic(12, n, 2, 1)
    start, steps = random_start(problem, 12), random_steps(12)
    runs = [twin_of(algorithm, problem, matrix, start, 2, steps) for matrix in sequences(n, m, T)]
    average = {name: np.mean([run[name] for run in runs], axis=0) for name in RECORDS}
    expectation = rc.exact(algorithm, problem, Trace.uniform(n, m), K=2, T=T, **start, **steps)
    assert_close(expectation.records, average)
    assert expectation.rate == m / n


@algorithms
@pytest.mark.parametrize(("n", "m"), [(3, 1), (3, 2), (4, 2)])
def test_exact_under_sampling_is_the_average_over_given_traces_with_noise(algorithm, n, m):
    """With noise: inclusion probabilities give what the exact engine gives on every sequence of subsets, averaged."""
    problem = random_quadratic(13, n, 2, 1)
    options = {"K": 3, "sigma_u": 0.7, "sigma_v": 0.4, **random_start(problem, 13), **random_steps(13)}
    given = [rc.exact(algorithm, problem, Trace(matrix), **options).records for matrix in sequences(n, m, 3)]
    average = {name: np.mean([records[name] for records in given], axis=0) for name in RECORDS}
    assert_close(rc.exact(algorithm, problem, Trace.uniform(n, m), T=3, **options).records, average)


# --- (c) Reproducibility ---


def bits(run):
    """Records as bytes: equal only if every bit is."""
    return {name: values.tobytes() for name, values in run.records.items()}


def noisy_runs():
    """Setups that use every random stream: noise, sampling and mini-batches."""
    steps = random_steps(1)
    drawn = {"K": 3, "T": 12, "sigma_u": 0.3, "sigma_v": 0.2}
    for algorithm in ALGORITHMS:
        yield pytest.param(
            (algorithm, random_quadratic(1), Trace.uniform(5, 2)), {**drawn, **steps}, id=f"{algorithm}-quadratic"
        )
        problem = random_logistic(1, n=5, batch=3)
        yield pytest.param(
            (algorithm, problem, Trace.uniform(5, 3)), {**drawn, **steps}, id=f"{algorithm}-mini-batches"
        )


runs = pytest.mark.parametrize(("arguments", "options"), list(noisy_runs()))


@runs
def test_results_do_not_depend_on_threads(arguments, options):
    """Bit for bit for 1, 2 and 4 threads; another seed gives other numbers."""
    one, two, four = (rc.simulate(*arguments, seed=3, replicates=200, threads=k, **options) for k in (1, 2, 4))
    assert bits(one) == bits(two) == bits(four)
    other = rc.simulate(*arguments, seed=4, replicates=200, **options)
    assert (other.metric[:, -1] != one.metric[:, -1]).all()


@runs
def test_results_do_not_depend_on_how_replicates_are_split(arguments, options):
    """Replicates 0 ... 99 in one call are those of calls for 0 ... 36, 37 and 38 ... 99; no two are alike."""
    setup = ready(*arguments, **options)
    whole = stepwise.simulate(setup, seed=3, replicates=100)
    parts = [stepwise.simulate(setup, seed=3, first_replicate=a, replicates=b) for a, b in ((0, 37), (37, 1), (38, 62))]
    for name in RECORDS:
        joined = np.concatenate([part.records[name] for part in parts])
        assert joined.tobytes() == whole.records[name].tobytes()
    assert len(np.unique(whole.metric[:, -1])) == 100


@runs
@pytest.mark.parametrize("lanes", [1, 7, 200])
def test_results_do_not_depend_on_the_block_size(arguments, options, lanes, monkeypatch):
    """Bit for bit, whatever number of replicates shares a block and so a vector register."""
    usual = rc.simulate(*arguments, seed=3, replicates=70, **options)
    monkeypatch.setattr(stepwise, "LANES", lanes)
    assert bits(rc.simulate(*arguments, seed=3, replicates=70, **options)) == bits(usual)


@runs
def test_results_do_not_depend_on_the_chunks_of_rounds(arguments, options, monkeypatch):
    """Bit for bit with a kernel call for every round."""
    usual = rc.simulate(*arguments, seed=3, replicates=70, **options)
    monkeypatch.setattr(stepwise, "_CHUNK_ENTRIES", 1)
    assert bits(rc.simulate(*arguments, seed=3, replicates=70, **options)) == bits(usual)


def test_progress_grows_to_one(monkeypatch):
    """A caller sees nondecreasing shares that end with 1, over several blocks and chunks."""
    monkeypatch.setattr(stepwise, "_CHUNK_ENTRIES", 1)
    shares = []
    options = {"K": 1, "T": 5, "replicates": 130, "threads": 1, **random_steps(0)}
    rc.simulate("fedavg-p", random_quadratic(0), Trace.full(5), progress=shares.append, **options)
    assert len(shares) == 15
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


# --- (d) Reductions and invariants ---


@pytest.mark.parametrize(("reduction", "base"), [("fedavg", "fedavg-p"), ("scaffold", "scaffold-p")])
def test_fully_shared_reductions_ignore_the_personal_step_sizes(reduction, base):
    """FedAvg and SCAFFOLD are the base algorithm without personal variables, whatever its gamma_v and eta_v."""
    problem = random_quadratic(3, 5, 4, 0)
    options = {"K": 3, "T": 6, "sigma_u": 0.5, "gamma_u": 0.1, "eta_u": 1.3}
    reduced = rc.simulate(reduction, problem, Trace.uniform(5, 2), seed=2, replicates=9, **options)
    for personal in ({"gamma_v": 0.7, "eta_v": 0.3}, {"gamma_v": 1.0, "eta_v": 1.0}):
        full = rc.simulate(base, problem, Trace.uniform(5, 2), seed=2, replicates=9, **options, **personal)
        assert bits(full) == bits(reduced)
        exact, reference = (
            rc.exact(name, problem, Trace.uniform(5, 2), **options, **more)
            for name, more in ((reduction, {}), (base, personal))
        )
        assert bits(exact) == bits(reference)
    assert (reduced.records["G_v"] == 0).all()


def test_fedsim_is_fedavg_p_with_outer_steps_one():
    """FedSim: eta_u = eta_v = 1."""
    problem = random_quadratic(3)
    options = {
        "K": 3,
        "T": 6,
        "sigma_u": 0.5,
        "sigma_v": 0.2,
        "gamma_u": 0.1,
        "gamma_v": 0.15,
        "seed": 2,
        "replicates": 9,
    }
    reduced = rc.simulate("fedsim", problem, Trace.uniform(5, 2), **options)
    assert bits(rc.simulate("fedavg-p", problem, Trace.uniform(5, 2), eta_u=1.0, eta_v=1.0, **options)) == bits(reduced)
    other = rc.simulate("fedavg-p", problem, Trace.uniform(5, 2), eta_u=1.1, eta_v=1.0, **options)
    assert bits(other) != bits(reduced)


@pytest.mark.parametrize("base", ALGORITHMS)
def test_parallel_sgd_is_either_algorithm_without_shared_variable(base):
    """K = 1, m = n, no u: both algorithms are the same n independent SGD runs (Sections 3.2.3 and 4.3.1)."""
    problem = random_quadratic(3, 5, 0, 4)
    options = {"K": 1, "T": 6, "sigma_v": 0.2, "gamma_v": 0.15, "eta_v": 1.2}
    reduced = rc.simulate("parallel-sgd", problem, Trace.full(5), seed=2, replicates=9, **options)
    full = rc.simulate(base, problem, Trace.full(5), seed=2, replicates=9, gamma_u=0.3, eta_u=0.7, **options)
    assert bits(full) == bits(reduced)


def test_parallel_sgd_has_the_closed_form():
    """Gradient t of client i is (I - eta*gamma*H_i)^t (H_i v_i^0 - g_i), an oracle without any round."""
    problem = random_quadratic(3, 5, 0, 4)
    start = random_start(problem)
    run = rc.simulate("parallel-sgd", problem, Trace.full(5), K=1, T=6, gamma_v=0.15, eta_v=1.2, **start)
    expected = np.zeros(6)
    for H, g, v in zip(problem.H, problem.g, start["v0"], strict=True):
        factor = np.eye(4) - 0.18 * H
        expected += [np.sum((np.linalg.matrix_power(factor, t) @ (H @ v - g)) ** 2) / 5 for t in range(6)]
    np.testing.assert_allclose(run.metric[0], expected, rtol=1e-10)


@pytest.mark.parametrize("algorithm", ["fedavg", "scaffold"])
def test_one_local_step_with_everybody_is_gradient_descent(algorithm):
    """K = 1, m = n: u^{t+1} = u^t - gamma*eta*grad f(u^t), with or without control variates."""
    problem = random_quadratic(5, 5, 3, 0)
    H, g, u = problem.H.mean(axis=0), problem.g.mean(axis=0), random_start(problem)["x0"]
    expected = [np.sum((np.linalg.matrix_power(np.eye(3) - 0.26 * H, t) @ (H @ u - g)) ** 2) for t in range(6)]
    expectation = rc.exact(algorithm, problem, Trace.full(5), K=1, T=6, gamma_u=0.2, eta_u=1.3, x0=u)
    np.testing.assert_allclose(expectation.metric, expected, rtol=1e-10)


def scaffold_setups():
    """Runs of Scaffold-P with noise, sampling, mini-batches and a given trace."""
    options = {"K": 3, "T": 8, "sigma_u": 0.5, "sigma_v": 0.5, **random_steps(2)}
    shared = {"gamma_u": 0.1, "eta_u": 1.3}
    given = Trace(random_matrix(3, 8, 5))
    yield pytest.param(ready("scaffold-p", random_quadratic(1), Trace.uniform(5, 2), **options), id="uniform")
    yield pytest.param(ready("scaffold-p", random_quadratic(1), given, **options), id="given")
    batches = random_logistic(1, n=5, batch=2)
    yield pytest.param(ready("scaffold-p", batches, Trace.uniform(5, 2), **options), id="mini-batches")
    fully = random_quadratic(1, 5, 3, 0)
    yield pytest.param(ready("scaffold", fully, Trace.uniform(5, 2), K=3, T=8, sigma_u=0.5, **shared), id="scaffold")


@pytest.mark.parametrize("setup", list(scaffold_setups()))
def test_the_control_variates_keep_their_average(setup, final_state):
    """Lines 10 and 13 of Algorithm 4.1 keep sum_i c_i = n*c in every replicate."""
    server, client = final_state(setup, seed=1, replicates=70)
    d_u = setup.problem.d_u
    c, c_i = server[1, :d_u], client[:, 0, :d_u]
    assert np.abs(c_i - c).max() > 0.01  # not all alike
    assert np.abs(c_i.sum(axis=0) - 5 * c).max() < 1e-12 * np.abs(c_i).max()


def test_the_exact_moments_keep_the_average_of_the_control_variates():
    """E||sum_i c_i - n*c||^2 = 0 in every round, the noise of the start included."""
    setup = ready(
        "scaffold-p", random_quadratic(1), Trace.uniform(5, 2), K=3, T=8, sigma_u=0.5, sigma_v=0.5, **random_steps(2)
    )
    moments = Moments(setup)
    d_u = setup.problem.d_u
    # The state is (u, c), then (c_i, v_i) of every client, then 1.
    defect, own = np.zeros((d_u, moments.size)), np.zeros((d_u, moments.size))
    defect[:, d_u : 2 * d_u] = -5 * np.eye(d_u)
    for i in range(5):
        defect[:, moments.server + i * moments.client :][:, :d_u] = np.eye(d_u)
    own[:, moments.server :][:, :d_u] = np.eye(d_u)
    for moment, _ in moments.rounds():
        assert moment.square(own)[0] > 0.01
        assert abs(moment.square(defect)[0]) < 1e-12 * moment.square(own)[0]


# --- (e) Memory ---

HISTORY = 50 * 10 * 8 * 4  # bytes per round that a stored trajectory would take


def long_run(T):
    """A run whose state is large beside its records."""
    problem = Quadratic.synthetic(50, 10)
    rc.simulate("scaffold-p", problem, Trace.uniform(50, 5), K=1, T=T, replicates=4, threads=1, **random_steps(0))


def test_memory_does_not_grow_with_rounds_beyond_the_records(monkeypatch):
    """Arrays of NumPy: from T = 200 to 4,000 the peak grows by the few copies of the records that are made."""
    monkeypatch.setattr(stepwise, "_CHUNK_ENTRIES", 1 << 18)  # a chunk shorter than the shorter run
    peaks = []
    for T in (200, 4000):
        tracemalloc.start()
        long_run(T)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    records = 3800 * len(RECORDS) * 4 * 8
    assert records < peaks[1] - peaks[0] < 4 * records < 3800 * HISTORY / 10


RESIDENT = """
import resource, test_engines
test_engines.long_run(200)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
test_engines.long_run(4000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
def test_resident_memory_does_not_grow_with_rounds():
    """Memory of the whole process, what kernels allocate included: a trajectory would take 61 MB."""
    here = os.path.dirname(__file__)  # noqa: PTH120
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    done = subprocess.run([sys.executable, "-c", RESIDENT], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) * (1 if sys.platform == "darwin" else 1024) < 3800 * HISTORY / 4


# --- (f) Messages ---

PROBLEM = Quadratic.synthetic(4, 3, 1)
STEPS = {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.0, "eta_v": 1.0}


def attempt(algorithm="fedavg-p", problem=PROBLEM, trace=None, *, without=(), call=rc.simulate, **changed):
    """A valid call with something changed."""
    options = {"K": 2, "T": 3, **STEPS, **changed}
    options = {name: value for name, value in options.items() if name not in without}
    return call(algorithm, problem, trace or Trace.uniform(4, 2), **options)


def broken_matrix(value):
    """A quadratic whose H has one entry replaced."""
    H = PROBLEM.H.copy()
    H[2, 0, 1] = value
    return Quadratic(H, PROBLEM.g, 1)


NAN, INF = float("nan"), float("inf")
MESSAGES = {
    "m above n": (lambda: Trace.uniform(4, 5), ["m=5", "4"]),
    "m zero": (lambda: Trace.uniform(4, 0), ["m=0"]),
    "m negative": (lambda: Trace.uniform(4, -1), ["m=-1"]),
    "m fractional": (lambda: Trace.uniform(4, 1.5), ["m=1.5", "whole number"]),
    "m NaN": (lambda: Trace.uniform(4, NAN), ["m=nan"]),
    "n zero": (lambda: Trace.uniform(0, 0), ["n=0"]),
    "n NaN": (lambda: Trace.uniform(NAN, 1), ["n=nan"]),
    "K zero": (lambda: attempt(K=0), ["K=0", "1"]),
    "K fractional": (lambda: attempt(K=1.5), ["K=1.5", "whole number"]),
    "K negative": (lambda: attempt(K=-3), ["K=-3"]),
    "K NaN": (lambda: attempt(K=NAN), ["K=nan"]),
    "K infinite": (lambda: attempt(K=INF), ["K=inf"]),
    "K a word": (lambda: attempt(K="many"), ["K", "many"]),
    "T zero": (lambda: attempt(T=0), ["T=0"]),
    "T fractional": (lambda: attempt(T=2.5), ["T=2.5"]),
    "T missing": (lambda: attempt(T=None), ["T=..."]),
    "T beyond the matrix": (lambda: attempt(trace=Trace(np.ones((2, 4)))), ["T=3", "2 rows"]),
    "sigma_u negative": (lambda: attempt(sigma_u=-0.5), ["sigma_u=-0.5"]),
    "sigma_v NaN": (lambda: attempt(sigma_v=NAN), ["sigma_v=nan"]),
    "sigma_v infinite": (lambda: attempt(sigma_v=INF), ["sigma_v=inf"]),
    "sigma with two blocks": (lambda: attempt(sigma=1.0), ["sigma_u", "sigma_v"]),
    "step size missing": (lambda: attempt(without=["eta_v"]), ["fedavg-p", "eta_v=..."]),
    "step size unknown": (lambda: attempt(gama_u=0.1), ["'gama_u'", "did you mean 'gamma_u'"]),
    "step size zero": (lambda: attempt(gamma_u=0.0), ["gamma_u=0"]),
    "step size negative": (lambda: attempt(eta_u=-2.0), ["eta_u=-2"]),
    "step size infinite": (lambda: attempt(gamma_v=INF), ["gamma_v=inf"]),
    "step size NaN": (lambda: attempt(gamma_u=NAN), ["gamma_u=nan"]),
    "step size a word": (lambda: attempt(gamma_u="x"), ["gamma_u", "x"]),
    "step size contradicting": (lambda: attempt("fedsim", eta_u=2.0), ["eta_u=2", "fedsim", "to 1"]),
    "x0 of a wrong shape": (lambda: attempt(x0=np.zeros(3)), ["x0", "(3,)", "(1,)"]),
    "v0 of a wrong shape": (lambda: attempt(v0=np.zeros((4, 1))), ["v0", "(4, 1)", "(4, 2)"]),
    "x0 NaN": (lambda: attempt(x0=[NAN]), ["x0"]),
    "x0 a word": (lambda: attempt(x0="abc"), ["x0"]),
    "matrix too wide": (lambda: attempt(trace=Trace(np.ones((3, 5)))), ["5 clients", "has 4"]),
    "matrix with a two": (lambda: Trace([[0, 1], [2, 1]]), ["client 0", "round 1", "is 2"]),
    "matrix with NaN": (lambda: Trace([[0, NAN]]), ["client 1", "is nan"]),
    "matrix of one axis": (lambda: Trace(np.ones(3)), ["(3,)", "T x n"]),
    "matrix with ragged rows": (lambda: Trace([[1, 0], [1]]), ["matrix"]),
    "pattern of other clients": (lambda: attempt(trace=Trace.full(3)), ["3 clients", "has 4"]),
    "H with NaN": (lambda: broken_matrix(NAN), ["H[2, 0, 1] is nan"]),
    "H asymmetric": (lambda: broken_matrix(7.0), ["H[2]", "symmetric", "7"]),
    "H of a wrong shape": (lambda: Quadratic(np.eye(2), np.zeros((1, 2)), 1), ["(2, 2)", "(1, 2)", "(n, d, d)"]),
    "H with ragged rows": (lambda: Quadratic([[1, 2], [3]], np.zeros((1, 2)), 1), ["H"]),
    "g infinite": (lambda: Quadratic(np.eye(2)[None], [[0, INF]], 1), ["g[0, 1] is inf"]),
    "shared too large": (lambda: Quadratic(np.eye(2)[None], np.zeros((1, 2)), 3), ["shared=3", "2"]),
    "shared fractional": (lambda: Quadratic(np.eye(2)[None], np.zeros((1, 2)), 1.5), ["shared=1.5", "whole number"]),
    "algorithm unknown": (lambda: attempt("fedavgp"), ["'fedavgp'", "did you mean 'fedavg-p'"]),
    "algorithm unlike any": (lambda: attempt("xyz", call=rc.exact, T=3), ["'xyz'", "dsgd", ", ..."]),
    "engine unknown": (lambda: attempt(engine="stp"), ["'stp'", "'step'"]),
    "replicates zero": (lambda: attempt(replicates=0), ["replicates=0"]),
    "replicates fractional": (lambda: attempt(replicates=1.5), ["replicates=1.5"]),
    "replicates NaN": (lambda: attempt(replicates=NAN), ["replicates=nan"]),
    "threads negative": (lambda: attempt(threads=-1), ["threads=-1"]),
    "threads zero": (lambda: attempt(threads=0), ["threads=0"]),
    "personal variables": (lambda: attempt("fedavg", without=["gamma_v", "eta_v"]), ["fedavg", "2", "shared=3"]),
    "shared variable": (lambda: attempt("parallel-sgd", K=1, trace=Trace.full(4)), ["size 1", "shared=0"]),
    "partial participation": (lambda: attempt("parallel-sgd", K=1), ["every client", "Trace.full(4)"]),
    "local steps of parallel SGD": (
        lambda: attempt("parallel-sgd", Quadratic.synthetic(4, 3, 0), Trace.full(4)), ["K=2", "K=1"],
    ),
    "exact on logistic": (lambda: attempt(problem=random_logistic(0), call=rc.exact), ["quadratic", "logistic"]),
}  # fmt: skip


@pytest.mark.parametrize("case", MESSAGES)
def test_bad_input_is_named_in_one_line(case):
    """An `InputError` of one line that contains the offending value and what would do."""
    call, parts = MESSAGES[case]
    with pytest.raises(rc.InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 220
    for part in parts:
        assert part in message


# --- (g) Noise ---


def within(sample_mean, expected, deviation, count):
    """Whether a mean of ``count`` draws lies in the band, everywhere."""
    return bool((np.abs(sample_mean - expected) <= BAND * deviation / np.sqrt(count) + 1e-12).all())


@pytest.mark.parametrize("batch", [1, 3])
def test_one_mini_batch_step_has_the_mean_and_covariance_of_the_full_step(batch, final_state):
    """K = 1, eta = 1, m = n: server and clients after a round, against the full gradient and the samples' spread."""
    problem, count = random_logistic(3, n=3, N=4, batch=batch), 30_000
    start = random_start(problem)
    setup = ready("fedavg-p", problem, Trace.full(3), K=1, T=1, gamma_u=0.7, gamma_v=0.4, eta_u=1.0, eta_v=1.0, **start)
    server, client = final_state(setup, seed=5, replicates=count)
    u, v, d_u = start["x0"], start["v0"], problem.d_u
    spread = np.zeros((d_u, d_u))
    means = []
    for i in range(3):
        each = [np.concatenate(logistic([[row]] * 3, d_u, problem.rho)(i, u, v[i])) for row in problem.A[i]]
        covariance = np.cov(each, rowvar=False, bias=True) / batch  # draws with replacement
        full = np.mean(each, axis=0)
        means.append(full[:d_u])
        spread += covariance[:d_u, :d_u] / 9
        moved = client[i, 0, d_u:]
        deviation = 0.4 * np.sqrt(np.diag(covariance)[d_u:])
        assert within(moved.mean(axis=1), v[i] - 0.4 * full[d_u:], deviation, count)
        np.testing.assert_allclose(np.cov(moved), 0.16 * covariance[d_u:, d_u:], atol=0.05 * deviation.max() ** 2)
    moved = server[0, :d_u]
    deviation = 0.7 * np.sqrt(np.diag(spread))
    assert within(moved.mean(axis=1), u - 0.7 * np.mean(means, axis=0), deviation, count)
    np.testing.assert_allclose(np.cov(moved), 0.49 * spread, atol=0.05 * deviation.max() ** 2)


@pytest.mark.usefixtures("wide_blocks")
def test_mini_batches_average_to_the_enumeration_of_all_batches():
    """T = 2, K = 1, eta = 1, m = n: the mean metric after a step is the average over all N^(n*B) draws of batches."""
    problem, count = random_logistic(4, n=2, N=3, d_u=2, d_v=1, batch=2), 30_000
    start, draws = random_start(problem), list(itertools.product(range(3), repeat=2))
    steps = {"gamma_u": 0.9, "gamma_v": 0.5, "eta_u": 1.0, "eta_v": 1.0}
    run = rc.simulate("fedavg-p", problem, Trace.full(2), K=1, T=2, seed=1, replicates=count, **start, **steps)
    full, outcomes = oracle_of(problem), []
    for first, second in itertools.product(draws, draws):
        batches = [problem.A[0][list(first)], problem.A[1][list(second)]]
        noisy = logistic(batches, problem.d_u, problem.rho)
        g = [noisy(i, start["x0"], start["v0"][i]) for i in range(2)]
        u = start["x0"] - 0.9 * (g[0][0] + g[1][0]) / 2
        v = np.array([start["v0"][i] - 0.5 * g[i][1] for i in range(2)])
        outcomes.append(quantities(full, u, v))
    for name in RECORDS:
        values = np.array([outcome[name] for outcome in outcomes])
        assert within(run.records[name][:, 1].mean(), values.mean(), values.std(), count)
        # Every replicate is one of the outcomes.
        nearest = np.abs(run.records[name][:200, 1, None] - values).min(axis=1)
        assert nearest.max() < 1e-12


@pytest.mark.parametrize(("d_u", "d_v"), [(3, 4), (4, 1), (5, 3), (1, 0), (0, 6)])
@pytest.mark.parametrize("kind", ["quadratic", "logistic"])
def test_additive_noise_has_the_stated_total_variance(d_u, d_v, kind, final_state):
    """E||noise_u||^2 = sigma_u^2 over all coordinates together, equal and uncorrelated among them; sigma_v likewise."""
    count, n = 20_000, 2
    problem = random_quadratic(1, n, d_u, d_v) if kind == "quadratic" else random_logistic(1, n, 3, d_u, d_v)
    start = random_start(problem)
    setup = ready(
        "fedavg-p", problem, Trace.full(n), K=1, T=1, sigma_u=1.5, sigma_v=0.5,
        gamma_u=1.0, gamma_v=1.0, eta_u=1.0, eta_v=1.0, **start,
    )  # fmt: skip
    server, client = final_state(setup, seed=8, replicates=count)
    g_u, g_v = problem.gradients(start["x0"], start["v0"])
    shared = server[0, :d_u] - (start["x0"] - g_u.mean(axis=0))[:, None]
    personal = np.concatenate([client[i, 0, d_u:] - (start["v0"][i] - g_v[i])[:, None] for i in range(n)])
    for noise, total, copies in ((shared, 1.5**2 / n, 1), (personal, 0.5**2, n)):
        if not noise.size:
            continue
        each = total * copies / len(noise)
        products = noise[:, None] * noise[None]
        deviation = each * np.sqrt(1 + np.eye(len(noise)))
        assert within(products.mean(axis=-1), each * np.eye(len(noise)), deviation, count)
        assert within(noise.mean(axis=1), 0.0, np.sqrt(each), count)
        size = (noise**2).sum(axis=0)
        assert within(size.mean(), total * copies, each * np.sqrt(2 * len(noise)), count)
    if shared.size and personal.size:
        cross = (shared[:, None] * personal[None]).mean(axis=-1)
        assert within(cross, 0.0, np.sqrt(1.5**2 / n / d_u * 0.25 / d_v), count)


def test_noise_is_independent_between_steps_rounds_and_clients(final_state):
    """With zero gradients a run is a random walk: its variance grows by sigma^2 per step, round and client."""
    n, d, K, T, count = 3, 2, 4, 5, 20_000
    problem = Quadratic(np.zeros((n, d, d)), np.zeros((n, d)), shared=1)
    setup = ready(
        "fedavg-p", problem, Trace.full(n), K=K, T=T, sigma_u=1.0, sigma_v=1.0,
        gamma_u=1.0, gamma_v=1.0, eta_u=1.0, eta_v=1.0,
    )  # fmt: skip
    server, client = final_state(setup, seed=8, replicates=count)
    u, v = server[0, 0], client[:, 0, 1]
    assert within((u**2).mean(), K * T / n, np.sqrt(2) * K * T / n, count)
    assert within((v**2).mean(axis=1), K * T, np.sqrt(2) * K * T, count)
    for i, j in itertools.combinations(range(n), 2):
        assert within((v[i] * v[j]).mean(), 0.0, K * T, count)
    assert within((u * v).mean(axis=1), 0.0, K * T / np.sqrt(n), count)


def test_sigma_serves_the_only_block():
    """``sigma`` is sigma_u without personal variables and sigma_v without a shared one."""
    shared, personal = random_quadratic(1, 3, 2, 0), random_quadratic(1, 3, 0, 2)
    options = {"K": 2, "T": 3, **random_steps(1)}
    for problem, name in ((shared, "sigma_u"), (personal, "sigma_v")):
        one, other = (
            rc.exact("fedavg-p", problem, Trace.uniform(3, 2), **{key: 0.7}, **options) for key in ("sigma", name)
        )
        assert bits(one) == bits(other)
        silent = rc.exact("fedavg-p", problem, Trace.uniform(3, 2), **options)
        assert (one.metric[1:] > silent.metric[1:]).all()


def test_the_twin_of_fedavg_p_by_hand():
    """f_1 = (u+v)^2/2, f_2 = u^2: one round with client 1 alone, K = 2, computed on paper."""
    H = np.array([[[1.0, 1.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 0.0]]])
    gradient = quadratic(H, np.zeros((2, 2)), 1)
    steps = {"gamma_u": 0.5, "gamma_v": 0.25, "eta_u": 2.0, "eta_v": 0.5}
    records = fedavg_p(gradient, [[1, 0], [1, 1]], np.array([1.0]), np.array([[1.0], [3.0]]), K=2, **steps)
    # Client 1: (1, 1) -> (0, 0.5) -> (-0.25, 0.375); u = -1 + 2*(-0.25) = -1.5; v_1 = 0.5 + 0.5*0.375 = 0.6875.
    # Gradients then: f_1: u + v_1 = -0.8125 in both blocks; f_2: 2u = -3 and 0.
    np.testing.assert_allclose(records["G_u"], [4.0, 1.90625**2])
    np.testing.assert_allclose(records["G_v"], [2.0, 0.8125**2 / 2])
    np.testing.assert_allclose(records["B"], [8.0, 0.8125**2 + 9])
