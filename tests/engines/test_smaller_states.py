"""Exact moments on smaller states, of clients that are alike or on a graph, against the recursion of all clients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.engines import setup
from ratecheck.engines.kinds.moment_engine import MomentEngine
from ratecheck.engines.moments import lemmas
from ratecheck.engines.moments.expectation import client_by_client, follow
from ratecheck.engines.moments.moment import LocalMoments, Moment, MomentForm
from ratecheck.engines.moments.roundmap import RoundMap
from ratecheck.engines.moments.transition import Transition
from ratecheck.engines.records import recorded
from ratecheck.engines.request import RunRequest
from ratecheck.engines.types import alike, fastest, graph_modes, separate
from ratecheck.engines.wanted import Wanted
from ratecheck.participation import Trace, Uniform
from ratecheck.problems import Quadratic

N = 9
TRACE = rc.participation.Trace
FULL, SOME, COINS = TRACE.full(N), TRACE.uniform(N, 4), TRACE.bernoulli([0.4] * N)
RECORDS = ["G_u", "B", "f", "gap", "distance2"]


def problem(n=N, curvature=0.0):
    """Clients with one Hessian unless there is curvature."""
    return rc.problems.Quadratic.synthetic(n=n, d=3, shared=3, seed=5, curvature=curvature)


def ready(name, trace, *, of=None, T=15, **given):
    """A run of a method on such clients."""
    return setup.ready(RunRequest.of(name, of or problem(), trace, {"T": T, "records": RECORDS, **given}))


def agree(found, known):
    """Whether two engines say the same, up to what they claim to round; how much that is stays comparable."""
    for name, values in known.records.items():
        apart, errors = np.abs(found.records[name] - values), found.errors[name] + known.errors[name]
        assert (apart <= errors).all(), name
        assert (found.errors[name] <= 1e-6 * np.abs(values).max() + 1e-12).all(), name


@pytest.mark.parametrize("sigma", [0.0, 0.3])
@pytest.mark.parametrize(
    ("name", "trace", "given"),
    [
        ("scaffold", SOME, {"K": 3, "gamma_u": 0.05, "eta_u": 1.2}),
        ("scaffold", COINS, {"K": 3, "gamma_u": 0.05, "eta_u": 1.2}),
        ("saga", SOME, {"K": 1, "gamma_u": 0.1}),
        ("diana", FULL, {"K": 1, "gamma_u": 0.1, "alpha": 0.3, "q": 0.4}),
        ("ef21", FULL, {"K": 1, "gamma_u": 0.1, "q": 0.4}),
        ("ef-sgd", SOME, {"K": 1, "gamma_u": 0.1, "q": 0.4}),
        ("fedsum", FULL, {"K": 2, "eta_g": 1.0, "eta_l": 0.05}),
        ("fast-gradient", FULL, {"K": 1, "gamma_u": 0.2}),
    ],
)
def test_clients_that_are_alike_are_followed_together(name, trace, given, sigma):
    """Sampled or not, compressed or not, with coefficients by round or not: as client by client."""
    run = ready(name, trace, sigma=sigma, **given)
    moments = fastest.recursion(run)
    assert isinstance(moments, alike.AlikeMoments)
    assert moments.size <= 6 * 3 + 6 * 3 + 1
    agree(follow(run, fastest.recursion), follow(run, client_by_client))


@pytest.mark.parametrize(
    ("name", "trace", "given"),
    [
        ("flame-exact", SOME, {"rho": 3.0, "lambda_": 0.7, "records": ["grad_L2", "grad_theta2", "lagrangian", "gap"]}),
        ("flame-exact", COINS, {"rho": 3.0, "lambda_": 0.7, "records": ["grad_L2", "dual_residual2", "distance2"]}),
        ("fast-proximal-point", FULL, {"lambda_": 1.3}),
    ],
)
def test_answers_and_records_of_two_oracles_are_followed_together(name, trace, given):
    """Clients hold the constants of both, so that proximal steps are taken together too."""
    run = ready(name, trace, K=1, **given)
    assert isinstance(fastest.recursion(run), alike.AlikeMoments)
    agree(follow(run, fastest.recursion), follow(run, client_by_client))


def test_a_few_types_of_clients_are_followed_as_types():
    """Two Hessians, clients of both mixed up."""
    quadratic = problem()
    H = quadratic.H.copy()
    H[1::3] *= 0.5
    run = ready("scaffold", SOME, of=rc.problems.Quadratic(H, quadratic.g, 3), K=3, gamma_u=0.05, eta_u=1.2, sigma=0.2)
    assert [len(each) for each in alike.types(run)] == [6, 3]
    agree(follow(run, alike.moments), follow(run, client_by_client))


def test_clients_that_differ_or_come_unequally_stay_apart():
    """Hessians of their own, given participants, probabilities of their own: no types."""
    step = {"K": 1, "gamma_u": 0.1, "eta_u": 1.0}
    assert not alike.pays(ready("scaffold", SOME, of=problem(curvature=1.0), **step))
    given = TRACE(np.eye(N, dtype=bool)[np.arange(15) % N])
    assert not alike.pays(ready("scaffold", given, T=15, **step))
    assert not alike.pays(ready("scaffold", TRACE.bernoulli(np.linspace(0.2, 0.9, N)), **step))


def test_small_quantities_keep_their_digits():
    """SAGA's noise vanishes at the minimiser: what is left is known to a share of itself, not of the gradients."""
    run = ready("saga", SOME, K=1, gamma_u=0.5, T=200)
    found = follow(run, alike.moments)
    assert found.records["distance2"][-1] < 1e-8
    assert found.errors["distance2"][-1] < 1e-4 * found.records["distance2"][-1]


