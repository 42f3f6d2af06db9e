"""Functions of a method on rows of all clients: no call per client, and what each client would get by itself."""

import gc
import sys
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import pytest
import sympy as sp

import ratecheck as rc
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.fedsum import METHODS as FEDSUM
from ratecheck.algorithms.flame import METHODS as FLAME
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo import own_rounds, stepwise
from ratecheck.engines.monte_carlo.rows import split
from ratecheck.kernels.random import stream_keys
from ratecheck.noise import Gaussian, IndependentNoise, NoiseLaw, NoNoise, Signs
from ratecheck.participation import Graph, Trace
from ratecheck.problems import Bilevel, Quadratic
from ratecheck.problems.phase_retrieval import PhaseRetrieval
from ratecheck.problems.problem import CalledOracle

SIZES = {"gamma_u": 0.05, "eta_u": 0.9, "gamma_v": 0.04, "eta_v": 0.7}
NONLINEAR = sorted(name for name, method in METHODS.items() if not method.algorithm.linear)
DELAYED = next(method for method in FEDSUM if method.algorithm.uses_delay)


class Clipped(FedAvgP):
    """Clipped local steps, and momentum on the server."""

    linear = False
    server: ClassVar[dict[str, str]] = {"u": "u", "momentum": "u"}

    def start_server(self, point, clients, p):
        """No momentum yet."""
        return {"u": point["u"], "momentum": np.zeros_like(point["u"])}

    def step(self, local, gradient, p):
        """A step along the clipped gradient."""
        norm = np.linalg.norm(gradient["u"], axis=-1, keepdims=True)
        return super().step(local, {**gradient, "u": gradient["u"] / np.maximum(1, norm)}, p)

    def aggregate(self, server, total, p):
        """A step along the momentum."""
        momentum = 0.9 * server["momentum"] + total["u"] / p["m"] - server["u"]
        return {"u": server["u"] + p["eta_u"] * momentum, "momentum": momentum}


class Steps(FedAvgP):
    """Step sizes that differ by client."""

    linear = False
    per_client: ClassVar[tuple[str, ...]] = ("gamma_u",)


class PlainSteps(Steps):
    """Step sizes that differ by client, each of which has to be a number."""

    def step(self, local, gradient, p):
        """In a way that arrays of parameters do not go."""
        return super().step(local, gradient, {**p, "gamma_u": float(p["gamma_u"])})


class CalledFlame(type(FLAME[0].algorithm)):
    """FLAME by calls of its functions: its alpha differs by client."""

    linear = False


class Late(type(DELAYED.algorithm)):
    """FedSum with delays that are cut off, by an operation on arrays."""

    linear = False

    def begin(self, server, client, p):
        """The delay is 2 at most."""
        return super().begin(server, client, {**p, "delay": np.minimum(p["delay"], 2.0)})


class PlainLate(Late):
    """FedSum with delays that are cut off, by a condition on a number."""

    def begin(self, server, client, p):
        """The delay is 2 at most."""
        return super().begin(server, client, {**p, "delay": 2.0} if p["delay"] > 2 else p)


class Reusing(FedAvgP):
    """Returns the memory that it returned before."""

    linear = False

    def step(self, local, gradient, p):
        """A step that is written into one array, of the shape that is needed."""
        if getattr(self, "memory", np.zeros(0)).shape != local["u"].shape:
            self.memory = np.zeros(local["u"].shape)
        np.subtract(local["u"], p["gamma_u"] * gradient["u"], out=self.memory)
        return {**local, "u": self.memory}


class Swapping(FedAvgP):
    """Sends what it kept, and keeps what another of its variables was."""

    client: ClassVar[dict[str, str]] = {"v": "v", "kept": "u", "older": "u"}

    def start_client(self, point, gradient, p):
        """The starting point, and the gradient there."""
        return {"v": point["v"], "kept": point["u"], "older": gradient["u"]}

    def finish(self, server, client, local, p):
        """What it sends is one round old, and now and then two."""
        return {"v": client["v"], "kept": local["u"] - client["older"], "older": client["kept"]}, {"u": client["kept"]}


