"""Rounds of exact moments of runs that are followed together, each with participants of its own.

A run has P parts that have nothing to do with one another, such as coordinates. The state of a part is (server,
clients, 1): ``cut`` entries, c for each client, and a constant. With A the map of a round on the entries that change,

    m' = A m,    C' = A C A' + N,    and bounds of the rounding of both: see `RoundMap` of the engine of moments.

A client's rows of A are on the server, itself and the constant, and only these are multiplied.
"""

import math

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart

_EPS = float(np.finfo(np.float64).eps)


@kernel_apart
def carry_rounds(runs, members, places, keep, clients, added, mean, covariance, off, rounding):
    """Make a round of each of the ``runs`` in place, as `KeptRound.carry` of the engine of moments does of one.

    Run runs[r] has the participants members[r] (m,), and places[r] (m,) says where among all known what they add
    stands. With s = cut + c, ``added`` are the map's B (known, P, s, s + 1) on (server, client, 1), bounds of its
    error, the noise's covariance (known, P, s, s), and the noise's ``off`` and ``rough`` (known, P, s, 1). ``keep``
    (cut, cut) is what the server keeps of itself; a sum over clients has at most as many terms as there are
    ``clients``. The mean is (all runs, P, size, 1), covariance and bounds are (all runs, P, size, size).
    """
    P, size, cut, m = mean.shape[1], mean.shape[2], len(keep), members.shape[1]
    c = added[2].shape[2] - cut
    a = cut + c * m
    # Roundings of an inner product: no row has more entries than the server's.
    unit = a + 5.0
    used, near = np.empty(a + 1, np.int64), np.empty((a, a + 1), np.int64)
    put_columns(cut, c, near)
    A, terms, wrong, noise = np.empty((a, a + 1)), np.empty((a, a + 1)), np.empty((a, a + 1)), np.empty((a, a))
    told, turned = np.empty((a, size)), np.empty((a + 1, a))
    spreads, roots, columns = np.empty((P, size)), np.empty(size), np.empty((7, size))
    before, after, moved, reach, loose, own_off, rough = columns
    for r in range(len(runs)):
        run = runs[r]
        put_entries(cut, c, members[r], size, used)
        put_roots(mean[run], covariance[run], off[run], rounding[run], spreads, roots)
        for p in range(P):
            M, C, E, R = mean[run, p], covariance[run, p], off[run, p], rounding[run, p]
            columns[:, :] = 0.0
            put_added(places[r], p, cut, c, added, used, A, wrong, noise, own_off, rough)
            put_map(keep, clients, unit + 2, near, A, terms, wrong)
            for entry in range(size):
                before[entry] = M[entry, 0]
            after[:] = before
            times(A, near, used, before, after)
            for entry in range(size):
                M[entry, 0] = after[entry]
                before[entry] = math.sqrt(max(E[entry, entry], 0.0))
            moved[:] = before
            times(terms, near, used, before, moved)
            times(wrong, near, used, roots, loose)
            reach[:] = spreads[p]
            times(terms, near, used, spreads[p], reach)
            for entry in range(size):
                rough[entry] = rough[entry] * rough[entry] + 2 * unit * reach[entry] * reach[entry]
            for i in range(a):
                rough[used[i]] += 2 * unit * noise[i, i]
            for entry in range(size):
                rough[entry] = math.sqrt(rough[entry])
            follow_error(A, used, unit, moved, loose, own_off, E, told, turned)
            follow_covariance(A, used, unit, noise, C, R, told, turned)
            add_majorant(1.0, rough, R)


@kernel_apart
def join_added(keep, clients, added):
    """A round's map (P, a, a + 1), its error and terms, and the noise's covariance, ``off`` and ``rough`` (P, a, 1).

    See `carry_rounds`, whose participants' all of ``added`` is: these are the entries that change.
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
def put_entries(cut, c, members, size, used):
    """Fill ``used`` with the entries of the server, the ``members`` in their order and the constant, the last one."""
    for entry in range(cut):
        used[entry] = entry
    for k in range(len(members)):
        for entry in range(c):
            used[cut + c * k + entry] = cut + c * members[k] + entry
    used[-1] = size - 1


@kernel
def put_columns(cut, c, near):
    """Fill ``near`` with the columns at which rows of a map may have entries, -1 after the last one."""
    near[:, :] = -1
    for i in range(len(near)):
        if i < cut:
            for j in range(near.shape[1]):
                near[i, j] = j
        else:
            for j in range(cut):
                near[i, j] = j
            for j in range(c):
                near[i, cut + j] = i - (i - cut) % c + j
            near[i, cut + c] = near.shape[1] - 1


@kernel
def put_roots(mean, covariance, off, rounding, spreads, roots):
    """Fill ``spreads`` (P, size) and ``roots`` (size,) with those of a `Moment` of P parts."""
    P, size = spreads.shape
    for entry in range(size):
        square, wrong = 0.0, 0.0
        for p in range(P):
            variance = abs(covariance[p, entry, entry]) + _EPS * max(rounding[p, entry, entry], 0.0)
            spreads[p, entry] = math.sqrt(variance)
            square += mean[p, entry, 0] * mean[p, entry, 0] + variance
            wrong += max(off[p, entry, entry], 0.0)
        roots[entry] = math.sqrt(square) + _EPS * math.sqrt(wrong)


@kernel
def put_added(places, p, cut, c, added, used, B, wrong, noise, off, rough):
    """Add up what clients add to part p: the map B and its error, and the noise, whose roots are put at ``used``."""
    s = cut + c
    B[:, :], wrong[:, :], noise[:, :] = 0.0, 0.0, 0.0
    for k in range(len(places)):
        client = places[k]
        for e in range(s):
            row = e if e < cut else e + c * k
            for f in range(s + 1):
                column = f if f < cut else (f + c * k if f < s else len(used) - 1)
                B[row, column] += added[0][client, p, e, f]
                wrong[row, column] += added[1][client, p, e, f]
                if f < s:
                    noise[row, column] += added[2][client, p, e, f]
            # The noises of clients are independent.
            off[used[row]] += added[3][client, p, e, 0] ** 2
            rough[used[row]] += added[4][client, p, e, 0] ** 2
    for i in range(len(B)):
        off[used[i]], rough[used[i]] = math.sqrt(off[used[i]]), math.sqrt(rough[used[i]])


@kernel
def put_map(keep, clients, weight, near, A, terms, wrong):
    """Make of B in ``A`` the map, and fill ``terms`` with the size of its terms.

    ``wrong`` is raised by its rounding, and by ``weight`` times the map.
    """
    cut = len(keep)
    for i in range(len(A)):
        changes = 0.0
        if i < cut:
            for j in range(cut):
                if keep[i, j] != (1.0 if i == j else 0.0):
                    changes = 4.0
        for j in near[i]:
            if j < 0:
                break
            same = 1.0 if i == j else 0.0
            if i < cut and j < cut:
                same = keep[i, j]
            more = A[i, j]
            A[i, j] = same + more
            terms[i, j] = abs(same) + abs(more)
            wrong[i, j] += changes * abs(same) + (clients + 4) * abs(more) + weight * abs(A[i, j])


@kernel
def times(matrix, near, used, numbers, out):
    """Put the product of a matrix with those of the numbers that are ``used`` in their places of ``out``."""
    for i in range(len(matrix)):
        total = 0.0
        for j in near[i]:
            if j < 0:
                break
            total += matrix[i, j] * numbers[used[j]]
        out[used[i]] = total


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
def count(numbers):
    """How many of the numbers are not 0."""
    found = 0.0
    for number in numbers:
        if number != 0.0:
            found += 1.0
    return found


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