@pytest.mark.parametrize("mixes", [1.0, 0.5])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("dsgd", {"K": 2, "gamma_u": 0.1}),
        ("gradient-tracking", {"K": 1, "gamma_u": 0.05}),
        ("proxskip", {"K": 1, "gamma_u": 0.2, "alpha": 0.8}),
    ],
)
@pytest.mark.parametrize("graph", ["ring", "star"])
def test_modes_of_a_graph_say_what_all_clients_say(name, given, graph, mixes):
    """Mean and modes, where every round mixes and where a coin decides."""
    trace = rc.participation.Graph.named(graph, N, mixes)
    run = ready(name, trace, sigma=0.3, records=[*RECORDS, "consensus2"], **given)
    assert isinstance(fastest.recursion(run), graph_modes.GraphMoments)
    agree(follow(run, fastest.recursion), follow(run, client_by_client))


def test_modes_are_those_of_one_hessian_on_an_undirected_graph():
    """Other clients and directed graphs are followed as they are."""
    ring, away = rc.participation.Graph.named("ring", N), rc.participation.Graph.named("exponential", N)
    assert graph_modes.applies(ready("dsgd", ring, K=1, gamma_u=0.1))
    assert not graph_modes.applies(ready("dsgd", away, K=1, gamma_u=0.1))
    assert not graph_modes.applies(ready("dsgd", ring, of=problem(curvature=1.0), K=1, gamma_u=0.1))


def test_modes_of_a_large_graph_obey_the_recursion_of_their_consensus():
    """300 clients at rest at the mean minimiser of equal functions, but for noise: a sum over the eigenvalues of W."""
    n, gamma, sigma, T = 300, 0.1, 0.5, 40
    H = np.tile(np.diag([1.0, 0.5]), (n, 1, 1))
    graph = rc.participation.Graph.named("ring", n)
    found = rc.exact(
        "dsgd", rc.problems.Quadratic(H, np.zeros((n, 2)), 2), graph, K=1, T=T, gamma_u=gamma, sigma=sigma
    )  # fmt: skip
    values = np.linalg.eigvalsh(graph.mixing - np.full((n, n), 1 / n))
    # One of them is that of the mean.
    values = np.delete(values, np.abs(values).argmin())
    factors = (values[:, None] * (1 - gamma * np.array([1.0, 0.5]))) ** 2
    powers = (1 - factors ** (T - 1)) / (1 - factors)
    expected = float(np.sum((gamma * values[:, None]) ** 2 * powers)) * sigma**2 / 2 / n
    assert abs(found.records["consensus2"][-1] - expected) <= found.errors["consensus2"][-1] + 1e-12 * expected


