"""Accelerated methods, Halpern's iteration, step sizes that change: classical methods that vary from round to round.

Every client of the round takes one step and the server averages, as in `ratecheck.algorithms.momentum`.

Sources: Nesterov, "A method for solving the convex programming problem with convergence rate O(1/k^2)" (1983); Beck,
Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear inverse problems" (2009); Drori, Teboulle,
"Performance of first-order methods for smooth convex minimization" (2014); Kim, Fessler, "Optimized first-order methods
for smooth convex minimization" (2016) and "Optimizing the efficiency of first-order methods for decreasing the gradient
of smooth convex functions" (2021); Taylor, Drori, "An optimal gradient method for smooth strongly convex minimization"
(2023); Güler, "New proximal point algorithms for convex minimization" (1992); Halpern, "Fixed points of nonexpanding
maps" (1967); Altschuler, Parrilo, "Acceleration by stepsize hedging" (2023).
"""

from __future__ import annotations

import functools
import math
import threading
from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Group, Parameters, RecordTerms, U, Variables, of_envelopes
from ratecheck.algorithms.model.registered import Method
from ratecheck.algorithms.momentum import OneStep
from ratecheck.errors import InputError

# The sequence theta as far as it was evaluated, which several threads do.
_THETAS, _GROWING = [1.0], threading.Lock()
# A sequence that grows without limit beyond this has coefficients that no longer change.
_LARGEST = 1e100


def nesterov_theta(t: int) -> float:
    """theta_t of theta_0 = 1, theta_{t+1} = (1 + sqrt(1 + 4 theta_t^2))/2.

    >>> nesterov_theta(1)
    1.618033988749895
    """
    # Nothing is taken out of the sequence: what is there needs no lock.
    if t < len(_THETAS):
        return _THETAS[t]
    with _GROWING:
        while len(_THETAS) <= t:
            _THETAS.append((1 + math.sqrt(1 + 4 * _THETAS[-1] ** 2)) / 2)
        return _THETAS[t]


def last_theta(theta: float) -> float:
    """The last of them in the optimized methods, (1 + sqrt(1 + 8 theta^2))/2."""
    return (1 + math.sqrt(1 + 8 * theta**2)) / 2


class Extrapolated(OneStep):
    """x^{t+1} = y^t - gamma grad f(y^t), y^{t+1} = x^{t+1} + a_t (x^{t+1} - x^t) + b_t (x^{t+1} - y^t), y^0 = x^0.

    The server keeps y, at which the gradient is taken, and x; ``push`` is a_t and ``pull`` b_t. Quantities are recorded
    at the one that stands first.
    """

    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    varying: ClassVar[tuple[str, ...]] = ("push", "pull")
    of_points: ClassVar[bool] = True
    server: ClassVar[Group] = {"x": U, "y": U}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The gradient is taken at y."""
        return {**client, "x": server["y"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean gradient step, and y beyond it."""
        x = total["x"] / p["m"]
        return {"x": x, "y": x + p["push"] * (x - server["x"]) + p["pull"] * (x - server["y"])}


class FastGradient(Extrapolated):
    """Nesterov's fast gradient method: a_t = (theta_t - 1)/theta_{t+1}, recorded at x."""

    name: ClassVar[str] = "fast-gradient"
    title: ClassVar[str] = "fast gradient method"

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """a_t = (theta_t - 1)/theta_{t+1} and, where the method has it, b_t = 0."""
        return {"push": (nesterov_theta(t) - 1) / nesterov_theta(t + 1), "pull": 0.0}


class SimplifiedFastGradient(Extrapolated):
    """Nesterov's fast gradient method with a_t = t/(t + 3), recorded at x."""

    name: ClassVar[str] = "fast-gradient-simplified"
    title: ClassVar[str] = "fast gradient method, simplified"

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """a_t = t/(t + 3) and b_t = 0: Table 1 of Taylor, Hendrickx, Glineur (2017)."""
        return {"push": t / (t + 3), "pull": 0.0}


class OptimizedGradient(Extrapolated):
    """OGM: a_t = (theta_t - 1)/theta_{t+1} and b_t = theta_t/theta_{t+1}, the last theta being larger, recorded at y.

    In a run of T rounds T - 1 steps lead to the last recorded point, so that theta_{T-1} is the last.
    """

    name: ClassVar[str] = "optimized-gradient"
    title: ClassVar[str] = "optimized gradient method"
    server: ClassVar[Group] = {"y": U, "x": U}

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """a_t and b_t from theta_t and theta_{t+1}; round T - 1 leads to no recorded point."""
        here = nesterov_theta(t)
        after = last_theta(here) if t >= T - 2 else nesterov_theta(t + 1)
        return {"push": (here - 1) / after, "pull": here / after}


