"""Mini-batches of a logistic client: every lane draws its own samples, built as LLVM code.

Samples are rows, points are columns: the margin of a sample is a sum along a row, for each lane a different one. So a
vector of lanes first turns its points around: rows of ``work``, one per lane, along which rows of samples are read.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from ratecheck.kernels.compile import kernel
from ratecheck.kernels.constants import WIDTH
from ratecheck.kernels.llvm.lanes import (
    DOUBLE,
    INDEX,
    Lanes,
    LaneTable,
    add_multiples,
    lanewise,
    multiply_add,
    spread,
    total,
)  # fmt: skip
from ratecheck.kernels.llvm.philox import philox_words
from ratecheck.kernels.llvm.sums import logistic_weight

_VECTOR = ir.VectorType(DOUBLE, WIDTH)
_ZERO = ir.Constant(_VECTOR, [0.0] * WIDTH)


@kernel
def batch_gradient(A, batch, k, t, tag, keys, words, x, out, lanes):
    """Fill out (d, B) with gradients over ``batch`` samples of A (N, d), drawn at counter (., k, t, tag).

    ``words`` (4, B) is scratch.
    """
    d = A.shape[1]
    if d < WIDTH:
        out[:, :lanes] = 0.0
        _short_rows(-1.0 / batch, batch, k, t, tag, keys, words, A, x, np.empty_like(x), out, lanes)
    else:
        work = aligned(2 * ((d + WIDTH - 1) // WIDTH), WIDTH * WIDTH)
        _long_rows(-1.0 / batch, batch, k, t, tag, keys, words, A, x, work, out, lanes)


@kernel
def aligned(rows, columns):
    """A new matrix, the columns a multiple of WIDTH, in which no vector lies across two lines of the cache."""
    memory = np.empty(rows * columns + WIDTH)
    first = -(memory.ctypes.data // 8) % WIDTH
    return memory[first : first + rows * columns].reshape((rows, columns))


def _each_sample(batch, counter, keys, words, A, use):
    """Code that calls use(rows) for every draw, ``rows`` being pointers to the lanes' samples."""
    builder = words.builder
    blocks = builder.udiv(builder.add(batch, INDEX(3)), INDEX(4))
    with cgutils.for_range(builder, blocks) as block:
        for row, word in enumerate(philox_words((block.index, *counter), keys)):
            words[row] = word
        left = builder.sub(batch, builder.mul(block.index, INDEX(4)))
        left = builder.select(builder.icmp_signed("<", left, INDEX(4)), left, INDEX(4))
        with cgutils.for_range(builder, left) as draw:
            # Lanes that are not wanted may hold any number here: the mask keeps them within A, too.
            use(A.row_of_lanes(((words[draw.index] & 0xFFFFFFFF) * A.rows) >> 32))


@lanewise
def _short_rows(factor, batch, k, t, tag, keys, words, A: LaneTable, x, sample, out):
    """Add the gradients to out, entry by entry; ``sample`` (d, B) is scratch."""
    builder, none, d = x.builder, INDEX(0), A.columns

    def use(rows):
        with cgutils.for_range(builder, d) as loop:
            value = ir.Constant(ir.VectorType(DOUBLE, len(rows)), ir.Undefined)
            for lane, row in enumerate(rows):
                entry = builder.load(_vector_at(builder, row, loop.index, DOUBLE))
                value = builder.insert_element(value, entry, INDEX(lane))
            sample[loop.index] = Lanes(builder, value)
        margin = total(x[0].all(0.0), none, d, lambda z, row: z.plus_product(sample[row], x[row]))
        add_multiples(out, sample, logistic_weight(factor, margin), none, d)

    _each_sample(batch, (k, t, tag), keys, words, A, use)


