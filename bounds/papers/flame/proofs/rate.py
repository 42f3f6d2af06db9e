"""Appendix D: Theorem 2, eqs. (40)-(57)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import sympy as sp

from bounds.ledger.draw import Draw, mean, subsets
from bounds.ledger.families import mean as mean_of
from bounds.ledger.families import per_client, total
from bounds.ledger.proof import Proof, at_most, gram, same
from bounds.ledger.step import Enumerated, Step, StepKind, above, below, equal
from bounds.ledger.vectors import Vector, dot, square, vectors
from bounds.papers.flame import statements as flame
from bounds.papers.flame.proofs import forms, runs
from bounds.papers.flame.proofs.common import (
    X,
    alpha,
    descends,
    drawn,
    dtheta,
    dw_i,
    eps,
    g,
    g_next,
    gain,
    pair_terms,
    pi,
    theta,
    theta_next,
    w,
    w_i,
    w_i_next,
)
from bounds.papers.flame.proofs.skew import relative_skew
from bounds.papers.flame.statements import F_star, L, T, alpha_max, eps_max, gamma_bar, lambda_, m, rho, s

_unbiased = Proof("flame/theorem-2-unbiased", "Appendix D")
_biased = Proof("flame/theorem-2-biased", "Appendix D", first=4)

# --- (41): all m clients, w by (12) ---

_W_I, _PI = per_client("w_i pi_i", m)
_MEAN = mean_of(_W_I + 1 / rho * _PI)


def _by_w(sign: int, server: Vector) -> Vector:
    """The sum over the clients of rho*(w_i - w) + sign*pi_i."""
    return total(rho * (_W_I - server) + sign * _PI)


# --- (42)-(44), client by client ---

dg, probe = vectors("dg probe")
_BY_THETA = alpha * (g + lambda_ * (theta - w_i))
_RESIDUAL = alpha * (g_next + lambda_ * (theta_next - w_i))
_DIFFERENCE = g + lambda_ * theta - g_next - lambda_ * theta_next
_SMOOTH = below(square(g - g_next), L**2 * square(theta - theta_next), "smoothness")
_SPLIT = 2 * alpha**2 * square(_DIFFERENCE) + 2 * square(_RESIDUAL)
_LOST = (
    2 * alpha**2 * square(g - g_next) + 4 * alpha**2 * lambda_**2 * square(theta - theta_next) + 2 * square(_RESIDUAL)
)
_BY_42 = 2 * alpha**2 * (L**2 + 2 * lambda_**2)
_END_42 = _BY_42 * square(theta_next - theta) + 2 * square(_RESIDUAL)

(_away,) = vectors("d")
_step_1 = sp.Symbol("step", real=True)
# Of which no sign is known.
_least = sp.Symbol("c_1", real=True)
_dual, _eps_before = sp.symbols("dual eps_before", nonnegative=True)
_THETA_STEP = _dual / X - _step_1
# w_i - w of a client that updates: w_i - w_i_next + (pi_next - pi)/rho, with Lemma 2 for the last.
_APART = X / rho * (dtheta - dw_i) - dw_i
_BY_43 = (2 * rho**2 + 4 * X**2) * square(dw_i) + 4 * X**2 * square(dtheta)
_OF_44 = gram(square(_APART), (2 * rho**2 + 4 * X**2) / rho**2 * square(dw_i) + 4 * X**2 / rho**2 * square(dtheta))
# The gradients by theta_i, w_i and pi_i of a client that updates.
(_residual,) = vectors("residual")
_OF_ONE = square(_residual - alpha * (dg + lambda_ * dtheta)) + (rho**2 + 1) * square(_APART)
_SMOOTH_STEP = below(square(dg), L**2 * square(dtheta), "smoothness")

# --- Sums over clients ---

_theta2, _w_i2 = sp.symbols("dtheta2 dw_i2", nonnegative=True)
_D_THETA, _D_W, _D_PI = sp.symbols("grad_theta2 grad_w_i2 grad_pi2", nonnegative=True)
_C_THETA = 4 * X**2 * (1 + 1 / rho**2) + _BY_42
_C_W = 4 * X**2 * (1 + 1 / rho**2) + 2 * rho**2 + 2
_C2 = _C_THETA.subs(alpha, alpha_max) + 2 * rho**2 + 2
_BY_45 = (_C_THETA + 2 * rho**2 + 2) * (square(dtheta) + square(dw_i)) + 2 * square(_residual)
c_0 = sp.Symbol("c_0", real=True)
c_1, c_2 = sp.symbols("c_1 c_2", positive=True)
# Sums over all clients of ||dtheta||^2 + ||dw_i||^2 (or ||dtheta||^2 alone), ||grad L||^2, E[L^t - L^{t+1}], gains.
_moved, _grad2, _rest = sp.symbols("moved grad2 rest", nonnegative=True)
_fall, _first, _last = sp.symbols("fall L_first L_last", real=True)
_gain, _skew = sp.symbols("gain skew", nonnegative=True)
_errors = sp.Symbol("errors", real=True)
_BY_SELECTED = below(_errors, s * c_0 * eps_max, "(47)")
_PRINTED_COST: dict[str, Any] = {"cost": Fraction(1), "power": 2}
_YOUNG_COST: dict[str, Any] = {"cost": Fraction(1, 4), "power": 0}
_C3 = 2 + c_2 * c_0 / c_1
_C4 = 2 + m * c_0 * c_2 / (s * c_1 * gamma_bar)
_BY_48 = m / (s * c_1) * _fall + m * c_0 / c_1 * eps_max
_BY_49 = m * c_2 / (s * c_1) * _fall + m * _C3 * eps_max
_BY_55 = m / (s * c_1 * gamma_bar) * _fall + m**2 * c_0 / (s * c_1 * gamma_bar) * eps_max
_BY_56 = m * c_2 / (s * c_1 * gamma_bar) * _fall + m * _C4 * eps_max

Pairs = Iterable[tuple[Fraction, Fraction]]


# --- Runs: what the bounds by round t + 1 say about clients that are not selected ---


def _moves(
    draw: Draw, *, everybody: bool
) -> tuple[runs.ProximalClients, runs.ClientVariables, runs.ClientVariables, Fraction]:
    """A round with long or short steps and inner solutions of some error, and eps_max.

    One of two clients moves, or everybody. Short steps from w_i = theta_i make the inner error count.
    """
    problem, state = runs.anywhere(draw, draw.whole(1, 2) if everybody else 2)
    size = Fraction(1)
    if draw.whole(0, 1):
        size, state = Fraction(1, 1000), runs.start(problem, state.theta, state.theta)
    targets = tuple(theta + size * step for theta, step in zip(state.theta, draw.vector(problem.m), strict=True))
    selected = range(problem.m if everybody else 1)
    worst = max(runs.slope(problem, state, i, targets[i]) ** 2 for i in selected)
    runs.show(draw, problem, state, theta_next=targets, s=len(selected))
    return problem, state, runs.after(problem, state, targets, selected), worst


def _by_theta(draw: Draw, *, everybody: bool, inner: int) -> Pairs:
    """(42) for each client: as printed, or for everybody with (L + lambda)^2."""
    problem, state, new, worst = _moves(draw, everybody=everybody)
    lambda_, L = problem.lambda_, problem.L
    factor = (L + lambda_) ** 2 if everybody else L**2 + 2 * lambda_**2
    return [
        (
            runs.slope(problem, state, i, state.theta[i]) ** 2,
            2 * problem.alpha[i] ** 2 * factor * runs.steps2(state, new, i)[0] + inner * worst,
        )
        for i in range(problem.m)
    ]


def _by_w_i(draw: Draw, *, everybody: bool, factor: int) -> Pairs:
    """(43) for each client."""
    problem, state, new, _ = _moves(draw, everybody=everybody)
    for i in range(problem.m):
        by_theta, by_w_i = runs.steps2(state, new, i)
        x2 = (problem.lambda_ * problem.alpha[i]) ** 2
        right = (2 * problem.rho**2 + factor * x2) * by_w_i + factor * x2 * by_theta
        yield (problem.rho * runs.apart(problem, state, i)) ** 2, right


def _by_all(draw: Draw, *, everybody: bool, inner: int) -> tuple[Fraction, Fraction] | None:
    """(45); with everybody's moves where q > 0."""
    problem, state, new, worst = _moves(draw, everybody=everybody)
    if not problem.applies(with_young=everybody):
        return None
    moved = sum((sum(runs.steps2(state, new, i)) for i in range(problem.m)), Fraction(0))
    return runs.gradient2(problem, state), problem.c2 * moved + inner * problem.m * worst


