"""The proximal map of a logistic client: argmin_theta f_i(theta) + (lambda/2) ||theta - w||^2 by Newton's method."""

import math

import numpy as np

from ratecheck.kernels.compile import kernel

# Newton's method from w needs about six steps; the line search makes all others end.
STEPS = 60
HALVINGS = 40


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
    size = derivatives(A, rho, lambda_, centre, theta, slope, hessian)
    for _ in range(STEPS):
        norm = math.sqrt(np.sum(slope * slope))
        if norm <= 1e-15 * size:
            return
        direction = np.linalg.solve(hessian, slope)
        descent = np.sum(direction * slope)
        before = objective(A, rho, lambda_, centre, theta)
        rate, halvings = 1.0, 0
        trial[:] = theta - direction
        while objective(A, rho, lambda_, centre, trial) > before - 1e-4 * rate * descent and halvings < HALVINGS:
            rate, halvings = rate / 2.0, halvings + 1
            trial[:] = theta - rate * direction
        stuck = halvings == HALVINGS
        if stuck:
            # No decrease beyond rounding: full steps as long as they make the gradient smaller.
            trial[:] = theta - direction
        size = derivatives(A, rho, lambda_, centre, trial, slope, hessian)
        if stuck and math.sqrt(np.sum(slope * slope)) >= norm:
            return
        theta[:] = trial


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
    """Fill slope (d,) and hessian (d, d) of the objective; returns the size of the slope's summands."""
    N, d = A.shape
    one_plus = 1.0 + np.sum(theta * theta)
    first, second = 2.0 * rho / one_plus**2, -8.0 * rho / one_plus**3
    size = lambda_ * math.sqrt(np.sum(centre * centre))
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
        size += weight * math.sqrt(np.sum(A[sample] * A[sample])) / N
        for row in range(d):
            slope[row] -= weight * A[sample, row] / N
            for column in range(d):
                hessian[row, column] += curvature * A[sample, row] * A[sample, column] / N
    return size
