"""Compiled rounds beside rounds that call a method's functions: the same streams, hence the same numbers."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.accelerated import Halpern
from ratecheck.algorithms.compression import EfSgd
from ratecheck.algorithms.gossip import GradientTracking
from ratecheck.algorithms.model.algorithm import U
from ratecheck.algorithms.model.registered import Method
from ratecheck.algorithms.model.remembering import RememberingGradients
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.engines.monte_carlo.own_rounds import OwnRounds
from ratecheck.engines.setup import prepare, with_law
from ratecheck.kernels.constants import SLOTS
from ratecheck.participation import Cyclic, Largest, Trace, Uniform
from ratecheck.participation.graph import Graph
from ratecheck.problems import Bilevel, BilevelSamples, Logistic, Quadratic

N, D, T = 6, 5, 9
QUADRATIC = Quadratic.synthetic(N, D, D, seed=3, curvature=1.0)
LOGISTIC = Logistic.synthetic(N, N=7, d=D, shared=D, rho=0.1, seed=2, batch=3)
UNEQUAL = np.array([1, 2, 1, 3, 2, 1])
LEVELS = Bilevel.synthetic(N, 2, 3, seed=1)
SOME = Uniform(N, 2)
RING, LAZY = Graph.named("ring", N), Graph.named("exponential", N, 0.4)
START = np.linspace(-1, 1, D)
STEP = 0.07


def run(method, problem=QUADRATIC, trace=None, *, K=1, noise=0.3, weights=None, x0=START, **sizes):
    """A setup with noise."""
    given = {} if problem is LOGISTIC else {"noise": {"sigma": noise}}
    trace = Trace.full(problem.n) if trace is None else trace
    return prepare(method, problem, trace, T=T, K=K, step_sizes=sizes, weights=weights, x0=x0, **given)


class Listener(EfSgd):
    """Clients of unequal step sizes compress what changes from round to round, and know when they last took part."""

    step_sizes = ("gamma_u", "q")
    per_client = ("gamma_u",)
    varying = ("shrink",)
    uses_delay = weighs = True

    def coefficients(self, t, T, p):
        """Smaller steps for clients of larger ones."""
        return {"shrink": 1 / (1 + t * p["gamma_u"])}

    def begin(self, server, client, p):
        """What was left out is sent the sooner the longer it is."""
        return {"x": server["x"] + client["e"] / p["delay"], "total": 0 * server["x"]}

    def step(self, local, gradient, p):
        """A weighed step of the round's size."""
        moved = p["weight"] * p["shrink"] * gradient[U]
        return {"x": local["x"] - p["gamma_u"] * moved, "total": local["total"] + moved}

    def aggregate(self, server, total, p):
        """By a size of the server's own."""
        return {"x": server["x"] - 0.1 * p["shrink"] / p["m"] * total["v"]}


class Deciding(Halpern):
    """A function that decides by the parameters of a round takes no arrays of them."""

    def aggregate(self, server, total, p):
        """The start counts in the first rounds alone."""
        if p["anchor"] < 0.2:
            return {"x": total["x"] / p["m"], "start": server["start"]}
        return super().aggregate(server, total, p)


class Lasting(Halpern):
    """Deciding by all numbers of an array at once is no error, and gives other coefficients."""

    def aggregate(self, server, total, p):
        """As `Deciding`."""
        if np.all(np.asarray(p["anchor"]) < 0.2):
            return {"x": total["x"] / p["m"], "start": server["start"]}
        return super().aggregate(server, total, p)


def own(algorithm, **options):
    """A method of one's own."""
    return Method(f"test-{type(algorithm).__name__.lower()}", "of a test", algorithm, personal=False, **options)


@pytest.fixture
def methods(monkeypatch):
    """Methods of the tests' own."""
    for each in (own(Listener()), own(Deciding(), fixed={"K": 1.0}), own(Lasting(), fixed={"K": 1.0})):
        monkeypatch.setitem(METHODS, each.name, each)


def bilevel(problem, **noise):
    """A run on two levels, with unequal work and v in a ball."""
    sizes = {f"{kind}_{block}": 0.1 for kind in ("eta", "gamma") for block in "xyv"}
    weights = np.linspace(0.5, 1.5, N)
    return prepare(
        "simfbo", problem, Uniform(N, 3), T=T, K=UNEQUAL, weights=weights, step_sizes={**sizes, "r": 0.3},
        noise=noise, records=("grad_Phi_w2", "step_x2", "v_error_w2"),
    )  # fmt: skip


def sampled():
    """Levels of which first and second derivatives are sampled."""
    b, random = LEVELS, np.random.default_rng(4)
    noise_A = random.standard_normal((N, 3, 3)) / 4
    return BilevelSamples(
        b.A, b.B, b.b, b.Q, b.q, b.p, noise_f=random.standard_normal((N, 5)), noise_g=random.standard_normal((N, 3)),
        noise_A=noise_A + noise_A.swapaxes(1, 2), noise_B=random.standard_normal((N, 3, 2)),
    )  # fmt: skip


