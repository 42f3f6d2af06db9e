"""The linter: each check catches a wrong statement and leaves a right one alone; the catalogue has no error."""

import pytest
from short_theorem import DESCENT

import bounds
import ratecheck as rc
from bounds.ledger.refuted import refuted
from bounds.parsing import expression
from bounds.symbols import COMMON
from bounds.theorem import symbol, theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.errors import InputError
from ratecheck.falsification.falsified import Falsified
from ratecheck.linting import behaviour, conditions, instances, occurrence, units
from ratecheck.linting.draws import draws
from ratecheck.linting.finding import Finding, Level
from ratecheck.linting.units import MixedUnitsError, degrees

GRADIENT = DESCENT
SGD = GRADIENT | {
    "title": "SGD",
    "assumptions": ["smoothness", "noise", "full_participation", "no_personal"],
    "right": {"gap": "2*F_0/(gamma_u*T)", "noise": "L*gamma_u*sigma_u**2/n"},
    "settings": {"K": 1, "m": "n", "eta_u": 1},
}
TUNED = SGD | {
    "title": "Tuned SGD",
    "right": {"gap": "2*F_0/(gamma_u*T)", "noise": "L*gamma_u*sigma_u**2/n"},
    "step_rules": {"gamma_u": "min(1/L, sqrt(F_0*n/(T*L))/max(sigma_u, sqrt(F_0*L*n/T)))"},
    "conditions": [],
}
SAMPLED = SGD | {
    "title": "Sampled, with loose constants",
    "assumptions": ["smoothness", "noise", "dissimilarity", "uniform_sampling", "no_personal"],
    "right": {
        "gap": "2*F_0/(gamma_u*T)",
        "noise": "L*gamma_u*sigma_u**2/m",
        "sampling": "2*L*gamma_u*b**2*(n-m)/(n*m)",
    },
    "settings": {"K": 1, "eta_u": 1},
}
THETA = symbol("theta", "any share", role="free")

