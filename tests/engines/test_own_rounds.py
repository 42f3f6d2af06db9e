"""Methods that are not linear: streams and trajectories of the linear ones, and plain loops written beside them."""

from types import MappingProxyType
from typing import ClassVar

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.fedsum import METHODS as FEDSUM
from ratecheck.algorithms.scaffold_p import ScaffoldP

SIZES = {"gamma_u": 0.05, "eta_u": 0.9, "gamma_v": 0.04, "eta_v": 0.7}
DELAYED = next(method for method in FEDSUM if method.algorithm.uses_delay)
ALL_SIZES = {**SIZES, "eta_g": 0.8, "eta_l": 0.05}


class CalledFedAvg(FedAvgP):
    """The same functions, called."""

    linear = False


class CalledScaffold(ScaffoldP):
    """The same functions, called."""

    linear = False


class CalledFedSum(type(DELAYED.algorithm)):
    """The same functions, called."""

    linear = False


class Directed(FedAvgP):
    """FedAvg along a direction made of each stochastic gradient."""

    linear = False

    def __init__(self, direction):
        self.direction = direction

    def step(self, local, gradient, p):
        """With the direction in place of the gradient."""
        return super().step(local, {**gradient, "u": self.direction(gradient["u"])}, p)


class ServerAdam(FedAvgP):
    """Adam on the server: the mean change of the clients in place of a gradient, with both of its averages kept."""

    linear = False
    server: ClassVar[dict[str, str]] = {"u": "u", "first": "u", "second": "u"}

    def start_server(self, point, clients, p):
        """No average yet."""
        return {"u": point["u"], "first": 0 * point["u"], "second": 0 * point["u"]}

    def aggregate(self, server, total, p):
        """A step by the averages."""
        change = total["u"] / p["m"] - server["u"]
        first, second = 0.9 * server["first"] + 0.1 * change, 0.99 * server["second"] + 0.01 * change**2
        return {"u": server["u"] + p["eta_u"] * first / (np.sqrt(second) + 1e-3), "first": first, "second": second}


def clip(g):
    """Norm at most 1/2."""
    return g / np.maximum(1.0, np.linalg.norm(g, axis=-1, keepdims=True) / 0.5)


def normalise(g):
    """Norm 1."""
    return g / np.linalg.norm(g, axis=-1, keepdims=True)


def top_2(g):
    """The two largest coordinates."""
    kept = np.argsort(-np.abs(g), axis=-1)[..., :2]
    return np.where((np.arange(g.shape[-1])[:, None] == kept[..., None, :]).any(axis=-1), g, 0.0)


DIRECTIONS = {"sign": np.sign, "clip": clip, "normalised": normalise, "top": top_2}


@pytest.fixture
def registered():
    """Puts algorithms into the registry and takes them out again."""
    names = []

    def register(algorithm, name="own", fixed=MappingProxyType({})):
        METHODS[name] = Method(name, name, algorithm, fixed=fixed)
        names.append(name)
        return name

    yield register
    for name in names:
        METHODS.pop(name, None)


def trace(n, m):
    """All clients, or m of them."""
    return rc.participation.Trace.full(n) if m == n else rc.participation.Trace.uniform(n, m)


