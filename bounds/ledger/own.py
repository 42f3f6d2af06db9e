"""Ledgers of a user's own: the tuple ``STEPS`` of a Python file, which has the statements as well.

``FAULTS`` may stand beside it, as in the ledgers of papers. ``of`` of a step, and ``changes`` of a fault, name a
statement of the file by its key or by its name there. A file is read once: whoever examines a step, in whatever
process, runs the content that was read.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Rational
from pathlib import Path
from typing import Any

import sympy as sp

from bounds import own, run_file
from bounds.errors import InputError, brief, did_you_mean
from bounds.formula import unreal
from bounds.ledger.fault import Fault
from bounds.ledger.step import Check, Draws, Enumerated, Gram, Identity, Matrices, Scalar, Step
from bounds.ledger.vectors import Vector, factors
from bounds.run_file import OwnFile
from bounds.statement import OPERATORS, Condition, Statement

_GRAM_OPERATORS = ("<=", ">=", "==")
_OPERATORS: Mapping[type, tuple[str, ...]] = {Scalar: OPERATORS, Gram: _GRAM_OPERATORS, Enumerated: OPERATORS}


class StepError(InputError):
    """A step of a user's own ledger cannot be examined as it is written: the message names the file and the step."""


@dataclass(frozen=True)
class OwnLedger:
    """A file with a ledger as it was read: ``path`` as the user gave it, ``place`` where it is, and its ``content``.

    ``reading`` tells one reading from another: the same content runs again, since what it reads may have changed.
    """

    path: str
    place: Path
    content: bytes = field(repr=False)
    reading: str = field(default_factory=lambda: uuid.uuid4().hex, repr=False)

    @classmethod
    def read(cls, path: str) -> OwnLedger:
        """The file at ``path``; raises `InputError` where it cannot be read.

        >>> from bounds.ledger.own import OwnLedger
        >>> OwnLedger.read("mine.py").steps  # doctest: +SKIP
        """
        return cls(path, *own.read(path))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps in the order of the file, each of them usable, with keys of statements as ``of``.

        Raises `InputError` where the file does not run or has no ``STEPS``, and `StepError` for a step that cannot be
        examined.
        """
        return _steps(self)

    @property
    def statements(self) -> dict[str, Statement]:
        """The statements by their names in the file, each following from statements by their keys."""
        return _statements(self)

    @property
    def faults(self) -> dict[str, Fault]:
        """Id of a step -> the fault that explains it, where the file files one."""
        return _faults(self)

    @property
    def file(self) -> OwnFile:
        """Names that the file defines, with their values."""
        return _file(self)

    def _at(self, step: str) -> str:
        """The file, and the line where the id of a step stands, if it stands there as it is."""
        nodes = [*ast.walk(ast.parse(self.content))]
        given = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "id"]
        for among in (given, nodes):
            lines = [str(n.lineno) for n in among if isinstance(n, ast.Constant) and n.value == step]
            if lines:
                return f"{self.path}: line {' and '.join(lines)}"
        return self.path

    def wrong(self, step: str, what: str) -> StepError:
        """The error that says what is wrong with a step."""
        return StepError(f"{self._at(step)}, step {step!r}: {what}")


@functools.lru_cache(maxsize=20)
def _file(ledger: OwnLedger) -> OwnFile:
    return run_file.run_anew(ledger.path, ledger.place, ledger.content)


@functools.lru_cache(maxsize=20)
def _statements(ledger: OwnLedger) -> dict[str, Statement]:
    found = ledger.file.statements
    first: dict[str, str] = {}
    for name, each in found.items():
        other = first.setdefault(each.key, name)
        if found[other] is not each:
            raise InputError(f"{ledger.path}: {other} and {name} have the key {each.key!r}: give each a key of its own")
    keys = {name: each.key for name, each in found.items()}
    return {
        name: dataclasses.replace(each, follows_from=tuple(keys.get(premise, premise) for premise in each.follows_from))
        for name, each in found.items()
    }


def _key(ledger: OwnLedger, name: str) -> str | None:
    """The key of the statement that a step or a fault names; None where the file has none."""
    named = ledger.statements
    if name in {each.key for each in named.values()}:
        return name
    return named[name].key if name in named else None


def _unknown(ledger: OwnLedger, name: str) -> str:
    failure = ledger.file.broken.get(name)
    if failure is not None:
        return (
            f"{name!r}, which is broken{'' if failure.line is None else f' in line {failure.line}'}: {failure.reason}"
        )
    return f"{name!r}, no statement of the file; {did_you_mean(name, (*ledger.statements, *_keys(ledger)))}"


def _keys(ledger: OwnLedger) -> list[str]:
    return [each.key for each in ledger.statements.values()]


@functools.lru_cache(maxsize=20)
def _steps(ledger: OwnLedger) -> tuple[Step, ...]:
    path, listed = ledger.path, _listed(ledger, "STEPS", Step)
    if listed is None:
        raise InputError(f"{path} has no ledger of its proof: assign STEPS = (Step(...), ...), of bounds.ledger.Step")
    if not listed:
        raise InputError(f"{path}: STEPS is empty: give at least one Step")
    seen: set[str] = set()
    found = []
    for number, step in enumerate(listed):
        if not isinstance(step.id, str) or not step.id or step.id.split() != [step.id]:
            raise StepError(f"{path}: STEPS[{number}] has the id {step.id!r}: give a text without spaces, as 'main-1'")
        if step.id in seen:
            raise ledger.wrong(step.id, "another step has this id: ids have to be unique")
        seen.add(step.id)
        found.append(_usable(ledger, step))
    return tuple(found)


@functools.lru_cache(maxsize=20)
def _faults(ledger: OwnLedger) -> dict[str, Fault]:
    ids = [step.id for step in ledger.steps]
    found: dict[str, Fault] = {}
    for number, fault in enumerate(_listed(ledger, "FAULTS", Fault) or ()):
        place = f"{ledger.path}: FAULTS[{number}]"
        if wrong := own.misfit(fault, "fault"):
            raise InputError(f"{place}: {wrong}")
        if not fault.steps:
            raise InputError(f"{place} explains no step: give the ids of the refuted steps as steps")
        keys = []
        for name in fault.changes:
            key = _key(ledger, name)
            if key is None:
                raise InputError(f"{place} changes {_unknown(ledger, name)}")
            keys.append(key)
        for step in fault.steps:
            if step not in ids:
                raise InputError(f"{place} explains {step!r}, no step of the file; {did_you_mean(step, ids)}")
            if step in found:
                raise InputError(f"{place} explains step {step!r}, as another one does: file each step under one fault")
            found[step] = dataclasses.replace(fault, changes=tuple(keys))
    return found


def _listed(ledger: OwnLedger, name: str, kind: type) -> tuple[Any, ...] | None:
    """A tuple of the file, all of one kind; None where it has none of that name."""
    if name in ledger.file.broken:
        failure = ledger.file.broken[name]
        line = "" if failure.line is None else f"line {failure.line}, "
        raise InputError(f"{ledger.path}: {line}{name}: {failure.reason}")
    value = getattr(ledger.file.module, name, None)
    if value is None:
        return None
    if not isinstance(value, (tuple, list)):
        what = f"one {kind.__name__}" if isinstance(value, kind) else _brief(value)
        raise InputError(f"{ledger.path}: {name} is {what}: write {name} = ({kind.__name__}(...), ...), a tuple")
    for number, each in enumerate(value):
        if not isinstance(each, kind):
            raise InputError(f"{ledger.path}: {name}[{number}] is {_brief(each)}, no {kind.__name__}")
    return tuple(value)


# --- What a step has to be ---


def _usable(ledger: OwnLedger, step: Step) -> Step:
    """The step with the key of its statement, and functions that say what is wrong; raises `StepError`."""
    if wrong := own.misfit(step, "step"):
        raise ledger.wrong(step.id, wrong)
    key = _key(ledger, step.of)
    if key is None:
        raise ledger.wrong(step.id, f"of is {_unknown(ledger, step.of)}")
    checks: dict[str, Any] = {}
    for name in ("check", "repaired"):
        check = getattr(step, name)
        if check is None:
            continue
        if wrong := next(_wrong(check, name), ""):
            raise ledger.wrong(step.id, wrong)
        guarded = isinstance(check, Enumerated)
        checks[name] = dataclasses.replace(check, sides=_guarded(ledger, step.id, name, check)) if guarded else check
    return dataclasses.replace(step, of=key, location=step.location or step.id, **checks)


def _wrong(check: Check, name: str) -> Iterator[str]:
    """Faults of a check, the field first."""
    if wrong := own.misfit(check, name):
        yield wrong
    elif isinstance(check, Enumerated):
        yield from _wrong_instances(check, name)
    else:
        yield from _wrong_claim(check, name)


def _wrong_claim(check: Identity | Scalar | Gram, name: str) -> Iterator[str]:
    yield from _wrong_operator(check, name, _OPERATORS.get(type(check), ()))
    places: list[tuple[str, object]] = [(f"{side} of {name}", getattr(check, side)) for side in ("left", "right")]
    for kind in ("hypotheses", "conditions"):
        given: tuple[Condition, ...] = getattr(check, kind, ())
        for number, condition in enumerate(given):
            place = f"{kind}[{number}] of {name}"
            allowed = _GRAM_OPERATORS if isinstance(check, Gram) and kind == "hypotheses" else OPERATORS
            yield from _wrong_operator(condition, place, allowed)
            places += [(f"{side} of {place}", getattr(condition, side)) for side in ("left", "right")]
    for place, expr in places:
        yield from _wrong_expression(place, expr)
        products = sorted(s.name for s in getattr(expr, "free_symbols", ()) if factors(s))
        if isinstance(check, Scalar) and products:
            yield f"{place} has the inner product {products[0]}: a claim about vectors is a Gram, not a Scalar"
    yield from _wrong_symbols([expr for _, expr in places if isinstance(expr, sp.Expr)], name)


def _wrong_symbols(exprs: list[sp.Expr], name: str) -> Iterator[str]:
    """Two symbols of one name are different variables to SymPy, and the same to a reader."""
    symbols = sorted({s for expr in exprs for s in expr.free_symbols}, key=str)
    for one, other in itertools.pairwise(symbols):
        if one.name == other.name:
            facts = ("positive", "nonnegative", "real", "integer")
            differ = [fact for fact in facts if one.assumptions0.get(fact) is not other.assumptions0.get(fact)]
            yield f"{name} has two symbols {one.name!r}, of which one is {' and '.join(differ) or 'a dummy'}: take one"


def _wrong_operator(holder: Any, place: str, allowed: tuple[str, ...]) -> Iterator[str]:
    if allowed and holder.operator not in allowed:
        yield f"operator of {place} is {holder.operator!r}; known: {', '.join(allowed)}"


def _wrong_expression(place: str, expr: object) -> Iterator[str]:
    if isinstance(expr, Vector):
        yield f"{place} is a vector: take its square(...) or a dot(...) of two, from bounds.ledger.vectors"
    elif not isinstance(expr, sp.Expr):
        yield f"{place} is {_brief(expr)}, no SymPy expression: write sympy.sympify(...) of it"
    elif unreal(expr):
        yield f"{place} is {_brief(expr)}, which is not finite and real"
    elif expr.has(sp.Float):
        number = f"{float(min(expr.atoms(sp.Float))):g}"
        yield f"{place} has the decimal {number}: write sympy.Rational({number!r}), since proofs are exact"


def _wrong_instances(check: Enumerated, name: str) -> Iterator[str]:
    yield from _wrong_operator(check, name, OPERATORS)
    plain = check.sides
    while isinstance(plain, functools.partial):
        plain = plain.func
    if not inspect.isroutine(plain):
        yield f"sides of {name} is {_brief(check.sides)}, no function: give a def"
    yield from _wrong_sizes(check, name)
    for constant, value in check.constants.items():
        if not constant.isidentifier():
            yield f"constants of {name} has the name {constant!r}: it has to be one that sides can take"
        if _wrong_number(value):
            yield f"constant {constant!r} of {name} is {_brief(value)}, {_wrong_number(value)}"


def _wrong_sizes(check: Enumerated, name: str) -> Iterator[str]:
    if wrong := own.misfit(check.instances, "instances"):
        yield wrong
    elif isinstance(check.instances, Draws) and check.instances.count < 1:
        yield f"instances of {name} are {check.instances.count} draws: give at least 1"
    elif isinstance(check.instances, Matrices):
        for kind in ("clients", "rounds"):
            sizes = getattr(check.instances, kind)
            if not sizes or min(sizes) < 1:
                yield f"{kind} of instances of {name} is {_brief(sizes)}: give sizes from 1 on, as (1, 2, 3)"


_EXACT = "give a whole number, Fraction(1, 3) or a SymPy number such as sympy.sqrt(2), since comparisons are exact"


def _wrong_number(value: object) -> str:
    """Why a number is none that exact comparisons take; "" where it is one."""
    if isinstance(value, Rational):
        return ""
    if not isinstance(value, sp.Expr):
        return f"no exact number: {_EXACT}"
    if value.free_symbols:
        return f"an expression in {min(s.name for s in value.free_symbols)}: {_EXACT}"
    if value.has(sp.Float):
        return f"a decimal: {_EXACT}"
    return f"no real number: {_EXACT}" if unreal(value) else ""


def _brief(value: object) -> str:
    """A value as messages show it, its kind alone where that says more."""
    if value is not None and not isinstance(value, (str, int, float, tuple, list, dict, set, sp.Basic)):
        return f"a {type(value).__name__}"
    return brief(value)


# --- What a function of a step returns ---


class _Unfit(Exception):  # noqa: N818  # what is wrong, in words
    """A function returned what is no value of ``sides``."""


def _guarded(ledger: OwnLedger, step: str, name: str, check: Enumerated) -> Callable[..., Any]:
    """The function ``sides`` of a check, which raises `StepError` where it fails or returns what cannot be compared.

    With other constants than the claim's, which are tried to see whether the instances notice, it raises TypeError: a
    changed number may make no sense where it counts something. A division by zero is left to the check, which names the
    instance.
    """
    plain: Any = check.sides
    while isinstance(plain, functools.partial):
        plain = plain.func

    def sides(instance: Any, **constants: Any) -> Any:
        own_constants = all(constants[key] is value for key, value in check.constants.items())
        try:
            return _pairs(check.sides(instance, **constants), exact=own_constants)
        except ZeroDivisionError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever a user's function does, also exit()
            if not own_constants:
                raise TypeError(error if isinstance(error, TypeError) else f"{type(error).__name__}: {error}") from None
            if isinstance(error, _Unfit):
                what = f"{error}"
            else:
                line = run_file.line_of(error, ledger.place)
                place = "" if line is None else f"line {line}, "
                what = f"raised {place}{type(error).__name__}: {' '.join(str(error).split())}"
            raise ledger.wrong(step, f"sides of {name}, {_instance(instance)}: {what}") from None

    # Draws are seeded by the name of the function.
    sides.__module__, sides.__qualname__ = str(plain.__module__), str(plain.__qualname__)
    sides.__wrapped__ = plain  # type: ignore[attr-defined]  # where `inspect.unwrap` looks for it
    sides.bare = check.sides  # type: ignore[attr-defined]  # whose code is changed to see whether that is noticed
    return sides


def _instance(instance: Any) -> str:
    index = getattr(instance, "index", None)
    return f"draw {index}" if index is not None else f"the {instance.T} x {instance.N} matrix"


def _pairs(found: Any, *, exact: bool) -> Any:
    """Pairs that ``sides`` returned, one or a list; raises `_Unfit` for anything else."""
    if found is None:
        return None
    wanted = "return (left, right), a list of such pairs, or None to pass the instance over"
    if isinstance(found, (str, bytes, Mapping)) or not hasattr(found, "__iter__"):
        raise _Unfit(f"returned {_brief(found)}: {wanted}")
    listed = list(found)
    pairs = [listed] if len(listed) == 2 and not isinstance(listed[0], (tuple, list)) else listed
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise _Unfit(f"returned {_brief(listed)}: {wanted}")
        for value, side in zip(pair, ("left", "right"), strict=True):
            # An unknown constant, which stands for every value, is linear and of a kind of the checker's own.
            unknown = not exact and type(value).__name__ == "Linear"
            if not unknown and (why := _wrong_number(value)):
                raise _Unfit(f"returned {_brief(value)} as the {side} side, {why}")
    return pairs
