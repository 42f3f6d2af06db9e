"""Arguments and options that commands share, and how they print.

Options have the names of the arguments of `ratecheck.api` that they are for, so that a command hands them on as they
are.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bounds.numbers import decimal
from ratecheck.api.given import COLUMNS, WORDS
from ratecheck.errors import InputError, printable
from ratecheck.files import UnsavedError
from ratecheck.views.width import wrapped

if TYPE_CHECKING:
    from ratecheck.api.document import DocumentResult
    from ratecheck.api.result import DrawnResult, Result

Function = TypeVar("Function", bound=Callable[..., Any])

key_argument = click.argument("key", metavar="KEY")
keys_argument = click.argument("words", metavar="KEY... [NAME=VALUE]...", nargs=-1, required=False)
values_argument = click.argument("assignments", metavar="[NAME=VALUE]...", nargs=-1)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
problem_option = click.option(
    "--problem",
    metavar="NAME",
    help="quadratic, logistic, bilevel, digits, breast_cancer, libsvm:PATH, PATH.npz with arrays H, g and shared, a "
    "table PATH.csv, PATH.parquet or PATH.npz with features and labels (see label=, client=, loss=, l2=), or "
    "FILE.py:NAME, a problem in a file of your own; "
    "by default the first of the kind that the statement's method is about.",
)
seed_option = click.option(
    "--seed",
    default=0,
    show_default=True,
    help="Seed of the run's random streams (seed=... among the parameters is the problem's).",
)
replicates_option = click.option("--replicates", default=16, show_default=True, help="Monte Carlo runs.")
threads_option = click.option(
    "--threads", type=click.IntRange(min=1), help="Threads of the step engine; all by default."
)
engine_option = click.option("--engine", default="auto", show_default=True, metavar="NAME", help="auto, exact or step.")
noise_option = click.option(
    "--noise",
    metavar="LAW",
    help="Law of the noise: gaussian, signs, uniform, sphere, student:NU, pareto:ALPHA,P, relative:RHO.",
)
workers_option = click.option("--workers", type=click.IntRange(min=1), help="Processes; one per core by default.")
certificates_option = click.option(
    "--certificates", metavar="FILE.json", help="Write the proofs to a file that recheck.py checks."
)
coq_option = click.option("--coq", metavar="FILE.v", help="Write the proofs as lemmas that Coq checks.")
study_argument = click.argument("study_file", metavar="STUDY.toml", type=click.Path(path_type=Path))
study_replicates_option = click.option(
    "--replicates", type=click.IntRange(min=2), help="Replicates of every curve, instead of the file's."
)
only_option = click.option(
    "--only", multiple=True, metavar="NAME", help="Only this figure; may be given several times."
)
document_option = click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write FILE.html or FILE.md."
)
theorems_option = click.option(
    "--theorems",
    multiple=True,
    metavar="FILE.py",
    help="A file of your own of whose theorems the study may speak, as in FILE.py:NAME; a study runs no other Python.",
)
scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the workers of this Dask scheduler do it, such as tcp://HOST:8786; needs the extra `distributed`.",
)


def divide_words(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keys and ``name=value`` words, in whatever order they come."""
    keys = tuple(word for word in words if "=" not in word)
    if not keys:
        raise InputError("which statement? give a KEY; 'ratecheck list' has them all")
    return keys, tuple(word for word in words if "=" in word)


def parse_values(assignments: tuple[str, ...]) -> dict[str, Any]:
    """``("n=10", "gamma=1/8")`` as numbers, ``alpha=0.1,0.2`` as a list, the parameters in `WORDS` as text.

    Raises `InputError` for anything else.
    """
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise InputError(f"{assignment!r} is not of the form NAME=VALUE, such as n=10")
        if name in values:
            raise InputError(f"{name} is given twice: {_given(values[name])} and {text}")
        if name in WORDS or (name in COLUMNS and not _is_number(text)):
            values[name] = text
            continue
        numbers = [_number(assignment, part) for part in text.split(",")]
        values[name] = numbers if len(numbers) > 1 else numbers[0]
    return values


def _is_number(text: str) -> bool:
    try:
        decimal(text)
    except ValueError:
        return False
    return True


def _options() -> set[str]:
    """The options of the command that is being read."""
    context = click.get_current_context(silent=True)
    return set() if context is None else {option for each in context.command.params for option in each.opts}


def _number(assignment: str, text: str) -> float:
    over, _, under = text.partition("/")
    try:
        value = decimal(over) / (decimal(under) if "/" in text else 1.0)
    except ValueError:
        name = assignment.partition("=")[0]
        # A word stands where few parameters take one, and one of these may be meant.
        close = difflib.get_close_matches(name, (*WORDS, *COLUMNS), n=1, cutoff=0.7)
        hint = f"; did you mean {close[0]}={text}?" if close and close[0] != name else ""
        if (option := f"--{name.replace('_', '-')}") in _options():
            hint = f"; {name} is an option: {option} {text}"
        raise InputError(f"{assignment}: {text!r} is not a number{hint}") from None
    except ZeroDivisionError:
        raise InputError(f"{assignment}: {text!r} divides by zero") from None
    if not math.isfinite(value):
        raise InputError(f"{assignment}: it has to be a finite number")
    if value == 0 and re.search("[1-9]", over.lower().partition("e")[0]):
        raise InputError(f"{assignment}: {text!r} is closer to 0 than any number of a computer, at least 5e-324")
    return value


def _given(value: float | str | list[float]) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def say(text: str) -> None:
    """A result on stdout, as wide as the terminal."""
    click.echo(wrapped(printable(text)))


def print_result(result: Result, *, as_json: bool) -> None:
    """A result as text or as JSON on stdout, its remarks on stderr."""
    print_remarks(result)
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=2))
    else:
        say(str(result))


def print_and_save(result: DrawnResult, *, as_json: bool) -> None:
    """A result, and then its picture in its file: what was computed is on the screen before a file can fail."""
    print_result(result, as_json=as_json)
    if result.file is not None:
        result.save()
        if not as_json:
            say(f"written to {result.file}")


def print_document(result: DocumentResult, out: Path | None, *, as_json: bool) -> None:
    """A summary, and then the document in a file: an answer of hours is on the screen before a full disk loses it."""
    print_result(result, as_json=as_json)
    if out is not None:
        result.save(out)
        note(f"written to {out}")


@contextmanager
def printed_first(*, as_json: bool) -> Iterator[None]:
    """For the block that finds a result and writes files: one that cannot be written does not hide the result."""
    try:
        yield
    except UnsavedError as error:
        if error.result is not None:
            print_result(error.result, as_json=as_json)
        raise


def print_remarks(result: Result) -> None:
    """The remarks of a result, on stderr."""
    for remark in result.remarks:
        note(remark)


def note(message: str) -> None:
    """A message on stderr."""
    click.echo(f"note: {printable(message)}", err=True)
