"""The worst deterministic run over all smooth functions: the two sides agree, and each can fail."""

from __future__ import annotations

import dataclasses
import json
import warnings
from itertools import combinations

import numpy as np
import pytest
import sympy as sp
from twins import fedavg_p, scaffold_p

import bounds
import ratecheck as rc
from bounds.symbols import Domain, Role, Vocabulary
from bounds.theorem import theorem
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import DeterministicCase
from ratecheck.falsification.performance_estimation import interpolation, pep
from ratecheck.falsification.performance_estimation.interpolation import Answers, recheck, worst_instance
from ratecheck.falsification.performance_estimation.pep import UndecidedCaseError
from ratecheck.falsification.performance_estimation.worst_case import worst_case

FEDAVG = {"n": 2, "L": 2.0, "F_0": 0.7, "B_0": 11.2}
SCAFFOLD = {"n": 2, "L": 2.0, "F_0": 0.7}
DISSIMILAR = {"n": 2, "L": 2.0, "F_0": 0.7, "b": 0.9}

needs_pepit = pytest.mark.usefixtures("pepit")


@pytest.fixture
def pepit():
    """Skips where the extra is not installed."""
    pytest.importorskip("clarabel", reason="needs the extra pep")
    with warnings.catch_warnings(action="ignore"):
        pytest.importorskip("PEPit", reason="needs the extra pep")


def case(key, ignore_conditions=True, **given):
    """The statement at these numbers, whether or not its conditions hold."""
    return DeterministicCase.of(bounds.get(key), given, ignore_conditions=ignore_conditions)


# The two sides together.


@needs_pepit
@pytest.mark.parametrize("T", [1, 2])
@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("key", ["pfl/theorem-3.11", pytest.param("pfl/fedavg-full", marks=pytest.mark.long)])
def test_both_sides_agree_on_fedavg(key, K, T):
    """Wanted are 1%; the adversary keeps 1e-6 below the smoothness that is allowed, and loses no more than that."""
    found = worst_case(bounds.get(key), {**FEDAVG, "K": K, "T": T}, starts=2)
    assert found.upper.safe
    assert 0 <= found.gap <= 5e-6
    assert not found.violated


@needs_pepit
@pytest.mark.parametrize(
    ("key", "constants", "gap"),
    [
        ("pfl/theorem-3.11", FEDAVG, 1e-5),
        ("pfl/theorem-4.5", SCAFFOLD, 1e-5),
        # From above dissimilarity is bounded at the server's iterates only, from below everywhere.
        ("pfl/theorem-3.7", DISSIMILAR, 1e-3),
    ],
)
@pytest.mark.parametrize("clients", [1, pytest.param(2, marks=pytest.mark.long)])
def test_both_sides_agree_at_steps_beyond_the_conditions(key, constants, clients, gap):
    """Steps of 1/L, far larger than any theorem admits, so that curvature matters."""
    given = {**constants, "n": clients, "K": 3, "T": 2, "gamma": 1 / (3 * constants["L"])}
    found = worst_case(bounds.get(key), given, ignore_conditions=True)
    assert (0 if found.upper.safe else -1e-6) <= found.gap <= gap


@needs_pepit
def test_the_answer_is_in_the_units_of_the_question():
    """A left side has degrees (2, -2): f -> 3f and x -> 7x multiply it by 9/49."""
    plain = worst_case(bounds.get("pfl/theorem-3.11"), {"n": 2, "L": 1, "F_0": 1, "B_0": 8, "K": 2, "T": 2}, starts=2)
    given = {"n": 2, "L": 3 / 49, "F_0": 3, "B_0": 8 * 9 / 49, "K": 2, "T": 2}
    scaled = worst_case(bounds.get("pfl/theorem-3.11"), given, starts=2)
    assert scaled.upper.left == pytest.approx(9 / 49 * plain.upper.left, rel=1e-7)
    assert scaled.lower.left == pytest.approx(9 / 49 * plain.lower.left, rel=1e-7)
    assert scaled.lower.ratio == pytest.approx(plain.lower.ratio, rel=1e-7)


@needs_pepit
def test_a_step_size_beyond_the_condition_is_refused_and_then_violates():
    """Planted error: without the condition on gamma the theorem is false, and an exact instance says so."""
    given = {**FEDAVG, "K": 2, "T": 2, "gamma": 2 / FEDAVG["L"]}
    with pytest.raises(InputError, match=r'gamma=1 breaks "gamma <= 1/\(84\*K\*L\)"'):
        worst_case(bounds.get("pfl/theorem-3.11"), given)
    found = worst_case(bounds.get("pfl/theorem-3.11"), given, ignore_conditions=True)
    assert found.violated
    assert found.upper.left >= found.lower.left


@needs_pepit
def test_a_bound_that_is_too_small_is_violated():
    """Planted error: a right side 200 times smaller is below the worst case, one 50 times smaller is not."""
    honest = bounds.get("pfl/fedavg-full")
    for factor, violated in ((200, True), (50, False)):
        claim = honest.claims[0]
        terms = {name: term / sp.Integer(factor) for name, term in claim.terms.items()}
        shrunk = dataclasses.replace(honest, claims=(dataclasses.replace(claim, terms=terms),))
        assert worst_case(shrunk, {**FEDAVG, "K": 2, "T": 1}, starts=2).violated is violated


# From above.


@needs_pepit
@pytest.mark.parametrize("step", [0.3, 1.0, 1.5])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_gradient_descent_has_its_known_worst_case(step, steps):
    """One client, one local step: min_k ||grad f(x_k)||^2 <= 4 F_0/(sum_k min(4t - L^2 t^3, 4t - L t^2) + 2/L).

    Abbaszadehpeivasti, de Klerk, Zamani, "The exact worst-case convergence rate of the gradient method with fixed step
    lengths for L-smooth functions" (2022); exact for t <= sqrt(3)/L.
    """
    descent = case("pfl/theorem-4.5", n=1, L=1, F_0=1, K=1, T=steps + 1, gamma=step, eta_u=1, eta_v=1)
    formulation = pep.formulate(descent)
    found = formulation.maximise([snapshot.square(pep.inner) for (snapshot,) in formulation.run])
    progress = steps * min(4 * step - step**3, 4 * step - step**2)
    assert (found.dual, found.complaint) == (pytest.approx(4 / (progress + 2), rel=1e-6), "")


