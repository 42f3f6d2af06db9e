"""Operations on all lanes at once, built as LLVM code; `ratecheck.kernels.plain` has the same in plain Numba."""