@lanewise
def _long_rows(factor, batch, k, t, tag, keys, words, A: LaneTable, x, work: LaneTable, out):
    """Fill out with the gradients; ``work`` (2 * pieces, 64) is scratch for the points and the gradients of 8 lanes.

    Samples are cut into pieces of one vector; where d is no multiple of its length, the last piece overlaps the one
    before, and there the point is zero, so that no product counts twice.
    """
    builder, width = x.builder, x[0].value.type.count
    pieces = builder.udiv(builder.add(A.columns, INDEX(WIDTH - 1)), INDEX(WIDTH))
    lanes = range(width)

    def column_of(piece):
        last, column = builder.sub(A.columns, INDEX(WIDTH)), builder.mul(piece, INDEX(WIDTH))
        return builder.select(builder.icmp_unsigned("<", column, last), column, last)

    def places(piece):
        """Pointers to the points and the gradients of all lanes."""
        rows = work.row(piece), work.row(builder.add(pieces, piece))
        return [[_vector_at(builder, row, INDEX(WIDTH * lane)) for lane in lanes] for row in rows]

    def use(rows):
        sums = [cgutils.alloca_once(builder, _VECTOR) for _ in lanes]
        for slot in sums:
            builder.store(_ZERO, slot)
        with cgutils.for_range(builder, pieces) as loop:
            points, _ = places(loop.index)
            for slot, row, point in zip(sums, rows, points, strict=True):
                part = builder.load(_vector_at(builder, row, column_of(loop.index)), align=8)
                value = multiply_add(builder, part, builder.load(point, align=64), builder.load(slot))
                builder.store(value, slot)
        margin = Lanes(builder, _sums(builder, [builder.load(slot) for slot in sums]))
        weight = logistic_weight(factor, margin).value
        weights = [spread(builder, builder.extract_element(weight, INDEX(lane)), WIDTH) for lane in lanes]
        with cgutils.for_range(builder, pieces) as loop:
            _, gradients = places(loop.index)
            for weight, row, gradient in zip(weights, rows, gradients, strict=True):
                part = builder.load(_vector_at(builder, row, column_of(loop.index)), align=8)
                value = multiply_add(builder, weight, part, builder.load(gradient, align=64))
                builder.store(value, gradient, align=64)

    with cgutils.for_range(builder, pieces) as loop:
        values, zero = [], x[0].all(0.0).value
        for number in range(WIDTH):
            row = builder.add(column_of(loop.index), INDEX(number))
            fresh = builder.icmp_unsigned(">=", row, builder.mul(loop.index, INDEX(WIDTH)))
            values.append(builder.select(fresh, x[row].value, zero))
        for point, gradient, value in zip(*places(loop.index), _transposed(builder, values), strict=True):
            builder.store(value, point, align=64)
            builder.store(_ZERO, gradient, align=64)
    _each_sample(batch, (k, t, tag), keys, words, A, use)
    with cgutils.for_range(builder, pieces) as loop:
        _, gradients = places(loop.index)
        values = _transposed(builder, [builder.load(gradient, align=64) for gradient in gradients])
        for number, value in enumerate(values):
            out[builder.add(column_of(loop.index), INDEX(number))] = Lanes(builder, value)


def _vector_at(builder, row, column, kind=_VECTOR):
    """Pointer to ``kind`` at a column of a row."""
    return builder.bitcast(builder.gep(row, [builder.mul(column, INDEX(8))]), kind.as_pointer())


def _shuffle(builder, a, b, places):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places))


def _transposed(builder, vectors):
    """The transpose of WIDTH vectors of WIDTH numbers, of WIDTH vectors of one number, or of one vector."""
    if len(vectors) == 1:
        return [_shuffle(builder, vectors[0], vectors[0], [place]) for place in range(WIDTH)]
    if vectors[0].type.count == 1:
        joined = ir.Constant(_VECTOR, ir.Undefined)
        for place, vector in enumerate(vectors):
            joined = builder.insert_element(joined, builder.extract_element(vector, INDEX(0)), INDEX(place))
        return [joined]
    # All of them, one after the other, riffled like cards, three times since WIDTH is 2**3.
    half = WIDTH // 2
    orders = [[place // 2 + first + WIDTH * (place % 2) for place in range(WIDTH)] for first in (0, half)]
    for _ in range(WIDTH.bit_length() - 1):
        pairs = zip(vectors[:half], vectors[half:], strict=True)
        vectors = [_shuffle(builder, a, b, order) for a, b in pairs for order in orders]
    return vectors


def _sums(builder, vectors):
    """A vector of the sums of one or WIDTH vectors: neighbours are added, again and again, whatever the number."""
    length = WIDTH
    while length > 1:
        length //= 2
        pairs = zip(vectors[0::2], vectors[1::2], strict=True) if len(vectors) > 1 else [(vectors[0], vectors[0])]
        size = 2 * vectors[0].type.count if len(vectors) > 1 else vectors[0].type.count
        even, odd = list(range(0, size, 2)), list(range(1, size, 2))
        vectors = [builder.fadd(_shuffle(builder, a, b, even), _shuffle(builder, a, b, odd)) for a, b in pairs]
    return vectors[0]
