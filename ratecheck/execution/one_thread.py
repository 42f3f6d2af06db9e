"""One thread for linear algebra, so that sums have one order whatever the machine."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController

# The libraries of linear algebra that were found, with the number of modules that were loaded then.
_libraries: tuple[int, ThreadpoolController] | None = None


def single_threaded() -> AbstractContextManager[object]:
    """Context with one thread for linear algebra: matrices are small, and results must not depend on threads."""
    global _libraries  # noqa: PLW0603  # looking for libraries takes longer than many a run
    # A library comes with the module that uses it.
    modules, known = len(sys.modules), _libraries
    if known is None or known[0] != modules:
        known = _libraries = modules, ThreadpoolController()
    return known[1].limit(limits=1, user_api="blas")
