"""The largest left side over instances that make a bound's terms needed: one-dimensional quadratics at a setting.

A quadratic with diagonal matrices is a sum of one-dimensional modes, so that one mode with everything on it, the start,
the noise and the difference between clients, at its worst curvature, is as hard as any such quadratic up to a factor:
the number of things that a bound adds up. The curvature runs from far below 1/(gamma K T) to L.

In one family all clients have the same curvature and half of them a slope of +s, half of -s; in another one half have
no curvature at all, so that their local steps drift apart. s, the start and the noise are as large as the statement's
constants allow. Participants are drawn uniformly where the statement says so. Where it is about any participation, all
clients or one half of them stay away for tau_max rounds, over and over, as often as tau_avg says. `drawn_delays` says
what stands in for delays that are drawn.

`alike_instances` has what is hard for the last round, for values, and where a minimum is spoken of: functions with
kinks, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Assumption, Statement, number
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import check_alike
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import DELAYS, MEAN_DELAYS, NOISE
from ratecheck.certification.trajectory_constants import MEASURES
from ratecheck.engines.setup import LARGEST_RUN
from ratecheck.errors import InputError
from ratecheck.exponents import alike_instances, drawn_delays, flame_instances
from ratecheck.exponents.alike_instances import Limits
from ratecheck.exponents.drawn_delays import Drawn
from ratecheck.exponents.modes import scheduled
from ratecheck.exponents.modes.alike import AlikeRun
from ratecheck.exponents.modes.exchangeable import ModeRun
from ratecheck.exponents.modes.modes import Modes
from ratecheck.exponents.modes.scheduled import ScheduledRun, Stretch
from ratecheck.exponents.regimes import DISTURBANCES, FLAT
from ratecheck.exponents.sweep import check_measurable
from ratecheck.participation import Participation, Periodic, Uniform
from ratecheck.problems import Piecewise, Population, Problem, Quadratic
from ratecheck.problems.population import LARGEST
from ratecheck.settings.applicability import LAWS, foreign, step_source
from ratecheck.settings.measured import measured_in
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import EXACT, Instance

# Curvatures that are tried over so many decades below L, and how often the best of them is looked at closer.
_DECADES, _PER_DECADE, _CLOSER = 16, 3, 3
# Clients that drift apart differ more where they end up than at the start: by gamma K L/4 of it, at most a hundredth.
_DRIFTED = 0.98
# A typical instance has so many coordinates, with curvatures over a decade.
_COORDINATES = 8
# The largest number of clients that an instance has one by one, and of what they keep in all, and the most rounds of a
# period, alone and times clients: the exact engine takes no more over many rounds.
_MOST_CLIENTS, _MOST_KEPT, _LONGEST_PERIOD, _LARGEST_PERIOD = 1000, 40, 5000, 10**7
# Gradients of an instance with a kink that is written out: `verify` follows it local step by local step.
_MOST_GRADIENTS = 10**5

_SAMPLED = {
    Assumption.UNIFORM_SAMPLING, Assumption.FULL_PARTICIPATION, Assumption.UNBIASED_SELECTION,
    Assumption.SKEWED_SELECTION,
}  # fmt: skip

# What is assumed beside who takes part, and holds on every instance here.
_MET = {
    Assumption.SMOOTHNESS, Assumption.NOISE, Assumption.TOTAL_NOISE, Assumption.DISSIMILARITY, Assumption.NO_PERSONAL,
    Assumption.NO_SHARED, Assumption.OBLIVIOUS_PARTICIPATION, Assumption.INNER_ACCURACY, Assumption.DUAL_START,
    Assumption.BOUNDED_BELOW, Assumption.CONVEXITY,
}  # fmt: skip

# Constants with which what is lost at the start decays geometrically.
_LEAST_CURVED = frozenset({"strong_convexity", "polyak_lojasiewicz"})


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
        """How many gradients `verify` follows one by one: those of a run with a kink, else none."""
        K, T = _steps_and_rounds(self.statement, METHODS[self.statement.algorithm or ""], self.values)
        return sum(self.sizes) * K * T if self._kinked else 0.0

    @property
    def options(self) -> Options:
        """How `verify` is asked about `instance`: a long run with a kink is not followed in exact numbers."""
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


def worst(statement: Statement, values: Mapping[str, float], scale: str | None = None) -> Hard:
    """The instance with the largest left side at a setting.

    ``values`` has every constant and size of the statement, and its free step sizes. With a ``scale``, the symbol of a
    noise or of a difference between clients, nothing else makes the left side large: all clients start at the
    minimiser. Raises `InputError` for a statement whose runs these families do not cover.
    """
    method = covered(statement)
    if method.algorithm.oracle == "prox":
        return max(_of_prox(statement, values, scale), key=lambda each: each.left)
    source = statement.vocabulary.facts.get(scale or "")
    found = [*_alike(statement, method, values)] if source is None else []
    if not _of_alike_alone(statement):
        found += [_best(family) for family in _families(statement, method, values, source)]
    elif not found:
        raise InputError(unknown(statement, scale) or f"{statement.key}: nothing is known with noise or a difference")
    # Of two that are as hard the first: what is moved by nothing but its start is the simplest.
    return max(found, key=lambda each: each.left)


def unknown(statement: Statement, scale: str | None) -> str:
    """Why there are no hard instances on which a scale, as in `worst`, makes the left side large; empty where some are.

    Of the last round, of values and of distances they are known without noise and where clients do not differ.
    """
    if scale is None or not _of_alike_alone(statement):
        return ""
    return f"no hard instances are known on which {scale} alone makes this left side large"


def _of_alike_alone(statement: Statement) -> bool:
    return alike_instances.covers(statement) and alike_instances.only(statement)


def _alike(statement: Statement, method: Method, values: Mapping[str, float]) -> Iterator[Hard]:
    """Clients that are alike, where nothing disturbs them."""
    facts = statement.vocabulary.facts
    if not alike_instances.covers(statement) or any(values.get(s) for s, fact in facts.items() if fact in DISTURBANCES):
        return
    full, run = _alike_run(statement, method, values)
    limits = Limits.of(statement, full)
    for each in alike_instances.instances(run, statement.claims[0].metric.over, _weights(statement, full), limits):
        yield Hard(
            statement, full, each.name, "u", (run.n,), (each.curvature,), (0.0,), each.start, (), each.left,
            kink=each.kink,
        )  # fmt: skip


def _alike_run(
    statement: Statement, method: Method, values: Mapping[str, float]
) -> tuple[Mapping[str, float], AlikeRun]:  # fmt: skip
    full, _ = statement.complete(values)
    K, T = _steps_and_rounds(statement, method, full)
    n = full.get(statement.vocabulary.run.get("clients", ""), 1.0)
    return full, AlikeRun(method, n, K, T, _step_sizes(statement, method, full))


def _of_prox(statement: Statement, values: Mapping[str, float], scale: str | None) -> Iterator[Hard]:
    full, _ = statement.complete(values)
    for each in flame_instances.instances(statement, full, _weights(statement, full), starts=scale is None):
        yield Hard(
            statement, full, each.name, "u", each.sizes, each.curvatures, each.slopes, each.start, (), each.left,
            each.runs,
        )  # fmt: skip


def typical(statement: Statement, values: Mapping[str, float], scale: str | None = None) -> float:
    """The left side of a well-conditioned quadratic at a setting; arguments and errors as for `worst`.

    It has eight coordinates with curvatures from L/10 to L. What may be lost at the start, the noise and the difference
    between clients are spread over them evenly, and all clients have the same curvatures.
    """
    method = covered(statement)
    spread = np.geomspace(0.1, 1.0, _COORDINATES)
    # The left side is a quadratic in each mode's start, slope and noise: an eighth of all three is an eighth of it.
    if method.algorithm.oracle == "prox":
        full, _ = statement.complete(values)
        weights = _weights(statement, full)
        lefts = flame_instances.averages(statement, full, weights, spread, starts=scale is None)
        return max(float(each.mean()) for each in lefts)
    if _of_alike_alone(statement):
        complete, run = _alike_run(statement, method, values)
        limits, over = Limits.of(statement, complete), statement.claims[0].metric.over
        return float(
            alike_instances.quadratics(run, over, _weights(statement, complete), limits, limits.L * spread).mean()
        )  # fmt: skip
    source = statement.vocabulary.facts.get(scale or "")
    means = []
    for family in _families(statement, method, values, source):
        if any(family.flat):
            continue
        curvatures = _fact(statement, family.values, "L", 1.0) * spread
        slope = _slope(statement, family.values) if any(family.signs) else 0.0
        means.append(float(_lefts(family, curvatures, slope)[0].mean()))
    return max(means)


def check_covered(statement: Statement) -> None:
    """Raise `InputError` unless there are hard instances for the statement's runs and for what it says of them."""
    if not _of_alike_alone(statement):
        check_measurable(statement)
    covered(statement)