def _by_all_thetas(draw: Draw, *, everybody: bool, inner: int) -> tuple[Fraction, Fraction]:
    """(52), the sum of (42)."""
    pairs = _by_theta(draw, everybody=everybody, inner=inner)
    return sum((left for left, _ in pairs), Fraction(0)), sum((right for _, right in pairs), Fraction(0))


# --- Sampling ---


def _change(draw: Draw, *, with_young: bool, cost: Fraction, power: int) -> tuple[Fraction, Fraction] | None:
    """(46): both sides in the mean over the selection."""
    problem, state = runs.anywhere(draw, draw.whole(2, 3))
    targets, s = draw.vector(problem.m), draw.whole(1, problem.m)
    if draw.index % 3 == 0:
        (problem, state, targets), s = runs.tight(draw), 2
    runs.show(draw, problem, state, theta_next=targets, s=s)
    if not problem.applies(with_young=with_young):
        return None
    left, right = [], []
    for selected in subsets(problem.m, s):
        new = runs.after(problem, state, targets, selected)
        left.append(runs.lagrangian(problem, new) - runs.lagrangian(problem, state))
        right += [
            problem.inner_cost(i, cost, power) * runs.slope(problem, state, i, targets[i]) ** 2
            - problem.gain(i) * sum(runs.steps2(state, new, i))
            for i in selected
        ]
    return mean(left), sum(right, Fraction(0)) / len(left)


def _sampled(draw: Draw, *, power: int) -> tuple[Fraction, Fraction]:
    """The mean over the selection of a sum over S against (s/m)^power times the sum over all clients."""
    size = draw.whole(1, 4)
    chosen = draw.whole(1, size)
    values = draw.vector(size)
    left = mean(sum((values[i] for i in selected), Fraction(0)) for selected in subsets(size, chosen))
    return left, Fraction(chosen, size) ** power * sum(values, Fraction(0))


def _inner_errors(draw: Draw, *, with_young: bool, factor: Fraction) -> tuple[Fraction, Fraction] | None:
    """The part of (46) by eps_i against s*c_0*eps_max."""
    problem, _ = runs.anywhere(draw, draw.whole(1, 3))
    if not problem.applies(with_young=with_young):
        return None
    errors, s = draw.vector(problem.m, 0, 3), draw.whole(1, problem.m)
    runs.show(draw, problem, eps=errors, s=s)
    costs = [problem.inner_cost(i, Fraction(1), 2) for i in range(problem.m)]
    left = mean(sum((costs[i] * errors[i] for i in selected), Fraction(0)) for selected in subsets(problem.m, s))
    return left, factor * s * problem.c0(Fraction(1), 2) * max(errors)


