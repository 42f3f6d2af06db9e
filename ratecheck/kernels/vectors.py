"""Operations on all lanes at once: hand-written LLVM code, or plain Numba where its version is unknown.

Arrays are (..., B), lanes innermost, and count as rows; only the first ``lanes`` of them, the last argument, change.
"""

from ratecheck.kernels.compile import by_hand

if by_hand():
    from ratecheck.kernels.llvm.minibatch import batch_gradient
    from ratecheck.kernels.llvm.philox import add_normals, fill_normals, fill_words
    from ratecheck.kernels.llvm.product import add_product, affine
    from ratecheck.kernels.llvm.sparse import add_sparse, sparse_product
    from ratecheck.kernels.llvm.sums import (
        add_displacement,
        add_inner,
        add_multiple,
        add_part,
        add_scaled,
        advance,
        clear,
        weigh,
    )
else:
    from ratecheck.kernels.plain import (
        add_displacement,
        add_inner,
        add_multiple,
        add_normals,
        add_part,
        add_product,
        add_scaled,
        add_sparse,
        advance,
        affine,
        batch_gradient,
        clear,
        fill_normals,
        fill_words,
        sparse_product,
        weigh,
    )

__all__ = [
    "add_displacement",
    "add_inner",
    "add_multiple",
    "add_normals",
    "add_part",
    "add_product",
    "add_scaled",
    "add_sparse",
    "advance",
    "affine",
    "batch_gradient",
    "clear",
    "fill_normals",
    "fill_words",
    "sparse_product",
    "weigh",
]
