"""Formulas evaluated on all lanes at once, in vectors of lanes, built as LLVM code.

Numba's vectoriser leaves the lanes that do not fill a vector to a slow loop, and a client is often sampled by few
replicates only. Here a formula is written once, in Python, on `Lanes`; `lanewise` turns it into LLVM code on whole
vectors, the last of them masked. Every vector and every lane of it go through the same instructions, so that a lane's
result depends neither on its place nor on the lanes beside it.
"""

import inspect

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ratecheck.kernels.compile import Function
from ratecheck.kernels.constants import EXPONENTIAL, LOG2_E, LOG_2_HIGH, LOG_2_LOW, WIDTH

BYTE, INDEX, DOUBLE = ir.IntType(8), ir.IntType(64), ir.DoubleType()
_TWO_TO_52 = 0x4330000000000000  # the bits of 2.0**52

_ROUND = 1.5 * 2.0**52


def spread(builder, number, width):
    """A vector with the same number in every element."""
    vector = ir.VectorType(number.type, width)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def multiply_add(builder, a, b, c):
    """LLVM code for a*b + c in vectors of doubles, fused wherever the machine can."""
    name = f"llvm.fmuladd.v{a.type.count}f64"
    signature = ir.FunctionType(a.type, [a.type] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), [a, b, c])


def wanted_lanes(builder, width, begin, first, last):
    """Truth values: which of the lanes begin ... begin+width-1 are among first ... last-1."""
    numbers = ir.Constant(ir.VectorType(INDEX, width), list(range(width)))
    numbers = builder.add(numbers, spread(builder, builder.sub(begin, first), width))
    # Unsigned: lanes before the first wrap around to large numbers.
    return builder.icmp_unsigned("<", numbers, spread(builder, builder.sub(last, first), width))


class Lanes:
    """One double, integer or truth value per lane of a vector, while LLVM code is being written."""

    def __init__(self, builder, value):
        self.builder = builder
        self.value = value

    def like(self, other):
        """LLVM value of the same kind: of lanes, or of a number that is the same in all."""
        count = self.value.type.count
        if isinstance(other, Lanes):
            return other.value
        if isinstance(other, ir.Value):
            return spread(self.builder, other, count)
        return ir.Constant(self.value.type, [other] * count)

    def all(self, number):
        """The number in every lane."""
        return Lanes(self.builder, self.like(number))

    def _apply(self, whole, real, other):
        operation = real if self.value.type.element == DOUBLE else whole
        return Lanes(self.builder, operation(self.value, self.like(other)))

    def __add__(self, other):
        return self._apply(self.builder.add, self.builder.fadd, other)

    def __sub__(self, other):
        return self._apply(self.builder.sub, self.builder.fsub, other)

    def __mul__(self, other):
        return self._apply(self.builder.mul, self.builder.fmul, other)

    def __truediv__(self, other):
        return self._apply(None, self.builder.fdiv, other)

    def __neg__(self):
        return Lanes(self.builder, self.builder.fneg(self.value))

    def __and__(self, other):
        return self._apply(self.builder.and_, None, other)

    def __or__(self, other):
        return self._apply(self.builder.or_, None, other)

    def __xor__(self, other):
        return self._apply(self.builder.xor, None, other)

    def __lshift__(self, other):
        return self._apply(self.builder.shl, None, other)

    def __rshift__(self, other):
        return self._apply(self.builder.lshr, None, other)

    def at_most(self, bound):
        """The smaller of this and a number; NaN stays NaN."""
        above = self.builder.fcmp_ordered(">", self.value, self.like(bound))
        return Lanes(self.builder, self.builder.select(above, self.like(bound), self.value))

    def at_least(self, bound):
        """The larger of this and a number; NaN stays NaN."""
        below = self.builder.fcmp_ordered("<", self.value, self.like(bound))
        return Lanes(self.builder, self.builder.select(below, self.like(bound), self.value))

    def plus_product(self, a, b):
        """The sum of this and a*b, rounded once wherever the machine can."""
        return Lanes(self.builder, multiply_add(self.builder, self.like(a), self.like(b), self.value))

    def polynomial(self, coefficients):
        """The polynomial with these coefficients, the constant one first."""
        *others, last = coefficients
        total = self.all(last)
        for coefficient in reversed(others):
            total = self.all(coefficient).plus_product(total, self)
        return total

    def exp(self):
        """The exponential to 1e-15, as if numbers beyond +-708 were +-708."""
        z = self.at_most(708.0).at_least(-708.0)
        # Adding _ROUND leaves the nearest integer in the last bits.
        rounded = self.all(_ROUND).plus_product(z, LOG2_E)
        power = rounded - _ROUND
        rest = z.plus_product(power, -LOG_2_HIGH).plus_product(power, -LOG_2_LOW)
        scale = ((rounded.bits() + 1023) << 52).double()
        return rest.polynomial(EXPONENTIAL) * scale

    def sqrt(self):
        """Square root."""
        kind = self.value.type
        signature, name = ir.FunctionType(kind, [kind]), f"llvm.sqrt.v{kind.count}f64"
        function = cgutils.get_or_insert_function(self.builder.module, signature, name)
        return Lanes(self.builder, self.builder.call(function, [self.value]))

    def bits(self):
        """The bits of doubles, as integers."""
        return Lanes(self.builder, self.builder.bitcast(self.value, ir.VectorType(INDEX, self.value.type.count)))

    def double(self):
        """The doubles with these integers as bits."""
        return Lanes(self.builder, self.builder.bitcast(self.value, ir.VectorType(DOUBLE, self.value.type.count)))

    def to_double(self, plus=0.0):
        """An integer from 0 to 2**51, plus a multiple of 1/2, as a double; few machines convert vectors otherwise."""
        return (self | _TWO_TO_52).double() - (2.0**52 - plus)


