"""How often confidence bounds are ever wrong, on distributions whose mean is known.

    python benchmarks/confidence.py [--runs 5000] [--replicates 256] [--out FILE]

The bound is asked at every number of replicates up to 32, then in steps of 10 percent ("any"), and as `decide` does, at
32, 64, 128, ... ("decide"). Whoever stops at any of these numbers, for whatever reason, is wrong no more often than the
rate printed. ``least`` is what the true rate exceeds with 99.9 percent confidence (Clopper, Pearson, Biometrika 26
(1934), 404-413): where ``least`` is above the level, the rate certainly is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from ratecheck.statistics.confidence import KURTOSIS, SPREAD, Validity, lower, upper, upper_by_spread
from ratecheck.statistics.sequential_test import FIRST

Array = NDArray[np.float64]
Bound = Callable[[Array, float, float], Array]
LEVELS = (0.05, 0.01)
# Runs that are simulated together.
BLOCK = 2000


@dataclass(frozen=True)
class Case:
    """A distribution with its mean, the ends of its range as far as they are finite, and two moments.

    ``spread`` is E X^2 / (E X)^2, for X >= 0.
    """

    name: str
    mean: float
    draw: Callable[[np.random.Generator, tuple[int, int]], Array]
    low: float = -math.inf
    high: float = math.inf
    spread: float = math.inf
    kurtosis: float = math.inf

    def moment(self, kind: Validity) -> float | None:
        """What a bound of this kind supposes to be at most a given number."""
        return {Validity.SPREAD: self.spread, Validity.KURTOSIS: self.kurtosis}.get(kind)

    def supposed(self, kind: Validity) -> bool:
        """Whether what a bound of this kind supposes is true."""
        return (self.moment(kind) or 0.0) <= {Validity.SPREAD: SPREAD, Validity.KURTOSIS: KURTOSIS}.get(kind, 0.0)


def bernoulli(p: float) -> Case:
    return Case(f"Bernoulli({p:g})", p, lambda rng, shape: (rng.random(shape) < p).astype(float), 0.0, 1.0, 1 / p)


def rare(size: float) -> Case:
    """What is 0 but for a value of that size, with mean 1: the worst that its second moment allows."""
    name = f"0 or {size:g}, mean 1"
    return Case(name, 1.0, lambda rng, shape: size * (rng.random(shape) < 1 / size), 0.0, size, size)


CASES = (
    bernoulli(0.5),
    bernoulli(0.05),
    bernoulli(0.95),
    Case("Beta(0.5, 2)", 0.2, lambda rng, shape: rng.beta(0.5, 2, shape), 0.0, 1.0, 15 / 7),
    Case("uniform on (0.9, 1), range (0, 1)", 0.95, lambda rng, shape: rng.uniform(0.9, 1, shape), 0.0, 1.0, 1.001),
    rare(10.0),
    rare(100.0),
    Case("exponential", 1.0, lambda rng, shape: rng.exponential(1.0, shape), 0.0, spread=2.0, kurtosis=9.0),
    Case(
        "chi-square, 1 degree", 1.0, lambda rng, shape: rng.standard_normal(shape) ** 2, 0.0, spread=3.0, kurtosis=15.0
    ),
    Case("chi-square, 20 degrees", 20.0, lambda rng, shape: rng.chisquare(20, shape), 0.0, spread=1.1, kurtosis=3.6),
    Case(
        "lognormal, sigma=1.5",
        math.exp(1.125),
        lambda rng, shape: rng.lognormal(0, 1.5, shape),
        0.0,
        spread=math.exp(2.25),
        kurtosis=math.exp(9) + 2 * math.exp(6.75) + 3 * math.exp(4.5) - 3,
    ),
    Case("normal", 0.0, lambda rng, shape: rng.standard_normal(shape), kurtosis=3.0),
    Case("t, 3 degrees", 0.0, lambda rng, shape: rng.standard_t(3, shape)),
)
SIDES: dict[str, Bound] = {"lower": lower, "upper": upper}


def by_spread(values: Array, level: float, _: float) -> Array:
    """The upper bound of nonnegative values whose range has no other known end."""
    return upper_by_spread(values, level)


def without_end(bound: Bound) -> Bound:
    """The bound of values whose range has no known end on its side."""
    end = -math.inf if bound is lower else math.inf
    return lambda values, level, _: bound(values, level, end)


def questions() -> list[tuple[Case, str, Bound, Validity]]:
    """What is asked about: betting where there is an end, and what supposes a moment where there is none above."""
    ends = [(case, side, case.low if side == "lower" else case.high) for case in CASES for side in SIDES]
    open_above = [case for case in CASES if not math.isfinite(case.high)]
    return [
        *((case, side, SIDES[side], Validity.RIGOROUS) for case, side, end in ends if math.isfinite(end)),
        *((case, "upper", by_spread, Validity.SPREAD) for case in CASES if case.low == 0.0),
        *((case, side, without_end(bound), Validity.KURTOSIS) for case in open_above for side, bound in SIDES.items()),
    ]


def at_any(replicates: int) -> list[int]:
    """Numbers of replicates at which somebody may look."""
    found = [1]
    while found[-1] < replicates:
        found.append(min(replicates, max(found[-1] + 1, int(1.1 * found[-1]))))
    return found


def at_doublings(replicates: int) -> list[int]:
    """Numbers of replicates at which `decide` looks."""
    found = [min(FIRST, replicates)]
    while found[-1] < replicates:
        found.append(min(2 * found[-1], replicates))
    return found


LOOKS = {"any": at_any, "decide": at_doublings}


def misses(case: Case, side: str, bound: Bound, level: float, runs: int, looks: list[int], seed: int = 0) -> int:
    """Runs in which the bound is on the wrong side of the mean at any of the looks."""
    end, sign = (case.low, 1) if side == "lower" else (case.high, -1)
    rng, count = np.random.default_rng(seed), 0
    for first in range(0, runs, BLOCK):
        values = case.draw(rng, (looks[-1], min(BLOCK, runs - first)))
        wrong = np.zeros(values.shape[1], dtype=np.bool_)
        for t in looks:
            wrong |= sign * (bound(values[:t], level, end) - case.mean) > 0
        count += int(wrong.sum())
    return count


def at_least(count: int, runs: int, error: float = 1e-3) -> float:
    """What the rate of ``count`` in ``runs`` exceeds but with probability ``error``."""
    return float(betaincinv(count, runs - count + 1, error)) if count else 0.0


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--replicates", type=int, default=256)
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
    arguments = parser.parse_args()
    rows = []
    for (case, side, bound, kind), level, (name, looks) in itertools.product(questions(), LEVELS, LOOKS.items()):
        moment = case.moment(kind)
        count = misses(case, side, bound, level, arguments.runs, looks(arguments.replicates))
        row = {
            "case": case.name, "side": side, "kind": kind.name.lower(),
            "moment": moment if moment is not None and math.isfinite(moment) else None, "supposed": case.supposed(kind),
            "level": level, "looks": name, "replicates": arguments.replicates, "runs": arguments.runs,
            "rate": count / arguments.runs, "least": at_least(count, arguments.runs),
        }  # fmt: skip
        rows.append(row)
        above = "  above" if row["least"] > level else ""
        above += "" if row["supposed"] else "  (beyond what is supposed)"
        print(f"{case.name:<36}{side:<7}{row['kind']:<12}{name:<8}{level:6.2f}{row['rate']:9.4f}{above}", flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
