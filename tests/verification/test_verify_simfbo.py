"""Verdicts on bilevel statements: constants of the local work, L_f along the run, reasons for saying nothing."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
from twins_simfbo import project, reweighted

import bounds
import ratecheck as rc
from ratecheck.certification.local_work import Work
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo import bilevel_rounds
from ratecheck.engines.monte_carlo.played import REACH
from ratecheck.engines.monte_carlo.visits import visits
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace, Uniform
from ratecheck.problems import Bilevel, Certificate, Quadratic
from ratecheck.settings import pointwise as points
from ratecheck.verification.verify import Options, foreign, verify

THEOREMS = ["theorem-1", "theorem-1-repaired", "theorem-2", "theorem-2-repaired", "theorem-2-appendix"]
TAU, A = [1, 4, 2, 3], [0.5, 1.0, 2.0, 1.0]
SHARES = np.array([0.1, 0.4, 0.3, 0.2])
QUIET = {"P": 4.0, "tau_bar": 3.0, "T": 20.0}
NOISY = {"P": 2.0, "tau": TAU, "a": A, "T": 20.0, "sigma_f": 0.3, "sigma_g": 0.2}


def weighed(problem, p=SHARES):
    """The same clients with other weights in the objective."""
    return Bilevel(problem.A, problem.B, problem.b, problem.Q, problem.q, p=p)


PROBLEM = weighed(Bilevel.synthetic(4, 3, 2, condition=3, seed=1))
INSTANCES = {
    "synthetic": PROBLEM,
    "not convex": Bilevel.synthetic(4, 2, 3, condition=2, convex=False, seed=2),
    "heterogeneous": Bilevel.synthetic(4, 1, 1, condition=2, heterogeneity=5.0, seed=3),
}
statements = pytest.mark.parametrize("key", THEOREMS)


def weaker(key, factor):
    """The statement with its right side multiplied by a factor."""
    statement = bounds.get(key)
    (claim,) = statement.claims
    terms = {name: term * factor for name, term in claim.terms.items()}
    return dataclasses.replace(statement, claims=(dataclasses.replace(claim, terms=terms),))


@pytest.mark.every(2)
@pytest.mark.parametrize("given", [QUIET, NOISY], ids=["quiet", "noisy"])
@pytest.mark.parametrize("name", list(INSTANCES))
@statements
def test_theorems_hold(key, name, given):
    """Without randomness by exact numbers, with it by replicates; every constant has a certificate."""
    verdict = verify(bounds.get(f"simfbo/{key}"), INSTANCES[name], given)
    assert verdict.outcome is Outcome.HOLDS, verdict.reasons
    assert verdict.engine == ("exact" if given is QUIET else "step")
    assert verdict.constants["L_f"].certificate is Certificate.TRAJECTORY
    assert all(c.certificate is not Certificate.ABSENT for c in verdict.constants.values())
    assert {"mu_g", "L_1", "beta_gh", "sigma_gh", "rho_bar", "Phi_gap", "Delta_y"} <= verdict.constants.keys()


@pytest.mark.parametrize("given", [QUIET, NOISY], ids=["quiet", "noisy"])
@statements
def test_a_bound_ten_times_too_strong_is_violated(key, given):
    """The same comparison with the right side at a tenth of the left one."""
    slack = verify(bounds.get(f"simfbo/{key}"), PROBLEM, given).slack
    assert verify(weaker(f"simfbo/{key}", 0.1 / slack), PROBLEM, given).outcome is Outcome.VIOLATED


# --- L_f along the run ---


def slopes(problem, i, x, y):
    """||grad f_i(x, y)|| from the data."""
    return np.linalg.norm(problem.Q[i] @ np.concatenate([x, y]) - problem.q[i])


def rounds(problem, values, T, r):
    """SimFBO with full participation, loop by loop: per round the server's (x, y, v), the local ones and the sum q."""
    state = [np.zeros(problem.d_x), np.zeros(problem.d_y), np.zeros(problem.d_y)]
    for _ in range(T):
        q, places = [np.zeros_like(each) for each in state], []
        for i in range(problem.n):
            here = list(state)
            for k in range(TAU[i]):
                places.append((i, k, list(here)))
                f = problem.Q[i] @ np.concatenate(here[:2]) - problem.q[i]
                g_y = problem.A[i] @ here[1] - problem.B[i] @ here[0] - problem.b[i]
                steps = [f[: problem.d_x] + problem.B[i].T @ here[2], g_y]
                steps.append(problem.A[i] @ here[2] - f[problem.d_x :])
                for block, (name, step) in enumerate(zip("xyv", steps, strict=True)):
                    q[block] = q[block] + problem.p[i] * A[i] * step
                    here[block] = here[block] - A[i] * values[f"eta_{name}"] * step
        yield state, places, q
        state = [each - values[f"gamma_{name}"] * part for name, each, part in zip("xyv", state, q, strict=True)]
        state[2] = project(state[2], r)