@needs_pepit
@pytest.mark.parametrize("K", [1, 4])
def test_at_the_start_smoothness_alone_decides(K):
    """T = 1: ||grad f(u^0)||^2 <= 2 L F_0, and at most B_0/n."""
    large = case("pfl/theorem-3.11", **{**FEDAVG, "K": K, "T": 1})
    assert pep.upper_bound(large).left == pytest.approx(2 * 2.0 * 0.7, rel=1e-7)
    small = case("pfl/theorem-3.11", **{**FEDAVG, "K": K, "T": 1, "B_0": 1.0})
    assert pep.upper_bound(small).left == pytest.approx(0.5, rel=1e-7)


# Tolerances at which Clarabel calls almost anything a solution.
LOOSE = {"reduced_tol_gap_abs": 1e9, "reduced_tol_gap_rel": 1e9, "reduced_tol_feas": 1e9}


@needs_pepit
def test_a_solver_that_stops_early_does_not_lower_the_bound():
    """Planted error: whatever the solver returns, no checked instance is above the bound; its own answer can be below.

    The bound is as loose as the answer is wrong.
    """
    at = case("pfl/theorem-3.11", **{**FEDAVG, "K": 2, "T": 2})
    reached = recheck(worst_instance(at, starts=3)).left
    found = [pep.upper_bound(at, max_iter=iterations, **LOOSE) for iterations in (1, 3, 5, 10)]
    assert all(upper.safe and upper.left >= reached for upper in found)
    assert any(upper.solver < reached for upper in found)
    assert found[0].left > 2 * reached
    assert found[-1].left < (1 + 1e-4) * reached


@needs_pepit
def test_large_gradients_at_the_start_do_not_lower_the_bound():
    """With B_0 = 400 n L F_0 the solver says "optimal" of a value that is too small in the fifth digit."""
    at = case("pfl/theorem-3.11", n=2, L=1, F_0=1, B_0=800, K=2, T=2)
    reached = recheck(worst_instance(at, starts=2)).left
    upper = pep.upper_bound(at)
    assert reached <= upper.left < (1 + 1e-3) * reached


@needs_pepit
def test_an_answer_that_has_to_be_trusted_has_to_have_converged():
    """Planted error: Scaffold-P, whose statement says nothing of the clients' gradients at the start."""
    at = case("pfl/theorem-4.5", **{**SCAFFOLD, "K": 2, "T": 2})
    assert not pep.upper_bound(at).safe
    with pytest.raises(InputError, match="CLARABEL has not converged: status optimal_inaccurate"):
        pep.upper_bound(at, max_iter=8, **LOOSE)


@needs_pepit
@pytest.mark.parametrize(("key", "constants"), [("pfl/theorem-3.11", FEDAVG), ("pfl/theorem-3.7", DISSIMILAR)])
def test_the_sizes_hold(key, constants):
    """The unknowns of the solution itself, which is an instance of the relaxed problem, keep within their limits."""
    found = pep.formulate(case(key, **{**constants, "K": 3, "T": 2, "gamma": 1 / (3 * constants["L"])}))
    solution = found.maximise([found.run[1][0].square(pep.inner)]).solution
    for vector, size in zip(solution.coordinates, found.sizes.vectors, strict=True):
        assert vector @ vector <= size**2 * (1 + 1e-6)
    for number, size in zip(solution.numbers, found.sizes.numbers, strict=True):
        assert abs(number) <= size * (1 + 1e-6)


