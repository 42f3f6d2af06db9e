"""Selection of steps: those of a statement, and of all that it follows from, in one ledger or in several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import bounds
from bounds.ledger.own import OwnLedger
from bounds.ledger.step import Step
from bounds.statement import Statement
from ratecheck.auditing import ledger
from ratecheck.auditing.export.conclusions import premises_of
from ratecheck.errors import InputError, did_you_mean


@dataclass(frozen=True)
class OwnSelection:
    """Steps of a user's own ledger, and of the ledgers of papers those that its statements follow from.

    ``ids`` are the steps of the file, ``premises`` the steps of a paper's ledger by its module. ``statements`` are all
    those of the file and of these papers, each following from statements by their keys.
    """

    ledger: OwnLedger
    ids: tuple[str, ...]
    premises: Mapping[str, tuple[str, ...]]
    statements: tuple[Statement, ...]

    def address(self, key: str) -> str:
        """The address that the audit takes for a statement of the file."""
        names = (name for name, each in self.ledger.statements.items() if each.key == key)
        return f"{self.ledger.path}:{next(names)}"


def of_file(address: str) -> OwnSelection:
    """The steps that ``path/to/file.py`` or ``path/to/file.py:name`` stands for, with those of what they follow from.

    Raises `InputError` where the file cannot be used, where no step is about the statement, where statements follow
    from each other in a circle, and where an id or a key is one of a paper's that is examined too.
    """
    path, name = bounds.own.split(address)
    # Whatever is wrong with a statement is said by what reads it for every command.
    _ = bounds.get(address) if name else bounds.statements(path)
    own = OwnLedger.read(path)
    steps, statements = own.steps, tuple({each.key: each for each in own.statements.values()}.values())
    audited = {step.of for step in steps}
    premises = premises_of(statements, audited)
    _check_circles(path, premises)
    keys = {each.key for each in statements}
    wanted = keys
    if name:
        chosen = own.statements[name]
        key = chosen.key if chosen.key in audited else chosen.repairs
        if key not in audited:
            raise InputError(f"no step of the ledger is about {address}; {did_you_mean(name, _named(own, audited))}")
        wanted = closure([key], premises)
    ids = tuple(step.id for step in steps if step.of in wanted)
    outside = _outside({premise for key in wanted & keys for premise in premises[key]} - keys)
    papers = [paper for paper in bounds.PAPERS if ledger.has_ledger(paper) and ledger.module_of(paper) in outside]
    _check_apart(path, [step for step in steps if step.id in ids], outside)
    catalogue = [each for paper in papers for each in bounds.statements(paper) if each.key not in keys]
    return OwnSelection(own, ids, outside, (*statements, *catalogue))


def of_statement(key: str, steps: Iterable[Step]) -> tuple[str, ...]:
    """The steps of a statement in a paper's ledger, and of all that it follows from; () where no step is about it."""
    listed = tuple(steps)
    audited = {each.of for each in listed}
    if key not in audited:
        return ()
    wanted = closure([key], premises_of(bounds.statements(key.partition("/")[0]), audited))
    return tuple(each.id for each in listed if each.of in wanted)


def closure(keys: Iterable[str], premises: Mapping[str, Sequence[str]]) -> set[str]:
    """The statements of these keys, and all that they follow from, directly or not."""
    wanted, todo = {*keys}, [*keys]
    while todo:
        new = set(premises.get(todo.pop(), ())) - wanted
        wanted |= new
        todo += new
    return wanted


def has_steps_of_its_own(own: OwnLedger) -> bool:
    """Whether a file has a ledger; what is wrong with it is said by what reads it, not passed over."""
    return getattr(own.file.module, "STEPS", None) is not None or "STEPS" in own.file.broken


def _named(own: OwnLedger, audited: Iterable[str]) -> list[str]:
    """The names of the statements that have steps."""
    return [name for name, each in own.statements.items() if each.key in set(audited)]


def _outside(keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The steps of statements of the catalogue, and of what they follow from, by the module of the ledger.

    Of a statement without steps there are none: the conclusion says so.
    """
    found: dict[str, set[str]] = {}
    for key in sorted(keys):
        paper = key.partition("/")[0]
        if paper not in bounds.PAPERS or not ledger.has_ledger(paper):
            continue
        module = ledger.module_of(paper)
        steps = ledger.load(module)
        audited = {each.of for each in steps}
        known = {each.key: each.repairs for each in bounds.statements(paper)}
        found.setdefault(module, set()).update(of_statement(key if key in audited else known.get(key, ""), steps))
    return {
        module: tuple(each.id for each in ledger.load(module) if each.id in ids) for module, ids in found.items() if ids
    }


def _check_circles(path: str, premises: Mapping[str, Sequence[str]]) -> None:
    """Raise `InputError` where a statement follows from itself: nothing is shown then."""
    done: set[str] = set()

    def visit(key: str, above: tuple[str, ...]) -> None:
        if key in above:
            circle = " <- ".join((*above[above.index(key) :], key))
            raise InputError(f"{path}: follows_from goes in a circle, {circle}: no statement may follow from itself")
        if key not in done:
            for premise in premises.get(key, ()):
                visit(premise, (*above, key))
            done.add(key)

    for key in premises:
        visit(key, ())


def _check_apart(path: str, steps: Iterable[Step], outside: Mapping[str, tuple[str, ...]]) -> None:
    """Raise `InputError` where a step of the file cannot be told from one of a paper that is examined beside it."""
    theirs = [each for module, ids in outside.items() for each in ledger.load(module) if each.id in ids]
    ids, keys = {each.id for each in theirs}, {each.of for each in theirs}
    for step in steps:
        if step.id in ids:
            raise InputError(f"{path}: the catalogue has a step {step.id!r} that is examined too: give another id")
        if step.of in keys:
            raise InputError(
                f"{path}: the catalogue has a statement {step.of!r} that is examined too: give another key"
            )
