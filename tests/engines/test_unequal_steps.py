"""Clients with local steps of their own: engines against plain replays, and what a statement has to say about them."""

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.participation import Graph, Trace
from ratecheck.problems import Piecewise, PiecewiseSamples

STEPS, START, GAMMA, T = [1, 2, 5], np.array([1.0, -2.0]), 0.05, 8


@pytest.fixture(scope="module")
def quadratic():
    """Three clients, two variables."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(3, 2, 2))
    return rc.problems.Quadratic(A @ A.transpose(0, 2, 1) / 2 + 0.1 * np.eye(2), rng.normal(size=(3, 2)), shared=2)


def walked(f, x, k, correction=0.0, gamma=GAMMA):
    """The end of k local steps from x, and the mean of their gradients."""
    gradients = []
    for _ in range(k):
        gradients.append(f(x))
        x = x - gamma * (gradients[-1] + correction)
    return x, np.mean(gradients, axis=0)


def fedavg(fs, x, _):
    """A round; with what is remembered, here nothing."""
    return np.mean([walked(f, x, k)[0] for f, k in zip(fs, STEPS, strict=True)], axis=0), None


def fednova(fs, x, _):
    """The same of FedNova."""
    directions = [walked(f, x, k)[1] for f, k in zip(fs, STEPS, strict=True)]
    return x - GAMMA * np.mean(STEPS) * np.mean(directions, axis=0), None


def scaffold(fs, x, own):
    """The same of SCAFFOLD, whose clients remember c_i."""
    own = np.array([f(x) for f in fs]) if own is None else own
    mean, ends, after = own.mean(axis=0), [], []
    for f, k, c in zip(fs, STEPS, own, strict=True):
        end, _ = walked(f, x, k, mean - c)
        ends.append(end)
        after.append(c - mean + (x - end) / (k * GAMMA))
    return np.mean(ends, axis=0), np.array(after)


def fedsum(fs, x, own):
    """The same of FedSUM, which remembers y and the h_i."""
    y, hs = (np.zeros(2), np.zeros((3, 2))) if own is None else own
    after = []
    for f, k, h in zip(fs, STEPS, hs, strict=True):
        _, mean = walked(f, x, k, y - h, gamma=GAMMA / 3)
        after.append(mean)
    y = y + np.sum(np.array(after) - hs, axis=0)
    return x - GAMMA * np.mean(STEPS) / 3 * y, (y, np.array(after))


REPLAYS = {
    "fedavg": (fedavg, {"gamma_u": GAMMA, "eta_u": 1.0}),
    "fednova": (fednova, {"gamma_u": GAMMA, "eta_u": 1.0}),
    "scaffold": (scaffold, {"gamma_u": GAMMA, "eta_u": 1.0}),
    "fedsum": (fedsum, {"eta_l": GAMMA, "eta_g": 1.0}),
    "fedsum-cr": (fedsum, {"eta_l": GAMMA, "eta_g": 1.0}),
}


@pytest.mark.parametrize("name", REPLAYS)
def test_engines_agree_with_a_plain_replay(quadratic, name):
    """The gradient of f in every round, with a loop over clients and local steps; leaps as well."""
    step, sizes = REPLAYS[name]
    M, c = quadratic.operator()
    fs = [lambda x, i=i: M[i] @ x - c[i] for i in range(3)]
    x, own, wanted = START, None, []
    for _ in range(T):
        wanted.append(np.sum(np.mean([f(x) for f in fs], axis=0) ** 2))
        x, own = step(fs, x, own)
    run = {"K": STEPS, "T": T, "x0": START, **sizes}
    exact = rc.exact(name, quadratic, Trace.full(3), **run)
    assert exact.records["G_u"] == pytest.approx(wanted, rel=1e-12)
    assert (np.abs(exact.records["G_u"] - wanted) <= exact.errors["G_u"] + 1e-13 * np.array(wanted)).all()
    for engine in ("step", "leap"):
        found = rc.simulate(name, quadratic, Trace.full(3), engine=engine, **run).records["G_u"][0]
        assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("name", ["fedavg", "fednova", "scaffold"])
def test_noise_and_samples(quadratic, name):
    """Two of three clients with noise: expectations are the means of runs."""
    run = {"K": STEPS, "T": T, "x0": START, "sigma_u": 1.0, **REPLAYS[name][1]}
    exact = rc.exact(name, quadratic, Trace.uniform(3, 2), **run).records["G_u"]
    drawn = rc.simulate(name, quadratic, Trace.uniform(3, 2), replicates=4000, **run).records["G_u"]
    errors = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert np.abs((drawn.mean(axis=0) - exact)[1:] / errors[1:]).max() < 4.5


def test_fednova_with_equal_steps_is_fedavg(quadratic):
    """With noise and sampled clients."""
    run = {"K": 3, "T": T, "x0": START, "sigma_u": 1.0, "gamma_u": GAMMA, "eta_u": 0.7}
    nova, plain = (
        rc.exact(name, quadratic, Trace.uniform(3, 2), **run).records["G_u"] for name in ("fednova", "fedavg")
    )
    assert nova == pytest.approx(plain, rel=1e-12)


def test_on_a_graph(quadratic):
    """DSGD with local steps of one's own."""
    M, c = quadratic.operator()
    W, x, wanted = Graph.named("path", 3).mixing, np.tile(START, (3, 1)), []
    for _ in range(T):
        wanted.append(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))
        x = W @ np.array([walked(lambda x, i=i: M[i] @ x - c[i], x[i], k)[0] for i, k in enumerate(STEPS)])
    run = {"K": STEPS, "T": T, "x0": START, "gamma_u": GAMMA}
    graph = Graph.named("path", 3)
    assert rc.exact("dsgd", quadratic, graph, **run).records["consensus2"] == pytest.approx(wanted, rel=1e-12)
    found = rc.simulate("dsgd", quadratic, graph, **run).records["consensus2"][0]
    assert found == pytest.approx(wanted, rel=1e-12)


