"""Rounds of the moments of one run, which leave most entries as they are.

A run has P parts that have nothing to do with one another, such as coordinates. With A the map of a round on the
entries that change,

    C' = A C A' + N,    and bounds of the rounding: see `RoundMap` of the engine of moments.
"""

import math

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.moments.maps import count, put_added, put_columns, put_map

_EPS = float(np.finfo(np.float64).eps)


@kernel_apart
def join_added(keep, clients, added):
    """A round's map (P, a, a + 1), its error and terms, and the noise's covariance, ``off`` and ``rough`` (P, a, 1).

    See `carry_rounds` of `drawn`, whose participants' all of ``added`` is: these are the entries that change.
    """
    m, P, s = added[2].shape[:3]
    cut, c = len(keep), s - len(keep)
    a = cut + c * m
    used, places, near = np.arange(a + 1), np.arange(m), np.empty((a, a + 1), np.int64)
    put_columns(cut, c, near)
    A, wrong, terms = np.empty((P, a, a + 1)), np.empty((P, a, a + 1)), np.zeros((P, a, a + 1))
    noise, off, rough = np.empty((P, a, a)), np.zeros((P, a, 1)), np.zeros((P, a, 1))
    for p in range(P):
        put_added(places, p, cut, c, added, used, A[p], wrong[p], noise[p], off[p, :, 0], rough[p, :, 0])
        put_map(keep, clients, 0.0, near, A[p], terms[p], wrong[p])
    return A, wrong, terms, noise, off, rough


@kernel_apart
def carry_matrices(A, used, unit, moved, loose, own_off, noise, certain, covariance, off, rounding):
    """Make a round of a run in place of its matrices (P, size, size), but for what adds to the rounding.

    The map A is (P, a, a + 1) on the entries ``used``; ``moved``, ``loose`` and the noise's ``own_off`` are columns
    (P, size, 1). Where all is ``certain``, covariance and rounding stay.
    """
    P, a, width = A.shape
    told, turned = np.empty((a, off.shape[2])), np.empty((width, a))
    for p in range(P):
        follow_error(A[p], used, unit, moved[p, :, 0], loose[p, :, 0], own_off[p, :, 0], off[p], told, turned)
        if not certain:
            follow_covariance(A[p], used, unit, noise[p], covariance[p], rounding[p], told, turned)


@kernel
def follow_error(A, used, unit, moved, loose, own_off, off, told, turned):
    """Put the bound of the error after the round in the place of ``off``; the last two are scratch."""
    follow(A, used, off, told, turned)
    follow_errors(unit, moved, loose, off)
    add_majorant(1.0, own_off, off)


@kernel
def follow_covariance(A, used, unit, noise, covariance, rounding, told, turned):
    """Put the covariance after the round in the place of that before it, and its rounding so far."""
    follow(A, used, covariance, told, turned)
    for i in range(len(A)):
        for j in range(len(A)):
            covariance[used[i], used[j]] += noise[i, j]
    follow(A, used, rounding, told, turned)
    roots = np.empty(len(rounding))
    for entry in range(len(rounding)):
        roots[entry] = math.sqrt(max(rounding[entry, entry], 0.0))
    add_majorant(4 * unit * _EPS, roots, rounding)


@kernel
def follow(A, used, matrix, told, turned):
    """Put a symmetric second moment after the round in the place of that before it; the last two are scratch.

    The map is on the entries ``used``, the first of which change.
    """
    a, size = told.shape
    for i in range(a):
        for entry in range(size):
            told[i, entry] = 0.0
        for j in range(a + 1):
            factor, row = A[i, j], matrix[used[j]]
            if factor != 0.0:
                for entry in range(size):
                    told[i, entry] += factor * row[entry]
    for j in range(a + 1):
        for i in range(a):
            turned[j, i] = told[i, used[j]]
    # Row by row, which is fast; what of it is in the square is put there below.
    for i in range(a):
        row = matrix[used[i]]
        for entry in range(size):
            row[entry] = told[i, entry]
    for entry in range(size):
        row = matrix[entry]
        for i in range(a):
            row[used[i]] = told[i, entry]
    for i in range(a):
        # Of the square one half is made.
        for k in range(i + 1):
            told[i, k] = 0.0
        for j in range(a + 1):
            factor = A[i, j]
            if factor != 0.0:
                for k in range(i + 1):
                    told[i, k] += factor * turned[j, k]
        for k in range(i + 1):
            matrix[used[i], used[k]] = told[i, k]
            matrix[used[k], used[i]] = told[i, k]


@kernel
def follow_errors(unit, moved, loose, off):
    """Bound the error after the round in the place of ``off``, as `RoundMap._follow_errors` does."""
    size, ratio, many = len(moved), 0.0, count(loose)
    for entry in range(size):
        fresh, old = many * loose[entry] ** 2, off[entry, entry]
        if fresh > 0.0 and old > 0.0:
            ratio = max(ratio, old / fresh)
    a = max(math.sqrt(ratio), 1.0) if ratio < np.inf else 1.0
    diagonal = np.empty(size)
    for entry in range(size):
        diagonal[entry] = math.sqrt(max(off[entry, entry], 0.0))
    for row in range(size):
        for column in range(size):
            off[row, column] *= 1 + 1 / a
    add_majorant(1 + a, loose, off)
    add_majorant(4 * unit * _EPS, diagonal, off)
    add_majorant(2 * unit * _EPS, moved, off)


@kernel
def add_majorant(weight, numbers, matrix):
    """Add to the diagonal, with a weight, what is above every vv' with |v| at most these ``numbers``."""
    weight *= count(numbers)
    for entry in range(len(numbers)):
        matrix[entry, entry] += weight * numbers[entry] * numbers[entry]


@kernel_apart
def symmetric_forms(rows, matrices):
    """``rows M rows'`` of stacks (P, r, size) of few rows and (P, size, size) of symmetric M: one half of M is read."""
    P, r, size = rows.shape
    found, told = np.zeros((P, r, r)), np.empty((r, size))
    for p in range(P):
        told[:, :] = 0.0
        for i in range(size):
            row = matrices[p, i]
            for k in range(r):
                factor = rows[p, k, i]
                if factor != 0.0:
                    for j in range(i):
                        told[k, j] += factor * row[j]
                    # Both halves are added below.
                    told[k, i] += 0.5 * factor * row[i]
        for k in range(r):
            for other in range(r):
                for entry in range(size):
                    term = told[k, entry] * rows[p, other, entry]
                    found[p, k, other] += term
                    found[p, other, k] += term
    return found