CASES = MappingProxyType({
    "mixing": lambda: run("dsgd", trace=RING, K=UNEQUAL, gamma_u=STEP),
    "mixing on samples": lambda: run("gradient-tracking", LOGISTIC, RING, gamma_u=STEP),
    "mixing in some rounds": lambda: run("proxskip", trace=LAZY, gamma_u=STEP),
    "compression, some clients": lambda: run("compressed-sgd", trace=SOME, K=UNEQUAL, gamma_u=STEP, q=0.4),
    "compression with memory": lambda: run("ef-sgd", LOGISTIC, SOME, K=2, gamma_u=STEP, q=0.4),
    "compression of differences": lambda: run("ef21", gamma_u=STEP, q=0.6),
    "everything sent": lambda: run("diana", gamma_u=STEP, q=1.0, alpha=0.5),
    "drawn coordinates": lambda: run("coordinate-descent", trace=Cyclic(N, 4), K=3, gamma_u=STEP, q=0.3),
    "a schedule": lambda: run("silver", gamma_u=STEP),
    "momentum of every round": lambda: run("item", gamma_u=STEP, conditioning=0.1),
    "a schedule, averaged": lambda: run("averaged-fast-gradient", LOGISTIC, gamma_u=STEP, iterate_share=1 / T),
    "two levels": lambda: with_law(bilevel(LEVELS, sigma_f=0.3, sigma_g=0.2), "signs"),
    "sampled second derivatives": lambda: bilevel(sampled()),
    "all of it": lambda: run(
        "test-listener", trace=SOME, K=UNEQUAL, weights=np.linspace(0.5, 2, N * 3).reshape(N, 3), q=0.5,
        gamma_u=STEP * UNEQUAL,
    ),
    "a function that decides": lambda: run("test-deciding", gamma_u=STEP),
    "a function that decides for all": lambda: run("test-lasting", gamma_u=STEP),
})  # fmt: skip


@pytest.mark.usefixtures("methods")
@pytest.mark.parametrize("case", CASES)
def test_compiled_rounds_are_the_called_ones(case, monkeypatch):
    """To rounding, with chunks of rounds that end within the run."""
    monkeypatch.setattr(stepwise, "_CHUNK_ENTRIES", 4 * N * 8 * 3 * 8)
    setup = CASES[case]()
    assert not setup.algorithm.tabled or setup.law.kind == "signs"
    compiled = stepwise.simulate(setup, replicates=11, threads=1)
    called = stepwise.simulate(setup, replicates=11, threads=1, kernel=OwnRounds(setup))
    for name, expected in called.records.items():
        assert name == "G_v" or np.ptp(expected[:, -1]) > 0
        scale = np.abs(expected).max()
        np.testing.assert_allclose(compiled.records[name], expected, rtol=1e-10, atol=1e-13 * scale, err_msg=name)


@pytest.mark.parametrize("name", ["dsgd", "fast-gradient", "compressed-sgd"])
def test_functions_are_not_called_once_for_every_client_or_round(name, monkeypatch):
    """Clients that are alike are read once, and rounds at once."""
    kind, calls = type(METHODS[name].algorithm), []
    original = kind.aggregate

    def counting(self, server, total, p):
        calls.append(1)
        return original(self, server, total, p)

    monkeypatch.setattr(kind, "aggregate", counting)

    def count(n, T):
        calls.clear()
        trace = Graph.named("ring", n) if name == "dsgd" else Trace.full(n)
        sizes = {"q": 0.5} if name == "compressed-sgd" else {}
        problem = Quadratic.synthetic(n, 2, 2, seed=n + T)
        stepwise.simulate(prepare(name, problem, trace, T=T, K=1, step_sizes={"gamma_u": STEP, **sizes}))
        return len(calls)

    assert max(count(20, 5), count(5, 60), count(20, 60)) <= count(5, 5) + 20


def test_more_local_variables_than_registers_are_followed_by_calls():
    """A method that is linear otherwise is not refused."""
    setup = run("gradient-tracking", trace=RING, gamma_u=STEP)
    many = replace(setup, method=replace(setup.method, algorithm=RememberingGradients(GradientTracking())))
    assert many.maps.local.slots > SLOTS
    found = stepwise.simulate(many, replicates=3, threads=1)
    wanted = stepwise.simulate(setup, replicates=3, threads=1)
    for name, expected in wanted.records.items():
        np.testing.assert_allclose(found.records[name], expected, rtol=1e-10, atol=1e-15)


def test_a_graph_of_many_clients_has_no_whole_matrix():
    """What a run on a graph keeps grows with its edges."""
    graph = Graph.named("ring", 3000)
    problem = Quadratic.synthetic(3000, 1, 1, seed=0)
    rc.simulate("dsgd", problem, graph, K=1, T=2, gamma_u=STEP, replicates=2, records=("G_u", "consensus2"))
    assert "mixing" not in vars(graph)
    assert len(graph.neighbours.weight) == 9000


def test_clients_are_selected_by_gradients_whatever_a_round_does():
    """Compressed SGD that sends everything is FedAvg, with the same participants."""
    trace, sizes = Largest(N, 2), {"gamma_u": STEP}
    sent = stepwise.simulate(run("compressed-sgd", trace=trace, q=1.0, **sizes), replicates=5, threads=1)
    wanted = stepwise.simulate(run("fedavg", trace=trace, eta_u=1.0, **sizes), replicates=5, threads=1)
    np.testing.assert_allclose(sent.records["G_u"], wanted.records["G_u"], rtol=1e-10)
