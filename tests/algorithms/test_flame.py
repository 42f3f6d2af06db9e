"""FLAME on all engines, against a twin written from the paper's Algorithm 1."""

import functools

import numpy as np
import pytest
from scipy.optimize import root
from twins_flame import biased_select, flame, lemma2

import ratecheck as rc
from ratecheck.engines import setup
from ratecheck.engines.moments.expectation import Moments
from ratecheck.engines.monte_carlo import leap, stepwise
from ratecheck.participation import Trace
from ratecheck.problems import Bilevel, Logistic, Quadratic

N, D = 5, 4
PROBLEM = Quadratic.synthetic(N, D, D, curvature=1.0, seed=2)
RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.random((14, N)) < 0.5
MATRIX[[0, 6]] = False  # rounds without anybody
START = RANDOM.standard_normal(D)
ALPHA = RANDOM.random(N) + 0.1
LAMBDA, RHO = 1.5, 2.0
SIZES = {
    "flame": {"eta": 0.15, "rho": RHO, "lambda_": LAMBDA, "alpha": ALPHA},
    "flame-published": {"eta": 0.15, "rho": RHO, "lambda_": LAMBDA, "alpha": ALPHA},
    "flame-exact": {"rho": RHO, "lambda_": LAMBDA, "alpha": ALPHA},
}
STEPS = {"flame": 4, "flame-published": 4, "flame-exact": 1}
# What the engines record, and what the twin calls it.
RECORDS = {"grad_L2": "grad_L2", "grad_theta2": "theta2", "lagrangian": "lagrangian"}
BAND = 4.5  # standard errors; with fixed seeds a passing comparison stays passed

variants = pytest.mark.parametrize("algorithm", ["flame", "flame-published", "flame-exact"])
engines = pytest.mark.parametrize("engine", ["exact", "step", "leap"])
sampled = pytest.mark.parametrize("engine", ["step", "leap"])


def inner_solution(i, w):
    """The minimiser of f_i + lambda/2 ||. - w||^2."""
    return np.linalg.solve(PROBLEM.H[i] + LAMBDA * np.eye(D), PROBLEM.g[i] + LAMBDA * w)


def twin(algorithm, matrix=MATRIX, *, problem=PROBLEM, x0=START, alpha=ALPHA, rho=RHO, K=None, **options):
    """The twin's run from theta_i = w_i = x0 and pi_i = 0."""
    start = np.tile(x0, (problem.n, 1))
    return flame(
        lambda i, x: problem.H[i] @ x - problem.g[i], matrix, start, start, np.zeros_like(start),
        K=STEPS[algorithm] if K is None else K, eta=0.15, rho=rho, lambda_=LAMBDA, alpha=alpha,
        exact=inner_solution if algorithm == "flame-exact" else None, published=algorithm == "flame-published",
        value=lambda i, x: x @ problem.H[i] @ x / 2 - problem.g[i] @ x, **options,
    )  # fmt: skip


def run(algorithm, engine, trace, problem=PROBLEM, **options):
    """Records by name; of one replicate (T,) from the exact engine, otherwise (replicates, T)."""
    options = {"K": STEPS[algorithm], "x0": START, "records": tuple(RECORDS), **SIZES[algorithm], **options}
    if engine == "exact":
        return rc.exact(algorithm, problem, trace, **options).records
    return rc.simulate(algorithm, problem, trace, engine=engine, **options).records


def prepared(algorithm, trace, *, sigma=0.0, T=None, problem=PROBLEM, records=None):
    """A setup, for tests that look at the state."""
    return setup.prepare(
        algorithm, problem, trace, K=STEPS[algorithm], T=T, x0=START, noise={"sigma": sigma},
        step_sizes=SIZES[algorithm], records=records,
    )  # fmt: skip


@pytest.fixture
def followed(monkeypatch):
    """A function that simulates and returns w (d, R), the clients' theta, w_i and pi (n, 3, d, R) and the masks.

    The state is that after the last round; the masks (T, n, R) are what was played.
    """

    def simulate(ready, engine="step", **options):
        ends, module, name = [], *((leap, "run_leaps") if engine == "leap" else (stepwise, "run_rounds"))
        original = getattr(module, name)

        def spy(*arguments):
            original(*arguments)
            server, client, _, _, masks, first_round, record = arguments[-7:]
            if first_round + len(record) == ready.T:
                ends.append((server, client, masks))

        with monkeypatch.context() as patch:
            patch.setattr(module, name, spy)
            patch.setattr(stepwise, "LANES", 4096)
            kernel = leap.LeapKernel(ready) if engine == "leap" else None
            stepwise.simulate(ready, kernel=kernel, threads=1, **options)
        ((server, client, masks),) = ends
        return server.reshape(D, -1), client.reshape(N, 3, D, -1), masks

    return simulate