def steepest(problem, values, T, r):
    """The largest ||grad f_i|| over all local points of `rounds`."""
    every = rounds(problem, values, T, r)
    return max(slopes(problem, i, here[0], here[1]) for _, places, _ in every for i, _, here in places)


def test_steepest_gradient_of_a_run():
    """Large steps: L_f is what a loop written from the paper finds, and more than at the start."""
    sizes = {"eta_x": 0.3, "eta_y": 0.3, "eta_v": 0.2, "gamma_x": 0.2, "gamma_y": 0.4, "gamma_v": 0.3}
    ready = setup.prepare("simfbo", PROBLEM, Trace.full(4), K=TAU, T=30, weights=A, step_sizes={**sizes, "r": 2.0})
    seen = [
        slopes(PROBLEM, i, visit.points[i, :3, 0], visit.points[i, 3:5, 0]) for visit in visits(ready) for i in range(4)
    ]
    wanted = steepest(PROBLEM, sizes, 30, 2.0)
    assert max(seen) == pytest.approx(wanted, rel=1e-12)
    assert wanted > 1.05 * max(slopes(PROBLEM, i, np.zeros(3), np.zeros(2)) for i in range(4))


@pytest.mark.parametrize("key", ["theorem-1", "theorem-1-repaired"])
def test_lipschitz_constant_along_the_run(key):
    """The L_f of the verdict bounds all gradients of the run whose step sizes and ball it decides."""
    given = {**QUIET, "a": A, "tau": TAU}
    del given["tau_bar"]
    verdict = verify(bounds.get(f"simfbo/{key}"), PROBLEM, given)
    values = verdict.values
    wanted = steepest(PROBLEM, values, 20, values["L_f"] / values["mu_g"])
    assert wanted <= values["L_f"] <= 1.15 * wanted


def test_lipschitz_constant_includes_the_noise():
    """Assumptions about every sample are about noisy gradients: L_f grows with sigma_f."""
    quiet, loud = (
        verify(bounds.get("simfbo/theorem-1"), PROBLEM, {**NOISY, "sigma_f": sigma}).values["L_f"]
        for sigma in (0.0, 30.0)
    )
    assert loud > quiet + 30.0


def test_a_lipschitz_constant_of_ones_own():
    """One that the run keeps is taken, a smaller one refused with the value that would do."""
    statement = bounds.get("simfbo/theorem-1")
    assert verify(statement, PROBLEM, {**QUIET, "L_f": 40.0}).values["L_f"] == 40.0
    with pytest.raises(rc.InputError, match=r'L_f=0.01 breaks "L_f >= '):
        verify(statement, PROBLEM, {**QUIET, "L_f": 0.01})


def test_linear_upper_level():
    """Where every f_i is linear L_f is exact, unless single samples have Gaussian noise."""
    linear = Bilevel(PROBLEM.A, PROBLEM.B, PROBLEM.b, np.zeros_like(PROBLEM.Q), PROBLEM.q)
    flat = verify(bounds.get("simfbo/lemma-1"), linear, {})
    assert (flat.outcome, flat.constants["L_f"].certificate) == (Outcome.HOLDS, Certificate.EXACT)
    verdict = verify(bounds.get("simfbo/theorem-1"), linear, QUIET)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.reasons[0] == "Phi_gap does not exist: Phi is unbounded below"
    assert verdict.constants["L_f"].certificate is Certificate.EXACT
    assert verdict.constants["L_f"].value == pytest.approx(np.linalg.norm(PROBLEM.q, axis=1).max())
    noisy = verify(bounds.get("simfbo/theorem-1"), linear, NOISY)
    assert noisy.constants["L_f"].certificate is Certificate.ABSENT


# --- Facts ---


