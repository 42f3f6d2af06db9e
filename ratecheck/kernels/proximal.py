"""The proximal map of a logistic client: argmin_theta f_i(theta) + (lambda/2) ||theta - w||^2 by Newton's method."""

import math

import numpy as np

from ratecheck.kernels.compile import kernel

# Newton's method from w needs about six steps; the line search makes all others end.
STEPS = 60
SMALLEST = 1e-12


@kernel
def logistic_prox(A, rho, lambda_, w, out, lanes):
    """Fill the first lanes of out (d, B) with the proximal map at w (d, B), for rows c_l*a_l in A (N, d).

    The objective is strongly convex (lambda > rho/2 is the caller's to check). The iteration ends when neither the
    gradient's norm nor the objective can be improved beyond rounding.
    """
    d = A.shape[1]
    theta, centre, trial = np.empty(d), np.empty(d), np.empty(d)
    slope, hessian = np.empty(d), np.empty((d, d))
    for lane in range(lanes):
        for row in range(d):
            centre[row] = w[row, lane]
        theta[:] = centre
        if np.isfinite(centre).all():
            minimise(A, rho, lambda_, centre, theta, trial, slope, hessian)
        for row in range(d):
            out[row, lane] = theta[row]


@kernel
def minimise(A, rho, lambda_, centre, theta, trial, slope, hessian):
    """Newton's method from theta, in place; trial, slope (d,) and hessian (d, d) are scratch."""
    derivatives(A, rho, lambda_, centre, theta, slope, hessian)
    norm = math.sqrt(np.sum(slope * slope))
    for _ in range(STEPS):
        direction = np.linalg.solve(hessian, slope)
        before, descent = objective(A, rho, lambda_, centre, theta), np.sum(direction * slope)
        trial[:] = theta - direction
        derivatives(A, rho, lambda_, centre, trial, slope, hessian)
        new_norm = math.sqrt(np.sum(slope * slope))
        # Near the minimiser the gradient tells progress, which the objective's rounding hides.
        if not new_norm <= norm / 2.0:
            if descent <= 1e-14 * (1.0 + abs(before)):
                if new_norm < norm:
                    theta[:] = trial
                return
            rate = 1.0
            while objective(A, rho, lambda_, centre, trial) > before - 1e-4 * rate * descent and rate > SMALLEST:
                rate /= 2.0
                trial[:] = theta - rate * direction
            derivatives(A, rho, lambda_, centre, trial, slope, hessian)
            new_norm = math.sqrt(np.sum(slope * slope))
        theta[:] = trial
        norm = new_norm


@kernel
def objective(A, rho, lambda_, centre, theta):
    """f_i(theta) + (lambda/2) ||theta - centre||^2."""
    N = A.shape[0]
    loss = 0.0
    for sample in range(N):
        z = np.sum(A[sample] * theta)
        loss += (math.log1p(math.exp(-abs(z))) + max(-z, 0.0)) / N
    square = np.sum(theta * theta)
    return loss + rho * square / (1.0 + square) + lambda_ / 2.0 * np.sum((theta - centre) ** 2)


@kernel
def derivatives(A, rho, lambda_, centre, theta, slope, hessian):
    """Fill slope (d,) and hessian (d, d) of the objective."""
    N, d = A.shape
    one_plus = 1.0 + np.sum(theta * theta)
    first, second = 2.0 * rho / one_plus**2, -8.0 * rho / one_plus**3
    for row in range(d):
        slope[row] = first * theta[row] + lambda_ * (theta[row] - centre[row])
        for column in range(d):
            hessian[row, column] = second * theta[row] * theta[column]
        hessian[row, row] += first + lambda_
    for sample in range(N):
        z = np.sum(A[sample] * theta)
        e = math.exp(-abs(z))
        weight = (e if z >= 0.0 else 1.0) / (1.0 + e)
        curvature = e / (1.0 + e) ** 2
        for row in range(d):
            slope[row] -= weight * A[sample, row] / N
            for column in range(d):
                hessian[row, column] += curvature * A[sample, row] * A[sample, column] / N
