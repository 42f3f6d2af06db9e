"""The proximal map of a logistic client: argmin_theta f_i(theta) + (lambda/2) ||theta - w||^2 by Newton's method."""

import math

import numpy as np

from ratecheck.kernels.compile import kernel, kernel_apart

# Newton's method from w needs about six steps; the line search makes all others end.
STEPS = 60
SMALLEST = 1e-12


@kernel_apart
def logistic_prox(A, rho, lambda_, w, out, lanes):
    """Fill the first lanes of out (d, B) with the proximal map at w (d, B), for rows c_l*a_l in A (N, d).

    The objective is strongly convex (lambda > rho/2 is the caller's to check). The iteration ends when neither the
    gradient's norm nor the objective can be improved beyond rounding.
    """
    d = A.shape[1]
    theta, centre, trial, direction = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    slope, hessian = np.empty(d), np.empty((d, d))
    for lane in range(lanes):
        finite = True
        for row in range(d):
            theta[row] = centre[row] = w[row, lane]
            finite = finite and math.isfinite(w[row, lane])
        if finite:
            minimise(A, rho, lambda_, centre, theta, trial, direction, slope, hessian)
        for row in range(d):
            out[row, lane] = theta[row]


@kernel
def minimise(A, rho, lambda_, centre, theta, trial, direction, slope, hessian):
    """Newton's method from theta, in place; trial, direction, slope (d,) and hessian (d, d) are scratch."""
    d = len(theta)
    derivatives(A, rho, lambda_, centre, theta, slope, hessian)
    norm = math.sqrt(inner(slope, slope))
    for _ in range(STEPS):
        solve(hessian, slope, direction)
        before, descent = objective(A, rho, lambda_, centre, theta), inner(direction, slope)
        for row in range(d):
            trial[row] = theta[row] - direction[row]
        derivatives(A, rho, lambda_, centre, trial, slope, hessian)
        new_norm = math.sqrt(inner(slope, slope))
        # Near the minimiser the gradient tells progress, which the objective's rounding hides.
        if not new_norm <= norm / 2.0:
            if descent <= 1e-14 * (1.0 + abs(before)):
                for row in range(d):
                    theta[row] = trial[row] if new_norm < norm else theta[row]
                return
            rate = 1.0
            while objective(A, rho, lambda_, centre, trial) > before - 1e-4 * rate * descent and rate > SMALLEST:
                rate /= 2.0
                for row in range(d):
                    trial[row] = theta[row] - rate * direction[row]
            derivatives(A, rho, lambda_, centre, trial, slope, hessian)
            new_norm = math.sqrt(inner(slope, slope))
        for row in range(d):
            theta[row] = trial[row]
        norm = new_norm


# Loops and not `np.linalg.solve` and sums of arrays, which made a third of the time that all kernels take to compile.
@kernel
def inner(x, y):
    """The inner product of two vectors (d,)."""
    total = 0.0
    for row in range(len(x)):
        total += x[row] * y[row]
    return total


@kernel
def solve(matrix, right, out):
    """Fill out (d,) with the solution of matrix @ out = right (d,), for a positive definite matrix (d, d).

    By its factors L D L', which take the place of its lower triangle.
    """
    d = len(right)
    for column in range(d):
        for k in range(column):
            matrix[column, column] -= matrix[column, k] ** 2 * matrix[k, k]
        for row in range(column + 1, d):
            for k in range(column):
                matrix[row, column] -= matrix[row, k] * matrix[column, k] * matrix[k, k]
            matrix[row, column] /= matrix[column, column]
    for row in range(d):
        out[row] = right[row]
        for k in range(row):
            out[row] -= matrix[row, k] * out[k]
    for row in range(d - 1, -1, -1):
        out[row] /= matrix[row, row]
        for k in range(row + 1, d):
            out[row] -= matrix[k, row] * out[k]


@kernel
def objective(A, rho, lambda_, centre, theta):
    """f_i(theta) + (lambda/2) ||theta - centre||^2."""
    N = A.shape[0]
    loss, away = 0.0, 0.0
    for sample in range(N):
        z = inner(A[sample], theta)
        loss += (math.log1p(math.exp(-abs(z))) + max(-z, 0.0)) / N
    for row in range(len(theta)):
        away += (theta[row] - centre[row]) ** 2
    square = inner(theta, theta)
    return loss + rho * square / (1.0 + square) + lambda_ / 2.0 * away


@kernel
def derivatives(A, rho, lambda_, centre, theta, slope, hessian):
    """Fill slope (d,) and hessian (d, d) of the objective."""
    N, d = A.shape
    one_plus = 1.0 + inner(theta, theta)
    first, second = 2.0 * rho / one_plus**2, -8.0 * rho / one_plus**3
    for row in range(d):
        slope[row] = first * theta[row] + lambda_ * (theta[row] - centre[row])
        for column in range(d):
            hessian[row, column] = second * theta[row] * theta[column]
        hessian[row, row] += first + lambda_
    for sample in range(N):
        z = inner(A[sample], theta)
        e = math.exp(-abs(z))
        weight = (e if z >= 0.0 else 1.0) / (1.0 + e)
        curvature = e / (1.0 + e) ** 2
        for row in range(d):
            slope[row] -= weight * A[sample, row] / N
            for column in range(d):
                hessian[row, column] += curvature * A[sample, row] * A[sample, column] / N
