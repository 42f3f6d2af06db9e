"""What step sizes a statement admits, found without the tool's own search: an oracle for `test_stepsizes_brute`.

Conditions are evaluated by SymPy's `lambdify` in extended precision. In the logarithms of the step sizes they are
convex, so that extremes over them are limits of linear programs: each cuts off where the last one broke a condition.
A statement with one step size is sampled on a grid instead, convex or not.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import sympy as sp
from scipy.optimize import linprog

from bounds.symbols import Domain, Role

REAL = np.longdouble
# Step sizes lie between e^-FRAME and e^FRAME; ends further out than FAR are none.
FRAME, FAR = math.log(1e60), math.log(1e35)
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@functools.cache
def compiled(expr):
    """A NumPy function of the free symbols, in the order of their names."""
    symbols = sorted(sp.sympify(expr).free_symbols, key=str)
    return tuple(s.name for s in symbols), sp.lambdify(symbols, expr, modules="numpy")


def value(expr, values):
    """The expression in extended precision."""
    names, function = compiled(expr)
    with np.errstate(all="ignore"):
        return REAL(1) * function(*(REAL(1) * values[name] for name in names))


def step_names(statement):
    """Parameters that are step sizes."""
    return [name for name in statement.parameters if statement.vocabulary[name].role is Role.STEP_SIZE]


def with_step_sizes(keys, get):
    """The keys of the statements that restrict step sizes."""
    found = []
    for key in keys:
        statement = get(key)
        if step_names(statement) and (statement.hypotheses or statement.step_products):
            found.append(key)
    return found


def random_constants(statement, rng, decades):
    """Constants from 10^-decades to 10^decades, counts, and what the statement's own conditions on them ask for."""
    values = {}
    for name in statement.parameters:
        quantity = statement.vocabulary[name]
        if quantity.role not in (Role.SETTING, Role.CONSTANT) or name in statement.settings:
            continue
        if quantity.domain is Domain.POSITIVE_INTEGER:
            values[name] = float(round(10 ** rng.uniform(0, 6 if name == "T" else 3)))
        else:
            values[name] = float(f"{10 ** rng.uniform(-decades, decades):.4g}")
            if quantity.domain is Domain.NONNEGATIVE and rng.random() < 0.1:
                values[name] = 0.0
    return consistent(statement, values, rng)


def consistent(statement, values, rng):
    """The same with what the vocabulary and the statement's conditions on constants ask for, mostly."""
    for smaller, larger in statement.vocabulary.ordered:
        if {smaller, larger} <= values.keys() and values[smaller] > values[larger]:
            values[smaller], values[larger] = values[larger], values[smaller]
    lows = {"beta_gh": 1.0} | ({"n": 2.0} if "P" in values else {})
    values |= {name: max(values[name], low) for name, low in lows.items() if name in values}
    values |= {name: 0.05 + 0.9 * rng.random() for name in ("share", "delta", "gamma_bar") if name in values}
    if {"lambda_", "L"} <= values.keys() and rng.random() < 0.9:
        values["L"], values["lambda_"] = sorted((values["L"], 1.5 * values["lambda_"]))
    return values


class UndecidedError(Exception):
    """Constants so far apart that the cuts do not converge."""