# --- Against the twin, without noise ---


@engines
@variants
def test_without_noise(algorithm, engine):
    """Every engine follows the paper's algorithm to rounding, with unequal alpha and rounds without anybody."""
    records, expected = run(algorithm, engine, Trace(MATRIX)), twin(algorithm)
    for name, theirs in RECORDS.items():
        wanted = np.broadcast_to(expected[theirs], records[name].shape)
        np.testing.assert_allclose(records[name], wanted, rtol=1e-10, err_msg=name)


@sampled
@variants
def test_state_equals_the_twin(followed, algorithm, engine):
    """Server and clients hold the twin's w, theta_i, w_i and pi_i after every round, and w is the mean of the z_i."""
    expected = twin(algorithm)
    for T in range(1, len(MATRIX) + 1):
        w, clients, _ = followed(prepared(algorithm, Trace(MATRIX), T=T), engine)
        np.testing.assert_allclose(w[:, 0], expected["w"][T], atol=1e-12)
        for slot, name in enumerate(("theta", "wi", "pi")):
            np.testing.assert_allclose(clients[:, slot, :, 0], expected[name][T], atol=1e-12, err_msg=name)


@pytest.mark.parametrize("algorithm", ["flame", "flame-published", "flame-exact"])
def test_on_logistic_losses(algorithm):
    """Follows the twin on losses that are not quadratic, with inner problems solved by Newton's method."""
    problem, none = Logistic.synthetic(n=N, N=6, d=D, shared=D, rho=0.2, seed=5), np.zeros((N, 0))

    def gradient(i, theta):
        return problem.gradients(theta, none)[0][i]

    def inner_solution(i, w):
        found = root(lambda theta: gradient(i, theta) + LAMBDA * (theta - w), w, tol=1e-14)
        assert np.abs(found.fun).max() < 1e-12
        return found.x

    start = np.tile(START, (N, 1))
    expected = flame(
        gradient, MATRIX, start, start, np.zeros_like(start), K=4, eta=0.15, rho=RHO, lambda_=LAMBDA, alpha=ALPHA,
        exact=inner_solution if algorithm == "flame-exact" else None, published=algorithm == "flame-published",
    )  # fmt: skip
    found = run(algorithm, "step", Trace(MATRIX), problem=problem, records=("grad_L2", "grad_theta2"))
    np.testing.assert_allclose(found["grad_L2"][0], expected["grad_L2"], rtol=1e-9)
    np.testing.assert_allclose(found["grad_theta2"][0], expected["theta2"], rtol=1e-9)


@engines
def test_alpha_is_one_over_n_by_default(engine):
    """The weights of the objective, where none are given."""
    plain = {name: size for name, size in SIZES["flame"].items() if name != "alpha"}
    options = {"K": 2, "x0": START, **plain}
    simulate = rc.exact if engine == "exact" else functools.partial(rc.simulate, engine=engine)
    found = simulate("flame", PROBLEM, Trace(MATRIX), **options).metric
    same = simulate("flame", PROBLEM, Trace(MATRIX), alpha=np.full(N, 1 / N), **options).metric
    np.testing.assert_allclose(found, same, rtol=1e-12)
    expected = twin("flame", alpha=np.full(N, 1 / N), K=2)["grad_L2"] / N
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-10)


@engines
def test_clients_may_take_different_numbers_of_steps(engine):
    """A list of K: client i takes K_i inner steps; the twin, which knows one K only, plays round by round."""
    counts, T = [1, 5, 2, 3, 7], 2 * N
    theta, wi, pi, expected = np.tile(START, (N, 1)), np.tile(START, (N, 1)), np.zeros((N, D)), []
    for t in range(T):
        row = np.arange(N)[None] == t % N
        played = flame(
            lambda i, x: PROBLEM.H[i] @ x - PROBLEM.g[i], row, theta, wi, pi, K=counts[t % N], eta=0.15, rho=RHO,
            lambda_=LAMBDA, alpha=ALPHA,
        )  # fmt: skip
        theta, wi, pi = (played[name][1] for name in ("theta", "wi", "pi"))
        expected.append(played["grad_L2"][0])
    found = run("flame", engine, Trace(np.tile(np.eye(N), (2, 1))), K=counts)["grad_L2"]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-10)


