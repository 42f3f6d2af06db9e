"""A one-dimensional instance that makes a term of a bound needed, with its left side, and as `verify` takes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Assumption, Statement
from ratecheck.algorithms import METHODS, Method
from ratecheck.certification.trajectory_constants import MEASURES
from ratecheck.engines.setup import LARGEST_RUN
from ratecheck.exponents.modes.scheduled import Stretch
from ratecheck.participation import Participation, Periodic, Uniform
from ratecheck.problems import Piecewise, Population, Problem, Quadratic
from ratecheck.problems.population import LARGEST
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import EXACT, Instance

# The largest number of clients that an instance has one by one, and of what they keep in all, and the most rounds of a
# period, alone and times clients: the exact engine takes no more over many rounds.
_MOST_CLIENTS, _MOST_KEPT, _LONGEST_PERIOD, _LARGEST_PERIOD = 1000, 40, 5000, 10**7
# Gradients of an instance with a breakpoint that is written out: `verify` follows it local step by local step.
_MOST_GRADIENTS = 10**5


@dataclass(frozen=True)
class Hard:
    """A one-dimensional instance and its left side.

    ``values`` are the setting; ``block`` is that of the coordinate. Group k of the clients has ``sizes[k]`` of them,
    with curvature ``curvatures[k]`` and slope ``slopes[k]``. All start at ``start``. ``period`` says which groups take
    part, in rounds that repeat; it is empty where participants are drawn. Beyond ``kink``, where that is finite, f is a
    straight line.
    """

    statement: Statement
    values: Mapping[str, float]
    family: str
    block: str
    sizes: tuple[float, ...]
    curvatures: tuple[float, ...]
    slopes: tuple[float, ...]
    start: float
    period: tuple[Stretch, ...]
    left: float
    # Whether `verify` has runs of this kind.
    runs: bool = True
    kink: float = math.inf
    # What a search found, continued to this setting: it has no other form.
    found: Instance | None = None

    @property
    def text(self) -> str:
        """The instance in a line."""
        if self.found is not None:
            return f"{self.family}, {self.found.problem.kind}"
        curvature = ", ".join(f"{h:.3g}" for h in dict.fromkeys(self.curvatures))
        parts = [f"{self.family}, one coordinate of {self.block}, curvature {curvature}"]
        parts += [f"slopes {', '.join(f'{g:+.3g}' for g in self.slopes)}"] if any(self.slopes) else []
        parts += [f"straight beyond {self.kink:.3g}"] if self._kinked else []
        parts += [f"start {self.start:.3g}"] if self.start else []
        return ", ".join(parts)

    @property
    def _kinked(self) -> bool:
        return math.isfinite(self.kink)

    @property
    def length(self) -> int:
        """Rounds of the period."""
        return sum(stretch.rounds for stretch in self.period)

    def instance(self) -> Instance | None:
        """As an instance for `verify`; None where that has no such runs, or takes no such sizes."""
        if self.found is not None:
            return self.found
        run = self.statement.vocabulary.run
        n = int(sum(self.sizes))
        large = max((self.values[s] for s in run.values() if s in self.values), default=0.0)
        long = large > LARGEST_RUN or self.length > _LONGEST_PERIOD or self.length * n > _LARGEST_PERIOD
        many = self._many(n)
        if not self.runs or n > LARGEST or (many and self._kinked) or long or self.gradients > _MOST_GRADIENTS:
            return None
        counts = [int(size) for size in self.sizes]
        alike = many and not self.period and len({*zip(self.curvatures, self.slopes, strict=True)}) == 1
        kinds = slice(1) if alike else slice(None)
        counts = [sum(counts)] if alike else counts
        # Many clients are counted by group, of which there are one or two.
        rows = [1] * len(counts) if many else counts
        H, g = (np.repeat(each[kinds], rows).reshape(-1, 1) for each in (self.curvatures, self.slopes))
        shared = int(self.block == "u")
        start = {"x0": np.array([self.start])} if shared else {"v0": np.full((len(H), 1), self.start)}
        problem: Problem = Quadratic(H[:, :, None], g, shared)
        if many:
            problem = Population(Quadratic(H[:, :, None], g, shared), counts)
        elif self._kinked:
            problem = Piecewise(np.full((n, 1, 1), self.kink), np.stack([H, 0 * H], axis=2), -g)
        return Instance(self.statement, problem, self._participation(counts), self._given, start)

    def _many(self, n: int) -> bool:
        """Whether its clients are too many to be written out one by one."""
        kept = [*METHODS[self.statement.algorithm or ""].algorithm.client.values()].count(self.block)
        return n > _MOST_CLIENTS or (not self.period and n * kept > _MOST_KEPT)

    @property
    def gradients(self) -> float:
        """The number of gradients that `verify` follows one by one: those of a run with a breakpoint, else none."""
        method = METHODS[self.statement.algorithm or ""]
        K, T = steps_and_rounds(self.statement, method, self.values)
        return sum(self.sizes) * K * T if self._kinked else 0.0

    @property
    def options(self) -> Options:
        """The options of `verify` for `instance`: a long run with a breakpoint is not followed in exact numbers."""
        return replace(EXACT, engine="auto") if self._kinked else EXACT

    @property
    def _given(self) -> dict[str, float]:
        """The setting.

        Where shared curvatures differ a bound on the dissimilarity is left to `verify`: the one in the setting is that
        of the server's models.
        """
        facts = self.statement.vocabulary.facts
        partial = {fact for fact, measure in MEASURES.items() if measure.partial and np.ptp(self.curvatures) > 0}
        measured = {s for s in self.values if facts.get(s) in partial}
        return {name: x for name, x in given_of(self.statement, self.values).items() if name not in measured}

    def _participation(self, counts: list[int]) -> Participation | None:
        if not self.period:
            # Where the statement would also take another selection.
            skewed = Assumption.SKEWED_SELECTION in self.statement.assumptions
            participants = self.statement.vocabulary.run.get("participants", "")
            return Uniform(sum(counts), int(self.values[participants])) if skewed else None
        group = np.repeat(np.arange(len(counts)), counts)
        rows = [np.isin(group, sorted(stretch.groups)) for stretch in self.period for _ in range(stretch.rounds)]
        return Periodic(np.array(rows))


def given_of(statement: Statement, values: Mapping[str, float]) -> dict[str, float]:
    """A setting as `verify` takes it: one number for a list of equal ones."""
    lists = {a.name: [*a.targets] for a in statement.vocabulary.aliases.values() if a.many}
    equal = {name: values[targets[0]] for name, targets in lists.items() if targets[0] in values}
    several = {target for targets in lists.values() for target in targets}
    return equal | {name: value for name, value in values.items() if name not in several}


def steps_and_rounds(statement: Statement, method: Method, values: Mapping[str, float]) -> tuple[int, int]:
    """K and T at a setting, 1 where the statement has none."""
    run = statement.vocabulary.run
    K = method.fixed.get("K", values.get(run.get("local_steps", ""), 1.0))
    return int(K), int(values.get(run.get("rounds", ""), 1.0))
