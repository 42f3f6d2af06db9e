"""Proofs of a hair more than a bound that is attained, where the face on which its proofs lie is none of fractions.

At an attained bound the matrices of a program are singular, and a solver whose equations hold up to 1e-8 proposes
nothing that is a proof of 1 + 1e-9 of it. From a proof of twice the bound, inside all of its inequalities, a barrier
method goes down to the least factor and never leaves the equations: Nesterov and Nemirovskii, "Interior-point
polynomial algorithms in convex programming" (1994), Section 3.2. Newton's steps are least-squares solutions, so that
floats suffice for matrices with eigenvalues down to 1e-12.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ratecheck.proving.program import Block, Program, balanced, certified, faces_at, meets, solve

Floats = NDArray[np.float64]
# How far inside a proof of twice the bound has to be.
_INSIDE = 1e-6
# The weight of the barrier at the end, by how much it falls at once, Newton's steps for each weight, and when to stop.
_LAST, _FALL, _STEPS, _NEAR = 1e-13, 0.2, 25, 0.1
# How much of the way to the boundary is gone, and what keeps unbounded directions from being followed.
_INTERIOR, _BOUNDED = 0.9, 1e-4
# Binary digits after the point of the fractions, and unknowns for which a step takes a tenth of a second.
_PLACES, _MOST = 2**80, 500
# Binary digits of data from which on they are taken for rounded numbers, whose faces are none of fractions.
LONG_DATA = 100


def attained(program: Program, factor: int, hair: Fraction) -> list[Fraction] | None:
    """Fractions that meet everything with ``factor`` 1 or else 1 + hair, where 1 is the least; None without any.

    The smaller the hair, the more digits it takes: beyond 1e-11 floats have too few.
    """
    inside = _inside(program, factor)
    if inside is None:
        return None
    face, y = inside
    with_a_hair = None
    for end in _Descent(face, factor, y).ends():
        y = end
        if with_a_hair is None and y[factor] <= 1 + hair:
            with_a_hair = _exact(face, {factor: 1 + hair}, y)
    if y[factor] < 1 + hair and program.digits <= LONG_DATA:
        # Now the face of the bound itself is known to more digits.
        at: dict[int, Fraction] = {factor: Fraction(1)}
        for each in faces_at(program, at, y):
            if (found := certified(each, at)) is not None:
                return found
    return with_a_hair


def _inside(program: Program, factor: int) -> tuple[Program, Floats] | None:
    """A proof of twice the bound inside everything, on a face of the program that has all of its proofs."""
    twice = {factor: Fraction(2)}
    found = solve(program, {}, twice, margins="one") if len(program.names) <= _MOST else None
    if found is None or found.margins[0] > _INSIDE:
        return None if found is None else (program, found.y)
    # What vanishes in every proof, whatever the factor is, is left out.
    for face in faces_at(program, twice, found.y):
        proposal = solve(face, {}, twice, margins="one")
        if proposal is not None and proposal.margins[0] > _INSIDE:
            return face, proposal.y
    return None


def _exact(program: Program, fixed: Mapping[int, Fraction], y: Floats) -> list[Fraction] | None:
    """Fractions near floats that meet everything."""
    found = [Fraction(round(float(value) * _PLACES), _PLACES) for value in y]
    for u, value in fixed.items():
        found[u] = value
    return found if balanced(program, found, fixed) and meets(program, found) else None


class _Descent:
    """The way down from a proof ``y`` inside all inequalities, along ``ways`` on which the equations stay."""

    def __init__(self, program: Program, factor: int, y: Floats) -> None:
        from scipy.linalg import null_space

        self.factor, self.y = factor, y.copy()
        zero, least = program.rows
        equations = np.array([_dense(row, len(y)) for row in zero]).reshape(len(zero), len(y))
        self.ways = null_space(equations) if len(zero) else np.eye(len(y))
        signed = [u for u, each in enumerate(program.signed) if each]
        self.slopes = np.vstack([*(_dense(row, len(y)) for row in least), np.eye(len(y))[signed]])
        self.offsets = np.array([float(row.get(None, 0)) for row in least] + [0.0] * len(signed))
        self.blocks = [_Definite(block, len(y), self.ways) for block in program.blocks if block.vectors]
        self.along = self.slopes @ self.ways

    def ends(self) -> Iterator[Floats]:
        """Where it is for smaller and smaller weights of the barrier."""
        weight = 1.0
        while weight > _LAST:
            weight *= _FALL
            before = self.y
            for _ in range(_STEPS):
                if (decrement := self._step(weight)) is None:
                    self.y = before
                    return
                if decrement < _NEAR:
                    break
            yield self.y

    def _step(self, weight: float) -> float | None:
        """One of Newton's steps; its length in the local norm, None where floats fail."""
        from scipy.linalg import qr, solve_triangular

        numbers = self.slopes @ self.y + self.offsets
        if numbers.min(initial=1.0) <= 0:
            return None
        try:
            parts = [each.scaled(self.y) for each in self.blocks]
        except np.linalg.LinAlgError:
            return None
        size = np.abs(self.y).max()
        rows = np.vstack([self.along / numbers[:, None], *parts, np.eye(self.ways.shape[1]) * _BOUNDED / size])
        identities = [np.ones(len(numbers)), *(each.identity for each in self.blocks)]
        ones = np.concatenate([*identities, np.zeros(self.ways.shape[1])])
        q, r = qr(rows, mode="economic")
        try:
            cost = solve_triangular(r, self.ways[self.factor] / weight, trans="T")
            whole = q.T @ ones - cost
            step = self.ways @ solve_triangular(r, whole)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        # As far as the next face, at most.
        falls = (self.slopes @ step) / numbers
        lowest = min([float(falls.min(initial=0.0)), *(each.lowest(self.y, step) for each in self.blocks)])
        decrement = float(np.linalg.norm(whole))
        length = 1.0 if decrement < _NEAR else min(1.0, _INTERIOR / -lowest if lowest < 0 else 1.0)
        self.y = self.y + length * step
        return decrement


