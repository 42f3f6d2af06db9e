"""Conditions that exclude each other, that say nothing new, and that the statement's own step sizes break."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import sympy as sp

from bounds.errors import NoValueError
from bounds.ledger.step import Scalar
from bounds.statement import Condition, Statement, StepRule, names_in
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import QUICK
from ratecheck.auditing.dispatch import decide
from ratecheck.auditing.sanity import satisfied
from ratecheck.errors import InputError
from ratecheck.linting.draws import DrawnSettings, draws
from ratecheck.linting.finding import Finding, Found, Level, NotChecked, at
from ratecheck.stepsizes.admissible import region

CHECK, NEEDLESS, RULES = "conditions", "needless conditions", "step rules"
# Formulas of more operations are not proved anything about.
_LONGEST = 400
_SECONDS = 3.0


def check(statement: Statement, drawn: DrawnSettings) -> Found:
    """All findings about the conditions."""
    impossible = [*_impossible(statement, drawn)]
    yield from impossible
    if any(isinstance(each, Finding) for each in impossible):
        return
    yield from _rules(statement, drawn)
    yield from _needless(statement, drawn)


def hypotheses(statement: Statement) -> tuple[Condition, ...]:
    """The hypotheses on the parameters: conditions, step rules, settings, conventions, ordered symbols."""
    vocabulary = statement.vocabulary
    occurring = {name for each in statement.hypotheses for name in each.symbols}
    fixed = [
        Condition(name=name, left=vocabulary[name].symbol, operator="==", right=value)
        for name, value in statement.settings.items()
        if name in occurring
    ]
    products = [
        Condition(name=each.product.name, left=each.product, operator="==", right=each.local * each.outer)
        for each in statement.step_products
    ]
    ordered = [
        Condition(name=f"{one} <= {two}", left=vocabulary[one].symbol, operator="<=", right=vocabulary[two].symbol)
        for one, two in vocabulary.ordered
        if {one, two} <= occurring
    ]
    return (*statement.hypotheses, *fixed, *products, *ordered)


def _impossible(statement: Statement, drawn: DrawnSettings) -> Iterator[Finding | NotChecked]:
    """No setting meets all conditions: proved, or met nowhere."""
    if not statement.hypotheses or drawn.settings or statement.order_only:
        return
    core = _core(hypotheses(statement))
    if core:
        listed = " and ".join(f'"{each.text}"' for each in core)
        yield Finding(
            level=Level.ERROR,
            check=CHECK,
            field=_field(statement, core[0]),
            part=core[0].name,
            text=f"{listed} exclude each other, which is proved: the statement is about nothing"
            if len(core) > 1
            else f"{listed} never holds, which is proved: the statement is about nothing",
            remedy="weaken one of them",
        )
        return
    if witness := _satisfied(hypotheses(statement))[1]:
        yield NotChecked(check=CHECK, reason=f"no random setting meets its conditions, but they hold at {witness}")
        return
    if not drawn.closed:
        # A statement about constants that are seldom drawn together is no finding.
        yield NotChecked(check=CHECK, reason="no setting was drawn that meets its conditions on constants")
        return
    values = drawn.closed[0]
    listed = " and ".join(f'"{text}"' for text in _conflict(statement, values))
    names = sorted({name for each in statement.hypotheses for name in each.symbols})
    yield Finding(
        level=Level.WARNING,
        check=CHECK,
        field="conditions",
        text=f"none of {len(drawn.closed)} random settings leaves an admissible step size; at {at(values, names)} "
        f"{listed or 'the conditions'} exclude each other",
        remedy="weaken one of them, or write the condition on the constants under which they hold together",
        settings=len(drawn.closed),
    )


def _core(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """A smallest set of conditions that is proved to be contradictory; empty where none is."""
    if not _contradictory(conditions):
        return ()
    found = list(conditions)
    for each in conditions:
        rest = [other for other in found if other is not each]
        if rest and _contradictory(rest):
            found = rest
    return tuple(found)


def _contradictory(conditions: Sequence[Condition]) -> bool:
    if _satisfied(conditions)[0] is False:
        return True
    # The proof takes what is strict for what is not; with a positive number between the sides it need not.
    strict = [_apart(each, k) for k, each in enumerate(conditions)]
    return strict != [*conditions] and _satisfied(strict)[0] is False


def _apart(condition: Condition, k: int) -> Condition:
    """A strict comparison as one that is not, with a positive number of its own between the sides; others as they are.

    The one has a solution if and only if the other has.
    """
    if condition.operator not in ("<", ">"):
        return condition
    slack = sp.Symbol(f"room_{k}", positive=True)
    left, right = (condition.left, condition.right) if condition.operator == "<" else (condition.right, condition.left)
    return Condition(name=condition.name, left=left + slack, operator="<=", right=right)


def _satisfied(conditions: Sequence[Condition]) -> tuple[bool | None, str]:
    claim = Scalar(left=sp.Integer(1), operator="<=", right=sp.Integer(0), hypotheses=tuple(conditions))
    if _too_long(conditions):
        return None, ""
    try:
        with limit(_SECONDS):
            return satisfied(claim)
    except (OutOfTime, TypeError, NameError, AttributeError, ArithmeticError, ValueError):
        return None, ""


def _conflict(statement: Statement, values: Mapping[str, float]) -> tuple[str, ...]:
    try:
        return region(statement, values).conflict
    except InputError:
        return ()


def _rules(statement: Statement, drawn: DrawnSettings) -> Iterator[Finding]:
    """Exact step rules that break a condition at some settings: the statement says nothing there."""
    exact = [rule for rule in statement.step_rules if not rule.at_least]
    steps = {rule.symbol.name for rule in exact}
    for condition in statement.conditions:
        reached = steps & condition.symbols
        if not reached:
            continue
        broken, looked = [], 0
        for values in drawn.constants:
            completed = _completed(statement, values)
            found = None if completed is None else condition.check(statement.key, completed)
            if found is None or found.holds is None:
                continue
            looked += 1
            if not found.holds:
                broken.append(found)
        if not broken:
            continue
        first = broken[0]
        rule = next(each for each in exact if each.symbol.name in reached)
        names = sorted(names_in(rule.value) | (condition.symbols - reached))
        yield Finding(
            level=Level.NOTE if rule.free else Level.WARNING,
            check=RULES,
            field="step_rules",
            part=rule.symbol.name,
            text=f'the step rule {_rule_text(rule)} breaks the condition "{condition.text}" at {len(broken)} of '
            f"{looked} random settings, such as {at(first.values, names)}: there {first.left:.6g} {condition.operator} "
            f"{first.right:.6g} is false, and the statement says nothing",
            remedy="take the smaller of both in the rule, or write what the condition requires of the constants",
            settings=looked,
        )


def _rule_text(rule: StepRule) -> str:
    return f'"{rule.condition.text.replace("==", "=")}"'


def _completed(statement: Statement, values: Mapping[str, float]) -> dict[str, float] | None:
    try:
        completed, _ = statement.complete(values)
    except (InputError, NoValueError):
        return None
    return completed


def _needless(statement: Statement, drawn: DrawnSettings) -> Iterator[Finding | NotChecked]:
    """Conditions that the others imply: proved, after a look at settings that need not meet them."""
    if len(statement.hypotheses) < 2 or not drawn.settings:
        return
    if len(statement.conditions) > _MOST:
        yield NotChecked(check=NEEDLESS, reason=f"it has more than {_MOST} conditions")
        return
    undecided = []
    for condition in statement.conditions:
        rest = dataclasses.replace(
            statement, conditions=tuple(each for each in statement.conditions if each is not condition)
        )
        others = hypotheses(rest)
        if condition.operator == "==" or not condition.symbols & {name for each in others for name in each.symbols}:
            continue
        looked = [condition.check(statement.key, values).holds for values in draws(rest, _LOOKED).settings]
        if None in looked or False in looked or not looked:
            continue
        if not _implied(condition, others):
            undecided.append(condition.text)
            continue
        yield Finding(
            level=Level.NOTE,
            check=NEEDLESS,
            field="conditions",
            part=condition.name,
            text=f'the condition "{condition.text}" follows from the others, which is proved',
            remedy="leave it out",
        )
    if undecided:
        listed = ", ".join(f'"{text}"' for text in undecided)
        yield NotChecked(check=NEEDLESS, reason=f"whether the others imply {listed} is not decided")


# Settings at which a condition is looked at, and conditions of one statement.
_LOOKED, _MOST = 12, 6


def _implied(condition: Condition, others: Sequence[Condition]) -> bool:
    if _too_long((condition, *others)):
        return False
    claim = Scalar(left=condition.left, operator=condition.operator, right=condition.right, hypotheses=tuple(others))
    try:
        with limit(_SECONDS):
            return bool(decide(claim, QUICK).true)
    except (OutOfTime, TypeError, NameError, AttributeError, ArithmeticError, ValueError):
        return False


def _too_long(conditions: Sequence[Condition]) -> bool:
    return sum(sp.count_ops(side) for each in conditions for side in (each.left, each.right)) > _LONGEST


def _field(statement: Statement, condition: Condition) -> str:
    return "conditions" if any(each is condition for each in statement.conditions) else "step_rules"
