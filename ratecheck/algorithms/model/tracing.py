"""Functions of a method as programs: what they do with arrays is written down, for kernels to do it without Python.

A function is called once, with arrays that have no numbers. It becomes a program where all that it does with them is in
`_UFUNCS`, `_FUNCTIONS` and the methods of `Traced`, as with sums, norms, signs, clipping, Top-k and selections; where
it is not, `NotTracedError` says what is not. Programs have operations of `ratecheck.kernels.programs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ratecheck.aliases import Array
from ratecheck.kernels import constants as operations

# Rows of arrays without numbers; an array of a function's own with as many has to be the same in all of them.
_ROWS = 5
# More numbers NumPy adds up in blocks.
_ABREAST = 128


class NotTracedError(Exception):
    """What a function does is none of the operations of programs."""


class Traced(NDArrayOperatorsMixin):
    """An array (rows, width) without numbers: a variable, or an operation on others.

    ``operation`` and its ``operands``, traced arrays or numbers; a variable has its first ``row``. ``flat``: its shape
    is (rows,), as after a sum without ``keepdims``. ``logical``: true or false.
    """

    def __init__(
        self, width: int, operation: int | None = None, operands: tuple[Any, ...] = (), *, row: int = -1,
        value: Array | None = None, flat: bool = False, logical: bool = False,
    ) -> None:  # fmt: skip
        self.width, self.operation, self.operands, self.row = width, operation, operands, row
        self.value, self.flat, self.logical = value, flat, logical

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape (rows, width) of the array that is traced, or (rows,) of one number per row."""
        return (_ROWS,) if self.flat else (_ROWS, self.width)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of entries; how many rows there are nobody knows."""
        raise NotTracedError("the number of rows")

    def __len__(self) -> int:
        raise NotTracedError("the number of rows")

    def __bool__(self) -> bool:
        raise NotTracedError("a decision by the numbers of an array")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotTracedError("a function that is none of those of programs")

    def __getitem__(self, key: Any) -> Traced:
        key = key if isinstance(key, tuple) else (key,)
        if self.flat and key in ((slice(None), None), (Ellipsis, None)):
            return Traced(1, self.operation, self.operands, row=self.row, logical=self.logical)
        raise NotTracedError("a selection of entries")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Traced:
        if method == "reduce" and ufunc in _REDUCED:
            return _REDUCED[ufunc](*inputs, **options)
        if method != "__call__" or options or ufunc not in _UFUNCS:
            raise NotTracedError(f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else ""))
        return _UFUNCS[ufunc](*inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Traced:
        if function not in _FUNCTIONS:
            raise NotTracedError(f"np.{function.__name__}")
        return _FUNCTIONS[function](*arguments, **options)

    def copy(self) -> Traced:
        """Itself: nothing is ever written to."""
        return self

    def astype(self, kind: Any) -> Traced:
        """Itself, as numbers."""
        if kind not in (float, np.float64):
            raise NotTracedError("another type than float")
        return Traced(self.width, self.operation, self.operands, row=self.row, value=self.value, flat=self.flat)

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> Traced:
        """The sum of a row."""
        return _sum(self, axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Traced:
        """The mean of a row."""
        return _mean(self, axis, keepdims=keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Traced:
        """The largest entry of a row."""
        return _largest(self, axis, keepdims=keepdims)


class _Sorted:
    """A sorted array, of which single columns may be taken."""

    def __init__(self, array: Traced, places: tuple[int, ...]) -> None:
        self._array, self._places = array, places

    def __getitem__(self, key: Any) -> Traced:
        width = self._array.width
        if isinstance(key, tuple) and len(key) == 2 and key[0] in (slice(None), Ellipsis):
            place, flat = key[1], isinstance(key[1], int)
            if isinstance(place, (slice, list)):
                chosen = np.arange(width)[place]
                place = int(chosen[0]) if len(chosen) == 1 else None
            if isinstance(place, int) and -width <= place < width and place % width in self._places:
                return Traced(1, operations.ORDERED, (self._array, place % width), flat=flat)
        raise NotTracedError("several columns of a sorted array")


def _constant(value: Any) -> Traced:
    """Numbers of a function's own: one, or a row."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or array.ndim > 2:
        raise NotTracedError("what are no real numbers")
    logical = array.dtype.kind == "b"
    array = array.astype(float)
    if array.ndim == 2:
        if len(array) not in (1, _ROWS) or not (array == array[:1]).all():
            raise NotTracedError("numbers that differ from row to row")
        array = array[0]
    return Traced(max(array.size, 1), value=np.atleast_1d(array), logical=logical)


def _apply(operation: int, *operands: Any, logical: bool = False) -> Traced:
    """An operation on entries; widths are equal, or 1."""
    arrays = [each if isinstance(each, Traced) else _constant(each) for each in operands]
    flat = [each.flat for each in arrays if each.value is None or each.width > 1]
    if any(flat) and not all(flat):
        raise NotTracedError("arrays (rows,) together with arrays (rows, coordinates)")
    # A block that the problem does not have has no coordinates.
    width = next((each.width for each in arrays if each.width != 1), 1)
    if any(each.width not in (1, width) for each in arrays):
        raise NotTracedError("arrays of different widths")
    return Traced(width, operation, tuple(arrays), flat=any(flat), logical=logical)


