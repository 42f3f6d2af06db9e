"""A statement at a setting, as hard instances need it: its method's numbers, and what its constants allow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bounds.statement import Statement, number
from ratecheck.algorithms import METHODS, Method
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import NOISE
from ratecheck.exponents.families.hard import steps_and_rounds


@dataclass(frozen=True)
class HardSetting:
    """``values`` has every constant and size of the statement, and its step sizes."""

    statement: Statement
    values: Mapping[str, float]

    @property
    def method(self) -> Method:
        """The method that is run: with inner problems solved exactly, where it solves any."""
        found = METHODS[self.statement.algorithm or ""]
        return METHODS[found.exact] if found.exact else found

    @property
    def steps_and_rounds(self) -> tuple[int, int]:
        """K and T."""
        return steps_and_rounds(self.statement, self.method, self.values)

    def size(self, role: str, default: float = 1.0) -> float:
        """A size of the run by its role, such as the number of clients."""
        return self.values.get(self.statement.vocabulary.run.get(role, ""), default)

    def fact(self, fact: str, default: float) -> float:
        """The value of what the vocabulary knows as ``fact``."""
        facts = self.statement.vocabulary.facts.items()
        return next((self.values[s] for s, each in facts if each == fact and s in self.values), default)

    @property
    def constants(self) -> dict[str, float]:
        """The values of the statement's own parameters by what the vocabulary knows them as."""
        facts, named = self.statement.vocabulary.facts.items(), self.statement.parameters
        return {fact: self.values[s] for s, fact in facts if s in named and s in self.values}

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each recorded quantity in the left side."""
        facts, metric = self.statement.vocabulary.facts, self.statement.claims[0].metric
        return {facts[q.name]: number(w, self.values) for q, w in metric.weights.items()}

    @property
    def step_sizes(self) -> dict[str, float]:
        """The method's own parameters."""
        vocabulary, method = self.statement.vocabulary, self.method
        n = int(self.size("clients"))
        known, steps = dict(self.values), dict[str, float]()
        for rule in self.statement.step_products:
            # Where nothing but the product is prescribed, the factors do not matter.
            if rule.product.name in known and rule.local.name not in known:
                known.setdefault(rule.outer.name, 1.0)
            rule.fill(known)
        for name in method.step_sizes:
            if name in vocabulary.derived:
                steps[name] = number(vocabulary.derived[name], self.values)
            elif name in known:
                steps[name] = known[name]
            elif (default := method.algorithm.optional.get(name)) is not None:
                steps[name] = default(n)
        return {k: float(np.ravel(v)[0]) for k, v in method.resolve(steps, n).items()}

    def noise(self, block: str) -> float:
        """The variance of a gradient in a block."""
        facts = self.statement.vocabulary.facts.items()
        own = {"sigma", f"sigma_{block}"} & {*NOISE}
        return sum(self.values.get(symbol, 0.0) ** 2 for symbol, fact in facts if fact in own)

    @property
    def slope(self) -> float:
        """The largest slope that the constants allow; where nothing limits it, that of the smoothness at the start."""
        known = self.constants
        if limits := [known[fact] for fact in ("b", "minimiser_heterogeneity") if fact in known]:
            return min(limits)
        if "mean_B_0" in known:
            return math.sqrt(known["mean_B_0"] / 2)
        if "B_0" in known:
            return math.sqrt(known["B_0"] / self.size("clients"))
        return math.sqrt(self.fact("L", 1.0) * self.fact("F_0", 1.0))

    def starts(self, h: Array, slope: float) -> Array:
        """The farthest start that the constants allow on h x^2/2 at each curvature, with slopes of this size."""
        known = self.constants
        limits = [2 * known[fact] / h for fact in ("F_0", "lagrangian_gap") if fact in known]
        if "distance2_0" in known:
            limits.append(np.full_like(h, known["distance2_0"]))
        if "mean_B_0" in known:
            limits.append(np.maximum(known["mean_B_0"] - slope**2, 0.0) / h**2)
        return np.asarray(np.sqrt(np.min(limits, axis=0))) if limits else np.zeros_like(h)
