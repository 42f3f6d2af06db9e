"""Graphs whose rounds mix with a probability: against an enumeration of all coins, and who is about that."""

import itertools

import numpy as np
import pytest
from compressing_dsgd import registered

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.participation import Graph
from ratecheck.participation.build import build

GAMMA, START, P = 0.1, np.array([1.0, -2.0]), 0.3


@pytest.fixture(scope="module")
def quadratic():
    """Three clients, two variables."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(3, 2, 2))
    return rc.problems.Quadratic(A @ A.transpose(0, 2, 1) / 2 + 0.2 * np.eye(2), rng.normal(size=(3, 2)), shared=2)


def one_round(name, gradients, W, state, coin, alpha):
    """The state after a round whose coin fell, by the formulas."""
    x, h = state
    y = x - GAMMA * (gradients(x) - h)
    new = W @ y if coin else y
    return (new, h if name == "dsgd" else h + alpha * P / GAMMA * (new - y))


def enumerated(name, quadratic, W, T, alpha=1.0):
    """E G_u and E consensus2 in T rounds, over all sequences of coins."""
    M, c = quadratic.operator()
    gradients = lambda x: np.einsum("ijk,ik->ij", M, x) - c  # noqa: E731
    found = np.zeros((2, T))
    for coins in itertools.product((True, False), repeat=T):
        chance = np.prod([P if coin else 1 - P for coin in coins])
        state = np.tile(START, (3, 1)), np.zeros((3, 2))
        for t, coin in enumerate(coins):
            mean = state[0].mean(axis=0)
            found[0, t] += chance * np.sum(gradients(np.tile(mean, (3, 1))).mean(axis=0) ** 2)
            found[1, t] += chance * np.mean(np.sum((state[0] - mean) ** 2, axis=1))
            state = one_round(name, gradients, W, state, coin, alpha)
    return found


@pytest.mark.parametrize(
    ("name", "given", "graph"),
    [
        ("dsgd", {}, Graph.named("path", 3, P)),
        ("dsgd", {}, Graph.named("exponential", 3, P)),
        ("proxskip", {}, Graph.named("complete", 3, P)),
        ("proxskip", {"alpha": 0.7}, Graph.named("path", 3, P)),
    ],
)
def test_moments_are_those_of_all_coins(quadratic, name, given, graph):
    """To 1e-12, and within the error that the exact engine gives."""
    wanted = enumerated(name, quadratic, graph.mixing, 7, **given)
    found = rc.exact(name, quadratic, graph, K=1, T=7, x0=START, gamma_u=GAMMA, **given)
    for row, quantity in zip(wanted, ("G_u", "consensus2"), strict=True):
        assert found.records[quantity] == pytest.approx(row, rel=1e-12, abs=1e-15)
        assert (np.abs(found.records[quantity] - row) <= found.errors[quantity] + 1e-13 * row).all()


@pytest.mark.parametrize("name", ["dsgd", "proxskip"])
def test_sampled_runs_have_the_exact_moments(quadratic, name):
    """With noise; and long averages by squaring are those of the rounds."""
    graph = Graph.named("path", 3, P)
    run = {"K": 1, "x0": START, "gamma_u": GAMMA, "sigma_u": 0.5}
    exact = rc.exact(name, quadratic, graph, T=10, **run)
    drawn = rc.simulate(name, quadratic, graph, T=10, replicates=4000, **run)
    for quantity in ("G_u", "consensus2"):
        values = drawn.records[quantity][:, 1:]
        errors = values.std(axis=0) / np.sqrt(len(values))
        assert np.abs((values.mean(axis=0) - exact.records[quantity][1:]) / errors).max() < 4.5
    rounds = rc.exact(name, quadratic, graph, T=300, **run)
    squared = rc.exact_average(name, quadratic, graph, T=300, **run)
    for quantity in ("G_u", "consensus2"):
        gap = abs(squared.records[quantity] - rounds.records[quantity].mean())
        assert gap <= squared.errors[quantity] + rounds.errors[quantity].mean()


def test_compression_and_coins_together(quadratic):
    """Both are random in one round."""
    with registered() as both:
        run = {"K": 1, "T": 6, "x0": START, "gamma_u": GAMMA, "q": 0.8, "sigma_u": 0.3}
        exact = rc.exact(both, quadratic, Graph.named("path", 3, P), **run)
        drawn = rc.simulate(both, quadratic, Graph.named("path", 3, P), replicates=4000, **run)
    for quantity in ("G_u", "consensus2"):
        values = drawn.records[quantity][:, 1:]
        errors = values.std(axis=0) / np.sqrt(len(values))
        assert np.abs((values.mean(axis=0) - exact.records[quantity][1:]) / errors).max() < 4.5


def test_coins_belong_to_a_replicate(quadratic):
    """Replicate 5 alone is replicate 5 of many; with probability 1 nothing is random."""
    run = {"K": 1, "T": 9, "x0": START, "gamma_u": GAMMA}
    many = rc.simulate("dsgd", quadratic, Graph.named("path", 3, P), replicates=8, **run).records["consensus2"]
    fewer = rc.simulate("dsgd", quadratic, Graph.named("path", 3, P), replicates=6, threads=1, **run)
    assert (many[:6] == fewer.records["consensus2"]).all()
    assert len({row[-1] for row in many}) > 1
    always = rc.simulate("dsgd", quadratic, Graph.named("path", 3), replicates=2, **run).records["consensus2"]
    assert (always[0] == always[1]).all()


def test_proxskip_reaches_the_minimiser(quadratic):
    """Where DSGD stays away from it, since clients differ."""
    run = {"K": 1, "T": 3000, "gamma_u": GAMMA, "records": ["distance2"]}
    graph = Graph.named("complete", 3, P)
    assert rc.exact("proxskip", quadratic, graph, **run).records["distance2"][-1] < 1e-12
    assert rc.exact("dsgd", quadratic, graph, **run).records["distance2"][-1] > 1e-4


def test_how_it_is_written(tmp_path):
    """As the name and the probability, in data, and for a file; one line for what is none."""
    graph = build("ring:0.25", 5, None)
    assert (graph.mixes, graph.says.endswith("and a round mixes with probability 0.25")) == (0.25, True)
    assert Graph.read(graph.fields()).mixes == 0.25
    assert build("ring", 5, None).mixes == 1.0
    assert "mixes" not in build("ring", 5, None).fields()
    (tmp_path / "W.csv").write_text("0.5,0.5\n0.5,0.5\n")
    assert build(f"graph:{tmp_path / 'W.csv'}:0.5", 2, None).mixes == 0.5
    for text, message in (
        ("ring:1.5", 'mixes=1.5 breaks "0 < mixes <= 1": it is the probability that a round mixes'),
        ("ring:0.5,0.5", "participation 'ring:0.5,0.5' has 2 numbers: it is written as ring or ring:0.5"),
        ("ring:a", "participation 'ring:a': 'a' is not a number"),
    ):
        with pytest.raises(rc.InputError) as error:
            build(text, 5, None)
        assert str(error.value) == message


def consensus(right, *more):
    """About the clients of DSGD without noise."""
    return theorem(
        title="DSGD",
        algorithm="dsgd",
        assumptions=["smoothness", "dissimilarity", "full_participation", "no_personal", *more],
        left="consensus2",
        over="last_round",
        right=right,
        conditions=["gamma_u <= 1/(10*L)"],
        settings={"K": 1, "m": "n", "sigma_u": 0},
        vocabulary="classics",
    )


def test_statements_say_whether_they_are_about_it():
    """Rounds that all mix are what others are about; p_W is the graph's own."""
    right = "8*gamma_u**2*b**2/(p_W*(1 - lambda_W))**2"
    found = rc.verify(consensus(right, "random_mixing"), n=6, T=50)
    assert (found.outcome, found.verdict.values["p_W"]) == (rc.Outcome.HOLDS, 0.5)
    rare = rc.verify(consensus(right, "random_mixing"), n=6, T=50, participation="ring:0.1")
    assert (rare.verdict.values["p_W"], rare.verdict.engine) == (0.1, "exact")
    assert rare.left > 5 * found.left
    wrong = rc.verify(
        consensus("2*gamma_u**2*b**2/(1 - lambda_W)**2", "random_mixing"), n=6, T=50, participation="ring:0.1"
    )
    assert wrong.outcome is rc.Outcome.VIOLATED
    plain = rc.verify(consensus("8*gamma_u**2*b**2/(1 - lambda_W)**2"), n=6, T=50, participation="ring:0.1")
    assert plain.outcome is rc.Outcome.NOT_APPLICABLE
    why = "a round mixes with probability 0.1, but the statement is about rounds that all mix"
    assert plain.verdict.reasons == (why,)
    with pytest.raises(rc.InputError, match=r'p_W=0\.2 breaks "p_W == 0\.5", its value here: .* complete:0\.2 sets'):
        rc.verify(consensus(right, "random_mixing"), n=6, T=50, p_W=0.2)


def test_the_search_varies_how_often_rounds_mix():
    """The counterexample says so, and is one when it is asked again."""
    false = consensus("gamma_u**2*b**2/(1 - lambda_W)**2", "random_mixing")
    found = rc.falsify(false, evaluations=100, n=3)
    assert found.outcome is rc.Outcome.VIOLATED
    mixes = found.instance.participation.mixes
    assert 0 < mixes <= 1
    assert "on a complete graph, of whose rounds each mixes with probability" in found.as_text()
    assert "lambda_W" not in found.instance.given
    assert rc.verify(false, instance=found.instance).outcome is rc.Outcome.VIOLATED
