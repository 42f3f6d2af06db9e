"""The worst deterministic run of a statement over all smooth functions, from above and from below."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from bounds.statement import Given, Statement
from ratecheck.errors import InputError
from ratecheck.falsification.deterministic import DeterministicCase
from ratecheck.falsification.interpolation import Answers, VerifiedInstance, recheck, worst_instance
from ratecheck.falsification.pep import PepBound, upper_bound

# Step sizes at their caps are so up to the rounding of floats.
_ROUNDING = 1e-9
# At how many points the clients may be asked in all; a semidefinite program of twice that size takes many minutes.
_LARGEST = 40


@dataclass(frozen=True)
class WorstCase:
    """The largest left side of ``case``: at least ``lower.left``, exactly checked, and at most ``upper.left``.

    ``instance`` reaches the lower value. ``seconds`` is what each of the two took, upper first.
    """

    case: DeterministicCase
    upper: PepBound
    lower: VerifiedInstance
    instance: Answers
    seconds: tuple[float, float]

    @property
    def gap(self) -> float:
        """1 - lower/upper: what the two leave open."""
        return 1 - self.lower.left / self.upper.left if self.upper.left else 0.0

    @property
    def violated(self) -> bool:
        """Whether the checked instance has a larger left side than right side."""
        return self.lower.left - self.lower.right > _ROUNDING * (abs(self.lower.left) + self.case.size)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the two values do not say."""
        scope = []
        if not self.upper.safe:
            scope.append("the upper value is numeric: the dual objective of a converged interior-point solver")
        if self.case.method.personal:
            scope.append("functions of shared variables only: personal ones, which the statement admits, are absent")
        first, *others = (claim.name for claim in self.case.statement.claims)
        if others:
            scope.append(f"the claim {first!r} alone: nothing is said of {', '.join(map(repr, others))}")
        for name, end in self.case.approached.items():
            scope.append(f"{name}={self.case.values[name]!r} is just inside the open end {end!r}")
        return tuple(scope)

    def to_json(self) -> dict[str, Any]:
        """Both values, their ratios to the right side, and the instance; the seconds say nothing of the statement."""
        return {
            "key": self.case.statement.key,
            "values": dict(self.case.values),
            "right": self.lower.right,
            "upper": self.upper.left,
            "upper_safe": self.upper.safe,
            "lower": self.lower.left,
            "upper_ratio": self.upper.left / self.lower.right if self.lower.right > 0 else None,
            "lower_ratio": self.lower.ratio if self.lower.right > 0 else None,
            "gap": self.gap,
            "violated": self.violated,
            "notes": list(self.notes),
            "seconds": list(self.seconds),
            "instance": self.instance.save(),
        }


def worst_case(
    statement: Statement, given: Given, *, starts: int = 8, seed: int = 0, ignore_conditions: bool = False
) -> WorstCase:
    """Both values at the given numbers, step sizes prescribed or largest admissible where they are not given.

    Raises `InputError` as `DeterministicCase.of`, `upper_bound` and `worst_instance` do, and for runs that are too
    long.
    """
    case = DeterministicCase.of(statement, given, ignore_conditions=ignore_conditions)
    n, K, T = (int(case.values[name]) for name in ("n", "K", "T"))
    if (asked := n * (K * (T - 1) + 1)) > _LARGEST:
        raise InputError(
            f'n={n}, K={K}, T={T} break "n*(K*(T - 1) + 1) <= {_LARGEST}": {asked} <= {_LARGEST} is false, and a worst '
            f"case over all functions takes too long. Smaller n, K or T would do, such as n=2, K=4, T=2."
        )
    start = time.perf_counter()
    upper = upper_bound(case)
    between = time.perf_counter()
    instance = worst_instance(case, starts=starts, seed=seed)
    lower = recheck(instance)
    return WorstCase(case, upper, lower, instance, (between - start, time.perf_counter() - between))