# Check, level, what is changed of a right statement, the field that is named, and a part of the sentence.
WRONG = {
    "condition in other units": (
        "units",
        "warning",
        GRADIENT | {"conditions": ["gamma_u <= 1/L**2"]},
        "conditions",
        "f^2",
    ),
    "no unit": ("units", "warning", GRADIENT | {"conditions": ["gamma_u <= 1"]}, "conditions", "no unit"),
    "term in other units": (
        "units",
        "warning",
        SGD | {"right": SGD["right"] | {"noise": "gamma_u*sigma_u**2/n"}},
        "right",
        "right without this term",
    ),
    "the whole bound shrinks": ("units", "error", GRADIENT | {"right": "2*F_0/T"}, "right", "would be 0"),
    "sum of different units": (
        "units",
        "warning",
        GRADIENT | {"right": "2*F_0*(1 + L)/(gamma_u*T)"},
        "right",
        "different units",
    ),
    "step rule in other units": (
        "units",
        "warning",
        GRADIENT | {"step_rules": {"gamma_u": "1/L**2"}},
        "step_rules",
        "f^2",
    ),
    "unused symbol": ("symbols", "warning", GRADIENT | {"symbols": [THETA]}, "symbols", "occurs nowhere"),
    "no certificate": (
        "symbols",
        "note",
        GRADIENT
        | {"symbols": [symbol("M", "a constant", degrees=(1, -2))], "conditions": ["gamma_u <= 1/L", "gamma_u <= 1/M"]},
        "symbols",
        "no verdict",
    ),
    "unused assumption": ("symbols", "warning", SGD | {"right": GRADIENT["right"]}, "assumptions", "sigma_u"),
    "constant without assumption": (
        "symbols",
        "warning",
        SGD | {"assumptions": GRADIENT["assumptions"]},
        "assumptions",
        "no assumption gives it",
    ),
    "contradiction": (
        "conditions",
        "error",
        GRADIENT | {"conditions": ["gamma_u <= 1/L", "gamma_u >= 2/L", "T >= 2"]},
        "conditions",
        '"gamma_u <= 1/L" and "gamma_u >= 2/L" exclude each other',
    ),
    "rule that never meets its condition": (
        "conditions",
        "error",
        GRADIENT | {"step_rules": {"gamma_u": "2/L"}},
        "conditions",
        "exclude each other",
    ),
    "rule that breaks its condition at times": (
        "step rules",
        "warning",
        SGD | {"step_rules": {"gamma_u": "sqrt(F_0*n/(L*T))/sigma_u"}},
        "step_rules",
        "is false, and the statement says nothing",
    ),
    "needless condition": (
        "needless conditions",
        "note",
        GRADIENT | {"conditions": ["gamma_u <= 1/L", "gamma_u <= 2/L"]},
        "conditions",
        "proved",
    ),
    "no value without noise": (
        "limits",
        "note",
        TUNED | {"step_rules": {"gamma_u": "min(1/L, sqrt(F_0*n/(T*L))/sigma_u)"}},
        "right",
        "sigma_u = 0 the bound has no value",
    ),
    "no value after one round": (
        "limits",
        "note",
        SGD | {"right": "2*F_0/(gamma_u*(T-1)) + L*gamma_u*sigma_u**2/n"},
        "right",
        "T = 1",
    ),
    "sampling stays": (
        "limits",
        "note",
        SAMPLED | {"right": SAMPLED["right"] | {"sampling": "2*L*gamma_u*b**2/m"}},
        "right",
        "does not vanish",
    ),
    "an error stays": ("limits", "note", TUNED | {"step_rules": {"gamma_u": "1/L"}}, "right", "does not tend to 0"),
    "falls with the noise": (
        "growth",
        "note",
        SGD | {"right": {"gap": "2*F_0/(gamma_u*T)", "noise": "2*F_0/(gamma_u*T)/(1 + L*gamma_u**2*sigma_u**2/F_0)"}},
        "right",
        "falls as sigma_u doubles",
    ),
    "grows with the rounds": ("growth", "note", GRADIENT | {"right": "2*F_0*T/gamma_u"}, "right", "grows as T doubles"),
    "negative": (
        "negative bound",
        "warning",
        GRADIENT | {"right": "F_0/(gamma_u*T) - L*F_0"},
        "right",
        "never below 0",
    ),
    "a noise term that small runs do not need": (
        "short search",
        "error",
        SGD | {"right": SGD["right"] | {"noise": "L*gamma_u*sigma_u**2/(8*n)"}},
        "right",
        "a search of",
    ),
    "a sample's variance over n": (
        "short search",
        "error",
        SAMPLED | {"right": SAMPLED["right"] | {"sampling": "L*gamma_u*b**2*(n-m)/(n*m)"}},
        "right",
        "computed exactly",
    ),
    "a fifth": ("short run", "error", GRADIENT | {"right": "0.4*F_0/(gamma_u*T)"}, "right", "computed exactly"),
}
RIGHT = {"gradient descent": GRADIENT, "sgd": SGD, "tuned": TUNED, "sampled": SAMPLED}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_caught(name):
    """By that check, at that level and place, with what would do."""
    check, level, fields, field, part = WRONG[name]
    # What is wrong without a search is found without one.
    more = {} if check == instances.SEARCH else {"evaluations": 0}
    [report] = rc.lint(theorem(**fields), **more).reports
    found = [each for each in report.findings if each.check == check]
    assert found, [each.text for each in report.findings]
    assert any((each.level.value, each.field) == (level, field) and part in each.text for each in found), found
    assert all(each.remedy for each in found)
    assert report.wrong or level == "note"


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_left_alone(name):
    """Nothing at all is found in textbook statements."""
    [report] = rc.lint(theorem(**RIGHT[name])).reports
    assert not report.findings, [each.text for each in report.findings]