class CalledSwapping(Swapping):
    """By calls."""

    linear = False


@pytest.fixture
def registered():
    """Puts algorithms into the registry and takes them out again."""
    names = []

    def register(algorithm, fixed=MappingProxyType({})):
        name = type(algorithm).__name__.lower()
        METHODS[name] = Method(name, name, algorithm, fixed=fixed)
        names.append(name)
        return name

    yield register
    for name in names:
        METHODS.pop(name, None)


def ready(name, problem, pattern, *, T=6, **given):
    """A run of the method, with those of the sizes that it takes."""
    known = {**SIZES, "eta_g": 0.8, "eta_l": 0.05}
    sizes = {each: known[each] for each in METHODS[name].algorithm.step_sizes if each in known}
    sizes = {each: size for each, size in sizes.items() if each not in METHODS[name].fixed}
    return setup.prepare(name, problem, pattern, T=T, **{"step_sizes": {**sizes, **given.pop("sizes", {})}, **given})


def records(run, lanes=9, every=0):
    """What calls of the functions record."""
    runner = own_rounds.OwnRounds(run, every=every)
    return runner.run(stream_keys(0, range(lanes)), lambda _: None)


def python_calls(run, every=0):
    """Calls of functions, in Python and in C, in a run of some rounds.

    Garbage is not collected meanwhile: what it ends, of whatever test before, may call functions too.
    """
    runner, keys, counted = own_rounds.OwnRounds(run, every=every), stream_keys(0, range(8)), [0]
    runner.run(keys, lambda _: None)

    def count(_frame, event, _argument):
        counted[0] += event in ("call", "c_call")

    gc.collect()
    gc.disable()
    sys.setprofile(count)
    try:
        runner.run(keys, lambda _: None)
    finally:
        sys.setprofile(None)
        gc.enable()
    return counted[0]


@pytest.mark.parametrize("every", [0, 4])
@pytest.mark.parametrize("name", [*NONLINEAR, "clipped"])
def test_python_does_not_work_client_by_client(registered, name, every):
    """As many calls with 16 clients as with 4, of whatever: functions, NumPy and kernels."""
    registered(Clipped())
    K, noise = int(METHODS[name].fixed.get("K", 3)), {"sigma_u": 0.3}
    few, many = (
        python_calls(ready(name, Quadratic.synthetic(n, 4, 4), Trace.full(n), K=K, noise=noise), every) for n in (4, 16)
    )
    assert few == many