# --- With noise ---


@sampled
@pytest.mark.parametrize("trace", [Trace(MATRIX), Trace.uniform(N, 2)], ids=["given", "uniform"])
def test_with_noise(trace, engine):
    """The mean over replicates of either Monte Carlo engine agrees with the exact expectation."""
    options, runs = {"T": len(MATRIX), "sigma": 0.8}, 2500
    exact = run("flame", "exact", trace, **options)
    for name, values in run("flame", engine, trace, seed=11, replicates=runs, **options).items():
        error = values.std(axis=0, ddof=1) / np.sqrt(runs)
        # 12 comparisons of 14 dependent rounds: the band is exceeded by chance with probability below 0.2%.
        assert (np.abs(values.mean(axis=0) - exact[name]) <= BAND * error + 1e-12 * np.abs(exact[name])).all(), name
    quiet = run("flame", "exact", trace, T=len(MATRIX))["grad_theta2"]
    assert exact["grad_theta2"][-1] > 1.5 * quiet[-1]  # Noise of this size is seen.


@pytest.mark.parametrize("algorithm", ["flame", "flame-published", "flame-exact"])
def test_sampling_without_noise(algorithm):
    """Expectations over uniform subsets: the average of the twin over all sequences of participants."""
    subsets = [np.isin(np.arange(N), pair) for pair in np.transpose(np.triu_indices(N, 1))]
    plans = [[first, second, first] for first in subsets for second in subsets]
    expected = np.mean([twin(algorithm, plan)["grad_L2"] for plan in plans], axis=0)
    found = run(algorithm, "exact", Trace.uniform(N, 2), T=3)["grad_L2"]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_expectation_after_one_noisy_step():
    """E sum_i ||grad_theta_i L||^2 after one round of one step, from the variance eta^2 sigma^2/d by hand."""
    sigma, full = 2.5, np.ones((2, N), dtype=bool)
    quiet = twin("flame", full, K=1)["theta2"][1]
    eta = SIZES["flame"]["eta"]
    noise = 0.0
    for i, alpha in enumerate(ALPHA):
        kept = LAMBDA * (1 - LAMBDA * alpha / (LAMBDA * alpha + RHO))  # w_i moves along with theta_i.
        noise += alpha**2 * np.sum((PROBLEM.H[i] + kept * np.eye(D)) ** 2) * eta**2 * sigma**2 / D
    found = run("flame", "exact", Trace(full), K=1, sigma=sigma)["grad_theta2"]
    assert found[1] == pytest.approx(quiet + noise, rel=1e-10)
    assert noise > 0.05 * quiet


# --- Lemma 2, equation (12) and the limits ---


@variants
def test_lemma_2_holds_for_the_twin(algorithm):
    """pi_i = lambda alpha_i (theta_i - w_i) for all clients at every iterate, and grad_w L = 0."""
    expected = twin(algorithm)
    for theta, wi, pi in zip(expected["theta"], expected["wi"], expected["pi"], strict=True):
        np.testing.assert_allclose(lemma2(theta, wi, pi, lambda_=LAMBDA, alpha=ALPHA), 0, atol=1e-13)
    np.testing.assert_allclose(expected["w2"], 0, atol=1e-25)