def test_numbers_in_a_sentence_are_those_of_the_formula():
    """Both sides of a condition that changes with the units, by hand."""
    [report] = rc.lint(theorem(**GRADIENT | {"conditions": ["gamma_u <= 1/L**2"]}), evaluations=0).reports
    [text] = [each.text for each in report.findings if each.check == "units"]
    where = dict(pair.split("=") for pair in text.partition(": at ")[2].partition(" the sides")[0].split(", "))
    left, right = text.partition("the sides are ")[2].partition(";")[0].split(" and ")
    assert float(left) == pytest.approx(float(where["gamma_u"]), rel=1e-4)
    assert float(right) == pytest.approx(1 / float(where["L"]) ** 2, rel=1e-4)


def test_degrees():
    """Of L, a step size and their powers, by hand; a sum of both has none, and zero has any."""
    statement = theorem(**GRADIENT)
    read = {text: degrees(expression(text, COMMON), statement) for text in ("L*gamma_u", "sigma_u**2", "sqrt(L*F_0)")}
    assert [*read.values()] == [(0, 0), (2, -2), (1, -1)]
    assert degrees(expression("0", COMMON), statement) is None
    for text in ("L + gamma_u", "max(L, 1)", "2**L", "log(F_0)"):
        with pytest.raises(MixedUnitsError):
            degrees(expression(text, COMMON), statement)


def test_a_sum_whose_parts_cancel_has_units():
    """(L + F_0)**2 - F_0**2 - 2*L*F_0 is L**2."""
    fields = GRADIENT | {"right": "((L + F_0)**2 - F_0**2 - 2*L*F_0)/L*2*F_0/(L*gamma_u*T)"}
    assert not [each for each in rc.lint(theorem(**fields), evaluations=0).reports[0].findings if each.check == "units"]


def test_a_symbol_of_one_s_own_may_have_units_that_nobody_declared():
    """Then it is no error, and the remedy says so."""
    plain, declared = (symbol("M", "a constant", role="free", degrees=each) for each in ((0, 0), (1, -2)))
    fields = GRADIENT | {"right": "2*M*F_0/T"}
    found, declared = (rc.lint(theorem(**fields, symbols=each), evaluations=0).reports[0] for each in (plain, declared))
    [finding] = (each for each in found.findings if each.check == "units")
    assert finding.level is Level.WARNING
    assert "declare the degrees of M" in finding.remedy
    assert not [each for each in declared.findings if each.check == "units"]


def test_a_step_of_one_s_own_method_may_have_another_unit():
    """An outer step along a mean of gradients is no plain number: the remedy says so, and nothing is concluded."""
    own = type("Own", (FedAvgP,), {"__module__": "a_user"})
    METHODS["lint-own"] = Method("lint-own", "own", own(), {"gamma_v": 1, "eta_v": 1}, personal=False)
    try:
        fields = GRADIENT | {"algorithm": "lint-own", "right": "2*F_0/(eta_u*T) + 2*F_0/(gamma_u*T)"}
        [report] = rc.lint(theorem(**fields), evaluations=0).reports
        [finding] = (each for each in report.findings if each.check == "units" and each.field == "right")
        assert "means another unit by eta_u" in finding.remedy
        assert "right without this term" not in finding.text
    finally:
        del METHODS["lint-own"]


def test_a_setting_that_chooses_units_is_said():
    """Where L = 1, nothing is said about units."""
    [report] = rc.lint(
        theorem(**GRADIENT | {"settings": GRADIENT["settings"] | {"L": 1}, "conditions": ["gamma_u <= 1"]}),
        evaluations=0,
    ).reports
    assert any(each.check == "units" and "L is fixed" in each.reason for each in report.not_checked)
    assert not [each for each in report.findings if each.check == "units"]


@pytest.mark.parametrize("name", RIGHT)
def test_settings_meet_the_conditions(name):
    """They are the same whenever they are drawn."""
    statement = theorem(**RIGHT[name])
    first, second = draws(statement), draws(statement)
    assert first == second
    assert len(first.settings) > 8
    for values in first.settings:
        assert all(each.holds for each in statement.check_conditions(values))


# Papers of which each statement takes a second or more.
LATER = ("fedsum", "simfbo", "flame")


