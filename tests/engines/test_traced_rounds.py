"""Programs made of a method's functions beside calls of these: the same streams, the same numbers to the last bit."""

from types import MappingProxyType
from typing import ClassVar

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.line_search import METHODS as LINE_SEARCH
from ratecheck.algorithms.model.registered import Method
from ratecheck.algorithms.model.tracing import NotTracedError
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.engines.monte_carlo.own_rounds import OwnRounds
from ratecheck.engines.monte_carlo.traced_rounds import TracedRounds, rounds, way
from ratecheck.engines.setup import prepare
from ratecheck.participation import Trace, Uniform
from ratecheck.problems import Logistic, Quadratic

N, D = 6, 11
QUADRATIC = Quadratic.synthetic(N, D, D, seed=3, curvature=1.0)
SIZES = {"gamma_u": 0.3, "eta_u": 0.9, "gamma_v": 1.0, "eta_v": 1.0}


def norm(g):
    """Of each row."""
    return np.linalg.norm(g, axis=-1, keepdims=True)


def top_3(g):
    """The three largest coordinates."""
    return np.where(np.abs(g) >= np.partition(np.abs(g), -3, axis=-1)[:, -3:-2], g, 0.0)


def sparse_sign(g):
    """Signs of what is not small, with a sum without an axis that stays."""
    mean = np.mean(np.abs(g), axis=-1)[:, None]
    return np.where((np.abs(g) > mean) & ~(g == 0), np.sign(g), 0 * g)


def shrunk(g):
    """Soft thresholding in a box."""
    return np.clip(np.sign(g) * np.maximum(np.abs(g) - 0.05, 0), -0.5, 0.5)


DIRECTIONS = {
    "top": top_3,
    "sign": sparse_sign,
    "shrunk": shrunk,
    "clip": lambda g: g / np.maximum(1, 2 * norm(g)),
    "largest": lambda g: g / (1e-9 + np.max(np.abs(g), axis=-1, keepdims=True)),
    "steepest": lambda g: g * (np.arange(g.shape[-1]) == np.argmax(g**2, axis=-1, keepdims=True)),
}


class Towards(FedAvgP):
    """Local steps along a direction made of the gradient, with Adam's averages on the server."""

    linear = False
    server: ClassVar[dict[str, str]] = {"u": "u", "first": "u", "second": "u"}

    def __init__(self, direction):
        self.direction = direction

    def start_server(self, point, clients, p):
        """No averages yet."""
        return {"u": point["u"], "first": 0 * point["u"], "second": 0 * point["u"]}

    def step(self, local, gradient, p):
        """With the direction in place of the gradient."""
        return super().step(local, {**gradient, "u": self.direction(gradient["u"])}, p)

    def aggregate(self, server, total, p):
        """A step by the averages."""
        change = total["u"] / p["m"] - server["u"]
        first, second = 0.9 * server["first"] + 0.1 * change, 0.99 * server["second"] + 0.01 * change**2
        return {"u": server["u"] + p["eta_u"] * first / (np.sqrt(second) + 1e-2), "first": first, "second": second}


class UnequalSteps(Towards):
    """Step sizes that differ by client."""

    per_client: ClassVar[tuple[str, ...]] = ("gamma_u",)


@pytest.fixture
def registered():
    """Puts an algorithm into the registry and takes it out again."""

    def register(algorithm):
        METHODS["traced"] = Method("traced", "traced", algorithm, fixed=MappingProxyType({}))
        return "traced"

    yield register
    METHODS.pop("traced", None)


def ready(name, trace, problem=QUADRATIC, *, K=1, T=7, **sizes):
    """A run of a method, with those of the step sizes that it takes."""
    known = {**SIZES, **sizes}
    noise = {} if problem is not QUADRATIC else {"noise": {"sigma": 0.3}}
    sizes = {each: known[each] for each in METHODS[name].algorithm.step_sizes if each not in METHODS[name].fixed}
    return prepare(name, problem, trace, T=T, K=K, step_sizes=sizes, **noise)


def agree(setup):
    """The same records both ways, to the last bit."""
    compiled, called = (stepwise.simulate(setup, replicates=11, threads=1, kernel=kind(setup)) for kind in KERNELS)
    for name, record in called.records.items():
        assert np.array_equal(compiled.records[name], record), name


KERNELS = TracedRounds, OwnRounds


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_directions_of_clients_that_are_drawn(registered, direction):
    """Two local steps, and some of the clients in every round: gathered lanes, and rounds that average over them."""
    agree(ready(registered(Towards(DIRECTIONS[direction])), Uniform(N, 2), K=2))


def test_unequal_steps(registered):
    """Parameters and local steps that differ by client."""
    agree(
        ready(registered(UnequalSteps(shrunk)), Uniform(N, 4), K=np.arange(1, N + 1), gamma_u=np.linspace(0.1, 0.4, N))
    )


@pytest.mark.parametrize("method", [each.name for each in LINE_SEARCH])
def test_methods_of_the_catalogue(method):
    """Selections and quotients of products of rows."""
    agree(ready(method, Trace.full(N), K=2))


def test_samples_of_data(registered):
    """Mini-batches, of the same samples."""
    problem = Logistic.synthetic(N, N=7, d=D, shared=D, rho=0.1, seed=2, batch=3)
    agree(ready(registered(Towards(top_3)), Uniform(N, 4), problem, K=3))


@pytest.mark.parametrize(
    ("direction", "why"),
    [
        (np.tanh, "step uses np.tanh"),
        (lambda g: g**3, "step uses a power that is neither a square nor a root"),
        (lambda g: g if g.any() else 0 * g, "step takes no arrays without numbers"),
        (lambda g: g if (g > 0)[0, 0] else -g, "step uses a selection of entries"),
        (lambda g: g[:, ::-1], "step uses a selection of entries"),
        (lambda g: np.sort(g, axis=-1)[:, :1] * g[:, :1], "step uses a selection of entries"),
    ],
)
def test_others_are_called_and_their_author_is_told(registered, direction, why):
    """What is no operation of programs is named."""
    setup = ready(registered(Towards(direction)), Trace.full(N))
    with pytest.raises(NotTracedError, match=f"^{why}$"):
        TracedRounds(setup)
    assert way(setup) == f"its functions are called in Python, as {why}"
    assert isinstance(rounds(setup), OwnRounds)


def test_what_depends_on_more_than_operations_is_called(registered):
    """A function that knows numbers from traced arrays is tried beside its program, and found out."""
    setup = ready(registered(Towards(lambda g: g + isinstance(g, np.ndarray))), Trace.full(N))
    with pytest.raises(NotTracedError, match="step rounds otherwise"):
        TracedRounds(setup)


def test_a_mistake_in_a_run_is_said_as_before(registered):
    """What is no number is found where a function returns it: 0/0 of a gradient that is 0 without noise."""
    problem = Quadratic(np.ones((N, 1, 1)), np.zeros((N, 1)), shared=1)
    setup = prepare(registered(Towards(lambda g: g / norm(g))), problem, Trace.full(N), T=4, K=1, step_sizes=SIZES)
    assert isinstance(rounds(setup), TracedRounds)
    with pytest.raises(rc.InputError, match=r"step .* returns NaN or infinity"):
        stepwise.simulate(setup, threads=1)
