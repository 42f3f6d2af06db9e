"""What lemmas speak about beyond records: against plain runs of the papers' algorithms, and in verdicts."""

import functools

import numpy as np
import pytest
from twins_flame import flame

import bounds
import ratecheck as rc
from ratecheck.engines import setup
from ratecheck.engines.moments import quantities
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.participation import Trace
from ratecheck.problems import Bilevel, Quadratic
from ratecheck.verification.verify import Options, verify

N, D, K, T = 3, 2, 3, 5
PROBLEM = Quadratic.synthetic(N, D, D, curvature=1.0, seed=5)
H, G = PROBLEM.H, PROBLEM.g
START = np.array([0.7, -1.1])
EXACT = Options(engine="exact")
# Client 2 comes late, round 3 is empty, round T is given too.
MATRIX = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)


def grad(i, x):
    """The gradient of client i."""
    return H[i] @ x - G[i]


# --- FedSUM: a plain run is affine in its noise, so that second moments follow from runs with one noise at a time ---

ETA_G, ETA_L, SIGMA = 0.8, 0.05, 0.6
FEDSUM = ("fedsum-b", "fedsum", "fedsum-cr")


def play(algorithm, noise, matrix):
    """Vectors of every round: x^t, x^{t+1}, grad f_i(x^t) for all i, and what every client remembers after round t.

    ``noise`` (rounds, N, K, D) is added to the gradients. Algorithms 1 to 3 of the FedSUM paper.
    """
    x, y, h, z, a = START.copy(), np.zeros(D), np.zeros((N, D)), np.tile(START, (N, 1)), np.full(N, -1)
    points, e = np.zeros((N, K, D)), np.zeros((N, D))
    rows = []
    for t, present in enumerate(matrix):
        total = np.zeros(D)
        for i in np.flatnonzero(present):
            w, taken = x.copy(), np.zeros(D)
            correction = y - h[i]
            if algorithm == "fedsum-cr":
                correction = N / (ETA_G * ETA_L * K) * (z[i] - x) / (t - a[i]) - h[i]
            for k in range(K):
                points[i, k] = w
                found = grad(i, w) + noise[t, i, k]
                taken += found
                if algorithm != "fedsum-b":
                    w = w - ETA_L / N * (found + correction)
            total += taken / K - h[i]
            h[i], z[i], a[i] = taken / K, x, t
            e[i] = noise[t, i].sum(axis=0)
        y = y + total
        seen = [i for i in range(N) if a[i] >= 0]
        remembered = sum((grad(i, w) for i in seen for w in points[i]), np.zeros(D))
        new = x - ETA_G * ETA_L * K / N * y
        now = sum(grad(i, x) for i in range(N))
        rows.append(
            np.stack(
                [
                    new - x,
                    remembered,
                    K * now - remembered,
                    remembered / K,
                    now - remembered / K,
                    e.sum(axis=0),
                    now / N,
                ]
            )
        )
        x = new
    return np.array(rows)


@functools.cache
def second_moments(algorithm, sigma, rounds):
    """E<a, b> of all pairs of the vectors of `play`, per round: (rounds, 7, 7)."""
    matrix = MATRIX[:rounds]
    shape = (rounds, N, K, D)
    base = play(algorithm, np.zeros(shape), matrix)
    found = np.einsum("tad,tbd->tab", base, base)
    for place in np.ndindex(*shape):
        noise = np.zeros(shape)
        noise[place] = sigma / np.sqrt(D)
        column = play(algorithm, noise, matrix) - base
        found += np.einsum("tad,tbd->tab", column, column)
    return found


def delays(t):
    """tau_t, by counting."""
    away = []
    for i in range(N):
        last = [p for p in range(t + 1) if MATRIX[p, i]]
        away.append(t - last[-1] if last else t + 1)
    return max(away)