def covered(statement: Statement) -> Method:
    """The method of a statement that these families are about; raises `InputError` for any other."""
    method = METHODS.get(statement.algorithm or "")
    if method is not None and method.algorithm.bilevel:
        order = "simfbo/theorem-2-order" if statement.algorithm == "shrofbo" else "simfbo/theorem-1-order"
        raise InputError(
            f"{statement.key}: hard instances of bilevel runs are known for the printed orders, see {order}"
        )
    if method is None or not _known(method, statement):
        raise InputError(f"{statement.key} is about no run that hard instances are known for")
    check_alike(method.algorithm, "a hard instance")
    if not method.algorithm.tabled:
        what = method.algorithm.beyond or "is not linear"
        raise InputError(
            f"{method.name} {what}, and no hard instances are known for such methods; 'ratecheck scaling "
            f"{statement.key}' measures the rate on a problem"
        )
    if reasons := foreign(statement):
        raise InputError(f"{statement.key}: {reasons[0]}")
    sides = (measured_in(claim.bound, statement.vocabulary) for claim in statement.claims)
    if names := sorted(frozenset().union(*sides)):
        raise InputError(f"{statement.key} has {', '.join(names)} on its right side, which every run has its own of")
    assumptions, facts = {*statement.assumptions}, statement.vocabulary.facts
    laws = {*LAWS, Assumption.INDEPENDENT_PARTICIPATION}
    if unmet := sorted(each.value for each in assumptions - _SAMPLED - _MET - {Assumption.DRAWN_STEP_SIZES} - laws):
        raise InputError(f'{statement.key} assumes "{unmet[0]}", of which no hard instances are known')
    if named := sorted({facts[s] for s in statement.parameters if facts.get(s) in _LEAST_CURVED}):
        raise InputError(f"{statement.key} has a rate for {named[0].replace('_', ' ')}, which is no power of T")
    if named := [s for s in statement.parameters if facts.get(s) in _drawn_delays(statement)]:
        raise InputError(f"{statement.key} has {named[0]} in it, which no hard instance of this participation sets")
    if not _known_participation(statement, assumptions & laws):
        law = next((f', "{each.value}"' for each in statement.assumptions if each in laws), "")
        raise InputError(
            f"{statement.key}: no hard instances are known for its participation{law}; what it follows from may have a "
            f"card: {', '.join(statement.follows_from) or 'none'}"
        )
    return METHODS[method.exact] if method.exact else method


