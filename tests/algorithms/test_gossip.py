"""Methods on a graph: the engines against a plain replay, what a graph has to be, and who refuses them."""

import numpy as np
import pytest

import ratecheck as rc
from bounds.theorem import theorem
from ratecheck.participation import Graph, Trace

NAMES = ("ring", "grid", "exponential", "star", "path", "complete")


def problem(n, d=3, seed=0):
    """Quadratics with different curvatures and minimisers."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d, d))
    return rc.problems.Quadratic(A @ A.transpose(0, 2, 1) / d + 0.1 * np.eye(d), rng.normal(size=(n, d)), shared=d)


def replayed(method, quadratic, W, *, x0, gamma, K, T):
    """G_u and consensus2 by the formulas, with a loop over the clients."""
    M, c = quadratic.operator()
    n = len(M)
    gradients = lambda x: np.array([M[i] @ x[i] - c[i] for i in range(n)])  # noqa: E731
    x, y, last = np.tile(x0, (n, 1)), 0.0, 0.0
    rows = []
    for _ in range(T):
        mean = x.mean(axis=0)
        rows.append(
            (np.sum(gradients(np.tile(mean, (n, 1))).mean(axis=0) ** 2), np.mean(np.sum((x - mean) ** 2, axis=1)))
        )
        if method == "dsgd":
            for _ in range(K):
                x = x - gamma * gradients(x)
            x = W @ x
            continue
        now = gradients(x)
        y, last = y + now - last, now
        x, y = W @ (x - gamma * y), W @ y
    return np.array(rows).T


@pytest.mark.parametrize(
    ("method", "name", "n", "K"),
    [
        ("dsgd", "ring", 5, 2),
        ("dsgd", "grid", 6, 1),
        ("gradient-tracking", "exponential", 7, 1),
        ("dsgd", "path", 3, 1),
    ],
)
def test_engines_agree_with_a_plain_replay(method, name, n, K):
    """To rounding, and within the error that the exact engine gives; with noise the mean of replicates as well."""
    quadratic, graph, x0 = problem(n), Graph.named(name, n), np.array([1.0, -2.0, 0.5])
    run = {"K": K, "T": 12, "x0": x0, "gamma_u": 0.05}
    wanted = replayed(method, quadratic, graph.mixing, x0=x0, gamma=0.05, K=K, T=12)
    exact, step = rc.exact(method, quadratic, graph, **run), rc.simulate(method, quadratic, graph, **run)
    for row, quantity in zip(wanted, ("G_u", "consensus2"), strict=True):
        assert (np.abs(exact.records[quantity] - row) <= exact.errors[quantity] + 1e-13 * row).all()
        assert step.records[quantity][0] == pytest.approx(row, rel=1e-11, abs=1e-15)
    noisy = rc.exact(method, quadratic, graph, **run, sigma_u=1.0)
    drawn = rc.simulate(method, quadratic, graph, **run, sigma_u=1.0, replicates=2000)
    for quantity in ("G_u", "consensus2"):
        values = drawn.records[quantity][:, 1:]
        errors = values.std(axis=0) / np.sqrt(len(values)) + 1e-12
        assert np.abs((values.mean(axis=0) - noisy.records[quantity][1:]) / errors).max() < 4.5


def test_long_averages_are_those_of_the_rounds():
    """By repeated squaring, up to the errors that both give."""
    quadratic, graph = problem(4, d=1), Graph.named("ring", 4)
    run = {"K": 1, "T": 300, "x0": [1.0], "gamma_u": 0.1, "sigma_u": 0.5}
    rounds, squared = rc.exact("dsgd", quadratic, graph, **run), rc.exact_average("dsgd", quadratic, graph, **run)
    for name in ("G_u", "consensus2"):
        error = squared.errors[name] + rounds.errors[name].mean()
        assert abs(squared.records[name] - rounds.records[name].mean()) <= error


def test_on_the_complete_graph_dsgd_is_fedavg():
    """All clients average with all: one round of parallel SGD, local steps included."""
    quadratic, x0 = problem(5), [1.0, 0.0, -1.0]
    run = {"K": 3, "T": 8, "x0": x0, "gamma_u": 0.05, "sigma_u": 0.3}
    ours = rc.exact("dsgd", quadratic, Graph.named("complete", 5), **run)
    theirs = rc.exact("fedavg", quadratic, Trace.full(5), **run, eta_u=1.0)
    assert ours.records["G_u"] == pytest.approx(theirs.records["G_u"], rel=1e-12)
    assert ours.records["consensus2"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12])
def test_graphs_mix(name, n):
    """Doubly stochastic and connected; of undirected ones symmetric. The rate is the second largest singular value."""
    graph = Graph.named(name, n)
    W = graph.mixing
    assert W.sum(axis=0) == pytest.approx(np.ones(n))
    assert W.sum(axis=1) == pytest.approx(np.ones(n))
    assert (np.linalg.matrix_power(W, n + 1) > 0).all()
    assert name == "exponential" or (W == W.T).all()
    values = np.sort(np.linalg.svd(W, compute_uv=False))[::-1]
    assert graph.mixing_rate == pytest.approx(values[1] if n > 1 else 0.0, abs=1e-12)
    assert (Graph.read(graph.fields()).mixing == W).all()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0]], "shape (1, 2) does not do"),
        ([[2, -1], [-1, 2]], 'W[0, 1]=-1 breaks "W >= 0"'),
        ([[1, 0], [1, 0]], "column 0 of the mixing matrix adds up to 2"),
        ([[0.5, 0.3], [0.5, 0.6]], "row 0 of the mixing matrix adds up to 0.8: needed is 1 within 1e-12"),
        (
            np.full((3, 3), 0.333333),
            "adds up to 0.999999: needed is 1 within 1e-12; write all 17 digits, or set W[0, 0] to 1 minus the others",
        ),
    ],
)
def test_what_is_no_mixing_matrix(matrix, message):
    """One line with the entry or the sum."""
    with pytest.raises(rc.InputError) as error:
        Graph(matrix)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q, g: rc.simulate("dsgd", q, g, K=1, T=2, gamma_u=0.1, engine="leap"), "the leap engine does not"),
        (lambda q, _: rc.simulate("dsgd", q, Trace.full(4), K=1, T=2, gamma_u=0.1), "needs a graph of the clients"),
        (lambda q, g: rc.exact("gradient-tracking", q, g, K=2, T=2, gamma_u=0.1), "K=2 contradicts gradient-tracking"),
        (lambda *_: Graph.named("circle", 3), "no graph 'circle': there are ring"),
    ],
)
def test_who_refuses(call, message):
    """By name, with what would do."""
    with pytest.raises(rc.InputError) as error:
        call(problem(4), Graph.named("ring", 4))
    assert message in str(error.value)


def statement(right):
    """About DSGD without noise."""
    return theorem(
        title="DSGD",
        algorithm="dsgd",
        assumptions=["smoothness", "full_participation", "no_personal"],
        left="consensus2",
        over="last_round",
        right=right,
        conditions=["gamma_u <= 1/L"],
        settings={"K": 1, "m": "n", "sigma_u": 0},
        vocabulary="textbook",
    )


def test_a_statement_about_a_graph(tmp_path, cli):
    """Its rate is certified, the verdict names the graph, a file may have the matrix; rounding is not followed."""
    found = rc.verify(statement("2*F_0*L*gamma_u**2*lambda_W/(1 - lambda_W)"), n=6, T=5)
    assert found.verdicts[0].notes == ("the 6 clients are on a ring graph; ||W - 11'/n||_2 = 0.6667",)
    assert found.verdicts[0].constants["lambda_W"].certificate.value == "upper bound"
    assert rc.verify(statement("gamma_u**2*F_0/10**6"), n=6, T=5).outcome is rc.Outcome.VIOLATED
    (tmp_path / "W.csv").write_text("0.5,0.5\n0.5,0.5\n")
    (tmp_path / "mine.py").write_text(
        "from bounds.theorem import theorem\n"
        "one = theorem(title='DSGD', algorithm='dsgd',\n"
        "    assumptions=['smoothness', 'full_participation', 'no_personal'],\n"
        "    left='G_u', over='mean_of_rounds', right='9*F_0/(gamma_u*T)', conditions=['gamma_u <= 1/L'],\n"
        "    settings={'K': 1, 'm': 'n', 'sigma_u': 0}, vocabulary='textbook')\n"
    )
    words = ["verify", f"{tmp_path / 'mine.py'}:one", "n=2", "T=5"]
    done = cli(*words, "--participation", f"graph:{tmp_path / 'W.csv'}")
    assert (done.returncode, "the graph of a given mixing matrix" in done.stdout) == (0, True)
    done = cli(*words, "--participation", "graph:nowhere.csv")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert cli(*words, "--participation", "star").returncode == 0


def test_the_worst_case_over_all_functions_is_not_asked():
    """``--pep`` follows no graph; nor do the search's shortcuts, so that it follows round by round."""
    about = statement("gamma_u**2*F_0")
    with pytest.raises(rc.InputError) as error:
        rc.falsify(about, pep=True, n=2, T=1, L=1, F_0=1, gamma_u=1, lambda_W=0)
    assert "dsgd mixes clients on a graph" in str(error.value)
    found = rc.falsify(statement("10**9*gamma_u**2*F_0/(1 - lambda_W)**9 + 10**9*F_0*L"), evaluations=6)
    assert any("mixing matrices that are not symmetric" in line for line in str(found).splitlines())


