"""Theorems 1 and 2 themselves, on runs of up to three rounds: every sample enumerated, the noises exact.

The clients' g_i differ in b_i alone, so that beta_gh = 1 and sigma_gh^2 is the variance of b_i; Phi_w is convex with a
least value. The radius r belongs to a bound L_f on the gradients that is guessed; where a run leaves the ball, or the
bound, the instance is passed over.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import sympy as sp

import bounds
from bounds.ledger.draw import Draw, NoisyRational, Rational, expect_square, mean
from bounds.ledger.proof import Proof
from bounds.ledger.step import StepKind
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs.form import Pairs, drawn
from bounds.papers.simfbo.proofs.rounds import BilevelClient, BilevelRound, X, Y, weights
from bounds.statement import Statement

_GUESS = 4


def _start(draw: Draw) -> BilevelRound:
    """The first round, with step sizes still to be chosen."""
    n = draw.whole(2, 3)
    m, a, u = draw.positive(), draw.rational(), draw.rational(0, 1)
    clients = []
    for _ in range(n):
        p, s_, q = draw.positive(), draw.positive(), draw.rational(Fraction(-1, 12), Fraction(1, 12))
        b, c, e = draw.vector(3)
        steps = tuple(draw.positive(2) for _ in range(draw.whole(1, 2)))
        clients.append(BilevelClient(m, a, b, p, q, s_, c, e, steps=steps))
    return BilevelRound(
        clients=tuple(clients),
        w=weights(draw, n),
        P=draw.whole(1, n),
        start=(draw.rational(), draw.rational(), draw.rational()),
        eta=(Fraction(0),) * 3,
        # The noise of a whole gradient of f_i has variance (5u)^2.
        sigma=(3 * u, u, 4 * u),
    )


def _least(run: BilevelRound) -> Fraction | None:
    """The least value of Phi_w, if its curvature is positive."""
    # Phi_w is quadratic: three values say what it is.
    low, middle, high = (run.phi(NoisyRational(Fraction(x))) for x in (-1, 0, 1))
    curvature, slope = low + high - 2 * middle, (high - low) / 2
    return middle - slope**2 / (2 * curvature) if curvature > 0 else None


def _constants(run: BilevelRound, T: int, rho: Fraction) -> dict[sp.Symbol, sp.Expr]:
    """The constants of the theorem but for L_f, the step sizes and the initial gap."""
    shares = zip(run.w, run.clients, strict=True)
    spread = sum((w * (client.b - run.average("b")) ** 2 for w, client in shares), Fraction(0))
    norms = [client.norm for client in run.clients]
    values: dict[sp.Symbol, Rational | sp.Expr] = {
        s.n: run.n,
        s.P: run.P,
        s.T: T,
        s.L_1: run.L_1,
        s.L_2: 0,
        s.L_3: 0,
        s.mu_g: run.mu_g,
        s.alpha_max: run.alpha_max,
        s.alpha_min: run.alpha_min,
        s.beta_max: run.beta_max,
        s.tau_bar: run.tau_bar,
        s.c_a: run.c_a,
        s.c_a_prime: min(norms) / (run.tau_bar * run.alpha_min),
        s.rho: rho,
        s.rho_bar: rho,
        s.sigma_f: 5 * run.sigma[Y],
        s.sigma_g: run.sigma[Y],
        s.sigma_gg: 0,
        s.sigma_gh: sp.sqrt(sp.Rational(spread)),
        s.beta_gh: 1,
    }
    return {symbol: sp.sympify(value) for symbol, value in values.items()}


def _value(expr: sp.Expr, values: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    return sp.sympify(expr).xreplace(values)


def _below(expr: sp.Expr) -> Fraction:
    """A fraction little below a positive number."""
    number = Fraction(str(expr.evalf(15))) * Fraction(999, 1000)
    scale = 10 ** (3 - math.floor(math.log10(number)))
    return Fraction(math.floor(number * scale), scale)


def _steps(draw: Draw, statement: Statement, values: dict[sp.Symbol, sp.Expr]) -> None:
    """Ratios and step sizes within the rules and conditions of a statement, added to the values."""
    for rule in statement.step_rules:
        if rule.symbol in (s.c_gamma_y, s.c_gamma_v):
            values[rule.symbol] = sp.Rational(1 / _below(1 / _value(rule.value, values))) * draw.whole(1, 2)
    for rule in statement.step_rules:
        if rule.symbol not in values:
            values[rule.symbol] = sp.Rational(_below(_value(rule.value, values)) / draw.whole(1, 4))


def after(run: BilevelRound, chosen: tuple[int, ...], steps: tuple[Fraction, ...]) -> BilevelRound:
    """The next round where ``chosen`` are sampled; ``steps`` are rho times gamma_x, gamma_y and gamma_v."""
    x, y, v = (at - step * run.sampled(chosen, k) for k, (at, step) in enumerate(zip(run.origin, steps, strict=True)))
    return replace(run, start=(x, y, v), t=run.t + 1)


def theorem(draw: Draw, statement: Statement, *, normalised: bool) -> tuple[Fraction, dict[str, sp.Expr]] | None:
    """The mean of E||grad Phi_w||^2 over the rounds, and the terms of the bound; None outside of the assumptions."""
    run, T = _start(draw), draw.whole(1, 3)
    least = _least(run)
    norms = [client.norm for client in run.clients]
    # p_i is in proportion to w_i/|a_i|_1; in ShroFBO it is w_i.
    shares = list(zip(run.w, norms, strict=True))
    rho = sum((w * norm for w, norm in shares), Fraction(0)) if normalised else 1 / sum(w / norm for w, norm in shares)
    if least is None:
        return None
    values = _constants(run, T, Fraction(rho))
    values[s.L_f] = sp.Rational(_GUESS * max(run.L_f, Fraction(1, 10)))
    _steps(draw, statement, values)
    eta_x, eta_y, eta_v = (Fraction(int(values[e].p), int(values[e].q)) for e in (s.eta_x, s.eta_y, s.eta_v))
    gamma = values[s.gamma_x]
    ratios = (sp.Integer(1), values[s.c_gamma_y], values[s.c_gamma_v])
    moves = tuple(Fraction(str(values[s.rho] * gamma * ratio)) for ratio in ratios)
    first = replace(run, eta=(eta_x, eta_y, eta_v))
    levels: list[tuple[BilevelRound, ...]] = [(first,)]
    for _ in range(T - 1):
        levels.append(tuple(after(one, chosen, moves) for one in levels[-1] for chosen in one.samples))
    if any(one.L_f > Fraction(str(values[s.L_f])) for level in levels for one in level):
        return None
    gap = run.phi(run.origin[X]) - least
    values[s.psi_gap] = (
        sp.Rational(gap) + _value(formulas.K_1, values) * run.gap_y + _value(formulas.K_2, values) * run.gap_v
    )
    left = mean(mean(expect_square(one.gradient) for one in level) for level in levels)
    [claim] = statement.claims
    return left, {name: _value(term, values) for name, term in claim.terms.items()}


def _bounded(draw: Draw, key: str, *, normalised: bool = False) -> Pairs:
    found = theorem(draw, bounds.get(f"simfbo/{key}"), normalised=normalised)
    if found is not None:
        left, terms = found
        yield left, sp.Add(*terms.values())


_one, _two = Proof("simfbo/theorem-1", first=39), Proof("simfbo/theorem-2")
_CLAIM = "(1/T) sum_t E||grad Phi_w(x^t)||^2 <= (46) with (48), (50), (52) and (53)"
_FAR = (
    "The bound is 10^9 times the left side and more: its constants are of no account here, only that the theorem does "
    "not fail."
)

STEPS = (
    _one(
        "Theorem 1, with the constants of its proof",
        f"{_CLAIM}, for step sizes within (38) and (39)",
        drawn(lambda draw: _bounded(draw, "theorem-1"), kind=StepKind.END_TO_END, count=20),
        remark=f"The printed orders with the constants of simfbo/theorem-1. {_FAR}",
    ),
    _one(
        "Theorem 1, not printed: the repaired theorem",
        f"{_CLAIM}, for the repaired constants and step sizes",
        drawn(lambda draw: _bounded(draw, "theorem-1-repaired"), kind=StepKind.END_TO_END, count=20),
        remark=_FAR,
    ),
    _two(
        "Theorem 2, with the constants of Theorem 1",
        f"{_CLAIM}, Phi in place of Phi_w, for w_i = p_i",
        drawn(lambda draw: _bounded(draw, "theorem-2", normalised=True), kind=StepKind.END_TO_END, count=20),
        remark=_FAR,
    ),
    _two(
        "Theorem 2, not printed: the repaired theorem",
        f"{_CLAIM}, Phi in place of Phi_w, for w_i = p_i and the repaired constants and step sizes",
        drawn(lambda draw: _bounded(draw, "theorem-2-repaired", normalised=True), kind=StepKind.END_TO_END, count=20),
        remark=_FAR,
    ),
)
