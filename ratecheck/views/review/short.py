"""The first questions of an area chair, answered in a few lines each, at the beginning of a review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any

from bounds.ledger.fault import FaultKind
from bounds.ledger.refuted import said_of
from bounds.ledger.step import StepKind
from bounds.printing.nodes import Code, Hyperlink, Line, Part, Strong
from ratecheck.auditing.export.conclusions import ProofStanding
from ratecheck.auditing.finding import StepVerdict
from ratecheck.auditing.graph import Grade
from ratecheck.outcome import Outcome
from ratecheck.views.review.words import grade_meaning, misprinted, open_said, standing_briefly, uncovered

Data = Mapping[str, Any]
Answer = tuple[str, tuple[Line, ...]]


def anchor(key: str) -> str:
    """The name of a statement's section, to which links lead."""
    return "s-" + "".join(sign if sign.isascii() and (sign.isalnum() or sign in ".-") else "-" for sign in key)


def answers(data: Data) -> Iterator[Answer]:
    """Each question with its answer, line by line."""
    yield "What is the main error?", tuple(_error(data))
    yield "Does it stand?", tuple(_stands(data))
    yield "How would you check it?", tuple(_check(data))
    yield "What was not checked?", tuple(_open(data))


# --- The main error ---


def _error(data: Data) -> Iterator[Line]:
    violated = _violations(data)
    for each in violated:
        shown = f": {each['counterexample']['text']}" if each["counterexample"] else " by an instance that was found"
        yield (Hyperlink(each["key"], anchor(each["key"])), " is ", Strong("violated"), f"{shown}.")
    if not data["counts"]["steps"]:
        if not violated:
            yield _NONE_SEARCHED if data["asked"]["evaluations"] else _NONE_EXAMINED
        return
    if not data["errata"]:
        yield "None was found: no step was refuted."
        return
    first, *others = data["errata"]
    shown = first["wrong"] or f"false as printed: {first['printed']}"
    kind = f" ({first['kind']})" if first["wrong"] else ""
    yield (Hyperlink(f"Erratum {first['number']}", f"e-{first['number']}"), f"{kind}, {first['place']}: {shown}")
    yield Strong(f"What follows: {_named(first['consequence'], data)}.")
    if others:
        worst = [f"{each['count']} {each['what']}" for each in data["levels"][:2]]
        most = f", of them {'; '.join(worst)}" if len(data["levels"]) > 1 else ""
        yield (Hyperlink("All errata", "findings"), f": {data['counts']['errata']}{most}.")


_NONE_EXAMINED = "No step of a proof was examined, so that none was refuted."
_NONE_SEARCHED = "None was found by the search for a counterexample; no step of a proof was examined."


def _violations(data: Data) -> list[Data]:
    """The searches that found an instance which violates what they are of."""
    searches = [each for entry in data["statements"] for each in entry["searches"]]
    return [each for each in searches if each["verdict"] == _VIOLATED]


def _named(text: str, data: Data) -> str:
    """A sentence with the numbers of the paper in place of keys, the longest keys first."""
    numbers = {each["key"]: each["number"] for each in data["statements"]}
    for key in sorted(numbers, key=len, reverse=True):
        text = text.replace(f"{key}, ", f"{numbers[key]}; ").replace(key, numbers[key])
    return text


# --- Whether it stands ---


def _stands(data: Data) -> Iterator[Line]:
    main = {each["key"]: each for each in data["statements"] if each["main"]}
    if not main:
        yield "Nothing here is a main statement."
        return
    yield from _refuted(data, main)
    for standing, says, keys in _groups(data):
        by_label: dict[str, list[str]] = {}
        for key in sorted(keys, key=lambda key: _proved(main[key])):
            by_label.setdefault(_label(standing, _proved(main[key])), []).append(key)
        for label, those in by_label.items():
            names: list[Part] = []
            for key in those:
                names += ["; " if names else ": ", Hyperlink(main[key]["number"], anchor(key))]
                if not standing:
                    names += _changing(main[key])
            yield (Strong(label[:1].upper() + label[1:]), says and f" ({says})", *names, ".")
    yield from _searched(main)
    yield from _settings(main)
    if not data["counts"]["steps"]:
        return
    if not any(each["graphs"] for each in main.values()):
        yield _WITHOUT_GRAPH
    elif any(_proved(each) for each in main.values()):
        yield _PROVED_MEANS
    else:
        yield _NONE_PROVED


def _changing(entry: Data) -> list[Part]:
    """The errata that change a statement whose own steps are none, which stand with what it rests on."""
    found: list[Part] = []
    for number in entry["changed_by"]:
        found += [", " if found else " (changed by ", Hyperlink(f"erratum {number}", f"e-{number}")]
    return [*found, ")"] if found else []


