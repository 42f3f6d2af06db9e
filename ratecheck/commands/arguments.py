"""What commands share: ``name=value`` arguments, the options about problems, output and exit codes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from bounds.symbols import Vocabulary
from ratecheck.errors import InputError
from ratecheck.views.width import wrapped

Function = TypeVar("Function", bound=Callable[..., Any])

key_argument = click.argument("key", metavar="KEY")
keys_argument = click.argument("words", metavar="KEY... [NAME=VALUE]...", nargs=-1, required=False)
values_argument = click.argument("assignments", metavar="[NAME=VALUE]...", nargs=-1)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
problem_option = click.option(
    "--problem",
    "problem_name",
    metavar="NAME",
    help="quadratic, logistic, bilevel, digits, breast_cancer, libsvm:PATH, or PATH.npz with arrays H, g and shared; "
    "by default the first of the kind that the statement's method is about.",
)
seed_option = click.option(
    "--seed",
    default=0,
    show_default=True,
    help="Seed of the run's random streams (seed=... among the dials is the problem's).",
)
replicates_option = click.option("--replicates", default=16, show_default=True, help="Monte Carlo runs.")
threads_option = click.option(
    "--threads", type=click.IntRange(min=1), help="Threads of the step engine; all by default."
)


def divide_words(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keys and ``name=value`` words, in whatever order they come."""
    keys = tuple(word for word in words if "=" not in word)
    if not keys:
        raise InputError("which statement? give a KEY; 'ratecheck list' has them all")
    return keys, tuple(word for word in words if "=" in word)


# Dials that are words rather than numbers.
WORDS = ("how",)


def parse_values(assignments: tuple[str, ...], *vocabularies: Vocabulary) -> dict[str, Any]:
    """``("n=10", "gamma=1e-3")`` as numbers, the dials in `WORDS` as text; raises `InputError` for anything else.

    A name that stands for several symbols in one of the ``vocabularies`` may have a list, such as ``alpha=0.1,0.2``.
    """
    lists = {alias.name for vocabulary in vocabularies for alias in vocabulary.aliases.values() if alias.many}
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise InputError(f"{assignment!r} is not of the form NAME=VALUE, such as n=10")
        if name in values:
            raise InputError(f"{name} is given twice: {_given(values[name])} and {text}")
        if name in WORDS:
            values[name] = text
            continue
        parts = text.split(",")
        if len(parts) > 1 and name not in lists:
            raise InputError(f"{name}={text}: {name} is one number, not a list")
        numbers = [_number(assignment, part) for part in parts]
        values[name] = numbers if len(numbers) > 1 else numbers[0]
    return values


def names(text: str) -> tuple[str, ...]:
    """``K,T`` as names; raises `InputError` where one is missing or comes twice."""
    found = tuple(word.strip() for word in text.split(","))
    if not all(found):
        raise InputError(f"{text!r} is not a list of names such as K,T")
    if twice := [word for k, word in enumerate(found) if word in found[:k]]:
        raise InputError(f"{text!r} names {twice[0]} twice")
    return found


def _number(assignment: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{assignment}: {text!r} is not a number") from None
    if not math.isfinite(value):
        raise InputError(f"{assignment}: it has to be a finite number")
    return value


def _given(value: float | str | list[float]) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def say(text: str) -> None:
    """A result on stdout, as wide as the terminal."""
    click.echo(wrapped(text))


def print_json(data: object) -> None:
    """Data on stdout; infinities and NaN, which JSON lacks, as null."""
    click.echo(json.dumps(_plain(data), indent=2))


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(k): _plain(v) for k, v in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(v) for v in data]
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    return data


def note(message: str) -> None:
    """A message on stderr."""
    click.echo(f"note: {message}", err=True)
