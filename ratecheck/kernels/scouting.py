"""Compiled recursions of a batch of small affine runs; arrays have one instance along their first axis.

A round takes the state z, whose last entry is 1, to z' = (A + sum_j f_j F_j) z + noise, with E f_j = 0 and
E f_i f_j = w_j if i = j, else 0. With m = E z and C = cov z before the round

    m' = A m,    C' = A C A' + sum_j w_j F_j (C + m m') F_j' + Q.

A quantity is a constant plus sum_r c_r E<l_r, z><k_r, z>, its products numbered by their owner.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.kernels.compile import kernel


@kernel
def _times(A: Array, B: Array, out: Array) -> None:
    """The product A B, to ``out``; entries of A that are 0 are left out."""
    out[:] = 0.0
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            if a != 0.0:
                for j in range(B.shape[1]):
                    out[i, j] += a * B[k, j]


@kernel
def _add_congruent(A: Array, C: Array, weight: float, half: Array, out: Array) -> None:
    """The congruence weight A C A', added to ``out``."""
    _times(A, C, half)
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            if a != 0.0:
                for j in range(A.shape[0]):
                    out[j, i] += weight * half[j, k] * a


@kernel
def _move(A: Array, out: Array) -> None:
    """Out = A."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i, j] = A[i, j]


@kernel
def _add(A: Array, out: Array) -> None:
    """Out += A."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i, j] += A[i, j]


@kernel
def _then(E: Array, C: Array, half: Array, out: Array) -> None:
    """Out = (I + E) C (I + E)' of a symmetric C."""
    _times(E, C, half)
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            out[i, j] = C[i, j] + half[i, j] + half[j, i]
    for i in range(C.shape[0]):
        for k in range(C.shape[0]):
            e = E[i, k]
            if e != 0.0:
                for j in range(C.shape[0]):
                    out[j, i] += half[j, k] * e


@kernel
def repeated(change: Array, noise: Array, counts: NDArray[np.int64]) -> None:
    """K-fold maps I + E with noise of covariance M, in place: E (N, l, l), M (N, l, l) and K (N,).

    Changes are composed, E_2 after E_1 being E_1 + E_2 + E_2 E_1, so that a small E loses no digits.
    """
    size = change.shape[1]
    E, M = np.empty((size, size)), np.empty((size, size))
    total, spread = np.empty((size, size)), np.empty((size, size))
    half, more = np.empty((size, size)), np.empty((size, size))
    for b in range(len(change)):
        _move(change[b], E)
        _move(noise[b], M)
        total[:] = 0.0
        spread[:] = 0.0
        left = counts[b]
        while left > 0:
            if left & 1:
                # The part comes after the total: S' = (I + E) S (I + E)' + M.
                _then(E, spread, half, more)
                _move(more, spread)
                _add(M, spread)
                _times(E, total, half)
                _add(E, half)
                _add(half, total)
            left >>= 1
            if left > 0:
                _then(E, M, half, more)
                _add(more, M)
                _times(E, E, half)
                _add(E, half)
                _add(half, E)
        _move(total, change[b])
        _move(spread, noise[b])


@kernel
def _quantities(
    m: Array, C: Array, left: Array, right: Array, factor: Array, owner: NDArray[np.int64], forms: Array, out: Array
) -> None:
    """The quantities less their constants, added to ``out``."""
    for r in range(len(left)):
        a = b = 0.0
        for k in range(len(m)):
            a += left[r, k] * m[k]
            b += right[r, k] * m[k]
        out[owner[r]] += factor[r] * a * b
    for q in range(len(out)):
        total = 0.0
        for i in range(len(m)):
            for j in range(len(m)):
                total += forms[q, i, j] * C[i, j]
        out[q] += total