@pytest.mark.parametrize(("algorithm", "sigma"), [("flame", 0.0), ("flame", 0.7), ("flame-exact", 0.0)])
@sampled
def test_lemma_2_holds_on_every_path(followed, algorithm, sigma, engine):
    """Also with noise: Lemma 2 and (12), sum_i (pi_i + rho (w_i - w)) = 0, in every replicate after every round."""
    moved = 0.0
    for T in (1, 2, 5, 14):
        w, clients, _ = followed(prepared(algorithm, Trace.uniform(N, 3), T=T, sigma=sigma), engine, replicates=5)
        theta, wi, pi = clients.transpose(1, 0, 2, 3)
        np.testing.assert_allclose(pi, LAMBDA * ALPHA[:, None, None] * (theta - wi), atol=1e-13)
        np.testing.assert_allclose((pi + RHO * (wi - w)).sum(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose((wi + pi / RHO).mean(axis=0), w, atol=1e-13)
        moved = np.abs(pi).max()
    assert moved > 0.01


@variants
def test_lemma_2_holds_in_the_moments(algorithm):
    """The combination that Lemma 2 says is zero has mean and variance zero in the exact engine, and (12) as well."""
    sigma = 0.7 if algorithm == "flame" else 0.0
    ready = prepared(algorithm, Trace.uniform(N, 2), T=12, sigma=sigma)
    moments, eye = Moments(ready), np.eye(D)
    size = D + N * 3 * D + 1
    lemma, by_w = np.zeros((N * D, size)), np.zeros((D, size))
    by_w[:, :D] = -N * RHO * eye
    for i in range(N):
        theta, wi, pi = (slice(D * (1 + 3 * i + slot), D * (2 + 3 * i + slot)) for slot in range(3))
        rows = slice(i * D, (i + 1) * D)
        lemma[rows, pi], lemma[rows, theta], lemma[rows, wi] = eye, -LAMBDA * ALPHA[i] * eye, LAMBDA * ALPHA[i] * eye
        by_w[:, pi], by_w[:, wi] = eye, RHO * eye
    spreads = []
    for moment, _ in moments.rounds():
        for identity in (lemma, by_w):
            np.testing.assert_allclose(identity @ moment.mean, 0, atol=1e-12)
            np.testing.assert_allclose(identity @ moment.covariance @ identity.T, 0, atol=1e-12)
        spreads.append(np.trace(moment.covariance))
    assert spreads[-1] > 0.1


@engines
def test_a_large_penalty(engine):
    """Coefficients of very different size are no reason to refuse a linear method; rounding grows with rho."""
    records = run("flame", engine, Trace(MATRIX), rho=1e7)
    assert np.ravel(records["grad_theta2"])[-1] == pytest.approx(twin("flame", rho=1e7)["theta2"][-1], rel=1e-6)


@engines
def test_many_inner_steps_solve_the_inner_problem(engine):
    """With K growing, flame tends to flame-exact, at the rate of gradient descent on the inner problem."""
    solved = np.ravel(run("flame-exact", engine, Trace(MATRIX))["grad_L2"])
    errors = [
        np.abs(np.ravel(run("flame", engine, Trace(MATRIX), K=K, eta=1 / (1 + LAMBDA))["grad_L2"]) / solved - 1).max()
        for K in (1, 5, 25, 125)
    ]
    # The inner problems have eigenvalues from 0.1 + lambda to 1 + lambda: a factor of at most 0.36 per step.
    assert errors[1] < errors[0] * 0.36**2
    assert errors[2] < errors[1] * 0.36**15
    assert errors[3] < 1e-12


def test_limit_minimises_the_weighted_envelopes(followed):
    """Theorem 2's stationary point: theta_i = prox_i(w), and w minimises sum_i alpha_i F_i, F_i the Moreau envelope."""
    ready = prepared("flame-exact", Trace.uniform(N, 3), T=3000, records=("grad_L2",))
    w, clients, _ = followed(ready)
    shrink = np.linalg.inv(PROBLEM.H + LAMBDA * np.eye(D))
    # sum_i alpha_i lambda (w - (H_i + lambda)^-1 (g_i + lambda w)) = 0.
    matrix = np.tensordot(ALPHA, np.eye(D) - LAMBDA * shrink, axes=1)
    solution = np.linalg.solve(matrix, np.einsum("i,iab,ib->a", ALPHA, shrink, PROBLEM.g))
    np.testing.assert_allclose(w[:, 0], solution, atol=1e-9)
    np.testing.assert_allclose(clients[:, 0, :, 0], [inner_solution(i, solution) for i in range(N)], atol=1e-9)
    unweighted = np.linalg.solve((np.eye(D) - LAMBDA * shrink).mean(axis=0), np.einsum("iab,ib->a", shrink, PROBLEM.g))
    assert np.linalg.norm(unweighted / N - solution) > 0.01


# --- Biased selection ---


@pytest.mark.parametrize(
    ("algorithm", "s"),
    [
        ("flame", 1),
        ("flame", 2),
        ("flame", N),
        pytest.param("flame-exact", 1),
        pytest.param("flame-exact", 2),
        ("flame-exact", N),
    ],
)
def test_largest_gradients_are_selected(followed, algorithm, s):
    """With every client a candidate the run is the twin's, and so is who takes part in every round."""
    expected = twin(algorithm, None, select=lambda _, scores: biased_select(scores, np.arange(N), s), rounds=25)
    trace = Trace.largest(N, s)
    found = run(algorithm, "step", trace, T=25, replicates=2)["grad_L2"]
    np.testing.assert_allclose(found, np.broadcast_to(expected["grad_L2"], (2, 25)), rtol=1e-10)
    _, _, masks = followed(prepared(algorithm, trace, T=25), replicates=2)
    np.testing.assert_array_equal(masks, np.broadcast_to(expected["selected"][:, :, None], masks.shape))
    if s < N:
        assert len(np.unique(expected["selected"], axis=0)) > 2  # The selection changes from round to round.


def test_only_candidates_are_selected(followed):
    """Of c < n candidates, which are those of uniform sampling, the s with the largest scores take part."""
    trace, T, seed = Trace.largest(N, 2, 3), 25, 6
    _, _, masks = followed(prepared("flame", trace, T=T), replicates=4, seed=seed)
    found = run("flame", "step", trace, T=T, replicates=4, seed=seed)["grad_L2"]
    for replicate in range(4):
        candidates = Trace.uniform(N, 3).draw(T, seed=seed, replicate=replicate)

        def select(t, scores, candidates=candidates):
            return biased_select(scores, candidates[t], 2)

        expected = twin("flame", None, select=select, rounds=T)
        np.testing.assert_array_equal(masks[:, :, replicate], expected["selected"])
        np.testing.assert_allclose(found[replicate], expected["grad_L2"], rtol=1e-10)


def test_exactly_s_of_the_candidates_take_part(followed):
    """With noise too, in every round and replicate."""
    T, runs, seed = 20, 70, 9
    _, _, masks = followed(prepared("flame", Trace.largest(N, 2, 4), T=T, sigma=1.0), replicates=runs, seed=seed)
    assert (masks.sum(axis=1) == 2).all()
    for replicate in (0, 1, 69):
        candidates = Trace.uniform(N, 4).draw(T, seed=seed, replicate=replicate)
        assert not (masks[:, :, replicate] & ~candidates).any()
    assert len(np.unique(masks[0], axis=1).T) > 1  # Replicates differ.


def test_ties_go_to_the_lower_index(followed):
    """Equal clients have equal scores: those that have not moved yet are taken in order."""
    same = Quadratic(np.tile(PROBLEM.H[0], (N, 1, 1)), np.tile(PROBLEM.g[0], (N, 1)), shared=D)
    sizes = {"eta": 0.15, "rho": RHO, "lambda_": LAMBDA}
    ready = setup.prepare(
        "flame", same, Trace.largest(N, 2), K=4, T=20, x0=START, noise={}, step_sizes=sizes, records=None
    )
    _, _, masks = followed(ready)
    expected = twin(
        "flame", None, problem=same, alpha=np.full(N, 1 / N), rounds=20,
        select=lambda _, scores: biased_select(scores, np.arange(N), 2),
    )  # fmt: skip
    np.testing.assert_array_equal(masks[0, :, 0], [True, True, False, False, False])
    np.testing.assert_array_equal(masks[1, :, 0], [False, False, True, True, False])
    np.testing.assert_array_equal(masks[:2, :, 0], expected["selected"][:2])


def test_scores_are_of_stochastic_gradients(followed):
    """Where noise drowns the gradients, every client is equally likely; without noise always the same ones are."""
    runs = 2000
    _, _, masks = followed(prepared("flame", Trace.largest(N, 2), T=1, sigma=1e6), replicates=runs)
    share = masks[0].mean(axis=1)
    assert (np.abs(share - 2 / N) <= BAND * np.sqrt(2 / N * (1 - 2 / N) / runs)).all()
    _, _, masks = followed(prepared("flame", Trace.largest(N, 2), T=1), replicates=3)
    assert (masks == masks[:, :, :1]).all()


@pytest.mark.parametrize(
    ("engine", "trace"),
    [("step", Trace.largest(N, 2, 4)), ("step", Trace.uniform(N, 2)), ("leap", Trace.uniform(N, 2))],
    ids=["step, largest", "step", "leap"],
)
def test_independent_of_threads_and_splits(engine, trace):
    """A replicate depends on seed and its number alone, also where its gradients say who takes part."""
    options = {"T": 10, "sigma": 0.5, "seed": 5}
    one = run("flame", engine, trace, replicates=130, threads=1, **options)["grad_L2"]
    two = run("flame", engine, trace, replicates=130, threads=2, **options)["grad_L2"]
    few = run("flame", engine, trace, replicates=7, **options)["grad_L2"]
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one[:7], few)
    assert len(np.unique(one[:, -1])) == 130


@pytest.mark.parametrize("engine", ["leap", "exact"])
def test_biased_selection_needs_the_step_engine(engine):
    """Who takes part depends on the state, which is not affine: the error names the engine that would do."""
    with pytest.raises(rc.InputError, match="engine=step"):
        run("flame", engine, Trace.largest(N, 2), T=3)


# --- Unusable input ---

INDEFINITE = Quadratic(np.tile(np.diag([1.0, -2.0]), (N, 1, 1)), np.ones((N, 2)), shared=2)
SMALL = {"K": 1, "x0": np.zeros(2), "alpha": 1.0}


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        ("flame", {"alpha": np.ones(N + 1)}, "alpha has the shape (6,)"),
        ("flame", {"alpha": np.ones((N, 1))}, "alpha has the shape (5, 1)"),
        ("flame", {"alpha": [1, 1, 0, 1, 1]}, "alpha[2]=0"),
        ("flame", {"alpha": -1.0}, "alpha=-1"),
        ("flame", {"alpha": [1, 1, 1, 1, np.nan]}, "alpha[4]=nan"),
        ("flame", {"eta": [0.1] * N}, "eta=[0.1, 0.1, 0.1, 0.1, 0.1]"),
        ("flame", {"rho": 0.0}, 'breaks "rho > 0"'),
        ("flame", {"lambda_": -1.0}, 'breaks "lambda_ > 0"'),
        ("flame", {"y0": np.zeros(D)}, "no start y0"),
        ("flame", {"sigma_f": 0.1}, "no noise 'sigma_f'"),
        ("flame", {"weights": np.ones(N)}, "flame does not weigh its local steps"),
        ("flame", {"K": [1, 2]}, "K has 2 entries"),
        ("flame", {"K": [1, 2, 0, 1, 1]}, "K[2]=0"),
        ("flame-exact", {"sigma": 0.1}, "no noise"),
        ("flame-exact", {"sigma_u": 0.1}, "no noise"),
        ("flame-exact", {"K": 2}, "contradicts flame-exact"),
        ("flame-exact", {"K": [1, 1, 1, 1, 2]}, "contradicts flame-exact"),
        ("flame-exact", {"eta": 0.1}, "no step size 'eta'"),
        ("flame-exact", {"problem": INDEFINITE, **SMALL}, "lambda_=1.5 breaks"),
        ("flame", {"problem": Quadratic.synthetic(N, D, 2), "x0": np.zeros(2)}, "use shared=4"),
        ("flame", {"problem": Bilevel.synthetic(N, 2, 2)}, "not for a bilevel one"),
    ],
)
@engines
def test_unusable_input(engine, algorithm, options, message):
    """One line that names the argument."""
    with pytest.raises(rc.InputError) as caught:
        run(algorithm, engine, Trace(MATRIX), **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_large_lambda_makes_an_indefinite_quadratic_solvable():
    """What flame-exact refuses at lambda = 1.5 it runs at lambda = 2.5, and flame at either."""
    found = run("flame-exact", "exact", Trace(MATRIX), problem=INDEFINITE, lambda_=2.5, **SMALL)["grad_L2"]
    assert np.isfinite(found).all()
    assert np.isfinite(run("flame", "exact", Trace(MATRIX), problem=INDEFINITE, **SMALL)["grad_L2"]).all()


@pytest.mark.parametrize(
    "alpha", ["1e18", *(pytest.param(each, marks=pytest.mark.long) for each in ("1e-18", "1e300"))]
)
def test_weights_far_from_rho(cli, alpha):
    """No difference of large numbers: the method is a linear map whatever the ratio of the two."""
    done = cli("verify", "flame/theorem-1-repaired", "m=3", "s=2", "T=4", f"alpha={alpha}")
    assert done.returncode in (0, 2, 3), done.stderr
