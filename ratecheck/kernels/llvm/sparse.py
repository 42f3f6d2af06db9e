"""Products with one sparse row, over lanes: the sum stays in a register while the entries pass by, as LLVM code.

The entries of all rows and their columns are two tables of one row; columns are whole numbers as doubles.
"""

from numba.core import cgutils

from ratecheck.kernels.llvm.lanes import INDEX, LaneTable, lanewise, total


def _coordinate(columns, place, many, output):
    builder = columns.builder
    column = builder.fptosi(columns[0, place], INDEX)
    return builder.add(builder.mul(column, many), output)


@lanewise
def sparse_product(entries: LaneTable, columns: LaneTable, first, last, many, output, x, out):
    """Put the sum of entries times x[many * column + output], places first ... last-1, into a row of out (many, B)."""

    def add(part, place):
        return part.plus_product(x[_coordinate(columns, place, many, output)], entries[0, place])

    out[output] = total(x[0].all(0.0), first, last, add)


@lanewise
def add_sparse(entries: LaneTable, columns: LaneTable, first, last, many, output, factors, out):
    """Add entries times the row ``output`` of factors (many, B) to out[many * column + output]."""
    with cgutils.for_range_slice(out.builder, first, last, INDEX(1)) as (place, _):
        row = _coordinate(columns, place, many, output)
        out[row] = out[row].plus_product(factors[output], entries[0, place])