def _by_skew(draw: Draw, *, each: bool) -> tuple[Fraction, Fraction] | None:
    """(54), the part by ||dtheta_i||^2: each client with its own coefficient, as printed, or all with c_1."""
    problem = runs.wide(draw, draw.whole(2, 3))
    s = draw.whole(1, problem.m)
    sets = list(subsets(problem.m, s))
    law = [sets[draw.whole(0, len(sets) - 1)] for _ in range(3)]
    moves = [draw.positive() for _ in range(problem.m)]
    falls = [-(problem.gain(i) if each else problem.c1) * move for i, move in enumerate(moves)]
    left = mean(sum((-problem.gain(i) * moves[i] for i in selected), Fraction(0)) for selected in law)
    return left, s * relative_skew(law, moves) / problem.m * sum(falls, Fraction(0))


# --- Telescoping ---


def _falls(draw: Draw, *, to_the_end: bool) -> Pairs:
    """The sum over t < T of L^t - L^{t+1} against L^0 - L^{t+1}, for each t < T or for the last."""
    T = draw.whole(1, 4)
    values = draw.vector(T + 1)
    draw.show(T=T, values=values)
    total = sum((one - other for one, other in pairwise(values)), Fraction(0))
    return [(total, values[0] - values[t + 1]) for t in ([T - 1] if to_the_end else range(T))]


def _telescoped(draw: Draw, *, in_mean: bool) -> Pairs:
    """(50) from (49) with factor 1 and exact inner solutions, on a tree with two branches in each of two rounds.

    The left side is that of every path, or its mean; X_t = E[L^t - L^{t+1} given P^t] is the most that (49) allows.
    """
    first = [draw.positive() for _ in range(2)]
    second = [[draw.positive() for _ in range(2)] for _ in range(2)]
    draw.show(X_0=first, X_1_after_each=[*second[0], *second[1]])
    lefts = [mean(first) + mean(falls) for falls in second]
    right = mean(first) + mean(map(mean, second))
    return [(left, right) for left in ([mean(lefts)] if in_mean else lefts)]


# --- Theorem 2 ---


def _theorem(draw: Draw, *, biased: bool, with_young: bool, cost: Fraction, power: int, inner: int) -> Pairs | None:
    """(19) on every path, as printed; or in the mean where q > 0. (20) likewise.

    The biased selection takes sets with fixed unequal probabilities, so that gamma_bar is m/s times the smallest
    probability of a client. Two rounds at most, inner solutions with a fixed error, half of the starts stationary. A
    third are one round of both clients near the equality of the repaired (16), where q > 0: there c_0 alone decides.
    """
    problem, state = runs.anywhere(draw, draw.whole(1, 2))
    m, s, T = problem.m, draw.whole(1, problem.m), draw.whole(1, 2)
    zero = (Fraction(0),) * m
    errors = draw.vector(m, -1, 1) if draw.whole(0, 2) else zero
    if draw.whole(0, 1):
        problem, state = replace(problem, g=zero), runs.ClientVariables(zero, zero, zero)
    if draw.index % 3 == 0:
        (problem, state, targets), m, s, T = runs.tight(draw, flat=True), 2, 2, 1
        at = runs.stationary(problem, state, (Fraction(0),) * m)
        errors = tuple(target - goal for target, goal in zip(targets, at, strict=True))
    runs.show(draw, problem, state, errors=errors, s=s, T=T)
    return _both_sides(
        draw, problem, state, errors, s, T, biased=biased, with_young=with_young, cost=cost, power=power, inner=inner
    )


# Condition and start of the smallest counterexamples to (19) and (20) with exact inner solutions.
_SMALLEST = {False: (4, 5, Fraction(0)), True: (3, 4, Fraction(1, 2))}


def _solved(draw: Draw, *, biased: bool, with_young: bool) -> Pairs | None:
    """(19) and (20) where the inner problems are solved exactly, so that no c_0 enters."""
    problem, state = runs.anywhere(draw, draw.whole(1, 2))
    s, T = draw.whole(1, problem.m), draw.whole(1, 2)
    if draw.index == 0:
        (problem, state), s, T = runs.simplest(draw, *_SMALLEST[biased]), 1, 1
        draw.show(s=s, T=T)
    else:
        runs.show(draw, problem, state, s=s, T=T)
    zero = (Fraction(0),) * problem.m
    return _both_sides(
        draw, problem, state, zero, s, T, biased=biased, with_young=with_young, cost=Fraction(1), power=2, inner=2
    )


def _both_sides(
    draw: Draw,
    problem: runs.ProximalClients,
    state: runs.ClientVariables,
    errors: Sequence[Fraction],
    s: int,
    T: int,
    *,
    biased: bool,
    with_young: bool,
    cost: Fraction,
    power: int,
    inner: int,
) -> Pairs | None:
    """(19) or (20) of one problem."""
    m = problem.m
    if not problem.applies(with_young=with_young) or problem.lambda_ <= problem.L or not runs.bounded(problem):
        return None
    sets = list(subsets(m, s))
    sizes = [draw.positive() if biased else Fraction(1) for _ in sets]
    law = {selected: size / sum(sizes) for selected, size in zip(sets, sizes, strict=True)}
    gamma_bar = Fraction(m, s) * min(sum(p for selected, p in law.items() if i in selected) for i in range(m))
    gap = worst = whole = Fraction(0)
    lefts = []
    for states, chosen in runs.paths(problem, state, errors, s, T):
        probability = prod(law[selected] for selected in chosen)
        metric = runs.slopes2 if biased else runs.gradient2
        lefts.append(sum((metric(problem, before) for before in states[:-1]), Fraction(0)) / (m * T))
        whole += probability * lefts[-1]
        gap += probability * (runs.lagrangian(problem, state) - runs.lagrangian(problem, states[-1]))
        worst = max(worst, runs.worst_error(problem, states[:-1], errors))
    ratio, c0 = problem.c2 / (problem.c1 * gamma_bar), problem.c0(cost, power)
    spread = Fraction(m, s) if biased else 1
    right = ratio * gap / (s * T) + (inner + spread * c0 * ratio) * worst
    return [(left, right) for left in ([whole] if with_young else lefts)]