class ServersK(FedAvgP):
    """Asks for K at the server."""

    def aggregate(self, server, total, p):
        """With the K of nobody in particular."""
        return {"u": server["u"] + 0 * p["K"] * total["u"]}


class MeanK(FedAvgP):
    """Asks for the mean."""

    def aggregate(self, server, total, p):
        """As far as the mean number of steps."""
        return {"u": server["u"] + p["mean_norm"] / p["m"] * (total["u"] - p["m"] * server["u"])}


def test_methods_of_ones_own(quadratic):
    """Read K per client; at the server there is none, which is said, unless all are equal."""
    own = {"gamma_v": 1, "eta_v": 1, "eta_u": 1}
    METHODS["servers-k"] = Method("servers-k", "K at the server", ServersK(), own, personal=False)
    METHODS["mean-k"] = Method("mean-k", "mean K at the server", MeanK(), own, personal=False)
    run = {"T": 3, "gamma_u": GAMMA}
    try:
        for engine in (rc.exact, rc.simulate):
            with pytest.raises(rc.InputError) as error:
                engine("servers-k", quadratic, Trace.full(3), K=STEPS, **run)
            assert "its server uses the K of one client, and K=1,2,5 differs by client" in str(error.value)
            engine("servers-k", quadratic, Trace.full(3), K=2, **run)
        exact = rc.exact("mean-k", quadratic, Trace.full(3), K=STEPS, **run).records["G_u"]
        drawn = rc.simulate("mean-k", quadratic, Trace.full(3), K=STEPS, **run).records["G_u"]
        assert exact == pytest.approx(drawn[0], rel=1e-12)
    finally:
        del METHODS["servers-k"], METHODS["mean-k"]


def nova(right, **others):
    """About FedNova without noise, for any K_i."""
    defaults = {"conditions": ["gamma_u*L <= 1/10"], "algorithm": "fednova", "left": "G_u", "over": "mean_of_rounds"}
    defaults["settings"] = {"m": "n", "sigma_u": 0, "eta_u": 1}
    return theorem(
        title="FedNova",
        assumptions=["smoothness", "full_participation", "no_personal", *others.pop("assumptions", ["unequal_steps"])],
        right=right,
        vocabulary="textbook",
        **{**defaults, **others},
    )


