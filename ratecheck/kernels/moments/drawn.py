"""Rounds of exact moments of runs that are followed together, each with participants of its own.

A run has P parts that have nothing to do with one another, such as coordinates. The state of a part is (server,
clients, 1): ``cut`` entries, c for each client, and a constant. With A the map of a round on the entries that change,

    m' = A m,    C' = A C A' + N,    and bounds of the rounding of both: see `RoundMap` of the engine of moments.

A client's rows of A are on the server, itself and the constant, and only these are multiplied. A run makes many rounds
before the next run does: what it is stays where a processor is fast.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ratecheck.kernels.compile import kernel, kernel_apart
from ratecheck.kernels.moments.maps import count, put_added, put_columns, put_entries, put_map, times

_Array = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
# Rows of numbers are as long as a multiple of that, so that none are left over where so many are multiplied at once.
_LANES = 16


def beside(covariance: _Array, off: _Array, rounding: _Array) -> _Array:
    """The matrices (..., size, size) of a moment beside one another, without the constant, on which they are 0.

    Row k of (..., size - 1, 3 (size - 1) and zeros) is the k-th of the covariance, of ``off`` and of ``rounding``.
    """
    parts = [each[..., :-1, :-1] for each in (covariance, off, rounding)]
    width = 3 * parts[0].shape[-1]
    found = np.zeros((*parts[0].shape[:-1], -(-width // _LANES) * _LANES))
    np.concatenate(parts, axis=-1, out=found[..., :width])
    return found


@kernel_apart
def carry_rounds(runs, members, places, keep, clients, added, mean, matrices, entries, means, found):
    """Follow each of the ``runs`` in place, as `KeptRound.carry` of the engine of moments does of one round of one.

    In round t run r has the participants members[r, t], and places[r, t] says where among all known what they add
    stands; both are -1 after the last one. With s = cut + c, ``added`` are the map's B (known, P, s, s + 1) on (server,
    client, 1), bounds of its error, the noise's covariance (known, P, s, s), and the noise's ``off`` and ``rough``
    (known, P, s, 1). Of m participants, ``keep[m]`` (cut, cut) is what the server keeps of itself; a sum over clients
    has at most as many terms as there are ``clients``. The mean is (all runs, P, size), the ``matrices`` are `beside`.

    Before each round, the moment of some ``entries`` is put into ``means`` (all runs, rounds, P, entries) and ``found``
    (all runs, rounds, 3, P, entries, entries), NaN where the run has overflowed.
    """
    P, size, cut, c = mean.shape[1], mean.shape[2], keep.shape[1], added[2].shape[2] - keep.shape[1]
    most, width = cut + c * members.shape[2], matrices.shape[3]
    used, near = np.empty(most + 1, np.int64), np.empty((most, most + 1), np.int64)
    maps, noise = np.empty((3, most, most + 1)), np.empty((most, most))
    told, across = np.empty((most, width)), np.zeros((most, -(-3 * most // _LANES) * _LANES))
    square = np.empty_like(across)
    whole = np.arange(most)
    spreads, roots, columns = np.empty((P, size)), np.empty(size), np.empty((6, size))
    before, moved, reach, loose, own_off, rough = columns
    for r in range(len(runs)):
        run = runs[r]
        for t in range(members.shape[1]):
            put_roots(mean[run], matrices[run], spreads, roots)
            tell(mean[run], matrices[run], spreads, entries, means[run, t], found[run, t])
            m = count_members(members[r, t])
            a = cut + c * m
            # Roundings of an inner product: no row has more entries than the server's.
            unit = a + 5.0
            at, here = used[: a + 1], near[:a, : a + 1]
            A, terms, wrong = maps[0, :a, : a + 1], maps[1, :a, : a + 1], maps[2, :a, : a + 1]
            put_entries(cut, c, members[r, t, :m], size, at)
            put_columns(cut, c, here)
            for p in range(P):
                M, X = mean[run, p], matrices[run, p]
                for k in range(len(columns)):
                    for entry in range(size):
                        columns[k, entry] = 0.0
                put_added(places[r, t, :m], p, cut, c, added, at, A, wrong, noise, own_off, rough)
                put_map(keep[m], clients, unit + 2, here, A, terms, wrong)
                for entry in range(size):
                    before[entry] = M[entry]
                    reach[entry] = spreads[p, entry]
                times(A, here, at, before, M)
                put_diagonal(X, 1, before)
                for entry in range(size):
                    moved[entry] = before[entry]
                times(terms, here, at, before, moved)
                times(wrong, here, at, roots, loose)
                times(terms, here, at, spreads[p], reach)
                for entry in range(size):
                    rough[entry] = rough[entry] * rough[entry] + 2 * unit * reach[entry] * reach[entry]
                for i in range(a):
                    rough[at[i]] += 2 * unit * noise[i, i]
                for entry in range(size):
                    rough[entry] = math.sqrt(rough[entry])
                follow(A, here, at, X, told, across, square, whole)
                for i in range(a):
                    for j in range(a):
                        X[at[i], at[j]] += noise[i, j]
                follow_errors(unit, moved, loose, before, X)
                add_majorant(1.0, own_off, X, 1)
                put_diagonal(X, 2, before)
                add_majorant(4 * unit * _EPS, before, X, 2)
                add_majorant(1.0, rough, X, 2)


@kernel
def count_members(members):
    """How many members stand before the first -1."""
    m = 0
    while m < len(members) and members[m] >= 0:
        m += 1
    return m


@kernel
def put_roots(mean, matrices, spreads, roots):
    """Fill ``spreads`` (P, size) and ``roots`` (size,) with those of a `Moment` of P parts."""
    P, size = spreads.shape
    spreads[:, size - 1] = 0.0
    for entry in range(size):
        square, wrong = 0.0, 0.0
        for p in range(P):
            square += mean[p, entry] * mean[p, entry]
            if entry < size - 1:
                rounding = matrices[p, entry, 2 * (size - 1) + entry]
                variance = abs(matrices[p, entry, entry]) + _EPS * max(rounding, 0.0)
                spreads[p, entry] = math.sqrt(variance)
                square += variance
                wrong += max(matrices[p, entry, size - 1 + entry], 0.0)
        roots[entry] = math.sqrt(square) + _EPS * math.sqrt(wrong)


@kernel
def tell(mean, matrices, spreads, entries, means, found):
    """Put the moment of some entries where it is told; it becomes NaN where it has overflowed."""
    P, size = mean.shape
    total = 0.0
    for p in range(P):
        for entry in range(size):
            total += mean[p, entry] + spreads[p, entry]
    if not np.isfinite(total):
        mean[:, :], matrices[:, :, :] = np.nan, np.nan
    for p in range(P):
        for i in range(len(entries)):
            means[p, i] = mean[p, entries[i]]
            for j in range(len(entries)):
                for k in range(3):
                    # A constant is known.
                    known = entries[i] == size - 1 or entries[j] == size - 1
                    found[k, p, i, j] = 0.0 if known else matrices[p, entries[i], k * (size - 1) + entries[j]]


@kernel
def put_diagonal(matrices, k, roots):
    """Fill ``roots`` with those of the diagonal of the k-th of the matrices; that of a constant is 0."""
    size = len(matrices)
    for entry in range(size):
        roots[entry] = math.sqrt(max(matrices[entry, k * size + entry], 0.0))
    roots[size] = 0.0


@kernel
def follow(A, near, used, matrices, told, across, square, whole):
    """Put symmetric second moments after the round in the place of those before it; the last ones are scratch.

    The map is on the entries ``used``, the first of which change, and a constant, which adds nothing.
    """
    a, size = len(A), len(matrices)
    put_sums(A, near, used, matrices, told)
    for j in range(a):
        for i in range(a):
            for k in range(3):
                across[j, k * a + i] = told[i, k * size + used[j]]
    for i in range(a):
        # Row by row, which is fast; what of it is in the square is put there below.
        for entry in range(told.shape[1]):
            matrices[used[i], entry] = told[i, entry]
    put_sums(A, near, whole, across, square)
    for entry in range(size):
        for i in range(a):
            for k in range(3):
                matrices[entry, k * size + used[i]] = told[i, k * size + entry]
    for i in range(a):
        # Of the square one half is taken.
        for j in range(i + 1):
            for k in range(3):
                matrices[used[i], k * size + used[j]] = square[i, k * a + j]
                matrices[used[j], k * size + used[i]] = square[i, k * a + j]


@kernel
def put_sums(A, near, used, rows, out):
    """Fill row i of ``out`` with the sum of the rows ``used``, of those columns that are ``near``, multiplied by A."""
    for i in range(len(A)):
        for entry in range(out.shape[1]):
            out[i, entry] = 0.0
        k = 0
        # The last column is that of the constant. Views of rows would be counted, which takes longer than to add them.
        while 0 <= near[i, k] < len(A):
            j0, j1, j2 = near[i, k], near[i, k + 1], near[i, k + 2] if k + 2 < near.shape[1] else -1
            a, b, c = A[i, j0], 0.0, 0.0
            one, two, three = used[j0], used[j0], used[j0]
            if 0 <= j1 < len(A):
                b, two = A[i, j1], used[j1]
                if 0 <= j2 < len(A):
                    c, three = A[i, j2], used[j2]
            for entry in range(out.shape[1]):
                some = out[i, entry] + a * rows[one, entry] + b * rows[two, entry]
                out[i, entry] = some + c * rows[three, entry]
            k += 3
            if k >= near.shape[1]:
                break


@kernel
def follow_errors(unit, moved, loose, diagonal, matrices):
    """Bound the error after the round in the place of ``off``, as `RoundMap._follow_errors` does."""
    size, ratio, many = len(matrices), 0.0, count(loose)
    for entry in range(size):
        fresh, old = many * loose[entry] ** 2, matrices[entry, size + entry]
        if fresh > 0.0 and old > 0.0:
            ratio = max(ratio, old / fresh)
    a = max(math.sqrt(ratio), 1.0) if ratio < np.inf else 1.0
    put_diagonal(matrices, 1, diagonal)
    for entry in range(size):
        for k in range(size, 2 * size):
            matrices[entry, k] *= 1 + 1 / a
    add_majorant(1 + a, loose, matrices, 1)
    add_majorant(4 * unit * _EPS, diagonal, matrices, 1)
    add_majorant(2 * unit * _EPS, moved, matrices, 1)


@kernel
def add_majorant(weight, numbers, matrices, k):
    """Add to the diagonal of the k-th, with a weight, what is above every vv' with |v| at most these ``numbers``."""
    weight *= count(numbers)
    for entry in range(len(matrices)):
        matrices[entry, k * len(matrices) + entry] += weight * numbers[entry] * numbers[entry]
