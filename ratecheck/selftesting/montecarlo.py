"""The error rate of Monte Carlo where the truth is known: right sides set to the exact left sides."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import sympy as sp
from scipy.special import bdtrc

from bounds.statement import Over, Relation, Statement
from ratecheck.certification.certified_constants import NOISE
from ratecheck.errors import InputError
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes
from ratecheck.outcome import Outcome
from ratecheck.selftesting.factors import from_numbers
from ratecheck.selftesting.seeds import seed_of
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import EXACT, Instance

# The level of each verdict, its replicates at most, and how long its runs are.
LEVEL = 0.05
REPLICATES = 64
_ROUNDS, _STEPS = 8, 4
# A statement is left aside after so many points without an instance with noise.
_TRIES = 60
# A left side this much above the right one is no longer equal for the exact engine.
_APART = 1e-9
# The number of wrong verdicts that is less likely than this at the level is too many.
_UNLIKELY = 1e-3


@dataclass(frozen=True)
class PlantedTruth:
    """Monte Carlo verdicts on planted equalities.

    ``accused`` of ``verdicts`` called left <= left violated; ``passed`` called left <= (1 - 1e-9)*left, which is false,
    one that holds.
    """

    key: str
    verdicts: int
    accused: int
    passed: int


def limit(verdicts: int, level: float = LEVEL) -> int:
    """The largest number of wrong verdicts that the level explains: more has a probability below 1/1000."""
    more = bdtrc(np.arange(verdicts + 1), verdicts, level)
    return int(np.argmax(more < _UNLIKELY))


def noisy(statement: Statement) -> bool:
    """True of one claim about a mean over the rounds of a run with noise, with a right side in numbers."""
    noise = any(fact in NOISE for fact in statement.vocabulary.facts.values())
    means = all(
        claim.metric.over is Over.MEAN_OF_ROUNDS and claim.relation is Relation.AT_MOST for claim in statement.claims
    )
    return noise and means and from_numbers(statement) and len(statement.claims) == 1


def planted(key: str, statement: Statement, verdicts: int, seed: int) -> PlantedTruth:
    """So many verdicts on a random instance each, with fresh noise each."""
    rng = np.random.default_rng(seed_of(seed, statement.key, "planted"))
    # Where samples have two values all outcomes are followed, and nothing is drawn.
    drawn = (shape for shape in shapes(statement) if shape.family.simulated)
    cubes = [Cube(statement, shape) for shape in drawn]
    done = accused = passed = misses = 0
    while done < verdicts and misses < _TRIES:
        cube = cubes[rng.integers(len(cubes))]
        found = _equality(cube, cube.drawn(rng), done)
        if found is None:
            misses += 1
            continue
        options = Options(engine="step", seed=done, replicates=REPLICATES, level=LEVEL, traces=1, vacuity=False)
        instance, left = found
        equal, less = (_with_right(instance, share * left).verdict(options) for share in (1.0, 1 - _APART))
        if equal.replicates is None:  # nothing was random after all
            misses += 1
            continue
        done += 1
        accused += equal.outcome is Outcome.VIOLATED
        passed += less.outcome is Outcome.HOLDS
    return PlantedTruth(key, done, accused, passed)


def _equality(cube: Cube, point: np.ndarray, seed: int) -> tuple[Instance, float] | None:
    """A short run with noise and its exact left side; None where the point has none.

    The seed says which participation is drawn where a statement is about any.
    """
    names = dict(zip(cube.coordinates, range(cube.size), strict=True))
    most_steps, most_rounds = cube.reach
    for name, short, most in (("rounds", _ROUNDS, most_rounds), ("local_steps", _STEPS, most_steps)):
        point[names[name]] *= math.log(short) / math.log(most + 1)
    noise = [k for name, k in names.items() if name.startswith("noise ")]
    point[noise] = np.maximum(point[noise], 0.5)
    try:
        instance = cube.decode(point)
        # The constant replaces a right side on which no step size may depend.
        verdict = _with_right(instance, 1.0).verdict(dataclasses.replace(EXACT, seed=seed, traces=1))
    except InputError:
        return None
    worst = verdict.worst
    if worst is None or verdict.outcome is Outcome.DIVERGED or not (worst.left > 0 and math.isfinite(worst.left)):
        return None
    return instance, worst.left


def _with_right(instance: Instance, value: float) -> Instance:
    """The instance of the statement with a number as its right side."""
    (claim,) = instance.statement.claims
    changed = dataclasses.replace(claim, terms={"planted": sp.Float(value, 17)})
    return dataclasses.replace(instance, statement=dataclasses.replace(instance.statement, claims=(changed,)))
