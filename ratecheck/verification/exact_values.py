"""All numbers of a statement exactly, at which every condition is proved: formulas are evaluated, never rounded.

What cannot be decided so is said to be undecided, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import sympy as sp

from bounds.statement import Condition, Statement
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError, enclose
from ratecheck.stepsizes.choose import GIVEN, chosen_values

# By how much a step size may be moved so that a condition holds exactly, and what counts as rounding of a condition.
_NUDGE, _ROUNDING = Fraction(1, 2**38), Fraction(1, 10**9)

Numbers = Mapping[str, Number]


class ForeignError(Exception):
    """The instance is proved not to meet the assumptions or conditions."""


@dataclass(frozen=True)
class ExactValues:
    """Numbers by symbol, and in words what was moved so that the conditions hold exactly."""

    values: Numbers
    notes: tuple[str, ...] = ()


def exact_values(statement: Statement, known: Numbers) -> ExactValues:
    """All numbers of a statement: step sizes as the statement and the instance set them, and what derives from them.

    A step size is moved by rounding where a condition needs that. Raises `ForeignError` where a condition is broken,
    and `UndecidedError` where one holds up to rounding only.
    """
    found = _StepSizes.of(statement, known).settled()
    values = dict(found.values)
    for name, expr in statement.vocabulary.derived.items():
        if name in statement.parameters and name not in values:
            values[name] = enclose(expr, values).plain
    return ExactValues(values, found.notes)


@dataclass(frozen=True)
class _StepSizes:
    """``known`` numbers of a statement, all in floating point (``completed``), and where its step sizes come from."""

    statement: Statement
    known: Numbers
    completed: Mapping[str, float]
    chosen: Mapping[str, str]

    @staticmethod
    def of(statement: Statement, known: Numbers) -> _StepSizes:
        """Step sizes as the statement and the instance set them."""
        floats = {name: float(Enclosure.of(value).middle) for name, value in known.items()}
        return _StepSizes(statement, known, *chosen_values(statement, floats))

    def settled(self) -> ExactValues:
        """Exact values, moved by rounding where a condition needs that."""
        values = self._exact({})
        unproved = self._unproved(values)
        if not unproved:
            return ExactValues(values)
        for condition in unproved:
            left, right = (enclose(side, values) for side in (condition.left, condition.right))
            apart = max(right.low - left.high, left.low - right.high, Fraction(0))
            fixed = left.exact and right.exact and not condition.symbols & self.chosen.keys()
            if fixed or apart > _ROUNDING * max(abs(left.low), abs(right.low)):
                raise ForeignError(f'"{condition.text}" is broken: {float(left.low):.6g} and {float(right.low):.6g}')
        for name in self._free():
            for move in (-_NUDGE, _NUDGE):
                moved = self._exact({name: move})
                if not self._unproved(moved):
                    note = f"{name} is moved by {float(move):.2g} of it, so that the conditions hold exactly"
                    return ExactValues(moved, (note,))
        raise UndecidedError(f'"{unproved[0].text}" holds up to rounding only')

    def _free(self) -> list[str]:
        """Step sizes that nothing computes from others."""
        return [name for name in self.chosen if not self._computed(name) and name not in self._equalities]

    def _computed(self, name: str) -> bool:
        return self._ruled(name) or self._from_product(name)

    @cached_property
    def _equalities(self) -> Mapping[str, tuple[Condition, sp.Expr]]:
        """Step sizes that a condition such as gamma == 1/L sets, with the condition and the value that it says.

        A float next to it stands for that value, as one next to a prescribed step size does.
        """
        found: dict[str, tuple[Condition, sp.Expr]] = {}
        for condition in self.statement.hypotheses:
            if condition.operator != "==":
                continue
            gap = condition.left - condition.right
            for symbol in sorted(gap.free_symbols, key=str):
                rate = sp.diff(gap, symbol)
                alone = symbol.name in self.chosen and not self._computed(symbol.name) and symbol.name not in found
                if alone and symbol not in rate.free_symbols and symbol.name not in self.statement.settings:
                    found[symbol.name] = condition, -gap.xreplace({symbol: sp.S.Zero}) / rate
                    break
        return found

    def _ruled(self, name: str) -> bool:
        """Whether a rule of the statement sets it; a given value of what is prescribed stands for the formula."""
        rule = next((rule for rule in self.statement.step_rules if rule.symbol.name == name), None)
        if rule is None:
            return False
        if self.chosen[name] == GIVEN:
            return not rule.at_least and not rule.free
        return self.chosen[name] in ("prescribed", "smallest admissible", "default")

    def _from_product(self, name: str) -> bool:
        why = self.chosen[name]
        every_given = any(
            name == product.local.name and all(self.chosen.get(each) == GIVEN for each in product.names)
            for product in self.statement.step_products
        )
        return every_given or why == "from the others" or "/" in why

    def _exact(self, moved: Mapping[str, Fraction]) -> Numbers:
        """All numbers, free step sizes being multiplied by 1 + moved."""
        values: dict[str, Number] = {name: value for name, value in self.known.items() if name not in self.chosen}
        statement = self.statement
        for name in statement.parameters:
            default = statement.vocabulary[name].default
            if default is not None and name not in self.chosen:
                values.setdefault(name, Fraction(default))
        for name in self._free():
            if name not in statement.settings:
                base = self.known.get(name, Fraction(self.completed[name]))
                values[name] = base * (1 + moved[name]) if name in moved else base
        rules = {rule.symbol.name: rule.value for rule in statement.step_rules if self._is_ruled(rule.symbol.name)}
        equal = {name: value for name, (_, value) in self._equalities.items()}
        formulas = [*statement.settings.items(), *rules.items(), *equal.items()]
        # Conditions may speak of what stands for a formula, such as R_0.
        formulas += [(name, statement.formula(name)) for name in statement.parameters
                     if name in statement.vocabulary.equal]  # fmt: skip
        for product in statement.step_products:
            formulas.append((product.product.name, product.local * product.outer))
            formulas.append((product.local.name, product.product / product.outer))
            formulas.append((product.outer.name, product.product / product.local))
        for _ in range(len(formulas)):
            for name, expr in formulas:
                if name not in values and {s.name for s in expr.free_symbols} <= values.keys():
                    values[name] = enclose(expr, values).plain
        self._check_given(values)
        return values

    def _is_ruled(self, name: str) -> bool:
        return name in self.chosen and self._ruled(name)

    def _check_given(self, values: Numbers) -> None:
        """A given value has to be that of the formula that takes its place, but for rounding."""
        for name, given in self.known.items():
            used, said = Enclosure.of(values[name]).middle, Enclosure.of(given).middle
            if abs(used - said) > _ROUNDING * max(abs(used), abs(said)):
                raise ForeignError(f"{name}={float(said):.10g} is not what the statement sets, {float(used):.10g}")

    def _unproved(self, values: Numbers) -> list[Condition]:
        by_rule = {rule.condition.text for rule in self.statement.step_rules if self._is_ruled(rule.symbol.name)}
        by_rule |= {condition.text for condition, _ in self._equalities.values()}
        return [c for c in self.statement.hypotheses if c.text not in by_rule and not _proved_condition(c, values)]


def _proved_condition(condition: Condition, values: Numbers) -> bool:
    left, right = (enclose(side, values) for side in (condition.left, condition.right))
    if condition.operator == "<=":
        return left.high <= right.low
    if condition.operator == ">=":
        return left.low >= right.high
    if condition.operator == "<":
        return left.high < right.low
    if condition.operator == ">":
        return left.low > right.high
    return left.exact and right.exact and left == right
