"""The right side of a statement as a function of its parameters, with the step sizes that it leaves open chosen well.

Where a statement prescribes its step sizes they follow every change of a parameter; a step size that the caller gives
stays as it is, one with a smallest admissible value takes that, and one that is left open takes the value that
minimises the bound among the admissible ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bounds.statement import Statement, names_in, number
from bounds.symbols import ROUND, Role
from ratecheck.errors import InputError
from ratecheck.stepsizes.admissible import step_sizes
from ratecheck.stepsizes.feasible_set import Memory


@dataclass(frozen=True)
class CurvePoint:
    """The right side of the first claim at one setting.

    ``value`` is None where no step sizes are admissible; ``broken`` says then which conditions stand in the way.
    ``steps`` are the step sizes, ``minimised`` those among them that were chosen to make the bound small.
    """

    value: float | None
    steps: Mapping[str, float]
    minimised: tuple[str, ...]
    trivial: float | None
    broken: tuple[str, ...]


def round_symbol(statement: Statement) -> str | None:
    """The symbol of the round's number on the right side of the first claim, such as t; None where there is none."""
    facts = statement.vocabulary.facts
    return next((name for name in sorted(names_in(statement.claims[0].bound)) if facts.get(name) == ROUND), None)


def check_right_side(statement: Statement) -> None:
    """Raise `InputError` where the right side of the first claim has quantities of a run, beside a round's number."""
    vocabulary, names = statement.vocabulary, names_in(statement.claims[0].bound)
    measured = sorted(n for n in names if vocabulary[n].role is Role.MEASURED and vocabulary.facts.get(n) != ROUND)
    if measured:
        raise InputError(
            f"the right side of {statement.key} contains {', '.join(measured)}, quantities of a run: it has no value "
            "to compare before there is a run"
        )


def at(
    statement: Statement, given: Mapping[str, float], *, best: bool = False, memory: Memory | None = None
) -> CurvePoint:
    """The bound at the given numbers; a statement that is known only up to a constant has the constant 1 here.

    With ``best`` every step size for which the statement leaves a choice takes its best value, also where there is a
    smallest admissible one or a default. ``memory`` is that of `step_sizes`. Raises `InputError`
    for missing or unusable numbers.
    """
    values, _ = statement.complete(given)
    roles = {quantity.name: quantity.role for quantity in statement.vocabulary}
    missing = tuple(name for name in statement.required if name not in values)
    if statement.order_only:
        if missing:
            raise InputError(f"{statement.key} needs a value for {_named(statement, missing)}")
        return CurvePoint(number(statement.claims[0].bound, values), {}, (), None, ())
    open_steps = tuple(name for name in missing if roles[name] is Role.STEP_SIZE)
    chosen: dict[str, float] = {}
    if open_steps or (best and _leaves_a_choice(statement, given)):
        ruled = {} if best else {k: v for k, v in values.items() if roles[k] is Role.STEP_SIZE}
        answer = step_sizes(statement, {**given, **ruled}, memory=memory)
        if not answer.feasible:
            return CurvePoint(None, {}, (), None, answer.conflict)
        if answer.missing:
            raise InputError(f"{statement.key} needs a value for {_named(statement, answer.missing)}")
        if open_steps and not answer.optimal:
            falls = f"falls to {answer.optimal_bound or 0:g} towards an end of what is admissible"
            found = "has no minimum that was found" if answer.optimal_bound is None else falls
            first = next(iter(answer.approached), open_steps[0])
            raise InputError(
                f"the bound of {statement.key} {found} as a function of {', '.join(open_steps)}: give {first}=..., "
                "'ratecheck stepsize' tells what is admissible"
            )
        # Those that follow from others are left to the statement.
        wanted = open_steps if not best else tuple(name for name in answer.optimal if name not in given)
        chosen = {name: answer.optimal[name] for name in wanted if name in answer.optimal}
    evaluation = statement.evaluate(**{**given, **chosen})
    steps = {k: v for k, v in evaluation.values.items() if roles[k] is Role.STEP_SIZE}
    broken = tuple(check.broken for check in evaluation.broken)
    return CurvePoint(None if broken else evaluation.value, steps, tuple(chosen), evaluation.trivial, broken)


def _leaves_a_choice(statement: Statement, given: Mapping[str, float]) -> bool:
    """Whether some step size in the bound is neither given nor prescribed."""
    prescribed = {rule.symbol.name for rule in statement.step_rules if not (rule.at_least or rule.free)}
    steps = names_in(statement.claims[0].bound) - prescribed - given.keys()
    return any(statement.vocabulary[name].role is Role.STEP_SIZE for name in steps)


def _named(statement: Statement, names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} ({statement.vocabulary[name].meaning})" for name in names) + f": give {names[0]}=..."