def _solved_check(*, biased: bool) -> dict[str, Any]:
    """(19) or (20) with exact inner solutions, and the same where q > 0."""
    as_printed, with_young = (
        drawn(partial(_solved, biased=biased, with_young=young), kind=StepKind.END_TO_END) for young in (False, True)
    )
    return {"check": as_printed, "repaired": with_young, "repair": "q > 0"}


def _theorem_check(*, biased: bool, with_young: bool) -> Enumerated:
    return drawn(
        partial(_theorem, biased=biased, with_young=with_young),
        kind=StepKind.END_TO_END,
        **_YOUNG_COST if with_young else _PRINTED_COST,
        inner=2,
    )


def _over_runs(sides: Callable[..., Any], *, everybody: bool, **given: Any) -> Enumerated:
    return drawn(partial(sides, everybody=everybody), **given)


_WHO = (
    "Two clients, of which one is selected. (42)-(45) and (52) speak of round t + 1 for all clients, and (10), (11) "
    "and (13) hold in it for the selected ones alone: the others keep their variables, whatever their gradient."
)
_WOULD = "the steps that a client would make if it were selected, for all clients"
_YOUNG_REPAIR = "q > 0, and 1/(4*q) for alpha_i^2/q"

_UNBIASED_STEPS: tuple[Step, ...] = (
    _unbiased(
        "eq. (41), first equality",
        "||grad_w L||^2 = ||sum_i rho*(w_i - w) - pi_i||",
        same(square(_by_w(1, w)), sp.sqrt(square(_by_w(-1, w)))),
        repaired=same(square(_by_w(1, w)), square(-1 * _by_w(1, w))),
        repair="rho*(w_i - w) + pi_i, and its square",
        remark="By (8), grad_w L = -sum_i (pi_i + rho*(w_i - w)).",
    ),
    _unbiased(
        "eq. (41), second equality",
        "||sum_i rho*(w_i - w) - pi_i|| = 0 by (12)",
        same(sp.sqrt(square(_by_w(-1, _MEAN))), sp.Integer(0)),
        repaired=same(square(_by_w(1, _MEAN)), sp.Integer(0)),
        repair="rho*(w_i - w) + pi_i",
    ),
    _unbiased(
        "eq. (42), first inequality",
        "||alpha_i (g + lambda (theta - w_i))||^2 <= 2*alpha_i^2 ||g + lambda*theta - g_next - lambda*theta_next||^2 "
        "+ 2*alpha_i^2 ||g_next + lambda (theta_next - w_i)||^2",
        gram(square(_BY_THETA), _SPLIT),
    ),
    _unbiased(
        "eq. (42), second inequality",
        "... <= 2*alpha_i^2 ||g - g_next||^2 + 4*alpha_i^2*lambda^2 ||theta - theta_next||^2 + 2*eps_i",
        gram(_SPLIT, _LOST),
        repaired=gram(_SPLIT, _LOST + 2 * alpha**2 * square(g - g_next)),
        repair="4*alpha_i^2 ||g - g_next||^2",
        remark="Proposition 3 doubles both squares. eps_i is the residual (13) itself.",
    ),
    _unbiased(
        "eq. (42), third inequality",
        "... <= 2*alpha_i^2*(L^2 + 2*lambda^2) ||dtheta||^2 + 2*eps_i",
        gram(_LOST, _END_42, _SMOOTH),
    ),
    _unbiased(
        "eq. (42), first to last",
        "||grad_theta_i L||^2 <= 2*alpha_i^2*(L^2 + 2*lambda^2) ||dtheta||^2 + 2*eps_i",
        gram(square(_BY_THETA), _END_42, _SMOOTH),
        repaired=gram(square(_BY_THETA), _END_42, _SMOOTH, where=(above(lambda_, 2 * L),)),
        repair="lambda >= 2*L; in general (L + lambda)^2 for L^2 + 2*lambda^2",
        remark="Proposition 1 asks lambda > 2*L for a claim of its own; Theorem 2 does not.",
    ),
    _unbiased(
        "eq. (42), for all clients",
        "||grad_theta_i L||^2 <= 2*alpha_i^2*(L^2 + 2*lambda^2) ||dtheta_i||^2 + 2*eps_max",
        _over_runs(_by_theta, everybody=False, inner=2),
        repaired=_over_runs(_by_theta, everybody=True, inner=2, form=forms.by_theta),
        repair=f"{_WOULD}; and (L + lambda)^2",
        remark=_WHO,
    ),
    _unbiased(
        "eq. (43), first equality",
        "grad_w_i L = alpha_i*lambda (w_i - theta_i) + pi_i + rho (w_i - w)",
        same(
            pair_terms(theta, w_i + _away, pi, w) - pair_terms(theta, w_i, pi, w),
            dot(X * (w_i - theta) + pi + rho * (w_i - w), _away) + (X + rho) / 2 * square(_away),
        ),
        remark="What is linear in the step d by which w_i changes.",
    ),
    _unbiased(
        "eq. (43), second equality",
        "||alpha_i*lambda (w_i - theta_i) + pi_i + rho (w_i - w)||^2 = ||rho (w_i - w)||^2 by Lemma 2",
        same(square(X * (w_i - theta) + X * (theta - w_i) + rho * (w_i - w)), square(rho * (w_i - w))),
    ),
    _unbiased(
        "eq. (43), third equality",
        "rho (w_i - w) = rho (w_i - w_i^{t+1} + w_i^{t+1} - w)",
        same(square(rho * (w_i - w)), square(rho * (w_i - w_i_next + w_i_next - w))),
    ),
    _unbiased(
        "eq. (43), first inequality",
        "... <= 2*rho^2 ||w_i^t - w_i^{t+1}||^2 + 2 ||pi_i^{t+1} - pi_i^t||",
        at_most((rho * _step_1 + _dual) ** 2, 2 * rho**2 * _step_1**2 + 2 * _dual),
        repaired=at_most((rho * _step_1 + _dual) ** 2, 2 * rho**2 * _step_1**2 + 2 * _dual**2),
        repair="the last norm squared",
        remark="One dimension: step = w_i^t - w_i^{t+1}, dual = pi_i^{t+1} - pi_i^t = rho (w_i^{t+1} - w) >= 0.",
    ),
    _unbiased(
        "eq. (43), second inequality",
        "2*rho^2 ||dw_i||^2 + 2 ||pi_i^{t+1} - pi_i^t|| "
        "<= (2*rho^2 + 4*lambda^2*alpha_i^2) ||dw_i||^2 + 4*lambda^2*alpha_i^2 ||dtheta_i||^2",
        at_most(2 * rho**2 * _step_1**2 + 2 * _dual, (2 * rho**2 + 4 * X**2) * _step_1**2 + 4 * X**2 * _THETA_STEP**2),
        repaired=at_most(
            2 * rho**2 * _step_1**2 + 2 * _dual**2, (2 * rho**2 + 4 * X**2) * _step_1**2 + 4 * X**2 * _THETA_STEP**2
        ),
        repair="the last norm squared",
        remark="As above, with dual = lambda*alpha_i*(dtheta_i + step) by Lemma 2.",
    ),
    _unbiased(
        "eq. (43), first to last",
        "||grad_w_i L||^2 <= (2*rho^2 + 4*lambda^2*alpha_i^2) ||dw_i||^2 + 4*lambda^2*alpha_i^2 ||dtheta_i||^2",
        gram(square(rho * _APART), _BY_43),
        remark="Of a selected client: w_i - w by (11) and Lemma 2.",
    ),
    _unbiased(
        "eq. (43), for all clients",
        "||grad_w_i L||^2 <= (2*rho^2 + 4*lambda^2*alpha_i^2) ||dw_i||^2 + 4*lambda^2*alpha_i^2 ||dtheta_i||^2",
        _over_runs(_by_w_i, everybody=False, factor=4),
        repaired=_over_runs(_by_w_i, everybody=True, factor=4, form=forms.by_w_i),
        repair=_WOULD,
        remark=_WHO,
    ),
    _unbiased(
        "eq. (44), equality",
        "grad_pi_i L = w_i - w",
        same(pair_terms(theta, w_i, pi + _away, w) - pair_terms(theta, w_i, pi, w), dot(w_i - w, _away)),
        remark="What is linear in the step d by which pi_i changes.",
    ),
    _unbiased(
        "eq. (44), inequality",
        "||w_i - w||^2 <= (2*rho^2 + 4*lambda^2*alpha_i^2)/rho^2 ||dw_i||^2 "
        "+ 4*lambda^2*alpha_i^2/rho^2 ||dtheta_i||^2",
        _OF_44,
        remark="Of a selected client.",
    ),
    _unbiased(
        "eq. (45), first inequality",
        "(41)-(44) put into (40)",
        at_most(
            _D_THETA + _D_W + _D_PI,
            _C_THETA * _theta2 + _C_W * _w_i2 + 2 * eps,
            below(_D_THETA, _BY_42 * _theta2 + 2 * eps, "(42)"),
            below(_D_W, (2 * rho**2 + 4 * X**2) * _w_i2 + 4 * X**2 * _theta2, "(43)"),
            below(_D_PI, ((2 * rho**2 + 4 * X**2) * _w_i2 + 4 * X**2 * _theta2) / rho**2, "(44)"),
        ),
        remark="Client by client.",
    ),
    _unbiased(
        "eq. (45), second inequality",
        "... <= c_2 sum_i (||dtheta_i||^2 + ||dw_i||^2) + 2*m*eps_max",
        at_most(
            _C_THETA * _theta2 + _C_W * _w_i2 + 2 * eps,
            _C2 * (_theta2 + _w_i2) + 2 * eps_max,
            below(alpha, alpha_max),
            below(eps, eps_max),
        ),
        remark="Client by client. c_2 is the sum of two coefficients of which the larger one would do.",
    ),
    _unbiased(
        "eq. (45), of a selected client",
        "||grad_theta_i L||^2 + ||grad_w_i L||^2 + ||grad_pi_i L||^2 <= c_2 (||dtheta_i||^2 + ||dw_i||^2) + 2*eps_i",
        gram(_OF_ONE, _BY_45, _SMOOTH_STEP, where=(descends(alpha), above(rho, X, "penalty"))),
        repaired=gram(
            _OF_ONE, _BY_45, _SMOOTH_STEP, where=(descends(alpha), above(rho, X, "penalty"), above(lambda_, L))
        ),
        repair="lambda >= L, which q > 0 implies; then c_2 stands as printed",
        remark="Equal weights. residual is the gradient in (13), with ||residual||^2 = eps_i, and dg the change of "
        "grad f_i. What (42) lost is covered by 2*rho^2 + 2, which belongs to the steps of w_i, where L*alpha_i <= "
        "rho. A run in which (45) fails has one client, always selected: alpha = lambda = 1, rho = 10, L = 200, f = "
        "100*theta^2 + 401*theta, theta = 0, w_i = -1, next theta = -1, eps_i = 201^2: 161605.01 against 161012.04.",
    ),
    _unbiased(
        "eq. (45)",
        "||grad L(P^t)||^2 <= c_2 sum_i (||dtheta_i||^2 + ||dw_i||^2) + 2*m*eps_max",
        _over_runs(_by_all, everybody=False, inner=2),
        repaired=_over_runs(_by_all, everybody=True, inner=2, form=forms.of_all),
        repair=f"{_WOULD}; and q > 0",
        remark=_WHO,
    ),
    _unbiased(
        "eq. (46)",
        "E[L^{t+1} - L^t] <= E[sum_S -(..)*(||dw_i||^2 + ||dtheta_i||^2) + alpha_i^2*eps_i/q]",
        drawn(partial(_change, with_young=False), **_PRINTED_COST),
        repaired=drawn(partial(_change, with_young=True), **_YOUNG_COST, form=forms.descent),
        repair=_YOUNG_REPAIR,
        remark="Lemma 1 in the mean over the selection.",
    ),
    _unbiased(
        "eq. (47), the steps",
        "E[sum_S v_i] = s/m sum_i v_i",
        drawn(_sampled, "==", power=1, form=forms.chance),
        remark="v_i as if client i were selected, whoever is.",
    ),
    _unbiased(
        "eq. (47), the inner errors",
        "E[sum_S alpha_i^2*eps_i/q] <= s*c_0*eps_max",
        drawn(partial(_inner_errors, with_young=False), factor=Fraction(1)),
        repaired=drawn(partial(_inner_errors, with_young=True), factor=Fraction(1), form=forms.inner_errors),
        repair="q > 0",
        remark="Where all q < 0, c_0 is negative and a small eps_i has the larger term.",
    ),
    _unbiased(
        "above eq. (48)",
        "c_1 > 0",
        at_most(
            _least,
            sp.Integer(0),
            equal(_least, gain(alpha), "the least is that of some client"),
            descends(alpha),
            operator=">",
        ),
        remark="(48) divides by c_1.",
    ),
    _unbiased(
        "eq. (48), the least coefficient",
        "sum_i -(..)_i v_i <= -c_1 sum_i v_i",
        at_most(-_gain * _moved, -c_1 * _moved, above(_gain, c_1)),
        remark="Client by client.",
    ),
    _unbiased(
        "eq. (48)",
        "sum_i (||dw_i||^2 + ||dtheta_i||^2) <= m/(s*c_1) E[L^t - L^{t+1}] + m*c_0/c_1*eps_max",
        at_most(_moved, _BY_48, below(-_fall, -s / m * c_1 * _moved + s * c_0 * eps_max, "(47)")),
        remark="fall = E[L^t - L^{t+1}].",
    ),
    _unbiased(
        "eq. (49)",
        "||grad L(P^t)||^2 <= m*c_2/(s*c_1) E[L^t - L^{t+1}] + m*c_3*eps_max, c_3 = 2 + c_2*c_0/c_1",
        at_most(_grad2, _BY_49, below(_grad2, c_2 * _moved + 2 * m * eps_max, "(45)"), below(_moved, _BY_48, "(48)")),
    ),
    _unbiased(
        "eq. (50), the sum",
        "sum_{t=0}^{T-1} (L^t - L^{t+1}) = L^0 - L^{t+1}",
        drawn(partial(_falls, to_the_end=False), "==", kind=StepKind.STANDARD),
        repaired=drawn(partial(_falls, to_the_end=True), "==", kind=StepKind.STANDARD),
        repair="L^0 - L^T",
        remark="t is bound by the sum; every t < T is tried.",
    ),
    _unbiased(
        "eq. (50), the expectation",
        "||grad L(P^t)||^2 on the left without E, E[L^0 - L^T] on the right",
        drawn(partial(_telescoped, in_mean=False), "<="),
        repaired=drawn(partial(_telescoped, in_mean=True), "<="),
        repair="E on the left",
        remark="(49) is about the mean given P^t, and P^t is random from round 1 on.",
    ),
    _unbiased(
        "eq. (50), the coefficients",
        "the sum over t of (49), divided by m*T",
        same(
            (m * c_2 / (s * c_1) * (_first - _last) + T * m * _C3 * eps_max) / (m * T),
            c_2 / (c_1 * s * T) * (_first - _last) + _C3 * eps_max,
        ),
    ),
    _unbiased(
        "eq. (51)",
        "E[L^0 - L^T] <= E[L^0 - F^*] in (50)",
        at_most(
            c_2 / (c_1 * s * T) * (_first - _last) + _C3 * eps_max,
            c_2 / (c_1 * s * T) * (_first - F_star) + _C3 * eps_max,
            above(_last, F_star, "Lemma 3"),
        ),
    ),
    _unbiased(
        "Section 4.4, below Theorem 2",
        "the mean of ||grad L(P^t)||^2 over T rounds vanishes with rate 1/T, by (19)",
        at_most(c_2 / (c_1 * s * T) * _grad2 + _rest * eps_max, (c_2 / (c_1 * s) * _grad2 + _rest * eps_max) / T),
        repaired=at_most(
            c_2 / (c_1 * s * T) * _grad2 + _rest * eps_max,
            (c_2 / (c_1 * s) * _grad2 + _rest * eps_max) / T,
            equal(eps_max, sp.Integer(0), "exact inner solutions"),
        ),
        repair="with exact inner solutions, or eps_max of order 1/T",
        remark="grad2 is a bound of E[L^0 - L^T], rest stands for c_3; the right side is 1/T times the bound at T = 1. "
        "A client whose theta_i^t satisfies (13) may stay there, and its gradient with it.",
    ),
    _unbiased(
        "Section 4.4, Theorem 2, eq. (19), with exact inner solutions",
        "1/(m*T) sum_t ||grad L(P^t)||^2 <= 1/(s*T)*c_2/c_1 E[L^0 - L^T]",
        **_solved_check(biased=False),
        remark="eps_max = 0, so that neither c_0 nor the weights in it matter; the theorem's conditions allow q < 0.",
        number=40,
    ),
    _unbiased(
        "Section 4.4, Theorem 2, eq. (19)",
        "1/(m*T) sum_t ||grad L(P^t)||^2 <= 1/(s*T)*c_2/c_1 E[L^0 - L^T] + c_3*eps_max",
        _theorem_check(biased=False, with_young=False),
        repaired=_theorem_check(biased=False, with_young=True),
        repair=f"{_YOUNG_REPAIR} in c_0; and E on the left",
        remark="Two rounds at most, quadratic f_i, inner solutions with a fixed error. eps_max is the largest residual "
        "of all clients, selected or not; L^T stands where L^{t+1} is printed. The four clients with q > 0 of the "
        "counterexample to Lemma 1, all selected in one round, have 0.27 on the left and -14 on the right (L = "
        "1/1000); with 1/(4*q) in c_0 it is 2.5.",
        number=33,
    ),
    _unbiased(
        "not printed: rho is at most 1",
        "rho <= 1 where q > 0",
        forms.small_penalty(),
        remark="Of any client, times (lambda*alpha_i)^2.",
    ),
    _unbiased(
        "not printed: the inner problems are convex",
        "lambda >= L where q > 0, under the condition of Lemma 1",
        forms.convex_inner(),
        remark="Of any client, times alpha_i*(1 + rho). This is how c_2 covers what (42) has lost.",
    ),
    _unbiased(
        "not printed: eqs. (41) to (44), repaired, and (47) put into eq. (40)",
        "E||grad L(P^t)||^2 <= m*c_2/s E[sum_S (||dtheta_i||^2 + ||dw_i||^2)] + 2*m*eps_max",
        forms.all_gradients(_C2),
        remark="Client by client; chosen = E[1_i v_i].",
    ),
    _unbiased(
        "not printed: for every large rho, eqs. (41) to (44) and (47), by what steps gain",
        "E||grad L(P^t)||^2 <= m/s*ratio*E[sum_S (gain of theta_i)*||dtheta_i||^2 + (gain of w_i)*||dw_i||^2] "
        "+ 2*m*eps_max",
        forms.gradients_by_gains(sp.Integer(2)),
        remark="Client by client, with its own gains; chosen = E[1_i v_i].",
    ),
    _unbiased(
        "not printed: for every large rho, the ratio of theta_i",
        "(42)-(44) over the gain is largest for the largest weight",
        forms.largest_ratio(),
        remark="Over alpha_i^2 in (42)-(44), and over alpha_i in the gain, which is rise*alpha_i - bend*alpha_i^2.",
    ),
    _unbiased(
        "not printed: for every large rho, the ratio of w_i",
        "(43) and (44) at the largest weight over the least gain",
        forms.ratio_of_w(),
    ),
    _unbiased(
        "not printed: eq. (44), of the step that a client would make if it were selected",
        "||w_i - w||^2 <= (2*rho^2 + 4*lambda^2*alpha_i^2)/rho^2 ||dw_i||^2 "
        "+ 4*lambda^2*alpha_i^2/rho^2 ||dtheta_i||^2",
        _OF_44,
        remark="With (10), (11) and Lemma 2 for that step, of every client.",
        number=41,
    ),
)