def plain(algorithm, sigma, rounds=T + 1):
    """Every quantity by name, from its definition."""
    found = second_moments(algorithm, sigma, rounds)
    result = {"noise2": found[:T, 5, 5], "total:noise_inner": -ETA_G * ETA_L / N * found[:T, 6, 5].sum()}
    result["total:step:x"] = found[:T, 0, 0].sum()
    for kind, h, stale in (("", 1, 2), ("mean_", 3, 4)):
        squares = found[:, h, h]
        window = [sum(squares[p] for p in range(max(t - delays(t), 0), t)) for t in range(T)]
        result |= {
            f"total:{kind}gradients2": squares[:T].sum(),
            f"total_T:{kind}gradients2": squares.sum(),
            f"windows:{kind}gradients2": sum(window),
            f"delayed_windows:{kind}gradients2": sum(delays(t) * window[t] for t in range(T)),
            f"total:{kind}staleness2": found[:T, stale, stale].sum(),
            f"total_T:{kind}staleness2": found[:, stale, stale].sum(),
        }
    return result


def prepared(algorithm, trace, sigma=SIGMA, rounds=T):
    """A run of the FedSUM family."""
    return setup.prepare(
        algorithm, PROBLEM, trace, K=K, T=rounds, x0=START, noise={"sigma": sigma},
        step_sizes={"eta_g": ETA_G, "eta_l": ETA_L},
    )  # fmt: skip


@pytest.mark.parametrize("sigma", [0.0, SIGMA])
@pytest.mark.parametrize("algorithm", FEDSUM)
def test_what_clients_remember(algorithm, sigma):
    """Every quantity agrees with its definition on plain runs; its error bound covers the difference."""
    ready = prepared(algorithm, Trace(MATRIX), sigma)
    for name, value in plain(algorithm, sigma).items():
        found = quantities.expect(ready, [name])
        np.testing.assert_allclose(np.squeeze(found.records[name]), value, rtol=1e-9, atol=1e-12, err_msg=name)
        assert found.errors[name].max() < 1e-9


def test_second_moments_by_simulation():
    """The oracle's own second moments are those of runs with Gaussian noise, within 4.5 standard errors."""
    rng, runs = np.random.default_rng(1), 2000
    drawn = []
    for _ in range(runs):
        rows = play("fedsum", SIGMA / np.sqrt(D) * rng.standard_normal((T, N, K, D)), MATRIX[:T])
        drawn.append(np.einsum("tad,tbd->tab", rows, rows))
    error = np.std(drawn, axis=0, ddof=1) / np.sqrt(runs)
    assert (np.abs(np.mean(drawn, axis=0) - second_moments("fedsum", SIGMA, T)) <= 4.5 * error + 1e-12).all()


def test_round_that_is_not_played():
    """Where the trace ends with round T-1, everybody takes part in round T."""
    names = ["total_T:gradients2", "total_T:staleness2"]
    everybody = np.vstack([MATRIX[:T], np.ones((1, N), dtype=bool)])
    short, long = (quantities.expect(prepared("fedsum", Trace(rows)), names) for rows in (MATRIX[:T], everybody))
    for name in names:
        assert short.records[name] == long.records[name]
        assert short.records[name] != quantities.expect(prepared("fedsum", Trace(MATRIX)), names).records[name]


def test_random_participation_needs_a_trace():
    """What depends on who took part says so."""
    with pytest.raises(InputError, match="draw a trace"):
        quantities.expect(prepared("fedsum", Trace.uniform(N, 2)), ["noise2"])
    with pytest.raises(InputError, match="different things"):
        quantities.expect(prepared("fedsum", Trace(MATRIX)), ["noise2", "total:gradients2"])


# --- SimFBO ---

SIMFBO = {f"{side}_{block}": 0.1 for side in ("eta", "gamma") for block in "xyv"}


def changes(T, r):
    """What rounds change of SimFBO's gradient, and a plain run's changes; v moves to the norm 2.7 in round 0."""
    run = {"T": T, "K": 1, "v0": [3.0]}
    problem, steps = Bilevel.synthetic(2, 1, 1), {"r": r, **SIMFBO}
    ready = setup.prepare("simfbo", problem, Trace.full(2), step_sizes=steps, **run)
    simulated = rc.simulate("simfbo", problem, Trace.full(2), **run, **steps)
    found = quantities.expect(ready, ["change:grad_Phi_w2"]).records["change:grad_Phi_w2"]
    return found, np.diff(simulated.records["grad_Phi_w2"].reshape(-1))


def test_changes_inside_the_ball():
    """A projection that never acts leaves a plain run's changes."""
    found, plain = changes(4, 5.0)
    assert found[:-1] == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("T", [1, 4])
