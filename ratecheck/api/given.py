"""The arguments of public functions: statements by key, file or object, and parameters by keyword."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import bounds
from bounds import hooks
from bounds.ledger.refuted import refuted
from bounds.numbers import as_float
from bounds.statement import Statement
from bounds.symbols import Vocabulary
from ratecheck.errors import InputError

# A key of the catalogue, ``path/to/file.py:name``, or the statement itself.
StatementLike: TypeAlias = str | Statement
# A number; several where a name stands for one per client; a word for the problem parameters in `WORDS`.
Parameter: TypeAlias = float | str | Sequence[float]
Parameters: TypeAlias = Mapping[str, Parameter]

# Entries of a list that a message has.
_SHOWN = 4
# Parameters of problems that are words rather than numbers.
WORDS = ("how", "part", "loss", "average")
# Parameters of problems that name columns of a table: words, or numbers of columns.
COLUMNS = ("label", "client", "weight", "drop")


def one(statement: StatementLike) -> Statement:
    """The statement of a key, file or object; raises `InputError` for an unknown key or method."""
    if isinstance(statement, Statement):
        hooks.check_method(statement.algorithm)
        return statement
    if isinstance(statement, str):
        return bounds.get(statement)
    # By name: a bound alone imports neither.
    kinds = {each.__name__ for each in type(statement).__mro__}
    for kind, keyword in (("Problem", "problem"), ("Participation", "participation")):
        if kind in kinds:
            raise InputError(f"a {type(statement).__name__} is no statement: give it as {keyword}=...")
    raise InputError(f"{statement!r} is no statement: give a key, path/to/file.py:name, or a Statement")


def select(statements: Sequence[StatementLike]) -> list[Statement]:
    """The statements that are meant; a paper's or a file's name stands for all of its statements with a value."""
    if not statements:
        raise InputError("which statement? give a key; rc.catalogue() and 'ratecheck list' have them all")
    found: list[Statement] = []
    for each in statements:
        if not whole_paper(each):
            found.append(one(each))
            continue
        valued = [statement for statement in bounds.statements(str(each)) if not statement.order_only]
        if not valued:
            raise InputError(f"{each} has orders only, which have no value to verify; 'ratecheck tables' compares them")
        found += valued
    return found


def whole_paper(statement: StatementLike) -> bool:
    """Whether all statements of a paper or of a file are meant."""
    papers = (*bounds.PAPERS, bounds.CLASSICS)
    return isinstance(statement, str) and (statement in papers or statement.endswith(bounds.own.SUFFIX))


def addresses(statements: Sequence[Statement]) -> list[str]:
    """Under which other processes of this machine find these: in the catalogue, or in files.

    Raises `InputError` for one that is neither.
    """
    found = [bounds.own.address_of(each) for each in statements]
    known_elsewhere([each for each, address in zip(statements, found, strict=True) if not bounds.own.is_own(address)])
    # A process may be older than the folder that this one is in.
    return [str(Path(each).absolute()) if bounds.own.is_own(each) else each for each in found]


def known_elsewhere(statements: Sequence[StatementLike]) -> None:
    """Raise `InputError` unless processes of other machines know all of these: those of the catalogue alone."""
    for each in statements:
        key = each.key if isinstance(each, Statement) else each
        of_catalogue = key.partition("/")[0] in (*bounds.PAPERS, *bounds.BESIDE) and not bounds.own.is_own(key)
        if not of_catalogue or (isinstance(each, Statement) and bounds.get(key) is not each):
            raise InputError(
                f"{key} is not of the catalogue, and nothing else is known elsewhere: ask about it here alone"
            )


def parameters(
    mapping: Parameters | None, named: Parameters, *vocabularies: Vocabulary, many: Iterable[str] = ()
) -> dict[str, Any]:
    """The parameters of a mapping and by keyword as numbers; those in `WORDS` as text.

    Beside aliases those names may have several numbers that ``many`` has. Raises `InputError` for a name that comes
    twice, for what is no finite number, and for several numbers under a name that stands for one in all of the
    ``vocabularies``.
    """
    mapping = mapping or {}
    if twice := [name for name in named if name in mapping]:
        raise InputError(f"{twice[0]} is given twice: {mapping[twice[0]]} and {named[twice[0]]}")
    lists = {alias.name for vocabulary in vocabularies for alias in vocabulary.aliases.values() if alias.many}
    lists |= {*many}
    return {name: _value(name, value, many=name in lists) for name, value in {**mapping, **named}.items()}


def _value(name: str, value: Any, *, many: bool) -> Any:
    if name in WORDS:
        return str(value)
    if name in COLUMNS:
        return value if isinstance(value, str) else _number(name, value)
    if isinstance(value, str):
        raise InputError(f"{name}={value!r}: it has to be a number")
    try:
        several = list(value)
    except TypeError:
        return _number(name, value)
    if not many:
        first = (f"{each:g}" if isinstance(each, int | float) else str(each) for each in several[:_SHOWN])
        shown = ",".join(first) + (",..." if len(several) > _SHOWN else "")
        raise InputError(f"{name}={shown}: {name} is one number, not a list; from Python rc.sweep(...) takes several")
    numbers = [_number(name, each) for each in several]
    return numbers if len(numbers) != 1 else numbers[0]


def _number(name: str, value: Any) -> float:
    number = as_float(name, value)
    if not math.isfinite(number):
        raise InputError(f"{name}={number}: it has to be a finite number")
    return number


def names(text: str | Sequence[str]) -> tuple[str, ...]:
    """``"K,T"`` or ``["K", "T"]`` as names; raises `InputError` where one is missing or comes twice."""
    found = tuple(word.strip() for word in (text.split(",") if isinstance(text, str) else text))
    if not all(found):
        raise InputError(f"{text!r} is not a list of names such as K,T")
    if twice := [word for k, word in enumerate(found) if word in found[:k]]:
        raise InputError(f"{text!r} names {twice[0]} twice")
    return found


def place_of(name: str, value: object) -> Path:
    """A file or folder that is meant; raises `InputError` for what is no path."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{name}={value!r}: needed a path")
    return Path(value)


def several(name: str, value: object, kinds: tuple[type, ...] = (str,)) -> tuple[Any, ...]:
    """One text or several, or what is of another of the ``kinds``, as a tuple; raises `InputError` for what is none."""
    found = (value,) if isinstance(value, kinds) or not isinstance(value, Iterable) else tuple(value)
    if wrong := [each for each in found if not isinstance(each, kinds)]:
        raise InputError(f"{name}={wrong[0]!r}: needed a text, or several")
    return found


def unused(key: str, names: Sequence[str]) -> tuple[str, ...]:
    """A remark on parameters on which the statement of this key does not depend, where there are any."""
    return (f"{key} does not depend on {', '.join(names)}",) if names else ()


def warning(statement: Statement) -> tuple[str, ...]:
    """A remark where the audit calls the statement false."""
    against = refuted(statement)
    return () if against is None else (against.text,)
