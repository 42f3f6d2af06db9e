"""Runs on bilevel samples of two values, all outcomes followed: against the paper's algorithm in plain NumPy.

The oracle runs the twin of Algorithm 1 once for every outcome, each with its own signs and participants, and averages.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ratecheck.engines import setup, simulate
from ratecheck.engines.monte_carlo import stepwise
from ratecheck.engines.outcomes import enumerated
from ratecheck.errors import InputError
from ratecheck.participation import Bernoulli, Trace, Uniform
from ratecheck.problems import Bilevel, BilevelSamples
from tests.helpers import twins_simfbo

STEPS = {"eta_x": 0.3, "eta_y": 0.4, "eta_v": 0.5, "gamma_x": 0.2, "gamma_y": 0.3, "gamma_v": 0.6}


def sampled(n, d_x=1, d_y=1, seed=0, *, of="xyv", p=None):
    """Random levels; only the directions in ``of`` are sampled."""
    rng = np.random.default_rng([seed, n, d_x, d_y])
    A = np.stack([np.eye(d_y) * (1 + i) for i in range(n)])
    root = rng.standard_normal((n, d_x + d_y, d_x + d_y))
    noise_f = rng.standard_normal((n, d_x + d_y))
    noise_f[:, :d_x] *= "x" in of
    noise_f[:, d_x:] *= "v" in of
    noise_A = rng.standard_normal((n, d_y, d_y)) / 3
    return BilevelSamples(
        A,
        rng.standard_normal((n, d_y, d_x)),
        rng.standard_normal((n, d_y)),
        root + root.transpose(0, 2, 1),
        rng.standard_normal((n, d_x + d_y)),
        p,
        noise_f=noise_f,
        noise_g=rng.standard_normal((n, d_y)) * ("y" in of),
        noise_A=(noise_A + noise_A.transpose(0, 2, 1)) * ("v" in of),
        noise_B=rng.standard_normal((n, d_y, d_x)) / 2 * ("x" in of),
    )


def replayed(method, problem, matrix, tau, signs, start, r):
    """The twin's states in one outcome; ``signs[i]`` has those of x, y and v of each local step that client i makes."""
    drawn = [iter(each) for each in signs]

    def oracle(i, x, y, v):
        s_x, s_y, s_v = next(drawn[i])
        z, d_x = np.concatenate([x, y]), problem.d_x
        upper = problem.Q[i] @ z - problem.q[i]
        on_x = upper[:d_x] + s_x * problem.noise_f[i, :d_x] + (problem.B[i] + s_x * problem.noise_B[i]).T @ v
        on_y = problem.A[i] @ y - problem.B[i] @ x - problem.b[i] + s_y * problem.noise_g[i]
        on_v = (problem.A[i] + s_v * problem.noise_A[i]) @ v - upper[d_x:] - s_v * problem.noise_f[i, d_x:]
        return on_x, on_y, on_v

    a = [np.ones(k) for k in tau]
    return getattr(twins_simfbo, method)(oracle, matrix, *start, tau=tau, a=a, p=problem.p, r=r, **STEPS)


@pytest.mark.parametrize(("n", "K"), [(1, 2), (2, 1)])
def test_samples_that_are_drawn_have_the_means_of_all_outcomes(n, K):
    """Of runs by steps, within 4.5 standard errors, after a round of one or two local steps."""
    ready = setup.prepare(
        "simfbo", sampled(n, 2, 1), Trace.full(n), T=2, K=K, x0=np.ones(2), v0=np.ones(1),
        step_sizes={**{name: size / 2 for name, size in STEPS.items()}, "r": 0.7},
    )  # fmt: skip
    run = stepwise.simulate(ready, replicates=4000)
    for name, expected in enumerated.expect(ready).items():
        if name in run.records:
            drawn = run.records[name][:, 1]
            assert drawn.std() > 0.01
            assert abs(drawn.mean() - expected[1]) < 4.5 * drawn.std() / np.sqrt(len(drawn))


def averaged(method, problem, sets, T, tau, start, r):
    """Means over all outcomes of what is recorded before each round, by brute force."""
    n, kinds = problem.n, np.flatnonzero(problem.sampled)
    totals, count = {}, 0
    w = problem.p * np.array(tau) / (problem.p @ np.array(tau)) if method == "simfbo" else problem.p
    for rows in itertools.product(sets, repeat=T):
        matrix = np.array(rows)
        steps = [int(matrix[:, i].sum()) * tau[i] for i in range(n)]
        for bits in itertools.product((1.0, -1.0), repeat=sum(steps) * len(kinds)):
            flat, signs = iter(bits), []
            for i in range(n):
                own = np.ones((steps[i], 3))
                for k, kind in itertools.product(range(steps[i]), kinds):
                    own[k, kind] = next(flat)
                signs.append(own)
            states = replayed(method, problem, matrix, tau, signs, start, r)
            x, y, v = (states[name][:T] for name in "xyv")
            weight = 2.0 ** -(sum(steps) * len(kinds)) / len(sets) ** T
            found = {
                "grad_Phi{}2": [np.sum(problem.hypergradient(each, w) ** 2) for each in x],
                "y_error{}2": [np.sum((b - problem.y_star(a, w)) ** 2) for a, b in zip(x, y, strict=True)],
                "v_error{}2": [np.sum((b - problem.v_star(a, w)) ** 2) for a, b in zip(x, v, strict=True)],
            }
            for name, values in found.items():
                totals[name] = totals.get(name, 0.0) + weight * np.array(values)
            count += 1
    assert count > 1
    return totals


