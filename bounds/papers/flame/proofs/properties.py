"""Appendix A: Propositions 2 and 3, Lemmas 2 and 3, eqs. (21)-(30)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from bounds.ledger import draw as exact
from bounds.ledger.draw import Draw
from bounds.ledger.proof import Proof, at_most, gram, same
from bounds.ledger.step import Step, StepKind, above, below
from bounds.ledger.vectors import dot, square, vectors
from bounds.ledger.written import written
from bounds.papers.flame.proofs import forms, runs
from bounds.papers.flame.proofs.common import X, alpha, drawn, pair_terms, pi, theta_next, w, w_i_next, w_next
from bounds.papers.flame.statements import F_star, L, k, lambda_, rho

_proposition_2 = Proof("flame/proposition-2", "Appendix A, Proposition 2")
_proposition_3 = Proof("flame/proposition-3", "Appendix A, Proposition 3")
_lemma_2 = Proof("flame/lemma-2", "Appendix A, Lemma 2")
_lemma_3 = Proof("flame/lemma-3", "Appendix A, Lemma 3")

one, other = vectors("theta_1 theta_2")
a, b, c = vectors("a b c")


def _tangent(draw: Draw, *, half: Fraction) -> list[tuple[Fraction, Fraction]]:
    """(21) at both points, for f'(theta) = bends[theta >= 0]*theta - g in each of two dimensions."""
    L = draw.positive()
    bends = [(L * draw.rational(-1, 1), L * draw.rational(-1, 1)) for _ in range(2)]
    g, first, second = (draw.vector(2) for _ in range(3))

    def value(theta: tuple[Fraction, ...]) -> Fraction:
        return sum((bends[d][t >= 0] * t * t / 2 - g[d] * t for d, t in enumerate(theta)), Fraction(0))

    def gradient(theta: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        return tuple(bends[d][t >= 0] * t - g[d] for d, t in enumerate(theta))

    step = exact.plus(first, exact.times(-1, second))
    rise = value(first) - value(second)
    return [(rise - exact.dot(gradient(at), step), half * L * exact.square(step)) for at in (first, second)]


def _sum_of_vectors(draw: Draw, *, power: int) -> tuple[Fraction, Fraction]:
    """(24)."""
    size = draw.whole(1, 6)
    terms = [draw.vector(2) for _ in range(size)]
    return exact.square(exact.plus(*terms)), Fraction(size) ** power * sum(map(exact.square, terms))


# --- Lemma 2 ---

# (10) for a selected client.
_BY_10 = (X * theta_next + rho * w - pi) / (X + rho)
# (26), from it.
_BY_26 = X * theta_next + rho * w - (X + rho) * w_i_next
_PROBE = vectors("probe")[0]


def _duals(draw: Draw) -> Iterable[tuple[Fraction, Fraction]]:
    """(29) for all clients and rounds of a run; the dual variables start by (28)."""
    problem, state = runs.loose(draw, draw.whole(1, 3))
    for _ in range(3):
        yield from (
            (p, problem.lambda_ * weight * (t - v))
            for weight, t, v, p in zip(problem.alpha, state.theta, state.w_i, state.pi, strict=True)
        )
        selected = range(draw.whole(1, problem.m))
        state = runs.after(problem, state, draw.vector(problem.m), selected)


_DUALS = drawn(_duals, "==", kind=StepKind.END_TO_END, form=forms.dual_equation)


# --- Lemma 3 ---

_PI_NEXT = X * (theta_next - w_i_next)
_CROSS = X / 2 * dot(2 * theta_next - w_i_next - w_next, w_i_next - w_next)
_CLOSE = rho / 2 * square(w_i_next - w_next)
_APART = sp.Symbol("apart", nonnegative=True)
_joint, _value, _share, _before = sp.symbols("joint value share before", real=True)
_theta, _w = sp.symbols("theta w", real=True)
_h = sp.Symbol("h", real=True)
_OBJECTIVE = alpha * (_h * _theta**2 / 2 + lambda_ / 2 * (_theta - _w) ** 2)


def _least(problem: runs.ProximalClients) -> Fraction | None:
    """F^*; None where the joint objective is not bounded below. It is lambda*h/(h + lambda) w^2/2 - ... for each i."""
    lambda_ = problem.lambda_
    if any(h + lambda_ <= 0 for h in problem.h):
        return None
    clients = list(zip(problem.alpha, problem.h, problem.g, strict=True))
    bend = sum((weight * lambda_ * h / (h + lambda_) for weight, h, _ in clients), Fraction(0))
    slope = sum((weight * lambda_ * g / (h + lambda_) for weight, h, g in clients), Fraction(0))
    rest = sum((weight * g * g / (h + lambda_) for weight, h, g in clients), Fraction(0))
    return -rest / 2 - slope**2 / (2 * bend) if bend > 0 else None


def _above_optimum(draw: Draw, *, penalty: Fraction) -> list[tuple[Fraction, Fraction]] | None:
    """L^t >= F^* along a run with rho >= penalty*lambda*alpha_i; half of the starts are optimal but for w_i.

    These have two opposite clients, whose w is 0: L^0 = F^* + sum_i (rho - lambda*alpha_i)/2 w_i^2.
    """
    problem, state = runs.loose(draw, 2)
    alpha, size = max(problem.alpha), draw.positive()
    problem = replace(problem, rho=penalty * problem.lambda_ * alpha * (1 + draw.rational(0, 1)))
    if draw.index % 2:
        h, g = abs(problem.h[0]), problem.g[0]
        problem = replace(problem, alpha=(alpha, alpha), h=(h, h), g=(g, -g))
        theta = g / (h + problem.lambda_)
        state = runs.start(problem, (theta, -theta), (size, -size))
    least = _least(problem)
    if least is None or problem.rho == 0:
        return None
    found = []
    for _ in range(3):
        found.append((runs.lagrangian(problem, state), least))
        state = runs.after(problem, state, draw.vector(2), range(draw.whole(1, 2)))
    return found


STEPS: tuple[Step, ...] = (
    _proposition_2(
        "statement, eq. (21)",
        "f(theta_1) - f(theta_2) - <grad f(theta_i), theta_1 - theta_2> <= L/2 ||theta_1 - theta_2||^2, i = 1, 2",
        drawn(_tangent, kind=StepKind.STANDARD, half=Fraction(1, 2)),
        remark="Two dimensions, with gradients that are linear on either side of 0.",
    ),
    _proposition_3(
        "statement, eq. (22)",
        "2 <theta_1, theta_2> <= k ||theta_1||^2 + ||theta_2||^2/k",
        gram(2 * dot(one, other), k * square(one) + square(other) / k),
    ),
    _proposition_3(
        "statement, eq. (23)",
        "||theta_1 - theta_2||^2 <= (1 + k) ||theta_1||^2 + (1 + 1/k) ||theta_2||^2",
        gram(square(one - other), (1 + k) * square(one) + (1 + 1 / k) * square(other)),
    ),
    _proposition_3(
        "statement, eq. (24)",
        "||sum_{i=1}^m theta_i||^2 <= m sum_{i=1}^m ||theta_i||^2",
        drawn(_sum_of_vectors, kind=StepKind.STANDARD, power=1),
    ),
    _lemma_2(
        "eq. (26)",
        "pi_i^t = lambda*alpha_i*theta_i^{t+1} + rho*w^t - (lambda*alpha_i + rho)*w_i^{t+1}",
        same(dot(X * theta_next + rho * w - (X + rho) * _BY_10, _PROBE), dot(pi, _PROBE)),
        remark="From (10); tested against any vector.",
    ),
    _lemma_2(
        "eq. (27), first line to second",
        "pi_i^t + rho*(w_i^{t+1} - w^t) = lambda*alpha_i*(theta_i^{t+1} - w_i^{t+1})",
        same(dot(_BY_26 + rho * (w_i_next - w), _PROBE), dot(_PI_NEXT, _PROBE)),
        remark="With (26) for pi_i^t. Of selected clients; for the others the two sides stay as they were.",
    ),
    _lemma_2(
        "eq. (29)",
        "pi_i^t = lambda*alpha_i*(theta_i^t - w_i^t) for all t >= 0 with the start (28)",
        _DUALS,
        remark="Three rounds of Algorithm 1. The case t >= 1 of the proof is that of clients selected in round t - 1; "
        "for the others the equation stays as it was.",
    ),
    _lemma_2(
        "eq. (25)",
        "pi_i^t = lambda*alpha_i*(theta_i^t - w_i^t) for all t >= 0, with the start that the proof sets",
        _DUALS,
        remark="Line 1 of Algorithm 1 leaves pi_i^0 open, and the proof sets it, by (28). Lemmas 1 and 3 and Theorem 2 "
        "need this start too.",
    ),
    _lemma_3(
        "eq. (30), first equality to second",
        "adding and subtracting lambda*alpha_i/2 <2*theta_i - w_i - w, w_i - w>",
        same(
            pair_terms(theta_next, w_i_next, pi, w_next),
            X / 2 * square(theta_next - w_i_next) + written(_CROSS) - _CROSS + dot(pi, w_i_next - w_next) + _CLOSE,
        ),
        remark="All of round t + 1, without f_i; pi stands for pi_i^{t+1}.",
    ),
    _lemma_3(
        "below eq. (30)",
        "||a - b||^2 = ||a - c||^2 + <2*a - b - c, c - b>",
        same(square(a - b), square(a - c) + dot(2 * a - b - c, c - b)),
    ),
    _lemma_3(
        "eq. (30), second equality to third",
        "lambda*alpha_i/2 (||theta_i - w_i||^2 + <2*theta_i - w_i - w, w_i - w>) = lambda*alpha_i/2 ||theta_i - w||^2, "
        "and pi_i = lambda*alpha_i*(theta_i - w_i)",
        same(
            X / 2 * square(theta_next - w_i_next)
            + written(_CROSS)
            - _CROSS
            + dot(_PI_NEXT, w_i_next - w_next)
            + _CLOSE,
            X / 2 * square(theta_next - w_next) - _CROSS + dot(_PI_NEXT, w_i_next - w_next) + _CLOSE,
        ),
        remark="Lemma 2 put in on both sides.",
    ),
    _lemma_3(
        "eq. (30), third equality to fourth",
        "the last three terms are (rho - lambda*alpha_i)/2 ||w_i - w||^2",
        same(-_CROSS + dot(_PI_NEXT, w_i_next - w_next) + _CLOSE, (rho - X) / 2 * square(w_i_next - w_next)),
    ),
    _lemma_3(
        "eq. (30), first inequality",
        "sum_i alpha_i (f_i(theta_i) + lambda/2 ||theta_i - w||^2) + rest >= F^* + rest",
        at_most(_joint + _share, F_star + _share, above(_joint, F_star, "minimum"), operator=">="),
        remark="By the definition of F^*; joint is the objective (6) at (Theta^{t+1}, w^{t+1}).",
    ),
    _lemma_3(
        "eq. (30), the minimum F^*, and Section 4.4, below Theorem 2",
        "F^* = min (6), on which the rate 1/T of (51) rests, exists under Assumption 1 alone",
        at_most(
            _OBJECTIVE,
            sp.Integer(0),
            below(-L, _h, "smoothness"),
            below(_h, L, "smoothness"),
            above(rho, X, "penalty"),
            operator=">=",
        ),
        repaired=at_most(
            _OBJECTIVE,
            sp.Integer(0),
            above(_h, 0, "bounded below"),
            below(_h, L, "smoothness"),
            above(rho, X, "penalty"),
            operator=">=",
        ),
        repair="f_i bounded below",
        remark="One client with f = h*theta^2/2, |h| <= L: a minimum of (6) is a stationary point, where it is 0. "
        "Without one F^* is -infinity: Lemma 3 stays true, (51) says nothing, and the rate 1/T, which the text claims "
        "from Assumption 1 alone, is lost. With f = -theta and exact solutions the gradients do not vanish.",
    ),
    _lemma_3(
        "eq. (30), second inequality",
        "F^* + sum_i (rho - lambda*alpha_i)/2 ||w_i - w||^2 >= F^*",
        at_most(
            F_star + _before + (rho - X) / 2 * _APART,
            F_star,
            above(rho, X, "penalty"),
            above(_before, sp.Integer(0), "the clients before it"),
            operator=">=",
        ),
        remark="One client after the other; before is the sum over those before it.",
    ),
    _lemma_3(
        "Lemma 3 and eq. (30)",
        "L^{t+1} >= F^* when rho >= lambda*alpha_i",
        drawn(_above_optimum, ">=", kind=StepKind.END_TO_END, form=forms.above_minimum, penalty=Fraction(1)),
        remark="Three rounds with (28), with any inner solutions; instances with a finite F^*.",
    ),
    _lemma_3(
        "not printed: eq. (30) before Lemma 2 is put in",
        "L >= F^* - sum_i <lambda*alpha_i*(theta_i - w_i) - pi_i, w_i - w> when rho >= lambda*alpha_i",
        forms.any_dual(),
        remark="joint and value are the objective (6) and the Lagrangian (8) without this client's part.",
    ),
    _lemma_3(
        "not printed: Cauchy and Schwarz",
        "sum_i <lambda*alpha_i*(theta_i - w_i) - pi_i, w_i - w> "
        "<= max_i ||pi_i - lambda*alpha_i*(theta_i - w_i)|| sum_i ||w_i - w||",
        forms.paired(),
        remark="Client by client: R is the largest residual of (25), and A the distance of w_i from w.",
    ),
)