@pytest.mark.parametrize("mixes", [1.0, 0.3])
def test_blocks_move_second_moments_as_whole_matrices_do(mixes):
    """Own Hessians on a graph: the map put together block by block against A M A' + sum_k w_k F_k M F_k'."""
    graph = rc.participation.Graph.named("grid", N, mixes)
    moments = client_by_client(ready("proxskip", graph, of=problem(curvature=1.0), K=1, gamma_u=0.2, alpha=0.8))
    round_map = moments.round_map(0)
    root = np.random.default_rng(0).standard_normal((2, moments.size, moments.size))
    squares = root @ root.transpose(0, 2, 1)
    np.testing.assert_allclose(round_map.linear(squares), RoundMap.linear(round_map, squares), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("name", ["fedavg-p", "scaffold-p"])
def test_blocks_of_sampled_clients_do_as_whole_matrices_do(name):
    """Uniform subsets and own Hessians: second moments after a round, and what sampling alone adds to them."""
    of = rc.problems.Quadratic.synthetic(n=N, d=3, shared=2, seed=5, curvature=1.0, coupling=0.5)
    sizes = {"gamma_u": 0.1, "gamma_v": 0.2, "eta_u": 1.5, "eta_v": 0.7, "sigma_u": 0.3}
    moments = client_by_client(ready(name, rc.participation.Trace.uniform(N, 3), of=of, K=2, **sizes))
    blocks, moment = moments.round_map(0), moments.start()
    whole = RoundMap(blocks.mean, blocks.error, blocks.terms, blocks.noise, blocks.fluctuations)
    root = np.random.default_rng(0).standard_normal((2, moments.size, moments.size))
    squares = root @ root.transpose(0, 2, 1)
    np.testing.assert_allclose(blocks.linear(squares), whole.linear(squares), rtol=1e-10, atol=1e-9)
    for _ in range(2):
        moment = blocks.advance(moment)
    np.testing.assert_allclose(blocks.spread(moment), whole.spread(moment), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("mixes", [1.0, 0.3])
def test_bounds_of_mixed_clients_are_above_what_the_round_makes_of_them(mixes):
    """DSGD on a directed graph: covariances as they are, bounds of E[e e'] by the blocks of clients."""
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(N), (2, 1)), axis=1)
    W = 0.5 * np.eye(N) + sum(share * np.eye(N)[order] for share, order in zip((0.3, 0.2), orders, strict=True))
    graph = rc.participation.Graph(W, mixes=mixes)
    moments = client_by_client(ready("dsgd", graph, of=problem(curvature=1.0), K=1, gamma_u=0.2))
    round_map, cut = moments.round_map(0), moments.server
    random, bound = np.random.default_rng(0), np.zeros((moments.size, moments.size))
    for i in range(N):
        here = np.ix_(moments.outputs(i), moments.outputs(i))
        root = random.standard_normal(bound[here].shape)
        bound[here] += root @ root.T
    covariance, *bounds = round_map.followed(bound, np.stack([bound, 2 * bound]))
    exact = RoundMap.linear(round_map, bound[None])[0]
    np.testing.assert_allclose(covariance, exact, rtol=1e-10, atol=1e-10)
    for share, above in zip((1, 2), bounds, strict=True):
        apart = above[cut:-1, cut:-1].reshape(N, moments.client, N, moments.client)
        assert np.count_nonzero(apart) == N * moments.client**2
        assert np.linalg.eigvalsh(above - share * exact).min() > -1e-10


def test_parts_of_a_moment_are_read_as_one_by_one():
    """Inner products of the parts, and their errors, beside those of `Moment.inner`."""
    random = np.random.default_rng(3)
    roots = random.standard_normal((3, 7, 7))
    matrices = roots @ roots.transpose(0, 2, 1)
    moment = Moment(random.standard_normal(7), *matrices, *np.abs(random.standard_normal((2, 7))))
    positions = np.array([[0, 2, 6], [1, 3, 6]])
    left, right = random.standard_normal((2, 2, 4, 3))
    values, errors = LocalMoments(moment, positions).inner((left, np.abs(left)), (right, np.abs(right)))
    known = [moment.part(at).inner(one, other) for at, one, other in zip(positions, left, right, strict=True)]
    np.testing.assert_allclose(np.column_stack([values, errors]), known, rtol=1e-12)


@pytest.mark.parametrize("certain", [True, False])
def test_changes_of_clients_are_read_as_one_by_one(certain):
    """E||V_i' - V_i||^2 of many clients, each of which sees a few entries, beside the square of its rows alone."""
    problem = Quadratic.synthetic(9, 4, 2, seed=1)
    noise = {} if certain else {"sigma_u": 0.3, "sigma_v": 0.1}
    trace = Trace.full(9) if certain else Uniform(9, 4)
    sizes = {"gamma_u": 0.1, "gamma_v": 0.1, "eta_u": 1.0, "eta_v": 1.0}
    run = setup.prepare("scaffold-p", problem, trace, K=3, T=3, step_sizes=sizes, noise=noise)
    moments = client_by_client(run)
    rows = [moments.variable_rows("v", i) for i in range(9)]
    for moment, round_map in moments.rounds():
        round_ = Transition(moment, round_map)
        values, errors = round_.changes(np.concatenate(rows), 9)
        known = np.array([round_.square(-each, each) for each in rows])
        np.testing.assert_allclose(values, known[:, 0], rtol=1e-11)
        np.testing.assert_allclose(errors, known[:, 1], rtol=0.5)


