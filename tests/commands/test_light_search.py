"""The search and quick proofs leave out packages that most statements need nothing of."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.quick

_CODE = """
import sys
import ratecheck.commands.checks.falsify, ratecheck.proving.prove
print(*sorted({'scipy.linalg', 'scipy.sparse', 'scipy.optimize', 'matplotlib', 'clarabel', 'pandas'} & {*sys.modules}))
"""


def test_search_imports_no_linear_algebra_of_scipy():
    """Half of what NumPy and SymPy take together is not spent before a program is solved."""
    found = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