def _drawn_delays(statement: Statement) -> tuple[str, ...]:
    """Facts about delays that the families do not set: their means, and those of participants that are drawn."""
    if {Assumption.DRAWN_STEP_SIZES, Assumption.OBLIVIOUS_PARTICIPATION} & {*statement.assumptions}:
        return MEAN_DELAYS
    return (*DELAYS, *MEAN_DELAYS)


def _known_participation(statement: Statement, laws: set[Assumption]) -> bool:
    """Whether it is sampled, any, or drawn by a law that `drawn_delays` knows, with step sizes that are known then."""
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        return laws <= drawn_delays.LAWS and step_source(statement) is not None
    any_is_meant = Assumption.OBLIVIOUS_PARTICIPATION in statement.assumptions and not laws - _SAMPLED
    return any_is_meant or bool(_SAMPLED & {*statement.assumptions})


def _known(method: Method, statement: Statement) -> bool:
    return method.algorithm.oracle != "prox" or flame_instances.covers(statement)


# The left side of modes with a start, or with a variance of the noise: run(modes, start, noise).
_Left = Callable[[Modes, float, float], Array]


@dataclass(frozen=True)
class _Family:
    """Instances that differ in curvature: clients in groups, and what is large.

    ``flat`` groups have no curvature; ``signs`` are the slopes of the groups in units of the largest one.
    """

    statement: Statement
    values: Mapping[str, float]
    name: str
    block: str
    sizes: tuple[float, ...]
    flat: tuple[bool, ...]
    signs: tuple[float, ...]
    starts: bool
    period: tuple[Stretch, ...]
    left: _Left
    runs: bool = True

    def modes(self, h: Array, slope: float) -> Modes:
        """The modes with these curvatures."""
        curvature = np.where(self.flat, 0.0, h[:, None])
        return Modes(curvature, np.broadcast_to(slope * np.array(self.signs), curvature.shape), self.sizes)