def test_a_statement_that_says_nothing_of_them_is_not_applicable(quadratic):
    """Never HOLDS or VIOLATED; with equal numbers it is what it is with one."""
    for right in ("100*F_0/(K*gamma_u*T)", "F_0/(10**9*K*gamma_u*T)", "100*F_0/(gamma_u*T)"):
        plain = nova(right, assumptions=[])
        found = rc.verify(plain, problem=quadratic, K=[1, 2, 5], T=5)
        assert found.outcome is rc.Outcome.NOT_APPLICABLE
        reason = "K=1,2,5 differs by client, but the statement is about K local steps of every client"
        assert found.verdict.reasons == (reason,)
        equal, one = (rc.verify(plain, problem=quadratic, K=K, T=5) for K in ([2, 2, 2], 2))
        assert (equal.outcome, equal.left, equal.right) == (one.outcome, one.left, one.right)
    with pytest.raises(rc.InputError, match="K has 2 entries: give one number, or 3, one per client"):
        rc.verify(nova("F_0/(K*gamma_u)", assumptions=[]), problem=quadratic, K=[1, 2], T=5)


def test_a_statement_about_them(quadratic):
    """Its K_bar, K_min and K_max are those of the run; both engines follow it, and so does a saved instance."""
    right = "K_bar**2*K_max/K_min**3*100*F_0/(gamma_u*T)"
    found = rc.verify(nova(right), problem=quadratic, K=[1, 2, 5], T=5, gamma_u=0.01)
    assert found.outcome is rc.Outcome.HOLDS
    values = found.verdict.values
    assert [values[name] for name in ("K_bar", "K_min", "K_max")] == pytest.approx([8 / 3, 1, 5])
    M, c = quadratic.operator()
    fs = [lambda x, i=i: M[i] @ x - c[i] for i in range(3)]
    x, wanted = np.zeros(2), []
    for _ in range(5):
        wanted.append(np.sum(np.mean([f(x) for f in fs], axis=0) ** 2))
        x = x - 0.01 * np.mean(STEPS) * np.mean([walked(f, x, k, gamma=0.01)[1] for f, k in zip(fs, STEPS)], axis=0)  # noqa: B905
    assert found.left == pytest.approx(np.mean(wanted), rel=1e-12)
    step = rc.verify(nova(right), problem=quadratic, K=[1, 2, 5], T=5, gamma_u=0.01, engine="step")
    assert step.left == pytest.approx(found.left, rel=1e-9)
    small = nova("F_0/(1000*gamma_u*T)")
    assert rc.verify(small, problem=quadratic, K=[1, 2, 5], T=5).outcome is rc.Outcome.VIOLATED
    assert rc.bound(nova("K_bar + K_max - K_min"), K=[1, 2, 5]).value == pytest.approx(8 / 3 + 4)


def test_lint_knows_the_symbols():
    """None of the vocabulary is called one's own, used or not."""
    found = rc.lint(nova("100*F_0*K_max**2/(gamma_u*K_min*T)"))
    assert "is declared" not in str(found)


def test_the_search_varies_them(tmp_path):
    """A bound that is wrong where clients differ, and generous where they do not: the instance is saved as found."""
    assumed = ["unequal_steps", "interpolation", "convexity"]
    false = nova("100*F_0/(gamma_u*T)*(K_min/K_max)**6", assumptions=assumed)
    found = rc.falsify(false, evaluations=300)
    assert found.outcome is rc.Outcome.VIOLATED
    assert len({*found.instance.given["K"]}) > 1
    found.instance.save(tmp_path / "instance.json")
    again = rc.verify(false, instance=tmp_path / "instance.json")
    assert again.outcome is rc.Outcome.VIOLATED
    assert "not followed in interval arithmetic" in str(again)
    with pytest.raises(rc.InputError) as error:
        rc.falsify(false, K=[1, 2])
    assert str(error.value).startswith("K=1,2: K stands for K_bar and K_min and K_max, which the search varies;")
    assert rc.falsify(false, evaluations=20, K_bar=2).outcome is not rc.Outcome.VIOLATED


