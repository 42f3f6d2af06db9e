"""One classic is found without the others, and is the one that all of them contain."""

from __future__ import annotations

import subprocess
import sys

import pytest

import bounds
from bounds.papers.classics import lookup
from bounds.papers.classics.statements import STATEMENTS

pytestmark = pytest.mark.quick


def test_every_classic_is_found_by_its_key():
    """It is the same object, and a key that no file has is none."""
    assert all(lookup.find(each.key) is each for each in STATEMENTS)
    assert bounds.get(STATEMENTS[-1].key) is STATEMENTS[-1]
    assert lookup.find("classics/heavy-ball") is None


def test_one_classic_is_built_without_the_others():
    """The module with all statements is not imported for one."""
    code = (
        "import sys, bounds; bounds.get('classics/heavy-ball-values'); "
        "assert 'bounds.papers.classics.statements' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # our own code