def _families(
    statement: Statement, method: Method, values: Mapping[str, float], source: str | None
) -> Iterator[_Family]:
    oblivious = not _SAMPLED & {*statement.assumptions}
    law, values = drawn_delays.drawn(statement, values)
    n = int(values.get(statement.vocabulary.run.get("clients", ""), 1))
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
                full, _ = statement.complete(_setting(statement, values, source))
                # Who else takes part matters to what clients differ by alone.
                for who, each in law.variants[: None if differs and source else 1]:
                    run, known = _drawn_left(statement, method, full, block, each), law.has_instance
                    yield _Family(statement, full, name + who, block, sizes, flat, signs, starts, (), run, known)
            elif oblivious:
                for who, present, late in _ABSENT[: 1 if n == 1 else None]:
                    period, full = _scheduled(
                        statement, _setting(statement, values, source), present, len(sizes), late=late
                    )
                    run = _scheduled_left(statement, method, full, period)
                    yield _Family(
                        statement, full, f"{name}, {who}", block, sizes, flat, signs, starts, period, run
                    )  # fmt: skip
            else:
                full, _ = statement.complete(values)
                run = _sampled_left(statement, method, full, block)
                yield _Family(statement, full, name, block, sizes, flat, signs, starts, (), run)


# Who stays away, which groups are then there, and whether a period begins with it.
_ABSENT = (
    ("all away at times", frozenset[int](), False),
    ("one half away at times", frozenset({0}), False),
    ("one half away at first and at times", frozenset({0}), True),
)


def _setting(statement: Statement, values: Mapping[str, float], source: str | None) -> dict[str, float]:
    """The values, with small first gradients unless these are what is looked at."""
    facts = {fact: s for s, fact in statement.vocabulary.facts.items() if s in values}
    if source == "mean_B_0" or not {"mean_B_0", "F_0", "L"} <= facts.keys():
        return dict(values)
    return {**values, facts["mean_B_0"]: FLAT * values[facts["F_0"]] * values[facts["L"]]}


def _scheduled(
    statement: Statement, values: Mapping[str, float], present: frozenset[int], groups: int, *, late: bool
) -> tuple[tuple[Stretch, ...], dict[str, float]]:
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
    full, _ = statement.complete({**values, **realised})
    return period, full


def _best(family: _Family) -> Hard:
    """The worst curvature of a family."""
    statement, values = family.statement, family.values
    L = _fact(statement, values, "L", 1.0)
    grid = L * np.logspace(-_DECADES, 0, _DECADES * _PER_DECADE + 1)
    slope = _slope(statement, values) * (_DRIFTED if any(family.flat) else 1.0) if any(family.signs) else 0.0
    best, start, left = float(grid[-1]), 0.0, -math.inf
    for _ in range(_CLOSER):
        lefts, starts = _lefts(family, grid, slope)
        at = int(np.nanargmax(lefts)) if np.isfinite(lefts).any() else 0
        best, start, left = float(grid[at]), float(starts[at]), float(lefts[at])
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        grid = np.geomspace(low, high, 9) if high > low else grid
    curvatures = tuple(0.0 if flat else best for flat in family.flat)
    slopes = tuple(slope * sign for sign in family.signs)
    return Hard(
        statement, values, family.name, family.block, family.sizes, curvatures, slopes, start, family.period, left,
        family.runs,
    )  # fmt: skip


def _lefts(family: _Family, h: Array, slope: float) -> tuple[Array, Array]:
    """The left side at each curvature, and the starts.

    A start and slopes together are two modes: on one their effects might cancel.
    """
    statement, values = family.statement, family.values
    noise = sum(
        values.get(symbol, 0.0) ** 2
        for symbol, fact in statement.vocabulary.facts.items()
        if fact in NOISE and fact in ("sigma", f"sigma_{family.block}")
    )
    # Without noise and slope nothing moves.
    left = family.left(family.modes(h, slope), 0.0, noise) if noise or slope else np.zeros_like(h)
    starts = _starts(statement, values, h, slope) if family.starts else np.zeros_like(h)
    if starts.any():
        with np.errstate(over="ignore"):
            left = left + family.left(family.modes(h, 0.0), 1.0, 0.0) * starts**2
    return left, starts


def _sampled_left(statement: Statement, method: Method, values: Mapping[str, float], block: str) -> _Left:
    run = statement.vocabulary.run
    n = values.get(run.get("clients", ""), 1.0)
    m = n if Assumption.FULL_PARTICIPATION in statement.assumptions else values.get(run.get("participants", ""), n)
    K, T = _steps_and_rounds(statement, method, values)
    ready = ModeRun(method, block, float(m), K, T, _step_sizes(statement, method, values))
    weights = _weights(statement, values)
    return lambda modes, start, noise: ready.averages(modes, weights, start=start, noise=noise)