def _numeric(operation: int) -> Callable[..., Traced]:
    def apply(*operands: Any) -> Traced:
        arrays = [each if isinstance(each, Traced) else _constant(each) for each in operands]
        if all(each.logical for each in arrays):
            raise NotTracedError("arithmetic of truth values")
        return _apply(operation, *arrays)

    return apply


def _compared(operation: int, *, swapped: bool = False) -> Callable[..., Traced]:
    def apply(one: Any, other: Any) -> Traced:
        return _apply(operation, *((other, one) if swapped else (one, other)), logical=True)

    return apply


def _logical(operation: int) -> Callable[..., Traced]:
    def apply(one: Any, other: Any) -> Traced:
        if not (getattr(one, "logical", False) and getattr(other, "logical", False)):
            raise NotTracedError("bits of numbers")
        return _apply(operation, one, other, logical=True)

    return apply


def _not(one: Any) -> Traced:
    if not one.logical:
        raise NotTracedError("bits of numbers")
    return _apply(operations.EQUAL, one, 0.0, logical=True)


def _different(one: Any, other: Any) -> Traced:
    return _not(_apply(operations.EQUAL, one, other, logical=True))


def _power(one: Any, exponent: Any) -> Traced:
    if not isinstance(exponent, (int, float)) or exponent not in (0.5, 2):
        raise NotTracedError("a power that is neither a square nor a root")
    return _times(one, one) if exponent == 2 else _apply(operations.ROOT, one)


def _selected(condition: Any, one: Any, other: Any) -> Traced:
    return _apply(operations.SELECTED, condition, one, other)


def _clipped(array: Any, low: Any = None, high: Any = None) -> Traced:
    array = array if low is None else _apply(operations.LARGER, array, low)
    return array if high is None else _apply(operations.SMALLER, array, high)


def _reduced(operation: int) -> Callable[..., Traced]:
    def reduce(array: Traced, axis: Any = None, *, keepdims: bool = False) -> Traced:
        if axis not in (-1, 1) or array.flat or array.logical:
            raise NotTracedError("a reduction over more than a row's coordinates")
        if operation == operations.SUMMED and array.width > _ABREAST:
            raise NotTracedError(f"a sum of more than {_ABREAST} coordinates")
        return Traced(1, operation, (array,), flat=not keepdims)

    return reduce


def _mean(array: Traced, axis: Any = None, *, keepdims: bool = False) -> Traced:
    return _apply(operations.DIVIDED, _sum(array, axis, keepdims=keepdims), float(array.width))


def _norm(array: Traced, order: Any = None, axis: Any = None, *, keepdims: bool = False) -> Traced:
    if order not in (None, 2):
        raise NotTracedError("a norm that is not Euclidean")
    return _apply(operations.ROOT, _sum(_times(array, array), axis, keepdims=keepdims))


def _sort(array: Traced, axis: int = -1) -> Any:
    if axis not in (-1, 1) or array.flat:
        raise NotTracedError("sorting of rows")
    return _Sorted(array, tuple(range(array.width)))


def _partition(array: Traced, kth: Any, axis: int = -1) -> Any:
    if axis not in (-1, 1) or array.flat or not isinstance(kth, int):
        raise NotTracedError("partition")
    return _Sorted(array, (kth % array.width,))


def _filled(value: float) -> Callable[..., Traced]:
    def fill(array: Traced) -> Traced:
        return Traced(array.width, value=np.full(array.width, value), flat=False)

    return fill


# Operations of which a result is made of all rows of an operand.
_OF_ROWS = operations.SUMMED, operations.LARGEST, operations.ARGMAX, operations.ORDERED
_times = _numeric(operations.PRODUCT)
_sum, _largest, _argmax = (
    _reduced(each) for each in (operations.SUMMED, operations.LARGEST, operations.ARGMAX)
)  # fmt: skip
_REDUCED: Mapping[Any, Callable[..., Traced]] = {np.add: _sum, np.maximum: _largest}
_UFUNCS: Mapping[Any, Callable[..., Traced]] = {
    np.add: _numeric(operations.ADDED),
    np.subtract: _numeric(operations.SUBTRACTED),
    np.multiply: _times,
    np.divide: _numeric(operations.DIVIDED),
    np.negative: lambda one: _numeric(operations.PRODUCT)(one, -1.0),
    np.positive: lambda one: one,
    np.absolute: _numeric(operations.ABSOLUTE),
    np.sqrt: _numeric(operations.ROOT),
    np.square: lambda one: _times(one, one),
    np.sign: _numeric(operations.SIGN),
    np.minimum: _numeric(operations.SMALLER),
    np.maximum: _numeric(operations.LARGER),
    np.power: _power,
    np.less: _compared(operations.LESS),
    np.less_equal: _compared(operations.NOT_MORE),
    np.greater: _compared(operations.LESS, swapped=True),
    np.greater_equal: _compared(operations.NOT_MORE, swapped=True),
    np.equal: _compared(operations.EQUAL),
    np.not_equal: _different,
    np.logical_and: _logical(operations.PRODUCT),
    np.bitwise_and: _logical(operations.PRODUCT),
    np.logical_or: _logical(operations.LARGER),
    np.bitwise_or: _logical(operations.LARGER),
    np.logical_not: _not,
    np.invert: _not,
}
_FUNCTIONS: Mapping[Any, Callable[..., Any]] = {
    np.where: _selected,
    np.clip: _clipped,
    np.sum: _sum,
    np.mean: _mean,
    np.max: _largest,
    np.amax: _largest,
    np.argmax: _argmax,
    np.sort: _sort,
    np.partition: _partition,
    np.linalg.norm: _norm,
    np.zeros_like: _filled(0.0),
    np.ones_like: _filled(1.0),
    np.copy: lambda one: one,
}


