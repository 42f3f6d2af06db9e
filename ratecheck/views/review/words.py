"""Words of a review: what the standing of a statement and the grade of a proof graph say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]

_GRADES: Mapping[str, str] = {
    "PROVED": "every link and every step that it rests on is proved",
    "PROVED, z3 only": "as PROVED, but some steps on the word of a solver only",
    "CHECKED": "every link is a checked implication, but some steps were only checked on instances",
    "OPEN": "the argument has links that nobody has checked",
    "FALSE": "a link of the argument, or a statement that it rests on, is false",
}

_STANDINGS: Mapping[str, str] = {
    "holds as printed": "every step that it rests on is proved or a textbook fact",
    "not refuted as printed": "no step that it rests on is false, and some were only checked on instances",
    "not refuted with repair": "a step that it rests on is false and has a repaired form that is not refuted; "
    "that the rest of the proof needs no more than this form is not shown by the steps",
    "undecided": "a step that it rests on is not decided, or false without a repair that was checked",
    "false as printed": "exact numbers meet what it assumes and break what it claims",
}

# The same in a few words.
_BRIEFLY: Mapping[str, str] = {
    "holds as printed": "every step is proved or a textbook fact",
    "not refuted as printed": "no step is false, some were only tried on instances",
    "not refuted with repair": "a step is false, and its repair is not refuted",
    "undecided": "a step is not decided, or false without a known repair",
    "false as printed": "exact numbers meet what it assumes and break what it claims",
}


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def grade_meaning(grade: str) -> str:
    """What the grade of a proof graph says."""
    return _GRADES[grade]


def standing_meaning(standing: str) -> str:
    """What the standing of a statement says."""
    return _STANDINGS[standing]


def standing_briefly(standing: str) -> str:
    """The same in a few words."""
    return _BRIEFLY[standing]


def uncovered(entry: Data) -> str:
    """Which forms of a statement cover no setting of the paper's experiments; empty where there is none."""
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
