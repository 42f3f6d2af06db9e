"""Weights of clients in the objective, and clients that are drawn by them: against sums over all draws."""

import itertools
import math

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS
from ratecheck.engines.rigorous.moment_runs import RigorousRun
from ratecheck.kernels.random import stream_keys
from ratecheck.participation import Trace, build
from ratecheck.problems import Quadratic, WeightedQuadratic
from ratecheck.problems.build import build as build_problem

P = np.array([0.5, 0.3, 0.2])
RUN = {"K": 2, "T": 3, "gamma_u": 0.3, "eta_u": 1.3}
SIGMA = 0.4


@pytest.fixture(scope="module")
def problem():
    """Three quadratics of two variables with unequal weights."""
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((3, 2, 2))
    return WeightedQuadratic(matrices @ matrices.swapaxes(1, 2) / 4, rng.standard_normal((3, 2)), 2, P)


def outcomes(m, *, again):
    """Every sequence of m draws and its probability, from the definition."""
    for who in itertools.product(range(3), repeat=m):
        share, left = 1.0, 1.0
        for i in who:
            share, left = share * P[i] / left, left if again else left - P[i]
        if again or len(set(who)) == m:
            yield who, share


def twin(problem, draws, scale):
    """E ||grad f||^2 by round: the mean, and the covariance of x, along every sequence of draws.

    ``draws`` are pairs of who takes part in a round and its probability; ``scale`` (n,) multiplies what clients moved.
    """
    H, g = problem.own
    gamma, m = RUN["gamma_u"], len(draws[0][0])
    Hbar, gbar = np.tensordot(P, H, 1), P @ g
    # The oracle's noise is that of a gradient of n p_i f_i.
    step = [np.eye(2) - gamma * H[i] for i in range(3)]
    noise = [gamma**2 * SIGMA**2 / 2 / (3 * P[i]) ** 2 * (np.eye(2) + step[i] @ step[i].T) for i in range(3)]
    states, found = [(1.0, np.zeros(2), np.zeros((2, 2)))], []
    for _ in range(RUN["T"]):
        slope = [(q, Hbar @ x - gbar, np.trace(Hbar @ C @ Hbar)) for q, x, C in states]
        found.append(sum(q * (s @ s + spread) for q, s, spread in slope))
        new = []
        for (q, x, C), (who, share) in itertools.product(states, draws):
            A, b, N = np.eye(2), np.zeros(2), np.zeros((2, 2))
            for i in who:
                weight = RUN["eta_u"] / m * scale[i]
                A = A + weight * (step[i] @ step[i] - np.eye(2))
                b = b + weight * gamma * (step[i] @ g[i] + g[i])
                N = N + weight**2 * noise[i]
            new.append((q * share, A @ x + b, A @ C @ A.T + N))
        states = new
    return np.array(found)


