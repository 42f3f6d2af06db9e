"""The small rounds of the SimFBO ledger against the algorithm itself, run for every sample and every sign of noise."""

import dataclasses
import itertools
from fractions import Fraction

import pytest

from bounds.ledger.draw import Draw, expect, expect_square
from bounds.papers.simfbo.proofs.rounds import V, X, Y, drawn_round
from bounds.papers.simfbo.proofs.whole_runs import after


def _gradients(client, x, y, v):
    """(surrogate gradient of f, grad_y g, grad_v R) from the definitions of f, g and R."""
    f_x = client.p * x + client.q * y + client.c
    f_y = client.q * x + client.s * y + client.e
    g_xy, g_yy = -client.a, client.m
    return f_x - g_xy * v, g_yy * y + g_xy * x - client.b, g_yy * v - f_y


def _sampled(run, chosen, signs):
    """sum_{i in C} (n/P) w_i h_i and every local point, for one sample and one outcome of the noises."""
    total, points = [Fraction(0)] * 3, {}
    for i, client in enumerate(run.clients):
        at = list(run.start)
        for k, step in enumerate(client.steps):
            points[i, k] = tuple(at)
            noisy = [
                g + s * signs[i, k, j] for j, (g, s) in enumerate(zip(_gradients(client, *at), run.sigma, strict=True))
            ]
            if i in chosen:
                for j in range(3):
                    total[j] += Fraction(run.n, run.P) * run.w[i] * step / sum(client.steps) * noisy[j]
            at = [value - step * eta * g for value, eta, g in zip(at, run.eta, noisy, strict=True)]
    return total, points


# Two clients with three local steps in all, so nine signs; all or one of the clients sampled.
@pytest.mark.parametrize("index", [2, 3, 9, 10])
def test_moments_are_those_of_every_outcome(index):
    """Second moments of the sampled directions, drifts and the bound of the gradients."""
    run = drawn_round(Draw(index, "moments"), noisy=True, steps=2, clients=2)
    names = [(i, k, j) for i, client in enumerate(run.clients) for k in range(len(client.steps)) for j in range(3)]
    outcomes = list(itertools.product((-1, 1), repeat=len(names)))
    squares, drift, largest = [Fraction(0)] * 3, [Fraction(0)] * 3, Fraction(0)
    for outcome in outcomes:
        signs = dict(zip(names, outcome, strict=True))
        for chosen in itertools.combinations(range(run.n), run.P):
            total, points = _sampled(run, chosen, signs)
            squares = [a + b**2 for a, b in zip(squares, total, strict=True)]
        for (i, k), at in points.items():
            share = run.w[i] * run.clients[i].steps[k] / sum(run.clients[i].steps)
            drift = [d + share * (a - b) ** 2 for d, a, b in zip(drift, at, run.start, strict=True)]
            client = run.clients[i]
            f_x = client.p * at[X] + client.q * at[Y] + client.c
            f_y = client.q * at[X] + client.s * at[Y] + client.e
            largest = max(largest, abs(f_x), abs(f_y), run.mu_g * abs(at[V]))
    samples = len(list(itertools.combinations(range(run.n), run.P)))
    for variable in (X, Y, V):
        assert run.sampled_square(variable) == squares[variable] / (len(outcomes) * samples)
        assert run.drift(variable) == drift[variable] / len(outcomes)
    assert largest <= run.L_f


@pytest.mark.parametrize("index", range(20))
def test_optima_and_constants(index):
    """Both optimality conditions hold, and no Hessian has a larger norm than L_1."""
    run = drawn_round(Draw(index, "optima"))
    x = run.origin[X]
    y, v = expect(run.y_star(x)), expect(run.v_star(x))
    gradients = [_gradients(client, run.start[X], y, v) for client in run.clients]
    assert sum(w * g[Y] for w, g in zip(run.w, gradients, strict=True)) == 0
    assert sum(w * g[V] for w, g in zip(run.w, gradients, strict=True)) == 0
    assert expect(run.gradient) == sum(w * g[X] for w, g in zip(run.w, gradients, strict=True))
    assert expect_square(run.origin[Y] - y) == run.gap_y
    for client in run.clients:
        assert client.m >= run.mu_g
        for a, b, c in ((client.p, client.q, client.s), (Fraction(0), -client.a, client.m)):
            for direction in ((1, 0), (0, 1), (3, 4), (4, -3)):
                moved = (a * direction[0] + b * direction[1], b * direction[0] + c * direction[1])
                norm2 = direction[0] ** 2 + direction[1] ** 2
                assert moved[0] ** 2 + moved[1] ** 2 <= run.L_1**2 * norm2


@pytest.mark.parametrize("index", [2, 3, 9])
def test_the_round_after_is_that_of_every_outcome(index):
    """E||grad Phi_w||^2 after one round, by every sample and sign; the noises of a second round are new ones."""
    run = drawn_round(Draw(index, "moments"), noisy=True, steps=2, clients=2)
    steps = (Fraction(1, 3), Fraction(1, 2), Fraction(2))
    names = [(i, k, j) for i, client in enumerate(run.clients) for k in range(len(client.steps)) for j in range(3)]
    samples = list(itertools.combinations(range(run.n), run.P))
    found = []
    for outcome in itertools.product((-1, 1), repeat=len(names)):
        for chosen in samples:
            total, _ = _sampled(run, chosen, dict(zip(names, outcome, strict=True)))
            moved = tuple(at - step * q for at, step, q in zip(run.start, steps, total, strict=True))
            found.append(expect_square(dataclasses.replace(run, start=moved).gradient))
    second = [after(run, chosen, steps) for chosen in samples]
    assert sum(expect_square(one.gradient) for one in second) / len(samples) == sum(found) / len(found)
    assert {name[0] for name in second[0].sampled(samples[0], Y).noises} == {0, 1}