@pytest.mark.parametrize(("key", "by_work"), [("theorem-1", True), ("theorem-2", False)])
def test_facts_of_unequal_work(key, by_work):
    """By hand: |a| = (0.5, 4, 4, 3), p|a| = (0.05, 1.6, 1.2, 0.6) with the sum 3.45, tau_bar = 2.5."""
    found = {name: c.value for name, c in verify(bounds.get(f"simfbo/{key}"), PROBLEM, NOISY).constants.items()}
    w = np.array([0.05, 1.6, 1.2, 0.6]) / 3.45 if by_work else SHARES
    if by_work:
        np.testing.assert_allclose(w, reweighted(TAU, [[a] * 4 for a in A], SHARES))
    wanted = {"alpha_min": 0.5, "alpha_max": 2.0, "rho_bar": 3.45, "beta_max": 4 * w.max()}
    wanted |= {"c_a": 4 / (2.5 * 2.0), "c_a_prime": 0.5 / (2.5 * 0.5)}
    spread = w @ np.sum((PROBLEM.b - w @ PROBLEM.b) ** 2, axis=1)
    wanted |= {"beta_gh": 1.0, "sigma_gh": np.sqrt(spread)}
    zero = np.zeros(3)
    wanted |= {"Phi_gap": PROBLEM.value(zero, w) - PROBLEM.infimum(w)}
    wanted |= {"Delta_y": np.sum(PROBLEM.y_star(zero, w) ** 2), "Delta_v": np.sum(PROBLEM.v_star(zero, w) ** 2)}
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, rel=1e-12), name


def test_facts_of_the_appendix():
    """beta_min and beta_max' are about the p_i where ShroFBO runs."""
    verdict = verify(bounds.get("simfbo/theorem-2-appendix"), PROBLEM, NOISY)
    assert (verdict.values["beta_min"], verdict.values["beta_max_prime"]) == pytest.approx((0.4, 1.6))


def test_equal_work():
    """a_i^k = 1 and as many steps for all: every relative constant is 1, rho is the number of steps."""
    ones = np.ones(4)
    work = Work(3 * ones, ones, ones / 4, ones / 4)
    names = ("least_coefficient", "largest_coefficient", "largest_weight", "most_work", "least_work", "mean_work")
    assert [work.fact(name).value for name in names] == [1, 1, 1, 1, 1, 3]
    assert work.fact("sigma") is None


def test_initial_gap():
    """Eq. (37) with K_1 and K_2 by hand where L_2 = 0: r, L_R^2 = 2*L_1^2."""
    verdict = verify(bounds.get("simfbo/theorem-1"), PROBLEM, NOISY)
    v = verdict.values
    K_1 = (40 * v["L_1"] ** 2 / v["mu_g"] + 384 * 2 * v["L_1"] ** 4 / v["mu_g"] ** 3) / v["c_gamma_y"]
    K_2 = 6 * v["L_1"] ** 2 / (v["mu_g"] * v["c_gamma_v"])
    parts = {name: verdict.constants[name].value for name in ("Phi_gap", "Delta_y", "Delta_v")}
    assert v["psi_gap"] == pytest.approx(parts["Phi_gap"] + K_1 * parts["Delta_y"] + K_2 * parts["Delta_v"])
    with pytest.raises(rc.InputError, match='psi_gap=1e-06 breaks "psi_gap >= '):
        verify(bounds.get("simfbo/theorem-1"), PROBLEM, {**NOISY, "psi_gap": 1e-6})


# --- Nothing to say ---


def test_heterogeneity_that_does_not_exist():
    """Assumption 4 fails where the A_i^-1 B_i differ; the verdict is not a pass."""
    other = Bilevel.synthetic(4, 3, 2, curvature=0.5)
    verdict = verify(bounds.get("simfbo/theorem-1"), other, QUIET)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.reasons[0].startswith("beta_gh does not exist: the clients' solutions of the lower level depend")
    assert not verdict.comparisons


def test_start_outside_the_ball():
    """A server's v beyond r = L_f/mu_g is not what the statement is about; with a larger L_f it is."""
    start = {"v0": [1e4, 0.0]}
    verdict = verify(bounds.get("simfbo/theorem-1"), PROBLEM, QUIET, start=start)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "outside the ball of radius r=" in verdict.reasons[0]
    larger = {**QUIET, "L_f": 2e4}
    assert verify(bounds.get("simfbo/theorem-1"), PROBLEM, larger, start=start).outcome is Outcome.HOLDS