def test_on_the_command_line(tmp_path, cli):
    """As a list; where a statement says one K, exit code 3 and one line that says why."""
    (tmp_path / "mine.py").write_text(
        "from bounds.theorem import theorem\n"
        "rest = dict(title='FedNova', algorithm='fednova', left='G_u', over='mean_of_rounds',\n"
        "    conditions=['gamma_u*L <= 1/10'], settings={'m': 'n', 'sigma_u': 0, 'eta_u': 1}, vocabulary='textbook')\n"
        "given = ['smoothness', 'full_participation', 'no_personal']\n"
        "each = theorem(assumptions=[*given, 'unequal_steps'], right='100*F_0/(K_min*gamma_u*T)', **rest)\n"
        "alike = theorem(assumptions=given, right='100*F_0/(K*gamma_u*T)', **rest)\n"
    )
    done = cli("verify", f"{tmp_path / 'mine.py'}:each", "n=3", "T=5", "K=1,2,5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the clients take 1,2,5 local steps in a round" in done.stdout
    done = cli("verify", f"{tmp_path / 'mine.py'}:alike", "n=3", "T=5", "K=1,2,5")
    assert (done.returncode, "K=1,2,5 differs by client" in done.stdout) == (3, True)
    done = cli("bound", f"{tmp_path / 'mine.py'}:alike", "K=1,2,5")
    said = "ratecheck: K=1,2,5: K is one number, not a list; from Python rc.sweep(...) takes several\n"
    assert (done.returncode, done.stderr) == (2, said)
    done = cli("verify", f"{tmp_path / 'mine.py'}:each", "n=3", "T=5", "K=1,2.5,5")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_functions_with_kinks():
    """The step engine follows them, against a plain replay; the exact one of such functions refuses by name."""
    curvatures, slopes = (1.0, 0.5), (0.25, -0.125)
    kinks = [[[-1.0, 1.0]], [[-1.0, 1.0]]]
    problem = Piecewise(kinks, [[[0.0, c, 0.0]] for c in curvatures], [[slope] for slope in slopes])
    fs = [lambda x, c=c, s=s: c * np.clip(x, -1, 1) + s for c, s in zip(curvatures, slopes, strict=True)]
    x, wanted = np.zeros(1), []
    for _ in range(6):
        wanted.append(np.mean([f(x) for f in fs]) ** 2)
        directions = [walked(f, x, k, gamma=0.05)[1] for f, k in zip(fs, (1, 3), strict=True)]
        x = x - 0.05 * 2 * np.mean(directions, axis=0)
    found = rc.verify(nova("100*F_0/(gamma_u*T)"), problem=problem, K=[1, 3], T=6, gamma_u=0.05)
    assert (found.outcome, found.verdict.engine) == (rc.Outcome.HOLDS, "step")
    assert found.left == pytest.approx(np.mean(wanted), rel=1e-12)
    with pytest.raises(rc.InputError, match="local steps that differ by client are not followed rigorously"):
        rc.verify(nova("F_0"), problem=problem, K=[1, 3], T=6, engine="exact")


def test_who_refuses(quadratic):
    """What happens inside a round, and noise on functions with kinks, know one K."""
    samples = PiecewiseSamples([[[-1.0, 1.0]]], [[[0.0, 1.0, 0.0]]], [[0.25]], clients=2)
    noisy = nova("F_0*K_max/(gamma_u*T)", assumptions=["unequal_steps", "noise"], settings={"m": "n", "eta_u": 1})
    with pytest.raises(rc.InputError, match=r"K has the shape \(2,\): clients are equal, give one number"):
        rc.verify(noisy, problem=samples, K=[1, 3], T=2, sigma_u=0.1, engine="exact")
    drift = nova("1000*F_0*gamma_u*K_max**3", left="E", algorithm="fedavg", over="every_round")
    assert rc.verify(drift, problem=quadratic, K=2, T=2).outcome is rc.Outcome.HOLDS
    with pytest.raises(rc.InputError, match="where all clients take the same number of local steps"):
        rc.verify(drift, problem=quadratic, K=STEPS, T=2)