class _ProvedForm(IntEnum):
    """The form of a statement whose proof graph is proved throughout: repaired, printed with more assumed, printed."""

    NONE, REPAIRED, ASSUMING, PRINTED = range(4)


def _proved(entry: Data) -> _ProvedForm:
    grades = {graph["root"]: graph["grade"] for graph in entry["graphs"] if graph["grade"] in (_PROVED, _ASSUMED)}
    printed = {_PROVED: _ProvedForm.PRINTED, _ASSUMED: _ProvedForm.ASSUMING}
    return printed.get(grades.get(entry["key"], ""), _ProvedForm.REPAIRED if grades else _ProvedForm.NONE)


def _label(standing: str, proved: _ProvedForm) -> str:
    """The standing in words, where a form of the statement is proved as a whole."""
    if proved is _ProvedForm.NONE:
        return standing or _NO_STEP
    if standing in (_REPAIRED, _PROOF):
        return f"proved {_HOW[proved] or 'with a repair of the proof' if standing == _PROOF else 'with repair'}"
    if standing == _UNDECIDED and proved is _ProvedForm.REPAIRED:
        return "not known as printed, proved in a repaired form"
    return f"{standing or _NO_STEP}, proved as a whole {_HOW[proved]}".rstrip()


_HOW = {
    _ProvedForm.REPAIRED: "in a repaired form",
    _ProvedForm.ASSUMING: "with more assumed than is printed",
    _ProvedForm.PRINTED: "",
}


def _refuted(data: Data, main: Mapping[str, Data]) -> Iterator[Line]:
    """Objections to main statements as printed, beside their standing; or that there are none."""
    against: dict[str, list[str]] = {}
    for each in main.values():
        if each["standing"] != _FALSE and (what := _against(each, data["errata"])):
            against.setdefault(what, []).append(each["number"])
    yield from (f"{'; '.join(numbers)}: {what}." for what, numbers in against.items())
    broken = [each["number"] for each in main.values() if each["standing"] != _FALSE and _breaks(each)]
    if broken:
        yield (Strong("The printed argument breaks"), f" ({grade_meaning(_BROKEN)}): {'; '.join(broken)}.")
    found = [each["key"] for each in _violations(data)]
    if found:
        yield (Strong("Refuted by a counterexample"), f": {', '.join(found)}.")
    wrong = [each for each in main.values() if misprinted(each, data["errata"]) and each["standing"] != _FALSE]
    yield from _misprinted(wrong, alone=len(main) == 1)
    speaks_against = found or against or broken or any(each["standing"] == _FALSE for each in main.values())
    if data["counts"]["steps"] and not speaks_against and len(wrong) < len(main):
        none = "None of the others" if wrong else "None" if len(main) > 1 else ""
        yield Strong(f"{none} is refuted as printed." if none else "It is not refuted as printed.")


def _against(entry: Data, errata: Sequence[Data]) -> str:
    """The audit's objection to the printed form, be the form that is encoded right or not."""
    if entry["known"]:
        return str(entry["known"]["what"])
    false = {step["id"] for step in entry["steps"] if step["kind"] == _END_TO_END and step["verdict"] == _FALSE_STEP}
    kinds = (each["kind"] for each in errata if entry["key"] in each["changes"] and false & {*each["steps"]})
    return next(map(said_of, kinds), "")


def _misprinted(wrong: Sequence[Data], *, alone: bool) -> Iterator[Line]:
    """The main statements that are not right as they are printed, and of which form the review speaks."""
    for says, those in (
        ("what is encoded is corrected", [each["number"] for each in wrong if not each["repaired"]]),
        ("the repaired form corrects it", [each["number"] for each in wrong if each["repaired"]]),
    ):
        if those:
            which = "" if alone else f": {'; '.join(those)}"
            yield (Strong("Misprinted in the statement"), f" ({says}){which}.")


def _searched(main: Mapping[str, Data]) -> Iterator[Line]:
    """The main statements of which a search found no violation, each with how close an instance came to its bound."""
    for each in main.values():
        for search in each["searches"]:
            if search.get("unconfirmed"):
                yield (Strong("Not decided by a search"), f": {search['key']}: {open_said(search['unconfirmed'])}.")
            elif search["verdict"] != _VIOLATED and search["applicable"]:
                near = "" if search["tightness"] is None else f"; left / right at most {search['ratio']}"
                yield (
                    Strong("Not refuted by a search"),
                    f" of {search['evaluations']} instances: {search['key']}{near}.",
                )


def _breaks(entry: Data) -> bool:
    """Whether the graph of the printed form is false."""
    return any(each["root"] == entry["key"] and each["grade"] == _BROKEN for each in entry["graphs"])