def test_a_projection_that_acts_is_no_part_of_a_change(T):
    """Refused as the records are, also where it acts at the end of the last round alone."""
    with pytest.raises(InputError, match=r"radius 0\.5 acts in round 1"):
        changes(T, 0.5)


# --- FLAME ---

LAMBDA, RHO, ALPHA = 1.5, 2.0, np.array([0.2, 0.5, 0.35])
INNER = {"flame": (4, {"eta": 0.15}), "flame-exact": (1, {})}


def run_of(algorithm):
    """The twin's run."""

    def solution(i, w):
        return np.linalg.solve(H[i] + LAMBDA * np.eye(D), G[i] + LAMBDA * w)

    start = np.tile(START, (N, 1))
    return flame(
        grad, MATRIX, start, start, np.zeros_like(start), K=INNER[algorithm][0], eta=0.15, rho=RHO, lambda_=LAMBDA,
        alpha=ALPHA, exact=solution if algorithm == "flame-exact" else None,
        value=lambda i, x: x @ H[i] @ x / 2 - G[i] @ x,
    )  # fmt: skip


def expected(algorithm, *names, T=T + 1):
    """The same from the engine."""
    steps, sizes = INNER[algorithm]
    ready = setup.prepare(
        algorithm, PROBLEM, Trace(MATRIX), K=steps, T=T, x0=START,
        step_sizes={"rho": RHO, "lambda_": LAMBDA, "alpha": ALPHA, **sizes},
    )  # fmt: skip
    return quantities.expect(ready, names)


@pytest.mark.parametrize("algorithm", list(INNER))
def test_changes_of_a_round(algorithm):
    """The change of the Lagrangian and the steps of both models, against differences of the twin's states."""
    twin = run_of(algorithm)
    found = expected(algorithm, "change:lagrangian", "step:theta", "step:w_i", "step:w", T=T).records
    change = np.diff(twin["lagrangian"])
    np.testing.assert_allclose(found["change:lagrangian"], change, rtol=1e-9, atol=1e-13)
    for name, state in (("step:theta", "theta"), ("step:w_i", "wi")):
        squares = np.sum(np.diff(twin[state], axis=0) ** 2, axis=(1, 2))[:T]
        np.testing.assert_allclose(found[name], squares, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found["step:w"], np.sum(np.diff(twin["w"], axis=0) ** 2, axis=1)[:T], atol=1e-15)
    assert found["step:theta"][3] == 0.0  # nobody was there


