"""The first part of a review: what was checked, what is wrong, what stands; and all of it as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bounds.numbers import counted
from bounds.printing import nodes
from ratecheck.stepsizes.coverage import CoverageVerdict
from ratecheck.views.review import short
from ratecheck.views.review.data import HEADLINE, LEVELS
from ratecheck.views.review.words import open_said, standing_said, uncovered

Data = Mapping[str, Any]

# Up to this level an erratum changes what readers take from the paper.
_HEADLINES = LEVELS.index(HEADLINE)


def headline(data: Data) -> str:
    """The answer in one line."""
    counts = data["counts"]
    return f"review of {data['of']}: {counted(counts['errata'], 'erratum', 'errata')}; {algebra(counts)}"


def text(data: Data) -> str:
    """The summary in plain text: what ``ratecheck review`` prints."""
    parts = [f"review of {data['of']}: {data['title']}", ""]
    for question, lines in short.answers(data):
        parts += [f"{question[0].lower()}{question[1:]}", *(f"  {_followed(line)}" for line in lines), ""]
    parts += ["what is wrong, what matters most first"]
    parts += [f"  {line}" for line in levels(data)]
    for each in main_errata(data):
        parts += [f"  {each['number']}. {each['place']}   {each['kind']}", f"     {each['wrong'] or each['printed']}"]
        parts.append(f"     {each['consequence']}")
    parts += [f"  {each['number']}. {each['place']}   {each['kind']}" for each in other_errata(data)]
    parts += ["", "does each main statement stand"]
    parts += [f"  {key}: {said}" for key, said in stands(data)] or ["  nothing here is a main statement"]
    parts += ["", "what was checked", *(f"  {line}" for line in checked(data))]
    parts += ["", "what was not checked", *(f"  {line}" for line in data["not_checked"])]
    if data["left_out"]:
        parts.append(f"  {counted(data['counts']['left_out'], 'numbered item')} of the paper left out, see the review")
    return "\n".join(parts)


# In a terminal no link can be followed: where it leads to.
_LEADS = {
    "repeat": "In the document that --out writes: all commands",
    "not-checked": "the whole list is below",
}


def _followed(line: nodes.Line) -> str:
    """A line with its links said in words, where their text alone points at nothing."""
    return "".join(
        _LEADS.get(part.target, part.text) if isinstance(part, nodes.Hyperlink) else nodes.text(part)
        for part in nodes.parts(line)
    )


def algebra(counts: Data) -> str:
    """The number of steps that are certified."""
    if not counts["steps"]:
        return "no step of a proof was examined"
    return f"algebra of {counts['certified']} of {counted(counts['steps'], 'step')} certified"


def tally(counts: Data) -> Iterator[tuple[str, str, str]]:
    """The verdicts with how many steps have them, and what they mean; those that no step has are left out."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in counts["kinds"].items())
    rows = (
        ("PROVED, certificate", counts["certified"], "for all values; exact arithmetic repeats the proof"),
        ("PROVED, solver", counts["solver"], "for all values, on the word of a solver"),
        ("CHECKED IN A SPECIAL CASE", counts["special"], "proved for less than what is printed, in one dimension, say"),
        ("CHECKED, exhaustive", counts["exhaustive"], "not refuted on any participation matrix of small sizes"),
        ("CHECKED, instances", counts["instances"], "not refuted on random instances, in exact arithmetic"),
        ("STANDARD", counts["standard"], "a textbook fact, taken as known and tried on instances"),
        ("FALSE", counts["false"], f"refuted by exact numbers: {kinds}"),
        ("TYPO", counts["misprints"], "false as printed, evidently a misprint"),
        ("UNKNOWN", counts["undecided"], "neither proved nor refuted"),
    )
    for name, count, meaning in rows:
        if count:
            yield name, str(count), meaning