class OptimizedForGradient(Extrapolated):
    """OGM-G, which makes the last gradient small from the gap at the start, recorded at y.

    With N = T - 1 steps, theta_N = 1, theta_t = (1 + sqrt(1 + 4 theta_{t+1}^2))/2 and theta_0 = (1 + sqrt(1 + 8
    theta_1^2))/2; b_t = (2 theta_{t+1} - 1)/(2 theta_t - 1) and a_t = b_t (theta_t - 1)/theta_t.
    """

    name: ClassVar[str] = "optimized-for-gradient"
    title: ClassVar[str] = "optimized gradient method for the gradient"
    server: ClassVar[Group] = {"y": U, "x": U}

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """a_t and b_t from theta counted from the end; round T - 1 leads to no recorded point."""
        steps = T - 1
        if t >= steps:
            return {"push": 0.0, "pull": 0.0}
        here = last_theta(nesterov_theta(steps - 1)) if t == 0 else nesterov_theta(steps - t)
        after = nesterov_theta(steps - t - 1)
        ahead = (2 * after - 1) / (2 * here - 1)
        return {"push": (here - 1) / here * ahead, "pull": ahead}


class Exact(OneStep):
    """ITEM, the information-theoretic exact method for strongly convex functions, recorded at z.

    y^t = (1 - beta_t) z^t + beta_t x^t, x^{t+1} = y^t - gamma grad f(y^t) and z^{t+1} = (1 - q delta_t) z^t + q delta_t
    y^t - delta_t gamma grad f(y^t) with gamma = 1/L and q = mu/L, which is ``conditioning``.
    """

    name: ClassVar[str] = "item"
    title: ClassVar[str] = "information-theoretic exact method"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "conditioning")
    varying: ClassVar[tuple[str, ...]] = ("share", "length")
    of_points: ClassVar[bool] = True
    server: ClassVar[Group] = {"z": U, "x": U}

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """beta_t as ``share`` and delta_t as ``length``, of A_0 = 0 and its recursion."""
        q = p["conditioning"]
        if q >= 1:
            raise InputError(
                f'conditioning={q:g} breaks "conditioning < 1" of {self.name}: with mu = L one step is all it takes'
            )
        before, after = _two_grown(t, q)
        share = before / ((1 - q) * after)
        length = ((1 - q) ** 2 * after - (1 + q) * before) / (2 * (1 + q + q * before))
        return {"share": share, "length": length}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Y."""
        return {**client, "x": (1 - p["share"]) * server["z"] + p["share"] * server["x"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """X by the mean step, and z by more of it."""
        x, y = total["x"] / p["m"], (1 - p["share"]) * server["z"] + p["share"] * server["x"]
        far = p["conditioning"] * p["length"]
        return {"z": (1 - far) * server["z"] + far * y + p["length"] * (x - y), "x": x}


@functools.lru_cache(maxsize=16, typed=True)
def _known_growth(q: float) -> list[float]:
    """The sequence A of ITEM as far as it was evaluated, which `_two_grown` extends."""
    return [0.0, _grown(0.0, q)]


def _two_grown(t: int, q: float) -> tuple[float, float]:
    """A_t and A_{t+1} in ITEM, or the last two before numbers become too large."""
    known = _known_growth(q)
    with _GROWING:
        while len(known) < t + 2 and known[-1] <= _LARGEST:
            known.append(_grown(known[-1], q))
        last = min(t + 1, len(known) - 1)
        return known[last - 1], known[last]


def _grown(before: float, q: float) -> float:
    """A_{t+1} from A_t in ITEM."""
    return ((1 + q) * before + 2 * (1 + math.sqrt((1 + before) * (1 + q * before)))) / (1 - q) ** 2


class Halpern(OneStep):
    """x^{t+1} = x^0/(t + 2) + (t + 1)/(t + 2) (x^t - gamma grad f(x^t)).

    With gamma = 2/L the step is nonexpansive.
    """

    name: ClassVar[str] = "halpern"
    title: ClassVar[str] = "Halpern's iteration of gradient steps"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    varying: ClassVar[tuple[str, ...]] = ("anchor",)
    server: ClassVar[Group] = {"x": U, "start": U}

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """The weight of the start."""
        return {"anchor": 1 / (t + 2)}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Between the start and the mean step."""
        x = p["anchor"] * server["start"] + (1 - p["anchor"]) / p["m"] * total["x"]
        return {"x": x, "start": server["start"]}