@pytest.mark.parametrize("algorithm", list(INNER))
def test_one_participant(algorithm):
    """An entry for every client that takes part: its gradient before and its step in the round."""
    twin = run_of(algorithm)
    found = expected(algorithm, "participant:grad_theta2", "participant:step:theta")
    assert list(found.places) == [(t, i) for t in range(T + 1) for i in range(N) if MATRIX[t, i]]
    for entry, (t, i) in enumerate(found.places):
        theta, w = twin["theta"][t, i], twin["wi"][t, i]
        slope = ALPHA[i] * (grad(i, theta) + LAMBDA * (theta - w))
        step = twin["theta"][t + 1, i] - theta
        assert found.records["participant:grad_theta2"][entry] == pytest.approx(slope @ slope, rel=1e-9, abs=1e-15)
        assert found.records["participant:step:theta"][entry] == pytest.approx(step @ step, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("algorithm", list(INNER))
def test_dual_residual(algorithm):
    """Lemma 2 of FLAME: 0 up to the rounding that is claimed, which is far below what was subtracted."""
    found = expected(algorithm, "largest:dual_residual2")
    name = "largest:dual_residual2"
    assert (found.records[name] <= found.errors[name]).all()
    assert (found.errors[name][1:] < 1e-12 * found.sizes[name][1:]).all()


def test_changes_of_two_records_are_those_of_each():
    """Products that one of them is made of may be none of the other's."""
    problem = Quadratic.synthetic(n=9, d=2, shared=2, seed=1, curvature=0.0)
    rows = np.random.default_rng(5).random((6, 9)) < 0.4
    run = setup.prepare("fedsum", problem, Trace(rows), K=3, T=6, step_sizes={"eta_g": 0.5, "eta_l": 0.1})
    names = ("change:gap", "change:f", "change:G_u")
    found = quantities.expect(run, names)
    for name in names:
        np.testing.assert_array_equal(found.records[name], quantities.expect(run, [name]).records[name])
    # What is measured along the run stays there.
    assert {*run.records} <= {*found.records}


# --- Verdicts ---

ONE = Quadratic(np.ones((1, 1, 1)), np.zeros((1, 1)), shared=1)
PRINTED_FALSE = {"flame/lemma-1"}
BEGINNINGS = ("lemma", "corollary-c", "corollary-d", "corollary-e", "theorem-1")
LEMMAS = [
    s.key
    for paper in ("fedsum", "flame")
    for s in bounds.statements(paper)
    if s.algorithm and s.key.partition("/")[2].startswith(BEGINNINGS)
]
TRACES = {
    "uniform": lambda _: None,
    "cyclic": lambda n: Trace.cyclic(n, 1),
    "empty rounds": lambda n: Trace(np.random.default_rng(4).random((13, n)) < 0.3),
}


def given_for(statement, rounds=12.0):
    """Settings; step sizes of which the statement says nothing, or that it leaves free."""
    if statement.key.startswith("flame"):
        rho = {} if "rho" in statement.parameters else {"rho": 2.0}
        return {"s": 2.0, "T": rounds, "lambda_": 3.0, **rho}
    return {"S": 2.0, "K": 3.0, "T": rounds, "sigma": 0.4, "eta_g": 0.9, "eta_l": 0.002}


@pytest.mark.every(4)
@pytest.mark.parametrize("trace", list(TRACES))
@pytest.mark.parametrize("key", LEMMAS)
def test_lemmas(key, trace):
    """Every lemma about a run is compared, on several problems and participations, and holds unless known as false."""
    statement = bounds.get(key)
    for n, seed in ((3, 0), (4, 6)):
        problem = Quadratic.synthetic(n, 3, 3, curvature=1.0, seed=seed)
        participation = TRACES[trace](n)
        given = given_for(statement)
        if isinstance(participation, Trace):
            given = {**given, ("s" if "s" in given else "S"): float(participation.size or n)}
        elif participation is not None:
            given = {k: v for k, v in given.items() if k not in ("S", "s")}
        verdict = verify(statement, problem, given, EXACT, participation=participation)
        if isinstance(participation, Trace) and participation.size is None and "s" in statement.parameters:
            # The right side names s, and here no number is how many take part in every round (even if eps_max=0).
            (reason,) = verdict.reasons
            assert reason.endswith("differs from round to round")
            assert verdict.outcome is Outcome.NOT_APPLICABLE
        elif verdict.outcome is Outcome.NOT_APPLICABLE:
            assert any(check.holds is False for check in verdict.conditions), verdict.reasons
        else:
            assert verdict.outcome is (Outcome.VIOLATED if key in PRINTED_FALSE else Outcome.HOLDS), verdict


def test_noise_bound_is_attained():
    """Lemma B.1 of FedSUM is an equality once every client took part."""
    statement = bounds.get("fedsum/lemma-b.1")
    given = {**given_for(statement), "S": 3.0}
    worst = verify(statement, PROBLEM, given, EXACT).worst
    assert (worst.left, worst.right) == (pytest.approx(3 * 3 * 0.4**2), pytest.approx(3 * 3 * 0.4**2))


def test_round_T_is_not_paid_for():
    """Lemma C.4 of FedSUM as printed, by the counterexample of its remark: eta^2*sigma^2 against 0."""
    given = {"K": 1.0, "T": 1.0, "sigma": 0.5, "eta_g": 1.0, "eta_l": 0.2}
    absent = Trace([[1], [0]])
    verdict = verify(bounds.get("fedsum/lemma-c.4"), ONE, given, EXACT, participation=absent)
    assert verdict.outcome is Outcome.VIOLATED
    assert (verdict.worst.left, verdict.worst.right) == (pytest.approx(0.2**2 * 0.5**2), 0.0)
    assert (verdict.worst.round, verdict.worst.client) == (None, None)
    assert verdict.constants["tau_max"].value == 1.0
    repaired = verify(bounds.get("fedsum/lemma-c.4-repaired"), ONE, given, EXACT, participation=absent)
    assert repaired.outcome is not Outcome.VIOLATED


@pytest.mark.parametrize("letter", ["d", "e"])
def test_drift_without_delay(letter):
    """Lemmas D.4 and E.4 as printed, where nobody is ever away: eta_l^2 against 0; the repaired forms hold."""
    given = {"K": 2.0, "T": 1.0, "sigma": 0.0, "eta_g": 1.0, "eta_l": 0.03}
    options, start = Options(engine="exact", ignore_conditions=True), {"x0": [1.0]}
    printed, repaired = (
        verify(
            bounds.get(f"fedsum/lemma-{letter}.4{end}"), ONE, given, options, participation=Trace([[1]]), start=start
        )
        for end in ("", "-repaired")
    )
    assert printed.outcome is Outcome.VIOLATED
    assert (printed.worst.left, printed.worst.right) == (pytest.approx(0.03**2), 0.0)
    assert repaired.outcome is Outcome.HOLDS


def test_descent_without_a_young_parameter():
    """Lemma 1 of FLAME as printed, by the counterexample of its remark: the Lagrangian falls by less than it says."""
    given = {"s": 1.0, "T": 1.0, "lambda_": 1.0, "rho": 10.0, "alpha": 1.0}
    verdict = verify(bounds.get("flame/lemma-1"), ONE, given, EXACT, start={"x0": [1.0]})
    assert verdict.outcome is Outcome.VIOLATED
    assert (verdict.worst.left, verdict.worst.right) == (
        pytest.approx(-0.282, abs=5e-4),
        pytest.approx(-1.359, abs=5e-4),
    )


def test_a_larger_inner_error_makes_a_lemma_false():
    """Its c0 is negative there, so that what is assumed about eps_max makes the bound stronger."""
    given = {"s": 1.0, "T": 3.0, "lambda_": 1.0, "rho": 10.0, "alpha": 1.0}
    problem = Quadratic(np.zeros((1, 1, 1)), np.zeros((1, 1)), shared=1)
    statement = bounds.get("flame/lemma-1")
    flat = verify(statement, problem, {**given, "L": 1.0}, EXACT)
    assert flat.outcome is not Outcome.VIOLATED
    assert verify(statement, problem, {**given, "L": 1.0, "eps_max": 1.0}, EXACT).outcome is Outcome.VIOLATED


def test_traces_with_more_clients_than_said():
    """The number of selected clients in a bound is at least that of every round."""
    given = {"s": 1.0, "T": 6.0, "lambda_": 3.0}
    with pytest.raises(InputError, match='s=1 breaks "s >= 2"'):
        verify(bounds.get("flame/lemma-1"), PROBLEM, given, EXACT, participation=Trace(MATRIX))
    with pytest.raises(InputError, match="give s="):
        verify(bounds.get("flame/lemma-1"), PROBLEM, {"T": 6.0, "lambda_": 3.0}, EXACT, participation=Trace(MATRIX))


def test_the_client_with_the_least_room():
    """A claim about a selected client names one that was there in that round."""
    statement = bounds.get("flame/theorem-1")
    verdict = verify(statement, PROBLEM, {"T": 6.0, "lambda_": 3.0, "rho": 2.0}, EXACT, participation=Trace(MATRIX))
    assert verdict.outcome is Outcome.HOLDS
    for comparison in verdict.comparisons:
        assert MATRIX[comparison.round, comparison.client]


def test_a_difference_of_equals():
    """That a residual is 0 is decided by comparing its rounding with what was subtracted."""
    verdict = verify(bounds.get("flame/lemma-2"), PROBLEM, given_for(bounds.get("flame/lemma-2")), EXACT)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.worst.error < 1e-10 * verdict.worst.size


def test_step_sizes_of_which_nothing_is_said():
    """A run needs them all the same: they are chosen such that it descends, and scale as the objective does."""
    statement = bounds.get("fedsum/lemma-c.2")
    given = {"S": 2.0, "K": 3.0, "T": 12.0, "sigma": 0.4}
    once, twice = (verify(statement, Quadratic(c * H, c * G, D), given, EXACT) for c in (1.0, 2.0))
    assert once.outcome is twice.outcome is Outcome.HOLDS
    assert once.chosen == {"eta_g": "unrestricted", "eta_l": "unrestricted"}
    assert (once.values["eta_g"], once.values["eta_l"]) == (1.0, pytest.approx(2 * twice.values["eta_l"]))
    free = verify(statement, PROBLEM, {**given, "eta_l": 0.01}, EXACT)
    assert (free.chosen["eta_l"], free.values["eta_l"]) == ("given", 0.01)
