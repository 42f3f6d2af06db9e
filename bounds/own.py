"""Statements of a user's own, in a Python file: ``path/to/file.py:name`` stands where a key of the catalogue stands."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bounds.errors import InputError, brief, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from bounds.run_file import OwnFile
    from bounds.statement import Statement

SUFFIX = ".py"


def is_own(key: str) -> bool:
    """Whether the key names a file, with or without the name of a statement in it."""
    return key.endswith(SUFFIX) or key.rpartition(":")[0].endswith(SUFFIX)


def split(key: str) -> tuple[str, str]:
    """The file of a key, and the name of the statement in it, empty where none is named."""
    path, _, name = (key, "", "") if key.endswith(SUFFIX) else key.rpartition(":")
    return path, name


def statements(path: str) -> tuple[Statement, ...]:
    """All statements that the file at ``path`` defines, in its order.

    Raises `InputError` where there are none, and where one is broken, with every broken one.
    """
    return tuple(_all(path).values())


def get(key: str) -> Statement:
    """The statement ``path/to/file.py:name``, whatever else is wrong in the file.

    Raises `InputError` where the file does not exist or does not run (with its line and error), has no statement of
    that name, or one that cannot be built, or of which a part has no value whatever the numbers.
    """
    path, name = split(key)
    file = _file(path)
    if name in file.broken:
        raise InputError(_broken(path, name, file))
    known = (*file.statements, *file.broken)
    if not name:
        raise InputError(f"which statement of {path}? give {path}:{known[0]}; it has {', '.join(known)}")
    if name not in file.statements:
        raise InputError(f"no statement {name!r} in {path}; {did_you_mean(name, known)}")
    if wrong := _wrong(file.statements[name], file):
        raise InputError(f"{_address(path, name, file.lines.get(name))}: {wrong}")
    return file.statements[name]


def addresses(path: str) -> dict[str, Statement]:
    """Keys, as `get` takes them, of the statements that the file defines; raises `InputError` as `statements` does."""
    return {f"{path}:{name}": statement for name, statement in _all(path).items()}


def place_of(statement: Statement) -> str:
    """The file and line of a user's own statement, such as ``mine.py, line 3``; empty for others."""
    from bounds import run_file

    return run_file.place_of(statement)


def address_of(statement: Statement) -> str:
    """Key, as `get` takes it, of a user's own statement, such as ``mine.py:name``; the key of any other."""
    path, name = place_of(statement).rpartition(", line ")[0], statement.key.rpartition("/")[2]
    return f"{path}:{name}" if path else statement.key


def read(path: str) -> tuple[Path, bytes]:
    """Where the file is, and what it holds; raises `InputError` where it cannot be read."""
    from pathlib import Path

    place = Path(path)
    if place.is_dir():
        raise InputError(f"{path!r} is a folder: give path/to/file.py:name")
    if not place.is_file():
        raise InputError(f"no file {path!r}: give path/to/file.py:name, or a key that 'ratecheck list' prints")
    try:
        return place.resolve(), place.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def misfit(value: object, name: str) -> str:
    """The first part of a dataclass that is of another kind than its field says, in words; "" where all fit."""
    return next(_misfits(value, name), "")


def _all(path: str) -> Mapping[str, Statement]:
    """The statements of a file by the name under which it defines them, each of them usable."""
    file = _file(path)
    wrong = {name: _broken(path, name, file) for name in file.broken}
    for name, statement in file.statements.items():
        if reason := _wrong(statement, file):
            wrong[name] = f"{_address(path, name, file.lines.get(name))}: {reason}"
    if not wrong:
        return file.statements
    sound = [f"{path}:{name}" for name in file.statements if name not in wrong]
    rest = f"; sound by itself: {', '.join(sound)}" if sound else ""
    raise InputError("; ".join(wrong[name] for name in sorted(wrong, key=lambda each: file.lines.get(each, 0))) + rest)


def _file(path: str) -> OwnFile:
    """Content of the file, one statement at least, broken or not."""
    from bounds import run_file

    found = run_file.run(path, *read(path))
    if not (found.statements or found.broken):
        raise InputError(f"{path} defines no statement: assign what bounds.theorem.theorem(...) makes to a name in it")
    return found


def _address(path: str, name: str, line: int | None) -> str:
    return f"{path}:{name}" if line is None else f"{path}:{name}, line {line}"


def _broken(path: str, name: str, file: OwnFile) -> str:
    failure = file.broken[name]
    return f"{_address(path, name, failure.line)}: {failure.reason}"


