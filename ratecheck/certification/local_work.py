"""Local work of each client in a round, as SimFBO weighs it: numbers of local steps and their coefficients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ratecheck.aliases import Array
from ratecheck.problems import Constant


@dataclass(frozen=True)
class Work:
    """Local work that is constant over rounds.

    ``steps`` (n,) are the local steps tau_i, each with the coefficient ``coefficients`` (n,) a_i. ``shares`` (n,) are
    the weights p_i of the problem, ``weights`` (n,) the w_i of the objective that the method descends.
    """

    steps: Array
    coefficients: Array
    shares: Array
    weights: Array

    @property
    def sums(self) -> Array:
        """|a_i|_1, the sums of a client's coefficients."""
        return self.coefficients * self.steps

    def fact(self, name: str) -> Constant | None:
        """The number of that name; None for another name."""
        if name not in FACTS:
            return None
        compute, why = FACTS[name]
        return Constant.exact(name, float(compute(self)), why)


def _scale(work: Work) -> float:
    """The average number of local steps."""
    return float(work.steps.mean())


FACTS: Mapping[str, tuple[Callable[[Work], float], str]] = {
    "least_coefficient": (lambda work: work.coefficients.min(), "smallest a_i"),
    "largest_coefficient": (lambda work: work.coefficients.max(), "largest a_i"),
    "least_weight": (lambda work: len(work.weights) * work.weights.min(), "n min w_i"),
    "largest_weight": (lambda work: len(work.weights) * work.weights.max(), "n max w_i"),
    "largest_share": (lambda work: len(work.shares) * work.shares.max(), "n max p_i"),
    "least_share": (lambda work: len(work.shares) * work.shares.min(), "n min p_i"),
    "most_work": (
        lambda work: work.sums.max() / (_scale(work) * work.coefficients.max()),
        "max |a_i|_1 over the mean number of local steps and the largest a_i",
    ),
    "least_work": (
        lambda work: work.sums.min() / (_scale(work) * work.coefficients.min()),
        "min |a_i|_1 over the mean number of local steps and the smallest a_i",
    ),
    "least_steps": (lambda work: work.steps.min(), "smallest K_i"),
    "most_steps": (lambda work: work.steps.max(), "largest K_i"),
    "mean_work": (lambda work: float(work.shares @ work.sums), "sum of p_i |a_i|_1"),
}
# Facts that a smaller number would state as well, and those that only one number states.
LOWER = frozenset({"least_coefficient", "least_share", "least_weight", "least_work"})
ALONE = frozenset({"mean_work", "least_steps", "most_steps"})