_BIASED_STEPS: tuple[Step, ...] = (
    _biased(
        "eq. (52), first inequality",
        "||grad L(Theta^t)||^2 <= sum_i 2*alpha_i^2*(L^2 + 2*lambda^2) ||dtheta_i||^2 + 2*eps_i",
        _over_runs(_by_all_thetas, everybody=False, inner=2),
        repaired=_over_runs(_by_all_thetas, everybody=True, inner=2, form=forms.by_theta),
        repair=f"{_WOULD}; and (L + lambda)^2",
        remark=f"The equation has no printed number. {_WHO}",
    ),
    _biased(
        "eq. (52), second inequality",
        "... <= sum_i (2*alpha_i^2*(L^2 + 2*lambda^2) ||dtheta_i||^2) + 2*m*eps_max",
        at_most(
            _BY_42 * _theta2 + 2 * (_eps_before + eps),
            _BY_42 * _theta2 + 2 * m * eps_max,
            below(_eps_before, (m - 1) * eps_max, "the other clients"),
            below(eps, eps_max),
        ),
        remark="The errors of the clients before the last, and its own; of the steps it is client by client.",
    ),
    _biased(
        "eq. (53), second inequality",
        "the steps of w_i dropped",
        at_most(-gain(alpha) * (_w_i2 + _theta2), -gain(alpha) * _theta2, descends(alpha)),
        remark="The first inequality of (53) is (46).",
    ),
    _biased(
        "eq. (54), first inequality",
        "E[sum_S -(..)_i ||dtheta_i||^2] <= s*gamma/m sum_i -(..)_i ||dtheta_i||^2 by (17)",
        drawn(partial(_by_skew, each=True), "<="),
        repaired=drawn(partial(_by_skew, each=False), form=forms.own_gains),
        repair="-c_1 for the coefficients on the right, which is all that (55) needs; or equal weights",
        remark="(17) compares plain means of ||dtheta_i||^2. With unequal coefficients a selection may prefer clients "
        "that move much and weigh little.",
    ),
    _biased(
        "eq. (54), second inequality, the steps",
        "s*gamma/m sum_i -(..)_i ||dtheta_i||^2 <= s*gamma_bar/m sum_i -(..)_i ||dtheta_i||^2 by (18)",
        at_most(-s * _skew / m * _gain * _moved, -s * gamma_bar / m * _gain * _moved, above(_skew, gamma_bar, "(18)")),
        remark="One coefficient, gain; client by client otherwise.",
    ),
    _biased(
        "eq. (54), second inequality, the inner errors",
        "E[sum_S alpha_i^2*eps_i/q] <= m*c_0*eps_max",
        at_most(_errors, m * c_0 * eps_max, _BY_SELECTED, below(s, m)),
        repaired=at_most(
            _errors, m * c_0 * eps_max, _BY_SELECTED, below(s, m), above(c_0, sp.Integer(0), "Young parameters")
        ),
        repair="c_0 >= 0, that is q > 0",
        remark="errors = E[sum_S ..] has s terms of at most c_0*eps_max where eps_i = eps_max, see (47); so the m in "
        "c_4 could be s.",
    ),
    _biased(
        "eq. (55)",
        "sum_i ||dtheta_i||^2 <= m/(s*c_1*gamma_bar) E[L^t - L^{t+1}] + m^2*c_0/(s*c_1*gamma_bar)*eps_max",
        at_most(_moved, _BY_55, below(-_fall, -s * gamma_bar / m * c_1 * _moved + m * c_0 * eps_max, "(54)")),
        remark="With the least coefficient c_1, as in (48), and gamma_bar > 0.",
    ),
    _biased(
        "eq. (56), the constant",
        "2*alpha_i^2*(L^2 + 2*lambda^2) <= c_2",
        at_most(_BY_42, _C2, below(alpha, alpha_max)),
        remark="Not printed: (52) has the left side, (56) the right one.",
    ),
    _biased(
        "eq. (56)",
        "||grad L(P^t)||^2 <= m*c_2/(s*c_1*gamma_bar) E[L^t - L^{t+1}] + m*c_4*eps_max",
        at_most(
            _grad2 + _rest, _BY_56, below(_grad2, c_2 * _moved + 2 * m * eps_max, "(52)"), below(_moved, _BY_55, "(55)")
        ),
        repaired=at_most(
            _grad2, _BY_56, below(_grad2, c_2 * _moved + 2 * m * eps_max, "(52)"), below(_moved, _BY_55, "(55)")
        ),
        repair="||grad L(Theta^t)||^2, as in (20)",
        remark="grad2 = ||grad L(Theta^t)||^2, rest = ||grad L(P^t)||^2 - grad2, of which (52) says nothing.",
    ),
    _biased(
        "eq. (57), the coefficients",
        "the sum over t of (56), divided by m*T",
        same(
            (m * c_2 / (s * c_1 * gamma_bar) * (_first - _last) + T * m * _C4 * eps_max) / (m * T),
            c_2 / (c_1 * gamma_bar * s * T) * (_first - _last) + _C4 * eps_max,
        ),
        remark="L^{t+1} for L^T and the missing E as in (50).",
    ),
    _biased(
        "Section 4.4, Theorem 2, eq. (20), with exact inner solutions",
        "1/(m*T) sum_t ||grad L(Theta^t)||^2 <= 1/(s*T)*c_2/(c_1*gamma_bar) E[L^0 - L^T]",
        **_solved_check(biased=True),
        remark="As for (19). With one client the right side is negative: the Lagrangian grows.",
        number=17,
    ),
    _biased(
        "Section 4.4, Theorem 2, eq. (20)",
        "1/(m*T) sum_t ||grad L(Theta^t)||^2 <= 1/(s*T)*c_2/(c_1*gamma_bar) E[L^0 - L^T] + c_4*eps_max",
        _theorem_check(biased=True, with_young=False),
        repaired=_theorem_check(biased=True, with_young=True),
        repair=f"{_YOUNG_REPAIR} in c_0; and E on the left",
        remark="Sets drawn with fixed unequal probabilities, so that gamma_bar > 0; otherwise as for (19). The "
        "selection of Algorithm 1 has gamma_bar = 0 where it chooses at all.",
        number=14,
    ),
    _biased(
        "not printed: eqs. (52) and (54), repaired",
        "E||grad L(Theta^t)||^2 <= m*c_2/(s*gamma_bar) E[sum_S ||dtheta_i||^2] + 2*m*eps_max",
        forms.theta_gradients(flame.C2, *forms.CONVEX),
    ),
    _biased(
        "not printed: eqs. (52) and (54), repaired, for every large rho",
        "E||grad L(Theta^t)||^2 <= 2*m/(s*gamma_bar)*alpha_max^2*(L + lambda)^2 E[sum_S ||dtheta_i||^2] + 2*m*eps_max",
        forms.theta_gradients(flame.THETA_GRADIENT),
    ),
)

STEPS: tuple[Step, ...] = (*_UNBIASED_STEPS, *_BIASED_STEPS)
