"""What a search may do is counted, so that the machine decides nothing."""

from __future__ import annotations

import pytest
import sympy as sp
from test_certificates import CLAIMS, step

from ratecheck.algebra.positivity.handelman import combine
from ratecheck.algebra.positivity.polynomial import System
from ratecheck.algebra.search import Search
from ratecheck.algebra.work_limit import OutOfWorkError, at_most, spend
from ratecheck.auditing.export import certificates

pytestmark = pytest.mark.quick

x, y = sp.symbols("x y", positive=True)


def test_work_is_counted_where_it_is_limited():
    """By the nearest limit; without one anything goes."""
    spend(10**9)
    with at_most(5):
        spend(3)
        with at_most(10):
            spend(10)
        spend(2)
        with pytest.raises(OutOfWorkError):
            spend(1)
    spend(10**9)


def test_searches_for_proofs_say_what_they_take():
    """Columns of linear programmes, and looks at substitutions."""
    system = System(goal=x * y - x, strict=False, hypotheses=(y - 1,), positive=(False,))
    assert combine(system) is not None
    assert next(Search(system).run(), None) is not None
    for search in (lambda: combine(system), lambda: next(Search(system).run(), None)):
        with at_most(0), pytest.raises(OutOfWorkError):
            search()


def test_a_proof_that_takes_too_much_work_is_none(monkeypatch):
    """The step says so, and is no error of the file."""
    claim = CLAIMS["floors"]
    assert certificates.answered(step("floors", claim))["certificate"] is not None
    monkeypatch.setattr(certificates, "WORK", 1)
    found = certificates.answered(step("floors", claim))
    assert (found["certificate"], found["reason"]) == (None, "none was found with the work that a search may take")