@pytest.mark.parametrize("K", [1, 2])
@pytest.mark.parametrize("m", [2, 5])
@pytest.mark.parametrize("sigma", [0.0, 0.4])
@pytest.mark.parametrize(
    ("linear", "called"), [("fedavg-p", CalledFedAvg), ("scaffold-p", CalledScaffold), (DELAYED.name, CalledFedSum)]
)
def test_the_same_trajectories_as_the_linear_method(registered, linear, called, sigma, m, K):
    """Noise and participants are drawn from the same streams, replicate by replicate."""
    shared = 4 if METHODS[linear].personal else 6
    problem, pattern = rc.problems.Quadratic.synthetic(n=5, d=6, shared=shared), trace(5, m)
    names = METHODS[linear].algorithm.step_sizes
    setting = {"K": K, "T": 20, "sigma_u": sigma, "sigma_v": sigma * METHODS[linear].personal, "replicates": 9}
    setting |= {name: size for name, size in ALL_SIZES.items() if name in names and name not in METHODS[linear].fixed}
    own = rc.simulate(registered(called(), fixed=METHODS[linear].fixed), problem, pattern, **setting)
    known = rc.simulate(linear, problem, pattern, **setting)
    assert own.records.keys() == known.records.keys()
    for name, values in known.records.items():
        np.testing.assert_allclose(own.records[name], values, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", DIRECTIONS)
def test_a_plain_loop(registered, name):
    """Full participation without noise, written out."""
    direction, n, d, K, T = DIRECTIONS[name], 3, 4, 3, 25
    problem = rc.problems.Quadratic.synthetic(n=n, d=d, shared=d)
    run = rc.simulate(registered(Directed(direction)), problem, trace(n, n), K=K, T=T, **SIZES)
    x, wanted = np.zeros(d), []
    M, c = problem.operator()
    for _ in range(T):
        wanted.append(float(np.sum(np.mean([M[i] @ x - c[i] for i in range(n)], axis=0) ** 2)))
        ends = []
        for i in range(n):
            y = x.copy()
            for _ in range(K):
                g = M[i] @ y - c[i]
                if name == "sign":
                    s = [(v > 0) * 1.0 - (v < 0) * 1.0 for v in g]
                elif name == "clip":
                    s = g if np.sqrt(g @ g) <= 0.5 else 0.5 * g / np.sqrt(g @ g)
                elif name == "normalised":
                    s = g / np.sqrt(g @ g)
                else:
                    s = g.copy()
                    s[np.argsort(np.abs(g))[:-2]] = 0.0
                y = y - SIZES["gamma_u"] * np.asarray(s)
            ends.append(y)
        x = (1 - SIZES["eta_u"]) * x + SIZES["eta_u"] * np.mean(ends, axis=0)
    np.testing.assert_allclose(run.records["G_u"][0], wanted, rtol=1e-9)


def test_adam_on_the_server_in_a_plain_loop(registered):
    """State that is kept from round to round, and no two coordinates with the same step."""
    n, d, T, K = 3, 4, 40, 2
    problem = rc.problems.Quadratic.synthetic(n=n, d=d, shared=d)
    run = rc.simulate(registered(ServerAdam()), problem, trace(n, n), K=K, T=T, **SIZES)
    M, c = problem.operator()
    x, first, second, wanted = [0.0] * d, [0.0] * d, [0.0] * d, []
    for _ in range(T):
        gradient = np.mean([M[i] @ x - c[i] for i in range(n)], axis=0)
        wanted.append(float(gradient @ gradient))
        ends = []
        for i in range(n):
            y = np.array(x)
            for _ in range(K):
                y = y - SIZES["gamma_u"] * (M[i] @ y - c[i])
            ends.append(y)
        for j in range(d):
            change = sum(end[j] for end in ends) / n - x[j]
            first[j] = 0.9 * first[j] + 0.1 * change
            second[j] = 0.99 * second[j] + 0.01 * change * change
            x[j] += SIZES["eta_u"] * first[j] / (second[j] ** 0.5 + 1e-3)
    np.testing.assert_allclose(run.records["G_u"][0], wanted, rtol=1e-9)


@pytest.mark.parametrize("name", DIRECTIONS)
def test_threads_and_blocks_do_not_matter(registered, name):
    """To the last bit, and a replicate depends on its own number alone."""
    problem, own = rc.problems.Quadratic.synthetic(n=4, d=5, shared=5), registered(Directed(DIRECTIONS[name]))
    setting = {"K": 2, "T": 12, "sigma_u": 0.5, **SIZES}
    one = rc.simulate(own, problem, trace(4, 2), replicates=70, threads=1, **setting).metric
    two = rc.simulate(own, problem, trace(4, 2), replicates=70, threads=3, **setting).metric
    few = rc.simulate(own, problem, trace(4, 2), replicates=3, threads=1, **setting).metric
    assert (one == two).all()
    assert (one[:3] == few).all()
    assert len(np.unique(one[:, -1])) == 70


def test_a_logistic_problem(registered):
    """Nothing in the rounds is about quadratics."""
    problem = rc.problems.Logistic.synthetic(n=3, d=4, shared=4)
    setting = {"K": 2, "T": 10, "replicates": 3, **SIZES}
    own = rc.simulate(registered(CalledFedAvg()), problem, trace(3, 2), **setting).metric
    np.testing.assert_allclose(own, rc.simulate("fedavg-p", problem, trace(3, 2), **setting).metric, rtol=1e-9)


@pytest.mark.parametrize("run", ["exact", "exact_average", "leap"])
def test_other_engines_refuse_by_name(registered, run):
    """In one line, whether the functions happen to be linear or not."""
    name, problem = registered(CalledFedAvg()), rc.problems.Quadratic.synthetic(n=3, d=4, shared=4)
    function, options = (rc.simulate, {"engine": run}) if run == "leap" else (getattr(rc, run), {})
    with pytest.raises(rc.InputError, match=r"^own is not linear: .*use engine=step") as caught:
        function(name, problem, trace(3, 3), K=1, T=3, **SIZES, **options)
    assert "\n" not in str(caught.value)


def over_all(g):
    """The norm of all replicates together."""
    return g / np.linalg.norm(g)


def without_keepdims(g):
    """Rows are divided by columns."""
    return g / np.linalg.norm(g, axis=-1)


def in_place(g):
    """Changes what it is given."""
    g *= 2
    return g


def not_a_number(g):
    """NaN."""
    return np.log(-np.abs(g))


def of_its_own(g):
    """Draws numbers that nobody seeds."""
    return g + np.random.default_rng().standard_normal(g.shape)


WRONG = {
    over_all: "depends on other replicates",
    without_keepdims: r"raises ValueError: .*\(test_own_rounds.py, line \d+\)",
    in_place: r"raises ValueError: .*read-only \(test_own_rounds.py, line \d+\)",
    not_a_number: "returns NaN or infinity in 'u'",
    of_its_own: "or on more than its inputs",
    (lambda g: g[..., :1] * 1j): "no real numbers",
    (lambda g: g[:, 0]): "raises ValueError",
}


@pytest.mark.parametrize(("direction", "message"), WRONG.items())
def test_what_is_wrong_is_said_in_one_line(registered, direction, message):
    """Before anything is run."""
    problem = rc.problems.Quadratic.synthetic(n=3, d=4, shared=4)
    with pytest.raises(rc.InputError, match="^own: step .*" + message) as caught:
        rc.simulate(registered(Directed(direction)), problem, trace(3, 3), K=1, T=3, **SIZES)
    assert "\n" not in str(caught.value)


def test_the_expectations_of_the_linear_method(registered):
    """With many local steps linear methods draw their noise in other bases: the law is the same, and its mean known."""
    problem, pattern = rc.problems.Quadratic.synthetic(n=3, d=4, shared=4), trace(3, 2)
    setting = {"K": 6, "T": 8, "sigma_u": 0.5, **SIZES}
    own = rc.simulate(registered(CalledFedAvg()), problem, pattern, replicates=600, **setting).metric[:, 1:]
    wanted = rc.exact("fedavg-p", problem, pattern, **setting).metric[1:]
    assert (np.abs(own.mean(axis=0) - wanted) < 5 * own.std(axis=0) / np.sqrt(600)).all()
