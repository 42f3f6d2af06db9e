"""The page of claims that were corrected: each false one has a counterexample that is shrunk, no corrected one has."""

import ast
import re
from pathlib import Path

import pytest

import ratecheck as rc
from ratecheck.algorithms import METHODS

PAGE = (Path(__file__).parents[2] / "docs" / "corrected.md").read_text()
FILES = dict(re.findall(r"^cat > (\w+)\.py <<'END'\n(.*?)^END$", PAGE, re.MULTILINE | re.DOTALL))
ENTRIES = ast.literal_eval(re.search(r"^ENTRIES = (\{.*?^\})$", PAGE, re.MULTILINE | re.DOTALL)[1])


def test_every_entry_is_asked():
    """Eight or more, each with a file of its own and who corrected it."""
    assert {*FILES} == {*ENTRIES}
    assert len(ENTRIES) >= 8
    assert PAGE.count("**Claim.**") == PAGE.count("**Corrected** by") == len(ENTRIES)


@pytest.fixture(name="entry", params=sorted(FILES))
def _entry(request, tmp_path):
    """The path of an entry's file, and the numbers with which the page asks it; its methods are gone afterwards."""
    path = tmp_path / f"{request.param}.py"
    path.write_text(FILES[request.param])
    known = {*METHODS}
    yield path, ENTRIES[request.param]
    for name in {*METHODS} - known:
        del METHODS[name]


@pytest.mark.long
def test_the_claim_is_violated(entry):
    """By an instance that is shrunk, can be read, and violates it again when it is verified by itself.

    That the search accuses it is examined every time, when the page is built.
    """
    path, given = entry
    found = rc.falsify(f"{path}:claimed", evaluations=200, **given)
    assert found.outcome is rc.Outcome.VIOLATED
    assert found.search.shrunk is not None
    assert found.instance.problem.n <= 2
    assert " > right " in found.as_text()
    assert rc.verify(f"{path}:claimed", instance=found.instance).outcome is rc.Outcome.VIOLATED


@pytest.mark.every(4)
def test_the_corrected_form_is_not(entry):
    """With other sizes than those of the page, which tries its own when it is built; instances meet its conditions."""
    path, _ = entry
    found = rc.falsify(f"{path}:corrected", evaluations=60)
    assert found.outcome is rc.Outcome.INCONCLUSIVE
    assert found.tightness > 0.1
