"""Calls of the functions of a method: an error in a user's own one is reported in one line, with the file and line."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import traceback
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from ratecheck.errors import InputError


class MethodError(InputError):
    """A function of a method is wrong."""

    def __reduce__(self) -> tuple[type[InputError], tuple[str]]:
        """In another process the message is enough."""
        return InputError, (str(self),)


def _operation(name: str) -> Callable[[Any, Any], Any]:
    apply = getattr(Fraction, name)

    def operation(self: Any, other: Any) -> Any:
        if isinstance(other, float) and math.isfinite(other):
            other = Fraction(other)
        found = apply(self, other)
        return Binary(found) if isinstance(found, Fraction) else found

    return operation


class Binary(Fraction):
    """A rational number that takes a float for the binary fraction that it is, where `Fraction` would round."""

    __add__, __radd__ = _operation("__add__"), _operation("__radd__")
    __sub__, __rsub__ = _operation("__sub__"), _operation("__rsub__")
    __mul__, __rmul__ = _operation("__mul__"), _operation("__rmul__")
    __truediv__, __rtruediv__ = _operation("__truediv__"), _operation("__rtruediv__")

    def __neg__(self) -> Binary:
        return Binary(super().__neg__())

    def __pos__(self) -> Binary:
        return self

    def __pow__(self, exponent: Any) -> Any:
        found = super().__pow__(exponent)
        return Binary(found) if isinstance(found, Fraction) else found


class UntoldNumber:
    """A number that is not known: sums, products, quotients and whole powers are such numbers, all else is an error.

    What a function computes of it without an error is a rational function of it.
    """

    def _computed(self, *_: Any) -> UntoldNumber:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _computed
    __neg__ = __pos__ = _computed
    __hash__ = None  # type: ignore[assignment]

    def __pow__(self, exponent: Any) -> UntoldNumber:
        if not isinstance(exponent, int):
            raise TypeError("no whole power")
        return self

    def __eq__(self, other: object) -> bool:
        raise TypeError("a number that is not known is compared")

    def __bool__(self) -> bool:
        raise TypeError("a number that is not known is compared")


def guarded(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function of a method; whatever it raises is a `MethodError`."""

    @functools.wraps(function)
    def wrapped(algorithm: Any, *arguments: Any, **keywords: Any) -> Any:
        try:
            return function(algorithm, *arguments, **keywords)
        except (Exception, SystemExit) as error:
            # What this program raises is meant for it.
            if type(error).__module__.partition(".")[0] in ("bounds", "ratecheck"):
                raise
            where = getattr(getattr(function, "__code__", None), "co_filename", "")
            frames = traceback.extract_tb(error.__traceback__)
            frame = ([each for each in frames if each.filename == where] or frames)[-1]
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
            place = f"{Path(frame.filename).name}, line {frame.lineno}"
            hint = "; 'step_sizes' of the class names what functions ask of p" if isinstance(error, KeyError) else ""
            raise MethodError(f"{named(algorithm)}: {name} raises {reason} ({place}){hint}") from error

    return wrapped


def said(algorithm: Any, function: str) -> str:
    """The function of a method in words, by the name under which the method is run; of a user's own with its place."""
    kind = type(getattr(algorithm, "inner", algorithm))
    code = getattr(inspect.unwrap(getattr(kind, function, said)), "__code__", None)
    place = (
        f" ({Path(code.co_filename).name}, line {code.co_firstlineno})" if code is not None and _outside(code) else ""
    )
    return f"{named(algorithm)}: {function}{place}"


def _outside(code: CodeType) -> bool:
    """Whether a function is none of this package's."""
    return not Path(code.co_filename).is_relative_to(Path(__file__).parents[1])


def name(algorithm: Any, known_as: str) -> None:
    """Have messages about an algorithm use the name of its first method."""
    if not hasattr(algorithm, "_known_as"):
        object.__setattr__(algorithm, "_known_as", known_as)


def named(algorithm: Any) -> str:
    """The name under which a method is run, that of the class of an algorithm which is no method's."""
    algorithm = getattr(algorithm, "inner", algorithm)
    return str(getattr(algorithm, "_known_as", type(algorithm).__name__))


def exactly(function: Callable[..., Any], *arguments: Any) -> Any:
    """The value of a method's function at rational numbers, in rational numbers.

    Raises `MethodError` where it can do no exact arithmetic.
    """
    try:
        found = function(*arguments)
        if not floats_in(found):
            return found
    except MethodError:
        # A float has spoiled it: such numbers know floats.
        pass
    found = plain(function(*(_every(each, _binary) for each in arguments)))
    if floats_in(found):
        raise MethodError(f"{getattr(function, '__name__', 'a function')} returns NaN or infinity")
    return found


def floats_in(value: Any) -> bool:
    """Whether an array of objects, or what holds some, has floats."""
    if isinstance(value, Mapping):
        return any(map(floats_in, value.values()))
    if isinstance(value, (tuple, list)):
        return any(map(floats_in, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" or any(issubclass(kind, float) for kind in {*map(type, value.flat)})
    if dataclasses.is_dataclass(value):
        # A term's factor is read by itself.
        return floats_in(getattr(value, "left", ())) or floats_in(getattr(value, "right", ()))
    return isinstance(value, float)


def plain(value: Any) -> Any:
    """Numbers as plain fractions: a float that met no rational is the binary fraction that it is."""
    return _every(value, _fraction)


def is_own(algorithm: type | Callable[..., Any]) -> bool:
    """Whether a method, or a function of one, is none of this package's."""
    return algorithm.__module__.partition(".")[0] != __name__.partition(".")[0]


def _fraction(number: Any) -> Any:
    finite = isinstance(number, float) and math.isfinite(number)
    return Fraction(number) if finite or isinstance(number, Binary) else number


def _binary(number: Any) -> Any:
    return Binary(number) if isinstance(number, (int, Fraction)) else number


def _every(value: Any, convert: Callable[[Any], Any]) -> Any:
    """A number, list or mapping with each of its numbers converted."""
    if isinstance(value, Mapping):
        return {name: _every(each, convert) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_every(each, convert) for each in value)
    if isinstance(value, np.ndarray):
        found = np.empty(value.shape, dtype=object)
        for place, each in np.ndenumerate(value):
            found[place] = convert(each)
        return found
    if dataclasses.is_dataclass(value) and hasattr(value, "left"):
        sides = {side: _every(getattr(value, side), convert) for side in ("left", "right")}
        return dataclasses.replace(value, **sides)  # type: ignore[type-var]
    return convert(value)
