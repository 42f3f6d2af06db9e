"""Upper bounds of the largest eigenvalue of A'A for sparse rows A, each proved for the numbers as they are stored.

With the smaller Gram matrix G of A'A and AA':

- up to `_DENSE` rows or columns the eigenvalues of G by LAPACK, as for dense tables;
- for every positive vector x, the largest entry of (|A|'|A| x)/x (Collatz and Wielandt), with x from a power iteration.
  It is sharp where no entry of A is negative, as in counts, shares and 0-1 features;
- up to `_CHOLESKY`, where that is not sharp, a Lanczos estimate t, and the proof that t (1 + 1e-8) is above: the
  Cholesky factorisation of t (1 + 1e-8) I - G in floats ends. If it does, the matrix is positive semidefinite up to its
  backward error, at most (k + 2) eps times its trace for k rows (Demmel 1989; Rump 2006), which is added, as is what
  G's own sums round;
- beyond, the square root of ||G||_F^2 less the squares of the other eigenvalues, of which Lanczos' are lower bounds, if
  that is the smaller.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ratecheck.aliases import Array

_DENSE = 400
_CHOLESKY = 3000
_ABOVE = 1e-8
_STEPS = 300
# A bound that exceeds a lower one by less is sharp.
_SHARP = 1e-6
_EPS = float(np.finfo(float).eps)


def largest_square(rows: Any) -> tuple[float, str]:
    """An upper bound of the largest eigenvalue of A'A for a CSR matrix A, and how it was found."""
    scale = float(np.abs(rows.data).max(initial=0.0))
    if scale == 0.0 or 0 in rows.shape:
        return 0.0, "no entries"
    rows = rows / scale  # squares of tiny entries would underflow
    small = min(rows.shape)
    if small <= _DENSE:
        found, how = float(np.linalg.eigvalsh(_gram(rows))[-1]), "eigenvalues"
    else:
        found, lower = _quotients(abs(rows))
        how, signed = "Collatz-Wielandt", rows.data.min() < 0.0
        if small <= _CHOLESKY and (signed or found > lower * (1 + _SHARP)):
            found, how = min((found, how), (_factored(rows), "Lanczos, proved by Cholesky"))
        elif signed:
            found, how = min((found, how), (_by_squares(rows), "Lanczos, less the squares of the rest"))
    return max(found, 0.0) * scale * scale, how


def _gram(rows: Any) -> Array:
    """The smaller one of A'A and AA'."""
    product = rows.T @ rows if rows.shape[1] <= rows.shape[0] else rows @ rows.T
    return np.asarray(product.toarray())


def _factored(rows: Any) -> float:
    import scipy.linalg
    import scipy.sparse.linalg

    gram = _gram(rows)
    size, terms = len(gram), max(rows.shape)
    estimate = float(scipy.sparse.linalg.eigsh(gram, k=1, tol=1e-10, v0=np.ones(size), return_eigenvectors=False)[0])
    trace = float(np.trace(gram))
    # Entries of G are sums of at most as many products as there are: |G - fl(G)| <= terms eps |A|'|A|, in norm at
    # most that times the trace.
    off = 2 * terms * _EPS * trace
    for above in (_ABOVE, 1e-6, 1e-4, 1e-2):
        level = estimate * (1 + above)
        shifted = -gram
        shifted[np.diag_indices(size)] += level
        try:
            scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return level + off + (size + 2) * _EPS * (size * level)
    return math.inf


def _quotients(rows: Any) -> tuple[float, float]:
    """The largest entry of (A'A x)/x for rows without negative entries, x > 0 by a power iteration, and x'A'Ax/x'x."""
    back = rows.T.tocsr()
    sums = np.asarray(rows.sum(axis=0)).ravel()
    used = sums > 0
    x, best, lower = np.where(used, sums, 1.0), math.inf, 0.0
    for _ in range(_STEPS):
        z = rows @ x
        y = back @ z
        best = min(best, float((y[used] / x[used]).max()))
        lower = max(lower, float(z @ z) / float(x[used] @ x[used]))
        if best <= lower * (1 + 0.1 * _SHARP):
            break
        # What grows slowest keeps a part of itself, so that no entry becomes 0.
        x = np.where(used, y / float(y.max()) + 1e-3 * x / float(x[used].max()), 1.0)
    # Nothing is cancelled: every sum and product is right up to its own rounding.
    return best * (1 + 4 * (max(rows.shape) + 4) * _EPS), lower


def _by_squares(rows: Any) -> float:
    """sqrt(||A'A||_F^2 - sum of the squares of the eigenvalues but the first), these from below by Lanczos."""
    import scipy.sparse.linalg

    product = rows @ rows.T if rows.shape[0] <= rows.shape[1] else rows.T @ rows
    total = float(np.square(product.data).sum()) * (1 + 1e-9)
    k = min(20, min(rows.shape) - 2)
    values, vectors = scipy.sparse.linalg.eigsh(product, k=k, tol=1e-6, v0=np.ones(product.shape[0]))
    rest = product @ vectors - vectors * values
    # Every number lies within the residual of an eigenvalue; together (Kahan) within their Frobenius norm.
    lower = np.maximum(np.sort(values)[:-1] - float(np.linalg.norm(rest)) - 1e-9 * float(values.max()), 0.0)
    return math.sqrt(max(total - float(np.square(lower).sum()), float(values.max()) ** 2))
