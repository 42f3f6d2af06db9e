"""Statements as JSON data: the fields of `bounds.theorem.in_fields`, their schema, and what is wrong with data.

The data are read and never run: formulas are text, as in `bounds.parsing`.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds import hooks
from bounds.assumption import Assumption
from bounds.errors import InputError, brief, did_you_mean, unread
from bounds.statement import Over, Relation, Statement
from bounds.symbols import Domain, Role
from bounds.theorem import AVERAGED_ITERATE, UNNAMED, FieldError, OwnSymbol, in_fields, symbol

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SUFFIX = ".json"

# What names a file of Python, or something in one.
_PYTHON = re.compile(r"\.py(:|$)")
_FORMULA = {"$ref": "#/$defs/formula"}
_FORMULAS = {"type": "object", "minProperties": 1, "additionalProperties": _FORMULA}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_COMPARISON = {"type": "string", "description": "a comparison such as 'gamma_u <= 1/L'"}


def _names(kind: Any) -> list[str]:
    return [each.lower() for each in kind.__members__]


def schema(vocabularies: Sequence[str]) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a statement, or of a list of them.

    ``vocabularies`` are the short names that the field of that name may have.
    """
    fields: dict[str, Any] = {
        "title": {
            "type": "string",
            "description": "what it is called; 'convex' in it restricts it to convex functions",
        },
        "algorithm": {"type": ["string", "null"], "description": "the name of a method, or null"},
        "assumptions": {"type": "array", "items": {"enum": _names(Assumption)}, "uniqueItems": True},
        "left": {**_FORMULA, "description": "linear in quantities that a run records: 'G_u + m/n*G_v'"},
        "over": {"enum": [*_names(Over), AVERAGED_ITERATE], "description": "which rounds it is about"},
        "right": {"anyOf": [_FORMULA, _FORMULAS], "description": "one formula, or several by name, whose sum it is"},
        "relation": {"enum": [each.value for each in Relation], "default": Relation.AT_MOST.value},
        "conditions": {
            "anyOf": [{"type": "array", "items": _COMPARISON}, {"type": "object", "additionalProperties": _COMPARISON}]
        },
        "settings": {"type": "object", "additionalProperties": _FORMULA, "description": "parameters that it fixes"},
        "trivial": {"anyOf": [_FORMULA, {"type": "null"}], "description": "what smoothness alone gives for left"},
        "step_rules": {
            "type": "object",
            "additionalProperties": _FORMULA,
            "description": "step sizes that it sets, '1/L', or bounds from below, '>= 1'",
        },
        "step_products": {"type": "array", "items": {"type": "string"}, "description": "'gamma == gamma_u*eta_u'"},
        "symbols": {"type": "array", "items": {"$ref": "#/$defs/symbol"}},
        "vocabulary": {"enum": [*vocabularies], "description": "the paper whose symbols it takes"},
        "with_probability": {
            "anyOf": [_FORMULA, {"type": "null"}],
            "description": "that with which a run meets the bound, at least; without it both sides are expectations",
        },
        "key": {"type": ["string", "null"]},
        "source": {"type": "string", "description": "such as 'My paper, Theorem 1'"},
        "follows_from": _TEXTS,
        "remark": {"type": "string"},
        "repairs": {"type": "string"},
    }
    statement = {
        "type": "object",
        "properties": fields,
        "required": _required(in_fields),
        "additionalProperties": False,
    }
    return {
        "$schema": DIALECT,
        "title": "a statement for ratecheck, or a list of statements",
        "anyOf": [{"$ref": "#/$defs/statement"}, {"type": "array", "items": {"$ref": "#/$defs/statement"}}],
        "$defs": {
            "statement": statement,
            "formula": {
                "type": ["string", "number"],
                "description": "a number, or text of + - * / **, brackets, numbers, symbols, sqrt, log, exp, max, min, "
                "pi; decimal numbers in text are exact",
            },
            "symbol": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
                    "meaning": {"type": "string"},
                    "domain": {"enum": _names(Domain), "default": "positive"},
                    "role": {"enum": _names(Role), "default": "constant"},
                    "degrees": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "minItems": 2,
                        "maxItems": 2,
                        "description": "its powers of the unit of f and of x; those of L are [1, -2]",
                    },
                    "fact": {"type": ["string", "null"]},
                    "equals": {"anyOf": [_FORMULA, {"type": "null"}]},
                    "default": {"type": ["number", "null"]},
                    "latex": {"type": ["string", "null"]},
                },
                "required": _required(symbol),
                "additionalProperties": False,
            },
        },
    }