def test_broken_conditions_and_one_client():
    """Step sizes beyond (39), and a single client, are named."""
    assert "gamma_x=1 breaks" in verify(bounds.get("simfbo/theorem-1"), PROBLEM, {**QUIET, "gamma_x": 1.0}).reasons[0]
    alone = Bilevel.synthetic(1, 2, 2)
    verdict = verify(bounds.get("simfbo/theorem-1"), alone, {**QUIET, "P": 1.0})
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert 'n=1 breaks "n >= 2"' in verdict.reasons[0]


def test_other_participation():
    """Cyclic participation is not uniform sampling."""
    trace = Trace.cyclic(4, 2)
    verdict = verify(bounds.get("simfbo/theorem-1"), PROBLEM, {**QUIET, "P": 2.0}, participation=trace)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "cyclic" in verdict.reasons[0]


@pytest.mark.every(2)
@pytest.mark.parametrize("key", [s.key for s in bounds.statements("simfbo") if not s.order_only])
def test_every_statement_has_a_verdict(key):
    """What nobody measures is named; everything else holds or has a condition that is broken."""
    statement = bounds.get(key)
    verdict = verify(statement, PROBLEM, NOISY, Options(replicates=512))
    if foreign(statement):
        assert verdict.outcome is Outcome.NOT_APPLICABLE
        assert verdict.reasons == foreign(statement)
    else:
        assert verdict.outcome is Outcome.HOLDS, verdict.reasons
        # The length of v is bounded in every run.
        drawn = [
            note for note in verdict.notes if "not in all that may happen" in note and note.startswith("HOLDS in each")
        ]
        assert bool(drawn) == (
            "local_v" in {symbol.name for claim in statement.claims for symbol in claim.metric.weights}
        )


BAD = {
    "tau has 2 entries: give one number, or 4, one per client": {"tau": [1, 2]},
    "tau=2.5: needed a whole number": {"tau": 2.5},
    "tau and tau_bar are both given": {"tau": 2, "tau_bar": 2.0},
    "a has 3 entries": {"a": [1.0, 2.0, 3.0]},
    'a=-1 breaks "a > 0"': {"a": -1.0},
    'rho_bar=7 breaks "rho_bar == 3"': {"rho_bar": 7.0},
    'beta_max=0.5 breaks "beta_max >= 1.6"': {"beta_max": 0.5},
    'mu_g=9 breaks "mu_g <= ': {"mu_g": 9.0},
    "r is not free": {"r": 2.0},
}


@pytest.mark.parametrize("message", list(BAD))
def test_bad_input(message):
    """One line that says what would do."""
    given = {k: v for k, v in QUIET.items() if k != "tau_bar" or "tau" not in BAD[message]}
    with pytest.raises(rc.InputError) as caught:
        verify(bounds.get("simfbo/theorem-1"), PROBLEM, {**given, **BAD[message]})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_kind_of_problem():
    """A single-level problem is refused."""
    with pytest.raises(rc.InputError, match="simfbo is for bilevel problems"):
        verify(bounds.get("simfbo/theorem-1"), Quadratic.synthetic(4, 2, 2), QUIET)


# --- The points of a run ---


def test_visits_follow_the_step_engine():
    """The first local point of every round is the server's; with noise and sampling its errors are those recorded."""
    sizes = {"eta_x": 0.1, "eta_y": 0.1, "eta_v": 0.1, "gamma_x": 0.1, "gamma_y": 0.2, "gamma_v": 0.1}
    noise = {"sigma_f": 0.3, "sigma_g": 0.2}
    ready = setup.prepare("simfbo", PROBLEM, Uniform(4, 2), K=TAU, T=6, noise=noise, step_sizes={**sizes, "r": 1.0})
    run = rc.simulate(
        "simfbo", PROBLEM, Uniform(4, 2), K=TAU, T=6, seed=5, replicates=3, **noise, **sizes, r=1.0,
        records=("y_error2", "v_error2"),
    )  # fmt: skip
    for visit in visits(ready, seed=5, wanted=range(3)):
        if visit.k == 0:
            x, y, v = np.split(visit.points[0], [3, 5])
            for replicate in range(3):
                y_error = y[:, replicate] - PROBLEM.y_star(x[:, replicate])
                v_error = v[:, replicate] - PROBLEM.v_star(x[:, replicate])
                assert run.records["y_error2"][replicate, visit.t] == pytest.approx(y_error @ y_error)
                assert run.records["v_error2"][replicate, visit.t] == pytest.approx(v_error @ v_error)


