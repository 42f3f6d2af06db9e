"""The feasible set of the step sizes of a statement once the constants are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bounds.numbers import as_float
from bounds.statement import Condition, Statement, names_in, number
from bounds.symbols import Role
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible_intervals import feasible, is_empty, narrow, project, unrestricted
from ratecheck.stepsizes.constraints import Fixed, Intervals, ProductRule, Restriction, Rule, out_of_range
from ratecheck.stepsizes.equations import pinned
from ratecheck.stepsizes.interval import HUGE, TINY

# What was found about regions, by all that they depend on.
Memory = dict[tuple[object, ...], dict[str, Any]]


@dataclass(frozen=True)
class FeasibleSet:
    """Constraints on the step sizes ``names`` of a statement at given constants, and on constants left free like them.

    ``rules`` are its conditions and products there, ``fixed`` the step sizes that the caller has fixed; ``broken``
    has the conditions without step sizes, which none of them can mend. ``kept`` is what was found about the region,
    which problems share that differ only in constants on which no condition depends.
    """

    statement: Statement
    names: tuple[str, ...]
    values: dict[str, float]
    rules: tuple[Rule, ...]
    fixed: tuple[Fixed, ...]
    broken: tuple[Condition, ...]
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def of(
        statement: Statement, given: Mapping[str, float], free: tuple[str, ...] = (), memory: Memory | None = None
    ) -> FeasibleSet:
        """At the given numbers, the constants in ``free`` being open; raises `InputError` as `step_sizes` does.

        ``memory`` is that of one statement with the same step sizes left open.
        """
        names = step_names(statement) + free
        if not names:
            raise InputError(f"{statement.key} has no step sizes: there is nothing to choose")
        constants = {name: value for name, value in given.items() if name not in names}
        values, _ = statement.bare.complete(constants)
        fixed = {name: as_float(name, value) for name, value in given.items() if name in names}
        for name, value in fixed.items():
            statement.vocabulary[name].check(value)
            if not TINY <= value <= HUGE:
                raise out_of_range(f"{name}={value:g}")
        _require(statement, values, names)
        kept = {} if memory is None else memory.setdefault(_signature(statement, values, fixed), {})
        if "rules" not in kept:
            kept["rules"] = tuple(_rules(statement, values, names))
        checks = statement.check_conditions(values)
        return FeasibleSet(
            statement=statement,
            names=names,
            values=values,
            rules=kept["rules"],
            fixed=tuple(Fixed(name, value) for name, value in fixed.items()),
            broken=tuple(check.condition for check in checks if check.holds is False),
            kept=kept,
        )

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """The rules and the fixed step sizes."""
        return (*self.rules, *self.fixed)

    def ruled(self) -> tuple[dict[str, float], dict[str, float]]:
        """The values that step rules set, and those they suggest; a rule may use what others set or what was given."""
        try:
            values, _ = self.statement.complete({**self.values, **{rule.symbol: rule.value for rule in self.fixed}})
        except InputError:
            # Step sizes that contradict each other; the rules that need none of them still have a value.
            values = self.values
        sets: dict[str, float] = {}
        suggests: dict[str, float] = {}
        for rule in self.statement.step_rules:
            if names_in(rule.value) <= values.keys():
                (suggests if rule.free else sets)[rule.symbol.name] = number(rule.value, values)
        return sets, suggests

    def admissible(self, *extra: Rule) -> Intervals:
        """The interval of each step size under all rules and further ones; one is empty where nothing is admissible.

        Raises `InputError` where one lies beyond the step sizes that are looked at.
        """
        if "admissible" in self.kept and not extra:
            found: Intervals = self.kept["admissible"]
            return dict(found)
        rules = (*self.all_rules, *extra)
        box = narrow(rules, unrestricted(self.names))
        for name, interval in box.items():
            if not interval.empty and (interval.high < TINY or interval.low > HUGE):
                only = f"{name} <= {interval.high:.3g}" if interval.high < TINY else f"{name} >= {interval.low:.3g}"
                raise out_of_range(f"the conditions of {self.statement.key} leave only {only}")
        if not is_empty(box):
            box = project(rules, box)
        if not extra:
            if not is_empty(box):
                self._check_throughout(box)
            self.kept["admissible"] = dict(box)
        return box

    def _check_throughout(self, box: Intervals) -> None:
        """Raise `InputError` where a condition on one step size fails inside its interval: it is not monotone."""
        for rule in self.rules:
            for inequality in rule.inequalities if isinstance(rule, Restriction) else ():
                if len(inequality.steps) == 1:
                    inequality.check_throughout(inequality.steps[0], box[inequality.steps[0]])

    def admits(self, steps: Mapping[str, float]) -> bool:
        """Whether step sizes, completed by some values of the others, meet every rule."""
        points = (Fixed(name, value) for name, value in steps.items())
        return not self.broken and feasible((*self.all_rules, *points), unrestricted(self.names))


def _signature(statement: Statement, values: Mapping[str, float], fixed: Mapping[str, float]) -> tuple[object, ...]:
    """Everything that the region depends on."""
    symbols = {name for condition in (*statement.hypotheses, *_settings(statement)) for name in condition.symbols}
    return tuple(sorted(fixed.items())), tuple((name, values.get(name)) for name in sorted(symbols))


def _rules(statement: Statement, values: Mapping[str, float], names: tuple[str, ...]) -> Iterator[Rule]:
    inside = frozenset(names)
    conditions = [each for each in (*statement.hypotheses, *_settings(statement)) if each.symbols & inside]
    equalities = set(pinned(conditions))
    for condition in conditions:
        yield Restriction.of(condition, values, inside, solve=condition in equalities)
    for p in statement.step_products:
        yield ProductRule(p.product.name, p.local.name, p.outer.name)


def step_names(statement: Statement) -> tuple[str, ...]:
    """The parameters of a statement that are step sizes."""
    return tuple(name for name in statement.parameters if statement.vocabulary[name].role is Role.STEP_SIZE)


def _settings(statement: Statement) -> list[Condition]:
    """The settings that the statement fixes, as conditions."""
    symbols = {name: statement.vocabulary[name].symbol for name in statement.settings}
    return [
        Condition(name=name, left=symbols[name], operator="==", right=expr) for name, expr in statement.settings.items()
    ]


def _require(statement: Statement, values: Mapping[str, float], names: tuple[str, ...]) -> None:
    needed = {name for condition in statement.hypotheses for name in condition.symbols if name not in names}
    missing = sorted(needed - values.keys())
    if missing:
        listed = ", ".join(f"{name} ({statement.vocabulary[name].meaning})" for name in missing)
        raise InputError(f"the conditions of {statement.key} need a value for {listed}; give it as {missing[0]}=...")