def test_without_clarabel_one_line_says_what_to_install(monkeypatch):
    """The extra is optional."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'ratecheck\[pep\]'"):
        pep.formulate(case("pfl/theorem-3.11", **{**FEDAVG, "K": 1, "T": 1}))


# From below.


def function(instance, i):
    """Client i's function, by the formula of the largest smooth interpolant: x -> (value, gradient).

    conv(min_j q_j + L|x|^2/2) - L|x|^2/2, where q_j + L|x|^2/2 = r_j + L|x - p_j|^2; the convex hull of parabolas of
    the same curvature is min over weights w of sum_j w_j r_j + L|x - sum_j w_j p_j|^2.
    """
    L, d = instance.case.values["L"], instance.dimension
    tilts = np.vstack([instance.tilts.reshape(-1, d), -instance.tilts.reshape(-1, d).sum(axis=0)])
    k = i if len(instance.gradients) > 1 else 0
    x, g, h = points(instance)[k], instance.gradients[k], instance.heights[k]
    p = (x - g / L) / 2
    r = h - (g * x).sum(axis=1) + L / 2 * (x**2).sum(axis=1) - L * (p**2).sum(axis=1)
    supports = [list(s) for size in range(1, d + 2) for s in combinations(range(len(r)), size)]

    def at(u):
        best = np.inf, None
        for s in supports:
            # Stationary on the face: 2L p_s'(p_s w - u) + r_s + multiplier = 0, sum w = 1.
            q, one = p[s], np.ones((len(s), 1))
            system = np.block([[2 * L * q @ q.T, one], [one.T, np.zeros((1, 1))]])
            w = np.linalg.lstsq(system, np.append(2 * L * q @ u - r[s], 1.0), rcond=1e-13)[0][:-1]
            if (w > -1e-9).all():
                w = np.maximum(w, 0) / np.maximum(w, 0).sum()
                value = r[s] @ w + L * ((u - w @ q) ** 2).sum()
                if value < best[0]:
                    best = value, 2 * L * (u - w @ q)
        return best[0] - L / 2 * u @ u + tilts[i] @ u, best[1] - L * u + tilts[i]

    return at


def points(instance):
    """Where each function is asked, in floats, by following the run."""
    n, d = instance.case.n, instance.dimension
    tilts = np.vstack([instance.tilts.reshape(-1, d), -instance.tilts.reshape(-1, d).sum(axis=0)])
    found = [[] for _ in instance.gradients]

    def oracle(i, x):
        k = i if len(found) > 1 else 0
        for j, known in enumerate(found[k]):
            if np.abs(known - x).max() < 1e-13:
                return instance.gradients[k][j] + tilts[i]
        found[k].append(x)
        return instance.gradients[k][len(found[k]) - 1] + tilts[i]

    assert n == len(tilts)
    instance.case.run(np.zeros(d), oracle)
    return [np.array(each) for each in found]


@pytest.mark.parametrize(
    ("key", "constants", "twin"),
    [
        ("pfl/theorem-3.11", FEDAVG, fedavg_p),
        ("pfl/theorem-3.7", DISSIMILAR, fedavg_p),
        ("pfl/theorem-4.5", SCAFFOLD, scaffold_p),
    ],
)
def test_the_functions_exist(key, constants, twin):
    """A plain NumPy twin of the method reaches the left side on explicit functions that meet every assumption."""
    given = {**constants, "K": 2, "T": 2, "gamma": 0.5 / (2 * constants["L"])}
    instance = worst_instance(case(key, **given), starts=3, dimensions=(2,))
    left, values = recheck(instance).left, instance.case.values
    clients = [function(instance, i) for i in range(2)]

    def gradient(i, u, _):
        return clients[i](u)[1], np.zeros(0)

    sizes = {name: values[name] for name in ("gamma_u", "gamma_v", "eta_u", "eta_v")}
    run = twin(gradient, np.ones((2, 2)), np.zeros(2), np.zeros((2, 0)), K=2, **sizes)
    assert run["G_u"].mean() == pytest.approx(left, rel=1e-6)
    if "B_0" in values:
        assert run["B"][0] <= values["B_0"] * (1 + 1e-9)

    rng = np.random.default_rng(0)
    start = np.mean([client(np.zeros(2))[0] for client in clients])
    for _ in range(100):
        x = rng.standard_normal(2) * 10 ** rng.uniform(-2, 1)
        y = x + rng.standard_normal(2) * 10 ** rng.uniform(-3, 1)
        at_x, at_y = [client(x) for client in clients], [client(y) for client in clients]
        for (value, slope), (other, there) in zip(at_x, at_y, strict=True):
            assert np.linalg.norm(there - slope) <= values["L"] * np.linalg.norm(y - x) * (1 + 1e-6)
            assert abs(other - value - slope @ (y - x)) <= values["L"] / 2 * ((y - x) ** 2).sum() * (1 + 1e-6) + 1e-12
        assert np.mean([value for value, _ in at_x]) >= start - values["F_0"] - 1e-9
        if "b" in values:
            slopes = np.array([slope for _, slope in at_x])
            assert ((slopes - slopes.mean(axis=0)) ** 2).sum(axis=1).mean() <= values["b"] ** 2 * (1 + 1e-9)


@pytest.mark.parametrize("K", [1, 3])
def test_no_quadratic_is_worse(K):
    """Independent lower bound: the exact engine on f_i = L|u|^2/2, started at the gap F_0."""
    found = worst_instance(case("pfl/theorem-3.11", **{**FEDAVG, "K": K, "T": 3}), starts=3, dimensions=(1,))
    values = found.case.values
    quadratic = rc.problems.Quadratic(np.full((2, 1, 1), values["L"]), np.zeros((2, 1)), shared=1)
    start = [np.sqrt(2 * values["F_0"] / values["L"])]
    sizes = {name: values[name] for name in ("gamma_u", "eta_u")}
    run = rc.exact("fedavg", quadratic, rc.participation.Trace.full(2), K=K, T=3, x0=start, **sizes)
    assert recheck(found).left >= run.records["G_u"].mean() * (1 - 2e-6)


def test_an_instance_survives_a_file(tmp_path):
    """JSON keeps every float."""
    found = worst_instance(case("pfl/theorem-3.7", **{**DISSIMILAR, "K": 2, "T": 2}), starts=2, dimensions=(2,))
    path = tmp_path / "worst.json"
    path.write_text(json.dumps(found.save()))
    assert recheck(Answers.load(json.loads(path.read_text()))) == recheck(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tilts": [[1.0, 2.0, 3.0]]}, "tilts 1 rows"),
        ({"heights": []}, "heights of 2 functions: there are 2 and 0"),
        ({"gradients": [[[float("nan")]], [[1.0]]]}, r"gradients\[0\]: needed an array of finite numbers"),
        ({"gradients": [[[1.0], [1.0, 2.0]], [[1.0]]]}, r"gradients\[0\]: needed an array"),
        ({"values": 3}, "no 'values'"),
        ({"key": "pfl/theorem-3.12"}, "pfl/theorem-3.11"),
    ],
)
def test_a_damaged_file_is_refused(change, message):
    """In one line that names what is wrong."""
    honest = worst_instance(case("pfl/theorem-3.11", **{**FEDAVG, "K": 1, "T": 1}), starts=1, dimensions=(1,)).save()
    assert Answers.load(honest).save() == honest
    with pytest.raises(InputError, match=message):
        Answers.load({**honest, **change})


def test_the_same_seed_gives_the_same_instance():
    """Starts are drawn from named axes."""
    first, second = (worst_instance(case("pfl/theorem-3.11", **{**FEDAVG, "K": 2, "T": 2}), starts=2) for _ in range(2))
    assert first.save() == second.save()


def _more(array, entry, by):
    changed = np.array(array, dtype=float)
    changed[entry] += by
    return changed


BROKEN = {
    "a gradient too large": (
        lambda x: dataclasses.replace(x, gradients=(_more(x.gradients[0], (1, 0), 1e-2), *x.gradients[1:])),
        "no L-smooth function 0 has these answers",
    ),
    "a height too low": (
        lambda x: dataclasses.replace(x, heights=(_more(x.heights[0], 1, -1e-3), *x.heights[1:])),
        "no L-smooth function 0 has these answers",
    ),
    "a gap too large": (
        lambda x: dataclasses.replace(
            x,
            gradients=tuple(1.01 * each for each in x.gradients),
            heights=tuple(1.01**2 * each for each in x.heights),
            tilts=1.01 * x.tilts,
        ),
        r"f\(u\^0\) - inf f <= F_0",
    ),
    "tilts too large": (lambda x: dataclasses.replace(x, tilts=x.tilts + 50), None),
    "too few answers": (
        lambda x: dataclasses.replace(x, gradients=(x.gradients[0][:-1], *x.gradients[1:])),
        "the run evaluates more points",
    ),
    "too many answers": (
        lambda x: dataclasses.replace(x, heights=(np.append(x.heights[0], 1.0), *x.heights[1:])),
        "the run evaluates",
    ),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize(("key", "constants"), [("pfl/theorem-3.11", FEDAVG), ("pfl/theorem-3.7", DISSIMILAR)])
def test_a_false_instance_is_refused(how, key, constants):
    """Planted errors: answers that no function of the statement gives."""
    given = {**constants, "K": 2, "T": 2, "gamma": 0.5 / (2 * constants["L"])}
    honest = worst_instance(case(key, **given), starts=1, dimensions=(2,))
    change, message = BROKEN[how]
    recheck(honest)
    with pytest.raises(InputError, match=message):
        recheck(change(honest))


@pytest.mark.parametrize(
    ("key", "constants", "smaller", "message"),
    [
        ("pfl/theorem-3.11", FEDAVG, {"B_0": 1.0}, r"sum_i \|\|grad f_i\(u\^0\)\|\|\^2 <= B_0"),
        ("pfl/theorem-3.11", FEDAVG, {"F_0": 0.6}, r"f\(u\^0\) - inf f <= F_0"),
        ("pfl/theorem-3.11", FEDAVG, {"L": 1.9}, "no L-smooth function"),
        ("pfl/theorem-3.7", DISSIMILAR, {"b": 0.85}, r"\|\|grad f_i - grad f\|\|\^2 <= b\^2"),
    ],
)
def test_every_assumption_is_checked(key, constants, smaller, message):
    """Planted error: the same answers to the same run, under a smaller constant."""
    given = {**constants, "K": 2, "T": 2, "gamma": 0.5 / (2 * constants["L"]), "eta_u": 3.0}
    honest = worst_instance(case(key, **given), starts=1, dimensions=(2,))
    with pytest.raises(InputError, match=message):
        recheck(dataclasses.replace(honest, case=case(key, **{**given, **smaller})))


# What has no worst case here.


@pytest.mark.parametrize(
    ("key", "given", "message"),
    [
        ("pfl/theorem-3.7", {**DISSIMILAR, "m": 1, "K": 1, "T": 1}, 'm=1 breaks "m == n"'),
        ("pfl/theorem-3.7", {**DISSIMILAR, "K": 1, "T": 1, "sigma_u": 0.1}, 'sigma_u=0.1 breaks "sigma_u == 0"'),
        ("pfl/theorem-3.11", {"n": 2, "L": 1, "F_0": 1, "K": 1, "T": 1}, "give it as B_0=..."),
        ("pfl/parallel-sgd", {"n": 2, "L": 1, "F_0": 1, "T": 1}, "no method with a shared variable"),
        ("pfl/lemma-3.2", {"n": 2, "L": 1, "K": 1}, "no run records E"),
        ("pfl/scaffold", {"n": 2, "L": 1, "F_0": 1, "K": 1, "T": 1}, "only up to a constant"),
        ("fedsum/theorem-4.1", {"N": 2, "L": 1, "K": 1, "T": 1}, "no worst case here"),
        ("simfbo/theorem-1", {}, "no worst case here"),
        ("flame/theorem-1", {}, "no worst case here"),
    ],
)
def test_what_has_no_worst_case_is_refused(key, given, message):
    """Applicability is read off the statement and its numbers."""
    with pytest.raises(InputError, match=message):
        DeterministicCase.of(bounds.get(key), given)


def test_a_run_that_is_too_long_is_refused():
    """Before the solver starts."""
    with pytest.raises(InputError, match=r"82 <= 40 is false"):
        worst_case(bounds.get("pfl/theorem-3.11"), {**FEDAVG, "K": 40, "T": 2})


def test_steps_that_floats_cannot_resolve_are_refused():
    """The margin that rounding needs would be larger than smoothness itself."""
    tiny = case("pfl/theorem-3.11", **{**FEDAVG, "K": 2, "T": 2, "eta_u": 1e9})
    with pytest.raises(InputError, match="too small for"):
        interpolation.worst_instance(tiny, starts=1, dimensions=(1,))


# What the model covers, on the textbook's statements.

TEXTBOOK = {"n": 1, "K": 1, "T": 2, "L": 2.0, "F_0": 0.7, "b": 0.5}


def textbook_case(key):
    """A textbook statement at small numbers."""
    statement = bounds.get(f"textbook/{key}")
    given = {k: v for k, v in TEXTBOOK.items() if k not in statement.settings}
    return DeterministicCase.of(statement, given)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("personal-sgd", "no method with a shared variable"),
    ],
)
def test_what_is_not_modelled_is_refused(key, message):
    """Answers that are no gradients, and bounds that are no numbers."""
    with pytest.raises(InputError, match=message):
        textbook_case(key)


def test_symbols_that_mean_something_else_are_refused():
    """A symbol of the basic setting that stands for another quantity, or in other units, is not that of the model."""
    statement = bounds.get("textbook/gradient-descent")
    for change, message in (
        (lambda own: own.facts.update(F_0="B_0"), "F_0 is another quantity there"),
        (lambda own: own.run.update(rounds="K", local_steps="T"), "local_steps are T there, not K"),
        (lambda own: own.define("gamma_u", "g", "a", Domain.POSITIVE, Role.STEP_SIZE, 0, 0), "gamma_u is measured in"),
    ):
        own = Vocabulary(statement.vocabulary)
        change(own)
        with pytest.raises(InputError, match=message):
            DeterministicCase.of(dataclasses.replace(statement, vocabulary=own), TEXTBOOK)


def test_open_caps_are_approached():
    """Gamma < 1/L is asked about just inside, which is said; so is a product of step sizes."""
    found = textbook_case("gradient-descent-open")
    assert found.approached == {"gamma_u": 0.5}
    assert 0.5 * (1 - 1e-8) < found.values["gamma_u"] < 0.5
    assert textbook_case("gradient-descent").approached == {}
    assert textbook_case("gradient-descent-outer").values["gamma"] == 0.5


@needs_pepit
def test_textbook_statements_are_not_accused_over_all_functions():
    """Each that the model covers, the open caps among them; with a tenth less the tight one is."""
    for key in ("gradient-descent", "gradient-descent-open", "gradient-descent-wide", "sgd-tuned", "scaffold-step"):
        found = worst_case(bounds.get(f"textbook/{key}"), TEXTBOOK, starts=2)
        assert not found.violated
    assert worst_case(bounds.get("textbook/gradient-descent-false"), TEXTBOOK, starts=2).violated


@needs_pepit
def test_a_left_side_with_a_factor_is_in_its_own_units():
    """gamma_u*G_u instead of G_u: both values are multiplied by gamma_u, whatever L and F_0."""
    statement = bounds.get("textbook/gradient-descent")
    (claim,) = statement.claims
    gamma, G = (statement.vocabulary[name].symbol for name in ("gamma_u", "G_u"))
    times = dataclasses.replace(
        claim,
        metric=dataclasses.replace(claim.metric, weights={G: gamma}),
        terms={"gap": gamma * claim.bound},
    )
    plain, scaled = (
        worst_case(each, TEXTBOOK, starts=2) for each in (statement, dataclasses.replace(statement, claims=(times,)))
    )
    assert scaled.upper.left == pytest.approx(plain.upper.left / 2, rel=1e-6)
    assert scaled.lower.left == pytest.approx(plain.lower.left / 2, rel=1e-6)


# Claims about single rounds, values, distances and convex functions.

CONVEX = ["smoothness", "convexity", "full_participation", "no_personal"]
STRONGLY = ["smoothness", "strong_convexity", "full_participation", "no_personal"]
SMOOTH = ["smoothness", "full_participation", "no_personal"]
ONE_STEP = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}
START = {"n": 1, "T": 4, "L": 2.0, "gamma_u": 0.4}


def own(left, right, assumptions=CONVEX, over="every_round", conditions=("gamma_u <= 2/L",), **more):
    """A statement about gradient descent."""
    return theorem(
        title="Gradient descent", algorithm="fedavg", left=left, right=right, over=over, assumptions=assumptions,
        conditions=list(conditions), settings=ONE_STEP, vocabulary="textbook", key="mine/own", **more,
    )  # fmt: skip


def enclosed(statement, **given):
    """The worst case, both values of which are right up to the accuracy of the solver."""
    found = worst_case(statement, {**START, **given})
    for each in found.enclosures:
        assert each.lower.left <= each.upper.left + 1e-12 * each.size
        assert each.upper.left - each.lower.left <= 1e-5 * max(each.size, each.scale * 1e-2)
    return found


@needs_pepit
@pytest.mark.parametrize("step", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("steps", [1, 3])
def test_values_of_gradient_descent_have_the_worst_case_that_pepit_s_example_has(step, steps):
    """PEPit's own class of functions and steps, and L R^2/(4 gamma L t + 2), which is known for gamma <= 1/L."""
    from PEPit.examples.unconstrained_convex_minimization import wc_gradient_descent

    theirs, _ = wc_gradient_descent(L=2.0, gamma=step, n=steps, solver="CLARABEL", verbose=-1)
    found = enclosed(own("gap", "L*dist2_0"), gamma_u=step, T=steps + 1, dist2_0=3.0)
    (last,) = [each for each in found.enclosures if each.comparison.round == steps]
    assert last.upper.safe
    assert last.upper.left == pytest.approx(3 * theirs, rel=1e-5)
    if step <= 0.5:
        assert last.lower.left == pytest.approx(2 * 3 / (4 * step * 2 * steps + 2), rel=1e-5)


