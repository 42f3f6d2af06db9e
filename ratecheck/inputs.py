"""Numbers and arrays from outside: converted, or refused in one line."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.numbers import decimal
from ratecheck.errors import InputError


def whole(name: str, value: Any, low: int, high: int | None = None, why: str = "") -> int:
    """``value`` as an ``int`` within ``low..high``; otherwise an `InputError` that names it and the range."""
    number = real(name, value)
    if number != math.floor(number):
        raise InputError(f"{name}={number:g}: needed a whole number")
    if number < low or (high is not None and number > high):
        allowed = f"{name} >= {low}" if high is None else f"{low} <= {name} <= {high}"
        nearest = low if number < low else high
        because = f" ({why})" if why else ""
        raise InputError(f'{name}={number:.10g} breaks "{allowed}"{because}; nearest that does: {nearest}')
    return int(value)


def described(text: str) -> str:
    """The words of a message for an entry in a file of numbers.

    A text that is no number is not repeated: a file that others name may be one that they cannot read themselves.
    """
    try:
        decimal(text)
    except ValueError:
        return "no number" if text else "empty"
    return repr(text if len(text) <= 20 else text[:20] + "...")


# Numbers that a synthetic problem may be made of: 1 GiB.
_LARGEST_PROBLEM = 2**27


def check_size(numbers: float, **parameters: int) -> None:
    """Raise `InputError` where a problem with these parameters has more numbers than fit into memory."""
    if numbers > _LARGEST_PROBLEM:
        shown = ", ".join(f"{name}={value:g}" for name, value in parameters.items())
        raise InputError(f"{shown}: the problem has {numbers:.3g} numbers, at most {_LARGEST_PROBLEM:.3g} are handled")


def real(name: str, value: Any) -> float:
    """``value`` as a finite ``float``; otherwise an `InputError` that names it."""
    try:
        # What Python turns into a number and is none.
        if isinstance(value, bool | np.bool_ | str | bytes):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}={value!r}: needed a number") from None
    if not math.isfinite(number):
        raise InputError(f"{name}={number}: needed a finite number")
    return number


def nonnegative(name: str, value: Any) -> float:
    """``value`` as a finite ``float >= 0``; otherwise an `InputError` that names it."""
    return within(name, value, 0)


def within(name: str, value: Any, low: float, high: float = math.inf) -> float:
    """``value`` as a finite ``float`` in ``low..high``; otherwise an `InputError` that names it and the range."""
    number = real(name, value)
    if not low <= number <= high:
        allowed = f"{name} >= {low:g}" if high == math.inf else f"{low:g} <= {name} <= {high:g}"
        raise InputError(f'{name}={number:g} breaks "{allowed}"; nearest that does: {low if number < low else high:g}')
    return number


def positive(name: str, value: Any) -> float:
    """``value`` as a finite ``float > 0``; otherwise an `InputError` that names it."""
    number = real(name, value)
    if number <= 0.0:
        raise InputError(f'{name}={number:g} breaks "{name} > 0"')
    return number


def floats(name: str, values: Any) -> NDArray[np.float64]:
    """``values`` as a C-contiguous array of floats, finite or not; otherwise an `InputError` that names it."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return np.ascontiguousarray(values)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise InputError(f"{name}: needed an array of numbers, real ones, not of {array.dtype}")
        # What overflows becomes infinite, and is refused where numbers have to be finite.
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: needed an array of numbers") from None


def bounded(name: str, values: Any, largest: float, shape: tuple[int, ...] | None = None) -> NDArray[np.float64]:
    """``values`` as an array of its own, of that shape, whose entries are finite and at most ``largest`` in size.

    Raises an `InputError` that names the array, and the first entry that is not.
    """
    array = floats(name, values).copy()
    if shape is not None and array.shape != shape:
        raise InputError(f"{name}: shape {array.shape}; needed {shape}")
    if not (small := np.abs(array) <= largest).all():
        wrong = np.argwhere(~small)
        at = tuple(int(k) for k in wrong[0])
        raise InputError(f"{name}{list(at)} is {array[at]:g}; needed finite values of size at most {largest:g}")
    return array


def shares(name: str, values: Any, n: int | None = None) -> NDArray[np.float64]:
    """Positive weights (n,) whose sum is 1 up to the rounding of whoever wrote them down; rescaled to 1.

    Raises an `InputError` that names the first one that is not positive, or the sum.
    """
    weights = floats(name, values).ravel() if n is None else floats(name, values)
    weights = bounded(name, weights, 1e20, weights.shape if n is None else (n,))
    if not len(weights) or weights.min() <= 0.0:
        worst = int(np.argmin(weights)) if len(weights) else 0
        said = f"{name}[{worst}]={weights[worst]:g}" if len(weights) else f"{name} is empty: it"
        raise InputError(f'{said} breaks "{name} > 0"')
    total = float(weights.sum())
    if abs(total - 1.0) > 1e-9:
        raise InputError(f'{name} breaks "sum of {name} = 1": {total:.10g} = 1; divide by the sum')
    return weights / total


def exact_shares(weights: NDArray[np.float64]) -> list[Fraction]:
    """The weights as fractions of sum 1: of each its share of what all add up to."""
    exact = [Fraction(x) for x in weights.tolist()]
    total = sum(exact, start=Fraction(0))
    return [x / total for x in exact]
