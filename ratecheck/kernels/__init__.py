"""Numba kernels. Every file in this folder enters the hash that names the compilation cache (see `compile`)."""