DRIFT, WALK = "4*lambda_W**2*gamma_u**2*b**2/(1 - lambda_W)**2", "2*lambda_W**2*gamma_u**2*sigma_u**2/(1 - lambda_W)"
DESCENT = "2*F_0/(gamma_u*T) + L*gamma_u*sigma_u**2/n"


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("left", "right", "wrong"),
    [
        ("consensus2", f"{DRIFT} + {WALK}", False),
        ("consensus2", f"{DRIFT.replace('(1 - lambda_W)**2', '(1 - lambda_W)')} + {WALK}", True),
        ("consensus2", f"4*lambda_W**2*gamma_u**2*b**2 + {WALK}", True),
        ("consensus2", DRIFT, True),
        ("consensus2", WALK, True),
        ("consensus2", f"{DRIFT} + lambda_W**2*gamma_u**2*sigma_u**2", True),
        ("G_u", f"{DESCENT} + L**2*({DRIFT} + {WALK})", False),
        ("G_u", f"{DESCENT} + L**2*{WALK}", True),
        ("G_u", DESCENT, True),
    ],
)
def test_a_search_varies_the_graph(left, right, wrong):
    """A wrong dependence on how fast the graph mixes is found; the right one is not contradicted."""
    found = rc.falsify(
        theorem(
            title="DSGD",
            algorithm="dsgd",
            assumptions=["smoothness", "noise", "dissimilarity", "full_participation", "no_personal"],
            left=left,
            over="every_round" if left == "consensus2" else "mean_of_rounds",
            right=right,
            conditions=["gamma_u <= 1/L", "gamma_u*2*L*lambda_W <= 1 - lambda_W", "lambda_W < 1"],
            settings={"K": 1, "m": "n"},
            vocabulary="textbook",
        ),
        evaluations=120,
    )
    assert (found.outcome is rc.Outcome.VIOLATED) is wrong
    if wrong:
        assert isinstance(found.instance.participation, Graph)
        assert "on the graph with $W_{12} = " in found.as_latex()


def test_graphs_with_other_weights_and_fewer_clients():
    """I + s (W - I) mixes by 1 - s (1 - lambda); a client that leaves leaves its share to those who heard from it."""
    path = Graph.named("path", 3)
    for share in (0.25, 1.0, 1.4):
        assert np.linalg.eigvalsh(path.moved(share).mixing) == pytest.approx([1 - share, 1 - share / 3, 1])
    assert path.moved(1.0) is path
    assert path.without(2).mixing == pytest.approx(Graph.named("path", 2).moved(2 / 3).mixing)
    with pytest.raises(rc.InputError):
        path.moved(1.6)
    with pytest.raises(rc.InputError):
        Graph.named("exponential", 4).without(0)