def read(path: str) -> dict[str, Statement]:
    """The statements of a JSON file, by what says which of them is meant.

    Raises `InputError` in one line where the file cannot be read, or a statement in it cannot be built: with the number
    of the statement, the field, and what is admissible there.
    """
    try:
        data = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise InputError(f"{path} cannot be read: lists in lists, hundreds deep; a statement has three") from None
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {unread(error)}") from None
    several = data if isinstance(data, list) else [data]
    if not several:
        raise InputError(f"{path} has no statement in it")
    found: dict[str, Statement] = {}
    for number, each in enumerate(several):
        place = f"{path}[{number}]" if isinstance(data, list) else path
        try:
            statement = from_data(each)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        if statement.key.startswith(UNNAMED):
            statement = dataclasses.replace(statement, key=f"{Path(path).stem}/{statement.key.removeprefix(UNNAMED)}")
        found[place] = statement
    return found


def from_data(data: object) -> Statement:
    """The statement of JSON data; raises `InputError` that names the field.

    >>> data = {"title": "t", "algorithm": None, "assumptions": [], "left": "G_u", "over": "every_round", "right": "L"}
    >>> from_data(data).claims[0].bound
    L
    """
    fields = _checked(data, in_fields, "a statement")
    symbols = fields.pop("symbols", [])
    if not isinstance(symbols, list):
        raise FieldError("symbols", "symbols", f"{brief(symbols)} is not a list")
    own = [_symbol(each, f"symbols[{k}]") for k, each in enumerate(symbols)]
    # What another program writes may be of any kind; `in_fields` looks at each field.
    for field in ("assumptions", "step_products", "follows_from"):
        if field in fields and not (isinstance(fields[field], list) and all(isinstance(x, str) for x in fields[field])):
            raise FieldError(field, field, f"{brief(fields[field])} is not a list of texts")
    for field, kind, words in (("step_rules", dict, "a mapping"), ("source", str, "text"), ("vocabulary", str, "text")):
        if field in fields and not isinstance(fields[field], kind):
            raise FieldError(field, field, f"{brief(fields[field])} is not {words}")
    for field, keys in (("follows_from", fields.get("follows_from", ())), ("repairs", (fields.get("repairs"),))):
        if code := next((key for key in keys if isinstance(key, str) and _PYTHON.search(key)), None):
            raise FieldError(field, field, f"{code!r} is of a Python file: data names statements of the catalogue only")
    made = in_fields(**fields, symbols=own)
    try:
        hooks.check_method(made.algorithm)
    except InputError as error:
        raise FieldError("algorithm", "algorithm", error) from None
    return made


def _symbol(data: object, place: str) -> OwnSymbol:
    fields = _checked(data, symbol, place)
    try:
        return symbol(**fields)
    except InputError as error:
        raise FieldError("symbols", place, error) from None


def _checked(data: object, made: Any, place: str) -> dict[str, Any]:
    """The fields of a mapping, all of them known and none of the required ones missing."""
    if not isinstance(data, Mapping):
        raise InputError(f"{place} is a mapping of fields, not {brief(data)}")
    known = [*inspect.signature(made).parameters]
    for name in data:
        if name not in known:
            raise InputError(f"{place} has no field {name!r}; {did_you_mean(str(name), known)}")
    if missing := [name for name in _required(made) if name not in data]:
        raise InputError(f"{place} lacks {', '.join(missing)}")
    return dict(data)


def _required(made: Any) -> list[str]:
    parameters = inspect.signature(made).parameters.values()
    return [each.name for each in parameters if each.default is inspect.Parameter.empty]