CASES = {
    "with replacement": ("drawn-fedavg", Trace.weighted(P, 2, again=True), [*outcomes(2, again=True)], np.ones(3)),
    "without": ("drawn-fedavg", Trace.weighted(P, 2), [*outcomes(2, again=False)], np.ones(3)),
    "uniform": (
        "weighted-fedavg", Trace.uniform(3, 2), [(who, 1 / 3) for who in itertools.combinations(range(3), 2)], 3 * P,
    ),
    "everybody": ("weighted-fedavg", Trace.full(3), [((0, 1, 2), 1.0)], 3 * P),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_engines_agree_with_sums_over_all_draws(name, problem):
    """Exact moments to rounding, interval arithmetic in digits, simulations within 4.5 standard errors."""
    method, pattern, draws, scale = CASES[name]
    wanted = twin(problem, draws, scale)
    found = rc.exact(method, problem, pattern, sigma_u=SIGMA, **RUN).records["G_u"]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    sizes = {name: RUN[name] for name in ("gamma_u", "eta_u")}
    run = RigorousRun.of(
        METHODS[method], problem, pattern, K=2, T=3, noise={"sigma_u": SIGMA}, step_sizes=sizes, start={}
    )
    enclosure = run.averages(["G_u"], 80)["G_u"]
    assert float(enclosure.low) == pytest.approx(wanted.mean(), rel=1e-12)
    assert float(enclosure.high) == pytest.approx(wanted.mean(), rel=1e-12)
    drawn = rc.simulate(method, problem, pattern, sigma_u=SIGMA, replicates=4000, seed=2, **RUN).records["G_u"]
    off = np.abs(drawn.mean(axis=0) - wanted)
    assert (off <= 4.5 * drawn.std(axis=0) / math.sqrt(len(drawn)) + 1e-12).all()


@pytest.mark.parametrize("again", [True, False])
def test_the_law_and_the_draws_are_those_of_successive_draws(again):
    """Probabilities of sets by both, and frequencies of 20,000 draws; rate is the share of clients that come."""
    pattern, keys = Trace.weighted(P, 2, again=again), stream_keys(3, range(20_000))
    wanted: dict[tuple[int, ...], float] = {}
    for who, share in outcomes(2, again=again):
        wanted[tuple(sorted(who))] = wanted.get(tuple(sorted(who)), 0.0) + share
    law = {members: float(q) for q, members in pattern.law(0).support()}
    assert law == pytest.approx(wanted, rel=1e-12)
    assert sum(q for q, _ in pattern.law(0).support()) == 1
    counts = pattern.masks(5, 1, keys)[0]
    for members, share in wanted.items():
        here = (counts == np.bincount(members, minlength=3)[:, None]).all(axis=0).mean()
        assert abs(here - share) <= 4.5 * math.sqrt(share * (1 - share) / 20_000)
    assert pattern.rate == pytest.approx(sum(share * len(set(members)) for members, share in wanted.items()) / 3)
    np.testing.assert_array_equal(pattern.masks(5, 1, keys[:, 7:9].copy())[0], counts[:, 7:9])


def test_a_weighted_problem_is_the_mean_of_weighted_functions(problem):
    """Values, gradients and constants by sums with weights; written, read, and without a client."""
    H, g = problem.own
    x = np.array([0.7, -0.4])
    assert problem.value(x, np.zeros((3, 0))) == pytest.approx(
        sum(p * (x @ A @ x / 2 - b @ x) for p, A, b in zip(P, H, g, strict=True))
    )
    best = np.linalg.solve(np.tensordot(P, H, 1), P @ g)
    np.testing.assert_allclose(problem.minimizer()[0], best)
    assert problem.constants()["L"].value == pytest.approx(3 * max(P * np.linalg.norm(H, 2, axis=(1, 2))))
    again = WeightedQuadratic.read(problem.fields())
    np.testing.assert_array_equal(again.H, problem.H)
    np.testing.assert_allclose(problem.without_client(0).shares, [0.6, 0.4])
    assert problem.without_variable(0).d == 1
    np.testing.assert_array_equal(WeightedQuadratic(H, g, 2).H, Quadratic(H, g, 2).H)


def test_tables_weigh_clients_by_their_rows(tmp_path):
    """``average=rows`` gives the weights to methods, and least squares as quadratics have them too."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b,client,label\n1,0,x,1\n0,1,x,2\n1,1,x,0\n2,1,y,1\n")
    for more in ({"loss": "squares"}, {"loss": "huber"}):
        found = build_problem(str(path), {"average": "rows", "client": "client", **more})
        np.testing.assert_allclose(found.shares, [0.75, 0.25])


def claims():
    """A bound on FedAvg with clients drawn by their weights, and one that forgets how they differ."""
    more = {"method": "drawn-fedavg", "given": "convex, f strongly convex, weighted draws"}
    start, steps = "(1 - gamma*mu)**T*dist2_0", "K == 1, gamma <= p_min/(2*L)"
    return (
        theorem(f"last dist2 <= {start} + 2*gamma*zeta_star**2/(m*p_min*mu)", when=steps, **more),
        theorem(f"last dist2 <= {start}", when=f"{steps}, zeta_star >= 0", **more),
    )


def test_a_theorem_about_weighted_draws():
    """The right form holds, the wrong one is violated, and other weights or draws are not what it is about."""
    right, wrong = claims()
    run = {"m": 2, "T": 2000, "problem": WeightedQuadratic.synthetic(4, 3, 3, heterogeneity=3.0)}
    assert rc.verify(right, **run).outcome.name == "HOLDS"
    assert rc.verify(wrong, **run).outcome.name == "VIOLATED"
    for pattern in (Trace.uniform(4, 2), Trace.weighted([0.25] * 4, 2, again=True)):
        assert rc.verify(right, participation=pattern, **run).outcome.name == "NOT_APPLICABLE"


WEIGHED = ({"method": "drawn-fedavg", "given": "weighted draws"}, {"method": "weighted-fedavg", "given": "sampling"})


@pytest.mark.parametrize("method", WEIGHED, ids=lambda each: each["method"])
def test_right_theorems_about_the_functions_without_their_weights_are_not_accused(method):
    """f_1 = 5 x^2 with weight 1/10 has L = 10, not 1; the noise of its gradient is five times that of n p_1 f_1."""
    bowls = WeightedQuadratic([[[10.0]], [[1.0]]], [[10.0], [1.0]], 1, p=[0.1, 0.9])
    given = f"convex, f strongly convex, {method['given']}"
    nearer = theorem("every dist2 <= dist2_prev", method=method["method"], given=given, when="gamma <= 1/L, K == 2")
    assert rc.verify(nearer, problem=bowls, T=5, m=2 if method["given"] == "sampling" else 1).outcome.name == "HOLDS"
    noisy = theorem("last dist2 <= (1 - gamma*mu)**T*dist2_0 + p_max*gamma*sigma**2/(m*mu)", method=method["method"],
                    given=f"{given}, noise", when="gamma <= 1/L, K == 1")  # fmt: skip
    same = WeightedQuadratic([[[1.0]]] * 2, [[0.0]] * 2, 1, p=[0.1, 0.9])
    said = rc.verify(noisy, problem=same, m=1 if method["given"] == "weighted draws" else 2, T=200, sigma=1.0)
    assert said.outcome.name == "HOLDS", str(said)
    assert "hold of f_i and of n p_i f_i" in " ".join(str(said).split())


def test_what_a_run_shows_of_weighted_functions_is_no_constant_of_those_without():
    """A step on f_1 = 5 x^2 - 9 x with weight 1/10 is as long as its gradient, five times that of n p_1 f_1."""
    far = theorem("last dist2 <= (R_0 + gamma*G_run*T)**2", method="drawn-fedavg", given="smooth, visited gradients",
                  when="gamma <= 1/L, K == 1")  # fmt: skip
    bowls = (WeightedQuadratic([[[10.0]], [[1.0]]], [[9.0], [-0.99]], 1, p=[p, 1 - p]) for p in (0.1, 0.5))
    said = [rc.verify(far, problem=each, T=1).outcome.name for each in bowls]
    assert said == ["NOT_APPLICABLE", "HOLDS"]


def test_constants_of_alike_clients_stay_exact():
    """Equal weights change no constant, and no note speaks of them."""
    own = theorem("every dist2 <= dist2_prev", method="weighted-fedavg", given="convex", when="gamma <= 1/L, K == 2")
    equal = WeightedQuadratic([[[10.0]], [[1.0]]], [[10.0], [1.0]], 1, p=[0.5, 0.5])
    said = str(rc.verify(own, problem=equal, T=5))
    assert "L=10 exact" in said
    assert "n p_i" not in said


def test_what_is_not_meant_is_refused(problem):
    """Weights that are none, methods whose clients remember, and a matrix of several draws."""
    for p in ([0.5, 0.4], [1.5, -0.5], []):
        with pytest.raises(rc.InputError, match="breaks"):
            Trace.weighted(p, 1)
    with pytest.raises(rc.InputError, match="there are that many clients"):
        Trace.weighted(P, 4)
    with pytest.raises(rc.InputError, match="keep nothing"):
        rc.exact("scaffold", problem, Trace.weighted(P, 2, again=True), **RUN)
    with pytest.raises(rc.InputError, match="no matrix"):
        Trace.weighted(P, 2, again=True).draw(3)
    with pytest.raises(rc.InputError, match="2 weights, but there are 3 clients"):
        build.build("weighted-draws:0.5,0.5", 3, 1)
    assert build.build("weighted-subsets:0.5,0.3,0.2", 3, 2).weights.tolist() == P.tolist()
    assert build.read(build.fields(Trace.weighted(P, 2, again=True))).copies == 2