@pytest.mark.parametrize("kind", ["symbolic", "phase-retrieval", "signs", "unequal", "compressed", "graph", "sampled"])
def test_nor_where_more_is_done_in_a_round(registered, kind):
    """Oracles that are called, noise that is drawn in Python, parameters that differ by client, and what is sent."""

    def run(n):
        name, problem, pattern, given = registered(Clipped()), Quadratic.synthetic(n, 4, 4), Trace.full(n), {"K": 2}
        if kind == "symbolic":
            x, y = sp.symbols("x y")
            problem = rc.problems.from_sympy(sp.sqrt(1 + x**2 + y**2) - y / 2, clients=n)
        elif kind == "phase-retrieval":
            problem = PhaseRetrieval.random(n, 5, 2)
        elif kind == "unequal":
            given["K"] = [1, 3] * (n // 2)
        elif kind == "compressed":
            name, given["sizes"] = "compressed-sgd", {"q": 0.5}
        elif kind == "graph":
            name, pattern = "dsgd", Graph.named("ring", n)
        elif kind == "sampled":
            pattern = Trace(np.tile(np.repeat([[1, 0, 1, 0], [0, 1, 1, 1]], n // 4, axis=1), (3, 1)))
        found = ready(name, problem, pattern, noise={"sigma_u": 0.2}, **given)
        return setup.with_law(found, Signs() if kind == "signs" else None)

    assert python_calls(run(4)) == python_calls(run(16))


@pytest.mark.parametrize("kind", ["per client", "delay"])
def test_numbers_and_arrays_of_parameters_do_the_same(registered, kind):
    """A function that takes numbers only is called for each of them, to the same last bit."""
    per_client = kind == "per client"
    kinds = (Steps, PlainSteps) if per_client else (Late, PlainLate)
    names = [registered(each(), {} if per_client else DELAYED.fixed) for each in kinds]
    sizes = {"gamma_u": np.array([0.01, 0.05, 0.02, 0.05, 0.1])} if per_client else {}
    given = {"K": [1, 3, 2, 3, 2], "noise": {"sigma_u": 0.3}, "sizes": sizes}
    arrays, numbers = (ready(name, Quadratic.synthetic(5, 4, 4), Trace.uniform(5, 2), **given, T=20) for name in names)
    np.testing.assert_array_equal(records(arrays), records(numbers))


@pytest.mark.parametrize("kind", ["per client", "weights"])
def test_parameters_by_client_as_the_coefficients_have_them(registered, kind):
    """The kernel of linear methods reads each client's coefficients by itself."""
    if kind == "per client":
        name, linear = registered(CalledFlame(), FLAME[0].fixed), FLAME[0].name
        sizes = {"eta": 0.05, "rho": 0.7, "lambda_": 0.4, "alpha": np.array([0.1, 0.2, 0.2, 0.15, 0.35])}
        given = {"K": 2, "sizes": {each: size for each, size in sizes.items() if each not in FLAME[0].fixed}}
        problem, pattern = Quadratic.synthetic(5, 4, 4), Trace.uniform(5, 2)
    else:
        name = linear = "simfbo"
        sizes = {"eta_x": 0.1, "eta_y": 0.1, "eta_v": 0.1, "gamma_x": 1.0, "gamma_y": 1.0, "gamma_v": 1.0, "r": 3.0}
        weights = 1 + np.arange(12).reshape(4, 3) % 5 / 4
        given = {"K": [1, 3, 2, 3], "sizes": sizes, "weights": weights}
        problem, pattern = Bilevel.synthetic(4, 2, 3), Trace.uniform(4, 2)
    called, known = (ready(each, problem, pattern, **given) for each in (name, linear))
    wanted = stepwise.simulate(known, replicates=9).records
    for found, values in zip(np.moveaxis(records(called), 1, 0), wanted.values(), strict=True):
        np.testing.assert_allclose(found.T, values, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("m", [2, 5])
def test_what_was_and_what_is_are_kept_apart(registered, m):
    """Where a function returns its arguments as other variables, and as messages."""
    pattern = Trace.full(5) if m == 5 else Trace.uniform(5, m)
    linear, called = (
        ready(registered(each()), Quadratic.synthetic(5, 4, 2), pattern, K=2, noise={"sigma_u": 0.2})
        for each in (Swapping, CalledSwapping)
    )
    wanted = stepwise.simulate(linear, replicates=9).records
    for found, values in zip(np.moveaxis(records(called), 1, 0), wanted.values(), strict=True):
        np.testing.assert_allclose(found.T, values, rtol=1e-9, atol=1e-13)


def test_parts_of_many_clients_do_not_matter(registered, monkeypatch):
    """To the last bit, with some clients at a time and with all of them."""
    run = ready(registered(Clipped()), Quadratic.synthetic(7, 4, 2), Trace.uniform(7, 3), K=[1, 2, 3, 1, 2, 3, 1])
    whole = records(run)
    for entries in (1, 4 * 20):
        monkeypatch.setattr(own_rounds, "_ENTRIES", entries)
        np.testing.assert_array_equal(records(run), whole)


@pytest.mark.parametrize("kind", ["phase-retrieval", "symbolic"])
def test_oracles_of_several_clients(kind):
    """They are each client's own."""
    functions = [sp.sympify(f) for f in ("x**4 + cos(y)", "x**2 + sin(x*y)", "x**4 + cos(y)", "exp(x) + y**2")]
    problem = PhaseRetrieval.random(4, 5, 3) if kind == "phase-retrieval" else rc.problems.from_sympy(functions)
    oracle, clients = problem.oracle("gradient", np.zeros(problem.d), 0.0), np.array([2, 0, 3])
    x = np.random.default_rng(0).standard_normal((3, problem.d, 8))
    assert oracle.gradients is not None
    for several, one in ((oracle.gradients_at, oracle.gradient), (oracle.values_at, oracle.values)):
        found = several(clients, x)
        for place, i in enumerate(clients):
            np.testing.assert_allclose(found[place], one(int(i), x[place]), rtol=1e-13)


class Alone(PhaseRetrieval):
    """Has the gradient of one client at a time, and not at 0."""

    def client_gradient(self, i, x):
        """See `PhaseRetrieval.client_gradient`."""
        assert x.any(axis=0).all()
        return super().client_gradient(i, x)

    def oracle(self, name, noise, lambda_):
        """See `PhaseRetrieval.oracle`."""
        return CalledOracle(self.client_gradient, self.client_values, noise)


def test_oracles_of_one_client_at_a_time(registered):
    """They are evaluated at the clients' points and nowhere else."""
    name, whole = registered(Clipped()), PhaseRetrieval.random(4, 5, 3)
    given = {"K": [1, 3, 2, 1], "noise": {"sigma_u": 0.1}, "x0": np.ones(3)}
    several, one = (
        ready(name, problem, Trace.uniform(4, 2), **given) for problem in (whole, Alone(whole.A, whole.b, whole.s))
    )
    np.testing.assert_allclose(records(one), records(several), rtol=1e-9)


class Even(IndependentNoise):
    """Uniform noise."""

    kind = "even"
    fourth = 9 / 5

    def quantile(self, u):
        """See `IndependentNoise.quantile`."""
        return np.sqrt(3) * (2 * u - 1)


class Shifted(Even):
    """A law with a way of its own to add it."""

    def add(self, scale, i, t, k, out, keys):
        """Not by quantiles alone."""
        super().add(scale, i, t, k, out, keys)
        out += i


class Relative(NoiseLaw):
    """A law that depends on the point."""

    kind = "relative"
    fourth = 1.0

    def add(self, scale, i, t, k, out, keys):
        """Proportional."""
        out *= 1 + i


@pytest.mark.parametrize(
    "law", [Gaussian(), Signs(), NoNoise(), Even(), Shifted(), Relative()], ids=lambda law: law.kind
)
def test_noise_of_several_clients(law):
    """To the last bit what is added client by client, from the streams of its replicates."""
    keys, scale = stream_keys(3, range(5)), np.arange(1.0, 7.0)
    mask = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]], dtype=bool)
    (rows,) = split(mask, keys, 100)
    x = np.random.default_rng(0).standard_normal((len(rows.lanes), len(scale)))
    found = x.copy()
    law.add_rows(scale, rows.clients, rows.firsts, rows.keys, 4, 2, found)
    for i in range(len(mask)):
        here = rows.by_row == i
        wanted = np.ascontiguousarray(x[here].T)
        if here.any():
            law.add(scale, i, 4, 2, wanted, np.ascontiguousarray(keys[:, mask[i]]))
        np.testing.assert_array_equal(found[here], wanted.T)


def test_memory_that_is_used_again_is_refused(registered):
    """In one line, before anything is run."""
    with pytest.raises(rc.InputError, match=r"^reusing: step .* changes the 'u' that it returned before"):
        ready(registered(Reusing()), Quadratic.synthetic(3, 4, 4), Trace.full(3), K=1)
