"""Statements of a user's own, in a Python file: ``path/to/file.py:name`` stands where a key of the catalogue stands."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
import traceback
import types
import typing
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bounds.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from bounds.statement import Statement

SUFFIX = ".py"


def is_own(key: str) -> bool:
    """Whether the key names a file, with or without the name of a statement in it."""
    return key.endswith(SUFFIX) or key.rpartition(":")[0].endswith(SUFFIX)


def statements(path: str) -> tuple[Statement, ...]:
    """All statements that the file at ``path`` defines, in its order; raises `InputError` where there are none."""
    return tuple(_named(path).values())


def get(key: str) -> Statement:
    """The statement ``path/to/file.py:name``.

    Raises `InputError` where the file does not exist or does not run (with its line and error), has no statement of
    that name, or one of which a part has no value whatever the numbers.
    """
    path, _, name = (key, "", "") if key.endswith(SUFFIX) else key.rpartition(":")
    known = _named(path)
    if name in known:
        return known[name]
    if not name:
        raise InputError(f"which statement of {path}? give {path}:{next(iter(known))}; it has {', '.join(known)}")
    raise InputError(f"no statement {name!r} in {path}; {did_you_mean(name, known)}")


def addresses(path: str) -> dict[str, Statement]:
    """What `get` takes for each of the statements that the file defines."""
    return {f"{path}:{name}": statement for name, statement in _named(path).items()}


def read(path: str) -> tuple[Path, bytes]:
    """Where the file is, and what it holds; raises `InputError` where it cannot be read."""
    place = Path(path)
    if not place.is_file():
        raise InputError(f"no file {path!r}: give path/to/file.py:name, or a key that 'ratecheck list' prints")
    try:
        return place.resolve(), place.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def run(path: str, place: Path, content: bytes) -> ModuleType:
    """What `read` found as a module of its own, run anew; raises `InputError` where it does not run."""
    return _run.__wrapped__(path, place, content)


def misfit(value: object, name: str) -> str:
    """The first part of a dataclass that is of another kind than its field says, in words; "" where all fit."""
    return next(_misfits(value, name), "")


def where(error: BaseException, place: Path) -> str:
    """The last line of the file that an error passed through, as ``line 3, ``; "" where it passed through none."""
    return _where(error, place)


def _named(path: str) -> dict[str, Statement]:
    """The statements of a file by the name under which it defines them, each of them usable."""
    from bounds.statement import Statement

    found = {name: value for name, value in vars(_module(path)).items() if isinstance(value, Statement)}
    if not found:
        raise InputError(f"{path} defines no statement: assign a bounds.statement.Statement to a name in it")
    for name, statement in found.items():
        address = f"{path}:{name}"
        if wrong := next(_misfits(statement, "statement"), ""):
            raise InputError(f"{address}: {wrong}")
        _check(address, statement)
        if statement.repairs and statement.repairs not in {each.key for each in found.values()}:
            _check_repairs(address, statement.repairs)
    return found


def _misfits(value: object, name: str) -> Iterator[str]:
    """What is of another kind than its field says, in a dataclass and those inside; formulas are not looked at."""
    hints = typing.get_type_hints(type(value))
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        yield from _misfit(getattr(value, field.name), hints[field.name], f"{field.name} of the {name}")


def _misfit(value: object, hint: Any, name: str) -> Iterator[str]:
    kind, inner = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in (types.UnionType, typing.Union):
        if not any(next(_misfit(value, each, name), None) is None for each in inner):
            wanted = " or ".join(getattr(each, "__name__", str(each)) for each in inner)
            yield f"{name} is {_brief(value)}, not {wanted}"
    elif not isinstance(kind, type) or kind.__module__.startswith("sympy"):
        return
    elif not isinstance(value, kind):
        yield f"{name} is {_brief(value)}, not of the kind {kind.__name__}"
    elif dataclasses.is_dataclass(kind) and kind.__module__ == "bounds.statement":
        yield from _misfits(value, kind.__name__.lower())
    elif isinstance(value, tuple):
        for each in value:
            yield from _misfit(each, inner[0], f"a part of {name}")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _misfit(key, inner[0], f"a name in {name}")
            yield from _misfit(each, inner[1], f"{key} in {name}")


def _brief(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:60] + "..."


def _check_repairs(address: str, key: str) -> None:
    """Raise `InputError` where the catalogue has no statement of that key."""
    import bounds

    try:
        bounds.get(key)
    except InputError as error:
        raise InputError(f"{address} repairs {key!r}: {error}") from None


def _check(address: str, statement: Statement) -> None:
    """Raise `InputError` for a part of a statement that has no value whatever the numbers."""
    import sympy as sp

    from bounds import formula
    from bounds.statement import OPERATORS

    if not statement.claims:
        raise InputError(f"{address} has no claims: give at least one")
    for condition in statement.conditions:
        if condition.operator not in OPERATORS:
            listed = ", ".join(OPERATORS)
            raise InputError(
                f"{address}: condition {condition.name!r} has the operator {condition.operator!r}; known: {listed}"
            )
    for place, expr in _expressions(statement):
        if not isinstance(expr, sp.Expr):
            raise InputError(f"{address}: {place} is {expr!r}, no SymPy expression: write sympy.sympify({expr!r})")
        names = sorted(symbol.name for symbol in expr.free_symbols)
        for name in (*names, *statement.settings):
            if name not in statement.vocabulary.order:
                hint = did_you_mean(name, statement.vocabulary.order)
                raise InputError(f"{address}: no symbol {name!r} in its vocabulary; {hint}")
        try:
            formula.function(expr, names)
        except (TypeError, ArithmeticError) as error:
            raise InputError(
                f"{address}: {place}: {error}; sums, products, rational powers, Min, Max, log and exp are admissible"
            ) from None


def _expressions(statement: Statement) -> Iterator[tuple[str, object]]:
    """Every expression of a statement, and where it stands."""
    for claim in statement.claims:
        yield from ((f"term {label!r} of claim {claim.name!r}", term) for label, term in claim.terms.items())
        yield from ((f"weight of {symbol}", weight) for symbol, weight in claim.metric.weights.items())
        if claim.metric.trivial is not None:
            yield f"trivial value of claim {claim.name!r}", claim.metric.trivial
    for condition in statement.conditions:
        yield from ((f"condition {condition.name!r}", side) for side in (condition.left, condition.right))
    for rule in statement.step_rules:
        yield from ((f"step rule of {rule.symbol}", part) for part in (rule.symbol, rule.value))
    for name, value in statement.settings.items():
        yield f"setting of {name}", value


def _module(path: str) -> ModuleType:
    """The file as a module of its own, which is not found by imports."""
    return _run(path, *read(path))


# A file that was edited, or another one under the same name, is run anew.
@functools.lru_cache(maxsize=100)
def _run(path: str, place: Path, content: bytes) -> ModuleType:
    """Run what the file holds; what Python would keep of an earlier content beside it is not asked."""
    module = ModuleType(f"_own_statements_{place.stem}")
    module.__file__ = str(place)
    try:
        # What Python guesses about the file's style is no message of ours.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            code = compile(content, place, "exec")
            # Dataclasses look for the module of their class among those that were imported.
            with _imported(module):
                exec(code, vars(module))  # noqa: S102 - it is what the user asked for
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # The user's code may raise anything; what is not Python's own or the file's is meant for the whole program.
        if not isinstance(error, Exception) and type(error).__module__ not in ("builtins", module.__name__):
            raise
        raise InputError(f"{path} does not run: {_where(error, place)}{type(error).__name__}: {error}") from None
    return module


@contextlib.contextmanager
def _imported(module: ModuleType) -> Iterator[None]:
    """Lets a module be found among those that were imported, inside the block alone."""
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(module.__name__, None)
        else:
            sys.modules[module.__name__] = before


def _where(error: BaseException, place: Path) -> str:
    """The last line of the file that the error passed through."""
    if isinstance(error, SyntaxError):
        return "" if error.lineno is None else f"line {error.lineno}, "
    own = str(place)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own]
    return f"line {lines[-1]}, " if lines else ""