def test_local_steps_of_visits():
    """One step with its noise by hand; a client stays where its last step led."""
    sizes = {"eta_x": 0.1, "eta_y": 0.2, "eta_v": 0.3, "gamma_x": 0.1, "gamma_y": 0.2, "gamma_v": 0.1}
    noise = {"sigma_f": 0.3, "sigma_g": 0.2}
    ready = setup.prepare("simfbo", PROBLEM, Uniform(4, 2), K=TAU, T=1, noise=noise, weights=A, step_sizes=sizes)
    found = list(visits(ready, seed=1, wanted=range(2)))
    assert [visit.k for visit in found] == [0, 1, 2, 3]
    assert found[0].noise.std() > 0.01
    M, c = PROBLEM.operator()
    eta = np.repeat([0.1, 0.2, 0.3], [3, 2, 2])[:, None]
    for k, (here, there) in enumerate(itertools.pairwise(found)):
        for i in range(4):
            answer = M[i] @ here.points[i] - c[i][:, None] + here.noise[i]
            moved = here.points[i] - A[i] * eta * answer if k < TAU[i] else here.points[i]
            np.testing.assert_allclose(there.points[i], moved, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("wanted", [range(3), range(5, 75)], ids=["few", "more than are followed together"])
def test_largest_gradients_of_visits(wanted):
    """Of every round by hand from all visits, with noise, unequal steps and clients that are not in the round."""
    sizes = {"eta_x": 0.1, "eta_y": 0.2, "eta_v": 0.3, "gamma_x": 0.1, "gamma_y": 0.2, "gamma_v": 0.1}
    noise = {"sigma_f": 0.3, "sigma_g": 0.2}
    ready = setup.prepare("simfbo", PROBLEM, Uniform(4, 2), K=TAU, T=5, noise=noise, weights=A, step_sizes=sizes)
    found = bilevel_rounds.simulate(ready, seed=3, wanted=wanted).records
    alone = bilevel_rounds.steepest(ready, seed=3, wanted=wanted).records
    largest = np.zeros((3, len(wanted), 5))
    for visit in visits(ready, seed=3, wanted=wanted):
        for i in range(4):
            exact = PROBLEM.Q[i] @ visit.points[i, :5] - PROBLEM.q[i][:, None]
            # The direction of v has -grad_y f_i.
            sampled = exact + np.concatenate([visit.noise[i, :3], -visit.noise[i, 5:]])
            reached = visit.points[i, 5:] * (visit.k < TAU[i])
            norms = [np.linalg.norm(each, axis=0) for each in (exact, sampled, reached)]
            largest[:, :, visit.t] = np.maximum(largest[:, :, visit.t], norms)
    for name, values in zip((*bilevel_rounds.STEEPEST, "local_v"), largest, strict=True):
        np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)
    for name in bilevel_rounds.STEEPEST:
        np.testing.assert_array_equal(alone[name], found[name], err_msg=name)


# --- Lemmas about a round ---


def of_rounds(problem, values, T, r):
    """Records of `rounds` by the definitions of the appendix; w is in proportion to p_i |a_i|_1."""
    w = reweighted(TAU, [[a] * 4 for a in A], problem.p)
    rho = sum(p * a * tau for p, a, tau in zip(problem.p, A, TAU, strict=True))
    every = list(rounds(problem, values, T + 1, r))
    found = []
    for (state, places, q), (after, _, _) in itertools.pairwise(every):
        row = {f"sampled_{name}2": np.sum((part / rho) ** 2) for name, part in zip("xyv", q, strict=True)}
        row["mean_x2"] = row["sampled_x2"]
        for block, name in enumerate("xyv"):
            parts = [(w[i], np.sum((here[block] - state[block]) ** 2) / TAU[i]) for i, _, here in places]
            row[f"drift_{name}"] = sum(weight * part for weight, part in parts)
            row[f"drift_{name}_sq"] = sum(weight**2 * part for weight, part in parts)
        sizes = [max(np.linalg.norm(here[2]) for j, _, here in places if j == i) for i in range(4)]
        row["local_v"] = max(sizes)
        row["noise_weight"] = sum(weight**2 / tau for weight, tau in zip(w, TAU, strict=True))
        row["noise_weight_r"] = sum((weight * size) ** 2 / tau for weight, size, tau in zip(w, sizes, TAU, strict=True))
        errors = [
            (problem.value(x, w), np.sum((y - problem.y_star(x, w)) ** 2), np.sum((v - problem.v_star(x, w)) ** 2))
            for x, y, v in (state, after)
        ]
        row |= dict(zip(("Phi_w_change", "y_change", "v_change"), np.subtract(*errors[::-1]), strict=True))
        row |= dict(zip(("y_error_w2", "v_error_w2"), errors[0][1:], strict=True))
        row["grad_Phi_w2"] = np.sum(problem.hypergradient(state[0], w) ** 2)
        found.append(row)
    return {name: [row[name] for row in found] for name in found[0]}


