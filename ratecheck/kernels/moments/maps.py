"""Maps of a round on the entries that change, of what its participants add.

The state of a part, such as a coordinate, is (server, clients, 1): ``cut`` entries, c for each client, and a constant.
A client's rows of the map are on the server, itself and the constant.
"""

import math

from ratecheck.kernels.compile import kernel


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
def put_added(places, p, cut, c, added, used, B, wrong, noise, off, rough):
    """Add up what clients add to part p: the map B and its error, and the noise, whose roots are put at ``used``."""
    s = cut + c
    B[:, :], wrong[:, :], noise[: len(B), : len(B)] = 0.0, 0.0, 0.0
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
        for k in range(near.shape[1]):
            j = near[i, k]
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
        for k in range(near.shape[1]):
            j = near[i, k]
            if j < 0:
                break
            total += matrix[i, j] * numbers[used[j]]
        out[used[i]] = total


@kernel
def count(numbers):
    """How many of the numbers are not 0."""
    found = 0.0
    for number in numbers:
        if number != 0.0:
            found += 1.0
    return found
