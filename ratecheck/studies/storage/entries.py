"""Values of keys in a study file: texts, words, numbers and lists, each with the condition that it has to meet."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WrapValidator

from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.algorithm import RECORDS
from ratecheck.errors import InputError, did_you_mean, printable
from ratecheck.studies.reading import no_word, shown
from ratecheck.studies.study import MEASURES, TOGETHER, ClaimKind, HorizontalAxis

# What problems add to the records of a method.
_OF_PROBLEMS = ("f", "gap", "distance2", "Phi_gap", "Phi_w_gap")
_OF_METHODS = (name for each in METHODS.values() for name in each.algorithm.recorded)
_MEASURED = tuple(dict.fromkeys((*RECORDS, *_OF_METHODS, *_OF_PROBLEMS, *MEASURES)))
# In the place of weights: the quantity that the theorems on a curve's method bound.
_THEOREM = "theorem"
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _not_empty(text: str) -> str:
    if not text.strip():
        raise InputError("it is empty")
    return text


def _one_line(word: str) -> str:
    if not word.isprintable():
        raise InputError(f"one line without control characters is needed, not {shown(word)}")
    return word


def _file_name(name: str) -> str:
    if not _FILE_NAME.fullmatch(name):
        raise InputError(f"{shown(name)} names files: letters, digits, '.', '_' and '-', no others")
    return name


def _not_together(name: str) -> str:
    if name == TOGETHER:
        raise InputError(f"{name!r} is the file of all figures together; take another")
    return name


def _method(name: str) -> str:
    if name not in METHODS:
        raise InputError(no_word(name, [*METHODS]))
    return name


def _member(words: type[Enum]) -> Callable[[object], Enum]:
    """From the word of a study file to the member of the enumeration."""

    def of(word: object) -> Enum:
        known = [each.value for each in words]
        if not isinstance(word, str):
            raise InputError(f"a text in quotes is needed, not {shown(word)}")
        if word not in known:
            raise InputError(no_word(word, known))
        return words(word)

    return of


def _value(value: object) -> object:
    """The value of a curve: a number within the range of floats, a word, true or false."""
    if isinstance(value, str):
        return _one_line(_not_empty(value))
    try:
        usable = isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:
        usable = False
    if not usable:
        raise InputError(f"finite numbers or texts are needed, not {shown(value)}")
    return value


def _metric(given: object, weights_of: Callable[[object], dict[str, float]]) -> dict[str, float]:
    """The weights that are not zero; none at all for what theorems bound."""
    if given == _THEOREM:
        return {}
    if isinstance(given, str):
        raise InputError(no_word(given, [_THEOREM]))
    if unknown := [name for name in given if name not in _MEASURED] if isinstance(given, dict) else []:
        raise InputError(f"unknown key {shown(unknown[0])}; {did_you_mean(unknown[0], _MEASURED)}")
    weights = weights_of(given)
    if not any(weights.values()):
        raise InputError(f"give the weight of at least one of {', '.join(RECORDS)}, such as {{G_u = 1}}")
    return {name: weights[name] for name in _MEASURED if weights.get(name)}


def _pattern(pattern: object) -> object:
    if isinstance(pattern, dict) and "kind" not in pattern:
        raise InputError("the key 'kind' is missing")
    if not (isinstance(pattern, dict) or (isinstance(pattern, str) and pattern.strip())):
        raise InputError(f"a pattern in quotes, or a table with its kind, is needed, not {shown(pattern)}")
    return pattern


def _switched(given: object) -> object:
    """True stands for a table that says nothing, false for none."""
    if not isinstance(given, (bool, dict)):
        raise InputError(f"true or false is needed, not {shown(given)}")
    return given if isinstance(given, dict) else {} if given else None


def _unique(tables: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [table.name for table in tables]
    if twice := next((name for k, name in enumerate(names) if name in names[:k]), None):
        raise InputError(f"two have the name {shown(twice)}")
    return tables


def _tables(given: object, info: ValidationInfo) -> object:
    if not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
        raise InputError(f"tables are needed, written [[{info.field_name}]]")
    return given


_T = TypeVar("_T")
# TOML's lists become tuples, which do not change.
Items = Annotated[tuple[_T, ...], Field(strict=False, min_length=1)]
Tables = Annotated[Items[_T], BeforeValidator(_tables), AfterValidator(_unique)]
Text = Annotated[str, AfterValidator(_not_empty), AfterValidator(printable)]
Word = Annotated[str, AfterValidator(_not_empty), AfterValidator(_one_line)]
FileName = Annotated[Word, AfterValidator(_file_name)]
Value = Annotated[Any, AfterValidator(_value)]
Nonnegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, lt=1)]
# What is more neither fits into an array's index nor comes to an end.
Whole = Annotated[int, Field(ge=1, le=10**15)]
# One run has no confidence interval.
Replicates = Annotated[Whole, Field(ge=2)]
Method = Annotated[Text, AfterValidator(_method)]
FigureName = Annotated[FileName, AfterValidator(_not_together)]
Axis = Annotated[HorizontalAxis, BeforeValidator(_member(HorizontalAxis))]
Kind = Annotated[ClaimKind, BeforeValidator(_member(ClaimKind))]
Pattern = Annotated[Any, AfterValidator(_pattern)]
OnOff = BeforeValidator(_switched)
Metric = Annotated[dict[str, Nonnegative], WrapValidator(_metric)]