@pytest.mark.parametrize("r", [2.0, 0.3], ids=["free", "projected"])
def test_quantities_of_a_round(r):
    """Against the definitions on a loop written from the paper, with unequal steps, coefficients and weights."""
    sizes = {"eta_x": 0.2, "eta_y": 0.3, "eta_v": 0.2, "gamma_x": 0.2, "gamma_y": 0.3, "gamma_v": 0.3}
    ready = setup.prepare("simfbo", PROBLEM, Trace.full(4), K=TAU, T=8, weights=A, step_sizes={**sizes, "r": r})
    found = bilevel_rounds.simulate(ready).records
    wanted = of_rounds(PROBLEM, sizes, 8, r)
    assert wanted.keys() == {*bilevel_rounds.NAMES, "grad_Phi_w2", "y_error_w2", "v_error_w2"}
    assert found.keys() == wanted.keys() | {*bilevel_rounds.STEEPEST, REACH}
    after = [np.linalg.norm(state[2]) for state, _, _ in rounds(PROBLEM, sizes, 9, r)][1:]
    np.testing.assert_allclose(np.minimum(found[REACH][0], r), after, rtol=1e-9)
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name][0], values, rtol=1e-9, atol=1e-12, err_msg=name)


def test_directions_with_noise():
    """Sampled clients with noise: E||sampled direction||^2 by hand at the first round, where nobody has moved yet.

    With eta = 0, almost: (n/P) times the sum of w_i (m_i + noise of variance s^2/tau_i), P of n clients being sampled.
    """
    tiny = {"eta_x": 1e-12, "eta_y": 1e-12, "eta_v": 1e-12, "gamma_x": 0.1, "gamma_y": 0.1, "gamma_v": 0.1}
    noise = {"sigma_f": 0.9, "sigma_g": 0.6}
    ready = setup.prepare("simfbo", PROBLEM, Uniform(4, 2), K=TAU, T=1, noise=noise, weights=A, step_sizes=tiny)
    found = bilevel_rounds.simulate(ready, wanted=range(20000)).records
    w = reweighted(TAU, [[a] * 4 for a in A], SHARES)
    M, c = -PROBLEM.operator()[1], {"x": slice(0, 3), "y": slice(3, 5), "v": slice(5, 7)}
    for name, rows in c.items():
        parts = w[:, None] * M[:, rows]
        one, two = 2 / 4, (2 * 1) / (4 * 3)
        gram = parts @ parts.T
        variance = {"x": 0.81 * 3 / 5, "y": 0.36, "v": 0.81 * 2 / 5}[name]
        mean = 4 * (two * gram.sum() + (one - two) * np.trace(gram) + one * variance * np.sum(w**2 / TAU))
        values = found[f"sampled_{name}2"][:, 0]
        assert abs(values.mean() - mean) < 4.5 * values.std() / np.sqrt(len(values)), name


def linear_problem():
    """f_i = x, g_i = y^2/2 without xy part: mu_g = L_1 = L_f = 1."""
    ones = np.ones((3, 1, 1))
    return Bilevel(ones, 0 * ones, np.zeros((3, 1)), np.zeros((3, 2, 2)), np.tile([-1.0, 0.0], (3, 1)))


def test_drift_as_printed_is_wrong():
    """Lemma 8: 20 steps along a constant slope drift by 19*39/6 = 123.5 eta^2, where it says 20*(1 + 4) eta^2."""
    given = {"P": 3.0, "tau_bar": 20.0, "T": 2.0, "eta_x": 0.01}
    verdict = verify(bounds.get("simfbo/lemma-8"), linear_problem(), given)
    assert verdict.outcome is Outcome.VIOLATED
    x = verdict.comparisons[0]
    assert (x.left, x.right) == pytest.approx((123.5e-4, 100e-4), rel=1e-9)
    assert verify(bounds.get("simfbo/lemma-8-repaired"), linear_problem(), given).outcome is Outcome.HOLDS


