"""Matrix products over lanes: register-tiled, with vector instructions, built as LLVM code.

Points are (d, B) arrays, the B lanes innermost. The sums of a few output rows and a few vectors of lanes (a tile) stay
in registers while all columns of the matrix pass by. Numba's vectoriser does not keep them there; so the product is
written with LLVM's vector types, which LLVM maps to the registers that the machine has.

A lane's result does not depend on the tile in which it is computed, nor on the lanes beside it: it always is one chain
of multiply-adds in the order of the columns, fused wherever the machine can.
"""

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.constants import WIDTH
from ratecheck.kernels.llvm.lanes import BYTE, DOUBLE, INDEX, multiply_add, spread, wanted_lanes

# Vectors per tile, and rows per tile (of one vector: thin): as many sums as fit into the registers, and enough to hide
# how long an addition takes. Every size is code to compile.
VECTORS = 4 if binding.get_host_cpu_features().get("avx512f", False) else 1
_TILE_ROWS, _THIN_ROWS = (4, 1), (8, 4, 1) if VECTORS > 1 else (4, 1)

_NAME = "ratecheck.product"


class _Matrix:
    """Where the entries of a matrix are: its first one, and two strides in bytes."""

    def __init__(self, builder, start, strides):
        self.builder = builder
        self.start = start
        self.strides = strides

    def at(self, row, column, kind=DOUBLE):
        """Pointer to ``kind`` at an entry."""
        offset = INDEX(0)
        for index, stride in zip((row, column), self.strides, strict=True):
            offset = self.builder.add(offset, self.builder.mul(index, stride))
        return self.builder.bitcast(self.builder.gep(self.start, [offset]), kind.as_pointer())


def _emit_tile(builder, operands, row_of, lane_of, width, stored=None):
    """LLVM code for out = M x + start on the given rows and vectors of lanes.

    Of the lanes only stored[0] ... stored[1]-1 are written, where ``stored`` is given.
    """
    M, start, x, out, columns, offset = operands
    vector = ir.VectorType(DOUBLE, width)
    places = [(row, lane) for row in row_of for lane in lane_of]
    sums = [cgutils.alloca_once(builder, vector) for _ in places]
    with builder.if_else(offset) as (minus_c, plus):
        with minus_c:
            for (row, _), total in zip(places, sums, strict=True):
                number = builder.fneg(builder.load(start.at(row, INDEX(0))))
                builder.store(spread(builder, number, width), total)
        with plus:
            for (row, lane), total in zip(places, sums, strict=True):
                builder.store(builder.load(start.at(row, lane, vector), align=8), total)
    with cgutils.for_range(builder, columns) as loop:
        inputs = [builder.load(x.at(loop.index, lane, vector), align=8) for lane in lane_of]
        factors = [spread(builder, builder.load(M.at(row, loop.index)), width) for row in row_of]
        terms = [(factor, values) for factor in factors for values in inputs]
        for (factor, values), total in zip(terms, sums, strict=True):
            builder.store(multiply_add(builder, factor, values, builder.load(total)), total)
    for (row, lane), total in zip(places, sums, strict=True):
        place, result = out.at(row, lane, vector), builder.load(total)
        if stored is not None:
            wanted = wanted_lanes(builder, width, lane, *stored)
            result = builder.select(wanted, result, builder.load(place, align=8))
        builder.store(result, place, align=8)


def _emit_rows(builder, operands, rows, lane_of, width, stored=None):
    """LLVM code for all rows, on the given vectors of lanes: the largest tiles as often as they fit, then smaller."""
    beyond = INDEX(0)
    for size in _TILE_ROWS if len(lane_of) > 1 else _THIN_ROWS:
        count = builder.udiv(builder.sub(rows, beyond), INDEX(size))
        with cgutils.for_range(builder, count) as loop:
            row = builder.add(beyond, builder.mul(loop.index, INDEX(size)))
            row_of = [builder.add(row, INDEX(r)) for r in range(size)]
            _emit_tile(builder, operands, row_of, lane_of, width, stored)
        beyond = builder.add(beyond, builder.mul(count, INDEX(size)))


