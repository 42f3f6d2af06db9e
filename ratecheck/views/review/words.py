"""Words of a review: what it calls things, what the standing of a statement and the grade of a proof graph say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bounds.ledger.fault import FaultKind
from bounds.ledger.step import StepKind
from ratecheck.auditing.export.conclusions import ProofStanding
from ratecheck.auditing.finding import StepVerdict

Data = Mapping[str, Any]

# What stands in the text before it is explained, in the order of a reader's need.
LEGEND: tuple[tuple[str, str], ...] = (
    ("ledger", "the proofs of the paper as a list of steps, which people transcribed"),
    ("step", "one claim of a proof, examined by itself: an inequality between two lines, say"),
    ("CHECKED", "of a step: not refuted on instances, and not proved"),
    ("CHECKED IN A SPECIAL CASE", "of a step: what is proved is less than what is printed, in one dimension, say"),
    ("STANDARD", "of a step: a textbook fact, taken as known"),
    ("TYPO", "of a step: false as printed, evidently a misprint, and not refuted as it is meant"),
    (
        "draw",
        (
            "one of the random instances on which a step is tried, by its number; where h and g are shown, "
            "f_i(x) = h_i*x^2/2 - g_i*x; x0 is the start, errors are how far inner solutions are from exact ones"
        ),
    ),
    ("K = K' + 1", "in a proof: a new symbol K', at least zero, in place of K, which is at least one"),
    ("end-to-end", "of a step: the statement itself, both sides compared on instances, beside its proof"),
    ("proof graph", "what a statement follows from, link by link; it is OPEN where nobody has checked a link"),
)

_GRADES: Mapping[str, str] = {
    "PROVED": "every link, and every step that a link uses, is proved; textbook facts are taken as known, and lines "
    "that have a repair are used as repaired; links whose two sides are the same are read, not certified; an "
    "end-to-end step, which tries the statement on instances, is no link",
    "PROVED, z3 only": "as PROVED, but some steps on the word of a solver only",
    "PROVED, more assumed": "as PROVED, but what is assumed is more than the paper prints, see the list",
    "CHECKED": "every link is a checked implication, but some steps that a link uses were only checked, on "
    "instances or in a special case",
    "OPEN": "the argument has links that nobody has checked",
    "FALSE": "a link of the argument, or a statement that it rests on, is false",
}

_STANDINGS: Mapping[str, str] = {
    "holds as printed": "every step that it rests on is proved or a textbook fact, lines with a misprint as they are "
    "meant",
    "not refuted as printed": "no step that it rests on is false but for misprints, and some were only checked, on "
    "instances or in a special case",
    "not refuted as printed, its proof needs a repair": "a step that it rests on is false and has a repaired form that "
    "is not refuted; the statement itself is unaffected, as it is printed",
    "not refuted with repair": "a step that it rests on is false and has a repaired form that is not refuted; "
    "that the rest of the proof needs no more than this form is not shown by the steps",
    "undecided": "a step that it rests on is not decided, or false without a repair that was checked, or it rests on a "
    "statement of which there is no step",
    "false as printed": "exact numbers meet what it assumes and break what it claims",
}

# The standing of a statement in a few words.
_BRIEFLY: Mapping[str, str] = {
    "holds as printed": "every step is proved or a textbook fact, misprints as they are meant",
    "not refuted as printed": "no step is false but for misprints, some were only tried on instances or in a "
    "special case",
    "not refuted as printed, its proof needs a repair": "lines of the proof change, the statement does not",
    "not refuted with repair": "a step is false, and its repair is not refuted",
    "undecided": "a step is not decided or false without a known repair, or it rests on a statement without steps",
    "false as printed": "exact numbers meet what it assumes and break what it claims",
}


def grade_meaning(grade: str) -> str:
    """The meaning of the grade of a proof graph."""
    return _GRADES[grade]


def standing_meaning(standing: str) -> str:
    """The meaning of the standing of a statement."""
    return _STANDINGS[standing]


def standing_said(entry: Data) -> str:
    """The standing of a statement, and that lines beside it are misprinted where it is printed right itself."""
    standing = str(entry["standing"] or "")
    misprints = any(each["verdict"] == StepVerdict.TYPO.value for each in entry["steps"])
    right = standing in (ProofStanding.HOLDS.value, ProofStanding.CHECKED.value)
    return f"{standing}, with misprints in its proof or beside it" if misprints and right else standing


def tried_as_a_whole(entry: Data) -> bool:
    """Whether a step is the statement itself, on instances."""
    return any(each["kind"] == StepKind.END_TO_END.value for each in entry["steps"])


def misprinted(entry: Data, errata: Sequence[Data]) -> bool:
    """Whether the statement itself has a misprint."""
    return any(each["kind"] == FaultKind.MISPRINT.text and entry["key"] in each["changes"] for each in errata)


def standing_briefly(standing: str) -> str:
    """The standing of a statement in a few words."""
    return _BRIEFLY[standing]


def uncovered(entry: Data) -> str:
    """The forms of a statement that cover no setting of the paper's experiments; empty where there is none."""
    forms = [each for each in entry["coverage"] if {*each["verdicts"]} - {"OUTSIDE"} == {"NOT COVERED"}]
    if not forms:
        return ""
    many = forms[0]["count"]
    if len(forms) == len(entry["coverage"]) > 1:
        which = "the one setting" if many == 1 else f"any of the {many} settings"
        return f"no form of it covers {which} of the paper's experiments"
    keys = " and ".join(each["key"] for each in forms)
    which = "the one setting" if many == 1 else f"none of the {many} settings"
    return f"{which} of the paper's experiments is {'not ' if many == 1 else ''}covered by {keys}"


_OF_SEARCHES: Mapping[str, str] = {
    "VIOLATED": "VIOLATED",
    "INCONCLUSIVE": "no violation found, which proves nothing",
    "NOT_APPLICABLE": "nothing could be evaluated",
}


def search_said(search: Data) -> str:
    """The result of a search; what exceeds the bound unconfirmed is not "no violation found"."""
    unsure = search.get("unconfirmed")
    return f"{search['verdict']}: {open_said(unsure)}" if unsure else _OF_SEARCHES[search["verdict"]]


def open_said(unconfirmed: Data) -> str:
    """A violation that one evaluation shows and nothing confirms, in words."""
    return f"{unconfirmed['where']} exceeds the bound, which is not confirmed, since {unconfirmed['why']}"