@pytest.mark.parametrize("evaluations", [0, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "paper",
    [
        pytest.param(each, marks=pytest.mark.long) if each in ("fedsum", "simfbo", "flame") else each
        for each in bounds.PAPERS
    ],
)
def test_the_catalogue_has_no_error(paper, evaluations):
    """Nor a warning but about units, which some right statements of two papers do not have.

    Statements that the audit refutes may have any.
    """
    found = rc.lint(paper, evaluations=evaluations)
    assert len(found.reports) == len(bounds.statements(paper))
    for report in found.reports:
        if refuted(report.statement) is None:
            graver = [each for each in report.findings if each.level is not Level.NOTE]
            allowed = paper in ("flame", "simfbo")
            assert all(allowed and each.check == "units" and each.level is Level.WARNING for each in graver), graver
    assert found.level("note") <= 10


def test_refuted_statements_are_caught_by_a_run():
    """Two that a run of one round refutes."""
    for key in ("pfl/lemma-a.2", "flame/lemma-1"):
        [report] = rc.lint(key).reports
        assert [each.check for each in report.findings if each.level is Level.ERROR] == ["short run"], key


def test_a_search_may_be_left_out():
    """That it was is said."""
    fields = WRONG["a noise term that small runs do not need"][2]
    [report] = rc.lint(theorem(**fields), evaluations=0).reports
    assert not report.wrong
    assert instances.SEARCH in {each.check for each in report.not_checked}
    with pytest.raises(InputError, match="evaluations"):
        rc.lint(theorem(**fields), evaluations=-1)


def test_every_check_has_a_wrong_statement():
    """The names of checks in the source are those that the tests above catch."""
    names = {units.CHECK, occurrence.CHECK, conditions.CHECK, conditions.NEEDLESS, conditions.RULES}
    names |= {behaviour.LIMITS, behaviour.GROWTH, instances.NEGATIVE, instances.RUN, instances.SEARCH}
    assert names == {check for check, *_ in WRONG.values()}


def test_a_finding_is_frozen():
    """Results are data."""
    finding = Finding(level=Level.NOTE, check="c", field="f", text="t", remedy="r")
    with pytest.raises(AttributeError):
        finding.text = "other"


def test_units_of_a_method_that_is_not_linear():
    """A step along a unit vector has the length of its size, so that L*gamma_u/2 beside F_0/gamma_u is right."""

    class Normalised(FedAvgP):
        linear = False

    made = Method("lint-normalised", "normalised", Normalised(), {"gamma_v": 1, "eta_v": 1}, personal=False)
    METHODS["lint-normalised"] = made
    try:
        fields = GRADIENT | {"algorithm": "lint-normalised", "over": "best_round", "conditions": []}
        [report] = rc.lint(theorem(**fields | {"right": "(F_0/(gamma_u*T) + L*gamma_u/2)**2"}), evaluations=0).reports
        assert not report.findings
        assert any(each.check == "units" and "not linear" in each.reason for each in report.not_checked)
    finally:
        del METHODS["lint-normalised"]


def test_a_search_that_hardly_met_the_conditions_is_no_check(monkeypatch):
    """What is wrong may be where nothing was tried."""
    few = Falsified(theorem(**SGD), None, None, None, 60, 14, 0.0, zero=1)
    monkeypatch.setattr(instances, "falsify_to_the_end", lambda *_, **__: few)
    said = [each.reason for each in rc.lint(theorem(**SGD)).reports[0].not_checked if each.check == instances.SEARCH]
    assert said == ["14 of 60 instances meet every condition"]


def test_a_search_that_the_clock_ends_says_what_it_left_out():
    """Where one asks for a clock; the default is bounded by work alone."""
    (report,) = rc.lint(theorem(**SGD), seconds=1e-9).reports
    (said,) = (each.reason for each in report.not_checked if each.check == instances.SEARCH)
    assert said.startswith("stopped by the clock of 1e-09 s after ")
    assert " of 40 evaluations" in said