@needs_pepit
@pytest.mark.parametrize("step", [0.2, 0.7, 0.9])
def test_distances_on_strongly_convex_functions_shrink_by_the_known_factor(step):
    """max(1 - gamma mu, gamma L - 1)^(2t), a quadratic attains it."""
    found = enclosed(own("dist2", "dist2_0", STRONGLY), gamma_u=step, dist2_0=3.0, mu=0.3, T=3)
    factor = max(1 - 0.3 * step, 2 * step - 1)
    for each in found.enclosures:
        assert each.lower.left == pytest.approx(3 * factor ** (2 * each.comparison.round), rel=1e-5)


@needs_pepit
def test_gradients_on_convex_functions_have_their_known_worst_case():
    """||grad f(x^t)||^2 <= 2 L F_0/(2t + 1) at gamma = 1/L, where the slope of a Huber function is met all the way."""
    found = enclosed(own("G_u", "2*L*F_0"), gamma_u=0.5, F_0=0.7)
    for each in found.enclosures:
        assert each.lower.left == pytest.approx(2 * 2 * 0.7 / (2 * each.comparison.round + 1), rel=1e-5)


@needs_pepit
def test_two_clients_with_one_step_each_are_no_worse_than_one():
    """Gradient descent on the mean."""
    alone, both = (enclosed(own("gap", "L*dist2_0"), n=n, dist2_0=3.0, T=3) for n in (1, 2))
    for one, two in zip(alone.enclosures, both.enclosures, strict=True):
        assert two.lower.left == pytest.approx(one.lower.left, rel=1e-5)