def _groups(data: Data) -> Iterator[tuple[str, str, list[str]]]:
    """The main statements by standing, what that says of them, the worst first.

    Of those not refuted with a repair, it says whether the statement itself has to be printed differently, where a
    reader has said so of every erratum.
    """
    changed = {key for each in data["errata"] if each["kind"] != _MISPRINT for key in each["changes"]}
    mistyped = {key for each in data["errata"] for key in each["changes"]} - changed
    filed = all(each["wrong"] for each in data["errata"])
    for group in data["standings"]:
        standing, keys = group["standing"], group["keys"]
        if standing == _REPAIRED and filed:
            for says, those in (
                ("the statement changes", [key for key in keys if key not in mistyped]),
                ("a misprint in the statement is corrected", [key for key in keys if key in mistyped]),
            ):
                if those:
                    yield standing, says, those
        else:
            yield standing, standing_briefly(standing) if standing else "", keys


_FALSE, _REPAIRED, _UNDECIDED = ProofStanding.FALSE.value, ProofStanding.REPAIR.value, ProofStanding.UNDECIDED.value
_PROOF = ProofStanding.PROOF.value
_BROKEN, _PROVED, _ASSUMED = Grade.FALSE.value, Grade.PROVED.value, Grade.ASSUMED.value
_VIOLATED = Outcome.VIOLATED.value
_END_TO_END, _FALSE_STEP = StepKind.END_TO_END.value, StepVerdict.FALSE.value
_MISPRINT = FaultKind.MISPRINT.text


def _settings(main: Mapping[str, Data]) -> Iterator[Line]:
    """Settings that no form of a statement covers, once for all statements of which the same is said."""
    said: dict[str, list[str]] = {}
    for each in main.values():
        if text := uncovered(each):
            said.setdefault(text, []).append(each["number"])
    yield from (f"{'; '.join(numbers)}: {text}." for text, numbers in said.items())


_NO_STEP = "no step of its own examined"
_NONE_PROVED = "None is proved as a whole, from the assumptions to the bound, printed or repaired."
_PROVED_MEANS = (
    "Proved: every link from the assumptions to the bound, and every step that a link uses; textbook facts are taken "
    "as known."
)
_WITHOUT_GRAPH = "Whether the steps add up to the statement was not checked."


# --- How to check it ---

# Characters of a counterexample that is read in passing.
_SHORT = 120


def _in_numbers(evidence: str, erratum: Data) -> tuple[Part, ...]:
    """The numbers that refute a step, or where they stand."""
    if len(evidence) > _SHORT:
        return (", with ", Hyperlink("its numbers", f"e-{erratum['number']}"), ".")
    return (f". In numbers: {evidence}.",)


def _check(data: Data) -> Iterator[Line]:
    for each in _violations(data):
        yield ("The counterexample to ", each["key"], ": ", Code(each["command"]), ".")
    if data["errata"]:
        first = data["errata"][0]
        shown = [
            (f"What the main error makes false, {_named(each['key'], data)}: ", each) for each in first["refutes"][:1]
        ]
        if first["command"] not in (each["command"] for _, each in shown):
            shown.append((f"{'The line where it is made' if shown else 'The main error alone'}: ", first))
        yield from ((text, Code(each["command"]), *_in_numbers(each["evidence"], first)) for text, each in shown)
    if data["counts"]["steps"]:
        yield ("Every step: ", Code(data["commands"][0]["command"]), ".")
    yield (Hyperlink("All commands", "repeat"), ", also those that need nothing but Python.")


# --- What is left ---


def _open(data: Data) -> Iterator[Line]:
    counts = data["counts"]
    if counts["steps"]:
        few = "1 step is" if counts["unproved"] == 1 else f"{counts['unproved']} steps are"
        how = "tried on instances or in a special case, taken as textbook facts, or not decided"
        mended = counts["repairs_unproved"]
        more = f" Of {mended} more, false as printed, the repaired form is not proved either." if mended else ""
        yield f"{few} neither proved nor refuted, of {counts['steps']}: {how}.{more}"
    else:
        yield "Its proof: no step of it was examined." if counts["main"] == 1 else "The proofs: no step was examined."
    if not data["asked"]["evaluations"]:
        beyond = "Beyond the instances of the steps no" if counts["steps"] else "No"
        yield (f"{beyond} search for counterexamples, ", Code("ratecheck falsify"), ", was run.")
    yield (_TRANSCRIBED, "; ", Hyperlink("the whole list", "not-checked"), ".")


_TRANSCRIBED = "Whether the statements and steps, which people transcribed, are what is printed"