@dataclass
class Writer:
    """Writes traced arrays as instructions: see `ratecheck.kernels.programs`.

    Rows of ``file`` up to ``rows`` are taken; ``constants`` are numbers with their rows.
    """

    rows: int
    code: list[tuple[int, ...]] = field(default_factory=list)
    constants: dict[bytes, tuple[int, Array]] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict)

    def write(self, results: list[tuple[Any, int, int]]) -> None:
        """Instructions that put each array into so many rows from a first one on."""
        self._places = {}
        start, moves = len(self.code), []
        taken = {each for _, row, width in results for each in range(row, row + width)}
        for array, row, width in results:
            if not width:
                continue
            traced = array if isinstance(array, Traced) else _constant(array)
            if traced.flat or traced.width not in (1, width):
                raise NotTracedError("a returned array of another shape")
            place = self._place(traced)
            if place in taken and place != row:
                # A variable that is returned as another one would be overwritten before it is moved.
                place = self._write(operations.COPIED, traced.width, (place, int(traced.width > 1)))
            moves.append((place, traced.width, row, width))
        for place, one, row, width in moves:
            if place != row and not (one == width and self._redirected(start, place, row, width, moves)):
                self.code.append((operations.COPIED, row, width, place, int(one > 1), 0, 0, 0, 0))

    def _redirected(self, start: int, place: int, row: int, width: int, moves: list[tuple[int, int, int, int]]) -> bool:
        """Have what is written to ``place`` written to ``row`` at once, if nothing reads there any more."""
        made = [at for at in range(start, len(self.code)) if self.code[at][1] == place]
        if not made or sum(move[0] == place for move in moves) > 1 or self.code[made[0]][0] in _OF_ROWS:
            return False
        readers = [self.code[at][k] for at in range(made[0] + 1, len(self.code)) for k in (3, 5, 7)]
        still = {*readers, *(move[0] for move in moves)}
        if not still.isdisjoint(range(row, row + width)):
            return False
        operation, _, *rest = self.code[made[0]]
        if any(row <= first < row + width and not step for first, step in zip(rest[1::2], rest[2::2], strict=True)):
            return False
        self.code[made[0]] = (operation, row, *rest)
        for at in range(made[0] + 1, len(self.code)):
            line = list(self.code[at])
            line[3::2] = [row if first == place else first for first in line[3::2]]
            self.code[at] = tuple(line)
        return True

    def _place(self, traced: Traced) -> int:
        """The first row of an array, which is written unless it is there."""
        if traced.row >= 0:
            return traced.row
        if traced.value is not None:
            key = traced.value.tobytes()
            if key not in self.constants:
                self.constants[key] = self.rows, traced.value
                self.rows += traced.width
            return self.constants[key][0]
        if id(traced) not in self._places:
            assert traced.operation is not None
            first = self._place(traced.operands[0])
            whole = traced.operands[0].width
            if traced.operation == operations.ORDERED:
                found = self._write(traced.operation, 1, (first, 0), (whole, 0), (traced.operands[1], 0))
            elif traced.operation in _OF_ROWS:
                found = self._write(traced.operation, 1, (first, 0), (whole, 0))
            else:
                operands = [(self._place(each), int(each.width > 1)) for each in traced.operands]
                found = self._write(traced.operation, traced.width, *operands)
            self._places[id(traced)] = found
        return self._places[id(traced)]

    def _write(self, operation: int, width: int, *operands: tuple[int, int]) -> int:
        first, self.rows = self.rows, self.rows + width
        flat = [number for pair in operands for number in pair]
        self.code.append((operation, first, width, *flat, *[0] * (6 - len(flat))))
        return first


def variables(rows: Mapping[str, tuple[int, int]]) -> dict[str, Traced]:
    """Variables without numbers, by name: their first rows and widths."""
    return {name: Traced(width, row=first) for name, (first, width) in rows.items()}


def parameter(row: int) -> Traced:
    """A parameter that differs from row to row."""
    return Traced(1, row=row)
