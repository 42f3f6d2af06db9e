"""NumPy functions of formulas, beside those that SymPy writes with all of NumPy."""

from functools import reduce

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.formula import of_arrays

OWN = {"Max": lambda *sides: reduce(np.maximum, sides), "Min": lambda *sides: reduce(np.minimum, sides)}


@pytest.mark.parametrize("own", [{}, OWN])
def test_they_are_written_alike(own):
    """The code is that of `lambdify` with all of NumPy."""
    for statement in bounds.statements("pfl"):
        for expr in (claim.bound for claim in statement.claims):
            symbols = sorted(expr.free_symbols, key=str)
            found = of_arrays(symbols, expr, own).__code__
            wanted = sp.lambdify(symbols, expr, modules=[own, "numpy"]).__code__
            assert (found.co_code, found.co_names, found.co_consts) == (
                wanted.co_code,
                wanted.co_names,
                wanted.co_consts,
            )


def test_functions_are_numpys():
    """Functions of arrays are those of NumPy."""
    x, y = sp.symbols("x y", positive=True)
    expr = sp.Max(sp.sqrt(x), sp.log(y)) + sp.Abs(x - y) + sp.exp(-x)
    points = np.array([0.5, 2.0]), np.array([4.0, 0.1])
    wanted = np.maximum(np.sqrt(points[0]), np.log(points[1])) + np.abs(points[0] - points[1]) + np.exp(-points[0])
    assert np.allclose(of_arrays([x, y], expr)(*points), wanted, rtol=1e-15)