CASES = {
    "one client": (sampled(1), [[True]], 2, [1], np.inf),
    "two local steps": (sampled(1, of="v"), [[True]], 3, [2], np.inf),
    "a small ball": (sampled(1, 1, 2, of="v"), [[True]], 3, [2], 0.7),
    "two clients, one drawn": (sampled(2, of="x"), [[True, False], [False, True]], 2, [1, 2], 0.7),
    "two clients and weights": (sampled(2, 2, 1, of="y", p=[0.25, 0.75]), [[True, True]], 2, [2, 1], np.inf),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", ["simfbo", "shrofbo"])
def test_expectations_are_means_over_all_outcomes(case, method):
    """States before each round, by brute force."""
    problem, sets, T, tau, r = CASES[case]
    rng = np.random.default_rng(3)
    start = [rng.standard_normal(d) / 2 for d in (problem.d_x, problem.d_y, problem.d_y)]
    pattern = Uniform(problem.n, int(np.sum(sets[0])))
    mark = "_w" if method == "simfbo" else ""
    ready = setup.prepare(
        method, problem, pattern, K=tau, T=T, x0=start[0], y0=start[1], v0=start[2],
        records=[f"{name}{mark}2" for name in ("grad_Phi", "y_error", "v_error")], step_sizes={**STEPS, "r": r},
    )  # fmt: skip
    found = enumerated.expect(ready)
    for name, values in averaged(method, problem, sets, T, tau, start, r).items():
        assert found[name.format(mark)] == pytest.approx(values, rel=1e-11, abs=1e-13), name


def test_what_happens_inside_a_round():
    """The drift, the largest v and the sampled direction of one client's two local steps, outcome by outcome."""
    problem = sampled(1, seed=5)
    z, A, B, Q = np.array([0.3, -0.2, 0.5]), problem.A[0, 0, 0], problem.B[0, 0, 0], problem.Q[0]
    drift, direction, largest = [], [], []
    for s in itertools.product((1.0, -1.0), repeat=6):
        at, asked = z.copy(), []
        for s_x, s_y, s_v in (s[:3], s[3:]):
            x, y, v = at
            upper = Q @ at[:2] - problem.q[0]
            asked.append((at.copy(), np.array([
                upper[0] + s_x * problem.noise_f[0, 0] + (B + s_x * problem.noise_B[0, 0, 0]) * v,
                A * y - B * x - problem.b[0, 0] + s_y * problem.noise_g[0, 0],
                (A + s_v * problem.noise_A[0, 0, 0]) * v - upper[1] - s_v * problem.noise_f[0, 1],
            ])))  # fmt: skip
            at = at - np.array([STEPS["eta_x"], STEPS["eta_y"], STEPS["eta_v"]]) * asked[-1][1]
        drift.append(np.mean([(point[2] - z[2]) ** 2 for point, _ in asked]))
        direction.append(np.mean([each for _, each in asked], axis=0)[2] ** 2)
        largest.append(max(abs(point[2]) for point, _ in asked))
    ready = setup.prepare(
        "simfbo", problem, Uniform(1, 1), K=2, T=1, x0=z[:1], y0=z[1:2], v0=z[2:], step_sizes={**STEPS, "r": 9.0}
    )
    found = enumerated.expect(ready, inside=True)
    assert found["drift_v"] == pytest.approx([np.mean(drift)], rel=1e-12)
    assert found["sampled_v2"] == pytest.approx([np.mean(direction)], rel=1e-12)
    assert found["local_v"] == pytest.approx([max(largest)], rel=1e-12)
    assert enumerated.outcomes(ready) == 64


def test_without_noise_it_is_the_run_itself():
    """One outcome, as the step engine has it."""
    problem = sampled(2, of="")
    plain = Bilevel(problem.A, problem.B, problem.b, problem.Q, problem.q)
    trace = Trace([[True, False], [True, True], [False, True]])
    found = enumerated.expect(setup.prepare("simfbo", problem, trace, K=2, step_sizes={**STEPS, "r": 1.0}))
    run = simulate("simfbo", plain, trace, K=2, r=1.0, **STEPS)
    for name, values in run.records.items():
        assert found[name] == pytest.approx(values[0], rel=1e-11)


def test_what_is_not_followed():
    """Too many outcomes, other laws, other problems."""
    problem = sampled(2)

    def ready(pattern, **sizes):
        return setup.prepare("simfbo", problem, pattern, step_sizes={**STEPS, "r": 1.0}, **sizes)

    with pytest.raises(InputError, match="have more than 65536 outcomes"):
        enumerated.check(ready(Uniform(2, 2), K=2, T=5))
    with pytest.raises(InputError, match="given or drawn uniformly, not of bernoulli ones"):
        enumerated.check(ready(Bernoulli([0.5, 0.5]), K=1, T=1))
    with pytest.raises(InputError, match="samples with two values, which a bilevel one has not"):
        enumerated.problem_of(
            setup.prepare("simfbo", Bilevel.synthetic(2), Uniform(2, 2), K=1, T=1, step_sizes={**STEPS, "r": 1.0})
        )