class _Definite:
    """A matrix that has to be positive definite, affine in the unknowns."""

    def __init__(self, block: Block, count: int, ways: Floats) -> None:
        size = len(block.vectors)
        self.slopes, self.offset = np.zeros((count, size, size)), np.zeros((size, size))
        for u, entries in block.matrices.items():
            where = self.offset if u is None else self.slopes[u]
            for i, j, value in entries:
                where[i, j] += float(value)
        self.along = np.tensordot(ways.T, self.slopes, 1)
        self.identity = np.eye(size).ravel()

    def at(self, y: Floats) -> Floats:
        """The matrix."""
        return self.offset + np.tensordot(y, self.slopes, 1)

    def scaled(self, y: Floats) -> Floats:
        """L^-1 A L^-T for the slopes A along all ways, where the matrix is L L'."""
        inverse = self._inverse_root(y)
        return (inverse @ self.along @ inverse.T).reshape(len(self.along), -1).T

    def lowest(self, y: Floats, step: Floats) -> float:
        """The least eigenvalue of the step relative to the matrix."""
        inverse = self._inverse_root(y)
        return float(np.linalg.eigvalsh(inverse @ np.tensordot(step, self.slopes, 1) @ inverse.T)[0])

    def _inverse_root(self, y: Floats) -> Floats:
        """L^-1, where the matrix is L L'; raises `LinAlgError` where it is not positive definite."""
        from scipy.linalg import cholesky

        return np.asarray(np.linalg.inv(cholesky(self.at(y), lower=True)))


def _dense(row: Mapping[int | None, Fraction], count: int) -> Floats:
    found = np.zeros(count)
    for u, value in row.items():
        if u is not None:
            found[u] = float(value)
    return found