@needs_pepit
def test_a_tight_theorem_holds_and_half_of_it_is_violated():
    """A false convex theorem with half of the tight constant; the mean over the rounds and the round before, too."""
    tight = "L*dist2_0/(4*gamma_u*L*t + 2)"
    found = enclosed(own("gap", tight), dist2_0=3.0)
    assert found.outcome.startswith("HOLDS up to")
    assert all(each.tight for each in found.enclosures)
    # Of 1 - cos(x) from pi, where the gap stays 2 and ||x^0 - x*||^2 is 10, it is false: that is no convex function.
    assert enclosed(own("gap", tight, SMOOTH), dist2_0=3.0).outcome.startswith("HOLDS for convex functions up to")
    wrong = enclosed(own("gap", "L*dist2_0/(8*gamma_u*L*t + 2)"), dist2_0=3.0)
    assert wrong.outcome == "VIOLATED"
    assert wrong.worst.comparison.round == 3
    before = own("gap", "gap_prev - gamma_u/2*G_u_prev", over="every_round_but_first", conditions=["gamma_u <= 1/L"])
    assert enclosed(before).outcome.startswith("HOLDS")
    too_much = own("gap", "gap_prev - gamma_u*G_u_prev", over="every_round_but_first", conditions=["gamma_u <= 1/L"])
    assert enclosed(too_much).violated
    mean = own("G_u", "2*F_0/(gamma_u*T)", SMOOTH, over="mean_of_rounds", conditions=["gamma_u <= 1/L"])
    assert not enclosed(mean, F_0=0.7).violated


@needs_pepit
@pytest.mark.parametrize(
    ("left", "right", "assumptions", "holds"),
    [
        ("nearer", "gamma_u**2*G_u - 2*gamma_u*gap", CONVEX, True),
        ("nearer", "gamma_u**2*G_u - 2*gamma_u*gap", SMOOTH, True),
        ("nearer", "(gamma_u**2 - 2*gamma_u/L)*G_u - 2*gamma_u*gap", CONVEX, False),
        ("nearer", "(gamma_u**2 - gamma_u/L)*G_u - 2*gamma_u*gap", CONVEX, True),
        ("fall", "-gamma_u*(1 - L*gamma_u/2)*G_u", SMOOTH, True),
        ("fall", "-gamma_u*(1 - L*gamma_u/4)*G_u", SMOOTH, False),
        ("gap", "L/2*dist2", SMOOTH, True),
        ("gap", "L/4*dist2", CONVEX, False),
        ("du2", "gamma_u**2*G_u", SMOOTH, True),
        ("inner_u", "-gamma_u*G_u", SMOOTH, True),
        ("descent", "inner_u + L/2*du2", SMOOTH, True),
        ("descent", "inner_u + L/3*du2", SMOOTH, False),
    ],
)
def test_lemmas_about_one_round(left, right, assumptions, holds):
    """True ones are not accused, with what the right side measures taken to the left; false ones are."""
    found = enclosed(own(left, right, assumptions), T=2)
    assert found.violated is not holds
    if holds:
        assert found.outcome.startswith("HOLDS")