def _routine(module, name):
    """LLVM function for out = M x - c (with ``offset``) or out = M x + start.

    It is a function of its own, of pointers and numbers instead of arrays: Numba does not remove the counting of
    references around code with many branches, and that costs more than a small product.
    """
    pointer = BYTE.as_pointer()
    kinds = [pointer] * 4 + [INDEX] * 9 + [ir.IntType(1)]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    M, start, x, out, M_row, M_column, start_row, x_row, out_row, rows, columns, lanes, B, offset = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    step = INDEX(8)
    operands = (
        _Matrix(builder, M, (M_row, M_column)), _Matrix(builder, start, (start_row, step)),
        _Matrix(builder, x, (x_row, step)), _Matrix(builder, out, (out_row, step)), columns, offset,
    )  # fmt: skip
    tile = VECTORS * WIDTH
    tiles = builder.udiv(lanes, INDEX(tile))
    with cgutils.for_range(builder, tiles) as loop:
        lane_of = [builder.add(builder.mul(loop.index, INDEX(tile)), INDEX(v * WIDTH)) for v in range(VECTORS)]
        _emit_rows(builder, operands, rows, lane_of, WIDTH)
    done = builder.mul(tiles, INDEX(tile))
    fits = builder.icmp_unsigned(">=", B, INDEX(WIDTH))
    left = builder.udiv(builder.add(builder.sub(lanes, done), INDEX(WIDTH - 1)), INDEX(WIDTH))
    with cgutils.for_range(builder, builder.select(fits, left, INDEX(0))) as loop:
        first = builder.add(done, builder.mul(loop.index, INDEX(WIDTH)))
        # A vector may reach beyond the first lanes, but not beyond the array: there it begins earlier.
        last_place = builder.sub(B, INDEX(WIDTH))
        begin = builder.select(builder.icmp_unsigned("<", first, last_place), first, last_place)
        _emit_rows(builder, operands, rows, [begin], WIDTH, (first, lanes))
    with cgutils.for_range(builder, builder.select(fits, INDEX(0), lanes)) as loop:
        _emit_rows(builder, operands, rows, [loop.index], 1)
    builder.ret_void()
    return function


@intrinsic
def _product(typing, M, start, x, out, lanes):  # noqa: ARG001  # Numba prescribes the arguments
    """Out = M x - start if start is (R,), out = M x + start if it is (R, B); see `_routine`."""
    for array in (M, start, x, out):
        if not isinstance(array, types.Array) or array.dtype != types.float64:
            raise TypingError(f"needed arrays of doubles, not {array}")
    if {x.layout, out.layout} != {"C"}:
        raise TypingError(f"needed points with contiguous lanes, not {x}, {out}")

    def generate(context, builder, signature, arguments):
        kinds = signature.args[:4]
        views = [context.make_array(k)(context, builder, a) for k, a in zip(kinds, arguments[:4], strict=True)]
        strides = [cgutils.unpack_tuple(builder, view.strides) for view in views]
        function = builder.module.globals.get(_NAME) or _routine(builder.module, _NAME)
        offset = ir.IntType(1)(kinds[1].ndim == 1)
        shape, (_, B) = (cgutils.unpack_tuple(builder, views[v].shape) for v in (0, 3))
        pointers = [builder.bitcast(view.data, BYTE.as_pointer()) for view in views]
        numbers = [*strides[0], strides[1][0], strides[2][0], strides[3][0], *shape, arguments[4], B, offset]
        builder.call(function, pointers + numbers)
        return context.get_dummy_value()

    return types.void(M, start, x, out, types.intp), generate


@kernel
def affine(M, c, x, out, lanes):
    """Fill the first lanes of out (R, B) with M x - c, for M (R, d), c (R,) and x (d, B)."""
    _product(M, c, x, out, lanes)


@kernel
def add_product(M, x, out, lanes):
    """Add M x to the first lanes of out (R, B), for M (R, d) and x (d, B)."""
    _product(M, out, x, out, lanes)