class Rows:
    """An array (..., B) as rows of lanes, while LLVM code is being written."""

    def __init__(self, builder, element, start, stride, count):
        self.builder = builder
        self._element = element
        self._start = start
        self._stride = stride
        self._count = count
        self._lane = self._width = self._stored = None

    def place(self, lane, width, stored):
        """Let rows begin at a lane; ``stored`` (truth values) are the lanes that change, None for all."""
        self._lane, self._width, self._stored = lane, width, stored

    def since(self, row):
        """The rows from one on."""
        start = self.builder.gep(self._start, [self.builder.mul(row, self._stride)])
        rest = Rows(self.builder, self._element, start, self._stride, self.builder.sub(self._count, row))
        rest.place(self._lane, self._width, self._stored)
        return rest

    def has(self, row):
        """Context of code that runs if there is such a row."""
        return self.builder.if_then(self.builder.icmp_signed(">", self._count, INDEX(row)))

    def _pointer(self, row):
        row = INDEX(row) if isinstance(row, int) else row
        offset = self.builder.add(self.builder.mul(row, self._stride), self.builder.mul(self._lane, INDEX(8)))
        kind = ir.VectorType(self._element, self._width)
        return self.builder.bitcast(self.builder.gep(self._start, [offset]), kind.as_pointer())

    def __getitem__(self, row):
        return Lanes(self.builder, self.builder.load(self._pointer(row), align=8))

    def __setitem__(self, row, lanes):
        pointer, value = self._pointer(row), lanes.value
        if self._stored is not None:
            value = self.builder.select(self._stored, value, self.builder.load(pointer, align=8))
        self.builder.store(value, pointer, align=8)


class LaneTable:
    """A matrix of doubles without lanes, while LLVM code is being written; a formula's argument annotated as such."""

    def __init__(self, builder, start, stride, rows, columns):
        self.builder = builder
        self.rows = rows
        self.columns = columns
        self._start = start
        self._stride = stride

    def __getitem__(self, place):
        """An entry (LLVM value), by row and column."""
        row, column = (INDEX(index) if isinstance(index, int) else index for index in place)
        pointer = self.builder.gep(self.row(row), [self.builder.mul(column, INDEX(8))])
        return self.builder.load(self.builder.bitcast(pointer, DOUBLE.as_pointer()))

    def row(self, number):
        """Pointer to a row."""
        return self.builder.gep(self._start, [self.builder.mul(number, self._stride)])

    def row_of_lanes(self, numbers):
        """Pointers to row numbers[lane] for every lane of numbers (`Lanes`)."""
        lanes = range(numbers.value.type.count)
        return [self.row(self.builder.extract_element(numbers.value, INDEX(lane))) for lane in lanes]


def total(start, first, last, add):
    """The result of add(total, index) from the start (`Lanes`) over first <= index < last."""
    builder = start.builder
    slot = cgutils.alloca_once(builder, start.value.type)
    builder.store(start.value, slot)
    with cgutils.for_range_slice(builder, first, last, INDEX(1)) as (index, _):
        builder.store(add(Lanes(builder, builder.load(slot)), index).value, slot)
    return Lanes(builder, builder.load(slot))


