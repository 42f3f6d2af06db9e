"""Problems by name, for the command line, study files and instance files: ``quadratic``, ``libsvm:PATH``, ..."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ratecheck.errors import InputError, did_you_mean
from ratecheck.extensions import Registry, by_kind
from ratecheck.problems.problem import Problem, WrittenProblem

GROUP = "ratecheck.problems"
Options = Mapping[str, Any]


KINDS: Registry[type[Problem]] = Registry(lambda: by_kind("ratecheck.problems", GROUP, Problem))  # type: ignore[type-abstract]  # to compare


@dataclass(frozen=True)
class _Source:
    """A problem that is requested by name: the form in which it is written, its maker, and the file."""

    form: WrittenProblem
    make: Callable[..., Problem]
    path: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the maker that are not loaded."""
        names = [name for name in inspect.signature(self.make).parameters if name != "cls"]
        return tuple(names if self.form.load is None else names[1:])

    def arguments(self) -> tuple[Any, ...]:
        """The loaded arguments of the maker; none for a form without a file."""
        return () if self.form.load is None else (self.form.load(self.path),)


def _source(name: str) -> _Source | None:
    written = [(form, kind) for kind in KINDS.values() for form in kind.written]
    # A name says more than how a path ends: `NAME:PATH.npz` is a file of that kind.
    for form, kind in sorted(written, key=lambda each: (each[0].suffix, each[0].accepts is None)):
        path = form.path(name)
        if path is not None and (form.accepts is None or form.accepts(path)):
            return _Source(form, getattr(kind, form.maker) if form.maker else kind, path)
    return None


def forms() -> list[str]:
    """The forms in which problems are written, such as ``quadratic`` or ``libsvm:PATH``."""
    return [form.form for kind in KINDS.values() for form in kind.written]


def build(name: str, options: Options) -> Problem:
    """The problem of that name with its parameters set.

    Names: ``quadratic``, ``logistic`` and ``bilevel`` (synthetic), ``digits`` and ``breast_cancer`` (scikit-learn's
    tables as logistic regression), ``libsvm:PATH`` (a LIBSVM file), ``PATH.csv`` and the like (tables), ``PATH.npz``
    (arrays H, g and the number ``shared``), and those of other distributions (see `forms`).
    Raises `InputError` for an unknown name or parameter, a bad value or an unreadable file.
    """
    source = _source(name)
    if source is None:
        raise InputError(f"no problem {name!r}; {did_you_mean(name, forms())}")
    known = source.parameters
    for option in options:
        if option not in known:
            raise InputError(f"the problem {name!r} has no parameter {option!r}; {did_you_mean(option, known)}")
    return source.make(*source.arguments(), **options)


def parameters(name: str) -> tuple[str, ...]:
    """The parameters that a problem of that name has; those of the data sets for an unknown name."""
    source = _source(name) or _source("digits")
    assert source is not None
    return source.parameters


def features(name: str, options: Options) -> int:
    """The number of variables of a client in the problem of that name, shared and personal together."""
    source = _source(name)
    if source is None or source.form.size is None:
        return build(name, options).d
    (loaded,) = source.arguments()
    return source.form.size(loaded, options)


def own_clients(name: str, options: Options) -> bool:
    """Whether the problem of that name comes from a file that has its number of clients."""
    source = _source(name)
    return source is not None and (source.form.own_clients or source.form.counted in options)


def fields(problem: Problem) -> dict[str, Any]:
    """A problem as JSON data; raises `InputError` where it has no such form."""
    return {"kind": problem.kind, **problem.fields()}


def read(data: Mapping[str, Any]) -> Problem:
    """The inverse of `fields`; raises `InputError` for what is no problem."""
    kind = data["kind"]
    readable = [name for name, each in KINDS.items() if "read" in vars(each) or "stored" in vars(each)]
    if kind not in readable:
        raise InputError(f"an instance on a {kind!r} problem is not known: {' or '.join(reversed(readable))}")
    return KINDS[kind].read(data)
