"""Assumptions that no function meets: each entry is proved, said by the linter and by a verdict."""

import pytest

import bounds
import ratecheck as rc
from bounds.assumption import Assumption
from bounds.incompatible import INCOMPATIBLE, incompatible
from bounds.ledger.step import Scalar
from bounds.theorem import theorem
from ratecheck.auditing.sanity import satisfied

SGD = {
    "title": "SGD, distances",
    "algorithm": "fedavg",
    "left": "dist2",
    "over": "every_round_but_first",
    "right": "4*G**2/(mu**2*t)",
    "settings": {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0},
    "conditions": ["gamma_u <= 1/L"],
    "vocabulary": "textbook",
}


def sgd(*more, **changes):
    """A theorem with these assumptions beside the usual ones."""
    return theorem(**SGD | {"assumptions": ["smoothness", "full_participation", "no_personal", *more]} | changes)


@pytest.mark.parametrize("entry", INCOMPATIBLE, ids=lambda entry: entry.text[:60])
def test_its_proof(entry):
    """The inequalities have no solution, which a solver decides, and every one of them is needed."""

    def solvable(conditions):
        return satisfied(Scalar(left=1, operator="<=", right=0, hypotheses=tuple(conditions)))[0]

    assert solvable(entry.proof) is False
    for each in entry.proof:
        assert solvable([other for other in entry.proof if other is not each]) is True


def test_strong_convexity_with_bounded_gradients():
    """Said by the linter as an error, and by a verdict that does not apply; so by the search."""
    statement = sgd("strong_convexity", "bounded_gradients")
    [report] = rc.lint(statement, evaluations=0).reports
    [found] = [each for each in report.findings if each.check == "assumptions"]
    assert (found.level.value, found.field) == ("error", "assumptions")
    assert "no such function: bounded_gradients and strong_convexity exclude each other" in found.text
    assert "visited_gradients" in found.remedy
    verdict = rc.verify(statement, T=5)
    assert verdict.outcome is rc.Outcome.NOT_APPLICABLE
    assert "no such function" in str(verdict)
    assert rc.falsify(statement, evaluations=5).outcome is rc.Outcome.NOT_APPLICABLE


def test_only_constants_are_left():
    """Of the Polyak-Lojasiewicz inequality; without smoothness nothing is said."""
    both = ("polyak_lojasiewicz", "bounded_gradients")
    [report] = rc.lint(sgd(*both, right="4*G**2/(mu_PL**2*t)"), evaluations=0).reports
    assert any("no such function but a constant" in each.text for each in report.findings)
    rough = theorem(**SGD | {"assumptions": [*both, "full_participation", "no_personal"]})
    [report] = rc.lint(rough, evaluations=0).reports
    assert not any(each.check == "assumptions" for each in report.findings)


@pytest.mark.parametrize("other", ["visited_gradients", "gb_dissimilarity", "interpolation", "minimiser_heterogeneity"])
def test_what_goes_together(other):
    """Strong convexity with a bound that quadratics have."""
    [report] = rc.lint(sgd("strong_convexity", other, right="4*L*F_0/mu**2"), evaluations=0).reports
    assert not any(each.check == "assumptions" for each in report.findings)


@pytest.mark.parametrize("condition", ["mu >= 2*L", "mu > L", "mu_PL >= 2*L", "L < mu"])
def test_constants_in_the_wrong_order(condition):
    """No function is more strongly convex than smooth: the linter proves it, strict comparisons included."""
    [report] = rc.lint(sgd("strong_convexity", conditions=[condition]), evaluations=0).reports
    assert any("exclude each other, which is proved" in each.text for each in report.findings)


def test_no_entry_accuses_the_catalogue():
    """No statement that is kept has such assumptions."""
    for paper in (*bounds.PAPERS, bounds.TEXTBOOK):
        for statement in bounds.statements(paper):
            assert not list(incompatible(statement.assumptions)), statement.key


def test_every_assumption_of_an_entry_exists():
    """And more than one."""
    assert all(len(entry.assumptions) > 1 and entry.assumptions <= {*Assumption} for entry in INCOMPATIBLE)
