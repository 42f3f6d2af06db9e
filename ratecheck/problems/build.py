"""Problems by name, for the command line and study files: ``quadratic``, ``digits``, ``libsvm:PATH``, ..."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ratecheck.errors import InputError, did_you_mean
from ratecheck.problems import Problem, datasets
from ratecheck.problems.bilevel import Bilevel
from ratecheck.problems.logistic import Logistic
from ratecheck.problems.quadratic import Quadratic

Options = Mapping[str, Any]


def build(name: str, options: Options) -> Problem:
    """The problem of that name with its dials set.

    Names: ``quadratic``, ``logistic`` and ``bilevel`` (synthetic), ``digits`` and ``breast_cancer`` (scikit-learn's
    tables as logistic regression), ``libsvm:PATH`` (a LIBSVM file), ``PATH.npz`` (arrays H, g and the number
    ``shared``).
    Raises `InputError` for an unknown name or dial, a bad value or an unreadable file.
    """
    kind, _, path = name.partition(":")
    if kind == "libsvm":
        return _from_table(lambda: datasets.libsvm(path), options, name)
    if name.endswith(".npz"):
        return _from_file(Path(name), options)
    builders: dict[str, Callable[[], Problem]] = {
        "quadratic": lambda: _call(Quadratic.synthetic, options, name),
        "logistic": lambda: _call(Logistic.synthetic, options, name),
        "bilevel": lambda: _call(Bilevel.synthetic, options, name),
        "digits": lambda: _from_table(datasets.digits, options, name),
        "breast_cancer": lambda: _from_table(datasets.breast_cancer, options, name),
    }
    if name not in builders:
        raise InputError(f"no problem {name!r}; {did_you_mean(name, [*builders, 'libsvm:PATH', 'PATH.npz'])}")
    return builders[name]()


def dials(name: str) -> tuple[str, ...]:
    """The dials that a problem of that name has."""
    if name.endswith(".npz"):
        return ("shared",)
    makers: dict[str, Callable[..., Problem]] = {
        "quadratic": Quadratic.synthetic,
        "logistic": Logistic.synthetic,
        "bilevel": Bilevel.synthetic,
    }
    return tuple(_parameters(makers.get(name, Logistic.from_table)))


def features(name: str, options: Options) -> int:
    """How many variables a client has in the problem of that name, shared and personal together."""
    kind, _, path = name.partition(":")
    tables = {"digits": datasets.digits, "breast_cancer": datasets.breast_cancer}
    if kind == "libsvm":
        return int(datasets.libsvm(path).features.shape[1])
    if name in tables:
        return int(tables[name]().features.shape[1])
    return build(name, options).d


def _parameters(function: Callable[..., Problem]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("cls", "table")]


def _call(function: Callable[..., Problem], options: Options, name: str, *arguments: object) -> Problem:
    known = _parameters(function)
    for option in options:
        if option not in known:
            raise InputError(f"the problem {name!r} has no dial {option!r}; {did_you_mean(option, known)}")
    return function(*arguments, **options)


def _from_table(load: Callable[[], datasets.DataTable], options: Options, name: str) -> Problem:
    return _call(Logistic.from_table, options, name, load())


def _from_file(path: Path, options: Options) -> Problem:
    try:
        # Opened here: NumPy leaves a file open that turns out to be no archive.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as stored:
            arrays = {key: np.asarray(stored[key]) for key in ("H", "g", "shared") if key in stored.files}
    except FileNotFoundError:
        raise InputError(f"no file {path}: a problem file is an .npz with arrays H, g and the number shared") from None
    except Exception as error:  # noqa: BLE001  # a damaged archive fails in many ways
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} cannot be read as an .npz file: {reason}") from None
    missing = {"H", "g"} - arrays.keys()
    if missing:
        raise InputError(f"{path} lacks {', '.join(sorted(missing))}: it needs H (n,d,d), g (n,d) and shared")
    d = arrays["g"].shape[-1] if arrays["g"].ndim else 0
    return Quadratic(arrays["H"], arrays["g"], shared=options.get("shared", arrays.get("shared", d // 2)))
