"""Sums of multiples of rows, inner products and steps of coordinates, as LLVM code."""

from llvmlite import ir
from numba.core import cgutils

from ratecheck.kernels.constants import SET, SLOTS
from ratecheck.kernels.llvm.lanes import DOUBLE, INDEX, Lanes, LaneTable, add_multiples, lanewise, total


def _add(mode, factor, x, x_row, out, out_row, count):
    builder, x, out = out.builder, x.since(x_row), out.since(out_row)
    with builder.if_else(builder.icmp_signed("==", mode, INDEX(SET))) as (first, later):
        with first, cgutils.for_range(builder, count) as loop:
            out[loop.index] = x[loop.index] * factor
        with later, cgutils.for_range(builder, count) as loop:
            out[loop.index] = out[loop.index].plus_product(x[loop.index], factor)


@lanewise
def add_multiple(mode, factor, x, x_row, out, out_row, count):
    """Add a number times ``count`` rows of x, from ``x_row`` on, to those of out; in mode SET only put it there."""
    _add(mode, factor, x, x_row, out, out_row, count)


@lanewise
def add_scaled(mode, factors, x, x_row, out, out_row, count):
    """Add rows of x times a factor of its own for each lane, factors (B,)."""
    _add(mode, factors[0], x, x_row, out, out_row, count)


@lanewise
def clear(out, row, count):
    """Fill rows with zeros."""
    with cgutils.for_range(out.builder, count) as loop:
        place = out.builder.add(row, loop.index)
        out[place] = out[place].all(0.0)


@lanewise
def advance(slots, steps, table: LaneTable, table_row, stride, drive, drive_row, local, row, count, d):
    """Make ``steps`` > 0 steps of the local variables (slots, d, B) in ``count`` coordinates from ``row`` on.

    Each coordinate is for itself. Its coefficients for (local, drive, 1), output by output, are in one row of
    ``table``, those of the next one ``stride`` rows further; the drive is the same in every step.
    """
    builder = local.builder
    for size in range(1, SLOTS + 1):
        fits = builder.icmp_signed("==", slots, INDEX(size))
        with builder.if_then(fits), cgutils.for_range(builder, count) as loop:
            place = builder.add(table_row, builder.mul(loop.index, stride))
            rows = [builder.add(builder.add(row, loop.index), builder.mul(d, INDEX(o))) for o in range(size)]
            force = drive[builder.add(drive_row, loop.index)]
            factors = [[table[place, o * (size + 2) + k] for k in range(size + 2)] for o in range(size)]
            shifts = [force.all(of[size + 1]).plus_product(force, of[size]) for of in factors]
            for place, x in zip(rows, _stepped(steps, [local[r] for r in rows], factors, shifts), strict=True):
                local[place] = x


def _stepped(steps, start, factors, shifts):
    """One coordinate of all local variables after that many steps in registers; the first one is not in a loop."""
    builder = start[0].builder

    def step(old):
        new = []
        for of, shift in zip(factors, shifts, strict=True):
            # The point comes last: the other variables mostly do not change, and can be added beforehand.
            for k in reversed(range(len(old))):
                shift = shift.plus_product(old[k], of[k])  # noqa: PLW2901
            new.append(shift)
        return new

    places = [cgutils.alloca_once(builder, ir.VectorType(DOUBLE, x.value.type.count)) for x in start]
    for place, x in zip(places, step(start), strict=True):
        builder.store(x.value, place)
    with cgutils.for_range(builder, builder.sub(steps, INDEX(1))):
        old = [Lanes(builder, builder.load(place)) for place in places]
        for place, x in zip(places, step(old), strict=True):
            builder.store(x.value, place)
    return [Lanes(builder, builder.load(place)) for place in places]


@lanewise
def add_displacement(factor, x, anchor: LaneTable, i, out, first, count):
    """Add factor times x - anchor[i] to rows first ... first+count-1 of out (d, B), for anchor (n, d)."""
    builder = out.builder
    with cgutils.for_range(builder, count) as loop:
        row = builder.add(first, loop.index)
        out[row] = out[row].plus_product(x[row] - anchor[i, row], factor)


@lanewise
def add_inner(factor, left, right, first, last, out, q):
    """Add factor times the inner product of rows first ... last-1 of left and right (d, B) to row q of out."""
    inner = total(left[0].all(0.0), first, last, lambda part, row: part.plus_product(left[row], right[row]))
    out[q] = out[q].plus_product(inner, factor)


def logistic_weight(factor, margin):
    """The number factor/(1+exp(margin)) (`Lanes`); the derivative of log(1+exp(-z)) has factor -1."""
    return margin.all(factor) / (margin.exp() + 1.0)


@lanewise
def add_part(rho, x, out, first, last):
    """Add the gradient of rho*s/(1+s), s the squared norm of coordinates first ... last-1."""
    one_plus = total(x[0].all(1.0), first, last, lambda square, row: square.plus_product(x[row], x[row]))
    add_multiples(out, x, one_plus.all(rho) * 2.0 / (one_plus * one_plus), first, last)


@lanewise
def weigh(factor, row, margins):
    """Put factor/(1+exp(z)) in place of the margins z in one row."""
    margins[row] = logistic_weight(factor, margins[row])
