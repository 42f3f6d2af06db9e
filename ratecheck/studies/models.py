"""Measures of a run's models: training loss and test error of the server's model and of the clients' own.

The engines record what theorems bound; the figures of papers show losses and accuracies of the models. A `ModelKernel`
plays the same rounds, to the same last bit, and measures the models before each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.algorithm import U
from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.stepwise import StepKernel
from ratecheck.engines.setup import Setup, is_random
from ratecheck.errors import InputError
from ratecheck.kernels.local.proximal import logistic_prox
from ratecheck.problems import Logistic, Problem
from ratecheck.studies.study import MEASURES


@dataclass(frozen=True)
class _MeasureNames:
    names: tuple[str, ...]
    least: tuple[float, ...]


class ModelKernel(StepKernel):
    """The step engine, with `MEASURES` recorded beside the setup's own quantities.

    The personal models are the client variables at which the method records, the proximal points of the server's
    model where it uses these, and else the server's model itself. ``test`` has the held-out samples of ``problem``.
    Raises `InputError` for another problem than logistic regression without personal variables.
    """

    def __init__(self, setup: Setup, test: Problem | None = None) -> None:
        problem = setup.problem.seen_as(Logistic)
        if problem is None or problem.d_v:
            raise InputError(f"{MEASURES[0]} and its like are of logistic problems without personal variables")
        super().__init__(setup)
        held_out = problem if test is None else test.seen_as(Logistic)
        if test is not None and held_out is None:
            raise InputError(f"the test samples are those of a {test.kind} problem")
        self._train, self._test = problem, held_out or problem
        self._own, least = self.plan.names, (*self.plan.least, *(-math.inf for _ in MEASURES))
        self.plan = _MeasureNames((*self._own, *MEASURES), least)  # type: ignore[assignment]  # no more is read

    def run(self, keys: NDArray[np.uint64], report: Callable[[int], None]) -> Array:
        setup, alike = self.setup, keys.shape[1]
        # Where nothing is random one replicate serves them all.
        keys = keys if is_random(setup) else np.ascontiguousarray(keys[:, :1])
        lanes = keys.shape[1]
        server, client = self.start(keys)
        last = np.full((setup.problem.n, lanes), -1)
        own = np.empty((1, len(self._own), lanes))
        record = np.empty((setup.T, len(self.plan.names), lanes))
        for t in range(setup.T):
            record[t, len(self._own) :] = self._measured(server, client)
            self.play(t, server, client, last, keys, own)
            record[t, : len(self._own)] = own[0]
            report(t + 1)
        return record if lanes == alike else np.repeat(record, alike, axis=2)

    def _measured(self, server: Array, client: Array) -> Array:
        """The measures (measures, lanes) of the state."""
        common = server[0]
        personal = self._personal(common, client)
        loss, error = self._loss(common[None]), self._error(common[None])
        if personal is None:
            return np.stack([loss, loss, np.zeros_like(loss), error, error])
        own = self._loss(personal)
        return np.stack([loss, own, np.abs(loss - own), error, self._error(personal)])

    def _personal(self, common: Array, client: Array) -> Array | None:
        """The clients' own models (n, d, lanes); None where they have none."""
        algorithm, d = self.setup.algorithm, self.setup.problem.d
        name = (algorithm.point or {}).get(U)
        if name is not None and name in algorithm.client:
            slot = [each for each, block in algorithm.client.items() if block == U].index(name)
            return client[:, slot, :d]
        if algorithm.record_oracle != "prox":
            return None
        points, lambda_ = np.empty((len(client), *common.shape)), float(self.setup.step_sizes["lambda_"])
        for rows, point in zip(self._train.A, points, strict=True):
            logistic_prox(rows, float(self._train.rho), lambda_, common, point, common.shape[1])
        return points

    def _loss(self, models: Array) -> Array:
        """The mean of f_i over the clients, for models (n or 1, d, lanes)."""
        with np.errstate(over="ignore", invalid="ignore"):
            square = np.square(models).sum(axis=1)
            loss = np.logaddexp(0.0, -np.matmul(self._train.A, models)).mean(axis=(0, 1))
            return np.asarray(loss + self._train.rho * (square / (1 + square)).mean(axis=0))

    def _error(self, models: Array) -> Array:
        """The share of test samples on the wrong side; what is no number is there, what is 0 half."""
        with np.errstate(over="ignore", invalid="ignore"):
            margins = np.matmul(self._test.A, models)
        right = (margins > 0).mean(axis=(0, 1)) + 0.5 * (margins == 0).mean(axis=(0, 1))
        return np.asarray(1.0 - right)