class HalpernProximal(Halpern):
    """Halpern's iteration of reflections: x^{t+1} = x^0/(t + 2) + (t + 1)/(t + 2) (2 prox(x^t) - x^t).

    Recorded is the envelope's gradient, lambda (x - prox(x)), as of pFedMe.
    """

    name: ClassVar[str] = "halpern-proximal"
    title: ClassVar[str] = "Halpern's iteration of reflected proximal steps"
    step_sizes: ClassVar[tuple[str, ...]] = ("lambda_",)
    oracle: ClassVar[str] = "prox"
    record_oracle: ClassVar[str] = "prox"
    recorded: ClassVar[tuple[str, ...]] = ("grad_F2", "spread_F2")

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Twice as far as the minimiser, which is what the oracle answers."""
        return {**local, "x": 2 * gradient[U] - local["x"]}

    def records(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> RecordTerms:
        """||grad F||^2 for the average F of the envelopes, and the mean of ||grad F_i||^2."""
        return of_envelopes(p["lambda_"] * (server["x"] - gradient[U]))

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """||grad F||^2."""
        return {"grad_F2": 1.0}


class FastProximal(OneStep):
    """Güler's accelerated proximal point: x^{t+1} = prox(y^t), y^{t+1} = x^{t+1} + a_t (x^{t+1} - x^t), y^0 = x^0.

    a_t = (theta_t - 1)/theta_{t+1}; recorded at x.
    """

    name: ClassVar[str] = "fast-proximal-point"
    title: ClassVar[str] = "accelerated proximal point"
    step_sizes: ClassVar[tuple[str, ...]] = ("lambda_",)
    oracle: ClassVar[str] = "prox"
    varying: ClassVar[tuple[str, ...]] = ("push",)
    server: ClassVar[Group] = {"x": U, "y": U}

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """a_t = (theta_t - 1)/theta_{t+1} and, where the method has it, b_t = 0."""
        return {"push": (nesterov_theta(t) - 1) / nesterov_theta(t + 1)}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The proximal step is taken at y."""
        return {**client, "x": server["y"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The minimiser, which is what the oracle answers."""
        return {**local, "x": gradient[U]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean of the minimisers, and y beyond it."""
        x = total["x"] / p["m"]
        return {"x": x, "y": x + p["push"] * (x - server["x"])}


class FastProximalGradient(FastGradient):
    """FISTA: the fast gradient method whose steps are followed by proximal steps of a second part of f."""

    name: ClassVar[str] = "fast-proximal-gradient"
    title: ClassVar[str] = "fast proximal gradient method"
    second_oracle: ClassVar[str | None] = "prox"


class SimplifiedFastProximalGradient(SimplifiedFastGradient):
    """Fast proximal gradient method with a_t = t/(t + 3)."""

    name: ClassVar[str] = "fast-proximal-gradient-simplified"
    title: ClassVar[str] = "fast proximal gradient method, simplified"
    second_oracle: ClassVar[str | None] = "prox"


class Scheduled(OneStep):
    """x^{t+1} = x^t - c_t gamma grad f(x^t): gradient descent whose step sizes change by a ``schedule``."""

    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    varying: ClassVar[tuple[str, ...]] = ("schedule",)
    of_points: ClassVar[bool] = True
    server: ClassVar[Group] = {"x": U}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """A gradient step of the round's length."""
        return {**local, "x": local["x"] - p["schedule"] * p["gamma_u"] * gradient[U]}


class Silver(Scheduled):
    """The silver step sizes: c_t = 1 + rho^{v(t+1) - 1} with rho = 1 + sqrt(2) and 2^v(k) the power of 2 in k."""

    name: ClassVar[str] = "silver"
    title: ClassVar[str] = "gradient descent with silver step sizes"

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """The factor c_t = 1 + rho^{v(t+1) - 1}, v being the 2-adic valuation."""
        valuation = ((t + 1) & -(t + 1)).bit_length() - 1
        return {"schedule": 1 + (1 + math.sqrt(2)) ** (valuation - 1)}


class LinearlyDecreasing(Scheduled):
    """c_t = (T - 1 - t)/T, which makes the last of T points as good as the best: T - 1 steps lead there."""

    name: ClassVar[str] = "linearly-decreasing-steps"
    title: ClassVar[str] = "gradient descent with linearly decreasing steps"

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """The share of the run that is left."""
        return {"schedule": (T - 1 - t) / T}


METHODS = tuple(
    Method(each.name, each.title, each, fixed={"K": 1.0}, personal=False, full=True)
    for each in (
        FastGradient(),
        SimplifiedFastGradient(),
        OptimizedGradient(),
        OptimizedForGradient(),
        Exact(),
        Halpern(),
        HalpernProximal(),
        FastProximal(),
        FastProximalGradient(),
        SimplifiedFastProximalGradient(),
        Silver(),
        LinearlyDecreasing(),
    )
)