def _scheduled_left(
    statement: Statement, method: Method, values: Mapping[str, float], period: tuple[Stretch, ...]
) -> _Left:
    K, T = _steps_and_rounds(statement, method, values)
    if Assumption.DRAWN_STEP_SIZES in statement.assumptions:
        values = drawn_delays.with_step_sizes(statement, values)
    ready = ScheduledRun(method, "u", K, T, _step_sizes(statement, method, values), period)
    return lambda modes, start, noise: ready.averages(modes, start=start, noise=noise)


def _drawn_left(statement: Statement, method: Method, values: Mapping[str, float], block: str, law: Drawn) -> _Left:
    K, _ = _steps_and_rounds(statement, method, values)
    steps = _step_sizes(statement, method, drawn_delays.with_step_sizes(statement, values, law.delays))
    return lambda modes, start, noise: law.averages(method, block, K, steps, modes, start=start, noise=noise)


def _weights(statement: Statement, values: Mapping[str, float]) -> dict[str, float]:
    """How much of each recorded quantity the left side has."""
    facts = statement.vocabulary.facts
    return {facts[q.name]: number(w, values) for q, w in statement.claims[0].metric.weights.items()}


def _steps_and_rounds(statement: Statement, method: Method, values: Mapping[str, float]) -> tuple[int, int]:
    run = statement.vocabulary.run
    K = method.fixed.get("K", values.get(run.get("local_steps", ""), 1.0))
    return int(K), int(values.get(run.get("rounds", ""), 1.0))


def _starts(statement: Statement, values: Mapping[str, float], h: Array, slope: float) -> Array:
    """The farthest start that the constants allow at each curvature."""
    facts = {fact: s for s, fact in statement.vocabulary.facts.items() if s in statement.parameters and s in values}
    limits = [2 * values[facts[fact]] / h for fact in ("F_0", "lagrangian_gap") if fact in facts]
    if "distance2_0" in facts:
        limits.append(np.full_like(h, values[facts["distance2_0"]]))
    if "mean_B_0" in facts:
        limits.append(np.maximum(values[facts["mean_B_0"]] - slope**2, 0.0) / h**2)
    return np.asarray(np.sqrt(np.min(limits, axis=0))) if limits else np.zeros_like(h)


def _slope(statement: Statement, values: Mapping[str, float]) -> float:
    """The largest slope that the constants allow; where nothing limits it, that of the smoothness at the start."""
    facts = {fact: s for s, fact in statement.vocabulary.facts.items() if s in statement.parameters and s in values}
    if {"b", "minimiser_heterogeneity"} & facts.keys():
        return min(values[facts[fact]] for fact in ("b", "minimiser_heterogeneity") if fact in facts)
    if "mean_B_0" in facts:
        return math.sqrt(values[facts["mean_B_0"]] / 2)
    if "B_0" in facts:
        return math.sqrt(values[facts["B_0"]] / values[statement.vocabulary.run["clients"]])
    return math.sqrt(_fact(statement, values, "L", 1.0) * _fact(statement, values, "F_0", 1.0))


def _fact(statement: Statement, values: Mapping[str, float], fact: str, default: float) -> float:
    symbol = next((s for s, f in statement.vocabulary.facts.items() if f == fact and s in values), None)
    return default if symbol is None else values[symbol]


def _step_sizes(statement: Statement, method: Method, values: Mapping[str, float]) -> dict[str, float]:
    """The method's own parameters at a setting."""
    vocabulary = statement.vocabulary
    n = int(values.get(vocabulary.run.get("clients", ""), 1))
    known, steps = dict(values), dict[str, float]()
    for rule in statement.step_products:
        # Where nothing but the product is prescribed, the factors do not matter.
        if rule.product.name in known and rule.local.name not in known:
            known.setdefault(rule.outer.name, 1.0)
        rule.fill(known)
    for name in method.step_sizes:
        if name in vocabulary.derived:
            steps[name] = number(vocabulary.derived[name], values)
        elif name in known:
            steps[name] = known[name]
        elif (default := method.algorithm.optional.get(name)) is not None:
            steps[name] = default(n)
    return {k: float(np.ravel(v)[0]) for k, v in method.resolve(steps, n).items()}