def test_descent_as_printed_is_wrong():
    """Lemma 7: f_i = x^2/50, no xy part, mu_g = L_1 = 1/25: Phi has curvature 1/25, more than L_Phi^2 = (4/25)^2."""
    ones = np.ones((3, 1, 1))
    Q = np.zeros((3, 2, 2))
    Q[:, 0, 0] = 0.04
    problem = Bilevel(0.04 * ones, 0 * ones, np.zeros((3, 1)), Q, np.zeros((3, 2)))
    given = {"P": 3.0, "tau_bar": 1.0, "T": 3.0, "gamma_x": 1.0}
    sizes = {"eta_x": 1e-9, "eta_y": 1e-9, "eta_v": 1e-9, "gamma_y": 1.0, "gamma_v": 1.0}
    start = {"x0": [5.0]}
    assert verify(bounds.get("simfbo/lemma-7"), problem, {**given, **sizes}, start=start).outcome is Outcome.VIOLATED
    repaired = verify(bounds.get("simfbo/lemma-7-repaired"), problem, {**given, **sizes}, start=start)
    assert repaired.outcome is Outcome.HOLDS


def test_local_v_as_printed_is_wrong():
    """Lemma 2 asks nothing of eta_v: beyond 2/L_1 the local v leave their ball; the repaired form refuses that eta_v.

    With a constant slope 1 of f in y, v - 1 goes as (1 - 5)^k.
    """
    problem = Bilevel(*(getattr(linear_problem(), name) for name in "ABbQ"), np.tile([0.0, -1.0], (3, 1)))
    given = {"P": 3.0, "tau_bar": 6.0, "T": 2.0, "eta_v": 5.0}
    assert verify(bounds.get("simfbo/lemma-2"), problem, given).outcome is Outcome.VIOLATED
    repaired = verify(bounds.get("simfbo/lemma-2-repaired"), problem, given)
    assert repaired.outcome is Outcome.NOT_APPLICABLE
    assert repaired.reasons[0].startswith('eta_v=5 breaks "eta_v <= ')


def test_step_sizes_of_a_lemma():
    """What a lemma does not speak of comes from the statement that builds on it, or from the caller."""
    verdict = verify(bounds.get("simfbo/lemma-7-repaired"), PROBLEM, QUIET)
    assert verdict.chosen["eta_x"] == "that of simfbo/lyapunov-repaired"
    assert verify(bounds.get("simfbo/lemma-7-repaired"), PROBLEM, {**QUIET, "eta_x": 0.02}).values["eta_x"] == 0.02
    with pytest.raises(rc.InputError, match="the exact engine does not have"):
        verify(bounds.get("simfbo/lemma-7-repaired"), PROBLEM, QUIET, Options(engine="exact"))


# --- Claims about points ---