@needs_pepit
def test_the_convex_functions_exist():
    """Gradient descent in plain NumPy on the largest convex L-smooth function with these answers, by its formula.

    It is the convex hull of the parabolas q_j(x) = r_j + L|x - p_j|^2/2 that touch it: p_j = x_j - g_j/L and
    r_j = h_j - |g_j|^2/(2L). So f(x) = min over weights w of <w, r> + L|x - sum_j w_j p_j|^2/2, with slope L(x - p w).
    """
    found = enclosed(own("gap", "L*dist2_0"), dist2_0=3.0, T=3)
    last, L = found.enclosures[-1], 2.0
    instance = last.instance
    at = [np.zeros(instance.dimension)]
    for g in instance.gradients[0][:-1]:
        at.append(at[-1] - START["gamma_u"] * g)
    x = np.array([*at, instance.minimiser.point])
    g = np.vstack([instance.gradients[0], np.zeros(instance.dimension)])
    h = np.append(instance.heights[0], instance.minimiser.heights)
    p, r = x - g / L, h - (g**2).sum(axis=1) / (2 * L)
    supports = [list(s) for size in range(1, len(r) + 1) for s in combinations(range(len(r)), size)]

    def function(u):
        best = np.inf, None
        for s in supports:
            one = np.ones((len(s), 1))
            system = np.block([[L * p[s] @ p[s].T, one], [one.T, np.zeros((1, 1))]])
            w = np.linalg.lstsq(system, np.append(L * p[s] @ u - r[s], 1.0), rcond=1e-12)[0][:-1]
            if (w > -1e-9).all():
                away = u - w @ p[s]
                best = min(best, (r[s] @ w + L / 2 * away @ away, tuple(L * away)), key=lambda each: each[0])
        return best[0], np.array(best[1])

    u = np.zeros(instance.dimension)
    for _ in range(2):
        u = u - START["gamma_u"] * function(u)[1]
    lowest = function(instance.minimiser.point)[0]
    assert function(u)[0] - lowest == pytest.approx(last.lower.left, rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = rng.standard_normal((2, instance.dimension))
        (value, slope), (other, there) = function(a), function(b)
        assert other >= value + slope @ (b - a) - 1e-9
        assert np.linalg.norm(there - slope) <= L * np.linalg.norm(b - a) * (1 + 1e-6)
        assert value >= lowest - 1e-9


@needs_pepit
def test_an_instance_with_a_minimiser_survives_a_file_and_is_checked():
    """JSON keeps it; what is broken in it is said."""
    statement = own("gap", "L*dist2_0")
    found = enclosed(statement, dist2_0=3.0, T=3, n=2).worst
    saved = json.loads(json.dumps(found.instance.save()))
    again = Answers.load(saved, statement)
    assert recheck(again, found.comparison) == found.lower
    star = again.minimiser
    for broken, message in (
        (dataclasses.replace(star, point=1.1 * star.point), r"\|\|u\^0 - x\*\|\|\^2 <= R\^2"),
        (dataclasses.replace(star, point=0.9 * star.point), "no convex L-smooth function"),
        (dataclasses.replace(star, heights=star.heights - 1), "no convex L-smooth function"),
        (dataclasses.replace(star, gradients=star.gradients + 1), "no convex L-smooth function"),
    ):
        with pytest.raises(InputError, match=message):
            recheck(dataclasses.replace(again, minimiser=broken), found.comparison)
    with pytest.raises(InputError, match="no 'minimiser'"):
        Answers.load({**saved, "minimiser": {}}, statement)
    with pytest.raises(InputError, match="minimiser needs"):
        Answers.load({**saved, "minimiser": {**saved["minimiser"], "heights": [1.0]}}, statement)


@needs_pepit
def test_a_start_that_nothing_limits_is_of_size_one_and_the_answer_says_so():
    """Both sides of a lemma about one round grow alike."""
    found = enclosed(own("gap", "L/2*dist2", SMOOTH), T=1)
    assert found.case.normalised == "||x^0 - x*||^2"
    assert any("at most 1" in note for note in found.notes)
    assert not enclosed(own("gap", "L*dist2_0"), dist2_0=3.0, T=2).case.normalised


def test_several_clients_are_refused_where_their_dissimilarity_decides():
    """Gradients that differ by a bounded amount everywhere."""
    similar = own("gap", "dist2_0*L + b", [*CONVEX, "dissimilarity"])
    with pytest.raises(InputError, match=r'n=2 breaks "n == 1".*dissimilarity of several'):
        DeterministicCase.of(similar, {**START, "n": 2, "dist2_0": 1.0, "b": 0.1})


HETEROGENEOUS = ["smoothness", "strong_convexity", "minimiser_heterogeneity", "full_participation", "no_personal"]


def local(right, assumptions=HETEROGENEOUS, K=2, over="last_round"):
    """A statement about FedAvg with K local steps, on the distance to the minimiser."""
    return theorem(
        title="FedAvg", algorithm="fedavg", left="dist2", right=right, over=over, assumptions=assumptions,
        settings={"K": K, "m": "n", "eta_u": 1, "sigma_u": 0}, vocabulary="textbook", key="mine/local",
    )  # fmt: skip


@needs_pepit
def test_strongly_convex_clients_that_differ_at_the_minimiser():
    """Without local steps they are one; with them the drift is a counterexample to the rate of one client."""
    given = {"L": 1.0, "mu": 0.1, "gamma_u": 0.5, "dist2_0": 1.0}
    rate = "(1 - gamma_u*mu)**(2*K*(T - 1))*dist2_0"
    one_step = enclosed(local(rate, K=1), **given, n=2, T=3, b_star=2.0)
    assert one_step.upper.safe
    assert one_step.lower.left == pytest.approx(0.95**4, rel=1e-4)
    assert not one_step.violated
    drift = enclosed(local(rate), **given, n=2, T=2, b_star=0.5)
    assert drift.violated
    assert any("each strongly convex" in note for note in drift.notes)
    # Clients that agree there are no worse than one.
    alike = worst_case(local(rate), {**given, "n": 2, "T": 2, "b_star": 0.0})
    assert not alike.violated
    assert alike.upper.left == pytest.approx(0.95**4, rel=1e-5)
    convex = [each for each in HETEROGENEOUS if each != "strong_convexity"]
    assert enclosed(local("dist2_0 + gamma_u**2*b_star**2", ["convexity", *convex]), n=2, T=2, K=2, L=1.0, b_star=0.5,
                    gamma_u=0.5, dist2_0=1.0).outcome.startswith("HOLDS")  # fmt: skip


@needs_pepit
def test_the_worst_strongly_convex_clients_are_those_of_pepit_and_run_in_numpy():
    """The same problem written in PEPit alone, and FedAvg in plain NumPy on the answers of the instance."""
    from PEPit import PEP
    from PEPit.functions import SmoothStronglyConvexFunction

    L, mu, gamma, b = 1.0, 0.1, 0.5, 0.5
    problem = PEP()
    clients = [problem.declare_function(SmoothStronglyConvexFunction, L=L, mu=mu) for _ in range(2)]
    star = (clients[0] + clients[1]).stationary_point()
    u = problem.set_initial_point()
    problem.set_initial_condition((u - star) ** 2 <= 1)
    problem.add_constraint(clients[0].gradient(star) ** 2 + clients[1].gradient(star) ** 2 <= 2 * b**2)
    ends = []
    for client in clients:
        x = u
        for _ in range(2):
            x = x - gamma * client.gradient(x)
        ends.append(x)
    problem.set_performance_metric(((ends[0] + ends[1]) / 2 - star) ** 2)
    theirs = problem.solve(solver="CLARABEL", verbose=0)
    found = enclosed(local("dist2_0/2"), n=2, T=2, L=L, mu=mu, gamma_u=gamma, dist2_0=1.0, b_star=b)
    assert found.upper.left == pytest.approx(theirs, rel=1e-5)
    instance = found.instance
    x = -gamma * np.mean([own[0] + own[1] for own in instance.gradients], axis=0)
    assert ((x - instance.minimiser.point) ** 2).sum() == pytest.approx(found.lower.left, rel=1e-9)
    slope = instance.minimiser.gradients[0]
    assert slope @ slope <= b**2
    assert len(instance.minimiser.gradients) == 1
    larger = dataclasses.replace(instance, minimiser=dataclasses.replace(instance.minimiser, gradients=slope[None] * 2))
    with pytest.raises(InputError, match=r"\|\|grad f_i\(x\*\)\|\|\^2 <= b_\*\^2|no convex L-smooth function"):
        recheck(larger, found.worst.comparison)


@needs_pepit
def test_a_minimum_is_asked_for_of_convex_functions_only():
    """As the search does; what such a statement says of other functions is not asked, and the answer says so."""
    found = enclosed(own("nearer", "0", SMOOTH), T=1)
    assert found.case.narrowed
    assert any("computed over convex functions" in note for note in found.notes)
    assert not found.violated
    assert not enclosed(own("nearer", "0", CONVEX), T=1).case.narrowed
    with pytest.raises(InputError, match="title says that it is about quadratics"):
        textbook_case("distance-step-quadratic")


@pytest.mark.parametrize(
    ("left", "right", "over", "message"),
    [
        ("gap", "gap_prev", "every_round", "in the first round, too"),
        ("G_u", "G_u_prev", "mean_of_rounds", "in the first round, too"),
        ("gap", "L*dist2_0/(t + 1)", "mean_of_rounds", "depends on the number of the round"),
        ("gap", "L*dist2_0/(t + 1)", "best_round", "best round depends on the number of the round"),
    ],
)
def test_rounds_that_are_none_are_not_asked(left, right, over, message):
    """There is no round before the first, and no number of a mean over the rounds."""
    with pytest.raises(InputError, match=message):
        DeterministicCase.of(own(left, right, over=over), {**START, "dist2_0": 1.0})


def test_a_sphere_is_refused():
    """With mu = L there is one function."""
    with pytest.raises(InputError, match="mu=2 and L=2 leave no function but a sphere"):
        DeterministicCase.of(own("gap", "L*dist2_0", STRONGLY), {**START, "dist2_0": 1.0, "mu": 2.0})


@needs_pepit
def test_what_nothing_limits_is_said():
    """A gap at the start limits no distance to the minimiser."""
    with pytest.raises(InputError, match=r"finds no largest left side \(status unbounded"):
        worst_case(own("dist2", "F_0/L"), {**START, "F_0": 0.7, "T": 1})


def test_one_round_has_no_round_before():
    """A claim from the second round on needs two."""
    later = own("gap", "dist2_0/(2*gamma_u*t)", over="every_round_but_first")
    with pytest.raises(InputError, match='T=1 breaks "T >= 2"'):
        _ = DeterministicCase.of(later, {**START, "T": 1, "dist2_0": 1.0}).comparisons


@needs_pepit
def test_a_run_that_cannot_be_made_exact_leaves_the_case_undecided():
    """Nothing is wrong with the numbers, so that this is no input error."""
    found = theorem(
        title="contraction", algorithm="fedavg", vocabulary="textbook", over="every_round_but_first", left="dist2",
        right="max((1 - gamma_u*mu)**2, (1 - gamma_u*L)**2)*dist2_prev", conditions=["gamma_u <= 2/L"],
        assumptions=["smoothness", "strong_convexity", "full_participation", "no_personal"],
        settings={"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}, key="own/contraction",
    )  # fmt: skip
    near = {"n": 1, "T": 3, "L": 1, "mu": 0.999999, "gamma_u": 0.5, "dist2_0": 1}
    with pytest.raises(UndecidedCaseError, match="undecided at these numbers"):
        worst_case(found, near)
    answer = rc.falsify(found, pep=True, parameters=near)
    assert answer.cases == ()
    assert "undecided" in answer.remarks[0]
    assert not worst_case(found, {**near, "mu": 0.1}).violated


# The last round, and the best one.


@needs_pepit
@pytest.mark.parametrize("over", ["last_round", "best_round"])
def test_the_last_and_the_best_round_have_the_known_worst_case(over):
    """Values of convex functions fall, so that the best round is the last one: L R^2/(4 gamma L (T - 1) + 2)."""
    tight = "L*dist2_0/(4*gamma_u*L*(T - 1) + 2)"
    found = enclosed(own("gap", tight, over=over), dist2_0=3.0)
    (only,) = found.enclosures
    assert only.tight
    assert only.upper.safe
    assert found.outcome.startswith("HOLDS")
    assert enclosed(own("gap", f"0.999*{tight}", over=over), dist2_0=3.0).violated
    # Every round, of which the first ones are worse.
    assert enclosed(own("gap", tight), dist2_0=3.0).violated


@needs_pepit
@pytest.mark.parametrize(("step", "steps"), [(0.5, 1), (1.0, 2), (1.5, 2)])
def test_the_best_gradient_is_that_of_pepit_s_example(step, steps):
    """Its min over the rounds, and the exact rate of Abbaszadehpeivasti, de Klerk and Zamani (2022)."""
    from PEPit.examples.nonconvex_optimization import wc_gradient_descent

    best = own("G_u", "2*L*F_0", SMOOTH, over="best_round", conditions=())
    found = enclosed(best, gamma_u=step, L=1.0, F_0=1.0, T=steps + 1)
    rate = 4 / (steps * min(4 * step - step**3, 4 * step - step**2) + 2)
    assert found.upper.safe
    assert found.upper.left == pytest.approx(rate, rel=1e-5)
    assert found.lower.left == pytest.approx(rate, rel=1e-5)
    if step == 1.0:
        theirs, _ = wc_gradient_descent(L=1.0, gamma=step, n=steps, solver="CLARABEL", verbose=-1)
        # Theirs is for the iterates from the start to the last, too, with f(x^0) - f(x^n) in place of f(x^0) - inf f.
        assert theirs == pytest.approx(1 / (1 / rate - 1 / 2), rel=1e-4)


@needs_pepit
def test_the_least_of_several_rounds_is_bounded_whatever_the_solver_returns():
    """Planted error: multipliers of a solver that stops early make a bound, too, as loose as they are wrong."""
    best = DeterministicCase.of(own("G_u", "2*L*F_0", over="best_round"), {**START, "F_0": 0.7})
    exact = 2 * 2 * 0.7 / (2 * 3 * 0.8 + 1)
    found = [pep.upper_bound(best, max_iter=iterations, **LOOSE) for iterations in (1, 3, 6, 50)]
    assert all(upper.safe and upper.left >= exact * (1 - 1e-9) for upper in found)
    assert found[0].left > 2 * exact
    assert found[-1].left == pytest.approx(exact, rel=1e-5)


@needs_pepit
def test_the_worst_function_of_the_best_round_is_run_in_numpy():
    """Every round of plain gradient descent on the smallest convex interpolant is at least as bad as is said."""
    found = enclosed(own("G_u", "L*F_0/8", over="best_round"), F_0=0.7)
    assert found.violated
    instance, L = found.instance, 2.0
    x = [np.zeros(instance.dimension)]
    for g in instance.gradients[0][:-1]:
        x.append(x[-1] - START["gamma_u"] * g)
    g, h = instance.gradients[0], instance.heights[0]
    for i in range(len(x)):
        for j in range(len(x)):
            assert h[i] - h[j] >= g[j] @ (x[i] - x[j]) + ((g[i] - g[j]) ** 2).sum() / (2 * L) - 1e-12
    lowest = min(h - (g**2).sum(axis=1) / (2 * L))
    assert h[0] - lowest <= 0.7 * (1 + 1e-12)
    assert (g**2).sum(axis=1).min() == pytest.approx(found.lower.left, rel=1e-9)


# Clients that are sampled, for one round.

SAMPLED = ["smoothness", "convexity", "minimiser_heterogeneity", "uniform_sampling", "no_personal"]
# E||(1/m) sum_{i in S} grad f_i||^2 for m of n clients drawn without replacement.
OF_SAMPLE = "(G_u + (n - m)/(m*(n - 1))*(B/n - G_u))"


def sampled(left, right, assumptions=SAMPLED, K=1):
    """A statement about one round of FedAvg with some of the clients."""
    return theorem(
        title="Sampled clients", algorithm="fedavg", left=left, right=right, over="every_round",
        assumptions=assumptions, settings={"K": K, "eta_u": 1, "sigma_u": 0}, vocabulary="textbook", key="mine/sampled",
    )  # fmt: skip


@needs_pepit
@pytest.mark.parametrize(
    ("left", "right", "holds"),
    [
        ("du2", f"gamma_u**2*{OF_SAMPLE}", True),
        ("du2", f"0.9*gamma_u**2*{OF_SAMPLE}", False),
        ("nearer", f"gamma_u**2*{OF_SAMPLE} - 2*gamma_u*gap", True),
        ("nearer", "gamma_u**2*G_u - 2*gamma_u*gap", False),
        ("fall", f"-gamma_u*G_u + L*gamma_u**2/2*{OF_SAMPLE}", True),
        ("fall", "-gamma_u*G_u + L*gamma_u**2/2*G_u", False),
        ("descent", "inner_u + L/2*du2", True),
        ("descent", "inner_u + L/4*du2", False),
    ],
)
def test_lemmas_about_one_round_of_sampled_clients(left, right, holds):
    """Expectations are means over the choices of the clients; without their variance they are false."""
    found = enclosed(sampled(left, right), n=3, m=2, T=1, L=1.0, gamma_u=0.5, b_star=1.0)
    assert found.violated is not holds
    assert found.outcome.startswith("HOLDS") is holds
    assert any("expectation over 3 choices" in note for note in found.notes)


@needs_pepit
def test_the_choices_of_clients_are_run_in_numpy():
    """Two local steps from the answers of the instance, and the average of each pair of clients."""
    found = enclosed(sampled("nearer", "gamma_u**2*b_star**2/10 - gamma_u*gap", K=2), n=3, m=2, T=1, L=1.0, b_star=1.0)
    instance, gamma = found.instance, START["gamma_u"]
    ends = [-gamma * (own[0] + own[1]) for own in instance.gradients]
    star = instance.minimiser.point
    nearer = np.mean([(((a + b) / 2 - star) ** 2).sum() - star @ star for a, b in combinations(ends, 2)])
    gap = np.mean([own[0] for own in instance.heights]) - instance.minimiser.heights.mean()
    assert nearer + gamma * gap == pytest.approx(found.lower.left, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"T": 2}, 'T=2 breaks "T == 1"'),
        ({"n": 8, "m": 4}, r'"binomial\(n, m\) <= 10": 70 <= 10 is false'),
        ({"m": 4}, "m=4 breaks"),
    ],
)
def test_what_is_not_followed_of_sampled_clients_is_refused(given, message):
    """Later rounds, many choices, and more clients than there are."""
    with pytest.raises(InputError, match=message):
        DeterministicCase.of(
            sampled("du2", "gamma_u**2*B"),
            {"n": 3, "m": 2, "T": 1, "L": 1.0, "gamma_u": 0.5, "b_star": 1.0, **given},
        )
    everyone = [*CONVEX, "minimiser_heterogeneity"]
    with pytest.raises(InputError, match='m=2 breaks "m == n"'):
        DeterministicCase.of(
            sampled("du2", "gamma_u**2*B", everyone),
            {"n": 3, "m": 2, "T": 1, "L": 1.0, "gamma_u": 0.5, "b_star": 1.0},
        )