def _wrong(statement: Statement, file: OwnFile) -> str:
    """Reason why a statement that is built cannot be used; empty for none."""
    try:
        if wrong := next(_misfits(statement, "statement"), ""):
            return wrong
        _check(statement)
        if statement.repairs and statement.repairs not in {each.key for each in file.statements.values()}:
            _check_repairs(statement.repairs)
    except InputError as error:
        return str(error)
    return ""


def _misfits(value: object, name: str) -> Iterator[str]:
    """First value of another kind than its field says, in a dataclass and those inside; formulas are not looked at."""
    import dataclasses

    hints = typing.get_type_hints(type(value))
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        yield from _misfit(getattr(value, field.name), hints[field.name], f"{field.name} of the {name}")


def _misfit(value: object, hint: Any, name: str) -> Iterator[str]:
    import dataclasses

    kind, inner = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in (types.UnionType, typing.Union):
        if not any(next(_misfit(value, each, name), None) is None for each in inner):
            wanted = " or ".join(getattr(each, "__name__", str(each)) for each in inner)
            yield f"{name} is {brief(value)}, not {wanted}"
    elif not isinstance(kind, type) or kind.__module__.startswith("sympy"):
        return
    elif not isinstance(value, kind):
        yield f"{name} is {brief(value)}, not of the kind {kind.__name__}"
    elif dataclasses.is_dataclass(kind) and kind.__module__ == "bounds.statement":
        yield from _misfits(value, kind.__name__.lower())
    elif isinstance(value, tuple):
        for each in value:
            yield from _misfit(each, inner[0], f"a part of {name}")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _misfit(key, inner[0], f"a name in {name}")
            yield from _misfit(each, inner[1], f"{key} in {name}")


def _check_repairs(key: str) -> None:
    """Raise `InputError` where the catalogue has no statement of that key."""
    from bounds import hooks

    try:
        hooks.check_statement(key)
    except InputError as error:
        raise InputError(f"it repairs {key!r}: {error}") from None


def _check(statement: Statement) -> None:
    """Raise `InputError` for a part of a statement that has no value, or that nothing meets, whatever the numbers."""
    import sympy as sp

    from bounds import formula, hooks
    from bounds.consistency import faults
    from bounds.statement import OPERATORS

    if not statement.claims:
        raise InputError("it has no claims: give at least one")
    for condition in statement.conditions:
        if condition.operator not in OPERATORS:
            listed = ", ".join(OPERATORS)
            raise InputError(f"condition {condition.name!r} has the operator {condition.operator!r}; known: {listed}")
    for place, expr in _expressions(statement):
        if not isinstance(expr, sp.Expr):
            raise InputError(f"{place} is {expr!r}, no SymPy expression: write sympy.sympify({expr!r})")
        names = sorted(symbol.name for symbol in expr.free_symbols)
        for name in (*names, *statement.settings):
            if name not in statement.vocabulary.order:
                hint = did_you_mean(name, statement.vocabulary.order)
                raise InputError(f"no symbol {name!r} in its vocabulary; {hint}")
        if reason := formula.complaint(expr):
            raise InputError(f"{place}: {reason}")
    for fault in faults(statement):
        raise InputError(f"{fault.place}: {fault.reason}")
    # Not by `theorem`: the file may define its method further down.
    hooks.check_method(statement.algorithm)


def _expressions(statement: Statement) -> Iterator[tuple[str, object]]:
    """Every expression of a statement, and where it stands."""
    for claim in statement.claims:
        yield from ((f"term {label!r} of claim {claim.name!r}", term) for label, term in claim.terms.items())
        if claim.probability is not None:
            yield f"probability of claim {claim.name!r}", claim.probability
        yield from ((f"weight of {symbol}", weight) for symbol, weight in claim.metric.weights.items())
        if claim.metric.trivial is not None:
            yield f"trivial value of claim {claim.name!r}", claim.metric.trivial
    for condition in statement.conditions:
        yield from ((f"condition {condition.name!r}", side) for side in (condition.left, condition.right))
    for rule in statement.step_rules:
        yield from ((f"step rule of {rule.symbol}", part) for part in (rule.symbol, rule.value))
    for name, value in statement.settings.items():
        yield f"setting of {name}", value
    for name in sorted(statement.vocabulary.equal & {*statement.parameters}):
        yield f"formula of {name}", statement.vocabulary.derived[name]