def of_points(problem, drawn, radius):
    """The quantities of `Points` pair by pair from their definitions."""
    x, y, unit, dx, dy, dv = drawn.pairs
    w, split = drawn.weights, [problem.d_x, problem.d_x + problem.d_y]
    M, c = problem.operator()
    rows = []
    for a, b, u, da, db, dw in zip(x, y, unit, dx, dy, dv, strict=True):
        here, v = np.concatenate([a, b, radius * u]), radius * u
        there, moved = np.concatenate([a + da, b + db, v + dw]), np.concatenate([a + da, b + db, v])

        def clients(z):
            return [np.split(m @ z - k, split) for m, k in zip(M, c, strict=True)]

        def worst(one, other, block):
            return max(np.sum((p[block] - q[block]) ** 2) for p, q in zip(clients(one), clients(other), strict=True))

        sizes = [sum(share * np.sum(p[k] ** 2) for share, p in zip(w, clients(here), strict=True)) for k in range(3)]
        Q, q = (np.tensordot(w, each, axes=1) for each in (problem.Q, problem.q))
        A, B = (np.tensordot(w, each, axes=1) for each in (problem.A, problem.B))
        of_f = Q @ np.concatenate([a, b]) - q
        surrogate = of_f[: problem.d_x] + B.T @ np.linalg.solve(A, of_f[problem.d_x :])
        rows.append(
            {
                "change_x2": da @ da,
                "change_y2": db @ db,
                "change_v2": dw @ dw,
                "y_distance2": np.sum((b - problem.y_star(a)) ** 2),
                "v_star2": np.sum(problem.v_star(a) ** 2),
                "surrogate_error2": np.sum((surrogate - problem.hypergradient(a)) ** 2),
                "Phi_gradient_change2": np.sum((problem.hypergradient(a) - problem.hypergradient(a + da)) ** 2),
                "y_star_change2": np.sum((problem.y_star(a) - problem.y_star(a + da)) ** 2),
                "v_star_change2": np.sum((problem.v_star(a) - problem.v_star(a + da)) ** 2),
                "y_jacobian_change2": 0.0,
                "v_jacobian_change2": 0.0,
                "g_gradients2": sizes[1],
                "R_gradients2": sizes[2],
                "f_gradients2": sizes[0],
                "R_change_xy2": worst(here, moved, 2),
                "f_change2": worst(here, there, 0),
                "R_change2": worst(here, there, 2),
                "g_change2": max(
                    np.sum((problem.A[i] @ db - problem.B[i] @ da) ** 2) + np.sum((problem.B[i].T @ db) ** 2)
                    for i in range(problem.n)
                ),
            }
        )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def test_quantities_of_points():
    """Every quantity by its definition, differences by subtraction; v within the ball of radius 3."""
    drawn = points.Points(PROBLEM, SHARES, seed=1)
    found, wanted = drawn.records(3.0).records, of_points(PROBLEM, drawn, 3.0)
    assert found.keys() == wanted.keys() == points.NAMES
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-12, err_msg=name)


POINTWISE = ["lemma-1", "lemma-3", "lemma-4", "lemma-4-repaired", "lemma-5", "lemma-6"]


@pytest.mark.parametrize("name", list(INSTANCES))
@pytest.mark.parametrize("key", POINTWISE)
def test_lemmas_about_points(key, name):
    """Right on every instance; with a right side at a tenth of the least room it is not."""
    statement = bounds.get(f"simfbo/{key}")
    verdict = verify(statement, INSTANCES[name], {})
    assert verdict.outcome is Outcome.HOLDS, verdict.reasons
    slack, claim = verdict.slack, statement.claims[0]
    first = verdict.comparisons[0]
    assert slack >= 1.0
    terms = {label: term * 0.1 * first.left / first.right for label, term in claim.terms.items()}
    claims = (dataclasses.replace(claim, terms=terms), *statement.claims[1:])
    assert verify(dataclasses.replace(statement, claims=claims), INSTANCES[name], {}).outcome is Outcome.VIOLATED


def test_steepest_gradient_at_points():
    """L_f is the largest gradient at the points, so a smaller one is refused."""
    drawn = points.Points(PROBLEM, SHARES)
    x, y = drawn.pairs[:2]
    assert drawn.steepest >= max(slopes(PROBLEM, i, a, b) for a, b in zip(x, y, strict=True) for i in range(4))
    with pytest.raises(rc.InputError, match='L_f=1 breaks "L_f >= '):
        verify(bounds.get("simfbo/lemma-1"), PROBLEM, {"L_f": 1.0})


# --- The command ---


def test_command(cli):
    """Defaults come from the paper's vocabulary and a bilevel problem; lists are per client."""
    words = ("simfbo/theorem-1-repaired", "n=4", "P=2", "T=10", "tau=1,2,3,4", "a=0.5", "--json")
    done = cli("verify", *words)
    data = json.loads(done.stdout)
    assert (done.returncode, data["verdict"], data["engine"]) == (0, "HOLDS", "step")
    assert data["problem"].startswith("bilevel: n=4, 5 upper and 5 lower variables")
    assert (data["values"]["tau_bar"], data["values"]["alpha_max"], data["constants"]["rho_bar"]["value"]) == (
        2.5, 0.5, 1.25,
    )  # fmt: skip


def test_command_without_method(cli):
    """A lemma about points has a bilevel problem by default, like the rest of its paper."""
    done = cli("verify", "simfbo/lemma-4", "n=3", "--json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["verdict"], data["problem"].partition(":")[0]) == (0, "HOLDS", "bilevel")


def test_command_refuses(cli):
    """Exit code 2 and one line on stderr."""
    done = cli("verify", "simfbo/theorem-1", "n=4", "P=2", "tau=1,2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ratecheck: tau has 2 entries: give one number, or 4, one per client")
    assert len(done.stderr.splitlines()) == 1
