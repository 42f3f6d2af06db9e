"""What in a statement nothing can meet, whatever the numbers are: settings, step rules and conditions.

It is the same for a statement that `bounds.theorem.theorem` makes and for one that is written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy as sp

from bounds.errors import InputError
from bounds.numbers import as_float, holds
from bounds.roots import shown
from bounds.statement import OPERATORS, Assumption, Condition, Over, Relation, Statement, number
from bounds.symbols import Domain, Role

# The sign of longer formulas is not evaluated.
_LONGEST = 400


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """Why nothing meets the statement: the ``field``, a ``place`` in it such as ``settings['K']``, and the reason."""

    field: str
    place: str
    reason: str


def faults(statement: Statement) -> Iterator[Contradiction]:
    """Settings and step sizes outside their domain, or set by way of themselves; conditions that are always false.

    A condition is false where its sides show it by numbers, or SymPy by the domains of its symbols. Parts that are no
    formulas are passed over.
    """
    if circles := [*_circles("settings", statement.settings)]:
        yield from circles
        return
    rules = {
        rule.symbol.name: rule.value
        for rule in statement.step_rules
        if not (rule.at_least or rule.free) and isinstance(rule.value, sp.Expr)
    }
    fixed = _settings(statement)
    yield from _early(statement)
    yield from _outside("settings", statement, fixed)
    yield from _misordered(statement, fixed)
    yield from _circles("step_rules", rules)
    yield from _outside("step_rules", statement, {name: _put(value, fixed) for name, value in rules.items()})
    yield from _single(statement)
    for k, condition in enumerate(statement.conditions):
        if isinstance(condition.left, sp.Expr) and isinstance(condition.right, sp.Expr):
            # What nobody named is called by what it says.
            named = condition.name != condition.text
            place = f"conditions[{condition.name!r}]" if named else f"conditions[{k}]"
            if reason := _false(condition, fixed):
                yield Contradiction(field="conditions", place=place, reason=reason)


def _settings(statement: Statement) -> dict[str, sp.Expr]:
    """Settings of the statement, each with the others put in."""
    fixed = dict(statement.settings)
    for _ in fixed:
        fixed = {name: _put(value, statement.settings) for name, value in fixed.items()}
    return fixed


def _put(expr: sp.Expr, values: Mapping[str, sp.Expr]) -> sp.Expr:
    return expr.xreplace({symbol: values[symbol.name] for symbol in expr.free_symbols if symbol.name in values})


def _early(statement: Statement) -> Iterator[Contradiction]:
    """Settings by what only a run has."""
    vocabulary = statement.vocabulary
    for name, value in statement.settings.items():
        # What is in a formula may be a symbol of no vocabulary, which is said elsewhere.
        names = sorted(each.name for each in value.free_symbols if each.name in vocabulary.order)
        if later := [each for each in names if vocabulary[each].role in (Role.STEP_SIZE, Role.MEASURED)]:
            reason = f"{name} is fixed before there is a run, and {later[0]} is a {vocabulary[later[0]].role.value}"
            reason += f": write a condition, or what it makes of {later[0]} as a step rule"
            yield Contradiction(field="settings", place=f"settings[{name!r}]", reason=reason)


def _outside(field: str, statement: Statement, values: Mapping[str, sp.Expr]) -> Iterator[Contradiction]:
    """Values outside of the domain of their symbol: numbers, and formulas whatever their numbers are."""
    for name, value in values.items():
        quantity = statement.vocabulary[name]
        try:
            if value.is_number:
                quantity.check(as_float(name, value))
            elif _never(quantity.domain, value):
                what = f"{name} ({quantity.meaning}) is {quantity.domain.value}"
                raise InputError(f"{what}, which {shown(value)} is for no numbers")
        except InputError as error:
            yield Contradiction(field=field, place=f"{field}[{name!r}]", reason=str(error))


def _never(domain: Domain, value: sp.Expr) -> bool:
    """Whether SymPy sees that a formula lies outside of a domain, whatever the numbers are."""
    if domain is Domain.REAL or sp.count_ops(value) > _LONGEST:
        return False
    if domain is Domain.POSITIVE_INTEGER and value.is_integer is False:
        return True
    # Whole numbers are at least 1, which SymPy sees where they are 1 and what is above.
    above = {each: 1 + sp.Dummy(integer=True, nonnegative=True) for each in value.free_symbols if each.is_integer}
    signs = [
        each.is_negative if domain is Domain.NONNEGATIVE else each.is_nonpositive
        for each in (value, sp.expand(value.xreplace(above)))
    ]
    return any(signs)


def _misordered(statement: Statement, fixed: Mapping[str, sp.Expr]) -> Iterator[Contradiction]:
    vocabulary = statement.vocabulary
    for smaller, larger in statement.ordered:
        first = next((name for name in (smaller, larger) if name in fixed), None)
        if first is None:
            continue
        left, right = (fixed.get(name, vocabulary[name].symbol) for name in (smaller, larger))
        if sp.expand(left - right).is_positive:
            reason = f'"{smaller} <= {larger}" is broken: {shown(left)} <= {shown(right)} is false'
            yield Contradiction(field="settings", place=f"settings[{first!r}]", reason=reason)


def _circles(field: str, rules: Mapping[str, sp.Expr]) -> Iterator[Contradiction]:
    """Rules that set a parameter by way of itself; a step rule that is only a default may name what depends on it."""
    for start in rules:
        ways: list[tuple[str, ...]] = [(start,)]
        while ways:
            way = ways.pop()
            for name in sorted(one.name for one in rules[way[-1]].free_symbols if one.name in rules):
                if name == start:
                    through = " -> ".join((*way, start))
                    reason = f"{start} is set by way of itself, {through}: make it a condition, or solve for it"
                    yield Contradiction(field=field, place=f"{field}[{start!r}]", reason=reason)
                elif name not in way:
                    ways.append((*way, name))


def _single(statement: Statement) -> Iterator[Contradiction]:
    """Contradictions of a claim on the last or the best round alone."""
    for claim in statement.claims:
        over, sides = claim.metric.over, (claim.bound, claim.metric.expr)
        if over not in (Over.LAST_ROUND, Over.AFTER_ROUNDS, Over.BEST_ROUND):
            continue
        names = {symbol.name for side in sides if isinstance(side, sp.Expr) for symbol in side.free_symbols}
        if before := sorted(name for name in names if name.endswith("_prev")):
            reason = f"{over.value} is one round, and {before[0]} is of the one before: use every_round_but_first"
        elif over is Over.BEST_ROUND and claim.relation is not Relation.AT_MOST:
            reason = f"{over.value} is the one with the least left side: the relation has to be '<='"
        elif Assumption.DRAWN_STEP_SIZES in statement.assumptions:
            reason = f"step sizes of the participation that is drawn are for means over the rounds, not {over.value}"
        else:
            continue
        yield Contradiction(field="over", place="over", reason=reason)


def _false(condition: Condition, fixed: Mapping[str, sp.Expr]) -> str:
    """Reason why a condition is false whatever the numbers are; empty where none is seen."""
    if condition.operator not in OPERATORS:
        return ""
    if not _refuted(condition.left, condition.operator, condition.right):
        left, right = _put(condition.left, fixed), _put(condition.right, fixed)
        if (left, right) == (condition.left, condition.right) or not _refuted(left, condition.operator, right):
            return ""
        values = ", ".join(f"{name}={shown(fixed[name])}" for name in sorted(condition.symbols & fixed.keys()))
        return f"{condition.text} is false with the settings {values}: nothing meets it"
    return f"{condition.text} is false whatever the numbers are: nothing meets it"


def _refuted(left: sp.Expr, operator: str, right: sp.Expr) -> bool:
    if not (left.free_symbols or right.free_symbols):
        return not holds(number(left, {}), operator, number(right, {}))
    above = left - right if operator in ("<=", "<", "==") else right - left
    if sp.count_ops(above) > _LONGEST:
        return False
    if operator == "==":
        return above.is_zero is False
    return bool(above.is_nonnegative if operator in ("<", ">") else above.is_positive)
