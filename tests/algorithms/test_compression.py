"""Methods that send a random part of their messages: against an enumeration of all outcomes, and sampled."""

import itertools

import numpy as np
import pytest
from compressing_dsgd import registered

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.cost import cost
from ratecheck.participation import Graph, Trace

Q, GAMMA, ALPHA, START = 0.5, 0.1, 0.4, np.array([1.0, -2.0])


@pytest.fixture(scope="module")
def quadratic():
    """Two clients, two variables."""
    A = np.random.default_rng(0).normal(size=(2, 2, 2))
    g = np.random.default_rng(1).normal(size=(2, 2))
    return rc.problems.Quadratic(A @ A.transpose(0, 2, 1) / 2 + 0.1 * np.eye(2), g, shared=2)


def diana(q, gamma, alpha):
    """A round on ((x, h), h_i): the difference to h_i is sent, over q; without alpha that is compressed SGD."""

    def step(x, own, g, kept):
        h, own = own
        sent = kept * (g - own) / q
        mean = sent.mean(axis=0)
        return x - gamma * (h + mean), (h + alpha * mean, own + alpha * sent)

    return step, lambda g: (0 * g[0], 0 * g)


def error_feedback(gamma):
    """A round on (x, e_i): of the step and what was left out a part is sent."""

    def step(x, e, g, kept):
        v = gamma * g + e
        return x - (kept * v).mean(axis=0), v - kept * v

    return step, lambda g: 0 * g


def ef21(gamma):
    """A round on (x, g_i): the clients' estimates move by a part of the difference, and x along their mean."""

    def step(x, own, g, kept):
        own = own + kept * (g - own)
        return x - gamma * own.mean(axis=0), own

    return step, lambda g: g


def enumerated(quadratic, T, method):
    """E G_u over all outcomes of what is sent, by the formulas."""
    M, c = quadratic.operator()
    n, d = c.shape
    step, start = method
    states, found = [(1.0, START, start(np.array([M[i] @ START - c[i] for i in range(n)])))], []
    for _ in range(T):
        gradients = [np.array([M[i] @ x - c[i] for i in range(n)]) for _, x, _ in states]
        found.append(sum(s[0] * np.sum(g.mean(axis=0) ** 2) for s, g in zip(states, gradients, strict=True)))
        after = []
        for (p, x, own), g in zip(states, gradients, strict=True):
            for bits in itertools.product((0, 1), repeat=n * d):
                chance = p * np.prod(np.where(bits, Q, 1 - Q))
                after.append((chance, *step(x, own, g, np.reshape(bits, (n, d)))))
        states = after
    return np.array(found)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("name", "method", "given"),
    [
        ("compressed-sgd", diana(Q, GAMMA, 0.0), {}),
        ("diana", diana(Q, GAMMA, ALPHA), {"alpha": ALPHA}),
        ("ef-sgd", error_feedback(GAMMA), {}),
        ("ef21", ef21(GAMMA), {}),
    ],
)
def test_exact_moments_are_those_of_all_outcomes(quadratic, name, method, given):
    """Within the error that is given."""
    found = rc.exact(name, quadratic, Trace.full(2), K=1, T=4, x0=START, gamma_u=GAMMA, q=Q, **given)
    off = np.abs(found.records["G_u"] - enumerated(quadratic, 4, method))
    assert (off <= found.errors["G_u"] + 1e-15).all()
    assert off.max() < 1e-13


@pytest.mark.parametrize(
    ("name", "trace", "K"),
    [
        ("compressed-sgd", Trace.full(2), 3),
        ("diana", Trace.full(2), 1),
        ("compressed-sgd", Trace.uniform(2, 1), 1),
        ("ef-sgd", Trace.full(2), 3),
        ("ef-sgd", Trace.uniform(2, 1), 1),
        ("ef21", Trace.full(2), 2),
    ],
)
def test_sampled_runs_have_the_exact_moments(quadratic, name, trace, K):
    """With noise and sampled clients; long averages by squaring are those of the rounds."""
    run = {"K": K, "x0": START, "gamma_u": GAMMA / K, "q": Q, "sigma_u": 0.5}
    run |= {"alpha": ALPHA} if name == "diana" else {}
    exact = rc.exact(name, quadratic, trace, T=10, **run).records["G_u"]
    drawn = rc.simulate(name, quadratic, trace, T=10, replicates=3000, **run).records["G_u"]
    errors = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert np.abs((drawn.mean(axis=0) - exact)[1:] / errors[1:]).max() < 4.5
    rounds, squared = (
        rc.exact(name, quadratic, trace, T=200, **run),
        rc.exact_average(name, quadratic, trace, T=200, **run),
    )
    gap = abs(squared.records["G_u"] - rounds.records["G_u"].mean())
    assert gap <= squared.errors["G_u"] + rounds.errors["G_u"].mean()


