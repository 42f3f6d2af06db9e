"""Clients of two groups that differ in slope, or in curvature as well: with a start, noise, and who stays away.

In one family all clients have the same curvature and half of them a slope of +s, half of -s; in another one half have
no curvature at all, so that their local steps drift apart. s, the start and the noise are as large as the statement's
constants allow. Participants are drawn uniformly where the statement says so. Where it is about any participation, all
clients or one half of them stay away for tau_max rounds, over and over, as often as tau_avg says. `drawn_delays` says
what stands in for delays that are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bounds.statement import Assumption, Statement
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import NOISE
from ratecheck.exponents.families import drawn_delays
from ratecheck.exponents.families.curve import HardCurve
from ratecheck.exponents.families.drawn_delays import Drawn
from ratecheck.exponents.families.hard import Hard
from ratecheck.exponents.families.setting import HardSetting
from ratecheck.exponents.modes import scheduled
from ratecheck.exponents.modes.exchangeable import ModeRun
from ratecheck.exponents.modes.modes import Modes
from ratecheck.exponents.modes.scheduled import ScheduledRun, Stretch
from ratecheck.exponents.regimes import FLAT
from ratecheck.settings.applicability import counts_participants

# Clients that drift apart differ more where they end up than at the start: by gamma K L/4 of it, at most a hundredth.
_DRIFTED = 0.98
# Who stays away, which groups are then there, and whether a period begins with it.
_ABSENT = (
    ("all away at times", frozenset[int](), False),
    ("one half away at times", frozenset({0}), False),
    ("one half away at first and at times", frozenset({0}), True),
)
# What is said of participants that are drawn uniformly, or all there.
SAMPLED = frozenset(
    {
        Assumption.UNIFORM_SAMPLING, Assumption.FULL_PARTICIPATION, Assumption.UNBIASED_SELECTION,
        Assumption.SKEWED_SELECTION,
    }
)  # fmt: skip

# The left side of modes with a start, or with a variance of the noise: run(modes, start, noise).
_Left = Callable[[Modes, float, float], Array]


@dataclass(frozen=True)
class DifferingClients(HardCurve):
    """Clients in groups, by their largest curvature.

    ``flat`` groups have no curvature; ``signs`` are the slopes of the groups in units of the largest one.
    """

    setting: HardSetting
    name: str
    block: str
    sizes: tuple[float, ...]
    flat: tuple[bool, ...]
    signs: tuple[float, ...]
    starts: bool
    period: tuple[Stretch, ...]
    left: _Left
    runs: bool = True

    @property
    def typical(self) -> bool:
        """True where all clients are curved alike."""
        return not any(self.flat)

    @property
    def largest(self) -> float:
        """L."""
        return self.setting.fact("L", 1.0)

    @property
    def _slope(self) -> float:
        drifted = _DRIFTED if any(self.flat) else 1.0
        return self.setting.slope * drifted if any(self.signs) else 0.0

    def _modes(self, h: Array, slope: float) -> Modes:
        curvature = np.where(self.flat, 0.0, h[:, None])
        return Modes(curvature, np.broadcast_to(slope * np.array(self.signs), curvature.shape), self.sizes)

    def _starts(self, h: Array) -> Array:
        return self.setting.starts(h, self._slope) if self.starts else np.zeros_like(h)

    def lefts(self, h: Array) -> Array:
        """The left side at each curvature.

        A start and slopes together are two modes: on one their effects might cancel.
        """
        noise, slope, starts = self.setting.noise(self.block), self._slope, self._starts(h)
        # Without noise and slope nothing moves.
        left = self.left(self._modes(h, slope), 0.0, noise) if noise or slope else np.zeros_like(h)
        if starts.any():
            left = left + self.left(self._modes(h, 0.0), 1.0, 0.0) * starts**2
        return left

    def decode(self, h: float, left: float) -> Hard:
        """With this largest curvature."""
        curvatures = tuple(0.0 if flat else h for flat in self.flat)
        slopes = tuple(self._slope * sign for sign in self.signs)
        start = float(self._starts(np.array([h]))[0])
        return Hard(
            self.setting.statement, self.setting.values, self.name, self.block, self.sizes, curvatures, slopes, start,
            self.period, left, self.runs,
        )  # fmt: skip


def curves(statement: Statement, values: Mapping[str, float], source: str | None) -> Iterator[DifferingClients]:
    """Instances of every block, large on the left by a ``source``, or by all and the start where it is None."""
    oblivious = not SAMPLED & {*statement.assumptions}
    law, values = drawn_delays.drawn(statement, values)
    method, n = HardSetting(statement, values).method, int(HardSetting(statement, values).size("clients"))
    blocks = [block for block, has in (("u", method.shared), ("v", method.personal)) if has]
    for block in (block for block in blocks if block in method.algorithm.blocks):
        # The clients of a block that takes its turn are of one group.
        unit = 1 if law is None else law.unit
        half = unit * (n // unit // 2)
        sizes = tuple(size for size in (float(n - half), float(half)) if size)
        differs = block == "u" and len(sizes) > 1 and source not in NOISE
        signs = (math.sqrt(sizes[-1] / sizes[0]), -math.sqrt(sizes[0] / sizes[-1])) if differs else (0.0,) * len(sizes)
        shapes = [("equal curvatures", (False,) * len(sizes), source is None)]
        unlike = differs and (law is None or law.takes_unlike)
        shapes += [("unequal curvatures", (False, True), False)] if unlike else []
        for name, flat, starts in shapes:
            if law is not None:
                setting = _completed(statement, _quiet_start(statement, values, source))
                # Who else takes part matters to what clients differ by alone.
                for who, each in law.variants[: None if differs and source else 1]:
                    yield DifferingClients(
                        setting, name + who, block, sizes, flat, signs, starts, (), _drawn_left(setting, block, each),
                        law.has_instance,
                    )  # fmt: skip
            elif oblivious:
                # With some away, and everybody back at once, rounds differ in how many take part.
                if counts_participants(statement):
                    continue
                for who, present, late in _ABSENT[: 1 if n == 1 else None]:
                    period, setting = _scheduled(
                        statement, _quiet_start(statement, values, source), present, len(sizes), late=late
                    )
                    left = _scheduled_left(setting, period)
                    yield DifferingClients(setting, f"{name}, {who}", block, sizes, flat, signs, starts, period, left)
            else:
                setting = _completed(statement, values)
                left = _sampled_left(setting, block)
                yield DifferingClients(setting, name, block, sizes, flat, signs, starts, (), left)


def _completed(statement: Statement, values: Mapping[str, float]) -> HardSetting:
    return HardSetting(statement, statement.complete(values)[0])


def _quiet_start(statement: Statement, values: Mapping[str, float], source: str | None) -> dict[str, float]:
    """The values, with small first gradients unless these are what is looked at."""
    facts = {fact: s for s, fact in statement.vocabulary.facts.items() if s in values}
    if source == "mean_B_0" or not {"mean_B_0", "F_0", "L"} <= facts.keys():
        return dict(values)
    return {**values, facts["mean_B_0"]: FLAT * values[facts["F_0"]] * values[facts["L"]]}


def _scheduled(
    statement: Statement, values: Mapping[str, float], present: frozenset[int], groups: int, *, late: bool
) -> tuple[tuple[Stretch, ...], HardSetting]:
    """Everybody for some rounds, those ``present`` alone for tau_max rounds; and the setting that this makes.

    The mean delay of a period of P rounds is tau_max (tau_max + 1)/(2 P). Rounds are whole periods, at least three.
    """
    facts = {fact: s for s, fact in statement.vocabulary.facts.items() if s in values}
    most, mean, T = facts.get("tau_max", ""), facts.get("tau_avg", ""), statement.vocabulary.run["rounds"]
    tau = max(int(values[most]), 1)
    length = max(round(tau * (tau + 1) / 2 / max(values.get(mean, tau / 2), 1e-9)), tau + 1)
    everybody = frozenset(range(groups))
    period = (Stretch(everybody, length - tau), Stretch(present, tau))
    period = period[::-1] if late else period
    rounds = length * max(round(values[T] / length), 3)
    found = scheduled.delays(period, groups, rounds)
    realised = {T: float(rounds), most: float(found[0]), **({mean: found[1]} if mean else {})}
    return period, _completed(statement, {**values, **realised})


def _sampled_left(setting: HardSetting, block: str) -> _Left:
    n = setting.size("clients")
    m = n if Assumption.FULL_PARTICIPATION in setting.statement.assumptions else setting.size("participants", n)
    ready = ModeRun(setting.method, block, float(m), *setting.steps_and_rounds, setting.step_sizes)
    weights = setting.weights
    return lambda modes, start, noise: ready.averages(modes, weights, start=start, noise=noise)


def _scheduled_left(setting: HardSetting, period: tuple[Stretch, ...]) -> _Left:
    steps = setting
    if Assumption.DRAWN_STEP_SIZES in setting.statement.assumptions:
        steps = HardSetting(setting.statement, drawn_delays.with_step_sizes(setting.statement, setting.values))
    ready = ScheduledRun(setting.method, "u", *setting.steps_and_rounds, steps.step_sizes, period)
    return lambda modes, start, noise: ready.averages(modes, start=start, noise=noise)


def _drawn_left(setting: HardSetting, block: str, law: Drawn) -> _Left:
    values = drawn_delays.with_step_sizes(setting.statement, setting.values, law.delays)
    K, steps = setting.steps_and_rounds[0], HardSetting(setting.statement, values).step_sizes
    return lambda modes, start, noise: law.averages(setting.method, block, K, steps, modes, start=start, noise=noise)