def personal(n=24, trace=None, **given):
    """Scaffold-P with personal variables beside shared ones, of a common curvature unless it is ``given``."""
    problem = Quadratic.synthetic(n, 10, 5, seed=2, **given)
    sizes = {"gamma_u": 0.2, "gamma_v": 0.1, "eta_u": 1.0, "eta_v": 1.0}
    noise = {"sigma_u": 0.3, "sigma_v": 0.2}
    trace = trace or Uniform(n, n // 3)
    found = setup.prepare("scaffold-p", problem, trace, K=3, T=5, step_sizes=sizes, noise=noise)
    return replace(found, records=recorded(found))


@pytest.mark.parametrize("trace", [Uniform(24, 8), Trace.full(24), Trace(np.add.outer(range(5), range(24)) % 2 == 0)])
def test_shared_and_personal_variables_are_followed_apart(trace):
    """The parts add up to the run client by client: gaps, distances and gradients."""
    run = personal(trace=trace)
    assert [each.problem.d for each in separate.parts(run)] == [5, 5]
    found, known = fastest.expect(run), follow(run, client_by_client)
    assert found.records.keys() == known.records.keys()
    for name, values in known.records.items():
        assert (np.abs(found.records[name] - values) <= found.errors[name] + known.errors[name]).all(), name
        np.testing.assert_allclose(found.records[name], values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("run", [personal(coupling=0.5), personal(curvature=1.0), personal(n=6)])
def test_no_parts_where_curvatures_touch_or_differ_or_clients_are_few(run):
    """Coupled variables, shared ones that curve differently, and six clients are followed as a whole."""
    assert not separate.parts(run)


@pytest.mark.parametrize("trace", [Uniform(24, 8), Trace(np.add.outer(range(5), range(24)) % 2 == 0)])
def test_quantities_of_lemmas_are_sums_over_shared_and_personal_variables(trace):
    """Those of a run whose variables nothing couples, though shared ones curve differently, are those of the whole."""
    run = personal(trace=trace, curvature=1.0)
    wanted = Wanted(lemmas.NAMES - frozenset().union(*lemmas.VECTORS), rc.get("pfl/lemma-4.2").vocabulary)
    assert [each.problem.d for each in separate.of_blocks(run)] == [5, 5]
    found, known = MomentEngine().follow(run, wanted), lemmas.expect(run)
    assert found.records.keys() == known.records.keys() >= wanted.quantities
    np.testing.assert_allclose(found.metric, known.metric, rtol=1e-12)
    for name, values in known.records.items():
        assert (np.abs(found.records[name] - values) <= found.errors[name] + known.errors[name]).all(), name
        np.testing.assert_allclose(found.records[name], values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("trace", [Uniform(24, 8), Trace(np.add.outer(range(5), range(24)) % 2 == 0)])
@pytest.mark.parametrize("kinds", [1, 2])
def test_quantities_of_lemmas_are_known_by_types_of_clients(trace, kinds):
    """Clients with one of two Hessians that couple both blocks, which differ in slopes, beside clients one by one."""
    rng, run = np.random.default_rng(7), personal(trace=trace)
    A = rng.standard_normal((kinds, 10, 10))
    H = (np.eye(10) + A @ A.swapaxes(1, 2) / 10)[np.arange(24) // 4 % 2 % kinds]
    problem = Quadratic(H / np.linalg.norm(H, 2, axis=(1, 2)).max(), rng.standard_normal((24, 10)), 5)
    run = replace(run, problem=problem, records=("G_u", "G_v", "B"))
    names = lemmas.NAMES - frozenset().union(*lemmas.VECTORS)
    assert alike.pays(run)
    found, known = lemmas.expect(run, names, recursion=alike.moments), lemmas.expect(run, names)
    assert found.records.keys() == known.records.keys() >= names
    for name, values in known.records.items():
        assert (np.abs(found.records[name] - values) <= found.errors[name] + known.errors[name]).all(), name
        np.testing.assert_allclose(found.records[name], values, rtol=1e-9, atol=1e-12)
        assert (found.errors[name] <= 1e-6 * (1e-3 + np.abs(values))).all(), name


@pytest.mark.parametrize("run", [personal(coupling=0.5), personal(n=6)])
def test_quantities_of_lemmas_are_those_of_the_whole_where_variables_are_coupled_or_clients_few(run):
    """Coupled variables, and six clients, are followed as a whole."""
    assert not separate.of_blocks(run)


@pytest.mark.parametrize("few", [True, False])
def test_a_form_is_taken_at_its_entries(few):
    """<Q, M> of a matrix with few entries and of a full one, whichever way it is taken."""
    rng = np.random.default_rng(3)
    matrix, other = rng.standard_normal((2, 40, 40))
    matrix = np.diag(np.diagonal(matrix)) if few else matrix
    assert MomentForm(matrix).on(other) == pytest.approx(np.sum(matrix * other), rel=1e-12)