@pytest.mark.parametrize("name", ["compressed-sgd", "ef-sgd", "ef21"])
def test_where_all_is_sent_nothing_is_random(quadratic, name):
    """With q = 1: parallel gradient descent, in every replicate."""
    run = {"K": 2, "T": 5, "x0": START, "gamma_u": GAMMA}
    plain = rc.exact("fedavg", quadratic, Trace.full(2), eta_u=1.0, **run).records["G_u"]
    assert rc.exact(name, quadratic, Trace.full(2), q=1.0, **run).records["G_u"] == pytest.approx(plain)
    drawn = rc.simulate(name, quadratic, Trace.full(2), q=1.0, replicates=2, **run).records["G_u"]
    assert drawn[0] == pytest.approx(drawn[1])
    assert drawn[0] == pytest.approx(plain)


def test_a_draw_does_not_depend_on_its_neighbours(quadratic):
    """Replicate 5 alone is replicate 5 of many."""
    run = {"K": 1, "T": 6, "x0": START, "gamma_u": GAMMA, "q": Q}
    many = rc.simulate("compressed-sgd", quadratic, Trace.full(2), replicates=8, **run).records["G_u"]
    fewer = rc.simulate("compressed-sgd", quadratic, Trace.full(2), replicates=6, threads=1, **run).records["G_u"]
    assert (many[:6] == fewer).all()
    assert len({row[1] for row in many}) > 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": 1.5}, 'q=1.5 breaks "0 < q <= 1"'),
        ({"q": 0.5, "trace": Trace.bernoulli(0.5, 2)}, "for uniform sampling and given participants"),
        ({"q": 0.5, "engine": "leap"}, "the leap engine does not: use engine=exact or step"),
    ],
)
def test_who_refuses(quadratic, given, message):
    """By name, with what would do."""
    given = {"K": 1, "T": 2, "gamma_u": 0.1, "trace": Trace.full(2), **given}
    call = rc.simulate if "engine" in given else rc.exact
    with pytest.raises(rc.InputError) as error:
        call("compressed-sgd", quadratic, given.pop("trace"), **given)
    assert message in str(error.value)


def test_a_statement_on_compression():
    """Compressed SGD with its variance, which is needed; ``--pep`` and intervals do not follow it."""

    def sgd(right):
        return theorem(
            title="Compressed SGD",
            algorithm="compressed-sgd",
            assumptions=["smoothness", "full_participation", "no_personal"],
            left="G_u",
            over="mean_of_rounds",
            right=right,
            conditions=["gamma_u <= q/L"],
            settings={"n": 1, "m": 1, "K": 1, "sigma_u": 0},
            vocabulary="textbook",
        )

    assert rc.verify(sgd("2*F_0/(gamma_u*T)"), T=20, q=0.25).outcome is rc.Outcome.HOLDS
    assert rc.verify(sgd("F_0/(5*gamma_u*T)"), T=20, q=0.25).outcome is rc.Outcome.VIOLATED
    found = rc.falsify(sgd("F_0/(2*gamma_u*T)"), evaluations=60)
    assert found.outcome is rc.Outcome.VIOLATED
    with pytest.raises(rc.InputError) as error:
        rc.falsify(sgd("F_0/gamma_u"), pep=True, n=1, T=1, L=1, F_0=1, gamma_u=0.5, q=0.5)
    assert "compresses at random" in str(error.value)
    assert dict(cost("diana").sent) == {"u": 1}
    assert METHODS["diana"].full
    # Of what error feedback remembers nothing is sent; EF21 asks for the gradients at the start.
    assert dict(cost("ef-sgd").sent) == dict(cost("ef21").sent) == {"u": 1}
    assert not cost("ef-sgd").at_start
    assert cost("ef21").at_start


def test_clients_on_a_graph_may_compress(quadratic):
    """What is mixed is compressed as well: exact moments are those of sampled runs, and the coins are not lost."""
    with registered() as both:
        graph = Graph([[0.75, 0.25], [0.25, 0.75]])
        run = {"K": 1, "T": 6, "x0": START, "gamma_u": GAMMA, "q": 0.8, "sigma_u": 0.3}
        exact = rc.exact(both, quadratic, graph, **run)
        drawn = rc.simulate(both, quadratic, graph, replicates=4000, **run)
    for name in ("G_u", "consensus2"):
        values = drawn.records[name][:, 1:]
        errors = values.std(axis=0) / np.sqrt(len(values))
        assert np.abs((values.mean(axis=0) - exact.records[name][1:]) / errors).max() < 4.5
    plain = rc.exact("dsgd", quadratic, graph, **{k: v for k, v in run.items() if k != "q"})
    assert (exact.records["consensus2"][1:] > 2 * plain.records["consensus2"][1:]).all()