def checked(data: Data) -> list[str]:
    """The subject of the review and its checks, in sentences."""
    counts, asked = data["counts"], data["asked"]
    found = [f"{counted(counts['statements'], 'statement')}, {counts['main']} of them main; {algebra(counts)}."]
    found += [f"{count} {name}: {meaning}." for name, count, meaning in tally(counts)]
    searches = [each for entry in data["statements"] for each in entry["searches"]]
    if searches:
        bad = [each["key"] for each in searches if each["verdict"] == "VIOLATED"]
        unsure = [each["key"] for each in searches if each.get("unconfirmed")]
        what = f"violated: {', '.join(bad)}" if bad else "no violation found, which proves nothing"
        what = what if bad or not unsure else f"above the bound, and not confirmed: {', '.join(unsure)}"
        found.append(
            f"{counted(counts['searched'], 'form')} of statements searched with at most "
            f"{counted(asked['evaluations'], 'instance')} each, seed {asked['seed']}: {what}."
        )
    return found


def levels(data: Data) -> list[str]:
    """The number of errata by their weight."""
    searches = [each for entry in data["statements"] for each in entry["searches"]]
    found = [
        f"{each['key']} is violated by an instance that the search found."
        for each in searches
        if each["verdict"] == "VIOLATED"
    ]
    if not data["counts"]["steps"]:
        return [*found, "No step was examined, so none was refuted."]
    if not data["errata"]:
        return [*found, "No step was refuted."]
    return [*found, *(f"{each['what'][0].upper()}{each['what'][1:]}: {each['count']}." for each in data["levels"])]


def main_errata(data: Data) -> Sequence[Data]:
    """The errata that change a theorem or a headline claim; where there are none, those that matter most."""
    first = min((each["level"] for each in data["errata"]), default=0)
    return [each for each in data["errata"] if each["level"] <= max(first, _HEADLINES)]


def other_errata(data: Data) -> Sequence[Data]:
    """All others."""
    shown = {each["number"] for each in main_errata(data)}
    return [each for each in data["errata"] if each["number"] not in shown]


def stands(data: Data) -> Iterator[tuple[str, str]]:
    """Every main statement with what the audit and the graphs make of it and of its repaired forms."""
    for each in data["statements"]:
        if each["main"]:
            yield each["key"], "; ".join(standing(each))


def standing(entry: Data) -> list[str]:
    """The standing of a statement as a whole, in a few words each."""
    rests = [f"{each['key']}, {each['standing']}" for each in entry["rests_on"]]
    without = f"no step of its own; it rests on {' and '.join(rests)}" if rests else "no step of its proof was examined"
    found = [standing_said(entry) or without]
    if entry["known"] and not entry["standing"]:
        found.append(entry["known"]["text"])
    for graph in entry["graphs"]:
        form = "as printed" if graph["root"] == entry["key"] else f"repaired ({graph['root']})"
        form += f", resting on {', '.join(graph['mended'])}" if graph["mended"] else ""
        found.append(f"proof graph {form}: {graph['grade']}")
    if nowhere := uncovered(entry):
        found.append(nowhere)
    for search in entry["searches"]:
        if search["verdict"] == "VIOLATED":
            found.append(f"search of {search['key']}: VIOLATED")
        elif search.get("unconfirmed"):
            found.append(f"search of {search['key']}: {open_said(search['unconfirmed'])}")
        elif search["applicable"]:
            found.append(f"search of {search['key']}: no violation among {search['evaluations']} instances")
    found += [f"from the method alone, {each['key']}: {each['text']}" for each in entry["brackets"]]
    return found


def covered(form: Data) -> str:
    """The number of settings of each verdict, in a sentence."""
    said = ", ".join(f"{count} {verdict}" for verdict, count in form["verdicts"].items())
    return f"{counted(form['count'], 'setting')} of the paper's experiments: {said}"


def verdict_meaning(verdict: str) -> str:
    """The meaning of a verdict on a setting."""
    return CoverageVerdict(verdict).meaning