@kernel
def _rows(F: Array, rows: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """The rows of each of the maps F (J, D, D) that are not 0, ``rows`` (J, D), and how many they are."""
    for j in range(len(F)):
        counts[j] = 0
        for i in range(F.shape[1]):
            for k in range(F.shape[2]):
                if F[j, i, k] != 0.0:
                    rows[j, counts[j]] = i
                    counts[j] += 1
                    break


@kernel
def _after(
    A: Array, F: Array, w: Array, Q: Array, rows: NDArray[np.int64], counts: NDArray[np.int64], m: Array, C: Array,
    half: Array, more: Array,
) -> None:  # fmt: skip
    """One round, in place; ``rows`` and ``counts`` are those of `_rows`."""
    size = len(m)
    moved = np.empty(size)
    _move(Q, more)
    _add_congruent(A, C, 1.0, half, more)
    for j in range(len(w)):
        if w[j] == 0.0:
            continue
        for r in range(counts[j]):
            i = rows[j, r]
            moved[r], half[r] = 0.0, 0.0
            for k in range(size):
                x = F[j, i, k]
                if x != 0.0:
                    moved[r] += x * m[k]
                    for q in range(size):
                        half[r, q] += x * C[k, q]
        for s in range(counts[j]):
            i = rows[j, s]
            for r in range(counts[j]):
                more[rows[j, r], i] += w[j] * moved[r] * moved[s]
            for k in range(size):
                x = w[j] * F[j, i, k]
                if x != 0.0:
                    for r in range(counts[j]):
                        more[rows[j, r], i] += half[r, k] * x
    _move(more, C)
    new = np.zeros(size)
    for i in range(size):
        for k in range(size):
            new[i] += A[i, k] * m[k]
    for i in range(size):
        m[i] = new[i]


@kernel
def rounds(
    A: Array, F: Array, w: Array, Q: Array, which: NDArray[np.int64], m: Array, C: Array, left: Array, right: Array,
    factor: Array, owner: NDArray[np.int64], constant: Array, T: NDArray[np.int64], out: Array,
) -> None:  # fmt: skip
    """Quantities before each round, ``out`` (N, quantities, rounds).

    Round maps are A (N, maps, D, D), F (N, maps, J, D, D), w (N, maps, J) and Q (N, maps, D, D); ``which`` (N, rounds)
    is the map of each round. ``left`` and ``right`` are (N, R, D), ``factor`` (N, R), ``constant`` (N, quantities);
    m (N, D) and C (N, D, D) are the start, and T (N,) the rounds.
    """
    size, count = m.shape[1], constant.shape[1]
    half, more, forms = np.empty((size, size)), np.empty((size, size)), np.empty((count, size, size))
    now = np.empty(count)
    rows, counts = np.empty((F.shape[1], F.shape[2], size), dtype=np.int64), np.empty(F.shape[1:3], dtype=np.int64)
    for b in range(len(m)):
        for k in range(F.shape[1]):
            _rows(F[b, k], rows[k], counts[k])
        forms[:] = 0.0
        for r in range(left.shape[1]):
            for i in range(size):
                x = factor[b, r] * left[b, r, i]
                if x != 0.0:
                    for j in range(size):
                        forms[owner[r], i, j] += x * right[b, r, j]
        mean, covariance = m[b].copy(), C[b].copy()
        for t in range(T[b]):
            for q in range(count):
                now[q] = constant[b, q]
            _quantities(mean, covariance, left[b], right[b], factor[b], owner, forms, now)
            for q in range(count):
                out[b, q, t] = now[q]
            k = which[b, t]
            if t + 1 < T[b]:
                _after(A[b, k], F[b, k], w[b, k], Q[b, k], rows[k], counts[k], mean, covariance, half, more)


@kernel
def means(
    A: Array, F: Array, w: Array, Q: Array, pairs: NDArray[np.int64], place: NDArray[np.int64], m: Array, C: Array,
    left: Array, right: Array, factor: Array, owner: NDArray[np.int64], constant: Array, T: NDArray[np.int64],
    out: Array,
) -> None:  # fmt: skip
    """Means of the quantities over T rounds that are alike, ``out`` (N, quantities), at a cost of log T.

    ``pairs`` (v, 2) are the entries of the second moment E z z' of which the quantities are made, now and in later
    rounds, and ``place`` (D, D) says which of them an entry equals; the last pair is (D - 1, D - 1), whose moment is 1.
    Arrays are those of `rounds` with one map.
    """
    size, v, count = m.shape[1], len(pairs), constant.shape[1]
    P, square = np.empty((v, v)), np.empty((v, v))
    rows, moved, state, new = np.empty((count, v)), np.empty((count, v)), np.empty(v), np.empty(v)
    for b in range(len(m)):
        P[:], rows[:] = 0.0, 0.0
        for p in range(v):
            i, j = pairs[p]
            state[p] = m[b, i] * m[b, j] + C[b, i, j]
            for part in range(-1, w.shape[1]):
                B = A[b] if part < 0 else F[b, part]
                share = 1.0 if part < 0 else w[b, part]
                if share == 0.0:
                    continue
                for k in range(size):
                    if B[i, k] == 0.0:
                        continue
                    for q in range(size):
                        if B[j, q] != 0.0:
                            P[p, place[k, q]] += share * B[i, k] * B[j, q]
            P[p, v - 1] += Q[b, i, j]
        for r in range(left.shape[1]):
            for i in range(size):
                x = factor[b, r] * left[b, r, i]
                if x == 0.0:
                    continue
                for j in range(size):
                    if right[b, r, j] != 0.0:
                        rows[owner[r], place[i, j]] += x * right[b, r, j]
        out[b] = 0.0
        rest = T[b]
        while rest > 0:
            if rest & 1:
                for q in range(count):
                    for p in range(v):
                        out[b, q] += rows[q, p] * state[p]
                new[:] = 0.0
                for p in range(v):
                    for s in range(v):
                        if P[p, s] != 0.0:
                            new[p] += P[p, s] * state[s]
                state[:] = new
            rest >>= 1
            if rest > 0:
                _times(rows, P, moved)
                rows += moved
                _times(P, P, square)
                P[:] = square
        out[b] = constant[b] + out[b] / T[b]


@kernel
def _bent_gradient(kinks: Array, curvatures: Array, slope: float, x: float) -> tuple[float, float]:
    """Derivative and value at x of the function with these pieces that is 0 at 0."""
    gradient, value = slope, slope * x
    for j in range(len(curvatures)):
        low = kinks[j - 1] if j > 0 else -np.inf
        high = kinks[j] if j < len(kinks) else np.inf
        there, origin = min(max(x, low), high), min(max(0.0, low), high)
        gradient += curvatures[j] * (there - origin)
        value += curvatures[j] * (there * x - there * there / 2 + origin * origin / 2 - x * origin)
    return gradient, value


@kernel
def bent_rounds(
    begin: Array, own: Array, pull: Array, still: Array, load: Array, keep: Array, send: Array, first: int,
    which: NDArray[np.int64], place: NDArray[np.int64], kinks: Array, curvatures: Array, slopes: Array,
    steps: NDArray[np.int64], start: Array, left: Array, right: Array, factor: Array, owner: NDArray[np.int64],
    constant: Array, T: NDArray[np.int64], out: Array,
) -> None:  # fmt: skip
    """Quantities before each round of runs on piecewise quadratics of one variable, ``out`` (N, quantities, rounds).

    The state is (server, client 1, ..., client n, gradients (n), values (n), 1), ``start`` (N, D) before round 0, with
    gradients and values at the entries ``place`` (n,). All clients take part; a round of client i is local <- ``begin``
    (server, client), K times local <- ``own`` local + ``pull`` g(local[first]), (client, message) <- ``still`` (server,
    client) + ``load`` local. Arrays have the axes (maps, n, ...), those of the server's step (maps, ...); ``which``
    (N, rounds) is the map of each round.
    """
    N, n = steps.shape
    S, L = keep.shape[1], own.shape[2]
    C = begin.shape[3] - S
    M = still.shape[2] - C
    D = start.shape[1]
    inputs, local, new, total = np.empty(S + C), np.empty(L), np.empty(L), np.empty(M)
    for b in range(N):
        z = start[b].copy()
        for t in range(T[b]):
            for i in range(n):
                gradient, value = _bent_gradient(kinks[b, i], curvatures[b, i], slopes[b, i], z[place[i]])
                z[D - 1 - 2 * n + i], z[D - 1 - n + i] = gradient, value
            for q in range(constant.shape[1]):
                out[b, q, t] = constant[b, q]
            for r in range(left.shape[1]):
                x = y = 0.0
                for k in range(D):
                    x += left[b, r, k] * z[k]
                    y += right[b, r, k] * z[k]
                out[b, owner[r], t] += factor[b, r] * x * y
            if t + 1 == T[b]:
                break
            total[:] = 0.0
            a = which[b, t]
            for i in range(n):
                inputs[:S] = z[:S]
                inputs[S:] = z[S + i * C : S + (i + 1) * C]
                for p in range(L):
                    local[p] = 0.0
                    for k in range(S + C):
                        local[p] += begin[a, i, p, k] * inputs[k]
                for _ in range(steps[b, i]):
                    gradient, _value = _bent_gradient(kinks[b, i], curvatures[b, i], slopes[b, i], local[first])
                    for p in range(L):
                        new[p] = pull[a, i, p] * gradient
                        for k in range(L):
                            new[p] += own[a, i, p, k] * local[k]
                    local[:] = new
                for p in range(C + M):
                    x = 0.0
                    for k in range(S + C):
                        x += still[a, i, p, k] * inputs[k]
                    for k in range(L):
                        x += load[a, i, p, k] * local[k]
                    if p < C:
                        z[S + i * C + p] = x
                    else:
                        total[p - C] += x
            inputs[:S] = z[:S]
            for p in range(S):
                x = 0.0
                for k in range(S):
                    x += keep[a, p, k] * inputs[k]
                for k in range(M):
                    x += send[a, p, k] * total[k]
                z[p] = x


@kernel
def _affine(A: Array, x: Array, out: Array) -> None:
    """The product A x, added to ``out``."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            out[i] += A[i, k] * x[k]


@kernel
def level_rounds(
    begin: Array, own: Array, pull: Array, still: Array, load: Array, keep: Array, send: Array,
    first: NDArray[np.int64], M: Array, c: Array, bend: Array, shift: Array, kinds: NDArray[np.int64],
    drawn: NDArray[np.bool_], sets: NDArray[np.bool_], ball: NDArray[np.int64], radius: Array, Q: Array, q: Array,
    noise: Array, steps: NDArray[np.int64], start: Array, left: Array, right: Array, owner: NDArray[np.int64],
    T: NDArray[np.int64], projected: bool, out: Array, steepest: Array,
) -> None:  # fmt: skip
    """Mean quantities before each round over all outcomes of samples, and the largest |Q_i y - q_i|^2 visited.

    ``out`` is (N, quantities, rounds), ``steepest`` (N,). Clients keep nothing; a round of client i is local <-
    ``begin`` server, ``steps`` times local <- ``own`` local + ``pull`` a, message <- ``still`` server + ``load`` local,
    with the answer a = M z - c + s (bend z + shift) at z = local[``first``]. Row k of it has the sign s of its kind
    ``kinds`` (k,), which is 1 or -1 with probability 1/2 where ``drawn`` (N, kinds). The server is then ``keep`` server
    + ``send`` (sum of messages) of one of ``sets`` (sets, n), all as likely, whose entries from ball[0] to ball[1] are
    projected on the ball of ``radius``; results are NaN where that acts and it is not ``projected``. Clients that are
    not there make local steps, too. y are the first entries of z, and ``noise`` is added to the slope with either sign.
    Quantities are sums of products of the rows ``left`` and ``right`` on (server, 1).
    """
    N, n, L, S = begin.shape
    D, J = len(first), Q.shape[2]
    local, z, answer, rough, new = np.empty(L), np.empty(D), np.empty(D), np.empty(D), np.empty(L)
    server, message, total, moved = np.empty(S), np.empty(send.shape[2]), np.empty(send.shape[2]), np.empty(S)
    slope, place = np.empty(J), np.empty(drawn.shape[1], dtype=np.int64)
    for b in range(N):
        count = 0
        for kind in range(drawn.shape[1]):
            place[kind] = count
            count += 1 if drawn[b, kind] else 0
        signs = 2 ** (n * steps[b] * count)
        each = signs * len(sets)
        # What the last round draws moves no record, but visits points; its set of clients does neither.
        outcomes = each ** (T[b] - 1) * signs if T[b] > 0 else 1
        share, known = 1.0 / outcomes, True
        out[b, :, : T[b]] = 0.0
        steepest[b] = 0.0
        for outcome in range(outcomes):
            server[:] = start[b]
            rest = outcome
            for t in range(T[b]):
                for r in range(left.shape[1]):
                    x = left[b, r, S]
                    y = right[b, r, S]
                    for k in range(S):
                        x += left[b, r, k] * server[k]
                        y += right[b, r, k] * server[k]
                    out[b, owner[r], t] += share * x * y
                bits = rest % signs
                rest //= signs
                group = rest % len(sets)
                if t + 1 < T[b]:
                    rest //= len(sets)
                total[:] = 0.0
                for i in range(n):
                    local[:] = 0.0
                    _affine(begin[b, i], server, local)
                    for step in range(steps[b]):
                        for k in range(D):
                            z[k] = local[first[k]]
                        for side in (-1.0, 1.0):
                            for k in range(J):
                                slope[k] = side * noise[b, i, k] - q[b, i, k]
                            _affine(Q[b, i], z, slope)
                            square = 0.0
                            for k in range(J):
                                square += slope[k] * slope[k]
                            if not square <= steepest[b]:
                                steepest[b] = square
                        answer[:] = -c[b, i]
                        _affine(M[b, i], z, answer)
                        if count:
                            rough[:] = shift[b, i]
                            _affine(bend[b, i], z, rough)
                            for k in range(D):
                                if drawn[b, kinds[k]]:
                                    bit = (i * steps[b] + step) * count + place[kinds[k]]
                                    answer[k] += (1.0 - 2.0 * ((bits >> bit) & 1)) * rough[k]
                        new[:] = 0.0
                        _affine(own[b, i], local, new)
                        _affine(pull[b, i], answer, new)
                        local[:] = new
                    if sets[group, i]:
                        message[:] = 0.0
                        _affine(still[b, i], server, message)
                        _affine(load[b, i], local, message)
                        total += message
                moved[:] = 0.0
                _affine(keep[b], server, moved)
                _affine(send[b], total, moved)
                server[:] = moved
                length = 0.0
                for k in range(ball[0], ball[1]):
                    length += server[k] * server[k]
                length = np.sqrt(length)
                if length > radius[b] and t + 1 < T[b]:
                    for k in range(ball[0], ball[1]):
                        server[k] *= radius[b] / length
                    known = known and projected
        if not known:
            out[b] = np.nan
            steepest[b] = np.nan