def add_multiples(out, x, factor, first, last):
    """Add factor (`Lanes`) times x to out, in rows first ... last-1."""
    with cgutils.for_range_slice(out.builder, first, last, INDEX(1)) as (index, _):
        out[index] = out[index].plus_product(factor, x[index])


def lanewise(formula: Function) -> Function:
    """Turn a formula into a function for kernels, with the number of lanes as further argument.

    The formula's arguments are numbers (for it: LLVM values), arrays of doubles or 64-bit integers (for it: `Rows`) and
    arrays of doubles that have no lanes (for it: `LaneTable`, and annotated so). All axes but the last one count as
    rows. It is compiled as a function of its own: Numba does not remove the counting of references around code with
    many branches, which costs more than a small formula.
    """

    def compiled(typing, *kinds):  # noqa: ARG001  # Numba prescribes the first argument
        for kind in kinds:
            if isinstance(kind, types.Array) and (kind.layout != "C" or kind.dtype.bitwidth != 64):
                raise TypingError(f"needed contiguous rows of 64-bit numbers, not {kind}")
        # One function for all numbers: a literal number would otherwise be a type of its own.
        return types.void(*map(types.unliteral, kinds)), generate

    # Numba needs to see each argument.
    parameters = inspect.signature(formula).parameters
    tables = [parameter.annotation is LaneTable for parameter in parameters.values()]
    names = ["typing", *parameters, "lanes"]
    named = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    compiled.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]

    def generate(context, builder, signature, arguments):
        *kinds, _ = signature.args
        *operands, lanes = arguments
        values, widths = [], []
        for kind, operand, table in zip(kinds, operands, tables, strict=True):
            if isinstance(kind, types.Array):
                view = context.make_array(kind)(context, builder, operand)
                *rows, columns = cgutils.unpack_tuple(builder, view.shape)
                count = INDEX(1)
                for length in rows:
                    count = builder.mul(count, length)
                values += [builder.bitcast(view.data, BYTE.as_pointer()), builder.mul(columns, INDEX(8)), count]
                if table:
                    values.append(columns)
                else:
                    widths.append(columns)
            else:
                wide = types.float64 if isinstance(kind, types.Float) else types.int64
                values.append(context.cast(builder, operand, kind, wide))
        B = widths[0]
        for width in widths[1:]:
            B = builder.select(builder.icmp_signed("<", width, B), width, B)
        values += [lanes, B]
        name = f"{formula.__module__}.{formula.__qualname__}({', '.join(map(str, kinds))})"
        function = builder.module.globals.get(name)
        if function is None:
            function = _routine(builder.module, name, formula, kinds, tables, [value.type for value in values])
        builder.call(function, values)
        return context.get_dummy_value()

    return intrinsic(compiled)


def _routine(module, name, formula, kinds, tables, value_kinds):
    """The LLVM function of a formula: a loop over whole vectors, and the lanes that are left."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), value_kinds), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")  # a copy at every call would be as fast, but take long to compile
    *values, lanes, B = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    rest, operands = iter(values), []
    for kind, table in zip(kinds, tables, strict=True):
        if table:
            operands.append(LaneTable(builder, next(rest), next(rest), next(rest), next(rest)))
        elif isinstance(kind, types.Array):
            element = DOUBLE if isinstance(kind.dtype, types.Float) else INDEX
            operands.append(Rows(builder, element, next(rest), next(rest), next(rest)))
        else:
            operands.append(next(rest))

    def evaluate(lane, width, stored=None):
        for operand in operands:
            if isinstance(operand, Rows):
                operand.place(lane, width, stored)
        formula(*operands)

    vectors = builder.udiv(lanes, INDEX(WIDTH))
    with cgutils.for_range(builder, vectors) as loop:
        evaluate(builder.mul(loop.index, INDEX(WIDTH)), WIDTH)
    first = builder.mul(vectors, INDEX(WIDTH))
    left = builder.icmp_unsigned("<", first, lanes)
    fits = builder.icmp_unsigned(">=", B, INDEX(WIDTH))
    with builder.if_then(left), builder.if_else(fits) as (wide, narrow):
        with wide:
            # A vector may reach beyond the first lanes, but not beyond the array: there it begins earlier.
            last_place = builder.sub(B, INDEX(WIDTH))
            begin = builder.select(builder.icmp_unsigned("<", first, last_place), first, last_place)
            evaluate(begin, WIDTH, wanted_lanes(builder, WIDTH, begin, first, lanes))
        with narrow, cgutils.for_range(builder, lanes) as loop:
            evaluate(loop.index, 1)
    builder.ret_void()
    return function
