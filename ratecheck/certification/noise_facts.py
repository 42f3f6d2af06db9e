"""Facts of the noise of gradients beyond its level: moments, tails, and how it grows with gradient or gap.

A law says what it has (`ratecheck.noise.NoiseLaw`); mini-batches add noise of their own, of which a problem knows the
variance and expected smoothness. All facts are about noise of one block of variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from bounds.assumption import Assumption
from ratecheck.aliases import Array
from ratecheck.noise import NoiseLaw
from ratecheck.problems import Certificate, Constant, Problem

# What a bound is moved by, for the rounding of its own formula.
_MARGIN = 1e-12
_TAILS = "samples are drawn, of which the variance alone is certified"

# Assumptions that give noise a variance that does not depend on the point, and all that limit it.
_ADDITIVE = frozenset({Assumption.NOISE, Assumption.TOTAL_NOISE, Assumption.BILEVEL_NOISE})
_GROWING = frozenset({Assumption.RELATIVE_NOISE, Assumption.EXPECTED_SMOOTHNESS})
_LIMITS = _ADDITIVE | _GROWING | {Assumption.HEAVY_TAILS, Assumption.SUB_GAUSSIAN}


def unmet_noise(assumptions: Iterable[Assumption], law: NoiseLaw, levels: Mapping[str, float]) -> str | None:
    """Why noise of this law and these levels is none that these assumptions of a statement allow; None where it is."""
    assumed = {*assumptions}
    if law.relative:
        wrong = assumed & (_LIMITS - _GROWING)
        if wrong:
            return (
                f"the variance of {law.kind} noise grows with the gradient, but the statement assumes: {_text(wrong)}"
            )
        if not assumed & _GROWING:
            neither = "relative_noise nor expected_smoothness"
            return f"{law.kind} noise grows with the gradient, and the statement assumes neither {neither}"
    if any(levels.values()) and math.isinf(law.variance) and (wrong := assumed & (_ADDITIVE | _GROWING)):
        return f"{law.kind} noise of this index has no variance, but the statement assumes: {_text(wrong)}"
    return None


def _text(assumptions: set[Assumption]) -> str:
    return "; ".join(sorted(each.value for each in assumptions))


@dataclass(frozen=True)
class NoiseFacts:
    """Facts of the noise of a run: its ``law``, its ``levels`` by name, and the ``start`` of the problem.

    ``total`` finds the root of the certified variance, samples that are drawn included.
    """

    problem: Problem
    law: NoiseLaw
    levels: Mapping[str, float]
    start: Mapping[str, Array]
    total: Callable[[], Constant | None]

    def fact(self, name: str) -> Constant | None:
        """The constant of that name; None where nothing certifies it."""
        if name == "relative_noise":
            return self._relative()
        if name == "noise_order":
            return Constant.exact(name, self.law.order, f"{self.law.kind} noise is measured by this moment")
        sigma = self._level()
        if sigma is None:
            return None
        if name in _GROWTH:
            return self._growth(name, sigma)
        return self._moment(sigma) if name == "noise_moment" else self._bound(name, sigma)

    def _bound(self, name: str, sigma: float) -> Constant:
        """The largest noise, or the scale of its tails."""
        if self.problem.batch is not None:
            return Constant.absent(name, _TAILS)
        bound = self.law.sub_gaussian if name == "sub_gaussian" else self.law.largest
        return self._of_law(name, sigma, bound(self.problem.d) if sigma else 0.0)

    def _level(self) -> float | None:
        """The total level of noise that is equal in all coordinates; None where it is not, or samples have a law."""
        if self.problem.law.outcomes:
            return None
        scale = self.problem.noise({name: self.levels.get(name, 0.0) for name in self.problem.noises})
        if not len(scale) or np.ptp(scale):
            return None
        # The number that is given, where one is.
        found = math.sqrt(len(scale)) * float(scale[0])
        return next((each for each in self.levels.values() if math.isclose(each, found, rel_tol=_MARGIN)), found)

    def _relative(self) -> Constant:
        if not self.law.relative:
            return Constant.exact("relative_noise", 0.0, "the noise of this run is additive, which has none")
        return Constant.exact("relative_noise", self.law.relative, f"{self.law.kind} noise")

    def _of_law(self, name: str, sigma: float, times: float) -> Constant:
        if self.law.relative:
            return Constant.absent(name, f"{self.law.kind} noise grows with the gradient")
        if math.isinf(times):
            return Constant.absent(name, f"{self.law.kind} noise has none")
        why = f"{self.law.kind} noise of level {sigma:g}"
        return Constant(name, sigma * times * (1 + _MARGIN), Certificate.UPPER_BOUND, why)

    def _moment(self, sigma: float) -> Constant | None:
        """The root of order p of E||noise||^p: with samples that are drawn by Minkowski's inequality."""
        order = self.law.order
        times = self.law.moment(order, self.problem.d) ** (1 / order) if sigma else 0.0
        own = self._of_law("noise_moment", sigma, times)
        if self.problem.batch is None or own.certificate is Certificate.ABSENT:
            return own
        if order > 2:
            return Constant.absent("noise_moment", _TAILS)
        if (total := self.total()) is None:
            return None
        why = f"{own.reason}, and samples that are drawn"
        return Constant("noise_moment", own.value + total.value, Certificate.UPPER_BOUND, why)

    def _growth(self, name: str, sigma: float) -> Constant | None:
        """A, B or C of E||g_i||^2 <= 2 A (f_i - inf f_i) + B ||grad f_i||^2 + C, which hold together."""
        if math.isinf(self.law.variance) and sigma:
            return Constant.absent(name, f"{self.law.kind} noise of this index has no variance")
        found = self.problem.expected_smoothness(self.start)
        if found is None:
            return None
        A, B, C = (each * (1 + self.law.relative) for each in found)
        value = {"growth_A": A, "growth_B": B, "growth_C": C + sigma**2}[name]
        if self.problem.batch is None:
            return Constant.exact(name, value, f"full gradients with {self.law.kind} noise")
        return Constant(name, value * (1 + _MARGIN), Certificate.UPPER_BOUND, "smoothness of the samples, none below 0")


_GROWTH = ("growth_A", "growth_B", "growth_C")
NOISE_FACTS = ("relative_noise", "noise_order", "noise_moment", "sub_gaussian", "noise_bound", *_GROWTH)