class Oracle:
    """The region of a statement's step sizes at given constants, some step sizes being given as well."""

    def __init__(self, statement, constants, given):
        self.statement, self.names = statement, step_names(statement)
        self.values = {
            **{
                n: statement.vocabulary[n].default
                for n in statement.parameters
                if statement.vocabulary[n].default is not None
            },
            **constants,
        }
        for name, expr in statement.settings.items():
            self.values[name] = float(value(sp.sympify(expr), self.values))
        self.rows, self.right, self.conditions, self.broken = [], [], [], False
        for p in statement.step_products:
            self.equation({p.product.name: 1, p.local.name: -1, p.outer.name: -1}, 0.0)
        for name, x in given.items():
            self.equation({name: 1}, math.log(x))
        for condition in statement.hypotheses:
            inside = condition.symbols & {*self.names}
            if not inside:
                left, right = (value(side, self.values) for side in (condition.left, condition.right))
                compare = {
                    "<=": left <= right,
                    ">=": left >= right,
                    "<": left < right,
                    ">": left > right,
                    "==": math.isclose(left, right, rel_tol=1e-12),
                }[condition.operator]
                self.broken |= not compare
            elif condition.operator == "==":
                assert condition.left.is_Symbol
                assert not {s.name for s in condition.right.free_symbols} & {*self.names}
                self.equation({condition.left.name: 1}, float(np.log(value(condition.right, self.values))))
            else:
                small, large = condition.left, condition.right
                if condition.operator in (">", ">="):
                    small, large = large, small
                self.conditions.append((small, large, condition.operator in ("<", ">")))
        self.cuts = []

    def equation(self, row, right):
        """Ask for the sum of ``row`` times the logarithms to be ``right``."""
        self.rows.append([row.get(name, 0) for name in self.names])
        self.right.append(right)

    def gap(self, condition, logs):
        """log(small/large) at logarithms of step sizes, along the last axis of ``logs``."""
        steps = {name: np.exp(REAL(1) * logs[..., k]) for k, name in enumerate(self.names)}
        small, large = (value(side, {**self.values, **steps}) for side in condition[:2])
        with np.errstate(all="ignore"):
            both = np.where((small > 0) & (large > 0), np.log(small / large), np.where(small > large, 1e3, -1e3))
        return np.broadcast_to(np.clip(both, -1e3, 1e3), logs.shape[:-1])

    def cut(self, logs):
        """Tangents of the conditions at a point; each is below its condition, which is convex."""
        h = 1e-6
        shifts = np.vstack([np.zeros(len(logs)), h * np.eye(len(logs)), -h * np.eye(len(logs))])
        for condition in self.conditions:
            gaps = self.gap(condition, logs + shifts)
            slope = ((gaps[1 : len(logs) + 1] - gaps[len(logs) + 1 :]) / (2 * h)).astype(float)
            self.cuts.append((slope, float(slope @ logs - gaps[0])))

    def least(self, objective, extra=(), box=None):
        """The point of the region with the least ``objective @ logs``; None where the region is empty."""
        size = len(self.names)
        if not self.cuts:
            self.cut(np.zeros(size))
        lows, highs = box if box is not None else ([-FRAME] * size, [FRAME] * size)
        for step in range(100):
            rows = [*self.rows, *(row for row, _ in extra)]
            right = [*self.right, *(x for _, x in extra)]
            # A variable's own unit keeps the coefficients of a cut near 1.
            a, b = ([c[0] for c in self.cuts], [c[1] for c in self.cuts]) if self.cuts else (None, None)
            for options in (TIGHT, {}):
                found = linprog(objective, A_ub=a, b_ub=b, A_eq=rows or None, b_eq=right or None,
                                bounds=list(zip(lows, highs, strict=True)), options=options)  # fmt: skip
                if found.status in (0, 2):
                    break
            if found.status == 2:
                return None
            assert found.status == 0, found.message
            if not self.conditions or max(self.gap(c, found.x) for c in self.conditions) < (
                1e-9 if step < 40 else 1e-7
            ):
                return found.x
            self.cut(found.x)
        raise UndecidedError

    def feasible(self):
        """Whether any step sizes are admissible."""
        return not self.broken and self.least(np.zeros(len(self.names))) is not None

    def ends(self, name):
        """The logarithms of the ends of the admissible interval of a step size."""
        unit = np.array([float(other == name) for other in self.names])
        return tuple(sign * self.end(sign * unit) for sign in (1, -1))

    def end(self, unit):
        """The least logarithm along a unit vector; that of the frame where an end moves with the frame."""
        found = self.least(unit)
        end = float(unit @ found)
        if np.abs(found[unit == 0]).max(initial=0.0) > FRAME - 1e-6:
            narrower = [[s * (FRAME if u else FRAME - 10) for u in unit] for s in (-1, 1)]
            inside = self.least(unit, box=narrower)
            if inside is None or float(unit @ inside) - end > 0.1:
                return -FRAME
        return end

    def attained(self, name, end, inwards):
        """Whether a finite end is taken: not by a strict condition, nor only as another step size leaves all bounds.

        In the latter case the end that is left within a box grows with the box, ever more slowly.
        """
        unit = np.array([float(other == name) for other in self.names])
        centre = []
        for k in range(len(unit)):
            along = np.eye(len(unit))[k]
            low, high = (float(along @ self.least(s * along, extra=[(unit, end + inwards)])) for s in (1, -1))
            centre.append(low if high > FAR else high if low < -FAR else (low + high) / 2)
        sign, short = (1.0 if inwards > 0 else -1.0), []
        for size in (6.0, 9.0):
            box = [[c + s * (size if o != name else 2 * FRAME) for c, o in zip(centre, self.names, strict=True)]
                   for s in (-1, 1)]  # fmt: skip
            found = self.least(sign * unit, box=box)
            short.append(math.inf if found is None else abs(float(unit @ found) - end))
        if 1e-8 < short[0] < 1e-3 and short[1] < short[0] / 50:
            return False
        found = self.least(sign * unit)
        return not any(c[2] and abs(self.gap(c, found)) < 1e-8 for c in self.conditions)

    def improvement(self, at, slope):
        """By how much a convex function with this gradient at a point could fall within a fifth of it.

        Where it cannot fall nearby it falls nowhere.
        """
        box = [[x + s / 5 if d else s * FRAME for x, d in zip(at, slope, strict=True)] for s in (-1, 1)]
        found = self.least(slope, box=box)
        return math.nan if found is None else float(slope @ (at - found))


class Line(Oracle):
    """The same where one step size is left: by sampling, without any convexity."""

    def inside(self, logs):
        """Which logarithms are admissible."""
        logs = np.asarray(logs)[..., None]
        result = np.ones(logs.shape[:-1], dtype=bool)
        for condition in self.conditions:
            gap = self.gap(condition, logs)
            result &= gap < 0 if condition[2] else gap <= 0
        for row, right in zip(self.rows, self.right, strict=True):
            result &= np.abs(row[0] * logs[..., 0] - right) < 1e-12
        return result

    @functools.cached_property
    def span(self):
        """The first and the last admissible logarithm; None where there is none."""
        grid = np.concatenate([np.linspace(-FRAME, FRAME, 60_001), self.right])
        grid.sort()
        inside = self.inside(grid)
        if self.broken or not inside.any():
            return None
        first, last = np.flatnonzero(inside)[[0, -1]]
        assert inside[first : last + 1].all()
        ends = []
        for at, beside in ((first, first - 1), (last, last + 1)):
            good = grid[at]
            if 0 <= beside < len(grid):
                bad = grid[beside]
                for _ in range(80):
                    middle = (good + bad) / 2
                    good, bad = (middle, bad) if self.inside(middle) else (good, middle)
            ends.append(float(good))
        return tuple(ends)

    def feasible(self):
        """Whether any value is admissible."""
        return self.span is not None

    def ends(self, _):
        """The logarithms of both ends."""
        return self.span

    def attained(self, _, end, __):
        """Whether no strict condition makes this end."""
        return not any(c[2] and abs(self.gap(c, np.array([end]))) < 1e-9 for c in self.conditions)


def oracle(statement, constants, given):
    """The oracle for these numbers."""
    kind = Line if len(step_names(statement)) == 1 else Oracle
    return kind(statement, constants, given)
