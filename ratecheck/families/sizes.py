"""Sizes of a run, where a statement leaves them open: rounds, local steps, noise, counts, parameters of the method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from bounds.statement import Assumption, Over, Statement, names_in, number
from bounds.symbols import Role
from ratecheck.algorithms import METHODS
from ratecheck.certification.certified_constants import NOISE
from ratecheck.engines.wanted import recordable
from ratecheck.errors import InputError
from ratecheck.families.coordinates import EDGE, factor, or_zero, share, whole
from ratecheck.families.family import OF_QUIET_RUNS, Coordinates, InstanceCube, InstanceShape
from ratecheck.families.statements import FEW, has_delays
from ratecheck.settings.applicability import counts, every_participation, method_of, steps_of_method

# The largest numbers of local steps and rounds: those of expectations by repeated squaring, and of those whose cost
# grows with both.
_FAR = (1e6, 1e9)
_NEAR = (32.0, 32.0)
_NEAR_OF_MANY = (8.0, 8.0)
_BY_ENTRY = (1e6, 64.0)
_ROUND_BY_ROUND = (1e6, 200.0)
# Methods that are not linear are followed local step by local step, in Python.
_STEP_BY_STEP = (8.0, 200.0)
# The share of instances in which a client takes one local step, where clients take different numbers of them.
_ONE_STEP = 0.25


class Sizes(InstanceCube):
    """The run's sizes by the coordinates of a cube; numbers that are ``fixed`` are those of all instances."""

    def __init__(self, statement: Statement, shape: InstanceShape, fixed: Mapping[str, float] | None = None) -> None:
        self.statement, self.shape, self.fixed = statement, shape, fixed or {}

    def _step_axes(self) -> Iterator[str]:
        yield from ("rounds", "local_steps")
        yield from (f"local_steps {group}" for group in self._other_groups if self._steps_of_each)

    def _size_axes(self) -> Iterator[str]:
        yield from (f"noise {symbol}" for symbol in self.noises)
        yield from (f"parameter {name}" for name in self._parameters)
        yield from (f"count {name}" for name in self._counts)

    def settings(self, at: Coordinates) -> dict[str, Any]:
        """The sizes at a point; the numbers that are fixed are as given."""
        statement, roles = self.statement, self.statement.vocabulary.run
        most_steps, most_rounds = self.reach
        values = {
            "participants": float(self.shape.size),
            "local_steps": whole(at["local_steps"], most_steps),
            "rounds": max(whole(at["rounds"], most_rounds), float(self.fewest_rounds)),
        }
        given: dict[str, Any] = {name: values[role] for role, name in self._open_sizes}
        given |= self._steps_of_method
        if self._steps_of_each:
            # Clients that take one step have a share of the cube.
            places = (
                max(at[f"local_steps {group}"] - _ONE_STEP, 0.0) / (1 - _ONE_STEP) for group in self._other_groups
            )
            steps = [given.pop(roles["local_steps"]), *(whole(place, most_steps) for place in places)]
            given[self._steps_of_each] = [steps[group] for group in self.shape.group_of]
        for symbol in self._open_noises:
            given[symbol] = or_zero(at[f"noise {symbol}"]) if symbol in self.noises else 0.0
        for name in self._parameters:
            x = at[f"parameter {name}"]
            kept = method_of(statement).algorithm.compressed and name == "q"  # type: ignore[union-attr]  # has parameters
            given[name] = share(x) if kept else 1.0 if x > EDGE else 4 * factor(x / EDGE)
        # A round of each client, say: the run is that many times longer.
        given |= {name: whole(at[f"count {name}"], most_rounds // self.shape.n) for name in self._counts}
        if not self.fixed:
            self._check_rounds(given)
            return given
        own = {roles.get("clients"), *self._own_noise}
        return given | {name: value for name, value in self.fixed.items() if name not in own}

    def _check_rounds(self, given: Mapping[str, Any]) -> None:
        """Raise `InputError` where the statement makes a run longer than one that is drawn, as T = 2**k - 1 may."""
        name, most = self.statement.vocabulary.run.get("rounds", ""), self.reach[1]
        rule = self.statement.settings.get(name)
        if rule is not None and names_in(rule) <= given.keys() and (rounds := number(rule, given)) > most:
            raise InputError(f"{name}={rounds:.10g} are more rounds than the {most:.10g} that are followed")

    @cached_property
    def _open_sizes(self) -> tuple[tuple[str, str], ...]:
        """The sizes of a run that the statement does not fix: roles and names."""
        roles, fixed = self.statement.vocabulary.run, self.statement.settings
        known = [(role, roles[role]) for role in ("participants", "local_steps", "rounds") if role in roles]
        return tuple((role, name) for role, name in known if name not in fixed)

    @cached_property
    def _steps_of_method(self) -> dict[str, float]:
        """What the method fixes of these."""
        return {k: v for k, v in steps_of_method(self.statement).items() if k not in self.statement.settings}

    @cached_property
    def _open_noises(self) -> tuple[str, ...]:
        """Symbols of noise that neither the statement nor the problem fixes."""
        facts, settings = self.statement.vocabulary.facts.items(), self.statement.settings
        return tuple(s for s, fact in facts if fact in NOISE and s not in {*settings, *self._own_noise})

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The largest numbers of local steps and of rounds."""
        if (own := self.family.reach(self.statement, self.shape)) is not None:
            return own
        statement, shape = self.statement, self.shape
        means = all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in statement.claims)
        fixed_law = not shape.trace and not every_participation(statement)
        method = method_of(statement)
        near = _NEAR_OF_MANY if shape.n > FEW else _NEAR
        # What lemmas speak of is computed local step by local step.
        slow = method is not None and not recordable(statement.recorded)
        if slow or {Assumption.DRAWN_STEP_SIZES, Assumption.SKEWED_SELECTION} & {*statement.assumptions}:
            return near
        if method is not None and method.algorithm.varying:
            return _NEAR
        if method is not None and not method.algorithm.linear:
            return _NEAR_OF_MANY if shape.n > FEW else _STEP_BY_STEP
        if not means:
            return _BY_ENTRY
        # Expected delays of a random pattern are found by following it.
        followed = (method is not None and method.algorithm.uses_delay) or statement.counts_rounds
        far = (fixed_law and not has_delays(statement)) or (shape.size == shape.n and not shape.trace)
        return _FAR if far and not followed else _ROUND_BY_ROUND

    @cached_property
    def noises(self) -> tuple[str, ...]:
        """Noise of the variables that there are, where the statement does not say how large it is."""
        if not self.family.noise or OF_QUIET_RUNS & {*self.statement.assumptions}:
            return ()
        absent = {name for name, d in (("sigma_u", self.shape.d_u), ("sigma_v", self.shape.d_v)) if not d}
        facts = self.statement.vocabulary.facts.items()
        return tuple(s for s, fact in facts if fact in {*NOISE} - absent and s not in self.statement.settings)

    @cached_property
    def _counts(self) -> tuple[str, ...]:
        return counts(self.statement)

    @cached_property
    def fewest_rounds(self) -> int:
        """2 where rounds are spoken of one by one: the first says little, and two have it as well."""
        one_by_one = {Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST}
        return 1 + any(claim.metric.over in one_by_one for claim in self.statement.claims)

    @property
    def _other_groups(self) -> range:
        return range(1, len({*self.shape.group_of}))

    @cached_property
    def _steps_of_each(self) -> str:
        """The name under which clients are given local steps of their own; empty where the statement has no such."""
        alike = self.family.quiet or self.shape.groups == 1
        if Assumption.UNEQUAL_STEPS not in self.statement.assumptions or alike:
            return ""
        vocabulary = self.statement.vocabulary
        mean = vocabulary.run.get("local_steps", "")
        names = [each.name for each in vocabulary.aliases.values() if each.many and mean in each.targets]
        return next((name for name in names if not {name, mean} & {*self.fixed, *self.statement.settings}), "")

    @cached_property
    def _own_noise(self) -> set[str]:
        """Levels of noise that a problem with samples has by itself."""
        facts = self.statement.vocabulary.facts.items()
        return {name for name, fact in facts if fact in {*NOISE, "sigma_gg"}} if self.family.own_noise else set()

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        """Parameters of the method that the paper counts among the settings, and free numbers without a default."""
        method, vocabulary = METHODS.get(self.statement.algorithm or ""), self.statement.vocabulary
        names = () if method is None else method.algorithm.step_sizes
        free = (
            name
            for name in self.statement.parameters
            if vocabulary[name].role is Role.FREE and vocabulary[name].default is None
        )
        own = tuple(
            name
            for name in names
            if name in vocabulary
            and name not in {*vocabulary.derived, *self.statement.settings}
            and all(vocabulary[t].role is Role.SETTING for t in vocabulary.reach(name))
        )
        return (*own, *(name for name in free if name not in {*self._counts, *self.statement.settings}))
