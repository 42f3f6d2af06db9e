"""Constants and step sizes within every relation and condition that the SimFBO paper prints for them.

What (41) claims of the coefficients has to hold where the constants are those of (13), (37) and (40), and the step
sizes meet (38) and (39) with all twelve terms. Such points are drawn here: the problem's constants first, with
mu_g <= L_1 and r_max from alpha_min <= alpha_max, then the ratios from their lower bounds on, then rho^(t)*gamma_x up
to the minimum of (39).
"""

from __future__ import annotations

import math
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw
from bounds.papers.simfbo import formulas, step_sizes
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs.form import Pairs

Point = dict[sp.Symbol, sp.Expr]

_RHO_GAMMA_X = s.gamma_x
_DELTA = {s.c_gamma_y: formulas.L_YX, s.c_gamma_v: formulas.L_VX}


def _below(number: sp.Expr) -> sp.Rational:
    """A rational number with three digits, a little below a positive one."""
    about = Fraction(str(sp.sympify(number).evalf(20))) * Fraction(999, 1000)
    scale = Fraction(10) ** (3 - math.floor(math.log10(about)))
    return sp.Rational(math.floor(about * scale)) / sp.Rational(scale)


def _value(expr: sp.Expr, point: Point) -> sp.Expr:
    return sp.sympify(expr).xreplace(point)


def drawn_constants(draw: Draw, low: int = -3, high: int = 6) -> Point:
    """An admissible point with mu_g of the order 10^low to 10^high; rho^(t)*gamma_x stands under gamma_x."""
    unit = Fraction(10) ** draw.whole(low, high)
    mu_g = unit * draw.positive()
    L_1 = mu_g * (1 + draw.rational(0, 1))
    r = draw.positive() / 10 ** draw.whole(0, 3)
    n = draw.whole(2, 100)
    P = n if draw.whole(0, 1) else draw.whole(1, n)
    numbers = {
        s.mu_g: mu_g,
        s.L_1: L_1,
        s.L_f: r * mu_g,
        s.L_2: L_1 / r * draw.positive(1) / 10 ** draw.whole(0, 3),
        s.L_3: L_1 / r**2 * draw.positive(1) / 1000,
        s.alpha_min: Fraction(1),
        s.alpha_max: Fraction(10) ** draw.whole(0, 4),
        s.n: n,
        s.P: P,
        s.beta_max: 1 if draw.whole(0, 1) else 1 + draw.rational(0, n - 1),
        s.beta_gh: 1 + draw.rational(0, 1),
        s.sigma_g: draw.positive(),
        s.sigma_gh: draw.positive(),
    }
    point: Point = {symbol: sp.Rational(Fraction(number)) for symbol, number in numbers.items()}
    for rule in step_sizes.RATIOS:
        least = 1 / _below(1 / _value(rule.value, point))
        point[rule.symbol] = least * 10 ** draw.whole(0, 6)
    cap = _below(_value(step_sizes.largest(step_sizes.TERMS), point))
    point[_RHO_GAMMA_X] = cap / draw.whole(1, 2)
    return point


def _delta(ratio: sp.Symbol) -> sp.Expr:
    """delta_t or delta_t' below (37)."""
    return _RHO_GAMMA_X * ratio * s.mu_g / 4


def _delta_1(ratio: sp.Symbol) -> sp.Expr:
    """delta_t1 or delta_t1', by the definition of delta_t below (30)."""
    return _delta(ratio) - _DELTA[ratio] * formulas.SIZE * _RHO_GAMMA_X**2 / 2


def mean_direction(draw: Draw, half: Fraction) -> Pairs:
    """The coefficient of the mean direction of x in Lemmas 7, 9 and 10, over rho^(t)*gamma_x."""
    # For f and g multiplied by a large number the terms of (39) with L_Phi^2 are the least ones.
    point = drawn_constants(draw, 4, 6)
    bent = s.n * (s.P - 1) / (s.P * (s.n - 1)) * _RHO_GAMMA_X * (formulas.L_PHI**2 / 2 + formulas.CURVATURE)
    young = formulas.K_1 * 4 * formulas.L_Y / _delta_1(s.c_gamma_y)
    young += formulas.K_2 * 4 * formulas.L_V / _delta_1(s.c_gamma_v)
    yield _value(bent + _RHO_GAMMA_X * young, point), half


def drift_of_v(draw: Draw, factor: int) -> Pairs:
    """The coefficient of the drift of v in Lemmas 7, 9 and 10 and that in (41), over rho^(t)*gamma_x."""
    point = drawn_constants(draw, 0, 4)
    sampled = s.beta_max * formulas.SAMPLING
    grown = 1 + _delta(s.c_gamma_v)
    step = formulas.K_2 * s.c_gamma_v
    left = s.L_1**2 * (
        sp.Rational(9, 2)
        + 3 * sampled * _RHO_GAMMA_X * (formulas.L_PHI**2 + 2 * formulas.CURVATURE)
        + 3 * step * grown * _RHO_GAMMA_X * s.c_gamma_v * (2 * sampled + 3)
    )
    left += step * grown * 4 * formulas.L_R**2 / s.mu_g
    first = sp.Rational(3, 2) + 24 * step + formulas.SHARE * (sp.Rational(17, 4) + 16 * step)
    right = 3 * formulas.SLOPE * first + step * factor * formulas.L_R**2 / s.mu_g
    yield _value(left, point), _value(right, point)


def noise_of_y(draw: Draw, factor: int) -> Pairs:
    """The coefficient of the noise of y in Lemmas 9 and 10 and that in (41), over (rho^(t)*gamma_x)^2 K_1."""
    yield from _of_y(draw, factor, s.sigma_g)


def heterogeneity_of_y(draw: Draw, factor: int) -> Pairs:
    """The coefficient of the heterogeneity of y in Lemmas 9 and 10 and that in (41)."""
    yield from _of_y(draw, factor, s.sigma_gh)


def _of_y(draw: Draw, factor: int, sigma: sp.Symbol) -> Pairs:
    point = drawn_constants(draw)
    size = s.c_gamma_y**2 * sigma**2
    yield _value((1 + _delta(s.c_gamma_y)) * size, point), factor * _value(size, point)
