"""The changes of the steps of a proof."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bounds.ledger.step import Check, Enumerated, Step
from ratecheck.versions.expressions import Sameness, SamplePoints, compare, text, with_symbols_of
from ratecheck.versions.match import last, match

_NOWHERE = SamplePoints(values=(), of="nowhere")


@dataclass(frozen=True, kw_only=True)
class StepChange:
    """A step by the name after the last ``/`` of its id; ``changes`` say in words what changed."""

    name: str
    changes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LedgerChange:
    """``same`` steps are unchanged as formulas, functions by their text; ``gone`` and ``added`` are ids."""

    same: int
    changed: tuple[StepChange, ...]
    gone: tuple[str, ...]
    added: tuple[str, ...]


def diff(old: Sequence[Step], new: Sequence[Step]) -> LedgerChange:
    """Compare the steps of two ledgers, matched by what follows the last ``/`` of their ids."""
    found = match([(last(each.id), each) for each in old], [(last(each.id), each) for each in new])
    changed = []
    for one, two, _ in found.pairs:
        if changes := _changes(one, two):
            name = last(one.id) if last(one.id) == last(two.id) else f"{last(one.id)} (now {last(two.id)})"
            changed.append(StepChange(name=name, changes=changes))
    return LedgerChange(
        same=len(found.pairs) - len(changed),
        changed=tuple(changed),
        gone=tuple(each.id for each in found.gone),
        added=tuple(each.id for each in found.added),
    )


def _changes(old: Step, new: Step) -> tuple[str, ...]:
    changes = [*_check("", old.check, new.check)]
    if old.repaired is not None and new.repaired is not None:
        changes += _check("repaired form, ", old.repaired, new.repaired)
    elif (old.repaired is None) != (new.repaired is None):
        changes.append("repaired form: " + ("gone" if new.repaired is None else "added"))
    if (old.scope, old.narrower) != (new.scope, new.narrower):
        said = [": ".join(filter(None, (each.scope.value, each.narrower))) for each in (old, new)]
        changes.append(f"examined: {said[0]} -> {said[1]}")
    if last(old.of) != last(new.of):
        changes.append(f"of: {last(old.of)} -> {last(new.of)}")
    return tuple(changes)


def _check(where: str, old: Check, new: Check) -> list[str]:
    if type(old) is not type(new) or old.kind is not new.kind:
        return [f"{where}check: {old.kind.value} -> {new.kind.value}, cannot be compared"]
    found = []
    operators = [getattr(each, "operator", "==") for each in (old, new)]
    if operators[0] != operators[1]:
        found.append(f"{where}operator: {operators[0]} -> {operators[1]}")
    if isinstance(old, Enumerated) and isinstance(new, Enumerated):
        return found + _functions(where, old, new)
    sides: tuple[Any, Any] = (old, new)
    symbols = {each.name: each for side in (sides[0].left, sides[0].right) for each in side.free_symbols}
    for name in ("left", "right"):
        found += _formula(f"{where}{name}", getattr(old, name), getattr(new, name), symbols)
    for kind in ("hypotheses", "conditions"):
        texts = [{f"{c.left} {c.operator} {c.right}" for c in getattr(each, kind, ())} for each in sides]
        found += [f"{where}{kind}: - {each}" for each in sorted(texts[0] - texts[1])]
        found += [f"{where}{kind}: + {each}" for each in sorted(texts[1] - texts[0])]
    return found


def _formula(where: str, old: sp.Expr, new: sp.Expr, symbols: dict[str, sp.Symbol]) -> list[str]:
    change = compare(old, with_symbols_of(new, symbols), _NOWHERE)
    if change.same is Sameness.PROVED:
        return []
    return [f"{where}: {text(change.old)} -> {text(change.new)}"]


def _functions(where: str, old: Enumerated, new: Enumerated) -> list[str]:
    found = [
        f"{where}constant {name}: {old.constants.get(name, 'none')} -> {new.constants.get(name, 'none')}"
        for name in dict.fromkeys((*old.constants, *new.constants))
        if old.constants.get(name) != new.constants.get(name)
    ]
    if old.instances != new.instances:
        found.append(f"{where}instances: {old.instances} -> {new.instances}")
    if _text(old.sides) != _text(new.sides):
        found.append(f"{where}function: another text, cannot be compared")
    return found


def _text(function: Callable[..., Any]) -> object:
    """What tells a function from another one: its text, and what it is given beforehand; itself where none is known."""
    plain = inspect.unwrap(function)
    if isinstance(plain, functools.partial):
        return _text(plain.func), plain.args, tuple(sorted(plain.keywords.items(), key=str))
    try:
        return inspect.getsource(plain)
    except (OSError, TypeError):
        return plain
